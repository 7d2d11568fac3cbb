//! The table of programs: read by many threads at once, written by one.
//!
//! A get writes the claim of a stripe, the number of pins, and the time of the use. If all threads wrote these in one
//! place, its cache line would move between processors with every get. So every thread has its own stripe, and threads
//! are divided into rows: each row has its own view of every program, with its own counts.
//!
//! The table is divided into parts, so that readers wait only briefly for a put: see [`ReadMostly`]. Recency is a stamp
//! from the clock of the thread's stripe. Every put sets all clocks to the latest. So the order of uses is exact for one
//! thread; for several it is exact between puts.

use std::array;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use super::blob::{Blob, Entry, NO_SEAT, ROWS};
use crate::base::{Apart, ReadMostly, Result, thread_number};
use crate::program_cache::key::{FoldKeys, Key};

/// Parts of the table. A power of two.
const PARTS: usize = 32;
/// Stripes. As many threads can get a program at the same time without a lock.
const STRIPES: usize = 64;

type Programs = HashMap<Key, Entry, FoldKeys>;

/// The clock of a stripe, and its gets.
#[derive(Default)]
struct Local {
    clock: AtomicU64,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// The table of programs.
#[derive(Default)]
pub struct Table {
    programs: ReadMostly<Programs, Local, PARTS, STRIPES>,
    /// For gets without a stripe.
    without_stripe: Apart<Local>,
    /// The age of the cost-aware policy, as the bits of a double.
    age: Apart<AtomicU64>,
    /// For each row the seats that were read since the writer last looked. The writer reserves their memory.
    read_logs: [Apart<Mutex<Vec<u32>>>; ROWS],
}

/// Add one. Only gets without a stripe need a locked instruction.
fn add_one(count: &AtomicU64, is_alone: bool) {
    if is_alone {
        count.store(count.load(Relaxed) + 1, Relaxed);
    } else {
        count.fetch_add(1, Relaxed);
    }
}

/// The part of a key. A host may make up keys that share a part, which only makes growing that part slower. The hash within
/// a part is seeded.
fn part_of(key: &Key) -> usize {
    let [a, b, c, d] = array::from_fn(|word| u64::from_ne_bytes(key.as_chunks().0[word]));
    let mixed = a ^ b.rotate_left(16) ^ c.rotate_left(32) ^ d.rotate_left(48);
    (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize % PARTS
}

impl Table {
    /// Use a program, and move it to a group if there is one. Inlined, so that a get without a group does not test for it.
    #[inline]
    pub fn get(&self, key: &Key, group: Option<u32>) -> Option<Blob> {
        let thread = thread_number();
        let programs = self.programs.read(thread, part_of(key));
        let (local, is_alone) = (programs.local().unwrap_or(&self.without_stripe.0), programs.local().is_some());
        let Some(entry) = programs.get(key) else {
            add_one(&local.misses, is_alone);
            return None;
        };
        let row = thread % ROWS;
        let blob = entry.0[row].clone();
        let stamp = local.clock.load(Relaxed) + 1;
        local.clock.store(stamp, Relaxed);
        if let Some(group) = group {
            blob.0.recency.set_group(group);
        }
        blob.0.recency.touch(stamp, self.age.0.load(Relaxed));
        if blob.0.seat != NO_SEAT && !blob.0.is_logged.load(Relaxed) {
            self.log_read(row, &blob);
        }
        add_one(&local.hits, is_alone);
        Some(blob)
    }

    /// Log the first read since the writer last looked. The writer may miss a read that happens while it looks, which
    /// only makes eviction a little less exact.
    #[cold]
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
        self.programs.read(thread_number(), part_of(key)).get(key).map(ask)
    }

    /// Reserve memory, so that the next [`insert`](Self::insert) of this key cannot fail if nothing is put in between.
    pub fn reserve_one(&self, key: &Key) -> Result<()> {
        let part = part_of(key);
        let programs = self.programs.read(thread_number(), part);
        if programs.len() < programs.capacity() {
            return Ok(());
        }
        drop(programs);
        Ok(self.programs.write(part, |programs| programs.try_reserve(1))?)
    }

    /// Insert an entry, and drop the old one of its key after readers may go on.
    pub fn insert(&self, entry: Entry) {
        let key = *entry.blob().key();
        let old = self.programs.write(part_of(&key), |programs| programs.insert(key, entry));
        drop(old);
    }

    /// Remove an entry.
    pub fn remove(&self, key: &Key) -> Option<Entry> {
        self.programs.write(part_of(key), |programs| programs.remove(key))
    }

    /// Visit every entry.
    pub fn for_each(&self, mut look: impl FnMut(&Entry)) {
        (0..PARTS).for_each(|part| self.programs.read_locked(part).values().for_each(&mut look));
    }

    /// Remove all entries.
    pub fn clear(&self) {
        for part in 0..PARTS {
            // Freed after readers may go on.
            let taken = self.programs.write(part, std::mem::take);
            drop(taken);
        }
        self.read_logs.iter().for_each(|log| log.0.lock().unwrap_or_else(PoisonError::into_inner).clear());
    }

    fn locals(&self) -> impl Iterator<Item = &Local> {
        self.programs.locals().chain([&self.without_stripe.0])
    }

    /// A stamp later than all stamps so far. Sets all clocks to it.
    pub fn next_stamp(&self) -> u64 {
        let latest = self.locals().map(|local| local.clock.load(Relaxed)).max().unwrap_or(0) + 1;
        self.locals().for_each(|local| local.clock.store(latest, Relaxed));
        latest
    }

    /// Set the age of uses from now on.
    pub fn set_age(&self, age: f64) {
        self.age.0.store(age.to_bits(), Relaxed);
    }

    /// Hits and misses so far.
    pub fn hits_and_misses(&self) -> (u64, u64) {
        let sum =
            |(hits, misses), local: &Local| (hits + local.hits.load(Relaxed), misses + local.misses.load(Relaxed));
        self.locals().fold((0, 0), sum)
    }

    /// Bytes held, programs included.
    pub fn memory_used(&self) -> usize {
        let of_part = |part| {
            let programs = self.programs.read_locked(part);
            let of_programs = programs.values().map(Entry::memory_used).sum::<usize>();
            programs.capacity() * (size_of::<(Key, Entry)>() + 1) + of_programs
        };
        size_of::<Self>() + (0..PARTS).map(of_part).sum::<usize>()
    }
}
