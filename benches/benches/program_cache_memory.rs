//! The memory tier of the program cache: a get against `quick_cache`, a put against copying, and what each policy saves.
//!
//! `cargo bench -p hobgoblin-bench --bench program_cache_memory -- --help`

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::HashMap;
use std::fmt::Write;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Barrier};
use std::thread;

use hobgoblin::program_cache::{Key, Options, Partners, Policy, Program, ProgramCache};
use hobgoblin_bench::timing::{least_of, microseconds};
use serde_json::{Value, json};

const HELP: &str = "\
Benchmark of the program cache's memory tier.

  cargo bench -p hobgoblin-bench --bench program_cache_memory -- [options]

  --quick          fewer runs: a few seconds
  --json           print JSON instead of tables
  --trace FILE     run the policies on this trace alone
  --write FILE     write the first generated trace
  --help           this page

Get: nanoseconds of a get that hits and of dropping what it gives, the least of several runs, on one thread and on two at
once (each thread's own time), ours beside quick_cache (the same keys, values in an Arc). Two threads either turn over
1024 hot keys or have one key only, whose lock and count they then fight for. Allocations are counted.

Put: microseconds of a put of 4.8 KB into a full cache, less those of copying as many bytes, for each policy.

Policies: a trace of programs asked for, replayed with room for a tenth of the bytes of all of them; what is missed is
built and put. Saved is the build time of all hits. A trace is text, a line for each program asked for: a whole number
that names it, its bytes, its build cost in microseconds, its group. The recorded one is tests/fixtures/programs.txt: what
games asked their driver for in 36 sessions, see tools/program_trace. The generated ones, from a seed each: 4000 programs
in 40 levels of 100; sizes log-normal with median 4.8 KB (sigma 0.8, at most 199 KB), build costs log-normal with median
10 ms (sigma 1) times the square root of size over median; 120 sessions, each in 3 levels (the k-th most popular level
with weight 1/k), of 600 programs each: nine in ten by Zipf (exponent 0.9) of the session's levels, the rest by Zipf of
all; before every tenth session a scan through all programs of 8 levels, as a loading screen does.
";

/// Counts what is allocated, and otherwise is the system's.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: forwards to the system's allocator, which keeps the promises.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: the caller's promises are those of the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[derive(Default)]
struct Settings {
    quick: bool,
    json: bool,
    trace: Option<String>,
    write: Option<String>,
}

fn parse() -> Result<Option<Settings>, String> {
    let mut settings = Settings::default();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut operand = || words.next().ok_or_else(|| format!("{word} needs an operand: see --help"));
        match word.as_str() {
            "--help" | "-h" => return Ok(None),
            "--quick" => settings.quick = true,
            "--json" => settings.json = true,
            "--trace" => settings.trace = Some(operand()?),
            "--write" => settings.write = Some(operand()?),
            // What cargo adds.
            "--bench" | "--test" => {}
            _ => return Err(format!("{word} is not an option: see --help")),
        }
    }
    Ok(Some(settings))
}

fn main() -> std::process::ExitCode {
    let outcome = parse().and_then(|settings| match settings {
        Some(settings) => run(&settings),
        None => {
            print!("{HELP}");
            Ok(())
        }
    });
    match outcome {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("{sentence}");
            std::process::ExitCode::FAILURE
        }
    }
}

/// The same numbers on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// By Box and Muller.
    fn normal(&mut self) -> f64 {
        let (one, other) = (1.0 - self.share(), self.share());
        (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()
    }
}

/// As a digest would be.
fn key(number: u64) -> Key {
    let mut random = Random(number);
    let mut key = [0; 32];
    key.chunks_exact_mut(8).for_each(|word| word.copy_from_slice(&random.next().to_le_bytes()));
    key
}

fn cache(options: Options) -> ProgramCache {
    ProgramCache::new(options, Partners::default()).expect("memory")
}

fn run(settings: &Settings) -> Result<(), String> {
    let traces = traces(settings)?;
    let gets = [get_row("1 key", 1, settings), get_row("1024 keys", 1024, settings)];
    let puts = POLICIES.map(|(name, policy)| put_row(name, policy, settings));
    let policies: Vec<Value> = traces.iter().map(|(name, trace)| policy_row(name, trace)).collect();
    if settings.json {
        println!("{}", json!({ "get": gets, "put": puts, "policies": policies }));
        return Ok(());
    }
    gets.iter().for_each(print_get);
    puts.iter().for_each(print_put);
    policies.iter().for_each(print_policies);
    Ok(())
}

// Get.

