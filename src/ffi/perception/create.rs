//! The handle: create and destroy.

use hobgoblin_macros::{entry, opaque, open_enum, versioned};

use super::borrowed::BorrowedFrames;
use super::host_cognition::{Calls, HostCognition};
use crate::balance::Policy;
use crate::base::{Result, Shared, try_box};
use crate::ffi::base::handle;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::Versioned;
use crate::perception::frames::{self, Move, Order};
use crate::perception::image::Rect;
use crate::perception::{Choice, Options, Perception};

// == Experimental: Create and destroy ==

/// A perception.
/// A handle: see "Handles" in base.h.
#[opaque(
    PerceptionCell,
    tag = b"hobpercp",
    busy = "a frame, a query or an edit is running, on another thread or around this callback; call the perception between them"
)]
pub struct hob_perception {
    _private: [u8; 0],
}

/// A perception, and how its cognitions are called.
pub struct PerceptionCell {
    pub perception: Perception<HostCognition>,
    pub calls: Shared<Calls>,
    /// The hints of a frame.
    pub dirty: Vec<Rect>,
    pub moves: Vec<Move>,
}

/// Whether something is done.
#[open_enum]
#[repr(C)]
pub enum hob_perception_choice {
    /// If measurements say so.
    Measured = 0,
    /// Always.
    Always = 1,
    /// Never.
    Never = 2,
}

/// The order in which the rows of regions are compared with those of the last frame.
#[open_enum]
#[repr(C)]
pub enum hob_compare_order {
    /// The order that found differences in the fewest rows.
    Measured = 0,
    /// From the top to the bottom.
    TopDown = 1,
    /// From both ends to the middle.
    EndsIn = 2,
    /// From the middle to both ends.
    MiddleOut = 3,
    /// By the reversed bits of the row's number.
    BitReversed = 4,
}

/// Parameters of a perception.
#[versioned(size = 48, last = borrows_frames)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_perception_desc {
    /// sizeof(hob_perception_desc).
    pub struct_size: u32,
    /// Past frames whose pixels are kept, at most 63. Queries that ask for more frames raise it, unless
    /// `borrows_frames` is set. 0: the default, 2.
    #[default(2)]
    pub history: u32,
    /// Limit of the bytes of kept frames. Default 0: no limit.
    pub memory_limit: u64,
    /// Whether results are taken over from the last frame where nothing changed. Default
    /// HOB_PERCEPTION_CHOICE_MEASURED: by the measured time of whole frames, queries included.
    pub graft: hob_perception_choice,
    /// Whether pipelines are computed when a frame begins. Default HOB_PERCEPTION_CHOICE_MEASURED: those that were
    /// asked for in most of the last frames. For HOB_PERCEPTION_CHOICE_ALWAYS, all but those with HOB_PREFETCH_NEVER.
    pub prefetch: hob_perception_choice,
    /// The order of compares. Default HOB_COMPARE_ORDER_MEASURED.
    pub compare_order: hob_compare_order,
    /// Prefetch is omitted if few pipelines remain to be computed.
    /// Few are at most 1 / `prefetch_divisor` of the pipelines that are prefetched, or of the executor's threads; both
    /// divisions round down. 0: the default, 3. UINT32_MAX: it is never omitted.
    #[default(3)]
    pub prefetch_divisor: u32,
    /// Share of a frame's steps that are computed again, to find wrong regions and flags: 0 to 1. Default 0.
    /// The results of a cognition with a wrong declaration are not taken over any more. With 0.02 each step is checked
    /// once in about 50 frames.
    pub audit_share: f64,
    /// 1: the seed's table chooses whether results are taken over. 0: accounts do; see balance.h. Default 0.
    pub uses_table: u32,
    /// 1: frames are borrowed, not copied (zero-copy). In each call, the pixels of the last `history` + 1 frames of the
    /// same size and format, the new one included, must be readable and unchanged. Rotate `history` + 1 buffers, or one
    /// more if the next frame is written while queries run. Default 0: frames are copied, and their memory may be
    /// reused after hob_perception_begin_frame. docs/perception.md has an example.
    pub borrows_frames: u32,
}

impl hob_perception_choice {
    fn choice(self, what: &'static str) -> Result<Choice> {
        Ok(match self.check(what)? {
            Self::Always => Choice::Always,
            Self::Never => Choice::Never,
            _ => Choice::Measured,
        })
    }
}

impl hob_perception_desc {
    fn options(&self) -> Result<Options> {
        let order = match self.compare_order.check("hob_perception_desc.compare_order")? {
            hob_compare_order::TopDown => Some(Order::TopDown),
            hob_compare_order::EndsIn => Some(Order::EndsIn),
            hob_compare_order::MiddleOut => Some(Order::MiddleOut),
            hob_compare_order::BitReversed => Some(Order::BitReversed),
            _ => None,
        };
        let memory_limit = match self.memory_limit {
            0 => usize::MAX,
            limit => usize::try_from(limit).unwrap_or(usize::MAX),
        };
        Ok(Options {
            frames: frames::Options { history: self.history as usize, memory_limit, order },
            graft: self.graft.choice("hob_perception_desc.graft")?,
            policy: if self.uses_table == 0 { Policy::Accounts } else { Policy::Table },
            prefetch: self.prefetch.choice("hob_perception_desc.prefetch")?,
            prefetch_divisor: if self.prefetch_divisor == u32::MAX { 0 } else { self.prefetch_divisor },
            audit_share: self.audit_share,
        })
    }
}

/// Creates a perception without cognitions.
/// `desc` may be NULL: defaults. On success `*out_perception` is the caller's to destroy.
///
///     hob_perception *eye = NULL;
///     if (hob_perception_create(NULL, &eye) != HOB_RESULT_OK) fail(hob_last_error());
///
/// Threads: any.
#[entry(any, nullable(desc), experimental)]
#[must_use]
pub extern "C" fn hob_perception_create(
    desc: *const hob_perception_desc,
    out_perception: *mut *mut hob_perception,
) -> hob_result {
    let desc = desc.unwrap_or_else(hob_perception_desc::defaults);
    let mut perception = Perception::new(desc.options()?)?;
    if desc.borrows_frames != 0 {
        // SAFETY: the header's contract for the field.
        let frames = unsafe { BorrowedFrames::new(desc.history as usize) }?;
        perception.borrow_frames(try_box(frames)?);
    }
    let cell =
        PerceptionCell { perception, calls: Shared::try_new(Calls::default())?, dirty: Vec::new(), moves: Vec::new() };
    out_perception.write(handle::create::<hob_perception>(cell)?);
    Ok(())
}

/// Destroys a perception with its cognitions; NULL is allowed.
/// Owned values are released, then each cognition's `user_data`. Inside its own callbacks the call does nothing, and
/// hob_last_error says so. Threads: no call on it may run on another thread.
#[entry(destroy, experimental)]
pub extern "C" fn hob_perception_destroy(perception: *mut hob_perception) {
    perception.read(|_| Ok(()))?;
}
