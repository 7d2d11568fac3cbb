// Encoding and decoding of pipeline states. MIT OR Apache-2.0.
using System;
using System.Collections.Generic;
using Hobgoblin.Interop;

namespace Hobgoblin
{
    /// <summary>Arrays in native memory, for one call.</summary>
    internal static unsafe class PipelineLists
    {
        /// <summary>Decodes a list into an array.</summary>
        internal static void* Read(Arena arena, ulong count, int size, ListCall call, out int length)
        {
            length = 0;
            return count == 0 ? null : Calls.List(arena, size, out length, call);
        }
    }

    /// <summary>The state of a graphics pipeline, everything but its shaders. A new one has the defaults.
    /// All numbers of enums are those of Vulkan.</summary>
    public sealed unsafe class PipelineGraphicsState
    {
        internal hob_pipeline_graphics_state Raw;

        public PipelineGraphicsState()
        {
            Hob.Ready(Room.Pipeline);
            fixed (hob_pipeline_graphics_state* raw = &Raw)
                Hob.Check(Native.hob_pipeline_graphics_state_init(raw, (uint)sizeof(hob_pipeline_graphics_state)));
        }

        /// <summary>How vertices form primitives. Default <c>PipelineTopology.TriangleList</c>.</summary>
        public PipelineTopology Topology { get => (PipelineTopology)Raw.topology; set => Raw.topology = (hob_pipeline_topology)value; }
        /// <summary>Whether the largest index restarts a strip. Default <c>PipelinePrimitiveRestart.Off</c>.</summary>
        public PipelinePrimitiveRestart PrimitiveRestart { get => (PipelinePrimitiveRestart)Raw.primitive_restart; set => Raw.primitive_restart = (hob_pipeline_primitive_restart)value; }
        /// <summary>Control points of a patch, 1 to 32. Default 0, for all topologies except
        /// <c>PipelineTopology.PatchList</c>.</summary>
        public uint PatchControlPoints { get => Raw.patch_control_points; set => Raw.patch_control_points = value; }
        /// <summary>The triangles that are not drawn. Default <c>PipelineCullMode.None</c>.</summary>
        public PipelineCullMode Cull { get => (PipelineCullMode)Raw.cull; set => Raw.cull = (hob_pipeline_cull_mode)value; }
        /// <summary>The winding of triangles that face the viewer. Default
        /// <c>PipelineFrontFace.CounterClockwise</c>.</summary>
        public PipelineFrontFace FrontFace { get => (PipelineFrontFace)Raw.front_face; set => Raw.front_face = (hob_pipeline_front_face)value; }
        /// <summary>How triangles are drawn. Default <c>PipelineFillMode.Fill</c>.</summary>
        public PipelineFillMode Fill { get => (PipelineFillMode)Raw.fill; set => Raw.fill = (hob_pipeline_fill_mode)value; }
        /// <summary>1: clamp depth instead of clipping at the near and the far plane. Default 0.</summary>
        public uint DepthClamp { get => Raw.depth_clamp; set => Raw.depth_clamp = value; }
        /// <summary>Constant depth bias. Default 0.</summary>
        public double DepthBias { get => Raw.depth_bias; set => Raw.depth_bias = value; }
        /// <summary>Largest depth bias. Default 0: no limit.</summary>
        public double DepthBiasClamp { get => Raw.depth_bias_clamp; set => Raw.depth_bias_clamp = value; }
        /// <summary>Depth bias per slope. Default 0.</summary>
        public double DepthBiasSlope { get => Raw.depth_bias_slope; set => Raw.depth_bias_slope = value; }
        /// <summary>Samples per pixel: 1, 2, 4, 8, 16 or 32. Default 1.</summary>
        public uint SampleCount { get => Raw.sample_count; set => Raw.sample_count = value; }
        /// <summary>The samples that are written. Default <c>uint.MaxValue</c>: all.</summary>
        public uint SampleMask { get => Raw.sample_mask; set => Raw.sample_mask = value; }
        /// <summary>1: alpha selects samples. Default 0.</summary>
        public uint AlphaToCoverage { get => Raw.alpha_to_coverage; set => Raw.alpha_to_coverage = value; }
        /// <summary>Format of the depth-stencil target: a number of the graphics API. Default 0: no target.</summary>
        public uint DepthStencilFormat { get => Raw.depth_stencil_format; set => Raw.depth_stencil_format = value; }
        /// <summary>1: test depth. Default 0: every fragment passes, and no depth is written.</summary>
        public uint DepthTest { get => Raw.depth_test; set => Raw.depth_test = value; }
        /// <summary>1: write the depth of fragments that pass. Without effect if <c>DepthTest</c> is 0. Default
        /// 0.</summary>
        public uint DepthWrite { get => Raw.depth_write; set => Raw.depth_write = value; }
        /// <summary>The comparison that passes. Without effect if <c>DepthTest</c> is 0. Default
        /// <c>PipelineCompare.Less</c>.</summary>
        public PipelineCompare DepthCompare { get => (PipelineCompare)Raw.depth_compare; set => Raw.depth_compare = (hob_pipeline_compare)value; }
        /// <summary>1: test stencil. Default 0: every fragment passes, and no stencil is written.</summary>
        public uint StencilTest { get => Raw.stencil_test; set => Raw.stencil_test = value; }
        /// <summary>Bytes of push constants (root constants). Default 0.</summary>
        public uint PushConstantSize { get => Raw.push_constant_size; set => Raw.push_constant_size = value; }
        /// <summary>The host's number for the layout of resources, such as the hash of a root signature. Default
        /// 0.</summary>
        public ulong Layout { get => Raw.layout; set => Raw.layout = value; }
        /// <summary>The host's number for state that this struct lacks. Default 0.</summary>
        public ulong HostState { get => Raw.host_state; set => Raw.host_state = value; }
        /// <summary>The stencil test of triangles that face the viewer. Without effect if <c>StencilTest</c> is
        /// 0.</summary>
        public PipelineStencilFace StencilFront
        {
            get
            {
                var raw = Raw.stencil_front;
                return *(PipelineStencilFace*)&raw;
            }
            set => Raw.stencil_front = *(hob_pipeline_stencil_face*)&value;
        }

