//! Formulates the problem of a frame: which options are available, their values and their expected costs.

use super::Question;
use super::formulation::{Bar, Entry, Formulation, bounded};
use super::setting::Setting;
use super::strategy::Strategies;
use crate::goblin::config::{Burdens, Config, LANES};
use crate::goblin::learn::Learn;
use crate::knapsack::NO_CHOICE;
use crate::knapsack::several::Weight;
use crate::profile::{Blind, Burden, Source, estimate};
use crate::stats::Normal;

/// The choice of a setting that may be held.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// The held choice; changes from it have a price.
    pub choice: u16,
    /// The only option that may be chosen, because the setting is a dead lever.
    pub resting: Option<u16>,
}

/// Inputs that are common to all burdens of a frame.
struct Present<'a> {
    config: &'a Config,
    learn: &'a Learn,
    strategies: &'a Strategies,
    /// Present over past burdens, and the common factor, by governed lane.
    ratios: &'a [f64],
    common: &'a [f64],
}

impl Question {
    /// Estimate every burden, and build the problem from burdens, values and the host's restrictions. `common` has the
    /// common factor by governed lane, `held` gives the held choice of the setting at a position.
    pub fn formulate(&mut self, config: &Config, learn: &Learn, common: &[f64; LANES], held: impl Fn(usize) -> Held) {
        let lanes = learn.calibrations.len();
        let Self { settings, option_count, strategies, formulation } = self;
        let (ratios, common) = (&learn.ratios[..lanes], &common[..lanes]);
        let present = Present { config, learn, strategies, ratios, common };
        formulation.begin(lanes, *option_count);
        let mut end = 0;
        for (position, setting) in settings.iter().filter(|(_, setting)| setting.enabled) {
            let start = end;
            end += setting.options.len();
            let known = !setting.has_burden || present.weigh(formulation, position, setting, start);
            present.add_values(formulation, position, setting);
            let Held { choice, resting } = held(position);
            if setting.has_burden && config.burdens == Burdens::Learned && learn.doubts_past() {
                present.doubt_past(formulation, setting, start, choice);
            }
            restrict(formulation, setting, known, start, resting);
            present.add_explore_value(&mut formulation.values[start..], setting);
            formulation.entries.push(Entry {
                position,
                start,
                end,
                known,
                price: 0.0,
                price_per_gain: 0.0,
                price_per_loss: 0.0,
                held: choice,
                back: NO_CHOICE,
                return_factor: 1.0,
                return_price: 0.0,
                forced: NO_CHOICE,
            });
        }
        formulation.bars.truncate(end);
        formulation.weights.truncate(end * lanes);
    }
}

