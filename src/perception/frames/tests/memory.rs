//! Memory: limits, failures, and none once warm.

use super::*;
use crate::base::{Code, Result};
use crate::perception::frames::Move;
use crate::testing::allocator::{allocations, with_allowance};

const SHAPE: Shape = Shape::new(Format::Nv12, 150, 60);

/// Repeat `call` with one allocation more each time, until it succeeds. All failures are results.
fn each_failure<T>(mut call: impl FnMut() -> Result<T>, mut after_failure: impl FnMut()) -> usize {
    for count in 0.. {
        match with_allowance(count, &mut call) {
            Ok(_) => return count,
            Err(why) => assert_eq!(why.code(), Code::OutOfMemory),
        }
        after_failure();
    }
    unreachable!("there is memory in the end")
}

#[test]
fn each_failed_allocation_is_a_result_and_changes_nothing() {
    let canvas = Canvas::new(SHAPE, 0);
    let moves = [Move::default(); 3];
    let hints = Hints { moves: &moves, ..Hints::default() };
    let mut store = FrameStore::new(Options { history: 2, ..Options::default() }).unwrap();
    let first = store.watch(Rect::new(0, 0, 20, 20)).unwrap();
    store.watch_tolerant(Rect::new(0, 0, 20, 20), 3).unwrap();
    let mut store = std::cell::RefCell::new(store);
    let unchanged = || assert_eq!(store.borrow().number(), 0);
    let inline = Executor::inline();
    let failures = each_failure(|| store.borrow_mut().begin(&canvas.view(), true, &hints, &inline), unchanged);
    assert!(failures > 10, "{failures} allocations");
    let mut store = std::mem::take(store.get_mut());
    assert_eq!((store.number(), store.changes(first)), (1, !0));
    // More regions, one by one, and the plan of them.
    for index in 0..40 {
        each_failure(|| store.watch_tolerant(Rect::new(index * 2, 0, 9, 9), 1), || ());
    }
    let mut store = std::cell::RefCell::new(store);
    let unchanged = || assert_eq!(store.borrow().number(), 1);
    let failures = each_failure(|| store.borrow_mut().begin(&canvas.view(), true, &hints, &inline), unchanged);
    assert!(failures > 2, "{failures} allocations");
    // A restart that fails leaves the frames as they were.
    let larger = Canvas::new(Shape::new(Format::Nv12, 200, 60), 0);
    let unchanged = || {
        let store = store.borrow();
        assert!(store.frame(1).is_some() && store.changes(first) & 1 == 0 && store.shape() == SHAPE);
    };
    each_failure(|| store.borrow_mut().begin(&larger.view(), true, &hints, &inline), unchanged);
    assert_eq!(store.get_mut().shape(), larger.shape);
}

#[test]
fn begin_allocates_nothing_once_warm() {
    let mut canvas = Canvas::new(Shape::new(Format::Bgrx8, 400, 300), 0);
    let mut store = store(5);
    for index in 0..50 {
        store.watch(Rect::new(index * 5, index * 3, 100, 100)).unwrap();
        store.watch_tolerant(Rect::new(index * 5, index * 3, 90, 100), 4).unwrap();
    }
    let executor = executor(3);
    let moves = [Move { source: Rect::new(0, 0, 50, 50), x: 10, y: 10 }; 4];
    let dirty = [Rect::new(0, 0, 200, 100); 4];
    let hints = Hints { dirty: Some(&dirty), moves: &moves, ..Hints::default() };
    let mut step = |store: &mut FrameStore, level: u8| {
        canvas.paint(Rect::new(level.into(), 0, 40, 200), |_, _, old| old ^ level);
        let view = canvas.view();
        allocations(|| {
            store.begin(&view, level % 8 != 7, &hints, &executor).unwrap();
            store.moved_from(Rect::new(12, 12, 20, 20));
        })
    };
    (0..5).for_each(|level| {
        step(&mut store, level);
    });
    for level in 5..80 {
        assert_eq!(step(&mut store, level), 0, "frame {level}");
    }
}

#[test]
fn a_history_over_the_memory_limit_is_refused_with_the_bytes_that_it_takes() {
    let canvas = Canvas::new(Shape::new(Format::Bgrx8, 640, 360), 0);
    let mut store = FrameStore::new(Options { history: 9, memory_limit: 9_000_000, ..Options::default() }).unwrap();
    let why = store.begin(&canvas.view(), true, &Hints::default(), &Executor::inline()).unwrap_err();
    assert_eq!(why.code(), Code::LimitExceeded);
    // Ten images, and 144 bytes for each of 230 tiles, and their bits.
    let takes = 10 * (640 * 360 * 4 + 32) + 230 * 144 + (4 + 1) * 23 * 8 + 8;
    assert!(why.sentence().contains(&format!("{takes} bytes")), "{why}");
    assert_eq!(store.number(), 0);
    let mut fits = FrameStore::new(Options { history: 8, memory_limit: 9_000_000, ..Options::default() }).unwrap();
    fits.begin(&canvas.view(), true, &Hints::default(), &Executor::inline()).unwrap();
    assert!(fits.memory_used() <= 9_000_000);
    let why = fits.watch_tolerant(Rect::new(0, 0, 640, 360), 3).unwrap_err();
    assert_eq!(why.code(), Code::LimitExceeded);
}
