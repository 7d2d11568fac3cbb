//! The same calls give the same answers. Earlier solves save time and change no value.

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
fn same_problems_in_the_same_order_give_the_same_answers() {
    let (mut one, mut other) = (Knapsack::new(), Knapsack::new());
    for seed in 0..30 {
        assert_eq!(answers(&mut one, seed), answers(&mut other, seed));
    }
}

#[test]
fn forget_restores_the_answer_of_a_new_knapsack() {
    let mut used = Knapsack::new();
    for seed in 0..30 {
        let fresh = answers(&mut Knapsack::new(), seed);
        answers(&mut used, seed + 1000);
        let after = answers(&mut used, seed).0;
        assert!(after.proven && (after.value - fresh.0.value).abs() < 1e-9, "{after:?} {fresh:?}");
        used.forget();
        assert_eq!(answers(&mut used, seed), fresh);
    }
}

#[test]
fn repeated_solve_gives_the_same_answer_with_fewer_nodes() {
    let mut knapsack = filled(&Random(3).settings(50, 4));
    let economy = Economy { capacity: 250.0, sigmas: 3.0 };
    let first = knapsack.solve(economy, Effort::default()).unwrap();
    let choices = knapsack.choices().to_vec();
    let again = knapsack.solve(economy, Effort::default()).unwrap();
    assert_eq!((again.value, again.proven, knapsack.choices()), (first.value, true, &choices[..]));
    assert!(again.nodes <= first.nodes, "{again:?} {first:?}");
}

#[test]
fn reserve_does_not_change_the_answer() {
    let mut reserved = Knapsack::new();
    reserved.reserve(1000, 100_000).unwrap();
    assert_eq!(answers(&mut reserved, 5), answers(&mut Knapsack::new(), 5));
}

#[test]
fn solves_of_the_same_shape_do_not_allocate() {
    let mut knapsack = Knapsack::new();
    answers(&mut knapsack, 0);
    let memory = knapsack.memory_used();
    for seed in 0..100 {
        answers(&mut knapsack, seed);
    }
    assert_eq!(knapsack.memory_used(), memory);
}
