//! Runs the steps in order, and keeps account of the proof.

use super::super::{Economy, Effort, fits::Limit, incumbent::gap};
use super::case::{Budget, Case, Incumbent, PRECISION};
use super::dual::{Dual, Guess, Prices};
use super::input::{Input, Totals};
use super::linear::{Box, Linear, MOST_BOXES};
use super::problem::Problem;
use super::proof::Proof;
use super::repair::Repair;
use super::search::Search;
use super::{Answer, MOST_RESOURCES, Weight, bytes, reserve_total};
use crate::base::Result;

/// The final state of the last solve. The next one starts from it if the shape is the same.
#[derive(Debug, Default)]
struct Last {
    shape: Option<(usize, usize, usize)>,
    /// By resource, per unit.
    prices: Prices,
}

/// The working data of a solve. Kept for its memory. The choices and `last` also begin the next solve.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    problem: Problem,
    linear: Linear,
    dual: Dual,
    repair: Repair,
    search: Search,
    incumbent: Incumbent,
    last: Last,
    boxes: Vec<Box>,
    picks: Vec<u32>,
}

impl Workspace {
    pub fn reserve(&mut self, settings: usize, options: usize, resources: usize) -> Result<()> {
        self.problem.reserve(settings, options, resources)?;
        self.linear.reserve(options, resources)?;
        self.dual.reserve(settings, options)?;
        self.repair.reserve(settings, options)?;
        self.search.reserve(settings, options)?;
        self.incumbent.reserve(settings)?;
        reserve_total(&mut self.boxes, MOST_BOXES)?;
        reserve_total(&mut self.picks, settings)
    }

    pub fn memory_used(&self) -> usize {
        self.problem.memory_used()
            + self.linear.memory_used()
            + self.dual.memory_used()
            + self.repair.memory_used()
            + self.search.memory_used()
            + self.incumbent.memory_used()
            + bytes(&self.boxes)
            + bytes(&self.picks)
    }

    pub fn forget(&mut self) {
        self.last.shape = None;
    }

    pub fn choices(&self) -> &[u16] {
        &self.incumbent.choices
    }

    pub fn solve(&mut self, input: &Input, economies: &[Economy], effort: Effort) -> Answer {
        let shape = Some((input.setting_count(), input.option_count(), input.resources()));
        let is_warm = self.last.shape == shape && self.incumbent.choices.len() == input.setting_count();
        self.problem.fill(input, economies);
        let Self { problem, linear, dual, repair, search, incumbent, last, boxes, picks } = self;
        let case = Case { input, problem, economies, accepted_gap: effort.accepted_gap };
        let mut budget = Budget { spent: 0, limit: effort.node_limit };
        last.shape = shape;

        picks.clear();
        if is_warm {
            problem.read_choices(&incumbent.choices, picks);
        }
        incumbent.value = f64::NEG_INFINITY;
        if !problem.impossible && incumbent.offer(&case, 0.0, &problem.best) {
            last.prices = Prices::default();
            return report(&case, incumbent, Some(0.0), &Prices::default(), budget.spent);
        }
        if is_warm && !problem.impossible {
            // The last answer is kept if it still fits, so that it is not lost at a low limit.
            let value = picks.iter().map(|&pick| problem.value[pick as usize]).sum();
            incumbent.offer(&case, value, picks);
        }
        let guess = if is_warm { Guess::Near(last.prices) } else { Guess::Unknown };
        let (case_ref, budget_ref) = (&case, &mut budget);
        let mut proof =
            Proof { case: case_ref, linear, dual, repair, search, incumbent, boxes, others: picks, budget: budget_ref };
        let (bound, prices) = proof.run(guess);
        last.prices = prices;
        report(&case, incumbent, bound, &prices, budget.spent)
    }
}

/// `bound` is in the numbers of [`Problem`]; `None` if nothing fits.
fn report(case: &Case, incumbent: &Incumbent, bound: Option<f64>, prices: &Prices, nodes: u64) -> Answer {
    let Totals { value, weights } = case.input.totals(&incumbent.choices);
    let feasible = incumbent.value > f64::NEG_INFINITY;
    let proven = bound.is_none_or(|bound| bound <= incumbent.value + PRECISION * incumbent.value.abs());
    let upper_bound = match bound {
        Some(bound) if !proven => (case.problem.base_value + bound).max(value),
        _ => value,
    };
    let mut answer = Answer {
        feasible,
        proven,
        value,
        totals: weights,
        burden: [0.0; MOST_RESOURCES],
        excess: [0.0; MOST_RESOURCES],
        prices: *prices,
        upper_bound,
        gap: bound.filter(|_| !proven).map_or(0.0, |bound| gap(bound, incumbent.value, -case.problem.value_range)),
        nodes,
    };
    for (resource, &economy) in case.economies.iter().enumerate() {
        let Weight { mean, variance } = weights[resource];
        let burden = Limit::new(economy, 0.0).burden(super::super::input::Totals { value, mean, variance });
        answer.burden[resource] = burden;
        answer.excess[resource] = excess(burden, economy.capacity, feasible);
    }
    answer
}

fn excess(burden: f64, capacity: f64, feasible: bool) -> f64 {
    match burden {
        _ if feasible => 0.0,
        f64::INFINITY => burden,
        _ => (burden - capacity).max(0.0),
    }
}
