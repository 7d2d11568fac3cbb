//! Cognitions of the host.

use std::ffi::{c_char, c_void};

use hobgoblin_macros::{element, entry, versioned};

use super::create::hob_perception;
use super::host_cognition::HostCognition;
use super::image::hob_pixel_format;
use crate::base::{Id, Result, error};
use crate::ffi::base::argument::check_flags;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::text::hob_str;
use crate::ffi::base::value::hob_value;
use crate::ffi::executor::desc::hob_executor;
use crate::perception::{Action, Picture, Traits};

// == Experimental: Cognitions of the host ==

/// A cognition of a perception.
/// All zero is no cognition.
#[element(size = 8, last = generation)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_cognition_id {
    /// Its place, from 1 on; 0 is no cognition.
    pub index1: u32,
    /// Distinguishes it from earlier cognitions at that place.
    pub generation: u32,
}

impl From<hob_cognition_id> for Id {
    fn from(id: hob_cognition_id) -> Self {
        Self { index1: id.index1, generation: id.generation }
    }
}

impl From<Id> for hob_cognition_id {
    fn from(id: Id) -> Self {
        Self { index1: id.index1, generation: id.generation }
    }
}

/// hob_cognition_desc.flags: the result depends only on the regions of its inputs, and on its parameters.
/// Without it the cognition runs in every frame in which its result is needed.
pub const HOB_COGNITION_PURE: u32 = 1;
/// hob_cognition_desc.flags: the result does not depend on where the region is.
/// With HOB_COGNITION_PURE, the results of pixels that moved are taken over from their old place.
pub const HOB_COGNITION_INVARIANT: u32 = 2;
/// hob_cognition_desc.flags: it makes an image.
pub const HOB_COGNITION_IMAGE: u32 = 4;
/// hob_cognition_desc.flags: each pixel of its image depends only on the pixels of the inputs at the same place.
/// "The same place" is a square of `scale` times `scale` pixels, and `support` pixels around it. Then later steps run
/// only if pixels changed on which their own region depends. Such a cognition has no value: it is not passed on.
pub const HOB_COGNITION_LOCAL: u32 = 8;
/// hob_cognition_desc.flags: the value is a handle of the host that the perception owns.
/// It is passed to `release_value` when no kept frame has it any more. It is not all zero, and each run makes another
/// one.
pub const HOB_COGNITION_OWNED: u32 = 16;

/// The region of an input that a running cognition reads.
#[element(size = 64, last = reserved)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_cognition_input {
    /// The first pixel of the region. NULL: the input has no image.
    pub pixels: *const c_void,
    /// For HOB_PIXEL_FORMAT_NV12: its first pair of colour differences. Otherwise NULL.
    pub chroma: *const c_void,
    /// Bytes from one row to the next.
    pub stride: usize,
    /// Bytes from one row of `chroma` to the next.
    pub chroma_stride: usize,
    /// The format of the pixels.
    pub format: hob_pixel_format,
    /// Columns of the region.
    pub width: u32,
    /// Rows of the region.
    pub height: u32,
    /// Columns to the left of the region that can be read too. At most hob_cognition_desc.support, as all four.
    pub left: u32,
    /// Rows above it.
    pub top: u32,
    /// Columns to the right of it.
    pub right: u32,
    /// Rows below it.
    pub bottom: u32,
    /// Must be 0.
    pub reserved: u32,
}

/// Inputs and results of a running cognition: the argument of hob_cognition_desc.perceive.
/// All pointers are valid during the call.
#[versioned(size = 136, last = message)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_cognition_call {
    /// sizeof(hob_cognition_call) of the library.
    pub struct_size: u32,
    /// Number of inputs, at least 1.
    pub input_count: u32,
    /// Its inputs. A newer library's elements may be larger: go from one to the next by `input_stride`.
    pub inputs: *const hob_cognition_input,
    /// Bytes from one input to the next.
    pub input_stride: usize,
    /// The values of the inputs; all zero for the frame.
    pub values: *const hob_value,
    /// hob_perception_step.parameters.
    pub parameters: *const c_void,
    /// Bytes of `parameters`.
    pub parameters_size: usize,
    /// The number of the frame, from 1 on. It may be a past one.
    pub frame: u64,
    /// An executor for loops inside the cognition: that of hob_perception_begin_frame. NULL: other cognitions use it
    /// now.
    pub executor: *const hob_executor,
    /// The image to write, for HOB_COGNITION_IMAGE. Its bytes are not those of the last run. Otherwise NULL.
    pub image: *mut c_void,
    /// Its plane of colour differences, for HOB_PIXEL_FORMAT_NV12. Otherwise NULL.
    pub image_chroma: *mut c_void,
    /// Bytes from one row of `image` to the next.
    pub image_stride: usize,
    /// Bytes from one row of `image_chroma` to the next.
    pub image_chroma_stride: usize,
    /// The format of `image`.
    pub image_format: hob_pixel_format,
    /// Columns of `image`.
    pub image_width: u32,
    /// Rows of `image`.
    pub image_height: u32,
    /// Bytes of `message`.
    pub message_capacity: u32,
    /// The value to write. At first all zero.
    pub value: hob_value,
    /// For a failure: write the reason here, ended by NUL. At first empty.
    pub message: *mut c_char,
}

