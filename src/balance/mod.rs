//! Chooses among strategies for the same work by measured time.
//!
//! A host has two or more ways to do the same work, such as evaluating everything or only what changed. Which is faster
//! depends on the scene. [`Balance`] is asked before each piece of work, and gets the duration after it. It uses the
//! fastest strategy, and tries the others now and then, because they may have become faster.
//!
//! Trying is paid from accounts. Of each decision, a [share](Options::trial_share) of the fastest strategy's time goes
//! to the other strategies, in equal parts. A strategy is tried when its account covers what it takes longer. So a
//! strategy that takes little longer is tried often, one that takes four times as long every 200 decisions. None is
//! starved. When the durations of the strategy in use change, the others are tried at once, on credit: their
//! durations belong to another scene.
//!
//! Invariants:
//! 1. Choices are a function of the options and the calls before, so a record of the calls replays them.
//! 2. Trials cost at most the share, plus a bounded credit.
//! 3. No call allocates after [`Balance::new`].
//!
//! Sources: the problem and the table of [`Policy::Table`] are from "High Framerate Perception" (N. Cano). The detector of
//! changes is the two-sided CUSUM of E. S. Page, "Continuous inspection schemes" (1954).
//!
//! | file | content |
//! |---|---|
//! | `durations` | mean and deviation of a strategy's durations, and whether they changed |
//! | `table` | the table of that source, for two strategies |
//! | `trials` | when a strategy that is not the fastest is tried |
//! | `tuning` | all constants, and the measurements behind them |
#![forbid(unsafe_code)]

mod durations;
mod table;
#[cfg(test)]
mod tests;
mod trials;
mod tuning;

use crate::base::{Result, error, try_collect};
use durations::Durations;
use table::Recent;
use trials::Account;
use tuning::{CREDIT, LONGEST_SECONDS, MARGIN, SECOND_LOOK, UNKNOWN};

/// Most strategies.
pub const MAX_STRATEGIES: usize = 64;

/// How strategies are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// The fastest strategy, and trials that are paid from accounts. Default.
    #[default]
    Accounts,
    /// At random, with shares from a table of how much faster one of two strategies is: 5 to 95 %. It reacts slowly, and
    /// costs 13 % of the time if one strategy is four times as slow.
    Table,
}

/// Options of a balance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Number of strategies: 2 to [`MAX_STRATEGIES`]; 2 for [`Policy::Table`].
    pub strategies: usize,
    /// How they are chosen.
    pub policy: Policy,
    /// Share of the time that trials may cost, above 0 and at most 1. Default: 0.015.
    pub trial_share: f64,
    /// Seed of the random numbers. The same seed and the same calls give the same choices.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { strategies: 2, policy: Policy::default(), trial_share: 0.015, seed: 0 }
    }
}

/// A strategy as it was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Strategy {
    /// How often it was chosen.
    pub chosen: u64,
    /// Durations measured.
    pub measured: u64,
    /// Durations that were no durations: negative, zero, not finite, or longer than an hour.
    pub ignored: u64,
    /// How often its durations changed.
    pub changes: u64,
    /// Mean of its recent durations, in seconds. 0: it was not measured.
    pub mean: f64,
    /// Their standard deviation, in seconds.
    pub deviation: f64,
}

#[derive(Clone, Debug, Default)]
struct Arm {
    durations: Durations,
    recent: Recent,
    account: Account,
    chosen: u64,
    ignored: u64,
    changes: u64,
}

impl Arm {
    /// The time that a trial takes longer than the fastest strategy. An uncertain mean is taken at its lower end, but never at less
    /// than half: a strategy that may be the fastest is tried often, until it is known.
    fn trial_cost(&self, least: f64) -> f64 {
        if self.durations.is_empty() {
            // It may cost anything.
            return UNKNOWN * least;
        }
        let cost = (self.durations.mean() - least).max(0.0);
        cost - self.durations.error().min(cost / 2.0)
    }
}

/// Chooses among strategies. See the [module](self).
#[derive(Debug)]
pub struct Balance {
    options: Options,
    arms: Vec<Arm>,
    random: Random,
    /// Choices made.
    decision: u64,
    /// The fastest strategy, when one was measured.
    fastest: Option<usize>,
}

/// SplitMix64 of G. Steele, D. Lea and C. Flood (2014).
#[derive(Clone, Copy, Debug)]
struct Random(u64);

impl Random {
    /// A number from 0 to 1, without 1.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl Balance {
    /// A balance that has measured nothing.
    pub fn new(options: Options) -> Result<Self> {
        let Options { strategies, policy, trial_share, seed } = options;
        if !(2..=MAX_STRATEGIES).contains(&strategies) {
            return Err(error!(InvalidArgument, "{strategies} strategies: use 2 to {MAX_STRATEGIES}"));
        }
        if policy == Policy::Table && strategies != 2 {
            return Err(error!(InvalidArgument, "the table is for 2 strategies, and there are {strategies}"));
        }
        if !(trial_share > 0.0 && trial_share <= 1.0) {
            return Err(error!(
                InvalidArgument,
                "the share of trials is {trial_share}: use a share above 0 and up to 1"
            ));
        }
        let arms = try_collect((0..strategies).map(|_| Arm::default()))?;
        Ok(Self { options, arms, random: Random(seed), decision: 0, fastest: None })
    }

