//! What was chosen in the last frames, so that a sample that arrives late is booked on the choice of *its* frame.

use crate::base::Result;
use crate::knapsack::NO_CHOICE;

/// What a setting was given in one decision.
#[derive(Clone, Copy, Debug)]
pub struct Given {
    /// The option; `NO_CHOICE` for a setting without options.
    pub choice: u16,
    /// Whether the decision's total is not known without this setting's sample.
    pub awaited: bool,
    /// What it was expected to cost.
    pub expected: f32,
    /// What it cost; negative while that is not known.
    pub measured: f32,
    /// The setting's work in that frame.
    pub work: f64,
}

impl Given {
    /// Given to nobody.
    pub const NOTHING: Self = Self { choice: NO_CHOICE, awaited: false, expected: 0.0, measured: -1.0, work: 1.0 };
}

/// What a decision was expected to cost, and what of it has come in.
#[derive(Clone, Copy, Debug, Default)]
pub struct Forecast {
    pub mean: f64,
    /// All of it.
    pub variance: f64,
    /// What of it the single burdens have.
    pub own_variance: f64,
    /// Samples that are missing.
    pub awaited: u32,
    /// Sum of those that came.
    pub measured: f64,
    /// The common factor that is in the forecast.
    pub common: f64,
    /// Whether the forecast is one that the total can be held against: no guesses in it, no flagged samples.
    pub fair: bool,
}

/// A ring of decisions, each with one entry a slot.
#[derive(Debug, Default)]
pub struct History {
    given: Vec<Given>,
    forecasts: Vec<Forecast>,
    depth: usize,
    slots: usize,
    latest: u64,
}

impl History {
    /// Room for `depth` decisions of `slots` settings; keeps the decisions that still fit. On an error nothing changed.
    pub fn resize(&mut self, depth: usize, slots: usize) -> Result<()> {
        if depth == self.depth && slots <= self.slots {
            return Ok(());
        }
        let slots = if slots <= self.slots { self.slots } else { slots.next_power_of_two() };
        let cells = depth.saturating_mul(slots);
        let given = crate::base::try_filled(Given::NOTHING, cells)?;
        let forecasts = crate::base::try_filled(Forecast::default(), depth)?;
        let mut fresh = Self { given, forecasts, depth, slots, latest: self.latest };
        let kept = (depth.min(self.depth) as u64).min(self.latest);
        for decision in self.latest - kept + 1..=self.latest {
            *fresh.forecast(decision) = self.forecasts[self.row(decision)];
            for slot in 0..self.slots {
                let (to, from) = (fresh.cell(decision, slot), self.cell(decision, slot));
                fresh.given[to] = self.given[from];
            }
        }
        *self = fresh;
        Ok(())
    }

    /// What resizing would take beyond what is held.
    pub fn memory_wanted(&self, depth: usize, slots: usize) -> usize {
        if depth == self.depth && slots <= self.slots {
            return 0;
        }
        let slots = if slots <= self.slots { self.slots } else { slots.next_power_of_two() };
        let cells = depth.saturating_mul(slots).saturating_sub(self.given.capacity());
        cells.saturating_mul(size_of::<Given>()) + depth * size_of::<Forecast>()
    }

    /// Begin the next decision with nothing given; its id.
    pub fn begin(&mut self) -> u64 {
        self.latest += 1;
        let row = self.cell(self.latest, 0);
        self.given[row..row + self.slots].fill(Given::NOTHING);
        *self.forecast(self.latest) = Forecast::default();
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

    /// What all slots were given in a remembered decision.
    pub fn all_given(&self, decision: u64) -> &[Given] {
        let row = self.cell(decision, 0);
        &self.given[row..row + self.slots]
    }

    /// What a remembered decision was expected to cost.
    pub fn forecast(&mut self, decision: u64) -> &mut Forecast {
        let row = self.row(decision);
        &mut self.forecasts[row]
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        self.given.capacity() * size_of::<Given>() + self.forecasts.capacity() * size_of::<Forecast>()
    }

    fn row(&self, decision: u64) -> usize {
        (decision % self.depth.max(1) as u64) as usize
    }

    fn cell(&self, decision: u64, slot: usize) -> usize {
        self.row(decision) * self.slots + slot
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
            history.give(decision, 0, Given { choice, work: 2.0, ..Given::NOTHING });
        }
        history.resize(3, 9).unwrap();
        assert_eq!((history.oldest(), history.latest()), (4, 6));
        let choices: Vec<u16> = (4..=6).map(|decision| history.given(decision, 0).choice).collect();
        assert_eq!(choices, [4, 5, 6]);
        assert!(!history.remembers(3) && !history.remembers(7) && !history.remembers(0));
    }
}
