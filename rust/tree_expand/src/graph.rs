//! A graph over the rows of a sealed segment: the only file that names the `usearch` crate.
//!
//! The crate lets any thread add to and search any graph; only these uses of it are sound, and the
//! types here allow no other. One thread builds a graph, row by row. After that it is only
//! searched, by no more callers at once than threads were reserved, for which they pass a [`Gate`].
//! No row is ever removed or added again.

use std::sync::{Condvar, Mutex, PoisonError};

use usearch::{Index, IndexOptions, MetricKind, ScalarKind};

use crate::error::{Error, Result};
use crate::filter::Bitmap;
use crate::kernel::Kernel;

/// Links of a node, on each level but the lowest. With 16, the crate's own choice, one near passage
/// in a hundred is missed where queries are embedded unlike passages; 32 finds no more than 24.
const CONNECTIVITY: usize = 24;
/// Candidates looked at when a row is added.
const EXPANSION_ADD: usize = 128;
/// Least candidates looked at by a search; more are looked at where more are asked for.
pub(crate) const EXPANSION_SEARCH: usize = 128;

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

/// A graph over rows, in brain floats. It proposes rows; their similarity is computed elsewhere.
pub(crate) struct Graph {
    index: Index,
}

impl Graph {
    /// Builds the graph of `rows`, which are of length 1 and lie one behind another, to be searched
    /// through `gate`.
    pub(crate) fn build(
        rows: &[f32],
        dimension: usize,
        gate: &Gate,
        kernel: Kernel,
    ) -> Result<Self> {
        let mut index = Index::new(&IndexOptions {
            dimensions: dimension,
            metric: MetricKind::IP,
            quantization: ScalarKind::BF16,
            connectivity: CONNECTIVITY,
            expansion_add: EXPANSION_ADD,
            expansion_search: EXPANSION_SEARCH,
            multi: false,
        })
        .map_err(refused)?;
        index.change_metric(distance(dimension, kernel));
        index
            .reserve_capacity_and_threads(rows.len() / dimension, gate.places)
            .map_err(refused)?;
        for (key, row) in (0..).zip(rows.chunks_exact(dimension)) {
            index.add(key, row).map_err(refused)?;
        }
        Ok(Self { index })
    }

    /// At most `count` rows near the query, among the allowed ones; fewer where the graph finds no
    /// more.
    pub(crate) fn search(
        &self,
        query: &[f32],
        count: usize,
        allowed: Option<&Bitmap>,
        gate: &Gate,
    ) -> Result<Vec<u64>> {
        let found = gate.pass(|| match allowed {
            None => self.index.search(query, count),
            // A panic in here would end the process: `contains` has an answer for every number.
            Some(rows) => self.index.filtered_search(query, count, |key| {
                u32::try_from(key).is_ok_and(|row| rows.contains(row))
            }),
        });
        Ok(found.map_err(refused)?.keys)
    }
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
        Graph::build(&circle(), 2, gate, Kernel::detect()).unwrap()
    }

    #[test]
    fn a_graph_finds_neighbours_by_angle() {
        let gate = Gate::new(1);
        let mut found = built(&gate)
            .search(&circle()[20..22], 3, None, &gate)
            .unwrap();
        found.sort_unstable();
        assert_eq!(found, [9, 10, 11]);
    }

    #[test]
    fn a_graph_finds_only_allowed_rows() {
        let gate = Gate::new(1);
        let mut rows = Bitmap::empty(30);
        rows.insert(15..17);
        let mut found = built(&gate)
            .search(&[1.0, 0.0], 5, Some(&rows), &gate)
            .unwrap();
        found.sort_unstable();
        assert_eq!(found, [15, 16]);
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
                        graph.search(&[0.0, 1.0], 20, None, &gate).unwrap();
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
