//! What is promised when the work is limited, or large.

use super::*;

/// Barely feasible in many cases, and hopeless to prove within a few nodes.
fn hard_settings(seed: u64) -> (Vec<Vec<Candidate>>, Economy) {
    let mut random = Random(seed);
    let settings = random.settings(30, 6);
    let capacity = 30.0 * (0.1 + random.below(6.0));
    (settings, Economy { capacity, sigmas: if seed.is_multiple_of(2) { 0.0 } else { 3.0 } })
}

#[test]
fn a_small_node_limit_still_gives_an_answer_that_fits_and_an_honest_bound() {
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
            let gap = (limited.upper_bound - limited.value) / limited.upper_bound.abs();
            assert!((limited.gap - gap).abs() < 1e-12 && limited.proven == (limited.gap == 0.0), "{limited:?}");
            assert!(!limited.proven || (limited.value - best.value).abs() < 1e-9);
            assert!(limited.gap < 0.5, "even one relaxation gives a decent answer: {limited:?}");
        }
    }
}

#[test]
fn an_accepted_gap_is_kept_and_saves_work() {
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
fn an_accepted_gap_is_kept_when_values_are_negative() {
    for seed in 0..50 {
        let (mut settings, economy) = hard_settings(seed);
        settings.iter_mut().flatten().for_each(|option| option.value -= 20.0);
        let best = filled(&settings).solve(economy, Effort::default()).unwrap();
        let relaxed = filled(&settings).solve(economy, Effort { accepted_gap: 0.01, ..Effort::default() }).unwrap();
        assert!(best.value < 0.0 && relaxed.gap <= 0.01 && relaxed.upper_bound >= best.value - 1e-9, "{relaxed:?}");
    }
}

#[test]
fn a_million_options_are_bounded_by_the_node_limit() {
    let mut random = Random(7);
    let settings = random.settings(1000, 1000);
    let mut knapsack = filled(&settings);
    for sigmas in [0.0, 3.0] {
        let effort = Effort { node_limit: 100_000, ..Effort::default() };
        let solution = knapsack.solve(Economy { capacity: 200_000.0, sigmas }, effort).unwrap();
        assert!(solution.feasible);
        // The first relaxation, and one relaxation that the limit ended in.
        assert!(solution.nodes < 100_000 + 100 * 1_000_000 / 64, "{solution:?}");
        assert!(solution.gap < 1e-2, "{solution:?}");
    }
}

#[test]
fn a_million_options_in_few_settings_overflow_no_stack() {
    let mut random = Random(8);
    let settings = random.settings(16, 62_500);
    let effort = Effort { node_limit: 10_000, ..Effort::default() };
    let solution = filled(&settings).solve(Economy { capacity: 1_000_000.0, sigmas: 3.0 }, effort).unwrap();
    assert!(solution.feasible);
}

#[test]
fn a_hundred_thousand_settings_overflow_no_stack() {
    let mut random = Random(9);
    let settings = random.settings(100_000, 3);
    let effort = Effort { node_limit: 1_000_000, ..Effort::default() };
    let solution = filled(&settings).solve(Economy { capacity: 300_000.0, sigmas: 3.0 }, effort).unwrap();
    assert!(solution.feasible && solution.gap < 1e-4, "{solution:?}");
}

#[test]
fn the_price_is_what_more_capacity_would_buy() {
    let mut random = Random(31);
    for sigmas in [0.0, 3.0] {
        for _ in 0..20 {
            let settings = random.settings(60, 5);
            let value = |capacity: f64| solved(&settings, capacity, sigmas).0.value;
            let (few, more) = (60.0, 75.0);
            let bought = (value(more) - value(few)) / (more - few);
            let prices = [few, more].map(|capacity| solved(&settings, capacity, sigmas).0.price);
            assert!(prices[1] <= prices[0] && prices[1] > 0.0, "{prices:?}");
            assert!((0.95 * prices[1]..=1.05 * prices[0]).contains(&bought), "{bought} for {prices:?}");
            assert_eq!(solved(&settings, 1e6, sigmas).0.price, 0.0, "there is room for all");
            assert_eq!(solved(&settings, -1.0, sigmas).0.price, 0.0, "nothing fits");
        }
    }
}
