//! Pictures for debugging.

use hobgoblin_macros::entry;

use super::create::hob_perception;
use super::image::hob_image;
use crate::ffi::base::result::hob_result;

// == Experimental: Pictures for debugging ==

/// Draws over a picture of the present frame: an outline of each watched region, and counts.
/// `target` has the frame's size and HOB_PIXEL_FORMAT_BGRX8 or HOB_PIXEL_FORMAT_BGRA8. Its `pixels` are written to, so
/// pass a copy of the frame. Green: the region did not change. Red: it changed. Yellow: it did not change, and overlaps
/// a region that changed. docs/perception.md explains the counts.
///
///     hob_image picture = HOB_IMAGE_INIT;
///     picture.pixels = copy_of_frame, picture.width = 320, picture.height = 200;
///     if (hob_perception_draw_overlay(eye, &picture) == HOB_RESULT_OK) show(&picture);
///
/// HOB_RESULT_NOT_FOUND: there is no frame yet. HOB_RESULT_INVALID_ARGUMENT: `target` has another format or size. Does
/// not allocate. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_perception_draw_overlay(
    perception: *const hob_perception,
    target: *const hob_image,
) -> hob_result {
    // SAFETY: the caller lets the library write to the pixels, as the header says.
    let mut target = unsafe { target.view_mut("target") }?;
    perception.perception.draw_overlay(&mut target)
}
