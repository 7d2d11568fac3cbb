//! Runs one node: its input, its output, and the differences from its last result.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::cognition::{Action, Call, Cognition, Failure, MAX_INPUTS, Seen};
use super::frames::FrameStore;
use super::image::{Image, Rect, Shape, View, ViewMut};
use super::operators::{Operator, State};
use super::place::{Buffers, Place};
use super::table::Table;
use super::tree::{Node, Source, Tree};
use crate::base::Result;
use crate::base::Value;
use crate::executor::{Executor, Stopwatch};

/// Most rectangles in which an image is computed again. With more, all of it is.
const MAX_AREAS: usize = 512;

/// The output of the runs of a node.
#[derive(Debug, Default)]
pub struct Work {
    buffers: Buffers,
    /// For a past frame.
    past: Option<Image>,
    /// The past frame of `past` and `past_value`. 0: none.
    pub past_frame: u64,
    /// The value in that frame. The table holds it.
    pub past_value: Value,
    /// The cognition failed in that frame.
    pub is_past_failed: bool,
    /// The image is complete: the last run did not fail.
    is_whole: bool,
    /// The newest result is a copy from another node. So images, states and versions are not those of it.
    pub is_moved: bool,
    /// Versions of the inputs at the last run.
    versions: [u32; MAX_INPUTS],
    areas: Vec<Rect>,
    /// The message of the last failure.
    pub failure: Failure,
    /// The result of the last run.
    pub outcome: Outcome,
}

/// The result of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    pub is_failed: bool,
    pub value: Value,
    /// The image differs from the one before.
    pub is_image_changed: bool,
    pub nanoseconds: u64,
    /// Pixels that built-in operators read; 1 for a cognition of the host.
    pub operations: u64,
}

/// The constant data of runs.
pub struct Scene<'a, C> {
    pub tree: &'a Tree<C>,
    pub places: &'a [Place],
    pub works: &'a [RwLock<Work>],
    pub table: &'a Table,
    pub frames: &'a FrameStore,
}

impl<C> Clone for Scene<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Scene<'_, C> {}

pub fn read(work: &RwLock<Work>) -> RwLockReadGuard<'_, Work> {
    work.read().unwrap_or_else(PoisonError::into_inner)
}

pub fn write(work: &RwLock<Work>) -> RwLockWriteGuard<'_, Work> {
    work.write().unwrap_or_else(PoisonError::into_inner)
}

impl Work {
    /// Take the buffers for frames of another shape.
    pub fn place(&mut self, buffers: Buffers, is_incremental: bool) -> Result<()> {
        let mut areas = Vec::new();
        if is_incremental {
            areas.try_reserve_exact(MAX_AREAS)?;
        }
        *self = Self { buffers, areas, ..Self::default() };
        Ok(())
    }

    /// The newest image.
    pub fn image(&self) -> Option<&Image> {
        self.buffers.image.as_ref()
    }

    /// Bytes that it holds.
    pub fn memory_used(&self) -> usize {
        let images = [&self.buffers.image, &self.buffers.spare, &self.past];
        images.into_iter().flatten().map(Image::memory_used).sum::<usize>()
            + self.buffers.state.as_ref().map_or(0, State::memory_used)
            + self.areas.capacity() * size_of::<Rect>()
    }
}

/// How a run sees the world.
pub struct Run<'a> {
    /// Frames before the present one. 0: the present.
    pub age: usize,
    pub executor: &'a Executor,
    /// No other node runs now.
    pub is_alone: bool,
}

