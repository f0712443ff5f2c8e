//! The worked examples of the design, E1 to E11, W1 and W2, for both settings of gaps, and P-01 to
//! P-08 where they concern the core.
#![allow(clippy::unwrap_used)]

mod common;

use common::Drawn;
use tree_expand::merge::{Hit, answer};
use tree_expand::piece;
use tree_expand::trace::{Outcome, StopReason};
use tree_expand::tree::Tree;
use tree_expand::window::{Mode, Options, Window, window};

/// Grows a window and checks what must hold of each: the charge is the tokens of what is returned.
fn grown(drawing: &str, hit: &str, budget: u32, gaps: bool) -> String {
    let drawn = Drawn::new(drawing);
    let window = drawn.tree_window(hit, budget, gaps);
    let pieces = piece::of_window(&drawn.tree, &window);
    let delivered: u32 = pieces.iter().map(|piece| piece.tokens).sum();
    assert_eq!(window.expansion.used_tokens, delivered);
    assert_eq!(
        window
            .positions()
            .map(|node| drawn.tree.own_tokens(node))
            .sum::<u32>(),
        delivered
    );
    format!("{} = {delivered}", drawn.names_of(&window))
}

macro_rules! examples {
    ($($name:ident: $drawing:literal, $hit:literal / $budget:literal,
       contiguous $contiguous:literal, gaps $gaps:literal;)*) => {$(
        #[test]
        fn $name() {
            assert_eq!(grown($drawing, $hit, $budget, false), $contiguous, "without gaps");
            assert_eq!(grown($drawing, $hit, $budget, true), $gaps, "with gaps");
        }
    )*};
}

examples! {
    e1_half_of_a_sibling_is_never_kept: "R0[A10, B5[B1 10, B2 10, B3 50]]", "A" / 40,
        contiguous "R A = 10", gaps "R A = 10";
    e2_a_refused_left_sibling_leaks_nothing: "R0[B15[B1 50, B2 10, B3 10], A10]", "A" / 60,
        contiguous "R A = 10", gaps "R A = 10";
    e3_every_direction_fails_on_its_own: "R0[S3[P2, H0[h1 10, h2 90], N2]]", "H" / 50,
        contiguous "R S P H h1 = 15", gaps "R S P H h1 N = 17";
    e4_down_stops_inside_a_section: "R0[H2[X2[x1 10, x2 10, x3 40]]]", "H" / 30,
        contiguous "R H X x1 x2 = 24", gaps "R H X x1 x2 = 24";
    e5_the_root_costs_its_own_text_only: "R0[A10, B10, C10, D10]", "B" / 100,
        contiguous "R A B C D = 40", gaps "R A B C D = 40";
    e6_gaps_skip_what_does_not_fit: "R0[a3, L60, H10, Q60, z3]", "H" / 40,
        contiguous "R H = 10", gaps "R a H z = 16";
    e7_the_heading_comes_though_a_sibling_does_not: "R0[S3[H10, B60]]", "H" / 40,
        contiguous "R S H = 13", gaps "R S H = 13";
    e8_no_bare_heading_of_a_refused_section: "R0[S2[H10], T4[t1 80], U4[u1 80]]", "H" / 60,
        contiguous "R S H = 12", gaps "R S H = 12";
    e9_down_takes_a_prefix: "R0[H2[X5, Y2[y1 10, y2 10, y3 40]]]", "H" / 40,
        contiguous "R H X Y y1 y2 = 29", gaps "R H X Y y1 y2 = 29";
    e10_down_stops_for_good: "R0[H2[Y2[y1 10, y2 10, y3 40], X5]]", "H" / 40,
        contiguous "R H Y y1 y2 = 24", gaps "R H Y y1 y2 = 24";
    e11_a_refund_lets_the_far_sibling_in: "R0[B15[B1 50, B2 3], A10, C5, z14]", "A" / 45,
        contiguous "R A C z = 29", gaps "R A C z = 29";
    w1_rings_around_the_hit: "R0[S4[a10, b10, c10, d10, e10, f10, g10]]", "d" / 45,
        contiguous "R S c d e f = 44", gaps "R S c d e f = 44";
    w2_the_smaller_section_comes_first: "R0[S1 2[a10, b10], S2 2[H10, c10], S3 2[d30]]", "H" / 60,
        contiguous "R S1 a b S2 H c = 44", gaps "R S1 a b S2 H c = 44";
}

#[test]
fn p01_everything_before_and_after_comes_in_document_order_on_every_call() {
    let names: Vec<String> = (0..12).map(|number| format!("p{number} 7")).collect();
    let drawn = Drawn::new(&format!("R0[{}]", names.join(", ")));
    for _ in 0..3 {
        let window = drawn.tree_window("p6", 1_000_000, false);
        let all = "R p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 p10 p11";
        assert_eq!(drawn.names_of(&window), all);
    }
}

