//! Pixels in the caller's memory.

use std::ffi::c_void;

use hobgoblin_macros::{element, open_enum, versioned};

use crate::base::{Result, error};
use crate::perception::image::{Format, Image, Rect, Shape, View, ViewMut, check_shape};

// == Experimental: Images ==

/// How pixels lie in memory.
/// The names give the order of the bytes.
#[open_enum]
#[repr(C)]
pub enum hob_pixel_format {
    /// In images: HOB_PIXEL_FORMAT_BGRX8. For hob_cognition_desc.image_format: the format of the first input.
    Default = 0,
    /// Blue, green, red, and a byte that is ignored.
    Bgrx8 = 1,
    /// Red, green, blue, and a byte that is ignored.
    Rgbx8 = 2,
    /// Blue, green, red, alpha. Alpha is ignored.
    Bgra8 = 3,
    /// Red, green, blue, alpha. Alpha is ignored.
    Rgba8 = 4,
    /// Blue, green, red.
    Bgr8 = 5,
    /// Red, green, blue.
    Rgb8 = 6,
    /// One byte of brightness.
    Gray8 = 7,
    /// 16 bits in the machine's order: 5 of red, which are the highest, 6 of green, 5 of blue.
    Rgb565 = 8,
    /// A plane of brightness; then, in `chroma`, one of half the width and height with pairs of U and V.
    Nv12 = 9,
    /// One number of 32 bits in the machine's order: counts. Only images that cognitions make have it. Of the built-in
    /// cognitions only HOB_OPERATOR_CROP takes it.
    Count32 = 10,
}

/// A rectangle of pixels.
#[element(size = 16, last = height)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_rect {
    /// The first column.
    pub x: u32,
    /// The first row.
    pub y: u32,
    /// Number of columns.
    pub width: u32,
    /// Number of rows.
    pub height: u32,
}

/// An image in memory.
/// A width or height of 0 is an error, and so is `pixels` NULL.
#[versioned(size = 48, last = chroma_stride)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_image {
    /// sizeof(hob_image).
    pub struct_size: u32,
    /// Default HOB_PIXEL_FORMAT_BGRX8.
    pub format: hob_pixel_format,
    /// The first pixel.
    pub pixels: *const c_void,
    /// Number of columns: 1 to 32768.
    pub width: u32,
    /// Number of rows: 1 to 32768.
    pub height: u32,
    /// Bytes from one row to the next. Default 0: rows without gaps.
    pub stride: usize,
    /// For HOB_PIXEL_FORMAT_NV12: the first pair of colour differences. Otherwise NULL.
    pub chroma: *const c_void,
    /// Bytes from one row of `chroma` to the next. Default 0: rows without gaps.
    pub chroma_stride: usize,
}

impl From<hob_rect> for Rect {
    fn from(rect: hob_rect) -> Self {
        Self::new(rect.x, rect.y, rect.width, rect.height)
    }
}

impl From<Rect> for hob_rect {
    fn from(rect: Rect) -> Self {
        Self { x: rect.x, y: rect.y, width: rect.width, height: rect.height }
    }
}

impl From<Format> for hob_pixel_format {
    fn from(format: Format) -> Self {
        match format {
            Format::Bgrx8 => Self::Bgrx8,
            Format::Rgbx8 => Self::Rgbx8,
            Format::Bgra8 => Self::Bgra8,
            Format::Rgba8 => Self::Rgba8,
            Format::Bgr8 => Self::Bgr8,
            Format::Rgb8 => Self::Rgb8,
            Format::Gray8 => Self::Gray8,
            Format::Rgb565 => Self::Rgb565,
            Format::Nv12 => Self::Nv12,
            Format::Count32 => Self::Count32,
        }
    }
}

impl hob_pixel_format {
    /// The format of a field. `None`: the default.
    pub fn format(self, what: &'static str) -> Result<Option<Format>> {
        Ok(Some(match self.check(what)? {
            Self::Bgrx8 => Format::Bgrx8,
            Self::Rgbx8 => Format::Rgbx8,
            Self::Bgra8 => Format::Bgra8,
            Self::Rgba8 => Format::Rgba8,
            Self::Bgr8 => Format::Bgr8,
            Self::Rgb8 => Format::Rgb8,
            Self::Gray8 => Format::Gray8,
            Self::Rgb565 => Format::Rgb565,
            Self::Nv12 => Format::Nv12,
            Self::Count32 => Format::Count32,
            _ => return Ok(None),
        }))
    }
}

