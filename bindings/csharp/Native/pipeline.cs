// hobgoblin/pipeline.h: Experimental: Pipeline state objects (PSOs), compiled before the frame that needs them.
// Generated from abi/hobgoblin-api.json; do not edit. MIT OR Apache-2.0.

using System;
using System.Runtime.InteropServices;

namespace Hobgoblin.Interop
{
    /// <summary>The numeric macros of the headers.</summary>
    public static partial class Constants
    {
        /// <summary>Experimental: hob_pipeline_desc.schema: the library's own schema, for a host without a serialiser.</summary>
        /// <remarks>
        /// <c>state</c> has the bytes of hob_pipeline_encode_graphics, hob_pipeline_encode_compute or
        /// hob_pipeline_encode_ray_tracing.
        /// </remarks>
        public const uint HOB_PIPELINE_SCHEMA_OWN = 0;

        /// <summary>Experimental: hob_pipeline_library_desc.flags: keep no pipelines for the next start.</summary>
        public const uint HOB_PIPELINE_NO_USER_CACHE = 1;

        /// <summary>Experimental: hob_pipeline_library_desc.flags: compile pipelines with new shaders first, so that each shader is built early.</summary>
        /// <remarks>
        /// For drivers that link pipelines quickly from compiled shaders.
        /// </remarks>
        public const uint HOB_PIPELINE_SHADERS_FIRST = 2;

        /// <summary>Experimental: hob_pipeline_library_desc.flags: write nothing to the directory.</summary>
        public const uint HOB_PIPELINE_READ_ONLY = 4;

        /// <summary>Experimental: hob_pipeline_library_desc.flags: switch the library off.</summary>
        /// <remarks>
        /// All calls succeed and do nothing, and hob_pipeline_library_use returns HOB_PIPELINE_STATE_UNKNOWN.
        /// </remarks>
        public const uint HOB_PIPELINE_DISABLED = 8;

        /// <summary>Experimental: hob_pipeline_build_desc.flags: do not add the compute shaders that no recording used.</summary>
        public const uint HOB_PIPELINE_BUILD_NO_COMPUTE = 1;

        /// <summary>Experimental: hob_pipeline_build_desc.flags: keep pipelines whose state does not fit.</summary>
        /// <remarks>
        /// For vertex shaders that are used with several vertex formats on purpose.
        /// </remarks>
        public const uint HOB_PIPELINE_BUILD_NO_SANITISING = 2;
    }

    /// <summary>Experimental: Kinds of pipelines.</summary>
    public enum hob_pipeline_kind : uint
    {
        /// <summary>Vertex or mesh shaders, and fragments.</summary>
        HOB_PIPELINE_KIND_GRAPHICS = 0,

        /// <summary>A compute shader.</summary>
        HOB_PIPELINE_KIND_COMPUTE = 1,

        /// <summary>Ray generation, hit, miss and callable shaders.</summary>
        HOB_PIPELINE_KIND_RAY_TRACING = 2,
    }

    /// <summary>Experimental: How vertices form primitives.</summary>
    /// <remarks>
    /// All enumerators of this schema have the numbers of Vulkan.
    /// </remarks>
    public enum hob_pipeline_topology : uint
    {
        /// <summary>Points.</summary>
        HOB_PIPELINE_TOPOLOGY_POINT_LIST = 0,

        /// <summary>Separate lines.</summary>
        HOB_PIPELINE_TOPOLOGY_LINE_LIST = 1,

        /// <summary>Connected lines.</summary>
        HOB_PIPELINE_TOPOLOGY_LINE_STRIP = 2,

        /// <summary>Separate triangles.</summary>
        HOB_PIPELINE_TOPOLOGY_TRIANGLE_LIST = 3,

        /// <summary>Triangles that share edges.</summary>
        HOB_PIPELINE_TOPOLOGY_TRIANGLE_STRIP = 4,

        /// <summary>Triangles that share the first vertex.</summary>
        HOB_PIPELINE_TOPOLOGY_TRIANGLE_FAN = 5,

        /// <summary>Separate lines with adjacent vertices.</summary>
        HOB_PIPELINE_TOPOLOGY_LINE_LIST_ADJACENCY = 6,

        /// <summary>Connected lines with adjacent vertices.</summary>
        HOB_PIPELINE_TOPOLOGY_LINE_STRIP_ADJACENCY = 7,

        /// <summary>Separate triangles with adjacent vertices.</summary>
        HOB_PIPELINE_TOPOLOGY_TRIANGLE_LIST_ADJACENCY = 8,

        /// <summary>Triangles that share edges, with adjacent vertices.</summary>
        HOB_PIPELINE_TOPOLOGY_TRIANGLE_STRIP_ADJACENCY = 9,

        /// <summary>Patches for tessellation.</summary>
        HOB_PIPELINE_TOPOLOGY_PATCH_LIST = 10,
    }

    /// <summary>Experimental: Whether the largest index restarts a strip.</summary>
    public enum hob_pipeline_primitive_restart : uint
    {
        /// <summary>No index restarts a strip.</summary>
        HOB_PIPELINE_PRIMITIVE_RESTART_OFF = 0,

        /// <summary>The largest index of either size.</summary>
        HOB_PIPELINE_PRIMITIVE_RESTART_ON = 1,

        /// <summary>The largest index of 16 bits.</summary>
        HOB_PIPELINE_PRIMITIVE_RESTART_UINT16 = 2,

        /// <summary>The largest index of 32 bits.</summary>
        HOB_PIPELINE_PRIMITIVE_RESTART_UINT32 = 3,
    }

    /// <summary>Experimental: The triangles that are not drawn.</summary>
    public enum hob_pipeline_cull_mode : uint
    {
        /// <summary>None.</summary>
        HOB_PIPELINE_CULL_MODE_NONE = 0,

        /// <summary>Those that face the viewer.</summary>
        HOB_PIPELINE_CULL_MODE_FRONT = 1,

        /// <summary>Those that face away.</summary>
        HOB_PIPELINE_CULL_MODE_BACK = 2,
    }

    /// <summary>Experimental: The winding of triangles that face the viewer.</summary>
    public enum hob_pipeline_front_face : uint
    {
        /// <summary>Counter-clockwise.</summary>
        HOB_PIPELINE_FRONT_FACE_COUNTER_CLOCKWISE = 0,

        /// <summary>Clockwise.</summary>
        HOB_PIPELINE_FRONT_FACE_CLOCKWISE = 1,
    }

    /// <summary>Experimental: How triangles are drawn.</summary>
    public enum hob_pipeline_fill_mode : uint
    {
        /// <summary>Filled.</summary>
        HOB_PIPELINE_FILL_MODE_FILL = 0,

        /// <summary>As lines.</summary>
        HOB_PIPELINE_FILL_MODE_LINE = 1,

        /// <summary>As points.</summary>
        HOB_PIPELINE_FILL_MODE_POINT = 2,
    }

    /// <summary>Experimental: A comparison of a new value with a stored one.</summary>
    public enum hob_pipeline_compare : uint
    {
        /// <summary>Never passes.</summary>
        HOB_PIPELINE_COMPARE_NEVER = 0,

        /// <summary>The new value is less.</summary>
        HOB_PIPELINE_COMPARE_LESS = 1,

        /// <summary>Both are equal.</summary>
        HOB_PIPELINE_COMPARE_EQUAL = 2,

        /// <summary>The new value is less or equal.</summary>
        HOB_PIPELINE_COMPARE_LESS_OR_EQUAL = 3,

        /// <summary>The new value is greater.</summary>
        HOB_PIPELINE_COMPARE_GREATER = 4,

        /// <summary>The values differ.</summary>
        HOB_PIPELINE_COMPARE_NOT_EQUAL = 5,

        /// <summary>The new value is greater or equal.</summary>
        HOB_PIPELINE_COMPARE_GREATER_OR_EQUAL = 6,

        /// <summary>Always passes.</summary>
        HOB_PIPELINE_COMPARE_ALWAYS = 7,
    }

    /// <summary>Experimental: A change of a stencil value.</summary>
    public enum hob_pipeline_stencil_op : uint
    {
        /// <summary>Keep the value.</summary>
        HOB_PIPELINE_STENCIL_OP_KEEP = 0,

        /// <summary>Set 0.</summary>
        HOB_PIPELINE_STENCIL_OP_ZERO = 1,

        /// <summary>Set the reference.</summary>
        HOB_PIPELINE_STENCIL_OP_REPLACE = 2,

        /// <summary>Add 1, up to the largest value.</summary>
        HOB_PIPELINE_STENCIL_OP_INCREMENT_CLAMP = 3,

        /// <summary>Subtract 1, down to 0.</summary>
        HOB_PIPELINE_STENCIL_OP_DECREMENT_CLAMP = 4,

        /// <summary>Invert all bits.</summary>
        HOB_PIPELINE_STENCIL_OP_INVERT = 5,

        /// <summary>Add 1; the largest value becomes 0.</summary>
        HOB_PIPELINE_STENCIL_OP_INCREMENT_WRAP = 6,

