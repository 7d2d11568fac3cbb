//! The memory tier: programs, and the statuses of shaders.
//!
//! It is plain data with a lock, and calls nothing above it. An operation that needs the disk returns what its owner must
//! do: see [`Stored`].
//!
//! | file | content |
//! |---|---|
//! | `blob` | a program's bytes, shared by the threads' rows; [`Blob`], a pinned view |
//! | `table` | finds programs: many readers that write no common memory, one writer |
//! | `state` | what the writer changes: limits, eviction, counters |
//! | `order`, `groups`, `ranking` | the order of eviction |
//! | `fading` | the value of a use as time passes, for the cost-aware policy |
//! | `lru` | [`Lru`], a list of keys by last use |
//! | `status` | compile status of shaders |
//! | `material` | the inputs of keys, to explain misses |
//! | `options`, `statistics` | plain structs |
//!
//! Lock order: the state, then a part of the table, then a log of reads. A get takes no lock,
//! with two exceptions. While a put changes the part of the key, a get takes that part's lock. With [`Policy::Groups`] the
//! first read after an eviction takes that of a log.

pub mod blob;
mod fading;
mod groups;
pub mod lru;
pub mod material;
pub mod options;
mod order;
#[cfg(test)]
mod order_test;
mod ranking;
mod state;
pub mod statistics;
pub mod status;
mod table;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::key::Key;
use super::program::{Program, Put, Refusal, Wanted};
use crate::base::{Result, try_filled};
pub use blob::Blob;
pub use lru::Lru;
use material::{Material, WhyMissed};
use options::{Options, Pressure};
pub use state::START_UP_KEYS;
use state::{Origin, State};
use statistics::{Measure, Reason, Statistics};
use status::Status;
use table::Table;

/// The result of a put, and what the owner of the memory must do.
#[derive(Debug)]
pub enum Stored {
    /// It was stored: write the blob to disk.
    Kept(Put, Blob),
    /// It was not stored.
    Refused(Refusal),
    /// It was not stored, and the old program of its key was removed: remove that from disk.
    Dropped(Refusal),
}

/// Programs in memory, and the statuses of shaders. All methods may be called from any thread at any time.
pub struct Memory {
    table: Table,
    state: Mutex<State>,
}

impl Memory {
    /// An empty memory tier.
    pub fn new(options: Options) -> Result<Self> {
        Ok(Self { table: Table::default(), state: Mutex::new(State::new(options)?) })
    }

    /// Use the program of `key`, and move it to a group if there is one. Copies and allocates nothing.
    #[inline]
    pub fn get(&self, key: &Key, group: Option<u32>) -> Option<Blob> {
        self.table.get(key, group)
    }

    /// The program of `key`, without using it.
    pub fn peek(&self, key: &Key) -> Option<Blob> {
        self.table.peek(key, |entry| entry.blob().clone())
    }

    /// Store a copy of a linked program. On an error nothing changes.
    pub fn put(&self, key: &Key, program: &Program<'_>, is_banned: bool) -> Result<Stored> {
        let banned = is_banned.then_some(Refusal::Banned);
        let (put, blob, mut state) = self.keep(key, program, Origin::Linked, banned, &AtomicBool::new(false))?;
        match (put, blob) {
            (Put::Refused(Refusal::TooLarge), _) if !state.rules.options.oversized_keeps_old => {
                state.remove(&self.table, key, Reason::Replaced);
                Ok(Stored::Dropped(Refusal::TooLarge))
            }
            (Put::Refused(refusal), _) => Ok(Stored::Refused(refusal)),
            (put, Some(blob)) => Ok(Stored::Kept(put, blob)),
            (_, None) => Ok(Stored::Refused(Refusal::NoRoom)),
        }
    }

    /// Store a copy of a program from disk, and the statuses of its shaders. A program in memory is newer, and stays. If
    /// `is_cancelled` is set before the lock is taken, nothing is stored. On an error nothing changes.
    pub fn load(
        &self,
        key: &Key,
        program: &Program<'_>,
        wanted: Wanted,
        is_banned: bool,
        is_cancelled: &AtomicBool,
    ) -> Result<Put> {
        let origin = if wanted == Wanted::Now { Origin::Missed } else { Origin::Ahead };
        let banned = is_banned.then_some(Refusal::Banned);
        let (put, _, mut state) = self.keep(key, program, origin, banned, is_cancelled)?;
        state.statistics.loads += u64::from(!matches!(put, Put::Refused(_)));
        Ok(put)
    }

