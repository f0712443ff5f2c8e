//! The vector index: which segments there are, and how they come and go.
//!
//! ```text
//! add     -> a segment of one document, without a graph; small ones are merged
//! seal    -> segments without a graph become one with a graph, in a file, built aside, swapped in
//! install -> files that another process has built take the place of all segments with a graph
//! remove  -> bits of a document are cleared in a copy of the live rows
//! search  -> takes the segments as they are at that moment
//! ```
//!
//! Everything a search reads is immutable, so that it waits for nobody but a place in the gate of
//! the graphs.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use crate::error::{Error, Result};
use crate::filter::Allowed;
use crate::gather::Gathered;
use crate::graph::Gate;
use crate::kernel::{Kernel, normalise};
use crate::opening::open_all;
use crate::planner::{Hits, Means, Search};
use crate::sealed::{Reader, SegmentFile};
use crate::sealing;
use crate::segment::{Segment, Slot};
use crate::upkeep::{due, most_rows, rows_of};

/// Largest dimension of a vector.
pub const MAX_DIMENSION: usize = 65_536;

/// Settings of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Elements of a vector.
    pub dimension: usize,
    /// Rows that are scanned in the time in which a graph makes one proposal among all rows
    /// allowed. With 0 every graph is searched; with `u32::MAX` every row is compared.
    pub proposal_cost: u32,
    /// As many rows without a graph are worth one.
    pub seal_rows: u32,
    /// Searches that may be in a graph at once; more wait.
    pub threads: usize,
}

impl Settings {
    /// The settings that suit most: proposals at the cost of 40 rows, seals at 20,000 rows, 16
    /// threads.
    #[must_use]
    pub fn new(dimension: usize) -> Self {
        Self {
            dimension,
            proposal_cost: 40,
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
    /// Documents or nodes to look at, or all.
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
    /// Bytes of the rows without a graph, and of what is mapped of the files with the others.
    pub memory_bytes: u64,
}

/// A segment with a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedSegment {
    /// Its file.
    pub file: SegmentFile,
    /// Live rows.
    pub rows: u32,
}

/// The vectors of a collection. Any number of threads may search while others add, remove and seal.
pub struct VectorIndex {
    settings: Settings,
    kernel: Kernel,
    gate: Gate,
    slots: RwLock<Arc<[Slot]>>,
    /// Number of `Writer::documents`, to be read without waiting for a writer.
    documents: AtomicUsize,
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
            documents: AtomicUsize::new(0),
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
        let mut sizes = Sizes {
            documents: self.documents.load(Ordering::Relaxed),
            ..Sizes::default()
        };
        for slot in &*self.slots() {
            sizes.rows += u64::from(slot.live_rows);
            sizes.memory_bytes += slot.segment.bytes() as u64;
            if slot.is_sealed() {
                sizes.sealed_rows += u64::from(slot.live_rows);
                sizes.segments += 1;
            }
        }
        sizes
    }

    /// Keys of the live documents, those without rows among them; ascending.
    #[must_use]
    pub fn keys(&self) -> Vec<u64> {
        let mut keys: Vec<u64> = self.writer().documents.iter().copied().collect();
        keys.sort_unstable();
        keys
    }

    /// The segments with a graph.
    #[must_use]
    pub fn sealed(&self) -> Vec<SealedSegment> {
        let slots = self.slots();
        let sealed = slots.iter().filter_map(|slot| {
            let file = slot.segment.file()?.id().clone();
            let rows = slot.live_rows;
            Some(SealedSegment { file, rows })
        });
        sealed.collect()
    }

    /// Whether a document is in the index.
    #[must_use]
    pub fn holds(&self, document: u64) -> bool {
        self.writer().documents.contains(&document)
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
        if writer.documents.contains(&document) {
            return Err(Error::DocumentTwice(document));
        }
        let mut slots = self.slots().to_vec();
        let before = before.filter(|before| writer.documents.contains(before));
        if let Some(before) = before {
            take_out(&mut slots, before);
        }
        if !nodes.is_empty() {
            let segment = Segment::of_document(document, nodes.into(), vectors.into());
            slots.push(Slot::new(segment));
            self.merge_small(&mut slots, &writer.sealing)?;
        }
        writer.documents.insert(document);
        before.map(|before| writer.documents.remove(&before));
        self.publish(slots);
        self.count(&writer);
        Ok(())
    }

    /// Merges the newest segments while the one before is not larger by far, so that their number
    /// grows with the logarithm of their rows.
    fn merge_small(&self, slots: &mut Vec<Slot>, sealing: &[Slot]) -> Result<()> {
        while let [.., before, last] = &slots[..]
            && !before.is_sealed()
            && before.live_rows < last.live_rows.saturating_mul(2)
            && rows_of(&slots[slots.len() - 2..]) <= most_rows(self.settings.seal_rows)
            && !sealing.iter().any(|slot| slot.is(before))
        {
            let rows = Gathered::new(&slots[slots.len() - 2..], self.settings.dimension);
            let merged = rows.into_plain()?;
            slots.truncate(slots.len() - 2);
            slots.push(Slot::new(merged));
        }
        Ok(())
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
        self.count(&writer);
        true
    }

