//! Segments: immutable blocks of rows, each with its document and node; in memory, or in a file with
//! a graph where there are enough of them.
//!
//! Rows are ascending by document key, then by node, so that a document is one range of rows and
//! the order of rows is the order of equal hits. Whether a row is still live is kept beside the
//! segment, in its [`Slot`].

use std::collections::HashSet;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use crate::error::Result;
use crate::filter::Bitmap;
use crate::graph::Graph;
use crate::kernel::Kernel;
use crate::near::Near;
use crate::sealed::Sealed;
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
    /// Position of each row's node.
    nodes: Box<[u32]>,
    /// Ascending by key and by rows.
    documents: Box<[DocumentRows]>,
    store: Store,
}

/// Where the unit vectors are.
enum Store {
    /// In memory, one behind another.
    Plain(Box<[f32]>),
    Sealed(Sealed),
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
        let dimension = matrix.len() / nodes.len();
        Self::plain(dimension, nodes, Box::new([document]), matrix)
    }

    /// Rows in memory, without a graph.
    pub(crate) fn plain(
        dimension: usize,
        nodes: Box<[u32]>,
        documents: Box<[DocumentRows]>,
        matrix: Box<[f32]>,
    ) -> Self {
        Self {
            dimension,
            nodes,
            documents,
            store: Store::Plain(matrix),
        }
    }

    /// Rows in a file, with a graph.
    pub(crate) fn sealed(
        nodes: Box<[u32]>,
        documents: Box<[DocumentRows]>,
        sealed: Sealed,
    ) -> Self {
        Self {
            dimension: sealed.dimension(),
            nodes,
            documents,
            store: Store::Sealed(sealed),
        }
    }

    /// The same; its file is at another path now.
    pub(crate) fn at(mut self, path: PathBuf) -> Self {
        if let Store::Sealed(sealed) = &mut self.store {
            sealed.moved(path);
        }
        self
    }

    pub(crate) fn rows(&self) -> u32 {
        row_number(self.nodes.len())
    }

    /// The file of the segment, if it is in one.
    pub(crate) fn file(&self) -> Option<&Sealed> {
        match &self.store {
            Store::Plain(_) => None,
            Store::Sealed(sealed) => Some(sealed),
        }
    }

    pub(crate) fn graph(&self) -> Option<&Graph> {
        self.file().map(Sealed::graph)
    }

    /// Bytes of memory, those shared with other processes among them.
    pub(crate) fn bytes(&self) -> usize {
        let vectors = match &self.store {
            Store::Plain(matrix) => size_of_val(&**matrix),
            Store::Sealed(sealed) => sealed.graph().bytes(),
        };
        vectors + size_of_val(&*self.nodes) + size_of_val(&*self.documents)
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

    /// Positions of the nodes of some rows.
    pub(crate) fn nodes(&self, rows: Range<u32>) -> &[u32] {
        &self.nodes[rows.start as usize..rows.end as usize]
    }

    /// Some exact rows; `buffer` holds them where they are read from a file.
    pub(crate) fn rows_at<'a>(
        &'a self,
        rows: Range<u32>,
        buffer: &'a mut Vec<f32>,
    ) -> Result<&'a [f32]> {
        let elements = rows.start as usize * self.dimension..rows.end as usize * self.dimension;
        match &self.store {
            Store::Plain(matrix) => Ok(&matrix[elements]),
            Store::Sealed(sealed) => {
                buffer.resize(elements.len(), 0.0);
                sealed.read(rows, buffer)?;
                Ok(buffer)
            }
        }
    }

    /// Offers every row of a set to the best hits of every query; `queries[i]` belongs to
    /// `tops[i]`.
    pub(crate) fn scan(
        &self,
        rows: &Bitmap,
        queries: &[&[f32]],
        tops: &mut [Top],
        kernel: Kernel,
    ) -> Result<()> {
        match &self.store {
            Store::Plain(matrix) => self.scan_plain(matrix, rows, queries, tops, kernel),
            Store::Sealed(sealed) => self.scan_sealed(sealed, rows, queries, tops, kernel)?,
        }
        Ok(())
    }

    fn scan_plain(
        &self,
        matrix: &[f32],
        rows: &Bitmap,
        queries: &[&[f32]],
        tops: &mut [Top],
        kernel: Kernel,
    ) {
        let mut dots = Vec::with_capacity(BLOCK_ROWS as usize);
        for block in blocks(rows) {
            let vectors =
                &matrix[block.start as usize * self.dimension..block.end as usize * self.dimension];
            for (query, top) in queries.iter().zip(&mut *tops) {
                kernel.scan(query, vectors, &mut dots);
                for (row, &dot) in block.clone().zip(&dots) {
                    self.offer(row, dot, top);
                }
            }
        }
    }

    /// Looks at the rows in brain floats, then at the exact ones of those that may be among the
    /// best.
    fn scan_sealed(
        &self,
        sealed: &Sealed,
        rows: &Bitmap,
        queries: &[&[f32]],
        tops: &mut [Top],
        kernel: Kernel,
    ) -> Result<()> {
        let mut nears: Vec<Near> = tops.iter().map(|top| near(top, sealed)).collect();
        let mut dots = Vec::with_capacity(BLOCK_ROWS as usize);
        for block in blocks(rows) {
            let halves = sealed.halves(block.clone());
            for ((query, near), top) in queries.iter().zip(&mut nears).zip(&mut *tops) {
                kernel.scan_bf16(query, halves, &mut dots);
                for (row, &rough) in block.clone().zip(&dots) {
                    self.consider(row, rough, near, top);
                }
            }
        }
        for ((query, near), top) in queries.iter().zip(nears).zip(tops) {
            self.decide(near, query, top, kernel)?;
        }
        Ok(())
    }

    /// Offers some rows of a sealed segment to the best hits of a query.
    pub(crate) fn rescore(
        &self,
        rows: &[u32],
        query: &[f32],
        top: &mut Top,
        kernel: Kernel,
    ) -> Result<()> {
        let Store::Sealed(sealed) = &self.store else {
            return Ok(());
        };
        let mut near = near(top, sealed);
        let mut dots = Vec::with_capacity(1);
        for &row in rows {
            kernel.scan_bf16(query, sealed.halves(row..row + 1), &mut dots);
            self.consider(row, dots[0], &mut near, top);
        }
        self.decide(near, query, top, kernel)
    }

    /// Keeps a row that may be among the best. One whose dot product is negative for certain has
    /// similarity 0, which is exact.
    fn consider(&self, row: u32, rough: f32, near: &mut Near, top: &mut Top) {
        if rough + near.error() > 0.0 {
            near.offer(row, rough);
        } else if near.floor() <= 0.0 {
            self.offer(row, 0.0, top);
        }
    }

    /// Offers the exact rows of those that were kept.
    fn decide(&self, near: Near, query: &[f32], top: &mut Top, kernel: Kernel) -> Result<()> {
        let mut buffer = Vec::new();
        for row in near.into_rows() {
            if !top.wants(similarity(row.most)) {
                break;
            }
            let exact = self.rows_at(row.row..row.row + 1, &mut buffer)?;
            self.offer(row.row, kernel.dot(query, exact), top);
        }
        Ok(())
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
}

