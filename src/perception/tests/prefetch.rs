//! Prefetch: pipelines that are computed when a frame begins.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::host::Kind;
use super::*;
use crate::perception::{Call, Cognition};

/// A perception that prefetches by profile, with a step that hashes its part of a frame of 16 rows.
fn perception(prefetch: Choice) -> (Perception<Host>, Id, Canvas) {
    let mut perception = Perception::new(Options { graft: Choice::Always, prefetch, ..Options::default() }).unwrap();
    let host = Host { id: 0, kind: Kind::default(), ledger: None };
    let traits = Traits { is_pure: true, ..Traits::default() };
    let cognition = perception.add_cognition("hash", Action::Host(host), traits).unwrap();
    (perception, cognition, Canvas::new(Shape::new(Format::Gray8, 32, 16)))
}

fn row(y: u32) -> Rect {
    Rect::new(0, y, 32, 1)
}

/// Take a frame in which these rows differ from the last one. The runs that were prefetched.
fn change(perception: &mut Perception<Host>, canvas: &mut Canvas, rows: std::ops::Range<u32>, on: &Executor) -> u64 {
    let before = perception.counters().prefetch_runs;
    rows.for_each(|y| canvas.paint(row(y), |_, _, old| old.wrapping_add(1)));
    perception.begin_frame(&canvas.view(), &Hints::default(), on).unwrap();
    perception.counters().prefetch_runs - before
}

#[test]
fn pipelines_that_are_asked_for_in_most_frames_are_prefetched() {
    let (mut perception, hash, mut canvas) = perception(Choice::Measured);
    let pipes: Vec<_> = (0..4).map(|y| add(&mut perception, &[], &[step(hash, row(y))])).collect();
    let inline = Executor::inline();
    let mut prefetched = vec![];
    for frame in 0..60 {
        prefetched.push(change(&mut perception, &mut canvas, 0..4, &inline));
        // The first in all frames, the second in three of four, the third in one of four.
        for (pipe, is_asked) in pipes.iter().zip([true, frame % 4 != 0, frame % 4 == 0, false]) {
            if is_asked {
                value(&mut perception, *pipe);
            }
        }
    }
    assert_eq!(prefetched[..4], [0; 4], "too early to tell");
    assert!(prefetched[40..].iter().all(|&count| count == 2), "{prefetched:?}");
    // Nobody asks any more.
    let last = (0..40).map(|_| change(&mut perception, &mut canvas, 0..4, &inline)).last();
    assert_eq!(last, Some(0));
}

#[test]
fn prefetch_is_skipped_if_at_most_a_third_remains() {
    let (mut perception, hash, mut canvas) = perception(Choice::Always);
    for y in 0..11 {
        add(&mut perception, &[], &[step(hash, row(y))]);
    }
    let inline = Executor::inline();
    assert_eq!(change(&mut perception, &mut canvas, 0..1, &inline), 11);
    // 11 / 3 is 3.
    assert_eq!(change(&mut perception, &mut canvas, 0..3, &inline), 0);
    assert_eq!(change(&mut perception, &mut canvas, 0..0, &inline), 0, "those were not computed, and remain");
    assert_eq!(perception.counters().prefetches_left_out, 2);
    assert_eq!(change(&mut perception, &mut canvas, 3..4, &inline), 4);
    assert_eq!(change(&mut perception, &mut canvas, 0..0, &inline), 0, "all was grafted");
    assert_eq!(perception.counters().prefetches_left_out, 2, "nothing remained");
    // 15 / 3 is 5.
    let many = Executor::new(ExecutorOptions { helpers: Helpers::Pool(14), ..ExecutorOptions::default() }).unwrap();
    assert_eq!(many.max_concurrency(), 15);
    assert_eq!(change(&mut perception, &mut canvas, 0..5, &many), 0);
    assert_eq!(change(&mut perception, &mut canvas, 5..6, &many), 6);
}

