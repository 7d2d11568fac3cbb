//! Random trees and frames: every answer equals the model's.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::host::{Kind, Ledger};
use super::model::{PipeSpec, Spec, StepSpec, compute, watched};
use super::*;
use crate::perception::frames::Move;
use crate::perception::frames::lender::Lender;
use crate::perception::image::{FRAME_FORMATS, Image};
use crate::perception::operators::{Align, Compare, Fit, Glyph, Glyphs, Template};
use crate::perception::{Counters, Picture, frames, pixels};
use crate::testing::scaled;

/// The first operator among the cognitions.
const OPERATORS: usize = 14;

/// By rectangle and tolerance: the frames in which the pixels left the tolerance, and their numbers.
type Anchors = HashMap<(Rect, u8), Vec<(u64, Canvas)>>;

/// A pipeline, and what the model knows of it.
struct Pipe {
    id: Id,
    spec: PipeSpec,
    /// The frame after which it was added.
    added: u64,
    is_hot: bool,
    /// Its result in each frame, computed when it is needed.
    results: HashMap<u64, Option<[u64; 2]>>,
    /// Frames in which it was queried.
    evaluated: HashSet<u64>,
}

struct Case {
    random: Random,
    perception: Perception<Host>,
    ledger: Arc<Ledger>,
    specs: Vec<Spec>,
    ids: Vec<Id>,
    pipes: Vec<Pipe>,
    canvas: Canvas,
    /// The frames since the last restart, and the number of the first of them.
    frames: Vec<Canvas>,
    first_frame: u64,
    anchors: Anchors,
    history: u32,
    /// The test keeps the frames.
    lender: Option<Lender>,
    /// All answers.
    answers: Vec<Answer>,
    executor: Executor,
    /// Handles that queries of this frame gave.
    handles: Vec<u64>,
}

fn template(random: &mut Random) -> Template {
    let mut image = Image::new(Shape::new(Format::Gray8, 3, 2)).unwrap();
    (0..2).for_each(|y| image.view_mut().row(y).iter_mut().for_each(|byte| *byte = random.below(3) as u8 * 100));
    Template { image, compare: Compare::Luma, limit: None }
}

/// Two digits, which many parts of a frame resemble.
fn glyphs(random: &mut Random) -> Glyphs {
    let mut glyph = |digit| {
        let mut image = Image::new(Shape::new(Format::Gray8, 2, 3)).unwrap();
        (0..3).for_each(|y| image.view_mut().row(y).iter_mut().for_each(|byte| *byte = random.below(3) as u8 * 80));
        Glyph { digit, image, mask: None }
    };
    let glyphs = vec![glyph(3), glyph(8)];
    let fit = Fit::Difference { limit: 60 };
    Glyphs { glyphs, compare: Compare::Luma, align: Align::Left, spacing: 0, max_digits: 4, fit }
}

/// All cognitions. The model and the perception each get one.
fn specs(random: &mut Random, ledger: Option<&Arc<Ledger>>) -> Vec<Spec> {
    let gray = |size| Some(Picture { format: Some(Format::Gray8), size });
    let support = random.below(3);
    let plain = Kind::default();
    let kinds = [
        (plain, None, support),
        (Kind { local: Some((1, support)), ..plain }, gray((0, 0)), support),
        (Kind { local: Some((2, 1)), ..plain }, gray((0, 0)), 1),
        (plain, gray((8, 4)), 0),
        (Kind { is_volatile: true, ..plain }, None, 0),
        (Kind { fails: true, ..plain }, None, 0),
        (Kind { is_owned: true, ..plain }, None, 0),
        (Kind { is_coarse: true, ..plain }, None, 0),
        (plain, None, 0),
        (Kind { is_owned: true, ..plain }, gray((3, 3)), 0),
        (Kind { local: Some((1, 0)), is_volatile: true, ..plain }, gray((0, 0)), 0),
        (Kind { fails: true, ..plain }, gray((5, 2)), 1),
        (Kind { local: Some((1, 0)), ..plain }, gray((0, 0)), 0),
        (Kind { is_coarse: true, is_volatile: true, ..plain }, None, 0),
    ];
    let hosts = kinds.into_iter().enumerate().map(|(id, (kind, picture, support))| {
        let traits = Traits {
            is_pure: !kind.is_volatile,
            is_invariant: support == 0,
            support,
            is_local: kind.local.is_some(),
            scale: kind.local.map_or(1, |(scale, _)| scale),
            picture,
            is_owned: kind.is_owned,
            cost_ns: [0, 10, 1_000_000][id % 3],
        };
        Spec::Host(Host { id, kind, ledger: ledger.cloned() }, traits)
    });
    let channel = Channel::Luma;
    let operators = [
        Operator::Threshold { channel, level: 100, invert: false },
        Operator::Box { radius: 1 },
        Operator::Erode { radius: 2 },
        Operator::Downscale { factor: 2 },
        Operator::Difference { level: None },
        Operator::Histogram,
        Operator::Mean { channel },
        Operator::Template(template(random)),
        Operator::Gray,
        Operator::Crop { area: Rect::new(0, 0, 1, 1) },
        Operator::CountNonZero { channel },
        Operator::Glyphs(glyphs(random)),
    ];
    hosts.chain(operators.into_iter().map(Spec::Operator)).collect()
}

