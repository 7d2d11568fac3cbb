//! Pipelines by key while files are merged.

use super::UseData;
use crate::base::{Error, Result, fetch_ahead, try_filled, try_push};
use crate::pipeline::PipelineKey;
use crate::store::hash;

/// A pipeline of a [`Table`]. Two cache lines, because merging waits for them: the use data, and all else.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Row {
    /// Its key.
    pub key: PipelineKey,
    /// XXH3 of its encoded form.
    pub hash: u64,
    /// The last source that added to it, so that a source counts once.
    pub source: u32,
    chunk: u32,
    begin: u32,
    length: u32,
    /// The common masks that it has, which are not in the set. For a merge of recordings. At first 0.
    pub bits: u64,
    /// How it was used.
    pub uses: UseData,
}

const _: () = assert!(size_of::<Row>() == 128);

/// Encoded pipelines stand in chunks of this size, so that a table grows without copies and without room to spare. A
/// pipeline is at most [`MAX_STATE`](crate::pipeline::MAX_STATE) bytes and its shaders, so it may need a longer chunk.
const CHUNK: usize = 1 << 20;

/// Slots of the first index.
const SLOTS: usize = 64;

/// Pipelines, each once, with their use data and their encoded form.
///
/// The index is a hash table of at least twice as many slots as rows. A slot has one more than the number of a row in its
/// low bits: as many as count the slots. The other bits are a tag, from the high half of the key's first word. A slot
/// without a number is empty. Keys are hashes, so their first words are spread.
#[derive(Default)]
pub struct Table {
    slots: Vec<u32>,
    rows: Vec<Row>,
    chunks: Vec<Vec<u8>>,
}

