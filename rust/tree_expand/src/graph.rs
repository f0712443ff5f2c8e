//! Graphs over the rows of sealed segments: the only file that names the `usearch` crate.
//!
//! The crate lets any thread add to and search any graph; only these uses of it are sound, and the
//! types here allow no other. One thread builds a graph, row by row, and saves it. What is searched
//! is a read-only mapping of the saved file, by no more callers at once than threads were reserved,
//! for which they pass a [`Gate`]. No row is ever removed or added again.
//!
//! A file that is mapped is never written to or shortened: files of segments are written under
//! another name, renamed when they are complete, and only deleted after that, which leaves a mapping
//! as it is.

use std::fs::File;
use std::path::Path;
use std::sync::{Condvar, Mutex, PoisonError};

use memmap2::{Mmap, MmapOptions};
use usearch::{Index, IndexOptions, MetricKind, ScalarKind};

use crate::error::{Error, Result};
use crate::kernel::{Kernel, rounded};

/// Links of a node, on each level but the lowest. With 16, the crate's own choice, one near passage
/// in a hundred is missed where queries are embedded unlike passages; 32 finds no more than 24.
const CONNECTIVITY: usize = 24;
/// Candidates looked at when a row is added.
const EXPANSION_ADD: usize = 128;
/// Least candidates looked at by a search; more are looked at where more are asked for.
pub(crate) const EXPANSION_SEARCH: usize = 128;
/// Bytes before the first row of a saved graph: the number of rows and the bytes of a row.
pub(crate) const MATRIX_AT: usize = 8;

/// What decides whether a saved graph can be searched by this program.
pub(crate) fn settings() -> String {
    let version = usearch::version();
    format!("usearch {version} inner product, brain floats, connectivity {CONNECTIVITY}")
}

/// Lets a fixed number of callers in at once; more wait.
#[derive(Debug)]
pub(crate) struct Gate {
    places: usize,
    free: Mutex<usize>,
    freed: Condvar,
}

impl Gate {
    pub(crate) fn new(places: usize) -> Self {
        Self {
            places,
            free: Mutex::new(places),
            freed: Condvar::new(),
        }
    }

    /// Runs `work` when there is a place.
    fn pass<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            free = self
                .freed
                .wait(free)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        drop(free);
        let _place = Place(self);
        work()
    }
}

/// A place inside a gate; free again when it is dropped.
struct Place<'a>(&'a Gate);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut free = self.0.free.lock().unwrap_or_else(PoisonError::into_inner);
        *free += 1;
        self.0.freed.notify_one();
    }
}

/// A graph over rows, in brain floats, that is being built.
pub(crate) struct Builder {
    index: Index,
    dimension: usize,
    rows: u64,
}

impl Builder {
    /// A graph that is to have `rows` rows, at most.
    pub(crate) fn new(rows: usize, dimension: usize, kernel: Kernel) -> Result<Self> {
        let mut index = empty(dimension).map_err(refused)?;
        index.change_metric(distance(dimension, kernel));
        index
            .reserve_capacity_and_threads(rows, 1)
            .map_err(refused)?;
        Ok(Self {
            index,
            dimension,
            rows: 0,
        })
    }

    /// Adds rows of length 1, which lie one behind another.
    pub(crate) fn add(&mut self, rows: &[f32]) -> Result<()> {
        // The crate cuts numbers off where they should be rounded; cutting these changes nothing.
        let rows: Vec<f32> = rows.iter().map(|&x| rounded(x)).collect();
        for row in rows.chunks_exact(self.dimension) {
            self.index.add(self.rows, row).map_err(refused)?;
            self.rows += 1;
        }
        Ok(())
    }

    /// Writes the graph to a file; returns how many bytes it should have then. On a full disk the
    /// crate reports success.
    pub(crate) fn save(&self, path: &Path) -> Result<u64> {
        let path = path
            .to_str()
            .ok_or_else(|| refused("a path is not UTF-8"))?;
        self.index.save(path).map_err(refused)?;
        Ok(self.index.serialized_length() as u64)
    }
}

