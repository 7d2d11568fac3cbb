//! The shipped cache: stable files and the key map of this build become a file of pipelines.
//!
//! A stable key may name several shaders of this build, so a stable pipeline may become several pipelines: each choice of
//! shaders is one. It may become no pipeline, if this build has no shader of a key. Such pipelines are listed. Compute
//! shaders of the key map that no recording used are added, because a compute pipeline needs nothing but its shader.
//!
//! Invariants:
//! 1. The file does not depend on the order of the stable files, and the same stable file counts once.
//! 2. Equal inputs give equal bytes. The GUID is a hash of the contents.
//! 3. Each pipeline stands in the file once, in the order of first use.
//! 4. Sanitising comes after uniting equal pipelines, so its decisions do not depend on the order either.
//!
//! | file | content |
//! |---|---|
//! | `compute` | compute shaders that no recording used |
//! | `forms` | stable pipelines whose shaders are the same in this build, united |
//! | `pipelines` | the pipelines of all forms, each once |
//! | `rejections` | stable pipelines that this build has no shaders for |
//! | `report` | counts, and the lines of the log |
//! | `spilled` | a cache of more pipelines than memory holds |
//! | `timelines` | when runs used the pipelines first |
//! | `sanitise` | filters out pipelines whose vertex format or state does not fit |

mod compute;
mod forms;
mod pipelines;
mod rejections;
mod report;
mod sanitise;
#[cfg(test)]
mod spill_tests;
mod spilled;
#[cfg(test)]
mod tests;
mod timelines;

use std::path::Path;

use super::files::sort::{Scratch, Watch};
use super::files::{BUILT, HEAD, Timelines, put_description, put_dimensions, put_text, put_uses};
use super::keys::{KeyMap, Wanted};
use super::stable::{StableFile, StablePipeline};
use super::{Dimension, Identity, PipelineKind, Schema, ShaderHash};
use crate::base::{Code, Error, Result, error, sort_slowly, try_box, try_filled, try_format, try_push, try_string};
use crate::fingerprint::{Builder, Fingerprint};
use crate::store::io::SharedIo;
use crate::store::{LogRecord, LogWriter};

pub use report::{BuildReport, Rejected, Skipped};
pub use sanitise::Sanitised;

use compute::ComputeShaders;
use forms::{Forms, Maker};
use pipelines::{Pipeline, Pipelines};
use rejections::Rejections;
use sanitise::Sanitiser;
use spilled::{Spill, SpilledCache};
use timelines::BuildTimelines;

/// Kind of a record with a pipeline.
pub(super) const PIPELINE: u8 = 2;
const CONTEXT: &str = "hobgoblin built pipelines 2";
/// Bytes that are hashed together.
const PIECE: usize = 64 << 10;
/// The stage of compute shaders: `HOB_SHADER_STAGE_COMPUTE`.
const COMPUTE: u32 = 5;

/// The name of a shipped cache.
pub fn file_name(identity: &Identity) -> Result<String> {
    let Identity { project, format, .. } = identity;
    try_format(format_args!("{project}_{format}.stable.hobpipe"))
}

/// Options of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildOptions {
    /// Most pipelines that one stable pipeline becomes. Default: 64.
    pub combinations: u32,
    /// Add the compute shaders of the key map that no recording used. Default: true.
    pub adds_compute: bool,
    /// Schema of the pipelines that are added. Default: the library's own, with the default state. In a schema of the
    /// host their state is empty.
    pub compute_schema: Schema,
    /// Filter out pipelines of the library's own schema whose state does not fit: see [`Sanitised`]. Default: true. Switch
    /// it off for vertex shaders that are used with several vertex formats on purpose.
    pub sanitises: bool,
}

impl Default for BuildOptions {
    fn default() -> Self {
        Self { combinations: 64, adds_compute: true, compute_schema: Schema::OWN, sanitises: true }
    }
}

impl BuildOptions {
    /// The lines of key maps that every build needs. [`Build::want`] adds those of a stable file.
    pub fn wanted(&self) -> Wanted {
        let mut wanted = Wanted::default();
        if self.adds_compute {
            wanted.add_stage(COMPUTE);
        }
        wanted
    }
}

/// The pipelines that are written.
enum Content {
    /// Places in [`Build::pipelines`].
    Held(Vec<u32>),
    Spilled(Box<SpilledCache>),
}

