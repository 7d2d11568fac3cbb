//! Tables and JSON.

use hobgoblin_bench::timing::median;
use serde_json::{Value, json};

use crate::hard::Family;
use crate::measure::{Measured, Spread};
use crate::scenario::Kind;

pub struct Row {
    pub size: usize,
    /// The generator, or the file.
    pub source: &'static str,
    pub kind: Kind,
    pub measured: Measured,
    /// Number of answers that differ from the known optimum, where one is known.
    pub differing: Option<usize>,
}

pub struct HardRow {
    pub family: Family,
    pub settings: usize,
    pub options: usize,
    pub range: u64,
    pub measured: Measured,
}

#[derive(Default)]
pub struct Report {
    pub rows: Vec<Row>,
    pub hard: Vec<HardRow>,
}

/// Targets of a row, in microseconds, for instances as of an engine.
#[derive(Default)]
struct Targets {
    cold_mean: Option<f64>,
    warm_median: Option<f64>,
}

/// The p99 of a cold solve may be this many times the median.
const MOST_TAIL: f64 = 6.0;

impl Row {
    fn targets(&self) -> Targets {
        if !matches!(self.source, "Engine" | "Ladders" | "file") {
            return Targets::default();
        }
        let (cold, warm) = match self.size {
            10 => (Some(3.0), None),
            50 => (Some(10.0), Some(8.0)),
            200 => (Some(45.0), None),
            1000 => (Some(300.0), Some(100.0)),
            10_000 => (Some(2500.0), None),
            _ => (None, None),
        };
        Targets { cold_mean: cold.filter(|_| self.kind.sigmas == 4.0), warm_median: warm }
    }
}

fn verdict(number: f64, target: Option<f64>) -> String {
    match target {
        Some(target) if number <= target => format!("{:.2} of {target} met", number / target),
        Some(target) => format!("{:.2} of {target} NOT MET", number / target),
        None => "-".into(),
    }
}

impl Report {
    pub fn print(&self) {
        println!(
            "cold: us, then passes over the options (floors)\n{:>6} {:6} {:12} {:>5} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>6} {:>6} {:>7} {:>7}  {:22} {:14} to the optimum",
            "N",
            "kind",
            "instances",
            "count",
            "proven",
            "gap max",
            "median",
            "mean",
            "p99",
            "worst",
            "median",
            "mean",
            "p99",
            "worst",
            "target of the mean",
            "of p99/median"
        );
        self.rows.iter().for_each(Row::print_cold);
        println!(
            "\nwarm: us\n{:>6} {:6} {:12} {:>7} {:>8} {:>8} {:>9}  target of the median",
            "N", "kind", "instances", "median", "p99", "frame", "gap max"
        );
        self.rows.iter().filter(|row| !row.measured.warm.is_empty()).for_each(Row::print_warm);
        if !self.hard.is_empty() {
            println!(
                "\nhard family                           N x options  range      proven  gap max   nodes p50    nodes max  p50 us"
            );
        }
        self.hard.iter().for_each(HardRow::print);
    }

    pub fn print_json(&self) {
        let rows: Vec<_> = self.rows.iter().map(Row::json).collect();
        let hard: Vec<_> = self.hard.iter().map(HardRow::json).collect();
        println!("{}", json!({ "rows": rows, "hard": hard }));
    }
}

impl Row {
    fn print_cold(&self) {
        let Self { size, kind, source, measured, .. } = self;
        let Spread { median, mean, p99, worst } = measured.cold();
        let floors = measured.cold_in_floors();
        let targets = self.targets();
        println!(
            "{size:>6} {:6} {source:12} {:>5} {:>6.1}% {:>8.1e} {median:>8.1} {mean:>8.1} {p99:>8.1} {worst:>8.1} {:>6.0} {:>6.0} {:>7.0} {:>7.0}  {:22} {:14} {}",
            kind.name,
            measured.instances,
            100.0 * measured.proven as f64 / measured.instances as f64,
            measured.greatest_gap(),
            floors.median,
            floors.mean,
            floors.p99,
            floors.worst,
            verdict(mean, targets.cold_mean),
            verdict(p99 / median, targets.cold_mean.map(|_| MOST_TAIL)),
            self.differing.map_or("-".into(), |count| format!("{count} differ")),
        );
    }

    fn print_warm(&self) {
        let Self { size, kind, source, measured, .. } = self;
        let warm = median(&measured.warm);
        println!(
            "{size:>6} {:6} {source:12} {warm:>7.1} {:>8.1} {:>8.1} {:>9.1e}  {}",
            kind.name,
            Measured::p99(&measured.warm),
            median(&measured.frame),
            measured.greatest_warm_gap(),
            verdict(warm, self.targets().warm_median),
        );
    }

    fn json(&self) -> Value {
        let mut row = json_of(&self.measured);
        let targets = self.targets();
        row["settings"] = json!(self.size);
        row["kind"] = json!(self.kind.name);
        row["source"] = json!(self.source);
        row["cold_mean_target_us"] = json!(targets.cold_mean);
        row["warm_median_target_us"] = json!(targets.warm_median);
        row["differing"] = json!(self.differing);
        row
    }
}

impl HardRow {
    fn print(&self) {
        let measured = &self.measured;
        println!(
            "{:36} {:>4} x {:<8} {:<10} {:>3}/{:<3} {:>8.1e} {:>11.0} {:>12.0} {:>10.0}",
            format!("{:?}", self.family),
            self.settings,
            self.options,
            self.range,
            measured.proven,
            measured.instances,
            measured.greatest_gap(),
            median(&measured.nodes),
            Measured::p99(&measured.nodes),
            median(&measured.cold),
        );
    }

    fn json(&self) -> Value {
        let mut row = json_of(&self.measured);
        row["family"] = json!(format!("{:?}", self.family));
        row["settings"] = json!(self.settings);
        row["options_each"] = json!(self.options);
        row["range"] = json!(self.range);
        row
    }
}

fn json_of(measured: &Measured) -> Value {
    json!({
        "instances": measured.instances,
        "options": measured.options / measured.instances as f64,
        "proven": measured.proven,
        "feasible": measured.feasible,
        "gap_max": measured.greatest_gap(),
        "nodes_median": median(&measured.nodes),
        "cold_us": json_of_spread(measured.cold()),
        "cold_in_floors": json_of_spread(measured.cold_in_floors()),
        "floor_median_us": median(&measured.floor),
        "warm_median_us": median(&measured.warm),
        "warm_p99_us": Measured::p99(&measured.warm),
        "frame_median_us": median(&measured.frame),
        "warm_gap_max": measured.greatest_warm_gap(),
    })
}

fn json_of_spread(spread: Spread) -> Value {
    let Spread { median, mean, p99, worst } = spread;
    json!({ "median": median, "mean": mean, "p99": p99, "worst": worst })
}
