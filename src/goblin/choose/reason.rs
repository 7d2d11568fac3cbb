//! The reason for a choice, as data and as a sentence.

use std::fmt;

use crate::base::Number;
use crate::knapsack::Economy;

use super::steady::Settled;
use crate::goblin::config::{LANE_NAMES, LANES};
use crate::goblin::lanes::Lanes;
use crate::goblin::question::formulate::{Bar, Entry, Formulation, Weighed};
use crate::goblin::question::setting::Setting;
use crate::goblin::question::strategy::Strategies;

/// The cause of a choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Why {
    /// No decision yet.
    #[default]
    Undecided,
    /// No burden of the setting is known, so it has its default.
    Unknown,
    /// Part of the most valuable choice that fits.
    Best,
    /// A more valuable option than before, because it fits now.
    Raised,
    /// A less valuable option than before, so that the total fits or a more valuable choice elsewhere does.
    Lowered,
    /// A better choice would fit, but its gain has not paid for the change yet.
    Held,
    /// On trial, to measure its cost.
    Trial,
    /// The host allows this option only.
    Pinned,
    /// The host's floor or ceiling excludes a better option.
    Limited,
    /// A better option is not ready.
    NotReady,
    /// No choice fits, so the lightest options are chosen.
    NothingFits,
    /// A TRIM setting that uses the remaining capacity.
    Trim,
    /// The setting is disabled.
    Disabled,
    /// The strategy changed.
    Strategy,
    /// Moved for one frame, so that the trial of another setting fits.
    MakesRoom,
    /// Restored and left alone for a while, because a cheaper option saved nothing.
    DeadLever,
}

/// The reason for a choice.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reason {
    /// The cause.
    pub why: Why,
    /// The option before the last change; the present one if it never changed.
    pub from: u16,
    /// The present option.
    pub to: u16,
    /// The decision of the last change; 0 before the first.
    pub since: u64,
    /// The lane of `headroom`, by the host's number: the one on which the setting or its change costs most.
    pub lane: u8,
    /// Whether there is another governed lane.
    pub has_other_lanes: bool,
    /// Free capacity on the lane, in its unit; negative: the excess. For a change, it is that before the change.
    pub headroom: f64,
    /// Total value gained by the change, or lost per frame by waiting.
    pub gain: f64,
}

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

/// Free capacity of totals on every governed lane; negative: the excess.
pub fn headroom(weighed: &Weighed, economies: &[Economy]) -> [f64; LANES] {
    let mut free = [0.0; LANES];
    for (lane, economy) in economies.iter().enumerate() {
        let excess = weighed.excess[lane];
        // A burden that was rounded to slightly more than the limit fits.
        free[lane] = if excess > 0.0 { -excess } else { (economy.capacity - weighed.burden[lane]).max(0.0) };
    }
    free
}

