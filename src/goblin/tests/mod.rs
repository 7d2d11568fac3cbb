//! Facts about the goblin.

mod brute_force;
mod calm;
mod explore;
mod harvest;
mod honest;
mod lever;
mod published;
mod reason;
mod recording;
mod warnings;

use crate::base::{Code, Id};
use crate::goblin::*;
use crate::profile::Source;
use crate::profile::{Estimate, Profile};

const GPU: usize = 0;

fn config(limit: f64) -> Config {
    let mut config = Config::default();
    config.limits[GPU] = limit;
    config
}

fn goblin(limit: f64) -> Goblin {
    Goblin::new(&config(limit)).unwrap()
}

fn add(goblin: &mut Goblin, id: &str, values: &[f64]) -> Id {
    let options: Vec<OptionDesc> = values.iter().map(|&value| OptionDesc::worth(value)).collect();
    goblin.add_setting(&SettingDesc::new(id, &options)).unwrap()
}

fn sample(decision: u64, burden: f64) -> Sample {
    Sample { decision, lane: GPU as u32, burden, good: true }
}

fn choice(goblin: &Goblin, id: Id) -> usize {
    usize::from(goblin.choice(id).unwrap().unwrap())
}

/// A deterministic random number generator.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A renderer with pass costs from a table, with a few percent of noise, and with timers of some frames latency.
struct Machine {
    costs: Vec<(Id, Vec<f64>)>,
    noise: Noise,
    latency: usize,
    in_flight: std::collections::VecDeque<Vec<(Id, u64, f64)>>,
}

impl Machine {
    fn new(latency: usize) -> Self {
        Self { costs: Vec::new(), noise: Noise(1), latency, in_flight: Default::default() }
    }

    fn add(&mut self, goblin: &mut Goblin, id: &str, options: &[(f64, f64)]) -> Id {
        let values: Vec<f64> = options.iter().map(|option| option.0).collect();
        let setting = add(goblin, id, &values);
        self.costs.push((setting, options.iter().map(|option| option.1).collect()));
        setting
    }

    /// Run one frame. Returns the decision and its cost.
    fn frame(&mut self, goblin: &mut Goblin) -> (Decision, f64) {
        let decision = goblin.update().unwrap();
        let noise = &mut self.noise;
        let of_setting = |(id, costs): &(Id, Vec<f64>)| {
            (*id, decision.id, costs[choice(goblin, *id)] * (0.97 + 0.06 * noise.next()))
        };
        let samples: Vec<_> = self.costs.iter().map(of_setting).collect();
        let total = samples.iter().map(|sample| sample.2).sum();
        self.in_flight.push_back(samples);
        if self.in_flight.len() > self.latency {
            for (id, decision, burden) in self.in_flight.pop_front().unwrap() {
                goblin.measure(id, &sample(decision, burden)).unwrap();
            }
        }
        (decision, total)
    }
}

fn renderer(machine: &mut Machine, goblin: &mut Goblin) -> Vec<Id> {
    [
        ("shadows", &[(0.0, 0.0), (4.0, 2.0), (6.0, 4.5), (7.0, 9.0)][..]),
        ("ambient occlusion", &[(0.0, 0.0), (3.0, 1.5), (4.5, 3.0), (5.0, 6.0)]),
        ("resolution", &[(0.0, 3.0), (5.0, 5.0), (8.0, 8.0), (10.0, 12.0)]),
        ("detail", &[(0.0, 0.5), (2.0, 1.0), (3.0, 2.0)]),
        ("post", &[(0.0, 0.0), (3.0, 2.5)]),
        ("rest", &[(0.0, 1.5)]),
    ]
    .into_iter()
    .map(|(id, options)| machine.add(goblin, id, options))
    .collect()
}

#[test]
fn the_default_is_chosen_until_a_burden_is_known() {
    let mut goblin = goblin(16.0);
    let options = [OptionDesc::worth(9.0), OptionDesc::worth(1.0), OptionDesc::worth(5.0)];
    let desc = SettingDesc { default_choice: 1, ..SettingDesc::new("a", &options) };
    let setting = goblin.add_setting(&desc).unwrap();
    assert_eq!(choice(&goblin, setting), 1);
    for _ in 0..100 {
        goblin.update().unwrap();
        assert_eq!(choice(&goblin, setting), 1);
    }
}

