//! Feedback for held choices: how much margin a settled choice keeps.
//!
//! A forecast can be too cautious: a settled choice that is late as rarely as the host asked need not be changed
//! because its forecast predicts otherwise. So the margin of a settled choice is a *share* of the margin of a new one.
//! The share rises with every late frame and falls with every punctual frame near the limit. Both balance when the
//! asked share of frames is late (stochastic approximation of a quantile, H. Robbins and S. Monro, 1951).

use super::tuning::TUNING;

/// The share of the margin that a settled choice keeps on a lane.
#[derive(Clone, Copy, Debug)]
pub struct Hold {
    share: f64,
}

impl Default for Hold {
    fn default() -> Self {
        Self { share: TUNING.hold_most }
    }
}

impl Hold {
    /// The present share.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// Observe a frame with a settled choice. A share `probability` of frames may be late. `is_near`: the forecast was
    /// near the limit.
    pub fn observe(&mut self, is_late: bool, is_near: bool, probability: f64) {
        let push = match (is_late, is_near) {
            (true, _) => 1.0 - probability,
            (false, true) => -probability,
            (false, false) => 0.0,
        };
        self.share = (self.share + TUNING.hold_step * push).clamp(0.0, TUNING.hold_most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_late_as_often_as_asked_where_the_share_decides() {
        // A frame is late if uniform noise exceeds the share.
        let (mut hold, mut state, mut late) = (Hold::default(), 1u64, 0);
        let frames = 200_000;
        for _ in 0..frames {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let noise = ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64 * 0.6;
            let is_late = noise > hold.share() + 0.3;
            late += u32::from(is_late);
            hold.observe(is_late, true, 0.01);
        }
        let share = f64::from(late) / f64::from(frames);
        assert!((0.008..=0.012).contains(&share), "{share}");
    }

    #[test]
    fn punctual_frames_far_from_the_limit_change_nothing() {
        let mut hold = Hold::default();
        (0..1000).for_each(|_| hold.observe(false, false, 0.01));
        assert_eq!(hold.share(), Hold::default().share());
        (0..1000).for_each(|_| hold.observe(false, true, 0.01));
        assert_eq!(hold.share(), 0.0);
        (0..1000).for_each(|_| hold.observe(true, false, 0.01));
        assert_eq!(hold.share(), TUNING.hold_most);
    }
}
