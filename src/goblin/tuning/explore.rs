//! Constants of exploration: which options are tried when, and what they are expected to cost.

use super::constants;

constants! {
    /// Trials: when an option is tried.
    Trial {
        /// Samples after which an option needs no more trials. Half .9739 at .97 %, double .9730 at .97 %.
        few_samples: u64 = 3,
        /// Decisions after which the sample of a trial counts as lost. Half and double: no difference.
        sample_timeout: u64 = 32,
        /// Changes that take more than this share of the limit are slow: their trials stay. In three of the contest's recordings
        /// a change takes less than 2 %, and in two of them up to 17 %. Not measured alone.
        slow_change: f64 = 0.02,
        /// Most decisions that a trial waits in place for its sample, if its change takes time. Not measured alone.
        longest_visit: u64 = 8,
        /// Decisions until a trial that found no room is retried; doubled each time. Half .9719 at .97 %, double .9717
        /// at .97 %.
        retry_wait: u64 = 16,
        /// Most doublings of a wait. Half and double: no difference.
        most_doublings: u8 = 8,
        /// Decisions between two trials of a better option that has samples, but not enough to know its deviation. Half
        /// .9699 at .98 %, double .9736 at .97 %.
        confirm_interval: u64 = 30,
        /// Decisions after which the estimate of a better option is stale; doubled each time it is still too expensive.
        /// Half .9735 at .95 %, double .9738 at .97 %.
        stale_after: u64 = 400,
        /// Decisions between two trials of stale estimates of options that became more expensive: each is a frame that
        /// looks different. Half .9738 at .94 %, double .9743 at .95 %.
        stale_interval: u64 = 60,
        /// Seconds to wait after a trial that is not needed, for each setting that it changed. Such trials are of
        /// stale estimates, or after the learning phase of options that found no room at first. Half .9739 at .96 %,
        /// double .9737 at .95 %.
        rare_interval: f64 = 60.0,
        /// Penalty for each change of another setting that a trial causes, as a share of its price. Half .9740 at
        /// .96 %, double .9740 at .97 %.
        change_penalty: f64 = 0.03,
        /// After the learning phase, no trial changes more settings than this. Half and double: no difference.
        most_changes: usize = 4,
        /// No trial is solved for in a decision that has solved this many knapsacks already. The limit is one more if
        /// every decision solves one, or if nothing fits. Double .9717 at 1.00 %.
        most_solves: u32 = 1,
        /// Length of a trial after the learning phase, in seconds, and its least length in decisions. Not measured alone.
        seconds: f64 = 1.0,
        least_length: u64 = 16,
        /// Trials after the learning phase, in seconds: the interval between two of them, and the time without a change
        /// before one. At 60 decisions a second, in decisions: The hard set: an interval of 1,800 .9509 at 1.01 % late, 3,600 .9518 at .97 %. All rows (8 seeds):
        /// 3,600 .9717 at .943 %, 7,200 .9716 at .935 %. In `iid-4s` (6 seeds), 7,200 has .044 instead of .059 changes a second.
        interval: f64 = 120.0,
        quiet: f64 = 1.0,
        /// Frames over a limit that end such a trial. The renderer suite (6 seeds): without a limit .9722 at .945 % late, 2
        /// .9722 at .938 %.
        most_late: u32 = 2,
        /// Seconds between two trials for which other settings make room, after the learning phase. Not measured alone.
        room_interval: f64 = 320.0,
    }
}

constants! {
    /// Guesses of unknown costs.
    Guess {
        /// First mean and mean square of measured over guessed cost. `first_ratio` half .9712 at .95 %, double .9730 at
        /// .96 %; `first_square` half .9738 at .98 %, double .9742 at .94 %.
        first_ratio: f64 = 1.5,
        first_square: f64 = 5.0,
        /// Memory of the accuracy of guesses, in guesses. Half .9725 at .96 %, double .9740 at .99 %.
        memory: f64 = 96.0,
        /// Ratios of measured to guessed cost are clamped to this. Half .9729 at .96 %, double .9732 at .97 %.
        most_ratio: f64 = 8.0,
        /// Least relative deviation of a guess. Half and double: no difference.
        least_deviation: f64 = 0.3,
        /// Trials without room after which an estimate from few samples is replaced by a guess. Half .9739 at .98 %,
        /// double .9722 at .94 %.
        distrust_after: u8 = 3,
        /// Optimistic lower bound of a guess, as a share of it. Half no difference, double .9734 at .94 %.
        lower_bound: f64 = 0.25,
        /// With at most this many options in all, guesses are bolder, because few trials are made at all. With bolder
        /// guesses for any number of options, 2.1 % of the first 256 frames were late instead of 1.4 % (4 seeds).
        few_options: usize = 16,
        /// The first factor on the margin of frames with trials, and its range. The contest's recordings of a graphics card,
        /// cold (40 seeds): 3 has 95.9 and 97.2 % of the oracle's value, 1.5 has 96.8 and 97.0 %.
        first_caution: f64 = 1.5,
        caution_range: std::ops::Range<f64> = 0.5..6.0,
        /// Relative step of that factor for a frame with trials that is over a limit. Half .9748 at .96 %, double .9710
        /// at 1.01 %.
        caution_step: f64 = 0.25,
        /// Approximate time constant of its decay to 1, in decisions. Half .9731 at .99 %, double .9724 at .96 %.
        caution_decay: f64 = 300.0,
    }
}

constants! {
    /// Trials with [`Burdens::Totals`](crate::goblin::Burdens::Totals).
    Totals {
        /// The cost of an option is well known if its deviation is below this share of the limit. Half 97.4 and 96.6 %,
        /// double 98.1 and 96.8 %.
        well_known: f64 = 0.015,
        /// Decisions between two trials: while some option is not well known, and afterwards. `interval` half 97.9 and
        /// 98.4 %, double 97.5 and 97.3 %; `rare_interval` half 97.3 and 97.3 %, double 97.3 and 97.3 %.
        interval: u64 = 8,
        rare_interval: u64 = 240,
        /// The share of the asked changes a second that trials may make after the learning phase. Not measured alone.
        calm_share: f64 = 0.5,
        /// Each time after this many trials, the interval grows by a decision. Half 97.7 and 97.5 %, double 97.3 and
        /// 97.2 %.
        trials_per_extra_decision: u64 = 16,
        /// Optimism: each trial that found no room lowers the assumed cost of an option by this many deviations, up to
        /// `most_optimism` trials. `optimism` half 94.2 and 96.1 %, double 97.4 and 97.7 %; `most_optimism` half 94.4
        /// and 95.1 %, double no difference.
        optimism: f64 = 0.5,
        most_optimism: u8 = 3,
    }
}