impl Case {
    fn new(seed: u64, threads: usize, lender: Option<Lender>, may_measure: bool) -> Self {
        let mut random = Random(seed.wrapping_mul(77));
        random.below(1);
        let history = random.below(9);
        let choices = [Choice::Always, Choice::Never, Choice::Measured];
        let most = if may_measure { 3 } else { 2 };
        let options = Options {
            frames: frames::Options { history: history as usize, ..frames::Options::default() },
            graft: if random.one_in(2) { Choice::Always } else { choices[random.below(most) as usize] },
            prefetch: choices[random.below(3) as usize],
            prefetch_divisor: random.below(4),
            audit_share: if random.one_in(3) { 0.1 } else { 0.0 },
            ..Options::default()
        };
        let mut perception = Perception::new(options).unwrap();
        if let Some(lender) = &lender {
            perception.borrow_frames(lender.host(history as usize));
        }
        perception.counts_as_time = random.one_in(2);
        let ledger = Arc::new(Ledger::default());
        let seed = random.0;
        let mut ids = vec![];
        for spec in specs(&mut Random(seed), Some(&ledger)) {
            let (action, traits) = match spec {
                Spec::Host(host, traits) => (Action::Host(host), traits),
                Spec::Operator(operator) => (Action::Operator(operator), Traits::default()),
            };
            ids.push(perception.add_cognition("test", action, traits).unwrap());
        }
        let specs = specs(&mut random, None);
        let canvas = canvas(&mut random);
        let executor = executor(threads);
        let mut case = Self {
            random,
            perception,
            ledger,
            specs,
            ids,
            pipes: vec![],
            canvas,
            frames: vec![],
            first_frame: 1,
            anchors: Anchors::new(),
            history,
            lender,
            answers: vec![],
            executor,
            handles: vec![],
        };
        for _ in 0..2 + case.random.below(8) {
            case.add();
        }
        if case.random.one_in(3) {
            case.add_list();
        }
        case
    }

    /// Pipelines of the same steps for the rows of a list, which may move.
    fn add_list(&mut self) {
        let is_long = self.random.one_in(2);
        for row in 0..self.canvas.shape.height / 4 {
            let step = |cognition, part, parameters| StepSpec { cognition, part, tolerance: 0, parameters };
            let part = Rect::new(0, row * 4, 8, 4);
            let one = step(8, part, vec![1]);
            let two = [step(OPERATORS + 8, part, vec![]), step(OPERATORS + 6, Rect::default(), vec![])];
            let steps = if is_long { two.to_vec() } else { vec![one] };
            self.add_spec(PipeSpec { inputs: vec![], steps }, &[]);
        }
    }

    fn part(&mut self) -> Rect {
        let Shape { format, width, height } = self.canvas.shape;
        let random = &mut self.random;
        match random.below(8) {
            0..2 => Rect::default(),
            2..5 => Rect::new(random.below(width / 8) * 8, random.below(height / 4) * 4, 8, 4),
            5 => Rect::new(random.below(width * 2), random.below(height), 1 + random.below(99), 1 + random.below(9)),
            _ => {
                let mask = if format.has_chroma() { !1 } else { !0 };
                let (x, y) = (random.below(width) & mask, random.below(height) & mask);
                Rect::new(x, y, 1 + random.below(width - x), 1 + random.below(height - y))
            }
        }
    }

