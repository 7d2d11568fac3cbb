//! The grid of tiles: 64 columns and 16 rows of pixels each.

use std::ops::Range;

use super::bits;
use crate::perception::image::{Rect, Shape};

/// Columns of a tile: as many as a word has bits.
pub(super) const TILE_WIDTH: usize = 64;
/// Rows of a tile. Four bytes a pixel make it 4 KiB. An even number: a tile has whole rows of the chroma plane.
pub(super) const TILE_HEIGHT: usize = 16;

/// The tiles of a shape.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Grid {
    shape: Shape,
    /// Columns of tiles.
    pub(super) columns: usize,
    /// Rows of tiles.
    pub(super) rows: usize,
    /// Words of bits in a row.
    pub(super) words: usize,
}

/// Ranges of columns and rows of tiles.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) columns: Range<usize>,
    pub(super) rows: Range<usize>,
}

impl Grid {
    pub(super) fn new(shape: Shape) -> Self {
        let columns = (shape.width as usize).div_ceil(TILE_WIDTH);
        let rows = (shape.height as usize).div_ceil(TILE_HEIGHT);
        Self { shape, columns, rows, words: bits::words(columns) }
    }

    /// Number of tiles.
    pub(super) fn tiles(&self) -> usize {
        self.columns * self.rows
    }

    /// Tiles that have a pixel of `rect`, clipped to the shape.
    pub(super) fn touched(&self, rect: Rect) -> Block {
        let range = |start: u32, end: u64, side: u32, tile: usize| {
            let end = end.min(u64::from(side)) as usize;
            let start = start as usize / tile;
            start..end.div_ceil(tile).max(start)
        };
        let block = Block {
            columns: range(rect.x, rect.right(), self.shape.width, TILE_WIDTH),
            rows: range(rect.y, rect.bottom(), self.shape.height, TILE_HEIGHT),
        };
        if rect.is_empty() { Block { columns: 0..0, rows: 0..0 } } else { block }
    }

    /// Tiles whose pixels all lie in `rect`. Tiles at the edges of the shape have fewer pixels.
    pub(super) fn inside(&self, rect: Rect) -> Block {
        let range = |start: u32, end: u64, side: u32, tile: usize| {
            let start = (start as usize).div_ceil(tile);
            let end = if end >= u64::from(side) { (side as usize).div_ceil(tile) } else { end as usize / tile };
            start.min(end)..end
        };
        Block {
            columns: range(rect.x, rect.right(), self.shape.width, TILE_WIDTH),
            rows: range(rect.y, rect.bottom(), self.shape.height, TILE_HEIGHT),
        }
    }

    /// The pixels of tiles, clipped to the shape.
    pub(super) fn pixels(&self, columns: Range<usize>, rows: Range<usize>) -> Rect {
        let (x, y) = ((columns.start * TILE_WIDTH) as u32, (rows.start * TILE_HEIGHT) as u32);
        let (width, height) = ((columns.len() * TILE_WIDTH) as u32, (rows.len() * TILE_HEIGHT) as u32);
        Rect::new(x, y, width, height).intersection(self.shape.bounds())
    }

    /// The words of a row of tiles.
    pub(super) fn row(&self, row: usize) -> Range<usize> {
        row * self.words..(row + 1) * self.words
    }
}
