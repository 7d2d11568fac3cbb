//! Compute shaders of the key map that no recording used.

use super::COMPUTE;
use crate::base::{Result, sort_slowly, try_filled, try_push};
use crate::pipeline::graphics::ComputeState;
use crate::pipeline::keys::KeyMap;
use crate::pipeline::{DescriptionRef, Mask, MaskSet, PipelineKind, Schema, ShaderHash, ShaderRef, UseData};

/// The compute shaders of a key map, and whether a pipeline has them.
#[derive(Default)]
pub struct ComputeShaders {
    /// Sorted, each once.
    hashes: Vec<ShaderHash>,
    is_used: Vec<bool>,
}

impl ComputeShaders {
    pub fn of(keys: &KeyMap) -> Result<Self> {
        let mut hashes: Vec<ShaderHash> = Vec::new();
        keys.shaders_of_stage(COMPUTE).try_for_each(|hash| try_push(&mut hashes, hash))?;
        sort_slowly(&mut hashes, Ord::cmp);
        hashes.dedup();
        let is_used = try_filled(false, hashes.len())?;
        Ok(Self { hashes, is_used })
    }

    /// A compute pipeline has these shaders.
    pub fn note(&mut self, shaders: &[ShaderRef]) {
        if let Some(Ok(at)) = shaders.first().map(|shader| self.hashes.binary_search(&shader.hash)) {
            self.is_used[at] = true;
        }
    }

    /// Pass the pipeline of each shader that no pipeline has to `each`.
    pub fn for_each_unused(
        &self,
        schema: Schema,
        mut each: impl FnMut(&DescriptionRef<'_>, &UseData) -> Result<()>,
    ) -> Result<()> {
        let state = if schema.is_own() { ComputeState::default().encode()? } else { Vec::new() };
        // After all that was recorded.
        let uses = UseData { masks: MaskSet::of(Mask::ALL)?, first_frame: u64::MAX, ..UseData::default() };
        for (&hash, _) in self.hashes.iter().zip(&self.is_used).filter(|(_, is_used)| !**is_used) {
            let shaders = [ShaderRef { stage: COMPUTE, hash }];
            each(&DescriptionRef { kind: PipelineKind::Compute, schema, state: &state, shaders: &shaders }, &uses)?;
        }
        Ok(())
    }
}
