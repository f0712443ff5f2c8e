//! The document tree: columns in preorder, checked once, with what every query would otherwise
//! compute again.
//!
//! Position 0 is the root, a parent comes before its children, and the subtree of a node is the
//! range from its position to its end. A node's *text* is what no other node carries; a pure
//! container has none and costs nothing.

use std::ops::Range;

use crate::error::{Error, Result};

/// Stands in a column for "no such node".
const NONE: u32 = u32::MAX;

/// The shape and the token counts of one document.
///
/// Positions are `u32`. Methods that take a position panic where it is not below [`Tree::len`], as
/// indexing does.
///
/// ```
/// use tree_expand::tree::Tree;
///
/// // root ─┬─ section (3) ── text (10)
/// //       └─ text (20)
/// let tree = Tree::new(vec![0, 0, 1, 0], vec![1, 2, 3, 3], vec![0, 3, 10, 20])?;
/// assert_eq!(tree.subtree(1), 1..3);
/// assert_eq!(tree.subtree_tokens(1), 13);
/// assert_eq!(tree.next_sibling(1), Some(3));
/// # Ok::<(), tree_expand::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tree {
    parent: Box<[u32]>,
    end: Box<[u32]>,
    depth: Box<[u32]>,
    previous: Box<[u32]>,
    rel_idx: Box<[u32]>,
    kind: Box<[u8]>,
    own_tokens: Box<[u32]>,
    /// Tokens of all nodes before a position; one more element than there are nodes.
    tokens_before: Box<[u64]>,
    /// Positions of the nodes with text.
    texts: Box<[u32]>,
    /// Nodes with text before a position; one more element than there are nodes.
    texts_before: Box<[u32]>,
    /// Least subtree tokens among the children that cost anything; `u32::MAX` where there are none.
    cheapest_child: Box<[u32]>,
    /// Sentences of all nodes before a position; one more element than there are nodes.
    sentences_before: Box<[u32]>,
    /// Tokens of all sentences before a sentence; one more element than there are sentences.
    sentence_tokens_before: Box<[u64]>,
}

impl Tree {
    /// A tree of columns in which the nodes with tokens are the ones with text.
    ///
    /// # Errors
    /// The columns differ in length, are empty, or are not a preorder.
    pub fn new(parent: Vec<u32>, kind: Vec<u8>, own_tokens: Vec<u32>) -> Result<Self> {
        let has_text: Vec<bool> = own_tokens.iter().map(|&tokens| tokens > 0).collect();
        Self::with_texts(parent, kind, own_tokens, &has_text)
    }

    /// A tree of columns that says which nodes have text, so that a text of no tokens counts as
    /// one.
    ///
    /// # Errors
    /// As [`Tree::new`]; also where a node has tokens and no text.
    pub fn with_texts(
        parent: Vec<u32>,
        kind: Vec<u8>,
        own_tokens: Vec<u32>,
        has_text: &[bool],
    ) -> Result<Self> {
        let nodes = parent.len();
        check_length("kind", kind.len(), nodes)?;
        check_length("own_tokens", own_tokens.len(), nodes)?;
        check_length("has_text", has_text.len(), nodes)?;
        let shape = Shape::of(&parent)?;
        let ranks = TextRanks::of(&own_tokens, has_text)?;
        let tokens_before = sums(&own_tokens);
        let cheapest_child = cheapest_children(&parent, &shape.end, &tokens_before);
        Ok(Self {
            parent: parent.into(),
            end: shape.end.into(),
            depth: shape.depth.into(),
            previous: shape.previous.into(),
            rel_idx: shape.rel_idx.into(),
            kind: kind.into(),
            own_tokens: own_tokens.into(),
            tokens_before,
            texts: ranks.texts.into(),
            texts_before: ranks.before.into(),
            cheapest_child,
            sentences_before: vec![0; nodes + 1].into(),
            sentence_tokens_before: Box::from([0]),
        })
    }

    /// The tree with the sentences of its texts: how many each node has, and the tokens of each, in
    /// document order.
    ///
    /// # Errors
    /// There is not one count for each node, or the counts do not add up to the number of
    /// sentences.
    pub fn with_sentences(mut self, counts: &[u32], tokens: &[u32]) -> Result<Self> {
        check_length("sentence counts", counts.len(), self.len())?;
        let before = sums(counts);
        let all = usize::try_from(before[counts.len()]).unwrap_or(usize::MAX);
        check_length("sentence_tokens", tokens.len(), all)?;
        if all >= NONE as usize {
            return Err(Error::TooManyNodes(all));
        }
        self.sentences_before = before.iter().map(|&count| narrow(count)).collect();
        self.sentence_tokens_before = sums(tokens);
        Ok(self)
    }

