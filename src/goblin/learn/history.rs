//! Choices of the last frames, so that a late sample is attributed to the choice of *its* frame.

use crate::base::Result;
use crate::knapsack::NO_CHOICE;

use crate::goblin::tuning::{FOLLOWERS, TUNING};

/// The common factor by each follower when a forecast was made.
pub type Factors = [f32; FOLLOWERS];

/// The choice of a setting in one decision.
#[derive(Clone, Copy, Debug)]
pub struct Given {
    /// The option; `NO_CHOICE` for a setting that did not take part.
    pub choice: u16,
    /// The work of that option in that frame. Burdens are per unit of work.
    pub work: f64,
}

impl Given {
    /// No choice.
    pub const NOTHING: Self = Self { choice: NO_CHOICE, work: 1.0 };
}

/// Expected and measured cost of a setting on one lane in one decision.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Expected cost, with clamped hitches; 0 if it is not in the forecast.
    pub expected: f32,
    /// Measured cost; negative while unknown.
    pub measured: f32,
    /// Whether the expectation rests on enough samples to judge it.
    pub known: bool,
}

impl Part {
    /// Neither expected nor measured.
    pub const NOTHING: Self = Self { expected: 0.0, measured: -1.0, known: false };

    /// Whether the decision's total is incomplete without this sample.
    pub fn is_awaited(&self) -> bool {
        self.expected > 0.0 && self.measured < 0.0
    }
}

/// The forecast of a decision on one lane, and its measurements so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Forecast {
    pub mean: f64,
    /// Variance of the total.
    pub variance: f64,
    /// The part of the variance from single burdens.
    pub own_variance: f64,
    /// Number of samples that the total consists of.
    pub samples: u32,
    /// Number of missing samples.
    pub awaited: u32,
    /// Sum of the samples so far.
    pub measured: f64,
    /// The measured total; `None` while unknown.
    pub total: Option<f64>,
    /// The part of the forecast that no setting reports.
    pub residual: f64,
    /// The switch burdens of the decision's changes. They are not in the forecast.
    pub changes: f64,
    /// The slow common factor, which is part of the forecast.
    pub common: f64,
    /// The common factor with its fast component: samples are learned relative to it.
    pub fast: f64,
    /// The followers' common factors at the time of the forecast.
    pub factors: Factors,
    /// Present over past burdens as known then.
    pub ratio: f64,
    /// Whether the total can be compared with the forecast: it has no guesses and no flagged samples.
    pub fair: bool,
    /// Whether options were on trial.
    pub trials: bool,
    /// Whether the measurements are complete.
    pub settled: bool,
    /// The active strategy.
    pub strategy: u8,
    /// Whether no setting had changed for [`Hold::held_seconds`](crate::goblin::tuning::Hold::held_seconds).
    pub held: bool,
}

impl Forecast {
    /// The measured total, or the sum of the samples and the expected rest.
    pub fn measured_total(&self) -> f64 {
        self.total.unwrap_or(self.measured + self.residual)
    }

    /// The measured total without the cost of changes, which settings do not report. The forecast is judged by it.
    pub fn steady_total(&self) -> f64 {
        self.total.map_or(self.measured + self.residual, |total| (total - self.changes).max(0.0))
    }
}

/// A ring buffer of decisions, with an entry per slot, and per slot an entry per lane.
#[derive(Debug, Default)]
pub struct History {
    given: Vec<Given>,
    parts: Vec<Part>,
    forecasts: Vec<Forecast>,
    depth: usize,
    slots: usize,
    lanes: usize,
    latest: u64,
    /// Row of the latest decision.
    newest: usize,
}

impl History {
    /// Make room for `depth` decisions of `slots` settings on `lanes` lanes. Keeps the decisions that still fit, but
    /// none when the lanes change. On an error nothing changed.
    pub fn resize(&mut self, depth: usize, slots: usize, lanes: usize) -> Result<()> {
        if self.is_enough(depth, slots, lanes) {
            return Ok(());
        }
        let slots = self.slots_for(slots);
        let cells = depth.saturating_mul(slots);
        let given = crate::base::try_filled(Given::NOTHING, cells)?;
        let parts = crate::base::try_filled(Part::NOTHING, cells.saturating_mul(lanes))?;
        let forecasts = crate::base::try_filled(Forecast::default(), depth * lanes)?;
        let mut fresh = Self { given, parts, forecasts, depth, slots, lanes, latest: self.latest, newest: depth - 1 };
        let kept = if lanes == self.lanes { (depth.min(self.depth) as u64).min(self.latest) } else { 0 };
        for decision in self.latest - kept + 1..=self.latest {
            for lane in 0..lanes {
                *fresh.forecast(decision, lane) = self.forecasts[self.row(decision) * lanes + lane];
            }
            for slot in 0..self.slots {
                let (to, from) = (fresh.cell(decision, slot), self.cell(decision, slot));
                fresh.given[to] = self.given[from];
                fresh.parts[to * lanes..][..lanes].copy_from_slice(&self.parts[from * lanes..][..lanes]);
            }
        }
        *self = fresh;
        Ok(())
    }

