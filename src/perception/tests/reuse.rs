//! Results that come from another place.

use super::host::Kind;
use super::*;
use crate::perception::frames::Move;

const ROW: u32 = 17;
const ROWS: u32 = 24;

/// A list that scrolls by a row in each frame, up or down. One pipeline for each row, of one step or of two.
fn scroll(is_down: bool, steps: usize, is_host: bool) {
    let mut random = Random(5);
    let shape = Shape::new(Format::Bgrx8, 160, ROW * ROWS);
    let mut perception = Perception::<Host>::new(Options { graft: Choice::Always, ..Options::default() }).unwrap();
    let crop = operator(&mut perception, "gray", Operator::Gray);
    let host = Host { id: 0, kind: Kind::default(), ledger: None };
    let traits = Traits { is_pure: true, is_invariant: true, ..Traits::default() };
    let last = if is_host {
        perception.add_cognition("hash", Action::Host(host), traits).unwrap()
    } else {
        operator(&mut perception, "mean", Operator::Mean { channel: Channel::Luma })
    };
    let mut pipes = vec![];
    for row in 0..ROWS {
        let part = Rect::new(8, row * ROW, 120, ROW);
        let all = [step(crop, part), step(last, Rect::default())];
        let one = [step(last, part)];
        pipes.push(add(&mut perception, &[], if steps == 1 { &one } else { &all }));
    }
    let mut canvas = Canvas::new(shape);
    canvas.paint(shape.bounds(), |_, _, _| random.below(256) as u8);
    const FRAMES: u64 = 50;
    for frame in 0..FRAMES {
        let before = canvas.clone();
        let before = before.view();
        let (from, to) = if is_down { (0, ROW) } else { (ROW, 0) };
        let source = Rect::new(0, from, shape.width, shape.height - ROW);
        canvas.paint(Rect { y: to, ..source }, |x, y, _| before.row((y as u32 + from) - to)[x]);
        let new = Rect { y: if is_down { 0 } else { shape.height - ROW }, height: ROW, ..source };
        canvas.paint(new, |_, _, _| random.below(256) as u8);
        let moves = [Move { source, x: 0, y: to }];
        perception
            .begin_frame(&canvas.view(), &Hints { moves: &moves, ..Hints::default() }, &Executor::inline())
            .unwrap();
        for (row, &pipe) in pipes.iter().enumerate() {
            // The result of a perception without a past.
            let mut fresh = Perception::<Host>::new(Options::default()).unwrap();
            let gray = operator(&mut fresh, "gray", Operator::Gray);
            let host = Host { id: 0, kind: Kind::default(), ledger: None };
            let last = if is_host {
                fresh.add_cognition("hash", Action::Host(host), traits).unwrap()
            } else {
                operator(&mut fresh, "mean", Operator::Mean { channel: Channel::Luma })
            };
            let part = Rect::new(8, row as u32 * ROW, 120, ROW);
            let (all, one) = ([step(gray, part), step(last, Rect::default())], [step(last, part)]);
            let same = add(&mut fresh, &[], if steps == 1 { &one } else { &all });
            if frame % 5 == 0 {
                begin(&mut fresh, &canvas);
                assert_eq!(value(&mut perception, pipe), value(&mut fresh, same), "row {row} of frame {frame}");
            } else {
                value(&mut perception, pipe);
            }
        }
    }
    let all = (FRAMES - 1) * u64::from(ROWS);
    let moved = perception.counters().moved;
    println!("scroll by {ROW} pixels, {steps} steps: {:.1} % taken over", 100.0 * moved as f64 / all as f64);
    assert!(moved * 10 >= all * 9, "{moved} of {all}");
}

#[test]
fn a_list_that_scrolls_takes_over_nine_tenths_of_its_results() {
    for is_down in [false, true] {
        for steps in [1, 2] {
            scroll(is_down, steps, false);
            scroll(is_down, steps, true);
        }
    }
}

#[test]
fn a_step_after_a_moved_result_is_computed_from_its_own_pixels() {
    // The mean of a part that was moved has the sums of other pixels. The next change must not be added to those.
    let mut random = Random(9);
    let mut perception = Perception::<Host>::new(Options { graft: Choice::Always, ..Options::default() }).unwrap();
    let mean = operator(&mut perception, "mean", Operator::Mean { channel: Channel::Luma });
    let parts = [Rect::new(0, 0, 64, 16), Rect::new(0, 16, 64, 16)];
    let pipes = parts.map(|part| add(&mut perception, &[], &[step(mean, part)]));
    let mut canvas = Canvas::new(Shape::new(Format::Gray8, 64, 32));
    let expect = |perception: &mut Perception<Host>, canvas: &Canvas| {
        for (pipe, y) in pipes.into_iter().zip([0, 16]) {
            let sum: u32 = canvas.pixels[y * 64..(y + 16) * 64].iter().map(|&byte| u32::from(byte)).sum();
            assert_eq!(f64::from_bits(value(perception, pipe)[0]), f64::from(sum) / 1024.0);
        }
    };
    canvas.paint(canvas.shape.bounds(), |_, _, _| random.below(256) as u8);
    begin(&mut perception, &canvas);
    expect(&mut perception, &canvas);
    let before = canvas.clone();
    canvas.paint(parts[0], |x, y, _| before.pixels[(y + 16) * 64 + x]);
    let moves = [Move { source: parts[1], x: 0, y: 0 }];
    perception.begin_frame(&canvas.view(), &Hints { moves: &moves, ..Hints::default() }, &Executor::inline()).unwrap();
    expect(&mut perception, &canvas);
    assert_eq!(perception.counters().moved, 1);
    canvas.paint(Rect::new(3, 3, 1, 1), |_, _, old| !old);
    begin(&mut perception, &canvas);
    expect(&mut perception, &canvas);
}

#[test]
fn a_moved_result_of_a_step_that_never_ran_saves_the_expected_duration() {
    let mut perception = Perception::<Host>::new(Options { graft: Choice::Always, ..Options::default() }).unwrap();
    let gray = operator(&mut perception, "gray", Operator::Gray);
    let host = Host { id: 0, kind: Kind::default(), ledger: None };
    let traits = Traits { is_pure: true, is_invariant: true, cost_ns: 1_000_000_000, ..Traits::default() };
    let hash = perception.add_cognition("hash", Action::Host(host), traits).unwrap();
    let parts = [Rect::new(0, 0, 64, 16), Rect::new(0, 16, 64, 16)];
    let [upper, lower] = parts.map(|part| add(&mut perception, &[], &[step(gray, part), step(hash, Rect::default())]));
    let mut canvas = Canvas::new(Shape::new(Format::Bgrx8, 64, 32));
    canvas.paint(parts[1], |x, _, _| x as u8);
    begin(&mut perception, &canvas);
    let wanted = value(&mut perception, lower);
    canvas.paint(parts[0], |x, _, _| x as u8);
    let moves = [Move { source: parts[1], x: 0, y: 0 }];
    perception.begin_frame(&canvas.view(), &Hints { moves: &moves, ..Hints::default() }, &Executor::inline()).unwrap();
    assert_eq!((value(&mut perception, upper), perception.counters().moved), (wanted, 1));
    begin(&mut perception, &canvas);
    assert_eq!(value(&mut perception, upper), wanted);
    assert_eq!(perception.spent.saved_ns, 1_000_000_000, "the upper one has not run, and its input has no cost");
}
