//! Samples, totals and past profiles give estimates.

use super::*;
use crate::profile::Source;

#[test]
fn a_late_sample_is_attributed_to_the_choice_of_its_frame() {
    let mut goblin = goblin(10.0);
    let setting = add(&mut goblin, "a", &[1.0, 2.0]);
    let first = goblin.update().unwrap().id;
    goblin.measure(setting, &sample(first, 1.0)).unwrap();
    let later: Vec<(u64, usize)> = (0..40).map(|_| (goblin.update().unwrap().id, choice(&goblin, setting))).collect();
    let on_trial = later.iter().find(|(_, choice)| *choice == 1).expect("option 1 is tried").0;
    goblin.measure(setting, &sample(on_trial, 4.0)).unwrap();
    assert_eq!(goblin.estimate(setting, 1, GPU).unwrap().1, 1);
    assert_eq!(goblin.estimate(setting, 1, GPU).unwrap().0.normal.mean, 4.0);
    assert_eq!(goblin.estimate(setting, 0, GPU).unwrap().0.normal.mean, 1.0);
}

#[test]
fn samples_of_unknown_decisions_are_rejected_and_counted() {
    let mut goblin = goblin(10.0);
    let setting = add(&mut goblin, "a", &[1.0]);
    assert_eq!(goblin.measure(setting, &sample(0, 1.0)).unwrap_err().code(), Code::NotFound);
    for _ in 0..100 {
        goblin.update().unwrap();
    }
    assert_eq!(goblin.measure(setting, &sample(36, 1.0)).unwrap_err().code(), Code::NotFound);
    assert_eq!(goblin.measure(setting, &sample(101, 1.0)).unwrap_err().code(), Code::NotFound);
    goblin.measure(setting, &sample(37, 1.0)).unwrap();
    goblin.measure(setting, &sample(0, 1.0)).unwrap();
    assert_eq!((goblin.statistics().refused, goblin.statistics().samples), (3, 2));
    // A setting that was added later is not part of earlier frames, even at the position of a removed setting.
    goblin.remove_setting(setting).unwrap();
    let other = add(&mut goblin, "b", &[1.0]);
    assert_eq!(other.index1, setting.index1);
    assert_eq!(goblin.measure(other, &sample(100, 1.0)).unwrap_err().code(), Code::NotFound);
    assert_eq!(goblin.measure(setting, &sample(100, 1.0)).unwrap_err().code(), Code::NotFound);
}

#[test]
fn work_predicts_the_burden_of_a_heavier_scene_at_once() {
    let mut goblin = goblin(10.0);
    let setting = add(&mut goblin, "a", &[0.0, 1.0, 2.0]);
    let frame = |goblin: &mut Goblin, work: f64| {
        goblin.set_work(setting, work).unwrap();
        let decision = goblin.update().unwrap();
        let burden = [0.1, 3.0, 6.0][choice(goblin, setting)] * work;
        goblin.measure(setting, &sample(decision.id, burden)).unwrap();
        (choice(goblin, setting), burden)
    };
    (0..200).for_each(|_| _ = frame(&mut goblin, 1.0));
    assert_eq!(frame(&mut goblin, 1.0), (2, 6.0));
    assert_eq!(frame(&mut goblin, 2.0), (1, 6.0));
    assert_eq!(frame(&mut goblin, 4.0), (0, 0.4));
    assert_eq!(frame(&mut goblin, 0.5), (2, 3.0));
}

#[test]
fn settings_that_share_a_task_pool_their_samples() {
    let mut goblin = goblin(10.0);
    let (a, b) = (add(&mut goblin, "light", &[0.0, 1.0]), add(&mut goblin, "light", &[0.0, 5.0]));
    goblin.update().unwrap();
    goblin.measure(a, &sample(0, 1.0)).unwrap();
    assert_eq!(goblin.estimate(b, 0, GPU).unwrap().1, 1);
    goblin.remove_setting(a).unwrap();
    assert_eq!(goblin.estimate(b, 0, GPU).unwrap().1, 1);
    goblin.remove_setting(b).unwrap();
    let c = add(&mut goblin, "light", &[0.0, 5.0]);
    assert_eq!(goblin.estimate(c, 0, GPU).unwrap().1, 1, "the estimate is kept in case the setting returns");
}

