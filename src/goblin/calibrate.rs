//! Keeping the promise about frames over budget.
//!
//! Mean + sigmas × deviation keeps a promise only where burdens are normal and independent. A machine's noise is
//! neither: clock, heat and other processes slow all passes at once, estimates lag behind, and the solver prefers options
//! that happen to look cheap. So the promise is held against what came of it. Every decision forecast a total; when its
//! samples are all in, three corrections are learned:
//!
//! * the *common factor* by which all burdens are off: the median of measured over expected burdens, weighted by the
//!   latter, so that a change in one pass does not look like a change in all. It follows within a few frames, and goes
//!   back to 1 slowly, while the estimates take over what lasts;
//!
//! * the *common deviation*, by which totals stray beyond what the deviations of the single burdens explain, relative to
//!   the total;
//! * the *tail*, a factor to the sigmas, which rises with every residual beyond what is kept free and falls otherwise, such that both balance
//!   when the asked share is beyond (stochastic approximation of a quantile, H. Robbins and S. Monro, 1951; used like
//!   this in I. Gibbs and E. Candès, "Adaptive conformal inference under distribution shift", 2021).
//!
//! Residuals count whether or not the frame was near its limit, so that the correction is known before it is needed.

use super::history::{Forecast, Given};
use crate::base::Result;

/// Corrections to the forecast, learned from forecasts and what came of them.
#[derive(Debug)]
pub struct Calibration {
    common: f64,
    /// Square of the common deviation.
    common_variance: f64,
    tail: f64,
    /// Whether the last total was far beyond its forecast: alone, it was a hitch.
    suspect: bool,
    /// Ratios and weights, to find the median of; room for one a setting.
    ratios: Vec<(f32, f32)>,
}

/// A forecast deviation is taken to be at least this share of the mean: below it, timers lie.
const LEAST_DEVIATION: f64 = 0.01;
/// A total so many times its forecast is a hitch, if it is alone.
const HITCH: f64 = 1.5;
/// Residuals that the common deviation remembers.
const MEMORY: f64 = 60.0;
/// A residual counts for no more than so many forecast deviations.
const FARTHEST: f64 = 6.0;
/// A residual counts for no more than this share of the forecast: beyond, it is no noise.
const MOST_UNEXPLAINED: f64 = 0.5;
/// How far the tail moves with a residual beyond it, relatively.
const STEP: f64 = 0.05;
/// Share of a new common factor that is believed.
const FOLLOW: f64 = 0.15;
/// Share of the common factor's logarithm that the next frame keeps.
const KEPT: f64 = 0.997;
/// The common factor stays between this and its inverse.
const SLOWEST: f64 = 8.0;

impl Default for Calibration {
    fn default() -> Self {
        Self { common: 1.0, common_variance: 0.0, tail: 1.0, suspect: false, ratios: Vec::new() }
    }
}

impl Calibration {
    /// What to multiply the sigmas by.
    pub fn tail(&self) -> f64 {
        self.tail
    }

    /// What all burdens together stray by, beside what each does, if they fill `capacity` and so many sigmas are kept free:
    /// a share `d` of a total `m`, where `m + sigmas·d·m = capacity`.
    pub fn common_variance(&self, capacity: f64, sigmas: f64) -> f64 {
        let share = self.common_variance.sqrt();
        let deviation = share * capacity.max(0.0) / (1.0 + sigmas * share);
        deviation.min(1e30).powi(2)
    }

    /// What to multiply every burden by.
    pub fn common(&self) -> f64 {
        self.common
    }

    /// Room for the samples of so many settings.
    pub fn reserve(&mut self, settings: usize) -> Result<()> {
        Ok(self.ratios.try_reserve(settings)?)
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        self.ratios.capacity() * size_of::<(f32, f32)>()
    }

    /// Median of measured over expected burdens, weighted by the expected; 1 if there are none.
    pub fn typical_ratio(&mut self, given: &[Given]) -> f64 {
        let measured = given.iter().filter(|given| given.expected > 0.0 && given.measured >= 0.0);
        self.ratios.clear();
        self.ratios.extend(measured.map(|given| (given.measured / given.expected, given.expected)));
        self.ratios.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let half = self.ratios.iter().map(|ratio| ratio.1).sum::<f32>() / 2.0;
        let mut below = 0.0;
        let median = self.ratios.iter().find(|(_, weight)| {
            below += weight;
            below >= half
        });
        median.map_or(1.0, |&(ratio, _)| f64::from(ratio))
    }