        /// <summary>Subtract 1; 0 becomes the largest value.</summary>
        HOB_PIPELINE_STENCIL_OP_DECREMENT_WRAP = 7,
    }

    /// <summary>Experimental: A factor of blending.</summary>
    public enum hob_pipeline_blend_factor : uint
    {
        /// <summary>0.</summary>
        HOB_PIPELINE_BLEND_FACTOR_ZERO = 0,

        /// <summary>1.</summary>
        HOB_PIPELINE_BLEND_FACTOR_ONE = 1,

        /// <summary>The source's colour.</summary>
        HOB_PIPELINE_BLEND_FACTOR_SOURCE_COLOR = 2,

        /// <summary>1 minus the source's colour.</summary>
        HOB_PIPELINE_BLEND_FACTOR_ONE_MINUS_SOURCE_COLOR = 3,

        /// <summary>The destination's colour.</summary>
        HOB_PIPELINE_BLEND_FACTOR_DESTINATION_COLOR = 4,

        /// <summary>1 minus the destination's colour.</summary>
        HOB_PIPELINE_BLEND_FACTOR_ONE_MINUS_DESTINATION_COLOR = 5,

        /// <summary>The source's alpha.</summary>
        HOB_PIPELINE_BLEND_FACTOR_SOURCE_ALPHA = 6,

        /// <summary>1 minus the source's alpha.</summary>
        HOB_PIPELINE_BLEND_FACTOR_ONE_MINUS_SOURCE_ALPHA = 7,

        /// <summary>The destination's alpha.</summary>
        HOB_PIPELINE_BLEND_FACTOR_DESTINATION_ALPHA = 8,

        /// <summary>1 minus the destination's alpha.</summary>
        HOB_PIPELINE_BLEND_FACTOR_ONE_MINUS_DESTINATION_ALPHA = 9,

        /// <summary>The blend constant's colour.</summary>
        HOB_PIPELINE_BLEND_FACTOR_CONSTANT_COLOR = 10,

        /// <summary>1 minus the blend constant's colour.</summary>
        HOB_PIPELINE_BLEND_FACTOR_ONE_MINUS_CONSTANT_COLOR = 11,

        /// <summary>The blend constant's alpha.</summary>
        HOB_PIPELINE_BLEND_FACTOR_CONSTANT_ALPHA = 12,

        /// <summary>1 minus the blend constant's alpha.</summary>
        HOB_PIPELINE_BLEND_FACTOR_ONE_MINUS_CONSTANT_ALPHA = 13,

        /// <summary>The smaller of the source's alpha and 1 minus the destination's alpha.</summary>
        HOB_PIPELINE_BLEND_FACTOR_SOURCE_ALPHA_SATURATE = 14,

        /// <summary>The second source's colour.</summary>
        HOB_PIPELINE_BLEND_FACTOR_SOURCE1_COLOR = 15,

        /// <summary>1 minus the second source's colour.</summary>
        HOB_PIPELINE_BLEND_FACTOR_ONE_MINUS_SOURCE1_COLOR = 16,

        /// <summary>The second source's alpha.</summary>
        HOB_PIPELINE_BLEND_FACTOR_SOURCE1_ALPHA = 17,

        /// <summary>1 minus the second source's alpha.</summary>
        HOB_PIPELINE_BLEND_FACTOR_ONE_MINUS_SOURCE1_ALPHA = 18,
    }

    /// <summary>Experimental: How blending combines source and destination.</summary>
    public enum hob_pipeline_blend_op : uint
    {
        /// <summary>Source plus destination.</summary>
        HOB_PIPELINE_BLEND_OP_ADD = 0,

        /// <summary>Source minus destination.</summary>
        HOB_PIPELINE_BLEND_OP_SUBTRACT = 1,

        /// <summary>Destination minus source.</summary>
        HOB_PIPELINE_BLEND_OP_REVERSE_SUBTRACT = 2,

        /// <summary>The smaller one.</summary>
        HOB_PIPELINE_BLEND_OP_MIN = 3,

        /// <summary>The larger one.</summary>
        HOB_PIPELINE_BLEND_OP_MAX = 4,
    }

    /// <summary>Experimental: Kinds of shader groups.</summary>
    public enum hob_pipeline_shader_group_kind : uint
    {
        /// <summary>A ray generation, miss or callable shader.</summary>
        HOB_PIPELINE_SHADER_GROUP_KIND_GENERAL = 0,

        /// <summary>A hit group for triangles.</summary>
        HOB_PIPELINE_SHADER_GROUP_KIND_TRIANGLES = 1,

        /// <summary>A hit group for procedural geometry.</summary>
        HOB_PIPELINE_SHADER_GROUP_KIND_PROCEDURAL = 2,
    }

    /// <summary>Experimental: How fast pipelines are compiled.</summary>
    public enum hob_pipeline_mode : uint
    {
        /// <summary>Only pipelines that are needed now.</summary>
        HOB_PIPELINE_MODE_PAUSED = 0,

        /// <summary>For loading screens: up to 50 pipelines or 16 ms a frame.</summary>
        HOB_PIPELINE_MODE_FAST = 1,

        /// <summary>While the game runs: 1 pipeline a frame.</summary>
        HOB_PIPELINE_MODE_BACKGROUND = 2,

        /// <summary>Up to 50 pipelines or 10 ms a frame, until none of the precompile mask remains; then as in the background.</summary>
        HOB_PIPELINE_MODE_PRECOMPILE = 3,
    }

    /// <summary>Experimental: The order of compiles.</summary>
    public enum hob_pipeline_order : uint
    {
        /// <summary>By predicted first use: the frames of first uses in recordings, and the pipelines in use now.</summary>
        HOB_PIPELINE_ORDER_PREDICTED = 0,

        /// <summary>As the caches list them.</summary>
        HOB_PIPELINE_ORDER_FILE = 1,

        /// <summary>By the frame of their first use.</summary>
        HOB_PIPELINE_ORDER_FIRST_TO_LATEST_USED = 2,

        /// <summary>By their number of uses, the largest first.</summary>
        HOB_PIPELINE_ORDER_MOST_TO_LEAST_USED = 3,

        /// <summary>Grouped by usage mask.</summary>
        HOB_PIPELINE_ORDER_USAGE_MASK = 4,
    }

    /// <summary>Experimental: The result of hob_pipeline_library_desc.compile.</summary>
    public enum hob_pipeline_built : uint
    {
        /// <summary>The pipeline is ready.</summary>
        HOB_PIPELINE_BUILT_READY = 0,

        /// <summary>The driver refused it. It is not compiled again.</summary>
        HOB_PIPELINE_BUILT_FAILED = 1,

        /// <summary>It was not compiled now. It is queued again, and the call or task that compiles ends. In the background the next
        /// frame goes on.</summary>
        HOB_PIPELINE_BUILT_CANCELLED = 2,
    }

    /// <summary>Experimental: The state of a pipeline.</summary>
    public enum hob_pipeline_state : uint
    {
        /// <summary>No cache has it: build it, and pass it to hob_pipeline_library_add.</summary>
        HOB_PIPELINE_STATE_UNKNOWN = 0,

        /// <summary>No current mask selects it.</summary>
        HOB_PIPELINE_STATE_UNSELECTED = 1,

        /// <summary>It waits to be compiled.</summary>
        HOB_PIPELINE_STATE_QUEUED = 2,

        /// <summary>It is being compiled.</summary>
        HOB_PIPELINE_STATE_RUNNING = 3,

        /// <summary>It can be drawn with.</summary>
        HOB_PIPELINE_STATE_READY = 4,

        /// <summary>The driver refused it. It is not compiled again.</summary>
        HOB_PIPELINE_STATE_FAILED = 5,

        /// <summary>It ended the process too often. It is not compiled: do not build it yourself either.</summary>
        HOB_PIPELINE_STATE_BANNED = 6,
    }

    /// <summary>Experimental: How an object is drawn while some of its pipelines are missing.</summary>
    public enum hob_pipeline_policy : uint
    {
        /// <summary>It is not drawn.</summary>
        HOB_PIPELINE_POLICY_SKIP = 0,

        /// <summary>It is drawn with other pipelines.</summary>
        HOB_PIPELINE_POLICY_SUBSTITUTE = 1,

        /// <summary>The call waits. If the time is over, the object is not drawn.</summary>
        HOB_PIPELINE_POLICY_WAIT = 2,
    }

    /// <summary>Experimental: How to draw an object now.</summary>
    public enum hob_pipeline_decision : uint
    {
        /// <summary>Do not draw it.</summary>
        HOB_PIPELINE_DECISION_SKIP = 0,

        /// <summary>Draw it with other pipelines.</summary>
        HOB_PIPELINE_DECISION_SUBSTITUTE = 1,

        /// <summary>All its pipelines are ready: draw it.</summary>
        HOB_PIPELINE_DECISION_DRAW = 2,
    }

    /// <summary>Experimental: The pipelines of a running game.</summary>
    /// <remarks>
    /// A handle: see "Handles" in base.h.
    /// </remarks>
    public struct hob_pipeline_library
    {
    }

