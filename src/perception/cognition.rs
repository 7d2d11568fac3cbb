//! Cognitions: operations from perceptions to a perception.

use super::image::{Format, Rect, Shape, View, ViewMut};
use super::operators::Operator;
use crate::base::{Text, Value};

/// Most inputs of a pipeline.
pub const MAX_INPUTS: usize = 8;

/// The message of a cognition that failed.
pub type Failure = Text<160>;

/// The image that a cognition makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Its format. `None`: the one of the first input.
    pub format: Option<Format>,
    /// Its width and height. 0: as of the part of the first input that it reads, divided by its scale.
    pub size: (u32, u32),
}

/// The declaration of a cognition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// Its result depends on its inputs and parameters only. Others are computed in every frame that wants them.
    pub is_pure: bool,
    /// Its result depends on pixels, not on their place: a result may come from another place.
    pub is_invariant: bool,
    /// Pixels around a part that it also reads, where there are some.
    pub support: u32,
    /// Each pixel of its image depends only on the pixels at the same place, and those within its support. Its value
    /// depends on nothing.
    pub is_local: bool,
    /// For a local one: how many pixels of the input, across and down, a pixel of its image stands for.
    pub scale: u32,
    /// The image that it makes.
    pub picture: Option<Picture>,
    /// Its values are handles that the perception releases.
    pub is_owned: bool,
    /// The duration of a run in nanoseconds, until one was measured. 0: not known.
    pub cost_ns: u32,
}

/// The pixels of an input that a cognition may read, and the part in them that it was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The pixels that may be read.
    pub view: View<'a>,
    /// The part in it. The rest is within the support.
    pub part: Rect,
}

impl<'a> Seen<'a> {
    /// The part alone.
    pub fn cropped(&self) -> View<'a> {
        self.view.crop(self.part)
    }
}

/// The argument of a cognition.
pub struct Call<'a> {
    /// The pixels of each input. `None`: the input has no image.
    pub seen: &'a [Option<Seen<'a>>],
    /// The values of the inputs. Those of local inputs, and of the frame, are zero.
    pub values: &'a [Value],
    /// Its parameters in this step.
    pub parameters: &'a [u8],
    /// The frame, from 1 on. It may be a past one.
    pub frame: u64,
    /// Its image, to write.
    pub picture: Option<ViewMut<'a>>,
    /// Its value, to write. On entry: zero.
    pub value: Value,
    /// The message of a failure, to write.
    pub failure: &'a mut Failure,
    /// No other cognition runs now: it may use the executor of the frame.
    pub is_alone: bool,
}

/// The host's part of a cognition.
pub trait Cognition: Send + Sync {
    /// Compute value and image. False: it failed. Several threads may call it at once, for different steps.
    fn perceive(&self, call: &mut Call<'_>) -> bool;

    /// Whether two values mean the same.
    fn is_equal(&self, old: Value, new: Value) -> bool {
        old == new
    }

    /// Release the handle of an owned value.
    fn release(&self, _value: Value) {}
}

/// The operation of a cognition.
pub enum Action<C> {
    /// A function of the host.
    Host(C),
    /// A built-in operation.
    Operator(Operator),
}

impl<C: Cognition> Action<C> {
    /// Whether two values mean the same.
    pub fn is_equal(&self, old: Value, new: Value) -> bool {
        match self {
            Self::Host(host) => host.is_equal(old, new),
            Self::Operator(operator) => operator.is_equal(old, new),
        }
    }

    /// Release the handle of an owned value.
    pub fn release(&self, value: Value) {
        if let Self::Host(host) = self {
            host.release(value);
        }
    }
}

/// The shape of the image that a cognition makes of `part`.
pub fn picture_of(picture: Picture, input: Option<Shape>, part: Rect, scale: u32) -> Option<Shape> {
    let format = picture.format.or(input.map(|shape| shape.format))?;
    let (width, height) = picture.size;
    let side = |wanted: u32, of: u32| if wanted == 0 { of / scale.max(1) } else { wanted };
    Some(Shape::new(format, side(width, part.width), side(height, part.height)))
}
