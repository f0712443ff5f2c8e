//! Time of the vector index and of writing answers.
//!
//! `cargo bench --bench vectors` prints the table; run otherwise, or with `--test`, every case runs
//! once on little data. Vectors are clustered (1 row in 100 of a cluster), 384 dimensions.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::cast_precision_loss)]

use std::hint::black_box;
use std::time::Instant;

use tree_expand::document::Document;
use tree_expand::filter::Allowed;
use tree_expand::kernel::Kernel;
use tree_expand::merge;
use tree_expand::planner::Hits;
use tree_expand::reply::{Extras, Scored, answer};
use tree_expand::vectors::{Query, Settings, VectorIndex};
use tree_expand::window::{Mode, Options};

const DIMENSION: usize = 384;
const DOCUMENT_ROWS: usize = 100;
const LIMIT: usize = 10;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let given = |name: &str| arguments.iter().any(|argument| argument == name);
    let once = given("--test") || !given("--bench");
    println!("kernel: {}", Kernel::detect().name());
    for rows in if once {
        vec![1_000]
    } else {
        vec![1_000, 10_000, 100_000]
    } {
        scans(rows, once);
    }
    for rows in if once {
        vec![1_000]
    } else {
        vec![20_000, 100_000]
    } {
        graphs(rows, once);
    }
    answers(once);
}

/// Least time of a call, in microseconds.
fn fastest<T>(once: bool, mut call: impl FnMut(usize) -> T) -> f64 {
    (0..if once { 1 } else { 60 })
        .map(|round| {
            let start = Instant::now();
            black_box(call(round));
            start.elapsed().as_secs_f64() * 1e6
        })
        .fold(f64::INFINITY, f64::min)
}

/// Mean time of a call and mean of what it returns.
fn mean(queries: &[Vec<f32>], mut call: impl FnMut(&[f32]) -> f64) -> (f64, f64) {
    let start = Instant::now();
    let sum: f64 = queries.iter().map(|query| call(query)).sum();
    let count = queries.len() as f64;
    (start.elapsed().as_secs_f64() * 1e6 / count, sum / count)
}

fn scans(rows: usize, once: bool) {
    let (index, _) = filled(rows, Settings::new(DIMENSION));
    let queries = clustered(8, rows / 100, 99);
    let alone = fastest(once, |round| search(&index, &queries[round % 8], None));
    let every_other = Allowed::new((0..rows as u64 / DOCUMENT_ROWS as u64).step_by(2).collect());
    let half = fastest(once, |round| {
        search(&index, &queries[round % 8], Some(&every_other))
    });
    let joined = queries.concat();
    let batch = fastest(once, |_| search_all(&index, &joined, None));
    println!(
        "scan  {rows:>7} rows: {:>5.1} ns a row, every other document {:>5.1}, batch of 8 {:>5.1}",
        alone * 1e3 / rows as f64,
        half * 2e3 / rows as f64,
        batch * 1e3 / (8 * rows) as f64,
    );
}

/// What every way to search costs and finds, for filters of all sizes: scans alone, graphs alone,
/// and as the planner chooses.
fn graphs(rows: usize, once: bool) {
    let folder = tempfile::tempdir().unwrap();
    let seal_rows = u32::try_from(rows).unwrap();
    let settings = |proposal_cost| Settings {
        proposal_cost,
        seal_rows,
        ..Settings::new(DIMENSION)
    };
    let planned = Settings::new(DIMENSION).proposal_cost;
    let vectors = clustered(rows, rows / 100, 1);
    let index = filled_by_cluster(&vectors, settings(planned));
    let start = Instant::now();
    assert!(index.seal(folder.path(), "segment").unwrap());
    let seconds = start.elapsed().as_secs_f64();
    println!("graph {rows:>7} rows: built and written in {seconds:.1} s");
    let files: Vec<_> = index
        .sealed()
        .into_iter()
        .map(|segment| segment.file)
        .collect();
    let indexes = [u32::MAX, 0, planned].map(|cost| {
        let index = VectorIndex::new(settings(cost)).unwrap();
        let start = Instant::now();
        index
            .install(folder.path(), &files, Some(&all(rows)))
            .unwrap();
        (index, start.elapsed().as_secs_f64())
    });
    println!("      opened in {:.3} s", indexes[0].1);
    let queries = clustered(if once { 2 } else { 200 }, rows / 100, 99);
    for scattered in [true, false] {
        for share in [1.0, 0.5, 0.2, 0.1, 0.05, 0.01, 0.001] {
            let some = chosen(rows, share, scattered);
            let allowed = (share < 1.0).then_some(&some);
            let kind = if scattered { "random" } else { "cluster" };
            let name = format!("{kind:>7} {:>5.1} %", share * 100.0);
            filtered(&indexes, &queries, allowed, &name);
        }
    }
}

fn all(rows: usize) -> Vec<u64> {
    (0..rows as u64 / DOCUMENT_ROWS as u64).collect()
}

/// A share of the rows: scattered over all clusters, or whole clusters, which are documents.
fn chosen(rows: usize, share: f64, scattered: bool) -> Allowed {
    let is_in = |number: &u64| {
        let mixed = (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc)
            .wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((mixed >> 40) as f64) < share * (1u64 << 24) as f64
    };
    if !scattered {
        return Allowed::new(all(rows).into_iter().filter(is_in).collect());
    }
    let (documents, nodes): (Vec<u64>, Vec<u32>) = (0..rows as u64)
        .filter(is_in)
        .map(|row| (row / 100, u32::try_from(row % 100).unwrap()))
        .unzip();
    Allowed::of_nodes(&documents, nodes).unwrap()
}

