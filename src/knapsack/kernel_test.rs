//! The passes compared with a loop over single options, and all widths compared with each other.

use super::*;
use crate::testing::scaled;

/// Numbers from 0 to 16.
fn numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1 << 27)
    }
}

/// Groups of one to nine rows, one of forty, with ties and empty places.
fn problem(seed: u64) -> (Vec<Row>, Vec<u32>) {
    let mut next = numbers(seed);
    let (mut rows, mut starts) = (Vec::new(), vec![0]);
    for group in 0..30 {
        let count = if group == 3 { 40 } else { 1 + (seed as usize + group) % 9 };
        for index in 0..count {
            let mut row = Row { value: [0.0; WIDTH], mean: [0.0; WIDTH], variance: [0.0; WIDTH] };
            for column in 0..WIDTH {
                row.value[column] = -(next() * 4.0).floor();
                (row.mean[column], row.variance[column]) = (next(), (next() * 2.0).floor());
                if index > 0 && next() > 12.0 {
                    (row.value[column], row.mean[column], row.variance[column]) = (f64::NEG_INFINITY, 0.0, 0.0);
                }
            }
            rows.push(row);
        }
        starts.push(rows.len() as u32);
    }
    (rows, starts)
}

fn assert_same<V: Vector>(seed: u64, normal: bool) {
    let (rows, starts) = problem(seed);
    let rows = Rows { rows: &rows, starts: &starts, normal };
    let columns = (starts.len() - 1) * WIDTH;
    for (mean, theta) in [(0.0, 0.0), (0.25, 0.5), (1.0, 1.0), (7.5, 0.1), (1e150, 3.0), (1e200, 1e-9)] {
        let prices = Prices { mean, variance: mean * theta };
        let (mut plain, mut vector) = (vec![0; columns], vec![0; columns]);
        let (without, same_without) =
            (pick_of::<Plain, false>(rows, prices, &mut plain), pick_of::<V, false>(rows, prices, &mut vector));
        assert_eq!((without, &plain), (same_without, &vector));
        let totals = pick_columns::<Plain>(rows, prices, &mut plain);
        assert_eq!(totals, pick_columns::<V>(rows, prices, &mut vector));
        assert_eq!(plain, vector);
        for slack in [-3.0, 0.0, 2.5, f64::INFINITY] {
            let one = change_columns::<Plain>(rows, &plain, theta, slack, -1.0);
            assert_eq!(one, change_columns::<V>(rows, &plain, theta, slack, -1.0));
        }
        for most_cost in [0.0, 0.5, 4.0] {
            let near = near::<Plain>(rows, &plain, prices, most_cost);
            assert_eq!(near, self::near::<V>(rows, &plain, prices, most_cost));
            assert_eq!(near, near_one_by_one(rows, &plain, prices, most_cost));
        }
    }
}

/// The classes and positions of the options found by a screening, in its order.
fn near<V: Vector>(rows: Rows, picks: &[u32], prices: Prices, most_cost: f64) -> Vec<(u32, u32)> {
    let mut words = vec![Near::default(); rows.rows.len() + 1];
    let count = screen_columns::<V>(rows, picks, prices, most_cost, &mut words);
    let mut found = Vec::new();
    for word in &mut words[..count] {
        assert_ne!(word.bits, 0);
        while word.bits != 0 {
            found.push(word.first());
            word.bits &= word.bits - 1;
        }
    }
    found
}

fn near_one_by_one(rows: Rows, picks: &[u32], prices: Prices, most_cost: f64) -> Vec<(u32, u32)> {
    let score = |position: usize| {
        let Totals { value, mean, variance } = rows.rows[position / WIDTH].at(position % WIDTH);
        value - prices.mean * mean - prices.variance * variance
    };
    let mut found = Vec::new();
    for (class, &pick) in picks.iter().enumerate() {
        let rows = rows.starts[class / WIDTH] as usize..rows.starts[class / WIDTH + 1] as usize;
        let others = rows.map(|row| row * WIDTH + class % WIDTH).filter(|&position| position != pick as usize);
        let near = others.filter(|&position| score(position) > score(pick as usize) - most_cost);
        found.extend(near.map(|position| (class as u32, position as u32)));
    }
    found
}

