//! Exploration: trials of options with unknown cost, inside the frame's budget.
//!
//! The solver chooses among known options (exploitation). Unknown options may be put on *trial*: chosen for one frame,
//! after the learning phase for a second. Their samples arrive some frames later; from then on they are known. Until
//! then the cost is a *guess*, a prior whose deviation reflects its uncertainty. Trials are added to a frame while the
//! probability of exceeding a limit stays below `trial_risk`: many while there is room, one at a time when there is
//! little. If a trial does not fit beside the present choices, the other settings are re-solved around it for that
//! frame.
//!
//! Three kinds of options are candidates, in this order. First, options without data. Second, options with so few
//! samples that one hitch could have spoiled them, or better options whose deviation is not known yet. Third, better
//! options than the present choice that were too expensive a while ago. The third kind is retried with exponential
//! backoff; options that once were cheaper than their estimate go first. After the learning phase, options that found
//! no room at first are rarely tried, because every trial is a frame that looks different.
//!
//! The guess uses the host's relative burdens, if there are any. Otherwise it is the cost of the most expensive known
//! option of lower value, plus the typical cost of options of other settings. This assumes that costs mostly rise with
//! value. With few options in all, the step continues the slope of the setting's own known options. Each trial that finds no room doubles the wait and halves the step and its deviation. In the end the guess is
//! an optimistic lower bound (optimism in the face of uncertainty), and the option is tried if it would gain by that.
//! The ratio of measured to guessed cost is learned: its mean corrects the next guess, and its variance is the variance
//! of guesses. The share of frames with trials that were over a limit corrects the margin of the next ones.

use crate::base::Number;
use crate::base::Result;
use crate::knapsack::several::Weight;
use crate::knapsack::{Economy, Effort, NO_CHOICE};
use crate::stats::normal_quantile;

use crate::goblin::choose::steady::rough;
use crate::goblin::config::{Burdens, LANES, LARGEST};
use crate::goblin::core::Core;
use crate::goblin::question::formulate::{Bar, Entry, Sum, Weighed, weigh};
use crate::goblin::tuning::{self, TUNING};

const TRIAL: &tuning::Trial = &TUNING.trial;
const GUESS: &tuning::Guess = &TUNING.guess;

/// The state of exploration: when which option is tried next, and how accurate guesses are.
#[derive(Debug)]
pub struct Explorer {
    /// Mean and mean square of measured over guessed cost.
    ratio: f64,
    square: f64,
    /// Factor on the margin of frames with trials.
    caution: f64,
    /// The first entry to consider.
    cursor: usize,
    /// No trial of stale estimates before these decisions.
    next_stale: u64,
    next_rare: u64,
    /// The present trial after the learning phase, and the first decision of the next.
    probe: Option<Probe>,
    next_probe: u64,
    /// Until this decision the host's trial window is open: more risk is allowed.
    pub window_end: u64,
    /// In the window, frames may exceed a limit by this share of it.
    pub window_share: f64,
}

impl Default for Explorer {
    fn default() -> Self {
        Self {
            ratio: GUESS.first_ratio,
            square: GUESS.first_square,
            caution: GUESS.first_caution,
            cursor: 0,
            next_stale: 0,
            next_rare: 0,
            probe: None,
            next_probe: 0,
            window_end: 0,
            window_share: 0.0,
        }
    }
}

/// A trial that lasts a second, so that it does not look like a flicker.
#[derive(Clone, Copy, Debug)]
struct Probe {
    position: usize,
    option: u16,
    /// The settled choice that it replaces.
    settled: u16,
    /// Its assumed cost until it is measured.
    guess: [Weight; LANES],
    began: u64,
}

impl Explorer {
    /// The parts of a guess: the known cost, and the uncorrected step beyond it.
    fn step_of(&self, guess: &Weight) -> (f64, f64) {
        let step = (guess.variance / self.relative_variance()).sqrt();
        (guess.mean - self.ratio * step, step)
    }

