//! The table of programs: read by many threads at once, written by one.
//!
//! A get writes the number of readers, the number of pins, and the time of the use. If all threads wrote these in one
//! place, its cache line would move between processors with every get. So threads are divided into rows, and each row
//! has its own table, and its own counts for every program. A put goes through all rows; all threads see it once it has
//! returned. The writer looks at the first row's table.
//!
//! A table is divided into shards with a reader-writer lock each, so that readers of different programs do not meet, and
//! wait only briefly for a put. Recency is a stamp that a reader writes without a lock, from its thread's own clock. Every
//! put sets all clocks to the latest. So the order of uses is exact for one thread; for several it is exact between puts.

use std::array;
use std::borrow::Borrow;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::blob::{Blob, Entry, NO_SEAT, ROWS};
use crate::base::Result;
use crate::program_cache::key::{Fold, FoldKeys, Key};

/// Shards of a row. A power of two.
const SHARDS: usize = 32;
/// One stripe for each of the first threads that use a cache. All later threads share the last one.
const STRIPES: usize = 64;

type Shard<T> = HashSet<T, FoldKeys>;

/// A value on cache lines of its own, also where processors fetch lines in pairs.
#[derive(Default)]
#[repr(align(128))]
struct Apart<T>(T);

#[derive(Default)]
struct Stripe {
    clock: AtomicU64,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// The table of one row's threads.
struct Row<T>([Apart<RwLock<Shard<T>>>; SHARDS]);

/// The table of programs.
pub struct Table {
    first: Row<Entry>,
    others: [Row<Blob>; ROWS - 1],
    stripes: [Apart<Stripe>; STRIPES],
    /// The age of the cost-aware policy, as the bits of a double.
    age: Apart<AtomicU64>,
    /// For each row the seats that were read since the writer last looked. The writer reserves their memory.
    read_logs: [Apart<Mutex<Vec<u32>>>; ROWS],
}

/// Add one. Only the last stripe has several threads, and needs a locked instruction.
fn add_one(count: &AtomicU64, is_shared: bool) {
    if is_shared {
        count.fetch_add(1, Relaxed);
    } else {
        count.store(count.load(Relaxed) + 1, Relaxed);
    }
}

/// The number of threads that used a cache before the calling one. Nothing here has a destructor, which would keep an
/// unloaded library mapped.
fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static NUMBER: usize = NEXT.fetch_add(1, Relaxed);
    }
    NUMBER.with(|number| *number)
}

fn shard_of(key: &Key) -> usize {
    let mut fold = Fold::default();
    fold.write(key);
    // The lowest bits and the highest seven choose the place within the shard.
    (fold.finish() >> 40) as usize % SHARDS
}

impl<T: Borrow<Key> + Eq + Hash> Row<T> {
    fn new() -> Self {
        Self(array::from_fn(|_| Apart::default()))
    }

