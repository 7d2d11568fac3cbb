//! One pass over the watched pixels of a frame: compare them with the last frame, and copy what the ring lacks.
//!
//! The compare runs along rows of pixels, as the memory lies. A tile in which a difference was found is not looked at
//! again. The copy follows when a row of tiles is done, so its pixels are still in the cache. It goes one of two ways: see
//! [`Last`].

use std::ops::Range;
use std::sync::Mutex;

use super::bits;
use super::grid::{Grid, TILE_HEIGHT, TILE_WIDTH};
use super::order::{Order, rows_in};
use super::plan::Plan;
use super::tiles::Masks;
use crate::executor::{Executor, Priority};
use crate::perception::image::{MAX_SIDE, Rect, Shape, View, ViewMut};
use crate::perception::pixels::{
    Layout, Significant, Span, differing_pixels, first_difference, is_same_in, is_same_row,
};

/// Watched pixels from which the pass is split over an executor.
const PARALLEL_FROM: u64 = 1 << 16;
/// Most blocks of a pass: each has a lock on the stack.
const MAX_BLOCKS: usize = 64;
/// Blocks for each thread, so that a slow one does not keep the others waiting.
const BLOCKS_PER_THREAD: usize = 4;

/// Work that a pass did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) compared_bytes: u64,
    pub(super) copied_bytes: u64,
    /// Tiles in which the pass found a difference, and rows that it compared to find them.
    pub(super) found: u64,
    pub(super) found_rows: u64,
}

impl Work {
    pub(super) fn add(&mut self, other: Self) {
        self.compared_bytes += other.compared_bytes;
        self.copied_bytes += other.copied_bytes;
        self.found += other.found;
        self.found_rows += other.found_rows;
    }
}

/// A bit for each tile of the widest row.
type Flags = [u64; bits::words((MAX_SIDE as usize).div_ceil(TILE_WIDTH))];

/// The input of a pass.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) grid: Grid,
    pub(super) plan: &'a Plan,
    pub(super) frame: View<'a>,
    pub(super) order: Order,
    /// The number of this frame.
    pub(super) number: u64,
    /// The frame whose changes are all in the target. 0: none.
    pub(super) held: u64,
    /// Whether a pass before this one has done the tiles that are dirty already.
    pub(super) is_second: bool,
    /// Whether to find all pixels that differ in the tiles that are compared, while they are in the cache.
    pub(super) needs_masks: bool,
}

/// The frame to compare with.
pub(super) enum Last<'a> {
    /// Nothing is compared.
    None,
    /// The new frame is written into the target. Unchanged tiles are copied from the last frame: under
    /// [`Trust::Audit`](super::Trust::Audit) some of them are not compared, and only the old pixels are verified.
    Read(View<'a>),
    /// The new frame is written over the last one, and the old pixels into the target. Where little changes this reads the
    /// same memory in each frame, which then stays in the cache.
    Replace(ViewMut<'a>),
}

impl<'a> Last<'a> {
    fn view(&self) -> Option<View<'_>> {
        match self {
            Self::None => None,
            Self::Read(view) => Some(*view),
            Self::Replace(image) => Some(image.view()),
        }
    }

    /// Split off the first `rows` rows.
    fn take_rows(&mut self, rows: u32) -> Self {
        match std::mem::replace(self, Self::None) {
            Self::None => Self::None,
            Self::Read(view) => {
                let Shape { width, height, .. } = view.shape();
                if rows < height {
                    *self = Self::Read(view.crop(Rect::new(0, rows, width, height - rows)));
                }
                Self::Read(view.crop(Rect::new(0, 0, width, rows.min(height))))
            }
            Self::Replace(image) => {
                let (rows, below) = image.split_at_row(rows);
                *self = Self::Replace(below);
                Self::Replace(rows)
            }
        }
    }
}

/// The output of a pass.
pub(super) struct Output<'a> {
    pub(super) last: Last<'a>,
    /// Another image of the ring. `None`: nothing is copied.
    pub(super) target: Option<ViewMut<'a>>,
    /// Tiles that differ. Those that are set already are taken as different.
    pub(super) dirty: &'a mut [u64],
    /// Tiles that are not compared.
    pub(super) skip: &'a mut [u64],
    /// By tile: the last frame at which it was dirty.
    pub(super) changed_at: &'a mut [u64],
    /// By row of tiles: the last frame at which one was dirty.
    pub(super) line_changed_at: &'a mut [u64],
    /// By tile: which pixels differ, and for which frame that is known.
    pub(super) masks: &'a mut [Masks],
    pub(super) masks_at: &'a mut [u64],
}

