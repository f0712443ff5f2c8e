//! Random trees on which the implementation must agree with a plain model of the rules, and keep
//! their invariants.
//!
//! `TREESPAN_TREES` sets the number of trees; without it 5,000 in debug builds and 100,000 in
//! release builds.
#![allow(clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;
mod naive;

use std::collections::BTreeSet;

use common::Random;
use naive::{Document, Found, Why};
use tree_expand::merge::{Hit, answer};
use tree_expand::piece;
use tree_expand::trace::{Direction, Expansion, Outcome, StopReason};
use tree_expand::tree::Tree;
use tree_expand::window::{Mode, Options, Window, window};

fn trees() -> u64 {
    let usual = if cfg!(debug_assertions) {
        5_000
    } else {
        100_000
    };
    std::env::var("TREESPAN_TREES").map_or(usual, |count| count.parse().unwrap())
}

/// A tree of 1 to 40 nodes: flat, deep or bushy, with free nodes, texts of no tokens and texts
/// without sentences.
fn random_document(random: &mut Random) -> Document {
    let nodes = 1 + random.below(40) as usize;
    let climb = 1 + random.below(6);
    let largest = [1, 3, 12, 60][random.below(4) as usize];
    let kinds = 1 + random.below(3);
    let mut document = Document {
        parent: vec![0; nodes],
        kind: vec![1; nodes],
        tokens: vec![0; nodes],
        has_text: vec![false; nodes],
        sentences: vec![vec![]; nodes],
    };
    for node in 1..nodes {
        let mut parent = node - 1;
        // The parent of a node is the node before it or one of that node's ancestors.
        while parent != 0 && random.below(climb) != 0 {
            parent = document.parent[parent];
        }
        document.parent[node] = parent;
        document.kind[node] = u8::try_from(2 + random.below(kinds)).unwrap();
    }
    for node in 0..nodes {
        document.has_text[node] = random.below(5) != 0;
        if document.has_text[node] {
            let tokens = random.below(largest + 1);
            document.tokens[node] = u64::from(tokens);
            let count = random.below(4);
            document.sentences[node] = (0..count)
                .map(|_| u64::from(tokens / count + random.below(2)))
                .collect();
        }
    }
    document
}

fn tree_of(document: &Document) -> Tree {
    let narrow = |&number: &u64| u32::try_from(number).unwrap();
    let parent = document
        .parent
        .iter()
        .map(|&node| u32::try_from(node).unwrap())
        .collect();
    let tokens = document.tokens.iter().map(narrow).collect();
    let counts: Vec<u32> = document
        .sentences
        .iter()
        .map(|own| u32::try_from(own.len()).unwrap())
        .collect();
    let sentences: Vec<u32> = document.sentences.iter().flatten().map(narrow).collect();
    Tree::with_texts(parent, document.kind.clone(), tokens, &document.has_text)
        .unwrap()
        .with_sentences(&counts, &sentences)
        .unwrap()
}

fn budget_for(random: &mut Random, document: &Document) -> u32 {
    let all = u32::try_from(document.cost(0)).unwrap();
    random.below(all + 4)
}

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

/// Runs a check on random trees, one thread for each processor.
fn on_random_trees(seed: u64, check: impl Fn(&mut Random, &Document, &Tree) + Sync) {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let check = &check;
            scope.spawn(move || {
                for number in (thread..trees()).step_by(usize::try_from(threads).unwrap()) {
                    let mut random = Random(seed ^ (number << 20));
                    let document = random_document(&mut random);
                    let tree = tree_of(&document);
                    check(&mut random, &document, &tree);
                }
            });
        }
    });
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