    fn read(&self, key: &Key) -> RwLockReadGuard<'_, Shard<T>> {
        self.0[shard_of(key)].0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, key: &Key) -> RwLockWriteGuard<'_, Shard<T>> {
        self.0[shard_of(key)].0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The blob that `take` makes of the entry of `key`.
    fn get(&self, key: &Key, take: impl FnOnce(&T) -> Blob) -> Option<Blob> {
        self.read(key).get(key).map(take)
    }

    fn clear(&self) {
        for shard in &self.0 {
            // Freed after the lock is released.
            let taken = std::mem::take(&mut *shard.0.write().unwrap_or_else(PoisonError::into_inner));
            drop(taken);
        }
    }

    fn fold<R>(&self, start: R, mut next: impl FnMut(R, &Shard<T>) -> R) -> R {
        self.0.iter().fold(start, |sum, shard| next(sum, &shard.0.read().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Bytes of the tables.
    fn memory_used(&self) -> usize {
        self.fold(0, |sum, shard| sum + shard.capacity() * (size_of::<T>() + 1))
    }
}

impl Table {
    /// An empty table.
    pub fn new() -> Self {
        Self {
            first: Row::new(),
            others: array::from_fn(|_| Row::new()),
            stripes: array::from_fn(|_| Apart::default()),
            age: Apart::default(),
            read_logs: array::from_fn(|_| Apart::default()),
        }
    }

    /// Use a program, and move it to a group if there is one. Inlined, so that a get without a group does not test for it.
    #[inline]
    pub fn get(&self, key: &Key, group: Option<u32>) -> Option<Blob> {
        let number = thread_number();
        let (stripe, is_shared) = (&self.stripes[number.min(STRIPES - 1)].0, number >= STRIPES - 1);
        let row = number % ROWS;
        let touch = |blob: &Blob| {
            let stamp = stripe.clock.load(Relaxed) + 1;
            stripe.clock.store(stamp, Relaxed);
            if let Some(group) = group {
                blob.0.recency.set_group(group);
            }
            blob.0.recency.touch(stamp, self.age.0.load(Relaxed));
            if blob.0.seat != NO_SEAT && !blob.0.is_logged.load(Relaxed) {
                self.log_read(row, blob);
            }
            blob.clone()
        };
        let found = match row {
            0 => self.first.get(key, |entry| touch(entry.blob())),
            row => self.others[row - 1].get(key, touch),
        };
        add_one(if found.is_some() { &stripe.hits } else { &stripe.misses }, is_shared);
        found
    }

    /// Log the first read since the writer last looked. The writer may miss a read that happens while it looks, which
    /// only makes eviction a little less exact.
    fn log_read(&self, row: usize, blob: &Blob) {
        if !blob.0.is_logged.swap(true, Relaxed) {
            let mut log = self.read_logs[row].0.lock().unwrap_or_else(PoisonError::into_inner);
            if log.len() < log.capacity() {
                log.push(blob.0.seat);
            }
        }
    }

    /// Move the log of all rows to `seats`, and reserve both for a number of entries. On failure nothing is lost.
    pub fn take_reads(&self, seats: &mut Vec<u32>, entries: usize) -> Result<()> {
        seats.try_reserve(ROWS * entries)?;
        for log in &self.read_logs {
            let mut log = log.0.lock().unwrap_or_else(PoisonError::into_inner);
            seats.try_reserve(log.len())?;
            seats.append(&mut log);
            log.try_reserve(entries)?;
        }
        Ok(())
    }

    /// Ask about the entry of `key`, without using it.
    pub fn peek<R>(&self, key: &Key, ask: impl FnOnce(&Entry) -> R) -> Option<R> {
        self.first.read(key).get(key).map(ask)
    }

    /// Reserve memory, so that the next [`insert`](Self::insert) of this key cannot fail if nothing is put in between.
    pub fn reserve_one(&self, key: &Key) -> Result<()> {
        self.first.write(key).try_reserve(1)?;
        Ok(self.others.iter().try_for_each(|row| row.write(key).try_reserve(1))?)
    }

    /// Insert an entry, and drop the old one of its key after the locks are released.
    pub fn insert(&self, entry: Entry) {
        let key = *entry.blob().key();
        for (row, blob) in self.others.iter().zip(&entry.0[1..]) {
            let old = row.write(&key).replace(blob.clone());
            drop(old);
        }
        let old = self.first.write(&key).replace(entry);
        drop(old);
    }

    /// Remove an entry.
    pub fn remove(&self, key: &Key) -> Option<Entry> {
        for row in &self.others {
            let old = row.write(key).take(key);
            drop(old);
        }
        self.first.write(key).take(key)
    }

    /// Visit every entry.
    pub fn for_each(&self, mut look: impl FnMut(&Entry)) {
        self.first.fold((), |(), shard| shard.iter().for_each(&mut look));
    }

    /// Remove all entries.
    pub fn clear(&self) {
        self.others.iter().for_each(Row::clear);
        self.first.clear();
        self.read_logs.iter().for_each(|log| log.0.lock().unwrap_or_else(PoisonError::into_inner).clear());
    }

    /// A stamp later than all stamps so far. Sets all clocks to it.
    pub fn next_stamp(&self) -> u64 {
        let latest = self.stripes.iter().map(|stripe| stripe.0.clock.load(Relaxed)).max().unwrap_or(0) + 1;
        self.stripes.iter().for_each(|stripe| stripe.0.clock.store(latest, Relaxed));
        latest
    }

    /// Set the age of uses from now on.
    pub fn set_age(&self, age: f64) {
        self.age.0.store(age.to_bits(), Relaxed);
    }

    /// Hits and misses so far.
    pub fn hits_and_misses(&self) -> (u64, u64) {
        let sum = |(hits, misses), stripe: &Apart<Stripe>| {
            (hits + stripe.0.hits.load(Relaxed), misses + stripe.0.misses.load(Relaxed))
        };
        self.stripes.iter().fold((0, 0), sum)
    }

    /// Bytes held, programs included.
    pub fn memory_used(&self) -> usize {
        let of_programs = self.first.fold(0, |sum, shard| sum + shard.iter().map(Entry::memory_used).sum::<usize>());
        let of_others = self.others.iter().map(Row::memory_used).sum::<usize>();
        size_of::<Self>() + self.first.memory_used() + of_others + of_programs
    }
}
