//! What an index should hold, a plain search of it, and vectors to fill one with.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation
)]

use tree_expand::kernel::Kernel;
use tree_expand::planner::Hits;
use tree_expand::top::Hit;
use tree_expand::vectors::{Query, Settings, VectorIndex};

/// A document: its key, nodes and vectors.
pub type Entry = (u64, Vec<u32>, Vec<f32>);

/// What an index should hold, and a plain search of it.
#[derive(Default)]
pub struct Model(pub Vec<Entry>);

impl Model {
    pub fn rows(&self) -> u64 {
        self.0.iter().map(|(_, nodes, _)| nodes.len() as u64).sum()
    }

    pub fn keys(&self) -> Vec<u64> {
        let mut keys: Vec<u64> = self.0.iter().map(|(key, _, _)| *key).collect();
        keys.sort_unstable();
        keys
    }

    pub fn search(&self, query: &Query, dimension: usize) -> Vec<Hit> {
        let mut vector = query.vectors.to_vec();
        normalise(&mut vector, dimension);
        let mut hits = Vec::new();
        for (document, nodes, rows) in &self.0 {
            let mut rows = rows.clone();
            normalise(&mut rows, dimension);
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
        hits.retain(|hit| {
            let allowed = query.allowed;
            allowed.is_none_or(|allowed| allowed.contains(hit.document, hit.node))
        });
        hits.sort_by(Hit::by_rank);
        hits.truncate(query.limit);
        hits.retain(|hit| query.threshold.is_none_or(|least| hit.similarity >= least));
        hits
    }
}

/// Scales rows to length 1, with the rounding of the index, so that similarities agree to the bit.
pub fn normalise(rows: &mut [f32], dimension: usize) {
    for row in rows.chunks_exact_mut(dimension) {
        let squares: f64 = row.iter().map(|&x| f64::from(x).powi(2)).sum();
        let scale = squares.sqrt().recip();
        for x in row {
            *x = (f64::from(*x) * scale) as f32;
        }
    }
}

pub fn index(settings: Settings) -> VectorIndex {
    VectorIndex::new(settings).unwrap()
}

pub fn nearest(index: &VectorIndex, query: &Query) -> Hits {
    index.search(query).unwrap().remove(0)
}

/// Seals into a file that is gone, but for the index, when this returns.
pub fn seal(index: &VectorIndex) -> bool {
    let folder = tempfile::tempdir().unwrap();
    index.seal(folder.path(), "segment").unwrap()
}

pub fn bits(hits: &[Hit]) -> Vec<u32> {
    hits.iter().map(|hit| hit.similarity.to_bits()).collect()
}

pub fn query(vectors: &[f32], limit: usize) -> Query<'_> {
    Query {
        vectors,
        limit,
        threshold: None,
        allowed: None,
    }
}

/// Unit vectors around as many centres as there are clusters; the same for the same seed.
pub fn clustered(rows: usize, dimension: usize, clusters: usize, seed: u64) -> Vec<f32> {
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
