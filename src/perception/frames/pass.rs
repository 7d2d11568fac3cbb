//! One pass over the watched pixels of a frame: compare them with the last frame, and copy what the ring lacks.
//!
//! The compare runs along rows of pixels, as the memory lies. A tile in which a difference was found is not looked at
//! again. The copy follows when a row of tiles is done, so its pixels are still in the cache.

use std::ops::Range;
use std::sync::Mutex;

use super::bits;
use super::grid::{Grid, TILE_HEIGHT, TILE_WIDTH};
use super::order::{Order, rows_in};
use super::plan::Plan;
use crate::executor::{Executor, Priority};
use crate::perception::image::{MAX_SIDE, View, ViewMut};
use crate::perception::pixels::{Layout, Significant, Span, first_difference, is_same_in};

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

/// What a pass reads.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) grid: Grid,
    pub(super) plan: &'a Plan,
    pub(super) frame: View<'a>,
    /// The frame to compare with. `None`: nothing is compared.
    pub(super) last: Option<View<'a>>,
    pub(super) order: Order,
    /// The number of this frame.
    pub(super) number: u64,
    /// The number of the frame that the target holds. 0: none.
    pub(super) held: u64,
}

/// What a pass writes.
pub(super) struct Output<'a> {
    /// Where the frame is kept. `None`: nothing is copied.
    pub(super) target: Option<ViewMut<'a>>,
    /// Tiles that differ. Those that are set already are taken as different.
    pub(super) dirty: &'a mut [u64],
    /// Tiles that are not compared.
    pub(super) skip: &'a mut [u64],
    /// By tile: the last frame at which it was dirty.
    pub(super) changed_at: &'a mut [u64],
    /// By row of tiles: the last frame at which one was dirty.
    pub(super) line_changed_at: &'a mut [u64],
}

/// The part of the output that one block of rows of tiles writes.
#[derive(Default)]
struct Strip<'a> {
    /// The first row of tiles.
    first: usize,
    pixels: &'a mut [u8],
    chroma: &'a mut [u8],
    stride: usize,
    chroma_stride: usize,
    dirty: &'a mut [u64],
    skip: &'a mut [u64],
    changed_at: &'a mut [u64],
    line_changed_at: &'a mut [u64],
    work: Work,
}

/// Run a pass. Returns the work, and whether it was split over threads.
pub(super) fn run(input: &Input<'_>, output: Output<'_>, executor: &Executor) -> (Work, bool) {
    let threads = if input.plan.pixels < PARALLEL_FROM { 1 } else { executor.max_concurrency() };
    let blocks = if threads == 1 { 1 } else { (threads * BLOCKS_PER_THREAD).min(MAX_BLOCKS) };
    let rows = input.grid.rows.div_ceil(blocks).max(1);
    let Output { target, dirty, skip, changed_at, line_changed_at } = output;
    let (stride, chroma_stride) = target.as_ref().map_or((0, 0), |target| (target.stride(), target.chroma_stride()));
    let (mut pixels, mut chroma) = target.map_or((&mut [][..], &mut [][..]), ViewMut::into_planes);
    let mut dirty = dirty.chunks_mut(rows * input.grid.words);
    let mut skip = skip.chunks_mut(rows * input.grid.words);
    let mut changed_at = changed_at.chunks_mut(rows * input.grid.columns);
    let mut line_changed_at = line_changed_at.chunks_mut(rows);
    let mut strips: [Mutex<Strip<'_>>; MAX_BLOCKS] = std::array::from_fn(|_| Mutex::default());
    let mut count = 0;
    while let (Some(dirty), Some(skip)) = (dirty.next(), skip.next()) {
        let strip = strips[count].get_mut().unwrap_or_else(|poison| poison.into_inner());
        *strip = Strip {
            first: count * rows,
            pixels: take(&mut pixels, rows * TILE_HEIGHT * stride),
            chroma: take(&mut chroma, rows * TILE_HEIGHT / 2 * chroma_stride),
            stride,
            chroma_stride,
            dirty,
            skip,
            changed_at: changed_at.next().unwrap_or_default(),
            line_changed_at: line_changed_at.next().unwrap_or_default(),
            work: Work::default(),
        };
        count += 1;
    }
    executor.parallel_for(count, Priority::High, "hob compare frame", &|_, block| {
        strips[block].lock().unwrap_or_else(|poison| poison.into_inner()).run(input);
    });
    let mut work = Work::default();
    for strip in &mut strips[..count] {
        work.add(strip.get_mut().unwrap_or_else(|poison| poison.into_inner()).work);
    }
    (work, count > 1)
}

/// Split off the first bytes, or all if there are fewer.
fn take<'a>(bytes: &mut &'a mut [u8], size: usize) -> &'a mut [u8] {
    let all = std::mem::take(bytes);
    let (first, rest) = all.split_at_mut(size.min(all.len()));
    *bytes = rest;
    first
}

