//! The window of one hit: the context modes, the one rule they share, and the modes that need no
//! walk along the tree.
//!
//! The shared rule: a hit whose own text exceeds the budget comes alone and whole, and says so. In
//! every other case the tokens of the texts in the window are within the budget, and are exactly
//! what was charged.

use std::ops::Range;

use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::trace::{Direction, Expansion, Outcome, Record, Step, StopReason};
use crate::tree::Tree;
use crate::{expand, nearest};

/// How context grows. The numbers are those of `treespan.v1.ContextOptions.Mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(i32)]
pub enum Mode {
    /// The hit alone.
    None = 1,
    /// Along the tree: down, sideways, up; see [`crate::expand`].
    #[default]
    Tree = 2,
    /// The sentences before and after the hit in document order, across the borders of nodes.
    SentenceWindow = 3,
    /// The nearest texts in document order, after and before the hit in turn.
    Linear = 4,
    /// The largest ancestor whose whole subtree fits.
    Parent = 5,
}

impl TryFrom<i32> for Mode {
    type Error = Error;

    fn try_from(number: i32) -> Result<Self> {
        [
            Self::None,
            Self::Tree,
            Self::SentenceWindow,
            Self::Linear,
            Self::Parent,
        ]
        .into_iter()
        .find(|&mode| mode as i32 == number)
        .ok_or(Error::UnknownMode(number))
    }
}

/// How the windows of an answer are grown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How context grows.
    pub mode: Mode,
    /// Tokens for each hit with its context.
    pub token_budget: u32,
    /// Tokens for the whole answer, or no such bound; see [`crate::merge`].
    pub answer_token_budget: Option<u32>,
    /// TREE: skips a sibling that does not fit and goes on behind it.
    pub gaps: bool,
    /// Unites the windows of one document into passages; see [`crate::merge`].
    pub merge: bool,
    /// `SENTENCE_WINDOW`: sentences on each side.
    pub sentences: u32,
    /// Keeps the steps.
    pub trace: bool,
}

impl Options {
    /// A mode with a budget for each hit; no answer budget, no gaps, no merging, 3 sentences, no
    /// steps.
    #[must_use]
    pub fn new(mode: Mode, token_budget: u32) -> Self {
        Self {
            mode,
            token_budget,
            answer_token_budget: None,
            gaps: false,
            merge: false,
            sentences: 3,
            trace: false,
        }
    }
}

/// A hit and the context around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Position of the hit.
    pub hit: u32,
    /// Positions taken, the hit among them: ascending ranges that neither overlap nor touch. Nodes
    /// without text may be among them and contribute nothing. In `SENTENCE_WINDOW`: from the first
    /// node with a sentence in it to the last.
    pub ranges: Vec<Range<u32>>,
    /// Numbers of the sentences taken, the hit's own among them; in `SENTENCE_WINDOW` only.
    pub sentences: Option<Range<u32>>,
    /// How it was grown.
    pub expansion: Expansion,
    /// Nodes looked at and not taken.
    pub refused: u32,
}

impl Window {
    /// Positions taken, ascending.
    pub fn positions(&self) -> impl Iterator<Item = u32> + '_ {
        self.ranges.iter().cloned().flatten()
    }

    /// Number of nodes taken.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ranges.iter().map(ExactSizeIterator::len).sum()
    }

    /// Always false: the hit is in its window.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The hit alone.
    pub(crate) fn alone(hit: u32, expansion: Expansion) -> Self {
        let ranges = std::iter::once(hit..hit + 1).collect();
        Self {
            hit,
            ranges,
            sentences: None,
            expansion,
            refused: 0,
        }
    }
}

/// The window of one hit, by `options.mode`, within `options.token_budget`.
///
/// ```
/// use tree_expand::tree::Tree;
/// use tree_expand::window::{Mode, Options, window};
///
/// // A chapter (3) of three texts (10 each), the middle one hit with 25 tokens to spend.
/// let tree = Tree::new(vec![0, 0, 1, 1, 1], vec![1, 2, 3, 3, 3], vec![0, 3, 10, 10, 10])?;
/// let found = window(&tree, 3, &Options::new(Mode::Tree, 25))?;
/// assert_eq!(found.positions().collect::<Vec<_>>(), [0, 1, 3, 4]);
/// assert_eq!(found.expansion.used_tokens, 23);
/// # Ok::<(), tree_expand::error::Error>(())
/// ```
///
/// # Errors
/// The tree has no such node.
pub fn window(tree: &Tree, hit: u32, options: &Options) -> Result<Window> {
    tree.check(hit)?;
    Ok(if options.trace {
        grow::<Vec<Step>>(tree, hit, options)
    } else {
        grow::<()>(tree, hit, options)
    })
}

fn grow<R: Record>(tree: &Tree, hit: u32, options: &Options) -> Window {
    let mut budget = Budget::new(options.token_budget);
    let own = tree.own_tokens(hit);
    let exceeds = !budget.take(u64::from(own));
    let expansion = Expansion {
        budget_tokens: options.token_budget,
        used_tokens: own,
        hit_exceeds_budget: exceeds,
        ..Expansion::default()
    };
    if exceeds {
        let sentences = (options.mode == Mode::SentenceWindow).then(|| tree.sentences(hit));
        return Window {
            sentences,
            ..Window::alone(hit, expansion)
        };
    }
    match options.mode {
        Mode::None => Window::alone(hit, expansion),
        Mode::Tree => expand::tree_window::<R>(tree, hit, budget, options.gaps),
        Mode::SentenceWindow => nearest::sentence_window::<R>(tree, hit, budget, options.sentences),
        Mode::Linear => nearest::linear_window::<R>(tree, hit, budget),
        Mode::Parent => parent_window::<R>(tree, hit, budget),
    }
}

/// Climbs while the whole subtree of the next ancestor fits. The first step is the hit's own
/// subtree.
fn parent_window<R: Record>(tree: &Tree, hit: u32, mut budget: Budget) -> Window {
    let mut steps = R::default();
    let mut taken = hit..hit + 1;
    let mut refused = 0;
    let (mut down, mut up) = (StopReason::End, StopReason::Untried);
    for node in std::iter::once(hit).chain(tree.ancestors(hit)) {
        let (direction, stop) = if node == hit {
            (Direction::Down, &mut down)
        } else {
            (Direction::Up, &mut up)
        };
        let tokens = tree.subtree_tokens(node) - tree.tokens_in(taken.clone());
        let fits = budget.take(tokens);
        let outcome = if fits {
            Outcome::Taken
        } else {
            Outcome::Rollback
        };
        steps.step(Step {
            direction,
            outcome,
            node,
            tokens,
            budget_left: budget.left(),
        });
        if !fits {
            *stop = StopReason::Budget;
            refused = 1;
            break;
        }
        *stop = StopReason::End;
        taken = tree.subtree(node);
    }
    let mut expansion = Expansion::of(budget, steps);
    expansion.down = down;
    expansion.up = if hit == 0 { StopReason::End } else { up };
    Window {
        ranges: vec![taken],
        refused,
        ..Window::alone(hit, expansion)
    }
}