    /// Number of nodes, the root among them.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parent.len()
    }

    /// Always false: a tree has a root.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parent.is_empty()
    }

    /// The position, if the tree has it.
    ///
    /// # Errors
    /// It has not.
    pub fn check(&self, node: u32) -> Result<u32> {
        if (node as usize) < self.len() {
            Ok(node)
        } else {
            Err(Error::NoSuchNode {
                node,
                nodes: self.len(),
            })
        }
    }

    /// Parent of a node; the root's is the root.
    #[inline]
    #[must_use]
    pub fn parent(&self, node: u32) -> u32 {
        self.parent[node as usize]
    }

    /// Ancestors of a node, its parent first, the root last; none for the root.
    pub fn ancestors(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let above = move |&node: &u32| (node > 0).then(|| self.parent(node));
        std::iter::successors(above(&node), above)
    }

    /// First position after the subtree of a node.
    #[inline]
    #[must_use]
    pub fn end(&self, node: u32) -> u32 {
        self.end[node as usize]
    }

    /// Positions of a node and all below it.
    #[must_use]
    pub fn subtree(&self, node: u32) -> Range<u32> {
        node..self.end(node)
    }

    /// Whether a node has no children.
    #[must_use]
    pub fn is_leaf(&self, node: u32) -> bool {
        self.end(node) == node + 1
    }

    /// Number of ancestors; 0 for the root.
    #[must_use]
    pub fn depth(&self, node: u32) -> u32 {
        self.depth[node as usize]
    }

    /// Index among the children of the parent, from 0.
    #[must_use]
    pub fn rel_idx(&self, node: u32) -> u32 {
        self.rel_idx[node as usize]
    }

    /// The sibling before a node.
    #[inline]
    #[must_use]
    pub fn previous_sibling(&self, node: u32) -> Option<u32> {
        let previous = self.previous[node as usize];
        (previous != NONE).then_some(previous)
    }

    /// The sibling after a node.
    #[inline]
    #[must_use]
    pub fn next_sibling(&self, node: u32) -> Option<u32> {
        let next = self.end(node);
        // The root is its own parent, so nothing comes after it here either.
        (next < self.end(self.parent(node))).then_some(next)
    }

    /// Kind of a node, a `treespan.v1.NodeKind`; the core only compares kinds.
    #[inline]
    #[must_use]
    pub fn kind(&self, node: u32) -> u8 {
        self.kind[node as usize]
    }

    /// Tokens of a node's own text.
    #[inline]
    #[must_use]
    pub fn own_tokens(&self, node: u32) -> u32 {
        self.own_tokens[node as usize]
    }

    /// Tokens of a node and all below it.
    #[inline]
    #[must_use]
    pub fn subtree_tokens(&self, node: u32) -> u64 {
        self.tokens_in(self.subtree(node))
    }

    /// Tokens of all nodes in a range of positions.
    #[inline]
    #[must_use]
    pub fn tokens_in(&self, range: Range<u32>) -> u64 {
        self.tokens_before[range.end as usize] - self.tokens_before[range.start as usize]
    }

    /// First position from `start` on, at most `end`, before which more than `tokens` tokens would
    /// have been met.
    pub(crate) fn reach(&self, start: u32, end: u32, tokens: u32) -> u32 {
        let most = self.tokens_before[start as usize] + u64::from(tokens);
        let sums = &self.tokens_before[start as usize + 1..=end as usize];
        start + narrow(sums.partition_point(|&sum| sum <= most) as u64)
    }

    /// Least subtree tokens among the children of a node that cost anything; `u32::MAX` where none
    /// does.
    #[inline]
    pub(crate) fn cheapest_child(&self, node: u32) -> u32 {
        self.cheapest_child[node as usize]
    }

    /// Whether a node has text of its own.
    #[must_use]
    pub fn has_text(&self, node: u32) -> bool {
        self.texts_before[node as usize] < self.texts_before[node as usize + 1]
    }

    /// Positions of all nodes with text, in document order.
    #[must_use]
    pub fn texts(&self) -> &[u32] {
        &self.texts
    }

    /// Number of nodes with text before a position, which may be the end of the tree.
    #[inline]
    #[must_use]
    pub fn texts_before(&self, position: u32) -> u32 {
        self.texts_before[position as usize]
    }

    /// Positions of the nodes with text in a range of positions.
    #[must_use]
    pub fn texts_in(&self, range: Range<u32>) -> &[u32] {
        &self.texts[self.texts_before(range.start) as usize..self.texts_before(range.end) as usize]
    }

    /// Number of sentences in the document.
    #[must_use]
    pub fn sentence_count(&self) -> u32 {
        self.sentences_before[self.len()]
    }

    /// Numbers of the sentences of a node's own text.
    #[must_use]
    pub fn sentences(&self, node: u32) -> Range<u32> {
        self.sentences_before[node as usize]..self.sentences_before[node as usize + 1]
    }

    /// Tokens of one sentence.
    #[must_use]
    pub fn sentence_tokens(&self, sentence: u32) -> u32 {
        narrow(self.sentence_tokens_in(sentence..sentence + 1))
    }

    /// Tokens of a range of sentences.
    #[must_use]
    pub fn sentence_tokens_in(&self, range: Range<u32>) -> u64 {
        let before = &self.sentence_tokens_before;
        before[range.end as usize] - before[range.start as usize]
    }

    /// The node whose own text holds a sentence.
    #[must_use]
    pub fn sentence_node(&self, sentence: u32) -> u32 {
        let after = self
            .sentences_before
            .partition_point(|&before| before <= sentence);
        narrow(after as u64 - 1)
    }

    /// Bytes held in memory.
    #[must_use]
    pub fn byte_size(&self) -> usize {
        let nodes = self.len();
        let wide = self.tokens_before.len() + self.sentence_tokens_before.len();
        // parent, end, depth, previous, rel_idx, own_tokens and cheapest_child; texts and two
        // running counts; kind
        4 * (7 * nodes + self.texts.len() + 2 * (nodes + 1)) + 8 * wide + nodes + size_of::<Self>()
    }
}

