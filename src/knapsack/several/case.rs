//! The question that the steps answer, the best answer so far, and the work that they may still do.

use super::super::Economy;
pub(super) use super::super::budget::{Budget, pass};
use super::super::incumbent::accepted_excess;
use super::input::Input;
use super::problem::Problem;
use super::{bytes, reserve_total};
use crate::base::Result;

/// Fraction of the values at stake that counts as rounding.
pub(super) const PRECISION: f64 = 1e-12;

/// The question, shared by all steps.
#[derive(Clone, Copy)]
pub(super) struct Case<'a> {
    pub input: &'a Input,
    pub problem: &'a Problem,
    pub economies: &'a [Economy],
    pub accepted_gap: f64,
}

impl Case<'_> {
    /// Whether exactly these choices fit.
    fn admits(&self, choices: &[u16]) -> bool {
        let totals = self.input.totals(choices);
        self.problem.constraints().iter().all(|constraint| {
            let weight = totals.weights[constraint.resource];
            constraint.limit.admits(super::super::input::Totals {
                value: 0.0,
                mean: weight.mean,
                variance: weight.variance,
            })
        })
    }
}

/// The best answer so far.
#[derive(Debug, Default)]
pub(super) struct Incumbent {
    /// Value relative to the best of each setting, as in [`Problem`], so at most 0. `-infinity` without an answer.
    pub value: f64,
    pub choices: Vec<u16>,
    trial: Vec<u16>,
}

impl Incumbent {
    pub fn reserve(&mut self, settings: usize) -> Result<()> {
        reserve_total(&mut self.choices, settings)?;
        reserve_total(&mut self.trial, settings)
    }

    pub fn memory_used(&self) -> usize {
        bytes(&self.choices) + bytes(&self.trial)
    }

    /// Store these choices, without a check.
    pub fn put(&mut self, case: &Case, picks: &[u32]) {
        case.problem.write_choices(picks, &mut self.choices);
    }

    /// Store these choices if they are better and fit by the final predicate.
    pub fn offer(&mut self, case: &Case, value: f64, picks: &[u32]) -> bool {
        if value <= self.value {
            return false;
        }
        case.problem.write_choices(picks, &mut self.trial);
        if !case.admits(&self.trial) {
            return false;
        }
        self.value = value;
        std::mem::swap(&mut self.choices, &mut self.trial);
        true
    }

    /// Answers worth no more than this are not wanted. `stake` is the magnitude of the terms of a bound other than
    /// values.
    pub fn cut(&self, case: &Case, stake: f64) -> f64 {
        if self.value == f64::NEG_INFINITY {
            return self.value;
        }
        self.value + (PRECISION * (self.value.abs() + stake)).max(self.allowance(case))
    }

    /// Excess of the optimum that the accepted gap allows: a share of the value above that of the least valuable
    /// choices.
    pub fn allowance(&self, case: &Case) -> f64 {
        accepted_excess(case.accepted_gap, self.value + case.problem.value_range)
    }
}
