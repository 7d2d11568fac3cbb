//! Comparison with brute force.

mod known_optima;

use super::*;
use crate::testing::scaled;
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Question {
    resources: usize,
    /// Values, and weights by option and resource.
    settings: Vec<(Vec<f64>, Vec<Weight>)>,
    economies: Vec<Economy>,
}

impl Question {
    fn solve(&self, effort: Effort) -> (Several, Answer) {
        let mut several = Several::new();
        several.clear(self.resources).expect("a valid count");
        for (values, weights) in &self.settings {
            several.add_setting(values, weights).expect("valid options");
        }
        let answer = several.solve(&self.economies, effort).expect("an answer");
        (several, answer)
    }

    fn fits(&self, sums: &[Weight]) -> bool {
        sums.iter().zip(&self.economies).all(|(sum, economy)| {
            let burden = sum.mean + economy.sigmas * sum.variance.sqrt();
            burden < f64::INFINITY && burden <= economy.capacity + 1e-9
        })
    }

    /// The greatest value that fits, over all combinations.
    fn best(&self) -> Option<f64> {
        self.best_from(0, 0.0, &vec![Weight::default(); self.resources])
    }

    fn best_from(&self, setting: usize, value: f64, sums: &[Weight]) -> Option<f64> {
        let Some((values, weights)) = self.settings.get(setting) else {
            return self.fits(sums).then_some(value);
        };
        if values.is_empty() {
            return self.best_from(setting + 1, value, sums);
        }
        let with = |option: usize| {
            let weights = &weights[option * self.resources..(option + 1) * self.resources];
            let sums: Vec<Weight> = sums.iter().zip(weights).map(|(&sum, &weight)| sum.plus(weight)).collect();
            self.best_from(setting + 1, value + values[option], &sums)
        };
        (0..values.len()).filter_map(with).reduce(f64::max)
    }
}

fn mean() -> impl Strategy<Value = f64> {
    prop_oneof![12 => (-2..9_i32).prop_map(f64::from), 1 => Just(f64::INFINITY), 2 => -1.0..6.0]
}

fn variance() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.0), 0.0..4.0]
}

fn setting(resources: usize) -> impl Strategy<Value = (Vec<f64>, Vec<Weight>)> {
    (0..5_usize).prop_flat_map(move |options| {
        let value = prop_oneof![3 => (-5..20_i32).prop_map(f64::from), 1 => -5.0..20.0];
        let weight = (mean(), variance()).prop_map(|(mean, variance)| Weight { mean, variance });
        (prop::collection::vec(value, options), prop::collection::vec(weight, options * resources))
    })
}

fn economy() -> impl Strategy<Value = Economy> {
    let capacity = prop_oneof![
        12 => (-2..30_i32).prop_map(f64::from),
        2 => Just(f64::INFINITY),
        6 => -1.0..25.0,
    ];
    let sigmas = prop_oneof![Just(0.0), Just(1.0), 0.0..4.0];
    (capacity, sigmas).prop_map(|(capacity, sigmas)| Economy { capacity, sigmas })
}

fn question() -> impl Strategy<Value = Question> {
    (1..4_usize).prop_flat_map(|resources| {
        (prop::collection::vec(setting(resources), 0..7), prop::collection::vec(economy(), resources))
            .prop_map(move |(settings, economies)| Question { resources, settings, economies })
    })
}

fn extreme() -> impl Strategy<Value = f64> {
    let numbers = [0.0, 1.0, 1e100, 1e-100, 1e-300, 5e-324, 3.0, 1e99, 1e17];
    (0..numbers.len(), prop::bool::ANY).prop_map(move |(index, minus)| numbers[index] * if minus { -1.0 } else { 1.0 })
}

