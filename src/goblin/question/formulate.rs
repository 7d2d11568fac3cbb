//! The optimisation problem of a frame: the available options, their values and their expected costs.

use crate::base::Result;
use crate::knapsack::several::{MOST_RESOURCES, Several, Weight};
use crate::knapsack::{Candidate, Economy, Effort, Knapsack, NO_CHOICE};
use crate::profile::{Blind, Burden, Rules, Source, estimate};
use crate::stats::Normal;

use super::setting::Setting;
use crate::goblin::config::{Burdens, LANES};
use crate::goblin::core::Core;
use crate::goblin::learn::task::Task;

const _: () = assert!(MOST_RESOURCES >= LANES);

/// A setting in the problem.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Position of the setting.
    pub position: usize,
    /// The range of its options in the lists of options: `start..end`.
    pub start: usize,
    pub end: usize,
    /// Whether any of its burdens is known.
    pub known: bool,
    /// Price of a change, in value times decisions: a fixed part, and parts per unit of value that the setting gains or
    /// loses.
    pub price: f64,
    pub price_per_gain: f64,
    pub price_per_loss: f64,
    /// The held choice, which has no penalty.
    pub held: u16,
    /// The option before a recent change, and the factor on the price of a return to it.
    pub back: u16,
    pub price_of_return: f64,
    /// The only option that may be chosen; `NO_CHOICE` for any.
    pub forced: u16,
}

impl Entry {
    /// The price of a change to an option that changes the value by `moved`, in value times decisions.
    fn price_of(&self, option: usize, moved: f64) -> f64 {
        let price = self.price + if moved < 0.0 { -moved * self.price_per_loss } else { moved * self.price_per_gain };
        if option == usize::from(self.back) { price * self.price_of_return } else { price }
    }
}

/// Why an option cannot be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bar {
    /// It can be chosen.
    Free,
    /// Its cost is unknown; it may be tried.
    Untried,
    /// The host declared it not ready.
    NotReady,
    /// Outside the host's range: its floor, ceiling or pin.
    OutOfRange,
    /// No burden of the setting is known, so it is at its default.
    Unknown,
    /// Changing the setting saves nothing, so it rests.
    Resting,
}

/// Totals of choices.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    pub value: f64,
    pub weights: [Weight; LANES],
}

/// Totals of choices, compared with the limits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Weighed {
    pub feasible: bool,
    pub sum: Sum,
    /// Mean + sigmas × deviation.
    pub burden: [f64; LANES],
    /// Excess over the capacity.
    pub excess: [f64; LANES],
}

impl Weighed {
    /// The largest relative excess of any lane.
    pub fn worst_excess(&self, economies: &[Economy]) -> f64 {
        let share = |(excess, economy): (&f64, &Economy)| excess / economy.capacity.abs().max(f64::MIN_POSITIVE);
        self.excess.iter().zip(economies).map(share).fold(0.0, f64::max)
    }
}

/// Further results of a solver.
#[derive(Clone, Copy, Debug, Default)]
pub struct Found {
    /// Upper bound of the value of choices that fit.
    pub upper_bound: f64,
    /// Shadow price of each lane: value per unit.
    pub prices: [f64; LANES],
}

/// The problem and its inputs. Lists of options have an entry for every option of every entry; weights have one for
/// each lane of each option.
#[derive(Debug, Default)]
pub struct Formulation {
    one: Knapsack,
    several: Several,
    lanes: usize,
    pub entries: Vec<Entry>,
    /// Values, with the extra value of options that lack samples.
    pub values: Vec<f64>,
    /// Costs for the present work.
    pub weights: Vec<Weight>,
    pub bars: Vec<Bar>,
    /// Burdens that no setting reports, and the variance of the total beyond the single burdens.
    pub beside: [Weight; LANES],
    /// The totals of the lightest option of every entry, and of the most valuable ones, whether or not they fit
    /// together.
    pub lightest: Sum,
    pub highest: Sum,
    /// How often this problem was solved, and the nodes visited.
    pub solved: u32,
    pub nodes: u64,
    /// The choice of each entry.
    pub choices: Vec<u16>,
    /// The solution of the last solve, by entry.
    pub found: Vec<u16>,
    /// Weights that a trial's guess replaces.
    pub set_aside: Vec<Weight>,
    burdens: Vec<Burden>,
    candidates: Vec<Candidate>,
    scratch_values: Vec<f64>,
    scratch_weights: Vec<Weight>,
}

