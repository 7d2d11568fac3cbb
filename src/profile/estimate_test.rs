//! Each rule of the seed, with numbers calculated by hand.

use super::*;

const SEED: Rules = Rules { measure_quota: 30, blind: Blind::Optimistic, hitches: Hitches::NONE };
const CAUTIOUS: Rules = Rules { blind: Blind::Cautious, ..SEED };

/// `count` samples, half of them `mean - deviation` and half `mean + deviation` (an even count), all on one frame.
fn learned(count: u64, mean: f64, deviation: f64) -> Learned {
    let mut learned = Learned::NOTHING;
    (0..count).for_each(|n| learned.add(if n % 2 == 0 { mean - deviation } else { mean + deviation }, 1));
    learned
}

fn past(count: u64, mean: f64, deviation: f64) -> Estimate {
    Estimate { count, mean, deviation }
}

fn burdens(rules: &Rules, sampled: &[Learned], past: Option<&[Estimate]>, ratio: f64) -> Vec<Burden> {
    let mut burdens = vec![Burden::default(); sampled.len()];
    estimate(rules, sampled, past, ratio, &mut burdens);
    burdens
}

#[track_caller]
fn assert_burden(burden: Burden, mean: f64, deviation: f64, source: Source) {
    let found = (burden.normal.mean, burden.normal.deviation());
    assert!((found.0 - mean).abs() < 1e-9, "mean {} instead of {mean}", found.0);
    assert!((found.1 - deviation).abs() < 1e-9, "deviation {} instead of {deviation}", found.1);
    assert_eq!(burden.source, source);
}

#[test]
fn setting_without_samples_is_unknown() {
    let mut burdens = [Burden::default(); 2];
    assert!(!estimate(&SEED, &[Learned::NOTHING; 2], None, 1.0, &mut burdens));
    assert!(!estimate(&SEED, &[Learned::NOTHING; 2], Some(&[past(0, 5.0, 0.0); 2]), 1.0, &mut burdens));
    assert!(estimate(&SEED, &[learned(2, 1.0, 0.0), Learned::NOTHING], None, 1.0, &mut burdens));
    assert!(estimate(&SEED, &[Learned::NOTHING; 2], Some(&[past(1, 5.0, 0.0); 2]), 1.0, &mut burdens));
}

#[test]
fn recent_distribution_is_used_alone_at_the_quota() {
    // 30 samples of 4 on frame 1, one of 10 on frame 31. The weight of the 30 has decayed to 30·(29/30)^30 = 10.850.
    // Mean (10.850·4 + 10)/11.850 = 4.50634, variance 10.850/11.850²·36 = 2.78164. The past has no effect.
    let mut sampled = learned(30, 4.0, 0.0);
    sampled.add(10.0, 31);
    let weight = 30.0 * (29.0f64 / 30.0).powi(30);
    let (mean, variance) = ((weight * 4.0 + 10.0) / (weight + 1.0), weight / (weight + 1.0).powi(2) * 36.0);
    assert!((mean - 4.506_34).abs() < 1e-4 && (variance - 2.781_6).abs() < 1e-3, "{mean} {variance}");
    let found = burdens(&SEED, &[sampled], Some(&[past(100, 50.0, 1.0)]), 2.0);
    assert_burden(found[0], mean, variance.sqrt(), Source::Recent);
}

#[test]
fn unsampled_option_uses_the_scaled_past_estimate() {
    let found = burdens(&SEED, &[Learned::NOTHING], Some(&[past(100, 4.0, 0.5)]), 1.5);
    assert_burden(found[0], 6.0, 0.75, Source::Past);
}

#[test]
fn prior_weight_falls_in_proportion_below_the_quota() {
    // 12 of 30 samples, 40 %: mean 0.6·(4·1.5) + 0.4·10 = 7.6; variance 0.6·(0.5·1.5)² + 0.4·1² = 0.7375.
    let found = burdens(&SEED, &[learned(12, 10.0, 1.0)], Some(&[past(100, 4.0, 0.5)]), 1.5);
    assert_burden(found[0], 7.6, 0.7375f64.sqrt(), Source::Ramp);
}

#[test]
fn blind_guess_is_the_lightest_known_option() {
    // The setting has 3000 samples; the untried option lacks 30: 1 % below the lightest known option, option 1.
    let sampled = [learned(1500, 8.0, 0.0), learned(1500, 5.0, 0.0), Learned::NOTHING];
    assert_burden(burdens(&SEED, &sampled, None, 1.0)[2], 4.95, 0.0, Source::Blind);
    // Past data counts as known: 2·0.5 is lighter than both.
    let sampled = [learned(1500, 8.0, 0.0), Learned::NOTHING, learned(1500, 5.0, 0.0), Learned::NOTHING];
    let before = [past(0, 0.0, 0.0), past(9, 2.0, 0.0), past(0, 0.0, 0.0), past(0, 0.0, 0.0)];
    assert_burden(burdens(&SEED, &sampled, Some(&before), 0.5)[3], 0.99, 0.0, Source::Blind);
}

