//! The target: a better choice whose gain is being summed, and the time since the last changes.

use crate::goblin::tuning::{self, TUNING};

const HYSTERESIS: &tuning::Hysteresis = &TUNING.hysteresis;
const PRICE: &tuning::Price = &TUNING.price;

/// The target. Its options are stored with the settings' choices.
#[derive(Debug)]
pub struct Target {
    /// Whether there is a target.
    pub exists: bool,
    /// Its summed gain, in value times decisions.
    pub sum: f64,
    /// The gain of the best choice when only a part of its changes became the target; else 0.
    pub sought: f64,
    /// The decision of the last voluntary change, and that of the last search for a target.
    pub changed: u64,
    pub searched: u64,
    /// The decision of the last change point; at first 0.
    pub change_point: u64,
    /// The decision of the last forced change.
    pub forced: u64,
    /// Factor on the band at its last growth, and the decision of that.
    widened: f64,
    widened_at: u64,
}

impl Default for Target {
    fn default() -> Self {
        Self {
            exists: false,
            sum: 0.0,
            sought: 0.0,
            changed: 0,
            searched: 0,
            change_point: 0,
            forced: 0,
            widened: 1.0,
            widened_at: 0,
        }
    }
}

impl Target {
    /// The present factor on the band.
    pub fn widening(&self, now: u64) -> f64 {
        1.0 + (self.widened - 1.0) * (-((now - self.widened_at) as f64) / HYSTERESIS.band_decay).exp()
    }

    /// Widen the band after a forced change with a small excess.
    pub fn widen(&mut self, now: u64) {
        self.widened = (HYSTERESIS.band_growth * self.widening(now)).min(HYSTERESIS.most_band_growth);
        self.widened_at = now;
    }

    /// Mark a change point because the host changed the limits, so that targets are taken with the short patience of a
    /// transient.
    pub fn unsettle(&mut self, now: u64) {
        (self.change_point, self.searched) = (now, 0);
    }

    /// The decision of the last change that was not a trial.
    pub fn last_change(&self) -> u64 {
        self.changed.max(self.forced)
    }

    /// Whether the last change point is long ago.
    pub fn is_settled(&self, now: u64) -> bool {
        now > self.change_point + PRICE.loss_ramp as u64
    }

    /// The factor on the patience. It is 1 at a change point, so that true shifts are followed at once.
    pub fn ramp(&self, now: u64) -> f64 {
        1.0 + (PRICE.patience_most - 1.0) * ((now - self.change_point) as f64 / PRICE.patience_ramp).min(1.0)
    }

    /// Weight of value that a setting loses in a change, relative to gained value. Players see both, but only the
    /// difference is gained. The weight is lower soon after a change point.
    pub fn loss(&self, now: u64, most: f64) -> f64 {
        PRICE.first_loss + (most - PRICE.first_loss) * ((now - self.change_point) as f64 / PRICE.loss_ramp).min(1.0)
    }
}