/// Parameters of a cognition.
#[versioned(size = 88, last = cost_ns)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_cognition_desc {
    /// sizeof(hob_cognition_desc).
    pub struct_size: u32,
    /// HOB_COGNITION_ bits. Default 0.
    pub flags: u32,
    /// A name for messages. Default empty.
    pub name: hob_str,
    /// Computes value and image. Must be set. HOB_RESULT_OK: they are written. Another result: it failed.
    /// Runs inside hob_perception_begin_frame and the queries: on their thread, and on threads of the executor. It may
    /// run on several threads at once, for different steps. It must not call its own perception.
    pub perceive: Option<extern "C" fn(user_data: *mut c_void, call: *mut hob_cognition_call) -> hob_result>,
    /// Passed to the callbacks.
    pub user_data: *mut c_void,
    /// Called exactly once, when the perception is destroyed, after all other callbacks. May be NULL.
    pub release: Option<extern "C" fn(user_data: *mut c_void)>,
    /// Not 0 if two values mean the same. NULL: their bytes are compared. Runs on the thread of the call.
    pub is_equal: Option<extern "C" fn(user_data: *mut c_void, one: *const hob_value, other: *const hob_value) -> u32>,
    /// For HOB_COGNITION_OWNED: releases a value. Runs on the thread of the call, and in hob_perception_remove_pipeline
    /// and hob_perception_destroy.
    pub release_value: Option<extern "C" fn(user_data: *mut c_void, value: *const hob_value)>,
    /// Pixels around its region that it also reads, where there are some. Default 0.
    pub support: u32,
    /// For HOB_COGNITION_LOCAL: pixels of the input, in each direction, for one pixel of the image. Default 0: 1.
    pub scale: u32,
    /// For HOB_COGNITION_IMAGE: its format. Default 0: that of the first input with an image.
    pub image_format: hob_pixel_format,
    /// For HOB_COGNITION_IMAGE: its columns. Default 0: those of the region, divided by `scale` and rounded down. Must
    /// be 0 with HOB_COGNITION_LOCAL.
    pub image_width: u32,
    /// For HOB_COGNITION_IMAGE: its rows. Default 0: as `image_width`.
    pub image_height: u32,
    /// Expected duration of a run in nanoseconds, until one was measured at this size of frames. Default 0: not known.
    /// Prefetch then splits the steps over threads as well in the first frames as later. A past run of the host has it
    /// in hob_perception_pipeline_statistics.mean_ns.
    pub cost_ns: u32,
}

const KNOWN: u32 =
    HOB_COGNITION_PURE | HOB_COGNITION_INVARIANT | HOB_COGNITION_IMAGE | HOB_COGNITION_LOCAL | HOB_COGNITION_OWNED;
/// Most pixels around a region.
const MAX_SUPPORT: u32 = 1 << 15;

impl hob_cognition_desc {
    fn traits(&self) -> Result<Traits> {
        let has = |flag| self.flags & flag != 0;
        check_flags("hob_cognition_desc", self.flags, KNOWN)?;
        let makes_image = has(HOB_COGNITION_IMAGE);
        if has(HOB_COGNITION_LOCAL) && !makes_image {
            return Err(error!(InvalidArgument, "HOB_COGNITION_LOCAL is about an image: set HOB_COGNITION_IMAGE too"));
        }
        if has(HOB_COGNITION_LOCAL) && has(HOB_COGNITION_OWNED) {
            return Err(error!(InvalidArgument, "HOB_COGNITION_LOCAL has no value: leave HOB_COGNITION_OWNED out"));
        }
        if has(HOB_COGNITION_OWNED) && self.release_value.is_none() {
            return Err(error!(InvalidArgument, "HOB_COGNITION_OWNED: set hob_cognition_desc.release_value"));
        }
        if self.support > MAX_SUPPORT || self.scale > MAX_SUPPORT {
            return Err(error!(InvalidArgument, "support and scale must be at most {MAX_SUPPORT}"));
        }
        let format = self.image_format.format("hob_cognition_desc.image_format")?;
        let size = (self.image_width, self.image_height);
        if has(HOB_COGNITION_LOCAL) && size != (0, 0) {
            return Err(error!(
                InvalidArgument,
                "the image of HOB_COGNITION_LOCAL has the size of its region: leave image_width and image_height 0"
            ));
        }
        Ok(Traits {
            is_pure: has(HOB_COGNITION_PURE),
            is_invariant: has(HOB_COGNITION_INVARIANT),
            support: self.support,
            is_local: has(HOB_COGNITION_LOCAL),
            scale: if has(HOB_COGNITION_LOCAL) { self.scale.max(1) } else { 1 },
            picture: makes_image.then_some(Picture { format, size }),
            is_owned: has(HOB_COGNITION_OWNED),
            cost_ns: self.cost_ns,
        })
    }
}

/// Adds a cognition of the host.
/// On success `*out_cognition` is its id, and `user_data` belongs to the perception.
///
///     hob_cognition_desc desc = HOB_COGNITION_DESC_INIT;
///     desc.name = HOB_STR("read health");
///     desc.flags = HOB_COGNITION_PURE;
///     desc.perceive = read_health;
///     if (hob_perception_add_cognition(eye, &desc, &reader) != HOB_RESULT_OK) fail(hob_last_error());
///
/// Threads: exclusive.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_perception_add_cognition(
    perception: *mut hob_perception,
    desc: *const hob_cognition_desc,
    out_cognition: *mut hob_cognition_id,
) -> hob_result {
    let Some(perceive) = desc.perceive else {
        return Err(error!(InvalidArgument, "hob_cognition_desc.perceive is NULL: set it"));
    };
    let traits = desc.traits()?;
    // SAFETY: the header's contract for the field.
    let name = unsafe { desc.name.argument("hob_cognition_desc.name") }.text()?;
    let id = perception.with(|cell| {
        let (host, owner) = HostCognition::new(&desc, perceive, &cell.calls)?;
        let id = cell.perception.add_cognition(name, Action::Host(host), traits)?;
        owner.own();
        Ok::<_, crate::base::Error>(id)
    })?;
    out_cognition.write(id.into());
    Ok(())
}
