//! Calls that change settings: their existence, options, values and allowed range.

use crate::base::Number;
use crate::base::{Id, Result, error};
use crate::profile::{Estimate, Learned};

use super::formulate::Formulation;
use super::setting::{OptionDesc, SettingDesc};
use super::setting::{OptionState, Setting, cells, check_options, check_setting, check_value, check_work};
use crate::goblin::config::{Burdens, LARGEST};
use crate::goblin::core::{Core, no_such_option, no_such_setting};
use crate::goblin::tuning::TUNING;

impl Core {
    pub(in crate::goblin) fn add_setting(&mut self, desc: &SettingDesc<'_>) -> Result<Id> {
        let id = self.add_unrecorded(desc)?;
        Ok(id)
    }

    pub(in crate::goblin) fn add_unrecorded(&mut self, desc: &SettingDesc<'_>) -> Result<Id> {
        check_setting(desc)?;
        let options = desc.options.len();
        self.check_shape(desc)?;
        if self.settings.len() >= self.config.max_settings as usize {
            return Err(error!(
                LimitExceeded,
                "there are {} settings already: raise max_settings or remove some", self.config.max_settings
            ));
        }
        let lanes = self.lanes;
        let wanted = (self.settings.next_position() + 1).max(self.settings.positions());
        let depth = self.config.history as usize;
        let rows =
            self.history.memory_wanted(depth, wanted, lanes.count()) + self.published.memory_wanted(depth, wanted);
        self.check_memory(rows + self.memory_of(desc.id, options), self.config.memory_limit)?;
        let states = Setting::states(desc.options)?;
        self.settings.reserve_one()?;
        self.history.resize(depth, wanted, lanes.count())?;
        self.published.reserve(depth, wanted)?;
        for calibration in &mut self.calibrations {
            calibration.reserve(wanted)?;
        }
        self.formulation.reserve(self.settings.len() + 1, self.option_count + options, options, lanes.count())?;
        let position = self.settings.next_position();
        if self.config.burdens == Burdens::Totals {
            self.regression.set_options(position, &mut units(desc.options))?;
        }
        let (task, dropped) = match self.tasks.join(desc.id, cells(options, desc.shared), &lanes, &self.past) {
            Ok(joined) => joined,
            Err(error) => {
                self.forget_units(position);
                return Err(error);
            }
        };
        // Nothing below can fail.
        let valid_from = self.history.latest() + 1;
        if dropped {
            self.invalidate_samples(task);
        }
        self.option_count += options;
        self.pace.learn_until(valid_from + TUNING.pace.learning);
        let setting = Setting::new(desc, states, task, valid_from);
        let choice = setting.choice;
        let id = self.settings.insert(setting);
        self.published.add(id, choice);
        self.refresh_ratios();
        Ok(id)
    }

    pub(in crate::goblin) fn remove_setting(&mut self, id: Id) -> Result<()> {
        let position = self.position(id)?;
        let setting = self.settings.remove(id).ok_or_else(no_such_setting)?;
        self.option_count -= setting.options.len();
        self.published.remove(position);
        self.totals_from = self.history.latest() + 1;
        self.strategies.forget(position);
        self.forget_units(position);
        self.tasks.leave(setting.task);
        Ok(())
    }

    pub(in crate::goblin) fn set_options(&mut self, id: Id, options: &[OptionDesc]) -> Result<()> {
        check_options(options)?;
        let position = self.position(id)?;
        let had = self.setting(position).options.len();
        let is_product = self.setting(position).shape.is_product();
        if is_product && had != options.len() {
            return Err(error!(
                InvalidArgument,
                "a product keeps its {had} combinations: {} options were given; remove it and add another",
                options.len()
            ));
        }
        if had == options.len() {
            let setting = self.settings.at_mut(position).expect("a position that was just found");
            for (index, (state, &desc)) in setting.options.iter_mut().zip(options).enumerate() {
                let desc = if is_product { OptionDesc { work: state.desc.work, ..desc } } else { desc };
                if state.desc.relative_burden != desc.relative_burden {
                    self.regression.set_unit(position, index, desc.relative_burden);
                }
                state.desc = desc;
            }
            return Ok(());
        }
        let lanes = self.lanes;
        self.check_memory(self.memory_of("", options.len()), self.config.memory_limit)?;
        let states = Setting::states(options)?;
        let total = self.option_count - had + options.len();
        self.formulation.reserve(self.settings.len(), total, options.len(), lanes.count())?;
        let (task, shared) = (self.setting(position).task, self.setting(position).shared);
        let others = self.settings.iter().filter(|(at, other)| other.task == task && *at != position);
        let most = others.map(|(_, other)| other.cells()).max().unwrap_or(0).max(cells(options.len(), shared));
        if self.config.burdens == Burdens::Totals {
            self.regression.set_options(position, &mut units(options))?;
        }
        self.tasks.relearn(task, most, &lanes, &self.past)?;
        // Nothing below can fail.
        self.option_count = total;
        self.strategies.forget(position);
        let setting = self.setting_mut(position);
        setting.options = states;
        setting.begin();
        let choice = setting.choice;
        self.published.restart(id, choice);
        self.warnings.change_shape();
        self.pace.learn_until(self.history.latest() + 1 + TUNING.pace.learning);
        self.invalidate_samples(task);
        Ok(())
    }

