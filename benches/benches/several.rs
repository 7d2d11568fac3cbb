//! The knapsack of several resources: its speed and distance to the optimum, compared with one pass over the options.
//!
//! `cargo bench -p hobgoblin-bench --bench several -- --help`

use std::io::Read;
use std::path::{Path, PathBuf};

use hobgoblin::knapsack::several::{Answer, Several, Weight};
use hobgoblin::knapsack::{Economy, Effort};
use hobgoblin_bench::options::Operand;
use hobgoblin_bench::random::Random;
use hobgoblin_bench::timing::{least_of, median, microseconds, quantile};
use serde_json::{Value, json};

const HELP: &str = "\
Benchmark of the multiple-choice knapsack with several resources.

  cargo bench -p hobgoblin-bench --bench several -- [options]

  --quick      few instances: a few seconds
  --json       print JSON instead of a table
  --nodes N    node limit of the timed solves. Default: 3000
  --only WORD  only rows whose name contains the word
  --help       this page

HOB_KNAPSACK_DATA=dir: the first row is three_resources_n50.json.gz from there, with its optima, instead of generated.

Columns: options per instance; share proven within the node limit; true gap to the optimum, mean and greatest, over the
instances whose optimum is known from the file or proven by a long run, and how many those are; certified gap, mean and
greatest, and by how much it is least above the true one; microseconds of a cold solve, the least of three per
instance, median and p99 over instances; one pass: a solve in plain passes over the options (value minus price times
weight, best of each setting); microseconds of a warm frame, in which all weights moved by 1 % and a gap of 0.5 % is
accepted, and its certified gap.
";

/// Accepted gap of a frame after the first.
const WARM_GAP: f64 = 5e-3;

#[derive(Clone)]
struct Instance {
    resources: usize,
    /// Values, and weights by option and resource.
    settings: Vec<(Vec<f64>, Vec<Weight>)>,
    economies: Vec<Economy>,
    optimum: Option<f64>,
}

struct Options {
    quick: bool,
    json: bool,
    nodes: u64,
    only: Option<String>,
    data: Option<PathBuf>,
}

fn main() -> std::process::ExitCode {
    let data = std::env::var_os("HOB_KNAPSACK_DATA").map(PathBuf::from);
    let options = Options { quick: false, json: false, nodes: 3000, only: None, data };
    let take = |options: &mut Options, word: &str, operand: &mut Operand<'_>| {
        match word {
            "--quick" => options.quick = true,
            "--json" => options.json = true,
            "--nodes" => options.nodes = operand.parsed()?,
            "--only" => options.only = Some(operand.text()?),
            _ => return Ok(false),
        }
        Ok(true)
    };
    hobgoblin_bench::options::run(HELP, options, take, run)
}

#[derive(Clone, Copy)]
struct Shape {
    settings: usize,
    resources: usize,
    sigmas: f64,
}

const SHAPES: [Shape; 7] = [
    Shape { settings: 50, resources: 3, sigmas: 0.0 },
    Shape { settings: 10, resources: 3, sigmas: 0.0 },
    Shape { settings: 50, resources: 2, sigmas: 0.0 },
    Shape { settings: 50, resources: 8, sigmas: 0.0 },
    Shape { settings: 50, resources: 3, sigmas: 3.0 },
    Shape { settings: 200, resources: 3, sigmas: 0.0 },
    Shape { settings: 1000, resources: 3, sigmas: 0.0 },
];

impl Shape {
    fn name(self) -> String {
        let Self { settings, resources, sigmas } = self;
        format!("{settings} settings, {resources} resources, {sigmas} sigmas")
    }

    /// Ladders of 2 to 7 options. Their values rise with decreasing increments; their weights rise, each resource on
    /// its own scale.
    fn instance(self, seed: u64) -> Instance {
        let mut random = Random(seed);
        let settings: Vec<_> = (0..self.settings).map(|_| self.ladder(&mut random)).collect();
        let economies = (0..self.resources)
            .map(|resource| {
                let dearest =
                    |(_, weights): &(Vec<f64>, Vec<Weight>)| weights[weights.len() - self.resources + resource];
                let most: f64 = settings.iter().map(|setting| dearest(setting).mean).sum();
                Economy { capacity: most * (0.3 + 0.3 * random.share()), sigmas: self.sigmas }
            })
            .collect();
        Instance { resources: self.resources, settings, economies, optimum: None }
    }