    /// <summary>Experimental: A shader of a pipeline.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_pipeline_shader
    {
        /// <summary>A hob_shader_stage, or a number of the host from HOB_SHADER_STAGE_USER on. Builds check the vertex formats only
        /// of HOB_SHADER_STAGE_VERTEX.</summary>
        public uint stage;

        /// <summary>SHA-1 of its bytecode, or the first 20 bytes of another hash.</summary>
        public fixed byte hash[20];
    }

    /// <summary>Experimental: The description of a pipeline: everything that the driver's compiler gets.</summary>
    /// <remarks>
    /// The library keeps no pointer of it.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_pipeline_desc
    {
        /// <summary>sizeof(hob_pipeline_desc).</summary>
        public uint struct_size;

        /// <summary>Graphics, compute or ray tracing. Default 0: HOB_PIPELINE_KIND_GRAPHICS.</summary>
        public hob_pipeline_kind kind;

        /// <summary>The layout of <c>state</c>: a number of the host, from 1 on. Change it when the layout changes. Default
        /// HOB_PIPELINE_SCHEMA_OWN.</summary>
        public uint schema;

        /// <summary>Bytes of <c>state</c>, at most 1 MiB.</summary>
        public uint state_size;

        /// <summary>Everything but the shaders: vertex layout, raster, blend and depth state, formats. With HOB_PIPELINE_SCHEMA_OWN
        /// the bytes of an encode function. Otherwise any form: write the fields in a fixed order, without padding bytes.</summary>
        /// <remarks>
        /// May be NULL if <c>state_size</c> is 0.
        /// </remarks>
        public void* state;

        /// <summary>At least one shader, and at most 1024. Their order matters.</summary>
        public hob_pipeline_shader* shaders;

        /// <summary>Bytes from one shader to the next: sizeof(hob_pipeline_shader). Default 0: its first released size.</summary>
        public UIntPtr shader_stride;

        /// <summary>Number of shaders.</summary>
        public UIntPtr shader_count;
    }

    /// <summary>Experimental: A usage mask: situations of the game, as bits of the host, or as named fields: see hob_pipeline_dimension.</summary>
    /// <remarks>
    /// A host with 64 bits uses the first word.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_pipeline_mask
    {
        /// <summary>The bits, the lowest first.</summary>
        public fixed ulong words[4];
    }

    /// <summary>Experimental: A named field of usage masks, such as the quality or the level.</summary>
    /// <remarks>
    /// The fields of a list stand one after the other, from the lowest bit of a mask on.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_pipeline_dimension
    {
        /// <summary>Its name, such as "quality": 1 to 128 ASCII letters, digits and - _ . + without a dot first. No two of a list
        /// are equal.</summary>
        public hob_str name;

        /// <summary>Bits, 1 to 64. All fields of a list together have at most 256 bits.</summary>
        public uint width;

        /// <summary>Must be 0.</summary>
        public uint reserved;
    }

    /// <summary>Experimental: A vertex buffer.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_pipeline_vertex_buffer
    {
        /// <summary>Its slot (Direct3D, WebGPU) or binding (Vulkan).</summary>
        public uint slot;

        /// <summary>Bytes from one element to the next.</summary>
        public uint stride;

        /// <summary>Instances per element. 0: one element per vertex. UINT32_MAX: the first element for all.</summary>
        public uint step_rate;
    }

    /// <summary>Experimental: A vertex attribute.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_pipeline_vertex_attribute
    {
        /// <summary>Its location in the vertex shader, or the host's number of a semantic.</summary>
        public uint location;

        /// <summary>Slot of its vertex buffer.</summary>
        public uint slot;

        /// <summary>Bytes from the begin of the buffer's element.</summary>
        public uint offset;

        /// <summary>Format: a number of the graphics API, such as a VkFormat or a DXGI_FORMAT.</summary>
        public uint format;
    }

    /// <summary>Experimental: The stencil test of one side of triangles.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_pipeline_stencil_face
    {
        /// <summary>The comparison of the reference with the stored value. Default HOB_PIPELINE_COMPARE_ALWAYS.</summary>
        public hob_pipeline_compare compare;

        /// <summary>If the comparison fails. Default HOB_PIPELINE_STENCIL_OP_KEEP, as for the others.</summary>
        public hob_pipeline_stencil_op fail;

        /// <summary>If the comparison passes and the depth test fails.</summary>
        public hob_pipeline_stencil_op depth_fail;

        /// <summary>If both pass.</summary>
        public hob_pipeline_stencil_op pass;

        /// <summary>The bits that are compared. Default 255.</summary>
        public uint read_mask;

        /// <summary>The bits that are written. Default 255.</summary>
        public uint write_mask;
    }

    /// <summary>Experimental: A colour target.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_pipeline_color_target
    {
        /// <summary>Format: a number of the graphics API. 0: the target is unused, and the fields below have no effect.</summary>
        public uint format;

        /// <summary>Channels that are written: 1 red, 2 green, 4 blue, 8 alpha. 15: all.</summary>
        public uint write_mask;

        /// <summary>1: blend with the fields below. 0: the source replaces the destination, and the fields below have no effect.</summary>
        public uint blend;

        /// <summary>Factor of the source's colour.</summary>
        public hob_pipeline_blend_factor source_color;

        /// <summary>Factor of the destination's colour.</summary>
        public hob_pipeline_blend_factor destination_color;

        /// <summary>How both colours are combined.</summary>
        public hob_pipeline_blend_op color_op;

        /// <summary>Factor of the source's alpha.</summary>
        public hob_pipeline_blend_factor source_alpha;

        /// <summary>Factor of the destination's alpha.</summary>
        public hob_pipeline_blend_factor destination_alpha;

        /// <summary>How both alphas are combined.</summary>
        public hob_pipeline_blend_op alpha_op;
    }

    /// <summary>Experimental: The state of a graphics pipeline, everything but its shaders.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_pipeline_graphics_state
    {
        /// <summary>sizeof(hob_pipeline_graphics_state).</summary>
        public uint struct_size;

        /// <summary>How vertices form primitives. Default HOB_PIPELINE_TOPOLOGY_TRIANGLE_LIST.</summary>
        public hob_pipeline_topology topology;

        /// <summary>Whether the largest index restarts a strip. Default HOB_PIPELINE_PRIMITIVE_RESTART_OFF.</summary>
        public hob_pipeline_primitive_restart primitive_restart;

        /// <summary>Control points of a patch, 1 to 32. Default 0, for all topologies except HOB_PIPELINE_TOPOLOGY_PATCH_LIST.</summary>
        public uint patch_control_points;

        /// <summary>The triangles that are not drawn. Default HOB_PIPELINE_CULL_MODE_NONE.</summary>
        public hob_pipeline_cull_mode cull;

        /// <summary>The winding of triangles that face the viewer. Default HOB_PIPELINE_FRONT_FACE_COUNTER_CLOCKWISE.</summary>
        public hob_pipeline_front_face front_face;

        /// <summary>How triangles are drawn. Default HOB_PIPELINE_FILL_MODE_FILL.</summary>
        public hob_pipeline_fill_mode fill;

        /// <summary>1: clamp depth instead of clipping at the near and the far plane. Default 0.</summary>
        public uint depth_clamp;

        /// <summary>Constant depth bias. Default 0.</summary>
        public double depth_bias;

        /// <summary>Largest depth bias. Default 0: no limit.</summary>
        public double depth_bias_clamp;

        /// <summary>Depth bias per slope. Default 0.</summary>
        public double depth_bias_slope;

        /// <summary>Samples per pixel: 1, 2, 4, 8, 16 or 32. Default 1.</summary>
        public uint sample_count;

        /// <summary>The samples that are written. Default UINT32_MAX: all.</summary>
        public uint sample_mask;

        /// <summary>1: alpha selects samples. Default 0.</summary>
        public uint alpha_to_coverage;

        /// <summary>Format of the depth-stencil target: a number of the graphics API. Default 0: no target.</summary>
        public uint depth_stencil_format;

        /// <summary>1: test depth. Default 0: every fragment passes, and no depth is written.</summary>
        public uint depth_test;

        /// <summary>1: write the depth of fragments that pass. Without effect if <c>depth_test</c> is 0. Default 0.</summary>
        public uint depth_write;

        /// <summary>The comparison that passes. Without effect if <c>depth_test</c> is 0. Default HOB_PIPELINE_COMPARE_LESS.</summary>
        public hob_pipeline_compare depth_compare;

        /// <summary>1: test stencil. Default 0: every fragment passes, and no stencil is written.</summary>
        public uint stencil_test;

        /// <summary>The stencil test of triangles that face the viewer. Without effect if <c>stencil_test</c> is 0.</summary>
        public hob_pipeline_stencil_face stencil_front;

        /// <summary>The stencil test of triangles that face away. Without effect if <c>stencil_test</c> is 0.</summary>
        public hob_pipeline_stencil_face stencil_back;

        /// <summary>Bytes of push constants (root constants). Default 0.</summary>
        public uint push_constant_size;

        /// <summary>Must be 0.</summary>
        public uint reserved;

        /// <summary>The host's number for the layout of resources, such as the hash of a root signature. Default 0.</summary>
        public ulong layout;

        /// <summary>The host's number for state that this struct lacks. Default 0.</summary>
        public ulong host_state;

        /// <summary>Vertex buffers in any order, each slot once. May be NULL if the count is 0.</summary>
        public hob_pipeline_vertex_buffer* vertex_buffers;

        /// <summary>Bytes from one buffer to the next: sizeof(hob_pipeline_vertex_buffer). Default 0: its first released size.</summary>
        public UIntPtr vertex_buffer_stride;

        /// <summary>Number of vertex buffers, at most 64.</summary>
        public UIntPtr vertex_buffer_count;

        /// <summary>Vertex attributes in any order, each location once. May be NULL if the count is 0.</summary>
        public hob_pipeline_vertex_attribute* attributes;

        /// <summary>Bytes from one attribute to the next: sizeof(hob_pipeline_vertex_attribute). Default 0: its first released size.</summary>
        public UIntPtr attribute_stride;

        /// <summary>Number of attributes, at most 64.</summary>
        public UIntPtr attribute_count;

        /// <summary>Colour targets, in the order of the fragment shader's outputs. May be NULL if the count is 0.</summary>
        public hob_pipeline_color_target* color_targets;

        /// <summary>Bytes from one target to the next: sizeof(hob_pipeline_color_target). Default 0: its first released size.</summary>
        public UIntPtr color_target_stride;

        /// <summary>Number of colour targets, at most 8.</summary>
        public UIntPtr color_target_count;
    }

