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
//! durations belong to another scene. A strategy that loses its place is tried twice more, some decisions later and on
//! credit: perhaps only a hitch of several pieces of work made it slow.
//!
//! In the beginning and after a restart, each strategy is chosen twice. The first duration is often longer, because
//! caches are cold.
//!
//! Invariants:
//! 1. Choices are a function of the options and the calls before, so that a [recording](Recorded) can be [repeated](replay).
//! 2. Trials cost at most the share, plus a bounded credit.
//! 3. No call allocates after [`Balance::new`].
//!
//! Sources: the problem and the table of [`Policy::Table`] are from "High Framerate Perception" (N. Cano). The detector of
//! changes is the two-sided CUSUM of E. S. Page, "Continuous inspection schemes" (1954).
//!
//! | file | content |
//! |---|---|
//! | `durations` | mean and deviation of a strategy's durations, and whether they changed |
//! | `record` | recordings of calls, and their replay |
//! | `table` | the table of that source, for two strategies |
//! | `trials` | when a strategy that is not the fastest is tried |
//! | `tuning` | all constants, and the measurements behind them |
#![forbid(unsafe_code)]

mod durations;
mod record;
#[cfg(test)]
mod record_test;
mod table;
#[cfg(test)]
mod tests;
mod trials;
mod tuning;

use crate::base::{Error, Result, error, fault_point, try_collect};
use durations::{Durations, Finding};
pub use record::{Difference, End, Recorded, Report, replay};
use table::Recent;
use trials::Account;
use tuning::{CREDIT, LONGEST_SECONDS, MARGIN, UNKNOWN};

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
    /// Number of strategies: 1 to [`MAX_STRATEGIES`]; 2 for [`Policy::Table`].
    pub strategies: usize,
    /// How they are chosen.
    pub policy: Policy,
    /// Share of the time that trials may cost, above 0 and at most 1. Default: 0.015.
    pub trial_share: f64,
    /// Seed of the random numbers. The same seed and the same calls give the same choices.
    pub seed: u64,
}

impl Options {
    /// The default of [`Options::trial_share`].
    pub const TRIAL_SHARE: f64 = 0.015;
}

impl Default for Options {
    fn default() -> Self {
        Self { strategies: 2, policy: Policy::default(), trial_share: Self::TRIAL_SHARE, seed: 0 }
    }
}

/// A strategy as it was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Strategy {
    /// How often it was chosen.
    pub chosen: u64,
    /// Durations measured.
    pub measured: u64,
    /// Durations that were ignored: negative, zero, not finite, or longer than an hour.
    pub ignored: u64,
    /// How often its durations changed.
    pub changes: u64,
    /// Share of the last [`SHARE_OF`] choices since the last restart.
    pub share: f64,
    /// Mean of its recent durations, in seconds. 0: it was not measured since the last restart.
    pub mean: f64,
    /// Their standard deviation, in seconds.
    pub deviation: f64,
}

/// Counts since the creation.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    chosen: u64,
    measured: u64,
    ignored: u64,
    changes: u64,
}

#[derive(Clone, Debug, Default)]
struct Arm {
    durations: Durations,
    recent: Recent,
    account: Account,
    counts: Counts,
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

/// Choices that a [share](Strategy::share) is of.
pub const SHARE_OF: usize = 128;

/// The last choices, as a ring.
#[derive(Debug)]
struct LastChoices {
    chosen: [u8; SHARE_OF],
    count: u64,
}

impl LastChoices {
    const NONE: Self = Self { chosen: [0; SHARE_OF], count: 0 };

    fn add(&mut self, strategy: usize) {
        self.chosen[(self.count % SHARE_OF as u64) as usize] = strategy as u8;
        self.count += 1;
    }

    fn share(&self, strategy: usize) -> f64 {
        let there = &self.chosen[..self.count.min(SHARE_OF as u64) as usize];
        let of_it = there.iter().filter(|&&chosen| usize::from(chosen) == strategy).count();
        of_it as f64 / there.len().max(1) as f64
    }
}

/// Chooses among strategies. See the [module](self).
#[derive(Debug)]
pub struct Balance {
    options: Options,
    arms: Vec<Arm>,
    random: Random,
    /// The fastest strategy, when one was measured.
    fastest: Option<usize>,
    /// Choices since the last restart.
    last: LastChoices,
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
        if !(1..=MAX_STRATEGIES).contains(&strategies) {
            return Err(error!(InvalidArgument, "{strategies} strategies: use 1 to {MAX_STRATEGIES}"));
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
        Ok(Self { options, arms, random: Random(seed), fastest: None, last: LastChoices::NONE })
    }

    /// The strategy for the next piece of work.
    pub fn choose(&mut self) -> usize {
        let chosen = match self.options.policy {
            Policy::Accounts => self.choose_by_account(),
            Policy::Table => {
                usize::from(self.random.unit() >= table::share(&self.arms[0].recent, &self.arms[1].recent))
            }
        };
        self.last.add(chosen);
        let arm = &mut self.arms[chosen];
        arm.counts.chosen += 1;
        arm.account.tried(self.last.count);
        chosen
    }

