//! The needs of a node for frames of one shape: the parts that it reads, the regions on which it depends, its images.

use super::cognition::{Action, Cognition, Failure, MAX_INPUTS, picture_of};
use super::frames::{FrameStore, RegionId};
use super::image::{Image, Rect, Shape, check_shape};
use super::map::Map;
use super::operators::{Operator, State};
use super::tree::{Node, Source, Tree};
use crate::base::{Error, Result, error, try_push};

/// Most rectangles of a node. More become one that contains them all.
const MAX_RECTS: usize = 8;

/// A rectangle of the frame, and the difference of a channel that is no change in it.
type Wanted = (Rect, u8);

/// A node for frames of one shape.
#[derive(Debug, Default)]
pub struct Place {
    /// For each input: the part, and the pixels that may be read. Empty for inputs without an image.
    pub parts: Vec<(Rect, Rect)>,
    /// The rectangles of the frame on which the node depends, and the tolerances.
    pub wanted: Vec<Wanted>,
    /// The same as regions.
    pub regions: Vec<RegionId>,
    /// For an image that is made pixel by pixel: where its pixels come from, one for each way. Empty for other nodes.
    pub maps: Vec<Map>,
    /// The shape of its image.
    pub shape: Option<Shape>,
    /// It and all that it depends on is pure.
    pub is_pure: bool,
    /// All that it depends on is exact.
    pub is_exact: bool,
    /// Why it cannot be computed.
    pub problem: Option<Failure>,
    /// All of this is known for the present frames.
    pub is_placed: bool,
}

/// Images and states of a node.
#[derive(Debug, Default)]
pub struct Buffers {
    pub image: Option<Image>,
    pub spare: Option<Image>,
    pub state: Option<State>,
}

