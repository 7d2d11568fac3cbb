//! Exploration: trials of options with unknown cost, inside the frame's budget.
//!
//! The solver chooses among known options (exploitation). Unknown options may be put on *trial*: chosen for one frame,
//! for a few if the change takes time ([`visit`]), and after the learning phase for a second ([`probe`]). Their samples
//! arrive some frames later; from then on they are known. Until then the cost is a [guess], a prior whose deviation
//! reflects its uncertainty. Trials are added to a frame while the probability of exceeding a limit stays below
//! `trial_risk`: many while there is room, one at a time when there is little. If a trial does not [fit] beside the
//! present choices, the other settings are re-solved around it for that frame. After the learning phase, options that
//! found no room at first are rarely tried, because every trial is a frame that looks different.
//!
//! With totals only, a trial makes the costs of options distinguishable ([`totals`]).

pub mod candidate;
pub mod fit;
pub mod guess;
pub mod probe;
pub mod totals;
pub mod visit;

use super::choose::Choose;
use super::config::{Burdens, Config, LANES};
use super::frame::Frame;
use super::learn::Learn;
use super::question::Question;
use super::question::formulation::{Entry, Weighed};
use super::rows::Rows;
use super::tuning::{self, TUNING};
use crate::base::{Result, try_filled};
use crate::knapsack::Economy;
use crate::knapsack::several::Weight;
use crate::stats::normal_quantile;
use candidate::Cause;
use guess::Guesses;
use probe::Probe;
use visit::Visit;

const TRIAL: &tuning::Trial = &TUNING.trial;
const GUESS: &tuning::Guess = &TUNING.guess;

/// The state of exploration: when which option is tried next, and how accurate guesses are.
#[derive(Debug, Default)]
pub struct Explorer {
    /// By position of the setting.
    tried: Rows<Tried>,
    guesses: Guesses,
    /// The first entry to consider.
    cursor: usize,
    /// No trial of stale estimates before these decisions.
    next_stale: u64,
    next_rare: u64,
    /// The present trial of a setting whose change takes time, in the learning phase.
    visit: Option<Visit>,
    /// The present trial after the learning phase, and the first decision of the next.
    probe: Option<Probe>,
    next_probe: u64,
    /// No setting makes room for such a trial before this decision. The first room is made late, so that other trials are
    /// over and the account of changes is not spent. 0 before the first trial.
    next_room: u64,
    totals: totals::State,
    /// Until this decision the host's trial window is open: more risk is allowed.
    window_end: u64,
    /// In the window, frames may exceed a limit by this share of it.
    window_share: f64,
}

/// The trials of a setting.
#[derive(Debug, Default)]
struct Tried {
    /// The decision of a trial whose sample is missing; 0 without a trial.
    on_trial: u64,
    /// The option on trial.
    option: u16,
    /// Whether it stays on trial, and its assumed cost until it is measured.
    stays: bool,
    guess: [Weight; LANES],
    /// The guess of its cost on the first governed lane: the known part, and the step beyond it; the step is 0 without
    /// a guess.
    guessed: (f64, f64),
    options: Vec<TriedOption>,
}

/// The trials of an option.
#[derive(Clone, Copy, Debug)]
struct TriedOption {
    /// Trials are allowed from this decision on.
    next_trial: u64,
    /// Number of unsuccessful trials: each doubles the wait.
    failed: u8,
    /// Number of trials without a sample: each doubles the wait.
    lost: u8,
}

/// Bytes of an option.
pub const PER_OPTION: usize = size_of::<TriedOption>();

/// A trial of an option, and its assumed cost.
pub struct Trial {
    entry: usize,
    option: usize,
    cause: Cause,
    /// Whether it is tried only if it would gain: its assumed cost is then optimistic.
    must_gain: bool,
    guess: [Weight; LANES],
    /// As in [`Tried`].
    guessed: (f64, f64),
}

