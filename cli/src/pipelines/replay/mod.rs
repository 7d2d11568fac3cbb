//! Compiling all pipelines of files in child processes, so that a driver that crashes costs one pipeline.
//!
//! | file | content |
//! |---|---|
//! | `work` | which pipeline compiles next, and the results |
//! | `builder` | the child process |
//! | `launch` | its start, so that it ends with `hob` |
//! | `frames` | the protocol with it |
//! | `journal` | the state of a replay, for the next run |
//! | `bans` | the ban list |
//!
//! Source: Fossilize replays pipelines in processes that may crash, and goes on after the guilty one.

mod bans;
mod builder;
mod frames;
mod journal;
#[cfg(target_os = "linux")]
pub mod launch;
mod work;

use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::OsString;
use std::future::Future;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use clap::Args;
use hobgoblin::pipeline::{Identity, PipelineKey};
use hobgoblin::store::is_same_file;
use serde::Serialize;
use tokio::time::sleep;

use super::contents::Contents;
use super::inputs::files;
use super::patterns::expanded;
use crate::cache::source::SecretFile;
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::numbers::{count, decimal};
use crate::outputs::check_is_no_input;
use crate::progress::Progress;
use crate::report::{Report, table};
use bans::{Ban, Bans, Directory};
use builder::{Builder, Program};
use frames::Hello;
use journal::Journal;
use work::{Compiled, Item, Results, Work, compile_all};

/// The slowest pipelines that are shown.
const SLOWEST: usize = 10;
/// Refused or banned pipelines that the text lists. JSON lists all.
const LISTED: usize = 20;
/// Time between two looks for Ctrl-C.
const WATCH: Duration = Duration::from_millis(20);

#[derive(Args)]
pub struct Arguments {
    /// Shipped caches or recordings of one game, or patterns of them.
    #[arg(required = true)]
    caches: Vec<PathBuf>,
    /// The program that compiles: it reads pipelines on its standard input, and writes results (docs/replay.md).
    #[arg(long, value_name = "PROGRAM")]
    builder: PathBuf,
    /// An argument for the builder; may be repeated.
    #[arg(long, value_name = "ARGUMENT", allow_hyphen_values = true)]
    builder_arg: Vec<OsString>,
    /// Builders that run at the same time. Default: the number of cores.
    #[arg(long, short)]
    jobs: Option<NonZeroUsize>,
    /// Longest wait for a pipeline, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = parse_seconds)]
    timeout: Duration,
    /// Read and write the ban list in this JSON file. Pipelines in it are not compiled. Several replays may use it at the
    /// same time.
    #[arg(long, value_name = "FILE")]
    bans: Option<PathBuf>,
    /// Ban for games, too: their directory of pipelines (hob_pipeline_library_desc.directory), which must exist. With --bans,
    /// each learns the bans that the other has for pipelines of this replay.
    #[arg(long, value_name = "DIRECTORY")]
    directory: Option<PathBuf>,
    /// Strikes that ban a pipeline in the directory: at least the hob_pipeline_library_desc.ban_at of the games.
    #[arg(long, value_name = "STRIKES", default_value_t = 2, requires = "directory",
        value_parser = clap::value_parser!(u32).range(1..=100))]
    ban_at: u32,
    #[command(flatten)]
    secret: SecretFile,
    /// Keep the results in this file. The next run with it goes on where this one ended.
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
}

