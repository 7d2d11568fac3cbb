//! Why a game still drops frames: checks of runs and of the shipped caches that they had.
//!
//! Source: the questions and answers of "PSO Caching" in the Unreal Engine's documentation.

use std::collections::{BTreeSet, HashSet};
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use hobgoblin::pipeline::keys::KeyMap;
use hobgoblin::pipeline::recording::Recording;
use hobgoblin::pipeline::{Identity, ShaderHash, Shipped};
use hobgoblin::store::io::SharedIo;
use serde::Serialize;

use super::coverage::ms;
use super::inputs::{files, key_map};
use super::patterns::expanded;
use super::runs::{Caches, Run, Runs};
use crate::failure::{Failure, Result, shown};
use crate::numbers::{count, decimal};
use crate::report::Report;

/// Numbers of `hob_graphics_api`, and their names.
const APIS: [&str; 8] = ["unknown", "OpenGL", "OpenGL ES", "Vulkan", "Direct3D 11", "Direct3D 12", "Metal", "WebGPU"];
/// The first number of a host's own graphics API.
const USER_API: u32 = 64;

#[derive(Args)]
pub struct Arguments {
    /// Recordings of runs of one build, or patterns of them.
    #[arg(required = true)]
    recordings: Vec<PathBuf>,
    /// The shipped caches that the runs had, or patterns of them; may be repeated.
    #[arg(long, required = true)]
    cache: Vec<PathBuf>,
    /// Key maps (*.hobkeys, *.csv) of the build that ran, or patterns of them; may be repeated. They show whether the cache is stale.
    #[arg(long)]
    keys: Vec<PathBuf>,
    /// Builds that take at least so many decimal are hitches.
    #[arg(long, value_name = "MS", default_value_t = 5)]
    hitch_ms: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Pass,
    Warn,
    Fail,
    /// Not checked.
    Skip,
}

impl Outcome {
    fn shown(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Fail => "FAIL",
            Self::Skip => "skip",
        }
    }
}

#[derive(Serialize)]
struct Check {
    name: &'static str,
    outcome: Outcome,
    result: String,
    /// Empty: there is nothing to do.
    advice: &'static str,
}

impl Check {
    fn new(name: &'static str, outcome: Outcome, result: String, advice: &'static str) -> Self {
        let advice = if outcome == Outcome::Pass { "" } else { advice };
        Self { name, outcome, result, advice }
    }
}

fn pass_or(outcome: Outcome, is_good: bool) -> Outcome {
    if is_good { Outcome::Pass } else { outcome }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    /// The caches do not fit the game.
    StartAnew,
    /// The caches lack pipelines.
    RecordAgain,
    /// Pipelines cost no frames.
    NotPipelines,
}

impl Verdict {
    fn sentence(self) -> &'static str {
        match self {
            Self::StartAnew => {
                "start anew: delete old recordings and stable files, record with this build, and build the cache from that"
            }
            Self::RecordAgain => {
                "record again: play the areas that hitch with recording on, then expand and build with all recordings"
            }
            Self::NotPipelines => "not a pipeline problem: use a CPU profiler",
        }
    }
}

#[derive(Serialize)]
pub struct Diagnosis {
    checks: Vec<Check>,
    verdict: Verdict,
    advice: &'static str,
    /// False: frame times of these runs say nothing about the game, because the cache is stale or was not used.
    is_fit_for_measuring: bool,
    used: u64,
    missed: u64,
    hitches: u64,
    /// Build times of all missed pipelines.
    hitch_ms: f64,
}

