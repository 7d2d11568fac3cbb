//! Rows of pixels as brightness, a channel, or colours.

use crate::base::{Result, error};
use crate::perception::image::{Format, View};

use super::kernels;

/// A number for each pixel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Channel {
    /// Brightness, as [`Operator::Gray`](super::Operator::Gray) computes it.
    #[default]
    Luma,
    /// Red.
    Red,
    /// Green.
    Green,
    /// Blue.
    Blue,
}

/// How pixels of two images are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compare {
    /// By brightness.
    #[default]
    Luma,
    /// By red, green and blue. Gray8 has a single channel.
    Color,
}

impl Channel {
    /// Refuse a format without this channel.
    pub fn check(self, format: Format) -> Result<()> {
        if self != Self::Luma && matches!(format, Format::Gray8 | Format::Nv12) {
            return Err(error!(Unsupported, "format {format:?} has no channel {self:?}: use Luma"));
        }
        Ok(())
    }

    /// Parts of 256 that red, green and blue have.
    fn weights(self) -> [u32; 3] {
        match self {
            Self::Luma => [77, 150, 29],
            Self::Red => [256, 0, 0],
            Self::Green => [0, 256, 0],
            Self::Blue => [0, 0, 256],
        }
    }
}

impl Compare {
    /// Refuse a format whose pixels have no colours of their own.
    pub fn check(self, format: Format) -> Result<()> {
        if self == Self::Color && format.has_chroma() {
            return Err(error!(
                Unsupported,
                "format {format:?} has no red, green and blue: convert it with Gray first"
            ));
        }
        Ok(())
    }

    /// Bytes of a pixel.
    pub fn channels(self, format: Format) -> usize {
        if self == Self::Luma { 1 } else { channels(format) }
    }
}

/// Channels of a pixel of the first plane.
pub fn channels(format: Format) -> usize {
    if matches!(format, Format::Gray8 | Format::Nv12) { 1 } else { 3 }
}

/// Whether the bytes of a pixel begin with blue.
fn is_reversed(format: Format) -> bool {
    matches!(format, Format::Bgrx8 | Format::Bgra8 | Format::Bgr8)
}

/// Red, green and blue of a pixel of 16 bits.
fn widened(pixel: &[u8]) -> [u8; 3] {
    let bits = u16::from_ne_bytes([pixel[0], pixel[1]]);
    let (red, green, blue) = (bits >> 11, bits >> 5 & 63, bits & 31);
    [red << 3 | red >> 2, green << 2 | green >> 4, blue << 3 | blue >> 2].map(|part| part as u8)
}

/// A channel of the pixels from `x` on in row `y`, one for each byte of `out`.
pub fn channel(view: &View<'_>, channel: Channel, x: u32, y: u32, out: &mut [u8]) {
    let format = view.shape().format;
    let size = format.pixel_size();
    let pixels = &view.row(y)[x as usize * size..][..out.len() * size];
    let mut weights = channel.weights();
    if is_reversed(format) {
        weights.reverse();
    }
    match format {
        Format::Gray8 | Format::Nv12 | Format::Count32 => out.copy_from_slice(pixels),
        Format::Rgb565 => {
            for (out, pixel) in out.iter_mut().zip(pixels.chunks_exact(2)) {
                let parts = widened(pixel);
                let sum: u32 = (0..3).map(|i| u32::from(parts[i]) * weights[i]).sum();
                *out = ((sum + 128) >> 8) as u8;
            }
        }
        Format::Bgr8 | Format::Rgb8 => kernels::weigh_3(pixels, &weights, out),
        _ => kernels::weigh_4(pixels, &weights, out),
    }
}

/// One of the channels to compare, of the pixels from `x` on in row `y`.
pub fn plane(view: &View<'_>, compare: Compare, index: usize, x: u32, y: u32, out: &mut [u8]) {
    let is_single = compare.channels(view.shape().format) == 1;
    let planes = if is_single { &[Channel::Luma; 3] } else { &[Channel::Red, Channel::Green, Channel::Blue] };
    channel(view, planes[index], x, y, out);
}

/// The pixels from `x` on in row `y`, in the form to compare. `out` is a whole number of pixels.
pub fn compared(view: &View<'_>, compare: Compare, x: u32, y: u32, out: &mut [u8]) {
    let format = view.shape().format;
    if compare.channels(format) == 1 {
        return channel(view, Channel::Luma, x, y, out);
    }
    let size = format.pixel_size();
    let is_reversed = is_reversed(format);
    for (out, pixel) in out.chunks_exact_mut(3).zip(view.row(y)[x as usize * size..].chunks_exact(size)) {
        let mut color = if format == Format::Rgb565 { widened(pixel) } else { [pixel[0], pixel[1], pixel[2]] };
        if is_reversed {
            color.reverse();
        }
        out.copy_from_slice(&color);
    }
}
