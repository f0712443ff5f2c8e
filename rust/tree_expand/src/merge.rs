//! The answer of several hits: one budget shared in rank order, and windows of one document united into passages.
//!
//! **Budgets.** Hits are served best first; each gets `token_budget`, or what is left of `answer_token_budget`. A hit
//! whose own text exceeds its `token_budget` comes alone. A hit whose own text exceeds what is left for the answer is left
//! out, so that the bound holds, unless nothing was served before it: an answer has its best hit.
//!
//! **Passages** (`merge`). Every hit's window is the same as without merging, so passages depend on positions and not
//! on the order in which windows meet. A text is delivered once in an answer and charged once. Two texts of a document
//! that were both taken belong together where no text lies between them that was not taken. So the texts taken fall into
//! runs:
//!
//! ```text
//! taken      H  ·  c  d* e  f* g  S  ·  ·  x*       * = hit    · = not taken    H, S = headings above later texts
//! runs      (H)   (c  d* e  f* g)(S)      (x*)
//! passages   H of d or f, with (c .. g)      S with (x*)
//! ```
//!
//! - A run with a hit in it is a passage. All windows that overlap or touch are in one, over any number of steps.
//! - Headings at the end of a run whose texts below are not in it belong to what follows, and are cut off from it,
//!   unless they are hits themselves.
//! - What has no hit in its run (headings above a gap; with `gaps` also what lies behind one) goes, text by text, to the
//!   passage of the best hit that took it. A heading above two passages is so delivered with the better one.
//!
//! Passages come in the order of their best hits.

use std::ops::Range;

use crate::budget::Allowance;
use crate::error::{Error, Result};
use crate::piece::{self, Piece};
use crate::ranges::Ranges;
use crate::trace::Expansion;
use crate::tree::Tree;
use crate::window::{Mode, Options, Window, window};

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
    /// Ranks of the hits in it, best first: indices into the hits given. Exactly one without merging.
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
        let missing = Error::NoSuchDocument { document: hit.document, documents };
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
        let options = Options { token_budget: allowance.of_hit(0), ..*options };
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
        let options = Options { token_budget: allowance.of_hit(own - price), ..*options };
        allowance.charge(share.add(rank, window(share.tree, hit.node, &options)?));
        served = true;
    }
    for (document, share) in shares.into_iter().enumerate() {
        answer.passages.extend(share.into_iter().flat_map(|share| share.passages(document)));
    }
    answer.passages.sort_by_key(|passage| passage.hits[0]);
    Ok(())
}

/// What one document gives to the answer.
struct Share<'a> {
    tree: &'a Tree,
    /// Positions delivered, or in `SENTENCE_WINDOW` numbers of sentences.
    delivered: Ranges,
    /// Windows in rank order, each with what it was the first to bring.
    windows: Vec<Brought>,
}

/// A window and what no better hit brought before.
struct Brought {
    rank: usize,
    window: Window,
    fresh: Vec<Range<u32>>,
}

impl<'a> Share<'a> {
    fn new(tree: &'a Tree) -> Self {
        Self { tree, delivered: Ranges::default(), windows: Vec::new() }
    }

    fn has_hit(&self, node: u32) -> bool {
        self.windows.iter().any(|brought| brought.window.hit == node)
    }

    /// Tokens that a new hit's own text adds to the answer.
    fn price(&self, node: u32, mode: Mode) -> u64 {
        let own = u64::from(self.tree.own_tokens(node));
        if mode == Mode::SentenceWindow {
            let sentences = self.tree.sentences(node);
            let missing = self.delivered.missing(std::slice::from_ref(&sentences));
            let delivered = self.tree.sentence_tokens_in(sentences) - self.sentence_tokens(&missing);
            own.saturating_sub(delivered)
        } else if self.delivered.contains(node) {
            0
        } else {
            own
        }
    }

    /// Adds a window and returns the tokens that are new.
    fn add(&mut self, rank: usize, window: Window) -> u64 {
        let Some(sentences) = window.sentences.clone() else {
            let fresh = self.delivered.add(&window.ranges);
            let tokens = fresh.iter().map(|range| self.tree.tokens_in(range.clone())).sum();
            self.windows.push(Brought { rank, window, fresh });
            return tokens;
        };
        let price = self.price(window.hit, Mode::SentenceWindow);
        let own = self.tree.sentences(window.hit);
        self.windows.push(Brought { rank, window, fresh: Vec::new() });
        self.delivered.add(std::slice::from_ref(&own));
        let around = self.delivered.add(&[sentences]);
        price + self.sentence_tokens(&around)
    }

    fn sentence_tokens(&self, ranges: &[Range<u32>]) -> u64 {
        ranges.iter().map(|range| self.tree.sentence_tokens_in(range.clone())).sum()
    }

    fn passages(self, document: usize) -> Vec<Passage> {
        if self.windows.iter().any(|brought| brought.window.sentences.is_some()) {
            self.sentence_passages(document)
        } else {
            self.node_passages(document)
        }
    }

    /// Passages of nodes.
    fn node_passages(self, document: usize) -> Vec<Passage> {
        let mut hits: Vec<u32> = self.windows.iter().map(|brought| brought.window.hit).collect();
        hits.sort_unstable();
        let runs = runs_with_hits(self.tree, self.delivered.as_slice(), &hits);
        let mut drafts: Vec<Draft> = runs.iter().map(|_| Draft::default()).collect();
        for Brought { rank, window, fresh } in self.windows {
            let home = runs.partition_point(|run| run.end <= window.hit);
            for range in fresh {
                share_out(range, home, &runs, &mut drafts);
            }
            drafts[home].admit(rank, window);
        }
        drafts.into_iter().map(|draft| draft.of_nodes(self.tree, document)).collect()
    }

