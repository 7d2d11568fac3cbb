//! The last frames, and which regions changed between them.
//!
//! A [`FrameStore`] gets each frame once, compares the watched regions with the frame before, and keeps the pixels. All
//! regions are compiled into the union of their pixels, so that a pixel of many regions is compared once. A grid of tiles
//! of 64×16 pixels remembers where differences are. The verdict of a region is exact to the pixel: in tiles that it shares
//! with others, masks tell which pixels differ. Masks are made when the first region asks for them.
//!
//! A frame is compared and copied in one pass. A slot of the ring held an older frame, so the pass writes the tiles that
//! changed since then. A static frame writes nothing. Where little changes, the new pixels go over the last frame and the
//! old ones into another slot. Each frame is then compared with the same memory, which stays in the cache. Where much
//! changes, the new pixels go into another slot, and nothing is copied twice.
//!
//! A host that keeps its frames [lends](FrameStore::borrow_from) them: they are compared where they are, and not copied.
//!
//! Invariants:
//! 1. The verdict of a region is never "same" if a pixel of it differs, whatever the hints say under [`Trust::Compare`].
//! 2. Watched pixels of a slot are those of its frame, from a region's [`known_since`](FrameStore::known_since) on.
//! 3. A failed call changes nothing. With a known shape and known regions no call allocates.
//!
//! | file | content |
//! |---|---|
//! | `options` | options, hints, counters |
//! | `regions` | the table of regions, their histories and anchors |
//! | `plan` | the union of all regions, as spans of rows |
//! | `grid`, `bits` | which tiles a rectangle touches; rows of bits |
//! | `sift` | runs the passes of a frame: the hints decide which tiles are compared |
//! | `pass` | compares and copies the frame |
//! | `tiles` | which tiles and pixels differ |
//! | `order` | the order in which rows are compared |
//! | `ring` | the pixels of the last frames |
//! | `host` | the same in memory of the host |
//!
//! Sources: de-duplicated regions and their early-out compare are from "High Framerate Perception". Tiles are from
//! TigerVNC, x11vnc and WebRTC.
#![forbid(unsafe_code)]

mod bits;
mod grid;
mod host;
#[cfg(test)]
pub mod lender;
mod options;
mod order;
mod pass;
mod plan;
mod regions;
mod ring;
mod sift;
#[cfg(test)]
mod tests;
mod tiles;

pub use host::HostFrames;
pub use options::{Counters, Hints, MAX_HISTORY, Move, Options, Trust};
pub use order::{ORDERS, Order};
pub use regions::RegionId;

use crate::base::{Result, error, try_collect};
use crate::executor::Executor;
use crate::perception::image::{Image, Rect, Shape, View, check_shape};
use crate::perception::pixels;
use order::Chooser;
use pass::Input;
use plan::Plan;
use regions::{Place, Regions, new_anchor, size_of_anchor};
use ring::{Ring, Written};
use sift::{Images, Outcome, Sift};
use tiles::Tiles;

/// The next frame is written into another slot if more than one tile of so many changed: then the last one is seldom copied.
const MOVING_SHARE: u64 = 4;

/// Keeps the last frames, and knows which regions changed.
#[derive(Default)]
pub struct FrameStore {
    options: Options,
    shape: Shape,
    regions: Regions,
    plan: Plan,
    /// Regions were added or removed since the plan was compiled.
    is_plan_old: bool,
    /// Regions were added or removed since the last frame.
    has_other_regions: bool,
    has_first_seen: bool,
    /// Whether many tiles changed in the current frame.
    is_moving: bool,
    /// Whether the masks of many of them were needed.
    needs_masks: bool,
    ring: Ring,
    /// The host keeps the frames.
    is_borrowing: bool,
    /// The frames that it keeps.
    host: Option<Box<dyn HostFrames>>,
    tiles: Tiles,
    /// The moves of the current frame.
    moves: Vec<Move>,
    chooser: Chooser,
    number: u64,
    /// The first frame of the present shape.
    first: u64,
    /// Whether the last frame can be compared with.
    has_last: bool,
    counters: Counters,
}

impl FrameStore {
    /// A store without regions.
    pub fn new(options: Options) -> Result<Self> {
        if options.history > MAX_HISTORY {
            return Err(error!(InvalidArgument, "invalid history {}: must be 0 to {MAX_HISTORY}", options.history));
        }
        Ok(Self { options, ..Self::default() })
    }

    /// Copy no frames from the first one on: `host` knows where they are, as many as the history has.
    pub fn borrow_from(&mut self, host: Box<dyn HostFrames>) {
        (self.is_borrowing, self.host) = (true, Some(host));
    }

