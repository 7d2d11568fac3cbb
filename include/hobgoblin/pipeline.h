// hobgoblin/pipeline.h: Experimental: Pipeline state objects (PSOs), compiled before the frame that needs them.
//
//     hob_pipeline_library_desc desc = HOB_PIPELINE_LIBRARY_DESC_INIT;
//     desc.project = HOB_STR("game");
//     desc.format = HOB_STR("spirv");
//     desc.api = HOB_GRAPHICS_API_VULKAN;
//     desc.version = HOB_STR("1.2");
//     desc.directory = HOB_STR("cache/pipelines");        /* empty: nothing outlives the process */
//     desc.environment = &environment;                    /* as for a program cache; bans belong to a driver */
//     desc.executor = executor;                           /* compiles in the background */
//     desc.user_data = renderer;
//     desc.compile = compile;                             /* makes the API's pipeline object */
//     hob_pipeline_library *library = NULL;
//     if (hob_pipeline_library_create(&desc, &library) != HOB_RESULT_OK) fail(hob_last_error());
//
//     /* once a frame: */
//     hob_pipeline_library_begin_frame(library, UINT64_MAX);
//
//     /* for each draw; the key is computed once, with hob_pipeline_get_key: */
//     switch (hob_pipeline_library_use(library, &key)) {
//     case HOB_PIPELINE_STATE_READY: draw(&key); break;
//     case HOB_PIPELINE_STATE_UNKNOWN:                    /* no cache has it: a hitch, and the next start knows it */
//         hob_pipeline_library_add(library, &pipeline, build(&pipeline), &key);
//         draw(&key);
//         break;
//     case HOB_PIPELINE_STATE_FAILED:                     /* it never gets ready: draw a substitute */
//     case HOB_PIPELINE_STATE_BANNED: substitute(&key); break;
//     default: break;                                     /* it comes next: skip the object, or draw a substitute */
//     }
//
// Terms:
// - Pipeline: a compiled pipeline of a graphics API. The library knows its description, and never the object.
// - Key: the fingerprint of a description.
// - User's cache: pipelines that were built in earlier runs on this machine.
// - Selected: a usage mask of the pipeline has all bits of the current mask. Only selected pipelines are compiled
//   ahead.
// - Ready group: the pipelines of one object, which is drawn with all of them or not at all.
//
// Functions with a const library may run on several threads at once, also inside callbacks.
//
// Generated from src/ffi/pipeline; do not edit. MIT OR Apache-2.0.

#ifndef HOBGOBLIN_PIPELINE_H
#define HOBGOBLIN_PIPELINE_H

#include "base.h"
#include "executor.h"
#include "fingerprint.h"
#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Experimental: Descriptions -------------------------------------------------------------------------------------

/// Kinds of pipelines.
typedef enum hob_pipeline_kind {
    /// Vertex or mesh shaders, and fragments.
    HOB_PIPELINE_KIND_GRAPHICS = 0,
    /// A compute shader.
    HOB_PIPELINE_KIND_COMPUTE = 1,
    /// Ray generation, hit, miss and callable shaders.
    HOB_PIPELINE_KIND_RAY_TRACING = 2,
} hob_pipeline_kind;

/// A shader of a pipeline.
typedef struct hob_pipeline_shader {
    /// A hob_shader_stage, or a number of the host from HOB_SHADER_STAGE_USER on. Builds check the vertex formats only
    /// of HOB_SHADER_STAGE_VERTEX.
    uint32_t stage;
    /// SHA-1 of its bytecode, or the first 20 bytes of another hash.
    uint8_t hash[20];
} hob_pipeline_shader;

/// The description of a pipeline: everything that the driver's compiler gets.
/// The library keeps no pointer of it.
typedef struct hob_pipeline_desc {
    /// sizeof(hob_pipeline_desc).
    uint32_t struct_size;
    /// Graphics, compute or ray tracing. Default 0: HOB_PIPELINE_KIND_GRAPHICS.
    hob_pipeline_kind kind;
    /// The layout of `state`: a number of the host, from 1 on. Change it when the layout changes. Default
    /// HOB_PIPELINE_SCHEMA_OWN.
    uint32_t schema;
    /// Bytes of `state`, at most 1 MiB.
    uint32_t state_size;
    /// Everything but the shaders: vertex layout, raster, blend and depth state, formats. With HOB_PIPELINE_SCHEMA_OWN
    /// the bytes of an encode function. Otherwise any form: write the fields in a fixed order, without padding bytes.
    /// May be NULL if `state_size` is 0.
    const void *state;
    /// At least one shader, and at most 1024. Their order matters.
    const hob_pipeline_shader *shaders;
    /// Bytes from one shader to the next: sizeof(hob_pipeline_shader). Default 0: its first released size.
    size_t shader_stride;
    /// Number of shaders.
    size_t shader_count;
} hob_pipeline_desc;

/// Computes the key of a pipeline.
/// Equal descriptions have equal keys. Compute it once, when the pipeline's description is made.
///
///     hob_fingerprint key;
///     if (hob_pipeline_get_key(&pipeline, &key) != HOB_RESULT_OK) fail(hob_last_error());
///
/// HOB_RESULT_INVALID_ARGUMENT: there is no shader, the kind or a stage is unknown, or a shader group names a shader
/// that is not listed. HOB_RESULT_MALFORMED: with HOB_PIPELINE_SCHEMA_OWN the state is not encoded for this kind.
/// HOB_RESULT_UNSUPPORTED: it is encoded by a later version. HOB_RESULT_LIMIT_EXCEEDED: too many shaders, or a state of
/// more than 1 MiB. Threads: any.
HOB_EXPERIMENTAL_API hob_result hob_pipeline_get_key(const hob_pipeline_desc *pipeline, hob_fingerprint *out_key);

/// A usage mask: situations of the game, as bits of the host, or as named fields: see hob_pipeline_dimension.
/// A host with 64 bits uses the first word.
typedef struct hob_pipeline_mask {
    /// The bits, the lowest first.
    uint64_t words[4];
} hob_pipeline_mask;

// ---- Experimental: Named fields of usage masks ----------------------------------------------------------------------

/// A named field of usage masks, such as the quality or the level.
/// The fields of a list stand one after the other, from the lowest bit of a mask on.
typedef struct hob_pipeline_dimension {
    /// Its name, such as "quality": 1 to 128 ASCII letters, digits and - _ . + without a dot first. No two of a list
    /// are equal.
    hob_str name;
    /// Bits, 1 to 64. All fields of a list together have at most 256 bits.
    uint32_t width;
    /// Must be 0.
    uint32_t reserved;
} hob_pipeline_dimension;

/// Sets a field of a usage mask by its name.
/// `mask` NULL: no bits. `out_mask` may be `mask`. Number values from 1 on: 0 in the current mask fits every pipeline.
///
///     const hob_pipeline_dimension dimensions[] = {{HOB_STR_INIT("quality"), 2, 0}, {HOB_STR_INIT("level"), 6, 0}};
///     hob_pipeline_mask mask;
///     hob_pipeline_set_mask_field(dimensions, sizeof *dimensions, 2, NULL, HOB_STR("quality"), 3, &mask);
///     hob_pipeline_set_mask_field(dimensions, sizeof *dimensions, 2, &mask, HOB_STR("level"), 17, &mask);
///
/// HOB_RESULT_NOT_FOUND: no field has that name. HOB_RESULT_INVALID_ARGUMENT: the value needs more bits than the field
/// has, `mask` has bits beyond the fields, or the list is invalid. HOB_RESULT_LIMIT_EXCEEDED: more than 64 fields, or
/// than 256 bits. Threads: any.
HOB_EXPERIMENTAL_API hob_result hob_pipeline_set_mask_field(
    const hob_pipeline_dimension *dimensions, size_t dimension_stride, size_t dimension_count,
    const hob_pipeline_mask *mask, hob_str name, uint64_t value, hob_pipeline_mask *out_mask);

// ---- Experimental: Graphics state of the library's own schema -------------------------------------------------------

/// hob_pipeline_desc.schema: the library's own schema, for a host without a serialiser.
/// `state` has the bytes of hob_pipeline_encode_graphics, hob_pipeline_encode_compute or
/// hob_pipeline_encode_ray_tracing.
#define HOB_PIPELINE_SCHEMA_OWN 0

