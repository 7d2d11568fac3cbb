//! The trend of a lane's costs over tens of seconds, as on a device that warms up.
//!
//! A device that warms up lowers its clock, and all costs rise together for minutes. The common factor follows at once,
//! so choices always fit the present. But a new choice should also fit in ten seconds, or the next change follows soon.
//!
//! Common factors are averaged over bins of a few seconds. A line is fitted to the logarithms of the last bins. It is a
//! drift if it stands out from the noise, and if both halves of the window rise (or fall) with it. So steps, waves that
//! are shorter than the window, lasting noise, and a series of cuts are no drift.

use crate::goblin::tuning::TUNING;

/// Bins of a window.
const BINS: usize = 20;
/// Bins of the shortest window in which a drift is seen.
const LEAST_BINS: usize = 10;

/// The trend of a lane.
#[derive(Clone, Copy, Debug, Default)]
pub struct Drift {
    /// Mean logarithm of the common factor, and what estimates have absorbed of it, by bin, the latest last.
    bins: [f32; BINS],
    filled: usize,
    /// Sum and number of logarithms in the present bin, and the first decision after it.
    sum: f64,
    count: u32,
    end: u64,
    /// The part of the logarithm that estimates have absorbed since the first bin. The common factor has decayed by it.
    absorbed: f64,
    /// Present drift of the logarithm, in bins.
    slope: f64,
}

impl Drift {
    /// Observe the common factor of a decision. A bin has `per_bin` decisions.
    pub fn observe(&mut self, factor: f64, decision: u64, per_bin: u64) {
        if decision >= self.end {
            let is_next = decision < self.end + per_bin;
            if is_next && self.count > 0 {
                self.close();
            } else {
                // Nothing was observed for a bin: begin again.
                (self.filled, self.absorbed, self.slope) = (0, 0.0, 0.0);
            }
            let begin = if is_next { self.end } else { decision };
            (self.sum, self.count, self.end) = (0.0, 0, begin + per_bin.max(1));
        }
        if factor > 0.0 {
            self.sum += factor.ln();
            self.count += 1;
        }
    }

    /// The share by which costs are expected to grow in this many bins; negative: to fall; 0 without a drift.
    pub fn growth(&self, bins: f64) -> f64 {
        let growth = (self.slope * bins).exp() - 1.0;
        let most = TUNING.drift.most_growth;
        if growth.abs() < TUNING.drift.least_growth { 0.0 } else { growth.clamp(-most, most) }
    }

    fn close(&mut self) {
        if self.filled == BINS {
            self.bins.rotate_left(1);
            self.filled -= 1;
        }
        self.bins[self.filled] = (self.sum / f64::from(self.count) + self.absorbed) as f32;
        self.absorbed += (1.0 - TUNING.calibration.log_decay) * self.sum;
        self.filled += 1;
        self.slope = drift(&self.bins[..self.filled]).unwrap_or(0.0);
    }
}

/// The slope of a drift, if there is one: the smaller of that of the window and that of its latter half.
fn drift(levels: &[f32]) -> Option<f64> {
    if levels.len() < LEAST_BINS {
        return None;
    }
    let (first, latter) = levels.split_at(levels.len() / 2);
    let (whole, first, latter) = (Line::of(levels), Line::of(first), Line::of(latter));
    let least = TUNING.drift.least_half * whole.slope.abs();
    let same = |half: &Line| half.slope * whole.slope.signum() > least;
    let stands_out = whole.slope.abs() > TUNING.drift.deviations * whole.error;
    let nearer = if latter.slope.abs() < whole.slope.abs() { latter.slope } else { whole.slope };
    (stands_out && same(&first) && same(&latter) && is_gradual(levels)).then_some(nearer)
}

