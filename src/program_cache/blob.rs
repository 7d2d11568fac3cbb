//! One program's bytes, shared and never changed.

use std::borrow::Borrow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use super::Key;
use crate::base::Result;

/// A program to be kept.
#[derive(Clone, Copy, Debug, Default)]
pub struct Program<'a> {
    /// The driver's name for the format of `data` (`GLenum binaryFormat`, say); the cache only keeps it.
    pub format: u32,
    /// The program binary.
    pub data: &'a [u8],
    /// Attribute, uniform and varying maps, or whatever else the host wants back with the binary.
    pub reflection: &'a [u8],
    /// Keys of the shaders that it was linked from.
    pub stages: &'a [Key],
    /// What it cost to build, in microseconds; the cost-aware policy takes 0 for 1.
    pub cost_us: u64,
    /// The page, level or material that it belongs to; only the policy by groups looks at it.
    pub group: u32,
}

/// A pinned view of a program in the cache: cheap to clone, and valid for as long as it is held, also after the program
/// was evicted, replaced or removed.
#[derive(Clone, Debug)]
pub struct Blob(pub(super) Arc<Stored>);

#[derive(Debug)]
pub(super) struct Stored {
    key: Key,
    /// Data, stages, reflection, in this order: what the driver reads begins where the allocator aligned it.
    bytes: Vec<u8>,
    data_len: usize,
    stages_len: usize,
    format: u32,
    group: u32,
    cost_us: u64,
    /// Which put of this cache it came from.
    pub serial: u64,
    pub recency: Recency,
}

/// How lately and how often an entry was used. Written by readers without a lock; each of these may be a little behind
/// when threads meet, which costs a little in the order of eviction and nothing else.
#[derive(Debug, Default)]
pub(super) struct Recency {
    stamp: AtomicU64,
    uses: AtomicU32,
    floor: AtomicU64,
}

impl Recency {
    pub fn first(stamp: u64, floor: u64) -> Self {
        Self { stamp: AtomicU64::new(stamp), uses: AtomicU32::new(1), floor: AtomicU64::new(floor) }
    }

    /// Used again. Plain stores: a locked instruction would cost more than a use that two threads count as one.
    #[inline]
    pub fn touch(&self, stamp: u64, floor: u64) {
        self.stamp.store(stamp, Relaxed);
        self.uses.store(self.uses.load(Relaxed).saturating_add(1), Relaxed);
        self.floor.store(floor, Relaxed);
    }

    /// Not used, but the cost-aware policy has come further since it was made.
    pub fn raise(&self, floor: u64) {
        self.floor.store(floor, Relaxed);
    }

    pub fn stamp(&self) -> u64 {
        self.stamp.load(Relaxed)
    }

    pub fn uses(&self) -> u32 {
        self.uses.load(Relaxed)
    }

    /// The bits of the double that the cost-aware policy had come to at the last use.
    pub fn floor(&self) -> u64 {
        self.floor.load(Relaxed)
    }
}

impl Stored {
    /// A copy of all that `program` points to.
    pub fn copy(key: &Key, program: &Program<'_>) -> Result<Self> {
        let stages = program.stages.as_flattened();
        let parts = [program.data, stages, program.reflection];
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(parts.iter().fold(0, |sum: usize, part| sum.saturating_add(part.len())))?;
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
        Ok(Self {
            key: *key,
            bytes,
            data_len: program.data.len(),
            stages_len: stages.len(),
            format: program.format,
            group: program.group,
            cost_us: program.cost_us,
            serial: 0,
            recency: Recency::default(),
        })
    }
}

impl Blob {
    /// Share `stored`. The standard library's `Arc` cannot fail to find memory without ending the process; that so much
    /// could just be had is as near to a result as one gets.
    pub(super) fn share(stored: Stored) -> Result<Self> {
        let mut probe = Vec::<[usize; 2 + size_of::<Stored>() / size_of::<usize>()]>::new();
        probe.try_reserve_exact(1)?;
        drop(probe);
        Ok(Self(Arc::new(stored)))
    }

    /// The key under which it was put.
    pub fn key(&self) -> &Key {
        &self.0.key
    }

    /// The driver's name for the format of the data.
    pub fn format(&self) -> u32 {
        self.0.format
    }

    /// The program binary.
    pub fn data(&self) -> &[u8] {
        &self.0.bytes[..self.0.data_len]
    }

    /// What the host gave with it.
    pub fn reflection(&self) -> &[u8] {
        &self.0.bytes[self.0.data_len + self.0.stages_len..]
    }

    /// Keys of the shaders that it was linked from.
    pub fn stages(&self) -> &[Key] {
        let bytes = &self.0.bytes[self.0.data_len..][..self.0.stages_len];
        bytes.as_chunks().0
    }

    /// What it cost to build, in microseconds.
    pub fn cost_us(&self) -> u64 {
        self.0.cost_us
    }

    /// The group that it was put with.
    pub fn group(&self) -> u32 {
        self.0.group
    }

    /// Grows with each put of this cache: of two blobs with the same key, the one with the greater serial is the newer.
    pub fn serial(&self) -> u64 {
        self.0.serial
    }

    /// All of it as it could be put again.
    pub fn program(&self) -> Program<'_> {
        Program {
            format: self.format(),
            data: self.data(),
            reflection: self.reflection(),
            stages: self.stages(),
            cost_us: self.cost_us(),
            group: self.group(),
        }
    }

    /// Bytes that it holds.
    pub(super) fn memory_used(&self) -> usize {
        self.0.bytes.capacity() + size_of::<Stored>() + 2 * size_of::<usize>()
    }
}

// In the table a blob stands for its key.

impl Borrow<Key> for Blob {
    fn borrow(&self) -> &Key {
        &self.0.key
    }
}

impl Hash for Blob {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.key.hash(state);
    }
}

impl PartialEq for Blob {
    fn eq(&self, other: &Self) -> bool {
        self.0.key == other.0.key
    }
}

impl Eq for Blob {}
