//! The second half of a frame: formulate, solve, publish.

use super::choose::explain::Facts;
use super::choose::pace::{Changes, Origin};
use super::choose::steady::Settled;
use super::config::{Burdens, Config, LANES};
use super::core::Core;
use super::decision::{Decision, Net};
use super::explore::Scope;
use super::frame::Frame;
use super::lanes::{Lanes, by_host_lane};
use super::learn::history::{Forecast, Given, Part};
use super::question::formulate::Held;
use super::question::formulation::{Formulation, Sum, Weighed, weigh};
use super::question::strategy::{MOST_STRATEGIES, Rank};
use super::tuning::TUNING;
use super::warnings::Checked;
use crate::base::host::{Zone, now_ns};
use crate::base::{Result, fault_point};
use crate::knapsack::{Economy, NO_CHOICE};

impl Core {
    pub(super) fn decide(&mut self) -> Result<()> {
        let decided = self.decide_unchecked().map(|decision| self.decision = decision);
        if !self.is_replay {
            let Self { config, lanes, question, learn, warnings, .. } = self;
            warnings.check(Checked { config, lanes, question, learn });
        }
        decided
    }

    fn decide_unchecked(&mut self) -> Result<Decision> {
        let _zone = Zone::begin(c"hob_goblin_decide");
        let began = now_ns();
        let (config, lanes, now) = (self.config, self.lanes, self.latest_decision() + 1);
        self.learn.refresh_ratios(&config);
        self.choose.end_rests(&self.question, now);
        self.step_thermals();
        let other_strategy = self.choose_strategy()?;
        self.find_trims();
        let (slow, fast) = self.formulate();
        self.assume_common_deviations();
        fault_point!("goblin.decide");
        let (lightest, highest) = nets(&self.question.formulation, &lanes);
        let economies = self.economies(&lightest, &highest);
        let economies = &economies[..lanes.count()];
        let held = self.learn.held(&config, economies);
        let growth = self.learn.growth();
        let frame = Frame { config: &config, now, economies, held: &held[..lanes.count()], slow, fast, growth };
        let Self { learn, question, choose, explore, .. } = self;
        if config.learns_samples() {
            choose.pace.prolong(now, learn.books.statistics.samples);
        }
        choose.begin_pace(&frame, explore.is_in_window(now) || config.burdens == Burdens::Totals);
        let settled =
            if other_strategy { choose.settle_anew(question, &frame)? } else { choose.settle(question, &frame)? };
        choose.remember_settled(&question.formulation, &settled, &frame);
        if !settled.weighed.feasible {
            learn.doubt_past(&config, now);
        }
        if !settled.held {
            choose.watch_levers(question, learn, &frame);
        }
        let (mut weighed, mut trials) = (settled.weighed, 0);
        let trial_end = explore.trial_end(&config);
        if explores(&config) {
            let scope = Scope { learn, choose, frame: &frame };
            (weighed, trials) = explore.explore(question, scope, weighed)?;
        } else {
            explore.end_probe();
        }
        choose.trim_frame(question, &frame, &mut weighed);
        let origin = origin(&settled, trial_end, explore.trial_end(&config), now);
        let (chosen, changes) = self.publish(&settled, origin, other_strategy, &frame);
        self.await_samples(&chosen, &weighed, trials == 0, &frame);
        self.learn.history.forecast(self.learn.history.latest(), 0).changes = changes.burden;
        let waits = (settled.waits || settled.is_delayed) && !self.choose.pace.is_free();
        self.learn.controller.decided(chosen.mean[lanes.lane(0)], waits);
        let elapsed = began.zip(now_ns()).map(|(from, to)| to.saturating_sub(from));
        let capacities: [f64; LANES] =
            std::array::from_fn(|lane| economies.get(lane).map_or(0.0, |economy| economy.capacity));
        let count = lanes.count();
        Ok(Decision {
            id: self.latest_decision(),
            feasible: weighed.feasible,
            chosen,
            burden: by_host_lane(&lanes, &weighed.burden[..count]),
            capacity: by_host_lane(&lanes, &capacities[..count]),
            excess: by_host_lane(&lanes, &weighed.excess[..count]),
            gap: settled.gap,
            lightest,
            highest,
            settings: self.question.formulation.entries.len() as u32,
            changes: changes.count,
            is_forced: origin == Origin::Forced,
            trials,
            strategy: self.active_strategy() as u32,
            nodes: self.question.formulation.nodes,
            elapsed_ns: elapsed.unwrap_or(0),
        })
    }

    /// Find the TRIM settings that may follow every frame: those whose changes take little of the limit.
    fn find_trims(&mut self) {
        let slow = TUNING.trim.slow_change * self.limits()[self.lanes.lane(0)];
        let trims = self.config.trims();
        for (_, setting) in self.question.settings.iter_mut() {
            setting.is_trim = setting.wants_trim && trims && setting.switch_burden <= slow;
        }
    }