#[test]
fn nested_pipelines_are_not_prefetched_by_themselves() {
    let (mut perception, hash, mut canvas) = perception(Choice::Always);
    let nested = add(&mut perception, &[], &[step(hash, row(0))]);
    let outer = add(&mut perception, &[nested], &[step(hash, Rect::default())]);
    let inline = Executor::inline();
    perception.set_prefetch(outer, Prefetch::Never).unwrap();
    assert_eq!(change(&mut perception, &mut canvas, 0..1, &inline), 0);
    value(&mut perception, nested);
    assert_eq!(change(&mut perception, &mut canvas, 0..1, &inline), 1, "the host asked for it");
    perception.set_prefetch(outer, Prefetch::Always).unwrap();
    assert_eq!(change(&mut perception, &mut canvas, 0..1, &inline), 2);
    // By profile: the outer one is asked for alone, and brings the nested one with it.
    let (mut perception, hash, mut canvas) = self::perception(Choice::Measured);
    let nested = add(&mut perception, &[], &[step(hash, row(0))]);
    let outer = add(&mut perception, &[nested], &[step(hash, Rect::default())]);
    for _ in 0..20 {
        change(&mut perception, &mut canvas, 0..1, &inline);
        value(&mut perception, outer);
    }
    let is_prefetched = |id| perception.pipeline_counts(id).unwrap().is_prefetched;
    assert!(is_prefetched(outer) && !is_prefetched(nested));
    assert_eq!(change(&mut perception, &mut canvas, 0..1, &inline), 2);
}

#[test]
fn unchanged_children_are_taken_over_under_a_parent_that_changed() {
    let (mut perception, hash, mut canvas) = perception(Choice::Never);
    let gray = operator(&mut perception, "gray", Operator::Gray);
    let upper = add(&mut perception, &[], &[step(gray, Rect::default()), step(hash, row(0))]);
    let lower = add(&mut perception, &[], &[step(gray, Rect::default()), step(hash, row(9))]);
    let inline = Executor::inline();
    change(&mut perception, &mut canvas, 0..1, &inline);
    let first = (value(&mut perception, upper), value(&mut perception, lower));
    change(&mut perception, &mut canvas, 0..1, &inline);
    let before = perception.counters();
    let second = (value(&mut perception, upper), value(&mut perception, lower));
    assert!(first.0 != second.0 && first.1 == second.1);
    let now = perception.counters();
    assert_eq!((now.runs - before.runs, now.grafts - before.grafts), (2, 1), "the parent, and one child");
}

/// Counts the runs that had no other run beside them, and the others.
struct Company<'a> {
    alone: &'a AtomicUsize,
    together: &'a AtomicUsize,
}

impl Cognition for Company<'_> {
    fn perceive(&self, call: &mut Call<'_>) -> bool {
        (if call.is_alone { self.alone } else { self.together }).fetch_add(1, Relaxed);
        true
    }
}

/// The runs of two frames with 8 steps of some nanoseconds each, alone and together.
fn runs_of_frames(cost_ns: u32, frames: u8) -> (usize, usize) {
    let (alone, together) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let options = Options { graft: Choice::Always, prefetch: Choice::Always, ..Options::default() };
    let mut perception = Perception::new(options).unwrap();
    perception.counts_as_time = true;
    let host = Company { alone: &alone, together: &together };
    let traits = Traits { is_pure: true, cost_ns, ..Traits::default() };
    let cognition = perception.add_cognition("company", Action::Host(host), traits).unwrap();
    for y in 0..8 {
        let steps = [step(cognition, row(y))];
        perception.add_pipeline(&PipelineOptions { steps: &steps, ..PipelineOptions::default() }).unwrap();
    }
    let mut canvas = Canvas::new(Shape::new(Format::Gray8, 32, 16));
    for frame in 0..frames {
        canvas.paint(canvas.shape.bounds(), |_, _, _| frame);
        perception.begin_frame(&canvas.view(), &Hints::default(), &executor(4)).unwrap();
    }
    drop(perception);
    (alone.into_inner(), together.into_inner())
}

#[test]
fn expected_durations_split_the_first_frame_over_threads() {
    // Eight times 1 µs are not worth a thread, eight times 1 ms are.
    assert_eq!(runs_of_frames(1_000, 1), (8, 0));
    assert_eq!(runs_of_frames(1_000_000, 1), (0, 8));
    assert_eq!(runs_of_frames(0, 1), (0, 8), "a step of unknown duration may take long");
    // The measured duration, which is 1 ns here, replaces what was expected.
    assert_eq!(runs_of_frames(1_000_000, 2), (8, 8));
}
