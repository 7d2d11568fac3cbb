//! Shaders first: an order in which every distinct shader is built as early as possible.
//!
//! This is greedy set cover: the next pipeline is the one with the most shaders that no earlier pipeline builds. Such
//! gains only fall, so a heap with outdated gains is enough: the top is weighed again, and goes back if it fell (Minoux'
//! lazy greedy algorithm). Each step builds at least one new shader, so there are at most as many steps as shaders. The
//! shaders of a pipeline that fails count as built; its neighbours follow in the ordinary order.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::pace::Lane;
use crate::base::{Result, try_push};
use crate::pipeline::ShaderHash;

/// A pipeline by gain, then by its place in the order.
type Node = (u32, Reverse<u32>, u32);

/// The shaders of all items.
#[derive(Default)]
pub struct Cover {
    numbers: HashMap<ShaderHash, u32>,
    /// For each shader the number of pipelines with it that are built or running.
    builds: Vec<u32>,
    heap: BinaryHeap<Node>,
    /// The lane that the heap was filled for.
    lane: Option<Lane>,
}

impl Cover {
    /// Make room for an item in addition to `items`.
    pub fn reserve_one(&mut self, items: usize) -> Result<()> {
        let room = (items + 1).saturating_sub(self.heap.len());
        Ok(self.heap.try_reserve(room)?)
    }

    /// The number of a shader, which is added if it is new.
    pub fn number(&mut self, shader: &ShaderHash) -> Result<u32> {
        if let Some(&number) = self.numbers.get(shader) {
            return Ok(number);
        }
        self.numbers.try_reserve(1)?;
        try_push(&mut self.builds, 0)?;
        let number = self.builds.len() as u32 - 1;
        self.numbers.insert(*shader, number);
        Ok(number)
    }

    /// Fill the heap again before the next answer: items or lanes have changed.
    pub fn forget_order(&mut self) {
        self.lane = None;
    }

    /// A pipeline with these shaders starts.
    pub fn start(&mut self, shaders: &[u32]) {
        shaders.iter().for_each(|&shader| self.builds[shader as usize] += 1);
    }

    /// A pipeline with these shaders was started, but not built. It can be next again, its neighbours need not.
    pub fn cancel(&mut self, shaders: &[u32]) {
        shaders.iter().for_each(|&shader| self.builds[shader as usize] -= 1);
        self.forget_order();
    }

    /// The built pipeline with these shaders is built again.
    pub fn forget(&mut self, shaders: &[u32]) {
        // It may have been compiled outside, without a start.
        shaders
            .iter()
            .for_each(|&shader| self.builds[shader as usize] = self.builds[shader as usize].saturating_sub(1));
        self.forget_order();
    }

    fn gain(&self, shaders: &[u32]) -> u32 {
        shaders.iter().filter(|&&shader| self.builds[shader as usize] == 0).count() as u32
    }

    /// The item of a lane with the most new shaders. `None` when all shaders of the lane are built or running. `items`
    /// are all items in their order, `waits` tells whether one waits in the lane.
    pub fn next<'a>(
        &mut self,
        lane: Lane,
        items: &[u32],
        waits: impl Fn(u32) -> bool,
        shaders_of: impl Fn(u32) -> &'a [u32],
    ) -> Option<u32> {
        if self.lane != Some(lane) {
            self.lane = Some(lane);
            self.heap.clear();
            for (place, &item) in items.iter().enumerate().filter(|&(_, &item)| waits(item)) {
                let gain = self.gain(shaders_of(item));
                if gain > 0 {
                    self.heap.push((gain, Reverse(place as u32), item));
                }
            }
        }
        loop {
            let &(noted, place, item) = self.heap.peek()?;
            let gain = if waits(item) { self.gain(shaders_of(item)) } else { 0 };
            if gain == noted {
                return Some(item);
            }
            self.heap.pop();
            if gain > 0 {
                self.heap.push((gain, place, item));
            }
        }
    }

    /// Number of distinct shaders.
    pub fn shaders(&self) -> usize {
        self.builds.len()
    }

    /// Number of distinct shaders with a pipeline that is built or running.
    pub fn started_shaders(&self) -> usize {
        self.builds.iter().filter(|&&builds| builds > 0).count()
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        self.numbers.capacity() * size_of::<(ShaderHash, u32)>()
            + self.builds.capacity() * size_of::<u32>()
            + self.heap.capacity() * size_of::<Node>()
    }
}
