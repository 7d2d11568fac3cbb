//! Frame stores against a brute-force model, and what they promise.

mod memory;
mod model;
mod promises;
mod trust;

use crate::executor::{Executor, Helpers, Options as ExecutorOptions};
use crate::perception::frames::{FrameStore, Hints, Options};
use crate::perception::image::{FRAME_FORMATS, Format, Image, Rect, Shape, View};

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(end)) as u32
    }

    fn one_in(&mut self, count: u32) -> bool {
        self.below(count) == 0
    }

    /// A rectangle that a shape has, of at most these sides.
    fn rect(&mut self, shape: Shape, width: u32, height: u32) -> Rect {
        let (width, height) = (1 + self.below(width.min(shape.width)), 1 + self.below(height.min(shape.height)));
        let (mut x, mut y) = (self.below(shape.width - width + 1), self.below(shape.height - height + 1));
        if shape.format.has_chroma() {
            (x, y) = (x & !1, y & !1);
        }
        Rect::new(x, y, width, height)
    }
}

fn executor(threads: usize) -> Executor {
    let helpers = if threads == 1 { Helpers::None } else { Helpers::Pool(threads - 1) };
    Executor::new(ExecutorOptions { helpers, ..ExecutorOptions::default() }).unwrap()
}

/// A frame whose rows have gaps, to paint on.
struct Canvas {
    shape: Shape,
    stride: usize,
    pixels: Vec<u8>,
    chroma: Vec<u8>,
}

impl Canvas {
    fn new(shape: Shape, gap: usize) -> Self {
        let stride = shape.row_size().max(shape.chroma_row_size()) + gap;
        let pixels = vec![0; stride * shape.height as usize];
        Self { shape, stride, pixels, chroma: vec![0; stride * shape.chroma_rows()] }
    }

    fn view(&self) -> View<'_> {
        View::new(self.shape, &self.pixels, self.stride, &self.chroma, self.stride).unwrap()
    }

    /// Overwrite each byte of a part, by `byte(x in bytes, y, old)`.
    fn paint(&mut self, part: Rect, mut byte: impl FnMut(usize, usize, u8) -> u8) {
        let size = self.shape.format.pixel_size();
        for y in part.y as usize..part.bottom() as usize {
            for x in part.x as usize * size..part.right() as usize * size {
                let old = &mut self.pixels[y * self.stride + x];
                *old = byte(x, y, *old);
            }
        }
        if self.shape.format.has_chroma() {
            for y in part.y as usize / 2..(part.bottom() as usize).div_ceil(2) {
                for x in part.x as usize / 2 * 2..(part.right() as usize).next_multiple_of(2) {
                    let old = &mut self.chroma[y * self.stride + x];
                    *old = byte(x, y, *old);
                }
            }
        }
    }

    /// A copy of the pixels.
    fn image(&self) -> Image {
        let mut image = Image::new(self.shape).unwrap();
        crate::perception::pixels::copy(&self.view(), &mut image.view_mut());
        image
    }
}

/// The least tolerance within which two pixels of 16 bits are.
fn difference_565(one: u16, other: u16) -> u8 {
    let channel = |shift: u32, levels: u16| {
        let difference = (one >> shift & levels).abs_diff(other >> shift & levels);
        (difference * 255).div_ceil(levels) as u8
    };
    channel(0, 31).max(channel(5, 63)).max(channel(11, 31))
}

/// The largest difference of a channel.
fn largest_difference(one: &View<'_>, other: &View<'_>) -> u8 {
    let (shape, mut most) = (one.shape(), 0);
    for y in 0..shape.height {
        if shape.format == Format::Rgb565 {
            let pixel = |bytes: &[u8]| u16::from_ne_bytes(bytes.try_into().unwrap());
            let pairs = one.row(y).chunks(2).zip(other.row(y).chunks(2));
            most = pairs.fold(most, |most, (one, other)| most.max(difference_565(pixel(one), pixel(other))));
            continue;
        }
        for (index, (&one, &other)) in one.row(y).iter().zip(other.row(y)).enumerate() {
            if !shape.format.has_padding() || index % 4 != 3 {
                most = most.max(one.abs_diff(other));
            }
        }
    }
    for y in 0..shape.chroma_rows() {
        let pairs = one.chroma_row(y).iter().zip(other.chroma_row(y));
        most = pairs.fold(most, |most, (&one, &other)| most.max(one.abs_diff(other)));
    }
    most
}

fn is_equal(one: &View<'_>, other: &View<'_>) -> bool {
    largest_difference(one, other) == 0
}

/// A store with default options but for the history.
fn store(history: usize) -> FrameStore {
    FrameStore::new(Options { history, ..Options::default() }).unwrap()
}

/// Take a frame without hints, on this thread.
fn begin(store: &mut FrameStore, canvas: &Canvas) {
    store.begin(&canvas.view(), true, &Hints::default(), &Executor::inline()).unwrap();
}
