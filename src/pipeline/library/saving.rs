//! The user's cache and the recording of a run, written in the background. Frames leave numbers in lists whose memory was
//! allocated before.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::known::Known;
use super::later::{Later, LaterSums};
use super::push_if_room;
use crate::base::{Error, Result, Text, error, try_push};
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

/// First uses that wait for one of the files. A file that cannot be written does not hold up the other one.
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

impl Waiting {
    fn push(&mut self, first: First) {
        match try_push(&mut self.first, first) {
            Ok(()) => self.new += usize::from(first.is_new()),
            Err(_) => self.lost += 1,
        }
    }

    /// Keep a pipeline that the host built. Writing is tried again.
    fn push_new(&mut self, first: First) {
        self.has_failed = false;
        self.push(first);
    }

    fn take(&mut self) -> Option<First> {
        // Uses come first, so that eviction for a new pipeline sees them.
        let used = (self.new < self.first.len()).then(|| self.first.iter().rposition(|first| !first.is_new()));
        let at = used.flatten().or_else(|| self.first.len().checked_sub(1))?;
        let first = self.first.swap_remove(at);
        self.new -= usize::from(first.is_new());
        Some(first)
    }

    fn has_work(&self) -> bool {
        !self.has_failed && (self.new > 0 || self.first.len() > USES / 2)
    }

    /// Remember why the file cannot be written.
    fn note_end(&mut self, written: &Result<()>) {
        self.has_failed = written.is_err();
        self.problem = written.as_ref().err().map(|why| Text::format(format_args!("{why}")));
    }
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
    /// For the user's cache.
    keeping: Mutex<Waiting>,
    /// For the recording.
    recording: Mutex<Waiting>,
    /// Uses after the first ones.
    later: Mutex<LaterSums>,
    /// Held while files are written.
    files: Mutex<Files>,
    is_keeping: bool,
    is_recording: bool,
    is_read_only: bool,
}

fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Saving {
    /// A cache that is read-only is loaded, and never written. `why_not` says why it cannot be written now, if so.
    pub fn new(cache: Option<UserCache>, is_read_only: bool, why_not: Option<Error>) -> Result<Self> {
        let is_keeping = cache.is_some() && !is_read_only;
        let saving = Self { is_keeping, is_read_only, ..Self::default() };
        *locked(&saving.files) = Files { cache, recorder: None, is_read_only };
        locked(&saving.keeping).problem = why_not.map(|why| Text::format(format_args!("{why}")));
        if is_keeping {
            // Frames allocate nothing for some uses.
            locked(&saving.keeping).first.try_reserve_exact(USES)?;
        }
        Ok(saving)
    }

    /// Record this run in the file that `create` makes.
    pub fn record(&mut self, create: impl FnOnce() -> Result<Recorder>) -> Result<()> {
        locked(&self.recording).first.try_reserve_exact(USES)?;
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
        let readiness = if is_ready { Readiness::Ready } else { Readiness::Missed };
        let first = First { index, mask, readiness };
        if self.is_keeping {
            push_if_room(&mut locked(&self.keeping).first, first);
        }
        if self.is_recording {
            locked(&self.recording).push(first);
        }
    }

    /// Keep a pipeline that the host built, and that no cache had.
    pub fn save(&self, index: u32, mask: Mask) {
        let first = First { index, mask, readiness: Readiness::Unknown };
        if self.is_keeping {
            locked(&self.keeping).push_new(first);
        }
        if self.is_recording {
            locked(&self.recording).push_new(first);
        }
    }

    /// The uses of the first `count` pipelines since the last call had this mask. It changes now, or they are written.
    pub fn count_uses(&self, known: &Known, count: usize, mask: Mask) -> Result<()> {
        let is_on = self.is_keeping || self.is_recording;
        if is_on { locked(&self.later).count(known, count, mask) } else { Ok(()) }
    }

    /// Whether something should be written now. Later uses wait for a flush, unless a mask is new for a pipeline.
    pub fn has_work(&self) -> bool {
        let lists = [&self.keeping, &self.recording];
        lists.iter().any(|list| locked(list).has_work())
            || (lists.iter().all(|list| !locked(list).has_failed) && locked(&self.later).has_new_masks())
    }

    /// Write what waits. Waits for files. After an error the rest still waits. A file that cannot be written costs the other
    /// one nothing.
    pub fn write(&self, known: &Known, precompiler: &Precompiler) -> Result<()> {
        let files = &mut *locked(&self.files);
        let kept = write_first(&self.keeping, |first| files.keep(known, precompiler, first));
        let recorded = write_first(&self.recording, |first| {
            files.record(known, precompiler, first)?;
            known.note_recorded(first.index);
            Ok(())
        });
        let (kept, recorded) = self.write_later(files, known, precompiler, (kept, recorded));
        locked(&self.keeping).note_end(&kept);
        locked(&self.recording).note_end(&recorded);
        kept.and(recorded)
    }

    /// Write later uses of pipelines whose first use is written. A batch is one record of the recording, so it is written as
    /// a whole or not at all. A file that has failed is not tried again here.
    fn write_later(
        &self,
        files: &mut Files,
        known: &Known,
        precompiler: &Precompiler,
        (mut kept, mut recorded): (Result<()>, Result<()>),
    ) -> (Result<()>, Result<()>) {
        let mut batch: Vec<Later> = Vec::new();
        if let Err(why) = batch.try_reserve_exact(MAX_BATCH) {
            return (kept.and(Err(why.into())), recorded);
        }
        let mut from = 0;
        loop {
            from = locked(&self.later).next(from, &mut batch);
            if batch.is_empty() {
                return (kept, recorded);
            }
            if kept.is_ok() {
                kept = files.keep_masks(precompiler, &batch);
            }
            if kept.is_ok() {
                locked(&self.later).kept(&batch);
            }
            batch.retain(|later| !self.is_recording || known.is_recorded(later.index));
            if recorded.is_ok() {
                recorded = files.record_later(precompiler, &batch);
            }
            if recorded.is_ok() {
                locked(&self.later).recorded(&batch);
            }
        }
    }

    /// Wait until everything written is on the disk.
    pub fn flush(&self) -> Result<()> {
        let files = &mut *locked(&self.files);
        let ends = [(&self.keeping, files.flush_cache()), (&self.recording, files.flush_recording())];
        let mut lost = 0;
        for (list, flushed) in &ends {
            let mut waiting = locked(list);
            lost += std::mem::take(&mut waiting.lost);
            // A success does not write what still waits.
            if flushed.is_err() {
                waiting.note_end(flushed);
            }
        }
        let [(_, kept), (_, recorded)] = ends;
        kept.and(recorded)?;
        if lost > 0 {
            return Err(error!(OutOfMemory, "{lost} pipelines were not kept or recorded: out of memory"));
        }
        match files.kept().map_or(0, UserCache::take_dropped) {
            0 => Ok(()),
            dropped => Err(error!(
                LimitExceeded,
                "{dropped} pipelines of this run are not kept: files of the user's cache were deleted, or the disk or its limit is too small"
            )),
        }
    }

    /// Why nothing can be kept, if so.
    pub fn problem(&self) -> Option<Text<232>> {
        let of_last_try = || locked(&self.keeping).problem.or_else(|| locked(&self.recording).problem);
        // While files are written, the answer is that of the last try.
        let of_cache = || self.files.try_lock().ok()?.cache.as_ref()?.problem();
        of_cache().or_else(of_last_try)
    }

    /// Bytes held.
    pub fn memory_used(&self) -> u64 {
        let first = |list: &Mutex<Waiting>| locked(list).first.capacity() * size_of::<First>();
        let lists = first(&self.keeping) + first(&self.recording) + locked(&self.later).memory_used();
        let files = self.files.try_lock().ok();
        lists as u64 + files.and_then(|files| files.cache.as_ref().map(UserCache::memory_used)).unwrap_or(0)
    }
}

