//! Expected costs of options, from samples of this run, a past run, or a guess.
//!
//! The rules are Performance Goblin's. One function estimates a whole setting, because the guess for an option without
//! data depends on the other options:
//!
//! 1. With at least `measure_quota` samples in this run, the estimate is the *recent* distribution; see [`recent`].
//! 2. Without samples in this run, the estimate is the *prior*. In between, it is a share `samples / measure_quota` of
//!    the run's own distribution, plus the rest of the prior.
//! 3. The prior is the past profile's estimate times the ratio of present to past burdens. Without a past estimate, it
//!    is a *blind guess* from the lightest known option of the setting.
//!
//! [`Blind::Optimistic`] is the seed's blind guess. It makes untried options look cheap, so that they are tried. It
//! subtracts the share `min(1, missing samples / samples of the setting)`, or everything if the setting has no samples.
//!
//! [`Blind::Cautious`] is ours, for a host whose frames must not pay for such trials. The estimate of an untried option
//! is marked as a guess ([`Source::Blind`]), and its first samples count at once; see [`early`].

use super::{Estimate, Hitches};
use crate::stats::{Autocorrelation, Decayed, Normal, Running};

/// One option's samples of this run.
#[derive(Clone, Copy, Debug)]
pub struct Learned {
    /// All samples as measured, per unit of work, hitches included. A profile stores these statistics, and no estimate
    /// of this run uses them.
    pub measured: Running,
    /// The samples for estimates, equally weighted: relative to the common factor, without isolated hitches.
    pub run: Running,
    /// The recent samples.
    pub recent: Decayed,
    /// The samples since the last change of the burden, with slow decay and without hitches. [`Blind::Cautious`] uses these.
    pub steady: Decayed,
    /// How long the noise of consecutive samples lasts.
    noise: Autocorrelation,
    /// Share of the recent statistics in estimates; the rest is that of the steady ones.
    fade: f64,
    /// The lowest sample: the cost without interference.
    pub lowest: f64,
    /// The highest sample since the last change that was confirmed.
    highest: f64,
    /// Number of suspects: consecutive samples far from the recent mean, all on one side, and not yet confirmed.
    suspects: u32,
    /// Sum of the suspects.
    suspect_sum: f64,
    /// The lowest suspect.
    least_suspect: f64,
    /// Number of dropped suspects. Each accepted sample reduces it by `1 / SAMPLES_A_HITCH`.
    dropped: f64,
    /// The samples, and isolated suspects above the mean among them.
    hitches: Hitches,
    /// The mean to which the present estimates of the other options belong; 0 until it is known.
    anchor: f64,
    /// The frame of the anchor.
    anchored: u64,
    /// The last frame with a sample.
    last_frame: u64,
    /// Samples since the recent statistics restarted, or since the last pause.
    fresh: u32,
}

impl Learned {
    /// No sample yet.
    pub const NOTHING: Self = Self {
        measured: Running::EMPTY,
        run: Running::EMPTY,
        recent: Decayed::EMPTY,
        steady: Decayed::EMPTY,
        noise: Autocorrelation::EMPTY,
        fade: 0.0,
        lowest: f64::INFINITY,
        highest: 0.0,
        suspects: 0,
        suspect_sum: 0.0,
        least_suspect: f64::INFINITY,
        dropped: 0.0,
        hitches: Hitches::NONE,
        anchor: 0.0,
        anchored: 0,
        last_frame: 0,
        fresh: 0,
    };

    /// Factor by which a frame decays the recent statistics.
    pub const KEPT_PER_FRAME: f64 = 1.0 - 1.0 / 30.0;

    /// Add a sample (finite, not negative) of this frame, hitch or not.
    pub fn add(&mut self, sample: f64, frame: u64) {
        self.run.add(sample);
        self.recent.add(sample, frame, Self::KEPT_PER_FRAME);
        self.steady.add(sample, self.run.count(), KEPT_PER_SAMPLE);
        self.lowest = self.lowest.min(sample);
        self.highest = self.highest.max(sample);
        self.fade = self.drift();
        if self.fade >= 1.0 {
            self.steady = self.recent.from_frame(self.run.count());
            self.fade = 0.0;
            self.fresh = 0;
        }
    }

