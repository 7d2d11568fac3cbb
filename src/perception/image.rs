//! Pixels: formats, rectangles, views of memory, and images that own theirs.

use crate::base::{Result, error, try_filled};

/// Most pixels in a row or a column of a frame.
pub const MAX_SIDE: u32 = 1 << 15;

/// How pixels lie in memory. Names give the order of the bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// Blue, green, red, and a byte without meaning.
    #[default]
    Bgrx8,
    /// Red, green, blue, and a byte without meaning.
    Rgbx8,
    /// Blue, green, red, alpha. Alpha is ignored.
    Bgra8,
    /// Red, green, blue, alpha. Alpha is ignored.
    Rgba8,
    /// Blue, green, red.
    Bgr8,
    /// Red, green, blue.
    Rgb8,
    /// One byte of brightness.
    Gray8,
    /// 16 bits in the machine's order: 5 of red, which are the highest, 6 of green, 5 of blue.
    Rgb565,
    /// A plane of brightness, then one of half the width and height with pairs of colour differences, U and V.
    Nv12,
    /// One number of 32 bits in the machine's order: counts. Only results have this format.
    Count32,
}

/// All formats that frames have.
#[cfg(test)]
pub const FRAME_FORMATS: [Format; 9] = [
    Format::Bgrx8,
    Format::Rgbx8,
    Format::Bgra8,
    Format::Rgba8,
    Format::Bgr8,
    Format::Rgb8,
    Format::Gray8,
    Format::Rgb565,
    Format::Nv12,
];

impl Format {
    /// Bytes of a pixel, in the first plane.
    pub const fn pixel_size(self) -> usize {
        match self {
            Self::Bgrx8 | Self::Rgbx8 | Self::Bgra8 | Self::Rgba8 | Self::Count32 => 4,
            Self::Bgr8 | Self::Rgb8 => 3,
            Self::Rgb565 => 2,
            Self::Gray8 | Self::Nv12 => 1,
        }
    }

    /// Whether the last of four bytes has no meaning.
    pub const fn has_padding(self) -> bool {
        matches!(self, Self::Bgrx8 | Self::Rgbx8 | Self::Bgra8 | Self::Rgba8)
    }

    /// Whether there is a second plane, of colour differences.
    pub const fn has_chroma(self) -> bool {
        matches!(self, Self::Nv12)
    }
}

/// A rectangle of pixels. Its edges are sums that fit in 64 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rect {
    /// The first row.
    pub y: u32,
    /// The first column.
    pub x: u32,
    /// Number of columns.
    pub width: u32,
    /// Number of rows.
    pub height: u32,
}

impl Rect {
    /// A rectangle.
    pub const fn new(x: u32, y: u32, width: u32, height: u32) -> Self {
        Self { y, x, width, height }
    }

    /// Whether it has no pixels.
    pub const fn is_empty(self) -> bool {
        self.width == 0 || self.height == 0
    }

    /// The column behind the last one.
    pub const fn right(self) -> u64 {
        self.x as u64 + self.width as u64
    }

    /// The row behind the last one.
    pub const fn bottom(self) -> u64 {
        self.y as u64 + self.height as u64
    }

    /// Number of pixels.
    pub const fn area(self) -> u64 {
        self.width as u64 * self.height as u64
    }

    /// Whether all of `other` lies inside.
    pub const fn contains(self, other: Self) -> bool {
        other.x >= self.x && other.y >= self.y && other.right() <= self.right() && other.bottom() <= self.bottom()
    }

    /// The pixels that both have. Empty without such pixels.
    pub fn intersection(self, other: Self) -> Self {
        let (x, y) = (self.x.max(other.x), self.y.max(other.y));
        let side = |end: u64, start: u32| end.saturating_sub(u64::from(start)) as u32;
        let width = side(self.right().min(other.right()), x);
        let height = side(self.bottom().min(other.bottom()), y);
        if width == 0 || height == 0 { Self::default() } else { Self { y, x, width, height } }
    }

    /// Whether both have a pixel.
    pub fn overlaps(self, other: Self) -> bool {
        !self.intersection(other).is_empty()
    }
}

/// Format and size of pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shape {
    /// How pixels lie in memory.
    pub format: Format,
    /// Number of columns.
    pub width: u32,
    /// Number of rows.
    pub height: u32,
}

impl Shape {
    /// A shape.
    pub const fn new(format: Format, width: u32, height: u32) -> Self {
        Self { format, width, height }
    }

    /// All of it.
    pub const fn bounds(self) -> Rect {
        Rect::new(0, 0, self.width, self.height)
    }

    /// Bytes of a row of the first plane, without a gap.
    pub const fn row_size(self) -> usize {
        self.width as usize * self.format.pixel_size()
    }

