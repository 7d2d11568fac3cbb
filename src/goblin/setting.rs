//! A setting: what can be chosen, and what was.

use crate::base::{Result, error};
use crate::knapsack::NO_CHOICE;
use crate::profile::MAX_OPTIONS;

use super::config::LARGEST;

/// One option as the host describes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OptionDesc {
    /// What choosing it is worth to the host.
    pub value: f64,
    /// The host's rough idea of its burden, in any unit that all settings share; used with [`super::Burdens::Relative`].
    pub relative_burden: f64,
    /// Whether it can be chosen now (not streaming, not compiling).
    pub ready: bool,
}

impl OptionDesc {
    /// An option that is worth that much.
    pub fn worth(value: f64) -> Self {
        Self { value, relative_burden: 0.0, ready: true }
    }
}

/// A setting as the host describes it.
#[derive(Clone, Copy, Debug)]
pub struct SettingDesc<'a> {
    /// The task whose burdens these are; settings may share one.
    pub id: &'a str,
    /// The options, in the order in which choices count them.
    pub options: &'a [OptionDesc],
    /// Chosen while nothing at all is known of the setting.
    pub default_choice: u16,
    /// Whether it costs something; a fixed incentive does not, and is not measured.
    pub has_burden: bool,
}

/// What becomes of an option beside its burden.
#[derive(Clone, Copy, Debug)]
pub struct OptionState {
    pub desc: OptionDesc,
    /// Not to be tried before this decision.
    pub next_trial: u64,
    /// Trials without success: each doubles the wait.
    pub failed_trials: u8,
    /// Trials whose sample did not come: each doubles the wait.
    pub lost_trials: u8,
    /// The decision of its latest sample.
    pub measured: u64,
}

impl OptionState {
    fn new(desc: OptionDesc) -> Self {
        Self { desc, next_trial: 0, failed_trials: 0, lost_trials: 0, measured: 0 }
    }
}

/// A setting as the goblin keeps it.
#[derive(Debug)]
pub struct Setting {
    /// Position of its task.
    pub task: usize,
    pub options: Vec<OptionState>,
    pub default_choice: u16,
    pub has_burden: bool,
    /// What the host was told last.
    pub choice: u16,
    /// What was chosen last, trials apart.
    pub settled: u16,
    /// Burdens are per unit of this.
    pub work: f64,
    /// Samples of decisions before this one are not this setting's as it is now.
    pub born: u64,
    /// The decision in which an option was tried and whose sample has not come back; 0 for none.
    pub on_trial: u64,
    /// The option that was tried.
    pub tried: u16,
}

impl Setting {
    /// Options with their states. On an error nothing was taken.
    pub fn states(options: &[OptionDesc]) -> Result<Vec<OptionState>> {
        let mut states = Vec::new();
        states.try_reserve_exact(options.len())?;
        states.extend(options.iter().map(|&desc| OptionState::new(desc)));
        Ok(states)
    }

    /// The default choice, for as many options as there are.
    pub fn fallback(&self) -> u16 {
        match self.options.len() {
            0 => NO_CHOICE,
            count => self.default_choice.min((count - 1) as u16),
        }
    }
}

/// Refuse options that make no sense, with a sentence.
pub fn check_options(options: &[OptionDesc]) -> Result<()> {
    if options.len() > MAX_OPTIONS {
        return Err(error!(LimitExceeded, "{} options; a setting can have {MAX_OPTIONS}", options.len()));
    }
    for (index, option) in options.iter().enumerate() {
        check_value(index, option.value)?;
        if !(0.0..=LARGEST).contains(&option.relative_burden) {
            return Err(error!(
                InvalidArgument,
                "option {index}: relative burden {} must be 0 to {LARGEST:e}", option.relative_burden
            ));
        }
    }
    Ok(())
}

/// Refuse a value that makes no sense.
pub fn check_value(index: usize, value: f64) -> Result<()> {
    if value.abs() <= LARGEST {
        return Ok(());
    }
    Err(error!(InvalidArgument, "option {index}: value {value} must be a number from -{LARGEST:e} to {LARGEST:e}"))
}