    /// How far the recent mean has drifted from the mean since the last change: 0 for chance, 1 for a change. In between,
    /// estimates fade from the steady to the recent statistics as the recent data accumulate. Differences of at most
    /// [`DRIFT_THAT_MATTERS`] are ignored. Lasting noise moves the recent mean further than independent noise, and ends.
    fn drift(&self) -> f64 {
        let (recent, steady) = (self.recent.normal(), self.steady.normal());
        let off = (recent.mean - steady.mean).abs();
        if self.recent.weight() < FEW_SAMPLES as f64 || off <= DRIFT_THAT_MATTERS * steady.mean {
            return 0.0;
        }
        let variance_of_means = self.variance_of_mean(&self.recent) + self.variance_of_mean(&self.steady);
        let (least, most) = (CHANCE_DEVIATIONS * CHANCE_DEVIATIONS, DRIFT_DEVIATIONS * DRIFT_DEVIATIONS);
        ((off * off / variance_of_means - least) / (most - least)).clamp(0.0, 1.0)
    }

    /// Variance of the mean of these statistics, in which lasting noise counts as few independent samples.
    fn variance_of_mean(&self, of: &Decayed) -> f64 {
        of.normal().variance * (self.noise.time() / of.weight()).min(1.0)
    }

    /// The steady mean without the highest sample; with a single sample, that one.
    fn mean_without_highest(&self) -> f64 {
        let (mean, weight) = (self.steady.normal().mean, self.steady.weight());
        let others = (weight * mean - self.highest) / (weight - 1.0).max(f64::MIN_POSITIVE);
        others.max(self.lowest).min(mean)
    }

    /// Whether the option has enough samples that a few more change little.
    pub fn is_known(&self) -> bool {
        self.run.count() >= FEW_SAMPLES
    }

    /// Whether the option is known and its recent samples do not differ from the others.
    pub fn is_calm(&self) -> bool {
        let (recent, steady) = (self.recent.normal().mean, self.steady.normal().mean);
        self.is_known() && self.suspects == 0 && (recent - steady).abs() <= CALM * steady
    }

    /// Whether the steady mean exceeds `DEARER` times the mean of the run.
    pub fn has_become_dearer(&self) -> bool {
        self.steady.normal().mean > DEARER * self.run.mean()
    }

    /// Add a sample unless it is a hitch.
    ///
    /// A sample far from the recent mean is a suspect, and waits for the next sample. After `CONFIRMED` suspects in a
    /// row on the same side the burden has changed: the recent statistics restart with them. Otherwise the suspects
    /// were hitches and are dropped. Isolated ones are counted: see [`Hitches`].
    ///
    /// If more than about one sample in `SAMPLES_A_HITCH` would be dropped, suspects are normal for the option and
    /// count.
    ///
    /// Returns how many times the mean the sample before took, if this one shows that it was an isolated hitch.
    pub fn add_unless_hitch(&mut self, sample: f64, frame: u64) -> Option<f64> {
        let recent = self.recent.normal();
        let off = sample - recent.mean;
        let is_believable = off.abs() <= 0.5 * recent.mean || off.abs() <= 6.0 * recent.deviation();
        if self.recent.is_empty() || is_believable || self.dropped > MOST_DROPPED {
            self.dropped = (self.dropped - 1.0 / SAMPLES_A_HITCH).max(0.0);
            let hitch = self.end_suspicion(recent.mean);
            self.hitches.add_sample();
            self.noise.add(sample);
            self.add(sample, frame);
            return hitch;
        }
        self.noise.interrupt();
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
        None
    }

    /// Count the suspect before this sample as a hitch if it was isolated and above the mean: rare hitches are part of an
    /// option's cost. Returns how many times the mean it took.
    fn end_suspicion(&mut self, mean: f64) -> Option<f64> {
        let suspects = std::mem::take(&mut self.suspects);
        let times = self.suspect_sum / mean;
        let is_hitch = suspects == 1 && times > 1.0 && times.is_finite();
        is_hitch.then(|| {
            self.hitches.add_hitch(times);
            times
        })
    }