    /// Whether the setting at this position has the present trial after the learning phase.
    pub fn probes(&self, position: usize) -> bool {
        self.probe.is_some_and(|probe| probe.position == position)
    }

    /// Observe the measured cost of a guessed option.
    pub fn compare(&mut self, measured: f64, (known, step): (f64, f64)) {
        let ratio = ((measured - known) / step).clamp(0.0, GUESS.most_ratio);
        self.ratio += (ratio - self.ratio) / GUESS.memory;
        self.square += (ratio * ratio - self.square) / GUESS.memory;
    }

    /// Observe whether a frame with trials was over a limit. A share of `risk` may be.
    pub fn observe(&mut self, over: bool, risk: f64) {
        let push = if over { 1.0 - risk } else { -risk };
        self.caution = (self.caution * (1.0 + GUESS.caution_step * push))
            .clamp(GUESS.caution_range.start, GUESS.caution_range.end);
    }

    /// Decay the caution by one decision.
    fn decay_caution(&mut self) {
        self.caution += (1.0 - self.caution).min(0.0) / GUESS.caution_decay;
    }

    /// A guess with the mean and the variance that guesses had so far.
    fn widened(&self, guess: f64) -> Weight {
        Weight { mean: self.ratio * guess, variance: self.relative_variance() * guess * guess }
    }

    fn relative_variance(&self) -> f64 {
        let square = self.ratio * self.ratio;
        (self.square - square).max(GUESS.least_deviation * GUESS.least_deviation * square.max(GUESS.least_deviation))
    }
}

/// Why an option is a candidate for a trial.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    Unknown,
    FewSamples,
    Confirm,
    Dearer,
    Stale,
}

/// A candidate for a trial, and its assumed cost.
pub struct Trial {
    entry: usize,
    option: usize,
    cause: Cause,
    /// Whether it is tried only if it would gain: its assumed cost is then optimistic.
    must_gain: bool,
    guess: [Weight; LANES],
    /// On the first lane: the known cost in the guess, and the uncorrected step beyond it; the second is 0 if there was
    /// no guess.
    guessed: (f64, f64),
}

impl Trial {
    /// A trial of an option with an approximately known cost.
    pub fn of_known(entry: usize, option: usize, weight: Weight) -> Self {
        let mut guess = [Weight::default(); LANES];
        guess[0] = weight;
        Self { entry, option, cause: Cause::FewSamples, must_gain: false, guess, guessed: (0.0, 0.0) }
    }
}

impl Core {
    pub(in crate::goblin) fn open_trial_window(&mut self, decisions: u32, share: f64) -> Result<()> {
        if !(0.0..=LARGEST).contains(&share) {
            return Err(crate::base::error!(
                InvalidArgument,
                "share {} must be 0 to {:e}",
                Number(share),
                Number(LARGEST)
            ));
        }
        self.explorer.window_end = self.history.latest() + u64::from(decisions);
        self.explorer.window_share = share;
        if decisions > 0 {
            // Options that found no room may find it now.
            (self.explorer.next_stale, self.explorer.next_rare) = (0, 0);
            let options = self.settings.iter_mut().flat_map(|(_, setting)| &mut setting.options);
            options.for_each(|state| state.next_trial = 0);
        }
        Ok(())
    }

