//! The best match of a template: the position with the least sum of squared differences (SSD), exactly.
//!
//! Successive elimination: the template is divided into cells of `b` times `b` pixels. At each position the sums of the
//! cells give a lower bound, because `(sum of n differences)² <= n * sum of their squares`. A position is compared by
//! pixels only if its bound is not above the best score so far.
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

use super::distances::{self, POSITIONS};
use super::rows::{self, Compare};
use super::{kernels, packed};

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
    /// The template's pixels, and the bytes of a row of them.
    template: Vec<u8>,
    row_size: usize,
    /// The image's pixels.
    plane: Vec<u8>,
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
        let template = packed(&parameters.image, parameters.compare)?;
        let row_size = w * channels;
        let (across, down) = (w / cell, h / cell);
        let count = most.min(across * down);
        let mut cells = Vec::new();
        cells.try_reserve_exact(count)?;
        for index in 0..count {
            let place = index * (across * down) / count;
            let (x, y) = (place % across * cell, place / across * cell);
            let sum: u32 = (y..y + cell)
                .flat_map(|y| &template[y * row_size + x * channels..][..cell * channels])
                .map(|byte| u32::from(*byte))
                .sum();
            cells.push(((y * sums_stride + x) as u32, sum as i16));
        }
        Ok(Self {
            input,
            channels,
            template,
            row_size,
            plane: try_filled(0, columns * channels * rows)?,
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
        in_parts(executor, &mut self.plane, BAND * self.stride, &|part, bytes| {
            for (y, row) in (part * BAND..).zip(bytes.chunks_exact_mut(self.stride)) {
                rows::compared(input, compare, 0, y as u32, row);
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
                let start = y as usize * self.stride + area.x as usize * self.channels;
                let row = &mut self.plane[start..start + area.width as usize * self.channels];
                rows::compared(input, compare, area.x, y, row);
            }
        }
        let [w, h] = [self.row_size / self.channels, self.template.len() / self.row_size];
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
            let [left, right, top, bottom] = limit(area, [w, h], self.positions);
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
        loop {
            let most = low.saturating_mul(2).saturating_add(1);
            for index in 0..self.blocks.len() {
                let block = self.blocks[index];
                if block.low > best.score.min(most) {
                    continue;
                }
                let y = (index / self.row_blocks) as u32;
                let first = Match { score: block.low, y, x: (index % self.row_blocks * POSITIONS) as u32 };
                if block.at != UNKNOWN {
                    best = best.min(Match { x: block.at, ..first });
                } else if first < best {
                    self.evaluate(index, most, &mut best);
                }
            }
            if most >= best.score {
                break;
            }
            low = least(&self.blocks, most);
        }
        self.best = (best != none).then_some(best);
    }

    /// Compare the positions of a block that may be better than `best`, and whose bounds are at most `most`.
    fn evaluate(&mut self, index: usize, most: u64, best: &mut Match) {
        let (y, x) = (index / self.row_blocks, index % self.row_blocks * POSITIONS);
        let count = POSITIONS.min(self.positions[0] - x);
        let mut bounds = [0; POSITIONS];
        distances::bounds(&self.sums[y * self.sums_stride + x..], &self.cells, &mut bounds);
        let area = (self.cell * self.cell * self.channels) as u64;
        let (mut low, mut known) = (u64::MAX, Match { score: u64::MAX, y: y as u32, x: UNKNOWN });
        for (x, bound) in (x..).zip(&bounds[..count]) {
            let bound = u64::from(*bound).div_ceil(area);
            if bound > best.score.min(most) {
                low = low.min(bound);
                continue;
            }
            self.evaluated += 1;
            let start = y * self.stride + x * self.channels;
            let (template, size) = (&self.template, self.row_size);
            let score = distances::squared(&self.plane, start, self.stride, template, size, best.score);
            if score > best.score {
                low = low.min(score);
                continue;
            }
            let found = Match { score, y: y as u32, x: x as u32 };
            known = known.min(found);
            *best = (*best).min(found);
        }
        self.blocks[index] =
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
    for left in (left..right).step_by(COLUMNS - 8) {
        let width = (COLUMNS - 8).min(right - left);
        let columns = &mut columns[..width + cell - 1];
        columns.fill(0);
        let row = |y: usize| &plane[y * stride + left * channels..][..columns_size(width, cell, channels)];
        (0..cell - 1).for_each(|y| add(columns, row(y), channels, true));
        for (y, sums) in sums.chunks_exact_mut(sums_stride).enumerate() {
            add(columns, row(y + cell - 1), channels, true);
            kernels::add_ahead(columns, cell, &mut sums[left..left + width]);
            add(columns, row(y), channels, false);
        }
    }
}

fn columns_size(width: usize, cell: usize, channels: usize) -> usize {
    (width + cell - 1) * channels
}

/// Add the pixels of a row to sums of columns, or subtract them.
fn add(columns: &mut [u16], row: &[u8], channels: usize, is_entering: bool) {
    match (channels, is_entering) {
        (1, true) => kernels::add(columns, row),
        (1, false) => kernels::subtract(columns, row),
        _ => {
            for (column, pixel) in columns.iter_mut().zip(row.as_chunks::<3>().0) {
                let sum = pixel.iter().map(|byte| u16::from(*byte)).sum::<u16>();
                *column = if is_entering { *column + sum } else { *column - sum };
            }
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
