//! The savings of each policy of the memory tier, with room for a tenth of the requested programs.

use std::collections::HashMap;
use std::fmt::Write;

use hobgoblin::program_cache::{Options, Policy, Program};
use hobgoblin_bench::random::Random;
use serde_json::{Value, json};

use crate::Settings;
use crate::blobs::key;
use crate::memory::cache;
use crate::report::number;

pub const POLICIES: [(&str, Policy); 3] =
    [("lru", Policy::LeastRecentlyUsed), ("cost_aware", Policy::CostAware), ("groups", Policy::Groups)];

#[derive(Clone, Copy)]
struct Asked {
    program: u64,
    bytes: usize,
    cost_us: u64,
    group: u32,
}

/// A row for each trace.
pub fn rows(settings: &Settings) -> Result<Vec<Value>, String> {
    Ok(traces(settings)?.iter().map(|(name, trace)| row(name, trace)).collect())
}

fn traces(settings: &Settings) -> Result<Vec<(String, Vec<Asked>)>, String> {
    let failed = |path: &str, error: std::io::Error| format!("{path}: {error}");
    if let Some(path) = &settings.trace {
        let text = std::fs::read_to_string(path).map_err(|error| failed(path, error))?;
        return Ok(vec![(path.clone(), parse(path, &text)?)]);
    }
    if let Some(path) = &settings.write {
        let mut text = String::new();
        for Asked { program, bytes, cost_us, group } in generated(1) {
            let _ = writeln!(text, "{program} {bytes} {cost_us} {group}");
        }
        std::fs::write(path, text).map_err(|error| failed(path, error))?;
    }
    let seeds = 1..=if settings.quick { 2 } else { 10 };
    let recorded = parse("programs.txt", include_str!("../../../tests/fixtures/programs.txt"))?;
    let generated = seeds.map(|seed| (format!("seed {seed}"), generated(seed)));
    Ok(std::iter::once(("recorded".to_string(), recorded)).chain(generated).collect())
}

fn parse(path: &str, text: &str) -> Result<Vec<Asked>, String> {
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

/// Indices from 0 on. Index k has the weight 1 / (k + 1)^exponent.
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

/// A generated trace, as the help describes it.
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
    random.shuffle(&mut popular);
    let (of_levels, of_all, of_session) =
        (Zipf::new(LEVELS, 1.0), Zipf::new(PROGRAMS, 0.9), Zipf::new(3 * PER_LEVEL, 0.9));
    let mut trace = Vec::new();
    for session in 0..120 {
        if session % 10 == 9 {
            let first = random.below(LEVELS);
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

/// Bytes of all programs of a trace, each counted once as the default options count it.
fn bytes_of_all(trace: &[Asked]) -> u64 {
    let mut programs: Vec<(u64, usize)> = trace.iter().map(|asked| (asked.program, asked.bytes)).collect();
    programs.sort_unstable();
    programs.dedup_by_key(|(program, _)| *program);
    programs.iter().map(|(_, bytes)| *bytes as u64 + 32).sum()
}

/// Upper bound for every policy: the largest share of the build time that it can save.
///
/// Between two requests, a program either occupies its room for the whole time or is missed. All these stays together
/// can use the cache's room times the length of the trace.
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

/// Share of the build time that the cache saves, and share of the requests that hit.
fn replay(trace: &[Asked], policy: Policy, limit_bytes: u64) -> (f64, f64) {
    let cache = cache(Options { limit_bytes, policy, ..Options::default() });
    let nothing = vec![0; trace.iter().map(|asked| asked.bytes).max().unwrap_or(0)];
    let (mut saved, mut all, mut hits) = (0.0, 0.0, 0.0);
    for asked in trace {
        let name = key(asked.program);
        all += asked.cost_us as f64;
        if cache.get(&name, None).is_some() {
            saved += asked.cost_us as f64;
            hits += 1.0;
        } else {
            let (data, cost_us, group) = (&nothing[..asked.bytes], asked.cost_us, asked.group);
            cache.put(&name, &Program { data, cost_us, group, ..Program::default() }, false).expect("memory");
        }
    }
    (saved / all, hits / trace.len() as f64)
}

fn row(name: &str, trace: &[Asked]) -> Value {
    let limit = bytes_of_all(trace) / 10;
    let results = POLICIES.map(|(policy_name, policy)| {
        let (saved, hits) = replay(trace, policy, limit);
        (policy_name, saved, hits)
    });
    let mut row = json!({ "name": name, "asked": trace.len(), "limit_bytes": limit, "bound": bound(trace, limit) });
    for (policy, saved, hits) in results {
        row[policy] = json!({ "saved": saved, "hits": hits, "saved_over_lru": saved / results[0].1 });
    }
    row
}

pub fn print(row: &Value) {
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
    println!("  bound     : no policy saves more than {:4.1} %", 100.0 * number(&row["bound"]));
}
