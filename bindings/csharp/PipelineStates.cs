// Pipeline states of the library's own schema, for hosts without a serialiser. MIT OR Apache-2.0.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using Hobgoblin.Interop;

namespace Hobgoblin
{
    /// <summary>How vertices form primitives. All enumerators of this schema have the numbers of Vulkan.</summary>
    public enum PipelineTopology : uint
    {
        /// <summary>Points.</summary>
        PointList = 0,
        /// <summary>Separate lines.</summary>
        LineList = 1,
        /// <summary>Connected lines.</summary>
        LineStrip = 2,
        /// <summary>Separate triangles.</summary>
        TriangleList = 3,
        /// <summary>Triangles that share edges.</summary>
        TriangleStrip = 4,
        /// <summary>Triangles that share the first vertex.</summary>
        TriangleFan = 5,
        /// <summary>Separate lines with adjacent vertices.</summary>
        LineListAdjacency = 6,
        /// <summary>Connected lines with adjacent vertices.</summary>
        LineStripAdjacency = 7,
        /// <summary>Separate triangles with adjacent vertices.</summary>
        TriangleListAdjacency = 8,
        /// <summary>Triangles that share edges, with adjacent vertices.</summary>
        TriangleStripAdjacency = 9,
        /// <summary>Patches for tessellation.</summary>
        PatchList = 10,
    }
    /// <summary>Whether the largest index restarts a strip.</summary>
    public enum PipelinePrimitiveRestart : uint
    {
        /// <summary>No index restarts a strip.</summary>
        Off = 0,
        /// <summary>The largest index of either size.</summary>
        On = 1,
        /// <summary>The largest index of 16 bits.</summary>
        Uint16 = 2,
        /// <summary>The largest index of 32 bits.</summary>
        Uint32 = 3,
    }
    /// <summary>The triangles that are not drawn.</summary>
    public enum PipelineCullMode : uint
    {
        /// <summary>None.</summary>
        None = 0,
        /// <summary>Those that face the viewer.</summary>
        Front = 1,
        /// <summary>Those that face away.</summary>
        Back = 2,
    }
    /// <summary>The winding of triangles that face the viewer.</summary>
    public enum PipelineFrontFace : uint
    {
        /// <summary>Counter-clockwise.</summary>
        CounterClockwise = 0,
        /// <summary>Clockwise.</summary>
        Clockwise = 1,
    }
    /// <summary>How triangles are drawn.</summary>
    public enum PipelineFillMode : uint
    {
        /// <summary>Filled.</summary>
        Fill = 0,
        /// <summary>As lines.</summary>
        Line = 1,
        /// <summary>As points.</summary>
        Point = 2,
    }
    /// <summary>A comparison of a new value with a stored one.</summary>
    public enum PipelineCompare : uint
    {
        /// <summary>Never passes.</summary>
        Never = 0,
        /// <summary>The new value is less.</summary>
        Less = 1,
        /// <summary>Both are equal.</summary>
        Equal = 2,
        /// <summary>The new value is less or equal.</summary>
        LessOrEqual = 3,
        /// <summary>The new value is greater.</summary>
        Greater = 4,
        /// <summary>The values differ.</summary>
        NotEqual = 5,
        /// <summary>The new value is greater or equal.</summary>
        GreaterOrEqual = 6,
        /// <summary>Always passes.</summary>
        Always = 7,
    }
    /// <summary>A change of a stencil value.</summary>
    public enum PipelineStencilOp : uint
    {
        /// <summary>Keep the value.</summary>
        Keep = 0,
        /// <summary>Set 0.</summary>
        Zero = 1,
        /// <summary>Set the reference.</summary>
        Replace = 2,
        /// <summary>Add 1, up to the largest value.</summary>
        IncrementClamp = 3,
        /// <summary>Subtract 1, down to 0.</summary>
        DecrementClamp = 4,
        /// <summary>Invert all bits.</summary>
        Invert = 5,
        /// <summary>Add 1; the largest value becomes 0.</summary>
        IncrementWrap = 6,
        /// <summary>Subtract 1; 0 becomes the largest value.</summary>
        DecrementWrap = 7,
    }
    /// <summary>A factor of blending.</summary>
    public enum PipelineBlendFactor : uint
    {
        /// <summary>0.</summary>
        Zero = 0,
        /// <summary>1.</summary>
        One = 1,
        /// <summary>The source's colour.</summary>
        SourceColor = 2,
        /// <summary>1 minus the source's colour.</summary>
        OneMinusSourceColor = 3,
        /// <summary>The destination's colour.</summary>
        DestinationColor = 4,
        /// <summary>1 minus the destination's colour.</summary>
        OneMinusDestinationColor = 5,
        /// <summary>The source's alpha.</summary>
        SourceAlpha = 6,
        /// <summary>1 minus the source's alpha.</summary>
        OneMinusSourceAlpha = 7,
        /// <summary>The destination's alpha.</summary>
        DestinationAlpha = 8,
        /// <summary>1 minus the destination's alpha.</summary>
        OneMinusDestinationAlpha = 9,
        /// <summary>The blend constant's colour.</summary>
        ConstantColor = 10,
        /// <summary>1 minus the blend constant's colour.</summary>
        OneMinusConstantColor = 11,
        /// <summary>The blend constant's alpha.</summary>
        ConstantAlpha = 12,
        /// <summary>1 minus the blend constant's alpha.</summary>
        OneMinusConstantAlpha = 13,
        /// <summary>The smaller of the source's alpha and 1 minus the destination's alpha.</summary>
        SourceAlphaSaturate = 14,
        /// <summary>The second source's colour.</summary>
        Source1Color = 15,
        /// <summary>1 minus the second source's colour.</summary>
        OneMinusSource1Color = 16,
        /// <summary>The second source's alpha.</summary>
        Source1Alpha = 17,
        /// <summary>1 minus the second source's alpha.</summary>
        OneMinusSource1Alpha = 18,
    }
    /// <summary>How blending combines source and destination.</summary>
    public enum PipelineBlendOp : uint
    {
        /// <summary>Source plus destination.</summary>
        Add = 0,
        /// <summary>Source minus destination.</summary>
        Subtract = 1,
        /// <summary>Destination minus source.</summary>
        ReverseSubtract = 2,
        /// <summary>The smaller one.</summary>
        Min = 3,
        /// <summary>The larger one.</summary>
        Max = 4,
    }
    /// <summary>Kinds of shader groups.</summary>
    public enum PipelineShaderGroupKind : uint
    {
        /// <summary>A ray generation, miss or callable shader.</summary>
        General = 0,
        /// <summary>A hit group for triangles.</summary>
        Triangles = 1,
        /// <summary>A hit group for procedural geometry.</summary>
        Procedural = 2,
    }
    /// <summary>A vertex buffer.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct PipelineVertexBuffer
    {
        /// <summary>Its slot (Direct3D, WebGPU) or binding (Vulkan).</summary>
        public uint Slot;
        /// <summary>Bytes from one element to the next.</summary>
        public uint Stride;
        /// <summary>Instances per element. 0: one element per vertex. <c>uint.MaxValue</c>: the first element for
        /// all.</summary>
        public uint StepRate;
    }
    /// <summary>A vertex attribute.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct PipelineVertexAttribute
    {
        /// <summary>Its location in the vertex shader, or the host's number of a semantic.</summary>
        public uint Location;
        /// <summary>Slot of its vertex buffer.</summary>
        public uint Slot;
        /// <summary>Bytes from the begin of the buffer's element.</summary>
        public uint Offset;
        /// <summary>Format: a number of the graphics API, such as a VkFormat or a DXGI_FORMAT.</summary>
        public uint Format;
    }
    /// <summary>The stencil test of one side of triangles.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct PipelineStencilFace
    {
        /// <summary>The comparison of the reference with the stored value. Default
        /// <c>PipelineCompare.Always</c>.</summary>
        public PipelineCompare Compare;
        /// <summary>If the comparison fails. Default <c>PipelineStencilOp.Keep</c>, as for the others.</summary>
        public PipelineStencilOp Fail;
        /// <summary>If the comparison passes and the depth test fails.</summary>
        public PipelineStencilOp DepthFail;
        /// <summary>If both pass.</summary>
        public PipelineStencilOp Pass;
        /// <summary>The bits that are compared. Default 255.</summary>
        public uint ReadMask;
        /// <summary>The bits that are written. Default 255.</summary>
        public uint WriteMask;
    }
    /// <summary>A colour target.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct PipelineColorTarget
    {
        /// <summary>Format: a number of the graphics API. 0: the target is unused, and the fields below have no
        /// effect.</summary>
        public uint Format;
        /// <summary>Channels that are written: 1 red, 2 green, 4 blue, 8 alpha. 15: all.</summary>
        public uint WriteMask;
        /// <summary>1: blend with the fields below. 0: the source replaces the destination, and the fields below have no
        /// effect.</summary>
        public uint Blend;
        /// <summary>Factor of the source's colour.</summary>
        public PipelineBlendFactor SourceColor;
        /// <summary>Factor of the destination's colour.</summary>
        public PipelineBlendFactor DestinationColor;
        /// <summary>How both colours are combined.</summary>
        public PipelineBlendOp ColorOp;
        /// <summary>Factor of the source's alpha.</summary>
        public PipelineBlendFactor SourceAlpha;
        /// <summary>Factor of the destination's alpha.</summary>
        public PipelineBlendFactor DestinationAlpha;
        /// <summary>How both alphas are combined.</summary>
        public PipelineBlendOp AlphaOp;
    }
    /// <summary>A shader group: one record of a shader table. Shaders are places in <c>PipelineDesc.Shaders</c>, from 0
    /// on. <c>uint.MaxValue</c>: no shader. Fields that the kind does not name have no effect.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct PipelineShaderGroup
    {
        /// <summary>The kind.</summary>
        public PipelineShaderGroupKind Kind;
        /// <summary>The shader of <c>PipelineShaderGroupKind.General</c>.</summary>
        public uint General;
        /// <summary>The closest-hit shader of a hit group.</summary>
        public uint ClosestHit;
        /// <summary>The any-hit shader of a hit group.</summary>
        public uint AnyHit;
        /// <summary>The intersection shader of <c>PipelineShaderGroupKind.Procedural</c>.</summary>
        public uint Intersection;
    }
}
