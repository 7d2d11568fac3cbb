//! Options of unknown cost are tried, and soon enough.

use std::collections::VecDeque;

use super::Dice;
use crate::base::Id;
use crate::goblin::*;

fn config(limit: f64) -> Config {
    let mut config = Config { overrun_probability: 0.01, ..Config::default() };
    config.limits[0] = limit;
    config
}

fn add(goblin: &mut Goblin, id: &str, values: &[f64]) -> Id {
    let options: Vec<OptionDesc> = values.iter().map(|&value| OptionDesc::worth(value)).collect();
    goblin.add_setting(&SettingDesc::new(id, &options)).unwrap()
}

/// Run frames of settings with these costs. Returns the number of late frames.
fn run(goblin: &mut Goblin, settings: &[(Id, Vec<f64>)], frames: usize, noise: &mut impl FnMut() -> f64) -> usize {
    let limit = goblin.config().limits[0];
    (0..frames)
        .filter(|_| {
            let decision = goblin.update().unwrap().id;
            let mut total = 0.0;
            for (id, costs) in settings {
                let burden = costs[usize::from(goblin.choice(*id).unwrap().unwrap())] * noise();
                goblin.measure(*id, &Sample { decision, lane: 0, burden, good: true }).unwrap();
                total += burden;
            }
            total > limit
        })
        .count()
}

fn choices(goblin: &Goblin, settings: &[(Id, Vec<f64>)]) -> Vec<u16> {
    settings.iter().map(|(id, _)| goblin.choice(*id).unwrap().unwrap()).collect()
}

#[test]
fn the_first_program_of_the_readme_chooses_the_best_option_that_fits() {
    for config in [config(16.6), Config { overrun_probability: 0.0, ..config(16.6) }] {
        let mut goblin = Goblin::new(&config).unwrap();
        let shadows = (add(&mut goblin, "shadows", &[0.0, 4.0, 6.0, 7.0]), vec![4.0, 7.0, 10.0, 13.0]);
        let settings = [shadows];
        let late = run(&mut goblin, &settings, 300, &mut || 1.0);
        assert_eq!((choices(&goblin, &settings), late), (vec![3], 0), "13 of 16.6 ms");
    }
}

#[test]
fn an_option_that_needs_room_is_tried_within_two_minutes() {
    let mut found = Vec::new();
    for seed in 1..=12u64 {
        let mut state = seed;
        let mut dice = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut goblin = Goblin::new(&config(10.0)).unwrap();
        let mut settings = Vec::new();
        for n in 0..5 {
            let values: Vec<f64> = (0..3).map(|option| (f64::from(option) + dice()) * 3.0).collect();
            let costs: Vec<f64> = (0..3).map(|option| 0.3 + f64::from(option) * (0.4 + 2.0 * dice())).collect();
            settings.push((add(&mut goblin, &format!("setting {n}"), &values), costs));
        }
        // The first setting is a valuable option that leaves little room for others.
        let (values, costs) = ([0.0, 1.0, 25.0], vec![0.3, 1.0, 6.5]);
        settings[0] = (add(&mut goblin, "needs room", &values), costs);
        run(&mut goblin, &settings, 60 * 120, &mut || 0.98 + 0.04 * dice());
        let untried = settings.iter().flat_map(|(id, costs)| (0..costs.len() as u32).map(move |option| (*id, option)));
        let untried = untried.filter(|&(id, option)| goblin.estimate(id, option, 0).unwrap().1 == 0).count();
        found.push((choices(&goblin, &settings), untried));
    }
    assert!(found.iter().all(|(choices, _)| choices[0] == 2), "{found:?}");
}

/// A setting in the middle of its options, while it waits for a patient host. Returns the decisions from the moment at
/// which an option becomes ready until it is tried.
fn decisions_until_tried(costs: &[f64], late: u32, ready: u64) -> Option<u64> {
    let config = Config { overrun_probability: 0.0, patience: 1000.0, ..config(10.0) };
    let mut goblin = Goblin::new(&config).unwrap();
    let values: Vec<f64> = (0..costs.len()).map(|option| option as f64).collect();
    let settings = [(add(&mut goblin, "a", &values), costs.to_vec())];
    goblin.set_ready(settings[0].0, late, false).unwrap();
    run(&mut goblin, &settings, ready as usize, &mut || 1.0);
    goblin.set_ready(settings[0].0, late, true).unwrap();
    (1..1000).find(|_| {
        run(&mut goblin, &settings, 1, &mut || 1.0);
        choices(&goblin, &settings) == [late as u16]
    })
}

