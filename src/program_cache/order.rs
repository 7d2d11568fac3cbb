//! Who goes first when room is needed.
//!
//! Every entry has a *rank*, and the one of least rank goes. Ranks grow whenever an entry is used, and readers, who have
//! no lock, cannot keep a list in order; so the heap holds the rank that an entry had when it was last looked at. What is
//! on top with a rank that is out of date goes back in with the present one, until the top is true: exact, at the price
//! of one step of the heap for every entry used since it was last looked at.
//!
//! - *Least recently used*: the rank is the stamp of the last use.
//! - *Cost-aware*: the build time that was saved for each byte, fading since the last use: see [`fading`](super::fading).
//! - *Groups*: the rank of a group is the last use of any of its members; of the least recently used group the most
//!   recently used member goes, since a page that is shown again asks for its programs in the order it did before.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::Key;
use super::blob::{self, Blob};
use crate::base::Result;

/// Whether it is kept to the last, and within that what the policy says. Least goes first.
pub(super) type Rank = (bool, u64);
/// Goes to the top, where it is looked at.
const UNKNOWN: Rank = (false, 0);

/// The greatest size in which stale nodes do no harm.
const FEW_NODES: usize = 64;

/// A heap by rank in which ranks may have grown since.
struct Heap<T> {
    nodes: BinaryHeap<Reverse<(Rank, T)>>,
}

impl<T: Ord + Copy> Heap<T> {
    /// Take the one of least present rank out; those that have none are dropped on the way.
    fn pop(&mut self, rank_of: impl Fn(&T) -> Option<Rank>) -> Option<T> {
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
}

/// An entry as it was put: another put of the same key is another entry.
type Entry = (u64, Key);

enum Kind {
    Entries(Heap<Entry>),
    Groups { heap: Heap<u32>, groups: HashMap<u32, Group> },
}

#[derive(Default)]
struct Group {
    /// The last use of those that have left: a page is not older because one of its programs went.
    last_use: u64,
    members: Vec<Key>,
}

impl Group {
    /// It is kept to the last if all its members are; an empty one has no rank.
    fn rank(&self, rank_of: impl Fn(&Key) -> Option<Rank>) -> Option<Rank> {
        let of_both = |one: Rank, other: Rank| (one.0 && other.0, one.1.max(other.1));
        let (kept, last_use) = self.members.iter().filter_map(rank_of).reduce(of_both)?;
        Some((kept, last_use.max(self.last_use)))
    }

    /// The most recently used member, of those that are not kept to the last if there are any.
    fn newest(&self, rank_of: impl Fn(&Key) -> Option<Rank>) -> Option<Key> {
        let ranked = self.members.iter().filter_map(|key| Some((rank_of(key)?, key)));
        ranked.max_by_key(|((kept, stamp), _)| (!kept, *stamp)).map(|(_, key)| *key)
    }
}

pub(super) struct Order(Kind);

impl Order {
    pub fn of_entries() -> Self {
        Self(Kind::Entries(Heap { nodes: BinaryHeap::new() }))
    }

    pub fn of_groups() -> Self {
        Self(Kind::Groups { heap: Heap { nodes: BinaryHeap::new() }, groups: HashMap::new() })
    }

    /// Make room, so that the next [`insert`](Self::insert) into that group cannot fail.
    pub fn reserve_one(&mut self, group: u32) -> Result<()> {
        match &mut self.0 {
            Kind::Entries(heap) => heap.nodes.try_reserve(1)?,
            Kind::Groups { heap, groups } => {
                heap.nodes.try_reserve(1)?;
                groups.try_reserve(1)?;
                groups.entry(group).or_default().members.try_reserve(1)?;
            }
        }
        Ok(())
    }

    /// An entry is there now.
    pub fn insert(&mut self, entry: &blob::Entry, rank: Rank) {
        let blob = entry.blob();
        match &mut self.0 {
            Kind::Entries(heap) => heap.nodes.push(Reverse((rank, (blob.serial(), *blob.key())))),
            Kind::Groups { heap, groups } => {
                groups.entry(blob.group()).or_default().members.push(*blob.key());
                heap.nodes.push(Reverse((UNKNOWN, blob.group())));
            }
        }
    }

    /// An entry is no longer there. What the heap says of it is found to be out of date when it comes up.
    pub fn removed(&mut self, entry: &blob::Entry) {
        let blob = entry.blob();
        if let Kind::Groups { groups, .. } = &mut self.0
            && let Some(group) = groups.get_mut(&blob.group())
            && let Some(place) = group.members.iter().position(|key| key == blob.key())
        {
            group.members.swap_remove(place);
            group.last_use = group.last_use.max(entry.stamp());
        }
    }

    /// The rank of an entry may have become less.
    pub fn look_again(&mut self, blob: &Blob) -> Result<()> {
        match &mut self.0 {
            Kind::Entries(heap) => {
                heap.nodes.try_reserve(1)?;
                heap.nodes.push(Reverse((UNKNOWN, (blob.serial(), *blob.key()))));
            }
            Kind::Groups { heap, .. } => {
                heap.nodes.try_reserve(1)?;
                heap.nodes.push(Reverse((UNKNOWN, blob.group())));
            }
        }
        Ok(())
    }

    /// Who goes next. `rank_of` gives serial and present rank of what is there.
    pub fn victim(&mut self, rank_of: impl Fn(&Key) -> Option<(u64, Rank)>) -> Option<Key> {
        match &mut self.0 {
            Kind::Entries(heap) => {
                let current = |(serial, key): &Entry| rank_of(key).filter(|now| now.0 == *serial).map(|now| now.1);
                heap.pop(current).map(|(_, key)| key)
            }
            Kind::Groups { heap, groups } => {
                let rank_of = |key: &Key| rank_of(key).map(|now| now.1);
                let group = heap.pop(|group| groups.get(group)?.rank(rank_of))?;
                // Fits: it has just been taken out.
                heap.nodes.push(Reverse((UNKNOWN, group)));
                groups.get(&group)?.newest(rank_of)
            }
        }
    }

    /// Forget all.
    pub fn clear(&mut self) {
        match &mut self.0 {
            Kind::Entries(heap) => heap.nodes = BinaryHeap::new(),
            Kind::Groups { heap, groups } => {
                heap.nodes = BinaryHeap::new();
                *groups = HashMap::new();
            }
        }
    }

    /// Drop what is out of date, once that is the greater part. `each` shows every entry and its rank.
    pub fn tidy(&mut self, entries: usize, each: impl FnOnce(&mut dyn FnMut(&Blob, Rank))) {
        match &mut self.0 {
            Kind::Entries(heap) if heap.nodes.len() > 2 * entries + FEW_NODES => {
                heap.nodes.clear();
                each(&mut |blob, rank| heap.nodes.push(Reverse((rank, (blob.serial(), *blob.key())))));
            }
            Kind::Groups { heap, groups } if heap.nodes.len() > 2 * entries + FEW_NODES => {
                groups.retain(|_, group| !group.members.is_empty());
                heap.nodes.clear();
                heap.nodes.extend(groups.keys().map(|&group| Reverse((UNKNOWN, group))));
            }
            _ => {}
        }
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        match &self.0 {
            Kind::Entries(heap) => heap.nodes.capacity() * size_of::<(Rank, Entry)>(),
            Kind::Groups { heap, groups } => {
                let keys: usize = groups.values().map(|group| group.members.capacity()).sum();
                let of_groups = groups.capacity() * (size_of::<(u32, Group)>() + 1);
                heap.nodes.capacity() * size_of::<(Rank, u32)>() + of_groups + keys * size_of::<Key>()
            }
        }
    }
}