    /// Rows of the second plane.
    pub const fn chroma_rows(self) -> usize {
        if self.format.has_chroma() { self.height.div_ceil(2) as usize } else { 0 }
    }

    /// Bytes of a row of the second plane, without a gap.
    pub const fn chroma_row_size(self) -> usize {
        if self.format.has_chroma() { self.width.div_ceil(2) as usize * 2 } else { 0 }
    }

    /// Whether `part` can be cut out: it lies inside, is not empty, and with a second plane begins at even places.
    pub const fn has(self, part: Rect) -> bool {
        !part.is_empty()
            && self.bounds().contains(part)
            && (!self.format.has_chroma() || (part.x.is_multiple_of(2) && part.y.is_multiple_of(2)))
    }
}

/// Pixels in memory of somebody else.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    shape: Shape,
    pixels: &'a [u8],
    stride: usize,
    /// Empty without a second plane.
    chroma: &'a [u8],
    chroma_stride: usize,
}

impl<'a> View<'a> {
    /// A view of planes whose rows are `stride` and `chroma_stride` bytes apart. `None`: a plane is too short, or a stride
    /// is shorter than a row. The last row needs no gap behind it.
    pub fn new(shape: Shape, pixels: &'a [u8], stride: usize, chroma: &'a [u8], chroma_stride: usize) -> Option<Self> {
        let fits = plane_size(shape.height as usize, shape.row_size(), stride)? <= pixels.len();
        let chroma_fits = plane_size(shape.chroma_rows(), shape.chroma_row_size(), chroma_stride)? <= chroma.len();
        (fits && chroma_fits).then_some(Self { shape, pixels, stride, chroma, chroma_stride })
    }

    /// Format and size.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Bytes from one row to the next.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Bytes from one row of the second plane to the next.
    pub fn chroma_stride(&self) -> usize {
        self.chroma_stride
    }

    /// The first plane, from the first pixel on.
    pub fn pixels(&self) -> &'a [u8] {
        self.pixels
    }

    /// The second plane, from its first pixel on. Empty without one.
    pub fn chroma(&self) -> &'a [u8] {
        self.chroma
    }

    /// The bytes of a row, without a gap.
    #[inline]
    pub fn row(&self, y: u32) -> &'a [u8] {
        let start = y as usize * self.stride;
        &self.pixels[start..start + self.shape.row_size()]
    }

    /// The bytes of some rows of the first plane, if there are no gaps between them.
    #[inline]
    pub fn rows_without_gaps(&self, first: u32, count: u32) -> Option<&'a [u8]> {
        let size = self.shape.row_size();
        let start = first as usize * size;
        (self.stride == size).then(|| &self.pixels[start..start + count as usize * size])
    }

    /// The bytes of a row of the second plane.
    #[inline]
    pub fn chroma_row(&self, y: usize) -> &'a [u8] {
        let start = y * self.chroma_stride;
        &self.chroma[start..start + self.shape.chroma_row_size()]
    }

    /// A part. [`Shape::has`] must hold for it.
    pub fn crop(&self, part: Rect) -> Self {
        debug_assert!(self.shape.has(part), "{part:?} of {:?}", self.shape);
        let Shape { format, .. } = self.shape;
        let shape = Shape::new(format, part.width, part.height);
        let start = part.y as usize * self.stride + part.x as usize * format.pixel_size();
        let chroma_start =
            if format.has_chroma() { part.y as usize / 2 * self.chroma_stride + part.x as usize } else { 0 };
        Self { shape, pixels: &self.pixels[start..], chroma: &self.chroma[chroma_start..], ..*self }
    }
}

/// Pixels in memory of somebody else, to write.
#[derive(Debug)]
pub struct ViewMut<'a> {
    shape: Shape,
    pixels: &'a mut [u8],
    stride: usize,
    chroma: &'a mut [u8],
    chroma_stride: usize,
}

impl<'a> ViewMut<'a> {
    /// A view of the only plane of a format without a second one, as [`View::new`].
    pub fn new(shape: Shape, pixels: &'a mut [u8], stride: usize) -> Option<Self> {
        View::new(shape, pixels, stride, &[], 0)?;
        Some(Self { shape, pixels, stride, chroma: &mut [], chroma_stride: 0 })
    }

