//! The user's cache and the recording of a run, written in the background. Frames leave numbers in lists whose memory was
//! allocated before.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::known::Known;
use super::push_if_room;
use crate::base::{Result, Text, error, try_push};
use crate::pipeline::precompile::Precompiler;
use crate::pipeline::recording::{FirstUse, LaterUses, Recorder};
use crate::pipeline::{Loaded, Mask, MaskSet, UserCache, UserEntry};

/// First uses that wait to be noted. More are dropped without a recording: their entries of the user's cache age sooner.
/// With a recording the list grows.
const USES: usize = 4096;

/// The first use of a pipeline in this run.
#[derive(Clone, Copy)]
struct First {
    index: u32,
    mask: Mask,
    /// No cache had it.
    is_new: bool,
}

/// Uses of a pipeline after its first one, while a mask was the current one.
#[derive(Clone, Copy)]
struct Later {
    index: u32,
    times: u64,
    mask: Mask,
    /// The pipeline was not used with that mask before, in this run.
    is_new_mask: bool,
}

/// The uses of a pipeline that have a mask.
#[derive(Default)]
struct Counted {
    uses: u64,
    masks: MaskSet,
}

#[derive(Default)]
struct Waiting {
    first: Vec<First>,
    later: Vec<Later>,
    /// How many of them no cache had.
    new: usize,
    /// Pipelines that were lost because memory ran out.
    lost: u64,
    /// Writing failed. It is tried again with the next pipeline, or by a flush.
    has_failed: bool,
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
    /// By index.
    counted: Mutex<Vec<Counted>>,
    /// Held while files are written.
    files: Mutex<Files>,
    is_on: bool,
    is_recording: bool,
}

fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Saving {
    /// A cache that is read-only is loaded, and never written.
    pub fn new(cache: Option<UserCache>, recorder: Option<Recorder>, is_read_only: bool) -> Result<Self> {
        let (is_recording, mut waiting) = (recorder.is_some(), Waiting::default());
        let is_on = is_recording || (cache.is_some() && !is_read_only);
        if is_on {
            waiting.first.try_reserve_exact(USES)?;
        }
        let files = Files { cache, recorder, is_read_only };
        Ok(Self { waiting: Mutex::new(waiting), files: Mutex::new(files), is_on, is_recording, ..Self::default() })
    }

    /// The effect of `work` on the user's cache. Nothing without a cache.
    pub fn with_cache(&self, work: impl FnOnce(&mut UserCache) -> Result<Loaded>) -> Result<Loaded> {
        locked(&self.files).cache.as_mut().map_or(Ok(Loaded::default()), work)
    }

    /// A pipeline of a cache was used for the first time.
    pub fn used(&self, index: u32, mask: Mask) {
        if self.is_on {
            let mut waiting = locked(&self.waiting);
            let first = First { index, mask, is_new: false };
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
            match try_push(&mut waiting.first, First { index, mask, is_new: true }) {
                Ok(()) => waiting.new += 1,
                Err(_) => waiting.lost += 1,
            }
        }
    }

    /// The uses of the first `count` pipelines since the last call had this mask. It changes now, or they are written.
    pub fn count_uses(&self, known: &Known, count: usize, mask: Mask) -> Result<()> {
        if !self.is_on {
            return Ok(());
        }
        let counted = &mut *locked(&self.counted);
        counted.try_reserve(count.saturating_sub(counted.len()))?;
        counted.resize_with(count.max(counted.len()), Counted::default);
        let mut later = Vec::new();
        later.try_reserve(count)?;
        let found = (0..).zip(counted).try_for_each(|(index, counted)| {
            let uses = known.uses.uses(index);
            let is_first = counted.uses == 0;
            // The first use is written on its own.
            let times = uses.saturating_sub(counted.uses).saturating_sub(is_first.into());
            if uses > counted.uses {
                let is_new_mask = counted.masks.insert(mask)? && !is_first;
                counted.uses = uses;
                if times > 0 {
                    later.push(Later { index, times, mask, is_new_mask });
                }
            }
            Ok(())
        });
        let mut waiting = locked(&self.waiting);
        match waiting.later.try_reserve(later.len()) {
            Ok(()) => waiting.later.append(&mut later),
            Err(_) => waiting.lost += later.len() as u64,
        }
        found
    }

    /// Whether something should be written now.
    pub fn has_work(&self) -> bool {
        self.is_on && {
            let waiting = locked(&self.waiting);
            !waiting.has_failed && (waiting.new > 0 || waiting.first.len() > USES / 2 || !waiting.later.is_empty())
        }
    }

    /// Write what waits. Waits for files. After an error the rest still waits.
    pub fn write(&self, known: &Known, precompiler: &Precompiler) -> Result<()> {
        let files = &mut *locked(&self.files);
        loop {
            // Nothing is allocated here, so that a frame waits for some instructions at most.
            let mut waiting = locked(&self.waiting);
            if waiting.first.is_empty() {
                let later = std::mem::take(&mut waiting.later);
                drop(waiting);
                return self.write_later(files, precompiler, later);
            }
            // Uses come first, so that eviction for a new pipeline sees them.
            let used =
                (waiting.new < waiting.first.len()).then(|| waiting.first.iter().rposition(|first| !first.is_new));
            let at = used.flatten().unwrap_or(waiting.first.len() - 1);
            let first = waiting.first.swap_remove(at);
            waiting.new -= usize::from(first.is_new);
            drop(waiting);
            if let Err(why) = files.write(known, precompiler, first) {
                let mut waiting = locked(&self.waiting);
                waiting.has_failed = true;
                // The list kept its memory, unless another thread has filled it.
                match try_push(&mut waiting.first, first) {
                    Ok(()) => waiting.new += usize::from(first.is_new),
                    Err(_) => waiting.lost += 1,
                }
                return Err(why);
            }
        }
    }

    /// Write later uses. Their pipelines are written.
    fn write_later(&self, files: &mut Files, precompiler: &Precompiler, mut later: Vec<Later>) -> Result<()> {
        let written = files.write_later(precompiler, &later);
        if written.is_err() {
            let mut waiting = locked(&self.waiting);
            waiting.has_failed = true;
            match waiting.later.try_reserve(later.len()) {
                Ok(()) => waiting.later.append(&mut later),
                Err(_) => waiting.lost += later.len() as u64,
            }
        }
        written
    }

    /// Wait until everything written is on the disk.
    pub fn flush(&self) -> Result<()> {
        locked(&self.files).flush()?;
        match std::mem::take(&mut locked(&self.waiting).lost) {
            0 => Ok(()),
            lost => Err(error!(OutOfMemory, "{lost} pipelines were not kept or recorded: out of memory")),
        }
    }

    /// Why nothing can be kept, if so.
    pub fn problem(&self) -> Option<Text<232>> {
        // While files are written, the answer is that of the next call.
        self.files.try_lock().ok()?.cache.as_ref()?.problem()
    }

    /// Bytes held.
    pub fn memory_used(&self) -> u64 {
        let lists = locked(&self.waiting).first.capacity() * size_of::<First>();
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
            if first.is_new {
                let (description, masks) = (description.borrow(), &[first.mask]);
                cache.put(&key, &UserEntry { description, masks, first_frame: frame, build_us })?;
            } else {
                cache.note_use(&key, first.mask)?;
            }
        }
        if let Some(recorder) = &mut self.recorder {
            let description = description.borrow();
            recorder.record(&FirstUse { key, description, mask: first.mask, frame: frame.into(), build_us })?;
        }
        Ok(())
    }

    fn write_later(&mut self, precompiler: &Precompiler, later: &[Later]) -> Result<()> {
        let mut uses = Vec::new();
        for &Later { index, times, mask, is_new_mask } in later {
            let Some(key) = precompiler.key(index) else { continue };
            if let Some(cache) = self.cache.as_mut().filter(|_| is_new_mask && !self.is_read_only) {
                cache.note_use(&key, mask)?;
            }
            if self.recorder.is_some() {
                try_push(&mut uses, LaterUses { key, times, mask })?;
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
