//! The state of the memory tier behind its lock: limits, order of eviction, statuses and counters.
//!
//! One thread at a time changes it. Readers do not take its lock. A change first does all steps that can fail, so a put
//! without memory changes nothing.

use std::collections::HashSet;

use super::blob::{Blob, Entry, Stored};
use super::fading::{self, Fading};
use super::groups::Rank;
use super::material::{Materials, Whereabouts};
use super::options::{Counted, Options, Policy, Pressure};
use super::order::Order;
use super::statistics::{Measure, Reason, Statistics};
use super::status::Statuses;
use super::table::Table;
use crate::base::{Result, error, try_push};
use crate::program_cache::key::{FoldKeys, Key};
use crate::program_cache::program::{Program, Put, Refusal};

/// The source of a program that is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The host linked it.
    Linked,
    /// The disk had it, and it was missed.
    Missed,
    /// The disk had it, and it may be asked for later. It evicts no other program, and is evicted first.
    Ahead,
}

/// The limit of keys in the start-up set.
pub const START_UP_KEYS: usize = 1 << 16;

/// Keys that are loaded before all others. The key that was marked first comes first.
#[derive(Default)]
struct StartUpSet {
    keys: Vec<Key>,
    has: HashSet<Key, FoldKeys>,
}

/// The size of programs, and their rank of eviction.
pub struct Rules {
    pub options: Options,
    start_up: StartUpSet,
}

