//! Reads a number by comparing glyphs, such as the ammunition in a status bar.

use crate::base::{Result, error, try_collect, try_filled};
use crate::perception::image::{Format, Image, Shape, View};

use super::rows::{self, Compare};
use super::{kernels, packed};

/// The picture of a digit.
#[derive(Debug)]
pub struct Glyph {
    /// The digit: 0 to 9. A digit may have several glyphs.
    pub digit: u8,
    /// Its picture. Widths may differ.
    pub image: Image,
    /// Gray8 of the size of the image: pixels with 0 are background and not compared. `None`: all are compared.
    pub mask: Option<Image>,
}

/// Where the text starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Align {
    /// At the left edge: digits are read from left to right.
    #[default]
    Left,
    /// At the right edge: digits are read from right to left.
    Right,
}

/// When a glyph fits. Only pixels that the mask marks are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fit {
    /// The mean difference of a channel is at most `limit`. 0: the glyph must be exact.
    Difference {
        /// The greatest mean difference, in levels.
        limit: u8,
    },
    /// The correlation of the pixels with the glyph is at least `percent`, each channel without its mean. Ignores a tint
    /// over the whole picture and lower contrast, so it suits games that flash and lossy video. 60 to 80 are useful.
    Correlation {
        /// The least correlation, 1 to 100. A glyph with a single colour never fits.
        percent: u8,
    },
}

/// How to read a number. The input is the region with the text, whose glyphs begin at the top row. Reading starts at an
/// edge and ends at the first place where no glyph fits. The best glyph is taken; the first one, if two are equal.
#[derive(Debug)]
pub struct Glyphs {
    /// The glyphs, 1 to 256.
    pub glyphs: Vec<Glyph>,
    /// By brightness or by colours.
    pub compare: Compare,
    /// Where the text starts.
    pub align: Align,
    /// Columns between two glyphs.
    pub spacing: u32,
    /// Most digits to read: 1 to 18.
    pub max_digits: u32,
    /// When a glyph fits.
    pub fit: Fit,
}

const MOST_GLYPHS: usize = 256;
const MOST_DIGITS: u32 = 18;
const MOST_PIXELS: u32 = 1 << 16;

impl Glyphs {
    #[inline(never)]
    pub(super) fn check(&self) -> Result<()> {
        let count = self.glyphs.len();
        if count == 0 || count > MOST_GLYPHS {
            return Err(error!(InvalidArgument, "{count} glyphs: must be from 1 to {MOST_GLYPHS}"));
        }
        if self.max_digits == 0 || self.max_digits > MOST_DIGITS {
            let most = self.max_digits;
            return Err(error!(InvalidArgument, "invalid max_digits {most}: must be from 1 to {MOST_DIGITS}"));
        }
        if let Fit::Correlation { percent: percent @ (0 | 101..) } = self.fit {
            return Err(error!(InvalidArgument, "invalid correlation of {percent} %: must be from 1 to 100"));
        }
        for (index, Glyph { digit, image, mask }) in self.glyphs.iter().enumerate() {
            let Shape { format, width, height } = image.shape();
            if *digit > 9 {
                return Err(error!(InvalidArgument, "glyph {index}: invalid digit {digit}: must be from 0 to 9"));
            }
            if image.shape().bounds().is_empty() || image.shape().bounds().area() > MOST_PIXELS.into() {
                return Err(error!(
                    InvalidArgument,
                    "glyph {index}: {width} x {height} pixels: must have from 1 to {MOST_PIXELS}"
                ));
            }
            if format == Format::Count32 {
                return Err(error!(Unsupported, "glyph {index}: format Count32: give an image of pixels"));
            }
            self.compare.check(format)?;
            let Some(mask) = mask else { continue };
            if mask.shape() != Shape::new(Format::Gray8, width, height) {
                return Err(error!(InvalidArgument, "glyph {index}: its mask must be Gray8 of {width} x {height}"));
            }
            if (0..height).all(|y| mask.view().row(y).iter().all(|pixel| *pixel == 0)) {
                return Err(error!(InvalidArgument, "glyph {index}: its mask is all 0: mark the pixels to compare"));
            }
        }
        Ok(())
    }

    #[inline(never)]
    pub(super) fn check_input(&self, input: Shape) -> Result<()> {
        self.compare.check(input.format)?;
        let channels = self.compare.channels(input.format);
        for (index, glyph) in self.glyphs.iter().enumerate() {
            let Shape { format, width, height } = glyph.image.shape();
            if width > input.width || height > input.height {
                return Err(error!(
                    InvalidArgument,
                    "glyph {index}: {width} x {height} pixels do not fit in the region: make it larger"
                ));
            }
            if self.compare.channels(format) != channels {
                return Err(error!(
                    InvalidArgument,
                    "glyph {index}: format {format:?}, but the region has {:?}: compare by Luma", input.format
                ));
            }
        }
        Ok(())
    }
}

#[derive(Debug)]
struct Prepared {
    digit: u8,
    width: usize,
    /// Bytes of a row.
    row_size: usize,
    pixels: Vec<u8>,
    mask: Vec<u8>,
    /// Bytes that are compared.
    count: u64,
    /// The sums of each channel, and their deviation from the mean: see [`Sums::spread`].
    sums: [i64; 3],
    spread: i64,
}

/// The prepared glyphs, and room for the pixels of the region.
#[derive(Debug)]
pub struct Reading {
    glyphs: Vec<Prepared>,
    channels: usize,
    width: usize,
    pixels: Vec<u8>,
}

