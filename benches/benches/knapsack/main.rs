//! The exact knapsack: its speed and its proofs, against its targets and against one pass over the options.
//!
//! `cargo bench -p hobgoblin-bench --bench knapsack -- --help`

mod floor;
mod hard;
mod measure;
mod random;
mod report;
mod scenario;
mod shipped;

use std::path::{Path, PathBuf};

use hobgoblin::knapsack::{Effort, Knapsack};
use hobgoblin_bench::options::Operand;
use measure::Measured;
use report::{HardRow, Report, Row};
use scenario::{GENERATORS, Generator, Instance, KINDS, Kind};
use shipped::Dump;

const HELP: &str = "\
Benchmark of the exact multiple-choice knapsack.

  cargo bench -p hobgoblin-bench --bench knapsack -- [options]

  --quick       few instances: a few seconds
  --seeds N     instances of each row. Default: 100
  --json        print JSON instead of tables
  --only WORD   only rows whose name (such as \"50 norm4 Ladders\", or a hard family) contains the word
  --dump FILE   write instances up to 50 settings with our answers, for tools/check_knapsack.py
  --help        this page

HOB_KNAPSACK_DATA=dir: run on the instances with known optima in dir (n10.json.gz, ...) instead of generated ones,
and compare.

Instances: Engine, as of an engine; Ladders, where nearly every option may be part of the optimum; Uncorrelated and
Correlated, Pisinger's families of 10 options with uncertain burdens. Columns: instances; share proven; greatest
certified gap; cold: a solve that remembers nothing (the least of five per instance), with its distribution over the
instances; the same in floors, which are vectorised single-precision passes over the options; warm: frame after frame
the means move by 1 %, accepted gap 0.1 %; frame: the same with clearing and adding the settings. With 10000 settings a
gap of 0.01 % is accepted. Hard families: at the default node limit.
";

#[derive(Default)]
struct Options {
    quick: bool,
    seeds: Option<u64>,
    json: bool,
    only: Option<String>,
    dump: Option<PathBuf>,
    data: Option<PathBuf>,
}

fn main() -> std::process::ExitCode {
    let options = Options { data: std::env::var_os("HOB_KNAPSACK_DATA").map(PathBuf::from), ..Options::default() };
    let take = |options: &mut Options, word: &str, operand: &mut Operand<'_>| {
        match word {
            "--quick" => options.quick = true,
            "--seeds" => options.seeds = Some(operand.parsed()?),
            "--json" => options.json = true,
            "--only" => options.only = Some(operand.text()?),
            "--dump" => options.dump = Some(operand.parsed()?),
            _ => return Ok(false),
        }
        Ok(true)
    };
    hobgoblin_bench::options::run(HELP, options, take, run)
}

/// Number of settings, instances solved warm, and frames of each.
const SIZES: [(usize, u64, u64); 5] = [(10, 40, 50), (50, 30, 50), (200, 12, 40), (1000, 6, 30), (10_000, 2, 10)];

impl Options {
    fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|word| name.contains(word))
    }

    fn less(&self, count: u64) -> u64 {
        if self.quick { count.div_ceil(5) } else { count }
    }

    fn seeds(&self, size: usize) -> u64 {
        let seeds = self.seeds.unwrap_or(self.less(100));
        if size >= 10_000 { seeds.div_ceil(20) } else { seeds }
    }
}

fn run(options: &Options) -> Result<(), String> {
    let mut report = Report::default();
    let mut dump = Dump::new();
    for (size, warm, frames) in SIZES {
        let warm = (options.less(warm), options.less(frames));
        for kind in KINDS {
            match &options.data {
                Some(directory) if options.wants(&format!("{size} {}", kind.name)) => {
                    report.rows.extend(shipped_row(directory, size, kind, warm, &mut dump)?);
                }
                Some(_) => {}
                None => report.rows.extend(generated_rows(options, size, kind, warm, &mut dump)),
            }
        }
    }
    if options.data.is_none() {
        for family in hard::FAMILIES {
            if options.wants(&format!("{family:?}")) {
                hard_rows(family, options.quick, &mut report, &mut dump);
            }
        }
    }
    if options.json {
        report.print_json()
    } else {
        report.print()
    }
    match &options.dump {
        Some(path) => dump.write(path).map_err(|error| format!("{}: {error}", path.display())),
        None => Ok(()),
    }
}

