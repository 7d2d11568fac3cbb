//! Recordings and the key map of their build become a stable file.

use std::path::Path;

use super::file::{StableInfo, stable_key, write};
use crate::base::{Result, error, try_push, try_string};
use crate::fingerprint::Builder;
use crate::pipeline::files::{Dimension, Table, put_text};
use crate::pipeline::keys::KeyMap;
use crate::pipeline::recording::{Merged, MergedPipeline, Recording};
use crate::pipeline::{Identity, PipelineKey, ShaderRef};
use crate::store::io::SharedIo;

const CONTEXT: &str = "hobgoblin stable file 1";

/// A pipeline that has no stable form: a shader of it has no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unresolved {
    /// The pipeline.
    pub pipeline: PipelineKey,
    /// Its first shader without a key.
    pub shader: ShaderRef,
}

/// Report of an expansion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expanded {
    /// Recordings merged.
    pub recordings: u64,
    /// Recordings of a run that was merged already.
    pub repeated: u64,
    /// Pipelines in the recordings.
    pub pipelines: u64,
    /// Pipelines in the stable file. Pipelines that differ in shaders of the same keys alone become one.
    pub stable: u64,
    /// Pipelines without a stable form.
    pub unresolved: Vec<Unresolved>,
    /// Damaged records of the recordings.
    pub damaged: u64,
    /// Recordings whose end is missing.
    pub truncated: u64,
    /// Bytes written.
    pub bytes: u64,
}

/// Merges recordings, and expresses them in stable keys.
pub struct Expansion {
    identity: Identity,
    version: String,
    dimensions: Vec<Dimension>,
    merged: Merged,
    runs: Vec<[u8; 16]>,
    runs_from: u64,
    runs_to: u64,
    report: Expanded,
}

impl Expansion {
    /// Begin with the identity, the version and the mask dimensions of this recording. It is not added.
    pub fn like(recording: &Recording) -> Result<Self> {
        let run = recording.run();
        let mut dimensions = Vec::new();
        for Dimension { name, width } in &run.dimensions {
            try_push(&mut dimensions, Dimension { name: try_string(name)?, width: *width })?;
        }
        Ok(Self {
            identity: run.identity.try_clone()?,
            version: try_string(&run.version)?,
            dimensions,
            merged: Merged::default(),
            runs: Vec::new(),
            runs_from: u64::MAX,
            runs_to: 0,
            report: Expanded::default(),
        })
    }

    /// Add a recording. False if its run was added already: of two files of one run, add the longer one first. A recording
    /// of another game, shader format, graphics API, version, or set of mask dimensions is refused. After another error,
    /// begin again.
    pub fn add(&mut self, recording: &Recording) -> Result<bool> {
        let (run, path) = (recording.run(), recording.path().display());
        self.identity.check(&run.identity, &crate::base::try_format(format_args!("'{path}'"))?)?;
        if run.version != self.version {
            let (own, theirs) = (&self.version, &run.version);
            return Err(error!(
                Unsupported,
                "'{path}' was recorded with '{theirs}', and not with '{own}': expand it with its own keys"
            ));
        }
        if run.dimensions != self.dimensions {
            return Err(error!(Unsupported, "'{path}' has other mask dimensions: expand it on its own"));
        }
        let Err(at) = self.runs.binary_search(&run.run) else {
            self.report.repeated += 1;
            return Ok(false);
        };
        try_push(&mut self.runs, run.run)?;
        self.runs[at..].rotate_right(1);
        let lost = self.merged.add(recording)?;
        self.report.recordings += 1;
        self.report.damaged += lost.damaged;
        self.report.truncated += u64::from(lost.is_truncated);
        self.runs_from = self.runs_from.min(run.started);
        self.runs_to = self.runs_to.max(run.started);
        Ok(true)
    }

    /// Write the stable file, in place of one at `path`. An error leaves that file as it was.
    pub fn finish(self, keys: &KeyMap, io: &SharedIo, path: &Path) -> Result<Expanded> {
        let mut report = self.report;
        report.pipelines = self.merged.len() as u64;
        let mut table = Table::default();
        let mut encoded = Vec::new();
        self.merged.for_each(|pipeline| {
            if let Some(shader) = put_stable(&mut encoded, pipeline, keys)? {
                return try_push(&mut report.unresolved, Unresolved { pipeline: pipeline.key, shader });
            }
            let key = stable_key(&encoded);
            match table.find(&key) {
                Some(at) => table.row_mut(at).uses.merge(pipeline.uses),
                None => {
                    let mut uses = crate::pipeline::UseData::default();
                    uses.merge(pipeline.uses)?;
                    table.insert(&key, &encoded, uses, 0).map(|_| ())
                }
            }
        })?;
        drop(self.merged);
        report.unresolved.sort_unstable();
        report.stable = table.len() as u64;
        let order = table.in_order()?;
        let mut source = Builder::new(CONTEXT);
        source.written(1, self.runs.len() as u32, |bytes| self.runs.iter().for_each(|run| bytes.put(run)));
        source.written(2, 0, |bytes| order.iter().for_each(|&at| bytes.put(&table.row(at as usize).key.0)));
        let info = StableInfo {
            identity: self.identity,
            version: self.version,
            source: source.finish(),
            runs_from: self.runs_from.min(self.runs_to),
            runs_to: self.runs_to,
            pipelines: report.stable,
            dimensions: self.dimensions,
        };
        report.bytes = write(io, path, &info, |put| {
            for &at in &order {
                let row = table.row(at as usize);
                put(&row.key, &row.uses, table.encoded(at as usize))?;
            }
            Ok(())
        })?;
        Ok(report)
    }
}

/// Encode the stable form of a pipeline, or return its first shader without a key.
fn put_stable(out: &mut Vec<u8>, pipeline: &MergedPipeline<'_>, keys: &KeyMap) -> Result<Option<ShaderRef>> {
    let description = &pipeline.description;
    out.clear();
    out.try_reserve(11 + description.state.len())?;
    out.push(description.kind as u8);
    out.extend_from_slice(&description.schema.0.to_le_bytes());
    out.extend_from_slice(&(description.state.len() as u32).to_le_bytes());
    out.extend_from_slice(description.state);
    out.extend_from_slice(&(description.shaders.len() as u16).to_le_bytes());
    for shader in description.shaders {
        out.try_reserve(6)?;
        out.extend_from_slice(&shader.stage.to_le_bytes());
        let place = out.len();
        out.extend_from_slice(&[0; 2]);
        let (mut count, mut before) = (0_u16, None);
        for line in keys.keys_of(shader.hash) {
            let fits = line.stage == shader.stage || line.stage == crate::pipeline::keys::NO_STAGE;
            // A key may stand with its stage and without it.
            if fits && before != Some(line.key) && count < u16::MAX {
                put_text(out, line.key)?;
                count += 1;
                before = Some(line.key);
            }
        }
        if count == 0 {
            return Ok(Some(*shader));
        }
        out[place..place + 2].copy_from_slice(&count.to_le_bytes());
    }
    Ok(None)
}
