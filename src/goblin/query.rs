//! The queries of the host. A query changes nothing.

use super::choose::reason::{Reason, Why};
use super::config::{Burdens, Config, LANES};
use super::core::Core;
use super::decision::Decision;
use super::errors::no_such_option;
use super::learn::harvest::{Sample, Statistics};
use super::published::Published;
use crate::base::{Id, Result, Shared, error, try_filled};
use crate::knapsack::NO_CHOICE;
use crate::profile::{Burden, Profile, estimate};

impl Core {
    /// The first governed lane, by the host's number.
    pub fn lane(&self) -> usize {
        self.lanes.lane(0)
    }

    /// Whether the host's lane is governed.
    pub fn governs(&self, lane: usize) -> bool {
        self.lanes.index(lane).is_some()
    }

    /// The present parameters.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The limits of the active strategy, by the host's lane.
    pub(super) fn limits(&self) -> &[f64; LANES] {
        self.question.strategies.limits(&self.config)
    }

    /// The reason for a setting's choice.
    pub fn reason(&self, id: Id) -> Result<Reason> {
        let position = self.position(id)?;
        let kept = &self.choose.kept[position];
        let (from, to, since) = (kept.settled, kept.choice, kept.changed);
        if !self.question.setting(position).enabled {
            return Ok(Reason { why: Why::Disabled, to, headroom: 0.0, gain: 0.0, ..kept.reason });
        }
        if from != to {
            let why = if kept.is_tried { Why::Trial } else { Why::MakesRoom };
            let lane = usize::from(kept.reason.lane);
            let headroom = self.decision.capacity[lane] - self.decision.burden[lane];
            return Ok(Reason { why, from, to, since, headroom, gain: 0.0, ..kept.reason });
        }
        Ok(kept.reason)
    }

    /// The choice of the latest decision for the setting; `None` for a setting without options.
    pub fn choice(&self, id: Id) -> Result<Option<u16>> {
        let choice = self.choose.kept[self.position(id)?].choice;
        Ok((choice != NO_CHOICE).then_some(choice))
    }

    /// The choice in force of the setting at a position; `NO_CHOICE` without one.
    pub(super) fn choice_at(&self, position: usize) -> u16 {
        self.question.settings.at(position).map_or(NO_CHOICE, |_| self.choose.kept[position].choice)
    }

    /// The choices of this goblin's decisions, for other threads to read at any time.
    pub fn published(&self) -> &Shared<Published> {
        &self.published
    }

    /// The id of the latest decision; 0 before the first.
    pub fn latest_decision(&self) -> u64 {
        self.learn.history.latest()
    }

    /// The latest decision.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// The active strategy.
    pub fn active_strategy(&self) -> usize {
        self.question.strategies.active()
    }

    /// Number of strategies; 1 if the host has added none.
    pub fn strategy_count(&self) -> usize {
        self.question.strategies.count()
    }

    /// The net value of a strategy's best choice in the last decision; only known with more than one strategy.
    pub fn strategy_net(&self, strategy: usize) -> Result<f64> {
        self.question.strategies.check_exists(strategy)?;
        Ok(self.question.strategies.net(strategy))
    }

    /// Number of settings.
    pub fn setting_count(&self) -> usize {
        self.question.settings.len()
    }

    /// The id of the setting at a position, if there is one. Positions are below [`Core::positions`]. Settings keep
    /// their position.
    pub fn id_at(&self, position: usize) -> Option<Id> {
        self.question.settings.at(position).map(|_| self.question.settings.id_at(position))
    }

    /// Upper bound of the positions of settings.
    pub fn positions(&self) -> usize {
        self.question.settings.positions()
    }

    /// Options of a setting.
    pub fn option_count(&self, id: Id) -> Result<usize> {
        Ok(self.question.setting(self.position(id)?).options.len())
    }

    /// The position of a setting that has the option.
    pub(super) fn position_of_option(&self, id: Id, option: u32) -> Result<usize> {
        let position = self.position(id)?;
        let count = self.question.setting(position).options.len();
        if (option as usize) < count { Ok(position) } else { Err(no_such_option(option, count)) }
    }

    /// Index of a product's choice on one of its axes.
    pub fn product_index(&self, id: Id, choice: u32, axis: u32) -> Result<u32> {
        let position = self.position_of_option(id, choice)?;
        self.question.setting(position).shape.index(choice, axis as usize)
    }

    /// The choice of a product with these indices, one per axis.
    pub fn product_choice(&self, id: Id, indices: &[u32]) -> Result<u32> {
        let shape = &self.question.setting(self.position(id)?).shape;
        if !shape.is_product() {
            return Err(error!(InvalidArgument, "the setting is not a product: it has no axes"));
        }
        shape.choice(indices)
    }

    /// Expected burden of an option on a lane now, for the setting's present work, and its number of samples in this
    /// run.
    pub fn estimate(&self, id: Id, option: u32, lane: usize) -> Result<(Burden, u64)> {
        let position = self.position_of_option(id, option)?;
        let Some(lane) = self.lanes.index(lane) else {
            return Err(error!(NotFound, "lane {lane} has no limit, so nothing is learned on it"));
        };
        let (setting, option) = (self.question.setting(position), option as usize);
        let work = setting.work_of(option) * self.question.strategies.work(position, option);
        let learn = &self.learn;
        if self.config.burdens == Burdens::Totals && lane == 0 {
            return Ok((learn.regression.burden(position, option, work), learn.books.statistics.totals));
        }
        let task = learn.tasks.at(setting.task);
        let learned = task.learned(lane);
        let mut burdens = try_filled(Burden::default(), learned.len())?;
        let rules = learn.rules(&self.config, lane);
        let ratio = learn.ratio_of(&rules, task, lane, learn.ratio_on(&self.config, lane));
        estimate(&rules, learned, task.past(lane), ratio, &mut burdens);
        let cell = setting.cell(option);
        let (slow, _) = learn.common_factors(&self.config);
        burdens[cell].normal = burdens[cell].normal.scaled(work * slow[lane]);
        Ok((burdens[cell], learned[cell].measured.count()))
    }

    /// Mean part of totals that the samples do not explain, on a lane; 0 while unknown.
    pub fn residual(&self, lane: usize) -> f64 {
        self.lanes.index(lane).map_or(0.0, |lane| self.learn.residual(lane))
    }

    /// Ratio of present to past burdens on the first governed lane; 1 while there is nothing to compare.
    pub fn ratio(&self) -> f64 {
        self.learn.ratio_on(&self.config, 0)
    }

    /// The measured costs per unit of work: this run's samples, unchanged, and for options without samples the past
    /// estimates, scaled to this machine. All other past estimates are kept.
    pub fn profile(&self) -> Result<Profile> {
        self.learn.profile(&self.config, &self.lanes)
    }

    /// Whether [`Goblin::measure`](super::Goblin::measure) would accept the sample.
    pub fn can_measure(&self, id: Id, sample: &Sample) -> bool {
        let learn = &self.learn;
        let decision = learn.decision_of(sample.decision);
        let is_known = sample.is_valid() && learn.history.remembers(decision);
        let Some(position) = self.question.settings.position(id).filter(|_| is_known) else { return false };
        decision >= learn.sampled[position].valid_from && learn.history.given(decision, position).choice != NO_CHOICE
    }

    /// Counts of the samples so far.
    pub fn statistics(&self) -> &Statistics {
        &self.learn.books.statistics
    }
}
