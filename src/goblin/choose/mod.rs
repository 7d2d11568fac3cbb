//! The choice: when a better one replaces the present one.
//!
//! The solver's answer moves a little every frame, so the room holds a choice while it fits ([`steady`]). Changes have a
//! [`price`], and the visible ones are counted ([`pace`]). Between two solves the best choice is estimated ([`watch`]).
//! TRIM settings use the rest ([`mod@trim`]). Settings that save nothing are found ([`lever`]). Each choice has a
//! [`reason`], found by [`explain`]. A hot device uses less of a limit ([`thermal`]). The room owns the choice of each setting and its history ([`kept`]).

pub mod explain;
pub mod kept;
pub mod lever;
pub mod pace;
pub mod price;
pub mod reason;
pub mod recent;
pub mod steady;
pub mod switch;
pub mod target;
pub mod thermal;
pub mod trim;
pub mod watch;

use super::config::LANES;
use super::frame::Frame;
use super::rows::Rows;
use kept::Kept;
use pace::Pace;
use target::Target;
use thermal::Thermal;
use trim::LateChanges;
use watch::Watch;

/// The choices in force.
#[derive(Debug)]
pub struct Choose {
    /// By position of the setting.
    pub kept: Rows<Kept>,
    pub target: Target,
    pub pace: Pace,
    watch: Watch,
    late_changes: LateChanges,
    /// The host's factor on the price of changes.
    pub switch_scale: f64,
    /// The sustainable share of the limit, by the host's lane.
    pub thermals: [Thermal; LANES],
}

impl Default for Choose {
    fn default() -> Self {
        Self {
            kept: Rows::default(),
            target: Target::default(),
            pace: Pace::default(),
            watch: Watch::default(),
            late_changes: LateChanges::default(),
            switch_scale: 1.0,
            thermals: [Thermal::default(); LANES],
        }
    }
}

impl Choose {
    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        self.kept.memory_used()
    }

    /// Forget the last solution: its lanes are others.
    pub fn change_lanes(&mut self) {
        self.watch = Watch::default();
    }

    /// Credit the change account for this decision. `is_free`: changes cost nothing now.
    pub fn begin_pace(&mut self, frame: &Frame<'_>, is_free: bool) {
        let rate = frame.config.changes_per_second / frame.config.decisions_per_second;
        let price = if is_free || rate.is_infinite() { 0.0 } else { self.switch_scale };
        self.pace.begin(frame.now, rate.min(1e6), price, 60.0 * frame.config.decisions_per_second);
    }
}
