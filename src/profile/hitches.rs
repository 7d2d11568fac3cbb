//! How often samples are hitches, and how long these take.
//!
//! Hitches are rare, so a single option needs thousands of samples to show how often it has them. An option that had
//! none by chance looks cheap and steady, and a solver that compares hundreds of options chooses exactly such ones. So
//! hitches are kept apart from the other samples, and counted for each option and for all options of a lane together.
//! The share of an option is shrunk towards that of all (W. James and C. Stein, "Estimation with quadratic loss", 1961).

use crate::stats::Normal;

/// Samples that the counts remember.
const MEMORY: f32 = 50_000.0;
/// Samples of all options that count for an option beside its own.
const SHARED: f32 = 1000.0;
/// Fewer samples count as so many. A hitch among the first samples is no rate yet.
const LEAST_SAMPLES: f32 = 500.0;
/// A hitch counts as at most so many times the mean of the other samples: a paused process is no cost of a pass.
const LONGEST: f64 = 3.0;

/// Counts of samples and of the hitches among them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hitches {
    samples: f32,
    count: f32,
    /// Sum of the excess of hitches over the mean of other samples, as multiples of it, and sum of the squares.
    excess: f32,
    squares: f32,
}

impl Hitches {
    /// No samples.
    pub const NONE: Self = Self { samples: 0.0, count: 0.0, excess: 0.0, squares: 0.0 };

    /// Count a sample that is no hitch.
    pub fn add_sample(&mut self) {
        let kept = 1.0 - 1.0 / MEMORY;
        *self = self.scaled(kept);
        self.samples += 1.0;
    }

    /// Count a hitch that took `times` the mean of other samples.
    pub fn add_hitch(&mut self, times: f64) {
        let excess = (times.min(LONGEST) - 1.0) as f32;
        self.samples += 1.0;
        self.count += 1.0;
        self.excess += excess;
        self.squares += excess * excess;
    }

    /// The distribution of an option with these hitches, if its other samples are distributed like `others`. `all` has the
    /// hitches of all options.
    pub fn join(&self, all: &Self, others: Normal) -> Normal {
        let share = self.shares(all);
        let (excess, squares) = (f64::from(share.excess), f64::from(share.squares));
        let variance = others.mean * others.mean * (squares - excess * excess).max(0.0);
        Normal { mean: others.mean * (1.0 + excess), variance: others.variance + variance }
    }

    /// The mean if a hitch takes at most `1 + most` times that of other samples, as a share of the mean with whole hitches.
    pub fn clamped(&self, all: &Self, most: f64) -> f64 {
        let share = self.shares(all);
        let (excess, count) = (f64::from(share.excess), f64::from(share.count));
        (1.0 + excess.min(most * count)) / (1.0 + excess)
    }

    /// The share of samples that are hitches.
    pub fn share(&self) -> f64 {
        f64::from(self.count / self.samples.max(LEAST_SAMPLES))
    }

    /// The counts as shares of the samples of an option.
    fn shares(&self, all: &Self) -> Self {
        let shared = all.scaled(SHARED / all.samples.max(SHARED));
        let both = Self {
            samples: self.samples + shared.samples,
            count: self.count + shared.count,
            excess: self.excess + shared.excess,
            squares: self.squares + shared.squares,
        };
        both.scaled(1.0 / both.samples.max(LEAST_SAMPLES))
    }

    fn scaled(self, factor: f32) -> Self {
        let Self { samples, count, excess, squares } = self;
        Self { samples: samples * factor, count: count * factor, excess: excess * factor, squares: squares * factor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every hundredth sample takes `times` as long.
    fn counted(samples: usize, times: f64) -> Hitches {
        let mut hitches = Hitches::NONE;
        (1..=samples).for_each(|at| if at % 100 == 0 { hitches.add_hitch(times) } else { hitches.add_sample() });
        hitches
    }

    const OTHERS: Normal = Normal { mean: 2.0, variance: 0.01 };

    /// Mean and variance of samples; every hundredth is `hitch`.
    fn moments(hitch: f64) -> (f64, f64) {
        let mean = 0.99 * OTHERS.mean + 0.01 * hitch;
        let squares = 0.99 * (OTHERS.variance + OTHERS.mean * OTHERS.mean) + 0.01 * hitch * hitch;
        (mean, squares - mean * mean)
    }

    fn assert_near(found: Normal, (mean, variance): (f64, f64)) {
        let off = [found.mean / mean - 1.0, found.variance / variance - 1.0];
        assert!(off[0].abs() < 0.002 && off[1].abs() < 0.03, "{found:?} instead of {mean} and {variance}");
    }

    #[test]
    fn an_option_without_samples_has_the_hitches_of_all_options() {
        assert_near(Hitches::NONE.join(&counted(20_000, 2.5), OTHERS), moments(5.0));
    }

    #[test]
    fn an_option_with_many_samples_has_its_own_hitches() {
        assert_near(counted(50_000, 3.0).join(&Hitches::NONE, OTHERS), moments(6.0));
        let mut calm = Hitches::NONE;
        (0..50_000).for_each(|_| calm.add_sample());
        let found = calm.join(&counted(50_000, 3.0), OTHERS);
        assert!(found.mean < 1.001 * OTHERS.mean, "{found:?}");
    }

    #[test]
    fn one_hitch_among_the_first_samples_is_no_rate() {
        let mut few = Hitches::NONE;
        (0..20).for_each(|_| few.add_sample());
        few.add_hitch(1000.0);
        let found = few.join(&few, OTHERS);
        assert!(found.mean > OTHERS.mean && found.mean < 1.01 * OTHERS.mean, "{found:?}");
    }

    #[test]
    fn without_hitches_nothing_changes() {
        assert_eq!(Hitches::NONE.join(&Hitches::NONE, OTHERS), OTHERS);
        assert_eq!(Hitches::NONE.clamped(&Hitches::NONE, 0.4), 1.0);
    }

    #[test]
    fn a_clamped_mean_counts_a_part_of_each_hitch() {
        let hitches = counted(20_000, 3.0);
        let found = hitches.clamped(&hitches, 0.4);
        assert!((found - (1.0 + 0.01 * 0.4) / (1.0 + 0.01 * 2.0)).abs() < 1e-4, "{found}");
        assert_eq!(hitches.clamped(&hitches, 5.0), 1.0);
    }

    #[test]
    fn old_hitches_are_forgotten() {
        let mut hitches = counted(10_000, 3.0);
        (0..500_000).for_each(|_| hitches.add_sample());
        assert!(hitches.join(&hitches, OTHERS).mean < 1.000_01 * OTHERS.mean, "{hitches:?}");
        assert!(hitches.samples < 1.01 * MEMORY, "{hitches:?}");
    }
}