/// How vertices form primitives.
/// All enumerators of this schema have the numbers of Vulkan.
typedef enum hob_pipeline_topology {
    /// Points.
    HOB_PIPELINE_TOPOLOGY_POINT_LIST = 0,
    /// Separate lines.
    HOB_PIPELINE_TOPOLOGY_LINE_LIST = 1,
    /// Connected lines.
    HOB_PIPELINE_TOPOLOGY_LINE_STRIP = 2,
    /// Separate triangles.
    HOB_PIPELINE_TOPOLOGY_TRIANGLE_LIST = 3,
    /// Triangles that share edges.
    HOB_PIPELINE_TOPOLOGY_TRIANGLE_STRIP = 4,
    /// Triangles that share the first vertex.
    HOB_PIPELINE_TOPOLOGY_TRIANGLE_FAN = 5,
    /// Separate lines with adjacent vertices.
    HOB_PIPELINE_TOPOLOGY_LINE_LIST_ADJACENCY = 6,
    /// Connected lines with adjacent vertices.
    HOB_PIPELINE_TOPOLOGY_LINE_STRIP_ADJACENCY = 7,
    /// Separate triangles with adjacent vertices.
    HOB_PIPELINE_TOPOLOGY_TRIANGLE_LIST_ADJACENCY = 8,
    /// Triangles that share edges, with adjacent vertices.
    HOB_PIPELINE_TOPOLOGY_TRIANGLE_STRIP_ADJACENCY = 9,
    /// Patches for tessellation.
    HOB_PIPELINE_TOPOLOGY_PATCH_LIST = 10,
} hob_pipeline_topology;

/// Whether the largest index restarts a strip.
typedef enum hob_pipeline_primitive_restart {
    /// No index restarts a strip.
    HOB_PIPELINE_PRIMITIVE_RESTART_OFF = 0,
    /// The largest index of either size.
    HOB_PIPELINE_PRIMITIVE_RESTART_ON = 1,
    /// The largest index of 16 bits.
    HOB_PIPELINE_PRIMITIVE_RESTART_UINT16 = 2,
    /// The largest index of 32 bits.
    HOB_PIPELINE_PRIMITIVE_RESTART_UINT32 = 3,
} hob_pipeline_primitive_restart;

/// The triangles that are not drawn.
typedef enum hob_pipeline_cull_mode {
    /// None.
    HOB_PIPELINE_CULL_MODE_NONE = 0,
    /// Those that face the viewer.
    HOB_PIPELINE_CULL_MODE_FRONT = 1,
    /// Those that face away.
    HOB_PIPELINE_CULL_MODE_BACK = 2,
} hob_pipeline_cull_mode;

/// The winding of triangles that face the viewer.
typedef enum hob_pipeline_front_face {
    /// Counter-clockwise.
    HOB_PIPELINE_FRONT_FACE_COUNTER_CLOCKWISE = 0,
    /// Clockwise.
    HOB_PIPELINE_FRONT_FACE_CLOCKWISE = 1,
} hob_pipeline_front_face;

/// How triangles are drawn.
typedef enum hob_pipeline_fill_mode {
    /// Filled.
    HOB_PIPELINE_FILL_MODE_FILL = 0,
    /// As lines.
    HOB_PIPELINE_FILL_MODE_LINE = 1,
    /// As points.
    HOB_PIPELINE_FILL_MODE_POINT = 2,
} hob_pipeline_fill_mode;

/// A comparison of a new value with a stored one.
typedef enum hob_pipeline_compare {
    /// Never passes.
    HOB_PIPELINE_COMPARE_NEVER = 0,
    /// The new value is less.
    HOB_PIPELINE_COMPARE_LESS = 1,
    /// Both are equal.
    HOB_PIPELINE_COMPARE_EQUAL = 2,
    /// The new value is less or equal.
    HOB_PIPELINE_COMPARE_LESS_OR_EQUAL = 3,
    /// The new value is greater.
    HOB_PIPELINE_COMPARE_GREATER = 4,
    /// The values differ.
    HOB_PIPELINE_COMPARE_NOT_EQUAL = 5,
    /// The new value is greater or equal.
    HOB_PIPELINE_COMPARE_GREATER_OR_EQUAL = 6,
    /// Always passes.
    HOB_PIPELINE_COMPARE_ALWAYS = 7,
} hob_pipeline_compare;

/// A change of a stencil value.
typedef enum hob_pipeline_stencil_op {
    /// Keep the value.
    HOB_PIPELINE_STENCIL_OP_KEEP = 0,
    /// Set 0.
    HOB_PIPELINE_STENCIL_OP_ZERO = 1,
    /// Set the reference.
    HOB_PIPELINE_STENCIL_OP_REPLACE = 2,
    /// Add 1, up to the largest value.
    HOB_PIPELINE_STENCIL_OP_INCREMENT_CLAMP = 3,
    /// Subtract 1, down to 0.
    HOB_PIPELINE_STENCIL_OP_DECREMENT_CLAMP = 4,
    /// Invert all bits.
    HOB_PIPELINE_STENCIL_OP_INVERT = 5,
    /// Add 1; the largest value becomes 0.
    HOB_PIPELINE_STENCIL_OP_INCREMENT_WRAP = 6,
    /// Subtract 1; 0 becomes the largest value.
    HOB_PIPELINE_STENCIL_OP_DECREMENT_WRAP = 7,
} hob_pipeline_stencil_op;

/// A factor of blending.
typedef enum hob_pipeline_blend_factor {
    /// 0.
    HOB_PIPELINE_BLEND_FACTOR_ZERO = 0,
    /// 1.
    HOB_PIPELINE_BLEND_FACTOR_ONE = 1,
    /// The source's colour.
    HOB_PIPELINE_BLEND_FACTOR_SOURCE_COLOR = 2,
    /// 1 minus the source's colour.
    HOB_PIPELINE_BLEND_FACTOR_ONE_MINUS_SOURCE_COLOR = 3,
    /// The destination's colour.
    HOB_PIPELINE_BLEND_FACTOR_DESTINATION_COLOR = 4,
    /// 1 minus the destination's colour.
    HOB_PIPELINE_BLEND_FACTOR_ONE_MINUS_DESTINATION_COLOR = 5,
    /// The source's alpha.
    HOB_PIPELINE_BLEND_FACTOR_SOURCE_ALPHA = 6,
    /// 1 minus the source's alpha.
    HOB_PIPELINE_BLEND_FACTOR_ONE_MINUS_SOURCE_ALPHA = 7,
    /// The destination's alpha.
    HOB_PIPELINE_BLEND_FACTOR_DESTINATION_ALPHA = 8,
    /// 1 minus the destination's alpha.
    HOB_PIPELINE_BLEND_FACTOR_ONE_MINUS_DESTINATION_ALPHA = 9,
    /// The blend constant's colour.
    HOB_PIPELINE_BLEND_FACTOR_CONSTANT_COLOR = 10,
    /// 1 minus the blend constant's colour.
    HOB_PIPELINE_BLEND_FACTOR_ONE_MINUS_CONSTANT_COLOR = 11,
    /// The blend constant's alpha.
    HOB_PIPELINE_BLEND_FACTOR_CONSTANT_ALPHA = 12,
    /// 1 minus the blend constant's alpha.
    HOB_PIPELINE_BLEND_FACTOR_ONE_MINUS_CONSTANT_ALPHA = 13,
    /// The smaller of the source's alpha and 1 minus the destination's alpha.
    HOB_PIPELINE_BLEND_FACTOR_SOURCE_ALPHA_SATURATE = 14,
    /// The second source's colour.
    HOB_PIPELINE_BLEND_FACTOR_SOURCE1_COLOR = 15,
    /// 1 minus the second source's colour.
    HOB_PIPELINE_BLEND_FACTOR_ONE_MINUS_SOURCE1_COLOR = 16,
    /// The second source's alpha.
    HOB_PIPELINE_BLEND_FACTOR_SOURCE1_ALPHA = 17,
    /// 1 minus the second source's alpha.
    HOB_PIPELINE_BLEND_FACTOR_ONE_MINUS_SOURCE1_ALPHA = 18,
} hob_pipeline_blend_factor;

/// How blending combines source and destination.
typedef enum hob_pipeline_blend_op {
    /// Source plus destination.
    HOB_PIPELINE_BLEND_OP_ADD = 0,
    /// Source minus destination.
    HOB_PIPELINE_BLEND_OP_SUBTRACT = 1,
    /// Destination minus source.
    HOB_PIPELINE_BLEND_OP_REVERSE_SUBTRACT = 2,
    /// The smaller one.
    HOB_PIPELINE_BLEND_OP_MIN = 3,
    /// The larger one.
    HOB_PIPELINE_BLEND_OP_MAX = 4,
} hob_pipeline_blend_op;

/// A vertex buffer.
typedef struct hob_pipeline_vertex_buffer {
    /// Its slot (Direct3D, WebGPU) or binding (Vulkan).
    uint32_t slot;
    /// Bytes from one element to the next.
    uint32_t stride;
    /// Instances per element. 0: one element per vertex. UINT32_MAX: the first element for all.
    uint32_t step_rate;
} hob_pipeline_vertex_buffer;