    /// <summary>Experimental: The state of a compute pipeline, everything but its shader.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_pipeline_compute_state
    {
        /// <summary>sizeof(hob_pipeline_compute_state).</summary>
        public uint struct_size;

        /// <summary>Bytes of push constants (root constants). Default 0.</summary>
        public uint push_constant_size;

        /// <summary>Size of a workgroup, if the pipeline specialises it. Default 0: that of the shader.</summary>
        public fixed uint workgroup[3];

        /// <summary>Must be 0.</summary>
        public uint reserved;

        /// <summary>The host's number for the layout of resources, such as the hash of a root signature. Default 0.</summary>
        public ulong layout;

        /// <summary>The host's number for state that this struct lacks. Default 0.</summary>
        public ulong host_state;
    }

    /// <summary>Experimental: A shader group: one record of a shader table.</summary>
    /// <remarks>
    /// Shaders are places in hob_pipeline_desc.shaders, from 0 on. UINT32_MAX: no shader. Fields that the kind does not
    /// name have no effect.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_pipeline_shader_group
    {
        /// <summary>The kind.</summary>
        public hob_pipeline_shader_group_kind kind;

        /// <summary>The shader of HOB_PIPELINE_SHADER_GROUP_KIND_GENERAL.</summary>
        public uint general;

        /// <summary>The closest-hit shader of a hit group.</summary>
        public uint closest_hit;

        /// <summary>The any-hit shader of a hit group.</summary>
        public uint any_hit;

        /// <summary>The intersection shader of HOB_PIPELINE_SHADER_GROUP_KIND_PROCEDURAL.</summary>
        public uint intersection;
    }

    /// <summary>Experimental: The state of a ray-tracing pipeline, everything but its shaders.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_pipeline_ray_tracing_state
    {
        /// <summary>sizeof(hob_pipeline_ray_tracing_state).</summary>
        public uint struct_size;

        /// <summary>Bytes of push constants (root constants). Default 0.</summary>
        public uint push_constant_size;

        /// <summary>Deepest recursion of rays. Default 1.</summary>
        public uint max_recursion_depth;

        /// <summary>Largest payload of a ray, in bytes. Default 0.</summary>
        public uint max_payload_size;

        /// <summary>Largest attributes of a hit, in bytes. Default 8: those of triangles.</summary>
        public uint max_attribute_size;

        /// <summary>Must be 0.</summary>
        public uint reserved;

        /// <summary>The host's number for the layout of resources, such as the hash of a root signature. Default 0.</summary>
        public ulong layout;

        /// <summary>The host's number for state that this struct lacks. Default 0.</summary>
        public ulong host_state;

        /// <summary>Shader groups. Their order matters. May be NULL if the count is 0.</summary>
        public hob_pipeline_shader_group* groups;

        /// <summary>Bytes from one group to the next: sizeof(hob_pipeline_shader_group). Default 0: its first released size.</summary>
        public UIntPtr group_stride;

        /// <summary>Number of groups, at most 32768.</summary>
        public UIntPtr group_count;
    }

    /// <summary>Experimental: A pipeline to compile: the argument of hob_pipeline_library_desc.compile.</summary>
    /// <remarks>
    /// All pointers are valid during the call.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_pipeline_job
    {
        /// <summary>sizeof(hob_pipeline_job) of the library.</summary>
        public uint struct_size;

        /// <summary>Graphics, compute or ray tracing.</summary>
        public hob_pipeline_kind kind;

        /// <summary>hob_pipeline_desc.schema.</summary>
        public uint schema;

        /// <summary>1: a frame may wait for it. 0: it is compiled ahead.</summary>
        public uint is_urgent;

        /// <summary>Its key.</summary>
        public hob_fingerprint key;

        /// <summary>hob_pipeline_desc.state.</summary>
        public void* state;

        /// <summary>Bytes of <c>state</c>.</summary>
        public UIntPtr state_size;

        /// <summary>Its shaders.</summary>
        public hob_pipeline_shader* shaders;

        /// <summary>Number of shaders.</summary>
        public UIntPtr shader_count;

        /// <summary>Expected build time in microseconds. 0: unknown.</summary>
        public ulong expected_us;
    }

    /// <summary>Experimental: Parameters of a library.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_pipeline_library_desc
    {
        /// <summary>sizeof(hob_pipeline_library_desc).</summary>
        public uint struct_size;

        /// <summary>A hob_graphics_api, or a number of the host from HOB_GRAPHICS_API_USER on.</summary>
        public uint api;

        /// <summary>The game: 1 to 128 ASCII letters, digits and - _ . + without a dot first.</summary>
        public hob_str project;

        /// <summary>The format of its shaders, such as "spirv", in the same letters.</summary>
        public hob_str format;

        /// <summary>The version of the game, at most 1024 bytes. The user's cache of another version is not used.</summary>
        public hob_str version;

        /// <summary>Directory of the user's cache and of bans. Default empty: nothing outlives the process. It must not be that of a
        /// program cache. A path: on Unix any bytes without NUL, elsewhere UTF-8.</summary>
        public hob_str directory;

        /// <summary>A new file that records this run for the next build of the game. Default empty: no recording.</summary>
        /// <remarks>
        /// It gets the pipelines at their first use, and how often they are used with the first 256 masks of the run; uses
        /// with further masks are not counted. The executor's background writes first uses. Without an executor, and for
        /// counts of uses, hob_pipeline_library_flush and hob_pipeline_library_destroy write. An existing file is an error,
        /// so give each run its own name: "runs/20261125-1.rec.hobpipe".
        /// </remarks>
        public hob_str recording;

        /// <summary>The driver and device, which bans belong to. NULL: unknown.</summary>
        public hob_environment* environment;

        /// <summary>Compiles in its background, one pipeline at a time, and is kept alive by the library. NULL: only
        /// hob_pipeline_library_compile and hob_pipeline_library_wait compile, and only hob_pipeline_library_flush and
        /// hob_pipeline_library_destroy write files.</summary>
        public hob_executor* executor;

        /// <summary>The file system of the directory; copied. NULL: the operating system's.</summary>
        public hob_file_io* file_io;

        /// <summary>A secret of the host, at least 16 bytes; copied. Files that were written without it are ignored. Default empty.</summary>
        public hob_str secret;

        /// <summary>Passed to the callbacks.</summary>
        public void* user_data;

        /// <summary>Compiles a pipeline, and returns a hob_pipeline_built; another number counts as failed. Must be set. It may
        /// block. Several may run at once, on the threads that work for the library. It may call the library, but not
        /// destroy it.</summary>
        public IntPtr compile;

        /// <summary>All selected pipelines were compiled, or have failed. Called by the thread that compiled the last one. A
        /// library without anything to compile never calls it: see hob_pipeline_library_get_remaining. May be NULL.</summary>
        public IntPtr completed;

        /// <summary>Compares a mask of a pipeline with the current one: not 0 selects the pipeline. It must always give the same
        /// answer. Inside it, all functions of this library return HOB_RESULT_BUSY, also those without a handle. NULL:</summary>
        /// <remarks>
        /// without <c>dimensions</c> a pipeline is selected if <c>(mask &amp; current) == current</c>. With them it is selected if each
        /// field has the value of the current mask, or that is 0.
        /// </remarks>
        public IntPtr compare;

        /// <summary>Called exactly once, after the last of the other callbacks and before hob_pipeline_library_destroy returns. May
        /// be NULL.</summary>
        public IntPtr release;

        /// <summary>The first current mask. NULL: no bits, which select all pipelines.</summary>
        public hob_pipeline_mask* mask;

        /// <summary>The first precompile mask, for HOB_PIPELINE_MODE_PRECOMPILE. NULL: no bits, which select all pipelines, so that
        /// mode compiles all of them fast.</summary>
        public hob_pipeline_mask* precompile_mask;

        /// <summary>The first mode. Default HOB_PIPELINE_MODE_FAST; 0 is HOB_PIPELINE_MODE_PAUSED.</summary>
        public hob_pipeline_mode mode;

        /// <summary>The order of compiles. Default HOB_PIPELINE_ORDER_PREDICTED.</summary>
        public hob_pipeline_order order;

        /// <summary>HOB_PIPELINE_NO_USER_CACHE and the like. Default 0.</summary>
        public uint flags;

        /// <summary>Strikes that ban a pipeline. Default 2. UINT32_MAX: no bans. A compile gives a strike if the process crashes
        /// during it, calls abort() or _exit(), or is ended by a signal, such as SIGKILL or SIGTERM. A call of exit() gives
        /// none. A successful compile takes one strike back.</summary>
        public uint ban_at;

        /// <summary>Pipelines of the user's cache that were not used for this many seconds are removed at create. The time ends at
        /// the newest use before this start, so a wrong clock removes nothing, and an old pipeline is removed one start
        /// later. Default 30 days. UINT32_MAX: no limit.</summary>
        public uint max_age_seconds;

        /// <summary>Number of threads that compile at the same time.</summary>
        /// <remarks>
        /// Those are the host's in hob_pipeline_library_compile, and one of the executor, whose background runs one task at
        /// a time. No thread is created. Each gets the time of the mode. The budget of hob_pipeline_library_begin_frame is
        /// for all of them together. 1 to 256, default 1.
        /// </remarks>
        public uint workers;

        /// <summary>Limit of the user's cache on the disk, in bytes, at least 256 KiB. Default 64 MiB.</summary>
        public ulong disk_limit;

        /// <summary>The named fields of masks; copied. Recordings and the user's cache keep them, and the current masks may have no
        /// other bits. Default NULL: masks have no fields.</summary>
        public hob_pipeline_dimension* dimensions;

        /// <summary>Bytes from one field to the next: sizeof(hob_pipeline_dimension). Default 0: its first released size.</summary>
        public UIntPtr dimension_stride;

        /// <summary>Number of fields, at most 64. All together have at most 256 bits.</summary>
        public UIntPtr dimension_count;
    }

