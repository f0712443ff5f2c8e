//! One search on its way through the segments: each is scanned row by row or searched by its graph,
//! whichever costs less for the rows that are allowed.
//!
//! ```text
//! no graph                           -> every allowed row is compared
//! allowed rows cost less to compare  -> every allowed row is compared
//!   than proposals of a graph
//! else                               -> the graph proposes rows, the allowed ones are compared
//! too few of them are allowed        -> every allowed row is compared
//! ```
//!
//! A graph is asked for so many rows that 4 times the limit, and as many as an unfiltered search
//! looks at, can be expected to be allowed. Where the filter leaves out just what is near the
//! query, clearly fewer are, and what a graph proposes far from the query is not quite the nearest:
//! the scan answers, after little time lost. Either way a hit's similarity is computed from the
//! stored vectors, by one kernel.

use std::ops::Range;

use crate::error::Result;
use crate::filter::{Allowed, Bitmap};
use crate::graph::{EXPANSION_SEARCH, Gate, Graph};
use crate::kernel::Kernel;
use crate::segment::Slot;
use crate::top::{Hit, Top};

/// Allowed proposals of a graph for each hit wanted, as they are to be expected.
const OVERFETCH: usize = 4;

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
    /// Rows that the query was compared with; those that might be hits exactly.
    pub compared_rows: u64,
    /// Hits among the first `limit` that were left out by the threshold.
    pub below_threshold: u32,
}

/// What a search compares with, and by which rules.
#[derive(Clone, Copy)]
pub(crate) struct Means<'a> {
    pub(crate) kernel: Kernel,
    pub(crate) gate: &'a Gate,
    /// Rows that are scanned in the time in which a graph makes one proposal.
    pub(crate) proposal_cost: u32,
}

/// The rows of a segment that a search may look at.
struct Part<'a> {
    slot: &'a Slot,
    rows: &'a Bitmap,
    count: u32,
}

/// A search for several queries at once.
pub(crate) struct Search<'a> {
    means: Means<'a>,
    limit: usize,
    queries: &'a [&'a [f32]],
    tops: Vec<Top>,
    plans: Vec<Plan>,
    /// Whether rows without a graph were scanned.
    plain: bool,
}

impl<'a> Search<'a> {
    pub(crate) fn new(means: Means<'a>, limit: usize, queries: &'a [&'a [f32]]) -> Self {
        Self {
            means,
            limit,
            queries,
            tops: vec![Top::new(limit); queries.len()],
            plans: vec![Plan::default(); queries.len()],
            plain: false,
        }
    }

    /// Looks through one segment.
    pub(crate) fn through(&mut self, slot: &Slot, allowed: Option<&Allowed>) -> Result<()> {
        let segment = &slot.segment;
        let filtered = allowed.map(|keys| {
            keys.rows(
                segment.documents(),
                segment.nodes(0..segment.rows()),
                &slot.live,
            )
        });
        let part = Part {
            slot,
            rows: filtered.as_ref().unwrap_or(&slot.live),
            count: filtered.as_ref().map_or(slot.live_rows, Bitmap::count),
        };
        for plan in &mut self.plans {
            plan.rows += u64::from(slot.live_rows);
            plan.allowed_rows += u64::from(part.count);
        }
        let everyone = 0..self.queries.len();
        match segment.graph() {
            _ if part.count == 0 => {}
            None => {
                let first = !std::mem::replace(&mut self.plain, true);
                self.scan(&part, everyone, u32::from(first))?;
            }
            Some(_) if self.prefers_scan(&part) => self.scan(&part, everyone, 1)?,
            Some(graph) => {
                for at in everyone {
                    if !self.by_graph(&part, graph, at)? {
                        self.scan(&part, at..at + 1, 1)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// How many rows a graph is to propose.
    fn proposals(&self, part: &Part) -> usize {
        let rows = part.slot.segment.rows() as usize;
        let wanted = self.limit.saturating_mul(OVERFETCH).max(EXPANSION_SEARCH);
        let among_all = wanted
            .saturating_mul(rows)
            .div_ceil(part.count.max(1) as usize);
        among_all.min(rows)
    }

    /// Whether it costs less to compare all allowed rows than to have some proposed.
    fn prefers_scan(&self, part: &Part) -> bool {
        let cost = (self.proposals(part) as u64).saturating_mul(self.means.proposal_cost.into());
        u64::from(part.count) <= cost
    }

    fn scan(&mut self, part: &Part, queries: Range<usize>, segments: u32) -> Result<()> {
        for plan in &mut self.plans[queries.clone()] {
            plan.compared_rows += u64::from(part.count);
            plan.exact_segments += segments;
        }
        let tops = &mut self.tops[queries.clone()];
        let (queries, kernel) = (&self.queries[queries], self.means.kernel);
        part.slot.segment.scan(part.rows, queries, tops, kernel)
    }

    /// Searches the graph for one query; returns false, with nothing done, where it proposes too
    /// few allowed rows.
    fn by_graph(&mut self, part: &Part, graph: &Graph, at: usize) -> Result<bool> {
        let (segment, query) = (&part.slot.segment, self.queries[at]);
        let proposals = self.proposals(part);
        let mut found = graph.search(query, proposals, self.means.gate)?;
        found.retain(|&row| part.rows.contains(row));
        let expected = proposals as u64 * u64::from(part.count) / u64::from(segment.rows());
        if found.len() < self.limit.min(part.count as usize)
            || found.len() as u64 * 4 < expected * 3
        {
            return Ok(false);
        }
        segment.rescore(&found, query, &mut self.tops[at], self.means.kernel)?;
        self.plans[at].compared_rows += found.len() as u64;
        self.plans[at].graph_segments += 1;
        Ok(true)
    }

    /// The hits of every query, without those below the threshold.
    pub(crate) fn hits(self, threshold: Option<f32>) -> Vec<Hits> {
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
