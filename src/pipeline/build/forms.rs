//! Stable pipelines as this build can have them.
//!
//! Materials that differ in their names alone have the same shaders in this build. In the sample log of the Unreal
//! Engine's documentation, 167 stable pipelines become each pipeline. So stable pipelines with the same choices of
//! shaders are united first, and their combinations are made once.

use super::dedup_from;
use crate::base::{Result, try_push};
use crate::fingerprint::Fingerprint;
use crate::pipeline::description::KeyBegin;
use crate::pipeline::files::{Cursor, Table};
use crate::pipeline::keys::{KeyMap, NO_STAGE};
use crate::pipeline::stable::StablePipeline;
use crate::pipeline::{DescriptionRef, PipelineKey, PipelineKind, Schema, ShaderHash, ShaderRef, UseData};
use crate::store::hash;

/// The shaders that a stable pipeline may have in this build.
#[derive(Default)]
pub struct Choices {
    stages: Vec<u32>,
    /// The candidates of all shaders, one after the other.
    hashes: Vec<ShaderHash>,
    /// End of each shader's candidates.
    ends: Vec<usize>,
}

impl Choices {
    fn clear(&mut self) {
        self.stages.clear();
        self.hashes.clear();
        self.ends.clear();
    }

    fn push(&mut self, stage: u32) -> Result<()> {
        try_push(&mut self.stages, stage)?;
        try_push(&mut self.ends, self.hashes.len())
    }

    fn of(&self, shader: usize) -> &[ShaderHash] {
        let begin = shader.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.hashes[begin..self.ends[shader]]
    }

    /// Find the candidates of each shader. Otherwise the place of the first one that this build does not have.
    pub fn find(&mut self, pipeline: &StablePipeline<'_>, keys: &KeyMap) -> Result<Option<usize>> {
        self.clear();
        for (place, shader) in pipeline.shaders.iter().enumerate() {
            let begin = self.hashes.len();
            let mut is_sorted = true;
            for key in shader.keys.clone() {
                let lines = keys.shaders_of(key);
                for line in lines.filter(|line| line.stage == shader.stage || line.stage == NO_STAGE) {
                    match self.hashes[begin..].last() {
                        Some(last) if *last == line.hash => continue,
                        last => is_sorted &= last.is_none_or(|last| *last < line.hash),
                    }
                    try_push(&mut self.hashes, line.hash)?;
                }
            }
            // The lines of a key are in the order of their shaders. Most shaders have one key.
            if !is_sorted {
                self.hashes[begin..].sort_unstable();
                dedup_from(&mut self.hashes, begin);
            }
            if self.hashes.len() == begin {
                return Ok(Some(place));
            }
            self.push(shader.stage)?;
        }
        Ok(None)
    }

    /// Number of combinations.
    pub fn count(&self) -> u64 {
        (0..self.ends.len()).fold(1, |product, shader| product.saturating_mul(self.of(shader).len() as u64))
    }

    /// A combination by its number. The last shader changes fastest.
    fn combine(&self, mut number: u64, shaders: &mut Vec<ShaderRef>) -> Result<()> {
        shaders.clear();
        shaders.try_reserve(self.stages.len())?;
        for (place, &stage) in self.stages.iter().enumerate().rev() {
            let candidates = self.of(place);
            let hash = candidates[(number % candidates.len() as u64) as usize];
            number /= candidates.len() as u64;
            shaders.push(ShaderRef { stage, hash });
        }
        shaders.reverse();
        Ok(())
    }

    /// Append kind, schema, state, and the choices.
    fn encode(&self, out: &mut Vec<u8>, pipeline: &StablePipeline<'_>) -> Result<()> {
        out.try_reserve(9 + pipeline.state.len() + 8 * self.stages.len() + 20 * self.hashes.len())?;
        out.push(pipeline.kind as u8);
        out.extend_from_slice(&pipeline.schema.0.to_le_bytes());
        out.extend_from_slice(&(pipeline.state.len() as u32).to_le_bytes());
        out.extend_from_slice(pipeline.state);
        for (place, stage) in self.stages.iter().enumerate() {
            out.extend_from_slice(&stage.to_le_bytes());
            out.extend_from_slice(&(self.of(place).len() as u32).to_le_bytes());
            self.of(place).iter().for_each(|hash| out.extend_from_slice(&hash.0));
        }
        Ok(())
    }

    /// Read what [`encode`](Self::encode) wrote.
    fn decode<'a>(&mut self, bytes: &'a [u8]) -> Result<Option<(PipelineKind, Schema, &'a [u8])>> {
        self.clear();
        let mut cursor = Cursor(bytes);
        let mut head = || {
            let kind = PipelineKind::from_number(cursor.u8()?.into())?;
            let (schema, length) = (Schema(cursor.u32()?), cursor.u32()?);
            Some((kind, schema, cursor.take(length as usize)?))
        };
        let Some(head) = head() else { return Ok(None) };
        while !cursor.is_at_end() {
            let (Some(stage), Some(count)) = (cursor.u32(), cursor.u32()) else { return Ok(None) };
            for _ in 0..count {
                let Some(hash) = cursor.array() else { return Ok(None) };
                try_push(&mut self.hashes, ShaderHash(hash))?;
            }
            self.push(stage)?;
        }
        Ok(Some(head))
    }
}

/// A name that is quick to find, and that different forms may share.
fn short_name(encoded: &[u8]) -> Fingerprint {
    let mut name = Fingerprint::default();
    name.0[..8].copy_from_slice(&hash(encoded).to_le_bytes());
    name
}

/// Stable pipelines, united if their shaders are the same in this build.
#[derive(Default)]
pub struct Forms {
    table: Table,
    encoded: Vec<u8>,
}

impl Forms {
    /// Add a stable pipeline with its choices. Returns the place of its form.
    pub fn add(&mut self, pipeline: &StablePipeline<'_>, choices: &Choices) -> Result<usize> {
        self.encoded.clear();
        choices.encode(&mut self.encoded, pipeline)?;
        let mut key = short_name(&self.encoded);
        while let Some(at) = self.table.find(&key) {
            if self.table.encoded(at) == self.encoded {
                return self.table.row_mut(at).uses.merge(pipeline.uses).map(|()| at);
            }
            // Another form has the same hash.
            key = short_name(&key.0);
        }
        let mut uses = UseData::default();
        uses.merge(pipeline.uses)?;
        self.table.insert(&key, &self.encoded, uses, 0)
    }

    /// Pass the combinations of all forms to `each`, with the place of the form and the name of the pipeline: of each form
    /// the first `most`.
    pub fn for_each(
        &self,
        most: u64,
        mut each: impl FnMut(usize, &PipelineKey, &DescriptionRef<'_>, &UseData) -> Result<()>,
    ) -> Result<()> {
        let (mut choices, mut shaders) = (Choices::default(), Vec::new());
        for at in 0..self.table.len() {
            let Some((kind, schema, state)) = choices.decode(self.table.encoded(at))? else { continue };
            let begin = KeyBegin::new(kind, schema, state);
            for number in 0..choices.count().min(most) {
                choices.combine(number, &mut shaders)?;
                let description = DescriptionRef { kind, schema, state, shaders: &shaders };
                each(at, &begin.key(&shaders), &description, &self.table.row(at).uses)?;
            }
        }
        Ok(())
    }
}