    fn add(&mut self) {
        let (mut spec, mut inputs) = (PipeSpec { inputs: vec![], steps: vec![] }, vec![]);
        let count = self.pipes.len() as u32;
        match self.random.below(4) {
            0 if count > 0 => {
                for _ in 0..1 + self.random.below(3) {
                    let pipe = &self.pipes[self.random.below(count) as usize];
                    inputs.push(pipe.id);
                    spec.inputs.push(pipe.spec.clone());
                }
            }
            // A pipeline that begins as another one.
            1 if count > 0 => {
                let pipe = &self.pipes[self.random.below(count) as usize];
                if pipe.spec.inputs.is_empty() {
                    spec = pipe.spec.clone();
                    spec.steps.truncate(1 + self.random.below(3) as usize);
                }
            }
            _ => {}
        }
        for _ in 0..1 + self.random.below(3) {
            let cognition = self.random.below(self.specs.len() as u32) as usize;
            let part = if self.random.one_in(2) { self.part() } else { Rect::default() };
            let is_host = matches!(self.specs[cognition], Spec::Host(..));
            let parameters = if is_host { vec![self.random.below(2) as u8; 1] } else { vec![] };
            let is_first = spec.steps.is_empty() && spec.inputs.is_empty();
            let is_tolerant = is_first && self.random.one_in(4);
            let tolerance = if is_tolerant { [1, 3, 90][self.random.below(3) as usize] } else { 0 };
            spec.steps.push(StepSpec { cognition, part, tolerance, parameters });
        }
        self.add_spec(spec, &inputs);
    }

    fn add_spec(&mut self, spec: PipeSpec, inputs: &[Id]) {
        let steps = spec.steps.iter().map(|step| Step {
            cognition: self.ids[step.cognition],
            part: step.part,
            tolerance: step.tolerance,
            parameters: &step.parameters,
        });
        let steps: Vec<_> = steps.collect();
        let prefetch = [Prefetch::Profile, Prefetch::Profile, Prefetch::Always, Prefetch::Never];
        let prefetch = prefetch[self.random.below(4) as usize];
        let options = PipelineOptions { inputs, steps: &steps, prefetch, ..PipelineOptions::default() };
        // Operators with another number of inputs are refused.
        let Ok(id) = self.perception.add_pipeline(&options) else { return };
        let added = self.perception.frames().number();
        let is_hot = self.random.one_in(2);
        let (results, evaluated) = (HashMap::new(), HashSet::new());
        self.pipes.push(Pipe { id, spec, added, is_hot, results, evaluated });
    }

    /// Change some pixels. The hints that go with it are lies in one case of four.
    fn edit(&mut self) -> Vec<Move> {
        let shape = self.canvas.shape;
        let random = &mut self.random;
        let mut moves = vec![];
        match random.below(7) {
            0..2 => {}
            6 => self.canvas.paint(shape.bounds(), |_, _, old| old ^ random.below(2) as u8),
            2..4 => {
                for _ in 0..1 + random.below(3) {
                    let (x, y) = (random.below(shape.width), random.below(shape.height));
                    let (width, height) =
                        (1 + random.below(4.min(shape.width - x)), 1 + random.below(2.min(shape.height - y)));
                    self.canvas.paint(Rect::new(x, y, width, height), |_, _, _| random.below(3) as u8 * 80);
                }
            }
            4 => {
                let rows = 4 * (1 + random.below(2));
                let height = shape.height.saturating_sub(rows);
                let source = Rect::new(0, rows, shape.width, height);
                moves.push(Move { source, x: 0, y: 0 });
                if !shape.format.has_chroma() && !random.one_in(4) && height > 0 {
                    let before = self.canvas.clone();
                    let before = before.view();
                    self.canvas.paint(Rect::new(0, 0, shape.width, height), |x, y, _| before.row(y as u32 + rows)[x]);
                }
            }
            _ => self.canvas.paint(shape.bounds(), |_, _, _| random.below(3) as u8 * 80),
        }
        if shape.format.has_padding() {
            let at = random.below(shape.width * shape.height) as usize;
            self.canvas.pixels[at * 4 + 3] ^= 5;
        }
        moves
    }

