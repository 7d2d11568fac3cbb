//! A setting: its options, and what the host allows.

use std::ops::RangeInclusive;

use super::shape::Shape;
use crate::base::{Number, Result, error};
use crate::goblin::config::LARGEST;
use crate::goblin::tuning::TUNING;
use crate::knapsack::NO_CHOICE;
use crate::profile::MAX_OPTIONS;

/// One option as the host describes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OptionDesc {
    /// Its value to the host.
    pub value: f64,
    /// The host's rough idea of its burden, in any unit that all settings share; used with
    /// [`crate::goblin::Burdens::Relative`].
    pub relative_burden: f64,
    /// Whether it can be chosen now (not streaming, not compiling).
    pub ready: bool,
    /// Its work compared with other options of its cell: burdens are per unit of work.
    pub work: f64,
}

impl OptionDesc {
    /// An option with this value.
    pub fn worth(value: f64) -> Self {
        Self { value, relative_burden: 0.0, ready: true, work: 1.0 }
    }
}

/// A setting as the host describes it.
#[derive(Clone, Copy, Debug)]
pub struct SettingDesc<'a> {
    /// The task that learns the burdens; settings may share one.
    pub id: &'a str,
    /// The options; choices are indices into them.
    pub options: &'a [OptionDesc],
    /// Number of successive options that share their estimates and differ in `work` only; 1 if no options share. Option
    /// `o` is learned as cell `o / shared`.
    pub shared: u16,
    /// The choice while no burden of the setting is known.
    pub default_choice: u16,
    /// Whether it has a cost. A fixed incentive has none, and is not measured.
    pub has_burden: bool,
    /// A TRIM setting: fine steps that use the remaining capacity in every frame while other settings keep their
    /// choices.
    pub is_trim: bool,
    /// Cost of a change, on the first governed lane, in the frame in which the setting changes.
    pub switch_burden: f64,
}

impl<'a> SettingDesc<'a> {
    /// A setting with a cost, whose first option is the default.
    pub fn new(id: &'a str, options: &'a [OptionDesc]) -> Self {
        Self { id, options, shared: 1, default_choice: 0, has_burden: true, is_trim: false, switch_burden: 0.0 }
    }
}

/// A setting: its options and the host's present wishes.
#[derive(Debug)]
pub struct Setting {
    /// Position of its task.
    pub task: usize,
    pub options: Vec<OptionDesc>,
    pub shared: u16,
    pub default_choice: u16,
    pub has_burden: bool,
    /// Whether the host made it a TRIM setting, and whether this decision treats it as one.
    pub wants_trim: bool,
    pub is_trim: bool,
    pub switch_burden: f64,
    /// The host's factor on the price of its changes.
    pub switch_scale: f64,
    /// Whether it is part of decisions.
    pub enabled: bool,
    /// The first and the last option that may be chosen.
    pub range: (u16, u16),
    /// The present work. Burdens are per unit of work.
    pub work: f64,
    /// The axes of a product.
    pub shape: Shape,
}

impl Setting {
    /// A setting of a task with its options.
    pub fn new(desc: &SettingDesc<'_>, options: Vec<OptionDesc>, task: usize) -> Self {
        Self {
            task,
            options,
            shared: desc.shared,
            default_choice: desc.default_choice,
            has_burden: desc.has_burden,
            wants_trim: desc.is_trim,
            is_trim: false,
            switch_burden: desc.switch_burden,
            switch_scale: 1.0,
            enabled: true,
            range: (0, u16::MAX),
            work: 1.0,
            shape: Shape::default(),
        }
    }

    /// The default choice, limited to the allowed range and the present options.
    pub fn fallback(&self) -> u16 {
        match self.options.len() {
            0 => NO_CHOICE,
            count => self.default_choice.clamp(self.range.0, self.range.1).min((count - 1) as u16),
        }
    }

