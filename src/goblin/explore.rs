//! Trying what is not known, without paying for it with the frame.
//!
//! The solver chooses among what is known. Beside it, unknown options may be put on *trial*: chosen for one frame. What
//! they cost comes back as samples some frames later; from then on they are known. What an unknown option costs is
//! guessed, with a deviation as wide as the guess is vague, and trials are put into a frame as long as the probability
//! that it is over a limit stays below `trial_risk`: many while there is room, one at a time when there is little. If
//! there is no room for a trial beside what is chosen, the other settings are re-solved around it for that frame.
//!
//! Three kinds of options deserve a trial, in this order: those without any data; those with so few samples that one
//! hitch could have spoiled them, or better ones with so few that their deviation is not known; and better ones than
//! the present choice that were found too dear a while ago. Those of the third kind are tried the more rarely the
//! longer nothing comes of it; ones that once were cheaper than they are thought to be come before others. Once things
//! have settled, whatever found no room at first is tried rarely, for every trial is a frame that looks different.
//!
//! The guess for an option without data goes by the host's relative burdens where there are any. Else it is the dearest
//! known option of lower value plus a step as large as options of other settings are, since ladders mostly climb. Each
//! trial that finds no room doubles the wait and halves the step and the doubt; in the end the option is taken to cost
//! as little as may be hoped, and tried if it would gain by that. How good guesses are is learned as well: what was
//! measured over what was guessed corrects the next guess, and its deviation is theirs. And the share of frames with
//! trials that were over a limit corrects how much is kept free of the next.

use crate::base::Number;
use crate::base::Result;
use crate::knapsack::several::Weight;
use crate::knapsack::{Economy, Effort, NO_CHOICE};
use crate::stats::normal_quantile;

use super::Goblin;
use super::config::{Burdens, LANES, LARGEST};
use super::formulate::{Bar, Entry, Sum, Weighed, weigh};
use super::record::Event;
use super::steady::rough;
use super::tuning::TUNING;

/// Samples after which an option needs no more trials.
const FEW_SAMPLES: u64 = 3;
/// Decisions after which a trial's sample will no longer come.
const LOST_AFTER: u64 = 32;
/// Decisions until a trial that found no room is considered again; doubled each time.
const NO_ROOM_WAIT: u64 = 16;
/// Decisions after which knowledge of a better option is stale; doubled each time it proves still too dear.
const STALE_AFTER: u64 = 400;
/// Decisions between two trials of a better option that has some samples, but not enough to know its deviation.
const CONFIRM_APART: u64 = 30;
/// Trials without room after which a few samples are no longer believed.
const DOUBTED_AFTER: u8 = 3;
/// Decisions between two trials of stale knowledge for options that had to be left: each is a frame that looks
/// different.
const STALE_APART: u64 = 60;
/// Decisions, for each setting that changed, after a trial without need: of stale knowledge, or once things have
/// settled of what found no room at first.
const RARELY: u64 = 3600;
/// The least share of its guess that an option may be hoped to cost.
const LEAST_HOPE: f64 = 0.25;
/// Most doublings.
const LONGEST_WAIT: u8 = 8;
/// Penalty for each change that a trial makes to other settings.
const FEW_CHANGES: f64 = 0.03;
/// Once things have settled, no trial changes more settings than this.
const MOST_DISTURBED: usize = 4;
/// No trial is solved for in a decision that has solved so many knapsacks already; one more if every one does, or if
/// nothing fits.
const MOST_SOLVES: u32 = 1;

/// When what is next to be tried, and how good guesses are.
#[derive(Debug)]
pub struct Explorer {
    /// Mean and mean square of what was measured over what was guessed.
    ratio: f64,
    square: f64,
    /// What to multiply the sigmas by that are kept free of frames with trials.
    caution: f64,
    /// The entry that is considered first.
    cursor: usize,
    /// No trial of stale knowledge before these decisions.
    next_stale: u64,
    next_rare: u64,
    /// The trial that is under way once changes have a price, and the first decision of the next.
    probe: Option<Probe>,
    next_probe: u64,
    /// Until this decision the host has opened a window: more may be risked.
    pub window_end: u64,
    /// By which share of a limit frames in the window may be over it.
    pub window_share: f64,
}