impl<C: Cognition> Scene<'_, C> {
    /// The images of all inputs, kept from being written.
    fn guards(&self, node: &Node) -> [Option<RwLockReadGuard<'_, Work>>; MAX_INPUTS] {
        let mut guards = [const { None }; MAX_INPUTS];
        for (guard, input) in guards.iter_mut().zip(&node.inputs) {
            if let Source::Node(source) = input.source {
                *guard = Some(read(&self.works[source as usize]));
            }
        }
        guards
    }

    /// Whether nothing that the node sees has changed since its last run, although the pixels did.
    pub fn is_cut_off(&self, at: u32) -> bool {
        let (node, slot) = (self.tree.node(at), &self.table.slots[at as usize]);
        let is_next = slot.span.last > 0 && slot.span.last + 1 == self.frames.number();
        is_next
            && self.tree.entry(node).is_pure()
            && node.inputs.iter().enumerate().all(|(index, input)| match input.source {
                Source::Frame => false,
                Source::Node(source) => self.has_seen(at, index, source),
            })
    }

    /// Whether the newest result of a node was made from the newest one of its input, or from an equal one.
    pub fn has_seen(&self, at: u32, index: usize, source: u32) -> bool {
        let work = read(&self.works[at as usize]);
        !work.is_moved && work.versions[index] == self.table.slots[source as usize].version
    }

    /// Run a node. Its inputs are up to date, or belong to the past frame. The outcome is in its [`Work`].
    pub fn run(&self, at: u32, run: &Run<'_>) {
        let clock = Stopwatch::begin();
        let (node, place) = (self.tree.node(at), &self.places[at as usize]);
        let mut work = write(&self.works[at as usize]);
        let work = &mut *work;
        let guards = self.guards(node);
        let mut values = [Value::default(); MAX_INPUTS];
        let mut seen = [None; MAX_INPUTS];
        for (index, input) in node.inputs.iter().enumerate() {
            let (part, readable) = place.parts[index];
            let image = match (input.source, &guards[index]) {
                (Source::Node(source), Some(guard)) => {
                    if self.places[source as usize].maps.is_empty() {
                        let newest = self.table.slots[source as usize].span.value;
                        values[index] = if run.age == 0 { newest } else { guard.past_value };
                    }
                    if run.age == 0 {
                        work.versions[index] = self.table.slots[source as usize].version;
                    }
                    let image = if run.age == 0 { guard.image() } else { guard.past.as_ref() };
                    image.map(|image| image.view().crop(readable))
                }
                _ => self.frame_part(place, node, index, run.age),
            };
            let inner = Rect::new(part.x - readable.x, part.y - readable.y, part.width, part.height);
            seen[index] = image.map(|view| Seen { view, part: inner });
        }
        let count = node.inputs.len();
        let mut outcome = match &self.tree.entry(node).action {
            Action::Host(host) => {
                let mut target = if run.age == 0 { work.buffers.spare.as_mut() } else { work.past.as_mut() };
                let mut past_failure = Failure::EMPTY;
                let failure = if run.age == 0 { &mut work.failure } else { &mut past_failure };
                *failure = Failure::EMPTY;
                let mut call = Call {
                    seen: &seen[..count],
                    values: &values[..count],
                    parameters: &node.parameters,
                    frame: self.frames.number() - run.age as u64,
                    picture: target.as_mut().map(|image| image.view_mut()),
                    value: Value::default(),
                    failure,
                    is_alone: run.is_alone,
                };
                let is_failed = !host.perceive(&mut call);
                let value = if is_failed { Value::default() } else { call.value };
                Outcome { is_failed, value, is_image_changed: false, nanoseconds: 0, operations: 1 }
            }
            Action::Operator(operator) => {
                let mut views = [seen[0].map(|seen| seen.cropped()); MAX_INPUTS];
                for (view, seen) in views.iter_mut().zip(&seen) {
                    *view = seen.map(|seen| seen.cropped());
                }
                match gather(&views, count) {
                    Some(views) => self.operate(operator, at, work, &views[..count], run),
                    None => Outcome { is_failed: true, ..Outcome::default() },
                }
            }
        };
        let Buffers { image, spare, .. } = &mut work.buffers;
        if let (true, Action::Host(_), Some(image), Some(spare)) =
            (run.age == 0 && !outcome.is_failed, &self.tree.entry(node).action, image, spare)
        {
            let bounds = image.shape().bounds();
            outcome.is_image_changed = copy_difference(&spare.view(), &mut image.view_mut(), bounds);
        }
        if run.age == 0 {
            (work.is_whole, work.is_moved) = (!outcome.is_failed, false);
        }
        outcome.nanoseconds = u64::try_from(clock.passed().as_nanos()).unwrap_or(u64::MAX);
        work.outcome = outcome;
    }

    /// The pixels of the frame that an input may read.
    fn frame_part(&self, place: &Place, node: &Node, index: usize, age: usize) -> Option<View<'_>> {
        let (_, readable) = place.parts[index];
        if node.tolerance == 0 {
            return Some(self.frames.frame(age)?.crop(readable));
        }
        let wanted = place.wanted.iter().position(|&wanted| wanted == (readable, node.tolerance))?;
        self.frames.anchor(place.regions[wanted])
    }

    /// A run of a built-in operator.
    fn operate(&self, operator: &Operator, at: u32, work: &mut Work, views: &[View<'_>], run: &Run<'_>) -> Outcome {
        // Its part is the crop.
        let crop = Operator::Crop { area: views[0].shape().bounds() };
        let operator = if matches!(operator, Operator::Crop { .. }) { &crop } else { operator };
        let Work { buffers: Buffers { image, spare, state }, past, areas, is_whole, is_moved, .. } = work;
        let mut outcome = Outcome::default();
        let is_incremental =
            run.age == 0 && *is_whole && !*is_moved && self.find_areas(at, areas, operator.reach().is_some());
        if operator.reach().is_some() {
            if run.age > 0 {
                if let Some(past) = past {
                    let bounds = past.shape().bounds();
                    outcome.operations = operator.apply(views, &mut past.view_mut(), bounds);
                }
                return outcome;
            }
            let (Some(image), Some(spare)) = (image, spare) else { return outcome };
            let all = [image.shape().bounds()];
            for &area in if is_incremental { areas.as_slice() } else { &all } {
                outcome.operations += operator.apply(views, &mut spare.view_mut(), area);
                outcome.is_image_changed |= copy_difference(&spare.view(), &mut image.view_mut(), area);
            }
            return outcome;
        }
        let Some(state) = state else { return outcome };
        let dirty = is_incremental.then_some(areas.as_slice());
        let target = if run.age == 0 { spare.as_mut() } else { past.as_mut() };
        let mut target = target.map(|image| image.view_mut());
        let value = &mut outcome.value.0;
        outcome.operations = operator.measure(state, views, dirty, run.executor, target.as_mut(), value);
        if run.age > 0 {
            // The state belongs to the past now.
            *is_whole = false;
        } else if let (Some(image), Some(spare)) = (image, spare) {
            let bounds = image.shape().bounds();
            outcome.is_image_changed = copy_difference(&spare.view(), &mut image.view_mut(), bounds);
        }
        outcome
    }

    /// Find where an image is to be computed again, or which parts of its input differ. False: all.
    fn find_areas(&self, at: u32, areas: &mut Vec<Rect>, is_local: bool) -> bool {
        let (node, place, slot) = (self.tree.node(at), &self.places[at as usize], &self.table.slots[at as usize]);
        let now = self.frames.number();
        areas.clear();
        let is_known = place.is_exact && place.is_pure;
        if areas.capacity() == 0 || !is_known || slot.span.last == 0 || slot.span.is_failed {
            return false;
        }
        // The differences between the last frame and this one are known, and there must be no others.
        let gap = now - 1 - slot.span.last.min(now - 1);
        if gap >= 63 || (self.table.changes(at, self.frames) >> 1) & ((1 << gap) - 1) != 0 {
            return false;
        }
        let of_frame = [super::map::Map::frame(self.frames.shape().bounds())];
        let mut is_complete = true;
        let mut add = |area: Rect| {
            if area.is_empty() || areas.contains(&area) {
                return;
            }
            is_complete &= areas.len() < areas.capacity();
            if is_complete {
                areas.push(area);
            }
        };
        if is_local {
            let bounds = place.shape.unwrap_or_default().bounds();
            if place.maps.is_empty() {
                return false;
            }
            for map in &place.maps {
                self.frames.dirty(map.extent(), |dirty| add(map.affected(dirty, bounds)));
            }
        } else {
            let (part, _) = place.parts[0];
            let maps = match node.inputs[0].source {
                Source::Frame => &of_frame[..],
                Source::Node(source) => &self.places[source as usize].maps,
            };
            if maps.is_empty() {
                return false;
            }
            for map in maps {
                self.frames.dirty(map.needed(part), |dirty| {
                    let dirty = map.affected(dirty, part);
                    let origin = (dirty.x.saturating_sub(part.x), dirty.y.saturating_sub(part.y));
                    add(Rect::new(origin.0, origin.1, dirty.width, dirty.height));
                });
            }
        }
        is_complete
    }

    /// Make room for the image of a past frame.
    pub fn prepare_past(&self, at: u32) -> Result<()> {
        let mut work = write(&self.works[at as usize]);
        if let (Some(shape), None) = (self.places[at as usize].shape, &work.past) {
            work.past = Some(Image::new(shape)?);
        }
        Ok(())
    }
}

