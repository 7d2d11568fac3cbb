//! Exact scores of all positions of some blocks. They bound the cost of a template search.
//!
//! With p and t for the numbers of the pixels and of the template, and s for t - 128, a squared difference is
//! `p (p - 256) - 2 p s + t²`. The first terms are summed for all positions of a row at once, the products by
//! [`products`](super::products), and the last ones are constant.

use crate::base::{Result, try_filled};

use super::distances::POSITIONS;
use super::kernels;
use super::products::{Centred, Kernel, Products, ROWS};

/// Numbers of the largest template: a sum of as many squares fits in 32 bits.
pub const MAX_NUMBERS: usize = 1 << 16;

/// Computes scores of [`ROWS`] blocks one above the other.
#[derive(Debug)]
pub struct Dense {
    template: Centred,
    /// Columns of the template, and the rows of the plane that it covers.
    size: [usize; 2],
    /// Rows of the plane from a row of positions to the next one.
    step: usize,
    /// The sum of the template's squares.
    squares: u32,
    /// The row of positions that `columns` are of.
    top: Option<usize>,
    /// For each column of the plane: the sum of the first terms in the rows that the template covers.
    columns: Vec<u32>,
    /// Sums of as many columns as a power of two, and as the next one.
    powers: [Vec<u32>; 2],
    /// The row of positions that `windows` begin with.
    first: Option<usize>,
    /// For each position of some rows: the sum of the first terms.
    windows: Vec<u32>,
    /// Positions of a row, in whole blocks.
    row_size: usize,
}

impl Dense {
    /// For a plane with rows of `columns` numbers.
    pub fn new(template: &[u8], width: usize, step: usize, columns: usize) -> Result<Self> {
        let row_size = (columns - width + 1).next_multiple_of(POSITIONS);
        let kernel = Kernel::available().next().unwrap_or(Kernel::Plain);
        Ok(Self {
            template: Centred::new(template, width, step, kernel)?,
            size: [width, template.len() / width],
            step,
            squares: template.iter().map(|number| u32::from(*number).pow(2)).sum(),
            top: None,
            columns: try_filled(0, columns)?,
            powers: [try_filled(0, columns)?, try_filled(0, columns)?],
            first: None,
            windows: try_filled(0, row_size * ROWS)?,
            row_size,
        })
    }

    pub fn memory_used(&self) -> usize {
        let numbers = 3 * self.columns.capacity() + self.windows.capacity();
        self.template.memory_used() + numbers * size_of::<u32>()
    }

    /// Note that the plane changed.
    pub fn forget(&mut self) {
        (self.top, self.first) = (None, None);
    }

    /// Compute the scores of the blocks whose first position is in row `y` and column `x`.
    pub fn compute(&mut self, plane: &[u8], y: usize, x: usize, out: &mut Products) {
        if self.first != Some(y) {
            self.first = Some(y);
            for row in 0..ROWS {
                self.move_to(plane, y + row);
                self.sum_windows(row);
            }
        }
        let stride = self.columns.len();
        self.template.at(plane, y * self.step * stride + x, stride, out);
        for (out, windows) in out.iter_mut().zip(self.windows.chunks_exact(self.row_size)) {
            kernels::finish_scores(out, &windows[x..x + POSITIONS], self.squares);
        }
    }

    /// Sum the columns that each position of a row sees, by sums of 1, 2, 4 and so on.
    fn sum_windows(&mut self, row: usize) {
        let [width, _] = self.size;
        let windows = &mut self.windows[row * self.row_size..][..self.row_size];
        windows.fill(0);
        let [powers, next] = &mut self.powers;
        let (mut powers, mut next) = (powers, next);
        powers.copy_from_slice(&self.columns);
        let mut done = 0;
        for bit in (0..usize::BITS).map(|bit| 1 << bit).take_while(|bit| *bit <= width) {
            if width & bit != 0 {
                kernels::add_sums(windows, &powers[done..]);
                done += bit;
            }
            if bit * 2 <= width {
                kernels::pair_sums(powers, bit, next);
                std::mem::swap(&mut powers, &mut next);
            }
        }
    }

    /// Let `columns` have the sums for a row of positions.
    fn move_to(&mut self, plane: &[u8], y: usize) {
        let stride = self.columns.len();
        let [_, height] = self.size;
        let row = |row: usize| &plane[row * stride..][..stride];
        let step = self.step;
        match self.top {
            Some(top) if top <= y && (y - top) * step < height => {
                for top in top * step..y * step {
                    kernels::move_terms(&mut self.columns, row(top + height), row(top));
                }
            }
            _ => {
                self.columns.fill(0);
                (y * step..y * step + height).for_each(|y| kernels::add_terms(&mut self.columns, row(y)));
            }
        }
        self.top = Some(y);
    }
}