impl Formulation {
    /// Upper bound of the bytes of an option, here and in the solver.
    pub const PER_OPTION: usize =
        2 * size_of::<Candidate>() + size_of::<Burden>() + 3 * LANES * size_of::<Weight>() + 160;

    /// Reserve memory for this many, so that decisions do not allocate.
    pub fn reserve(&mut self, settings: usize, options: usize, widest: usize, lanes: usize) -> Result<()> {
        fn at_least<T>(list: &mut Vec<T>, count: usize) -> Result<()> {
            let more = count.saturating_sub(list.len());
            Ok(list.try_reserve(more)?)
        }
        at_least(&mut self.entries, settings)?;
        at_least(&mut self.values, options)?;
        at_least(&mut self.weights, options * lanes)?;
        at_least(&mut self.bars, options)?;
        at_least(&mut self.choices, settings)?;
        at_least(&mut self.found, settings + 1)?;
        at_least(&mut self.set_aside, LANES)?;
        at_least(&mut self.burdens, widest)?;
        at_least(&mut self.candidates, options)?;
        at_least(&mut self.scratch_values, widest)?;
        at_least(&mut self.scratch_weights, widest * lanes)?;
        self.one.reserve(settings + 1, options + 1)?;
        if lanes > 1 { self.several.reserve(settings + 1, options + 1, lanes) } else { Ok(()) }
    }

    /// Begin a problem with `lanes` lanes and at most `options` options.
    fn begin(&mut self, lanes: usize, options: usize) {
        self.lanes = lanes;
        (self.solved, self.nodes) = (0, 0);
        (self.lightest, self.highest) = (Sum::default(), Sum::default());
        self.entries.clear();
        self.values.clear();
        self.weights.clear();
        self.weights.resize(options * lanes, Weight::default());
        self.bars.clear();
        self.bars.resize(options, Bar::Free);
    }

    /// The costs of an option on every lane.
    pub fn weights_of(&self, option: usize) -> &[Weight] {
        &self.weights[option * self.lanes..][..self.lanes]
    }

    /// The costs of an option on every lane.
    pub fn weights_of_mut(&mut self, option: usize) -> &mut [Weight] {
        &mut self.weights[option * self.lanes..][..self.lanes]
    }

    /// Whether an option of an entry may be chosen by the solver.
    pub fn may(&self, entry: &Entry, index: usize) -> bool {
        if entry.forced != NO_CHOICE {
            return index == usize::from(entry.forced);
        }
        self.bars[entry.start + index] == Bar::Free
    }

    /// Solve the problem; the choices are in `found`. Each change from the held choice of an entry pays `penalty` times
    /// its price.
    pub fn solve(&mut self, economies: &[Economy], effort: Effort, penalty: f64) -> Result<Found> {
        self.solved += 1;
        if self.lanes == 1 {
            self.solve_one(economies[0], effort, penalty)
        } else {
            self.solve_several(economies, effort, penalty)
        }
    }

