//! Recordings and the key map of their build become a stable file.

use std::ops::Range;
use std::path::Path;

use super::file::{Put, StableInfo, StableKeys, write};
use super::spilled::SpilledForms;
use crate::base::{Result, error, sort_slowly, try_collect, try_push, try_string};
use crate::fingerprint::{Builder, Bytes};
use crate::pipeline::copy_dimensions;
use crate::pipeline::files::sort::{Scratch, Watch};
use crate::pipeline::files::{Dimension, Timelines, UseData, put_text, short_key};
use crate::pipeline::keys::{KeyMap, Wanted};
use crate::pipeline::recording::{Merged, MergedPipeline, PipelineBuffer, Recording};
use crate::pipeline::{Identity, Listable, Listed, PipelineKey, ShaderRef};
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

impl Listable for Unresolved {
    fn bytes(&self) -> usize {
        0
    }
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
    pub unresolved: Listed<Unresolved>,
    /// Damaged records of the recordings.
    pub damaged: u64,
    /// Recordings that end within a record. A killed run usually ends with a whole one.
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
    scratch: Option<Scratch>,
    runs: Vec<[u8; 16]>,
    runs_from: u64,
    runs_to: u64,
    report: Expanded,
}

impl Expansion {
    /// Begin with the identity, the version and the mask dimensions of this recording. It is not added.
    pub fn like(recording: &Recording) -> Result<Self> {
        let run = recording.run();
        let dimensions = copy_dimensions(&run.dimensions)?;
        Ok(Self {
            identity: run.identity.try_clone()?,
            version: try_string(&run.version)?,
            dimensions,
            merged: Merged::default(),
            scratch: None,
            runs: Vec::new(),
            runs_from: u64::MAX,
            runs_to: 0,
            report: Expanded::default(),
        })
    }

    /// Keep about `memory` bytes of pipelines in memory, and all others in temporary files beside `output`. The result is
    /// the same. Call it before recordings are added. Without it all pipelines stay in memory.
    pub fn spill_beside(&mut self, io: &SharedIo, output: &Path, memory: usize) -> Result<()> {
        let scratch = Scratch::beside(io, output, memory)?;
        self.merged = Merged::spilling(&scratch)?;
        self.scratch = Some(scratch);
        Ok(())
    }

    /// How often [`finish_watched`](Self::finish_watched) calls its function, about.
    pub fn steps_to_finish(&self) -> u64 {
        // Each pipeline is read by its key, by its stable key, for the name of the file, and for the file.
        Watch::calls(4 * self.merged.spilled())
    }

    /// Add a recording. False if its run was added already: of two files of one run, add the longer one first. A recording
    /// of another game, shader format, graphics API, version, or set of mask dimensions is refused. After another error,
    /// begin again.
    pub fn add(&mut self, recording: &Recording) -> Result<bool> {
        self.add_watched(recording, &mut |_| Ok(()))
    }

    /// [`add`](Self::add) that calls `step` now and then with the bytes that are read. Its error ends the work.
    pub fn add_watched(&mut self, recording: &Recording, step: &mut dyn FnMut(u64) -> Result<()>) -> Result<bool> {
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
        let lost = self.merged.add_watched(recording, &mut Watch::new(step))?;
        self.report.recordings += 1;
        self.report.damaged += lost.damaged;
        self.report.truncated += u64::from(lost.is_truncated);
        self.runs_from = self.runs_from.min(run.started);
        self.runs_to = self.runs_to.max(run.started);
        Ok(true)
    }

    /// The lines of key maps that [`finish`](Self::finish) needs. Call it once, after all recordings are added.
    pub fn take_wanted(&mut self) -> Result<Wanted> {
        self.merged.take_wanted()
    }

    /// Write the stable file, in place of one at `path`. An error leaves that file as it was. It is an error if there are
    /// pipelines, and none has a stable form.
    pub fn finish(self, keys: &KeyMap, io: &SharedIo, path: &Path) -> Result<Expanded> {
        self.finish_watched(keys, io, path, &mut || Ok(()))
    }

    /// [`finish`](Self::finish) that calls `step` now and then during long work. Its error ends the work.
    pub fn finish_watched(
        mut self,
        keys: &KeyMap,
        io: &SharedIo,
        path: &Path,
        step: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Expanded> {
        let mut call = |_| step();
        let (mut report, mut watch) = (self.report, Watch::new(&mut call));
        let forms = match (self.merged.take_spilled()?, &self.scratch) {
            (Some(spilled), Some(scratch)) => {
                let (timelines, unresolved) = (self.merged.timelines(), &mut report.unresolved);
                let forms = SpilledForms::of(spilled, timelines, keys, scratch, unresolved, &mut watch)?;
                report.pipelines = forms.counts.pipelines;
                report.stable = forms.counts.stable;
                report.damaged += forms.counts.lost;
                Forms::Spilled(forms)
            }
            _ => {
                report.pipelines = self.merged.len() as u64;
                let stable = Stable::of(&self.merged, keys, &mut report.unresolved)?;
                report.stable = stable.groups.len() as u64;
                Forms::Held(stable, &self.merged)
            }
        };
        let unresolved = report.unresolved.count();
        report.unresolved = report.unresolved.finish(unresolved);
        if report.stable == 0 && report.pipelines > 0 {
            let (pipelines, lines) = (report.pipelines, keys.total());
            return Err(error!(
                NotFound,
                "none of {pipelines} pipelines has stable keys for all its shaders, in a key map of {lines} lines: pass the \
                 key map of the build that recorded"
            ));
        }
        let mut source = Builder::new(CONTEXT);
        source.written(1, self.runs.len() as u32, |bytes| self.runs.iter().for_each(|run| bytes.put(run)));
        let mut hashed = Ok(());
        source.written(2, 0, |bytes| hashed = forms.hash_keys(bytes, &mut watch));
        hashed?;
        let mut forms = forms;
        let info = StableInfo {
            identity: self.identity,
            version: self.version,
            source: source.finish(),
            runs_from: self.runs_from.min(self.runs_to),
            runs_to: self.runs_to,
            pipelines: report.stable,
            dimensions: self.dimensions,
        };
        let timelines = forms.take_timelines()?;
        report.bytes = write(io, path, &info, &timelines, |put| forms.write(keys, put, &mut watch))?;
        Ok(report)
    }
}

/// The stable forms of all pipelines.
enum Forms<'a> {
    /// In memory, with their pipelines.
    Held(Stable, &'a Merged),
    Spilled(SpilledForms),
}

impl Forms<'_> {
    fn hash_keys(&self, bytes: &mut Bytes, watch: &mut Watch<'_>) -> Result<()> {
        match self {
            Self::Held(stable, _) => {
                stable.groups.iter().for_each(|group| bytes.put(&group.key.0));
                Ok(())
            }
            Self::Spilled(forms) => forms.hash_keys(bytes, watch),
        }
    }

