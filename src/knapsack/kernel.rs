//! The passes over all options, four classes at a time.
//!
//! Classes lie side by side in groups of [`LANES`], sorted by how many options they have, so that the first options of
//! a group's classes make a row, the second ones the next. A pass walks down the rows and keeps the best of every lane
//! without a branch: with AVX2 where the processor has it, else with what all have. All do the same operations in
//! the same order, so the results are the same to the last bit.

use super::input::Totals;
#[cfg(target_arch = "x86_64")]
use super::lanes::Avx2;
pub(super) use super::lanes::LANES;
use super::lanes::{Baseline, Lanes};

/// One option each of as many classes. What is no option has value `-infinity`, and mean and variance 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub value: [f64; LANES],
    pub mean: [f64; LANES],
    pub variance: [f64; LANES],
}

impl Row {
    pub const EMPTY: Self = Self { value: [f64::NEG_INFINITY; LANES], mean: [0.0; LANES], variance: [0.0; LANES] };

    #[inline(always)]
    pub fn at(&self, lane: usize) -> Totals {
        Totals { value: self.value[lane], mean: self.mean[lane], variance: self.variance[lane] }
    }

    #[inline(always)]
    pub fn put(&mut self, lane: usize, option: Totals) {
        (self.value[lane], self.mean[lane], self.variance[lane]) = (option.value, option.mean, option.variance);
    }
}

/// The rows, and where the rows of each group start, with one more for the end.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub rows: &'a [Row],
    pub starts: &'a [u32],
    /// Whether any variance counts.
    pub normal: bool,
}

/// What a unit of mean and of variance costs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prices {
    pub mean: f64,
    pub variance: f64,
}

/// An option that could replace its class's pick: its position, and what it adds in value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gain {
    pub value: f64,
    pub position: u32,
}

impl<'a> Rows<'a> {
    fn groups(self) -> impl Iterator<Item = (u32, &'a [Row])> {
        let bounds = self.starts.iter().zip(self.starts.iter().skip(1));
        bounds.map(move |(&start, &end)| (start, self.rows.get(start as usize..end as usize).unwrap_or_default()))
    }
}

/// Call a pass with the widest lanes that the processor has.
macro_rules! dispatch {
    ($pass:ident, $avx2:ident, $($argument:expr),*) => {{
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2, as was just asked.
            #[allow(unsafe_code)]
            return unsafe { $avx2($($argument),*) };
        }
        $pass::<Baseline>($($argument),*)
    }};
}

/// Each class picks its best after paying for mean and variance, the first of equals. `picks` has an element per lane
/// of each group. Returns the sums.
pub(super) fn pick(rows: Rows, prices: Prices, picks: &mut [u32]) -> Totals {
    dispatch!(pick_lanes, pick_avx2, rows, prices, picks)
}

/// The most valuable option that adds no more than `slack` to the weight `mean + theta * variance` when it replaces its
/// class's pick, and adds more than `least` in value; the first of equals in the order of lanes.
pub(super) fn best_change(rows: Rows, picks: &[u32], theta: f64, slack: f64, least: f64) -> Option<Gain> {
    dispatch!(change_lanes, change_avx2, rows, picks, theta, slack, least)
}

