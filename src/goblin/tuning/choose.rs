//! Constants of stable choices: how long they are held, and how often they change.

use super::constants;

constants! {
    /// Hysteresis: the band that a new choice leaves free, and the search for a better choice.
    Hysteresis {
        /// Share of the deviation that targets and forced changes leave free. All rows (6 seeds): .15 .9694 at .99 %
        /// late, .3 .9686 at .93 %, .5 .9671 at .88 %. With the last margins (8 seeds): .2 .9706 at .94 %, .3 .9694 at
        /// .91 %. With the autocorrelation time (12 seeds): .15 .9730 at .96 %, .2 .9723 at .93 %. In the row `step-1%` (12
        /// seeds) a second is at 99 % after 914 frames with .1, 527 with .15, 1184 with .2.
        band: f64 = 0.15,
        /// Widest band, as a share of the limit. Half .9719 at .96 %, double .9739 at .94 %.
        widest_band: f64 = 0.04,
        /// Growth factor of the band with each forced change, its largest factor, and the time constant of its decay in
        /// decisions. `band_growth` half .9749 at 1.03 %, double .9721 at .89 %; `most_band_growth` half .9741 at
        /// .96 %, double .9738 at .95 %; `band_decay` half .9740 at .98 %, double .9729 at .91 %.
        band_growth: f64 = 1.2,
        most_band_growth: f64 = 8.0,
        band_decay: f64 = 2000.0,
        /// With totals only, there are few settings and rough deviations. The band is ignored if it leaves less than
        /// this share of a large gain. Half and double: no difference.
        least_banded_gain: f64 = 0.5,
        /// The band is not ignored while recent forced changes have widened it by more than this factor. Half and
        /// double: no difference.
        narrow_band: f64 = 2.5,
        /// A forced change with an excess above this many deviations is a change point, not a small fluctuation. Half
        /// .9741 at .96 %, double .9746 at .96 %.
        change_point_excess: f64 = 3.0,
        /// A taken gain above this share of the value is a change point. Half .9719 at .98 %, double .9729 at .95 %.
        change_point_gain: f64 = 0.05,
        /// Decisions of the transient after a change point. Small fluctuations are expected in it. Half .9733 at .94 %,
        /// double .9737 at .99 %.
        transient: u64 = 120,
        /// A gain above this share of the value is large: a target is searched at once. Half .9741 at .97 %, double
        /// .9724 at .95 %.
        large_gain: f64 = 0.01,
        /// A gain below this share of the value is ignored. In `iid-4s` (6 seeds): 1e-6 .059 changes a second and 99.61 % of
        /// the value, 1e-4 .050 and 99.64 %, 3e-4 .049 and 99.64 %.
        least_gain: f64 = 2e-4,
        /// Decisions between two searches for a target: with a limit on changes; while changes are free; and while they
        /// are free for a large gain, long after a change point. `search_interval` half .9726 at .95 %, double .9709 at
        /// .93 %; `free_search_interval` half .9734 at .98 %, double .9713 at .95 %; `large_gain_interval` half .9724
        /// at .95 %, double .9738 at .95 %.
        search_interval: u64 = 30,
        free_search_interval: u64 = 32,
        large_gain_interval: u64 = 8,
        /// Most searches for a target with fewer changes each time. Half .9737 at .95 %, double no difference.
        most_searches: usize = 4,
        /// A target is replaced when the best choice gains this many times as much. Half .9725 at .97 %, double .9718
        /// at .96 %.
        replaced_at: f64 = 4.0,
        /// Cooldown after a forced change, in decisions: targets with small gains wait, because the excess may return.
        /// Half .9738 at .95 %, double .9738 at .95 %.
        cooldown: u64 = 120,
        /// Solver effort for targets and trials, which need not be optimal: the accepted gap and the visited nodes, at
        /// most. `rough_gap` half .9730 at .93 %, double .9736 at .94 %; `rough_nodes` half .9738 at .96 %, double
        /// .9746 at .94 %.
        rough_gap: f64 = 0.0001,
        rough_nodes: u64 = 128,
        /// The share of the margin that TRIM settings keep, which follow every frame. The row `trim` (12 seeds): 1 .947
        /// of the value at .94 % late, .85 .956 at .99 %, .7 .968 at 1.10 %, .5 .980 at 1.32 %. As small as the hold
        /// share (6 seeds): .980 at 1.40 % instead of .964 at 1.05 %.
        trim_share: f64 = 0.75,
    }
}