    fn ladder(self, random: &mut Random) -> (Vec<f64>, Vec<Weight>) {
        let options = 2 + (random.share() * 6.0) as usize;
        let (scale, bend) = (0.5 + 2.0 * random.share(), 0.4 + 0.5 * random.share());
        let measures: Vec<f64> = (0..self.resources).map(|_| random.share().powi(2)).collect();
        let mut values = Vec::new();
        let mut weights = Vec::new();
        for level in 0..options {
            let level = level as f64;
            values.push(scale * level.powf(bend) * (0.9 + 0.2 * random.share()));
            for &measure in &measures {
                let mean = measure * level * (0.8 + 0.4 * random.share());
                let deviation = if self.sigmas > 0.0 { mean * 0.3 * random.share() } else { 0.0 };
                weights.push(Weight { mean, variance: deviation * deviation });
            }
        }
        (values, weights)
    }
}

fn read(path: &Path) -> Result<Vec<Instance>, String> {
    let name = path.display();
    let file = std::fs::File::open(path).map_err(|error| format!("{name}: {error}"))?;
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).map_err(|error| format!("{name}: {error}"))?;
    let document: Value = serde_json::from_str(&text).map_err(|error| format!("{name}: {error}"))?;
    Ok(list(&document["instances"]).iter().map(instance).collect())
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

fn numbers(value: &Value) -> Vec<f64> {
    list(value).iter().map(|number| number.as_f64().unwrap_or(f64::NAN)).collect()
}

fn instance(instance: &Value) -> Instance {
    let capacity = numbers(&instance["capacity"]);
    let weights = |option: &Value| numbers(&option["burden"]).into_iter().map(|mean| Weight { mean, variance: 0.0 });
    let setting = |options: &Value| {
        let options = list(options);
        let values = options.iter().map(|option| option["value"].as_f64().unwrap_or(f64::NAN)).collect();
        (values, options.iter().flat_map(weights).collect())
    };
    Instance {
        resources: capacity.len(),
        settings: list(&instance["settings"]).iter().map(setting).collect(),
        economies: capacity.into_iter().map(|capacity| Economy { capacity, sigmas: 0.0 }).collect(),
        optimum: instance["optimum"].as_f64(),
    }
}

impl Instance {
    fn option_count(&self) -> usize {
        self.settings.iter().map(|(values, _)| values.len()).sum()
    }

    fn load(&self, several: &mut Several) {
        several.clear(self.resources).expect("a valid count");
        for (values, weights) in &self.settings {
            several.add_setting(values, weights).expect("valid options");
        }
    }

    fn solve(&self, several: &mut Several, accepted_gap: f64, node_limit: u64) -> Answer {
        several.solve(&self.economies, Effort { accepted_gap, node_limit }).expect("an answer")
    }

    fn jittered(&self, random: &mut Random) -> Self {
        let mut moved = self.clone();
        for weight in moved.settings.iter_mut().flat_map(|(_, weights)| weights) {
            weight.mean *= 0.99 + 0.02 * random.share();
        }
        moved
    }

    /// A pass over the options, in the simplest form.
    fn one_pass(&self, prices: &[f64]) -> f64 {
        let best = |(values, weights): &(Vec<f64>, Vec<Weight>)| {
            let options = values.iter().zip(weights.chunks_exact(self.resources));
            let score = |(value, weights): (&f64, &[Weight])| {
                value - weights.iter().zip(prices).map(|(weight, price)| price * weight.mean).sum::<f64>()
            };
            options.map(score).fold(f64::NEG_INFINITY, f64::max)
        };
        self.settings.iter().map(best).sum()
    }
}

#[derive(Default)]
struct Row {
    name: String,
    options: f64,
    instances: usize,
    proven: usize,
    true_gaps: Vec<f64>,
    certified_gaps: Vec<f64>,
    margins: Vec<f64>,
    cold: Vec<f64>,
    passes: Vec<f64>,
    warm: Vec<f64>,
    warm_gaps: Vec<f64>,
    nodes: Vec<f64>,
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

fn greatest(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(f64::NAN, f64::max)
}

fn least(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(f64::NAN, f64::min)
}

impl Row {
    fn measure(name: String, instances: &[Instance], options: &Options) -> Self {
        let mut row = Self { name, instances: instances.len(), ..Self::default() };
        let mut several = Several::new();
        for instance in instances {
            row.options += instance.option_count() as f64 / instances.len() as f64;
            row.measure_cold(&mut several, instance, options);
            row.measure_warm(&mut several, instance, options);
        }
        row
    }

