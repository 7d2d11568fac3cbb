//! Small instances of every kind, compared with a search of all choices.

use crate::testing::scaled;
use proptest::prelude::*;

use super::*;

#[derive(Debug)]
struct Answer {
    best_value: Option<f64>,
    least_burden: f64,
}

/// Tries all choices. Repeats the tolerance from the module's documentation.
fn try_all(settings: &[Vec<Candidate>], capacity: f64, sigmas: f64) -> Answer {
    let most_negative = |options: &Vec<Candidate>| options.iter().map(|o| -o.mean).fold(0.0, f64::max);
    let magnitude = capacity.abs() + settings.iter().map(most_negative).sum::<f64>();
    let limit = if capacity.is_finite() { capacity + 1e-12 * magnitude } else { capacity };
    let mut answer = Answer { best_value: None, least_burden: f64::INFINITY };
    let mut choices = vec![0; settings.len()];
    loop {
        let chosen = || settings.iter().zip(&choices).filter_map(|(options, &choice)| options.get(choice));
        let value: f64 = chosen().map(|o| o.value).sum();
        let variance: f64 = chosen().map(|o| o.variance).sum();
        let burden = chosen().map(|o| o.mean).sum::<f64>() + sigmas * variance.sqrt();
        answer.least_burden = answer.least_burden.min(burden);
        if burden <= limit && burden < f64::INFINITY {
            answer.best_value = Some(answer.best_value.map_or(value, |best: f64| best.max(value)));
        }
        let Some(turn) = (0..choices.len()).find(|&turn| choices[turn] + 1 < settings[turn].len()) else {
            return answer;
        };
        choices[turn] += 1;
        choices[..turn].fill(0);
    }
}

fn assert_agrees(settings: &[Vec<Candidate>], capacity: f64, sigmas: f64) {
    let (solution, choices) = solved(settings, capacity, sigmas);
    let answer = try_all(settings, capacity, sigmas);
    let scale: f64 = settings.iter().flatten().map(|o| o.value.abs() + o.variance).fold(1.0, f64::max);
    assert!(solution.proven, "{solution:?}");
    assert_eq!(solution.feasible, answer.best_value.is_some(), "{solution:?} {answer:?}");
    match answer.best_value {
        Some(best) => {
            assert!((solution.value - best).abs() <= 1e-9 * scale, "{solution:?} {answer:?}");
            assert!(solution.excess == 0.0 && solution.gap == 0.0 && solution.upper_bound == solution.value);
        }
        None => {
            let off = solution.burden - answer.least_burden;
            let same = solution.burden == answer.least_burden || off.abs() <= 1e-9 * solution.burden.abs().max(1.0);
            assert!(same, "{solution:?} {answer:?}");
            assert_eq!(solution.excess, solution.burden - capacity);
        }
    }
    for (options, &choice) in settings.iter().zip(&choices) {
        assert_eq!(options.is_empty(), choice == NO_CHOICE);
        assert!(options.is_empty() || (choice as usize) < options.len());
    }
}

/// A capacity between the least and the most that the settings can weigh, or slightly outside.
fn capacity_at(settings: &[Vec<Candidate>], sigmas: f64, position: f64) -> f64 {
    let burdens = |options: &Vec<Candidate>, fold: fn(f64, f64) -> f64, start: f64| {
        let finite = options.iter().filter(|o| o.mean.is_finite()).map(|o| o.mean + 0.5 * sigmas * o.variance.sqrt());
        finite.fold(None, |sum: Option<f64>, burden| Some(sum.map_or(burden, |s| fold(s, burden)))).unwrap_or(start)
    };
    let least: f64 = settings.iter().map(|options| burdens(options, f64::min, 0.0)).sum();
    let most: f64 = settings.iter().map(|options| burdens(options, f64::max, 0.0)).sum();
    least + position * (most - least)
}

fn any_option() -> impl Strategy<Value = Candidate> {
    (-10.0..10.0, -3.0..10.0, 0.0..4.0_f64)
        .prop_map(|(value, mean, deviation)| option(value, mean, deviation * deviation))
}

/// Few different numbers, so that ties and burdens equal to the capacity are common.
fn quantised_option() -> impl Strategy<Value = Candidate> {
    let mean = prop_oneof![8 => (-2..8_i32).prop_map(f64::from), 1 => Just(f64::INFINITY)];
    let variance = prop_oneof![Just(0.0), Just(0.0), (0..10_u32).prop_map(f64::from)];
    ((-3..6_i32).prop_map(f64::from), mean, variance).prop_map(|(value, mean, variance)| option(value, mean, variance))
}

/// Tenths, whose sums are rounded.
fn decimal_option() -> impl Strategy<Value = Candidate> {
    (0..20_u32, -5..30_i32).prop_map(|(value, mean)| option(f64::from(value) / 10.0, f64::from(mean) / 10.0, 0.0))
}

