//! Tracks the value of the best choice between solves.
//!
//! Solving is the most expensive part of a decision, and while a choice is held the solution is seldom used: estimates
//! move slowly. With the last solution's shadow price `p` and deviation `t` on every lane, the Lagrangian relaxation is
//!
//! `sum over settings of the largest (value - p·(mean + sigmas·variance / 2t)) + p·(capacity - sigmas·t / 2)`
//!
//! It moves with the value of the best choice, as long as changes are small: the shadow price is the derivative of the
//! best value by the capacity. The root of the variance is replaced by its tangent at `t²` (H. Everett, "Generalized
//! Lagrange multiplier method", 1963). The relaxation costs one pass over the options. The problem is solved again when
//! the relaxation predicts a gain, and after `solve_interval` decisions.

use crate::goblin::config::LANES;
use crate::goblin::frame::Frame;
use crate::goblin::question::formulation::{Formulation, Found, Weighed};
use crate::goblin::tuning::TUNING;
use crate::knapsack::Economy;
use crate::knapsack::several::Weight;

/// The last solution.
#[derive(Debug, Default)]
pub struct Watch {
    /// The decision of the solve; 0 before the first.
    solved: u64,
    lanes: usize,
    found: Found,
    deviations: [f64; LANES],
    /// Value of the best choice, and its gain over the choice held then.
    value: f64,
    gain: f64,
    /// Value of the relaxation.
    relaxed: f64,
}

/// The estimated best choice.
#[derive(Clone, Copy, Debug)]
pub struct Best {
    /// Gain over the held choice.
    pub gain: f64,
    pub upper_bound: f64,
}

impl Watch {
    /// Whether there is a solution of a problem with this many lanes.
    pub fn knows(&self, lanes: usize) -> bool {
        self.solved > 0 && self.lanes == lanes
    }

    /// The shadow prices of the last solution.
    pub fn prices(&self) -> [f64; LANES] {
        self.found.prices
    }

    /// The best choice estimated from the last solution, while that is valid.
    pub fn estimate(&self, formulation: &Formulation, held: &Weighed, frame: &Frame<'_>) -> Option<Best> {
        if !self.knows(frame.economies.len()) || frame.now >= self.solved + TUNING.watch.solve_interval {
            return None;
        }
        let best = self.moved(formulation, held, frame.economies);
        // The decision after a solve does not solve, so that targets and trials may be solved for.
        let has_grown = best.gain > self.gain + TUNING.watch.moved * formulation.at_stake(held.sum.value);
        (frame.now == self.solved + 1 || !has_grown).then_some(best)
    }

    /// The best choice now, from the change of the relaxation since the last solve.
    pub fn moved(&self, formulation: &Formulation, held: &Weighed, economies: &[Economy]) -> Best {
        let moved = relaxed(formulation, economies, &self.found.prices, &self.deviations) - self.relaxed;
        let gain = (self.value + moved - held.sum.value).max(0.0);
        Best { gain, upper_bound: self.found.upper_bound + moved }
    }

    /// Store the best choice, which the formulation has just found.
    pub fn observe(&mut self, formulation: &Formulation, found: Found, held: &Weighed, frame: &Frame<'_>) -> Best {
        let sum = formulation.sum(&formulation.found);
        let deviations = sum.weights.map(|weight| weight.variance.max(0.0).sqrt());
        let gain = (sum.value - held.sum.value).max(0.0);
        *self = Self {
            solved: frame.now,
            lanes: frame.economies.len(),
            found,
            deviations,
            value: sum.value,
            gain,
            relaxed: relaxed(formulation, frame.economies, &found.prices, &deviations),
        };
        Best { gain, upper_bound: found.upper_bound }
    }
}

/// The relaxation at these prices and deviations.
fn relaxed(formulation: &Formulation, economies: &[Economy], prices: &[f64; LANES], deviations: &[f64; LANES]) -> f64 {
    let mut slopes = [Weight::default(); LANES];
    let mut sum = 0.0;
    for (lane, economy) in economies.iter().enumerate().filter(|(lane, _)| prices[*lane] > 0.0) {
        let (price, deviation) = (prices[lane], deviations[lane]);
        let bent = if deviation > 0.0 { economy.sigmas / (2.0 * deviation) } else { 0.0 };
        slopes[lane] = Weight { mean: price, variance: price * bent };
        sum += price * (economy.capacity - economy.sigmas * deviation / 2.0);
    }
    let slopes = &slopes[..economies.len()];
    let costs = |weights: &[Weight]| -> f64 {
        let pairs = weights.iter().zip(slopes);
        pairs.map(|(weight, slope)| weight.mean * slope.mean + weight.variance * slope.variance).sum()
    };
    sum -= costs(&formulation.beside);
    for entry in &formulation.entries {
        let options = (entry.start..entry.end).filter(|&option| formulation.may(entry, option - entry.start));
        let best = options
            .map(|option| formulation.values[option] - costs(formulation.weights_of(option)))
            .fold(f64::NEG_INFINITY, f64::max);
        sum += if best > f64::NEG_INFINITY { best } else { 0.0 };
    }
    sum
}
