//! Tables and JSON.

use hobgoblin_bench::timing::median;
use serde_json::{Value, json};

use crate::hard::Family;
use crate::measure::Measured;
use crate::scenario::Kind;

pub struct Row {
    pub size: usize,
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

/// Allowed microseconds of a cold solve with 4 sigmas, and of a warm one.
fn targets(size: usize, kind: Kind) -> (Option<f64>, Option<f64>) {
    let cold = match size {
        10 => Some(3.0),
        50 => Some(10.0),
        200 => Some(45.0),
        1000 => Some(300.0),
        10_000 => Some(2500.0),
        _ => None,
    };
    let warm = match size {
        50 => Some(8.0),
        1000 => Some(100.0),
        _ => None,
    };
    (cold.filter(|_| kind.sigmas == 4.0), warm)
}

fn verdict(time: f64, target: Option<f64>) -> String {
    match target {
        Some(target) if time <= target => format!("{:.2} of {target} met", time / target),
        Some(target) => format!("{:.2} of {target} NOT MET", time / target),
        None => "-".into(),
    }
}

impl Report {
    pub fn print(&self) {
        if !self.rows.is_empty() {
            println!(
                "{:>6} {:6} {:>4} {:>7} {:>9} {:>9} {:>8} {:>8} {:>6}  {:22} {:>7} {:>7} {:>8} {:>9}  target of warm",
                "N",
                "kind",
                "inst",
                "proven",
                "gap mean",
                "gap max",
                "cold p50",
                "p99",
                "floor",
                "target of cold",
                "warm",
                "p99",
                "frame",
                "gap max"
            );
        }
        self.rows.iter().for_each(Row::print);
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
    fn print(&self) {
        let Self { size, kind, measured, .. } = self;
        let (cold, warm) = (median(&measured.cold), median(&measured.warm));
        let (cold_target, warm_target) = targets(*size, *kind);
        println!(
            "{size:>6} {:6} {:>4} {:>6.1}% {:>9.1e} {:>9.1e} {cold:>8.1} {:>8.1} {:>6.0}  {:22} {warm:>7.1} {:>7.1} {:>8.1} {:>9.1e}  {}{}",
            kind.name,
            measured.instances,
            100.0 * measured.proven as f64 / measured.instances as f64,
            measured.mean_gap(),
            measured.greatest_gap(),
            Measured::p99(&measured.cold),
            measured.ratio_to_floor(),
            verdict(cold, cold_target),
            Measured::p99(&measured.warm),
            median(&measured.frame),
            measured.greatest_warm_gap(),
            verdict(warm, warm_target),
            self.differing.map_or(String::new(), |count| format!("  {count} differ from the known optimum")),
        );
    }

    fn json(&self) -> Value {
        let mut row = json_of(&self.measured);
        let (cold, warm) = targets(self.size, self.kind);
        row["settings"] = json!(self.size);
        row["kind"] = json!(self.kind.name);
        row["cold_target_us"] = json!(cold);
        row["warm_target_us"] = json!(warm);
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
        "gap_mean": measured.mean_gap(),
        "gap_max": measured.greatest_gap(),
        "nodes_median": median(&measured.nodes),
        "cold_median_us": median(&measured.cold),
        "cold_p99_us": Measured::p99(&measured.cold),
        "floor_median_us": median(&measured.floor),
        "ratio_to_floor": measured.ratio_to_floor(),
        "warm_median_us": median(&measured.warm),
        "warm_p99_us": Measured::p99(&measured.warm),
        "frame_median_us": median(&measured.frame),
        "warm_gap_max": measured.greatest_warm_gap(),
    })
}
