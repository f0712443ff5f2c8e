//! What a window or a passage delivers: its texts, one by one, in document order.

use std::ops::Range;

use crate::tree::Tree;
use crate::window::Window;

/// One text to return: the own text of a node, or one sentence of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Position of the node.
    pub node: u32,
    /// Number of the sentence, where the text is one sentence only.
    pub sentence: Option<u32>,
    /// Tokens of the text.
    pub tokens: u32,
    /// Text of the document is missing between this text and the one before it; false for the
    /// first.
    pub gap_before: bool,
    /// The node is a hit. Hits come whole, and come also where they have no text.
    pub hit: bool,
}

/// The texts of a window.
///
/// ```
/// use tree_expand::{piece, tree::Tree, window::{Mode, Options, window}};
///
/// let tree = Tree::new(vec![0, 0, 0, 0], vec![1, 3, 3, 3], vec![0, 10, 90, 10])?;
/// let options = Options { gaps: true, ..Options::new(Mode::Tree, 50) };
/// let texts = piece::of_window(&tree, &window(&tree, 1, &options)?);
/// assert_eq!(texts.iter().map(|text| text.node).collect::<Vec<_>>(), [1, 3]);
/// assert!(texts[0].hit && texts[1].gap_before);
/// # Ok::<(), tree_expand::error::Error>(())
/// ```
#[must_use]
pub fn of_window(tree: &Tree, window: &Window) -> Vec<Piece> {
    match &window.sentences {
        Some(sentences) => of_sentences(tree, sentences.clone(), &[window.hit]),
        None => of_nodes(tree, &window.ranges, &[window.hit]),
    }
}

/// The own texts of the nodes in ascending ranges; `hits` are the hits among them, ascending.
pub(crate) fn of_nodes(tree: &Tree, ranges: &[Range<u32>], hits: &[u32]) -> Vec<Piece> {
    let mut pieces = Pieces::new(tree);
    let mut hits = hits.iter().copied().peekable();
    for range in ranges {
        for &node in tree.texts_in(range.clone()) {
            while let Some(bare) = hits.next_if(|&hit| hit < node) {
                pieces.push_node(bare, true);
            }
            pieces.push_node(node, hits.next_if_eq(&node).is_some());
        }
    }
    for bare in hits {
        pieces.push_node(bare, true);
    }
    pieces.list
}

/// The sentences of a range, but the hits as whole texts; `hits` are ascending and their sentences
/// in the range.
pub(crate) fn of_sentences(tree: &Tree, sentences: Range<u32>, hits: &[u32]) -> Vec<Piece> {
    let mut pieces = Pieces::new(tree);
    let mut next = sentences.start;
    for &hit in hits {
        let own = tree.sentences(hit);
        (next..own.start).for_each(|sentence| pieces.push_sentence(sentence));
        pieces.push_node(hit, true);
        next = own.end;
    }
    (next..sentences.end).for_each(|sentence| pieces.push_sentence(sentence));
    pieces.list
}

/// Pieces in the making, in document order.
struct Pieces<'a> {
    tree: &'a Tree,
    list: Vec<Piece>,
}

impl<'a> Pieces<'a> {
    fn new(tree: &'a Tree) -> Self {
        Self {
            tree,
            list: Vec::new(),
        }
    }

    fn push_node(&mut self, node: u32, hit: bool) {
        let tokens = self.tree.own_tokens(node);
        let gap_before = self.gap_before(node);
        self.list.push(Piece {
            node,
            sentence: None,
            tokens,
            gap_before,
            hit,
        });
    }

    /// Sentences follow each other without gaps; only a text that has none can lie between them.
    fn push_sentence(&mut self, sentence: u32) {
        let node = self.tree.sentence_node(sentence);
        let tokens = self.tree.sentence_tokens(sentence);
        let gap_before = self.gap_before(node);
        self.list.push(Piece {
            node,
            sentence: Some(sentence),
            tokens,
            gap_before,
            hit: false,
        });
    }

    /// Whether a text lies between the node of the last piece and this one.
    fn gap_before(&self, node: u32) -> bool {
        self.list.last().is_some_and(|last| {
            last.node < node && !self.tree.texts_in(last.node + 1..node).is_empty()
        })
    }
}
