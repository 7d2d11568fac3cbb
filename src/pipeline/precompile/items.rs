//! All known pipelines: their data, their states, and the count of each state.

use super::entry::{Counts, Entry, MAX_SIGHTINGS, Sighting, State};
use super::pace::Lane;
use super::predict::prior;
use super::selection::{Selection, Verdict};
use crate::base::{Id, Result, error, sort_numbers};
use crate::pipeline::{Mask, PipelineKind};

/// A part of a list.
#[derive(Clone, Copy, Default)]
struct Span {
    from: u32,
    count: u32,
}

impl Span {
    fn of<T>(self, list: &[T]) -> &[T] {
        &list[self.from as usize..][..self.count as usize]
    }
}

/// A known pipeline.
#[derive(Default)]
pub struct Item {
    pub state: State,
    /// Whether it has an entry. Keys of groups may have none.
    pub is_entry: bool,
    /// Whether it was requested, and did not end since.
    pub is_requested: bool,
    pub kind: PipelineKind,
    pub first_frame: Option<u64>,
    pub times_used: u64,
    pub build_us: u64,
    /// For the predicted order: see [`prior`].
    pub prior: f64,
    /// Its place in the order.
    pub place: u32,
    /// The number of its running job; 0: no job.
    pub ticket: u64,
    /// How often it went back to the queue: its compile was cancelled, or it was forgotten.
    pub returns: u32,
    /// The expected time of its running job.
    pub expected_us: u64,
    /// The groups that it belongs to.
    pub groups: Vec<Id>,
    /// Whether the current masks select it.
    verdict: Verdict,
    masks: Span,
    shaders: Span,
    sightings: Span,
}

/// The counted states. Queued items are counted by lane.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bucket {
    Of(State),
    Lane(Lane),
    Requested,
}

/// All known pipelines, by index.
#[derive(Default)]
pub struct Items {
    list: Vec<Item>,
    pub selection: Selection,
    masks: Vec<u32>,
    shaders: Vec<u32>,
    sightings: Vec<Sighting>,
    counts: Counts,
    /// Whether the precompile mask selects, too.
    pub has_precompile_lane: bool,
}

impl Items {
    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn at(&self, item: u32) -> &Item {
        &self.list[item as usize]
    }

    pub fn at_mut(&mut self, item: u32) -> &mut Item {
        &mut self.list[item as usize]
    }

    pub fn masks_of(&self, item: u32) -> &[u32] {
        self.at(item).masks.of(&self.masks)
    }

    pub fn shaders_of(&self, item: u32) -> &[u32] {
        self.at(item).shaders.of(&self.shaders)
    }

    pub fn sightings_of(&self, item: u32) -> &[Sighting] {
        self.at(item).sightings.of(&self.sightings)
    }

    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Make room for an item without an entry.
    pub fn reserve_one(&mut self) -> Result<()> {
        Ok(self.list.try_reserve(1)?)
    }

    /// Add an item without an entry. Call [`reserve_one`](Self::reserve_one) before.
    pub fn add(&mut self, place: u32) {
        self.list.push(Item { place, ..Item::default() });
        self.counts.unknown += 1;
    }

    /// Make room for the lists of an entry. Afterwards [`fill`](Self::fill) cannot fail.
    pub fn reserve_entry(&mut self, masks: usize, shaders: usize, sightings: usize) -> Result<()> {
        let longest =
            (self.masks.len() + masks).max(self.shaders.len() + shaders).max(self.sightings.len() + sightings);
        if u32::try_from(longest).is_err() {
            return Err(error!(LimitExceeded, "the entries together name 2^32 masks, shaders or sightings: add fewer"));
        }
        self.masks.try_reserve(masks)?;
        self.shaders.try_reserve(shaders)?;
        Ok(self.sightings.try_reserve(sightings)?)
    }

    /// The numbers of masks, sorted by mask, each once. Of no mask: that of the mask without bits.
    pub fn number_masks(&mut self, masks: &[Mask], numbers: &mut Vec<u32>) -> Result<()> {
        let masks = if masks.is_empty() { &[Mask::NONE] } else { masks };
        numbers.clear();
        numbers.try_reserve(masks.len())?;
        for mask in masks {
            numbers.push(self.selection.number(mask)?);
        }
        self.sort_masks(numbers);
        Ok(())
    }

    /// Sort by mask, and keep each once.
    pub fn sort_masks(&self, numbers: &mut Vec<u32>) {
        let mask = |number| self.selection.mask(number);
        sort_numbers(numbers, &mut |one, other| mask(one).cmp(mask(other)));
        numbers.dedup();
    }