    fn step(&mut self) {
        let now = self.perception.frames().number();
        if self.random.one_in(8) {
            self.add();
        }
        if self.random.one_in(10) && self.pipes.len() > 1 {
            let at = self.random.below(self.pipes.len() as u32) as usize;
            let pipe = self.pipes.swap_remove(at);
            self.perception.remove_pipeline(pipe.id).unwrap();
            self.forget_anchors(&pipe.spec);
        }
        let mut moves = self.edit();
        if self.random.one_in(30) && now > 0 {
            self.canvas = canvas(&mut self.random);
            (self.first_frame, moves) = (now + 1, vec![]);
            self.frames.clear();
            self.anchors.clear();
        }
        let dirty = [self.part(), self.part()];
        let hints = Hints { moves: &moves, dirty: self.random.one_in(4).then_some(&dirty[..]), ..Hints::default() };
        self.ledger.runs.lock().unwrap().clear();
        *self.ledger.now.lock().unwrap() = now + 1;
        let view = self.canvas.view();
        let lent = self.lender.as_ref().map(|lender| lender.lend(&view));
        let view = lent.as_ref().map_or(view, |lent| lent.view());
        self.perception.begin_frame(&view, &hints, &self.executor).unwrap();
        drop(lent);
        self.frames.push(self.canvas.clone());
        self.move_anchors(now + 1);
        for _ in 0..self.pipes.len() {
            let at = self.random.below(self.pipes.len() as u32) as usize;
            self.query(at);
            if self.random.one_in(4) {
                self.query_past(at);
            }
        }
        for at in 0..self.pipes.len() {
            if self.pipes[at].is_hot {
                self.query(at);
            }
        }
        for handle in self.handles.drain(..) {
            self.ledger.read(handle);
        }
    }

    /// Note which tolerant regions changed in a frame.
    fn move_anchors(&mut self, number: u64) {
        let Self { pipes, specs, canvas, anchors, .. } = self;
        for step in pipes.iter().flat_map(|pipe| pipe.spec.tolerant_steps()) {
            let Some(rect) = watched(specs, step, canvas.shape) else { continue };
            let known = anchors.entry((rect, step.tolerance)).or_default();
            let is_within = known.last().is_some_and(|(_, anchor)| {
                pixels::within(&canvas.view().crop(rect), &anchor.view().crop(rect), step.tolerance)
            });
            if !is_within {
                known.push((number, canvas.clone()));
            }
        }
    }

    /// Forget the regions of a removed pipeline that no step watched in the last frame any more.
    fn forget_anchors(&mut self, removed: &PipeSpec) {
        let now = self.perception.frames().number();
        for step in removed.tolerant_steps() {
            let Some(rect) = watched(&self.specs, step, self.canvas.shape) else { continue };
            let key = (rect, step.tolerance);
            let is_watched = self.pipes.iter().any(|pipe| {
                pipe.spec.tolerant_steps().into_iter().any(|other| {
                    let is_placed = pipe.added < now || other == step;
                    is_placed
                        && watched(&self.specs, other, self.canvas.shape).map(|rect| (rect, other.tolerance))
                            == Some(key)
                })
            });
            if !is_watched {
                self.anchors.remove(&key);
            }
        }
    }

    /// The result of the pipeline in a frame.
    fn result(&mut self, at: usize, frame: u64) -> Option<[u64; 2]> {
        let Self { pipes, specs, frames, first_frame, anchors, .. } = self;
        let Pipe { spec, results, .. } = &mut pipes[at];
        let canvas = &frames[(frame - *first_frame) as usize];
        let frame_of = |step: &StepSpec| {
            let rect = watched(specs, step, canvas.shape).filter(|_| step.tolerance > 0);
            let known = rect.and_then(|rect| anchors.get(&(rect, step.tolerance)));
            let anchor = known.and_then(|known| known.iter().rev().find(|(number, _)| *number <= frame));
            anchor.map_or(canvas, |(_, anchor)| anchor)
        };
        *results.entry(frame).or_insert_with(|| {
            let value = compute(specs, spec, &frame_of, frame)?.value;
            Some(if is_glyphs(specs, spec) { [value[0], value[1] & 0xffff_ffff] } else { value })
        })
    }