constants! {
    /// The price of changes, in value times decisions.
    Price {
        /// The factor on the patience long after a change point, and the decisions until it is reached. Changes a second in
        /// `iid-4s`, then the value of all rows (8 seeds each): 6 after 600 .062, .9716 at .935 % late. 16 after 1,800 .051,
        /// .9706 at .925 %. 16 after 3,600 .049, .9714 at .920 %.
        patience_most: f64 = 16.0,
        patience_ramp: f64 = 3600.0,
        /// The weight of lost value relative to gained value, long after a change point. The hard set: 3 .9487, 7
        /// .9461.
        loss: f64 = 3.0,
        /// The same weight right after a change point, and the decisions until it reaches `loss`. `first_loss` half
        /// .9740 at .98 %, double .9731 at .94 %; `loss_ramp` half .9721 at .95 %, double .9736 at .97 %.
        first_loss: f64 = 1.5,
        loss_ramp: f64 = 3000.0,
        /// Decisions in which a forced change must pay for itself. The hard set: 60 .9454, 120 .9461, 300 .9469.
        forced_horizon: f64 = 300.0,
        /// Least decisions in which a voluntary change must pay for itself. The hard set: 400 .9486, 900 .9461.
        horizon: f64 = 400.0,
        /// The loss and the horizons while changes also explore: in the learning phase, and always with totals only.
        /// With `loss`, `forced_horizon` and `horizon` instead, `past-x0.5` has 93.2 % instead of 97.8 % of the value
        /// in its worst ten frames.
        free_loss: f64 = 7.0,
        free_forced_horizon: f64 = 120.0,
        free_horizon: f64 = 900.0,
        /// The penalty of each forced change, as a share of the mean value range of a setting. The hard set: 0 .9416,
        /// .1 .9428, .5 .9461, 1 .9465 with more late frames. With the later constants, all rows (8 other seeds): .5 .9721
        /// at .949 % late, .25 .9737 at .941 %. A large penalty makes one setting lose much instead of two that lose little.
        forced_change: f64 = 0.25,
        /// The factor on the price of a change while the setting dwells. It excludes voluntary changes, and is finite
        /// so that a change remains possible if nothing else fits.
        dwelling: f64 = 1e6,
        /// The factor on the price of a reversal. Half .9734 at .94 %, double .9735 at .95 %.
        reversal: f64 = 2.0,
        /// The same factor for forced changes once the minute's reversals are spent. Half no difference, double .9738 at
        /// .95 %.
        spent_forced_reversal: f64 = 100.0,
        /// The price of a voluntary reversal once the minute's reversals are spent, in addition to the factor: a share of
        /// the whole value, in one decision. All rows (8 seeds), and reversals a minute: .5 .9759, 5.9; 1 .9763, 4.6; 2 .9747, 3.3;
        /// 4 .9736, 1.8; none at all .9729, 1.0. The row `common-ar1-1%` has 3.1, 1.6, 1.2 and 1.2 of them, where 2 are
        /// wanted.
        spent_reversal: f64 = 1.0,
    }
}

constants! {
    /// The rate limiter of visible changes.
    Pace {
        /// The most changes that the account saves, in seconds of its rate. The hard set: 2 s .9406, 4 s .9461, 8 s
        /// .9490.
        saved_seconds: f64 = 6.0,
        /// Share of a minute's changes that voluntary ones leave to forced ones. Not measured alone.
        forced_share: f64 = 0.05,
        /// The largest overdraft by forced changes, in changes. Beyond it, debt is forgotten. Half and double: no
        /// difference.
        most_debt: f64 = 60.0,
        /// Length of the learning phase after a setting was added, in seconds, and at least and at most this many
        /// decisions. Changes are free in it, because the options must be learned. At 60 decisions a second the last
        /// one counts: half .9716 at 1.02 %, double .9784 at .97 %. A slow host does not wait for minutes.
        learning_seconds: f64 = 18.0,
        least_learning: u64 = 256,
        most_learning: u64 = 1024,
        /// Decisions without a new sample that still count as learning. A simulator of a stranger paused its first 20 s.
        /// The mean value of its first minute is 2.7 of 96 if all decisions count, and 64 with 4.
        most_silent: u64 = 4,
        /// The learning phase begins again for options that may be chosen at last, for at most this share of all
        /// decisions. Not measured: without a limit a host that switches options on and off is never calm.
        relearning_share: f64 = 0.125,
        /// A return to an option within this many seconds after its replacement is a reversal. It defines the term, and
        /// was not tuned.
        reversal_seconds: f64 = 10.0,
        /// Reversals a minute at the regular price times `reversal`. All rows (8 other seeds): 1 .9725 of the value, and at
        /// most 1.5 reversals a minute in a row; 1.5 .9738 and 2.0. Without this limit they have .008 more of the value
        /// and 14 reversals a minute.
        reversals_per_minute: f64 = 1.25,
    }
}

