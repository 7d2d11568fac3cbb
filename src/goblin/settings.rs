//! Calls that change settings and strategies.

use super::choose::kept::Kept;
use super::config::{Burdens, LARGEST};
use super::core::Core;
use super::errors::no_such_setting;
use super::explore::{self, Explorer};
use super::learn::harvest::Sampled;
use super::learn::regression::Regression;
use super::question::formulation::Formulation;
use super::question::product::ProductDesc;
use super::question::setting::{OptionDesc, Setting, SettingDesc};
use super::question::setting::{cells, check_options, check_setting, check_value, check_work};
use super::question::shape::Shape;
use super::question::strategy::{StrategyDesc, check_strategy};
use crate::base::{Id, Number, Result, error, try_collect, try_filled};
use crate::profile::{Estimate, Learned};

/// Settings.
impl Core {
    pub(super) fn add_setting(&mut self, desc: &SettingDesc<'_>) -> Result<Id> {
        self.add_shaped(desc, Shape::default())
    }

    pub(super) fn add_product(&mut self, desc: &ProductDesc<'_>) -> Result<Id> {
        let (options, setting, shape) = desc.expand()?;
        self.add_shaped(&SettingDesc { options: &options, ..setting }, shape)
    }

    fn add_shaped(&mut self, desc: &SettingDesc<'_>, shape: Shape) -> Result<Id> {
        check_setting(desc)?;
        self.check_shape(desc)?;
        self.check_room(desc)?;
        let count = desc.options.len();
        let cells = cells(count, desc.shared);
        let position = self.question.settings.next_position();
        let wanted = (position + 1).max(self.positions());
        let depth = self.config.history as usize;
        let options = try_collect(desc.options.iter().copied())?;
        let latest = try_filled(0, cells)?;
        let states = Explorer::states(count)?;
        self.learn.reserve(depth, wanted)?;
        self.choose.kept.reserve(position)?;
        self.explore.reserve(position)?;
        self.published.reserve(depth, wanted)?;
        self.question.reserve_one(count, self.lanes.count())?;
        let regression = self.regression_with(position, desc.options)?;
        let (task, dropped) = self.learn.tasks.join(desc.id, cells, &self.lanes, &self.learn.past)?;
        // Nothing below can fail.
        self.learn.replace_regression(regression);
        let next = self.latest_decision() + 1;
        if dropped {
            self.invalidate_samples(task);
        }
        self.choose.pace.learn_until(next + self.config.learning_decisions() - 1);
        let setting = Setting { shape, ..Setting::new(desc, options, task) };
        let choice = setting.fallback();
        let id = self.question.insert(setting);
        self.learn.sampled.set(position, Sampled { valid_from: next, latest });
        self.choose.kept.set(position, Kept::new(choice));
        self.explore.add(position, states);
        self.published.add(id, choice);
        self.learn.refresh_ratios(&self.config);
        Ok(id)
    }

    /// Fail if another setting would exceed the number of settings or the memory limit.
    fn check_room(&self, desc: &SettingDesc<'_>) -> Result<()> {
        let (count, most) = (self.question.settings.len(), self.config.max_settings);
        if count >= most as usize {
            return Err(error!(LimitExceeded, "there are {count} settings already: raise max_settings or remove some"));
        }
        let wanted = (self.question.settings.next_position() + 1).max(self.positions());
        let depth = self.config.history as usize;
        let rows = self.learn.history.memory_wanted(depth, wanted, self.lanes.count())
            + self.published.memory_wanted(depth, wanted);
        self.check_memory(rows + self.memory_of(desc.id, desc.options.len()), self.config.memory_limit)
    }

    pub(super) fn remove_setting(&mut self, id: Id) -> Result<()> {
        let position = self.position(id)?;
        let setting = self.question.remove(id).ok_or_else(no_such_setting)?;
        self.published.remove(position);
        self.learn.totals_from = self.latest_decision() + 1;
        // Without memory for the smaller filter the larger one stays: a removed setting is never chosen.
        let regression = self.regression_with(position, &[]);
        self.learn.replace_regression(regression.unwrap_or(None));
        self.learn.tasks.leave(setting.task);
        Ok(())
    }

    pub(super) fn set_options(&mut self, id: Id, options: &[OptionDesc]) -> Result<()> {
        check_options(options)?;
        let position = self.position(id)?;
        let setting = self.question.setting(position);
        let (had, is_product) = (setting.options.len(), setting.shape.is_product());
        if is_product && had != options.len() {
            return Err(error!(
                InvalidArgument,
                "a product keeps its {had} combinations: {} options were given; remove it and add another",
                options.len()
            ));
        }
        if had == options.len() {
            self.change_options(position, options);
            Ok(())
        } else {
            self.replace_options(id, position, options)
        }
    }

