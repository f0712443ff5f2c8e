//! Segments: immutable blocks of rows, each with its document and node, and a graph where there are
//! enough of them.
//!
//! Rows are ascending by document key, then by node, so that a document is one range of rows and
//! the order of rows is the order of equal hits. Whether a row is still live is kept beside the
//! segment, in its [`Slot`].

use std::ops::Range;
use std::sync::Arc;

use crate::error::Result;
use crate::filter::Bitmap;
use crate::graph::{Gate, Graph};
use crate::kernel::Kernel;
use crate::top::{Hit, Top};

/// Rows whose similarities are computed at a time: small enough to stay in cache for all queries of
/// a batch.
const BLOCK_ROWS: u32 = 64;

/// The rows of a document in a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DocumentRows {
    pub(crate) key: u64,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// An immutable block of rows.
pub(crate) struct Segment {
    dimension: usize,
    /// Unit vectors, one behind another.
    matrix: Box<[f32]>,
    /// Position of each row's node.
    nodes: Box<[u32]>,
    /// Ascending by key and by rows.
    documents: Box<[DocumentRows]>,
    graph: Option<Graph>,
}

impl Segment {
    /// The rows of one document, without a graph. `matrix` holds a unit vector for each of `nodes`,
    /// of which there is at least one and at most `u32::MAX`.
    pub(crate) fn of_document(key: u64, nodes: Box<[u32]>, matrix: Box<[f32]>) -> Self {
        let document = DocumentRows {
            key,
            start: 0,
            end: row_number(nodes.len()),
        };
        Self {
            dimension: matrix.len() / nodes.len(),
            matrix,
            nodes,
            documents: Box::new([document]),
            graph: None,
        }
    }

    /// The live rows of several segments in one, without a graph.
    pub(crate) fn merged(slots: &[Slot], dimension: usize) -> Self {
        let mut parts: Vec<(&Segment, DocumentRows)> = slots
            .iter()
            .flat_map(|slot| slot.documents().map(|document| (&*slot.segment, document)))
            .collect();
        parts.sort_unstable_by_key(|(_, document)| document.key);
        let rows = slots.iter().map(|slot| slot.live_rows as usize).sum();
        let mut matrix = Vec::with_capacity(rows * dimension);
        let mut nodes = Vec::with_capacity(rows);
        let mut documents = Vec::with_capacity(parts.len());
        for (segment, DocumentRows { key, start, end }) in parts {
            matrix.extend_from_slice(segment.vectors(start..end));
            let first = row_number(nodes.len());
            nodes.extend_from_slice(&segment.nodes[start as usize..end as usize]);
            documents.push(DocumentRows {
                key,
                start: first,
                end: row_number(nodes.len()),
            });
        }
        Self {
            dimension,
            matrix: matrix.into(),
            nodes: nodes.into(),
            documents: documents.into(),
            graph: None,
        }
    }

    /// The same rows with a graph over them, to be searched through `gate`.
    pub(crate) fn with_graph(self, gate: &Gate, kernel: Kernel) -> Result<Self> {
        let graph = Graph::build(&self.matrix, self.dimension, gate, kernel)?;
        Ok(Self {
            graph: Some(graph),
            ..self
        })
    }

    pub(crate) fn rows(&self) -> u32 {
        row_number(self.nodes.len())
    }

    pub(crate) fn graph(&self) -> Option<&Graph> {
        self.graph.as_ref()
    }

    pub(crate) fn documents(&self) -> &[DocumentRows] {
        &self.documents
    }

    pub(crate) fn document(&self, key: u64) -> Option<DocumentRows> {
        let at = self
            .documents
            .binary_search_by_key(&key, |document| document.key);
        at.ok().map(|at| self.documents[at])
    }

    /// Offers every row of a set to the best hits of every query; `queries[i]` belongs to
    /// `tops[i]`.
    pub(crate) fn scan(&self, rows: &Bitmap, queries: &[&[f32]], tops: &mut [Top], kernel: Kernel) {
        let mut similarities = Vec::with_capacity(BLOCK_ROWS as usize);
        for run in rows.runs() {
            for start in run.clone().step_by(BLOCK_ROWS as usize) {
                let block = start..run.end.min(start + BLOCK_ROWS);
                for (query, top) in queries.iter().zip(&mut *tops) {
                    kernel.scan(query, self.vectors(block.clone()), &mut similarities);
                    for (row, &dot) in block.clone().zip(&similarities) {
                        self.offer(row, dot, top);
                    }
                }
            }
        }
    }

    /// Offers some rows to the best hits of a query.
    pub(crate) fn rescore(&self, rows: &[u64], query: &[f32], top: &mut Top, kernel: Kernel) {
        for row in rows.iter().filter_map(|&row| u32::try_from(row).ok()) {
            self.offer(row, kernel.dot(query, self.vectors(row..row + 1)), top);
        }
    }

    fn offer(&self, row: u32, dot: f32, top: &mut Top) {
        let similarity = similarity(dot);
        if top.wants(similarity) {
            let after = self
                .documents
                .partition_point(|document| document.start <= row);
            top.push(Hit {
                document: self.documents[after - 1].key,
                node: self.nodes[row as usize],
                similarity,
            });
        }
    }

    fn vectors(&self, rows: Range<u32>) -> &[f32] {
        &self.matrix[rows.start as usize * self.dimension..rows.end as usize * self.dimension]
    }
}

/// Cosine of two unit vectors as a similarity in 0..=1; 0 is always plus zero.
fn similarity(dot: f32) -> f32 {
    if dot > 0.0 { dot.min(1.0) } else { 0.0 }
}

/// Rows are counted in 32 bits: that many vectors of one dimension alone would fill 16 GiB.
fn row_number(rows: usize) -> u32 {
    u32::try_from(rows).unwrap_or(u32::MAX)
}

/// A segment and which of its rows are live.
#[derive(Clone)]
pub(crate) struct Slot {
    pub(crate) segment: Arc<Segment>,
    pub(crate) live: Arc<Bitmap>,
    pub(crate) live_rows: u32,
}

impl Slot {
    /// A segment with all its rows live.
    pub(crate) fn new(segment: Segment) -> Self {
        let live_rows = segment.rows();
        Self {
            segment: Arc::new(segment),
            live: Arc::new(Bitmap::full(live_rows)),
            live_rows,
        }
    }

    /// The live documents, ascending by key.
    pub(crate) fn documents(&self) -> impl Iterator<Item = DocumentRows> + '_ {
        let all = self.segment.documents().iter().copied();
        all.filter(|document| self.live.contains(document.start))
    }

    /// Whether a document is in the segment and live.
    pub(crate) fn holds(&self, key: u64) -> bool {
        self.segment
            .document(key)
            .is_some_and(|document| self.live.contains(document.start))
    }

    /// Takes documents out of the live rows.
    pub(crate) fn kill(&mut self, keys: impl IntoIterator<Item = u64>) {
        let rows = keys
            .into_iter()
            .filter_map(|key| self.segment.document(key));
        let mut live = Bitmap::clone(&self.live);
        rows.for_each(|document| live.remove(document.start..document.end));
        self.live_rows = live.count();
        self.live = Arc::new(live);
    }

    /// Whether so many rows are dead that the segment should be built anew.
    pub(crate) fn is_worn(&self) -> bool {
        let rows = u64::from(self.segment.rows());
        (rows - u64::from(self.live_rows)) * 5 >= rows
    }

    pub(crate) fn is_sealed(&self) -> bool {
        self.segment.graph().is_some()
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.segment, &other.segment)
    }
}
