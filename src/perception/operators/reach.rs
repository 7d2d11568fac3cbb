//! Which output pixels of a local operator depend on which input pixels.

use crate::perception::image::{Rect, Shape};

/// Output pixel `o` depends on input pixels from `start + o * scale - support` to
/// `start + o * scale + scale - 1 + support`, in both directions. In NV12, a pixel includes its colour differences: mark
/// all pixels that share a changed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The column of the input where the output starts.
    pub x: u32,
    /// The row of the input where the output starts.
    pub y: u32,
    /// Input pixels for each output pixel.
    pub scale: u32,
    /// Input pixels beyond them on each side.
    pub support: u32,
}

impl Reach {
    /// The output pixels that depend on a pixel in `dirty`. May be empty.
    pub fn affected(&self, dirty: Rect, output: Shape) -> Rect {
        if dirty.is_empty() {
            return Rect::default();
        }
        let (scale, support) = (i64::from(self.scale), i64::from(self.support));
        let side = |first: u32, end: u64, start: u32| {
            let first = (i64::from(first) - i64::from(start) - support).div_euclid(scale);
            let last = (end as i64 - 1 - i64::from(start) + support).div_euclid(scale);
            (first.max(0), (last + 1).max(0))
        };
        let (left, right) = side(dirty.x, dirty.right(), self.x);
        let (top, bottom) = side(dirty.y, dirty.bottom(), self.y);
        between(left, top, right, bottom, output)
    }

    /// The input pixels that the output in `area` depends on.
    pub fn needed(&self, area: Rect, input: Shape) -> Rect {
        if area.is_empty() {
            return Rect::default();
        }
        let (scale, support) = (i64::from(self.scale), i64::from(self.support));
        let side = |first: u32, end: u64, start: u32| {
            let start = i64::from(start);
            let first = start + i64::from(first) * scale - support;
            (first.max(0), start + end as i64 * scale + support)
        };
        let (left, right) = side(area.x, area.right(), self.x);
        let (top, bottom) = side(area.y, area.bottom(), self.y);
        between(left, top, right, bottom, input)
    }
}

/// The pixels of `shape` from `left`, `top` up to before `right`, `bottom`.
fn between(left: i64, top: i64, right: i64, bottom: i64, shape: Shape) -> Rect {
    let (right, bottom) = (right.min(shape.width.into()), bottom.min(shape.height.into()));
    if left >= right || top >= bottom {
        return Rect::default();
    }
    Rect::new(left as u32, top as u32, (right - left) as u32, (bottom - top) as u32)
}
