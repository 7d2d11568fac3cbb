//! Operators on a square around each pixel: mean, minimum, maximum.
//!
//! Work goes in strips of columns, so that the sums and extremes of columns fit on the stack. Beyond its edges the image
//! repeats the pixels of the edge.

use crate::perception::image::{Rect, View, ViewMut};

use super::local::{fill_padding, row_part};
use super::{MAX_RADIUS, kernels};

/// Output columns of a strip.
const COLUMNS: u32 = 256;
/// Numbers of a row of a strip: pixels of up to 4 bytes, with the pixels that the windows reach.
const ROOM: usize = (COLUMNS + 2 * MAX_RADIUS) as usize * 4;

/// A strip of output columns, and the input columns that it needs.
struct Strip {
    area: Rect,
    /// Bytes of a pixel.
    size: usize,
    /// Bytes of an input row.
    bytes: std::ops::Range<usize>,
    /// Pixels of the window that are beyond the left and the right edge.
    beyond: [usize; 2],
}

impl Strip {
    /// The strips of `area`.
    fn all(input: &View<'_>, radius: u32, area: Rect) -> impl Iterator<Item = Self> {
        let (size, width) = (input.shape().format.pixel_size(), input.shape().width);
        (area.x..area.right() as u32).step_by(COLUMNS as usize).map(move |x| {
            let part = Rect { x, width: COLUMNS.min(area.right() as u32 - x), ..area };
            let (left, right) = (x.saturating_sub(radius), (part.right() as u32 + radius).min(width));
            let beyond = [radius + left - x, part.right() as u32 + radius - right].map(|count| count as usize);
            Self { area: part, size, bytes: left as usize * size..right as usize * size, beyond }
        })
    }

    /// Numbers of a row, with those beyond the edges.
    fn len(&self) -> usize {
        self.bytes.len() + (self.beyond[0] + self.beyond[1]) * self.size
    }

    /// The numbers of columns inside of the image.
    fn inside(&self) -> std::ops::Range<usize> {
        let start = self.beyond[0] * self.size;
        start..start + self.bytes.len()
    }

    /// Repeat the numbers of the edge columns.
    fn extend<T: Copy>(&self, numbers: &mut [T]) {
        let (inside, size) = (self.inside(), self.size);
        for pixel in 0..self.beyond[0] {
            numbers.copy_within(inside.start..inside.start + size, pixel * size);
        }
        for pixel in 0..self.beyond[1] {
            numbers.copy_within(inside.end - size..inside.end, inside.end + pixel * size);
        }
    }
}

/// The row of the image, or of its edge.
fn row<'a>(input: &View<'a>, y: i64) -> &'a [u8] {
    input.row(y.clamp(0, i64::from(input.shape().height) - 1) as u32)
}

/// Means.
pub fn mean(input: &View<'_>, radius: u32, output: &mut ViewMut<'_>, area: Rect) {
    let side = u64::from(2 * radius + 1);
    let count = side * side;
    // Sums are below 2^23 and counts below 2^15, so this multiplication divides exactly.
    let reciprocal = (1 << 40) / count + 1;
    let reach = i64::from(radius);
    let format = input.shape().format;
    let (mut sums, mut extended) = ([0; ROOM], [0; ROOM]);
    for strip in Strip::all(input, radius, area) {
        let sums = &mut sums[..strip.bytes.len()];
        let extended = &mut extended[..strip.len()];
        let rows = |y: i64| &row(input, y)[strip.bytes.clone()];
        sums.fill(0);
        let first = i64::from(area.y);
        (first - reach..=first + reach).for_each(|y| kernels::add(sums, rows(y)));
        for y in area.y..area.bottom() as u32 {
            let at = i64::from(y);
            if y > area.y {
                kernels::add(sums, rows(at + reach));
                kernels::subtract(sums, rows(at - reach - 1));
            }
            extended[strip.inside()].copy_from_slice(sums);
            strip.extend(extended);
            let out = row_part(output, strip.area, y);
            let ahead = side as usize * strip.size;
            for channel in 0..strip.size {
                let columns = extended[channel..].iter().step_by(strip.size);
                let mut sum: u64 = columns.clone().take(side as usize - 1).map(|sum| u64::from(*sum)).sum();
                let entering = extended[channel + ahead - strip.size..].iter().step_by(strip.size);
                for ((out, leaving), entering) in
                    out[channel..].iter_mut().step_by(strip.size).zip(columns).zip(entering)
                {
                    sum += u64::from(*entering);
                    *out = (((sum + count / 2) * reciprocal) >> 40) as u8;
                    sum -= u64::from(*leaving);
                }
            }
            fill_padding(format, out);
        }
    }
}

/// Minima, or maxima.
pub fn extreme(input: &View<'_>, radius: u32, greatest: bool, output: &mut ViewMut<'_>, area: Rect) {
    let mask = if greatest { 255 } else { 0 };
    let reach = i64::from(radius);
    let side = 2 * radius as usize + 1;
    let format = input.shape().format;
    let mut kept = [0; ROOM];
    for strip in Strip::all(input, radius, area) {
        let kept = &mut kept[..strip.len()];
        for y in area.y..area.bottom() as u32 {
            let at = i64::from(y);
            let inside = &mut kept[strip.inside()];
            inside.copy_from_slice(&row(input, at)[strip.bytes.clone()]);
            let (top, bottom) = ((at - reach).max(0), (at + reach).min(i64::from(input.shape().height) - 1));
            for y in (top..=bottom).filter(|y| *y != at) {
                kernels::lesser(inside, &row(input, y)[strip.bytes.clone()], mask);
            }
            strip.extend(kept);
            // After each step a byte has the extreme of twice as many pixels from it on.
            let mut width = 1;
            while width < side {
                let step = width.min(side - width);
                kernels::lesser_ahead(kept, step * strip.size, mask);
                width += step;
            }
            let out = row_part(output, strip.area, y);
            out.copy_from_slice(&kept[..out.len()]);
            fill_padding(format, out);
        }
    }
}