/// A graph over rows, in brain floats, in a file. It proposes rows; their similarity is computed
/// elsewhere.
pub(crate) struct Graph {
    /// Before `map`, which it points into: fields are dropped in this order.
    index: Index,
    map: Mmap,
    rows: u32,
    dimension: usize,
}

impl Graph {
    /// Maps the graph that is the first `bytes` bytes of a file, to be searched through `gate`.
    ///
    /// # Errors
    /// What is wrong with the file.
    #[allow(unsafe_code)]
    pub(crate) fn open(
        file: &File,
        bytes: usize,
        (rows, dimension): (u32, usize),
        gate: &Gate,
        kernel: Kernel,
    ) -> std::result::Result<Self, String> {
        // SAFETY: files of segments are never changed or shortened, see above.
        let map = unsafe { MmapOptions::new().len(bytes).map(file) }.map_err(told)?;
        let mut index = empty(dimension).map_err(told)?;
        // SAFETY: the buffer is the mapping, which is unchanged as long as `map` lives, at the same
        // place wherever `map` moves, and is dropped after `index`.
        unsafe { index.view_from_buffer(&map) }.map_err(told)?;
        let found = (index.size(), index.dimensions(), index.connectivity());
        if found != (rows as usize, dimension, CONNECTIVITY) {
            return Err(format!("its graph has other rows or settings: {found:?}"));
        }
        // Both are as the file says after a view.
        index.change_metric(distance(dimension, kernel));
        index
            .reserve_capacity_and_threads(rows as usize, gate.places)
            .map_err(told)?;
        let graph = Self {
            index,
            map,
            rows,
            dimension,
        };
        graph.checked()
    }

    fn checked(self) -> std::result::Result<Self, String> {
        let head: Option<&[u32]> = self
            .map
            .get(..MATRIX_AT)
            .and_then(|head| bytemuck::try_cast_slice(head).ok());
        let row_bytes = u32::try_from(self.dimension * size_of::<u16>());
        if head == Some(&[self.rows, row_bytes.map_err(told)?]) {
            Ok(self)
        } else {
            Err(format!("its rows are laid out in an unknown way: {head:?}"))
        }
    }

    /// The rows in brain floats, one behind another.
    pub(crate) fn matrix(&self) -> &[u16] {
        let bytes = self.rows as usize * self.dimension * size_of::<u16>();
        bytemuck::cast_slice(&self.map[MATRIX_AT..MATRIX_AT + bytes])
    }

    /// Bytes that are mapped.
    pub(crate) fn bytes(&self) -> usize {
        self.map.len()
    }

    /// At most `count` rows near the query, the nearest first; fewer where the graph finds no more.
    ///
    /// The crate's search among some rows only is not used: it takes twice as long as to propose so
    /// many that enough of them are allowed, and finds less where the allowed ones are far away.
    pub(crate) fn search(&self, query: &[f32], count: usize, gate: &Gate) -> Result<Vec<u32>> {
        let query: Vec<f32> = query.iter().map(|&x| rounded(x)).collect();
        let found = gate.pass(|| self.index.search(&query, count));
        let keys = found.map_err(refused)?.keys.into_iter();
        Ok(keys
            .filter_map(|key| u32::try_from(key).ok())
            .filter(|&row| row < self.rows)
            .collect())
    }
}

fn empty(dimension: usize) -> std::result::Result<Index, impl std::fmt::Display> {
    Index::new(&IndexOptions {
        dimensions: dimension,
        metric: MetricKind::IP,
        quantization: ScalarKind::BF16,
        connectivity: CONNECTIVITY,
        expansion_add: EXPANSION_ADD,
        expansion_search: EXPANSION_SEARCH,
        multi: false,
    })
}

