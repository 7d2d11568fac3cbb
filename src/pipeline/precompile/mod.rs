//! The precompiler decides which pipeline is compiled next, and when. It compiles nothing and starts no thread. It reads
//! no clock, except for the timeouts of waits.
//!
//! Any thread of the host takes jobs with [`Precompiler::take`], compiles, and reports with [`Precompiler::finish`]. Once a
//! frame, [`Precompiler::step`] grants the next batch, by a [`Mode`]'s pace or by a budget in microseconds. Which entries
//! are compiled depends on two usage masks, in which order on [`Order`]. A pipeline that is needed now is
//! [requested](Precompiler::request): it comes before all others, in every mode, outside of every batch.
//!
//! Invariants:
//! 1. A pipeline runs at most once at a time, and never again after it is ready, failed or banned.
//! 2. A pipeline runs only if a current mask selects it, or if it was requested.
//! 3. While a requested pipeline waits, no other job is taken. So it waits at most for one running build per worker.
//! 4. The same calls give the same jobs: build times come in as arguments, and a frame is a step.
//! 5. Each state is counted exactly, at any time.
//! 6. Questions of a frame take no lock: the state of a key, whether a group is ready, a step with nothing to do.
//! 7. No lock is held while the host's comparison of masks runs.
//! 8. Taking, finishing and requesting allocate nothing.
//!
//! | file | content |
//! |---|---|
//! | `entry` | plain data that goes in and out |
//! | `pace` | modes, batches, and budgets of time |
//! | `selection` | masks, and their comparison |
//! | `items` | all pipelines, with their states and counts |
//! | `queue` | [`Order`], and requested pipelines |
//! | `predict` | which pipelines are needed soon |
//! | `cover` | the order that builds each shader early |
//! | `estimate` | expected build times |
//! | `groups` | ready groups |
//! | `core` | the state behind the lock |
//!
//! Sources: modes, masks and defaults are those of `r.ShaderPipelineCache` in the Unreal Engine's documentation. The greedy
//! cover is Chvátal's, its lazy evaluation Minoux'.

mod core;
mod cover;
mod entry;
mod estimate;
mod groups;
mod items;
mod pace;
mod predict;
mod queue;
mod selection;
#[cfg(test)]
mod tests;

use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Relaxed, Release},
};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use self::core::{Board, Core};
use super::seen::Place;
use super::{Mask, PipelineKey};
use crate::base::{Id, Result, error};
use crate::executor::Deadline;
pub use entry::{Counts, Entry, Finished, Job, MAX_SIGHTINGS, Outcome, Sighting, State};
use groups::Counters;
pub use groups::{Decision, Decisions, MAX_GROUP, Policy};
pub use pace::{Mode, Pace, Paces};
pub use queue::Order;
pub use selection::{Compare, Comparison, CurrentMasks};

/// Uses that wait to be learned from. With more the oldest is dropped.
const MOST_USES: usize = 256;
/// Uses that one take learns from: about 0.1 ms of work at most.
const USES_AT_ONCE: usize = 16;

/// The options of a precompiler.
#[derive(Clone, Default)]
pub struct Options {
    /// The first mode. Default: [`Mode::Fast`].
    pub mode: Mode,
    /// The pace of each mode.
    pub paces: Paces,
    /// Threads that compile at the same time. Each gets the time of the pace; a budget from outside is for all of them.
    /// Default: 0, which means 1.
    pub workers: u32,
    /// The order. Default: [`Order::Predicted`].
    pub order: Order,
    /// Compile pipelines with new shaders first, so that each distinct shader is built early. Default: false.
    pub shaders_first: bool,
    /// The first masks. Default: no bits, which selects all entries.
    pub masks: CurrentMasks,
    /// How masks are compared. Default: [`Comparison::HasAll`].
    pub comparison: Comparison,
}

