//! Feedback from late frames: how much margin choices keep.
//!
//! A forecast can be too cautious, or too bold. So late frames move two factors on its margin, both by stochastic
//! approximation of a quantile (H. Robbins and S. Monro, 1951). Each rises with a late frame, and falls with a punctual
//! frame near the limit. It settles where the asked share of frames is late.
//!
//! The *hold share* is fast. A settled choice keeps only this share of the margin of a new one. So it is not changed
//! because of a forecast while it is late as rarely as the host asked.
//!
//! The *margin* is slow, and scales the margin of all choices. Noise with a heavy tail is late more often than the hold
//! share can correct, and in other scenes choices leave room that the host did not ask for. Where hitches make more frames
//! late than asked, a deviation says little of the margin that is needed. There the margin moves quickly at first, while a
//! choice is held. A change of the scene is not taken for a hitch then.

use crate::goblin::tuning::{self, TUNING};

const HOLD: &tuning::Hold = &TUNING.hold;

/// The factors on the margin of a lane.
#[derive(Clone, Copy, Debug)]
pub struct Hold {
    share: f64,
    margin: f64,
    /// Sum of the probabilities of the frames in which the margin moved quickly: the late frames that were asked for.
    quick: f64,
}

/// How quickly a late frame moves the margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speed {
    Slow,
    /// Quickly in the first such frames, then more and more slowly.
    Quick,
}

impl Default for Hold {
    fn default() -> Self {
        Self { share: HOLD.most_share, margin: 1.0, quick: 0.0 }
    }
}

impl Hold {
    /// The share of the margin that a settled choice keeps.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// The factor on the margin of all choices.
    pub fn margin(&self) -> f64 {
        self.margin
    }

    /// Observe a frame with a settled choice. A share `probability` of frames may be late. `is_near`: the forecast was
    /// near the limit.
    pub fn observe(&mut self, is_late: bool, is_near: bool, probability: f64, speed: Speed) {
        if !is_late && !is_near {
            return;
        }
        let late = f64::from(u8::from(is_late));
        self.share = (self.share + HOLD.share_step * (late - probability)).clamp(0.0, HOLD.most_share);
        let mut step = HOLD.margin_step;
        if speed == Speed::Quick {
            step += HOLD.quick_step / (1.0 + self.quick / HOLD.quick_late);
            self.quick += probability;
        }
        let margin = self.margin + step * (late - HOLD.margin_aim * probability);
        self.margin = margin.clamp(HOLD.margin_least, HOLD.margin_most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number in 0..1.
    fn uniform(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((*state >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Share of late frames of 200,000, if uniform noise is late where it exceeds the margin that `kept` gives.
    fn late(kept: impl Fn(&Hold) -> f64) -> f64 {
        let (mut hold, mut state, mut late) = (Hold::default(), 1u64, 0);
        let frames = 200_000;
        for _ in 0..frames {
            let is_late = uniform(&mut state) > kept(&hold);
            late += u32::from(is_late);
            hold.observe(is_late, true, 0.01, Speed::Slow);
        }
        f64::from(late) / f64::from(frames)
    }

    #[test]
    fn frames_are_late_as_often_as_asked_where_the_share_decides() {
        let late = late(|hold| (hold.share() + 0.3) / 0.6);
        assert!((0.008..=0.012).contains(&late), "{late}");
    }

    #[test]
    fn frames_are_a_tenth_less_often_late_than_asked_where_the_margin_decides() {
        let late = late(|hold| hold.margin() * 0.85);
        assert!((0.0075..=0.0105).contains(&late), "{late}");
    }

    #[test]
    fn hitches_are_as_rare_as_asked_within_two_minutes() {
        // A spike is late in 1.3 % of the frames, and more margin helps little.
        let late = |speed: Speed| {
            let (mut state, mut late) = (7, 0);
            for _ in 0..100 {
                let mut hold = Hold::default();
                for _ in 0..7200 {
                    let is_late = uniform(&mut state) < 0.013 * (1.0 - hold.margin()).exp();
                    late += u32::from(is_late);
                    hold.observe(is_late, true, 0.01, speed);
                }
            }
            f64::from(late) / 720_000.0
        };
        let (slow, quick) = (late(Speed::Slow), late(Speed::Quick));
        assert!(slow > 0.012 && (0.0085..0.0104).contains(&quick), "{slow} and {quick}");
    }

    #[test]
    fn punctual_frames_far_from_the_limit_change_nothing() {
        let mut hold = Hold::default();
        (0..1000).for_each(|_| hold.observe(false, false, 0.01, Speed::Slow));
        assert_eq!((hold.share(), hold.margin()), (HOLD.most_share, 1.0));
        (0..1000).for_each(|_| hold.observe(false, true, 0.01, Speed::Slow));
        assert!(hold.share() == 0.0 && hold.margin() < 1.0);
        (0..1000).for_each(|_| hold.observe(true, false, 0.01, Speed::Slow));
        assert_eq!((hold.share(), hold.margin()), (HOLD.most_share, HOLD.margin_most));
    }
}