impl Trial {
    /// A trial of an option with an approximately known cost on every lane.
    fn of_known(entry: usize, option: usize, weights: &[Weight]) -> Self {
        let mut guess = [Weight::default(); LANES];
        guess[..weights.len()].copy_from_slice(weights);
        Self { entry, option, cause: Cause::FewSamples, must_gain: false, guess, guessed: (0.0, 0.0) }
    }
}

/// The other rooms, as exploration reads them.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    pub learn: &'a Learn,
    pub choose: &'a Choose,
    pub frame: &'a Frame<'a>,
}

/// Calls of the host and of the other rooms.
impl Explorer {
    /// Open a window until a decision. In it, frames may exceed the limits by `share` of them, and options that found no
    /// room may find it.
    pub fn open_window(&mut self, question: &Question, end: u64, share: f64, is_empty: bool) {
        (self.window_end, self.window_share) = (end, share);
        if is_empty {
            return;
        }
        (self.next_stale, self.next_rare) = (0, 0);
        for (position, _) in question.settings.iter() {
            self.tried[position].options.iter_mut().for_each(|option| option.next_trial = 0);
        }
    }

    /// Whether the host's trial window is open.
    pub fn is_in_window(&self, now: u64) -> bool {
        now <= self.window_end
    }

    /// An option has become ready: its trial need not wait for the interval.
    pub fn note_ready(&mut self, question: &Question, position: usize, option: usize) {
        self.tried[position].options[option] = TriedOption::NEW;
        self.next_probe = 0;
        let entries = &question.formulation.entries;
        self.cursor = entries.iter().position(|entry| entry.position == position).unwrap_or(self.cursor);
    }

    /// Reserve memory for a setting at a position.
    pub fn reserve(&mut self, position: usize) -> Result<()> {
        self.tried.reserve(position)
    }

    /// New states for this many options.
    pub fn states(options: usize) -> Result<States> {
        Ok(States(try_filled(TriedOption::NEW, options)?))
    }

    /// Set the options of a new setting. Its memory was reserved.
    pub fn add(&mut self, position: usize, states: States) {
        self.tried.set(position, Tried { options: states.0, ..Tried::default() });
    }

    /// Replace the options of a setting.
    pub fn set_options(&mut self, position: usize, states: States) {
        self.cancel(position);
        self.tried[position].options = states.0;
    }

    /// Forget the trial of a setting whose sample no longer matters.
    pub fn cancel(&mut self, position: usize) {
        self.tried[position].on_trial = 0;
        self.tried[position].stays = false;
    }

    /// Whether the option of a setting that was chosen in this decision is on trial.
    pub fn is_tried(&self, position: usize, decision: u64) -> bool {
        self.tried[position].on_trial == decision
            || self.stays(position)
            || self.probe.is_some_and(|probe| probe.position == position)
    }

    /// The decision that ends the present trial of a second, if there is one.
    pub fn trial_end(&self, config: &Config) -> Option<u64> {
        self.probe.map(|probe| probe.end(config))
    }

    /// End the present trial of a second: there are no trials now.
    pub fn end_probe(&mut self) {
        self.probe = None;
    }

    /// An option was newly chosen in this decision. If that was the solver, its retry backoff is reset.
    pub fn note_chosen(&mut self, position: usize, option: usize, decision: u64) {
        let tried = &mut self.tried[position];
        if tried.on_trial != decision {
            tried.options[option].failed = 0;
        }
    }

    /// Observe a sample of a setting's option on a governed lane.
    pub fn measured(&mut self, position: usize, option: usize, decision: u64, lane: usize, burden: f64) {
        let tried = &mut self.tried[position];
        tried.options[option].lost = 0;
        // A later sample of a visit is one of its trial, too.
        let is_of_trial = tried.on_trial == decision || (tried.stays && tried.on_trial < decision);
        if tried.on_trial != 0 && tried.option == option as u16 && is_of_trial {
            tried.on_trial = 0;
            if lane == 0 && tried.guessed.1 > 0.0 {
                self.guesses.compare(burden, tried.guessed);
            }
        }
    }