impl Reading {
    pub fn new(parameters: &Glyphs, input: Shape) -> Result<Self> {
        let channels = parameters.compare.channels(input.format);
        let mut glyphs = Vec::new();
        glyphs.try_reserve_exact(parameters.glyphs.len())?;
        for Glyph { digit, image, mask } in &parameters.glyphs {
            let width = image.shape().width as usize;
            let pixels = packed(image, parameters.compare)?;
            let mask = match mask {
                None => try_filled(255, pixels.len())?,
                Some(mask) => {
                    let bytes = packed(mask, Compare::Luma)?;
                    try_collect((0..pixels.len()).map(|i| if bytes[i / channels] == 0 { 0 } else { 255 }))?
                }
            };
            let count = mask.iter().filter(|byte| **byte != 0).count() as u64;
            let mut all = Sums::default();
            all.add(&pixels, &pixels, &mask, channels);
            let (sums, spread) = (all.pixels, all.spread(count as i64 / channels as i64));
            glyphs.push(Prepared {
                digit: *digit,
                width,
                row_size: width * channels,
                pixels,
                mask,
                count,
                sums,
                spread,
            });
        }
        let height = parameters.glyphs.iter().map(|glyph| glyph.image.shape().height).max().unwrap_or(0);
        let width = input.width as usize;
        Ok(Self { glyphs, channels, width, pixels: try_filled(0, width * channels * height as usize)? })
    }

    pub fn memory_used(&self) -> usize {
        let glyphs: usize = self.glyphs.iter().map(|glyph| glyph.pixels.capacity() + glyph.mask.capacity()).sum();
        glyphs + self.glyphs.capacity() * size_of::<Prepared>() + self.pixels.capacity()
    }

    /// Read the number. Returns the pixels that are read and compared.
    pub fn update(&mut self, parameters: &Glyphs, input: &View<'_>, value: &mut [u64; 2]) -> u64 {
        for (y, row) in (0..).zip(self.pixels.chunks_exact_mut(self.width * self.channels)) {
            rows::compared(input, parameters.compare, 0, y, row);
        }
        let mut operations = (self.pixels.len() / self.channels) as u64;
        let (mut number, mut digits, mut worst, mut power) = (0, 0, 0f64, 1);
        let mut passed = 0;
        let (limit, unit) = match parameters.fit {
            Fit::Difference { limit } => (f64::from(limit), 256.0),
            Fit::Correlation { percent } => (1.0 - f64::from(percent) / 100.0, 1000.0),
        };
        while digits < parameters.max_digits {
            let Some((glyph, error)) = self.best(parameters, passed, &mut operations) else { break };
            if error > limit {
                break;
            }
            let digit = i64::from(glyph.digit);
            number = if parameters.align == Align::Left { number * 10 + digit } else { number + digit * power };
            power *= 10;
            digits += 1;
            worst = worst.max(error);
            passed += glyph.width + parameters.spacing as usize;
        }
        let quality = u64::from(digits) | ((worst * unit) as u64) << 32;
        *value = if digits == 0 { [-1i64 as u64, 0] } else { [number as u64, quality] };
        operations
    }

    /// The best glyph behind the columns that are read, and its error: the mean difference, or what the correlation
    /// lacks.
    fn best(&self, parameters: &Glyphs, passed: usize, operations: &mut u64) -> Option<(&Prepared, f64)> {
        let mut best: Option<(&Prepared, f64)> = None;
        for glyph in &self.glyphs {
            let Some(rest) = self.width.checked_sub(passed + glyph.width) else { continue };
            let x = if parameters.align == Align::Left { passed } else { rest };
            let rows = self.pixels.chunks_exact(self.width * self.channels);
            let pairs = glyph.pixels.chunks_exact(glyph.row_size).zip(glyph.mask.chunks_exact(glyph.row_size));
            let rows = rows.map(|row| &row[x * self.channels..][..glyph.row_size]).zip(pairs);
            let error = if let Fit::Difference { .. } = parameters.fit {
                let distances = rows.map(|(row, (pixels, mask))| kernels::masked_differences(row, pixels, mask));
                distances.map(u64::from).sum::<u64>() as f64 / glyph.count as f64
            } else {
                let mut sums = Sums::default();
                rows.for_each(|(row, (pixels, mask))| sums.add(row, pixels, mask, self.channels));
                1.0 - sums.correlation(glyph, self.channels)
            };
            *operations += glyph.count;
            if best.is_none_or(|(_, least)| error < least) {
                best = Some((glyph, error));
            }
        }
        best
    }
}

/// Sums over the masked pixels of a place, for each channel.
#[derive(Default)]
struct Sums {
    pixels: [i64; 3],
    squares: i64,
    products: i64,
}

impl Sums {
    fn add(&mut self, pixels: &[u8], glyph: &[u8], mask: &[u8], channels: usize) {
        for channel in 0..channels {
            let bytes = pixels.iter().zip(glyph).zip(mask).skip(channel).step_by(channels);
            for ((pixel, glyph), mask) in bytes {
                if *mask != 0 {
                    let (pixel, glyph) = (i64::from(*pixel), i64::from(*glyph));
                    self.pixels[channel] += pixel;
                    self.squares += pixel * pixel;
                    self.products += pixel * glyph;
                }
            }
        }
    }

    /// The sum of the squared deviations from the mean of each channel, times the number of pixels. Below 2^50.
    fn spread(&self, count: i64) -> i64 {
        count * self.squares - self.pixels.iter().map(|sum| sum * sum).sum::<i64>()
    }

    fn correlation(&self, glyph: &Prepared, channels: usize) -> f64 {
        let count = glyph.count as i64 / channels as i64;
        let common: i64 = self.pixels.iter().zip(glyph.sums).map(|(one, other)| one * other).sum();
        let both = self.spread(count) as f64 * glyph.spread as f64;
        if both > 0.0 { (count * self.products - common) as f64 / both.sqrt() } else { 0.0 }
    }
}
