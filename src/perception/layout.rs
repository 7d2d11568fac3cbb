//! Gives each node what it needs for frames of the present shape, and begins anew with frames of another shape.

use std::sync::{PoisonError, RwLock};

use super::Perception;
use super::cognition::{Action, Cognition};
use super::evaluate::cost_of_inputs;
use super::frames::FrameStore;
use super::image::Shape;
use super::place::Place;
use super::table::Table;
use super::tree::Source;
use super::work::Work;
use crate::base::{Result, sort_numbers};

/// The parts that belong to frames of one shape.
#[derive(Default)]
struct Shaped {
    frames: FrameStore,
    places: Vec<Place>,
    works: Vec<RwLock<Work>>,
    table: Table,
    unplaced: Vec<u32>,
}

impl<C: Cognition> Perception<C> {
    /// Make room for all nodes, and note which of them are new.
    pub(super) fn make_room(&mut self) -> Result<()> {
        let nodes = self.tree.places();
        self.table.grow(nodes, self.options.frames.history)?;
        self.places.try_reserve(nodes - self.places.len().min(nodes))?;
        self.works.try_reserve(nodes - self.works.len().min(nodes))?;
        self.unplaced.try_reserve(nodes)?;
        self.plan.grow(nodes)?;
        while self.places.len() < nodes {
            self.places.push(Place::default());
            self.works.push(RwLock::default());
        }
        self.unplaced.clear();
        for (at, _) in self.tree.nodes() {
            if !self.places[at as usize].is_placed {
                self.unplaced.push(at);
            }
        }
        Ok(())
    }

    /// Forget the results of a node, and what it needs.
    pub(super) fn unplace(&mut self, at: u32, cognition: u32) {
        let Self { tree, table, places, works, frames, .. } = self;
        let entry = tree.entry_at(cognition);
        table.clear(at, &mut |value| entry.release(value));
        places[at as usize].unwatch(frames);
        places[at as usize] = Place::default();
        *works[at as usize].get_mut().unwrap_or_else(PoisonError::into_inner) = Work::default();
    }

    /// Begin anew with frames of another shape. A failure changes nothing.
    #[cold]
    pub(super) fn restart(&mut self, shape: Shape, moves: usize) -> Result<()> {
        let nodes = self.tree.places();
        let mut next = Shaped { frames: self.frames.successor(shape)?, ..Shaped::default() };
        next.table.grow(nodes, self.options.frames.history)?;
        next.places.try_reserve_exact(nodes)?;
        next.places.resize_with(nodes, Place::default);
        next.works.try_reserve_exact(nodes)?;
        next.works.resize_with(nodes, RwLock::default);
        next.unplaced.try_reserve_exact(nodes)?;
        next.unplaced.extend(self.tree.nodes().map(|(at, _)| at));
        self.swap(&mut next);
        let outcome = self.place_all(shape).and_then(|()| self.frames.prepare(moves));
        if outcome.is_err() {
            self.swap(&mut next);
            return outcome;
        }
        for (at, node) in self.tree.nodes() {
            let entry = self.tree.entry(node);
            next.table.clear(at, &mut |value| entry.release(value));
        }
        self.strategy.restart();
        Ok(())
    }

    fn swap(&mut self, other: &mut Shaped) {
        std::mem::swap(&mut self.frames, &mut other.frames);
        self.frames.swap_host(&mut other.frames);
        std::mem::swap(&mut self.table, &mut other.table);
        std::mem::swap(&mut self.places, &mut other.places);
        std::mem::swap(&mut self.works, &mut other.works);
        std::mem::swap(&mut self.unplaced, &mut other.unplaced);
    }

    /// Find out what the nodes without a place need for frames of the present shape.
    pub(super) fn place_all(&mut self, shape: Shape) -> Result<()> {
        if self.unplaced.is_empty() {
            return Ok(());
        }
        let Self { tree, unplaced, .. } = self;
        sort_numbers(unplaced, &mut |one, other| (tree.node(one).depth, one).cmp(&(tree.node(other).depth, other)));
        let mut done = 0;
        let mut outcome = Ok(());
        while done < self.unplaced.len() && outcome.is_ok() {
            outcome = self.place(self.unplaced[done], shape);
            done += usize::from(outcome.is_ok());
        }
        self.unplaced.drain(..done);
        outcome
    }

    fn place(&mut self, at: u32, shape: Shape) -> Result<()> {
        let Self { tree, places, frames, works, table, .. } = self;
        let node = tree.node(at);
        let mut place = Place::find(tree, node, shape, &|source| places.get(source as usize))?;
        let shape_of = |source: Source| match source {
            Source::Frame => Some(shape),
            Source::Node(source) => places[source as usize].shape,
        };
        let buffers = place.buffers(tree, node, &shape_of)?;
        let is_incremental = matches!(tree.entry(node).action, Action::Operator(_));
        let mut work = Work::default();
        work.place(buffers, is_incremental)?;
        if let Some(problem) = place.problem {
            work.failure = problem;
        }
        place.watch(frames)?;
        let is_graftable = place.is_pure && place.problem.is_none() && !place.regions.is_empty();
        if let Err(why) = table.place(at, &place.regions, is_graftable) {
            place.unwatch(frames);
            return Err(why);
        }
        // A result that comes by a move can be taken over before the first run.
        table.slots[at as usize].chain_ns =
            (tree.entry(node).traits.cost_ns as f32 + cost_of_inputs(tree, table, at)) as u32;
        places[at as usize] = place;
        works[at as usize] = RwLock::new(work);
        Ok(())
    }
}