/// Before, retries of known options used up the trials of a minute, and none of these was tried in 5,000 decisions.
#[test]
fn newly_ready_option_is_tried_within_two_seconds() {
    for (costs, late) in [(&[6.6, 7.0, 9.0][..], 1), (&[6.7, 7.9, 8.4], 2), (&[1.9, 5.6, 8.7, 8.8], 2)] {
        for ready in [1200, 1946, 2541] {
            let waited = decisions_until_tried(costs, late, ready);
            assert!(waited.is_some_and(|waited| waited <= 120), "{costs:?} from {ready}: {waited:?}");
        }
    }
}

/// Totals of frames with trials are not compared with forecasts. Before, a change of all costs was noticed only at the end
/// of the trial.
#[test]
fn trial_ends_when_all_costs_change() {
    let mut goblin = Goblin::new(&config(20.0)).unwrap();
    let mut settings: Vec<(Id, Vec<f64>)> =
        (0..4).map(|n| (add(&mut goblin, &format!("setting {n}"), &[0.0, 2.0, 4.0]), vec![1.0, 2.0, 4.0])).collect();
    goblin.set_ready(settings[0].0, 2, false).unwrap();
    run(&mut goblin, &settings, 1200, &mut || 1.0);
    goblin.set_ready(settings[0].0, 2, true).unwrap();
    let begins = (0..600).any(|_| {
        run(&mut goblin, &settings, 1, &mut || 1.0);
        goblin.decision().trials > 0
    });
    assert!(begins);
    settings.iter_mut().for_each(|(_, costs)| costs.iter_mut().for_each(|cost| *cost *= 1.6));
    let late = run(&mut goblin, &settings, 60, &mut || 1.0);
    assert!((1..=8).contains(&late), "{late} late frames");
}

#[test]
fn no_trial_is_taken_back_after_the_learning_phase() {
    for seed in 0..20u64 {
        let mut goblin = Goblin::new(&config(10.0)).unwrap();
        let mut state = seed;
        let mut dice = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let settings: Vec<(Id, Vec<f64>)> = (0..12)
            .map(|n| {
                let costs: Vec<f64> = (0..5).map(|option| 0.1 + f64::from(option) * dice()).collect();
                (add(&mut goblin, &format!("setting {n}"), &[0.0, 1.0, 2.0, 3.0, 4.0]), costs)
            })
            .collect();
        run(&mut goblin, &settings, 1024, &mut || 0.97 + 0.06 * dice());
        assert_eq!(goblin.decision().trials, 0, "seed {seed}");
        let before = choices(&goblin, &settings);
        run(&mut goblin, &settings, 1, &mut || 0.97 + 0.06 * dice());
        let after = choices(&goblin, &settings);
        let changes = before.iter().zip(&after).filter(|(before, after)| before != after).count();
        assert!(changes <= 1, "seed {seed}: {changes} changes in the first decision after the learning phase");
    }
}

#[test]
fn optimistic_estimates_do_not_use_the_common_anomaly() {
    for exploration in [Exploration::Optimistic, Exploration::Bounded] {
        let mut goblin = Goblin::new(&Config { exploration, ..config(100.0) }).unwrap();
        let settings: Vec<(Id, Vec<f64>)> =
            (0..4).map(|n| (add(&mut goblin, &format!("setting {n}"), &[0.0, 1.0]), vec![1.0, 2.0])).collect();
        run(&mut goblin, &settings, 300, &mut || 1.0);
        settings.iter().for_each(|(id, _)| goblin.set_range(*id, 1, 1).unwrap());
        run(&mut goblin, &settings, 60, &mut || 1.4);
        assert!(goblin.statistics().recent_anomaly > 1.0);
        let unmeasured = goblin.estimate(settings[0].0, 0, 0).unwrap().0.normal.mean;
        assert_eq!(unmeasured < 1.05, exploration == Exploration::Optimistic, "{exploration:?}: {unmeasured}");
    }
}

/// The most value of choices with a total cost within `limit`, by trying all.
fn best_value(settings: &[(Id, Vec<f64>)], values: &[Vec<f64>], limit: f64) -> f64 {
    let Some(((_, costs), values_of_first)) = settings.first().zip(values.first()) else { return 0.0 };
    let rest = |cost: f64| best_value(&settings[1..], &values[1..], limit - cost);
    let fits = costs.iter().zip(values_of_first).filter(|(cost, _)| **cost <= limit);
    fits.map(|(&cost, value)| value + rest(cost)).fold(f64::NEG_INFINITY, f64::max)
}

