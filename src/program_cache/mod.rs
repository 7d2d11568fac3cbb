//! Shader and program binaries in memory, so that nothing is compiled twice.
//!
//! After Chromium's note "GPU Program Caching". A [`ProgramCache`] keeps program binaries by key and knows which shaders
//! have compiled, so that a host need not compile a shader whose programs are all cached: it may put that off until one
//! of them is missed, and [`manager`] does that for it. All hits come from memory; a disk, if there is one, is told of
//! what is to be kept and of what was missed through [`Disk`], and brings what it has by [`ProgramCache::load`].
//!
//! [`get`](ProgramCache::get) copies and allocates nothing and may be called from any thread while others put: what it
//! gives is a pinned [`Blob`], valid for as long as it is held. What goes when room is needed, and how, is for
//! [`Options`] to say: strictly the least recently used, the cheapest to build again, or by groups.
#![forbid(unsafe_code)]

mod ahead;
mod blob;
mod bundle;
mod cache;
mod disk;
mod fading;
mod groups;
mod lru;
pub mod manager;
mod material;
mod memory;
mod notes;
mod options;
mod order;
mod poison;
mod ranking;
mod statistics;
mod status;
mod table;
mod value;

#[cfg(test)]
mod conformance_test;
#[cfg(test)]
mod disk_test;
#[cfg(test)]
mod eviction_test;
#[cfg(test)]
mod manager_test;
#[cfg(test)]
mod model_test;
#[cfg(test)]
mod order_test;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod threads_test;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use blob::{Blob, Program};
pub use bundle::Contents;
pub use cache::{Cache, Desc};
pub use disk::{DiskOptions, DiskTier, Progress};
pub use lru::Lru;
pub use material::{Difference, Label, Material, Shown, Whereabouts, WhyMissed};
pub use options::{Counted, Options, Policy, Pressure};
pub use poison::{Quarantine, Tag, UseToken, Verdict};
pub use statistics::{CacheStatistics, Measure, Reason, Refusal, Statistics};
pub use status::Status;

use crate::base::{Result, try_filled};
use blob::Stored;
use memory::{Memory, Origin};
use poison::Uses;
use table::Table;

/// A program's or a shader's name: a digest of what it is made from.
pub type Key = [u8; 32];

/// What keeps programs beyond the process. Called without a lock held, on the thread that made the call; none of these
/// may wait for a file. Two calls about one key on two threads may arrive in either order: [`Blob::serial`] tells.
pub trait Disk: Send + Sync {
    /// The host put a program: once for each put that was stored, never for what was loaded.
    fn saved(&self, blob: &Blob);
    /// Memory does not have the program of `key`, and somebody asked for it.
    fn missed(&self, key: &Key);
    /// The host removed it, or the driver rejected it.
    fn removed(&self, key: &Key);
    /// The host cleared memory and wants the disk cleared with it.
    fn cleared(&self);
    /// The host said what a key was made from, and that is news.
    fn described(&self, _key: &Key, _material: Material) {}
}

/// What a cache works with, each of them optional.
#[derive(Clone, Default)]
pub struct Partners {
    /// Keeps programs beyond the process.
    pub disk: Option<Arc<dyn Disk>>,
    /// Keeps strikes and bans beyond the process.
    pub quarantine: Option<Arc<dyn Quarantine>>,
}

/// What became of a put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// It is there now.
    Stored,
    /// It is there now instead of what was.
    Replaced,
    /// It was not stored.
    Refused(Refusal),
}

/// Why the disk brings a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// It was missed: it goes in as if it were put.
    Now,
    /// Somebody may ask for it: it goes in where there is room, and is the first to go.
    Perhaps,
}

/// Program binaries and what is known of their shaders. Every method may be called from any thread at any time.
pub struct ProgramCache {
    table: Table,
    memory: Mutex<Memory>,
    uses: Mutex<Uses>,
    partners: Partners,
}

