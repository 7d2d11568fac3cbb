//! Strategies: other limits, values and work for the same settings, such as 30, 60 and 90 frames a second.
//!
//! Every frame the best choice under each strategy is found. The net value of a strategy is the value of its best
//! choice plus its own *incentive*; the highest net value wins. As with single settings, the signed gain of another
//! strategy is summed. It takes over when the sum reaches `patience` times the difference between the highest and the
//! lightest value. It takes over at once if only it fits.

use crate::base::Number;
use crate::base::{Error, Result, error};

use super::formulate::weigh;
use super::setting::{Setting, check_value};
use crate::base::Id;
use crate::goblin::config::{Config, LANES, LARGEST};
use crate::goblin::core::{Core, no_such_option};

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

impl Own {
    fn key(&self) -> (u32, What, u32) {
        (self.position, self.what, self.option)
    }
}

#[derive(Debug)]
struct Strategy {
    desc: StrategyDesc,
    /// Ordered by key.
    own: Vec<Own>,
    /// Net value of the last decision.
    net: f64,
}

/// All strategies. Number 0 is the configuration; it always exists.
#[derive(Debug, Default)]
pub struct Strategies {
    incentive: f64,
    others: Vec<Strategy>,
    active: usize,
    /// The strategy that may take over, and its summed gain.
    rival: usize,
    sum: f64,
}

/// Most strategies in addition to the configuration's.
const MOST: usize = 15;

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
        self.own(self.active, position, What::Value, option as u32).unwrap_or(setting.options[option].desc.value)
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

impl Core {
    pub(in crate::goblin) fn add_strategy(&mut self, desc: &StrategyDesc) -> Result<usize> {
        check(desc, self.is_replay)?;
        if self.strategies.others.len() == MOST {
            return Err(error!(LimitExceeded, "there are {MOST} strategies in addition to the first already"));
        }
        self.strategies.others.try_reserve(1)?;
        let config = self.config;
        let lanes = self.lanes_with(&config, Some(&desc.limits));
        self.govern(lanes)?;
        self.strategies.others.push(Strategy { desc: *desc, own: Vec::new(), net: 0.0 });
        Ok(self.strategies.others.len())
    }

    pub(in crate::goblin) fn set_strategy(&mut self, strategy: usize, desc: &StrategyDesc) -> Result<()> {
        check(desc, self.is_replay)?;
        if strategy == 0 && desc.limits.iter().any(|limit| *limit != f64::INFINITY) {
            return Err(error!(InvalidArgument, "the limits of strategy 0 are the goblin's own: configure the goblin"));
        }
        if strategy == 0 {
            self.strategies.incentive = desc.incentive;
            return Ok(());
        }
        self.check_strategy(strategy)?;
        let config = self.config;
        let lanes = self.lanes_with(&config, Some(&desc.limits));
        self.govern(lanes)?;
        self.strategies.others[strategy - 1].desc = *desc;
        Ok(())
    }

    pub(in crate::goblin) fn set_strategy_value(
        &mut self,
        strategy: usize,
        id: Id,
        option: u32,
        value: f64,
    ) -> Result<()> {
        let position = self.position_of_option(id, option)?;
        check_value(option as usize, value)?;
        self.strategies.set_own(strategy, position, What::Value, option, value)?;
        Ok(())
    }

    pub(in crate::goblin) fn set_strategy_work(&mut self, strategy: usize, id: Id, factor: f64) -> Result<()> {
        let position = self.position(id)?;
        super::setting::check_work(factor)?;
        self.strategies.set_own(strategy, position, What::Work, WHOLE, factor)?;
        Ok(())
    }

    pub(in crate::goblin) fn set_strategy_option_work(
        &mut self,
        strategy: usize,
        id: Id,
        option: u32,
        factor: f64,
    ) -> Result<()> {
        let position = self.position_of_option(id, option)?;
        super::setting::check_work(factor)?;
        self.strategies.set_own(strategy, position, What::Work, option, factor)?;
        Ok(())
    }

