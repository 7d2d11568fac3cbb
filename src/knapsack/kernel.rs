//! The passes over all options, four classes at a time.
//!
//! Classes lie side by side in groups of [`LANES`], sorted by how many options they have, so that the first options of
//! a group's classes make a row, the second ones the next. A pass walks down the rows and keeps the best of every lane
//! without a branch. The code is plain arithmetic on arrays which the compiler turns into vector instructions: two lanes
//! at a time on any x86-64, four where the processor has AVX2. Both do the same operations in the same order, so the
//! results are the same to the last bit.

use super::input::Totals;

/// Classes side by side in a row.
pub(super) const LANES: usize = 4;

/// One option each of as many classes. What is no option has value `-infinity`, and mean and variance 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub value: [f64; LANES],
    pub mean: [f64; LANES],
    pub variance: [f64; LANES],
}

impl Row {
    pub const EMPTY: Self = Self { value: [f64::NEG_INFINITY; LANES], mean: [0.0; LANES], variance: [0.0; LANES] };
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

/// Call a pass compiled for what the processor has.
macro_rules! dispatch {
    ($name:ident, $avx2:ident, $rows:expr, $($argument:expr),*) => {{
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2, as was just asked.
            #[allow(unsafe_code)]
            return unsafe {
                if $rows.normal { $avx2::<true>($rows, $($argument),*) } else { $avx2::<false>($rows, $($argument),*) }
            };
        }
        if $rows.normal { $name::<true>($rows, $($argument),*) } else { $name::<false>($rows, $($argument),*) }
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

/// Call back with each class that has options other than its pick whose score after paying is within `most_cost` of the
/// pick's.
pub(super) fn screen(rows: Rows, picks: &[u32], prices: Prices, most_cost: f64, found: &mut Vec<u32>) {
    dispatch!(screen_lanes, screen_avx2, rows, picks, prices, most_cost, found)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn pick_avx2<const NORMAL: bool>(rows: Rows, prices: Prices, picks: &mut [u32]) -> Totals {
    pick_lanes::<NORMAL>(rows, prices, picks)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn change_avx2<const NORMAL: bool>(rows: Rows, picks: &[u32], theta: f64, slack: f64, least: f64) -> Option<Gain> {
    change_lanes::<NORMAL>(rows, picks, theta, slack, least)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn screen_avx2<const NORMAL: bool>(rows: Rows, picks: &[u32], prices: Prices, most_cost: f64, found: &mut Vec<u32>) {
    screen_lanes::<NORMAL>(rows, picks, prices, most_cost, found);
}

type Lanes = [f64; LANES];

#[inline(always)]
fn each(lane: impl Fn(usize) -> f64) -> Lanes {
    std::array::from_fn(lane)
}

#[inline(always)]
fn choose(which: [bool; LANES], yes: Lanes, no: Lanes) -> Lanes {
    each(|lane| if which[lane] { yes[lane] } else { no[lane] })
}

/// What the options of a row are worth after paying.
#[inline(always)]
fn score<const NORMAL: bool>(row: &Row, prices: Prices) -> Lanes {
    each(|lane| {
        let after_mean = row.value[lane] - prices.mean * row.mean[lane];
        if NORMAL { after_mean - prices.variance * row.variance[lane] } else { after_mean }
    })
}

#[inline(always)]
fn pick_lanes<const NORMAL: bool>(rows: Rows, prices: Prices, picks: &mut [u32]) -> Totals {
    let (mut value, mut mean, mut variance) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
    for ((start, group), picks) in rows.groups().zip(picks.chunks_exact_mut(LANES)) {
        let Some((first, others)) = group.split_first() else { continue };
        let mut best = *first;
        let mut best_score = score::<NORMAL>(first, prices);
        // The index as a number, so that it is selected like the others.
        let mut best_index = [0.0; LANES];
        let mut index = 0.0;
        for row in others {
            index += 1.0;
            let here = score::<NORMAL>(row, prices);
            let better: [bool; LANES] = std::array::from_fn(|lane| here[lane] > best_score[lane]);
            best_score = choose(better, here, best_score);
            best.value = choose(better, row.value, best.value);
            best.mean = choose(better, row.mean, best.mean);
            if NORMAL {
                best.variance = choose(better, row.variance, best.variance);
            }
            best_index = choose(better, [index; LANES], best_index);
        }
        for lane in 0..LANES {
            picks[lane] = (start + best_index[lane] as i32 as u32) * LANES as u32 + lane as u32;
        }
        value = each(|lane| value[lane] + best.value[lane]);
        mean = each(|lane| mean[lane] + best.mean[lane]);
        if NORMAL {
            variance = each(|lane| variance[lane] + best.variance[lane]);
        }
    }
    Totals { value: sum(value), mean: sum(mean), variance: sum(variance) }
}

#[inline(always)]
fn sum(lanes: Lanes) -> f64 {
    (lanes[0] + lanes[2]) + (lanes[1] + lanes[3])
}

/// Field of the picks of a group.
#[inline(always)]
fn picked(rows: Rows, picks: &[u32], field: impl Fn(&Row, usize) -> f64) -> Lanes {
    each(|lane| rows.rows.get(picks[lane] as usize / LANES).map_or(0.0, |row| field(row, lane)))
}

#[inline(always)]
fn weigh<const NORMAL: bool>(row: &Row, lane: usize, theta: f64) -> f64 {
    if NORMAL { row.mean[lane] + theta * row.variance[lane] } else { row.mean[lane] }
}

#[inline(always)]
fn change_lanes<const NORMAL: bool>(rows: Rows, picks: &[u32], theta: f64, slack: f64, least: f64) -> Option<Gain> {
    let mut best = [least; LANES];
    let mut best_index = [-1.0; LANES];
    let mut index = 0.0;
    for ((_, group), picks) in rows.groups().zip(picks.chunks_exact(LANES)) {
        let value = picked(rows, picks, |row, lane| row.value[lane]);
        let weight = picked(rows, picks, |row, lane| weigh::<NORMAL>(row, lane, theta));
        let most = each(|lane| weight[lane] + slack);
        for row in group {
            let gain = each(|lane| row.value[lane] - value[lane]);
            let weight = each(|lane| weigh::<NORMAL>(row, lane, theta));
            let better: [bool; LANES] =
                std::array::from_fn(|lane| (gain[lane] > best[lane]) & (weight[lane] <= most[lane]));
            best = choose(better, gain, best);
            best_index = choose(better, [index; LANES], best_index);
            index += 1.0;
        }
    }
    let found = (0..LANES).filter(|&lane| best_index[lane] >= 0.0);
    let lane = found.reduce(|one, other| if best[other] > best[one] { other } else { one })?;
    Some(Gain { value: best[lane], position: best_index[lane] as u32 * LANES as u32 + lane as u32 })
}

#[inline(always)]
fn screen_lanes<const NORMAL: bool>(rows: Rows, picks: &[u32], prices: Prices, most_cost: f64, found: &mut Vec<u32>) {
    for (group_index, ((start, group), picks)) in rows.groups().zip(picks.chunks_exact(LANES)).enumerate() {
        let price_of_pick = |row: &Row, lane: usize| score::<NORMAL>(row, prices)[lane];
        let score_of_pick = picked(rows, picks, price_of_pick);
        let least = each(|lane| score_of_pick[lane] - most_cost);
        let pick_index = each(|lane| f64::from((picks[lane] / LANES as u32) as i32 - start as i32));
        let mut near = [0.0; LANES];
        let mut index = 0.0;
        for row in group {
            let here = score::<NORMAL>(row, prices);
            let is_near: [bool; LANES] =
                std::array::from_fn(|lane| (here[lane] > least[lane]) & (pick_index[lane] != index));
            near = choose(is_near, [1.0; LANES], near);
            index += 1.0;
        }
        if sum(near) > 0.0 {
            let lanes = (0..LANES).filter(|&lane| near[lane] > 0.0);
            found.extend(lanes.map(|lane| (group_index * LANES + lane) as u32));
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
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
                let mut row = Row { value: each(|_| 0.0), mean: each(|_| 0.0), variance: each(|_| 0.0) };
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

    fn assert_same<const NORMAL: bool>(seed: u64) {
        let (rows, starts) = problem(seed);
        let rows = Rows { rows: &rows, starts: &starts, normal: NORMAL };
        let lanes = (starts.len() - 1) * LANES;
        for (mean, theta) in [(0.0, 0.0), (0.25, 0.5), (1.0, 1.0), (7.5, 0.1), (1e150, 3.0), (1e200, 1e-9)] {
            let prices = Prices { mean, variance: mean * theta };
            let (mut plain, mut vector) = (vec![0; lanes], vec![0; lanes]);
            let totals = pick_lanes::<NORMAL>(rows, prices, &mut plain);
            assert_eq!(totals, pick(rows, prices, &mut vector));
            assert_eq!(plain, vector);
            for slack in [-3.0, 0.0, 2.5, f64::INFINITY] {
                let one = change_lanes::<NORMAL>(rows, &plain, theta, slack, -1.0);
                assert_eq!(one, best_change(rows, &plain, theta, slack, -1.0));
            }
            for most_cost in [0.0, 0.5, 4.0] {
                let (mut one, mut other) = (Vec::new(), Vec::new());
                screen_lanes::<NORMAL>(rows, &plain, prices, most_cost, &mut one);
                screen(rows, &plain, prices, most_cost, &mut other);
                assert_eq!(one, other);
            }
        }
    }

    #[test]
    fn wider_vectors_change_no_bit() {
        for seed in 0..50 {
            assert_same::<false>(seed);
            assert_same::<true>(seed);
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
                let worth = |row: usize| score::<true>(&rows[row], prices)[lane];
                let best =
                    range.clone().fold(range.start, |best, row| if worth(row) > worth(best) { row } else { best });
                assert_eq!(picked as usize, best * LANES + lane);
                value += rows[best].value[lane];
            }
            assert!((totals.value - value).abs() < 1e-9);
        }
    }
}
