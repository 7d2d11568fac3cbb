//! Random frames: every answer equals that of a model that keeps all frames and compares byte by byte.

use super::*;
use crate::perception::frames::lender::Lender;
use crate::perception::frames::{Move, ORDERS, RegionId};
use crate::testing::scaled;

/// A region, and what the model knows of it.
struct Watched {
    id: RegionId,
    rect: Rect,
    tolerance: Option<u8>,
    first_frame: usize,
    history: u64,
    changed_at: u64,
    anchor: Option<Image>,
}

/// A store and its model.
struct Case {
    random: Random,
    store: FrameStore,
    history: usize,
    /// The test keeps the frames.
    lender: Option<Lender>,
    canvas: Canvas,
    /// The frames since the last restart. Frame `number` is the last one.
    frames: Vec<Image>,
    regions: Vec<Watched>,
    executor: Executor,
}

impl Case {
    fn new(seed: u64, threads: usize, lender: Option<Lender>, is_large: bool) -> Self {
        let mut random = Random(seed);
        random.below(1);
        let history = [0, 1, 3, 7, 63][random.below(5) as usize];
        let order = (!random.one_in(2)).then(|| ORDERS[random.below(4) as usize]);
        let mut store = FrameStore::new(Options { history, order, ..Options::default() }).unwrap();
        if let Some(lender) = &lender {
            store.borrow_from(lender.host(history));
        }
        let canvas = canvas(&mut random, is_large);
        let executor = executor(threads);
        let mut case = Self { random, store, history, lender, canvas, frames: vec![], regions: vec![], executor };
        for _ in 0..1 + case.random.below(12) {
            case.watch();
        }
        if is_large {
            case.watch_rect(case.canvas.shape.bounds(), None);
        }
        case
    }

    fn watch(&mut self) {
        let side = [8, 40, 200][self.random.below(3) as usize];
        let rect = self.random.rect(self.canvas.shape, side, side);
        let tolerance = self.random.one_in(4).then(|| self.random.below(6) as u8);
        self.watch_rect(rect, tolerance);
    }

    fn watch_rect(&mut self, rect: Rect, tolerance: Option<u8>) {
        let id = match tolerance {
            None => self.store.watch(rect),
            Some(tolerance) => self.store.watch_tolerant(rect, tolerance),
        };
        let id = id.unwrap();
        if let Some(known) = self.regions.iter().find(|known| known.rect == rect && known.tolerance == tolerance) {
            assert_eq!(known.id, id, "the same rectangle has the same id");
            self.store.unwatch(id);
            return;
        }
        assert!(self.regions.iter().all(|known| known.id != id), "another rectangle has another id");
        let first_frame = self.frames.len();
        let changed_at = self.store.number();
        self.regions.push(Watched { id, rect, tolerance, first_frame, history: !0, changed_at, anchor: None });
    }

    fn step(&mut self) {
        let shape = self.canvas.shape;
        if self.random.one_in(12) && !self.frames.is_empty() {
            self.watch();
        }
        if self.random.one_in(12) && self.regions.len() > 1 {
            let index = self.random.below(self.regions.len() as u32) as usize;
            if self.regions[index].rect != shape.bounds() {
                self.store.unwatch(self.regions.swap_remove(index).id);
            }
        }
        let mut moves = vec![];
        for _ in 0..self.random.below(4) {
            let part = self.random.rect(shape, 80, 30);
            let mask = [255, 3, 1][self.random.below(3) as usize];
            let random = &mut self.random;
            self.canvas.paint(part, |_, _, old| old ^ random.below(256) as u8 & mask);
        }
        if self.random.one_in(3) {
            moves.push(self.scroll());
        }
        if shape.format.has_padding() {
            for index in (3..self.canvas.pixels.len()).step_by(4 * 13) {
                if (index % self.canvas.stride) % 4 == 3 {
                    self.canvas.pixels[index] ^= self.random.below(256) as u8;
                }
            }
        }
        // Hints that are random are lies.
        let dirty: Vec<Rect> = (0..self.random.below(3)).map(|_| self.random.rect(shape, 200, 60)).collect();
        let dirty = self.random.one_in(3).then_some(&dirty[..]);
        let hints = Hints { dirty, moves: &moves, ..Hints::default() };
        let compare = !self.random.one_in(15);
        self.begin(compare, &hints);
        self.check(compare, &hints);
    }

