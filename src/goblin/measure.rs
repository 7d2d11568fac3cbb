//! The first half of a frame: samples are collected.

use super::choose::lever::Latest;
use super::config::Burdens;
use super::core::Core;
use super::errors::no_such_option;
use super::learn::harvest::{Attributed, Sample};
use super::learn::history::Given;
use super::tuning::TUNING;
use crate::base::{Id, Result};
use crate::knapsack::NO_CHOICE;

impl Core {
    pub(super) fn measure(&mut self, id: Id, sample: &Sample) -> Result<()> {
        sample.check()?;
        let position = self.position(id)?;
        let Given { choice, work } = self.learn.given(position, sample.decision)?;
        let decision = self.learn.decision_of(sample.decision);
        if !self.is_usable(sample, decision) {
            return Ok(());
        }
        if self.config.burdens == Burdens::Totals {
            // The regression explains the totals; samples would judge its forecasts twice.
            self.learn.books.statistics.samples += 1;
            return Ok(());
        }
        let setting = self.question.setting(position);
        let Some(lane) = self.lanes.index(sample.lane as usize).filter(|_| setting.has_burden) else {
            self.learn.books.statistics.ungoverned += 1;
            return Ok(());
        };
        let (task, option) = (setting.task, usize::from(choice));
        let cell = setting.cell(option);
        let limit = self.limits()[self.lanes.lane(lane)];
        let is_slow = lane == 0 && self.config.learns_samples() && setting.changes_slowly(limit);
        let has_changed = is_slow && self.has_just_changed(position, decision, choice);
        let mut sample = Attributed { decision, position, lane, task, cell, burden: sample.burden, work };
        if has_changed && self.learn.has_switch_burden(&sample, setting.switch_burden) {
            self.learn.books.statistics.samples += 1;
            sample.burden = (sample.burden - setting.switch_burden).max(0.0);
        } else {
            if is_slow {
                self.learn.forget_slow_start(&sample, setting.switch_burden);
            }
            self.explore.measured(position, option, decision, lane, sample.burden);
            self.learn.add_sample(&sample, &self.config);
            self.observe_lever(&sample, choice);
        }
        if let Some(is_over) = self.learn.account(&sample, limit, &self.config) {
            self.explore.observe(is_over, self.config.trial_risk);
        }
        Ok(())
    }

    /// Whether a setting changed to its choice so few decisions before this one that it may cost time now.
    fn has_just_changed(&self, position: usize, decision: u64, choice: u16) -> bool {
        let (history, valid_from) = (&self.learn.history, self.learn.sampled[position].valid_from);
        let before = |age: u64| {
            let before =
                decision.checked_sub(1 + age).filter(|&before| history.remembers(before) && before >= valid_from);
            before.map(|before| history.given(before, position).choice)
        };
        let other = (0..TUNING.forecast.change_frames).map(before).find(|&other| other != Some(choice));
        other.flatten().is_some_and(|other| other != NO_CHOICE)
    }

    /// Note that a lane was measured. Returns whether to learn from the sample: the host may have flagged it as bad.
    fn is_usable(&mut self, sample: &Sample, decision: u64) -> bool {
        self.warnings.measured(sample.lane as usize);
        if !sample.good {
            self.learn.books.statistics.flagged += 1;
            self.learn.history.spoil(decision);
        }
        sample.good
    }

    /// Show a sample to the setting's lever.
    fn observe_lever(&mut self, sample: &Attributed, choice: u16) {
        let &Attributed { decision, position, lane, .. } = sample;
        let kept = &mut self.choose.kept[position];
        let forecast = self.learn.history.forecast(decision, lane);
        let unit = sample.burden / (sample.work * forecast.fast);
        kept.latest = Latest { decision, option: choice, lane: lane as u8, unit };
        let lever = &mut kept.lever;
        if !lever.needs(decision, lane, choice) || self.learn.calibrations[lane].is_shifting() {
            return;
        }
        let (setting, strategies) = (self.question.setting(position), &self.question.strategies);
        let strategy = usize::from(forecast.strategy);
        let of = |option: usize| setting.options[option].work * strategies.work_under(strategy, position, option);
        let factors = sample.work / of(usize::from(choice)) * of(lever.former()) * forecast.fast;
        if lever.observe(choice, sample.burden, factors) {
            let rest = self.config.decisions_of(TUNING.lever.rest_seconds);
            lever.rest(self.learn.history.latest() + rest.max(1));
        }
    }

    pub(super) fn measure_total(&mut self, sample: &Sample) -> Result<()> {
        sample.check()?;
        let decision = self.learn.remembered(sample.decision)?;
        if !self.is_usable(sample, decision) {
            return Ok(());
        }
        let Some(lane) = self.lanes.index(sample.lane as usize) else {
            self.learn.books.statistics.ungoverned += 1;
            return Ok(());
        };
        let limit = self.limits()[sample.lane as usize];
        let statistics = &mut self.learn.books.statistics;
        statistics.totals += 1;
        statistics.totals_over += u64::from(sample.burden > limit);
        match self.config.burdens {
            Burdens::Learned => {
                if let Some(is_over) = self.learn.add_total(decision, lane, sample.burden, limit, &self.config) {
                    self.explore.observe(is_over, self.config.trial_risk);
                }
            }
            Burdens::Relative if lane == 0 => {
                let limit = self.choose.thermals[sample.lane as usize].share() * limit;
                let is_late = sample.burden > limit;
                // A frame that is late by declared changes alone says nothing about the capacity.
                if !is_late || sample.burden - self.learn.history.changes_around(decision) > limit {
                    self.learn.controller.frame_took(sample.burden, limit);
                }
            }
            Burdens::Totals if lane == 0 => self.regress(decision, sample.burden, limit),
            Burdens::Relative | Burdens::Totals => {}
        }
        Ok(())
    }

    /// Learn the costs of options from a frame's total.
    fn regress(&mut self, decision: u64, total: f64, limit: f64) {
        let learn = &mut self.learn;
        if decision < learn.totals_from {
            return;
        }
        let mut highest = 0.0;
        learn.regression.clear_row();
        for (position, setting) in self.question.settings.iter().filter(|(_, setting)| setting.has_burden) {
            let given = learn.history.given(decision, position);
            if given.choice == NO_CHOICE || decision < learn.sampled[position].valid_from {
                continue;
            }
            learn.regression.put(position, usize::from(given.choice), given.work);
            let units = setting.options.iter().map(|option| option.relative_burden * option.work);
            highest += setting.work * units.fold(0.0, f64::max);
        }
        learn.regress(decision, total, limit, highest, &self.config);
    }

    pub(super) fn applied(&mut self, id: Id, decision: u64, choice: u32) -> Result<()> {
        let position = self.position(id)?;
        let setting = self.question.setting(position);
        let count = setting.options.len();
        if choice as usize >= count {
            return Err(no_such_option(choice, count));
        }
        let given = self.learn.given(position, decision)?;
        if u32::from(given.choice) == choice {
            return Ok(());
        }
        let decision = self.learn.decision_of(decision);
        let history = &mut self.learn.history;
        let strategy = usize::from(history.forecast(decision, 0).strategy);
        let strategies = &self.question.strategies;
        let of = |option: usize| setting.options[option].work * strategies.work_under(strategy, position, option);
        let work = given.work / of(usize::from(given.choice)) * of(choice as usize);
        history.spoil(decision);
        history.give(decision, position, Given { choice: choice as u16, work });
        Ok(())
    }

    pub(super) fn harvest(&mut self) {
        self.learn.books.close();
    }
}