    /// To read.
    pub fn view(&self) -> View<'_> {
        let Self { shape, stride, chroma_stride, .. } = *self;
        View { shape, pixels: self.pixels, stride, chroma: self.chroma, chroma_stride }
    }

    /// The rows above `y`, and those from `y` on. With a second plane `y` must be even.
    pub fn split_at_row(self, y: u32) -> (Self, Self) {
        let Self { shape, stride, chroma_stride, .. } = self;
        let y = y.min(shape.height);
        let chroma_y = if shape.format.has_chroma() { y.div_ceil(2) as usize } else { 0 };
        let (pixels, pixels_below) = self.pixels.split_at_mut((y as usize * stride).min(self.pixels.len()));
        let (chroma, chroma_below) = self.chroma.split_at_mut((chroma_y * chroma_stride).min(self.chroma.len()));
        let (above, below) = (Shape { height: y, ..shape }, Shape { height: shape.height - y, ..shape });
        (
            Self { shape: above, pixels, stride, chroma, chroma_stride },
            Self { shape: below, pixels: pixels_below, stride, chroma: chroma_below, chroma_stride },
        )
    }

    /// Bytes from one row of the second plane to the next.
    pub fn chroma_stride(&self) -> usize {
        self.chroma_stride
    }

    /// Format and size.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Bytes from one row to the next.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The first plane, from the first pixel on.
    pub fn pixels(&mut self) -> &mut [u8] {
        self.pixels
    }

    /// The second plane, from its first pixel on. Empty without one.
    pub fn chroma(&mut self) -> &mut [u8] {
        self.chroma
    }

    /// The bytes of a row, without a gap.
    #[inline]
    pub fn row(&mut self, y: u32) -> &mut [u8] {
        let start = y as usize * self.stride;
        &mut self.pixels[start..start + self.shape.row_size()]
    }

    /// The bytes of a row of the second plane.
    #[inline]
    pub fn chroma_row(&mut self, y: usize) -> &mut [u8] {
        let start = y * self.chroma_stride;
        &mut self.chroma[start..start + self.shape.chroma_row_size()]
    }
}

/// Bytes of a plane, without a gap behind the last row.
fn plane_size(rows: usize, row_size: usize, stride: usize) -> Option<usize> {
    if rows == 0 {
        return Some(0);
    }
    (stride >= row_size).then_some(())?;
    stride.checked_mul(rows - 1)?.checked_add(row_size)
}

/// An image that owns its pixels.
#[derive(Debug, Default)]
pub struct Image {
    shape: Shape,
    bytes: Vec<u8>,
    /// The first pixel: the first byte at a multiple of [`ROW_ALIGNMENT`].
    start: usize,
    stride: usize,
    chroma_start: usize,
    chroma_stride: usize,
}

/// Rows of images begin at addresses that are multiples of it.
const ROW_ALIGNMENT: usize = 32;

impl Image {
    /// A black image.
    pub fn new(shape: Shape) -> Result<Self> {
        let (stride, chroma_stride, size) = Self::layout(shape);
        let bytes = try_filled(0u8, size)?;
        let start = bytes.as_ptr().addr().next_multiple_of(ROW_ALIGNMENT) - bytes.as_ptr().addr();
        Ok(Self { shape, bytes, start, stride, chroma_start: stride * shape.height as usize, chroma_stride })
    }

    /// The bytes that an image of this shape takes.
    pub fn size_of(shape: Shape) -> usize {
        Self::layout(shape).2
    }

    fn layout(shape: Shape) -> (usize, usize, usize) {
        let stride = shape.row_size().next_multiple_of(ROW_ALIGNMENT);
        let chroma_stride = shape.chroma_row_size().next_multiple_of(ROW_ALIGNMENT);
        (stride, chroma_stride, stride * shape.height as usize + chroma_stride * shape.chroma_rows() + ROW_ALIGNMENT)
    }

    /// Format and size.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Its bytes in memory.
    pub fn memory_used(&self) -> usize {
        self.bytes.capacity()
    }

    /// To read.
    pub fn view(&self) -> View<'_> {
        let (pixels, chroma) = self.bytes[self.start..].split_at(self.chroma_start);
        View { shape: self.shape, pixels, stride: self.stride, chroma, chroma_stride: self.chroma_stride }
    }

    /// To write.
    pub fn view_mut(&mut self) -> ViewMut<'_> {
        let (pixels, chroma) = self.bytes[self.start..].split_at_mut(self.chroma_start);
        ViewMut { shape: self.shape, pixels, stride: self.stride, chroma, chroma_stride: self.chroma_stride }
    }
}

/// Refuse a shape that no frame and no result can have.
pub fn check_shape(shape: Shape) -> Result<()> {
    let Shape { width, height, .. } = shape;
    if width == 0 || height == 0 || width > MAX_SIDE || height > MAX_SIDE {
        return Err(error!(InvalidArgument, "{width} x {height} pixels: each side must be from 1 to {MAX_SIDE}"));
    }
    Ok(())
}
