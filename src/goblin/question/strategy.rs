//! Strategies: other limits, values and work for the same settings, such as 30, 60 and 90 frames a second.
//!
//! Every frame the best choice under each strategy is found. The net value of a strategy is the value of its best
//! choice plus its own *incentive*; the highest net value wins. As with single settings, the signed gain of another
//! strategy is summed. It takes over when the sum reaches `patience` times the difference between the highest and the
//! lightest value. It takes over at once if only it fits.

use super::setting::Setting;
use crate::base::{Error, Number, Result, error};
use crate::goblin::config::{Config, LANES, LARGEST, check_limits};

/// A strategy as the host describes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StrategyDesc {
    /// Its limits, by the host's lane.
    pub limits: [f64; LANES],
    /// Its value in addition to that of its choices.
    pub incentive: f64,
}

/// A strategy's own number for an option, or for a whole setting.
#[derive(Clone, Copy, Debug)]
struct Own {
    position: u32,
    what: What,
    /// [`WHOLE`] for the setting.
    option: u32,
    number: f64,
}

/// The meaning of a number: the value of an option, or a factor on work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Value,
    Work,
}

const WHOLE: u32 = u32::MAX;
/// Most strategies in addition to the configuration's.
const MOST: usize = 15;
/// Most strategies.
pub const MOST_STRATEGIES: usize = 1 + MOST;

impl Own {
    fn key(&self) -> (u32, What, u32) {
        (self.position, self.what, self.option)
    }
}

/// An added strategy.
#[derive(Debug)]
struct Strategy {
    desc: StrategyDesc,
    /// Ordered by key.
    own: Vec<Own>,
}

/// How good the best choice under a strategy is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rank {
    /// Whether it fits.
    pub fits: bool,
    /// Its net value if it fits; otherwise minus its relative excess.
    pub score: f64,
    /// Its net value.
    pub net: f64,
    /// The difference between the highest and the lightest value.
    pub range: f64,
}

impl Rank {
    fn key(&self) -> (bool, f64) {
        (self.fits, self.score)
    }
}

/// All strategies. Number 0 is the configuration; it always exists.
#[derive(Debug, Default)]
pub struct Strategies {
    incentive: f64,
    others: Vec<Strategy>,
    /// Net values in the last decision, by strategy.
    nets: [f64; MOST_STRATEGIES],
    active: usize,
    /// The strategy that may take over, and its summed gain.
    rival: usize,
    sum: f64,
}

impl Strategies {
    /// Number of strategies; 1 if the host has added none.
    pub fn count(&self) -> usize {
        1 + self.others.len()
    }

    /// The active strategy.
    pub fn active(&self) -> usize {
        self.active
    }

    /// The limits of the active strategy.
    pub fn limits<'a>(&'a self, config: &'a Config) -> &'a [f64; LANES] {
        match self.active {
            0 => &config.limits,
            other => &self.others[other - 1].desc.limits,
        }
    }

    /// Whether a lane has a limit in an added strategy.
    pub fn limit_lane(&self, lane: usize) -> bool {
        self.others.iter().any(|strategy| strategy.desc.limits[lane].is_finite())
    }

    /// The value of an option under the active strategy.
    pub fn value_of(&self, setting: &Setting, position: usize, option: usize) -> f64 {
        self.own(self.active, position, What::Value, option as u32).unwrap_or(setting.options[option].value)
    }

    /// The factor on an option's work under the active strategy.
    pub fn work(&self, position: usize, option: usize) -> f64 {
        self.work_under(self.active, position, option)
    }

    /// The factor on an option's work under a strategy: that of the setting times that of the option.
    pub fn work_under(&self, strategy: usize, position: usize, option: usize) -> f64 {
        if strategy == 0 {
            return 1.0;
        }
        let factor = |option| self.own(strategy, position, What::Work, option).unwrap_or(1.0);
        factor(WHOLE) * factor(option as u32)
    }

    fn own(&self, strategy: usize, position: usize, what: What, option: u32) -> Option<f64> {
        let strategy = self.others.get(strategy.checked_sub(1)?)?;
        let at = strategy.own.binary_search_by_key(&(position as u32, what, option), Own::key).ok()?;
        Some(strategy.own[at].number)
    }

    fn set_own(&mut self, strategy: usize, position: usize, what: What, option: u32, number: f64) -> Result<()> {
        if strategy == 0 {
            return Err(error!(InvalidArgument, "strategy 0 has no values or works: change the setting"));
        }
        let count = self.count();
        let Some(strategy) = self.others.get_mut(strategy - 1) else {
            return Err(no_such_strategy(strategy, count));
        };
        let own = Own { position: position as u32, what, option, number };
        match strategy.own.binary_search_by_key(&own.key(), Own::key) {
            Ok(at) => strategy.own[at] = own,
            Err(at) => {
                strategy.own.try_reserve(1)?;
                strategy.own.insert(at, own);
            }
        }
        Ok(())
    }

