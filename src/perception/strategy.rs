//! Whether to graft: by the measured time of whole frames, queries included.
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
/// The share of the time of grafted frames that may be spent to check predictions.
const SHARE: f64 = 0.0075;
/// The same for the first check, in grafted frames.
const FIRST_CREDIT: f64 = 1.0;
/// Grafted frames without a clear gain, one after the other, after which the balance chooses. Frames in which everything
/// changes come in bursts, also in a clip in which grafting saves most. They cost the same both ways.
const PATIENCE: u32 = 8;
/// A frame in which grafting lost clearly counts as so many.
const LOSS: u32 = 4;
/// The weight of a new duration in a mean.
const WEIGHT: f64 = 0.125;

/// Decides for each frame.
#[derive(Debug)]
pub struct Strategy {
    choice: Choice,
    balance: Balance,
    /// The way of the present frame.
    grafts: bool,
    /// Frames without a clear gain, one after the other. 0 also as long as nothing is known.
    unclear: u32,
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
    frames: [u64; 2],
    seconds: [f64; 2],
}

/// The durations of a frame, in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// Taking the frame: compare and copy.
    pub take: f64,
    /// All of it, with its queries.
    pub all: f64,
    /// The mean durations of the nodes whose results were taken over.
    pub saved: f64,
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
            last: None,
            gap: 0.0,
            is_check: false,
            bias: 1.0,
            credit: None,
            is_first: true,
            copy: None,
            frames: [0; 2],
            seconds: [0.0; 2],
        })
    }

    /// Whether the next frame grafts.
    pub fn next(&mut self) -> bool {
        self.grafts = match self.choice {
            Choice::Always => true,
            Choice::Never => false,
            Choice::Measured if self.unclear < PATIENCE => {
                self.is_check = self.unclear == 0 && self.last.is_some() && self.credit.unwrap_or(0.0) >= self.gap;
                !self.is_check
            }
            Choice::Measured => self.balance.choose() == GRAFT,
        };
        self.grafts
    }

    /// Note the durations of the frame that has ended.
    pub fn add(&mut self, spent: &Spent) {
        let way = if self.grafts { GRAFT } else { PLAIN };
        self.frames[way] += 1;
        self.seconds[way] += spent.all;
        if std::mem::take(&mut self.is_first) {
            return;
        }
        let _ = self.balance.measure(way, spent.all.max(1e-9));
        if self.grafts {
            let copy = self.copy.unwrap_or(spent.take / 2.0).min(spent.take);
            let plain = (spent.all - spent.take + copy + spent.saved) * self.bias;
            self.judge(spent.all, plain);
            self.last = Some((spent.all, plain));
            self.gap = (plain - spent.all).max(self.gap * (1.0 - WEIGHT));
            *self.credit.get_or_insert(FIRST_CREDIT * spent.all) += SHARE * spent.all;
        } else {
            self.copy = Some(self.copy.map_or(spent.take, |old| old + WEIGHT * (spent.take - old)));
            if let Some((all, plain)) = self.last.filter(|_| std::mem::take(&mut self.is_check)) {
                self.bias *= spent.all / plain.max(1e-9);
                self.judge(all, spent.all);
                self.gap = spent.all - all;
                self.credit = Some(0.0);
            }
        }
    }

    /// Note how long a frame took with grafting, and takes without.
    fn judge(&mut self, grafted: f64, plain: f64) {
        self.unclear = match () {
            () if plain > CLEAR * grafted => 0,
            () if CLEAR * plain < grafted => self.unclear.saturating_add(LOSS),
            () => self.unclear.saturating_add(1),
        };
    }

    /// Forget all durations: the frames have another shape.
    pub fn restart(&mut self) {
        (self.unclear, self.is_first, self.is_check) = (0, true, false);
        (self.last, self.gap, self.bias, self.credit, self.copy) = (None, 0.0, 1.0, None, None);
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
