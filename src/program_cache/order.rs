//! Who goes first when room is needed.
//!
//! Every entry has a *rank*, and the one of least rank goes. Ranks grow whenever an entry is used, and readers, who have
//! no lock, cannot keep a list in order; so the heap holds the rank that an entry had when it was last looked at. What is
//! on top with a rank that is out of date goes back in with the present one, until the top is true: exact, at the price
//! of one step of the heap for every entry used since it was last looked at.
//!
//! - *Least recently used*: the rank is the stamp of the last use.
//! - *Cost-aware*: the build time that was saved for each byte, fading since the last use: see [`fading`](super::fading).
//! - *Groups*: it wants the most recently used of some, whom no heap finds that is out of date: see
//!   [`groups`](super::groups).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::Key;
use super::blob::{self, Blob};
use super::groups::Groups;
use super::notes::{Notes, Seat};
use crate::base::Result;

/// Whether it is kept to the last, and within that what the policy says. Least goes first.
pub(super) type Rank = (bool, u64);

/// The greatest number in which what is out of date does no harm.
pub(super) const FEW: usize = 64;

/// An entry as it was put: another put of the same key is another entry.
type Entry = (u64, Key);

/// Entries by rank, where ranks may have grown since.
struct Heap {
    nodes: BinaryHeap<Reverse<(Rank, Entry)>>,
}

impl Heap {
    /// Take the one of least present rank out; those that have none are dropped on the way.
    fn pop(&mut self, rank_of: impl Fn(&Entry) -> Option<Rank>) -> Option<Entry> {
        // Other threads may be using entries all the while: whoever is on top after so many looks will do.
        let mut looks = 2 * self.nodes.len();
        loop {
            let Reverse((noted, candidate)) = self.nodes.pop()?;
            looks = looks.saturating_sub(1);
            match rank_of(&candidate) {
                Some(rank) if rank != noted && looks > 0 => self.nodes.push(Reverse((rank, candidate))),
                Some(_) => return Some(candidate),
                None => {}
            }
        }
    }

    fn push(&mut self, blob: &Blob, rank: Rank) {
        self.nodes.push(Reverse((rank, (blob.serial(), *blob.key()))));
    }
}

enum Kind {
    Entries(Heap),
    Groups(Groups),
}

pub(super) struct Order(Kind);

impl Order {
    pub fn of_entries() -> Self {
        Self(Kind::Entries(Heap { nodes: BinaryHeap::new() }))
    }

    pub fn of_groups() -> Self {
        Self(Kind::Groups(Groups::default()))
    }

    /// Make room, so that the next [`insert`](Self::insert) into that group cannot fail; the seat that the entry is to
    /// have, if this policy wants to be told who is used.
    pub fn reserve_one(&mut self, group: u32) -> Result<Option<Arc<Seat>>> {
        match &mut self.0 {
            Kind::Entries(heap) => Ok(heap.nodes.try_reserve(1).map(|()| None)?),
            Kind::Groups(groups) => groups.reserve_one(group).map(Some),
        }
    }

    /// An entry is there now.
    pub fn insert(&mut self, entry: &blob::Entry, rank: Rank) {
        match (&mut self.0, entry.seat()) {
            (Kind::Entries(heap), _) => heap.push(entry.blob(), rank),
            (Kind::Groups(groups), Some(seat)) => groups.insert(seat, entry.blob(), rank),
            (Kind::Groups(_), None) => {}
        }
    }

    /// An entry is no longer there. What the heap says of it is found to be out of date when it comes up.
    pub fn removed(&mut self, entry: &blob::Entry) {
        if let (Kind::Groups(groups), Some(seat)) = (&mut self.0, entry.seat()) {
            groups.removed(seat, entry.stamp());
        }
    }

    /// Make room, so that the next [`look_again`](Self::look_again) cannot fail.
    pub fn reserve_look(&mut self) -> Result<()> {
        match &mut self.0 {
            Kind::Entries(heap) => Ok(heap.nodes.try_reserve(1)?),
            Kind::Groups(_) => Ok(()),
        }
    }

    /// The rank of an entry is this now, and may have become less.
    pub fn look_again(&mut self, entry: &blob::Entry, rank: Rank) {
        match (&mut self.0, entry.seat()) {
            (Kind::Entries(heap), _) => heap.push(entry.blob(), rank),
            (Kind::Groups(groups), Some(seat)) => groups.rank(seat.number, rank),
            (Kind::Groups(_), None) => {}
        }
    }

    /// Who goes next. `rank_of` gives serial and present rank of what is there.
    pub fn victim(&mut self, notes: &Notes, rank_of: impl Fn(&Key) -> Option<(u64, Rank)>) -> Option<Key> {
        match &mut self.0 {
            Kind::Entries(heap) => {
                let current = |(serial, key): &Entry| rank_of(key).filter(|now| now.0 == *serial).map(|now| now.1);
                heap.pop(current).map(|(_, key)| key)
            }
            Kind::Groups(groups) => groups.victim(notes, |key| rank_of(key).map(|now| now.1)),
        }
    }

    /// Forget all. No entry may be in the table any more.
    pub fn clear(&mut self, notes: &Notes) {
        notes.clear();
        match &mut self.0 {
            Kind::Entries(heap) => heap.nodes = BinaryHeap::new(),
            Kind::Groups(groups) => *groups = Groups::default(),
        }
    }

    /// Drop what is out of date, once that is the greater part. `each` shows every entry and its rank.
    pub fn tidy(&mut self, entries: usize, each: impl FnOnce(&mut dyn FnMut(&Blob, Rank))) {
        match &mut self.0 {
            Kind::Entries(heap) if heap.nodes.len() > 2 * entries + FEW => {
                heap.nodes.clear();
                each(&mut |blob, rank| heap.push(blob, rank));
            }
            Kind::Entries(_) => {}
            Kind::Groups(groups) => groups.tidy(),
        }
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        match &self.0 {
            Kind::Entries(heap) => heap.nodes.capacity() * size_of::<(Rank, Entry)>(),
            Kind::Groups(groups) => groups.memory_used(),
        }
    }

    /// Nodes of all heaps, and seats.
    #[cfg(test)]
    pub fn sizes(&self) -> (usize, usize) {
        match &self.0 {
            Kind::Entries(heap) => (heap.nodes.len(), 0),
            Kind::Groups(groups) => groups.sizes(),
        }
    }

    /// Whether what is noted fits together.
    #[cfg(test)]
    pub fn check(&self) {
        if let Kind::Groups(groups) = &self.0 {
            groups.check();
        }
    }
}