pub fn run(arguments: &Arguments, is_quiet: bool) -> Result<Diagnosis> {
    let (io, paths) = (files()?, expanded(&arguments.recordings)?);
    let Some(first) = paths.first() else { return Err(Failure::Usage("name at least one recording".into())) };
    let identity = Recording::open(&io, first)?.run().identity.try_clone()?;
    let (mut caches, refused) = open_caches(&io, &arguments.cache, &identity)?;
    let runs = Runs::read(&io, paths, &mut caches, is_quiet)?;
    for run in &runs.runs {
        identity.check(&run.info.identity, &format!("'{}'", shown(&run.path)))?;
    }
    let keys = match arguments.keys.is_empty() {
        true => None,
        false => Some(key_map(&io, &expanded(&arguments.keys)?, is_quiet)?),
    };
    let fits = [check_api(&identity), check_identity(&caches, &refused), check_opened(&caches), check_written(&caches)];
    let is_unusable = fits.iter().any(|check| check.outcome == Outcome::Fail);
    let version = check_version(&caches, &runs);
    let shaders = check_shaders(&io, &caches, &runs, keys.as_ref())?;
    let masks = check_masks(&caches, &runs)?;
    let whole = check_recordings(&runs);
    let (new, hitches) = (check_new(&runs), check_hitches(&runs, arguments.hitch_ms));
    let is_good = |check: &Check| matches!(check.outcome, Outcome::Pass | Outcome::Skip);
    let is_stale = !is_good(&version) || !is_good(&shaders);
    let verdict = if is_unusable || shaders.outcome == Outcome::Fail {
        Verdict::StartAnew
    } else if !is_good(&masks) || !is_good(&hitches) {
        Verdict::RecordAgain
    } else {
        Verdict::NotPipelines
    };
    let [missed, hitch_count] = [0, limit(arguments.hitch_ms)].map(|limit| count_misses(&runs, limit));
    let mut checks = Vec::from(fits);
    checks.extend([version, shaders, masks, whole, new, hitches]);
    Ok(Diagnosis {
        checks,
        verdict,
        advice: verdict.sentence(),
        is_fit_for_measuring: !is_unusable && !is_stale,
        used: runs.runs.iter().map(|run| run.used).sum(),
        missed,
        hitches: hitch_count,
        hitch_ms: ms(runs.hitch_us()),
    })
}

/// The caches for this game, and why the others are not.
fn open_caches(io: &SharedIo, patterns: &[PathBuf], identity: &Identity) -> Result<(Caches, Vec<String>)> {
    let (mut caches, mut refused) = (Caches::default(), Vec::new());
    for path in expanded(patterns)? {
        match Shipped::open(io, &path, identity) {
            Ok(shipped) => caches.add(path, &shipped)?,
            Err(why) => refused.push(why.sentence().to_owned()),
        }
    }
    Ok((caches, refused))
}

fn check_api(identity: &Identity) -> Check {
    let api = identity.api;
    let name = APIS.get(api as usize).copied().unwrap_or("the host's own");
    let is_known = api != 0 && (APIS.get(api as usize).is_some() || api >= USER_API);
    let outcome = pass_or(Outcome::Fail, is_known);
    let shown = if is_known { name } else { "not supported" };
    let result = format!("the runs used the graphics API {api}, {shown}");
    Check::new(
        "graphics API",
        outcome,
        result,
        "set hob_pipeline_library_desc.api to a hob_graphics_api, or to 64 and above",
    )
}

fn check_identity(caches: &Caches, refused: &[String]) -> Check {
    let fitting = caches.files.len();
    let outcome = match (fitting, refused.len()) {
        (0, _) => Outcome::Fail,
        (_, 0) => Outcome::Pass,
        _ => Outcome::Warn,
    };
    let mut result = format!("{fitting} of {} caches fit the runs", fitting + refused.len());
    if let Some(why) = refused.first() {
        result = format!("{result}: {why}");
    }
    Check::new("cache fits", outcome, result, "ship a cache of this project, shader format and graphics API")
}

fn check_opened(caches: &Caches) -> Check {
    let entries = caches.entries.len();
    let outcome = pass_or(Outcome::Fail, entries > 0);
    let result = format!("{} pipelines opened", count(entries as u64));
    Check::new(
        "cache opened",
        outcome,
        result,
        "check that the cache is in the package, and that the build wrote pipelines",
    )
}

