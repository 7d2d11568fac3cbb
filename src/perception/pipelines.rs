//! The pipelines, and how often they are asked for.
//!
//! A query reads and notes what it needs of a pipeline in 32 bytes. Names and settings are stored elsewhere.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::base::{Id, Result, Slots, error};

/// Frames by which the profile judges a pipeline.
const PROFILE_FRAMES: u32 = u32::BITS;
/// A pipeline that was asked for in so many of them is prefetched, until it was asked for in at most the second number.
const HOT: (u32, u32) = (16, 8);
/// Frames after which a profile can be judged.
const FIRST_FRAMES: u64 = 4;
/// The node of a place without a pipeline. There are fewer nodes.
const NO_NODE: u32 = u32::MAX;

/// Which pipelines are computed when a frame begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prefetch {
    /// Those that are asked for in most frames.
    #[default]
    Profile,
    /// This one always.
    Always,
    /// This one never.
    Never,
}

/// A pipeline.
#[derive(Debug)]
pub struct Pipeline {
    /// Its name.
    pub name: String,
    /// The name of the state that it is part of.
    pub state: String,
    /// Its last step.
    pub node: u32,
    /// Whether it is computed when a frame begins.
    pub prefetch: Prefetch,
    /// It is an input of another pipeline, or was: it is not prefetched by itself unless it is asked for.
    pub is_nested: bool,
}

/// The queries of a pipeline. They are atomic because a query that finds its answer is a const call; only one query runs at
/// a time.
#[derive(Debug)]
#[repr(align(32))]
pub struct Demand {
    generation: u32,
    /// The last step of the pipeline.
    node: u32,
    /// Frames in which it was asked for: bit k for the frame k before this one.
    asked: AtomicU32,
    agreement: AtomicU32,
    queries: AtomicU64,
    /// Whether its profile says to compute it when a frame begins.
    pub is_hot: bool,
}

impl Demand {
    fn new(generation: u32, node: u32) -> Self {
        let (asked, agreement, queries) = Default::default();
        Self { generation, node, asked, agreement, queries, is_hot: false }
    }

    /// The last step of the pipeline. After the removal of the pipeline there is no such node.
    #[inline]
    pub fn node(&self) -> u32 {
        self.node
    }

    /// Note a query that wants so many frames to agree.
    #[inline]
    pub fn note(&self, frames: u32) {
        self.asked.store(self.asked.load(Relaxed) | 1, Relaxed);
        self.agreement.store(frames, Relaxed);
        self.queries.store(self.queries.load(Relaxed) + 1, Relaxed);
    }

    /// Whether it was asked for in one of the last frames.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Relaxed) != 0
    }

    /// The frames that had to agree in the last query.
    pub fn agreement(&self) -> u32 {
        self.agreement.load(Relaxed)
    }

    /// Queries.
    pub fn queries(&self) -> u64 {
        self.queries.load(Relaxed)
    }

    fn roll(&mut self, now: u64) {
        let asked = self.asked.get_mut();
        let recent = asked.count_ones();
        let seen = now.saturating_sub(1).min(PROFILE_FRAMES.into()) as u32;
        let enough = HOT.0.min(seen.div_ceil(2).max(1));
        if now > FIRST_FRAMES {
            self.is_hot = recent >= enough || (self.is_hot && recent > HOT.1);
        }
        *asked <<= 1;
    }
}

/// All pipelines.
#[derive(Debug, Default)]
pub struct Pipelines {
    slots: Slots<Pipeline>,
    /// By position.
    demands: Vec<Demand>,
    /// Queries of pipelines that were removed.
    past_queries: u64,
}

impl Pipelines {
    /// Reserve memory for one more pipeline, so that the next [`insert`](Self::insert) cannot fail.
    pub fn reserve_one(&mut self) -> Result<()> {
        self.demands.try_reserve(1)?;
        self.slots.reserve_one()
    }

    /// Insert a pipeline. Call [`reserve_one`](Self::reserve_one) before.
    pub fn insert(&mut self, pipeline: Pipeline) -> Id {
        let node = pipeline.node;
        let id = self.slots.insert(pipeline);
        let (position, demand) = (id.index1 as usize - 1, Demand::new(id.generation, node));
        match self.demands.get_mut(position) {
            Some(place) => *place = demand,
            None => self.demands.push(demand),
        }
        id
    }

