//! The chunks of an answer as finished protobuf bytes.
//!
//! What is written is field 1 of `SearchResponse` and of `ExpandResponse` alike, `repeated Chunk
//! chunks`. Each chunk is its document's head, as it is, and behind it the fields of the hit:
//! protobuf messages merge when their bytes are joined. Texts, most of the bytes, are copied once,
//! from the document into a reply whose size is known before.

use prost::Message as _;
use prost::encoding::{WireType, encode_key, encode_varint, encoded_len_varint, key_len};

use crate::document::Document;
use crate::error::{Error, Result};
use crate::merge::{self, Hit, Passage};
use crate::piece::Piece;
use crate::proto::{Chunk, ContextNode, Expansion, ExpansionStep, PassageHit};
use crate::trace;
use crate::tree::Tree;
use crate::window::Options;

/// Number of the field `chunks` in every reply.
const CHUNKS: u32 = 1;
/// Number of the field `text` of a chunk.
const TEXT: u32 = 4;
/// Number of the field `previous_texts` of a chunk.
const PREVIOUS_TEXTS: u32 = 7;
/// Number of the field `next_texts` of a chunk.
const NEXT_TEXTS: u32 = 8;

/// A hit and how near it is to the query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scored {
    /// Index of the document and position of the node.
    pub hit: Hit,
    /// What orders the hits.
    pub score: f32,
    /// Cosine similarity, 0..1.
    pub similarity: f32,
}

/// What a reply holds beyond the texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// Every text with its node.
    pub nodes: bool,
    /// How each context was grown; wants `Options::trace`, too.
    pub trace: bool,
}

/// The chunks of an answer, serialised.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Field `chunks` of a reply message.
    pub bytes: Vec<u8>,
    /// Tokens of all texts.
    pub tokens: u64,
}

/// Grows the context of hits, best first, and writes the answer.
///
/// # Errors
/// A hit names a document or node that is not there, or the bytes would be more than `max_bytes`.
pub fn answer(
    documents: &[&Document],
    hits: &[Scored],
    options: &Options,
    extras: Extras,
    max_bytes: usize,
) -> Result<Reply> {
    let trees: Vec<&Tree> = documents
        .iter()
        .map(|document| document.packed().tree())
        .collect();
    let nodes: Vec<Hit> = hits.iter().map(|scored| scored.hit).collect();
    let answer = merge::answer(&trees, &nodes, options)?;
    let mut chunks = Vec::with_capacity(answer.passages.len());
    let mut size = 0;
    for passage in &answer.passages {
        let writer = Writer {
            document: documents[passage.document],
            hits,
            merged: options.merge,
            extras,
        };
        let chunk = writer.prepared(passage);
        size += chunk.size();
        if size > max_bytes {
            return Err(Error::ReplyTooLarge {
                bytes: size,
                max_bytes,
            });
        }
        chunks.push(chunk);
    }
    let mut bytes = Vec::with_capacity(size);
    for chunk in &chunks {
        chunk.write(&mut bytes);
    }
    Ok(Reply {
        bytes,
        tokens: answer.tokens,
    })
}

/// A chunk that is ready to be written.
struct Prepared<'a> {
    /// The fields that all chunks of the document have alike, serialised.
    head: &'a [u8],
    /// The fields of the hit, but its texts.
    chunk: Chunk,
    /// Texts with the number of their field.
    texts: Vec<(u32, &'a str)>,
    /// Bytes of all that.
    length: usize,
}

impl<'a> Prepared<'a> {
    fn new(head: &'a [u8], chunk: Chunk, texts: Vec<(u32, &'a str)>) -> Self {
        let text_bytes = texts
            .iter()
            .map(|&(field, text)| field_len(field, text.len()))
            .sum::<usize>();
        Self {
            length: head.len() + chunk.encoded_len() + text_bytes,
            head,
            chunk,
            texts,
        }
    }

    /// Bytes of the chunk as an element of the field `chunks`.
    fn size(&self) -> usize {
        field_len(CHUNKS, self.length)
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        start_field(CHUNKS, self.length, bytes);
        bytes.extend_from_slice(self.head);
        self.chunk.encode_raw(bytes);
        for &(field, text) in &self.texts {
            start_field(field, text.len(), bytes);
            bytes.extend_from_slice(text.as_bytes());
        }
    }
}

/// Bytes of a field whose content has a length of its own.
fn field_len(field: u32, length: usize) -> usize {
    key_len(field) + encoded_len_varint(length as u64) + length
}

fn start_field(field: u32, length: usize, bytes: &mut Vec<u8>) {
    encode_key(field, WireType::LengthDelimited, bytes);
    encode_varint(length as u64, bytes);
}

/// What the chunks of one document are written with.
struct Writer<'a> {
    document: &'a Document,
    hits: &'a [Scored],
    merged: bool,
    extras: Extras,
}