/// Whether the two largest steps between bins are a small part of the whole rise or fall.
fn is_gradual(levels: &[f32]) -> bool {
    let whole = f64::from(levels[levels.len() - 1] - levels[0]);
    let steps = levels.windows(2).map(|pair| f64::from(pair[1] - pair[0]) * whole.signum());
    let largest = steps.fold((0.0, 0.0), |(most, next): (f64, f64), step| (most.max(step), next.max(most.min(step))));
    largest.0 + largest.1 < TUNING.drift.most_in_two_steps * whole.abs()
}

/// A line fitted by least squares.
struct Line {
    slope: f64,
    /// Standard error of the slope.
    error: f64,
}

impl Line {
    fn of(levels: &[f32]) -> Self {
        let count = levels.len() as f64;
        let middle = (count - 1.0) / 2.0;
        let mean = levels.iter().map(|&level| f64::from(level)).sum::<f64>() / count;
        let points = || levels.iter().enumerate().map(|(at, &level)| (at as f64 - middle, f64::from(level) - mean));
        let spread: f64 = points().map(|(x, _)| x * x).sum();
        let slope = points().map(|(x, y)| x * y).sum::<f64>() / spread;
        let rest: f64 = points().map(|(x, y)| (y - slope * x).powi(2)).sum();
        Self { slope, error: (rest / (count - 2.0).max(1.0) / spread).sqrt() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PER_BIN: u64 = 120;

    /// The most and the least growth in 10 s that is forecast in two minutes, after the first 40 s, of costs with an
    /// independent noise of 1 %.
    fn range(level: impl Fn(f64) -> f64) -> (f64, f64) {
        let (mut drift, mut state, mut range) = (Drift::default(), 1u64, (0.0f64, 0.0f64));
        for decision in 1..=120 * 60 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let noise = ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64 - 0.5;
            let time = decision as f64 / 60.0;
            drift.observe(level(time) * (1.0 + 0.035 * noise), decision, PER_BIN);
            if time > 40.0 {
                let growth = drift.growth(5.0);
                range = (range.0.max(growth), range.1.min(growth));
            }
        }
        range
    }

    #[test]
    fn slow_drift_is_forecast_ten_seconds_ahead() {
        let (most, least) = range(|time| (0.001 * (time - 80.0)).exp());
        assert!((0.009..=0.011).contains(&most) && least == 0.0, "{most} {least}");
        let (most, least) = range(|time| (-0.002 * (time - 80.0)).exp());
        assert!((-0.022..=-0.018).contains(&least) && most == 0.0, "{most} {least}");
    }

    #[test]
    fn noise_cuts_and_waves_of_a_scene_are_no_drift() {
        assert_eq!(range(|_| 1.0), (0.0, 0.0));
        assert_eq!(range(|time| if time < 60.0 { 1.0 } else { 1.3 }), (0.0, 0.0));
        let cuts = |time: f64| 1.0 + 0.05 * (time / 10.0).floor();
        assert_eq!(range(cuts), (0.0, 0.0));
        for period in [2.0, 6.0, 15.0, 25.0, 32.0] {
            let wave = range(|time| 1.0 + 0.1 * (std::f64::consts::TAU * time / period).sin());
            assert_eq!(wave, (0.0, 0.0), "{period} s");
        }
    }

    #[test]
    fn common_factor_that_estimates_absorb_is_no_drift() {
        let decay = 60.0 * (1.0 - TUNING.calibration.log_decay);
        assert_eq!(range(|time| (0.4 * (-decay * time).exp()).exp()), (0.0, 0.0));
    }

    #[test]
    fn drift_is_forgotten_after_a_pause() {
        let mut drift = Drift::default();
        (1..=3000).for_each(|decision| drift.observe((0.001 * decision as f64 / 60.0).exp(), decision, PER_BIN));
        assert!(drift.growth(5.0) > 0.0);
        drift.observe(1.0, 3000 + 3 * PER_BIN, PER_BIN);
        assert_eq!(drift.growth(5.0), 0.0);
    }
}