    fn solve_one(&mut self, economy: Economy, effort: Effort, penalty: f64) -> Result<Found> {
        let Self { one, entries, values, weights, bars, candidates, .. } = self;
        one.clear();
        candidates.clear();
        let options = values.iter().zip(weights.iter()).zip(bars.iter());
        candidates.extend(options.map(|((&value, &Weight { mean, variance }), &bar)| {
            let mean = if bar == Bar::Free { mean } else { f64::INFINITY };
            Candidate { value, mean, variance }
        }));
        for entry in entries.iter() {
            let candidates = &mut candidates[entry.start..entry.end];
            if penalty != 0.0 && entry.held != NO_CHOICE {
                let held = usize::from(entry.held);
                let before = values[entry.start + held];
                for (index, candidate) in candidates.iter_mut().enumerate().filter(|(index, _)| *index != held) {
                    candidate.value -= penalty * entry.price_of(index, candidate.value - before);
                }
            }
            if entry.forced != NO_CHOICE {
                let forced = usize::from(entry.forced);
                candidates.iter_mut().for_each(|candidate| candidate.mean = f64::INFINITY);
                candidates[forced].mean = weights[entry.start + forced].mean;
            }
            one.add_setting(candidates)?;
        }
        let Weight { mean, variance } = self.beside[0];
        self.one.add_setting(&[Candidate { value: 0.0, mean, variance }])?;
        let solution = self.one.solve(economy, effort)?;
        self.found.clear();
        self.found.extend_from_slice(&self.one.choices()[..self.entries.len()]);
        let mut prices = [0.0; LANES];
        prices[0] = solution.price;
        self.nodes += solution.nodes;
        Ok(Found { upper_bound: solution.upper_bound, prices })
    }

    fn solve_several(&mut self, economies: &[Economy], effort: Effort, penalty: f64) -> Result<Found> {
        self.several.clear(self.lanes)?;
        for at in 0..self.entries.len() {
            let entry = self.entries[at];
            let (mut values, mut weights) =
                (std::mem::take(&mut self.scratch_values), std::mem::take(&mut self.scratch_weights));
            values.clear();
            weights.clear();
            for index in 0..entry.end - entry.start {
                values.push(self.penalised(&entry, index, penalty));
                weights.extend_from_slice(self.weights_of(entry.start + index));
                if !self.may(&entry, index) {
                    weights[index * self.lanes].mean = f64::INFINITY;
                }
            }
            (self.scratch_values, self.scratch_weights) = (values, weights);
            self.several.add_setting(&self.scratch_values, &self.scratch_weights)?;
        }
        self.several.add_setting(&[0.0], &self.beside[..self.lanes])?;
        let answer = self.several.solve(economies, effort)?;
        self.found.clear();
        self.found.extend_from_slice(&self.several.choices()[..self.entries.len()]);
        self.nodes += answer.nodes;
        Ok(Found { upper_bound: answer.upper_bound, prices: answer.prices })
    }

    fn penalised(&self, entry: &Entry, index: usize, penalty: f64) -> f64 {
        let value = self.values[entry.start + index];
        if penalty == 0.0 { value } else { value - penalty * self.price(entry, index) }
    }

    /// Price of changing an entry from its held choice to another option, in value times decisions.
    pub fn price(&self, entry: &Entry, index: usize) -> f64 {
        if index == usize::from(entry.held) || entry.held == NO_CHOICE {
            return 0.0;
        }
        entry.price_of(index, self.values[entry.start + index] - self.values[entry.start + usize::from(entry.held)])
    }

    /// Make the found solution the choices.
    pub fn accept(&mut self) {
        self.choices.clear();
        self.choices.extend_from_slice(&self.found);
    }

    /// Totals of choices.
    pub fn sum(&self, choices: &[u16]) -> Sum {
        let mut sum = Sum { value: 0.0, weights: self.beside };
        for (entry, &choice) in self.entries.iter().zip(choices).filter(|(_, choice)| **choice != NO_CHOICE) {
            sum.add(
                self.values[entry.start + usize::from(choice)],
                self.weights_of(entry.start + usize::from(choice)),
                1.0,
            );
        }
        sum
    }

    /// Value above the lightest choice: the part that decisions can change.
    pub fn at_stake(&self, value: f64) -> f64 {
        (value - self.lightest.value).max(0.0)
    }

