//! Calibration: keeps the promised share of frames over the limit.
//!
//! Mean + sigmas × deviation keeps the promise only if burdens are normal and independent. Noise on a real machine is
//! neither: clock, heat and other processes slow all passes at once, estimates lag, and the solver prefers options that
//! happen to look cheap. So forecasts are compared with measurements. Every decision forecasts a total. Once all of its
//! samples are measured, three corrections are learned:
//!
//! * the *common factor*: the relative error that all burdens share. It is the winsorised mean of measured over
//!   expected burdens, weighted by the expected ones. Ratios far from their median are clamped, so a change in one pass
//!   does not look like a change in all. The best smoothing speed depends on the machine: 0 if the noise is new in
//!   every frame, 1 if it lasts. So several exponential smoothers (*followers*) of different speeds make forecasts, and
//!   each is weighted by its recent accuracy;
//! * the *common deviation*: how far totals stray beyond the deviations of the single burdens, relative to the total;
//! * the *tail*, a factor on the sigmas. It rises with every residual beyond the margin and falls otherwise. Both
//!   balance when the asked share of residuals is beyond. This is stochastic approximation of a quantile (H. Robbins
//!   and S. Monro, 1951), used like this in I. Gibbs and E. Candès, "Adaptive conformal inference under distribution
//!   shift", 2021.
//!
//! Residuals count whether or not the frame was near its limit, so the correction is known before it is needed.

use super::history::{Factors, Forecast, Part};
use crate::base::Result;
use crate::goblin::tuning::{self, FOLLOWERS, TUNING};

const CALIBRATION: &tuning::Calibration = &TUNING.calibration;

/// Corrections to forecasts, learned from forecasts and measurements.
#[derive(Debug)]
pub struct Calibration {
    followers: [Follower; FOLLOWERS],
    /// Square of the common deviation.
    common_variance: f64,
    tail: f64,
    /// Residuals observed, plus `tail_few` / 10 to begin with.
    count: f64,
    /// Factors observed since the followers were last reset, plus 1.
    followed: f64,
    /// How many typical ratios in a row were too far off to be chance.
    shifts: u32,
    /// Whether the last total was far from its forecast. A single such total is a hitch.
    jumped: bool,
    /// How many totals after it were far from their forecasts too.
    jumps: u32,
    /// Scratch space for ratios and weights, one per setting, to find the typical ratio.
    ratios: Vec<(f32, f32)>,
}

/// An exponential smoother of the common factor.
#[derive(Clone, Copy, Debug)]
struct Follower {
    factor: f64,
    /// Recent mean square of its relative forecast error.
    error: f64,
}

impl Default for Calibration {
    fn default() -> Self {
        let followers = [Follower { factor: 1.0, error: CALIBRATION.first_error * CALIBRATION.first_error }; FOLLOWERS];
        Self {
            followers,
            common_variance: 0.0,
            tail: 1.0,
            count: CALIBRATION.tail_few / 10.0,
            followed: 1.0,
            shifts: 0,
            jumped: false,
            jumps: 0,
            ratios: Vec::new(),
        }
    }
}

impl Calibration {
    /// The factor on the sigmas.
    pub fn tail(&self) -> f64 {
        self.tail
    }

    /// Variance of the total beyond the variances of single burdens, if they fill `capacity` with `sigmas` deviations
    /// as margin. It is the square of `d·m`: a share `d` of a total `m`, where `m + sigmas·d·m = capacity`. Without a limit
    /// nothing fills the capacity, and no margin is needed: 0.
    pub fn common_variance(&self, capacity: f64, sigmas: f64) -> f64 {
        if capacity.is_infinite() {
            return 0.0;
        }
        let share = self.common_variance.sqrt();
        let deviation = share * capacity.max(0.0) / (1.0 + sigmas * share);
        deviation.min(1e30).powi(2)
    }

    /// Whether no residual was observed yet.
    pub fn is_fresh(&self) -> bool {
        self.count <= CALIBRATION.tail_few / 10.0
    }

    /// Assume a common deviation, as a share of the total, until residuals show the true one.
    pub fn assume(&mut self, share: f64) {
        if self.is_fresh() {
            self.common_variance = share.min(CALIBRATION.most_assumed).powi(2);
        }
    }

    /// The slow common factor: the factor on every burden in forecasts. Fast noise is excluded, so a settled choice
    /// does not follow it.
    pub fn slow(&self) -> f64 {
        self.common_of(CALIBRATION.slow_followers)
    }

