//! The second half of a frame: estimate, formulate, solve, hand out.

use crate::base::host::{Zone, now_ns};
use crate::base::{Result, fault_point};
use crate::knapsack::{Candidate, Economy, Effort, Knapsack, NO_CHOICE, Solution};
use crate::profile::{Burden, Rules, Source, estimate};
use crate::stats::Normal;

use super::Goblin;
use super::config::{Burdens, Exploration};
use super::history::{Forecast, Given};
use super::setting::{OptionState, Setting};

/// What a choice of one option of every setting comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Net {
    /// Sum of the values.
    pub value: f64,
    /// Sum of the mean burdens.
    pub mean: f64,
    /// Deviation of the total burden.
    pub deviation: f64,
}

/// What was decided for a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Decision {
    /// Counts up from 1; samples quote it.
    pub id: u64,
    /// Whether the choice fits. If not, it is the one of least burden.
    pub feasible: bool,
    /// The choice.
    pub chosen: Net,
    /// Mean + sigmas × deviation of the choice: what is held against the capacity.
    pub burden: f64,
    /// What it was held against: the limit, or with [`Burdens::Relative`] its estimate in the host's unit.
    pub capacity: f64,
    /// By how much the burden is over; 0 when feasible.
    pub excess: f64,
    /// Relative distance from the optimum at most; 0 when it is the optimum.
    pub gap: f64,
    /// The lightest option of every setting.
    pub lightest: Net,
    /// The most valuable option of every setting, whether or not they fit together.
    pub highest: Net,
    /// Settings there were.
    pub settings: u32,
    /// Options that are tried for this frame in order to learn their burden.
    pub trials: u32,
    /// Nodes that the solver visited.
    pub nodes: u64,
    /// How long the decision took, by the host's clock; 0 without one.
    pub elapsed_ns: u64,
}

/// A setting in the knapsack.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Position of the setting.
    pub position: usize,
    /// Its options are from here to `end` in the lists of options.
    pub start: usize,
    pub end: usize,
    /// Whether anything is known of it.
    pub known: bool,
}

/// The knapsack of a frame and what it was made from.
#[derive(Debug, Default)]
pub struct Formulation {
    pub knapsack: Knapsack,
    pub entries: Vec<Entry>,
    /// Of every option of every setting, for the present work.
    pub burdens: Vec<Burden>,
    pub candidates: Vec<Candidate>,
    /// Variance of the total beside those of the candidates.
    pub common_variance: f64,
    /// An entry's candidates while a trial is in their place.
    pub set_aside: Vec<Candidate>,
    /// An entry a setting.
    pub choices: Vec<u16>,
}

impl Formulation {
    /// Bytes an option takes here and in the knapsack, from above.
    pub const PER_OPTION: usize = 2 * size_of::<Candidate>() + size_of::<Burden>() + 160;

    /// Room for so many, so that no decision allocates.
    pub fn reserve(&mut self, settings: usize, options: usize, widest: usize) -> Result<()> {
        fn at_least<T>(list: &mut Vec<T>, count: usize) -> Result<()> {
            let more = count.saturating_sub(list.len());
            Ok(list.try_reserve(more)?)
        }
        at_least(&mut self.entries, settings)?;
        at_least(&mut self.burdens, options)?;
        at_least(&mut self.candidates, options)?;
        at_least(&mut self.set_aside, widest)?;
        at_least(&mut self.choices, settings)?;
        self.knapsack.reserve(settings + 1, options + 1)
    }

    /// Solve what the candidates say.
    pub fn solve(&mut self, economy: Economy, effort: Effort) -> Result<Solution> {
        self.knapsack.clear();
        for entry in &self.entries {
            self.knapsack.add_setting(&self.candidates[entry.start..entry.end])?;
        }
        self.knapsack.add_setting(&[Candidate { value: 0.0, mean: 0.0, variance: self.common_variance }])?;
        self.knapsack.solve(economy, effort)
    }

    /// Keep the choices of the last solve.
    pub fn accept(&mut self) {
        self.choices.clear();
        let of_entries = self.knapsack.choices().iter().take(self.entries.len());
        self.choices.extend(of_entries);
    }

    /// What the kept choices come to: value, mean and variance; infinite if one of them cannot be chosen.
    pub fn sum(&self) -> Candidate {
        let mut sum = Candidate { value: 0.0, mean: 0.0, variance: self.common_variance };
        for (entry, &choice) in self.entries.iter().zip(&self.choices).filter(|(_, choice)| **choice != NO_CHOICE) {
            let candidate = &self.candidates[entry.start + usize::from(choice)];
            sum.value += candidate.value;
            sum.mean += candidate.mean;
            sum.variance += candidate.variance;
        }
        sum
    }

    pub fn memory_used(&self) -> usize {
        self.knapsack.memory_used()
            + self.entries.capacity() * size_of::<Entry>()
            + self.burdens.capacity() * size_of::<Burden>()
            + (self.candidates.capacity() + self.set_aside.capacity()) * size_of::<Candidate>()
            + self.choices.capacity() * size_of::<u16>()
    }
}

