//! Generated instances.
//!
//! `Engine`: as of an engine. The generator follows the one of Performance Goblin, but is a new implementation. Kinds of
//! settings:
//! * 1/8 a fixed burden.
//! * 1/8 a fixed incentive (a value without a burden).
//! * 3/8 binary.
//! * 2/8 an ordered ladder of 2 + a·b options (a, b from 1 to 4) built of increments.
//! * 1/8 unordered options.
//!
//! Burdens spread over two decades, values follow their square root. Costs are log-normal with a spread of 1.02 to
//! 1.25. The capacity is the sum of half as many burdens as there are settings. It is as tight as in the shipped
//! instances with known optima (`HOB_KNAPSACK_DATA`).
//!
//! `Ladders`: every setting is a ladder whose value rises with decreasing increments, so that nearly every option may be
//! part of the optimum. Burdens are uncertain by 15 to 45 %. Much harder than `Engine`.
//!
//! `Correlated`, `Uncorrelated`: two of Pisinger's families ([`crate::hard`]) with uncertain burdens.

use hobgoblin::knapsack::{Candidate, Economy};

use crate::hard::Family;
use crate::random::Random;

/// One problem to solve.
#[derive(Clone)]
pub struct Instance {
    pub name: String,
    pub settings: Vec<Vec<Candidate>>,
    pub economy: Economy,
}

impl Instance {
    pub fn option_count(&self) -> usize {
        self.settings.iter().map(Vec::len).sum()
    }
}

/// The burden is certain (scalar), or normal with this number of sigmas.
#[derive(Clone, Copy, PartialEq)]
pub struct Kind {
    pub name: &'static str,
    pub sigmas: f64,
}

pub const KINDS: [Kind; 3] =
    [Kind { name: "scalar", sigmas: 0.0 }, Kind { name: "norm3", sigmas: 3.0 }, Kind { name: "norm4", sigmas: 4.0 }];

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Generator {
    Engine,
    Ladders,
    Uncorrelated,
    Correlated,
}

pub const GENERATORS: [Generator; 4] =
    [Generator::Engine, Generator::Ladders, Generator::Uncorrelated, Generator::Correlated];

impl Generator {
    pub fn name(self) -> &'static str {
        match self {
            Self::Engine => "Engine",
            Self::Ladders => "Ladders",
            Self::Uncorrelated => "Uncorrelated",
            Self::Correlated => "Correlated",
        }
    }

    pub fn instance(self, settings: usize, kind: Kind, seed: u64) -> Instance {
        let mut instance = match self {
            Self::Engine => return engine(settings, kind, seed),
            Self::Ladders => ladders(settings, seed),
            Self::Uncorrelated => uncertain(Family::Uncorrelated.instance(seed, settings, 10, 1000), seed),
            Self::Correlated => uncertain(Family::WeaklyCorrelated.instance(seed, settings, 10, 1000), seed),
        };
        instance.economy.sigmas = kind.sigmas;
        instance
    }
}

fn engine(settings: usize, kind: Kind, seed: u64) -> Instance {
    let mut random = Random::new(seed ^ (settings as u64) << 32);
    let mut drawn: Vec<Vec<Candidate>> = (0..settings).map(|_| setting(&mut random)).collect();
    let capacity = (0..settings.div_ceil(2)).map(|_| burden(&mut random)).sum::<f64>();
    if kind.sigmas == 0.0 {
        drawn.iter_mut().flatten().for_each(|option| option.variance = 0.0);
    }
    Instance {
        name: format!("n{settings} {} seed {seed}", kind.name),
        settings: drawn,
        economy: Economy { capacity, sigmas: kind.sigmas },
    }
}

fn burden(random: &mut Random) -> f64 {
    0.2 + 0.8 * random.byte() * (random.byte() * 100.0)
}

fn value(random: &mut Random, burden: f64) -> f64 {
    (burden * random.byte() * random.byte() * 100.0).sqrt()
}

