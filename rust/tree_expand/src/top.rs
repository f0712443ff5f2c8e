//! Hits, and the best of them.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A node that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Key of the document.
    pub document: u64,
    /// Position of the node.
    pub node: u32,
    /// Cosine similarity to the query, 0..=1; a negative cosine is 0.
    pub similarity: f32,
}

impl Hit {
    /// Orders better hits first: by similarity, descending, then by document key and position,
    /// ascending.
    #[must_use]
    pub fn by_rank(&self, other: &Self) -> Ordering {
        other
            .similarity
            .total_cmp(&self.similarity)
            .then(self.document.cmp(&other.document))
            .then(self.node.cmp(&other.node))
    }
}

/// The best `limit` of the hits pushed.
#[derive(Clone, Debug)]
pub(crate) struct Top {
    limit: usize,
    /// The worst is on top.
    heap: BinaryHeap<Ranked>,
}

impl Top {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            heap: BinaryHeap::new(),
        }
    }

    /// Whether a hit of this similarity could be among the best.
    #[inline]
    pub(crate) fn wants(&self, similarity: f32) -> bool {
        self.heap.len() < self.limit
            || self
                .heap
                .peek()
                .is_some_and(|worst| similarity >= worst.0.similarity)
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Similarity that a hit must have to be among the best, as far as is known.
    pub(crate) fn floor(&self) -> f32 {
        match self.heap.peek() {
            Some(worst) if self.heap.len() == self.limit => worst.0.similarity,
            _ => 0.0,
        }
    }

    pub(crate) fn push(&mut self, hit: Hit) {
        if self.heap.len() < self.limit {
            self.heap.push(Ranked(hit));
        } else if let Some(mut worst) = self.heap.peek_mut()
            && hit.by_rank(&worst.0).is_lt()
        {
            *worst = Ranked(hit);
        }
    }

    /// The hits, best first.
    pub(crate) fn into_hits(self) -> Vec<Hit> {
        let ranked = self.heap.into_sorted_vec();
        ranked.into_iter().map(|Ranked(hit)| hit).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Ranked(Hit);

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.by_rank(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn top_is_the_head_of_the_sorted_list(
            limit in 1usize..12,
            raw in prop::collection::vec((0u64..4, 0u32..4, 0u8..4), 0..60),
        ) {
            let hits: Vec<Hit> = raw
                .into_iter()
                .map(|(document, node, tenths)| {
                    let similarity = f32::from(tenths) / 10.0;
                    Hit { document, node, similarity }
                })
                .collect();
            let mut top = Top::new(limit);
            for &hit in &hits {
                if top.wants(hit.similarity) {
                    top.push(hit);
                }
            }
            let mut sorted = hits;
            sorted.sort_by(Hit::by_rank);
            sorted.truncate(limit);
            prop_assert_eq!(top.into_hits(), sorted);
        }
    }
}
