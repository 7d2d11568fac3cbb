//! The user's cache, written in the background. Frames leave numbers in lists whose memory was allocated before.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::known::Known;
use super::push_if_room;
use crate::base::{Result, Text, error, try_push};
use crate::pipeline::precompile::Precompiler;
use crate::pipeline::{Loaded, Mask, UserCache, UserEntry};

/// First uses that wait to be noted. More are dropped: their entries age sooner.
const USES: usize = 4096;

/// A pipeline that the host built, to be kept.
struct New {
    index: u32,
    mask: Mask,
    build_us: u64,
}

#[derive(Default)]
struct Waiting {
    new: Vec<New>,
    used: Vec<u32>,
    /// Pipelines that were lost because memory ran out.
    lost: u64,
    /// Writing failed. It is tried again with the next pipeline, or by a flush.
    has_failed: bool,
}

/// Pipelines that wait to be kept, and the cache that keeps them.
#[derive(Default)]
pub struct Saving {
    waiting: Mutex<Waiting>,
    /// Held while files are written. `None`: nothing is kept.
    cache: Mutex<Option<UserCache>>,
    is_on: bool,
}

fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Saving {
    pub fn new(cache: Option<UserCache>) -> Result<Self> {
        let (is_on, mut waiting) = (cache.is_some(), Waiting::default());
        if is_on {
            waiting.used.try_reserve_exact(USES)?;
        }
        Ok(Self { waiting: Mutex::new(waiting), cache: Mutex::new(cache), is_on })
    }

    /// The effect of `work` on the cache. Nothing without a cache.
    pub fn with_cache(&self, work: impl FnOnce(&mut UserCache) -> Result<Loaded>) -> Result<Loaded> {
        locked(&self.cache).as_mut().map_or(Ok(Loaded::default()), work)
    }

    /// A pipeline was used for the first time.
    pub fn used(&self, index: u32) {
        if self.is_on {
            push_if_room(&mut locked(&self.waiting).used, index);
        }
    }

    /// Keep a pipeline that the host built.
    pub fn save(&self, index: u32, mask: Mask, build_us: u64) {
        if self.is_on {
            let mut waiting = locked(&self.waiting);
            waiting.has_failed = false;
            if try_push(&mut waiting.new, New { index, mask, build_us }).is_err() {
                waiting.lost += 1;
            }
        }
    }

    /// Whether something waits.
    pub fn has_work(&self) -> bool {
        self.is_on && {
            let waiting = locked(&self.waiting);
            !waiting.has_failed && (!waiting.new.is_empty() || waiting.used.len() > USES / 2)
        }
    }

    /// Write what waits. Waits for files. After an error the rest still waits.
    pub fn write(&self, known: &Known, precompiler: &Precompiler) -> Result<()> {
        let mut cache = locked(&self.cache);
        let Some(cache) = cache.as_mut() else { return Ok(()) };
        loop {
            // Nothing is allocated here, and frames wait for a swap of pointers at most.
            let Some(new) = locked(&self.waiting).new.pop() else { break };
            if let Err(why) = put(cache, known, precompiler, &new) {
                let mut waiting = locked(&self.waiting);
                waiting.has_failed = true;
                // The list kept its memory, unless another thread has filled it.
                waiting.lost += u64::from(try_push(&mut waiting.new, new).is_err());
                return Err(why);
            }
        }
        loop {
            let Some(index) = locked(&self.waiting).used.pop() else { break };
            if let Some(key) = precompiler.key(index) {
                cache.touch(&key)?;
            }
        }
        Ok(())
    }

    /// Wait until everything written is on the disk.
    pub fn flush(&self) -> Result<()> {
        locked(&self.cache).as_mut().map_or(Ok(()), UserCache::flush)?;
        match std::mem::take(&mut locked(&self.waiting).lost) {
            0 => Ok(()),
            lost => Err(error!(OutOfMemory, "{lost} pipelines were not kept for the next start: out of memory")),
        }
    }

    /// Why nothing can be kept, if so.
    pub fn problem(&self) -> Option<Text<232>> {
        // While files are written, the answer is that of the next call.
        self.cache.try_lock().ok()?.as_ref()?.problem()
    }

    /// Bytes held.
    pub fn memory_used(&self) -> u64 {
        let waiting = locked(&self.waiting);
        let lists = waiting.new.capacity() * size_of::<New>() + waiting.used.capacity() * size_of::<u32>();
        drop(waiting);
        lists as u64
            + self.cache.try_lock().ok().and_then(|cache| cache.as_ref().map(UserCache::memory_used)).unwrap_or(0)
    }
}

fn put(cache: &mut UserCache, known: &Known, precompiler: &Precompiler, new: &New) -> Result<()> {
    let (Some(key), Some(description)) = (precompiler.key(new.index), known.description(new.index)) else {
        return Ok(());
    };
    let entry = UserEntry {
        description: description.borrow(),
        masks: &[new.mask],
        first_frame: known.first_frame(new.index),
        build_us: u32::try_from(new.build_us).unwrap_or(u32::MAX),
    };
    cache.put(&key, &entry).map(drop)
}