/// Numbers of all valid magnitudes.
fn extreme_question() -> impl Strategy<Value = Question> {
    (1..9_usize).prop_flat_map(|resources| {
        let weight = (prop_oneof![9 => extreme(), 1 => Just(f64::INFINITY)], extreme())
            .prop_map(|(mean, variance)| Weight { mean, variance: variance.abs() });
        let setting = (prop::collection::vec(extreme(), 3), prop::collection::vec(weight, 3 * resources));
        let capacity = prop_oneof![
            6 => extreme(),
            1 => Just(f64::INFINITY),
            1 => Just(f64::NEG_INFINITY),
            1 => Just(1e300),
            1 => Just(-1e300),
        ];
        let economy = (capacity, extreme()).prop_map(|(capacity, sigmas)| Economy { capacity, sigmas: sigmas.abs() });
        (prop::collection::vec(setting, 0..6), prop::collection::vec(economy, resources))
            .prop_map(move |(settings, economies)| Question { resources, settings, economies })
    })
}

fn check(question: &Question, effort: Effort) -> std::result::Result<(), TestCaseError> {
    let (several, answer) = question.solve(effort);
    let best = question.best();
    let mut sums = vec![Weight::default(); question.resources];
    let mut value = 0.0;
    for ((values, weights), &choice) in question.settings.iter().zip(several.choices()) {
        if values.is_empty() {
            prop_assert_eq!(choice, super::super::NO_CHOICE);
            continue;
        }
        value += values[choice as usize];
        for (resource, sum) in sums.iter_mut().enumerate() {
            *sum = sum.plus(weights[choice as usize * question.resources + resource]);
        }
    }
    prop_assert_eq!(value, answer.value);
    prop_assert_eq!(&sums[..], &answer.totals[..question.resources]);
    prop_assert!(!answer.burden.iter().chain(&answer.excess).chain(&answer.prices).any(|number| number.is_nan()));
    if answer.feasible {
        prop_assert!(question.fits(&sums), "{answer:?}");
        let best = best.expect("something fits");
        prop_assert!(answer.upper_bound >= best - 1e-9, "{best} {answer:?}");
        prop_assert!(value <= best + 1e-9);
        prop_assert!(answer.excess.iter().all(|&excess| excess == 0.0));
        if answer.proven {
            prop_assert!((value - best).abs() < 1e-9 && answer.gap == 0.0 && answer.upper_bound == value);
        }
    } else {
        prop_assert!(best.is_none() || !answer.proven, "{best:?} {answer:?}");
        prop_assert!(answer.excess.iter().any(|&excess| excess > 0.0), "{answer:?}");
    }
    Ok(())
}