impl ProgramCache {
    /// An empty cache.
    pub fn new(options: Options, partners: Partners) -> Result<Self> {
        let (table, uses) = (Table::new(), Mutex::default());
        Ok(Self { table, memory: Mutex::new(Memory::new(options)?), uses, partners })
    }

    /// The program of `key`, which is thereby used. Copies and allocates nothing, and waits for nobody who reads. On a
    /// miss the disk is told. A banned one is never in memory: it is not kept when it is put or loaded.
    pub fn get(&self, key: &Key) -> Option<Blob> {
        let found = self.table.get(key);
        if found.is_none()
            && let Some(disk) = &self.partners.disk
        {
            disk.missed(key);
        }
        found
    }

    /// The same for one that was looked for: the disk is not told of a miss.
    fn get_here(&self, key: &Key) -> Option<Blob> {
        self.table.get(key)
    }

    /// Keep a copy of a program that was linked, and tell the disk once if it was stored. On an error nothing changed.
    pub fn put(&self, key: &Key, program: &Program<'_>) -> Result<Put> {
        let stored = self.keep(key, program, Origin::Linked, || true)?;
        match (&stored, &self.partners.disk) {
            ((Put::Stored | Put::Replaced, Some(blob)), Some(disk)) => disk.saved(blob),
            ((Put::Refused(Refusal::TooLarge), _), Some(disk)) if !self.lock().options.oversized_keeps_old => {
                disk.removed(key);
            }
            _ => {}
        }
        Ok(stored.0)
    }

    /// Take over a program that the disk had, together with the statuses of its shaders. What memory has already is
    /// newer and stays. The disk is not told. On an error nothing changed.
    pub fn load(&self, key: &Key, program: &Program<'_>, wanted: Wanted) -> Result<Put> {
        self.load_if(key, program, wanted, || true)
    }

    /// [`load`](Self::load), unless it is no longer `wanted_still` when it has been copied. That is asked with a lock
    /// held: it must not call the cache back.
    fn load_if(
        &self,
        key: &Key,
        program: &Program<'_>,
        wanted: Wanted,
        wanted_still: impl FnOnce() -> bool,
    ) -> Result<Put> {
        let origin = if wanted == Wanted::Now { Origin::Asked } else { Origin::Ahead };
        Ok(self.keep(key, program, origin, wanted_still)?.0)
    }

    fn keep(
        &self,
        key: &Key,
        program: &Program<'_>,
        origin: Origin,
        wanted_still: impl FnOnce() -> bool,
    ) -> Result<(Put, Option<Blob>)> {
        let linked = origin == Origin::Linked;
        // Looked at before the copy is made, which may be large, and again after, since others may have put meanwhile.
        let banned = self.partners.quarantine.as_ref().is_some_and(|quarantine| quarantine.is_banned(key));
        let refusal = if banned { Some(Refusal::Banned) } else { self.refusal(key, program, origin) };
        let copy = if refusal.is_none() { Some(Stored::copy(program)?) } else { None };
        let mut memory = self.lock();
        let refusal = refusal.or_else(|| memory.refusal(&self.table, key, program, origin));
        let refusal = refusal.or_else(|| if wanted_still() { None } else { Some(Refusal::Removed) });
        let before = memory.used();
        let outcome = match copy {
            Some(copy) if refusal.is_none() => {
                let (put, blob) = memory.store(&self.table, key, copy, origin)?;
                (put, Some(blob))
            }
            _ => {
                let refusal = refusal.unwrap_or(Refusal::NoRoom);
                memory.statistics.refused[refusal as usize] += 1;
                if refusal == Refusal::TooLarge && linked && !memory.options.oversized_keeps_old {
                    memory.take_out(&self.table, key, Reason::Replaced);
                }
                (Put::Refused(refusal), None)
            }
        };
        if linked {
            let after = memory.used();
            memory.statistics.puts += 1;
            memory.statistics.record(Measure::BinaryBytes, program.data.len() as u64);
            memory.statistics.record(Measure::BytesBefore, before);
            memory.statistics.record(Measure::BytesAfter, after);
        } else if outcome.1.is_some() {
            memory.statistics.loads += 1;
        }
        Ok(outcome)
    }

