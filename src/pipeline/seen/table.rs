//! Finds the index of a key.

use std::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::grown::Grown;
use crate::base::{Error, Result, error, try_collect};
use crate::pipeline::PipelineKey;

/// Slots of the first table. Each one holds twice as many as the one before.
const FIRST: usize = 64;
/// Tables for 2^31 keys at a load of one half.
const LEVELS: usize = 27;

/// The words of a key, in one cache line.
#[derive(Default)]
#[repr(align(32))]
struct Words([AtomicU64; 4]);

/// The words of a key.
fn words(key: &PipelineKey) -> [u64; 4] {
    let (words, _) = key.0.as_chunks();
    std::array::from_fn(|at| u64::from_le_bytes(words[at]))
}

/// Keys and their indices: numbers from 0 in the order of insertion. A key stays forever.
///
/// A slot is the high half of a key's first word, and one more than its index; 0 is an empty slot. Tables are replaced by
/// larger ones. A reader of an old table misses only keys that were inserted after it began.
#[derive(Default)]
pub struct KeyTable {
    tables: [OnceLock<Vec<AtomicU64>>; LEVELS],
    /// One more than the level of the current table; 0 before the first insert.
    level1: AtomicUsize,
    keys: Grown<Words>,
    /// Number of keys. Held by the thread that inserts.
    count: Mutex<usize>,
}

impl KeyTable {
    /// The index of a key. Takes no lock. Compiled once: it has many callers.
    #[inline(never)]
    pub fn find(&self, key: &PipelineKey) -> Option<u32> {
        self.find_here(key)
    }

    /// [`find`](Self::find), compiled into its caller: for the calls of a frame.
    #[inline(always)]
    pub fn find_here(&self, key: &PipelineKey) -> Option<u32> {
        let words = words(key);
        let slots = self.tables.get(self.level1.load(Acquire).wrapping_sub(1))?.get()?;
        self.find_in(slots, &words).ok()
    }

    /// The index of a key, or the empty slot for it.
    #[inline]
    fn find_in(&self, slots: &[AtomicU64], words: &[u64; 4]) -> std::result::Result<u32, usize> {
        let mut at = words[0] as usize;
        loop {
            at &= slots.len() - 1;
            let slot = slots[at].load(Acquire);
            let Some(index) = (slot as u32).checked_sub(1) else { return Err(at) };
            if slot >> 32 == words[0] >> 32 && self.is_key(index, words) {
                return Ok(index);
            }
            at += 1;
        }
    }

    /// Word by word: an array that is compared as a whole goes through memory, which took 3 ns more.
    #[inline]
    fn is_key(&self, index: u32, words: &[u64; 4]) -> bool {
        let differences =
            |key: &Words| key.0.iter().zip(words).fold(0, |all, (own, word)| all | (own.load(Relaxed) ^ word));
        self.keys.get(index as usize).is_some_and(|key| differences(key) == 0)
    }

    fn words_at(&self, index: u32) -> Option<[u64; 4]> {
        let key = self.keys.get(index as usize)?;
        Some(std::array::from_fn(|at| key.0[at].load(Relaxed)))
    }

    /// Insert a key. Returns its index, and whether it is new. On an error nothing changes.
    pub fn insert(&self, key: &PipelineKey) -> Result<(u32, bool)> {
        let words = words(key);
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let slots = self.table_for(*count + 1, *count)?;
        let at = match self.find_in(slots, &words) {
            Ok(index) => return Ok((index, false)),
            Err(at) => at,
        };
        let index1 = u32::try_from(*count + 1)
            .map_err(|_| error!(LimitExceeded, "there are 2^32 pipelines already: no more can be added"))?;
        self.keys.reserve(*count + 1)?;
        let Some(place) = self.keys.get(*count) else { return Err(Error::OUT_OF_MEMORY) };
        place.0.iter().zip(words).for_each(|(place, word)| place.store(word, Relaxed));
        slots[at].store(words[0] >> 32 << 32 | u64::from(index1), Release);
        *count += 1;
        Ok((index1 - 1, true))
    }

    /// Make room for `more` keys, so that as many inserts cannot fail.
    pub fn reserve(&self, more: usize) -> Result<()> {
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = count.saturating_add(more);
        self.keys.reserve(wanted)?;
        self.table_for(wanted.max(1), *count).map(|_| ())
    }

    /// The current table, or a larger one that was filled with `count` keys and published. It has room for `wanted` keys.
    fn table_for(&self, wanted: usize, count: usize) -> Result<&[AtomicU64]> {
        let current = self.level1.load(Relaxed);
        let level = (wanted.saturating_mul(2).div_ceil(FIRST).checked_next_power_of_two())
            .map_or(LEVELS, |tables| tables.ilog2() as usize)
            .max(current.saturating_sub(1));
        let Some(table) = self.tables.get(level) else {
            return Err(error!(LimitExceeded, "{wanted} pipelines are too many: add at most 2^31"));
        };
        if let Some(slots) = table.get() {
            return Ok(slots);
        }
        let slots = try_collect((0..FIRST << level).map(|_| AtomicU64::new(0)))?;
        for index in 0..count as u32 {
            let words = self.words_at(index).unwrap_or_default();
            if let Err(at) = self.find_in(&slots, &words) {
                slots[at].store(words[0] >> 32 << 32 | u64::from(index + 1), Relaxed);
            }
        }
        let slots = table.get_or_init(|| slots);
        self.level1.store(level + 1, Release);
        Ok(slots)
    }

    /// The key of an index.
    pub fn key(&self, index: u32) -> Option<PipelineKey> {
        if index as usize >= self.len() {
            return None;
        }
        let mut key = PipelineKey::default();
        let bytes = self.words_at(index)?.map(u64::to_le_bytes);
        key.0.copy_from_slice(bytes.as_flattened());
        Some(key)
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes on the heap.
    pub fn memory_used(&self) -> usize {
        let tables = self.tables.iter().filter_map(OnceLock::get).map(|slots| slots.capacity() * 8).sum::<usize>();
        tables + self.keys.memory_used()
    }
}