    /// Change the values and other facts of as many options. A product keeps its works.
    fn change_options(&mut self, position: usize, options: &[OptionDesc]) {
        let setting = self.question.setting_mut(position);
        let is_product = setting.shape.is_product();
        for (index, (present, &desc)) in setting.options.iter_mut().zip(options).enumerate() {
            if present.relative_burden != desc.relative_burden {
                self.learn.regression.set_unit(position, index, desc.relative_burden);
            }
            let work = if is_product { present.work } else { desc.work };
            *present = OptionDesc { work, ..desc };
        }
    }

    /// Replace the options by another number of them.
    fn replace_options(&mut self, id: Id, position: usize, options: &[OptionDesc]) -> Result<()> {
        self.check_memory(self.memory_of("", options.len()), self.config.memory_limit)?;
        let setting = self.question.setting(position);
        let (task, had) = (setting.task, setting.options.len());
        let own_cells = cells(options.len(), setting.shared);
        let fresh = try_collect(options.iter().copied())?;
        let latest = try_filled(0, own_cells)?;
        let states = Explorer::states(options.len())?;
        let total = self.question.option_count - had + options.len();
        let count = self.question.settings.len();
        self.question.formulation.reserve(count, total, options.len(), self.lanes.count())?;
        let others = self.question.settings.iter().filter(|(at, other)| other.task == task && *at != position);
        let most = others.map(|(_, other)| other.cells()).max().unwrap_or(0).max(own_cells);
        let regression = self.regression_with(position, options)?;
        self.learn.tasks.relearn(task, most, &self.lanes, &self.learn.past)?;
        // Nothing below can fail.
        self.learn.replace_regression(regression);
        self.question.option_count = total;
        self.question.strategies.forget(position);
        let setting = self.question.setting_mut(position);
        setting.options = fresh;
        let choice = setting.fallback();
        self.learn.sampled[position].latest = latest;
        self.choose.kept[position] = Kept::new(choice);
        self.explore.set_options(position, states);
        self.published.restart(id, choice);
        self.warnings.change_shape();
        self.choose.pace.learn_until(self.latest_decision() + self.config.learning_decisions());
        self.invalidate_samples(task);
        Ok(())
    }

    pub(super) fn set_value(&mut self, id: Id, option: u32, value: f64) -> Result<()> {
        check_value(option as usize, value)?;
        self.option_mut(id, option)?.value = value;
        Ok(())
    }

    pub(super) fn set_ready(&mut self, id: Id, option: u32, ready: bool) -> Result<()> {
        let was_ready = std::mem::replace(&mut self.option_mut(id, option)?.ready, ready);
        if ready && !was_ready {
            let position = self.position(id)?;
            self.explore.note_ready(&self.question, position, option as usize);
            self.learn_again(position);
        }
        Ok(())
    }

    pub(super) fn set_work(&mut self, id: Id, work: f64) -> Result<()> {
        check_work(work)?;
        let position = self.position(id)?;
        self.question.setting_mut(position).work = work;
        Ok(())
    }

    pub(super) fn set_range(&mut self, id: Id, first: u32, last: u32) -> Result<()> {
        let position = self.position(id)?;
        let setting = self.question.setting_mut(position);
        let count = setting.options.len();
        if first as usize >= count.max(1) {
            return Err(error!(InvalidArgument, "option {first} does not exist: the setting has {count} options"));
        }
        if first > last {
            return Err(error!(InvalidArgument, "first is {first} and last is {last}: first must not come after last"));
        }
        let range = (first as u16, last.min(u32::from(u16::MAX)) as u16);
        let is_wider = range.0 < setting.range.0 || range.1 > setting.range.1;
        setting.range = range;
        if is_wider {
            self.learn_again(position);
        }
        Ok(())
    }

    /// Begin the learning phase again for a setting with unknown options that may be chosen now, and at most one known one.
    fn learn_again(&mut self, position: usize) {
        let setting = self.question.setting(position);
        let latest = &self.learn.sampled[position].latest;
        let is_known = |at: usize| latest[setting.cell(at)] > 0;
        let options = 0..setting.options.len();
        let may = |at: usize| setting.options[at].ready && (setting.range.0..=setting.range.1).contains(&(at as u16));
        let has_new = options.clone().any(|at| may(at) && !is_known(at));
        if setting.has_burden && has_new && options.filter(|&at| is_known(at)).count() <= 1 {
            self.choose.pace.learn_again(self.latest_decision(), self.config.learning_decisions());
        }
    }

    pub(super) fn set_enabled(&mut self, id: Id, enabled: bool) -> Result<()> {
        let position = self.position(id)?;
        let setting = self.question.setting_mut(position);
        if setting.enabled != enabled {
            setting.enabled = enabled;
            self.explore.cancel(position);
            if enabled {
                self.learn_again(position);
            }
        }
        Ok(())
    }

    pub(super) fn set_setting_switch_scale(&mut self, id: Id, scale: f64) -> Result<()> {
        check_switch_scale(scale)?;
        let position = self.position(id)?;
        self.question.setting_mut(position).switch_scale = scale;
        Ok(())
    }

