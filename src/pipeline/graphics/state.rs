//! The state of a graphics pipeline.

use super::numbered::{
    BlendFactor, BlendOp, Compare, CullMode, FillMode, FrontFace, PrimitiveRestart, StencilOp, Topology,
};
use crate::base::{Result, error};

/// Most vertex buffers.
pub const MAX_VERTEX_BUFFERS: usize = 64;
/// Most vertex attributes.
pub const MAX_ATTRIBUTES: usize = 64;
/// Most colour targets.
pub const MAX_COLOR_TARGETS: usize = 8;
/// Most control points of a patch.
pub const MAX_PATCH_CONTROL_POINTS: u32 = 32;
/// Most samples of a pixel: one for each bit of the sample mask.
pub const MAX_SAMPLES: u32 = 32;
/// The bits of a colour target's write mask.
const ALL_CHANNELS: u32 = 15;

/// A vertex buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VertexBuffer {
    /// Its slot (Direct3D, WebGPU) or binding (Vulkan).
    pub slot: u32,
    /// Bytes from one element to the next.
    pub stride: u32,
    /// Instances per element. 0: one element per vertex. `u32::MAX`: the first element for all.
    pub step_rate: u32,
}

/// A vertex attribute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VertexAttribute {
    /// Its location in the vertex shader, or the host's number of a semantic.
    pub location: u32,
    /// Slot of its vertex buffer.
    pub slot: u32,
    /// Bytes from the begin of the buffer's element.
    pub offset: u32,
    /// Format: a number of the graphics API.
    pub format: u32,
}

/// Rasterisation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Raster {
    /// The triangles that are not drawn.
    pub cull: CullMode,
    /// The winding of triangles that face the viewer.
    pub front_face: FrontFace,
    /// How triangles are drawn.
    pub fill: FillMode,
    /// Clamp depth instead of clipping at the near and the far plane.
    pub depth_clamp: bool,
    /// Constant depth bias.
    pub depth_bias: f64,
    /// Largest depth bias. 0: no limit.
    pub depth_bias_clamp: f64,
    /// Depth bias per slope.
    pub depth_bias_slope: f64,
}

/// Multisampling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multisample {
    /// Samples per pixel, a power of two up to [`MAX_SAMPLES`].
    pub count: u32,
    /// The samples that are written.
    pub mask: u32,
    /// Alpha selects samples.
    pub alpha_to_coverage: bool,
}

impl Default for Multisample {
    fn default() -> Self {
        Self { count: 1, mask: u32::MAX, alpha_to_coverage: false }
    }
}

/// The depth test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DepthTest {
    /// Write the depth of fragments that pass.
    pub writes: bool,
    /// The comparison that passes.
    pub compare: Compare,
}

/// The stencil test of one side of triangles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StencilFace {
    /// The comparison of the reference with the stored value.
    pub compare: Compare,
    /// If the comparison fails.
    pub fail: StencilOp,
    /// If the comparison passes and the depth test fails.
    pub depth_fail: StencilOp,
    /// If both pass.
    pub pass: StencilOp,
    /// The bits that are compared.
    pub read_mask: u32,
    /// The bits that are written.
    pub write_mask: u32,
}

/// Blending of a colour target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blend {
    /// Factor of the source's colour.
    pub source_color: BlendFactor,
    /// Factor of the destination's colour.
    pub destination_color: BlendFactor,
    /// How both colours are combined.
    pub color_op: BlendOp,
    /// Factor of the source's alpha.
    pub source_alpha: BlendFactor,
    /// Factor of the destination's alpha.
    pub destination_alpha: BlendFactor,
    /// How both alphas are combined.
    pub alpha_op: BlendOp,
}

/// A colour target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColorTarget {
    /// Format: a number of the graphics API. 0: the target is unused.
    pub format: u32,
    /// Channels that are written: 1 red, 2 green, 4 blue, 8 alpha.
    pub write_mask: u32,
    /// Blending. `None`: the source replaces the destination.
    pub blend: Option<Blend>,
}

