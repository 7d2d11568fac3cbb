//! Simulated work: the loss against always-best, changes, the table, replays, and bad input.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;
use crate::base::Code;
use crate::testing::allocator::{allocations, with_failure};

/// Noise of a duration, as a factor with mean 1.
#[derive(Clone, Copy, Debug)]
enum Noise {
    None,
    /// Log-normal, with this deviation.
    Normal(f64),
    /// Log-normal with a deviation of 0.1, and one duration in a hundred that is ten times as long.
    Spikes,
}

impl Noise {
    fn factor(self, random: &mut Random) -> f64 {
        // Box and Muller.
        let normal = (-2.0 * (1.0 - random.unit()).ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos();
        let log_normal = |deviation: f64| (deviation * normal - deviation * deviation / 2.0).exp();
        match self {
            Self::None => 1.0,
            Self::Normal(deviation) => log_normal(deviation),
            Self::Spikes if random.unit() < 0.01 => 10.0 / 1.09,
            Self::Spikes => log_normal(0.1) / 1.09,
        }
    }
}

/// Durations that say nothing about the strategy, beside the noise.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Trouble {
    None,
    /// The first duration of each strategy is ten times as long: caches are cold.
    ColdStart,
    /// The first six pieces of work take ten times as long: the host still loads.
    Loading,
    /// Every tenth piece of work takes five times as long.
    Rhythm,
    /// One piece in 500 begins a hitch of three to eight pieces, which take ten times as long.
    Hitches,
}

/// Work whose mean durations change once.
struct Work<'a> {
    before: &'a [f64],
    after: &'a [f64],
    change: u64,
    noise: Noise,
    trouble: Trouble,
    /// Pieces of work until a duration is known.
    delay: usize,
}

impl<'a> Work<'a> {
    /// Work without a change or a trouble.
    fn steady(means: &'a [f64], noise: Noise) -> Self {
        Self { before: means, after: means, change: 10_000, noise, trouble: Trouble::None, delay: 0 }
    }
}

/// The result of a run.
struct Outcome {
    /// Time lost before the change, as a share of the time of the best strategy.
    loss: f64,
    /// Pieces of work after the change, until 15 of 20 have the best strategy.
    found: u64,
}

/// The troubles of a run, as factors of durations.
struct Troubles {
    trouble: Trouble,
    piece: u64,
    is_warm: [bool; MAX_STRATEGIES],
    /// Remaining pieces of a hitch.
    hitch: u32,
}

impl Troubles {
    fn factor(&mut self, strategy: usize, random: &mut Random) -> f64 {
        self.piece += 1;
        if self.trouble == Trouble::Rhythm {
            return if self.piece.is_multiple_of(10) { 5.0 } else { 1.0 };
        }
        let is_slow = match self.trouble {
            Trouble::None | Trouble::Rhythm => false,
            Trouble::ColdStart => !std::mem::replace(&mut self.is_warm[strategy], true),
            Trouble::Loading => self.piece <= 6,
            Trouble::Hitches if self.hitch > 0 => true,
            Trouble::Hitches => random.unit() < 0.002,
        };
        if self.trouble == Trouble::Hitches && is_slow {
            self.hitch = if self.hitch == 0 { 2 + (6.0 * random.unit()) as u32 } else { self.hitch - 1 };
        }
        if is_slow { 10.0 } else { 1.0 }
    }
}

fn run(work: &Work<'_>, options: Options, seed: u64, pieces: u64) -> Outcome {
    let mut balance = Balance::new(Options { strategies: work.before.len(), seed, ..options }).expect("valid");
    let (mut random, mut late) = (Random(!seed), VecDeque::new());
    let mut troubles = Troubles { trouble: work.trouble, piece: 0, is_warm: [false; MAX_STRATEGIES], hitch: 0 };
    let least = |means: &[f64]| means.iter().copied().fold(f64::INFINITY, f64::min);
    let (mut lost, mut found, mut window) = (0.0, None, VecDeque::from([false; 20]));
    for piece in 0..pieces {
        let means = if piece < work.change { work.before } else { work.after };
        let chosen = balance.choose();
        let factor = troubles.factor(chosen, &mut random) * work.noise.factor(&mut random);
        late.push_back((chosen, 0.004 * means[chosen] * factor));
        if late.len() > work.delay {
            let (strategy, seconds) = late.pop_front().expect("it is there");
            assert!(balance.measure(strategy, seconds).expect("it exists"));
        }
        let loss = means[chosen] / least(means) - 1.0;
        if piece < work.change {
            lost += loss;
            continue;
        }
        window.pop_front();
        window.push_back(loss == 0.0);
        if found.is_none() && window[0] && window.iter().filter(|&&is_best| is_best).count() >= 15 {
            found = Some(piece - 19 - work.change);
        }
    }
    Outcome { loss: lost / work.change.min(pieces) as f64, found: found.unwrap_or(u64::MAX) }
}

