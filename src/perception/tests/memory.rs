//! Memory: failures are results, and no allocation once warm.

use super::host::Kind;
use super::*;
use crate::base::{Code, Result};
use crate::perception::frames::lender::Lender;
use crate::perception::{Picture, frames};
use crate::testing::allocator::{allocations, with_allowance, with_failure};

const SHAPE: Shape = Shape::new(Format::Bgrx8, 90, 40);

fn new(history: usize, lender: Option<&Lender>) -> Perception<Host> {
    let frames = frames::Options { history, ..frames::Options::default() };
    let options = Options { frames, graft: Choice::Always, audit_share: 0.1, ..Options::default() };
    let mut perception = Perception::new(options).unwrap();
    if let Some(lender) = lender {
        perception.borrow_frames(lender.host(history));
    }
    perception
}

fn add_host(perception: &mut Perception<Host>, local: Option<(u32, u32)>) -> Result<Id> {
    let host = Host { id: 0, kind: Kind { local, ..Kind::default() }, ledger: None };
    let picture = local.map(|_| Picture { format: Some(Format::Gray8), size: (0, 0) });
    let traits = Traits { is_pure: true, is_local: local.is_some(), scale: 1, picture, ..Traits::default() };
    perception.add_cognition("host", Action::Host(host), traits)
}

/// Repeat `call` with one allocation more each time, until it succeeds. All failures are results. Then also with single
/// failures, which `again` makes possible.
fn each_failure<T>(
    perception: &mut Perception<Host>,
    mut call: impl FnMut(&mut Perception<Host>) -> Result<T>,
    mut after_failure: impl FnMut(&mut Perception<Host>),
) -> (T, usize) {
    for count in 0.. {
        let outcome = if count % 2 == 0 {
            with_allowance(count / 2, || call(perception))
        } else {
            with_failure(count / 2, || call(perception))
        };
        match outcome {
            // A single failure may concern memory that is not needed at once.
            Ok(done) => return (done, count / 2),
            Err(why) => assert_eq!(why.code(), Code::OutOfMemory),
        }
        after_failure(perception);
    }
    unreachable!("there is memory in the end")
}

#[test]
fn each_failed_allocation_is_a_result_and_changes_nothing() {
    fail_each_allocation(None);
}

#[test]
fn so_is_each_one_with_frames_that_the_host_keeps() {
    fail_each_allocation(Some(&Lender::default()));
}

