//! The price of changes.
//!
//! It has two parts. One is `patience` times the value by which the setting moves, up or down. The other is the burden
//! that is lost in the frame of the change, at the present shadow price of burden. So a change that only raises settings
//! is made after `patience` frames, and an exchange for little more value after many. Lost value weighs several times as
//! much as gained value. A return to an option within seconds costs more, and waits until the effect of the change
//! is known. A setting that dwells is not changed voluntarily.

use super::Choose;
use crate::goblin::config::LANES;
use crate::goblin::frame::Frame;
use crate::goblin::question::Question;
use crate::goblin::tuning::{self, TUNING};
use crate::knapsack::NO_CHOICE;

const PRICE: &tuning::Price = &TUNING.price;

impl Choose {
    /// Set the price of each entry's change, in value times decisions. `is_forced`: something must change.
    pub fn price_changes(
        &self,
        question: &mut Question,
        frame: &Frame<'_>,
        shadow_prices: [f64; LANES],
        is_forced: bool,
    ) {
        let now = frame.now;
        let explores = self.is_exploring(frame);
        let patience = frame.config.patience * if self.pace.is_free() { 1.0 } else { self.target.ramp(now) };
        let lost = self.target.loss(now, if explores { PRICE.free_loss } else { PRICE.loss });
        let (return_factor, return_share) = self.price_of_return(is_forced);
        let Question { settings, formulation, .. } = question;
        let stake = formulation.at_stake(formulation.highest.value);
        let mean_stake = stake / formulation.entries.len() as f64;
        let flat = if is_forced && !explores { PRICE.forced_change * PRICE.forced_horizon * mean_stake } else { 0.0 };
        let reversal = frame.config.decisions_of(TUNING.pace.reversal_seconds);
        let awaited = frame.config.decisions_of(TUNING.lever.awaited_seconds);
        for entry in &mut formulation.entries {
            let setting = settings.at(entry.position).expect("entries are made of the settings there are");
            let kept = &self.kept[entry.position];
            let dwells = !is_forced && kept.changed > 0 && now - kept.changed < u64::from(frame.config.dwell);
            let scale = self.switch_scale * setting.switch_scale;
            let factor = match (setting.is_trim, dwells) {
                (true, _) => 0.0,
                (_, true) => PRICE.dwelling * scale,
                _ => scale,
            };
            entry.price = factor * (shadow_prices[0] * setting.switch_burden + flat);
            entry.price_per_gain = factor * patience;
            entry.price_per_loss = factor * patience * lost;
            let left_lately = kept.left_at > 0 && now - kept.left_at <= reversal;
            entry.back = if left_lately { kept.left } else { NO_CHOICE };
            let is_awaited = !is_forced && kept.lever.is_awaited(now, awaited);
            entry.return_factor = if is_awaited { PRICE.dwelling } else { return_factor };
            entry.return_price = factor * return_share * stake;
        }
    }

    /// The factor on the price of a reversal, and its fixed price as a share of the whole value in a decision.
    fn price_of_return(&self, is_forced: bool) -> (f64, f64) {
        match (self.pace.has_reversal(), is_forced) {
            _ if self.pace.is_free() => (1.0, 0.0),
            (true, _) => (PRICE.reversal, 0.0),
            (false, true) => (PRICE.spent_forced_reversal, 0.0),
            (false, false) => (PRICE.reversal, PRICE.spent_reversal),
        }
    }
}
