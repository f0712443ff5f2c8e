//! The vector index: which segments there are, and how one search goes through them.
//!
//! ```text
//! add     -> a segment of one document, without a graph; small ones are merged as in a binary counter
//! seal    -> all segments without a graph become one with a graph, built aside and swapped in
//! remove  -> bits of a document are cleared in a copy of the live rows
//! search  -> takes the segments as they are at that moment; each is scanned or its graph is searched
//! ```
//!
//! Everything a search reads is immutable, so that it waits for nobody but a place in the gate of the graphs.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use crate::error::{Error, Result};
use crate::filter::{Allowed, Bitmap};
use crate::graph::{EXPANSION_SEARCH, Gate};
use crate::kernel::{Kernel, normalise};
use crate::segment::{Segment, Slot};
use crate::top::{Hit, Top};

/// Largest dimension of a vector.
pub const MAX_DIMENSION: usize = 65_536;
/// Proposals of a graph for each hit wanted, to be compared exactly.
const OVERFETCH: usize = 3;
/// Distances that a graph computes for each candidate it looks at, about.
const DISTANCES_PER_CANDIDATE: usize = 8;
/// A segment with fewer allowed rows than one in this many is scanned: its graph would be walked whole to find them.
const SCARCE: u32 = 20;
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

/// The hits of a query, best first, and how they were found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hits {
    /// The hits, best first.
    pub list: Vec<Hit>,
    /// How they were found.
    pub plan: Plan,
}

/// How hits were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Segments whose allowed rows were all compared; the rows without a graph count as one.
    pub exact_segments: u32,
    /// Segments that were searched by graph.
    pub graph_segments: u32,
    /// Live rows in the index.
    pub rows: u64,
    /// Live rows that the filter allowed.
    pub allowed_rows: u64,
    /// Rows compared exactly.
    pub compared_rows: u64,
    /// Hits among the first `limit` that were left out by the threshold.
    pub below_threshold: u32,
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
    /// The document is in the index already, `nodes` are not ascending, the number of vectors is not theirs, or a vector
    /// is zero or not finite. Nothing is added then.
    pub fn add(&self, document: u64, nodes: Vec<u32>, mut vectors: Vec<f32>) -> Result<()> {
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
        if !nodes.is_empty() {
            let segment = Segment::of_document(document, nodes.into(), vectors.into());
            let mut slots = self.slots().to_vec();
            slots.push(Slot::new(segment));
            self.merge_small(&mut slots, &writer.sealing);
            self.publish(slots);
        }
        Ok(())
    }

    /// Merges the newest segments while the one before is not larger by far, so that their number grows with the logarithm
    /// of their rows.
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
        if let Some(slot) = slots.iter_mut().find(|slot| slot.holds(document)) {
            slot.kill([document]);
            slots.retain(|slot| slot.live_rows > 0);
            self.publish(slots);
        }
        true
    }

    /// Does the most useful piece of upkeep: gives the rows without a graph one where they are enough, builds a segment anew
    /// where a fifth of its rows is dead, or merges small segments. Returns whether there was one. Takes seconds; searches,
    /// additions and removals go on meanwhile.
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
        let class = |slot: &Slot| (u64::from(slot.live_rows) / seal_rows).max(1).ilog(FAN_IN as u64);
        (0..LAST_CLASS)
            .map(|size| sealed.iter().filter(move |slot| class(slot) == size))
            .find(|alike| alike.clone().count() >= FAN_IN)
            .map(|alike| alike.take(FAN_IN).map(|&slot| slot.clone()).collect())
            .unwrap_or_default()
    }

    fn built(&self, parts: &[Slot]) -> Result<Segment> {
        let segment = Segment::merged(parts, self.settings.dimension);
        // What is left of a worn segment may be too little for a graph; it is scanned then, like what was just added.
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
        // The segments without a graph stay together at the end, where new ones are added and merged.
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
        let queries: Vec<&[f32]> = vectors.chunks_exact(dimension).collect();
        let mut search = Search::new(self, query.limit, &queries);
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

/// A search of several queries on its way through the segments.
struct Search<'a> {
    index: &'a VectorIndex,
    limit: usize,
    queries: &'a [&'a [f32]],
    tops: Vec<Top>,
    plans: Vec<Plan>,
    /// Whether rows without a graph were scanned.
    plain: bool,
}

