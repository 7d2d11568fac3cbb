//! The same input gives the same answer, whatever happened before.

use super::*;

fn answers(knapsack: &mut Knapsack, seed: u64) -> (Solution, Vec<u16>) {
    let mut random = Random(seed);
    knapsack.clear();
    for options in random.settings(40, 5) {
        knapsack.add_setting(&options).unwrap();
    }
    let economy = Economy { capacity: 200.0, sigmas: (seed % 3) as f64 };
    (knapsack.solve(economy, Effort::default()).unwrap(), knapsack.choices().to_vec())
}

#[test]
fn the_same_question_gets_the_same_answer_after_any_other() {
    let mut used = Knapsack::new();
    for seed in 0..30 {
        let fresh = answers(&mut Knapsack::new(), seed);
        answers(&mut used, seed + 1000);
        assert_eq!(answers(&mut used, seed), fresh);
        assert_eq!(answers(&mut used, seed), fresh, "solved twice");
    }
}

#[test]
fn solving_again_without_a_change_gives_the_same_answer() {
    let mut knapsack = filled(&Random(3).settings(50, 4));
    let economy = Economy { capacity: 250.0, sigmas: 3.0 };
    let first = knapsack.solve(economy, Effort::default()).unwrap();
    let choices = knapsack.choices().to_vec();
    assert_eq!(knapsack.solve(economy, Effort::default()).unwrap(), first);
    assert_eq!(knapsack.choices(), choices);
}

#[test]
fn the_memory_taken_beforehand_makes_no_difference() {
    let mut reserved = Knapsack::new();
    reserved.reserve(1000, 100_000).unwrap();
    assert_eq!(answers(&mut reserved, 5), answers(&mut Knapsack::new(), 5));
}

#[test]
fn solves_of_the_same_shape_take_no_more_memory() {
    let mut knapsack = Knapsack::new();
    answers(&mut knapsack, 0);
    let memory = knapsack.memory_used();
    for seed in 0..100 {
        answers(&mut knapsack, seed);
    }
    assert_eq!(knapsack.memory_used(), memory);
}
