//! The governed scenario: settings with options, their values and true costs, drawn from a seed.
//!
//! Burdens and values have the same range as in the original's own test. An option's burden is `0.2 + 80 * u * u`, its
//! value `sqrt(burden * 100 * u * u)`, with `u` from 0 to 1 in steps of 1/255.

use crate::random::Random;

/// The true properties of an option.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrueOption {
    /// Its value.
    pub value: f64,
    /// Mean burden.
    pub burden: f64,
    /// Deviation of the logarithm of its burden.
    pub spread: f64,
    /// The burden as a host without a profiler estimates it, in the host's own unit.
    pub relative_burden: f64,
}

/// The true properties of a setting.
#[derive(Clone, Debug)]
pub struct TrueSetting {
    /// Name of its task.
    pub id: String,
    /// Its options.
    pub options: Vec<TrueOption>,
    /// Whether it is measured. A fixed incentive has no burden.
    pub has_burden: bool,
}

/// Settings and the capacity that they share.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub settings: Vec<TrueSetting>,
    pub capacity: f64,
}

/// The size of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// 50 settings, about 200 options.
    Full,
    /// 8 settings, 24 options at most: few enough to estimate from frame totals.
    Small,
}

impl Scenario {
    /// The scenario of a seed. Draws until the default choices fit and leave room to choose.
    pub fn draw(seed: u64, size: Size) -> Self {
        let mut random = Random::new(seed, 1);
        loop {
            let scenario = Self::attempt(&mut random, size);
            let options = scenario.option_count();
            let choosable = scenario.settings.iter().filter(|setting| setting.options.len() > 1).count();
            let fits_size = size == Size::Full || (options <= 24 && choosable >= 5);
            let (default, lightest, highest) = scenario.extremes();
            let has_room = default <= 0.9 * scenario.capacity && lightest <= 0.6 * scenario.capacity;
            if fits_size && has_room && highest >= 1.2 * scenario.capacity {
                return scenario;
            }
        }
    }

    /// Options of all settings.
    pub fn option_count(&self) -> usize {
        self.settings.iter().map(|setting| setting.options.len()).sum()
    }

    /// Total value of the choices. Settings without a choice do not count.
    pub fn value_of(&self, choices: &[u16]) -> f64 {
        let choosable = self.settings.iter().zip(choices).filter(|(setting, _)| setting.options.len() > 1);
        choosable.map(|(setting, &choice)| setting.options[usize::from(choice)].value).sum()
    }

    fn attempt(random: &mut Random, size: Size) -> Self {
        let count = if size == Size::Full { 50 } else { 8 };
        let unit = random.between(0.1f64.ln(), 10.0f64.ln()).exp();
        let settings = (0..count).map(|index| setting(random, index, size, unit)).collect();
        let capacity = 1.5 * (0..count / 2).map(|_| burden(random)).sum::<f64>();
        Self { settings, capacity }
    }

    /// Mean totals of the default, the cheapest and the most expensive choices.
    fn extremes(&self) -> (f64, f64, f64) {
        let burdens = |setting: &TrueSetting| setting.options.iter().map(|option| option.burden).collect::<Vec<_>>();
        self.settings.iter().map(burdens).fold((0.0, 0.0, 0.0), |(default, lightest, highest), own| {
            let low = own.iter().copied().fold(f64::INFINITY, f64::min);
            let high = own.iter().copied().fold(0.0, f64::max);
            (default + own[0], lightest + low, highest + high)
        })
    }
}

fn burden(random: &mut Random) -> f64 {
    0.2 + 0.8 * random.coarse() * (random.coarse() * 100.0)
}

fn value(random: &mut Random, burden: f64) -> f64 {
    (burden * random.coarse() * random.coarse() * 100.0).sqrt()
}

fn setting(random: &mut Random, index: usize, size: Size, unit: f64) -> TrueSetting {
    let nothing = (0.0, 0.0);
    let draw = |random: &mut Random| {
        let burden = burden(random);
        (burden, value(random, burden))
    };
    let mut has_burden = true;
    let pairs = match random.below(8) {
        0 => vec![(burden(random), 0.0)],
        1 => {
            has_burden = false;
            let (one, other) = (draw(random).1, draw(random).1);
            vec![(0.0, one - other)]
        }
        2..5 => vec![nothing, draw(random)],
        kind => {
            let several = match size {
                Size::Full => 2 + (1 + random.below(4)) * (1 + random.below(4)),
                Size::Small => 3 + random.below(2),
            };
            if kind < 7 {
                let mut sum = nothing;
                let steps = (1..several).map(|_| {
                    let step = draw(random);
                    sum = (sum.0 + step.0, sum.1 + step.1);
                    sum
                });
                std::iter::once(nothing).chain(steps).collect()
            } else {
                (0..several).map(|_| draw(random)).collect()
            }
        }
    };
    let options = pairs.into_iter().map(|(burden, value)| TrueOption {
        value,
        burden,
        spread: random.between(1.02f64.ln(), 1.25f64.ln()),
        relative_burden: burden * unit * random.between(0.5f64.ln(), 2.0f64.ln()).exp(),
    });
    TrueSetting { id: format!("setting {index}"), options: options.collect(), has_burden }
}