impl Goblin {
    /// Choose an option for every setting. On an error the choices of the decision before stand.
    pub fn decide(&mut self) -> Result<Decision> {
        let _zone = Zone::begin(c"hob_goblin_decide");
        let began = now_ns();
        self.formulate();
        fault_point!("goblin.decide");
        let (lightest, highest) = self.nets();
        let economy = self.economy(&lightest, &highest);
        self.formulation.common_variance = self.common_variance(&economy);
        let effort = Effort { accepted_gap: self.config.accepted_gap(), node_limit: self.config.node_limit };
        let mut solution = self.settle(economy, effort, highest.value - lightest.value)?;
        self.remember_settled();
        let mut trials = 0;
        if self.explores() {
            (solution, trials) = self.explore(solution, economy, effort)?;
        }
        let chosen = self.publish(trials == 0);
        self.controller.decided(chosen.mean);
        let elapsed = began.zip(now_ns()).map(|(from, to)| to.saturating_sub(from));
        Ok(Decision {
            id: self.history.latest(),
            feasible: solution.feasible,
            chosen,
            burden: solution.burden,
            capacity: economy.capacity,
            excess: solution.excess,
            gap: solution.gap,
            lightest,
            highest,
            settings: self.formulation.entries.len() as u32,
            trials,
            nodes: solution.nodes,
            elapsed_ns: elapsed.unwrap_or(0),
        })
    }

    fn explores(&self) -> bool {
        self.config.exploration == Exploration::Bounded
            && self.config.burdens == Burdens::Learned
            && self.config.explore_limit > 0
    }

    /// Estimate every burden, and from burdens and values make candidates.
    fn formulate(&mut self) {
        let (rules, ratio, common) = (self.rules(), self.ratio(), self.common());
        let Self { config, settings, tasks, formulation, .. } = self;
        let Formulation { entries, burdens, candidates, .. } = formulation;
        entries.clear();
        burdens.clear();
        candidates.clear();
        for (position, setting) in settings.iter() {
            let task = tasks.at(setting.task);
            let start = burdens.len();
            burdens.resize(start + setting.options.len(), Burden::default());
            let learned = &task.learned[..setting.options.len()];
            let own = &mut burdens[start..];
            let known = match (setting.has_burden, config.burdens) {
                (false, _) => true,
                (true, Burdens::Relative) => {
                    relative(setting, own);
                    true
                }
                (true, Burdens::Learned) => {
                    let known = estimate(&rules, learned, task.past(), ratio, own);
                    own.iter_mut().for_each(|burden| burden.normal = tame(burden.normal.scaled(setting.work * common)));
                    known
                }
            };
            entries.push(Entry { position, start, end: burdens.len(), known });
            for (index, (state, burden)) in setting.options.iter().zip(&burdens[start..]).enumerate() {
                let unfilled = setting.has_burden && learned[index].run.count() < u64::from(config.measure_quota);
                let bonus = if unfilled { config.explore_value } else { 0.0 };
                candidates.push(Candidate {
                    value: state.desc.value + bonus,
                    mean: burden.normal.mean,
                    variance: burden.normal.variance,
                });
            }
            let cautious = setting.has_burden && explores_cautiously(&rules, config.burdens);
            restrict(setting, known, cautious, &burdens[start..], &mut candidates[start..]);
        }
    }

    /// What to hold the total against.
    fn economy(&mut self, lightest: &Net, highest: &Net) -> Economy {
        match self.config.burdens {
            Burdens::Learned => Economy { capacity: self.config.limit(), sigmas: self.sigmas() },
            Burdens::Relative if self.config.limit().is_finite() => {
                Economy { capacity: self.controller.capacity(lightest.mean, highest.mean), sigmas: 0.0 }
            }
            Burdens::Relative => Economy::default(),
        }
    }

    /// How much slower than usual everything is at present.
    pub(super) fn common(&self) -> f64 {
        if self.config.overrun_probability > 0.0 { self.calibration.common() } else { 1.0 }
    }

    /// Variance of the total that no single burden has.
    fn common_variance(&self, economy: &Economy) -> f64 {
        let asked = self.config.overrun_probability > 0.0 && self.config.burdens == Burdens::Learned;
        if asked { self.calibration.common_variance(economy.capacity, economy.sigmas) } else { 0.0 }
    }

    /// Deviations to keep free: as asked, or corrected by experience if a probability was asked for.
    fn sigmas(&self) -> f64 {
        let nominal = self.config.nominal_sigmas();
        if self.config.overrun_probability > 0.0 { nominal * self.calibration.tail() } else { nominal }
    }