    /// Drop all values and works of a setting that was removed or got other options.
    pub fn forget(&mut self, position: usize) {
        for strategy in &mut self.others {
            strategy.own.retain(|own| own.position != position as u32);
        }
    }

    /// Reserve memory for another strategy.
    pub fn reserve_one(&mut self) -> Result<()> {
        if self.others.len() == MOST {
            return Err(error!(LimitExceeded, "there are {MOST} strategies in addition to the first already"));
        }
        Ok(self.others.try_reserve(1)?)
    }

    /// Add a strategy; memory was reserved. Returns its number.
    pub fn add(&mut self, desc: &StrategyDesc) -> usize {
        self.others.push(Strategy { desc: *desc, own: Vec::new() });
        self.others.len()
    }

    /// Replace the limits and the incentive of a strategy that exists. Strategy 0 has its limits in the configuration.
    pub fn set(&mut self, strategy: usize, desc: &StrategyDesc) {
        match strategy {
            0 => self.incentive = desc.incentive,
            other => self.others[other - 1].desc = *desc,
        }
    }

    /// Set the value of an option under a strategy.
    pub fn set_value(&mut self, strategy: usize, position: usize, option: u32, value: f64) -> Result<()> {
        self.set_own(strategy, position, What::Value, option, value)
    }

    /// Set the factor on the work of an option, or of the whole setting, under a strategy.
    pub fn set_work(&mut self, strategy: usize, position: usize, option: Option<u32>, factor: f64) -> Result<()> {
        self.set_own(strategy, position, What::Work, option.unwrap_or(WHOLE), factor)
    }

    /// Reject a strategy that does not exist.
    pub fn check_exists(&self, strategy: usize) -> Result<()> {
        let count = self.count();
        if strategy < count { Ok(()) } else { Err(no_such_strategy(strategy, count)) }
    }

    /// Make a strategy that exists the active one.
    pub fn activate(&mut self, strategy: usize) {
        self.active = strategy;
    }

    /// Own value of the active strategy.
    pub fn incentive(&self) -> f64 {
        match self.active {
            0 => self.incentive,
            other => self.others[other - 1].desc.incentive,
        }
    }

    /// The net value of a strategy's best choice in the last decision.
    pub fn net(&self, strategy: usize) -> f64 {
        self.nets[strategy]
    }

    /// Choose the active strategy from the ranks of all. Returns whether it changed.
    pub fn choose(&mut self, ranks: &[Rank], patience: f64) -> bool {
        let before = self.active;
        let mut best = before;
        for (strategy, rank) in ranks.iter().enumerate() {
            self.nets[strategy] = rank.net;
            if rank.key() > ranks[best].key() {
                best = strategy;
            }
        }
        self.rival = if best == before { self.rival } else { best };
        self.add_up(ranks[before].key(), ranks[self.rival].key());
        let must = ranks[best].fits && !ranks[before].fits;
        let wins = best != before && (must || self.sum >= patience * ranks[before].range);
        if wins {
            self.sum = 0.0;
            self.active = best;
        }
        wins
    }

    /// Add the signed gain of the rival. The sum is reset if only the present strategy fits.
    fn add_up(&mut self, present: (bool, f64), rival: (bool, f64)) {
        let gained = if present.0 && !rival.0 { f64::NEG_INFINITY } else { rival.1 - present.1 };
        self.sum = (self.sum + gained).max(0.0);
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        let own = |strategy: &Strategy| strategy.own.capacity() * size_of::<Own>();
        self.others.capacity() * size_of::<Strategy>() + self.others.iter().map(own).sum::<usize>()
    }
}

fn no_such_strategy(strategy: usize, count: usize) -> Error {
    error!(NotFound, "strategy {strategy} does not exist: there are {count}")
}

/// Reject an invalid strategy.
pub fn check_strategy(desc: &StrategyDesc, is_replay: bool) -> Result<()> {
    check_limits(&desc.limits, is_replay)?;
    if desc.incentive.abs() <= LARGEST {
        return Ok(());
    }
    let (incentive, most) = (Number(desc.incentive), Number(LARGEST));
    Err(error!(InvalidArgument, "incentive {incentive} must be a number from -{most:e} to {most:e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rival_takes_over_once_its_summed_gain_has_paid_and_at_once_if_only_it_fits() {
        let mut strategies = Strategies::default();
        strategies.reserve_one().unwrap();
        strategies.add(&StrategyDesc { limits: [16.0; LANES], incentive: 0.0 });
        let rank = |score: f64| Rank { fits: true, score, net: score, range: 10.0 };
        // It gains 3 a frame, and the price is 10.
        let frame = (1..100).find(|_| strategies.choose(&[rank(5.0), rank(8.0)], 1.0));
        assert_eq!((frame, strategies.active()), (Some(4), 1));
        let misfit = Rank { fits: false, score: -0.1, ..rank(8.0) };
        assert!(strategies.choose(&[rank(1.0), misfit], 1.0));
        assert_eq!((strategies.active(), strategies.net(0), strategies.net(1)), (0, 1.0, 8.0));
    }
}
