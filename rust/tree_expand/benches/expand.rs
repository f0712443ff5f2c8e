//! Time of one TREE expansion, by shape and size of the tree and by budget, against the target
//! of 5 us + 20 ns for every node taken or looked at.
//!
//! `cargo bench --bench expand` prints the table; run otherwise, or with `--test`, every case runs
//! once. 20 tokens for a leaf, 5 for a heading, the hit in the middle of the document.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::hint::black_box;
use std::time::Instant;

use tree_expand::merge::{Hit, answer};
use tree_expand::tree::Tree;
use tree_expand::window::{Mode, Options, window};

const LEAF: u32 = 20;
const HEADING: u32 = 5;
const BATCHES: usize = 21;
const BATCH_NS: f64 = 2e6;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let given = |name: &str| arguments.iter().any(|argument| argument == name);
    let bench = Bench {
        once: given("--test") || !given("--bench"),
    };
    println!(
        "{:<22} {:>7} {:>7} {:>5} {:>9} {:>7} {:>7} {:>9} {:>9} ",
        "tree", "nodes", "budget", "gaps", "us/hit", "taken", "refused", "ns/node", "target us"
    );
    for nodes in [100, 1_000, 10_000] {
        for (name, tree) in shapes(nodes) {
            for budget in [512, 4_096, 16_000] {
                for gaps in [false, true] {
                    bench.window(name, &tree, middle_leaf(&tree), budget, gaps);
                }
            }
        }
    }
    bench.extremes();
    bench.answers();
}

struct Bench {
    once: bool,
}

impl Bench {
    /// Prints the line of one case.
    fn window(&self, name: &str, tree: &Tree, hit: u32, budget: u32, gaps: bool) {
        let options = Options {
            gaps,
            ..Options::new(Mode::Tree, budget)
        };
        let found = window(tree, hit, &options).unwrap();
        let us = self.time_us(|| window(black_box(tree), black_box(hit), &options).unwrap());
        let touched = (found.len() + found.refused as usize).max(1);
        let target = 5.0 + 0.02 * count(touched);
        println!(
            "{name:<22} {:>7} {budget:>7} {:>5} {us:>9.3} {:>7} {:>7} {:>9.2} {target:>9.2} {}",
            tree.len(),
            if gaps { "yes" } else { "no" },
            found.len(),
            found.refused,
            us * 1_000.0 / count(touched),
            if us <= target { "PASS" } else { "MISS" },
        );
    }

    /// Trees that defeat a careless walk: recursion, scans of all siblings, scans of all ancestors.
    fn extremes(&self) {
        let flat = flat(100_000);
        self.window("100,000 siblings", &flat, 50_000, 1_000_000, false);
        self.window("100,000 siblings", &flat, 50_000, LEAF + 7, false);
        self.window("100,000 siblings", &flat, 50_000, LEAF + 7, true);
        // One cheap sibling, so that the cheapest of the level does not end the walk early.
        let mut own = vec![LEAF; 100_001];
        (own[0], own[50_001]) = (0, 1);
        let uneven = Tree::new(vec![0; own.len()], vec![3; own.len()], own).unwrap();
        self.window("one cheap sibling", &uneven, 50_000, LEAF + 7, true);
        let deep = deep(20_000);
        self.window("20,000 levels, leaf", &deep, 19_999, 16_000, false);
        self.window("20,000 levels, top", &deep, 1, 16_000, false);
        self.window("20,000 levels, middle", &deep, 10_000, 100, true);
    }

    /// Whole answers: ten hits spread over one document.
    fn answers(&self) {
        println!(
            "\n{:<22} {:>7} {:>7} {:>5} {:>9}",
            "10 hits", "nodes", "budget", "merge", "us"
        );
        for (name, tree) in shapes(10_000) {
            let step = u32::try_from(tree.len() / 10).unwrap();
            let hits: Vec<Hit> = (0..10)
                .map(|rank| Hit {
                    document: 0,
                    node: rank * step + step / 2,
                })
                .collect();
            for merge in [false, true] {
                let options = Options {
                    merge,
                    ..Options::new(Mode::Tree, 1_024)
                };
                let us = self.time_us(|| answer(&[&tree], black_box(&hits), &options).unwrap());
                println!(
                    "{name:<22} {:>7} {:>7} {merge:>5} {us:>9.3}",
                    tree.len(),
                    1_024
                );
            }
        }
    }

