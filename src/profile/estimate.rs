//! What an option is expected to cost, from this run, a past one, or a guess.
//!
//! The rules are Performance Goblin's, one function for a whole setting because the guess for an option without data
//! leans on its siblings:
//!
//! 1. With at least `measure_quota` samples in this run, an option costs what it cost *recently*.
//! 2. Without a sample in this run it costs its *prior*; in between, a share `samples / measure_quota` of the run's own
//!    distribution and the rest of the prior.
//! 3. The prior is the past profile's estimate times the ratio of present to past burdens; without one it is a *blind
//!    guess* from the lightest option of the setting that anything is known of.
//!
//! [`Blind::Optimistic`] is the seed's blind guess, which makes untried options look cheap so that they get tried: it
//! takes off the share `min(1, missing samples / samples of the setting)`, all of it before the first sample.
//! [`Blind::Cautious`] is ours, for a host whose frames must not pay for that: an untried option is a guess and said to
//! be one ([`Source::Blind`]), and the first samples count at once; see [`early`].

use super::Estimate;
use crate::stats::{Decayed, Normal, Running};

/// One option's samples of this run.
#[derive(Clone, Copy, Debug)]
pub struct Learned {
    /// All samples, each counting the same. This is what a profile keeps.
    pub run: Running,
    /// The recent ones.
    pub recent: Decayed,
    /// Those since the burden last changed, fading slowly: what [`Blind::Cautious`] goes by.
    pub steady: Decayed,
    /// The lowest sample: what the option costs when nothing gets in its way.
    pub lowest: f64,
    /// Samples in a row too far off, on one side, to be believed before more say the same: how many, their sum, and the
    /// least of them.
    suspects: u32,
    suspect_sum: f64,
    least_suspect: f64,
    /// Suspects that were dropped, fading with every sample that was not.
    dropped: f64,
    /// Suspects that were alone, and more than usual.
    hitches: u32,
}

impl Learned {
    /// No sample yet.
    pub const NOTHING: Self = Self {
        run: Running::EMPTY,
        recent: Decayed::EMPTY,
        steady: Decayed::EMPTY,
        lowest: f64::INFINITY,
        suspects: 0,
        suspect_sum: 0.0,
        least_suspect: f64::INFINITY,
        dropped: 0.0,
        hitches: 0,
    };

    /// Share of the recent statistics that a frame keeps.
    pub const KEPT_PER_FRAME: f64 = 1.0 - 1.0 / 30.0;

    /// Take a sample (finite, not negative) of the given frame, whatever it is.
    pub fn add(&mut self, sample: f64, frame: u64) {
        self.run.add(sample);
        self.recent.add(sample, frame, Self::KEPT_PER_FRAME);
        self.steady.add(sample, self.run.count(), KEPT_PER_SAMPLE);
        self.lowest = self.lowest.min(sample);
        if self.has_drifted() {
            self.steady = self.recent.from_frame(self.run.count());
        }
    }

    /// Whether the recent samples cost something else than those since the last change: by more than chance explains,
    /// and by enough to matter.
    fn has_drifted(&self) -> bool {
        let (recent, steady) = (self.recent.normal(), self.steady.normal());
        let off = (recent.mean - steady.mean).abs();
        if self.recent.weight() < FEW_SAMPLES as f64 || off <= DRIFT_THAT_MATTERS * steady.mean {
            return false;
        }
        let variance_of_means = recent.variance / self.recent.weight() + steady.variance / self.steady.weight();
        off * off > DRIFT_DEVIATIONS * DRIFT_DEVIATIONS * variance_of_means
    }

    /// Whether a few samples more or less make no difference.
    pub fn is_known(&self) -> bool {
        self.run.count() >= FEW_SAMPLES
    }

    /// Whether it costs more than it used to on the whole.
    pub fn has_become_dearer(&self) -> bool {
        self.steady.normal().mean > DEARER * self.run.mean()
    }

