//! The best match of a template: the position with the least sum of squared differences (SSD), exactly.
//!
//! Successive elimination: the template is divided into cells of `b` times `b` pixels. At each position the sums of the
//! cells give a lower bound, because `(sum of n differences)² <= n * sum of their squares`. A position is compared by
//! pixels only if its bound is not above the best score so far. Where that leaves many positions, the scores of whole
//! blocks are computed: see [`dense`](super::dense).
//!
//! A row of an image with several channels is kept as a row of each channel, one after the other.
//!
//! Positions go in blocks of 64 in a row. Each block keeps a lower bound of its scores or, once known, its best score.
//! After a change only the blocks whose positions saw it get new bounds.
//!
//! Invariants:
//! 1. A block's `low` is at most the score of each of its positions. If `at` is a position, it is the first best one of
//!    the block, and `low` is its score.
//! 2. The result is the first of the positions with the least score, in reading order.

use std::sync::{Mutex, PoisonError};

use crate::base::{Result, error, try_filled};
use crate::executor::{Executor, Priority};
use crate::perception::image::{Format, Image, Rect, Shape, View};

use super::dense::{self, Dense};
use super::distances::{self, POSITIONS};
use super::kernels;
use super::products::{ROWS, SLACK};
use super::rows::{self, Compare};

/// A small image to find.
#[derive(Debug)]
pub struct Template {
    /// The image.
    pub image: Image,
    /// By brightness or by colours.
    pub compare: Compare,
    /// The greatest score that counts as found: a sum of squared differences over all pixels and channels. A low limit
    /// makes the search faster. `None`: the best position is always found.
    pub limit: Option<u64>,
}

/// Most pixels of a side of a template.
const MAX_TEMPLATE_SIDE: u32 = 1024;
/// Rows that are processed as one piece of a loop on several threads.
const BAND: usize = 32;
/// Columns of sums on the stack.
const COLUMNS: usize = 512;
/// Blocks of so many open positions are compared as a whole. A position takes 75 ns, and [`ROWS`] blocks 650 ns.
const DENSE_FROM: u32 = 8;
/// A block whose bound is below the best score divided by this is one of many open positions, most likely.
const HOPELESS: u64 = 8;
/// The position of a block that has only a bound.
const UNKNOWN: u32 = u32::MAX;
/// The position of a block whose bound is out of date.
const STALE: u32 = u32::MAX - 1;

impl Template {
    #[inline(never)]
    pub(super) fn check(&self) -> Result<()> {
        let Shape { format, width, height } = self.image.shape();
        if width == 0 || height == 0 || width.max(height) > MAX_TEMPLATE_SIDE {
            return Err(error!(
                InvalidArgument,
                "template of {width} x {height} pixels: each side must be from 1 to {MAX_TEMPLATE_SIDE}"
            ));
        }
        if format == Format::Count32 {
            return Err(error!(Unsupported, "template of format Count32: give an image of pixels"));
        }
        self.compare.check(format)
    }

    #[inline(never)]
    pub(super) fn check_input(&self, input: Shape) -> Result<()> {
        let Shape { format, width, height } = self.image.shape();
        self.compare.check(input.format)?;
        if width > input.width || height > input.height {
            return Err(error!(
                InvalidArgument,
                "template of {width} x {height} pixels does not fit in {} x {}: use a larger region",
                input.width,
                input.height
            ));
        }
        if self.compare.channels(format) != self.compare.channels(input.format) {
            return Err(error!(
                InvalidArgument,
                "template of format {format:?} in an image of {:?}: compare by Luma", input.format
            ));
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug)]
struct Block {
    low: u64,
    at: u32,
}

/// A score and the position that has it. The order of positions is that of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Match {
    score: u64,
    y: u32,
    x: u32,
}

