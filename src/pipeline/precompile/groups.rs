//! Ready groups: the pipelines of one object, which are drawn together or not at all.
//!
//! A group has one word of atomics: its generation, and the number of its pipelines that are not ready. A render thread
//! reads that word. The word changes with the state of a pipeline, under the lock of the precompiler.

use std::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::time::Duration;

use super::entry::State;
use crate::base::{Error, Id, Result, Slots, error};
use crate::pipeline::seen::Grown;

/// Most pipelines of a group.
pub const MAX_GROUP: usize = 4096;

/// How an object is drawn while some of its pipelines are missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// It is not drawn. The default.
    #[default]
    Skip,
    /// It is drawn with other pipelines.
    Substitute,
    /// The call waits, at most as long. If the time is over, the object is not drawn.
    Wait(Duration),
}

/// How to draw the object of a group now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// All pipelines are ready.
    Draw,
    /// Do not draw it.
    Skip,
    /// Draw it with other pipelines.
    Substitute,
}

/// Decisions by reason. Those of groups that are ready are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decisions {
    /// Skipped by policy, because a pipeline is missing.
    pub skipped: u64,
    /// Substituted by policy, because a pipeline is missing.
    pub substituted: u64,
    /// Waited, and then all pipelines were ready.
    pub waited: u64,
    /// Waited in vain, and then skipped.
    pub timed_out: u64,
    /// Skipped or substituted, because a pipeline failed or is banned. Included in the first two.
    pub refused: u64,
}

#[derive(Default)]
pub struct Counters {
    pub skipped: AtomicU64,
    pub substituted: AtomicU64,
    pub waited: AtomicU64,
    pub timed_out: AtomicU64,
    pub refused: AtomicU64,
}

impl Counters {
    pub fn read(&self) -> Decisions {
        Decisions {
            skipped: self.skipped.load(Relaxed),
            substituted: self.substituted.load(Relaxed),
            waited: self.waited.load(Relaxed),
            timed_out: self.timed_out.load(Relaxed),
            refused: self.refused.load(Relaxed),
        }
    }
}

/// The part of a group that readers see.
#[derive(Default)]
struct Word {
    /// The generation in the upper half; [`ALIVE`] and the missing pipelines in the lower one.
    missing: AtomicU64,
    /// Pipelines that failed or are banned.
    refused: AtomicU32,
    /// Whether its missing pipelines were requested, and none of them went back since.
    is_requested: AtomicBool,
}

/// The words of all groups, for readers without a lock.
#[derive(Default)]
pub struct Words(Grown<Word>);

/// A group exists. Counts of missing pipelines are smaller.
const ALIVE: u64 = 1 << 31;

/// The word of a group without missing pipelines.
fn complete(id: Id) -> u64 {
    u64::from(id.generation) << 32 | ALIVE
}

impl Words {
    fn at(&self, id: Id) -> Option<&Word> {
        self.0.get(id.index1.checked_sub(1)?)
    }

    /// The number of missing pipelines of a group. `None` for an invalid id.
    #[inline]
    pub fn missing(&self, id: Id) -> Option<u32> {
        let missing = self.at(id)?.missing.load(Acquire) ^ complete(id);
        (missing < ALIVE).then_some(missing as u32)
    }

    /// Whether a pipeline of the group failed or is banned.
    pub fn is_refused(&self, id: Id) -> bool {
        self.at(id).is_some_and(|word| word.refused.load(Relaxed) > 0)
    }

    /// Whether the missing pipelines of the group were requested.
    pub fn is_requested(&self, id: Id) -> bool {
        self.at(id).is_some_and(|word| word.is_requested.load(Relaxed))
    }

    /// True once per group, and again after a pipeline of it went back: its missing pipelines must be requested.
    pub fn must_request(&self, id: Id) -> bool {
        !self.is_requested(id) && self.at(id).is_some_and(|word| !word.is_requested.swap(true, Relaxed))
    }
}

/// The pipelines of all groups.
#[derive(Default)]
pub struct Groups(Slots<Vec<u32>>);

impl Groups {
    /// Add a group of items, each once. `states` are their states.
    pub fn add(&mut self, words: &Words, items: Vec<u32>, state_of: impl Fn(u32) -> State) -> Result<Id> {
        self.0.reserve_one()?;
        words.0.reserve(self.0.positions() + 1)?;
        let missing = items.iter().filter(|&&item| state_of(item) != State::Ready).count() as u64;
        let refused = items.iter().filter(|&&item| state_of(item).is_refused()).count() as u32;
        let id = self.0.insert(items);
        let Some(word) = words.at(id) else {
            self.0.remove(id);
            return Err(Error::OUT_OF_MEMORY);
        };
        word.refused.store(refused, Relaxed);
        word.is_requested.store(false, Relaxed);
        word.missing.store(complete(id) | missing, Release);
        Ok(id)
    }

    /// Remove a group. Returns its items.
    pub fn remove(&mut self, words: &Words, id: Id) -> Result<Vec<u32>> {
        let items =
            self.0.remove(id).ok_or_else(|| error!(NotFound, "no such group: it was removed or never added"))?;
        if let Some(word) = words.at(id) {
            word.missing.store(0, Release);
        }
        Ok(items)
    }

    /// The items of a group.
    pub fn items(&self, id: Id) -> Result<&[u32]> {
        let position = self.0.position(id);
        let items = position.and_then(|position| self.0.at(position));
        Ok(items.ok_or_else(|| error!(NotFound, "no such group: it was removed or never added"))?)
    }

    /// A pipeline of a group has changed its state.
    pub fn change(words: &Words, id: Id, before: State, after: State) {
        let Some(word) = words.at(id) else { return };
        let add = |count: bool| u64::from(count);
        // Only the holder of the lock writes.
        let missing = word.missing.load(Relaxed) + add(before == State::Ready) - add(after == State::Ready);
        let refused = word.refused.load(Relaxed) + u32::from(after.is_refused()) - u32::from(before.is_refused());
        let goes_back = before.is_started() && !after.is_started();
        if goes_back {
            // It was forgotten or cancelled. A request may have skipped it before.
            word.is_requested.store(false, Relaxed);
        }
        word.refused.store(refused, Relaxed);
        word.missing.store(missing, Release);
    }

    /// Bytes held.
    pub fn memory_used(&self, words: &Words) -> usize {
        let items = self.0.iter().map(|(_, items)| items.capacity() * size_of::<u32>()).sum::<usize>();
        self.0.memory_used() + items + words.0.memory_used()
    }
}
