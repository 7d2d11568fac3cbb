//! Whether to graft: by the time of whole frames, queries included.
//!
//! The time of a frame is computed from its work, bytes and runs, at the mean durations of the last ones. A duration that is
//! much longer than the ones before was interrupted, and counts only in part. So a busy machine changes few choices.
//!
//! A grafted frame shows what it would have cost without: the nodes whose results were taken over would have run, and the
//! compare would have been a copy. If grafting saved clearly in one of the last frames, the next one grafts, too. Now and
//! then a frame is not grafted, to measure what the prediction is worth. Without a clear gain, a [`Balance`] chooses by the
//! durations of both ways.

use crate::balance::{Balance, Options, Policy};
use crate::base::Result;

/// Whether something is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// By measured time.
    #[default]
    Measured,
    /// Always.
    Always,
    /// Never.
    Never,
}

const GRAFT: usize = 0;
const PLAIN: usize = 1;

/// Without grafting, a frame must be predicted to take so many times as long for nothing to be tried.
const CLEAR: f64 = 1.1;
/// The share of the time of grafted frames that may be spent to check predictions, and of that of others for trials.
const SHARE: f64 = 0.0075;
/// Trials that are paid in advance, at most.
const MOST_TRIALS: f64 = 4.0;
/// Grafted frames that pay for the first check.
const FIRST_CREDIT: f64 = 1.0;
/// Grafted frames without a clear gain, one after the other, after which the balance chooses.
const PATIENCE: u32 = 8;
/// More of them after frames in which grafting halved the time, and as many times less as it gained less. Frames in which
/// everything changes come in bursts, also in a clip in which grafting saves most, and they cost nearly the same both ways.
const MORE_PATIENCE: f64 = 64.0;
/// The weight of a frame in the mean gain.
const GAIN_WEIGHT: f64 = 1.0 / 32.0;
/// A frame that grafting makes so many times as long, or less, counts as so many. One that takes a little longer counts as one:
/// in a burst of such frames grafting loses less than it would by waiting for the balance afterwards.
const MOST_LOSS: f64 = 4.0;
/// The share of the longest duration that is forgotten with each frame.
const FORGETTING: f64 = 1.0 / 1024.0;
/// The weight of a new duration in a mean.
pub const WEIGHT: f64 = 0.125;
/// A longer duration counts as so many times the mean.
pub const LONGEST: f64 = 4.0;

/// Decides for each frame.
#[derive(Debug)]
pub struct Strategy {
    choice: Choice,
    balance: Balance,
    /// The way of the present frame.
    grafts: bool,
    /// Frames without a clear gain, one after the other. 0 also as long as nothing is known.
    unclear: u32,
    /// The mean of how much longer grafted frames would have taken without, as a multiple of their durations, 0 to 1.
    gain: f64,
    /// The last grafted frame: its duration, and the predicted duration without grafting.
    last: Option<(f64, f64)>,
    /// The seconds that a check costs: about the largest difference of the two in the last frames.
    gap: f64,
    /// The present frame is not grafted, to check the prediction.
    is_check: bool,
    /// Measured durations without grafting, as a multiple of those predicted: equal inputs save steps without it, too.
    bias: f64,
    /// Seconds that may be spent to check a prediction. `None`: before the first frame.
    credit: Option<f64>,
    /// The next durations are those of the first frame, in which everything is new.
    is_first: bool,
    /// Mean duration of taking a frame without a compare.
    copy: Option<f64>,
    /// Mean duration of comparing or copying a byte.
    per_byte: Option<f64>,
    /// The longest duration of taking a grafted frame, of the last ones.
    longest_take: f64,
    /// The last frame without grafting, while the balance chooses.
    last_plain: f64,
    /// Such a frame took clearly less than the one before: fewer pixels change, so the next frame is grafted.
    is_trial: bool,
    /// Seconds that may be spent on these trials.
    trial_credit: f64,
    frames: [u64; 2],
    seconds: [f64; 2],
}

/// The work of a frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// Seconds of taking the frame: compare and copy.
    pub take: f64,
    /// Seconds of all of it, with its queries.
    pub all: f64,
    /// Bytes that were compared or copied.
    pub bytes: u64,
    /// The durations of the nodes that ran, in nanoseconds, without most of the interrupts.
    pub ran_ns: u64,
    /// The mean durations of the same nodes.
    pub mean_ns: u64,
    /// The mean durations of the nodes whose results were taken over, in nanoseconds.
    pub saved_ns: u64,
}

/// Add a duration to a mean. Longer ones than usual count as a few times the mean: most are interrupts.
fn add_to(mean: &mut Option<f64>, new: f64) -> f64 {
    let next = mean.map_or(new, |old| old + WEIGHT * (new.min(LONGEST * old) - old));
    *mean = Some(next);
    next
}

