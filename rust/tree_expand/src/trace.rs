//! How a window was grown: its steps, and why each direction ended. The numbers are those of
//! `treespan.v1`.

use crate::budget::Budget;

/// Where a step went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Direction {
    /// Into the hit's subtree.
    Down = 1,
    /// To a following sibling; in LINEAR and `SENTENCE_WINDOW` to the following text.
    Next = 2,
    /// To a preceding sibling; in LINEAR and `SENTENCE_WINDOW` to the preceding text.
    Previous = 3,
    /// To an ancestor's own text; in PARENT to an ancestor's whole subtree.
    Up = 4,
}

/// What came of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Outcome {
    /// It was taken.
    Taken = 1,
    /// It did not fit: what was taken before stays, the direction ends.
    Stop = 2,
    /// It did not fit: nothing of it was taken or charged. Going down: a heading is given back and
    /// refunded, because nothing below it fitted.
    Rollback = 3,
}

/// Why a direction ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(i32)]
pub enum StopReason {
    /// The direction was never tried.
    #[default]
    Untried = 0,
    /// Nothing was left to take.
    End = 1,
    /// Something did not fit the budget.
    Budget = 2,
    /// Something was left, but a refusal in another direction had closed the side.
    Closed = 3,
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Where it went.
    pub direction: Direction,
    /// What came of it.
    pub outcome: Outcome,
    /// Position of the node looked at.
    pub node: u32,
    /// Tokens that taking it costs.
    pub tokens: u64,
    /// Budget left after the step.
    pub budget_left: u32,
}

/// How the window of one hit was grown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expansion {
    /// Token budget of the hit.
    pub budget_tokens: u32,
    /// Tokens charged: those of the texts in the window.
    pub used_tokens: u32,
    /// The hit's own text exceeds the budget, so it stands alone.
    pub hit_exceeds_budget: bool,
    /// Why the walk into the hit's subtree ended.
    pub down: StopReason,
    /// Why the walk to what follows ended.
    pub next: StopReason,
    /// Why the walk to what precedes ended.
    pub previous: StopReason,
    /// Why the climb ended.
    pub up: StopReason,
    /// The steps in the order they were made; empty unless they were asked for.
    pub steps: Vec<Step>,
}

impl Expansion {
    /// What a budget and the steps that it paid for say of a window.
    pub(crate) fn of<R: Record>(budget: Budget, steps: R) -> Self {
        Self {
            budget_tokens: budget.total(),
            used_tokens: budget.spent(),
            steps: steps.into_steps(),
            ..Self::default()
        }
    }
}

/// Where steps go: into a list, or, as `()`, nowhere and at no cost.
pub(crate) trait Record: Default {
    /// Whether steps are kept.
    const KEPT: bool;

    /// Takes note of a step.
    fn step(&mut self, step: Step);

    /// The steps noted.
    fn into_steps(self) -> Vec<Step>;
}

impl Record for () {
    const KEPT: bool = false;

    #[inline]
    fn step(&mut self, _: Step) {}

    fn into_steps(self) -> Vec<Step> {
        Vec::new()
    }
}

impl Record for Vec<Step> {
    const KEPT: bool = true;

    fn step(&mut self, step: Step) {
        self.push(step);
    }

    fn into_steps(self) -> Vec<Step> {
        self
    }
}