    /// The distribution of all samples since the last change, with hitches.
    pub fn long_run(&self) -> Normal {
        self.hitches.join(&Hitches::NONE, self.steady.normal())
    }

    /// The expected cost if a hitch takes at most `1 + most` times the mean of other samples, as a share of the estimate. `all`
    /// has the hitches of all options.
    pub fn clamped(&self, all: &Hitches, most: f64) -> f64 {
        if self.is_known() { self.hitches.clamped(all, most) } else { 1.0 }
    }

    /// The suspects are confirmed: restart the statistics with them.
    fn begin_anew(&mut self, frame: u64) {
        let (count, mean) = (self.suspects, self.suspect_sum / f64::from(self.suspects));
        self.dropped = (self.dropped - f64::from(count)).max(0.0);
        (self.recent, self.steady, self.fade) = (Decayed::EMPTY, Decayed::EMPTY, 0.0);
        self.lowest = self.least_suspect;
        self.highest = 0.0;
        self.suspects = 0;
        if self.run.count() < FEW_SAMPLES {
            self.run = Running::EMPTY;
        }
        (0..count).for_each(|_| self.add(mean, frame));
        self.fresh = 0;
    }

    /// Observe a sample on this frame, which was added. While the statistics converge after a restart, returns the burden
    /// as a multiple of the anchor, and the frame of the anchor. Lasting noise is no change of the burden. A change is
    /// shrunk by its uncertainty (W. James and C. Stein, "Estimation with quadratic loss", 1961), so chance is not followed.
    fn shift(&mut self, frame: u64) -> Option<(f64, u64)> {
        if frame > self.last_frame + LONGEST_PAUSE {
            (self.anchor, self.fresh) = (0.0, 0);
            self.noise.interrupt();
        }
        self.last_frame = frame;
        self.fresh = self.fresh.saturating_add(1);
        let mean = self.recent.normal().mean;
        if self.anchor <= 0.0 {
            if self.fresh >= ANCHOR_SAMPLES {
                (self.anchor, self.anchored) = (mean, frame);
            }
            return None;
        }
        if self.fresh > FOLLOWED_SAMPLES || self.noise.time() > LONGEST_NOISE {
            return None;
        }
        let off = mean - self.anchor;
        let chance = SHRINKAGE * self.variance_of_mean(&self.recent);
        if off * off <= chance {
            return None;
        }
        let factor = 1.0 + (1.0 - chance / (off * off)) * off / self.anchor;
        let since = std::mem::replace(&mut self.anchored, frame);
        self.anchor *= factor;
        Some((factor, since))
    }

    /// Multiply the recent statistics, because the burden has changed without samples.
    fn scale(&mut self, factor: f64, frame: u64) {
        (self.recent, self.steady) = (self.recent.scaled(factor), self.steady.scaled(factor));
        self.lowest *= factor;
        self.highest *= factor;
        self.anchor *= factor;
        self.anchored = frame;
    }
}

/// Add a sample of an option of a task unless it is a hitch; hitches are counted there and in `all`. When the scene has changed the burden, the options without
/// samples since then follow in proportion: most passes cost more or less in all their options together.
pub fn add_to_task(learned: &mut [Learned], option: usize, sample: f64, frame: u64, all: &mut Hitches) {
    all.add_sample();
    if let Some(times) = learned[option].add_unless_hitch(sample, frame) {
        all.add_hitch(times);
    }
    let Some((factor, since)) = learned[option].shift(frame) else { return };
    if !(1.0 / MOST_SHIFT..=MOST_SHIFT).contains(&factor) {
        return;
    }
    let others = learned.iter_mut().enumerate().filter(|(other, _)| *other != option).map(|(_, other)| other);
    others.filter(|other| other.last_frame.max(other.anchored) <= since).for_each(|other| other.scale(factor, frame));
}