fn check_written(caches: &Caches) -> Check {
    let missing = caches.missing();
    let written: u64 = caches.files.iter().map(|file| file.info.total()).sum();
    let opened: u64 = caches.files.iter().map(|file| file.entries).sum();
    let outcome = pass_or(Outcome::Fail, missing == 0);
    let result = format!("{} of {} written pipelines can be read", count(opened), count(written));
    Check::new(
        "opened = written",
        outcome,
        result,
        "the cache is damaged: build it again, and compare the package with it",
    )
}

fn check_version(caches: &Caches, runs: &Runs) -> Check {
    let of_caches: BTreeSet<&str> = caches.files.iter().map(|file| file.info.version.as_str()).collect();
    let of_runs: BTreeSet<&str> = runs.runs.iter().map(|run| run.info.version.as_str()).collect();
    let shown = |versions: &BTreeSet<&str>| {
        let quoted: Vec<String> = versions.iter().map(|version| format!("'{version}'")).collect();
        quoted.join(", ")
    };
    if caches.files.is_empty() {
        return Check::new("version", Outcome::Skip, "no cache fits".into(), "");
    }
    let is_same = of_caches == of_runs && of_runs.len() == 1;
    let result = match is_same {
        true => format!("caches and runs are of version {}", shown(&of_runs)),
        false => format!("the caches are of version {}, the runs of {}", shown(&of_caches), shown(&of_runs)),
    };
    let advice = "the cache may be stale: build it again with the keys and the version of this build";
    Check::new("version", pass_or(Outcome::Warn, is_same), result, advice)
}

/// Whether the build that ran has the shaders of the caches.
fn check_shaders(io: &SharedIo, caches: &Caches, runs: &Runs, keys: Option<&KeyMap>) -> Result<Check> {
    let name = "shaders";
    let Some(keys) = keys else {
        let advice = "pass the key maps of the build that ran with --keys";
        return Ok(Check::new(name, Outcome::Skip, "not checked: no key map".into(), advice));
    };
    let known: HashSet<ShaderHash> = keys.lines().map(|line| line.hash).collect();
    let (mut foreign, mut used) = (0, 0);
    runs.merged.for_each(|pipeline| {
        used += 1;
        foreign += u64::from(!pipeline.description.shaders.iter().all(|shader| known.contains(&shader.hash)));
        Ok(())
    })?;
    if 2 * foreign > used {
        let [foreign, used] = [foreign, used].map(count);
        let result = format!("the key map lacks the shaders of {foreign} of {used} pipelines that ran");
        let advice = "the key map is of another build: pass the one of the build that ran";
        return Ok(Check::new(name, Outcome::Skip, result, advice));
    }
    let (mut stale, mut entries) = (0_u64, 0);
    for file in &caches.files {
        let scan = Shipped::any(io, &file.path)?.for_each(|pipeline| {
            stale += u64::from(!pipeline.description.shaders.iter().all(|shader| known.contains(&shader.hash)));
            Ok(())
        })?;
        entries += scan.entries;
    }
    let outcome = match stale {
        0 => Outcome::Pass,
        _ if 2 * stale > entries => Outcome::Fail,
        _ => Outcome::Warn,
    };
    let [stale, entries] = [stale, entries].map(count);
    let result = format!("{stale} of {entries} pipelines of the caches have shaders that the build lacks");
    let advice = "the cache is stale: build it again with the keys of this build";
    Ok(Check::new(name, outcome, result, advice))
}