impl Strategy {
    /// A strategy without measurements.
    pub fn new(choice: Choice, policy: Policy) -> Result<Self> {
        let balance = Balance::new(Options { policy, ..Options::default() })?;
        Ok(Self {
            choice,
            balance,
            grafts: true,
            unclear: 0,
            gain: 0.0,
            last: None,
            gap: 0.0,
            is_check: false,
            bias: 1.0,
            credit: None,
            is_first: true,
            copy: None,
            per_byte: None,
            longest_take: 0.0,
            last_plain: 0.0,
            is_trial: false,
            trial_credit: 0.0,
            frames: [0; 2],
            seconds: [0.0; 2],
        })
    }

    /// Whether the next frame grafts.
    pub fn next(&mut self) -> bool {
        self.grafts = match self.choice {
            Choice::Always => true,
            Choice::Never => false,
            Choice::Measured if self.unclear < PATIENCE + (MORE_PATIENCE * self.gain) as u32 => {
                self.is_check = self.unclear == 0 && self.last.is_some() && self.credit.unwrap_or(0.0) >= self.gap;
                !self.is_check
            }
            Choice::Measured => std::mem::take(&mut self.is_trial) || self.balance.choose() == GRAFT,
        };
        self.grafts
    }

    /// Note the work of the frame that has ended.
    pub fn add(&mut self, spent: &Spent) {
        let way = if self.grafts { GRAFT } else { PLAIN };
        self.frames[way] += 1;
        self.seconds[way] += spent.all;
        if std::mem::take(&mut self.is_first) {
            return;
        }
        let [ran, mean, saved] = [spent.ran_ns, spent.mean_ns, spent.saved_ns].map(|time| time as f64 * 1e-9);
        let take = match spent.bytes {
            bytes if self.grafts && bytes > 0 => add_to(&mut self.per_byte, spent.take / bytes as f64) * bytes as f64,
            _ if self.grafts => spent.take,
            _ => add_to(&mut self.copy, spent.take),
        };
        let _ = self.balance.measure(way, (take + ran).max(1e-9));
        // Means predict a frame better than single durations do.
        let all = take + mean;
        if self.grafts {
            let copy = self.copy.unwrap_or(take / 2.0).min(take);
            self.longest_take = take.max(self.longest_take * (1.0 - FORGETTING));
            let plain = (copy + mean + saved) * self.bias;
            self.judge(all, plain);
            self.last = Some((all, plain));
            self.gap = (plain - all).max(self.gap * (1.0 - WEIGHT));
            *self.credit.get_or_insert(FIRST_CREDIT * all) += SHARE * all;
        } else if let Some((grafted, plain)) = self.last.filter(|_| std::mem::take(&mut self.is_check)) {
            self.bias *= all / plain.max(1e-9);
            self.judge(grafted, all);
            self.gap = all - grafted;
            self.credit = Some(0.0);
        } else {
            let (time, cost) = (take + ran, self.longest_take);
            self.trial_credit = (self.trial_credit + SHARE * time).min(MOST_TRIALS * cost);
            // A frame that is compared for longer than this one took gains nothing.
            let can_gain = CLEAR * cost < time && self.trial_credit >= cost;
            self.is_trial = can_gain && CLEAR * time < self.last_plain;
            self.trial_credit -= if self.is_trial { cost } else { 0.0 };
            self.last_plain = time;
        }
    }

    /// Note how long a frame took with grafting, and takes without.
    fn judge(&mut self, grafted: f64, plain: f64) {
        self.gain += GAIN_WEIGHT * ((plain / grafted.max(1e-9) - 1.0).clamp(0.0, 1.0) - self.gain);
        let loss = (grafted / plain.max(1e-9)).clamp(1.0, MOST_LOSS);
        self.unclear = if plain > CLEAR * grafted { 0 } else { self.unclear.saturating_add(loss as u32) };
    }

    /// Forget all durations: the frames have another shape.
    pub fn restart(&mut self) {
        (self.unclear, self.is_first, self.is_check) = (0, true, false);
        (self.gain, self.last, self.gap, self.bias, self.credit) = (0.0, None, 0.0, 1.0, None);
        (self.copy, self.per_byte, self.longest_take) = (None, None, 0.0);
        (self.last_plain, self.is_trial, self.trial_credit) = (0.0, false, 0.0);
        self.balance.restart();
    }

    /// Frames that were grafted, and frames that were not.
    pub fn frames(&self) -> [u64; 2] {
        self.frames
    }

    /// Seconds of grafted frames, and of others.
    pub fn seconds(&self) -> [f64; 2] {
        self.seconds
    }
}