        /// <summary>The stencil test of triangles that face away. Without effect if <c>StencilTest</c> is 0.</summary>
        public PipelineStencilFace StencilBack
        {
            get
            {
                var raw = Raw.stencil_back;
                return *(PipelineStencilFace*)&raw;
            }
            set => Raw.stencil_back = *(hob_pipeline_stencil_face*)&value;
        }

        /// <summary>Vertex buffers in any order, each slot once, at most 64.</summary>
        public IList<PipelineVertexBuffer> VertexBuffers { get; } = new List<PipelineVertexBuffer>();
        /// <summary>Vertex attributes in any order, each location once, at most 64.</summary>
        public IList<PipelineVertexAttribute> Attributes { get; } = new List<PipelineVertexAttribute>();
        /// <summary>Colour targets, in the order of the fragment shader's outputs, at most 8.</summary>
        public IList<PipelineColorTarget> ColorTargets { get; } = new List<PipelineColorTarget>();

        /// <summary>Encodes the state, for <c>PipelineDesc.OwnSchema</c>. Equal states have equal bytes, in any order of
        /// vertex buffers and attributes. At most 4 KiB.</summary>
        public byte[] Encode()
        {
            using (var arena = new Arena())
            {
                var raw = (hob_pipeline_graphics_state*)arena.Allocate(1, sizeof(hob_pipeline_graphics_state));
                *raw = Raw;
                var buffers = Calls.Snapshot(VertexBuffers);
                var attributes = Calls.Snapshot(Attributes);
                var targets = Calls.Snapshot(ColorTargets);
                fixed (PipelineVertexBuffer* buffersAt = buffers)
                fixed (PipelineVertexAttribute* attributesAt = attributes)
                fixed (PipelineColorTarget* targetsAt = targets)
                {
                    raw->vertex_buffers = (hob_pipeline_vertex_buffer*)buffersAt;
                    raw->vertex_buffer_stride = (UIntPtr)sizeof(hob_pipeline_vertex_buffer);
                    raw->vertex_buffer_count = (UIntPtr)buffers.Length;
                    raw->attributes = (hob_pipeline_vertex_attribute*)attributesAt;
                    raw->attribute_stride = (UIntPtr)sizeof(hob_pipeline_vertex_attribute);
                    raw->attribute_count = (UIntPtr)attributes.Length;
                    raw->color_targets = (hob_pipeline_color_target*)targetsAt;
                    raw->color_target_stride = (UIntPtr)sizeof(hob_pipeline_color_target);
                    raw->color_target_count = (UIntPtr)targets.Length;
                    return Buffers.ReadAll((buffer, capacity, size) =>
                        Native.hob_pipeline_encode_graphics(raw, buffer, capacity, size));
                }
            }
        }

