//! The answer of several hits: budgets shared, windows united, every text once.
#![allow(clippy::unwrap_used)]

mod common;

use common::Drawn;
use tree_expand::error::Error;
use tree_expand::merge::{Answer, Hit, Passage, answer};
use tree_expand::tree::Tree;
use tree_expand::window::{Mode, Options};

fn merged(mode: Mode, budget: u32) -> Options {
    Options {
        merge: true,
        ..Options::new(mode, budget)
    }
}

fn ask(drawn: &Drawn, hits: &str, options: &Options) -> Answer {
    let hits: Vec<Hit> = hits
        .split(' ')
        .map(|name| Hit {
            document: 0,
            node: drawn.at(name),
        })
        .collect();
    answer(&[&drawn.tree], &hits, options).unwrap()
}

/// Texts of a passage: `*` marks hits, `...` missing text before.
fn shown(drawn: &Drawn, passage: &Passage) -> String {
    let text = |piece: &tree_expand::piece::Piece| {
        let gap = if piece.gap_before { "... " } else { "" };
        format!(
            "{gap}{}{}",
            drawn.name(piece.node),
            if piece.hit { "*" } else { "" }
        )
    };
    passage
        .pieces
        .iter()
        .map(text)
        .collect::<Vec<_>>()
        .join(" ")
}

fn all(drawn: &Drawn, answer: &Answer) -> Vec<String> {
    answer
        .passages
        .iter()
        .map(|passage| shown(drawn, passage))
        .collect()
}

const LEAVES: &str = "R0[a10, b10, c10, d10, e10, f10, g10, h10, i10]";

#[test]
fn l13_adjacent_hits_come_as_one_passage_and_no_text_twice() {
    let drawn = Drawn::new(LEAVES);
    let answer = ask(&drawn, "e d c f g", &merged(Mode::Tree, 30));
    assert_eq!(all(&drawn, &answer), ["b c* d* e* f* g* h"]);
    assert_eq!(answer.passages[0].hits, [0, 1, 2, 3, 4]);
    assert_eq!((answer.tokens, answer.passages[0].tokens), (70, 70));
}

#[test]
fn without_merging_every_hit_has_its_own_window() {
    let drawn = Drawn::new(LEAVES);
    let answer = ask(&drawn, "e d", &Options::new(Mode::Tree, 30));
    assert_eq!(all(&drawn, &answer), ["d e* f", "c d* e"]);
    assert_eq!(answer.tokens, 60);
}

#[test]
fn l16_two_leaves_of_one_parent_are_one_span() {
    let drawn = Drawn::new("R0[S2[a10, b10, c10]]");
    let answer = ask(&drawn, "a c", &merged(Mode::Tree, 22));
    assert_eq!(all(&drawn, &answer), ["S a* b c*"]);
    assert_eq!(answer.tokens, 32, "S and b are charged once");
}

#[test]
fn l17_passages_depend_on_positions_and_not_on_what_is_ranked_between() {
    let drawn = Drawn::new(LEAVES);
    let together = ask(&drawn, "a c i", &merged(Mode::Tree, 20));
    let apart = ask(&drawn, "a i c", &merged(Mode::Tree, 20));
    assert_eq!(all(&drawn, &together), ["a* b c* d", "h i*"]);
    assert_eq!(all(&drawn, &apart), ["a* b c* d", "h i*"]);
}

#[test]
fn x04_windows_that_meet_over_a_third_are_one_passage() {
    let drawn = Drawn::new(LEAVES);
    let answer = ask(&drawn, "a g d", &merged(Mode::Linear, 30));
    assert_eq!(all(&drawn, &answer), ["a* b c d* e f g* h"]);
    assert_eq!(answer.passages[0].hits, [0, 1, 2]);
}

#[test]
fn passages_come_in_the_order_of_their_best_hits() {
    let drawn = Drawn::new(LEAVES);
    let answer = ask(&drawn, "h a i", &merged(Mode::None, 10));
    assert_eq!(all(&drawn, &answer), ["h* i*", "a*"]);
    assert_eq!(answer.passages[0].hits, [0, 2]);
    assert_eq!(answer.passages[1].hits, [1]);
}

