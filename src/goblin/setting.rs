//! A setting: what can be chosen, and what was.

use crate::base::{Number, Result, error, try_collect};
use crate::knapsack::NO_CHOICE;
use crate::profile::MAX_OPTIONS;

use super::config::LARGEST;
use super::product::Shape;
use super::reason::Reason;

/// One option as the host describes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OptionDesc {
    /// What choosing it is worth to the host.
    pub value: f64,
    /// The host's rough idea of its burden, in any unit that all settings share; used with
    /// [`super::Burdens::Relative`].
    pub relative_burden: f64,
    /// Whether it can be chosen now (not streaming, not compiling).
    pub ready: bool,
    /// How much it has to do compared with other options of its cell: burdens are per unit of it.
    pub work: f64,
}

impl OptionDesc {
    /// An option that is worth that much.
    pub fn worth(value: f64) -> Self {
        Self { value, relative_burden: 0.0, ready: true, work: 1.0 }
    }
}

/// A setting as the host describes it.
#[derive(Clone, Copy, Debug)]
pub struct SettingDesc<'a> {
    /// The task whose burdens these are; settings may share one.
    pub id: &'a str,
    /// The options, in the order in which choices count them.
    pub options: &'a [OptionDesc],
    /// How many successive options share what is learned of each of them, so that their `work` tells them apart: 1 for
    /// none. Option `o` is learned as cell `o / shared`.
    pub shared: u16,
    /// Chosen while nothing at all is known of the setting.
    pub default_choice: u16,
    /// Whether it costs something; a fixed incentive does not, and is not measured.
    pub has_burden: bool,
    /// A fine ladder that takes up the last slack every frame while the others stay put.
    pub is_trim: bool,
    /// What is lost, on the first governed lane, on the frame in which it changes.
    pub switch_burden: f64,
}

impl<'a> SettingDesc<'a> {
    /// A setting that costs something, its first option the default.
    pub fn new(id: &'a str, options: &'a [OptionDesc]) -> Self {
        Self { id, options, shared: 1, default_choice: 0, has_burden: true, is_trim: false, switch_burden: 0.0 }
    }
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
    /// The decision of the latest sample of its cell; of the cell's first option only.
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
    pub shared: u16,
    pub default_choice: u16,
    pub has_burden: bool,
    pub is_trim: bool,
    pub switch_burden: f64,
    /// Whether it takes part at all.
    pub enabled: bool,
    /// The first and the last option that may be chosen.
    pub range: (u16, u16),
    /// What the host was told last.
    pub choice: u16,
    /// What was chosen last, trials apart.
    pub settled: u16,
    /// The decision in which that changed last.
    pub changed: u64,
    /// The option that the host was told before `choice`, and the decision of that change.
    pub left: u16,
    pub left_at: u64,
    /// What a better choice, for which the goblin waits, has in place of it.
    pub target: u16,
    /// Burdens are per unit of this.
    pub work: f64,
    /// Samples of decisions before this one are not this setting's as it is now.
    pub born: u64,
    /// The decision in which an option was tried and whose sample has not come back; 0 for none.
    pub on_trial: u64,
    /// The option that was tried.
    pub tried: u16,
    /// What it was guessed to cost on the first governed lane, see [`super::explore`]; the second 0 if it was no guess.
    pub guessed: (f64, f64),
    /// Why the choice is what it is.
    pub reason: Reason,
    /// Of a product.
    pub shape: Shape,
}

impl Setting {
    /// A setting of a task, in which these options are new.
    pub fn new(desc: &SettingDesc<'_>, options: Vec<OptionState>, task: usize, born: u64) -> Self {
        let mut setting = Self {
            task,
            options,
            shared: desc.shared,
            default_choice: desc.default_choice,
            has_burden: desc.has_burden,
            is_trim: desc.is_trim,
            switch_burden: desc.switch_burden,
            enabled: true,
            range: (0, u16::MAX),
            choice: 0,
            settled: 0,
            changed: 0,
            left: NO_CHOICE,
            left_at: 0,
            target: 0,
            work: 1.0,
            born,
            on_trial: 0,
            tried: 0,
            guessed: (0.0, 0.0),
            reason: Reason::default(),
            shape: Shape::default(),
        };
        setting.begin();
        setting
    }

    /// Options with their states. On an error nothing was taken.
    pub fn states(options: &[OptionDesc]) -> Result<Vec<OptionState>> {
        try_collect(options.iter().map(|&desc| OptionState::new(desc)))
    }

    /// Back to the default, as if nothing had been chosen.
    pub fn begin(&mut self) {
        self.choice = self.fallback();
        self.settled = self.choice;
        self.target = self.choice;
        self.changed = 0;
        (self.left, self.left_at) = (NO_CHOICE, 0);
        self.reason = Reason::default();
    }

    /// The default choice, for as many options as there are and as may be chosen.
    pub fn fallback(&self) -> u16 {
        match self.options.len() {
            0 => NO_CHOICE,
            count => self.default_choice.clamp(self.range.0, self.range.1).min((count - 1) as u16),
        }
    }

    /// Whether the host lets the option be chosen, ready or not.
    pub fn allows(&self, option: usize) -> bool {
        (usize::from(self.range.0)..=usize::from(self.range.1)).contains(&option)
    }

    /// What is learned of an option is learned here.
    pub fn cell(&self, option: usize) -> usize {
        // Asked for every option in every frame, and nearly always an option has its cell to itself.
        if self.shared <= 1 { option } else { option / usize::from(self.shared) }
    }

    /// How many cells its task needs.
    pub fn cells(&self) -> usize {
        cells(self.options.len(), self.shared)
    }

    /// The decision of the latest sample of an option's cell.
    pub fn measured(&self, option: usize) -> u64 {
        self.options[self.first_of_cell(option)].measured
    }

    /// The option that speaks for its cell.
    pub fn first_of_cell(&self, option: usize) -> usize {
        self.cell(option) * usize::from(self.shared.max(1))
    }

    /// Bytes held beside itself.
    pub fn memory_used(&self) -> usize {
        self.options.capacity() * size_of::<OptionState>() + self.shape.memory_used()
    }

    /// What an option has to do now: its burden is per unit of this.
    pub fn work_of(&self, option: usize) -> f64 {
        self.work * self.options[option].desc.work
    }
}

/// How many cells so many options need of which `shared` successive ones share one.
pub fn cells(options: usize, shared: u16) -> usize {
    options.div_ceil(usize::from(shared.max(1)))
}

/// Refuse a setting that makes no sense, with a sentence.
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
                "option {index}: relative burden {} must be 0 to {:e}",
                Number(option.relative_burden),
                Number(LARGEST)
            ));
        }
        check_work(option.work)?;
    }
    Ok(())
}

/// Refuse work that makes no sense.
pub fn check_work(work: f64) -> Result<()> {
    if (1.0 / LARGEST..=LARGEST).contains(&work) {
        return Ok(());
    }
    let [work, least, most] = [work, 1.0 / LARGEST, LARGEST].map(Number);
    Err(error!(InvalidArgument, "work {work} must be above 0, from {least:e} to {most:e}"))
}

/// Refuse a value that makes no sense.
pub fn check_value(index: usize, value: f64) -> Result<()> {
    if value.abs() <= LARGEST {
        return Ok(());
    }
    let (value, most) = (Number(value), Number(LARGEST));
    Err(error!(InvalidArgument, "option {index}: value {value} must be a number from -{most:e} to {most:e}"))
}
