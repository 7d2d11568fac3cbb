//! The reason for a choice, as data and as a sentence.

use std::fmt;

use crate::base::Number;
use crate::goblin::config::LANE_NAMES;

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
    /// Moved while another setting is on trial, so that the trial fits.
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
                if self.headroom < 0.0 && why == Why::Raised {
                    write!(f, ", as others were lowered: the excess was {over:.2}{on}{lane}")
                } else if self.headroom < 0.0 {
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
            Why::MakesRoom => write!(f, "{to} for a moment, to make room for a trial"),
        }
    }
}
