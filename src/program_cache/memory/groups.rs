//! The policy by groups: evicts the most recently used member of the least recently used group.
//!
//! A page that is shown again asks for its programs in the same order as before, so the program used last is needed last.
//! The rank of a group is the last use of any member, also of members that left: a page does not age because a program
//! was evicted. A group is kept to the last if all its members are.
//!
//! There are two heaps: one of groups, and in each group one of members. Every entry has a seat, and readers log the seats
//! that they use: see [`Table::take_reads`]. The log is read before any eviction and before any put. So each entry that
//! was used costs one step per level of the heaps, however large its group is.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::blob::Entry;
use super::ranking::Ranking;
use super::table::Table;
use crate::base::{Result, try_push};
use crate::program_cache::key::Key;

/// Whether an entry is kept to the last, and within that its rank by the policy. The least is evicted first.
pub type Rank = (bool, u64);

/// Outdated nodes and empty groups up to this number are tolerated.
pub const FEW: usize = 64;

/// The rank of a member in its group: members that are kept to the last come last, the most recently used first.
type MemberRank = (bool, Reverse<u64>);

fn member_rank((kept, stamp): Rank) -> MemberRank {
    (kept, Reverse(stamp))
}

#[derive(Default)]
struct Group {
    last_use: u64,
    members: Ranking<MemberRank>,
    /// Its place among the groups, if it has members.
    place: Option<usize>,
}

impl Group {
    /// Its rank, if it has members.
    fn rank(&self) -> Option<Rank> {
        let ((kept, _), _) = self.members.first()?;
        Some((kept, self.last_use))
    }
}

/// A seat. It has a key while an entry sits there.
#[derive(Default)]
struct Seat {
    key: Option<Key>,
    group: u32,
    /// The place among the members of the group.
    place: usize,
}

/// Groups and their members.
#[derive(Default)]
pub struct Groups {
    groups: HashMap<u32, Group>,
    /// The groups that have members.
    order: Ranking<Rank>,
    seats: Vec<Seat>,
    free: Vec<u32>,
    /// The seat of the next entry.
    reserved: Option<u32>,
    /// Seats that were read, during a look.
    reads: Vec<u32>,
}

impl Groups {
    /// Reserve memory, so that the next [`insert`](Self::insert) into the group cannot fail. Returns the entry's seat.
    pub fn reserve_one(&mut self, group: u32, table: &Table, rank_of: impl Fn(&Entry) -> Rank) -> Result<u32> {
        self.look(table, rank_of)?;
        self.reserve_member(group)?;
        let seat = match self.reserved.or_else(|| self.free.pop()) {
            Some(seat) => seat,
            None => self.add_seat()?,
        };
        self.reserved = Some(seat);
        Ok(seat)
    }

    fn reserve_member(&mut self, group: u32) -> Result<()> {
        self.order.reserve_one()?;
        self.groups.try_reserve(1)?;
        self.groups.entry(group).or_default().members.reserve_one()
    }

    fn add_seat(&mut self) -> Result<u32> {
        let seat = self.seats.len() as u32;
        // All seats may become free.
        self.free.try_reserve(self.seats.len() + 1)?;
        try_push(&mut self.seats, Seat::default())?;
        Ok(seat)
    }

    /// Add an entry, at the reserved seat.
    pub fn insert(&mut self, entry: &Entry, rank: Rank) {
        self.reserved = None;
        let (seat, group) = (entry.seat(), entry.group());
        self.seats[seat as usize].key = Some(*entry.blob().key());
        self.join(seat, group, rank);
    }

    fn join(&mut self, seat: u32, name: u32, rank: Rank) {
        let Self { groups, seats, .. } = self;
        seats[seat as usize].group = name;
        let group = groups.entry(name).or_default();
        group.last_use = group.last_use.max(rank.1);
        group.members.push(member_rank(rank), seat, |seat, place| seats[seat as usize].place = place);
        self.rank_group(name);
    }

    fn leave(&mut self, seat: u32, last_use: u64) {
        let Self { groups, seats, .. } = self;
        let Seat { group: name, place, .. } = seats[seat as usize];
        if let Some(group) = groups.get_mut(&name) {
            group.last_use = group.last_use.max(last_use);
            group.members.remove(place, |seat, place| seats[seat as usize].place = place);
        }
        self.rank_group(name);
    }

    /// Remove an entry.
    pub fn remove(&mut self, entry: &Entry) {
        let number = entry.seat();
        let Some(seat) = self.seats.get_mut(number as usize) else { return };
        if seat.key.take().is_some() {
            // A use that moved it to another group is not a use of its old group.
            let last_use = if seat.group == entry.group() { entry.stamp() } else { 0 };
            self.free.push(number);
            self.leave(number, last_use);
        }
    }