    /// Time of one call in the fastest of many batches, in microseconds: what else runs on the
    /// machine only ever adds.
    fn time_us<T>(&self, call: impl Fn() -> T) -> f64 {
        let batch = |calls: u32| {
            let start = Instant::now();
            for _ in 0..calls {
                black_box(call());
            }
            start.elapsed().as_secs_f64() * 1e9 / f64::from(calls)
        };
        let first = batch(1);
        if self.once {
            return first / 1_000.0;
        }
        let mut calls = 1;
        while batch(calls) * f64::from(calls) < BATCH_NS {
            calls *= 2;
        }
        (0..BATCHES).map(|_| batch(calls)).fold(first, f64::min) / 1_000.0
    }
}

fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap())
}

fn shapes(nodes: usize) -> [(&'static str, Tree); 4] {
    [
        ("flat", flat(nodes)),
        ("table rows", table(nodes)),
        ("sections", sections(nodes)),
        ("10-way", ten_way(nodes)),
    ]
}

fn flat(nodes: usize) -> Tree {
    let mut own = vec![LEAF; nodes];
    own[0] = 0;
    Tree::new(vec![0; nodes], vec![3; nodes], own).unwrap()
}

fn table(nodes: usize) -> Tree {
    let mut parent = vec![1; nodes];
    let mut own = vec![LEAF; nodes];
    (parent[0], parent[1]) = (0, 0);
    (own[0], own[1]) = (0, HEADING);
    Tree::new(parent, vec![7; nodes], own).unwrap()
}

fn deep(nodes: u32) -> Tree {
    let parent = (0..nodes).map(|node| node.saturating_sub(1)).collect();
    let count = nodes as usize;
    Tree::new(parent, vec![2; count], vec![HEADING; count]).unwrap()
}

/// As many sections as texts in each.
fn sections(nodes: usize) -> Tree {
    let each = nodes.isqrt();
    let mut draft = Draft::root();
    while draft.parent.len() < nodes {
        let section = draft.add(0, HEADING);
        for _ in 1..each {
            draft.add(section, LEAF);
        }
    }
    draft.tree()
}

/// Ten children to a node, the levels filled from the top.
fn ten_way(nodes: usize) -> Tree {
    let mut draft = Draft::root();
    fill(&mut draft, 0, 0, nodes);
    draft.tree()
}

/// Adds the children of a node that is number `index` of a tree numbered level by level.
fn fill(draft: &mut Draft, node: u32, index: usize, nodes: usize) {
    for child in 10 * index + 1..=10 * index + 10 {
        if child < nodes {
            let tokens = if 10 * child + 1 < nodes {
                HEADING
            } else {
                LEAF
            };
            let added = draft.add(node, tokens);
            fill(draft, added, child, nodes);
        }
    }
}

struct Draft {
    parent: Vec<u32>,
    own: Vec<u32>,
}

impl Draft {
    fn root() -> Self {
        Self {
            parent: vec![0],
            own: vec![0],
        }
    }

    fn add(&mut self, parent: u32, tokens: u32) -> u32 {
        self.parent.push(parent);
        self.own.push(tokens);
        u32::try_from(self.parent.len() - 1).unwrap()
    }

    fn tree(self) -> Tree {
        let kind = self
            .own
            .iter()
            .map(|&tokens| if tokens == LEAF { 3 } else { 2 })
            .collect();
        Tree::new(self.parent, kind, self.own).unwrap()
    }
}

fn middle_leaf(tree: &Tree) -> u32 {
    let nodes = u32::try_from(tree.len()).unwrap();
    (nodes / 2..nodes).find(|&node| tree.is_leaf(node)).unwrap()
}