    /// Put options on trial, as many as the configuration allows and as fit. Returns the totals of the resulting
    /// choices and the number of trials.
    pub(in crate::goblin) fn explore(
        &mut self,
        chosen: Weighed,
        economies: &[Economy],
        effort: Effort,
    ) -> Result<(Weighed, u32)> {
        if self.config.burdens == Burdens::Totals {
            return self.explore_totals(chosen, economies, effort);
        }
        let now = self.history.latest() + 1;
        let in_window = now <= self.explorer.window_end;
        self.explorer.decay_caution();
        if !self.pace.is_free() {
            return Ok(self.probe(chosen, economies));
        }
        self.explorer.probe = None;
        let most = if in_window { u32::MAX } else { self.config.trial_limit };
        let risky = self.risky(economies, in_window);
        let risky = &risky[..economies.len()];
        let mut steps = None;
        let (mut weighed, mut trials) = (chosen, 0);
        let mut guesses = in_window;
        let most_solves = TRIAL.most_solves + u32::from(self.config.patience == 0.0 || !chosen.feasible);
        let count = self.formulation.entries.len();
        let first = self.explorer.cursor % count.max(1);
        for at in (first..count).chain(0..first) {
            if trials == most {
                break;
            }
            self.give_up(at);
            let Some((option, cause)) = self.next_trial(at) else { continue };
            let steps = steps.get_or_insert_with(|| self.typical_steps(economies));
            let trial = self.trial(at, option, cause, weighed.feasible, steps);
            // A known cost is no risk, so it needs no extra margin.
            let against = if guesses || trial.guessed.1 > 0.0 { risky } else { economies };
            let found = if let Some(found) = self.in_place(&trial, &weighed, against) {
                Some(found)
            } else if self.formulation.solved < most_solves && cause != Cause::Stale {
                self.attempt(&trial, &chosen, economies, against, effort)?
            } else if cause == Cause::Stale {
                None
            } else {
                continue;
            };
            self.explorer.cursor = at + 1;
            self.note(&trial, found.is_some());
            if let Some(found) = found {
                weighed = found;
                guesses |= trial.guessed.1 > 0.0;
                trials += 1;
            }
        }
        Ok((weighed, trials))
    }

    /// After the learning phase: one trial of one setting at a time, which lasts a second.
    fn probe(&mut self, chosen: Weighed, economies: &[Economy]) -> (Weighed, u32) {
        let now = self.history.latest() + 1;
        let risky = self.risky(economies, false);
        let risky = &risky[..economies.len()];
        if let Some(probe) = self.explorer.probe {
            let held = self.holding(economies);
            if let Some(found) = self.go_on(&probe, &chosen, &held[..economies.len()], now) {
                return (found, 1);
            }
            self.explorer.probe = None;
        }
        let is_quiet = now > self.target.last_change() + TRIAL.quiet;
        if now < self.explorer.next_probe || !is_quiet || !chosen.feasible || self.pace.allowance() < 2 {
            return (chosen, 0);
        }
        let steps = self.typical_steps(economies);
        let count = self.formulation.entries.len();
        let first = self.explorer.cursor % count.max(1);
        for at in (first..count).chain(0..first) {
            self.give_up(at);
            let Some((option, cause)) = self.next_trial(at) else { continue };
            let entry = self.formulation.entries[at];
            let settled = self.formulation.choices[at];
            let mut trial = self.trial(at, option, cause, chosen.feasible, &steps);
            trial.must_gain = true;
            let against = if trial.guessed.1 > 0.0 { risky } else { economies };
            let found = self.in_place(&trial, &chosen, against);
            self.note(&trial, found.is_some());
            let Some(found) = found else { continue };
            self.explorer.cursor = at + 1;
            self.explorer.next_probe = now + TRIAL.interval;
            self.explorer.probe = Some(Probe {
                position: entry.position,
                option: option as u16,
                settled,
                guess: trial.guess,
                began: now,
            });
            return (found, 1);
        }
        (chosen, 0)
    }

    /// Continue the present trial while it is allowed.
    fn go_on(&mut self, probe: &Probe, chosen: &Weighed, held: &[Economy], now: u64) -> Option<Weighed> {
        let at = self.formulation.entries.iter().position(|entry| entry.position == probe.position)?;
        let entry = self.formulation.entries[at];
        let option = entry.start + usize::from(probe.option);
        let is_over = now >= probe.began + TRIAL.length;
        if is_over || self.formulation.choices[at] != probe.settled || !chosen.feasible || option >= entry.end {
            return None;
        }
        let mut trial = Trial::of_known(at, usize::from(probe.option), Weight::default());
        match self.formulation.bars[option] {
            Bar::Free => trial.guess[..held.len()].copy_from_slice(self.formulation.weights_of(option)),
            Bar::Untried => trial.guess = probe.guess,
            _ => return None,
        }
        self.in_place(&trial, chosen, held)
    }