constants! {
    /// The regulator of the share of a limit that a hot device can sustain. Figures are of `-- --thermal`, climate `hot`:
    /// the value, and the hottest skin, where 43 °C throttles.
    Thermal {
        /// Least seconds between two changes of the share. Temperature shows the effect of the last one by then, and
        /// Android's headroom looks that far ahead. Not measured alone.
        interval: f64 = 10.0,
        /// The headroom to hold; the device throttles at 1. With the values below (20 seeds): .995 .9669 and 42.90 °C,
        /// .996 .9726 and 42.95 °C.
        target: f64 = 0.996,
        /// Seconds in which the target may be reached at the present speed, and the change of the share for an excess speed
        /// of 1 a second, per second. With .995, 90 s and 6 (20 seeds): .9707, and one throttle.
        reach: f64 = 100.0,
        gain: f64 = 7.0,
        /// The least factor on the gain, for devices that heat up quickly, and its growth in a step without a step back. A device
        /// that heats up within 60 s, under twice the load that it can cool, was too hot for 41 to 100 % of the time; now 0
        /// to 3.8 %.
        least_caution: f64 = 0.0625,
        recovery: f64 = 1.02,
        /// Smaller steps do not lower that factor. All steps (20 seeds, hot): .9573 of the value instead of .9733.
        large_step: f64 = 0.1,
        /// How much lower the target is while that factor is near 0.
        cautious_room: f64 = 0.03,
        /// Changes of the share below this are not made. Not measured alone.
        dead_zone: f64 = 0.02,
        /// The least share. Not measured alone.
        least_share: f64 = 0.3,
        /// Seconds without a report until the share returns to 1. Not measured alone.
        forgotten: f64 = 60.0,
    }
}

constants! {
    /// Changes of TRIM settings that make their own frame late.
    Trim {
        /// The share of the limit that a change may take; TRIM settings whose changes take more are changed as seldom as
        /// others. The contest, cold and with a saved profile (12 seeds each), in % of the oracle's value, as TRIM
        /// settings and as others. With changes of 4 % of the limit: `nvidia-h200-2560x1440` 97.8, 98.2 and 97.8, 98.5,
        /// `llvmpipe-640x360` 94.4, 95.4 and 94.0, 94.0, `software-480x270` 94.4, 94.8 and 94.2, 93.6. With 8 %: 97.4, 97.9
        /// and 97.8, 98.5; 94.0, 94.3 and 94.0, 94.7; 94.2, 94.6 and 93.8, 94.2. With 15 %: 96.7, 97.0 and 97.7, 98.4;
        /// 92.4, 92.6 and 93.0, 94.5; 93.1, 93.3 and 93.7, 94.2.
        slow_change: f64 = 0.1,
        /// The share of the allowed late frames that such changes may use. Not measured alone.
        late_share: f64 = 0.5,
        /// The most late frames that their account saves; it begins with them. The contest's `nvidia-h200-2560x1440`, cold
        /// and with a saved profile (24 seeds): 2 94.9 and 97.8 % of the oracle's value, 4 95.5 and 97.2 %.
        most_credit: f64 = 2.0,
    }
}

constants! {
    /// The estimate of the best choice between two solves.
    Watch {
        /// Decisions between two solves while a choice is held. With a solve in every decision, `iid-4s` (20 seeds)
        /// took 22.9 instead of 7.0 us in the median.
        solve_interval: u64 = 32,
        /// A gain that has grown by this share of the value triggers a solve. Half .9740 at .98 %, double .9728 at
        /// .96 %.
        moved: f64 = 0.003,
    }
}

constants! {
    /// Dead levers.
    Lever {
        /// The least expected saving: in deviations of a sample, and as a share of the former cost. Not measured alone.
        least_deviations: f64 = 3.0,
        least_share: f64 = 0.1,
        /// Samples that decide, and the number of parts of them: each part must show no saving. At 60 decisions a second they
        /// take less than half a second. Not measured alone.
        samples: u64 = 24,
        parts: usize = 3,
        /// Decisions before the change whose samples show whether the former option has just become more expensive, and its
        /// least increase, as a share of the expected saving. Not measured alone.
        before: u64 = 4,
        risen: f64 = 0.5,
        /// Seconds in which they are awaited: the setting does not come back voluntarily before they decide. Not measured
        /// alone.
        awaited_seconds: f64 = 1.0,
        /// Least saving of a lever that works, as a share of the expected one. Not measured alone.
        least_saving: f64 = 0.25,
        /// Increase of the cost by the return, as a share of the expected saving, above which the lever works after
        /// all. Not measured alone.
        recovered: f64 = 0.5,
        /// Rest of a dead lever, in seconds. Not measured alone.
        rest_seconds: f64 = 60.0,
    }
}
