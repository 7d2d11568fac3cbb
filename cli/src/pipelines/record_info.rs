//! Contents of recordings.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use hobgoblin::pipeline::recording::{Merged, Readiness, Recorded, Recording};
use serde::Serialize;

use super::inputs::files;
use super::patterns::expanded;
use crate::failure::{Result, shown};
use crate::numbers::{age, count, now};
use crate::progress::Progress;
use crate::report::{self, Report, table};

#[derive(Args)]
pub struct Arguments {
    /// Recordings, or patterns of them.
    #[arg(required = true)]
    recordings: Vec<PathBuf>,
}

#[derive(Serialize)]
struct Run {
    #[serde(serialize_with = "report::path")]
    path: PathBuf,
    project: String,
    format: String,
    api: u32,
    version: String,
    /// Seconds since 1970.
    started: u64,
    pipelines: u64,
    /// Pipelines that were ready at their first use.
    ready: u64,
    /// Pipelines that a cache had, and that were not ready at their first use.
    missed: u64,
    /// Pipelines that no cache had.
    new: u64,
    uses: u64,
    damaged: u64,
    is_truncated: bool,
}

#[derive(Serialize)]
pub struct RecordInfo {
    recordings: Vec<Run>,
    /// Distinct pipelines of all of them.
    pipelines: u64,
}

pub fn run(arguments: &Arguments, is_quiet: bool) -> Result<RecordInfo> {
    let (io, mut merged, mut recordings) = (files()?, Merged::default(), Vec::new());
    let paths = expanded(&arguments.recordings)?;
    let progress = Progress::new("reading", paths.len() as u64, is_quiet);
    for path in paths {
        let recording = Recording::open(&io, &path)?;
        let (mut ready, mut missed, mut new, mut uses) = (0, 0, 0, 0);
        recording.for_each(|record| {
            match record {
                Recorded::First(first) => {
                    uses += 1;
                    *match first.readiness {
                        Readiness::Ready => &mut ready,
                        Readiness::Missed => &mut missed,
                        Readiness::Unknown => &mut new,
                    } += 1;
                }
                Recorded::Later(later) => uses += later.times,
            }
            Ok(())
        })?;
        let scan = merged.add(&recording)?;
        let run = recording.run();
        recordings.push(Run {
            path,
            project: run.identity.project.clone(),
            format: run.identity.format.clone(),
            api: run.identity.api,
            version: run.version.clone(),
            started: run.started,
            pipelines: ready + missed + new,
            ready,
            missed,
            new,
            uses,
            damaged: scan.damaged,
            is_truncated: scan.is_truncated,
        });
        progress.step()?;
    }
    Ok(RecordInfo { recordings, pipelines: merged.len() as u64 })
}

impl Report for RecordInfo {
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut rows = table([
            "recording",
            "project",
            "format",
            "version",
            "started",
            "pipelines",
            "ready",
            "missed",
            "new",
            "uses",
            "damaged",
        ]);
        for run in &self.recordings {
            rows.add_row([
                shown(&run.path),
                run.project.clone(),
                run.format.clone(),
                run.version.clone(),
                age(run.started, now()),
                count(run.pipelines),
                count(run.ready),
                count(run.missed),
                count(run.new),
                count(run.uses),
                format!("{}{}", count(run.damaged), if run.is_truncated { ", cut" } else { "" }),
            ]);
        }
        writeln!(to, "{rows}")?;
        writeln!(
            to,
            "{} distinct pipelines in {} recordings",
            count(self.pipelines),
            count(self.recordings.len() as u64)
        )
    }

    fn has_findings(&self) -> bool {
        self.recordings.iter().any(|run| run.damaged > 0 || run.is_truncated)
    }
}