    /// Whether all choices are available, whether or not they fit.
    pub fn can(&self, choices: &[u16]) -> bool {
        let mut pairs = self.entries.iter().zip(choices);
        pairs.all(|(entry, &choice)| choice == NO_CHOICE || self.may(entry, usize::from(choice)))
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        self.one.memory_used()
            + self.several.memory_used()
            + self.entries.capacity() * size_of::<Entry>()
            + (self.values.capacity() + self.scratch_values.capacity()) * size_of::<f64>()
            + (self.weights.capacity() + self.scratch_weights.capacity() + self.set_aside.capacity())
                * size_of::<Weight>()
            + self.bars.capacity()
            + self.burdens.capacity() * size_of::<Burden>()
            + self.candidates.capacity() * size_of::<Candidate>()
            + (self.choices.capacity() + self.found.capacity()) * size_of::<u16>()
    }
}

impl Sum {
    /// Add an option, or with `sign` -1 subtract it.
    pub fn add(&mut self, value: f64, weights: &[Weight], sign: f64) {
        self.value += sign * value;
        for (sum, weight) in self.weights.iter_mut().zip(weights) {
            sum.mean += sign * weight.mean;
            sum.variance += sign * weight.variance;
        }
    }
}

/// Compare totals with the capacities.
pub fn weigh(sum: &Sum, economies: &[Economy]) -> Weighed {
    let mut weighed = Weighed { feasible: true, sum: *sum, ..Weighed::default() };
    for (lane, economy) in economies.iter().enumerate() {
        let Weight { mean, variance } = sum.weights[lane];
        let burden = mean + economy.sigmas * variance.max(0.0).sqrt();
        let excess = burden - economy.capacity;
        // As in the solver, equality fits, however it was rounded.
        let fits = burden.is_finite() && excess <= 1e-12 * economy.capacity.abs();
        weighed.burden[lane] = burden;
        weighed.excess[lane] = if fits { 0.0 } else { excess };
        weighed.feasible &= fits;
    }
    weighed
}

/// Inputs that are common to all burdens of a frame.
struct Present<'a> {
    rules: Rules,
    /// Present over past burdens, and the common factor, by governed lane.
    ratios: &'a [f64],
    common: &'a [f64],
}

impl Core {
    /// Estimate every burden, and build the problem from burdens, values and the host's restrictions.
    pub(in crate::goblin) fn formulate(&mut self) {
        let lanes = self.lanes.count();
        let (rules, common) = (self.rules(), self.common_factors());
        let Self {
            config, settings, tasks, formulation, regression, strategies, ratios, option_count, history, ..
        } = self;
        let decision = history.latest() + 1;
        let present = Present { rules, ratios: &ratios[..lanes], common: &common[..lanes] };
        formulation.begin(lanes, *option_count);
        let mut end = 0;
        for (position, setting) in settings.iter().filter(|(_, setting)| setting.enabled) {
            let start = end;
            end += setting.options.len();
            let task = tasks.at(setting.task);
            let work = |option: usize| strategies.work(position, option);
            let known = if !setting.has_burden {
                true
            } else if config.burdens == Burdens::Learned {
                formulation.weigh_learned(&present, setting, task, &work, start)
            } else {
                let weights = &mut formulation.weights[start * lanes..end * lanes];
                let known = match config.burdens {
                    Burdens::Totals => regression.weigh(position, setting, lanes, weights),
                    _ => weigh_relative(setting, lanes, weights),
                };
                if strategies.active() != 0 {
                    let options = weights.chunks_exact_mut(lanes).enumerate();
                    options.for_each(|(option, all)| all.iter_mut().for_each(|weight| weight.mean *= work(option)));
                }
                known
            };
            formulation.values.extend(setting.options.iter().map(|state| state.desc.value));
            if strategies.active() != 0 {
                let values = formulation.values[start..].iter_mut().enumerate();
                values.for_each(|(option, value)| *value = strategies.value_of(setting, position, option));
            }
            formulation.restrict(setting, known, start, decision);
            if setting.has_burden && config.explore_value != 0.0 {
                for (option, value) in formulation.values[start..].iter_mut().enumerate() {
                    let samples = task.best_known(setting.cell(option)).run.count();
                    *value += if samples < u64::from(config.measure_quota) { config.explore_value } else { 0.0 };
                }
            }
            let held = setting.settled;
            formulation.entries.push(Entry {
                position,
                start,
                end,
                known,
                price: 0.0,
                price_per_gain: 0.0,
                price_per_loss: 0.0,
                held,
                back: NO_CHOICE,
                price_of_return: 1.0,
                forced: NO_CHOICE,
            });
        }
        formulation.bars.truncate(end);
        formulation.weights.truncate(end * lanes);
    }
}