#[test]
fn the_best_choice_that_fits_is_found_and_learning_keeps_the_frame_inside_its_limit() {
    let mut goblin = goblin(16.0);
    let mut machine = Machine::new(3);
    let settings = renderer(&mut machine, &mut goblin);
    let frames: Vec<_> = (0..1024).map(|_| machine.frame(&mut goblin)).collect();
    let over = |frames: &[(Decision, f64)]| frames.iter().filter(|(_, total)| *total > 16.0).count();
    assert!(over(&frames[..256]) <= 12, "{} of the first 256 frames are over", over(&frames[..256]));
    // Options that few samples showed as too expensive are measured again, for a frame each.
    assert!(over(&frames[256..]) <= 8, "{} of the later frames are over", over(&frames[256..]));
    // The optimum, calculated by hand. Shadows 1 (4 for 2.0), occlusion 1 (3 for 1.5), resolution 2 (8 for 8.0), detail
    // 1 (2 for 1.0) and rest 1.5 have value 17 for 14.0. Post 1 (3 for 2.5) does not fit in addition, at 16 minus the
    // noise. With resolution 1 (5 for 5.0) it does: 13.5. Then detail 2 (3 for 2.0) fits too: value 18 for 14.5.
    let best: f64 = 4.0 + 3.0 + 5.0 + 3.0 + 3.0;
    assert!(frames[1000].0.chosen.value >= best.min(17.0), "{:?}", frames[1000].0);
    assert!(settings.iter().all(|&setting| goblin.estimate(setting, 0, GPU).is_ok()));
}

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
fn invalid_arguments_are_rejected_and_change_nothing() {
    let mut goblin = goblin(10.0);
    let setting = add(&mut goblin, "a", &[1.0, 2.0]);
    goblin.update().unwrap();
    let before = format!("{goblin:?}");
    for burden in [f64::NAN, f64::INFINITY, -1e-9, -1.0, 1e300] {
        assert_eq!(goblin.measure(setting, &sample(0, burden)).unwrap_err().code(), Code::InvalidArgument);
    }
    for value in [f64::NAN, f64::INFINITY, 1e300] {
        assert_eq!(goblin.set_value(setting, 0, value).unwrap_err().code(), Code::InvalidArgument);
        assert!(goblin.set_options(setting, &[OptionDesc::worth(value)]).is_err());
    }
    for work in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(goblin.set_work(setting, work).unwrap_err().code(), Code::InvalidArgument);
    }
    assert!(goblin.set_value(setting, 2, 1.0).is_err());
    for bad in [
        config(f64::NAN),
        config(f64::NEG_INFINITY),
        Config { sigmas: -1.0, ..config(1.0) },
        Config { overrun_probability: f64::NAN, ..config(1.0) },
        Config { history: 0, ..config(1.0) },
        Config { trial_risk: 0.0, ..config(1.0) },
        Config { switch_limit: -1.0, ..config(1.0) },
    ] {
        assert!(goblin.configure(&bad).is_err());
    }
    assert_eq!(format!("{goblin:?}"), before);
}

#[test]
fn goblins_without_settings_and_settings_with_one_or_no_option_are_valid() {
    let mut goblin = goblin(10.0);
    let empty = goblin.update().unwrap();
    assert!(empty.feasible && empty.chosen == Net::default() && empty.gap == 0.0);
    let none = add(&mut goblin, "none", &[]);
    let one = add(&mut goblin, "one", &[-5.0]);
    let decision = goblin.update().unwrap();
    assert_eq!((goblin.choice(none).unwrap(), goblin.choice(one).unwrap()), (None, Some(0)));
    assert!(decision.feasible && decision.chosen.value == -5.0);
    assert_eq!(goblin.measure(none, &sample(0, 1.0)).unwrap_err().code(), Code::NotFound);
}

#[test]
fn a_burden_that_equals_the_limit_fits() {
    let mut goblin = goblin(0.3);
    let (a, b) = (add(&mut goblin, "a", &[1.0]), add(&mut goblin, "b", &[1.0]));
    goblin.update().unwrap();
    for _ in 0..40 {
        goblin.measure(a, &sample(0, 0.1)).unwrap();
        goblin.measure(b, &sample(0, 0.2)).unwrap();
    }
    let decision = goblin.update().unwrap();
    assert!(decision.feasible && decision.excess[GPU] == 0.0, "0.1 + 0.2 is 0.3: {decision:?}");
}

