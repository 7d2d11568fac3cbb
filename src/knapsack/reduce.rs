//! The problem in the layout of the passes in [`super::kernel`].
//!
//! Settings that have options become classes, sorted by their number of options. Settings keep their places from one
//! problem to the next while they keep their numbers of options. Values are relative to the class's best, means and
//! variances to its least. Then nothing cancels, and tolerances follow the differences that decide, not offsets.
//! Options that cannot be chosen are removed. Dominated options stay: no pass picks them, and the core drops them.

use std::cmp::Reverse;

use super::input::{Input, Totals};
use super::kernel::{Class, Rebased, Row, Rows, WIDTH, lay_out};
use super::{Candidate, MAX_OPTIONS_PER_SETTING, NO_CHOICE, bytes, reserve_total};
use crate::base::Result;

/// Classes with fewer options are sorted by counting, those with more by comparing.
const COUNTED: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Problem {
    /// Rows from `row_count` on belong to an earlier problem. They are written in place: rows are slow to copy.
    rows: Vec<Row>,
    row_count: usize,
    /// The start of each group's rows, and one more for the end.
    starts: Vec<u32>,
    classes: Vec<Class>,
    /// The end of each setting's options in the input for which the classes were made. Empty if the classes are not
    /// valid for every input of that shape.
    ends: Vec<u32>,
    /// Per class, the position of the option of best value, and of least mean. Padded to fill the last group.
    pub best: Vec<u32>,
    pub lightest: Vec<u32>,
    /// The sums of `best` and of `lightest`; the value of `best_totals` is 0.
    pub best_totals: Totals,
    pub lightest_totals: Totals,
    /// The subtracted sums.
    pub base: Totals,
    /// Sum over classes of the greatest variance above the class's least.
    pub variance_range: f64,
    /// The greatest mean and the greatest variance of an option above the least of its setting.
    pub greatest_step: Totals,
    /// The choices of the settings without an option that can be chosen; classes are 0 here.
    pub no_choices: Vec<u16>,
    /// Magnitude of the negative means, see [`super::fits::Limit`].
    pub negative_means: f64,
    /// Whether some setting has options but none that can be chosen.
    pub impossible: bool,
}

/// Upper bound on the number of rows. A group has as many rows as its largest class has options. No class has more
/// options than any class of the group before.
pub(super) fn most_rows(options: usize) -> usize {
    options.min(MAX_OPTIONS_PER_SETTING + options / WIDTH) + 1
}

impl Problem {
    pub fn reserve(&mut self, settings: usize, options: usize) -> Result<()> {
        reserve_total(&mut self.rows, most_rows(options))?;
        reserve_total(&mut self.starts, settings / WIDTH + 2)?;
        reserve_total(&mut self.classes, settings)?;
        reserve_total(&mut self.ends, settings)?;
        reserve_total(&mut self.best, settings + WIDTH - 1)?;
        reserve_total(&mut self.lightest, settings + WIDTH - 1)?;
        reserve_total(&mut self.no_choices, settings)
    }

    pub fn memory_used(&self) -> usize {
        bytes(&self.rows)
            + bytes(&self.starts)
            + bytes(&self.classes)
            + bytes(&self.ends)
            + bytes(&self.best)
            + bytes(&self.lightest)
            + bytes(&self.no_choices)
    }

    pub fn class_count(&self) -> usize {
        self.classes.len()
    }

    /// Classes plus the padding of the last group: the number of picks that a pass writes.
    pub fn lane_count(&self) -> usize {
        self.classes.len().next_multiple_of(WIDTH)
    }

    pub fn row_count(&self) -> usize {
        self.row_count
    }

    pub fn slot_count(&self) -> usize {
        self.row_count * WIDTH
    }

