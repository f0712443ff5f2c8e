//! Sets of rows as bits, and the filter that turns the documents a caller allows into such a set.

use std::ops::Range;

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

/// The documents that a search may look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed(Vec<u64>);

impl Allowed {
    /// The documents with these keys; keys may come twice and in any order.
    #[must_use]
    pub fn new(mut keys: Vec<u64>) -> Self {
        keys.sort_unstable();
        keys.dedup();
        Self(keys)
    }

    /// Whether a document is allowed.
    #[must_use]
    pub fn contains(&self, key: u64) -> bool {
        self.0.binary_search(&key).is_ok()
    }

    /// The live rows of the allowed documents among `documents`, which are ascending by key.
    pub(crate) fn rows(&self, documents: &[DocumentRows], live: &Bitmap) -> Bitmap {
        let mut rows = Bitmap::empty(live.len());
        let mut allow = |document: &DocumentRows| {
            if live.contains(document.start) {
                rows.insert(document.start..document.end);
            }
        };
        if self.0.len() < documents.len() {
            for key in &self.0 {
                if let Ok(at) = documents.binary_search_by_key(key, |document| document.key) {
                    allow(&documents[at]);
                }
            }
        } else {
            documents
                .iter()
                .filter(|document| self.contains(document.key))
                .for_each(allow);
        }
        rows
    }
}

#[cfg(test)]
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
            let rows = Allowed::new(keys).rows(&documents, &live);
            prop_assert_eq!(rows.runs().flatten().collect::<BTreeSet<_>>(), model);
        }
    }
}
