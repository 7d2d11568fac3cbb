//! Whether to graft: by the time of whole frames, queries included.
//!
//! The time of a frame is computed from the mean durations of its nodes and the time of its compare. A duration that is much
//! longer than the ones before was interrupted, and counts only in part. So a busy machine changes few choices.
//!
//! A grafted frame shows what it would have cost without: the nodes whose results were taken over would have run, and the
//! compare would have been a copy. The share of time that it saved is added to an account, and frames are grafted while that
//! is not empty. So a burst of frames in which everything changes is paid by the savings of frames before it. Now and then a
//! frame is not grafted, to measure what the prediction is worth. With an empty account, a [`Balance`] chooses by the durations
//! of both ways.

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

/// The share of the time of grafted frames that may be spent to check predictions.
const SHARE: f64 = 0.0075;
/// Predictions of so many times the time without grafting are checked. Others may be a burst, after which a check costs more.
const CLEAR: f64 = 1.1;
/// The most that the account holds, in frames without grafting. On a lossy clip of 600 frames bursts cost up to 6. A clip that
/// begins to move loses so many. The account begins half full.
const MOST_SAVED: f64 = 8.0;
/// Least share of a prediction that a check may find: the frame of the check may have had fewer queries than the one before.
const LEAST_BIAS: f64 = 0.25;
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
    /// The account: the sum of the shares of time that grafting has saved in each frame. At 0 the balance chooses.
    saved: f64,
    /// The last grafted frame: its duration, and the predicted duration without grafting.
    last: Option<(f64, f64)>,
    /// The seconds that a check costs: about the largest difference of the two in the last frames.
    gap: f64,
    /// The present frame is not grafted, to check the prediction.
    is_check: bool,
    /// Measured durations without grafting, as a share of those predicted: equal inputs save steps without it, too.
    bias: f64,
    /// Seconds that may be spent to check a prediction. The first one is checked at any price.
    credit: f64,
    /// The next durations are those of the first frame, in which everything is new.
    is_first: bool,
    /// Mean duration of taking a frame without a compare.
    copy: Option<f64>,
    /// Mean duration of comparing or copying a byte.
    per_byte: Option<f64>,
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

/// Add a duration to a mean. Returns the duration as it counts: most that are much longer than the mean are interrupts.
fn add_to(mean: &mut Option<f64>, new: f64) -> f64 {
    // A coarse clock may have measured nothing before.
    let old = mean.filter(|&old| old > 0.0);
    let new = old.map_or(new, |old| new.min(LONGEST * old));
    *mean = Some(old.map_or(new, |old| old + WEIGHT * (new - old)));
    new
}

impl Strategy {
    /// A strategy without measurements.
    pub fn new(choice: Choice, policy: Policy) -> Result<Self> {
        let balance = Balance::new(Options { policy, ..Options::default() })?;
        Ok(Self {
            choice,
            balance,
            grafts: true,
            saved: MOST_SAVED / 2.0,
            last: None,
            gap: 0.0,
            is_check: false,
            bias: 1.0,
            credit: f64::INFINITY,
            is_first: true,
            copy: None,
            per_byte: None,
            frames: [0; 2],
            seconds: [0.0; 2],
        })
    }

    /// Whether the next frame grafts.
    pub fn next(&mut self) -> bool {
        self.grafts = match self.choice {
            Choice::Always => true,
            Choice::Never => false,
            Choice::Measured if self.saved > 0.0 => {
                let is_worth = |(grafted, plain)| plain > CLEAR * grafted || self.credit.is_infinite();
                self.is_check = self.last.is_some_and(is_worth) && self.credit >= self.gap;
                !self.is_check
            }
            Choice::Measured => self.balance.choose() == GRAFT,
        };
        self.grafts
    }

    /// Note the work of the frame that has ended.
    pub fn add(&mut self, spent: &Spent) {
        let way = if self.grafts { GRAFT } else { PLAIN };
        self.frames[way] += 1;
        self.seconds[way] += spent.all;
        let per_byte = (spent.bytes > 0).then_some(spent.take / spent.bytes as f64);
        if std::mem::take(&mut self.is_first) {
            self.per_byte = per_byte;
            return;
        }
        let [ran, mean, saved] = [spent.ran_ns, spent.mean_ns, spent.saved_ns].map(|time| time as f64 * 1e-9);
        let take = match per_byte {
            _ if !self.grafts => add_to(&mut self.copy, spent.take),
            Some(per_byte) => add_to(&mut self.per_byte, per_byte) * spent.bytes as f64,
            None => spent.take,
        };
        let _ = self.balance.measure(way, (take + ran).max(1e-9));
        // The means of nodes predict a frame better than single durations do.
        let all = take + mean;
        if self.grafts {
            let copy = self.copy.unwrap_or(0.0).min(take);
            let plain = (copy + mean + saved) * self.bias;
            self.judge(all, plain);
            self.last = Some((all, plain));
            self.gap = (plain - all).max(self.gap * (1.0 - WEIGHT));
            self.credit += SHARE * all;
        } else if let Some((grafted, plain)) = self.last.take_if(|_| std::mem::take(&mut self.is_check)) {
            self.bias = (self.bias * all / plain.max(1e-9)).clamp(LEAST_BIAS, 1.0);
            self.judge(grafted, all);
            self.gap = all - grafted;
            self.credit = 0.0;
        }
    }

    /// Note how long a frame took with grafting, and takes without.
    fn judge(&mut self, grafted: f64, plain: f64) {
        let share = 1.0 - grafted / plain.max(1e-9);
        self.saved = (self.saved + share).clamp(0.0, MOST_SAVED);
    }

    /// Forget all durations: the frames have another shape.
    pub fn restart(&mut self) {
        (self.saved, self.is_first, self.is_check) = (MOST_SAVED / 2.0, true, false);
        (self.last, self.gap, self.bias, self.credit) = (None, 0.0, 1.0, f64::INFINITY);
        (self.copy, self.per_byte) = (None, None);
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
