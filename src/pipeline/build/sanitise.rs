//! Sanitising: pipelines that a driver would refuse, or crash on, are filtered out of the shipped cache.
//!
//! A recorded state meets the shaders of this build, which may have changed. So each rule compares a pipeline with the
//! others of the same build, and needs nothing of the host:
//!
//! 1. **Vertex format.** The attributes of a pipeline by location and format are its vertex format. A vertex shader has
//!    one format: the one of most pipelines, then of most uses. Pipelines with another one are filtered out. If two
//!    formats have as many of both, neither is known to be wrong: all are kept, and the shader is counted as undecided.
//! 2. **Empty declaration.** A pipeline without attributes is filtered out if its vertex shader has a format elsewhere.
//! 3. **State.** A pipeline whose state is no encoding of the library's schema is filtered out.
//!
//! Only pipelines of the library's own schema can be read. Others are counted and kept.
//!
//! Source: the sanitising of Unreal's `ShaderPipelineCacheTools`, which prints these counts.

use crate::base::{Code, Result, sort_numbers, try_collect, try_filled, try_push};
use crate::fingerprint::{Builder, Fingerprint};
use crate::pipeline::files::Slots;
use crate::pipeline::graphics::{GraphicsState, VertexAttribute, check};
use crate::pipeline::{DescriptionRef, PipelineKind, ShaderHash, ShaderRef};

const CONTEXT: &str = "hobgoblin vertex format 1";
/// The stage of vertex shaders: `HOB_SHADER_STAGE_VERTEX`.
const VERTEX: u32 = 0;

/// Counts of sanitising.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sanitised {
    /// Vertex shaders that pipelines use with different vertex formats.
    pub inconsistent_shaders: u64,
    /// Those of them whose most used formats tie. Their pipelines with attributes are kept.
    pub undecided_shaders: u64,
    /// Pipelines before.
    pub before: u64,
    /// Filtered out: their vertex shader has another vertex format.
    pub inconsistent: u64,
    /// Filtered out: they have no vertex attributes, and their vertex shader has some elsewhere.
    pub empty: u64,
    /// Filtered out: their state is invalid.
    pub invalid: u64,
    /// Kept without a check, because their schema is the host's.
    pub unchecked: u64,
}

impl Sanitised {
    /// Pipelines after.
    pub fn after(&self) -> u64 {
        self.before - self.inconsistent - self.empty - self.invalid
    }
}

/// Pipelines with a vertex shader and a vertex format.
struct Vertices {
    shader: ShaderHash,
    format: u32,
    pipelines: u64,
    /// How often recordings used them.
    times: u64,
}

/// The rules for the pipelines of a form, which have the same state.
#[derive(Clone, Copy)]
pub enum FormCheck {
    /// The schema is the host's.
    Unchecked,
    Invalid,
    /// Valid, and has no vertex shader.
    Valid,
    /// The place of the vertex shader, and the number of the vertex format. 0: it has no attributes.
    Vertices(usize, u32),
}

/// Finds the pipelines that are filtered out.
#[derive(Default)]
pub struct Sanitiser {
    /// Vertex formats. The number of a format is its place and one more.
    formats: Vec<Fingerprint>,
    vertices: Vec<Vertices>,
    by_shader: Slots,
    /// The place in `vertices` of each pipeline, or one of the following.
    pipelines: Vec<u32>,
    counts: Sanitised,
}

/// A pipeline without a vertex shader, which is kept.
const KEPT: u32 = u32::MAX;
/// A pipeline with an invalid state.
const INVALID: u32 = u32::MAX - 1;

impl Sanitiser {
    /// Check the state of a form.
    pub fn check(&mut self, description: &DescriptionRef<'_>) -> Result<FormCheck> {
        let DescriptionRef { schema, kind, state, shaders } = *description;
        if !schema.is_own() {
            return Ok(FormCheck::Unchecked);
        }
        if kind != PipelineKind::Graphics {
            let checked = unless_invalid(check(description))?;
            return Ok(if checked.is_some() { FormCheck::Valid } else { FormCheck::Invalid });
        }
        let Some(state) = unless_invalid(GraphicsState::decode(state))? else { return Ok(FormCheck::Invalid) };
        let Some(place) = shaders.iter().position(|shader| shader.stage == VERTEX) else { return Ok(FormCheck::Valid) };
        let format = match format_of(&state.attributes) {
            Some(format) => self.number_of(format)?,
            None => 0,
        };
        Ok(FormCheck::Vertices(place, format))
    }