    /// Observe whether a frame with trials was over a limit. A share of `risk` may be.
    pub fn observe(&mut self, is_over: bool, risk: f64) {
        self.guesses.observe(is_over, risk);
        if let Some(probe) = &mut self.probe {
            probe.late += u32::from(is_over);
        }
    }

    /// Bytes held.
    pub fn memory_used(&self, question: &Question) -> usize {
        let options: usize =
            question.settings.iter().map(|(position, _)| self.tried[position].options.capacity()).sum();
        self.tried.memory_used() + options * PER_OPTION
    }
}

/// The trials of new options.
pub struct States(Vec<TriedOption>);

impl Explorer {
    /// Put options on trial, as many as the configuration allows and as fit. Returns the totals of the resulting
    /// choices and the number of trials.
    pub fn explore(&mut self, question: &mut Question, scope: Scope<'_>, chosen: Weighed) -> Result<(Weighed, u32)> {
        if scope.frame.config.burdens == Burdens::Totals {
            (self.visit, self.probe) = (None, None);
            return self.explore_totals(question, scope, chosen);
        }
        self.guesses.decay_caution();
        if !scope.choose.pace.is_free() {
            self.visit = None;
            return self.probe(question, scope, chosen);
        }
        self.probe = None;
        let (now, pace) = (scope.frame.now, &scope.choose.pace);
        if pace.is_learning(now) && !pace.is_learning(now + 1) {
            // A trial would be taken back after the learning phase.
            self.visit = None;
            return Ok((chosen, 0));
        }
        self.explore_freely(question, scope, chosen)
    }

    /// Trials of one frame each, or a few, while changes are free.
    fn explore_freely(&mut self, question: &mut Question, scope: Scope<'_>, chosen: Weighed) -> Result<(Weighed, u32)> {
        let frame = scope.frame;
        let in_window = self.is_in_window(frame.now);
        let most = if in_window { u32::MAX } else { frame.config.trial_limit };
        let risky = self.risky(frame, in_window);
        let mut whole = [Economy::default(); LANES];
        whole[..frame.economies.len()].copy_from_slice(frame.economies);
        let mut steps = None;
        let visited = self.stay(question, scope, &chosen);
        let (chosen, mut trials) = visited.unwrap_or((chosen, 0));
        let mut weighed = chosen;
        let mut guesses = in_window;
        let most_solves = TRIAL.most_solves + u32::from(frame.config.patience == 0.0 || !chosen.feasible);
        for at in self.order(question) {
            // Another option of a setting that stays takes its place.
            let is_next = self.stays(question.formulation.entries[at].position);
            if trials >= most && !is_next {
                continue;
            }
            self.give_up(question, scope, at);
            let Some((option, cause)) = self.next_trial(question, scope, at) else { continue };
            let steps = steps.get_or_insert_with(|| guess::typical_steps(&question.formulation, frame.economies));
            let trial = self.trial(question, scope, at, option, cause, weighed.feasible, steps);
            // A known cost is no risk, so it needs no extra margin.
            let mut against = if guesses || trial.guessed.1 > 0.0 { risky } else { whole };
            against[0].capacity -= scope.choose.switch_burden_beyond_one(question, at, option);
            let against = &against[..frame.economies.len()];
            let found = if let Some(found) = fit::in_place(&mut question.formulation, &trial, &weighed, against) {
                Some(found)
            } else if question.formulation.solved < most_solves && cause != Cause::Stale {
                fit::attempt(&mut question.formulation, scope, &trial, &chosen, against)?
            } else if cause == Cause::Stale {
                None
            } else {
                continue;
            };
            self.cursor = at + 1;
            self.note(question, scope, &trial, found.is_some());
            if let Some(found) = found {
                self.visit(question, scope, &trial);
                weighed = found;
                guesses |= trial.guessed.1 > 0.0;
                trials += u32::from(!is_next);
            }
        }
        // The visited option of a setting may have become its settled choice.
        let formulation = &question.formulation;
        let pairs = formulation.entries.iter().zip(&formulation.choices);
        let on_trial = pairs.filter(|(entry, choice)| {
            scope.choose.kept[entry.position].settled != **choice && self.is_tried(entry.position, frame.now)
        });
        Ok((weighed, on_trial.count() as u32))
    }