/// Mean and worst loss of 20 seeds of 10,000 pieces of work.
fn losses(work: &Work<'_>) -> (f64, f64) {
    let losses: Vec<f64> = (0..20).map(|seed| run(work, Options::default(), seed, 10_000).loss).collect();
    let (mean, worst) = (losses.iter().sum::<f64>() / 20.0, losses.iter().copied().fold(0.0, f64::max));
    let Work { before, noise, trouble, delay, .. } = work;
    println!("{noise:?} {trouble:?} {before:?} delay {delay}: {:.2} %, worst {:.2} %", 100.0 * mean, 100.0 * worst);
    (mean, worst)
}

/// Strategies by their means. The printed losses set the constants.
const SETS: [&[f64]; 9] = [
    &[1.0, 1.0],
    &[1.0, 1.05],
    &[1.0, 1.15],
    &[1.3, 1.0],
    &[1.0, 2.0],
    &[4.0, 1.0],
    &[1.0, 20.0],
    &[2.0, 1.0, 1.1],
    &[3.0, 1.5, 1.2, 1.0, 1.3, 2.0, 8.0, 1.1],
];

const NOISES: [Noise; 5] = [Noise::None, Noise::Normal(0.05), Noise::Normal(0.1), Noise::Normal(0.3), Noise::Spikes];

#[test]
fn stationary_work_loses_at_most_2_percent() {
    for noise in NOISES {
        for means in SETS {
            for delay in [0, 3] {
                let (mean, _) = losses(&Work { delay, ..Work::steady(means, noise) });
                // Eight strategies in noise that is three times the least difference are not told apart at once. A hitch
                // in the first durations misleads for a while. The two first choices of a strategy that takes 20 times as
                // long cost 0.4 % of 10,000 pieces.
                let is_noisy = matches!(noise, Noise::Normal(0.3));
                let is_hard = matches!(noise, Noise::Spikes) || (is_noisy && (means.len() == 8 || means[1] == 20.0));
                let most = if is_hard { 0.025 } else { 0.02 };
                assert!(mean <= most, "{noise:?} {means:?} {delay}: {mean}");
            }
        }
    }
}

#[test]
fn slow_pieces_and_hitches_lose_a_bounded_share() {
    for trouble in [Trouble::ColdStart, Trouble::Loading, Trouble::Rhythm, Trouble::Hitches] {
        for noise in [Noise::None, Noise::Normal(0.1)] {
            for means in SETS {
                let (mean, _) = losses(&Work { trouble, ..Work::steady(means, noise) });
                // Hitches are a tenth of all time. In each, the strategy that takes four times as long is chosen five times.
                // Of pieces in a rhythm, a strategy needs dozens until its mean is known.
                let most = if trouble == Trouble::Rhythm { 0.05 } else { 0.035 };
                assert!(mean <= most, "{noise:?} {trouble:?} {means:?}: {mean}");
            }
        }
    }
}

/// Log-normal durations whose deviation is 1.3 means.
#[test]
fn wildly_different_pieces_lose_at_most_10_percent() {
    for means in SETS {
        let (mean, _) = losses(&Work::steady(means, Noise::Normal(1.0)));
        assert!(mean <= 0.1, "{means:?}: {mean}");
    }
}

/// A strategy that rebuilds something now and then is fast most of the time, and still the slower one.
#[test]
fn rare_long_pieces_of_a_strategy_count() {
    for (every, long) in [(5, 5.0), (10, 20.0), (20, 40.0), (50, 60.0)] {
        let mean = (f64::from(every) - 1.0 + long) / f64::from(every);
        let means = [mean, 1.0 + (mean - 1.0) * 0.6];
        let run = |seed| {
            let mut balance = Balance::new(Options { seed, ..Options::default() }).expect("valid");
            let (mut random, mut rebuilds, mut total) = (Random(!seed), 0, 0.0);
            for _ in 0..10_000 {
                let chosen = balance.choose();
                rebuilds += u32::from(chosen == 0);
                let of_first = if rebuilds % every == 0 { long } else { 1.0 };
                let seconds = if chosen == 0 { of_first } else { means[1] };
                balance.measure(chosen, seconds * Noise::Normal(0.1).factor(&mut random)).expect("it exists");
                total += means[chosen];
            }
            total / 10_000.0 / means[1] - 1.0
        };
        let lost = (0..20).map(run).sum::<f64>() / 20.0;
        println!("one of {every} pieces takes {long} times as long: {:.2} %", 100.0 * lost);
        assert!(lost <= 0.035, "{every} {long}: {lost}");
    }
}

