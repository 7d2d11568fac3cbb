//! Measurements of a set of instances.

use hobgoblin::knapsack::{Effort, Knapsack, Solution};
use hobgoblin_bench::timing::{least_of, median, microseconds, quantile};

use crate::floor::Floor;
use crate::scenario::{Instance, jitter};

/// Accepted gap of a frame after the first.
pub const WARM_GAP: f64 = 1e-3;

/// Number of runs of each cold solve. The fastest counts, because the machine may be shared. Fewer if one takes long.
const REPEATS: usize = 5;
const LEAST_REPEATS: usize = 2;
const LONG_MICROSECONDS: f64 = 20_000.0;

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
    pub fn measure_cold(&mut self, knapsack: &mut Knapsack, instance: &Instance, effort: Effort) -> Solution {
        load(knapsack, instance);
        let mut best = f64::INFINITY;
        let mut solution = None;
        for run in 1..=REPEATS {
            knapsack.forget();
            best = best.min(microseconds(|| solution = Some(solve(knapsack, instance, effort))));
            if run >= LEAST_REPEATS && best > LONG_MICROSECONDS {
                break;
            }
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
    pub fn measure_warm(&mut self, knapsack: &mut Knapsack, base: &Instance, frames: u64) {
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

    pub fn greatest_gap(&self) -> f64 {
        self.gaps.iter().copied().fold(0.0, f64::max)
    }

    pub fn greatest_warm_gap(&self) -> f64 {
        self.warm_gaps.iter().copied().fold(0.0, f64::max)
    }

    pub fn cold(&self) -> Spread {
        Spread::of(&self.cold)
    }

    /// A cold solve in passes over the options.
    pub fn cold_in_floors(&self) -> Spread {
        let floor = median(&self.floor);
        Spread::of(&self.cold.iter().map(|time| time / floor).collect::<Vec<_>>())
    }

    pub fn p99(samples: &[f64]) -> f64 {
        quantile(samples, 0.99)
    }
}

/// The distribution of a quantity over instances.
#[derive(Clone, Copy)]
pub struct Spread {
    pub median: f64,
    pub mean: f64,
    pub p99: f64,
    pub worst: f64,
}

impl Spread {
    fn of(samples: &[f64]) -> Self {
        Self {
            median: median(samples),
            mean: samples.iter().sum::<f64>() / samples.len().max(1) as f64,
            p99: quantile(samples, 0.99),
            worst: quantile(samples, 1.0),
        }
    }
}
