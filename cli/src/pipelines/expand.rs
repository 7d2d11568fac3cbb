//! Recordings become a stable file.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use hobgoblin::pipeline::recording::Recording;
use hobgoblin::pipeline::stable::{Expansion, file_name};
use serde::Serialize;

use super::inputs::{expanded, files, key_map};
use crate::failure::{Failure, Result};
use crate::numbers::hex;
use crate::progress::Progress;
use crate::report::Report;

/// Pipelines without a stable form that the text lists. JSON lists all.
const LISTED: usize = 20;

#[derive(Args)]
pub struct Arguments {
    /// Recordings of one build, or patterns of them.
    #[arg(required = true)]
    recordings: Vec<String>,
    /// Key maps of the build that recorded, or patterns of them; may be repeated.
    #[arg(long, short, required = true)]
    keys: Vec<String>,
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
    out: PathBuf,
    key_lines: u64,
    recordings: u64,
    /// Recordings of a run that was merged already.
    repeated: u64,
    pipelines: u64,
    stable: u64,
    /// Pipelines with a shader that has no key.
    unresolved: Vec<Unresolved>,
    damaged: u64,
    truncated: u64,
    bytes: u64,
}

pub fn run(arguments: &Arguments, is_quiet: bool) -> Result<Expanded> {
    let (io, paths) = (files()?, expanded(&arguments.recordings)?);
    let mut recordings = Vec::new();
    for path in paths {
        let length = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
        recordings.push((std::cmp::Reverse(length), path));
    }
    // Of two files of one run, the longer one counts.
    recordings.sort();
    let progress = Progress::new("merging", recordings.len() as u64, is_quiet);
    let mut expansion: Option<Expansion> = None;
    for (_, path) in &recordings {
        let recording = Recording::open(&io, path)?;
        let merged = match &mut expansion {
            Some(expansion) => expansion,
            empty => empty.insert(Expansion::like(&recording)?),
        };
        merged.add(&recording)?;
        progress.step()?;
    }
    let Some(expansion) = expansion else { return Err(Failure::Usage("name at least one recording".into())) };
    let identity = Recording::open(&io, &recordings[0].1)?.run().identity.try_clone()?;
    let out = match &arguments.out {
        Some(out) => out.clone(),
        None => file_name(&arguments.prefix, &identity)?.into(),
    };
    drop(progress);
    let (keys, _) = key_map(&arguments.keys, Some(&expansion.wanted()?), is_quiet)?;
    let report = expansion.finish(&keys, &io, &out)?;
    let unresolved = report.unresolved.iter().map(|found| Unresolved {
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
        unresolved: unresolved.collect(),
        damaged: report.damaged,
        truncated: report.truncated,
        bytes: report.bytes,
    })
}

impl Report for Expanded {
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        writeln!(to, "{} unique shader keys", self.key_lines)?;
        let Self { recordings, repeated, damaged, truncated, .. } = self;
        writeln!(to, "{recordings} recordings, {repeated} repeated, {truncated} truncated; {damaged} damaged records")?;
        writeln!(to, "{} pipelines, {} of them without a key", self.pipelines, self.unresolved.len())?;
        for Unresolved { pipeline, stage, shader } in self.unresolved.iter().take(LISTED) {
            writeln!(to, "  pipeline {pipeline}: no key for shader {shader} of stage {stage}")?;
        }
        if self.unresolved.len() > LISTED {
            writeln!(to, "  ... and {} more: --json lists all", self.unresolved.len() - LISTED)?;
        }
        writeln!(to, "wrote {} stable pipelines to '{}', {} bytes", self.stable, self.out.display(), self.bytes)
    }
}