    /// Additional bytes that resizing would take.
    pub fn memory_wanted(&self, depth: usize, slots: usize, lanes: usize) -> usize {
        if self.is_enough(depth, slots, lanes) {
            return 0;
        }
        let cells = depth.saturating_mul(self.slots_for(slots)).saturating_sub(self.given.capacity());
        cells.saturating_mul(size_of::<Given>() + lanes * size_of::<Part>()) + depth * lanes * size_of::<Forecast>()
    }

    /// Begin the next decision without any choice. Returns its id.
    pub fn begin(&mut self) -> u64 {
        self.latest += 1;
        self.newest = if self.newest + 1 < self.depth { self.newest + 1 } else { 0 };
        let (row, slots, lanes) = (self.newest, self.slots, self.lanes);
        self.given[row * slots..][..slots].fill(Given::NOTHING);
        self.parts[row * slots * lanes..][..slots * lanes].fill(Part::NOTHING);
        self.forecasts[row * lanes..][..lanes].fill(Forecast::default());
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

    /// The choice of the slot in a remembered decision.
    pub fn given(&self, decision: u64, slot: usize) -> Given {
        self.given[self.cell(decision, slot)]
    }

    /// Store the choice of the slot in a remembered decision: the decided or the applied one.
    pub fn give(&mut self, decision: u64, slot: usize, given: Given) {
        let cell = self.cell(decision, slot);
        self.given[cell] = given;
    }

    /// Expected and measured cost of the slot on a lane in a remembered decision.
    pub fn part(&mut self, decision: u64, slot: usize, lane: usize) -> &mut Part {
        let at = self.cell(decision, slot) * self.lanes + lane;
        &mut self.parts[at]
    }

    /// Expected and measured costs of all slots on a lane in a remembered decision.
    pub fn parts(&self, decision: u64, lane: usize) -> impl Iterator<Item = Part> + '_ {
        let row = self.cell(decision, 0) * self.lanes;
        self.parts[row..row + self.slots * self.lanes].chunks_exact(self.lanes).map(move |parts| parts[lane])
    }

    /// The forecast of a remembered decision on a lane.
    pub fn forecast(&mut self, decision: u64, lane: usize) -> &mut Forecast {
        let at = self.row(decision) * self.lanes + lane;
        &mut self.forecasts[at]
    }

    /// The largest switch burden of a decision's changes, or of those before it, whose changes may still take time.
    pub fn changes_around(&mut self, decision: u64) -> f64 {
        let first = (decision + 1).saturating_sub(TUNING.forecast.change_frames).max(self.oldest());
        (first..=decision).map(|decision| self.forecast(decision, 0).changes).fold(0.0, f64::max)
    }

    /// Exclude the decision's total from comparison with its forecast, on all lanes.
    pub fn spoil(&mut self, decision: u64) {
        (0..self.lanes).for_each(|lane| self.forecast(decision, lane).fair = false);
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        self.given.capacity() * size_of::<Given>()
            + self.parts.capacity() * size_of::<Part>()
            + self.forecasts.capacity() * size_of::<Forecast>()
    }

    fn is_enough(&self, depth: usize, slots: usize, lanes: usize) -> bool {
        depth == self.depth && slots <= self.slots && lanes == self.lanes
    }

    fn slots_for(&self, slots: usize) -> usize {
        if slots <= self.slots { self.slots } else { slots.next_power_of_two() }
    }

    /// By age, which needs no division.
    fn row(&self, decision: u64) -> usize {
        let age = (self.latest - decision) as usize;
        if age <= self.newest { self.newest - age } else { self.newest + self.depth - age }
    }

    fn cell(&self, decision: u64, slot: usize) -> usize {
        self.row(decision) * self.slots + slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resizing_keeps_choices_and_costs() {
        let mut history = History::default();
        history.resize(4, 1, 2).unwrap();
        for choice in 1..=6 {
            let decision = history.begin();
            history.give(decision, 0, Given { choice, work: 2.0 });
            history.part(decision, 0, 1).expected = f32::from(choice);
        }
        history.resize(3, 9, 2).unwrap();
        assert_eq!((history.oldest(), history.latest()), (4, 6));
        let choices: Vec<u16> = (4..=6).map(|decision| history.given(decision, 0).choice).collect();
        assert_eq!(choices, [4, 5, 6]);
        let expected: Vec<f32> = (4..=6).map(|decision| history.part(decision, 0, 1).expected).collect();
        assert_eq!(expected, [4.0, 5.0, 6.0]);
        assert_eq!(history.parts(6, 1).map(|part| part.expected).sum::<f32>(), 6.0);
        assert!(!history.remembers(3) && !history.remembers(7) && !history.remembers(0));
    }
}