    /// Formulate the problem under the active strategy. Returns the common factor by governed lane: its slow component,
    /// and that with the fast one.
    fn formulate(&mut self) -> ([f64; LANES], [f64; LANES]) {
        let Self { config, learn, question, choose, .. } = self;
        let factors = learn.common_factors(config);
        let now = learn.history.latest() + 1;
        question.formulate(config, learn, &factors.0, |position| {
            let kept = &choose.kept[position];
            Held { choice: kept.settled, resting: kept.lever.resting(now) }
        });
        factors
    }

    /// Choose the active strategy. Returns whether it changed.
    fn choose_strategy(&mut self) -> Result<bool> {
        let count = self.strategy_count();
        if count == 1 {
            return Ok(false);
        }
        let before = self.active_strategy();
        let mut ranks = [Rank::default(); MOST_STRATEGIES];
        let ranked = ranks[..count].iter_mut().enumerate().try_for_each(|(strategy, rank)| {
            self.question.strategies.activate(strategy);
            *rank = self.rank()?;
            Ok(())
        });
        self.question.strategies.activate(before);
        ranked.map(|()| self.question.strategies.choose(&ranks[..count], self.config.patience))
    }

    /// How good the best choice under the active strategy is.
    fn rank(&mut self) -> Result<Rank> {
        self.formulate();
        let (lightest, highest) = nets(&self.question.formulation, &self.lanes);
        let economies = self.economies(&lightest, &highest);
        let economies = &economies[..self.lanes.count()];
        let formulation = &mut self.question.formulation;
        formulation.solve(economies, self.config.effort(), 0.0)?;
        let weighed = weigh(&formulation.sum(&formulation.found), economies);
        let net = weighed.sum.value + self.question.strategies.incentive();
        let score = if weighed.feasible { net } else { -weighed.worst_excess(economies) };
        Ok(Rank { fits: weighed.feasible, score, net, range: highest.value - lightest.value })
    }

    /// The capacity and the margin of every governed lane. Sets the burdens that no setting reports, too.
    fn economies(&mut self, lightest: &Net, highest: &Net) -> [Economy; LANES] {
        let mut economies = [Economy::default(); LANES];
        let limits = *self.limits();
        for (index, lane) in self.lanes.iter().enumerate() {
            let capacity = self.choose.thermals[lane].share() * limits[lane];
            economies[index] = Economy { capacity, sigmas: self.learn.sigmas(&self.config, index) };
        }
        let lane = self.lanes.lane(0);
        if self.config.burdens == Burdens::Relative && limits[lane].is_finite() {
            let capacity = self.learn.controller.capacity(lightest.mean[lane], highest.mean[lane]);
            economies[0] = Economy { capacity, sigmas: 0.0 };
        }
        for (index, economy) in economies.iter().enumerate().take(self.lanes.count()) {
            self.question.formulation.beside[index] = self.learn.beside(&self.config, index, economy);
        }
        economies
    }

    /// Assume how far totals stray before any total is known. A past profile has the deviations of single options, but not
    /// which part of them is common to all. So a warm start assumes that all of it is, and learns the rest within seconds.
    fn assume_common_deviations(&mut self) {
        if self.learn.past.tasks().is_empty() {
            return;
        }
        for (lane, calibration) in self.learn.calibrations.iter_mut().enumerate().filter(|(_, one)| one.is_fresh()) {
            if let Some(share) = self.question.formulation.relative_deviation(lane) {
                calibration.assume(share);
            }
        }
    }

    /// Publish the choices and remember them. Returns their totals and the changes.
    fn publish(
        &mut self,
        settled: &Settled,
        origin: Origin,
        other_strategy: bool,
        frame: &Frame<'_>,
    ) -> (Net, Changed) {
        let decision = self.learn.history.begin();
        let (changes, visible) = self.count_changes(decision);
        let Self { lanes, learn, question, choose, explore, published, .. } = self;
        let (formulation, strategies) = (&question.formulation, &question.strategies);
        let economies = frame.economies;
        let facts = Facts { settled, formulation, strategies, lanes, economies, decision, other_strategy };
        let mut sum = Sum::default();
        let edition = published.write(decision);
        for (entry, &choice) in formulation.entries.iter().zip(&formulation.choices) {
            let (position, option) = (entry.position, usize::from(choice));
            let (setting, kept) = (question.setting(position), &mut choose.kept[position]);
            kept.choice = choice;
            edition.set(position, choice);
            if choice == NO_CHOICE {
                continue;
            }
            let work = setting.work_of(option) * strategies.work(position, option);
            learn.history.give(decision, position, Given { choice, work });
            let value = strategies.value_of(setting, position, option);
            sum.add(value, formulation.weights_of(entry.start + option), 1.0);
            let is_settled = choice == kept.settled;
            kept.is_tried = !is_settled && explore.is_tried(position, decision);
            if is_settled {
                kept.reason = facts.reason(setting, kept, entry);
            }
        }
        edition.publish();
        choose.pace.pay(visible, origin);
        if explore.trial_end(frame.config).is_none() {
            choose.pace.end_trial();
        }
        sum.add(0.0, &formulation.beside[..lanes.count()], 1.0);
        (Net::of(&sum, lanes), changes)
    }

