//! Vision over a stream of frames. Most pixels do not change from one frame to the next.
//!
//! Cognitions are operations from perceptions to a perception; pipelines are chains of them. Steps that pipelines share
//! are one node of a tree. [`Perception::begin_frame`] takes the pixels and finds out which watched regions changed. A
//! result holds as long as the regions on which it depends do not change, so to take it over is to bump a number.
//! [`Perception::query`] computes what is missing. Pipelines that are asked for in most frames are computed when a frame
//! begins, on several threads.
//!
//! Invariants:
//! 1. A query gives what computing the whole pipeline on that frame would give, if cognitions keep what they declare.
//! 2. A node runs at most once for a frame.
//! 3. A failure of a cognition concerns only the pipelines that depend on it.
//! 4. With known frames and pipelines, neither a frame nor a query allocates.
//!
//! Source: the problem, the perception tree, prefetch, graft, consensus and the thirds are from "High Framerate
//! Perception" (N. Cano).
//!
//! | file | content |
//! |---|---|
//! | `image` | formats, rectangles, views, images |
//! | `pixels` | compares and copies pixels: the hot kernels |
//! | `frames` | the last frames' pixels, and which regions changed between them |
//! | `operators` | the built-in cognitions |
//! | `cognition` | what a cognition says about itself, and what it sees |
//! | `tree` | cognitions, nodes and pipelines |
//! | `map` | on which pixels of the frame those of an image depend |
//! | `place` | what a node needs for frames of one shape |
//! | `table` | results, and the frames in which they hold |
//! | `work` | runs a node |
//! | `evaluate` | brings nodes up to date: one after the other, or level by level |
//! | `past` | results of past frames, and consensus |
//! | `strategy` | whether to graft |
//! | `audit` | finds cognitions that depend on more than they declare |
//! | `overlay` | draws over a picture what happened in a frame |
#![deny(unsafe_code)]

mod audit;
mod cognition;
mod evaluate;
pub mod frames;
pub mod image;
mod map;
pub mod operators;
mod overlay;
mod past;
pub mod pixels;
mod place;
mod strategy;
mod table;
#[cfg(test)]
mod tests;
mod tree;
mod work;

use std::fmt;
use std::sync::{PoisonError, RwLock};

use crate::balance::Policy;
use crate::base::{Code, Id, Result, error};
use crate::executor::{Executor, Stopwatch};

pub use crate::base::Value;
use audit::Audit;
pub use cognition::{Action, Call, Cognition, Failure, MAX_INPUTS, Picture, Seen, Traits};
use evaluate::Plan;
use frames::{FrameStore, Hints};
use image::{Shape, View};
use place::Place;
pub use strategy::Choice;
use strategy::{Spent, Strategy};
use table::Table;
pub use tree::{MAX_PARAMETERS, MAX_STEPS, PipelineOptions, Prefetch, Step};
use tree::{Source, Tree, no_pipeline};
use work::{Scene, Work, read};

/// The settings of a perception.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How the frames are kept.
    pub frames: frames::Options,
    /// Whether results are taken over. Default: by measured time.
    pub graft: Choice,
    /// How it is chosen by time. Default: accounts.
    pub policy: Policy,
    /// Whether pipelines are computed when a frame begins. Default: those that are asked for often.
    pub prefetch: Choice,
    /// Prefetch is skipped if at most 1 in so many of its pipelines remains, or pipelines for 1 in so many of the threads.
    /// 0: never.
    pub prefetch_divisor: u32,
    /// The share of runs that may be spent to check results that were taken over. 0: none.
    pub audit_share: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            frames: frames::Options::default(),
            graft: Choice::Measured,
            policy: Policy::Accounts,
            prefetch: Choice::Measured,
            prefetch_divisor: 3,
            audit_share: 0.0,
        }
    }
}

/// The result of a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    /// The value, and the first frame of the unbroken run of equal values.
    Value(Value, u64),
    /// The last frames do not agree.
    Differs,
    /// It is not known whether they agree: too few frames, or the past ones cannot be computed.
    Unknown,
    /// A cognition failed: see [`Perception::failure`].
    Failed,
}

