//! The set-up of "High Framerate Perception": 71 pipelines of 121 different steps, 47 of them asked for in each frame.
//!
//! The clips are synthetic. All ways to evaluate see the same frames, one after the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use hobgoblin::base::Id;
use hobgoblin::executor::{Executor, Helpers, Options as ExecutorOptions, Priority};
use hobgoblin::perception::frames::Hints;
use hobgoblin::perception::image::{Format, Rect, Shape, View};
use hobgoblin::perception::{Answer, Choice, Options, Perception, Value};
use hobgoblin_bench::random::Random;
use hobgoblin_bench::timing::{median, microseconds, ratio, thread_nanoseconds};

use crate::report::{at_least, at_most, figure, title};
use crate::spin::{self, Spin};

const SHAPE: Shape = Shape::new(Format::Bgrx8, 1920, 1080);
const ROW: usize = SHAPE.row_size();
const REGIONS: usize = 50;
const PIPELINES: usize = 71;
const ASKED: usize = 47;
/// Steps that a cognition spins: about 40 µs.
const STEPS: u64 = 30_000;
/// Frames before the first timed one: the profile has judged all pipelines.
const WARM_UP: usize = 40;
/// Frames of the mixed clip between two changes of its kind.
const SWITCH: usize = 40;

/// The 50 regions. The second half lies in the lower half of the frame.
fn region(index: usize) -> Rect {
    Rect::new(index as u32 % 5 * 380 + 20, index as u32 / 5 * 105 + 30, 200, 20)
}

/// The changes in a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Clip {
    /// Nothing changes.
    Static,
    /// Two of the 50 regions change in each frame.
    Friendly,
    /// The upper half scrolls by 17 rows a frame, the lower one changes as the friendly clip does.
    Scrolling,
    /// All pixels change.
    Hostile,
    /// Friendly and hostile in turns.
    Mixed,
}

/// Draws frames.
struct Film {
    clip: Clip,
    pixels: Vec<u8>,
    noise: Vec<u8>,
    random: Random,
}

impl Film {
    fn new(clip: Clip) -> Self {
        let mut random = Random(11);
        let noise: Vec<u8> = (0..ROW * 2000 / 8).flat_map(|_| random.bits().to_le_bytes()).collect();
        Self { clip, pixels: noise[..ROW * 1080].to_vec(), noise, random }
    }

    fn draw(&mut self, frame: usize) {
        let is_friendly = match self.clip {
            Clip::Static => return,
            Clip::Mixed => (frame / SWITCH).is_multiple_of(2),
            Clip::Hostile => false,
            Clip::Friendly | Clip::Scrolling => true,
        };
        let rows = match (is_friendly, self.clip) {
            (false, _) => 1080,
            (true, Clip::Scrolling) => 540,
            _ => 0,
        };
        let first = frame * 17 % (2000 - 1080);
        self.pixels[..rows * ROW].copy_from_slice(&self.noise[first * ROW..(first + rows) * ROW]);
        for _ in 0..if is_friendly { 2 } else { 0 } {
            let Rect { x, y, .. } = region(self.random.below(REGIONS));
            let (x, y) = (x as usize + self.random.below(200), y as usize + self.random.below(20));
            self.pixels[y * ROW + x * 4] ^= 1 << self.random.below(8);
        }
    }

    fn view(&self) -> View<'_> {
        View::new(SHAPE, &self.pixels, ROW, &[], 0).expect("the frame has all pixels")
    }
}

/// A way to evaluate.
struct Way {
    name: &'static str,
    perception: Perception<Spin>,
    ids: Vec<Id>,
    steps: Arc<AtomicU64>,
    /// Duration of each frame with its queries.
    times: Vec<f64>,
}