    /// Remove a pipeline and return it.
    pub fn remove(&mut self, id: Id) -> Result<Pipeline> {
        let pipeline = self.slots.remove(id).ok_or_else(|| no_pipeline(id))?;
        let demand = &mut self.demands[id.index1 as usize - 1];
        self.past_queries += demand.queries();
        *demand = Demand::new(id.generation, NO_NODE);
        Ok(pipeline)
    }

    /// A pipeline.
    pub fn get(&self, id: Id) -> Result<&Pipeline> {
        let found = self.slots.position(id).and_then(|position| self.slots.at(position));
        found.ok_or_else(|| no_pipeline(id))
    }

    /// A pipeline.
    pub fn get_mut(&mut self, id: Id) -> Result<&mut Pipeline> {
        let found = self.slots.position(id).and_then(|position| self.slots.at_mut(position));
        found.ok_or_else(|| no_pipeline(id))
    }

    /// The demand of a pipeline. It may be that of a removed one, whose node is not in use.
    #[inline]
    pub fn demand(&self, id: Id) -> Option<&Demand> {
        let demand = self.demands.get((id.index1 as usize).wrapping_sub(1))?;
        (demand.generation == id.generation).then_some(demand)
    }

    /// The pipeline at a position, and its demand.
    pub fn at(&self, position: usize) -> Option<(&Pipeline, &Demand)> {
        Some((self.slots.at(position)?, &self.demands[position]))
    }

    /// Number of positions, free ones included. Every position is below it.
    pub fn positions(&self) -> usize {
        self.slots.positions()
    }

    /// Number of pipelines.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// All pipelines and their demands.
    pub fn iter(&self) -> impl Iterator<Item = (&Pipeline, &Demand)> {
        self.slots.iter().map(|(position, pipeline)| (pipeline, &self.demands[position]))
    }

    /// A frame has passed for the profiles of all pipelines.
    pub fn roll(&mut self, now: u64) {
        self.demands.iter_mut().for_each(|demand| demand.roll(now));
    }

    /// Queries of all pipelines, those that were removed included.
    pub fn queries(&self) -> u64 {
        self.past_queries + self.demands.iter().map(Demand::queries).sum::<u64>()
    }

    /// Bytes that they take.
    pub fn memory_used(&self) -> usize {
        let texts = self.slots.iter().map(|(_, pipeline)| pipeline.name.capacity() + pipeline.state.capacity());
        self.slots.memory_used() + self.demands.capacity() * size_of::<Demand>() + texts.sum::<usize>()
    }
}

/// The error for a pipeline that does not exist.
#[cold]
pub fn no_pipeline(id: Id) -> crate::base::Error {
    error!(
        NotFound,
        "there is no pipeline {}.{}: it was removed, or belongs to another perception", id.index1, id.generation
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(pipelines: &mut Pipelines) -> Id {
        pipelines.reserve_one().unwrap();
        pipelines.insert(Pipeline {
            name: String::new(),
            state: String::new(),
            node: 3,
            prefetch: Prefetch::Profile,
            is_nested: false,
        })
    }

    #[test]
    fn a_query_touches_half_a_cache_line() {
        assert_eq!(size_of::<Demand>(), 32);
    }

    #[test]
    fn removed_and_invented_ids_have_no_node() {
        let mut pipelines = Pipelines::default();
        let id = insert(&mut pipelines);
        pipelines.demand(id).unwrap().note(1);
        let node = |pipelines: &Pipelines, id| pipelines.demand(id).map_or(NO_NODE, Demand::node);
        assert_eq!(node(&pipelines, id), 3);
        pipelines.remove(id).unwrap();
        let next = Id { generation: id.generation + 1, ..id };
        for id in [id, next, Id::default(), Id { index1: 2, generation: 0 }] {
            assert_eq!(node(&pipelines, id), NO_NODE);
            assert!(pipelines.get(id).is_err() && pipelines.remove(id).is_err());
        }
        assert_eq!(insert(&mut pipelines), next);
        assert_eq!((node(&pipelines, id), node(&pipelines, next)), (NO_NODE, 3));
        pipelines.demand(next).unwrap().note(1);
        assert_eq!(pipelines.queries(), 2, "queries of removed pipelines count");
    }
}
