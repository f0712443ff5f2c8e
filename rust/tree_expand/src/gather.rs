//! The live rows of several segments in the order of one: what new segments are made of.

use std::ops::Range;

use crate::error::Result;
use crate::segment::{DocumentRows, Segment, Slot, row_number};

/// Bytes of rows that are read at a time.
const BLOCK_BYTES: usize = 4 << 20;

/// The live rows of several segments, ascending by document, then by node.
pub(crate) struct Gathered<'a> {
    dimension: usize,
    /// Where the rows are; runs as long as they can be, so that they are read in large blocks.
    runs: Vec<(&'a Segment, Range<u32>)>,
    pub(crate) nodes: Box<[u32]>,
    pub(crate) documents: Box<[DocumentRows]>,
}

impl<'a> Gathered<'a> {
    pub(crate) fn new(slots: &'a [Slot], dimension: usize) -> Self {
        let mut parts: Vec<(&Segment, DocumentRows)> = slots
            .iter()
            .flat_map(|slot| slot.documents().map(|document| (&*slot.segment, document)))
            .collect();
        parts.sort_unstable_by_key(|(_, document)| document.key);
        let rows = slots.iter().map(|slot| slot.live_rows as usize).sum();
        let mut runs: Vec<(&Segment, Range<u32>)> = Vec::new();
        let mut nodes = Vec::with_capacity(rows);
        let mut documents = Vec::with_capacity(parts.len());
        for (segment, DocumentRows { key, start, end }) in parts {
            let first = row_number(nodes.len());
            nodes.extend_from_slice(segment.nodes(start..end));
            documents.push(DocumentRows {
                key,
                start: first,
                end: row_number(nodes.len()),
            });
            match runs.last_mut() {
                Some((last, run)) if std::ptr::eq(*last, segment) && run.end == start => {
                    run.end = end;
                }
                _ => runs.push((segment, start..end)),
            }
        }
        Self {
            dimension,
            runs,
            nodes: nodes.into(),
            documents: documents.into(),
        }
    }

    pub(crate) fn rows(&self) -> u32 {
        row_number(self.nodes.len())
    }

    pub(crate) fn dimension(&self) -> usize {
        self.dimension
    }

    /// Calls `work` with all rows, in order, some at a time.
    pub(crate) fn each_block(&self, mut work: impl FnMut(&[f32]) -> Result<()>) -> Result<()> {
        let step = (BLOCK_BYTES / size_of::<f32>() / self.dimension).max(1);
        let mut buffer = Vec::new();
        for (segment, run) in &self.runs {
            for start in run.clone().step_by(step) {
                let end = run.end.min(start.saturating_add(row_number(step)));
                work(segment.rows_at(start..end, &mut buffer)?)?;
            }
        }
        Ok(())
    }

    /// A segment of the rows, without a graph.
    pub(crate) fn into_plain(self) -> Result<Segment> {
        let mut matrix = Vec::with_capacity(self.nodes.len() * self.dimension);
        self.each_block(|rows| {
            matrix.extend_from_slice(rows);
            Ok(())
        })?;
        let Self {
            dimension,
            nodes,
            documents,
            ..
        } = self;
        Ok(Segment::plain(dimension, nodes, documents, matrix.into()))
    }
}
