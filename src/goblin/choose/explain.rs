//! Finds the reasons for the choices of a decision.

use super::kept::Kept;
use super::reason::{Reason, Why};
use super::steady::Settled;
use crate::goblin::lanes::Lanes;
use crate::goblin::question::formulation::{Bar, Entry, Formulation};
use crate::goblin::question::setting::Setting;
use crate::goblin::question::strategy::Strategies;
use crate::knapsack::Economy;

/// The facts of a decision that explain its choices.
pub struct Facts<'a> {
    pub settled: &'a Settled,
    pub formulation: &'a Formulation,
    pub strategies: &'a Strategies,
    pub lanes: &'a Lanes,
    pub economies: &'a [Economy],
    pub decision: u64,
    pub other_strategy: bool,
}

impl Facts<'_> {
    /// The reason for a setting's settled choice.
    pub fn reason(&self, setting: &Setting, kept: &Kept, entry: &Entry) -> Reason {
        let (from, to, since) = (kept.settled_before, kept.settled, kept.changed);
        let why = self.why(setting, kept, entry);
        let is_change = matches!(why, Why::Raised | Why::Lowered | Why::Strategy);
        if is_change && since != self.decision {
            // The cause of a change stays with the choice.
            return kept.reason;
        }
        let lane = self.lane(entry, why, from, to);
        let free = match why {
            Why::NothingFits => -self.settled.weighed.excess[lane],
            _ if is_change => self.settled.before[lane],
            _ => self.settled.weighed.headroom(self.economies)[lane],
        };
        let gain = match why {
            Why::Held => self.settled.gain,
            _ if is_change => self.settled.gained,
            _ => 0.0,
        };
        let (has_other_lanes, lane) = (self.economies.len() > 1, self.lanes.lane(lane) as u8);
        Reason { why, from, to, since, lane, has_other_lanes, headroom: free, gain }
    }

    fn why(&self, setting: &Setting, kept: &Kept, entry: &Entry) -> Why {
        let (from, to) = (usize::from(kept.settled_before), usize::from(kept.settled));
        let bars = &self.formulation.bars[entry.start..entry.end];
        let value = |option: usize| self.strategies.value_of(setting, entry.position, option);
        let better = |bar: Bar| (0..bars.len()).any(|option| bars[option] == bar && value(option) > value(to));
        let barred = |bar: Bar| if bar == Bar::OutOfRange { Why::Limited } else { Why::NotReady };
        let has_changed = kept.changed == self.decision;
        if bars.len() > 1 && setting.range.0 == setting.range.1.min((bars.len() - 1) as u16) {
            Why::Pinned
        } else if !entry.known {
            Why::Unknown
        } else if kept.lever.resting(self.decision) == Some(kept.settled) {
            Why::DeadLever
        } else if !self.settled.weighed.feasible {
            Why::NothingFits
        } else if setting.is_trim {
            Why::Trim
        } else if has_changed && self.other_strategy {
            Why::Strategy
        } else if has_changed && value(to) > value(from) {
            Why::Raised
        } else if has_changed && value(to) < value(from) {
            match bars[from] {
                bar @ (Bar::OutOfRange | Bar::NotReady) => barred(bar),
                _ => Why::Lowered,
            }
        } else if better(Bar::OutOfRange) {
            Why::Limited
        } else if better(Bar::NotReady) {
            Why::NotReady
        } else if self.settled.waits && self.settled.gain > 0.0 && kept.target != kept.settled {
            Why::Held
        } else if is_of_change(&kept.reason, kept) {
            kept.reason.why
        } else if self.settled.is_delayed && better(Bar::Free) {
            Why::Held
        } else {
            Why::Best
        }
    }

    /// The governed lane on which the choice, or its change, matters most.
    fn lane(&self, entry: &Entry, why: Why, from: u16, to: u16) -> usize {
        let share = |burden: f64, lane: usize| {
            let capacity = self.economies[lane].capacity;
            if capacity.is_finite() { burden / capacity.abs().max(f64::MIN_POSITIVE) } else { 0.0 }
        };
        let mean = |option: u16, lane: usize| {
            self.formulation.weights_of(entry.start + usize::from(option))[lane].mean.min(f64::MAX)
        };
        let excess = |lane: usize| match why {
            Why::NothingFits => self.settled.weighed.excess[lane],
            Why::Lowered | Why::Raised | Why::Strategy => -self.settled.before[lane],
            _ => 0.0,
        };
        let lanes = 0..self.economies.len();
        let matters = |lane: usize| match why {
            _ if excess(lane) > 0.0 => (true, share(excess(lane), lane)),
            // After all lanes that the strategy in force limits.
            _ if self.economies[lane].capacity.is_infinite() => (false, -1.0),
            Why::Raised | Why::Lowered | Why::Strategy => (false, share(mean(to, lane) - mean(from, lane), lane).abs()),
            _ => (false, share(mean(to, lane), lane)),
        };
        let is_less = |one: &(bool, f64), other: &(bool, f64)| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1));
        // Of equals the first lane.
        lanes.rev().max_by(|&one, &other| is_less(&matters(one), &matters(other))).unwrap_or(0)
    }
}

/// Whether a reason is that of the setting's last change.
fn is_of_change(reason: &Reason, kept: &Kept) -> bool {
    let is_change = matches!(reason.why, Why::Raised | Why::Lowered | Why::Strategy);
    is_change && reason.since == kept.changed && reason.to == kept.settled
}