/// In these of 200 machines, an option that is part of the best choice was not tried within 3 or 20 minutes before other
/// settings made room for it. They then had .66 to .95 of the best value. Of all 200, seed 59 alone stays below .97 (at
/// .946): its best choice fills the limit to the last hundredth.
#[test]
fn little_known_options_that_are_part_of_the_best_choice_are_tried_within_twenty_minutes() {
    for seed in [88, 165, 166, 194u64] {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut dice = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut goblin = Goblin::new(&config(10.0)).unwrap();
        let (mut settings, mut worth) = (Vec::new(), Vec::new());
        for n in 0..5 {
            let (value, cost) = (1.0 + 9.0 * dice(), 0.3 + 3.0 * dice());
            let values: Vec<f64> = (0..4).map(|option| (f64::from(option) + 0.8 * dice()) * value).collect();
            let costs: Vec<f64> = (0..4).map(|option| 0.2 + (f64::from(option) + 0.8 * dice()) * cost).collect();
            settings.push((add(&mut goblin, &format!("setting {n}"), &values), costs));
            worth.push(values);
        }
        // The noise of 2 % takes a little of the limit.
        let best = best_value(&settings, &worth, 9.86);
        run(&mut goblin, &settings, 60 * 60 * 20, &mut || 0.98 + 0.04 * dice());
        let made = choices(&goblin, &settings);
        let value: f64 = worth.iter().zip(&made).map(|(values, &choice)| values[usize::from(choice)]).sum();
        assert!(value >= 0.97 * best, "seed {seed}: {made:?}, {value} of {best}");
    }
}

/// The first seconds of a renderer on a fast graphics card: new render targets take a sixth of a frame, and samples are
/// three frames late. Returns the late frames and the changes of the resolution.
fn start_with_slow_changes(seed: u64) -> (usize, usize) {
    let mut noise = Dice(seed);
    let mut goblin = Goblin::new(&config(9.0)).unwrap();
    let slow = |goblin: &mut Goblin, id: &str, count: u8, is_trim: bool| {
        let options: Vec<OptionDesc> = (0..count).map(|option| OptionDesc::worth(3.0 * f64::from(option))).collect();
        let desc = SettingDesc { is_trim, switch_burden: 1.5, ..SettingDesc::new(id, &options) };
        goblin.add_setting(&desc).unwrap()
    };
    let resolution = slow(&mut goblin, "resolution", 11, true);
    let mut settings = vec![(resolution, (0..11).map(|option| 1.0 + 0.2 * f64::from(option)).collect())];
    settings.push((slow(&mut goblin, "antialiasing", 2, false), vec![0.1, 1.2]));
    for n in 0..6 {
        let costs = (0..4).map(|option| 0.1 + f64::from(option) * (0.1 + 0.07 * f64::from(n))).collect();
        settings.push((add(&mut goblin, &format!("setting {n}"), &[0.0, 4.0, 7.0, 8.0]), costs));
    }
    let (mut late, mut moves, mut before) = (0, 0, choices(&goblin, &settings));
    let mut on_their_way = VecDeque::new();
    for _ in 0..256 {
        let Decision { id: decision, trials, .. } = goblin.update().unwrap();
        let on_trial = settings.iter().filter(|(id, _)| goblin.reason(*id).unwrap().why == Why::Trial);
        assert_eq!(trials as usize, on_trial.count(), "settings on trial in decision {decision}");
        let now = choices(&goblin, &settings);
        moves += usize::from(now[0] != before[0]);
        let mut total = 1.5 * (0..2).filter(|&at| now[at] != before[at]).count() as f64;
        let costs = settings.iter().zip(&now).map(|((id, costs), &choice)| {
            let burden = costs[usize::from(choice)] * (0.99 + 0.02 * noise.next());
            (*id, Sample { decision, lane: 0, burden, good: true })
        });
        let costs: Vec<(Id, Sample)> = costs.collect();
        total += costs.iter().map(|(_, sample)| sample.burden).sum::<f64>();
        late += usize::from(total > 9.0);
        before = now;
        on_their_way.push_back((costs, Sample { decision, lane: 0, burden: total, good: true }));
        if on_their_way.len() > 3 {
            let (costs, total) = on_their_way.pop_front().unwrap();
            costs.iter().for_each(|(id, sample)| goblin.measure(*id, sample).unwrap());
            goblin.measure_total(&total).unwrap();
        }
    }
    (late, moves)
}

