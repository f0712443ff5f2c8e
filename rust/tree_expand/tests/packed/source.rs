//! A document as the writer of the packed form sees it, to be packed right or wrong.

use tree_expand::error::Error;
use tree_expand::packed::Packed;

/// A document as the writer of the packed form sees it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// parent, own tokens, first and last page, text start and end in bytes, then in code points.
    pub(crate) nodes: Vec<[u32; 8]>,
    /// Start, end, tokens.
    pub(crate) sentences: Vec<[u32; 3]>,
    pub(crate) kind: Vec<u8>,
    pub(crate) flags: Vec<u8>,
    pub(crate) text: Vec<u8>,
}

pub(crate) const PARENT: usize = 0;
pub(crate) const TOKENS: usize = 1;
pub(crate) const PAGE_START: usize = 2;
pub(crate) const PAGE_END: usize = 3;
pub(crate) const START: usize = 4;
pub(crate) const END: usize = 5;
pub(crate) const CHAR_END: usize = 7;

impl Source {
    pub(crate) fn pack(&self) -> Vec<u8> {
        let mut bytes = b"TSTREE1\0".to_vec();
        bytes.extend(u32::try_from(self.nodes.len()).unwrap().to_le_bytes());
        bytes.extend(u32::try_from(self.sentences.len()).unwrap().to_le_bytes());
        bytes.extend((self.text.len() as u64).to_le_bytes());
        for column in 0..8 {
            bytes.extend(
                self.nodes
                    .iter()
                    .flat_map(|node| node[column].to_le_bytes()),
            );
        }
        for column in 0..3 {
            bytes.extend(
                self.sentences
                    .iter()
                    .flat_map(|of| of[column].to_le_bytes()),
            );
        }
        [
            bytes,
            self.kind.clone(),
            self.flags.clone(),
            self.text.clone(),
        ]
        .concat()
    }

    /// A document of these nodes and nothing else.
    pub(crate) fn bare(nodes: Vec<[u32; 8]>) -> Self {
        let (kind, flags) = (vec![1; nodes.len()], vec![0; nodes.len()]);
        Self {
            nodes,
            sentences: vec![],
            kind,
            flags,
            text: vec![],
        }
    }

    pub(crate) fn parse(&self) -> Result<Packed, Error> {
        Packed::parse(&self.pack())
    }
}

/// ```text
/// document
/// └─ section "標題" (2)
///    ├─ text "One. Two." (6), two sentences
///    └─ text "三。" (2)
/// ```
pub(crate) fn source() -> Source {
    Source {
        nodes: vec![
            [0, 0, 1, 3, 0, 0, 0, 0],
            [0, 2, 1, 3, 0, 6, 0, 2],
            [1, 6, 1, 2, 7, 16, 3, 12],
            [1, 2, 3, 3, 17, 23, 13, 15],
        ],
        sentences: vec![[0, 6, 2], [7, 11, 3], [12, 16, 3], [17, 23, 2]],
        kind: vec![1, 2, 3, 3],
        flags: vec![0, 1, 2, 2],
        text: "標題\nOne. Two.\n三。".as_bytes().to_vec(),
    }
}
