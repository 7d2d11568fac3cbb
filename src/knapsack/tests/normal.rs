//! Properties of burdens with a deviation.

use super::*;

#[test]
fn least_mean_is_not_mistaken_for_least_burden() {
    // By mean, the first option of each setting is lighter. With deviations, only the second ones fit together.
    let settings = vec![vec![option(1.0, 1.0, 16.0), option(1.0, 2.0, 0.0)]; 4];
    let (solution, choices) = solved(&settings, 8.0, 3.0);
    assert!(solution.feasible && solution.proven);
    assert_eq!((solution.burden, choices), (8.0, vec![1; 4]));
}

#[test]
fn least_own_deviation_is_not_mistaken_for_least_total_deviation() {
    // Alone, mean 3 is lighter than mean 0 with deviation 4. Sixteen together have a deviation of 16, not of 64.
    let settings = vec![vec![option(1.0, 3.0, 0.0), option(1.0, 0.0, 16.0)]; 16];
    let (solution, choices) = solved(&settings, 16.0, 1.0);
    assert!(solution.feasible);
    assert_eq!((solution.burden, choices), (16.0, vec![1; 16]));
}

#[test]
fn least_burden_can_mix_options_with_and_without_variance() {
    let steady_or_not = |mean: f64, variance: f64| vec![option(0.0, mean, 0.0), option(0.0, 0.0, variance)];
    let settings = [steady_or_not(1.0, 1.0), steady_or_not(1.0, 25.0), steady_or_not(5.0, 36.0)];
    let (solution, choices) = solved(&settings, 0.5, 1.0);
    // 1 + 0 + 5 = 6 and 0 + 1 + 5 + 1 = 7, but 0 + 1 + 0 + sqrt(37) = 7.1, and 1 + 1 + 5 = 7: the first.
    let burden = |a: usize, b: usize, c: usize| {
        let chosen = [settings[0][a], settings[1][b], settings[2][c]];
        chosen.iter().map(|o| o.mean).sum::<f64>() + chosen.iter().map(|o| o.variance).sum::<f64>().sqrt()
    };
    let all = (0..8).map(|bits| burden(bits & 1, bits >> 1 & 1, bits >> 2));
    let least = all.fold(f64::INFINITY, f64::min);
    assert!(!solution.feasible);
    assert_eq!(solution.burden, least);
    assert_eq!(burden(choices[0].into(), choices[1].into(), choices[2].into()), least);
    assert_eq!(solution.excess, least - 0.5);
}

#[test]
fn zero_sigmas_ignores_variances_but_reports_them() {
    let settings = [vec![option(0.0, 0.0, 0.0), option(1.0, 1.0, 1e6)]];
    let (solution, _) = solved(&settings, 1.0, 0.0);
    assert_eq!((solution.value, solution.burden, solution.variance), (1.0, 1.0, 1e6));
}

#[test]
fn sigmas_have_no_effect_without_variances() {
    let mut random = Random(11);
    let mut settings = random.settings(30, 5);
    settings.iter_mut().flatten().for_each(|option| option.variance = 0.0);
    let (plain, _) = solved(&settings, 150.0, 0.0);
    let (with_sigmas, _) = solved(&settings, 150.0, 5.0);
    assert!(plain.proven && with_sigmas.proven);
    assert!((plain.value - with_sigmas.value).abs() < 1e-9);
}

#[test]
fn equal_variances_only_reduce_the_capacity() {
    let mut random = Random(12);
    let mut settings = random.settings(30, 5);
    settings.iter_mut().flatten().for_each(|option| option.variance = 4.0);
    let (normal, _) = solved(&settings, 150.0 + 2.0 * f64::sqrt(30.0 * 4.0), 2.0);
    let (scalar, _) = solved(&settings, 150.0, 0.0);
    assert!(normal.proven && (normal.value - scalar.value).abs() < 1e-9);
}

#[test]
fn value_never_rises_with_sigmas() {
    let settings = Random(13).settings(30, 5);
    let mut last = f64::INFINITY;
    for sigmas in [0.0, 0.5, 1.0, 2.0, 3.0, 6.0, 20.0] {
        let (solution, _) = solved(&settings, 120.0, sigmas);
        assert!(solution.proven && solution.value <= last + 1e-9);
        last = solution.value;
    }
}

#[test]
fn burdens_of_every_magnitude_are_handled() {
    for scale in [1e-30, 1e-9, 1.0, 1e9, 1e30] {
        let mut settings = Random(14).settings(20, 5);
        for option in settings.iter_mut().flatten() {
            (option.mean, option.variance) = (option.mean * scale, option.variance * scale * scale);
        }
        let (solution, _) = solved(&settings, 90.0 * scale, 3.0);
        let (plain, _) = solved(&Random(14).settings(20, 5), 90.0, 3.0);
        assert!(solution.proven && (solution.value - plain.value).abs() < 1e-9, "{scale}: {solution:?} {plain:?}");
    }
}

/// The bound is above 0, and no value is. Costs are subtracted from that bound, not from 0.
#[test]
fn option_that_exactly_fits_is_not_rejected() {
    let settings = [vec![
        option(-7.742743864344671, 0.0, 0.0),
        option(0.0, 7.003407409599741, 1.7040964000080443),
        option(-6.6303063676094, 4.828613276051416, 11.391564222367764),
    ]];
    let (solution, choices) = solved(&settings, 4.828613276051416 + f64::sqrt(11.391564222367764), 1.0);
    assert_eq!((choices, solution.proven), (vec![2], true));
}

/// The picks must still be valid if the relaxation's first price was the right one.
#[test]
fn picks_match_the_relaxation() {
    let steady_or_not = vec![option(1.0, 3.0, 0.0), option(0.0, -2.0, 4.0)];
    let settings = [steady_or_not, vec![option(3.0, 5.0, 0.0), option(1.0, 3.0, 0.0)], vec![option(0.0, 4.0, 0.0)]];
    let (solution, choices) = solved(&settings, 10.0, 2.0);
    assert_eq!((solution.value, choices), (2.0, vec![0, 1, 0]));
}