    /// Passages of sentences: windows that overlap or touch.
    fn sentence_passages(mut self, document: usize) -> Vec<Passage> {
        let range = |brought: &Brought| brought.window.sentences.clone().unwrap_or_default();
        // Windows of one run stand side by side then, whatever their ranks.
        self.windows.sort_by_key(|brought| (range(brought).start, brought.window.hit));
        let mut drafts: Vec<Draft> = Vec::new();
        let mut reached = 0;
        for brought in self.windows {
            let range = range(&brought);
            match drafts.last_mut() {
                Some(draft) if range.start <= reached => draft.ranges.push(range.clone()),
                _ => drafts.push(Draft { ranges: vec![range.clone()], ..Draft::default() }),
            }
            reached = reached.max(range.end);
            if let Some(draft) = drafts.last_mut() {
                draft.admit(brought.rank, brought.window);
            }
        }
        drafts.into_iter().map(|draft| draft.of_sentences(self.tree, document)).collect()
    }
}

/// A passage in the making.
#[derive(Default)]
struct Draft {
    ranges: Vec<Range<u32>>,
    hits: Vec<(usize, u32)>,
    expansion: Option<(usize, Expansion)>,
}

impl Draft {
    /// Takes a hit in; the best one's expansion is kept.
    fn admit(&mut self, rank: usize, window: Window) {
        self.hits.push((rank, window.hit));
        if self.expansion.as_ref().is_none_or(|&(best, _)| rank < best) {
            self.expansion = Some((rank, window.expansion));
        }
    }

    fn of_nodes(mut self, tree: &Tree, document: usize) -> Passage {
        self.ranges.sort_unstable_by_key(|range| range.start);
        let pieces = piece::of_nodes(tree, &self.ranges, &self.nodes());
        self.finish(document, pieces)
    }

    fn of_sentences(self, tree: &Tree, document: usize) -> Passage {
        let start = self.ranges.iter().map(|range| range.start).min().unwrap_or(0);
        let end = self.ranges.iter().map(|range| range.end).max().unwrap_or(0);
        let pieces = piece::of_sentences(tree, start..end, &self.nodes());
        self.finish(document, pieces)
    }

    /// Positions of the hits, ascending.
    fn nodes(&self) -> Vec<u32> {
        let mut nodes: Vec<u32> = self.hits.iter().map(|&(_, node)| node).collect();
        nodes.sort_unstable();
        nodes
    }

    fn finish(mut self, document: usize, pieces: Vec<Piece>) -> Passage {
        self.hits.sort_unstable();
        let tokens = pieces.iter().map(|piece| u64::from(piece.tokens)).sum();
        let expansion = self.expansion.map(|(_, expansion)| expansion).unwrap_or_default();
        let hits = self.hits.into_iter().map(|(rank, _)| rank).collect();
        Passage { document, hits, pieces, tokens, expansion }
    }
}

/// Hands a range to the passages of the runs that it meets, and what is in none to the passage `home`.
fn share_out(range: Range<u32>, home: usize, runs: &[Range<u32>], drafts: &mut [Draft]) {
    let mut start = range.start;
    let mut at = runs.partition_point(|run| run.end <= start);
    while start < range.end {
        let (owner, end) = match runs.get(at) {
            Some(run) if run.start <= start => (at, run.end),
            Some(run) => (home, run.start),
            None => (home, range.end),
        };
        let end = end.min(range.end);
        drafts[owner].ranges.push(start..end);
        at += usize::from(owner == at && runs.get(at).is_some_and(|run| run.end <= end));
        start = end;
    }
}

/// The runs of the positions taken that have a hit in them, headings that hang over their ends cut off.
fn runs_with_hits(tree: &Tree, taken: &[Range<u32>], hits: &[u32]) -> Vec<Range<u32>> {
    let mut runs: Vec<Range<u32>> = Vec::new();
    for range in taken {
        match runs.last_mut() {
            Some(run) if tree.texts_in(run.end..range.start).is_empty() => run.end = range.end,
            _ => runs.push(range.clone()),
        }
    }
    let mut hits = hits.iter().copied().peekable();
    runs.retain_mut(|run| {
        let mut last_hit = None;
        while let Some(hit) = hits.next_if(|&hit| hit < run.end) {
            last_hit = Some(hit);
        }
        if let Some(hit) = last_hit {
            run.end = end_without_headings(tree, run.clone(), hit);
        }
        last_hit.is_some()
    });
    runs
}

/// End of a run without the headings at its end that have texts below, none of them in the run.
fn end_without_headings(tree: &Tree, run: Range<u32>, last_hit: u32) -> u32 {
    let mut end = run.end;
    for &text in tree.texts_in(last_hit + 1..run.end).iter().rev() {
        let below = tree.texts_before(tree.end(text)) - tree.texts_before(text + 1);
        let in_run = tree.texts_before(tree.end(text).min(end)) - tree.texts_before(text + 1);
        if below == 0 || in_run > 0 {
            break;
        }
        end = text;
    }
    end
}
