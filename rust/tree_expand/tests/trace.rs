//! The steps of an expansion, exactly, and why each direction ended.
#![allow(clippy::unwrap_used)]

mod common;

use common::Drawn;
use tree_expand::trace::{Direction, Expansion, Outcome, StopReason};
use tree_expand::window::{Mode, Options};

/// Steps as `DIRECTION node OUTCOME tokens -> left`, one a line.
fn steps(drawn: &Drawn, expansion: &Expansion) -> Vec<String> {
    let line = |step: &tree_expand::trace::Step| {
        let direction = match step.direction {
            Direction::Down => "DOWN",
            Direction::Next => "NEXT",
            Direction::Previous => "PREVIOUS",
            Direction::Up => "UP",
        };
        let outcome = match step.outcome {
            Outcome::Taken => "TAKEN",
            Outcome::Stop => "STOP",
            Outcome::Rollback => "ROLLBACK",
        };
        let name = drawn.name(step.node);
        format!(
            "{direction} {name} {outcome} {} -> {}",
            step.tokens, step.budget_left
        )
    };
    expansion.steps.iter().map(line).collect()
}

/// Down, next, previous, up.
fn ends(expansion: &Expansion) -> [StopReason; 4] {
    [
        expansion.down,
        expansion.next,
        expansion.previous,
        expansion.up,
    ]
}

#[test]
fn w1_step_by_step() {
    let drawn = Drawn::new("R0[S4[a10, b10, c10, d10, e10, f10, g10]]");
    let expansion = drawn.tree_window("d", 45, false).expansion;
    let right = [
        "NEXT e TAKEN 10 -> 25",
        "PREVIOUS c TAKEN 10 -> 15",
        "NEXT f TAKEN 10 -> 5",
        "PREVIOUS b ROLLBACK 10 -> 5",
        "NEXT g ROLLBACK 10 -> 5",
        "UP S TAKEN 4 -> 1",
        "UP R TAKEN 0 -> 1",
    ];
    assert_eq!(steps(&drawn, &expansion), right);
    let right = [
        StopReason::End,
        StopReason::Budget,
        StopReason::Budget,
        StopReason::End,
    ];
    assert_eq!(ends(&expansion), right);
    assert_eq!((expansion.budget_tokens, expansion.used_tokens), (45, 44));
}

#[test]
fn a_heading_at_the_end_of_the_walk_down_is_given_back_and_refunded() {
    let drawn = Drawn::new("R0[H2[a10, X3[Y4[y90]]], c10]");
    let expansion = drawn.tree_window("H", 20, false).expansion;
    let right = [
        "DOWN a TAKEN 10 -> 8",
        "DOWN X TAKEN 3 -> 5",
        "DOWN Y TAKEN 4 -> 1",
        "DOWN y STOP 90 -> 1",
        "DOWN Y ROLLBACK 4 -> 5",
        "DOWN X ROLLBACK 3 -> 8",
        "UP R TAKEN 0 -> 8",
    ];
    assert_eq!(steps(&drawn, &expansion), right);
    let right = [
        StopReason::Budget,
        StopReason::Closed,
        StopReason::End,
        StopReason::End,
    ];
    assert_eq!(
        ends(&expansion),
        right,
        "c is behind the text that did not fit"
    );
    assert_eq!(expansion.used_tokens, 12);
}

#[test]
fn a_closed_side_with_nothing_on_it_has_come_to_its_end() {
    let drawn = Drawn::new("R0[a10, H2[x90]]");
    let expansion = drawn.tree_window("H", 20, false).expansion;
    assert_eq!(expansion.down, StopReason::Budget);
    assert_eq!(expansion.next, StopReason::End);
}

#[test]
fn a_heading_that_does_not_fit_closes_the_left_side() {
    let drawn = Drawn::new("R0[a1, S50[h10], z1]");
    let contiguous = drawn.tree_window("h", 20, false);
    assert_eq!(drawn.names_of(&contiguous), "R h z");
    let right = [
        StopReason::End,
        StopReason::End,
        StopReason::Closed,
        StopReason::Budget,
    ];
    assert_eq!(ends(&contiguous.expansion), right);
    let gaps = drawn.tree_window("h", 20, true);
    assert_eq!(drawn.names_of(&gaps), "R a h z");
    let right = [
        StopReason::End,
        StopReason::End,
        StopReason::End,
        StopReason::Budget,
    ];
    assert_eq!(ends(&gaps.expansion), right);
}

#[test]
fn with_nothing_left_what_costs_nothing_is_still_taken() {
    let drawn = Drawn::new("R0[a0, h10, b0, c0, d5, e0]");
    assert_eq!(
        drawn.names_of(&drawn.tree_window("h", 10, false)),
        "R a h b c"
    );
    // With gaps too: d is refused with less left than the cheapest sibling costs, so nothing behind
    // it could add text.
    assert_eq!(
        drawn.names_of(&drawn.tree_window("h", 10, true)),
        "R a h b c"
    );
    assert_eq!(
        drawn.names_of(&drawn.tree_window("h", 15, false)),
        "R a h b c d e"
    );
}

#[test]
fn with_gaps_a_level_is_left_once_nothing_on_it_can_fit() {
    let names: Vec<String> = (0..1_000).map(|number| format!("p{number} 20")).collect();
    let drawn = Drawn::new(&format!("R0[{}]", names.join(", ")));
    let window = drawn.tree_window("p500", 39, true);
    assert_eq!(
        (window.len(), window.refused),
        (2, 2),
        "the hit and the root; one look each side"
    );
}

#[test]
fn parent_tells_the_ancestor_that_was_too_large() {
    let drawn = Drawn::new("R0[S3[a10, b10], c90]");
    let options = Options {
        trace: true,
        ..Options::new(Mode::Parent, 30)
    };
    let expansion = drawn.grow("b", &options).expansion;
    let right = [
        "DOWN b TAKEN 0 -> 20",
        "UP S TAKEN 13 -> 7",
        "UP R ROLLBACK 90 -> 7",
    ];
    assert_eq!(steps(&drawn, &expansion), right);
    assert_eq!(expansion.up, StopReason::Budget);
}

#[test]
fn linear_stops_each_side_at_the_first_that_does_not_fit() {
    let drawn = Drawn::new("R0[a5, b10, h10, c30, d5]");
    let options = Options {
        trace: true,
        ..Options::new(Mode::Linear, 39)
    };
    let window = drawn.grow("h", &options);
    let right = [
        "NEXT c STOP 30 -> 29",
        "PREVIOUS b TAKEN 10 -> 19",
        "PREVIOUS a TAKEN 5 -> 14",
    ];
    assert_eq!(steps(&drawn, &window.expansion), right);
    let right = [
        StopReason::Untried,
        StopReason::Budget,
        StopReason::End,
        StopReason::Untried,
    ];
    assert_eq!(ends(&window.expansion), right);
    assert_eq!(drawn.names_of(&window), "a b h");
}

#[test]
fn steps_are_kept_only_where_they_are_asked_for() {
    let drawn = Drawn::new("R0[a5, h10]");
    for mode in [Mode::Tree, Mode::Linear, Mode::Parent] {
        assert!(
            drawn
                .grow("h", &Options::new(mode, 100))
                .expansion
                .steps
                .is_empty()
        );
    }
}
