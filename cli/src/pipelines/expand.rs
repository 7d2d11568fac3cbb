//! Recordings become a stable file.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use hobgoblin::pipeline::ship::Recordings;
use hobgoblin::pipeline::stable::file_name;
use serde::Serialize;

use super::inputs::files;
use super::patterns::expanded;
use crate::failure::{Result, shown};
use crate::numbers::{count, hex, size};
use crate::outputs::check_is_no_input;
use crate::progress::Progress;
use crate::report::{self, Report};

/// Pipelines without a stable form that the text lists. JSON lists the first 10,000.
const LISTED: usize = 20;

#[derive(Args)]
pub struct Arguments {
    /// Recordings of one build, or patterns of them.
    #[arg(required = true)]
    recordings: Vec<PathBuf>,
    /// Key maps (*.hobkeys, *.csv) of the build that recorded, or patterns of them; may be repeated.
    #[arg(long, short, required = true)]
    keys: Vec<PathBuf>,
    /// The stable file. An existing file is replaced when the new one is complete. Default: PREFIX_PROJECT_FORMAT.hobstable.
    #[arg(long, short)]
    out: Option<PathBuf>,
    /// Prefix of the default name, such as the date.
    #[arg(long, default_value = "run", conflicts_with = "out")]
    prefix: String,
}

#[derive(Serialize)]
struct Unresolved {
    pipeline: String,
    stage: u32,
    shader: String,
}

#[derive(Serialize)]
pub struct Expanded {
    #[serde(serialize_with = "report::path")]
    out: PathBuf,
    key_lines: u64,
    recordings: u64,
    /// Recordings of a run that was merged already.
    repeated: u64,
    pipelines: u64,
    stable: u64,
    /// Pipelines with a shader that has no key: their number, and the first 10,000.
    unresolved_count: u64,
    unresolved: Vec<Unresolved>,
    damaged: u64,
    truncated: u64,
    bytes: u64,
}

pub fn run(arguments: &Arguments, is_quiet: bool) -> Result<Expanded> {
    let io = files()?;
    let (recordings, key_paths) = (expanded(&arguments.recordings)?, expanded(&arguments.keys)?);
    let ordered = Recordings::of(&io, recordings.clone())?;
    let out = match &arguments.out {
        Some(out) => out.clone(),
        None => file_name(&arguments.prefix, ordered.identity())?.into(),
    };
    check_is_no_input(&out, recordings.iter().chain(&key_paths))?;
    let progress = Progress::new("merging", 1, is_quiet);
    let (report, keys) = ordered.expand(&io, &key_paths, &out, |done, all| progress.reach_of(done, all))?;
    let unresolved = report.unresolved.first().iter().map(|found| Unresolved {
        pipeline: found.pipeline.to_string(),
        stage: found.shader.stage,
        shader: hex(&found.shader.hash.0),
    });
    Ok(Expanded {
        out,
        key_lines: keys.total(),
        recordings: report.recordings,
        repeated: report.repeated,
        pipelines: report.pipelines,
        stable: report.stable,
        unresolved_count: report.unresolved.count(),
        unresolved: unresolved.collect(),
        damaged: report.damaged,
        truncated: report.truncated,
        bytes: report.bytes,
    })
}

impl Report for Expanded {
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        writeln!(to, "{} unique shader keys", count(self.key_lines))?;
        let Self { recordings, repeated, damaged, truncated, .. } = self;
        let [recordings, repeated, damaged, truncated] = [recordings, repeated, damaged, truncated].map(|&n| count(n));
        writeln!(to, "{recordings} recordings, {repeated} repeated, {truncated} truncated; {damaged} damaged records")?;
        writeln!(to, "{} pipelines, {} of them without a key", count(self.pipelines), count(self.unresolved_count))?;
        for Unresolved { pipeline, stage, shader } in self.unresolved.iter().take(LISTED) {
            writeln!(to, "  pipeline {pipeline}: no key for shader {shader} of stage {stage}")?;
        }
        if self.unresolved_count > LISTED as u64 {
            let more = count(self.unresolved_count - LISTED as u64);
            writeln!(to, "  ... and {more} more: --json lists the first 10,000")?;
        }
        writeln!(to, "wrote {} stable pipelines to '{}', {}", count(self.stable), shown(&self.out), size(self.bytes))
    }
}