/// The first word of a key.
fn word(key: &PipelineKey) -> u64 {
    key.0.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// The tag of a key in an index with that many slots.
fn tag(key: &PipelineKey, slots: usize) -> u32 {
    (word(key) >> 32) as u32 & !(slots.wrapping_sub(1) as u32)
}

impl Table {
    /// The first row that `is_wanted` accepts, of those with the tag of a key.
    #[inline]
    fn search(&self, key: &PipelineKey, mut is_wanted: impl FnMut(usize) -> bool) -> Option<usize> {
        let (mask, tag, mut place) = (self.slots.len().wrapping_sub(1), tag(key, self.slots.len()), word(key) as usize);
        loop {
            // An empty table has no slots.
            let slot = *self.slots.get(place & mask)?;
            let at = (slot & mask as u32).checked_sub(1)? as usize;
            if slot & !(mask as u32) == tag && is_wanted(at) {
                return Some(at);
            }
            place += 1;
        }
    }

    /// The pipeline of a key.
    #[inline(never)]
    pub fn find(&self, key: &PipelineKey) -> Option<usize> {
        self.search(key, |at| self.rows[at].key == *key)
    }

    /// [`find`](Self::find), with the answer of [`fetch_row`](Self::fetch_row) before rows were added.
    #[inline]
    pub fn find_fetched(&self, key: &PipelineKey, fetched: Option<u32>) -> Option<usize> {
        let fetched = fetched.map(|at| at as usize);
        fetched.filter(|&at| self.rows.get(at).is_some_and(|row| row.key == *key)).or_else(|| self.find(key))
    }

    /// Begin to load what [`fetch_row`](Self::fetch_row) of a key will need.
    #[inline]
    pub fn fetch_slot(&self, key: &PipelineKey) {
        if let Some(slot) = self.slots.get(word(key) as usize & self.slots.len().wrapping_sub(1)) {
            fetch_ahead(slot);
        }
    }

    /// Begin to load the row that a key has almost surely, since it has its tag. Returns its number.
    #[inline]
    pub fn fetch_row(&self, key: &PipelineKey) -> Option<u32> {
        let at = self.search(key, |_| true)?;
        if let Some(row) = self.rows.get(at) {
            fetch_ahead(&row.key);
            fetch_ahead(&row.uses);
        }
        Some(at as u32)
    }

    /// Put a row that no slot has into the first empty one. There is an empty slot.
    fn index(slots: &mut [u32], key: &PipelineKey, at: usize) {
        let (mut place, mask) = (word(key) as usize, slots.len() - 1);
        while slots[place & mask] & mask as u32 > 0 {
            place += 1;
        }
        slots[place & mask] = tag(key, slots.len()) | (at as u32 + 1);
    }

    /// Slots for one more row.
    fn reserve_slot(&mut self) -> Result<()> {
        if 2 * (self.rows.len() + 1) <= self.slots.len() {
            return Ok(());
        }
        let mut slots = try_filled(0, (2 * self.slots.len()).max(SLOTS))?;
        for (at, row) in self.rows.iter().enumerate() {
            Self::index(&mut slots, &row.key, at);
        }
        self.slots = slots;
        Ok(())
    }

    /// Add a pipeline that the table does not have. On an error nothing changes.
    pub fn insert(&mut self, key: &PipelineKey, encoded: &[u8], uses: UseData, source: u32) -> Result<usize> {
        let at = self.rows.len();
        if at == u32::MAX as usize {
            return Err(Error::OUT_OF_MEMORY);
        }
        self.reserve_slot()?;
        self.rows.try_reserve(1)?;
        let chunk = self.chunk_for(encoded.len())?;
        let (chunk, bytes) = (chunk as u32, &mut self.chunks[chunk]);
        let (begin, length) = (bytes.len() as u32, encoded.len() as u32);
        bytes.extend_from_slice(encoded);
        self.rows.push(Row { key: *key, hash: hash(encoded), source, chunk, begin, length, bits: 0, uses });
        Self::index(&mut self.slots, key, at);
        Ok(at)
    }

    /// The number of a chunk with room for `length` bytes.
    fn chunk_for(&mut self, length: usize) -> Result<usize> {
        if self.chunks.last().is_none_or(|chunk| chunk.capacity() - chunk.len() < length) {
            let mut chunk = Vec::new();
            chunk.try_reserve_exact(length.max(CHUNK))?;
            try_push(&mut self.chunks, chunk)?;
        }
        Ok(self.chunks.len() - 1)
    }

    /// A row.
    pub fn row(&self, at: usize) -> &Row {
        &self.rows[at]
    }

    /// A row, to change its use data.
    pub fn row_mut(&mut self, at: usize) -> &mut Row {
        &mut self.rows[at]
    }

    /// The encoded form of a row.
    pub fn encoded(&self, at: usize) -> &[u8] {
        let Row { chunk, begin, length, .. } = self.rows[at];
        &self.chunks[chunk as usize][begin as usize..][..length as usize]
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// All rows in the order of their first use, then of their keys. The order does not depend on that of insertion.
    pub fn in_order(&self) -> Result<Vec<u32>> {
        self.sorted(&|row| row.uses.first_frame)
    }

    /// All rows in the order of their keys.
    pub fn by_key(&self) -> Result<Vec<u32>> {
        self.sorted(&|_| 0)
    }

    /// All rows in the order of a number, then of their keys.
    fn sorted(&self, number: &dyn Fn(&Row) -> u64) -> Result<Vec<u32>> {
        // The begin of a key decides almost always, so few comparisons look at a row.
        let begin = |(row, at): (&Row, u32)| (number(row), (word(&row.key).swap_bytes() >> 32) as u32, at);
        let mut order = crate::base::try_collect(self.rows.iter().zip(0_u32..).map(begin))?;
        let key = |at: u32| &self.rows[at as usize].key;
        crate::base::sort_ranked(&mut order, &mut |one, other| key(one).cmp(key(other)));
        crate::base::try_collect(order.iter().map(|&(.., at)| at))
    }

    /// Bytes held, without the sets of masks.
    pub fn memory_used(&self) -> usize {
        self.slots.capacity() * size_of::<u32>()
            + self.rows.capacity() * size_of::<Row>()
            + self.chunks.iter().map(Vec::capacity).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys that begin at the same slot and have the same tag.
    fn alike(last: u8) -> PipelineKey {
        let mut key = PipelineKey::default();
        (key.0[0], key.0[7], key.0[31]) = (63, 9, last);
        key
    }

    #[test]
    fn find_compares_keys_with_the_same_slot_and_tag() {
        let mut table = Table::default();
        for last in 0..100 {
            assert_eq!(table.find(&alike(last)), None);
            let at = table.insert(&alike(last), &[last], UseData::default(), 1).expect("memory");
            assert_eq!(at, usize::from(last));
        }
        for last in 0..100 {
            let fetched = table.fetch_row(&alike(last));
            assert_eq!(fetched, Some(0), "the first row with the tag");
            assert_eq!(table.find_fetched(&alike(last), fetched), Some(usize::from(last)));
            assert_eq!(table.find_fetched(&alike(last), None), Some(usize::from(last)));
        }
        let fetched = table.fetch_row(&alike(100));
        assert_eq!(table.find_fetched(&alike(100), fetched), None);
    }

    #[test]
    fn empty_table_has_no_row_to_fetch() {
        let table = Table::default();
        table.fetch_slot(&alike(0));
        assert_eq!((table.fetch_row(&alike(0)), table.find_fetched(&alike(0), None)), (None, None));
    }
}
