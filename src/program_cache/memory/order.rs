//! The order of eviction.
//!
//! Every entry has a *rank*; the least is evicted first. A use raises the rank. Readers have no lock, so they cannot keep
//! a heap in order, and a heap holds the rank of each entry at the last look. If the top's rank is outdated, it goes back
//! with its present rank, until the top is up to date. So the order is exact, and costs one step for every entry that was
//! used since the last look.
//!
//! | policy | rank |
//! |---|---|
//! | least recently used | the stamp of the last use |
//! | cost-aware | the build time saved per byte, fading since the last use: see [`fading`](super::fading) |
//! | groups | a heap of groups with heaps of members: see [`groups`](super::groups) |

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::blob::{Blob, Entry, NO_SEAT};
use super::groups::{FEW, Groups, Rank};
use super::options::Policy;
use super::table::Table;
use crate::base::Result;
use crate::program_cache::key::Key;

/// One put of a key: a later put of the same key is another one.
type Put = (u64, Key);

/// Puts by rank. Ranks may have grown since.
#[derive(Default)]
struct Heap {
    nodes: BinaryHeap<Reverse<(Rank, Put)>>,
}

impl Heap {
    /// Remove the put of least present rank. Puts without a rank are dropped.
    fn pop(&mut self, rank_of: impl Fn(&Put) -> Option<Rank>) -> Option<Put> {
        // Other threads may use entries meanwhile: after this number of looks, accept any.
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

/// The order of eviction of one policy.
pub struct Order(Kind);

impl Order {
    /// An empty order.
    pub fn new(policy: Policy) -> Self {
        Self(match policy {
            Policy::LeastRecentlyUsed | Policy::CostAware => Kind::Entries(Heap::default()),
            Policy::Groups => Kind::Groups(Groups::default()),
        })
    }

    /// Reserve memory, so that the next [`insert`](Self::insert) into the group cannot fail. Returns the entry's seat.
    pub fn reserve_one(&mut self, group: u32, table: &Table, rank_of: impl Fn(&Entry) -> Rank) -> Result<u32> {
        match &mut self.0 {
            Kind::Entries(heap) => Ok(heap.nodes.try_reserve(1).map(|()| NO_SEAT)?),
            Kind::Groups(groups) => groups.reserve_one(group, table, rank_of),
        }
    }

    /// Add an entry.
    pub fn insert(&mut self, entry: &Entry, rank: Rank) {
        match &mut self.0 {
            Kind::Entries(heap) => heap.push(entry.blob(), rank),
            Kind::Groups(groups) => groups.insert(entry, rank),
        }
    }

    /// Remove an entry. A heap drops its node when that comes up.
    pub fn remove(&mut self, entry: &Entry) {
        if let Kind::Groups(groups) = &mut self.0 {
            groups.remove(entry);
        }
    }

    /// Reserve memory, so that the next [`rank`](Self::rank) cannot fail.
    pub fn reserve_rank(&mut self) -> Result<()> {
        match &mut self.0 {
            Kind::Entries(heap) => Ok(heap.nodes.try_reserve(1)?),
            Kind::Groups(_) => Ok(()),
        }
    }

    /// Set the rank of an entry, which may be lower than before.
    pub fn rank(&mut self, entry: &Entry, rank: Rank) {
        match &mut self.0 {
            Kind::Entries(heap) => heap.push(entry.blob(), rank),
            Kind::Groups(groups) => groups.rank(entry.seat(), entry.group(), rank),
        }
    }

    /// The entry to evict next, except that of the key `beside`.
    pub fn victim(&mut self, table: &Table, beside: Option<&Key>, rank_of: impl Fn(&Entry) -> Rank) -> Option<Key> {
        match &mut self.0 {
            Kind::Entries(heap) => {
                let present = |(serial, key): &Put| {
                    let rank = |entry: &Entry| (entry.blob().serial() == *serial).then(|| rank_of(entry));
                    if beside == Some(key) { None } else { table.peek(key, rank).flatten() }
                };
                heap.pop(present).map(|(_, key)| key)
            }
            Kind::Groups(groups) => groups.victim(table, rank_of),
        }
    }

    /// Remove all entries.
    pub fn clear(&mut self) {
        match &mut self.0 {
            Kind::Entries(heap) => *heap = Heap::default(),
            Kind::Groups(groups) => *groups = Groups::default(),
        }
    }

    /// Drop outdated nodes, once they are the majority.
    pub fn tidy(&mut self, entries: usize, table: &Table, rank_of: impl Fn(&Entry) -> Rank) {
        match &mut self.0 {
            Kind::Entries(heap) if heap.nodes.len() > 2 * entries + FEW => {
                heap.nodes.clear();
                table.for_each(|entry| heap.push(entry.blob(), rank_of(entry)));
            }
            Kind::Entries(_) => {}
            Kind::Groups(groups) => groups.tidy(),
        }
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        match &self.0 {
            Kind::Entries(heap) => heap.nodes.capacity() * size_of::<(Rank, Put)>(),
            Kind::Groups(groups) => groups.memory_used(),
        }
    }

    /// The number of nodes of all heaps, and of seats.
    #[cfg(test)]
    pub fn sizes(&self) -> (usize, usize) {
        match &self.0 {
            Kind::Entries(heap) => (heap.nodes.len(), 0),
            Kind::Groups(groups) => groups.sizes(),
        }
    }

    /// Check the ranks of groups.
    #[cfg(test)]
    pub fn check(&self) {
        if let Kind::Groups(groups) = &self.0 {
            groups.check();
        }
    }
}