/// Append each class that has options other than its pick whose score after paying is within `most_cost` of the pick's.
pub(super) fn screen(rows: Rows, picks: &[u32], prices: Prices, most_cost: f64, found: &mut Vec<u32>) {
    dispatch!(screen_lanes, screen_avx2, rows, picks, prices, most_cost, found)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn pick_avx2(rows: Rows, prices: Prices, picks: &mut [u32]) -> Totals {
    pick_lanes::<Avx2>(rows, prices, picks)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn change_avx2(rows: Rows, picks: &[u32], theta: f64, slack: f64, least: f64) -> Option<Gain> {
    change_lanes::<Avx2>(rows, picks, theta, slack, least)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn screen_avx2(rows: Rows, picks: &[u32], prices: Prices, most_cost: f64, found: &mut Vec<u32>) {
    screen_lanes::<Avx2>(rows, picks, prices, most_cost, found);
}

/// `mean + theta * variance`, or what value is left after paying.
#[derive(Clone, Copy)]
struct Scale<V> {
    mean: V,
    variance: V,
}

impl<V: Lanes> Scale<V> {
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

#[inline(always)]
fn pick_lanes<V: Lanes>(rows: Rows, prices: Prices, picks: &mut [u32]) -> Totals {
    if rows.normal { pick_of::<V, true>(rows, prices, picks) } else { pick_of::<V, false>(rows, prices, picks) }
}

#[inline(always)]
fn pick_of<V: Lanes, const NORMAL: bool>(rows: Rows, prices: Prices, picks: &mut [u32]) -> Totals {
    let scale = Scale::<V>::new(prices);
    let zero = V::splat(0.0);
    let (mut value, mut mean, mut variance) = (zero, zero, zero);
    for ((start, group), picks) in rows.groups().zip(picks.chunks_exact_mut(LANES)) {
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

#[inline(always)]
pub(super) fn sum(lanes: [f64; LANES]) -> f64 {
    (lanes[0] + lanes[2]) + (lanes[1] + lanes[3])
}

/// The picks of a group.
struct Picked<V> {
    value: V,
    mean: V,
    variance: V,
}

impl<V: Lanes> Picked<V> {
    /// Lane by lane into registers: what is written to memory in parts is slow to load as a whole.
    #[inline(always)]
    fn new(rows: Rows, picks: &[u32; LANES]) -> Self {
        let row = |lane: usize| rows.rows.get(picks[lane] as usize / LANES).unwrap_or(&Row::EMPTY);
        let [a, b, c, d] = [row(0), row(1), row(2), row(3)];
        Self {
            value: V::of(a.value[0], b.value[1], c.value[2], d.value[3]),
            mean: V::of(a.mean[0], b.mean[1], c.mean[2], d.mean[3]),
            variance: V::of(a.variance[0], b.variance[1], c.variance[2], d.variance[3]),
        }
    }
}

#[inline(always)]
fn change_lanes<V: Lanes>(rows: Rows, picks: &[u32], theta: f64, slack: f64, least: f64) -> Option<Gain> {
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
    let found = (0..LANES).filter(|&lane| row[lane] >= 0.0);
    let lane = found.reduce(|one, other| if best[other] > best[one] { other } else { one })?;
    Some(Gain { value: best[lane], position: row[lane] as u32 * LANES as u32 + lane as u32 })
}

#[inline(always)]
fn screen_lanes<V: Lanes>(rows: Rows, picks: &[u32], prices: Prices, most_cost: f64, found: &mut Vec<u32>) {
    let scale = Scale::<V>::new(prices);
    for (group_index, ((start, group), picks)) in rows.groups().zip(picks.as_chunks().0).enumerate() {
        let Picked { value, mean, variance } = Picked::<V>::new(rows, picks);
        let score = value.sub(scale.mean.mul(mean)).sub(scale.variance.mul(variance));
        let least = score.sub(V::splat(most_cost));
        let row = |lane: usize| f64::from((picks[lane] / LANES as u32) as i32 - start as i32);
        let own = V::of(row(0), row(1), row(2), row(3));
        let mut index = V::splat(0.0);
        let mut near = 0;
        for row in group {
            let is_other = V::or(own.greater(index), index.greater(own));
            near |= V::bits(V::and(is_other, scale.score::<true>(row).greater(least)));
            index = index.add(V::splat(1.0));
        }
        while near != 0 {
            found.push((group_index * LANES) as u32 + near.trailing_zeros());
            near &= near - 1;
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::super::lanes::Plain;
    use super::*;

    /// Groups of one to nine rows with ties and empty places, and the picks of some pass.
    fn problem(seed: u64) -> (Vec<Row>, Vec<u32>) {
        let mut state = seed;
        let mut next = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1 << 27)
        };
        let (mut rows, mut starts) = (Vec::new(), vec![0]);
        for group in 0..30 {
            for index in 0..1 + (seed as usize + group) % 9 {
                let mut row = Row { value: [0.0; LANES], mean: [0.0; LANES], variance: [0.0; LANES] };
                for lane in 0..LANES {
                    row.value[lane] = -(next() * 4.0).floor();
                    (row.mean[lane], row.variance[lane]) = (next(), (next() * 2.0).floor());
                    if index > 0 && next() > 12.0 {
                        (row.value[lane], row.mean[lane], row.variance[lane]) = (f64::NEG_INFINITY, 0.0, 0.0);
                    }
                }
                rows.push(row);
            }
            starts.push(rows.len() as u32);
        }
        (rows, starts)
    }

    fn assert_same<V: Lanes>(seed: u64, normal: bool) {
        let (rows, starts) = problem(seed);
        let rows = Rows { rows: &rows, starts: &starts, normal };
        let lanes = (starts.len() - 1) * LANES;
        for (mean, theta) in [(0.0, 0.0), (0.25, 0.5), (1.0, 1.0), (7.5, 0.1), (1e150, 3.0), (1e200, 1e-9)] {
            let prices = Prices { mean, variance: mean * theta };
            let (mut plain, mut vector) = (vec![0; lanes], vec![0; lanes]);
            let totals = pick_lanes::<Plain>(rows, prices, &mut plain);
            assert_eq!(totals, pick_lanes::<V>(rows, prices, &mut vector));
            assert_eq!(plain, vector);
            for slack in [-3.0, 0.0, 2.5, f64::INFINITY] {
                let one = change_lanes::<Plain>(rows, &plain, theta, slack, -1.0);
                assert_eq!(one, change_lanes::<V>(rows, &plain, theta, slack, -1.0));
            }
            for most_cost in [0.0, 0.5, 4.0] {
                let (mut one, mut other) = (Vec::new(), Vec::new());
                screen_lanes::<Plain>(rows, &plain, prices, most_cost, &mut one);
                screen_lanes::<V>(rows, &plain, prices, most_cost, &mut other);
                assert_eq!(one, other);
            }
        }
    }

    #[test]
    fn wider_vectors_change_no_bit() {
        for seed in 0..50 {
            for normal in [false, true] {
                assert_same::<Baseline>(seed, normal);
                if std::arch::is_x86_feature_detected!("avx2") {
                    assert_same::<Avx2>(seed, normal);
                }
            }
        }
    }

    #[test]
    fn passes_do_what_one_option_at_a_time_does() {
        for seed in 0..50 {
            let (rows, starts) = problem(seed);
            let prices = Prices { mean: 0.5, variance: 0.25 };
            let mut picks = vec![0; (starts.len() - 1) * LANES];
            let totals = pick(Rows { rows: &rows, starts: &starts, normal: true }, prices, &mut picks);
            let mut value = 0.0;
            for (lane_index, &picked) in picks.iter().enumerate() {
                let (group, lane) = (lane_index / LANES, lane_index % LANES);
                let range = starts[group] as usize..starts[group + 1] as usize;
                let worth = |row: usize| Scale::<Plain>::new(prices).score::<true>(&rows[row]).store()[lane];
                let best =
                    range.clone().fold(range.start, |best, row| if worth(row) > worth(best) { row } else { best });
                assert_eq!(picked as usize, best * LANES + lane);
                value += rows[best].value[lane];
            }
            assert!((totals.value - value).abs() < 1e-9);
        }
    }
}