/// The first `count` views, if they are all there.
fn gather<'a>(views: &[Option<View<'a>>; MAX_INPUTS], count: usize) -> Option<[View<'a>; MAX_INPUTS]> {
    let first = views[0]?;
    let mut all = [first; MAX_INPUTS];
    for (view, found) in all.iter_mut().zip(&views[..count]) {
        *view = (*found)?;
    }
    Some(all)
}

/// Copy an area where it differs. Whether it did.
fn copy_difference(from: &View<'_>, to: &mut ViewMut<'_>, area: Rect) -> bool {
    let Shape { format, .. } = from.shape();
    let size = format.pixel_size();
    let columns = area.x as usize * size..area.right() as usize * size;
    let mut differs = false;
    let has_padding = format.has_padding();
    let mut copy = |from: &[u8], to: &mut [u8]| {
        if from != to {
            // Only padding may differ.
            let mut pixels = from.chunks_exact(4).zip(to.chunks_exact(4));
            differs |= !has_padding || pixels.any(|(from, to)| from[..3] != to[..3]);
            to.copy_from_slice(from);
        }
    };
    for y in area.y..area.bottom() as u32 {
        copy(&from.row(y)[columns.clone()], &mut to.row(y)[columns.clone()]);
    }
    if format.has_chroma() && !area.is_empty() {
        for y in area.y as usize / 2..(area.bottom() as usize).div_ceil(2) {
            copy(from.chroma_row(y), to.chroma_row(y));
        }
    }
    differs
}