#[test]
fn vector_width_changes_no_bit() {
    for seed in 0..u64::from(scaled(15)) {
        for normal in [false, true] {
            if std::arch::is_x86_feature_detected!("avx2") {
                assert_same::<Avx2>(seed, normal);
            }
        }
    }
}

#[test]
fn vector_passes_match_a_scalar_pass() {
    for seed in 0..50 {
        let (rows, starts) = problem(seed);
        let prices = Prices { mean: 0.5, variance: 0.25 };
        let mut picks = vec![0; (starts.len() - 1) * WIDTH];
        let totals = pick(Rows { rows: &rows, starts: &starts, normal: true }, prices, &mut picks);
        let mut value = 0.0;
        for (column_index, &picked) in picks.iter().enumerate() {
            let (group, column) = (column_index / WIDTH, column_index % WIDTH);
            let range = starts[group] as usize..starts[group + 1] as usize;
            let worth = |row: usize| Scale::<Plain>::new(prices).score::<true>(&rows[row]).store()[column];
            let best = range.clone().fold(range.start, |best, row| if worth(row) > worth(best) { row } else { best });
            assert_eq!(picked as usize, best * WIDTH + column);
            value += rows[best].value[column];
        }
        assert!((totals.value - value).abs() < 1e-9);
    }
}

/// Settings of one to nine options, the largest first. Some options cannot be chosen.
fn settings(seed: u64, count: usize) -> Vec<Vec<Candidate>> {
    let mut next = numbers(seed);
    let mut option = move |first: bool| {
        let (value, mean, variance) = ((next() - 8.0).floor(), (next() - 4.0).floor(), next().floor());
        Candidate { value, mean: if !first && next() > 13.0 { f64::INFINITY } else { mean }, variance }
    };
    let mut settings: Vec<Vec<Candidate>> = (0..count)
        .map(|setting| (0..1 + (setting * 7 + seed as usize) % 9).map(|at| option(at == 0)).collect())
        .collect();
    settings.sort_by_key(|options| std::cmp::Reverse(options.len()));
    settings
}

#[derive(Clone, Debug, PartialEq)]
struct LaidOut {
    rebased: Option<Rebased>,
    rows: Vec<[[f64; WIDTH]; 3]>,
    best: Vec<u32>,
    lightest: Vec<u32>,
}

fn laid_out<V: Vector>(settings: &[Vec<Candidate>], normal: bool) -> LaidOut {
    let (mut classes, mut starts, mut options) = (Vec::new(), vec![0], Vec::new());
    for (setting, of_setting) in settings.iter().enumerate() {
        let (count, start) = (of_setting.len() as u32, options.len() as u32);
        classes.push(Class { setting: setting as u32, options: count, start });
        options.extend_from_slice(of_setting);
    }
    for group in settings.chunks(WIDTH) {
        starts.push(starts[starts.len() - 1] + group[0].len() as u32);
    }
    let mut rows = vec![Row { value: [7.0; WIDTH], ..Row::EMPTY }; starts[starts.len() - 1] as usize];
    let (mut best, mut lightest) = (vec![9; (starts.len() - 1) * WIDTH], vec![9; (starts.len() - 1) * WIDTH]);
    let rebased = lay_out_columns::<V>(&options, &classes, normal, &mut rows, &starts, &mut best, &mut lightest);
    let rows = rows.iter().map(|row| [row.value, row.mean, row.variance]).collect();
    LaidOut { rebased, rows, best, lightest }
}