impl Way {
    fn new(name: &'static str, graft: Choice, prefetch: Choice) -> Self {
        let mut perception = Perception::new(Options { graft, prefetch, ..Options::default() }).expect("valid options");
        let (id, steps) = spin::add(&mut perception, STEPS);
        let ids = (0..PIPELINES)
            .map(|at| {
                spin::add_pipeline(&mut perception, id, region(at % REGIONS), &[at as u32 % 50, 1000 + at as u32])
            })
            .collect();
        assert_eq!(perception.step_count(), 121);
        Self { name, perception, ids, steps, times: vec![] }
    }

    /// A frame with its queries.
    fn frame(&mut self, view: &View<'_>, frame: usize, executor: &Executor, answers: &mut Vec<Value>) {
        self.perception.begin_frame(view, &Hints::default(), executor).expect("the frame fits");
        answers.clear();
        for at in asked(frame) {
            match self.perception.query(self.ids[at], 1).expect("the pipeline exists") {
                Answer::Value(value, _) => answers.push(value),
                other => panic!("{}: {other:?}", self.name),
            }
        }
    }

    /// Steps of cognitions, and bytes that were compared.
    fn work(&self) -> f64 {
        (self.steps.load(Ordering::Relaxed) + self.perception.frames().counters().compared_bytes) as f64
    }
}

/// The pipelines that are asked for in a frame: 47 in each, the others in one of eight.
fn asked(frame: usize) -> impl Iterator<Item = usize> {
    (0..PIPELINES).filter(move |&at| at < ASKED || (frame + at).is_multiple_of(8))
}

fn ways() -> Vec<Way> {
    use Choice::{Always, Measured, Never};
    vec![
        Way::new("neither", Never, Never),
        Way::new("prefetch", Never, Measured),
        Way::new("graft", Always, Never),
        Way::new("graft + prefetch", Always, Measured),
        Way::new("measured choice + prefetch", Measured, Measured),
    ]
}

/// The pipelines one by one, without a tree: each computes all its steps.
fn vanilla(view: &View<'_>, frame: usize) -> Vec<Value> {
    let each = |at: usize| {
        let first = spin::value(Some(&view.crop(region(at % REGIONS))), &[], &(at as u32 % 50).to_le_bytes(), STEPS);
        spin::value(None, &[first], &(1000 + at as u32).to_le_bytes(), STEPS)
    };
    asked(frame).map(each).collect()
}

/// Plays a clip. On one thread: processor time in microseconds; otherwise wall-clock time.
fn play(clip: Clip, frames: usize, executor: &Executor) -> (Vec<Way>, Vec<f64>) {
    let (mut ways, mut film, mut plain) = (ways(), Film::new(clip), vec![]);
    let is_alone = executor.max_concurrency() == 1;
    let time = |work: &mut dyn FnMut()| if is_alone { thread_nanoseconds(work) / 1e3 } else { microseconds(work) };
    let mut answers = Vec::with_capacity(PIPELINES);
    for frame in 0..WARM_UP + frames {
        film.draw(frame);
        let view = film.view();
        let mut expected = vec![];
        let duration = time(&mut || expected = vanilla(&view, frame));
        if frame >= WARM_UP {
            plain.push(duration);
        }
        // Another way is the first one in each frame.
        for turn in 0..ways.len() {
            let count = ways.len();
            let way = &mut ways[(turn + frame) % count];
            let duration = time(&mut || way.frame(&view, frame, executor, &mut answers));
            assert!(answers == expected, "{}: wrong values in frame {frame}", way.name);
            if frame >= WARM_UP {
                way.times.push(duration);
            }
        }
    }
    (ways, plain)
}

/// The mean.
fn mean(times: &[f64]) -> f64 {
    times.iter().sum::<f64>() / times.len() as f64
}