    /// Give an item the data of its entry.
    pub fn fill(&mut self, item: u32, entry: &Entry<'_>, masks: &[u32], shaders: &[u32]) {
        let sightings = &entry.sightings[..entry.sightings.len().min(MAX_SIGHTINGS)];
        let first_sighting = sightings.iter().map(|seen| u64::from(seen.frame)).min();
        let span = |from: usize, count: usize| Span { from: from as u32, count: count as u32 };
        let spans = (
            span(self.masks.len(), masks.len()),
            span(self.shaders.len(), shaders.len()),
            span(self.sightings.len(), sightings.len()),
        );
        self.masks.extend_from_slice(masks);
        self.shaders.extend_from_slice(shaders);
        self.sightings.extend_from_slice(sightings);
        let verdict = self.selection.verdict(masks);
        let item = self.at_mut(item);
        item.verdict = verdict;
        item.is_entry = true;
        item.kind = entry.kind;
        item.first_frame = entry.first_frame.or(first_sighting);
        item.times_used = entry.times_used;
        item.build_us = entry.build_us;
        item.prior = prior(entry.first_frame, sightings);
        (item.masks, item.shaders, item.sightings) = spans;
    }

    /// Replace the masks of an item by a set with more of them. Call [`reserve_entry`](Self::reserve_entry) before.
    pub fn set_masks(&mut self, item: u32, masks: &[u32]) {
        let before = self.bucket(item);
        *self.count(before) -= 1;
        self.at_mut(item).masks = Span { from: self.masks.len() as u32, count: masks.len() as u32 };
        self.at_mut(item).verdict = self.selection.verdict(masks);
        self.masks.extend_from_slice(masks);
        let after = self.bucket(item);
        *self.count(after) += 1;
    }

    /// The lane that the masks choose for an item.
    fn lane_by_mask(&self, item: u32) -> Option<Lane> {
        let Verdict { regular, precompile } = self.at(item).verdict;
        match () {
            () if precompile && self.has_precompile_lane => Some(Lane::Precompile),
            () if regular => Some(Lane::Regular),
            () => None,
        }
    }

    /// The lane in which an item waits. `None` for requested items.
    pub fn lane(&self, item: u32) -> Option<Lane> {
        let Item { state, is_requested, .. } = self.at(item);
        if *state == State::Queued && !is_requested { self.lane_by_mask(item) } else { None }
    }

    /// The state of an item that is not running and did not end.
    pub fn waiting_state(&self, item: u32) -> State {
        let Item { is_entry, is_requested, .. } = self.at(item);
        match () {
            () if !is_entry => State::Unknown,
            () if *is_requested || self.lane_by_mask(item).is_some() => State::Queued,
            () => State::Unselected,
        }
    }

    fn bucket(&self, item: u32) -> Bucket {
        let Item { state, is_requested, .. } = self.at(item);
        match state {
            State::Queued if *is_requested => Bucket::Requested,
            State::Queued => self.lane_by_mask(item).map_or(Bucket::Requested, Bucket::Lane),
            &state => Bucket::Of(state),
        }
    }

    fn count(&mut self, bucket: Bucket) -> &mut usize {
        let counts = &mut self.counts;
        match bucket {
            Bucket::Of(State::Unknown) => &mut counts.unknown,
            Bucket::Of(State::Unselected) => &mut counts.unselected,
            Bucket::Of(State::Queued) | Bucket::Requested => &mut counts.queued_requested,
            Bucket::Lane(Lane::Precompile) => &mut counts.queued_precompile,
            Bucket::Lane(Lane::Regular) => &mut counts.queued_regular,
            Bucket::Of(State::Running) => &mut counts.running,
            Bucket::Of(State::Ready) => &mut counts.ready,
            Bucket::Of(State::Failed) => &mut counts.failed,
            Bucket::Of(State::Banned) => &mut counts.banned,
        }
    }

    /// Change the state of an item and whether it is requested.
    pub fn set_state(&mut self, item: u32, state: State, is_requested: bool) {
        let before = self.bucket(item);
        *self.count(before) -= 1;
        let entry = self.at_mut(item);
        (entry.state, entry.is_requested) = (state, is_requested);
        let after = self.bucket(item);
        *self.count(after) += 1;
    }

    /// Select again all items that wait, after `change`. `note` gets the new states.
    pub fn reselect<R>(&mut self, change: impl FnOnce(&mut Self) -> R, mut note: impl FnMut(u32, State)) -> R {
        let changed = change(self);
        self.counts = Counts::default();
        for item in 0..self.list.len() as u32 {
            self.at_mut(item).verdict = self.selection.verdict(self.masks_of(item));
            if matches!(self.at(item).state, State::Unselected | State::Queued) {
                let state = self.waiting_state(item);
                self.at_mut(item).state = state;
                note(item, state);
            }
            let bucket = self.bucket(item);
            *self.count(bucket) += 1;
        }
        changed
    }

    /// Bytes held, without those of the selection.
    pub fn memory_used(&self) -> usize {
        let groups = self.list.iter().map(|item| item.groups.capacity() * size_of::<Id>()).sum::<usize>();
        self.list.capacity() * size_of::<Item>()
            + groups
            + (self.masks.capacity() + self.shaders.capacity()) * size_of::<u32>()
            + self.sightings.capacity() * size_of::<Sighting>()
    }
}
