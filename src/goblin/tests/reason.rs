//! Random runs: each reason is consistent with the decision that it explains.

use super::Dice;
use crate::base::Id;
use crate::goblin::*;
use crate::testing::scaled;

/// A setting as the test knows it.
struct Known {
    id: Id,
    /// The only lane that it costs.
    lane: usize,
    values: Vec<f64>,
    costs: Vec<f64>,
    ready: Vec<bool>,
    range: (usize, usize),
    enabled: bool,
    work: f64,
    settled: usize,
    is_measured: bool,
    is_trim: bool,
}

const LANES_USED: [usize; 2] = [0, 2];

struct Run {
    goblin: Goblin,
    settings: Vec<Known>,
    dice: Dice,
    lanes: usize,
    strategy: u32,
    /// The decisions that changed the strategy.
    strategy_changes: Vec<u64>,
    own_value: Option<(usize, usize, f64)>,
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        for _ in 0..4 {
            dice.next();
        }
        let lanes = 1 + dice.below(2);
        let mut config = Config::default();
        for &lane in &LANES_USED[..lanes] {
            config.limits[lane] = 6.0 + 14.0 * dice.next();
        }
        match dice.below(4) {
            0 => config.overrun_probability = 0.01,
            1 => config.sigmas = 0.0,
            2 => config.patience = 0.0,
            _ => {}
        }
        let mut goblin = Goblin::new(&config).unwrap();
        let mut settings = Vec::new();
        for n in 0..2 + dice.below(4) {
            let count = 1 + dice.below(4);
            let values: Vec<f64> = (0..count).map(|o| (o as f64 * 2.0 + dice.below(4) as f64) * 1.5).collect();
            let costs = (0..count).map(|o| o as f64 * 2.0 * dice.next() + dice.next()).collect();
            let options: Vec<OptionDesc> = values.iter().map(|&value| OptionDesc::worth(value)).collect();
            let is_trim = dice.one_in(8);
            let id = format!("setting {n}");
            let desc = SettingDesc { is_trim, ..SettingDesc::new(&id, &options) };
            settings.push(Known {
                id: goblin.add_setting(&desc).unwrap(),
                lane: LANES_USED[dice.below(lanes)],
                values,
                costs,
                ready: vec![true; count],
                range: (0, count - 1),
                enabled: true,
                work: 1.0,
                settled: 0,
                is_measured: false,
                is_trim,
            });
        }
        Self { goblin, settings, dice, lanes, strategy: 0, strategy_changes: Vec::new(), own_value: None }
    }

    /// A random call of the host.
    fn disturb(&mut self) {
        let n = self.dice.below(self.settings.len());
        let Self { goblin, settings, dice, .. } = self;
        let known = &mut settings[n];
        let option = dice.below(known.values.len());
        match dice.below(10) {
            0 => {
                let first = dice.below(known.values.len());
                let last = first + dice.below(known.values.len() - first);
                known.range = (first, last);
                goblin.set_range(known.id, first as u32, last as u32).unwrap();
            }
            1 => {
                known.range = (0, known.values.len() - 1);
                goblin.set_range(known.id, 0, u32::MAX).unwrap();
            }
            2 => {
                known.ready[option] = !known.ready[option];
                goblin.set_ready(known.id, option as u32, known.ready[option]).unwrap();
            }
            3 => {
                known.enabled = !known.enabled;
                goblin.set_enabled(known.id, known.enabled).unwrap();
            }
            4 => {
                known.values[option] = 9.0 * dice.next();
                goblin.set_value(known.id, option as u32, known.values[option]).unwrap();
            }
            5 => {
                known.work = 0.5 + 2.0 * dice.next();
                goblin.set_work(known.id, known.work).unwrap();
            }
            6 | 7 => {
                let mut config = *goblin.config();
                config.limits[0] = if dice.one_in(6) { 0.25 } else { 4.0 + 16.0 * dice.next() };
                goblin.configure(&config).unwrap();
            }
            8 if goblin.strategy_count() == 1 => {
                let mut limits = [f64::INFINITY; LANES];
                LANES_USED[..self.lanes].iter().for_each(|&lane| limits[lane] = 30.0);
                goblin.add_strategy(&StrategyDesc { limits, incentive: -4.0 }).unwrap();
                let value = 12.0 * dice.next();
                goblin.set_strategy_value(1, known.id, option as u32, value).unwrap();
                self.own_value = Some((n, option, value));
            }
            8 => {
                let desc = StrategyDesc { limits: [f64::INFINITY; LANES], incentive: 20.0 * dice.next() - 10.0 };
                goblin.set_strategy(0, &desc).unwrap();
            }
            _ => goblin.open_trial_window(30, 0.2).unwrap(),
        }
    }

    fn value(&self, n: usize, option: usize) -> f64 {
        match self.own_value {
            Some((of, at, value)) if self.strategy == 1 && of == n && at == option => value,
            _ => self.settings[n].values[option],
        }
    }

    fn frame(&mut self) {
        if self.dice.one_in(12) {
            self.disturb();
        }
        let decision = self.goblin.update().unwrap();
        if decision.strategy != self.strategy {
            self.strategy = decision.strategy;
            self.strategy_changes.push(decision.id);
        }
        let before: Vec<usize> = self.settings.iter().map(|known| known.settled).collect();
        let enabled = |n: &usize| self.settings[*n].enabled;
        let reasons: Vec<Reason> = self.settings.iter().map(|known| self.goblin.reason(known.id).unwrap()).collect();
        let settled = |reason: &Reason| match reason.why {
            Why::Trial | Why::MakesRoom => usize::from(reason.from),
            _ => usize::from(reason.to),
        };
        let total = |at: &dyn Fn(usize) -> usize| -> f64 {
            (0..self.settings.len()).filter(enabled).map(|n| self.value(n, at(n))).sum()
        };
        let gained = total(&|n| settled(&reasons[n])) - total(&|n| before[n]);
        for (n, reason) in reasons.iter().enumerate() {
            self.check(n, reason, &decision, before[n], gained);
        }
        for (known, reason) in self.settings.iter_mut().zip(&reasons) {
            known.settled = if known.enabled { settled(reason) } else { known.settled };
        }
        let Self { goblin, settings, dice, .. } = self;
        for known in settings.iter_mut().filter(|known| known.enabled) {
            if dice.one_in(10) {
                continue;
            }
            let choice = usize::from(goblin.choice(known.id).unwrap().unwrap());
            let burden = known.costs[choice] * known.work * (0.95 + 0.1 * dice.next());
            goblin.measure(known.id, &Sample { decision: 0, lane: known.lane as u32, burden, good: true }).unwrap();
            known.is_measured = true;
        }
    }

    fn check(&self, n: usize, reason: &Reason, decision: &Decision, before: usize, gained: f64) {
        let known = &self.settings[n];
        let text = reason.to_string();
        let context = || format!("'{text}' of setting {n} in {decision:?}: {reason:?}");
        let choice = usize::from(self.goblin.choice(known.id).unwrap().unwrap());
        let (from, to) = (usize::from(reason.from), usize::from(reason.to));
        assert_eq!(to, choice, "{}", context());
        assert!(!text.replace("e-", "e").contains('-'), "a negative number: {}", context());
        if !known.enabled {
            assert_eq!(reason.why, Why::Disabled, "{}", context());
            assert_eq!((reason.headroom, reason.gain), (0.0, 0.0), "{}", context());
            return;
        }
        let is_new = reason.since == decision.id;
        let value = |option: usize| self.value(n, option);
        let allowed = |option: &usize| (known.range.0..=known.range.1).contains(option);
        let is_trial = matches!(reason.why, Why::Trial | Why::MakesRoom);
        if !is_trial {
            assert_eq!(is_new, before != to, "{}", context());
            assert!(!is_new || from == before, "{}", context());
            let is_best = reason.why == Why::Best && known.is_measured;
            assert!(!is_best || usize::from(reason.lane) == known.lane, "another lane: {}", context());
        }
        match reason.why {
            Why::Raised | Why::Lowered => {
                assert!(from != to && reason.since > 0 && decision.feasible, "{}", context());
                assert_eq!(!is_new || value(to) > value(from), reason.why == Why::Raised || !is_new, "{}", context());
                // Before other changes are weighed, TRIM settings have moved.
                let is_exact = is_new && self.settings.iter().all(|known| !known.is_trim);
                assert!(!is_exact || (reason.gain - gained).abs() < 1e-9, "gained {gained}: {}", context());
            }
            Why::Best | Why::Trim | Why::Limited | Why::NotReady | Why::Held => {
                assert!(decision.feasible && reason.headroom >= 0.0, "{}", context());
                let lane = usize::from(reason.lane);
                let free = decision.capacity[lane] - decision.burden[lane];
                let is_plain = decision.trials == 0 && self.goblin.config().overrun_probability == 0.0;
                assert!(!is_plain || (reason.headroom - free).abs() < 1e-6, "{free} is free: {}", context());
                let out = |is_barred: &dyn Fn(usize) -> bool| {
                    (0..known.values.len()).any(|option| is_barred(option) && value(option) > value(to))
                };
                assert!(reason.why != Why::Limited || out(&|option| !allowed(&option)), "{}", context());
                assert!(reason.why != Why::NotReady || out(&|option| !known.ready[option]), "{}", context());
                assert!(reason.why != Why::Held || reason.gain > 0.0, "{}", context());
            }
            Why::NothingFits => {
                assert!(!decision.feasible && reason.headroom < 0.0, "{}", context());
                let excess = decision.excess[usize::from(reason.lane)];
                assert!(decision.trials > 0 || (excess + reason.headroom).abs() < 1e-9, "{}", context());
            }
            Why::Trial | Why::MakesRoom => {
                assert!(from != to && decision.trials > 0 && (from == before || is_new), "{}", context());
            }
            Why::Strategy => assert!(self.strategy_changes.contains(&reason.since), "{}", context()),
            Why::Pinned => assert_eq!(known.range.0, known.range.1, "{}", context()),
            Why::Unknown => assert!(!known.is_measured, "{}", context()),
            Why::DeadLever => assert!(from != to && reason.since > 0, "{}", context()),
            Why::Undecided | Why::Disabled => panic!("{}", context()),
        }
    }
}

