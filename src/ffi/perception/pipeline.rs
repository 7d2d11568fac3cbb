//! Pipelines.

use std::ffi::c_void;

use hobgoblin_macros::{element, entry, open_enum, versioned};

use super::cognition::hob_cognition_id;
use super::create::hob_perception;
use super::image::hob_rect;
use crate::base::{Id, Result, error, try_collect_all};
use crate::ffi::base::array::{Array, bytes};
use crate::ffi::base::result::hob_result;
use crate::ffi::base::text::hob_str;
use crate::perception::{MAX_INPUTS, MAX_STEPS, PipelineOptions, Prefetch, Step};

// == Experimental: Pipelines ==

/// A pipeline of a perception.
/// All zero is no pipeline.
#[element(size = 8, last = generation)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_perception_pipeline_id {
    /// Its place, from 1 on; 0 is no pipeline.
    pub index1: u32,
    /// Distinguishes it from earlier pipelines at that place.
    pub generation: u32,
}

impl From<hob_perception_pipeline_id> for Id {
    fn from(id: hob_perception_pipeline_id) -> Self {
        Self { index1: id.index1, generation: id.generation }
    }
}

impl From<Id> for hob_perception_pipeline_id {
    fn from(id: Id) -> Self {
        Self { index1: id.index1, generation: id.generation }
    }
}

/// Whether a pipeline is computed when a frame begins.
#[open_enum]
#[repr(C)]
pub enum hob_prefetch {
    /// If it was asked for in most of the last frames.
    Profile = 0,
    /// Always.
    Always = 1,
    /// Never: only when it is asked for.
    Never = 2,
}

/// A step of a pipeline: a cognition, and what it reads.
#[element(size = 48, last = reserved)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_perception_step {
    /// The cognition.
    pub cognition: hob_cognition_id,
    /// The region that it reads, in the image of each input. All zero: the whole images. With HOB_PIXEL_FORMAT_NV12,
    /// `x` and `y` are even.
    pub region: hob_rect,
    /// Bytes for hob_cognition_call.parameters; copied. May be NULL if `parameters_size` is 0.
    pub parameters: *const c_void,
    /// Bytes of `parameters`: at most 1 MiB.
    pub parameters_size: usize,
    /// For a step that reads the frame: the largest difference of a channel that is no change, 0 to 255. Default 0. For
    /// lossy video. The step then sees the pixels of the last change, so that slow drift does not add up.
    pub tolerance: u32,
    /// Must be 0.
    pub reserved: u32,
}

/// Parameters of a pipeline.
#[versioned(size = 72, last = step_stride)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_perception_pipeline_desc {
    /// sizeof(hob_perception_pipeline_desc).
    pub struct_size: u32,
    /// Whether it is computed when a frame begins. Default HOB_PREFETCH_PROFILE.
    pub prefetch: hob_prefetch,
    /// Its name, for messages and statistics. Default empty.
    pub name: hob_str,
    /// The name of the state that it is part of, for statistics. Default empty.
    pub state: hob_str,
    /// Pipelines whose results are the inputs of the first step. NULL: the frame. They may be removed before this one.
    pub inputs: *const hob_perception_pipeline_id,
    /// Number of inputs: 0 to 8.
    pub input_count: u32,
    /// Number of steps: 1 to 64.
    pub step_count: u32,
    /// The steps. Each one reads the result of the step before it. Copied.
    pub steps: *const hob_perception_step,
    /// Bytes from one step to the next: sizeof(hob_perception_step). Default 0: its first released size.
    pub step_stride: usize,
}

impl hob_prefetch {
    fn prefetch(self) -> Result<Prefetch> {
        Ok(match self.check("prefetch")? {
            Self::Always => Prefetch::Always,
            Self::Never => Prefetch::Never,
            _ => Prefetch::Profile,
        })
    }
}

