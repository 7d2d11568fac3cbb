//! Graphics state of the library's own schema.

use std::ffi::{c_char, c_void};

use hobgoblin_macros::{entry, versioned};

use super::graphics_enums::{
    hob_pipeline_compare, hob_pipeline_cull_mode, hob_pipeline_fill_mode, hob_pipeline_front_face,
    hob_pipeline_primitive_restart, hob_pipeline_topology, known, number,
};
use super::graphics_parts::{
    FACE, color_target, face, hob_pipeline_color_target, hob_pipeline_stencil_face, hob_pipeline_vertex_attribute,
    hob_pipeline_vertex_buffer, switch,
};
use crate::base::{Result, error, try_collect_all};
use crate::ffi::base::array::{Array, Element};
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::Versioned;
use crate::pipeline::graphics::{
    DepthTest, GraphicsState, MAX_ATTRIBUTES, MAX_COLOR_TARGETS, MAX_VERTEX_BUFFERS, Multisample, Raster,
    VertexAttribute, VertexBuffer,
};

/// The state of a graphics pipeline, everything but its shaders.
#[versioned(size = 232, last = color_target_count)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_pipeline_graphics_state {
    /// sizeof(hob_pipeline_graphics_state).
    pub struct_size: u32,
    /// How vertices form primitives. Default HOB_PIPELINE_TOPOLOGY_TRIANGLE_LIST.
    #[initial(hob_pipeline_topology::TriangleList)]
    pub topology: hob_pipeline_topology,
    /// Whether the largest index restarts a strip. Default HOB_PIPELINE_PRIMITIVE_RESTART_OFF.
    pub primitive_restart: hob_pipeline_primitive_restart,
    /// Control points of a patch, 1 to 32. Default 0, for all topologies except HOB_PIPELINE_TOPOLOGY_PATCH_LIST.
    pub patch_control_points: u32,
    /// The triangles that are not drawn. Default HOB_PIPELINE_CULL_MODE_NONE.
    pub cull: hob_pipeline_cull_mode,
    /// The winding of triangles that face the viewer. Default HOB_PIPELINE_FRONT_FACE_COUNTER_CLOCKWISE.
    pub front_face: hob_pipeline_front_face,
    /// How triangles are drawn. Default HOB_PIPELINE_FILL_MODE_FILL.
    pub fill: hob_pipeline_fill_mode,
    /// 1: clamp depth instead of clipping at the near and the far plane. Default 0.
    pub depth_clamp: u32,
    /// Constant depth bias. Default 0.
    pub depth_bias: f64,
    /// Largest depth bias. Default 0: no limit.
    pub depth_bias_clamp: f64,
    /// Depth bias per slope. Default 0.
    pub depth_bias_slope: f64,
    /// Samples per pixel: 1, 2, 4, 8, 16 or 32. Default 1.
    #[default(1)]
    pub sample_count: u32,
    /// The samples that are written. Default UINT32_MAX: all.
    #[default(u32::MAX)]
    pub sample_mask: u32,
    /// 1: alpha selects samples. Default 0.
    pub alpha_to_coverage: u32,
    /// Format of the depth-stencil target: a number of the graphics API. Default 0: no target.
    pub depth_stencil_format: u32,
    /// 1: test depth. Default 0: every fragment passes, and no depth is written.
    pub depth_test: u32,
    /// 1: write the depth of fragments that pass. Without effect if `depth_test` is 0. Default 0.
    pub depth_write: u32,
    /// The comparison that passes. Without effect if `depth_test` is 0. Default HOB_PIPELINE_COMPARE_LESS.
    #[initial(hob_pipeline_compare::Less)]
    pub depth_compare: hob_pipeline_compare,
    /// 1: test stencil. Default 0: every fragment passes, and no stencil is written.
    pub stencil_test: u32,
    /// The stencil test of triangles that face the viewer. Without effect if `stencil_test` is 0.
    #[initial(FACE)]
    pub stencil_front: hob_pipeline_stencil_face,
    /// The stencil test of triangles that face away. Without effect if `stencil_test` is 0.
    #[initial(FACE)]
    pub stencil_back: hob_pipeline_stencil_face,
    /// Bytes of push constants (root constants). Default 0.
    pub push_constant_size: u32,
    /// Must be 0.
    pub reserved: u32,
    /// The host's number for the layout of resources, such as the hash of a root signature. Default 0.
    pub layout: u64,
    /// The host's number for state that this struct lacks. Default 0.
    pub host_state: u64,
    /// Vertex buffers in any order, each slot once. May be NULL if the count is 0.
    pub vertex_buffers: *const hob_pipeline_vertex_buffer,
    /// Bytes from one buffer to the next: sizeof(hob_pipeline_vertex_buffer). Default 0: its first released size.
    pub vertex_buffer_stride: usize,
    /// Number of vertex buffers, at most 64.
    pub vertex_buffer_count: usize,
    /// Vertex attributes in any order, each location once. May be NULL if the count is 0.
    pub attributes: *const hob_pipeline_vertex_attribute,
    /// Bytes from one attribute to the next: sizeof(hob_pipeline_vertex_attribute). Default 0: its first released size.
    pub attribute_stride: usize,
    /// Number of attributes, at most 64.
    pub attribute_count: usize,
    /// Colour targets, in the order of the fragment shader's outputs. May be NULL if the count is 0.
    pub color_targets: *const hob_pipeline_color_target,
    /// Bytes from one target to the next: sizeof(hob_pipeline_color_target). Default 0: its first released size.
    pub color_target_stride: usize,
    /// Number of colour targets, at most 8.
    pub color_target_count: usize,
}

