//! Mean and variance of recent samples.

use super::Normal;

/// Mean and variance with sample weights that decay by a fixed factor each frame.
///
/// The decay is applied at the next sample, for all frames since the last one: a frame without a sample neither adds a
/// zero nor shrinks the deviation. Decay never reduces the total weight below one sample. So a single sample after a
/// long pause does not erase the earlier deviation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Decayed {
    weight: f64,
    mean: f64,
    squared_deviations: f64,
    last_frame: u64,
}

impl Decayed {
    /// No samples.
    pub const EMPTY: Self = Self { weight: 0.0, mean: 0.0, squared_deviations: 0.0, last_frame: 0 };

    /// Add one finite sample on `frame`. Each frame since the last sample multiplies the old weights by `keep` (0 to
    /// 1). A frame before the last one counts as the last one, so samples out of order do not undo decay.
    pub fn add(&mut self, sample: f64, frame: u64, keep: f64) {
        let frames = frame.saturating_sub(self.last_frame);
        self.last_frame = self.last_frame.max(frame);
        if self.weight > 0.0 {
            let faded = keep.powi(frames.min(1 << 20) as i32).max((1.0 / self.weight).min(1.0));
            self.weight *= faded;
            self.squared_deviations *= faded;
        }
        self.weight += 1.0;
        let from_old_mean = sample - self.mean;
        self.mean += from_old_mean / self.weight;
        self.squared_deviations += from_old_mean * (sample - self.mean);
    }

    /// The same statistics, with `frame` of another frame counter as the last frame.
    #[must_use]
    pub fn from_frame(self, frame: u64) -> Self {
        Self { last_frame: frame, ..self }
    }

    /// The statistics of samples multiplied by `factor`.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        let Self { mean, squared_deviations, .. } = self;
        Self { mean: mean * factor, squared_deviations: squared_deviations * factor * factor, ..self }
    }

    /// Whether no sample was added yet.
    pub fn is_empty(&self) -> bool {
        self.weight == 0.0
    }

    /// Total weight of the samples, after decay.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// Mean and (population) variance of the recent samples.
    pub fn normal(&self) -> Normal {
        if self.is_empty() {
            return Normal::default();
        }
        Normal { mean: self.mean, variance: (self.squared_deviations / self.weight).max(0.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_one_frame_apart_by_hand() {
        let mut recent = Decayed::EMPTY;
        recent.add(2.0, 10, 0.5);
        recent.add(8.0, 11, 0.5);
        // The first would decay to 1/2, but the minimum is one sample: mean (2 + 8)/2 = 5, variance (9 + 9)/2.
        assert_eq!(recent.normal(), Normal { mean: 5.0, variance: 9.0 });
        // Two more samples on the same frame cause no decay: mean 20/4 = 5, variance 18/4.
        recent.add(5.0, 11, 0.5);
        recent.add(5.0, 11, 0.5);
        assert_eq!(recent.normal(), Normal { mean: 5.0, variance: 4.5 });
        // Next frame: the weight 4 decays to 2, and 18 to 9; mean (2*5 + 8)/3 = 6, variance (9 + 2*1 + 4)/3 = 5.
        recent.add(8.0, 12, 0.5);
        assert_eq!(recent.normal(), Normal { mean: 6.0, variance: 5.0 });
    }

    #[test]
    fn first_sample_is_not_averaged_with_zero() {
        let mut recent = Decayed::EMPTY;
        recent.add(7.0, 1, 29.0 / 30.0);
        assert_eq!(recent.normal(), Normal { mean: 7.0, variance: 0.0 });
    }

    #[test]
    fn unmeasured_frames_leave_the_deviation_alone() {
        let mut recent = Decayed::EMPTY;
        for frame in 0..100 {
            recent.add(if frame % 2 == 0 { 4.0 } else { 6.0 }, frame, 29.0 / 30.0);
        }
        let before = recent.normal();
        // One sample 30 000 frames later has at most half of the weight, so the deviation remains.
        recent.add(5.0, 30_100, 29.0 / 30.0);
        assert!(recent.normal().deviation() > 0.5 * before.deviation());
    }
}
