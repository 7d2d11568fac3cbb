//! Compares and copies pixels: the hot kernels.
//!
//! Each kernel exists twice: in `plain` for every processor, and in `avx2`, which is chosen at run time. Tests prove that both
//! give the same answers. The padding or alpha byte of four-byte formats is ignored.

use std::ops::Range;

use super::image::{Format, View, ViewMut};

#[cfg(target_arch = "x86_64")]
mod avx2;
mod plain;
#[cfg(test)]
mod tests;

/// Call a kernel: the AVX2 one where there is AVX2.
macro_rules! dispatch {
    ($kernel:ident($($argument:expr),+)) => {{
        #[cfg(target_arch = "x86_64")]
        if avx2::is_there() {
            #[allow(unsafe_code)]
            // SAFETY: the processor has AVX2.
            return unsafe { avx2::$kernel($($argument),+) };
        }
        plain::$kernel($($argument),+)
    }};
}

/// A byte of ones for each byte that counts, in the order of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Significant(u64);

impl Significant {
    /// Each byte counts.
    pub const ALL: Self = Self(!0);

    /// The bytes of a format that count. They are the same from every pixel on.
    pub const fn of(format: Format) -> Self {
        if format.has_padding() { Self(0x00ff_ffff_00ff_ffff) } else { Self::ALL }
    }
}

/// Columns of pixels, without a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first column.
    pub left: u32,
    /// The column behind the last one.
    pub right: u32,
}

/// Where columns lie in a row of bytes.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    column_size: usize,
    /// 1 or 2. Spans end at multiples of it.
    alignment: usize,
}

impl Layout {
    /// The columns of a row of the chroma plane: two columns share a pair of bytes.
    pub const CHROMA: Self = Self { column_size: 1, alignment: 2 };

    /// The columns of a row of the first plane.
    pub const fn of(format: Format) -> Self {
        Self { column_size: format.pixel_size(), alignment: 1 }
    }

    /// The bytes of a column.
    pub const fn column_size(self) -> usize {
        self.column_size
    }

    /// Where columns begin and end.
    #[inline]
    pub const fn bytes(self, span: Span) -> Range<usize> {
        let end = span.right as usize * self.column_size;
        span.left as usize * self.column_size..(end + self.alignment - 1) & !(self.alignment - 1)
    }
}

/// Whether the bytes of all spans of two rows are equal.
#[inline]
pub fn is_same_in(one: &[u8], other: &[u8], spans: &[Span], layout: Layout, significant: Significant) -> bool {
    dispatch!(is_same_in(one, other, spans, layout, significant.0))
}

/// The position of the first byte that differs, in the length that both have.
#[inline]
pub fn first_difference(one: &[u8], other: &[u8], significant: Significant) -> Option<usize> {
    dispatch!(first_difference(one, other, significant.0))
}

/// Whether two rows are equal.
#[inline]
pub fn is_same_row(one: &[u8], other: &[u8], significant: Significant) -> bool {
    first_difference(one, other, significant).is_none()
}

/// A bit for each of up to 64 pixels that differs. A pixel has 1 to 4 bytes.
pub fn differing_pixels(one: &[u8], other: &[u8], pixel_size: usize, significant: Significant) -> u64 {
    if pixel_size == 4 {
        return differing_words(one, other, significant);
    }
    let bytes = differing_bytes(one, other, significant);
    match pixel_size {
        1 => bytes[0],
        2 => even_bits(bytes[0] | bytes[0] >> 1) | even_bits(bytes[1] | bytes[1] >> 1) << 32,
        _ => {
            let mut pixels = 0;
            for (index, mut bits) in bytes.into_iter().enumerate() {
                while bits != 0 {
                    pixels |= 1 << ((index * 64 + bits.trailing_zeros() as usize) / pixel_size);
                    bits &= bits - 1;
                }
            }
            pixels
        }
    }
}

