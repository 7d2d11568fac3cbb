//! Keeping the promise about frames over budget.
//!
//! Mean + sigmas × deviation keeps a promise only where burdens are normal and independent. A machine's noise is
//! neither: clock, heat and other processes slow all passes at once, estimates lag behind, and the solver prefers options
//! that happen to look cheap. So the promise is held against what came of it. Every decision forecast a total; when its
//! samples are all in, the residual in units of the forecast deviation says how wrong that was, and two corrections to
//! the sigmas follow:
//!
//! * the *spread*, root mean square of the recent residuals: 1 if the forecast deviations are right;
//! * the *tail*, which rises with every residual beyond what is kept free and falls otherwise, such that both balance
//!   when the asked share is beyond (stochastic approximation of a quantile, H. Robbins and S. Monro, 1951; used like
//!   this in I. Gibbs and E. Candès, "Adaptive conformal inference under distribution shift", 2021).
//!
//! Residuals count whether or not the frame was near its limit, so that the correction is known before it is needed.

/// Corrections to the sigmas, learned from forecasts and what came of them.
#[derive(Debug)]
pub struct Calibration {
    mean_square: f64,
    tail: f64,
    /// Whether the last total was far beyond its forecast: alone, it was a hitch.
    suspect: bool,
}

/// A forecast deviation is taken to be at least this share of the mean: below it, timers lie.
const LEAST_DEVIATION: f64 = 0.01;
/// A total so many times its forecast is a hitch, if it is alone.
const HITCH: f64 = 1.5;
/// Residuals that the mean square remembers.
const MEMORY: f64 = 60.0;
/// A residual counts for no more than this.
const FARTHEST: f64 = 8.0;
/// How far the tail moves with a residual beyond it, relatively.
const STEP: f64 = 0.08;

impl Default for Calibration {
    fn default() -> Self {
        Self { mean_square: 1.0, tail: 1.0, suspect: false }
    }
}

impl Calibration {
    /// What to multiply the sigmas by.
    pub fn factor(&self) -> f64 {
        self.mean_square.sqrt().clamp(0.5, 6.0) * self.tail
    }

    /// A total came in that was forecast as `mean` and `variance`, while `sigmas` (before correction) were kept free in
    /// order that a share of `probability` is beyond.
    pub fn came(&mut self, total: f64, mean: f64, variance: f64, sigmas: f64, probability: f64) {
        let deviation = variance.sqrt().max(LEAST_DEVIATION * mean);
        if deviation <= 0.0 {
            return;
        }
        let hitch = total > HITCH * mean + FARTHEST * deviation;
        if hitch && !std::mem::replace(&mut self.suspect, hitch) {
            return;
        }
        self.suspect = hitch;
        let residual = ((total - mean) / deviation).clamp(-FARTHEST, FARTHEST);
        let beyond = residual > sigmas * self.factor();
        self.mean_square += (residual * residual - self.mean_square) / MEMORY;
        let push = if beyond { 1.0 - probability } else { -probability };
        self.tail = (self.tail * (1.0 + STEP * push)).clamp(0.5, 3.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Share of totals beyond what is kept free, when deviations are forecast as 1 and are `deviation`.
    fn beyond(deviation: f64, probability: f64) -> f64 {
        let sigmas = crate::stats::normal_quantile(1.0 - probability);
        let (mut calibration, mut state, mut count) = (Calibration::default(), 1u64, 0);
        for n in 0..30_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let uniform = ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
            let total = 100.0 + deviation * crate::stats::normal_quantile(uniform);
            count += u32::from(n >= 10_000 && total > 100.0 + sigmas * calibration.factor());
            calibration.came(total, 100.0, 1.0, sigmas, probability);
        }
        f64::from(count) / 20_000.0
    }

    #[test]
    fn the_asked_share_is_beyond_whatever_the_forecast_deviations_were() {
        for deviation in [0.7, 1.0, 3.0] {
            for probability in [0.01, 0.05] {
                let found = beyond(deviation, probability);
                assert!(found < 1.5 * probability && found > 0.5 * probability, "{deviation} {probability}: {found}");
            }
        }
    }

    #[test]
    fn a_single_hitch_changes_nothing_and_two_in_a_row_do() {
        let mut calibration = Calibration::default();
        calibration.came(300.0, 100.0, 1.0, 2.0, 0.01);
        assert_eq!(calibration.factor(), 1.0);
        calibration.came(300.0, 100.0, 1.0, 2.0, 0.01);
        assert!(calibration.factor() > 1.1);
    }
}