#[test]
fn blind_guess_is_reduced_by_the_missing_share() {
    // 40 samples in all. Untried: lacks 30 of 40, 75 % off: 4·0.25 = 1.
    let sampled = [learned(40, 4.0, 0.0), Learned::NOTHING];
    assert_burden(burdens(&SEED, &sampled, None, 1.0)[1], 1.0, 0.0, Source::Blind);
    // The reduction is at most 100 %: 10 samples in all, lacks 30: the guess is 0.
    let sampled = [learned(10, 4.0, 0.0), Learned::NOTHING];
    assert_burden(burdens(&SEED, &sampled, None, 1.0)[1], 0.0, 0.0, Source::Blind);
    // The reduction is 100 % if the setting has no sample in this run, regardless of past data.
    let found = burdens(&SEED, &[Learned::NOTHING; 2], Some(&[past(9, 4.0, 1.0), past(0, 0.0, 0.0)]), 1.0);
    assert_burden(found[1], 0.0, 0.0, Source::Blind);
}

#[test]
fn first_samples_blend_with_the_reduced_guess() {
    // Option 1 has 6 of 30 samples; 46 in all; lacks 24: the guess is 4·(1 − 24/46) = 1.913043.
    // The ramp takes 80 % of the guess and 20 % of the option's own mean 10: 3.530435.
    let found = burdens(&SEED, &[learned(40, 4.0, 0.0), learned(6, 10.0, 0.0)], None, 1.0);
    assert_burden(found[1], 0.8 * 4.0 * (1.0 - 24.0 / 46.0) + 0.2 * 10.0, 0.0, Source::Ramp);
}

#[test]
fn zero_quota_trusts_the_first_sample() {
    let rules = Rules { measure_quota: 0, ..SEED };
    assert_burden(burdens(&rules, &[learned(2, 7.0, 0.0)], None, 1.0)[0], 7.0, 0.0, Source::Recent);
}

#[test]
fn cautious_mode_leaves_out_the_highest_of_a_few_samples() {
    // One hitch of 100 among three samples: the mean of the others is 6, that of all 112/3. A tenth of the quota is filled.
    let mut sampled = Learned::NOTHING;
    [5.0, 100.0, 7.0].iter().for_each(|&ms| sampled.add(ms, 1));
    let found = burdens(&CAUTIOUS, &[sampled], None, 1.0);
    assert!((found[0].normal.mean - (0.9 * 6.0 + 0.1 * 112.0 / 3.0)).abs() < 0.05, "{}", found[0].normal.mean);
}

/// With the lowest sample instead, the estimate of the cheapest of many options was a deviation too low.
#[test]
fn eight_samples_estimate_the_mean_within_a_third_of_the_deviation() {
    let (mut state, mut sum) = (1u64, 0.0);
    let options = 400;
    for _ in 0..options {
        let mut sampled = Learned::NOTHING;
        for frame in 0..8 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let uniform = ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
            sampled.add_unless_hitch(10.0 + crate::stats::normal_quantile(uniform), frame);
        }
        sum += burdens(&CAUTIOUS, &[sampled], None, 1.0)[0].normal.mean;
    }
    let mean = sum / f64::from(options);
    assert!((9.67..=10.05).contains(&mean), "{mean}");
}

#[test]
fn a_sample_below_half_of_the_past_refutes_it_and_one_above_does_not() {
    let mean = |ms: f64| burdens(&CAUTIOUS, &[learned(2, ms, 0.0)], Some(&[past(100, 4.0, 0.0)]), 2.0)[0].normal.mean;
    // 2 of 30 samples.
    assert!((mean(4.5) - (28.0 * 8.0 + 2.0 * 4.5) / 30.0).abs() < 1e-9, "{}", mean(4.5));
    assert!((mean(40.0) - (28.0 * 8.0 + 2.0 * 40.0) / 30.0).abs() < 1e-9, "{}", mean(40.0));
    assert_eq!(mean(3.5), 3.5);
}

#[test]
fn cautious_mode_never_estimates_an_untried_option_below_the_lightest() {
    let found = burdens(&CAUTIOUS, &[learned(2, 4.0, 0.0), Learned::NOTHING], None, 1.0);
    assert_eq!((found[1].normal.mean, found[1].source), (4.0, Source::Blind));
}

