//! Plain data: options, hints and counters.

use super::order::Order;
use crate::perception::image::Rect;

/// Most past frames that are kept beside the current one: a history has a bit for each pair of frames.
pub const MAX_HISTORY: usize = 63;

/// The settings of a frame store.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Past frames whose pixels are kept beside those of the current one: 0 to [`MAX_HISTORY`]. Default: 0.
    pub history: usize,
    /// Most bytes of pixels, masks and anchors. Default: no limit.
    pub memory_limit: usize,
    /// The order in which rows are compared. Default `None`: the order that found differences in the fewest rows.
    pub order: Option<Order>,
}

impl Default for Options {
    fn default() -> Self {
        Self { history: 0, memory_limit: usize::MAX, order: None }
    }
}

/// Pixels that moved between the last frame and this one, as the host says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Move {
    /// Where they were.
    pub source: Rect,
    /// The first column where they are now.
    pub x: u32,
    /// The first row where they are now.
    pub y: u32,
}

impl Move {
    /// Where the pixels are now.
    pub const fn target(&self) -> Rect {
        Rect::new(self.x, self.y, self.source.width, self.source.height)
    }
}

/// Whether the dirty rectangles of the hints are trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// All pixels outside the dirty rectangles are compared. The default.
    #[default]
    Compare,
    /// Pixels outside the dirty rectangles and the targets of moves are taken as unchanged. A part of them, another one
    /// for each frame, is compared. After the first difference all pixels are compared for good.
    Audit,
}

/// The host's hints about a frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hints<'a> {
    /// Rectangles outside which nothing changed. Tiles inside count as changed without a compare. `None`: unknown.
    pub dirty: Option<&'a [Rect]>,
    /// Pixels that moved. Verified before they are used.
    pub moves: &'a [Move],
    /// Whether `dirty` is trusted.
    pub trust: Trust,
}

/// Counters of a frame store. Sums since its creation, unless a field says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames.
    pub frames: u64,
    /// Frames that were compared with the frame before.
    pub compared_frames: u64,
    /// Times that the store began anew, because the size or the format of frames changed.
    pub restarts: u64,
    /// Bytes that were compared, in each of two frames.
    pub compared_bytes: u64,
    /// Bytes that were copied.
    pub copied_bytes: u64,
    /// Tiles that were compared.
    pub compared_tiles: u64,
    /// Tiles that differed, or were taken as different.
    pub dirty_tiles: u64,
    /// Tiles that differed outside the hints.
    pub lies: u64,
    /// Whether a hint was wrong, so that all pixels are compared.
    pub is_distrusted: bool,
    /// Frames whose compare was split over threads.
    pub parallel_frames: u64,
    /// Regions that did not change in the current frame.
    pub same_regions: u64,
    /// Regions that changed in the current frame.
    pub changed_regions: u64,
    /// Regions that did not change, summed over frames.
    pub total_same_regions: u64,
    /// Regions that changed, summed over frames.
    pub total_changed_regions: u64,
    /// Differences that ended the compare of a tile or a region.
    pub found_differences: u64,
    /// Rows that were compared to find them. A row lies within one tile or region.
    pub found_rows: u64,
    /// Frames that were compared in each [`Order`].
    pub frames_by_order: [u64; 4],
}
