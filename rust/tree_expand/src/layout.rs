//! Where things are in the file of a sealed segment.
//!
//! ```text
//! graph      as the graph library saves it, the rows in brain floats first; from byte 0
//! nodes      u32 for each row, ascending in a document
//! documents  key u64, first row u32, row after the last u32; ascending by key, without gaps
//! matrix     f32 rows, unit vectors, aligned to 4096
//! footer     64 bytes, see `Footer`
//! ```
//!
//! Everything is little-endian and aligned to 64 bytes; what is between is zero.

use crate::graph;
use crate::segment::DocumentRows;

#[cfg(target_endian = "big")]
compile_error!("files of segments are mapped as they are, and they are little-endian");

/// Bytes of a footer.
pub(crate) const FOOTER_BYTES: usize = 64;
/// Bytes of a document.
pub(crate) const DOCUMENT_BYTES: usize = 16;
const MAGIC: [u8; 8] = *b"TSSEGM1\0";
const VERSION: u32 = 1;
const ALIGNED: u64 = 64;
const MATRIX_ALIGNED: u64 = 4096;

/// What a segment file says of itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Footer {
    pub(crate) dimension: u32,
    pub(crate) rows: u32,
    pub(crate) documents: u32,
    /// Bytes of the graph.
    pub(crate) graph: u64,
    /// Greatest distance of a row from what it is in brain floats.
    pub(crate) residual: f32,
}

/// First bytes of the sections behind the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) nodes: u64,
    pub(crate) documents: u64,
    pub(crate) matrix: u64,
    pub(crate) footer: u64,
}

impl Footer {
    pub(crate) fn pack(&self) -> [u8; FOOTER_BYTES] {
        let mut out = [0; FOOTER_BYTES];
        out[..8].copy_from_slice(&MAGIC);
        out[8..12].copy_from_slice(&VERSION.to_le_bytes());
        out[12..16].copy_from_slice(&self.dimension.to_le_bytes());
        out[16..20].copy_from_slice(&self.rows.to_le_bytes());
        out[20..24].copy_from_slice(&self.documents.to_le_bytes());
        out[24..32].copy_from_slice(&self.graph.to_le_bytes());
        out[32..36].copy_from_slice(&self.residual.to_le_bytes());
        out[40..48].copy_from_slice(&fingerprint().to_le_bytes());
        out
    }

    /// Reads a footer of vectors of a dimension; else says what is wrong with it.
    pub(crate) fn unpack(bytes: &[u8; FOOTER_BYTES], dimension: usize) -> Result<Self, String> {
        if bytes[..8] != MAGIC {
            return Err("it is no segment file, or not a whole one".into());
        }
        let version = u32::from_le_bytes(part(bytes, 8));
        if version != VERSION {
            return Err(format!(
                "its format is {version}; this program reads {VERSION}"
            ));
        }
        if u64::from_le_bytes(part(bytes, 40)) != fingerprint() {
            let right = graph::settings();
            return Err(format!("its graph was not built by {right}"));
        }
        let footer = Self {
            dimension: u32::from_le_bytes(part(bytes, 12)),
            rows: u32::from_le_bytes(part(bytes, 16)),
            documents: u32::from_le_bytes(part(bytes, 20)),
            graph: u64::from_le_bytes(part(bytes, 24)),
            residual: f32::from_le_bytes(part(bytes, 32)),
        };
        if footer.dimension as usize != dimension {
            let found = footer.dimension;
            return Err(format!(
                "its dimension is {found}; the index has {dimension}"
            ));
        }
        if footer.rows == 0 || !(0.0..1.0).contains(&footer.residual) {
            return Err(format!("its footer makes no sense: {footer:?}"));
        }
        Ok(footer)
    }

    /// Where the sections are; none where numbers this large make no sense.
    pub(crate) fn layout(&self) -> Option<Layout> {
        let rows = u64::from(self.rows);
        let nodes = self.graph.checked_next_multiple_of(ALIGNED)?;
        let documents = nodes
            .checked_add(rows * 4)?
            .checked_next_multiple_of(ALIGNED)?;
        let matrix = documents
            .checked_add(u64::from(self.documents) * DOCUMENT_BYTES as u64)?
            .checked_next_multiple_of(MATRIX_ALIGNED)?;
        let bytes = rows
            .checked_mul(u64::from(self.dimension))?
            .checked_mul(4)?;
        let footer = matrix
            .checked_add(bytes)?
            .checked_next_multiple_of(ALIGNED)?;
        Some(Layout {
            nodes,
            documents,
            matrix,
            footer,
        })
    }
}

