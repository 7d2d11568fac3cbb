//! Facts about choices that are read from other threads.

use super::Dice;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::base::Code;
use crate::base::Id;
use crate::goblin::*;

fn config(history: u32) -> Config {
    // The quality of the choices does not matter here.
    let mut config = Config { history, node_limit: 8, precision: 20, trial_limit: 2, ..Config::default() };
    config.limits[0] = 16.0;
    config
}

fn options(count: usize) -> Vec<OptionDesc> {
    (0..count).map(|n| OptionDesc { relative_burden: 1.0 + n as f64, ..OptionDesc::worth(n as f64) }).collect()
}

/// A model of the published answers.
#[derive(Default)]
struct Model {
    live: Vec<Id>,
    dead: Vec<Id>,
    enabled: BTreeMap<u32, bool>,
    /// By decision: choices by `index1`.
    decided: BTreeMap<u64, BTreeMap<u32, u16>>,
    /// Decisions before this one were beyond `history` once, though a larger one may reach them again.
    forgotten_before: u64,
}

impl Model {
    fn note_decision(&mut self, goblin: &Goblin) {
        let choice = |id: &Id| Some((id.index1, goblin.choice(*id).unwrap()?));
        let took_part = self.live.iter().filter(|id| self.enabled[&id.index1]);
        self.decided.insert(goblin.latest_decision(), took_part.filter_map(choice).collect());
    }

    fn drop_choices_of(&mut self, id: Id) {
        self.decided.values_mut().for_each(|choices| _ = choices.remove(&id.index1));
    }

    fn check(&mut self, goblin: &Goblin) {
        let (published, latest) = (goblin.published(), goblin.latest_decision());
        assert_eq!(published.latest(), latest);
        for &id in &self.live {
            assert_eq!(published.choice(id).unwrap(), goblin.choice(id).unwrap());
        }
        for &id in self.dead.iter().chain(&[Id::default(), Id { index1: u32::MAX, generation: 0 }]) {
            assert_eq!(published.choice(id).unwrap_err().code(), Code::NotFound);
            assert_eq!(published.choice_of(0, id).unwrap_err().code(), Code::NotFound);
            assert_eq!(published.choice_of(latest, id).unwrap_err().code(), Code::NotFound);
        }
        let depth = u64::from(goblin.config().history);
        let oldest = (latest + 1).saturating_sub(depth).max(1);
        self.forgotten_before = self.forgotten_before.max(oldest);
        if latest > 0 {
            self.check_decision(goblin, 0, &self.decided[&latest], latest);
        }
        for decision in self.forgotten_before..=latest {
            self.check_decision(goblin, decision, &self.decided[&decision], decision);
        }
        for decision in [oldest - 1, latest + 1].into_iter().filter(|&decision| decision > 0) {
            let mut out = [7; 4];
            assert_eq!(published.choices(decision, &mut out).unwrap_err().code(), Code::NotFound);
            assert_eq!(out, [Published::NONE; 4]);
            let of = |&id: &Id| published.choice_of(decision, id).unwrap_err().code();
            assert!(self.live.iter().all(|id| of(id) == Code::NotFound));
        }
    }

    fn check_decision(&self, goblin: &Goblin, asked: u64, expected: &BTreeMap<u32, u16>, decision: u64) {
        let published = goblin.published();
        let mut out = vec![0; goblin.positions() + 2];
        let snapshot = published.choices(asked, &mut out).unwrap();
        assert_eq!(snapshot, Snapshot { decision, count: goblin.positions() });
        for (index, &choice) in out.iter().enumerate() {
            let wanted = expected.get(&(index as u32 + 1)).map_or(Published::NONE, |&choice| u32::from(choice));
            assert_eq!(choice, wanted, "decision {asked}, index {index}");
        }
        for &id in &self.live {
            let answer = published.choice_of(asked, id);
            assert_eq!(answer.ok(), expected.get(&id.index1).copied(), "decision {asked}, {id:?}");
        }
    }
}

