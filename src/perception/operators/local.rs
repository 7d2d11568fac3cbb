//! Operators whose output pixels depend on few input pixels: crop, gray, threshold, difference, downscale.

use crate::perception::image::{Format, Rect, View, ViewMut};

use super::kernels;
use super::rows::{self, Channel};

/// The bytes of the pixels of `area` in an output row.
pub fn row_part<'a>(output: &'a mut ViewMut<'_>, area: Rect, y: u32) -> &'a mut [u8] {
    let size = output.shape().format.pixel_size();
    &mut output.row(y)[area.x as usize * size..][..area.width as usize * size]
}

/// Give the bytes without meaning of a row of pixels a value of their own.
pub fn fill_padding(format: Format, row: &mut [u8]) {
    if format.has_padding() {
        row.as_chunks_mut::<4>().0.iter_mut().for_each(|pixel| pixel[3] = 255);
    }
}

/// Copy a part of the image.
pub fn crop(input: &View<'_>, part: Rect, output: &mut ViewMut<'_>, area: Rect) {
    let format = input.shape().format;
    let size = format.pixel_size();
    for y in area.y..area.bottom() as u32 {
        let start = (part.x + area.x) as usize * size;
        let to = row_part(output, area, y);
        to.copy_from_slice(&input.row(part.y + y)[start..][..to.len()]);
    }
    if format.has_chroma() {
        let (first, end) = (area.x as usize / 2 * 2, (area.right() as usize).next_multiple_of(2));
        for y in area.y as usize / 2..(area.bottom() as usize).div_ceil(2) {
            let from = &input.chroma_row(part.y as usize / 2 + y)[part.x as usize..];
            output.chroma_row(y)[first..end].copy_from_slice(&from[first..end]);
        }
    }
}

/// Brightness.
pub fn gray(input: &View<'_>, output: &mut ViewMut<'_>, area: Rect) {
    for y in area.y..area.bottom() as u32 {
        rows::channel(input, Channel::Luma, area.x, y, row_part(output, area, y));
    }
}

/// 255 or 0 by a level.
pub fn threshold(input: &View<'_>, channel: Channel, level: u8, invert: bool, output: &mut ViewMut<'_>, area: Rect) {
    for y in area.y..area.bottom() as u32 {
        let row = row_part(output, area, y);
        rows::channel(input, channel, area.x, y, row);
        kernels::threshold(row, level, if invert { 0 } else { 255 });
    }
}

/// The largest difference of a channel.
pub fn difference(one: &View<'_>, other: &View<'_>, level: Option<u8>, output: &mut ViewMut<'_>, area: Rect) {
    let format = one.shape().format;
    let size = format.pixel_size();
    for y in area.y..area.bottom() as u32 {
        let out = row_part(output, area, y);
        let bytes = area.x as usize * size..area.right() as usize * size;
        let (a, b) = (&one.row(y)[bytes.clone()], &other.row(y)[bytes]);
        match format {
            Format::Gray8 => kernels::differences(a, b, out),
            Format::Nv12 => {
                kernels::differences(a, b, out);
                let (a, b) = (one.chroma_row(y as usize / 2), other.chroma_row(y as usize / 2));
                for (x, out) in (area.x as usize..).zip(out.iter_mut()) {
                    let at = x / 2 * 2;
                    *out = a[at].abs_diff(b[at]).max(a[at + 1].abs_diff(b[at + 1])).max(*out);
                }
            }
            Format::Rgb565 => difference_of_colors(one, other, area.x, y, out),
            Format::Bgr8 | Format::Rgb8 => {
                for ((out, a), b) in out.iter_mut().zip(a.as_chunks::<3>().0).zip(b.as_chunks::<3>().0) {
                    *out = a[0].abs_diff(b[0]).max(a[1].abs_diff(b[1])).max(a[2].abs_diff(b[2]));
                }
            }
            _ => kernels::differences_4(a, b, out),
        }
        if let Some(level) = level {
            kernels::threshold(out, level, 255);
        }
    }
}

/// The largest difference of a channel, of colours that must be unpacked.
fn difference_of_colors(one: &View<'_>, other: &View<'_>, x: u32, y: u32, out: &mut [u8]) {
    const COLUMNS: usize = 256;
    let mut colors = [[0; COLUMNS * 3]; 2];
    for (x, out) in (x..).step_by(COLUMNS).zip(out.chunks_mut(COLUMNS)) {
        for (view, colors) in [one, other].into_iter().zip(&mut colors) {
            rows::compared(view, rows::Compare::Color, x, y, &mut colors[..out.len() * 3]);
        }
        let [a, b] = &colors;
        for ((out, a), b) in out.iter_mut().zip(a.as_chunks::<3>().0).zip(b.as_chunks::<3>().0) {
            *out = a[0].abs_diff(b[0]).max(a[1].abs_diff(b[1])).max(a[2].abs_diff(b[2]));
        }
    }
}

/// Means of squares.
pub fn downscale(input: &View<'_>, factor: usize, output: &mut ViewMut<'_>, area: Rect) {
    const BYTES: usize = 4096;
    let format = input.shape().format;
    let size = format.pixel_size();
    let columns = (BYTES / (factor * size)) as u32;
    let count = (factor * factor) as u32;
    let mut sums = [0; BYTES];
    for y in area.y..area.bottom() as u32 {
        for x in (area.x..area.right() as u32).step_by(columns as usize) {
            let width = columns.min(area.right() as u32 - x);
            let sums = &mut sums[..width as usize * factor * size];
            sums.fill(0);
            for row in 0..factor as u32 {
                let bytes = &input.row(y * factor as u32 + row)[x as usize * factor * size..][..sums.len()];
                kernels::add(sums, bytes);
            }
            let out = row_part(output, Rect::new(x, y, width, 1), y);
            for (pixel, sums) in out.chunks_exact_mut(size).zip(sums.chunks_exact(factor * size)) {
                for (channel, byte) in pixel.iter_mut().enumerate() {
                    let sum: u32 = sums[channel..].iter().step_by(size).map(|sum| u32::from(*sum)).sum();
                    *byte = ((sum + count / 2) / count) as u8;
                }
            }
            fill_padding(format, out);
        }
    }
}
