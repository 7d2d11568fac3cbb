//! The oracle: the best choice of every frame, by the true distributions and without a limit on changes.
//!
//! It solves each frame's knapsack with the true mean and variance of every option. How many deviations it keeps free is
//! tuned such that a share of 1 % of its frames is late.

use hobgoblin::knapsack::{Candidate, Economy, Effort, Knapsack};

use super::scene::{FRAMES, Trace};

/// The oracle's value and lateness in every frame.
#[derive(Debug)]
pub struct Best {
    /// Value by frame, without settings that have no choice.
    pub values: Vec<f64>,
    /// Changes a second.
    pub changes: f64,
    /// Share of late frames.
    pub late: f64,
}

/// Share of frames that may be late.
const LATE: f64 = 0.01;
/// Halvings of the interval of deviations.
const ROUNDS: usize = 9;

impl Best {
    /// The oracle of a trace. `foresight`: it knows the noise of the frame before, too.
    pub fn new(trace: &Trace, foresight: bool) -> Self {
        let mut knapsack = Knapsack::new();
        let (mut low, mut high) = (0.0, 5.0);
        let mut best = Self::at(trace, foresight, high, &mut knapsack);
        for _ in 0..ROUNDS {
            let middle = 0.5 * (low + high);
            let found = Self::at(trace, foresight, middle, &mut knapsack);
            if found.late <= LATE {
                (best, high) = (found, middle);
            } else {
                low = middle;
            }
        }
        best
    }

    fn at(trace: &Trace, foresight: bool, sigmas: f64, knapsack: &mut Knapsack) -> Self {
        let settings = &trace.scenario.settings;
        let capacity = trace.scenario.capacity;
        let (own, shared) = trace.variances(foresight);
        let effort = Effort { accepted_gap: 0.0005, node_limit: 64 };
        let (mut before, mut values) = (vec![0; settings.len()], Vec::with_capacity(FRAMES));
        let (mut changes, mut late) = (0usize, 0usize);
        let mut candidates = Vec::new();
        // The common noise is a share of the total. The total is about the capacity.
        let room = capacity / (1.0 + sigmas * shared.sqrt());
        for frame in 0..FRAMES {
            knapsack.clear();
            for (index, setting) in settings.iter().enumerate() {
                let factor = trace.expected_factor(frame, index, foresight);
                candidates.clear();
                candidates.extend(setting.options.iter().map(|option| {
                    let mean = option.burden * factor;
                    Candidate { value: option.value, mean, variance: mean * mean * own }
                }));
                knapsack.add_setting(&candidates).expect("true burdens are numbers");
            }
            let common = Candidate { value: 0.0, mean: 0.0, variance: shared * room * room };
            knapsack.add_setting(&[common]).expect("a variance is a number");
            knapsack.solve(Economy { capacity, sigmas }, effort).expect("solved");
            let choices = &knapsack.choices()[..settings.len()];
            let total: f64 = (0..settings.len()).map(|index| trace.burden(frame, index, choices[index])).sum();
            late += usize::from(total > capacity);
            if frame > 0 {
                changes += choices.iter().zip(&before).filter(|(one, other)| one != other).count();
            }
            before.copy_from_slice(choices);
            values.push(trace.scenario.value_of(choices));
        }
        let frames = FRAMES as f64;
        Self { values, changes: 60.0 * changes as f64 / frames, late: late as f64 / frames }
    }
}
