//! The program cache: its store against LMDB, SQLite, redb and plain files, its memory against `quick_cache`.
//!
//! `cargo bench -p hobgoblin-bench --bench program_cache -- --help`

mod blobs;
mod c_api;
mod contest;
mod floor;
mod memory;
mod peers;
mod policies;
mod report;
mod segments;
mod threads;
mod tier;

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use blobs::Blobs;
use contest::Plan;
use hobgoblin_bench::options;
use report::{Target, number};
use serde_json::{Value, json};

const HELP: &str = "\
Benchmark of the program cache.

  cargo bench -p hobgoblin-bench --bench program_cache -- [options]

  --quick          fewer values and rounds: half a minute
  --only WORD      only parts whose name contains the word: store, tier, segments, get, threads, put, policies
  --peer WORD      only we and peers whose name contains the word: LMDB, SQLite, redb, files
  --rounds N       rounds of the store. Default: 5
  --blobs DIR      store the files of a directory instead of generated values
  --directory DIR  write there, not to cargo's target directory
  --drop-caches    before cold reads, drop the whole page cache, not only the files: needs root
  --trace FILE     run the policies on this trace alone
  --write FILE     write the first generated trace
  --json           print JSON instead of tables
  --help           this page

Store: values of random bytes, 20 000 of them, of log-normal lengths with median 4.8 KB and mean 9.8 KB, 199 KB at most.
Every figure is a median of the rounds, in which the peers take turns. For all of them a put that returned outlives its
process (also a SIGKILL), but not a loss of power: nobody waits for the disk after a put.
- Insert: times as fast as writing the same bytes to one file, a `write` each, measured right before and after. Each put is
  a transaction of its own. In batches, 256 puts are one transaction, as when the cache writes queued programs. A SIGKILL
  may then lose a batch (of our store, the values after its last whole record).
- Finish: milliseconds of the final step that the last lines name. No other figure includes it.
- Open: milliseconds until it is open and every key in it is known. Warm: the least of five openings of a round. Cold: the
  kernel dropped the files from its page cache; the disk may still have them in its own cache.
- Load all: times as long as reading as many bytes from one file, cold, 1 MiB at a time, measured right before: opening
  and handing out every value, checked.
- Verified get: the median time of a get, of all values in any order, files in memory, opened before and checked, over the
  median time of copying the same values in the same order from one large buffer to one place (which stays in the
  processor's cache, as what a get reads to does); and, floor, what reading them from one file and their checksum alone
  take over that. Each is the least of five passes, taken by turns.
- Space: blocks on the disk over bytes of values.
Those that check nothing themselves are given XXH3, as ours has it.

Tier: the cache in a new process, cold. Segments: opening 500 small segments and one large one of as many values, warm,
the least of many times each.

Get: nanoseconds of a get that hits and of dropping what it gives, the least of several runs, ours beside quick_cache (the
same keys, values in an Arc). Allocations are counted.

Threads: the same on two threads at once: with one key for both, with 1024 for both, and with 512 for each. Apart is the
machine's ceiling: each thread has a cache of its own, so that they share nothing but the processor. Gets are timed in
slices of 2000, which both threads begin together; shown is the slower thread's time in the best slice in which both had
a processor, since a busy machine seldom gives both.

Put: microseconds of hob_program_cache_put of 4.8 KB into a cache with a directory, less those of copying as many bytes.

Policies: a trace of programs asked for, replayed with room for a tenth of the bytes of all of them. A missed program is
built and put. Saved is the build time of all hits. A trace is text, a line for each program asked for: a whole number
that names it, its bytes, its build cost in microseconds, its group. The recorded one is tests/fixtures/programs.txt: the
requests of games to their drivers in 36 sessions, see tools/program_trace. The generated ones, from a seed each: 4000 programs
in 40 levels of 100; sizes log-normal with median 4.8 KB (sigma 0.8, at most 199 KB), build costs log-normal with median
10 ms (sigma 1) times the square root of size over median; 120 sessions, each in 3 levels (the k-th most popular level
with weight 1/k), of 600 programs each: nine in ten by Zipf (exponent 0.9) of the session's levels, the rest by Zipf of
all; before every tenth session a scan through all programs of 8 levels, as a loading screen does.
";

/// The system's allocator with a count of allocations.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: forwards to the system's allocator, which meets the requirements.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: the caller's guarantees are those that the system's allocator requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[derive(Default)]
struct Settings {
    quick: bool,
    json: bool,
    only: Option<String>,
    peer: Option<String>,
    rounds: Option<usize>,
    blobs: Option<PathBuf>,
    directory: Option<PathBuf>,
    drop_all: bool,
    trace: Option<String>,
    write: Option<String>,
}

impl Settings {
    fn has(&self, part: &str) -> bool {
        self.only.as_ref().is_none_or(|word| part.contains(word.as_str()))
    }
}

fn main() -> std::process::ExitCode {
    let take = |settings: &mut Settings, word: &str, operand: &mut options::Operand<'_>| {
        match word {
            "--quick" => settings.quick = true,
            "--json" => settings.json = true,
            "--only" => settings.only = Some(operand.text()?),
            "--peer" => settings.peer = Some(operand.text()?),
            "--rounds" => settings.rounds = Some(operand.parsed()?),
            "--blobs" => settings.blobs = Some(operand.parsed()?),
            "--directory" => settings.directory = Some(operand.parsed()?),
            "--drop-caches" => settings.drop_all = true,
            "--trace" => settings.trace = Some(operand.text()?),
            "--write" => settings.write = Some(operand.text()?),
            _ => return Ok(false),
        }
        Ok(true)
    };
    options::run(HELP, Settings::default(), take, run)
}