    /// <summary>Experimental: A ready group.</summary>
    /// <remarks>
    /// All zero is no group.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_pipeline_group_id
    {
        /// <summary>Its place, from 1 on; 0 is no group.</summary>
        public uint index1;

        /// <summary>Distinguishes it from earlier groups at that place.</summary>
        public uint generation;
    }

    /// <summary>Experimental: Counts of a library since it was created.</summary>
    /// <remarks>
    /// An answer: set struct_size, or begin with HOB_PIPELINE_STATISTICS_INIT.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_pipeline_statistics
    {
        /// <summary>sizeof(hob_pipeline_statistics).</summary>
        public uint struct_size;

        /// <summary>Must be 0.</summary>
        public uint reserved;

        /// <summary>Pipelines of all caches, the user's included.</summary>
        public ulong opened;

        /// <summary>Opened pipelines that were used so far.</summary>
        public ulong used;

        /// <summary>Used pipelines that were ready at their first use.</summary>
        public ulong ready_at_first_use;

        /// <summary>Used pipelines of the caches that were not ready at their first use.</summary>
        /// <remarks>
        /// They waited, were being compiled, had failed, or were banned. Recordings say so for each pipeline. <c>unknown</c>
        /// counts pipelines that no cache had.
        /// </remarks>
        public ulong missed;

        /// <summary>Pipelines that were used and that no cache had.</summary>
        public ulong unknown;

        /// <summary>Milliseconds that the host spent to build missed and unknown pipelines: hob_pipeline_library_add.</summary>
        public ulong hitch_ms;

        /// <summary>Selected or requested pipelines that are not compiled yet.</summary>
        public ulong remaining;

        /// <summary>Pipelines that are ready.</summary>
        public ulong ready;

        /// <summary>Pipelines that the driver refused.</summary>
        public ulong failed;

        /// <summary>Pipelines that are banned.</summary>
        public ulong banned;

        /// <summary>Decisions on groups: not drawn, because a pipeline was missing.</summary>
        public ulong groups_skipped;

        /// <summary>Decisions on groups: drawn with other pipelines.</summary>
        public ulong groups_substituted;

        /// <summary>Decisions on groups: not drawn after a wait.</summary>
        public ulong groups_timed_out;

        /// <summary>Bytes of memory held.</summary>
        public ulong memory_used;
    }

    /// <summary>Experimental: Parameters of hob_pipeline_expand.</summary>
    /// <remarks>
    /// Paths: on Unix any bytes without NUL, elsewhere UTF-8.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_pipeline_expand_desc
    {
        /// <summary>sizeof(hob_pipeline_expand_desc).</summary>
        public uint struct_size;

        /// <summary>Must be 0.</summary>
        public uint reserved;

        /// <summary>Paths of recordings, which one build of the game made: at least one.</summary>
        public hob_str* recordings;

        /// <summary>Bytes from one path to the next: sizeof(hob_str). Default 0: its first released size.</summary>
        public UIntPtr recording_stride;

        /// <summary>Number of recordings.</summary>
        public UIntPtr recording_count;

        /// <summary>Paths of the key maps of that build: <c>*.hobkeys</c>, or CSV if the name ends in <c>.csv</c>.</summary>
        /// <remarks>
        /// A CSV file is UTF-8. Each line is <c>hash,stage,"key"</c>: 40 hexadecimal digits, the number of a hob_shader_stage or
        /// of the host or nothing, and at most 4096 bytes. A quote in the key is doubled. The line <c>hash,stage,key</c> may be
        /// the first one: it is skipped.
        /// </remarks>
        public hob_str* keys;

        /// <summary>Bytes from one path to the next: sizeof(hob_str). Default 0: its first released size.</summary>
        public UIntPtr key_stride;

        /// <summary>Number of key maps.</summary>
        public UIntPtr key_count;

        /// <summary>Path of the stable file, which must not be an input. An existing file is replaced when the new one is complete.</summary>
        public hob_str @out;
    }

    /// <summary>Experimental: Counts of hob_pipeline_expand.</summary>
    /// <remarks>
    /// An answer: set struct_size, or begin with HOB_PIPELINE_EXPAND_REPORT_INIT.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_pipeline_expand_report
    {
        /// <summary>sizeof(hob_pipeline_expand_report).</summary>
        public uint struct_size;

        /// <summary>Must be 0.</summary>
        public uint reserved;

        /// <summary>Recordings merged.</summary>
        public ulong recordings;

        /// <summary>Recordings of a run that was merged already.</summary>
        public ulong repeated;

        /// <summary>Pipelines in the recordings.</summary>
        public ulong pipelines;

        /// <summary>Pipelines in the stable file.</summary>
        public ulong stable;

        /// <summary>Pipelines with a shader that has no key. They are not in the stable file.</summary>
        public ulong unresolved;

        /// <summary>Damaged records. They are skipped.</summary>
        public ulong damaged;

        /// <summary>Recordings that end within a record, as a copy that was cut does. A killed run usually ends with a whole record:</summary>
        /// <remarks>
        /// it does not count, although its last uses were not written.
        /// </remarks>
        public ulong truncated;

        /// <summary>Bytes of the stable file.</summary>
        public ulong bytes;
    }

    /// <summary>Experimental: Parameters of hob_pipeline_build.</summary>
    /// <remarks>
    /// Paths: on Unix any bytes without NUL, elsewhere UTF-8.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_pipeline_build_desc
    {
        /// <summary>sizeof(hob_pipeline_build_desc).</summary>
        public uint struct_size;

        /// <summary>A hob_graphics_api, or a number of the host from HOB_GRAPHICS_API_USER on.</summary>
        public uint api;

        /// <summary>The game, as in hob_pipeline_library_desc.</summary>
        public hob_str project;

        /// <summary>The format of its shaders, as in hob_pipeline_library_desc.</summary>
        public hob_str format;

        /// <summary>The version of this build, for people.</summary>
        public hob_str version;

        /// <summary>Paths of stable files. May be NULL if the count is 0: then the cache has compute pipelines only.</summary>
        public hob_str* stable;

        /// <summary>Bytes from one path to the next: sizeof(hob_str). Default 0: its first released size.</summary>
        public UIntPtr stable_stride;

        /// <summary>Number of stable files.</summary>
        public UIntPtr stable_count;

        /// <summary>Paths of the key maps of this build, as in hob_pipeline_expand_desc.</summary>
        public hob_str* keys;

        /// <summary>Bytes from one path to the next: sizeof(hob_str). Default 0: its first released size.</summary>
        public UIntPtr key_stride;

        /// <summary>Number of key maps.</summary>
        public UIntPtr key_count;

        /// <summary>Path of the cache, which must not be an input. An existing file is replaced when the new one is complete.</summary>
        public hob_str @out;

        /// <summary>Most pipelines that one stable pipeline becomes, if several shaders share a key. Default 64.</summary>
        public uint combinations;

        /// <summary>HOB_PIPELINE_BUILD_NO_COMPUTE and the like. Default 0.</summary>
        public uint flags;
    }

