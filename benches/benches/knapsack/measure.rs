//! Measurements of a set of instances.

use hobgoblin::knapsack::{Effort, Knapsack, Solution};
use hobgoblin_bench::timing::{least_of, median, microseconds, quantile};

use crate::floor::Floor;
use crate::scenario::{Instance, jitter};

/// Accepted gap of a frame after the first.
pub const WARM_GAP: f64 = 1e-3;

/// Number of runs of each cold solve. The fastest counts, because the machine may be shared.
const REPEATS: usize = 3;

#[derive(Default)]
pub struct Measured {
    pub instances: usize,
    pub options: f64,
    pub proven: usize,
    pub feasible: usize,
    pub gaps: Vec<f64>,
    pub nodes: Vec<f64>,
    pub cold: Vec<f64>,
    pub warm: Vec<f64>,
    pub frame: Vec<f64>,
    pub warm_gaps: Vec<f64>,
    pub floor: Vec<f64>,
}

pub fn load(knapsack: &mut Knapsack, instance: &Instance) {
    knapsack.clear();
    for options in &instance.settings {
        knapsack.add_setting(options).expect("valid options");
    }
}

pub fn solve(knapsack: &mut Knapsack, instance: &Instance, effort: Effort) -> Solution {
    knapsack.solve(instance.economy, effort).expect("a solution")
}

impl Measured {
    /// Solves without earlier results, and times it.
    pub fn cold(&mut self, knapsack: &mut Knapsack, instance: &Instance, effort: Effort) -> Solution {
        load(knapsack, instance);
        let mut best = f64::INFINITY;
        let mut solution = None;
        for _ in 0..REPEATS {
            knapsack.forget();
            best = best.min(microseconds(|| solution = Some(solve(knapsack, instance, effort))));
        }
        let solution = solution.expect("solved");
        self.instances += 1;
        self.options += instance.option_count() as f64;
        self.proven += usize::from(solution.proven);
        self.feasible += usize::from(solution.feasible);
        self.gaps.push(solution.gap);
        self.nodes.push(solution.nodes as f64);
        self.cold.push(best);
        let floor = Floor::new(instance);
        self.floor.push(least_of(5, || {
            std::hint::black_box(floor.pass(std::hint::black_box(0.1), std::hint::black_box(0.01)));
        }));
        solution
    }

    /// Solves again frame after frame while burdens jitter.
    pub fn warm(&mut self, knapsack: &mut Knapsack, base: &Instance, frames: u64) {
        let mut moved = base.clone();
        let effort = Effort { accepted_gap: WARM_GAP, ..Effort::default() };
        knapsack.forget();
        for frame in 0..=frames {
            jitter(base, frame, &mut moved);
            let mut solution = None;
            let load_time = microseconds(|| load(knapsack, &moved));
            let solve_time = microseconds(|| solution = Some(solve(knapsack, &moved, effort)));
            if frame > 0 {
                self.warm.push(solve_time);
                self.frame.push(load_time + solve_time);
                self.warm_gaps.push(solution.map_or(f64::NAN, |solution| solution.gap));
            }
        }
    }

    pub fn mean_gap(&self) -> f64 {
        self.gaps.iter().sum::<f64>() / self.gaps.len().max(1) as f64
    }

    pub fn greatest_gap(&self) -> f64 {
        self.gaps.iter().copied().fold(0.0, f64::max)
    }

    pub fn greatest_warm_gap(&self) -> f64 {
        self.warm_gaps.iter().copied().fold(0.0, f64::max)
    }

    pub fn ratio_to_floor(&self) -> f64 {
        median(&self.cold) / median(&self.floor)
    }

    pub fn p99(samples: &[f64]) -> f64 {
        quantile(samples, 0.99)
    }
}