#[test]
fn another_number_of_options_drops_the_estimates() {
    let mut goblin = goblin(10.0);
    let setting = add(&mut goblin, "a", &[0.0, 1.0]);
    let old = goblin.update().unwrap().id;
    goblin.measure(setting, &sample(old, 1.0)).unwrap();
    let same = [OptionDesc::worth(3.0), OptionDesc::worth(4.0)];
    goblin.set_options(setting, &same).unwrap();
    assert_eq!(goblin.estimate(setting, 0, GPU).unwrap().1, 1);
    goblin.set_options(setting, &[OptionDesc::worth(1.0); 5]).unwrap();
    assert_eq!(goblin.estimate(setting, 0, GPU).unwrap().1, 0);
    assert_eq!(goblin.measure(setting, &sample(old, 1.0)).unwrap_err().code(), Code::NotFound);
    let decision = goblin.update().unwrap();
    goblin.measure(setting, &sample(decision.id, 1.0)).unwrap();
    goblin.set_options(setting, &[]).unwrap();
    goblin.update().unwrap();
    assert_eq!(goblin.choice(setting).unwrap(), None);
}

#[test]
fn a_past_profile_is_used_at_once_and_its_scale_is_learned() {
    let mut first = goblin(16.0);
    let mut machine = Machine::new(3);
    renderer(&mut machine, &mut first);
    let settled = (0..600).map(|_| machine.frame(&mut first).0).last().unwrap();
    let past = first.profile().unwrap();
    for speed in [0.5, 1.0, 2.0] {
        let mut second = goblin(16.0 * speed);
        second.set_past_profile(&past).unwrap();
        let mut machine = Machine::new(3);
        renderer(&mut machine, &mut second);
        machine.costs.iter_mut().flat_map(|(_, costs)| costs).for_each(|cost| *cost *= speed);
        let values: Vec<f64> = (0..100).map(|_| machine.frame(&mut second).0.chosen.value).collect();
        // The first samples arrive before the sixth frame. Trials of options with few past samples are single frames.
        let good = values[6..].iter().filter(|&&value| value >= 0.9 * settled.chosen.value).count();
        assert!(good >= 84, "{speed}: {good} of 94 frames, {values:?}");
        assert!((second.ratio() / speed - 1.0).abs() < 0.1, "{speed}: {}", second.ratio());
    }
}

#[test]
fn saved_profile_equals_the_known_estimates() {
    let mut past = Profile::new();
    let estimates = [Estimate { count: 7, mean: 0.1, deviation: 1.0 / 3.0 }, Estimate::default()];
    past.set("a", &estimates).unwrap();
    past.set("not a setting here", &estimates).unwrap();
    let mut goblin = Goblin::new(&Config { trial_limit: 0, ..config(16.0) }).unwrap();
    goblin.set_past_profile(&past).unwrap();
    let setting = add(&mut goblin, "a", &[0.0, 1.0]);
    assert_eq!(goblin.profile().unwrap(), past, "without samples the past profile is returned bit-exact");
    goblin.update().unwrap();
    goblin.measure(setting, &sample(0, 0.2)).unwrap();
    let saved = goblin.profile().unwrap();
    assert_eq!(saved.find("a").unwrap()[0], Estimate { count: 1, mean: 0.2, deviation: 0.0 });
    let elsewhere = saved.find("not a setting here").unwrap()[0];
    assert!((elsewhere.mean - 0.2).abs() < 1e-15, "scaled to this machine: {elsewhere:?}");
}

#[test]
fn a_past_with_other_options_is_not_used() {
    let mut past = Profile::new();
    past.set("a", &[Estimate { count: 7, mean: 1.0, deviation: 0.0 }; 3]).unwrap();
    let mut goblin = goblin(16.0);
    goblin.set_past_profile(&past).unwrap();
    let setting = add(&mut goblin, "a", &[0.0, 1.0]);
    assert_eq!(goblin.estimate(setting, 0, GPU).unwrap().0.source, Source::Blind);
}

