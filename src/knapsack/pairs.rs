//! A better answer by two changes at once.
//!
//! The relaxation's picks, rounded by one change, leave a gap of about one option's worth; among all pairs of changes
//! there is nearly always one that fills the room almost exactly. It is found without trying all pairs: with changes in
//! order of weight, the best partner of a change is the most valuable among the lighter ones up to what room it leaves,
//! and while changes get lighter, more partners become possible.

use super::core::Change;
use super::incumbent::{Case, Incumbent};
use super::input::Totals;
use super::secant::Linear;
use super::{bytes, reserve_total};
use crate::base::Result;
use crate::base::sort::sort;

/// Changes looked at: those nearest to the price.
pub(super) const MOST_CHANGES: usize = 512;

#[derive(Debug, Default)]
pub(super) struct Pairs {
    order: Vec<Item>,
}

#[derive(Clone, Copy, Debug)]
struct Item {
    weight: f64,
    value: f64,
    class: u32,
    index: u32,
}

/// The most valuable so far, and the most valuable of another class.
#[derive(Default)]
struct Best {
    first: Option<Item>,
    second: Option<Item>,
}

impl Best {
    fn add(&mut self, item: Item) {
        let Some(first) = self.first else {
            self.first = Some(item);
            return;
        };
        if item.value > first.value {
            if item.class != first.class {
                self.second = self.first;
            }
            self.first = Some(item);
        } else if item.class != first.class && self.second.is_none_or(|second| item.value > second.value) {
            self.second = Some(item);
        }
    }

    fn partner(&self, class: u32) -> Option<Item> {
        self.first.filter(|first| first.class != class).or(self.second)
    }
}

impl Pairs {
    pub fn reserve(&mut self, options: usize) -> Result<()> {
        reserve_total(&mut self.order, options.min(MOST_CHANGES))
    }

    pub fn memory_used(&self) -> usize {
        bytes(&self.order)
    }

    /// Offer the best answer that differs by two of the changes from the picks, whose sums are `start`, and keeps to the
    /// constraint. At most [`MOST_CHANGES`].
    pub fn improve(
        &mut self,
        case: &Case,
        linear: &Linear,
        changes: &[Change],
        picks: &mut [u32],
        start: Totals,
        incumbent: &mut Incumbent,
    ) {
        let weighed = changes.iter().enumerate().map(|(index, &Change { by, class, .. })| Item {
            weight: linear.weight(by),
            value: by.value,
            class,
            index: index as u32,
        });
        self.order.clear();
        self.order.extend(weighed);
        sort(&mut self.order, |a, b| (a.weight < b.weight) | ((a.weight == b.weight) & (a.index < b.index)));
        if let Some((one, other)) = self.best_pair(linear.room - linear.weight(start), incumbent.value - start.value) {
            let (one, other) = (changes[one as usize], changes[other as usize]);
            let totals = start.plus(one.by).plus(other.by);
            if case.fits(totals) {
                let before = [one, other].map(|change| picks[change.class as usize]);
                [one, other].iter().for_each(|change| picks[change.class as usize] = change.position);
                incumbent.offer(case, totals, picks);
                picks[one.class as usize] = before[0];
                picks[other.class as usize] = before[1];
            }
        }
    }

    /// The most valuable pair no heavier than the slack and worth more than `least`.
    fn best_pair(&self, slack: f64, least: f64) -> Option<(u32, u32)> {
        let mut best = Best::default();
        let mut most = least;
        let mut pair = None;
        let mut lighter = self.order.iter().peekable();
        for heavy in self.order.iter().rev() {
            while let Some(&light) = lighter.next_if(|light| light.weight + heavy.weight <= slack) {
                best.add(light);
            }
            if let Some(partner) = best.partner(heavy.class).filter(|partner| partner.value + heavy.value > most) {
                most = partner.value + heavy.value;
                pair = Some((heavy.index, partner.index));
            }
        }
        pair
    }
}
