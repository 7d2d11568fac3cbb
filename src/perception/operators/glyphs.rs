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

/// How to read a number. The input is the region with the text, whose glyphs begin at the top row. Reading starts at an
/// edge and ends at the first place where no glyph fits. The glyph with the least mean difference is taken; the first
/// one, if two are equal.
#[derive(Debug)]
pub struct Glyphs {
    /// The glyphs, 1 to 64.
    pub glyphs: Vec<Glyph>,
    /// By brightness or by colours.
    pub compare: Compare,
    /// Where the text starts.
    pub align: Align,
    /// Columns between two glyphs.
    pub spacing: u32,
    /// Most digits to read: 1 to 18.
    pub max_digits: u32,
    /// The greatest mean difference of a channel at which a glyph fits. 0: it must be exact. Lossy video needs 20 to 60.
    pub limit: u8,
}

const MOST_GLYPHS: usize = 64;
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
}

/// The glyphs as they are compared, and room for the pixels of the region.
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
            glyphs.push(Prepared { digit: *digit, width, row_size: width * channels, pixels, mask, count });
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
        let (mut number, mut digits, mut worst, mut power) = (0, 0, 0, 1);
        let mut passed = 0;
        while digits < parameters.max_digits {
            let Some((glyph, distance)) = self.best(parameters.align, passed, &mut operations) else { break };
            if distance > u64::from(parameters.limit) * glyph.count {
                break;
            }
            let digit = i64::from(glyph.digit);
            number = if parameters.align == Align::Left { number * 10 + digit } else { number + digit * power };
            power *= 10;
            digits += 1;
            worst = worst.max(distance * 256 / glyph.count);
            passed += glyph.width + parameters.spacing as usize;
        }
        *value = if digits == 0 { [-1i64 as u64, 0] } else { [number as u64, u64::from(digits) | worst << 32] };
        operations
    }

    /// The glyph with the least mean difference behind the columns that are read, and the sum of its differences.
    fn best(&self, align: Align, passed: usize, operations: &mut u64) -> Option<(&Prepared, u64)> {
        let mut best: Option<(&Prepared, u64)> = None;
        for glyph in &self.glyphs {
            let Some(rest) = self.width.checked_sub(passed + glyph.width) else { continue };
            let x = if align == Align::Left { passed } else { rest };
            let rows = self.pixels.chunks_exact(self.width * self.channels);
            let pairs = glyph.pixels.chunks_exact(glyph.row_size).zip(glyph.mask.chunks_exact(glyph.row_size));
            let distance = rows
                .zip(pairs)
                .map(|(row, (pixels, mask))| {
                    u64::from(kernels::masked_differences(&row[x * self.channels..], pixels, mask))
                })
                .sum();
            *operations += glyph.count;
            // Both counts are below 2^18, both distances below 2^26.
            if best.is_none_or(|(other, least)| distance * other.count < least * glyph.count) {
                best = Some((glyph, distance));
            }
        }
        best
    }
}