/// The state of a graphics pipeline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphicsState {
    /// The host's number for the layout of resources, such as the hash of a root signature.
    pub layout: u64,
    /// The host's number for state that this struct lacks.
    pub host_state: u64,
    /// Bytes of push constants (root constants).
    pub push_constant_size: u32,
    /// How vertices form primitives.
    pub topology: Topology,
    /// Whether the largest index restarts a strip.
    pub primitive_restart: PrimitiveRestart,
    /// Control points of a patch, for [`Topology::PatchList`]; otherwise 0.
    pub patch_control_points: u32,
    /// Rasterisation.
    pub raster: Raster,
    /// Multisampling.
    pub multisample: Multisample,
    /// Format of the depth-stencil target: a number of the graphics API. 0: no target.
    pub depth_stencil_format: u32,
    /// The depth test. `None`: every fragment passes, and no depth is written.
    pub depth: Option<DepthTest>,
    /// The stencil test of front and back faces. `None`: every fragment passes, and no stencil is written.
    pub stencil: Option<[StencilFace; 2]>,
    /// Vertex buffers, in any order.
    pub vertex_buffers: Vec<VertexBuffer>,
    /// Vertex attributes, in any order.
    pub attributes: Vec<VertexAttribute>,
    /// Colour targets, in the order of the fragment shader's outputs.
    pub color_targets: Vec<ColorTarget>,
}

impl GraphicsState {
    /// Check what the types leave open. The lists of vertex buffers and attributes must be sorted.
    pub(super) fn check(&self) -> Result<()> {
        let lists = [
            ("vertex buffers", self.vertex_buffers.len(), MAX_VERTEX_BUFFERS),
            ("vertex attributes", self.attributes.len(), MAX_ATTRIBUTES),
            ("colour targets", self.color_targets.len(), MAX_COLOR_TARGETS),
        ];
        for (what, count, most) in lists {
            if count > most {
                return Err(error!(LimitExceeded, "the state has {count} {what}: pass at most {most}"));
            }
        }
        self.check_primitives()?;
        self.check_vertices()?;
        if !self.multisample.count.is_power_of_two() || self.multisample.count > MAX_SAMPLES {
            let count = self.multisample.count;
            return Err(error!(InvalidArgument, "the sample count {count} is not 1, 2, 4, 8, 16 or {MAX_SAMPLES}"));
        }
        for (at, ColorTarget { write_mask, .. }) in self.color_targets.iter().enumerate() {
            if *write_mask > ALL_CHANNELS {
                return Err(error!(
                    InvalidArgument,
                    "the write mask {write_mask} of colour target {at} has other bits than those of 4 channels: pass 0 to 15"
                ));
            }
        }
        Ok(())
    }

    fn check_primitives(&self) -> Result<()> {
        let (points, is_patch) = (self.patch_control_points, self.topology == Topology::PatchList);
        if is_patch && !(1..=MAX_PATCH_CONTROL_POINTS).contains(&points) {
            return Err(error!(
                InvalidArgument,
                "a patch has {points} control points: set patch_control_points to 1 to {MAX_PATCH_CONTROL_POINTS}"
            ));
        }
        if !is_patch && points != 0 {
            return Err(error!(
                InvalidArgument,
                "patch_control_points is {points}, and the topology is not the patch list: set it to 0"
            ));
        }
        let Raster { depth_bias, depth_bias_clamp, depth_bias_slope, .. } = self.raster;
        let biases = [depth_bias, depth_bias_clamp, depth_bias_slope];
        if let Some(bias) = biases.into_iter().find(|bias| !bias.is_finite()) {
            return Err(error!(InvalidArgument, "a depth bias is {bias}: pass a finite number"));
        }
        Ok(())
    }

    fn check_vertices(&self) -> Result<()> {
        check_order("vertex buffer slot", self.vertex_buffers.iter().map(|buffer| buffer.slot))?;
        check_order("vertex attribute location", self.attributes.iter().map(|attribute| attribute.location))?;
        for VertexAttribute { location, slot, .. } in &self.attributes {
            if self.vertex_buffers.binary_search_by_key(slot, |buffer| buffer.slot).is_err() {
                return Err(error!(
                    InvalidArgument,
                    "the vertex attribute at location {location} reads vertex buffer slot {slot}, which is not in the list: \
                     add the buffer"
                ));
            }
        }
        Ok(())
    }
}

/// Check that the numbers of a list ascend.
fn check_order(what: &str, numbers: impl Iterator<Item = u32> + Clone) -> Result<()> {
    match numbers.clone().zip(numbers.skip(1)).find(|(before, number)| before >= number) {
        None => Ok(()),
        Some((before, number)) if before == number => {
            Err(error!(InvalidArgument, "{what} {number} is listed twice: list each once"))
        }
        Some((before, number)) => {
            Err(error!(InvalidArgument, "{what} {number} follows {before}: list them in ascending order"))
        }
    }
}
