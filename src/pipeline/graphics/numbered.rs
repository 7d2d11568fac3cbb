//! Enums of the schema. Their numbers are those of Vulkan, and never change.

/// An enum with a number for each value.
pub trait Numbered: Copy + PartialEq + Sized + 'static {
    /// The enum's name in messages.
    const NAME: &'static str;
    /// All values, in the order of their numbers from 0 on.
    const ALL: &'static [Self];

    /// The value with that number.
    fn from_number(number: u32) -> Option<Self> {
        Self::ALL.get(number as usize).copied()
    }

    /// Its number.
    fn number(self) -> u8;
}

macro_rules! numbered {
    ($($(#[$doc:meta])* $name:ident, $text:literal { $($(#[$each:meta])* $variant:ident = $number:literal),+ $(,)? })+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$each])* $variant = $number),+
        }

        impl Numbered for $name {
            const NAME: &'static str = $text;
            const ALL: &'static [Self] = &[$(Self::$variant),+];

            fn number(self) -> u8 {
                self as u8
            }
        }
    )+};
}

numbered! {
    /// How vertices form primitives.
    Topology, "topology" {
        /// Points.
        PointList = 0,
        /// Separate lines.
        LineList = 1,
        /// Connected lines.
        LineStrip = 2,
        /// Separate triangles.
        #[default]
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
    PrimitiveRestart, "primitive restart" {
        /// No index restarts a strip.
        #[default]
        Off = 0,
        /// The largest index of either size.
        On = 1,
        /// The largest index of 16 bits.
        Uint16 = 2,
        /// The largest index of 32 bits.
        Uint32 = 3,
    }

    /// The triangles that are not drawn.
    CullMode, "cull mode" {
        /// None.
        #[default]
        None = 0,
        /// Those that face the viewer.
        Front = 1,
        /// Those that face away.
        Back = 2,
    }

    /// The winding of triangles that face the viewer.
    FrontFace, "front face" {
        /// Counter-clockwise.
        #[default]
        CounterClockwise = 0,
        /// Clockwise.
        Clockwise = 1,
    }

    /// How triangles are drawn.
    FillMode, "fill mode" {
        /// Filled.
        #[default]
        Fill = 0,
        /// As lines.
        Line = 1,
        /// As points.
        Point = 2,
    }

    /// A comparison of a new value with a stored one.
    Compare, "comparison" {
        /// Never passes.
        Never = 0,
        /// The new value is less.
        #[default]
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
    StencilOp, "stencil operation" {
        /// Keep the value.
        #[default]
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
    BlendFactor, "blend factor" {
        /// 0.
        #[default]
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
    BlendOp, "blend operation" {
        /// Source plus destination.
        #[default]
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
}