    fn position_of_option(&self, id: Id, option: u32) -> Result<usize> {
        let position = self.position(id)?;
        let count = self.setting(position).options.len();
        if (option as usize) < count { Ok(position) } else { Err(no_such_option(option, count)) }
    }

    /// The net value of a strategy's best choice in the last decision; only known with more than one strategy.
    pub fn strategy_net(&self, strategy: usize) -> Result<f64> {
        self.check_strategy(strategy)?;
        Ok(if strategy == 0 { self.net_of_first } else { self.strategies.others[strategy - 1].net })
    }

    fn check_strategy(&self, strategy: usize) -> Result<()> {
        let count = self.strategies.count();
        if strategy < count { Ok(()) } else { Err(no_such_strategy(strategy, count)) }
    }

    /// Choose the active strategy. Returns whether it changed.
    pub(in crate::goblin) fn choose_strategy(&mut self) -> Result<bool> {
        if self.strategies.count() == 1 {
            return Ok(false);
        }
        let before = self.strategies.active;
        let (mut best, mut best_rank) = (before, (false, f64::NEG_INFINITY));
        let (mut before_rank, mut rival_rank, mut range) = (best_rank, best_rank, 0.0);
        for strategy in 0..self.strategies.count() {
            self.strategies.active = strategy;
            let (rank, net, span) = match self.rank() {
                Ok(found) => found,
                Err(error) => {
                    self.strategies.active = before;
                    return Err(error);
                }
            };
            match strategy {
                0 => self.net_of_first = net,
                other => self.strategies.others[other - 1].net = net,
            }
            if strategy == before {
                (before_rank, range) = (rank, span);
            }
            if strategy == self.strategies.rival {
                rival_rank = rank;
            }
            if rank > best_rank || (rank == best_rank && strategy == before) {
                (best, best_rank) = (strategy, rank);
            }
        }
        if best != before {
            (self.strategies.rival, rival_rank) = (best, best_rank);
        }
        self.strategies.add_up(before_rank, rival_rank);
        let must = best_rank.0 && !before_rank.0;
        let wins = best != before && (must || self.strategies.sum >= self.config.patience * range);
        if wins {
            self.strategies.sum = 0.0;
        }
        self.strategies.active = if wins { best } else { before };
        Ok(wins)
    }

    /// The rank, the net value and the range of values of the active strategy. The rank is whether its best choice
    /// fits, then its net value, or minus its relative excess if it does not fit.
    fn rank(&mut self) -> Result<((bool, f64), f64, f64)> {
        self.formulate();
        let (lightest, highest) = self.nets();
        let economies = self.economies(&lightest, &highest);
        self.weigh_beside(&economies);
        let economies = &economies[..self.lanes.count()];
        let effort = self.effort();
        self.formulation.solve(economies, effort, 0.0)?;
        let weighed = weigh(&self.formulation.sum(&self.formulation.found), economies);
        let incentive = match self.strategies.active {
            0 => self.strategies.incentive,
            other => self.strategies.others[other - 1].desc.incentive,
        };
        let net = weighed.sum.value + incentive;
        let score = if weighed.feasible { net } else { -weighed.worst_excess(economies) };
        Ok(((weighed.feasible, score), net, highest.value - lightest.value))
    }
}

fn no_such_strategy(strategy: usize, count: usize) -> Error {
    error!(NotFound, "strategy {strategy} does not exist: there are {count}")
}

fn check(desc: &StrategyDesc, is_replay: bool) -> Result<()> {
    crate::goblin::config::check_limits(&desc.limits, is_replay)?;
    if desc.incentive.abs() <= LARGEST {
        return Ok(());
    }
    let (incentive, most) = (Number(desc.incentive), Number(LARGEST));
    Err(error!(InvalidArgument, "incentive {incentive} must be a number from -{most:e} to {most:e}"))
}
