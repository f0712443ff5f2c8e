//! Answers of several hits: passages as the model has them, budgets, every text once.

use std::collections::BTreeSet;

use tree_expand::merge::{Answer, Hit, answer};
use tree_expand::piece::Piece;
use tree_expand::window::{Mode, Options, window};

use crate::drawn::{budget_for, on_random_trees, random_document, tree_of};
use crate::found;
use crate::naive::Document;

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

#[test]
fn passages_of_sentences_are_the_maximal_runs_of_all_windows() {
    on_random_trees(5, |random, document, tree| {
        let mut nodes: Vec<usize> = document.texts();
        nodes.retain(|&node| !document.sentences[node].is_empty() && random.below(4) == 0);
        let mut hits: Vec<Hit> = Vec::new();
        for node in nodes {
            let place = random.below(u32::try_from(hits.len()).unwrap() + 1) as usize;
            hits.insert(
                place,
                Hit {
                    document: 0,
                    node: u32::try_from(node).unwrap(),
                },
            );
        }
        let sentences = random.below(4);
        let budget = budget_for(random, document);
        let options = Options {
            merge: true,
            sentences,
            ..Options::new(Mode::SentenceWindow, budget)
        };
        let mut all: BTreeSet<u32> = BTreeSet::new();
        for hit in &hits {
            all.extend(window(tree, hit.node, &options).unwrap().sentences.unwrap());
        }
        let mut runs: Vec<Vec<u32>> = Vec::new();
        for sentence in all {
            match runs.last_mut() {
                Some(run) if run.ends_with(&[sentence.wrapping_sub(1)]) => run.push(sentence),
                _ => runs.push(vec![sentence]),
            }
        }
        let answer = answer(&[tree], &hits, &options).unwrap();
        let mut seen: Vec<Vec<u32>> = Vec::new();
        for passage in &answer.passages {
            let own = |piece: &Piece| match piece.sentence {
                Some(sentence) => sentence..sentence + 1,
                None => tree.sentences(piece.node),
            };
            seen.push(passage.pieces.iter().flat_map(own).collect());
            for &rank in &passage.hits {
                let whole = |piece: &&Piece| piece.node == hits[rank].node && piece.hit;
                assert_eq!(passage.pieces.iter().find(whole).unwrap().sentence, None);
            }
        }
        seen.sort();
        assert_eq!(seen, runs, "{hits:?} {options:?} {document:?}");
    });
}

/// A text comes once, gaps are told, and tokens add up.
fn check_answer(document: &Document, answer: &Answer, windows: &[(usize, BTreeSet<usize>)]) {
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