        /// <summary>Decodes a state. Throws with <c>Result.Malformed</c> if the bytes are not an encoding of this
        /// library.</summary>
        public static PipelineGraphicsState Decode(byte[] bytes)
        {
            if (bytes == null) throw new ArgumentNullException(nameof(bytes));
            fixed (byte* data = bytes) return Decode(new ByteView(data, (UIntPtr)bytes.Length));
        }

        /// <summary>Decodes the state of a job.</summary>
        public static PipelineGraphicsState Decode(ByteView bytes)
        {
            var state = new PipelineGraphicsState();
            var data = (void*)bytes.Data;
            var size = (UIntPtr)(ulong)bytes.Length;
            fixed (hob_pipeline_graphics_state* raw = &state.Raw)
                Hob.Check(Native.hob_pipeline_decode_graphics(data, size, raw));
            using (var arena = new Arena())
            {
                var buffers = (PipelineVertexBuffer*)PipelineLists.Read(arena, (ulong)state.Raw.vertex_buffer_count,
                    sizeof(PipelineVertexBuffer), (items, capacity, found) => Native.hob_pipeline_decode_vertex_buffers(data, size,
                        (hob_pipeline_vertex_buffer*)items, (UIntPtr)sizeof(PipelineVertexBuffer), capacity, found), out var count);
                for (var i = 0; i < count; ++i) state.VertexBuffers.Add(buffers[i]);
                var attributes = (PipelineVertexAttribute*)PipelineLists.Read(arena, (ulong)state.Raw.attribute_count,
                    sizeof(PipelineVertexAttribute), (items, capacity, found) => Native.hob_pipeline_decode_vertex_attributes(
                        data, size, (hob_pipeline_vertex_attribute*)items, (UIntPtr)sizeof(PipelineVertexAttribute), capacity,
                        found), out count);
                for (var i = 0; i < count; ++i) state.Attributes.Add(attributes[i]);
                var targets = (PipelineColorTarget*)PipelineLists.Read(arena, (ulong)state.Raw.color_target_count,
                    sizeof(PipelineColorTarget), (items, capacity, found) => Native.hob_pipeline_decode_color_targets(data, size,
                        (hob_pipeline_color_target*)items, (UIntPtr)sizeof(PipelineColorTarget), capacity, found), out count);
                for (var i = 0; i < count; ++i) state.ColorTargets.Add(targets[i]);
            }
            return state;
        }
    }

    /// <summary>The state of a compute pipeline, everything but its shader. A new one has the defaults.</summary>
    public sealed unsafe class PipelineComputeState
    {
        internal hob_pipeline_compute_state Raw;

        public PipelineComputeState()
        {
            Hob.Ready(Room.Pipeline);
            fixed (hob_pipeline_compute_state* raw = &Raw)
                Hob.Check(Native.hob_pipeline_compute_state_init(raw, (uint)sizeof(hob_pipeline_compute_state)));
        }

        /// <summary>Bytes of push constants (root constants). Default 0.</summary>
        public uint PushConstantSize { get => Raw.push_constant_size; set => Raw.push_constant_size = value; }
        /// <summary>The host's number for the layout of resources, such as the hash of a root signature. Default
        /// 0.</summary>
        public ulong Layout { get => Raw.layout; set => Raw.layout = value; }
        /// <summary>The host's number for state that this struct lacks. Default 0.</summary>
        public ulong HostState { get => Raw.host_state; set => Raw.host_state = value; }

        /// <summary>Gets one side of a workgroup, 0 to 2. 0: that of the shader.</summary>
        public uint GetWorkgroup(int axis)
        {
            if ((uint)axis >= 3) throw new ArgumentOutOfRangeException(nameof(axis));
            fixed (uint* sides = Raw.workgroup) return sides[axis];
        }

        /// <summary>Sets the size of a workgroup, if the pipeline specialises it. Default 0: that of the shader.</summary>
        public void SetWorkgroup(uint x, uint y, uint z)
        {
            fixed (uint* sides = Raw.workgroup)
            {
                sides[0] = x;
                sides[1] = y;
                sides[2] = z;
            }
        }

        /// <summary>Encodes the state, for <c>PipelineDesc.OwnSchema</c>.</summary>
        public byte[] Encode()
        {
            var state = Raw;
            return Buffers.ReadAll((buffer, capacity, size) =>
            {
                var raw = state;
                return Native.hob_pipeline_encode_compute(&raw, buffer, capacity, size);
            });
        }

        /// <summary>Decodes a state.</summary>
        public static PipelineComputeState Decode(byte[] bytes)
        {
            if (bytes == null) throw new ArgumentNullException(nameof(bytes));
            fixed (byte* data = bytes) return Decode(new ByteView(data, (UIntPtr)bytes.Length));
        }