/// The part that one block of rows of tiles reads and writes. Rows count from its first one.
struct Strip<'a> {
    /// The first row of tiles.
    first: usize,
    frame: View<'a>,
    output: Output<'a>,
    work: Work,
}

/// Run a pass. Returns the work, and whether it was split over threads.
pub(super) fn run(input: &Input<'_>, output: Output<'_>, executor: &Executor) -> (Work, bool) {
    let threads = if input.plan.pixels < PARALLEL_FROM { 1 } else { executor.max_concurrency() };
    let blocks = if threads == 1 { 1 } else { (threads * BLOCKS_PER_THREAD).min(MAX_BLOCKS) };
    let lines = input.grid.rows.div_ceil(blocks).max(1);
    let rows = (lines * TILE_HEIGHT) as u32;
    if blocks == 1 {
        let mut strip = Strip { first: 0, frame: input.frame, output, work: Work::default() };
        strip.run(input);
        return (strip.work, false);
    }
    let Output { mut last, mut target, dirty, skip, changed_at, line_changed_at, masks, masks_at } = output;
    let mut skip = skip.chunks_mut(lines * input.grid.words);
    let mut changed_at = changed_at.chunks_mut(lines * input.grid.columns);
    let mut line_changed_at = line_changed_at.chunks_mut(lines);
    let mut masks = masks.chunks_mut(lines * input.grid.columns);
    let mut masks_at = masks_at.chunks_mut(lines * input.grid.columns);
    let Shape { width, height, .. } = input.frame.shape();
    let mut strips: [Mutex<Option<Strip<'_>>>; MAX_BLOCKS] = [const { Mutex::new(None) }; MAX_BLOCKS];
    let mut count = 0;
    for dirty in dirty.chunks_mut(lines * input.grid.words) {
        let top = count as u32 * rows;
        let target = target.take().map(|image| image.split_at_row(rows)).map(|(strip, below)| {
            target = Some(below);
            strip
        });
        let output = Output {
            last: last.take_rows(rows),
            target,
            dirty,
            skip: skip.next().unwrap_or_default(),
            changed_at: changed_at.next().unwrap_or_default(),
            line_changed_at: line_changed_at.next().unwrap_or_default(),
            masks: masks.next().unwrap_or_default(),
            masks_at: masks_at.next().unwrap_or_default(),
        };
        let frame = input.frame.crop(Rect::new(0, top, width, rows.min(height - top)));
        strips[count] = Mutex::new(Some(Strip { first: count * lines, frame, output, work: Work::default() }));
        count += 1;
    }
    executor.parallel_for(count, Priority::High, "hob compare frame", &|_, block| {
        if let Some(strip) = strips[block].lock().unwrap_or_else(|poison| poison.into_inner()).as_mut() {
            strip.run(input);
        }
    });
    let mut work = Work::default();
    for strip in &mut strips[..count] {
        if let Some(strip) = strip.get_mut().unwrap_or_else(|poison| poison.into_inner()) {
            work.add(strip.work);
        }
    }
    (work, count > 1)
}

impl Strip<'_> {
    fn run(&mut self, input: &Input<'_>) {
        let count = self.output.line_changed_at.len();
        let (mut line, mut end) = (0, 0);
        while line < count {
            if end <= line {
                end = line + self.complete_lines(input, line);
            }
            let same = self.same_lines(line, end);
            line += same;
            if line == count {
                return;
            }
            let mut done = Flags::default();
            if input.is_second {
                done[..input.grid.words].copy_from_slice(&self.output.dirty[input.grid.row(line)]);
            }
            self.compare(input, line, line >= end);
            self.keep(input, line, &done);
            line += 1;
        }
    }

    /// The number of complete rows of tiles from `line` on. A complete row is watched and compared from end to end, and the
    /// target has its pixels of the last frame. Without a difference nothing is to be done for it.
    fn complete_lines(&self, input: &Input<'_>, line: usize) -> usize {
        let Input { grid, plan, held, .. } = *input;
        let Output { last, skip, line_changed_at, .. } = &self.output;
        let Shape { format, height, .. } = self.frame.shape();
        let has_gaps = last.view().is_none_or(|last| last.rows_without_gaps(0, 1).is_none());
        if held == 0 || format.has_chroma() || has_gaps || self.frame.rows_without_gaps(0, 1).is_none() {
            return 0;
        }
        let full = line * TILE_HEIGHT + plan.full_rows((self.first + line) * TILE_HEIGHT);
        let is_complete = |line: usize| {
            let is_full = ((line + 1) * TILE_HEIGHT).min(height as usize) <= full;
            is_full && line_changed_at[line] <= held && skip[grid.row(line)].iter().all(|&word| word == 0)
        };
        (line..line_changed_at.len()).take_while(|&line| is_complete(line)).count()
    }

    /// The number of rows of tiles from `line` on without a difference, up to `end`. All of them are
    /// [complete](Self::complete_lines).
    fn same_lines(&mut self, line: usize, end: usize) -> usize {
        let (height, top) = (self.frame.shape().height as usize, line * TILE_HEIGHT);
        let rows = (end * TILE_HEIGHT).min(height).saturating_sub(top) as u32;
        let one = self.frame.rows_without_gaps(top as u32, rows);
        let other = self.output.last.view().and_then(|last| last.rows_without_gaps(top as u32, rows));
        let (Some(one), Some(other)) = (one, other) else { return 0 };
        let found = first_difference(one, other, Significant::of(self.frame.shape().format));
        let size = TILE_HEIGHT * self.frame.shape().row_size();
        let same = found.map_or(end - line, |byte| byte / size);
        self.work.compared_bytes += one.len().min(same * size) as u64;
        same
    }

    /// Compare a row of tiles. `may_be_same`: it is not known that a pixel differs.
    fn compare(&mut self, input: &Input<'_>, line: usize, may_be_same: bool) {
        let Input { grid, plan, .. } = input;
        let Output { last, dirty, skip, masks, masks_at, .. } = &mut self.output;
        let Some(last) = last.view() else { return };
        let words = grid.row(line);
        if plan.watched[grid.row(self.first + line)].iter().all(|&word| word == 0) {
            return;
        }
        let has_skips = skip[words.clone()].iter().any(|&word| word != 0);
        if may_be_same
            && !has_skips
            && is_same_line(plan, &self.frame, &last, self.first * TILE_HEIGHT, line, &mut self.work)
        {
            return;
        }
        let (dirty, skip) = (&mut dirty[words.clone()], &mut skip[words]);
        if input.needs_masks {
            let tiles = line * grid.columns..(line + 1) * grid.columns;
            let masks = &mut masks[tiles.clone()];
            let rows = (&self.frame, &last, self.first * TILE_HEIGHT, line * TILE_HEIGHT);
            self.work.compared_bytes += mark_line(plan, rows, skip, masks);
            for ((tile, masks), masks_at) in masks.iter().enumerate().zip(&mut masks_at[tiles]) {
                if !bits::has(skip, tile) {
                    *masks_at = input.number;
                    if *masks != [0; TILE_HEIGHT] {
                        bits::set(dirty, tile);
                        bits::set(skip, tile);
                    }
                }
            }
            return;
        }
        let mut row = RowOfTiles { has_skips, dirty, skip, work: &mut self.work, step: 0 };
        let format = self.frame.shape().format;
        let significant = Significant::of(format);
        for (step, y) in rows_in(input.order).enumerate() {
            let y = line * TILE_HEIGHT + y;
            let spans = plan.spans(self.first * TILE_HEIGHT + y);
            if spans.is_empty() {
                continue;
            }
            row.step = step as u64;
            let (one, other) = (self.frame.row(y as u32), last.row(y as u32));
            row.compare(one, other, spans, Layout::of(format), significant);
            if format.has_chroma() && y.is_multiple_of(2) {
                let (one, other) = (self.frame.chroma_row(y / 2), last.chroma_row(y / 2));
                row.compare(one, other, spans, Layout::CHROMA, significant);
            }
            if row.is_done(&plan.watched[grid.row(self.first + line)]) {
                return;
            }
        }
    }

    /// Note which tiles of a row changed, and copy those that are missing. Tiles that are `done` are complete.
    fn keep(&mut self, input: &Input<'_>, line: usize, done: &Flags) {
        let Input { grid, plan, number, held, .. } = *input;
        let Output { last, target, dirty, changed_at, line_changed_at, .. } = &mut self.output;
        let dirty = &dirty[grid.row(line)];
        let is_dirty = dirty.iter().any(|&word| word != 0);
        if !is_dirty && line_changed_at[line] <= held && held != 0 {
            return;
        }
        if is_dirty {
            line_changed_at[line] = number;
        }
        // Tiles that changed, those of them or of others that the target lacks, and those that only it lacks.
        let (mut changed, mut lacking) = (Flags::default(), Flags::default());
        for (tile, changed_at) in changed_at[line * grid.columns..][..grid.columns].iter_mut().enumerate() {
            if bits::has(done, tile) {
                continue;
            }
            if *changed_at > held || held == 0 {
                bits::set(&mut lacking, tile);
            }
            if bits::has(dirty, tile) {
                *changed_at = number;
                bits::set(&mut changed, tile);
            }
        }
        let Some(target) = target else { return };
        let lines = Lines { plan, first: self.first * TILE_HEIGHT, rows: line * TILE_HEIGHT..(line + 1) * TILE_HEIGHT };
        let copied = &mut self.work.copied_bytes;
        match last {
            Last::Replace(last) => {
                *copied += lines.copy(&lacking, &last.view(), target);
                *copied += lines.copy(&changed, &self.frame, last);
            }
            Last::None | Last::Read(_) => {
                lacking.iter_mut().zip(&changed).for_each(|(lacking, changed)| *lacking &= !changed);
                *copied += lines.copy(&changed, &self.frame, target);
                *copied += lines.copy(&lacking, &last.view().unwrap_or(self.frame), target);
            }
        }
    }
}

