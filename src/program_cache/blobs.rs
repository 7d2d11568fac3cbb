//! Blobs of renderers that ask for the size first, allocate a buffer, and copy in a second call.
//!
//! The blob of the first call is kept for the calling thread, so that it is not evicted in between. It is dropped if its
//! key is put or removed, by a clear, and under memory pressure. Such a renderer does not tell when the driver uses a
//! blob. If uses are tracked, each copied blob begins one, and the host ends all of them together.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::key::Key;
use super::memory::Blob;
use super::strikes::UseToken;

/// Threads whose measured blob is kept. More threads take each other's place in turn.
const THREADS: usize = 32;
/// Uses that may be open: some hundred times the blobs that a frame loads. Later blobs begin none.
const MAX_OPEN_USES: usize = 1 << 16;

/// The blob that a thread has measured.
struct Measured {
    thread: usize,
    key: Key,
    /// `None`: dropped since.
    blob: Option<Blob>,
}

#[derive(Default)]
struct State {
    measured: [Option<Measured>; THREADS],
    turn: usize,
    are_uses_tracked: bool,
    uses: Vec<UseToken>,
}

/// The blob of an earlier measurement.
pub enum Kept {
    /// It is still the value of its key, or was evicted.
    Valid(Blob),
    /// It was put again, removed or dropped under memory pressure.
    Dropped,
    /// The thread has measured another key, or none.
    Unknown,
}

/// Measured blobs and open uses of a cache.
#[derive(Default)]
pub struct Blobs(Mutex<State>);

impl Blobs {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keep a blob for a thread, instead of the thread's last one.
    pub fn keep(&self, thread: usize, blob: Blob) {
        let measured = Measured { thread, key: *blob.key(), blob: Some(blob) };
        let mut state = self.state();
        let is_threads = |place: &Option<Measured>| place.as_ref().is_some_and(|measured| measured.thread == thread);
        let place = state.measured.iter().position(is_threads);
        let place = place.or_else(|| state.measured.iter().position(Option::is_none)).unwrap_or_else(|| {
            state.turn = (state.turn + 1) % THREADS;
            state.turn
        });
        let before = state.measured[place].replace(measured);
        drop(state);
        drop(before);
    }

    /// Take the blob that a thread has measured.
    pub fn take(&self, thread: usize, key: &Key) -> Kept {
        let is_it = |place: &&mut Option<Measured>| {
            place.as_ref().is_some_and(|measured| measured.thread == thread && measured.key == *key)
        };
        match self.state().measured.iter_mut().find(is_it).and_then(Option::take) {
            None => Kept::Unknown,
            Some(Measured { blob: None, .. }) => Kept::Dropped,
            Some(Measured { blob: Some(blob), .. }) => Kept::Valid(blob),
        }
    }

    /// Drop the measured blobs of a key, or of all keys.
    pub fn forget(&self, key: Option<&Key>) {
        for measured in self.state().measured.iter_mut().flatten() {
            if key.is_none_or(|key| measured.key == *key) {
                measured.blob = None;
            }
        }
    }

    /// Bytes of measured blobs, except those that memory counts.
    pub fn memory_used(&self, is_counted: impl Fn(&Blob) -> bool) -> u64 {
        let state = self.state();
        let uses = state.uses.capacity() * size_of::<UseToken>();
        let blobs = state.measured.iter().flatten().filter_map(|measured| measured.blob.as_ref());
        uses as u64 + blobs.filter(|blob| !is_counted(blob)).map(Blob::memory_used).sum::<u64>()
    }

    /// Set whether copied blobs begin uses.
    pub fn track_uses(&self, is_tracked: bool) {
        self.state().are_uses_tracked = is_tracked;
    }

    /// Whether copied blobs begin uses.
    pub fn are_uses_tracked(&self) -> bool {
        self.state().are_uses_tracked
    }

    /// Keep the token of a use. Returns it without room or memory for it.
    pub fn keep_use(&self, token: UseToken) -> std::result::Result<(), UseToken> {
        let mut state = self.state();
        if state.uses.len() >= MAX_OPEN_USES || state.uses.try_reserve(1).is_err() {
            return Err(token);
        }
        state.uses.push(token);
        Ok(())
    }

    /// Take the tokens of all open uses.
    pub fn take_uses(&self) -> Vec<UseToken> {
        std::mem::take(&mut self.state().uses)
    }

    /// Give the memory of ended tokens back, so that the next frame allocates nothing.
    pub fn recycle(&self, mut tokens: Vec<UseToken>) {
        tokens.clear();
        let mut state = self.state();
        if state.uses.is_empty() {
            state.uses = tokens;
        }
    }
}