    /// Capacity and margin of a frame with trials.
    fn risky(&self, economies: &[Economy], in_window: bool) -> [Economy; LANES] {
        let sigmas = -normal_quantile(self.config.trial_risk) * self.explorer.caution;
        let mut risky = [Economy::default(); LANES];
        for (risky, economy) in risky.iter_mut().zip(economies) {
            let share = if in_window { self.explorer.window_share * economy.capacity.abs() } else { 0.0 };
            let capacity = if economy.capacity.is_finite() { economy.capacity + share } else { economy.capacity };
            *risky = Economy { capacity, sigmas };
        }
        risky
    }

    /// Geometric mean of the costs of known options, by lane. Before any is known, an equal share of the limit.
    fn typical_steps(&self, economies: &[Economy]) -> [f64; LANES] {
        let formulation = &self.formulation;
        let mut steps = [0.0; LANES];
        for (lane, economy) in economies.iter().enumerate() {
            let known = (0..formulation.bars.len()).filter(|&option| formulation.bars[option] == Bar::Free);
            let burdens = known.map(|option| formulation.weights_of(option)[lane].mean).filter(|&mean| mean > 0.0);
            let (sum, count) = burdens.fold((0.0, 0u32), |(sum, count), mean| (sum + mean.ln(), count + 1));
            let entries = formulation.entries.len().max(1) as f64;
            // No burden is larger than `LARGEST`, whatever the limit.
            let share = if economy.capacity.is_finite() { economy.capacity.clamp(0.0, LARGEST) / entries } else { 0.0 };
            steps[lane] = if count > 0 { (sum / f64::from(count)).exp() } else { share };
        }
        steps
    }

    /// Give up a trial whose sample is lost; the next one waits longer.
    fn give_up(&mut self, at: usize) {
        let position = self.formulation.entries[at].position;
        let (now, latest) = (self.history.latest() + 1, self.history.latest());
        let setting = self.setting_mut(position);
        if setting.on_trial == 0 || now - setting.on_trial < TRIAL.sample_timeout {
            return;
        }
        setting.on_trial = 0;
        if let Some(state) = setting.options.get_mut(usize::from(setting.tried)) {
            state.lost_trials = state.lost_trials.saturating_add(1);
            state.next_trial = latest + (TRIAL.sample_timeout << state.lost_trials.min(TRIAL.most_doublings));
        }
    }

    /// The best candidate for a trial among the options of an entry.
    fn next_trial(&self, at: usize) -> Option<(usize, Cause)> {
        let entry = self.formulation.entries[at];
        let setting = self.setting(entry.position);
        let now = self.history.latest() + 1;
        let choice = self.formulation.choices[at];
        if !setting.has_burden || !entry.known || setting.on_trial != 0 || choice == NO_CHOICE {
            return None;
        }
        let rare = self.explorer.next_rare <= now;
        let is_due = |failures: u8| rare || failures < GUESS.distrust_after || !self.target.is_settled(now);
        let task = self.tasks.at(setting.task);
        let present = setting.options[usize::from(choice)].desc.value;
        let mut first: Option<(Cause, f64, usize)> = None;
        for (option, state) in setting.options.iter().enumerate() {
            if option == usize::from(choice) || state.next_trial > now {
                continue;
            }
            let cause = match self.formulation.bars[entry.start + option] {
                Bar::Untried if is_due(state.failed_trials) => Cause::Unknown,
                Bar::Free => {
                    let cell = setting.cell(option);
                    let (is_better, learned) = (state.desc.value > present, task.best_known(cell));
                    if !is_better && learned.run.count() >= TRIAL.few_samples {
                        // This skips nearly all options of nearly all frames.
                        continue;
                    }
                    let is_doubtful = !learned.is_known() && !task.has_solid_past(cell);
                    let age = now - setting.measured(option).min(now);
                    if is_doubtful && learned.run.count() < TRIAL.few_samples && is_due(state.failed_trials) {
                        Cause::FewSamples
                    } else if is_better
                        && is_doubtful
                        && age >= TRIAL.confirm_interval
                        && (rare || !self.target.is_settled(now))
                    {
                        Cause::Confirm
                    } else if !is_better || age < TRIAL.stale_after {
                        continue;
                    } else if self.explorer.next_stale <= now && learned.has_become_dearer() {
                        Cause::Dearer
                    } else if rare {
                        Cause::Stale
                    } else {
                        continue;
                    }
                }
                _ => continue,
            };
            let value = state.desc.value;
            let is_before =
                |other: (Cause, f64, usize)| cause < other.0 || (cause == other.0 && value.total_cmp(&other.1).is_lt());
            if first.is_none_or(is_before) {
                first = Some((cause, value, option));
            }
        }
        first.map(|(cause, _, option)| (option, cause))
    }

