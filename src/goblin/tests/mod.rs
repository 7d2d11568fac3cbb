//! Facts about the goblin.

mod brute_force;
mod calm;
mod estimates;
mod explore;
mod extreme;
mod harvest;
mod honest;
mod lever;
mod memory;
mod pace;
mod published;
mod reason;
mod recording;
mod silence;
mod thermal;
mod warnings;

use crate::base::{Code, Id};
use crate::goblin::*;
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
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() * count as f64) as usize
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }
}

/// A renderer with pass costs from a table, with a few percent of noise, and with timers of some frames latency.
struct Machine {
    costs: Vec<(Id, Vec<f64>)>,
    noise: Dice,
    /// One sample in so many takes so many times as long.
    hitches: Option<(usize, f64)>,
    latency: usize,
    in_flight: std::collections::VecDeque<Vec<(Id, u64, f64)>>,
}

impl Machine {
    fn new(latency: usize) -> Self {
        Self { costs: Vec::new(), noise: Dice(1), hitches: None, latency, in_flight: Default::default() }
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
        let (noise, hitches) = (&mut self.noise, self.hitches);
        let of_setting = |(id, costs): &(Id, Vec<f64>)| {
            let times = hitches.filter(|(every, _)| noise.one_in(*every)).map_or(1.0, |(_, times)| times);
            (*id, decision.id, costs[choice(goblin, *id)] * times * (0.97 + 0.06 * noise.next()))
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
fn trials_of_an_option_that_stays_too_expensive_back_off() {
    let mut goblin = goblin(10.0);
    let setting = add(&mut goblin, "a", &[0.0, 5.0]);
    let mut noise = Dice(7);
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
fn choices_stay_while_costs_are_steady() {
    let mut goblin = goblin(16.0);
    let mut machine = Machine::new(3);
    renderer(&mut machine, &mut goblin);
    (0..2000).for_each(|_| _ = machine.frame(&mut goblin));
    let changes: u32 = (0..6000).map(|_| machine.frame(&mut goblin).0.changes).sum();
    assert!(changes <= 10, "{changes} changes in 100 seconds of steady costs");
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
