//! A program's bytes, which are shared and never change.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::base::{Result, Shared};
use crate::program_cache::key::Key;
use crate::program_cache::program::Program;

/// A pinned view of a cached program. It is cheap to clone, and stays valid after the program is evicted, replaced or
/// removed.
#[derive(Clone, Debug)]
pub struct Blob(pub(super) Shared<RowView>);

/// Threads are divided into this number of rows, which share no cache line that a get writes. A power of two.
pub const ROWS: usize = 4;

/// The seat of an entry without one: see [`groups`](super::groups).
pub const NO_SEAT: u32 = u32::MAX;

/// A program as the threads of one row see it. Every get writes the count of owners, which is before it, and the recency.
/// So padding keeps the views of other rows off those cache lines. Alignment would do so too, but allocators are slow at
/// it.
#[derive(Debug)]
#[repr(C)]
pub struct RowView {
    pub recency: Recency,
    /// The entry's seat, or [`NO_SEAT`].
    pub seat: u32,
    /// Whether the seat is in the row's log of reads.
    pub is_logged: AtomicBool,
    stored: Shared<Stored>,
    _padding: [u8; 64],
}

/// The alignment of data and reflection. Vulkan requires it of a shader's binary, and hosts keep structs in reflections.
pub const ALIGNMENT: usize = 16;

/// A program's bytes, which all rows read.
#[derive(Debug)]
pub struct Stored {
    key: Key,
    /// From `start` on: data, zeros up to a multiple of [`ALIGNMENT`], stages, reflection.
    bytes: Vec<u8>,
    start: usize,
    data_len: usize,
    stages_len: usize,
    format: u32,
    pub group: u32,
    cost_us: u64,
    /// The number of the put in this cache.
    pub serial: u64,
}

/// The last use of an entry by the threads of a row, and their number of uses. Readers write it without a lock. If two
/// threads of a row meet, one use may be lost, which only makes eviction a little less exact.
#[derive(Debug, Default)]
pub struct Recency {
    stamp: AtomicU64,
    /// The bits of a double.
    age: AtomicU64,
    uses: AtomicU32,
    group: AtomicU32,
}

impl Recency {
    /// Record a use. Plain stores: a locked instruction costs more than a use that two threads count as one.
    pub fn touch(&self, stamp: u64, age: u64) {
        self.stamp.store(stamp, Relaxed);
        self.uses.store(self.uses.load(Relaxed).saturating_add(1), Relaxed);
        self.age.store(age, Relaxed);
    }

    /// Record the group of a use.
    pub fn set_group(&self, group: u32) {
        self.group.store(group, Relaxed);
    }
}

impl Stored {
    /// A copy of everything that `program` points to.
    pub fn copy(key: &Key, program: &Program<'_>) -> Result<Self> {
        let stages = program.stages.as_flattened();
        let padding = &[0; ALIGNMENT][..program.data.len().wrapping_neg() % ALIGNMENT];
        let parts = [program.data, padding, stages, program.reflection];
        let mut bytes = Vec::<u8>::new();
        bytes.try_reserve_exact(parts.iter().fold(ALIGNMENT - 1, |sum, part| sum.saturating_add(part.len())))?;
        let start = bytes.as_ptr().addr().wrapping_neg() % ALIGNMENT;
        bytes.resize(start, 0);
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
        Ok(Self {
            key: *key,
            bytes,
            start,
            data_len: program.data.len(),
            stages_len: stages.len(),
            format: program.format,
            group: program.group,
            cost_us: program.cost_us,
            serial: 0,
        })
    }
}

/// A program in the cache: the view of each row.
#[derive(Clone, Debug)]
pub struct Entry(pub [Blob; ROWS]);

impl Entry {
    /// Share a program with all rows.
    pub fn share(stored: Stored, seat: u32) -> Result<Self> {
        let group = stored.group;
        let stored = Shared::try_new(stored)?;
        let view = || {
            let recency = Recency { group: AtomicU32::new(group), ..Recency::default() };
            let (stored, is_logged) = (stored.clone(), AtomicBool::new(false));
            Shared::try_new(RowView { recency, seat, is_logged, stored, _padding: [0; 64] }).map(Blob)
        };
        Ok(Self([view()?, view()?, view()?, view()?]))
    }