    /// A trial of an option with its assumed cost.
    fn trial(&self, at: usize, option: usize, cause: Cause, feasible: bool, steps: &[f64; LANES]) -> Trial {
        let entry = self.formulation.entries[at];
        let mut guess = [Weight::default(); LANES];
        for (lane, weight) in guess.iter_mut().enumerate().take(self.lanes.count()) {
            *weight = self.guess(&entry, option, cause, lane, feasible, steps[lane]);
        }
        let is_guess = cause == Cause::Unknown && guess[0].variance > 0.0;
        let guessed = if is_guess { self.explorer.step_of(&guess[0]) } else { (0.0, 0.0) };
        let must_gain = match cause {
            Cause::Dearer | Cause::Stale => true,
            Cause::Confirm => false,
            Cause::Unknown | Cause::FewSamples => {
                feasible && self.setting(entry.position).options[option].failed_trials >= GUESS.distrust_after
            }
        };
        Trial { entry: at, option, cause, must_gain, guess, guessed }
    }

    /// The assumed cost of a trial on a lane.
    fn guess(&self, entry: &Entry, option: usize, cause: Cause, lane: usize, feasible: bool, step: f64) -> Weight {
        let setting = self.setting(entry.position);
        let state = &setting.options[option];
        let own = self.formulation.weights_of(entry.start + option)[lane];
        let halved = |failures: u8| 0.5f64.powi(i32::from(failures));
        match cause {
            // After many trials without room the few samples may all be hitches, so the cost is guessed.
            Cause::FewSamples if state.failed_trials < GUESS.distrust_after => return own,
            // Its unknown deviation alone must not exclude it.
            Cause::Confirm => return Weight { variance: 0.0, ..own },
            // Its lowest measured cost, halved after each unsuccessful trial because the measurement may be wrong too.
            Cause::Dearer | Cause::Stale => {
                let learned = &self.tasks.at(setting.task).learned(lane)[setting.cell(option)];
                let lowest = learned.lowest * setting.work_of(option) * self.common_factors()[lane];
                return Weight { mean: own.mean.min(lowest) * halved(state.failed_trials), variance: 0.0 };
            }
            Cause::Unknown | Cause::FewSamples => {}
        }
        if !self.is_measured(setting.task, lane) {
            return Weight::default();
        }
        // An option that found no room for long may be much cheaper than its guess, but not by any factor.
        let failures = if cause == Cause::Unknown { state.failed_trials } else { 0 };
        let (sure, hope) =
            (halved(failures), halved(failures.saturating_sub(GUESS.distrust_after)).max(GUESS.lower_bound));
        if let Some(Weight { mean, variance }) = self.guess_by_relative_burden(entry, option, lane) {
            return Weight { mean: mean * hope, variance: variance * sure * sure };
        }
        let known = || {
            let sure = move |other: &usize| *other != option && self.formulation.bars[entry.start + other] == Bar::Free;
            let mean = |other: usize| (other, self.formulation.weights_of(entry.start + other)[lane].mean);
            (0..entry.end - entry.start).filter(sure).map(mean)
        };
        let below = known().filter(|(other, _)| setting.options[*other].desc.value <= state.desc.value);
        let dearest_below = below.map(|(_, mean)| mean).fold(f64::NEG_INFINITY, f64::max);
        if dearest_below < 0.0 || !feasible {
            // All known options are more valuable, and so probably more expensive; or no known option fits, and any
            // other is better.
            let lightest = known().map(|(_, mean)| mean).fold(f64::INFINITY, f64::min);
            let mean = if feasible { lightest } else { lightest / 2.0 };
            return Weight { mean, variance: 0.0 };
        }
        let is_ladder = self.option_count <= GUESS.few_options && setting.shared <= 1;
        let own = if is_ladder { own_step(known(), option) } else { None };
        let step = own.unwrap_or(dearest_below.max(step)) * halved(state.failed_trials);
        let Weight { mean, variance } = self.explorer.widened(step);
        Weight { mean: dearest_below * hope + mean, variance }
    }

