//! The packed form of a document: its tree, its text, and where in the text every node and sentence
//! is.
//!
//! The layout is described in `python/treespan/node.py`. Parsing checks everything that later code
//! relies on, so that a document which was read can be quoted without looking at bounds or
//! character borders again.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::tree::Tree;

const MAGIC: [u8; 8] = *b"TSTREE1\0";
const HEAD: usize = 24;
const HEADING_STATED: u8 = 1;
const EMBEDDED: u8 = 2;

/// A document: its tree and its text.
///
/// Methods that take a position or the number of a sentence panic where there is no such, as
/// indexing does.
#[derive(Clone, Debug)]
pub struct Packed {
    tree: Tree,
    text: Box<str>,
    text_start: Box<[u32]>,
    text_end: Box<[u32]>,
    char_start: Box<[u32]>,
    char_end: Box<[u32]>,
    page_start: Box<[u32]>,
    page_end: Box<[u32]>,
    sentence_start: Box<[u32]>,
    sentence_end: Box<[u32]>,
    flags: Box<[u8]>,
}

impl Packed {
    /// Reads and checks the packed form.
    ///
    /// # Errors
    /// The bytes are no packed tree, are not whole, or say something that cannot be: see [`Error`].
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut columns = Columns::of(bytes)?;
        let parent = columns.numbers_of_nodes();
        let own_tokens = columns.numbers_of_nodes();
        let page_start = columns.numbers_of_nodes();
        let page_end = columns.numbers_of_nodes();
        let text_start = columns.numbers_of_nodes();
        let text_end = columns.numbers_of_nodes();
        let char_start = columns.numbers_of_nodes();
        let char_end = columns.numbers_of_nodes();
        let sentence_start = columns.numbers_of_sentences();
        let sentence_end = columns.numbers_of_sentences();
        let sentence_tokens = columns.numbers_of_sentences();
        let kind = columns.bytes_of_nodes();
        let flags = columns.bytes_of_nodes();
        let text = std::str::from_utf8(columns.rest)
            .map_err(|error| Error::NotUtf8(error.valid_up_to()))?;

        let texts = TextRanges {
            what: "node",
            start: &text_start,
            end: &text_end,
        };
        texts.check(text, true)?;
        TextRanges {
            what: "sentence",
            start: &sentence_start,
            end: &sentence_end,
        }
        .check(text, false)?;
        check_characters(text, &texts, &char_start, &char_end)?;
        check_pages(&page_start, &page_end)?;
        let has_text: Vec<bool> = texts.iter().map(|range| !range.is_empty()).collect();
        let counts = sentences_by_node(&texts, &sentence_start, &sentence_end)?;
        let tree = Tree::with_texts(parent, kind, own_tokens, &has_text)?
            .with_sentences(&counts, &sentence_tokens)?;
        Ok(Self {
            tree,
            text: text.into(),
            text_start: text_start.into(),
            text_end: text_end.into(),
            char_start: char_start.into(),
            char_end: char_end.into(),
            page_start: page_start.into(),
            page_end: page_end.into(),
            sentence_start: sentence_start.into(),
            sentence_end: sentence_end.into(),
            flags: flags.into(),
        })
    }

    /// The tree.
    #[must_use]
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The whole text of the document.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Own text of a node; empty for a pure container.
    #[must_use]
    pub fn own_text(&self, node: u32) -> &str {
        let at = node as usize;
        &self.text[self.text_start[at] as usize..self.text_end[at] as usize]
    }

    /// Text of a sentence.
    #[must_use]
    pub fn sentence_text(&self, sentence: u32) -> &str {
        let at = sentence as usize;
        &self.text[self.sentence_start[at] as usize..self.sentence_end[at] as usize]
    }

    /// Text of a piece: a node's own text, or one sentence of it.
    #[must_use]
    pub fn piece_text(&self, piece: &crate::piece::Piece) -> &str {
        piece.sentence.map_or_else(
            || self.own_text(piece.node),
            |sentence| self.sentence_text(sentence),
        )
    }

    /// Own text of a node as code points of the document's text.
    #[must_use]
    pub fn characters(&self, node: u32) -> Range<u32> {
        self.char_start[node as usize]..self.char_end[node as usize]
    }

    /// First and last page of a node, from 1; 0 and 0 where the format has no pages.
    #[must_use]
    pub fn pages(&self, node: u32) -> (u32, u32) {
        (self.page_start[node as usize], self.page_end[node as usize])
    }

    /// Whether the file itself states that the node is a heading.
    #[must_use]
    pub fn heading_stated(&self, node: u32) -> bool {
        self.flags[node as usize] & HEADING_STATED != 0
    }

    /// Whether the node has a vector.
    #[must_use]
    pub fn embedded(&self, node: u32) -> bool {
        self.flags[node as usize] & EMBEDDED != 0
    }

    /// Bytes held in memory.
    #[must_use]
    pub fn byte_size(&self) -> usize {
        let numbers = 6 * self.tree.len() + 2 * self.sentence_start.len();
        let columns = 4 * numbers + self.flags.len();
        self.tree.byte_size() + self.text.len() + columns + size_of::<Self>() - size_of::<Tree>()
    }
}

/// The columns behind the head, taken from the front one by one; their sizes were checked together.
struct Columns<'a> {
    nodes: usize,
    sentences: usize,
    rest: &'a [u8],
}