fn play(seed: u64, steps: usize) {
    let mut dice = Dice(seed);
    let mut goblin = Goblin::new(&config(1 + dice.below(9) as u32)).unwrap();
    let mut model = Model::default();
    model.check(&goblin);
    for step in 0..steps {
        let any = (!model.live.is_empty()).then(|| model.live[dice.below(model.live.len().max(1))]);
        match (dice.below(16), any) {
            (0 | 1, _) | (_, None) => {
                let options = options(dice.below(5));
                let default_choice = dice.below(options.len().max(1)) as u16;
                let name = format!("task {seed} {step}");
                let desc = SettingDesc { default_choice, ..SettingDesc::new(&name, &options) };
                let id = goblin.add_setting(&desc).unwrap();
                model.live.push(id);
                model.enabled.insert(id.index1, true);
            }
            (2, Some(id)) => {
                goblin.remove_setting(id).unwrap();
                model.live.retain(|&other| other != id);
                model.drop_choices_of(id);
                model.dead.push(id);
            }
            (3, Some(id)) => {
                let (had, options) = (goblin.option_count(id).unwrap(), options(dice.below(5)));
                goblin.set_options(id, &options).unwrap();
                if had != options.len() {
                    model.drop_choices_of(id);
                }
            }
            (4, Some(id)) => {
                let enabled = dice.below(3) > 0;
                goblin.set_enabled(id, enabled).unwrap();
                model.enabled.insert(id.index1, enabled);
            }
            (5, Some(id)) => drop(goblin.set_range(id, dice.below(3) as u32, 2 + dice.below(3) as u32)),
            (6, Some(id)) => _ = goblin.applied(id, 0, dice.below(4) as u32),
            (7, _) => {
                let mut changed = config(1 + dice.below(9) as u32);
                if dice.below(3) == 0 {
                    changed.limits[dice.below(LANES)] = 5.0;
                }
                goblin.configure(&changed).unwrap();
            }
            (8, _) if goblin.strategy_count() < 4 => {
                let limits = [1.0 + dice.below(9) as f64; LANES];
                _ = goblin.add_strategy(&StrategyDesc { limits, incentive: dice.below(5) as f64 }).unwrap();
            }
            _ => {
                for &id in &model.live {
                    let burden = 0.5 + goblin.choice(id).unwrap().map_or(0.0, f64::from);
                    _ = goblin.measure(id, &Sample { decision: 0, lane: 0, burden, good: true });
                }
                goblin.update().unwrap();
                model.note_decision(&goblin);
            }
        }
        model.check(&goblin);
    }
}

#[test]
fn published_choices_follow_the_goblin_through_any_calls() {
    (1..=if cfg!(debug_assertions) { 10 } else { 60 }).for_each(|seed| play(seed, 300));
}

#[test]
fn choice_of_answers_what_was_decided_after_another_choice_was_applied() {
    let mut goblin = Goblin::new(&config(4)).unwrap();
    let id = goblin.add_setting(&SettingDesc::new("a", &options(3))).unwrap();
    let decision = goblin.update().unwrap().id;
    let decided = goblin.choice(id).unwrap().unwrap();
    goblin.applied(id, decision, u32::from(decided) + 1).unwrap();
    assert_eq!(goblin.published().choice_of(decision, id).unwrap(), decided);
}

#[test]
fn choices_before_the_first_decision_are_the_defaults() {
    let mut goblin = Goblin::new(&config(4)).unwrap();
    let all = options(3);
    let id = goblin.add_setting(&SettingDesc { default_choice: 2, ..SettingDesc::new("a", &all) }).unwrap();
    goblin.add_setting(&SettingDesc::new("no options", &[])).unwrap();
    let published = goblin.published().clone();
    assert_eq!((published.choice(id).unwrap(), published.choice_of(0, id).unwrap()), (Some(2), 2));
    let mut out = [0; 3];
    assert_eq!(published.choices(0, &mut out).unwrap(), Snapshot { decision: 0, count: 2 });
    assert_eq!(out, [2, Published::NONE, Published::NONE]);
    assert_eq!(published.choices(0, &mut out[..1]).unwrap().count, 2, "the count includes entries that did not fit");
    drop(goblin);
    assert_eq!(published.choice(id).unwrap(), Some(2), "the last choices outlive the goblin");
}

#[test]
fn deciding_keeps_the_memory_of_published_choices() {
    let mut goblin = Goblin::new(&config(64)).unwrap();
    let empty = (goblin.memory_used(), goblin.published().memory_used());
    for n in 0..200 {
        goblin.add_setting(&SettingDesc::new(&format!("{n}"), &options(2))).unwrap();
    }
    let grown = goblin.published().memory_used();
    assert!(grown > empty.1 + 200 * 65 * 2 && grown < 4 * 256 * (67 * 2 + 8) + empty.1, "{grown}");
    assert!(goblin.memory_used() - empty.0 > grown - empty.1, "the goblin counts it as its own");
    (0..300).for_each(|_| _ = goblin.update().unwrap());
    assert_eq!(goblin.published().memory_used(), grown);
    let limit = goblin.memory_used() as u64 + 1000;
    let wider = Config { history: 4096, memory_limit: limit, ..config(64) };
    assert_eq!(goblin.configure(&wider).unwrap_err().code(), Code::LimitExceeded);
    assert_eq!(goblin.published().memory_used(), grown);
}