/// Counts of work. Sums since its creation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counters {
    /// Runs of cognitions.
    pub runs: u64,
    /// Runs for past frames; `runs` includes them.
    pub past_runs: u64,
    /// Runs while a frame began; `runs` includes them.
    pub prefetch_runs: u64,
    /// Pixels that operators read, and runs of the host's cognitions.
    pub operations: u64,
    /// Results that were taken over because their regions did not change.
    pub grafts: u64,
    /// Results that were taken over because all inputs were equal.
    pub cut_offs: u64,
    /// Frames whose prefetch was skipped, because too little remained.
    pub prefetches_left_out: u64,
    /// Results of another place that were taken over, by a move.
    pub moved: u64,
    /// Queries.
    pub queries: u64,
    /// Runs of the audit.
    pub audit_runs: u64,
    /// Seconds of taking frames: compare and copy.
    pub take_seconds: f64,
    /// Seconds of prefetch.
    pub prefetch_seconds: f64,
    /// Seconds of queries that computed something.
    pub query_seconds: f64,
}

/// Counts of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PipelineCounts {
    /// It is computed when a frame begins.
    pub is_prefetched: bool,
    /// Queries.
    pub queries: u64,
    /// Different results in the kept frames.
    pub variations: usize,
    /// The first frame of the unbroken run of equal results. 0: there is no result.
    pub first_frame: u64,
    /// Mean duration of a run of its last step in nanoseconds.
    pub mean_ns: f32,
}

