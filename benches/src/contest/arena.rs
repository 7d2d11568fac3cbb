//! Runs that governors play: the cost of each frame with any choices, and the figures that a player notices.

use std::collections::VecDeque;

use crate::random::Random;

/// Frames a second. Rules with delays in seconds count them in frames.
pub const RATE: usize = 60;
/// Frames of the learning phase. The goblin's changes are free there.
pub const LEARNING: usize = 1024;
/// Frames within which a change that is taken back is a reversal.
const REVERSAL: usize = 10 * RATE;

/// A setting of a run.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Its name; the goblin learns under it.
    pub name: String,
    /// The value of each option, lowest first. One option: a fixed burden.
    pub values: Vec<f64>,
    /// Milliseconds that a frame takes longer if the setting changes in it.
    pub change_ms: f64,
}

/// One run of a renderer: frames whose cost depends on the choices.
pub trait Run: Sync {
    /// Settings first, then fixed burdens, which have one option.
    fn settings(&self) -> &[Setting];
    /// The setting that dynamic resolution moves.
    fn resolution(&self) -> usize;
    /// Whether the steps of the resolution are fine, so that dynamic resolution may move it in every frame. Then its
    /// changes are counted apart, for every governor.
    fn has_fine_resolution(&self) -> bool;
    /// Milliseconds that a frame may take.
    fn budget(&self) -> f64;
    /// Frames of the run.
    fn frames(&self) -> usize;
    /// Work of each setting in a frame, known before it is drawn.
    fn works(&self, frame: usize, works: &mut [f64]);
    /// Milliseconds of each setting's passes in a frame with these choices.
    fn costs(&self, frame: usize, choices: &[u16], costs: &mut [f64]);
    /// Mean cost of a frame without noise.
    fn typical(&self, choices: &[u16]) -> f64;
    /// The same on the machine on which the studio made its ladder; `None` if only this machine is known.
    fn typical_on_reference(&self, _choices: &[u16]) -> Option<f64> {
        None
    }
    /// Value of the oracle's choices in all frames, and its changes a second.
    fn oracle(&self) -> (f64, f64);
    /// Configurations with the most value for their cost, by its mean and in the heaviest frame.
    fn frontier(&self) -> Vec<Vec<u16>>;
}

/// Value of the choices.
pub fn value_of(settings: &[Setting], choices: &[u16]) -> f64 {
    settings.iter().zip(choices).map(|(setting, &choice)| setting.values[usize::from(choice)]).sum()
}

/// Decides the choices of every frame.
pub trait Governor {
    /// Choices of a frame with this work.
    fn decide(&mut self, works: &[f64], choices: &mut [u16]);
    /// Takes the costs of an earlier frame; frames are counted from 0 and come in order.
    fn learn(&mut self, frame: usize, costs: &[f64], total: f64);
    /// Its knowledge, to start another run with.
    fn save(&self) -> Option<String> {
        None
    }
}

/// Figures of one run.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Share of the oracle's value.
    pub value: f64,
    /// Share of late frames.
    pub late: f64,
    /// Share of late frames in the first 256.
    pub late_at_first: f64,
    /// Changes a second after the learning phase, of all settings but a fine resolution.
    pub changes: f64,
    /// The same in the learning phase.
    pub changes_at_first: f64,
    /// Changes a second of the resolution after the learning phase.
    pub resolution_changes: f64,
    /// Reversals a minute after the learning phase, of all settings but a fine resolution.
    pub reversals: f64,
    /// Most late frames in a row.
    pub worst_run: f64,
}

