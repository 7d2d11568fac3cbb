//! Dead levers: settings whose cost does not respond to a change.
//!
//! A setting is lowered to save a part of its cost. If its samples then show none of the expected saving, the change
//! took value for nothing: another thread may be the bottleneck, or the option is not applied. Such a setting is
//! restored, and does not change for a minute. The evidence is the setting's own samples. Each is compared with the cost
//! of the former option in the same frame, so a heavier scene or a slower machine does not look like a dead lever.

use crate::knapsack::NO_CHOICE;
use crate::stats::Running;

use crate::goblin::config::{Burdens, Exploration};
use crate::goblin::core::Core;
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
    /// Measured costs as shares of the former option's: of the lighter option, and after the return.
    lowered: Running,
    returned: Running,
    /// The lever is dead up to this decision.
    rests_until: u64,
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
    pub fn watch(&mut self, decision: u64, from: u16, to: u16, promises: impl Iterator<Item = Promise>) {
        let visible = promises.filter_map(|promise| Some((promise, promise.expected()?)));
        let largest = visible.reduce(|one, other| if other.1 > one.1 { other } else { one });
        *self = match largest {
            Some((Promise { lane, unit, .. }, expected)) => {
                Self { since: decision, from, to, lane: lane as u8, unit, expected, ..Self::default() }
            }
            None => Self::default(),
        };
    }

    /// Whether a sample of this option shows the effect.
    pub fn needs(&self, decision: u64, lane: usize, option: u16) -> bool {
        let is_of_it = self.since > 0 && decision >= self.since && lane == usize::from(self.lane);
        is_of_it && (option == self.to || (option == self.from && self.rests_until > 0))
    }

    /// Observe a sample: its burden, and the factors that would make a unit of the former option a burden in that frame.
    /// Returns whether the lever has just been found dead.
    pub fn observe(&mut self, option: u16, burden: f64, factors: f64) -> bool {
        let share = burden / (self.unit * factors);
        if self.rests_until > 0 {
            if option == self.from {
                self.returned.add(share);
                let saving = 1.0 - self.lowered.mean() / self.returned.mean();
                if self.returned.count() >= LEVER.samples && saving > LEVER.recovered * self.expected {
                    *self = Self::default();
                }
            }
            return false;
        }
        self.lowered.add(share);
        if self.lowered.count() < LEVER.samples {
            return false;
        }
        let is_dead = 1.0 - self.lowered.mean() < LEVER.least_saving * self.expected;
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

impl Core {
    /// End rests that are over, or whose option the host has excluded.
    pub(in crate::goblin) fn end_rests(&mut self) {
        let now = self.history.latest() + 1;
        for (_, setting) in self.settings.iter_mut().filter(|(_, setting)| setting.lever.rests_until > 0) {
            let former = setting.lever.former();
            let is_available = setting.allows(former) && setting.options.get(former).is_some_and(|o| o.desc.ready);
            if setting.lever.rests_until < now || !is_available {
                setting.lever = Lever::default();
            }
        }
    }

    /// Watch the settings that this decision has lowered.
    pub(in crate::goblin) fn watch_levers(&mut self) {
        if self.config.burdens != Burdens::Learned || self.config.exploration != Exploration::Bounded {
            return;
        }
        let (now, common) = (self.history.latest() + 1, self.common_factors());
        let Self { settings, formulation, tasks, strategies, .. } = self;
        for entry in &formulation.entries {
            let setting = settings.at_mut(entry.position).expect("entries are made of the settings there are");
            let is_resting = setting.lever.rests_until > 0;
            if setting.changed != now || setting.is_trim || setting.settled == NO_CHOICE || is_resting {
                continue;
            }
            let (from, to) = (usize::from(setting.settled_before), usize::from(setting.settled));
            let (task, cells) = (tasks.at(setting.task), (setting.cell(from), setting.cell(to)));
            let work = setting.work_of(from) * strategies.work(entry.position, from);
            let promises = (0..task.lanes()).filter_map(|lane| {
                let (learned, past) = (task.learned(lane), task.past(lane));
                let is_known = learned[cells.1].is_known() || past.is_some_and(|past| past[cells.1].is_solid());
                let of = |option: usize| formulation.weights_of(entry.start + option)[lane];
                let (one, other) = (of(from), of(to));
                (is_known && learned[cells.0].is_calm()).then(|| Promise {
                    lane,
                    unit: one.mean / (work * common[lane]),
                    means: (one.mean, other.mean),
                    deviations: (one.variance.max(0.0).sqrt(), other.variance.max(0.0).sqrt()),
                })
            });
            setting.lever.watch(now, from as u16, to as u16, promises);
        }
    }
}