/// Builds a shipped cache.
pub struct Build<'a> {
    identity: Identity,
    version: String,
    keys: &'a KeyMap,
    options: BuildOptions,
    dimensions: Option<Vec<Dimension>>,
    sources: Vec<Fingerprint>,
    forms: Forms,
    timelines: BuildTimelines,
    pipelines: Pipelines,
    /// Whether the stable files have a graphics pipeline.
    has_graphics: bool,
    /// Where forms go when they are too many. `None`: they stay in memory.
    spill: Option<Spill>,
    rejections: Rejections,
    report: BuildReport,
}

impl<'a> Build<'a> {
    /// Begin a build of this version of the game.
    pub fn new(identity: &Identity, version: &str, keys: &'a KeyMap, options: BuildOptions) -> Result<Self> {
        if options.combinations == 0 {
            return Err(error!(InvalidArgument, "the limit of combinations is 0: allow at least 1"));
        }
        Ok(Self {
            identity: identity.try_clone()?,
            version: try_string(version)?,
            keys,
            options,
            dimensions: None,
            sources: Vec::new(),
            forms: Forms::default(),
            timelines: BuildTimelines::default(),
            pipelines: Pipelines::default(),
            has_graphics: false,
            spill: None,
            rejections: Rejections::default(),
            report: BuildReport { key_lines: keys.total(), ..BuildReport::default() },
        })
    }

    /// Use about `memory` bytes for stable pipelines, and keep all others in temporary files beside `output`. The result is
    /// the same. Call it before files are added. Without it all stay in memory.
    pub fn spill_beside(&mut self, io: &SharedIo, output: &Path, memory: usize) -> Result<()> {
        let scratch = Scratch::beside(io, output, memory)?;
        self.rejections = Rejections::spilling(&scratch)?;
        self.spill = Some(Spill::new(scratch)?);
        Ok(())
    }

    /// How often [`add_watched`](Self::add_watched) calls its function for this file, about.
    pub fn steps_to_add(file: &StableFile) -> u64 {
        Watch::calls(file.info().pipelines)
    }

    /// How often [`finish_watched`](Self::finish_watched) calls its function, about.
    pub fn steps_to_finish(&self) -> u64 {
        // Each pipeline is read by its key, for the GUID, and for the cache.
        let rejected = if self.spill.is_some() { self.rejections.added() } else { 0 };
        Watch::calls(3 * self.spill.as_ref().map_or(0, Spill::rows) + rejected)
    }

    /// Want the lines of key maps that [`add`](Self::add) will need for this file.
    pub fn want(file: &StableFile, wanted: &mut Wanted) -> Result<()> {
        Self::want_watched(file, wanted, &mut || Ok(()))
    }

    /// [`want`](Self::want) that calls `step` now and then. Its error ends the work.
    pub fn want_watched(file: &StableFile, wanted: &mut Wanted, step: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let mut call = |_| step();
        let mut watch = Watch::new(&mut call);
        file.for_each_key(|key| {
            watch.note(key.len())?;
            wanted.add_key(key)
        })
    }

    /// Add a stable file. False if it was skipped: it is for another game, shader format or graphics API, has other mask
    /// dimensions, or was added already. After an error, begin again.
    pub fn add(&mut self, file: &StableFile) -> Result<bool> {
        self.add_watched(file, &mut || Ok(()))
    }

