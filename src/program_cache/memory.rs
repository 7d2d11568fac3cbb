//! The memory tier: what is kept, and what makes room for what.
//!
//! One thread at a time changes it, under one lock; readers only ever take the lock of one shard of the [`Table`].
//! All that can fail is done before the first change, so that a put that finds no memory leaves all as it was.

use std::collections::HashSet;

use super::blob::{Blob, Entry, Program, Stored};
use super::fading::{self, Fading};
use super::material::Materials;
use super::options::{Counted, Options, Policy};
use super::order::{Order, Rank};
use super::statistics::{Measure, Reason, Refusal, Statistics};
use super::status::Statuses;
use super::table::{FoldKeys, Table};
use super::{Key, Put};
use crate::base::{Result, try_push};

/// How a program came to be put.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The host linked it.
    Linked,
    /// The disk had it, and somebody asked for it.
    Asked,
    /// The disk had it, and nobody has asked for it yet: it makes nothing else go, and is the first to go itself.
    Ahead,
}

/// Keys that are to be loaded before all others, in the order in which they were marked.
#[derive(Default)]
struct StartUpSet {
    keys: Vec<Key>,
    has: HashSet<Key, FoldKeys>,
}

pub(super) struct Memory {
    pub options: Options,
    used: u64,
    entries: usize,
    serial: u64,
    order: Order,
    fading: Fading,
    start_up: StartUpSet,
    pub statuses: Statuses,
    pub materials: Materials,
    pub statistics: Statistics,
}

impl Memory {
    pub fn new(options: Options) -> Result<Self> {
        Ok(Self {
            options,
            used: 0,
            entries: 0,
            serial: 0,
            order: if options.policy == Policy::Groups { Order::of_groups() } else { Order::of_entries() },
            fading: Fading::default(),
            start_up: StartUpSet::default(),
            statuses: Statuses::default(),
            materials: Materials::of(options.described_keys),
            statistics: Statistics::new()?,
        })
    }

    /// Bytes counted.
    pub fn used(&self) -> u64 {
        self.used
    }

    pub fn entries(&self) -> usize {
        self.entries
    }

    /// Why `program` would not be stored.
    pub fn refusal(&self, table: &Table, key: &Key, program: &Program<'_>, origin: Origin) -> Option<Refusal> {
        let (size, limit) = (self.counted(program), self.options.limit_bytes);
        if program.data.is_empty() && !self.options.store_empty {
            Some(Refusal::Empty)
        } else if size > limit || size == limit && !self.options.store_at_limit {
            Some(Refusal::TooLarge)
        } else if (origin != Origin::Linked || !self.options.last_put_wins) && table.peek(key, |_| ()).is_some() {
            Some(Refusal::Exists)
        } else if origin == Origin::Ahead && size > limit.saturating_sub(self.used) {
            Some(Refusal::NoRoom)
        } else {
            None
        }
    }

    /// Put a copy in. [`refusal`](Self::refusal) must have had nothing against it. On an error nothing changed.
    pub fn store(&mut self, table: &Table, key: &Key, mut stored: Stored, origin: Origin) -> Result<(Put, Blob)> {
        stored.serial = self.serial + 1;
        let seat = self.order.reserve_one(stored.group)?;
        let entry = Entry::share(key, stored, seat)?;
        let blob = entry.blob().clone();
        table.reserve_one(blob.key())?;
        self.statuses.reserve(blob.stages().len())?;
        // Nothing fails from here on.
        self.serial += 1;
        // The old one stays to be found until the new one takes its place, but counts no more.
        let old = table.peek(blob.key(), Entry::clone);
        if let Some(old) = &old {
            self.account_out(old, Reason::Replaced);
        }
        let size = self.counted(&blob.program());
        let was_missed = old.is_none() && origin != Origin::Ahead;
        let uses_before = if was_missed { self.missed(table, key, size) } else { 0 };
        self.make_room_beside(table, blob.key(), self.options.limit_bytes - size);
        self.statuses.linked(blob.stages());
        self.materials.is_there(blob.key());
        entry.came(if origin == Origin::Ahead { 0 } else { table.next_stamp() }, self.fading.age(), uses_before);
        self.order.insert(&entry, self.rank(&entry));
        table.insert(entry);
        self.used += size;
        self.entries += 1;
        self.tidy(table);
        Ok((if old.is_some() { Put::Replaced } else { Put::Stored }, blob))
    }

    /// One that was missed comes; how often it was used before it went.
    fn missed(&mut self, table: &Table, key: &Key, size: u64) -> u32 {
        if self.options.policy != Policy::CostAware {
            return 0;
        }
        let uses = self.fading.came(key, size as f64 / self.options.limit_bytes as f64, self.entries);
        table.set_age(self.fading.age());
        uses
    }

