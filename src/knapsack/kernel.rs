//! The passes over all options, four classes at a time.
//!
//! Classes lie side by side in groups of [`WIDTH`], sorted by their number of options. The first options of a group's
//! classes form a row, the second ones the next row. A pass walks down the rows and keeps the best of every column
//! without a branch. It uses AVX2 if the processor has it, otherwise plain arithmetic. Both do the same operations in the
//! same order, so the results are the same to the last bit. AVX2's methods must be inlined into functions for which AVX2
//! is enabled, so everything between these and the methods is inlined always.

use super::Candidate;
use super::input::Totals;
#[cfg(target_arch = "x86_64")]
use super::simd::Avx2;
pub(super) use super::simd::WIDTH;
use super::simd::{Plain, Vector};

/// One option each of [`WIDTH`] classes. An empty place has value `-infinity`, and mean and variance 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub value: [f64; WIDTH],
    pub mean: [f64; WIDTH],
    pub variance: [f64; WIDTH],
}

/// A setting that has options, and the range of its options in the input.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Class {
    pub setting: u32,
    pub options: u32,
    pub start: u32,
}

impl Row {
    pub const EMPTY: Self = Self { value: [f64::NEG_INFINITY; WIDTH], mean: [0.0; WIDTH], variance: [0.0; WIDTH] };

    pub fn at(&self, column: usize) -> Totals {
        Totals { value: self.value[column], mean: self.mean[column], variance: self.variance[column] }
    }
}

/// The rows, and the start of each group's rows, with one more for the end.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub rows: &'a [Row],
    pub starts: &'a [u32],
    /// Whether any variance counts.
    pub normal: bool,
}

/// The price of a unit of mean and of variance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prices {
    pub mean: f64,
    pub variance: f64,
}

/// An option that could replace its class's pick: its position, and the value it adds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gain {
    pub value: f64,
    pub position: u32,
}

/// A bit set of the options in a few rows of a group that are nearly as good as their class's pick. The bits of a column
/// are side by side, from bit `column * ROWS_PER_WORD` up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Near {
    pub bits: u64,
    /// The class of the first column, and its position in the first row.
    pub class: u32,
    pub position: u32,
}

const ROWS_PER_WORD: usize = u64::BITS as usize / WIDTH;

impl Near {
    /// The class and the position of the option of the lowest bit.
    pub fn first(self) -> (u32, u32) {
        let bit = self.bits.trailing_zeros();
        let (column, row) = (bit / ROWS_PER_WORD as u32, bit % ROWS_PER_WORD as u32);
        (self.class + column, self.position + row * WIDTH as u32 + column)
    }
}

/// The bits of each column in a word.
const COLUMN_BITS: [u64; WIDTH] = [0xffff, 0xffff << 16, 0xffff << 32, 0xffff << 48];

/// Moves four bits, one per column, to the places of a word's first row: each by 15 places times its column's number.
fn spread(bits: u32) -> u64 {
    (u64::from(bits) * 0x0000_2000_4000_8001) & 0x0001_0001_0001_0001
}

impl<'a> Rows<'a> {
    fn groups(self) -> impl Iterator<Item = (u32, &'a [Row])> {
        let bounds = self.starts.iter().zip(self.starts.iter().skip(1));
        bounds.map(move |(&start, &end)| (start, self.rows.get(start as usize..end as usize).unwrap_or_default()))
    }
}

/// The sums that [`lay_out`] subtracted, and sums and maxima of the differences.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rebased {
    /// The subtracted sums.
    pub base: Totals,
    /// Sums of the best option of each class, and of the lightest.
    pub best: Totals,
    pub lightest: Totals,
    /// The greatest mean and the greatest variance among the differences, over classes whose best isn't also the
    /// lightest.
    pub greatest_step: Totals,
    /// Sum over these classes of the greatest variance.
    pub variance_range: f64,
    /// Sum of the negative least means, as a magnitude.
    pub negative_means: f64,
}

