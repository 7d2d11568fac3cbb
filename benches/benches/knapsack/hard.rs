//! Families of test data that are hard by design (Pisinger), for integer weights up to a range.

use hobgoblin::knapsack::{Candidate, Economy};

use crate::random::Random;
use crate::scenario::Instance;

#[derive(Clone, Copy, Debug)]
pub enum Family {
    Uncorrelated,
    WeaklyCorrelated,
    StronglyCorrelated,
    StronglyCorrelatedOrNothing,
    InverseStronglyCorrelated,
    InverseStronglyCorrelatedOrNothing,
    CumulatedStronglyCorrelated,
    SubsetSum,
    EqualRatios,
    AlmostEqualRatios,
}

use Family::*;

pub const FAMILIES: [Family; 10] = [
    Uncorrelated,
    WeaklyCorrelated,
    StronglyCorrelated,
    StronglyCorrelatedOrNothing,
    InverseStronglyCorrelated,
    InverseStronglyCorrelatedOrNothing,
    CumulatedStronglyCorrelated,
    SubsetSum,
    EqualRatios,
    AlmostEqualRatios,
];

impl Family {
    fn option(self, random: &mut Random, index: usize, range: u64) -> (u64, u64) {
        let weight = random.upto(range);
        let tenth = range / 10;
        match self {
            Uncorrelated => (random.upto(range), weight),
            WeaklyCorrelated => ((weight + random.upto(2 * tenth)).saturating_sub(tenth), weight),
            StronglyCorrelatedOrNothing | InverseStronglyCorrelatedOrNothing if index == 0 => (0, 0),
            StronglyCorrelated | StronglyCorrelatedOrNothing | CumulatedStronglyCorrelated => (weight + tenth, weight),
            InverseStronglyCorrelated | InverseStronglyCorrelatedOrNothing => (weight, weight + tenth),
            SubsetSum => (weight, weight),
            EqualRatios => (3 * weight, weight),
            AlmostEqualRatios => (3 * weight.div_ceil(3), weight),
        }
    }

    fn setting(self, random: &mut Random, options: usize, range: u64) -> Vec<Candidate> {
        let mut drawn: Vec<_> = (0..options).map(|index| self.option(random, index, range)).collect();
        if let CumulatedStronglyCorrelated = self {
            drawn.sort_by_key(|&(_, weight)| weight);
            for index in 1..drawn.len() {
                let before = drawn[index - 1];
                drawn[index] = (drawn[index].0 + before.0, drawn[index].1 + before.1);
            }
        }
        let candidate =
            |&(value, weight): &(u64, u64)| Candidate { value: value as f64, mean: weight as f64, variance: 0.0 };
        drawn.iter().map(candidate).collect()
    }

    /// An instance with a capacity halfway between the lowest and the highest total weight.
    pub fn instance(self, seed: u64, settings: usize, options: usize, range: u64) -> Instance {
        let mut random = Random::new(seed);
        let settings: Vec<_> = (0..settings).map(|_| self.setting(&mut random, options, range)).collect();
        let total = |better: fn(f64, f64) -> f64| -> f64 {
            settings.iter().filter_map(|options| options.iter().map(|option| option.mean).reduce(better)).sum()
        };
        let capacity = (0.5 * (total(f64::min) + total(f64::max))).floor();
        let name = format!("{self:?} {} x {options} up to {range} seed {seed}", settings.len());
        Instance { name, settings, economy: Economy { capacity, sigmas: 0.0 } }
    }
}
