//! Graphics state of the library's own schema.

use std::ffi::{c_char, c_void};

use hobgoblin_macros::{element, entry, open_enum, versioned};

use crate::base::{Result, error, try_collect_all};
use crate::ffi::base::array::{Array, Element};
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::Versioned;
use crate::pipeline::graphics::{
    Blend, ColorTarget, DepthTest, GraphicsState, MAX_ATTRIBUTES, MAX_COLOR_TARGETS, MAX_VERTEX_BUFFERS, Multisample,
    Numbered, Raster, StencilFace, VertexAttribute, VertexBuffer,
};

// == Experimental: Graphics state of the library's own schema ==

/// hob_pipeline_desc.schema: the library's own schema, for a host without a serialiser.
/// `state` has the bytes of hob_pipeline_encode_graphics, hob_pipeline_encode_compute or hob_pipeline_encode_ray_tracing.
pub const HOB_PIPELINE_SCHEMA_OWN: u32 = 0;

/// How vertices form primitives.
/// All enumerators of this schema have the numbers of Vulkan.
#[open_enum]
#[repr(C)]
pub enum hob_pipeline_topology {
    /// Points.
    PointList = 0,
    /// Separate lines.
    LineList = 1,
    /// Connected lines.
    LineStrip = 2,
    /// Separate triangles.
    TriangleList = 3,
    /// Triangles that share edges.
    TriangleStrip = 4,
    /// Triangles that share the first vertex.
    TriangleFan = 5,
    /// Separate lines with adjacent vertices.
    LineListAdjacency = 6,
    /// Connected lines with adjacent vertices.
    LineStripAdjacency = 7,
    /// Separate triangles with adjacent vertices.
    TriangleListAdjacency = 8,
    /// Triangles that share edges, with adjacent vertices.
    TriangleStripAdjacency = 9,
    /// Patches for tessellation.
    PatchList = 10,
}

/// Whether the largest index restarts a strip.
#[open_enum]
#[repr(C)]
pub enum hob_pipeline_primitive_restart {
    /// No index restarts a strip.
    Off = 0,
    /// The largest index of either size.
    On = 1,
    /// The largest index of 16 bits.
    Uint16 = 2,
    /// The largest index of 32 bits.
    Uint32 = 3,
}

/// The triangles that are not drawn.
#[open_enum]
#[repr(C)]
pub enum hob_pipeline_cull_mode {
    /// None.
    None = 0,
    /// Those that face the viewer.
    Front = 1,
    /// Those that face away.
    Back = 2,
}

/// The winding of triangles that face the viewer.
#[open_enum]
#[repr(C)]
pub enum hob_pipeline_front_face {
    /// Counter-clockwise.
    CounterClockwise = 0,
    /// Clockwise.
    Clockwise = 1,
}

/// How triangles are drawn.
#[open_enum]
#[repr(C)]
pub enum hob_pipeline_fill_mode {
    /// Filled.
    Fill = 0,
    /// As lines.
    Line = 1,
    /// As points.
    Point = 2,
}

/// A comparison of a new value with a stored one.
#[open_enum]
#[repr(C)]
pub enum hob_pipeline_compare {
    /// Never passes.
    Never = 0,
    /// The new value is less.
    Less = 1,
    /// Both are equal.
    Equal = 2,
    /// The new value is less or equal.
    LessOrEqual = 3,
    /// The new value is greater.
    Greater = 4,
    /// The values differ.
    NotEqual = 5,
    /// The new value is greater or equal.
    GreaterOrEqual = 6,
    /// Always passes.
    Always = 7,
}

/// A change of a stencil value.
#[open_enum]
#[repr(C)]
pub enum hob_pipeline_stencil_op {
    /// Keep the value.
    Keep = 0,
    /// Set 0.
    Zero = 1,
    /// Set the reference.
    Replace = 2,
    /// Add 1, up to the largest value.
    IncrementClamp = 3,
    /// Subtract 1, down to 0.
    DecrementClamp = 4,
    /// Invert all bits.
    Invert = 5,
    /// Add 1; the largest value becomes 0.
    IncrementWrap = 6,
    /// Subtract 1; 0 becomes the largest value.
    DecrementWrap = 7,
}