fn settings_of(one: impl Strategy<Value = Candidate>) -> impl Strategy<Value = Vec<Vec<Candidate>>> {
    prop::collection::vec(prop::collection::vec(one, 0..5), 0..6)
}

fn any_sigmas() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.0), Just(4.0), 0.0..6.0]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(scaled(500)) })]

    #[test]
    fn random_numbers_match_brute_force(settings in settings_of(any_option()), sigmas in any_sigmas(), position in -0.2..1.2) {
        assert_agrees(&settings, capacity_at(&settings, sigmas, position), sigmas);
    }

    #[test]
    fn ties_and_infeasible_options_match_brute_force(
        settings in settings_of(quantised_option()), sigmas in (0..4_u32).prop_map(f64::from), capacity in -8..30_i32,
    ) {
        assert_agrees(&settings, f64::from(capacity), sigmas);
    }

    #[test]
    fn rounded_decimal_sums_match_brute_force(settings in settings_of(decimal_option()), capacity in -10..80_i32) {
        assert_agrees(&settings, f64::from(capacity) / 10.0, 0.0);
    }

    #[test]
    fn capacity_equal_to_a_reachable_burden_admits_it(
        settings in settings_of(any_option()), sigmas in any_sigmas(), seed in any::<u64>(),
    ) {
        let mut random = Random(seed);
        let choice = |options: &Vec<Candidate>, random: &mut Random| options[random.next() as usize % options.len()];
        let some: Vec<_> = settings.iter().filter(|o| !o.is_empty()).map(|o| choice(o, &mut random)).collect();
        let variance = some.iter().map(|o| o.variance).sum::<f64>();
        let burden = some.iter().map(|o| o.mean).sum::<f64>() + sigmas * variance.sqrt();
        let (solution, _) = solved(&settings, burden, sigmas);
        prop_assert!(solution.feasible);
        prop_assert!(solution.value >= some.iter().map(|o| o.value).sum::<f64>() - 1e-9);
    }

    #[test]
    fn earlier_problems_do_not_change_the_value(
        walk in prop::collection::vec((settings_of(quantised_option()), (0..4_u32), -8..30_i32, any::<bool>()), 1..8),
    ) {
        let mut knapsack = Knapsack::new();
        for (settings, sigmas, capacity, other) in walk {
            let (sigmas, capacity) = (f64::from(sigmas), f64::from(capacity));
            // Solve again unchanged, and with other numbers in the same shape.
            for change in if other { [0.0, 0.0, 0.5] } else { [0.0, 0.25, -3.0] } {
                knapsack.clear();
                let moved = |o: &Candidate| Candidate { mean: o.mean * (1.0 + 0.1 * change) + change, ..*o };
                let settings: Vec<Vec<_>> = settings.iter().map(|options| options.iter().map(moved).collect()).collect();
                settings.iter().for_each(|options| _ = knapsack.add_setting(options).unwrap());
                let warm = knapsack.solve(Economy { capacity, sigmas }, Effort::default()).unwrap();
                let (cold, _) = solved(&settings, capacity, sigmas);
                prop_assert!(warm.proven && warm.feasible == cold.feasible, "{warm:?} {cold:?}");
                prop_assert!((warm.value - cold.value).abs() <= 1e-9, "{warm:?} {cold:?}");
                prop_assert_eq!(warm.feasible, try_all(&settings, capacity, sigmas).best_value.is_some());
            }
        }
    }

    #[test]
    fn constant_offset_of_a_setting_keeps_the_choices(
        settings in settings_of(any_option()), position in 0.0..1.0, sigmas in any_sigmas(),
    ) {
        let capacity = capacity_at(&settings, sigmas, position);
        let moved: Vec<Vec<_>> = settings.iter().map(|options| {
            options.iter().map(|o| Candidate { value: o.value + 4096.0, mean: o.mean - 8.0, ..*o }).collect()
        }).collect();
        let used = settings.iter().filter(|options| !options.is_empty()).count() as f64;
        let (plain, _) = solved(&settings, capacity, sigmas);
        let (offset, _) = solved(&moved, capacity - 8.0 * used, sigmas);
        prop_assert_eq!(plain.feasible, offset.feasible);
        if plain.feasible {
            prop_assert!((plain.value - (offset.value - 4096.0 * used)).abs() < 1e-8);
        }
    }
}

#[test]
fn exact_fit_of_rounded_sums_is_found() {
    let settings = [
        vec![option(0.0, 0.2, 0.0)],
        vec![option(0.0, 1.7, 0.0), option(1.3, 2.9, 0.0)],
        vec![option(1.0, 0.1, 0.0), option(1.2, 0.3, 0.0), option(1.9, 1.0, 0.0)],
        vec![option(0.0, 0.0, 0.0), option(0.3, -0.4, 0.0), option(1.9, 1.2, 0.0)],
    ];
    assert_agrees(&settings, 4.6, 0.0);
}
