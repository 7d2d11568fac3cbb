//! The cost of a frame and of a query, in the Rust core.

use std::hint::black_box;

use hobgoblin::executor::{Executor, Helpers, Options as ExecutorOptions};
use hobgoblin::perception::frames::{FrameStore, Hints, HostFrames, Options, RegionId};
use hobgoblin::perception::image::{Format, Rect, Shape, View};
use hobgoblin_bench::random::Random;
use hobgoblin_bench::timing::{median, microseconds, ratio};

const SHAPE: Shape = Shape::new(Format::Bgrx8, 1920, 1080);
const BYTES: usize = SHAPE.row_size() * SHAPE.height as usize;

/// A frame of noise.
fn frame(seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    (0..BYTES / 8).flat_map(|_| random.bits().to_le_bytes()).collect()
}

fn view(pixels: &[u8]) -> View<'_> {
    View::new(SHAPE, pixels, SHAPE.row_size(), &[], 0).expect("the frame has all pixels")
}

/// Overlapping regions of 16 to 400 columns and 16 to 200 rows.
fn overlapping(count: usize) -> Vec<Rect> {
    let mut random = Random(5);
    let mut rect = || {
        let (width, height) = (16 + random.below(385) as u32, 16 + random.below(185) as u32);
        let (x, y) = (random.below((1921 - width) as usize), random.below((1081 - height) as usize));
        Rect::new(x as u32, y as u32, width, height)
    };
    (0..count).map(|_| rect()).collect()
}

/// Regions of 200×20 that share no pixel.
fn disjoint(count: usize) -> Vec<Rect> {
    (0..count as u32).map(|index| Rect::new(index % 8 * 230 + 17, index / 8 * 110 + 35, 200, 20)).collect()
}

fn watching(options: Options, rects: &[Rect]) -> (FrameStore, Vec<RegionId>) {
    let mut store = FrameStore::new(options).expect("valid options");
    let ids = rects.iter().map(|&rect| store.watch(rect).expect("there is memory")).collect();
    (store, ids)
}

