//! Parts of a graphics state: vertex input, stencil and colour targets.

use hobgoblin_macros::element;

use super::graphics_enums::{
    hob_pipeline_blend_factor, hob_pipeline_blend_op, hob_pipeline_compare, hob_pipeline_stencil_op, known, number,
};
use crate::base::{Result, error};
use crate::pipeline::graphics::{Blend, ColorTarget, StencilFace};

/// A vertex buffer.
#[element(size = 12, last = step_rate)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_pipeline_vertex_buffer {
    /// Its slot (Direct3D, WebGPU) or binding (Vulkan).
    pub slot: u32,
    /// Bytes from one element to the next.
    pub stride: u32,
    /// Instances per element. 0: one element per vertex. UINT32_MAX: the first element for all.
    pub step_rate: u32,
}

/// A vertex attribute.
#[element(size = 16, last = format)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_pipeline_vertex_attribute {
    /// Its location in the vertex shader, or the host's number of a semantic.
    pub location: u32,
    /// Slot of its vertex buffer.
    pub slot: u32,
    /// Bytes from the begin of the buffer's element.
    pub offset: u32,
    /// Format: a number of the graphics API, such as a VkFormat or a DXGI_FORMAT.
    pub format: u32,
}

/// The stencil test of one side of triangles.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_pipeline_stencil_face {
    /// The comparison of the reference with the stored value. Default HOB_PIPELINE_COMPARE_ALWAYS.
    pub compare: hob_pipeline_compare,
    /// If the comparison fails. Default HOB_PIPELINE_STENCIL_OP_KEEP, as for the others.
    pub fail: hob_pipeline_stencil_op,
    /// If the comparison passes and the depth test fails.
    pub depth_fail: hob_pipeline_stencil_op,
    /// If both pass.
    pub pass: hob_pipeline_stencil_op,
    /// The bits that are compared. Default 255.
    pub read_mask: u32,
    /// The bits that are written. Default 255.
    pub write_mask: u32,
}

/// A colour target.
#[element(size = 36, last = alpha_op)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_pipeline_color_target {
    /// Format: a number of the graphics API. 0: the target is unused, and the fields below have no effect.
    pub format: u32,
    /// Channels that are written: 1 red, 2 green, 4 blue, 8 alpha. 15: all.
    pub write_mask: u32,
    /// 1: blend with the fields below. 0: the source replaces the destination, and the fields below have no effect.
    pub blend: u32,
    /// Factor of the source's colour.
    pub source_color: hob_pipeline_blend_factor,
    /// Factor of the destination's colour.
    pub destination_color: hob_pipeline_blend_factor,
    /// How both colours are combined.
    pub color_op: hob_pipeline_blend_op,
    /// Factor of the source's alpha.
    pub source_alpha: hob_pipeline_blend_factor,
    /// Factor of the destination's alpha.
    pub destination_alpha: hob_pipeline_blend_factor,
    /// How both alphas are combined.
    pub alpha_op: hob_pipeline_blend_op,
}

/// The faces of `hob_pipeline_graphics_state` by default.
pub const FACE: hob_pipeline_stencil_face = hob_pipeline_stencil_face {
    compare: hob_pipeline_compare::Always,
    fail: hob_pipeline_stencil_op::Keep,
    depth_fail: hob_pipeline_stencil_op::Keep,
    pass: hob_pipeline_stencil_op::Keep,
    read_mask: 255,
    write_mask: 255,
};

/// A switch: 0 or 1.
pub fn switch(number: u32, what: &str) -> Result<bool> {
    match number {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(error!(InvalidArgument, "{what} is {number}: pass 0 or 1")),
    }
}

/// The stencil test of a side. `what` names its field.
pub fn face(face: &hob_pipeline_stencil_face, what: &str) -> Result<StencilFace> {
    Ok(StencilFace {
        compare: known(face.compare.0, what)?,
        fail: known(face.fail.0, what)?,
        depth_fail: known(face.depth_fail.0, what)?,
        pass: known(face.pass.0, what)?,
        read_mask: face.read_mask,
        write_mask: face.write_mask,
    })
}

/// A colour target.
pub fn color_target(target: &hob_pipeline_color_target) -> Result<ColorTarget> {
    let blend = Blend {
        source_color: known(target.source_color.0, "source_color")?,
        destination_color: known(target.destination_color.0, "destination_color")?,
        color_op: known(target.color_op.0, "color_op")?,
        source_alpha: known(target.source_alpha.0, "source_alpha")?,
        destination_alpha: known(target.destination_alpha.0, "destination_alpha")?,
        alpha_op: known(target.alpha_op.0, "alpha_op")?,
    };
    let is_blended = switch(target.blend, "hob_pipeline_color_target.blend")?;
    Ok(ColorTarget { format: target.format, write_mask: target.write_mask, blend: is_blended.then_some(blend) })
}

impl From<&ColorTarget> for hob_pipeline_color_target {
    fn from(target: &ColorTarget) -> Self {
        let blend = target.blend.unwrap_or_default();
        Self {
            format: target.format,
            write_mask: target.write_mask,
            blend: target.blend.is_some().into(),
            source_color: hob_pipeline_blend_factor(number(blend.source_color)),
            destination_color: hob_pipeline_blend_factor(number(blend.destination_color)),
            color_op: hob_pipeline_blend_op(number(blend.color_op)),
            source_alpha: hob_pipeline_blend_factor(number(blend.source_alpha)),
            destination_alpha: hob_pipeline_blend_factor(number(blend.destination_alpha)),
            alpha_op: hob_pipeline_blend_op(number(blend.alpha_op)),
        }
    }
}

impl From<&StencilFace> for hob_pipeline_stencil_face {
    fn from(face: &StencilFace) -> Self {
        Self {
            compare: hob_pipeline_compare(number(face.compare)),
            fail: hob_pipeline_stencil_op(number(face.fail)),
            depth_fail: hob_pipeline_stencil_op(number(face.depth_fail)),
            pass: hob_pipeline_stencil_op(number(face.pass)),
            read_mask: face.read_mask,
            write_mask: face.write_mask,
        }
    }
}