/// Whether the watched pixels of a row of tiles are equal in two frames: rows that are watched from end to end are compared
/// at once. `false`: they may be. Then nothing is known.
fn is_same_line(plan: &Plan, frame: &View<'_>, last: &View<'_>, top: usize, line: usize, work: &mut Work) -> bool {
    let Shape { format, height, .. } = frame.shape();
    if format.has_chroma() {
        return false;
    }
    let significant = Significant::of(format);
    let end = ((line + 1) * TILE_HEIGHT).min(height as usize);
    let (mut y, mut compared) = (line * TILE_HEIGHT, 0);
    while y < end {
        let full = plan.full_rows(top + y).min(end - y);
        let count = full.max(1);
        let rows = (frame.rows_without_gaps(y as u32, count as u32), last.rows_without_gaps(y as u32, count as u32));
        let is_same = match rows {
            (Some(one), Some(other)) if full > 0 => {
                compared += one.len();
                is_same_row(one, other, significant)
            }
            _ if full > 1 => return false,
            _ => {
                let (spans, layout) = (plan.spans(top + y), Layout::of(format));
                compared += spans.iter().map(|&span| layout.bytes(span).len()).sum::<usize>();
                is_same_in(frame.row(y as u32), last.row(y as u32), spans, layout, significant)
            }
        };
        if !is_same {
            return false;
        }
        y += count;
    }
    work.compared_bytes += compared as u64;
    true
}