    /// [`add`](Self::add) that calls `step` about [`steps_to_add`](Self::steps_to_add) times. Its error ends the work.
    pub fn add_watched(&mut self, file: &StableFile, step: &mut dyn FnMut() -> Result<()>) -> Result<bool> {
        let info = file.info();
        let path = try_format(format_args!("{}", file.path().display()))?;
        if let Err(why) = self.identity.check(&info.identity, &try_format(format_args!("'{path}'"))?) {
            if why.code() == Code::OutOfMemory {
                return Err(why);
            }
            let reason = try_string(why.sentence())?;
            try_push(&mut self.report.skipped, Skipped { path, reason })?;
            return Ok(false);
        }
        if self.dimensions.as_ref().is_some_and(|dimensions| *dimensions != info.dimensions) {
            let reason = try_format(format_args!("'{path}' has other mask dimensions than the file before"))?;
            try_push(&mut self.report.skipped, Skipped { path, reason })?;
            return Ok(false);
        }
        let Err(at) = self.sources.binary_search(&info.source) else {
            self.report.repeated += 1;
            return Ok(false);
        };
        try_push(&mut self.sources, info.source)?;
        self.sources[at..].rotate_right(1);
        if self.dimensions.is_none() {
            let mut dimensions = Vec::new();
            for Dimension { name, width } in &info.dimensions {
                try_push(&mut dimensions, Dimension { name: try_string(name)?, width: *width })?;
            }
            self.dimensions = Some(dimensions);
        }
        self.timelines.add(&file.timelines()?)?;
        // Names are for reports, and for timelines, which may be wrong.
        let mut call = |_| step();
        let mut watch = Watch::new(&mut call);
        let lost = file.for_each_unchecked(|pipeline, _| {
            watch.note(pipeline.state.len())?;
            self.add_pipeline(pipeline)
        })?;
        self.report.files += 1;
        self.report.damaged += lost.damaged;
        self.report.truncated += u64::from(lost.is_truncated);
        Ok(true)
    }

    fn add_pipeline(&mut self, pipeline: &StablePipeline<'_>) -> Result<()> {
        self.report.stable += 1;
        self.has_graphics |= pipeline.kind == PipelineKind::Graphics;
        if let Some(place) = self.forms.find(pipeline, self.keys)? {
            return self.rejections.add(pipeline, &pipeline.shaders[place]);
        }
        let (count, most) = (self.forms.count(), u64::from(self.options.combinations));
        self.report.cut += u64::from(count > most);
        self.report.merged += count.min(most);
        let form = self.forms.add(pipeline)?;
        self.timelines.note_form(&pipeline.key, form)?;
        let bytes = || self.forms.memory_used() + self.timelines.memory_used();
        if self.spill.as_ref().is_some_and(|spill| spill.is_full(bytes())) { self.spill_forms() } else { Ok(()) }
    }

    fn spill_forms(&mut self) -> Result<()> {
        let Self { spill: Some(spill), forms, timelines, keys, options, report, .. } = self else { return Ok(()) };
        report.mask_union = report.mask_union.or(&spill.write(forms, timelines, keys, options)?);
        Ok(())
    }

    /// Make the pipelines of all forms.
    fn combine(&mut self) -> Result<()> {
        let Self { forms, timelines, pipelines, keys, .. } = self;
        let mut maker = Maker::new(forms, keys);
        for form in 0..forms.len() {
            let count = maker.form(form)?.min(self.options.combinations.into());
            maker
                .names(count, |number, key| timelines.note_pipeline(form, pipelines.add(key, form, number, forms)?))?;
            self.report.mask_union = self.report.mask_union.or(&forms.uses(form).masks.union());
        }
        Ok(())
    }

    /// Add the compute shaders of the key map that have no pipeline.
    fn add_compute(&mut self) -> Result<()> {
        let mut compute = ComputeShaders::of(self.keys)?;
        let mut maker = Maker::new(&self.forms, self.keys);
        let is_compute = |pipeline: &&Pipeline| self.forms.kind(pipeline.form) == PipelineKind::Compute;
        for pipeline in self.pipelines.rows().iter().filter(is_compute) {
            maker.form(pipeline.form)?;
            compute.note(maker.make(pipeline.number.into())?.shaders);
        }
        let Self { forms, pipelines, report, options, .. } = self;
        compute.for_each_unused(options.compute_schema, |description, uses| {
            let form = forms.add_single(description, uses)?;
            pipelines.add(&description.key(), form, 0, forms)?;
            report.added_compute += 1;
            Ok(())
        })
    }

    /// Find the pipelines that are written, in the order of their first use.
    fn sanitise(&mut self) -> Result<Vec<u32>> {
        let Self { forms, pipelines, .. } = self;
        let mut order = pipelines.in_order(forms)?;
        if !self.options.sanitises {
            return Ok(order);
        }
        let (mut sanitiser, mut maker) = (Sanitiser::default(), Maker::new(forms, self.keys));
        let mut checks = try_filled(None, forms.len() as usize)?;
        for &at in &order {
            let Pipeline { form, number, .. } = *pipelines.row(at);
            maker.form(form)?;
            let description = maker.make(number.into())?;
            let check = match checks[form as usize] {
                Some(check) => check,
                None => *checks[form as usize].insert(sanitiser.check(&description)?),
            };
            sanitiser.add(check, description.shaders, pipelines.uses(at, forms).times)?;
        }
        let (is_kept, counts) = sanitiser.finish()?;
        self.report.sanitised = Some(counts);
        let mut kept = is_kept.into_iter();
        order.retain(|_| kept.next().unwrap_or(true));
        Ok(order)
    }

