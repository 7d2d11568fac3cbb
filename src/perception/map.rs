//! Where the pixels of an image come from: the pixels of a frame on which they depend.

use super::image::Rect;

/// The part of a frame from which an image is made, pixel by pixel.
///
/// Pixel `(x, y)` depends on the columns from `left + scale * x - support` to `left + scale * x + scale - 1 + support`, the
/// rows alike, as far as they are in `extent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Map {
    left: i64,
    top: i64,
    scale: i64,
    support: i64,
    extent: Rect,
}

impl Map {
    /// The map of the frame itself.
    pub fn frame(bounds: Rect) -> Self {
        Self { left: 0, top: 0, scale: 1, support: 0, extent: bounds }
    }

    /// The part of the frame on which any pixel depends.
    pub fn extent(&self) -> Rect {
        self.extent
    }

    /// The part of the frame on which the pixels of `area` depend.
    pub fn needed(&self, area: Rect) -> Rect {
        let side = |origin: i64, start: u32, end: u64| {
            let first = origin + self.scale * i64::from(start) - self.support;
            (first, origin + self.scale * end as i64 + self.support)
        };
        clip(side(self.left, area.x, area.right()), side(self.top, area.y, area.bottom()), self.extent)
    }

    /// The pixels, inside of `bounds`, that depend on pixels of a part of the frame.
    pub fn affected(&self, part: Rect, bounds: Rect) -> Rect {
        let part = part.intersection(self.extent);
        if part.is_empty() {
            return Rect::default();
        }
        let side = |origin: i64, start: u32, end: u64| {
            // The first pixel whose columns end at or after the start, and the last one whose columns begin before the end.
            let first = (i64::from(start) - origin - self.support - self.scale + 1).div_euclid(self.scale)
                + i64::from((i64::from(start) - origin - self.support - self.scale + 1).rem_euclid(self.scale) != 0);
            let last = (end as i64 - 1 - origin + self.support).div_euclid(self.scale);
            (first, last + 1)
        };
        clip(side(self.left, part.x, part.right()), side(self.top, part.y, part.bottom()), bounds)
    }

    /// The map of an image that a local cognition makes of `part`, of an image with this map. It reads `readable`.
    pub fn of_local(&self, part: Rect, readable: Rect, scale: u32, support: u32) -> Self {
        Self {
            left: self.left + self.scale * i64::from(part.x),
            top: self.top + self.scale * i64::from(part.y),
            scale: self.scale * i64::from(scale),
            support: self.support + self.scale * i64::from(support),
            extent: self.needed(readable),
        }
    }
}

fn clip((left, right): (i64, i64), (top, bottom): (i64, i64), bounds: Rect) -> Rect {
    let side = |start: i64, end: i64, least: u32, most: u64| {
        let start = start.max(i64::from(least));
        (start as u32, (end.min(most as i64) - start).max(0) as u32)
    };
    let (x, width) = side(left, right, bounds.x, bounds.right());
    let (y, height) = side(top, bottom, bounds.y, bounds.bottom());
    if width == 0 || height == 0 { Rect::default() } else { Rect::new(x, y, width, height) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Exactly the pixels that read a pixel are affected by it.
        #[test]
        fn affected_is_the_inverse_of_needed(
            part in (0..9u32, 0..9u32, 3..30u32, 3..30u32), scale in 1..4u32, support in 0..3u32,
            inner in (0..3u32, 0..3u32), again in (1..3u32, 0..2u32), pixel in (0..40u32, 0..40u32),
        ) {
            let frame = Map::frame(Rect::new(0, 0, 40, 40));
            let part = Rect::new(part.0, part.1, part.2, part.3).intersection(frame.extent());
            prop_assume!(part.width / scale > 3 && part.height / scale > 3);
            let one = frame.of_local(part, part, scale, support);
            let image = Rect::new(0, 0, part.width / scale, part.height / scale);
            let second = Rect::new(inner.0, inner.1, image.width - inner.0, image.height - inner.1);
            let two = one.of_local(second, second, again.0, again.1);
            let image = Rect::new(0, 0, second.width / again.0, second.height / again.0);
            let pixel = Rect::new(pixel.0, pixel.1, 1, 1);
            let affected = two.affected(pixel, image);
            for y in 0..image.height {
                for x in 0..image.width {
                    let one = Rect::new(x, y, 1, 1);
                    let reads = two.needed(one).overlaps(pixel);
                    prop_assert_eq!(affected.contains(one), reads, "{:?}", one);
                }
            }
        }
    }
}
