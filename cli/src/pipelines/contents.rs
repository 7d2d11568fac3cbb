//! The pipelines of a file, whether it is a shipped cache, a recording or a stable file.

use std::path::Path;

use hobgoblin::base::{self, Code};
use hobgoblin::pipeline::recording::{Merged, Recording};
use hobgoblin::pipeline::stable::StableFile;
use hobgoblin::pipeline::{DescriptionRef, Identity, PipelineKey, PipelineKind, Shipped, UseData};
use hobgoblin::store::io::SharedIo;

use crate::failure::{Failure, Result};

/// An open file of pipelines.
pub enum Contents {
    Shipped(Shipped),
    Recording(Recording),
    Stable(StableFile),
}

/// A pipeline of any file.
pub struct Pipeline<'a> {
    pub key: PipelineKey,
    pub kind: PipelineKind,
    /// Missing in stable files, whose shaders have no hash.
    pub description: Option<DescriptionRef<'a>>,
    pub uses: &'a UseData,
}

/// `None`: the file is of another kind.
fn unless_other<T>(opened: base::Result<T>) -> Result<Option<T>> {
    match opened {
        Ok(file) => Ok(Some(file)),
        Err(why) if why.code() == Code::Unsupported => Ok(None),
        Err(why) => Err(why.into()),
    }
}

impl Contents {
    /// Open a file of any of the three kinds.
    pub fn open(io: &SharedIo, path: &Path) -> Result<Self> {
        let first = Shipped::any(io, path);
        let why = match &first {
            Err(why) if why.code() == Code::Unsupported => why.sentence().to_owned(),
            Err(why) if why.code() == Code::Malformed => {
                let advice = "name a shipped cache, a recording or a stable file";
                return Err(Failure::File(format!("{}; {advice}", why.sentence())));
            }
            _ => String::new(),
        };
        if let Some(file) = unless_other(first)? {
            return Ok(Self::Shipped(file));
        }
        if let Some(file) = unless_other(Recording::open(io, path))? {
            return Ok(Self::Recording(file));
        }
        match unless_other(StableFile::open(io, path))? {
            Some(file) => Ok(Self::Stable(file)),
            None => Err(Failure::File(format!("{why}, a recording or a stable file"))),
        }
    }

    pub fn name(&self) -> &'static str {
        match self {
            Self::Shipped(_) => "shipped cache",
            Self::Recording(_) => "recording",
            Self::Stable(_) => "stable file",
        }
    }

    pub fn is_stable(&self) -> bool {
        matches!(self, Self::Stable(_))
    }

    pub fn identity(&self) -> &Identity {
        match self {
            Self::Shipped(file) => &file.info().identity,
            Self::Recording(file) => &file.run().identity,
            Self::Stable(file) => &file.info().identity,
        }
    }

    /// Pass all pipelines to `each`, each once. Returns the number of damaged or missing records.
    pub fn for_each(&self, mut each: impl FnMut(&Pipeline<'_>)) -> Result<u64> {
        match self {
            Self::Shipped(file) => {
                let scan = file.for_each(|pipeline| {
                    let (key, description, uses) = (pipeline.key, pipeline.description, pipeline.uses);
                    each(&Pipeline { key, kind: description.kind, description: Some(description), uses });
                    Ok(())
                })?;
                Ok(scan.missing.max(scan.damaged))
            }
            Self::Recording(file) => {
                let mut merged = Merged::default();
                let scan = merged.add(file)?;
                merged.for_each(|pipeline| {
                    let (key, description, uses) = (pipeline.key, pipeline.description, pipeline.uses);
                    each(&Pipeline { key, kind: description.kind, description: Some(description), uses });
                    Ok(())
                })?;
                Ok(scan.damaged + u64::from(scan.is_truncated))
            }
            Self::Stable(file) => {
                let mut found = 0;
                let scan = file.for_each(|pipeline, _| {
                    let (key, kind, uses) = (pipeline.key, pipeline.kind, pipeline.uses);
                    each(&Pipeline { key, kind, description: None, uses });
                    found += 1;
                    Ok(())
                })?;
                // Of a stretch of damage it is not known how many records it had. The head knows the sum.
                let missing = file.info().pipelines.saturating_sub(found);
                Ok(missing.max(scan.damaged + u64::from(scan.is_truncated)))
            }
        }
    }
}