#[test]
fn layout_is_relative_to_best_value_and_least_burden() {
    for seed in 0..60 {
        let settings = settings(seed, 1 + seed as usize % 23);
        for normal in [false, true] {
            let out = laid_out::<Plain>(&settings, normal);
            if std::arch::is_x86_feature_detected!("avx2") {
                assert_eq!(out, laid_out::<Avx2>(&settings, normal));
            }
            let rebased = out.rebased.expect("every setting has an option that can be chosen");
            let (mut base, mut best, mut lightest) = (Totals::default(), Totals::default(), Totals::default());
            let (mut negative, mut first_row) = (0.0, 0);
            for (class, options) in settings.iter().enumerate() {
                if class > 0 && class % WIDTH == 0 {
                    first_row += settings[class - WIDTH].len();
                }
                let key = |option: &Candidate| (option.value, option.mean, if normal { option.variance } else { 0.0 });
                let possible = || options.iter().map(key).enumerate().filter(|(_, option)| option.1 < f64::INFINITY);
                let least = |of: fn((f64, f64, f64)) -> f64| {
                    possible().map(|(_, option)| of(option)).fold(f64::INFINITY, f64::min)
                };
                let offset = (-least(|option| -option.0), least(|option| option.1), least(|option| option.2));
                let first_by = |key: fn((f64, f64, f64)) -> [f64; 3]| {
                    possible().reduce(|a, b| if key(b.1) < key(a.1) { b } else { a }).expect("one at least")
                };
                let (best_at, best_option) = first_by(|(value, mean, variance)| [-value, mean, variance]);
                let (lightest_at, lightest_option) = first_by(|(value, mean, variance)| [mean, variance, -value]);
                let position = |option: usize| ((first_row + option) * WIDTH + class % WIDTH) as u32;
                assert_eq!((out.best[class], out.lightest[class]), (position(best_at), position(lightest_at)));
                let totals = |option: (f64, f64, f64)| Totals { value: option.0, mean: option.1, variance: option.2 };
                base = base.plus(totals(offset));
                best = best.plus(totals(best_option).minus(totals(offset)));
                lightest = lightest.plus(totals(lightest_option).minus(totals(offset)));
                negative += f64::max(0.0, -offset.1);
                let rows = settings[class - class % WIDTH].len();
                for row in 0..rows {
                    let at = out.rows[first_row + row].map(|numbers| numbers[class % WIDTH]);
                    match possible().find(|(index, _)| *index == row) {
                        Some((_, option)) => {
                            assert_eq!(at, [option.0 - offset.0, option.1 - offset.1, option.2 - offset.2]);
                        }
                        None => assert_eq!(at, [f64::NEG_INFINITY, 0.0, 0.0]),
                    }
                }
            }
            // Whole numbers: sums are exact in any order.
            assert_eq!((rebased.base, rebased.best, rebased.lightest), (base, best, lightest));
            assert_eq!(rebased.negative_means, negative);
        }
    }
}

#[test]
fn class_without_a_feasible_option_is_reported() {
    let mut settings = settings(3, 9);
    settings[5].iter_mut().for_each(|option| option.mean = f64::INFINITY);
    assert_eq!(laid_out::<Plain>(&settings, true).rebased, None);
}

#[test]
fn best_pair_matches_all_pairs() {
    for seed in 0..300 {
        let mut next = numbers(seed);
        let count = seed as usize % 30;
        let (mut weights, mut values) =
            (vec![[0.0; WIDTH]; count.div_ceil(WIDTH)], vec![[0.0; WIDTH]; count.div_ceil(WIDTH)]);
        let (mut starts, mut start) = (Vec::new(), 0);
        for index in 0..count {
            weights[index / WIDTH][index % WIDTH] = (next() - 8.0).floor();
            values[index / WIDTH][index % WIDTH] = (next() - 8.0).floor() + f64::from(index as u32) / 1024.0;
            start = if next() > 6.0 { index as u32 } else { start };
            starts.push(start);
        }
        let (slack, least) = ((next() - 8.0).floor(), (next() - 6.0).floor());
        let number = |numbers: &[[f64; WIDTH]], index: usize| numbers[index / WIDTH][index % WIDTH];
        let mut most = None;
        for (one, &start) in starts.iter().enumerate() {
            for other in 0..start as usize {
                let sum = number(&values, one) + number(&values, other);
                let fits = number(&weights, one) + number(&weights, other) <= slack;
                if fits && sum > most.unwrap_or(least) {
                    most = Some(sum);
                }
            }
        }
        let worth = |pair: Option<(u32, u32)>| {
            pair.map(|(one, other)| {
                assert!(other < starts[one as usize]);
                assert!(number(&weights, one as usize) + number(&weights, other as usize) <= slack);
                number(&values, one as usize) + number(&values, other as usize)
            })
        };
        let found = pair_columns::<Plain>(&weights, &values, &starts, slack, least);
        assert_eq!(worth(found), most);
        if std::arch::is_x86_feature_detected!("avx2") {
            assert_eq!(found, pair_columns::<Avx2>(&weights, &values, &starts, slack, least));
        }
    }
}