    pub(super) fn set_switch_scale(&mut self, scale: f64) -> Result<()> {
        check_switch_scale(scale)?;
        self.choose.switch_scale = scale;
        Ok(())
    }

    pub(super) fn open_trial_window(&mut self, decisions: u32, share: f64) -> Result<()> {
        if !(0.0..=LARGEST).contains(&share) {
            return Err(error!(InvalidArgument, "share {} must be 0 to {:e}", Number(share), Number(LARGEST)));
        }
        let end = self.latest_decision() + u64::from(decisions);
        self.explore.open_window(&self.question, end, share, decisions == 0);
        Ok(())
    }

    /// The task's options changed: samples of earlier decisions no longer belong to them.
    fn invalidate_samples(&mut self, task: usize) {
        let next = self.latest_decision() + 1;
        self.learn.totals_from = next;
        for (position, _) in self.question.settings.iter().filter(|(_, setting)| setting.task == task) {
            self.learn.sampled[position].valid_from = next;
            self.explore.cancel(position);
        }
    }

    /// Settings with the same id share samples, option by option, so their options must match. Settings without options
    /// match any.
    fn check_shape(&self, desc: &SettingDesc<'_>) -> Result<()> {
        let count = cells(desc.options.len(), desc.shared);
        let task = self.learn.tasks.used(desc.id).filter(|_| count > 0 && !self.is_replay);
        let Some(task) = task else { return Ok(()) };
        let others = self.question.settings.iter().filter(|(_, other)| other.task == task).map(|(_, other)| other);
        match others.map(Setting::cells).find(|&other| other != 0 && other != count) {
            None => Ok(()),
            Some(other) => Err(error!(
                InvalidArgument,
                "setting '{}' has {count} options to measure, and another setting with this id has {other}: settings with \
                 one id share their samples, so give them the same options, or different ids",
                desc.id
            )),
        }
    }

    fn option_mut(&mut self, id: Id, option: u32) -> Result<&mut OptionDesc> {
        let position = self.position_of_option(id, option)?;
        Ok(&mut self.question.setting_mut(position).options[option as usize])
    }

    /// Upper bound of the bytes of a setting, without its entries in the history.
    fn memory_of(&self, id: &str, options: usize) -> usize {
        let lanes = self.lanes.count();
        let per_option = size_of::<OptionDesc>()
            + size_of::<u64>()
            + explore::PER_OPTION
            + lanes * (size_of::<Learned>() + size_of::<Estimate>())
            + Formulation::PER_OPTION;
        id.len() + options * per_option + size_of::<Setting>() + size_of::<Kept>() + 512
    }

    /// The regression with other options of a setting, if costs are learned from totals.
    fn regression_with(&self, position: usize, options: &[OptionDesc]) -> Result<Option<Regression>> {
        let is_used = self.config.burdens == Burdens::Totals;
        is_used.then(|| self.learn.regression.with_options(position, options)).transpose()
    }
}

/// Strategies.
impl Core {
    pub(super) fn add_strategy(&mut self, desc: &StrategyDesc) -> Result<usize> {
        check_strategy(desc, self.is_replay)?;
        self.question.strategies.reserve_one()?;
        self.govern_also(&desc.limits)?;
        Ok(self.question.strategies.add(desc))
    }

    pub(super) fn set_strategy(&mut self, strategy: usize, desc: &StrategyDesc) -> Result<()> {
        check_strategy(desc, self.is_replay)?;
        if strategy == 0 && desc.limits.iter().any(|limit| *limit != f64::INFINITY) {
            return Err(error!(InvalidArgument, "the limits of strategy 0 are the goblin's own: configure the goblin"));
        }
        self.question.strategies.check_exists(strategy)?;
        if strategy != 0 {
            self.govern_also(&desc.limits)?;
        }
        self.question.strategies.set(strategy, desc);
        Ok(())
    }

    pub(super) fn set_strategy_value(&mut self, strategy: usize, id: Id, option: u32, value: f64) -> Result<()> {
        let position = self.position_of_option(id, option)?;
        check_value(option as usize, value)?;
        self.question.strategies.set_value(strategy, position, option, value)
    }

    pub(super) fn set_strategy_work(&mut self, strategy: usize, id: Id, factor: f64) -> Result<()> {
        let position = self.position(id)?;
        check_work(factor)?;
        self.question.strategies.set_work(strategy, position, None, factor)
    }

    pub(super) fn set_strategy_option_work(&mut self, strategy: usize, id: Id, option: u32, factor: f64) -> Result<()> {
        let position = self.position_of_option(id, option)?;
        check_work(factor)?;
        self.question.strategies.set_work(strategy, position, Some(option), factor)
    }
}

fn check_switch_scale(scale: f64) -> Result<()> {
    if (0.0..=LARGEST).contains(&scale) {
        return Ok(());
    }
    Err(error!(InvalidArgument, "switch scale {} must be 0 to {:e}", Number(scale), Number(LARGEST)))
}