    pub(in crate::goblin) fn set_value(&mut self, id: Id, option: u32, value: f64) -> Result<()> {
        check_value(option as usize, value)?;
        self.option_mut(id, option)?.desc.value = value;
        Ok(())
    }

    pub(in crate::goblin) fn set_ready(&mut self, id: Id, option: u32, ready: bool) -> Result<()> {
        self.option_mut(id, option)?.desc.ready = ready;
        Ok(())
    }

    pub(in crate::goblin) fn set_work(&mut self, id: Id, work: f64) -> Result<()> {
        check_work(work)?;
        let position = self.position(id)?;
        self.setting_mut(position).work = work;
        Ok(())
    }

    pub(in crate::goblin) fn set_range(&mut self, id: Id, first: u32, last: u32) -> Result<()> {
        let position = self.position(id)?;
        let count = self.setting(position).options.len();
        if first as usize >= count.max(1) {
            return Err(error!(InvalidArgument, "option {first} does not exist: the setting has {count} options"));
        }
        if first > last {
            return Err(error!(InvalidArgument, "first is {first} and last is {last}: first must not come after last"));
        }
        self.setting_mut(position).range = (first as u16, last.min(u32::from(u16::MAX)) as u16);
        Ok(())
    }

    pub(in crate::goblin) fn set_enabled(&mut self, id: Id, enabled: bool) -> Result<()> {
        let position = self.position(id)?;
        let setting = self.setting_mut(position);
        if setting.enabled != enabled {
            setting.enabled = enabled;
            setting.on_trial = 0;
        }
        Ok(())
    }

    pub(in crate::goblin) fn set_setting_switch_scale(&mut self, id: Id, scale: f64) -> Result<()> {
        check_switch_scale(scale)?;
        let position = self.position(id)?;
        self.setting_mut(position).switch_scale = scale;
        Ok(())
    }

    pub(in crate::goblin) fn set_switch_scale(&mut self, scale: f64) -> Result<()> {
        check_switch_scale(scale)?;
        self.switch_scale = scale;
        Ok(())
    }

    /// Settings with the same id share samples, option by option, so their options must match. Settings without options
    /// match any.
    fn check_shape(&self, desc: &SettingDesc<'_>) -> Result<()> {
        let count = cells(desc.options.len(), desc.shared);
        let Some(task) = self.tasks.used(desc.id).filter(|_| count > 0 && !self.is_replay) else { return Ok(()) };
        let others = self.settings.iter().filter(|(_, other)| other.task == task).map(|(_, other)| other);
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

    fn option_mut(&mut self, id: Id, option: u32) -> Result<&mut OptionState> {
        let position = self.position(id)?;
        let options = &mut self.setting_mut(position).options;
        let count = options.len();
        options.get_mut(option as usize).ok_or_else(|| no_such_option(option, count))
    }

    /// Upper bound of the bytes of a setting, without its entries in the history.
    fn memory_of(&self, id: &str, options: usize) -> usize {
        let lanes = self.lanes.count();
        let per_option =
            size_of::<OptionState>() + lanes * (size_of::<Learned>() + size_of::<Estimate>()) + Formulation::PER_OPTION;
        id.len() + options * per_option + size_of::<Setting>() + 512
    }

    /// Remove a setting's options from the regression, after it was removed or failed to be added.
    fn forget_units(&mut self, position: usize) {
        if self.config.burdens == Burdens::Totals {
            // Without memory for the smaller filter the larger one stays: a removed setting is never chosen.
            _ = self.regression.set_options(position, &mut [].into_iter());
        }
    }
}

fn check_switch_scale(scale: f64) -> Result<()> {
    if (0.0..=LARGEST).contains(&scale) {
        return Ok(());
    }
    Err(error!(InvalidArgument, "switch scale {} must be 0 to {:e}", Number(scale), Number(LARGEST)))
}

/// The host's relative burdens.
fn units(options: &[OptionDesc]) -> impl ExactSizeIterator<Item = f64> + '_ {
    options.iter().map(|desc| desc.relative_burden)
}