    /// <summary>Experimental: Counts of hob_pipeline_build.</summary>
    /// <remarks>
    /// An answer: set struct_size, or begin with HOB_PIPELINE_BUILD_REPORT_INIT.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_pipeline_build_report
    {
        /// <summary>sizeof(hob_pipeline_build_report).</summary>
        public uint struct_size;

        /// <summary>Must be 0.</summary>
        public uint reserved;

        /// <summary>Different lines of the key maps.</summary>
        public ulong key_lines;

        /// <summary>Stable files merged.</summary>
        public ulong files;

        /// <summary>Stable files that were merged already.</summary>
        public ulong repeated;

        /// <summary>Stable files of another game, format, API, or set of hob_pipeline_library_desc.dimensions. They are not used.</summary>
        public ulong skipped;

        /// <summary>Stable pipelines in the files.</summary>
        public ulong stable;

        /// <summary>Stable pipelines with a shader that this build does not have.</summary>
        public ulong rejected;

        /// <summary>Pipelines that stable ones became, before equal ones were united.</summary>
        public ulong merged;

        /// <summary>Stable pipelines with more combinations of shaders than the limit.</summary>
        public ulong cut;

        /// <summary>Different pipelines.</summary>
        public ulong different;

        /// <summary>Compute pipelines that were added.</summary>
        public ulong added_compute;

        /// <summary>Filtered out: most pipelines of the vertex shader have another vertex format. After a tie all are kept.</summary>
        public ulong inconsistent;

        /// <summary>Filtered out: no vertex attributes, and the vertex shader has some elsewhere.</summary>
        public ulong empty;

        /// <summary>Filtered out: the state is invalid.</summary>
        public ulong invalid;

        /// <summary>Graphics pipelines written.</summary>
        public ulong graphics;

        /// <summary>Compute pipelines written.</summary>
        public ulong compute;

        /// <summary>Ray-tracing pipelines written.</summary>
        public ulong ray_tracing;

        /// <summary>Damaged records. They are skipped.</summary>
        public ulong damaged;

        /// <summary>Stable files that end within a record, as a copy that was cut does.</summary>
        public ulong truncated;

        /// <summary>Bytes of the cache.</summary>
        public ulong bytes;
    }

    /// <summary>The type of hob_pipeline_library_desc.compile, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate uint hob_pipeline_library_desc_compile_fn(void* user_data, hob_pipeline_job* job);

    /// <summary>The type of hob_pipeline_library_desc.completed, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_pipeline_library_desc_completed_fn(void* user_data);

    /// <summary>The type of hob_pipeline_library_desc.compare, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate uint hob_pipeline_library_desc_compare_fn(void* user_data, hob_pipeline_mask* mask, hob_pipeline_mask* current);

    /// <summary>The type of hob_pipeline_library_desc.release, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_pipeline_library_desc_release_fn(void* user_data);

    /// <summary>The functions of the library.</summary>
    public static unsafe partial class Native
    {
        /// <summary>Experimental: Computes the key of a pipeline.</summary>
        /// <remarks>
        /// Equal descriptions have equal keys. Compute it once, when the pipeline's description is made.
        /// <para/>
        /// <code>
        /// hob_fingerprint key;
        /// if (hob_pipeline_get_key(&amp;pipeline, &amp;key) != HOB_RESULT_OK) fail(hob_last_error());
        /// </code>
        /// HOB_RESULT_INVALID_ARGUMENT: there is no shader, the kind or a stage is unknown, or a shader group names a shader
        /// that is not listed. HOB_RESULT_MALFORMED: with HOB_PIPELINE_SCHEMA_OWN the state is not encoded for this kind.
        /// HOB_RESULT_UNSUPPORTED: it is encoded by a later version. HOB_RESULT_LIMIT_EXCEEDED: too many shaders, or a state of
        /// more than 1 MiB. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_get_key(hob_pipeline_desc* pipeline, hob_fingerprint* out_key);

        /// <summary>Experimental: Sets a field of a usage mask by its name.</summary>
        /// <remarks>
        /// <c>mask</c> NULL: no bits. <c>out_mask</c> may be <c>mask</c>. Number values from 1 on: 0 in the current mask fits every pipeline.
        /// <para/>
        /// <code>
        /// const hob_pipeline_dimension dimensions[] = {{HOB_STR_INIT("quality"), 2, 0}, {HOB_STR_INIT("level"), 6, 0}};
        /// hob_pipeline_mask mask;
        /// hob_pipeline_set_mask_field(dimensions, sizeof *dimensions, 2, NULL, HOB_STR("quality"), 3, &amp;mask);
        /// hob_pipeline_set_mask_field(dimensions, sizeof *dimensions, 2, &amp;mask, HOB_STR("level"), 17, &amp;mask);
        /// </code>
        /// HOB_RESULT_NOT_FOUND: no field has that name. HOB_RESULT_INVALID_ARGUMENT: the value needs more bits than the field
        /// has, <c>mask</c> has bits beyond the fields, or the list is invalid. HOB_RESULT_LIMIT_EXCEEDED: more than 64 fields, or
        /// than 256 bits. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_set_mask_field(hob_pipeline_dimension* dimensions, UIntPtr dimension_stride, UIntPtr dimension_count, hob_pipeline_mask* mask, hob_str name, ulong value, hob_pipeline_mask* out_mask);

        /// <summary>Experimental: Encodes the state of a graphics pipeline, for hob_pipeline_desc with HOB_PIPELINE_SCHEMA_OWN.</summary>
        /// <remarks>
        /// Equal states have equal bytes, in any order of vertex buffers and attributes. <c>*out_size</c> receives the required
        /// size. <c>buffer</c> NULL asks only for that. If <c>capacity</c> is too small, the result is HOB_RESULT_BUFFER_TOO_SMALL and
        /// the buffer stays unchanged. No state takes more than 4 KiB.
        /// <para/>
        /// <code>
        /// char bytes[4096];
        /// size_t size = 0;
        /// if (hob_pipeline_encode_graphics(&amp;state, bytes, sizeof bytes, &amp;size) != HOB_RESULT_OK) fail(hob_last_error());
        /// pipeline.schema = HOB_PIPELINE_SCHEMA_OWN;
        /// pipeline.state = bytes;
        /// pipeline.state_size = (uint32_t)size;
        /// </code>
        /// HOB_RESULT_INVALID_ARGUMENT: a value is invalid, or an attribute reads a buffer that is not listed.
        /// HOB_RESULT_LIMIT_EXCEEDED: a list is too long. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_encode_graphics(hob_pipeline_graphics_state* state, byte* buffer, UIntPtr capacity, UIntPtr* out_size);

        /// <summary>Experimental: Decodes the state of a graphics pipeline, such as that of a hob_pipeline_job.</summary>
        /// <remarks>
        /// Sets the counts of the lists, and no pointers: hob_pipeline_decode_vertex_buffers,
        /// hob_pipeline_decode_vertex_attributes and hob_pipeline_decode_color_targets read the lists. Fields without effect
        /// have their defaults.
        /// <para/>
        /// <code>
        /// hob_pipeline_graphics_state state = HOB_PIPELINE_GRAPHICS_STATE_INIT;
        /// hob_result result = hob_pipeline_decode_graphics(job-&gt;state, job-&gt;state_size, &amp;state);
        /// if (result != HOB_RESULT_OK) return HOB_PIPELINE_BUILT_FAILED;
        /// </code>
        /// HOB_RESULT_MALFORMED: the bytes are not an encoding of this library. HOB_RESULT_UNSUPPORTED: they are one of a later
        /// version. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_decode_graphics(void* data, UIntPtr size, hob_pipeline_graphics_state* out_state);

        /// <summary>Experimental: Decodes the vertex buffers of a graphics pipeline, in the order of their slots.</summary>
        /// <remarks>
        /// <c>*out_count</c> receives their number. <c>buffers</c> NULL asks only for that. If <c>capacity</c> is too small, the result is
        /// HOB_RESULT_BUFFER_TOO_SMALL and the array stays unchanged. Errors as for hob_pipeline_decode_graphics. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_decode_vertex_buffers(void* data, UIntPtr size, hob_pipeline_vertex_buffer* buffers, UIntPtr buffer_stride, UIntPtr capacity, UIntPtr* out_count);

        /// <summary>Experimental: Decodes the vertex attributes of a graphics pipeline, in the order of their locations.</summary>
        /// <remarks>
        /// As hob_pipeline_decode_vertex_buffers: <c>attributes</c> NULL asks only for the number. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_decode_vertex_attributes(void* data, UIntPtr size, hob_pipeline_vertex_attribute* attributes, UIntPtr attribute_stride, UIntPtr capacity, UIntPtr* out_count);

