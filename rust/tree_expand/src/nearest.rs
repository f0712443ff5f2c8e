//! LINEAR and `SENTENCE_WINDOW`: the nearest texts, or sentences, on both sides of the hit in
//! document order, wherever in the tree they stand.
//!
//! One after the hit, one before it, in turn. Each side ends at the first that does not fit, so the
//! window is one run of document order; the other side goes on with what is left.

use std::ops::Range;

use crate::budget::Budget;
use crate::trace::{Direction, Expansion, Outcome, Record, Step, StopReason};
use crate::tree::Tree;
use crate::window::Window;

/// Takes the nearest nodes with text, after and before the hit in turn.
pub(crate) fn linear_window<R: Record>(tree: &Tree, hit: u32, budget: Budget) -> Window {
    let own = tree.texts_before(hit)..tree.texts_before(hit + 1);
    let texts = tree.texts();
    let all = 0..tree.texts_before(tree.end(0));
    let node = |text: u32| texts[text as usize];
    let mut walk = Alternating::<R>::new(budget);
    let taken = walk.run(own, all, node, |text| tree.own_tokens(node(text)));
    let mut range = hit..hit + 1;
    if let Some(last) = taken.end.checked_sub(1)
        && !taken.is_empty()
    {
        range = node(taken.start).min(hit)..(node(last) + 1).max(hit + 1);
    }
    let refused = walk.refused;
    Window {
        ranges: vec![range],
        refused,
        ..Window::alone(hit, walk.finish())
    }
}

/// Takes the nearest sentences, after and before the hit in turn, at most `most` on each side.
pub(crate) fn sentence_window<R: Record>(
    tree: &Tree,
    hit: u32,
    budget: Budget,
    most: u32,
) -> Window {
    let own = tree.sentences(hit);
    let first = own.start.saturating_sub(most);
    let end = own.end.saturating_add(most).min(tree.sentence_count());
    let mut walk = Alternating::<R>::new(budget);
    let node = |sentence| tree.sentence_node(sentence);
    let taken = walk.run(own, first..end, node, |sentence| {
        tree.sentence_tokens(sentence)
    });
    let mut range = hit..hit + 1;
    if !taken.is_empty() {
        range = node(taken.start).min(hit)..(node(taken.end - 1) + 1).max(hit + 1);
    }
    let refused = walk.refused;
    let window = Window::alone(hit, walk.finish());
    Window {
        ranges: vec![range],
        sentences: Some(taken),
        refused,
        ..window
    }
}

/// The walk that LINEAR and `SENTENCE_WINDOW` share: numbered pieces around the hit's own, one
/// after, one before, in turn, each side until the first that does not fit.
struct Alternating<R> {
    budget: Budget,
    next: Option<StopReason>,
    previous: Option<StopReason>,
    refused: u32,
    steps: R,
}

impl<R: Record> Alternating<R> {
    fn new(budget: Budget) -> Self {
        Self {
            budget,
            next: None,
            previous: None,
            refused: 0,
            steps: R::default(),
        }
    }

    /// Grows `own` inside `all` and returns what it has become.
    fn run(
        &mut self,
        own: Range<u32>,
        all: Range<u32>,
        node: impl Fn(u32) -> u32,
        tokens: impl Fn(u32) -> u32,
    ) -> Range<u32> {
        let mut taken = own;
        while self.next.is_none() || self.previous.is_none() {
            if self.next.is_none() {
                let at = taken.end;
                self.next = if at == all.end {
                    Some(StopReason::End)
                } else {
                    self.look(Direction::Next, node(at), tokens(at))
                };
                taken.end += u32::from(self.next.is_none());
            }
            if self.previous.is_none() {
                self.previous = match taken
                    .start
                    .checked_sub(1)
                    .filter(|_| taken.start > all.start)
                {
                    None => Some(StopReason::End),
                    Some(at) => self.look(Direction::Previous, node(at), tokens(at)),
                };
                taken.start -= u32::from(self.previous.is_none());
            }
        }
        taken
    }

    /// Takes a piece if it fits; else says why the side ends.
    fn look(&mut self, direction: Direction, node: u32, tokens: u32) -> Option<StopReason> {
        let tokens = u64::from(tokens);
        let fits = self.budget.take(tokens);
        let outcome = if fits { Outcome::Taken } else { Outcome::Stop };
        self.steps.step(Step {
            direction,
            outcome,
            node,
            tokens,
            budget_left: self.budget.left(),
        });
        self.refused += u32::from(!fits);
        (!fits).then_some(StopReason::Budget)
    }

    fn finish(self) -> Expansion {
        let (next, previous) = (
            self.next.unwrap_or_default(),
            self.previous.unwrap_or_default(),
        );
        Expansion {
            next,
            previous,
            ..Expansion::of(self.budget, self.steps)
        }
    }
}
