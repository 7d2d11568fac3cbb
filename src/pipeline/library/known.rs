//! Facts about each pipeline, by the precompiler's index: description, origin, first use.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::base::{Result, Shared};
use crate::pipeline::precompile::{Entry, Precompiler};
use crate::pipeline::seen::{Grown, UseCounts};
use crate::pipeline::{Description, DescriptionRef};

/// The first source of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Origin {
    /// A cache that ships with the game.
    Shipped = 1,
    /// The user's cache.
    User = 2,
    /// The host built it, because no cache had it.
    Host = 3,
}

const ORIGIN: u8 = 3;
const USED: u8 = 4;
const REQUESTED: u8 = 8;
const RECORDED: u8 = 16;

#[derive(Default)]
struct Fact {
    /// [`Origin`], [`USED`], [`REQUESTED`] and [`RECORDED`].
    flags: AtomicU8,
    /// Frame of the first use.
    first_frame: AtomicU32,
    /// Build time in microseconds. 0: unknown.
    build_us: AtomicU32,
    description: OnceLock<Shared<Description>>,
}

/// All pipelines that are known. Facts are read without a lock.
#[derive(Default)]
pub struct Known {
    pub uses: UseCounts,
    facts: Grown<Fact>,
    /// Held while a pipeline is added, so that whoever misses a description can wait for it.
    adding: Mutex<()>,
}

impl Known {
    /// Add a pipeline to the precompiler, with its description. Returns its index, whether it is new, and whether its uses
    /// were counted before. Uses of a pipeline that the host builds are not: it was unknown.
    pub fn add(
        &self,
        precompiler: &Precompiler,
        entry: &Entry<'_>,
        description: DescriptionRef<'_>,
    ) -> Result<(u32, bool, bool)> {
        // One allocation at most is too many, if another thread adds the same.
        let description = match self.has_description(precompiler, entry) {
            true => None,
            false => Some(Shared::try_new(description.try_to_owned()?)?),
        };
        let _adding = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        // A group may know it.
        let before = precompiler.find(&entry.key).and_then(|index| self.facts.get(index));
        let before = before.map_or(0, |fact| fact.flags.load(Relaxed));
        let room = precompiler.len() + 1;
        self.facts.reserve(room)?;
        self.uses.reserve(room)?;
        let is_new = precompiler.add(entry)?;
        // A group that was added meanwhile may have taken the index that there is room for.
        let index = precompiler.find(&entry.key).unwrap_or(u32::MAX);
        self.facts.reserve(index as usize + 1)?;
        _ = self.uses.reserve(index as usize + 1);
        if let (Some(fact), Some(description)) = (self.facts.get(index), description) {
            _ = fact.description.set(description);
        }
        Ok((index, is_new, before & USED > 0 && before & ORIGIN != Origin::Host as u8))
    }

    fn has_description(&self, precompiler: &Precompiler, entry: &Entry<'_>) -> bool {
        let index = precompiler.find(&entry.key);
        index.and_then(|index| self.facts.get(index)).is_some_and(|fact| fact.description.get().is_some())
    }

    /// The description of a pipeline that a worker has taken.
    pub fn description(&self, index: u32) -> Option<Shared<Description>> {
        let find = || self.facts.get(index).and_then(|fact| fact.description.get()).cloned();
        find().or_else(|| {
            // It is just being added.
            let _adding = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
            find()
        })
    }

    /// Set the source of a pipeline. False if it has one. A cache may list a pipeline that the host has built.
    pub fn set_origin(&self, index: u32, origin: Origin) -> bool {
        let Some(fact) = self.facts.get(index) else { return false };
        let may_set = |old: u8| old == 0 || (old == Origin::Host as u8 && origin != Origin::Host);
        let set = |flags: u8| may_set(flags & ORIGIN).then_some(flags & !ORIGIN | origin as u8);
        fact.flags.fetch_update(Relaxed, Relaxed, set).is_ok()
    }

    /// The first source of a pipeline.
    pub fn origin(&self, index: u32) -> Option<Origin> {
        let flags = self.facts.get(index)?.flags.load(Relaxed);
        [None, Some(Origin::Shipped), Some(Origin::User), Some(Origin::Host)][usize::from(flags & ORIGIN)]
    }

    /// Whether a cache has the pipeline.
    pub fn is_of_cache(&self, index: u32) -> bool {
        matches!(self.origin(index), Some(Origin::Shipped | Origin::User))
    }

    /// Note a use. True for the first one.
    pub fn note_first_use(&self, index: u32, frame: u32) -> bool {
        let Some(fact) = self.facts.get(index) else { return false };
        let is_first = fact.flags.fetch_or(USED, Relaxed) & USED == 0;
        if is_first {
            fact.first_frame.store(frame, Relaxed);
        }
        is_first
    }

    /// The first use is written.
    pub fn note_recorded(&self, index: u32) {
        if let Some(fact) = self.facts.get(index) {
            fact.flags.fetch_or(RECORDED, Relaxed);
        }
    }

    /// Whether the first use is written.
    pub fn is_recorded(&self, index: u32) -> bool {
        self.facts.get(index).is_some_and(|fact| fact.flags.load(Relaxed) & RECORDED > 0)
    }

    /// Frame of the first use.
    pub fn first_frame(&self, index: u32) -> u32 {
        self.facts.get(index).map_or(0, |fact| fact.first_frame.load(Relaxed))
    }

    /// Set the build time in microseconds.
    pub fn set_build_us(&self, index: u32, build_us: u64) {
        if let Some(fact) = self.facts.get(index) {
            fact.build_us.store(u32::try_from(build_us).unwrap_or(u32::MAX), Relaxed);
        }
    }

    /// Build time in microseconds. 0: unknown.
    pub fn build_us(&self, index: u32) -> u32 {
        self.facts.get(index).map_or(0, |fact| fact.build_us.load(Relaxed))
    }

    /// True once: the pipeline is needed and must be requested.
    pub fn must_request(&self, index: u32) -> bool {
        self.facts.get(index).is_some_and(|fact| fact.flags.fetch_or(REQUESTED, Relaxed) & REQUESTED == 0)
    }

    /// A request was not served: the next use requests again.
    pub fn forget_request(&self, index: u32) {
        if let Some(fact) = self.facts.get(index) {
            fact.flags.fetch_and(!REQUESTED, Relaxed);
        }
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        let descriptions = (0..).map_while(|index| self.facts.get(index)).filter_map(|fact| fact.description.get());
        let bytes = |description: &Shared<Description>| {
            size_of::<Description>() + description.state.capacity() + size_of_val(&description.shaders[..])
        };
        self.uses.memory_used() + self.facts.memory_used() + descriptions.map(bytes).sum::<usize>()
    }
}