/// Pixels, sums of cells and blocks of an image that is searched.
#[derive(Debug)]
pub struct Search {
    input: Shape,
    channels: usize,
    /// The template's pixels, in rows of channels.
    template: Vec<u8>,
    /// Columns and rows of the template.
    size: [usize; 2],
    /// The image's pixels, in rows of channels, and room behind them.
    plane: Vec<u8>,
    /// Bytes of a row of pixels.
    stride: usize,
    /// Side of a cell in pixels: 1, 4 or 8.
    cell: usize,
    /// Distances of cells in `sums`, and the template's sums.
    cells: Vec<(u32, i16)>,
    /// For each pixel: the sum of the cell that begins there.
    sums: Vec<i16>,
    sums_stride: usize,
    /// Columns and rows of positions.
    positions: [usize; 2],
    blocks: Vec<Block>,
    /// Blocks of a row.
    row_blocks: usize,
    best: Option<Match>,
    /// `None` for a template whose scores do not fit.
    dense: Option<Dense>,
    evaluated: u64,
}

impl Search {
    pub fn new(parameters: &Template, input: Shape) -> Result<Self> {
        let Shape { width, height, .. } = parameters.image.shape();
        let [w, h] = [width as usize, height as usize];
        let [columns, rows] = [input.width as usize, input.height as usize];
        let channels = parameters.compare.channels(input.format);
        let positions = [columns - w + 1, rows - h + 1];
        // The squares of a bound must fit in 32 bits, and the sum of a cell in 15.
        let (cell, most) = match (w.min(h), channels) {
            (16.., 1) => (8, 16),
            (4.., 1) => (4, 64),
            (4.., _) => (4, 24),
            _ => (1, 64),
        };
        let row_blocks = positions[0].div_ceil(POSITIONS);
        let sums_stride = row_blocks * POSITIONS + w;
        let mut template = try_filled(0, w * h * channels)?;
        for (row, out) in template.chunks_exact_mut(w).enumerate() {
            let y = (row / channels) as u32;
            rows::plane(&parameters.image.view(), parameters.compare, row % channels, 0, y, out);
        }
        let (across, down) = (w / cell, h / cell);
        let count = most.min(across * down);
        let mut cells = Vec::new();
        cells.try_reserve_exact(count)?;
        for index in 0..count {
            let place = index * (across * down) / count;
            let (x, y) = (place % across * cell, place / across * cell);
            let rows = y * channels..(y + cell) * channels;
            let numbers = rows.flat_map(|row| &template[row * w + x..][..cell]);
            let sum: u32 = numbers.map(|number| u32::from(*number)).sum();
            cells.push(((y * sums_stride + x) as u32, sum as i16));
        }
        let has_dense = template.len() <= dense::MAX_NUMBERS;
        Ok(Self {
            dense: has_dense.then(|| Dense::new(&template, w, channels, columns)).transpose()?,
            input,
            channels,
            template,
            size: [w, h],
            plane: try_filled(0, columns * channels * (rows + ROWS - 1) + SLACK)?,
            stride: columns * channels,
            cell,
            cells,
            sums: try_filled(0, sums_stride * (rows - cell + 1))?,
            sums_stride,
            positions,
            blocks: try_filled(Block { low: 0, at: STALE }, row_blocks * positions[1])?,
            row_blocks,
            best: None,
            evaluated: 0,
        })
    }

    pub fn memory_used(&self) -> usize {
        self.plane.capacity()
            + self.template.capacity()
            + self.dense.as_ref().map_or(0, Dense::memory_used)
            + self.sums.capacity() * size_of::<i16>()
            + self.blocks.capacity() * size_of::<Block>()
            + self.cells.capacity() * size_of::<(u32, i16)>()
    }

    pub fn evaluated(&self) -> u64 {
        self.evaluated
    }

    /// Note that the input did not change.
    pub fn skip(&mut self) {
        self.evaluated = 0;
    }

    /// Search what changed. Returns the number of pixels read, and of pixels and cells compared.
    pub fn update(
        &mut self,
        parameters: &Template,
        input: &View<'_>,
        dirty: Option<&[Rect]>,
        executor: &Executor,
        value: &mut [u64; 2],
    ) -> u64 {
        let bounds = self.input.bounds();
        let changed = |areas: &[Rect]| areas.iter().map(|area| area.intersection(bounds).area()).sum::<u64>();
        let dirty = dirty.filter(|areas| changed(areas) < bounds.area());
        let mut operations = match dirty {
            None => {
                self.best = None;
                self.refresh(parameters.compare, input, executor);
                bounds.area() + (self.positions[0] * self.positions[1] * self.cells.len()) as u64
            }
            Some(areas) => self.refresh_parts(parameters.compare, input, areas) + changed(areas),
        };
        self.evaluated = 0;
        self.dense.iter_mut().for_each(Dense::forget);
        self.search(parameters.limit.unwrap_or(u64::MAX));
        operations += self.evaluated * self.template.len() as u64;
        *value = match self.best {
            Some(best) => [u64::from(best.x) | u64::from(best.y) << 32, best.score],
            None => [u64::MAX; 2],
        };
        operations
    }

