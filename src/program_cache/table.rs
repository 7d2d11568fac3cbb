//! Who has which blob: read from many threads at once, written by one.
//!
//! A get writes: how many threads read, how many pin the program, when it was used. Were these written by all threads
//! in one place, its cache line would go from processor to processor with every get. So threads sit in rows, each with
//! a table and with counts of its own for every program; a put goes through all rows, and is seen by all threads once
//! it has returned. The first row's table has what all rows see, for the one who writes.
//!
//! A table is cut into shards, each behind a reader-writer lock, so that those of a row who read different programs do
//! not meet, nor wait long for a put. Recency is a stamp that a reader writes without a lock, from a clock that its
//! thread has for itself. Every put brings all clocks to the greatest: for one thread the order is exact, for several
//! it is exact from one put to the next.

use std::array;
use std::borrow::Borrow;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::Key;
use super::blob::{Blob, Entry, ROWS};
use super::notes::Notes;
use crate::base::Result;

/// Of a row. A power of two.
const SHARDS: usize = 32;
/// One for each of the first threads that ever use a cache; the last is for all that come after.
const STRIPES: usize = 64;

/// Keys are digests already: folding their words is enough, and one multiplication spreads what a host that makes up
/// its own keys may have left in few bits.
#[derive(Default)]
pub(super) struct Fold(u64);

impl Hasher for Fold {
    fn write(&mut self, bytes: &[u8]) {
        for word in bytes.as_chunks::<8>().0 {
            self.0 = self.0.rotate_left(23) ^ u64::from_le_bytes(*word);
        }
    }

    /// A slice says its length first; keys all have the same.
    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        let wide = u128::from(self.0) * 0x9E37_79B9_7F4A_7C15;
        (wide >> 64) as u64 ^ wide as u64
    }
}

pub(super) type FoldKeys = BuildHasherDefault<Fold>;
type Shard<T> = HashSet<T, FoldKeys>;

/// So far apart that no two are in one cache line, nor in a pair that is fetched together.
#[derive(Default)]
#[repr(align(128))]
struct Apart<T>(T);

#[derive(Default)]
struct Stripe {
    clock: AtomicU64,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// What the threads of one row look in.
struct Row<T>([Apart<RwLock<Shard<T>>>; SHARDS]);

pub(super) struct Table {
    first: Row<Entry>,
    others: [Row<Blob>; ROWS - 1],
    stripes: [Apart<Stripe>; STRIPES],
    /// How old the cost-aware policy is, as the bits of a double.
    age: Apart<AtomicU64>,
    /// Who was used, for a policy that wants to be told.
    pub notes: Notes,
}

/// One more. Only the last stripe has several threads, and needs a locked instruction for it.
fn add_one(count: &AtomicU64, is_shared: bool) {
    if is_shared {
        count.fetch_add(1, Relaxed);
    } else {
        count.store(count.load(Relaxed) + 1, Relaxed);
    }
}

/// How many threads came before the calling one. Nothing here needs dropping, so that it does not keep an unloaded
/// library mapped.
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
    // Not the bits that choose the place within the shard, which are the lowest and the highest seven.
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

    /// What `take` makes of the blob of `key`.
    fn get(&self, key: &Key, take: impl FnOnce(&T) -> Blob) -> Option<Blob> {
        self.read(key).get(key).map(take)
    }

    fn clear(&self) {
        for shard in &self.0 {
            // Taken first: what frees it is not the lock's business.
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
    pub fn new() -> Self {
        Self {
            first: Row::new(),
            others: array::from_fn(|_| Row::new()),
            stripes: array::from_fn(|_| Apart::default()),
            age: Apart::default(),
            notes: Notes::new(),
        }
    }

    /// The blob of `key`, which is thereby used.
    pub fn get(&self, key: &Key) -> Option<Blob> {
        let number = thread_number();
        let (stripe, is_shared) = (&self.stripes[number.min(STRIPES - 1)].0, number >= STRIPES - 1);
        let row = number % ROWS;
        let touch = |blob: &Blob| {
            let stamp = stripe.clock.load(Relaxed) + 1;
            stripe.clock.store(stamp, Relaxed);
            blob.0.recency.touch(stamp, self.age.0.load(Relaxed));
            if let Some(seat) = &blob.0.seat {
                self.notes.note(row, seat);
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

    /// What `ask` says of the entry of `key`, which is not used by that.
    pub fn peek<R>(&self, key: &Key, ask: impl FnOnce(&Entry) -> R) -> Option<R> {
        self.first.read(key).get(key).map(ask)
    }

    /// Make room, so that the next [`insert`](Self::insert) of this key cannot fail, if nothing else is put between.
    pub fn reserve_one(&self, key: &Key) -> Result<()> {
        self.first.write(key).try_reserve(1)?;
        Ok(self.others.iter().try_for_each(|row| row.write(key).try_reserve(1))?)
    }

    /// Put an entry in, instead of what had its key. What goes is dropped without a lock held.
    pub fn insert(&self, entry: Entry) {
        let key = *entry.blob().key();
        for (row, blob) in self.others.iter().zip(&entry.0[1..]) {
            let old = row.write(&key).replace(blob.clone());
            drop(old);
        }
        let old = self.first.write(&key).replace(entry);
        drop(old);
    }

    pub fn remove(&self, key: &Key) -> Option<Entry> {
        for row in &self.others {
            let old = row.write(key).take(key);
            drop(old);
        }
        self.first.write(key).take(key)
    }

    /// Show every entry to `look`.
    pub fn for_each(&self, mut look: impl FnMut(&Entry)) {
        self.first.fold((), |(), shard| shard.iter().for_each(&mut look));
    }

    /// Take out all that is there.
    pub fn clear(&self) {
        self.others.iter().for_each(Row::clear);
        self.first.clear();
    }

    /// A stamp later than any given so far; brings all clocks there.
    pub fn next_stamp(&self) -> u64 {
        let latest = self.stripes.iter().map(|stripe| stripe.0.clock.load(Relaxed)).max().unwrap_or(0) + 1;
        self.stripes.iter().for_each(|stripe| stripe.0.clock.store(latest, Relaxed));
        latest
    }

    /// From now on this is the age of what is used.
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

    /// Bytes held, blobs included.
    pub fn memory_used(&self) -> usize {
        let of_blobs = self.first.fold(0, |sum, shard| sum + shard.iter().map(Entry::memory_used).sum::<usize>());
        let of_others = self.others.iter().map(Row::memory_used).sum::<usize>();
        size_of::<Self>() + self.first.memory_used() + of_others + of_blobs
    }
}