    /// All entries, from the cursor on, so that none is always the last.
    fn order(&self, question: &Question) -> impl Iterator<Item = usize> + use<> {
        let count = question.formulation.entries.len();
        let first = self.cursor % count.max(1);
        (first..count).chain(0..first)
    }

    /// Capacity and margin of a frame with trials.
    fn risky(&self, frame: &Frame<'_>, in_window: bool) -> [Economy; LANES] {
        let sigmas = -normal_quantile(frame.config.trial_risk) * self.guesses.caution();
        let mut risky = [Economy::default(); LANES];
        for (risky, economy) in risky.iter_mut().zip(frame.economies) {
            let share = if in_window { self.window_share * economy.capacity.abs() } else { 0.0 };
            let capacity = if economy.capacity.is_finite() { economy.capacity + share } else { economy.capacity };
            *risky = Economy { capacity, sigmas };
        }
        risky
    }

    /// Give up a trial whose sample is lost; the next one waits longer.
    fn give_up(&mut self, question: &Question, scope: Scope<'_>, at: usize) {
        let (frame, position) = (scope.frame, question.formulation.entries[at].position);
        let tried = &mut self.tried[position];
        if tried.on_trial == 0 || frame.now - tried.on_trial < TRIAL.sample_timeout {
            return;
        }
        // The host measures the setting, but not every frame: the next frame may have a sample.
        let is_skipped = scope.learn.sampled[position].latest.iter().any(|&latest| latest > tried.on_trial);
        tried.on_trial = 0;
        if let Some(option) = tried.options.get_mut(usize::from(tried.option)).filter(|_| !is_skipped) {
            option.lost = option.lost.saturating_add(1);
            option.next_trial = frame.now - 1 + (TRIAL.sample_timeout << option.lost.min(TRIAL.most_doublings));
        }
    }

    /// Set when the option may be tried next.
    fn note(&mut self, question: &Question, scope: Scope<'_>, trial: &Trial, is_on: bool) {
        let (now, formulation) = (scope.frame.now, &question.formulation);
        let rare_interval = scope.frame.config.decisions_of(TRIAL.rare_interval);
        match trial.cause {
            Cause::Dearer => self.next_stale = now + TRIAL.stale_interval,
            Cause::Stale => self.next_rare = now + rare_interval,
            Cause::Unknown | Cause::FewSamples | Cause::Confirm if is_on && scope.choose.target.is_settled(now) => {
                let settled = |entry: &Entry| scope.choose.kept[entry.position].settled;
                let pairs = formulation.entries.iter().zip(&formulation.choices);
                let changed = pairs.filter(|(entry, choice)| settled(entry) != **choice).count();
                self.next_rare = now + rare_interval * changed as u64;
            }
            Cause::Unknown | Cause::FewSamples | Cause::Confirm => {}
        }
        let tried = &mut self.tried[formulation.entries[trial.entry].position];
        tried.options[trial.option].note(trial.cause, is_on, now);
        if is_on {
            (tried.on_trial, tried.option, tried.guessed) = (now, trial.option as u16, trial.guessed);
        }
    }
}

impl TriedOption {
    /// An option without trials.
    const NEW: Self = Self { next_trial: 0, failed: 0, lost: 0 };

    /// Back off after a trial; `is_on` if it found room.
    fn note(&mut self, cause: Cause, is_on: bool, now: u64) {
        let doubled = |wait: u64| wait << self.failed.min(TRIAL.most_doublings);
        let is_stale = matches!(cause, Cause::Dearer | Cause::Stale);
        let wait = match (is_on, is_stale) {
            (_, true) => doubled(TRIAL.stale_after),
            (true, _) => 1,
            (false, _) => doubled(TRIAL.retry_wait),
        };
        self.next_trial = now + wait;
        self.failed = if is_on && !is_stale { 0 } else { self.failed.saturating_add(1) };
    }
}