/// A vertex attribute.
typedef struct hob_pipeline_vertex_attribute {
    /// Its location in the vertex shader, or the host's number of a semantic.
    uint32_t location;
    /// Slot of its vertex buffer.
    uint32_t slot;
    /// Bytes from the begin of the buffer's element.
    uint32_t offset;
    /// Format: a number of the graphics API, such as a VkFormat or a DXGI_FORMAT.
    uint32_t format;
} hob_pipeline_vertex_attribute;

/// The stencil test of one side of triangles.
typedef struct hob_pipeline_stencil_face {
    /// The comparison of the reference with the stored value. Default HOB_PIPELINE_COMPARE_ALWAYS.
    hob_pipeline_compare compare;
    /// If the comparison fails. Default HOB_PIPELINE_STENCIL_OP_KEEP, as for the others.
    hob_pipeline_stencil_op fail;
    /// If the comparison passes and the depth test fails.
    hob_pipeline_stencil_op depth_fail;
    /// If both pass.
    hob_pipeline_stencil_op pass;
    /// The bits that are compared. Default 255.
    uint32_t read_mask;
    /// The bits that are written. Default 255.
    uint32_t write_mask;
} hob_pipeline_stencil_face;

/// A colour target.
typedef struct hob_pipeline_color_target {
    /// Format: a number of the graphics API. 0: the target is unused, and the fields below have no effect.
    uint32_t format;
    /// Channels that are written: 1 red, 2 green, 4 blue, 8 alpha. 15: all.
    uint32_t write_mask;
    /// 1: blend with the fields below. 0: the source replaces the destination, and the fields below have no effect.
    uint32_t blend;
    /// Factor of the source's colour.
    hob_pipeline_blend_factor source_color;
    /// Factor of the destination's colour.
    hob_pipeline_blend_factor destination_color;
    /// How both colours are combined.
    hob_pipeline_blend_op color_op;
    /// Factor of the source's alpha.
    hob_pipeline_blend_factor source_alpha;
    /// Factor of the destination's alpha.
    hob_pipeline_blend_factor destination_alpha;
    /// How both alphas are combined.
    hob_pipeline_blend_op alpha_op;
} hob_pipeline_color_target;

/// The state of a graphics pipeline, everything but its shaders.
typedef struct hob_pipeline_graphics_state {
    /// sizeof(hob_pipeline_graphics_state).
    uint32_t struct_size;
    /// How vertices form primitives. Default HOB_PIPELINE_TOPOLOGY_TRIANGLE_LIST.
    hob_pipeline_topology topology;
    /// Whether the largest index restarts a strip. Default HOB_PIPELINE_PRIMITIVE_RESTART_OFF.
    hob_pipeline_primitive_restart primitive_restart;
    /// Control points of a patch, 1 to 32. Default 0, for all topologies except HOB_PIPELINE_TOPOLOGY_PATCH_LIST.
    uint32_t patch_control_points;
    /// The triangles that are not drawn. Default HOB_PIPELINE_CULL_MODE_NONE.
    hob_pipeline_cull_mode cull;
    /// The winding of triangles that face the viewer. Default HOB_PIPELINE_FRONT_FACE_COUNTER_CLOCKWISE.
    hob_pipeline_front_face front_face;
    /// How triangles are drawn. Default HOB_PIPELINE_FILL_MODE_FILL.
    hob_pipeline_fill_mode fill;
    /// 1: clamp depth instead of clipping at the near and the far plane. Default 0.
    uint32_t depth_clamp;
    /// Constant depth bias. Default 0.
    double depth_bias;
    /// Largest depth bias. Default 0: no limit.
    double depth_bias_clamp;
    /// Depth bias per slope. Default 0.
    double depth_bias_slope;
    /// Samples per pixel: 1, 2, 4, 8, 16 or 32. Default 1.
    uint32_t sample_count;
    /// The samples that are written. Default UINT32_MAX: all.
    uint32_t sample_mask;
    /// 1: alpha selects samples. Default 0.
    uint32_t alpha_to_coverage;
    /// Format of the depth-stencil target: a number of the graphics API. Default 0: no target.
    uint32_t depth_stencil_format;
    /// 1: test depth. Default 0: every fragment passes, and no depth is written.
    uint32_t depth_test;
    /// 1: write the depth of fragments that pass. Without effect if `depth_test` is 0. Default 0.
    uint32_t depth_write;
    /// The comparison that passes. Without effect if `depth_test` is 0. Default HOB_PIPELINE_COMPARE_LESS.
    hob_pipeline_compare depth_compare;
    /// 1: test stencil. Default 0: every fragment passes, and no stencil is written.
    uint32_t stencil_test;
    /// The stencil test of triangles that face the viewer. Without effect if `stencil_test` is 0.
    hob_pipeline_stencil_face stencil_front;
    /// The stencil test of triangles that face away. Without effect if `stencil_test` is 0.
    hob_pipeline_stencil_face stencil_back;
    /// Bytes of push constants (root constants). Default 0.
    uint32_t push_constant_size;
    /// Must be 0.
    uint32_t reserved;
    /// The host's number for the layout of resources, such as the hash of a root signature. Default 0.
    uint64_t layout;
    /// The host's number for state that this struct lacks. Default 0.
    uint64_t host_state;
    /// Vertex buffers in any order, each slot once. May be NULL if the count is 0.
    const hob_pipeline_vertex_buffer *vertex_buffers;
    /// Bytes from one buffer to the next: sizeof(hob_pipeline_vertex_buffer). Default 0: its first released size.
    size_t vertex_buffer_stride;
    /// Number of vertex buffers, at most 64.
    size_t vertex_buffer_count;
    /// Vertex attributes in any order, each location once. May be NULL if the count is 0.
    const hob_pipeline_vertex_attribute *attributes;
    /// Bytes from one attribute to the next: sizeof(hob_pipeline_vertex_attribute). Default 0: its first released size.
    size_t attribute_stride;
    /// Number of attributes, at most 64.
    size_t attribute_count;
    /// Colour targets, in the order of the fragment shader's outputs. May be NULL if the count is 0.
    const hob_pipeline_color_target *color_targets;
    /// Bytes from one target to the next: sizeof(hob_pipeline_color_target). Default 0: its first released size.
    size_t color_target_stride;
    /// Number of colour targets, at most 8.
    size_t color_target_count;
} hob_pipeline_graphics_state;

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
HOB_EXPERIMENTAL_API hob_result hob_pipeline_encode_graphics(
    const hob_pipeline_graphics_state *state, char *buffer, size_t capacity, size_t *out_size);

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
HOB_EXPERIMENTAL_API hob_result hob_pipeline_decode_graphics(
    const void *data, size_t size, hob_pipeline_graphics_state *out_state);

/// Decodes the vertex buffers of a graphics pipeline, in the order of their slots.
/// `*out_count` receives their number. `buffers` NULL asks only for that. If `capacity` is too small, the result is
/// HOB_RESULT_BUFFER_TOO_SMALL and the array stays unchanged. Errors as for hob_pipeline_decode_graphics. Threads: any.
HOB_EXPERIMENTAL_API hob_result hob_pipeline_decode_vertex_buffers(
    const void *data, size_t size, hob_pipeline_vertex_buffer *buffers, size_t buffer_stride, size_t capacity,
    size_t *out_count);

/// Decodes the vertex attributes of a graphics pipeline, in the order of their locations.
/// As hob_pipeline_decode_vertex_buffers: `attributes` NULL asks only for the number. Threads: any.
HOB_EXPERIMENTAL_API hob_result hob_pipeline_decode_vertex_attributes(
    const void *data, size_t size, hob_pipeline_vertex_attribute *attributes, size_t attribute_stride, size_t capacity,
    size_t *out_count);

/// Decodes the colour targets of a graphics pipeline, in the order of the fragment shader's outputs.
/// As hob_pipeline_decode_vertex_buffers: `targets` NULL asks only for the number. Threads: any.
HOB_EXPERIMENTAL_API hob_result hob_pipeline_decode_color_targets(
    const void *data, size_t size, hob_pipeline_color_target *targets, size_t target_stride, size_t capacity,
    size_t *out_count);

// ---- Experimental: Compute and ray-tracing state of the library's own schema ----------------------------------------