    /// Whether the host's range includes the option, ready or not.
    pub fn allows(&self, option: usize) -> bool {
        (usize::from(self.range.0)..=usize::from(self.range.1)).contains(&option)
    }

    /// The cell that learns an option's burden.
    pub fn cell(&self, option: usize) -> usize {
        // A shortcut: this runs for every option in every frame, and cells are rarely shared.
        if self.shared <= 1 { option } else { option / usize::from(self.shared) }
    }

    /// Number of cells that its task needs.
    pub fn cells(&self) -> usize {
        cells(self.options.len(), self.shared)
    }

    /// Whether its changes take a considerable share of this limit.
    pub fn changes_slowly(&self, limit: f64) -> bool {
        self.switch_burden > TUNING.trial.slow_change * limit
    }

    /// Share of a visible change that a change of this setting is: 0 for TRIM settings, at most 1.
    pub fn noticeability(&self) -> f64 {
        if self.is_trim { 0.0 } else { self.switch_scale.min(1.0) }
    }

    /// Bytes on the heap.
    pub fn memory_used(&self) -> usize {
        self.options.capacity() * size_of::<OptionDesc>() + self.shape.memory_used()
    }

    /// The present work of an option: its burden is per unit of it.
    pub fn work_of(&self, option: usize) -> f64 {
        self.work * self.options[option].work
    }
}

/// Number of cells of this many options, if `shared` successive ones share a cell.
pub fn cells(options: usize, shared: u16) -> usize {
    options.div_ceil(usize::from(shared.max(1)))
}

/// Reject an invalid setting.
pub fn check_setting(desc: &SettingDesc<'_>) -> Result<()> {
    check_options(desc.options)?;
    let options = desc.options.len();
    if usize::from(desc.default_choice) >= options.max(1) {
        return Err(error!(
            InvalidArgument,
            "setting '{}': default choice {} of {options} options does not exist", desc.id, desc.default_choice
        ));
    }
    if !(0.0..=LARGEST).contains(&desc.switch_burden) {
        return Err(error!(
            InvalidArgument,
            "setting '{}': switch burden {} must be 0 to {:e}",
            desc.id,
            Number(desc.switch_burden),
            Number(LARGEST)
        ));
    }
    Ok(())
}

/// Positive numbers whose ratios, and the squares of these, keep their precision.
const IN_PROPORTION: RangeInclusive<f64> = 1.0 / LARGEST..=LARGEST;

/// Reject invalid options.
pub fn check_options(options: &[OptionDesc]) -> Result<()> {
    if options.len() > MAX_OPTIONS {
        return Err(error!(LimitExceeded, "{} options; a setting can have {MAX_OPTIONS}", options.len()));
    }
    for (index, option) in options.iter().enumerate() {
        check_value(index, option.value)?;
        let relative_burden = option.relative_burden;
        if relative_burden != 0.0 && !IN_PROPORTION.contains(&relative_burden) {
            let [burden, least, most] = [relative_burden, *IN_PROPORTION.start(), *IN_PROPORTION.end()].map(Number);
            return Err(error!(
                InvalidArgument,
                "option {index}: relative burden {burden} must be 0, or from {least:e} to {most:e}"
            ));
        }
        check_work(option.work)?;
    }
    Ok(())
}

/// Reject invalid work.
pub fn check_work(work: f64) -> Result<()> {
    if IN_PROPORTION.contains(&work) {
        return Ok(());
    }
    let [work, least, most] = [work, *IN_PROPORTION.start(), *IN_PROPORTION.end()].map(Number);
    Err(error!(InvalidArgument, "work {work} must be above 0, from {least:e} to {most:e}"))
}

/// Reject an invalid value.
pub fn check_value(index: usize, value: f64) -> Result<()> {
    if value.abs() <= LARGEST {
        return Ok(());
    }
    let (value, most) = (Number(value), Number(LARGEST));
    Err(error!(InvalidArgument, "option {index}: value {value} must be a number from -{most:e} to {most:e}"))
}