/// Encodes the state of a graphics pipeline, for hob_pipeline_desc with HOB_PIPELINE_SCHEMA_OWN.
/// Equal states have equal bytes, in any order of vertex buffers and attributes. `*out_size` receives the required
/// size. `buffer` NULL asks only for that. If `capacity` is too small, the result is HOB_RESULT_BUFFER_TOO_SMALL and
/// the buffer stays unchanged. No state takes more than 4 KiB.
///
///     char bytes[4096];
///     size_t size = 0;
///     if (hob_pipeline_encode_graphics(&state, bytes, sizeof bytes, &size) != HOB_RESULT_OK) fail(hob_last_error());
///     pipeline.schema = HOB_PIPELINE_SCHEMA_OWN;
///     pipeline.state = bytes;
///     pipeline.state_size = (uint32_t)size;
///
/// HOB_RESULT_INVALID_ARGUMENT: a value is invalid, or an attribute reads a buffer that is not listed.
/// HOB_RESULT_LIMIT_EXCEEDED: a list is too long. Threads: any.
#[entry(any, experimental)]
pub extern "C" fn hob_pipeline_encode_graphics(
    state: *const hob_pipeline_graphics_state,
    buffer: *mut c_char,
    capacity: usize,
    out_size: *mut usize,
) -> hob_result {
    // SAFETY: the header's contract for the pointers of the state.
    let bytes = unsafe { graphics_state(&state) }?.encode()?;
    buffer.fill(bytes.len(), |out| {
        out.copy_from_slice(&bytes);
        Ok(bytes.len())
    })
}

/// Decodes the state of a graphics pipeline, such as that of a hob_pipeline_job.
/// Sets the counts of the lists, and no pointers: hob_pipeline_decode_vertex_buffers,
/// hob_pipeline_decode_vertex_attributes and hob_pipeline_decode_color_targets read the lists. Fields without effect
/// have their defaults.
///
///     hob_pipeline_graphics_state state = HOB_PIPELINE_GRAPHICS_STATE_INIT;
///     hob_result result = hob_pipeline_decode_graphics(job->state, job->state_size, &state);
///     if (result != HOB_RESULT_OK) return HOB_PIPELINE_BUILT_FAILED;
///
/// HOB_RESULT_MALFORMED: the bytes are not an encoding of this library. HOB_RESULT_UNSUPPORTED: they are one of a later
/// version. Threads: any.
#[entry(any, experimental)]
pub extern "C" fn hob_pipeline_decode_graphics(
    data: *const c_void,
    size: usize,
    out_state: *mut hob_pipeline_graphics_state,
) -> hob_result {
    out_state.write((&GraphicsState::decode(data)?).into());
    Ok(())
}