/// A factor of blending.
#[open_enum]
#[repr(C)]
pub enum hob_pipeline_blend_factor {
    /// 0.
    Zero = 0,
    /// 1.
    One = 1,
    /// The source's colour.
    SourceColor = 2,
    /// 1 minus the source's colour.
    OneMinusSourceColor = 3,
    /// The destination's colour.
    DestinationColor = 4,
    /// 1 minus the destination's colour.
    OneMinusDestinationColor = 5,
    /// The source's alpha.
    SourceAlpha = 6,
    /// 1 minus the source's alpha.
    OneMinusSourceAlpha = 7,
    /// The destination's alpha.
    DestinationAlpha = 8,
    /// 1 minus the destination's alpha.
    OneMinusDestinationAlpha = 9,
    /// The blend constant's colour.
    ConstantColor = 10,
    /// 1 minus the blend constant's colour.
    OneMinusConstantColor = 11,
    /// The blend constant's alpha.
    ConstantAlpha = 12,
    /// 1 minus the blend constant's alpha.
    OneMinusConstantAlpha = 13,
    /// The smaller of the source's alpha and 1 minus the destination's alpha.
    SourceAlphaSaturate = 14,
    /// The second source's colour.
    Source1Color = 15,
    /// 1 minus the second source's colour.
    OneMinusSource1Color = 16,
    /// The second source's alpha.
    Source1Alpha = 17,
    /// 1 minus the second source's alpha.
    OneMinusSource1Alpha = 18,
}

/// How blending combines source and destination.
#[open_enum]
#[repr(C)]
pub enum hob_pipeline_blend_op {
    /// Source plus destination.
    Add = 0,
    /// Source minus destination.
    Subtract = 1,
    /// Destination minus source.
    ReverseSubtract = 2,
    /// The smaller one.
    Min = 3,
    /// The larger one.
    Max = 4,
}

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
const FACE: hob_pipeline_stencil_face = hob_pipeline_stencil_face {
    compare: hob_pipeline_compare::Always,
    fail: hob_pipeline_stencil_op::Keep,
    depth_fail: hob_pipeline_stencil_op::Keep,
    pass: hob_pipeline_stencil_op::Keep,
    read_mask: 255,
    write_mask: 255,
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
/// Equal states have equal bytes, in any order of vertex buffers and attributes. `*out_size` receives the required size.
/// `buffer` NULL asks only for that. If `capacity` is too small, the result is HOB_RESULT_BUFFER_TOO_SMALL and the buffer
/// stays unchanged. No state takes more than 4 KiB.
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
/// Sets the counts of the lists, and no pointers: hob_pipeline_decode_vertex_buffers, hob_pipeline_decode_vertex_attributes
/// and hob_pipeline_decode_color_targets read the lists. Fields without effect have their defaults.
///
///     hob_pipeline_graphics_state state = HOB_PIPELINE_GRAPHICS_STATE_INIT;
///     if (hob_pipeline_decode_graphics(job->state, job->state_size, &state) != HOB_RESULT_OK) return HOB_PIPELINE_BUILT_FAILED;
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

/// The value of an enum.
pub fn known<T: Numbered>(number: u32, what: &str) -> Result<T> {
    T::from_number(number).ok_or_else(|| {
        let (name, last) = (T::NAME, T::ALL.len() - 1);
        error!(InvalidArgument, "{what} {number} is not a {name}: pass 0 to {last}")
    })
}

fn switch(number: u32, what: &str) -> Result<bool> {
    match number {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(error!(InvalidArgument, "{what} is {number}: pass 0 or 1")),
    }
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

fn face(face: &hob_pipeline_stencil_face, what: &str) -> Result<StencilFace> {
    Ok(StencilFace {
        compare: known(face.compare.0, what)?,
        fail: known(face.fail.0, what)?,
        depth_fail: known(face.depth_fail.0, what)?,
        pass: known(face.pass.0, what)?,
        read_mask: face.read_mask,
        write_mask: face.write_mask,
    })
}

fn color_target(target: &hob_pipeline_color_target) -> Result<ColorTarget> {
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

fn number<T: Numbered>(value: T) -> u32 {
    value.number().into()
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
