//! The promises of a frame store, case by case.

use super::*;
use crate::base::Code;
use crate::perception::frames::lender::Lender;
use crate::perception::frames::{Move, Order};

const SHAPE: Shape = Shape::new(Format::Bgrx8, 200, 100);

fn noise(shape: Shape) -> Canvas {
    let (mut canvas, mut random) = (Canvas::new(shape, 0), Random(3));
    canvas.paint(shape.bounds(), |_, _, _| random.below(256) as u8);
    canvas
}

#[test]
fn a_scroll_is_found_bit_exact() {
    let mut canvas = noise(SHAPE);
    let mut store = store(0);
    store.watch(SHAPE.bounds()).unwrap();
    begin(&mut store, &canvas);
    for _ in 0..5 {
        let before = canvas.image();
        let source = Rect::new(0, 17, 200, 83);
        canvas.paint(Rect::new(0, 0, 200, 83), |x, y, _| before.view().row(y as u32 + 17)[x]);
        let mut random = Random(store.number());
        canvas.paint(Rect::new(0, 83, 200, 17), |_, _, _| random.below(256) as u8);
        let moves = [Move { source, x: 0, y: 0 }];
        let hints = Hints { moves: &moves, ..Hints::default() };
        store.begin(&canvas.view(), true, &hints, &Executor::inline()).unwrap();
        for y in 0..60 {
            let region = Rect::new(3, y, 70, 20);
            assert_eq!(store.moved_from(region), Some(Rect::new(3, y + 17, 70, 20)));
        }
        assert_eq!(store.moved_from(Rect::new(0, 70, 20, 20)), None, "the new rows did not move");
        let lie = [Move { source: Rect::new(0, 16, 200, 80), x: 0, y: 0 }];
        let hints = Hints { moves: &lie, ..Hints::default() };
        store.begin(&canvas.view(), true, &hints, &Executor::inline()).unwrap();
        assert_eq!(store.moved_from(Rect::new(3, 5, 70, 20)), None, "a wrong move is refused");
    }
}

#[test]
fn slow_drift_changes_a_tolerant_region_once_it_leaves_the_tolerance() {
    let mut canvas = Canvas::new(SHAPE, 0);
    let mut store = store(0);
    let rect = Rect::new(10, 10, 50, 20);
    let (exact, tolerant) = (store.watch(rect).unwrap(), store.watch_tolerant(rect, 3).unwrap());
    begin(&mut store, &canvas);
    for level in 1..=40u8 {
        canvas.paint(rect, |_, _, _| level);
        begin(&mut store, &canvas);
        assert_eq!(store.changes(exact) & 1, 1);
        let changed = level.is_multiple_of(4);
        assert_eq!(store.changes(tolerant) & 1 != 0, changed, "level {level}");
        let anchor = level / 4 * 4;
        assert_eq!(store.anchor(tolerant).unwrap().row(0)[0], anchor);
    }
}

#[test]
fn a_static_frame_is_compared_once_and_not_copied() {
    let canvas = noise(SHAPE);
    let mut store = store(3);
    for x in 0..80 {
        store.watch(Rect::new(x, 0, 100, 100)).unwrap();
    }
    (0..5).for_each(|_| begin(&mut store, &canvas));
    let before = store.counters();
    begin(&mut store, &canvas);
    let after = store.counters();
    assert_eq!(after.copied_bytes, before.copied_bytes);
    assert_eq!(after.compared_bytes - before.compared_bytes, 179 * 100 * 4);
    assert_eq!((after.same_regions, after.changed_regions), (80, 0));
}

#[test]
fn a_change_is_copied_once_and_into_the_slot_that_is_written_next() {
    let mut canvas = noise(SHAPE);
    let mut store = store(0);
    store.watch(SHAPE.bounds()).unwrap();
    (0..8).for_each(|_| begin(&mut store, &canvas));
    canvas.paint(Rect::new(70, 20, 1, 1), |_, _, old| !old);
    let before = store.counters().copied_bytes;
    (0..12).for_each(|_| begin(&mut store, &canvas));
    assert_eq!(store.counters().copied_bytes - before, 2 * 64 * 16 * 4, "a tile twice in 12 frames");
}