#[test]
fn a_heading_above_two_passages_comes_once_with_the_better() {
    let drawn = Drawn::new("R0[S2[a10, b10, c10, d10, e10]]");
    let answer = ask(&drawn, "e b", &merged(Mode::Tree, 13));
    assert_eq!(all(&drawn, &answer), ["S ... e*", "b*"]);
    assert_eq!(answer.tokens, 22);
}

#[test]
fn a_heading_of_a_later_text_does_not_hang_over_an_earlier_passage() {
    let drawn = Drawn::new("R0[a10, b10, S2[c90, d90, e10, f10]]");
    let answer = ask(&drawn, "b f", &merged(Mode::Tree, 25));
    assert_eq!(all(&drawn, &answer), ["a b*", "S ... e f*"]);
}

#[test]
fn a_heading_joins_what_it_stands_above() {
    // S fits f's window only, but c, the first text below it, is in the passage of b.
    let drawn = Drawn::new("R0[a10, b10, S2[c10, d90, e10, f10]]");
    let answer = ask(&drawn, "b c f", &merged(Mode::Tree, 25));
    assert_eq!(all(&drawn, &answer), ["a b* S c*", "e f*"]);
}

#[test]
fn a_heading_that_is_a_hit_stays_at_the_end_of_its_passage() {
    let drawn = Drawn::new("R0[a10, b10, S2[c90, f10]]");
    let answer = ask(&drawn, "b S f", &merged(Mode::Tree, 20));
    assert_eq!(all(&drawn, &answer), ["a b* S*", "f*"]);
    assert_eq!(answer.passages[0].hits, [0, 1]);
}

#[test]
fn with_gaps_a_piece_behind_a_gap_stays_with_its_hit() {
    let drawn = Drawn::new("R0[a3, L60, H10, Q60, z3]");
    let options = Options {
        gaps: true,
        ..merged(Mode::Tree, 40)
    };
    assert_eq!(all(&drawn, &ask(&drawn, "H", &options)), ["a ... H* ... z"]);
    // Where z is a hit itself, its run is a passage of its own.
    assert_eq!(
        all(&drawn, &ask(&drawn, "H z", &options)),
        ["a ... H*", "z*"]
    );
}

#[test]
fn a_hit_given_twice_counts_once() {
    let drawn = Drawn::new(LEAVES);
    let answer = ask(&drawn, "c c", &merged(Mode::Tree, 30));
    assert_eq!(answer.passages[0].hits, [0]);
    assert!(answer.left_out.is_empty());
}

#[test]
fn documents_are_not_mixed() {
    let one = Drawn::new("R0[a10, b10]");
    let two = Drawn::new("R0[x10, y10]");
    let hits = [
        Hit {
            document: 1,
            node: 1,
        },
        Hit {
            document: 0,
            node: 1,
        },
        Hit {
            document: 1,
            node: 2,
        },
    ];
    let answer = answer(&[&one.tree, &two.tree], &hits, &merged(Mode::Tree, 10)).unwrap();
    assert_eq!(shown(&two, &answer.passages[0]), "x* y*");
    assert_eq!(shown(&one, &answer.passages[1]), "a*");
    assert_eq!(answer.passages[0].document, 1);
}

#[test]
fn sentences_of_a_later_hit_are_replaced_by_its_whole_text_and_charged_once() {
    // Three chunks of two sentences of 5 tokens.
    let tree = Tree::new(vec![0; 4], vec![1, 4, 4, 4], vec![0, 10, 10, 10])
        .unwrap()
        .with_sentences(&[0, 2, 2, 2], &[5; 6])
        .unwrap();
    let hits = [
        Hit {
            document: 0,
            node: 1,
        },
        Hit {
            document: 0,
            node: 2,
        },
    ];
    let options = Options {
        sentences: 1,
        ..merged(Mode::SentenceWindow, 100)
    };
    let answer = answer(&[&tree], &hits, &options).unwrap();
    let pieces: Vec<(u32, Option<u32>)> = answer.passages[0]
        .pieces
        .iter()
        .map(|piece| (piece.node, piece.sentence))
        .collect();
    assert_eq!(pieces, [(1, None), (2, None), (3, Some(4))]);
    assert_eq!(answer.tokens, 25);
    // 5 tokens are left for the second hit, of which one sentence is there: its other one fits.
    let tight = Options {
        answer_token_budget: Some(20),
        ..options
    };
    let answer = tree_expand::merge::answer(&[&tree], &hits, &tight).unwrap();
    assert_eq!((answer.tokens, answer.left_out.len()), (20, 0));
}

