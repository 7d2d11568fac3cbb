//! Stable pipelines that this build has no shaders for.
//!
//! A pipeline may be in many files, and counts once. So the names of all are sorted, in a temporary file if they are many.

use super::Rejected;
use crate::base::{Result, sort_slowly, try_push, try_string};
use crate::pipeline::Listed;
use crate::pipeline::files::sort::{Scratch, SortKey, Sorter, Watch, by_name};
use crate::pipeline::stable::{StablePipeline, StableShader};
use crate::store::hash;

/// The names of rejected pipelines: in memory, or in a temporary file.
enum Names {
    Held(Vec<SortKey>),
    Sorted(Box<Sorter>),
}

/// Lists rejected pipelines.
pub struct Rejections {
    list: Listed<Rejected>,
    names: Names,
}

impl Default for Rejections {
    fn default() -> Self {
        Self { list: Listed::default(), names: Names::Held(Vec::new()) }
    }
}

impl Rejections {
    /// Use a part of the memory for the names, and a temporary file for the others.
    pub fn spilling(scratch: &Scratch) -> Result<Self> {
        let sorter = Sorter::new(scratch, scratch.memory() / 16)?;
        Ok(Self { names: Names::Sorted(crate::base::try_box(sorter)?), ..Self::default() })
    }

    /// Pipelines that were added. One may count several times.
    pub fn added(&self) -> u64 {
        self.list.count()
    }

    /// Add a pipeline, and its first shader that is missing.
    pub fn add(&mut self, pipeline: &StablePipeline<'_>, shader: &StableShader<'_>) -> Result<()> {
        let key = shader.keys.clone().next().unwrap_or_default();
        // Names in files may be wrong, so the shader counts as well.
        let mut name = by_name(&pipeline.key);
        name[32..].copy_from_slice(&(hash(key.as_bytes()) ^ u64::from(shader.stage)).to_le_bytes());
        match &mut self.names {
            Names::Held(names) => try_push(names, name)?,
            Names::Sorted(sorter) => sorter.push(&name, [&[], &[]])?,
        }
        self.list.add(Rejected { pipeline: pipeline.key, stage: shader.stage, key: try_string(key)? })
    }

    /// The list.
    pub fn finish(self, watch: &mut Watch<'_>) -> Result<Listed<Rejected>> {
        let count = match self.names {
            Names::Held(mut names) => {
                sort_slowly(&mut names, Ord::cmp);
                names.dedup();
                names.len() as u64
            }
            Names::Sorted(sorter) => {
                let (mut count, mut before) = (0, None);
                sorter.finish()?.for_each(watch, |name, _| {
                    count += u64::from(before.replace(*name) != Some(*name));
                    Ok(())
                })?;
                count
            }
        };
        Ok(self.list.finish(count))
    }
}