#[test]
fn each_order_finds_the_rows_that_it_looks_at_first() {
    // In a tile of 16 rows: the last row is second in ends-in order, the eighth one early in middle-out order.
    for (y, order, most) in
        [(0, Order::TopDown, 1), (15, Order::EndsIn, 2), (8, Order::MiddleOut, 2), (8, Order::BitReversed, 2)]
    {
        let mut canvas = noise(Shape::new(Format::Bgrx8, 64, 16));
        let options = Options { order: Some(order), ..Options::default() };
        let mut store = FrameStore::new(options).unwrap();
        store.watch(canvas.shape.bounds()).unwrap();
        begin(&mut store, &canvas);
        canvas.paint(Rect::new(5, y, 1, 1), |_, _, old| !old);
        begin(&mut store, &canvas);
        let counters = store.counters();
        assert!(counters.found_rows <= most && counters.found_differences == 1, "{order:?}: {}", counters.found_rows);
    }
}

#[test]
fn the_order_follows_where_changes_are() {
    for (y, order) in [(0, Order::TopDown), (15, Order::EndsIn), (4, Order::BitReversed)] {
        let mut canvas = noise(Shape::new(Format::Bgrx8, 64, 16));
        let mut store = store(0);
        store.watch(canvas.shape.bounds()).unwrap();
        begin(&mut store, &canvas);
        for _ in 0..200 {
            canvas.paint(Rect::new(5, y, 1, 1), |_, _, old| !old);
            begin(&mut store, &canvas);
        }
        let frames = store.counters().frames_by_order;
        assert!(frames[order as usize] > 150, "row {y}: {frames:?}");
        assert_eq!(frames.iter().sum::<u64>(), store.counters().compared_frames);
    }
}

#[test]
fn a_region_that_is_watched_late_is_unknown_until_it_has_two_frames() {
    let canvas = noise(SHAPE);
    let mut store = store(5);
    let early = store.watch(Rect::new(0, 0, 80, 80)).unwrap();
    (0..70).for_each(|_| begin(&mut store, &canvas));
    let late = store.watch(Rect::new(40, 40, 80, 50)).unwrap();
    assert_eq!((store.changes(late), store.known_since(late)), (!0, 71));
    begin(&mut store, &canvas);
    assert_eq!((store.changes(early), store.changes(late)), (0, !0), "the neighbour in the same tiles is the same");
    begin(&mut store, &canvas);
    assert_eq!((store.changes(late), store.changed_at(late), store.changed_at(early)), (!1, 71, 1));
}

#[test]
fn invalid_arguments_are_refused() {
    let code = |result: crate::base::Result<()>| result.map_err(|why| why.code());
    assert_eq!(store(0).watch(Rect::new(5, 5, 0, 5)).map_err(|why| why.code()), Err(Code::InvalidArgument));
    let options = Options { history: 64, ..Options::default() };
    assert_eq!(FrameStore::new(options).map(|_| ()).map_err(|why| why.code()), Err(Code::InvalidArgument));
    assert_eq!(code(store(0).restart(Shape::new(Format::Gray8, 0, 5))), Err(Code::InvalidArgument));
}

#[test]
fn frames_of_the_host_are_compared_where_they_are_and_only_as_many_as_it_keeps() {
    let lender = Lender::default();
    let mut store = store(2);
    store.borrow_from(lender.host(2));
    let (inline, hints) = (Executor::inline(), Hints::default());
    let region = store.watch(SHAPE.bounds()).unwrap();
    let mut canvas = noise(SHAPE);
    let (mut frames, mut compared) = (vec![], vec![]);
    for frame in 0..6 {
        let buffer = lender.lend(&canvas.view());
        store.check(&buffer.view(), &hints).unwrap();
        store.begin(&buffer.view(), true, &hints, &inline).unwrap();
        assert_eq!(store.changes(region) & 1 == 1, frame < 3, "frame {frame}");
        assert_eq!(store.frame(0).unwrap().pixels().as_ptr(), buffer.view().pixels().as_ptr(), "it is not copied");
        frames.push(buffer);
        compared.push(store.counters().compared_bytes);
        if frame < 2 {
            canvas.paint(Rect::new(70, 20, 1, 1), |_, _, old| !old);
        }
    }
    let counters = store.counters();
    assert_eq!(counters.compared_bytes - compared[2], 3 * 200 * 100 * 4, "static frames are compared once");
    assert_eq!(counters.copied_bytes, 0);
    assert!(store.memory_used() < 10_000, "{} bytes", store.memory_used());
    // It held as many frames as it may look at, and no more.
    let held: Vec<_> = frames.iter().map(|frame| std::sync::Arc::strong_count(frame) > 1).collect();
    assert_eq!(held, [false, false, false, true, true, true]);
    let why = store.set_history(3).unwrap_err();
    assert!(why.code() == Code::LimitExceeded && why.sentence().contains("keep 2"), "{why}");
    assert!(store.frame(2).is_some() && store.frame(3).is_none());
}