#[test]
fn reasons_are_consistent_with_the_decisions_that_they_explain() {
    for seed in 1..=u64::from(scaled(80)) {
        let mut run = Run::new(seed);
        for _ in 0..300 {
            run.frame();
        }
    }
}

#[test]
fn lanes_that_the_strategy_does_not_limit_have_no_margin() {
    let mut config = Config { overrun_probability: 0.01, ..Config::default() };
    config.limits[LANES_USED[0]] = 10.0;
    let mut goblin = Goblin::new(&config).unwrap();
    let options = [OptionDesc::worth(0.0), OptionDesc::worth(1.0)];
    let setting = goblin.add_setting(&SettingDesc::new("fog", &options)).unwrap();
    let mut limits = [f64::INFINITY; LANES];
    limits[LANES_USED[1]] = 5.0;
    // The other strategy is better by its incentive.
    let other = goblin.add_strategy(&StrategyDesc { limits, incentive: 100.0 }).unwrap();
    for _ in 0..100 {
        let decision = goblin.update().unwrap();
        for lane in LANES_USED {
            let sample = Sample { decision: decision.id, lane: lane as u32, burden: 2.0, good: true };
            goblin.measure(setting, &sample).unwrap();
        }
    }
    let decision = goblin.update().unwrap();
    let (unlimited, limited) = (LANES_USED[0], LANES_USED[1]);
    assert_eq!(decision.strategy as usize, other);
    assert_eq!((decision.capacity[unlimited], decision.excess[unlimited]), (f64::INFINITY, 0.0));
    assert_eq!((decision.chosen.mean[unlimited], decision.chosen.deviation[unlimited]), (2.0, 0.0));
    assert_eq!((decision.capacity[limited], decision.chosen.mean[limited]), (5.0, 2.0));
    let reason = goblin.reason(setting).unwrap();
    assert_eq!((usize::from(reason.lane), reason.headroom), (limited, 5.0 - decision.burden[limited]));
}
