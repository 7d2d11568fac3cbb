//! Guarantees when the work is limited, or large.

use super::*;
use crate::testing::scaled;

/// Barely feasible in many cases. A proof takes many nodes.
fn hard_settings(seed: u64) -> (Vec<Vec<Candidate>>, Economy) {
    let mut random = Random(seed);
    let settings = random.settings(30, 6);
    let capacity = 30.0 * (0.1 + random.below(6.0));
    (settings, Economy { capacity, sigmas: if seed.is_multiple_of(2) { 0.0 } else { 3.0 } })
}

/// Sum of the values of the options of least mean.
fn value_of_lightest(settings: &[Vec<Candidate>]) -> f64 {
    let lightest = |options: &Vec<Candidate>| {
        let order = |one: &&Candidate, other: &&Candidate| {
            (one.mean, one.variance, -one.value).partial_cmp(&(other.mean, other.variance, -other.value)).unwrap()
        };
        options.iter().min_by(order).unwrap().value
    };
    settings.iter().map(lightest).sum()
}

#[test]
fn small_node_limit_gives_a_feasible_answer_and_a_true_bound() {
    for seed in 0..200 {
        let (settings, economy) = hard_settings(seed);
        let mut knapsack = filled(&settings);
        let best = knapsack.solve(economy, Effort::default()).unwrap();
        assert!(best.proven && best.feasible);
        for node_limit in [0, 1, 10, 100, 1000] {
            let limited = knapsack.solve(economy, Effort { node_limit, ..Effort::default() }).unwrap();
            assert!(limited.feasible && limited.excess == 0.0);
            assert!(limited.value <= best.value + 1e-9);
            assert!(limited.upper_bound >= best.value - 1e-9, "seed {seed}: {limited:?} {best:?}");
            let lightest = value_of_lightest(&settings);
            let gap = (limited.upper_bound - limited.value) / (limited.upper_bound - lightest);
            let is_true = (limited.gap - gap).abs() < 1e-12 || limited.value <= lightest && limited.gap == 1.0;
            assert!(limited.proven && limited.gap == 0.0 || is_true && limited.gap > 0.0, "{limited:?}");
            assert!(!limited.proven || (limited.value - best.value).abs() < 1e-9);
            assert!(limited.gap < 0.5, "even one relaxation gives a decent answer: {limited:?}");
        }
    }
}

#[test]
fn accepted_gap_is_respected_and_saves_nodes() {
    let mut nodes = (0, 0);
    for seed in 0..100 {
        let (settings, economy) = hard_settings(seed);
        let mut knapsack = filled(&settings);
        let best = knapsack.solve(economy, Effort::default()).unwrap();
        for accepted_gap in [0.001, 0.01, 0.1, 2.0] {
            let relaxed = knapsack.solve(economy, Effort { accepted_gap, ..Effort::default() }).unwrap();
            assert!(relaxed.feasible && relaxed.gap <= accepted_gap, "{relaxed:?}");
            assert!(relaxed.upper_bound >= best.value - 1e-9);
            assert!(relaxed.value >= best.value * (1.0 - accepted_gap) - 1e-9);
            nodes.0 += relaxed.nodes;
            nodes.1 += best.nodes;
        }
    }
    assert!(nodes.0 < nodes.1, "{nodes:?}");
}

#[test]
fn accepted_gap_is_respected_with_negative_values() {
    for seed in 0..50 {
        let (mut settings, economy) = hard_settings(seed);
        settings.iter_mut().flatten().for_each(|option| option.value -= 20.0);
        let best = filled(&settings).solve(economy, Effort::default()).unwrap();
        let relaxed = filled(&settings).solve(economy, Effort { accepted_gap: 0.01, ..Effort::default() }).unwrap();
        assert!(best.value < 0.0 && relaxed.gap <= 0.01 && relaxed.upper_bound >= best.value - 1e-9, "{relaxed:?}");
    }
}

/// The accepted gap was once a share of the whole value, so a fixed incentive of 100 changed choices.
#[test]
fn constant_added_to_the_values_of_a_setting_changes_neither_choices_nor_proof() {
    for seed in 0..scaled(60).into() {
        let (mut settings, economy) = hard_settings(seed);
        // Multiples of 2^-20, so that all sums are exact.
        settings.iter_mut().flatten().for_each(|option| option.value = (option.value * 1048576.0).round() / 1048576.0);
        let mut random = Random(seed);
        let mut shifted = settings.clone();
        for options in &mut shifted {
            let shift = (random.below(3.0) as i32 - 1) as f64 * random.below(1e9).round();
            options.iter_mut().for_each(|option| option.value += shift);
        }
        for (accepted_gap, node_limit) in [(0.0, 4_000_000), (0.001, 256), (0.05, 256), (0.05, 4_000_000), (0.5, 0)] {
            let effort = Effort { accepted_gap, node_limit };
            let [(plain, choices), (moved, moved_choices)] = [&settings, &shifted].map(|settings| {
                let mut knapsack = filled(settings);
                (knapsack.solve(economy, effort).unwrap(), knapsack.choices().to_vec())
            });
            assert_eq!(choices, moved_choices, "seed {seed}, {effort:?}");
            let facts = |of: Solution| (of.proven, of.gap, of.nodes, of.burden, of.price);
            assert_eq!(facts(plain), facts(moved), "seed {seed}, {effort:?}");
        }
    }
}

