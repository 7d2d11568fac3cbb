//! The durations of a strategy: their mean and deviation, and whether they changed.

use super::tuning::{
    CHANGE, HITCH, LEAST_DEVIATION, MEMORY, MOST_DEVIATIONS, SETTLED, SLACK, SURPRISE, USUAL_DEVIATION, USUAL_WEIGHT,
};

/// Durations that are kept to begin again after a change.
const KEPT: usize = 16;

/// Mean and deviation of recent durations.
#[derive(Clone, Copy, Debug, Default)]
pub struct Durations {
    /// Durations in the mean, at most [`MEMORY`].
    weight: f64,
    mean: f64,
    squared_deviations: f64,
    measured: u64,
    /// Durations since the last change.
    since: u64,
    /// The mean is of another scene: the next duration replaces it.
    is_doubtful: bool,
    /// The last durations, as a ring.
    last: [f64; KEPT],
    /// Sums of deviations above and below the mean: the two sides of the CUSUM.
    above: f64,
    below: f64,
    is_surprised: bool,
}

impl Durations {
    /// Add a duration. True if the durations have changed: the mean is then that of the last ones alone.
    pub fn add(&mut self, seconds: f64) -> bool {
        self.last[(self.measured % KEPT as u64) as usize] = seconds;
        self.measured += 1;
        if std::mem::take(&mut self.is_doubtful) {
            self.forget();
        }
        if self.since <= SETTLED && seconds < HITCH * self.mean {
            self.forget();
        }
        self.since += 1;
        if self.since > SETTLED {
            let deviation = self.expected_deviation();
            let apart = (seconds - self.mean) / deviation;
            self.is_surprised = apart.abs() > SURPRISE;
            let apart = apart.clamp(-MOST_DEVIATIONS, MOST_DEVIATIONS);
            self.above = (self.above + apart - SLACK).max(0.0);
            self.below = (self.below - apart - SLACK).max(0.0);
            let is_above = self.above > CHANGE;
            if is_above || self.below > CHANGE {
                self.begin_again(is_above);
                return true;
            }
            // A hitch says little about the next duration. It counts as the most that a usual one may be.
            self.count(self.mean + apart * deviation);
        } else {
            self.count(seconds);
        }
        false
    }

    /// The deviation, which few durations tell badly: it begins at a usual one.
    fn expected_deviation(&self) -> f64 {
        let usual = USUAL_DEVIATION * self.mean;
        let sum = self.squared_deviations + USUAL_WEIGHT * usual * usual;
        (sum / (self.weight - 1.0 + USUAL_WEIGHT)).sqrt().max(LEAST_DEVIATION * self.mean)
    }

    /// Whether the last duration deviates so much that the next ones may show a change.
    pub fn is_surprised(&self) -> bool {
        self.is_surprised
    }

    fn count(&mut self, seconds: f64) {
        let keep = (MEMORY - 1.0) / self.weight.max(MEMORY - 1.0);
        self.weight = self.weight * keep + 1.0;
        self.squared_deviations *= keep;
        let from_old_mean = seconds - self.mean;
        self.mean += from_old_mean / self.weight;
        self.squared_deviations += from_old_mean * (seconds - self.mean);
    }

    /// Forget all but the last durations that are on one side of the mean by a deviation.
    fn begin_again(&mut self, is_above: bool) {
        let Self { mean, measured, last, .. } = *self;
        let (deviation, side) = (self.expected_deviation(), if is_above { 1.0 } else { -1.0 });
        let at = |back: u64| last[((measured - 1 - back) % KEPT as u64) as usize];
        let is_changed = |back: &u64| side * (at(*back) - mean) >= deviation;
        let count = (0..measured.min(KEPT as u64)).take_while(is_changed).count().max(1) as u64;
        self.forget();
        (0..count).rev().for_each(|back| self.count(at(back)));
        self.since = count;
    }

    /// The durations may be out of date. The next one replaces them.
    pub fn doubt(&mut self) {
        self.is_doubtful = !self.is_empty();
    }

    /// Forget everything but the number of durations.
    fn forget(&mut self) {
        *self = Self { measured: self.measured, last: self.last, ..Self::default() };
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.weight == 0.0
    }

    /// Mean of the recent durations, in seconds. 0 if nothing is known.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Their standard deviation, in seconds.
    pub fn deviation(&self) -> f64 {
        if self.weight > 1.0 { (self.squared_deviations / (self.weight - 1.0)).max(0.0).sqrt() } else { 0.0 }
    }

    /// The standard error of the mean, in seconds.
    pub fn error(&self) -> f64 {
        self.deviation() / self.weight.max(1.0).sqrt()
    }

    /// Durations since the beginning.
    pub fn measured(&self) -> u64 {
        self.measured
    }
}