        /// <summary>Experimental: Decodes the colour targets of a graphics pipeline, in the order of the fragment shader's outputs.</summary>
        /// <remarks>
        /// As hob_pipeline_decode_vertex_buffers: <c>targets</c> NULL asks only for the number. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_decode_color_targets(void* data, UIntPtr size, hob_pipeline_color_target* targets, UIntPtr target_stride, UIntPtr capacity, UIntPtr* out_count);

        /// <summary>Experimental: Encodes the state of a compute pipeline.</summary>
        /// <remarks>
        /// As hob_pipeline_encode_graphics: <c>buffer</c> NULL asks only for the size. It takes 34 bytes. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_encode_compute(hob_pipeline_compute_state* state, byte* buffer, UIntPtr capacity, UIntPtr* out_size);

        /// <summary>Experimental: Decodes the state of a compute pipeline.</summary>
        /// <remarks>
        /// A pipeline that a build added for a shader of its key map has the default state. Errors as for
        /// hob_pipeline_decode_graphics. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_decode_compute(void* data, UIntPtr size, hob_pipeline_compute_state* out_state);

        /// <summary>Experimental: Encodes the state of a ray-tracing pipeline.</summary>
        /// <remarks>
        /// As hob_pipeline_encode_graphics: <c>buffer</c> NULL asks only for the size. It takes 38 bytes, and up to 7 for each
        /// group. HOB_RESULT_INVALID_ARGUMENT: a group lacks its shader, or names one from 1024 on. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_encode_ray_tracing(hob_pipeline_ray_tracing_state* state, byte* buffer, UIntPtr capacity, UIntPtr* out_size);

        /// <summary>Experimental: Decodes the state of a ray-tracing pipeline.</summary>
        /// <remarks>
        /// Sets the count of groups, and no pointer: hob_pipeline_decode_shader_groups reads the list. Errors as for
        /// hob_pipeline_decode_graphics. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_decode_ray_tracing(void* data, UIntPtr size, hob_pipeline_ray_tracing_state* out_state);

        /// <summary>Experimental: Decodes the shader groups of a ray-tracing pipeline, in their order.</summary>
        /// <remarks>
        /// As hob_pipeline_decode_vertex_buffers: <c>groups</c> NULL asks only for the number. Fields that the kind does not name
        /// are UINT32_MAX. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_decode_shader_groups(void* data, UIntPtr size, hob_pipeline_shader_group* groups, UIntPtr group_stride, UIntPtr capacity, UIntPtr* out_count);

        /// <summary>Experimental: Creates a library, and loads the user's cache.</summary>
        /// <remarks>
        /// This reads files. On success <c>*out_library</c> is the caller's to destroy, and <c>user_data</c> is the library's.
        /// <para/>
        /// <code>
        /// hob_pipeline_library *library = NULL;
        /// if (hob_pipeline_library_create(&amp;desc, &amp;library) != HOB_RESULT_OK) fail(hob_last_error());
        /// </code>
        /// A directory that cannot be read or written is no failure: hob_pipeline_library_get_problem says why. A recording
        /// that cannot be created is HOB_RESULT_IO. HOB_RESULT_INVALID_ARGUMENT: <c>compile</c> is NULL, a name or number is
        /// invalid, or a mask has bits beyond the dimensions. HOB_RESULT_LIMIT_EXCEEDED: the version is too long, or there are
        /// too many dimensions. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_library_create(hob_pipeline_library_desc* desc, hob_pipeline_library** out_library);

        /// <summary>Experimental: Destroys a library, after writing the pipelines that wait: this may wait for files.</summary>
        /// <remarks>
        /// NULL is allowed. Waits for compiles that are running. Unlike other handles, it is not destroyed inside its own
        /// callbacks: the call does nothing there, and hob_last_error says so. Threads: no call on it may run on another
        /// thread.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern void hob_pipeline_library_destroy(hob_pipeline_library* library);

        /// <summary>Experimental: Begins a frame: allows the next batch of compiles.</summary>
        /// <remarks>
        /// <c>budget_us</c> is the time that they may take in this frame on all threads together, in microseconds: for instance a
        /// burden that a hob_goblin chose. UINT64_MAX: the limit of the mode. 0: only pipelines that are needed now are
        /// compiled. A build cannot be interrupted: one that takes longer is paid back by later frames.
        /// <para/>
        /// Waits for nothing. Allocates only to post a task to the background when there is work. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_library_begin_frame(hob_pipeline_library* library, ulong budget_us);

        /// <summary>Experimental: Uses a pipeline in this frame, and returns its state.</summary>
        /// <remarks>
        /// Only HOB_PIPELINE_STATE_READY can be drawn with. A pipeline that is not ready is compiled before all others, in
        /// every mode. One look-up. The first use of a pipeline may also take a lock and allocate. No use waits for a file.
        /// Returns HOB_PIPELINE_STATE_UNKNOWN after a failure, such as a NULL key.
        /// <para/>
        /// <code>
        /// if (hob_pipeline_library_use(library, &amp;key) == HOB_PIPELINE_STATE_READY) draw(&amp;key);
        /// </code>
        /// Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_pipeline_state hob_pipeline_library_use(hob_pipeline_library* library, hob_fingerprint* key);

        /// <summary>Experimental: Adds a pipeline that the host has built itself, because it was not ready.</summary>
        /// <remarks>
        /// It is ready from now on, counts as used in this frame with the current mask, and is kept for the next start.
        /// <c>build_us</c> is the time of the build in microseconds, or 0. <c>out_key</c>, which may be NULL, receives the key.
        /// <para/>
        /// A banned pipeline is ready in this run only: a log line says so, and the next start bans it again, unless
        /// hob_pipeline_library_forget lifts the ban. Errors as for hob_pipeline_get_key. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_library_add(hob_pipeline_library* library, hob_pipeline_desc* pipeline, ulong build_us, hob_fingerprint* out_key);

        /// <summary>Experimental: Compiles pipelines on this thread, until none may be compiled now or <c>timeout_us</c> microseconds are over.</summary>
        /// <remarks>
        /// For loading screens, and for worker threads of the host: several may call it at once. A build is not interrupted.
        /// <c>out_count</c>, which may be NULL, receives the number of pipelines. hob_pipeline_library_begin_frame allows batches.
        /// Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_library_compile(hob_pipeline_library* library, ulong timeout_us, uint* out_count);

        /// <summary>Experimental: Waits up to <c>timeout_us</c> microseconds until a pipeline has a final state, and returns its state then.</summary>
        /// <remarks>
        /// This thread compiles it, unless another one does already; that takes as long as the build. With
        /// hob_pipeline_library_request other threads compile it. If the host cancels the compile, or inside a compile, the
        /// state is returned at once. HOB_PIPELINE_STATE_UNKNOWN: no cache has it. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_pipeline_state hob_pipeline_library_wait(hob_pipeline_library* library, hob_fingerprint* key, ulong timeout_us);

        /// <summary>Experimental: Requests a pipeline, and waits up to <c>timeout_us</c> microseconds for other threads that compile it.</summary>
        /// <remarks>
        /// It is compiled before all that is not needed now, in every mode, also if no mask selects it. Returns its state after
        /// the wait.
        /// <para/>
        /// The wait also ends, with any timeout, if the host cancels the compile or forgets the pipeline. <c>timeout_us</c> 0, or a
        /// call inside a compile: the state is returned at once. Without an executor or threads
        /// in hob_pipeline_library_compile nobody compiles it. Does not count as a use. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_pipeline_state hob_pipeline_library_request(hob_pipeline_library* library, hob_fingerprint* key, ulong timeout_us);

        /// <summary>Experimental: Gets the state of a pipeline, without a use.</summary>
        /// <remarks>
        /// Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_pipeline_state hob_pipeline_library_get_state(hob_pipeline_library* library, hob_fingerprint* key);

        /// <summary>Experimental: Opens a cache that ships with the game, and queues the pipelines that the masks select.</summary>
        /// <remarks>
        /// Waits for the file. Several caches may be opened. <c>out_count</c>, which may be NULL, receives the number of pipelines.
        /// Damaged pipelines are skipped; a log line counts them. HOB_RESULT_UNSUPPORTED: it is for another project, format or
        /// API, has other mask dimensions, or is another kind of file. HOB_RESULT_IO: it cannot be read. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_library_open_cache(hob_pipeline_library* library, hob_str path, ulong* out_count);

        /// <summary>Experimental: Opens a cache in memory, such as a file of an archive.</summary>
        /// <remarks>
        /// As hob_pipeline_library_open_cache; <c>out_count</c> may be NULL. The bytes are not needed afterwards. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_library_open_cache_bytes(hob_pipeline_library* library, void* data, UIntPtr size, ulong* out_count);

        /// <summary>Experimental: Changes the mode.</summary>
        /// <remarks>
        /// Compiles that are running go on. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_library_set_mode(hob_pipeline_library* library, hob_pipeline_mode mode);

        /// <summary>Experimental: Gets the mode.</summary>
        /// <remarks>
        /// Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_pipeline_mode hob_pipeline_library_get_mode(hob_pipeline_library* library);

