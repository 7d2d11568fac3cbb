//! Frames.

use std::ffi::c_void;

use hobgoblin_macros::{element, entry, open_enum, versioned};

use super::create::hob_perception;
use super::image::{Planes, hob_pixel_format, hob_rect};
use crate::base::{error, fault_point};
use crate::executor::Executor;
use crate::ffi::base::array::Array;
use crate::ffi::base::result::hob_result;
use crate::ffi::executor::desc::hob_executor;
use crate::perception::frames::{Hints, Move, Trust};

// == Experimental: The frame ==

/// Pixels that moved since the last frame.
#[element(size = 24, last = y)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_frame_move {
    /// Where they were.
    pub source: hob_rect,
    /// The first column where they are now.
    pub x: u32,
    /// The first row where they are now.
    pub y: u32,
}

/// Whether hob_frame.dirty is trusted.
#[open_enum]
#[repr(C)]
pub enum hob_frame_trust {
    /// No: the pixels outside of the rectangles are compared. No hint can make a result wrong.
    Compare = 0,
    /// Yes: the pixels outside of the rectangles count as unchanged. A part of them, another part in each frame, is
    /// compared: pixels that stay different without a hint are found within 32 frames, if results are taken over. After
    /// the first one everything is compared, and hob_perception_statistics.is_distrusted is 1. An error with
    /// hob_perception_desc.borrows_frames: there is no copy to compare with later.
    Audit = 1,
}

/// A frame.
#[versioned(size = 80, last = reserved)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_frame {
    /// sizeof(hob_frame).
    pub struct_size: u32,
    /// Default HOB_PIXEL_FORMAT_BGRX8.
    pub format: hob_pixel_format,
    /// The first pixel. The pixels are read only during the call, unless hob_perception_desc.borrows_frames is set.
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
    /// Hints: rectangles that contain all changes since the last frame; see `trust`. NULL: not known.
    /// They may reach beyond the frame.
    pub dirty: *const hob_rect,
    /// Hints: pixels that moved since the last frame. Each move is checked before it is used. May be NULL.
    pub moves: *const hob_frame_move,
    /// Number of `dirty`. 0 with `dirty` not NULL: nothing changed. At most 65536.
    pub dirty_count: u32,
    /// Number of `moves`. At most 65536.
    pub move_count: u32,
    /// Whether `dirty` is trusted. Default HOB_FRAME_TRUST_COMPARE.
    pub trust: hob_frame_trust,
    /// Must be 0.
    pub reserved: u32,
}

/// Most rectangles of hints.
const MOST_HINTS: u32 = 1 << 16;

/// Begins a frame: compares its pixels with the last frame's, and computes pipelines in advance; see hob_prefetch.
/// `executor` may be NULL: only this thread computes. Cognitions of later queries get the executor too: it must stay
/// valid until the next frame. Another size or format than before begins anew: nothing is known of past frames.
///
///     hob_frame frame = HOB_FRAME_INIT;
///     frame.pixels = pixels, frame.width = 1920, frame.height = 1080;
///     if (hob_perception_begin_frame(eye, &frame, NULL) != HOB_RESULT_OK) fail(hob_last_error());
///
/// HOB_RESULT_OK also if cognitions fail: only the pipelines that need them are affected. HOB_RESULT_LIMIT_EXCEEDED:
/// the kept frames take more than hob_perception_desc.memory_limit. With
/// hob_perception_desc.borrows_frames, HOB_RESULT_INVALID_ARGUMENT also if `pixels` are those of a frame that must stay
/// unchanged. Does not allocate, apart from the first frames after a new pipeline, size or executor.
///
/// Threads: exclusive. Callbacks: those of the cognitions, in this thread's floating-point environment, `perceive` also
/// on threads of the executor. Inside them all calls on this perception return HOB_RESULT_BUSY, const ones too.
#[entry(exclusive, nullable(executor), experimental)]
pub extern "C" fn hob_perception_begin_frame(
    perception: *mut hob_perception,
    frame: *const hob_frame,
    executor: *const hob_executor,
) -> hob_result {
    let place = executor.map_or(std::ptr::null(), |executor| executor.as_ptr());
    // A clone, so that the frame can continue if the handle is destroyed inside it.
    let executor = executor.map_or_else(|| Ok(Executor::inline()), |executor| executor.read(|all| Ok(all.clone())))?;
    let trust = match frame.trust.check("hob_frame.trust")? {
        hob_frame_trust::Audit => Trust::Audit,
        _ => Trust::Compare,
    };
    if frame.dirty_count > MOST_HINTS || frame.move_count > MOST_HINTS {
        return Err(error!(
            InvalidArgument,
            "more than {MOST_HINTS} dirty rectangles or moves: pass fewer, larger ones"
        ));
    }
    let planes = Planes {
        format: frame.format,
        pixels: frame.pixels,
        width: frame.width,
        height: frame.height,
        stride: frame.stride,
        chroma: frame.chroma,
        chroma_stride: frame.chroma_stride,
    };
    // SAFETY: the header's contract for the fields, here and below.
    let view = unsafe { planes.view("hob_frame") }?;
    let dirty = unsafe { Array::new(frame.dirty, 0, frame.dirty_count as usize, "hob_frame.dirty") }?;
    let moves = unsafe { Array::new(frame.moves, 0, frame.move_count as usize, "hob_frame.moves") }?;
    perception.with(|cell| {
        let (rects, shifts) = (&mut cell.dirty, &mut cell.moves);
        rects.clear();
        rects.try_reserve(dirty.len())?;
        rects.extend(dirty.iter().map(crate::perception::image::Rect::from));
        shifts.clear();
        shifts.try_reserve(moves.len())?;
        shifts.extend(moves.iter().map(|shift| Move { source: shift.source.into(), x: shift.x, y: shift.y }));
        let hints = Hints { dirty: (!frame.dirty.is_null()).then_some(rects.as_slice()), moves: shifts, trust };
        fault_point!("perception.frame");
        cell.calls.begin();
        let before = cell.calls.replace_executor(place);
        let outcome = cell.perception.begin_frame(&view, &hints, &executor.for_callbacks());
        if outcome.is_err() {
            cell.calls.replace_executor(before);
        }
        outcome
    })
}
