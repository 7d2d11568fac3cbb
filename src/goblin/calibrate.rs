//! Keeping the promise about frames over budget.
//!
//! Mean + sigmas × deviation keeps a promise only where burdens are normal and independent. A machine's noise is
//! neither: clock, heat and other processes slow all passes at once, estimates lag behind, and the solver prefers
//! options that happen to look cheap. So the promise is held against what came of it. Every decision forecast a total;
//! when its samples are all in, three corrections are learned:
//!
//! * the *common factor* by which all burdens are off: the mean of measured over expected burdens, weighted by the
//!   latter, with those far from their median drawn in, so that a change in one pass does not look like a change in
//!   all. How fast it should follow depends on the machine: not at all if the noise is new in every frame, at once if
//!   it lasts. So some followers of different speed make forecasts, and each counts the more the better it forecast
//!   lately;
//! * the *common deviation*, by which totals stray beyond what the deviations of the single burdens explain, relative
//!   to the total;
//! * the *tail*, a factor to the sigmas, which rises with every residual beyond what is kept free and falls otherwise,
//!   such that both balance when the asked share is beyond (stochastic approximation of a quantile, H. Robbins and S.
//!   Monro, 1951; used like this in I. Gibbs and E. Candès, "Adaptive conformal inference under distribution shift",
//!   2021).
//!
//! Residuals count whether or not the frame was near its limit, so that the correction is known before it is needed.

use super::history::{Forecast, Part};
use super::tuning::TUNING;
use crate::base::Result;

/// Corrections to the forecast, learned from forecasts and what came of them.
#[derive(Debug)]
pub struct Calibration {
    followers: [Follower; SPEEDS.len()],
    /// Square of the common deviation.
    common_variance: f64,
    tail: f64,
    /// Residuals behind these, to begin with [`FEW`] / 10.
    count: f64,
    /// Factors that came in.
    followed: f64,
    /// How many typical ratios in a row were too far off to be chance.
    shifts: u32,
    /// Whether the last total was far from its forecast: alone, it was a hitch.
    jumped: bool,
    /// How many after it were.
    jumps: u32,
    /// Ratios and weights, to find the typical one of; room for one a setting.
    ratios: Vec<(f32, f32)>,
}

/// One idea of the common factor.
#[derive(Clone, Copy, Debug)]
struct Follower {
    factor: f64,
    /// Mean square of what it was lately off by, relatively.
    error: f64,
}

/// Share of a new common factor that each follower believes.
const SPEEDS: [f64; 5] = [0.0005, 0.004, 0.03, 0.2, 0.6];
/// By what share each must be better than the first to count as much: what is slow does not flicker.
const HANDICAPS: [f64; SPEEDS.len()] = [0.0, 0.05, 0.12, 0.25, 0.4];
/// Followers count by the inverse of their mean square error to this power: the best one counts, others that are
/// hardly worse do too.
const SHARPNESS: i32 = 20;
/// Decisions that followers' errors are remembered for.
const ERROR_MEMORY: f64 = 200.0;
/// What followers are taken to be off by at first, relatively.
const FIRST_ERROR: f64 = 0.04;
/// Followers that are off by less than this share are all good.
const LEAST_ERROR: f64 = 0.002;
/// A ratio farther from the median than this share of it counts as that far.
const DRAWN_IN: f64 = 0.4;
/// A forecast deviation is taken to be at least this share of the mean: below it, timers lie.
const LEAST_DEVIATION: f64 = 0.01;
/// A total so many times its forecast is a hitch, if it is alone.
const HITCH: f64 = 1.5;
/// Residuals that the common deviation remembers.
const MEMORY: f64 = 1500.0;
/// A residual counts for no more than so many forecast deviations.
const FARTHEST: f64 = 6.0;
/// A typical ratio farther off than so many deviations, and than this share, is no chance.
const SHIFT: f64 = 4.0;
const LEAST_SHIFT: f64 = 0.08;
/// So many totals in a row far from their forecasts are a change that the common factor follows; more are not.
const MOST_JUMPS: u32 = 30;
/// A residual counts for no more than this share of the forecast: beyond, it is no noise.
const MOST_UNEXPLAINED: f64 = 0.5;
/// How far the tail moves with a residual beyond it, relatively: at first, and at least.
const FIRST_STEP: f64 = 0.05;
const STEP: f64 = 0.003;
/// Residuals after which it moves less.
const FEW: f64 = 300.0;
/// Share of a common factor's logarithm that the next frame keeps: the estimates take over what lasts.
const KEPT: f64 = 0.999_98;
/// A common factor stays between this and its inverse.
const SLOWEST: f64 = 8.0;
/// Forecasts made when past burdens were scaled by a ratio that is off by more than this share are not judged.
const RATIO_OFF: f64 = 0.05;