#[test]
fn windows_of_sentences_that_touch_are_one_passage() {
    let tree = Tree::new(vec![0; 5], vec![1, 4, 4, 4, 4], vec![0, 5, 5, 5, 5])
        .unwrap()
        .with_sentences(&[0, 1, 1, 1, 1], &[5; 4])
        .unwrap();
    let hits = [4, 1, 2].map(|node| Hit { document: 0, node });
    let options = Options {
        sentences: 0,
        ..merged(Mode::SentenceWindow, 100)
    };
    let answer = answer(&[&tree], &hits, &options).unwrap();
    let ranks: Vec<&[usize]> = answer
        .passages
        .iter()
        .map(|passage| passage.hits.as_slice())
        .collect();
    assert_eq!(ranks, [[0].as_slice(), &[1, 2]]);
}

#[test]
fn an_answer_budget_is_shared_in_rank_order() {
    let drawn = Drawn::new(LEAVES);
    let options = Options {
        answer_token_budget: Some(50),
        ..Options::new(Mode::Tree, 30)
    };
    let answer = ask(&drawn, "b h e", &options);
    assert_eq!(all(&drawn, &answer), ["a b* c", "h* i"]);
    assert_eq!(answer.left_out, [2]);
    assert_eq!(answer.passages[1].expansion.budget_tokens, 20);
}

#[test]
fn a_hit_that_is_in_the_answer_already_costs_it_nothing() {
    let drawn = Drawn::new(LEAVES);
    let options = Options {
        answer_token_budget: Some(30),
        ..merged(Mode::Tree, 30)
    };
    let answer = ask(&drawn, "b c a i", &options);
    assert_eq!(all(&drawn, &answer), ["a* b* c*"]);
    assert_eq!(
        (answer.tokens, answer.left_out.as_slice()),
        (30, [3].as_slice())
    );
}

#[test]
fn a_hit_that_is_in_the_answer_already_spends_what_is_left_on_its_context() {
    let drawn = Drawn::new(LEAVES);
    let options = Options {
        answer_token_budget: Some(40),
        ..merged(Mode::Tree, 30)
    };
    let answer = ask(&drawn, "b c", &options);
    assert_eq!(all(&drawn, &answer), ["a b* c* d"]);
    assert_eq!(answer.tokens, 40);
}

#[test]
fn a_smaller_hit_may_still_fit_where_a_larger_one_was_left_out() {
    let drawn = Drawn::new("R0[a10, L90, c10, d5]");
    let options = Options {
        answer_token_budget: Some(15),
        ..merged(Mode::None, 100)
    };
    let answer = ask(&drawn, "a L d", &options);
    assert_eq!(all(&drawn, &answer), ["a*", "d*"]);
    assert_eq!(answer.left_out, [1]);
}

#[test]
fn an_answer_has_its_best_hit_whatever_the_budget() {
    let drawn = Drawn::new("R0[a10, L90, c10]");
    for merge in [false, true] {
        let options = Options {
            answer_token_budget: Some(15),
            merge,
            ..Options::new(Mode::Tree, 100)
        };
        let answer = ask(&drawn, "L c", &options);
        assert_eq!(all(&drawn, &answer), ["L*"]);
        assert!(answer.passages[0].expansion.hit_exceeds_budget);
        assert_eq!(answer.left_out, [1]);
    }
}

#[test]
fn no_hits_are_an_empty_answer() {
    let drawn = Drawn::new(LEAVES);
    for options in [merged(Mode::Tree, 30), Options::new(Mode::Tree, 30)] {
        assert_eq!(
            answer(&[&drawn.tree], &[], &options).unwrap(),
            Answer::default()
        );
    }
}

#[test]
fn a_hit_on_nothing_is_an_error() {
    let drawn = Drawn::new(LEAVES);
    let ask = |document, node| {
        answer(
            &[&drawn.tree],
            &[Hit { document, node }],
            &merged(Mode::Tree, 30),
        )
        .unwrap_err()
    };
    assert_eq!(
        ask(1, 0),
        Error::NoSuchDocument {
            document: 1,
            documents: 1
        }
    );
    assert_eq!(
        ask(0, 10),
        Error::NoSuchNode {
            node: 10,
            nodes: 10
        }
    );
}