/// The option that all settings are pinned to in a decision, so that a mix of decisions is detected.
fn pinned(decision: u64) -> u16 {
    (decision * 7 % 5) as u16
}

/// One thread decides without pause, and adds settings; the others read with all calls. With `held`, one reads the held
/// row for overtaken readers all the time, so that it is older than usual.
fn hammer(history: u32, held: bool, decisions: u64) {
    const READERS: usize = 3;
    const FIRST: usize = 24;
    let mut goblin = Goblin::new(&config(history)).unwrap();
    let all = options(5);
    let default_choice = pinned(0);
    let add = |goblin: &mut Goblin, n: usize| {
        let name = format!("setting {n}");
        goblin.add_setting(&SettingDesc { default_choice, ..SettingDesc::new(&name, &all) }).unwrap()
    };
    let mut ids: Vec<Id> = (0..FIRST).map(|n| add(&mut goblin, n)).collect();
    let (published, first) = (goblin.published().clone(), ids.clone());
    let (done, reads) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for reader in 0..READERS {
            let (published, first, done, reads) = (&published, &first, &done, &reads);
            scope.spawn(move || {
                let (mut dice, mut out) = (Dice(reader as u64), [0u32; 200]);
                let check_row = |decision: u64, count: usize, out: &[u32]| {
                    assert!(count >= FIRST);
                    let wanted = u32::from(pinned(decision));
                    assert!(out[..FIRST].iter().all(|&choice| choice == wanted), "{decision}: {:?}", &out[..FIRST]);
                    // Settings that were added later have no choice.
                    assert!(out[FIRST..].iter().all(|&choice| choice == wanted || choice == Published::NONE));
                };
                while !done.load(Ordering::Relaxed) {
                    let id = first[dice.below(FIRST)];
                    let before = published.latest();
                    let choice = published.choice(id).unwrap().unwrap();
                    let after = published.latest();
                    assert!((before..=after + 1).any(|decision| pinned(decision) == choice));
                    let snapshot = published.choices(0, &mut out).unwrap();
                    let between = before..=published.latest();
                    assert!(held || between.contains(&snapshot.decision), "{snapshot:?} {between:?}");
                    assert!(snapshot.decision <= *between.end());
                    check_row(snapshot.decision, snapshot.count, &out);
                    if held && before > 0 {
                        check_row(published.held_choices(&mut out[..FIRST]), FIRST, &out[..FIRST]);
                    }
                    let latest = published.latest();
                    let decision = latest.saturating_sub(dice.below(history as usize) as u64).max(1);
                    // Whether it was remembered all the time.
                    let is_still = || published.latest() < decision + u64::from(history);
                    match published.choice_of(decision, id) {
                        Ok(choice) => assert_eq!(choice, pinned(decision)),
                        Err(error) => assert!(error.code() == Code::NotFound && (latest == 0 || !is_still())),
                    }
                    match published.choices(decision, &mut out) {
                        Ok(snapshot) => check_row(decision, snapshot.count, &out),
                        Err(error) => assert!(error.code() == Code::NotFound && (latest == 0 || !is_still())),
                    }
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for decision in 1..=decisions {
            let option = u32::from(pinned(decision));
            ids.iter().for_each(|&id| goblin.set_range(id, option, option).unwrap());
            goblin.decide().unwrap();
            assert_eq!(goblin.choice(ids[0]).unwrap(), Some(option as u16));
            if decision % (decisions / 150) == 0 && ids.len() < 180 {
                let id = add(&mut goblin, ids.len());
                ids.push(id);
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(reads.into_inner() > 0);
}

const DECISIONS: u64 = if cfg!(debug_assertions) { 400 } else { 8_000 };

#[test]
fn choices_read_while_another_thread_decides_are_of_one_decision() {
    [1, 3, 64].into_iter().for_each(|history| hammer(history, false, DECISIONS));
}

#[test]
fn choices_for_readers_that_were_overtaken_are_of_one_decision() {
    [1, 64].into_iter().for_each(|history| hammer(history, true, DECISIONS));
}