/// Some of these took up to 46,000 nodes when a core was searched at its full gap at once.
#[test]
fn thousand_settings_are_proven_without_a_long_tail() {
    let nodes = |seed: u64| {
        let settings = Random(seed).settings(1000, 5);
        let solution = filled(&settings).solve(Economy { capacity: 4000.0, sigmas: 4.0 }, Effort::default()).unwrap();
        assert!(solution.proven, "seed {seed}: {solution:?}");
        solution.nodes
    };
    let nodes: Vec<u64> = (0..24).map(nodes).collect();
    assert!(nodes.iter().all(|&nodes| nodes < 20_000), "{nodes:?}");
}

#[test]
fn node_limit_bounds_a_million_options() {
    let mut random = Random(7);
    let settings = random.settings(1000, 1000);
    let mut knapsack = filled(&settings);
    for sigmas in [0.0, 3.0] {
        let effort = Effort { node_limit: 100_000, ..Effort::default() };
        let solution = knapsack.solve(Economy { capacity: 200_000.0, sigmas }, effort).unwrap();
        assert!(solution.feasible);
        // The first relaxation, and the relaxation during which the limit was reached.
        assert!(solution.nodes < 100_000 + 100 * 1_000_000 / 64, "{solution:?}");
        assert!(solution.gap < 1e-2, "{solution:?}");
    }
}

#[test]
fn million_options_in_few_settings_do_not_overflow_the_stack() {
    let mut random = Random(8);
    let settings = random.settings(16, 62_500);
    let effort = Effort { node_limit: 10_000, ..Effort::default() };
    let solution = filled(&settings).solve(Economy { capacity: 1_000_000.0, sigmas: 3.0 }, effort).unwrap();
    assert!(solution.feasible);
}

#[test]
fn hundred_thousand_settings_do_not_overflow_the_stack() {
    let mut random = Random(9);
    let settings = random.settings(100_000, 3);
    let effort = Effort { node_limit: 1_000_000, ..Effort::default() };
    let solution = filled(&settings).solve(Economy { capacity: 300_000.0, sigmas: 3.0 }, effort).unwrap();
    assert!(solution.feasible && solution.gap < 1e-4, "{solution:?}");
}

#[test]
fn numbers_of_any_magnitude_stay_within_the_node_limit() {
    let mut random = Random(10);
    let sizes = [0.0, 1e-300, 1e-20, 1.0, 3.0, 1e20, 1e99, 1e100];
    let pick = |random: &mut Random| sizes[random.next() as usize % sizes.len()];
    let mut knapsack = Knapsack::new();
    for case in 0..scaled(6000) {
        knapsack.clear();
        for _ in 0..1 + random.next() % 6 {
            let signed =
                |random: &mut Random| if random.next().is_multiple_of(3) { -pick(random) } else { pick(random) };
            let options: Vec<_> = (0..1 + random.next() % 4)
                .map(|_| option(signed(&mut random), signed(&mut random), pick(&mut random)))
                .collect();
            knapsack.add_setting(&options).unwrap();
        }
        let economy = Economy { capacity: pick(&mut random) * 2.0 - 1.0, sigmas: pick(&mut random) };
        let accepted_gap = if case % 2 == 0 { 0.0 } else { 0.01 };
        let solution = knapsack.solve(economy, Effort { accepted_gap, node_limit: 20_000 }).unwrap();
        assert!(solution.nodes < 40_000, "{solution:?}");
        for number in
            [solution.value, solution.burden, solution.excess, solution.upper_bound, solution.gap, solution.price]
        {
            assert!(!number.is_nan(), "{solution:?}");
        }
        assert!(!solution.feasible || solution.upper_bound >= solution.value, "{solution:?}");
    }
}

#[test]
fn answer_fits_despite_an_option_far_over_the_capacity() {
    for seed in 0..300 {
        let mut random = Random(seed);
        let mut settings = random.settings(8, 4);
        for options in settings.iter_mut().step_by(2) {
            let size = 10_f64.powi(random.below(20.0) as i32);
            let value = size * (1.0 + random.below(2.0));
            options.insert(0, Candidate { value, mean: size, variance: size * random.below(2.0) });
        }
        let economy = Economy { capacity: 8.0 * (0.1 + random.below(3.0)), sigmas: 3.0 };
        let solution = filled(&settings).solve(economy, Effort::default()).unwrap();
        assert!(!solution.feasible || solution.burden <= economy.capacity * (1.0 + 1e-11), "seed {seed}: {solution:?}");
    }
}
