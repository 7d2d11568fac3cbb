//! Frames in memory of the host, which are not copied.

use crate::perception::image::View;

/// Knows where the host keeps the pixels of the last frames. So many as the history are kept beside the present one, and at
/// least one.
pub trait HostFrames: Send + Sync {
    /// Note where the pixels of the next frame are. The oldest one is forgotten; with another shape, all earlier ones.
    fn keep(&mut self, number: u64, frame: &View<'_>);

    /// The pixels of a kept frame. `None`: it is not kept.
    fn view(&self, number: u64) -> Option<View<'_>>;
}
