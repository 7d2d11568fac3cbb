//! The best answer so far, and the value that a better answer must exceed.

use super::fits::Limit;
use super::input::{Input, Totals, greater};
use super::reduce::Problem;
use super::{bytes, reserve_total};
use crate::base::Result;

/// Differences below this fraction of the values at stake are rounding: sums of many terms carry that much.
pub(super) const VALUE_PRECISION: f64 = 1e-12;

/// The question, shared by all steps.
#[derive(Clone, Copy)]
pub(super) struct Case<'a> {
    pub input: &'a Input,
    pub problem: &'a Problem,
    pub limit: Limit,
    pub accepted_gap: f64,
}

impl Case<'_> {
    /// Whether a reduced problem's totals fit. Stricter than the final predicate by half the tolerance. That half
    /// covers the different order of additions.
    pub fn fits(&self, totals: Totals) -> bool {
        let limit = Limit { tolerance: 0.5 * self.limit.tolerance, ..self.limit };
        limit.admits(self.problem.base.plus(totals.with_variance_at_least_zero()))
    }
}

impl Case<'_> {
    /// Whether variances don't count.
    pub fn is_scalar(&self) -> bool {
        self.limit.sigmas == 0.0
    }

    /// Whether these totals may fit. Needs no square root: totals often exceed the limit by far.
    pub fn may_fit(&self, totals: Totals) -> bool {
        let Limit { capacity, sigmas, tolerance } = self.limit;
        let room = capacity + tolerance - (self.problem.base.mean + totals.mean);
        let variance = self.problem.base.variance + totals.variance;
        (room >= 0.0) & ((1.0 - 1e-9) * sigmas * sigmas * variance <= room * room + f64::MIN_POSITIVE)
    }

    /// Whether these totals fit, also with any other order of additions.
    fn clearly_fits(&self, totals: Totals) -> bool {
        let limit = Limit { tolerance: 0.0, ..self.limit };
        limit.admits(self.problem.base.plus(totals.with_variance_at_least_zero()))
    }

    /// Whether these totals don't fit, also with any other order of additions.
    pub fn clearly_overdraws(&self, totals: Totals) -> bool {
        let limit = Limit { tolerance: 2.0 * self.limit.tolerance, ..self.limit };
        !limit.admits(self.problem.base.plus(totals))
    }
}

impl Totals {
    /// Repeated additions and subtractions can round a variance to slightly below 0.
    fn with_variance_at_least_zero(self) -> Self {
        Self { variance: self.variance.max(0.0), ..self }
    }
}

/// The most by which the optimum may exceed an answer that is worth this much more than the lightest choices.
pub(super) fn accepted_excess(accepted_gap: f64, value: f64) -> f64 {
    // Slightly less than accepted, so that the reported gap stays within it despite rounding.
    let gap = accepted_gap * (1.0 - 1e-9);
    gap / (1.0 + gap) * greater(value, 0.0)
}

/// The distance of a value from its bound, as a share of the bound's worth above that of the lightest choices. 1 for an
/// answer worth no more than these, and without an answer.
pub(super) fn gap(bound: f64, value: f64, lightest: f64) -> f64 {
    if value <= lightest { 1.0 } else { (bound - value) / (bound - lightest) }
}

#[derive(Debug)]
pub(super) struct Incumbent {
    /// Value relative to the best of each setting, as in [`Problem`], so at most 0. `-infinity` without an answer.
    pub value: f64,
    /// The option of each class.
    picks: Vec<u32>,
    /// The choices per setting of the input, as last written.
    pub choices: Vec<u16>,
    trial: Vec<u16>,
    /// Whether all answers are added up anew, even if they seem to fit clearly.
    pub is_careful: bool,
    /// If positive, all values are multiples of it, so a better answer is better by at least this.
    pub step: f64,
}

impl Default for Incumbent {
    fn default() -> Self {
        Self {
            value: f64::NEG_INFINITY,
            picks: Vec::new(),
            choices: Vec::new(),
            trial: Vec::new(),
            is_careful: false,
            step: 0.0,
        }
    }
}

impl Incumbent {
    pub fn reserve(&mut self, settings: usize) -> Result<()> {
        reserve_total(&mut self.picks, settings)?;
        reserve_total(&mut self.choices, settings)?;
        reserve_total(&mut self.trial, settings)
    }

    pub fn memory_used(&self) -> usize {
        bytes(&self.picks) + bytes(&self.choices) + bytes(&self.trial)
    }

    /// Store these picks and the value of `totals`, without a check.
    pub fn put(&mut self, case: &Case, totals: Totals, picks: &[u32]) {
        self.value = totals.value;
        self.picks.clear();
        self.picks.extend_from_slice(&picks[..case.problem.class_count()]);
    }

    /// Store these picks if they are better and fit by the final predicate.
    pub fn offer(&mut self, case: &Case, totals: Totals, picks: &[u32]) {
        if totals.value > self.value && self.admits(case, totals, picks) {
            self.put(case, totals, picks);
        }
    }

    /// Whether exactly these picks fit. Most fit by so much that they need not be added up again.
    pub fn admits(&mut self, case: &Case, totals: Totals, picks: &[u32]) -> bool {
        !self.is_careful && case.clearly_fits(totals) || {
            write_choices(case.problem, picks, &mut self.trial);
            case.limit.admits_choices(case.input, &self.trial)
        }
    }

    /// Write the choices. Returns their sums in the caller's numbers.
    pub fn finish(&mut self, case: &Case) -> Totals {
        write_choices(case.problem, &self.picks, &mut self.choices);
        case.input.totals(&self.choices)
    }

    /// Answers worth no more than this are not wanted. `stake` is the magnitude of the terms of a bound other than
    /// values.
    pub fn cut(&self, case: &Case, stake: f64) -> f64 {
        self.cut_within(case, stake, 1.0)
    }

    /// The same for a share of the accepted gap.
    pub fn cut_within(&self, case: &Case, stake: f64, share: f64) -> f64 {
        let rounding = VALUE_PRECISION * (self.value.abs() + stake);
        let step = if self.step > 100.0 * rounding { 0.9 * self.step } else { 0.0 };
        self.value + rounding.max(share * self.allowance(case)).max(step)
    }

    /// Excess of the optimum that the accepted gap allows: a share of the value above that of the lightest choices.
    pub fn allowance(&self, case: &Case) -> f64 {
        accepted_excess(case.accepted_gap, self.value - case.problem.lightest_totals.value)
    }
}

fn write_choices(problem: &Problem, picks: &[u32], choices: &mut Vec<u16>) {
    choices.clear();
    choices.extend_from_slice(&problem.no_choices);
    for (class, &pick) in picks[..problem.class_count()].iter().enumerate() {
        let (setting, choice) = problem.choice(class, pick);
        choices[setting] = choice;
    }
}
