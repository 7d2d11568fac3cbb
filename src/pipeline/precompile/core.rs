//! The state of the precompiler behind its lock: plain calls that allocate only where entries and groups are added.

use std::sync::atomic::{AtomicU8, Ordering::Acquire, Ordering::Release};

use super::cover::Cover;
use super::entry::{Entry, Finished, Job, MAX_SIGHTINGS, Outcome, State};
use super::estimate::Estimates;
use super::groups::{Groups, MAX_GROUP, Words};
use super::items::{Item, Items};
use super::pace::{Lane, Mode, Pace, Paces, Purse};
use super::predict::{Predictor, Verdict};
use super::queue::{Order, Queue};
use super::selection::{Answer, Comparison};
use crate::base::{Id, Result, error, sort_numbers};
use crate::pipeline::seen::{Grown, KeyTable, Place};
use crate::pipeline::{MAX_SHADERS, PipelineKey};

/// The part that threads read without the lock.
#[derive(Default)]
pub struct Board {
    pub table: KeyTable,
    pub words: Words,
    states: Grown<AtomicU8>,
}

impl Board {
    /// The state of an item.
    pub fn state(&self, item: u32) -> State {
        State::of_number(self.states.get(item).map_or(0, |state| state.load(Acquire)))
    }

    /// Whether the item at a place is ready: one comparison, for the calls of a frame.
    #[inline(always)]
    pub fn is_ready_at(&self, place: Place) -> bool {
        self.states.at(place).is_some_and(|state| state.load(Acquire) == State::Ready as u8)
    }

    fn note(&self, item: u32, state: State) {
        if let Some(place) = self.states.get(item) {
            place.store(state as u8, Release);
        }
    }

    /// Bytes on the heap, without those of groups.
    pub fn memory_used(&self) -> usize {
        self.table.memory_used() + self.states.memory_used()
    }
}

/// The state behind the lock.
#[derive(Default)]
pub struct Core {
    pub items: Items,
    pub groups: Groups,
    pub cover: Cover,
    /// Threads that wait for a pipeline.
    pub waiters: usize,
    /// Whether a pipeline got its final state, or a group was removed, since the waiting threads looked.
    pub must_notify: bool,
    queue: Queue,
    predictor: Predictor,
    purse: Purse,
    estimates: Estimates,
    order: Order,
    is_shaders_first: bool,
    mode: Mode,
    /// The mode after a pause.
    resumed_mode: Mode,
    paces: Paces,
    workers: u32,
    tickets: u64,
    /// Whether pipelines remained at the last look.
    is_working: bool,
    /// Whether a completion was not reported yet.
    is_complete: bool,
    /// The numbers of an entry's masks and shaders, while it is added.
    masks: Vec<u32>,
    shaders: Vec<u32>,
}

impl Core {
    pub fn new(order: Order, is_shaders_first: bool, mode: Mode, paces: Paces, workers: u32) -> Self {
        let mut core = Self { order, is_shaders_first, paces, workers: workers.max(1), ..Self::default() };
        core.mode = mode;
        if mode != Mode::Paused {
            core.resumed_mode = mode;
        }
        core.items.has_precompile_lane = core.resumed_mode == Mode::Precompile;
        core
    }

    // Adding.

    /// Add an entry, or its masks to the entry with its key. Returns whether it is new.
    pub fn add(&mut self, board: &Board, entry: &Entry<'_>) -> Result<bool> {
        if entry.shaders.len() > MAX_SHADERS {
            let count = entry.shaders.len();
            return Err(error!(LimitExceeded, "the pipeline has {count} shaders: pass at most {MAX_SHADERS}"));
        }
        self.items.number_masks(entry.masks, &mut self.masks)?;
        let found = board.table.find(&entry.key).filter(|&item| self.items.at(item).is_entry);
        if let Some(item) = found {
            self.merge_masks(board, item)?;
            return Ok(false);
        }
        self.shaders.clear();
        if self.is_shaders_first {
            self.shaders.try_reserve(entry.shaders.len())?;
            for shader in entry.shaders {
                self.shaders.push(self.cover.number(shader)?);
            }
            sort_numbers(&mut self.shaders, &mut |one, other| one.cmp(&other));
            self.shaders.dedup();
        }
        let sightings = &entry.sightings[..entry.sightings.len().min(MAX_SIGHTINGS)];
        self.items.reserve_entry(self.masks.len(), self.shaders.len(), sightings.len())?;
        self.predictor.reserve_sightings(sightings)?;
        let item = self.item_of(board, &entry.key)?;
        self.items.fill(item, entry, &self.masks, &self.shaders);
        self.predictor.add_sightings(item, sightings);
        if self.items.at(item).state == State::Unknown {
            self.queue.restart(false);
            self.cover.forget_order();
            let state = self.items.waiting_state(item);
            self.change(board, item, state, false);
            let mut groups = self.items.at(item).groups.iter();
            if groups.any(|&group| board.words.is_requested(group)) {
                self.request(board, item);
            }
        }
        self.update_completion();
        Ok(true)
    }

