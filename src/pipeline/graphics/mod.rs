//! The library's own schema: the state of a pipeline as plain data, and its encoding.
//!
//! A host without a serialiser of its own fills in a [`GraphicsState`], a [`ComputeState`] or a [`RayTracingState`]. The
//! encoded bytes are the state of a pipeline with [`Schema::OWN`](super::Schema::OWN). Because the library can read them,
//! a build checks them: see `build/sanitise.rs`.
//!
//! The fields are those that Vulkan, Direct3D 12 and WebGPU share, and enumerators have the numbers of Vulkan. Formats
//! are numbers of the host's graphics API, which the library only compares.
//!
//! Invariants:
//! 1. A state has one encoding, so equal states have equal keys. Lists without order are sorted. A value that another
//!    one switches off, such as the factors of a blend that is off, is neither stored nor compared.
//! 2. Decoding accepts nothing else. A decoded state encodes to the same bytes.
//!
//! | file | content |
//! |---|---|
//! | `numbered` | the enums |
//! | `state` | [`GraphicsState`], and its check |
//! | `codec` | the encoding of [`GraphicsState`] |
//! | `compute` | [`ComputeState`] and its encoding |
//! | `ray_tracing` | [`RayTracingState`] and its encoding |
//! | `wire` | the parts of encodings |

mod codec;
mod compute;
mod numbered;
mod ray_tracing;
mod state;
#[cfg(test)]
mod tests;
mod wire;

use super::{DescriptionRef, PipelineKind};
use crate::base::{Code, Error, Result, error};

pub use compute::ComputeState;
pub use numbered::{
    BlendFactor, BlendOp, Compare, CullMode, FillMode, FrontFace, Numbered, PrimitiveRestart, StencilOp, Topology,
};
pub use ray_tracing::{MAX_SHADER_GROUPS, RayTracingState, ShaderGroup};
pub use state::{
    Blend, ColorTarget, DepthTest, GraphicsState, MAX_ATTRIBUTES, MAX_COLOR_TARGETS, MAX_PATCH_CONTROL_POINTS,
    MAX_SAMPLES, MAX_VERTEX_BUFFERS, Multisample, Raster, StencilFace, VertexAttribute, VertexBuffer,
};

/// Check the state of a description whose schema is the library's own. Other schemas pass.
pub fn check(description: &DescriptionRef<'_>) -> Result<()> {
    if !description.schema.is_own() {
        return Ok(());
    }
    if description.state.is_empty() {
        let kind = description.kind.name();
        return Err(error!(
            Malformed,
            "the schema is 0, the library's own, and the state is empty: encode a {kind} state, or number your layouts from 1"
        ));
    }
    match description.kind {
        PipelineKind::Graphics => GraphicsState::decode(description.state).map(|_| ()),
        PipelineKind::Compute => ComputeState::decode(description.state).map(|_| ()),
        PipelineKind::RayTracing => {
            RayTracingState::decode(description.state)?.check_shaders(description.shaders.len())
        }
    }
}

/// The error for bytes that encode a state which its check refuses.
fn malformed(kind: PipelineKind, why: Error) -> Error {
    match why.code() {
        Code::OutOfMemory => why,
        _ => error!(Malformed, "the {} state is invalid: {}", kind.name(), why.sentence()),
    }
}
