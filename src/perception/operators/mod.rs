//! The built-in cognitions: operators on pixels.
//!
//! A *local* operator computes each output pixel from the input pixels near it. [`Operator::reach`] says which ones, so
//! after a change only the pixels that depend on it are computed again. A *measuring* operator looks at its whole input.
//! It keeps a [`State`], and a call with the changed rectangles updates that state. In both cases the result is the same
//! to the last bit as without reuse.
//!
//! Beyond its edges an image continues with the pixels of the edge. Padding and alpha are ignored; in outputs that are
//! computed they are 255.
//!
//! Successive elimination: Li and Salari, "Successive Elimination Algorithm for Motion Estimation" (1995).
//!
//! | file | content |
//! |---|---|
//! | `reach` | [`Reach`]: which output pixels depend on which input pixels |
//! | `rows` | rows of pixels as brightness, channels or colours |
//! | `kernels` | the loops over bytes, compiled for every processor and for AVX2 |
//! | `distances` | the two loops of the template search, plain and with AVX2 |
//! | `local` | crop, gray, threshold, difference, downscale |
//! | `windows` | box mean, erosion, dilation |
//! | `tally` | histogram, mean, count of pixels that are not zero |
//! | `template` | the best match of a template, by successive elimination |
//! | `dense` | scores of all positions of some blocks, where elimination does not pay |
//! | `products` | dot products of a template and pixels, plain, with AVX2 and with AVX-512 |
//! | `glyphs` | numbers, read by comparing glyphs |

mod dense;
#[allow(unsafe_code, reason = "calls AVX2 intrinsics after checking the processor")]
mod distances;
mod glyphs;
#[allow(unsafe_code, reason = "calls code for AVX2 after checking the processor")]
mod kernels;
mod local;
#[allow(unsafe_code, reason = "calls intrinsics after checking the processor")]
mod products;
mod reach;
mod rows;
mod tally;
mod template;
#[cfg(test)]
mod tests;
mod windows;

use crate::base::{Result, Value, error, try_box};
use crate::executor::Executor;

use super::image::{Format, Image, Rect, Shape, View, ViewMut, check_shape};

pub use glyphs::{Align, Fit, Glyph, Glyphs};
pub use reach::Reach;
pub use rows::{Channel, Compare};
pub use template::Template;

/// Most pixels on each side of the centre of a window.
pub const MAX_RADIUS: u32 = 64;
/// Most pixels that one pixel of a smaller image is the mean of, in each direction.
pub const MAX_FACTOR: u32 = 64;

/// A built-in cognition and its parameters.
#[derive(Debug)]
pub enum Operator {
    /// A part of the image, in the same format. Of NV12, a part that begins at even places.
    Crop {
        /// The part.
        area: Rect,
    },
    /// Brightness by Rec. 601, as Gray8: `(77 red + 150 green + 29 blue + 128) / 256`, rounded down. Of Rgb565 the
    /// channels are first widened to 8 bits by repeating their highest bits. Gray8 and NV12 already have brightness.
    Gray,
    /// Gray8: 255 where a channel is above a level, 0 elsewhere.
    Threshold {
        /// The channel.
        channel: Channel,
        /// The greatest value that is not above the level.
        level: u8,
        /// Swaps 255 and 0.
        invert: bool,
    },
    /// Gray8: the largest difference of a channel of two images of the same shape.
    Difference {
        /// If set: 255 where the difference is above the level, 0 elsewhere.
        level: Option<u8>,
    },
    /// Each pixel is the mean of `factor` times `factor` pixels: `(sum + count / 2) / count`, rounded down. Columns and
    /// rows that do not fill a square are ignored. They are at the right and at the bottom.
    Downscale {
        /// From 1 to [`MAX_FACTOR`].
        factor: u32,
    },
    /// Each pixel is the mean of a square, rounded as in [`Operator::Downscale`].
    Box {
        /// Pixels on each side of the centre: up to [`MAX_RADIUS`].
        radius: u32,
    },
    /// Each channel is its minimum in a square.
    Erode {
        /// Pixels on each side of the centre: up to [`MAX_RADIUS`].
        radius: u32,
    },
    /// Each channel is its maximum in a square.
    Dilate {
        /// Pixels on each side of the centre: up to [`MAX_RADIUS`].
        radius: u32,
    },
    /// How many pixels have each value, as Count32 of width 256: a row for gray, or rows for red, green and blue. The
    /// value is the number of pixels.
    Histogram,
    /// The value is the mean of a channel.
    Mean {
        /// The channel.
        channel: Channel,
    },
    /// The value is the number of pixels that are not zero.
    CountNonZero {
        /// The channel.
        channel: Channel,
    },
    /// The best match of a small image. The value is its position and its score.
    Template(Template),
    /// A number, read by comparing glyphs. The value is the number and the quality of the match.
    Glyphs(Glyphs),
}

/// Results of a measuring operator, and the pixels that it has seen. Made by [`Operator::state`].
#[derive(Debug)]
pub struct State {
    kind: Kind,
    value: [u64; 2],
    /// Whether it has seen an image.
    is_current: bool,
}