fn parse_seconds(text: &str) -> std::result::Result<Duration, String> {
    let seconds: Option<f64> = text.parse().ok().filter(|seconds| (0.01..=86_400.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| format!("invalid time '{text}': write 0.01 to 86400 seconds"))
}

#[derive(Serialize)]
struct Slow {
    pipeline: String,
    kind: &'static str,
    build_us: u64,
}

#[derive(Serialize)]
struct Refused {
    pipeline: String,
    message: String,
}

#[derive(Serialize)]
pub struct Replayed {
    driver: String,
    environment: String,
    /// Distinct pipelines of all files.
    pipelines: u64,
    compiled: u64,
    /// Pipelines that the driver refused.
    failed: Vec<Refused>,
    banned: Vec<Ban>,
    /// Pipelines that were banned before, and not compiled.
    banned_before: u64,
    /// Pipelines whose result is of an earlier run.
    resumed: u64,
    /// Pipelines that broke a builder, and compiled alone.
    recovered: u64,
    /// Builders that crashed, hung or broke the protocol.
    broken_builders: u64,
    /// Damaged or missing records of the files.
    damaged: u64,
    seconds: f64,
    /// Sum of the build times.
    build_us: u64,
    slowest: Vec<Slow>,
}

pub fn run(arguments: &Arguments, is_quiet: bool) -> Result<Replayed> {
    let begun = Instant::now();
    let caches = expanded(&arguments.caches)?;
    for file in arguments.bans.iter().chain(&arguments.state) {
        check_is_no_input(file, caches.iter().chain([&arguments.builder]).chain(arguments.secret.path()))?;
    }
    if let Some((bans, state)) = arguments.bans.as_ref().zip(arguments.state.as_ref())
        && is_same_file(bans, state)
    {
        return Err(Failure::Usage("--bans and --state name the same file: name two files".into()));
    }
    let loaded = load(&caches, is_quiet)?;
    let program = Program {
        path: arguments.builder.clone(),
        arguments: arguments.builder_arg.clone(),
        hello: frames::hello(&loaded.identity)?,
        limit: arguments.timeout,
    };
    let pipelines = loaded.items.len() as u64;
    let (hello, results) = compile(arguments, loaded.items, &loaded.identity, &program, is_quiet)?;
    Ok(report(&hello, results, pipelines, loaded.damaged, begun.elapsed()))
}

struct Loaded {
    identity: Identity,
    items: Vec<Item>,
    damaged: u64,
}

/// The pipelines of all files, each once, in the order of the files and of first use.
fn load(paths: &[PathBuf], is_quiet: bool) -> Result<Loaded> {
    let (io, mut known, mut items, mut damaged) = (files()?, HashSet::<PipelineKey>::new(), Vec::new(), 0);
    let progress = Progress::new("reading", paths.len() as u64, is_quiet);
    let mut identity: Option<Identity> = None;
    for path in paths {
        let file = Contents::open(&io, path)?;
        if file.is_stable() {
            let advice = "build a cache from it first, or name a recording";
            return Err(Failure::File(format!("'{}' is a stable file: {advice}", path.display())));
        }
        match &identity {
            Some(identity) => identity.check(file.identity(), &format!("'{}'", path.display()))?,
            None => identity = Some(file.identity().try_clone()?),
        }
        let mut failed = None;
        damaged += file.for_each(|pipeline| {
            let Some(description) = &pipeline.description else { return };
            if known.insert(pipeline.key) {
                match frames::pipeline(&pipeline.key, description) {
                    Ok(frame) => items.push(Item::new(pipeline.key, pipeline.kind.name(), frame)),
                    Err(why) => failed = Some(why),
                }
            }
        })?;
        if let Some(why) = failed {
            return Err(why);
        }
        progress.step()?;
    }
    let identity = identity.ok_or_else(|| Failure::Usage("name at least one cache".into()))?;
    Ok(Loaded { identity, items, damaged })
}

/// The results of all pipelines. Builders end before this returns, also after Ctrl-C.
fn compile(
    arguments: &Arguments,
    items: Vec<Item>,
    identity: &Identity,
    program: &Program,
    is_quiet: bool,
) -> Result<(Hello, Results)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|why| Failure::File(format!("cannot start builders: {why}")))?;
    let _children = interrupt::Children::guard();
    let cores = available_parallelism().map_or(1, NonZeroUsize::get);
    let jobs = arguments.jobs.map_or(cores, NonZeroUsize::get).min(items.len());
    runtime.block_on(unless_interrupted(async {
        let (first, hello) = Builder::start(program).await?;
        let secret = arguments.secret.read()?;
        let directory = arguments.directory.as_deref().map(|path| Directory { path, ban_at: arguments.ban_at, secret });
        let bans = Bans::open(&hello, arguments.bans.as_deref(), directory)?;
        let journal = Journal::open(arguments.state.as_deref(), identity, hello.environment)?;
        let work = RefCell::new(Work::new(items, bans, journal, is_quiet)?);
        compile_all(&work, program, &hello, first, jobs).await?;
        Ok((hello, work.into_inner().results))
    }))
}