    fn measure_cold(&mut self, several: &mut Several, instance: &Instance, options: &Options) {
        instance.load(several);
        let mut answer = None;
        let cold = (0..3).map(|_| {
            several.forget();
            microseconds(|| answer = Some(instance.solve(several, 0.0, options.nodes)))
        });
        self.cold.push(cold.fold(f64::INFINITY, f64::min));
        let answer = answer.expect("solved");
        self.nodes.push(answer.nodes as f64);
        self.proven += usize::from(answer.proven);
        self.certified_gaps.push(answer.gap);
        let prices = &answer.prices[..instance.resources];
        let pass = || _ = std::hint::black_box(instance.one_pass(std::hint::black_box(prices)));
        self.passes.push(least_of(5, pass));
        if let Some(optimum) = instance.optimum.or_else(|| proven_optimum(several, instance, options)) {
            let gap = (optimum - answer.value) / optimum.abs();
            self.true_gaps.push(gap);
            self.margins.push((answer.upper_bound - optimum) / optimum.abs());
        }
    }

    fn measure_warm(&mut self, several: &mut Several, instance: &Instance, options: &Options) {
        let mut random = Random(77);
        several.forget();
        for frame in 0..if options.quick { 5 } else { 30 } {
            let moved = instance.jittered(&mut random);
            moved.load(several);
            let mut answer = None;
            let time = microseconds(|| answer = Some(moved.solve(several, WARM_GAP, options.nodes)));
            if frame > 0 {
                self.warm.push(time);
                self.warm_gaps.push(answer.map_or(f64::NAN, |answer| answer.gap));
            }
        }
    }

    fn to_json(&self) -> Value {
        json!({
            "name": self.name, "instances": self.instances, "options": self.options, "proven": self.proven,
            "known": self.true_gaps.len(), "nodes": median(&self.nodes),
            "true_gap": { "mean": mean(&self.true_gaps), "max": greatest(&self.true_gaps) },
            "certified_gap": { "mean": mean(&self.certified_gaps), "max": greatest(&self.certified_gaps) },
            "bound_above_optimum": { "min": least(&self.margins) },
            "cold_us": { "median": median(&self.cold), "p99": quantile(&self.cold, 0.99) },
            "pass_us": median(&self.passes), "cold_in_passes": median(&self.cold) / median(&self.passes),
            "warm_us": { "median": median(&self.warm), "p99": quantile(&self.warm, 0.99) },
            "warm_certified_gap": { "mean": mean(&self.warm_gaps), "max": greatest(&self.warm_gaps) },
        })
    }

    fn print(&self) {
        let percent = |number: f64| 100.0 * number;
        println!("{}: {} instances of {:.0} options", self.name, self.instances, self.options);
        println!(
            "  proven {:3.0} %   true gap {:.4} % mean, {:.4} % max (of {})   certified {:.4} % mean, {:.4} % max; \
             bound least above optimum {:.1e}",
            percent(self.proven as f64 / self.instances as f64),
            percent(mean(&self.true_gaps)),
            percent(greatest(&self.true_gaps)),
            self.true_gaps.len(),
            percent(mean(&self.certified_gaps)),
            percent(greatest(&self.certified_gaps)),
            least(&self.margins),
        );
        println!(
            "  cold {:.1} us median, {:.1} p99 = {:.0} passes ({:.2} us each), {} nodes   warm {:.1} us median, {:.1} \
             p99, certified {:.4} % mean, {:.4} % max",
            median(&self.cold),
            quantile(&self.cold, 0.99),
            median(&self.cold) / median(&self.passes),
            median(&self.passes),
            median(&self.nodes),
            median(&self.warm),
            quantile(&self.warm, 0.99),
            percent(mean(&self.warm_gaps)),
            percent(greatest(&self.warm_gaps)),
        );
    }
}

/// The optimum from a long run; `None` if the run does not prove it.
fn proven_optimum(several: &mut Several, instance: &Instance, options: &Options) -> Option<f64> {
    let answer = instance.solve(several, 0.0, if options.quick { 1_000_000 } else { 30_000_000 });
    answer.proven.then_some(answer.value)
}

fn run(options: &Options) -> Result<(), String> {
    let mut rows = Vec::new();
    for (index, shape) in SHAPES.into_iter().enumerate() {
        let name = shape.name();
        if options.only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        let instances = match &options.data {
            Some(folder) if index == 0 => read(&folder.join("three_resources_n50.json.gz"))?,
            _ => (0..if options.quick { 5 } else { 20 }).map(|seed| shape.instance(seed)).collect(),
        };
        let row = Row::measure(name, &instances, options);
        if !options.json {
            row.print();
        }
        rows.push(row.to_json());
    }
    if options.json {
        println!("{}", json!({ "nodes": options.nodes, "rows": rows }));
    }
    Ok(())
}