impl Rules {
    /// The bytes of a program that the limit counts.
    fn counted(&self, program: &Program<'_>) -> u64 {
        let bytes = match self.options.counted {
            Counted::Data => program.data.len(),
            Counted::KeyAndValue => [size_of::<Key>(), program.data.len(), program.reflection.len()]
                .into_iter()
                .fold(size_of_val(program.stages), usize::saturating_add),
        };
        (bytes as u64).max(1)
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

/// The state of the memory tier.
pub struct State {
    pub rules: Rules,
    pressure: Pressure,
    used: u64,
    entries: usize,
    serial: u64,
    order: Order,
    fading: Fading,
    pub statuses: Statuses,
    pub materials: Materials,
    pub statistics: Statistics,
}

impl State {
    /// The state of an empty cache.
    pub fn new(options: Options) -> Result<Self> {
        Ok(Self {
            rules: Rules { options, start_up: StartUpSet::default() },
            pressure: Pressure::None,
            used: 0,
            entries: 0,
            serial: 0,
            order: Order::new(options.policy),
            fading: Fading::default(),
            statuses: Statuses::default(),
            materials: Materials::new(options.described_keys),
            statistics: Statistics::new()?,
        })
    }

    /// Bytes of the longest value on disk that could be stored.
    pub fn longest_value(&self) -> u64 {
        match self.rules.options.counted {
            Counted::KeyAndValue => self.rules.options.limit_bytes,
            Counted::Data => u64::MAX,
        }
    }

    /// Bytes that count against the limit.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// The number of programs.
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// The limit under the present memory pressure.
    fn limit(&self) -> u64 {
        match self.pressure {
            Pressure::None => self.rules.options.limit_bytes,
            Pressure::Moderate => self.rules.options.limit_bytes / 4,
            Pressure::Critical => 0,
        }
    }

    /// Limit memory as the pressure requires, until the next call. Returns the number of evicted programs.
    pub fn set_pressure(&mut self, table: &Table, pressure: Pressure) -> usize {
        self.pressure = pressure;
        self.make_room(table, self.limit(), Reason::Pressure)
    }

    /// Change the limit. Returns the number of evicted programs.
    pub fn set_limit(&mut self, table: &Table, limit_bytes: u64) -> usize {
        self.rules.options.limit_bytes = limit_bytes;
        self.make_room(table, self.limit(), Reason::LimitLowered)
    }

    /// Why `program` would not be stored; `None` if it would be. A program that only pressure makes too large is stored,
    /// and evicts all others.
    pub fn refusal(&self, table: &Table, key: &Key, program: &Program<'_>, origin: Origin) -> Option<Refusal> {
        let Rules { options, .. } = &self.rules;
        let (size, limit) = (self.rules.counted(program), options.limit_bytes);
        if program.data.is_empty() && !options.store_empty {
            Some(Refusal::Empty)
        } else if size > limit || size == limit && !options.store_at_limit {
            Some(Refusal::TooLarge)
        } else if (origin != Origin::Linked || !options.last_put_wins) && table.peek(key, |_| ()).is_some() {
            Some(Refusal::Exists)
        } else if origin == Origin::Ahead && size > self.limit().saturating_sub(self.used) {
            Some(Refusal::NoRoom)
        } else {
            None
        }
    }

    /// Store a copy that has no [`refusal`](Self::refusal). On an error nothing changes.
    pub fn store(&mut self, table: &Table, key: &Key, mut stored: Stored, origin: Origin) -> Result<(Put, Blob)> {
        stored.serial = self.serial + 1;
        let seat = self.order.reserve_one(stored.group, table, |entry| self.rules.rank(entry))?;
        let entry = Entry::share(stored, seat)?;
        let blob = entry.blob().clone();
        table.reserve_one(key)?;
        self.statuses.reserve(blob.stages().len())?;
        // No step fails from here on.
        self.serial += 1;
        // The old entry is found until the new one replaces it, but no longer counts.
        let old = table.peek(key, Entry::clone);
        if let Some(old) = &old {
            self.account_for_removal(old, Reason::Replaced);
        }
        let size = self.rules.counted(&blob.program());
        let was_missed = old.is_none() && origin != Origin::Ahead;
        let uses_before = if was_missed { self.put_missed(table, key, size) } else { 0 };
        self.make_room_beside(table, key, self.limit().saturating_sub(size));
        self.statuses.linked(blob.stages());
        self.materials.set_whereabouts(key, Whereabouts::InMemory);
        entry.start(if origin == Origin::Ahead { 0 } else { table.next_stamp() }, self.fading.age(), uses_before);
        self.order.insert(&entry, self.rules.rank(&entry));
        table.insert(entry);
        self.used += size;
        self.entries += 1;
        self.tidy(table);
        Ok((if old.is_some() { Put::Replaced } else { Put::Stored }, blob))
    }

    /// Tell the cost-aware policy of a put of a missed program. Returns the uses before its eviction.
    fn put_missed(&mut self, table: &Table, key: &Key, size: u64) -> u32 {
        if self.rules.options.policy != Policy::CostAware {
            return 0;
        }
        let share = size as f64 / self.rules.options.limit_bytes as f64;
        let uses = self.fading.put_missed(key, share, self.entries);
        table.set_age(self.fading.age());
        uses
    }

    /// Count a program that was not stored.
    pub fn refuse(&mut self, refusal: Refusal) -> Put {
        self.statistics.refused[refusal as usize] += 1;
        Put::Refused(refusal)
    }

    /// Remove a program.
    pub fn remove(&mut self, table: &Table, key: &Key, reason: Reason) -> Option<Entry> {
        let entry = table.remove(key)?;
        self.account_for_removal(&entry, reason);
        Some(entry)
    }

    fn account_for_removal(&mut self, entry: &Entry, reason: Reason) {
        let blob = entry.blob();
        self.used -= self.rules.counted(&blob.program());
        self.entries -= 1;
        self.order.remove(entry);
        self.statuses.evicted(blob.stages());
        self.materials.set_whereabouts(blob.key(), Whereabouts::Left(reason));
        self.statistics.left[reason as usize] += 1;
    }

    /// Evict until at most `most` bytes count. Returns the number of evicted programs.
    pub fn make_room(&mut self, table: &Table, most: u64, reason: Reason) -> usize {
        let before = self.entries;
        while self.used > most && self.evict(table, None, reason) {}
        before - self.entries
    }

    /// Evict for a put of `key`, whose old program counts no more.
    fn make_room_beside(&mut self, table: &Table, key: &Key, most: u64) {
        let reason = if self.pressure == Pressure::None { Reason::Capacity } else { Reason::Pressure };
        while self.used > most && self.evict(table, Some(key), reason) {}
    }

    fn evict(&mut self, table: &Table, beside: Option<&Key>, reason: Reason) -> bool {
        let victim = self.order.victim(table, beside, |entry| self.rules.rank(entry));
        let Some(entry) = victim.and_then(|key| self.remove(table, &key, reason)) else { return false };
        if self.rules.options.policy == Policy::CostAware {
            self.fading.evict(entry.blob().key(), entry.uses(), entry.last_use(), self.entries);
        }
        true
    }

    /// Remove all programs and statuses. The start-up set and the counters stay.
    pub fn clear(&mut self, table: &Table) {
        self.statistics.left[Reason::Cleared as usize] += self.entries as u64;
        let cleared = Whereabouts::Left(Reason::Cleared);
        table.for_each(|entry| self.materials.set_whereabouts(entry.blob().key(), cleared));
        table.clear();
        self.order.clear();
        self.fading.clear();
        self.statuses.clear();
        (self.used, self.entries) = (0, 0);
    }

    /// Add a key to the start-up set, or remove it. On an error nothing changes.
    pub fn mark_start_up(&mut self, table: &Table, key: &Key, marked: bool) -> Result<()> {
        let StartUpSet { keys, has } = &mut self.rules.start_up;
        if has.contains(key) == marked {
            return Ok(());
        }
        if marked && keys.len() >= START_UP_KEYS {
            return Err(error!(LimitExceeded, "the start-up set has {START_UP_KEYS} keys already: remove some first"));
        }
        self.order.reserve_rank()?;
        if marked {
            has.try_reserve(1)?;
            try_push(keys, *key)?;
            has.insert(*key);
        } else {
            has.remove(key);
            keys.retain(|other| other != key);
        }
        table.peek(key, |entry| self.order.rank(entry, self.rules.rank(entry)));
        self.tidy(table);
        Ok(())
    }

    /// The start-up set. The key that was marked first comes first.
    pub fn start_up_keys(&self) -> &[Key] {
        &self.rules.start_up.keys
    }

    /// Bytes held, without those of the table.
    pub fn memory_used(&self) -> usize {
        let StartUpSet { keys, has } = &self.rules.start_up;
        let of_start_up = keys.capacity() * size_of::<Key>() + has.capacity() * (size_of::<Key>() + 1);
        let of_histograms = Measure::ALL.len() * size_of::<crate::stats::Histogram>();
        of_start_up
            + of_histograms
            + size_of::<Self>()
            + self.order.memory_used()
            + self.fading.memory_used()
            + self.statuses.memory_used()
            + self.materials.memory_used()
    }

    fn tidy(&mut self, table: &Table) {
        self.order.tidy(self.entries, table, |entry| self.rules.rank(entry));
    }
}
