//! The vector index against a plain search of everything; files are in `segments.rs`.
#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation
)]

mod index;

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use index::{Model, clustered, index, nearest, query, seal};
use tree_expand::error::Error;
use tree_expand::filter::Allowed;
use tree_expand::planner::Plan;
use tree_expand::vectors::{Query, Settings, Sizes, VectorIndex};

/// An index that is only read.
static SEALED: LazyLock<(VectorIndex, Model)> = LazyLock::new(|| sealed(24));

/// 1,500 rows of ten documents in a graph, behind settings that ask for the graph.
fn sealed(dimension: usize) -> (VectorIndex, Model) {
    sealed_at(0, dimension)
}

fn sealed_at(proposal_cost: u32, dimension: usize) -> (VectorIndex, Model) {
    let settings = Settings {
        proposal_cost,
        seal_rows: 1_000,
        ..Settings::new(dimension)
    };
    let index = index(settings);
    let mut model = Model::default();
    let rows = clustered(1_500, dimension, 30, 7);
    for (key, rows) in (0..).zip(rows.chunks_exact(150 * dimension)) {
        let nodes: Vec<u32> = (0..150).collect();
        index.add(key, nodes.clone(), rows.to_vec()).unwrap();
        model.0.push((key, nodes, rows.to_vec()));
    }
    assert!(seal(&index));
    (index, model)
}

/// Share of the right hits that were found, over 40 queries.
fn recall(index: &VectorIndex, model: &Model, allowed: Option<&Allowed>) -> (f64, Plan) {
    let dimension = index.settings().dimension;
    let queries = clustered(40, dimension, 30, 11);
    let mut plan = Plan::default();
    let mut found = 0;
    for vectors in queries.chunks_exact(dimension) {
        let query = Query {
            allowed,
            ..query(vectors, 10)
        };
        let hits = nearest(index, &query);
        let right = model.search(&query, dimension);
        assert_eq!(hits.list.len(), right.len());
        found += hits.list.iter().filter(|hit| right.contains(hit)).count();
        plan = hits.plan;
    }
    (found as f64 / 400.0, plan)
}

#[test]
fn a_graph_finds_what_a_plain_search_finds() {
    let (index, model) = &*SEALED;
    let (recall, plan) = recall(index, model, None);
    assert!(recall >= 0.99, "{recall}");
    assert_eq!((plan.graph_segments, plan.exact_segments), (1, 0));
    assert_eq!((plan.rows, plan.compared_rows), (1_500, 128));
}

#[test]
fn a_filtered_graph_finds_what_a_plain_search_finds() {
    let (index, model) = &*SEALED;
    let most = Allowed::new((0..8).collect());
    let (recall, plan) = recall(index, model, Some(&most));
    assert!(recall >= 0.99, "{recall}");
    assert_eq!((plan.graph_segments, plan.allowed_rows), (1, 1_200));
}

#[test]
fn few_allowed_rows_are_all_compared() {
    let (index, model) = &sealed_at(40, 24);
    let one = Allowed::new(vec![3]);
    let (recall, plan) = recall(index, model, Some(&one));
    assert_eq!(recall, 1.0);
    assert_eq!((plan.exact_segments, plan.compared_rows), (1, 150));
}

#[test]
fn a_similarity_has_the_same_bits_before_and_after_sealing() {
    let rows = clustered(1_100, 24, 20, 3);
    let index = index(Settings {
        proposal_cost: 0,
        seal_rows: 1_100,
        ..Settings::new(24)
    });
    index.add(1, (0..1_100).collect(), rows.clone()).unwrap();
    let before = nearest(&index, &query(&rows[..24], 10));
    assert!(seal(&index));
    let after = nearest(&index, &query(&rows[..24], 10));
    assert_eq!(after.plan.graph_segments, 1);
    assert_eq!(before.list, after.list);
}

#[test]
fn a_limit_beyond_the_rows_returns_them_all() {
    let (index, _) = sealed(8);
    let found = nearest(&index, &query(&[1.0; 8], 10_000));
    assert_eq!(found.list.len(), 1_500);
}

#[test]
fn a_worn_segment_is_built_anew_without_its_dead_rows() {
    let (index, mut model) = sealed(24);
    assert!(!seal(&index));
    for key in 0..2 {
        assert!(index.remove(key));
        model.0.remove(0);
    }
    assert!(seal(&index));
    let sizes = Sizes {
        documents: 8,
        rows: 1_200,
        sealed_rows: 1_200,
        segments: 1,
        ..index.sizes()
    };
    assert_eq!(index.sizes(), sizes);
    assert!(recall(&index, &model, None).0 >= 0.99);
    assert!(!seal(&index));
}

