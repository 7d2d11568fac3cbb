//! Constants of learning.

use super::constants;

/// Number of followers of the common factor.
pub const FOLLOWERS: usize = 5;

constants! {
    /// Forecasts of totals.
    Forecast {
        /// A forecast is judged if at least this share of it rests on enough samples. Half .9718 at .96 %, double .9948
        /// at 3.43 %.
        known_share: f64 = 0.8,
        /// Decisions until a new setting without a sample counts as unmeasured. Before that its samples may only be
        /// late, and totals without them do not show the residual. Half and double: no difference.
        first_sample: u64 = 32,
        /// A total does not wait for samples below this share of it. Half and double: no difference.
        negligible: f64 = 1e-4,
        /// Deviations of an option that half a switch burden must exceed, so that a sample shows whether it has the cost of a
        /// change. Not measured alone.
        telling: f64 = 2.0,
        /// Frames for which a change may cost time, its own one included. It defines the term, and was not tuned.
        change_frames: u64 = 3,
        /// Seconds for which a past profile is doubted after a decision in which nothing fitted. Always: `past-x0.5` has 77.7
        /// instead of 97 % of the value in its worst ten frames. Not measured alone.
        doubt_seconds: f64 = 10.0,
        /// Samples of a task with which its own ratio of present to past burdens weighs as much as that of all tasks. One
        /// pass takes four times as long as in the profile (`src/goblin/tests/honest.rs`, 10 minutes): the mean value is 7.1
        /// without own ratios, 11.7 with them, and 12.0 without a profile.
        own_ratio_samples: f64 = 8.0,
        /// Stray of own ratios on another machine, where they are all the same. Value of the worst ten frames in `past-x0.5`
        /// and `past-x2`: 97.0 and 96.6 %, without it 96.7 and 95.8 %.
        own_ratio_stray: f64 = 0.25,
        /// If its own ratio is so far from that of all, the past is of something else. Not measured alone.
        most_own_ratio: f64 = 8.0,
    }
}

constants! {
    /// Corrections of forecasts, learned from measured totals.
    Calibration {
        /// Smoothing factor of each follower of the common factor, from slow to fast: the share of a new factor that it
        /// takes over. Not measured alone.
        speeds: [f64; FOLLOWERS] = [0.0005, 0.004, 0.03, 0.2, 0.6],
        /// Relative handicap on each follower's mean square error. A faster follower must be better by this share to
        /// get the same weight, so slow followers are preferred and forecasts do not flicker. Not measured alone.
        handicaps: [f64; FOLLOWERS] = [0.0, 0.05, 0.12, 0.25, 0.4],
        /// The weight of a follower is the inverse of its mean square error to this power. The best one dominates, and
        /// others that are hardly worse count too. Half .9712 at .98 %, double .9731 at .94 %.
        sharpness: i32 = 20,
        /// How many of the slowest followers make forecasts. The others normalise samples only. Not measured alone:
        /// with 4, before other changes, `common-12%` had .904 of the value, now .970.
        slow_followers: usize = 3,
        /// Memory of the followers' errors, in decisions. Half .9734 at .98 %, double .9726 at .97 %.
        error_memory: f64 = 200.0,
        /// Initial relative forecast error of every follower. Half .9732 at .95 %, double .9715 at .95 %.
        first_error: f64 = 0.04,
        /// Relative errors below this share make no difference between followers. Half .9727 at .95 %, double .9741 at
        /// .97 %.
        least_error: f64 = 0.002,
        /// Share of a follower's log factor that is kept in each step. The rest decays, because estimates absorb
        /// lasting changes. Not measured alone.
        log_decay: f64 = 0.999_98,
        /// Common factors are clamped to this and its inverse. Half and double: no difference.
        most_factor: f64 = 8.0,
        /// Winsorising limit: ratios of measured to expected burdens are clamped to their median ± this share of it.
        /// Half .9747 at .98 %, double .9706 at .95 %.
        winsor_limit: f64 = 0.4,
        /// Change detection: a common factor is not chance if it is off by more than this many of its deviations, and
        /// by more than `least_shift` relatively. `shift_deviations` half .9659 at .91 %, double .9709 at .95 %;
        /// `least_shift` half .9753 at .95 %, double .9735 at .98 %. With it and `winsor_limit` halved (20 seeds): .9721 at
        /// .96 % instead of .9722 at .96 %. With 5 seeds from 101 on, `step-1%` then has 99.4 instead of 98.7 % after the step,
        /// and `ar1-1%` 97.2 instead of 98.6 %.
        shift_deviations: f64 = 4.0,
        least_shift: f64 = 0.08,
        /// The common factor follows up to this many totals in a row that are far from their forecasts. Further ones
        /// count as noise. Half .9739 at .94 %, double no difference.
        most_jumps: u32 = 30,
        /// A single total above this many times its forecast is a hitch. Half .9851 at 1.52 %, double .9733 at .94 %.
        hitch: f64 = 1.5,
        /// Least deviation of a forecast, as a share of it: timers are no more accurate than that. Half .9738 at .95 %,
        /// double .9756 at 1.18 %.
        least_deviation: f64 = 0.01,
        /// Memory of the common deviation, in residuals. Half .9736 at .94 %, double .9737 at .95 %.
        residual_memory: f64 = 1500.0,
        /// Residuals are clamped to this many deviations of the forecast, and to `most_residual` of the forecast:
        /// larger ones are not noise. `residual_deviations` half .9798 at 1.10 %, double .9731 at .95 %;
        /// `most_residual` half .9775 at .98 %, double no difference.
        residual_deviations: f64 = 6.0,
        most_residual: f64 = 0.5,
        /// Largest common deviation that a warm start assumes before any residual, as a share of the total. In 24 runs
        /// of a small renderer, 16 frames of the first two seconds were late with a profile and 9 without. With the
        /// assumption they are 1 and 7 (`src/goblin/tests/honest.rs`). Another share was not measured.
        most_assumed: f64 = 0.04,
        /// Range of the tail, the factor on the sigmas. Not measured alone.
        tail_range: std::ops::Range<f64> = 0.5..3.0,
        /// Relative step of the tail for a residual beyond it: the first, and the least. `tail_first_step` half .9732
        /// at 1.03 %, double .9693 at .99 %; `tail_step` half .9739 at .95 %, double .9736 at .93 %.
        tail_first_step: f64 = 0.05,
        tail_step: f64 = 0.003,
        /// Residuals after which the step of the tail begins to shrink. Half .9756 at .98 %, double .9708 at .97 %.
        tail_few: f64 = 300.0,
        /// Forecasts are not judged if the past-to-present ratio that they were made with is off by more than this
        /// share. Half and double: no difference.
        most_ratio_change: f64 = 0.05,
    }
}