    /// The meaning of a value of the perception.
    fn meaning(&mut self, at: usize, value: [u64; 2]) -> [u64; 2] {
        match &self.specs[self.pipes[at].spec.steps.last().unwrap().cognition] {
            Spec::Host(host, _) if host.kind.is_owned => {
                self.handles.push(value[0]);
                [self.ledger.read(value[0]), 0]
            }
            Spec::Host(host, _) if host.kind.is_coarse => [value[0], 0],
            Spec::Operator(Operator::Glyphs(_)) => [value[0], value[1] & 0xffff_ffff],
            _ => value,
        }
    }

    /// Whether past frames of the pipeline can be computed.
    fn has_past(&self, at: usize) -> bool {
        let spec = &self.pipes[at].spec;
        !spec.is_volatile(&self.specs) && spec.tolerant_steps().is_empty()
    }

    fn query(&mut self, at: usize) {
        let now = self.perception.frames().number();
        let frames = 1 + self.random.below(self.history + 1);
        let answer = self.perception.query(self.pipes[at].id, frames).unwrap();
        self.answers.push(answer);
        let start = self.first_frame.max(self.pipes[at].added + 1);
        let is_volatile = !self.has_past(at);
        let Some(wanted) = self.result(at, now) else {
            assert_eq!(answer, Answer::Failed, "{:?}", self.pipes[at].spec);
            return;
        };
        let (mut is_certain, mut differs, mut is_short) = (true, false, false);
        for frame in (now + 1).saturating_sub(frames.into())..now {
            let frame = now - 1 - (frame - (now + 1).saturating_sub(frames.into()));
            if frame < self.first_frame {
                is_short = true;
                break;
            }
            is_certain &= frame >= start && (!is_volatile || self.pipes[at].evaluated.contains(&frame)) || differs;
            differs |= self.result(at, frame) != Some(wanted);
        }
        is_short |= u64::from(frames) > now;
        let text = format!("{answer:?} in frame {now} for {frames} frames, {:?}", self.pipes[at].spec);
        match answer {
            Answer::Value(value, first) => {
                assert_eq!(self.meaning(at, value.0), wanted, "{text}");
                assert!(!differs && !is_short && first <= now + 1 - u64::from(frames.max(1)), "{text}");
                assert!(first >= self.first_frame, "{text}");
                for frame in first..now {
                    assert_eq!(self.result(at, frame), Some(wanted), "frame {frame}: {text}");
                }
                // All known results belong to the run.
                let is_kept = first > self.first_frame && first + u64::from(self.history) > now;
                if is_kept && self.pipes[at].evaluated.contains(&(first - 1)) {
                    assert_ne!(self.result(at, first - 1), Some(wanted), "{text}");
                }
            }
            Answer::Differs => assert!(differs, "{text}"),
            Answer::Unknown => assert!(is_short || !is_certain, "{text}"),
            Answer::Failed => panic!("it fails: {text}"),
        }
        if is_certain && differs {
            assert_eq!(answer, Answer::Differs, "{text}");
        }
        self.pipes[at].evaluated.insert(now);
    }

    fn query_past(&mut self, at: usize) {
        let now = self.perception.frames().number();
        let age = self.random.below(self.history + 1);
        let answer = self.perception.query_past(self.pipes[at].id, age).unwrap();
        self.answers.push(answer);
        let start = self.first_frame.max(self.pipes[at].added + 1);
        let is_known = now >= start + u64::from(age) && (age == 0 || self.has_past(at));
        if now < self.first_frame + u64::from(age) {
            assert_eq!(answer, Answer::Unknown);
            return;
        }
        let frame = now - u64::from(age);
        let wanted = self.result(at, frame);
        let text = format!("{answer:?} in frame {frame} of {now}, {:?}", self.pipes[at].spec);
        match answer {
            Answer::Value(value, first) => {
                assert_eq!(Some(self.meaning(at, value.0)), wanted, "{text}");
                for frame in first..=frame {
                    assert_eq!(self.result(at, frame), wanted, "frame {frame}: {text}");
                }
            }
            Answer::Failed => assert_eq!(wanted, None, "{text}"),
            Answer::Unknown => {
                assert!(!is_known, "{text}");
            }
            Answer::Differs => panic!("{text}"),
        }
    }
}