    /// A guess from the cost of known options per unit of the host's relative burden.
    fn guess_by_relative_burden(&self, entry: &Entry, option: usize, lane: usize) -> Option<Weight> {
        let setting = self.setting(entry.position);
        let relative = setting.options[option].desc.relative_burden;
        let (mut sum, mut units) = (0.0, 0.0);
        for other in 0..entry.end - entry.start {
            let unit = setting.options[other].desc.relative_burden;
            if unit > 0.0 && self.formulation.bars[entry.start + other] == Bar::Free {
                sum += self.formulation.weights_of(entry.start + other)[lane].mean;
                units += unit;
            }
        }
        if relative <= 0.0 || units <= 0.0 {
            return None;
        }
        Some(self.explorer.widened(relative * sum / units))
    }

    /// Whether a task has any samples on a lane, in this run or a past one.
    fn is_measured(&self, task: usize, lane: usize) -> bool {
        let task = self.tasks.at(task);
        task.past(lane).is_some() || task.learned(lane).iter().any(|learned| learned.run.count() > 0)
    }

    /// Add the trial without changing other settings, if it fits.
    pub(in crate::goblin) fn in_place(
        &mut self,
        trial: &Trial,
        weighed: &Weighed,
        risky: &[Economy],
    ) -> Option<Weighed> {
        let entry = self.formulation.entries[trial.entry];
        let present = entry.start + usize::from(self.formulation.choices[trial.entry]);
        let option = entry.start + trial.option;
        let mut sum: Sum = weighed.sum;
        sum.add(self.formulation.values[present], self.formulation.weights_of(present), -1.0);
        sum.add(self.formulation.values[option], &trial.guess[..risky.len()], 1.0);
        let found = weigh(&sum, risky);
        if !found.feasible || (trial.must_gain && found.sum.value <= weighed.sum.value) {
            return None;
        }
        self.formulation.weights_of_mut(option).copy_from_slice(&trial.guess[..risky.len()]);
        self.formulation.choices[trial.entry] = trial.option as u16;
        Some(Weighed { feasible: weighed.feasible, ..found })
    }

