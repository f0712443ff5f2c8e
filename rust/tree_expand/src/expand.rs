//! TREE: context along the document's tree. Down with STOP, sideways with ROLLBACK, up with
//! ROLLBACK.
//!
//! ```text
//! section+              * = hit    + = picked    · = left out      budget 60
//! ├─ text+ (10)
//! ├─ text* (20)
//! ├─ text+ (25)
//! └─ table· (900)       too large: nothing of it is taken or charged, the right side is closed
//! ```
//!
//! 1. **Down.** The hit's subtree in preorder, each node while its own tokens fit; the first that
//!    does not fit ends the walk and closes the right side. Containers left at the end with nothing
//!    of their inside taken are given back.
//! 2. For each level from the hit to the root:
//!    **Sideways.** Ring by ring the next sibling to the right and to the left, each while its side
//!    is open; in a ring the kind of the level's own node first, then fewer subtree tokens, then
//!    right. A sibling is taken whole, or nothing of it is taken and its side is closed for good.
//!    **Up.** The parent's own text where it fits; else the left side is closed.
//!
//! With `gaps` nothing is closed: a sibling that does not fit is skipped. A refusal then ends its
//! side on its own level only, and only where less is left than the cheapest node of the level that
//! has any tokens: nothing behind it could add text. Siblings of no tokens, which cost nothing, are
//! taken where the walk reaches them, even with an empty budget; the walk itself goes up to the
//! root in every case. So a budget of all tokens takes every node.
//!
//! **Cost.** One look for each sibling and ancestor reached, whole subtrees and the walk down being
//! differences of prefix sums. Without gaps each side is refused once, so the looks are the
//! siblings taken, the ancestors, and two. With gaps they are at most the siblings on the levels
//! from the hit to the root, fewer where the budget runs out.

use std::ops::Range;

use crate::budget::Budget;
use crate::trace::{Direction, Expansion, Outcome, Record, Step, StopReason};
use crate::tree::Tree;
use crate::window::Window;

/// Grows the window of a hit whose own tokens have been taken from the budget.
pub(crate) fn tree_window<R: Record>(tree: &Tree, hit: u32, budget: Budget, gaps: bool) -> Window {
    let mut growth = Growth::<R>::new(tree, hit, budget, gaps);
    growth.down();
    let mut current = hit;
    while current != 0 {
        let parent = tree.parent(current);
        growth.sideways(current, parent);
        growth.up(parent);
        current = parent;
    }
    growth.finish()
}

/// One of the two sides of the hit.
struct Side {
    direction: Direction,
    open: bool,
    stop: StopReason,
}

impl Side {
    fn new(direction: Direction) -> Self {
        Self {
            direction,
            open: true,
            stop: StopReason::End,
        }
    }

    /// The sibling on this side, unless the side is closed.
    fn candidate(&mut self, sibling: Option<u32>) -> Option<u32> {
        if !self.open && sibling.is_some() && self.stop == StopReason::End {
            self.stop = StopReason::Closed;
        }
        sibling.filter(|_| self.open)
    }
}

/// A window in the making.
struct Growth<'a, R> {
    tree: &'a Tree,
    hit: u32,
    budget: Budget,
    gaps: bool,
    /// Taken before the hit, from the hit outwards: descending.
    before: Vec<Range<u32>>,
    /// The hit and what was taken after it: ascending.
    after: Vec<Range<u32>>,
    next: Side,
    previous: Side,
    down: StopReason,
    up: StopReason,
    refused: u32,
    steps: R,
}

impl<'a, R: Record> Growth<'a, R> {
    fn new(tree: &'a Tree, hit: u32, budget: Budget, gaps: bool) -> Self {
        Self {
            tree,
            hit,
            budget,
            gaps,
            before: Vec::new(),
            after: Vec::new(),
            next: Side::new(Direction::Next),
            previous: Side::new(Direction::Previous),
            down: StopReason::End,
            up: StopReason::End,
            refused: 0,
            steps: R::default(),
        }
    }

    fn down(&mut self) {
        let (start, end) = (self.hit + 1, self.tree.end(self.hit));
        let reached = self.tree.reach(start, end, self.budget.left());
        self.note_walk_down(start..reached);
        let mut kept = reached;
        if reached < end {
            let tokens = u64::from(self.tree.own_tokens(reached));
            self.refuse(Direction::Down, Outcome::Stop, reached, tokens);
            self.down = StopReason::Budget;
            self.next.open = self.gaps;
            // The last node taken has its first child right behind it: not taken, so the node is a
            // bare heading.
            while kept > start && self.tree.end(kept - 1) > kept {
                kept -= 1;
                self.give_back(kept);
            }
        }
        self.after.push(self.hit..kept);
    }