const POLICIES: [(&str, Policy); 3] =
    [("lru", Policy::LeastRecentlyUsed), ("cost_aware", Policy::CostAware), ("groups", Policy::Groups)];

/// Nanoseconds of one of `turns` gets on each of so many threads at once, the least of `runs`, and allocations in all.
fn time_gets(threads: usize, keys: &[Key], turns: usize, runs: usize, get: impl Fn(&Key) + Sync) -> (f64, u64) {
    let mut times = Vec::new();
    let mut allocations = 0;
    for _ in 0..runs {
        let barrier = Barrier::new(threads);
        let (barrier, get) = (&barrier, &get);
        let hand = |start: usize| {
            move || {
                // Each thread's first get may find out which thread it is.
                get(&keys[0]);
                barrier.wait();
                let before = ALLOCATIONS.load(Relaxed);
                let time = microseconds(|| {
                    for turn in start..start + turns {
                        get(&keys[turn & (keys.len() - 1)]);
                    }
                });
                barrier.wait();
                (time * 1e3 / turns as f64, ALLOCATIONS.load(Relaxed) - before)
            }
        };
        thread::scope(|scope| {
            let hands: Vec<_> = (0..threads).map(|index| scope.spawn(hand(index * keys.len() / threads))).collect();
            let results = hands.into_iter().map(|hand| hand.join().expect("a thread that ends"));
            let (slowest, allocated) = results.fold((0.0_f64, 0), |most, one| (most.0.max(one.0), most.1.max(one.1)));
            times.push(slowest);
            allocations += allocated;
        });
    }
    (times.into_iter().fold(f64::INFINITY, f64::min), allocations)
}