impl Layout {
    /// Bytes of the file.
    pub(crate) fn size(&self) -> u64 {
        self.footer.saturating_add(FOOTER_BYTES as u64)
    }
}

fn fingerprint() -> u64 {
    xxhash_rust::xxh3::xxh3_64(graph::settings().as_bytes())
}

fn part<const SIZE: usize>(bytes: &[u8], at: usize) -> [u8; SIZE] {
    std::array::from_fn(|i| bytes[at + i])
}

pub(crate) fn pack_documents(documents: &[DocumentRows]) -> Vec<u8> {
    let mut out = Vec::with_capacity(documents.len() * DOCUMENT_BYTES);
    for document in documents {
        out.extend(document.key.to_le_bytes());
        out.extend(document.start.to_le_bytes());
        out.extend(document.end.to_le_bytes());
    }
    out
}

/// Reads documents of `nodes`; else says what is wrong with them.
pub(crate) fn unpack_documents(bytes: &[u8], nodes: &[u32]) -> Result<Box<[DocumentRows]>, String> {
    let (whole, _) = bytes.as_chunks::<DOCUMENT_BYTES>();
    let documents: Box<[DocumentRows]> = whole.iter().map(unpack_document).collect();
    let ordered = documents.is_sorted_by(|a, b| a.key < b.key && a.end == b.start);
    let first = documents.first().is_some_and(|first| first.start == 0);
    let last = documents.last().map(|last| last.end as usize);
    if !ordered || !first || last != Some(nodes.len()) {
        return Err("its documents are out of order".into());
    }
    let of = |rows: &DocumentRows| nodes.get(rows.start as usize..rows.end as usize);
    let ascending = |rows| of(rows).is_some_and(|nodes| nodes.is_sorted_by(|a, b| a < b));
    if documents
        .iter()
        .all(|rows| rows.start < rows.end && ascending(rows))
    {
        Ok(documents)
    } else {
        Err("the nodes of its documents are out of order".into())
    }
}

fn unpack_document(bytes: &[u8; DOCUMENT_BYTES]) -> DocumentRows {
    DocumentRows {
        key: u64::from_le_bytes(part(bytes, 0)),
        start: u32::from_le_bytes(part(bytes, 8)),
        end: u32::from_le_bytes(part(bytes, 12)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const FOOTER: Footer = Footer {
        dimension: 3,
        rows: 100,
        documents: 7,
        graph: 1_001,
        residual: 0.001,
    };

    #[test]
    fn sections_come_one_behind_another() {
        let right = Layout {
            nodes: 1_024,
            documents: 1_472,
            matrix: 4_096,
            footer: 5_312,
        };
        assert_eq!(FOOTER.layout(), Some(right));
        assert_eq!(right.size(), 5_376);
        let huge = Footer {
            graph: u64::MAX - 100,
            ..FOOTER
        };
        assert_eq!(huge.layout(), None);
    }

    #[test]
    fn a_footer_says_what_was_written() {
        assert_eq!(Footer::unpack(&FOOTER.pack(), 3), Ok(FOOTER));
    }

    #[test]
    fn a_footer_that_does_not_fit_is_refused() {
        let refused = |at: usize, dimension| {
            let mut bytes = FOOTER.pack();
            bytes[at] ^= 0x80;
            Footer::unpack(&bytes, dimension).unwrap_err()
        };
        assert!(refused(0, 3).contains("no segment file"));
        assert!(refused(8, 3).contains("format is 129"));
        assert!(refused(40, 3).contains("was not built by usearch"));
        assert!(refused(12, 3).contains("dimension is 131; the index has 3"));
        assert!(refused(35, 3).contains("no sense"));
    }

    #[test]
    fn documents_that_do_not_fit_their_nodes_are_refused() {
        let rows = |key, start, end| DocumentRows { key, start, end };
        let read = |documents: &[DocumentRows], nodes: &[u32]| {
            unpack_documents(&pack_documents(documents), nodes)
        };
        let right = [rows(3, 0, 2), rows(u64::MAX, 2, 3)];
        assert_eq!(*read(&right, &[1, 2, 0]).unwrap(), right);
        assert!(read(&right, &[1, 1, 0]).is_err());
        assert!(read(&right, &[1, 2, 0, 5]).is_err());
        assert!(read(&[rows(3, 0, 2), rows(3, 2, 3)], &[1, 2, 0]).is_err());
        assert!(read(&[rows(3, 0, 1), rows(4, 2, 3)], &[1, 2, 0]).is_err());
        assert!(read(&[rows(3, 0, 0), rows(4, 0, 3)], &[1, 2, 3]).is_err());
        assert!(read(&[], &[]).is_err());
    }
}
