//! Compute and ray-tracing state of the library's own schema.

use std::ffi::{c_char, c_void};

use hobgoblin_macros::{element, entry, open_enum, versioned};

use super::graphics::list;
use crate::base::{Result, error};
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::Versioned;
use crate::pipeline::graphics::{ComputeState, MAX_SHADER_GROUPS, RayTracingState, ShaderGroup};

// == Experimental: Compute and ray-tracing state of the library's own schema ==

/// The state of a compute pipeline, everything but its shader.
#[versioned(size = 40, last = host_state)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_pipeline_compute_state {
    /// sizeof(hob_pipeline_compute_state).
    pub struct_size: u32,
    /// Bytes of push constants (root constants). Default 0.
    pub push_constant_size: u32,
    /// Size of a workgroup, if the pipeline specialises it. Default 0: that of the shader.
    pub workgroup: [u32; 3],
    /// Must be 0.
    pub reserved: u32,
    /// The host's number for the layout of resources, such as the hash of a root signature. Default 0.
    pub layout: u64,
    /// The host's number for state that this struct lacks. Default 0.
    pub host_state: u64,
}

/// Encodes the state of a compute pipeline.
/// As hob_pipeline_encode_graphics: `buffer` NULL asks only for the size. It takes 34 bytes. Threads: any.
#[entry(any, experimental)]
pub extern "C" fn hob_pipeline_encode_compute(
    state: *const hob_pipeline_compute_state,
    buffer: *mut c_char,
    capacity: usize,
    out_size: *mut usize,
) -> hob_result {
    let hob_pipeline_compute_state { push_constant_size, workgroup, layout, host_state, .. } = state;
    let bytes = ComputeState { layout, host_state, push_constant_size, workgroup }.encode()?;
    buffer.fill(bytes.len(), |out| {
        out.copy_from_slice(&bytes);
        Ok(bytes.len())
    })
}

/// Decodes the state of a compute pipeline.
/// A pipeline that a build added for a shader of its key map has the default state. Errors as for
/// hob_pipeline_decode_graphics. Threads: any.
#[entry(any, experimental)]
pub extern "C" fn hob_pipeline_decode_compute(
    data: *const c_void,
    size: usize,
    out_state: *mut hob_pipeline_compute_state,
) -> hob_result {
    let ComputeState { layout, host_state, push_constant_size, workgroup } = ComputeState::decode(data)?;
    let defaults = hob_pipeline_compute_state::defaults();
    out_state.write(hob_pipeline_compute_state { push_constant_size, workgroup, layout, host_state, ..defaults });
    Ok(())
}

/// Kinds of shader groups.
#[open_enum]
#[repr(C)]
pub enum hob_pipeline_shader_group_kind {
    /// A ray generation, miss or callable shader.
    General = 0,
    /// A hit group for triangles.
    Triangles = 1,
    /// A hit group for procedural geometry.
    Procedural = 2,
}

/// A shader group: one record of a shader table.
/// Shaders are places in hob_pipeline_desc.shaders, from 0 on. UINT32_MAX: no shader. Fields that the kind does not
/// name have no effect.
#[element(size = 20, last = intersection)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_pipeline_shader_group {
    /// The kind.
    pub kind: hob_pipeline_shader_group_kind,
    /// The shader of HOB_PIPELINE_SHADER_GROUP_KIND_GENERAL.
    pub general: u32,
    /// The closest-hit shader of a hit group.
    pub closest_hit: u32,
    /// The any-hit shader of a hit group.
    pub any_hit: u32,
    /// The intersection shader of HOB_PIPELINE_SHADER_GROUP_KIND_PROCEDURAL.
    pub intersection: u32,
}

/// The state of a ray-tracing pipeline, everything but its shaders.
#[versioned(size = 64, last = group_count)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_pipeline_ray_tracing_state {
    /// sizeof(hob_pipeline_ray_tracing_state).
    pub struct_size: u32,
    /// Bytes of push constants (root constants). Default 0.
    pub push_constant_size: u32,
    /// Deepest recursion of rays. Default 1.
    #[initial(1)]
    pub max_recursion_depth: u32,
    /// Largest payload of a ray, in bytes. Default 0.
    pub max_payload_size: u32,
    /// Largest attributes of a hit, in bytes. Default 8: those of triangles.
    #[initial(8)]
    pub max_attribute_size: u32,
    /// Must be 0.
    pub reserved: u32,
    /// The host's number for the layout of resources, such as the hash of a root signature. Default 0.
    pub layout: u64,
    /// The host's number for state that this struct lacks. Default 0.
    pub host_state: u64,
    /// Shader groups. Their order matters. May be NULL if the count is 0.
    pub groups: *const hob_pipeline_shader_group,
    /// Bytes from one group to the next: sizeof(hob_pipeline_shader_group). Default 0: its first released size.
    pub group_stride: usize,
    /// Number of groups, at most 32768.
    pub group_count: usize,
}