fn differing_bytes(one: &[u8], other: &[u8], significant: Significant) -> [u64; 4] {
    dispatch!(differing_bytes(one, other, significant.0))
}

fn differing_words(one: &[u8], other: &[u8], significant: Significant) -> u64 {
    dispatch!(differing_words(one, other, significant.0))
}

/// Bits 0, 2, 4 and so on, side by side. The upper half is zero.
const fn even_bits(bits: u64) -> u64 {
    let mut bits = bits & 0x5555_5555_5555_5555;
    bits = (bits | bits >> 1) & 0x3333_3333_3333_3333;
    bits = (bits | bits >> 2) & 0x0f0f_0f0f_0f0f_0f0f;
    bits = (bits | bits >> 4) & 0x00ff_00ff_00ff_00ff;
    bits = (bits | bits >> 8) & 0x0000_ffff_0000_ffff;
    (bits | bits >> 16) & 0x0000_0000_ffff_ffff
}

/// Whether the pixels of two views of one shape are equal.
pub fn is_same(one: &View<'_>, other: &View<'_>) -> bool {
    let significant = Significant::of(one.shape().format);
    all_rows(one, other, |one, other| is_same_row(one, other, significant))
}

/// Whether no channel differs by more than `tolerance`, between two views of one shape. Channels of [`Format::Rgb565`] are
/// scaled to 0 to 255. Of [`Format::Count32`] the whole number is the channel.
pub fn within(one: &View<'_>, other: &View<'_>, tolerance: u8) -> bool {
    let format = one.shape().format;
    let significant = Significant::of(format);
    all_rows(one, other, |one, other| match format {
        Format::Rgb565 => is_within_565(one, other, tolerance),
        Format::Count32 => is_within_counts(one, other, tolerance),
        _ => bytes_within(one, other, tolerance, significant),
    })
}

fn bytes_within(one: &[u8], other: &[u8], tolerance: u8, significant: Significant) -> bool {
    dispatch!(bytes_within(one, other, tolerance, significant.0))
}

fn is_within_565(one: &[u8], other: &[u8], tolerance: u8) -> bool {
    let most = |levels: u16| u16::from(tolerance) * levels / 255;
    let (most_of_5, most_of_6) = (most(31), most(63));
    let excess = |one: u16, other: u16| {
        let channel = |shift: u32, levels: u16| (one >> shift & levels).abs_diff(other >> shift & levels);
        channel(0, 31) > most_of_5 || channel(11, 31) > most_of_5 || channel(5, 63) > most_of_6
    };
    let pairs = one.as_chunks::<2>().0.iter().zip(other.as_chunks::<2>().0);
    !pairs.fold(false, |any, (&one, &other)| any | excess(u16::from_ne_bytes(one), u16::from_ne_bytes(other)))
}

fn is_within_counts(one: &[u8], other: &[u8], tolerance: u8) -> bool {
    let mut pairs = one.as_chunks::<4>().0.iter().zip(other.as_chunks::<4>().0);
    pairs.all(|(&one, &other)| u32::from_ne_bytes(one).abs_diff(u32::from_ne_bytes(other)) <= u32::from(tolerance))
}

fn all_rows(one: &View<'_>, other: &View<'_>, mut holds: impl FnMut(&[u8], &[u8]) -> bool) -> bool {
    debug_assert_eq!(one.shape(), other.shape());
    let shape = one.shape();
    (0..shape.height).all(|y| holds(one.row(y), other.row(y)))
        && (0..shape.chroma_rows()).all(|y| holds(one.chroma_row(y), other.chroma_row(y)))
}

/// Copy all pixels to a view of the same shape.
pub fn copy(from: &View<'_>, to: &mut ViewMut<'_>) {
    let shape = from.shape();
    debug_assert_eq!(shape, to.shape());
    (0..shape.height).for_each(|y| to.row(y).copy_from_slice(from.row(y)));
    (0..shape.chroma_rows()).for_each(|y| to.chroma_row(y).copy_from_slice(from.chroma_row(y)));
}