/// What follows from the parents alone.
struct Shape {
    end: Vec<u32>,
    depth: Vec<u32>,
    previous: Vec<u32>,
    rel_idx: Vec<u32>,
}

impl Shape {
    /// Checks that the parents are a preorder, in one pass and without a stack: the path from the
    /// root to the node before is in the parents themselves, and what is left of it ends there.
    fn of(parent: &[u32]) -> Result<Self> {
        let nodes = parent.len();
        if nodes >= NONE as usize {
            return Err(Error::TooManyNodes(nodes));
        }
        match parent.first() {
            None => return Err(Error::NoNodes),
            Some(&0) => {}
            Some(&other) => return Err(Error::RootParent(other)),
        }
        let last = narrow(nodes as u64);
        let mut shape = Self {
            end: vec![last; nodes],
            depth: vec![0; nodes],
            previous: vec![NONE; nodes],
            rel_idx: vec![0; nodes],
        };
        for node in 1..last {
            shape.attach(node, parent)?;
        }
        Ok(shape)
    }

    fn attach(&mut self, node: u32, parents: &[u32]) -> Result<()> {
        let parent = parents[node as usize];
        if parent >= node {
            return Err(Error::ParentOrder { node, parent });
        }
        let mut open = node - 1;
        let mut closed = NONE;
        while open != parent {
            // Ancestors come before their children: once below the parent sought, it is not on the
            // path.
            if open < parent {
                return Err(Error::NotPreorder { node, parent });
            }
            self.end[open as usize] = node;
            closed = open;
            open = parents[open as usize];
        }
        let at = node as usize;
        self.depth[at] = self.depth[parent as usize] + 1;
        if closed != NONE {
            self.previous[at] = closed;
            self.rel_idx[at] = self.rel_idx[closed as usize] + 1;
        }
        Ok(())
    }
}

/// The nodes with text, and how many there are before each node.
struct TextRanks {
    texts: Vec<u32>,
    before: Vec<u32>,
}

impl TextRanks {
    fn of(own_tokens: &[u32], has_text: &[bool]) -> Result<Self> {
        let mut ranks = Self {
            texts: Vec::new(),
            before: vec![0],
        };
        for (node, (&tokens, &has_text)) in (0u32..).zip(own_tokens.iter().zip(has_text)) {
            if has_text {
                ranks.texts.push(node);
            } else if tokens > 0 {
                return Err(Error::TokensWithoutText { node, tokens });
            }
            ranks.before.push(narrow(ranks.texts.len() as u64));
        }
        Ok(ranks)
    }
}

fn cheapest_children(parent: &[u32], end: &[u32], tokens_before: &[u64]) -> Box<[u32]> {
    let mut cheapest = vec![u32::MAX; parent.len()];
    for node in 1..parent.len() {
        let tokens = tokens_before[end[node] as usize] - tokens_before[node];
        let tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
        let least = &mut cheapest[parent[node] as usize];
        if tokens > 0 && tokens < *least {
            *least = tokens;
        }
    }
    cheapest.into()
}

/// Running sums, starting with 0.
fn sums(values: &[u32]) -> Box<[u64]> {
    let mut sum = 0;
    let running = values.iter().map(|&value| {
        sum += u64::from(value);
        sum
    });
    std::iter::once(0).chain(running).collect()
}

fn check_length(column: &'static str, found: usize, right: usize) -> Result<()> {
    if found == right {
        Ok(())
    } else {
        Err(Error::ColumnLength {
            column,
            right,
            found,
        })
    }
}

/// A number known to be a position, a count of nodes or of sentences, or the tokens of one
/// sentence: all below 2^32.
#[inline]
#[allow(clippy::cast_possible_truncation)]
fn narrow(number: u64) -> u32 {
    debug_assert!(u32::try_from(number).is_ok());
    number as u32
}
