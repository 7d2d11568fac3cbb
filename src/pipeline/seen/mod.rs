//! The pipelines that are known, and how often each is used. Render threads ask for every draw.
//!
//! A question takes no lock and writes no memory that another thread reads. Keys live in a hash table of atomics. A full
//! table is replaced by a larger one, and the old one stays for readers that are still in it. All old tables together are
//! smaller than the current one. Counts of uses stand in rows. The first threads have a row each. The others share rows, and
//! count with an atomic exchange: in a call through C it takes 10 ns, since it waits for all writes before it.
//!
//! Invariants:
//! 1. An index never changes its key, and a key never leaves.
//! 2. A find after an insert on the same thread, or after one that happened before, finds the key.
//! 3. Finds and counts allocate nothing and take a bounded number of steps: at least half of the slots are empty.
//!
//! Keys are hashes that the library computes from descriptions, so their first word needs no further mixing.
//!
//! | file | content |
//! |---|---|
//! | `table` | [`KeyTable`]: the index of a key |
//! | `grown` | [`Grown`]: a list that grows while it is read |

mod grown;
mod table;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::PipelineKey;
use crate::base::{Apart, Result};
pub use grown::{Grown, Place};
pub use table::KeyTable;

/// Rows of counts. As many threads count without sharing cache lines.
const ROWS: usize = 8;
/// Rows that one thread alone writes: that with the same number.
const OWN_ROWS: usize = 4;
/// Counts of a cache line and its neighbour.
const BLOCK: usize = 32;
/// A count stops here. The distance to the largest number is more than the threads that can add at the same time.
const MOST_USES: u32 = u32::MAX - (1 << 16);

type Row = Grown<Apart<[AtomicU32; BLOCK]>, BLOCK>;

/// How often each pipeline was used, by index. All methods may be called from any thread at any time.
#[derive(Default)]
pub struct UseCounts {
    rows: [Row; ROWS],
}

impl UseCounts {
    /// Count a use by the thread with this number: see [`thread_number`](crate::base::thread_number). Returns true for the
    /// first use in the thread's row, so that the first use of all is among them.
    #[inline]
    pub fn note_use(&self, place: Place, thread: usize) -> bool {
        if thread >= OWN_ROWS {
            return self.note_shared_use(place.index, thread);
        }
        let Some(count) = count(&self.rows[thread], place) else { return false };
        let uses = count.load(Relaxed);
        if uses < MOST_USES {
            count.store(uses + 1, Relaxed);
        }
        uses == 0
    }

    #[cold]
    #[inline(never)]
    fn note_shared_use(&self, index: u32, thread: usize) -> bool {
        let row = OWN_ROWS + thread % (ROWS - OWN_ROWS);
        count(&self.rows[row], Place::of(index))
            .is_some_and(|count| count.load(Relaxed) < MOST_USES && count.fetch_add(1, Relaxed) == 0)
    }

    /// Make room for the first `indices`. Uses of later ones are not counted.
    pub fn reserve(&self, indices: usize) -> Result<()> {
        self.rows.iter().try_for_each(|row| row.reserve(indices))
    }

    /// The uses on all threads so far.
    pub fn uses(&self, index: u32) -> u64 {
        self.rows
            .iter()
            .filter_map(|row| count(row, Place::of(index)))
            .map(|count| u64::from(count.load(Relaxed)))
            .sum()
    }

    /// Bytes on the heap.
    pub fn memory_used(&self) -> usize {
        self.rows.iter().map(Grown::memory_used).sum()
    }
}

/// The table of known pipelines. All methods may be called from any thread at any time.
#[derive(Default)]
pub struct Seen {
    table: KeyTable,
    counts: UseCounts,
}

impl Seen {
    /// The index of a pipeline, if it is known.
    #[inline]
    pub fn find(&self, key: &PipelineKey) -> Option<u32> {
        self.table.find(key)
    }

    /// Count a use of a pipeline. True for the first use in the thread's row.
    #[inline]
    pub fn note_use(&self, index: u32, thread: usize) -> bool {
        self.counts.note_use(Place::of(index), thread)
    }

    /// Insert a pipeline. Returns its index, and whether it is new. On an error nothing changes.
    pub fn insert(&self, key: &PipelineKey) -> Result<(u32, bool)> {
        let found = self.find(key).map(|index| (index, false));
        if let Some(found) = found {
            return Ok(found);
        }
        // Threads that insert at the same time may need a count each.
        self.counts.reserve(self.len() + 2 * BLOCK)?;
        let (index, is_new) = self.table.insert(key)?;
        if is_new {
            // More threads may have inserted meanwhile than were reserved for. Then uses of this one are counted later.
            _ = self.counts.reserve(index as usize + 1);
        }
        Ok((index, is_new))
    }

    /// Make room for `more` pipelines, so that inserting them allocates nothing.
    pub fn reserve(&self, more: usize) -> Result<()> {
        self.counts.reserve(self.len() + more + 2 * BLOCK)?;
        self.table.reserve(more)
    }

    /// The uses of a pipeline on all threads so far.
    pub fn uses(&self, index: u32) -> u64 {
        self.counts.uses(index)
    }

    /// The key of an index.
    pub fn key(&self, index: u32) -> Option<PipelineKey> {
        self.table.key(index)
    }

    /// Number of pipelines.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether no pipeline is known.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        size_of::<Self>() + self.table.memory_used() + self.counts.memory_used()
    }
}

#[inline(always)]
fn count(row: &Row, place: Place) -> Option<&AtomicU32> {
    Some(&row.at(place)?.0[place.index as usize % BLOCK])
}
