//! The user's cache and the recording of a run, written in the background. Frames leave numbers in lists whose memory was
//! allocated before.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::known::Known;
use super::later::{Later, LaterSums};
use super::push_if_room;
use crate::base::{Result, Text, error, try_push};
use crate::pipeline::precompile::Precompiler;
use crate::pipeline::recording::{FirstUse, LaterUses, MAX_BATCH, Readiness, Recorder};
use crate::pipeline::{Loaded, Mask, UserCache, UserEntry};

/// First uses that wait to be noted. More are dropped without a recording: their entries of the user's cache age sooner.
/// With a recording the list grows.
const USES: usize = 4096;

/// The first use of a pipeline in this run.
#[derive(Clone, Copy)]
struct First {
    index: u32,
    mask: Mask,
    readiness: Readiness,
}

impl First {
    /// The user's cache gets it.
    fn is_new(&self) -> bool {
        self.readiness == Readiness::Unknown
    }
}

#[derive(Default)]
struct Waiting {
    first: Vec<First>,
    /// How many of them no cache had.
    new: usize,
    /// Pipelines that were lost because memory ran out.
    lost: u64,
    /// Writing failed. It is tried again with the next pipeline, or by a flush.
    has_failed: bool,
    /// Why the last try failed.
    problem: Option<Text<232>>,
}

/// The files. `None`: nothing is kept, or recorded.
#[derive(Default)]
struct Files {
    cache: Option<UserCache>,
    recorder: Option<Recorder>,
    is_read_only: bool,
}

/// First uses that wait to be written, and the files they are written to.
#[derive(Default)]
pub struct Saving {
    waiting: Mutex<Waiting>,
    /// Uses after the first ones.
    later: Mutex<LaterSums>,
    /// Held while files are written.
    files: Mutex<Files>,
    is_on: bool,
    is_recording: bool,
    is_read_only: bool,
}

fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Saving {
    /// A cache that is read-only is loaded, and never written.
    pub fn new(cache: Option<UserCache>, is_read_only: bool) -> Result<Self> {
        let mut saving = Self { is_on: cache.is_some() && !is_read_only, is_read_only, ..Self::default() };
        saving.files = Mutex::new(Files { cache, recorder: None, is_read_only });
        saving.reserve()?;
        Ok(saving)
    }

    /// Frames allocate nothing for some uses.
    fn reserve(&mut self) -> Result<()> {
        if self.is_on {
            locked(&self.waiting).first.try_reserve_exact(USES)?;
        }
        Ok(())
    }

    /// Record this run in the file that `create` makes.
    pub fn record(&mut self, create: impl FnOnce() -> Result<Recorder>) -> Result<()> {
        self.is_on = true;
        self.reserve()?;
        locked(&self.files).recorder = Some(create()?);
        self.is_recording = true;
        Ok(())
    }

    /// Whether the user's cache is never written.
    pub fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// The effect of `work` on the user's cache. Nothing without a cache.
    pub fn with_cache(&self, work: impl FnOnce(&mut UserCache) -> Result<Loaded>) -> Result<Loaded> {
        locked(&self.files).cache.as_mut().map_or(Ok(Loaded::default()), work)
    }

    /// A pipeline of a cache was used for the first time. `is_ready`: it could be drawn with.
    pub fn used(&self, index: u32, mask: Mask, is_ready: bool) {
        if self.is_on {
            let mut waiting = locked(&self.waiting);
            let readiness = if is_ready { Readiness::Ready } else { Readiness::Missed };
            let first = First { index, mask, readiness };
            if !push_if_room(&mut waiting.first, first) && self.is_recording {
                waiting.lost += u64::from(try_push(&mut waiting.first, first).is_err());
            }
        }
    }

    /// Keep a pipeline that the host built, and that no cache had.
    pub fn save(&self, index: u32, mask: Mask) {
        if self.is_on {
            let mut waiting = locked(&self.waiting);
            waiting.has_failed = false;
            match try_push(&mut waiting.first, First { index, mask, readiness: Readiness::Unknown }) {
                Ok(()) => waiting.new += 1,
                Err(_) => waiting.lost += 1,
            }
        }
    }

    /// The uses of the first `count` pipelines since the last call had this mask. It changes now, or they are written.
    pub fn count_uses(&self, known: &Known, count: usize, mask: Mask) -> Result<()> {
        if self.is_on { locked(&self.later).count(known, count, mask) } else { Ok(()) }
    }

    /// Whether something should be written now. Later uses wait for a flush, unless a mask is new for a pipeline.
    pub fn has_work(&self) -> bool {
        self.is_on && {
            let waiting = locked(&self.waiting);
            let has_first = waiting.new > 0 || waiting.first.len() > USES / 2;
            !waiting.has_failed && (has_first || locked(&self.later).has_new_masks())
        }
    }

    /// Write what waits. Waits for files. After an error the rest still waits.
    pub fn write(&self, known: &Known, precompiler: &Precompiler) -> Result<()> {
        let files = &mut *locked(&self.files);
        let written =
            self.write_first(files, known, precompiler).and_then(|()| self.write_later(files, known, precompiler));
        self.note_end(written)
    }

    /// Remember why files cannot be written.
    fn note_end(&self, written: Result<()>) -> Result<()> {
        let mut waiting = locked(&self.waiting);
        waiting.has_failed = written.is_err();
        waiting.problem = written.as_ref().err().map(|why| Text::format(format_args!("{why}")));
        written
    }

    fn write_first(&self, files: &mut Files, known: &Known, precompiler: &Precompiler) -> Result<()> {
        loop {
            // Nothing is allocated here, so that a frame waits for some instructions at most.
            let mut waiting = locked(&self.waiting);
            if waiting.first.is_empty() {
                return Ok(());
            }
            // Uses come first, so that eviction for a new pipeline sees them.
            let used =
                (waiting.new < waiting.first.len()).then(|| waiting.first.iter().rposition(|first| !first.is_new()));
            let at = used.flatten().unwrap_or(waiting.first.len() - 1);
            let first = waiting.first.swap_remove(at);
            waiting.new -= usize::from(first.is_new());
            drop(waiting);
            if let Err(why) = files.write(known, precompiler, first) {
                let mut waiting = locked(&self.waiting);
                // The list kept its memory, unless another thread has filled it.
                match try_push(&mut waiting.first, first) {
                    Ok(()) => waiting.new += usize::from(first.is_new()),
                    Err(_) => waiting.lost += 1,
                }
                return Err(why);
            }
            known.note_recorded(first.index);
        }
    }

    /// Write later uses of pipelines whose first use is written. A batch is one record of the recording, so it is written as
    /// a whole or not at all.
    fn write_later(&self, files: &mut Files, known: &Known, precompiler: &Precompiler) -> Result<()> {
        let mut batch: Vec<Later> = Vec::new();
        batch.try_reserve_exact(MAX_BATCH)?;
        let may_write = |index| !self.is_recording || known.is_recorded(index);
        let mut from = 0;
        loop {
            from = locked(&self.later).next(from, &mut batch, may_write);
            if batch.is_empty() {
                return Ok(());
            }
            files.write_later(precompiler, &batch)?;
            locked(&self.later).written(&batch);
        }
    }

    /// Wait until everything written is on the disk.
    pub fn flush(&self) -> Result<()> {
        let flushed = locked(&self.files).flush();
        self.note_end(flushed)?;
        match std::mem::take(&mut locked(&self.waiting).lost) {
            0 => Ok(()),
            lost => Err(error!(OutOfMemory, "{lost} pipelines were not kept or recorded: out of memory")),
        }
    }

    /// Why nothing can be kept, if so.
    pub fn problem(&self) -> Option<Text<232>> {
        let of_last_try = || locked(&self.waiting).problem;
        // While files are written, the answer is that of the last try.
        let of_cache = || self.files.try_lock().ok()?.cache.as_ref()?.problem();
        of_cache().or_else(of_last_try)
    }

    /// Bytes held.
    pub fn memory_used(&self) -> u64 {
        let lists = locked(&self.waiting).first.capacity() * size_of::<First>() + locked(&self.later).memory_used();
        let files = self.files.try_lock().ok();
        lists as u64 + files.and_then(|files| files.cache.as_ref().map(UserCache::memory_used)).unwrap_or(0)
    }
}

