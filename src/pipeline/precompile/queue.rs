//! The order of the waiting pipelines.

use std::cmp::Ordering;
use std::collections::VecDeque;

use super::items::Items;
use super::pace::Lane;
use crate::base::{Result, sort_numbers};

/// The order in which pipelines are compiled, unless they are requested. Existing numbers never change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Order {
    /// By expected first use, corrected by the pipelines that the game uses now. The default.
    #[default]
    Predicted = 0,
    /// As they were added.
    File = 1,
    /// By the frame of their first use, the earliest first.
    FirstToLatestUsed = 2,
    /// By their number of uses, the largest first.
    MostToLeastUsed = 3,
    /// Grouped by usage mask, the least mask first.
    UsageMask = 4,
}

impl Order {
    /// The order with that number.
    pub fn from_number(number: u32) -> Option<Self> {
        let all = [Self::Predicted, Self::File, Self::FirstToLatestUsed, Self::MostToLeastUsed, Self::UsageMask];
        all.get(number as usize).copied()
    }
}

/// Requested items, and all items in their fixed order. A cursor per lane skips those that do not wait in the lane.
#[derive(Default)]
pub struct Queue {
    requested: VecDeque<u32>,
    items: Vec<u32>,
    cursors: [usize; 2],
    is_sorted: bool,
}

impl Queue {
    /// Make room for an item.
    pub fn reserve_one(&mut self) -> Result<()> {
        self.items.try_reserve(1)?;
        let room = self.items.len() + 1 - self.requested.len();
        Ok(self.requested.try_reserve(room)?)
    }

    /// Add the item with the next number, and return its place. Without an entry it may stay last. Call
    /// [`reserve_one`](Self::reserve_one) before.
    pub fn add(&mut self) -> u32 {
        let last = self.items.len() as u32;
        self.items.push(last);
        last
    }

    /// Look at all items again: their states, their data or the order have changed.
    pub fn restart(&mut self, is_sorted: bool) {
        self.cursors = [0; 2];
        self.is_sorted &= is_sorted;
    }

    /// An item waits again.
    pub fn return_item(&mut self, place: u32) {
        self.cursors = self.cursors.map(|cursor| cursor.min(place as usize));
    }

    /// Append a requested item, which is not in the list of requested items.
    pub fn request(&mut self, item: u32) {
        self.requested.push_back(item);
    }

    /// Remove the first requested item that still waits.
    pub fn next_requested(&mut self, waits: impl Fn(u32) -> bool) -> Option<u32> {
        while let Some(item) = self.requested.pop_front() {
            if waits(item) {
                return Some(item);
            }
        }
        None
    }

    /// Forget a requested item.
    pub fn withdraw(&mut self, item: u32) {
        self.requested.retain(|&other| other != item);
    }

    /// Bring the items into their order, if they are not.
    pub fn sort(&mut self, order: Order, items: &mut Items) {
        if !self.is_sorted {
            self.is_sorted = true;
            self.cursors = [0; 2];
            self.sort_by(order, items);
            self.items.iter().enumerate().for_each(|(place, &item)| items.at_mut(item).place = place as u32);
        }
    }

    /// All items in their order. Call [`sort`](Self::sort) before.
    pub fn items(&self) -> &[u32] {
        &self.items
    }

    fn sort_by(&mut self, order: Order, items: &Items) {
        let item = |number: u32| items.at(number);
        let compare: &mut dyn FnMut(u32, u32) -> Ordering = match order {
            Order::File => &mut |one, other| one.cmp(&other),
            Order::FirstToLatestUsed => {
                let frame = |at| item(at).first_frame.unwrap_or(u64::MAX);
                &mut move |one, other| frame(one).cmp(&frame(other)).then(one.cmp(&other))
            }
            Order::MostToLeastUsed => {
                &mut |one, other| item(other).times_used.cmp(&item(one).times_used).then(one.cmp(&other))
            }
            Order::UsageMask => {
                let masks = |at| items.masks_of(at).iter().map(|&mask| items.selection.mask(mask));
                &mut move |one, other| masks(one).cmp(masks(other)).then(one.cmp(&other))
            }
            Order::Predicted => {
                let prior = |at| item(at).prior;
                &mut move |one, other| prior(other).total_cmp(&prior(one)).then(one.cmp(&other))
            }
        };
        sort_numbers(&mut self.items, compare);
    }

    /// The first item that waits in a lane. Call [`sort`](Self::sort) before.
    pub fn next(&mut self, lane: Lane, waits: impl Fn(u32) -> bool) -> Option<u32> {
        let cursor = &mut self.cursors[lane as usize];
        while let Some(&item) = self.items.get(*cursor) {
            if waits(item) {
                return Some(item);
            }
            *cursor += 1;
        }
        None
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        (self.requested.capacity() + self.items.capacity()) * size_of::<u32>()
    }
}