/// A pause of more frames than this ends a series of samples: the scene may have changed in it.
const LONGEST_PAUSE: u64 = 30;
/// Samples until a mean is known well enough that other options can follow its changes.
const ANCHOR_SAMPLES: u32 = 16;
/// Samples after a restart in which other options follow. The recent mean then has few samples from before the change.
const FOLLOWED_SAMPLES: u32 = 90;
/// Noise that lasts longer than this many samples moves an option's recent mean so far that others must not follow.
/// The renderer suite (4 seeds): 2 .9715 of the value, 3 .9752, 6 .9746.
const LONGEST_NOISE: f64 = 3.0;
/// Variances of the recent mean that are taken for chance. The renderer suite (4 seeds): 1 .9726 of the value, 2 .9752, 4
/// .9730.
const SHRINKAGE: f64 = 2.0;
/// A change of a burden by more than this factor, or its inverse, says nothing about other options.
const MOST_SHIFT: f64 = 8.0;
/// Number of consecutive suspects, below and above the recent mean, that confirm a change. A rise needs more, because
/// the option may be abandoned for it at once, and would not be measured again soon.
const CONFIRMED: [u32; 2] = [2, 3];
/// Accepted samples for each one that may be dropped as a hitch.
const SAMPLES_A_HITCH: f64 = 16.0;
/// Limit of `Learned::dropped`. Above it no more samples are dropped.
const MOST_DROPPED: f64 = 4.0;
/// Factor by which a sample decays the steady statistics: they remember about 2000 samples.
const KEPT_PER_SAMPLE: f64 = 1.0 - 1.0 / 2048.0;
/// Significance threshold of a drift: difference of the means, in standard deviations of that difference.
const DRIFT_DEVIATIONS: f64 = 4.5;
/// A smaller difference, in the same unit, is chance.
const CHANCE_DEVIATIONS: f64 = 3.0;
/// A change by at most this share of the burden is ignored.
const DRIFT_THAT_MATTERS: f64 = 0.01;
/// Recent samples that differ by at most this share are no sign of a change.
const CALM: f64 = 0.05;
/// Factor over the mean of the run above which an option has become more expensive.
const DEARER: f64 = 1.1;
/// Below this number of samples, statistics are weak. A confirmed change discards the statistics of such a run.
const FEW_SAMPLES: u64 = 8;
/// A sample below this share of a past estimate refutes it.
const REFUTED: f64 = 0.5;

/// The estimate of an option without past data, before it has its quota of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blind {
    /// The seed's rule: an option is cheap until samples show otherwise.
    Optimistic,
    /// An untried option gets a guess that is marked as one. Early samples count at once.
    Cautious,
}

/// The parameters of the rules.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Minimum number of samples in this run at which only the recent distribution of an option counts.
    pub measure_quota: u32,
    /// The rule for options without past data.
    pub blind: Blind,
    /// The hitches of all options of the lane. Only the cautious rule uses them.
    pub hitches: Hitches,
}

/// The source of an estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// A guess from the other options of the setting: the option has no data.
    #[default]
    Blind,
    /// The past profile, scaled to this machine.
    Past,
    /// Samples of this run, fewer than the quota, and the prior if there is one.
    Ramp,
    /// Recent samples of this run.
    Recent,
}

/// An expected burden and its source.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Burden {
    /// The distribution.
    pub normal: Normal,
    /// The source of the estimate.
    pub source: Source,
}

/// Estimate every option of a setting into `burdens`. Returns whether any option has data.
///
/// `learned`, `past` (if present) and `burdens` have one entry for each option. `ratio` is present over past burdens.
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

/// Guess the burden of unknown options from the lightest known one.
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

/// Whether the samples of this run reach the quota.
fn is_filled(rules: &Rules, sampled: &Learned) -> bool {
    sampled.run.count() >= u64::from(rules.measure_quota.max(1))
}

/// The past estimate of an option, scaled to this machine. None if samples of this run refute it.
fn prior(rules: &Rules, sampled: &Learned, past: Option<&[Estimate]>, option: usize, ratio: f64) -> Option<Normal> {
    let known = past.and_then(|past| past.get(option)).filter(|estimate| estimate.count > 0)?;
    let prior = known.normal().scaled(ratio);
    if rules.blind == Blind::Cautious && sampled.run.count() > 0 {
        // A few past samples are no better than the first samples of this run. And a hitch makes a sample higher, never
        // lower: the past is of other options, or of a scene with more work.
        let is_refuted = sampled.lowest < REFUTED * prior.mean;
        return Some(prior).filter(|_| known.is_solid() && !is_refuted);
    }
    Some(prior)
}