    /// Rank an entry anew, and move it to the group of its last use. Without memory for the move it stays in its group.
    pub fn rank(&mut self, number: u32, group: u32, rank: Rank) {
        let Some(seat) = self.seats.get(number as usize).filter(|seat| seat.key.is_some()) else { return };
        let (name, place) = (seat.group, seat.place);
        if name != group && self.reserve_member(group).is_ok() {
            self.leave(number, 0);
            return self.join(number, group, rank);
        }
        let Self { groups, seats, .. } = self;
        if let Some(group) = groups.get_mut(&name) {
            group.last_use = group.last_use.max(rank.1);
            group.members.change(place, member_rank(rank), |seat, place| seats[seat as usize].place = place);
        }
        self.rank_group(name);
    }

    /// Move a group to its place, after its members have changed.
    fn rank_group(&mut self, name: u32) {
        let Self { groups, order, .. } = self;
        let Some(group) = groups.get_mut(&name) else { return };
        let (place, rank) = (group.place, group.rank());
        if rank.is_none() {
            group.place = None;
        }
        let moved = |name, place| {
            if let Some(group) = groups.get_mut(&name) {
                group.place = Some(place);
            }
        };
        match (place, rank) {
            (Some(place), Some(rank)) => order.change(place, rank, moved),
            (None, Some(rank)) => order.push(rank, name, moved),
            (Some(place), None) => order.remove(place, moved),
            (None, None) => {}
        }
    }

    /// Rank the entries that were read since the last look.
    fn look(&mut self, table: &Table, rank_of: impl Fn(&Entry) -> Rank) -> Result<()> {
        let mut reads = std::mem::take(&mut self.reads);
        let taken = table.take_reads(&mut reads, self.seats.len() + 1);
        for &number in &reads {
            let Some(key) = self.seats.get(number as usize).and_then(|seat| seat.key) else { continue };
            let found = table.peek(&key, |entry| {
                entry.0.iter().for_each(|blob| blob.allow_log());
                (entry.group(), rank_of(entry))
            });
            if let Some((group, rank)) = found {
                self.rank(number, group, rank);
            }
        }
        reads.clear();
        self.reads = reads;
        taken
    }

    /// The entry to evict next.
    pub fn victim(&mut self, table: &Table, rank_of: impl Fn(&Entry) -> Rank) -> Option<Key> {
        // Without memory for the log, the order is a little less exact.
        let _ = self.look(table, rank_of);
        let (_, oldest) = self.order.first()?;
        let (_, newest) = self.groups.get(&oldest)?.members.first()?;
        self.seats.get(newest as usize)?.key
    }

    /// Drop empty groups, once they are the majority.
    pub fn tidy(&mut self) {
        if self.groups.len() > 2 * self.order.len() + FEW {
            self.groups.retain(|_, group| group.place.is_some());
        }
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        let of_groups = self.groups.capacity() * (size_of::<(u32, Group)>() + 1);
        let of_members = self.groups.values().map(|group| group.members.memory_used()).sum::<usize>();
        let of_seats = self.seats.capacity() * size_of::<Seat>()
            + (self.free.capacity() + self.reads.capacity()) * size_of::<u32>();
        of_groups + of_members + of_seats + self.order.memory_used()
    }

    /// The number of nodes of all heaps, and of seats.
    #[cfg(test)]
    pub fn sizes(&self) -> (usize, usize) {
        let of_members = self.groups.values().map(|group| group.members.len()).sum::<usize>();
        (self.order.len() + of_members, self.seats.len())
    }

    /// Compare the rank of each group with the ranks of its members.
    #[cfg(test)]
    pub fn check(&self) {
        let seated = || self.seats.iter().enumerate().filter(|(_, seat)| seat.key.is_some());
        for (name, group) in &self.groups {
            let mut expected = None;
            for (number, seat) in seated().filter(|(_, seat)| seat.group == *name) {
                let ((kept, Reverse(stamp)), at) = group.members.at(seat.place);
                assert_eq!(number, at as usize);
                let (all_kept, latest) = expected.unwrap_or((true, 0));
                expected = Some((all_kept && kept, stamp.max(latest)));
            }
            let expected = expected.map(|(kept, latest)| (kept, latest.max(group.last_use)));
            assert_eq!(
                (group.rank(), group.place.map(|place| self.order.at(place))),
                (expected, expected.zip(Some(*name)))
            );
        }
        assert_eq!(self.groups.values().map(|group| group.members.len()).sum::<usize>(), seated().count());
        assert_eq!(self.groups.values().filter(|group| group.place.is_some()).count(), self.order.len());
        let empty = self.free.len() + usize::from(self.reserved.is_some());
        assert_eq!(seated().count() + empty, self.seats.len());
    }
}