/// The rows of pixels of a row of tiles.
struct Lines<'a> {
    plan: &'a Plan,
    /// The first row of the strip.
    first: usize,
    /// Rows from there on.
    rows: Range<usize>,
}

impl Lines<'_> {
    /// Copy the watched pixels of some tiles. Returns the number of bytes.
    fn copy(&self, tiles: &Flags, from: &View<'_>, to: &mut ViewMut<'_>) -> u64 {
        if tiles.iter().all(|&word| word == 0) {
            return 0;
        }
        let format = from.shape().format;
        let mut copied = 0;
        for y in self.rows.clone() {
            for &span in self.plan.spans(self.first + y) {
                let touched = span.left as usize / TILE_WIDTH..(span.right as usize).div_ceil(TILE_WIDTH);
                let mut run = bits::run(tiles, touched.clone(), 0);
                while !run.is_empty() {
                    let bytes = Layout::of(format).bytes(clip(span, &run));
                    copied += bytes.len() as u64;
                    to.row(y as u32)[bytes.clone()].copy_from_slice(&from.row(y as u32)[bytes]);
                    if format.has_chroma() && y.is_multiple_of(2) {
                        let bytes = Layout::CHROMA.bytes(clip(span, &run));
                        copied += bytes.len() as u64;
                        to.chroma_row(y / 2)[bytes.clone()].copy_from_slice(&from.chroma_row(y / 2)[bytes]);
                    }
                    run = bits::run(tiles, run.end..touched.end, 0);
                }
            }
        }
        copied
    }
}

