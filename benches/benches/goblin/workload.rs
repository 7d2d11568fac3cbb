//! The true cost of a frame: the noise on every pass, as a generator and as a distribution.

use crate::random::Random;
use crate::scenario::Scenario;

/// The noise model of burdens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// Log-normal, independent per pass and frame.
    Iid,
    /// Log-normal, independent per pass, correlated from frame to frame (0.95).
    Ar1,
    /// As `Iid`; one pass in a hundred takes three times as long.
    Spikes,
    /// Student's t with 3 degrees of freedom on the logarithm (cut at 8 deviations).
    Student,
    /// As `Iid`; all passes of a frame share a noise of 5 %.
    Common,
    /// The same, correlated from frame to frame (0.98).
    CommonAr1,
}

/// Correlation of a pass's noise from frame to frame.
const PASS_CORRELATION: f64 = 0.95;
/// Correlation of the common noise from frame to frame.
const COMMON_CORRELATION: f64 = 0.98;
/// Deviation of the logarithm of the common factor.
const COMMON_SPREAD: f64 = 0.05;
/// Share of spikes, and their factor.
const SPIKES: (f64, f64) = (0.01, 3.0);
/// Limit of Student's noise, in deviations.
const FARTHEST: f64 = 8.0;

impl Noise {
    /// Deviation of the logarithm of the factor that all passes share.
    pub fn common_spread(self) -> f64 {
        if matches!(self, Self::Common | Self::CommonAr1) { COMMON_SPREAD } else { 0.0 }
    }

    /// Mean and mean square of the factor on a burden whose logarithm has the deviation `spread`, before normalisation.
    fn moments(self, spread: f64) -> (f64, f64) {
        let (mean, square) = ((0.5 * spread * spread).exp(), (2.0 * spread * spread).exp());
        match self {
            Self::Spikes => {
                let (share, times) = SPIKES;
                (mean * (1.0 + share * (times - 1.0)), square * (1.0 + share * (times * times - 1.0)))
            }
            Self::Student => {
                // With z = tan(angle), Student's density is that of cos² over the angle.
                const STEPS: usize = 1024;
                let (mut mean, mut square, mut weight) = (0.0, 0.0, 0.0);
                for step in 0..STEPS {
                    let angle = std::f64::consts::PI * ((step as f64 + 0.5) / STEPS as f64 - 0.5);
                    let factor = (spread * angle.tan().clamp(-FARTHEST, FARTHEST)).exp();
                    let own = angle.cos().powi(2);
                    mean += own * factor;
                    square += own * factor * factor;
                    weight += own;
                }
                (mean / weight, square / weight)
            }
            _ => (mean, square),
        }
    }

    /// Probability that the standardised noise of one pass is at most `z`, without spikes.
    fn cumulative(self, z: f64) -> f64 {
        match self {
            Self::Student if z >= FARTHEST => 1.0,
            Self::Student if z < -FARTHEST => 0.0,
            Self::Student => 0.5 + (z.atan() + z / (1.0 + z * z)) / std::f64::consts::PI,
            _ => normal_cumulative(z),
        }
    }
}

/// The true cost of an option, as a distribution without the common factor.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    noise: Noise,
    /// Logarithm of the burden without noise.
    location: f64,
    spread: f64,
    /// Mean of the burden.
    pub mean: f64,
    /// Variance of the burden.
    pub variance: f64,
}

impl Law {
    fn new(noise: Noise, mean: f64, spread: f64) -> Self {
        let (first, second) = noise.moments(spread);
        let variance = mean * mean * (second / (first * first) - 1.0);
        Self { noise, location: (mean / first).ln(), spread, mean, variance }
    }

    /// Probability of a burden up to `burden`.
    pub fn cumulative(&self, burden: f64) -> f64 {
        if self.mean == 0.0 {
            return if burden >= 0.0 { 1.0 } else { 0.0 };
        }
        if burden <= 0.0 {
            return 0.0;
        }
        let z = |burden: f64| (burden.ln() - self.location) / self.spread;
        match self.noise {
            Noise::Spikes => {
                let (share, times) = SPIKES;
                (1.0 - share) * normal_cumulative(z(burden)) + share * normal_cumulative(z(burden / times))
            }
            _ => self.noise.cumulative(z(burden)),
        }
    }

