//! The watched regions, and in which frames they changed.

use crate::base::{Result, try_push};
use crate::perception::image::{Image, Rect, Shape};

/// The id of a watched region: an index into flat tables. Ids of regions that are no longer watched are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RegionId(pub(super) u32);

impl RegionId {
    /// The index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The id with an index.
    pub(in crate::perception) const fn at(index: u32) -> Self {
        Self(index)
    }
}

/// Where a region is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Nobody watches it.
    Unused,
    /// It is not inside the frame.
    Outside,
    Inside,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    pub(super) rect: Rect,
    /// `None`: exact.
    pub(super) tolerance: Option<u8>,
    pub(super) place: Place,
    /// How often it is watched.
    watchers: u32,
    /// The first frame whose pixels are known.
    pub(super) known_since: u64,
}

impl Region {
    fn key(&self) -> (Rect, Option<u8>) {
        (self.rect, self.tolerance)
    }
}

/// All regions, in flat tables.
#[derive(Debug, Default)]
pub(super) struct Regions {
    pub(super) list: Vec<Region>,
    /// By region: bit k is set if it differs between the frame k before the current one and the frame before that.
    pub(super) history: Vec<u64>,
    /// By region: the last frame at which it changed.
    pub(super) changed_at: Vec<u64>,
    /// By region: the pixels at the last change. Only of tolerant regions.
    pub(super) anchors: Vec<Option<Image>>,
    /// Ids of regions in use, by rectangle and tolerance.
    by_key: Vec<u32>,
    unused: Vec<u32>,
    pub(super) inside: u64,
    pub(super) outside: u64,
}

impl Regions {
    /// The region with a rectangle and a tolerance, if it is watched already. Counts a watcher.
    pub(super) fn find(&mut self, rect: Rect, tolerance: Option<u8>) -> Option<RegionId> {
        let id = self.by_key[self.position(rect, tolerance).ok()?];
        self.list[id as usize].watchers += 1;
        Some(RegionId(id))
    }

    fn position(&self, rect: Rect, tolerance: Option<u8>) -> std::result::Result<usize, usize> {
        self.by_key.binary_search_by(|&id| self.list[id as usize].key().cmp(&(rect, tolerance)))
    }

    /// Add a region that is not watched yet. `number` is the current frame.
    pub(super) fn add(
        &mut self,
        rect: Rect,
        tolerance: Option<u8>,
        shape: Shape,
        anchor: Option<Image>,
        number: u64,
    ) -> Result<RegionId> {
        let place = place_in(shape, rect);
        let region = Region { rect, tolerance, place, watchers: 1, known_since: number + 1 };
        let position = self.position(rect, tolerance).unwrap_or_else(|position| position);
        self.by_key.try_reserve(1)?;
        let id = match self.unused.last() {
            Some(&id) => id,
            None => {
                let count = self.list.len();
                // Room for all ids, so that removing one cannot fail.
                self.unused.try_reserve(count + 1)?;
                self.list.try_reserve(1)?;
                self.history.try_reserve(1)?;
                self.changed_at.try_reserve(1)?;
                try_push(&mut self.anchors, None)?;
                self.list.push(region);
                self.history.push(0);
                self.changed_at.push(0);
                self.unused.push(count as u32);
                count as u32
            }
        };
        self.unused.pop();
        self.by_key.insert(position, id);
        let index = id as usize;
        self.list[index] = region;
        self.history[index] = !0;
        self.changed_at[index] = number;
        self.anchors[index] = anchor;
        self.count(place, 1);
        Ok(RegionId(id))
    }

    fn count(&mut self, place: Place, change: i64) {
        match place {
            Place::Inside => self.inside = self.inside.wrapping_add_signed(change),
            Place::Outside => self.outside = self.outside.wrapping_add_signed(change),
            Place::Unused => (),
        }
    }

    /// Remove a watcher. Returns whether it was the last one of the region.
    pub(super) fn remove(&mut self, id: RegionId) -> bool {
        let Some(region) = self.list.get_mut(id.index()).filter(|region| region.place != Place::Unused) else {
            return false;
        };
        region.watchers -= 1;
        if region.watchers > 0 {
            return false;
        }
        let Region { rect, tolerance, place, .. } = *region;
        if let Ok(position) = self.position(rect, tolerance) {
            self.by_key.remove(position);
        }
        self.count(place, -1);
        self.list[id.index()].place = Place::Unused;
        self.anchors[id.index()] = None;
        self.unused.push(id.0);
        true
    }

    /// Anchors for another shape.
    pub(super) fn new_anchors(&self, shape: Shape) -> Result<Vec<Option<Image>>> {
        let mut anchors = Vec::new();
        anchors.try_reserve_exact(self.list.capacity())?;
        for region in &self.list {
            anchors.push(new_anchor(shape, region.rect, region.tolerance, region.place)?);
        }
        Ok(anchors)
    }

    /// Bytes of the anchors in a shape.
    pub(super) fn size_of_anchors(&self, shape: Shape) -> usize {
        let sizes = self.list.iter().filter(|region| region.place != Place::Unused);
        sizes.map(|region| size_of_anchor(shape, region.rect, region.tolerance)).fold(0, usize::saturating_add)
    }

    /// Forget the past: the frames have another shape from `number` + 1 on.
    pub(super) fn restart(&mut self, shape: Shape, anchors: Vec<Option<Image>>, number: u64) {
        self.anchors = anchors;
        (self.inside, self.outside) = (0, 0);
        self.history.fill(!0);
        for index in 0..self.list.len() {
            let region = &mut self.list[index];
            if region.place == Place::Unused {
                continue;
            }
            region.place = place_in(shape, region.rect);
            region.known_since = number + 1;
            let place = region.place;
            self.count(place, 1);
        }
    }

    /// The rectangles that lie in the frame.
    pub(super) fn rects(&self) -> impl Iterator<Item = Rect> {
        self.list.iter().filter(|region| region.place == Place::Inside).map(|region| region.rect)
    }

    pub(super) fn memory_used(&self) -> usize {
        let anchors = self.anchors.iter().flatten().map(Image::memory_used).sum::<usize>();
        self.list.capacity() * size_of::<Region>()
            + (self.history.capacity() + self.changed_at.capacity()) * size_of::<u64>()
            + self.anchors.capacity() * size_of::<Option<Image>>()
            + (self.by_key.capacity() + self.unused.capacity()) * size_of::<u32>()
            + anchors
    }
}

fn place_in(shape: Shape, rect: Rect) -> Place {
    if shape.has(rect) { Place::Inside } else { Place::Outside }
}

fn anchor_shape(shape: Shape, rect: Rect) -> Shape {
    Shape::new(shape.format, rect.width, rect.height)
}

/// Memory for the anchor of a region, if it has one.
pub(super) fn new_anchor(shape: Shape, rect: Rect, tolerance: Option<u8>, place: Place) -> Result<Option<Image>> {
    let has_anchor = tolerance.is_some() && place != Place::Unused && shape.has(rect);
    has_anchor.then(|| Image::new(anchor_shape(shape, rect))).transpose()
}

/// Bytes of the anchor of a region.
pub(super) fn size_of_anchor(shape: Shape, rect: Rect, tolerance: Option<u8>) -> usize {
    let has_anchor = tolerance.is_some() && shape.has(rect);
    if has_anchor { Image::size_of(anchor_shape(shape, rect)) } else { 0 }
}