/// One line of the table: microseconds of each way, and the recall of those by graph.
fn filtered(
    indexes: &[(VectorIndex, f64); 3],
    queries: &[Vec<f32>],
    allowed: Option<&Allowed>,
    name: &str,
) {
    let [scan, graph, planned] = indexes;
    let right: Vec<Hits> = queries
        .iter()
        .map(|query| search(&scan.0, query, allowed))
        .collect();
    let [scan, graph, chosen] = [scan, graph, planned].map(|(index, _)| {
        let mut at = 0;
        mean(queries, |query| {
            at += 1;
            let found = search(index, query, allowed);
            let hit = found
                .list
                .iter()
                .filter(|hit| right[at - 1].list.contains(hit))
                .count();
            if right[at - 1].list.is_empty() {
                1.0
            } else {
                hit as f64 / right[at - 1].list.len() as f64
            }
        })
    });
    let plan = search(&planned.0, &queries[0], allowed).plan;
    println!(
        "      {name}: scan {:>7.1} us, graph {:>7.1} us, recall {:.4}; planned {:>7.1} us, recall {:.4}, {}",
        scan.0,
        graph.0,
        graph.1,
        chosen.0,
        chosen.1,
        if plan.graph_segments > 0 {
            "graph"
        } else {
            "scan"
        },
    );
}

/// An index whose documents hold the rows of one cluster each.
fn filled_by_cluster(vectors: &[Vec<f32>], settings: Settings) -> VectorIndex {
    let index = VectorIndex::new(settings).unwrap();
    let clusters = vectors.len() / 100;
    for key in 0..vectors.len() / DOCUMENT_ROWS {
        let rows: Vec<f32> = vectors
            .iter()
            .skip(key)
            .step_by(clusters)
            .flatten()
            .copied()
            .collect();
        let nodes = (0..).take(rows.len() / DIMENSION).collect();
        index.add(key as u64, nodes, rows).unwrap();
    }
    index
}

fn search(index: &VectorIndex, query: &[f32], allowed: Option<&Allowed>) -> Hits {
    search_all(index, query, allowed).remove(0)
}

fn search_all(index: &VectorIndex, vectors: &[f32], allowed: Option<&Allowed>) -> Vec<Hits> {
    let query = Query {
        vectors,
        limit: LIMIT,
        threshold: None,
        allowed,
    };
    index.search(&query).unwrap()
}

fn filled(rows: usize, settings: Settings) -> (VectorIndex, Vec<Vec<f32>>) {
    let index = VectorIndex::new(settings).unwrap();
    let vectors = clustered(rows, rows / 100, 1);
    for (key, rows) in (0..).zip(vectors.chunks(DOCUMENT_ROWS)) {
        let nodes = (0..).take(rows.len()).collect();
        index.add(key, nodes, rows.concat()).unwrap();
    }
    (index, vectors)
}

/// Rows around centres, those of a cluster spread over all documents.
fn clustered(rows: usize, clusters: usize, seed: u64) -> Vec<Vec<f32>> {
    let centres = normal(clusters * DIMENSION, 7);
    let noise = normal(rows * DIMENSION, seed);
    (0..rows)
        .map(|row| {
            let centre = &centres[row % clusters * DIMENSION..][..DIMENSION];
            let around = &noise[row * DIMENSION..][..DIMENSION];
            centre
                .iter()
                .zip(around)
                .map(|(c, n)| c + 0.8 * n)
                .collect()
        })
        .collect()
}

/// Numbers that are about normally distributed; the same for the same seed.
fn normal(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut uniform = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 24) as f32
    };
    (0..count)
        .map(|_| (0..6).map(|_| uniform()).sum::<f32>() - 3.0)
        .collect()
}

/// Ten hits in a document of 200 texts of 300 bytes, with six texts around each: about 22 KB.
fn answers(once: bool) {
    let (texts, bytes) = (200u32, 300u32);
    let document = Document::new("document", &packed(texts, bytes), b"").unwrap();
    let hits: Vec<Scored> = (0..)
        .take(LIMIT)
        .map(|hit| Scored {
            hit: merge::Hit {
                document: 0,
                node: hit * 20 + 5,
            },
            score: 0.5,
            similarity: 0.5,
        })
        .collect();
    let options = Options::new(Mode::Linear, 7 * 60);
    let write = || answer(&[&document], &hits, &options, Extras::default(), 1 << 22).unwrap();
    let size = write().bytes.len();
    println!(
        "reply {size:>7} bytes, 10 chunks: {:.1} us",
        fastest(once, |_| write())
    );
}

/// A root with `texts` children of `bytes` bytes and 60 tokens each.
fn packed(texts: u32, bytes: u32) -> Vec<u8> {
    let nodes = texts + 1;
    let start = |node: u32| node.saturating_sub(1) * bytes;
    let column = |number: &dyn Fn(u32) -> u32| -> Vec<u8> {
        (0..nodes)
            .flat_map(|node| number(node).to_le_bytes())
            .collect()
    };
    let mut out = b"TSTREE1\0".to_vec();
    out.extend(nodes.to_le_bytes());
    out.extend(0u32.to_le_bytes());
    out.extend(u64::from(texts * bytes).to_le_bytes());
    out.extend(column(&|_| 0));
    out.extend(column(&|node| if node == 0 { 0 } else { 60 }));
    out.extend(column(&|_| 0));
    out.extend(column(&|_| 0));
    for _ in 0..2 {
        out.extend(column(&start));
        out.extend(column(&|node| node * bytes));
    }
    out.extend((0..nodes).map(|node| if node == 0 { 1 } else { 3 }));
    out.extend((0..nodes).map(|_| 0));
    out.extend((0..texts * bytes).map(|at| b'a' + (at % 26) as u8));
    out
}
