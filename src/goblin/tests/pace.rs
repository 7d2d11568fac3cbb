//! Random runs: how many settings change in any second and in any minute.

use super::Dice;
use crate::base::Id;
use crate::goblin::*;
use crate::testing::scaled;

struct Known {
    id: Id,
    costs: Vec<f64>,
    load: f64,
}

/// A machine whose loads jump and wander, and a host that makes options available later.
struct Machine {
    goblin: Goblin,
    settings: Vec<Known>,
    dice: Dice,
    rate: f64,
    per_second: f64,
    /// Decisions between two jumps of a load, and how far it jumps.
    jumps: (usize, f64),
    choices: Vec<Option<u16>>,
}

/// The visible changes of a decision.
#[derive(Clone, Copy, Default)]
struct Made {
    changes: f64,
    is_forced: bool,
    trials: u32,
}

impl Machine {
    fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        (0..4).for_each(|_| _ = dice.next());
        let rate = [0.25, 0.7, 1.0, 1.0, 2.5, 4.0][dice.below(6)];
        let per_second = [30.0, 60.0, 60.0, 144.0][dice.below(4)];
        let mut config = Config {
            overrun_probability: 0.01,
            changes_per_second: rate,
            decisions_per_second: per_second,
            ..Config::default()
        };
        let count = 6 + dice.below(9);
        config.limits[0] = (1.0 + 1.5 * dice.next()) * count as f64;
        let mut goblin = Goblin::new(&config).unwrap();
        let settings = (0..count)
            .map(|n| {
                let options = 2 + dice.below(3);
                let values = (0..options).map(|option| option as f64 * (1.0 + dice.next()));
                let descs: Vec<OptionDesc> = values.map(OptionDesc::worth).collect();
                let costs = (0..options).map(|option| 0.2 + option as f64 * (0.4 + dice.next())).collect();
                let id = goblin.add_setting(&SettingDesc::new(&format!("setting {n}"), &descs)).unwrap();
                if options > 2 && dice.below(2) == 0 {
                    goblin.set_ready(id, options as u32 - 1, false).unwrap();
                }
                Known { id, costs, load: 1.0 }
            })
            .collect();
        let jumps = (3 + dice.below(60), 0.2 + 0.5 * dice.next());
        Self { goblin, settings, dice, rate, per_second, jumps, choices: vec![None; count] }
    }

    fn frame(&mut self) -> Made {
        let Self { goblin, settings, dice, jumps, choices, .. } = self;
        if dice.below(jumps.0) == 0 {
            let at = dice.below(settings.len());
            settings[at].load = 1.0 + jumps.1 * (2.0 * dice.next() - 1.0);
        }
        if dice.below(900) == 0 {
            let known = &settings[dice.below(settings.len())];
            goblin.set_ready(known.id, known.costs.len() as u32 - 1, true).unwrap();
        }
        let decision = goblin.update().unwrap();
        let mut made = Made { changes: 0.0, is_forced: decision.is_forced, trials: decision.trials };
        for (known, choice) in settings.iter().zip(choices) {
            let chosen = goblin.choice(known.id).unwrap();
            made.changes += f64::from(u8::from(*choice != chosen));
            *choice = chosen;
            let burden = known.costs[usize::from(chosen.unwrap())] * known.load * (0.96 + 0.08 * dice.next());
            goblin.measure(known.id, &Sample { decision: decision.id, lane: 0, burden, good: true }).unwrap();
        }
        made
    }
}

/// Figures that show that the limits of the runs matter.
#[derive(Default)]
struct Seen {
    full_minutes: u32,
    pairs: u32,
    trials: u32,
    forced: u32,
}

/// Check all decisions of a run after its learning phase.
fn check(seed: u64, machine: &Machine, run: &[Made], seen: &mut Seen) {
    let (rate, second) = (machine.rate, machine.per_second as usize);
    let voluntary = |made: &Made| if made.is_forced { 0.0 } else { made.changes };
    for (at, made) in run.iter().enumerate() {
        let last = |decisions: usize| &run[(at + 1).saturating_sub(decisions)..=at];
        seen.trials += u32::from(made.trials > 0 && voluntary(made) > 0.0);
        seen.forced += u32::from(made.is_forced && made.changes > 0.0);
        if voluntary(made) == 0.0 {
            continue;
        }
        let in_second: f64 = last(second).iter().map(voluntary).sum();
        let is_alone = in_second == made.changes;
        assert!(is_alone || in_second <= rate, "seed {seed} at {at}: {in_second} in a second at a rate of {rate}");
        seen.pairs += u32::from(made.changes > 1.0);
        // While a trial lasts, forced changes may use what its end needs.
        let lately: f64 = last(second + 1).iter().filter(|made| made.is_forced).map(|made| made.changes).sum();
        let in_minute = last(60 * second).iter().map(|made| made.changes).sum::<f64>() - lately;
        let most = (60.0 * rate).max(1.0);
        assert!(in_minute <= most, "seed {seed} at {at}: {in_minute} in a minute at a rate of {rate}");
        seen.full_minutes += u32::from(in_minute >= 0.85 * most);
    }
}

/// No sliding second has more voluntary changes than the rate, unless one decision makes them all. No voluntary change
/// makes a minute exceed the rate, whatever the forced ones were.
#[test]
fn any_second_and_any_minute_of_random_runs_stay_inside_the_rate() {
    let mut seen = Seen::default();
    for seed in 1..=u64::from(scaled(40)) {
        let mut machine = Machine::new(seed);
        (0..1100).for_each(|_| _ = machine.frame());
        let frames = (150.0 * machine.per_second) as usize;
        let run: Vec<Made> = (0..frames).map(|_| machine.frame()).collect();
        check(seed, &machine, &run, &mut seen);
    }
    let Seen { full_minutes, pairs, trials, forced } = seen;
    println!("{full_minutes} full minutes, {pairs} decisions of several changes, {trials} trials, {forced} forced");
    assert!(full_minutes > 20 && pairs > 50 && trials > 10 && forced > 50);
}
