//! Small goblins with known costs, compared with all choices under all strategies.

use crate::testing::scaled;
use proptest::prelude::*;

use crate::base::Id;
use crate::goblin::learn::task::key_in_profile;
use crate::goblin::*;
use crate::profile::{Estimate, Profile};

/// Limits and burdens are quarters, so sums are exact and ties occur.
fn quarters(most: u32) -> impl Strategy<Value = f64> {
    (0..=most).prop_map(|n| f64::from(n) / 4.0)
}

fn whole() -> impl Strategy<Value = f64> {
    (-4i32..=12).prop_map(f64::from)
}

/// A setting: options with a value and a burden on each of three lanes. A lane without any burden has no measurements.
#[derive(Clone, Debug)]
struct Made {
    options: Vec<(f64, [f64; 3])>,
    range: (usize, usize),
    ready: Vec<bool>,
    enabled: bool,
    work: f64,
}

fn made() -> impl Strategy<Value = Made> {
    let option = || (whole(), quarters(24), quarters(24), prop_oneof![Just(0.0), quarters(24)]);
    let option = move || option().prop_map(|(value, a, b, c)| (value, [a, b, c]));
    let work = prop_oneof![3 => Just(1.0), 1 => Just(0.5), 1 => Just(2.0)];
    let chances = (prop::collection::vec(0..8u32, 5), 0..8u32, 0..16u32, work);
    (prop::collection::vec(option(), 1..=5), chances).prop_map(|(options, (unready, limited, off, work))| {
        let last = options.len() - 1;
        let range = match limited {
            0 => (last / 2, last),
            1 => (0, last / 2),
            2 => (last, last),
            _ => (0, last),
        };
        let ready = (0..options.len()).map(|option| unready[option] > 0).collect();
        Made { options, range, ready, enabled: off > 0, work }
    })
}

#[derive(Clone, Debug)]
struct Plan {
    limits: [f64; 3],
    incentive: f64,
    /// Setting, option, value; setting, factor. Indices wrap.
    values: Vec<(usize, usize, f64)>,
    works: Vec<(usize, f64)>,
}

/// Quarters, and instead of 0, which is invalid, a number below every burden.
fn above_zero(most: u32) -> impl Strategy<Value = f64> {
    quarters(most).prop_map(|limit| limit.max(1.0 / 64.0))
}

fn limit() -> impl Strategy<Value = f64> {
    prop_oneof![4 => above_zero(60), 1 => Just(f64::INFINITY)]
}

fn plan() -> impl Strategy<Value = Plan> {
    let values = prop::collection::vec((0..4usize, 0..5usize, whole()), 0..4);
    let works = prop::collection::vec((0..4usize, prop_oneof![Just(0.5), Just(2.0)]), 0..3);
    let parts = ([limit(), limit(), limit()], whole(), values, works);
    parts.prop_map(|(limits, incentive, values, works)| Plan { limits, incentive, values, works })
}

// Lane 0 comes first, because it is learned if no lane has a limit.
const HOST_LANES: [usize; 3] = [0, 4, 6];

fn by_host_lane(lanes: usize, limits: &[f64; 3]) -> [f64; LANES] {
    let mut all = [f64::INFINITY; LANES];
    (0..lanes).for_each(|lane| all[HOST_LANES[lane]] = limits[lane]);
    all
}

fn exact(limits: [f64; LANES]) -> Config {
    let free = Config { limits, sigmas: 0.0, patience: 0.0, precision: 0, trial_limit: 0, ..Config::default() };
    Config { node_limit: 1 << 20, ..free }
}

/// Set the cost of every cell by a past profile: by id, an entry per cell with a burden per lane.
fn knows(goblin: &mut Goblin, lanes: usize, all: &[(String, Vec<[f64; 3]>)]) {
    let mut past = Profile::new();
    for (id, cells) in all {
        for (index, host_lane) in goblin.lanes.iter().enumerate() {
            let Some(lane) = HOST_LANES[..lanes].iter().position(|&lane| lane == host_lane) else { continue };
            let estimates: Vec<Estimate> =
                cells.iter().map(|cell| Estimate { count: 100, mean: cell[lane], deviation: 0.0 }).collect();
            let never_measured = lane == 2 && index > 0 && cells.iter().all(|cell| cell[lane] == 0.0);
            if !never_measured {
                past.set(&key_in_profile(id, &goblin.lanes, index).unwrap(), &estimates).unwrap();
            }
        }
    }
    goblin.set_past_profile(&past).unwrap();
}

