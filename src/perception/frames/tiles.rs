//! The tiles of a frame: which of them differ from the last frame, and which of their pixels.

use super::bits;
use super::grid::{Block, Grid, TILE_HEIGHT, TILE_WIDTH};
use super::plan::Plan;
use crate::base::{Result, try_filled};
use crate::perception::image::{Rect, Shape, View};
use crate::perception::pixels::{Significant, differing_pixels, first_difference};

/// A bit for each pixel of a tile.
pub(super) type Masks = [u64; TILE_HEIGHT];

/// The state of each tile.
#[derive(Debug, Default)]
pub(super) struct Tiles {
    pub(super) grid: Grid,
    /// Tiles with a watched pixel that differs from the last frame, or may differ.
    pub(super) dirty: Vec<u64>,
    /// Rows of tiles that have a dirty one.
    pub(super) dirty_lines: Vec<u64>,
    /// Tiles with pixels that may be new to the watched ones. They are dirty, and only their masks tell what differs.
    pub(super) first_seen: Vec<u64>,
    /// Tiles that are not compared.
    pub(super) skip: Vec<u64>,
    /// Tiles that a hint lets change.
    pub(super) hinted: Vec<u64>,
    /// By tile: the last frame at which it was dirty.
    pub(super) changed_at: Vec<u64>,
    /// By row of tiles: the last frame at which one was dirty.
    pub(super) line_changed_at: Vec<u64>,
    /// Which pixels of a tile differ. Valid if the number in `masks_at` is the frame's.
    pub(super) masks: Vec<Masks>,
    pub(super) masks_at: Vec<u64>,
    /// How often only a mask of the frame told whether a region changed.
    pub(super) asked: usize,
}

impl Tiles {
    pub(super) fn new(shape: Shape) -> Result<Self> {
        let grid = Grid::new(shape);
        let flags = || try_filled(0, grid.words * grid.rows);
        Ok(Self {
            grid,
            dirty: flags()?,
            dirty_lines: try_filled(0, bits::words(grid.rows))?,
            first_seen: flags()?,
            skip: flags()?,
            hinted: flags()?,
            changed_at: try_filled(0, grid.tiles())?,
            line_changed_at: try_filled(0, grid.rows)?,
            masks: try_filled([0; TILE_HEIGHT], grid.tiles())?,
            masks_at: try_filled(0, grid.tiles())?,
            asked: 0,
        })
    }

    /// The bytes that the tiles of a shape take.
    pub(super) fn size_of(shape: Shape) -> usize {
        let grid = Grid::new(shape);
        let numbers = 2 * grid.tiles() + grid.rows + 4 * grid.words * grid.rows + bits::words(grid.rows);
        grid.tiles() * size_of::<Masks>() + numbers * size_of::<u64>()
    }

    /// Take the watched tiles that touch a rectangle as seen for the first time.
    pub(super) fn see_first(&mut self, plan: &Plan, rect: Rect) {
        let Block { columns, rows } = self.grid.touched(rect);
        for row in rows {
            let words = self.grid.row(row);
            bits::set_range(&mut self.first_seen[words.clone()], &plan.watched[words], columns.clone());
        }
    }

    /// Let the tiles that touch a rectangle change.
    pub(super) fn hint(&mut self, plan: &Plan, rect: Rect) {
        let Block { columns, rows } = self.grid.touched(rect);
        for row in rows {
            let words = self.grid.row(row);
            bits::set_range(&mut self.hinted[words.clone()], &plan.watched[words], columns.clone());
        }
    }

    /// Take the watched tiles inside a rectangle as dirty, without a compare.
    pub(super) fn take_as_dirty(&mut self, plan: &Plan, rect: Rect) {
        let Block { columns, rows } = self.grid.inside(rect);
        for row in rows {
            let words = self.grid.row(row);
            bits::set_range(&mut self.dirty[words.clone()], &plan.watched[words], columns.clone());
        }
    }

    /// Skip the tiles that no hint lets change, but for one of `period`, other ones for each frame.
    pub(super) fn skip_unhinted(&mut self, number: u64, period: u64) {
        for row in 0..self.grid.rows {
            let words = self.grid.row(row);
            let (skip, hinted) = (&mut self.skip[words.clone()], &self.hinted[words]);
            for column in 0..self.grid.columns {
                let turn = turn(row as u64, column as u64, number / period) % period;
                let is_in_turn = turn == number % period;
                if !is_in_turn && !bits::has(hinted, column) {
                    bits::set(skip, column);
                }
            }
        }
    }

    /// Find the rows of tiles that have a dirty one.
    pub(super) fn find_dirty_lines(&mut self) {
        self.dirty_lines.fill(0);
        for (row, words) in self.dirty.chunks(self.grid.words).enumerate() {
            if words.iter().any(|&word| word != 0) {
                bits::set(&mut self.dirty_lines, row);
            }
        }
    }

    /// Whether a tile is dirty. Call [`find_dirty_lines`](Self::find_dirty_lines) before.
    pub(super) fn is_dirty(&self) -> bool {
        self.dirty_lines.iter().any(|&word| word != 0)
    }

    /// Number of dirty tiles that no hint let change, and that are not seen for the first time.
    pub(super) fn lies(&self) -> u64 {
        let all = self.dirty.iter().zip(&self.hinted).zip(&self.first_seen);
        all.map(|((dirty, hinted), first)| u64::from((dirty & !hinted & !first).count_ones())).sum()
    }