#[test]
fn the_ratio_weighs_options_by_their_samples() {
    // Option 0: 10 samples of 6, past mean 4. Option 1: 300 samples of 9, capped at 30, past mean 3. Option 2 has no
    // past.
    let sampled = [learned(10, 6.0, 0.0), learned(300, 9.0, 0.0), learned(50, 70.0, 0.0)];
    let before = [past(5, 4.0, 0.0), past(500, 3.0, 0.0), past(0, 0.0, 0.0)];
    let ratio = past_to_present_ratio(&SEED, [(&sampled[..], &before[..])].into_iter());
    assert!((ratio - (10.0 * 6.0 + 30.0 * 9.0) / (10.0 * 4.0 + 30.0 * 3.0)).abs() < 1e-12);
}

#[test]
fn zero_cost_history_gives_no_nan_ratio() {
    for mean in [0.0, 3.0] {
        let sampled = [learned(10, mean, 0.0)];
        assert_eq!(past_to_present_ratio(&SEED, [(&sampled[..], &[past(5, 0.0, 0.0)][..])].into_iter()), 1.0);
    }
    assert_eq!(past_to_present_ratio(&SEED, std::iter::empty()), 1.0);
    // A quota of 0 does not disable the comparison.
    let (sampled, before) = ([learned(10, 6.0, 0.0)], [past(5, 3.0, 0.0)]);
    let rules = Rules { measure_quota: 0, ..SEED };
    assert_eq!(past_to_present_ratio(&rules, [(&sampled[..], &before[..])].into_iter()), 2.0);
}

#[test]
fn hitches_are_dropped_and_confirmed_changes_are_accepted() {
    let mut sampled = Learned::NOTHING;
    (1..=40).for_each(|frame| _ = sampled.add_unless_hitch(if frame % 2 == 0 { 3.9 } else { 4.1 }, frame));
    let before = sampled.recent.normal();
    sampled.add_unless_hitch(60.0, 41);
    sampled.add_unless_hitch(60.0, 41);
    assert_eq!(sampled.recent.normal(), before);
    sampled.add_unless_hitch(4.0, 42);
    assert!((sampled.recent.normal().mean - 4.0).abs() < 0.05);
    [8.0, 8.2, 8.1].iter().for_each(|&ms| _ = sampled.add_unless_hitch(ms, 43));
    assert!((sampled.recent.normal().mean - 8.1).abs() < 1e-9, "dearer: at the third");
    sampled.add_unless_hitch(4.0, 45);
    sampled.add_unless_hitch(4.0, 46);
    assert_eq!(sampled.recent.normal().mean, 4.0);
}

#[test]
fn change_below_the_quota_shows_in_the_estimate() {
    let mut sampled = Learned::NOTHING;
    (1..=5).for_each(|frame| _ = sampled.add_unless_hitch(4.0, frame));
    (6..=8).for_each(|frame| _ = sampled.add_unless_hitch(12.0, frame));
    assert_eq!(burdens(&CAUTIOUS, &[sampled], None, 1.0)[0].normal.mean, 12.0);
}

#[test]
fn frequent_peaks_are_not_hitches() {
    // Every second frame costs four times as much. After a few frames, both kinds count.
    let mut sampled = Learned::NOTHING;
    (1..=200).for_each(|frame| _ = sampled.add_unless_hitch(if frame % 2 == 0 { 2.0 } else { 8.0 }, frame));
    let found = sampled.recent.normal();
    assert!((found.mean - 5.0).abs() < 0.5 && (found.deviation() - 3.0).abs() < 0.5, "{found:?}");
}

#[test]
fn occasional_hitches_count_in_the_long_run() {
    let mut learned = Learned::NOTHING;
    for frame in 0..4000 {
        learned.add_unless_hitch(if frame % 100 == 99 { 3.0 } else { 1.0 + 0.01 * f64::from(frame as u32 % 5) }, frame);
    }
    let found = burdens(&CAUTIOUS, &[learned], None, 1.0)[0].normal;
    assert!((found.mean - 1.04).abs() < 0.005 && (found.deviation() - 0.2).abs() < 0.02, "{found:?}");
    assert_eq!(learned.long_run(), found);
    for calm in [learned.steady.normal(), learned.recent.normal()] {
        assert!((calm.mean - 1.02).abs() < 0.01 && calm.deviation() < 0.05, "{calm:?}");
    }
    // One hitch among a few samples hardly counts.
    let mut learned = Learned::NOTHING;
    (0..20).for_each(|frame| _ = learned.add_unless_hitch(if frame == 10 { 9.0 } else { 1.0 }, frame));
    assert!((1.0..1.005).contains(&mean(&[learned], 0)), "{}", mean(&[learned], 0));
}