    /// Write the cache, in place of one at `path`. An error leaves that file as it was. Without any stable file, the
    /// cache has the compute pipelines alone. It is an error if the
    /// files have graphics pipelines and none can be built, or if nothing can be built.
    pub fn finish(self, io: &SharedIo, path: &Path) -> Result<BuildReport> {
        self.finish_watched(io, path, &mut || Ok(()))
    }

    /// [`finish`](Self::finish) that calls `step` now and then during long work. Its error ends the work.
    pub fn finish_watched(
        mut self,
        io: &SharedIo,
        path: &Path,
        step: &mut dyn FnMut() -> Result<()>,
    ) -> Result<BuildReport> {
        let mut call = |_| step();
        let (mut watch, mut guid) = (Watch::new(&mut call), Builder::new(CONTEXT));
        let mut content = self.content(&mut watch)?;
        let mut report = std::mem::take(&mut self.report);
        report.rejected = std::mem::take(&mut self.rejections).finish(&mut watch)?;
        sort_slowly(&mut report.skipped, Ord::cmp);
        let count = match &mut content {
            Content::Held(order) => {
                for &at in &*order {
                    report.written[self.forms.kind(self.pipelines.row(at).form) as usize] += 1;
                }
                self.hash(order, &mut guid)?;
                order.len() as u64
            }
            Content::Spilled(cache) => {
                cache.hash(&mut guid, &mut report.written, &mut watch)?;
                cache.len()
            }
        };
        report.is_compute_only = report.files == 0 && report.skipped.is_empty();
        // Recordings of compute or ray tracing alone need no graphics pipeline.
        let is_missing =
            if self.has_graphics { report.written[0] == 0 } else { report.total() == report.added_compute };
        if is_missing && !report.is_compute_only {
            return Err(nothing_built(&report));
        }
        let timelines = self.final_timelines(&mut content)?;
        timelines.encode(|run, payload| {
            guid.part(3, 0, run);
            guid.part(4, 0, payload);
            Ok(())
        })?;
        let dimensions = self.dimensions.take().unwrap_or_default();
        let mut head = Vec::new();
        head.try_reserve(28)?;
        head.extend_from_slice(&self.identity.api.to_le_bytes());
        report.written.iter().for_each(|count| head.extend_from_slice(&count.to_le_bytes()));
        for text in [&self.identity.project, &self.identity.format, &self.version] {
            put_text(&mut head, text)?;
        }
        put_dimensions(&mut head, &dimensions)?;
        guid.part(2, 0, &head);
        let key = guid.finish();
        report.guid.copy_from_slice(&key.0[..16]);
        let mut log = LogWriter::replace(io, path, BUILT)?;
        let record = LogRecord { kind: HEAD, key: key.0, stamp: count, build_us: 0 };
        // Twice, so that no single flipped bit costs the file.
        log.push(&record, &head)?;
        log.push(&record, &head)?;
        timelines.write(&mut log)?;
        match &content {
            Content::Held(order) => self.write(order, &mut log)?,
            Content::Spilled(cache) => cache.for_each(&mut watch, |key, payload| {
                log.push(&LogRecord { kind: PIPELINE, key: key.0, ..LogRecord::default() }, payload)
            })?,
        }
        report.bytes = log.finish()?;
        Ok(report)
    }

    /// The pipelines that are written, in the order of their first use.
    fn content(&mut self, watch: &mut Watch<'_>) -> Result<Content> {
        if self.spill.as_ref().is_some_and(|spill| spill.rows() > 0) {
            self.spill_forms()?;
        }
        if let Some(spill) = self.spill.take().filter(|spill| spill.rows() > 0) {
            let cache = spill.finish(self.keys, &self.options, &self.timelines, watch)?;
            self.report.different = cache.counts.different;
            self.report.added_compute = cache.counts.added_compute;
            self.report.sanitised = cache.counts.sanitised;
            return try_box(cache).map(Content::Spilled);
        }
        self.combine()?;
        if self.options.adds_compute {
            self.add_compute()?;
        }
        self.report.different = self.pipelines.len() as u64 - self.report.added_compute;
        self.sanitise().map(Content::Held)
    }

