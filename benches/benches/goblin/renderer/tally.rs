//! The view of a player: value, changes, reversals, late frames.

use super::scene::{CUT_FRAMES, FRAMES, RATE, Trace};

/// Frames of the learning phase.
const LEARNING: usize = 1024;
/// Frames within which a change that is taken back is a reversal.
const REVERSAL: usize = 10 * RATE;

/// Figures of one run, or the sums of several.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub runs: f64,
    /// Share of the oracle's value, after the learning phase, and of the whole run.
    pub value: f64,
    pub whole_value: f64,
    /// Outside declared cuts and the learning phase.
    pub frames: f64,
    pub changes: f64,
    /// Changes there that the governor says are trials.
    pub trials: f64,
    pub reversals: f64,
    /// Most changes in a second, and in a minute.
    pub worst_second: f64,
    pub worst_minute: f64,
    /// After the learning phase.
    pub late: f64,
    pub late_frames: f64,
    /// In the first 256 frames.
    pub late_at_first: f64,
    pub worst_run: f64,
    /// Of the oracle.
    pub oracle_changes: f64,
}

impl Tally {
    /// Changes a second.
    pub fn changes_per_second(&self) -> f64 {
        RATE as f64 * self.changes / self.frames
    }

    /// Reversals a minute.
    pub fn reversals_per_minute(&self) -> f64 {
        60.0 * RATE as f64 * self.reversals / self.frames
    }

    /// Share of late frames.
    pub fn late_share(&self) -> f64 {
        self.late / self.late_frames
    }

    /// Adds another run.
    pub fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.value += other.value;
        self.whole_value += other.whole_value;
        self.frames += other.frames;
        self.changes += other.changes;
        self.trials += other.trials;
        self.reversals += other.reversals;
        self.worst_second = self.worst_second.max(other.worst_second);
        self.worst_minute = self.worst_minute.max(other.worst_minute);
        self.late += other.late;
        self.late_frames += other.late_frames;
        self.late_at_first += other.late_at_first;
        self.worst_run = self.worst_run.max(other.worst_run);
        self.oracle_changes += other.oracle_changes;
    }
}

/// Watches a run.
pub struct Watcher<'a> {
    trace: &'a Trace,
    before: Vec<u16>,
    /// By setting: the option before its last change, and the frame of that change.
    left: Vec<(u16, usize)>,
    /// Changes by frame, outside declared cuts and the learning phase.
    changes: Vec<f64>,
    values: Vec<f64>,
    late: Vec<bool>,
    tally: Tally,
}

impl<'a> Watcher<'a> {
    pub fn new(trace: &'a Trace) -> Self {
        let count = trace.settings();
        Self {
            trace,
            before: vec![0; count],
            left: vec![(u16::MAX, 0); count],
            changes: Vec::with_capacity(FRAMES),
            values: Vec::with_capacity(FRAMES),
            late: Vec::with_capacity(FRAMES),
            tally: Tally { runs: 1.0, ..Tally::default() },
        }
    }

    /// The choices of a frame, what they cost, and options on trial.
    pub fn take(&mut self, frame: usize, choices: &[u16], total: f64, trials: u32) {
        let is_counted = frame >= LEARNING && !self.is_in_cut(frame);
        let mut changes = 0.0;
        for index in (0..choices.len()).filter(|&index| Some(index) != self.trace.trim) {
            if choices[index] == self.before[index] || frame == 0 {
                continue;
            }
            changes += 1.0;
            let (option, when) = self.left[index];
            let is_back = option == choices[index] && frame - when <= REVERSAL;
            self.tally.reversals += f64::from(u8::from(is_back && is_counted));
            self.left[index] = (self.before[index], frame);
        }
        if is_counted {
            self.tally.frames += 1.0;
            self.tally.changes += changes;
            self.tally.trials += f64::from(trials);
        }
        self.changes.push(if is_counted { changes } else { 0.0 });
        self.before.copy_from_slice(choices);
        self.values.push(self.trace.scenario.value_of(choices));
        self.late.push(total > self.trace.scenario.capacity);
    }

    /// The figures, beside those of the oracle.
    pub fn close(mut self, oracle: &super::best::Best) -> Tally {
        let share = |from: usize| self.values[from..].iter().sum::<f64>() / oracle.values[from..].iter().sum::<f64>();
        (self.tally.value, self.tally.whole_value) = (share(LEARNING), share(0));
        let most = |length: usize| {
            let windows = self.changes.windows(length);
            windows.map(|window| window.iter().sum::<f64>()).fold(0.0, f64::max)
        };
        (self.tally.worst_second, self.tally.worst_minute) = (most(RATE), most(60 * RATE));
        let counted = &self.late[LEARNING..];
        self.tally.late = counted.iter().filter(|late| **late).count() as f64;
        self.tally.late_frames = counted.len() as f64;
        self.tally.late_at_first = self.late[..256].iter().filter(|late| **late).count() as f64;
        let runs = counted.split(|late| !late).map(<[bool]>::len);
        self.tally.worst_run = runs.max().unwrap_or(0) as f64;
        self.tally.oracle_changes = oracle.changes;
        self.tally
    }

    /// Whether the host has declared a cut that the eye has not got over.
    fn is_in_cut(&self, frame: usize) -> bool {
        self.trace.workload.declares_cuts && self.trace.cuts.iter().any(|&cut| (cut..cut + CUT_FRAMES).contains(&frame))
    }
}