    fn refusal(&self, key: &Key, program: &Program<'_>, origin: Origin) -> Option<Refusal> {
        self.lock().refusal(&self.table, key, program, origin)
    }

    /// Remove a program from memory and disk; whether memory had it.
    pub fn remove(&self, key: &Key) -> bool {
        // First, so that what it brings meanwhile is either not wanted any more, or taken out below.
        if let Some(disk) = &self.partners.disk {
            disk.removed(key);
        }
        self.lock().take_out(&self.table, key, Reason::Removed).is_some()
    }

    /// Forget all programs and statuses; with `disk_too` the disk is told to do the same. The start-up set stays.
    pub fn clear(&self, disk_too: bool) {
        if disk_too && let Some(disk) = &self.partners.disk {
            disk.cleared();
        }
        self.lock().clear(&self.table);
    }

    /// Evict until at most `most_bytes` are counted; how many programs went. The limit stays.
    pub fn trim(&self, most_bytes: u64) -> usize {
        self.lock().make_room(&self.table, most_bytes, Reason::Trim)
    }

    /// Do what is to be done when the machine is short of memory; how many programs went. The limit stays, so this is
    /// to be called each time the system says so.
    pub fn pressure(&self, pressure: Pressure) -> usize {
        let mut memory = self.lock();
        let most = match pressure {
            Pressure::None => return 0,
            Pressure::Moderate => memory.options.limit_bytes / 4,
            Pressure::Critical => 0,
        };
        memory.make_room(&self.table, most, Reason::Pressure)
    }

    /// Change the limit; how many programs went because it was lowered.
    pub fn set_limit(&self, limit_bytes: u64) -> usize {
        let mut memory = self.lock();
        memory.options.limit_bytes = limit_bytes;
        memory.make_room(&self.table, limit_bytes, Reason::LimitLowered)
    }

    // The start-up set.

    /// Put a key, cached or not, into the set of those to be loaded before all others, or take it out.
    pub fn mark_start_up(&self, key: &Key, marked: bool) -> Result<()> {
        self.lock().mark_start_up(&self.table, key, marked)
    }

    /// Copy the start-up set, in the order in which it was marked, for the disk to begin with.
    pub fn start_up_keys(&self) -> Result<Vec<Key>> {
        let memory = self.lock();
        let mut keys = try_filled(Key::default(), memory.start_up_keys().len())?;
        keys.copy_from_slice(memory.start_up_keys());
        Ok(keys)
    }

    /// Show every program that was put or asked for since this cache was made.
    pub(super) fn for_each_used(&self, mut look: impl FnMut(&Blob) -> Result<()>) -> Result<()> {
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
        self.lock().statuses.compiled(shader)
    }

    /// Whether a shader is known to compile.
    pub fn compile_status(&self, shader: &Key) -> Status {
        self.lock().statuses.status(shader)
    }

    /// How many cached programs use a shader.
    pub fn programs_of_shader(&self, shader: &Key) -> u32 {
        self.lock().statuses.programs(shader)
    }

    /// Whether a program is known to link, which is for as long as it is cached. It is not used by that.
    pub fn link_status(&self, key: &Key) -> Status {
        self.table.peek(key, |_| Status::Succeeded).unwrap_or(Status::Unknown)
    }

    // What the driver has in hand.

    /// Note that the driver is about to see the program of `key`; nothing if the key is banned, which means: build it
    /// from source. The use is to be ended after the first frame drawn with the program, since drivers compile late.
    pub fn use_begin(&self, key: &Key) -> Result<Option<UseToken>> {
        let serial = self.serial_of(key).unwrap_or(0);
        let token = self.uses().begin(key, serial, self.partners.quarantine.as_deref())?;
        if token.is_none() {
            self.lock().statistics.banned += 1;
        }
        Ok(token)
    }

