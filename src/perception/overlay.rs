//! Draws what happened in a frame over a picture of it, for debugging: outlines of the watched regions, and counts as text.
//!
//! Colours: green for a region that did not change, red for one that changed, yellow for one that did not change although
//! a region changed that overlaps it. Where outlines cross, red covers yellow, and yellow covers green. Allocates nothing.
//!
//! Source: the colours and the counts are from "High Framerate Perception" (N. Cano).

use std::fmt::{self, Write};

use super::frames::ORDERS;
use super::image::{Format, Rect, ViewMut};
use super::{Cognition, Perception};
use crate::base::{Result, error};

/// Blue, green, red.
type Color = [u8; 3];
const GREEN: Color = [64, 224, 64];
const YELLOW: Color = [32, 224, 240];
const RED: Color = [48, 48, 240];
const WHITE: Color = [240; 3];

/// Pixels of a character, with the gap to the next one.
const CELL: (u32, u32) = (4, 6);
/// Rows of a frame for which a dot of the text has one pixel. It has two from twice as many on.
const ROWS_OF_DOT: u32 = 360;

impl<C: Cognition> Perception<C> {
    /// Draw over a picture of the present frame, in a format of 4 bytes that begins with blue.
    pub fn draw_overlay(&self, target: &mut ViewMut<'_>) -> Result<()> {
        let (frame, shape) = (self.frames.shape(), target.shape());
        if self.frames.number() == 0 {
            return Err(error!(NotFound, "there is no frame to draw over: begin one"));
        }
        if !matches!(shape.format, Format::Bgrx8 | Format::Bgra8) {
            return Err(error!(InvalidArgument, "the target has format {:?}: must be Bgrx8 or Bgra8", shape.format));
        }
        if (shape.width, shape.height) != (frame.width, frame.height) {
            let [(w, h), (wanted_w, wanted_h)] = [shape, frame].map(|shape| (shape.width, shape.height));
            return Err(error!(
                InvalidArgument,
                "the target has {w} x {h} pixels: the frame has {wanted_w} x {wanted_h}"
            ));
        }
        for color in [GREEN, YELLOW, RED] {
            for (rect, is_changed) in self.frames.watched() {
                if color == self.color(rect, is_changed) {
                    outline(target, rect, color);
                }
            }
        }
        let scale = (shape.height / ROWS_OF_DOT).max(1);
        let mut pen = Pen { target, scale, x: 1, y: 1 };
        // The pen does not fail.
        let _ = self.write_counts(&mut pen);
        Ok(())
    }

    fn color(&self, rect: Rect, is_changed: bool) -> Color {
        let is_over_changed = || self.frames.watched().any(|(other, is_changed)| is_changed && other.overlaps(rect));
        if is_changed {
            RED
        } else if is_over_changed() {
            YELLOW
        } else {
            GREEN
        }
    }

    /// Write what the overlay says, line by line.
    fn write_counts(&self, out: &mut dyn Write) -> fmt::Result {
        let (counters, frames) = (&self.counters, self.frames.counters());
        let (same, diff) = (frames.same_regions, frames.changed_regions);
        let computed = counters.runs - counters.past_runs;
        writeln!(out, "same {same}, diff {diff}; graft {}, skip {computed}", counters.grafts)?;
        let [grafted, plain] = self.frame_counts();
        let [grafted_seconds, plain_seconds] = self.frame_seconds();
        for (what, count, seconds) in [("grafted", grafted, grafted_seconds), ("plain", plain, plain_seconds)] {
            if count > 0 {
                let rate = count as f64 / seconds.max(1e-9);
                let share = percent(count, grafted + plain);
                writeln!(out, "{what}: frames {count} {share}%, {rate:.0} fps")?;
            }
        }
        let compared = frames.frames_by_order.iter().sum();
        for (order, count) in ORDERS.into_iter().zip(frames.frames_by_order) {
            if count > 0 {
                write!(out, "{} {}% ", order.name(), percent(count, compared))?;
            }
        }
        if compared > 0 {
            writeln!(out)?;
        }
        let (prefetched, pipelines, steps) = (self.prefetched(), self.pipeline_count(), self.step_count());
        writeln!(out, "prefetched {prefetched} of {pipelines} pipelines, {steps} steps; workers {}", self.workers())?;
        self.each_pipeline(&mut |pipeline, counts| {
            if counts.agreement > 1 {
                let (state, name, variations) = (&pipeline.state, &pipeline.name, counts.variations);
                let s = if variations == 1 { "" } else { "s" };
                writeln!(out, "{state}::{name}: substate has {variations} variation{s}")?;
            }
            Ok(())
        })
    }
}