/// Chooses the pipelines to compile. All methods may be called from any thread at any time.
pub struct Precompiler {
    board: Board,
    core: Mutex<Core>,
    /// A pipeline got its final state.
    changed: Condvar,
    /// Uses that the next [`take`](Self::take) learns from.
    uses: Mutex<Vec<u32>>,
    /// Whether a step has something to grant.
    is_waiting: AtomicBool,
    /// Whether a take has a job.
    has_job: AtomicBool,
    frame: AtomicU64,
    counters: Counters,
}

/// Holds the lock. Dropping it shows the changes to readers without the lock.
struct Guard<'a> {
    owner: &'a Precompiler,
    core: MutexGuard<'a, Core>,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.owner.is_waiting.store(self.core.lane().is_some(), Relaxed);
        self.owner.has_job.store(self.core.has_job(), Release);
        if std::mem::take(&mut self.core.must_notify) && self.core.waiters > 0 {
            self.owner.changed.notify_all();
        }
    }
}

impl Precompiler {
    /// A precompiler without entries.
    pub fn new(options: Options) -> Result<Self> {
        let Options { mode, paces, workers, order, shaders_first, masks, comparison } = options;
        let mut uses = Vec::new();
        uses.try_reserve_exact(MOST_USES)?;
        let precompiler = Self {
            board: Board::default(),
            core: Mutex::new(Core::new(order, shaders_first, mode, paces, workers)),
            changed: Condvar::new(),
            uses: Mutex::new(uses),
            is_waiting: AtomicBool::new(false),
            has_job: AtomicBool::new(false),
            frame: AtomicU64::new(0),
            counters: Counters::default(),
        };
        precompiler.reselect(Some(masks), Some(&comparison))?;
        Ok(precompiler)
    }