impl Facts<'_> {
    /// The reason for a setting's settled choice.
    pub fn reason(&self, setting: &Setting, entry: &Entry) -> Reason {
        let (from, to, since) = (setting.settled_before, setting.settled, setting.changed);
        let why = self.why(setting, entry);
        let is_change = matches!(why, Why::Raised | Why::Lowered | Why::Strategy);
        if is_change && since != self.decision {
            // The cause of a change stays with the choice.
            return setting.reason;
        }
        let lane = self.lane(entry, why, from, to);
        let free = match why {
            Why::NothingFits => -self.settled.weighed.excess[lane],
            _ if is_change => self.settled.before[lane],
            _ => headroom(&self.settled.weighed, self.economies)[lane],
        };
        let gain = match why {
            Why::Held => self.settled.gain,
            _ if is_change => self.settled.gained,
            _ => 0.0,
        };
        let (has_other_lanes, lane) = (self.economies.len() > 1, self.lanes.lane(lane) as u8);
        Reason { why, from, to, since, lane, has_other_lanes, headroom: free, gain }
    }

    fn why(&self, setting: &Setting, entry: &Entry) -> Why {
        let (from, to) = (usize::from(setting.settled_before), usize::from(setting.settled));
        let bars = &self.formulation.bars[entry.start..entry.end];
        let value = |option: usize| self.strategies.value_of(setting, entry.position, option);
        let better = |bar: Bar| (0..bars.len()).any(|option| bars[option] == bar && value(option) > value(to));
        let barred = |bar: Bar| if bar == Bar::OutOfRange { Why::Limited } else { Why::NotReady };
        let has_changed = setting.changed == self.decision;
        if bars.len() > 1 && setting.range.0 == setting.range.1.min((bars.len() - 1) as u16) {
            Why::Pinned
        } else if !entry.known {
            Why::Unknown
        } else if setting.lever.resting(self.decision) == Some(setting.settled) {
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
        } else if self.settled.waits && setting.target != setting.settled {
            Why::Held
        } else if setting.reason.is_of_change(setting) {
            setting.reason.why
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
            Why::Raised | Why::Lowered | Why::Strategy => (false, share(mean(to, lane) - mean(from, lane), lane).abs()),
            _ => (false, share(mean(to, lane), lane)),
        };
        let is_less = |one: &(bool, f64), other: &(bool, f64)| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1));
        // Of equals the first lane.
        lanes.rev().max_by(|&one, &other| is_less(&matters(one), &matters(other))).unwrap_or(0)
    }
}

impl Reason {
    /// Whether it is that of the setting's last change.
    fn is_of_change(&self, setting: &Setting) -> bool {
        let is_change = matches!(self.why, Why::Raised | Why::Lowered | Why::Strategy);
        is_change && self.since == setting.changed && self.to == setting.settled
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { why, from, to, since, .. } = *self;
        let [headroom, over, gain] = [self.headroom, -self.headroom, self.gain].map(Number);
        let (on, lane) = match LANE_NAMES.get(usize::from(self.lane)) {
            Some(name) if self.has_other_lanes => (" on ", *name),
            _ => ("", ""),
        };
        match why {
            Why::Undecided => write!(f, "{to}: nothing was decided yet"),
            Why::Unknown => write!(f, "{to}: its burdens are unknown, so it has its default"),
            Why::Best => write!(f, "{to}: part of the best choice that fits; headroom {headroom:.2}{on}{lane}"),
            Why::Raised | Why::Lowered => {
                let verb = if why == Why::Raised { "raised" } else { "lowered" };
                write!(f, "{verb} from {from} to {to} in decision {since}")?;
                if self.headroom < 0.0 {
                    write!(f, ": the excess was {over:.2}{on}{lane}")
                } else if why == Why::Raised {
                    write!(f, ": the headroom was {headroom:.2}{on}{lane}")
                } else if self.gain > 0.0 {
                    write!(f, " for more value elsewhere")
                } else {
                    write!(f, ", with the options that were allowed then")
                }
            }
            Why::Held => {
                write!(f, "held at {to}: a better choice gains {gain:.3} a frame and has not paid for the change yet")
            }
            Why::Trial => write!(f, "{to} on trial, to measure its cost"),
            Why::Pinned => write!(f, "{to}: pinned"),
            Why::Limited => write!(f, "{to}: the allowed range excludes a better option"),
            Why::NotReady => write!(f, "{to}: a better option is not ready"),
            Why::NothingFits => {
                write!(f, "{to}: nothing fits; the excess is {over:.2}{on}{lane} with the lightest options")
            }
            Why::Trim => write!(f, "{to}: takes up the slack; headroom {headroom:.2}{on}{lane}"),
            Why::Disabled => write!(f, "disabled"),
            Why::Strategy => write!(f, "{to}: the strategy changed in decision {since}"),
            Why::DeadLever => write!(f, "restored to {to} in decision {since} and left alone: {from} saved nothing"),
            Why::MakesRoom => write!(f, "{to} for one frame, to make room for a trial"),
        }
    }
}
