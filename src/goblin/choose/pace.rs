//! The rate limiter of visible changes: a token bucket, and the counts of the last minute and second.
//!
//! The host states how many changes a second a player may see. The account earns that many tokens a second, and each
//! change costs one. A voluntary change (a better choice, a trial, its return) waits until the account can pay for it.
//! A forced change, which keeps the frame inside its limits, is made at once. It may overdraw the account, and later
//! income pays that back.
//!
//! Saved tokens allow a burst, and a debt is known only afterwards. So two [counts](super::recent) bound what happens:
//! * The changes of any minute, forced ones included, stay inside the rate as long as forced changes do. A voluntary
//!   change waits while the last minute has too many.
//! * The voluntary changes of any second are one decision, or stay inside the rate. One decision may change several
//!   settings, because what changes together must change in one frame. It waits until that many changes are due since
//!   the last voluntary decision.

use super::recent::Recent;
use crate::goblin::tuning::{self, TUNING};

const PACE: &tuning::Pace = &TUNING.pace;

/// The token bucket and the counts, as of a decision.
#[derive(Clone, Debug)]
pub struct Pace {
    /// Tokens for changes; negative while overdrawn.
    tokens: f64,
    /// Tokens for reversals; negative while overdrawn, for at most two minutes.
    reversals: f64,
    /// The decision of the last credit.
    at: u64,
    /// The last decision of the learning phase. Changes are free until then, because new options must be learned.
    learning_end: u64,
    /// Decisions by which [`Self::learn_again`] has extended it.
    learned_again: u64,
    /// Samples so far, and the last decision with a new one.
    samples: u64,
    sampled: u64,
    /// Tokens that a change costs now: 0 to 1.
    price: f64,
    /// Tokens that a change cost in the decision before: trials of a free decision return for free.
    price_before: f64,
    /// Changes a second, and a decision.
    rate: f64,
    rate_per_decision: f64,
    /// All changes of the last minute, and voluntary ones of the last second.
    minute: Recent,
    second: Recent,
    /// The last voluntary decision that was paid for.
    paid: u64,
    /// Number of settings that the end of the present trial will change back.
    owed: u32,
}

/// The cause of the changes of a decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// The former choices do not fit, the host has excluded them, or the strategy is another one.
    Forced,
    /// A better choice, or the end of a trial.
    #[default]
    Voluntary,
    /// The begin of a trial, whose changes will be taken back.
    Trial,
}

/// The changes of a decision, without TRIM settings.
#[derive(Clone, Copy, Debug, Default)]
pub struct Changes {
    pub settings: u32,
    /// The number that a player sees: a change that is hard to notice counts less than 1.
    pub visible: f64,
    /// How many return to a recent option.
    pub reversals: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            tokens: 0.0,
            reversals: 0.0,
            at: 0,
            learning_end: 0,
            learned_again: 0,
            samples: 0,
            sampled: 0,
            price: 1.0,
            price_before: 1.0,
            rate: 0.0,
            rate_per_decision: 0.0,
            minute: Recent::default(),
            second: Recent::default(),
            paid: 0,
            owed: 0,
        }
    }
}

impl Pace {
    /// Begin or extend the learning phase.
    pub fn learn_until(&mut self, decision: u64) {
        self.learning_end = self.learning_end.max(decision);
    }

    /// Begin the learning phase again, unless it has begun again too often.
    pub fn learn_again(&mut self, now: u64, decisions: u64) {
        let added = (now + decisions).saturating_sub(self.learning_end.max(now));
        let most = (now as f64 * PACE.relearning_share) as u64;
        if self.learned_again + added <= most.max(4 * decisions) {
            self.learned_again += added;
            self.learn_until(now + decisions);
        }
    }

    /// Decisions without samples teach nothing, so they do not count as part of the learning phase. `samples`: the number
    /// so far.
    pub fn prolong(&mut self, now: u64, samples: u64) {
        if samples != self.samples {
            (self.samples, self.sampled) = (samples, now);
        }
        self.learning_end += u64::from(self.is_learning(now) && now - self.sampled > PACE.most_silent);
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
        self.price_before = self.price;
        self.price = if self.is_learning(now) { 0.0 } else { price.clamp(0.0, 1.0) };
        (self.rate, self.rate_per_decision) = (rate * per_minute / 60.0, rate);
        let most = (self.rate * PACE.saved_seconds).max(1.0);
        self.tokens = (self.tokens + rate * passed).min(most).max(-PACE.most_debt);
        let most = PACE.reversals_per_minute;
        self.reversals = (self.reversals + most * passed / per_minute).min(most).max(-most);
        self.minute.begin(now, per_minute);
        self.second.begin(now, per_minute / 60.0);
    }

