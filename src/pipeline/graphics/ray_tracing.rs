//! The state of a ray-tracing pipeline.

use super::malformed;
use super::numbered::Numbered;
use super::wire::{Reader, Writer};
use crate::base::{Result, error, try_push};
use crate::pipeline::{MAX_SHADERS, PipelineKind};

/// Most shader groups.
pub const MAX_SHADER_GROUPS: usize = 1 << 15;
/// Bytes of the parts that every state has, and most bytes of a group.
const FIXED: usize = 36;
const GROUP: usize = 7;
/// No shader.
const NONE: u16 = u16::MAX;

/// A shader group: one record of a shader table. Shaders are places in the pipeline's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShaderGroup {
    /// A ray generation, miss or callable shader.
    General {
        /// The shader.
        shader: u32,
    },
    /// A hit group for triangles.
    Triangles {
        /// The closest-hit shader.
        closest_hit: Option<u32>,
        /// The any-hit shader.
        any_hit: Option<u32>,
    },
    /// A hit group for procedural geometry.
    Procedural {
        /// The closest-hit shader.
        closest_hit: Option<u32>,
        /// The any-hit shader.
        any_hit: Option<u32>,
        /// The intersection shader.
        intersection: u32,
    },
}

impl ShaderGroup {
    /// Its shaders.
    pub fn shaders(&self) -> impl Iterator<Item = u32> {
        let all = match *self {
            Self::General { shader } => [Some(shader), None, None],
            Self::Triangles { closest_hit, any_hit } => [closest_hit, any_hit, None],
            Self::Procedural { closest_hit, any_hit, intersection } => [closest_hit, any_hit, Some(intersection)],
        };
        all.into_iter().flatten()
    }
}

/// The state of a ray-tracing pipeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RayTracingState {
    /// The host's number for the layout of resources, such as the hash of a root signature.
    pub layout: u64,
    /// The host's number for state that this struct lacks.
    pub host_state: u64,
    /// Bytes of push constants (root constants).
    pub push_constant_size: u32,
    /// Deepest recursion of rays.
    pub max_recursion_depth: u32,
    /// Largest payload of a ray, in bytes.
    pub max_payload_size: u32,
    /// Largest attributes of a hit, in bytes.
    pub max_attribute_size: u32,
    /// The shader groups, in the order of their numbers.
    pub groups: Vec<ShaderGroup>,
}

impl RayTracingState {
    /// Check that a pipeline of so many shaders has those that the groups name.
    pub fn check_shaders(&self, count: usize) -> Result<()> {
        for (at, group) in self.groups.iter().enumerate() {
            if let Some(shader) = group.shaders().find(|&shader| shader as usize >= count) {
                return Err(error!(
                    InvalidArgument,
                    "shader group {at} names shader {shader}, and the pipeline has {count} shaders: number them from 0"
                ));
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        let count = self.groups.len();
        if count > MAX_SHADER_GROUPS {
            return Err(error!(LimitExceeded, "the state has {count} shader groups: pass at most {MAX_SHADER_GROUPS}"));
        }
        self.check_shaders(MAX_SHADERS)
    }

    /// The encoding of the state.
    pub fn encode(&self) -> Result<Vec<u8>> {
        self.check()?;
        let mut out = Writer::new(PipelineKind::RayTracing, FIXED + GROUP * self.groups.len())?;
        out.u64(self.layout)?;
        out.u64(self.host_state)?;
        for number in [
            self.push_constant_size,
            self.max_recursion_depth,
            self.max_payload_size,
            self.max_attribute_size,
            self.groups.len() as u32,
        ] {
            out.u32(number)?;
        }
        for group in &self.groups {
            put_group(&mut out, group)?;
        }
        Ok(out.finish())
    }

    /// The state of an encoding. [`Code::Malformed`](crate::base::Code): no encoding has these bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(PipelineKind::RayTracing, bytes)?;
        let mut state = Self {
            layout: from.u64()?,
            host_state: from.u64()?,
            push_constant_size: from.u32()?,
            max_recursion_depth: from.u32()?,
            max_payload_size: from.u32()?,
            max_attribute_size: from.u32()?,
            groups: Vec::new(),
        };
        let number = from.u32()?;
        for _ in 0..from.count(number, MAX_SHADER_GROUPS, "shader groups")? {
            let group = get_group(&mut from)?;
            try_push(&mut state.groups, group)?;
        }
        from.finish()?;
        state.check().map_err(|why| malformed(PipelineKind::RayTracing, why))?;
        Ok(state)
    }
}

/// The kinds of groups, with the numbers of Vulkan.
#[derive(Clone, Copy, PartialEq)]
enum GroupKind {
    General,
    Triangles,
    Procedural,
}

impl Numbered for GroupKind {
    const NAME: &'static str = "shader group kind";
    const ALL: &'static [Self] = &[Self::General, Self::Triangles, Self::Procedural];

    fn number(self) -> u8 {
        self as u8
    }
}

fn put_group(out: &mut Writer, group: &ShaderGroup) -> Result<()> {
    let maybe = |shader: Option<u32>| shader.map_or(NONE, |shader| shader as u16);
    match *group {
        ShaderGroup::General { shader } => {
            out.numbered(GroupKind::General)?;
            out.u16(shader as u16)
        }
        ShaderGroup::Triangles { closest_hit, any_hit } => {
            out.numbered(GroupKind::Triangles)?;
            out.u16(maybe(closest_hit))?;
            out.u16(maybe(any_hit))
        }
        ShaderGroup::Procedural { closest_hit, any_hit, intersection } => {
            out.numbered(GroupKind::Procedural)?;
            out.u16(maybe(closest_hit))?;
            out.u16(maybe(any_hit))?;
            out.u16(intersection as u16)
        }
    }
}

fn get_group(from: &mut Reader<'_>) -> Result<ShaderGroup> {
    let kind = from.numbered()?;
    let mut maybe = || from.u16().map(|shader| (shader != NONE).then_some(shader.into()));
    Ok(match kind {
        GroupKind::General => ShaderGroup::General { shader: from.u16()?.into() },
        GroupKind::Triangles => ShaderGroup::Triangles { closest_hit: maybe()?, any_hit: maybe()? },
        GroupKind::Procedural => {
            ShaderGroup::Procedural { closest_hit: maybe()?, any_hit: maybe()?, intersection: from.u16()?.into() }
        }
    })
}
