//! When a strategy that is not the fastest is tried.

use super::tuning::{LATER, LATER_CREDIT, LOOKS, SPACING};

/// Pays for the trials of a strategy. Amounts are seconds.
#[derive(Clone, Copy, Debug)]
pub struct Account {
    amount: f64,
    /// The next trial waits for this many times its cost and spacing: 0.5 to 1.5, so that trials follow no rhythm of the
    /// host's work.
    jitter: f64,
    last_trial: u64,
    /// How often the strategy was chosen.
    tries: u32,
    /// Trials in the beginning, which are not paid yet.
    owed: u32,
    /// Further trials on credit, at once.
    looks: u32,
    /// Further trials on credit, each some decisions after the last one.
    later: &'static [u64],
}

impl Default for Account {
    fn default() -> Self {
        Self { amount: 0.0, jitter: 1.0, last_trial: 0, tries: 0, owed: 0, looks: 0, later: &[] }
    }
}

impl Account {
    /// A decision's part of the trials' time. An account never has more than three trials cost, and never owes more than
    /// the credit.
    pub fn earn(&mut self, part: f64, cost: f64, credit: f64) {
        self.amount = (self.amount.max(-credit) + part).min((3.0 * cost).max(self.amount));
    }

    /// A trial is made whose cost is not known yet.
    pub fn owe(&mut self) {
        self.owed = self.owed.saturating_add(1);
    }

    /// Pay what is owed, and owe no more than the credit.
    pub fn settle(&mut self, cost: f64, credit: f64) {
        if self.owed > 0 {
            self.amount = (self.amount - f64::from(self.owed) * cost).max(-credit);
            self.owed = 0;
        }
    }

    /// Whether the strategy is to be tried now. It takes longer by `cost`.
    pub fn is_due(&self, cost: f64, credit: f64, decision: u64) -> bool {
        let waited = decision - self.last_trial;
        if self.later.first().is_some_and(|later| waited >= *later) && cost <= LATER_CREDIT * credit {
            return true;
        }
        if self.looks > 0 {
            return self.amount - cost >= -credit;
        }
        self.amount >= cost * self.jitter && waited as f64 >= SPACING * self.jitter
    }

    /// A trial is made, which takes longer by `cost`.
    pub fn pay(&mut self, cost: f64, jitter: f64) {
        self.amount -= cost;
        self.jitter = jitter;
        match self.looks.checked_sub(1) {
            Some(looks) => self.looks = looks,
            None => self.later = self.later.get(1..).unwrap_or_default(),
        }
    }

    /// The durations may be out of date: try the strategy soon, on credit.
    pub fn look_again(&mut self) {
        self.looks = LOOKS;
    }

    /// The durations are up to date.
    pub fn look_no_more(&mut self) {
        self.looks = 0;
    }

    /// The strategy lost its place, perhaps to a hitch: try it later, on credit.
    pub fn look_later(&mut self) {
        self.later = &LATER;
    }

    /// The strategy is chosen, for whatever reason.
    pub fn tried(&mut self, decision: u64) {
        self.last_trial = decision;
        self.tries = self.tries.saturating_add(1);
    }

    /// How often the strategy was chosen.
    pub fn tries(&self) -> u32 {
        self.tries
    }

    /// The decision in which the strategy was chosen last.
    pub fn last_trial(&self) -> u64 {
        self.last_trial
    }
}