    /// Move a part of the frame.
    fn scroll(&mut self) -> Move {
        let shape = self.canvas.shape;
        let part = self.random.rect(shape, 200, 60);
        let place = self.random.rect(shape, 1, 1);
        let shift = Move {
            source: part,
            x: place.x.min((shape.width - part.width) & !1),
            y: place.y.min((shape.height - part.height) & !1),
        };
        let before = self.canvas.image();
        let (before, size) = (before.view(), shape.format.pixel_size());
        let (dx, dy) = (shift.x as isize - part.x as isize, shift.y as isize - part.y as isize);
        let is_truth = !self.random.one_in(4);
        if is_truth && !shape.format.has_chroma() {
            let source = |x: usize, y: usize| (x as isize - dx * size as isize, (y as isize - dy) as u32);
            self.canvas.paint(shift.target(), |x, y, _| {
                let (x, y) = source(x, y);
                before.row(y)[x as usize]
            });
        }
        shift
    }

    fn begin(&mut self, compare: bool, hints: &Hints<'_>) {
        let view = self.canvas.view();
        let lent = self.lender.as_ref().map(|lender| lender.lend(&view));
        let view = lent.as_ref().map_or(view, |lent| lent.view());
        self.store.check(&view, hints).unwrap();
        self.store.begin(&view, compare, hints, &self.executor).unwrap();
        self.frames.push(self.canvas.image());
    }

    fn check(&mut self, compare: bool, hints: &Hints<'_>) {
        let index = self.frames.len() - 1;
        let frame = self.frames[index].view();
        let last = index.checked_sub(1).filter(|_| compare).map(|last| self.frames[last].view());
        let number = self.store.number();
        let mut changed_count = 0;
        for region in &mut self.regions {
            let Watched { id, rect, .. } = *region;
            let now = frame.crop(rect);
            let before = last.filter(|_| region.first_frame < index).map(|last| last.crop(rect));
            // A tolerance holds in frames that are not compared, too.
            let is_new = region.first_frame >= index;
            let is_changed = match region.tolerance {
                None => before.is_none_or(|before| !is_equal(&now, &before)),
                Some(tolerance) => {
                    let anchor = region.anchor.as_ref();
                    is_new || anchor.is_none_or(|anchor| largest_difference(&now, &anchor.view()) > tolerance)
                }
            };
            let verdict = self.store.changes(id) & 1 != 0;
            let is_hinted = hints.dirty.is_some_and(|rects| rects.iter().any(|hint| hint.overlaps(rect)));
            assert!(verdict == is_changed || (verdict && is_hinted && region.tolerance.is_none()), "{rect:?}");
            changed_count += u64::from(verdict);
            region.history = region.history << 1 | u64::from(verdict);
            if verdict {
                region.changed_at = number;
                let mut copy = Image::new(now.shape()).unwrap();
                crate::perception::pixels::copy(&now, &mut copy.view_mut());
                region.anchor = Some(copy);
            }
            assert_eq!(self.store.changes(id), region.history);
            assert_eq!(self.store.changed_at(id), region.changed_at);
            match region.tolerance {
                None => assert!(self.store.anchor(id).is_none()),
                Some(_) => {
                    assert!(is_equal(&self.store.anchor(id).unwrap(), &region.anchor.as_ref().unwrap().view()));
                }
            }
            for age in 0..=self.history.min(index - region.first_frame) {
                let kept = self.store.frame(age).expect("the frame is kept");
                assert!(is_equal(&kept.crop(rect), &self.frames[index - age].view().crop(rect)), "age {age}");
            }
            let mut pieces = vec![];
            self.store.dirty(rect, |piece| pieces.push(piece));
            assert!(pieces.iter().all(|&piece| !piece.is_empty() && rect.contains(piece)));
            if let Some(before) = before.filter(|before| !is_equal(&now, before)) {
                check_pieces(&pieces, rect, &now, &before);
            }
            if let Some(source) = self.store.moved_from(rect).filter(|_| index > 0) {
                let last = self.frames[index - 1].view();
                assert!(is_equal(&now, &last.crop(source)), "{rect:?} was at {source:?}");
            }
        }
        let counters = self.store.counters();
        assert_eq!(
            (counters.changed_regions, counters.same_regions),
            (changed_count, self.regions.len() as u64 - changed_count)
        );
        assert!(self.lender.is_none() || counters.copied_bytes == 0);
        assert!(self.store.frame(self.history + 1).is_none());
    }
}

