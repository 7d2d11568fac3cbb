//! The choice of a setting, and its history.

use super::lever::{Latest, Lever};
use super::reason::Reason;
use crate::knapsack::NO_CHOICE;

/// The choice of a setting, its last changes and its reason.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The published choice.
    pub choice: u16,
    /// The settled choice: the last one that was not a trial.
    pub settled: u16,
    /// The settled choice before its last change, and the decision of that change.
    pub settled_before: u16,
    pub changed: u64,
    /// The same of the change before that.
    earlier: (u16, u64),
    /// Whether the published choice is a trial.
    pub is_tried: bool,
    /// The published choice before `choice`, and the decision of that change.
    pub left: u16,
    pub left_at: u64,
    /// The option in the target, the better choice whose gain is being summed.
    pub target: u16,
    /// The effect of the last change.
    pub lever: Lever,
    /// The latest sample.
    pub latest: Latest,
    /// The reason for the choice.
    pub reason: Reason,
}

impl Default for Kept {
    fn default() -> Self {
        Self::new(NO_CHOICE)
    }
}

impl Kept {
    /// Settle another choice. One that was settled before in the same decision counts as never left.
    pub fn settle(&mut self, choice: u16, now: u64) {
        if self.changed != now {
            self.earlier = (self.settled_before, self.changed);
            (self.settled_before, self.changed) = (self.settled, now);
        } else if choice == self.settled_before {
            (self.settled_before, self.changed) = self.earlier;
        }
        self.settled = choice;
    }

    /// The state of a setting with its first choice.
    pub fn new(choice: u16) -> Self {
        Self {
            choice,
            settled: choice,
            settled_before: choice,
            changed: 0,
            earlier: (choice, 0),
            is_tried: false,
            left: NO_CHOICE,
            left_at: 0,
            target: choice,
            lever: Lever::default(),
            latest: Latest::default(),
            reason: Reason::default(),
        }
    }
}
