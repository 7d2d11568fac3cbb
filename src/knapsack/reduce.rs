//! The problem that remains when what cannot matter is left out, laid out for the passes of [`super::kernel`].
//!
//! Options that cannot be chosen go. A setting with one option left, or one of most value that is also lightest, is
//! decided. In the others ("classes") values are counted down from the setting's best, means and variances up from its
//! least: then nothing cancels, and tolerances follow the differences that decide, not offsets. Options that are no
//! better than another of their class in any respect stay: no pass picks them, and the core leaves them out.

use super::input::{Input, Totals, greater, lesser};
use super::kernel::{LANES, Row, Rows};
use super::{Candidate, MAX_OPTIONS_PER_SETTING, NO_CHOICE, bytes, reserve_total};
use crate::base::Result;
use crate::base::sort::heapsort;

/// Classes with fewer options are sorted by counting, those with more by comparing.
const COUNTED: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Problem {
    /// Those from `row_count` on are of an earlier problem. They are written in place: rows are slow to copy in a build
    /// for size.
    rows: Vec<Row>,
    row_count: usize,
    /// Where the rows of each group start, and one more for the end.
    starts: Vec<u32>,
    classes: Vec<Class>,
    /// Classes as they were found, before they are sorted by size.
    found: Vec<Class>,
    /// Per class, the position of the option of best value, and of the one of least mean; and as many more as fill the
    /// last group.
    pub best: Vec<u32>,
    pub lightest: Vec<u32>,
    /// The sums of those; the value of the best is 0.
    pub best_totals: Totals,
    pub lightest_totals: Totals,
    /// What was subtracted, and the decided settings.
    pub base: Totals,
    /// Sum of the most that each class can have above its least variance.
    pub variance_range: f64,
    /// The greatest mean and the greatest variance that an option has above the least of its setting.
    pub greatest_step: Totals,
    /// The decided choices; classes are 0 here.
    pub decided: Vec<u16>,
    /// Magnitude of the negative means, see [`super::fits::Limit`].
    pub negative_means: f64,
    /// Whether some setting has options but none that can be chosen.
    pub impossible: bool,
}

/// A setting that is left to decide. Options by their index in the setting.
#[derive(Clone, Copy, Debug)]
struct Class {
    setting: u32,
    options: u32,
    best: u32,
    lightest: u32,
    offset: Totals,
}

/// What one look at the options of a setting tells.
struct Survey {
    best: usize,
    lightest: usize,
    least: Totals,
    most: Totals,
    negative: f64,
}

impl Problem {
    pub fn reserve(&mut self, settings: usize, options: usize) -> Result<()> {
        // A group has as many rows as its largest class has options, which is no more than any of the group before.
        let rows = options.min(MAX_OPTIONS_PER_SETTING + options / LANES) + 1;
        reserve_total(&mut self.rows, rows)?;
        reserve_total(&mut self.starts, settings / LANES + 2)?;
        reserve_total(&mut self.classes, settings)?;
        reserve_total(&mut self.found, settings)?;
        reserve_total(&mut self.best, settings + LANES - 1)?;
        reserve_total(&mut self.lightest, settings + LANES - 1)?;
        reserve_total(&mut self.decided, settings)
    }

    pub fn memory_used(&self) -> usize {
        bytes(&self.rows)
            + bytes(&self.starts)
            + bytes(&self.classes)
            + bytes(&self.found)
            + bytes(&self.best)
            + bytes(&self.lightest)
            + bytes(&self.decided)
    }

    pub fn class_count(&self) -> usize {
        self.classes.len()
    }

    /// Classes, and what fills the last group: as many picks a pass writes.
    pub fn lane_count(&self) -> usize {
        self.classes.len().next_multiple_of(LANES)
    }

    pub fn slot_count(&self) -> usize {
        self.row_count * LANES
    }

