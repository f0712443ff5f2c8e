//! Trees of extreme shape: no recursion, and work in proportion to what is taken or looked at.
#![allow(clippy::unwrap_used, clippy::single_range_in_vec_init)]

mod common;

use common::{SECTION, TEXT};
use tree_expand::merge::{Hit, answer};
use tree_expand::tree::Tree;
use tree_expand::window::{Mode, Options, window};

const DEPTH: u32 = 20_000;
const WIDTH: u32 = 100_000;

/// A chain in which every node has 5 tokens.
fn chain() -> Tree {
    let parent = (0..DEPTH).map(|node| node.saturating_sub(1)).collect();
    Tree::new(
        parent,
        vec![SECTION; DEPTH as usize],
        vec![5; DEPTH as usize],
    )
    .unwrap()
}

/// A root without text and children of 10 tokens.
fn wide() -> Tree {
    let nodes = WIDTH as usize + 1;
    let mut own = vec![10; nodes];
    own[0] = 0;
    Tree::new(vec![0; nodes], vec![TEXT; nodes], own).unwrap()
}

#[test]
fn a_chain_of_20_000_levels_is_taken_whole_in_every_mode() {
    let tree = chain();
    assert_eq!(tree.depth(DEPTH - 1), DEPTH - 1);
    for hit in [0, DEPTH / 2, DEPTH - 1] {
        for mode in [Mode::Tree, Mode::Linear, Mode::Parent] {
            let found = window(&tree, hit, &Options::new(mode, 5 * DEPTH)).unwrap();
            assert_eq!(found.ranges, [0..DEPTH]);
            assert_eq!(found.refused, 0);
        }
    }
}

#[test]
fn a_chain_is_climbed_as_far_as_the_budget_goes() {
    let tree = chain();
    let found = window(&tree, DEPTH - 1, &Options::new(Mode::Tree, 100)).unwrap();
    assert_eq!(found.ranges, [DEPTH - 20..DEPTH]);
    let top = window(&tree, 0, &Options::new(Mode::Tree, 100)).unwrap();
    // The last heading would stand over a text that is missing, and the one above it then as well:
    // in a chain without leaves in reach everything is given back.
    assert_eq!(top.ranges, [0..1]);
}

#[test]
fn a_hundred_thousand_siblings_cost_only_what_is_looked_at() {
    let tree = wide();
    let hit = WIDTH / 2;
    for gaps in [false, true] {
        let options = |budget| Options {
            gaps,
            ..Options::new(Mode::Tree, budget)
        };
        let grow = |budget| window(&tree, hit, &options(budget));
        let all = grow(10 * WIDTH).unwrap();
        assert_eq!((all.len(), all.refused), (WIDTH as usize + 1, 0));
        let some = grow(1_005).unwrap();
        assert_eq!((some.len(), some.refused), (101, 2));
        // 99 siblings and the root; one refusal on each side.
        assert_eq!(some.ranges, [0..1, hit - 49..hit + 51]);
    }
}

#[test]
fn a_thousand_hits_among_a_hundred_thousand_siblings_are_one_answer() {
    let tree = wide();
    let hits: Vec<Hit> = (0..1_000)
        .map(|rank| Hit {
            document: 0,
            node: 1 + rank * (WIDTH / 1_000),
        })
        .collect();
    let options = Options {
        merge: true,
        ..Options::new(Mode::Tree, 200)
    };
    let apart = answer(&[&tree], &hits, &options).unwrap();
    assert_eq!(apart.passages.len(), 1_000);
    let options = Options {
        token_budget: 1_010,
        ..options
    };
    let united = answer(&[&tree], &hits, &options).unwrap();
    assert_eq!(united.passages.len(), 1);
    // The first hit has no left side and reaches 100 to the right, the last 50.
    assert_eq!(united.tokens, 10 * (u64::from(hits[999].node) + 50));
}

#[test]
fn tokens_add_up_beyond_32_bits() {
    let tree = Tree::new(vec![0; 4], vec![TEXT; 4], vec![0, u32::MAX, u32::MAX, 7]).unwrap();
    assert_eq!(tree.subtree_tokens(0), 2 * u64::from(u32::MAX) + 7);
    let found = window(&tree, 3, &Options::new(Mode::Tree, u32::MAX)).unwrap();
    assert_eq!(found.ranges, [0..1, 3..4]);
    let found = window(&tree, 1, &Options::new(Mode::Tree, u32::MAX)).unwrap();
    assert_eq!(found.expansion.used_tokens, u32::MAX);
}