/// Some settings of six options in five resources, whose capacities are tight.
fn large_question() -> impl Strategy<Value = Question> {
    let resources = 5;
    let weight = (0.0..77.0, 0.0..10.0).prop_map(|(mean, variance)| Weight { mean, variance });
    let setting = (prop::collection::vec(0.0..143.0, 6), prop::collection::vec(weight, 6 * resources));
    (prop::collection::vec(setting, 20..150), 30.0..36.0_f64).prop_map(move |(settings, share)| {
        let economy = Economy { capacity: share * settings.len() as f64, sigmas: 2.0 };
        Question { resources, settings, economies: vec![economy; resources] }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: scaled(30), failure_persistence: None, ..ProptestConfig::default() })]

    /// At most thirty passes and one exchange of two follow the end of the budget.
    #[test]
    fn node_limit_is_kept(question in large_question(), node_limit in 0..3000_u64) {
        let (_, answer) = question.solve(Effort { accepted_gap: 0.0, node_limit });
        let options: usize = question.settings.iter().map(|(values, _)| values.len()).sum();
        prop_assert!(answer.nodes <= node_limit + 30 * (1 + options as u64 / 64) + 505, "{answer:?}");
    }

    #[test]
    fn solving_again_loses_nothing(question in large_question(), node_limit in 0..3000_u64) {
        let effort = Effort { accepted_gap: 0.0, node_limit };
        let (mut several, mut last) = question.solve(effort);
        for _ in 0..4 {
            let next = several.solve(&question.economies, effort).expect("an answer");
            prop_assert!(!last.feasible || next.feasible && next.value >= last.value - 1e-9, "{last:?} {next:?}");
            last = next;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: scaled(500), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reported_solutions_are_true(question in question()) {
        check(&question, Effort::default())?;
    }

    #[test]
    fn reported_bounds_are_true_at_the_node_limit(question in question(), node_limit in 0..200_u64) {
        check(&question, Effort { accepted_gap: 0.0, node_limit })?;
    }

    #[test]
    fn accepted_gap_is_respected(question in question()) {
        let (_, answer) = question.solve(Effort { accepted_gap: 0.1, ..Effort::default() });
        prop_assert!(!answer.feasible || answer.gap <= 0.1, "{answer:?}");
        check(&question, Effort { accepted_gap: 0.1, ..Effort::default() })?;
    }

    #[test]
    fn constant_added_to_the_values_of_a_setting_changes_neither_choices_nor_proof(
        question in question(),
        shifts in prop::collection::vec(-1e9..1e9_f64, 8),
        accepted_gap in prop_oneof![Just(0.0), Just(0.05), Just(0.5)],
        node_limit in 0..100_u64,
    ) {
        let mut question = question;
        // Multiples of 2^-20, so that all sums are exact.
        let round = |value: &mut f64| *value = (*value * 1048576.0).round() / 1048576.0;
        question.settings.iter_mut().flat_map(|(values, _)| values).for_each(round);
        let mut shifted = question.clone();
        for ((values, _), shift) in shifted.settings.iter_mut().zip(&shifts) {
            values.iter_mut().for_each(|value| *value += shift.round());
        }
        let effort = Effort { accepted_gap, node_limit };
        let ((plain, answer), (moved, moved_answer)) = (question.solve(effort), shifted.solve(effort));
        prop_assert_eq!(plain.choices(), moved.choices());
        let facts = |of: Answer| (of.feasible, of.proven, of.gap, of.nodes, of.burden, of.prices);
        prop_assert_eq!(facts(answer), facts(moved_answer));
    }

    #[test]
    fn small_instances_are_proven(question in question()) {
        let (_, answer) = question.solve(Effort::default());
        prop_assert!(answer.proven, "{answer:?}");
        prop_assert_eq!(answer.feasible, question.best().is_some());
    }

    #[test]
    fn numbers_of_any_magnitude_are_handled(question in extreme_question(), node_limit in 0..2000_u64) {
        let (several, answer) = question.solve(Effort { accepted_gap: 0.0, node_limit });
        prop_assert_eq!(several.choices().len(), question.settings.len());
        let numbers = answer.burden.iter().chain(&answer.excess).chain(&answer.prices);
        prop_assert!(!numbers.chain([&answer.value, &answer.upper_bound]).any(|number| number.is_nan()), "{answer:?}");
        prop_assert!(!answer.gap.is_nan() && answer.gap >= 0.0, "{answer:?}");
        prop_assert_eq!(answer.feasible, answer.excess.iter().all(|&excess| excess == 0.0), "{:?}", answer);
    }

    #[test]
    fn earlier_solves_change_no_reported_bound(first in question(), second in question()) {
        let mut several = Several::new();
        for question in [&first, &second, &second] {
            several.clear(question.resources).expect("a valid count");
            for (values, weights) in &question.settings {
                several.add_setting(values, weights).expect("valid options");
            }
            let answer = several.solve(&question.economies, Effort::default()).expect("an answer");
            let (_, fresh) = question.solve(Effort::default());
            prop_assert_eq!((answer.feasible, answer.proven), (fresh.feasible, fresh.proven));
            prop_assert!(!answer.feasible || (answer.value - fresh.value).abs() < 1e-9);
        }
    }
}

#[test]
fn variance_is_rejected_once_the_deviation_budget_is_spent() {
    let weights = |variance| [Weight { mean: 0.0, variance }, Weight::default(), Weight::default()];
    let options = [weights(1.0), weights(0.0), weights(0.0)].concat();
    let none = Economy { capacity: 0.0, sigmas: 0.0 };
    let question = Question {
        resources: 3,
        settings: vec![(vec![9.0, 0.0, 0.0], options)],
        economies: vec![Economy { capacity: 0.0, sigmas: 1.0 }, none, none],
    };
    let (several, answer) = question.solve(Effort::default());
    assert!(answer.feasible && answer.proven, "{answer:?}");
    assert_eq!((answer.value, several.choices()), (0.0, &[1][..]));
}

/// The small cores are searched only beyond the accepted gap. The bound once left that out, so it was below the best
/// value, and the answer was reported as proven.
#[test]
fn bound_includes_answers_within_the_accepted_gap() {
    let weights =
        |list: &[(f64, f64)]| list.iter().map(|&(mean, variance)| Weight { mean, variance }).collect::<Vec<_>>();
    let question = Question {
        resources: 2,
        settings: vec![
            (vec![0.0], weights(&[(-1.0, 0.0), (0.0, 2.4228541853821954)])),
            (vec![0.0, 0.0], weights(&[(0.0, 0.8675220673032423), (5.0, 1.0), (0.0, 1.0), (0.0, 0.0)])),
            (vec![2.0, 5.0, 9.0], weights(&[(-2.0, 0.0), (3.0, 0.0), (-1.0, 0.0), (4.0, 1.0), (5.0, 0.0), (0.0, 0.0)])),
            (
                vec![15.0, 8.0, -1.0, 6.824147803210105],
                weights(&[
                    (4.0, 0.0),
                    (2.0, 3.0030086709186796),
                    (-2.0, 1.2638861823015095),
                    (8.0, 2.6041048816782957),
                    (2.0, 1.7858015944575591),
                    (0.32916505065958346, 1.0),
                    (0.0, 0.0),
                    (5.0, 0.0),
                ]),
            ),
            (
                vec![9.0, -4.0, 18.0, 4.113926371627814],
                weights(&[
                    (4.0, 0.0),
                    (7.0, 1.7766897958405004),
                    (2.0, 0.0),
                    (4.0, 0.0),
                    (5.0, 1.0),
                    (4.0, 2.14030366077273),
                    (-1.0, 0.0),
                    (-1.0, 1.0),
                ]),
            ),
            (
                vec![-4.0, 13.0, 7.0, 15.515526467081099],
                weights(&[
                    (8.0, 0.0),
                    (-1.0, 1.7389154715073603),
                    (6.0, 1.0),
                    (0.0, 1.0),
                    (7.0, 1.0),
                    (-2.0, 1.0),
                    (7.0, 0.0),
                    (f64::INFINITY, 0.0),
                ]),
            ),
        ],
        economies: vec![
            Economy { capacity: 15.0, sigmas: 1.8572839003057449 },
            Economy { capacity: 22.306546631461266, sigmas: 1.0 },
        ],
    };
    for accepted_gap in [0.0, 0.1] {
        check(&question, Effort { accepted_gap, ..Effort::default() }).expect("the bound holds");
    }
}

/// Found by chance: the bound of the relaxation is above the optimum by rounding alone.
#[test]
fn rounding_in_the_bound_costs_no_search() {
    let weight = |mean, variance| Weight { mean, variance };
    let none = Weight::default();
    let weights = [
        [none, none, weight(7.0, 0.0)],
        [none, weight(0.0, 1.0), weight(0.0, 2.7161279890311985)],
        [none, weight(1.0, 1.0), weight(8.0, 0.0)],
    ];
    let economy = |capacity, sigmas| Economy { capacity, sigmas };
    let question = Question {
        resources: 3,
        settings: vec![(vec![0.0, 0.0, 1.0], weights.concat())],
        economies: vec![economy(0.0, 0.0), economy(3.2298350123524697, 2.6095966803541866), economy(7.0, 1.0)],
    };
    let (_, answer) = question.solve(Effort::default());
    assert!(answer.proven && answer.nodes < 1000, "{answer:?}");
}