/// The fields of an image, of whatever struct.
pub struct Planes {
    pub format: hob_pixel_format,
    pub pixels: *const c_void,
    pub width: u32,
    pub height: u32,
    pub stride: usize,
    pub chroma: *const c_void,
    pub chroma_stride: usize,
}

impl Planes {
    /// # Safety
    /// The planes are readable during `'a`, as the header says. `what` names the struct.
    pub unsafe fn view<'a>(&self, what: &'static str) -> Result<View<'a>> {
        let format = self.format.format(what)?.unwrap_or_default();
        if format == Format::Count32 {
            return Err(error!(InvalidArgument, "{what}: HOB_PIXEL_FORMAT_COUNT32 is for results only"));
        }
        let shape = Shape::new(format, self.width, self.height);
        check_shape(shape)?;
        let stride = if self.stride == 0 { shape.row_size() } else { self.stride };
        let chroma_stride = if self.chroma_stride == 0 { shape.chroma_row_size() } else { self.chroma_stride };
        // SAFETY: by this function's contract, here and below.
        let pixels = unsafe { plane(self.pixels, shape.height as usize, shape.row_size(), stride, what, "stride") }?;
        let (rows, row_size) = (shape.chroma_rows(), shape.chroma_row_size());
        let chroma = unsafe { plane(self.chroma, rows, row_size, chroma_stride, what, "chroma_stride") }?;
        View::new(shape, pixels, stride, chroma, chroma_stride)
            .ok_or_else(|| error!(InvalidArgument, "{what}: the planes do not fit the size"))
    }
}

/// # Safety
/// `start` is NULL, or that many rows are readable during `'a`.
unsafe fn plane<'a>(
    start: *const c_void,
    rows: usize,
    row_size: usize,
    stride: usize,
    what: &str,
    name: &str,
) -> Result<&'a [u8]> {
    if rows == 0 {
        return Ok(&[]);
    }
    if stride < row_size {
        return Err(error!(
            InvalidArgument,
            "{what}.{name} is {stride}, less than a row of {row_size} bytes: set it to the bytes from row to row, or 0"
        ));
    }
    let size = stride.checked_mul(rows - 1).and_then(|size| size.checked_add(row_size));
    let Some(size) = size.filter(|&size| size <= isize::MAX as usize) else {
        return Err(error!(InvalidArgument, "{what}.{name} is {stride}: {rows} rows exceed the address space"));
    };
    if start.is_null() {
        let field = if name == "stride" { "pixels" } else { "chroma" };
        return Err(error!(InvalidArgument, "{what}.{field} is NULL: set it to the first pixel"));
    }
    // SAFETY: by this function's contract.
    Ok(unsafe { std::slice::from_raw_parts(start.cast(), size) })
}

impl hob_image {
    /// The image, to write.
    ///
    /// # Safety
    /// The pixels are readable and writable during `'a`, and nobody else uses them.
    pub unsafe fn view_mut<'a>(&self, what: &'static str) -> Result<ViewMut<'a>> {
        // SAFETY: by this function's contract.
        let (shape, stride, size) = unsafe { self.view(what) }.map(|view| {
            (view.shape(), view.stride(), view.stride() * (view.shape().height as usize - 1) + view.shape().row_size())
        })?;
        // SAFETY: as above; the view had the same bytes, and it is no longer used.
        let pixels = unsafe { std::slice::from_raw_parts_mut(self.pixels.cast_mut().cast(), size) };
        ViewMut::new(shape, pixels, stride)
            .ok_or_else(|| error!(InvalidArgument, "{what} has two planes: must have one"))
    }

    /// # Safety
    /// The planes are readable during `'a`, as the header says.
    unsafe fn view<'a>(&self, what: &'static str) -> Result<View<'a>> {
        let Self { format, pixels, width, height, stride, chroma, chroma_stride, .. } = *self;
        // SAFETY: by this function's contract.
        unsafe { Planes { format, pixels, width, height, stride, chroma, chroma_stride }.view(what) }
    }

    /// A copy of the image.
    ///
    /// # Safety
    /// The planes are readable, as the header says.
    pub unsafe fn copy(&self, what: &'static str) -> Result<Image> {
        // SAFETY: by this function's contract.
        let view = unsafe { self.view(what) }?;
        let mut image = Image::new(view.shape())?;
        crate::perception::pixels::copy(&view, &mut image.view_mut());
        Ok(image)
    }
}
