//! Sets of numbers as ascending ranges that neither overlap nor touch.

use std::ops::Range;

/// A set of `u32`, as ranges.
///
/// ```
/// use tree_expand::ranges::Ranges;
///
/// let mut set = Ranges::default();
/// assert_eq!(set.add(&[0..2, 5..8]), [0..2, 5..8]);
/// assert_eq!(set.add(&[1..6]), [2..5], "what is new");
/// assert_eq!(set.as_slice(), [0..8]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges(Vec<Range<u32>>);

impl Ranges {
    /// Adds ascending, disjoint ranges and returns the parts that were not in the set.
    pub fn add(&mut self, incoming: &[Range<u32>]) -> Vec<Range<u32>> {
        let fresh = self.missing(incoming);
        if !fresh.is_empty() {
            self.0 = united(&self.0, &fresh);
        }
        fresh
    }

    /// The parts of ascending, disjoint ranges that are not in the set.
    #[must_use]
    pub fn missing(&self, ranges: &[Range<u32>]) -> Vec<Range<u32>> {
        let mut missing = Vec::new();
        for range in ranges {
            let mut start = range.start;
            for present in self.overlapping(range) {
                if start < present.start {
                    missing.push(start..present.start);
                }
                start = present.end.min(range.end);
            }
            if start < range.end {
                missing.push(start..range.end);
            }
        }
        missing
    }

    /// Whether a number is in the set.
    #[must_use]
    pub fn contains(&self, number: u32) -> bool {
        !self.overlapping(&(number..number + 1)).is_empty()
    }

    /// The ranges of the set, ascending.
    #[must_use]
    pub fn as_slice(&self) -> &[Range<u32>] {
        &self.0
    }

    /// The ranges of the set that have a number in common with a range.
    fn overlapping(&self, range: &Range<u32>) -> &[Range<u32>] {
        let start = self.0.partition_point(|present| present.end <= range.start);
        let count = self.0[start..].partition_point(|present| present.start < range.end);
        &self.0[start..start + count]
    }
}

/// Both lists as one, ranges that touch joined.
fn united(present: &[Range<u32>], added: &[Range<u32>]) -> Vec<Range<u32>> {
    let (mut left, mut right) = (present.iter().peekable(), added.iter().peekable());
    let mut united: Vec<Range<u32>> = Vec::with_capacity(left.len() + right.len());
    loop {
        let next = match (left.peek(), right.peek()) {
            (None, None) => return united,
            (Some(one), Some(other)) if one.start <= other.start => left.next(),
            (Some(_), None) => left.next(),
            (_, Some(_)) => right.next(),
        };
        match (united.last_mut(), next) {
            (Some(last), Some(range)) if range.start <= last.end => {
                last.end = last.end.max(range.end);
            }
            (_, next) => united.extend(next.cloned()),
        }
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init)]
mod tests {
    use super::*;

    #[test]
    fn adding_what_is_there_returns_nothing() {
        let mut set = Ranges::default();
        set.add(&[3..7]);
        assert!(set.add(&[4..6]).is_empty());
        assert_eq!(set.as_slice(), [3..7]);
    }

    #[test]
    fn ranges_that_touch_become_one() {
        let mut set = Ranges::default();
        set.add(&[0..2, 4..6]);
        assert_eq!(set.add(&[2..4]), [2..4]);
        assert_eq!(set.as_slice(), [0..6]);
    }

    #[test]
    fn one_range_may_be_new_in_several_parts() {
        let mut set = Ranges::default();
        set.add(&[2..3, 5..6, 9..10]);
        assert_eq!(set.add(&[0..4, 5..12]), [0..2, 3..4, 6..9, 10..12]);
        assert_eq!(set.as_slice(), [0..4, 5..12]);
        assert!(set.contains(11) && !set.contains(4) && !set.contains(12));
    }
}