/// Lets a governor play a run. Samples arrive two or three frames late.
pub fn play(run: &dyn Run, governor: &mut dyn Governor, seed: u64) -> Tally {
    let count = run.settings().len();
    let (mut works, mut choices) = (vec![0.0; count], vec![0; count]);
    let mut watch = Watch { before: vec![0; count], left: vec![(u16::MAX, 0); count], ..Watch::default() };
    let mut random = Random(seed);
    let mut in_flight: VecDeque<(usize, Vec<f64>, f64)> = VecDeque::new();
    for frame in 0..run.frames() {
        let late = 2 + random.below(2);
        while in_flight.front().is_some_and(|&(of, ..)| of + late <= frame) {
            let (of, costs, total) = in_flight.pop_front().expect("there is a first");
            governor.learn(of, &costs, total);
        }
        run.works(frame, &mut works);
        governor.decide(&works, &mut choices);
        let mut costs = vec![0.0; count];
        run.costs(frame, &choices, &mut costs);
        let total = costs.iter().sum::<f64>() + watch.changes_of(frame, &choices, run);
        watch.take(run, &choices, total);
        in_flight.push_back((frame, costs, total));
    }
    watch.close(run)
}

#[derive(Default)]
struct Watch {
    before: Vec<u16>,
    /// By setting: the option before its last change, and the frame of that change.
    left: Vec<(u16, usize)>,
    late: Vec<bool>,
    value: f64,
    changes: usize,
    changes_at_first: usize,
    resolution_changes: usize,
    reversals: usize,
}

impl Watch {
    /// Counts the changes of a frame and returns their cost.
    fn changes_of(&mut self, frame: usize, choices: &[u16], run: &dyn Run) -> f64 {
        let mut cost = 0.0;
        let changed = |&index: &usize| frame > 0 && choices[index] != self.before[index];
        for index in (0..choices.len()).filter(changed) {
            cost += run.settings()[index].change_ms;
            let (option, when) = std::mem::replace(&mut self.left[index], (self.before[index], frame));
            let is_seen = index != run.resolution() || !run.has_fine_resolution();
            if frame < LEARNING {
                self.changes_at_first += usize::from(is_seen);
                continue;
            }
            self.changes += usize::from(is_seen);
            self.resolution_changes += usize::from(index == run.resolution());
            self.reversals += usize::from(is_seen && option == choices[index] && frame - when <= REVERSAL);
        }
        self.before.copy_from_slice(choices);
        cost
    }

    fn take(&mut self, run: &dyn Run, choices: &[u16], total: f64) {
        self.value += value_of(run.settings(), choices);
        self.late.push(total > run.budget());
    }

    fn close(self, run: &dyn Run) -> Tally {
        let per_second = RATE as f64 / self.late.len().saturating_sub(LEARNING).max(1) as f64;
        let share = |late: &[bool]| late.iter().filter(|late| **late).count() as f64 / late.len() as f64;
        let runs = self.late.split(|late| !late).map(<[bool]>::len);
        Tally {
            value: self.value / run.oracle().0,
            late: share(&self.late),
            late_at_first: share(&self.late[..self.late.len().min(256)]),
            changes: self.changes as f64 * per_second,
            changes_at_first: (self.changes_at_first * RATE) as f64 / self.late.len().min(LEARNING) as f64,
            resolution_changes: self.resolution_changes as f64 * per_second,
            reversals: self.reversals as f64 * per_second * 60.0,
            worst_run: runs.max().unwrap_or(0) as f64,
        }
    }
}

/// The lowest choices, and one step after the other up to the highest: each time the option with the most value for its
/// `cost`. `kept` is a setting that stays at its option of `start`.
pub fn ladder(run: &dyn Run, cost: &dyn Fn(&[u16]) -> f64, start: &[u16], kept: Option<usize>) -> Vec<Vec<u16>> {
    let mut steps = vec![start.to_vec()];
    loop {
        let current = steps.last().expect("there is a first");
        let before = cost(current);
        let mut best: Option<(f64, Vec<u16>)> = None;
        for (index, setting) in run.settings().iter().enumerate() {
            let option = usize::from(current[index]);
            if Some(index) == kept || option + 1 >= setting.values.len() {
                continue;
            }
            let mut next = current.clone();
            next[index] += 1;
            let gain = setting.values[option + 1] - setting.values[option];
            let rate = gain / (cost(&next) - before).max(1e-3);
            if best.as_ref().is_none_or(|(other, _)| rate > *other) {
                best = Some((rate, next));
            }
        }
        match best {
            Some((_, next)) => steps.push(next),
            None => return steps,
        }
    }
}