/// The result of `work`. Ctrl-C drops it, and with it the builders.
async fn unless_interrupted<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let interrupted = async {
        loop {
            if let Err(why) = interrupt::check() {
                return why;
            }
            sleep(WATCH).await;
        }
    };
    tokio::select! {
        done = work => done,
        why = interrupted => Err(why),
    }
}

fn report(hello: &Hello, results: Results, pipelines: u64, damaged: u64, took: Duration) -> Replayed {
    let Results { mut compiled, banned, banned_before, resumed, recovered, broken } = results;
    let refused = |one: &Compiled| {
        let pipeline = one.key.to_string();
        one.refusal.clone().map(|message| Refused { pipeline, message })
    };
    let failed: Vec<Refused> = compiled.iter().filter_map(refused).collect();
    let build_us = compiled.iter().map(|one| one.build_us).fold(0, u64::saturating_add);
    let ready = (compiled.len() - failed.len()) as u64;
    compiled.sort_by_key(|one| (std::cmp::Reverse(one.build_us), one.key));
    let slow = |one: &Compiled| Slow { pipeline: one.key.to_string(), kind: one.kind, build_us: one.build_us };
    Replayed {
        driver: hello.driver.clone(),
        environment: format!("{:016x}", hello.environment),
        pipelines,
        compiled: ready,
        failed,
        banned,
        banned_before,
        resumed,
        recovered,
        broken_builders: broken,
        damaged,
        seconds: took.as_secs_f64(),
        build_us,
        slowest: compiled.iter().take(SLOWEST).map(slow).collect(),
    }
}

impl Report for Replayed {
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let Self { driver, environment, .. } = self;
        writeln!(to, "driver '{driver}', environment {environment}")?;
        let (failed, banned) = (self.failed.len(), self.banned.len());
        let counts = [self.pipelines, self.compiled, failed as u64, banned as u64, self.banned_before].map(count);
        let [all, compiled, failures, bans, before] = counts;
        writeln!(to, "{all} pipelines: {compiled} compiled, {failures} failed, {bans} banned, {before} banned before")?;
        if self.resumed > 0 {
            writeln!(to, "{} results are of an earlier run", count(self.resumed))?;
        }
        if self.broken_builders > 0 {
            let [broken, recovered] = [self.broken_builders, self.recovered].map(count);
            writeln!(to, "{broken} builders broke; {recovered} of their pipelines compiled alone")?;
        }
        if self.damaged > 0 {
            writeln!(to, "{} records are damaged or missing: write the files again", count(self.damaged))?;
        }
        for Refused { pipeline, message } in self.failed.iter().take(LISTED) {
            writeln!(to, "  failed {pipeline}: {message}")?;
        }
        for Ban { pipeline, why, .. } in self.banned.iter().take(LISTED) {
            writeln!(to, "  banned {pipeline}: {why}")?;
        }
        let unlisted = failed.saturating_sub(LISTED) + banned.saturating_sub(LISTED);
        if unlisted > 0 {
            writeln!(to, "  ... and {} more: --json lists all", count(unlisted as u64))?;
        }
        let [seconds, builds] = [self.seconds, self.build_us as f64 / 1e6].map(decimal);
        writeln!(to, "{seconds} s, with {builds} s of build times")?;
        if self.slowest.is_empty() {
            return Ok(());
        }
        let mut rows = table(["slowest pipelines", "kind", "ms"]);
        for Slow { pipeline, kind, build_us } in &self.slowest {
            rows.add_row([pipeline, *kind, &decimal(*build_us as f64 / 1000.0)]);
        }
        writeln!(to, "{rows}")
    }

    fn has_findings(&self) -> bool {
        self.compiled < self.pipelines || self.damaged > 0
    }
}
