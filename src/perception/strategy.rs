//! Whether to graft: by the measured time of whole frames, queries included.
//!
//! A grafted frame shows what it would have cost without: the nodes whose results were taken over would have run, and the
//! compare would have been a copy. So while grafting saves clearly, nothing is tried. Only when it saves little, a
//! [`Balance`] chooses, and tries the other way now and then.

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
/// The weight of a new duration in a mean.
const WEIGHT: f64 = 0.125;

/// Decides for each frame.
#[derive(Debug)]
pub struct Strategy {
    choice: Choice,
    balance: Balance,
    /// The way of the present frame.
    grafts: bool,
    /// The mean duration of a grafted frame, and what it is predicted to take without.
    means: Option<(f64, f64)>,
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
        Ok(Self { choice, balance, grafts: true, means: None, copy: None, frames: [0; 2], seconds: [0.0; 2] })
    }

    /// Whether the next frame grafts.
    pub fn next(&mut self) -> bool {
        self.grafts = match self.choice {
            Choice::Always => true,
            Choice::Never => false,
            Choice::Measured => match self.means {
                None => true,
                Some((grafted, plain)) if self.grafts && plain > CLEAR * grafted => true,
                Some(_) => self.balance.choose() == GRAFT,
            },
        };
        self.grafts
    }

    /// Note the durations of the frame that has ended.
    pub fn add(&mut self, spent: &Spent) {
        let way = if self.grafts { GRAFT } else { PLAIN };
        self.frames[way] += 1;
        self.seconds[way] += spent.all;
        let mix = |old: f64, new: f64| old + WEIGHT * (new - old);
        if self.grafts {
            let copy = self.copy.unwrap_or(spent.take / 2.0).min(spent.take);
            let plain = spent.all - spent.take + copy + spent.saved;
            let (one, other) = self.means.unwrap_or((spent.all, plain));
            self.means = Some((mix(one, spent.all), mix(other, plain)));
            let _ = self.balance.measure(GRAFT, spent.all.max(1e-9));
            let _ = self.balance.measure(PLAIN, plain.max(1e-9));
        } else {
            self.copy = Some(self.copy.map_or(spent.take, |old| mix(old, spent.take)));
            let _ = self.balance.measure(PLAIN, spent.all.max(1e-9));
        }
    }

    /// Forget all durations: the frames have another shape.
    pub fn restart(&mut self) {
        (self.means, self.copy) = (None, None);
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