/// A strategy that becomes the best is in use within 40 pieces of work in 95 of 100 runs: two seconds at 20 frames a
/// second.
#[test]
fn newly_better_strategy_is_found_within_40_pieces() {
    // The strategy in use becomes slower, or another one becomes faster. Only a trial shows the latter.
    let changes: [(&[f64], &[f64]); 6] = [
        (&[1.0, 4.0], &[8.0, 4.0]),
        (&[1.0, 4.0], &[2.0, 1.0]),
        (&[1.0, 1.3], &[1.6, 1.3]),
        (&[1.0, 1.3], &[1.0, 0.6]),
        (&[1.0, 1.15], &[1.0, 0.8]),
        (&[1.0, 2.0, 4.0, 1.5], &[3.0, 2.0, 0.5, 3.0]),
    ];
    for noise in [Noise::None, Noise::Normal(0.05), Noise::Normal(0.1)] {
        for (before, after) in changes {
            let work = Work { before, after, change: 2_000, noise, trouble: Trouble::None, delay: 1 };
            let mut found: Vec<u64> = (0..200).map(|seed| run(&work, Options::default(), seed, 4_000).found).collect();
            found.sort_unstable();
            println!(
                "{noise:?} {before:?} to {after:?}: median {}, 95 % {}, worst {}",
                found[100], found[190], found[199]
            );
            assert!(found[190] <= 40, "{noise:?} {before:?} {after:?}: {}", found[190]);
        }
    }
}

/// The figures in the documentation of `hob_balance_restart`: a strategy in use that becomes slower shows at once, another
/// one that becomes faster only in its next trials.
#[test]
fn changes_are_found_within_the_stated_number_of_pieces() {
    // Means before and after, and the median number of pieces of work.
    let cases: [(&[f64], &[f64], std::ops::RangeInclusive<u64>); 7] = [
        (&[1.0, 4.0], &[8.0, 4.0], 0..=12),
        (&[1.0, 1.3], &[1.6, 1.3], 0..=12),
        (&[1.0, 2.0, 4.0, 1.5], &[3.0, 2.0, 4.0, 1.5], 0..=12),
        (&[1.0, 1.3], &[1.0, 0.6], 5..=20),
        (&[1.0, 2.0], &[1.0, 0.5], 20..=50),
        (&[1.0, 4.0], &[1.0, 0.5], 70..=130),
        (&[1.0, 8.0], &[1.0, 0.5], 200..=350),
    ];
    for (before, after, stated) in cases {
        for noise in [Noise::None, Noise::Normal(0.1)] {
            let work = Work { before, after, change: 2_000, noise, trouble: Trouble::None, delay: 1 };
            let mut found: Vec<u64> = (0..200).map(|seed| run(&work, Options::default(), seed, 9_000).found).collect();
            found.sort_unstable();
            println!(
                "{before:?} to {after:?} {noise:?}: median {}, 95 % {}, worst {}",
                found[100], found[190], found[199]
            );
            assert!(stated.contains(&found[100]), "{before:?} {after:?} {noise:?}: {}", found[100]);
        }
    }
}

#[test]
fn no_strategy_is_starved() {
    let work = [1.0, 50.0];
    let mut balance = Balance::new(Options::default()).expect("valid");
    for _ in 0..40_000 {
        let chosen = balance.choose();
        balance.measure(chosen, work[chosen]).expect("it exists");
    }
    let [fast, slow] = [0, 1].map(|at| balance.strategy(at).expect("it exists"));
    // 49 / 0.015 pieces between two trials.
    assert!((8..=20).contains(&slow.chosen), "{slow:?}");
    assert_eq!((fast.chosen + slow.chosen, balance.fastest()), (40_000, Some(0)));
}

