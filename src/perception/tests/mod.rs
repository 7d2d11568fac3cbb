//! Perceptions against a brute-force model, and what they promise.

mod audit;
mod case;
mod host;
mod memory;
mod model;
mod prefetch;
mod reuse;
mod strategy;

use super::frames::Hints;
use super::image::{Format, Rect, Shape, View};
use super::operators::{Channel, Operator};
use super::{Action, Answer, Choice, Options, Perception, PipelineOptions, Prefetch, Step, Traits};
use crate::base::Id;
use crate::executor::{Executor, Helpers, Options as ExecutorOptions};
use host::Host;

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(end)) as u32
    }

    fn one_in(&mut self, count: u32) -> bool {
        self.below(count) == 0
    }
}

fn executor(threads: usize) -> Executor {
    let helpers = if threads == 1 { Helpers::None } else { Helpers::Pool(threads - 1) };
    Executor::new(ExecutorOptions { helpers, ..ExecutorOptions::default() }).unwrap()
}

/// A frame to paint on.
#[derive(Clone)]
struct Canvas {
    shape: Shape,
    pixels: Vec<u8>,
    chroma: Vec<u8>,
}

impl Canvas {
    fn new(shape: Shape) -> Self {
        let pixels = vec![0; shape.row_size() * shape.height as usize];
        Self { shape, pixels, chroma: vec![0; shape.chroma_row_size() * shape.chroma_rows()] }
    }

    fn view(&self) -> View<'_> {
        View::new(self.shape, &self.pixels, self.shape.row_size(), &self.chroma, self.shape.chroma_row_size()).unwrap()
    }

    /// Overwrite each byte of a part, by `byte(x in bytes, y, old)`.
    fn paint(&mut self, part: Rect, mut byte: impl FnMut(usize, usize, u8) -> u8) {
        let size = self.shape.format.pixel_size();
        for y in part.y as usize..part.bottom() as usize {
            for x in part.x as usize * size..part.right() as usize * size {
                let old = &mut self.pixels[y * self.shape.row_size() + x];
                *old = byte(x, y, *old);
            }
        }
        if self.shape.format.has_chroma() {
            for y in part.y as usize / 2..(part.bottom() as usize).div_ceil(2) {
                for x in part.x as usize / 2 * 2..(part.right() as usize).next_multiple_of(2) {
                    let old = &mut self.chroma[y * self.shape.chroma_row_size() + x];
                    *old = byte(x, y, *old);
                }
            }
        }
    }
}

/// A step without parameters.
fn step(cognition: Id, part: Rect) -> Step<'static> {
    Step { cognition, part, tolerance: 0, parameters: &[] }
}

fn add(perception: &mut Perception<Host>, inputs: &[Id], steps: &[Step<'_>]) -> Id {
    perception.add_pipeline(&PipelineOptions { inputs, steps, ..PipelineOptions::default() }).unwrap()
}

fn operator(perception: &mut Perception<Host>, name: &str, operator: Operator) -> Id {
    perception.add_cognition(name, Action::Operator(operator), Traits::default()).unwrap()
}

fn begin(perception: &mut Perception<Host>, canvas: &Canvas) {
    perception.begin_frame(&canvas.view(), &Hints::default(), &Executor::inline()).unwrap();
}

/// The value of a pipeline that must have one.
fn value(perception: &mut Perception<Host>, pipeline: Id) -> [u64; 2] {
    match perception.query(pipeline, 1).unwrap() {
        Answer::Value(value, _) => value.0,
        other => panic!("{other:?}"),
    }
}
