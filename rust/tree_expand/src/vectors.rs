//! The vector index: which segments there are, and how they come and go.
//!
//! ```text
//! add     -> a segment of one document, without a graph; small ones are merged as in a binary counter
//! seal    -> all segments without a graph become one with a graph, built aside and swapped in
//! remove  -> bits of a document are cleared in a copy of the live rows
//! search  -> takes the segments as they are at that moment; each is scanned or its graph is searched
//! ```
//!
//! Everything a search reads is immutable, so that it waits for nobody but a place in the gate of
//! the graphs.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use crate::error::{Error, Result};
use crate::filter::Allowed;
use crate::graph::Gate;
use crate::kernel::{Kernel, normalise};
use crate::planner::{Hits, Means, Search};
use crate::segment::{Segment, Slot};

/// Largest dimension of a vector.
pub const MAX_DIMENSION: usize = 65_536;
/// Sealed segments of one size class that are merged into one of the next.
const FAN_IN: usize = 4;
/// Segments of this size class are not merged any further: building their graph takes long enough.
const LAST_CLASS: u32 = 2;

/// Settings of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Elements of a vector.
    pub dimension: usize,
    /// A segment with at most this many allowed rows is scanned exactly.
    pub exact_rows: u32,
    /// As many rows without a graph are worth one.
    pub seal_rows: u32,
    /// Searches that may be in a graph at once; more wait.
    pub threads: usize,
}

impl Settings {
    /// The settings that suit most: 10,000 exact rows, seals at 20,000 rows, 16 threads.
    #[must_use]
    pub fn new(dimension: usize) -> Self {
        Self {
            dimension,
            exact_rows: 10_000,
            seal_rows: 20_000,
            threads: 16,
        }
    }
}

/// What to look for.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// Vectors to look for, one behind another; they need not be of length 1.
    pub vectors: &'a [f32],
    /// Most hits for each vector.
    pub limit: usize,
    /// Least similarity of a hit.
    pub threshold: Option<f32>,
    /// Documents to look at, or all.
    pub allowed: Option<&'a Allowed>,
}

/// Sizes of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Documents.
    pub documents: usize,
    /// Live rows.
    pub rows: u64,
    /// Live rows in segments with a graph.
    pub sealed_rows: u64,
    /// Segments with a graph.
    pub segments: usize,
}

/// The vectors of a collection. Any number of threads may search while others add, remove and seal.
pub struct VectorIndex {
    settings: Settings,
    kernel: Kernel,
    gate: Gate,
    slots: RwLock<Arc<[Slot]>>,
    writer: Mutex<Writer>,
    sealer: Mutex<()>,
}

/// What only those who change the index look at.
#[derive(Default)]
struct Writer {
    documents: HashSet<u64>,
    /// Segments that are being built into another; they stay as they are meanwhile.
    sealing: Vec<Slot>,
}

