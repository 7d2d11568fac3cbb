//! Frames that stay in the host's memory.

use std::ptr;

use crate::base::{Result, try_filled};
use crate::perception::frames::HostFrames;
use crate::perception::image::{Format, Shape, View};

/// Where the pixels of a frame are.
#[derive(Clone, Copy)]
struct Borrowed {
    /// 0: none.
    number: u64,
    shape: Shape,
    pixels: *const [u8],
    stride: usize,
    chroma: *const [u8],
    chroma_stride: usize,
}

const NO_FRAME: Borrowed = Borrowed {
    number: 0,
    shape: Shape::new(Format::Bgrx8, 0, 0),
    pixels: ptr::slice_from_raw_parts(ptr::null(), 0),
    stride: 0,
    chroma: ptr::slice_from_raw_parts(ptr::null(), 0),
    chroma_stride: 0,
};

/// The last frames. The place of a frame is its number modulo their count, so the next one replaces the oldest.
///
/// Invariant: a frame is here from its [`keep`](HostFrames::keep) on, until as many frames as there are places were
/// kept after it, or one of another shape.
pub struct BorrowedFrames(Vec<Borrowed>);

// SAFETY: the pixels are only read, on any thread, and the host does not change them meanwhile.
unsafe impl Send for BorrowedFrames {}
// SAFETY: as above.
unsafe impl Sync for BorrowedFrames {}

impl BorrowedFrames {
    /// Places for the present frame and `history` past ones, at least one.
    ///
    /// # Safety
    /// Whenever [`view`](HostFrames::view) is called, and as long as its result is used, the pixels of all frames that
    /// are here by the invariant are readable and unchanged. A perception calls it only inside its own calls, for which
    /// hob_perception_desc.borrows_frames promises that.
    pub unsafe fn new(history: usize) -> Result<Self> {
        Ok(Self(try_filled(NO_FRAME, history.max(1) + 1)?))
    }

    fn place(&self, number: u64) -> usize {
        (number % self.0.len() as u64) as usize
    }
}

impl HostFrames for BorrowedFrames {
    fn keep(&mut self, number: u64, frame: &View<'_>) {
        let shape = frame.shape();
        if self.0[self.place(number - 1)].shape != shape {
            self.0.fill(NO_FRAME);
        }
        let at = self.place(number);
        let (pixels, chroma) = (ptr::from_ref(frame.pixels()), ptr::from_ref(frame.chroma()));
        let (stride, chroma_stride) = (frame.stride(), frame.chroma_stride());
        self.0[at] = Borrowed { number, shape, pixels, stride, chroma, chroma_stride };
    }

    fn view(&self, number: u64) -> Option<View<'_>> {
        let held = self.0[self.place(number)];
        if held.number != number || number == 0 {
            return None;
        }
        // SAFETY: the frame is here, so by the contract of `new` its pixels are readable and unchanged while the result
        // is used. They had this size when it was kept.
        let (pixels, chroma) = unsafe { (&*held.pixels, &*held.chroma) };
        View::new(held.shape, pixels, held.stride, chroma, held.chroma_stride)
    }
}