#[derive(Debug)]
enum Kind {
    Tally(tally::Tally),
    Search(Box<template::Search>),
    Reading(glyphs::Reading),
}

impl State {
    /// Bytes in memory.
    pub fn memory_used(&self) -> usize {
        match &self.kind {
            Kind::Tally(tally) => tally.memory_used(),
            Kind::Search(search) => search.memory_used(),
            Kind::Reading(reading) => reading.memory_used(),
        }
    }

    /// Positions of the template that the last call compared by pixels. 0 for other operators.
    pub fn evaluated_positions(&self) -> u64 {
        if let Kind::Search(search) = &self.kind { search.evaluated() } else { 0 }
    }
}

impl Operator {
    /// Whether two values mean the same. The fit of glyphs, in the last 32 bits, is not part of the number.
    pub fn is_equal(&self, old: Value, new: Value) -> bool {
        let is_number = matches!(self, Self::Glyphs(_));
        old == new || is_number && old.0[0] == new.0[0] && old.0[1] as u32 == new.0[1] as u32
    }

    /// Number of images that it takes.
    pub fn input_count(&self) -> usize {
        if matches!(self, Self::Difference { .. }) { 2 } else { 1 }
    }

    /// Refuse parameters that no image can be processed with.
    #[inline(never)]
    pub fn check(&self) -> Result<()> {
        match self {
            Self::Crop { area } if area.is_empty() => Err(error!(InvalidArgument, "the crop is empty: give it a size")),
            Self::Downscale { factor } if *factor == 0 || *factor > MAX_FACTOR => {
                Err(error!(InvalidArgument, "invalid factor {factor}: must be from 1 to {MAX_FACTOR}"))
            }
            Self::Box { radius } | Self::Erode { radius } | Self::Dilate { radius } if *radius > MAX_RADIUS => {
                Err(error!(InvalidArgument, "invalid radius {radius}: must be from 0 to {MAX_RADIUS}"))
            }
            Self::Template(template) => template.check(),
            Self::Glyphs(glyphs) => glyphs.check(),
            _ => Ok(()),
        }
    }

    /// The shape of its image. `None` if it gives only a value. Refuses inputs that it cannot process.
    #[inline(never)]
    pub fn output(&self, inputs: &[Shape]) -> Result<Option<Shape>> {
        self.check()?;
        if inputs.len() != self.input_count() {
            let (has, wants) = (inputs.len(), self.input_count());
            return Err(error!(InvalidArgument, "{has} input images: this operator takes {wants}"));
        }
        for &input in inputs {
            check_shape(input)?;
            if input.format == Format::Count32 {
                return Err(error!(Unsupported, "an input has the format Count32: give an image of pixels"));
            }
        }
        let input = inputs[0];
        let Shape { format, width, height } = input;
        let gray = Some(Shape::new(Format::Gray8, width, height));
        let needs_bytes = || match format {
            Format::Rgb565 | Format::Nv12 => Err(error!(Unsupported, "format {format:?}: convert it with Gray first")),
            _ => Ok(()),
        };
        Ok(match self {
            Self::Crop { area } => {
                if !input.has(*area) {
                    let Rect { x, y, width: w, height: h } = *area;
                    return Err(error!(
                        InvalidArgument,
                        "the crop of {w} x {h} at {x}, {y} must lie inside of {width} x {height} pixels, and in NV12 \
                         begin at even places"
                    ));
                }
                Some(Shape::new(format, area.width, area.height))
            }
            Self::Gray => gray,
            Self::Threshold { channel, .. } => {
                channel.check(format)?;
                gray
            }
            Self::Difference { .. } => {
                if inputs[1] != input {
                    return Err(error!(InvalidArgument, "the two images differ in format or size: make them equal"));
                }
                gray
            }
            Self::Downscale { factor } => {
                needs_bytes()?;
                if width < *factor || height < *factor {
                    return Err(error!(
                        InvalidArgument,
                        "{width} x {height} pixels are smaller than the factor {factor}: use a smaller factor"
                    ));
                }
                Some(Shape::new(format, width / factor, height / factor))
            }
            Self::Box { .. } | Self::Erode { .. } | Self::Dilate { .. } => {
                needs_bytes()?;
                Some(input)
            }
            Self::Histogram => {
                Compare::Color.check(format)?;
                Some(Shape::new(Format::Count32, 256, rows::channels(format) as u32))
            }
            Self::Mean { channel } | Self::CountNonZero { channel } => {
                channel.check(format)?;
                None
            }
            Self::Template(template) => {
                template.check_input(input)?;
                None
            }
            Self::Glyphs(glyphs) => {
                glyphs.check_input(input)?;
                None
            }
        })
    }

    /// How far a local operator looks. `None` if it measures its whole input.
    pub fn reach(&self) -> Option<Reach> {
        let (mut x, mut y, mut scale, mut support) = (0, 0, 1, 0);
        match *self {
            Self::Crop { area } => (x, y) = (area.x, area.y),
            Self::Gray | Self::Threshold { .. } | Self::Difference { .. } => {}
            Self::Downscale { factor } => scale = factor,
            Self::Box { radius } | Self::Erode { radius } | Self::Dilate { radius } => support = radius,
            _ => return None,
        }
        Some(Reach { x, y, scale, support })
    }