/// The state of a compute pipeline, everything but its shader.
typedef struct hob_pipeline_compute_state {
    /// sizeof(hob_pipeline_compute_state).
    uint32_t struct_size;
    /// Bytes of push constants (root constants). Default 0.
    uint32_t push_constant_size;
    /// Size of a workgroup, if the pipeline specialises it. Default 0: that of the shader.
    uint32_t workgroup[3];
    /// Must be 0.
    uint32_t reserved;
    /// The host's number for the layout of resources, such as the hash of a root signature. Default 0.
    uint64_t layout;
    /// The host's number for state that this struct lacks. Default 0.
    uint64_t host_state;
} hob_pipeline_compute_state;

/// Encodes the state of a compute pipeline.
/// As hob_pipeline_encode_graphics: `buffer` NULL asks only for the size. It takes 34 bytes. Threads: any.
HOB_EXPERIMENTAL_API hob_result hob_pipeline_encode_compute(
    const hob_pipeline_compute_state *state, char *buffer, size_t capacity, size_t *out_size);

/// Decodes the state of a compute pipeline.
/// A pipeline that a build added for a shader of its key map has the default state. Errors as for
/// hob_pipeline_decode_graphics. Threads: any.
HOB_EXPERIMENTAL_API hob_result hob_pipeline_decode_compute(
    const void *data, size_t size, hob_pipeline_compute_state *out_state);

/// Kinds of shader groups.
typedef enum hob_pipeline_shader_group_kind {
    /// A ray generation, miss or callable shader.
    HOB_PIPELINE_SHADER_GROUP_KIND_GENERAL = 0,
    /// A hit group for triangles.
    HOB_PIPELINE_SHADER_GROUP_KIND_TRIANGLES = 1,
    /// A hit group for procedural geometry.
    HOB_PIPELINE_SHADER_GROUP_KIND_PROCEDURAL = 2,
} hob_pipeline_shader_group_kind;

/// A shader group: one record of a shader table.
/// Shaders are places in hob_pipeline_desc.shaders, from 0 on. UINT32_MAX: no shader. Fields that the kind does not
/// name have no effect.
typedef struct hob_pipeline_shader_group {
    /// The kind.
    hob_pipeline_shader_group_kind kind;
    /// The shader of HOB_PIPELINE_SHADER_GROUP_KIND_GENERAL.
    uint32_t general;
    /// The closest-hit shader of a hit group.
    uint32_t closest_hit;
    /// The any-hit shader of a hit group.
    uint32_t any_hit;
    /// The intersection shader of HOB_PIPELINE_SHADER_GROUP_KIND_PROCEDURAL.
    uint32_t intersection;
} hob_pipeline_shader_group;

/// The state of a ray-tracing pipeline, everything but its shaders.
typedef struct hob_pipeline_ray_tracing_state {
    /// sizeof(hob_pipeline_ray_tracing_state).
    uint32_t struct_size;
    /// Bytes of push constants (root constants). Default 0.
    uint32_t push_constant_size;
    /// Deepest recursion of rays. Default 1.
    uint32_t max_recursion_depth;
    /// Largest payload of a ray, in bytes. Default 0.
    uint32_t max_payload_size;
    /// Largest attributes of a hit, in bytes. Default 8: those of triangles.
    uint32_t max_attribute_size;
    /// Must be 0.
    uint32_t reserved;
    /// The host's number for the layout of resources, such as the hash of a root signature. Default 0.
    uint64_t layout;
    /// The host's number for state that this struct lacks. Default 0.
    uint64_t host_state;
    /// Shader groups. Their order matters. May be NULL if the count is 0.
    const hob_pipeline_shader_group *groups;
    /// Bytes from one group to the next: sizeof(hob_pipeline_shader_group). Default 0: its first released size.
    size_t group_stride;
    /// Number of groups, at most 32768.
    size_t group_count;
} hob_pipeline_ray_tracing_state;

/// Encodes the state of a ray-tracing pipeline.
/// As hob_pipeline_encode_graphics: `buffer` NULL asks only for the size. It takes 38 bytes, and up to 7 for each
/// group. HOB_RESULT_INVALID_ARGUMENT: a group lacks its shader, or names one from 1024 on. Threads: any.
HOB_EXPERIMENTAL_API hob_result hob_pipeline_encode_ray_tracing(
    const hob_pipeline_ray_tracing_state *state, char *buffer, size_t capacity, size_t *out_size);

/// Decodes the state of a ray-tracing pipeline.
/// Sets the count of groups, and no pointer: hob_pipeline_decode_shader_groups reads the list. Errors as for
/// hob_pipeline_decode_graphics. Threads: any.
HOB_EXPERIMENTAL_API hob_result hob_pipeline_decode_ray_tracing(
    const void *data, size_t size, hob_pipeline_ray_tracing_state *out_state);

/// Decodes the shader groups of a ray-tracing pipeline, in their order.
/// As hob_pipeline_decode_vertex_buffers: `groups` NULL asks only for the number. Fields that the kind does not name
/// are UINT32_MAX. Threads: any.
HOB_EXPERIMENTAL_API hob_result hob_pipeline_decode_shader_groups(
    const void *data, size_t size, hob_pipeline_shader_group *groups, size_t group_stride, size_t capacity,
    size_t *out_count);

// ---- Experimental: Create and destroy -------------------------------------------------------------------------------

/// The pipelines of a running game.
/// A handle: see "Handles" in base.h.
typedef struct hob_pipeline_library hob_pipeline_library;

/// How fast pipelines are compiled.
typedef enum hob_pipeline_mode {
    /// Only pipelines that are needed now.
    HOB_PIPELINE_MODE_PAUSED = 0,
    /// For loading screens: up to 50 pipelines or 16 ms a frame.
    HOB_PIPELINE_MODE_FAST = 1,
    /// While the game runs: 1 pipeline a frame.
    HOB_PIPELINE_MODE_BACKGROUND = 2,
    /// Up to 50 pipelines or 10 ms a frame, until none of the precompile mask remains; then as in the background.
    HOB_PIPELINE_MODE_PRECOMPILE = 3,
} hob_pipeline_mode;

/// The order of compiles.
typedef enum hob_pipeline_order {
    /// By predicted first use: the frames of first uses in recordings, and the pipelines in use now.
    HOB_PIPELINE_ORDER_PREDICTED = 0,
    /// As the caches list them.
    HOB_PIPELINE_ORDER_FILE = 1,
    /// By the frame of their first use.
    HOB_PIPELINE_ORDER_FIRST_TO_LATEST_USED = 2,
    /// By their number of uses, the largest first.
    HOB_PIPELINE_ORDER_MOST_TO_LEAST_USED = 3,
    /// Grouped by usage mask.
    HOB_PIPELINE_ORDER_USAGE_MASK = 4,
} hob_pipeline_order;

/// The result of hob_pipeline_library_desc.compile.
typedef enum hob_pipeline_built {
    /// The pipeline is ready.
    HOB_PIPELINE_BUILT_READY = 0,
    /// The driver refused it. It is not compiled again.
    HOB_PIPELINE_BUILT_FAILED = 1,
    /// It was not compiled now. It is queued again, and the call or task that compiles ends. In the background the next
    /// frame goes on.
    HOB_PIPELINE_BUILT_CANCELLED = 2,
} hob_pipeline_built;

/// A pipeline to compile: the argument of hob_pipeline_library_desc.compile.
/// All pointers are valid during the call.
typedef struct hob_pipeline_job {
    /// sizeof(hob_pipeline_job) of the library.
    uint32_t struct_size;
    /// Graphics, compute or ray tracing.
    hob_pipeline_kind kind;
    /// hob_pipeline_desc.schema.
    uint32_t schema;
    /// 1: a frame may wait for it. 0: it is compiled ahead.
    uint32_t is_urgent;
    /// Its key.
    hob_fingerprint key;
    /// hob_pipeline_desc.state.
    const void *state;
    /// Bytes of `state`.
    size_t state_size;
    /// Its shaders.
    const hob_pipeline_shader *shaders;
    /// Number of shaders.
    size_t shader_count;
    /// Expected build time in microseconds. 0: unknown.
    uint64_t expected_us;
} hob_pipeline_job;

/// hob_pipeline_library_desc.flags: keep no pipelines for the next start.
#define HOB_PIPELINE_NO_USER_CACHE 1

/// hob_pipeline_library_desc.flags: compile pipelines with new shaders first, so that each shader is built early.
/// For drivers that link pipelines quickly from compiled shaders.
#define HOB_PIPELINE_SHADERS_FIRST 2

/// hob_pipeline_library_desc.flags: write nothing to the directory.
#define HOB_PIPELINE_READ_ONLY 4

/// hob_pipeline_library_desc.flags: switch the library off.
/// All calls succeed and do nothing, and hob_pipeline_library_use returns HOB_PIPELINE_STATE_UNKNOWN.
#define HOB_PIPELINE_DISABLED 8