        /// <summary>Experimental: Changes the current mask and the precompile mask, and selects again which pipelines are compiled ahead.</summary>
        /// <remarks>
        /// Compiles that are running go on, and pipelines that are ready stay ready. Calls hob_pipeline_library_desc.compare
        /// for each distinct mask.
        /// <para/>
        /// <c>precompile_mask</c>, which may be NULL for no bits, matters in HOB_PIPELINE_MODE_PRECOMPILE only: it selects the
        /// pipelines that are compiled fast. No bits select all pipelines. HOB_RESULT_INVALID_ARGUMENT: a mask has bits beyond
        /// the dimensions. After an error the masks are as before. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_library_set_masks(hob_pipeline_library* library, hob_pipeline_mask* mask, hob_pipeline_mask* precompile_mask);

        /// <summary>Experimental: Gets the number of selected or requested pipelines that are not compiled yet, for a progress bar.</summary>
        /// <remarks>
        /// Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_library_get_remaining(hob_pipeline_library* library, uint* out_remaining);

        /// <summary>Experimental: Gets the number of pipelines that are not compiled yet and that a mask selects, or would, as the current one.</summary>
        /// <remarks>
        /// For the progress bar of one level, or to know what a change of the mask will cost. Calls
        /// hob_pipeline_library_desc.compare for each distinct mask. HOB_RESULT_INVALID_ARGUMENT: the mask has bits beyond the
        /// dimensions. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_library_get_remaining_of(hob_pipeline_library* library, hob_pipeline_mask* mask, uint* out_remaining);

        /// <summary>Experimental: Compiles a pipeline again that is ready, failed or banned.</summary>
        /// <remarks>
        /// A ban is lifted, and its strikes are forgotten; with HOB_PIPELINE_READ_ONLY for this run only. <c>out_count</c>, which
        /// may be NULL, receives the number of pipelines: 0 if there is no such pipeline.
        /// <para/>
        /// <c>key</c> NULL: all that are ready, for instance after the device was lost. Failed and banned ones stay so. They wait as
        /// if the caches had just been opened, and their next use requests them again.
        /// <para/>
        /// A compile that is running is not affected: on a lost device, return HOB_PIPELINE_BUILT_CANCELLED from it.
        /// <para/>
        /// HOB_RESULT_IO: the strikes of a pipeline cannot be removed from the directory. Then nothing changes. Threads:
        /// shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_library_forget(hob_pipeline_library* library, hob_fingerprint* key, ulong* out_count);

        /// <summary>Experimental: Writes the pipelines that wait to be kept, and their uses, on this thread, and waits for the disk.</summary>
        /// <remarks>
        /// HOB_RESULT_IO: they cannot be written, or the directory cannot be used at all; they still wait.
        /// HOB_RESULT_LIMIT_EXCEEDED: some pipelines of this run are not kept, because <c>disk_limit</c> or the disk is too small.
        /// Each is reported once. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_library_flush(hob_pipeline_library* library);

        /// <summary>Experimental: Gets why pipelines are not kept, bans not remembered, or those of the last start not used: a text without a NUL.</summary>
        /// <remarks>
        /// <c>*out_size</c> receives the required size: 0 if there is no problem. <c>buffer</c> NULL asks only for that. If <c>capacity</c> is
        /// too small, the result is HOB_RESULT_BUFFER_TOO_SMALL and the buffer stays unchanged. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_library_get_problem(hob_pipeline_library* library, byte* buffer, UIntPtr capacity, UIntPtr* out_size);

        /// <summary>Experimental: Adds a group: the pipelines of one object, such as those of its passes.</summary>
        /// <remarks>
        /// A group has at most 4096 keys. A key that no cache has counts as missing until hob_pipeline_library_add.
        /// HOB_RESULT_LIMIT_EXCEEDED: too many keys. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_library_add_group(hob_pipeline_library* library, hob_fingerprint* keys, UIntPtr key_stride, UIntPtr key_count, hob_pipeline_group_id* out_group);

        /// <summary>Experimental: Removes a group.</summary>
        /// <remarks>
        /// Its pipelines stay. HOB_RESULT_NOT_FOUND: there is no such group. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_library_remove_group(hob_pipeline_library* library, hob_pipeline_group_id group);

        /// <summary>Experimental: Decides how to draw the object of a group in this frame.</summary>
        /// <remarks>
        /// The first call for a group that is not ready requests its missing pipelines, also again after one was forgotten.
        /// With HOB_PIPELINE_POLICY_WAIT the call waits up to <c>timeout_us</c> microseconds for other threads that compile, but not
        /// inside a compile; otherwise it takes no lock and waits for nothing.
        /// <para/>
        /// The wait ends with HOB_PIPELINE_DECISION_SKIP, with any timeout, if the host cancels a compile of the group, or
        /// forgets a pipeline of it.
        /// <para/>
        /// A decision does not count as a use: call hob_pipeline_library_use for each pipeline that is drawn with.
        /// <para/>
        /// Returns HOB_PIPELINE_DECISION_SKIP after a failure, such as an unknown group, and HOB_PIPELINE_DECISION_DRAW if the
        /// library is switched off. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_pipeline_decision hob_pipeline_library_decide(hob_pipeline_library* library, hob_pipeline_group_id group, hob_pipeline_policy policy, ulong timeout_us);

        /// <summary>Experimental: Gets the counts of a library.</summary>
        /// <remarks>
        /// Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_library_get_statistics(hob_pipeline_library* library, hob_pipeline_statistics* out_statistics);

        /// <summary>Experimental: Expresses the pipelines of recordings in the stable keys of their shaders, as a file.</summary>
        /// <remarks>
        /// For build tools. Waits for files. Takes 64 MiB of memory besides the key map, or a quarter of its temporary file.
        /// The file stands beside <c>out</c>, is deleted at any end, and has a few times its bytes. Key maps are held in part, CSV
        /// files as a whole. A log line names each of the first unresolved pipelines. <c>out_report</c> may be NULL.
        /// <para/>
        /// HOB_RESULT_INVALID_ARGUMENT: <c>out</c> is an input, also under another name. HOB_RESULT_UNSUPPORTED: a recording is of
        /// another game, format, API, version, or set of mask dimensions (hob_pipeline_library_desc.dimensions) than the first
        /// one.
        /// <para/>
        /// HOB_RESULT_LIMIT_EXCEEDED: a line of a CSV file has more than 64 KiB, or a list more than 1048576 paths.
        /// HOB_RESULT_NOT_FOUND: no pipeline has keys for all its shaders. HOB_RESULT_MALFORMED: a file is damaged as a whole.
        /// HOB_RESULT_IO: a file cannot be read or written. After an error the file at <c>out</c> is as before. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_expand(hob_pipeline_expand_desc* desc, hob_pipeline_expand_report* out_report);

        /// <summary>Experimental: Makes the cache that ships with a build of the game: hob_pipeline_library_open_cache opens it.</summary>
        /// <remarks>
        /// For build tools. Waits for files. Equal inputs give equal bytes, in any order. Log lines give all counts, and name
        /// the first rejected pipelines. Memory and temporary files are as for hob_pipeline_expand. <c>out_report</c> may be NULL.
        /// <para/>
        /// HOB_RESULT_INVALID_ARGUMENT: <c>out</c> is an input, also under another name, or a name is invalid.
        /// HOB_RESULT_LIMIT_EXCEEDED: as for hob_pipeline_expand. HOB_RESULT_NOT_FOUND: stable files were given, and none of
        /// their graphics pipelines could be built, or nothing at all. HOB_RESULT_MALFORMED: a file is damaged as a whole.
        /// HOB_RESULT_IO: a file cannot be read or written. After an error the file at <c>out</c> is as before. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_build(hob_pipeline_build_desc* desc, hob_pipeline_build_report* out_report);

        /// <summary>Experimental: Sets the defaults of a hob_pipeline_desc.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_pipeline_desc). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_desc_init(hob_pipeline_desc* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_pipeline_graphics_state.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_pipeline_graphics_state). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_graphics_state_init(hob_pipeline_graphics_state* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_pipeline_compute_state.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_pipeline_compute_state). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_compute_state_init(hob_pipeline_compute_state* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_pipeline_ray_tracing_state.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_pipeline_ray_tracing_state). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_ray_tracing_state_init(hob_pipeline_ray_tracing_state* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_pipeline_job.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_pipeline_job). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_job_init(hob_pipeline_job* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_pipeline_library_desc.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_pipeline_library_desc). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_library_desc_init(hob_pipeline_library_desc* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_pipeline_statistics.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_pipeline_statistics). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_statistics_init(hob_pipeline_statistics* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_pipeline_expand_desc.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_pipeline_expand_desc). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_expand_desc_init(hob_pipeline_expand_desc* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_pipeline_expand_report.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_pipeline_expand_report). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_expand_report_init(hob_pipeline_expand_report* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_pipeline_build_desc.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_pipeline_build_desc). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_build_desc_init(hob_pipeline_build_desc* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_pipeline_build_report.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_pipeline_build_report). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_pipeline_build_report_init(hob_pipeline_build_report* value, uint size);
    }
}