#[test]
fn anomaly_is_measured_over_typical() {
    let mut goblin = goblin(16.0);
    let setting = add(&mut goblin, "a", &[0.0]);
    goblin.update().unwrap();
    goblin.measure(setting, &sample(0, 4.0)).unwrap();
    goblin.harvest();
    assert_eq!(goblin.statistics().anomaly, 0.0, "the first sample has no typical cost yet");
    goblin.measure(setting, &sample(0, 6.0)).unwrap();
    goblin.harvest();
    assert_eq!((goblin.statistics().anomaly, goblin.statistics().recent_anomaly), (1.5, 1.5));
    goblin.measure(setting, &sample(0, 5.0)).unwrap();
    goblin.harvest();
    assert_eq!(goblin.statistics().anomaly, 1.0);
    assert!((goblin.statistics().recent_anomaly - (29.0 / 30.0 * 1.5 + 1.0 / 30.0)).abs() < 1e-12);
}

#[test]
fn an_option_recovers_from_a_single_hitch() {
    let mut goblin = goblin(10.0);
    let setting = add(&mut goblin, "a", &[0.0, 5.0]);
    let mut hitch = true;
    let mut used = 0;
    for frame in 0..3000 {
        let decision = goblin.update().unwrap();
        let option = choice(&goblin, setting);
        let burden = if option == 1 && std::mem::take(&mut hitch) { 200.0 } else { [1.0, 4.0][option] };
        goblin.measure(setting, &sample(decision.id, burden)).unwrap();
        used += usize::from(frame >= 1500 && option == 1);
    }
    assert!(!hitch && used > 1400, "used in {used} of the last 1500 frames");
}

#[test]
fn a_wrong_past_profile_is_corrected() {
    let mut past = Profile::new();
    let hitch = Estimate { count: 1, mean: 200.0, deviation: 0.0 };
    past.set("a", &[Estimate { count: 100, mean: 1.0, deviation: 0.1 }, hitch]).unwrap();
    let mut goblin = goblin(10.0);
    goblin.set_past_profile(&past).unwrap();
    let setting = add(&mut goblin, "a", &[0.0, 5.0]);
    for _ in 0..20_000 {
        let decision = goblin.update().unwrap();
        goblin.measure(setting, &sample(decision.id, [1.0, 4.0][choice(&goblin, setting)])).unwrap();
    }
    assert_eq!(choice(&goblin, setting), 1);
}

#[test]
fn a_task_that_returns_with_fewer_options_is_learned_again() {
    let mut goblin = goblin(10.0);
    let setting = add(&mut goblin, "a", &[0.0, 1.0, 2.0]);
    goblin.update().unwrap();
    goblin.measure(setting, &sample(0, 1.0)).unwrap();
    goblin.remove_setting(setting).unwrap();
    let again = add(&mut goblin, "a", &[0.0, 2.0]);
    assert_eq!(goblin.estimate(again, 0, GPU).unwrap().1, 0);
}

#[test]
fn estimates_survive_while_a_lane_has_no_limit() {
    let mut on_frame = Config::default();
    on_frame.limits[1] = 10.0;
    let mut goblin = Goblin::new(&on_frame).unwrap();
    let setting = add(&mut goblin, "a", &[0.0]);
    goblin.update().unwrap();
    goblin.measure(setting, &Sample { lane: 1, ..sample(0, 3.0) }).unwrap();
    goblin.configure(&Config::default()).unwrap();
    goblin.update().unwrap();
    goblin.measure(setting, &Sample { lane: 1, ..sample(0, 3.0) }).unwrap();
    assert_eq!(goblin.statistics().samples, 2);
    goblin.configure(&on_frame).unwrap();
    goblin.configure(&config(10.0)).unwrap();
    assert_eq!(goblin.estimate(setting, 0, GPU).unwrap().1, 0, "another lane has other burdens");
}