/// Whether the pipelines that ran are selected with the masks of the runs.
fn check_masks(caches: &Caches, runs: &Runs) -> Result<Check> {
    let (mut known, mut unselected) = (0_u64, 0_u64);
    runs.merged.for_each(|pipeline| {
        if let Some(entry) = caches.entries.get(&pipeline.key) {
            known += 1;
            let is_selected = |mask| entry.masks.as_slice().iter().any(|own| own.has_all_of(mask));
            unselected += u64::from(!pipeline.uses.masks.as_slice().iter().all(is_selected));
        }
        Ok(())
    })?;
    if known == 0 {
        return Ok(Check::new("masks", Outcome::Skip, "no run used a pipeline of the caches".into(), ""));
    }
    let [shown, all] = [unselected, known].map(count);
    let result = format!("{shown} of {all} used pipelines of the caches were used with a mask that lacks them");
    let advice =
        "set the mask before the cache is opened, and record with each mask: (entry & current) == current selects";
    Ok(Check::new("masks", pass_or(Outcome::Fail, unselected == 0), result, advice))
}

fn check_recordings(runs: &Runs) -> Check {
    let damaged = runs.damaged();
    let [runs, repeated, shown] = [runs.runs.len() as u64, runs.repeated, damaged].map(count);
    let result = format!("{runs} runs, {repeated} repeated, {shown} damaged or missing records");
    let advice = "the counts below are too low: record again, and end the run cleanly";
    Check::new("recordings whole", pass_or(Outcome::Warn, damaged == 0), result, advice)
}

/// The least build time of a hitch, in microseconds. An unknown time of 0 is no hitch.
fn limit(hitch_ms: u32) -> u32 {
    hitch_ms.saturating_mul(1000).max(1)
}

/// Missed pipelines of all runs that took at least `limit_us` to build.
fn count_misses(runs: &Runs, limit_us: u32) -> u64 {
    runs.runs.iter().flat_map(|run| &run.missed_us).filter(|&&us| us >= limit_us).count() as u64
}

fn check_new(runs: &Runs) -> Check {
    let used: u64 = runs.runs.iter().map(|run| run.used).sum();
    let missed = count_misses(runs, 0);
    let result = format!("{} of {} pipelines that ran are new: no cache has them", count(missed), count(used));
    let advice = "record again with the areas of these runs; if that is done, and `hob pipelines build` filtered out \
                  pipelines whose vertex shaders read several vertex formats on purpose, build with --no-sanitising";
    Check::new("new pipelines", pass_or(Outcome::Warn, missed == 0), result, advice)
}

fn check_hitches(runs: &Runs, hitch_ms: u32) -> Check {
    let hitches = count_misses(runs, limit(hitch_ms));
    let missed = count_misses(runs, 0);
    if missed > 0 && runs.hitch_us() == 0 {
        let result = format!("the recordings lack the build times of all {} new pipelines", count(missed));
        let advice = "pass the build time when you add a pipeline, and record again";
        return Check::new("hitches", Outcome::Warn, result, advice);
    }
    let longest = ms(runs.runs.iter().map(Run::longest_us).max().unwrap_or(0));
    let [sum, longest] = [ms(runs.hitch_us()), longest].map(decimal);
    let (shown, least) = (count(hitches), count(hitch_ms.into()));
    let result =
        format!("{shown} new pipelines took {least} ms or more; all together took {sum} ms, the longest {longest} ms");
    let advice = "record again: `hob pipelines coverage` lists the pipelines";
    Check::new("hitches", pass_or(Outcome::Fail, hitches == 0), result, advice)
}

impl Report for Diagnosis {
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        for Check { name, outcome, result, advice } in &self.checks {
            writeln!(to, "{}  {name}: {result}", outcome.shown())?;
            if !advice.is_empty() {
                writeln!(to, "      {advice}")?;
            }
        }
        if !self.is_fit_for_measuring {
            writeln!(to, "these runs are unfit for measuring performance: their cache is stale, or was not used")?;
        }
        writeln!(to, "verdict: {}", self.advice)
    }

    fn has_findings(&self) -> bool {
        self.verdict != Verdict::NotPipelines || !self.is_fit_for_measuring
    }
}