impl Files {
    fn write(&mut self, known: &Known, precompiler: &Precompiler, first: First) -> Result<()> {
        let (Some(key), Some(description)) = (precompiler.key(first.index), known.description(first.index)) else {
            return Ok(());
        };
        let (frame, build_us) = (known.first_frame(first.index), known.build_us(first.index));
        if let Some(cache) = self.cache.as_mut().filter(|_| !self.is_read_only) {
            if first.is_new() {
                let (description, masks) = (description.borrow(), &[first.mask]);
                cache.put(&key, &UserEntry { description, masks, first_frame: frame, build_us })?;
            } else {
                cache.note_use(&key, first.mask)?;
            }
        }
        if let Some(recorder) = &mut self.recorder {
            let description = description.borrow();
            recorder.record(&FirstUse {
                key,
                description,
                mask: first.mask,
                frame: frame.into(),
                build_us,
                readiness: first.readiness,
            })?;
        }
        Ok(())
    }

    fn write_later(&mut self, precompiler: &Precompiler, later: &[Later]) -> Result<()> {
        let mut uses = Vec::new();
        uses.try_reserve_exact(later.len())?;
        for &Later { index, times, mask, is_new_mask, .. } in later {
            let Some(key) = precompiler.key(index) else { continue };
            if let Some(cache) = self.cache.as_mut().filter(|_| is_new_mask && !self.is_read_only) {
                cache.note_use(&key, mask)?;
            }
            if self.recorder.is_some() && times > 0 {
                uses.push(LaterUses { key, times: times.into(), mask });
            }
        }
        self.recorder.as_mut().map_or(Ok(()), |recorder| recorder.record_uses(&uses))
    }

    fn flush(&mut self) -> Result<()> {
        if let Some(recorder) = &mut self.recorder {
            recorder.sync()?;
        }
        self.cache.as_mut().filter(|_| !self.is_read_only).map_or(Ok(()), UserCache::flush)
    }
}
