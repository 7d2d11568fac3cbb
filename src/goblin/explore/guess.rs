//! Guesses of unknown costs.
//!
//! A guess uses the host's relative burdens, if there are any. Otherwise it is the cost of the most expensive known
//! option of lower value, plus a step: the typical cost of options of other settings. This assumes that costs mostly rise
//! with value. So the step is not larger than that to the cheapest known option of higher value. With few options in
//! all, the step continues the slope of the setting's own known options.
//!
//! Each trial that finds no room doubles the wait and halves the step and its deviation. In the end the guess is an
//! optimistic lower bound (optimism in the face of uncertainty), and the option is tried if it would gain by that. The
//! ratio of measured to guessed cost is learned: its mean corrects the next guess, and its variance is the variance of
//! guesses. The share of frames with trials that were over a limit corrects the margin of the next ones.

use super::candidate::Cause;
use super::{Explorer, GUESS, Scope, Trial};
use crate::goblin::config::{LANES, LARGEST};
use crate::goblin::question::Question;
use crate::goblin::question::formulation::{Bar, Entry, Formulation};
use crate::goblin::question::setting::Setting;
use crate::knapsack::Economy;
use crate::knapsack::several::Weight;

/// How accurate guesses are.
#[derive(Debug)]
pub struct Guesses {
    /// Mean and mean square of measured over guessed cost.
    ratio: f64,
    square: f64,
    /// Factor on the margin of frames with trials.
    caution: f64,
}

impl Default for Guesses {
    fn default() -> Self {
        Self { ratio: GUESS.first_ratio, square: GUESS.first_square, caution: GUESS.first_caution }
    }
}

impl Guesses {
    /// The factor on the margin of frames with trials.
    pub fn caution(&self) -> f64 {
        self.caution
    }

    /// The parts of a guess: the known cost, and the uncorrected step beyond it.
    fn step_of(&self, guess: &Weight) -> (f64, f64) {
        let step = (guess.variance / self.relative_variance()).sqrt();
        (guess.mean - self.ratio * step, step)
    }

    /// Observe the measured cost of a guessed option.
    pub fn compare(&mut self, measured: f64, (known, step): (f64, f64)) {
        let ratio = ((measured - known) / step).clamp(0.0, GUESS.most_ratio);
        self.ratio += (ratio - self.ratio) / GUESS.memory;
        self.square += (ratio * ratio - self.square) / GUESS.memory;
    }

    /// Observe whether a frame with trials was over a limit. A share of `risk` may be.
    pub fn observe(&mut self, is_over: bool, risk: f64) {
        let push = if is_over { 1.0 - risk } else { -risk };
        let range = &GUESS.caution_range;
        self.caution = (self.caution * (1.0 + GUESS.caution_step * push)).clamp(range.start, range.end);
    }

    /// Decay the caution by one decision.
    pub fn decay_caution(&mut self) {
        self.caution += (1.0 - self.caution).min(0.0) / GUESS.caution_decay;
    }

    /// A guess with the mean and the variance that guesses had so far.
    fn widened(&self, guess: f64) -> Weight {
        Weight { mean: self.ratio * guess, variance: self.relative_variance() * guess * guess }
    }

    fn relative_variance(&self) -> f64 {
        let square = self.ratio * self.ratio;
        let least = GUESS.least_deviation * GUESS.least_deviation * square.max(GUESS.least_deviation);
        (self.square - square).max(least)
    }
}

/// An option whose cost is guessed.
struct Unknown<'a> {
    formulation: &'a Formulation,
    setting: &'a Setting,
    entry: Entry,
    option: usize,
    lane: usize,
    /// Number of trials that found no room.
    failed: u8,
    /// Whether the present choice fits.
    is_feasible: bool,
    /// The typical cost of options.
    step: f64,
}

impl Explorer {
    /// A trial of an option with its assumed cost.
    #[expect(clippy::too_many_arguments, reason = "each is a fact about the trial")]
    pub(super) fn trial(
        &self,
        question: &Question,
        scope: Scope<'_>,
        at: usize,
        option: usize,
        cause: Cause,
        is_feasible: bool,
        steps: &[f64; LANES],
    ) -> Trial {
        let entry = question.formulation.entries[at];
        let setting = question.setting(entry.position);
        let failed = self.tried[entry.position].options[option].failed;
        let mut guess = [Weight::default(); LANES];
        for (lane, weight) in guess.iter_mut().enumerate().take(scope.frame.economies.len()) {
            let formulation = &question.formulation;
            let step = steps[lane];
            let unknown = Unknown { formulation, setting, entry, option, lane, failed, is_feasible, step };
            *weight = self.guess(question, scope, cause, &unknown);
        }
        let is_guess = cause == Cause::Unknown && guess[0].variance > 0.0;
        let guessed = if is_guess { self.guesses.step_of(&guess[0]) } else { (0.0, 0.0) };
        let must_gain = match cause {
            Cause::Dearer | Cause::Stale => true,
            Cause::Confirm => false,
            Cause::Unknown | Cause::FewSamples => is_feasible && failed >= GUESS.distrust_after,
        };
        Trial { entry: at, option, cause, must_gain, guess, guessed }
    }