    /// Take a sample, but not a hitch. A sample far off the recent ones waits for the next: if [`CONFIRMED`] in a row
    /// are off on the same side, the burden has changed, and the recent statistics begin anew with them; if not, they
    /// were hitches and are dropped, but for what lone ones tell of the mean and the deviation in the long run. Where
    /// more than about one in [`SAMPLES_A_HITCH`] would be dropped, it is no hitch but how the option is, and counts.
    pub fn add_unless_hitch(&mut self, sample: f64, frame: u64) {
        let recent = self.recent.normal();
        let off = sample - recent.mean;
        let is_believable = off.abs() <= 0.5 * recent.mean || off.abs() <= 6.0 * recent.deviation();
        if self.recent.is_empty() || is_believable || self.dropped > MOST_DROPPED {
            self.dropped = (self.dropped - 1.0 / SAMPLES_A_HITCH).max(0.0);
            self.count_hitch(recent.mean);
            return self.add(sample, frame);
        }
        self.lowest = self.lowest.min(sample);
        let before = self.suspect_sum / f64::from(self.suspects.max(1));
        if self.suspects == 0 || (before - recent.mean).signum() != off.signum() {
            (self.suspects, self.suspect_sum, self.least_suspect) = (0, 0.0, f64::INFINITY);
        }
        self.suspects += 1;
        self.suspect_sum += sample;
        self.least_suspect = self.least_suspect.min(sample);
        self.dropped += 1.0;
        if self.suspects >= CONFIRMED[usize::from(off > 0.0)] {
            self.begin_anew(frame);
        }
    }

    /// The suspect before this sample was alone. Now and then an option costs more: that counts once there are enough
    /// samples beside it, but for no more than [`MOST_COUNTED`] times the mean, and not as recent.
    fn count_hitch(&mut self, mean: f64) {
        let suspect = if self.suspects == 1 { self.suspect_sum } else { 0.0 };
        self.suspects = 0;
        if suspect <= mean {
            return;
        }
        self.hitches += 1;
        if self.run.count() >= u64::from(self.hitches) * SAMPLES_A_COUNTED {
            let counted = suspect.min(MOST_COUNTED * mean);
            self.run.add(counted);
            self.steady.add(counted, self.run.count(), KEPT_PER_SAMPLE);
        }
    }

    /// The suspects were right.
    fn begin_anew(&mut self, frame: u64) {
        let (count, mean) = (self.suspects, self.suspect_sum / f64::from(self.suspects));
        self.dropped = (self.dropped - f64::from(count)).max(0.0);
        (self.recent, self.steady) = (Decayed::EMPTY, Decayed::EMPTY);
        self.lowest = self.least_suspect;
        self.suspects = 0;
        if self.run.count() < FEW_SAMPLES {
            self.run = Running::EMPTY;
        }
        (0..count).for_each(|_| self.add(mean, frame));
    }
}

/// So many suspects in a row, below and above what was expected, are a change. It takes more to believe that an option
/// has become dearer: it may be left at once for that, and would not be measured again soon.
const CONFIRMED: [u32; 2] = [2, 3];
/// Believable samples for each one that may be dropped as a hitch.
const SAMPLES_A_HITCH: f64 = 16.0;
/// Dropped samples, faded, from which on nothing more is dropped.
const MOST_DROPPED: f64 = 4.0;
/// Samples for each hitch that counts; what it counts for at most, in means.
const SAMPLES_A_COUNTED: u64 = 25;
const MOST_COUNTED: f64 = 3.0;
/// Share of the steady statistics that a sample keeps: they remember about 2000.
const KEPT_PER_SAMPLE: f64 = 1.0 - 1.0 / 2048.0;
/// The recent mean off the steady one by so many deviations of both is no chance.
const DRIFT_DEVIATIONS: f64 = 4.5;
/// A change by less than this share of the burden is none.
const DRIFT_THAT_MATTERS: f64 = 0.01;
/// What costs more than this many times what it did on the whole has become dearer.
const DEARER: f64 = 1.1;
/// Samples that a confirmed change makes worthless.
const FEW_SAMPLES: u64 = 8;