/// Encodes the state of a ray-tracing pipeline.
/// As hob_pipeline_encode_graphics: `buffer` NULL asks only for the size. It takes 38 bytes, and up to 7 for each
/// group. HOB_RESULT_INVALID_ARGUMENT: a group lacks its shader, or names one from 1024 on. Threads: any.
#[entry(any, experimental)]
pub extern "C" fn hob_pipeline_encode_ray_tracing(
    state: *const hob_pipeline_ray_tracing_state,
    buffer: *mut c_char,
    capacity: usize,
    out_size: *mut usize,
) -> hob_result {
    // SAFETY: the header's contract for the pointers of the state.
    let groups = unsafe {
        list(state.groups, state.group_stride, state.group_count, MAX_SHADER_GROUPS, "shader groups", group)
    }?;
    let state = RayTracingState {
        layout: state.layout,
        host_state: state.host_state,
        push_constant_size: state.push_constant_size,
        max_recursion_depth: state.max_recursion_depth,
        max_payload_size: state.max_payload_size,
        max_attribute_size: state.max_attribute_size,
        groups,
    };
    let bytes = state.encode()?;
    buffer.fill(bytes.len(), |out| {
        out.copy_from_slice(&bytes);
        Ok(bytes.len())
    })
}

/// Decodes the state of a ray-tracing pipeline.
/// Sets the count of groups, and no pointer: hob_pipeline_decode_shader_groups reads the list. Errors as for
/// hob_pipeline_decode_graphics. Threads: any.
#[entry(any, experimental)]
pub extern "C" fn hob_pipeline_decode_ray_tracing(
    data: *const c_void,
    size: usize,
    out_state: *mut hob_pipeline_ray_tracing_state,
) -> hob_result {
    let state = RayTracingState::decode(data)?;
    out_state.write(hob_pipeline_ray_tracing_state {
        push_constant_size: state.push_constant_size,
        max_recursion_depth: state.max_recursion_depth,
        max_payload_size: state.max_payload_size,
        max_attribute_size: state.max_attribute_size,
        layout: state.layout,
        host_state: state.host_state,
        group_count: state.groups.len(),
        ..hob_pipeline_ray_tracing_state::defaults()
    });
    Ok(())
}

/// Decodes the shader groups of a ray-tracing pipeline, in their order.
/// As hob_pipeline_decode_vertex_buffers: `groups` NULL asks only for the number. Fields that the kind does not name
/// are UINT32_MAX. Threads: any.
#[entry(any, experimental)]
pub extern "C" fn hob_pipeline_decode_shader_groups(
    data: *const c_void,
    size: usize,
    groups: *mut hob_pipeline_shader_group,
    group_stride: usize,
    capacity: usize,
    out_count: *mut usize,
) -> hob_result {
    let state = RayTracingState::decode(data)?;
    groups.fill(state.groups.iter().map(hob_pipeline_shader_group::from))
}

fn group(group: hob_pipeline_shader_group) -> Result<ShaderGroup> {
    let maybe = |shader: u32| (shader != u32::MAX).then_some(shader);
    let must = |shader: u32, what: &str| {
        maybe(shader)
            .ok_or_else(|| error!(InvalidArgument, "a shader group has no {what} shader: set the field {what}"))
    };
    let (closest_hit, any_hit) = (maybe(group.closest_hit), maybe(group.any_hit));
    Ok(match group.kind.check("hob_pipeline_shader_group.kind")? {
        hob_pipeline_shader_group_kind::Triangles => ShaderGroup::Triangles { closest_hit, any_hit },
        hob_pipeline_shader_group_kind::Procedural => {
            ShaderGroup::Procedural { closest_hit, any_hit, intersection: must(group.intersection, "intersection")? }
        }
        _ => ShaderGroup::General { shader: must(group.general, "general")? },
    })
}

impl From<&ShaderGroup> for hob_pipeline_shader_group {
    fn from(group: &ShaderGroup) -> Self {
        const NONE: u32 = u32::MAX;
        let of = |kind, general, closest_hit: Option<u32>, any_hit: Option<u32>, intersection| Self {
            kind,
            general,
            closest_hit: closest_hit.unwrap_or(NONE),
            any_hit: any_hit.unwrap_or(NONE),
            intersection,
        };
        match *group {
            ShaderGroup::General { shader } => of(hob_pipeline_shader_group_kind::General, shader, None, None, NONE),
            ShaderGroup::Triangles { closest_hit, any_hit } => {
                of(hob_pipeline_shader_group_kind::Triangles, NONE, closest_hit, any_hit, NONE)
            }
            ShaderGroup::Procedural { closest_hit, any_hit, intersection } => {
                of(hob_pipeline_shader_group_kind::Procedural, NONE, closest_hit, any_hit, intersection)
            }
        }
    }
}
