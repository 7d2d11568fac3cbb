//! Unusual and invalid inputs.

use super::*;
use crate::base::Code;

const NAN: f64 = f64::NAN;
const INFINITY: f64 = f64::INFINITY;

#[test]
fn empty_knapsack_fits_if_a_zero_burden_fits() {
    let (solution, choices) = solved(&[], 0.0, 3.0);
    assert!(solution.feasible && solution.proven && choices.is_empty());
    assert_eq!((solution.value, solution.burden), (0.0, 0.0));
    let (solution, _) = solved(&[], -1.0, 0.0);
    assert!(!solution.feasible);
    assert_eq!(solution.excess, 1.0);
}

#[test]
fn setting_without_options_has_no_choice_and_no_burden() {
    let (solution, choices) = solved(&[vec![], vec![option(2.0, 1.0, 0.0)], vec![]], 1.0, 0.0);
    assert!(solution.feasible);
    assert_eq!((solution.value, solution.mean), (2.0, 1.0));
    assert_eq!(choices, [NO_CHOICE, 0, NO_CHOICE]);
}

#[test]
fn option_with_infinite_mean_is_the_last_resort() {
    let settings = [vec![option(100.0, INFINITY, 0.0), option(1.0, 2.0, 0.0)]];
    for capacity in [INFINITY, 5.0, 1.0] {
        assert_eq!(solved(&settings, capacity, 1.0).1, [1]);
    }
}

#[test]
fn setting_without_a_feasible_option_makes_the_problem_infeasible() {
    let settings = [vec![option(1.0, INFINITY, 0.0), option(2.0, INFINITY, 0.0)], vec![option(3.0, 1.0, 0.0)]];
    for capacity in [INFINITY, 5.0] {
        let (solution, choices) = solved(&settings, capacity, 1.0);
        assert!(!solution.feasible && solution.proven);
        assert_eq!((solution.burden, choices), (INFINITY, vec![1, 0]));
    }
    assert_eq!(solved(&settings, 5.0, 1.0).0.excess, INFINITY);
}

#[test]
fn earlier_problems_of_the_same_shape_do_not_change_answers() {
    let impossible = [
        vec![option(1.0, INFINITY, 0.0), option(2.0, INFINITY, 0.0)],
        vec![option(3.0, 1.0, 0.0), option(9.0, 4.0, 0.0)],
    ];
    let possible =
        [vec![option(1.0, 1.0, 0.5), option(2.0, INFINITY, 0.0)], vec![option(3.0, 1.0, 0.0), option(9.0, 4.0, 0.0)]];
    let other_shape = [
        vec![option(1.0, 1.0, 0.0)],
        vec![],
        vec![option(3.0, 1.0, 0.0), option(9.0, 4.0, 0.0), option(2.0, 3.0, 1.0)],
    ];
    let mut knapsack = Knapsack::new();
    for settings in [&possible[..], &impossible, &impossible, &possible, &other_shape, &possible, &[], &impossible] {
        for capacity in [INFINITY, 5.0, 1.0] {
            knapsack.clear();
            settings.iter().for_each(|options| _ = knapsack.add_setting(options).unwrap());
            let solution = knapsack.solve(Economy { capacity, sigmas: 1.0 }, Effort::default()).unwrap();
            let (fresh, choices) = solved(settings, capacity, 1.0);
            assert_eq!(
                (knapsack.choices(), solution.feasible, solution.value),
                (&choices[..], fresh.feasible, fresh.value)
            );
        }
    }
}

#[test]
fn every_solution_field_is_a_number() {
    let settings = [vec![option(1.0, INFINITY, 0.0)], vec![option(3.0, 1.0, 2.0), option(1.0, -1.0, 0.0)]];
    for settings in [&settings[..], &settings[1..], &[]] {
        for capacity in [INFINITY, 1e300, 0.0, -1e300, -INFINITY] {
            let s = solved(settings, capacity, 2.0).0;
            for number in [s.value, s.mean, s.variance, s.burden, s.excess, s.upper_bound, s.gap] {
                assert!(!number.is_nan(), "{s:?}");
            }
            assert!(s.gap >= 0.0 && s.excess >= 0.0, "{s:?}");
        }
    }
}