    fn keep(
        &self,
        key: &Key,
        program: &Program<'_>,
        origin: Origin,
        banned: Option<Refusal>,
        is_cancelled: &AtomicBool,
    ) -> Result<(Put, Option<Blob>, MutexGuard<'_, State>)> {
        // Before the copy, which may be large. Again after it, because other threads may have put meanwhile.
        let refusal = banned.or_else(|| self.state().refusal(&self.table, key, program, origin));
        let copy = if refusal.is_none() { Some(blob::Stored::copy(key, program)?) } else { None };
        let mut state = self.state();
        let refusal = refusal.or_else(|| state.refusal(&self.table, key, program, origin));
        // The state's lock orders this with the removal that follows a cancellation.
        let refusal = refusal.or_else(|| is_cancelled.load(Relaxed).then_some(Refusal::Removed));
        let before = state.used();
        let (put, blob) = match (copy, refusal) {
            (Some(copy), None) => {
                let (put, blob) = state.store(&self.table, key, copy, origin)?;
                (put, Some(blob))
            }
            (_, refusal) => (state.refuse(refusal.unwrap_or(Refusal::NoRoom)), None),
        };
        if origin == Origin::Linked {
            let after = state.used();
            state.statistics.puts += 1;
            state.statistics.record(Measure::BinaryBytes, program.data.len() as u64);
            state.statistics.record(Measure::BytesBefore, before);
            state.statistics.record(Measure::BytesAfter, after);
        }
        Ok((put, blob, state))
    }

    /// Remove a program. Returns whether it was in memory.
    pub fn remove(&self, key: &Key, reason: Reason) -> bool {
        self.state().remove(&self.table, key, reason).is_some()
    }

    /// Remove a program, unless the key has had another put since the one with that serial number. 0: no put is known, and
    /// any program is removed.
    pub fn remove_put(&self, key: &Key, serial: u64, reason: Reason) -> bool {
        let mut state = self.state();
        !self.has_other_put(key, serial) && state.remove(&self.table, key, reason).is_some()
    }

    /// Whether memory has a program of `key` from a put other than the one with that serial number, which is not 0.
    pub fn has_other_put(&self, key: &Key, serial: u64) -> bool {
        serial != 0 && self.serial(key).is_some_and(|now| now != serial)
    }

    /// The serial number of the put whose program is in memory.
    pub fn serial(&self, key: &Key) -> Option<u64> {
        self.table.peek(key, |entry| entry.blob().serial())
    }

    /// Remove all programs and statuses. The start-up set stays.
    pub fn clear(&self) {
        self.state().clear(&self.table);
    }

    /// Evict until at most `most_bytes` count. Returns the number of evicted programs. The limit stays.
    pub fn trim(&self, most_bytes: u64) -> usize {
        self.state().make_room(&self.table, most_bytes, Reason::Trim)
    }

    /// Limit memory as the pressure requires, until the next call. Returns the number of evicted programs.
    pub fn pressure(&self, pressure: Pressure) -> usize {
        self.state().set_pressure(&self.table, pressure)
    }

    /// Change the limit. Returns the number of evicted programs.
    pub fn set_limit(&self, limit_bytes: u64) -> usize {
        self.state().set_limit(&self.table, limit_bytes)
    }

    /// The limit in bytes.
    pub fn limit(&self) -> u64 {
        self.state().rules.options.limit_bytes
    }

    /// Bytes of the longest value on disk that could be stored.
    pub fn longest_value(&self) -> u64 {
        self.state().longest_value()
    }

    // The start-up set.

    /// Add a key to the set of keys that are loaded before all others, or remove it. It needs no program.
    pub fn mark_start_up(&self, key: &Key, marked: bool) -> Result<()> {
        self.state().mark_start_up(&self.table, key, marked)
    }

    /// A copy of the start-up set. The key that was marked first comes first.
    pub fn start_up_keys(&self) -> Result<Vec<Key>> {
        let state = self.state();
        let mut keys = try_filled(Key::default(), state.start_up_keys().len())?;
        keys.copy_from_slice(state.start_up_keys());
        Ok(keys)
    }