    /// The strategy for the next piece of work.
    pub fn choose(&mut self) -> usize {
        self.decision += 1;
        let chosen = match self.options.policy {
            Policy::Accounts => self.choose_by_account(),
            Policy::Table => {
                usize::from(self.random.unit() >= table::share(&self.arms[0].recent, &self.arms[1].recent))
            }
        };
        let arm = &mut self.arms[chosen];
        arm.chosen += 1;
        arm.account.tried(self.decision);
        chosen
    }

    fn choose_by_account(&mut self) -> usize {
        // Nothing was measured yet: each in turn.
        let turn = (self.decision - 1) % self.arms.len() as u64;
        if let Some(first) = self.first_look().or(self.fastest.is_none().then_some(turn as usize)) {
            self.arms[first].account.owe();
            return first;
        }
        let Some(fastest) = self.fastest else { return 0 };
        let least = self.arms[fastest].durations.mean();
        let part = self.options.trial_share * least / (self.arms.len() - 1) as f64;
        let mut due: Option<(usize, u64)> = None;
        for (at, arm) in self.arms.iter_mut().enumerate().filter(|(at, _)| *at != fastest) {
            let cost = arm.trial_cost(least);
            if !arm.durations.is_empty() {
                arm.account.settle(cost, CREDIT * least);
            }
            arm.account.earn(part, cost);
            let waited = self.decision - arm.account.last_trial();
            // The strategy that waited longest comes first.
            if arm.account.is_due(cost, CREDIT * least, self.decision) && due.is_none_or(|(_, most)| waited > most) {
                due = Some((at, waited));
            }
        }
        let Some((at, _)) = due else { return fastest };
        let jitter = 0.5 + self.random.unit();
        let arm = &mut self.arms[at];
        arm.account.pay(arm.trial_cost(least), jitter);
        at
    }

    /// A strategy that was not looked at enough yet: each is chosen once, and twice unless it is much slower.
    fn first_look(&self) -> Option<usize> {
        if let Some(never) = self.arms.iter().position(|arm| arm.chosen == 0) {
            return Some(never);
        }
        let least = self.arms[self.fastest?].durations.mean();
        let is_unsure =
            |arm: &Arm| arm.chosen < 2 && !arm.durations.is_empty() && arm.durations.mean() < SECOND_LOOK * least;
        self.arms.iter().position(is_unsure)
    }

    /// Report how long a piece of work took with a strategy, in seconds. Durations may arrive late and in any order. False
    /// if it is no duration: it is ignored and counted.
    pub fn measure(&mut self, strategy: usize, seconds: f64) -> Result<bool> {
        let count = self.arms.len();
        let Some(arm) = self.arms.get_mut(strategy) else {
            return Err(error!(InvalidArgument, "strategy {strategy} does not exist: there are {count}"));
        };
        if !(seconds > 0.0 && seconds <= LONGEST_SECONDS) {
            arm.ignored += 1;
            return Ok(false);
        }
        arm.recent.add(seconds);
        let was = arm.durations.is_surprised();
        let has_changed = arm.durations.add(seconds);
        arm.changes += u64::from(has_changed);
        if self.fastest != Some(strategy) && !was && arm.durations.is_surprised() {
            arm.account.look_again();
        }
        if self.fastest == Some(strategy) && has_changed {
            let others = self.arms.iter_mut().enumerate().filter(|(at, _)| *at != strategy);
            for (_, arm) in others {
                arm.durations.doubt();
                arm.account.look_again();
            }
        }
        self.find_fastest();
        Ok(true)
    }

    /// The strategy with the least mean. The present one stays if another is faster by less than the margin.
    fn find_fastest(&mut self) {
        let mean = |at: usize| self.arms[at].durations.mean();
        let measured = (0..self.arms.len()).filter(|&at| !self.arms[at].durations.is_empty());
        let Some(least) = measured.min_by(|&one, &other| mean(one).total_cmp(&mean(other))) else { return };
        self.fastest = match self.fastest {
            Some(present) if mean(present) * (1.0 - MARGIN) <= mean(least) => Some(present),
            _ => Some(least),
        };
    }

    /// All durations are out of date, as after a cut: every strategy is tried soon.
    pub fn restart(&mut self) {
        for arm in &mut self.arms {
            arm.durations.doubt();
            arm.recent = Recent::default();
            arm.account.look_again();
        }
    }

    /// The strategy that is the fastest as far as is known.
    pub fn fastest(&self) -> Option<usize> {
        self.fastest
    }

    /// A strategy as it was measured. `None`: it does not exist.
    pub fn strategy(&self, at: usize) -> Option<Strategy> {
        let Arm { durations, chosen, ignored, changes, .. } = self.arms.get(at)?;
        let (mean, deviation) = (durations.mean(), durations.deviation());
        let (chosen, ignored, changes) = (*chosen, *ignored, *changes);
        Some(Strategy { chosen, measured: durations.measured(), ignored, changes, mean, deviation })
    }
}