impl VectorIndex {
    /// An empty index.
    ///
    /// # Errors
    /// A setting is 0, or the dimension is too large.
    pub fn new(settings: Settings) -> Result<Self> {
        if !(1..=MAX_DIMENSION).contains(&settings.dimension) {
            return Err(Error::Dimension(settings.dimension));
        }
        if settings.threads == 0 || settings.seal_rows == 0 {
            return Err(Error::IndexSettings);
        }
        Ok(Self {
            settings,
            kernel: Kernel::detect(),
            gate: Gate::new(settings.threads),
            slots: RwLock::new(Arc::new([])),
            writer: Mutex::default(),
            sealer: Mutex::new(()),
        })
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The sizes.
    #[must_use]
    pub fn sizes(&self) -> Sizes {
        let documents = self.writer().documents.len();
        let mut sizes = Sizes {
            documents,
            ..Sizes::default()
        };
        for slot in &*self.slots() {
            sizes.rows += u64::from(slot.live_rows);
            if slot.is_sealed() {
                sizes.sealed_rows += u64::from(slot.live_rows);
                sizes.segments += 1;
            }
        }
        sizes
    }

    /// Adds the vectors of a document, one for each of `nodes`; they are found from then on.
    ///
    /// # Errors
    /// The document is in the index already, `nodes` are not ascending, the number of vectors is
    /// not theirs, or a vector is zero or not finite. Nothing is added then.
    pub fn add(&self, document: u64, nodes: Vec<u32>, vectors: Vec<f32>) -> Result<()> {
        self.replace(None, document, nodes, vectors)
    }

    /// Adds the vectors of a document and takes another out in the same step: every search sees one
    /// of the two, never both or neither. An unknown `before` is passed over.
    ///
    /// # Errors
    /// As those of `add`; nothing is changed then.
    pub fn replace(
        &self,
        before: Option<u64>,
        document: u64,
        nodes: Vec<u32>,
        mut vectors: Vec<f32>,
    ) -> Result<()> {
        if let Some(at) = nodes.windows(2).position(|pair| pair[0] >= pair[1]) {
            return Err(Error::NodeOrder {
                node: nodes[at + 1],
                before: nodes[at],
            });
        }
        if Some(vectors.len()) != nodes.len().checked_mul(self.settings.dimension) {
            return Err(Error::VectorCount {
                nodes: nodes.len(),
                dimension: self.settings.dimension,
                found: vectors.len(),
            });
        }
        normalise(&mut vectors, self.settings.dimension)?;
        let mut writer = self.writer();
        if !writer.documents.insert(document) {
            return Err(Error::DocumentTwice(document));
        }
        let mut slots = self.slots().to_vec();
        if let Some(before) = before.filter(|before| writer.documents.remove(before)) {
            take_out(&mut slots, before);
        }
        if !nodes.is_empty() {
            let segment = Segment::of_document(document, nodes.into(), vectors.into());
            slots.push(Slot::new(segment));
            self.merge_small(&mut slots, &writer.sealing);
        }
        self.publish(slots);
        Ok(())
    }

    /// Merges the newest segments while the one before is not larger by far, so that their number
    /// grows with the logarithm of their rows.
    fn merge_small(&self, slots: &mut Vec<Slot>, sealing: &[Slot]) {
        while let [.., before, last] = &slots[..]
            && !before.is_sealed()
            && before.live_rows < 2 * last.live_rows
            && !sealing.iter().any(|slot| slot.is(before))
        {
            let merged = Segment::merged(&slots[slots.len() - 2..], self.settings.dimension);
            slots.truncate(slots.len() - 2);
            slots.push(Slot::new(merged));
        }
    }

    /// Takes a document out of all later answers; returns whether it was there.
    pub fn remove(&self, document: u64) -> bool {
        let mut writer = self.writer();
        if !writer.documents.remove(&document) {
            return false;
        }
        let mut slots = self.slots().to_vec();
        take_out(&mut slots, document);
        self.publish(slots);
        true
    }

    /// Does the most useful piece of upkeep: gives the rows without a graph one where they are
    /// enough, builds a segment anew where a fifth of its rows is dead, or merges small segments.
    /// Returns whether there was one. Takes seconds; searches, additions and removals go on
    /// meanwhile.
    ///
    /// # Errors
    /// The graph could not be built, for want of memory for example; the index is as before.
    pub fn seal(&self) -> Result<bool> {
        let _only = self.sealer.lock().unwrap_or_else(PoisonError::into_inner);
        let parts = {
            let mut writer = self.writer();
            writer.sealing = self.due(&self.slots());
            writer.sealing.clone()
        };
        if parts.is_empty() {
            return Ok(false);
        }
        let built = self.built(&parts);
        let mut writer = self.writer();
        writer.sealing.clear();
        self.swap(&parts, Slot::new(built?));
        Ok(true)
    }

    /// The segments that are worth building into one, if any.
    fn due(&self, slots: &[Slot]) -> Vec<Slot> {
        let seal_rows = u64::from(self.settings.seal_rows);
        let (sealed, plain): (Vec<&Slot>, Vec<&Slot>) =
            slots.iter().partition(|slot| slot.is_sealed());
        let rows: u64 = plain.iter().map(|slot| u64::from(slot.live_rows)).sum();
        if rows >= seal_rows {
            return plain.into_iter().cloned().collect();
        }
        if let Some(worn) = slots.iter().find(|slot| slot.is_worn()) {
            return vec![worn.clone()];
        }
        let class = |slot: &Slot| {
            (u64::from(slot.live_rows) / seal_rows)
                .max(1)
                .ilog(FAN_IN as u64)
        };
        (0..LAST_CLASS)
            .map(|size| sealed.iter().filter(move |slot| class(slot) == size))
            .find(|alike| alike.clone().count() >= FAN_IN)
            .map(|alike| alike.take(FAN_IN).map(|&slot| slot.clone()).collect())
            .unwrap_or_default()
    }

    fn built(&self, parts: &[Slot]) -> Result<Segment> {
        let segment = Segment::merged(parts, self.settings.dimension);
        // What is left of a worn segment may be too little for a graph; it is scanned then, like
        // what was just added.
        if segment.rows() < self.settings.seal_rows.div_ceil(2) {
            Ok(segment)
        } else {
            segment.with_graph(&self.gate, self.kernel)
        }
    }

    /// Puts a segment in the place of those it was built from, without what was removed meanwhile.
    fn swap(&self, parts: &[Slot], mut built: Slot) {
        let slots = self.slots();
        let is_part = |slot: &&Slot| parts.iter().any(|part| part.is(slot));
        let left: HashSet<u64> = slots
            .iter()
            .filter(is_part)
            .flat_map(|slot| slot.documents().map(|document| document.key))
            .collect();
        let all = built.segment.documents().iter().map(|rows| rows.key);
        let removed: Vec<u64> = all.filter(|key| !left.contains(key)).collect();
        if !removed.is_empty() {
            built.kill(removed);
        }
        let others = slots.iter().filter(|slot| !is_part(slot)).cloned();
        let mut slots: Vec<Slot> = std::iter::once(built).chain(others).collect();
        slots.retain(|slot| slot.live_rows > 0);
        // The segments without a graph stay together at the end, where new ones are added and
        // merged.
        slots.sort_by_key(|slot| !slot.is_sealed());
        self.publish(slots);
    }

    /// The nearest rows of each vector of a query.
    ///
    /// # Errors
    /// A vector is zero, not finite or not whole, the limit is 0, or the threshold is not a number.
    pub fn search(&self, query: &Query) -> Result<Vec<Hits>> {
        let dimension = self.settings.dimension;
        if !query.vectors.len().is_multiple_of(dimension) {
            return Err(Error::QueryLength {
                dimension,
                found: query.vectors.len(),
            });
        }
        if query.limit == 0 {
            return Err(Error::Limit);
        }
        if query.threshold.is_some_and(f32::is_nan) {
            return Err(Error::Threshold);
        }
        let mut vectors = query.vectors.to_vec();
        normalise(&mut vectors, dimension)?;
        let means = Means {
            kernel: self.kernel,
            gate: &self.gate,
            exact_rows: self.settings.exact_rows,
        };
        let queries: Vec<&[f32]> = vectors.chunks_exact(dimension).collect();
        let mut search = Search::new(means, query.limit, &queries);
        for slot in &*self.slots() {
            search.through(slot, query.allowed)?;
        }
        Ok(search.hits(query.threshold))
    }

    fn slots(&self) -> Arc<[Slot]> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&slots)
    }

    fn publish(&self, slots: Vec<Slot>) {
        *self.slots.write().unwrap_or_else(PoisonError::into_inner) = slots.into();
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Marks the rows of a document dead; a segment with no other row goes.
fn take_out(slots: &mut Vec<Slot>, document: u64) {
    if let Some(slot) = slots.iter_mut().find(|slot| slot.holds(document)) {
        slot.kill([document]);
        slots.retain(|slot| slot.live_rows > 0);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    use proptest::prelude::*;

    use super::*;
    use crate::planner::Plan;
    use crate::top::Hit;

    /// What an index should hold, and a plain search of it.
    #[derive(Default)]
    struct Model(Vec<(u64, Vec<u32>, Vec<f32>)>);

    impl Model {
        fn search(&self, query: &Query, dimension: usize) -> Vec<Hit> {
            let mut vector = query.vectors.to_vec();
            normalise(&mut vector, dimension).expect("a direction");
            let mut hits = Vec::new();
            for (document, nodes, rows) in &self.0 {
                let mut rows = rows.clone();
                normalise(&mut rows, dimension).expect("directions");
                for (&node, row) in nodes.iter().zip(rows.chunks_exact(dimension)) {
                    let similarity = Kernel::detect().dot(&vector, row).clamp(0.0, 1.0) + 0.0;
                    let hit = Hit {
                        document: *document,
                        node,
                        similarity,
                    };
                    hits.push(hit);
                }
            }
            hits.retain(|hit| query.allowed.is_none_or(|keys| keys.contains(hit.document)));
            hits.sort_by(Hit::by_rank);
            hits.truncate(query.limit);
            hits.retain(|hit| query.threshold.is_none_or(|least| hit.similarity >= least));
            hits
        }
    }

    fn index(settings: Settings) -> VectorIndex {
        VectorIndex::new(settings).expect("good settings")
    }

    fn nearest(index: &VectorIndex, query: &Query) -> Hits {
        index.search(query).expect("a good query").remove(0)
    }

    fn query(vectors: &[f32], limit: usize) -> Query<'_> {
        Query {
            vectors,
            limit,
            threshold: None,
            allowed: None,
        }
    }

    #[derive(Clone, Debug)]
    enum Change {
        Add(Vec<u32>, Vec<[i8; 3]>),
        Remove(usize),
        Seal,
    }

    fn direction() -> impl Strategy<Value = [i8; 3]> {
        prop::array::uniform3(-2i8..3).prop_filter("no direction", |vector| vector != &[0; 3])
    }

    fn changes() -> impl Strategy<Value = Vec<Change>> {
        let document = prop::collection::btree_map(0u32..50, direction(), 0..12);
        let add = document.prop_map(|rows| {
            let (nodes, vectors) = rows.into_iter().unzip();
            Change::Add(nodes, vectors)
        });
        let change = prop_oneof![
            5 => add,
            2 => (0usize..100).prop_map(Change::Remove),
            1 => Just(Change::Seal),
        ];
        prop::collection::vec(change, 0..40)
    }

    fn floats(vectors: &[[i8; 3]]) -> Vec<f32> {
        vectors.iter().flatten().map(|&x| f32::from(x)).collect()
    }

    fn apply(changes: Vec<Change>, index: &VectorIndex) -> Model {
        let mut model = Model::default();
        for (key, change) in (100..).zip(changes) {
            match change {
                Change::Add(nodes, vectors) => {
                    let vectors = floats(&vectors);
                    index
                        .add(key, nodes.clone(), vectors.clone())
                        .expect("a good document");
                    model.0.push((key, nodes, vectors));
                }
                Change::Remove(at) if at < model.0.len() => {
                    assert!(index.remove(model.0.swap_remove(at).0));
                }
                Change::Remove(at) => assert!(!index.remove(at as u64)),
                Change::Seal => {
                    index.seal().expect("room for a graph");
                }
            }
        }
        model
    }

    proptest! {
        #[test]
        fn answers_are_those_of_a_plain_search(
            changes in changes(),
            vector in direction(),
            limit in 1usize..40,
            threshold in prop::option::of(0.0f32..1.0),
            allowed in prop::option::of(prop::collection::vec(95u64..145, 0..30)),
        ) {
            let index = index(Settings { seal_rows: 20, ..Settings::new(3) });
            let model = apply(changes, &index);
            let vectors = floats(&[vector]);
            let allowed = allowed.map(Allowed::new);
            let query = Query { vectors: &vectors, limit, threshold, allowed: allowed.as_ref() };
            let found = nearest(&index, &query);
            let right = model.search(&query, 3);
            prop_assert_eq!(&found.list, &right);
            let bits = |hits: &[Hit]| -> Vec<u32> { hits.iter().map(|hit| hit.similarity.to_bits()).collect() };
            prop_assert_eq!(bits(&found.list), bits(&right));
            let everything = Query { threshold: None, limit: 10_000, ..query };
            prop_assert_eq!(found.plan.allowed_rows, model.search(&everything, 3).len() as u64);
            prop_assert_eq!(found.plan.compared_rows, found.plan.allowed_rows);
            let cut = found.plan.allowed_rows.min(limit as u64) - found.list.len() as u64;
            prop_assert_eq!(u64::from(found.plan.below_threshold), cut);
            let sizes = index.sizes();
            prop_assert_eq!(sizes.documents, model.0.len());
            prop_assert_eq!(sizes.rows, model.0.iter().map(|(_, nodes, _)| nodes.len() as u64).sum::<u64>());
            prop_assert_eq!(found.plan.rows, sizes.rows);
        }
    }

    /// Unit vectors around as many centres as there are clusters; the same for the same seed.
    fn clustered(rows: usize, dimension: usize, clusters: usize, seed: u64) -> Vec<f32> {
        let mut state = seed;
        let mut random = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((state >> 40) as f32 / (1u64 << 24) as f32) - 0.5
        };
        let centres: Vec<f32> = (0..clusters * dimension).map(|_| random()).collect();
        (0..rows * dimension)
            .map(|at| {
                let (row, column) = (at / dimension, at % dimension);
                centres[row % clusters * dimension + column] + 0.4 * random()
            })
            .collect()
    }

    /// 1,500 rows of ten documents in a graph, behind settings that ask for the graph.
    fn sealed(dimension: usize) -> (VectorIndex, Model) {
        let settings = Settings {
            exact_rows: 100,
            seal_rows: 1_000,
            ..Settings::new(dimension)
        };
        let index = index(settings);
        let mut model = Model::default();
        let rows = clustered(1_500, dimension, 30, 7);
        for (key, rows) in (0..).zip(rows.chunks_exact(150 * dimension)) {
            let nodes: Vec<u32> = (0..150).collect();
            index
                .add(key, nodes.clone(), rows.to_vec())
                .expect("a good document");
            model.0.push((key, nodes, rows.to_vec()));
        }
        assert!(index.seal().expect("room for a graph"));
        (index, model)
    }

    /// Share of the right hits that were found, over 40 queries.
    fn recall(index: &VectorIndex, model: &Model, allowed: Option<&Allowed>) -> (f64, Plan) {
        let dimension = index.settings().dimension;
        let queries = clustered(40, dimension, 30, 11);
        let mut plan = Plan::default();
        let mut found = 0;
        for vectors in queries.chunks_exact(dimension) {
            let query = Query {
                allowed,
                ..query(vectors, 10)
            };
            let hits = nearest(index, &query);
            let right = model.search(&query, dimension);
            assert_eq!(hits.list.len(), right.len());
            found += hits.list.iter().filter(|hit| right.contains(hit)).count();
            plan = hits.plan;
        }
        (found as f64 / 400.0, plan)
    }

    #[test]
    fn a_graph_finds_what_a_plain_search_finds() {
        let (index, model) = sealed(24);
        let (recall, plan) = recall(&index, &model, None);
        assert!(recall >= 0.99, "{recall}");
        assert_eq!((plan.graph_segments, plan.exact_segments), (1, 0));
        assert_eq!((plan.rows, plan.compared_rows), (1_500, 64));
    }

    #[test]
    fn a_filtered_graph_finds_what_a_plain_search_finds() {
        let (index, model) = sealed(24);
        let half = Allowed::new((0..5).collect());
        let (recall, plan) = recall(&index, &model, Some(&half));
        assert!(recall >= 0.99, "{recall}");
        assert_eq!((plan.graph_segments, plan.allowed_rows), (1, 750));
    }

    #[test]
    fn few_allowed_rows_are_all_compared() {
        let (index, model) = sealed(24);
        let one = Allowed::new(vec![3]);
        let (recall, plan) = recall(&index, &model, Some(&one));
        assert_eq!(recall, 1.0);
        assert_eq!((plan.exact_segments, plan.compared_rows), (1, 150));
    }

    #[test]
    fn a_similarity_has_the_same_bits_before_and_after_sealing() {
        let rows = clustered(600, 24, 20, 3);
        let index = index(Settings {
            exact_rows: 0,
            seal_rows: 600,
            ..Settings::new(24)
        });
        index
            .add(1, (0..600).collect(), rows.clone())
            .expect("a good document");
        let before = nearest(&index, &query(&rows[..24], 10));
        assert!(index.seal().expect("room for a graph"));
        let after = nearest(&index, &query(&rows[..24], 10));
        assert_eq!(after.plan.graph_segments, 1);
        assert_eq!(before.list, after.list);
    }

    #[test]
    fn a_limit_beyond_the_rows_returns_them_all() {
        let (index, _) = sealed(8);
        let found = nearest(&index, &query(&[1.0; 8], 10_000));
        assert_eq!(found.list.len(), 1_500);
    }

    #[test]
    fn a_worn_segment_is_built_anew_without_its_dead_rows() {
        let (index, mut model) = sealed(24);
        assert!(!index.seal().expect("nothing to build"));
        for key in 0..2 {
            assert!(index.remove(key));
            model.0.remove(0);
        }
        assert!(index.seal().expect("room for a graph"));
        let sizes = Sizes {
            documents: 8,
            rows: 1_200,
            sealed_rows: 1_200,
            segments: 1,
        };
        assert_eq!(index.sizes(), sizes);
        assert!(recall(&index, &model, None).0 >= 0.99);
        assert!(!index.seal().expect("nothing to build"));
    }

    #[test]
    fn four_segments_of_a_size_become_one() {
        let index = index(Settings {
            seal_rows: 30,
            ..Settings::new(2)
        });
        for key in 0..4 {
            index
                .add(key, (0..30).collect(), [0.5; 60].to_vec())
                .expect("a good document");
            assert!(index.seal().expect("room for a graph"));
        }
        assert_eq!(index.sizes().segments, 4);
        assert!(index.seal().expect("room for a graph"));
        assert_eq!(
            (index.sizes().segments, index.sizes().sealed_rows),
            (1, 120)
        );
    }

    #[test]
    fn many_small_documents_make_few_segments() {
        let index = index(Settings::new(2));
        for key in 0..1_000 {
            index
                .add(key, vec![0], vec![1.0, 2.0])
                .expect("a good document");
        }
        assert!(index.slots().len() <= 10);
        assert_eq!(index.sizes().rows, 1_000);
    }

    #[test]
    fn bad_input_is_refused_and_changes_nothing() {
        let index = index(Settings::new(2));
        index
            .add(1, vec![3], vec![1.0, 0.0])
            .expect("a good document");
        let refused = |key, nodes: &[u32], vectors: &[f32]| {
            index
                .add(key, nodes.to_vec(), vectors.to_vec())
                .expect_err("bad input")
        };
        assert_eq!(refused(1, &[0], &[1.0, 0.0]), Error::DocumentTwice(1));
        assert_eq!(
            refused(2, &[5, 5], &[1.0; 4]),
            Error::NodeOrder { node: 5, before: 5 }
        );
        assert_eq!(
            refused(2, &[0, 1], &[1.0; 3]),
            Error::VectorCount {
                nodes: 2,
                dimension: 2,
                found: 3
            }
        );
        assert_eq!(
            refused(2, &[0, 1], &[1.0, 1.0, 0.0, 0.0]),
            Error::VectorZero(1)
        );
        assert_eq!(
            refused(2, &[0], &[1.0, f32::NAN]),
            Error::VectorNotFinite(0)
        );
        assert_eq!(
            index.sizes(),
            Sizes {
                documents: 1,
                rows: 1,
                ..Sizes::default()
            }
        );
        let refused = |query| index.search(&query).expect_err("a bad query");
        assert_eq!(
            refused(query(&[1.0], 1)),
            Error::QueryLength {
                dimension: 2,
                found: 1
            }
        );
        assert_eq!(refused(query(&[0.0, 0.0], 1)), Error::VectorZero(0));
        assert_eq!(refused(query(&[1.0, 0.0], 0)), Error::Limit);
        let threshold = Some(f32::NAN);
        assert_eq!(
            refused(Query {
                threshold,
                ..query(&[1.0, 0.0], 1)
            }),
            Error::Threshold
        );
    }

    #[test]
    fn a_search_beside_changes_sees_a_document_whole_or_not_at_all() {
        let index = index(Settings {
            exact_rows: 0,
            seal_rows: 600,
            threads: 2,
            ..Settings::new(8)
        });
        let rows = clustered(200, 8, 10, 5);
        let (removed, done) = (AtomicU64::new(0), AtomicBool::new(false));
        index
            .add(0, vec![7], vec![9.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
            .expect("a good document");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for key in 1..25 {
                    index
                        .add(key, (0..200).collect(), rows.clone())
                        .expect("a good document");
                    if key % 2 == 0 {
                        assert!(index.remove(key / 2));
                        removed.store(key / 2, Ordering::SeqCst);
                    }
                }
                done.store(true, Ordering::SeqCst);
            });
            scope.spawn(|| {
                while !done.load(Ordering::SeqCst) {
                    index.seal().expect("room for a graph");
                    std::thread::yield_now();
                }
            });
            for _ in 0..3 {
                scope.spawn(|| {
                    while !done.load(Ordering::SeqCst) {
                        let gone = removed.load(Ordering::SeqCst);
                        let found = nearest(
                            &index,
                            &query(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 5_000),
                        );
                        assert_eq!((found.list[0].document, found.list[0].node), (0, 7));
                        assert!(
                            found
                                .list
                                .iter()
                                .all(|hit| hit.document == 0 || hit.document > gone)
                        );
                        assert_eq!(found.list.len() as u64, found.plan.rows);
                        assert_eq!(found.list.len() % 200, 1);
                    }
                });
            }
        });
    }
}