impl Formulation {
    /// Estimate the burdens of the setting whose options begin at `start`, for the present work. Returns whether any
    /// burden is known.
    fn weigh_learned(
        &mut self,
        present: &Present<'_>,
        setting: &Setting,
        task: &Task,
        work: &impl Fn(usize) -> f64,
        start: usize,
    ) -> bool {
        let Present { rules, ratios, common } = present;
        let (lanes, count) = (ratios.len(), setting.options.len());
        let Self { burdens, weights, bars, .. } = self;
        let (weights, bars) = (&mut weights[start * lanes..], &mut bars[start..][..count]);
        let mut known = false;
        burdens.resize(task.cells, Burden::default());
        for (lane, (&ratio, common)) in ratios.iter().zip(*common).enumerate() {
            if !estimate(rules, task.learned(lane), task.past(lane), ratio, burdens) {
                continue;
            }
            known = true;
            for (option, (state, bar)) in setting.options.iter().zip(&mut *bars).enumerate() {
                let burden = &burdens[setting.cell(option)];
                let normal = clamped(burden.normal.scaled(setting.work * state.desc.work * work(option) * common));
                weights[option * lanes + lane] = Weight { mean: normal.mean, variance: normal.variance };
                if burden.source == Source::Blind && rules.blind == Blind::Cautious {
                    *bar = Bar::Untried;
                }
            }
        }
        known
    }

    /// Exclude options of the setting whose options begin at `start`; untried ones are marked already. While no burden
    /// of the setting is known, only the default is available; of a dead lever, only the option that it keeps. If no
    /// option is available, the default is made available. Adds the
    /// lightest available option and the most valuable one that the host allows to the totals.
    fn restrict(&mut self, setting: &Setting, known: bool, start: usize, decision: u64) {
        let kept = setting.lever.resting(decision).map(usize::from);
        let (mut lightest, mut highest) = (None, None);
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        let end = start + setting.options.len();
        let (values, bars) = (&self.values[start..end], &mut self.bars[start..end]);
        for (option, (state, bar)) in setting.options.iter().zip(&mut *bars).enumerate() {
            if !setting.allows(option) {
                *bar = Bar::OutOfRange;
                continue;
            }
            if !state.desc.ready {
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
                let mean = self.weights[(start + option) * self.lanes].mean;
                if mean < least {
                    (lightest, least) = (Some(option), mean);
                }
            }
        }
        if lightest.is_none() {
            let option = fallback_option(setting);
            lightest = bars.get_mut(option).map(|bar| *bar = Bar::Free).map(|()| option);
        }
        if let Some(option) = lightest {
            self.lightest.add(values[option], &self.weights[(start + option) * self.lanes..][..self.lanes], 1.0);
        }
        if let Some(option) = highest {
            self.highest.add(values[option], &self.weights[(start + option) * self.lanes..][..self.lanes], 1.0);
        }
    }
}

/// Weights from the host's relative burdens, on the first governed lane.
fn weigh_relative(setting: &Setting, lanes: usize, weights: &mut [Weight]) -> bool {
    for (option, state) in setting.options.iter().enumerate() {
        weights[option * lanes].mean = state.desc.relative_burden * setting.work_of(option);
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
    let ready = |index: usize| setting.options.get(index).is_some_and(|state| state.desc.ready);
    let fallback = usize::from(setting.fallback());
    let or_ready = (0..setting.options.len()).find(|&index| setting.allows(index) && ready(index));
    if ready(fallback) { fallback } else { or_ready.unwrap_or(fallback) }
}
