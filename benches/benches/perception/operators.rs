//! Built-in operators after a change of 5 % of the pixels: operations and time against the whole frame.

use hobgoblin::executor::Executor;
use hobgoblin::perception::frames::Hints;
use hobgoblin::perception::image::{Format, Rect, Shape, View};
use hobgoblin::perception::operators::{Channel, Operator};
use hobgoblin::perception::{
    Action, Answer, Call, Choice, Cognition, Options, Perception, PipelineOptions, Step, Traits,
};
use hobgoblin_bench::random::Random;
use hobgoblin_bench::timing::{median, thread_nanoseconds};

use crate::report::{at_least, title};

const SHAPE: Shape = Shape::new(Format::Bgrx8, 1920, 1080);
const ROW: usize = SHAPE.row_size();

/// No cognition of the host.
struct Unused;

impl Cognition for Unused {
    fn perceive(&self, _: &mut Call<'_>) -> bool {
        false
    }
}

/// Changes pixels in 5 % of the tiles of 64×16.
fn change(pixels: &mut [u8], random: &mut Random) {
    for _ in 0..101 {
        let (x, y) = (random.below(30) * 64, random.below(67) * 16);
        for row in y..y + 16 {
            let line = &mut pixels[row * ROW + x * 4..][..256];
            line.iter_mut().for_each(|byte| *byte = random.bits() as u8);
        }
    }
}

fn print_chain(name: &str, chains: &[&[Operator]], join: Option<Operator>, rounds: usize) {
    let ways = [Choice::Never, Choice::Always].map(|graft| {
        let options = Options { graft, prefetch: Choice::Never, ..Options::default() };
        let mut perception = Perception::<Unused>::new(options).expect("valid options");
        let mut inputs = vec![];
        let add = |perception: &mut Perception<Unused>, operators: &[Operator], inputs: &[_]| {
            let add =
                |operator: &Operator| perception.add_cognition("", Action::Operator(copy(operator)), Traits::default());
            let ids: Vec<_> = operators.iter().map(add).map(|id| id.expect("there is memory")).collect();
            let step = |&cognition| Step { cognition, part: Rect::default(), tolerance: 0, parameters: &[] };
            let steps: Vec<_> = ids.iter().map(step).collect();
            let options = PipelineOptions { steps: &steps, inputs, ..PipelineOptions::default() };
            perception.add_pipeline(&options).expect("there is memory")
        };
        for chain in chains {
            inputs.push(add(&mut perception, chain, &[]));
        }
        let id = match &join {
            Some(operator) => add(&mut perception, std::slice::from_ref(operator), &inputs),
            None => inputs[0],
        };
        (perception, id)
    });
    let mut random = Random(6);
    let mut pixels: Vec<u8> = (0..ROW * 1080).map(|_| random.bits() as u8).collect();
    let mut measured = [(vec![], 0), (vec![], 0)];
    let mut ways = ways;
    for round in 0..rounds + 3 {
        change(&mut pixels, &mut random);
        let view = View::new(SHAPE, &pixels, ROW, &[], 0).expect("the frame has all pixels");
        for ((perception, id), (times, operations)) in ways.iter_mut().zip(&mut measured) {
            let before = perception.counters().operations;
            let frame = thread_nanoseconds(|| {
                perception.begin_frame(&view, &Hints::default(), &Executor::inline()).expect("the frame fits");
                assert!(matches!(perception.query(*id, 1), Ok(Answer::Value(..))));
            });
            if round >= 3 {
                times.push(frame / 1e6);
                *operations += perception.counters().operations - before;
            }
        }
        let image = |at: usize| {
            let mut bytes = Vec::<u8>::new();
            let (perception, id) = &ways[at];
            let has = perception
                .with_image(*id, &mut |view| (0..view.shape().height).for_each(|y| bytes.extend(view.row(y))));
            assert!(has.expect("the pipeline exists"));
            bytes
        };
        assert!(image(0) == image(1), "{name}: the same image");
    }
    let [(full, all), (part, some)] = &measured;
    let (full, part) = (median(full), median(part));
    let name = format!("{name} ({full:.2} → {part:.2} ms, {:.1}×)", full / part);
    at_least(&name, *all as f64 / *some as f64, 8.0, "×");
}

fn copy(operator: &Operator) -> Operator {
    match *operator {
        Operator::Gray => Operator::Gray,
        Operator::Threshold { channel, level, invert } => Operator::Threshold { channel, level, invert },
        Operator::Difference { level } => Operator::Difference { level },
        Operator::Downscale { factor } => Operator::Downscale { factor },
        Operator::Box { radius } => Operator::Box { radius },
        Operator::Erode { radius } => Operator::Erode { radius },
        Operator::Dilate { radius } => Operator::Dilate { radius },
        _ => unreachable!("an operator of the table"),
    }
}

/// Print the table.
pub fn print(rounds: usize) {
    title("Operators, 5 % of the tiles of BGRX 1920×1080 change: operations full / incremental (times of a frame)");
    let threshold = Operator::Threshold { channel: Channel::Luma, level: 99, invert: false };
    print_chain("gray", &[&[Operator::Gray]], None, rounds);
    print_chain("threshold", &[&[threshold]], None, rounds);
    print_chain("downscale by 4", &[&[Operator::Downscale { factor: 4 }]], None, rounds);
    print_chain("box of radius 2", &[&[Operator::Box { radius: 2 }]], None, rounds);
    print_chain("erosion of radius 2", &[&[Operator::Erode { radius: 2 }]], None, rounds);
    print_chain("dilation of radius 2", &[&[Operator::Dilate { radius: 2 }]], None, rounds);
    let (gray, box_filter) = (&[Operator::Gray][..], &[Operator::Gray, Operator::Box { radius: 1 }][..]);
    let join = Some(Operator::Difference { level: None });
    print_chain("difference of gray and its box mean, all three", &[gray, box_filter], join, rounds);
}
