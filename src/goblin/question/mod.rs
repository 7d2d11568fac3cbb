//! The question of a frame: which options there are, and what each is worth and costs.
//!
//! The room owns the settings as the host describes them ([`setting`], [`product`]), and the strategies ([`strategy`]).
//! It [turns](formulate) them and the estimates into a multiple-choice knapsack ([`formulation`]).

pub mod formulate;
pub mod formulation;
pub mod product;
pub mod setting;
pub mod shape;
pub mod strategy;

use crate::base::{Id, Result, Slots};
use formulation::Formulation;
use setting::Setting;
use strategy::Strategies;

/// The settings, the strategies, and the problem of the present decision.
#[derive(Debug, Default)]
pub struct Question {
    pub settings: Slots<Setting>,
    /// Number of options of all settings.
    pub option_count: usize,
    pub strategies: Strategies,
    pub formulation: Formulation,
}

impl Question {
    /// The setting at a position that has one.
    pub fn setting(&self, position: usize) -> &Setting {
        self.settings.at(position).expect("the position is that of a setting")
    }

    /// The setting at a position that has one.
    pub fn setting_mut(&mut self, position: usize) -> &mut Setting {
        self.settings.at_mut(position).expect("the position is that of a setting")
    }

    /// Reserve memory for another setting with this many options.
    pub fn reserve_one(&mut self, options: usize, lanes: usize) -> Result<()> {
        self.settings.reserve_one()?;
        self.formulation.reserve(self.settings.len() + 1, self.option_count + options, options, lanes)
    }

    /// Insert a setting; memory was reserved.
    pub fn insert(&mut self, setting: Setting) -> Id {
        self.option_count += setting.options.len();
        self.settings.insert(setting)
    }

    /// Remove a setting, and its numbers in strategies.
    pub fn remove(&mut self, id: Id) -> Option<Setting> {
        let position = self.settings.position(id)?;
        let setting = self.settings.remove(id)?;
        self.option_count -= setting.options.len();
        self.strategies.forget(position);
        Some(setting)
    }

    /// Number of options of the largest setting.
    pub fn widest(&self) -> usize {
        self.settings.iter().map(|(_, setting)| setting.options.len()).max().unwrap_or(0)
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        let of_settings: usize = self.settings.iter().map(|(_, setting)| setting.memory_used()).sum();
        of_settings + self.settings.memory_used() + self.strategies.memory_used() + self.formulation.memory_used()
    }
}