    fn choose_by_account(&mut self) -> usize {
        // While nothing is measured, each in turn.
        let turn = (self.last.count % self.arms.len() as u64) as usize;
        let (Some(fastest), None) = (self.fastest, self.first_look()) else {
            let first = self.first_look().unwrap_or(turn);
            self.arms[first].account.owe();
            return first;
        };
        let decision = self.last.count + 1;
        let least = self.arms[fastest].durations.mean();
        let part = self.options.trial_share * least / (self.arms.len() - 1).max(1) as f64;
        self.arms[fastest].account.settle(0.0, 0.0);
        let mut due: Option<(usize, u64)> = None;
        for (at, arm) in self.arms.iter_mut().enumerate().filter(|(at, _)| *at != fastest) {
            let cost = arm.trial_cost(least);
            if !arm.durations.is_empty() {
                arm.account.settle(cost, CREDIT * least);
            }
            arm.account.earn(part, cost, CREDIT * least);
            let waited = decision - arm.account.last_trial();
            // The strategy that waited longest comes first.
            if arm.account.is_due(cost, CREDIT * least, decision) && due.is_none_or(|(_, most)| waited > most) {
                due = Some((at, waited));
            }
        }
        let Some((at, _)) = due else { return fastest };
        let jitter = 0.5 + self.random.unit();
        let arm = &mut self.arms[at];
        arm.account.pay(arm.trial_cost(least), jitter);
        at
    }

    /// A strategy that was not chosen twice yet.
    fn first_look(&self) -> Option<usize> {
        let chosen = |times: u32| self.arms.iter().position(|arm| arm.account.tries() == times);
        chosen(0).or_else(|| chosen(1))
    }

    /// Report how long a piece of work took with a strategy, in seconds. Durations may arrive late and in any order.
    /// False if it is zero or longer than an hour: it is ignored and counted. So is an invalid one, with an error.
    pub fn measure(&mut self, strategy: usize, seconds: f64) -> Result<bool> {
        let count = self.arms.len();
        let Some(arm) = self.arms.get_mut(strategy) else {
            return Err(no_strategy(strategy, count));
        };
        if !(seconds > 0.0 && seconds <= LONGEST_SECONDS) {
            arm.counts.ignored += 1;
            return if seconds >= 0.0 && seconds.is_finite() { Ok(false) } else { Err(no_duration(seconds)) };
        }
        arm.recent.add(seconds);
        let was = arm.durations.is_surprised();
        let finding = arm.durations.add(seconds);
        arm.counts.measured += 1;
        arm.counts.changes += u64::from(finding == Finding::Change);
        let is_fastest = self.fastest == Some(strategy);
        if !is_fastest && !was && arm.durations.is_surprised() {
            arm.account.look_again();
        }
        let others = self.arms.iter_mut().enumerate().filter(|(at, _)| *at != strategy);
        match finding {
            Finding::Change if is_fastest => others.for_each(|(_, arm)| {
                arm.durations.doubt();
                arm.account.look_again();
            }),
            Finding::HitchEnd => others.filter(|(_, arm)| arm.durations.is_doubtful()).for_each(|(_, arm)| {
                arm.durations.trust();
                arm.account.look_no_more();
            }),
            _ => {}
        }
        // It is slower than before, not another one faster.
        if self.find_fastest() == Some(strategy) {
            self.arms[strategy].account.look_later();
        }
        Ok(true)
    }

    /// Find the strategy with the least mean. The present one stays if another is faster by less than the margin. Returns
    /// the strategy that lost its place.
    fn find_fastest(&mut self) -> Option<usize> {
        let mean = |at: usize| self.arms[at].durations.mean();
        let measured = (0..self.arms.len()).filter(|&at| !self.arms[at].durations.is_empty());
        let least = measured.min_by(|&one, &other| mean(one).total_cmp(&mean(other)))?;
        let present = self.fastest;
        if present.is_none_or(|present| mean(least) < mean(present) * (1.0 - MARGIN)) {
            self.fastest = Some(least);
            return present;
        }
        None
    }

    /// Forget all durations, as after a cut: every strategy is chosen twice, as in the beginning. Counts and random numbers
    /// go on.
    pub fn restart(&mut self) {
        fault_point!("balance.restart");
        for arm in &mut self.arms {
            *arm = Arm { counts: arm.counts, ..Arm::default() };
        }
        self.fastest = None;
        self.last = LastChoices::NONE;
    }

    /// The number of strategies.
    pub fn strategies(&self) -> usize {
        self.arms.len()
    }

    /// The strategy that is the fastest as far as is known.
    pub fn fastest(&self) -> Option<usize> {
        self.fastest
    }

    /// A strategy as it was measured. `None`: it does not exist.
    pub fn strategy(&self, at: usize) -> Option<Strategy> {
        let Arm { durations, counts: Counts { chosen, measured, ignored, changes }, .. } = self.arms.get(at)?;
        Some(Strategy {
            chosen: *chosen,
            measured: *measured,
            ignored: *ignored,
            changes: *changes,
            share: self.last.share(at),
            mean: durations.mean(),
            deviation: durations.deviation(),
        })
    }
}

#[cold]
fn no_strategy(strategy: usize, count: usize) -> Error {
    error!(NotFound, "strategy {strategy} does not exist: there are {count}, counted from 0")
}

#[cold]
fn no_duration(seconds: f64) -> Error {
    error!(InvalidArgument, "invalid duration of {seconds} seconds: it must be finite and not negative")
}
