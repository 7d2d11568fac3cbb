//! Constants of exploration: which options are tried when, and what they are expected to cost.

use super::constants;

constants! {
    /// Trials: when an option is tried.
    Trial {
        /// Samples after which an option needs no more trials. Not measured alone.
        few_samples: u64 = 3,
        /// Decisions after which the sample of a trial counts as lost. Not measured alone.
        sample_timeout: u64 = 32,
        /// Decisions until a trial that found no room is retried; doubled each time. Not measured alone.
        retry_wait: u64 = 16,
        /// Most doublings of a wait. Not measured alone.
        most_doublings: u8 = 8,
        /// Decisions between two trials of a better option that has samples, but not enough to know its deviation. Not
        /// measured alone.
        confirm_interval: u64 = 30,
        /// Decisions after which the estimate of a better option is stale; doubled each time it is still too expensive.
        /// Not measured alone.
        stale_after: u64 = 400,
        /// Decisions between two trials of stale estimates of options that became more expensive: each is a frame that
        /// looks different. Not measured alone.
        stale_interval: u64 = 60,
        /// Decisions to wait after a trial that is not needed, for each setting that it changed. Such trials are of stale
        /// estimates, or after the learning phase of options that found no room at first. Not measured alone.
        rare_interval: u64 = 3600,
        /// Penalty for each change of another setting that a trial causes, as a share of its price. Not measured alone.
        change_penalty: f64 = 0.03,
        /// After the learning phase, no trial changes more settings than this. Not measured alone.
        most_changes: usize = 4,
        /// No trial is solved for in a decision that has solved this many knapsacks already. The limit is one more if
        /// every decision solves one, or if nothing fits. Not measured alone.
        most_solves: u32 = 1,
        /// Trials after the learning phase, in decisions: their length, the interval between two of them, and the time
        /// without a change before one. The hard set: an interval of 1,800 .9509 at 1.01 % late, 3,600 .9518 at .97 %.
        length: u64 = 60,
        interval: u64 = 3600,
        quiet: u64 = 60,
        /// Decisions between two trials for which other settings make room, after the learning phase. Not measured alone.
        room_interval: u64 = 19_200,
    }
}

constants! {
    /// Guesses of unknown costs.
    Guess {
        /// First mean and mean square of measured over guessed cost. Not measured alone.
        first_ratio: f64 = 1.5,
        first_square: f64 = 5.0,
        /// Memory of the accuracy of guesses, in guesses. Not measured alone.
        memory: f64 = 96.0,
        /// Ratios of measured to guessed cost are clamped to this. Not measured alone.
        most_ratio: f64 = 8.0,
        /// Least relative deviation of a guess. Not measured alone.
        least_deviation: f64 = 0.3,
        /// Trials without room after which an estimate from few samples is replaced by a guess. Not measured alone.
        distrust_after: u8 = 3,
        /// Optimistic lower bound of a guess, as a share of it. Not measured alone.
        lower_bound: f64 = 0.25,
        /// With at most this many options in all, guesses are bolder, because few trials are made at all. With bolder
        /// guesses for any number of options, 2.1 % of the first 256 frames were late instead of 1.4 % (4 seeds).
        few_options: usize = 16,
        /// The first factor on the margin of frames with trials, and its range. Not measured alone.
        first_caution: f64 = 3.0,
        caution_range: std::ops::Range<f64> = 0.5..6.0,
        /// Relative step of that factor for a frame with trials that is over a limit. Not measured alone.
        caution_step: f64 = 0.25,
        /// Approximate time constant of its decay to 1, in decisions. Not measured alone.
        caution_decay: f64 = 300.0,
    }
}

constants! {
    /// Trials with [`Burdens::Totals`](crate::goblin::Burdens::Totals).
    Totals {
        /// The cost of an option is well known if its deviation is below this share of the limit. Not measured alone.
        well_known: f64 = 0.015,
        /// Decisions between two trials: while some option is not well known, and afterwards. Not measured alone.
        interval: u64 = 8,
        rare_interval: u64 = 240,
        /// Each time after this many trials, the interval grows by a decision. Not measured alone.
        trials_per_extra_decision: u64 = 16,
        /// Optimism: each trial that found no room lowers the assumed cost of an option by this many deviations, up to
        /// `most_optimism` trials. Not measured alone.
        optimism: f64 = 0.5,
        most_optimism: u8 = 3,
    }
}