    fn final_timelines(&mut self, content: &mut Content) -> Result<Timelines<u64>> {
        let timelines = std::mem::take(&mut self.timelines);
        match content {
            Content::Held(order) => timelines.finish(&self.pipelines, order),
            Content::Spilled(cache) => cache.timelines(&timelines),
        }
    }

    /// Hash the keys and use data of pipelines.
    fn hash(&self, order: &[u32], guid: &mut Builder) -> Result<()> {
        let (mut uses, mut out) = (UsesOf::default(), Vec::new());
        // Long pieces are hashed more quickly than short ones.
        out.try_reserve_exact(PIECE)?;
        let mut hashed = Ok(());
        guid.written(1, order.len() as u32, |bytes| {
            hashed = order.iter().try_for_each(|&at| {
                let uses = uses.encoded(&self.pipelines, at, &self.forms)?;
                for part in [&self.pipelines.row(at).key.0[..], uses] {
                    if out.len() + part.len() > PIECE {
                        bytes.put(&out);
                        out.clear();
                    }
                    out.try_reserve(part.len())?;
                    out.extend_from_slice(part);
                }
                Ok(())
            });
            bytes.put(&out);
        });
        hashed
    }

    /// Write the records of pipelines: use data, description.
    fn write(&self, order: &[u32], log: &mut LogWriter) -> Result<()> {
        let (mut uses, mut out) = (UsesOf::default(), Vec::new());
        let mut maker = Maker::new(&self.forms, self.keys);
        for &at in order {
            let Pipeline { key, form, number, .. } = *self.pipelines.row(at);
            let uses = uses.encoded(&self.pipelines, at, &self.forms)?;
            out.clear();
            out.try_reserve(uses.len())?;
            out.extend_from_slice(uses);
            maker.form(form)?;
            put_description(&mut out, &maker.make(number.into())?)?;
            log.push(&LogRecord { kind: PIPELINE, key: key.0, ..LogRecord::default() }, &out)?;
        }
        Ok(())
    }
}

/// Encodes use data. Pipelines that follow each other often have the same.
#[derive(Default)]
struct UsesOf {
    last: Option<u32>,
    encoded: Vec<u8>,
}

impl UsesOf {
    fn encoded(&mut self, pipelines: &Pipelines, at: u32, forms: &Forms) -> Result<&[u8]> {
        if !self.last.is_some_and(|last| pipelines.share_uses(last, at)) {
            self.last = None;
            self.encoded.clear();
            put_uses(&mut self.encoded, pipelines.uses(at, forms))?;
            self.last = Some(at);
        }
        Ok(&self.encoded)
    }
}

/// The error for a build without pipelines.
fn nothing_built(report: &BuildReport) -> Error {
    let (files, skipped, rejected) = (report.files, report.skipped.len(), report.rejected.count());
    if let (0, Some(Skipped { reason, .. })) = (files, report.skipped.first()) {
        return error!(
            NotFound,
            "no graphics pipeline could be built: all {skipped} stable files are skipped, the first because {reason}"
        );
    }
    if report.stable == 0 {
        return error!(
            NotFound,
            "no graphics pipeline could be built: the {files} stable files are empty: record again, or expand the recordings \
             with the keys of their build"
        );
    }
    let filtered = report.sanitised.map_or(0, |counts| counts.before - counts.after());
    error!(
        NotFound,
        "no graphics pipeline could be built: of {files} stable files, {rejected} pipelines have no shader in this build, \
         {filtered} were filtered out: check the key map and the states"
    )
}

/// Remove repetitions from the sorted rest of a list.
fn dedup_from(list: &mut Vec<ShaderHash>, begin: usize) {
    let mut kept = begin;
    for at in begin..list.len() {
        if kept == begin || list[kept - 1] != list[at] {
            list[kept] = list[at];
            kept += 1;
        }
    }
    list.truncate(kept);
}
