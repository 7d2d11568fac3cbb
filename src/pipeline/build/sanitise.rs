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

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

use crate::base::{Code, Result, try_filled, try_push};
use crate::fingerprint::{Builder, Fingerprint};
use crate::pipeline::files::{Table, encoded_state};
use crate::pipeline::graphics::{GraphicsState, VertexAttribute, check};
use crate::pipeline::{DescriptionRef, PipelineKind, ShaderHash};
use crate::store::hash;

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

/// A use of a vertex shader.
struct Vertices {
    shader: ShaderHash,
    /// The hash of its vertex format. `None`: it has no attributes.
    format: Option<Fingerprint>,
    /// How often recordings used the pipeline.
    times: u64,
    /// Number of the pipeline.
    pipeline: usize,
}

/// The hash of the vertex format of a state. `None`: it has no attributes.
#[derive(Clone, Copy)]
struct Format(Option<Fingerprint>);

/// Finds the pipelines that are filtered out.
#[derive(Default)]
pub struct Sanitiser {
    vertices: Vec<Vertices>,
    /// Vertex formats of graphics states by the state's hash, with the row of a pipeline that has the state. `None`: the
    /// state is invalid. Most pipelines of a build differ in their shaders alone.
    formats: HashMap<u64, (u32, Option<Format>), BuildHasherDefault<DefaultHasher>>,
    invalid: Vec<usize>,
    counts: Sanitised,
}

impl Sanitiser {
    /// Add the next pipeline: that of a row. `times`: how often recordings used it.
    pub fn add(&mut self, description: &DescriptionRef<'_>, times: u64, row: u32, table: &Table) -> Result<()> {
        let pipeline = self.counts.before as usize;
        self.counts.before += 1;
        if !description.schema.is_own() {
            self.counts.unchecked += 1;
            return Ok(());
        }
        if description.kind != PipelineKind::Graphics {
            return match unless_invalid(check(description))? {
                Some(()) => Ok(()),
                None => try_push(&mut self.invalid, pipeline),
            };
        }
        let Some(Format(format)) = self.format_of(description.state, row, table)? else {
            return try_push(&mut self.invalid, pipeline);
        };
        match description.shaders.iter().find(|shader| shader.stage == VERTEX) {
            Some(shader) => try_push(&mut self.vertices, Vertices { shader: shader.hash, format, times, pipeline }),
            None => Ok(()),
        }
    }

    /// The vertex format of a graphics state. `None`: it is invalid.
    fn format_of(&mut self, state: &[u8], row: u32, table: &Table) -> Result<Option<Format>> {
        let hash = hash(state);
        if let Some(&(same, format)) = self.formats.get(&hash)
            && encoded_state(table.encoded(same as usize)) == Some(state)
        {
            return Ok(format);
        }
        let format = unless_invalid(GraphicsState::decode(state))?.map(|state| Format(format_of(&state.attributes)));
        self.formats.try_reserve(1)?;
        self.formats.insert(hash, (row, format));
        Ok(format)
    }

    /// Whether each pipeline is kept, and the counts.
    pub fn finish(mut self) -> Result<(Vec<bool>, Sanitised)> {
        let mut is_kept = try_filled(true, self.counts.before as usize)?;
        self.counts.invalid = self.invalid.len() as u64;
        self.invalid.iter().for_each(|&pipeline| is_kept[pipeline] = false);
        self.vertices.sort_unstable_by_key(|use_| (use_.shader, use_.format, use_.pipeline));
        for uses in self.vertices.chunk_by(|a, b| a.shader == b.shader) {
            let (empty, formatted) = uses.split_at(uses.partition_point(|one| one.format.is_none()));
            if formatted.is_empty() {
                continue;
            }
            for one in empty {
                self.counts.empty += 1;
                is_kept[one.pipeline] = false;
            }
            let is_inconsistent = formatted[0].format != formatted[formatted.len() - 1].format;
            self.counts.inconsistent_shaders += u64::from(is_inconsistent);
            let Some(chosen) = most_used(formatted) else {
                self.counts.undecided_shaders += 1;
                continue;
            };
            for one in formatted.iter().filter(|one| one.format != chosen) {
                self.counts.inconsistent += 1;
                is_kept[one.pipeline] = false;
            }
        }
        Ok((is_kept, self.counts))
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

/// The format of most pipelines, then of most uses, in a list that is sorted by format. `None`: a tie.
fn most_used(uses: &[Vertices]) -> Option<Option<Fingerprint>> {
    let weight = |uses: &[Vertices]| (uses.len(), uses.iter().fold(0_u64, |sum, one| sum.saturating_add(one.times)));
    let formats = || uses.chunk_by(|a, b| a.format == b.format).map(|uses| (weight(uses), uses[0].format));
    let (most, format) = formats().max_by_key(|&(weight, _)| weight)?;
    (formats().filter(|&(weight, _)| weight == most).count() == 1).then_some(format)
}
