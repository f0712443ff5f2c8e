//! LINEAR, PARENT, `SENTENCE_WINDOW` and NONE on worked examples.
#![allow(clippy::unwrap_used)]

mod common;

use common::Drawn;
use tree_expand::error::Error;
use tree_expand::piece::{self, Piece};
use tree_expand::tree::Tree;
use tree_expand::window::{Mode, Options, window};

fn names(drawing: &str, hit: &str, mode: Mode, budget: u32) -> String {
    let drawn = Drawn::new(drawing);
    drawn.names_of(&drawn.grow(hit, &Options::new(mode, budget)))
}

const BOOK: &str = "R0[S3[a10, b10], T4[c10, d10, e10], U5[f10]]";

#[test]
fn none_is_the_hit_alone() {
    assert_eq!(names(BOOK, "d", Mode::None, 1_000), "d");
}

#[test]
fn parent_is_the_largest_ancestor_that_fits_whole() {
    assert_eq!(names(BOOK, "d", Mode::Parent, 72), "R S a b T c d e U f");
    assert_eq!(names(BOOK, "d", Mode::Parent, 71), "T c d e");
    assert_eq!(names(BOOK, "d", Mode::Parent, 34), "T c d e");
    assert_eq!(names(BOOK, "d", Mode::Parent, 33), "d");
}

#[test]
fn parent_of_a_section_that_does_not_fit_is_its_heading() {
    assert_eq!(names(BOOK, "T", Mode::Parent, 34), "T c d e");
    assert_eq!(names(BOOK, "T", Mode::Parent, 33), "T");
}

#[test]
fn linear_crosses_sections_and_takes_headings_as_texts() {
    assert_eq!(names(BOOK, "d", Mode::Linear, 34), "T c d e");
    // e, c, U, T, f: 10 + 10 + 10 + 5 + 4 + 10.
    assert_eq!(names(BOOK, "d", Mode::Linear, 49), "T c d e U f");
    assert_eq!(names(BOOK, "d", Mode::Linear, 48), "T c d e U");
}

#[test]
fn linear_starts_beside_a_hit_without_text() {
    let tree = Tree::new(
        vec![0, 0, 0, 2, 2],
        vec![1, 3, 2, 3, 3],
        vec![0, 10, 0, 10, 10],
    )
    .unwrap();
    let found = window(&tree, 2, &Options::new(Mode::Linear, 20)).unwrap();
    assert_eq!(found.positions().collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(found.expansion.used_tokens, 20);
}

/// Root; heading of one sentence; two chunks of three sentences each; a chunk of two; all of 5
/// tokens.
fn sentences() -> Tree {
    let own = vec![0, 5, 15, 15, 10];
    Tree::new(vec![0, 0, 1, 1, 0], vec![1, 2, 4, 4, 4], own)
        .unwrap()
        .with_sentences(&[0, 1, 3, 3, 2], &[5; 9])
        .unwrap()
}

/// Sentences by number, whole nodes as `n` and their position.
fn pieces(hit: u32, budget: u32, each_side: u32) -> Vec<String> {
    let tree = sentences();
    let options = Options {
        sentences: each_side,
        ..Options::new(Mode::SentenceWindow, budget)
    };
    let window = window(&tree, hit, &options).unwrap();
    let pieces = piece::of_window(&tree, &window);
    let tokens: u32 = pieces.iter().map(|piece| piece.tokens).sum();
    assert_eq!(tokens, window.expansion.used_tokens);
    assert!(
        pieces.iter().all(|piece| !piece.gap_before),
        "a window of sentences is one run"
    );
    let shown = |piece: &Piece| match piece.sentence {
        Some(sentence) => format!("{sentence}"),
        None => format!("n{}", piece.node),
    };
    pieces.iter().map(shown).collect()
}

#[test]
fn a_sentence_window_crosses_the_borders_of_chunks_and_sections() {
    assert_eq!(pieces(3, 1_000, 2), ["2", "3", "n3", "7", "8"]);
    assert_eq!(pieces(3, 1_000, 4), ["0", "1", "2", "3", "n3", "7", "8"]);
    assert_eq!(pieces(2, 1_000, 3), ["0", "n2", "4", "5", "6"]);
}

#[test]
fn a_sentence_window_takes_the_nearest_first_and_right_before_left() {
    assert_eq!(pieces(3, 19, 3), ["n3"]);
    assert_eq!(pieces(3, 20, 3), ["n3", "7"]);
    assert_eq!(pieces(3, 25, 3), ["3", "n3", "7"]);
    assert_eq!(pieces(3, 30, 3), ["3", "n3", "7", "8"]);
    assert_eq!(pieces(3, 1_000, 0), ["n3"]);
}

#[test]
fn a_sentence_window_around_a_hit_without_text_starts_at_its_place() {
    assert_eq!(pieces(0, 1_000, 2), ["n0", "0", "1"]);
}

#[test]
fn a_text_without_sentences_is_a_gap_between_sentences() {
    let tree = Tree::new(vec![0; 4], vec![1, 3, 3, 3], vec![0, 5, 5, 5])
        .unwrap()
        .with_sentences(&[0, 1, 0, 1], &[5, 5])
        .unwrap();
    let found = window(&tree, 1, &Options::new(Mode::SentenceWindow, 100)).unwrap();
    let gaps: Vec<(u32, bool)> = piece::of_window(&tree, &found)
        .iter()
        .map(|piece| (piece.node, piece.gap_before))
        .collect();
    assert_eq!(gaps, [(1, false), (3, true)]);
}

#[test]
fn a_tree_without_sentences_has_windows_of_the_hit_alone() {
    let tree = Tree::new(vec![0, 0, 0], vec![1, 3, 3], vec![0, 5, 5]).unwrap();
    let found = window(&tree, 1, &Options::new(Mode::SentenceWindow, 100)).unwrap();
    assert_eq!(piece::of_window(&tree, &found).len(), 1);
}

#[test]
fn modes_have_the_numbers_of_the_interface() {
    let modes: Vec<Mode> = (1..=5)
        .map(|number| Mode::try_from(number).unwrap())
        .collect();
    let right = [
        Mode::None,
        Mode::Tree,
        Mode::SentenceWindow,
        Mode::Linear,
        Mode::Parent,
    ];
    assert_eq!(modes, right);
    assert_eq!(Mode::try_from(0), Err(Error::UnknownMode(0)));
}

#[test]
fn a_hit_outside_the_tree_is_an_error() {
    let drawn = Drawn::new("R0[a5]");
    let error = window(&drawn.tree, 2, &Options::new(Mode::Tree, 10)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no node 2; the tree has 2 nodes, 0 to 1"
    );
}
