//! Formulates the problem of a frame: which options are available, their values and their expected costs.

use super::Question;
use super::formulation::{Bar, Entry, Formulation};
use super::setting::Setting;
use crate::goblin::config::{Burdens, Config, LANES};
use crate::goblin::learn::Learn;
use crate::goblin::learn::task::Task;
use crate::knapsack::NO_CHOICE;
use crate::knapsack::several::Weight;
use crate::profile::{Blind, Burden, Rules, Source, estimate};
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
    rules: Rules,
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
        let present = Present { rules: config.rules(), ratios: &learn.ratios[..lanes], common: &common[..lanes] };
        formulation.begin(lanes, *option_count);
        let mut end = 0;
        for (position, setting) in settings.iter().filter(|(_, setting)| setting.enabled) {
            let start = end;
            end += setting.options.len();
            let task = learn.tasks.at(setting.task);
            let work = |option: usize| strategies.work(position, option);
            let known = if !setting.has_burden {
                true
            } else if config.burdens == Burdens::Learned {
                weigh_learned(formulation, &present, setting, task, &work, start)
            } else {
                let weights = &mut formulation.weights[start * lanes..end * lanes];
                let known = match config.burdens {
                    Burdens::Totals => {
                        let works = (0..setting.options.len()).map(|option| setting.work_of(option));
                        learn.regression.weigh(position, works, lanes, weights)
                    }
                    _ => weigh_relative(setting, lanes, weights),
                };
                if strategies.active() != 0 {
                    let options = weights.chunks_exact_mut(lanes).enumerate();
                    options.for_each(|(option, all)| all.iter_mut().for_each(|weight| weight.mean *= work(option)));
                }
                known
            };
            formulation.values.extend(setting.options.iter().map(|option| option.value));
            if strategies.active() != 0 {
                let values = formulation.values[start..].iter_mut().enumerate();
                values.for_each(|(option, value)| *value = strategies.value_of(setting, position, option));
            }
            let held = held(position);
            restrict(formulation, setting, known, start, held.resting);
            if setting.has_burden && config.explore_value != 0.0 {
                for (option, value) in formulation.values[start..].iter_mut().enumerate() {
                    let samples = task.best_known(setting.cell(option)).run.count();
                    *value += if samples < u64::from(config.measure_quota) { config.explore_value } else { 0.0 };
                }
            }
            formulation.entries.push(Entry {
                position,
                start,
                end,
                known,
                price: 0.0,
                price_per_gain: 0.0,
                price_per_loss: 0.0,
                held: held.choice,
                back: NO_CHOICE,
                price_of_return: 1.0,
                forced: NO_CHOICE,
            });
        }
        formulation.bars.truncate(end);
        formulation.weights.truncate(end * lanes);
    }
}

/// Estimate the burdens of the setting whose options begin at `start`, for the present work. Returns whether any burden
/// is known.
fn weigh_learned(
    formulation: &mut Formulation,
    present: &Present<'_>,
    setting: &Setting,
    task: &Task,
    work: &impl Fn(usize) -> f64,
    start: usize,
) -> bool {
    let Present { rules, ratios, common } = present;
    let (lanes, count) = (ratios.len(), setting.options.len());
    let Formulation { burdens, weights, bars, .. } = formulation;
    let (weights, bars) = (&mut weights[start * lanes..], &mut bars[start..][..count]);
    let mut known = false;
    burdens.resize(task.cells, Burden::default());
    for (lane, (&ratio, common)) in ratios.iter().zip(*common).enumerate() {
        if !estimate(rules, task.learned(lane), task.past(lane), ratio, burdens) {
            continue;
        }
        known = true;
        for (option, (desc, bar)) in setting.options.iter().zip(&mut *bars).enumerate() {
            let burden = &burdens[setting.cell(option)];
            let normal = clamped(burden.normal.scaled(setting.work * desc.work * work(option) * common));
            weights[option * lanes + lane] = Weight { mean: normal.mean, variance: normal.variance };
            if burden.source == Source::Blind && rules.blind == Blind::Cautious {
                *bar = Bar::Untried;
            }
        }
    }
    known
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
fn weigh_relative(setting: &Setting, lanes: usize, weights: &mut [Weight]) -> bool {
    for (option, desc) in setting.options.iter().enumerate() {
        weights[option * lanes].mean = desc.relative_burden * setting.work_of(option);
    }
    true
}

/// Clamp an estimate: a past profile may hold any finite numbers, and the solver needs headroom for sums.
fn clamped(burden: Normal) -> Normal {
    const HIGHEST: f64 = 1e30;
    Normal { mean: burden.mean.min(HIGHEST), variance: burden.variance.min(HIGHEST * HIGHEST) }
}

/// The option to use when no option is available.
fn fallback_option(setting: &Setting) -> usize {
    let ready = |index: usize| setting.options.get(index).is_some_and(|desc| desc.ready);
    let fallback = usize::from(setting.fallback());
    let or_ready = (0..setting.options.len()).find(|&index| setting.allows(index) && ready(index));
    if ready(fallback) { fallback } else { or_ready.unwrap_or(fallback) }
}