    fn merge_masks(&mut self, board: &Board, item: u32) -> Result<()> {
        let before = self.items.masks_of(item);
        self.masks.try_reserve(before.len())?;
        self.masks.extend_from_slice(before);
        self.items.sort_masks(&mut self.masks);
        if self.masks.len() == before.len() {
            return Ok(());
        }
        self.items.reserve_entry(self.masks.len(), 0, 0)?;
        self.items.set_masks(item, &self.masks);
        self.queue.restart(self.order != Order::UsageMask);
        self.cover.forget_order();
        let &Item { state, is_requested, .. } = self.items.at(item);
        if matches!(state, State::Unselected | State::Queued) {
            self.change(board, item, self.items.waiting_state(item), is_requested);
            self.update_completion();
        }
        Ok(())
    }

    /// The item of a key, which is added without an entry if it is new.
    fn item_of(&mut self, board: &Board, key: &PipelineKey) -> Result<u32> {
        self.items.reserve_one()?;
        self.queue.reserve_one()?;
        self.predictor.reserve_item()?;
        if self.is_shaders_first {
            self.cover.reserve_one(self.items.len())?;
        }
        board.states.reserve(self.items.len() + 1)?;
        let (item, is_new) = board.table.insert(key)?;
        if is_new {
            let place = self.queue.add();
            self.items.add(place);
            self.predictor.add_item();
        }
        Ok(item)
    }

    /// Add a group of keys.
    pub fn add_group(&mut self, board: &Board, keys: &[PipelineKey]) -> Result<Id> {
        if keys.len() > MAX_GROUP {
            let count = keys.len();
            return Err(error!(LimitExceeded, "the group has {count} pipelines: pass at most {MAX_GROUP}"));
        }
        let mut members = Vec::new();
        members.try_reserve_exact(keys.len())?;
        for key in keys {
            let item = self.item_of(board, key)?;
            members.push(item);
            self.items.at_mut(item).groups.try_reserve(1)?;
        }
        sort_numbers(&mut members, &mut |one, other| one.cmp(&other));
        members.dedup();
        let items = &self.items;
        let group = self.groups.add(&board.words, members, |item| items.at(item).state)?;
        for &item in self.groups.items(group)? {
            self.items.at_mut(item).groups.push(group);
        }
        Ok(group)
    }

    /// Remove a group.
    pub fn remove_group(&mut self, board: &Board, group: Id) -> Result<()> {
        for item in self.groups.remove(&board.words, group)? {
            self.items.at_mut(item).groups.retain(|&other| other != group);
        }
        self.must_notify = true;
        Ok(())
    }

    // Control.

    /// Apply other masks. Returns the old comparison, or `None` if the answer is outdated.
    pub fn apply(&mut self, board: &Board, answer: &Answer) -> Option<Comparison> {
        self.reselect_after(board, |items| items.selection.apply(answer))
    }

    fn reselect_after<R>(&mut self, board: &Board, change: impl FnOnce(&mut Items) -> R) -> R {
        let changed = self.items.reselect(change, |item, state| board.note(item, state));
        self.queue.restart(true);
        self.cover.forget_order();
        self.update_completion();
        changed
    }

    /// Change the mode. The grant of this frame ends.
    pub fn set_mode(&mut self, board: &Board, mode: Mode) {
        self.mode = mode;
        self.purse.stop();
        if mode != Mode::Paused {
            self.resumed_mode = mode;
            let has_lane = mode == Mode::Precompile;
            if self.items.has_precompile_lane != has_lane {
                self.reselect_after(board, |items| items.has_precompile_lane = has_lane);
            }
        }
    }

    pub fn mode(&self) -> Mode {
        self.mode
    }

    pub fn resumed_mode(&self) -> Mode {
        self.resumed_mode
    }

    pub fn set_paces(&mut self, paces: Paces) {
        self.paces = paces;
    }

    pub fn paces(&self) -> Paces {
        self.paces
    }

    pub fn set_order(&mut self, order: Order) {
        self.order = order;
        self.queue.restart(false);
        self.cover.forget_order();
    }

    // Work.

