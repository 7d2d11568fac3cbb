//! Dirty rectangles that are wrong.

use super::*;
use crate::perception::frames::Trust;

const SHAPE: Shape = Shape::new(Format::Bgrx8, 640, 360);

/// A desktop on which 20 places change in each frame, and the rectangles that its compositor reports.
struct Desktop {
    canvas: Canvas,
    random: Random,
}

impl Desktop {
    fn new() -> Self {
        Self { canvas: Canvas::new(SHAPE, 0), random: Random(11) }
    }

    fn step(&mut self) -> Vec<Rect> {
        let rects: Vec<Rect> = (0..20).map(|_| self.random.rect(SHAPE, 40, 20)).collect();
        for &rect in &rects {
            let random = &mut self.random;
            self.canvas.paint(rect, |_, _, _| random.below(256) as u8);
        }
        rects
    }
}

fn watched_store() -> FrameStore {
    let mut store = store(1);
    for y in 0..9 {
        for x in 0..10 {
            store.watch(Rect::new(x * 64, y * 40, 64, 40)).unwrap();
        }
    }
    store
}

fn begin_audited(store: &mut FrameStore, desktop: &Desktop, dirty: &[Rect]) {
    let hints = Hints { dirty: Some(dirty), trust: Trust::Audit, ..Hints::default() };
    store.begin(&desktop.canvas.view(), true, &hints, &Executor::inline()).unwrap();
}

/// The frames until a compositor is found out.
fn frames_until_found(spoil: impl Fn(&mut Vec<Rect>)) -> usize {
    let (mut desktop, mut store) = (Desktop::new(), watched_store());
    begin_audited(&mut store, &desktop, &[]);
    let found = (1..1000).find(|_| {
        let mut rects = desktop.step();
        spoil(&mut rects);
        begin_audited(&mut store, &desktop, &rects);
        store.counters().is_distrusted
    });
    // From then on all is compared.
    let before = store.counters();
    begin_audited(&mut store, &desktop, &[]);
    desktop.canvas.paint(Rect::new(600, 300, 1, 1), |_, _, old| !old);
    begin_audited(&mut store, &desktop, &[]);
    let after = store.counters();
    assert_eq!(after.compared_tiles - before.compared_tiles, 2 * 10 * 23);
    assert_eq!((after.changed_regions, after.is_distrusted), (1, true));
    assert!(is_equal(&store.frame(0).unwrap(), &desktop.canvas.view()));
    found.expect("the compositor is found out")
}

#[test]
fn audit_finds_a_compositor_that_drops_the_17th_rectangle() {
    let frames = frames_until_found(|rects| {
        rects.remove(16);
    });
    assert!(frames <= 60, "{frames} frames");
}

#[test]
fn audit_finds_a_compositor_that_loses_all_after_the_16th_rectangle() {
    let frames = frames_until_found(|rects| rects.truncate(16));
    assert!(frames <= 60, "{frames} frames");
}

#[test]
fn audit_finds_a_compositor_that_leaves_the_first_rectangle_stale() {
    let frames = frames_until_found(|rects| rects[0] = Rect::new(0, 0, 40, 20));
    assert!(frames <= 60, "{frames} frames");
}

#[test]
fn audit_finds_a_single_lie_although_the_screen_is_static_afterwards() {
    for place in 0..20 {
        let (mut desktop, mut store) = (Desktop::new(), watched_store());
        begin_audited(&mut store, &desktop, &[]);
        // Changes that were reported leave slots of the ring to write.
        for _ in 0..5 {
            let rects = desktop.step();
            begin_audited(&mut store, &desktop, &rects);
        }
        let rects = desktop.step();
        begin_audited(&mut store, &desktop, &rects);
        desktop.canvas.paint(Rect::new(place * 32, place * 18, 1, 1), |_, _, old| !old);
        let found = (0..60).find(|_| {
            begin_audited(&mut store, &desktop, &[]);
            store.counters().is_distrusted
        });
        assert!(found.is_some_and(|frames| frames < 32), "{found:?}");
        assert!(is_equal(&store.frame(0).unwrap(), &desktop.canvas.view()));
    }
}

#[test]
fn audit_believes_an_honest_compositor_and_compares_a_small_part() {
    let (mut desktop, mut store) = (Desktop::new(), watched_store());
    begin_audited(&mut store, &desktop, &[]);
    for _ in 0..64 {
        let rects = desktop.step();
        begin_audited(&mut store, &desktop, &rects);
        assert!(is_equal(&store.frame(0).unwrap(), &desktop.canvas.view()));
    }
    for _ in 0..3 {
        begin_audited(&mut store, &desktop, &[]);
    }
    let before = store.counters().compared_tiles;
    for _ in 0..32 {
        begin_audited(&mut store, &desktop, &[]);
    }
    let counters = store.counters();
    assert!(!counters.is_distrusted && counters.lies == 0);
    // Twice in 32 frames, give or take the parts of periods at both ends.
    let compared = counters.compared_tiles - before;
    assert!((10 * 23..=3 * 10 * 23).contains(&compared), "{compared} tiles");
}
