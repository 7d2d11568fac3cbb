//! Results of the seeds of a row, by phase.

use crate::governor::{Governor, Told};
use crate::oracle::Oracle;
use crate::run::{Event, Row};
use crate::scenario::Scenario;
use crate::workload::Truth;

/// Observations of one frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame {
    pub decided: Told,
    pub value: f64,
    pub oracle_value: f64,
    pub over: bool,
    pub oracle_over: bool,
    /// True mean of the choice's total.
    pub true_mean: f64,
    /// True mean plus the oracle's sigmas of the choice, divided by the capacity.
    pub fill: f64,
    pub changes: u32,
    /// Changes that return to the option before the setting's last change, within 10 s of it.
    pub reversals: u32,
    pub settled_changes: u32,
    /// Value of the latest choice without trials.
    pub settled_value: f64,
    /// Increase of `settled_value` in this frame.
    pub settled_gain: f64,
    pub update_ns: u32,
    pub feed_ns: u32,
}

/// Sums over the frames of a phase.
#[derive(Clone, Copy, Debug, Default)]
pub struct Phase {
    pub frames: f64,
    pub value: f64,
    pub over: f64,
    pub oracle_over: f64,
    pub trial_frames: f64,
    /// Overruns on frames with trials.
    pub over_on_trial: f64,
    /// Overruns on frames without trials whose choice is too heavy by the true distributions.
    pub over_heavy: f64,
    /// Frames without trials whose choice is too heavy.
    pub heavy_frames: f64,
    pub trials: f64,
    pub changes: f64,
    pub reversals: f64,
    pub settled_changes: f64,
    /// Frames without trials whose choice has a higher (`rises`) or lower value than the choice before.
    pub rises: f64,
    pub falls: f64,
    /// Value lost to trials.
    pub trial_loss: f64,
    /// Distance from the best choice by the governor's own estimates, on frames without trials.
    pub gap: f64,
    /// True mean total divided by the expected one.
    pub bias: f64,
    pub fill: f64,
}

impl Phase {
    fn take(&mut self, frame: &Frame) {
        self.frames += 1.0;
        self.value += frame.value / frame.oracle_value;
        self.over += f64::from(u8::from(frame.over));
        self.oracle_over += f64::from(u8::from(frame.oracle_over));
        let trial = f64::from(u8::from(frame.decided.trials > 0));
        self.trial_frames += trial;
        self.over_on_trial += trial * f64::from(u8::from(frame.over));
        let heavy = (1.0 - trial) * f64::from(u8::from(frame.fill > 1.0 + 1e-9));
        self.heavy_frames += heavy;
        self.over_heavy += heavy * f64::from(u8::from(frame.over));
        self.trials += f64::from(frame.decided.trials);
        self.changes += f64::from(frame.changes);
        self.reversals += f64::from(frame.reversals);
        self.settled_changes += f64::from(frame.settled_changes);
        self.rises += f64::from(u8::from(frame.settled_gain > 0.0));
        self.falls += f64::from(u8::from(frame.settled_gain < 0.0));
        self.trial_loss += trial * (frame.settled_value - frame.value) / frame.oracle_value;
        self.gap += (1.0 - trial) * frame.decided.gap;
        self.bias += if frame.decided.mean == 0.0 { 1.0 } else { frame.true_mean / frame.decided.mean };
        self.fill += frame.fill;
    }

    fn add(&mut self, other: &Self) {
        self.frames += other.frames;
        self.value += other.value;
        self.over += other.over;
        self.oracle_over += other.oracle_over;
        self.trial_frames += other.trial_frames;
        self.over_on_trial += other.over_on_trial;
        self.over_heavy += other.over_heavy;
        self.heavy_frames += other.heavy_frames;
        self.trials += other.trials;
        self.changes += other.changes;
        self.reversals += other.reversals;
        self.settled_changes += other.settled_changes;
        self.rises += other.rises;
        self.falls += other.falls;
        self.trial_loss += other.trial_loss;
        self.gap += other.gap;
        self.bias += other.bias;
        self.fill += other.fill;
    }

    /// Value as a percentage of the oracle's.
    pub fn value_percent(&self) -> f64 {
        100.0 * self.value / self.frames
    }

    /// Percentage of frames over the capacity.
    pub fn over_percent(&self) -> f64 {
        100.0 * self.over / self.frames
    }

    /// A sum as a percentage of the frames.
    pub fn percent(&self, sum: f64) -> f64 {
        100.0 * sum / self.frames
    }

    /// A sum as a rate per second.
    pub fn per_second(&self, sum: f64) -> f64 {
        60.0 * sum / self.frames
    }
}