    /// Whether a pixel of `rect`, whose pixels are all watched, differs between two frames.
    pub(super) fn differs(&mut self, rect: Rect, frame: &View<'_>, last: &View<'_>, number: u64) -> bool {
        let grid = self.grid;
        let Block { columns, rows } = grid.touched(rect);
        if bits::next(&self.dirty_lines, rows.clone(), 0) == rows.end {
            return false;
        }
        let inside = grid.inside(rect);
        for row in inside.rows {
            let words = grid.row(row);
            if bits::any(&self.dirty[words.clone()], &self.first_seen[words], inside.columns.clone()) {
                return true;
            }
        }
        let mut row = bits::next(&self.dirty_lines, rows.clone(), 0);
        while row < rows.end {
            let mut tile = bits::next(&self.dirty[grid.row(row)], columns.clone(), 0);
            while tile < columns.end {
                if self.differs_in(tile, row, rect, frame, last, number) {
                    return true;
                }
                tile = bits::next(&self.dirty[grid.row(row)], tile + 1..columns.end, 0);
            }
            row = bits::next(&self.dirty_lines, row + 1..rows.end, 0);
        }
        false
    }

    /// Whether a pixel of `rect` in a tile differs.
    fn differs_in(
        &mut self,
        column: usize,
        row: usize,
        rect: Rect,
        frame: &View<'_>,
        last: &View<'_>,
        number: u64,
    ) -> bool {
        let tile = self.grid.pixels(column..column + 1, row..row + 1);
        let part = tile.intersection(rect);
        if self.masks_at[row * self.grid.columns + column] != number {
            // Where all pixels change, one row tells: masks of the whole tile would take longer.
            let format = frame.shape().format;
            let bytes = part.x as usize * format.pixel_size()..part.right() as usize * format.pixel_size();
            let (one, other) = (&frame.row(part.y)[bytes.clone()], &last.row(part.y)[bytes]);
            if first_difference(one, other, Significant::of(format)).is_some() {
                return true;
            }
        }
        let column_mask = !0 >> (64 - part.width) << (part.x - tile.x);
        let lines = (part.y - tile.y) as usize..(part.bottom() - u64::from(tile.y)) as usize;
        let masks = &self.masks(column, row, frame, last, number)[lines];
        let is_asked = masks[0] & column_mask == 0;
        let differs = masks.iter().any(|mask| mask & column_mask != 0);
        self.asked += usize::from(is_asked);
        differs
    }

    /// Which pixels of a tile differ.
    fn masks(&mut self, column: usize, row: usize, frame: &View<'_>, last: &View<'_>, number: u64) -> &Masks {
        let index = row * self.grid.columns + column;
        if self.masks_at[index] != number {
            self.masks_at[index] = number;
            self.masks[index] = differing(self.grid.pixels(column..column + 1, row..row + 1), frame, last);
        }
        &self.masks[index]
    }

    /// Call back for runs of dirty tiles, clipped to `rect`.
    pub(super) fn each_dirty(&self, rect: Rect, mut each: impl FnMut(Rect)) {
        let Block { columns, rows } = self.grid.touched(rect);
        for row in rows {
            let dirty = &self.dirty[self.grid.row(row)];
            let mut run = bits::run(dirty, columns.clone(), 0);
            while !run.is_empty() {
                each(self.grid.pixels(run.clone(), row..row + 1).intersection(rect));
                run = bits::run(dirty, run.end..columns.end, 0);
            }
        }
    }

    /// Whether a rectangle touches a tile that is seen for the first time.
    pub(super) fn is_first_seen(&self, rect: Rect) -> bool {
        let Block { columns, mut rows } = self.grid.touched(rect);
        rows.any(|row| bits::any(&self.first_seen[self.grid.row(row)], &[0; 8], columns.clone()))
    }
}

/// Which pixels of a tile differ. A pair of the chroma plane counts as its upper left pixel: a rectangle that has a pixel
/// of the pair has this one, as it begins at even places.
fn differing(tile: Rect, frame: &View<'_>, last: &View<'_>) -> Masks {
    let format = frame.shape().format;
    let (size, significant) = (format.pixel_size(), Significant::of(format));
    let mut masks = [0; TILE_HEIGHT];
    for (mask, y) in masks.iter_mut().zip(tile.y..tile.bottom() as u32) {
        let bytes = tile.x as usize * size..tile.right() as usize * size;
        *mask = differing_pixels(&frame.row(y)[bytes.clone()], &last.row(y)[bytes], size, significant);
        if format.has_chroma() && y.is_multiple_of(2) {
            let bytes = tile.x as usize..(tile.right() as usize).next_multiple_of(2);
            let (one, other) = (frame.chroma_row(y as usize / 2), last.chroma_row(y as usize / 2));
            let pairs = differing_pixels(&one[bytes.clone()], &other[bytes], 1, significant);
            *mask |= (pairs | pairs >> 1) & 0x5555_5555_5555_5555;
        }
    }
    debug_assert!(tile.width as usize <= TILE_WIDTH);
    masks
}

/// A number for a tile in a period, as good as random.
fn turn(row: u64, column: u64, period: u64) -> u64 {
    let mixed = (row << 40 ^ column << 20 ^ period).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32
}