/// Parameters of a library.
typedef struct hob_pipeline_library_desc {
    /// sizeof(hob_pipeline_library_desc).
    uint32_t struct_size;
    /// A hob_graphics_api, or a number of the host from HOB_GRAPHICS_API_USER on.
    uint32_t api;
    /// The game: 1 to 128 ASCII letters, digits and - _ . + without a dot first.
    hob_str project;
    /// The format of its shaders, such as "spirv", in the same letters.
    hob_str format;
    /// The version of the game, at most 1024 bytes. The user's cache of another version is not used.
    hob_str version;
    /// Directory of the user's cache and of bans. Default empty: nothing outlives the process. It must not be that of a
    /// program cache. A path: on Unix any bytes without NUL, elsewhere UTF-8.
    hob_str directory;
    /// A new file that records this run for the next build of the game. Default empty: no recording.
    /// It gets the pipelines at their first use, and how often they are used with the first 256 masks of the run; uses
    /// with further masks are not counted. The executor's background writes first uses. Without an executor, and for
    /// counts of uses, hob_pipeline_library_flush and hob_pipeline_library_destroy write. An existing file is an error,
    /// so give each run its own name: "runs/20261125-1.rec.hobpipe".
    hob_str recording;
    /// The driver and device, which bans belong to. NULL: unknown.
    const hob_environment *environment;
    /// Compiles in its background, one pipeline at a time, and is kept alive by the library. NULL: only
    /// hob_pipeline_library_compile and hob_pipeline_library_wait compile, and only hob_pipeline_library_flush and
    /// hob_pipeline_library_destroy write files.
    const hob_executor *executor;
    /// The file system of the directory; copied. NULL: the operating system's.
    const hob_file_io *file_io;
    /// A secret of the host, at least 16 bytes; copied. Files that were written without it are ignored. Default empty.
    hob_str secret;
    /// Passed to the callbacks.
    void *user_data;
    /// Compiles a pipeline, and returns a hob_pipeline_built; another number counts as failed. Must be set. It may
    /// block. Several may run at once, on the threads that work for the library. It may call the library, but not
    /// destroy it.
    uint32_t (*compile)(void *user_data, const hob_pipeline_job *job);
    /// All selected pipelines were compiled, or have failed. Called by the thread that compiled the last one. A
    /// library without anything to compile never calls it: see hob_pipeline_library_get_remaining. May be NULL.
    void (*completed)(void *user_data);
    /// Compares a mask of a pipeline with the current one: not 0 selects the pipeline. It must always give the same
    /// answer. Inside it, all functions of this library return HOB_RESULT_BUSY, also those without a handle. NULL:
    /// without `dimensions` a pipeline is selected if `(mask & current) == current`. With them it is selected if each
    /// field has the value of the current mask, or that is 0.
    uint32_t (*compare)(void *user_data, const hob_pipeline_mask *mask, const hob_pipeline_mask *current);
    /// Called exactly once, after the last of the other callbacks and before hob_pipeline_library_destroy returns. May
    /// be NULL.
    void (*release)(void *user_data);
    /// The first current mask. NULL: no bits, which select all pipelines.
    const hob_pipeline_mask *mask;
    /// The first precompile mask, for HOB_PIPELINE_MODE_PRECOMPILE. NULL: no bits, which select all pipelines, so that
    /// mode compiles all of them fast.
    const hob_pipeline_mask *precompile_mask;
    /// The first mode. Default HOB_PIPELINE_MODE_FAST; 0 is HOB_PIPELINE_MODE_PAUSED.
    hob_pipeline_mode mode;
    /// The order of compiles. Default HOB_PIPELINE_ORDER_PREDICTED.
    hob_pipeline_order order;
    /// HOB_PIPELINE_NO_USER_CACHE and the like. Default 0.
    uint32_t flags;
    /// Strikes that ban a pipeline. Default 2. UINT32_MAX: no bans. A compile gives a strike if the process crashes
    /// during it, calls abort() or _exit(), or is ended by a signal, such as SIGKILL or SIGTERM. A call of exit() gives
    /// none. A successful compile takes one strike back.
    uint32_t ban_at;
    /// Pipelines of the user's cache that were not used for this many seconds are removed at create. The time ends at
    /// the newest use before this start, so a wrong clock removes nothing, and an old pipeline is removed one start
    /// later. Default 30 days. UINT32_MAX: no limit.
    uint32_t max_age_seconds;
    /// Number of threads that compile at the same time.
    /// Those are the host's in hob_pipeline_library_compile, and one of the executor, whose background runs one task at
    /// a time. No thread is created. Each gets the time of the mode. The budget of hob_pipeline_library_begin_frame is
    /// for all of them together. 1 to 256, default 1.
    uint32_t workers;
    /// Limit of the user's cache on the disk, in bytes, at least 256 KiB. Default 64 MiB.
    uint64_t disk_limit;
    /// The named fields of masks; copied. Recordings and the user's cache keep them, and the current masks may have no
    /// other bits. Default NULL: masks have no fields.
    const hob_pipeline_dimension *dimensions;
    /// Bytes from one field to the next: sizeof(hob_pipeline_dimension). Default 0: its first released size.
    size_t dimension_stride;
    /// Number of fields, at most 64. All together have at most 256 bits.
    size_t dimension_count;
} hob_pipeline_library_desc;

/// Creates a library, and loads the user's cache.
/// This reads files. On success `*out_library` is the caller's to destroy, and `user_data` is the library's.
///
///     hob_pipeline_library *library = NULL;
///     if (hob_pipeline_library_create(&desc, &library) != HOB_RESULT_OK) fail(hob_last_error());
///
/// A directory that cannot be read or written is no failure: hob_pipeline_library_get_problem says why. A recording
/// that cannot be created is HOB_RESULT_IO. HOB_RESULT_INVALID_ARGUMENT: `compile` is NULL, a name or number is
/// invalid, or a mask has bits beyond the dimensions. HOB_RESULT_LIMIT_EXCEEDED: the version is too long, or there are
/// too many dimensions. Threads: any.
HOB_NODISCARD HOB_EXPERIMENTAL_API hob_result hob_pipeline_library_create(
    const hob_pipeline_library_desc *desc, hob_pipeline_library **out_library);

/// Destroys a library, after writing the pipelines that wait: this may wait for files.
/// NULL is allowed. Waits for compiles that are running. Unlike other handles, it is not destroyed inside its own
/// callbacks: the call does nothing there, and hob_last_error says so. Threads: no call on it may run on another
/// thread.
HOB_EXPERIMENTAL_API void hob_pipeline_library_destroy(hob_pipeline_library *library);

// ---- Experimental: The frame ----------------------------------------------------------------------------------------

/// The state of a pipeline.
typedef enum hob_pipeline_state {
    /// No cache has it: build it, and pass it to hob_pipeline_library_add.
    HOB_PIPELINE_STATE_UNKNOWN = 0,
    /// No current mask selects it.
    HOB_PIPELINE_STATE_UNSELECTED = 1,
    /// It waits to be compiled.
    HOB_PIPELINE_STATE_QUEUED = 2,
    /// It is being compiled.
    HOB_PIPELINE_STATE_RUNNING = 3,
    /// It can be drawn with.
    HOB_PIPELINE_STATE_READY = 4,
    /// The driver refused it. It is not compiled again.
    HOB_PIPELINE_STATE_FAILED = 5,
    /// It ended the process too often. It is not compiled: do not build it yourself either.
    HOB_PIPELINE_STATE_BANNED = 6,
} hob_pipeline_state;

/// Begins a frame: allows the next batch of compiles.
/// `budget_us` is the time that they may take in this frame on all threads together, in microseconds: for instance a
/// burden that a hob_goblin chose. UINT64_MAX: the limit of the mode. 0: only pipelines that are needed now are
/// compiled. A build cannot be interrupted: one that takes longer is paid back by later frames.
///
/// Waits for nothing. Allocates only to post a task to the background when there is work. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_pipeline_library_begin_frame(
    const hob_pipeline_library *library, uint64_t budget_us);

/// Uses a pipeline in this frame, and returns its state.
/// Only HOB_PIPELINE_STATE_READY can be drawn with. A pipeline that is not ready is compiled before all others, in
/// every mode. One look-up. The first use of a pipeline may also take a lock and allocate. No use waits for a file.
/// Returns HOB_PIPELINE_STATE_UNKNOWN after a failure, such as a NULL key.
///
///     if (hob_pipeline_library_use(library, &key) == HOB_PIPELINE_STATE_READY) draw(&key);
///
/// Threads: shared.
HOB_NODISCARD HOB_EXPERIMENTAL_API hob_pipeline_state hob_pipeline_library_use(
    const hob_pipeline_library *library, const hob_fingerprint *key);