/// Decodes the vertex buffers of a graphics pipeline, in the order of their slots.
/// `*out_count` receives their number. `buffers` NULL asks only for that. If `capacity` is too small, the result is
/// HOB_RESULT_BUFFER_TOO_SMALL and the array stays unchanged. Errors as for hob_pipeline_decode_graphics. Threads: any.
#[entry(any, experimental)]
pub extern "C" fn hob_pipeline_decode_vertex_buffers(
    data: *const c_void,
    size: usize,
    buffers: *mut hob_pipeline_vertex_buffer,
    buffer_stride: usize,
    capacity: usize,
    out_count: *mut usize,
) -> hob_result {
    let state = GraphicsState::decode(data)?;
    buffers.fill(
        state.vertex_buffers.iter().map(|&VertexBuffer { slot, stride, step_rate }| hob_pipeline_vertex_buffer {
            slot,
            stride,
            step_rate,
        }),
    )
}

/// Decodes the vertex attributes of a graphics pipeline, in the order of their locations.
/// As hob_pipeline_decode_vertex_buffers: `attributes` NULL asks only for the number. Threads: any.
#[entry(any, experimental)]
pub extern "C" fn hob_pipeline_decode_vertex_attributes(
    data: *const c_void,
    size: usize,
    attributes: *mut hob_pipeline_vertex_attribute,
    attribute_stride: usize,
    capacity: usize,
    out_count: *mut usize,
) -> hob_result {
    let state = GraphicsState::decode(data)?;
    attributes.fill(state.attributes.iter().map(|&VertexAttribute { location, slot, offset, format }| {
        hob_pipeline_vertex_attribute { location, slot, offset, format }
    }))
}

/// Decodes the colour targets of a graphics pipeline, in the order of the fragment shader's outputs.
/// As hob_pipeline_decode_vertex_buffers: `targets` NULL asks only for the number. Threads: any.
#[entry(any, experimental)]
pub extern "C" fn hob_pipeline_decode_color_targets(
    data: *const c_void,
    size: usize,
    targets: *mut hob_pipeline_color_target,
    target_stride: usize,
    capacity: usize,
    out_count: *mut usize,
) -> hob_result {
    let state = GraphicsState::decode(data)?;
    targets.fill(state.color_targets.iter().map(hob_pipeline_color_target::from))
}

/// The elements of a caller's list of at most `most`.
///
/// # Safety
/// `start` is NULL or points to `count` elements, `stride` bytes apart.
pub unsafe fn list<T: Element, R>(
    start: *const T,
    stride: usize,
    count: usize,
    most: usize,
    what: &str,
    take: impl FnMut(T) -> Result<R>,
) -> Result<Vec<R>> {
    if count > most {
        return Err(error!(LimitExceeded, "the state has {count} {what}: pass at most {most}"));
    }
    // SAFETY: by this function's contract.
    let array = unsafe { Array::new(start, stride, count, what) }?;
    try_collect_all(array.iter().map(take))
}

