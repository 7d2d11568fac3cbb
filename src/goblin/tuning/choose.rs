//! Constants of stable choices: how long they are held, and how often they change.

use super::constants;

constants! {
    /// Hysteresis: the band that a new choice leaves free, and the search for a better choice.
    Hysteresis {
        /// Share of the deviation that targets and forced changes leave free. All rows (6 seeds): .15 .9694 at .99 %
        /// late, .3 .9686 at .93 %, .5 .9671 at .88 %. With the last margins (8 seeds): .2 .9706 at .94 %, .3 .9694 at
        /// .91 %.
        band: f64 = 0.2,
        /// Widest band, as a share of the limit. Not measured alone.
        widest_band: f64 = 0.04,
        /// Growth factor of the band with each forced change, its largest factor, and the time constant of its decay in
        /// decisions. Not measured alone.
        band_growth: f64 = 1.2,
        most_band_growth: f64 = 8.0,
        band_decay: f64 = 2000.0,
        /// With totals only, there are few settings and rough deviations. The band is ignored if it leaves less than
        /// this share of a large gain. Not measured alone.
        least_banded_gain: f64 = 0.5,
        /// The band is not ignored while recent forced changes have widened it by more than this factor. Not measured
        /// alone.
        narrow_band: f64 = 2.5,
        /// A forced change with an excess above this many deviations is a change point, not a small fluctuation. Not
        /// measured alone.
        change_point_excess: f64 = 3.0,
        /// A taken gain above this share of the value is a change point. Not measured alone.
        change_point_gain: f64 = 0.05,
        /// Decisions of the transient after a change point. Small fluctuations are expected in it. Not measured alone.
        transient: u64 = 120,
        /// A gain above this share of the value is large: a target is searched at once. Not measured alone.
        large_gain: f64 = 0.01,
        /// A gain below this share of the value is ignored. Not measured alone.
        least_gain: f64 = 1e-6,
        /// Decisions between two searches for a target: with a limit on changes; while changes are free; and while they
        /// are free for a large gain, long after a change point. Not measured alone.
        search_interval: u64 = 30,
        free_search_interval: u64 = 32,
        large_gain_interval: u64 = 8,
        /// Most searches for a target with fewer changes each time. Not measured alone.
        most_searches: usize = 4,
        /// A target is replaced when the best choice gains this many times as much. Not measured alone.
        replaced_at: f64 = 4.0,
        /// Cooldown after a forced change, in decisions: targets with small gains wait, because the excess may return.
        /// Not measured alone.
        cooldown: u64 = 120,
        /// Solver effort for targets and trials, which need not be optimal: the accepted gap and the visited nodes, at
        /// most. Not measured alone.
        rough_gap: f64 = 0.0001,
        rough_nodes: u64 = 128,
        /// The share of the margin that TRIM settings keep, which follow every frame. The row `trim` (12 seeds): 1 .947
        /// of the value at .94 % late, .85 .956 at .99 %, .7 .968 at 1.10 %, .5 .980 at 1.32 %.
        trim_share: f64 = 0.75,
    }
}

constants! {
    /// The price of changes, in value times decisions.
    Price {
        /// The factor on the patience long after a change point, and the decisions until it is reached. The hard set: a
        /// factor of 8 .9499, 20 .9461, 40 .9450.
        patience_most: f64 = 6.0,
        patience_ramp: f64 = 600.0,
        /// The weight of lost value relative to gained value, long after a change point. The hard set: 3 .9487, 7 .9461.
        loss: f64 = 3.0,
        /// The same weight right after a change point, and the decisions until it reaches `loss`. Not measured alone.
        first_loss: f64 = 1.5,
        loss_ramp: f64 = 3000.0,
        /// Decisions in which a forced change must pay for itself. The hard set: 60 .9454, 120 .9461, 300 .9469.
        forced_horizon: f64 = 300.0,
        /// Least decisions in which a voluntary change must pay for itself. The hard set: 400 .9486, 900 .9461.
        horizon: f64 = 400.0,
        /// The loss and the horizons while changes also explore: in the learning phase, and always with totals only.
        /// With `loss`, `forced_horizon` and `horizon` instead, `past-x0.5` has 93.2 % instead of 97.8 % of the value in
        /// its worst ten frames.
        free_loss: f64 = 7.0,
        free_forced_horizon: f64 = 120.0,
        free_horizon: f64 = 900.0,
        /// The penalty of each forced change, as a share of the mean value range of a setting. The hard set: 0 .9416, .1
        /// .9428, .5 .9461, 1 .9465 with more late frames.
        forced_change: f64 = 0.5,
        /// The factor on the price of a change while the setting dwells. It excludes voluntary changes, and is finite so
        /// that a change remains possible if nothing else fits.
        dwelling: f64 = 1e6,
        /// The factor on the price of a reversal. Not measured alone.
        reversal: f64 = 2.0,
        /// The same factor once the minute's reversals are spent: for forced and for voluntary changes. Not measured
        /// alone.
        spent_forced_reversal: f64 = 100.0,
        spent_reversal: f64 = 1e5,
    }
}

constants! {
    /// The rate limiter of visible changes.
    Pace {
        /// The most changes that the account saves, in seconds of its rate. The hard set: 2 s .9406, 4 s .9461, 8 s
        /// .9490.
        saved_seconds: f64 = 6.0,
        /// Share of the host's rate that the account earns. With the saved changes, a minute then has no more voluntary
        /// changes than the host allows: .9 × 60 + 6.
        earned_share: f64 = 0.9,
        /// The largest overdraft by forced changes, in changes. Beyond it, debt is forgotten. Not measured alone.
        most_debt: f64 = 60.0,
        /// Length of the learning phase after a setting was added, in decisions. Changes are free in it, because the
        /// options must be learned. Not measured alone.
        learning: u64 = 1024,
        /// A return to an option within this many seconds after its replacement is a reversal. It defines the
        /// term, and was not tuned.
        reversal_seconds: f64 = 10.0,
        /// Reversals a minute at the regular price times `reversal`. Not measured alone: with 2, before other changes,
        /// eight rows of 14 had more than 2 reversals a minute.
        reversals_per_minute: f64 = 1.0,
    }
}

constants! {
    /// The estimate of the best choice between two solves.
    Watch {
        /// Decisions between two solves while a choice is held. With a solve in every decision, `iid-4s` (20 seeds) took
        /// 22.9 instead of 7.0 us in the median.
        solve_interval: u64 = 32,
        /// A gain that has grown by this share of the value triggers a solve. Not measured alone.
        moved: f64 = 0.003,
    }
}

constants! {
    /// Dead levers.
    Lever {
        /// The least expected saving: in deviations of a sample, and as a share of the former cost. Not measured alone.
        least_deviations: f64 = 3.0,
        least_share: f64 = 0.1,
        /// Samples that decide. At 60 decisions a second they take less than half a second. Not measured alone.
        samples: u64 = 24,
        /// Least saving of a lever that works, as a share of the expected one. Not measured alone.
        least_saving: f64 = 0.25,
        /// Increase of the cost by the return, as a share of the expected saving, above which the lever works after all.
        /// Not measured alone.
        recovered: f64 = 0.5,
        /// Rest of a dead lever, in seconds. Not measured alone.
        rest_seconds: f64 = 60.0,
    }
}
