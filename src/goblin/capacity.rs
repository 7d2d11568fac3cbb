//! Without profiling: only whole frames are measured, and burdens are the host's rough idea.
//!
//! The unit of the host's burdens is unknown, so the capacity in that unit is found by a controller, as the seed
//! describes: lowered when frames are late, raised when there is time to spare. A late frame lowers it at once, in
//! proportion; spare time raises it slowly, and only up to what would change the choices, so that it does not run away
//! while everything is at its highest.

/// Finds the capacity in the unit of the host's burdens.
#[derive(Debug, Default)]
pub struct Controller {
    /// Present estimate; 0 before the first decision.
    capacity: f64,
    /// What the last decision used of it.
    used: f64,
    /// What the highest choices would use.
    highest: f64,
    /// Frames until a late frame may lower it again: those already in flight were decided under the old capacity.
    wait: u32,
}

/// A frame that uses less than this share of the limit has time to spare.
const SPARE: f64 = 0.95;
/// Raise per frame with time to spare, relatively.
const RAISE: f64 = 0.01;
/// Never lower by more than this factor at a time: one hitch is not a measure.
const LOWEST_FACTOR: f64 = 0.7;
/// Frames from a decision until its total has come in, about.
const LATENCY: u32 = 4;

impl Controller {
    /// The capacity to decide by, given what the lightest and the highest choices would use.
    pub fn capacity(&mut self, lightest: f64, highest: f64) -> f64 {
        if self.capacity <= 0.0 {
            self.capacity = lightest;
        }
        self.highest = highest.max(lightest);
        self.capacity = self.capacity.max(lightest).min(self.highest);
        self.capacity
    }

    /// What the decision used of it.
    pub fn decided(&mut self, used: f64) {
        self.used = used;
        self.wait = self.wait.saturating_sub(1);
    }

    /// A frame took so long.
    pub fn frame_took(&mut self, burden: f64, limit: f64) {
        // With nothing to spend, every frame is late.
        let load = if limit > 0.0 { burden / limit } else { f64::INFINITY };
        if load > 1.0 && self.wait == 0 {
            self.capacity = self.used * (SPARE / load).max(LOWEST_FACTOR);
            self.wait = LATENCY;
        } else if load < SPARE {
            // Of the highest at least, since the lightest may use nothing.
            self.capacity += RAISE * self.capacity.max(0.5 * self.highest);
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
            controller.decided(used);
            controller.frame_took(used * scale, 16.0);
        }
        used * scale
    }

    #[test]
    fn the_capacity_finds_the_limit_from_either_side() {
        let mut controller = Controller::default();
        assert!((14.0..=16.0).contains(&settle(4.0, 400, &mut controller)));
        // The machine slows down, then recovers.
        assert!((14.0..=16.2).contains(&settle(8.0, 400, &mut controller)));
        assert!((14.0..=16.0).contains(&settle(2.0, 400, &mut controller)));
    }

    #[test]
    fn it_rises_from_nothing() {
        let mut controller = Controller::default();
        for _ in 0..400 {
            let used = controller.capacity(0.0, 10.0);
            controller.decided(used);
            controller.frame_took(used, 16.0);
        }
        assert_eq!(controller.capacity(0.0, 10.0), 10.0);
        controller.frame_took(1.0, -1.0);
        assert!(controller.capacity(0.0, 10.0) < 10.0, "a limit below 0 leaves nothing to spend");
    }

    #[test]
    fn it_does_not_run_away_while_all_is_at_its_highest_or_lowest() {
        let mut controller = Controller::default();
        settle(0.1, 100_000, &mut controller);
        assert!(controller.capacity(1.0, 10.0) <= 10.0);
        settle(100.0, 100_000, &mut controller);
        assert!(controller.capacity(1.0, 10.0) >= 1.0);
    }
}
