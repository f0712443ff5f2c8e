//! Token budgets: the one of a hit, which every step spends from, and the one of an answer, which
//! hits share.

/// Tokens that one hit may spend on itself and its context.
///
/// ```
/// use tree_expand::budget::Budget;
///
/// let mut budget = Budget::new(10);
/// assert!(budget.take(7));
/// assert!(!budget.take(4), "a refusal charges nothing");
/// assert_eq!(budget.left(), 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    total: u32,
    left: u32,
}

impl Budget {
    /// A budget of which nothing is spent.
    #[must_use]
    pub fn new(tokens: u32) -> Self {
        Self {
            total: tokens,
            left: tokens,
        }
    }

    /// Whether this many tokens are left.
    #[inline]
    #[must_use]
    pub fn fits(&self, tokens: u64) -> bool {
        tokens <= u64::from(self.left)
    }

    /// Charges the tokens if they fit and says whether they did; else charges nothing.
    #[inline]
    #[must_use]
    pub fn take(&mut self, tokens: u64) -> bool {
        match u32::try_from(tokens) {
            Ok(tokens) if tokens <= self.left => {
                self.left -= tokens;
                true
            }
            _ => false,
        }
    }

    /// Gives tokens back that were taken before.
    pub fn refund(&mut self, tokens: u32) {
        debug_assert!(
            tokens <= self.spent(),
            "a refund is never more than what was taken"
        );
        self.left += tokens;
    }

    /// Tokens that are left.
    #[inline]
    #[must_use]
    pub fn left(&self) -> u32 {
        self.left
    }

    /// Tokens that were taken.
    #[must_use]
    pub fn spent(&self) -> u32 {
        self.total - self.left
    }

    /// Tokens that the budget started with.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.total
    }
}

/// What the hits of one answer share: served in rank order, each gets its own budget or what is
/// left of the answer's.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    per_hit: u32,
    left: Option<u64>,
}

impl Allowance {
    /// An allowance of `per_hit` tokens for each hit and of `answer` tokens for all of them, where
    /// given.
    #[must_use]
    pub fn new(per_hit: u32, answer: Option<u32>) -> Self {
        Self {
            per_hit,
            left: answer.map(u64::from),
        }
    }

    /// Whether that many new tokens may still enter the answer.
    #[must_use]
    pub fn admits(&self, tokens: u64) -> bool {
        self.left.is_none_or(|left| tokens <= left)
    }

    /// The budget of the next hit, of whose own text `delivered` tokens are in the answer already
    /// and cost nothing.
    #[must_use]
    pub fn of_hit(&self, delivered: u64) -> u32 {
        let left = self
            .left
            .map_or(u64::MAX, |left| left.saturating_add(delivered));
        u32::try_from(left).map_or(self.per_hit, |left| left.min(self.per_hit))
    }

    /// Charges the answer's budget; more than what is left leaves nothing.
    pub fn charge(&mut self, tokens: u64) {
        self.left = self.left.map(|left| left.saturating_sub(tokens));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_beyond_32_bits_does_not_fit() {
        let mut budget = Budget::new(u32::MAX);
        assert!(!budget.take(u64::from(u32::MAX) + 1));
        assert!(budget.take(u64::from(u32::MAX)));
        assert!(budget.take(0), "what costs nothing always fits");
    }

    #[test]
    fn a_hit_gets_its_own_budget_or_what_is_left_of_the_answers() {
        let mut allowance = Allowance::new(100, Some(130));
        assert_eq!(allowance.of_hit(0), 100);
        allowance.charge(100);
        assert_eq!(allowance.of_hit(0), 30);
        assert_eq!(allowance.of_hit(20), 50, "its own text was paid before");
        assert!(allowance.admits(30) && !allowance.admits(31));
        allowance.charge(1_000);
        assert_eq!(allowance.of_hit(0), 0);
    }

    #[test]
    fn without_an_answer_budget_every_hit_gets_its_own() {
        let mut allowance = Allowance::new(100, None);
        allowance.charge(u64::MAX);
        assert_eq!(allowance.of_hit(0), 100);
        assert!(allowance.admits(u64::MAX));
    }
}