    /// New pixels, sums and bounds everywhere.
    fn refresh(&mut self, compare: Compare, input: &View<'_>, executor: &Executor) {
        let [width, height] = [self.input.width as usize, self.input.height as usize];
        in_parts(executor, &mut self.plane[..height * self.stride], BAND * self.stride, &|part, bytes| {
            for (row, out) in (part * BAND * self.channels..).zip(bytes.chunks_exact_mut(width)) {
                rows::plane(input, compare, row % self.channels, 0, (row / self.channels) as u32, out);
            }
        });
        let (plane, stride, channels, cell) = (&self.plane, self.stride, self.channels, self.cell);
        let columns = self.input.width as usize + 1 - cell;
        in_parts(executor, &mut self.sums, BAND * self.sums_stride, &|part, sums| {
            sum_cells(&plane[part * BAND * stride..], stride, channels, cell, [0, columns], sums, self.sums_stride);
        });
        let (sums, cells) = (&self.sums, &self.cells);
        let area = (cell * cell * channels) as u64;
        in_parts(executor, &mut self.blocks, BAND * self.row_blocks, &|part, blocks| {
            for (index, block) in blocks.iter_mut().enumerate() {
                let (y, x) = (part * BAND + index / self.row_blocks, index % self.row_blocks * POSITIONS);
                let count = POSITIONS.min(self.positions[0] - x);
                *block = bound(&sums[y * self.sums_stride + x..], cells, count, area);
            }
        });
    }

    /// New pixels, sums and bounds where something changed. Returns the number of cells compared.
    fn refresh_parts(&mut self, compare: Compare, input: &View<'_>, areas: &[Rect]) -> u64 {
        let bounds = self.input.bounds();
        let areas = || areas.iter().map(|area| area.intersection(bounds)).filter(|area| !area.is_empty());
        for area in areas() {
            for y in area.y..area.bottom() as u32 {
                let rows = &mut self.plane[y as usize * self.stride..][..self.stride];
                for (channel, row) in rows.chunks_exact_mut(self.input.width as usize).enumerate() {
                    let part = &mut row[area.x as usize..area.right() as usize];
                    rows::plane(input, compare, channel, area.x, y, part);
                }
            }
        }
        let limit = |area: Rect, size: [usize; 2], ends: [usize; 2]| {
            let [left, top] =
                [(area.x as usize + 1).saturating_sub(size[0]), (area.y as usize + 1).saturating_sub(size[1])];
            [left, (area.right() as usize).min(ends[0]), top, (area.bottom() as usize).min(ends[1])]
        };
        let ends = [self.input.width as usize + 1 - self.cell, self.input.height as usize + 1 - self.cell];
        for area in areas() {
            let [left, right, top, bottom] = limit(area, [self.cell; 2], ends);
            if left < right && top < bottom {
                let sums = &mut self.sums[top * self.sums_stride..bottom * self.sums_stride];
                let plane = &self.plane[top * self.stride..];
                sum_cells(plane, self.stride, self.channels, self.cell, [left, right], sums, self.sums_stride);
            }
            let [left, right, top, bottom] = limit(area, self.size, self.positions);
            if left < right && top < bottom {
                for y in top..bottom {
                    let row = y * self.row_blocks;
                    let blocks = &mut self.blocks[row + left / POSITIONS..row + right.div_ceil(POSITIONS)];
                    blocks.iter_mut().for_each(|block| block.at = STALE);
                }
                let lost = |best: Match| {
                    (left..right).contains(&(best.x as usize)) && (top..bottom).contains(&(best.y as usize))
                };
                self.best = self.best.filter(|best| !lost(*best));
            }
        }
        let area = (self.cell * self.cell * self.channels) as u64;
        let mut compared = 0;
        for (index, block) in self.blocks.iter_mut().enumerate().filter(|(_, block)| block.at == STALE) {
            let (y, x) = (index / self.row_blocks, index % self.row_blocks * POSITIONS);
            let count = POSITIONS.min(self.positions[0] - x);
            *block = bound(&self.sums[y * self.sums_stride + x..], &self.cells, count, area);
            compared += count * self.cells.len();
        }
        compared as u64
    }