/// Each pixel of the region outside the pieces is equal.
fn check_pieces(pieces: &[Rect], rect: Rect, now: &View<'_>, before: &View<'_>) {
    let step = if now.shape().format.has_chroma() { 2 } else { 1 };
    for y in (0..rect.height).step_by(step) {
        for x in (0..rect.width).step_by(step) {
            let pixel = Rect::new(rect.x + x, rect.y + y, 1, 1);
            if !pieces.iter().any(|piece| piece.contains(pixel)) {
                let pixel = Rect::new(x, y, 1, 1);
                assert!(is_equal(&now.crop(pixel), &before.crop(pixel)));
            }
        }
    }
}

fn canvas(random: &mut Random, is_large: bool) -> Canvas {
    let format = FRAME_FORMATS[random.below(9) as usize];
    let shape = if is_large {
        Shape::new(format, 301 + random.below(60), 250 + random.below(9))
    } else {
        Shape::new(format, 1 + random.below(170), 1 + random.below(70))
    };
    let mut canvas = Canvas::new(shape, random.below(3) as usize * 12);
    canvas.paint(shape.bounds(), |_, _, _| random.below(256) as u8);
    canvas
}

fn run(seed: u64, threads: usize, is_lent: bool, is_large: bool, frames: usize) -> (Vec<u64>, FrameStore) {
    let mut case = Case::new(seed, threads, is_lent.then(Lender::default), is_large);
    (0..frames).for_each(|_| case.step());
    // The size changes in the middle of the stream.
    case.canvas = canvas(&mut case.random, is_large);
    case.frames.clear();
    let shape = case.canvas.shape;
    let (fitting, outside): (Vec<_>, Vec<_>) = case.regions.drain(..).partition(|region| shape.has(region.rect));
    case.begin(true, &Hints::default());
    for region in outside {
        assert!(case.store.is_outside(region.id) && case.store.anchor(region.id).is_none());
        assert_eq!((case.store.changes(region.id), case.store.changed_at(region.id)), (!0, case.store.number()));
        case.store.unwatch(region.id);
    }
    for mut region in fitting {
        assert!(!case.store.is_outside(region.id));
        (region.first_frame, region.history, region.anchor) = (0, !0, None);
        case.regions.push(region);
    }
    case.check(true, &Hints::default());
    (0..frames).for_each(|_| case.step());
    (case.regions.iter().map(|region| case.store.changes(region.id)).collect(), case.store)
}

#[test]
fn verdicts_pixels_and_anchors_equal_a_model() {
    for seed in 0..u64::from(scaled(150)) {
        run(seed, 1, false, false, 20);
    }
}

#[test]
fn verdicts_equal_a_model_with_frames_of_the_host() {
    for seed in 0..u64::from(scaled(60)) {
        run(seed, 1, true, false, 20);
    }
    for seed in 0..u64::from(scaled(4)) {
        run(seed, 2, true, true, 6);
    }
}

#[test]
fn sixty_four_frames_of_history_equal_a_model() {
    for seed in 1000..1000 + u64::from(scaled(8)) {
        run(seed, 1, false, false, 90);
    }
}

#[test]
fn one_two_and_four_threads_give_equal_results() {
    for seed in 0..u64::from(scaled(6)) {
        let (one, store) = run(seed, 1, false, true, 6);
        for threads in [2, 4] {
            let (more, parallel) = run(seed, threads, false, true, 6);
            assert_eq!(one, more);
            let counters = parallel.counters();
            assert!(counters.parallel_frames > 0, "the pass is split");
            assert_eq!(
                counters,
                crate::perception::frames::Counters { parallel_frames: counters.parallel_frames, ..store.counters() }
            );
        }
    }
}
