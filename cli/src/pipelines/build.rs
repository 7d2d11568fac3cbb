//! Stable files become the shipped cache.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use hobgoblin::pipeline::Identity;
use hobgoblin::pipeline::build::{Build, BuildOptions, Sanitised, file_name};
use hobgoblin::pipeline::stable::StableFile;
use serde::Serialize;

use super::inputs::{expanded, files, key_map};
use crate::failure::Result;
use crate::numbers::hex;
use crate::progress::Progress;
use crate::report::Report;

#[derive(Args)]
pub struct Arguments {
    /// Stable files, or patterns of them. Without any, the cache has the compute pipelines of the key map only.
    stable: Vec<String>,
    /// Key maps of this build, or patterns of them; may be repeated.
    #[arg(long, short, required = true)]
    keys: Vec<String>,
    /// The game.
    #[arg(long)]
    project: String,
    /// The shader format, such as spirv.
    #[arg(long)]
    format: String,
    /// The graphics API: the number of a hob_graphics_api, or the host's own.
    #[arg(long)]
    api: u32,
    /// The version of this build.
    #[arg(long, default_value = "")]
    game_version: String,
    /// The cache. An existing file is replaced when the new one is complete. Default: PROJECT_FORMAT.stable.hobpipe.
    #[arg(long, short)]
    out: Option<PathBuf>,
    /// Most pipelines that one stable pipeline becomes, if several shaders share a key.
    #[arg(long, default_value_t = 64)]
    combinations: u32,
    /// Do not add the compute pipelines that no recording used.
    #[arg(long)]
    no_compute: bool,
    /// Keep pipelines whose vertex format or state does not fit. For vertex shaders that are used with several vertex
    /// formats on purpose.
    #[arg(long)]
    no_sanitising: bool,
}

#[derive(Serialize)]
struct Rejected {
    pipeline: String,
    stage: u32,
    key: String,
}

/// Counts of sanitising.
#[derive(Serialize)]
struct Sanitising {
    inconsistent_vertex_shaders: u64,
    before: u64,
    inconsistent_vertex_declaration: u64,
    empty_declaration: u64,
    invalid_state: u64,
    not_checked: u64,
    after: u64,
}

impl From<Sanitised> for Sanitising {
    fn from(counts: Sanitised) -> Self {
        Self {
            inconsistent_vertex_shaders: counts.inconsistent_shaders,
            before: counts.before,
            inconsistent_vertex_declaration: counts.inconsistent,
            empty_declaration: counts.empty,
            invalid_state: counts.invalid,
            not_checked: counts.unchecked,
            after: counts.after(),
        }
    }
}

#[derive(Serialize)]
pub struct Built {
    out: PathBuf,
    guid: String,
    key_files: Vec<(PathBuf, u64)>,
    key_lines: u64,
    stable_files: u64,
    skipped: Vec<String>,
    stable: u64,
    rejected: Vec<Rejected>,
    merged: u64,
    cut: u64,
    /// The bits of all masks, as a number in decimal, or in hexadecimal if it needs more than 64 bits.
    usage_mask_merged: String,
    different: u64,
    added_compute: u64,
    sanitising: Option<Sanitising>,
    graphics: u64,
    compute: u64,
    ray_tracing: u64,
    bytes: u64,
    #[serde(skip)]
    log: String,
}

pub fn run(arguments: &Arguments, is_quiet: bool) -> Result<Built> {
    let identity = Identity::new(&arguments.project, &arguments.format, arguments.api)?;
    let (io, paths) = (files()?, expanded(&arguments.stable)?);
    let options = BuildOptions {
        combinations: arguments.combinations,
        adds_compute: !arguments.no_compute,
        sanitises: !arguments.no_sanitising,
        ..BuildOptions::default()
    };
    let mut wanted = options.wanted();
    for path in &paths {
        Build::want(&StableFile::open(&io, path)?, &mut wanted)?;
    }
    let (keys, key_files) = key_map(&arguments.keys, Some(&wanted), is_quiet)?;
    let mut build = Build::new(&identity, &arguments.game_version, &keys, options)?;
    let progress = Progress::new("building", paths.len() as u64, is_quiet);
    for path in &paths {
        build.add(&StableFile::open(&io, path)?)?;
        progress.step()?;
    }
    let out = match &arguments.out {
        Some(out) => out.clone(),
        None => file_name(&identity)?.into(),
    };
    let report = build.finish(&io, &out)?;
    let rejected = report.rejected.iter().map(|rejected| Rejected {
        pipeline: rejected.pipeline.to_string(),
        stage: rejected.stage,
        key: rejected.key.clone(),
    });
    let [graphics, compute, ray_tracing] = report.written;
    Ok(Built {
        out,
        guid: hex(&report.guid),
        key_files,
        key_lines: report.key_lines,
        stable_files: report.files,
        skipped: report.skipped.iter().map(|skipped| skipped.reason.clone()).collect(),
        stable: report.stable,
        rejected: rejected.collect(),
        merged: report.merged,
        cut: report.cut,
        usage_mask_merged: report.mask_union.to_string(),
        different: report.different,
        added_compute: report.added_compute,
        sanitising: report.sanitised.map(Sanitising::from),
        graphics,
        compute,
        ray_tracing,
        bytes: report.bytes,
        log: report.log()?,
    })
}

impl Report for Built {
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        for (path, lines) in &self.key_files {
            writeln!(to, "loaded {lines} shader keys from '{}'", path.display())?;
        }
        write!(to, "{}", self.log)?;
        writeln!(to, "'{}' {}", self.out.display(), self.guid)
    }
}