    /// All samples of a decision are in; `ratio` is their typical one. `sigmas` (before correction) were kept free in
    /// order that a share of `probability` is beyond.
    pub fn came(&mut self, forecast: &Forecast, ratio: f64, sigmas: f64, probability: f64) {
        let deviation = forecast.variance.sqrt().max(LEAST_DEVIATION * forecast.mean);
        if deviation <= 0.0 {
            return;
        }
        let hitch = forecast.measured > HITCH * forecast.mean + FARTHEST * deviation;
        if hitch && !std::mem::replace(&mut self.suspect, hitch) {
            return;
        }
        self.suspect = hitch;
        let common = (self.common + FOLLOW * (ratio * forecast.common - self.common)).powf(KEPT);
        self.common = common.clamp(1.0 / SLOWEST, SLOWEST);
        let far = (FARTHEST * deviation).min(MOST_UNEXPLAINED * forecast.mean);
        let residual = (forecast.measured - forecast.mean).clamp(-far, far);
        let unexplained = (residual * residual - forecast.own_variance) / (forecast.mean * forecast.mean);
        self.common_variance = (self.common_variance + (unexplained - self.common_variance) / MEMORY).max(0.0);
        let beyond = residual > sigmas * self.tail * deviation;
        let push = if beyond { 1.0 - probability } else { -probability };
        self.tail = (self.tail * (1.0 + STEP * push)).clamp(0.5, 3.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forecast(measured: f64, variance: f64) -> Forecast {
        Forecast { mean: 100.0, variance, own_variance: 1.0, awaited: 0, measured, common: 1.0, fair: true }
    }

    /// Share of totals beyond what is kept free, when the deviations of single burdens come to 1 and totals stray by
    /// `deviation`.
    fn beyond(deviation: f64, probability: f64) -> f64 {
        let sigmas = crate::stats::normal_quantile(1.0 - probability);
        let (mut calibration, mut state, mut count) = (Calibration::default(), 1u64, 0);
        for n in 0..30_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let uniform = ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
            let total = 100.0 + deviation * crate::stats::normal_quantile(uniform);
            let kept = sigmas * calibration.tail();
            let share = calibration.common_variance.sqrt();
            let variance = 1.0 + share * share * 1e4;
            count += u32::from(n >= 10_000 && total > 100.0 + kept * variance.sqrt());
            calibration.came(&forecast(total, variance), 1.0, sigmas, probability);
        }
        f64::from(count) / 20_000.0
    }

    #[test]
    fn the_asked_share_is_beyond_whatever_the_forecast_deviations_were() {
        for deviation in [0.7, 1.0, 3.0, 12.0] {
            for probability in [0.01, 0.05] {
                let found = beyond(deviation, probability);
                assert!(found < 1.5 * probability && found > 0.5 * probability, "{deviation} {probability}: {found}");
            }
        }
    }

    #[test]
    fn a_single_hitch_changes_nothing_and_two_in_a_row_do() {
        let mut calibration = Calibration::default();
        calibration.came(&forecast(300.0, 1.0), 3.0, 2.0, 0.01);
        assert_eq!((calibration.tail(), calibration.common()), (1.0, 1.0));
        calibration.came(&forecast(300.0, 1.0), 3.0, 2.0, 0.01);
        assert!(calibration.tail() > 1.01 && calibration.common() > 1.2);
    }

    #[test]
    fn the_common_factor_is_what_most_of_the_burden_says() {
        let given = |expected: f32, measured: f32| Given { expected, measured, ..Given::NOTHING };
        let mut calibration = Calibration::default();
        // One pass costs five times as much, another did not report: the others say 1.2.
        let passes = [given(4.0, 4.8), given(3.0, 15.0), given(5.0, -1.0), given(2.0, 2.4), given(0.0, 9.0)];
        assert!((calibration.typical_ratio(&passes) - 1.2).abs() < 1e-6);
        assert_eq!(calibration.typical_ratio(&[]), 1.0);
    }
}