#[test]
fn passages_agree_with_the_model() {
    on_random_trees(3, |random, document, tree| {
        let mode = [Mode::Tree, Mode::Tree, Mode::Linear, Mode::Parent][random.below(4) as usize];
        let gaps = random.below(2) == 0;
        let budget = budget_for(random, document);
        let nodes = u32::try_from(tree.len()).unwrap();
        let mut hits: Vec<Hit> = Vec::new();
        for _ in 0..=random.below(6) {
            let node = random.below(nodes);
            if hits.iter().all(|hit| hit.node != node) {
                hits.push(Hit { document: 0, node });
            }
        }
        let options = Options {
            gaps,
            merge: true,
            ..Options::new(mode, budget)
        };
        let answer = answer(&[tree], &hits, &options).unwrap();
        let windows: Vec<(usize, BTreeSet<usize>)> = hits
            .iter()
            .map(|hit| {
                let window = window(tree, hit.node, &options).unwrap();
                (hit.node as usize, found(&window).taken)
            })
            .collect();
        let seen: Vec<(Vec<usize>, Vec<usize>)> = answer
            .passages
            .iter()
            .map(|passage| {
                let nodes = passage
                    .pieces
                    .iter()
                    .map(|piece| piece.node as usize)
                    .collect();
                (passage.hits.clone(), nodes)
            })
            .collect();
        assert_eq!(
            seen,
            document.passages(&windows),
            "{hits:?} {options:?} {document:?}"
        );
        check_answer(document, &answer, &windows);
    });
}

/// A text comes once, gaps are told, and tokens add up.
fn check_answer(
    document: &Document,
    answer: &tree_expand::merge::Answer,
    windows: &[(usize, BTreeSet<usize>)],
) {
    let mut all: BTreeSet<usize> = BTreeSet::new();
    for passage in &answer.passages {
        let nodes: Vec<usize> = passage
            .pieces
            .iter()
            .map(|piece| piece.node as usize)
            .collect();
        for (place, piece) in passage.pieces.iter().enumerate() {
            let here = nodes[place];
            assert!(all.insert(here), "a text comes once");
            let missing =
                place > 0 && (nodes[place - 1] + 1..here).any(|between| document.has_text[between]);
            assert_eq!(piece.gap_before, missing);
            assert_eq!(piece.hit, windows.iter().any(|&(hit, _)| hit == here));
        }
        let tokens: u64 = nodes.iter().map(|&node| document.tokens[node]).sum();
        assert_eq!(passage.tokens, tokens);
    }
    let union: BTreeSet<usize> = windows
        .iter()
        .flat_map(|(_, taken)| taken.clone())
        .collect();
    assert_eq!(
        answer.tokens,
        document.sum(&union),
        "all windows, each text charged once"
    );
}

#[test]
fn an_answer_stays_within_its_budget_but_for_its_best_hit() {
    let modes = [
        Mode::Tree,
        Mode::Linear,
        Mode::Parent,
        Mode::None,
        Mode::SentenceWindow,
    ];
    on_random_trees(4, |random, document, tree| {
        let second = random_document(random);
        let trees = [tree, &tree_of(&second)];
        let documents = [document, &second];
        let hits: Vec<Hit> = (0..=random.below(6))
            .map(|_| {
                let at = random.below(2) as usize;
                let nodes = u32::try_from(trees[at].len()).unwrap();
                Hit {
                    document: at,
                    node: random.below(nodes),
                }
            })
            .collect();
        let mode = modes[random.below(5) as usize];
        let whole = budget_for(random, document);
        let options = Options {
            answer_token_budget: Some(whole),
            gaps: random.below(2) == 0,
            merge: random.below(2) == 0,
            sentences: random.below(5),
            ..Options::new(mode, budget_for(random, document))
        };
        let answer = answer(&trees, &hits, &options).unwrap();
        let best = documents[hits[0].document].tokens[hits[0].node as usize];
        assert!(
            answer.tokens <= u64::from(whole).max(best),
            "{hits:?} {options:?} {documents:?}"
        );
        assert_eq!(answer.passages[0].hits[0], 0, "the best hit comes");
        let mut served: BTreeSet<usize> = answer.left_out.iter().copied().collect();
        for passage in &answer.passages {
            for &rank in &passage.hits {
                assert!(served.insert(rank), "a hit is served once or left out");
            }
            let tokens: u64 = passage
                .pieces
                .iter()
                .map(|piece| u64::from(piece.tokens))
                .sum();
            assert_eq!(passage.tokens, tokens);
        }
        for (rank, hit) in hits.iter().enumerate() {
            assert!(served.contains(&rank) || options.merge && hits[..rank].contains(hit));
        }
    });
}
