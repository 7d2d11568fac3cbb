//! `goblin.h`: the tuning of a goblin's decisions.

use hobgoblin_macros::{open_enum, versioned};

use super::ids::or_else;
use crate::base::{Result, error};
use crate::ffi::base::structs::Versioned;
use crate::goblin::{Config, Exploration};

// == Parameters ==

/// How options of unknown burden are tried.
#[open_enum]
#[repr(C)]
pub enum hob_exploration {
    /// Only if the other settings leave room for a cautious guess. If the guess is too low, frames of the trial are
    /// late. A trial lasts a frame, or until it is measured if its switch_burden is above 2 % of the limit. After the
    /// learning phase, other settings make room for a little-known option that does not fit otherwise. They do so for a
    /// second, and at most once in 320 s, or more often if changes_per_second is HUGE_VAL.
    Bounded = 0,
    /// An unknown option is taken to be cheap, so it is chosen until its burden is known (as in Performance Goblin).
    /// Learns fast where late frames do not matter, as on a loading screen. A common slow-down is measured
    /// (hob_goblin_statistics.anomaly), but estimates do not use it.
    Optimistic = 1,
}

/// hob_goblin_tuning.trial_limit: no option is tried.
/// An option that was never measured, and that no past profile has, is then never chosen.
pub const HOB_NO_TRIALS: u32 = 4294967295;
/// hob_goblin_tuning.precision: the proven optimum.
pub const HOB_PRECISION_PROVEN: u32 = 4294967295;

/// How a goblin decides.
/// The defaults suit most renderers. 0 in a field means its default.
#[versioned(size = 64, last = node_limit)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_goblin_tuning {
    /// sizeof(hob_goblin_tuning).
    pub struct_size: u32,
    /// How unknown options are tried. Default HOB_EXPLORATION_BOUNDED.
    pub exploration: hob_exploration,
    /// Safety margin, in standard deviations: mean + sigmas * deviation of the total burden must fit the limit. 0 to
    /// 100. Default 3. Negative: deviations are ignored. If overrun_probability is set, it replaces this.
    #[default(3.0)]
    pub sigmas: f64,
    /// Extra value of an option with fewer samples than measure_quota, so that it is chosen and measured more often.
    /// -1e9 to 1e9. Default 0.
    pub explore_value: f64,
    /// Probability that the options on trial make a frame late. 1e-6 to 0.5. Default 0.015. A switch_burden comes on
    /// top: where changes take long, the first seconds have more late frames.
    #[default(0.015)]
    pub trial_risk: f64,
    /// Most options on trial in one frame. Default 8. HOB_NO_TRIALS: no trials.
    #[default(8)]
    pub trial_limit: u32,
    /// Samples of an option after which only its recent samples count. Default 30.
    #[default(30)]
    pub measure_quota: u32,
    /// Largest total switch_burden of voluntary changes in one decision; the other changes wait. One voluntary change
    /// is always allowed. Default: no limit.
    #[default(f64::INFINITY)]
    pub switch_limit: f64,
    /// Decisions for which a setting keeps a choice that still fits. Default 0.
    pub dwell: u32,
    /// Accepted distance from the optimum, as 1/precision. Default 1000. It is a share of the optimum's value above
    /// that of the lightest choices: see hob_knapsack_solve_desc.accepted_gap. HOB_PRECISION_PROVEN: the optimum. If
    /// node_limit ends the search first, the distance can be greater; hob_decision.gap shows it.
    #[default(1000)]
    pub precision: u32,
    /// Most nodes of the solver's search in one decision. It limits the time without a clock. Default 256. If precision
    /// is at most 100, 256 means 4096: then the search usually ends long before, but needs more on rare hard values.
    /// Above 4096 a decision may allocate memory.
    #[default(DEFAULT_NODE_LIMIT)]
    pub node_limit: u64,
}

const DEFAULT_NODE_LIMIT: u64 = 256;

/// Up to this precision the default number of nodes is the other one. With it a precision of 20 was reached on all of
/// 18,761 instances of Pisinger's families of 3 to 50 settings, with 256 nodes on all but 56.
const COARSE_PRECISION: u32 = 100;
const COARSE_NODE_LIMIT: u64 = 4096;

impl hob_goblin_tuning {
    fn nodes(&self) -> u64 {
        let is_coarse = self.precision <= COARSE_PRECISION;
        if is_coarse && self.node_limit == DEFAULT_NODE_LIMIT { COARSE_NODE_LIMIT } else { self.node_limit }
    }

    /// The given parameters with this tuning.
    pub fn apply(&self, config: &Config) -> Result<Config> {
        Ok(Config {
            sigmas: if self.sigmas < 0.0 { 0.0 } else { self.sigmas },
            explore_value: self.explore_value,
            measure_quota: self.measure_quota,
            exploration: match self.exploration {
                hob_exploration::Bounded => Exploration::Bounded,
                hob_exploration::Optimistic => Exploration::Optimistic,
                other => return Err(error!(InvalidArgument, "exploration {} is not a hob_exploration", other.0)),
            },
            trial_limit: if self.trial_limit == HOB_NO_TRIALS { 0 } else { self.trial_limit },
            trial_risk: self.trial_risk,
            switch_limit: self.switch_limit,
            dwell: self.dwell,
            precision: if self.precision == HOB_PRECISION_PROVEN { 0 } else { self.precision },
            node_limit: self.nodes(),
            ..*config
        })
    }
}

impl From<&Config> for hob_goblin_tuning {
    fn from(config: &Config) -> Self {
        Self {
            exploration: match config.exploration {
                Exploration::Bounded => hob_exploration::Bounded,
                Exploration::Optimistic => hob_exploration::Optimistic,
            },
            sigmas: or_else(config.sigmas, -1.0),
            explore_value: config.explore_value,
            trial_risk: config.trial_risk,
            trial_limit: or_else(config.trial_limit, HOB_NO_TRIALS),
            measure_quota: config.measure_quota,
            switch_limit: config.switch_limit,
            dwell: config.dwell,
            precision: or_else(config.precision, HOB_PRECISION_PROVEN),
            node_limit: config.node_limit,
            ..Self::defaults()
        }
    }
}