    /// The lightest and the most valuable choice.
    fn nets(&self) -> (Net, Net) {
        let Formulation { entries, burdens, candidates, .. } = &self.formulation;
        let (mut lightest, mut highest) = (Net::default(), Net::default());
        let (mut light_variance, mut high_variance) = (0.0, 0.0);
        for entry in entries {
            let setting = self.setting(entry.position);
            let value = |option: usize| setting.options[option].desc.value;
            let options = 0..setting.options.len();
            let light = |option: &usize| candidates[entry.start + option].mean;
            if let Some(option) = options.clone().min_by(|a, b| light(a).total_cmp(&light(b))) {
                add(&mut lightest, &mut light_variance, value(option), burdens[entry.start + option].normal);
            }
            let ready = options.filter(|&option| setting.options[option].desc.ready);
            if let Some(option) = ready.max_by(|&a, &b| value(a).total_cmp(&value(b))) {
                add(&mut highest, &mut high_variance, value(option), burdens[entry.start + option].normal);
            }
        }
        lightest.deviation = f64::sqrt(light_variance);
        highest.deviation = f64::sqrt(high_variance);
        (lightest, highest)
    }

    /// Hand out the choices and remember them; what they come to.
    fn publish(&mut self, fair: bool) -> Net {
        let decision = self.history.begin();
        let Self { settings, formulation, history, .. } = self;
        let (mut net, mut variance) = (Net::default(), 0.0);
        for (entry, &choice) in formulation.entries.iter().zip(&formulation.choices) {
            let setting = settings.at_mut(entry.position).expect("entries are made of the settings there are");
            if setting.choice != choice && choice != NO_CHOICE && setting.on_trial != decision {
                // What is chosen again is known again: the waits for its trials begin anew.
                setting.options[usize::from(choice)].failed_trials = 0;
            }
            setting.choice = choice;
            history.give(decision, entry.position, Given { choice, work: setting.work, ..Given::NOTHING });
            if choice != NO_CHOICE {
                let option = usize::from(choice);
                let candidate = &formulation.candidates[entry.start + option];
                let normal = Normal { mean: candidate.mean, variance: candidate.variance };
                add(&mut net, &mut variance, setting.options[option].desc.value, normal);
            }
        }
        let own_variance = variance;
        net.deviation = (own_variance + formulation.common_variance).sqrt();
        self.await_samples(decision, &net, own_variance, fair);
        net
    }

    /// Write down what the decision is expected to cost, and whose samples its total needs: those that are expected to
    /// make a difference.
    fn await_samples(&mut self, decision: u64, net: &Net, own_variance: f64, fair: bool) {
        let common = self.common();
        let Self { formulation, history, .. } = self;
        let mut awaited = 0;
        for entry in &formulation.entries {
            let given = history.given(decision, entry.position);
            if given.choice == NO_CHOICE {
                continue;
            }
            let mean = formulation.candidates[entry.start + usize::from(given.choice)].mean;
            if mean > NEGLIGIBLE * net.mean {
                history.give(decision, entry.position, Given { awaited: true, expected: mean as f32, ..given });
                awaited += 1;
            }
        }
        let (mean, variance) = (net.mean, net.deviation * net.deviation);
        *history.forecast(decision) = Forecast { mean, variance, own_variance, awaited, measured: 0.0, common, fair };
    }
}

/// Share of a total that it does not wait for.
const NEGLIGIBLE: f64 = 1e-4;

fn add(net: &mut Net, variance: &mut f64, value: f64, burden: Normal) {
    net.value += value;
    net.mean += burden.mean;
    *variance += burden.variance;
}

/// The host's rough burdens.
fn relative(setting: &Setting, burdens: &mut [Burden]) {
    for (state, burden) in setting.options.iter().zip(burdens) {
        let normal = Normal { mean: state.desc.relative_burden * setting.work, variance: 0.0 };
        *burden = Burden { normal, source: Source::Past };
    }
}

fn explores_cautiously(rules: &Rules, burdens: Burdens) -> bool {
    rules.blind == crate::profile::Blind::Cautious && burdens == Burdens::Learned
}

/// A past profile may hold any finite numbers; the solver wants some room above.
fn tame(burden: Normal) -> Normal {
    const HIGHEST: f64 = 1e30;
    Normal { mean: burden.mean.min(HIGHEST), variance: burden.variance.min(HIGHEST * HIGHEST) }
}

/// Take out the candidates that must not be chosen: what is not ready; what nothing is known of, if cautious; and all but
/// the default while nothing is known of the whole setting. If nothing is left, the default stays.
fn restrict(setting: &Setting, known: bool, cautious: bool, burdens: &[Burden], candidates: &mut [Candidate]) {
    let ready = |state: &OptionState| state.desc.ready;
    let fallback = usize::from(setting.fallback());
    let of_ready = |index: usize| setting.options.get(index).is_some_and(ready);
    let forced = if of_ready(fallback) { Some(fallback) } else { setting.options.iter().position(ready) };
    let forced = forced.unwrap_or(fallback);
    let allowed = |index: usize| {
        of_ready(index) && (known || index == forced) && (!known || !cautious || burdens[index].source != Source::Blind)
    };
    let any = (0..candidates.len()).any(allowed);
    for (index, candidate) in candidates.iter_mut().enumerate() {
        if !(allowed(index) || (!any && index == forced)) {
            candidate.mean = f64::INFINITY;
        }
    }
}
