//! How long noise lasts.

/// Estimates the autocorrelation time of samples: after how many of them one is independent of the first.
///
/// `n` samples of lasting noise are worth only `n` / time independent ones, so their mean strays that much further. For
/// a first-order autoregressive process with the correlation `r`, the time is `(1 + r) / (1 - r)`.
///
/// The estimate compares second differences of neighbours with those of samples `LAG` apart. It is a relative of the
/// von Neumann ratio (J. von Neumann, 1941). Differences of independent samples do not depend on the distance. Second differences do not show a trend, which is no noise.
/// Absolute values instead of squares keep outliers from deciding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Autocorrelation {
    neighbours: Series,
    distant: Series,
    /// Samples until the next distant one.
    wait: u32,
}

/// Mean absolute second difference of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Series {
    /// The last samples, the latest first.
    last: [f64; 2],
    /// Number of samples in a row, 2 at most.
    length: u32,
    difference: f64,
    count: f64,
}

/// Distance of the distant samples.
const LAG: u32 = 8;
/// Memory of the mean differences, in samples.
const MEMORY: f64 = 512.0;
/// Least number of distant differences for an estimate.
const LEAST_DISTANT: f64 = 4.0;
/// A step by more than this many mean differences is a change of the level. It is no noise, and interrupts the series.
const JUMP: f64 = 6.0;
/// Differences after which the mean shows what a jump is.
const FEW: f64 = 8.0;
/// The ratio of the mean differences is uncertain. Below this time, chance explains it.
const LEAST_TIME: f64 = 1.5;
/// The longest time that differences at this lag can show.
const MOST_TIME: f64 = 40.0;
/// The exponent that fits the time of autoregressive processes: 2.1 for 3, 7 for 9, 16 for 19, 38 for 39.
const EXPONENT: f64 = 0.7;

impl Autocorrelation {
    /// No samples.
    pub const EMPTY: Self = Self { neighbours: Series::EMPTY, distant: Series::EMPTY, wait: 0 };

    /// Add a finite sample.
    pub fn add(&mut self, sample: f64) {
        if self.neighbours.is_jump(sample) {
            self.interrupt();
        }
        self.neighbours.add(sample, MEMORY);
        if self.wait == 0 {
            self.distant.add(sample, MEMORY / f64::from(LAG));
            self.wait = LAG;
        }
        self.wait -= 1;
    }

    /// The next sample does not follow the last one: some are missing in between.
    pub fn interrupt(&mut self) {
        (self.neighbours.length, self.distant.length, self.wait) = (0, 0, 0);
    }

    /// The autocorrelation time in samples, 1 to 40. It is 1 for independent samples, and while too few are known.
    pub fn time(&self) -> f64 {
        if self.distant.count < LEAST_DISTANT || self.distant.difference <= 0.0 {
            return 1.0;
        }
        let ratio = (self.neighbours.difference / self.distant.difference).powi(2);
        let lag = f64::from(LAG);
        let above = (ratio * lag - 1.0).max(0.0);
        let time = ((lag - 1.0) / above).powf(EXPONENT).min(MOST_TIME);
        if time < LEAST_TIME { 1.0 } else { time }
    }
}

impl Series {
    const EMPTY: Self = Self { last: [0.0; 2], length: 0, difference: 0.0, count: 0.0 };

    fn is_jump(&self, sample: f64) -> bool {
        self.length > 0 && self.count >= FEW && (sample - self.last[0]).abs() > JUMP * self.difference
    }

    fn add(&mut self, sample: f64, memory: f64) {
        let [last, before] = self.last;
        if self.length == 2 {
            self.count = (self.count + 1.0).min(memory);
            self.difference += ((sample - 2.0 * last + before).abs() - self.difference) / self.count;
        }
        self.length = (self.length + 1).min(2);
        self.last = [sample, last];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::normal_quantile;

    /// The estimate after so many samples of an autoregressive process on a trend.
    fn time(correlation: f64, trend: f64, samples: u32) -> f64 {
        let (mut found, mut state, mut noise) = (Autocorrelation::EMPTY, 1u64, 0.0);
        for n in 0..samples {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let fresh = normal_quantile(((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64);
            noise = correlation * noise + (1.0 - correlation * correlation).sqrt() * fresh;
            found.add(100.0 + noise + trend * f64::from(n));
        }
        found.time()
    }

    #[test]
    fn independent_samples_have_no_autocorrelation_whether_or_not_they_rise() {
        assert_eq!(time(0.0, 0.0, 2000), 1.0);
        assert_eq!(time(0.0, 1.0, 2000), 1.0);
        assert_eq!(Autocorrelation::EMPTY.time(), 1.0);
    }

    #[test]
    fn autocorrelation_time_is_that_of_an_autoregressive_process() {
        for correlation in [0.5, 0.8, 0.9, 0.95] {
            let (found, wanted) = (time(correlation, 0.0, 20_000), (1.0 + correlation) / (1.0 - correlation));
            assert!((0.5..=1.5).contains(&(found / wanted)), "{correlation}: {found}, not {wanted}");
        }
        assert!(time(0.999, 0.0, 20_000) <= MOST_TIME);
    }

    #[test]
    fn a_jump_of_the_level_is_no_noise() {
        let mut found = Autocorrelation::EMPTY;
        (0..4000).for_each(|n| found.add(f64::from(n / 200 % 2) * 3.0 + f64::from(n * 37 % 11) * 0.01));
        assert_eq!(found.time(), 1.0);
    }

    #[test]
    fn samples_before_and_after_an_interruption_are_not_compared() {
        let mut found = Autocorrelation::EMPTY;
        for n in 0..4000 {
            if n % 40 == 0 {
                found.interrupt();
            }
            // Noise around a level that is another after each interruption.
            found.add(f64::from(n / 40 % 7) * 100.0 + f64::from(n * 37 % 11));
        }
        assert_eq!(found.time(), 1.0);
    }
}
