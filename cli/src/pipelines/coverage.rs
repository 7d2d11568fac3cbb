//! How much of some runs the shipped caches cover.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use hobgoblin::pipeline::Shipped;
use serde::Serialize;

use super::inputs::files;
use super::patterns::expanded;
use super::runs::{CacheFile, Caches, Run, Runs};
use crate::failure::{Failure, Result, shown};
use crate::numbers::{count, decimal, size};
use crate::report::{self, Report, table};

/// Misses that the text lists. JSON lists all.
const LISTED: usize = 10;
const MIB: f64 = 1_048_576.0;

#[derive(Args)]
pub struct Arguments {
    /// Recordings of runs, or patterns of them.
    #[arg(required = true)]
    recordings: Vec<PathBuf>,
    /// The shipped caches that the runs had, or patterns of them; may be repeated.
    #[arg(long, required = true)]
    cache: Vec<PathBuf>,
}

#[derive(Serialize)]
struct Opened {
    #[serde(serialize_with = "report::path")]
    path: PathBuf,
    /// Pipelines read.
    entries: u64,
    /// Pipelines that were written and cannot be read.
    missing: u64,
    bytes: u64,
}

#[derive(Serialize)]
struct RunCoverage {
    #[serde(serialize_with = "report::path")]
    path: PathBuf,
    /// Distinct pipelines of the run.
    used: u64,
    missed: u64,
    hitch_ms: f64,
    longest_ms: f64,
}

#[derive(Serialize)]
struct Missed {
    pipeline: String,
    kind: &'static str,
    runs: u32,
    first_frame: u64,
    hitch_ms: f64,
}

#[derive(Serialize)]
pub struct Coverage {
    caches: Vec<Opened>,
    bytes: u64,
    /// Distinct pipelines of all caches.
    opened: u64,
    /// Opened pipelines that a run used.
    used: u64,
    /// Opened pipelines that no run used.
    never_used: u64,
    /// Pipelines that a run used, and that no cache has.
    missed: u64,
    /// Build times of the missed pipelines in all runs.
    hitch_ms: f64,
    /// Used pipelines of a mebibyte of the caches.
    avoided_per_mib: f64,
    missed_per_mib: f64,
    runs: Vec<RunCoverage>,
    /// Recordings of a run that was read already.
    repeated: u64,
    /// Damaged or missing records.
    damaged: u64,
    misses: Vec<Missed>,
}

pub fn run(arguments: &Arguments, is_quiet: bool) -> Result<Coverage> {
    let (io, mut caches) = (files()?, Caches::default());
    for path in expanded(&arguments.cache)? {
        let shipped = Shipped::any(&io, &path)?;
        caches.add(path, &shipped)?;
    }
    let runs = Runs::read(&io, expanded(&arguments.recordings)?, &mut caches, is_quiet)?;
    check_identity(&caches, &runs)?;
    let misses = runs.misses(&caches)?;
    let (opened, used, mib) = (caches.entries.len() as u64, caches.used(), caches.bytes() as f64 / MIB);
    Ok(Coverage {
        bytes: caches.bytes(),
        opened,
        used,
        never_used: opened - used,
        missed: misses.len() as u64,
        hitch_ms: ms(runs.hitch_us()),
        avoided_per_mib: used as f64 / mib,
        missed_per_mib: misses.len() as f64 / mib,
        runs: runs.runs.iter().map(of_run).collect(),
        repeated: runs.repeated,
        damaged: runs.damaged() + caches.missing(),
        misses: misses
            .iter()
            .map(|miss| Missed {
                pipeline: miss.key.to_string(),
                kind: miss.kind.name(),
                runs: miss.runs,
                first_frame: miss.first_frame,
                hitch_ms: ms(miss.hitch_us),
            })
            .collect(),
        caches: caches.files.into_iter().map(opened_file).collect(),
    })
}

/// Milliseconds of microseconds.
pub fn ms(us: u64) -> f64 {
    us as f64 / 1000.0
}

fn opened_file(file: CacheFile) -> Opened {
    let CacheFile { path, entries, missing, bytes, .. } = file;
    Opened { path, entries, missing, bytes }
}

fn of_run(run: &Run) -> RunCoverage {
    let (path, used, missed) = (run.path.clone(), run.used, run.missed_us.len() as u64);
    RunCoverage { path, used, missed, hitch_ms: ms(run.hitch_us()), longest_ms: ms(run.longest_us()) }
}

/// Caches and runs of different games would cover nothing of each other.
fn check_identity(caches: &Caches, runs: &Runs) -> Result<()> {
    let Some(first) = caches.files.first() else { return Err(Failure::Usage("name at least one cache".into())) };
    let of_caches = caches.files.iter().map(|file| (&file.path, &file.info.identity));
    let of_runs = runs.runs.iter().map(|run| (&run.path, &run.info.identity));
    for (path, identity) in of_caches.chain(of_runs) {
        first.info.identity.check(identity, &format!("'{}'", shown(path)))?;
    }
    Ok(())
}

impl Report for Coverage {
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let [opened, used, never_used, missed] = [self.opened, self.used, self.never_used, self.missed].map(count);
        let (caches, bytes, hitch) = (count(self.caches.len() as u64), size(self.bytes), decimal(self.hitch_ms));
        writeln!(
            to,
            "{opened} pipelines opened from {caches} caches of {bytes}: {used} used, {never_used} never used"
        )?;
        writeln!(to, "{missed} pipelines missed, with hitches of {hitch} ms")?;
        let (avoided, per_mib) = (self.avoided_per_mib, self.missed_per_mib);
        writeln!(to, "for each MiB shipped, {avoided:.1} misses avoided and {per_mib:.1} missed")?;
        let mut rows = table(["recording", "used", "missed", "hitch ms", "longest ms"]);
        for RunCoverage { path, used, missed, hitch_ms, longest_ms } in &self.runs {
            let [hitch, longest] = [*hitch_ms, *longest_ms].map(decimal);
            rows.add_row([shown(path), count(*used), count(*missed), hitch, longest]);
        }
        writeln!(to, "{rows}")?;
        if !self.misses.is_empty() {
            let mut rows = table(["missed pipelines", "kind", "runs", "first frame", "hitch ms"]);
            for Missed { pipeline, kind, runs, first_frame, hitch_ms } in self.misses.iter().take(LISTED) {
                let (runs, first_frame, hitch) = (count((*runs).into()), count(*first_frame), decimal(*hitch_ms));
                rows.add_row([pipeline, *kind, &runs, &first_frame, &hitch]);
            }
            writeln!(to, "{rows}")?;
        }
        if self.misses.len() > LISTED {
            writeln!(to, "... and {} more: --json lists all", count((self.misses.len() - LISTED) as u64))?;
        }
        if self.repeated > 0 {
            writeln!(to, "{} recordings repeat a run, and count once", count(self.repeated))?;
        }
        if self.damaged > 0 {
            writeln!(to, "{} records are damaged or missing: the counts are too low", count(self.damaged))?;
        }
        Ok(())
    }

    fn has_findings(&self) -> bool {
        self.damaged > 0
    }
}