/// Vision over a stream of frames. See the [module](self).
pub struct Perception<C: Cognition> {
    options: Options,
    tree: Tree<C>,
    frames: FrameStore,
    places: Vec<Place>,
    works: Vec<RwLock<Work>>,
    table: Table,
    /// Nodes without a place for the present shape.
    unplaced: Vec<u32>,
    plan: Plan,
    strategy: Strategy,
    audit: Audit,
    counters: Counters,
    executor: Executor,
    spent: Spent,
    /// Pipelines that were prefetched in the present frame.
    prefetched: usize,
    /// Past frames that queries asked for.
    wanted_history: usize,
    /// For tests: durations are counts of work, so that choices by time are always the same.
    counts_as_time: bool,
}

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
    /// A perception without cognitions.
    pub fn new(options: Options) -> Result<Self> {
        if !(0.0..=1.0).contains(&options.audit_share) {
            return Err(error!(InvalidArgument, "invalid audit share {}: must be 0 to 1", options.audit_share));
        }
        Ok(Self {
            options,
            tree: Tree::default(),
            frames: FrameStore::new(options.frames)?,
            places: Vec::new(),
            works: Vec::new(),
            table: Table::default(),
            unplaced: Vec::new(),
            plan: Plan::default(),
            strategy: Strategy::new(options.graft, options.policy)?,
            audit: Audit::default(),
            counters: Counters::default(),
            executor: Executor::inline(),
            spent: Spent::default(),
            prefetched: 0,
            wanted_history: 0,
            counts_as_time: false,
        })
    }

    /// Add a cognition.
    pub fn add_cognition(&mut self, name: &str, action: Action<C>, traits: Traits) -> Result<Id> {
        let mut traits = traits;
        if let Action::Operator(operator) = &action {
            operator.check()?;
            let reach = operator.reach();
            traits = Traits {
                is_pure: true,
                is_invariant: true,
                is_local: reach.is_some(),
                scale: reach.map_or(1, |reach| reach.scale),
                // Operators see their part alone.
                support: 0,
                picture: None,
                is_owned: false,
            };
        }
        self.tree.add_cognition(name, action, traits)
    }

    /// Add a pipeline. It serves from the next frame on.
    pub fn add_pipeline(&mut self, options: &PipelineOptions<'_>) -> Result<Id> {
        let id = self.tree.add_pipeline(options)?;
        match self.make_room() {
            Ok(()) => Ok(id),
            Err(why) => {
                // Nodes that were there before stay in use.
                let _ = self.tree.remove_pipeline(id, &mut |_, _| ());
                Err(why)
            }
        }
    }

    /// Make room for all nodes, and note which of them are new.
    fn make_room(&mut self) -> Result<()> {
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

    /// Remove a pipeline, and the steps that only it has.
    pub fn remove_pipeline(&mut self, id: Id) -> Result<()> {
        let mut removed = Vec::new();
        removed.try_reserve_exact(self.tree.places())?;
        self.tree.remove_pipeline(id, &mut |at, cognition| removed.push((at, cognition)))?;
        for &(at, cognition) in &removed {
            self.unplace(at, cognition);
        }
        self.unplaced.retain(|at| removed.iter().all(|(gone, _)| gone != at));
        Ok(())
    }

    /// Forget the results of a node, and what it needs.
    fn unplace(&mut self, at: u32, cognition: u32) {
        let Self { tree, table, places, works, frames, .. } = self;
        let entry = tree.entry_at(cognition);
        table.clear(at, &mut |value| entry.release(value));
        places[at as usize].unwatch(frames);
        places[at as usize] = Place::default();
        *works[at as usize].get_mut().unwrap_or_else(PoisonError::into_inner) = Work::default();
    }

    /// Begin anew with frames of another shape. A failure changes nothing.
    fn restart(&mut self, shape: Shape, moves: usize) -> Result<()> {
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
        std::mem::swap(&mut self.table, &mut other.table);
        std::mem::swap(&mut self.places, &mut other.places);
        std::mem::swap(&mut self.works, &mut other.works);
        std::mem::swap(&mut self.unplaced, &mut other.unplaced);
    }

    /// Find out what the nodes without a place need for frames of the present shape.
    fn place_all(&mut self, shape: Shape) -> Result<()> {
        if self.unplaced.is_empty() {
            return Ok(());
        }
        let Self { tree, unplaced, .. } = self;
        crate::base::sort_numbers(unplaced, &mut |one, other| {
            (tree.node(one).depth, one).cmp(&(tree.node(other).depth, other))
        });
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
        places[at as usize] = place;
        works[at as usize] = RwLock::new(work);
        Ok(())
    }

    /// Take the next frame, and compute what is asked for in most frames. Frames of another shape begin anew.
    pub fn begin_frame(&mut self, frame: &View<'_>, hints: &Hints<'_>, executor: &Executor) -> Result<()> {
        self.end_frame();
        self.grow_history()?;
        if frame.shape() != self.frames.shape() {
            self.restart(frame.shape(), hints.moves.len())?;
        }
        self.place_all(frame.shape())?;
        let grafts = self.strategy.next();
        let clock = self.clock();
        self.frames.begin(frame, grafts, hints, executor)?;
        self.executor = executor.clone();
        let take = self.passed(&clock);
        self.roll_profiles();
        self.audit();
        self.take_moved();
        self.prefetch();
        let all = self.passed(&clock);
        self.spent.take = take;
        self.spent.all += all;
        self.counters.take_seconds += take;
        self.counters.prefetch_seconds += all - take;
        Ok(())
    }

    /// Keep as many past frames as queries asked for.
    fn grow_history(&mut self) -> Result<()> {
        let history = self.wanted_history;
        if history <= self.options.frames.history {
            return Ok(());
        }
        self.table.grow(self.table.slots.len(), history)?;
        match self.frames.set_history(history) {
            Ok(()) => self.options.frames.history = history,
            // It was possible when it was asked for. Later queries are refused.
            Err(why) if why.code() == Code::LimitExceeded => self.wanted_history = 0,
            Err(why) => return Err(why),
        }
        Ok(())
    }

    fn clock(&self) -> (Stopwatch, u64) {
        (Stopwatch::begin(), self.counted())
    }

    /// Seconds since `clock` was taken. Tests may count work instead.
    fn passed(&self, clock: &(Stopwatch, u64)) -> f64 {
        if self.counts_as_time {
            return (self.counted() - clock.1) as f64 * 1e-9;
        }
        clock.0.passed().as_secs_f64()
    }

    /// Work in counts: operations and compared bytes.
    fn counted(&self) -> u64 {
        self.counters.operations + self.frames.counters().compared_bytes
    }

    /// The duration of a run in nanoseconds.
    fn cost(&self, outcome: &work::Outcome) -> u64 {
        if self.counts_as_time { outcome.operations } else { outcome.nanoseconds }
    }

    /// Account for the frame that ends.
    fn end_frame(&mut self) {
        if self.frames.number() > 0 && self.spent.all > 0.0 {
            self.strategy.add(&self.spent);
        }
        self.spent = Spent::default();
    }

    /// The result of a pipeline for the present frame, if it was the same in the last `frames` frames.
    #[inline]
    pub fn query(&mut self, id: Id, frames: u32) -> Result<Answer> {
        let at = self.tree.pipelines.position(id).ok_or_else(|| no_pipeline(id))?;
        let now = self.frames.number();
        let pipeline = self.tree.pipelines.at_mut(at).expect("it is there");
        pipeline.asked |= 1;
        pipeline.queries += 1;
        pipeline.agreement = frames;
        let node = pipeline.node;
        self.counters.queries += 1;
        if self.table.slots[node as usize].span.last != now {
            self.graft(node);
        }
        let span = self.table.slots[node as usize].span;
        let known = now - span.first.min(now) + 1;
        let is_known = span.last == now && now > 0 && !span.is_failed && known >= u64::from(frames);
        if is_known {
            return Ok(Answer::Value(span.value, span.first));
        }
        self.query_slowly(node, frames)
    }

    #[cold]
    fn query_slowly(&mut self, node: u32, frames: u32) -> Result<Answer> {
        if frames as usize > self.options.frames.history + 1 {
            // More frames are kept from the next one on.
            let history = frames as usize - 1;
            self.frames.check_history(history)?;
            self.wanted_history = self.wanted_history.max(history);
        }
        if !self.can_answer(node) {
            return Ok(Answer::Unknown);
        }
        let clock = self.clock();
        self.update(node);
        let answer = self.agreed(node, frames)?;
        let seconds = self.passed(&clock);
        self.spent.all += seconds;
        self.counters.query_seconds += seconds;
        Ok(answer)
    }

    /// Whether the pixels that a node needs are those of the present frame: it was there when the frame began.
    fn can_answer(&self, node: u32) -> bool {
        let now = self.frames.number();
        now > 0 && self.places[node as usize].is_placed && self.table.known_since(node, &self.frames) <= now
    }

    fn entry_of(&self, node: u32) -> &tree::Entry<C> {
        self.tree.entry(self.tree.node(node))
    }

    /// The message of the failure of a pipeline, or an empty text.
    pub fn failure(&self, id: Id) -> Result<Failure> {
        let node = self.pipeline(id)?.node;
        let mut at = node;
        // The first node that failed is the cause.
        loop {
            let failed =
                |at: u32| self.table.slots[at as usize].span.is_failed || self.places[at as usize].problem.is_some();
            if !failed(at) {
                return Ok(Failure::EMPTY);
            }
            let inputs = self.tree.node(at).inputs.iter();
            let cause = inputs.filter_map(|input| match input.source {
                Source::Node(source) if failed(source) => Some(source),
                _ => None,
            });
            match cause.min() {
                Some(source) => at = source,
                None => return Ok(read(&self.works[at as usize]).failure),
            }
        }
    }

    /// A pipeline.
    pub fn pipeline(&self, id: Id) -> Result<&tree::Pipeline> {
        let at = self.tree.pipelines.position(id).ok_or_else(|| no_pipeline(id))?;
        Ok(self.tree.pipelines.at(at).expect("it is there"))
    }

    /// Set whether a pipeline is computed when a frame begins.
    pub fn set_prefetch(&mut self, id: Id, prefetch: Prefetch) -> Result<()> {
        let at = self.tree.pipelines.position(id).ok_or_else(|| no_pipeline(id))?;
        self.tree.pipelines.at_mut(at).expect("it is there").prefetch = prefetch;
        Ok(())
    }

    fn scene(&self) -> Scene<'_, C> {
        let Self { tree, places, works, table, frames, .. } = self;
        Scene { tree, places, works, table, frames }
    }

    /// The frames, and what is known of them.
    pub fn frames(&self) -> &FrameStore {
        &self.frames
    }

    /// Counts of work.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The names of the cognitions that the audit found.
    pub fn accused(&self) -> impl Iterator<Item = &str> {
        self.tree.accused()
    }

    /// Frames that were grafted, and frames that were not.
    pub fn frame_counts(&self) -> [u64; 2] {
        self.strategy.frames()
    }

    /// Seconds of grafted frames, and of others, with their queries.
    pub fn frame_seconds(&self) -> [f64; 2] {
        self.strategy.seconds()
    }

    /// Pipelines.
    pub fn pipeline_count(&self) -> usize {
        self.tree.pipelines.len()
    }

    /// Different steps.
    pub fn step_count(&self) -> usize {
        self.tree.nodes().count()
    }

    /// Pipelines that were computed when the present frame began.
    pub fn prefetched(&self) -> usize {
        self.prefetched
    }

    /// Threads that compute, the caller's included.
    pub fn workers(&self) -> usize {
        self.executor.max_concurrency()
    }

    /// Counts of a pipeline.
    pub fn pipeline_counts(&self, id: Id) -> Result<PipelineCounts> {
        Ok(self.counts_of(self.pipeline(id)?))
    }

    /// Call back with each pipeline and what is known of it.
    pub fn each_pipeline(&self, each: &mut dyn FnMut(&tree::Pipeline, PipelineCounts) -> fmt::Result) -> fmt::Result {
        self.tree.pipelines.iter().try_for_each(|(_, pipeline)| each(pipeline, self.counts_of(pipeline)))
    }

    fn counts_of(&self, pipeline: &tree::Pipeline) -> PipelineCounts {
        let slot = self.table.slots[pipeline.node as usize];
        let oldest = self.frames.number().saturating_sub(self.options.frames.history as u64);
        PipelineCounts {
            is_prefetched: match pipeline.prefetch {
                Prefetch::Always => self.options.prefetch != Choice::Never,
                Prefetch::Never => false,
                Prefetch::Profile => match self.options.prefetch {
                    Choice::Measured => pipeline.is_hot,
                    choice => choice == Choice::Always,
                },
            },
            queries: pipeline.queries,
            variations: self.table.variations(pipeline.node, oldest),
            first_frame: if slot.span.last == 0 { 0 } else { slot.span.first },
            mean_ns: slot.cost_ns,
        }
    }

    /// Call back with the image of a pipeline that is up to date. False: it has none.
    pub fn with_image(&self, id: Id, each: &mut dyn FnMut(View<'_>)) -> Result<bool> {
        let node = self.pipeline(id)?.node;
        let work = read(&self.works[node as usize]);
        let image = work.image();
        image.into_iter().for_each(|image| each(image.view()));
        Ok(image.is_some())
    }

    /// Bytes that it holds.
    pub fn memory_used(&self) -> usize {
        let works = self.works.iter().map(|work| read(work).memory_used()).sum::<usize>();
        self.tree.memory_used()
            + self.frames.memory_used()
            + self.table.memory_used()
            + self.places.capacity() * size_of::<Place>()
            + self.works.capacity() * size_of::<RwLock<Work>>()
            + works
    }
}

impl<C: Cognition> Drop for Perception<C> {
    fn drop(&mut self) {
        for (at, node) in self.tree.nodes() {
            let entry = self.tree.entry(node);
            self.table.clear(at, &mut |value| entry.release(value));
        }
    }
}