/// Visit all tuples of numbers below these counts.
fn each(counts: &[usize], mut visit: impl FnMut(&[usize])) {
    let mut at = vec![0; counts.len()];
    loop {
        visit(&at);
        let Some(place) = (0..counts.len()).rev().find(|&place| at[place] + 1 < counts[place]) else { return };
        at[place] += 1;
        at[place + 1..].fill(0);
    }
}

/// The options that may be chosen, according to the goblin's documentation.
fn allowed(setting: &Made) -> Vec<usize> {
    let in_range = || setting.range.0..=setting.range.1;
    let ready: Vec<usize> = in_range().filter(|&option| setting.ready[option]).collect();
    if ready.is_empty() { vec![setting.range.0] } else { ready }
}

/// The best net value that fits under a plan, if anything does.
fn best(settings: &[Made], lanes: usize, plan: &Plan, is_first: bool) -> Option<f64> {
    let settings: Vec<(usize, &Made)> = settings.iter().enumerate().filter(|(_, made)| made.enabled).collect();
    let options: Vec<Vec<usize>> = settings.iter().map(|(_, made)| allowed(made)).collect();
    let counts: Vec<usize> = options.iter().map(Vec::len).collect();
    let mut best: Option<f64> = None;
    each(&counts, |at| {
        let (mut value, mut burden) = (plan.incentive, [0.0; 3]);
        for (n, (number, made)) in settings.iter().enumerate() {
            let option = options[n][at[n]];
            let own = plan.values.iter().rev().find(|own| own.0 == *number && own.1 == option && !is_first);
            let factor = plan.works.iter().rev().find(|own| own.0 == *number && !is_first).map_or(1.0, |own| own.1);
            value += own.map_or(made.options[option].0, |own| own.2);
            (0..lanes).for_each(|lane| burden[lane] += made.options[option].1[lane] * made.work * factor);
        }
        let fits = (0..lanes).all(|lane| burden[lane] <= plan.limits[lane]);
        if fits && best.is_none_or(|best| value > best) {
            best = Some(value);
        }
    });
    best
}