/// Reasons why a setting does not have the oracle's option at the end, each with the lost value as a share of the
/// oracle's.
#[derive(Clone, Copy, Debug, Default)]
pub struct Causes {
    /// Whether the governor has estimates.
    pub asked: bool,
    /// The oracle's option was never measured.
    pub unknown: (f64, f64),
    /// The estimate for the oracle's option is too high by a tenth or more.
    pub believed_dear: (f64, f64),
    /// The estimate for the governor's own option is too low by a tenth or more.
    pub believed_cheap: (f64, f64),
    /// Both estimates are accurate: the choice follows from other settings.
    pub consequence: (f64, f64),
}

/// Ends of the phases of learning, for the curve.
pub const CURVE: [usize; 11] = [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096];

/// Results of one seed or of several.
#[derive(Clone, Debug)]
pub struct Figures {
    pub row: Row,
    pub seeds: f64,
    pub options: f64,
    pub first: Phase,
    pub at_256: Phase,
    pub learning: Phase,
    pub steady: Phase,
    /// After the first 4096 frames.
    pub late: Phase,
    /// The frames that the promise covers: after the first 1024 frames, without the first 60 after a declared step.
    pub promised: Phase,
    /// After the learning phase, which is the first 1024 frames.
    pub calm: Phase,
    /// During the step, without its first 60 frames.
    pub in_step: Phase,
    /// `Event::Step`: 600 to 1200 frames after the end of the step. `Event::Past`: the 120 frames that begin with the
    /// second after the first sample.
    pub after: Phase,
    /// One figure per seed.
    ///
    /// `Event::Step`: frames from the end of the step until a mean over 60 frames is at 99 %. `Event::Past`: the lowest
    /// mean of 10 frames, in percent.
    pub after_each: Vec<f64>,
    /// For each seed: percentage of the oracle's value in the steady state, and percentage of frames over the capacity.
    pub each: Vec<(f64, f64)>,
    pub causes: Causes,
    /// The oracle's own share of frames over the capacity, by its distributions.
    pub oracle_overrun: f64,
    pub oracle_sigmas: f64,
    pub update_ns: Vec<u32>,
    pub feed_ns: Vec<u32>,
    /// Timings of some seeds: the fastest of several identical runs.
    pub replayed_ns: Vec<u32>,
    pub memory: usize,
    /// The learning phase in finer steps.
    pub curve: [Phase; CURVE.len()],
    /// Value divided by the oracle's, for each frame after an event, summed over the seeds.
    recent: Vec<f64>,
}

impl Figures {
    pub fn new(row: &Row, options: usize, oracle: &Oracle) -> Self {
        let nothing = Phase::default();
        Self {
            row: row.clone(),
            seeds: 1.0,
            options: options as f64,
            first: nothing,
            at_256: nothing,
            learning: nothing,
            steady: nothing,
            late: nothing,
            promised: nothing,
            calm: nothing,
            in_step: nothing,
            after: nothing,
            after_each: Vec::new(),
            each: Vec::new(),
            causes: Causes::default(),
            oracle_overrun: oracle.overrun,
            oracle_sigmas: oracle.sigmas,
            update_ns: Vec::with_capacity(row.frames),
            feed_ns: Vec::with_capacity(row.frames),
            replayed_ns: Vec::new(),
            memory: 0,
            curve: [nothing; CURVE.len()],
            recent: Vec::new(),
        }
    }

    /// Adds a frame.
    pub fn take(&mut self, index: usize, frame: &Frame) {
        match index {
            0..256 => self.first.take(frame),
            256..512 => self.at_256.take(frame),
            512..4096 => self.learning.take(frame),
            _ => {}
        }
        if let Some(part) = CURVE.iter().position(|&end| index < end) {
            self.curve[part].take(frame);
        }
        if index >= self.row.frames / 4 {
            self.steady.take(frame);
        }
        if index >= 4096 {
            self.late.take(frame);
        }
        if index >= 1024 {
            self.calm.take(frame);
        }
        let mut excepted = index < 1024;
        match self.row.event {
            Event::Step { from, to, .. } => {
                excepted |= (from..from + 60).contains(&index) || (to..to + 60).contains(&index);
                if (from + 60..to).contains(&index) {
                    self.in_step.take(frame);
                }
                if (to + 600..to + 1200).contains(&index) {
                    self.after.take(frame);
                }
                if index >= to {
                    self.recent.push(frame.value / frame.oracle_value);
                }
            }
            // The first sample arrives with the decision at index 3. Two decisions later it must have an effect.
            Event::Past { .. } if (5..125).contains(&index) => {
                self.after.take(frame);
                self.recent.push(frame.value / frame.oracle_value);
            }
            _ => {}
        }
        if !excepted {
            self.promised.take(frame);
        }
        self.update_ns.push(frame.update_ns);
        self.feed_ns.push(frame.feed_ns);
    }