    /// Bytes beside those of the program, with the counts of owners.
    const SIZE: usize =
        ROWS * (size_of::<RowView>() + 2 * size_of::<usize>()) + size_of::<Stored>() + 2 * size_of::<usize>();

    /// The view of any row.
    pub fn blob(&self) -> &Blob {
        &self.0[0]
    }

    /// Its seat, or [`NO_SEAT`].
    pub fn seat(&self) -> u32 {
        self.blob().0.seat
    }

    /// Record the put: its stamp, the age of the cost-aware policy, and earlier uses that the policy remembers.
    pub fn start(&self, stamp: u64, age: f64, uses: u32) {
        let recency = &self.blob().0.recency;
        recency.uses.store(uses, Relaxed);
        recency.touch(stamp, age.to_bits());
    }

    /// The stamp of the last use; 0 if it was loaded and never used.
    pub fn stamp(&self) -> u64 {
        self.latest().stamp.load(Relaxed)
    }

    /// The group of the last use.
    pub fn group(&self) -> u32 {
        self.latest().group.load(Relaxed)
    }

    /// The number of uses.
    pub fn uses(&self) -> u32 {
        self.0.iter().map(|blob| blob.0.recency.uses.load(Relaxed)).fold(0, u32::saturating_add)
    }

    /// The age of the cost-aware policy at the last use.
    pub fn last_use(&self) -> f64 {
        // Non-negative doubles sort as their bits do.
        let bits = self.0.iter().map(|blob| blob.0.recency.age.load(Relaxed)).fold(0, u64::max);
        f64::from_bits(bits)
    }

    /// The recency of the row with the last use; of the first row before any use.
    fn latest(&self) -> &Recency {
        let stamp = |row: &Recency| row.stamp.load(Relaxed);
        let later = |latest, row| if stamp(row) > stamp(latest) { row } else { latest };
        self.0.iter().map(|blob| &blob.0.recency).fold(&self.blob().0.recency, later)
    }

    /// Bytes that it holds.
    pub fn memory_used(&self) -> usize {
        self.blob().memory_used() as usize + Self::SIZE
    }
}

impl Blob {
    /// Let the row's next read log the seat again.
    pub(super) fn allow_log(&self) {
        self.0.is_logged.store(false, Relaxed);
    }

    /// The key under which it was put.
    pub fn key(&self) -> &Key {
        &self.0.stored.key
    }

    /// The number of bytes that were put: data, keys of shaders, reflection. At least 1, so that every limit bounds the
    /// number of programs.
    pub fn size(&self) -> u64 {
        (self.data().len() + self.0.stored.stages_len + self.reflection().len()).max(1) as u64
    }

    /// Bytes that it holds for the program, with alignment.
    pub fn memory_used(&self) -> u64 {
        self.0.stored.bytes.capacity() as u64
    }

    /// The driver's name for the format of the data.
    pub fn format(&self) -> u32 {
        self.0.stored.format
    }

    /// The program binary, at a multiple of 16 bytes.
    pub fn data(&self) -> &[u8] {
        &self.bytes()[..self.0.stored.data_len]
    }

    /// The host's bytes that were put with it, at a multiple of 16 bytes.
    pub fn reflection(&self) -> &[u8] {
        &self.after_data()[self.0.stored.stages_len..]
    }

    /// Keys of the shaders that it was linked from.
    pub fn stages(&self) -> &[Key] {
        self.after_data()[..self.0.stored.stages_len].as_chunks().0
    }

    fn after_data(&self) -> &[u8] {
        &self.bytes()[self.0.stored.data_len.next_multiple_of(ALIGNMENT)..]
    }

    fn bytes(&self) -> &[u8] {
        &self.0.stored.bytes[self.0.stored.start..]
    }

    /// Build time in microseconds.
    pub fn cost_us(&self) -> u64 {
        self.0.stored.cost_us
    }

    /// The group of the put.
    pub fn group(&self) -> u32 {
        self.0.stored.group
    }

    /// The number of its put in this cache: of two blobs with the same key, the one with the greater number is newer.
    pub fn serial(&self) -> u64 {
        self.0.stored.serial
    }

    /// The program, to be put again.
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
}