fn percent(part: u64, all: u64) -> u64 {
    (part * 100 + all / 2).checked_div(all).unwrap_or(0)
}

/// Draw the border of a rectangle inside of it.
fn outline(target: &mut ViewMut<'_>, rect: Rect, color: Color) {
    let Rect { x, y, width, height } = rect;
    let (right, bottom) = (x + width - 1, y + height - 1);
    for row in [Rect::new(x, y, width, 1), Rect::new(x, bottom, width, 1)] {
        fill(target, row, &|pixel| pixel.copy_from_slice(&color));
    }
    for column in [Rect::new(x, y, 1, height), Rect::new(right, y, 1, height)] {
        fill(target, column, &|pixel| pixel.copy_from_slice(&color));
    }
}

/// Change the colours of the pixels of a rectangle, as far as the target has them.
fn fill(target: &mut ViewMut<'_>, rect: Rect, change: &dyn Fn(&mut [u8])) {
    let part = rect.intersection(target.shape().bounds());
    for y in part.y..part.y + part.height {
        let row = &mut target.row(y)[part.x as usize * 4..][..part.width as usize * 4];
        row.chunks_exact_mut(4).for_each(|pixel| change(&mut pixel[..3]));
    }
}

/// Draws text over a darkened background.
struct Pen<'a, 'b> {
    target: &'a mut ViewMut<'b>,
    scale: u32,
    x: u32,
    y: u32,
}

impl Write for Pen<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().for_each(|c| self.draw(c));
        Ok(())
    }
}

impl Pen<'_, '_> {
    fn draw(&mut self, c: char) {
        let scale = self.scale;
        if c == '\n' {
            (self.x, self.y) = (1, self.y + CELL.1 * scale);
            return;
        }
        let cell = Rect::new(self.x, self.y, CELL.0 * scale, CELL.1 * scale);
        fill(self.target, cell, &|pixel| pixel.iter_mut().for_each(|channel| *channel /= 4));
        let dots = FONT[(c as usize).wrapping_sub(32).min(FONT.len() - 1)];
        for dot in (0..15).filter(|dot| dots >> (14 - dot) & 1 == 1) {
            let at = Rect::new(self.x + dot % 3 * scale, self.y + dot / 3 * scale, scale, scale);
            fill(self.target, at, &|pixel| pixel.copy_from_slice(&WHITE));
        }
        self.x += cell.width;
    }
}

/// The characters from the space on, 3 dots wide and 5 high. The octal digits are the rows, from the top. Characters
/// that are missing look like the last one.
#[rustfmt::skip]
const FONT: [u16; 96] = [
    0o00000, 0o22202, 0o55000, 0o57575, 0o36763, 0o51245, 0o25253, 0o22000, // space ! " # $ % & '
    0o12221, 0o42224, 0o05250, 0o02720, 0o00024, 0o00700, 0o00002, 0o11244, // ( ) * + , - . /
    0o75557, 0o26227, 0o71747, 0o71717, 0o55711, 0o74717, 0o74757, 0o71222, // 0 1 2 3 4 5 6 7
    0o75757, 0o75717, 0o02020, 0o02024, 0o12421, 0o07070, 0o42124, 0o71202, // 8 9 : ; < = > ?
    0o75747, 0o25755, 0o65656, 0o34443, 0o65556, 0o74647, 0o74644, 0o34553, // @ A B C D E F G
    0o55755, 0o72227, 0o11152, 0o55655, 0o44447, 0o57755, 0o65555, 0o25552, // H I J K L M N O
    0o65644, 0o25563, 0o65655, 0o34216, 0o72222, 0o55557, 0o55552, 0o55775, // P Q R S T U V W
    0o55255, 0o55222, 0o71247, 0o64446, 0o44211, 0o31113, 0o25000, 0o00007, // X Y Z [ \ ] ^ _
    0o42000, 0o03553, 0o46556, 0o03443, 0o13553, 0o03743, 0o12722, 0o35316, // ` a b c d e f g
    0o46555, 0o20222, 0o10116, 0o45655, 0o62223, 0o07755, 0o06555, 0o02552, // h i j k l m n o
    0o06564, 0o03531, 0o03444, 0o03636, 0o27221, 0o05553, 0o05552, 0o05577, // p q r s t u v w
    0o05225, 0o55316, 0o07367, 0o32423, 0o22222, 0o62326, 0o03600, 0o77777, // x y z { | } ~
];