/// A goblin with these settings and strategies, and their ids.
fn build(lanes: usize, settings: &[Made], plans: &[Plan]) -> (Goblin, Vec<Id>) {
    let mut goblin = Goblin::new(&exact(by_host_lane(lanes, &plans[0].limits))).unwrap();
    let mut ids = Vec::new();
    for (number, made) in settings.iter().enumerate() {
        let worth =
            |option: usize| OptionDesc { ready: made.ready[option], ..OptionDesc::worth(made.options[option].0) };
        let options: Vec<OptionDesc> = (0..made.options.len()).map(worth).collect();
        let id = goblin.add_setting(&SettingDesc::new(&format!("setting {number}"), &options)).unwrap();
        goblin.set_range(id, made.range.0 as u32, made.range.1 as u32).unwrap();
        goblin.set_work(id, made.work).unwrap();
        goblin.set_enabled(id, made.enabled).unwrap();
        ids.push(id);
    }
    let first = StrategyDesc { limits: [f64::INFINITY; LANES], incentive: plans[0].incentive };
    goblin.set_strategy(0, &first).unwrap();
    for (number, plan) in plans.iter().enumerate().skip(1) {
        let desc = StrategyDesc { limits: by_host_lane(lanes, &plan.limits), incentive: plan.incentive };
        assert_eq!(goblin.add_strategy(&desc).unwrap(), number);
        for &(setting, option, value) in &plan.values {
            if settings.get(setting).is_some_and(|made| option < made.options.len()) {
                goblin.set_strategy_value(number, ids[setting], option as u32, value).unwrap();
            }
        }
        for &(setting, factor) in plan.works.iter().filter(|own| own.0 < settings.len()) {
            goblin.set_strategy_work(number, ids[setting], factor).unwrap();
        }
    }
    let cells = |made: &Made| made.options.iter().map(|option| option.1).collect();
    let all: Vec<_> = settings.iter().enumerate().map(|(n, made)| (format!("setting {n}"), cells(made))).collect();
    knows(&mut goblin, lanes, &all);
    (goblin, ids)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: scaled(500), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_decision_is_the_best_of_all_choices_and_strategies(
        lanes in 1..=3usize,
        settings in prop::collection::vec(made(), 1..=4),
        plans in prop::collection::vec(plan(), 1..=3),
    ) {
        let (mut goblin, ids) = build(lanes, &settings, &plans);
        let decision = goblin.update().unwrap();
        let nets: Vec<_> = plans.iter().enumerate().map(|(n, plan)| best(&settings, lanes, plan, n == 0)).collect();
        let expected = nets.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
        prop_assert_eq!(decision.feasible, expected > f64::NEG_INFINITY);
        if decision.feasible {
            let active = decision.strategy as usize;
            prop_assert_eq!(decision.chosen.value + plans[active].incentive, expected);
            prop_assert_eq!(nets[active], Some(expected));
            for (number, net) in nets.iter().enumerate().filter(|_| plans.len() > 1) {
                if let Some(net) = net {
                    prop_assert_eq!(goblin.strategy_net(number).unwrap(), *net);
                }
            }
        }
        for (id, made) in ids.iter().zip(&settings).filter(|(_, made)| made.enabled) {
            let choice = usize::from(goblin.choice(*id).unwrap().unwrap());
            prop_assert!(allowed(made).contains(&choice), "{} of {:?}", choice, made);
        }
    }

    #[test]
    fn a_product_is_the_table_of_its_combinations(
        sizes in prop::collection::vec((1..=4usize, any::<bool>()), 1..=3),
        numbers in prop::collection::vec((whole(), 1..=4u32), 12),
        cells in prop::collection::vec(quarters(16), 64),
        limit in above_zero(100),
    ) {
        let mut numbers = numbers.into_iter().cycle();
        let axes: Vec<Axis> = sizes.iter().map(|&(count, has_works)| {
            let pairs: Vec<_> = numbers.by_ref().take(count).collect();
            let works = if has_works { pairs.iter().map(|pair| f64::from(pair.1)).collect() } else { Vec::new() };
            Axis { values: pairs.iter().map(|pair| pair.0).collect(), works, default_index: 0 }
        }).collect();
        let mut goblin = Goblin::new(&exact(by_host_lane(1, &[limit; 3]))).unwrap();
        let desc = ProductDesc { id: "p", axes: &axes, relative_burden: 0.0, is_trim: false, switch_burden: 0.0 };
        let product = goblin.add_product(&desc).unwrap();
        let measured: Vec<usize> = (0..axes.len()).filter(|&axis| axes[axis].works.is_empty()).collect();
        let cell_count = measured.iter().map(|&axis| axes[axis].values.len()).product::<usize>();
        let cells: Vec<[f64; 3]> = cells[..cell_count].iter().map(|&burden| [burden; 3]).collect();
        knows(&mut goblin, 1, &[("p".into(), cells.clone())]);

        let counts: Vec<usize> = axes.iter().map(|axis| axis.values.len()).collect();
        let (mut best, mut lightest) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut wrong = Vec::new();
        each(&counts, |at| {
            // The expected cost: the burden of the combination of measured axes, times all works.
            let cell = measured.iter().fold(0, |cell, &axis| cell * counts[axis] + at[axis]);
            let work: f64 = axes.iter().zip(at).map(|(axis, &n)| axis.works.get(n).copied().unwrap_or(1.0)).product();
            let value: f64 = axes.iter().zip(at).map(|(axis, &n)| axis.values[n]).sum();
            let burden = cells[cell][0] * work;
            lightest = lightest.min(burden);
            best = if burden <= limit { best.max(value) } else { best };
            let indices: Vec<u32> = at.iter().map(|&n| n as u32).collect();
            let choice = goblin.product_choice(product, &indices).unwrap();
            let estimate = goblin.estimate(product, choice, HOST_LANES[0]).unwrap().0.normal.mean;
            let back: Vec<u32> = (0..axes.len()).map(|n| goblin.product_index(product, choice, n as u32).unwrap()).collect();
            if estimate != burden || back != indices {
                wrong.push((indices, back, estimate, burden));
            }
        });
        prop_assert!(wrong.is_empty(), "{:?}", wrong);
        let decision = goblin.update().unwrap();
        prop_assert_eq!(decision.feasible, lightest <= limit);
        if decision.feasible {
            prop_assert_eq!(decision.chosen.value, best);
        } else {
            prop_assert_eq!(decision.chosen.mean[HOST_LANES[0]], lightest);
        }
    }
}