    /// The common factor with its fast component. It normalises samples, and TRIM settings follow it.
    pub fn fast(&self) -> f64 {
        self.common_of(FOLLOWERS)
    }

    /// The mean factor of the `count` slowest followers, weighted by accuracy.
    fn common_of(&self, count: usize) -> f64 {
        let error = |at: usize| {
            (self.followers[at].error + CALIBRATION.least_error * CALIBRATION.least_error)
                * (1.0 + CALIBRATION.handicaps[at])
        };
        let all = 0..count;
        let least = all.clone().map(error).fold(f64::INFINITY, f64::min);
        let (sum, weights) = all.fold((0.0, 0.0), |(sum, weights), at| {
            let weight = (least / error(at)).powi(CALIBRATION.sharpness);
            (sum + weight * self.followers[at].factor, weights + weight)
        });
        sum / weights
    }

    /// Whether all burdens have just changed and the common factor is still converging. Single burdens are not learned
    /// meanwhile.
    pub fn is_shifting(&self) -> bool {
        (1..CALIBRATION.most_jumps).contains(&self.shifts)
    }

    /// The present factor of each follower.
    pub fn factors(&self) -> Factors {
        self.followers.map(|follower| follower.factor as f32)
    }

    /// Reserve room for the samples of this many settings.
    pub fn reserve(&mut self, settings: usize) -> Result<()> {
        Ok(self.ratios.try_reserve(settings)?)
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        self.ratios.capacity() * size_of::<(f32, f32)>()
    }

    /// Winsorised mean of measured over expected burdens, weighted by the expected ones; 1 without samples. No setting
    /// weighs more than half of all others, so a change of the heaviest does not look like a change in all.
    pub fn typical_ratio(&mut self, parts: impl Iterator<Item = Part>) -> f64 {
        let measured = parts.filter(|part| part.known && part.measured >= 0.0);
        self.ratios.clear();
        self.ratios.extend(measured.map(|part| (part.measured / part.expected, part.expected)));
        self.ratios.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        if self.ratios.len() > 1 {
            let heaviest = self.ratios.iter().map(|ratio| ratio.1).fold(0.0, f32::max);
            let others = self.ratios.iter().map(|ratio| ratio.1).sum::<f32>() - heaviest;
            self.ratios.iter_mut().for_each(|ratio| ratio.1 = ratio.1.min(others / 2.0));
        }
        let all = self.ratios.iter().map(|ratio| f64::from(ratio.1)).sum::<f64>();
        let mut below = 0.0;
        let median = self.ratios.iter().find(|(_, weight)| {
            below += f64::from(*weight);
            below >= all / 2.0
        });
        let Some(&(median, _)) = median else { return 1.0 };
        let median = f64::from(median);
        let winsorised = |ratio: f32| {
            f64::from(ratio)
                .max((1.0 - CALIBRATION.winsor_limit) * median)
                .min((1.0 + CALIBRATION.winsor_limit) * median)
        };
        self.ratios.iter().map(|&(ratio, weight)| winsorised(ratio) * f64::from(weight)).sum::<f64>() / all
    }

