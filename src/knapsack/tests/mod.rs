//! Tests of the whole module.

mod brute_force;
mod deterministic;
mod inputs;
mod known_optima;
mod limits;
mod memory;
mod normal;

use super::*;

/// An option by value, mean and variance.
fn option(value: f64, mean: f64, variance: f64) -> Candidate {
    Candidate { value, mean, variance }
}

fn filled(settings: &[Vec<Candidate>]) -> Knapsack {
    let mut knapsack = Knapsack::new();
    for options in settings {
        knapsack.add_setting(options).unwrap();
    }
    knapsack
}

fn solved(settings: &[Vec<Candidate>], capacity: f64, sigmas: f64) -> (Solution, Vec<u16>) {
    let mut knapsack = filled(settings);
    let solution = knapsack.solve(Economy { capacity, sigmas }, Effort::default()).unwrap();
    (solution, knapsack.choices().to_vec())
}

/// The same numbers on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From 0 up to 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, end: f64) -> f64 {
        self.unit() * end
    }

    /// Settings as in an engine: more burden buys more value, with noise in both.
    fn settings(&mut self, settings: usize, options: usize) -> Vec<Vec<Candidate>> {
        (0..settings).map(|_| (0..options).map(|level| self.level(level)).collect()).collect()
    }

    fn level(&mut self, level: usize) -> Candidate {
        let mean = level as f64 * (1.0 + self.below(4.0));
        let deviation = 0.3 * mean * self.unit();
        option(mean.sqrt() * (1.0 + self.unit()), mean, deviation * deviation)
    }
}
