//! Histograms, and the numbers that follow from them.
//!
//! The state keeps the pixels that are counted. A pixel that changed leaves its old count and enters its new one, so an
//! update costs as much as it has pixels, and rectangles may overlap.

use crate::base::{Result, try_filled};
use crate::perception::image::{Rect, Shape, View, ViewMut};

use super::rows::{self, Channel, Compare};

/// Counts of an image's values.
#[derive(Debug)]
pub struct Tally {
    compare: Compare,
    /// Channels of a pixel.
    channels: usize,
    row_size: usize,
    /// The pixels that are counted.
    pixels: Vec<u8>,
    /// 256 for each channel.
    counts: Vec<u32>,
    has_counted: bool,
}

/// Pixels that are read at once.
const COLUMNS: u32 = 256;

impl Tally {
    pub fn new(input: Shape, compare: Compare) -> Result<Self> {
        let channels = compare.channels(input.format);
        let row_size = input.width as usize * channels;
        let pixels = try_filled(0, row_size * input.height as usize)?;
        let counts = try_filled(0, 256 * channels)?;
        Ok(Self { compare, channels, row_size, pixels, counts, has_counted: false })
    }

    pub fn memory_used(&self) -> usize {
        self.pixels.capacity() + self.counts.capacity() * size_of::<u32>()
    }

    /// Count what changed. Returns the number of pixels read.
    pub fn update(&mut self, input: &View<'_>, channel: Channel, dirty: Option<&[Rect]>) -> u64 {
        let bounds = input.shape().bounds();
        if !self.has_counted {
            // All pixels are black.
            self.counts.chunks_exact_mut(256).for_each(|counts| counts[0] = bounds.area() as u32);
            self.has_counted = true;
        }
        let all = [bounds];
        let mut read = 0;
        for area in dirty.unwrap_or(&all) {
            let area = area.intersection(bounds);
            for y in area.y..area.bottom() as u32 {
                self.count_row(input, channel, area, y);
            }
            read += area.area();
        }
        read
    }

    fn count_row(&mut self, input: &View<'_>, channel: Channel, area: Rect, y: u32) {
        let mut row = [0; COLUMNS as usize * 3];
        for x in (area.x..area.right() as u32).step_by(COLUMNS as usize) {
            let row = &mut row[..COLUMNS.min(area.right() as u32 - x) as usize * self.channels];
            if self.compare == Compare::Luma {
                rows::channel(input, channel, x, y, row);
            } else {
                rows::compared(input, self.compare, x, y, row);
            }
            let start = y as usize * self.row_size + x as usize * self.channels;
            let kept = &mut self.pixels[start..start + row.len()];
            if kept == row {
                continue;
            }
            for (channel, counts) in self.counts.chunks_exact_mut(256).enumerate() {
                let values = row[channel..].iter().step_by(self.channels);
                for (old, new) in kept[channel..].iter().step_by(self.channels).zip(values) {
                    counts[*old as usize] -= 1;
                    counts[*new as usize] += 1;
                }
            }
            kept.copy_from_slice(row);
        }
    }

    /// The mean of the first channel.
    pub fn mean(&self) -> f64 {
        let counts = || self.counts[..256].iter().map(|count| u64::from(*count));
        counts().zip(0..).map(|(count, value): (u64, u64)| count * value).sum::<u64>() as f64
            / counts().sum::<u64>() as f64
    }

    /// Pixels of the first channel that are not zero.
    pub fn count_non_zero(&self) -> f64 {
        self.counts[1..256].iter().map(|count| u64::from(*count)).sum::<u64>() as f64
    }

    /// Write all counts.
    pub fn write(&self, output: &mut ViewMut<'_>) {
        for (y, counts) in (0..).zip(self.counts.chunks_exact(256)) {
            for (bytes, count) in output.row(y).as_chunks_mut::<4>().0.iter_mut().zip(counts) {
                *bytes = count.to_ne_bytes();
            }
        }
    }
}
