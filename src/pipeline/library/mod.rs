//! The pipelines of a running game: which are ready, which are compiled next, and which the shipped cache lacks.
//!
//! Render threads ask for every draw with [`Library::use_pipeline`]. The answer takes one look-up and no lock. The first
//! use of a pipeline is noted for the predicted order, the user's cache and the coverage. A pipeline that is not ready is
//! requested, so that it is compiled before all others.
//!
//! Compiling is the host's: see [`Compiler`]. It runs on any thread that calls [`Core::compile_one`], and in the
//! background of the executor. The library records each build in the quarantine, so that a pipeline that crashes the
//! driver is not compiled again.
//!
//! Invariants:
//! 1. A pipeline that is known has a description before a worker may take it.
//! 2. No lock is held while the host compiles.
//! 3. `use_pipeline`, `begin_frame` and `is_ready` of a group wait for no file and for no compile. Once all pipelines are
//!    known and were used, they allocate nothing and take no lock.
//! 4. After [`Library::close`] returns, the host is not called any more.
//!
//! | file | content |
//! |---|---|
//! | `options` | [`Options`] |
//! | `opening` | the user's cache and shipped caches are opened |
//! | `known` | facts about each pipeline: description, origin, first use |
//! | `work` | compiling on a worker, and in the background |
//! | `saving` | the user's cache and the recording, written in the background |
//! | `later` | uses after the first one, until they are written |
//! | `coverage` | how much of the game the caches cover |

mod coverage;
mod known;
mod later;
mod opening;
mod options;
mod saving;
#[cfg(test)]
mod tests;
mod work;

use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use super::precompile::{self, Entry, Precompiler, Sighting, State};
use super::seen::Place;
use super::{DescriptionRef, Dimension, Identity, Loaded, Mask, PipelineKey, Shipped, ShippedScan, check_mask};
use crate::base::{
    Id, Level, Result, Shared, SharedDyn, Text, error, host_log, thread_number, try_collect, try_push, try_to_vec,
};
use crate::quarantine::Quarantine;
use crate::store::io::SharedIo;

use coverage::Counters;
pub use coverage::Coverage;
use known::{Known, Origin};
pub use options::Options;
use saving::Saving;
pub use work::{Built, Compiler};
use work::{Door, Workers};

/// A pipeline of a cache, as [`Library::add_entries`] takes it.
#[derive(Clone, Copy, Debug)]
pub struct CacheEntry<'a> {
    /// The name of the description.
    pub key: PipelineKey,
    /// The pipeline.
    pub description: DescriptionRef<'a>,
    /// The usage masks it was used with.
    pub masks: &'a [Mask],
    /// Expected frame of the first use.
    pub first_frame: Option<u64>,
    /// How often recordings used it.
    pub times_used: u64,
    /// Build time in microseconds. 0: unknown.
    pub build_us: u64,
    /// Its first use in recordings.
    pub sightings: &'a [Sighting],
}

/// The state of a library. Background tasks own it, too.
pub struct Core {
    identity: Identity,
    dimensions: Vec<Dimension>,
    io: SharedIo,
    environment: u64,
    precompiler: Precompiler,
    known: Known,
    saving: Saving,
    quarantine: Option<Quarantine>,
    compiler: SharedDyn<dyn Compiler>,
    workers: Workers,
    counters: Counters,
    /// Why the directory cannot be used at all.
    unusable: Option<Text<232>>,
    /// Why the user's cache began empty, although there is one.
    refusal: Option<Text<232>>,
    /// Frames begun.
    frame: AtomicU32,
    /// The current mask, for pipelines that the host builds itself.
    mask: [AtomicU64; 4],
}

/// The pipelines of a running game. All methods may be called from any thread at any time. Dropping it closes it.
pub struct Library {
    core: Shared<Core>,
    /// Through which background tasks reach `core`.
    door: Shared<Door>,
}

impl Deref for Library {
    type Target = Core;

    fn deref(&self) -> &Core {
        &self.core
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // It fails only inside a callback, where the value is not dropped.
        _ = self.close();
    }
}

impl Core {
    fn add_entry(&self, entry: &CacheEntry<'_>, origin: Origin) -> Result<bool> {
        entry.description.check()?;
        let hashes = try_collect(entry.description.shaders.iter().map(|shader| shader.hash))?;
        let planned = Entry {
            key: entry.key,
            kind: entry.description.kind,
            shaders: &hashes,
            masks: entry.masks,
            first_frame: entry.first_frame,
            times_used: entry.times_used,
            build_us: entry.build_us,
            sightings: entry.sightings,
        };
        let (index, is_new, _) = self.known.add(&self.precompiler, &planned, entry.description)?;
        if self.known.set_origin(index, origin) {
            self.counters.opened();
        }
        if self.quarantine.as_ref().is_some_and(|bans| bans.is_banned(self.environment, &entry.key.0)) {
            self.precompiler.settle(&entry.key, State::Banned)?;
        }
        Ok(is_new)
    }