    fn core(&self) -> Guard<'_> {
        Guard { owner: self, core: self.core.lock().unwrap_or_else(PoisonError::into_inner) }
    }

    // Entries.

    /// Add an entry. If its key has one, only the masks are added. Returns whether the entry is new.
    pub fn add(&self, entry: &Entry<'_>) -> Result<bool> {
        let mut guard = self.core();
        let is_new = guard.core.add(&self.board, entry)?;
        let has_unanswered = guard.core.items.selection.has_unanswered();
        drop(guard);
        if has_unanswered {
            self.reselect(None, None)?;
        }
        Ok(is_new)
    }

    /// Add several entries. Returns the number of new ones. After an error the entries before the failed one stay.
    pub fn add_all<'a>(&self, entries: impl IntoIterator<Item = Entry<'a>>) -> Result<usize> {
        let mut count = 0;
        let added = entries.into_iter().try_for_each(|entry| {
            count += usize::from(self.core().core.add(&self.board, &entry)?);
            Ok(())
        });
        let has_unanswered = self.core().core.items.selection.has_unanswered();
        if has_unanswered {
            self.reselect(None, None)?;
        }
        added.map(|()| count)
    }

    /// Set the final state of a pipeline that something else has compiled or banned. The key needs no entry. A job that is
    /// running goes on, and does not change the state.
    pub fn settle(&self, key: &PipelineKey, state: State) -> Result<()> {
        if !state.is_final() {
            return Err(error!(InvalidArgument, "{state:?} is no final state: pass Ready, Failed or Banned"));
        }
        self.core().core.settle(&self.board, key, state)
    }

    /// Compile a pipeline again that is ready, failed or banned: for instance after the device was lost. A pipeline without
    /// an entry is unknown afterwards. False: it has no final state, or a job of it is still running.
    pub fn forget(&self, index: u32) -> bool {
        self.core().core.forget(&self.board, index)
    }

    /// The state of a pipeline. Takes no lock.
    #[inline]
    pub fn state(&self, key: &PipelineKey) -> State {
        self.board.table.find(key).map_or(State::Unknown, |item| self.board.state(item))
    }

    /// The index of a pipeline: see [`Job::index`]. Takes no lock.
    #[inline]
    pub fn find(&self, key: &PipelineKey) -> Option<u32> {
        self.board.table.find(key)
    }

    /// The place of a pipeline, compiled into its caller.
    #[inline(always)]
    pub(in crate::pipeline) fn find_here(&self, key: &PipelineKey) -> Option<Place> {
        self.board.table.find_here(key)
    }

    /// The key of an index.
    pub fn key(&self, index: u32) -> Option<PipelineKey> {
        self.board.table.key(index)
    }

    /// [`state`](Self::state) by index.
    #[inline]
    pub fn state_of(&self, index: u32) -> State {
        self.board.state(index)
    }

    /// Whether the pipeline at a place is ready.
    #[inline(always)]
    pub(in crate::pipeline) fn is_ready_at(&self, place: Place) -> bool {
        self.board.is_ready_at(place)
    }

    /// Number of indices.
    pub fn len(&self) -> usize {
        self.board.table.len()
    }

    /// Whether no key is known.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Pipelines by state.
    pub fn counts(&self) -> Counts {
        self.core().core.items.counts()
    }

    /// Pipelines that are not compiled yet and that a mask selects, or would. Compares it with all masks.
    pub fn remaining_of(&self, mask: Mask) -> Result<usize> {
        let masks = CurrentMasks { regular: mask, ..CurrentMasks::default() };
        loop {
            let question = self.core().core.items.selection.question(Some(masks), None)?;
            // Calls the host, without the lock.
            let answer = question.ask()?;
            let counted = self.core().core.remaining(&answer);
            if let Some(count) = counted {
                return Ok(count);
            }
        }
    }

    // Control.

    /// Change the mode. The rest of this frame's grant is withdrawn; the next step grants by the new mode.
    pub fn set_mode(&self, mode: Mode) {
        self.core().core.set_mode(&self.board, mode);
    }

    /// The mode.
    pub fn mode(&self) -> Mode {
        self.core().core.mode()
    }

    /// Compile only requested pipelines until [`resume`](Self::resume). Running jobs go on.
    pub fn pause(&self) {
        self.set_mode(Mode::Paused);
    }

    /// Return to the mode before the pause.
    pub fn resume(&self) {
        let mut guard = self.core();
        let mode = guard.core.resumed_mode();
        guard.core.set_mode(&self.board, mode);
    }

    /// Change the pace of the modes, from the next step on.
    pub fn set_paces(&self, paces: Paces) {
        self.core().core.set_paces(paces);
    }

    /// The pace of the modes.
    pub fn paces(&self) -> Paces {
        self.core().core.paces()
    }

    /// Change the order.
    pub fn set_order(&self, order: Order) {
        self.core().core.set_order(order);
    }

    /// Change the current masks, and select again which entries wait. Running jobs go on, requested pipelines stay
    /// requested. On an error nothing changes.
    pub fn set_masks(&self, masks: CurrentMasks) -> Result<()> {
        self.reselect(Some(masks), None)
    }

    /// The current masks.
    pub fn masks(&self) -> CurrentMasks {
        self.core().core.items.selection.current()
    }

    /// Change how masks are compared, and select again. On an error nothing changes.
    pub fn set_comparison(&self, comparison: Comparison) -> Result<()> {
        self.reselect(None, Some(&comparison))
    }

    fn reselect(&self, masks: Option<CurrentMasks>, comparison: Option<&Comparison>) -> Result<()> {
        loop {
            let question = self.core().core.items.selection.question(masks, comparison)?;
            // Calls the host, without the lock.
            let answer = question.ask()?;
            let old = self.core().core.apply(&self.board, &answer);
            if old.is_some() {
                return Ok(());
            }
        }
    }

    // Work.

    /// Begin a frame: grant the next batch. `budget_us` replaces the mode's limit of time, for all workers together; there
    /// 0 allows nothing. A loading screen without frames calls it in its loop. One thread at a time. With nothing to grant
    /// this is two loads and a store.
    #[inline]
    pub fn step(&self, budget_us: Option<u64>) {
        self.frame.store(self.frame.load(Relaxed) + 1, Relaxed);
        if self.is_waiting.load(Relaxed) {
            self.core().core.step(budget_us);
        }
    }

    /// Whether [`take`](Self::take) may have a job now. It has none, once per frame, if the next build does not fit the
    /// rest of the grant. Takes no lock.
    #[inline]
    pub fn has_job(&self) -> bool {
        self.has_job.load(Relaxed)
    }

    /// The next job: a requested pipeline, or the next one that this frame's grant allows.
    pub fn take(&self) -> Option<Job> {
        let mut guard = self.core();
        self.learn(&mut guard.core);
        guard.core.take(&self.board, self.frame.load(Relaxed))
    }

    /// Take a certain pipeline, to compile it on this thread now. `None` if it is unknown, running or done.
    pub fn take_key(&self, key: &PipelineKey) -> Option<Job> {
        let item = self.board.table.find(key)?;
        self.note_item(item);
        self.core().core.take_item(&self.board, item)
    }

    /// Report the end of a job, and its time in microseconds.
    pub fn finish(&self, job: &Job, outcome: Outcome, took_us: u64) -> Result<Finished> {
        self.core().core.finish(&self.board, job, outcome, took_us)
    }

    /// True once after the last remaining pipeline has got its final state, or no mask selects it any more. Also
    /// [`Finished::is_complete`] reports it, if a job was the last.
    pub fn take_completion(&self) -> bool {
        self.core().core.take_completion()
    }

    /// A pipeline is needed now. It comes before all that was not requested, in every mode, also if no mask selects it. It
    /// is not counted in a batch, but its time is charged to the budget of the frame. Returns its state.
    pub fn request(&self, key: &PipelineKey) -> State {
        let Some(item) = self.board.table.find(key) else { return State::Unknown };
        let state = self.board.state(item);
        if !matches!(state, State::Queued | State::Unselected) {
            return state;
        }
        self.note_item(item);
        self.core().core.request(&self.board, item);
        self.board.state(item)
    }

    /// Request a pipeline, and wait for its final state. Returns its state then, after the timeout, or as soon as its compile
    /// is cancelled or it is forgotten. Other threads must take jobs meanwhile: without them call
    /// [`take_key`](Self::take_key).
    pub fn wait(&self, key: &PipelineKey, timeout: Duration) -> State {
        let Some(item) = self.board.table.find(key) else { return State::Unknown };
        let returns = self.core().core.items.at(item).returns;
        let is_open = |state| matches!(state, State::Queued | State::Running);
        if is_open(self.request(key)) {
            let is_met = |core: &Core| !is_open(self.board.state(item)) || core.items.at(item).returns != returns;
            self.wait_until(timeout, is_met);
        }
        self.board.state(item)
    }

    /// Wait until a condition that changes with the states of pipelines. Returns false after the timeout.
    fn wait_until(&self, timeout: Duration, is_met: impl Fn(&Core) -> bool) -> bool {
        let deadline = Deadline::after(timeout);
        let mut core = self.core.lock().unwrap_or_else(PoisonError::into_inner);
        core.waiters += 1;
        while !is_met(&core) && !deadline.is_over() {
            core = match deadline.left() {
                Some(left) => self.changed.wait_timeout(core, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.changed.wait(core).unwrap_or_else(PoisonError::into_inner),
            };
        }
        core.waiters -= 1;
        is_met(&core)
    }

    /// A pipeline was used. The predicted order learns from it. Cheap, but not free: call it for first uses.
    pub fn note_use(&self, key: &PipelineKey) {
        if let Some(item) = self.board.table.find(key) {
            self.note_item(item);
        }
    }

    fn note_item(&self, item: u32) {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        if uses.len() == MOST_USES {
            uses.remove(0);
        }
        uses.push(item);
    }

    /// Learn from some uses, the latest first. The frame may wait for the lock, so it is not held for all of them.
    fn learn(&self, core: &mut Core) {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        let frame = self.frame.load(Relaxed);
        let rest = uses.len().saturating_sub(USES_AT_ONCE);
        uses.drain(rest..).rev().for_each(|item| core.observe(item, frame));
    }

    /// Distinct shaders of all entries, and those with a pipeline that was started. Only in the shaders-first order.
    pub fn shaders(&self) -> (usize, usize) {
        let guard = self.core();
        (guard.core.cover.shaders(), guard.core.cover.started_shaders())
    }

    // Groups.

    /// Add a group: the pipelines of one object, at most [`MAX_GROUP`]. Keys without an entry count as missing until they
    /// are added or [settled](Self::settle). After an error some of the keys may stay known without an entry.
    pub fn add_group(&self, keys: &[PipelineKey]) -> Result<Id> {
        self.core().core.add_group(&self.board, keys)
    }

    /// Remove a group. Its pipelines stay.
    pub fn remove_group(&self, group: Id) -> Result<()> {
        self.core().core.remove_group(&self.board, group)
    }

    /// Whether all pipelines of a group are ready. False for an invalid id. Takes no lock.
    #[inline]
    pub fn is_ready(&self, group: Id) -> bool {
        self.board.words.missing(group) == Some(0)
    }

    /// The number of pipelines of a group that are not ready. Takes no lock.
    pub fn missing(&self, group: Id) -> Result<u32> {
        let missing = self.board.words.missing(group);
        missing.ok_or_else(|| error!(NotFound, "no such group: it was removed or never added"))
    }

    /// How to draw the object of a group now. If it is not ready, its missing pipelines are
    /// [requested once](Self::request_group_once). Takes no lock otherwise, except to wait.
    #[inline]
    pub fn decide(&self, group: Id, policy: Policy) -> Result<Decision> {
        match self.missing(group)? {
            0 => Ok(Decision::Draw),
            _ => self.decide_missing(group, policy),
        }
    }

    #[cold]
    fn decide_missing(&self, group: Id, policy: Policy) -> Result<Decision> {
        let words = &self.board.words;
        let is_decided = || words.missing(group).is_none_or(|missing| missing == 0) || words.is_refused(group);
        let count = |counter: &AtomicU64| _ = counter.fetch_add(1, Relaxed);
        let returns = if let Policy::Wait(_) = policy { self.core().core.returns_of(group) } else { 0 };
        self.request_group_once(group)?;
        if let Policy::Wait(timeout) = policy {
            // A host that cancels every compile must not keep this thread for ever.
            self.wait_until(timeout, |core| is_decided() || core.returns_of(group) != returns);
            let is_decided = is_decided();
            if self.missing(group)? == 0 {
                count(&self.counters.waited);
                return Ok(Decision::Draw);
            }
            if !is_decided {
                count(&self.counters.timed_out);
                return Ok(Decision::Skip);
            }
        }
        if words.is_refused(group) {
            count(&self.counters.refused);
        }
        if policy == Policy::Substitute {
            count(&self.counters.substituted);
            return Ok(Decision::Substitute);
        }
        count(&self.counters.skipped);
        Ok(Decision::Skip)
    }

    /// Request the missing pipelines of a group, unless its last request still holds. It holds until a pipeline of the
    /// group is forgotten, or its compile cancelled. Takes no lock while it holds.
    pub fn request_group_once(&self, group: Id) -> Result<()> {
        if self.board.words.must_request(group) { self.request_group(group) } else { Ok(()) }
    }

    /// Request the missing pipelines of a group.
    pub fn request_group(&self, group: Id) -> Result<()> {
        let mut guard = self.core();
        let core = &mut *guard.core;
        let count = core.groups.items(group)?.len();
        for at in 0..count {
            let item = core.groups.items(group)?[at];
            if !core.items.at(item).state.is_final() {
                core.request(&self.board, item);
            }
        }
        Ok(())
    }

    /// Decisions on groups by reason.
    pub fn decisions(&self) -> Decisions {
        self.counters.read()
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        size_of::<Self>() + self.board.memory_used() + self.core().core.memory_used(&self.board)
    }
}