fn effort(size: usize) -> Effort {
    Effort { accepted_gap: if size >= 10_000 { 1e-4 } else { 0.0 }, ..Effort::default() }
}

fn reserved(instance: &Instance) -> Knapsack {
    let mut knapsack = Knapsack::new();
    knapsack.reserve(instance.settings.len(), instance.option_count()).expect("memory");
    knapsack
}

/// Only instances as of an engine have all kinds and are solved warm. Others show the tail of a cold solve.
fn generated_rows(options: &Options, size: usize, kind: Kind, (warm, frames): (u64, u64), dump: &mut Dump) -> Vec<Row> {
    let mut rows = Vec::new();
    for generator in GENERATORS {
        let is_engine = generator == Generator::Engine;
        let is_row = is_engine || kind.sigmas == 4.0 && size < 10_000;
        if !is_row || !options.wants(&format!("{size} {} {generator:?}", kind.name)) {
            continue;
        }
        let mut measured = Measured::default();
        for seed in 0..options.seeds(size) {
            let instance = generator.instance(size, kind, seed);
            let mut knapsack = reserved(&instance);
            let solution = measured.measure_cold(&mut knapsack, &instance, effort(size));
            if size <= 50 && seed < 60 {
                dump.add(&instance, &solution, knapsack.choices());
            }
            if is_engine && seed < warm {
                measured.measure_warm(&mut knapsack, &instance, frames);
            }
        }
        rows.push(Row { size, kind, source: generator.name(), measured, differing: None });
    }
    rows
}

fn shipped_row(
    directory: &Path,
    size: usize,
    kind: Kind,
    (warm, frames): (u64, u64),
    dump: &mut Dump,
) -> Result<Option<Row>, String> {
    let path = directory.join(format!("n{size}.json.gz"));
    if !path.exists() {
        return Ok(None);
    }
    let mut measured = Measured::default();
    let mut differing = 0;
    for (index, (instance, optimum)) in shipped::read(&path, kind)?.iter().enumerate() {
        let mut knapsack = reserved(instance);
        let solution = measured.measure_cold(&mut knapsack, instance, effort(size));
        let known = optimum.is_some_and(|best| (solution.value - best).abs() <= 1e-6 * best.abs().max(1e-3));
        differing += usize::from(solution.feasible != optimum.is_some() || solution.feasible && !known);
        if size <= 50 {
            dump.add(instance, &solution, knapsack.choices());
        }
        if (index as u64) < warm {
            measured.measure_warm(&mut knapsack, instance, frames);
        }
    }
    Ok(Some(Row { size, kind, source: "file", measured, differing: Some(differing) }))
}

/// Number of settings, options of each, range of the weights, and seeds.
const HARD: [(usize, usize, u64, u64); 6] = [
    (50, 2, 1000, 5),
    (50, 10, 1000, 5),
    (200, 10, 1000, 2),
    (50, 2, 1_000_000, 3),
    (50, 10, 1_000_000, 3),
    (200, 10, 1_000_000, 1),
];

fn hard_rows(family: hard::Family, quick: bool, report: &mut Report, dump: &mut Dump) {
    for (settings, options, range, seeds) in HARD {
        if quick && range > 1000 {
            continue;
        }
        let mut measured = Measured::default();
        for seed in 0..if quick { 1 } else { seeds } {
            let instance = family.instance(seed, settings, options, range);
            let mut knapsack = reserved(&instance);
            let solution = measured.measure_cold(&mut knapsack, &instance, Effort::default());
            if range <= 1000 && settings <= 50 {
                dump.add(&instance, &solution, knapsack.choices());
            }
        }
        report.hard.push(HardRow { family, settings, options, range, measured });
    }
}
