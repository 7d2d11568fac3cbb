//! Finds the index of a key.

use std::hint::select_unpredictable;
use std::sync::atomic::{
    AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::grown::{Grown, Place};
use crate::base::{Error, Result, error};
use crate::pipeline::PipelineKey;

/// Slots of the first table. Each one holds twice as many as the one before.
const FIRST: usize = 64;
/// Tables for 2^31 keys at a load of one half.
const LEVELS: usize = 27;

/// The words of a key, in one cache line.
#[derive(Default)]
#[repr(align(32))]
struct Words([AtomicU64; 4]);

/// A word of a key, from 0 to 3.
#[inline(always)]
fn word(key: &PipelineKey, at: usize) -> u64 {
    u64::from_le_bytes(key.0.as_chunks().0[at])
}

/// The tag of a key in a table of `mask + 1` slots: the bits of a slot that no index needs.
#[inline(always)]
fn tag(key: &PipelineKey, mask: usize) -> u32 {
    (word(key, 0) >> 32) as u32 & !(mask as u32)
}

fn slot_of(key: &PipelineKey, index: u32, mask: usize) -> u32 {
    tag(key, mask) | (index + 1)
}

/// Keys and their indices: numbers from 0 in the order of insertion. A key stays forever.
///
/// At most half of the slots are in use. The low bits of a slot are one more than the index of a key: as many bits as number
/// the slots. The other bits are a tag, from the high half of the key's first word. A slot without an index is empty. Tables
/// are replaced by larger ones. A reader of an old table misses only keys that were inserted after it began.
#[derive(Default)]
pub struct KeyTable {
    tables: [OnceLock<Vec<AtomicU32>>; LEVELS],
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
        self.find_here(key).map(|place| place.index)
    }

    /// The place of a key, compiled into its caller: for the calls of a frame.
    ///
    /// Nearly all keys are in one of their first two slots. The choice between them is no branch, because a processor
    /// cannot predict it: after a wrong guess it begins the next look-ups anew. The loop over further slots is a function
    /// of its own, because its registers would cost every caller more.
    #[inline(always)]
    pub fn find_here(&self, key: &PipelineKey) -> Option<Place> {
        let slots = self.tables.get(self.level1.load(Acquire).wrapping_sub(1))?.get()?;
        let (at, mask) = (word(key, 0) as usize, slots.len().wrapping_sub(1));
        let [one, other] = [slots.get(at & mask)?.load(Acquire), slots.get(at.wrapping_add(1) & mask)?.load(Acquire)];
        let tag = tag(key, mask);
        let has_tag = |slot: u32| slot & !(mask as u32) == tag;
        // If the first slot is empty, the second one may still have got the key meanwhile.
        let slot = select_unpredictable(has_tag(one), one, other);
        let place = Place::of((slot & mask as u32).checked_sub(1)?);
        if has_tag(slot) && self.is_key(place, key) {
            return Some(place);
        }
        self.find_further(key).map(Place::of)
    }

    #[cold]
    #[inline(never)]
    fn find_further(&self, key: &PipelineKey) -> Option<u32> {
        let slots = self.tables.get(self.level1.load(Acquire).wrapping_sub(1))?.get()?;
        self.find_in(slots, key).ok().map(|place| place.index)
    }

    /// The place of a key, or the empty slot for it.
    fn find_in(&self, slots: &[AtomicU32], key: &PipelineKey) -> std::result::Result<Place, usize> {
        let (mut at, mask) = (word(key, 0) as usize, slots.len() - 1);
        let tag = tag(key, mask);
        loop {
            at &= mask;
            let slot = slots[at].load(Acquire);
            let Some(index) = (slot & mask as u32).checked_sub(1) else { return Err(at) };
            let place = Place::of(index);
            if slot & !(mask as u32) == tag && self.is_key(place, key) {
                return Ok(place);
            }
            at += 1;
        }
    }

    /// Word by word: an array that is compared as a whole goes through memory, which took 3 ns more.
    #[inline(always)]
    fn is_key(&self, place: Place, key: &PipelineKey) -> bool {
        let is_equal = |words: &Words| (0..4).all(|at| words.0[at].load(Relaxed) == word(key, at));
        self.keys.at(place).is_some_and(is_equal)
    }

    fn key_at(&self, index: u32) -> Option<PipelineKey> {
        let (words, mut key) = (self.keys.get(index)?, PipelineKey::default());
        let bytes = words.0.each_ref().map(|word| word.load(Relaxed).to_le_bytes());
        key.0.copy_from_slice(bytes.as_flattened());
        Some(key)
    }

    /// Insert a key. Returns its index, and whether it is new. On an error nothing changes.
    pub fn insert(&self, key: &PipelineKey) -> Result<(u32, bool)> {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let slots = self.table_for(*count + 1, *count)?;
        let at = match self.find_in(slots, key) {
            Ok(place) => return Ok((place.index, false)),
            Err(at) => at,
        };
        let index1 = u32::try_from(*count + 1)
            .map_err(|_| error!(LimitExceeded, "there are 2^32 pipelines already: no more can be added"))?;
        self.keys.reserve(*count + 1)?;
        let Some(place) = self.keys.get(index1 - 1) else { return Err(Error::OUT_OF_MEMORY) };
        place.0.iter().enumerate().for_each(|(at, place)| place.store(word(key, at), Relaxed));
        slots[at].store(slot_of(key, index1 - 1, slots.len() - 1), Release);
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
    fn table_for(&self, wanted: usize, count: usize) -> Result<&[AtomicU32]> {
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
        let mut slots = Vec::new();
        slots.try_reserve_exact(FIRST << level)?;
        slots.resize_with(FIRST << level, AtomicU32::default);
        for index in 0..count as u32 {
            let key = self.key_at(index).unwrap_or_default();
            if let Err(at) = self.find_in(&slots, &key) {
                slots[at].store(slot_of(&key, index, slots.len() - 1), Relaxed);
            }
        }
        let slots = table.get_or_init(|| slots);
        self.level1.store(level + 1, Release);
        Ok(slots)
    }

    /// The key of an index.
    pub fn key(&self, index: u32) -> Option<PipelineKey> {
        if (index as usize) < self.len() { self.key_at(index) } else { None }
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes on the heap.
    pub fn memory_used(&self) -> usize {
        let tables = self.tables.iter().filter_map(OnceLock::get).map(|slots| size_of_val(&slots[..])).sum::<usize>();
        tables + self.keys.memory_used()
    }
}
