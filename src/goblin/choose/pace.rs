//! The rate limiter of visible changes: a token bucket.
//!
//! The host states how many changes a second a player may see. The account earns that many tokens a second, and each
//! change costs one. A voluntary change (a better choice, a trial, its return) waits until the account can pay for it.
//! A forced change, which keeps the frame inside its limits, is made at once. It may overdraw the account, and later
//! income pays that back.

use crate::goblin::tuning::{self, TUNING};

const PACE: &tuning::Pace = &TUNING.pace;

/// The token bucket, as of a decision.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Tokens for changes; negative while overdrawn.
    tokens: f64,
    /// Tokens for reversals.
    reversals: f64,
    /// The decision of the last credit.
    at: u64,
    /// The last decision of the learning phase. Changes are free until then, because new options must be learned.
    learning_end: u64,
    /// Tokens that a change costs now: 0 to 1.
    price: f64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { tokens: 0.0, reversals: 0.0, at: 0, learning_end: 0, price: 1.0 }
    }
}

impl Pace {
    /// Begin or extend the learning phase.
    pub fn learn_until(&mut self, decision: u64) {
        self.learning_end = decision;
    }

    /// Whether a decision is in the learning phase.
    pub fn is_learning(&self, now: u64) -> bool {
        now <= self.learning_end
    }

    /// Credit the tokens since the last decision. `rate` is in changes a decision, `price` in tokens a change,
    /// `per_minute` in decisions a minute.
    pub fn begin(&mut self, now: u64, rate: f64, price: f64, per_minute: f64) {
        let passed = now.saturating_sub(self.at) as f64;
        self.at = now;
        self.price = if self.is_learning(now) { 0.0 } else { price.clamp(0.0, 1.0) };
        let most = (rate * per_minute / 60.0 * PACE.saved_seconds).max(1.0);
        self.tokens = (self.tokens + PACE.earned_share * rate * passed).min(most).max(-PACE.most_debt);
        self.reversals =
            (self.reversals + PACE.reversals_per_minute * passed / per_minute).min(PACE.reversals_per_minute);
    }

    /// Number of voluntary changes that can be paid for now.
    pub fn allowance(&self) -> usize {
        if self.price <= 0.0 { usize::MAX } else { (self.tokens / self.price).max(0.0) as usize }
    }

    /// Whether changes are free now.
    pub fn is_free(&self) -> bool {
        self.price <= 0.0
    }

    /// Whether there is a token for a reversal.
    pub fn has_reversal(&self) -> bool {
        self.price <= 0.0 || self.reversals >= 1.0
    }

    /// Pay for changes; one that is hard to notice counts less than 1. `reversals` of them return to a recent option.
    pub fn pay(&mut self, changes: f64, reversals: u32) {
        self.tokens -= self.price * changes;
        self.reversals -= if self.price > 0.0 { f64::from(reversals) } else { 0.0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 60;

    fn account(rate: f64) -> impl FnMut(&mut Pace, u64) {
        move |pace, now| pace.begin(now, rate / SECOND as f64, 1.0, 60.0 * SECOND as f64)
    }

    #[test]
    fn voluntary_changes_of_any_minute_stay_inside_the_rate() {
        for rate in [0.25, 1.0, 4.0] {
            let (mut begin, mut pace, mut made) = (account(rate), Pace::default(), Vec::new());
            for now in 1..=600 * SECOND {
                begin(&mut pace, now);
                // Idle minutes save tokens for a burst.
                let wanted = if now % (200 * SECOND) < 100 * SECOND { 0 } else { 3 };
                let changes = pace.allowance().min(wanted);
                pace.pay(changes as f64, 0);
                made.push(changes);
            }
            let minutes = made.windows(60 * SECOND as usize).step_by(7);
            let most = minutes.map(|minute| minute.iter().sum::<usize>()).max().unwrap();
            assert!(most as f64 <= (60.0 * rate).max(1.0) && most as f64 >= 50.0 * rate, "{rate}: {most}");
        }
    }

    #[test]
    fn forced_changes_overdraw_and_later_ones_pay_back() {
        let (mut begin, mut pace) = (account(1.0), Pace::default());
        (1..=60 * SECOND).for_each(|now| begin(&mut pace, now));
        pace.pay(16.0, 0);
        let mut wait = 0;
        while pace.allowance() == 0 {
            wait += 1;
            begin(&mut pace, 60 * SECOND + wait);
        }
        assert!((11 * SECOND..=13 * SECOND).contains(&wait), "10 owed and 1 more at .9 a second: {wait}");
    }

    #[test]
    fn changes_are_free_while_there_is_something_to_learn_and_in_declared_cuts() {
        let mut pace = Pace::default();
        pace.learn_until(10);
        pace.begin(10, 0.0, 1.0, 3600.0);
        pace.pay(100.0, 100);
        assert_eq!(pace.allowance(), usize::MAX);
        pace.begin(11, 0.0, 1.0, 3600.0);
        assert_eq!(pace.allowance(), 0);
        pace.begin(12, 0.0, 0.0, 3600.0);
        assert_eq!(pace.allowance(), usize::MAX);
    }
}
