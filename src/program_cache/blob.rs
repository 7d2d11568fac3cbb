//! One program's bytes, shared and never changed.

use std::array;
use std::borrow::Borrow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use super::Key;
use super::notes::Seat;
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
pub struct Blob(pub(super) Arc<Seated>);

/// Threads that get programs sit in so many rows, which share nothing that they write. A power of two.
pub(super) const ROWS: usize = 4;

/// A program as the threads of one row see it. How often it is pinned, which is before it, and when it was used are
/// written by every get; so the next row's is kept off their cache lines. Not by aligning them, for which allocators take
/// their time.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Seated {
    pub recency: Recency,
    /// If the policy wants to be told that it is used.
    pub seat: Option<Arc<Seat>>,
    stored: Arc<Stored>,
    key: Key,
    _apart: [u8; 40],
}

/// What the driver and the host read begins at a multiple of so many bytes: Vulkan wants that of a shader's binary, and a
/// host may keep structs in the reflection.
pub(super) const ALIGNMENT: usize = 16;

/// A program's bytes, which all rows read.
#[derive(Debug)]
pub(super) struct Stored {
    /// From `start` on data, zeros up to a multiple of [`ALIGNMENT`], stages, reflection, in this order.
    bytes: Vec<u8>,
    start: usize,
    data_len: usize,
    stages_len: usize,
    format: u32,
    pub group: u32,
    cost_us: u64,
    /// Which put of this cache it came from.
    pub serial: u64,
}

/// How lately and how often an entry was used. Written by readers without a lock; each of these may be a little behind
/// when threads of a row meet, which costs a little in the order of eviction and nothing else.
#[derive(Debug, Default)]
pub(super) struct Recency {
    stamp: AtomicU64,
    uses: AtomicU32,
    /// The bits of a double.
    age: AtomicU64,
}

impl Recency {
    /// Used again. Plain stores: a locked instruction would cost more than a use that two threads count as one.
    pub fn touch(&self, stamp: u64, age: u64) {
        self.stamp.store(stamp, Relaxed);
        self.uses.store(self.uses.load(Relaxed).saturating_add(1), Relaxed);
        self.age.store(age, Relaxed);
    }
}