impl Present<'_> {
    /// Estimate the burdens of the setting whose options begin at `start`. Returns whether any burden is known.
    fn weigh(&self, formulation: &mut Formulation, position: usize, setting: &Setting, start: usize) -> bool {
        if self.config.burdens == Burdens::Learned {
            return self.weigh_learned(formulation, position, setting, start);
        }
        let (lanes, count) = (self.ratios.len(), setting.options.len());
        let weights = &mut formulation.weights[start * lanes..][..count * lanes];
        let known = if self.config.burdens == Burdens::Totals {
            let works = (0..count).map(|option| setting.work_of(option));
            self.learn.regression.weigh(position, works, lanes, weights)
        } else {
            weigh_relative(setting, lanes, weights);
            true
        };
        if self.strategies.active() != 0 {
            for (option, all) in weights.chunks_exact_mut(lanes).enumerate() {
                let work = self.strategies.work(position, option);
                all.iter_mut().for_each(|weight| weight.mean *= work);
            }
        }
        known
    }

    /// Add the values of a setting under the active strategy.
    fn add_values(&self, formulation: &mut Formulation, position: usize, setting: &Setting) {
        if self.strategies.active() == 0 {
            formulation.values.extend(setting.options.iter().map(|option| option.value));
        } else {
            let options = 0..setting.options.len();
            formulation.values.extend(options.map(|option| self.strategies.value_of(setting, position, option)));
        }
    }

    /// Raise the values of options with fewer samples than the quota.
    fn add_explore_value(&self, values: &mut [f64], setting: &Setting) {
        if !setting.has_burden || self.config.explore_value == 0.0 {
            return;
        }
        let task = self.learn.tasks.at(setting.task);
        for (option, value) in values.iter_mut().enumerate() {
            let samples = task.best_known(setting.cell(option)).run.count();
            *value += if samples < u64::from(self.config.measure_quota) { self.config.explore_value } else { 0.0 };
        }
    }

    /// Estimate the burdens from samples, for the present work.
    fn weigh_learned(&self, formulation: &mut Formulation, position: usize, setting: &Setting, start: usize) -> bool {
        let (task, work) = (self.learn.tasks.at(setting.task), |option| self.strategies.work(position, option));
        let (lanes, count) = (self.ratios.len(), setting.options.len());
        let Formulation { burdens, weights, bars, .. } = formulation;
        let (weights, bars) = (&mut weights[start * lanes..], &mut bars[start..][..count]);
        let mut known = false;
        burdens.resize(task.cells, Burden::default());
        for (lane, (&ratio, common)) in self.ratios.iter().zip(self.common).enumerate() {
            let rules = self.learn.rules(self.config, lane);
            let ratio = self.learn.ratio_of(&rules, task, lane, ratio);
            if !estimate(&rules, task.learned(lane), task.past(lane), ratio, burdens) {
                continue;
            }
            known = true;
            for (option, (desc, bar)) in setting.options.iter().zip(&mut *bars).enumerate() {
                let burden = &burdens[setting.cell(option)];
                let Normal { mean, variance } = burden.normal.scaled(setting.work * desc.work * work(option) * common);
                weights[option * lanes + lane] = bounded(&Weight { mean, variance });
                if burden.source == Source::Blind && rules.blind == Blind::Cautious {
                    *bar = Bar::Untried;
                }
            }
        }
        known
    }

    /// Mark options without samples of this run as untried if the past makes them dearer than the choice, which is worth
    /// more. No solve would choose them, so a profile of other options would hide their costs for ever.
    fn doubt_past(&self, formulation: &mut Formulation, setting: &Setting, start: usize, choice: u16) {
        let (task, choice) = (self.learn.tasks.at(setting.task), usize::from(choice));
        let is_available = setting.allows(choice) && setting.options.get(choice).is_some_and(|option| option.ready);
        if !is_available || !task.has_past() {
            return;
        }
        let Formulation { values, weights, bars, .. } = formulation;
        let lanes = self.ratios.len();
        let weights = |option: usize| &weights[(start + option) * lanes..][..lanes];
        for option in 0..setting.options.len() {
            let pairs = || weights(option).iter().zip(weights(choice)).map(|(own, chosen)| own.mean - chosen.mean);
            let is_dominated = values[start + option] < values[start + choice]
                && pairs().all(|more| more >= 0.0)
                && pairs().any(|more| more > 0.0);
            if is_dominated && task.best_known(setting.cell(option)).run.count() == 0 {
                bars[start + option] = Bar::Untried;
            }
        }
    }
}

/// Exclude options of the setting whose options begin at `start`; untried ones are marked already. While no burden of
/// the setting is known, only the default is available; of a dead lever, only the option that it keeps. If no option is
/// available, the default is made available. Adds the lightest available option and the most valuable one that the host
/// allows to the totals.
fn restrict(formulation: &mut Formulation, setting: &Setting, known: bool, start: usize, resting: Option<u16>) {
    let kept = resting.map(usize::from);
    let (mut lightest, mut highest) = (None, None);
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    let (end, lanes) = (start + setting.options.len(), formulation.lanes);
    let (values, bars) = (&formulation.values[start..end], &mut formulation.bars[start..end]);
    for (option, (desc, bar)) in setting.options.iter().zip(&mut *bars).enumerate() {
        if !setting.allows(option) {
            *bar = Bar::OutOfRange;
            continue;
        }
        if !desc.ready {
            *bar = Bar::NotReady;
            continue;
        }
        if values[option] >= most {
            (highest, most) = (Some(option), values[option]);
        }
        if !known {
            *bar = Bar::Unknown;
        } else if kept.is_some_and(|kept| kept != option) {
            *bar = Bar::Resting;
        } else if *bar == Bar::Free {
            let mean = formulation.weights[(start + option) * lanes].mean;
            if mean < least {
                (lightest, least) = (Some(option), mean);
            }
        }
    }
    if lightest.is_none() {
        let option = fallback_option(setting);
        lightest = bars.get_mut(option).map(|bar| *bar = Bar::Free).map(|()| option);
    }
    let weights_of = |option: usize| &formulation.weights[(start + option) * lanes..][..lanes];
    if let Some(option) = lightest {
        formulation.lightest.add(values[option], weights_of(option), 1.0);
    }
    if let Some(option) = highest {
        formulation.highest.add(values[option], weights_of(option), 1.0);
    }
}

/// Weights from the host's relative burdens, on the first governed lane.
fn weigh_relative(setting: &Setting, lanes: usize, weights: &mut [Weight]) {
    for (option, desc) in setting.options.iter().enumerate() {
        weights[option * lanes].mean = desc.relative_burden * setting.work_of(option);
    }
}

/// The option to use when no option is available.
fn fallback_option(setting: &Setting) -> usize {
    let ready = |index: usize| setting.options.get(index).is_some_and(|desc| desc.ready);
    let fallback = usize::from(setting.fallback());
    let or_ready = (0..setting.options.len()).find(|&index| setting.allows(index) && ready(index));
    if ready(fallback) { fallback } else { or_ready.unwrap_or(fallback) }
}