    /// The number of a vertex format. A game has few of them.
    fn number_of(&mut self, format: Fingerprint) -> Result<u32> {
        let known = self.formats.iter().position(|known| *known == format);
        if known.is_none() {
            try_push(&mut self.formats, format)?;
        }
        Ok(known.map_or(self.formats.len(), |at| at + 1) as u32)
    }

    /// Add the next pipeline of a form. `times`: how often recordings used it.
    pub fn add(&mut self, check: FormCheck, shaders: &[ShaderRef], times: u64) -> Result<()> {
        self.counts.before += 1;
        let at = match check {
            FormCheck::Unchecked => {
                self.counts.unchecked += 1;
                KEPT
            }
            FormCheck::Valid => KEPT,
            FormCheck::Invalid => {
                self.counts.invalid += 1;
                INVALID
            }
            FormCheck::Vertices(place, format) => {
                let shader = shaders[place].hash;
                let begin = shader.0.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
                let hash = ((begin ^ u64::from(format) << 56).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32;
                let is_same = |at: u32| {
                    let known = &self.vertices[at as usize];
                    known.shader == shader && known.format == format
                };
                let at = match self.by_shader.find(hash, is_same) {
                    Some(at) => at,
                    None => {
                        let at = self.vertices.len() as u32;
                        try_push(&mut self.vertices, Vertices { shader, format, pipelines: 0, times: 0 })?;
                        self.by_shader.insert(hash, at)?;
                        at
                    }
                };
                let vertices = &mut self.vertices[at as usize];
                vertices.pipelines += 1;
                vertices.times = vertices.times.saturating_add(times);
                at
            }
        };
        try_push(&mut self.pipelines, at)
    }

    /// Whether each pipeline is kept, and the counts.
    pub fn finish(mut self) -> Result<(Vec<bool>, Sanitised)> {
        let mut is_kept = try_filled(true, self.vertices.len())?;
        let vertices = |at: u32| &self.vertices[at as usize];
        let mut order = try_collect(0..self.vertices.len() as u32)?;
        let place = |at: u32| (vertices(at).shader, vertices(at).format);
        sort_numbers(&mut order, &mut |one, other| place(one).cmp(&place(other)));
        for same in order.chunk_by(|&one, &other| vertices(one).shader == vertices(other).shader) {
            let (empty, formatted) = same.split_at(usize::from(vertices(same[0]).format == 0));
            if formatted.is_empty() {
                continue;
            }
            for &at in empty {
                self.counts.empty += vertices(at).pipelines;
                is_kept[at as usize] = false;
            }
            self.counts.inconsistent_shaders += u64::from(formatted.len() > 1);
            let weight = |at: u32| (vertices(at).pipelines, vertices(at).times);
            let most = formatted.iter().map(|&at| weight(at)).max();
            if formatted.iter().filter(|&&at| Some(weight(at)) == most).count() > 1 {
                self.counts.undecided_shaders += 1;
                continue;
            }
            for &at in formatted.iter().filter(|&&at| Some(weight(at)) != most) {
                self.counts.inconsistent += vertices(at).pipelines;
                is_kept[at as usize] = false;
            }
        }
        let is_kept = |at: &u32| *at == KEPT || (*at != INVALID && is_kept[*at as usize]);
        Ok((try_collect(self.pipelines.iter().map(is_kept))?, self.counts))
    }
}

/// `None`: invalid.
fn unless_invalid<T>(checked: Result<T>) -> Result<Option<T>> {
    match checked {
        Err(why) if why.code() == Code::OutOfMemory => Err(why),
        checked => Ok(checked.ok()),
    }
}

/// The hash of attributes in the order of their locations.
fn format_of(attributes: &[VertexAttribute]) -> Option<Fingerprint> {
    if attributes.is_empty() {
        return None;
    }
    let mut name = Builder::new(CONTEXT);
    name.written(1, attributes.len() as u32, |list| {
        for VertexAttribute { location, format, .. } in attributes {
            list.put(&location.to_le_bytes());
            list.put(&format.to_le_bytes());
        }
    });
    Some(name.finish())
}