#[allow(clippy::needless_pass_by_value)] // as `map_err` wants it
fn told(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[allow(clippy::needless_pass_by_value)] // as `map_err` wants it
fn refused(error: impl std::fmt::Display) -> Error {
    Error::Graph(error.to_string())
}

type Distance = Box<dyn Fn(*const usearch::f16, *const usearch::f16) -> f32 + Send + Sync>;

/// One minus the dot product, by our own kernel: the crate's portable one knows no vectors wider
/// than the compiler was allowed to use. The type says `f16`; what is behind the pointers are the
/// 16 bits of the index's scalar kind, BF16.
#[allow(unsafe_code)]
fn distance(dimension: usize, kernel: Kernel) -> Distance {
    Box::new(move |left, right| {
        // SAFETY: the index calls this with two of its own vectors, or one and the query it has
        // converted: each is `dimension` elements of two bytes, aligned to two, initialised, and
        // unchanged during the call.
        let (left, right) = unsafe {
            (
                std::slice::from_raw_parts(left.cast::<u16>(), dimension),
                std::slice::from_raw_parts(right.cast::<u16>(), dimension),
            )
        };
        1.0 - kernel.dot_bf16(left, right)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::kernel::widen;

    /// Unit vectors on a circle, 12 degrees apart.
    fn circle() -> Vec<f32> {
        (0..30u8)
            .flat_map(|step| {
                let angle = (f32::from(step) * 12.0).to_radians();
                [angle.cos(), angle.sin()]
            })
            .collect()
    }

    fn built(gate: &Gate) -> Graph {
        let (folder, kernel) = (tempfile::tempdir().unwrap(), Kernel::detect());
        let path = folder.path().join("graph");
        let mut builder = Builder::new(30, 2, kernel).unwrap();
        builder.add(&circle()).unwrap();
        let bytes = builder.save(&path).unwrap();
        let file = File::open(path).unwrap();
        assert_eq!(file.metadata().unwrap().len(), bytes);
        let bytes = usize::try_from(bytes).unwrap();
        Graph::open(&file, bytes, (30, 2), gate, kernel).unwrap()
    }

    #[test]
    fn a_mapped_graph_has_the_rows_in_brain_floats() {
        let graph = built(&Gate::new(1));
        assert_eq!(graph.matrix().len(), 60);
        for (&half, right) in graph.matrix().iter().zip(circle()) {
            assert!((widen(half) - right).abs() <= right.abs() / 256.0);
        }
    }

    #[test]
    #[ignore = "loses rows on most runs, not on all: tells why there is one writer"]
    fn two_writers_lose_rows() {
        let dimension = 16;
        let mut state = 1u64;
        let rows: Vec<f32> = (0..20_000 * dimension)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                f32::from(u16::try_from(state >> 48).unwrap()) - 32_768.0
            })
            .collect();
        let index = empty(dimension).map_err(refused).unwrap();
        index.reserve_capacity_and_threads(20_000, 8).unwrap();
        let rows: Vec<&[f32]> = rows.chunks_exact(dimension).collect();
        std::thread::scope(|scope| {
            for (writer, part) in rows.chunks(2_500).enumerate() {
                let index = &index;
                scope.spawn(move || {
                    for (key, row) in (writer as u64 * 2_500..).zip(part) {
                        index.add(key, row).unwrap();
                    }
                });
            }
        });
        let is_lost = |key: &usize| {
            let found = index.search(rows[*key], 100).unwrap();
            !found.keys.contains(&(*key as u64))
        };
        assert!((0..20_000).filter(is_lost).count() > 0);
    }

    #[test]
    fn a_graph_finds_neighbours_by_angle() {
        let gate = Gate::new(1);
        let mut found = built(&gate).search(&circle()[20..22], 3, &gate).unwrap();
        found.sort_unstable();
        assert_eq!(found, [9, 10, 11]);
    }

    #[test]
    fn more_callers_than_places_wait_their_turn() {
        let gate = Gate::new(2);
        let graph = built(&gate);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        // One caller more than there are threads would be refused.
                        graph.search(&[0.0, 1.0], 20, &gate).unwrap();
                    }
                });
            }
        });
    }

    #[test]
    fn a_gate_never_lets_more_in_than_it_has_places() {
        let (gate, inside, most) = (Gate::new(3), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        gate.pass(|| {
                            most.fetch_max(
                                inside.fetch_add(1, Ordering::SeqCst) + 1,
                                Ordering::SeqCst,
                            );
                            std::thread::yield_now();
                            inside.fetch_sub(1, Ordering::SeqCst);
                        });
                    }
                });
            }
        });
        assert!(most.into_inner() <= 3);
    }
}