impl Place {
    /// Find out what a node needs. Its inputs have their places. Parts that do not fit are a [problem](Self::problem).
    pub fn find<'a, C: Cognition>(
        tree: &Tree<C>,
        node: &Node,
        frame: Shape,
        place_of: &dyn Fn(u32) -> Option<&'a Self>,
    ) -> Result<Self> {
        let mut place = Self { is_placed: true, ..Self::default() };
        match place.look(tree, node, frame, place_of) {
            Ok(()) => {}
            Err(why) if why.code() == crate::base::Code::OutOfMemory => return Err(why),
            Err(why) => {
                place.problem = Some(Failure::format(format_args!("{}", why.sentence())));
                place.wanted.clear();
            }
        }
        Ok(place)
    }

    fn look<'a, C: Cognition>(
        &mut self,
        tree: &Tree<C>,
        node: &Node,
        frame: Shape,
        place_of: &dyn Fn(u32) -> Option<&'a Self>,
    ) -> Result<()> {
        let entry = tree.entry(node);
        let traits = &entry.traits;
        self.is_pure = entry.is_pure();
        self.is_exact = node.tolerance == 0;
        self.parts.try_reserve_exact(node.inputs.len())?;
        let mut shapes = [Shape::default(); MAX_INPUTS];
        let (mut images, mut is_mapped) = (0, traits.is_local);
        for input in &node.inputs {
            let source = match input.source {
                Source::Frame => None,
                Source::Node(at) => {
                    let source = place_of(at).ok_or_else(|| error!(NotFound, "an input has no place"))?;
                    if let Some(problem) = source.problem {
                        return Err(Error::new(
                            crate::base::Code::InvalidArgument,
                            format_args!("{}", problem.as_str()),
                        ));
                    }
                    self.is_pure &= source.is_pure;
                    self.is_exact &= source.is_exact;
                    Some(source)
                }
            };
            let Some(shape) = source.map_or(Some(frame), |source| source.shape) else {
                if !input.part.is_empty() {
                    return Err(error!(
                        InvalidArgument,
                        "{}: its input has no image: leave the region empty", entry.name
                    ));
                }
                is_mapped = false;
                self.parts.push((Rect::default(), Rect::default()));
                for &wanted in &source.expect("frames have images").wanted {
                    self.want(wanted)?;
                }
                continue;
            };
            let part = if input.part.is_empty() { shape.bounds() } else { input.part };
            if !shape.has(part) {
                let Rect { x, y, width, height } = part;
                let (name, w, h) = (entry.name.as_str(), shape.width, shape.height);
                let even = if shape.format.has_chroma() { ", at an even place" } else { "" };
                return Err(error!(
                    InvalidArgument,
                    "{name}: the region of {width} x {height} at {x}, {y} must be inside of the image of {w} x {h}{even}"
                ));
            }
            let readable = expand(part, traits.support, shape);
            self.parts.push((part, readable));
            shapes[images] = Shape::new(shape.format, part.width, part.height);
            images += 1;
            is_mapped &= source.is_none_or(|source| !source.maps.is_empty());
            self.depend(tree, node, source, frame, part, readable)?;
        }
        self.shape = match &entry.action {
            // Its part is the crop.
            Action::Operator(Operator::Crop { .. }) if images == 1 => Some(shapes[0]),
            Action::Operator(operator) if images == node.inputs.len() => operator.output(&shapes[..images])?,
            Action::Operator(_) => return Err(error!(InvalidArgument, "{}: its input has no image", entry.name)),
            Action::Host(_) => match traits.picture {
                Some(picture) => {
                    let first = (images > 0).then(|| shapes[0]);
                    let part = first.map_or(Rect::default(), Shape::bounds);
                    let shape = picture_of(picture, first, part, traits.scale).unwrap_or_default();
                    check_shape(shape)?;
                    Some(shape)
                }
                None => None,
            },
        };
        if self.shape.is_none() || !is_mapped {
            self.maps.clear();
        }
        Ok(())
    }

    /// Depend on a part of an input with an image.
    fn depend<C: Cognition>(
        &mut self,
        tree: &Tree<C>,
        node: &Node,
        source: Option<&Self>,
        frame: Shape,
        part: Rect,
        readable: Rect,
    ) -> Result<()> {
        let traits = &tree.entry(node).traits;
        let of_frame = [Map::frame(frame.bounds())];
        let maps = source.map_or(&of_frame[..], |source| &source.maps);
        // Operators see their part alone, and each of their pixels depends on those in reach.
        let support = match &tree.entry(node).action {
            Action::Operator(operator) => operator.reach().map_or(0, |reach| reach.support),
            Action::Host(_) => traits.support,
        };
        let is_exact = source.is_none_or(|source| source.is_exact);
        if maps.is_empty() || !is_exact {
            for &wanted in &source.expect("frames have a map").wanted {
                self.want(wanted)?;
            }
        } else {
            for map in maps {
                self.want((even(map.needed(readable), frame), node.tolerance))?;
            }
        }
        if traits.is_local {
            for map in maps {
                // A child of it may depend on the pixels of both ways.
                try_push(&mut self.maps, map.of_local(part, readable, traits.scale.max(1), support))?;
            }
        }
        Ok(())
    }

    fn want(&mut self, wanted: Wanted) -> Result<()> {
        if wanted.0.is_empty() || self.wanted.contains(&wanted) {
            return Ok(());
        }
        if self.wanted.len() < MAX_RECTS {
            return try_push(&mut self.wanted, wanted);
        }
        let last = self.wanted.last_mut().expect("it is full");
        // Several anchors do not become one: all of it is exact.
        *last = (around(last.0, wanted.0), 0);
        Ok(())
    }

    /// Watch the regions. A failure watches nothing.
    pub fn watch(&mut self, frames: &mut FrameStore) -> Result<()> {
        self.regions.try_reserve_exact(self.wanted.len())?;
        for &(rect, tolerance) in &self.wanted {
            let watched = if tolerance == 0 { frames.watch(rect) } else { frames.watch_tolerant(rect, tolerance) };
            match watched {
                Ok(region) => self.regions.push(region),
                Err(why) => {
                    self.unwatch(frames);
                    return Err(why);
                }
            }
        }
        Ok(())
    }

    /// Watch the regions no longer.
    pub fn unwatch(&mut self, frames: &mut FrameStore) {
        self.regions.drain(..).for_each(|region| frames.unwatch(region));
    }

    /// The images and the state that a node needs.
    pub fn buffers<C: Cognition>(
        &self,
        tree: &Tree<C>,
        node: &Node,
        shape_of: &dyn Fn(Source) -> Option<Shape>,
    ) -> Result<Buffers> {
        if self.problem.is_some() {
            return Ok(Buffers::default());
        }
        let mut buffers = Buffers::default();
        if let Some(shape) = self.shape {
            buffers.image = Some(Image::new(shape)?);
            buffers.spare = Some(Image::new(shape)?);
        }
        if let Action::Operator(operator) = &tree.entry(node).action
            && operator.reach().is_none()
        {
            let mut shapes = [Shape::default(); MAX_INPUTS];
            for (at, (input, (part, _))) in node.inputs.iter().zip(&self.parts).enumerate() {
                let format = shape_of(input.source).unwrap_or_default().format;
                shapes[at] = Shape::new(format, part.width, part.height);
            }
            buffers.state = Some(operator.state(&shapes[..node.inputs.len()])?);
        }
        Ok(buffers)
    }
}

/// A rectangle with `support` pixels more on each side, inside of the shape.
pub(super) fn expand(part: Rect, support: u32, shape: Shape) -> Rect {
    let side = |start: u32, end: u64, most: u32| {
        let first = start.saturating_sub(support);
        (first, (end + u64::from(support)).min(most.into()) as u32 - first)
    };
    let (x, width) = side(part.x, part.right(), shape.width);
    let (y, height) = side(part.y, part.bottom(), shape.height);
    even(Rect::new(x, y, width, height), shape)
}

/// A rectangle that [`Shape::has`] accepts.
fn even(part: Rect, shape: Shape) -> Rect {
    if !shape.format.has_chroma() {
        return part;
    }
    let (x, y) = (part.x & !1, part.y & !1);
    Rect::new(x, y, part.width + (part.x - x), part.height + (part.y - y))
}

/// The rectangle around both.
fn around(one: Rect, other: Rect) -> Rect {
    let (x, y) = (one.x.min(other.x), one.y.min(other.y));
    let (right, bottom) = (one.right().max(other.right()), one.bottom().max(other.bottom()));
    Rect::new(x, y, (right - u64::from(x)) as u32, (bottom - u64::from(y)) as u32)
}
