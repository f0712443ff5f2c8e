//! The answer of several hits: one budget shared in rank order, and windows of one document united
//! into passages.
//!
//! **Budgets.** Hits are served best first; each gets `token_budget`, or what is left of
//! `answer_token_budget`. A hit whose own text exceeds its `token_budget` comes alone. A hit whose
//! own text exceeds what is left for the answer is left out, so that the bound holds, unless
//! nothing was served before it: an answer has its best hit.
//!
//! **Passages** (`merge`). A text is delivered once in an answer and charged once; windows of one
//! document that meet are one passage, see [`crate::passage`]. Passages come in the order of their
//! best hits.

use crate::budget::Allowance;
use crate::error::{Error, Result};
use crate::passage::Share;
use crate::piece::{self, Piece};
use crate::trace::Expansion;
use crate::tree::Tree;
use crate::window::{Options, window};

/// A node that was found, in one of the documents of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Index of the document.
    pub document: usize,
    /// Position of the node.
    pub node: u32,
}

/// One result: the window of a hit, or several united.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Index of the document.
    pub document: usize,
    /// Ranks of the hits in it, best first: indices into the hits given. Exactly one without
    /// merging.
    pub hits: Vec<usize>,
    /// The texts in document order, every hit among them.
    pub pieces: Vec<Piece>,
    /// Tokens of the texts.
    pub tokens: u64,
    /// How the window of the best hit was grown.
    pub expansion: Expansion,
}

/// What is returned for the hits of one query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The results, best first.
    pub passages: Vec<Passage>,
    /// Tokens of all texts.
    pub tokens: u64,
    /// Ranks of the hits that the answer's budget had no room for.
    pub left_out: Vec<usize>,
}

/// The answer to hits, best first, on documents of which `trees` are the trees.
///
/// With `options.merge` a hit given twice counts once, at its better rank.
///
/// ```
/// use tree_expand::{merge::{Hit, answer}, tree::Tree, window::{Mode, Options}};
///
/// let tree = Tree::new(vec![0; 6], vec![1, 3, 3, 3, 3, 3], vec![0, 10, 10, 10, 10, 10])?;
/// let hits = [Hit { document: 0, node: 4 }, Hit { document: 0, node: 2 }];
/// let options = Options { merge: true, ..Options::new(Mode::Tree, 30) };
/// let answer = answer(&[&tree], &hits, &options)?;
/// assert_eq!(answer.passages.len(), 1);
/// assert_eq!(answer.passages[0].hits, [0, 1]);
/// assert_eq!(answer.tokens, 50);
/// # Ok::<(), tree_expand::error::Error>(())
/// ```
///
/// # Errors
/// A hit names a document or a node that is not there.
pub fn answer(trees: &[&Tree], hits: &[Hit], options: &Options) -> Result<Answer> {
    for hit in hits {
        let documents = trees.len();
        let tree = trees.get(hit.document);
        let missing = Error::NoSuchDocument {
            document: hit.document,
            documents,
        };
        tree.ok_or(missing)?.check(hit.node)?;
    }
    let mut answer = Answer::default();
    if options.merge {
        united(trees, hits, options, &mut answer)?;
    } else {
        separate(trees, hits, options, &mut answer)?;
    }
    answer.tokens = answer.passages.iter().map(|passage| passage.tokens).sum();
    Ok(answer)
}

/// Every hit with its own window.
fn separate(trees: &[&Tree], hits: &[Hit], options: &Options, answer: &mut Answer) -> Result<()> {
    let mut allowance = Allowance::new(options.token_budget, options.answer_token_budget);
    for (rank, hit) in hits.iter().enumerate() {
        let tree = trees[hit.document];
        let own = u64::from(tree.own_tokens(hit.node));
        if !allowance.admits(own) && !answer.passages.is_empty() {
            answer.left_out.push(rank);
            continue;
        }
        let options = Options {
            token_budget: allowance.of_hit(0),
            ..*options
        };
        let window = window(tree, hit.node, &options)?;
        let tokens = u64::from(window.expansion.used_tokens);
        allowance.charge(tokens);
        answer.passages.push(Passage {
            document: hit.document,
            hits: vec![rank],
            pieces: piece::of_window(tree, &window),
            tokens,
            expansion: window.expansion,
        });
    }
    Ok(())
}

/// Passages of windows that meet.
fn united(trees: &[&Tree], hits: &[Hit], options: &Options, answer: &mut Answer) -> Result<()> {
    let mut allowance = Allowance::new(options.token_budget, options.answer_token_budget);
    let mut shares: Vec<Option<Share>> = trees.iter().map(|_| None).collect();
    let mut served = false;
    for (rank, hit) in hits.iter().enumerate() {
        let share = shares[hit.document].get_or_insert_with(|| Share::new(trees[hit.document]));
        if share.has_hit(hit.node) {
            continue;
        }
        let price = share.price(hit.node, options.mode);
        if !allowance.admits(price) && served {
            answer.left_out.push(rank);
            continue;
        }
        let own = u64::from(share.tree.own_tokens(hit.node));
        let options = Options {
            token_budget: allowance.of_hit(own - price),
            ..*options
        };
        allowance.charge(share.add(rank, window(share.tree, hit.node, &options)?));
        served = true;
    }
    for (document, share) in shares.into_iter().enumerate() {
        answer
            .passages
            .extend(share.into_iter().flat_map(|share| share.passages(document)));
    }
    answer.passages.sort_by_key(|passage| passage.hits[0]);
    Ok(())
}