    pub fn rows(&self) -> Rows<'_> {
        Rows { rows: &self.rows[..self.row_count], starts: &self.starts, normal: self.variance_range > 0.0 }
    }

    /// The options of a class and their positions.
    #[inline(always)]
    pub fn class(&self, class: usize) -> impl Iterator<Item = (usize, Totals)> + '_ {
        let (lane, mut next) = (class % LANES, self.position(class, 0));
        let start = next / LANES;
        let mut rows = self.rows[start..start + self.classes[class].options as usize].iter();
        std::iter::from_fn(move || {
            loop {
                let option = rows.next()?.at(lane);
                let position = next;
                next += LANES;
                if option.value != f64::NEG_INFINITY {
                    return Some((position, option));
                }
            }
        })
    }

    /// Where an option is, by its index in its setting.
    fn position(&self, class: usize, option: usize) -> usize {
        (self.starts[class / LANES] as usize + option) * LANES + class % LANES
    }

    /// Which setting a class is, and the index in it of the option at a position.
    pub fn choice(&self, class: usize, position: u32) -> (usize, u16) {
        let option = position as usize / LANES - self.starts[class / LANES] as usize;
        (self.classes[class].setting as usize, option as u16)
    }

    /// The class of an option.
    pub fn class_at(&self, position: u32) -> usize {
        let row = position / LANES as u32;
        let group = self.starts.partition_point(|&start| start <= row) - 1;
        group * LANES + position as usize % LANES
    }

    /// The position of an option by its index in its setting; none if there is none, or it cannot be chosen.
    pub fn find(&self, class: usize, choices: &[u16]) -> Option<u32> {
        let Class { setting, options, .. } = self.classes[class];
        let choice = u32::from(*choices.get(setting as usize)?);
        let position = (choice < options).then(|| self.position(class, choice as usize))?;
        (self.value(position) != f64::NEG_INFINITY).then_some(position as u32)
    }

    pub fn value(&self, position: usize) -> f64 {
        self.rows[position / LANES].value[position % LANES]
    }

    pub fn at(&self, position: usize) -> Totals {
        self.rows[position / LANES].at(position % LANES)
    }

    /// The sums of one position per class.
    pub fn totals(&self, picks: &[u32]) -> Totals {
        let picks = &picks[..self.class_count()];
        picks.iter().fold(Totals::default(), |sum, &pick| sum.plus(self.at(pick as usize)))
    }

    /// The greatest number that all values are multiples of, such as 1 for integers; 0 if there is none worth the name.
    /// Exact: Euclid's algorithm on floating point remainders, which are never rounded.
    pub fn value_step(&self) -> f64 {
        let mut step = 0.0;
        let mut greatest = 0.0_f64;
        let values = self.rows[..self.row_count].iter().flat_map(|row| row.value).filter(|value| value.is_finite());
        for value in values.map(f64::abs) {
            greatest = greatest.max(value);
            let mut remainder = value;
            while remainder > 0.0 {
                (step, remainder) = (remainder, step % remainder);
            }
            if step < 1e-9 * greatest {
                return 0.0;
            }
        }
        step
    }

    /// Take in the input. Memory was reserved.
    pub fn fill(&mut self, input: &Input, scalar: bool) {
        self.clear();
        for options in input.settings() {
            self.take(options, scalar);
        }
        self.sort_classes();
        self.lay_out(input, scalar);
    }

    fn clear(&mut self) {
        self.row_count = 0;
        self.starts.clear();
        self.classes.clear();
        self.found.clear();
        self.best.clear();
        self.lightest.clear();
        self.decided.clear();
        self.base = Totals::default();
        self.best_totals = Totals::default();
        self.lightest_totals = Totals::default();
        self.variance_range = 0.0;
        self.greatest_step = Totals::default();
        self.negative_means = 0.0;
        self.impossible = false;
    }

    /// Decide a setting, or note it as a class.
    fn take(&mut self, options: &[Candidate], scalar: bool) {
        let setting = self.decided.len() as u32;
        let Some(survey) = Survey::of(options, scalar) else {
            self.decide_without_options(options);
            return;
        };
        let Survey { best, lightest, least, most, .. } = survey;
        self.negative_means += survey.negative;
        let best_option = taken(&options[best], scalar);
        if best_option.mean == least.mean && best_option.variance == least.variance {
            self.base = self.base.plus(best_option);
            self.decided.push(best as u16);
            return;
        }
        let offset = Totals { value: best_option.value, ..least };
        self.base = self.base.plus(offset);
        self.best_totals = self.best_totals.plus(best_option.minus(offset));
        self.lightest_totals = self.lightest_totals.plus(taken(&options[lightest], scalar).minus(offset));
        let step = most.minus(least);
        self.variance_range += step.variance;
        self.greatest_step.mean = self.greatest_step.mean.max(step.mean);
        self.greatest_step.variance = self.greatest_step.variance.max(step.variance);
        self.decided.push(0);
        let (options, best, lightest) = (options.len() as u32, best as u32, lightest as u32);
        self.found.push(Class { setting, options, best, lightest, offset });
    }

    fn decide_without_options(&mut self, options: &[Candidate]) {
        // None can be chosen, so all are equally light: the best value it is.
        let better = |best: usize, other: usize| if options[other].value > options[best].value { other } else { best };
        self.impossible |= !options.is_empty();
        self.decided.push((0..options.len()).reduce(better).map_or(NO_CHOICE, |best| best as u16));
    }

    /// Largest first, so that classes side by side have much the same number of options.
    fn sort_classes(&mut self) {
        let bin = |class: &Class| COUNTED.saturating_sub(class.options as usize);
        let mut ends = [0_u32; COUNTED + 1];
        self.found.iter().for_each(|class| ends[bin(class)] += 1);
        let large = ends[0] as usize;
        let mut end = 0;
        for count in &mut ends {
            end += std::mem::replace(count, end);
        }
        self.classes.clone_from(&self.found);
        for &class in &self.found {
            let place = &mut ends[bin(&class)];
            self.classes[*place as usize] = class;
            *place += 1;
        }
        heapsort(&mut self.classes[..large], |a, b| (b.options, a.setting) < (a.options, b.setting));
    }

    fn lay_out(&mut self, input: &Input, scalar: bool) {
        self.starts.push(0);
        for group in self.classes.chunks(LANES) {
            let start = self.row_count;
            self.row_count += group[0].options as usize;
            if self.rows.len() < self.row_count {
                self.rows.resize(self.row_count, Row::EMPTY);
            }
            for (lane, class) in group.iter().enumerate() {
                let options = input.setting(class.setting as usize);
                let mut rows = self.rows[start..self.row_count].iter_mut();
                for (option, row) in options.iter().zip(rows.by_ref()) {
                    if option.mean == f64::INFINITY {
                        row.put(lane, NO_OPTION);
                    } else {
                        row.put(lane, taken(option, scalar).minus(class.offset));
                    }
                }
                rows.for_each(|row| row.put(lane, NO_OPTION));
                self.best.push(((start + class.best as usize) * LANES + lane) as u32);
                self.lightest.push(((start + class.lightest as usize) * LANES + lane) as u32);
            }
            // A lane without a class has one option, which is nothing.
            for lane in group.len()..LANES {
                self.rows[start..self.row_count].iter_mut().for_each(|row| row.put(lane, NO_OPTION));
                self.rows[start].value[lane] = 0.0;
                self.best.push((start * LANES + lane) as u32);
                self.lightest.push((start * LANES + lane) as u32);
            }
            self.starts.push(self.row_count as u32);
        }
    }
}

