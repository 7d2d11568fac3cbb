//! The policy by groups: of the least recently used group the most recently used member goes.
//!
//! A page that is shown again asks for its programs in the order it did before, so that the one used last will be wanted
//! last. The rank of a group is the last use of any of its members, those that have left included: a page is not older
//! because one of its programs went. It is kept to the last if all its members are.
//!
//! Two heaps, one of groups and in each group one of members, in which each is once and always where it belongs: who is
//! used is [noted](super::notes) by its reader and ranked anew before anyone goes. That is one step of the height of the
//! heaps for every entry used since the last look, however large a group is.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use super::Key;
use super::blob::{Blob, ROWS};
use super::notes::{Notes, Seat};
use super::order::{FEW, Rank};
use super::ranking::Ranking;
use crate::base::{Result, try_push};

/// Of members. Who is not kept to the last is before those who are, and the most recently used before all others.
type Worth = (bool, Reverse<u64>);

fn worth((kept, stamp): Rank) -> Worth {
    (kept, Reverse(stamp))
}

#[derive(Default)]
struct Group {
    last_use: u64,
    members: Ranking<Worth>,
    /// Where it is among the groups, if it has members.
    place: Option<usize>,
}

impl Group {
    /// It has one, if it has members.
    fn rank(&self) -> Option<Rank> {
        let ((kept, _), _) = self.members.first()?;
        Some((kept, self.last_use))
    }
}

/// Where an entry sits: its key is there for as long as it is.
struct Member {
    seat: Arc<Seat>,
    key: Option<Key>,
    group: u32,
    /// Where it is among the members of its group.
    place: usize,
}

#[derive(Default)]
pub(super) struct Groups {
    groups: HashMap<u32, Group>,
    /// Of those that have members.
    order: Ranking<Rank>,
    /// By the number of the seat.
    members: Vec<Member>,
    free: Vec<u32>,
    /// The seat of who comes next.
    reserved: Option<u32>,
}

impl Groups {
    /// Make room, so that the next [`insert`](Self::insert) into that group cannot fail; where it is to sit.
    pub fn reserve_one(&mut self, group: u32) -> Result<Arc<Seat>> {
        self.order.reserve_one()?;
        self.groups.try_reserve(1)?;
        self.groups.entry(group).or_default().members.reserve_one()?;
        let number = match self.reserved.or_else(|| self.free.pop()) {
            Some(number) => number,
            None => self.one_more()?,
        };
        self.reserved = Some(number);
        Ok(Arc::clone(&self.members[number as usize].seat))
    }

    /// A seat more, for which there is room among the free ones too.
    fn one_more(&mut self) -> Result<u32> {
        let number = self.members.len() as u32;
        self.free.try_reserve(self.members.len() + 1)?;
        // As for the entry itself: that so much could just be had is as near to a result as one gets.
        Vec::<Seat>::new().try_reserve_exact(2)?;
        try_push(&mut self.members, Member { seat: Arc::new(Seat::new(number)), key: None, group: 0, place: 0 })?;
        Ok(number)
    }

    /// An entry is there now, on the seat that was reserved.
    pub fn insert(&mut self, seat: &Seat, blob: &Blob, rank: Rank) {
        self.reserved = None;
        let Self { groups, members, .. } = self;
        let member = &mut members[seat.number as usize];
        (member.key, member.group) = (Some(*blob.key()), blob.group());
        let group = groups.entry(blob.group()).or_default();
        group.last_use = group.last_use.max(rank.1);
        group.members.push(worth(rank), seat.number, |number, place| members[number as usize].place = place);
        self.rank_group(blob.group());
    }

    /// An entry is no longer there, which was last used then.
    pub fn removed(&mut self, seat: &Seat, last_use: u64) {
        let Some(Member { key, group: name, place, .. }) = self.members.get_mut(seat.number as usize) else { return };
        let (Some(_), name, place) = (key.take(), *name, *place) else { return };
        self.free.push(seat.number);
        let Self { groups, members, .. } = self;
        if let Some(group) = groups.get_mut(&name) {
            group.last_use = group.last_use.max(last_use);
            group.members.remove(place, |number, place| members[number as usize].place = place);
        }
        self.rank_group(name);
    }

    /// The rank of the entry on a seat may be another.
    pub fn rank(&mut self, seat: u32, rank: Rank) {
        let Self { groups, members, .. } = self;
        let Some(&Member { key: Some(_), group: name, place, .. }) = members.get(seat as usize) else { return };
        if let Some(group) = groups.get_mut(&name) {
            group.last_use = group.last_use.max(rank.1);
            group.members.change(place, worth(rank), |number, place| members[number as usize].place = place);
        }
        self.rank_group(name);
    }

    /// Put a group where it belongs, after its members have changed.
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

    /// Who goes next, after a look at those that were used. `rank_of` gives the present rank of what is there.
    pub fn victim(&mut self, notes: &Notes, rank_of: impl Fn(&Key) -> Option<Rank>) -> Option<Key> {
        for row in 0..ROWS {
            let mut number = notes.take(row);
            while let Some(member) = self.members.get(number as usize) {
                let next = member.seat.leave(row);
                if let Some(rank) = member.key.as_ref().and_then(&rank_of) {
                    self.rank(number, rank);
                }
                number = next;
            }
        }
        let (_, oldest) = self.order.first()?;
        let (_, newest) = self.groups.get(&oldest)?.members.first()?;
        self.members.get(newest as usize)?.key
    }

    /// Drop groups without members, once they are the greater part.
    pub fn tidy(&mut self) {
        if self.groups.len() > 2 * self.order.len() + FEW {
            self.groups.retain(|_, group| group.place.is_some());
        }
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        let of_groups = self.groups.capacity() * (size_of::<(u32, Group)>() + 1);
        let of_members = self.groups.values().map(|group| group.members.memory_used()).sum::<usize>();
        let of_seats = self.members.capacity() * size_of::<Member>()
            + self.members.len() * (size_of::<Seat>() + 2 * size_of::<usize>())
            + self.free.capacity() * size_of::<u32>();
        of_groups + of_members + of_seats + self.order.memory_used()
    }

    /// Nodes of all heaps, and seats.
    #[cfg(test)]
    pub fn sizes(&self) -> (usize, usize) {
        let of_members = self.groups.values().map(|group| group.members.len()).sum::<usize>();
        (self.order.len() + of_members, self.members.len())
    }

    /// What is noted of each group is what comes of its members' ranks.
    #[cfg(test)]
    pub fn check(&self) {
        let seated = || self.members.iter().filter(|member| member.key.is_some());
        for (name, group) in &self.groups {
            let mut expected = None;
            for member in seated().filter(|member| member.group == *name) {
                let ((kept, Reverse(stamp)), number) = group.members.at(member.place);
                assert_eq!(number, member.seat.number);
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
        let without = self.free.len() + usize::from(self.reserved.is_some());
        assert_eq!(seated().count() + without, self.members.len());
    }
}
