//! The pixels to compare: for each row the spans that a region watches. A pixel of many regions is in one span. Small gaps
//! between regions are watched, too.

use super::bits;
use super::grid::{Grid, TILE_HEIGHT, TILE_WIDTH};
use crate::base::{Result, sort_slowly, try_filled, try_push};
use crate::perception::image::{Rect, Shape};
use crate::perception::pixels::Span;

/// Gaps of up to so many columns are watched. A span costs as much as 100 columns, and a gap of one cache line is read
/// anyway.
const MAX_GAP: u32 = 16;
/// A row is watched from end to end if its gaps take up to the width divided by this. Rows of tiles that are watched from
/// end to end are compared at once.
const FULL_ROW_SHARE: u32 = 16;

/// The union of all watched regions, and the small gaps between them.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// By row: where its spans are. Rows that no region's edge separates share theirs.
    rows: Vec<(u32, u32)>,
    /// By row: the number of rows from it on that are watched from the first column to the last.
    full: Vec<u32>,
    spans: Vec<Span>,
    /// Tiles that have a watched pixel.
    pub(super) watched: Vec<u64>,
    /// Their number.
    pub(super) watched_tiles: u64,
    /// Tiles that have a watched pixel of no region.
    pub(super) gaps: Vec<u64>,
    /// Pixels in all spans.
    pub(super) pixels: u64,
}

impl Plan {
    /// The union of rectangles that lie in a shape.
    pub(super) fn compile(shape: Shape, mut by_left: Vec<Rect>) -> Result<Self> {
        let grid = Grid::new(shape);
        let mut plan = Self {
            rows: try_filled((0, 0), shape.height as usize)?,
            full: try_filled(0, shape.height as usize)?,
            watched: try_filled(0, grid.words * grid.rows)?,
            gaps: try_filled(0, grid.words * grid.rows)?,
            ..Self::default()
        };
        // Edges between rows: only rows that begin or end a region can differ from the row above.
        let mut is_edge = try_filled(false, shape.height as usize + 1)?;
        for rect in &by_left {
            is_edge[rect.y as usize] = true;
            is_edge[rect.bottom() as usize] = true;
        }
        sort_slowly(&mut by_left, |one, other| one.x.cmp(&other.x));
        let (mut current, mut of_regions) = ((0, 0), Vec::new());
        for y in 0..shape.height {
            if is_edge[y as usize] {
                unite(&by_left, y, &mut of_regions)?;
                current = plan.append_spans(&of_regions, shape.width)?;
            }
            plan.rows[y as usize] = current;
            let words = grid.row(y as usize / TILE_HEIGHT);
            for span in &plan.spans[current.0 as usize..current.1 as usize] {
                plan.pixels += u64::from(span.right - span.left);
                touch(&mut plan.watched[words.clone()], *span);
            }
            let spans = &plan.spans[current.0 as usize..current.1 as usize];
            each_gap(spans, &of_regions, |gap| touch(&mut plan.gaps[words.clone()], gap));
        }
        plan.watched_tiles = bits::count(&plan.watched);
        let mut below = 0;
        for y in (0..shape.height as usize).rev() {
            let is_full = matches!(*plan.spans(y), [Span { left: 0, right }] if right == shape.width);
            below = if is_full { below + 1 } else { 0 };
            plan.full[y] = below;
        }
        Ok(plan)
    }

    /// Append the spans of a row with these spans of regions. Returns where they are.
    fn append_spans(&mut self, of_regions: &[Span], width: u32) -> Result<(u32, u32)> {
        let start = self.spans.len();
        let watched: u32 = of_regions.iter().map(|span| span.right - span.left).sum();
        if watched > 0 && width - watched <= width / FULL_ROW_SHARE {
            try_push(&mut self.spans, Span { left: 0, right: width })?;
            return Ok((start as u32, self.spans.len() as u32));
        }
        for &span in of_regions {
            match self.spans[start..].last_mut() {
                Some(last) if span.left - last.right <= MAX_GAP => last.right = span.right,
                _ => try_push(&mut self.spans, span)?,
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

    /// The number of rows from `y` on that are watched from the first column to the last, one below the other.
    #[inline]
    pub(super) fn full_rows(&self, y: usize) -> usize {
        self.full.get(y).map_or(0, |&count| count as usize)
    }

    /// Whether all pixels of a rectangle inside the shape are watched.
    pub(super) fn covers(&self, rect: Rect) -> bool {
        let mut rows = rect.y as usize..rect.bottom() as usize;
        let holds = |span: &Span| span.left <= rect.x && rect.right() <= u64::from(span.right);
        rows.all(|y| self.spans(y).iter().any(holds))
    }

    pub(super) fn memory_used(&self) -> usize {
        self.rows.capacity() * size_of::<(u32, u32)>()
            + self.full.capacity() * size_of::<u32>()
            + self.spans.capacity() * size_of::<Span>()
            + (self.watched.capacity() + self.gaps.capacity()) * size_of::<u64>()
    }
}

/// The union of the rectangles in a row.
fn unite(by_left: &[Rect], y: u32, row: &mut Vec<Span>) -> Result<()> {
    row.clear();
    for rect in by_left.iter().filter(|rect| rect.y <= y && u64::from(y) < rect.bottom()) {
        let right = rect.x + rect.width;
        match row.last_mut() {
            Some(last) if rect.x <= last.right => last.right = last.right.max(right),
            _ => try_push(row, Span { left: rect.x, right })?,
        }
    }
    Ok(())
}

/// Mark the tiles that a span touches.
fn touch(row: &mut [u64], span: Span) {
    let tiles = span.left as usize / TILE_WIDTH..(span.right as usize).div_ceil(TILE_WIDTH);
    tiles.for_each(|tile| bits::set(row, tile));
}

/// Call back for the columns of `spans` that are in no span of `of_regions`. All of those are inside `spans`.
fn each_gap(spans: &[Span], of_regions: &[Span], mut each: impl FnMut(Span)) {
    let mut regions = of_regions.iter().peekable();
    for &Span { mut left, right } in spans {
        while let Some(region) = regions.next_if(|region| region.right <= right) {
            if left < region.left {
                each(Span { left, right: region.left });
            }
            left = region.right;
        }
        if left < right {
            each(Span { left, right });
        }
    }
}
