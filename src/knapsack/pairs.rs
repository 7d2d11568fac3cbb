//! Improves an answer by two changes at once.
//!
//! The relaxation's picks, rounded by one change, have a gap of about one option's worth. Among all pairs of changes
//! there is nearly always one that fills the room almost exactly. All pairs of the changes nearest to the price are
//! tried. That takes fewer instructions than there are pairs, and no branch depends on the numbers.

use super::core::Change;
use super::incumbent::{Case, Incumbent};
use super::input::Totals;
use super::kernel::{WIDTH, best_pair};
use super::secant::Linear;

/// The number of changes tried: those nearest to the price.
pub(super) const MOST_CHANGES: usize = 128;

/// The changes in the layout of [`best_pair`].
#[derive(Debug)]
pub(super) struct Pairs {
    weights: [[f64; WIDTH]; MOST_CHANGES / WIDTH],
    values: [[f64; WIDTH]; MOST_CHANGES / WIDTH],
    starts: [u32; MOST_CHANGES],
}

impl Default for Pairs {
    fn default() -> Self {
        let numbers = [[0.0; WIDTH]; MOST_CHANGES / WIDTH];
        Self { weights: numbers, values: numbers, starts: [0; MOST_CHANGES] }
    }
}

impl Pairs {
    /// Offer the best answer that differs by two of the changes from the picks and keeps to the constraint. `start` is
    /// the sums of the picks. At most [`MOST_CHANGES`] changes, class by class.
    pub fn improve(
        &mut self,
        case: &Case,
        linear: &Linear,
        changes: &[Change],
        picks: &mut [u32],
        start: Totals,
        incumbent: &mut Incumbent,
    ) {
        self.fill(linear, changes);
        let Self { weights, values, starts } = self;
        let (slack, least) = (linear.room - linear.weight(start), incumbent.value - start.value);
        let Some(pair) = best_pair(weights, values, &starts[..changes.len()], slack, least) else {
            return;
        };
        let (one, other) = (changes[pair.0 as usize], changes[pair.1 as usize]);
        let totals = start.plus(one.by).plus(other.by);
        if case.fits(totals) {
            let before = [one, other].map(|change| picks[change.class as usize]);
            [one, other].iter().for_each(|change| picks[change.class as usize] = change.position);
            incumbent.offer(case, totals, picks);
            picks[one.class as usize] = before[0];
            picks[other.class as usize] = before[1];
        }
    }

    fn fill(&mut self, linear: &Linear, changes: &[Change]) {
        let places =
            self.weights.as_flattened_mut().iter_mut().zip(self.values.as_flattened_mut()).zip(&mut self.starts);
        let (mut class, mut class_start) = (u32::MAX, 0);
        for ((index, change), ((weight, value), start)) in changes.iter().enumerate().zip(places) {
            (*weight, *value) = (linear.weight(change.by), change.by.value);
            // A change of class is unpredictable, so there should be no branch on it.
            class_start = if change.class == class { class_start } else { index as u32 };
            class = change.class;
            *start = class_start;
        }
    }
}