/// Guesses before the first trial are taken to be off like this: mean and mean square of measured over guessed.
const FIRST_RATIO: f64 = 1.5;
const FIRST_SQUARE: f64 = 5.0;
/// Guesses that are remembered.
const GUESSES: f64 = 96.0;
/// A guess that is off by more than this factor counts as off by so much.
const FARTHEST_OFF: f64 = 8.0;
/// The least relative deviation of a guess.
const LEAST_DOUBT: f64 = 0.3;
/// How far the caution moves with a frame with trials that is over, relatively; and how far it goes.
const CAUTION_STEP: f64 = 0.25;
const CAUTIONS: std::ops::Range<f64> = 0.5..6.0;
/// Decisions after which caution is forgotten, about.
const CALM_AFTER: f64 = 300.0;

impl Default for Explorer {
    fn default() -> Self {
        Self {
            ratio: FIRST_RATIO,
            square: FIRST_SQUARE,
            caution: 3.0,
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

/// A trial that lasts, so that it does not look like a flicker.
#[derive(Clone, Copy, Debug)]
struct Probe {
    position: usize,
    option: u16,
    /// The choice that it stands in for.
    settled: u16,
    /// What it is reckoned with until it was measured.
    guess: [Weight; LANES],
    began: u64,
}

impl Explorer {
    /// What a guess was made of: what is known, and the step beyond it that was widened.
    fn step_of(&self, guess: &Weight) -> (f64, f64) {
        let step = (guess.variance / self.relative_variance()).sqrt();
        (guess.mean - self.ratio * step, step)
    }

    /// What was guessed has been measured.
    pub fn compare(&mut self, measured: f64, (known, step): (f64, f64)) {
        let ratio = ((measured - known) / step).clamp(0.0, FARTHEST_OFF);
        self.ratio += (ratio - self.ratio) / GUESSES;
        self.square += (ratio * ratio - self.square) / GUESSES;
    }

    /// A frame with trials was over a limit, or not, where a share of `risk` may be.
    pub fn came(&mut self, over: bool, risk: f64) {
        let push = if over { 1.0 - risk } else { -risk };
        self.caution = (self.caution * (1.0 + CAUTION_STEP * push)).clamp(CAUTIONS.start, CAUTIONS.end);
    }

    /// A decision later, what went wrong before weighs less.
    fn calm_down(&mut self) {
        self.caution += (1.0 - self.caution).min(0.0) / CALM_AFTER;
    }

    /// A guess as wide as guesses have been off.
    fn widened(&self, guess: f64) -> Weight {
        Weight { mean: self.ratio * guess, variance: self.relative_variance() * guess * guess }
    }

    fn relative_variance(&self) -> f64 {
        let square = self.ratio * self.ratio;
        (self.square - square).max(LEAST_DOUBT * LEAST_DOUBT * square.max(LEAST_DOUBT))
    }
}

/// Why an option deserves a trial.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    Unknown,
    FewSamples,
    Confirm,
    Dearer,
    Stale,
}

/// An option that deserves a trial, and what to reckon it with.
pub struct Trial {
    entry: usize,
    option: usize,
    cause: Cause,
    /// Whether it is on only if it would gain: what it is reckoned with is the best that can be hoped for.
    must_gain: bool,
    guess: [Weight; LANES],
    /// On the first lane: what is known of the guess, and the step beyond it before it was corrected; 0 if it is not a
    /// guess.
    guessed: (f64, f64),
}

impl Trial {
    /// Of an option whose cost is known more or less.
    pub fn of_known(entry: usize, option: usize, weight: Weight) -> Self {
        let mut guess = [Weight::default(); LANES];
        guess[0] = weight;
        Self { entry, option, cause: Cause::FewSamples, must_gain: false, guess, guessed: (0.0, 0.0) }
    }
}

impl Goblin {
    /// For so many decisions from the next on, trials are not limited in number, and frames may be over the limits by
    /// `share` of them: a menu, a loading screen, a cut. 0 decisions close the window.
    pub fn open_trial_window(&mut self, decisions: u32, share: f64) -> Result<()> {
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
            // There may be room now for what found none.
            (self.explorer.next_stale, self.explorer.next_rare) = (0, 0);
            let options = self.settings.iter_mut().flat_map(|(_, setting)| &mut setting.options);
            options.for_each(|state| state.next_trial = 0);
        }
        self.write_down(Event::OpenWindow(decisions, share));
        Ok(())
    }

    /// Put options on trial, as many as allowed and as fit; what the choices then come to, and how many.
    pub(super) fn explore(&mut self, chosen: Weighed, economies: &[Economy], effort: Effort) -> Result<(Weighed, u32)> {
        if self.config.burdens == Burdens::Totals {
            return self.explore_totals(chosen, economies, effort);
        }
        let now = self.history.latest() + 1;
        let in_window = now <= self.explorer.window_end;
        self.explorer.calm_down();
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
        let most_solves = MOST_SOLVES + u32::from(self.config.patience == 0.0 || !chosen.feasible);
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
            // What is known is no risk.
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
        let is_quiet = now > self.target.last_change() + TUNING.trial_quiet;
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
            self.explorer.next_probe = now + TUNING.trial_interval;
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

    /// Keep what is on trial, while it may stay.
    fn go_on(&mut self, probe: &Probe, chosen: &Weighed, held: &[Economy], now: u64) -> Option<Weighed> {
        let at = self.formulation.entries.iter().position(|entry| entry.position == probe.position)?;
        let entry = self.formulation.entries[at];
        let option = entry.start + usize::from(probe.option);
        let is_over = now >= probe.began + TUNING.trial_length;
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

    /// What a frame with trials is held against.
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

    /// What known options of settings cost typically (their geometric mean), by lane; before anything is known an equal
    /// share of the limit.
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

    /// A trial whose sample has not come for long led nowhere, and the next waits longer.
    fn give_up(&mut self, at: usize) {
        let position = self.formulation.entries[at].position;
        let (now, latest) = (self.history.latest() + 1, self.history.latest());
        let setting = self.setting_mut(position);
        if setting.on_trial == 0 || now - setting.on_trial < LOST_AFTER {
            return;
        }
        setting.on_trial = 0;
        if let Some(state) = setting.options.get_mut(usize::from(setting.tried)) {
            state.lost_trials = state.lost_trials.saturating_add(1);
            state.next_trial = latest + (LOST_AFTER << state.lost_trials.min(LONGEST_WAIT));
        }
    }

    /// The option of an entry that deserves a trial most.
    fn next_trial(&self, at: usize) -> Option<(usize, Cause)> {
        let entry = self.formulation.entries[at];
        let setting = self.setting(entry.position);
        let now = self.history.latest() + 1;
        let choice = self.formulation.choices[at];
        if !setting.has_burden || !entry.known || setting.on_trial != 0 || choice == NO_CHOICE {
            return None;
        }
        let rare = self.explorer.next_rare <= now;
        let is_due = |failures: u8| rare || failures < DOUBTED_AFTER || !self.target.is_settled(now);
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
                    if !is_better && learned.run.count() >= FEW_SAMPLES {
                        // Nearly all options of nearly all frames.
                        continue;
                    }
                    let is_doubtful = !learned.is_known() && !task.has_solid_past(cell);
                    let age = now - setting.measured(option).min(now);
                    if is_doubtful && learned.run.count() < FEW_SAMPLES && is_due(state.failed_trials) {
                        Cause::FewSamples
                    } else if is_better && is_doubtful && age >= CONFIRM_APART && (rare || !self.target.is_settled(now))
                    {
                        Cause::Confirm
                    } else if !is_better || age < STALE_AFTER {
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

    /// A trial of an option, with what to reckon it with.
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
                feasible && self.setting(entry.position).options[option].failed_trials >= DOUBTED_AFTER
            }
        };
        Trial { entry: at, option, cause, must_gain, guess, guessed }
    }

    /// What to reckon a trial with on a lane.
    fn guess(&self, entry: &Entry, option: usize, cause: Cause, lane: usize, feasible: bool, step: f64) -> Weight {
        let setting = self.setting(entry.position);
        let state = &setting.options[option];
        let own = self.formulation.weights_of(entry.start + option)[lane];
        let halved = |failures: u8| 0.5f64.powi(i32::from(failures));
        match cause {
            // Found no room for long: perhaps all it ever was is a hitch, so it is guessed anew.
            Cause::FewSamples if state.failed_trials < DOUBTED_AFTER => return own,
            // Only that its deviation is not known yet may keep it away.
            Cause::Confirm => return Weight { variance: 0.0, ..own },
            // What it cost when nothing got in its way; less each time that leads nowhere, for that may be wrong too.
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
        // What found no room for long may be much cheaper than it seems, but not by any factor.
        let failures = if cause == Cause::Unknown { state.failed_trials } else { 0 };
        let (sure, hope) = (halved(failures), halved(failures.saturating_sub(DOUBTED_AFTER)).max(LEAST_HOPE));
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
            // All that is known is more valuable, and so probably heavier; or nothing known fits, and all else is
            // better.
            let lightest = known().map(|(_, mean)| mean).fold(f64::INFINITY, f64::min);
            let mean = if feasible { lightest } else { lightest / 2.0 };
            return Weight { mean, variance: 0.0 };
        }
        let step = dearest_below.max(step) * halved(state.failed_trials);
        let Weight { mean, variance } = self.explorer.widened(step);
        Weight { mean: dearest_below * hope + mean, variance }
    }

    /// By what a known option of the setting costs for each unit of the host's relative burden.
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

    /// Whether anything was ever measured of a task on a lane.
    fn is_measured(&self, task: usize, lane: usize) -> bool {
        let task = self.tasks.at(task);
        task.past(lane).is_some() || task.learned(lane).iter().any(|learned| learned.run.count() > 0)
    }

    /// The trial with all other settings as they are, if that fits.
    pub(super) fn in_place(&mut self, trial: &Trial, weighed: &Weighed, risky: &[Economy]) -> Option<Weighed> {
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

    /// Solve around the trial; what it then comes to, if the trial is on.
    pub(super) fn attempt(
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
        // Others that are on trial stay what they are.
        for at in 0..formulation.entries.len() {
            let position = formulation.entries[at].position;
            let setting = self.settings.at(position).expect("entries are made of the settings there are");
            let choice = formulation.choices[at];
            formulation.entries[at].forced = if choice == setting.settled { NO_CHOICE } else { choice };
        }
        formulation.entries[trial.entry].forced = trial.option as u16;
        let solved = formulation.solve(risky, rough(effort), FEW_CHANGES);
        formulation.entries.iter_mut().for_each(|entry| entry.forced = NO_CHOICE);
        let found = solved.map(|_| weigh(&formulation.sum(&formulation.found), risky));
        let is_on = found.as_ref().is_ok_and(|found| match trial.must_gain {
            true => found.feasible && found.sum.value > before.sum.value,
            // When nothing fits, whatever may be lighter is worth a try.
            false => found.feasible || (!before.feasible && found.worst_excess(risky) < before.worst_excess(economies)),
        });
        if is_on && !self.disturbs() {
            self.formulation.accept();
            return found.map(Some);
        }
        let set_aside = std::mem::take(&mut self.formulation.set_aside);
        self.formulation.weights_of_mut(option).copy_from_slice(&set_aside);
        self.formulation.set_aside = set_aside;
        found.map(|_| None)
    }

    /// Whether the trial that was found changes more settings than one should once things have settled.
    fn disturbs(&self) -> bool {
        let pairs = self.formulation.choices.iter().zip(&self.formulation.found);
        let changed = pairs.filter(|(choice, found)| choice != found).count();
        changed > MOST_DISTURBED && self.target.is_settled(self.history.latest() + 1)
    }

    /// When the option may be tried next.
    pub(super) fn note(&mut self, trial: &Trial, is_on: bool) {
        let now = self.history.latest() + 1;
        match trial.cause {
            Cause::Dearer => self.explorer.next_stale = now + STALE_APART,
            Cause::Stale => self.explorer.next_rare = now + RARELY,
            Cause::Unknown | Cause::FewSamples | Cause::Confirm if is_on && self.target.is_settled(now) => {
                let settled = |entry: &Entry| self.setting(entry.position).settled;
                let pairs = self.formulation.entries.iter().zip(&self.formulation.choices);
                let changed = pairs.filter(|(entry, choice)| settled(entry) != **choice).count();
                self.explorer.next_rare = now + RARELY * changed as u64;
            }
            Cause::Unknown | Cause::FewSamples | Cause::Confirm => {}
        }
        let position = self.formulation.entries[trial.entry].position;
        let setting = self.setting_mut(position);
        let state = &mut setting.options[trial.option];
        let doubled = |wait: u64| wait << state.failed_trials.min(LONGEST_WAIT);
        let is_stale = matches!(trial.cause, Cause::Dearer | Cause::Stale);
        let wait = match (is_on, is_stale) {
            (_, true) => doubled(STALE_AFTER),
            (true, _) => 1,
            (false, _) => doubled(NO_ROOM_WAIT),
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