impl<'a> Columns<'a> {
    fn of(bytes: &'a [u8]) -> Result<Self> {
        let (Some((magic, head)), true) = (bytes.split_first_chunk(), bytes.len() >= HEAD) else {
            return Err(Error::TooShort {
                least: HEAD,
                found: bytes.len(),
            });
        };
        if *magic != MAGIC {
            return Err(Error::Magic {
                right: MAGIC,
                found: *magic,
            });
        }
        let number = |at: usize| {
            u64::from(u32::from_le_bytes([
                head[at],
                head[at + 1],
                head[at + 2],
                head[at + 3],
            ]))
        };
        let (nodes, sentences) = (number(0), number(4));
        let text = number(8) | number(12) << 32;
        let columns = u128::from(nodes) * 34 + u128::from(sentences) * 12;
        let right = HEAD as u128 + columns + u128::from(text);
        if right != bytes.len() as u128 {
            return Err(Error::Size {
                right,
                found: bytes.len(),
            });
        }
        // Both counts are below the length of the bytes, which is a usize.
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        Ok(Self {
            nodes: count(nodes),
            sentences: count(sentences),
            rest: &bytes[HEAD..],
        })
    }

    fn numbers_of_nodes(&mut self) -> Vec<u32> {
        self.numbers(self.nodes)
    }

    fn numbers_of_sentences(&mut self) -> Vec<u32> {
        self.numbers(self.sentences)
    }

    fn numbers(&mut self, count: usize) -> Vec<u32> {
        let (column, rest) = self.rest.split_at(4 * count);
        self.rest = rest;
        let (numbers, _) = column.as_chunks::<4>();
        numbers
            .iter()
            .map(|&number| u32::from_le_bytes(number))
            .collect()
    }

    fn bytes_of_nodes(&mut self) -> Vec<u8> {
        let (column, rest) = self.rest.split_at(self.nodes);
        self.rest = rest;
        column.to_vec()
    }
}

/// Ranges of the text, one for each node or sentence.
struct TextRanges<'a> {
    what: &'static str,
    start: &'a [u32],
    end: &'a [u32],
}

impl TextRanges<'_> {
    fn iter(&self) -> impl Iterator<Item = Range<u32>> + '_ {
        self.start
            .iter()
            .zip(self.end)
            .map(|(&start, &end)| start..end)
    }

    /// Checks that the ranges follow each other without overlap, inside the text and between its
    /// characters.
    fn check(&self, text: &str, may_be_empty: bool) -> Result<()> {
        let what = self.what;
        let mut before = 0;
        for (index, Range { start, end }) in (0u32..).zip(self.iter()) {
            let bytes = text.len();
            if start > end || end as usize > bytes || (start == end && !may_be_empty) {
                return Err(Error::TextRange {
                    what,
                    index,
                    start,
                    end,
                    bytes,
                });
            }
            if start < before {
                return Err(Error::TextOrder {
                    what,
                    index,
                    start,
                    before,
                });
            }
            if let Some(at) = [start, end]
                .into_iter()
                .find(|&at| !text.is_char_boundary(at as usize))
            {
                return Err(Error::CharBoundary { what, index, at });
            }
            before = end;
        }
        Ok(())
    }
}

/// Checks that the offsets in code points name the places of the offsets in bytes.
fn check_characters(text: &str, texts: &TextRanges, start: &[u32], end: &[u32]) -> Result<()> {
    let mut counted = Counted {
        text: text.as_bytes(),
        bytes: 0,
        characters: 0,
    };
    let stated = start.iter().zip(end);
    for ((node, range), (&start, &end)) in (0u32..).zip(texts.iter()).zip(stated) {
        let right_start = counted.up_to(range.start);
        let right_end = counted.up_to(range.end);
        if (start, end) != (right_start, right_end) {
            return Err(Error::CharRange {
                node,
                start,
                end,
                right_start,
                right_end,
            });
        }
    }
    Ok(())
}

/// Characters of a text up to a byte that only moves on.
struct Counted<'a> {
    text: &'a [u8],
    bytes: u32,
    characters: u32,
}

impl Counted<'_> {
    fn up_to(&mut self, byte: u32) -> u32 {
        let part = &self.text[self.bytes as usize..byte as usize];
        // Every byte but the continuation bytes 10xxxxxx starts a character.
        let starts = part.iter().filter(|&&byte| byte & 0xc0 != 0x80).count();
        // No more characters than bytes, and `byte` is a u32.
        self.characters += u32::try_from(starts).unwrap_or(u32::MAX);
        self.bytes = byte;
        self.characters
    }
}

fn check_pages(start: &[u32], end: &[u32]) -> Result<()> {
    for (node, (&start, &end)) in (0u32..).zip(start.iter().zip(end)) {
        if start > end || (start == 0 && end > 0) {
            return Err(Error::Pages { node, start, end });
        }
    }
    Ok(())
}

/// Number of sentences of every node; each sentence must be inside one node's text.
fn sentences_by_node(texts: &TextRanges, start: &[u32], end: &[u32]) -> Result<Vec<u32>> {
    let mut counts = Vec::with_capacity(texts.start.len());
    let mut sentences = (0u32..).zip(start.iter().zip(end)).peekable();
    for range in texts.iter() {
        let mut count = 0;
        let inside =
            |&(_, (start, end)): &(u32, (&u32, &u32))| range.start <= *start && *end <= range.end;
        while sentences.next_if(inside).is_some() {
            count += 1;
        }
        counts.push(count);
    }
    match sentences.next() {
        None => Ok(counts),
        Some((sentence, (&start, &end))) => Err(Error::SentenceOutside {
            sentence,
            start,
            end,
        }),
    }
}
