//! The configuration of a goblin.

use super::tuning::TUNING;
use crate::base::{Number, Result, error};
use crate::knapsack::Effort;
use crate::profile::{Blind, Hitches, Rules};
use crate::stats::normal_quantile;

/// Number of lanes, the budgeted resources of a frame. Frame time is the longest of the time lanes; memory lanes are
/// separate.
pub const LANES: usize = 8;

/// The names of the lanes in profiles and messages.
pub const LANE_NAMES: [&str; LANES] =
    ["gpu", "frame", "game_thread", "render_thread", "video_memory", "user0", "user1", "user2"];

/// Largest accepted value, burden and work. Sums, products and squares of such numbers keep their precision.
pub const LARGEST: f64 = 1e9;

/// How unknown options are explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exploration {
    /// An option without data is put on trial for a frame, after the learning phase for a second. It is tried only if a
    /// cautious estimate of its burden fits beside the other choices.
    Bounded,
    /// As in the seed: an option without data looks cheap, so the solver picks it until measurements show its cost.
    Optimistic,
}

/// Where burdens come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Burdens {
    /// From measurements of single settings.
    Learned,
    /// From the host's rough relative burdens; only frame totals are measured, and a controller finds the capacity.
    Relative,
    /// As `Relative`, but a regression of totals on choices estimates the cost of each option.
    Totals,
}

/// A goblin's parameters; see `hob_goblin_desc` for units and ranges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Capacity of each lane; infinite for a lane that is not governed.
    pub limits: [f64; LANES],
    /// Deviations kept free.
    pub sigmas: f64,
    /// Share of frames that may be over the limit; 0 uses `sigmas`.
    pub overrun_probability: f64,
    /// How long a better choice must persist before it is applied: until its summed gain reaches this many times the
    /// moved value. Moves up and down both count. 0 applies it at once.
    pub patience: f64,
    /// Extra value of an option with fewer samples than the quota.
    pub explore_value: f64,
    /// Number of samples after which an option's recent burden is used alone.
    pub measure_quota: u32,
    /// Limit of visible changes a second. TRIM settings are exempt; trials and their returns count. Infinite: no limit.
    pub changes_per_second: f64,
    /// Decisions a second. Durations are counted in decisions, so that a replay makes the same choices.
    pub decisions_per_second: f64,
    /// How unknown options are explored.
    pub exploration: Exploration,
    /// Most options tried in one frame, when bounded; 0 tries none.
    pub trial_limit: u32,
    /// Approximate probability that trials make a frame exceed a limit.
    pub trial_risk: f64,
    /// Least number of decisions for which a setting keeps a choice, unless it no longer fits.
    pub dwell: u32,
    /// Most switch burden of voluntary changes in one decision.
    pub switch_limit: f64,
    /// Accepted distance from the optimum as 1/precision; 0 requires the proven optimum.
    pub precision: u32,
    /// Most nodes that the solver visits in one update.
    pub node_limit: u64,
    /// Number of remembered decisions, for late samples.
    pub history: u32,
    /// Where burdens come from.
    pub burdens: Burdens,
    /// Most settings.
    pub max_settings: u32,
    /// Memory limit in bytes.
    pub memory_limit: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            limits: [f64::INFINITY; LANES],
            sigmas: 3.0,
            overrun_probability: 0.0,
            patience: 1.0,
            explore_value: 0.0,
            measure_quota: 30,
            changes_per_second: 1.0,
            decisions_per_second: 60.0,
            exploration: Exploration::Bounded,
            trial_limit: 8,
            trial_risk: 0.015,
            dwell: 0,
            switch_limit: f64::INFINITY,
            precision: 1000,
            node_limit: 256,
            history: 64,
            burdens: Burdens::Learned,
            max_settings: 65_536,
            memory_limit: u64::MAX,
        }
    }
}