    /// Find the best match, given that no position outside of the blocks with new bounds is better than the last best
    /// one, if there still is one.
    fn search(&mut self, limit: u64) {
        let none = Match { score: limit, y: u32::MAX, x: u32::MAX };
        let mut best = self.best.unwrap_or(none);
        let least = |blocks: &[Block], above: u64| {
            let open = blocks.iter().filter(|block| block.at == UNKNOWN && block.low >= above);
            open.map(|block| block.low).min().unwrap_or(u64::MAX)
        };
        // Low bounds first, because they lead to a low score.
        let mut low = least(&self.blocks, 0);
        let mut most = low.saturating_mul(2).saturating_add(1);
        loop {
            let before = best.score;
            for y in (0..self.positions[1]).step_by(ROWS) {
                (0..self.row_blocks).for_each(|column| self.compare(y, column, most, &mut best));
            }
            if most >= best.score {
                break;
            }
            low = least(&self.blocks, most);
            // Further passes pay as long as they find better scores, and most blocks have bounds that are near to them.
            let far = self.blocks.iter().filter(|block| block.low < best.score / HOPELESS).count();
            let pays = best.score < before - before / 4 && far < self.blocks.len() / 4;
            most = if pays { low.saturating_mul(2).saturating_add(1) } else { u64::MAX };
        }
        self.best = (best != none).then_some(best);
    }

    /// Compare the positions of blocks one above the other, from row `top` on, that may be better than `best` and whose
    /// bounds are at most `most`.
    fn compare(&mut self, top: usize, column: usize, most: u64, best: &mut Match) {
        let rows = ROWS.min(self.positions[1] - top);
        let x = column * POSITIONS;
        let count = POSITIONS.min(self.positions[0] - x);
        let mut is_open = [false; ROWS];
        let mut open = 0;
        for (row, is_open) in is_open[..rows].iter_mut().enumerate() {
            let block = self.blocks[(top + row) * self.row_blocks + column];
            let first = Match { score: block.low, y: (top + row) as u32, x: x as u32 };
            if block.low <= best.score.min(most) {
                if block.at != UNKNOWN {
                    *best = (*best).min(Match { x: block.at, ..first });
                } else {
                    *is_open = first < *best;
                }
            }
            // In the last pass, bounds far below the best score leave most positions.
            if *is_open && most == u64::MAX && block.low < best.score / HOPELESS {
                open += DENSE_FROM / 2;
            }
        }
        if is_open == [false; ROWS] || open >= DENSE_FROM && self.compare_all(top, column, best) {
            return;
        }
        let area = (self.cell * self.cell * self.channels) as u64;
        let above = best.score.min(most).saturating_mul(area).min(u64::from(u32::MAX)) as u32;
        let mut bounds = [[u32::MAX; POSITIONS]; ROWS];
        open = 0;
        for (row, bounds) in bounds.iter_mut().enumerate().filter(|(row, _)| is_open[*row]) {
            distances::bounds(&self.sums[(top + row) * self.sums_stride + x..], &self.cells, bounds);
            open += kernels::count_at_most(&bounds[..count], above);
            if open >= DENSE_FROM && self.compare_all(top, column, best) {
                return;
            }
        }
        for (row, bounds) in bounds.iter().enumerate().filter(|(row, _)| is_open[*row]) {
            self.compare_some(top + row, x, &bounds[..count], most, best);
        }
    }

