//! The rows that may be among the best of a query, by dot products that are off by a known amount.
//!
//! Of rows in brain floats only rough dot products are known, and the exact ones cost a read. With
//! `error` as the most that a rough one is off, a row is out as soon as `limit` others are better for
//! certain: when its rough dot product plus `error` is less than theirs minus `error`.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Rows that are kept before it is looked which of them are out by now.
const LEAST_ROWS: usize = 256;

/// A row and the most that its dot product can be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) most: f32,
    pub(crate) row: u32,
}

/// The rows of a segment that may be among the best `limit`.
#[derive(Debug)]
pub(crate) struct Near {
    limit: usize,
    error: f32,
    /// A row whose dot product is below is out.
    floor: f32,
    /// The best `limit` of what dot products are at least; the worst is on top.
    least: BinaryHeap<Reverse<Total>>,
    rows: Vec<Row>,
    full: usize,
}

impl Near {
    /// No rows yet, for `limit` of them with a dot product of at least `floor`.
    pub(crate) fn new(limit: usize, error: f32, floor: f32) -> Self {
        Self {
            limit,
            error,
            floor,
            least: BinaryHeap::new(),
            rows: Vec::new(),
            full: LEAST_ROWS,
        }
    }

    /// A row whose dot product is below is out.
    pub(crate) fn floor(&self) -> f32 {
        self.floor
    }

    /// Most by which a rough dot product is off.
    pub(crate) fn error(&self) -> f32 {
        self.error
    }

    /// Looks at a row and its rough dot product.
    #[inline]
    pub(crate) fn offer(&mut self, row: u32, rough: f32) {
        let most = rough + self.error;
        if most < self.floor {
            return;
        }
        self.rows.push(Row { most, row });
        self.raise(rough - self.error);
        if self.rows.len() >= self.full {
            self.prune();
            self.full = LEAST_ROWS.max(2 * self.rows.len());
        }
    }

    /// Takes into account that a row has a dot product of at least `least`.
    fn raise(&mut self, least: f32) {
        if self.least.len() < self.limit {
            self.least.push(Reverse(Total(least)));
        } else if let Some(mut worst) = self.least.peek_mut()
            && least > worst.0.0
        {
            *worst = Reverse(Total(least));
        }
        if self.least.len() == self.limit
            && let Some(Reverse(Total(worst))) = self.least.peek()
        {
            self.floor = self.floor.max(*worst);
        }
    }

    fn prune(&mut self) {
        self.rows.retain(|row| row.most >= self.floor);
    }

    /// The rows that are not out, those that can be best first.
    pub(crate) fn into_rows(mut self) -> Vec<Row> {
        self.prune();
        self.rows
            .sort_unstable_by(|a, b| b.most.total_cmp(&a.most).then(a.row.cmp(&b.row)));
        self.rows
    }
}

/// A number that is ordered among all others.
#[derive(Clone, Copy, Debug)]
struct Total(f32);

impl PartialEq for Total {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Total {}

impl PartialOrd for Total {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Total {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_out_is_worse_than_the_best(
            dots in prop::collection::vec((-40i8..40, -3i8..4), 0..900),
            limit in 1usize..20,
            floor in 0i8..30,
        ) {
            let [error, floor] = [3.0, f32::from(floor)];
            let mut near = Near::new(limit, error, floor);
            for (row, &(exact, off)) in (0..).zip(&dots) {
                near.offer(row, f32::from(exact) + f32::from(off));
            }
            let rows = near.into_rows();
            prop_assert!(rows.windows(2).all(|pair| pair[0].most >= pair[1].most));
            let mut best: Vec<f32> = dots.iter().map(|dot| f32::from(dot.0)).collect();
            best.sort_by(|a, b| b.total_cmp(a));
            let worst = best.get(limit - 1).copied().unwrap_or(-100.0).max(floor);
            for (row, &(exact, _)) in (0..).zip(&dots) {
                let kept = rows.iter().any(|near| near.row == row);
                prop_assert!(kept || f32::from(exact) < worst);
            }
        }
    }

    #[test]
    fn rows_that_came_to_be_out_are_not_kept() {
        let mut near = Near::new(1, 0.5, 0.0);
        for row in 0..60_000u16 {
            near.offer(u32::from(row), f32::from(row));
            assert!(near.rows.len() <= LEAST_ROWS);
        }
        assert_eq!(near.into_rows().len(), 2);
    }
}
