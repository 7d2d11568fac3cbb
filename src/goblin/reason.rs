//! The reason for a choice, as data and as a sentence.

use std::fmt;

use crate::base::Number;

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
    /// Free capacity on the first governed lane, in its unit; negative: the excess.
    pub headroom: f64,
    /// Value gained by the change, or lost per frame by waiting.
    pub gain: f64,
}

impl Reason {
    /// The reason after another decision. The cause of a change stays with the choice.
    #[must_use]
    pub fn next(self, why: Why, to: u16, decision: u64, headroom: f64, gain: f64) -> Self {
        let is_first = self.why == Why::Undecided;
        if is_first || self.to == to {
            let keeps = why == self.why && matches!(why, Why::Raised | Why::Lowered | Why::Strategy);
            let headroom = if keeps { self.headroom } else { headroom };
            let from = if is_first { to } else { self.from };
            return Self { why, from, to, headroom, gain, since: self.since };
        }
        Self { why, from: self.to, to, since: decision, headroom, gain }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { why, from, to, since, .. } = *self;
        let [headroom, over, gain] = [self.headroom, -self.headroom, self.gain].map(Number);
        match why {
            Why::Undecided => write!(f, "{to}: nothing was decided yet"),
            Why::Unknown => write!(f, "{to}: its burdens are unknown, so it has its default"),
            Why::Best => write!(f, "{to}: part of the best choice that fits; headroom {headroom:.2}"),
            Why::Raised => write!(f, "raised from {from} to {to} in decision {since}: the headroom was {headroom:.2}"),
            Why::Lowered if self.headroom < 0.0 => {
                write!(f, "lowered from {from} to {to} in decision {since}: the excess was {over:.2}")
            }
            Why::Lowered => write!(f, "lowered from {from} to {to} in decision {since} for more value elsewhere"),
            Why::Held => {
                write!(f, "held at {to}: a better choice gains {gain:.3} a frame and has not paid for the change yet")
            }
            Why::Trial => write!(f, "{to} on trial, to measure its cost"),
            Why::Pinned => write!(f, "{to}: pinned"),
            Why::Limited => write!(f, "{to}: the allowed range excludes a better option"),
            Why::NotReady => write!(f, "{to}: a better option is not ready"),
            Why::NothingFits => write!(f, "{to}: nothing fits; the excess is {over:.2} with the lightest options"),
            Why::Trim => write!(f, "{to}: takes up the slack; headroom {headroom:.2}"),
            Why::Disabled => write!(f, "disabled"),
            Why::Strategy => write!(f, "{to}: the strategy changed in decision {since}"),
        }
    }
}
