//! The best choice for a player that knows every distribution, but not the future.
//!
//! For a number of sigmas it is the exact knapsack with the true means and variances. For a probability of an overrun
//! it is the best knapsack over all numbers of sigmas that meets the probability. The convolution of the true
//! distributions gives the probability of an overrun. The noise that all passes share is a variance beside theirs,
//! solved for by fixed-point iteration.

use hobgoblin::knapsack::{Candidate, Economy, Effort, Knapsack};

use crate::scenario::Scenario;
use crate::workload::{Law, Truth, normal_cumulative};

/// The host's requirement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Asked {
    /// Number of deviations to keep free.
    Sigmas(f64),
    /// Share of frames that may be over the capacity.
    Probability(f64),
}

/// The best choice and its figures.
#[derive(Clone, Debug, Default)]
pub struct Oracle {
    pub choices: Vec<u16>,
    /// Total value, without settings that have no choice.
    pub value: f64,
    /// Number of deviations kept free.
    pub sigmas: f64,
    /// Share of frames over the capacity.
    pub overrun: f64,
}

impl Oracle {
    pub fn new(scenario: &Scenario, truth: &Truth, asked: Asked) -> Self {
        let mut solver = Solver { scenario, truth, knapsack: Knapsack::new() };
        match asked {
            Asked::Sigmas(sigmas) => solver.at(sigmas),
            Asked::Probability(probability) => solver.within(probability),
        }
    }
}

struct Solver<'a> {
    scenario: &'a Scenario,
    truth: &'a Truth,
    knapsack: Knapsack,
}

impl Solver<'_> {
    /// The best choice that keeps this number of deviations free.
    fn at(&mut self, sigmas: f64) -> Oracle {
        let capacity = self.scenario.capacity;
        let spread = self.truth.noise.common_spread();
        let mut oracle = Oracle { sigmas, ..Oracle::default() };
        let mut mean = capacity;
        // If only the mean of the choice sets the common variance, a few rounds converge.
        for _ in 0..if spread > 0.0 { 5 } else { 1 } {
            let common = Candidate { value: 0.0, mean: 0.0, variance: (spread * mean).powi(2) };
            self.knapsack.clear();
            for (setting, laws) in self.scenario.settings.iter().zip(&self.truth.laws) {
                let candidate = |(value, law): (f64, &Law)| Candidate { value, mean: law.mean, variance: law.variance };
                let values = setting.options.iter().map(|option| option.value);
                let candidates: Vec<_> = values.zip(laws).map(candidate).collect();
                self.knapsack.add_setting(&candidates).expect("true burdens are numbers");
            }
            self.knapsack.add_setting(&[common]).expect("a variance is a number");
            let solution = self.knapsack.solve(Economy { capacity, sigmas }, Effort::default()).expect("solved");
            mean = solution.mean;
        }
        let count = self.scenario.settings.len();
        oracle.choices = self.knapsack.choices()[..count].to_vec();
        oracle.value = self.scenario.value_of(&oracle.choices);
        oracle.overrun = overrun(self.truth, &oracle.choices, capacity);
        oracle
    }

    /// The best choice that overruns the capacity in at most this share of frames.
    fn within(&mut self, probability: f64) -> Oracle {
        let (mut low, mut high) = (0.0, 10.0);
        let mut best = self.at(high);
        for _ in 0..18 {
            let middle = 0.5 * (low + high);
            let found = self.at(middle);
            if found.overrun <= probability {
                high = middle;
                if found.value > best.value {
                    best = found;
                }
            } else {
                low = middle;
            }
        }
        best
    }
}

/// Number of parts of the capacity for the convolution.
const PARTS: f64 = 2000.0;
/// The convolution ignores probabilities below this.
const NEGLIGIBLE: f64 = 1e-13;

/// Share of frames whose choice is over the capacity.
pub fn overrun(truth: &Truth, choices: &[u16], capacity: f64) -> f64 {
    let step = capacity / PARTS;
    // Total burden is `offset + index * step` with probability `total[index]`.
    let (mut offset, mut total) = (0.0, vec![1.0]);
    for (laws, &choice) in truth.laws.iter().zip(choices) {
        let law = &laws[usize::from(choice)];
        if law.mean > 0.0 {
            let (start, parts) = discretise(law, step);
            offset += start;
            total = convolve(&total, &parts);
        }
    }
    let spread = truth.noise.common_spread();
    let beyond = |index: usize| {
        let burden = offset + index as f64 * step;
        if spread > 0.0 {
            let distance = ((capacity / burden.max(1e-9)).ln() + 0.5 * spread * spread) / spread;
            1.0 - normal_cumulative(distance)
        } else {
            ((burden - capacity) / step + 0.5).clamp(0.0, 1.0)
        }
    };
    total.iter().enumerate().map(|(index, share)| share * beyond(index)).sum()
}

/// Probabilities of a burden in steps, and the burden of the first step. Keeps the mean exactly.
fn discretise(law: &Law, step: f64) -> (f64, Vec<f64>) {
    let mut parts = Vec::new();
    let mut below = 0.0;
    let mut first = None;
    let count = (law.highest() / step).ceil() as usize + 1;
    for index in 0..=count {
        let up_to = law.cumulative((index as f64 + 0.5) * step);
        let share = up_to - below;
        below = up_to;
        if first.is_some() || share > NEGLIGIBLE {
            first.get_or_insert(index);
            parts.push(share);
        }
    }
    while parts.len() > 1 && parts.last().is_some_and(|&share| share <= NEGLIGIBLE) {
        parts.pop();
    }
    let sum: f64 = parts.iter().sum();
    parts.iter_mut().for_each(|share| *share /= sum);
    let mean: f64 = parts.iter().enumerate().map(|(index, share)| index as f64 * step * share).sum();
    (law.mean - mean, parts)
}

fn convolve(total: &[f64], parts: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; total.len() + parts.len() - 1];
    for (index, &part) in parts.iter().enumerate().filter(|(_, part)| **part > NEGLIGIBLE) {
        let row = &mut sums[index..index + total.len()];
        row.iter_mut().zip(total).for_each(|(sum, share)| *sum += share * part);
    }
    while sums.len() > 1 && sums.last().is_some_and(|&share| share <= NEGLIGIBLE) {
        sums.pop();
    }
    sums
}
