//! A pipeline as data, without any object of a graphics API.

use crate::base::{Result, error, try_to_vec};
use crate::fingerprint::{Builder, Fingerprint};

const CONTEXT: &str = "hobgoblin pipeline 1";
/// Parts of a pipeline's name.
const HEAD: u32 = 1;
const STATE: u32 = 2;
const SHADER: u32 = 3;

/// Most shaders of a pipeline.
pub const MAX_SHADERS: usize = 1024;
/// Most bytes of a pipeline's state.
pub const MAX_STATE: usize = 1 << 20;

/// The name of a pipeline: the hash of its whole description.
pub type PipelineKey = Fingerprint;

/// SHA-1 of a shader's bytecode, as in Unreal's shader libraries; or the first 20 bytes of another hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ShaderHash(pub [u8; 20]);

impl ShaderHash {
    /// The number that its bytes are, the first one highest. Comparing two needs no call of a library.
    #[inline]
    fn number(&self) -> (u64, u64, u32) {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, rest @ ..] = self.0;
        let middle = u64::from_be_bytes([i, j, k, l, m, n, o, p]);
        (u64::from_be_bytes([a, b, c, d, e, f, g, h]), middle, u32::from_be_bytes(rest))
    }
}

impl Ord for ShaderHash {
    #[inline]
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.number().cmp(&other.number())
    }
}

impl PartialOrd for ShaderHash {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The kind of a pipeline. Existing numbers never change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum PipelineKind {
    /// Vertex or mesh shaders, and fragments.
    #[default]
    Graphics = 0,
    /// One compute shader.
    Compute = 1,
    /// Ray generation, hit, miss and callable shaders.
    RayTracing = 2,
}

impl PipelineKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Graphics, Self::Compute, Self::RayTracing];

    /// The kind with that number.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.get(number as usize).copied()
    }

    /// Its name in messages and logs.
    pub fn name(self) -> &'static str {
        ["graphics", "compute", "ray tracing"][self as usize]
    }
}

/// The last `hob_shader_stage` that the library knows.
pub const LAST_STAGE: u32 = 13;
/// The first number of a stage that is free for the host.
pub const FIRST_OWN_STAGE: u32 = 64;

/// A shader of a pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShaderRef {
    /// A `hob_shader_stage`, or a number of the host from `HOB_SHADER_STAGE_USER` on.
    pub stage: u32,
    /// The shader's bytecode.
    pub hash: ShaderHash,
}

/// The schema of a pipeline's state.
///
/// 0 is the library's own: see [`graphics`](crate::pipeline::graphics). All other numbers belong to the host, which
/// changes the number with the layout. The library never looks into such a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Schema(pub u32);

impl Schema {
    /// The library's own schema.
    pub const OWN: Self = Self(0);

    /// Whether the library can read the state.
    pub fn is_own(self) -> bool {
        self == Self::OWN
    }
}

/// A pipeline: its state without shaders, and its shaders in the host's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescriptionRef<'a> {
    /// Graphics, compute or ray tracing.
    pub kind: PipelineKind,
    /// How to read `state`.
    pub schema: Schema,
    /// Everything but the shaders; at most [`MAX_STATE`] bytes.
    pub state: &'a [u8],
    /// One to [`MAX_SHADERS`] shaders.
    pub shaders: &'a [ShaderRef],
}

impl DescriptionRef<'_> {
    /// Check the counts of a description from outside.
    pub fn check(&self) -> Result<()> {
        if self.shaders.is_empty() {
            return Err(error!(InvalidArgument, "the pipeline has no shader: name at least one"));
        }
        if self.shaders.len() > MAX_SHADERS {
            let count = self.shaders.len();
            return Err(error!(LimitExceeded, "the pipeline has {count} shaders: pass at most {MAX_SHADERS}"));
        }
        if self.state.len() > MAX_STATE {
            let size = self.state.len();
            return Err(error!(LimitExceeded, "the pipeline's state has {size} bytes: pass at most {MAX_STATE}"));
        }
        Ok(())
    }

    /// The name of this pipeline. Equal descriptions have equal names; the order of the shaders counts.
    pub fn key(&self) -> PipelineKey {
        KeyBegin::new(self.kind, self.schema, self.state).key(self.shaders)
    }

    /// A copy on the heap.
    pub fn try_to_owned(&self) -> Result<Description> {
        let Self { kind, schema, state, shaders } = *self;
        Ok(Description { kind, schema, state: try_to_vec(state)?, shaders: try_to_vec(shaders)? })
    }
}

/// The begin of the names of all pipelines with a state.
pub struct KeyBegin(Builder);

impl KeyBegin {
    pub fn new(kind: PipelineKind, schema: Schema, state: &[u8]) -> Self {
        let mut name = Builder::new(CONTEXT);
        name.written(HEAD, 0, |head| {
            head.put(&[kind as u8]);
            head.put(&schema.0.to_le_bytes());
        });
        name.part(STATE, 0, state);
        Self(name)
    }

    /// The name of the pipeline with these shaders.
    pub fn key(&self, shaders: &[ShaderRef]) -> PipelineKey {
        let mut name = self.0.clone();
        name.written(SHADER, shaders.len() as u32, |list| {
            for shader in shaders {
                list.put(&shader.stage.to_le_bytes());
                list.put(&shader.hash.0);
            }
        });
        name.finish()
    }
}

/// A [`DescriptionRef`] that owns its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// Graphics, compute or ray tracing.
    pub kind: PipelineKind,
    /// How to read `state`.
    pub schema: Schema,
    /// Everything but the shaders.
    pub state: Vec<u8>,
    /// The shaders.
    pub shaders: Vec<ShaderRef>,
}

impl Description {
    /// The same description, borrowed.
    pub fn borrow(&self) -> DescriptionRef<'_> {
        DescriptionRef { kind: self.kind, schema: self.schema, state: &self.state, shaders: &self.shaders }
    }
}
