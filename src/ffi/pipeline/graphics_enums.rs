//! Enums of the library's own schema.

use hobgoblin_macros::open_enum;

use crate::base::{Result, error};
use crate::pipeline::graphics::Numbered;

// == Experimental: Graphics state of the library's own schema ==

/// hob_pipeline_desc.schema: the library's own schema, for a host without a serialiser.
/// `state` has the bytes of hob_pipeline_encode_graphics, hob_pipeline_encode_compute or
/// hob_pipeline_encode_ray_tracing.
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

/// The value of an enum.
pub fn known<T: Numbered>(number: u32, what: &str) -> Result<T> {
    T::from_number(number).ok_or_else(|| {
        let (name, last) = (T::NAME, T::ALL.len() - 1);
        error!(InvalidArgument, "{what} {number} is not a {name}: pass 0 to {last}")
    })
}

/// The number of an enum.
pub fn number<T: Numbered>(value: T) -> u32 {
    value.number().into()
}