/// # Safety
/// The pointers of `state` meet the documentation of its fields.
unsafe fn graphics_state(state: &hob_pipeline_graphics_state) -> Result<GraphicsState> {
    let depth = DepthTest {
        writes: switch(state.depth_write, "depth_write")?,
        compare: known(state.depth_compare.0, "depth_compare")?,
    };
    let faces = [face(&state.stencil_front, "stencil_front")?, face(&state.stencil_back, "stencil_back")?];
    Ok(GraphicsState {
        layout: state.layout,
        host_state: state.host_state,
        push_constant_size: state.push_constant_size,
        topology: known(state.topology.0, "topology")?,
        primitive_restart: known(state.primitive_restart.0, "primitive_restart")?,
        patch_control_points: state.patch_control_points,
        raster: Raster {
            cull: known(state.cull.0, "cull")?,
            front_face: known(state.front_face.0, "front_face")?,
            fill: known(state.fill.0, "fill")?,
            depth_clamp: switch(state.depth_clamp, "depth_clamp")?,
            depth_bias: state.depth_bias,
            depth_bias_clamp: state.depth_bias_clamp,
            depth_bias_slope: state.depth_bias_slope,
        },
        multisample: Multisample {
            count: state.sample_count,
            mask: state.sample_mask,
            alpha_to_coverage: switch(state.alpha_to_coverage, "alpha_to_coverage")?,
        },
        depth_stencil_format: state.depth_stencil_format,
        depth: switch(state.depth_test, "depth_test")?.then_some(depth),
        stencil: switch(state.stencil_test, "stencil_test")?.then_some(faces),
        // SAFETY: by this function's contract, here and below.
        vertex_buffers: unsafe {
            list(
                state.vertex_buffers,
                state.vertex_buffer_stride,
                state.vertex_buffer_count,
                MAX_VERTEX_BUFFERS,
                "vertex buffers",
                |hob_pipeline_vertex_buffer { slot, stride, step_rate, .. }| {
                    Ok(VertexBuffer { slot, stride, step_rate })
                },
            )
        }?,
        attributes: unsafe {
            list(
                state.attributes,
                state.attribute_stride,
                state.attribute_count,
                MAX_ATTRIBUTES,
                "vertex attributes",
                |hob_pipeline_vertex_attribute { location, slot, offset, format, .. }| {
                    Ok(VertexAttribute { location, slot, offset, format })
                },
            )
        }?,
        color_targets: unsafe {
            list(
                state.color_targets,
                state.color_target_stride,
                state.color_target_count,
                MAX_COLOR_TARGETS,
                "colour targets",
                |target: hob_pipeline_color_target| color_target(&target),
            )
        }?,
    })
}

impl From<&GraphicsState> for hob_pipeline_graphics_state {
    fn from(state: &GraphicsState) -> Self {
        let (raster, samples, depth) = (&state.raster, &state.multisample, state.depth.unwrap_or_default());
        let [front, back] = match &state.stencil {
            Some([front, back]) => [front.into(), back.into()],
            None => [FACE; 2],
        };
        Self {
            topology: hob_pipeline_topology(number(state.topology)),
            primitive_restart: hob_pipeline_primitive_restart(number(state.primitive_restart)),
            patch_control_points: state.patch_control_points,
            cull: hob_pipeline_cull_mode(number(raster.cull)),
            front_face: hob_pipeline_front_face(number(raster.front_face)),
            fill: hob_pipeline_fill_mode(number(raster.fill)),
            depth_clamp: raster.depth_clamp.into(),
            depth_bias: raster.depth_bias,
            depth_bias_clamp: raster.depth_bias_clamp,
            depth_bias_slope: raster.depth_bias_slope,
            sample_count: samples.count,
            sample_mask: samples.mask,
            alpha_to_coverage: samples.alpha_to_coverage.into(),
            depth_stencil_format: state.depth_stencil_format,
            depth_test: state.depth.is_some().into(),
            depth_write: depth.writes.into(),
            depth_compare: hob_pipeline_compare(number(depth.compare)),
            stencil_test: state.stencil.is_some().into(),
            stencil_front: front,
            stencil_back: back,
            push_constant_size: state.push_constant_size,
            layout: state.layout,
            host_state: state.host_state,
            vertex_buffer_count: state.vertex_buffers.len(),
            attribute_count: state.attributes.len(),
            color_target_count: state.color_targets.len(),
            ..Self::defaults()
        }
    }
}