/// Write first uses with `write`, until one fails.
fn write_first(list: &Mutex<Waiting>, mut write: impl FnMut(&First) -> Result<()>) -> Result<()> {
    loop {
        // Nothing is allocated while the list is held, so that a frame waits for some instructions at most.
        let Some(first) = locked(list).take() else { return Ok(()) };
        if let Err(why) = write(&first) {
            // The list kept its memory, unless another thread has filled it.
            locked(list).push(first);
            return Err(why);
        }
    }
}

impl Files {
    /// The user's cache, if it is written.
    fn kept(&mut self) -> Option<&mut UserCache> {
        self.cache.as_mut().filter(|_| !self.is_read_only)
    }

    fn keep(&mut self, known: &Known, precompiler: &Precompiler, first: &First) -> Result<()> {
        let (Some(key), Some(cache)) = (precompiler.key(first.index), self.kept()) else { return Ok(()) };
        if !first.is_new() {
            return cache.note_use(&key, first.mask).map(drop);
        }
        let Some(description) = known.description(first.index) else { return Ok(()) };
        let (first_frame, build_us) = (known.first_frame(first.index), known.build_us(first.index));
        let entry = UserEntry { description: description.borrow(), masks: &[first.mask], first_frame, build_us };
        cache.put(&key, &entry).map(drop)
    }

    fn record(&mut self, known: &Known, precompiler: &Precompiler, first: &First) -> Result<()> {
        let (Some(key), Some(recorder)) = (precompiler.key(first.index), &mut self.recorder) else { return Ok(()) };
        let Some(description) = known.description(first.index) else { return Ok(()) };
        recorder.record(&FirstUse {
            key,
            description: description.borrow(),
            mask: first.mask,
            frame: known.first_frame(first.index).into(),
            build_us: known.build_us(first.index),
            readiness: first.readiness,
        })
    }

    /// Keep the masks of later uses that are new.
    fn keep_masks(&mut self, precompiler: &Precompiler, later: &[Later]) -> Result<()> {
        let Some(cache) = self.kept() else { return Ok(()) };
        for later in later.iter().filter(|later| later.is_new_mask) {
            if let Some(key) = precompiler.key(later.index) {
                cache.note_use(&key, later.mask)?;
            }
        }
        Ok(())
    }

    fn record_later(&mut self, precompiler: &Precompiler, later: &[Later]) -> Result<()> {
        let Some(recorder) = &mut self.recorder else { return Ok(()) };
        let mut uses = Vec::new();
        uses.try_reserve_exact(later.len())?;
        for &Later { index, times, mask, .. } in later.iter().filter(|later| later.times > 0) {
            if let Some(key) = precompiler.key(index) {
                uses.push(LaterUses { key, times: times.into(), mask });
            }
        }
        recorder.record_uses(&uses)
    }

    fn flush_cache(&mut self) -> Result<()> {
        self.kept().map_or(Ok(()), UserCache::flush)
    }

    fn flush_recording(&mut self) -> Result<()> {
        self.recorder.as_mut().map_or(Ok(()), Recorder::sync)
    }
}