/// Adds a pipeline that the host has built itself, because it was not ready.
/// It is ready from now on, counts as used in this frame with the current mask, and is kept for the next start.
/// `build_us` is the time of the build in microseconds, or 0. `out_key`, which may be NULL, receives the key.
///
/// A banned pipeline is ready in this run only: a log line says so, and the next start bans it again, unless
/// hob_pipeline_library_forget lifts the ban. Errors as for hob_pipeline_get_key. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_pipeline_library_add(
    const hob_pipeline_library *library, const hob_pipeline_desc *pipeline, uint64_t build_us,
    hob_fingerprint *out_key);

/// Compiles pipelines on this thread, until none may be compiled now or `timeout_us` microseconds are over.
/// For loading screens, and for worker threads of the host: several may call it at once. A build is not interrupted.
/// `out_count`, which may be NULL, receives the number of pipelines. hob_pipeline_library_begin_frame allows batches.
/// Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_pipeline_library_compile(
    const hob_pipeline_library *library, uint64_t timeout_us, uint32_t *out_count);

/// Waits up to `timeout_us` microseconds until a pipeline has a final state, and returns its state then.
/// This thread compiles it, unless another one does already; that takes as long as the build. With
/// hob_pipeline_library_request other threads compile it. If the host cancels the compile, or inside a compile, the
/// state is returned at once. HOB_PIPELINE_STATE_UNKNOWN: no cache has it. Threads: shared.
HOB_NODISCARD HOB_EXPERIMENTAL_API hob_pipeline_state hob_pipeline_library_wait(
    const hob_pipeline_library *library, const hob_fingerprint *key, uint64_t timeout_us);

/// Requests a pipeline, and waits up to `timeout_us` microseconds for other threads that compile it.
/// It is compiled before all that is not needed now, in every mode, also if no mask selects it. Returns its state after
/// the wait.
///
/// The wait also ends, with any timeout, if the host cancels the compile or forgets the pipeline. `timeout_us` 0, or a
/// call inside a compile: the state is returned at once. Without an executor or threads
/// in hob_pipeline_library_compile nobody compiles it. Does not count as a use. Threads: shared.
HOB_NODISCARD HOB_EXPERIMENTAL_API hob_pipeline_state hob_pipeline_library_request(
    const hob_pipeline_library *library, const hob_fingerprint *key, uint64_t timeout_us);

/// Gets the state of a pipeline, without a use.
/// Threads: shared.
HOB_NODISCARD HOB_EXPERIMENTAL_API hob_pipeline_state hob_pipeline_library_get_state(
    const hob_pipeline_library *library, const hob_fingerprint *key);

// ---- Experimental: Control ------------------------------------------------------------------------------------------

/// Opens a cache that ships with the game, and queues the pipelines that the masks select.
/// Waits for the file. Several caches may be opened. `out_count`, which may be NULL, receives the number of pipelines.
/// Damaged pipelines are skipped; a log line counts them. HOB_RESULT_UNSUPPORTED: it is for another project, format or
/// API, has other mask dimensions, or is another kind of file. HOB_RESULT_IO: it cannot be read. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_pipeline_library_open_cache(
    const hob_pipeline_library *library, hob_str path, uint64_t *out_count);

/// Opens a cache in memory, such as a file of an archive.
/// As hob_pipeline_library_open_cache; `out_count` may be NULL. The bytes are not needed afterwards. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_pipeline_library_open_cache_bytes(
    const hob_pipeline_library *library, const void *data, size_t size, uint64_t *out_count);

/// Changes the mode.
/// Compiles that are running go on. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_pipeline_library_set_mode(
    const hob_pipeline_library *library, hob_pipeline_mode mode);

/// Gets the mode.
/// Threads: shared.
HOB_NODISCARD HOB_EXPERIMENTAL_API hob_pipeline_mode hob_pipeline_library_get_mode(const hob_pipeline_library *library);

/// Changes the current mask and the precompile mask, and selects again which pipelines are compiled ahead.
/// Compiles that are running go on, and pipelines that are ready stay ready. Calls hob_pipeline_library_desc.compare
/// for each distinct mask.
///
/// `precompile_mask`, which may be NULL for no bits, matters in HOB_PIPELINE_MODE_PRECOMPILE only: it selects the
/// pipelines that are compiled fast. No bits select all pipelines. HOB_RESULT_INVALID_ARGUMENT: a mask has bits beyond
/// the dimensions. After an error the masks are as before. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_pipeline_library_set_masks(
    const hob_pipeline_library *library, const hob_pipeline_mask *mask, const hob_pipeline_mask *precompile_mask);

/// Gets the number of selected or requested pipelines that are not compiled yet, for a progress bar.
/// Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_pipeline_library_get_remaining(
    const hob_pipeline_library *library, uint32_t *out_remaining);

/// Gets the number of pipelines that are not compiled yet and that a mask selects, or would, as the current one.
/// For the progress bar of one level, or to know what a change of the mask will cost. Calls
/// hob_pipeline_library_desc.compare for each distinct mask. HOB_RESULT_INVALID_ARGUMENT: the mask has bits beyond the
/// dimensions. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_pipeline_library_get_remaining_of(
    const hob_pipeline_library *library, const hob_pipeline_mask *mask, uint32_t *out_remaining);

/// Compiles a pipeline again that is ready, failed or banned.
/// A ban is lifted, and its strikes are forgotten; with HOB_PIPELINE_READ_ONLY for this run only. `out_count`, which
/// may be NULL, receives the number of pipelines: 0 if there is no such pipeline.
///
/// `key` NULL: all that are ready, for instance after the device was lost. Failed and banned ones stay so. They wait as
/// if the caches had just been opened, and their next use requests them again.
///
/// A compile that is running is not affected: on a lost device, return HOB_PIPELINE_BUILT_CANCELLED from it.
///
/// HOB_RESULT_IO: the strikes of a pipeline cannot be removed from the directory. Then nothing changes. Threads:
/// shared.
HOB_EXPERIMENTAL_API hob_result hob_pipeline_library_forget(
    const hob_pipeline_library *library, const hob_fingerprint *key, uint64_t *out_count);

/// Writes the pipelines that wait to be kept, and their uses, on this thread, and waits for the disk.
/// HOB_RESULT_IO: they cannot be written, or the directory cannot be used at all; they still wait.
/// HOB_RESULT_LIMIT_EXCEEDED: some pipelines of this run are not kept, because `disk_limit` or the disk is too small.
/// Each is reported once. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_pipeline_library_flush(const hob_pipeline_library *library);

/// Gets why pipelines are not kept, bans not remembered, or those of the last start not used: a text without a NUL.
/// `*out_size` receives the required size: 0 if there is no problem. `buffer` NULL asks only for that. If `capacity` is
/// too small, the result is HOB_RESULT_BUFFER_TOO_SMALL and the buffer stays unchanged. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_pipeline_library_get_problem(
    const hob_pipeline_library *library, char *buffer, size_t capacity, size_t *out_size);

// ---- Experimental: Ready groups -------------------------------------------------------------------------------------

/// A ready group.
/// All zero is no group.
typedef struct hob_pipeline_group_id {
    /// Its place, from 1 on; 0 is no group.
    uint32_t index1;
    /// Distinguishes it from earlier groups at that place.
    uint32_t generation;
} hob_pipeline_group_id;

/// How an object is drawn while some of its pipelines are missing.
typedef enum hob_pipeline_policy {
    /// It is not drawn.
    HOB_PIPELINE_POLICY_SKIP = 0,
    /// It is drawn with other pipelines.
    HOB_PIPELINE_POLICY_SUBSTITUTE = 1,
    /// The call waits. If the time is over, the object is not drawn.
    HOB_PIPELINE_POLICY_WAIT = 2,
} hob_pipeline_policy;

/// How to draw an object now.
typedef enum hob_pipeline_decision {
    /// Do not draw it.
    HOB_PIPELINE_DECISION_SKIP = 0,
    /// Draw it with other pipelines.
    HOB_PIPELINE_DECISION_SUBSTITUTE = 1,
    /// All its pipelines are ready: draw it.
    HOB_PIPELINE_DECISION_DRAW = 2,
} hob_pipeline_decision;

/// Adds a group: the pipelines of one object, such as those of its passes.
/// A group has at most 4096 keys. A key that no cache has counts as missing until hob_pipeline_library_add.
/// HOB_RESULT_LIMIT_EXCEEDED: too many keys. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_pipeline_library_add_group(
    const hob_pipeline_library *library, const hob_fingerprint *keys, size_t key_stride, size_t key_count,
    hob_pipeline_group_id *out_group);