    /// Compare all positions of blocks one above the other. Returns whether that is possible.
    fn compare_all(&mut self, top: usize, column: usize, best: &mut Match) -> bool {
        let Some(dense) = &mut self.dense else { return false };
        let x = column * POSITIONS;
        let count = POSITIONS.min(self.positions[0] - x);
        let mut scores = [[0; POSITIONS]; ROWS];
        dense.compute(&self.plane, top, x, &mut scores);
        for (y, scores) in (top..self.positions[1]).zip(scores) {
            let scores = &scores[..count];
            let low = u64::from(kernels::least(scores));
            let mut block = Block { low, at: UNKNOWN };
            if low <= best.score {
                let at = scores.iter().position(|score| u64::from(*score) == low).unwrap_or(0);
                block.at = (x + at) as u32;
                *best = (*best).min(Match { score: low, y: y as u32, x: block.at });
            }
            self.blocks[y * self.row_blocks + column] = block;
            self.evaluated += count as u64;
        }
        true
    }

    /// Compare the positions of a block that may be better than `best`, and whose bounds are at most `most`.
    fn compare_some(&mut self, y: usize, x: usize, bounds: &[u32], most: u64, best: &mut Match) {
        let area = (self.cell * self.cell * self.channels) as u64;
        let (mut low, mut known) = (u64::MAX, Match { score: u64::MAX, y: y as u32, x: UNKNOWN });
        for (x, bound) in (x..).zip(bounds) {
            let bound = u64::from(*bound).div_ceil(area);
            if bound > best.score.min(most) {
                low = low.min(bound);
                continue;
            }
            self.evaluated += 1;
            let start = y * self.stride + x;
            let (width, [columns, _]) = (self.input.width as usize, self.size);
            let score = distances::squared(&self.plane, start, width, &self.template, columns, best.score);
            if score > best.score {
                low = low.min(score);
                continue;
            }
            let found = Match { score, y: y as u32, x: x as u32 };
            known = known.min(found);
            *best = (*best).min(found);
        }
        self.blocks[y * self.row_blocks + x / POSITIONS] =
            if known.score < low { Block { low: known.score, at: known.x } } else { Block { low, at: UNKNOWN } };
    }
}

/// The lower bound of the scores of a block of `count` positions. A cell has `area` numbers.
fn bound(sums: &[i16], cells: &[(u32, i16)], count: usize, area: u64) -> Block {
    let mut bounds = [0; POSITIONS];
    distances::bounds(sums, cells, &mut bounds);
    Block { low: u64::from(kernels::least(&bounds[..count])).div_ceil(area), at: UNKNOWN }
}

/// Sums of the cells that begin in some columns of the plane's first rows: a row of sums for each row of `sums`.
fn sum_cells(
    plane: &[u8],
    stride: usize,
    channels: usize,
    cell: usize,
    [left, right]: [usize; 2],
    sums: &mut [i16],
    sums_stride: usize,
) {
    let mut columns = [0; COLUMNS];
    let width = stride / channels;
    for left in (left..right).step_by(COLUMNS - 8) {
        let count = (COLUMNS - 8).min(right - left);
        let columns = &mut columns[..count + cell - 1];
        columns.fill(0);
        let rows =
            |y: usize| (0..channels).map(move |row| &plane[y * stride + row * width + left..][..count + cell - 1]);
        (0..cell - 1).flat_map(rows).for_each(|row| kernels::add(columns, row));
        for (y, sums) in sums.chunks_exact_mut(sums_stride).enumerate() {
            rows(y + cell - 1).for_each(|row| kernels::add(columns, row));
            kernels::add_ahead(columns, cell, &mut sums[left..left + count]);
            rows(y).for_each(|row| kernels::subtract(columns, row));
        }
    }
}

/// Process parts of `size` items, on several threads.
fn in_parts<T: Send>(executor: &Executor, items: &mut [T], size: usize, work: &(dyn Fn(usize, &mut [T]) + Sync)) {
    let count = items.len().div_ceil(size);
    let parts = Mutex::new(items.chunks_mut(size).enumerate());
    executor.parallel_for(count, Priority::High, "template search", &|_, _| {
        let part = parts.lock().unwrap_or_else(PoisonError::into_inner).next();
        if let Some((index, items)) = part {
            work(index, items);
        }
    });
}