    /// Observe a decision whose samples are complete. `typical` is their typical ratio, `ratio` is present over past
    /// burdens as known now. The margin of `sigmas` (before correction) is meant to be exceeded with `probability`.
    pub fn observe(&mut self, forecast: &Forecast, typical: f64, ratio: f64, sigmas: f64, probability: f64) {
        let deviation = forecast.variance.sqrt().max(CALIBRATION.least_deviation * forecast.mean);
        let misjudged = (forecast.ratio / ratio - 1.0).abs() > CALIBRATION.most_ratio_change;
        if deviation <= 0.0 || misjudged {
            return;
        }
        let measured = forecast.steady_total();
        let jump = (measured - forecast.mean).abs() > CALIBRATION.residual_deviations * deviation;
        let jumped = std::mem::replace(&mut self.jumped, jump);
        let error = self.followers.iter().map(|follower| follower.error).fold(f64::INFINITY, f64::min);
        let factor = typical * forecast.common;
        let off = (factor / forecast.fast - 1.0).abs();
        let shifts = off > CALIBRATION.least_shift.max(CALIBRATION.shift_deviations * error.sqrt());
        self.shifts = if shifts { self.shifts + 1 } else { 0 };
        let hitch = measured > CALIBRATION.hitch * forecast.mean + CALIBRATION.residual_deviations * deviation;
        if hitch && !jumped {
            return;
        }
        self.follow(factor, &forecast.factors);
        if jump && jumped && self.jumps < CALIBRATION.most_jumps {
            // The common factor is converging after a change, so this residual does not show how totals usually stray.
            self.jumps += 1;
            return;
        }
        self.jumps = if jump { self.jumps } else { 0 };
        let far = (CALIBRATION.residual_deviations * deviation).min(CALIBRATION.most_residual * forecast.mean);
        let residual = (measured - forecast.mean).max(-far).min(far);
        let unexplained = (residual * residual - forecast.own_variance) / (forecast.mean * forecast.mean);
        self.count += 1.0;
        let memory = self.count.min(CALIBRATION.residual_memory);
        self.common_variance = (self.common_variance + (unexplained - self.common_variance) / memory).max(0.0);
        let beyond = residual > sigmas * self.tail * forecast.variance.sqrt();
        let push = if beyond { 1.0 - probability } else { -probability };
        let step = (CALIBRATION.tail_first_step * CALIBRATION.tail_few / self.count)
            .clamp(CALIBRATION.tail_step, CALIBRATION.tail_first_step);
        self.tail = (self.tail * (1.0 + step * push)).clamp(CALIBRATION.tail_range.start, CALIBRATION.tail_range.end);
    }

    fn follow(&mut self, factor: f64, factors: &Factors) {
        if self.shifts > 1 && self.shifts < CALIBRATION.most_jumps {
            // Reset all followers to the present factor.
            self.followers.iter_mut().for_each(|follower| {
                follower.factor = factor.clamp(1.0 / CALIBRATION.most_factor, CALIBRATION.most_factor)
            });
            self.followed = 1.0;
            return;
        }
        self.followed += 1.0;
        for ((follower, speed), forecast) in self.followers.iter_mut().zip(CALIBRATION.speeds).zip(factors) {
            let speed = speed.max(1.0 / self.followed);
            let off = (factor / f64::from(*forecast) - 1.0).clamp(-1.0, 1.0);
            follower.error += (off * off - follower.error) / CALIBRATION.error_memory;
            let moved = follower.factor + speed * (factor - follower.factor);
            follower.factor =
                moved.powf(CALIBRATION.log_decay).clamp(1.0 / CALIBRATION.most_factor, CALIBRATION.most_factor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forecast(measured: f64, variance: f64) -> Forecast {
        let factors = Calibration::default().factors();
        Forecast {
            mean: 100.0,
            variance,
            own_variance: 1.0,
            measured,
            common: 1.0,
            fast: 1.0,
            ratio: 1.0,
            factors,
            ..Default::default()
        }
    }

    /// Share of totals beyond the margin, when the deviations of single burdens sum to 1 and totals stray by
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
            calibration.observe(&forecast(total, variance), 1.0, 1.0, sigmas, probability);
        }
        f64::from(count) / 20_000.0
    }

    #[test]
    fn residuals_exceed_the_margin_as_often_as_asked_for_any_deviation() {
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
        calibration.observe(&forecast(300.0, 1.0), 3.0, 1.0, 2.0, 0.01);
        assert_eq!((calibration.tail(), calibration.fast()), (1.0, 1.0));
        calibration.observe(&forecast(300.0, 1.0), 3.0, 1.0, 2.0, 0.01);
        assert!(calibration.tail() == 1.0 && calibration.fast() > 1.2);
    }

    #[test]
    fn typical_ratio_is_robust_against_one_outlier() {
        let part = |expected: f32, measured: f32| Part { expected, measured, known: expected > 0.0 };
        let mut calibration = Calibration::default();
        // One pass costs five times as much, another did not report. The others give 1.2, and the outlier is clamped to
        // 1.68. The heaviest weighs half as much as the others, 4.5.
        let passes = [part(8.0, 9.6), part(1.0, 5.0), part(5.0, -1.0), part(11.0, 13.2), part(0.0, 9.0)];
        assert!((calibration.typical_ratio(passes.into_iter()) - 1.2).abs() < 0.05);
        // The heaviest alone costs ten times as much.
        let passes = [part(8.0, 80.0), part(1.0, 1.0), part(2.0, 2.0)];
        assert!((calibration.typical_ratio(passes.into_iter()) - 1.0).abs() < 0.16);
        assert_eq!(calibration.typical_ratio(std::iter::empty()), 1.0);
    }
}
