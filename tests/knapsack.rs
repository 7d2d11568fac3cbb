//! The knapsack against known optima and against a plain dynamic program.
#![cfg(feature = "goblin")]

use std::io::Read;
use std::path::Path;

use hobgoblin::knapsack::{Candidate, Economy, Effort, Knapsack, Solution};
use serde_json::Value;

/// Every question the file knows the answer of: per instance the scalar one, and those with 3 and 4 sigmas.
struct Question {
    name: String,
    settings: Vec<Vec<Candidate>>,
    economy: Economy,
    /// None when nothing fits.
    optimum: Option<f64>,
}

fn questions(path: &Path) -> Vec<Question> {
    let file = std::fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("gzip");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let instances = document["instances"].as_array().expect("instances");
    let economies = [("scalar", 0.0), ("norm3", 3.0), ("norm4", 4.0)];
    instances.iter().flat_map(|instance| economies.map(|(name, sigmas)| question(instance, name, sigmas))).collect()
}

fn question(instance: &Value, name: &str, sigmas: f64) -> Question {
    let number = |value: &Value| value.as_f64().expect("a number");
    let candidate = |option: &Value| match sigmas {
        0.0 => Candidate { value: number(&option["value"]), mean: number(&option["burden"]), variance: 0.0 },
        _ => Candidate {
            value: number(&option["value"]),
            mean: number(&option["mean"]),
            variance: number(&option["variance"]),
        },
    };
    let setting = |options: &Value| options.as_array().expect("options").iter().map(candidate).collect();
    let answer = &instance["optimum"][name];
    Question {
        name: format!("{name} of seed {}", instance["seed"]),
        settings: instance["settings"].as_array().expect("settings").iter().map(setting).collect(),
        economy: Economy { capacity: number(&instance["capacity"]), sigmas },
        optimum: (number(&answer["status"]) != 0.0).then(|| number(&answer["best"])),
    }
}

fn filled(settings: &[Vec<Candidate>]) -> Knapsack {
    let mut knapsack = Knapsack::new();
    for options in settings {
        knapsack.add_setting(options).expect("valid options");
    }
    knapsack
}

fn assert_answered(question: &Question) {
    let mut knapsack = filled(&question.settings);
    let solution = knapsack.solve(question.economy, Effort::default()).expect("a solution");
    let name = &question.name;
    assert!(solution.proven, "{name}: {solution:?}");
    assert_eq!(solution.feasible, question.optimum.is_some(), "{name}: {solution:?}");
    if let Some(optimum) = question.optimum {
        let tolerance = 1e-6 * optimum.abs().max(1e-3);
        assert!((solution.value - optimum).abs() <= tolerance, "{name}: the optimum is {optimum}: {solution:?}");
        assert!(solution.gap == 0.0 && solution.upper_bound == solution.value, "{name}: {solution:?}");
    }
    assert_reported_truly(&question.settings, question.economy, &solution, knapsack.choices());
}

/// The report is the sum over the choices in setting order.
fn assert_reported_truly(settings: &[Vec<Candidate>], economy: Economy, solution: &Solution, choices: &[u16]) {
    let (mut value, mut mean, mut variance) = (0.0, 0.0, 0.0);
    for (options, &choice) in settings.iter().zip(choices) {
        let option = options[choice as usize];
        (value, mean, variance) = (value + option.value, mean + option.mean, variance + option.variance);
    }
    assert_eq!((solution.value, solution.mean, solution.variance), (value, mean, variance));
    assert_eq!(solution.burden, mean + economy.sigmas * f64::sqrt(variance));
    assert_eq!(solution.excess, if solution.feasible { 0.0 } else { solution.burden - economy.capacity });
}

fn assert_all_answered(path: &Path) {
    let questions = questions(path);
    assert!(!questions.is_empty());
    questions.iter().for_each(assert_answered);
}

fn fixture(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/knapsack").join(name)
}

#[test]
fn ten_settings_are_solved_to_the_known_optimum() {
    assert_all_answered(&fixture("n10.json.gz"));
}

#[test]
fn fifty_settings_are_solved_to_the_known_optimum() {
    assert_all_answered(&fixture("n50.json.gz"));
}

#[test]
fn larger_instances_are_solved_to_the_known_optimum_where_their_data_is_at_hand() {
    if let Some(directory) = std::env::var_os("HOB_KNAPSACK_DATA") {
        assert_all_answered(&Path::new(&directory).join("n200.json.gz"));
        assert_all_answered(&Path::new(&directory).join("n1000.json.gz"));
    }
}
