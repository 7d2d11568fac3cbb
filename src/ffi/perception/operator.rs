//! Built-in cognitions.

use hobgoblin_macros::{element, entry, open_enum, versioned};

use super::cognition::hob_cognition_id;
use super::create::hob_perception;
use super::image::hob_image;
use crate::base::{Result, error};
use crate::ffi::base::argument::check_flags;
use crate::ffi::base::array::Array;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::text::hob_str;
use crate::perception::image::{Format, Rect, Shape};
use crate::perception::operators::{Align, Channel, Compare, Fit, Glyph, Glyphs, Operator, Template};
use crate::perception::{Action, Traits};

// == Experimental: Built-in cognitions ==

/// A built-in cognition.
/// Padding and alpha are ignored. Only HOB_OPERATOR_CROP keeps them; in other images they are 255. Beyond the edges of
/// its region an image continues with the pixels of the edge. Images have the format of the input, unless a kind says
/// otherwise. Means in images are rounded to whole levels, halves up.
///
/// HOB_OPERATOR_DOWNSCALE, BOX, ERODE and DILATE do not take HOB_PIXEL_FORMAT_RGB565 and NV12, and HISTOGRAM not NV12.
#[open_enum]
#[repr(C)]
pub enum hob_operator {
    /// The region itself, as an image.
    Crop = 0,
    /// Brightness by Rec. 601, as gray image: (77 red + 150 green + 29 blue + 128) / 256.
    Gray = 1,
    /// A gray image: 255 where `channel` is above `level`, 0 elsewhere.
    Threshold = 2,
    /// Of two inputs of the same size and format, a gray image: the largest difference of a channel. With
    /// HOB_OPERATOR_BINARY: 255 where it is above `level`, 0 elsewhere.
    Difference = 3,
    /// Each pixel is the mean of `factor` times `factor` pixels. Columns and rows that remain at the right and at the
    /// bottom are ignored.
    Downscale = 4,
    /// Each pixel is the mean of a square with `radius` pixels on each side of the centre.
    Box = 5,
    /// Each channel is its minimum in such a square.
    Erode = 6,
    /// Each channel is its maximum in such a square.
    Dilate = 7,
    /// An image of HOB_PIXEL_FORMAT_COUNT32 and width 256: how many pixels have each value. A row for gray, or rows for
    /// red, green and blue. `number` of its value is the number of pixels.
    Histogram = 8,
    /// `number` of its value is the mean of `channel`, not rounded.
    Mean = 9,
    /// `number` of its value is the number of pixels whose `channel` is not 0.
    CountNonZero = 10,
    /// Finds `image`. `words[0]` of its value has the place of its upper left pixel: x in the low half, y in the high
    /// one. They count from the upper left pixel of the region, not of the frame. `words[1]` has the sum of squared
    /// differences. Both all ones: not found. Of equal matches the first one in reading order is found. In a region
    /// that is smaller than `image` it fails.
    Template = 11,
    /// Reads a number by comparing `glyphs`, whose top row is that of the region. `integer` of its value is the number;
    /// -1: nothing was read. `words[1]` has the number of digits in its low half. In its high half is 256 times the
    /// mean difference of the worst digit, or with `correlation` 1000 times what the worst one lacks to 1. It does not
    /// count when values are compared.
    Glyphs = 12,
}

/// A channel of pixels.
#[open_enum]
#[repr(C)]
pub enum hob_channel {
    /// Brightness, as HOB_OPERATOR_GRAY computes it.
    Luma = 0,
    /// Red.
    Red = 1,
    /// Green.
    Green = 2,
    /// Blue.
    Blue = 3,
}

/// hob_operator_desc.flags: swap 0 and 255 of HOB_OPERATOR_THRESHOLD.
pub const HOB_OPERATOR_INVERT: u32 = 1;
/// hob_operator_desc.flags: see HOB_OPERATOR_DIFFERENCE.
pub const HOB_OPERATOR_BINARY: u32 = 2;
/// hob_operator_desc.flags: HOB_OPERATOR_TEMPLATE and HOB_OPERATOR_GLYPHS compare colours, not brightness.
pub const HOB_OPERATOR_COLOR: u32 = 4;
/// hob_operator_desc.flags: the number of HOB_OPERATOR_GLYPHS ends at the right edge of the region.
/// Without it, it starts at the left edge.
pub const HOB_OPERATOR_RIGHT: u32 = 8;

/// The picture of a digit, for HOB_OPERATOR_GLYPHS.
#[element(size = 24, last = mask)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_glyph {
    /// 0 to 9. A digit may have several pictures.
    pub digit: u32,
    /// Must be 0.
    pub reserved: u32,
    /// The picture. Widths may differ.
    pub image: *const hob_image,
    /// A gray image of the same size: pixels with 0 are background, and not compared. NULL: all are compared.
    pub mask: *const hob_image,
}