    /// Compute the pixels in `area` of the output of a local operator, and count the input pixels that are read. Inputs
    /// and output have the shapes of an [`Operator::output`] that succeeded. Does nothing for a measuring operator.
    pub fn apply(&self, inputs: &[View<'_>], output: &mut ViewMut<'_>, area: Rect) -> u64 {
        let area = area.intersection(output.shape().bounds());
        let (Some(reach), false) = (self.reach(), area.is_empty()) else { return 0 };
        let input = &inputs[0];
        match *self {
            Self::Crop { area: part } => local::crop(input, part, output, area),
            Self::Gray => local::gray(input, output, area),
            Self::Threshold { channel, level, invert } => {
                local::threshold(input, channel, level, invert, output, area);
            }
            Self::Difference { level } => local::difference(input, &inputs[1], level, output, area),
            Self::Downscale { factor } => local::downscale(input, factor as usize, output, area),
            Self::Box { radius } => windows::mean(input, radius, output, area),
            Self::Erode { radius } => windows::extreme(input, radius, false, output, area),
            Self::Dilate { radius } => windows::extreme(input, radius, true, output, area),
            _ => {}
        }
        reach.needed(area, input.shape()).area() * inputs.len() as u64
    }

    /// A state for inputs of these shapes.
    #[inline(never)]
    pub fn state(&self, inputs: &[Shape]) -> Result<State> {
        self.output(inputs)?;
        let kind = match self {
            Self::Histogram => Kind::Tally(tally::Tally::new(inputs[0], Compare::Color)?),
            Self::Mean { .. } | Self::CountNonZero { .. } => Kind::Tally(tally::Tally::new(inputs[0], Compare::Luma)?),
            Self::Template(template) => Kind::Search(try_box(template::Search::new(template, inputs[0])?)?),
            Self::Glyphs(glyphs) => Kind::Reading(glyphs::Reading::new(glyphs, inputs[0])?),
            _ => return Err(error!(InvalidArgument, "a local operator has no state: compute its output image")),
        };
        Ok(State { kind, value: [0; 2], is_current: false })
    }

    /// Measure the input, and return the number of operations: pixels read and positions compared. `dirty` are the
    /// rectangles that may have changed since the last call with this state; `None`: all of it. Inputs have the shapes
    /// for which the state was made. Only a histogram writes `output`, as a whole.
    ///
    /// | operator | word 0 of the value | word 1 |
    /// |---|---|---|
    /// | mean, count, histogram | the number, as the bits of an `f64` | 0 |
    /// | template | x in the low half, y in the high half; all ones: not found | sum of squared differences; all ones: not found |
    /// | glyphs | the number, as `i64`; -1: nothing was read | digits in the low half; in the high half the largest mean difference in 1/256 of a level, or 1000 less the least correlation in 1/1000 |
    pub fn measure(
        &self,
        state: &mut State,
        inputs: &[View<'_>],
        dirty: Option<&[Rect]>,
        executor: &Executor,
        output: Option<&mut ViewMut<'_>>,
        value: &mut [u64; 2],
    ) -> u64 {
        let input = &inputs[0];
        let dirty = dirty.filter(|_| state.is_current);
        let bounds = input.shape().bounds();
        let changed = dirty.is_none_or(|areas| areas.iter().any(|area| area.overlaps(bounds)));
        let mut operations = 0;
        if changed {
            let value = &mut state.value;
            operations = match (self, &mut state.kind) {
                (Self::Template(template), Kind::Search(search)) => {
                    search.update(template, input, dirty, executor, value)
                }
                (Self::Glyphs(glyphs), Kind::Reading(reading)) => reading.update(glyphs, input, value),
                (Self::Mean { channel } | Self::CountNonZero { channel }, Kind::Tally(tally)) => {
                    let operations = tally.update(input, *channel, dirty);
                    let is_mean = matches!(self, Self::Mean { .. });
                    *value = [if is_mean { tally.mean() } else { tally.count_non_zero() }.to_bits(), 0];
                    operations
                }
                (_, Kind::Tally(tally)) => {
                    let operations = tally.update(input, Channel::Luma, dirty);
                    *value = [(bounds.area() as f64).to_bits(), 0];
                    operations
                }
                _ => 0,
            };
            state.is_current = true;
        } else if let Kind::Search(search) = &mut state.kind {
            search.skip();
        }
        if let (Kind::Tally(tally), Some(output)) = (&state.kind, output) {
            tally.write(output);
        }
        *value = state.value;
        operations
    }
}

/// The pixels of a small image, as [`Compare`] has them, one row after the other.
fn packed(image: &Image, compare: Compare) -> Result<Vec<u8>> {
    let Shape { format, width, height } = image.shape();
    let row_size = width as usize * compare.channels(format);
    let mut bytes = crate::base::try_filled(0, row_size * height as usize)?;
    for (y, row) in (0..height).zip(bytes.chunks_exact_mut(row_size)) {
        rows::compared(&image.view(), compare, 0, y, row);
    }
    Ok(bytes)
}