impl<'a> Search<'a> {
    fn new(index: &'a VectorIndex, limit: usize, queries: &'a [&'a [f32]]) -> Self {
        Self {
            index,
            limit,
            queries,
            tops: vec![Top::new(limit); queries.len()],
            plans: vec![Plan::default(); queries.len()],
            plain: false,
        }
    }

    /// Goes through one segment, by its graph or row by row, whichever costs less for the rows that are allowed.
    fn through(&mut self, slot: &Slot, allowed: Option<&Allowed>) -> Result<()> {
        let filtered = allowed.map(|keys| keys.rows(slot.segment.documents(), &slot.live));
        let rows = filtered.as_ref().unwrap_or(&slot.live);
        let count = filtered.as_ref().map_or(slot.live_rows, Bitmap::count);
        for plan in &mut self.plans {
            plan.rows += u64::from(slot.live_rows);
            plan.allowed_rows += u64::from(count);
        }
        if count == 0 {
            return Ok(());
        }
        if !slot.is_sealed() {
            let already = std::mem::replace(&mut self.plain, true);
            self.scan(slot, rows, count, 0..self.queries.len(), u32::from(!already));
            return Ok(());
        }
        let proposals = self.limit.saturating_mul(OVERFETCH).max(EXPANSION_SEARCH);
        if self.prefers_scan(slot, count, proposals) {
            self.scan(slot, rows, count, 0..self.queries.len(), 1);
            return Ok(());
        }
        let wanted = self.limit.min(count as usize);
        for at in 0..self.queries.len() {
            if !self.by_graph(slot, rows, at, proposals, wanted)? {
                self.scan(slot, rows, count, at..at + 1, 1);
            }
        }
        Ok(())
    }

    fn prefers_scan(&self, slot: &Slot, allowed: u32, proposals: usize) -> bool {
        allowed <= self.index.settings.exact_rows
            || allowed <= slot.segment.rows() / SCARCE
            || allowed as usize <= proposals.saturating_mul(DISTANCES_PER_CANDIDATE)
    }

    fn scan(
        &mut self,
        slot: &Slot,
        rows: &Bitmap,
        count: u32,
        queries: std::ops::Range<usize>,
        segments: u32,
    ) {
        let tops = &mut self.tops[queries.clone()];
        slot.segment
            .scan(rows, &self.queries[queries.clone()], tops, self.index.kernel);
        for plan in &mut self.plans[queries] {
            plan.compared_rows += u64::from(count);
            plan.exact_segments += segments;
        }
    }

    /// Searches the graph of a segment for one query; returns false, with nothing done, where it found too few rows.
    fn by_graph(
        &mut self,
        slot: &Slot,
        rows: &Bitmap,
        at: usize,
        proposals: usize,
        wanted: usize,
    ) -> Result<bool> {
        let Some(graph) = slot.segment.graph() else {
            return Ok(false);
        };
        let all = rows.count() == slot.segment.rows();
        let query = self.queries[at];
        let found = graph.search(query, proposals, (!all).then_some(rows), &self.index.gate)?;
        if found.len() < wanted {
            return Ok(false);
        }
        let (top, kernel) = (&mut self.tops[at], self.index.kernel);
        slot.segment.rescore(&found, query, top, kernel);
        self.plans[at].compared_rows += found.len() as u64;
        self.plans[at].graph_segments += 1;
        Ok(true)
    }

    fn hits(self, threshold: Option<f32>) -> Vec<Hits> {
        let pairs = self.tops.into_iter().zip(self.plans);
        pairs
            .map(|(top, mut plan)| {
                let mut list = top.into_hits();
                if let Some(least) = threshold {
                    let above = list.partition_point(|hit| hit.similarity >= least);
                    plan.below_threshold = u32::try_from(list.len() - above).unwrap_or(u32::MAX);
                    list.truncate(above);
                }
                Hits { list, plan }
            })
            .collect()
    }
}
