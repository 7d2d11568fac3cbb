//! Cognitions that depend on more than they declare.

use std::sync::Arc;

use super::host::{Kind, Ledger};
use super::*;

/// Results of the audit in a clip.
struct Outcome {
    /// The frame in which a liar was found.
    found: Option<u64>,
    findings: usize,
    audit_runs: u64,
}

/// `count` steps, and `liars` of them read a pixel outside. That pixel changes in every tenth frame. Static pixels otherwise.
/// Each is queried in each frame.
fn clip(count: u32, liars: u32, is_nested: bool, prefetch: Choice) -> Outcome {
    let options = Options { graft: Choice::Always, prefetch, audit_share: 0.02, ..Options::default() };
    let mut perception = Perception::new(options).unwrap();
    let ledger = Arc::new(Ledger::default());
    let traits = Traits { is_pure: true, ..Traits::default() };
    let mut host = |is_liar| {
        let kind = Kind { is_liar, ..Kind::default() };
        let host = Host { id: 0, kind, ledger: Some(ledger.clone()) };
        perception.add_cognition(if is_liar { "liar" } else { "honest" }, Action::Host(host), traits).unwrap()
    };
    let (liar, honest) = (host(true), host(false));
    let gray = operator(&mut perception, "gray", Operator::Gray);
    let mut canvas = Canvas::new(Shape::new(Format::Bgrx8, 600, 20));
    let mut pipes = vec![];
    for at in 0..count {
        let part = Rect::new(at, 0, 1, 20);
        let cognition = if at < liars { liar } else { honest };
        let parameters = &at.to_le_bytes();
        let host = |cognition, part| Step { parameters, ..step(cognition, part) };
        let one = [host(cognition, part)];
        let all = [step(gray, part), host(cognition, Rect::default()), host(honest, Rect::default())];
        pipes.push(add(&mut perception, &[], if is_nested { &all[..] } else { &one[..] }));
    }
    let mut found = None;
    for frame in 1..=400 {
        ledger.runs.lock().unwrap().clear();
        *ledger.now.lock().unwrap() = frame;
        *ledger.lie.lock().unwrap() = frame / 10;
        canvas.paint(Rect::new(599, 0, 1, 1), |_, _, old| old.wrapping_add(1));
        begin(&mut perception, &canvas);
        pipes.iter().for_each(|&pipe| _ = value(&mut perception, pipe));
        if found.is_none() && perception.accused().count() > 0 {
            found = Some(frame);
        }
    }
    assert!(perception.accused().all(|name| name == "liar"));
    if perception.accused().next().is_some() {
        // Its results are right from then on.
        let first = value(&mut perception, pipes[0]);
        *ledger.lie.lock().unwrap() += 1;
        ledger.runs.lock().unwrap().clear();
        *ledger.now.lock().unwrap() += 1;
        begin(&mut perception, &canvas);
        assert_ne!(value(&mut perception, pipes[0]), first);
    }
    Outcome { found, findings: perception.accused().count(), audit_runs: perception.counters().audit_runs }
}

#[test]
fn a_cognition_that_reads_outside_its_region_is_found_within_200_frames() {
    for count in [5, 50, 500] {
        for is_nested in [false, true] {
            for prefetch in [Choice::Always, Choice::Never] {
                let Outcome { found, findings, audit_runs } = clip(count, 1, is_nested, prefetch);
                let all = 400.0 * f64::from(count) * if is_nested { 3.0 } else { 1.0 };
                println!(
                    "{count} nodes, nested {is_nested}: found in frame {found:?}, {:.2} % more runs",
                    audit_runs as f64 / all * 100.0
                );
                assert!(
                    found.is_some_and(|frame| frame <= 200) && findings == 1,
                    "{count} nodes: {found:?}, {findings}"
                );
                assert!(audit_runs as f64 <= 0.02 * all + 1.0, "{audit_runs} of {all}");
            }
        }
    }
}

#[test]
fn honest_cognitions_are_not_accused() {
    for count in [5, 50, 500] {
        for is_nested in [false, true] {
            let outcome = clip(count, 0, is_nested, Choice::Measured);
            assert!(outcome.findings == 0 && outcome.audit_runs > 20, "{} runs", outcome.audit_runs);
        }
    }
}

#[test]
fn a_part_of_an_image_that_changed_elsewhere_does_not_accuse_its_reader() {
    // The image is declared as made pixel by pixel, but all of it depends on one pixel.
    let options = Options { graft: Choice::Always, audit_share: 1.0, ..Options::default() };
    let mut perception = Perception::new(options).unwrap();
    let ledger = Arc::new(Ledger::default());
    let mut host = |kind: Kind, is_local: bool| {
        let host = Host { id: 0, kind, ledger: Some(ledger.clone()) };
        let picture = is_local.then_some(crate::perception::Picture { format: Some(Format::Gray8), size: (0, 0) });
        let traits = Traits { is_pure: true, is_local, scale: 1, picture, ..Traits::default() };
        perception.add_cognition(if is_local { "image" } else { "reader" }, Action::Host(host), traits).unwrap()
    };
    let image = host(Kind { local: Some((1, 0)), is_liar: true, ..Kind::default() }, true);
    let reader = host(Kind::default(), false);
    let whole = add(&mut perception, &[], &[step(image, Rect::default())]);
    let part = add(&mut perception, &[], &[step(image, Rect::default()), step(reader, Rect::new(0, 0, 4, 4))]);
    let mut canvas = Canvas::new(Shape::new(Format::Gray8, 64, 32));
    for frame in 1..50 {
        ledger.runs.lock().unwrap().clear();
        (*ledger.now.lock().unwrap(), *ledger.lie.lock().unwrap()) = (frame, frame);
        // The image changes in all frames but the last ones.
        if frame < 45 {
            canvas.paint(Rect::new(60, 30, 1, 1), |_, _, old| old.wrapping_add(1));
        }
        begin(&mut perception, &canvas);
        value(&mut perception, whole);
        value(&mut perception, part);
        if frame < 45 {
            assert_eq!(perception.accused().next(), None, "frame {frame}");
        }
    }
    assert_eq!(perception.accused().next(), Some("image"));
}