/// What the followers said when a forecast was made.
pub type Said = [f32; SPEEDS.len()];

impl Default for Calibration {
    fn default() -> Self {
        let followers = [Follower { factor: 1.0, error: FIRST_ERROR * FIRST_ERROR }; SPEEDS.len()];
        Self {
            followers,
            common_variance: 0.0,
            tail: 1.0,
            count: FEW / 10.0,
            followed: 1.0,
            shifts: 0,
            jumped: false,
            jumps: 0,
            ratios: Vec::new(),
        }
    }
}

impl Calibration {
    /// What to multiply the sigmas by.
    pub fn tail(&self) -> f64 {
        self.tail
    }

    /// What all burdens together stray by, beside what each does, if they fill `capacity` and so many sigmas are kept
    /// free: a share `d` of a total `m`, where `m + sigmas·d·m = capacity`.
    pub fn common_variance(&self, capacity: f64, sigmas: f64) -> f64 {
        let share = self.common_variance.sqrt();
        let deviation = share * capacity.max(0.0) / (1.0 + sigmas * share);
        deviation.min(1e30).powi(2)
    }

    /// The slow common factor: the factor on every burden in forecasts. Fast noise is left out, so a settled choice does
    /// not follow it.
    pub fn slow(&self) -> f64 {
        self.common_of(TUNING.slow_followers)
    }

    /// The common factor with its fast component. It normalises samples, and TRIM settings follow it.
    pub fn fast(&self) -> f64 {
        self.common_of(SPEEDS.len())
    }

    /// The factors of the `count` slowest followers, weighted by how little they were off.
    fn common_of(&self, count: usize) -> f64 {
        let error = |at: usize| (self.followers[at].error + LEAST_ERROR * LEAST_ERROR) * (1.0 + HANDICAPS[at]);
        let all = 0..count;
        let least = all.clone().map(error).fold(f64::INFINITY, f64::min);
        let (sum, weights) = all.fold((0.0, 0.0), |(sum, weights), at| {
            let weight = (least / error(at)).powi(SHARPNESS);
            (sum + weight * self.followers[at].factor, weights + weight)
        });
        sum / weights
    }

    /// Whether everything has just become dearer or cheaper, and the common factor is on its way: what single burdens
    /// seem to be meanwhile is not to be learned.
    pub fn is_shifting(&self) -> bool {
        (1..MOST_JUMPS).contains(&self.shifts)
    }

    /// What each follower says now.
    pub fn said(&self) -> Said {
        self.followers.map(|follower| follower.factor as f32)
    }

    /// Room for the samples of so many settings.
    pub fn reserve(&mut self, settings: usize) -> Result<()> {
        Ok(self.ratios.try_reserve(settings)?)
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        self.ratios.capacity() * size_of::<(f32, f32)>()
    }

    /// Mean of measured over expected burdens, weighted by the expected, those far from the median drawn in; 1 if there
    /// are none.
    pub fn typical_ratio(&mut self, parts: impl Iterator<Item = Part>) -> f64 {
        let measured = parts.filter(|part| part.known && part.measured >= 0.0);
        self.ratios.clear();
        self.ratios.extend(measured.map(|part| (part.measured / part.expected, part.expected)));
        self.ratios.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let all = self.ratios.iter().map(|ratio| f64::from(ratio.1)).sum::<f64>();
        let mut below = 0.0;
        let median = self.ratios.iter().find(|(_, weight)| {
            below += f64::from(*weight);
            below >= all / 2.0
        });
        let Some(&(median, _)) = median else { return 1.0 };
        let median = f64::from(median);
        let drawn_in = |ratio: f32| f64::from(ratio).max((1.0 - DRAWN_IN) * median).min((1.0 + DRAWN_IN) * median);
        self.ratios.iter().map(|&(ratio, weight)| drawn_in(ratio) * f64::from(weight)).sum::<f64>() / all
    }

