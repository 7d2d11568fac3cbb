//! Every operator against a plain model, on random images.

mod clip;
mod glyphs;
mod incremental;
mod local;
mod measures;
mod parameters;
mod template;

use super::*;
use crate::perception::image::FRAME_FORMATS;

/// Random numbers.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }

    pub fn below(&mut self, end: u32) -> u32 {
        (self.roll() % u64::from(end)) as u32
    }

    pub fn from(&mut self, first: u32, last: u32) -> u32 {
        first + self.below(last - first + 1)
    }

    /// A rectangle in `shape`, that [`Shape::has`].
    pub fn part(&mut self, shape: Shape) -> Rect {
        let (mut x, mut y) = (self.below(shape.width), self.below(shape.height));
        if shape.format.has_chroma() {
            (x, y) = (x / 2 * 2, y / 2 * 2);
        }
        Rect::new(x, y, self.from(1, shape.width - x), self.from(1, shape.height - y))
    }

    /// New values for the pixels in `area`, below `end`.
    pub fn fill(&mut self, image: &mut Image, area: Rect, end: u32) {
        let format = image.shape().format;
        let mut view = image.view_mut();
        let size = format.pixel_size();
        for y in area.y..area.bottom() as u32 {
            let bytes = area.x as usize * size..area.right() as usize * size;
            view.row(y)[bytes].iter_mut().for_each(|byte| *byte = self.below(end) as u8);
            if format.has_chroma() {
                let bytes = area.x as usize / 2 * 2..(area.right() as usize).next_multiple_of(2);
                view.chroma_row(y as usize / 2)[bytes].iter_mut().for_each(|byte| *byte = self.below(end) as u8);
            }
        }
    }

    pub fn image(&mut self, shape: Shape, end: u32) -> Image {
        let mut image = Image::new(shape).unwrap();
        self.fill(&mut image, shape.bounds(), end);
        image
    }
}

pub fn bytes<'a>(view: &View<'a>, x: u32, y: u32) -> &'a [u8] {
    let size = view.shape().format.pixel_size();
    &view.row(y)[x as usize * size..][..size]
}

/// Red, green and blue; or brightness.
pub fn color(view: &View<'_>, x: u32, y: u32) -> Vec<u8> {
    let pixel = bytes(view, x, y);
    match view.shape().format {
        Format::Bgrx8 | Format::Bgra8 | Format::Bgr8 => vec![pixel[2], pixel[1], pixel[0]],
        Format::Rgbx8 | Format::Rgba8 | Format::Rgb8 => pixel[..3].to_vec(),
        Format::Rgb565 => {
            let bits = u32::from(u16::from_ne_bytes([pixel[0], pixel[1]]));
            let [red, green, blue] = [bits >> 11, bits >> 5 & 63, bits & 31];
            vec![(red * 8 + red / 4) as u8, (green * 4 + green / 16) as u8, (blue * 8 + blue / 4) as u8]
        }
        _ => vec![pixel[0]],
    }
}

pub fn value_of(view: &View<'_>, channel: Channel, x: u32, y: u32) -> u8 {
    let color = color(view, x, y);
    match channel {
        Channel::Luma if color.len() == 1 => color[0],
        Channel::Luma => {
            let [red, green, blue] = [0, 1, 2].map(|i| u32::from(color[i]));
            ((77 * red + 150 * green + 29 * blue + 128) / 256) as u8
        }
        Channel::Red => color[0],
        Channel::Green => color[1],
        Channel::Blue => color[2],
    }
}

pub fn compared(view: &View<'_>, compare: Compare, x: u32, y: u32) -> Vec<u8> {
    if compare == Compare::Luma { vec![value_of(view, Channel::Luma, x, y)] } else { color(view, x, y) }
}

/// The output of a local operator, computed as a whole.
pub fn apply_all(operator: &Operator, inputs: &[View<'_>]) -> Image {
    let shapes: Vec<_> = inputs.iter().map(View::shape).collect();
    let mut output = Image::new(operator.output(&shapes).unwrap().unwrap()).unwrap();
    let bounds = output.shape().bounds();
    operator.apply(inputs, &mut output.view_mut(), bounds);
    output
}

pub fn is_same(one: &Image, other: &Image) -> bool {
    let (one, other) = (one.view(), other.view());
    one.shape() == other.shape()
        && (0..one.shape().height).all(|y| one.row(y) == other.row(y))
        && (0..one.shape().chroma_rows()).all(|y| one.chroma_row(y) == other.chroma_row(y))
}

/// A local operator that takes this format.
pub fn any_local(dice: &mut Dice, shape: Shape) -> Operator {
    loop {
        let radius = if dice.below(8) == 0 { dice.from(0, MAX_RADIUS) } else { dice.from(0, 5) };
        let channel = [Channel::Luma, Channel::Red, Channel::Green, Channel::Blue][dice.below(4) as usize];
        let level = dice.roll() as u8;
        let operator = match dice.below(8) {
            0 => Operator::Crop { area: dice.part(shape) },
            1 => Operator::Gray,
            2 => Operator::Threshold { channel, level, invert: dice.below(2) == 0 },
            3 => Operator::Difference { level: (dice.below(2) == 0).then_some(level) },
            4 => Operator::Downscale { factor: dice.from(1, MAX_FACTOR.min(shape.width.min(shape.height))) },
            5 => Operator::Box { radius },
            6 => Operator::Erode { radius },
            _ => Operator::Dilate { radius },
        };
        if operator.output(&[shape, shape][..operator.input_count()]).is_ok() {
            return operator;
        }
    }
}

/// A shape with small, odd, or larger sides.
pub fn any_shape(dice: &mut Dice) -> Shape {
    let format = FRAME_FORMATS[dice.below(9) as usize];
    let side = |dice: &mut Dice| match dice.below(5) {
        0 => dice.from(1, 3),
        1 => dice.from(250, 600),
        _ => dice.from(1, 70),
    };
    Shape::new(format, side(dice), side(dice).min(90))
}