    /// The current mask.
    fn mask(&self) -> Mask {
        Mask(self.mask.each_ref().map(|word| word.load(Relaxed)))
    }

    /// The state of a pipeline, without a use.
    pub fn state(&self, key: &PipelineKey) -> State {
        match self.precompiler.state(key) {
            State::Unknown => self.unknown(key),
            state => state,
        }
    }

    /// The state of a pipeline that no cache has. It may be banned, so that the host does not build it itself.
    #[cold]
    fn unknown(&self, key: &PipelineKey) -> State {
        let is_banned = self.quarantine.as_ref().is_some_and(|bans| bans.is_banned(self.environment, &key.0));
        if is_banned { State::Banned } else { State::Unknown }
    }

    /// Change the masks, and select again which pipelines are compiled.
    pub fn set_masks(&self, masks: precompile::CurrentMasks) -> Result<()> {
        // First, so that a failure changes no mask.
        self.check_masks(&masks)?;
        let before = self.mask();
        if before != masks.regular {
            self.saving.count_uses(&self.known, self.precompiler.len(), before)?;
        }
        self.precompiler.set_masks(masks)?;
        for (word, bits) in self.mask.iter().zip(masks.regular.0) {
            word.store(bits, Relaxed);
        }
        Ok(())
    }

    fn check_masks(&self, masks: &precompile::CurrentMasks) -> Result<()> {
        check_mask(&masks.regular, &self.dimensions).and_then(|()| check_mask(&masks.precompile, &self.dimensions))
    }

    /// Pipelines that are not compiled yet and that a mask selects, or would as the current one.
    pub fn remaining_of(&self, mask: Mask) -> Result<usize> {
        check_mask(&mask, &self.dimensions)?;
        self.precompiler.remaining_of(mask)
    }

    /// Compile a pipeline again that is ready, failed or banned. A ban is lifted, and its strikes are forgotten. Returns
    /// whether it had such a state and no compile of it is running.
    fn forget_one(&self, key: &PipelineKey, index: Option<u32>) -> Result<bool> {
        let state = index.map_or_else(|| self.unknown(key), |index| self.precompiler.state_of(index));
        if let Some(bans) = self.quarantine.as_ref().filter(|_| state.is_refused()) {
            // Also the strikes of a pipeline that failed later.
            bans.forgive_lastingly(self.environment, &key.0)?;
        }
        let is_forgotten = index.is_none_or(|index| {
            let is_forgotten = self.precompiler.forget(index);
            self.known.forget_request(index);
            is_forgotten
        });
        Ok(state.is_final() && is_forgotten)
    }

    /// Compile a pipeline again that is ready. Returns whether it was. A use may have seen it ready or running, and
    /// requested nothing.
    fn forget_ready(&self, index: u32) -> bool {
        let is_ready = self.precompiler.state_of(index) == State::Ready;
        let is_forgotten = is_ready && self.precompiler.forget(index);
        self.known.forget_request(index);
        is_forgotten
    }

    /// The precompiler: modes, paces, order, groups and counts.
    pub fn precompiler(&self) -> &Precompiler {
        &self.precompiler
    }

    /// The game, its shader format and the graphics API.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// How much of the game the caches cover so far.
    pub fn coverage(&self) -> Coverage {
        self.counters.read(&self.precompiler)
    }

    /// Why pipelines cannot be kept, bans not be remembered, or those of the last start are not used, if so.
    pub fn problem(&self) -> Option<Text<232>> {
        self.unusable
            .or_else(|| self.saving.problem())
            .or_else(|| self.quarantine.as_ref().and_then(Quarantine::problem))
            .or(self.refusal)
    }

    /// Write what waits to be kept, on this thread, and wait for the disk. An error also if the directory cannot be used.
    pub fn flush(&self) -> Result<()> {
        self.saving.count_uses(&self.known, self.precompiler.len(), self.mask())?;
        // A failure of one file does not keep the other one from the disk.
        let (saved, flushed) = (self.save(), self.saving.flush());
        saved.and(flushed)?;
        match &self.unusable {
            Some(why) if !self.saving.is_read_only() => Err(error!(Io, "{why}")),
            _ => Ok(()),
        }
    }

    /// Bytes held.
    pub fn memory_used(&self) -> u64 {
        (self.precompiler.memory_used() + self.known.memory_used()) as u64 + self.saving.memory_used()
    }
}