fn print_clip(clip: Clip, frames: usize) {
    title(&format!("{clip:?} clip, one thread: processor time of a frame with its queries"));
    let (ways, vanilla) = play(clip, frames, &Executor::inline());
    let [neither, prefetch, graft, both, measured] = ways.as_slice() else { unreachable!("five ways") };
    let fps = |times: &[f64]| 1e6 / mean(times);
    println!("  {:<30} {:>9} {:>9} {:>14} {:>12}", "", "µs", "fps", "steps", "compared B");
    println!("  {:<30} {:>9.1} {:>9.1}", "without a tree", mean(&vanilla), fps(&vanilla));
    for way in &ways {
        let (steps, bytes) = (way.steps.load(Ordering::Relaxed), way.perception.frames().counters().compared_bytes);
        println!("  {:<30} {:>9.1} {:>9.1} {steps:>14} {bytes:>12}", way.name, mean(&way.times), fps(&way.times));
    }
    if clip == Clip::Static {
        let share = (median(&both.times) - median(&graft.times)) / median(&neither.times);
        at_most("prefetch of grafted pipelines / computing them", share, 0.01, "");
        return;
    }
    if clip == Clip::Friendly {
        let gain = mean(&neither.times) / mean(&both.times);
        at_least("neither / graft + prefetch", gain, 5.0, "×");
        figure("without a tree / graft + prefetch (the seed's claim: 5×)", mean(&vanilla) / mean(&both.times), "×");
        figure("neither / graft (the seed: 3.49×)", mean(&neither.times) / mean(&graft.times), "×");
    }
    let least = mean(&graft.times).min(mean(&prefetch.times));
    at_most("graft + prefetch / the better of graft and prefetch", mean(&both.times) / least, 1.02, "×");
    at_most("measured choice + prefetch / the better of them", mean(&measured.times) / least, 1.02, "×");
    at_least("neither / measured choice + prefetch", mean(&neither.times) / mean(&measured.times), 0.97, "×");
    let fixed = both.work().min(prefetch.work());
    at_most("measured choice: work / the better fixed one", measured.work() / fixed, 1.03, "×");
}

/// Prefetch on two threads, beside two threads that only spin.
fn print_threads(frames: usize) {
    title("Hostile clip, two threads: wall-clock time. The machine's own scaling is measured beside it");
    let options = ExecutorOptions { helpers: Helpers::Pool(1), ..ExecutorOptions::default() };
    let two = Executor::new(options).expect("there are threads");
    let (mut ways, mut film) = (ways(), Film::new(Clip::Hostile));
    let (mut answers, mut one, mut both, mut scaling) = (vec![], vec![], vec![], vec![]);
    let work = |_: &_, at: usize| _ = std::hint::black_box(spin::value(None, &[], &[at as u8], STEPS));
    for frame in 0..WARM_UP + frames {
        film.draw(frame);
        let view = film.view();
        let spin_alone = microseconds(|| (0..60).for_each(|at| work(&(), at)));
        let spin_both = microseconds(|| two.parallel_for(60, Priority::High, "spin", &|_, at| work(&(), at)));
        let alone = microseconds(|| ways[0].frame(&view, frame, &two, &mut answers));
        let prefetched = microseconds(|| ways[1].frame(&view, frame, &two, &mut answers));
        if frame >= WARM_UP {
            one.push(alone);
            both.push(prefetched);
            scaling.push(spin_alone / spin_both);
        }
    }
    figure("two threads that spin / one", median(&scaling), "×");
    figure("neither / prefetch", ratio(&one, &both), "×");
    figure("pipelines that were prefetched", ways[1].perception.prefetched() as f64, "");
    at_least("their ratio", ratio(&one, &both) / median(&scaling), 0.85, "×");
}

/// Print all tables.
pub fn print(frames: usize) {
    let start = Instant::now();
    for clip in [Clip::Static, Clip::Friendly, Clip::Scrolling, Clip::Hostile, Clip::Mixed] {
        print_clip(clip, frames);
    }
    print_threads(frames);
    println!("  ({} frames each, {:.0} s)", frames, start.elapsed().as_secs_f64());
}