fn fail_each_allocation(lender: Option<&Lender>) {
    let mut perception = new(3, lender);
    let inline = Executor::inline();
    let local = each_failure(&mut perception, |perception| add_host(perception, Some((1, 1))), |_| ()).0;
    let hash = each_failure(&mut perception, |perception| add_host(perception, None), |_| ()).0;
    let box_ = operator(&mut perception, "box", Operator::Box { radius: 1 });
    let histogram = operator(&mut perception, "histogram", Operator::Histogram);
    let mean = operator(&mut perception, "mean", Operator::Mean { channel: Channel::Luma });
    let part = Rect::new(8, 8, 30, 20);
    let chains: [&[Step<'_>]; 4] = [
        &[step(local, part), step(box_, Rect::default()), step(hash, Rect::new(2, 2, 9, 9))],
        &[step(box_, Rect::default()), step(histogram, Rect::new(1, 1, 9, 9))],
        &[step(box_, Rect::default()), step(mean, Rect::new(1, 1, 9, 9))],
        &[step(local, part), step(box_, Rect::default())],
    ];
    let mut canvas = Canvas::new(SHAPE);
    let mut pipes = vec![];
    let mut all = 0;
    for round in 0..2 {
        for steps in chains {
            let inputs = if round == 0 { vec![] } else { vec![pipes[3]] };
            if round == 1 && steps[0].part == part {
                continue;
            }
            let options = PipelineOptions { name: "pipeline", inputs: &inputs, steps, ..PipelineOptions::default() };
            let counts = (perception.pipeline_count(), perception.step_count());
            let unchanged = |perception: &mut Perception<Host>| {
                assert_eq!((perception.pipeline_count(), perception.step_count()), counts);
            };
            let (pipe, failures) =
                each_failure(&mut perception, |perception| perception.add_pipeline(&options), unchanged);
            pipes.push(pipe);
            all += failures;
        }
        // The first frame, a frame with new pipelines, and one of another size.
        for is_larger in [false, true] {
            if is_larger {
                canvas = Canvas::new(Shape::new(Format::Bgrx8, SHAPE.width + 3 + round, SHAPE.height));
            }
            canvas.paint(canvas.shape.bounds(), |x, y, _| (x * 3 + y * 7) as u8);
            let number = perception.frames().number();
            let shape = perception.frames().shape();
            let (pipe, is_new) = (pipes[0], round == 0 && !is_larger);
            let unchanged = |perception: &mut Perception<Host>| {
                assert_eq!(perception.frames().number(), number);
                let answer = perception.query(pipe, 1).unwrap();
                assert_eq!(perception.frames().shape(), shape);
                assert!(matches!(answer, Answer::Unknown) == is_new, "{answer:?}");
            };
            let lent = lender.map(|lender| lender.lend(&canvas.view()));
            let view = lent.as_ref().map_or(canvas.view(), |lent| lent.view());
            let begin = |perception: &mut Perception<Host>| perception.begin_frame(&view, &Hints::default(), &inline);
            all += each_failure(&mut perception, begin, unchanged).1;
            for &pipe in &pipes {
                let query = |perception: &mut Perception<Host>| perception.query(pipe, 1);
                let answer = each_failure(&mut perception, query, |_| ()).0;
                assert!(
                    matches!(answer, Answer::Value(..)),
                    "{answer:?} {:?}",
                    perception.failure(pipe).unwrap().as_str()
                );
            }
        }
        for frame in 0..4u8 {
            canvas.paint(canvas.shape.bounds(), |_, _, old| old.wrapping_add(frame));
            let lent = lender.map(|lender| lender.lend(&canvas.view()));
            let view = lent.as_ref().map_or(canvas.view(), |lent| lent.view());
            perception.begin_frame(&view, &Hints::default(), &inline).unwrap();
        }
        // Results of frames in which nothing was asked for.
        for &pipe in &pipes {
            for age in 1..4 {
                let query = |perception: &mut Perception<Host>| perception.query_past(pipe, age);
                let (answer, failures) = each_failure(&mut perception, query, |_| ());
                assert!(matches!(answer, Answer::Value(..)), "{answer:?}");
                all += failures;
            }
            let query = |perception: &mut Perception<Host>| perception.query(pipe, 4);
            each_failure(&mut perception, query, |_| ());
        }
    }
    for pipe in pipes {
        let count = perception.pipeline_count();
        let unchanged = |perception: &mut Perception<Host>| assert_eq!(perception.pipeline_count(), count);
        each_failure(&mut perception, |perception| perception.remove_pipeline(pipe), unchanged);
    }
    assert_eq!(perception.step_count(), 0);
    assert!(all > 100, "{all} allocations failed");
}

#[test]
fn frames_and_queries_allocate_nothing_once_warm() {
    let mut perception = new(4, None);
    let local = add_host(&mut perception, Some((1, 1))).unwrap();
    let hash = add_host(&mut perception, None).unwrap();
    let box_ = operator(&mut perception, "box", Operator::Box { radius: 1 });
    let mean = operator(&mut perception, "mean", Operator::Mean { channel: Channel::Luma });
    let mut pipes = vec![];
    for at in 0..20 {
        let part = Rect::new(at * 3, at, 20, 15);
        pipes.push(add(&mut perception, &[], &[step(local, part), step(hash, Rect::new(1, 1, 9, 9))]));
        pipes.push(add(&mut perception, &[], &[step(box_, part), step(mean, Rect::default())]));
        pipes.push(add(&mut perception, &[pipes[pipes.len() - 1], pipes[0]], &[step(hash, Rect::default())]));
    }
    let mut canvas = Canvas::new(SHAPE);
    let mut random = Random(3);
    for frame in 0..80 {
        let (x, y) = (random.below(80), random.below(30));
        canvas.paint(Rect::new(x, y, 10, 10), |_, _, _| random.below(256) as u8);
        if frame == 40 {
            canvas.paint(SHAPE.bounds(), |_, _, _| random.below(256) as u8);
        }
        let hints = Hints::default();
        let count = allocations(|| {
            perception.begin_frame(&canvas.view(), &hints, &Executor::inline()).unwrap();
            for (at, &pipe) in pipes.iter().enumerate() {
                if frame % 3 != 0 || at % 2 == 0 {
                    perception.query(pipe, 1 + at as u32 % 5).unwrap();
                }
                perception.query_past(pipe, at as u32 % 4).unwrap();
            }
        });
        assert!(frame < 10 || count == 0, "{count} allocations in frame {frame}");
    }
    let counters = perception.counters();
    assert!(counters.past_runs > 0 && counters.prefetch_runs > 0 && counters.grafts > 0, "{counters:?}");
}