#[test]
fn p02_a_refusal_is_reported_for_its_direction() {
    let drawn = Drawn::new("R0[S2[H10], T4[t1 80], U4[u1 80]]");
    let expansion = drawn.tree_window("H", 60, false).expansion;
    assert_eq!(expansion.next, StopReason::Budget);
    assert_eq!(expansion.previous, StopReason::End);
    assert_eq!(expansion.down, StopReason::End);
    assert_eq!(expansion.up, StopReason::End);
    let refused = expansion
        .steps
        .iter()
        .find(|step| step.outcome == Outcome::Rollback)
        .unwrap();
    assert_eq!(
        (
            drawn.name(refused.node),
            refused.tokens,
            refused.budget_left
        ),
        ("T", 84, 48)
    );
}

#[test]
fn p05_a_flat_document_needs_its_tokens_once() {
    let names: Vec<String> = (0..10).map(|number| format!("p{number} 10")).collect();
    let drawn = Drawn::new(&format!("R0[{}]", names.join(", ")));
    assert_eq!(drawn.tree_window("p5", 100, false).len(), 11);
    assert_eq!(drawn.tree_window("p5", 99, false).expansion.used_tokens, 90);
}

#[test]
fn p06a_a_table_costs_what_it_delivers() {
    let tree = table(500, 13);
    let found = window(&tree, 1, &Options::new(Mode::Tree, 100_000)).unwrap();
    assert_eq!(found.expansion.used_tokens, 8 + 500 * 13);
    assert_eq!(delivered(&tree, &found), 8 + 500 * 13);
}

#[test]
fn p06b_rows_of_a_table_come_once_and_within_the_budget() {
    let tree = table(20, 27);
    let found = window(&tree, 12, &Options::new(Mode::Tree, 400)).unwrap();
    let mut nodes: Vec<u32> = piece::of_window(&tree, &found)
        .iter()
        .map(|piece| piece.node)
        .collect();
    assert_eq!(found.expansion.used_tokens, 8 + 14 * 27);
    assert!(delivered(&tree, &found) <= 400);
    nodes.dedup();
    assert_eq!(nodes.len(), 15, "caption and 14 rows, each once");
}

#[test]
fn p07_a_hit_larger_than_its_budget_comes_whole_and_alone() {
    let drawn = Drawn::new("R0[S3[a1, H50, z1]]");
    for mode in [
        Mode::None,
        Mode::Tree,
        Mode::SentenceWindow,
        Mode::Linear,
        Mode::Parent,
    ] {
        let window = drawn.grow("H", &Options::new(mode, 49));
        assert_eq!(drawn.names_of(&window), "H");
        assert!(window.expansion.hit_exceeds_budget);
        assert_eq!(
            (window.expansion.budget_tokens, window.expansion.used_tokens),
            (49, 50)
        );
        assert_eq!(window.expansion.up, StopReason::Untried);
        let pieces = piece::of_window(&drawn.tree, &window);
        assert_eq!(
            (pieces.len(), pieces[0].tokens, pieces[0].hit),
            (1, 50, true)
        );
    }
}

#[test]
fn p08_in_a_ring_the_same_kind_comes_before_the_smaller_and_the_smaller_before_the_right() {
    let left_of_its_kind = Drawn::new("R0[a9, h5, B3]");
    assert_eq!(
        left_of_its_kind.names_of(&left_of_its_kind.tree_window("h", 16, false)),
        "R a h"
    );
    let left_smaller = Drawn::new("R0[a8, h5, b9]");
    assert_eq!(
        left_smaller.names_of(&left_smaller.tree_window("h", 16, false)),
        "R a h"
    );
    let equal = Drawn::new("R0[a8, h5, b8]");
    assert_eq!(equal.names_of(&equal.tree_window("h", 16, false)), "R h b");
}

#[test]
fn the_root_may_be_a_hit() {
    let drawn = Drawn::new("R0[S3[a10, b10], c10]");
    assert_eq!(
        drawn.names_of(&drawn.tree_window("R", 23, false)),
        "R S a b"
    );
    let trees = [&drawn.tree];
    let whole = answer(
        &trees,
        &[Hit {
            document: 0,
            node: 0,
        }],
        &Options::new(Mode::Tree, 50),
    );
    let passage = &whole.unwrap().passages[0];
    let nodes: Vec<u32> = passage.pieces.iter().map(|piece| piece.node).collect();
    assert_eq!(
        nodes,
        [0, 1, 2, 3, 4],
        "the hit is a piece though it has no text"
    );
}

/// A root, a table with a caption of 8 tokens, its rows.
fn table(rows: usize, tokens: u32) -> Tree {
    let parent = [0, 0]
        .into_iter()
        .chain(std::iter::repeat_n(1, rows))
        .collect();
    let kind = [1, 6]
        .into_iter()
        .chain(std::iter::repeat_n(7, rows))
        .collect();
    let own = [0, 8]
        .into_iter()
        .chain(std::iter::repeat_n(tokens, rows))
        .collect();
    Tree::new(parent, kind, own).unwrap()
}

fn delivered(tree: &Tree, window: &Window) -> u32 {
    piece::of_window(tree, window)
        .iter()
        .map(|piece| piece.tokens)
        .sum()
}