#[test]
fn totals_of_frames_with_a_removed_setting_are_not_learned() {
    let mut goblin = Goblin::new(&Config { burdens: Burdens::Totals, ..config(100.0) }).unwrap();
    let one = [OptionDesc { relative_burden: 5.0, ..OptionDesc::worth(0.0) }];
    let stays = goblin.add_setting(&SettingDesc::new("stays", &one)).unwrap();
    let goes = goblin.add_setting(&SettingDesc::new("goes", &one)).unwrap();
    let changes = goblin.add_setting(&SettingDesc::new("changes", &one)).unwrap();
    let mut in_flight = std::collections::VecDeque::new();
    let mut frame = |goblin: &mut Goblin, total: f64| {
        in_flight.push_back((goblin.update().unwrap().id, total));
        if in_flight.len() > 4 {
            let (decision, total) = in_flight.pop_front().unwrap();
            goblin.measure_total(&sample(decision, total)).unwrap();
        }
    };
    (0..100).for_each(|_| frame(&mut goblin, 15.0));
    let mean = |goblin: &Goblin| goblin.estimate(stays, 0, GPU).unwrap().0.normal.mean;
    assert!((mean(&goblin) - 5.0).abs() < 0.1, "{}", mean(&goblin));
    goblin.remove_setting(goes).unwrap();
    for _ in 0..20 {
        frame(&mut goblin, 10.0);
        assert!((mean(&goblin) - 5.0).abs() < 0.1, "{}", mean(&goblin));
    }
    goblin.set_options(changes, &[one[0], one[0]]).unwrap();
    for _ in 0..20 {
        frame(&mut goblin, 10.0);
        assert!((mean(&goblin) - 5.0).abs() < 0.1, "{}", mean(&goblin));
    }
}

#[test]
fn a_common_slowdown_applies_to_options_that_are_not_chosen() {
    let mut goblin = goblin(16.0);
    let mut machine = Machine::new(3);
    let settings = renderer(&mut machine, &mut goblin);
    (0..1200).for_each(|_| _ = machine.frame(&mut goblin));
    let expensive = goblin.estimate(settings[0], 3, GPU).unwrap().0.normal.mean;
    let before = machine.frame(&mut goblin).0.chosen.value;
    let scale = |machine: &mut Machine, factor: f64| {
        machine.costs.iter_mut().flat_map(|(_, costs)| costs).for_each(|cost| *cost *= factor);
    };
    scale(&mut machine, 1.3);
    let over = (0..600).filter(|_| machine.frame(&mut goblin).1 > 16.0).count();
    assert!(over < 20, "{over} of 600 frames over");
    let slow = goblin.estimate(settings[0], 3, GPU).unwrap().0.normal.mean;
    assert!((slow / expensive / 1.3 - 1.0).abs() < 0.05, "the estimate rises without samples: {expensive} then {slow}");
    scale(&mut machine, 1.0 / 1.3);
    let mut values: Vec<f64> = (0..600).map(|_| machine.frame(&mut goblin).0.chosen.value).collect();
    // A small excess may lower a setting for some seconds.
    values.sort_by(f64::total_cmp);
    assert!(values[300] > 0.98 * before, "{before} before, {} in half of the frames", values[300]);
}

#[test]
fn totals_alone_identify_the_costs_of_options() {
    let mut goblin = Goblin::new(&Config { burdens: Burdens::Totals, ..config(20.0) }).unwrap();
    // True costs, and the host's estimates in its own unit, wrong by a factor of up to two.
    let costs = [[1.0, 4.0, 8.0], [0.5, 3.0, 7.0], [2.0, 5.0, 9.0]];
    let rough = [[80.0, 250.0, 1500.0], [90.0, 520.0, 400.0], [120.0, 880.0, 900.0]];
    let settings: Vec<Id> = (0..3)
        .map(|n| {
            let option =
                |o: usize| OptionDesc { relative_burden: rough[n][o], ..OptionDesc::worth([0.0, 3.0, 5.0][o]) };
            let options = [option(0), option(1), option(2)];
            goblin.add_setting(&SettingDesc::new(&format!("setting {n}"), &options)).unwrap()
        })
        .collect();
    let mut noise = Dice(3);
    let (mut over, mut value) = (0, 0.0);
    for frame in 0..3000 {
        let decision = goblin.update().unwrap();
        let of_setting = |n: usize| costs[n][choice(&goblin, settings[n])];
        let took = (0..3).map(of_setting).sum::<f64>() * (0.98 + 0.04 * noise.next());
        goblin.measure_total(&sample(decision.id, took)).unwrap();
        if frame >= 1000 {
            over += usize::from(took > 20.0);
            value += decision.chosen.value / 2000.0;
        }
    }
    // Choices that fit: 8 + 7 + 2 (10), 8 + 3 + 5 (11, the best: 16 of 20) and 4 + 7 + 5 (11). Two of the highest and a
    // middle one do not fit.
    assert!(over < 20 && value > 10.7, "{over} frames over, value {value}");
    for (n, &setting) in settings.iter().enumerate() {
        let estimated = goblin.estimate(setting, 1, GPU).unwrap().0.normal.mean;
        assert!((estimated - costs[n][1]).abs() < 1.0, "setting {n}: {estimated}");
    }
}

