//! The pixels to compare: for each row the spans that a region watches. A pixel of many regions is in one span.

use super::bits;
use super::grid::{Grid, TILE_HEIGHT, TILE_WIDTH};
use crate::base::{Result, sort_slowly, try_collect, try_filled, try_push};
use crate::perception::image::{Rect, Shape};
use crate::perception::pixels::Span;

/// The union of all watched regions.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// By row: where its spans are. Rows that no region's edge separates share theirs.
    rows: Vec<(u32, u32)>,
    spans: Vec<Span>,
    /// Tiles that have a watched pixel.
    pub(super) watched: Vec<u64>,
    /// Pixels in all spans.
    pub(super) pixels: u64,
}

impl Plan {
    /// The union of rectangles that lie in a shape.
    pub(super) fn compile(shape: Shape, regions: impl Iterator<Item = Rect> + Clone) -> Result<Self> {
        let grid = Grid::new(shape);
        let mut plan = Self {
            rows: try_filled((0, 0), shape.height as usize)?,
            watched: try_filled(0, grid.words * grid.rows)?,
            ..Self::default()
        };
        // Edges between rows: only rows that begin or end a region can differ from the row above.
        let mut is_edge = try_filled(false, shape.height as usize + 1)?;
        let mut by_left = try_collect(regions)?;
        for rect in &by_left {
            is_edge[rect.y as usize] = true;
            is_edge[rect.bottom() as usize] = true;
        }
        sort_slowly(&mut by_left, |one, other| one.x.cmp(&other.x));
        let mut current = (0, 0);
        for y in 0..shape.height {
            if is_edge[y as usize] {
                current = plan.append_spans(&by_left, y)?;
            }
            plan.rows[y as usize] = current;
            for span in &plan.spans[current.0 as usize..current.1 as usize] {
                plan.pixels += u64::from(span.right - span.left);
                let tiles = span.left as usize / TILE_WIDTH..(span.right as usize).div_ceil(TILE_WIDTH);
                let row = &mut plan.watched[grid.row(y as usize / TILE_HEIGHT)];
                tiles.for_each(|tile| bits::set(row, tile));
            }
        }
        Ok(plan)
    }

    /// Append the spans of a row. Returns where they are.
    fn append_spans(&mut self, by_left: &[Rect], y: u32) -> Result<(u32, u32)> {
        let start = self.spans.len();
        for rect in by_left.iter().filter(|rect| rect.y <= y && u64::from(y) < rect.bottom()) {
            let right = rect.x + rect.width;
            match self.spans[start..].last_mut() {
                Some(last) if rect.x <= last.right => last.right = last.right.max(right),
                _ => try_push(&mut self.spans, Span { left: rect.x, right })?,
            }
        }
        Ok((start as u32, self.spans.len() as u32))
    }

    /// The spans of a row of pixels, from left to right, with gaps between them. None below the last row.
    #[inline]
    pub(super) fn spans(&self, y: usize) -> &[Span] {
        let (start, end) = self.rows.get(y).copied().unwrap_or_default();
        &self.spans[start as usize..end as usize]
    }

    /// Whether some rows are watched from the first column to the last.
    #[inline]
    pub(super) fn is_full(&self, first: usize, count: usize, width: u32) -> bool {
        let is_full = |y| matches!(*self.spans(y), [Span { left: 0, right }] if right == width);
        (first..first + count).all(is_full)
    }

    /// Whether all pixels of a rectangle inside the shape are watched.
    pub(super) fn covers(&self, rect: Rect) -> bool {
        let mut rows = rect.y as usize..rect.bottom() as usize;
        let holds = |span: &Span| span.left <= rect.x && rect.right() <= u64::from(span.right);
        rows.all(|y| self.spans(y).iter().any(holds))
    }

    pub(super) fn memory_used(&self) -> usize {
        self.rows.capacity() * size_of::<(u32, u32)>()
            + self.spans.capacity() * size_of::<Span>()
            + self.watched.capacity() * size_of::<u64>()
    }
}