    /// First frame after the event at which the mean of the 60 frames before it, over all seeds, is at 99 %.
    pub fn recovered(&self) -> f64 {
        let wanted = 60.0 * 0.99 * self.seeds;
        let back = self.recent.windows(60).position(|second| second.iter().sum::<f64>() >= wanted);
        back.map_or(f64::INFINITY, |start| (start + 60) as f64)
    }

    /// Ends the run and compares the governor's estimates with the truth.
    pub fn finish(
        &mut self,
        scenario: &Scenario,
        truth: &Truth,
        oracle: &Oracle,
        choices: &[u16],
        governor: &dyn Governor,
    ) {
        match self.row.event {
            Event::Step { .. } => self.after_each.push(self.recovered()),
            Event::Past { .. } => {
                let tens = self.recent.windows(10).map(|ten| 10.0 * ten.iter().sum::<f64>());
                self.after_each.push(tens.fold(f64::INFINITY, f64::min));
            }
            _ => {}
        }
        self.each.push((self.steady.value_percent(), self.promised.over_percent()));
        for (index, setting) in scenario.settings.iter().enumerate() {
            let (own, best) = (choices[index], oracle.choices[index]);
            let (Some(of_own), Some(of_best)) = (governor.belief(index, own), governor.belief(index, best)) else {
                return;
            };
            self.causes.asked = true;
            if own == best {
                continue;
            }
            let value = |choice: u16| setting.options[usize::from(choice)].value;
            let law = |choice: u16| truth.laws[index][usize::from(choice)].mean;
            let causes = &mut self.causes;
            let cause = if of_best.1 == 0 {
                &mut causes.unknown
            } else if of_best.0 > 1.1 * law(best) {
                &mut causes.believed_dear
            } else if of_own.0 < 0.9 * law(own) {
                &mut causes.believed_cheap
            } else {
                &mut causes.consequence
            };
            cause.0 += 1.0;
            cause.1 += (value(best) - value(own)) / oracle.value;
        }
    }

    /// Adds another seed of the same row.
    pub fn add(&mut self, other: Self) {
        self.seeds += other.seeds;
        self.options += other.options;
        for (own, theirs) in [
            (&mut self.first, &other.first),
            (&mut self.at_256, &other.at_256),
            (&mut self.learning, &other.learning),
            (&mut self.steady, &other.steady),
            (&mut self.late, &other.late),
            (&mut self.promised, &other.promised),
            (&mut self.calm, &other.calm),
            (&mut self.in_step, &other.in_step),
            (&mut self.after, &other.after),
        ] {
            own.add(theirs);
        }
        self.curve.iter_mut().zip(&other.curve).for_each(|(own, theirs)| own.add(theirs));
        self.recent.iter_mut().zip(&other.recent).for_each(|(own, theirs)| *own += theirs);
        self.after_each.extend(other.after_each);
        self.each.extend(other.each);
        for (own, theirs) in [
            (&mut self.causes.unknown, other.causes.unknown),
            (&mut self.causes.believed_dear, other.causes.believed_dear),
            (&mut self.causes.believed_cheap, other.causes.believed_cheap),
            (&mut self.causes.consequence, other.causes.consequence),
        ] {
            *own = (own.0 + theirs.0, own.1 + theirs.1);
        }
        self.causes.asked |= other.causes.asked;
        self.oracle_overrun += other.oracle_overrun;
        self.oracle_sigmas += other.oracle_sigmas;
        self.update_ns.extend(other.update_ns);
        self.feed_ns.extend(other.feed_ns);
        self.memory = self.memory.max(other.memory);
    }

    /// Adds another run of the same seed: keeps the faster update of each frame. Returns whether both runs have the
    /// same values.
    pub fn replay(&mut self, again: &Self) -> bool {
        self.update_ns.iter_mut().zip(&again.update_ns).for_each(|(own, theirs)| *own = (*own).min(*theirs));
        self.first.value == again.first.value && self.steady.value == again.steady.value
    }

    /// Sorts the timings, as quantiles require.
    pub fn close(&mut self) {
        self.update_ns.sort_unstable();
        self.feed_ns.sort_unstable();
        self.replayed_ns.sort_unstable();
    }
}

/// A quantile of sorted timings, in microseconds. Without timings: NaN.
pub fn quantile_us(sorted: &[u32], share: f64) -> f64 {
    let at = (share * sorted.len() as f64) as usize;
    sorted.get(at.min(sorted.len().saturating_sub(1))).map_or(f64::NAN, |&ns| f64::from(ns) / 1000.0)
}