#[test]
fn if_no_choice_fits_the_lightest_is_chosen_and_flagged() {
    for exploration in [Exploration::Bounded, Exploration::Optimistic] {
        let mut goblin = Goblin::new(&Config { exploration, ..config(1.0) }).unwrap();
        let mut machine = Machine::new(0);
        let setting = machine.add(&mut goblin, "a", &[(9.0, 4.0), (1.0, 2.0), (5.0, 3.0)]);
        let last = (0..500).map(|_| machine.frame(&mut goblin).0).last().unwrap();
        assert!(!last.feasible && last.excess[GPU] > 0.9, "{last:?}");
        assert_eq!(choice(&goblin, setting), 1, "{exploration:?}");
    }
}

#[test]
fn optimistic_exploration_tries_everything_as_the_seed_does() {
    let mut goblin = Goblin::new(&Config { exploration: Exploration::Optimistic, ..config(16.0) }).unwrap();
    let mut machine = Machine::new(3);
    let settings = renderer(&mut machine, &mut goblin);
    let over = (0..600).filter(|_| machine.frame(&mut goblin).1 > 16.0).count();
    assert!(over > 50, "the seed's learning phase is expensive: only {over} frames were over");
    for (setting, (_, costs)) in settings.iter().zip(&machine.costs) {
        for option in 0..costs.len() {
            assert!(goblin.estimate(*setting, option as u32, GPU).unwrap().1 > 0);
        }
    }
}

#[test]
fn lost_samples_of_a_trial_are_given_up() {
    let mut goblin = goblin(16.0);
    let setting = add(&mut goblin, "a", &[1.0, 2.0]);
    let first = goblin.update().unwrap().id;
    goblin.measure(setting, &sample(first, 1.0)).unwrap();
    let trials: u32 = (0..400).map(|_| goblin.update().unwrap().trials).sum();
    assert!((2..20).contains(&trials), "{trials} trials");
}

