//! Frames that a test keeps for a store, as a host does.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use super::host::HostFrames;
use crate::perception::image::{Shape, View};

/// A frame in memory of the test, with the strides that it had.
#[derive(Debug)]
pub struct Buffer {
    shape: Shape,
    pixels: Vec<u8>,
    stride: usize,
    chroma: Vec<u8>,
    chroma_stride: usize,
}

impl Buffer {
    /// Its pixels.
    pub fn view(&self) -> View<'_> {
        View::new(self.shape, &self.pixels, self.stride, &self.chroma, self.chroma_stride).unwrap()
    }
}

/// The test's end: it lends the next frame.
#[derive(Clone, Debug, Default)]
pub struct Lender(Arc<Mutex<Option<Arc<Buffer>>>>);

impl Lender {
    /// Copy a frame into a buffer of its own, which begins next.
    pub fn lend(&self, frame: &View<'_>) -> Arc<Buffer> {
        let (pixels, chroma) = (frame.pixels().to_vec(), frame.chroma().to_vec());
        let (stride, chroma_stride) = (frame.stride(), frame.chroma_stride());
        let buffer = Arc::new(Buffer { shape: frame.shape(), pixels, stride, chroma, chroma_stride });
        self.lend_again(&buffer);
        buffer
    }

    /// Lend a buffer that was lent before.
    pub fn lend_again(&self, buffer: &Arc<Buffer>) {
        *self.0.lock().unwrap() = Some(buffer.clone());
    }

    /// The store's end: it keeps the promised number of past frames, and not one more.
    pub fn host(&self, history: usize) -> Box<dyn HostFrames> {
        Box::new(Host { lender: self.clone(), kept: VecDeque::with_capacity(history + 3), most: history.max(1) + 1 })
    }
}

struct Host {
    lender: Lender,
    kept: VecDeque<(u64, Arc<Buffer>)>,
    most: usize,
}

impl HostFrames for Host {
    fn keep(&mut self, number: u64, frame: &View<'_>) {
        let buffer = self.lender.0.lock().unwrap().take().expect("the frame was lent");
        assert_eq!(buffer.pixels.as_ptr(), frame.pixels().as_ptr());
        if self.kept.back().is_some_and(|(_, last)| last.shape != buffer.shape) {
            self.kept.clear();
        }
        self.kept.push_back((number, buffer));
        let more = self.kept.len().saturating_sub(self.most);
        self.kept.drain(..more);
    }

    fn view(&self, number: u64) -> Option<View<'_>> {
        let kept = self.kept.iter().find(|(other, _)| *other == number);
        Some(kept.expect("only frames that the host keeps are looked at").1.view())
    }
}