/// Two buffers in turn: an odd frame is in the first one.
struct Buffers([&'static [u8]; 2]);

impl HostFrames for Buffers {
    fn keep(&mut self, _number: u64, _frame: &View<'_>) {}

    fn view(&self, number: u64) -> Option<View<'_>> {
        Some(view(self.0[(number as usize + 1) % 2]))
    }
}

/// A store that copies nothing.
fn borrowing(rects: &[Rect], buffers: [&'static [u8]; 2]) -> FrameStore {
    let (mut store, _) = watching(Options::default(), rects);
    store.borrow_from(Box::new(Buffers(buffers)));
    store
}

/// One row of the table: the store and the floor take turns.
fn row(
    name: &str,
    floor_name: &str,
    rounds: usize,
    mut prepare: impl FnMut(usize),
    mut store: impl FnMut(usize),
    mut floor: impl FnMut(usize),
) {
    let (mut stores, mut floors) = (vec![], vec![]);
    for round in 0..rounds + 4 {
        prepare(round);
        let store = microseconds(|| store(round));
        prepare(round);
        let floor = microseconds(|| floor(round));
        // The first rounds fill the ring.
        if round >= 4 {
            stores.push(store);
            floors.push(floor);
        }
    }
    let (ours, least) = (median(&stores), median(&floors));
    println!("{name:<58} {ours:>9.1} µs  {least:>9.1} µs {:>6.2}×  {floor_name}", ratio(&stores, &floors));
}

fn begin(store: &mut FrameStore, pixels: &[u8], executor: &Executor) {
    store.begin(&view(pixels), true, &Hints::default(), executor).expect("the frame fits");
}

/// Print all rows.
pub fn print(rounds: usize) {
    let (first, same, other) = (frame(1), frame(1), frame(2));
    let inline = Executor::inline();
    let options = Options::default();
    println!("{:<58} {:>12}  {:>12} {:>7}  floor", "1920×1080 BGRX", "store", "floor", "ratio");

    let memcmp = |_| assert!(black_box(&first[..]) == black_box(&same[..]));
    for count in [500, 2000] {
        let (mut store, _) = watching(options, &overlapping(count));
        let name = format!("{count} overlapping regions, static, warm");
        row(&name, "memcmp of the frame", rounds, |_| (), |_| begin(&mut store, &first, &inline), memcmp);
    }
    let (mut store, _) = watching(options, &[SHAPE.bounds()]);
    row(
        "one region: the frame, static, warm",
        "memcmp of the frame",
        rounds,
        |_| (),
        |_| begin(&mut store, &first, &inline),
        memcmp,
    );
    let (mut store, _) = watching(options, &overlapping(2000));
    let mut flush = vec![0u64; 8 << 20];
    let cold = |_| flush.iter_mut().for_each(|word| *word = word.wrapping_add(1));
    row(
        "2000 overlapping regions, static, cold",
        "memcmp of the frame",
        rounds / 4,
        cold,
        |_| begin(&mut store, &first, &inline),
        memcmp,
    );
    let two = Executor::new(ExecutorOptions { helpers: Helpers::Pool(1), ..ExecutorOptions::default() });
    let two = two.expect("there are threads");
    row(
        "2000 overlapping regions, static, warm, two threads",
        "memcmp of the frame",
        rounds,
        |_| (),
        |_| begin(&mut store, &first, &two),
        memcmp,
    );

    let rects = disjoint(71);
    let (mut store, _) = watching(options, &rects);
    let rows = |_| {
        let (one, other) = (black_box(&first[..]), black_box(&same[..]));
        for rect in &rects {
            for y in rect.y..rect.y + rect.height {
                let start = (y * 1920 + rect.x) as usize * 4;
                assert!(one[start..start + 800] == other[start..start + 800]);
            }
        }
    };
    row(
        "71 regions of 200×20, static, warm",
        "memcmp of their rows",
        rounds * 5,
        |_| (),
        |_| begin(&mut store, &first, &inline),
        rows,
    );
    let lent: [&'static [u8]; 2] = [first.clone().leak(), same.clone().leak()];
    let mut store = borrowing(&rects, lent);
    row(
        "71 regions of 200×20, static, warm, borrowed frames",
        "memcmp of their rows",
        rounds * 5,
        |_| (),
        |round| begin(&mut store, lent[round % 2], &inline),
        rows,
    );
    let mut store = borrowing(&[SHAPE.bounds()], lent);
    row(
        "one region: the frame, static, warm, borrowed frames",
        "memcmp of the frame",
        rounds,
        |_| (),
        |round| begin(&mut store, lent[round % 2], &inline),
        |_| assert!(black_box(lent[0]) == black_box(lent[1])),
    );
    assert_eq!(store.counters().copied_bytes, 0);

    let mut ring = [vec![0; BYTES], vec![0; BYTES]];
    let mut copies = |round: usize| {
        ring[round % 2].copy_from_slice(black_box([&first, &other][round % 2]));
        black_box(&ring);
    };
    let (mut store, _) = watching(options, &[SHAPE.bounds()]);
    row(
        "one region: the frame, all pixels change",
        "memcpy into one of two frames",
        rounds,
        |_| (),
        |round| begin(&mut store, [&first, &other][round % 2], &inline),
        &mut copies,
    );
    let (mut store, _) = watching(options, &overlapping(2000));
    row(
        "2000 overlapping regions, all pixels change",
        "memcpy into one of two frames",
        rounds,
        |_| (),
        |round| begin(&mut store, [&first, &other][round % 2], &inline),
        &mut copies,
    );

    // The host draws into the same memory.
    let mut drawn = first.clone();
    let (mut store, _) = watching(options, &overlapping(2000));
    let square = |_| {
        for y in 300..400 {
            let start = (y * 1920 + 500) * 4;
            drawn[start..start + 400].iter_mut().for_each(|byte| *byte = !*byte);
        }
        begin(&mut store, &drawn, &inline);
    };
    row("2000 overlapping regions, 100×100 pixels change", "memcmp of the frame", rounds, |_| (), square, memcmp);
    // The masks decide.
    let mut drawn = first.clone();
    let (mut store, _) = watching(options, &overlapping(2000));
    let sparse = |_| {
        (0..BYTES).step_by(4 * 631).for_each(|byte| drawn[byte] ^= 1);
        begin(&mut store, &drawn, &inline);
    };
    row("2000 overlapping regions, one pixel in 631 changes", "memcmp of the frame", rounds, |_| (), sparse, memcmp);

    let (mut store, ids) = watching(options, &overlapping(2000));
    begin(&mut store, &first, &inline);
    let samples: Vec<f64> = (0..rounds)
        .map(|_| {
            microseconds(|| {
                ids.iter().for_each(|&id| {
                    black_box(store.changed_at(black_box(id)));
                })
            }) * 1e3
        })
        .collect();
    println!("{:<58} {:>9.2} ns", "changed_at, of 2000 regions", median(&samples) / ids.len() as f64);
}
