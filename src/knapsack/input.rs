//! The caller's input: the options of all settings, one setting after the other.

use super::{Candidate, LARGEST_NUMBER, MAX_OPTIONS_PER_SETTING, NO_CHOICE, bytes, reserve_total};
use crate::base::Number;
use crate::base::{Result, error};

/// Sums over one option per setting.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Totals {
    pub value: f64,
    pub mean: f64,
    pub variance: f64,
}

impl Totals {
    pub fn plus(self, other: Self) -> Self {
        Self { value: self.value + other.value, mean: self.mean + other.mean, variance: self.variance + other.variance }
    }

    pub fn minus(self, other: Self) -> Self {
        Self { value: self.value - other.value, mean: self.mean - other.mean, variance: self.variance - other.variance }
    }
}

impl From<Candidate> for Totals {
    fn from(Candidate { value, mean, variance }: Candidate) -> Self {
        Self { value, mean, variance }
    }
}

/// One instruction, where `f64::max` takes several. Neither number may be NaN.
pub(super) fn greater(one: f64, other: f64) -> f64 {
    if one > other { one } else { other }
}

pub(super) fn lesser(one: f64, other: f64) -> f64 {
    if one < other { one } else { other }
}

#[derive(Debug, Default)]
pub(super) struct Input {
    options: Vec<Candidate>,
    /// The end of each setting's options; they start at the end of the setting before.
    ends: Vec<u32>,
}

impl Input {
    pub fn reserve(&mut self, settings: usize, options: usize) -> Result<()> {
        reserve_total(&mut self.options, options)?;
        reserve_total(&mut self.ends, settings)
    }

    pub fn clear(&mut self) {
        self.options.clear();
        self.ends.clear();
    }

    pub fn add_setting(&mut self, options: &[Candidate]) -> Result<usize> {
        let setting = self.ends.len();
        check_setting(setting, options)?;
        let end = u32::try_from(self.options.len() + options.len())
            .map_err(|_| error!(LimitExceeded, "setting {setting}: more than 4294967295 options in total"))?;
        self.options.try_reserve(options.len())?;
        self.ends.try_reserve(1)?;
        self.options.extend_from_slice(options);
        self.ends.push(end);
        Ok(setting)
    }

    pub fn setting_count(&self) -> usize {
        self.ends.len()
    }

    pub fn option_count(&self) -> usize {
        self.options.len()
    }

    /// The options of all settings.
    pub fn options(&self) -> &[Candidate] {
        &self.options
    }

    /// The end of each setting's options.
    pub fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// Each setting's options.
    pub fn settings(&self) -> impl Iterator<Item = &[Candidate]> + '_ {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.options[std::mem::replace(&mut start, end as usize)..end as usize])
    }

    /// The sums of the chosen options, added in setting order. All reported sums come from this function.
    pub fn totals(&self, choices: &[u16]) -> Totals {
        let mut totals = Totals::default();
        for (options, &choice) in self.settings().zip(choices) {
            if choice != NO_CHOICE {
                totals = totals.plus(options[choice as usize].into());
            }
        }
        totals
    }

    pub fn memory_used(&self) -> usize {
        bytes(&self.options) + bytes(&self.ends)
    }
}

fn check_setting(setting: usize, options: &[Candidate]) -> Result<()> {
    if options.len() > MAX_OPTIONS_PER_SETTING {
        return Err(error!(
            LimitExceeded,
            "setting {setting} has {} options: at most {MAX_OPTIONS_PER_SETTING} are possible",
            options.len()
        ));
    }
    match options.iter().position(|option| !is_valid(option)) {
        None => Ok(()),
        Some(index) => Err(complaint(setting, index, &options[index])),
    }
}

fn is_valid(option: &Candidate) -> bool {
    is_number(option.value) && (is_number(option.mean) || option.mean == f64::INFINITY) && is_variance(option.variance)
}

/// False for NaN, which is in no range.
fn is_number(number: f64) -> bool {
    (-LARGEST_NUMBER..=LARGEST_NUMBER).contains(&number)
}

fn is_variance(number: f64) -> bool {
    (0.0..=LARGEST_NUMBER).contains(&number)
}

fn complaint(setting: usize, index: usize, option: &Candidate) -> crate::base::Error {
    let Candidate { value, mean, variance } = *option;
    if !is_number(value) {
        let value = Number(value);
        error!(InvalidArgument, "setting {setting}, option {index}: value is {value}, not a number within ±1e100")
    } else if !is_variance(variance) {
        let variance = Number(variance);
        error!(InvalidArgument, "setting {setting}, option {index}: variance is {variance}, not from 0 to 1e100")
    } else {
        let mean = Number(mean);
        error!(
            InvalidArgument,
            "setting {setting}, option {index}: mean is {mean}, neither within ±1e100 nor +infinity (cannot be chosen)"
        )
    }
}