/// Options that had no hitch yet are not the cheapest ones.
#[test]
fn hitches_of_all_options_count_for_an_option_that_had_none() {
    let (mut learned, mut all) = ([Learned::NOTHING; 2], Hitches::NONE);
    for frame in 0..20_000 {
        add_to_task(&mut learned, 0, if frame % 100 == 99 { 3.0 } else { 1.0 }, frame, &mut all);
    }
    (0..30).for_each(|frame| add_to_task(&mut learned, 1, 1.0, 20_000 + frame, &mut all));
    let found = burdens(&Rules { hitches: all, ..CAUTIOUS }, &learned, None, 1.0);
    assert!((found[1].normal.mean / found[0].normal.mean - 1.0).abs() < 0.002, "{found:?}");
    assert!((found[1].normal.deviation() / found[0].normal.deviation() - 1.0).abs() < 0.05, "{found:?}");
    let clamped = learned[1].clamped(&all, 0.4) * found[1].normal.mean;
    assert!((clamped - 1.004).abs() < 1e-3, "{clamped}");
}

/// Otherwise past estimates would shrink with every run.
#[test]
fn past_estimates_are_compared_with_means_that_have_hitches_too() {
    let (mut learned, mut all) = ([Learned::NOTHING; 2], Hitches::NONE);
    for frame in 0..20_000 {
        add_to_task(&mut learned, 0, if frame % 100 == 99 { 3.0 } else { 1.0 }, frame, &mut all);
    }
    (0..15).for_each(|frame| add_to_task(&mut learned, 1, 1.0, 20_000 + frame, &mut all));
    let (rules, before) = (Rules { hitches: all, ..CAUTIOUS }, [past(5000, 1.02, 0.2); 2]);
    let ratio = past_to_present_ratio(&rules, [(&learned[..], &before[..])].into_iter());
    assert!((ratio - 1.0).abs() < 0.002, "{ratio}");
    let found = burdens(&rules, &learned, Some(&before), ratio);
    let means = [found[0].normal.mean, found[1].normal.mean];
    assert!(means.iter().all(|mean| (mean / 1.02 - 1.0).abs() < 0.002), "{means:?}");
}

#[test]
fn estimates_fade_from_old_to_recent_samples_as_these_accumulate() {
    let mut sampled = Learned::NOTHING;
    (1..=400).for_each(|frame| _ = sampled.add_unless_hitch(5.0, frame));
    let mean = |sampled: &Learned| burdens(&CAUTIOUS, &[*sampled], None, 1.0)[0].normal.mean;
    let mut means = vec![mean(&sampled)];
    for frame in 401..=460 {
        sampled.add_unless_hitch(6.5, frame);
        means.push(mean(&sampled));
    }
    let steps = means.windows(2).map(|pair| pair[1] - pair[0]);
    let largest = steps.fold(0.0, f64::max);
    assert!(means[0] == 5.0 && means.is_sorted() && largest < 0.2, "a step of {largest}: {means:?}");
    assert!(means[4] > 5.01 && means[12] > 5.1 && means[16] > 5.3 && means[60] > 6.1, "{means:?}");
}

#[test]
fn estimates_of_a_steady_burden_do_not_follow_chance() {
    let (mut sampled, mut state, mut off) = (Learned::NOTHING, 1u64, 0.0f64);
    for frame in 1..=4000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        sampled.add_unless_hitch(5.0 * (0.95 + 0.1 * (state >> 11) as f64 / (1u64 << 53) as f64), frame);
        if frame > 400 {
            off = off.max((burdens(&CAUTIOUS, &[sampled], None, 1.0)[0].normal.mean - 5.0).abs());
        }
    }
    assert!(off < 0.05, "{off}");
}

/// Samples around 5 with noise of 6 % that lasts about 40 frames.
fn lasting_noise() -> impl Iterator<Item = f64> {
    let (mut state, mut noise) = (1u64, 0.0);
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let uniform = ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        noise = 0.95 * noise + 0.0975f64.sqrt() * crate::stats::normal_quantile(uniform);
        5.0 * (1.0 + 0.06 * noise)
    })
}

