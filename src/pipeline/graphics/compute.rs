//! The state of a compute pipeline.

use super::wire::{Reader, Writer};
use crate::base::Result;
use crate::pipeline::PipelineKind;

/// Bytes of an encoding, without version and kind.
const SIZE: usize = 32;

/// The state of a compute pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ComputeState {
    /// The host's number for the layout of resources, such as the hash of a root signature.
    pub layout: u64,
    /// The host's number for state that this struct lacks.
    pub host_state: u64,
    /// Bytes of push constants (root constants).
    pub push_constant_size: u32,
    /// Size of a workgroup, if the pipeline specialises it. 0: that of the shader.
    pub workgroup: [u32; 3],
}

impl ComputeState {
    /// The encoding of the state.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut out = Writer::new(PipelineKind::Compute, SIZE)?;
        out.u64(self.layout)?;
        out.u64(self.host_state)?;
        out.u32(self.push_constant_size)?;
        for size in self.workgroup {
            out.u32(size)?;
        }
        Ok(out.finish())
    }

    /// The state of an encoding. [`Code::Malformed`](crate::base::Code): no encoding has these bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(PipelineKind::Compute, bytes)?;
        let state = Self {
            layout: from.u64()?,
            host_state: from.u64()?,
            push_constant_size: from.u32()?,
            workgroup: [from.u32()?, from.u32()?, from.u32()?],
        };
        from.finish()?;
        Ok(state)
    }
}