constants! {
    /// Feedback from late frames on the margin: stochastic approximation of a quantile.
    Hold {
        /// Step of the hold share for a late frame. All rows (6 seeds): .1 .9683 of the value at .90 % late, .15 .9686
        /// at .93 %, .25 .9673 at .93 %, .4 .9676 at .91 %. With the later constants (8 other seeds): .15 .9739 at .943 %,
        /// .3 .9738 at .905 %.
        share_step: f64 = 0.3,
        /// The largest hold share, and the first. With .8, all rows have .969 instead of .974 of the value, at .85 %
        /// late instead of .94 %. With .6, the hard set has .9437 instead of .9461, at 1.07 % late.
        /// A share that counts late frames above its largest value, up to 1, was tried (20 seeds). All rows have .9701 instead of
        /// .9718 at .907 instead of .951 % late, and `race` 1.10 instead of 1.25 %.
        most_share: f64 = 0.7,
        /// Step of the margin for a late frame, and the range of the margin. With a step of .01, all rows (8 seeds)
        /// have .9670 instead of .9706 of the value, both at .94 % late. With a step of 2.5 / n, at most
        /// .05 and at least .005, where n counts the observed frames (6 seeds): .9688 at .89 % instead of .9739 at .96 %. Then
        /// `spikes`, `clock` and `common-12%` are at most 1.00 % late instead of 1.09 to 1.18 %.
        margin_step: f64 = 0.005,
        margin_least: f64 = 0.6,
        margin_most: f64 = 2.0,
        /// Where hitches make frames late: the first step that is added to `margin_step`, and the number of asked late frames
        /// that halve it. The row `spikes` has 1.015 of the value at 1.38 % late without both (60 seeds). With .04 and 20 it has
        /// .967 at 1.05 %, with .06 and 10 .964 at 1.02 %, with .08 and 10 .957 at .98 %.
        quick_step: f64 = 0.08,
        quick_late: f64 = 10.0,
        /// Frames with a hitch, as a multiple of the asked late frames, above which the margin moves so. With 1, the contest
        /// over the software recording has 94.62 instead of 94.84 % of the value; the renderer suite is the same.
        hitches: f64 = 5.0,
        /// Seconds without a change until hitches move the margin so. With 5, `game` and `trim` lose .002 and .006 of the
        /// value (12 seeds), and with 10 nothing.
        held_seconds: f64 = 10.0,
        /// The share of the asked late frames at which the margin settles. The rest is for frames that are late because
        /// the scene has changed, which no margin prevents. With .8 instead of .9 the value is .002 lower (8 seeds).
        margin_aim: f64 = 0.9,
        /// A frame is near the limit if its forecast with the whole margin is above 1 minus this share of the limit.
        /// Only such frames lower the hold share and the margin. Half .9733 at .95 %, double .9736 at .95 %.
        near: f64 = 0.1,
    }
}

