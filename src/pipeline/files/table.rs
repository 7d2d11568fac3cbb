//! Pipelines by key while files are merged.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::UseData;
use crate::base::{Result, try_push};
use crate::pipeline::PipelineKey;

/// Keys are hashes, so their first bytes are the hash.
#[derive(Default)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    }

    // The length of the key, always the same.
    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A pipeline of a [`Table`].
#[derive(Debug)]
pub struct Row {
    /// Its key.
    pub key: PipelineKey,
    /// How it was used.
    pub uses: UseData,
    /// The last source that added to it, so that a source counts once.
    pub source: u32,
    begin: usize,
    length: usize,
}

/// Pipelines, each once, with their use data and their encoded form.
#[derive(Default)]
pub struct Table {
    index: HashMap<PipelineKey, u32, BuildHasherDefault<KeyHasher>>,
    rows: Vec<Row>,
    bytes: Vec<u8>,
}

impl Table {
    /// The pipeline of a key.
    pub fn find(&self, key: &PipelineKey) -> Option<usize> {
        self.index.get(key).map(|&at| at as usize)
    }

    /// Add a pipeline that the table does not have. On an error nothing changes.
    pub fn insert(&mut self, key: &PipelineKey, encoded: &[u8], uses: UseData, source: u32) -> Result<usize> {
        let at = self.rows.len();
        let number = u32::try_from(at).map_err(|_| crate::base::Error::OUT_OF_MEMORY)?;
        self.index.try_reserve(1)?;
        self.bytes.try_reserve(encoded.len())?;
        let begin = self.bytes.len();
        try_push(&mut self.rows, Row { key: *key, uses, source, begin, length: encoded.len() })?;
        self.bytes.extend_from_slice(encoded);
        self.index.insert(*key, number);
        Ok(at)
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
        let Row { begin, length, .. } = self.rows[at];
        &self.bytes[begin..begin + length]
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// All rows in the order of their first use, then of their keys. The order does not depend on that of insertion.
    pub fn in_order(&self) -> Result<Vec<u32>> {
        let mut order = crate::base::try_collect(0..self.rows.len() as u32)?;
        order.sort_unstable_by_key(|&at| {
            let row = &self.rows[at as usize];
            (row.uses.first_frame, row.key)
        });
        Ok(order)
    }

    /// Bytes held, without the sets of masks.
    pub fn memory_used(&self) -> usize {
        self.index.capacity() * (size_of::<PipelineKey>() + 5)
            + self.rows.capacity() * size_of::<Row>()
            + self.bytes.capacity()
    }
}