    /// Go on with the frames that the host of another store keeps.
    pub fn swap_host(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.host, &mut other.host);
    }

    /// Images that are kept for a history.
    fn slots(&self, history: usize) -> usize {
        // The last frame is compared with, even if nobody asks for its pixels.
        if self.is_borrowing { 0 } else { history.max(1) + 1 }
    }

    /// Watch a rectangle. The same rectangle has the same id, and is watched until each watcher has called
    /// [`unwatch`](Self::unwatch). The region counts as changed in all frames up to the next one.
    pub fn watch(&mut self, rect: Rect) -> Result<RegionId> {
        self.watch_with(rect, None)
    }

    /// Watch a rectangle of lossy video. The region changes when a channel of a pixel differs from the region's
    /// [`anchor`](Self::anchor) by more than `tolerance`. The anchor then becomes the pixels of that frame. So slow drift
    /// does not accumulate.
    pub fn watch_tolerant(&mut self, rect: Rect, tolerance: u8) -> Result<RegionId> {
        self.watch_with(rect, Some(tolerance))
    }

    fn watch_with(&mut self, rect: Rect, tolerance: Option<u8>) -> Result<RegionId> {
        if rect.is_empty() {
            return Err(error!(
                InvalidArgument,
                "an empty rectangle has no pixels to watch: pass a width and a height"
            ));
        }
        if let Some(id) = self.regions.find(rect, tolerance) {
            return Ok(id);
        }
        let bytes = size_of_anchor(self.shape, rect, tolerance);
        self.check_limit(self.options.history, self.size_in(self.shape).saturating_add(bytes))?;
        let anchor = new_anchor(self.shape, rect, tolerance, Place::Inside)?;
        let id = self.regions.add(rect, tolerance, self.shape, anchor, self.number)?;
        (self.is_plan_old, self.has_other_regions) = (true, true);
        Ok(id)
    }

    /// End one watch of a region. After the last one the id is free for another region.
    pub fn unwatch(&mut self, region: RegionId) {
        let is_removed = self.regions.remove(region);
        self.is_plan_old |= is_removed;
        self.has_other_regions |= is_removed;
    }

    /// Bytes that the pixels of a shape take, and what is known of them.
    fn size_in(&self, shape: Shape) -> usize {
        let pixels = Image::size_of(shape).saturating_mul(self.slots(self.options.history));
        pixels.saturating_add(Tiles::size_of(shape)).saturating_add(self.regions.size_of_anchors(shape))
    }

    /// Whether so many past frames can be kept.
    pub fn check_history(&self, history: usize) -> Result<()> {
        if history > MAX_HISTORY {
            return Err(error!(LimitExceeded, "{history} past frames: at most {MAX_HISTORY} are kept"));
        }
        let kept = self.options.history;
        if self.is_borrowing && history > kept {
            return Err(error!(
                LimitExceeded,
                "{history} past frames: the host promised to keep {kept}, and nothing is copied; promise more, or ask for fewer"
            ));
        }
        let more = self.slots(history).saturating_sub(self.slots(kept));
        let pixels = Image::size_of(self.shape).saturating_mul(more);
        self.check_limit(history, self.size_in(self.shape).saturating_add(pixels))
    }

    /// Keep so many past frames, from the present one and those that are kept now on.
    pub fn set_history(&mut self, history: usize) -> Result<()> {
        self.check_history(history)?;
        let first = self.number.saturating_sub(self.options.history as u64);
        if self.number > 0 {
            self.ring.grow(self.shape, self.slots(history), first)?;
        }
        self.options.history = history;
        let known = self.regions.list.iter_mut();
        known.for_each(|region| region.known_since = region.known_since.max(first));
        Ok(())
    }

    fn check_limit(&self, history: usize, bytes: usize) -> Result<()> {
        let limit = self.options.memory_limit;
        if bytes > limit {
            return Err(error!(
                LimitExceeded,
                "{history} past frames take {bytes} bytes, over the limit of {limit}: keep fewer, or raise the limit"
            ));
        }
        Ok(())
    }

    /// Begin anew with frames of another shape. Regions and their ids stay, their past is forgotten. A region that does
    /// not fit into the shape [is outside](Self::is_outside).
    pub fn restart(&mut self, shape: Shape) -> Result<()> {
        check_shape(shape)?;
        self.check_limit(self.options.history, self.size_in(shape))?;
        let fitting = self.regions.list.iter().filter(|region| region.place != Place::Unused && shape.has(region.rect));
        let plan = Plan::compile(shape, try_collect(fitting.map(|region| region.rect))?)?;
        let tiles = Tiles::new(shape)?;
        let ring = Ring::new(shape, self.slots(self.options.history))?;
        let anchors = self.regions.new_anchors(shape)?;
        self.regions.restart(shape, anchors, self.number);
        (self.shape, self.plan, self.tiles, self.ring) = (shape, plan, tiles, ring);
        (self.is_plan_old, self.has_other_regions) = (false, false);
        (self.has_first_seen, self.has_last) = (false, false);
        self.first = self.number + 1;
        self.moves.clear();
        self.counters.restarts += 1;
        Ok(())
    }

    /// A store without regions that continues this one with frames of another shape.
    pub fn successor(&self, shape: Shape) -> Result<Self> {
        let Self { options, is_borrowing, number, counters, chooser, .. } = *self;
        let mut next = Self { options, is_borrowing, number, counters, chooser, ..Self::default() };
        next.restart(shape)?;
        Ok(next)
    }

    /// Take all memory that the next frame needs, if it has the present shape and so many moves.
    pub fn prepare(&mut self, moves: usize) -> Result<()> {
        self.moves.try_reserve(moves.saturating_sub(self.moves.len()))?;
        if self.is_plan_old {
            self.plan = Plan::compile(self.shape, try_collect(self.regions.rects())?)?;
            self.is_plan_old = false;
        }
        Ok(())
    }

    /// Refuse a frame that cannot begin if frames are borrowed: one in memory that must stay unchanged, or with trusted
    /// hints. Call it before [`begin`](Self::begin).
    pub fn check(&self, frame: &View<'_>, hints: &Hints<'_>) -> Result<()> {
        if !self.is_borrowing {
            return Ok(());
        }
        if hints.trust == Trust::Audit {
            // A pixel that changed without a hint is equal in the frames after that, and never found.
            return Err(error!(
                InvalidArgument,
                "hints can be trusted only if frames are copied: let them be compared"
            ));
        }
        if frame.shape() != self.shape {
            // Earlier frames are forgotten, and their memory may be gone.
            return Ok(());
        }
        let kept = self.options.history.max(1);
        for age in 0..kept as u64 {
            let Some(past) = self.number.checked_sub(age).and_then(|number| self.kept(number)) else { break };
            let is_same_plane = |one: &[u8], other: &[u8]| !one.is_empty() && one.as_ptr() == other.as_ptr();
            let is_same = is_same_plane(past.pixels(), frame.pixels()) || is_same_plane(past.chroma(), frame.chroma());
            if is_same {
                return Err(error!(
                    InvalidArgument,
                    "the pixels are in the memory of the frame {} before, which must stay unchanged: rotate {} buffers",
                    age + 1,
                    kept + 1
                ));
            }
        }
        Ok(())
    }

    /// Take the next frame: compare it with the last one, and keep its pixels. Without `compare` all regions count as
    /// changed.
    pub fn begin(&mut self, frame: &View<'_>, compare: bool, hints: &Hints<'_>, executor: &Executor) -> Result<()> {
        if frame.shape() != self.shape {
            self.restart(frame.shape())?;
        }
        self.prepare(hints.moves.len())?;
        // Nothing fails from here on.
        self.number += 1;
        self.moves.clear();
        self.moves.extend_from_slice(hints.moves);
        self.mark_first_seen();
        let Self { plan, tiles, ring, regions, number, host, .. } = self;
        host.iter_mut().for_each(|host| host.keep(*number, frame));
        let order = self.chooser.next(self.options.order);
        let is_compared = compare && self.has_last;
        let sift = Sift { trusts: hints.trust == Trust::Audit && !self.counters.is_distrusted, hints };
        let mut input = Input {
            grid: tiles.grid,
            plan,
            frame: *frame,
            order,
            number: *number,
            held: 0,
            is_second: false,
            needs_masks: self.needs_masks,
        };
        let mut images = match ring.images() {
            Some(images) => {
                input.held = images.held;
                match (is_compared && images.has_last, self.is_moving) {
                    (false, _) => Images::Fresh(images.target),
                    (true, true) => Images::Flip(images.last, images.target),
                    (true, false) => Images::Replace(images.last, images.target),
                }
            }
            None => {
                // There is no target, so it lacks nothing.
                input.held = u64::MAX;
                let last = host.as_ref().filter(|_| is_compared).and_then(|host| host.view(*number - 1));
                Images::Host(last)
            }
        };
        input.needs_masks &= !frame.shape().format.has_chroma();
        tiles.asked = 0;
        let outcome = sift.run(&mut input, tiles, &mut images, executor);
        tiles.find_dirty_lines();
        let last = images.last();
        let compared = last.is_some().then_some(order);
        let changed = match last {
            Some(last) => judge(regions, tiles, frame, &last, *number),
            None => judge_all_changed(regions, frame, *number),
        };
        let written = match images {
            Images::Flip(..) | Images::Replace(..) if !tiles.is_dirty() => Written::Nowhere,
            Images::Replace(..) => Written::OverLast,
            _ => Written::Target,
        };
        ring.finish(*number, written);
        let dirty = if tiles.is_dirty() { bits::count(&tiles.dirty) } else { 0 };
        self.is_moving = dirty * MOVING_SHARE > plan.watched_tiles;
        self.needs_masks = self.is_moving && tiles.asked as u64 * 2 > dirty;
        self.has_last = true;
        self.count(&outcome, compared, dirty, changed);
        Ok(())
    }

    /// Mark the tiles of regions that are new. The compare cannot tell whether these changed.
    fn mark_first_seen(&mut self) {
        if std::mem::take(&mut self.has_first_seen) {
            self.tiles.first_seen.fill(0);
        }
        if std::mem::take(&mut self.has_other_regions) {
            self.tiles.first_seen.copy_from_slice(&self.plan.gaps);
            self.has_first_seen = self.plan.gaps.iter().any(|&word| word != 0);
            for region in &self.regions.list {
                if region.place == Place::Inside && region.known_since == self.number {
                    self.tiles.see_first(&self.plan, region.rect);
                    self.has_first_seen = true;
                }
            }
        }
    }

    fn count(&mut self, outcome: &Outcome, order: Option<Order>, dirty: u64, changed: u64) {
        let counters = &mut self.counters;
        let work = &outcome.work;
        counters.frames += 1;
        counters.compared_bytes += work.compared_bytes;
        counters.copied_bytes += work.copied_bytes;
        counters.compared_tiles += outcome.compared_tiles;
        counters.dirty_tiles += dirty;
        counters.lies += outcome.lies;
        counters.is_distrusted |= outcome.lies > 0;
        counters.parallel_frames += u64::from(outcome.is_parallel);
        counters.changed_regions = changed;
        counters.same_regions = self.regions.inside - changed;
        counters.total_changed_regions += changed;
        counters.total_same_regions += counters.same_regions;
        counters.found_differences += work.found;
        counters.found_rows += work.found_rows;
        if let Some(order) = order {
            counters.compared_frames += 1;
            self.chooser.record(order, work.found, work.found_rows);
            counters.frames_by_order = self.chooser.frames();
        }
    }

    /// Number of the current frame, from 1 on. 0: before the first frame.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The first frame of the present shape.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Format and size of the frames.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Bit k is set if the region differs between the frame k before the current one and the frame before that, or if
    /// that is unknown.
    #[inline]
    pub fn changes(&self, region: RegionId) -> u64 {
        self.regions.history[region.index()]
    }

    /// The last frame at which the region changed, or could have changed.
    #[inline]
    pub fn changed_at(&self, region: RegionId) -> u64 {
        self.regions.changed_at[region.index()]
    }

    /// The first frame whose pixels are known inside the region.
    pub fn known_since(&self, region: RegionId) -> u64 {
        self.regions.list[region.index()].known_since
    }

    /// Whether the region is not inside the frame. Such a region counts as changed in every frame.
    pub fn is_outside(&self, region: RegionId) -> bool {
        self.regions.list[region.index()].place == Place::Outside
    }

    /// The rectangle of a region.
    pub fn rect(&self, region: RegionId) -> Rect {
        self.regions.list[region.index()].rect
    }

    /// The watched regions inside the frame, and whether they changed in it.
    pub fn watched(&self) -> impl Iterator<Item = (Rect, bool)> {
        let inside = self.regions.list.iter().zip(&self.regions.history);
        let inside = inside.filter(|(region, _)| region.place == Place::Inside);
        inside.map(|(region, history)| (region.rect, history & 1 == 1))
    }

    /// The pixels of the frame `age` frames before the current one. Only watched pixels are valid. `None`: it is not kept.
    pub fn frame(&self, age: usize) -> Option<View<'_>> {
        if age > self.options.history { None } else { self.kept(self.number.checked_sub(age as u64)?) }
    }

    /// The pixels of the last frame, or of one of the history before it.
    fn kept(&self, number: u64) -> Option<View<'_>> {
        match &self.host {
            None => self.ring.view(number),
            Some(host) if number > 0 && number >= self.first => host.view(number),
            Some(_) => None,
        }
    }

    /// The pixels of a tolerant region at its last change. `None`: the region is exact, is outside, or has no frame yet.
    pub fn anchor(&self, region: RegionId) -> Option<View<'_>> {
        let index = region.index();
        let anchor = self.regions.anchors[index].as_ref()?;
        (self.regions.list[index].known_since <= self.number).then(|| anchor.view())
    }

    /// Call back for rectangles inside `rect` whose pixels may differ between the last frame and this one. Watched pixels
    /// outside them are equal in both. The rectangles are pieces of rows of tiles.
    pub fn dirty(&self, rect: Rect, each: impl FnMut(Rect)) {
        self.tiles.each_dirty(rect, each);
    }

    /// Where the pixels of `region` were in the last frame, if a move of the host's hints says so and the pixels of both
    /// frames are equal. All pixels of both places must be watched.
    pub fn moved_from(&self, region: Rect) -> Option<Rect> {
        let (frame, last) = (self.kept(self.number)?, self.kept(self.number.checked_sub(1)?)?);
        let shape = self.shape;
        if !shape.has(region) {
            return None;
        }
        let is_held = |rect: Rect| self.plan.covers(rect);
        let is_last_held = |rect: Rect| is_held(rect) && !self.tiles.is_first_seen(rect);
        self.moves.iter().filter(|shift| shift.target().contains(region)).find_map(|shift| {
            let x = (region.x - shift.x).checked_add(shift.source.x)?;
            let y = (region.y - shift.y).checked_add(shift.source.y)?;
            let source = Rect::new(x, y, region.width, region.height);
            let is_known = shape.has(source) && is_held(region) && is_last_held(source);
            (is_known && pixels::is_same(&frame.crop(region), &last.crop(source))).then_some(source)
        })
    }

    /// Whether the hints of the present frame have moves.
    pub fn has_moves(&self) -> bool {
        !self.moves.is_empty()
    }

    /// The counters of the store.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Bytes that the store holds.
    pub fn memory_used(&self) -> usize {
        let tiles = Tiles::size_of(self.shape);
        let moves = self.moves.capacity() * size_of::<Move>();
        self.regions.memory_used() + self.plan.memory_used() + self.ring.memory_used() + tiles + moves
    }
}

