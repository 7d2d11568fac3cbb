//! Compares the knapsack of several resources with optima of an integer programming solver. Also counts allocations:
//! the knapsack does not allocate after `reserve`.

use std::io::Read;
use std::path::Path;

use serde_json::Value;

use super::super::{Answer, Several, Weight};
use crate::knapsack::{Economy, Effort};
use crate::testing::allocator::allocations;

/// A node limit for one frame.
const IN_A_FRAME: u64 = 3000;

struct Question {
    /// Per setting: values, and weights by option and resource.
    settings: Vec<(Vec<f64>, Vec<Weight>)>,
    economies: Vec<Economy>,
    optimum: f64,
}

fn questions(path: &Path) -> Vec<Question> {
    let file = std::fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("gzip");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    document["instances"].as_array().expect("instances").iter().map(question).collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn question(instance: &Value) -> Question {
    let weights = |option: &Value| -> Vec<Weight> {
        list(&option["burden"]).iter().map(|mean| Weight { mean: number(mean), variance: 0.0 }).collect()
    };
    let setting = |options: &Value| {
        let options = list(options);
        let values = options.iter().map(|option| number(&option["value"])).collect();
        (values, options.iter().flat_map(weights).collect())
    };
    let economy = |capacity: &Value| Economy { capacity: number(capacity), sigmas: 0.0 };
    Question {
        settings: list(&instance["settings"]).iter().map(setting).collect(),
        economies: list(&instance["capacity"]).iter().map(economy).collect(),
        optimum: number(&instance["optimum"]),
    }
}

impl Question {
    /// Solves with each weight's mean changed by at most the share `share` of it, differently in each frame.
    fn solve_jittered(&self, several: &mut Several, node_limit: u64, frame: usize, share: f64) -> Answer {
        let mut moved = [Weight::default(); 64];
        several.clear(self.economies.len()).expect("a valid count");
        for (setting, (values, weights)) in self.settings.iter().enumerate() {
            for (index, (moved, weight)) in moved.iter_mut().zip(weights).enumerate() {
                let jitter = ((frame * 31 + setting * 17 + index * 7) % 101) as f64 / 50.5 - 1.0;
                *moved = Weight { mean: weight.mean * (1.0 + share * jitter), variance: share * weight.mean };
            }
            several.add_setting(values, &moved[..weights.len()]).expect("valid options");
        }
        several.solve(&self.economies, Effort { accepted_gap: 0.0, node_limit }).expect("an answer")
    }

    fn solve(&self, several: &mut Several, node_limit: u64) -> Answer {
        self.solve_jittered(several, node_limit, 0, 0.0)
    }

    fn gap(&self, answer: &Answer) -> f64 {
        (self.optimum - answer.value) / self.optimum
    }
}

fn fixture() -> Vec<Question> {
    questions(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/knapsack/three_resources_n50.json.gz"))
}

/// Checks the answer with the node limit of a frame, and returns its gap to the optimum.
fn assert_answered_in_a_frame(question: &Question) -> f64 {
    let answer = question.solve(&mut Several::new(), IN_A_FRAME);
    assert!(answer.feasible && answer.value <= question.optimum * (1.0 + 1e-9), "{answer:?}");
    assert!(answer.upper_bound >= question.optimum * (1.0 - 1e-9), "{}: {answer:?}", question.optimum);
    assert!(answer.gap < 0.01 && answer.gap >= question.gap(&answer) - 1e-9, "{answer:?}");
    question.gap(&answer)
}

#[test]
fn frame_answers_are_near_the_known_optimum_within_the_reported_gap() {
    let questions = fixture();
    let gaps: f64 = questions.iter().map(assert_answered_in_a_frame).sum();
    assert!(gaps / (questions.len() as f64) < 0.003);
}

#[test]
fn more_nodes_find_the_optimum() {
    let question = &fixture()[0];
    let answer = question.solve(&mut Several::new(), 2_000_000);
    assert!(answer.proven && question.gap(&answer).abs() < 1e-9, "{}: {answer:?}", question.optimum);
}

#[test]
#[ignore = "needs HOB_KNAPSACK_DATA, a directory of instances"]
fn all_instances_are_answered_in_a_frame() {
    let directory = std::env::var_os("HOB_KNAPSACK_DATA").expect("HOB_KNAPSACK_DATA is set");
    let questions = questions(&Path::new(&directory).join("three_resources_n50.json.gz"));
    let gaps: f64 = questions.iter().map(assert_answered_in_a_frame).sum();
    assert!(gaps / (questions.len() as f64) < 0.003);
}

#[test]
fn the_same_frames_give_the_same_answers() {
    let question = &fixture()[0];
    let frames = || {
        let mut several = Several::new();
        let frame = |frame| {
            let answer = question.solve_jittered(&mut several, IN_A_FRAME, frame, 0.01);
            (format!("{answer:?}"), several.choices().to_vec())
        };
        (0..10).map(frame).collect::<Vec<_>>()
    };
    assert_eq!(frames(), frames());
}

#[test]
fn forget_restores_the_first_answer() {
    let questions = fixture();
    let mut several = Several::new();
    questions[0].solve_jittered(&mut several, IN_A_FRAME, 0, 0.01);
    several.forget();
    let answer = questions[0].solve(&mut several, IN_A_FRAME);
    assert_eq!(answer, questions[0].solve(&mut Several::new(), IN_A_FRAME));
}

#[test]
fn frames_after_reserve_do_not_allocate() {
    let mut questions = fixture();
    questions.extend(fixture());
    questions[1].economies[1].capacity = -1.0;
    questions[2].economies.iter_mut().for_each(|economy| economy.sigmas = 2.0);
    let mut several = Several::new();
    several.reserve(50, 250, 3).expect("memory");
    let held = several.memory_used();
    let frames = || {
        for frame in 0..40 {
            let answer = questions[frame % 4].solve_jittered(&mut several, 20_000, frame, 0.01);
            assert_eq!(answer.feasible, frame % 4 != 1, "{answer:?}");
        }
    };
    assert_eq!(allocations(frames), 0);
    assert_eq!(several.memory_used(), held);
}
