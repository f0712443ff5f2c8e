//! Random trees on which the implementation must agree with a plain model of the rules, and keep
//! their invariants.
//!
//! `TREESPAN_TREES` sets the number of trees; without it 5,000 in debug builds and 100,000 in
//! release builds.
#![allow(clippy::unwrap_used)]

mod answers;
#[path = "../common/mod.rs"]
mod common;
mod drawn;
mod naive;

use std::collections::BTreeSet;

use drawn::{budget_for, on_random_trees};
use naive::{Document, Found, Why};
use tree_expand::piece;
use tree_expand::trace::{Direction, Expansion, Outcome, StopReason};
use tree_expand::tree::Tree;
use tree_expand::window::{Mode, Options, Window, window};

fn why(expansion: &Expansion) -> [Why; 4] {
    [
        expansion.down,
        expansion.next,
        expansion.previous,
        expansion.up,
    ]
    .map(|stop| match stop {
        StopReason::Untried => Why::Untried,
        StopReason::End => Why::End,
        StopReason::Budget => Why::Budget,
        StopReason::Closed => Why::Closed,
    })
}

fn found(window: &Window) -> Found {
    Found {
        taken: window.positions().map(|node| node as usize).collect(),
        spent: u64::from(window.expansion.used_tokens),
        why: why(&window.expansion),
    }
}

#[test]
fn tree_agrees_with_the_model_and_keeps_its_invariants() {
    on_random_trees(1, |random, document, tree| {
        for gaps in [false, true] {
            let hit = random.below(u32::try_from(tree.len()).unwrap());
            let budget = budget_for(random, document);
            let options = Options {
                gaps,
                ..Options::new(Mode::Tree, budget)
            };
            let window = window(tree, hit, &options).unwrap();
            let model = document.tree(hit as usize, u64::from(budget), gaps);
            assert_eq!(
                found(&window),
                model,
                "hit {hit}, {options:?}, {document:?}"
            );
            check_trace(tree, hit, &options, &window);
            check_invariants(document, tree, hit, &options, &window);
        }
    });
}

/// Asking for the steps changes nothing else, and the steps account for what was taken and charged.
fn check_trace(tree: &Tree, hit: u32, options: &Options, plain: &Window) {
    let traced = window(
        tree,
        hit,
        &Options {
            trace: true,
            ..*options
        },
    )
    .unwrap();
    let steps = &traced.expansion.steps;
    let mut untraced = traced.clone();
    untraced.expansion.steps = vec![];
    assert_eq!(&untraced, plain);
    let mut taken = BTreeSet::from([hit]);
    let mut left = options.token_budget.saturating_sub(tree.own_tokens(hit));
    for step in steps {
        let tokens = u32::try_from(step.tokens).unwrap();
        let nodes = match step.direction {
            Direction::Next | Direction::Previous => tree.subtree(step.node),
            Direction::Down | Direction::Up => step.node..step.node + 1,
        };
        match (step.outcome, step.direction) {
            (Outcome::Taken, _) => {
                left -= tokens;
                taken.extend(nodes);
            }
            (Outcome::Rollback, Direction::Down) => {
                left += tokens;
                assert!(taken.remove(&step.node));
            }
            (Outcome::Rollback | Outcome::Stop, _) => assert!(tokens > left),
        }
        assert_eq!(step.budget_left, left);
    }
    assert_eq!(taken, plain.positions().collect());
}

/// The invariants of the design, 1 to 6.
fn check_invariants(
    document: &Document,
    tree: &Tree,
    hit: u32,
    options: &Options,
    window: &Window,
) {
    let Found { taken, spent, .. } = found(window);
    let budget = u64::from(options.token_budget);
    assert_eq!(
        spent,
        document.sum(&taken),
        "1: the charge is what is returned"
    );
    let fits = document.tokens[hit as usize] <= budget;
    assert_eq!(fits, !window.expansion.hit_exceeds_budget);
    assert!(spent <= budget || !fits, "1: the budget holds");
    assert!(taken.contains(&(hit as usize)), "2: the hit is in");

    let ancestors = document.ancestors(hit as usize);
    for &above in ancestors
        .iter()
        .chain([&(hit as usize)])
        .filter(|&&node| node != 0)
    {
        for sibling in document.children(document.parent[above]) {
            if sibling == above {
                continue;
            }
            let inside = document.preorder(sibling);
            let count = inside.iter().filter(|node| taken.contains(node)).count();
            assert!(count == 0 || count == inside.len(), "3: whole or absent");
        }
    }
    if !options.gaps {
        let texts: Vec<usize> = document
            .texts()
            .into_iter()
            .filter(|node| !ancestors.contains(node))
            .collect();
        let places: Vec<usize> = (0..texts.len())
            .filter(|&place| taken.contains(&texts[place]))
            .collect();
        let run = places.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        assert!(run, "4: one run of document order, ancestors aside");
    }
    if budget >= document.cost(0) {
        assert_eq!(taken.len(), tree.len(), "5: the whole tree");
    }
    let richer = Options {
        token_budget: options.token_budget + 1,
        ..*options
    };
    let more = tree_expand::window::window(tree, hit, &richer).unwrap();
    assert!(
        u64::from(more.expansion.used_tokens) >= spent,
        "5: more budget is never less text"
    );
    let ordered = window
        .ranges
        .windows(2)
        .all(|pair| pair[0].end < pair[1].start);
    assert!(
        ordered && window.ranges.iter().all(|range| !range.is_empty()),
        "6: document order"
    );
    let again = tree_expand::window::window(tree, hit, options).unwrap();
    assert_eq!(&again, window, "6: the same every time");
}

#[test]
fn the_other_modes_agree_with_the_model() {
    on_random_trees(2, |random, document, tree| {
        let hit = random.below(u32::try_from(tree.len()).unwrap());
        let budget = budget_for(random, document);
        let wide = u64::from(budget);
        let grow = |mode| window(tree, hit, &Options::new(mode, budget)).unwrap();
        let own = hit as usize;

        let parent = found(&grow(Mode::Parent));
        assert_eq!(
            parent,
            document.parent(own, wide),
            "{hit} {budget} {document:?}"
        );

        let alone = found(&grow(Mode::None));
        assert_eq!((alone.taken.len(), alone.spent), (1, document.tokens[own]));

        for (window, model) in [
            (grow(Mode::Linear), document.linear(own, wide)),
            (
                grow(Mode::SentenceWindow),
                document.sentence_window(own, wide, 3),
            ),
        ] {
            let pieces = piece::of_window(tree, &window);
            let nodes: BTreeSet<usize> = pieces.iter().map(|piece| piece.node as usize).collect();
            let tokens: u64 = pieces.iter().map(|piece| u64::from(piece.tokens)).sum();
            let spent = u64::from(window.expansion.used_tokens);
            let seen = Found {
                taken: nodes,
                spent,
                why: why(&window.expansion),
            };
            assert_eq!(seen, model, "{hit} {budget} {document:?}");
            assert_eq!(tokens, spent);
        }
    });
}
