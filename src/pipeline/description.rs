//! A pipeline as data, without any object of a graphics API.

use crate::base::{Result, error, try_to_vec};
use crate::fingerprint::{Builder, Fingerprint, LANES, Siblings};

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

impl ShaderRef {
    /// Stage and hash, as in files and names.
    pub(super) fn to_bytes(self) -> [u8; 24] {
        let mut bytes = [0; 24];
        bytes[..4].copy_from_slice(&self.stage.to_le_bytes());
        bytes[4..].copy_from_slice(&self.hash.0);
        bytes
    }
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
        let mut name = Builder::new(CONTEXT);
        name.part(HEAD, 0, &head(self.kind, self.schema));
        name.part(STATE, 0, self.state);
        name.written(SHADER, self.shaders.len() as u32, |list| {
            self.shaders.iter().for_each(|shader| list.put(&shader.to_bytes()));
        });
        name.finish()
    }

    /// A copy on the heap.
    pub fn try_to_owned(&self) -> Result<Description> {
        let Self { kind, schema, state, shaders } = *self;
        Ok(Description { kind, schema, state: try_to_vec(state)?, shaders: try_to_vec(shaders)? })
    }
}

fn head(kind: PipelineKind, schema: Schema) -> [u8; 5] {
    let [a, b, c, d] = schema.0.to_le_bytes();
    [kind as u8, a, b, c, d]
}

/// Makes the names of pipelines with a state, [`LANES`] at once.
pub struct Keys(Siblings);

impl Keys {
    pub fn new(kind: PipelineKind, schema: Schema, state: &[u8]) -> Self {
        Self(Siblings::new(CONTEXT, &[(HEAD, 0, &head(kind, schema)), (STATE, 0, state)]))
    }

    /// The names of pipelines with so many shaders, which are encoded one after the other.
    pub fn of(&self, count: usize, shaders: &[&[u8]; LANES]) -> [PipelineKey; LANES] {
        self.0.names(SHADER, count as u32, shaders)
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