impl<'a> Writer<'a> {
    fn prepared(&self, passage: &Passage) -> Prepared<'a> {
        let node = self.hits[passage.hits[0]].hit.node;
        let texts = self.texts(passage, node);
        Prepared::new(self.document.head(), self.chunk(passage), texts)
    }

    /// The fields of a chunk that its document's head does not have, but its texts.
    fn chunk(&self, passage: &Passage) -> Chunk {
        let packed = self.document.packed();
        let tree = packed.tree();
        let best = self.hits[passage.hits[0]];
        let node = best.hit.node;
        let (page_start, page_end) = packed.pages(node);
        let characters = packed.characters(node);
        Chunk {
            node_id: self.document.node_id(node),
            score: best.score,
            similarity: best.similarity,
            heading_path: self.document.heading_path(node),
            page_start,
            page_end,
            char_start: characters.start.into(),
            char_end: characters.end.into(),
            abs_idx: node,
            rel_idx: tree.rel_idx(node),
            token_count: tree.own_tokens(node),
            total_token_count: u32::try_from(passage.tokens).unwrap_or(u32::MAX),
            kind: tree.kind(node).into(),
            context_nodes: self.context_nodes(passage),
            hits: self.passage_hits(passage),
            expansion: self
                .extras
                .trace
                .then(|| self.expansion(&passage.expansion)),
            ..Chunk::default()
        }
    }

    /// The text of the best hit and those before and after it, each with its field.
    fn texts(&self, passage: &Passage, node: u32) -> Vec<(u32, &'a str)> {
        let packed = self.document.packed();
        let mut field = PREVIOUS_TEXTS;
        let mut texts = Vec::with_capacity(passage.pieces.len());
        for piece in &passage.pieces {
            let best = piece.hit && piece.node == node;
            let text = packed.piece_text(piece);
            if !text.is_empty() {
                texts.push((if best { TEXT } else { field }, text));
            }
            if best {
                field = NEXT_TEXTS;
            }
        }
        texts
    }

    fn context_nodes(&self, passage: &Passage) -> Vec<ContextNode> {
        if !self.extras.nodes {
            return Vec::new();
        }
        let packed = self.document.packed();
        let context_node = |piece: &Piece| {
            let (page_start, page_end) = packed.pages(piece.node);
            ContextNode {
                node_id: self.document.node_id(piece.node),
                kind: packed.tree().kind(piece.node).into(),
                text: packed.piece_text(piece).to_owned(),
                token_count: piece.tokens,
                abs_idx: piece.node,
                page_start,
                page_end,
                gap_before: piece.gap_before,
                hit: piece.hit,
            }
        };
        passage.pieces.iter().map(context_node).collect()
    }

    fn passage_hits(&self, passage: &Passage) -> Vec<PassageHit> {
        if !self.merged {
            return Vec::new();
        }
        let passage_hit = |&rank: &usize| PassageHit {
            node_id: self.document.node_id(self.hits[rank].hit.node),
            score: self.hits[rank].score,
            similarity: self.hits[rank].similarity,
        };
        passage.hits.iter().map(passage_hit).collect()
    }

    fn expansion(&self, grown: &trace::Expansion) -> Expansion {
        let step = |step: &trace::Step| ExpansionStep {
            direction: step.direction as i32,
            outcome: step.outcome as i32,
            node_id: self.document.node_id(step.node),
            abs_idx: step.node,
            tokens: step.tokens,
            budget_left: step.budget_left,
        };
        Expansion {
            budget_tokens: grown.budget_tokens,
            used_tokens: grown.used_tokens,
            hit_exceeds_budget: grown.hit_exceeds_budget,
            down: grown.down as i32,
            next: grown.next as i32,
            previous: grown.previous as i32,
            up: grown.up as i32,
            steps: grown.steps.iter().map(step).collect(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn texts_go_into_the_fields_that_the_proto_names() {
        let texts = vec![(PREVIOUS_TEXTS, "a"), (TEXT, "b"), (NEXT_TEXTS, "c")];
        let mut head = Vec::new();
        prost::encoding::string::encode(2, &"book".to_owned(), &mut head);
        let chunk = Prepared::new(
            &head,
            Chunk {
                abs_idx: 3,
                ..Chunk::default()
            },
            texts,
        );
        let mut bytes = Vec::new();
        chunk.write(&mut bytes);
        assert_eq!(bytes.len(), chunk.size());
        let right = Chunk {
            artifact: "book".into(),
            abs_idx: 3,
            previous_texts: vec!["a".into()],
            text: "b".into(),
            next_texts: vec!["c".into()],
            ..Chunk::default()
        };
        assert_eq!(Chunk::decode(&bytes[2..]).unwrap(), right);
    }
}