/// A candidate whose cost is log-normal around the burden.
fn option(random: &mut Random, value: f64, burden: f64) -> Candidate {
    let spread = (1.02_f64.ln()) + random.unit() * (1.25_f64.ln() - 1.02_f64.ln());
    let mean = burden * (0.5 * spread * spread).exp();
    Candidate { value, mean, variance: mean * mean * ((spread * spread).exp() - 1.0) }
}

fn setting(random: &mut Random) -> Vec<Candidate> {
    match random.below(8) {
        0 => {
            let heavy = burden(random);
            vec![option(random, 0.0, heavy)]
        }
        1 => {
            let scale = burden(random);
            let incentive = value(random, scale) - value(random, scale);
            vec![option(random, incentive, 0.0)]
        }
        2..=4 => {
            let heavy = burden(random);
            let worth = value(random, heavy);
            vec![option(random, 0.0, 0.0), option(random, worth, heavy)]
        }
        5..=6 => ladder(random),
        _ => {
            let count = levels(random);
            (0..count)
                .map(|_| {
                    let heavy = burden(random);
                    let worth = value(random, heavy);
                    option(random, worth, heavy)
                })
                .collect()
        }
    }
}

fn levels(random: &mut Random) -> usize {
    2 + (1 + random.below(4)) * (1 + random.below(4))
}

fn ladder(random: &mut Random) -> Vec<Candidate> {
    let count = levels(random);
    let (mut worth, mut heavy) = (0.0, 0.0);
    (0..count)
        .map(|_| {
            let step = burden(random) * 2.0 / count as f64;
            worth += value(random, step);
            heavy += step;
            option(random, worth, heavy)
        })
        .collect()
}

/// The same instance some frames later: every mean off by about 1 %, deviations in proportion.
pub fn jitter(base: &Instance, frame: u64, into: &mut Instance) {
    let mut random = Random::new(frame.wrapping_mul(0x2545_F491_4F6C_DD1D));
    for (options, drawn) in base.settings.iter().zip(&mut into.settings) {
        for (option, moved) in options.iter().zip(drawn) {
            let factor = 1.0 + 0.01 * random.normal();
            *moved = Candidate {
                value: option.value,
                mean: option.mean * factor,
                variance: option.variance * factor * factor,
            };
        }
    }
}

/// Four levels each. The capacity is a fifth of the way from the lowest to the highest total burden.
fn ladders(settings: usize, seed: u64) -> Instance {
    let mut random = Random::new(seed ^ (settings as u64) << 32);
    let settings: Vec<_> = (0..settings).map(|_| ladder_of_decreasing_increments(&mut random)).collect();
    let most: f64 = settings.iter().map(|options| options.iter().map(|option| option.mean).fold(0.0, f64::max)).sum();
    let name = format!("ladders n{} seed {seed}", settings.len());
    Instance { name, settings, economy: Economy { capacity: 0.2 * most, sigmas: 0.0 } }
}

fn ladder_of_decreasing_increments(random: &mut Random) -> Vec<Candidate> {
    let (size, bend) = (0.2 + 4.8 * random.unit(), 0.4 + 0.5 * random.unit());
    (0..4)
        .map(|level| {
            let level = f64::from(level);
            let value = size.sqrt() * level.powf(bend) * (0.9 + 0.2 * random.unit());
            let mean = size * level * (0.8 + 0.4 * random.unit());
            let deviation = mean * 0.3 * (0.5 + random.unit());
            Candidate { value, mean, variance: deviation * deviation }
        })
        .collect()
}

/// The same with deviations of 5 to 15 %.
fn uncertain(mut instance: Instance, seed: u64) -> Instance {
    let mut random = Random::new(!seed);
    for option in instance.settings.iter_mut().flatten() {
        let deviation = option.mean * 0.1 * (0.5 + random.unit());
        option.variance = deviation * deviation;
    }
    instance
}
