//! Tuning constants for stable choices: how long choices are held, and how often they may change.
//!
//! The *hard set* below is `cargo bench -p hobgoblin-bench --bench goblin -- --renderer --seeds 4` with `--only` walk,
//! race, cuts (both), bursts, game and trim. Its figures are the mean value as a share of the oracle's, and the changes
//! a second. Each was measured with the other constants as they were when this one was set.

/// The type of [`TUNING`].
#[derive(Debug)]
pub struct Tuning {
    /// How many of the slowest common-factor followers make forecasts. The others normalise samples only. Not measured
    /// alone: with 4, before other changes, `common-12%` had .904 of the value, now .970.
    pub slow_followers: usize,
    /// Step of the hold share for a late frame. All rows (6 seeds): .1 .9683 of the value at .90 % late, .15 .9686 at
    /// .93 %, .25 .9673 at .93 %, .4 .9676 at .91 %.
    pub hold_step: f64,
    /// The largest hold share, and the first. With .8, all rows have .969 instead of .974 of the value, at .85 % late
    /// instead of .94 %. With .6, the hard set has .9437 instead of .9461, at 1.07 % late.
    pub hold_most: f64,
    /// The share of the margin that TRIM settings keep, which follow every frame. The row `trim` (12 seeds): 1 .947 of
    /// the value at .94 % late, .85 .956 at .99 %, .7 .968 at 1.10 %, .5 .980 at 1.32 %.
    pub trim_share: f64,
    /// Step of the margin for a late frame, and the range of the margin. With a step of .01, all rows (8 seeds) have .9670
    /// instead of .9706 of the value, both at .94 % late.
    pub margin_step: f64,
    pub margin_least: f64,
    pub margin_most: f64,
    /// The share of the asked late frames at which the margin settles. The rest is for frames that are late because the
    /// scene has changed, which no margin prevents. With .8 instead of .9 the value is .002 lower (8 seeds).
    pub margin_aim: f64,
    /// A frame is near the limit if its forecast with the whole margin is above 1 minus this share of the limit. Only such
    /// frames lower the hold share and the margin.
    pub hold_near: f64,
    /// The most changes that the account saves, in seconds of its rate. The hard set: 2 s .9406, 4 s .9461, 8 s .9490.
    pub saved_seconds: f64,
    /// Share of the host's rate that the account earns. With the saved changes, a minute then has no more voluntary
    /// changes than the host allows: .9 × 60 + 6.
    pub earned_share: f64,
    /// The largest overdraft by forced changes, in changes. Beyond it, debt is forgotten.
    pub most_debt: f64,
    /// Length of the learning phase after a setting was added, in decisions. Changes are free in it, because the
    /// options must be learned.
    pub learning: u64,
    /// The factor on the patience long after a change point, and the decisions until it is reached. The hard set: a
    /// factor of 8 .9499, 20 .9461, 40 .9450.
    pub patience_most: f64,
    pub patience_ramp: f64,
    /// The weight of lost value long after a change point. The hard set: 3 .9487, 7 .9461.
    pub loss: f64,
    /// Share of the deviation that targets and forced changes leave free. All rows (6 seeds): .15 .9694 at .99 % late, .3
    /// .9686 at .93 %, .5 .9671 at .88 %. With the last margins (8 seeds): .2 .9706 at .94 %, .3 .9694 at .91 %.
    pub band: f64,
    /// Decisions in which a forced change must pay for itself. The hard set: 60 .9454, 120 .9461, 300 .9469.
    pub forced_horizon: f64,
    /// The loss and the horizons while changes also explore: in the learning phase, and always with totals only. With
    /// `loss`, `forced_horizon` and `horizon` instead, `past-x0.5` has 93.2 % instead of 97.8 % of the value in its
    /// worst ten frames.
    pub free_loss: f64,
    pub free_forced_horizon: f64,
    pub free_horizon: f64,
    /// Least decisions in which a voluntary change must pay for itself. The hard set: 400 .9486, 900 .9461.
    pub horizon: f64,
    /// The penalty of each forced change, as a share of the mean value range of a setting. The hard set: 0 .9416, .1
    /// .9428, .5 .9461, 1 .9465 with more late frames.
    pub forced_change: f64,
    /// Decisions between two searches for a target.
    pub search_interval: u64,
    /// Decisions that a trial lasts, between two trials, and without a change before one. The hard set: 1,800 between
    /// two trials .9509 at 1.01 % late, 3,600 .9518 at .97 % late.
    pub trial_length: u64,
    pub trial_interval: u64,
    pub trial_quiet: u64,
    /// A return to an option within this many seconds after its replacement is a reversal.
    pub reversal_seconds: f64,
    /// Reversals a minute at the regular price times `return_factor`. Not measured alone: with 2, before other changes,
    /// eight rows of 14 had more than 2 reversals a minute.
    pub reversals_per_minute: f64,
    /// The factor on the price of a reversal.
    pub return_factor: f64,
    /// The same factor once the minute's reversals are spent: for forced and for voluntary changes.
    pub forced_return_factor: f64,
    pub voluntary_return_factor: f64,
}

/// The present values.
pub const TUNING: Tuning = Tuning {
    slow_followers: 3,
    hold_step: 0.15,
    hold_most: 0.7,
    trim_share: 0.75,
    margin_step: 0.005,
    margin_least: 0.6,
    margin_most: 1.3,
    margin_aim: 0.9,
    hold_near: 0.1,
    saved_seconds: 6.0,
    earned_share: 0.9,
    most_debt: 60.0,
    learning: 1024,
    patience_most: 6.0,
    patience_ramp: 600.0,
    loss: 3.0,
    band: 0.2,
    forced_horizon: 300.0,
    free_loss: 7.0,
    free_forced_horizon: 120.0,
    free_horizon: 900.0,
    horizon: 400.0,
    forced_change: 0.5,
    search_interval: 30,
    trial_length: 60,
    trial_interval: 3600,
    trial_quiet: 60,
    reversal_seconds: 10.0,
    reversals_per_minute: 1.0,
    return_factor: 2.0,
    forced_return_factor: 100.0,
    voluntary_return_factor: 1e5,
};