/// Parameters of a built-in cognition.
/// A kind ignores the fields and flags that are for others, if they are in their ranges.
#[versioned(size = 96, last = correlation)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_operator_desc {
    /// sizeof(hob_operator_desc).
    pub struct_size: u32,
    /// The operation. Default HOB_OPERATOR_CROP.
    pub kind: hob_operator,
    /// A name for messages. Default empty: the name of `kind`.
    pub name: hob_str,
    /// HOB_OPERATOR_ bits. Default 0.
    pub flags: u32,
    /// The channel of HOB_OPERATOR_THRESHOLD, MEAN and COUNT_NON_ZERO. Default HOB_CHANNEL_LUMA, the only one of
    /// HOB_PIXEL_FORMAT_GRAY8 and NV12.
    pub channel: hob_channel,
    /// For HOB_OPERATOR_THRESHOLD, and for HOB_OPERATOR_DIFFERENCE with HOB_OPERATOR_BINARY: 0 to 255. Default 0.
    pub level: u32,
    /// For HOB_OPERATOR_BOX, ERODE and DILATE: 0 to 64. Default 0.
    pub radius: u32,
    /// For HOB_OPERATOR_DOWNSCALE: 1 to 64. Default 0: 1.
    pub factor: u32,
    /// For HOB_OPERATOR_GLYPHS: most digits, 1 to 18. Default 0: 18.
    pub max_digits: u32,
    /// For HOB_OPERATOR_TEMPLATE: the image to find; copied. Each side has at most 1024 pixels.
    pub image: *const hob_image,
    /// For HOB_OPERATOR_TEMPLATE: the greatest sum of squared differences that counts as found. A low limit makes it
    /// faster. Default UINT64_MAX: the best match is always found.
    #[initial(u64::MAX)]
    pub limit: u64,
    /// For HOB_OPERATOR_GLYPHS: 1 to 256 pictures of digits; copied.
    pub glyphs: *const hob_glyph,
    /// Bytes from one glyph to the next: sizeof(hob_glyph). Default 0: its first released size.
    pub glyph_stride: usize,
    /// Number of glyphs.
    pub glyph_count: u32,
    /// For HOB_OPERATOR_GLYPHS: the greatest mean difference of a channel at which a glyph fits, 0 to 255. Default 0:
    /// it must be exact. For lossy video: 20 to 35; at a higher one, digits may be read that are not there. Ignored
    /// with `correlation`.
    pub tolerance: u32,
    /// For HOB_OPERATOR_GLYPHS: columns between two digits. Default 0.
    pub spacing: u32,
    /// For HOB_OPERATOR_GLYPHS: the least correlation of the pixels with a glyph at which it fits, 1 to 100 percent. A
    /// tint over the whole picture and a lower contrast do not matter to it: for lossy video, and games that flash, use
    /// 60 to 80. Default 0: glyphs fit by `tolerance`.
    pub correlation: u32,
}

/// Adds a built-in cognition.
/// On success `*out_cognition` is its id.
///
///     hob_operator_desc desc = HOB_OPERATOR_DESC_INIT;
///     desc.kind = HOB_OPERATOR_THRESHOLD;
///     desc.level = 128;
///     if (hob_perception_add_operator(eye, &desc, &threshold) != HOB_RESULT_OK) fail(hob_last_error());
///
/// HOB_RESULT_INVALID_ARGUMENT: a parameter is out of its range. Threads: exclusive.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_perception_add_operator(
    perception: *mut hob_perception,
    desc: *const hob_operator_desc,
    out_cognition: *mut hob_cognition_id,
) -> hob_result {
    // SAFETY: the header's contract for the fields, here and below.
    let operator = unsafe { desc.operator() }?;
    let given = unsafe { desc.name.argument("hob_operator_desc.name") }.text()?;
    let name = if given.is_empty() { desc.kind.name_of() } else { given };
    let id =
        perception.with(|cell| cell.perception.add_cognition(name, Action::Operator(operator), Traits::default()))?;
    out_cognition.write(id.into());
    Ok(())
}

impl hob_operator {
    fn name_of(self) -> &'static str {
        match self {
            Self::Gray => "gray",
            Self::Threshold => "threshold",
            Self::Difference => "difference",
            Self::Downscale => "downscale",
            Self::Box => "box",
            Self::Erode => "erode",
            Self::Dilate => "dilate",
            Self::Histogram => "histogram",
            Self::Mean => "mean",
            Self::CountNonZero => "count non-zero",
            Self::Template => "template",
            Self::Glyphs => "glyphs",
            _ => "crop",
        }
    }
}