/// Note which regions changed. Returns their number, without those outside.
fn judge(regions: &mut Regions, tiles: &mut Tiles, frame: &View<'_>, last: &View<'_>, number: u64) -> u64 {
    let Regions { list, history, changed_at, anchors, outside, .. } = regions;
    if !tiles.is_dirty() && *outside == 0 {
        history.iter_mut().for_each(|history| *history <<= 1);
        return 0;
    }
    let mut changed = 0;
    for (index, region) in list.iter().enumerate() {
        let is_inside = region.place == Place::Inside;
        let is_new = !is_inside || region.known_since == number;
        let mut is_changed = is_new || tiles.differs(region.rect, frame, last, number);
        if let Some(anchor) = anchors[index].as_mut().filter(|_| is_changed && is_inside) {
            let now = frame.crop(region.rect);
            is_changed = is_new || !pixels::within(&now, &anchor.view(), region.tolerance.unwrap_or(0));
            if is_changed {
                pixels::copy(&now, &mut anchor.view_mut());
            }
        }
        history[index] = history[index] << 1 | u64::from(is_changed);
        if is_changed {
            changed_at[index] = number;
            changed += u64::from(is_inside);
        }
    }
    changed
}

/// Note that all regions changed, but for those within their tolerance: their results are defined by it. Returns their
/// number, without those outside.
fn judge_all_changed(regions: &mut Regions, frame: &View<'_>, number: u64) -> u64 {
    let Regions { list, history, changed_at, anchors, inside, .. } = regions;
    let mut changed = *inside;
    for (index, region) in list.iter().enumerate() {
        let mut is_changed = true;
        if let Some(anchor) = anchors[index].as_mut().filter(|_| region.place == Place::Inside) {
            let now = frame.crop(region.rect);
            let is_known = region.known_since < number;
            is_changed = !is_known || !pixels::within(&now, &anchor.view(), region.tolerance.unwrap_or(0));
            if is_changed {
                pixels::copy(&now, &mut anchor.view_mut());
            }
            changed -= u64::from(!is_changed);
        }
        history[index] = history[index] << 1 | u64::from(is_changed);
        if is_changed {
            changed_at[index] = number;
        }
    }
    changed
}
