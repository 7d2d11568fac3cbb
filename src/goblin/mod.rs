//! The goblin: chooses an option of every setting, every frame.
//!
//! The host declares *settings*, each with *options* of a certain *value*. The goblin learns the cost of each option
//! (its *burden*) from measurements. Every frame it chooses one option of each setting. The choice maximises the total
//! value while mean + sigmas × deviation of the total burden stays inside the limit. The idea, the vocabulary and the
//! estimators are those of Performance Goblin (Evan Balster); `docs/decisions.md` says where we differ and why.
//!
//! A frame has two halves. [`Goblin::harvest`] closes the samples that [`Goblin::measure`] reported. They may be late:
//! each names the *decision* of its frame. [`Goblin::decide`] estimates every burden, formulates a multiple-choice
//! knapsack, solves it, and tries an unknown option where there is room (`explore`). [`Goblin::update`] does both.
//!
//! Neither half allocates: memory is reserved when settings are added.
//!
//! # Rooms
//! Each room owns its state, and uses only those above it in this list:
//! * `learn`: the costs of options. It has estimates by task, recent decisions, and corrections of forecasts.
//! * `question`: the settings and strategies of the host, and the knapsack that they make.
//! * `choose`: the choices in force, and when a better one replaces them.
//! * `explore`: trials of options with unknown cost.
//! * `record`: the commands of the host, their recording and replay.
//!
//! `core` calls them in order: `measure` and `decide` are the two halves of a frame, `settings` the calls that
//! change settings, `query` those that change nothing. All constants are in `tuning`.
#![forbid(unsafe_code)]

mod choose;
mod config;
mod core;
mod decide;
mod decision;
mod errors;
mod explore;
mod frame;
mod lanes;
mod learn;
mod measure;
mod published;
mod query;
mod question;
mod record;
mod rows;
mod settings;
mod tuning;
mod warnings;

pub use choose::reason::{Reason, Why};
pub use config::{Burdens, Config, Exploration, LANES, LARGEST};
pub use decision::{Decision, Net};
pub use learn::harvest::{Sample, Statistics};
pub use published::{Published, Snapshot};
pub use question::product::ProductDesc;
pub use question::setting::{OptionDesc, SettingDesc};
pub use question::shape::{Axis, MOST_AXES};
pub use question::strategy::StrategyDesc;
pub use record::command::{Answer, Command};
pub use record::goblin::Goblin;
pub use record::replay::{Difference, End, Report, replay};

#[cfg(test)]
mod tests;