        /// <summary>Decodes the state of a job.</summary>
        public static PipelineComputeState Decode(ByteView bytes)
        {
            var state = new PipelineComputeState();
            fixed (hob_pipeline_compute_state* raw = &state.Raw)
                Hob.Check(Native.hob_pipeline_decode_compute((void*)bytes.Data, (UIntPtr)(ulong)bytes.Length, raw));
            return state;
        }
    }

    /// <summary>The state of a ray-tracing pipeline, everything but its shaders. A new one has the defaults.</summary>
    public sealed unsafe class PipelineRayTracingState
    {
        internal hob_pipeline_ray_tracing_state Raw;

        public PipelineRayTracingState()
        {
            Hob.Ready(Room.Pipeline);
            fixed (hob_pipeline_ray_tracing_state* raw = &Raw)
                Hob.Check(Native.hob_pipeline_ray_tracing_state_init(raw, (uint)sizeof(hob_pipeline_ray_tracing_state)));
        }

        /// <summary>Bytes of push constants (root constants). Default 0.</summary>
        public uint PushConstantSize { get => Raw.push_constant_size; set => Raw.push_constant_size = value; }
        /// <summary>Deepest recursion of rays. Default 1.</summary>
        public uint MaxRecursionDepth { get => Raw.max_recursion_depth; set => Raw.max_recursion_depth = value; }
        /// <summary>Largest payload of a ray, in bytes. Default 0.</summary>
        public uint MaxPayloadSize { get => Raw.max_payload_size; set => Raw.max_payload_size = value; }
        /// <summary>Largest attributes of a hit, in bytes. Default 8: those of triangles.</summary>
        public uint MaxAttributeSize { get => Raw.max_attribute_size; set => Raw.max_attribute_size = value; }
        /// <summary>The host's number for the layout of resources, such as the hash of a root signature. Default
        /// 0.</summary>
        public ulong Layout { get => Raw.layout; set => Raw.layout = value; }
        /// <summary>The host's number for state that this struct lacks. Default 0.</summary>
        public ulong HostState { get => Raw.host_state; set => Raw.host_state = value; }

        /// <summary>Shader groups, at most 32768. Their order matters.</summary>
        public IList<PipelineShaderGroup> Groups { get; } = new List<PipelineShaderGroup>();

        /// <summary>Encodes the state, for <c>PipelineDesc.OwnSchema</c>.</summary>
        public byte[] Encode()
        {
            using (var arena = new Arena())
            {
                var raw = (hob_pipeline_ray_tracing_state*)arena.Allocate(1, sizeof(hob_pipeline_ray_tracing_state));
                *raw = Raw;
                var groups = Calls.Snapshot(Groups);
                fixed (PipelineShaderGroup* groupsAt = groups)
                {
                    raw->groups = (hob_pipeline_shader_group*)groupsAt;
                    raw->group_stride = (UIntPtr)sizeof(hob_pipeline_shader_group);
                    raw->group_count = (UIntPtr)groups.Length;
                    return Buffers.ReadAll((buffer, capacity, size) =>
                        Native.hob_pipeline_encode_ray_tracing(raw, buffer, capacity, size));
                }
            }
        }

        /// <summary>Decodes a state.</summary>
        public static PipelineRayTracingState Decode(byte[] bytes)
        {
            if (bytes == null) throw new ArgumentNullException(nameof(bytes));
            fixed (byte* data = bytes) return Decode(new ByteView(data, (UIntPtr)bytes.Length));
        }

        /// <summary>Decodes the state of a job.</summary>
        public static PipelineRayTracingState Decode(ByteView bytes)
        {
            var state = new PipelineRayTracingState();
            var data = (void*)bytes.Data;
            var size = (UIntPtr)(ulong)bytes.Length;
            fixed (hob_pipeline_ray_tracing_state* raw = &state.Raw)
                Hob.Check(Native.hob_pipeline_decode_ray_tracing(data, size, raw));
            using (var arena = new Arena())
            {
                var groups = (PipelineShaderGroup*)PipelineLists.Read(arena, (ulong)state.Raw.group_count,
                    sizeof(PipelineShaderGroup), (items, capacity, found) => Native.hob_pipeline_decode_shader_groups(data, size,
                        (hob_pipeline_shader_group*)items, (UIntPtr)sizeof(PipelineShaderGroup), capacity, found), out var count);
                for (var i = 0; i < count; ++i) state.Groups.Add(groups[i]);
            }
            return state;
        }
    }
}
