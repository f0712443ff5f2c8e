//! Passages: the windows of several hits on one document, united so that no text comes twice.
//!
//! Every hit's window is grown as it is without merging, so passages depend on positions and not on
//! the order in which windows meet. Two texts of a document that were both taken belong together
//! where no text lies between them that was not taken. So the texts taken fall into runs:
//!
//! ```text
//! taken      H  ·  c  d* e  f* g  S  ·  ·  x*      * = hit    · = not taken    H, S = headings
//! runs      (H)   (c  d* e  f* g)(S)      (x*)
//! passages   H c d e f g  and  S x
//! ```
//!
//! - A run with a hit in it is a passage. All windows that overlap or touch are in one, over any
//!   number of steps.
//! - Headings at the end of a run whose texts below are not in it belong to what follows, and are
//!   cut off from it, unless they are hits themselves.
//! - What has no hit in its run (headings above a gap; with `gaps` also what lies behind one) goes,
//!   text by text, to the passage of the best hit that took it. A heading above two passages is so
//!   delivered with the better one.

use std::ops::Range;

use crate::merge::Passage;
use crate::piece::{self, Piece};
use crate::ranges::Ranges;
use crate::trace::Expansion;
use crate::tree::Tree;
use crate::window::{Mode, Window};

/// What one document gives to the answer.
pub(crate) struct Share<'a> {
    pub(crate) tree: &'a Tree,
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
    pub(crate) fn new(tree: &'a Tree) -> Self {
        Self {
            tree,
            delivered: Ranges::default(),
            windows: Vec::new(),
        }
    }

    pub(crate) fn has_hit(&self, node: u32) -> bool {
        self.windows
            .iter()
            .any(|brought| brought.window.hit == node)
    }

    /// Tokens that a new hit's own text adds to the answer.
    pub(crate) fn price(&self, node: u32, mode: Mode) -> u64 {
        let own = u64::from(self.tree.own_tokens(node));
        if mode == Mode::SentenceWindow {
            let sentences = self.tree.sentences(node);
            let missing = self.delivered.missing(std::slice::from_ref(&sentences));
            let delivered =
                self.tree.sentence_tokens_in(sentences) - self.sentence_tokens(&missing);
            own.saturating_sub(delivered)
        } else if self.delivered.contains(node) {
            0
        } else {
            own
        }
    }

    /// Adds a window and returns the tokens that are new.
    pub(crate) fn add(&mut self, rank: usize, window: Window) -> u64 {
        let Some(sentences) = window.sentences.clone() else {
            let fresh = self.delivered.add(&window.ranges);
            let tokens = fresh
                .iter()
                .map(|range| self.tree.tokens_in(range.clone()))
                .sum();
            self.windows.push(Brought {
                rank,
                window,
                fresh,
            });
            return tokens;
        };
        let price = self.price(window.hit, Mode::SentenceWindow);
        let own = self.tree.sentences(window.hit);
        self.windows.push(Brought {
            rank,
            window,
            fresh: Vec::new(),
        });
        self.delivered.add(std::slice::from_ref(&own));
        let around = self.delivered.add(&[sentences]);
        price + self.sentence_tokens(&around)
    }

    fn sentence_tokens(&self, ranges: &[Range<u32>]) -> u64 {
        ranges
            .iter()
            .map(|range| self.tree.sentence_tokens_in(range.clone()))
            .sum()
    }

    pub(crate) fn passages(self, document: usize) -> Vec<Passage> {
        if self
            .windows
            .iter()
            .any(|brought| brought.window.sentences.is_some())
        {
            self.sentence_passages(document)
        } else {
            self.node_passages(document)
        }
    }

    /// Passages of nodes.
    fn node_passages(self, document: usize) -> Vec<Passage> {
        let mut hits: Vec<u32> = self
            .windows
            .iter()
            .map(|brought| brought.window.hit)
            .collect();
        hits.sort_unstable();
        let runs = runs_with_hits(self.tree, self.delivered.as_slice(), &hits);
        let mut drafts: Vec<Draft> = runs.iter().map(|_| Draft::default()).collect();
        for Brought {
            rank,
            window,
            fresh,
        } in self.windows
        {
            let home = runs.partition_point(|run| run.end <= window.hit);
            for range in fresh {
                share_out(range, home, &runs, &mut drafts);
            }
            drafts[home].admit(rank, window);
        }
        drafts
            .into_iter()
            .map(|draft| draft.of_nodes(self.tree, document))
            .collect()
    }

    /// Passages of sentences: windows that overlap or touch.
    fn sentence_passages(mut self, document: usize) -> Vec<Passage> {
        let range = |brought: &Brought| brought.window.sentences.clone().unwrap_or_default();
        // Windows of one run stand side by side then, whatever their ranks.
        self.windows
            .sort_by_key(|brought| (range(brought).start, brought.window.hit));
        let mut drafts: Vec<Draft> = Vec::new();
        let mut reached = 0;
        for brought in self.windows {
            let range = range(&brought);
            match drafts.last_mut() {
                Some(draft) if range.start <= reached => draft.ranges.push(range.clone()),
                _ => drafts.push(Draft {
                    ranges: vec![range.clone()],
                    ..Draft::default()
                }),
            }
            reached = reached.max(range.end);
            if let Some(draft) = drafts.last_mut() {
                draft.admit(brought.rank, brought.window);
            }
        }
        drafts
            .into_iter()
            .map(|draft| draft.of_sentences(self.tree, document))
            .collect()
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
        let start = self
            .ranges
            .iter()
            .map(|range| range.start)
            .min()
            .unwrap_or(0);
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
        let expansion = self
            .expansion
            .map(|(_, expansion)| expansion)
            .unwrap_or_default();
        let hits = self.hits.into_iter().map(|(rank, _)| rank).collect();
        Passage {
            document,
            hits,
            pieces,
            tokens,
            expansion,
        }
    }
}

/// Hands a range to the passage of the run that it starts in, and what is in none to the passage
/// `home`: all of it, or the headings that were cut off the end of that run. No range reaches from
/// outside into a run or from one run into the next, because positions side by side are one run.
fn share_out(range: Range<u32>, home: usize, runs: &[Range<u32>], drafts: &mut [Draft]) {
    let owner = runs.partition_point(|run| run.end <= range.start);
    let mut rest = range;
    if let Some(run) = runs.get(owner).filter(|run| run.start <= rest.start) {
        let end = run.end.min(rest.end);
        drafts[owner].ranges.push(rest.start..end);
        rest.start = end;
    }
    if !rest.is_empty() {
        drafts[home].ranges.push(rest);
    }
}

/// The runs of the positions taken that have a hit in them, headings that hang over their ends cut
/// off.
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

/// End of a run without the headings at its end: texts with texts below them, which then are not in
/// the run.
fn end_without_headings(tree: &Tree, run: Range<u32>, last_hit: u32) -> u32 {
    let mut end = run.end;
    for &text in tree.texts_in(last_hit + 1..run.end).iter().rev() {
        if tree.texts_in(text + 1..tree.end(text)).is_empty() {
            break;
        }
        end = text;
    }
    end
}