#[test]
fn four_segments_of_a_size_become_one() {
    let index = index(Settings {
        seal_rows: 30,
        ..Settings::new(2)
    });
    for key in 0..4 {
        index
            .add(key, (0..30).collect(), [0.5; 60].to_vec())
            .unwrap();
        assert!(seal(&index));
    }
    assert_eq!(index.sizes().segments, 4);
    assert!(seal(&index));
    assert_eq!(
        (index.sizes().segments, index.sizes().sealed_rows),
        (1, 120)
    );
}

#[test]
fn bad_input_is_refused_and_changes_nothing() {
    let index = index(Settings::new(2));
    index.add(1, vec![3], vec![1.0, 0.0]).unwrap();
    let refused = |key, nodes: &[u32], vectors: &[f32]| {
        index
            .add(key, nodes.to_vec(), vectors.to_vec())
            .unwrap_err()
    };
    assert_eq!(refused(1, &[0], &[1.0, 0.0]), Error::DocumentTwice(1));
    assert_eq!(
        refused(2, &[5, 5], &[1.0; 4]),
        Error::NodeOrder { node: 5, before: 5 }
    );
    assert_eq!(
        refused(2, &[0, 1], &[1.0; 3]),
        Error::VectorCount {
            nodes: 2,
            dimension: 2,
            found: 3
        }
    );
    assert_eq!(
        refused(2, &[0, 1], &[1.0, 1.0, 0.0, 0.0]),
        Error::VectorZero(1)
    );
    assert_eq!(
        refused(2, &[0], &[1.0, f32::NAN]),
        Error::VectorNotFinite(0)
    );
    assert_eq!(
        index.sizes(),
        Sizes {
            documents: 1,
            rows: 1,
            memory_bytes: 8 + 4 + 16,
            ..Sizes::default()
        }
    );
    let refused = |query| index.search(&query).unwrap_err();
    assert_eq!(
        refused(query(&[1.0], 1)),
        Error::QueryLength {
            dimension: 2,
            found: 1
        }
    );
    assert_eq!(refused(query(&[0.0, 0.0], 1)), Error::VectorZero(0));
    assert_eq!(refused(query(&[1.0, 0.0], 0)), Error::Limit);
    let threshold = Some(f32::NAN);
    assert_eq!(
        refused(Query {
            threshold,
            ..query(&[1.0, 0.0], 1)
        }),
        Error::Threshold
    );
}

#[test]
fn a_search_beside_changes_sees_a_document_whole_or_not_at_all() {
    let index = index(Settings {
        proposal_cost: 0,
        seal_rows: 600,
        threads: 2,
        ..Settings::new(8)
    });
    let rows = clustered(200, 8, 10, 5);
    let (removed, done) = (AtomicU64::new(0), AtomicBool::new(false));
    index
        .add(0, vec![7], vec![9.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
        .unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for key in 1..25 {
                index.add(key, (0..200).collect(), rows.clone()).unwrap();
                if key % 2 == 0 {
                    assert!(index.remove(key / 2));
                    removed.store(key / 2, Ordering::SeqCst);
                }
            }
            done.store(true, Ordering::SeqCst);
        });
        scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                seal(&index);
                std::thread::yield_now();
            }
        });
        for _ in 0..3 {
            scope.spawn(|| {
                while !done.load(Ordering::SeqCst) {
                    let gone = removed.load(Ordering::SeqCst);
                    let found = nearest(
                        &index,
                        &query(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 5_000),
                    );
                    assert_eq!((found.list[0].document, found.list[0].node), (0, 7));
                    assert!(
                        found
                            .list
                            .iter()
                            .all(|hit| hit.document == 0 || hit.document > gone)
                    );
                    assert_eq!(found.list.len() as u64, found.plan.rows);
                    assert_eq!(found.list.len() % 200, 1);
                }
            });
        }
    });
}

#[test]
fn a_version_takes_the_place_of_another_in_one_step() {
    let index = index(Settings::new(2));
    index.add(1, vec![3], vec![1.0, 0.0]).unwrap();
    index
        .replace(Some(1), 2, vec![4, 5], vec![1.0, 0.0, 0.0, 1.0])
        .unwrap();
    let found = nearest(&index, &query(&[1.0, 0.0], 10));
    let nodes: Vec<(u64, u32)> = found
        .list
        .iter()
        .map(|hit| (hit.document, hit.node))
        .collect();
    assert_eq!(nodes, [(2, 4), (2, 5)]);
    assert_eq!(
        index.replace(Some(2), 2, vec![], vec![]),
        Err(Error::DocumentTwice(2))
    );
    index.replace(Some(9), 3, vec![], vec![]).unwrap();
    assert_eq!(index.sizes().documents, 2);
}
