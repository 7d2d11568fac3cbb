//! Numbers at the ends of their ranges.

use super::*;
use crate::testing::scaled;

/// One of these numbers: the least, the largest, or a common one.
fn extreme(dice: &mut Dice, numbers: &[f64]) -> f64 {
    numbers[dice.below(numbers.len())]
}

#[test]
fn update_succeeds_with_any_accepted_numbers() {
    let mut failures = String::new();
    // The last runs once failed: two with costs of 1e53, two with prices of 1e200.
    for seed in (0..scaled(600)).chain([11_198, 18_445, 11_200, 23_645]) {
        if let Err(error) = extreme_run(&mut Dice(u64::from(seed))) {
            failures += &format!("seed {seed}: {error}\n");
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

fn extreme_run(dice: &mut Dice) -> crate::base::Result<()> {
    const POSITIVE: [f64; 6] = [1e-9, 1e-5, 1.0, 3.0, 1e5, 1e9];
    const BURDENS: [f64; 6] = [0.0, 1e-300, 1e-9, 1.0, 2.0, 1e9];
    const VALUES: [f64; 6] = [-1e9, 0.0, 1e-300, 1.0, 2.0, 1e9];
    let mut config = Config {
        burdens: [Burdens::Learned, Burdens::Totals, Burdens::Relative][dice.below(3)],
        exploration: [Exploration::Bounded, Exploration::Optimistic][dice.below(2)],
        sigmas: extreme(dice, &[0.0, 3.0, 100.0]),
        overrun_probability: extreme(dice, &[0.0, 0.01, 1e-300]),
        patience: extreme(dice, &[0.0, 1.0, 1e9]),
        explore_value: extreme(dice, &[0.0, 1.0, 1e9, -1e9]),
        dwell: dice.below(2) as u32 * 100,
        ..Config::default()
    };
    for lane in 0..1 + dice.below(3) {
        config.limits[lane] = extreme(dice, &[f64::MIN_POSITIVE, 1e-9, 1.0, 16.0, 1e9, f64::MAX]);
    }
    let mut goblin = Goblin::new(&config)?;
    if dice.one_in(3) {
        let mut past = Profile::new();
        let known = std::array::from_fn::<_, 4, _>(|_| Estimate {
            count: 50,
            mean: extreme(dice, &BURDENS),
            deviation: extreme(dice, &BURDENS),
        });
        past.set("0", &known)?;
        goblin.set_past_profile(&past)?;
    }
    if dice.one_in(3) {
        goblin.add_strategy(&StrategyDesc { limits: [extreme(dice, &POSITIVE); LANES], incentive: 0.0 })?;
    }
    goblin.set_switch_scale(extreme(dice, &[0.0, 1.0, 1e9]))?;
    let mut settings = Vec::new();
    for id in ["0", "1", "2"] {
        let options = std::array::from_fn::<_, 4, _>(|_| OptionDesc {
            value: extreme(dice, &VALUES),
            relative_burden: extreme(dice, &[0.0, 1e-9, 1.0, 1.0, 2.0, 1e9]),
            ready: true,
            work: extreme(dice, &POSITIVE),
        });
        let switch_burden = extreme(dice, &[0.0, 1.0, 1e9]);
        let desc = SettingDesc { is_trim: dice.one_in(4), switch_burden, ..SettingDesc::new(id, &options) };
        let setting = goblin.add_setting(&desc)?;
        goblin.set_setting_switch_scale(setting, extreme(dice, &[0.0, 1.0, 1e9]))?;
        if goblin.strategy_count() > 1 {
            goblin.set_strategy_work(1, setting, extreme(dice, &POSITIVE))?;
            goblin.set_strategy_option_work(1, setting, 1, extreme(dice, &POSITIVE))?;
        }
        settings.push(setting);
    }
    for _ in 0..120 {
        let decision = goblin.update()?;
        for &setting in &settings {
            if dice.one_in(9) {
                goblin.set_work(setting, extreme(dice, &POSITIVE))?;
            }
            let burden = if dice.one_in(3) { extreme(dice, &BURDENS) } else { 1.0 };
            goblin.measure(setting, &Sample { lane: dice.below(3) as u32, ..sample(decision.id, burden) })?;
        }
        goblin.measure_total(&sample(decision.id, if dice.one_in(3) { extreme(dice, &BURDENS) } else { 5.0 }))?;
    }
    Ok(())
}

#[test]
fn relative_burden_too_small_for_ratios_is_rejected_by_name() {
    let mut goblin = goblin(16.0);
    let options = [1e-200, 1.0].map(|relative_burden| OptionDesc { relative_burden, ..OptionDesc::worth(1.0) });
    let error = goblin.add_setting(&SettingDesc::new("a", &options)).unwrap_err();
    assert_eq!(error.to_string(), "option 0: relative burden 1e-200 must be 0, or from 1e-9 to 1e9");
}
