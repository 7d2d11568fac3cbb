//! Compares the knapsack with known optima and with a plain dynamic program.

use crate::testing::scaled;
use std::io::Read;
use std::path::Path;

use crate::knapsack::{Candidate, Economy, Effort, Knapsack, Solution};
use serde_json::Value;

/// A question whose answer is in the file: per instance the scalar one, and those with 3 and 4 sigmas.
struct Question {
    name: String,
    settings: Vec<Vec<Candidate>>,
    economy: Economy,
    /// `None`: no selection fits.
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

/// Checks that the report is the sum over the choices, in setting order.
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
#[ignore = "needs HOB_KNAPSACK_DATA, a directory of instances"]
fn larger_instances_are_solved_to_the_known_optimum() {
    let directory = std::env::var_os("HOB_KNAPSACK_DATA").expect("HOB_KNAPSACK_DATA is set");
    assert_all_answered(&Path::new(&directory).join("n200.json.gz"));
    assert_all_answered(&Path::new(&directory).join("n1000.json.gz"));
}

/// Families of test data that are known to be hard (Pisinger). Weights are integers up to a range.
#[derive(Clone, Copy, Debug)]
enum Family {
    Uncorrelated,
    WeaklyCorrelated,
    StronglyCorrelated,
    StronglyCorrelatedOrNothing,
    InverseStronglyCorrelated,
    InverseStronglyCorrelatedOrNothing,
    SubsetSum,
    EqualRatios,
    AlmostEqualRatios,
}

use Family::*;

const FAMILIES: [Family; 9] = [
    Uncorrelated,
    WeaklyCorrelated,
    StronglyCorrelated,
    StronglyCorrelatedOrNothing,
    InverseStronglyCorrelated,
    InverseStronglyCorrelatedOrNothing,
    SubsetSum,
    EqualRatios,
    AlmostEqualRatios,
];

/// A random number generator with the same numbers on every machine.
struct Random(u64);

impl Random {
    /// From 1 to `most`.
    fn upto(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % most + 1
    }
}

impl Family {
    fn option(self, random: &mut Random, index: usize, range: u64) -> Candidate {
        let weight = random.upto(range);
        let tenth = range / 10;
        let (value, weight) = match self {
            Uncorrelated => (random.upto(range), weight),
            WeaklyCorrelated => ((weight + random.upto(2 * tenth)).saturating_sub(tenth), weight),
            StronglyCorrelatedOrNothing | InverseStronglyCorrelatedOrNothing if index == 0 => (0, 0),
            StronglyCorrelated | StronglyCorrelatedOrNothing => (weight + tenth, weight),
            InverseStronglyCorrelated | InverseStronglyCorrelatedOrNothing => (weight, weight + tenth),
            SubsetSum => (weight, weight),
            EqualRatios => (3 * weight, weight),
            AlmostEqualRatios => (3 * weight.div_ceil(3), weight),
        };
        Candidate { value: value as f64, mean: weight as f64, variance: 0.0 }
    }

    fn settings(self, seed: u64, settings: usize, options: usize, range: u64) -> Vec<Vec<Candidate>> {
        let mut random = Random(seed);
        let setting =
            |random: &mut Random| (0..options).map(|index| self.option(random, index, range)).collect::<Vec<_>>();
        (0..settings).map(|_| setting(&mut random)).collect()
    }
}

/// A capacity between the smallest and the largest total weight, at the fraction `way`.
fn capacity_at(settings: &[Vec<Candidate>], way: f64) -> f64 {
    let total = |better: fn(f64, f64) -> f64| -> f64 {
        settings.iter().filter_map(|options| options.iter().map(|option| option.mean).reduce(better)).sum()
    };
    let (least, most) = (total(f64::min), total(f64::max));
    (least + way * (most - least)).floor()
}

const NOTHING: f64 = f64::NEG_INFINITY;

/// The best value by the textbook dynamic program over all integer capacities.
fn by_dynamic_program(settings: &[Vec<Candidate>], capacity: usize) -> f64 {
    let mut best = vec![0.0_f64; capacity + 1];
    for options in settings {
        let options: Vec<_> = options.iter().map(|option| (option.mean as usize, option.value)).collect();
        let worth = |room: usize, (weight, value)| if weight <= room { best[room - weight] + value } else { NOTHING };
        let most = |room| options.iter().map(|&option| worth(room, option)).fold(NOTHING, f64::max);
        best = (0..=capacity).map(most).collect();
    }
    best[capacity]
}

fn solve_by_default(settings: &[Vec<Candidate>], capacity: f64) -> Solution {
    filled(settings).solve(Economy { capacity, sigmas: 0.0 }, Effort::default()).expect("a solution")
}

fn for_each_hard_case(shapes: &[(usize, usize)], range: u64, seeds: u64, check: impl Fn(&[Vec<Candidate>], f64, &str)) {
    for family in FAMILIES {
        for &(settings, options) in shapes {
            for (seed, way) in (0..seeds).flat_map(|seed| [0.25, 0.5, 0.75].map(|way| (seed, way))) {
                let data = family.settings(seed, settings, options, range);
                let name = format!("{family:?} up to {range}, {settings} x {options}, seed {seed}, {way}");
                check(&data, capacity_at(&data, way), &name);
            }
        }
    }
}

/// Families with a gap in the linear relaxation that no bound here covers. Their weights are too large for the lists to
/// close the gap within the node limit. The gap is reported.
fn is_known_to_be_too_hard(name: &str) -> bool {
    let hard = ["InverseStronglyCorrelatedOrNothing", "AlmostEqualRatios"];
    let shapes = ["50 x 4", "50 x 10"];
    hard.iter().any(|family| shapes.iter().any(|shape| name.starts_with(&format!("{family} up to 1000000, {shape},"))))
}

#[test]
fn hard_families_match_a_dynamic_program() {
    for_each_hard_case(&[(10, 2), (10, 10), (25, 3)], 1000, 2, |settings, capacity, name| {
        let solution = solve_by_default(settings, capacity);
        assert!(solution.proven, "{name}: {solution:?}");
        assert_eq!(solution.value, by_dynamic_program(settings, capacity as usize), "{name}: {solution:?}");
    });
}

#[test]
fn fifty_settings_of_hard_families_match_a_dynamic_program() {
    for_each_hard_case(&[(50, 2), (50, 10)], 200, 1, |settings, capacity, name| {
        let solution = solve_by_default(settings, capacity);
        assert!(solution.proven, "{name}: {solution:?}");
        assert_eq!(solution.value, by_dynamic_program(settings, capacity as usize), "{name}: {solution:?}");
    });
}

#[test]
fn fifty_settings_of_hard_families_are_proven_within_the_default_limit() {
    // The wide range takes most of the time.
    for (range, seeds) in [(1000, scaled(1)), (1_000_000, (scaled(1) / 2).min(1))] {
        for_each_hard_case(
            &[(10, 10), (50, 2), (50, 4), (50, 10)],
            range,
            u64::from(seeds),
            |settings, capacity, name| {
                let solution = solve_by_default(settings, capacity);
                assert!(solution.feasible && solution.gap < 0.01, "{name}: {solution:?}");
                assert!(solution.proven || is_known_to_be_too_hard(name), "{name}: {solution:?}");
            },
        );
    }
}
