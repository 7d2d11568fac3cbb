//! What was chosen in the last frames, so that a sample that arrives late is booked on the choice of *its* frame.

use crate::base::Result;

/// What a setting was given in one decision.
#[derive(Clone, Copy, Debug)]
pub struct Given {
    /// The option; `NO_CHOICE` for a setting without options.
    pub choice: u16,
    /// The setting's work in that frame.
    pub work: f64,
}

/// A ring of decisions, each with one entry a slot.
#[derive(Debug, Default)]
pub struct History {
    given: Vec<Given>,
    depth: usize,
    slots: usize,
    latest: u64,
}

impl History {
    const NOTHING: Given = Given { choice: crate::knapsack::NO_CHOICE, work: 1.0 };

    /// Room for `depth` decisions of `slots` settings; keeps the decisions that still fit. On an error nothing changed.
    pub fn resize(&mut self, depth: usize, slots: usize) -> Result<()> {
        if depth == self.depth && slots <= self.slots {
            return Ok(());
        }
        let slots = if slots <= self.slots { self.slots } else { slots.next_power_of_two() };
        let cells = depth.saturating_mul(slots);
        let mut fresh =
            Self { given: crate::base::try_filled(Self::NOTHING, cells)?, depth, slots, latest: self.latest };
        let kept = (depth.min(self.depth) as u64).min(self.latest);
        for decision in self.latest - kept + 1..=self.latest {
            for slot in 0..self.slots {
                let (to, from) = (fresh.cell(decision, slot), self.cell(decision, slot));
                fresh.given[to] = self.given[from];
            }
        }
        *self = fresh;
        Ok(())
    }

    /// Begin the next decision with nothing given; its id.
    pub fn begin(&mut self) -> u64 {
        self.latest += 1;
        let row = self.cell(self.latest, 0);
        self.given[row..row + self.slots].fill(Self::NOTHING);
        self.latest
    }

    /// The latest decision's id; 0 before the first.
    pub fn latest(&self) -> u64 {
        self.latest
    }

    /// The oldest decision that is remembered.
    pub fn oldest(&self) -> u64 {
        self.latest.saturating_sub(self.depth as u64) + 1
    }

    /// Whether a decision is remembered.
    pub fn remembers(&self, decision: u64) -> bool {
        (self.oldest()..=self.latest).contains(&decision)
    }

    /// What the slot was given in a remembered decision.
    pub fn given(&self, decision: u64, slot: usize) -> Given {
        self.given[self.cell(decision, slot)]
    }

    /// Note what the slot is given, or was in fact given, in a remembered decision.
    pub fn give(&mut self, decision: u64, slot: usize, given: Given) {
        let cell = self.cell(decision, slot);
        self.given[cell] = given;
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        self.given.capacity() * size_of::<Given>()
    }

    fn cell(&self, decision: u64, slot: usize) -> usize {
        (decision % self.depth.max(1) as u64) as usize * self.slots + slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growing_keeps_what_was_given() {
        let mut history = History::default();
        history.resize(4, 1).unwrap();
        for choice in 1..=6 {
            let decision = history.begin();
            history.give(decision, 0, Given { choice, work: 2.0 });
        }
        history.resize(3, 9).unwrap();
        assert_eq!((history.oldest(), history.latest()), (4, 6));
        let choices: Vec<u16> = (4..=6).map(|decision| history.given(decision, 0).choice).collect();
        assert_eq!(choices, [4, 5, 6]);
        assert!(!history.remembers(3) && !history.remembers(7) && !history.remembers(0));
    }
}
