//! A version of a document as search keeps it: its tree and text, and what every chunk says of it.

use crate::error::Result;
use crate::packed::Packed;

/// Kinds whose own text is a heading of what is below them, files inside the file and sections:
/// `NODE_KIND_DOCUMENT` and `NODE_KIND_SECTION` of `treespan.v1.NodeKind`.
const NAMING: [u8; 2] = [1, 2];

/// One version of a document.
#[derive(Clone, Debug)]
pub struct Document {
    id: String,
    packed: Packed,
    head: Vec<u8>,
}

impl Document {
    /// Takes a document in, its tree checked.
    ///
    /// `id` is the prefix of its nodes' ids. `head` is a serialised `treespan.v1.Chunk` with the
    /// fields that all its chunks have alike; it is copied into every chunk as it is.
    ///
    /// # Errors
    /// `tree` is not a sound packed tree.
    pub fn new(id: &str, tree: &[u8], head: &[u8]) -> Result<Self> {
        Ok(Self {
            id: id.to_owned(),
            packed: Packed::parse(tree)?,
            head: head.to_vec(),
        })
    }

    /// The tree and its text.
    #[must_use]
    pub fn packed(&self) -> &Packed {
        &self.packed
    }

    /// What every chunk of the document starts with, on the wire.
    #[must_use]
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// The id of a node.
    #[must_use]
    pub fn node_id(&self, node: u32) -> String {
        format!("{}-{node}", self.id)
    }

    /// The headings above a node, outermost first.
    #[must_use]
    pub fn heading_path(&self, node: u32) -> Vec<String> {
        let tree = self.packed.tree();
        let mut path: Vec<String> = tree
            .ancestors(node)
            .filter(|&above| NAMING.contains(&tree.kind(above)) && tree.has_text(above))
            .map(|above| self.packed.own_text(above).to_owned())
            .collect();
        path.reverse();
        path
    }

    /// Bytes that the document holds in memory.
    #[must_use]
    pub fn byte_size(&self) -> usize {
        self.packed.byte_size() + self.head.len() + self.id.len()
    }
}