impl Strip<'_> {
    fn run(&mut self, input: &Input<'_>) {
        for line in 0..self.dirty.len() / input.grid.words {
            if let Some(last) = &input.last {
                self.compare(input, last, line);
            }
            self.keep(input, line);
        }
    }

    /// Compare a row of tiles.
    fn compare(&mut self, input: &Input<'_>, last: &View<'_>, line: usize) {
        let Input { grid, plan, frame, .. } = input;
        let words = grid.row(line);
        if plan.watched[grid.row(self.first + line)].iter().all(|&word| word == 0) {
            return;
        }
        let has_skips = self.skip[words.clone()].iter().any(|&word| word != 0);
        let mut row = RowOfTiles {
            has_skips,
            dirty: &mut self.dirty[words.clone()],
            skip: &mut self.skip[words],
            work: &mut self.work,
            step: 0,
        };
        let format = frame.shape().format;
        let significant = Significant::of(format);
        let first = (self.first + line) * TILE_HEIGHT;
        for (step, y) in rows_in(input.order).enumerate() {
            let y = first + y;
            let spans = plan.spans(y);
            if spans.is_empty() {
                continue;
            }
            row.step = step as u64;
            let (one, other) = (frame.row(y as u32), last.row(y as u32));
            row.compare(one, other, spans, Layout::of(format), significant);
            if format.has_chroma() && y.is_multiple_of(2) {
                let (one, other) = (frame.chroma_row(y / 2), last.chroma_row(y / 2));
                row.compare(one, other, spans, Layout::CHROMA, significant);
            }
        }
    }

    /// Note which tiles of a row changed, and copy those that the target does not have.
    fn keep(&mut self, input: &Input<'_>, line: usize) {
        let Input { grid, plan, frame, .. } = input;
        let dirty = &self.dirty[grid.row(line)];
        let line_changed_at = &mut self.line_changed_at[line];
        if dirty.iter().any(|&word| word != 0) {
            *line_changed_at = input.number;
        }
        if *line_changed_at <= input.held && input.held != 0 {
            return;
        }
        // What did not change is in the last frame, too. If it was not compared, only that is known to be as it was.
        let rest_from = input.last.as_ref().unwrap_or(frame);
        let (mut changed, mut rest) = (Flags::default(), Flags::default());
        let changed_at = &mut self.changed_at[line * grid.columns..][..grid.columns];
        for (tile, changed_at) in changed_at.iter_mut().enumerate() {
            if bits::has(dirty, tile) {
                *changed_at = input.number;
                bits::set(&mut changed, tile);
            } else if *changed_at > input.held || input.held == 0 {
                bits::set(&mut rest, tile);
            }
        }
        if self.pixels.is_empty() {
            return;
        }
        for (tiles, from) in [(changed, frame), (rest, rest_from)] {
            if tiles.iter().any(|&word| word != 0) {
                self.copy(plan, &tiles, from, line);
            }
        }
    }

    /// Copy the watched pixels of some tiles of a row.
    fn copy(&mut self, plan: &Plan, tiles: &Flags, from: &View<'_>, line: usize) {
        let format = from.shape().format;
        let first = (self.first + line) * TILE_HEIGHT;
        let height = TILE_HEIGHT.min(from.shape().height as usize - first);
        for y in first..first + height {
            let from_first = y - self.first * TILE_HEIGHT;
            for span in plan.spans(y) {
                let touched = span.left as usize / TILE_WIDTH..(span.right as usize).div_ceil(TILE_WIDTH);
                let mut run = bits::run(tiles, touched.clone(), 0);
                while !run.is_empty() {
                    let part = clip(*span, &run);
                    let bytes = Layout::of(format).bytes(part);
                    self.work.copied_bytes += bytes.len() as u64;
                    let target = &mut self.pixels[from_first * self.stride..];
                    target[bytes.clone()].copy_from_slice(&from.row(y as u32)[bytes]);
                    if format.has_chroma() && y.is_multiple_of(2) {
                        let bytes = Layout::CHROMA.bytes(part);
                        self.work.copied_bytes += bytes.len() as u64;
                        let target = &mut self.chroma[from_first / 2 * self.chroma_stride..];
                        target[bytes.clone()].copy_from_slice(&from.chroma_row(y / 2)[bytes]);
                    }
                    run = bits::run(tiles, run.end..touched.end, 0);
                }
            }
        }
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

/// The columns of a span that lie in a run of tiles.
fn clip(span: Span, run: &Range<usize>) -> Span {
    let left = span.left.max((run.start * TILE_WIDTH) as u32);
    Span { left, right: span.right.min((run.end * TILE_WIDTH) as u32) }
}