#[test]
fn table_has_the_published_shares() {
    let recent = |seconds: f64| {
        let mut recent = Recent::default();
        (0..30).for_each(|_| recent.add(seconds));
        recent
    };
    assert_eq!(table::share(&Recent::default(), &recent(1.0)), 0.5);
    for (times, share) in [(1.0, 0.5), (1.14, 0.5), (1.16, 0.75), (1.29, 0.75), (1.31, 0.9), (1.51, 0.95), (9.0, 0.95)]
    {
        assert_eq!(table::share(&recent(2.0), &recent(2.0 * times)), share, "{times}");
        assert!((table::share(&recent(2.0 * times), &recent(2.0)) - (1.0 - share)).abs() < 1e-12, "{times}");
    }
    // Of the last 20 durations alone.
    let mut later = recent(9.0);
    (0..20).for_each(|_| later.add(1.0));
    assert_eq!(table::share(&later, &recent(1.0)), 0.5);
    let work =
        Work { before: &[1.0, 4.0], after: &[], change: 20_000, noise: Noise::None, trouble: Trouble::None, delay: 0 };
    let loss = run(&work, Options { policy: Policy::Table, ..Options::default() }, 1, 20_000).loss;
    assert!((0.13..0.17).contains(&loss), "5 % of 3 durations: {loss}");
}

#[test]
fn invalid_options_and_durations_are_refused_or_ignored() {
    let options = Options::default();
    for (options, part) in [
        (Options { strategies: 0, ..options }, "1 to 64"),
        (Options { strategies: 65, ..options }, "1 to 64"),
        (Options { strategies: 3, policy: Policy::Table, ..options }, "the table is for 2"),
        (Options { trial_share: 0.0, ..options }, "above 0"),
        (Options { trial_share: f64::NAN, ..options }, "above 0"),
        (Options { trial_share: 1.5, ..options }, "up to 1"),
    ] {
        let why = Balance::new(options).expect_err(part);
        assert_eq!(why.code(), Code::InvalidArgument);
        assert!(why.sentence().contains(part), "{why}");
    }
    let mut balance = Balance::new(options).expect("valid");
    for seconds in [0.0, -0.0, 3601.0, f64::MAX] {
        assert!(!balance.measure(1, seconds).expect("it exists"), "{seconds}");
    }
    for seconds in [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -f64::MIN_POSITIVE] {
        assert_eq!(balance.measure(1, seconds).expect_err("invalid").code(), Code::InvalidArgument, "{seconds}");
    }
    assert_eq!((balance.strategy(1).expect("it exists").ignored, balance.fastest()), (9, None));
    for strategy in [2, 63, 64, usize::MAX] {
        assert_eq!(balance.measure(strategy, 1.0).expect_err("there are 2").code(), Code::NotFound);
    }
    assert_eq!(balance.strategy(2), None);
    // Least and greatest durations.
    for seconds in [f64::MIN_POSITIVE, 3600.0, 1e-300, 3600.0, 5e-324] {
        assert!(balance.measure(0, seconds).expect("it exists"));
        assert!(balance.strategy(0).expect("it exists").mean.is_finite());
        balance.choose();
    }
}

#[test]
fn unmeasured_strategies_share_the_work() {
    let mut balance = Balance::new(Options { strategies: 3, ..Options::default() }).expect("valid");
    let chosen: Vec<usize> = (0..9).map(|_| balance.choose()).collect();
    assert_eq!(chosen, [0, 1, 2, 0, 1, 2, 0, 1, 2]);
    // One that is never measured is tried now and then.
    let mut count = 0;
    for _ in 0..2_000 {
        let chosen = balance.choose();
        count += u64::from(chosen == 2);
        if chosen < 2 {
            balance.measure(chosen, 0.001).expect("it exists");
        }
    }
    assert!((5..60).contains(&count), "{count}");
}

/// The choices for pieces of work.
fn spend(balance: &mut Balance, means: &[f64], pieces: usize) -> Vec<usize> {
    let piece = |_| {
        let chosen = balance.choose();
        balance.measure(chosen, means[chosen]).expect("it exists");
        chosen
    };
    (0..pieces).map(piece).collect()
}