/// The estimate of an option with fewer samples than the quota. Without any data, a blind burden.
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

/// The distribution of an option that has its quota. Optimistic: the seed's recent samples. Cautious: all samples since
/// the last change of the burden, which vary less. A few samples underestimate their deviation. The seed accepts that;
/// the cautious rule starts with at least [`EARLY_RELATIVE_DEVIATION`] of the mean.
fn recent(rules: &Rules, sampled: &Learned) -> Normal {
    if rules.blind == Blind::Optimistic {
        return sampled.recent.normal();
    }
    let mut steady = sampled.steady.normal();
    if sampled.fade > 0.0 {
        steady = steady.toward(sampled.recent.normal(), sampled.fade);
    }
    let share = sampled.steady.weight() / FEW_SAMPLES as f64;
    if share < 1.0 {
        let deviation = EARLY_RELATIVE_DEVIATION * steady.mean;
        let first = Normal { mean: steady.mean, variance: steady.variance.max(deviation * deviation) };
        steady = first.toward(steady, share);
    }
    sampled.hitches.join(&rules.hitches, steady)
}

/// Interpolate from the prior to the distribution of the run as samples accumulate.
fn ramp(rules: &Rules, sampled: &Learned, prior: Normal) -> Normal {
    let share = sampled.run.count() as f64 / f64::from(rules.measure_quota.max(1));
    prior.toward(of_run(rules, sampled), share.min(1.0))
}

/// The distribution of the run. A past estimate has hitches, so the cautious one has them, too.
fn of_run(rules: &Rules, sampled: &Learned) -> Normal {
    match rules.blind {
        Blind::Optimistic => sampled.run.normal(),
        Blind::Cautious => sampled.hitches.join(&rules.hitches, sampled.run.normal()),
    }
}

/// The seed's discount on a blind guess: samples missing from the quota, relative to all samples of the setting.
fn missing_share(rules: &Rules, sampled: &Learned, samples_of_setting: u64) -> f64 {
    if samples_of_setting == 0 {
        return 1.0;
    }
    let missing = u64::from(rules.measure_quota).saturating_sub(sampled.run.count());
    (missing as f64 / samples_of_setting as f64).min(1.0)
}

/// The cautious estimate from the first samples of an option without past data. A few samples have two problems:
///
/// * One hitch distorts the mean, because a first use compiles, allocates and pages in. So the estimate starts as the mean
///   without the highest sample, and moves to the steady mean as the quota fills. The lowest sample is no substitute: a
///   solver that compares hundreds of options chooses those whose lowest sample is luckiest.
/// * They underestimate the deviation. So it starts at [`EARLY_RELATIVE_DEVIATION`] of the lowest sample.
fn early(rules: &Rules, sampled: &Learned) -> Normal {
    let (count, steady) = (sampled.run.count() as f64, sampled.steady.normal());
    let deviation = EARLY_RELATIVE_DEVIATION * sampled.lowest;
    let first = Normal { mean: sampled.mean_without_highest(), variance: deviation * deviation };
    let mean = first.toward(steady, (count / f64::from(rules.measure_quota.max(1))).min(1.0)).mean;
    let variance = first.toward(steady, (count / FEW_SAMPLES as f64).min(1.0)).variance;
    sampled.hitches.join(&rules.hitches, Normal { mean, variance })
}

/// A pass's cost is steady to about a tenth of itself on the renderers measured for `trials/frame_budget`.
const EARLY_RELATIVE_DEVIATION: f64 = 0.1;

/// The ratio of present to past burdens, from the options with data on both sides. Each side sums its means with the
/// weight `min(samples of this run, measure_quota)`. The ratio is 1 without common options, or if either sum is 0.
pub fn past_to_present_ratio<'a>(rules: &Rules, both: impl Iterator<Item = (&'a [Learned], &'a [Estimate])>) -> f64 {
    let (mut present_sum, mut past_sum) = (0.0, 0.0);
    for (learned, past) in both {
        for (sampled, past) in learned.iter().zip(past) {
            if past.count > 0 {
                let weight = sampled.run.count().min(u64::from(rules.measure_quota.max(1))) as f64;
                present_sum += weight * of_run(rules, sampled).mean;
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