    /// The lane whose turn it is. `None` when pipelines of no lane wait, or in a pause.
    pub fn lane(&self) -> Option<Lane> {
        let counts = self.items.counts();
        match () {
            () if self.mode == Mode::Paused => None,
            () if counts.queued_precompile > 0 => Some(Lane::Precompile),
            () if counts.queued_regular > 0 => Some(Lane::Regular),
            () => None,
        }
    }

    /// Grant the batch of a frame.
    pub fn step(&mut self, budget_us: Option<u64>) {
        let Some(lane) = self.lane() else { return };
        let Paces { fast, background, precompile } = self.paces;
        let Pace { batch, time_us } = match (self.mode, lane) {
            (Mode::Precompile, Lane::Precompile) => precompile,
            (Mode::Fast, _) => fast,
            _ => background,
        };
        let pace = Pace { batch, time_us: time_us.saturating_mul(self.workers.into()) };
        self.purse.grant(lane, pace, budget_us);
    }

    /// Whether [`take`](Self::take) may have a job: it has none if the next one does not fit the rest of the grant.
    pub fn has_job(&self) -> bool {
        self.items.counts().queued_requested > 0 || self.lane().is_some_and(|lane| self.purse.allows(lane))
    }

    /// The next job.
    pub fn take(&mut self, board: &Board, frame: u64) -> Option<Job> {
        let Self { queue, items, .. } = self;
        let requested = queue.next_requested(|item| items.at(item).state == State::Queued);
        let item = match requested {
            Some(item) => item,
            None => {
                let lane = self.lane().filter(|&lane| self.purse.allows(lane))?;
                let item = self.next(lane, frame)?;
                let Item { kind, build_us, .. } = *self.items.at(item);
                if !self.purse.fits(self.estimates.expected_us(kind, build_us)) {
                    return None;
                }
                item
            }
        };
        self.start(board, item)
    }

    fn next(&mut self, lane: Lane, frame: u64) -> Option<u32> {
        let Self { queue, items, cover, predictor, .. } = self;
        queue.sort(self.order, items);
        let waits = |item| items.lane(item) == Some(lane);
        if self.is_shaders_first
            && let Some(item) = cover.next(lane, queue.items(), waits, |item| items.shaders_of(item))
        {
            return Some(item);
        }
        if self.order == Order::Predicted {
            let verdict = |item| match items.lane(item) {
                Some(other) if other == lane => Verdict::Choose,
                Some(_) => Verdict::Keep,
                None if matches!(items.at(item).state, State::Unselected | State::Running) => Verdict::Keep,
                None => Verdict::Drop,
            };
            if let Some(item) = predictor.best(frame, verdict) {
                return Some(item);
            }
        }
        queue.next(lane, waits)
    }

    /// Take one pipeline out of its turn. `None` if it does not wait.
    pub fn take_item(&mut self, board: &Board, item: u32) -> Option<Job> {
        if !matches!(self.items.at(item).state, State::Queued | State::Unselected) {
            return None;
        }
        if self.items.at(item).is_requested {
            self.queue.withdraw(item);
        }
        self.items.set_state(item, self.items.at(item).state, true);
        self.start(board, item)
    }

    fn start(&mut self, board: &Board, index: u32) -> Option<Job> {
        let key = board.table.key(index)?;
        self.tickets += 1;
        let item = self.items.at_mut(index);
        let is_urgent = item.is_requested;
        item.ticket = self.tickets;
        item.expected_us = self.estimates.expected_us(item.kind, item.build_us);
        let job = Job { key, index, ticket: self.tickets, is_urgent, expected_us: item.expected_us };
        self.purse.spend(job.expected_us, !is_urgent);
        if self.is_shaders_first {
            self.cover.start(self.items.shaders_of(index));
        }
        self.change(board, index, State::Running, is_urgent);
        self.update_completion();
        Some(job)
    }