#[test]
fn unlimited_capacity_gives_every_setting_its_best_option() {
    let (solution, choices) = solved(&vec![vec![option(1.0, 0.0, 0.0), option(2.0, 1e99, 1e99)]; 3], INFINITY, 100.0);
    assert!(solution.feasible && solution.proven);
    assert_eq!(choices, [1, 1, 1]);
}

#[test]
fn negative_means_free_capacity_for_other_settings() {
    let settings =
        [vec![option(0.0, 0.0, 0.0), option(-1.0, -5.0, 0.0)], vec![option(0.0, 0.0, 0.0), option(7.0, 4.0, 0.0)]];
    let (solution, choices) = solved(&settings, 0.0, 0.0);
    assert_eq!((solution.value, choices), (6.0, vec![1, 1]));
    let (solution, choices) = solved(&settings, -2.0, 0.0);
    assert_eq!((solution.value, choices), (-1.0, vec![1, 0]));
}

#[test]
fn invalid_numbers_are_rejected_by_field_name_without_effect() {
    let mut knapsack = filled(&[vec![option(1.0, 1.0, 1.0)]]);
    let good = option(1.0, 1.0, 1.0);
    for (bad, name) in [
        (option(NAN, 0.0, 0.0), "value"),
        (option(INFINITY, 0.0, 0.0), "value"),
        (option(-INFINITY, 0.0, 0.0), "value"),
        (option(1e101, 0.0, 0.0), "value"),
        (option(0.0, NAN, 0.0), "mean"),
        (option(0.0, -INFINITY, 0.0), "mean"),
        (option(0.0, 1e101, 0.0), "mean"),
        (option(0.0, 0.0, NAN), "variance"),
        (option(0.0, 0.0, -1e-300), "variance"),
        (option(0.0, 0.0, INFINITY), "variance"),
    ] {
        let error = knapsack.add_setting(&[good, good, bad]).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument);
        let sentence = error.sentence();
        assert!(sentence.starts_with(&format!("setting 1, option 2: {name} is ")), "{sentence}");
        assert_eq!((knapsack.setting_count(), knapsack.option_count()), (1, 1));
    }
}

#[test]
fn invalid_economies_and_efforts_are_rejected_and_choices_kept() {
    let mut knapsack = filled(&[vec![option(0.0, 0.0, 0.0), option(1.0, 1.0, 1.0)]]);
    knapsack.solve(Economy::default(), Effort::default()).unwrap();
    let default = Economy::default();
    let economies = [NAN, -1.0, INFINITY].map(|sigmas| Economy { sigmas, ..default });
    for economy in economies.into_iter().chain([Economy { capacity: NAN, ..default }]) {
        assert_eq!(knapsack.solve(economy, Effort::default()).unwrap_err().code(), Code::InvalidArgument);
    }
    for accepted_gap in [NAN, -0.1, INFINITY] {
        let effort = Effort { accepted_gap, ..Effort::default() };
        assert_eq!(knapsack.solve(default, effort).unwrap_err().code(), Code::InvalidArgument);
    }
    assert_eq!(knapsack.choices(), [1]);
}

#[test]
fn setting_has_at_most_65535_options() {
    let mut options = vec![option(0.0, 1.0, 0.0); MAX_OPTIONS_PER_SETTING];
    options[65534].value = 1.0;
    assert_eq!(solved(&[options.clone()], 1.0, 0.0).1, [65534]);
    options.push(option(0.0, 0.0, 0.0));
    assert_eq!(Knapsack::new().add_setting(&options).unwrap_err().code(), Code::LimitExceeded);
}

#[test]
fn clear_removes_the_settings_and_keeps_the_memory() {
    let mut knapsack = filled(&vec![vec![option(0.0, 1.0, 0.0); 3]; 10]);
    knapsack.solve(Economy::default(), Effort::default()).unwrap();
    let memory = knapsack.memory_used();
    knapsack.clear();
    assert_eq!((knapsack.setting_count(), knapsack.option_count(), knapsack.memory_used()), (0, 0, memory));
    assert!(memory > 0 && Knapsack::new().memory_used() == 0);
}

#[test]
fn absurd_reservation_is_out_of_memory_without_effect() {
    let mut knapsack = filled(&[vec![option(1.0, 1.0, 0.0)]]);
    assert_eq!(knapsack.reserve(usize::MAX, usize::MAX).unwrap_err().code(), Code::OutOfMemory);
    assert_eq!(knapsack.solve(Economy::default(), Effort::default()).unwrap().value, 1.0);
}