/// Removes a group.
/// Its pipelines stay. HOB_RESULT_NOT_FOUND: there is no such group. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_pipeline_library_remove_group(
    const hob_pipeline_library *library, hob_pipeline_group_id group);

/// Decides how to draw the object of a group in this frame.
/// The first call for a group that is not ready requests its missing pipelines, also again after one was forgotten.
/// With HOB_PIPELINE_POLICY_WAIT the call waits up to `timeout_us` microseconds for other threads that compile, but not
/// inside a compile; otherwise it takes no lock and waits for nothing.
///
/// The wait ends with HOB_PIPELINE_DECISION_SKIP, with any timeout, if the host cancels a compile of the group, or
/// forgets a pipeline of it.
///
/// A decision does not count as a use: call hob_pipeline_library_use for each pipeline that is drawn with.
///
/// Returns HOB_PIPELINE_DECISION_SKIP after a failure, such as an unknown group, and HOB_PIPELINE_DECISION_DRAW if the
/// library is switched off. Threads: shared.
HOB_NODISCARD HOB_EXPERIMENTAL_API hob_pipeline_decision hob_pipeline_library_decide(
    const hob_pipeline_library *library, hob_pipeline_group_id group, hob_pipeline_policy policy, uint64_t timeout_us);

// ---- Experimental: Statistics ---------------------------------------------------------------------------------------

/// Counts of a library since it was created.
/// An answer: set struct_size, or begin with HOB_PIPELINE_STATISTICS_INIT.
typedef struct hob_pipeline_statistics {
    /// sizeof(hob_pipeline_statistics).
    uint32_t struct_size;
    /// Must be 0.
    uint32_t reserved;
    /// Pipelines of all caches, the user's included.
    uint64_t opened;
    /// Opened pipelines that were used so far.
    uint64_t used;
    /// Used pipelines that were ready at their first use.
    uint64_t ready_at_first_use;
    /// Used pipelines of the caches that were not ready at their first use.
    /// They waited, were being compiled, had failed, or were banned. Recordings say so for each pipeline. `unknown`
    /// counts pipelines that no cache had.
    uint64_t missed;
    /// Pipelines that were used and that no cache had.
    uint64_t unknown;
    /// Milliseconds that the host spent to build missed and unknown pipelines: hob_pipeline_library_add.
    uint64_t hitch_ms;
    /// Selected or requested pipelines that are not compiled yet.
    uint64_t remaining;
    /// Pipelines that are ready.
    uint64_t ready;
    /// Pipelines that the driver refused.
    uint64_t failed;
    /// Pipelines that are banned.
    uint64_t banned;
    /// Decisions on groups: not drawn, because a pipeline was missing.
    uint64_t groups_skipped;
    /// Decisions on groups: drawn with other pipelines.
    uint64_t groups_substituted;
    /// Decisions on groups: not drawn after a wait.
    uint64_t groups_timed_out;
    /// Bytes of memory held.
    uint64_t memory_used;
} hob_pipeline_statistics;

/// Gets the counts of a library.
/// Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_pipeline_library_get_statistics(
    const hob_pipeline_library *library, hob_pipeline_statistics *out_statistics);

// ---- Experimental: Shipped caches -----------------------------------------------------------------------------------

/// Parameters of hob_pipeline_expand.
/// Paths: on Unix any bytes without NUL, elsewhere UTF-8.
typedef struct hob_pipeline_expand_desc {
    /// sizeof(hob_pipeline_expand_desc).
    uint32_t struct_size;
    /// Must be 0.
    uint32_t reserved;
    /// Paths of recordings, which one build of the game made: at least one.
    const hob_str *recordings;
    /// Bytes from one path to the next: sizeof(hob_str). Default 0: its first released size.
    size_t recording_stride;
    /// Number of recordings.
    size_t recording_count;
    /// Paths of the key maps of that build: `*.hobkeys`, or CSV if the name ends in `.csv`.
    /// A CSV file is UTF-8. Each line is `hash,stage,"key"`: 40 hexadecimal digits, the number of a hob_shader_stage or
    /// of the host or nothing, and at most 4096 bytes. A quote in the key is doubled. The line `hash,stage,key` may be
    /// the first one: it is skipped.
    const hob_str *keys;
    /// Bytes from one path to the next: sizeof(hob_str). Default 0: its first released size.
    size_t key_stride;
    /// Number of key maps.
    size_t key_count;
    /// Path of the stable file, which must not be an input. An existing file is replaced when the new one is complete.
    hob_str out;
} hob_pipeline_expand_desc;

/// Counts of hob_pipeline_expand.
/// An answer: set struct_size, or begin with HOB_PIPELINE_EXPAND_REPORT_INIT.
typedef struct hob_pipeline_expand_report {
    /// sizeof(hob_pipeline_expand_report).
    uint32_t struct_size;
    /// Must be 0.
    uint32_t reserved;
    /// Recordings merged.
    uint64_t recordings;
    /// Recordings of a run that was merged already.
    uint64_t repeated;
    /// Pipelines in the recordings.
    uint64_t pipelines;
    /// Pipelines in the stable file.
    uint64_t stable;
    /// Pipelines with a shader that has no key. They are not in the stable file.
    uint64_t unresolved;
    /// Damaged records. They are skipped.
    uint64_t damaged;
    /// Recordings that end within a record, as a copy that was cut does. A killed run usually ends with a whole record:
    /// it does not count, although its last uses were not written.
    uint64_t truncated;
    /// Bytes of the stable file.
    uint64_t bytes;
} hob_pipeline_expand_report;

/// Expresses the pipelines of recordings in the stable keys of their shaders, as a file.
/// For build tools. Waits for files. Takes 64 MiB of memory besides the key map, or a quarter of its temporary file.
/// The file stands beside `out`, is deleted at any end, and has a few times its bytes. Key maps are held in part, CSV
/// files as a whole. A log line names each of the first unresolved pipelines. `out_report` may be NULL.
///
/// HOB_RESULT_INVALID_ARGUMENT: `out` is an input, also under another name. HOB_RESULT_UNSUPPORTED: a recording is of
/// another game, format, API, version, or set of mask dimensions (hob_pipeline_library_desc.dimensions) than the first
/// one.
///
/// HOB_RESULT_LIMIT_EXCEEDED: a line of a CSV file has more than 64 KiB, or a list more than 1048576 paths.
/// HOB_RESULT_NOT_FOUND: no pipeline has keys for all its shaders. HOB_RESULT_MALFORMED: a file is damaged as a whole.
/// HOB_RESULT_IO: a file cannot be read or written. After an error the file at `out` is as before. Threads: any.
HOB_EXPERIMENTAL_API hob_result hob_pipeline_expand(
    const hob_pipeline_expand_desc *desc, hob_pipeline_expand_report *out_report);

/// hob_pipeline_build_desc.flags: do not add the compute shaders that no recording used.
#define HOB_PIPELINE_BUILD_NO_COMPUTE 1

/// hob_pipeline_build_desc.flags: keep pipelines whose state does not fit.
/// For vertex shaders that are used with several vertex formats on purpose.
#define HOB_PIPELINE_BUILD_NO_SANITISING 2

/// Parameters of hob_pipeline_build.
/// Paths: on Unix any bytes without NUL, elsewhere UTF-8.
typedef struct hob_pipeline_build_desc {
    /// sizeof(hob_pipeline_build_desc).
    uint32_t struct_size;
    /// A hob_graphics_api, or a number of the host from HOB_GRAPHICS_API_USER on.
    uint32_t api;
    /// The game, as in hob_pipeline_library_desc.
    hob_str project;
    /// The format of its shaders, as in hob_pipeline_library_desc.
    hob_str format;
    /// The version of this build, for people.
    hob_str version;
    /// Paths of stable files. May be NULL if the count is 0: then the cache has compute pipelines only.
    const hob_str *stable;
    /// Bytes from one path to the next: sizeof(hob_str). Default 0: its first released size.
    size_t stable_stride;
    /// Number of stable files.
    size_t stable_count;
    /// Paths of the key maps of this build, as in hob_pipeline_expand_desc.
    const hob_str *keys;
    /// Bytes from one path to the next: sizeof(hob_str). Default 0: its first released size.
    size_t key_stride;
    /// Number of key maps.
    size_t key_count;
    /// Path of the cache, which must not be an input. An existing file is replaced when the new one is complete.
    hob_str out;
    /// Most pipelines that one stable pipeline becomes, if several shaders share a key. Default 64.
    uint32_t combinations;
    /// HOB_PIPELINE_BUILD_NO_COMPUTE and the like. Default 0.
    uint32_t flags;
} hob_pipeline_build_desc;