/// A row of tiles while it is compared.
struct RowOfTiles<'a> {
    /// Whether a bit of `skip` is set.
    has_skips: bool,
    dirty: &'a mut [u64],
    skip: &'a mut [u64],
    work: &'a mut Work,
    /// Rows of pixels that were compared before this one.
    step: u64,
}

impl RowOfTiles<'_> {
    /// Whether all watched tiles are skipped. Where all pixels change, one row of pixels is enough for that.
    #[inline]
    fn is_done(&self, watched: &[u64]) -> bool {
        self.has_skips && watched.iter().zip(&*self.skip).all(|(watched, skip)| watched & !skip == 0)
    }

    /// Compare the spans of one row of pixels, in the tiles that are not skipped.
    #[inline]
    fn compare(&mut self, one: &[u8], other: &[u8], spans: &[Span], layout: Layout, significant: Significant) {
        if !self.has_skips && is_same_in(one, other, spans, layout, significant) {
            self.work.compared_bytes += spans.iter().map(|&span| layout.bytes(span).len() as u64).sum::<u64>();
            return;
        }
        for &span in spans {
            self.compare_span(one, other, span, layout, significant);
        }
    }

    fn compare_span(&mut self, one: &[u8], other: &[u8], span: Span, layout: Layout, significant: Significant) {
        let mut tiles = span.left as usize / TILE_WIDTH..(span.right as usize).div_ceil(TILE_WIDTH);
        while !tiles.is_empty() {
            let run = bits::run(self.skip, tiles.clone(), !0);
            if run.is_empty() {
                return;
            }
            let part = clip(span, &run);
            let bytes = layout.bytes(part);
            let found = first_difference(&one[bytes.clone()], &other[bytes.clone()], significant);
            self.work.compared_bytes += found.unwrap_or(bytes.len()) as u64;
            tiles.start = match found {
                Some(byte) => {
                    // The second byte of a pair of the chroma plane may be beyond the last column.
                    let column = part.left as usize + byte / layout.column_size();
                    let tile = (column / TILE_WIDTH).min(run.end - 1);
                    bits::set(self.dirty, tile);
                    bits::set(self.skip, tile);
                    self.has_skips = true;
                    self.work.found += 1;
                    self.work.found_rows += self.step + 1;
                    tile + 1
                }
                None => run.end,
            };
        }
    }
}

/// Mark the watched pixels of a row of tiles that differ, where they are not skipped. Returns the number of compared bytes.
fn mark_line(
    plan: &Plan,
    (frame, last, top, line): (&View<'_>, &View<'_>, usize, usize),
    skip: &[u64],
    masks: &mut [Masks],
) -> u64 {
    let format = frame.shape().format;
    let (layout, significant) = (Layout::of(format), Significant::of(format));
    let mut compared = 0;
    masks.fill([0; TILE_HEIGHT]);
    for row in 0..TILE_HEIGHT {
        let y = line + row;
        for &span in plan.spans(top + y) {
            let (one, other) = (frame.row(y as u32), last.row(y as u32));
            let tiles = span.left as usize / TILE_WIDTH..(span.right as usize).div_ceil(TILE_WIDTH);
            for (tile, masks) in tiles.clone().zip(&mut masks[tiles]).filter(|(tile, _)| !bits::has(skip, *tile)) {
                let part = clip(span, &(tile..tile + 1));
                let bytes = layout.bytes(part);
                compared += bytes.len() as u64;
                let (one, other) = (&one[bytes.clone()], &other[bytes]);
                let pixels = differing_pixels(one, other, format.pixel_size(), significant);
                masks[row] |= pixels << (part.left as usize % TILE_WIDTH);
            }
        }
    }
    compared
}

/// The columns of a span that lie in a run of tiles.
fn clip(span: Span, run: &Range<usize>) -> Span {
    let left = span.left.max((run.start * TILE_WIDTH) as u32);
    Span { left, right: span.right.min((run.end * TILE_WIDTH) as u32) }
}