impl Stored {
    /// A copy of all that `program` points to.
    pub fn copy(program: &Program<'_>) -> Result<Self> {
        let stages = program.stages.as_flattened();
        let padding = &[0; ALIGNMENT][..program.data.len().wrapping_neg() % ALIGNMENT];
        let parts = [program.data, padding, stages, program.reflection];
        let mut bytes = Vec::<u8>::new();
        bytes.try_reserve_exact(parts.iter().fold(ALIGNMENT - 1, |sum, part| sum.saturating_add(part.len())))?;
        let start = bytes.as_ptr().addr().wrapping_neg() % ALIGNMENT;
        bytes.resize(start, 0);
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
        Ok(Self {
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

/// A program in the cache: what each row sees of it.
#[derive(Clone, Debug)]
pub(super) struct Entry(pub [Blob; ROWS]);

impl Entry {
    /// Share `stored` with all rows, under `key`. The standard library's `Arc` cannot fail to find memory without ending
    /// the process; that so much could just be had is as near to a result as one gets.
    pub fn share(key: &Key, stored: Stored, seat: Option<Arc<Seat>>) -> Result<Self> {
        let mut probe = Vec::<u8>::new();
        probe.try_reserve_exact(Self::SIZE)?;
        drop(probe);
        let stored = Arc::new(stored);
        let seated = || Seated {
            recency: Recency::default(),
            seat: seat.clone(),
            stored: Arc::clone(&stored),
            key: *key,
            _apart: [0; 40],
        };
        Ok(Self(array::from_fn(|_| Blob(Arc::new(seated())))))
    }

    /// Bytes beside those of the program; before what an `Arc` shares are two counts.
    const SIZE: usize =
        ROWS * (size_of::<Seated>() + 2 * size_of::<usize>()) + size_of::<Stored>() + 2 * size_of::<usize>();

    /// Any view of it.
    pub fn blob(&self) -> &Blob {
        &self.0[0]
    }

    /// Where it sits, if the policy wants to be told that it is used.
    pub fn seat(&self) -> Option<&Seat> {
        self.blob().0.seat.as_deref()
    }

    /// Put when `stamp` was given and the cost-aware policy was of this age, after so many uses before it last went.
    pub fn came(&self, stamp: u64, age: f64, uses: u32) {
        let recency = &self.blob().0.recency;
        recency.uses.store(uses, Relaxed);
        recency.touch(stamp, age.to_bits());
    }

    /// The stamp of the last use; 0 if it was loaded and never used.
    pub fn stamp(&self) -> u64 {
        self.latest(|recency| recency.stamp.load(Relaxed))
    }

    /// How often it was used.
    pub fn uses(&self) -> u32 {
        self.0.iter().map(|blob| blob.0.recency.uses.load(Relaxed)).fold(0, u32::saturating_add)
    }

    /// The age of the cost-aware policy at the last use.
    pub fn last_use(&self) -> f64 {
        // Doubles that are not negative are ordered as their bits are.
        f64::from_bits(self.latest(|recency| recency.age.load(Relaxed)))
    }

    fn latest(&self, of: impl Fn(&Recency) -> u64) -> u64 {
        self.0.iter().map(|blob| of(&blob.0.recency)).fold(0, u64::max)
    }

    /// Bytes that it holds.
    pub fn memory_used(&self) -> usize {
        self.blob().memory_used() as usize + Self::SIZE
    }
}

impl Blob {
    /// The key under which it was put.
    pub fn key(&self) -> &Key {
        &self.0.key
    }

    /// Bytes that were put: data, keys of shaders, reflection. One at least, so that no limit has room for any number.
    pub fn size(&self) -> u64 {
        (self.data().len() + self.0.stored.stages_len + self.reflection().len()).max(1) as u64
    }

    /// Bytes that are held for them, aligned as they are.
    pub fn memory_used(&self) -> u64 {
        self.0.stored.bytes.capacity() as u64
    }

    /// Whether no row has it any more.
    pub(super) fn is_evicted(&self) -> bool {
        Arc::strong_count(&self.0.stored) == 1
    }

    /// The driver's name for the format of the data.
    pub fn format(&self) -> u32 {
        self.0.stored.format
    }

    /// The program binary; at a multiple of 16 bytes.
    pub fn data(&self) -> &[u8] {
        &self.kept()[..self.0.stored.data_len]
    }

    /// What the host gave with it; at a multiple of 16 bytes.
    pub fn reflection(&self) -> &[u8] {
        &self.behind_data()[self.0.stored.stages_len..]
    }

    /// Keys of the shaders that it was linked from.
    pub fn stages(&self) -> &[Key] {
        self.behind_data()[..self.0.stored.stages_len].as_chunks().0
    }

    fn behind_data(&self) -> &[u8] {
        &self.kept()[self.0.stored.data_len.next_multiple_of(ALIGNMENT)..]
    }

    fn kept(&self) -> &[u8] {
        &self.0.stored.bytes[self.0.stored.start..]
    }

    /// What it cost to build, in microseconds.
    pub fn cost_us(&self) -> u64 {
        self.0.stored.cost_us
    }

    /// The group that it was put with.
    pub fn group(&self) -> u32 {
        self.0.stored.group
    }

    /// Grows with each put of this cache: of two blobs with the same key, the one with the greater serial is the newer.
    pub fn serial(&self) -> u64 {
        self.0.stored.serial
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
}

// In a table, blobs and entries stand for their keys.

macro_rules! stand_for_key {
    ($type:ty, $self:ident => $key:expr) => {
        impl Borrow<Key> for $type {
            fn borrow(&$self) -> &Key {
                $key
            }
        }

        impl Hash for $type {
            fn hash<H: Hasher>(&self, state: &mut H) {
                Borrow::<Key>::borrow(self).hash(state);
            }
        }

        impl PartialEq for $type {
            fn eq(&self, other: &Self) -> bool {
                Borrow::<Key>::borrow(self) == Borrow::<Key>::borrow(other)
            }
        }

        impl Eq for $type {}
    };
}

stand_for_key!(Blob, self => &self.0.key);
stand_for_key!(Entry, self => &self.0[0].0.key);
