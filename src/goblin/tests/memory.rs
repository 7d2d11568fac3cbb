//! Calls without enough memory change nothing.

use super::*;
use crate::testing::allocator::{with_allowance, with_failure};

type Call = fn(&mut Goblin, &[Id]) -> crate::base::Result<()>;

const COSTS: [f64; 5] = [0.5, 1.8, 3.4, 4.1, 6.0];

fn changed(goblin: &mut Goblin, change: impl FnOnce(&mut Config)) -> crate::base::Result<()> {
    let mut config = *goblin.config();
    change(&mut config);
    goblin.configure(&config)
}

fn options<const COUNT: usize>() -> [OptionDesc; COUNT] {
    std::array::from_fn(|at| OptionDesc { relative_burden: 1.0 + at as f64, ..OptionDesc::worth(at as f64) })
}

/// The calls that allocate.
const CALLS: [(&str, Call); 11] = [
    ("govern another lane", |goblin, _| changed(goblin, |config| config.limits[3] = 5.0)),
    ("drop a lane", |goblin, _| changed(goblin, |config| config.limits[2] = f64::INFINITY)),
    ("exchange the lanes", |goblin, _| {
        changed(goblin, |config| {
            config.limits = [f64::INFINITY; LANES];
            config.limits[3] = 3.0;
            config.history = 200;
        })
    }),
    ("remember more", |goblin, _| changed(goblin, |config| config.history = 200)),
    ("learn from totals", |goblin, _| changed(goblin, |config| config.burdens = Burdens::Totals)),
    ("add a strategy", |goblin, _| {
        let mut desc = StrategyDesc { limits: [f64::INFINITY; LANES], incentive: 1.0 };
        (desc.limits[GPU], desc.limits[4]) = (20.0, 9.0);
        goblin.add_strategy(&desc).map(|_| ())
    }),
    ("add a setting", |goblin, _| goblin.add_setting(&SettingDesc::new("new", &options::<4>())).map(|_| ())),
    ("share a task", |goblin, _| goblin.add_setting(&SettingDesc::new("a", &options::<4>())).map(|_| ())),
    ("change a task", |goblin, _| goblin.add_setting(&SettingDesc::new("removed", &options::<5>())).map(|_| ())),
    ("replace options", |goblin, settings| goblin.set_options(settings[0], &options::<5>())),
    ("use a past profile", |goblin, _| {
        let mut past = Profile::new();
        past.set("b", &[Estimate { count: 50, mean: 3.0, deviation: 0.1 }; 3])?;
        goblin.set_past_profile(&past)
    }),
];

fn prepared(burdens: Burdens) -> (Goblin, Vec<Id>) {
    let mut config = Config { burdens, ..config(8.0) };
    config.limits[2] = 4.0;
    let mut goblin = Goblin::new(&config).unwrap();
    let settings: Vec<Id> = [("a", 4), ("b", 3), ("removed", 2)]
        .map(|(id, count)| goblin.add_setting(&SettingDesc::new(id, &options::<4>()[..count])).unwrap())
        .into();
    run(&mut goblin, &settings, 60);
    goblin.remove_setting(settings[2]).unwrap();
    run(&mut goblin, &settings, 10);
    (goblin, settings)
}

/// Decide and measure. Returns the decisions and the choices.
fn run(goblin: &mut Goblin, settings: &[Id], frames: usize) -> Vec<String> {
    let frame = |frame| {
        let decision = Decision { elapsed_ns: 0, ..goblin.update().unwrap() };
        let choices: Vec<_> = settings.iter().map(|&setting| goblin.choice(setting).ok().flatten()).collect();
        let mut total = 0.1 * (frame % 3) as f64;
        for (&setting, choice) in settings.iter().zip(&choices) {
            let Some(choice) = choice else { continue };
            let cost = COSTS[usize::from(*choice)];
            total += cost;
            goblin.measure(setting, &sample(decision.id, cost)).unwrap();
            goblin.measure(setting, &Sample { lane: 2, ..sample(decision.id, cost / 3.0) }).unwrap();
        }
        goblin.measure_total(&sample(decision.id, total)).unwrap();
        format!("{decision:?} {choices:?}")
    };
    (0..frames).map(frame).collect()
}

#[test]
fn call_without_memory_changes_no_later_decision_and_succeeds_when_repeated() {
    for burdens in [Burdens::Learned, Burdens::Totals] {
        for (name, call) in CALLS {
            let (mut twin, settings) = prepared(burdens);
            let before = run(&mut twin, &settings, 40);
            call(&mut twin, &settings).unwrap();
            let after = run(&mut twin, &settings, 40);
            for is_single in [true, false] {
                for allowed in 0.. {
                    let (mut goblin, settings) = prepared(burdens);
                    let attempt = || call(&mut goblin, &settings);
                    let outcome =
                        if is_single { with_failure(allowed, attempt) } else { with_allowance(allowed, attempt) };
                    let Err(error) = outcome else {
                        assert!(allowed > 0 || burdens == Burdens::Totals, "{name}: nothing was allocated");
                        break;
                    };
                    assert_eq!(error.code(), Code::OutOfMemory, "{name}");
                    let facts = format!("{burdens:?}, {name}, allocation {allowed}, single {is_single}");
                    assert!(run(&mut goblin, &settings, 40) == before, "{facts}: decisions differ after the failure");
                    call(&mut goblin, &settings).unwrap();
                    assert!(run(&mut goblin, &settings, 40) == after, "{facts}: decisions differ after the repeat");
                }
            }
        }
    }
}
