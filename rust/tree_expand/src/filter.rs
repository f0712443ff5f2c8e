//! Sets of rows as bits, and the filter that turns the documents and nodes a caller allows into such
//! a set.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::segment::DocumentRows;

const BITS: u32 = u64::BITS;

/// A set of the rows `0..len` of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bitmap {
    words: Box<[u64]>,
    len: u32,
}

impl Bitmap {
    /// A set without any row.
    #[must_use]
    pub fn empty(len: u32) -> Self {
        let words = vec![0; len.div_ceil(BITS) as usize].into();
        Self { words, len }
    }

    /// The set of all rows.
    #[must_use]
    pub fn full(len: u32) -> Self {
        let mut all = Self::empty(len);
        all.insert(0..len);
        all
    }

    /// Number of rows that can be in the set.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether no row is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Whether a row is in the set; false for a row that does not exist.
    #[must_use]
    #[inline]
    pub fn contains(&self, row: u32) -> bool {
        self.words
            .get((row / BITS) as usize)
            .is_some_and(|word| word >> (row % BITS) & 1 == 1)
    }

    /// Number of rows in the set.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// Puts rows into the set; those from `len` on are passed over.
    pub fn insert(&mut self, rows: Range<u32>) {
        for (word, bits) in self.masks(rows) {
            self.words[word] |= bits;
        }
    }

    /// Takes rows out of the set; those from `len` on are passed over.
    pub fn remove(&mut self, rows: Range<u32>) {
        for (word, bits) in self.masks(rows) {
            self.words[word] &= !bits;
        }
    }

    /// The rows of the set as ascending ranges that do not touch.
    ///
    /// ```
    /// # use tree_expand::filter::Bitmap;
    /// let mut rows = Bitmap::empty(200);
    /// rows.insert(3..5);
    /// rows.insert(60..130);
    /// assert_eq!(rows.runs().collect::<Vec<_>>(), [3..5, 60..130]);
    /// ```
    pub fn runs(&self) -> impl Iterator<Item = Range<u32>> + '_ {
        let mut next = 0;
        std::iter::from_fn(move || {
            let start = self.first(next, true)?;
            next = self.first(start, false).unwrap_or(self.len);
            Some(start..next)
        })
    }

    /// First row from `from` on that is in the set, or is not.
    fn first(&self, from: u32, within: bool) -> Option<u32> {
        let flip = if within { 0 } else { u64::MAX };
        let mut hidden = u64::MAX << (from % BITS);
        for (word, &bits) in self.words.iter().enumerate().skip((from / BITS) as usize) {
            let seen = (bits ^ flip) & hidden;
            if seen != 0 {
                let row = u32::try_from(word).ok()? * BITS + seen.trailing_zeros();
                return (row < self.len).then_some(row);
            }
            hidden = u64::MAX;
        }
        None
    }

    /// The words that a range of rows touches, each with the bits of the range in it.
    fn masks(&self, rows: Range<u32>) -> impl Iterator<Item = (usize, u64)> + use<> {
        let end = rows.end.min(self.len);
        let start = rows.start.min(end);
        let words = if start < end {
            start / BITS..end.div_ceil(BITS)
        } else {
            0..0
        };
        words.map(move |word| {
            let first = start.max(word * BITS) - word * BITS;
            let count = end.min((word + 1) * BITS) - word * BITS - first;
            (word as usize, (u64::MAX >> (BITS - count)) << first)
        })
    }
}

/// The documents that a search may look at, or some nodes of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// Ascending.
    keys: Vec<u64>,
    nodes: Option<Nodes>,
}

/// Nodes of the allowed documents.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Nodes {
    /// Ascending in a document.
    nodes: Vec<u32>,
    /// Index of the first node of each document, and the number of all.
    starts: Vec<usize>,
}

impl Allowed {
    /// The documents with these keys; keys may come twice and in any order.
    #[must_use]
    pub fn new(mut keys: Vec<u64>) -> Self {
        keys.sort_unstable();
        keys.dedup();
        Self { keys, nodes: None }
    }

    /// These nodes only: `nodes[i]` of the document `documents[i]`.
    ///
    /// # Errors
    /// There are more of one than of the other, or the pairs are not ascending.
    pub fn of_nodes(documents: &[u64], nodes: Vec<u32>) -> Result<Self> {
        if documents.len() != nodes.len() {
            return Err(Error::AllowedCount {
                nodes: nodes.len(),
                documents: documents.len(),
            });
        }
        let pair = |at: usize| (documents[at], nodes[at]);
        if let Some(at) = (1..nodes.len()).find(|&at| pair(at - 1) > pair(at)) {
            return Err(Error::AllowedOrder {
                document: documents[at],
                node: nodes[at],
                before: nodes[at - 1],
                of: documents[at - 1],
            });
        }
        let (mut keys, mut starts) = (Vec::new(), Vec::new());
        for (at, &key) in documents.iter().enumerate() {
            if keys.last() != Some(&key) {
                keys.push(key);
                starts.push(at);
            }
        }
        starts.push(nodes.len());
        let nodes = Some(Nodes { nodes, starts });
        Ok(Self { keys, nodes })
    }

    /// Whether a node is allowed.
    #[must_use]
    pub fn contains(&self, key: u64, node: u32) -> bool {
        self.keys
            .binary_search(&key)
            .is_ok_and(|at| match &self.nodes {
                None => true,
                Some(nodes) => nodes.of(at).binary_search(&node).is_ok(),
            })
    }