    /// Take one out, and with it what only it needed.
    pub fn take_out(&mut self, table: &Table, key: &Key, reason: Reason) -> Option<Entry> {
        let entry = table.remove(key)?;
        self.account_out(&entry, reason);
        Some(entry)
    }

    fn account_out(&mut self, entry: &Entry, reason: Reason) {
        let blob = entry.blob();
        self.used -= self.counted(&blob.program());
        self.entries -= 1;
        self.order.removed(entry);
        self.statuses.evicted(blob.stages());
        self.materials.is_gone(blob.key(), reason);
        self.statistics.left[reason as usize] += 1;
    }

    /// Let the least valuable ones go until no more than `most` bytes are counted; how many went.
    pub fn make_room(&mut self, table: &Table, most: u64, reason: Reason) -> usize {
        let before = self.entries;
        while self.used > most && self.evict(table, None, reason) {}
        before - self.entries
    }

    /// The same for one about to be put under `key`; what is there under that key is out already.
    fn make_room_beside(&mut self, table: &Table, key: &Key, most: u64) {
        while self.used > most && self.evict(table, Some(key), Reason::Capacity) {}
    }

    fn evict(&mut self, table: &Table, beside: Option<&Key>, reason: Reason) -> bool {
        // Lent for the moment, since ranking looks at all the rest.
        let mut order = std::mem::replace(&mut self.order, Order::of_entries());
        let rank_of = |key: &Key| table.peek(key, |entry| (entry.blob().serial(), self.rank(entry)));
        let victim = order.victim(&table.notes, |key| if beside == Some(key) { None } else { rank_of(key) });
        self.order = order;
        let Some(entry) = victim.and_then(|key| self.take_out(table, &key, reason)) else { return false };
        if self.options.policy == Policy::CostAware {
            self.fading.went(entry.blob().key(), entry.uses(), entry.last_use(), self.entries);
        }
        true
    }

    /// Forget every program and every status. Who is in the start-up set, and what is counted, stays.
    pub fn clear(&mut self, table: &Table) {
        self.statistics.left[Reason::Cleared as usize] += self.entries as u64;
        table.for_each(|entry| self.materials.is_gone(entry.blob().key(), Reason::Cleared));
        table.clear();
        self.order.clear(&table.notes);
        self.fading.clear();
        self.statuses.clear();
        (self.used, self.entries) = (0, 0);
    }

    /// Put a key into the start-up set or take it out.
    pub fn mark_start_up(&mut self, table: &Table, key: &Key, marked: bool) -> Result<()> {
        if self.start_up.has.contains(key) == marked {
            return Ok(());
        }
        self.order.reserve_look()?;
        if marked {
            self.start_up.has.try_reserve(1)?;
            try_push(&mut self.start_up.keys, *key)?;
            self.start_up.has.insert(*key);
        } else {
            self.start_up.has.remove(key);
            self.start_up.keys.retain(|other| other != key);
        }
        table.peek(key, |entry| {
            let rank = self.rank(entry);
            self.order.look_again(entry, rank);
        });
        self.tidy(table);
        Ok(())
    }

    /// The start-up set, in the order in which it was marked.
    pub fn start_up_keys(&self) -> &[Key] {
        &self.start_up.keys
    }

    pub fn memory_used(&self) -> usize {
        let start_up = self.start_up.keys.capacity() * size_of::<Key>() + self.start_up.has.capacity() * 33;
        let histograms = Measure::ALL.len() * size_of::<crate::stats::Histogram>();
        start_up
            + histograms
            + size_of::<Self>()
            + self.order.memory_used()
            + self.fading.memory_used()
            + self.statuses.memory_used()
            + self.materials.memory_used()
    }

    /// What the limit counts of a program.
    fn counted(&self, program: &Program<'_>) -> u64 {
        let bytes = match self.options.counted {
            Counted::Data => program.data.len(),
            Counted::KeyAndValue => [size_of::<Key>(), program.data.len(), program.reflection.len()]
                .into_iter()
                .fold(size_of_val(program.stages), usize::saturating_add),
        };
        (bytes as u64).max(1)
    }

    fn tidy(&mut self, table: &Table) {
        let mut order = std::mem::replace(&mut self.order, Order::of_entries());
        order.tidy(self.entries, |show| table.for_each(|entry| show(entry.blob(), self.rank(entry))));
        self.order = order;
    }

    fn rank(&self, entry: &Entry) -> Rank {
        let blob = entry.blob();
        let kept = self.options.start_up_set_last && self.start_up.has.contains(blob.key());
        let rank = match self.options.policy {
            Policy::LeastRecentlyUsed | Policy::Groups => entry.stamp(),
            Policy::CostAware => {
                fading::rank(entry.uses(), entry.last_use(), blob.cost_us(), self.counted(&blob.program()))
            }
        };
        (kept, rank)
    }
}