    /// Number of voluntary changes that can be paid for now.
    pub fn allowance(&self) -> usize {
        if self.is_free() {
            return usize::MAX;
        }
        if self.owed > 0 {
            // The end of a trial comes first.
            return 0;
        }
        (self.tokens.min(self.left_of_minute()).min(self.left_of_second()) / self.price).max(0.0) as usize
    }

    /// Number of changes that a trial may make, so that they can be taken back.
    pub fn trial_allowance(&self) -> usize {
        if self.is_free() {
            return usize::MAX;
        }
        self.allowance().min((self.left_of_minute() / 2.0 / self.price) as usize)
    }

    /// Whether the present trial ends without a visible change if its option becomes the choice.
    pub fn may_end_trial(&self) -> bool {
        self.owed == 1
    }

    /// Changes that the last minute leaves. A part of the rate is reserved for forced changes.
    fn left_of_minute(&self) -> f64 {
        let most = (60.0 * (1.0 - PACE.forced_share) * self.rate).max(1.0);
        (most - self.minute.sum()).max(0.0)
    }

    /// Voluntary changes that the last second leaves. After more than a second without any, one decision may make as many
    /// as are due since then, and at least one.
    fn left_of_second(&self) -> f64 {
        let made = self.second.sum();
        if made > 0.0 {
            return (self.rate - made).max(0.0);
        }
        let due = self.rate_per_decision * (self.at - self.paid.min(self.at)) as f64;
        // Not below a due change because of rounding.
        due.max(self.rate).max(1.0) + 1e-9
    }

    /// Whether changes are free now.
    pub fn is_free(&self) -> bool {
        self.price <= 0.0
    }

    /// Whether there is a token for a reversal.
    pub fn has_reversal(&self) -> bool {
        self.price <= 0.0 || self.reversals >= 1.0
    }

    /// Pay for changes.
    pub fn pay(&mut self, changes: Changes, origin: Origin) {
        let price = if self.price_before > 0.0 { self.price } else { 0.0 };
        let cost = price * changes.visible;
        self.tokens -= cost;
        self.reversals -= if price > 0.0 { f64::from(changes.reversals) } else { 0.0 };
        self.minute.add(cost);
        if origin != Origin::Forced && cost > 0.0 {
            self.second.add(cost);
            self.paid = self.at;
        }
        if origin == Origin::Trial {
            self.owed = changes.settings;
        }
    }

    /// There is no trial whose changes will be taken back.
    pub fn end_trial(&mut self) {
        self.owed = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 60;

    fn account(rate: f64) -> impl FnMut(&mut Pace, u64) {
        move |pace, now| pace.begin(now, rate / SECOND as f64, 1.0, 60.0 * SECOND as f64)
    }

    fn visible(visible: f64) -> Changes {
        Changes { visible, ..Changes::default() }
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
                pace.pay(visible(changes as f64), Origin::Voluntary);
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
        pace.pay(visible(16.0), Origin::Forced);
        let mut wait = 0;
        while pace.allowance() == 0 {
            wait += 1;
            begin(&mut pace, 60 * SECOND + wait);
        }
        assert!((11 * SECOND..=13 * SECOND).contains(&wait), "10 owed and 1 more at 1 a second: {wait}");
    }

    #[test]
    fn changes_are_free_while_there_is_something_to_learn_and_in_declared_cuts() {
        let mut pace = Pace::default();
        pace.learn_until(10);
        pace.begin(10, 0.0, 1.0, 3600.0);
        pace.pay(Changes { reversals: 100, ..visible(100.0) }, Origin::Voluntary);
        assert_eq!(pace.allowance(), usize::MAX);
        pace.begin(11, 0.0, 1.0, 3600.0);
        assert_eq!(pace.allowance(), 0);
        pace.begin(12, 0.0, 0.0, 3600.0);
        assert_eq!(pace.allowance(), usize::MAX);
    }
}