    /// Note the choices that differ from the published ones. Returns them, and the visible changes.
    fn count_changes(&mut self, decision: u64) -> (Changed, Changes) {
        let (mut changes, mut visible) = (Changed::default(), Changes::default());
        let reversal = self.config.decisions_of(TUNING.pace.reversal_seconds);
        let Self { question, choose, explore, .. } = self;
        for (entry, &choice) in question.formulation.entries.iter().zip(&question.formulation.choices) {
            let (setting, kept) = (question.setting(entry.position), &mut choose.kept[entry.position]);
            if kept.choice == choice {
                continue;
            }
            changes.count += 1;
            changes.burden += if kept.choice == NO_CHOICE { 0.0 } else { setting.switch_burden };
            if choice != NO_CHOICE {
                explore.note_chosen(entry.position, usize::from(choice), decision);
            }
            if !setting.is_trim {
                visible.settings += 1;
                visible.visible += setting.noticeability();
                visible.reversals += u32::from(kept.left == choice && kept.left_at + reversal >= decision);
                (kept.left, kept.left_at) = (kept.choice, decision);
            }
        }
        (changes, visible)
    }

    /// Store the forecast of the decision on every lane.
    fn await_samples(&mut self, chosen: &Net, weighed: &Weighed, fair: bool, frame: &Frame<'_>) {
        let decision = self.latest_decision();
        let (lanes, strategy) = (self.lanes, self.active_strategy() as u8);
        let held = self.config.decisions_of(TUNING.hold.held_seconds);
        for (index, lane) in lanes.iter().enumerate() {
            let mean = chosen.mean[lane];
            let expected = self.expect_samples(decision, index, mean);
            let variance = weighed.sum.weights[index].variance.max(0.0);
            let beside = self.question.formulation.beside[index];
            // The residual needs no samples of settings.
            let is_known = expected.known_mean >= TUNING.forecast.known_share * (mean - beside.mean);
            *self.learn.history.forecast(decision, index) = Forecast {
                mean,
                variance,
                own_variance: (variance - beside.variance).max(0.0),
                samples: expected.count,
                awaited: expected.count,
                residual: beside.mean,
                common: frame.slow[index],
                fast: frame.fast[index],
                factors: self.learn.calibrations[index].factors(),
                ratio: self.learn.ratios[index],
                fair: fair && expected.is_complete && is_known,
                trials: !fair,
                strategy,
                held: decision >= self.choose.target.last_change() + held,
                ..Forecast::default()
            };
        }
    }

    /// Note which settings a decision's total on a governed lane needs samples of: all with a non-negligible expected
    /// cost. `mean` is the expected total.
    fn expect_samples(&mut self, decision: u64, lane: usize, mean: f64) -> Expected {
        let Self { learn, question, .. } = self;
        let formulation = &question.formulation;
        let mut expected = Expected { count: 0, known_mean: 0.0, is_complete: true };
        for (entry, &choice) in formulation.entries.iter().zip(&formulation.choices) {
            if choice == NO_CHOICE {
                continue;
            }
            let (setting, option) = (question.setting(entry.position), usize::from(choice));
            let is_young = decision < learn.sampled[entry.position].valid_from + TUNING.forecast.first_sample;
            expected.is_complete &= entry.known || !setting.has_burden || !is_young;
            let cost = formulation.weights_of(entry.start + option)[lane].mean;
            if cost > TUNING.forecast.negligible * mean {
                let (task, cell) = (setting.task, setting.cell(option));
                let known = learn.tasks.at(task).is_known(lane, cell);
                expected.known_mean += if known { cost } else { 0.0 };
                expected.count += 1;
                // The common factor is found from clamped samples, so it expects clamped ones.
                let clamped = (cost * learn.clamped(task, lane, cell)) as f32;
                *learn.history.part(decision, entry.position, lane) =
                    Part { expected: clamped, known, ..Part::NOTHING };
            }
        }
        expected
    }
}

/// The choices that differ from the published ones.
#[derive(Clone, Copy, Default)]
struct Changed {
    count: u32,
    /// Their switch burdens, on the first governed lane.
    burden: f64,
}

/// The samples that a total needs.
struct Expected {
    count: u32,
    /// The part of the expected total that rests on enough samples.
    known_mean: f64,
    /// Whether no setting is so new that its samples may only be late.
    is_complete: bool,
}

/// The cause of the changes of a decision at `now`. The ends of trials are those before and after it.
fn origin(settled: &Settled, end_before: Option<u64>, end: Option<u64>, now: u64) -> Origin {
    let has_ended_early = end != end_before && end_before.is_some_and(|end| end > now);
    if settled.is_forced || (has_ended_early && settled.held) {
        Origin::Forced
    } else if end.is_some() && end != end_before {
        Origin::Trial
    } else {
        Origin::Voluntary
    }
}

/// Whether options may be put on trial.
fn explores(config: &Config) -> bool {
    config.trial_limit > 0 && (config.learns_samples() || config.burdens == Burdens::Totals)
}

/// The lightest and the most valuable choice.
fn nets(formulation: &Formulation, lanes: &Lanes) -> (Net, Net) {
    (Net::of(&formulation.lightest, lanes), Net::of(&formulation.highest, lanes))
}
