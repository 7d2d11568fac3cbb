//! Dead levers: settings whose cost does not respond to a change.
//!
//! A setting is lowered to save a part of its cost. If its samples then show none of the expected saving, the change
//! took value for nothing: another thread may be the bottleneck, or the option is not applied. Such a setting is
//! restored, and does not change for a minute. The evidence is the setting's own samples. Each is compared with the
//! cost of the former option in the same frame, so a heavier scene or a slower machine does not look like a dead lever.
//! If the setting itself had just become more expensive, as after a cut, that cost is the one of its last frames before
//! the change. If it becomes so later, the first samples still show the saving.

use crate::knapsack::NO_CHOICE;
use crate::stats::Running;

use super::Choose;
use crate::goblin::frame::Frame;
use crate::goblin::learn::Learn;
use crate::goblin::question::Question;
use crate::goblin::question::setting::Setting;
use crate::goblin::tuning::{self, TUNING};

const LEVER: &tuning::Lever = &TUNING.lever;

/// The last change of a setting to a lighter option, while its effect is awaited, and a dead lever's rest.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lever {
    /// The decision of the change; 0: none is watched.
    since: u64,
    from: u16,
    to: u16,
    /// The governed lane.
    lane: u8,
    /// The former option's burden per unit of its work.
    unit: f64,
    /// Expected saving as a share of the former cost.
    expected: f64,
    /// Measured costs as shares of the former option's: just before the change, of the lighter option in its first
    /// frames and in later ones, and after the return.
    before: Running,
    lowered: [Running; LEVER.parts],
    returned: Running,
    /// The lever is dead up to this decision.
    rests_until: u64,
}

/// The latest sample of a setting.
#[derive(Clone, Copy, Debug, Default)]
pub struct Latest {
    pub decision: u64,
    pub option: u16,
    /// The governed lane.
    pub lane: u8,
    /// Its burden per unit of work, without the common factor.
    pub unit: f64,
}

/// The expected effect of a change on a lane.
#[derive(Clone, Copy, Debug)]
pub struct Promise {
    pub lane: usize,
    /// The former option's burden per unit of its work.
    pub unit: f64,
    /// Means of the former and of the lighter option, for equal conditions.
    pub means: (f64, f64),
    /// Their deviations.
    pub deviations: (f64, f64),
}

impl Promise {
    /// Expected saving as a share of the former cost, if it is large enough to be seen.
    fn expected(&self) -> Option<f64> {
        let saved = self.means.0 - self.means.1;
        let deviation = self.deviations.0.hypot(self.deviations.1);
        let is_visible = saved >= LEVER.least_deviations * deviation && saved >= LEVER.least_share * self.means.0;
        (is_visible && saved > 0.0 && self.unit > 0.0).then(|| saved / self.means.0)
    }
}

impl Lever {
    /// Watch the effect of a change, of the promises on all lanes the largest.
    pub fn watch(
        &mut self,
        decision: u64,
        (from, to): (u16, u16),
        latest: &Latest,
        promises: impl Iterator<Item = Promise>,
    ) {
        let visible = promises.filter_map(|promise| Some((promise, promise.expected()?)));
        let largest = visible.reduce(|one, other| if other.1 > one.1 { other } else { one });
        *self = match largest {
            Some((Promise { lane, unit, .. }, expected)) => {
                Self { since: decision, from, to, lane: lane as u8, unit, expected, ..Self::default() }
            }
            None => Self::default(),
        };
        if self.needs(latest.decision, usize::from(latest.lane), latest.option) {
            self.before.add(latest.unit / self.unit);
        }
    }

    /// Whether the effect of the change is not known yet. `most`: decisions until it is not awaited any longer.
    pub fn is_awaited(&self, now: u64, most: u64) -> bool {
        self.since > 0 && self.rests_until == 0 && now <= self.since + most
    }

    /// Whether a sample of this option shows the effect, or the cost just before the change.
    pub fn needs(&self, decision: u64, lane: usize, option: u16) -> bool {
        if self.since == 0 || lane != usize::from(self.lane) {
            return false;
        }
        let (rests, is_after) = (self.rests_until > 0, decision >= self.since);
        let is_just_before = !is_after && !rests && decision + LEVER.before >= self.since;
        (is_after && option == self.to) || ((is_just_before || (is_after && rests)) && option == self.from)
    }

