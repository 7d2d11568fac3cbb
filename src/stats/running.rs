//! Mean and variance of all samples of a run, equally weighted.

use super::Normal;

/// Count, mean and squared deviations of a stream of equally weighted samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Running {
    count: u64,
    mean: f64,
    squared_deviations: f64,
}

impl Running {
    /// No samples.
    pub const EMPTY: Self = Self { count: 0, mean: 0.0, squared_deviations: 0.0 };

    /// The statistics of `count` samples with this mean and this population (not sample) deviation.
    pub fn from_moments(count: u64, mean: f64, deviation: f64) -> Self {
        Self { count, mean, squared_deviations: deviation * deviation * count as f64 }
    }

    /// Add one finite sample.
    pub fn add(&mut self, sample: f64) {
        self.count += 1;
        let from_old_mean = sample - self.mean;
        self.mean += from_old_mean / self.count as f64;
        self.squared_deviations += from_old_mean * (sample - self.mean);
    }

    /// Add all samples of `other`.
    pub fn merge(&mut self, other: &Self) {
        if self.count == 0 {
            *self = *other;
            return;
        }
        if other.count == 0 {
            return;
        }
        let (mine, theirs) = (self.count as f64, other.count as f64);
        let apart = other.mean - self.mean;
        self.count = self.count.saturating_add(other.count);
        self.mean += apart * theirs / (mine + theirs);
        self.squared_deviations += other.squared_deviations + apart * apart * mine * theirs / (mine + theirs);
    }

    /// The same samples, each `factor` times as large.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            count: self.count,
            mean: self.mean * factor,
            squared_deviations: self.squared_deviations * factor * factor,
        }
    }

    /// Number of samples.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Mean of the samples; 0 without samples.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Mean squared distance from the mean (population variance); 0 without samples.
    pub fn variance(&self) -> f64 {
        if self.count == 0 { 0.0 } else { (self.squared_deviations / self.count as f64).max(0.0) }
    }

    /// Mean and variance together.
    pub fn normal(&self) -> Normal {
        Normal { mean: self.mean, variance: self.variance() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_variance_match_a_textbook_set() {
        let mut running = Running::EMPTY;
        for sample in [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0] {
            running.add(sample);
        }
        assert_eq!((running.count(), running.mean(), running.variance()), (8, 5.0, 4.0));
    }

    #[test]
    fn merged_halves_equal_the_whole() {
        let samples = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0];
        for cut in 0..=samples.len() {
            let (mut left, mut right, mut whole) = (Running::EMPTY, Running::EMPTY, Running::EMPTY);
            samples[..cut].iter().for_each(|&s| left.add(s));
            samples[cut..].iter().for_each(|&s| right.add(s));
            samples.iter().for_each(|&s| whole.add(s));
            left.merge(&right);
            assert_eq!(left.count(), whole.count());
            assert!((left.mean() - whole.mean()).abs() < 1e-12, "cut {cut}");
            assert!((left.variance() - whole.variance()).abs() < 1e-12, "cut {cut}");
        }
    }

    #[test]
    fn constant_samples_have_no_variance() {
        let mut running = Running::EMPTY;
        (0..1000).for_each(|_| running.add(16.6));
        assert!((running.mean() - 16.6).abs() < 1e-12);
        assert!(running.variance() < 1e-20);
    }
}