#[test]
fn every_strategy_is_chosen_twice_in_the_beginning_and_after_a_restart() {
    let mut balance = Balance::new(Options { strategies: 4, ..Options::default() }).expect("valid");
    assert_eq!(spend(&mut balance, &[1.0, 4.0, 90.0, 5.0], 1_000)[..8], [0, 1, 2, 3, 0, 1, 2, 3]);
    assert_eq!(balance.fastest(), Some(0));
    balance.restart();
    assert_eq!(balance.fastest(), None);
    let super::Strategy { chosen, measured, mean, share, .. } = balance.strategy(0).expect("it exists");
    assert!(mean == 0.0 && share == 0.0, "restart forgets durations");
    assert!(chosen > 900 && measured == chosen, "and no count");
    let after = spend(&mut balance, &[9.0, 4.0, 1.0, 5.0], 40);
    assert_eq!(after[..8], [0, 1, 2, 3, 0, 1, 2, 3]);
    assert_eq!((balance.fastest(), after[39]), (Some(2), 2));
}

#[test]
fn slow_first_duration_does_not_hide_the_best_strategy() {
    for slow in [2.0, 5.0, 100.0] {
        let mut balance = Balance::new(Options { strategies: 3, ..Options::default() }).expect("valid");
        assert_eq!(balance.choose(), 0);
        balance.measure(0, slow).expect("it exists");
        let after = spend(&mut balance, &[1.0, 1.5, 2.0], 20);
        assert_eq!((after[19], balance.fastest()), (0, Some(0)), "{slow}: {after:?}");
    }
}

#[test]
fn strategy_that_met_a_hitch_is_in_use_again_after_50_pieces() {
    for pieces in 1..10 {
        for hitch in [1.5, 2.0, 10.0] {
            let mut balance = Balance::new(Options::default()).expect("valid");
            spend(&mut balance, &[1.0, 1.3], 300);
            spend(&mut balance, &[hitch, 1.3 * hitch], pieces);
            let after = spend(&mut balance, &[1.0, 1.3], 60);
            let of_best = after[50..].iter().filter(|&&chosen| chosen == 0).count();
            assert!(of_best >= 9, "{pieces} pieces, {hitch} times: {after:?}");
        }
    }
}

#[test]
fn one_strategy_is_always_chosen() {
    let mut balance = Balance::new(Options { strategies: 1, ..Options::default() }).expect("valid");
    assert!(spend(&mut balance, &[1.0], 100).iter().all(|&chosen| chosen == 0));
    assert_eq!((balance.fastest(), balance.strategy(0).expect("it exists").share), (Some(0), 1.0));
}

#[test]
fn shares_are_of_the_last_choices() {
    let mut balance = Balance::new(Options::default()).expect("valid");
    assert_eq!(balance.strategy(1).expect("it exists").share, 0.0);
    spend(&mut balance, &[1.0, 9.0], 4);
    assert_eq!(balance.strategy(1).expect("it exists").share, 0.5);
    let all = spend(&mut balance, &[1.0, 9.0], 500);
    let chosen = all[500 - SHARE_OF..].iter().filter(|&&chosen| chosen == 1).count();
    assert_eq!(balance.strategy(1).expect("it exists").share, chosen as f64 / SHARE_OF as f64);
}

#[test]
fn only_creation_allocates_and_its_failure_is_a_result() {
    let new = || Balance::new(Options { strategies: 5, ..Options::default() }).map(|_| ());
    assert_eq!(with_failure(0, new).expect_err("no memory").code(), Code::OutOfMemory);
    let mut balance = Balance::new(Options { strategies: 5, ..Options::default() }).expect("valid");
    let count = allocations(|| {
        for piece in 0..10_000 {
            let chosen = balance.choose();
            balance.measure(chosen, 1.0 + (piece % 7) as f64).expect("it exists");
        }
        balance.restart();
    });
    assert_eq!(count, 0);
}

proptest! {
    /// The same calls give the same choices, whatever they are.
    #[test]
    fn choices_are_a_function_of_the_calls(
        seed in any::<u64>(), strategies in 2..6_usize, is_table in any::<bool>(),
        calls in prop::collection::vec((0..8_usize, prop::num::f64::ANY), 0..300),
    ) {
        let policy = if is_table && strategies == 2 { Policy::Table } else { Policy::Accounts };
        let play = || {
            let mut balance = Balance::new(Options { strategies, seed, policy, ..Options::default() }).expect("valid");
            let mut choices = Vec::new();
            for &(call, seconds) in &calls {
                match call {
                    0 => balance.restart(),
                    1..4 => drop(balance.measure(call % strategies, seconds)),
                    4..6 => drop(balance.measure(call % strategies, seconds.abs().fract())),
                    _ => choices.push(balance.choose()),
                }
            }
            choices
        };
        let choices = play();
        prop_assert!(choices.iter().all(|&choice| choice < strategies));
        prop_assert_eq!(choices, play());
    }
}