    /// Observe a sample: its burden, and the factors that would make a unit of the former option a burden in that frame.
    /// Returns whether the lever has just been found dead.
    pub fn observe(&mut self, option: u16, burden: f64, factors: f64) -> bool {
        let share = burden / (self.unit * factors);
        if self.rests_until > 0 {
            if option == self.from {
                self.returned.add(share);
                let lowered = self.lowered.iter().map(Running::mean).sum::<f64>() / LEVER.parts as f64;
                let saving = 1.0 - lowered / self.returned.mean();
                if self.returned.count() >= LEVER.samples && saving > LEVER.recovered * self.expected {
                    *self = Self::default();
                }
            }
            return false;
        }
        if option == self.from {
            self.before.add(share);
            return false;
        }
        let each = LEVER.samples / LEVER.parts as u64;
        let part = self.lowered.iter().position(|part| part.count() < each).unwrap_or(0);
        self.lowered[part].add(share);
        if self.lowered[LEVER.parts - 1].count() < each {
            return false;
        }
        let has_risen = self.before.count() > 0 && self.before.mean() - 1.0 > LEVER.risen * self.expected;
        let former = if has_risen { self.before.mean() } else { 1.0 };
        let least = LEVER.least_saving * self.expected;
        let is_dead = self.lowered.iter().all(|part| 1.0 - part.mean() / former < least);
        if !is_dead {
            *self = Self::default();
        }
        is_dead
    }

    /// Keep the former option until this decision.
    pub fn rest(&mut self, until: u64) {
        self.rests_until = until;
    }

    /// The option to which a dead lever returns.
    pub fn resting(&self, decision: u64) -> Option<u16> {
        (self.rests_until >= decision).then_some(self.from)
    }

    /// The option before the change.
    pub fn former(&self) -> usize {
        usize::from(self.from)
    }
}

impl Choose {
    /// End rests that are over, or whose option the host has excluded.
    pub fn end_rests(&mut self, question: &Question, now: u64) {
        for (position, setting) in question.settings.iter() {
            let lever = &mut self.kept[position].lever;
            if lever.rests_until == 0 {
                continue;
            }
            if lever.rests_until < now || !is_available(setting, lever.former()) {
                *lever = Lever::default();
            }
        }
    }

    /// Watch the settings that this decision has lowered.
    pub fn watch_levers(&mut self, question: &Question, learn: &Learn, frame: &Frame<'_>) {
        if !frame.config.learns_samples() {
            return;
        }
        for entry in &question.formulation.entries {
            let setting = question.setting(entry.position);
            let kept = &mut self.kept[entry.position];
            let is_resting = kept.lever.rests_until > 0;
            if kept.changed != frame.now || setting.is_trim || kept.settled == NO_CHOICE || is_resting {
                continue;
            }
            let (from, to) = (usize::from(kept.settled_before), usize::from(kept.settled));
            let value = |option: usize| question.formulation.values[entry.start + option];
            if value(to) >= value(from) || !is_available(setting, from) {
                // It took no value, or the host did, so there is nothing to restore. The promise of an earlier change is over.
                kept.lever = Lever::default();
                continue;
            }
            let work = setting.work_of(from) * question.strategies.work(entry.position, from);
            let (task, cells) = (learn.tasks.at(setting.task), (setting.cell(from), setting.cell(to)));
            let promises = (0..task.lanes()).filter_map(|lane| {
                let of = |option: usize| question.formulation.weights_of(entry.start + option)[lane];
                let (one, other) = (of(from), of(to));
                (task.is_known(lane, cells.1) && task.learned(lane)[cells.0].is_calm()).then(|| Promise {
                    lane,
                    unit: one.mean / (work * frame.slow[lane]),
                    means: (one.mean, other.mean),
                    deviations: (one.variance.max(0.0).sqrt(), other.variance.max(0.0).sqrt()),
                })
            });
            kept.lever.watch(frame.now, (from as u16, to as u16), &kept.latest, promises);
        }
    }
}

/// Whether the host lets a setting have an option.
fn is_available(setting: &Setting, option: usize) -> bool {
    setting.allows(option) && setting.options.get(option).is_some_and(|desc| desc.ready)
}