    /// The allowed ones of the `live` rows. `documents` are ascending by key, and `nodes` are those
    /// of all rows.
    pub(crate) fn rows(&self, documents: &[DocumentRows], nodes: &[u32], live: &Bitmap) -> Bitmap {
        let mut rows = Bitmap::empty(live.len());
        let mut allow = |document: &DocumentRows, at: usize| {
            if live.contains(document.start) {
                self.allow(document, at, nodes, &mut rows);
            }
        };
        if self.keys.len() < documents.len() {
            for (at, key) in self.keys.iter().enumerate() {
                if let Ok(found) = documents.binary_search_by_key(key, |document| document.key) {
                    allow(&documents[found], at);
                }
            }
        } else {
            for document in documents {
                if let Ok(at) = self.keys.binary_search(&document.key) {
                    allow(document, at);
                }
            }
        }
        rows
    }

    /// Puts the allowed rows of a document into a set; `at` is where its key is.
    fn allow(&self, document: &DocumentRows, at: usize, nodes: &[u32], rows: &mut Bitmap) {
        let Some(allowed) = &self.nodes else {
            rows.insert(document.start..document.end);
            return;
        };
        let mut allowed = allowed.of(at).iter().peekable();
        for row in document.start..document.end {
            let node = nodes[row as usize];
            while allowed.next_if(|&&other| other < node).is_some() {}
            match allowed.peek() {
                None => return,
                Some(&&other) if other == node => rows.insert(row..row + 1),
                Some(_) => {}
            }
        }
    }
}

impl Nodes {
    /// Allowed nodes of the document at an index.
    fn of(&self, at: usize) -> &[u32] {
        &self.nodes[self.starts[at]..self.starts[at + 1]]
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn ranges(len: u32) -> impl Strategy<Value = Vec<(bool, u32, u32)>> {
        prop::collection::vec((any::<bool>(), 0..len + 70, 0..200u32), 0..30)
    }

    proptest! {
        #[test]
        fn bits_are_a_set_of_numbers(len in 0u32..500, changes in ranges(500)) {
            let mut bits = Bitmap::empty(len);
            let mut model = BTreeSet::new();
            for (insert, start, count) in changes {
                if insert {
                    bits.insert(start..start + count);
                    model.extend((start..start + count).filter(|&row| row < len));
                } else {
                    bits.remove(start..start + count);
                    model.retain(|row| !(start..start + count).contains(row));
                }
            }
            prop_assert_eq!(bits.runs().flatten().collect::<BTreeSet<_>>(), model.clone());
            prop_assert_eq!(bits.count() as usize, model.len());
            prop_assert_eq!(bits.is_empty(), model.is_empty());
            for row in 0..len + 100 {
                prop_assert_eq!(bits.contains(row), model.contains(&row));
            }
            let runs: Vec<_> = bits.runs().collect();
            prop_assert!(runs.windows(2).all(|pair| pair[0].end < pair[1].start));
        }

        #[test]
        fn allowed_rows_are_the_live_rows_of_the_named_documents(
            sizes in prop::collection::vec((1u32..5, any::<bool>()), 1..60),
            keys in prop::collection::vec(0u64..200, 0..80),
        ) {
            let mut end = 0;
            let mut live = Bitmap::full(sizes.iter().map(|size| size.0).sum());
            let mut documents = Vec::new();
            let mut model = BTreeSet::new();
            for (index, (size, alive)) in sizes.into_iter().enumerate() {
                let rows = DocumentRows { key: index as u64 * 3, start: end, end: end + size };
                end += size;
                if !alive {
                    live.remove(rows.start..rows.end);
                } else if keys.contains(&rows.key) {
                    model.extend(rows.start..rows.end);
                }
                documents.push(rows);
            }
            let nodes: Vec<u32> = (0..live.len()).collect();
            let rows = Allowed::new(keys).rows(&documents, &nodes, &live);
            prop_assert_eq!(rows.runs().flatten().collect::<BTreeSet<_>>(), model);
        }

        #[test]
        fn allowed_rows_are_the_live_rows_of_the_named_nodes(
            documents in prop::collection::btree_map(
                0u64..30,
                (prop::collection::btree_set(0u32..20, 1..6), any::<bool>()),
                0..20,
            ),
            allowed in prop::collection::vec((0u64..32, 0u32..22), 0..90),
        ) {
            let mut allowed = allowed;
            allowed.sort_unstable();
            let (keys, wanted): (Vec<u64>, Vec<u32>) = allowed.iter().copied().unzip();
            let all = Allowed::of_nodes(&keys, wanted).expect("they are ascending");
            let (mut nodes, mut rows, mut dead) = (Vec::new(), Vec::new(), Vec::new());
            let mut model = BTreeSet::new();
            let mut end = 0;
            for (key, (positions, alive)) in documents {
                let start = end;
                for node in positions {
                    if alive && allowed.contains(&(key, node)) {
                        model.insert(end);
                    }
                    prop_assert_eq!(all.contains(key, node), allowed.contains(&(key, node)));
                    nodes.push(node);
                    end += 1;
                }
                rows.push(DocumentRows { key, start, end });
                if !alive {
                    dead.push(start..end);
                }
            }
            let mut live = Bitmap::full(end);
            for rows in dead {
                live.remove(rows);
            }
            let found = all.rows(&rows, &nodes, &live);
            prop_assert_eq!(found.runs().flatten().collect::<BTreeSet<_>>(), model);
        }
    }

    #[test]
    fn allowed_nodes_are_pairs_in_order() {
        let count = Error::AllowedCount {
            nodes: 1,
            documents: 2,
        };
        assert_eq!(Allowed::of_nodes(&[1, 2], vec![3]), Err(count));
        let order = Error::AllowedOrder {
            document: 2,
            node: 3,
            before: 4,
            of: 2,
        };
        assert_eq!(Allowed::of_nodes(&[1, 2, 2], vec![9, 4, 3]), Err(order));
        assert!(Allowed::of_nodes(&[1, 2, 2], vec![9, 3, 3]).is_ok());
    }
}
