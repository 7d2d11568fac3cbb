//! Tuning constants: everything that sets how fast, how careful and how calm the goblin is.
//!
//! Each constant has its unit and the measurement that set it. Figures without a command are of
//! `cargo bench -p hobgoblin-bench --bench goblin -- --renderer`. They are the mean value as a share of the oracle's,
//! the share of late frames, or the changes a second. The *hard set* is that run with `--seeds 4` and `--only` walk,
//! race, cuts (both), bursts, game and trim. Each constant was measured with the others as they were then.
//!
//! *Half* and *double* show how sensitive the goblin is: all rows with that share of one constant (`--seeds 4`). As
//! set, they have .9738 of the value at .95 % late. In `Regression` and `Totals` the figures are the values of the rows
//! `totals-4s` and `totals-1%` without `--renderer` (`--seeds 8`). As set, they have 97.6 and 97.1 %. No intervals were
//! computed, so small differences may be chance. Whole numbers are rounded. *No difference* includes constants that
//! these rows do not exercise. *Not measured alone* means that no figure compares the value with another one.

mod choose;
mod explore;
mod learn;

pub use choose::{Hysteresis, Lever, Pace, Price, Thermal, Trim, Watch};
pub use explore::{Guess, Totals, Trial};
pub use learn::{Calibration, Controller, Drift, FOLLOWERS, Forecast, Hold, Regression};

/// Declares a group of constants, with each value beside its description.
macro_rules! constants {
    ($(#[$about:meta])* $group:ident { $($(#[$doc:meta])* $name:ident: $type:ty = $value:expr,)* }) => {
        $(#[$about])*
        #[derive(Debug)]
        pub struct $group {
            $($(#[$doc])* pub $name: $type,)*
        }

        impl $group {
            /// The values in use.
            pub const VALUES: Self = Self { $($name: $value,)* };
        }
    };
}
use constants;

/// All constants, by the part of the goblin that uses them.
#[derive(Debug)]
pub struct Tuning {
    pub forecast: Forecast,
    pub calibration: Calibration,
    pub hold: Hold,
    pub drift: Drift,
    pub controller: Controller,
    pub regression: Regression,
    pub hysteresis: Hysteresis,
    pub price: Price,
    pub pace: Pace,
    pub thermal: Thermal,
    pub trim: Trim,
    pub watch: Watch,
    pub lever: Lever,
    pub trial: Trial,
    pub guess: Guess,
    pub totals: Totals,
    /// Decisions after which a lane with a limit should have a measurement; then a warning is logged. Not measured
    /// alone.
    pub unmeasured_lane: u64,
}

/// The values in use.
pub const TUNING: Tuning = Tuning {
    forecast: Forecast::VALUES,
    calibration: Calibration::VALUES,
    hold: Hold::VALUES,
    drift: Drift::VALUES,
    controller: Controller::VALUES,
    regression: Regression::VALUES,
    hysteresis: Hysteresis::VALUES,
    price: Price::VALUES,
    pace: Pace::VALUES,
    thermal: Thermal::VALUES,
    trim: Trim::VALUES,
    watch: Watch::VALUES,
    lever: Lever::VALUES,
    trial: Trial::VALUES,
    guess: Guess::VALUES,
    totals: Totals::VALUES,
    unmeasured_lane: 120,
};