    /// All samples of a decision are in; `typical` is their typical ratio, `ratio` is present over past burdens as it
    /// is known now. `sigmas` (before correction) were kept free in order that a share of `probability` is beyond.
    pub fn came(&mut self, forecast: &Forecast, typical: f64, ratio: f64, sigmas: f64, probability: f64) {
        let deviation = forecast.variance.sqrt().max(LEAST_DEVIATION * forecast.mean);
        let misjudged = (forecast.ratio / ratio - 1.0).abs() > RATIO_OFF;
        if deviation <= 0.0 || misjudged {
            return;
        }
        let measured = forecast.total.unwrap_or(forecast.measured + forecast.residual);
        let jump = (measured - forecast.mean).abs() > FARTHEST * deviation;
        let jumped = std::mem::replace(&mut self.jumped, jump);
        let error = self.followers.iter().map(|follower| follower.error).fold(f64::INFINITY, f64::min);
        let factor = typical * forecast.common;
        let off = (factor / forecast.fast - 1.0).abs();
        let shifts = off > LEAST_SHIFT.max(SHIFT * error.sqrt());
        self.shifts = if shifts { self.shifts + 1 } else { 0 };
        let hitch = measured > HITCH * forecast.mean + FARTHEST * deviation;
        if hitch && !jumped {
            return;
        }
        self.follow(factor, &forecast.said);
        if jump && jumped && self.jumps < MOST_JUMPS {
            // Something has changed, and the common factor is on its way: that is not how totals usually stray.
            self.jumps += 1;
            return;
        }
        self.jumps = if jump { self.jumps } else { 0 };
        let far = (FARTHEST * deviation).min(MOST_UNEXPLAINED * forecast.mean);
        let residual = (measured - forecast.mean).max(-far).min(far);
        let unexplained = (residual * residual - forecast.own_variance) / (forecast.mean * forecast.mean);
        self.count += 1.0;
        let memory = self.count.min(MEMORY);
        self.common_variance = (self.common_variance + (unexplained - self.common_variance) / memory).max(0.0);
        let beyond = residual > sigmas * self.tail * deviation;
        let push = if beyond { 1.0 - probability } else { -probability };
        let step = (FIRST_STEP * FEW / self.count).clamp(STEP, FIRST_STEP);
        self.tail = (self.tail * (1.0 + step * push)).clamp(0.5, 3.0);
    }

    fn follow(&mut self, factor: f64, said: &Said) {
        if self.shifts > 1 && self.shifts < MOST_JUMPS {
            // All of them begin anew where everything is now.
            self.followers.iter_mut().for_each(|follower| follower.factor = factor.clamp(1.0 / SLOWEST, SLOWEST));
            self.followed = 1.0;
            return;
        }
        self.followed += 1.0;
        for ((follower, speed), said) in self.followers.iter_mut().zip(SPEEDS).zip(said) {
            let speed = speed.max(1.0 / self.followed);
            let off = (factor / f64::from(*said) - 1.0).clamp(-1.0, 1.0);
            follower.error += (off * off - follower.error) / ERROR_MEMORY;
            let moved = follower.factor + speed * (factor - follower.factor);
            follower.factor = moved.powf(KEPT).clamp(1.0 / SLOWEST, SLOWEST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forecast(measured: f64, variance: f64) -> Forecast {
        let said = Calibration::default().said();
        Forecast {
            mean: 100.0,
            variance,
            own_variance: 1.0,
            measured,
            common: 1.0,
            fast: 1.0,
            ratio: 1.0,
            said,
            ..Default::default()
        }
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
            calibration.came(&forecast(total, variance), 1.0, 1.0, sigmas, probability);
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
        calibration.came(&forecast(300.0, 1.0), 3.0, 1.0, 2.0, 0.01);
        assert_eq!((calibration.tail(), calibration.fast()), (1.0, 1.0));
        calibration.came(&forecast(300.0, 1.0), 3.0, 1.0, 2.0, 0.01);
        assert!(calibration.tail() == 1.0 && calibration.fast() > 1.2);
    }

    #[test]
    fn the_common_factor_is_what_most_of_the_burden_says() {
        let part = |expected: f32, measured: f32| Part { expected, measured, known: expected > 0.0 };
        let mut calibration = Calibration::default();
        // One pass costs five times as much, another did not report: the others say 1.2, and
        // it counts as 1.68.
        let passes = [part(8.0, 9.6), part(1.0, 5.0), part(5.0, -1.0), part(11.0, 13.2), part(0.0, 9.0)];
        assert!((calibration.typical_ratio(passes.into_iter()) - 1.2).abs() < 0.03);
        assert_eq!(calibration.typical_ratio(std::iter::empty()), 1.0);
    }
}