impl Config {
    /// Reject invalid parameters with an error. A replay accepts limits of 0 and below, because recordings may have
    /// them.
    pub fn check(&self, is_replay: bool) -> Result<()> {
        check_limits(&self.limits, is_replay)?;
        let in_range = |what, x: f64, from: f64, to: f64| {
            if x >= from && x <= to {
                Ok(())
            } else {
                let [x, from, to] = [x, from, to].map(Number);
                Err(error!(InvalidArgument, "{what} is {x}: it must be {from} to {to}"))
            }
        };
        // The C interface uses negative numbers as special values, so the message gives the upper bound only.
        let at_most = |what, x: f64, most: f64| {
            if x >= 0.0 && x <= most {
                Ok(())
            } else {
                let [x, most] = [x, most].map(Number);
                Err(error!(InvalidArgument, "{what} is {x}: it must be at most {most}"))
            }
        };
        at_most("sigmas", self.sigmas, 100.0)?;
        in_range("overrun_probability", self.overrun_probability, 0.0, 0.5)?;
        at_most("patience", self.patience, LARGEST)?;
        in_range("changes_per_second", self.changes_per_second, 1e-3, f64::INFINITY)?;
        in_range("decisions_per_second", self.decisions_per_second, 1e-3, LARGEST)?;
        in_range("trial_risk", self.trial_risk, 1e-6, 0.5)?;
        in_range("switch_limit", self.switch_limit, 0.0, f64::INFINITY)?;
        in_range("explore_value", self.explore_value, -LARGEST, LARGEST)?;
        in_range("history", f64::from(self.history), 1.0, 65_536.0)?;
        in_range("max_settings", f64::from(self.max_settings), 0.0, 16_777_216.0)
    }

    /// Share of late frames that the host allows: as configured, or that beyond the sigmas of a normal distribution. It is
    /// approximated as in J.-T. Lin, "Approximating the normal tail probability and its inverse", 1989.
    pub fn allowed_lateness(&self) -> f64 {
        let sigmas = self.sigmas.max(0.0);
        if self.overrun_probability > 0.0 {
            self.overrun_probability
        } else {
            0.5 * (-0.717 * sigmas - 0.416 * sigmas * sigmas).exp()
        }
    }

    /// Deviations kept free: as configured, or for the configured probability if burdens are normal and independent.
    pub fn nominal_sigmas(&self) -> f64 {
        if self.overrun_probability > 0.0 { -normal_quantile(self.overrun_probability) } else { self.sigmas }
    }

    /// Number of decisions in this many seconds.
    pub fn decisions_of(&self, seconds: f64) -> u64 {
        (seconds * self.decisions_per_second) as u64
    }

    /// Length of the learning phase, in decisions.
    pub fn learning_decisions(&self) -> u64 {
        let pace = &TUNING.pace;
        self.decisions_of(pace.learning_seconds).clamp(pace.least_learning, pace.most_learning)
    }

    /// Whether burdens are learned from samples, relative to the common factor.
    pub fn learns_samples(&self) -> bool {
        self.burdens == Burdens::Learned && self.exploration == Exploration::Bounded
    }

    /// Whether TRIM settings follow every frame. The controller of relative burdens needs choices that stay: a late frame
    /// lowers the capacity, and each punctual one raises it.
    pub fn trims(&self) -> bool {
        self.burdens != Burdens::Relative
    }

    /// Solver effort.
    pub fn effort(&self) -> Effort {
        Effort { accepted_gap: self.accepted_gap(), node_limit: self.node_limit }
    }

    /// How burdens are estimated.
    pub fn rules(&self) -> Rules {
        let blind = match self.exploration {
            Exploration::Bounded => Blind::Cautious,
            Exploration::Optimistic => Blind::Optimistic,
        };
        Rules { measure_quota: self.measure_quota, blind, hitches: Hitches::NONE }
    }

    /// Accepted relative gap.
    pub fn accepted_gap(&self) -> f64 {
        if self.precision == 0 { 0.0 } else { 1.0 / f64::from(self.precision) }
    }
}

/// Reject invalid limits; a replay rejects only limits that no recording has.
pub fn check_limits(limits: &[f64; LANES], is_replay: bool) -> Result<()> {
    let is_valid = |limit: f64| limit > 0.0 || (is_replay && limit > f64::NEG_INFINITY);
    match limits.iter().position(|&limit| !is_valid(limit)) {
        None => Ok(()),
        Some(lane) => Err(error!(
            InvalidArgument,
            "the limit of lane {lane} ({}) is {}: it must be above 0; infinity is no limit",
            LANE_NAMES[lane],
            Number(limits[lane])
        )),
    }
}