    /// Whether the start-up set has keys.
    pub fn has_start_up_keys(&self) -> bool {
        !self.state().start_up_keys().is_empty()
    }

    /// Visit every program, with its uses and its group.
    pub fn for_each(&self, mut look: impl FnMut(&Blob, u32, u32)) {
        self.table.for_each(|entry| look(entry.blob(), entry.uses(), entry.group()));
    }

    /// Visit every program that was put or asked for since the cache was created, until an error.
    pub fn for_each_used(&self, mut look: impl FnMut(&Blob) -> Result<()>) -> Result<()> {
        let mut done = Ok(());
        self.table.for_each(|entry| {
            if done.is_ok() && entry.stamp() > 0 {
                done = look(entry.blob());
            }
        });
        done
    }

    // Statuses.

    /// Remember that a shader has compiled.
    pub fn shader_compiled(&self, shader: &Key) -> Result<()> {
        self.state().statuses.compiled(shader)
    }

    /// Whether a shader is known to compile.
    pub fn compile_status(&self, shader: &Key) -> Status {
        self.state().statuses.status(shader)
    }

    /// The number of programs in memory that use a shader.
    pub fn programs_of_shader(&self, shader: &Key) -> u32 {
        self.state().statuses.programs(shader)
    }

    /// Whether a program is known to link: it is while it is in memory. This is no use.
    pub fn link_status(&self, key: &Key) -> Status {
        if self.contains(key) { Status::Succeeded } else { Status::Unknown }
    }

    /// Whether memory has a program of `key`. This is no use.
    pub fn contains(&self, key: &Key) -> bool {
        self.table.peek(key, |_| ()).is_some()
    }

    // Explanations of misses.

    /// The number of keys whose inputs are remembered: [`Options::described_keys`].
    pub fn described_keys(&self) -> usize {
        self.state().materials.most()
    }

    /// Set the environment of all keys, and its inputs, which are part of every key that is described from now on.
    pub fn set_environment(&self, environment: u64, material: Material) {
        self.state().materials.set_environment(environment, material);
    }

    /// Remember the inputs of a key, if [`Options::described_keys`] allows. Returns the material for the disk if it is new.
    /// On an error nothing changes.
    pub fn describe(&self, key: &Key, material: &Material) -> Result<Option<Material>> {
        let is_cached = self.contains(key);
        self.state().materials.describe(key, material, is_cached)
    }

    /// Remember the inputs of a key from disk, if none are known, and all inputs together have fewer bytes than programs
    /// may have.
    pub fn recall(&self, environment: u64, key: &Key, material: Material) -> Result<()> {
        let is_cached = self.contains(key);
        let mut state = self.state();
        if state.materials.bytes() + material.bytes().len() as u64 > state.rules.options.limit_bytes {
            return Ok(());
        }
        state.materials.recall(environment, key, material, is_cached)
    }

    /// Compare the inputs of a missed key with the most similar known key. `None`: no key is known. Visits every known key,
    /// so it is not for every frame.
    pub fn why_missed(&self, material: &Material) -> Result<Option<WhyMissed>> {
        self.state().materials.why_missed(material)
    }

    // Statistics.

    /// Add a value to a histogram, for hosts without the [`manager`](super::manager).
    pub fn record(&self, measure: Measure, value: u64) {
        self.state().statistics.record(measure, value);
    }

    /// Count a use that was refused because its key is banned.
    pub fn count_banned_use(&self) {
        self.state().statistics.banned += 1;
    }

    /// Counters, and the present size.
    pub fn statistics(&self) -> Result<Statistics> {
        let state = self.state();
        let mut statistics = state.statistics.try_clone()?;
        (statistics.hits, statistics.misses) = self.table.hits_and_misses();
        statistics.entries = state.entries() as u64;
        statistics.bytes = state.used();
        statistics.limit_bytes = state.rules.options.limit_bytes;
        statistics.shaders = state.statuses.len() as u64;
        Ok(statistics)
    }

    /// Bytes held in all, with tables and bookkeeping. Programs that left memory and are pinned are not included.
    pub fn memory_used(&self) -> usize {
        self.state().memory_used() + self.table.memory_used()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