    /// The assumed cost of a trial on a lane.
    fn guess(&self, question: &Question, scope: Scope<'_>, cause: Cause, unknown: &Unknown<'_>) -> Weight {
        let &Unknown { formulation, setting, entry, option, lane, failed, .. } = unknown;
        let own = formulation.weights_of(entry.start + option)[lane];
        match cause {
            // After many trials without room the few samples may all be hitches, so the cost is guessed.
            Cause::FewSamples if failed < GUESS.distrust_after => own,
            // Its unknown deviation alone must not exclude it.
            Cause::Confirm => Weight { variance: 0.0, ..own },
            // Its lowest measured cost, halved after each unsuccessful trial because the measurement may be wrong too.
            Cause::Dearer | Cause::Stale => {
                let learned = &scope.learn.tasks.at(setting.task).learned(lane)[setting.cell(option)];
                let lowest = learned.lowest * setting.work_of(option) * scope.frame.slow[lane];
                Weight { mean: own.mean.min(lowest) * halved(failed), variance: 0.0 }
            }
            Cause::Unknown | Cause::FewSamples if !scope.learn.is_measured(setting.task, lane) => Weight::default(),
            // An option that found no room for long may be much cheaper than its guess, but not by any factor.
            Cause::Unknown => self.guess_unknown(question, unknown, failed),
            Cause::FewSamples => self.guess_unknown(question, unknown, 0),
        }
    }

    /// A guess from known costs. Each of `failures` trials without room makes it surer, and later lower.
    fn guess_unknown(&self, question: &Question, unknown: &Unknown<'_>, failures: u8) -> Weight {
        let sure = halved(failures);
        let hope = halved(failures.saturating_sub(GUESS.distrust_after)).max(GUESS.lower_bound);
        if let Some(cost) = unknown.cost_by_relative_burden() {
            let Weight { mean, variance } = self.guesses.widened(cost);
            return Weight { mean: mean * hope, variance: variance * sure * sure };
        }
        let setting = unknown.setting;
        let below =
            unknown.known().filter(|(other, _)| setting.options[*other].value <= setting.options[unknown.option].value);
        let dearest_below = below.map(|(_, mean)| mean).fold(f64::NEG_INFINITY, f64::max);
        if dearest_below < 0.0 || !unknown.is_feasible {
            // All known options are more valuable, and so probably more expensive; or no known option fits, and any
            // other is better.
            let lightest = unknown.known().map(|(_, mean)| mean).fold(f64::INFINITY, f64::min);
            let mean = if unknown.is_feasible { lightest } else { lightest / 2.0 };
            return Weight { mean, variance: 0.0 };
        }
        let is_ladder = question.option_count <= GUESS.few_options && setting.shared <= 1;
        let own = if is_ladder { own_step(unknown.known(), unknown.option) } else { None };
        let above =
            unknown.known().filter(|(other, _)| setting.options[*other].value > setting.options[unknown.option].value);
        let between = above.map(|(_, mean)| mean).fold(f64::INFINITY, f64::min) - dearest_below;
        let most = if between > 0.0 { between } else { f64::INFINITY };
        let step = own.unwrap_or(dearest_below.max(unknown.step)).min(most) * halved(unknown.failed);
        let Weight { mean, variance } = self.guesses.widened(step);
        Weight { mean: dearest_below * hope + mean, variance }
    }
}

impl Unknown<'_> {
    /// The other options of the setting whose cost is known, and their costs.
    fn known(&self) -> impl Iterator<Item = (usize, f64)> {
        let &Self { formulation, entry, option, lane, .. } = self;
        let sure = move |other: &usize| *other != option && formulation.bars[entry.start + other] == Bar::Free;
        let mean = move |other: usize| (other, formulation.weights_of(entry.start + other)[lane].mean);
        (0..entry.end - entry.start).filter(sure).map(mean)
    }

    /// The cost that known options have per unit of the host's relative burden, times that of this option.
    fn cost_by_relative_burden(&self) -> Option<f64> {
        let &Self { formulation, setting, entry, lane, .. } = self;
        let relative = setting.options[self.option].relative_burden;
        let (mut sum, mut units) = (0.0, 0.0);
        for (other, desc) in setting.options.iter().enumerate() {
            if desc.relative_burden > 0.0 && formulation.bars[entry.start + other] == Bar::Free {
                sum += formulation.weights_of(entry.start + other)[lane].mean;
                units += desc.relative_burden;
            }
        }
        (relative > 0.0 && units > 0.0).then(|| relative * sum / units)
    }
}

fn halved(failures: u8) -> f64 {
    0.5f64.powi(i32::from(failures))
}

/// Geometric mean of the costs of known options, by lane. Before any is known, an equal share of the limit.
pub fn typical_steps(formulation: &Formulation, economies: &[Economy]) -> [f64; LANES] {
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