    fn count(&self, writer: &Writer) {
        self.documents
            .store(writer.documents.len(), Ordering::Relaxed);
    }

    /// Does the most useful piece of upkeep: gives rows without a graph one where they are enough,
    /// builds a segment anew where a fifth of its rows is dead, or merges small segments. The new
    /// segment is `folder/name.segment`; there is none where too little is left for a graph.
    /// Returns whether there was something to do. Takes seconds to minutes; searches, additions and
    /// removals go on meanwhile.
    ///
    /// # Errors
    /// The graph could not be built, for want of memory for example, or the file could not be
    /// written; the index is as before.
    pub fn seal(&self, folder: &Path, name: &str) -> Result<bool> {
        let _only = self.sealer.lock().unwrap_or_else(PoisonError::into_inner);
        let parts = {
            let mut writer = self.writer();
            writer.sealing = due(&self.slots(), self.settings.seal_rows);
            writer.sealing.clone()
        };
        if parts.is_empty() {
            return Ok(false);
        }
        let built = self.built(&parts, folder, name);
        let mut writer = self.writer();
        writer.sealing.clear();
        self.swap(&parts, Slot::new(built?));
        Ok(true)
    }

    fn built(&self, parts: &[Slot], folder: &Path, name: &str) -> Result<Segment> {
        let rows = Gathered::new(parts, self.settings.dimension);
        // What is left of a worn segment may be too little for a graph; it is scanned then, like
        // what was just added.
        if rows.rows() < self.settings.seal_rows.div_ceil(2) {
            rows.into_plain()
        } else {
            sealing::write(&rows, folder, name, self.reader())
        }
    }

    fn reader(&self) -> Reader<'_> {
        Reader {
            dimension: self.settings.dimension,
            gate: &self.gate,
            kernel: self.kernel,
        }
    }

    /// Puts segments from files in the place of all that have a graph, in one step.
    ///
    /// `live` names the documents that are to be searchable; those of them that no segment holds are
    /// passed over. Without it, it is the documents that the index holds: those that a new segment
    /// holds are answered from there, and the others stay where they are.
    ///
    /// # Errors
    /// A file is missing, damaged, or none of this program and dimension; the index is as before.
    pub fn install(
        &self,
        folder: &Path,
        files: &[SegmentFile],
        live: Option<&[u64]>,
    ) -> Result<()> {
        let _only = self.sealer.lock().unwrap_or_else(PoisonError::into_inner);
        let segments = open_all(folder, files, &self.slots(), self.reader())?;
        let live: Option<HashSet<u64>> = live.map(|keys| keys.iter().copied().collect());
        let mut writer = self.writer();
        let wanted = live.as_ref().unwrap_or(&writer.documents);
        let mut taken = HashSet::new();
        let installed: Vec<Slot> = segments
            .into_iter()
            .map(|segment| Slot::of(segment, |key| wanted.contains(&key) && taken.insert(key)))
            .collect();
        let (mut sealed, mut plain): (Vec<Slot>, Vec<Slot>) =
            self.slots().iter().cloned().partition(Slot::is_sealed);
        if live.is_some() {
            for slot in sealed.drain(..) {
                for document in slot.documents() {
                    writer.documents.remove(&document.key);
                }
            }
            writer.documents.extend(&taken);
        }
        for slot in sealed.iter_mut().chain(&mut plain) {
            slot.kill_all(&taken);
        }
        let mut slots = [installed, sealed, plain].concat();
        slots.retain(|slot| slot.live_rows > 0);
        self.publish(slots);
        self.count(&writer);
        Ok(())
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
            proposal_cost: self.settings.proposal_cost,
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
        let mut current = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *current, slots.into());
        drop(current);
        // Freeing what nobody uses any more takes time; readers do not wait for it.
        drop(before);
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
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn slots(adds: impl Iterator<Item = (u64, usize)>) -> usize {
        let index = VectorIndex::new(Settings::new(2)).unwrap();
        for (key, rows) in adds {
            let nodes = (0..).take(rows).collect();
            index.add(key, nodes, vec![1.0; rows * 2]).unwrap();
        }
        index.slots().len()
    }

    #[test]
    fn many_small_documents_make_few_segments() {
        assert!(slots((0..1_000).map(|key| (key, 1))) <= 10);
    }

    #[test]
    fn documents_of_falling_size_are_not_merged_each_time() {
        assert_eq!(slots([(0, 64), (1, 16), (2, 4), (3, 1)].into_iter()), 4);
        assert_eq!(slots([(0, 64), (1, 16), (2, 4), (3, 40)].into_iter()), 1);
    }
}