fn near(top: &Top, sealed: &Sealed) -> Near {
    Near::new(top.limit(), sealed.error(), top.floor())
}

/// The rows of a set in ranges of at most `BLOCK_ROWS`.
fn blocks(rows: &Bitmap) -> impl Iterator<Item = Range<u32>> + '_ {
    rows.runs().flat_map(|run| {
        let starts = run.clone().step_by(BLOCK_ROWS as usize);
        starts.map(move |start| start..run.end.min(start.saturating_add(BLOCK_ROWS)))
    })
}

/// Cosine of two unit vectors as a similarity in 0..=1; 0 is always plus zero.
fn similarity(dot: f32) -> f32 {
    if dot > 0.0 { dot.min(1.0) } else { 0.0 }
}

/// Rows are counted in 32 bits: that many vectors of one dimension alone would fill 16 GiB.
pub(crate) fn row_number(rows: usize) -> u32 {
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

    /// A segment with only the rows of those documents live whose keys are wanted.
    pub(crate) fn of(segment: Arc<Segment>, mut wanted: impl FnMut(u64) -> bool) -> Self {
        let mut live = Bitmap::empty(segment.rows());
        for document in segment.documents() {
            if wanted(document.key) {
                live.insert(document.start..document.end);
            }
        }
        Self {
            segment,
            live_rows: live.count(),
            live: Arc::new(live),
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

    /// Takes those of the documents in a set out of the live rows.
    pub(crate) fn kill_all(&mut self, keys: &HashSet<u64>) {
        let held = self.documents().map(|document| document.key);
        let dead: Vec<u64> = held.filter(|key| keys.contains(key)).collect();
        if !dead.is_empty() {
            self.kill(dead);
        }
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