/// How an option without past knowledge is judged before its quota of samples is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blind {
    /// The seed's: cheap until proven dear.
    Optimistic,
    /// An untried option is a guess and marked as one; early samples count at once.
    Cautious,
}

/// The parameters of the rules.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Samples in this run from which on an option's recent distribution is trusted alone.
    pub measure_quota: u32,
    /// How to judge what has no past.
    pub blind: Blind,
}

/// Where an estimate comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// Nothing is known of the option: this is a guess from its siblings.
    #[default]
    Blind,
    /// The past profile, scaled to this machine.
    Past,
    /// Samples of this run, fewer than the quota, and a prior.
    Ramp,
    /// Recent samples of this run.
    Recent,
}

/// An expected burden and where it comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Burden {
    /// The distribution.
    pub normal: Normal,
    /// Its origin.
    pub source: Source,
}

/// Estimate every option of a setting into `burdens`; whether anything at all is known of the setting.
///
/// `learned`, `past` (where there is one) and `burdens` have one entry an option; `ratio` is present over past burdens.
pub fn estimate(
    rules: &Rules,
    learned: &[Learned],
    past: Option<&[Estimate]>,
    ratio: f64,
    burdens: &mut [Burden],
) -> bool {
    let mut blind = 0;
    for (option, (sampled, burden)) in learned.iter().zip(burdens.iter_mut()).enumerate() {
        *burden = if is_filled(rules, sampled) {
            Burden { normal: recent(rules, sampled), source: Source::Recent }
        } else {
            unfilled(rules, sampled, prior(rules, sampled, past, option, ratio))
        };
        blind += usize::from(burden.source == Source::Blind);
    }
    if blind > 0 || rules.blind == Blind::Optimistic {
        guess(rules, learned, past, ratio, burdens);
    }
    blind < learned.len()
}

/// Guess what is not known from the lightest that is.
#[inline(never)]
fn guess(rules: &Rules, learned: &[Learned], past: Option<&[Estimate]>, ratio: f64, burdens: &mut [Burden]) {
    let known = burdens.iter().filter(|burden| burden.source != Source::Blind).map(|burden| burden.normal);
    let lightest = known.reduce(|least, other| if other.mean < least.mean { other } else { least }).unwrap_or_default();
    let samples: u64 = learned.iter().map(|sampled| sampled.run.count()).sum();
    for (option, (sampled, burden)) in learned.iter().zip(burdens.iter_mut()).enumerate() {
        match rules.blind {
            Blind::Cautious if burden.source == Source::Blind => burden.normal = lightest,
            Blind::Optimistic if !is_filled(rules, sampled) && prior(rules, sampled, past, option, ratio).is_none() => {
                let guess = lightest.scaled(1.0 - missing_share(rules, sampled, samples));
                burden.normal = ramp(rules, sampled, guess);
            }
            _ => {}
        }
    }
}

/// Whether this run's samples are enough.
#[inline(always)]
fn is_filled(rules: &Rules, sampled: &Learned) -> bool {
    sampled.run.count() >= u64::from(rules.measure_quota.max(1))
}

/// What the past says of an option, on this machine.
fn prior(rules: &Rules, sampled: &Learned, past: Option<&[Estimate]>, option: usize, ratio: f64) -> Option<Normal> {
    let known = past.and_then(|past| past.get(option)).filter(|estimate| estimate.count > 0)?;
    if rules.blind == Blind::Cautious && !known.is_solid() && sampled.run.count() > 0 {
        // A few samples of the past are no better than the first ones of today.
        return None;
    }
    Some(known.normal().scaled(ratio))
}