    pub fn rows(&self) -> Rows<'_> {
        Rows { rows: &self.rows[..self.row_count], starts: &self.starts, normal: self.variance_range > 0.0 }
    }

    /// The options of a class and their positions.
    pub fn class(&self, class: usize) -> impl Iterator<Item = (usize, Totals)> + '_ {
        let (column, mut next) = (class % WIDTH, self.position(class, 0));
        let start = next / WIDTH;
        let mut rows = self.rows[start..start + self.classes[class].options as usize].iter();
        std::iter::from_fn(move || {
            loop {
                let option = rows.next()?.at(column);
                let position = next;
                next += WIDTH;
                if option.value != f64::NEG_INFINITY {
                    return Some((position, option));
                }
            }
        })
    }

    /// The position of an option, by its index in its setting.
    fn position(&self, class: usize, option: usize) -> usize {
        (self.starts[class / WIDTH] as usize + option) * WIDTH + class % WIDTH
    }

    /// The setting of a class, and the index in it of the option at a position.
    pub fn choice(&self, class: usize, position: u32) -> (usize, u16) {
        let option = position as usize / WIDTH - self.starts[class / WIDTH] as usize;
        (self.classes[class].setting as usize, option as u16)
    }

    /// The class of an option.
    pub fn class_at(&self, position: u32) -> usize {
        let row = position / WIDTH as u32;
        let group = self.starts.partition_point(|&start| start <= row) - 1;
        group * WIDTH + position as usize % WIDTH
    }

    /// The position of the class's choice. `None` if the option doesn't exist or cannot be chosen.
    pub fn find(&self, class: usize, choices: &[u16]) -> Option<u32> {
        let Class { setting, options, .. } = self.classes[class];
        let choice = u32::from(*choices.get(setting as usize)?);
        let position = (choice < options).then(|| self.position(class, choice as usize))?;
        (self.value(position) != f64::NEG_INFINITY).then_some(position as u32)
    }

    pub fn value(&self, position: usize) -> f64 {
        self.rows[position / WIDTH].value[position % WIDTH]
    }

    pub fn at(&self, position: usize) -> Totals {
        self.rows[position / WIDTH].at(position % WIDTH)
    }

    /// The sums of one position per class.
    pub fn totals(&self, picks: &[u32]) -> Totals {
        let picks = &picks[..self.class_count()];
        picks.iter().fold(Totals::default(), |sum, &pick| sum.plus(self.at(pick as usize)))
    }

    /// The greatest number that all values are multiples of, such as 1 for integers; 0 if that is negligible. Exact:
    /// Euclid's algorithm on floating point remainders, which are never rounded.
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

    /// Read the input. Memory must be reserved.
    pub fn fill(&mut self, input: &Input, scalar: bool) {
        self.impossible = false;
        if self.ends.is_empty() || self.ends != input.ends() {
            self.arrange(input, |options| !options.is_empty());
            self.ends.extend_from_slice(input.ends());
        }
        let rebased = self.lay_out(input, scalar).unwrap_or_else(|| {
            self.impossible = true;
            self.arrange(input, |options| options.iter().any(|option| option.mean < f64::INFINITY));
            self.lay_out(input, scalar).unwrap_or_default()
        });
        Rebased {
            base: self.base,
            best: self.best_totals,
            lightest: self.lightest_totals,
            greatest_step: self.greatest_step,
            variance_range: self.variance_range,
            negative_means: self.negative_means,
        } = rebased;
    }

    fn lay_out(&mut self, input: &Input, scalar: bool) -> Option<Rebased> {
        let Self { rows, starts, classes, best, lightest, .. } = self;
        lay_out(input.options(), classes, !scalar, &mut rows[..self.row_count], starts, best, lightest)
    }

    /// Make classes of the settings that `is_class` accepts. Sort them, largest first, so that neighbours have similar
    /// numbers of options.
    fn arrange(&mut self, input: &Input, is_class: fn(&[Candidate]) -> bool) {
        self.ends.clear();
        let bin = |options: &[Candidate]| match is_class(options) {
            true => COUNTED.saturating_sub(options.len()),
            false => COUNTED,
        };
        let mut places = [0_u32; COUNTED + 1];
        input.settings().for_each(|options| places[bin(options)] += 1);
        let (large, others) = (places[0] as usize, places[COUNTED] as usize);
        let mut end = 0;
        for count in &mut places {
            end += std::mem::replace(count, end);
        }
        self.classes.clear();
        self.classes.resize(input.setting_count(), Class::default());
        self.no_choices.clear();
        let mut start = 0;
        for (setting, options) in input.settings().enumerate() {
            let bin = bin(options);
            let place = &mut places[bin];
            let (setting, count) = (setting as u32, options.len() as u32);
            self.classes[*place as usize] = Class { setting, options: count, start };
            *place += 1;
            start += count;
            self.no_choices.push(if bin == COUNTED { most_valuable(options) } else { 0 });
        }
        self.classes.truncate(input.setting_count() - others);
        self.classes[..large].sort_unstable_by_key(|class| (Reverse(class.options), class.setting));
        self.reserve_rows();
    }

    /// Make the groups of the classes, and the rows of the groups.
    fn reserve_rows(&mut self) {
        self.row_count = 0;
        self.starts.clear();
        self.starts.push(0);
        for group in self.classes.chunks(WIDTH) {
            self.row_count += group[0].options as usize;
            self.starts.push(self.row_count as u32);
        }
        if self.rows.len() < self.row_count {
            self.rows.resize(self.row_count, Row::EMPTY);
        }
        self.best.clear();
        self.best.resize(self.lane_count(), 0);
        self.lightest.clear();
        self.lightest.resize(self.lane_count(), 0);
    }
}

/// The first of the most valuable options. If no option can be chosen, all are equally light.
fn most_valuable(options: &[Candidate]) -> u16 {
    let better = |best: usize, other: usize| if options[other].value > options[best].value { other } else { best };
    (0..options.len()).reduce(better).map_or(NO_CHOICE, |best| best as u16)
}