#[test]
fn estimates_of_a_steady_burden_do_not_follow_lasting_noise() {
    let (mut sampled, mut squares) = (Learned::NOTHING, 0.0);
    for (frame, sample) in lasting_noise().take(20_000).enumerate() {
        sampled.add_unless_hitch(sample, frame as u64);
        if frame >= 2000 {
            squares += (mean(&[sampled], 0) / 5.0 - 1.0).powi(2);
        }
    }
    let off = (squares / 18_000.0).sqrt();
    assert!(off < 0.02, "the estimate strays by {off}");
}

#[test]
fn a_lasting_change_under_lasting_noise_is_followed() {
    let mut sampled = Learned::NOTHING;
    for (frame, sample) in lasting_noise().take(5000).enumerate() {
        sampled.add_unless_hitch(if frame < 4000 { sample } else { 1.4 * sample }, frame as u64);
    }
    assert!((mean(&[sampled], 0) / 7.0 - 1.0).abs() < 0.06, "{}", mean(&[sampled], 0));
}

#[test]
fn lasting_noise_of_an_option_moves_no_other_option() {
    let mut learned = [Learned::NOTHING; 2];
    measure(&mut learned, 1, 2.0, 0..100);
    let (mut frame, mut noise) = (100, lasting_noise());
    for _ in 0..20 {
        for sample in noise.by_ref().take(200) {
            add_to_task(&mut learned, 0, sample, frame, &mut { Hitches::NONE });
            frame += 1;
        }
        // The option is chosen again after a pause.
        frame += 100;
    }
    assert!((mean(&learned, 1) - 2.0).abs() < 0.1, "{}", mean(&learned, 1));
}

/// Samples of an option of a task, one each frame, up and down by 2 %.
fn measure(learned: &mut [Learned], option: usize, mean: f64, frames: std::ops::Range<u64>) {
    for frame in frames {
        let noise = if frame % 2 == 0 { 0.98 } else { 1.02 };
        add_to_task(learned, option, mean * noise, frame, &mut { Hitches::NONE });
    }
}

fn mean(learned: &[Learned], option: usize) -> f64 {
    recent(&CAUTIOUS, &learned[option]).mean
}

#[test]
fn options_without_samples_follow_when_the_scene_changes_the_cost_of_their_pass() {
    let mut learned = [Learned::NOTHING; 3];
    measure(&mut learned, 1, 2.0, 0..100);
    measure(&mut learned, 0, 1.0, 100..200);
    let counts = learned.map(|option| option.run.count());
    measure(&mut learned, 0, 1.3, 200..320);
    assert!((mean(&learned, 1) - 2.6).abs() < 0.05, "{}", mean(&learned, 1));
    assert_eq!((learned[1].run.count(), learned[1].run.mean()), (counts[1], 2.0), "the run has only what was measured");
    assert_eq!(learned[2].run.count(), 0);
    measure(&mut learned, 0, 1.0, 320..440);
    assert!((mean(&learned, 1) - 2.0).abs() < 0.05, "{}", mean(&learned, 1));
    // Slowly, too.
    (0..60).for_each(|n| measure(&mut learned, 0, 1.0 + 0.01 * n as f64, 440 + 10 * n..450 + 10 * n));
    measure(&mut learned, 0, 1.6, 1040..1160);
    assert!((mean(&learned, 1) - 3.2).abs() < 0.1, "{}", mean(&learned, 1));
}

#[test]
fn a_wrong_estimate_of_an_option_that_is_measured_again_moves_no_other_option() {
    let mut learned = [Learned::NOTHING; 2];
    measure(&mut learned, 1, 2.0, 0..20);
    measure(&mut learned, 0, 1.0, 20..200);
    measure(&mut learned, 1, 3.0, 200..300);
    assert!((mean(&learned, 1) - 3.0).abs() < 0.05, "{}", mean(&learned, 1));
    assert!((mean(&learned, 0) - 1.0).abs() < 0.02, "{}", mean(&learned, 0));
    // From then on it moves the others.
    measure(&mut learned, 1, 3.6, 300..420);
    assert!((mean(&learned, 0) - 1.2).abs() < 0.03, "{}", mean(&learned, 0));
}

#[test]
fn hitches_of_an_option_move_no_other_option() {
    let mut learned = [Learned::NOTHING; 2];
    measure(&mut learned, 1, 2.0, 0..100);
    measure(&mut learned, 0, 1.0, 100..200);
    for hitch in 0..5 {
        add_to_task(&mut learned, 0, 4.0, 200 + 40 * hitch, &mut { Hitches::NONE });
        measure(&mut learned, 0, 1.0, 201 + 40 * hitch..240 + 40 * hitch);
    }
    assert!((mean(&learned, 1) - 2.0).abs() < 0.02, "{}", mean(&learned, 1));
}
