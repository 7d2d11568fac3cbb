//! Capacity control without profiling: only whole frames are measured, and burdens are the host's rough idea.
//!
//! The unit of the host's burdens is unknown, so a controller finds the capacity in that unit, as in the seed. A late
//! frame lowers the capacity at once, in proportion. Spare time raises it slowly. It never rises beyond the burden of
//! the highest choices, and does not rise while a change waits that already fits: there is no windup.

use crate::goblin::tuning::{self, TUNING};

const CONTROLLER: &tuning::Controller = &TUNING.controller;

/// Finds the capacity in the unit of the host's burdens.
#[derive(Debug, Default)]
pub struct Controller {
    /// Present estimate of the capacity; 0 before the first decision.
    capacity: f64,
    /// Burden of the last decision.
    used: f64,
    /// Burden of the highest choices.
    highest: f64,
    /// Frames until a late frame may lower the capacity again: frames in flight were decided under the old capacity.
    wait: u32,
    /// Whether a better choice that fits waits for its change: more capacity would not be used.
    waits: bool,
}

impl Controller {
    /// The capacity for a decision, given the burdens of the lightest and the highest choices.
    pub fn capacity(&mut self, lightest: f64, highest: f64) -> f64 {
        if self.capacity <= 0.0 {
            self.capacity = lightest;
        }
        self.highest = highest.max(lightest);
        self.capacity = self.capacity.max(lightest).min(self.highest);
        self.capacity
    }

    /// Report the burden of the decision, and whether a better choice waits that fits the capacity.
    pub fn decided(&mut self, used: f64, waits: bool) {
        (self.used, self.waits) = (used, waits);
        self.wait = self.wait.saturating_sub(1);
    }

    /// Observe the time of a frame.
    pub fn frame_took(&mut self, burden: f64, limit: f64) {
        // Without capacity, every frame is late.
        let load = if limit > 0.0 { burden / limit } else { f64::INFINITY };
        if load > 1.0 && self.wait == 0 {
            self.capacity = self.used * (CONTROLLER.spare / load).max(CONTROLLER.least_factor);
            self.wait = CONTROLLER.latency;
        } else if load < CONTROLLER.spare && !self.waits {
            // The step is relative to half of the highest burden at least, since the lightest may be 0.
            self.capacity += CONTROLLER.raise * self.capacity.max(0.5 * self.highest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine on which a unit of burden takes `scale` ms, with choices of any burden from 1 to 10.
    fn settle(scale: f64, frames: usize, controller: &mut Controller) -> f64 {
        let mut used = 0.0;
        for _ in 0..frames {
            used = controller.capacity(1.0, 10.0);
            controller.decided(used, false);
            controller.frame_took(used * scale, 16.0);
        }
        used * scale
    }

    #[test]
    fn the_capacity_converges_to_the_limit_from_both_sides() {
        let mut controller = Controller::default();
        assert!((14.0..=16.0).contains(&settle(4.0, 400, &mut controller)));
        // The machine slows down, then recovers.
        assert!((14.0..=16.2).contains(&settle(8.0, 400, &mut controller)));
        assert!((14.0..=16.0).contains(&settle(2.0, 400, &mut controller)));
    }

    #[test]
    fn capacity_rises_from_zero() {
        let mut controller = Controller::default();
        for _ in 0..400 {
            let used = controller.capacity(0.0, 10.0);
            controller.decided(used, false);
            controller.frame_took(used, 16.0);
        }
        assert_eq!(controller.capacity(0.0, 10.0), 10.0);
        controller.frame_took(1.0, -1.0);
        assert!(controller.capacity(0.0, 10.0) < 10.0, "a limit below 0 leaves no capacity");
    }

    #[test]
    fn capacity_has_no_windup_at_its_highest_or_lowest() {
        let mut controller = Controller::default();
        settle(0.1, 100_000, &mut controller);
        assert!(controller.capacity(1.0, 10.0) <= 10.0);
        settle(100.0, 100_000, &mut controller);
        assert!(controller.capacity(1.0, 10.0) >= 1.0);
    }
}