    fn take_timelines(&mut self) -> Result<Timelines<u64>> {
        match self {
            Self::Held(stable, merged) => stable.timelines(merged),
            Self::Spilled(forms) => Ok(std::mem::take(&mut forms.timelines)),
        }
    }

    fn write(&self, keys: &KeyMap, put: &mut Put<'_>, watch: &mut Watch<'_>) -> Result<()> {
        match self {
            Self::Held(stable, merged) => stable.write(merged, keys, put),
            Self::Spilled(forms) => forms.write(put, watch),
        }
    }
}

/// Pipelines with one stable form.
struct Group {
    key: PipelineKey,
    first_frame: u64,
    /// Its part of [`Stable::pipelines`].
    part: Range<usize>,
}

/// The stable forms of merged pipelines. They are encoded again when they are written, so none is held.
struct Stable {
    /// The key of each stable form, and the place of its pipeline. Sorted.
    pipelines: Vec<(PipelineKey, u32)>,
    /// In the order of their first use.
    groups: Vec<Group>,
}

impl Stable {
    fn of(merged: &Merged, keys: &KeyMap, unresolved: &mut Listed<Unresolved>) -> Result<Self> {
        let (mut pipelines, mut encoded, mut buffer) = (Vec::new(), Vec::new(), PipelineBuffer::default());
        let mut stable_keys = StableKeys::new();
        for at in 0..merged.len() {
            let Some(pipeline) = merged.get(at, &mut buffer)? else { continue };
            match put_stable(&mut encoded, &pipeline, keys)? {
                Some(shader) => unresolved.add(Unresolved { pipeline: pipeline.key, shader })?,
                None => stable_keys.add(at as u32, &encoded, |key, at| try_push(&mut pipelines, (key, at)))?,
            }
        }
        stable_keys.finish(|key, at| try_push(&mut pipelines, (key, at)))?;
        sort_slowly(&mut pipelines, Ord::cmp);
        let mut groups = Vec::new();
        for same in pipelines.chunk_by(|(one, _), (other, _)| one == other) {
            let begin = groups.last().map_or(0, |group: &Group| group.part.end);
            let mut first_frame = u64::MAX;
            for &(_, at) in same {
                first_frame = first_frame.min(merged.first_frame(at as usize));
            }
            try_push(&mut groups, Group { key: same[0].0, first_frame, part: begin..begin + same.len() })?;
        }
        sort_slowly(&mut groups, |one, other| (one.first_frame, one.key).cmp(&(other.first_frame, other.key)));
        Ok(Self { pipelines, groups })
    }

    /// When runs used the stable pipelines first.
    fn timelines(&self, merged: &Merged) -> Result<Timelines<u64>> {
        let recorded = |at: u32| short_key(merged.key(at as usize));
        let mut by_key = try_collect(self.pipelines.iter().map(|(key, at)| (recorded(*at), short_key(key))))?;
        sort_slowly(&mut by_key, Ord::cmp);
        merged.timelines().map(|recorded, found| match by_key.binary_search_by_key(&recorded, |(key, _)| *key) {
            Ok(at) => found(by_key[at].1),
            Err(_) => Ok(()),
        })
    }

    fn write(&self, merged: &Merged, keys: &KeyMap, put: &mut Put<'_>) -> Result<()> {
        let (mut encoded, mut buffer) = (Vec::new(), PipelineBuffer::default());
        let (mut one, mut uses) = (UseData::default(), UseData::default());
        for Group { key, part, .. } in &self.groups {
            let same = &self.pipelines[part.clone()];
            uses.copy_without_masks(&UseData::default());
            for &(_, at) in same {
                merged.add_uses(at as usize, &mut one, &mut uses)?;
            }
            if let Some(pipeline) = merged.get(same[0].1 as usize, &mut buffer)? {
                put_stable(&mut encoded, &pipeline, keys)?;
                put(key, &uses, &encoded)?;
            }
        }
        Ok(())
    }
}

/// Encode the stable form of a pipeline, or return its first shader without a key.
pub fn put_stable(out: &mut Vec<u8>, pipeline: &MergedPipeline<'_>, keys: &KeyMap) -> Result<Option<ShaderRef>> {
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