/// Counts of hob_pipeline_build.
/// An answer: set struct_size, or begin with HOB_PIPELINE_BUILD_REPORT_INIT.
typedef struct hob_pipeline_build_report {
    /// sizeof(hob_pipeline_build_report).
    uint32_t struct_size;
    /// Must be 0.
    uint32_t reserved;
    /// Different lines of the key maps.
    uint64_t key_lines;
    /// Stable files merged.
    uint64_t files;
    /// Stable files that were merged already.
    uint64_t repeated;
    /// Stable files of another game, format, API, or set of hob_pipeline_library_desc.dimensions. They are not used.
    uint64_t skipped;
    /// Stable pipelines in the files.
    uint64_t stable;
    /// Stable pipelines with a shader that this build does not have.
    uint64_t rejected;
    /// Pipelines that stable ones became, before equal ones were united.
    uint64_t merged;
    /// Stable pipelines with more combinations of shaders than the limit.
    uint64_t cut;
    /// Different pipelines.
    uint64_t different;
    /// Compute pipelines that were added.
    uint64_t added_compute;
    /// Filtered out: most pipelines of the vertex shader have another vertex format. After a tie all are kept.
    uint64_t inconsistent;
    /// Filtered out: no vertex attributes, and the vertex shader has some elsewhere.
    uint64_t empty;
    /// Filtered out: the state is invalid.
    uint64_t invalid;
    /// Graphics pipelines written.
    uint64_t graphics;
    /// Compute pipelines written.
    uint64_t compute;
    /// Ray-tracing pipelines written.
    uint64_t ray_tracing;
    /// Damaged records. They are skipped.
    uint64_t damaged;
    /// Stable files that end within a record, as a copy that was cut does.
    uint64_t truncated;
    /// Bytes of the cache.
    uint64_t bytes;
} hob_pipeline_build_report;

/// Makes the cache that ships with a build of the game: hob_pipeline_library_open_cache opens it.
/// For build tools. Waits for files. Equal inputs give equal bytes, in any order. Log lines give all counts, and name
/// the first rejected pipelines. Memory and temporary files are as for hob_pipeline_expand. `out_report` may be NULL.
///
/// HOB_RESULT_INVALID_ARGUMENT: `out` is an input, also under another name, or a name is invalid.
/// HOB_RESULT_LIMIT_EXCEEDED: as for hob_pipeline_expand. HOB_RESULT_NOT_FOUND: stable files were given, and none of
/// their graphics pipelines could be built, or nothing at all. HOB_RESULT_MALFORMED: a file is damaged as a whole.
/// HOB_RESULT_IO: a file cannot be read or written. After an error the file at `out` is as before. Threads: any.
HOB_EXPERIMENTAL_API hob_result hob_pipeline_build(
    const hob_pipeline_build_desc *desc, hob_pipeline_build_report *out_report);

// ---- Initialisers ---------------------------------------------------------------------------------------------------
//
// HOB_X_INIT is a hob_x with the library's defaults and this header's size: `hob_x value = HOB_X_INIT;`
// hob_x_init does the same for other languages: `size` is sizeof(hob_x).

HOB_EXPERIMENTAL_API hob_result hob_pipeline_desc_init(hob_pipeline_desc *value, uint32_t size);
static inline hob_pipeline_desc hob_pipeline_desc_default(void) {
    hob_pipeline_desc value;
    (void)hob_pipeline_desc_init(&value, (uint32_t)sizeof(value));
    value.shader_stride = sizeof(hob_pipeline_shader);
    return value;
}
#define HOB_PIPELINE_DESC_INIT (hob_pipeline_desc_default())

HOB_EXPERIMENTAL_API hob_result hob_pipeline_graphics_state_init(hob_pipeline_graphics_state *value, uint32_t size);
static inline hob_pipeline_graphics_state hob_pipeline_graphics_state_default(void) {
    hob_pipeline_graphics_state value;
    (void)hob_pipeline_graphics_state_init(&value, (uint32_t)sizeof(value));
    value.vertex_buffer_stride = sizeof(hob_pipeline_vertex_buffer);
    value.attribute_stride = sizeof(hob_pipeline_vertex_attribute);
    value.color_target_stride = sizeof(hob_pipeline_color_target);
    return value;
}
#define HOB_PIPELINE_GRAPHICS_STATE_INIT (hob_pipeline_graphics_state_default())

HOB_EXPERIMENTAL_API hob_result hob_pipeline_compute_state_init(hob_pipeline_compute_state *value, uint32_t size);
static inline hob_pipeline_compute_state hob_pipeline_compute_state_default(void) {
    hob_pipeline_compute_state value;
    (void)hob_pipeline_compute_state_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_PIPELINE_COMPUTE_STATE_INIT (hob_pipeline_compute_state_default())

HOB_EXPERIMENTAL_API hob_result hob_pipeline_ray_tracing_state_init(hob_pipeline_ray_tracing_state *value, uint32_t size);
static inline hob_pipeline_ray_tracing_state hob_pipeline_ray_tracing_state_default(void) {
    hob_pipeline_ray_tracing_state value;
    (void)hob_pipeline_ray_tracing_state_init(&value, (uint32_t)sizeof(value));
    value.group_stride = sizeof(hob_pipeline_shader_group);
    return value;
}
#define HOB_PIPELINE_RAY_TRACING_STATE_INIT (hob_pipeline_ray_tracing_state_default())

HOB_EXPERIMENTAL_API hob_result hob_pipeline_job_init(hob_pipeline_job *value, uint32_t size);
static inline hob_pipeline_job hob_pipeline_job_default(void) {
    hob_pipeline_job value;
    (void)hob_pipeline_job_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_PIPELINE_JOB_INIT (hob_pipeline_job_default())

HOB_EXPERIMENTAL_API hob_result hob_pipeline_library_desc_init(hob_pipeline_library_desc *value, uint32_t size);
static inline hob_pipeline_library_desc hob_pipeline_library_desc_default(void) {
    hob_pipeline_library_desc value;
    (void)hob_pipeline_library_desc_init(&value, (uint32_t)sizeof(value));
    value.dimension_stride = sizeof(hob_pipeline_dimension);
    return value;
}
#define HOB_PIPELINE_LIBRARY_DESC_INIT (hob_pipeline_library_desc_default())

HOB_EXPERIMENTAL_API hob_result hob_pipeline_statistics_init(hob_pipeline_statistics *value, uint32_t size);
static inline hob_pipeline_statistics hob_pipeline_statistics_default(void) {
    hob_pipeline_statistics value;
    (void)hob_pipeline_statistics_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_PIPELINE_STATISTICS_INIT (hob_pipeline_statistics_default())

HOB_EXPERIMENTAL_API hob_result hob_pipeline_expand_desc_init(hob_pipeline_expand_desc *value, uint32_t size);
static inline hob_pipeline_expand_desc hob_pipeline_expand_desc_default(void) {
    hob_pipeline_expand_desc value;
    (void)hob_pipeline_expand_desc_init(&value, (uint32_t)sizeof(value));
    value.recording_stride = sizeof(hob_str);
    value.key_stride = sizeof(hob_str);
    return value;
}
#define HOB_PIPELINE_EXPAND_DESC_INIT (hob_pipeline_expand_desc_default())

HOB_EXPERIMENTAL_API hob_result hob_pipeline_expand_report_init(hob_pipeline_expand_report *value, uint32_t size);
static inline hob_pipeline_expand_report hob_pipeline_expand_report_default(void) {
    hob_pipeline_expand_report value;
    (void)hob_pipeline_expand_report_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_PIPELINE_EXPAND_REPORT_INIT (hob_pipeline_expand_report_default())

HOB_EXPERIMENTAL_API hob_result hob_pipeline_build_desc_init(hob_pipeline_build_desc *value, uint32_t size);
static inline hob_pipeline_build_desc hob_pipeline_build_desc_default(void) {
    hob_pipeline_build_desc value;
    (void)hob_pipeline_build_desc_init(&value, (uint32_t)sizeof(value));
    value.stable_stride = sizeof(hob_str);
    value.key_stride = sizeof(hob_str);
    return value;
}
#define HOB_PIPELINE_BUILD_DESC_INIT (hob_pipeline_build_desc_default())

HOB_EXPERIMENTAL_API hob_result hob_pipeline_build_report_init(hob_pipeline_build_report *value, uint32_t size);
static inline hob_pipeline_build_report hob_pipeline_build_report_default(void) {
    hob_pipeline_build_report value;
    (void)hob_pipeline_build_report_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_PIPELINE_BUILD_REPORT_INIT (hob_pipeline_build_report_default())

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HOBGOBLIN_PIPELINE_H