#[test]
fn a_frame_in_memory_that_must_not_change_is_refused() {
    let lender = Lender::default();
    let mut store = store(2);
    store.borrow_from(lender.host(2));
    let (inline, hints) = (Executor::inline(), Hints::default());
    store.watch(Rect::new(0, 0, 50, 50)).unwrap();
    let frames: Vec<_> = (0..3).map(|_| lender.lend(&noise(SHAPE).view())).collect();
    for at in [0, 1, 2, 0, 1] {
        lender.lend_again(&frames[at]);
        store.check(&frames[at].view(), &hints).unwrap();
        store.begin(&frames[at].view(), true, &hints, &inline).unwrap();
    }
    for (at, age) in [(1, 1), (0, 2)] {
        let why = store.check(&frames[at].view(), &hints).unwrap_err();
        assert!(
            why.code() == Code::InvalidArgument && why.sentence().contains(&format!("frame {age} before")),
            "{why}"
        );
    }
    store.check(&frames[2].view(), &hints).unwrap();
    let audit = Hints { trust: crate::perception::frames::Trust::Audit, ..hints };
    assert_eq!(store.check(&frames[2].view(), &audit).map_err(|why| why.code()), Err(Code::InvalidArgument));
    // Another shape forgets the frames.
    let small = Shape::new(SHAPE.format, 100, 100);
    let view = View::new(small, frames[1].view().pixels(), 800, &[], 0).unwrap();
    store.check(&view, &hints).unwrap();
    let next = lender.lend(&noise(small).view());
    store.begin(&next.view(), true, &hints, &inline).unwrap();
    store.check(&frames[1].view(), &hints).unwrap();
    assert!(store.frame(0).is_some() && store.frame(1).is_none());
    assert_eq!(std::sync::Arc::strong_count(&frames[1]), 1);
}

#[test]
fn ids_stay_valid_over_restarts_and_are_used_again_after_the_last_unwatch() {
    let mut store = store(0);
    let rect = Rect::new(100, 50, 60, 30);
    let (first, again) = (store.watch(rect).unwrap(), store.watch(rect).unwrap());
    assert_eq!(first, again);
    begin(&mut store, &noise(SHAPE));
    begin(&mut store, &noise(Shape::new(Format::Bgrx8, 120, 100)));
    assert!(store.is_outside(first) && store.rect(first) == rect);
    begin(&mut store, &noise(SHAPE));
    begin(&mut store, &noise(SHAPE));
    assert_eq!((store.changes(first) & 3, store.is_outside(first), store.number()), (2, false, 4));
    store.unwatch(first);
    assert_eq!(store.rect(first), rect, "another watcher holds it");
    store.unwatch(first);
    assert_eq!(store.watch(Rect::new(0, 0, 5, 5)).unwrap(), first);
}

#[test]
fn sparse_changes_of_all_tiles_are_judged_exactly() {
    let shape = Shape::new(Format::Bgrx8, 400, 100);
    let (mut canvas, mut random, mut store) = (noise(shape), Random(9), store(2));
    let rects: Vec<Rect> = (0..300).map(|_| random.rect(shape, 60, 15)).collect();
    let ids: Vec<_> = rects.iter().map(|&rect| store.watch(rect).unwrap()).collect();
    begin(&mut store, &canvas);
    let mut masked = 0;
    for frame in 0..40 {
        let before = canvas.image();
        // Nearly all tiles change, then few, then all pixels.
        let share = [300, 300, 300, 20_000, 1][frame / 2 % 5];
        canvas.paint(shape.bounds(), |_, _, old| if random.one_in(share) { !old } else { old });
        let now = canvas.image();
        for (age, image) in [(0, &now), (1, &before)].into_iter().take(if frame == 0 { 1 } else { 2 }) {
            if age == 0 {
                masked += u64::from(store.needs_masks);
                begin(&mut store, &canvas);
            }
            let kept = store.frame(age).unwrap();
            for &rect in &rects {
                assert!(crate::perception::pixels::is_same(&kept.crop(rect), &image.view().crop(rect)));
            }
        }
        for (&id, &rect) in ids.iter().zip(&rects) {
            let differs = !crate::perception::pixels::is_same(&now.view().crop(rect), &before.view().crop(rect));
            assert_eq!(store.changes(id) & 1 == 1, differs, "{rect:?} in frame {frame}");
        }
    }
    assert!((4..36).contains(&masked), "{masked} frames found masks while comparing");
}
