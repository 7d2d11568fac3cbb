//! Against brute force.

use super::*;
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

    /// The greatest value that fits, by looking at all combinations.
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_claimed_is_true(question in question()) {
        check(&question, Effort::default())?;
    }
}
