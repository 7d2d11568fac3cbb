//! Contents of a shipped cache.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use hobgoblin::pipeline::{Dimension, Shipped};
use serde::Serialize;

use super::inputs::files;
use crate::failure::{Result, shown};
use crate::interrupt;
use crate::numbers::{count, hex, size};
use crate::report::{self, Report};

#[derive(Args)]
pub struct Arguments {
    /// A shipped cache (*.stable.hobpipe).
    path: PathBuf,
}

#[derive(Serialize)]
pub struct Info {
    #[serde(serialize_with = "report::path")]
    path: PathBuf,
    guid: String,
    project: String,
    format: String,
    api: u32,
    version: String,
    graphics: u64,
    compute: u64,
    ray_tracing: u64,
    /// Pipelines that can be read.
    pipelines: u64,
    /// Pipelines that were written and cannot be read.
    missing: u64,
    /// Damaged stretches that cost no pipeline, such as one of the two heads.
    damaged: u64,
    /// Pipelines that recordings used.
    recorded: u64,
    /// Distinct usage masks.
    masks: usize,
    /// The fields of usage masks, as `name:bits`.
    dimensions: Vec<String>,
    /// Runs from which the game predicts the order of pipelines.
    timelines: usize,
    /// First uses of pipelines in those runs.
    sightings: usize,
    bytes: u64,
}

pub fn run(arguments: &Arguments) -> Result<Info> {
    let file = Shipped::any(&files()?, &arguments.path)?;
    let (mut masks, mut recorded) = (std::collections::BTreeSet::new(), 0);
    let scan = file.for_each(|pipeline| {
        masks.extend(pipeline.uses.masks.as_slice().iter().copied());
        recorded += u64::from(pipeline.uses.runs > 0);
        Ok(())
    })?;
    let (timelines, sightings) = file.sightings()?.counts()?;
    interrupt::check()?;
    let info = file.info();
    let dimensions = info.dimensions.iter().map(|Dimension { name, width }| format!("{name}:{width}")).collect();
    let [graphics, compute, ray_tracing] = info.written;
    Ok(Info {
        path: arguments.path.clone(),
        guid: hex(&info.guid),
        project: info.identity.project.clone(),
        format: info.identity.format.clone(),
        api: info.identity.api,
        version: info.version.clone(),
        graphics,
        compute,
        ray_tracing,
        pipelines: scan.entries,
        missing: scan.missing,
        damaged: scan.damaged,
        recorded,
        masks: masks.len(),
        dimensions,
        timelines,
        sightings,
        bytes: file.length(),
    })
}

impl Report for Info {
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let Self { project, format, api, version, .. } = self;
        let [graphics, compute, ray_tracing] = [self.graphics, self.compute, self.ray_tracing].map(count);
        writeln!(to, "'{}' {}, {}", shown(&self.path), self.guid, size(self.bytes))?;
        writeln!(to, "project {project}, format {format}, graphics API {api}, version '{version}'")?;
        writeln!(
            to,
            "{} pipelines (graphics {graphics}, compute {compute}, ray tracing {ray_tracing})",
            count(self.pipelines)
        )?;
        writeln!(to, "{} were recorded, with {} distinct usage masks", count(self.recorded), count(self.masks as u64))?;
        if !self.dimensions.is_empty() {
            writeln!(to, "mask dimensions {}", self.dimensions.join(" "))?;
        }
        let [runs, uses] = [self.timelines, self.sightings].map(|number| count(number as u64));
        writeln!(to, "timelines of {runs} runs with {uses} first uses, for the predicted order")?;
        if self.missing > 0 {
            writeln!(to, "{} pipelines are missing: the file is damaged, build it again", count(self.missing))?;
        }
        if self.damaged > 0 {
            writeln!(to, "{} places of the file are damaged: build it again", count(self.damaged))?;
        }
        Ok(())
    }

    fn has_findings(&self) -> bool {
        self.missing > 0 || self.damaged > 0
    }
}
