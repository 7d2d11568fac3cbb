//! How much of the game the caches cover.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::known::Origin;
use crate::pipeline::precompile::{Counts, Precompiler, State};

/// Counts of pipelines since the library was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Pipelines of all caches that were opened, the user's included.
    pub opened: u64,
    /// Opened pipelines that were used so far.
    pub used: u64,
    /// Used pipelines that were ready at their first use.
    pub ready: u64,
    /// Used pipelines that were not ready at their first use.
    pub missed: u64,
    /// Used, and in no cache.
    pub unknown: u64,
    /// Milliseconds that the host spent to build pipelines which were missed or unknown.
    pub hitch_ms: u64,
    /// All pipelines by state.
    pub states: Counts,
}

/// The counters behind a [`Coverage`].
#[derive(Default)]
pub struct Counters {
    opened: AtomicU64,
    ready: AtomicU64,
    missed: AtomicU64,
    unknown: AtomicU64,
    hitch_us: AtomicU64,
}

fn add(counter: &AtomicU64, more: u64) {
    _ = counter.fetch_update(Relaxed, Relaxed, |sum| Some(sum.saturating_add(more)));
}

impl Counters {
    /// A pipeline of a cache became known.
    pub fn opened(&self) {
        add(&self.opened, 1);
    }

    /// First use of a pipeline.
    pub fn used(&self, origin: Option<Origin>, state: State) {
        match (origin, state) {
            (Some(Origin::Shipped | Origin::User), State::Ready) => add(&self.ready, 1),
            (Some(Origin::Shipped | Origin::User), _) => add(&self.missed, 1),
            _ => {}
        }
    }

    /// The host built a pipeline. `was_used`: its first use was counted before.
    pub fn built_by_host(&self, origin: Option<Origin>, was_used: bool, build_us: u64) {
        match origin {
            Some(Origin::Shipped | Origin::User) if !was_used => add(&self.missed, 1),
            None => add(&self.unknown, 1),
            _ => {}
        }
        add(&self.hitch_us, build_us);
    }

    /// The counts so far.
    pub fn read(&self, precompiler: &Precompiler) -> Coverage {
        let read = |counter: &AtomicU64| counter.load(Relaxed);
        let [ready, missed] = [&self.ready, &self.missed].map(read);
        Coverage {
            opened: read(&self.opened),
            used: ready + missed,
            ready,
            missed,
            unknown: read(&self.unknown),
            hitch_ms: read(&self.hitch_us) / 1000,
            states: precompiler.counts(),
        }
    }
}