    /// Solve the other settings around the trial. Returns the totals if the trial is accepted.
    pub(in crate::goblin) fn attempt(
        &mut self,
        trial: &Trial,
        before: &Weighed,
        economies: &[Economy],
        risky: &[Economy],
        effort: Effort,
    ) -> Result<Option<Weighed>> {
        let entry = self.formulation.entries[trial.entry];
        let (option, lanes) = (entry.start + trial.option, economies.len());
        let formulation = &mut self.formulation;
        formulation.set_aside.clear();
        formulation.set_aside.extend_from_slice(&formulation.weights[option * lanes..][..lanes]);
        formulation.weights_of_mut(option).copy_from_slice(&trial.guess[..lanes]);
        // Other trials of this frame keep their options.
        for at in 0..formulation.entries.len() {
            let position = formulation.entries[at].position;
            let setting = self.settings.at(position).expect("entries are made of the settings there are");
            let choice = formulation.choices[at];
            formulation.entries[at].forced = if choice == setting.settled { NO_CHOICE } else { choice };
        }
        formulation.entries[trial.entry].forced = trial.option as u16;
        let solved = formulation.solve(risky, rough(effort), TRIAL.change_penalty);
        formulation.entries.iter_mut().for_each(|entry| entry.forced = NO_CHOICE);
        let found = solved.map(|_| weigh(&formulation.sum(&formulation.found), risky));
        let is_on = found.as_ref().is_ok_and(|found| match trial.must_gain {
            true => found.feasible && found.sum.value > before.sum.value,
            // When nothing fits, an option that may be lighter is worth a try.
            false => found.feasible || (!before.feasible && found.worst_excess(risky) < before.worst_excess(economies)),
        });
        if is_on && !self.changes_too_many() {
            self.formulation.accept();
            return found.map(Some);
        }
        let set_aside = std::mem::take(&mut self.formulation.set_aside);
        self.formulation.weights_of_mut(option).copy_from_slice(&set_aside);
        self.formulation.set_aside = set_aside;
        found.map(|_| None)
    }

    /// Whether the trial that was found changes too many settings for the time after the learning phase.
    fn changes_too_many(&self) -> bool {
        let pairs = self.formulation.choices.iter().zip(&self.formulation.found);
        let changed = pairs.filter(|(choice, found)| choice != found).count();
        changed > TRIAL.most_changes && self.target.is_settled(self.history.latest() + 1)
    }

    /// Set when the option may be tried next.
    pub(in crate::goblin) fn note(&mut self, trial: &Trial, is_on: bool) {
        let now = self.history.latest() + 1;
        match trial.cause {
            Cause::Dearer => self.explorer.next_stale = now + TRIAL.stale_interval,
            Cause::Stale => self.explorer.next_rare = now + TRIAL.rare_interval,
            Cause::Unknown | Cause::FewSamples | Cause::Confirm if is_on && self.target.is_settled(now) => {
                let settled = |entry: &Entry| self.setting(entry.position).settled;
                let pairs = self.formulation.entries.iter().zip(&self.formulation.choices);
                let changed = pairs.filter(|(entry, choice)| settled(entry) != **choice).count();
                self.explorer.next_rare = now + TRIAL.rare_interval * changed as u64;
            }
            Cause::Unknown | Cause::FewSamples | Cause::Confirm => {}
        }
        let position = self.formulation.entries[trial.entry].position;
        let setting = self.setting_mut(position);
        let state = &mut setting.options[trial.option];
        let doubled = |wait: u64| wait << state.failed_trials.min(TRIAL.most_doublings);
        let is_stale = matches!(trial.cause, Cause::Dearer | Cause::Stale);
        let wait = match (is_on, is_stale) {
            (_, true) => doubled(TRIAL.stale_after),
            (true, _) => 1,
            (false, _) => doubled(TRIAL.retry_wait),
        };
        state.next_trial = now + wait;
        let learns = is_on && !is_stale;
        state.failed_trials = if learns { 0 } else { state.failed_trials.saturating_add(1) };
        if is_on {
            setting.on_trial = now;
            setting.tried = trial.option as u16;
            setting.guessed = trial.guessed;
        }
    }
}

/// The step from the next lower known option to this one, if the setting has two known options below: the largest slope
/// between neighbours among them, times the distance. `known` gives options and their costs, in order.
fn own_step(known: impl Iterator<Item = (usize, f64)>, option: usize) -> Option<f64> {
    let (mut before, mut slope): (Option<(usize, f64)>, f64) = (None, 0.0);
    for (other, mean) in known.take_while(|(other, _)| *other < option) {
        if let Some((at, cost)) = before {
            slope = slope.max((mean - cost) / (other - at) as f64);
        }
        before = Some((other, mean));
    }
    before.filter(|_| slope > 0.0).map(|(at, _)| slope * (option - at) as f64)
}