/// What this run and the past know of an option without samples enough; a blind burden if nothing.
fn unfilled(rules: &Rules, sampled: &Learned, prior: Option<Normal>) -> Burden {
    let (normal, source) = match (prior, sampled.run.count()) {
        (None, 0) => return Burden::default(),
        (Some(prior), 0) => (prior, Source::Past),
        (Some(prior), _) => (ramp(rules, sampled, prior), Source::Ramp),
        (None, _) if rules.blind == Blind::Cautious => (early(rules, sampled), Source::Ramp),
        (None, _) => (sampled.run.normal(), Source::Ramp),
    };
    Burden { normal, source }
}

/// The seed's recent samples; or if cautious, all since the burden last changed, which wander less. Few of them do not
/// know their own deviation, which the seed lives with.
#[inline(always)]
fn recent(rules: &Rules, sampled: &Learned) -> Normal {
    if rules.blind == Blind::Optimistic {
        return sampled.recent.normal();
    }
    let steady = sampled.steady.normal();
    let share = sampled.steady.weight() / FEW_SAMPLES as f64;
    if share >= 1.0 {
        return steady;
    }
    let deviation = EARLY_RELATIVE_DEVIATION * steady.mean;
    Normal { mean: steady.mean, variance: steady.variance.max(deviation * deviation) }.toward(steady, share)
}

/// From the prior to the run's distribution as samples come in.
#[inline(always)]
fn ramp(rules: &Rules, sampled: &Learned, prior: Normal) -> Normal {
    let share = sampled.run.count() as f64 / f64::from(rules.measure_quota.max(1));
    prior.toward(sampled.run.normal(), share.min(1.0))
}

/// The seed's discount on a blind guess: how much of the quota is missing, against all samples of the setting.
fn missing_share(rules: &Rules, sampled: &Learned, samples_of_setting: u64) -> f64 {
    if samples_of_setting == 0 {
        return 1.0;
    }
    let missing = u64::from(rules.measure_quota).saturating_sub(sampled.run.count());
    (missing as f64 / samples_of_setting as f64).min(1.0)
}

/// The first samples of an option without a past. Two things are wrong with a handful of samples: one hitch among them
/// (a first use compiles, allocates, pages in) spoils the mean, so the lowest is believed first and the mean as the
/// quota fills; and they do not know their own deviation, so it starts at [`EARLY_RELATIVE_DEVIATION`] of the mean.
fn early(rules: &Rules, sampled: &Learned) -> Normal {
    let (count, steady) = (sampled.run.count() as f64, sampled.steady.normal());
    let deviation = EARLY_RELATIVE_DEVIATION * sampled.lowest;
    let lowest = Normal { mean: sampled.lowest, variance: deviation * deviation };
    let mean = lowest.toward(steady, (count / f64::from(rules.measure_quota.max(1))).min(1.0)).mean;
    let variance = lowest.toward(steady, (count / FEW_SAMPLES as f64).min(1.0)).variance;
    Normal { mean, variance }
}

/// A pass's cost is steady to about a tenth of itself on the renderers measured for `examples/frame_budget`.
const EARLY_RELATIVE_DEVIATION: f64 = 0.1;

/// Present over past burdens, from the options known on both sides: each side's means summed with the weight
/// `min(samples of this run, measure_quota)`. 1 when nothing can be compared or the past cost nothing.
pub fn past_to_present_ratio<'a>(rules: &Rules, both: impl Iterator<Item = (&'a [Learned], &'a [Estimate])>) -> f64 {
    let (mut present_sum, mut past_sum) = (0.0, 0.0);
    for (learned, past) in both {
        for (sampled, past) in learned.iter().zip(past) {
            if past.count > 0 {
                let weight = sampled.run.count().min(u64::from(rules.measure_quota.max(1))) as f64;
                present_sum += weight * sampled.run.mean();
                past_sum += weight * past.mean;
            }
        }
    }
    let ratio = present_sum / past_sum;
    if ratio.is_finite() && ratio > 0.0 { ratio } else { 1.0 }
}

#[cfg(test)]
#[path = "estimate_test.rs"]
mod tests;