#[test]
fn an_option_that_is_not_ready_is_not_chosen() {
    let mut goblin = goblin(16.0);
    let mut machine = Machine::new(0);
    let setting = machine.add(&mut goblin, "a", &[(1.0, 1.0), (5.0, 2.0)]);
    goblin.set_ready(setting, 1, false).unwrap();
    for _ in 0..100 {
        machine.frame(&mut goblin);
        assert_eq!(choice(&goblin, setting), 0);
    }
    goblin.set_ready(setting, 1, true).unwrap();
    (0..100).for_each(|_| _ = machine.frame(&mut goblin));
    assert_eq!(choice(&goblin, setting), 1);
    goblin.set_ready(setting, 1, false).unwrap();
    machine.frame(&mut goblin);
    assert_eq!(choice(&goblin, setting), 0);
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
fn fixed_incentives_count_and_cost_nothing() {
    let mut goblin = goblin(1e-9);
    let options = [OptionDesc::worth(7.0)];
    let desc = SettingDesc { has_burden: false, ..SettingDesc::new("bonus", &options) };
    let bonus = goblin.add_setting(&desc).unwrap();
    let decision = goblin.update().unwrap();
    assert!(decision.feasible && decision.chosen.value == 7.0 && decision.chosen.mean[GPU] == 0.0);
    goblin.measure(bonus, &sample(0, 3.0)).unwrap();
    assert_eq!((goblin.statistics().samples, goblin.statistics().ungoverned), (0, 1));
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
fn without_profiling_the_controller_finds_the_capacity() {
    let mut goblin = Goblin::new(&Config { burdens: Burdens::Relative, ..config(16.0) }).unwrap();
    let rough = |burdens: &[f64]| -> Vec<OptionDesc> {
        let option =
            |(n, &relative_burden): (usize, &f64)| OptionDesc { relative_burden, ..OptionDesc::worth(n as f64) };
        burdens.iter().enumerate().map(option).collect()
    };
    let settings: Vec<Id> = [[1.0, 2.0, 4.0], [0.0, 3.0, 5.0], [2.0, 3.0, 6.0]]
        .iter()
        .enumerate()
        .map(|(n, burdens)| {
            let (id, options) = (format!("setting {n}"), rough(burdens));
            goblin.add_setting(&SettingDesc::new(&id, &options)).unwrap()
        })
        .collect();
    // A unit takes 1.6 ms, so 10 units fit.
    let (mut over, mut last) = (0, 0.0);
    for frame in 0..600 {
        let decision = goblin.update().unwrap();
        let took = decision.chosen.mean[GPU] * 1.6;
        over += usize::from(frame > 100 && took > 16.0);
        last = took;
        goblin.measure_total(&sample(decision.id, took)).unwrap();
    }
    assert!(last > 9.0 && over < 30, "took {last}, {over} frames over");
    assert!(settings.iter().any(|&setting| choice(&goblin, setting) > 0));
}

#[test]
fn resource_limits_are_enforced() {
    let mut goblin = Goblin::new(&Config { max_settings: 2, ..config(16.0) }).unwrap();
    add(&mut goblin, "a", &[1.0]);
    let b = add(&mut goblin, "b", &[1.0]);
    let options = [OptionDesc::worth(1.0)];
    let desc = SettingDesc::new("c", &options);
    assert_eq!(goblin.add_setting(&desc).unwrap_err().code(), Code::LimitExceeded);
    goblin.remove_setting(b).unwrap();
    goblin.add_setting(&desc).unwrap();
    let used = goblin.memory_used() as u64;
    goblin.configure(&Config { memory_limit: used, ..config(16.0) }).unwrap();
    assert_eq!(goblin.add_setting(&desc).unwrap_err().code(), Code::LimitExceeded);
    let many = vec![OptionDesc::worth(0.0); 70_000];
    assert!(goblin.add_setting(&SettingDesc { options: &many, ..desc }).is_err());
    assert!(goblin.add_setting(&SettingDesc { default_choice: 1, ..desc }).is_err());
}

#[test]
fn the_same_inputs_give_the_same_choices() {
    let run = || {
        let mut goblin = goblin(16.0);
        let mut machine = Machine::new(2);
        let settings = renderer(&mut machine, &mut goblin);
        let frame = |_| {
            machine.frame(&mut goblin);
            settings.iter().map(|&setting| choice(&goblin, setting)).collect::<Vec<_>>()
        };
        (0..500).map(frame).collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
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
fn an_option_that_fits_exactly_is_chosen() {
    let mut goblin = Goblin::new(&Config { sigmas: 0.0, ..config(10.0) }).unwrap();
    let setting = add(&mut goblin, "a", &[0.0, 5.0]);
    for _ in 0..600 {
        let decision = goblin.update().unwrap();
        goblin.measure(setting, &sample(decision.id, [0.1, 10.0][choice(&goblin, setting)])).unwrap();
    }
    assert_eq!(choice(&goblin, setting), 1);
}

#[test]
fn a_better_and_lighter_option_is_found_when_nothing_known_fits() {
    let mut goblin = Goblin::new(&Config { sigmas: 0.0, ..config(5.0) }).unwrap();
    let setting = add(&mut goblin, "a", &[1.0, 5.0]);
    for _ in 0..200 {
        let decision = goblin.update().unwrap();
        goblin.measure(setting, &sample(decision.id, [10.0, 1.0][choice(&goblin, setting)])).unwrap();
    }
    assert_eq!(choice(&goblin, setting), 1);
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
fn trials_of_an_option_that_stays_too_expensive_back_off() {
    let mut goblin = goblin(10.0);
    let setting = add(&mut goblin, "a", &[0.0, 5.0]);
    let mut noise = Noise(7);
    let (mut early, mut late) = (0, 0);
    for frame in 0..40_000 {
        let decision = goblin.update().unwrap();
        let burden = [1.0, if noise.next() < 0.1 { 9.0 } else { 14.0 }][choice(&goblin, setting)];
        goblin.measure(setting, &sample(decision.id, burden)).unwrap();
        let over = u32::from(burden > 10.0);
        if frame < 20_000 { early += over } else { late += over }
    }
    assert!(early < 40 && late < 10, "{early} frames over, then {late}");
}

#[test]
fn extra_value_makes_an_option_explored_until_its_quota_is_full() {
    let explore = Config { explore_value: 3.0, exploration: Exploration::Optimistic, patience: 0.0, ..config(100.0) };
    let mut goblin = Goblin::new(&explore).unwrap();
    let mut machine = Machine::new(0);
    // Worth less than the other option, but 3 more while it has fewer than 30 samples.
    let setting = machine.add(&mut goblin, "a", &[(2.0, 1.0), (0.0, 1.0)]);
    let used = (0..200).filter(|_| {
        machine.frame(&mut goblin);
        choice(&goblin, setting) == 1
    });
    assert_eq!(used.count(), 30);
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
fn extreme_limits_and_probabilities_decide() {
    for limit in [f64::MAX, 1e300, 1e-300, f64::MIN_POSITIVE, f64::INFINITY] {
        for overrun_probability in [0.0, 1e-300, 1e-17, 0.5] {
            let mut goblin = Goblin::new(&Config { overrun_probability, ..config(limit) }).unwrap();
            let mut machine = Machine::new(1);
            machine.add(&mut goblin, "a", &[(0.0, 0.0), (1.0, 2.0)]);
            machine.add(&mut goblin, "b", &[(0.0, 1.0), (1.0, 4.0)]);
            (0..100).for_each(|_| _ = machine.frame(&mut goblin));
        }
    }
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
    let values: Vec<f64> = (0..600).map(|_| machine.frame(&mut goblin).0.chosen.value).collect();
    assert!(values[100..].iter().sum::<f64>() / 500.0 > 0.98 * before, "{before} before");
}

#[test]
fn choices_stay_while_costs_are_steady() {
    let mut goblin = goblin(16.0);
    let mut machine = Machine::new(3);
    renderer(&mut machine, &mut goblin);
    (0..2000).for_each(|_| _ = machine.frame(&mut goblin));
    let changes: u32 = (0..6000).map(|_| machine.frame(&mut goblin).0.changes).sum();
    assert!(changes <= 10, "{changes} changes in 100 seconds of steady costs");
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
    let mut noise = Noise(3);
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

#[test]
fn a_single_expensive_option_is_held_once_its_deviation_is_known() {
    for cost in [7.0, 8.0, 8.5, 9.0] {
        let mut goblin = goblin(10.0);
        let mut machine = Machine::new(3);
        let setting = machine.add(&mut goblin, "a", &[(0.0, 1.0), (5.0, cost)]);
        (0..1500).for_each(|_| _ = machine.frame(&mut goblin));
        assert_eq!(choice(&goblin, setting), 1, "{cost}");
    }
}

#[test]
fn a_setting_with_cost_on_the_second_lane_only_is_learned_and_not_changed() {
    let mut limits = config(10.0);
    limits.limits[2] = 10.0;
    let mut goblin = Goblin::new(&limits).unwrap();
    let (gpu, thread) = (add(&mut goblin, "gpu", &[0.0, 1.0]), add(&mut goblin, "thread", &[0.0, 1.0, 2.0]));
    let mut late_trials = 0;
    for frame in 0..600 {
        let decision = goblin.update().unwrap();
        late_trials += if frame >= 300 { decision.trials } else { 0 };
        goblin.measure(gpu, &sample(0, [1.0, 2.0][choice(&goblin, gpu)])).unwrap();
        let burden = [1.0, 3.0, 5.0][choice(&goblin, thread)];
        goblin.measure(thread, &Sample { lane: 2, ..sample(0, burden) }).unwrap();
    }
    assert_eq!((choice(&goblin, gpu), choice(&goblin, thread), late_trials), (1, 2, 0));
}

#[test]
fn steady_costs_need_few_solves_and_changes_are_noticed_at_once() {
    let mut goblin = goblin(16.0);
    let mut machine = Machine::new(5);
    renderer(&mut machine, &mut goblin);
    (0..1500).for_each(|_| _ = machine.frame(&mut goblin));
    let calm: Vec<Decision> = (0..320).map(|_| machine.frame(&mut goblin).0).collect();
    let solved = calm.iter().filter(|decision| decision.nodes > 0).count();
    assert!(solved < 80, "{solved} of 320 decisions needed a solve");
    let before = calm.last().unwrap().chosen.value;
    goblin.configure(&config(24.0)).unwrap();
    let first = (0..3).map(|_| machine.frame(&mut goblin).0.chosen.value).fold(0.0, f64::max);
    assert!(first > before, "a raised limit is used at once, as far as the pace allows");
    let after = (0..600).map(|_| machine.frame(&mut goblin).0.chosen.value).fold(0.0, f64::max);
    assert!(after > before + 5.0, "a limit raised by half gives more value than {before}: {after}");
    goblin.configure(&config(12.0)).unwrap();
    let lowered = machine.frame(&mut goblin).0;
    assert!(lowered.feasible && lowered.chosen.value < before, "{lowered:?}");
}