    /// Note that the driver is done. A rejected program is removed from memory and disk, unless it was put again since; where
    /// memory did not have it when the use began, that cannot be told, and what is there goes.
    pub fn use_end(&self, token: UseToken, verdict: Verdict) -> Result<()> {
        let ended = self.uses().end(token, verdict, self.partners.quarantine.as_deref())?;
        if verdict != Verdict::Rejected {
            return Ok(());
        }
        let is_another = || self.serial_of(&ended.key).is_some_and(|serial| ![0, serial].contains(&ended.serial));
        if is_another() {
            return Ok(());
        }
        if let Some(disk) = &self.partners.disk {
            disk.removed(&ended.key);
        }
        let mut memory = self.lock();
        if !is_another() {
            memory.take_out(&self.table, &ended.key, Reason::Rejected);
        }
        Ok(())
    }

    /// Uses that have begun and not ended.
    pub fn open_uses(&self) -> usize {
        self.uses().open()
    }

    /// Lift the ban of a key; whether there was one.
    pub fn forgive(&self, key: &Key) -> bool {
        self.partners.quarantine.as_ref().is_some_and(|quarantine| quarantine.forgive(key))
    }

    // What it knows about itself.

    /// Of how many keys it remembers what they were made from; see [`Options::described_keys`].
    pub fn described_keys(&self) -> usize {
        self.lock().materials.most()
    }

    /// The environment of all keys, and what it is made from: part of every key that is described from here on.
    pub fn set_environment(&self, environment: u64, material: Material) {
        self.lock().materials.set_environment(environment, material);
    }

    /// Remember what a key was made from, if [`Options::described_keys`] says so. On an error nothing changed.
    pub fn describe(&self, key: &Key, material: &Material) -> Result<()> {
        let is_there = self.table.peek(key, |_| ()).is_some();
        let news = self.lock().materials.describe(key, material, is_there)?;
        if let (Some(news), Some(disk)) = (news, &self.partners.disk) {
            disk.described(key, news);
        }
        Ok(())
    }

    /// Remember what the disk says a key of some environment was made from, if nothing is known of it yet.
    pub fn recall(&self, environment: u64, key: &Key, material: Material) -> Result<()> {
        let is_there = self.table.peek(key, |_| ()).is_some();
        self.lock().materials.recall(environment, key, material, is_there)
    }

    /// In what a key made from `material` differs from the nearest one described; nothing if none was. Looks at every key
    /// described: not for every frame.
    pub fn why_missed(&self, material: &Material) -> Result<Option<WhyMissed>> {
        let mut why = self.lock().materials.why_missed(material)?;
        if let (Some(why), Some(quarantine)) = (&mut why, &self.partners.quarantine)
            && matches!(why.whereabouts, Whereabouts::Elsewhere | Whereabouts::Left(_))
            && quarantine.is_banned(&why.nearest)
        {
            why.whereabouts = Whereabouts::Banned;
        }
        Ok(why)
    }

    /// Take one value into a histogram, for hosts that do without the [`manager`].
    pub fn record(&self, measure: Measure, value: u64) {
        self.lock().statistics.record(measure, value);
    }

    /// What it has done so far, and what it holds now.
    pub fn statistics(&self) -> Result<Statistics> {
        let memory = self.lock();
        let mut statistics = memory.statistics.try_clone()?;
        (statistics.hits, statistics.misses) = self.table.hits_and_misses();
        statistics.entries = memory.entries() as u64;
        statistics.bytes = memory.used();
        statistics.limit_bytes = memory.options.limit_bytes;
        statistics.shaders = memory.statuses.len() as u64;
        Ok(statistics)
    }

    /// Bytes held in all, with tables and bookkeeping; blobs that are pinned and no longer cached are not among them.
    pub fn memory_used(&self) -> usize {
        let uses = self.uses().memory_used();
        self.lock().memory_used() + self.table.memory_used() + uses
    }

    fn serial_of(&self, key: &Key) -> Option<u64> {
        self.table.peek(key, |entry| entry.blob().serial())
    }

    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn uses(&self) -> MutexGuard<'_, Uses> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