/// A setting that alone takes ten times as long for a third of a second says nothing about the others.
#[test]
fn an_overload_of_one_setting_changes_no_estimate_of_another_for_long() {
    for (peak, noise) in [(40.0, 0.0), (12.0, 0.0), (40.0, 0.03)] {
        let mut config = Config { overrun_probability: 0.01, ..Config::default() };
        config.limits[0] = 16.6;
        let mut goblin = Goblin::new(&config).unwrap();
        let mut dice = Dice(7);
        let settings: Vec<Id> =
            (0..4).map(|n| add(&mut goblin, &format!("setting {n}"), &[0.0, 4.0, 6.0, 7.0])).collect();
        let rest = add(&mut goblin, "rest", &[0.0]);
        for frame in 0..3600 {
            let decision = goblin.update().unwrap().id;
            for &id in &settings {
                let burden =
                    (0.2 + f64::from(goblin.choice(id).unwrap().unwrap())) * (1.0 + noise * (dice.next() - 0.5) * 3.5);
                goblin.measure(id, &sample(decision, burden)).unwrap();
            }
            let burden = if (3000..3020).contains(&frame) { peak } else { 4.0 };
            goblin.measure(rest, &sample(decision, burden)).unwrap();
        }
        for &id in &settings {
            for option in 0..4 {
                let mean = goblin.estimate(id, option, GPU).unwrap().0.normal.mean;
                let expected = 0.2 + f64::from(option);
                assert!((mean / expected - 1.0).abs() < 0.15, "{peak} {noise}: option {option}: {mean} of {expected}");
            }
        }
        assert!((goblin.statistics().recent_anomaly - 1.0).abs() < 0.1);
    }
}

#[test]
fn a_past_profile_of_other_options_is_unlearned() {
    let names = ["shadows", "ambient occlusion", "resolution", "detail", "post", "rest"];
    for is_reversed in [true, false] {
        let (mut goblin, mut machine, mut past) = (goblin(16.0), Machine::new(3), Profile::new());
        renderer(&mut machine, &mut goblin);
        for ((_, costs), name) in machine.costs.iter().zip(names) {
            let estimate = |mean: f64| Estimate { count: 1000, mean, deviation: 0.03 * mean };
            let mut wrong = costs.clone();
            if is_reversed {
                wrong.reverse()
            } else {
                wrong[0] = 1000.0
            }
            let all: Vec<_> = wrong.into_iter().map(estimate).collect();
            past.set(name, &all).unwrap();
        }
        goblin.set_past_profile(&past).unwrap();
        let frames: Vec<_> = (0..1024).map(|_| machine.frame(&mut goblin)).collect();
        let late = |from: usize| frames[from..].iter().filter(|(_, total)| *total > 16.0).count();
        let value = frames[1000].0.chosen.value;
        println!(
            "reversed {is_reversed}: {} late frames of 1024, {} of the last 768, value {value}",
            late(0),
            late(256)
        );
        // Without a past profile the value is 17. Options whose past is wrong and looks right are not tried.
        assert!(late(0) <= 100 && late(256) <= 16 && value >= 12.0, "reversed {is_reversed}");
    }
}

/// The common factor is found from clamped samples. If it expected whole hitches, it would fall for minutes, and options without
/// recent samples would look too cheap.
#[test]
fn rare_hitches_do_not_make_options_without_recent_samples_look_cheap() {
    let mut goblin = goblin(16.0);
    let mut machine = Machine::new(3);
    machine.hitches = Some((100, 3.0));
    renderer(&mut machine, &mut goblin);
    (0..24_000).for_each(|_| _ = machine.frame(&mut goblin));
    let mut compared = 0;
    for (id, costs) in &machine.costs {
        for (option, &cost) in costs.iter().enumerate().filter(|(_, cost)| **cost > 0.0) {
            let (burden, samples) = goblin.estimate(*id, option as u32, GPU).unwrap();
            let off = burden.normal.mean / (1.02 * cost) - 1.0;
            assert!(samples < 30 || off.abs() < 0.03, "{option} of {costs:?}: {off:+.3}, {samples} samples");
            compared += u32::from((30..18_000).contains(&samples));
        }
    }
    assert!(compared >= 3, "{compared} options had few samples");
}