/// Whether the value is a number and its fit, which is not part of it.
fn is_glyphs(specs: &[Spec], spec: &PipeSpec) -> bool {
    let last = &specs[spec.steps.last().unwrap().cognition];
    matches!(last, Spec::Operator(Operator::Glyphs(_)))
}

fn canvas(random: &mut Random) -> Canvas {
    let format = FRAME_FORMATS[random.below(9) as usize];
    let mut canvas = Canvas::new(Shape::new(format, 8 + random.below(150), 6 + random.below(60)));
    let bounds = canvas.shape.bounds();
    canvas.paint(bounds, |_, _, _| random.below(3) as u8 * 80);
    canvas
}

fn run(seed: u64, threads: usize, frames: usize) -> Counters {
    play(Case::new(seed, threads, seed.is_multiple_of(3).then(Lender::default), true), frames).0
}

/// The counters at the end, and all answers.
fn play(mut case: Case, frames: usize) -> (Counters, Vec<Answer>) {
    (0..frames).for_each(|_| case.step());
    assert_eq!(case.perception.accused().next(), None, "an honest cognition is accused");
    let counters = case.perception.counters();
    let copied = case.perception.frames().counters().copied_bytes;
    let Case { perception, ledger, lender, answers, .. } = case;
    assert!(lender.is_none() || copied == 0, "a frame is copied although the host keeps it");
    drop(perception);
    assert!(ledger.held.lock().unwrap().is_empty(), "a handle is not released");
    (counters, answers)
}

fn run_all(seeds: std::ops::Range<u64>, threads: usize, frames: usize) -> Counters {
    let mut all = Counters::default();
    for seed in seeds {
        let counters = std::panic::catch_unwind(|| run(seed, threads, frames));
        let counters = counters.unwrap_or_else(|why| {
            println!("seed {seed}, {threads} threads");
            std::panic::resume_unwind(why)
        });
        all.runs += counters.runs;
        all.past_runs += counters.past_runs;
        all.prefetch_runs += counters.prefetch_runs;
        all.grafts += counters.grafts;
        all.cut_offs += counters.cut_offs;
        all.moved += counters.moved;
        all.audit_runs += counters.audit_runs;
        all.prefetches_left_out += counters.prefetches_left_out;
    }
    all
}

#[test]
fn every_answer_equals_that_of_a_model_that_computes_all_from_scratch() {
    let counters = run_all(0..u64::from(scaled(120)), 1, 40);
    println!("{counters:?}");
    let Counters { past_runs, prefetch_runs, grafts, cut_offs, moved, audit_runs, prefetches_left_out, .. } = counters;
    for count in [past_runs, prefetch_runs, grafts, cut_offs, moved, audit_runs, prefetches_left_out] {
        assert!(count > 0, "{counters:?}");
    }
}

#[test]
fn frames_that_the_host_keeps_give_the_same_answers_as_copies_of_them() {
    let mut past_runs = 0;
    for seed in 3000..3000 + u64::from(scaled(40)) {
        let (copied, answers) = play(Case::new(seed, 1, None, false), 40);
        let (lent, others) = play(Case::new(seed, 1, Some(Lender::default()), false), 40);
        assert!(answers == others, "seed {seed}");
        let work = |all: &Counters| (all.runs, all.past_runs, all.prefetch_runs, all.grafts, all.cut_offs, all.moved);
        assert_eq!(work(&copied), work(&lent), "seed {seed}");
        past_runs += lent.past_runs;
    }
    assert!(past_runs > 0);
}

#[test]
fn answers_on_two_and_four_threads_equal_the_model() {
    run_all(1000..1000 + u64::from(scaled(20)), 2, 25);
    run_all(2000..2000 + u64::from(scaled(20)), 4, 25);
}