/// Define a pass that runs with AVX2 if the processor has it, and in plain arithmetic otherwise.
macro_rules! pass {
    ($(#[$doc:meta])* $name:ident = $columns:ident($($argument:ident: $type:ty),+) -> $answer:ty) => {
        $(#[$doc])*
        pub(super) fn $name($($argument: $type),+) -> $answer {
            #[cfg(target_arch = "x86_64")]
            if std::arch::is_x86_feature_detected!("avx2") {
                #[target_feature(enable = "avx2")]
                fn wide($($argument: $type),+) -> $answer {
                    $columns::<Avx2>($($argument),+)
                }
                // SAFETY: the processor has AVX2, as was just asked.
                #[allow(unsafe_code)]
                return unsafe { wide($($argument),+) };
            }
            $columns::<Plain>($($argument),+)
        }
    };
}

pass! {
    /// Lay the options of each class out in the rows. Values are relative to the class's best, means and variances to
    /// its least. Also find the best (most value, then least mean, then least variance) and the lightest (least mean,
    /// then least variance, then most value); of equals the first. Options of infinite mean are skipped. Unless
    /// `normal`, variances count as 0. Returns `None` if a class has no option that can be chosen.
    lay_out = lay_out_columns(
        options: &[Candidate],
        classes: &[Class],
        normal: bool,
        rows: &mut [Row],
        starts: &[u32],
        best: &mut [u32],
        lightest: &mut [u32]
    ) -> Option<Rebased>
}

pass! {
    /// Each class picks its best after paying for mean and variance, of equals the first. `picks` has an element per
    /// column of each group. Returns the sums.
    pick = pick_columns(rows: Rows, prices: Prices, picks: &mut [u32]) -> Totals
}

pass! {
    /// The most valuable option that can replace its class's pick. It adds more than `least` in value, and at most
    /// `slack` to the weight `mean + theta * variance`. Of equals, the first in the order of columns.
    best_change = change_columns(rows: Rows, picks: &[u32], theta: f64, slack: f64, least: f64) -> Option<Gain>
}

pass! {
    /// Find the options, except the picks, whose score after paying is within `most_cost` of their class's pick, class
    /// by class. `found` has room for one more than the number of rows. Returns the number of words written; each has
    /// at least one bit.
    screen = screen_columns(rows: Rows, picks: &[u32], prices: Prices, most_cost: f64, found: &mut [Near]) -> usize
}

pass! {
    /// The most valuable pair of changes of different classes, worth more than `least` and weighing no more than
    /// `slack`. Changes lie class by class. `starts` holds for each the index of the first change of its class.
    best_pair = pair_columns(
        weights: &[[f64; WIDTH]],
        values: &[[f64; WIDTH]],
        starts: &[u32],
        slack: f64,
        least: f64
    ) -> Option<(u32, u32)>
}

/// The weights of `mean + theta * variance`, or of the value after paying.
#[derive(Clone, Copy)]
struct Scale<V> {
    mean: V,
    variance: V,
}

impl<V: Vector> Scale<V> {
    #[inline(always)]
    fn new(prices: Prices) -> Self {
        Self { mean: V::splat(prices.mean), variance: V::splat(prices.variance) }
    }

    #[inline(always)]
    fn score<const NORMAL: bool>(self, row: &Row) -> V {
        let after_mean = V::load(&row.value).sub(self.mean.mul(V::load(&row.mean)));
        if NORMAL { after_mean.sub(self.variance.mul(V::load(&row.variance))) } else { after_mean }
    }
}

/// Whether one is greater, or equal with `ties` set.
#[inline(always)]
fn greater_or<V: Vector>(one: V, other: V, ties: V::Mask) -> V::Mask {
    V::or(one.greater(other), V::and(one.at_least(other), ties))
}

/// Per column, the two sort keys of the best option so far, and its index.
struct Wanted<V> {
    first: V,
    second: V,
    index: V,
}

impl<V: Vector> Wanted<V> {
    #[inline(always)]
    fn none() -> Self {
        Self { first: V::splat(f64::INFINITY), second: V::splat(f64::INFINITY), index: V::splat(0.0) }
    }

    /// Take the other if it is allowed and its first number is less, or equal with a lesser second one.
    #[inline(always)]
    fn offer(&mut self, is_allowed: V::Mask, first: V, second: V, index: V) {
        let is_less = V::and(is_allowed, greater_or(self.first, first, self.second.greater(second)));
        self.first = V::select(is_less, first, self.first);
        self.second = V::select(is_less, second, self.second);
        self.index = V::select(is_less, index, self.index);
    }
}

/// The options of a column without a class: one option without value, mean and variance.
const NOTHING: [Candidate; 1] = [Candidate { value: 0.0, mean: 0.0, variance: 0.0 }];

/// Fills a column's places beyond the last option of its class.
const NO_OPTION: Candidate = Candidate { value: f64::NEG_INFINITY, mean: f64::INFINITY, variance: 0.0 };

#[inline(always)]
fn lay_out_columns<V: Vector>(
    options: &[Candidate],
    classes: &[Class],
    normal: bool,
    rows: &mut [Row],
    starts: &[u32],
    best: &mut [u32],
    lightest: &mut [u32],
) -> Option<Rebased> {
    let zero = V::splat(0.0);
    let (infinity, negative_infinity) = (V::splat(f64::INFINITY), V::splat(f64::NEG_INFINITY));
    let variance_scale = V::splat(if normal { 1.0 } else { 0.0 });
    let (mut base_value, mut base_mean, mut base_variance) = (zero, zero, zero);
    let (mut best_mean, mut best_variance) = (zero, zero);
    let (mut lightest_value, mut lightest_variance) = (zero, zero);
    let (mut greatest_mean, mut greatest_variance) = (zero, zero);
    let (mut variance_range, mut negative_means) = (zero, zero);
    let mut least_most_value = zero;
    let picks = best.as_chunks_mut().0.iter_mut().zip(lightest.as_chunks_mut().0);
    for ((bounds, group), (best_at, lightest_at)) in starts.windows(2).zip(classes.chunks(WIDTH)).zip(picks) {
        let rows = rows.get_mut(bounds[0] as usize..bounds[1] as usize).unwrap_or_default();
        let options_of = |class: &Class| options.get(class.start as usize..(class.start + class.options) as usize);
        let column = |column: usize| group.get(column).and_then(options_of).unwrap_or(&NOTHING);
        let columns = [column(0), column(1), column(2), column(3)];
        let (mut most_value, mut least_mean, mut least_variance) = (negative_infinity, infinity, infinity);
        for (index, row) in rows.iter_mut().enumerate() {
            let [a, b, c, d] = columns.map(|options| options.get(index).unwrap_or(&NO_OPTION));
            let mean = V::of(a.mean, b.mean, c.mean, d.mean);
            let can_be_chosen = infinity.greater(mean);
            let value = V::of(a.value, b.value, c.value, d.value);
            let value = V::select(can_be_chosen, value, negative_infinity);
            let variance = V::of(a.variance, b.variance, c.variance, d.variance);
            most_value = value.most(most_value);
            least_mean = mean.least(least_mean);
            least_variance = V::select(can_be_chosen, variance, infinity).least(least_variance);
            (row.value, row.mean, row.variance) = (value.store(), mean.store(), variance.store());
        }
        least_most_value = most_value.least(least_most_value);
        least_variance = least_variance.mul(variance_scale);
        let (mut best, mut lightest) = (Wanted::<V>::none(), Wanted::<V>::none());
        let (mut most_mean, mut most_variance, mut index) = (zero, zero, zero);
        for row in rows {
            let mean = V::load(&row.mean);
            let can_be_chosen = infinity.greater(mean);
            let value = V::load(&row.value).sub(most_value);
            let mean = V::select(can_be_chosen, mean.sub(least_mean), zero);
            let variance = V::load(&row.variance).mul(variance_scale).sub(least_variance);
            let variance = V::select(can_be_chosen, variance, zero);
            (row.value, row.mean, row.variance) = (value.store(), mean.store(), variance.store());
            best.offer(value.at_least(zero), mean, variance, index);
            let is_lightest = V::and(can_be_chosen, zero.at_least(mean));
            lightest.offer(is_lightest, variance, zero.sub(value), index);
            most_mean = mean.most(most_mean);
            most_variance = variance.most(most_variance);
            index = index.add(V::splat(1.0));
        }
        // If the best is also the lightest, no other option matters.
        let is_decided = V::and(zero.at_least(best.first), zero.at_least(best.second));
        most_variance = V::select(is_decided, zero, most_variance);
        greatest_mean = V::select(is_decided, zero, most_mean).most(greatest_mean);
        greatest_variance = most_variance.most(greatest_variance);
        variance_range = variance_range.add(most_variance);
        negative_means = negative_means.add(zero.sub(least_mean).most(zero));
        (base_value, base_mean) = (base_value.add(most_value), base_mean.add(least_mean));
        base_variance = base_variance.add(least_variance);
        (best_mean, best_variance) = (best_mean.add(best.first), best_variance.add(best.second));
        lightest_value = lightest_value.sub(lightest.second);
        lightest_variance = lightest_variance.add(lightest.first);
        *best_at = best.index.positions(bounds[0]);
        *lightest_at = lightest.index.positions(bounds[0]);
    }
    let total = |value: V, mean: V, variance: V| Totals {
        value: sum(value.store()),
        mean: sum(mean.store()),
        variance: sum(variance.store()),
    };
    if least_most_value.store().contains(&f64::NEG_INFINITY) {
        return None;
    }
    Some(Rebased {
        base: total(base_value, base_mean, base_variance),
        best: total(zero, best_mean, best_variance),
        lightest: total(lightest_value, zero, lightest_variance),
        greatest_step: Totals {
            value: 0.0,
            mean: greatest(greatest_mean.store()),
            variance: greatest(greatest_variance.store()),
        },
        variance_range: sum(variance_range.store()),
        negative_means: sum(negative_means.store()),
    })
}

fn greatest(columns: [f64; WIDTH]) -> f64 {
    columns.into_iter().fold(0.0, f64::max)
}

/// Skipping the variances when they don't count changes no result, and is a tenth faster.
#[inline(always)]
fn pick_columns<V: Vector>(rows: Rows, prices: Prices, picks: &mut [u32]) -> Totals {
    if rows.normal { pick_of::<V, true>(rows, prices, picks) } else { pick_of::<V, false>(rows, prices, picks) }
}

#[inline(always)]
fn pick_of<V: Vector, const NORMAL: bool>(rows: Rows, prices: Prices, picks: &mut [u32]) -> Totals {
    let scale = Scale::<V>::new(prices);
    let zero = V::splat(0.0);
    let (mut value, mut mean, mut variance) = (zero, zero, zero);
    for ((start, group), picks) in rows.groups().zip(picks.chunks_exact_mut(WIDTH)) {
        let Some((first, others)) = group.split_first() else { continue };
        let (mut best_value, mut best_mean) = (V::load(&first.value), V::load(&first.mean));
        let mut best_variance = if NORMAL { V::load(&first.variance) } else { zero };
        let mut best_score = scale.score::<NORMAL>(first);
        // The index as a number, so that it is selected like the others.
        let (mut best_index, mut index) = (zero, zero);
        for row in others {
            index = index.add(V::splat(1.0));
            let here = scale.score::<NORMAL>(row);
            let better = here.greater(best_score);
            best_score = here.most(best_score);
            best_value = V::select(better, V::load(&row.value), best_value);
            best_mean = V::select(better, V::load(&row.mean), best_mean);
            if NORMAL {
                best_variance = V::select(better, V::load(&row.variance), best_variance);
            }
            best_index = V::select(better, index, best_index);
        }
        picks.copy_from_slice(&best_index.positions(start));
        (value, mean) = (value.add(best_value), mean.add(best_mean));
        variance = variance.add(best_variance);
    }
    Totals { value: sum(value.store()), mean: sum(mean.store()), variance: sum(variance.store()) }
}

pub(super) fn sum(columns: [f64; WIDTH]) -> f64 {
    (columns[0] + columns[2]) + (columns[1] + columns[3])
}

/// The picks of a group.
struct Picked<V> {
    value: V,
    mean: V,
    variance: V,
}

impl<V: Vector> Picked<V> {
    /// Loads column by column into registers: memory written in parts is slow to load as a whole.
    #[inline(always)]
    fn new(rows: Rows, picks: &[u32; WIDTH]) -> Self {
        let row = |column: usize| rows.rows.get(picks[column] as usize / WIDTH).unwrap_or(&Row::EMPTY);
        let [a, b, c, d] = [row(0), row(1), row(2), row(3)];
        Self {
            value: V::of(a.value[0], b.value[1], c.value[2], d.value[3]),
            mean: V::of(a.mean[0], b.mean[1], c.mean[2], d.mean[3]),
            variance: V::of(a.variance[0], b.variance[1], c.variance[2], d.variance[3]),
        }
    }
}

#[inline(always)]
fn change_columns<V: Vector>(rows: Rows, picks: &[u32], theta: f64, slack: f64, least: f64) -> Option<Gain> {
    let theta = V::splat(theta);
    let weigh = |row: &Row| V::load(&row.mean).add(theta.mul(V::load(&row.variance)));
    let mut best = V::splat(least);
    let (mut best_index, mut index) = (V::splat(-1.0), V::splat(0.0));
    for ((_, group), picks) in rows.groups().zip(picks.as_chunks().0) {
        let Picked { value, mean, variance } = Picked::<V>::new(rows, picks);
        let most = mean.add(theta.mul(variance)).add(V::splat(slack));
        for row in group {
            let gain = V::load(&row.value).sub(value);
            let better = V::and(gain.greater(best), most.at_least(weigh(row)));
            best = V::select(better, gain, best);
            best_index = V::select(better, index, best_index);
            index = index.add(V::splat(1.0));
        }
    }
    let (best, row) = (best.store(), best_index.store());
    let found = (0..WIDTH).filter(|&column| row[column] >= 0.0);
    let column = found.reduce(|one, other| if best[other] > best[one] { other } else { one })?;
    Some(Gain { value: best[column], position: row[column] as u32 * WIDTH as u32 + column as u32 })
}

#[inline(always)]
fn pair_columns<V: Vector>(
    weights: &[[f64; WIDTH]],
    values: &[[f64; WIDTH]],
    starts: &[u32],
    slack: f64,
    least: f64,
) -> Option<(u32, u32)> {
    let mut best = V::splat(least);
    let (mut best_one, mut best_other) = (V::splat(-1.0), V::splat(-1.0));
    let all = weights.as_flattened().iter().zip(values.as_flattened()).zip(starts);
    for (one, ((&weight, &value), &start)) in all.enumerate() {
        let (room, value, one) = (V::splat(slack - weight), V::splat(value), V::splat(one as f64));
        let end = V::splat(f64::from(start));
        let mut other = V::of(0.0, 1.0, 2.0, 3.0);
        for (weights, values) in weights.iter().zip(values).take((start as usize).div_ceil(WIDTH)) {
            let sum = value.add(V::load(values));
            let is_allowed = V::and(room.at_least(V::load(weights)), end.greater(other));
            let is_better = V::and(is_allowed, sum.greater(best));
            best = V::select(is_better, sum, best);
            best_one = V::select(is_better, one, best_one);
            best_other = V::select(is_better, other, best_other);
            other = other.add(V::splat(WIDTH as f64));
        }
    }
    let (best, one, other) = (best.store(), best_one.store(), best_other.store());
    let found = (0..WIDTH).filter(|&column| one[column] >= 0.0);
    let column = found.reduce(|a, b| if best[b] > best[a] { b } else { a })?;
    Some((one[column] as u32, other[column] as u32))
}

#[inline(always)]
fn screen_columns<V: Vector>(rows: Rows, picks: &[u32], prices: Prices, most_cost: f64, found: &mut [Near]) -> usize {
    let scale = Scale::<V>::new(prices);
    let mut count = 0;
    for (group_index, ((start, group), picks)) in rows.groups().zip(picks.as_chunks().0).enumerate() {
        let Picked { value, mean, variance } = Picked::<V>::new(rows, picks);
        let score = value.sub(scale.mean.mul(mean)).sub(scale.variance.mul(variance));
        let least = score.sub(V::splat(most_cost));
        let class = (group_index * WIDTH) as u32;
        // Class by class. If one word holds all rows, its bits are in that order already.
        let columns = if group.len() <= ROWS_PER_WORD { &[u64::MAX][..] } else { &COLUMN_BITS };
        for &column_bits in columns {
            for (rows, first) in group.chunks(ROWS_PER_WORD).zip((start..).step_by(ROWS_PER_WORD)) {
                let mut bits = 0;
                for (index, row) in rows.iter().enumerate() {
                    bits |= spread(V::bits(scale.score::<true>(row).greater(least))) << index;
                }
                for (column, &pick) in picks.iter().enumerate() {
                    let own = (pick / WIDTH as u32).wrapping_sub(first) as usize;
                    if own < ROWS_PER_WORD {
                        bits &= !(1 << (column * ROWS_PER_WORD + own));
                    }
                }
                bits &= column_bits;
                // Whether any bit is set is unpredictable, so there should be no branch on it.
                if let Some(next) = found.get_mut(count) {
                    *next = Near { bits, class, position: first * WIDTH as u32 };
                }
                count += usize::from(bits != 0);
            }
        }
    }
    count
}

#[cfg(all(test, target_arch = "x86_64"))]
#[path = "kernel_test.rs"]
mod tests;
