//! The optimisation problem of a frame: the available options, their values and their expected costs.

use crate::base::Result;
use crate::goblin::config::LANES;
use crate::knapsack::several::{MOST_RESOURCES, Several, Weight};
use crate::knapsack::{Candidate, Economy, Effort, Knapsack, NO_CHOICE};
use crate::profile::Burden;

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
    /// The option before a recent change. A return to it costs the price times a factor, and a fixed price in addition.
    pub back: u16,
    pub return_factor: f64,
    pub return_price: f64,
    /// The only option that may be chosen; `NO_CHOICE` for any.
    pub forced: u16,
}

impl Entry {
    /// The price of a change to an option that changes the value by `moved`, in value times decisions.
    fn price_of(&self, option: usize, moved: f64) -> f64 {
        let price = self.price + if moved < 0.0 { -moved * self.price_per_loss } else { moved * self.price_per_gain };
        if option == usize::from(self.back) { price * self.return_factor + self.return_price } else { price }
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
    /// Free capacity on every governed lane; negative: the excess.
    pub fn headroom(&self, economies: &[Economy]) -> [f64; LANES] {
        let mut free = [0.0; LANES];
        for (lane, economy) in economies.iter().enumerate() {
            let excess = self.excess[lane];
            // A burden that was rounded to slightly more than the limit fits.
            free[lane] = if excess > 0.0 { -excess } else { (economy.capacity - self.burden[lane]).max(0.0) };
        }
        free
    }

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
    /// Number of governed lanes.
    pub lanes: usize,
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
    /// Scratch space for the burdens of a task.
    pub burdens: Vec<Burden>,
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
    pub fn begin(&mut self, lanes: usize, options: usize) {
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

    /// Whether a choice is an option of an entry that may be chosen.
    pub fn has(&self, entry: &Entry, choice: u16) -> bool {
        usize::from(choice) < entry.end - entry.start && self.may(entry, usize::from(choice))
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
        candidates.extend(options.map(|((&value, weight), &bar)| {
            let Weight { mean, variance } = bounded(weight);
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
                candidates[forced].mean = bounded(&weights[entry.start + forced]).mean;
            }
            one.add_setting(candidates)?;
        }
        let Weight { mean, variance } = self.beside[0];
        self.one.add_setting(&[Candidate { value: 0.0, mean, variance }])?;
        let solution = self.one.solve(economy, effort)?;
        self.found.clear();
        self.found.extend_from_slice(&self.one.choices()[..self.entries.len()]);
        let mut prices = [0.0; LANES];
        prices[0] = solution.price.min(HIGHEST);
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
                weights.extend(self.weights_of(entry.start + index).iter().map(bounded));
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
        Ok(Found { upper_bound: answer.upper_bound, prices: answer.prices.map(|price| price.min(HIGHEST)) })
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

    /// Compare the choices with the capacities.
    pub fn weigh_choices(&self, economies: &[Economy]) -> Weighed {
        weigh(&self.sum(&self.choices), economies)
    }

    /// The sum of the deviations of all available options on a lane, as a share of the sum of their means; `None` while
    /// they cost nothing.
    pub fn relative_deviation(&self, lane: usize) -> Option<f64> {
        let (mut deviations, mut means) = (0.0, 0.0);
        for option in (0..self.bars.len()).filter(|&option| self.bars[option] == Bar::Free) {
            let weight = self.weights_of(option)[lane];
            deviations += weight.variance.max(0.0).sqrt();
            means += weight.mean;
        }
        (means > 0.0).then(|| deviations / means)
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

/// The largest mean and price. Larger ones come from numbers at the ends of their ranges, such as a past profile's, and
/// the solver needs headroom for sums and squares.
const HIGHEST: f64 = 1e30;

/// A cost that the solver accepts.
pub fn bounded(weight: &Weight) -> Weight {
    Weight { mean: weight.mean.min(HIGHEST), variance: weight.variance.min(HIGHEST * HIGHEST) }
}

/// Compare totals with the capacities.
pub fn weigh(sum: &Sum, economies: &[Economy]) -> Weighed {
    let mut weighed = Weighed { feasible: true, sum: *sum, ..Weighed::default() };
    for (lane, economy) in economies.iter().enumerate() {
        let Weight { mean, variance } = sum.weights[lane];
        let burden = mean + economy.sigmas * variance.max(0.0).sqrt();
        let excess = excess(burden, economy);
        weighed.burden[lane] = burden;
        weighed.excess[lane] = excess;
        weighed.feasible &= excess == 0.0;
    }
    weighed
}

/// By how much a burden exceeds the capacity; 0 if it fits. As in the solver, equality fits, however it was rounded.
pub fn excess(burden: f64, economy: &Economy) -> f64 {
    let excess = burden - economy.capacity;
    if burden.is_finite() && excess <= 1e-12 * economy.capacity.abs() { 0.0 } else { excess }
}