    /// A burden that is practically never exceeded.
    pub fn highest(&self) -> f64 {
        let times = if self.noise == Noise::Spikes { SPIKES.1 } else { 1.0 };
        (self.location + self.spread * FARTHEST).exp() * times
    }
}

/// The laws of all options of a scenario, on a machine of a certain slowness.
#[derive(Clone, Debug)]
pub struct Truth {
    pub noise: Noise,
    /// The law of each option of each setting.
    pub laws: Vec<Vec<Law>>,
}

impl Truth {
    pub fn new(scenario: &Scenario, noise: Noise, slowness: f64) -> Self {
        let laws = scenario.settings.iter().map(|setting| {
            setting.options.iter().map(|option| Law::new(noise, option.burden * slowness, option.spread)).collect()
        });
        Self { noise, laws: laws.collect() }
    }
}

/// The machine: the cost of passes, frame by frame.
#[derive(Debug)]
pub struct Machine<'a> {
    truth: &'a Truth,
    random: Random,
    /// Standardised noise of each setting in this frame.
    passes: Vec<f64>,
    /// Further factor of each setting in this frame.
    factors: Vec<f64>,
    common_noise: f64,
    /// Factor of all settings in this frame.
    common: f64,
}

impl<'a> Machine<'a> {
    pub fn new(truth: &'a Truth, seed: u64, stream: u64) -> Self {
        let mut random = Random::new(seed, 1000 + stream);
        let passes = truth.laws.iter().map(|_| random.normal()).collect();
        let common_noise = random.normal();
        Self { truth, random, passes, factors: vec![1.0; truth.laws.len()], common_noise, common: 1.0 }
    }

    /// Advances to the next frame and multiplies all its costs by `slowness`.
    pub fn advance(&mut self, slowness: f64) {
        let random = &mut self.random;
        match self.truth.noise {
            Noise::Ar1 => {
                let fresh = (1.0 - PASS_CORRELATION * PASS_CORRELATION).sqrt();
                self.passes.iter_mut().for_each(|z| *z = PASS_CORRELATION * *z + fresh * random.normal());
            }
            Noise::Student => self.passes.iter_mut().for_each(|z| {
                let squares: f64 = (0..3).map(|_| random.normal().powi(2)).sum();
                *z = (random.normal() / squares.sqrt()).clamp(-FARTHEST, FARTHEST);
            }),
            _ => self.passes.iter_mut().for_each(|z| *z = random.normal()),
        }
        if self.truth.noise == Noise::Spikes {
            let (share, times) = SPIKES;
            self.factors.iter_mut().for_each(|factor| *factor = if random.uniform() < share { times } else { 1.0 });
        }
        self.common = slowness;
        let spread = self.truth.noise.common_spread();
        if spread > 0.0 {
            let kept = if self.truth.noise == Noise::CommonAr1 { COMMON_CORRELATION } else { 0.0 };
            self.common_noise = kept * self.common_noise + (1.0 - kept * kept).sqrt() * random.normal();
            self.common *= (spread * self.common_noise - 0.5 * spread * spread).exp();
        }
    }

    /// The cost of an option of a setting in this frame, chosen or not.
    pub fn burden(&self, setting: usize, choice: u16) -> f64 {
        let law = &self.truth.laws[setting][usize::from(choice)];
        if law.mean == 0.0 {
            return 0.0;
        }
        (law.location + law.spread * self.passes[setting]).exp() * self.factors[setting] * self.common
    }
}

/// Distribution of the standard normal, to about seven digits (Press et al., "Numerical Recipes", `erfcc`).
pub fn normal_cumulative(z: f64) -> f64 {
    let x = (z / std::f64::consts::SQRT_2).abs();
    let t = 1.0 / (1.0 + 0.5 * x);
    const TERMS: [f64; 10] = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let polynomial = TERMS.iter().rev().fold(0.0, |sum, term| sum * t + term);
    let beyond = 0.5 * t * (-x * x + polynomial).exp();
    if z > 0.0 { 1.0 - beyond } else { beyond }
}