/// Adds a pipeline.
/// It can be asked for from the next frame on; until then queries give HOB_RESULT_NO_CONSENSUS. Equal steps at the
/// beginning of pipelines are computed once. On success `*out_pipeline` is its id.
///
///     hob_perception_step steps[2] = {0};
///     steps[0].cognition = threshold;
///     steps[0].region.x = 90, steps[0].region.y = 171, steps[0].region.width = 48, steps[0].region.height = 16;
///     steps[1].cognition = reader;
///     hob_perception_pipeline_desc desc = HOB_PERCEPTION_PIPELINE_DESC_INIT;
///     desc.name = HOB_STR("health");
///     desc.steps = steps;
///     desc.step_stride = sizeof steps[0];
///     desc.step_count = 2;
///     if (hob_perception_add_pipeline(eye, &desc, &health) != HOB_RESULT_OK) fail(hob_last_error());
///
/// HOB_RESULT_NOT_FOUND: there is no such cognition, or no such pipeline. A region outside of the frame is a failure of
/// this pipeline only, which its queries report. Threads: exclusive.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_perception_add_pipeline(
    perception: *mut hob_perception,
    desc: *const hob_perception_pipeline_desc,
    out_pipeline: *mut hob_perception_pipeline_id,
) -> hob_result {
    let prefetch = desc.prefetch.prefetch()?;
    let (step_count, input_count) = (desc.step_count as usize, desc.input_count as usize);
    if step_count == 0 || step_count > MAX_STEPS || input_count > MAX_INPUTS {
        return Err(error!(
            InvalidArgument,
            "{step_count} steps and {input_count} inputs: a pipeline has 1 to {MAX_STEPS} steps and up to {MAX_INPUTS} inputs"
        ));
    }
    // SAFETY: the header's contract for the fields, here and below.
    let name = unsafe { desc.name.argument("hob_perception_pipeline_desc.name") }.text()?;
    let state = unsafe { desc.state.argument("hob_perception_pipeline_desc.state") }.text()?;
    let inputs = unsafe { Array::new(desc.inputs, 0, input_count, "hob_perception_pipeline_desc.inputs") }?;
    let inputs = try_collect_all(inputs.iter().map(|id| Ok(Id::from(id))))?;
    let steps = unsafe { Array::new(desc.steps, desc.step_stride, step_count, "hob_perception_pipeline_desc.steps") }?;
    let steps = try_collect_all(steps.iter().enumerate().map(|(at, step)| {
        let tolerance = u8::try_from(step.tolerance)
            .map_err(|_| error!(InvalidArgument, "steps[{at}].tolerance is {}: it must be 0 to 255", step.tolerance))?;
        let parameters = unsafe { bytes(step.parameters, step.parameters_size, "hob_perception_step.parameters") }?;
        Ok(Step { cognition: step.cognition.into(), part: step.region.into(), tolerance, parameters })
    }))?;
    let options = PipelineOptions { name, state, inputs: &inputs, steps: &steps, prefetch };
    let id = perception.with(|cell| cell.perception.add_pipeline(&options))?;
    out_pipeline.write(id.into());
    Ok(())
}

/// Removes a pipeline, and the steps that only it has.
/// HOB_RESULT_NOT_FOUND: there is no such pipeline. Threads: exclusive. Callbacks: hob_cognition_desc.release_value.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_perception_remove_pipeline(
    perception: *mut hob_perception,
    pipeline: hob_perception_pipeline_id,
) -> hob_result {
    perception.with(|cell| {
        cell.calls.begin();
        cell.perception.remove_pipeline(pipeline.into())
    })
}

/// Sets whether a pipeline is computed when a frame begins.
/// HOB_RESULT_NOT_FOUND: there is no such pipeline. Threads: exclusive.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_perception_set_prefetch(
    perception: *mut hob_perception,
    pipeline: hob_perception_pipeline_id,
    prefetch: hob_prefetch,
) -> hob_result {
    let prefetch = prefetch.prefetch()?;
    perception.with(|cell| cell.perception.set_prefetch(pipeline.into(), prefetch))
}