constants! {
    /// Costs that drift for tens of seconds. Of all rows, only `heat` differs from a build without drifts (4 seeds). It has
    /// .9841 instead of .9896 of the value, .158 instead of .194 changes, and .40 instead of .50 % late.
    Drift {
        /// Seconds of a bin. Not measured alone.
        bin: f64 = 2.0,
        /// Seconds ahead of the forecast, and least seconds between two voluntary changes while costs drift. It defines
        /// the term, and was not tuned.
        ahead: f64 = 10.0,
        /// A drift is steeper than this many standard errors of the fitted line. With 6 and a least growth of .003,
        /// seven rows without drift changed; `spikes` had .9606 instead of .9689 of the value (4 seeds).
        deviations: f64 = 10.0,
        /// Least slope of each half of the window, as a share of that of the whole window. Not measured alone.
        least_half: f64 = 0.33,
        /// The most of the whole rise that the two largest steps between bins may be, because cuts are steps. Without this
        /// limit, `cuts-declared` had .9526 instead of .9584 of the value (4 seeds).
        most_in_two_steps: f64 = 0.45,
        /// Growth in the forecast below this is ignored, and above the other is clamped. With .005, three rows without
        /// drift changed by up to .002 of the value.
        least_growth: f64 = 0.0075,
        most_growth: f64 = 0.1,
    }
}

constants! {
    /// The controller of the capacity, with [`Burdens::Relative`](crate::goblin::Burdens::Relative).
    Controller {
        /// A frame that uses less than this share of the limit has time to spare. Not measured alone.
        spare: f64 = 0.95,
        /// Relative increase of the capacity per frame with time to spare. Not measured alone.
        raise: f64 = 0.01,
        /// Least factor of a single reduction: one hitch must not halve the capacity. Not measured alone.
        least_factor: f64 = 0.7,
        /// Approximate latency from a decision to its measured total, in frames. Not measured alone.
        latency: u32 = 4,
    }
}

constants! {
    /// The Kalman filter of costs from totals, with [`Burdens::Totals`](crate::goblin::Burdens::Totals).
    Regression {
        /// With more coefficients than this, only their variances are kept, not their covariances. Half and double: no
        /// difference.
        most_covariances: usize = 128,
        /// Prior deviations of the host's burdens, as shares: of a common factor, and of each burden itself.
        /// `common_prior` half 97.3 and 97.2 %, double 94.9 and 97.3 %; `own_prior` half 92.7 and 97.7 %, double 95.2
        /// and 96.0 %.
        common_prior: f64 = 0.5,
        own_prior: f64 = 0.5,
        /// Prior deviation of the rest of the frame, as a share of the first total. Half 95.3 and 97.7 %, double 93.5
        /// and 97.7 %.
        rest_prior: f64 = 0.3,
        /// The guess when the first total has no information: the highest choice takes this many times the limit. Half
        /// and double: no difference.
        cautious_scale: f64 = 4.0,
        /// Least coefficient, as a share of the first guess. Half 97.6 and 97.1 %, double 97.6 and 97.1 %.
        least_coefficient: f64 = 0.02,
        /// Least variance of a total, in its unit squared. It only avoids a division by 0.
        least_variance: f64 = 1e-100,
        /// Deviation of the rest of the frame, as a share of the total. Half 97.2 and 97.6 %, double 97.0 and 97.7 %.
        rest_deviation: f64 = 0.005,
        /// First deviation of an option's cost about its mean, as a share of the mean. Half 96.1 and 97.3 %, double
        /// 89.4 and 96.5 %.
        first_spread: f64 = 0.07,
        /// Range of the square of that share. Not measured alone.
        spread_range: std::ops::Range<f64> = 1e-4..0.25,
        /// Memory of the spreads, in totals. Half 96.5 and 97.9 %, double 98.0 and 96.8 %.
        spread_memory: f64 = 150.0,
        /// The spread of an option that is not chosen returns to the first one with this approximate time constant, in
        /// totals. Half 98.1 and 97.2 %, double 94.2 and 97.4 %.
        spread_decay: f64 = 500.0,
        /// Residuals of totals are clamped to this many deviations. Half 95.9 and 97.7 %, double 97.4 and 97.3 %.
        residual_deviations: f64 = 4.0,
        /// Process noise per frame, as variances of shares: of all coefficients together, and of each by itself.
        /// `common_noise` half 97.6 and 97.8 %, double 97.5 and 97.4 %; `own_noise` half 97.7 and 96.7 %, double 97.5
        /// and 96.5 %.
        common_noise: f64 = 1e-6,
        own_noise: f64 = 1e-8,
        /// Change detection: the mean normalised residual, its memory in totals, and its largest single term, in
        /// deviations. Above the mean, variance is added anew. `most_bias` half 96.4 and 97.4 %, double 97.5 and
        /// 96.0 %; `bias_memory` half 94.3 and 96.9 %, double 97.5 and 96.0 %; `most_bias_term` half 97.5 and 96.0 %,
        /// double 97.5 and 97.3 %.
        most_bias: f64 = 1.2,
        bias_memory: f64 = 12.0,
        most_bias_term: f64 = 3.0,
        /// The deviation that a detected change adds, as a share of the coefficients, and the part of its square that
        /// is each coefficient's own. `added_deviation` half 97.6 and 97.0 %, double 97.5 and 97.3 %; `added_own` half
        /// 97.6 and 97.3 %, double 97.5 and 97.3 %.
        added_deviation: f64 = 0.2,
        added_own: f64 = 0.1,
        /// A forecast is judged if the variance from coefficients is below this share of the variance from the options'
        /// spread and noise. Half 97.6 and 97.8 %, double 97.6 and 97.3 %.
        known: f64 = 0.25,
    }
}
