//! Stable files become the shipped cache.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use hobgoblin::pipeline::Identity;
use hobgoblin::pipeline::build::{BuildOptions, Sanitised, file_name};
use hobgoblin::pipeline::ship::Shipment;
use serde::Serialize;

use super::inputs::files;
use super::patterns::expanded;
use crate::failure::{Result, invalid_argument, shown};
use crate::numbers::hex;
use crate::outputs::check_is_no_input;
use crate::progress::Progress;
use crate::report::{self, Report};

#[derive(Args)]
pub struct Arguments {
    /// Stable files, or patterns of them. Without any, the cache has the compute pipelines of the key map only.
    stable: Vec<PathBuf>,
    /// Key maps (*.hobkeys, *.csv) of this build, or patterns of them; may be repeated.
    #[arg(long, short, required = true)]
    keys: Vec<PathBuf>,
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
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
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
    /// Those of them whose vertex formats tie. Their pipelines are kept.
    undecided_vertex_shaders: u64,
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
            undecided_vertex_shaders: counts.undecided_shaders,
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
    #[serde(serialize_with = "report::path")]
    out: PathBuf,
    guid: String,
    /// Paths of the key maps, and the number of their lines.
    key_files: Vec<(String, u64)>,
    key_lines: u64,
    stable_files: u64,
    skipped: Vec<String>,
    stable: u64,
    /// Stable pipelines that this build has no shaders for: their number, and the first 10,000.
    rejected_count: u64,
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
    let identity =
        Identity::new(&arguments.project, &arguments.format, arguments.api).map_err(|why| invalid_argument(&why))?;
    let io = files()?;
    let (stable, key_paths) = (expanded(&arguments.stable)?, expanded(&arguments.keys)?);
    let out = match &arguments.out {
        Some(out) => out.clone(),
        None => file_name(&identity)?.into(),
    };
    check_is_no_input(&out, stable.iter().chain(&key_paths))?;
    let options = BuildOptions {
        combinations: arguments.combinations,
        adds_compute: !arguments.no_compute,
        sanitises: !arguments.no_sanitising,
        ..BuildOptions::default()
    };
    let progress = Progress::new("building", 2 * stable.len() as u64 + 1, is_quiet);
    let (identity, version) = (&identity, arguments.game_version.as_str());
    let shipment = Shipment { identity, version, keys: &key_paths, stable: &stable, options };
    let (report, keys) = shipment.build(&io, &out, |done, all| progress.reach_of(done, all))?;
    let rejected = report.rejected.first().iter().map(|rejected| Rejected {
        pipeline: rejected.pipeline.to_string(),
        stage: rejected.stage,
        key: rejected.key.clone(),
    });
    let lines = keys.file_lines().iter().copied();
    let key_files = key_paths.iter().map(|path| path.to_string_lossy().into()).zip(lines);
    let [graphics, compute, ray_tracing] = report.written;
    Ok(Built {
        out,
        guid: hex(&report.guid),
        key_files: key_files.collect(),
        key_lines: report.key_lines,
        stable_files: report.files,
        skipped: report.skipped.iter().map(|skipped| skipped.reason.clone()).collect(),
        stable: report.stable,
        rejected_count: report.rejected.count(),
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
            writeln!(to, "loaded {lines} shader keys from '{}'", shown(path.as_ref()))?;
        }
        write!(to, "{}", self.log)?;
        writeln!(to, "'{}' {}", shown(&self.out), self.guid)
    }
}