/// What fills the places of a lane where its class has none.
const NO_OPTION: Totals = Totals { value: f64::NEG_INFINITY, mean: 0.0, variance: 0.0 };

#[inline(always)]
fn taken(option: &Candidate, scalar: bool) -> Totals {
    Totals { value: option.value, mean: option.mean, variance: if scalar { 0.0 } else { option.variance } }
}

impl Survey {
    /// None if no option can be chosen.
    fn of(options: &[Candidate], scalar: bool) -> Option<Self> {
        let first = options.iter().position(|option| option.mean != f64::INFINITY)?;
        let start = taken(&options[first], scalar);
        let mut survey = Self { best: first, lightest: first, least: start, most: start, negative: 0.0 };
        let Self { best, lightest, least, most, .. } = &mut survey;
        for (index, option) in options.iter().enumerate().skip(first + 1) {
            if option.mean == f64::INFINITY {
                continue;
            }
            let option = taken(option, scalar);
            // Which one is the better is as good as random, so there should be no branch on it; equals are rare.
            *best = if option.value > most.value { index } else { *best };
            if option.value == most.value && better(option, taken(&options[*best], scalar)) {
                *best = index;
            }
            *lightest = if option.mean < least.mean { index } else { *lightest };
            if option.mean == least.mean && lighter(option, taken(&options[*lightest], scalar)) {
                *lightest = index;
            }
            least.mean = lesser(least.mean, option.mean);
            least.variance = lesser(least.variance, option.variance);
            most.value = greater(most.value, option.value);
            most.mean = greater(most.mean, option.mean);
            most.variance = greater(most.variance, option.variance);
        }
        survey.negative = f64::max(0.0, -survey.least.mean);
        Some(survey)
    }
}

/// More value, or the same for less.
fn better(one: Totals, other: Totals) -> bool {
    one.value > other.value
        || one.value == other.value
            && (one.mean < other.mean || one.mean == other.mean && one.variance < other.variance)
}

/// Less mean, then less variance, then more value.
fn lighter(one: Totals, other: Totals) -> bool {
    one.mean < other.mean
        || one.mean == other.mean
            && (one.variance < other.variance || one.variance == other.variance && one.value > other.value)
}
