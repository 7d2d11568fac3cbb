//! The rooms of a goblin, and what concerns all of them: the parameters, the governed lanes and memory.

use super::choose::Choose;
use super::config::{Burdens, Config, LANES};
use super::decision::Decision;
use super::errors::no_such_setting;
use super::explore::Explorer;
use super::lanes::Lanes;
use super::learn::Learn;
use super::published::Published;
use super::question::Question;
use super::warnings::Warnings;
use crate::base::{Id, Result, Shared, error};
use crate::profile::Profile;

/// The goblin without its recorder.
#[derive(Debug)]
pub struct Core {
    pub(super) config: Config,
    pub(super) lanes: Lanes,
    pub(super) learn: Learn,
    pub(super) question: Question,
    pub(super) choose: Choose,
    pub(super) explore: Explorer,
    /// The latest decision.
    pub(super) decision: Decision,
    pub(super) published: Shared<Published>,
    pub(super) warnings: Warnings,
    /// Repeats a recorded run: accepts all recorded input, and logs no warnings.
    pub(super) is_replay: bool,
}

impl Core {
    /// A goblin without settings.
    pub(super) fn new(config: &Config, is_replay: bool) -> Result<Self> {
        config.check(is_replay)?;
        let lanes = Lanes::limited(|lane| config.limits[lane].is_finite());
        let mut question = Question::default();
        question.formulation.reserve(0, 0, 0, lanes.count())?;
        Ok(Self {
            config: *config,
            lanes,
            learn: Learn::new(config.history as usize, lanes.count())?,
            question,
            choose: Choose::default(),
            explore: Explorer::default(),
            decision: Decision::default(),
            published: Shared::try_new(Published::new(config.history as usize)?)?,
            warnings: Warnings::default(),
            is_replay,
        })
    }

    pub(super) fn configure(&mut self, config: &Config) -> Result<()> {
        config.check(self.is_replay)?;
        let lanes = self.lanes_with(config, None);
        let (depth, positions) = (config.history as usize, self.positions());
        let wanted = self.learn.history.memory_wanted(depth, positions, lanes.count());
        self.check_memory(wanted + self.published.memory_wanted(depth, positions), config.memory_limit)?;
        let mut regression = None;
        if config.burdens == Burdens::Totals && self.config.burdens != Burdens::Totals {
            for (position, setting) in self.question.settings.iter() {
                let present = regression.as_ref().unwrap_or(&self.learn.regression);
                regression = Some(present.with_options(position, &setting.options)?);
            }
        }
        self.published.reserve(depth, positions)?;
        if lanes != self.lanes {
            self.govern_with(lanes, depth)?;
        } else {
            self.learn.history.resize(depth, positions, lanes.count())?;
        }
        // Nothing below can fail.
        self.learn.replace_regression(regression);
        if config.limits != self.config.limits {
            self.choose.target.unsettle(self.latest_decision());
        }
        self.config = *config;
        self.published.set_depth(depth);
        Ok(())
    }

    /// The lanes with a limit in this configuration, a strategy, or `another`; the present lanes if no lane has one.
    fn lanes_with(&self, config: &Config, another: Option<&[f64; LANES]>) -> Lanes {
        let is_limited = |lane: usize| {
            config.limits[lane].is_finite()
                || self.question.strategies.limit_lane(lane)
                || another.is_some_and(|limits| limits[lane].is_finite())
        };
        // Estimates are kept in case the limit returns.
        if (0..LANES).any(is_limited) { Lanes::limited(is_limited) } else { self.lanes }
    }

    /// Govern the lanes with these limits, too. On an error nothing changed.
    pub(super) fn govern_also(&mut self, limits: &[f64; LANES]) -> Result<()> {
        let lanes = self.lanes_with(&self.config, Some(limits));
        if lanes == self.lanes { Ok(()) } else { self.govern_with(lanes, self.config.history as usize) }
    }

    fn govern_with(&mut self, lanes: Lanes, depth: usize) -> Result<()> {
        let question = &mut self.question;
        let widest = question.widest();
        question.formulation.reserve(question.settings.len(), question.option_count, widest, lanes.count())?;
        self.learn.set_lanes(&self.lanes, &lanes, depth, question.settings.positions())?;
        // Nothing below can fail.
        self.choose.change_lanes();
        for lane in lanes.iter().filter(|&lane| self.lanes.index(lane).is_none()) {
            self.warnings.govern(lane, self.learn.history.latest() + 1);
            // Nothing is known of the burdens on it.
            self.choose.pace.learn_again(self.learn.history.latest(), self.config.learning_decisions());
        }
        self.lanes = lanes;
        self.learn.refresh_ratios(&self.config);
        Ok(())
    }

    pub(super) fn set_past_profile(&mut self, profile: &Profile) -> Result<()> {
        self.check_memory(2 * profile.memory_used(), self.config.memory_limit)?;
        let past = profile.try_clone()?;
        let estimates = self.learn.tasks.estimates_on(&self.lanes, &self.lanes, &past)?;
        self.learn.tasks.replace(estimates);
        self.learn.past = past;
        self.learn.refresh_ratios(&self.config);
        Ok(())
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        size_of::<Self>()
            + self.learn.memory_used()
            + self.question.memory_used()
            + self.choose.memory_used()
            + self.explore.memory_used(&self.question)
            + self.published.memory_used()
    }

    /// The position of a setting.
    pub(super) fn position(&self, id: Id) -> Result<usize> {
        self.question.settings.position(id).ok_or_else(no_such_setting)
    }

    /// Fail if `wanted` more bytes exceed the memory limit.
    pub(super) fn check_memory(&self, wanted: usize, limit: u64) -> Result<()> {
        let used = self.memory_used();
        if wanted > 0 && (used as u64).saturating_add(wanted as u64) > limit {
            return Err(error!(
                LimitExceeded,
                "{used} bytes are used and this may take {wanted} more, beyond the memory limit of {limit}: raise it"
            ));
        }
        Ok(())
    }
}