#[test]
fn trials_of_a_setting_whose_changes_take_time_stay_until_it_is_measured() {
    let runs: Vec<(usize, usize)> = (1..=12).map(start_with_slow_changes).collect();
    let (late, moves) = runs.iter().fold((0, 0), |sum, run| (sum.0 + run.0, sum.1 + run.1));
    // With trials of one frame each, 110 frames are late and the resolution moves 262 times.
    assert!(late <= 95 && moves <= 190, "{late} frames are late, and the resolution moves {moves} times");
}

/// The sample of a setting in the frame of its change.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Timer {
    /// Its pass, and the cost of the change.
    Both,
    /// Its pass alone.
    Pass,
    /// A sample that is flagged as a hitch.
    Hitch,
}

/// A minute of six settings whose changes cost 1 ms for `lasts` frames. Returns the value at its end.
fn value_with_slow_changes(timer: Timer, lasts: usize) -> f64 {
    let mut noise = Dice(7);
    let mut goblin = Goblin::new(&config(8.4)).unwrap();
    let options = [0.0, 3.0, 5.0, 6.0].map(OptionDesc::worth);
    let settings: Vec<Id> = (0..6)
        .map(|n| {
            let id = format!("setting {n}");
            goblin.add_setting(&SettingDesc { switch_burden: 1.0, ..SettingDesc::new(&id, &options) }).unwrap()
        })
        .collect();
    let mut history: VecDeque<Vec<u16>> = VecDeque::new();
    for _ in 0..3600 {
        let decision = goblin.update().unwrap().id;
        let now: Vec<u16> = settings.iter().map(|&id| goblin.choice(id).unwrap().unwrap()).collect();
        history.push_front(now.clone());
        history.truncate(lasts + 1);
        let mut total = 0.0;
        for (n, &id) in settings.iter().enumerate() {
            let pass = (0.32 + (0.32 + 0.053 * n as f64) * f64::from(now[n])) * (0.99 + 0.02 * noise.next());
            let changes = history.iter().skip(1).any(|before| before[n] != now[n]);
            let change = if changes { 1.0 } else { 0.0 };
            total += pass + change;
            let burden = if timer == Timer::Pass { pass } else { pass + change };
            let good = timer != Timer::Hitch || !changes;
            goblin.measure(id, &Sample { decision, lane: 0, burden, good }).unwrap();
        }
        goblin.measure_total(&Sample { decision, lane: 0, burden: total, good: true }).unwrap();
    }
    goblin.decision().chosen.value
}

/// The best choice that fits is worth 32. Before, changes in samples made options look dear (22), and options whose every
/// sample was flagged were never chosen (3).
#[test]
fn samples_may_have_the_cost_of_a_change() {
    for timer in [Timer::Both, Timer::Pass, Timer::Hitch] {
        for lasts in 1..=3 {
            let value = value_with_slow_changes(timer, lasts);
            let least = if lasts < 3 { 30.0 } else { 27.0 };
            assert!(value >= least, "{timer:?} for {lasts} frames: {value}");
        }
    }
}

/// Trials with totals alone go on for ever, because the regression needs them. Before, a static scene had 20 changes a
/// second in the first minutes.
#[test]
fn totals_are_calm_after_the_learning_phase() {
    let mut goblin = Goblin::new(&Config { burdens: Burdens::Totals, ..config(9.0) }).unwrap();
    let costs = |n: usize, choice: u16| (0.2 + 0.1 * n as f64) * (1.0 + f64::from(choice));
    let settings: Vec<Id> = (0..8)
        .map(|n| {
            let option = |choice: u16| OptionDesc {
                relative_burden: costs(n, choice),
                ..OptionDesc::worth((4.0 + n as f64) * f64::from(choice).powf(0.7))
            };
            goblin.add_setting(&SettingDesc::new(&format!("setting {n}"), &[0, 1, 2, 3].map(option))).unwrap()
        })
        .collect();
    let (mut noise, mut changes) = (Dice(5), 0);
    for frame in 0..60 * 240 {
        let decision = goblin.update().unwrap();
        let of = |(n, &id): (usize, &Id)| costs(n, goblin.choice(id).unwrap().unwrap());
        let total = settings.iter().enumerate().map(of).sum::<f64>() * (0.98 + 0.04 * noise.next());
        // Samples beside the totals are counted, and change nothing.
        goblin.measure(settings[0], &Sample { decision: decision.id, lane: 0, burden: 1.0, good: true }).unwrap();
        goblin.measure_total(&Sample { decision: decision.id, lane: 0, burden: total, good: true }).unwrap();
        changes += if frame < 1200 { 0 } else { decision.changes };
    }
    let rate = f64::from(changes) / 220.0;
    assert!(rate <= 1.0, "{rate} changes a second");
    assert_eq!(goblin.statistics().samples, 60 * 240);
}
