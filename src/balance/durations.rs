//! The durations of a strategy: their mean and deviation, and whether they changed.

use super::tuning::{
    BEYOND, CHANGE, HITCH, LEAST_DEVIATION, LONGER, MEMORY, MOST_DEVIATIONS, SETTLED, SLACK, SURPRISE, TAIL_MEMORY,
    TAIL_UNKNOWN, USUAL_DEVIATION, USUAL_WEIGHT,
};

/// Durations that are kept to begin again after a change.
const KEPT: usize = 16;

/// A mean and a deviation.
#[derive(Clone, Copy, Debug, Default)]
struct Normal {
    /// Durations in the mean, at most [`MEMORY`].
    weight: f64,
    mean: f64,
    squared_deviations: f64,
}

impl Normal {
    fn count(&mut self, seconds: f64) {
        self.count_apart(seconds, seconds);
    }

    /// Count one value for the mean, and another one for the deviation.
    fn count_apart(&mut self, seconds: f64, deviating: f64) {
        let keep = (MEMORY - 1.0) / self.weight.max(MEMORY - 1.0);
        self.weight = self.weight * keep + 1.0;
        self.squared_deviations *= keep;
        let from_old_mean = deviating - self.mean;
        self.mean += (seconds - self.mean) / self.weight;
        self.squared_deviations += from_old_mean * (deviating - self.mean);
    }
}

/// A finding from a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    None,
    /// The durations have changed: the mean is that of the last ones alone.
    Change,
    /// The last change was a hitch: the mean is the one before it.
    HitchEnd,
}

/// The time of single long durations beyond those that count for the mean, in means. It outlives changes.
#[derive(Clone, Copy, Debug, Default)]
struct Tail {
    /// Durations, at most [`TAIL_MEMORY`].
    weight: f64,
    sum: f64,
}

impl Tail {
    fn count(&mut self, excess: f64) {
        let keep = (TAIL_MEMORY - 1.0) / self.weight.max(TAIL_MEMORY - 1.0);
        self.weight = self.weight * keep + 1.0;
        self.sum = self.sum * keep + excess;
    }

    /// Taken as short until there are many durations: a strategy with few of them is tried rather than missed.
    fn share(&self) -> f64 {
        self.sum / (self.weight + TAIL_UNKNOWN)
    }
}

/// Mean and deviation of recent durations.
#[derive(Clone, Copy, Debug, Default)]
pub struct Durations {
    now: Normal,
    /// The mean before the last change, if that may have been a hitch.
    before: Normal,
    /// Single long durations.
    tail: Tail,
    /// The mean with the tail.
    mean: f64,
    /// Durations added.
    added: u64,
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
    /// Add a duration.
    pub fn add(&mut self, seconds: f64) -> Finding {
        let finding = self.take_in(seconds);
        self.mean = self.now.mean * (1.0 + self.tail.share());
        finding
    }

    fn take_in(&mut self, seconds: f64) -> Finding {
        self.last[(self.added % KEPT as u64) as usize] = seconds;
        self.added += 1;
        if std::mem::take(&mut self.is_doubtful) {
            self.forget(self.now);
        }
        let ends_hitch = self.ends_hitch(seconds);
        if ends_hitch {
            *self = Self {
                now: self.before,
                since: SETTLED,
                tail: self.tail,
                added: self.added,
                last: self.last,
                ..Self::default()
            };
        }
        if self.since <= SETTLED && seconds < HITCH * self.now.mean {
            self.forget(Normal::default());
        }
        self.since += 1;
        if self.since > SETTLED {
            let deviation = self.expected_deviation();
            let apart = (seconds - self.now.mean) / deviation;
            self.is_surprised = apart.abs() > SURPRISE;
            let apart = apart.clamp(-MOST_DEVIATIONS, MOST_DEVIATIONS);
            self.above = (self.above + apart - SLACK).max(0.0);
            self.below = (self.below - apart - SLACK).max(0.0);
            let is_above = self.above > CHANGE;
            if is_above || self.below > CHANGE {
                self.begin_again(is_above);
                return Finding::Change;
            }
            // A hitch says little about the next duration. It counts as the most that a usual one may be.
            let most = self.now.mean + (apart * deviation).min(BEYOND * self.now.mean);
            self.tail.count((seconds - most).max(0.0) / self.now.mean);
            self.now.count_apart(most, self.now.mean + apart * deviation);
        } else {
            self.tail.count(0.0);
            self.now.count(seconds);
        }
        if ends_hitch { Finding::HitchEnd } else { Finding::None }
    }

    /// Whether the last change was a hitch: it made the work much longer, and this duration is as before.
    fn ends_hitch(&self, seconds: f64) -> bool {
        let Self { now, before, .. } = self;
        let is_recent = before.weight > 0.0 && self.since <= KEPT as u64;
        is_recent && before.mean < LONGER * now.mean && (seconds - before.mean).abs() < (seconds - now.mean).abs()
    }

    /// The deviation, which few durations tell badly: it begins at a usual one.
    fn expected_deviation(&self) -> f64 {
        let Normal { weight, mean, squared_deviations } = self.now;
        let usual = USUAL_DEVIATION * mean;
        let sum = squared_deviations + USUAL_WEIGHT * usual * usual;
        (sum / (weight - 1.0 + USUAL_WEIGHT)).sqrt().max(LEAST_DEVIATION * mean)
    }

    /// Whether the last duration deviates so much that the next ones may show a change.
    pub fn is_surprised(&self) -> bool {
        self.is_surprised
    }

    /// Forget all but the last durations that are on one side of the mean by a deviation.
    fn begin_again(&mut self, is_above: bool) {
        let Self { now: Normal { mean, .. }, added, last, .. } = *self;
        let (deviation, side) = (self.expected_deviation(), if is_above { 1.0 } else { -1.0 });
        let at = |back: u64| last[((added - 1 - back) % KEPT as u64) as usize];
        let is_changed = |back: &u64| side * (at(*back) - mean) >= deviation;
        let count = (0..added.min(KEPT as u64)).take_while(is_changed).count().max(1) as u64;
        // The durations of a change are no tail.
        let most = mean + (MOST_DEVIATIONS * deviation).min(BEYOND * mean);
        let excess: f64 = (1..count).map(|back| (at(back) - most).max(0.0) / mean).sum();
        self.tail.sum = (self.tail.sum - excess).max(0.0);
        self.forget(if is_above { self.now } else { Normal::default() });
        (0..count).rev().for_each(|back| self.now.count(at(back)));
        self.since = count;
    }

    /// The durations may be out of date. The next one replaces them.
    pub fn doubt(&mut self) {
        self.is_doubtful = !self.is_empty();
    }

    /// Whether the next duration replaces them.
    pub fn is_doubtful(&self) -> bool {
        self.is_doubtful
    }

    /// They are not out of date.
    pub fn trust(&mut self) {
        self.is_doubtful = false;
    }

    /// Forget everything but the last durations and what was known before.
    fn forget(&mut self, before: Normal) {
        *self = Self { before, tail: self.tail, added: self.added, last: self.last, ..Self::default() };
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.now.weight == 0.0
    }

    /// Mean of the recent durations, in seconds. 0 if nothing is known.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Their standard deviation, in seconds.
    pub fn deviation(&self) -> f64 {
        let Normal { weight, squared_deviations, .. } = self.now;
        if weight > 1.0 { (squared_deviations / (weight - 1.0)).max(0.0).sqrt() } else { 0.0 }
    }

    /// The standard error of the mean, in seconds.
    pub fn error(&self) -> f64 {
        self.deviation() / self.now.weight.max(1.0).sqrt()
    }
}
