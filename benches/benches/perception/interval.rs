//! Change-driven evaluation against every 10th frame, at the same work: how old the answers are.

use hobgoblin::executor::Executor;
use hobgoblin::perception::frames::Hints;
use hobgoblin::perception::image::{Format, Rect, Shape, View};
use hobgoblin::perception::{Answer, Choice, Options, Perception, Value};
use hobgoblin_bench::random::Random;
use hobgoblin_bench::timing::quantile;

use crate::report::{at_most, title};
use crate::spin;

const SHAPE: Shape = Shape::new(Format::Gray8, 640, 360);
const PIPELINES: usize = 60;
const FRAMES: usize = 1200;
/// The other way computes all pipelines in one of so many frames.
const INTERVAL: usize = 10;
/// A region changes in one of so many frames.
const CHANGES: usize = 11;

fn region(at: usize) -> Rect {
    Rect::new(at as u32 % 10 * 64, at as u32 / 10 * 60, 48, 40)
}

/// Answers of one way, and how old they are.
#[derive(Default)]
struct Ages {
    /// By pipeline: frames since the answer was last right.
    now: Vec<u64>,
    all: Vec<f64>,
}

impl Ages {
    fn add(&mut self, at: usize, is_right: bool) {
        self.now.resize(PIPELINES, 0);
        self.now[at] = if is_right { 0 } else { self.now[at] + 1 };
        self.all.push(self.now[at] as f64);
    }

    fn print(&self, name: &str, runs: u64) {
        let wrong = self.all.iter().filter(|&&age| age > 0.0).count() as f64 / self.all.len() as f64 * 100.0;
        let mean = self.all.iter().sum::<f64>() / self.all.len() as f64;
        let (most_of, most) = (quantile(&self.all, 0.95), quantile(&self.all, 1.0));
        println!("  {name:<24} {runs:>8} {wrong:>10.1} % {mean:>10.2} {most_of:>10} {most:>10}");
    }
}

/// Print the table.
pub fn print() {
    title(&format!("Change against interval: {PIPELINES} pipelines, {FRAMES} frames, age of answers in frames"));
    let options = Options { graft: Choice::Always, ..Options::default() };
    let mut perception = Perception::new(options).expect("valid options");
    let (id, _) = spin::add(&mut perception, 1);
    let ids: Vec<_> =
        (0..PIPELINES).map(|at| spin::add_pipeline(&mut perception, id, region(at), &[at as u32])).collect();
    let (mut random, mut pixels) = (Random(3), vec![0_u8; SHAPE.row_size() * SHAPE.height as usize]);
    let (mut ours, mut theirs) = (Ages::default(), Ages::default());
    let mut held = vec![Value::default(); PIPELINES];
    let mut runs = 0;
    for frame in 0..FRAMES {
        for at in 0..PIPELINES {
            if random.below(CHANGES) == 0 {
                let Rect { x, y, .. } = region(at);
                let place = (y as usize + random.below(40)) * SHAPE.row_size() + x as usize + random.below(48);
                pixels[place] = pixels[place].wrapping_add(1);
            }
        }
        let view = View::new(SHAPE, &pixels, SHAPE.row_size(), &[], 0).expect("the frame has all pixels");
        perception.begin_frame(&view, &Hints::default(), &Executor::inline()).expect("the frame fits");
        for at in 0..PIPELINES {
            let truth = spin::value(Some(&view.crop(region(at))), &[Value::default()], &(at as u32).to_le_bytes(), 1);
            let answer = perception.query(ids[at], 1).expect("the pipeline exists");
            ours.add(at, matches!(answer, Answer::Value(value, _) if value == truth));
            if frame % INTERVAL == 0 {
                held[at] = truth;
                runs += 1;
            }
            theirs.add(at, held[at] == truth);
        }
    }
    println!("  {:<24} {:>8} {:>12} {:>10} {:>10} {:>10}", "", "runs", "outdated", "mean age", "p95", "worst");
    ours.print("change-driven", perception.counters().runs);
    theirs.print("every 10th frame", runs);
    at_most("change-driven: runs / those of the interval", perception.counters().runs as f64 / runs as f64, 1.0, "×");
    at_most("change-driven: worst age", quantile(&ours.all, 1.0), 0.0, " frames");
}