    /// A job has ended.
    pub fn finish(&mut self, board: &Board, job: &Job, outcome: Outcome, took_us: u64) -> Result<Finished> {
        let is_running =
            job.ticket > 0 && (job.index as usize) < self.items.len() && self.items.at(job.index).ticket == job.ticket;
        if !is_running {
            let ticket = job.ticket;
            return Err(error!(NotFound, "no job has the ticket {ticket}: report each job once, as it was taken"));
        }
        let item = self.items.at_mut(job.index);
        item.ticket = 0;
        let (kind, build_us, is_requested, place) = (item.kind, item.build_us, item.is_requested, item.place);
        self.purse.settle(took_us, item.expected_us);
        if outcome == Outcome::Ok {
            self.estimates.add(kind, build_us, took_us);
        }
        if outcome == Outcome::Cancelled && self.is_shaders_first {
            self.cover.cancel(self.items.shaders_of(job.index));
        }
        // It may have got a state from outside meanwhile, which holds.
        if self.items.at(job.index).state == State::Running {
            match outcome {
                Outcome::Ok => self.change(board, job.index, State::Ready, false),
                Outcome::Failed => self.change(board, job.index, State::Failed, false),
                Outcome::Crashed => self.change(board, job.index, State::Banned, false),
                Outcome::Cancelled => {
                    let state = self.items.waiting_state(job.index);
                    self.change(board, job.index, state, is_requested);
                    if is_requested { self.queue.request(job.index) } else { self.queue.return_item(place) }
                }
            }
        }
        let was_complete = self.is_complete;
        self.update_completion();
        let is_complete = self.is_complete && !was_complete;
        Ok(Finished { state: self.items.at(job.index).state, is_complete })
    }

    /// A pipeline is needed now.
    pub fn request(&mut self, board: &Board, item: u32) {
        let Self { items, queue, .. } = self;
        if matches!(items.at(item).state, State::Queued | State::Unselected) && !items.at(item).is_requested {
            queue.request(item);
            self.change(board, item, State::Queued, true);
            self.update_completion();
        }
    }

    /// Set the final state of a pipeline from outside.
    pub fn settle(&mut self, board: &Board, key: &PipelineKey, state: State) -> Result<()> {
        let item = self.item_of(board, key)?;
        self.change(board, item, state, false);
        self.update_completion();
        Ok(())
    }

    /// Compile a pipeline again that is ready, failed or banned. False: it is not, or a job of it is running.
    pub fn forget(&mut self, board: &Board, item: u32) -> bool {
        let &Item { state, ticket, place, .. } = self.items.at(item);
        if !state.is_final() || ticket > 0 {
            return false;
        }
        if self.is_shaders_first {
            self.cover.forget(self.items.shaders_of(item));
        }
        self.change(board, item, self.items.waiting_state(item), false);
        self.queue.return_item(place);
        self.update_completion();
        true
    }

    /// Pipelines that are not compiled yet and that the regular mask of the answer selects. `None`: the answer is outdated.
    pub fn remaining(&self, answer: &Answer) -> Option<usize> {
        let items = &self.items;
        if !items.selection.is_answer(answer) {
            return None;
        }
        let is_open = |state| matches!(state, State::Unselected | State::Queued | State::Running);
        let selects = |item| items.masks_of(item).iter().any(|&mask| answer.selects(mask));
        Some((0..items.len() as u32).filter(|&item| is_open(items.at(item).state) && selects(item)).count())
    }

    /// A pipeline was used.
    pub fn observe(&mut self, item: u32, frame: u64) {
        if self.order == Order::Predicted {
            let Self { items, predictor, .. } = self;
            predictor.observe(item, items.sightings_of(item), frame, |item| !items.at(item).state.is_final());
        }
    }

    fn change(&mut self, board: &Board, item: u32, state: State, is_requested: bool) {
        let before = self.items.at(item).state;
        self.items.set_state(item, state, is_requested);
        if before != state {
            board.note(item, state);
            let goes_back = before.is_started() && !state.is_started();
            let returns = &mut self.items.at_mut(item).returns;
            *returns = returns.wrapping_add(goes_back.into());
            self.must_notify |= state.is_final() || goes_back;
            self.items.at(item).groups.iter().for_each(|&group| Groups::change(&board.words, group, before, state));
        }
    }

    /// How often pipelines of a group went back to the queue.
    pub fn returns_of(&self, group: Id) -> u32 {
        let items = self.groups.items(group).unwrap_or_default();
        items.iter().fold(0, |sum, &item| sum.wrapping_add(self.items.at(item).returns))
    }

    /// Notice whether pipelines remain.
    fn update_completion(&mut self) {
        let remains = self.items.counts().remaining() > 0;
        if self.is_working && !remains {
            self.is_complete = true;
            // No build is owed to a frame any more.
            self.purse.clear();
        }
        self.is_working = remains;
    }

    /// Whether all pipelines were done since the last call.
    pub fn take_completion(&mut self) -> bool {
        std::mem::take(&mut self.is_complete)
    }

    /// Bytes on the heap.
    pub fn memory_used(&self, board: &Board) -> usize {
        self.items.memory_used()
            + self.items.selection.memory_used()
            + self.groups.memory_used(&board.words)
            + self.cover.memory_used()
            + self.queue.memory_used()
            + self.predictor.memory_used()
    }
}