    /// Charges the nodes of the walk down, which are known to fit together.
    fn note_walk_down(&mut self, nodes: Range<u32>) {
        if R::KEPT {
            for node in nodes {
                self.look(Direction::Down, node, u64::from(self.tree.own_tokens(node)));
            }
        } else {
            let fits = self.budget.take(self.tree.tokens_in(nodes));
            debug_assert!(fits, "the walk ends before the budget does");
        }
    }

    fn give_back(&mut self, node: u32) {
        let tokens = self.tree.own_tokens(node);
        self.budget.refund(tokens);
        self.refuse(Direction::Down, Outcome::Rollback, node, u64::from(tokens));
    }

    fn sideways(&mut self, current: u32, parent: u32) {
        let mut right = self.next.candidate(self.tree.next_sibling(current));
        let mut left = self.previous.candidate(self.tree.previous_sibling(current));
        let kind = self.tree.kind(current);
        loop {
            let (right_stays, left_stays) = match (right, left) {
                (None, None) => return,
                (Some(right), None) => (self.sibling(Direction::Next, right, parent), false),
                (None, Some(left)) => (false, self.sibling(Direction::Previous, left, parent)),
                (Some(right), Some(left)) if self.left_is_first(left, right, kind) => {
                    let left_stays = self.sibling(Direction::Previous, left, parent);
                    (self.sibling(Direction::Next, right, parent), left_stays)
                }
                (Some(right), Some(left)) => {
                    let right_stays = self.sibling(Direction::Next, right, parent);
                    (right_stays, self.sibling(Direction::Previous, left, parent))
                }
            };
            right = right
                .filter(|_| right_stays)
                .and_then(|node| self.tree.next_sibling(node));
            left = left
                .filter(|_| left_stays)
                .and_then(|node| self.tree.previous_sibling(node));
        }
    }

    /// Whether the left of the two siblings of a ring comes first.
    fn left_is_first(&self, left: u32, right: u32, kind: u8) -> bool {
        let order = |node| (self.tree.kind(node) != kind, self.tree.subtree_tokens(node));
        order(left) < order(right)
    }

    /// Takes a sibling's subtree if it fits. Returns whether its side goes on to the next ring.
    fn sibling(&mut self, direction: Direction, node: u32, parent: u32) -> bool {
        let range = self.tree.subtree(node);
        if self.look(direction, node, self.tree.subtree_tokens(node)) {
            match direction {
                Direction::Next => append(&mut self.after, range),
                _ => prepend(&mut self.before, range),
            }
            return true;
        }
        let side = if direction == self.next.direction {
            &mut self.next
        } else {
            &mut self.previous
        };
        side.stop = StopReason::Budget;
        side.open = self.gaps;
        self.gaps && self.budget.left() >= self.tree.cheapest_child(parent)
    }

    fn up(&mut self, parent: u32) {
        if self.look(
            Direction::Up,
            parent,
            u64::from(self.tree.own_tokens(parent)),
        ) {
            prepend(&mut self.before, parent..parent + 1);
        } else {
            self.up = StopReason::Budget;
            self.previous.open &= self.gaps;
        }
    }

    /// Takes the tokens if they fit, and notes the step.
    #[inline]
    fn look(&mut self, direction: Direction, node: u32, tokens: u64) -> bool {
        if self.budget.take(tokens) {
            let budget_left = self.budget.left();
            self.steps.step(Step {
                direction,
                outcome: Outcome::Taken,
                node,
                tokens,
                budget_left,
            });
            true
        } else {
            self.refuse(direction, Outcome::Rollback, node, tokens);
            false
        }
    }

    fn refuse(&mut self, direction: Direction, outcome: Outcome, node: u32, tokens: u64) {
        self.refused += 1;
        let budget_left = self.budget.left();
        self.steps.step(Step {
            direction,
            outcome,
            node,
            tokens,
            budget_left,
        });
    }

    fn finish(self) -> Window {
        let mut ranges = self.before;
        ranges.reverse();
        for range in self.after {
            append(&mut ranges, range);
        }
        let mut expansion = Expansion::of(self.budget, self.steps);
        expansion.down = self.down;
        expansion.next = self.next.stop;
        expansion.previous = self.previous.stop;
        expansion.up = self.up;
        Window {
            hit: self.hit,
            ranges,
            sentences: None,
            expansion,
            refused: self.refused,
        }
    }
}

/// Adds a range behind all others.
fn append(ranges: &mut Vec<Range<u32>>, range: Range<u32>) {
    match ranges.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => ranges.push(range),
    }
}

/// Adds a range before all others of a descending list.
fn prepend(ranges: &mut Vec<Range<u32>>, range: Range<u32>) {
    match ranges.last_mut() {
        Some(first) if first.start == range.end => first.start = range.start,
        _ => ranges.push(range),
    }
}