fn get_row(name: &str, count: u64, settings: &Settings) -> Value {
    let (turns, runs) = if settings.quick { (200_000, 5) } else { (2_000_000, 11) };
    let keys: Vec<Key> = (0..count).map(key).collect();
    let ours = cache(Options::default());
    let theirs: quick_cache::sync::Cache<Key, Arc<Vec<u8>>> = quick_cache::sync::Cache::new(20_000);
    for key in &keys {
        ours.put(key, &Program { data: &[7; 1000], ..Program::default() }).expect("memory");
        theirs.insert(*key, Arc::new(vec![7; 1000]));
    }
    let get_ours = |key: &Key| assert_eq!(black_box(ours.get(key).expect("cached")).data()[0], 7);
    let get_theirs = |key: &Key| assert_eq!(black_box(theirs.get(key).expect("cached"))[0], 7);
    let of = |threads: usize| {
        let (ours, allocations) = time_gets(threads, &keys, turns, runs, get_ours);
        let (theirs, _) = time_gets(threads, &keys, turns, runs, get_theirs);
        json!({ "ns": ours, "quick_cache_ns": theirs, "ratio": ours / theirs, "allocations": allocations })
    };
    let (one, two) = (of(1), of(2));
    let scaling = |name: &str| 2.0 * number(&one[name]) / number(&two[name]);
    let (scales, theirs_scales) = (scaling("ns"), scaling("quick_cache_ns"));
    json!({ "name": name, "one": one, "two": two, "scaling": scales, "quick_cache_scaling": theirs_scales })
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

fn print_get(row: &Value) {
    println!("get of {}:", row["name"].as_str().unwrap_or(""));
    for (threads, name) in [("one thread", "one"), ("two threads", "two")] {
        let of = &row[name];
        println!(
            "  {threads:11}: {:5.1} ns, quick_cache {:5.1} ns, ratio {:.2}, {} allocations",
            number(&of["ns"]),
            number(&of["quick_cache_ns"]),
            number(&of["ratio"]),
            of["allocations"]
        );
    }
    println!(
        "  gets a second of two threads over those of one: {:.2}, quick_cache {:.2}",
        number(&row["scaling"]),
        number(&row["quick_cache_scaling"])
    );
}

// Put.

const PUT_BYTES: usize = 4800;

fn put_row(name: &str, policy: Policy, settings: &Settings) -> Value {
    // Many short runs: a busy machine leaves some of them alone.
    let (puts, runs) = if settings.quick { (100, 300) } else { (100, 3_000) };
    let held = 2000;
    let cache = cache(Options { limit_bytes: held * (PUT_BYTES as u64 + 32), policy, ..Options::default() });
    let data = vec![7_u8; PUT_BYTES];
    let keys: Vec<Key> = (0..4 * held).map(key).collect();
    let mut next = 0;
    let mut put = || {
        next = (next + 1) % keys.len();
        let program = Program { data: &data, cost_us: 10_000, group: (next / 100) as u32, ..Program::default() };
        cache.put(&keys[next], &program).expect("memory");
    };
    (0..2 * held).for_each(|_| put());
    let put_us = least_of(runs, || (0..puts).for_each(|_| put())) / f64::from(puts);
    let mut copies = vec![Vec::new(); held as usize];
    let mut place = 0;
    let mut copy = || {
        place = (place + 1) % copies.len();
        copies[place] = black_box(&data).clone();
    };
    (0..held).for_each(|_| copy());
    let copy_us = least_of(runs, || (0..puts).for_each(|_| copy())) / f64::from(puts);
    json!({ "name": name, "us": put_us, "copy_us": copy_us, "beside_copy_us": put_us - copy_us })
}

fn print_put(row: &Value) {
    println!(
        "put, {:10}: {:.2} us, of which {:.2} copying: {:.2} beside that",
        row["name"].as_str().unwrap_or(""),
        number(&row["us"]),
        number(&row["copy_us"]),
        number(&row["beside_copy_us"])
    );
}

// Policies.

#[derive(Clone, Copy)]
struct Asked {
    program: u64,
    bytes: usize,
    cost_us: u64,
    group: u32,
}

fn traces(settings: &Settings) -> Result<Vec<(String, Vec<Asked>)>, String> {
    let failed = |path: &str, error: std::io::Error| format!("{path}: {error}");
    if let Some(path) = &settings.trace {
        let text = std::fs::read_to_string(path).map_err(|error| failed(path, error))?;
        return Ok(vec![(path.clone(), parse_trace(path, &text)?)]);
    }
    if let Some(path) = &settings.write {
        let mut text = String::new();
        for Asked { program, bytes, cost_us, group } in generated(1) {
            let _ = writeln!(text, "{program} {bytes} {cost_us} {group}");
        }
        std::fs::write(path, text).map_err(|error| failed(path, error))?;
    }
    let seeds = 1..=if settings.quick { 2 } else { 10 };
    let recorded = parse_trace("programs.txt", include_str!("../../tests/fixtures/programs.txt"))?;
    let generated = seeds.map(|seed| (format!("seed {seed}"), generated(seed)));
    Ok(std::iter::once(("recorded".to_string(), recorded)).chain(generated).collect())
}

fn parse_trace(path: &str, text: &str) -> Result<Vec<Asked>, String> {
    let is_asked = |line: &str| !line.trim().is_empty() && !line.starts_with('#');
    let lines = text.lines().enumerate().filter(|(_, line)| is_asked(line));
    let asked = lines.map(|(line, text)| {
        read(text).ok_or_else(|| format!("{path}, line {}: expected program, bytes, cost in us, group", line + 1))
    });
    asked.collect()
}

fn read(line: &str) -> Option<Asked> {
    let mut words = line.split_whitespace();
    let mut word = || words.next()?.parse::<u64>().ok();
    let (program, bytes, cost_us, group) = (word()?, word()?, word()?, word()?);
    Some(Asked { program, bytes: usize::try_from(bytes).ok()?, cost_us, group: u32::try_from(group).ok()? })
}

const PROGRAMS: usize = 4000;
const LEVELS: usize = 40;
const PER_LEVEL: usize = PROGRAMS / LEVELS;

/// Places from 0 on, the k-th with a weight of 1 / (k + 1)^exponent.
struct Zipf(Vec<f64>);

impl Zipf {
    fn new(places: usize, exponent: f64) -> Self {
        let mut sum = 0.0;
        let weights = (1..=places).map(|place| (place as f64).powf(-exponent));
        Self(
            weights
                .map(|weight| {
                    sum += weight;
                    sum
                })
                .collect(),
        )
    }

    fn draw(&self, random: &mut Random) -> usize {
        let wanted = random.share() * self.0[self.0.len() - 1];
        self.0.partition_point(|sum| *sum <= wanted).min(self.0.len() - 1)
    }
}

/// As the help says.
fn generated(seed: u64) -> Vec<Asked> {
    let mut random = Random(seed);
    let programs: Vec<Asked> = (0..PROGRAMS)
        .map(|program| {
            let times_median = (0.8 * random.normal()).exp();
            let bytes = (4800.0 * times_median).clamp(200.0, 199_000.0);
            let cost_us = 10_000.0 * random.normal().exp() * times_median.sqrt();
            let (bytes, cost_us) = (bytes as usize, cost_us as u64);
            Asked { program: program as u64, bytes, cost_us, group: (program / PER_LEVEL) as u32 }
        })
        .collect();
    let mut popular: Vec<usize> = (0..PROGRAMS).collect();
    (1..PROGRAMS).rev().for_each(|place| popular.swap(place, random.next() as usize % (place + 1)));
    let (of_levels, of_all, of_session) =
        (Zipf::new(LEVELS, 1.0), Zipf::new(PROGRAMS, 0.9), Zipf::new(3 * PER_LEVEL, 0.9));
    let mut trace = Vec::new();
    for session in 0..120 {
        if session % 10 == 9 {
            let first = random.next() as usize % LEVELS;
            let scanned = (first..first + 8).flat_map(|level| (0..PER_LEVEL).map(move |place| (level % LEVELS, place)));
            trace.extend(scanned.map(|(level, place)| programs[level * PER_LEVEL + place]));
        }
        let levels = [(); 3].map(|()| of_levels.draw(&mut random));
        for _ in 0..600 {
            let program = if random.share() < 0.9 {
                let place = of_session.draw(&mut random);
                levels[place % 3] * PER_LEVEL + place / 3
            } else {
                popular[of_all.draw(&mut random)]
            };
            trace.push(programs[program]);
        }
    }
    trace
}

/// Bytes that the default options count for the programs of a trace, each once.
fn bytes_of_all(trace: &[Asked]) -> u64 {
    let mut programs: Vec<(u64, usize)> = trace.iter().map(|asked| (asked.program, asked.bytes)).collect();
    programs.sort_unstable();
    programs.dedup_by_key(|(program, _)| *program);
    programs.iter().map(|(_, bytes)| *bytes as u64 + 32).sum()
}

/// Share of the build time that no policy can save more of: between two times that a program is asked for it takes its
/// room for so long, or it is missed; all those stays together have the cache's room for the whole of the trace.
fn bound(trace: &[Asked], limit_bytes: u64) -> f64 {
    let mut last = HashMap::new();
    let mut stays = Vec::new();
    for (place, asked) in trace.iter().enumerate() {
        if let Some(before) = last.insert(asked.program, place) {
            stays.push((asked.cost_us as f64, (asked.bytes as f64 + 32.0) * (place - before) as f64));
        }
    }
    stays.sort_by(|(one_cost, one), (other_cost, other)| (other_cost / other).total_cmp(&(one_cost / one)));
    let mut room = limit_bytes as f64 * trace.len() as f64;
    let mut saved = 0.0;
    for (cost, takes) in stays {
        saved += cost * (room / takes).min(1.0);
        room = (room - takes).max(0.0);
    }
    saved / trace.iter().map(|asked| asked.cost_us as f64).sum::<f64>()
}

/// Share of the build time that the cache saves, and of the programs asked for that it has.
fn replay(trace: &[Asked], policy: Policy, limit_bytes: u64) -> (f64, f64) {
    let cache = cache(Options { limit_bytes, policy, ..Options::default() });
    let nothing = vec![0; trace.iter().map(|asked| asked.bytes).max().unwrap_or(0)];
    let (mut saved, mut all, mut hits) = (0.0, 0.0, 0.0);
    for asked in trace {
        let name = key(asked.program);
        all += asked.cost_us as f64;
        if cache.get(&name).is_some() {
            saved += asked.cost_us as f64;
            hits += 1.0;
        } else {
            let (data, cost_us, group) = (&nothing[..asked.bytes], asked.cost_us, asked.group);
            cache.put(&name, &Program { data, cost_us, group, ..Program::default() }).expect("memory");
        }
    }
    (saved / all, hits / trace.len() as f64)
}

fn policy_row(name: &str, trace: &[Asked]) -> Value {
    let limit = bytes_of_all(trace) / 10;
    let results = POLICIES.map(|(policy_name, policy)| {
        let (saved, hits) = replay(trace, policy, limit);
        (policy_name, saved, hits)
    });
    let bound = bound(trace, limit);
    let mut row = json!({ "name": name, "asked": trace.len(), "limit_bytes": limit, "bound": bound });
    for (policy, saved, hits) in results {
        row[policy] = json!({ "saved": saved, "hits": hits, "saved_over_lru": saved / results[0].1 });
    }
    row
}

fn print_policies(row: &Value) {
    println!(
        "{}: {} programs asked for, room for {} bytes",
        row["name"].as_str().unwrap_or(""),
        row["asked"],
        row["limit_bytes"]
    );
    for (policy, _) in POLICIES {
        let of = &row[policy];
        println!(
            "  {policy:10}: saves {:4.1} % of the build time, {:.2} x what lru saves; {:4.1} % hits",
            100.0 * number(&of["saved"]),
            number(&of["saved_over_lru"]),
            100.0 * number(&of["hits"])
        );
    }
    println!("  none      : saves more than {:4.1} %", 100.0 * number(&row["bound"]));
}
