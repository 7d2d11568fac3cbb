//! Who has which blob: read from many threads at once, written by one.
//!
//! The table is cut into shards, each behind a reader-writer lock of its own, so that readers of different programs do
//! not meet. Recency is a stamp that a reader writes without a lock. One clock for all stamps would be a cache line that
//! every get of every thread fights for, so each thread has a clock of its own, and every put brings all of them to the
//! greatest: for one thread the order is exact, for several it is exact from one put to the next.

use std::array;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::Key;
use super::blob::Blob;
use crate::base::Result;

/// A power of two.
const SHARDS: usize = 32;
/// One for each of the first threads that ever use a cache; the last is for all that come after.
const LANES: usize = 64;

/// Keys are digests already: folding their words is enough, and one multiplication spreads what a host that makes up
/// its own keys may have left in few bits.
#[derive(Default)]
pub(super) struct Fold(u64);

impl Hasher for Fold {
    #[inline(always)]
    fn write(&mut self, bytes: &[u8]) {
        for word in bytes.as_chunks::<8>().0 {
            self.0 = self.0.rotate_left(23) ^ u64::from_le_bytes(*word);
        }
    }

    /// A slice says its length first; keys all have the same.
    #[inline(always)]
    fn write_usize(&mut self, _: usize) {}

    #[inline(always)]
    fn finish(&self) -> u64 {
        let wide = u128::from(self.0) * 0x9E37_79B9_7F4A_7C15;
        (wide >> 64) as u64 ^ wide as u64
    }
}

pub(super) type FoldKeys = BuildHasherDefault<Fold>;
type Shard = HashSet<Blob, FoldKeys>;

/// So far apart that no two are in one cache line, nor in a pair that is fetched together.
#[derive(Default)]
#[repr(align(128))]
struct Apart<T>(T);

#[derive(Default)]
struct Lane {
    clock: AtomicU64,
    hits: AtomicU64,
    misses: AtomicU64,
}

pub(super) struct Table {
    shards: [Apart<RwLock<Shard>>; SHARDS],
    lanes: [Apart<Lane>; LANES],
    /// What the cost-aware policy has come to, as the bits of a double.
    floor: Apart<AtomicU64>,
}

/// One more. Only the last lane has several threads, and needs a locked instruction for it.
#[inline(always)]
fn add_one(count: &AtomicU64, is_shared: bool) {
    if is_shared {
        count.fetch_add(1, Relaxed);
    } else {
        count.store(count.load(Relaxed) + 1, Relaxed);
    }
}

/// Which lane the calling thread uses. Nothing here needs dropping, so that it does not keep an unloaded library mapped.
#[inline(always)]
fn lane() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static LANE: usize = NEXT.fetch_add(1, Relaxed).min(LANES - 1);
    }
    LANE.with(|lane| *lane)
}

#[inline(always)]
fn shard_of(key: &Key) -> usize {
    let mut fold = Fold::default();
    fold.write(key);
    // Not the bits that choose the place within the shard, which are the lowest and the highest seven.
    (fold.finish() >> 40) as usize % SHARDS
}

impl Table {
    pub fn new() -> Self {
        Self {
            shards: array::from_fn(|_| Apart::default()),
            lanes: array::from_fn(|_| Apart::default()),
            floor: Apart::default(),
        }
    }

    #[inline(always)]
    fn read(&self, key: &Key) -> RwLockReadGuard<'_, Shard> {
        self.shards[shard_of(key)].0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, key: &Key) -> RwLockWriteGuard<'_, Shard> {
        self.shards[shard_of(key)].0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The blob of `key`, which is thereby used.
    #[inline(always)]
    pub fn get(&self, key: &Key) -> Option<Blob> {
        let place = lane();
        let (lane, is_shared) = (&self.lanes[place].0, place == LANES - 1);
        let shard = self.read(key);
        let Some(blob) = shard.get(key) else {
            drop(shard);
            add_one(&lane.misses, is_shared);
            return None;
        };
        let stamp = lane.clock.load(Relaxed) + 1;
        lane.clock.store(stamp, Relaxed);
        blob.0.recency.touch(stamp, self.floor.0.load(Relaxed));
        let pinned = blob.clone();
        drop(shard);
        add_one(&lane.hits, is_shared);
        Some(pinned)
    }

    /// What `ask` says of the blob of `key`, which is not used by that.
    pub fn peek<R>(&self, key: &Key, ask: impl FnOnce(&Blob) -> R) -> Option<R> {
        self.read(key).get(key).map(ask)
    }

    /// Make room, so that the next [`insert`](Self::insert) of this key cannot fail, if nothing else is put between.
    pub fn reserve_one(&self, key: &Key) -> Result<()> {
        Ok(self.write(key).try_reserve(1)?)
    }

    /// Put a blob in; what had its key.
    pub fn insert(&self, blob: Blob) -> Option<Blob> {
        self.write(blob.key()).replace(blob)
    }

    pub fn remove(&self, key: &Key) -> Option<Blob> {
        self.write(key).take(key)
    }

    /// Show every blob to `look`.
    pub fn for_each(&self, mut look: impl FnMut(&Blob)) {
        for shard in &self.shards {
            shard.0.read().unwrap_or_else(PoisonError::into_inner).iter().for_each(&mut look);
        }
    }

    /// Take out all that is there.
    #[allow(clippy::mutable_key_type, reason = "what a blob is found by is its key, and that does not change")]
    pub fn clear(&self) {
        for shard in &self.shards {
            // Taken first: what frees it is not the lock's business.
            let taken = std::mem::take(&mut *shard.0.write().unwrap_or_else(PoisonError::into_inner));
            drop(taken);
        }
    }

    /// A stamp later than any given so far; brings all clocks there.
    pub fn next_stamp(&self) -> u64 {
        let latest = self.lanes.iter().map(|lane| lane.0.clock.load(Relaxed)).max().unwrap_or(0) + 1;
        self.lanes.iter().for_each(|lane| lane.0.clock.store(latest, Relaxed));
        latest
    }

    pub fn floor(&self) -> u64 {
        self.floor.0.load(Relaxed)
    }

    pub fn set_floor(&self, floor: u64) {
        self.floor.0.store(floor, Relaxed);
    }

    /// Hits and misses so far.
    pub fn hits_and_misses(&self) -> (u64, u64) {
        let sum = |(hits, misses), lane: &Apart<Lane>| {
            (hits + lane.0.hits.load(Relaxed), misses + lane.0.misses.load(Relaxed))
        };
        self.lanes.iter().fold((0, 0), sum)
    }

    /// Bytes held, blobs included.
    pub fn memory_used(&self) -> usize {
        let of_shard = |shard: &Apart<RwLock<Shard>>| {
            let shard = shard.0.read().unwrap_or_else(PoisonError::into_inner);
            shard.capacity() * (size_of::<Blob>() + 1) + shard.iter().map(Blob::memory_used).sum::<usize>()
        };
        size_of::<Self>() + self.shards.iter().map(of_shard).sum::<usize>()
    }
}