const KNOWN: u32 = HOB_OPERATOR_INVERT | HOB_OPERATOR_BINARY | HOB_OPERATOR_COLOR | HOB_OPERATOR_RIGHT;

impl hob_operator_desc {
    /// # Safety
    /// The images are what the header says.
    unsafe fn operator(&self) -> Result<Operator> {
        check_flags("hob_operator_desc", self.flags, KNOWN)?;
        let has = |flag| self.flags & flag != 0;
        let byte = |what, value: u32| {
            u8::try_from(value).map_err(|_| error!(InvalidArgument, "{what} is {value}: it must be 0 to 255"))
        };
        let channel = match self.channel.check("hob_operator_desc.channel")? {
            hob_channel::Red => Channel::Red,
            hob_channel::Green => Channel::Green,
            hob_channel::Blue => Channel::Blue,
            _ => Channel::Luma,
        };
        let level = byte("hob_operator_desc.level", self.level)?;
        let compare = if has(HOB_OPERATOR_COLOR) { Compare::Color } else { Compare::Luma };
        let radius = self.radius;
        Ok(match self.kind.check("hob_operator_desc.kind")? {
            hob_operator::Gray => Operator::Gray,
            hob_operator::Threshold => Operator::Threshold { channel, level, invert: has(HOB_OPERATOR_INVERT) },
            hob_operator::Difference => Operator::Difference { level: has(HOB_OPERATOR_BINARY).then_some(level) },
            hob_operator::Downscale => Operator::Downscale { factor: self.factor.max(1) },
            hob_operator::Box => Operator::Box { radius },
            hob_operator::Erode => Operator::Erode { radius },
            hob_operator::Dilate => Operator::Dilate { radius },
            hob_operator::Histogram => Operator::Histogram,
            hob_operator::Mean => Operator::Mean { channel },
            hob_operator::CountNonZero => Operator::CountNonZero { channel },
            hob_operator::Template => {
                // SAFETY: by this function's contract, here and below.
                let image = unsafe { copied(self.image, "hob_operator_desc.image") }?;
                Operator::Template(Template {
                    image,
                    compare,
                    limit: Some(self.limit).filter(|&limit| limit != u64::MAX),
                })
            }
            hob_operator::Glyphs => Operator::Glyphs(Glyphs {
                glyphs: unsafe { self.glyphs() }?,
                compare,
                align: if has(HOB_OPERATOR_RIGHT) { Align::Right } else { Align::Left },
                spacing: self.spacing,
                max_digits: if self.max_digits == 0 { 18 } else { self.max_digits },
                fit: match self.correlation {
                    0 => Fit::Difference { limit: byte("hob_operator_desc.tolerance", self.tolerance)? },
                    // A larger number is refused with the other parameters.
                    percent => Fit::Correlation { percent: u8::try_from(percent).unwrap_or(u8::MAX) },
                },
            }),
            _ => Operator::Crop { area: WHOLE },
        })
    }

    /// # Safety
    /// `glyphs` is what the header says.
    unsafe fn glyphs(&self) -> Result<Vec<Glyph>> {
        let count = self.glyph_count as usize;
        if count > 256 {
            return Err(error!(InvalidArgument, "{count} glyphs: must be from 1 to 256"));
        }
        // SAFETY: by this function's contract, here and below.
        let array = unsafe { Array::new(self.glyphs, self.glyph_stride, count, "hob_operator_desc.glyphs") }?;
        let mut glyphs = Vec::new();
        glyphs.try_reserve_exact(count)?;
        for glyph in array.iter() {
            let image = unsafe { copied(glyph.image, "hob_glyph.image") }?;
            let mask = if glyph.mask.is_null() { None } else { Some(unsafe { copied(glyph.mask, "hob_glyph.mask") }?) };
            glyphs.push(Glyph { digit: u8::try_from(glyph.digit).unwrap_or(u8::MAX), image, mask });
        }
        Ok(glyphs)
    }
}

/// A crop whose region is the one of its step.
pub const WHOLE: Rect = Shape::new(Format::Gray8, u32::MAX, u32::MAX).bounds();

/// # Safety
/// `image` is NULL, or what the header says.
unsafe fn copied(image: *const hob_image, what: &'static str) -> Result<crate::perception::image::Image> {
    use crate::ffi::base::argument::Argument;
    // SAFETY: by this function's contract, here and below.
    let image = unsafe { hob_image::take(image, what) }?;
    unsafe { image.copy(what) }
}