/// The parts of the output, and in the end whether the targets are met.
#[derive(Default)]
struct Report {
    json: bool,
    parts: serde_json::Map<String, Value>,
    targets: Vec<Target>,
}

impl Report {
    fn add(&mut self, name: &str, part: Value, print: impl FnOnce(&Value)) {
        if !self.json {
            print(&part);
            println!();
        }
        self.parts.insert(name.into(), part);
    }

    fn finish(mut self) {
        if self.json {
            let targets = self.targets.iter().map(Target::json).collect();
            self.parts.insert("targets".into(), targets);
            println!("{}", Value::Object(self.parts));
        } else {
            self.targets.iter().for_each(Target::print);
        }
    }
}

fn run(settings: &Settings) -> Result<(), String> {
    let target = || PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let directory = settings.directory.clone().unwrap_or_else(target).join("program-cache-bench");
    std::fs::create_dir_all(&directory).map_err(|why| format!("{}: {why}", directory.display()))?;
    let rounds = settings.rounds.unwrap_or(if settings.quick { 3 } else { 5 });
    let plan = Plan { directory: &directory, rounds, drop_all: settings.drop_all };
    let mut report = Report { json: settings.json, ..Report::default() };
    let done = disk_parts(settings, &plan, &mut report);
    done.and_then(|()| memory_parts(settings, &plan, &mut report))?;
    report.finish();
    std::fs::remove_dir_all(&directory).map_err(|why| format!("{}: {why}", directory.display()))
}

fn disk_parts(settings: &Settings, plan: &Plan<'_>, report: &mut Report) -> Result<(), String> {
    let blobs = match &settings.blobs {
        Some(directory) => Blobs::read(directory)?,
        None => Blobs::generated(if settings.quick { 5_000 } else { 20_000 }),
    };
    if settings.has("store") {
        let mut peers = peers::all();
        let wanted = |name: &str| settings.peer.as_ref().is_none_or(|word| name == "ours" || name.contains(word));
        peers.retain(|peer| wanted(peer.name()));
        let rows = contest::run(&peers, &blobs, plan)?;
        let least = |what, figure: &str, wanted| Target::at_least(what, number(&rows[0][figure]), wanted);
        let most = |what, figure: &str, wanted| Target::at_most(what, number(&rows[0][figure]), wanted);
        let range = |figure: &str| &rows[0][format!("{figure}_range")];
        report.targets.extend([
            least("insert of a backlog, x raw write", "insert_batched", 0.8).of(range("insert_batched")),
            most("open + index, warm, ms", "open_warm_ms", 2.0).of(range("open_warm_ms")),
            most("open + index, cold, ms", "open_cold_ms", 6.0).of(range("open_cold_ms")),
            most("load all, cold, x reading", "load", 1.5).of(range("load")),
            most("verified get, median, x memcpy", "get", 2.0).of(range("get")),
            most("space, x payload", "space", 1.02),
        ]);
        report.add("store", json!({ "blobs": blobs.describe(), "rows": rows }), |_| {
            println!("{}; {} rounds", blobs.describe(), plan.rounds);
            contest::print(&rows);
        });
    }
    if settings.has("tier") {
        report.add("tier", tier::row(&blobs, plan)?, tier::print);
    }
    if settings.has("segments") {
        let row = segments::row(plan.directory, plan.rounds);
        report.targets.push(Target::at_most("opening 500 segments, x one", number(&row["ratio"]), 3.0));
        report.add("segments", row, segments::print);
    }
    Ok(())
}

fn memory_parts(settings: &Settings, plan: &Plan<'_>, report: &mut Report) -> Result<(), String> {
    let directory = plan.directory.join("c");
    if settings.has("get") {
        let rows = [memory::get_row("1 key", 1, settings), memory::get_row("1024 keys", 1024, settings)];
        let through_c = memory::c_get_row(&directory, settings);
        report.targets.extend([
            Target::at_most("hot get from memory, ns", number(&rows[0]["ns"]), 60.0),
            Target::at_most("allocations of hot gets", number(&rows[0]["allocations"]), 0.0),
            Target::at_most("hot get through C without an empty call, x quick_cache", number(&through_c["ratio"]), 1.0),
        ]);
        report.add("get", json!(rows), |_| rows.iter().for_each(memory::print_get));
        report.add("get_through_c", through_c, memory::print_c_get);
    }
    if settings.has("threads") {
        let rows = threads::rows(settings);
        let two = |of: &str| number(&rows[2][of]["two"]);
        let what = "hot get on two threads, x two caches that share nothing";
        report.targets.push(Target::at_most(what, two("ours") / two("apart"), 1.25));
        report.add("threads", json!(rows), |_| rows.iter().for_each(threads::print));
    }
    if settings.has("put") {
        let row = memory::put_row(&directory, settings);
        report.targets.push(Target::at_most("put, us beside the copy", number(&row["beside_copy_us"]), 2.0));
        report.add("put", row, memory::print_put);
    }
    if settings.has("policies") {
        let rows = policies::rows(settings)?;
        let what = "cost-aware eviction saves, x LRU, first trace";
        report.targets.push(Target::at_least(what, number(&rows[0]["cost_aware"]["saved_over_lru"]), 1.2));
        report.add("policies", json!(rows), |_| rows.iter().for_each(policies::print));
    }
    Ok(())
}