impl Library {
    /// Open a library, and load the user's cache. This waits for files.
    pub fn open(options: Options) -> Result<(Self, Loaded)> {
        let (core, loaded) = Core::open(options)?;
        let core = Shared::try_new(core)?;
        let library = Self { door: Shared::try_new(Door::to(&core))?, core };
        library.serve();
        Ok((library, loaded))
    }

    /// Add the pipelines of a shipped cache, and start to compile those that the masks select. Returns the number of
    /// new ones. After an error the entries before the failed one stay.
    pub fn add_entries<'a>(&self, entries: impl IntoIterator<Item = CacheEntry<'a>>) -> Result<usize> {
        let mut count = 0;
        let added = entries.into_iter().try_for_each(|entry| {
            count += usize::from(self.add_entry(&entry, Origin::Shipped)?);
            Ok(())
        });
        self.serve();
        added.map(|()| count)
    }

    /// Open a shipped cache, and start to compile the pipelines that the masks select. A cache of another project, shader
    /// format or graphics API is refused by name. Waits for the file. After an error the pipelines before it stay.
    pub fn open_cache(&self, path: &Path) -> Result<ShippedScan> {
        self.open_shipped(&Shipped::open(&self.io, path, &self.identity)?)
    }

    /// [`open_cache`](Self::open_cache) of a cache in memory, such as a file of an archive.
    pub fn open_cache_bytes(&self, bytes: &[u8]) -> Result<ShippedScan> {
        self.open_shipped(&Shipped::of_bytes(try_to_vec(bytes)?, Path::new("the cache in memory"), &self.identity)?)
    }

    fn open_shipped(&self, shipped: &Shipped) -> Result<ShippedScan> {
        self.check_dimensions_of(shipped)?;
        let scan = self.add_shipped(shipped);
        self.serve();
        scan
    }

    /// Begin a frame: grant the next batch of compiles. `budget_us` replaces the mode's limit of time.
    pub fn begin_frame(&self, budget_us: Option<u64>) {
        self.frame.store(self.frame.load(Relaxed).wrapping_add(1), Relaxed);
        self.precompiler.step(budget_us);
        if self.precompiler.has_job() {
            self.serve();
        }
    }

    /// The pipeline is used now. Returns its state: only a pipeline that is [`State::Ready`] can be drawn with. Others are
    /// requested. For [`State::Unknown`], build it and call [`add`](Self::add).
    #[inline]
    pub fn use_pipeline(&self, key: &PipelineKey) -> State {
        self.use_on(thread_number(), key)
    }

    /// [`use_pipeline`](Self::use_pipeline) on the thread with this number.
    #[inline]
    pub fn use_on(&self, thread: usize, key: &PipelineKey) -> State {
        let Some(place) = self.precompiler.find_here(key) else { return self.unknown(key) };
        let (is_ready, is_first) = (self.precompiler.is_ready_at(place), self.known.uses.note_use(place, thread));
        if is_ready && !is_first { State::Ready } else { self.note_use(key, place.index, is_first) }
    }

    /// The rest of a use that may be the first one, or of a pipeline that was not ready. Returns its state.
    #[cold]
    #[inline(never)]
    fn note_use(&self, key: &PipelineKey, index: u32, may_be_first: bool) -> State {
        let state = self.precompiler.state_of(index);
        if (may_be_first || !state.is_final()) && self.known.note_first_use(index, self.frame.load(Relaxed)) {
            self.counters.used(self.known.origin(index), state);
            self.precompiler.note_use(key);
            // A pipeline that no cache has is recorded when the host adds it, perhaps just now on another thread.
            if self.known.is_of_cache(index) {
                self.saving.used(index, self.mask(), state == State::Ready);
            }
        }
        if !state.is_final() && self.known.must_request(index) {
            self.precompiler.request(key);
            self.serve();
        }
        state
    }

    /// The host has built a pipeline itself, because it was not ready. It counts as used in this frame, and is kept for
    /// the next start. `build_us` is the build time in microseconds, 0 if unknown: the hitch that the miss has cost.
    pub fn add(&self, description: DescriptionRef<'_>, build_us: u64) -> Result<PipelineKey> {
        description.check()?;
        let key = description.key();
        let hashes = try_collect(description.shaders.iter().map(|shader| shader.hash))?;
        let (mask, frame) = (self.mask(), self.frame.load(Relaxed));
        let planned = Entry {
            key,
            kind: description.kind,
            shaders: &hashes,
            masks: &[mask],
            first_frame: Some(frame.into()),
            times_used: 1,
            build_us,
            sightings: &[],
        };
        let is_banned = self.state(&key) == State::Banned;
        let (index, _, was_counted) = self.known.add(&self.precompiler, &planned, description)?;
        self.precompiler.settle(&key, State::Ready)?;
        if is_banned {
            let name = Start(&key);
            host_log(
                Level::Warning,
                format_args!("the host built the banned pipeline {name}: it is ready, and banned at the next start"),
            );
        }
        // The origin is set before the use: another thread that sees this use sees who built the pipeline.
        let is_news = self.known.set_origin(index, Origin::Host);
        let is_first = self.known.note_first_use(index, frame);
        self.known.set_build_us(index, build_us);
        if !was_counted {
            // The use was not counted, because the pipeline was unknown.
            self.known.uses.note_use(Place::of(index), thread_number());
        }
        let origin = self.known.origin(index).filter(|_| !is_news);
        self.counters.built_by_host(origin, !is_first, build_us);
        if is_news {
            host_log(Level::Info, format_args!("new {} pipeline {}", description.kind.name(), Start(&key)));
            self.saving.save(index, mask);
            self.serve();
        } else if is_first && self.known.is_of_cache(index) {
            // A cache had it, and the host built it before it was ready.
            self.saving.used(index, mask, false);
        }
        Ok(key)
    }

    /// Request a pipeline, and wait for its final state. The calling thread compiles it if no other one does. Returns its
    /// state then, after the timeout, or at once if the host cancels the compile or this call comes from inside one.
    pub fn wait(&self, key: &PipelineKey, timeout: Duration) -> State {
        let is_known = self.precompiler.find(key).is_some();
        // A compile that waits for itself would wait for ever.
        if !is_known || timeout.is_zero() || self.workers.is_inside() {
            return self.state(key);
        }
        if let Some(job) = self.precompiler.take_key(key)
            && self.compile(&job) == Built::Cancelled
        {
            return self.precompiler.state(key);
        }
        self.serve();
        self.precompiler.wait(key, timeout)
    }

    /// Request a pipeline, and wait until other threads have compiled it. This thread does not compile. Returns its state
    /// then, after the timeout, after a cancelled compile, or at once from inside a compile.
    pub fn request(&self, key: &PipelineKey, timeout: Duration) -> State {
        let Some(index) = self.precompiler.find(key) else { return self.unknown(key) };
        if self.precompiler.request(key).is_final() {
            return self.precompiler.state_of(index);
        }
        self.serve();
        // A compile that waits for itself would wait for ever.
        if timeout.is_zero() || self.workers.is_inside() {
            return self.precompiler.state_of(index);
        }
        self.precompiler.wait(key, timeout)
    }

    /// Compile a pipeline again that is ready, failed or banned; `None`: all that are ready, as after a lost
    /// device. A ban is lifted. The next use of a pipeline or its group requests it again. Returns the number of pipelines.
    pub fn forget(&self, key: Option<&PipelineKey>) -> Result<u64> {
        let count = match key {
            Some(key) => u64::from(self.forget_one(key, self.precompiler.find(key))?),
            None => (0..self.precompiler.len() as u32).map(|index| u64::from(self.forget_ready(index))).sum(),
        };
        self.serve();
        Ok(count)
    }

    /// How to draw the object of a group now: see [`Precompiler::decide`].
    pub fn decide(&self, group: Id, policy: precompile::Policy) -> Result<precompile::Decision> {
        let mut policy = policy;
        if !self.precompiler.is_ready(group) {
            // The background must run while this thread waits.
            self.precompiler.request_group_once(group)?;
            if self.precompiler.has_job() {
                self.serve();
            }
            // A compile that waits for itself would wait for ever.
            if matches!(policy, precompile::Policy::Wait(_)) && self.workers.is_inside() {
                policy = precompile::Policy::Wait(Duration::ZERO);
            }
        }
        self.precompiler.decide(group, policy)
    }

    /// Write what waits to be kept, wait until no thread is inside the host, and call the host never again. An error
    /// inside a callback of the host, where it would wait for itself.
    pub fn close(&self) -> Result<()> {
        self.workers.close()?;
        self.door.close();
        // A task that passed the door before ends soon, because it cannot enter the host any more.
        while Shared::owners(&self.core) > 1 {
            std::thread::sleep(Duration::from_micros(50));
        }
        if let Err(why) = self.flush() {
            host_log(Level::Warning, format_args!("{why}"));
        }
        if let Some(bans) = &self.quarantine {
            bans.close();
        }
        Ok(())
    }
}

/// The first 8 hexadecimal digits of a key, which find it in lists of the tools.
struct Start<'a>(&'a PipelineKey);

impl fmt::Display for Start<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.0[..4].iter().try_for_each(|byte| write!(to, "{byte:02x}"))
    }
}

/// A list that takes what fits into its memory, so that a frame never allocates.
fn push_if_room<T>(list: &mut Vec<T>, item: T) -> bool {
    let has_room = list.len() < list.capacity();
    has_room && try_push(list, item).is_ok()
}
