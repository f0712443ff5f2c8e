//! The chunks of an answer as finished protobuf bytes.
//!
//! What is written is field 1 of `SearchResponse` and of `ExpandResponse` alike, `repeated Chunk
//! chunks`. Each chunk is its document's head, as it is, and behind it the fields of the hit:
//! protobuf messages merge when their bytes are joined.

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
    let mut bytes = Vec::new();
    for passage in &answer.passages {
        let document = documents[passage.document];
        let least = bytes.len() + text_bytes(document, passage);
        if least > max_bytes {
            return Err(too_large(least, max_bytes));
        }
        let chunk = Writer {
            document,
            hits,
            merged: options.merge,
            extras,
        }
        .chunk(passage);
        append(&mut bytes, document.head(), &chunk);
        if bytes.len() > max_bytes {
            return Err(too_large(bytes.len(), max_bytes));
        }
    }
    Ok(Reply {
        bytes,
        tokens: answer.tokens,
    })
}

fn too_large(bytes: usize, max_bytes: usize) -> Error {
    Error::ReplyTooLarge { bytes, max_bytes }
}

/// Bytes of the texts of a passage: less than the chunk will have.
fn text_bytes(document: &Document, passage: &Passage) -> usize {
    let packed = document.packed();
    passage
        .pieces
        .iter()
        .map(|piece| packed.piece_text(piece).len())
        .sum()
}

/// Appends a chunk as an element of the field `chunks`.
fn append(bytes: &mut Vec<u8>, head: &[u8], chunk: &Chunk) {
    let length = head.len() + chunk.encoded_len();
    bytes.reserve(key_len(CHUNKS) + encoded_len_varint(length as u64) + length);
    encode_key(CHUNKS, WireType::LengthDelimited, bytes);
    encode_varint(length as u64, bytes);
    bytes.extend_from_slice(head);
    chunk.encode_raw(bytes);
}

/// What the chunks of one document are written with.
struct Writer<'a> {
    document: &'a Document,
    hits: &'a [Scored],
    merged: bool,
    extras: Extras,
}

impl Writer<'_> {
    /// The fields of a chunk that its document's head does not have.
    fn chunk(&self, passage: &Passage) -> Chunk {
        let packed = self.document.packed();
        let tree = packed.tree();
        let best = self.hits[passage.hits[0]];
        let node = best.hit.node;
        let (page_start, page_end) = packed.pages(node);
        let characters = packed.characters(node);
        let (before, after) = self.around(passage, node);
        Chunk {
            node_id: self.document.node_id(node),
            text: packed.own_text(node).to_owned(),
            score: best.score,
            similarity: best.similarity,
            previous_texts: before,
            next_texts: after,
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

    /// The texts before and after the best hit.
    fn around(&self, passage: &Passage, node: u32) -> (Vec<String>, Vec<String>) {
        let packed = self.document.packed();
        let texts = |pieces: &[Piece]| -> Vec<String> {
            pieces
                .iter()
                .map(|piece| packed.piece_text(piece).to_owned())
                .filter(|text| !text.is_empty())
                .collect()
        };
        let at = passage
            .pieces
            .iter()
            .position(|piece| piece.hit && piece.node == node)
            .unwrap_or_default();
        let after = (at + 1).min(passage.pieces.len());
        (
            texts(&passage.pieces[..at]),
            texts(&passage.pieces[after..]),
        )
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
