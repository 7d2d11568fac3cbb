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
//! | `pipelines` | pipelines, and how often they are asked for |
//! | `map` | on which pixels of the frame those of an image depend |
//! | `place` | what a node needs for frames of one shape |
//! | `layout` | gives each node its place, and begins anew with frames of another shape |
//! | `table` | results, and the frames in which they hold |
//! | `work` | runs a node |
//! | `evaluate` | brings nodes up to date: one after the other, or level by level |
//! | `past` | results of past frames, and consensus |
//! | `strategy` | whether to graft |
//! | `audit` | finds cognitions that depend on more than they declare |
//! | `statistics` | counts of work, and of each pipeline |
//! | `overlay` | draws over a picture what happened in a frame |
#![deny(unsafe_code)]

mod audit;
mod cognition;
mod evaluate;
pub mod frames;
pub mod image;
mod layout;
mod map;
pub mod operators;
mod overlay;
mod past;
mod pipelines;
pub mod pixels;
mod place;
mod statistics;
mod strategy;
mod table;
#[cfg(test)]
mod tests;
mod tree;
mod work;

use std::sync::RwLock;

use crate::balance::Policy;
use crate::base::{Code, Id, Result, error};
use crate::executor::{Executor, Stopwatch};

pub use crate::base::Value;
use audit::Audit;
pub use cognition::{Action, Call, Cognition, Failure, MAX_INPUTS, Picture, Seen, Traits};
use evaluate::Plan;
use frames::{FrameStore, Hints, HostFrames};
use image::View;
use pipelines::no_pipeline;
pub use pipelines::{Pipeline, Prefetch};
use place::Place;
pub use statistics::{Counters, PipelineCounts};
pub use strategy::Choice;
use strategy::{Spent, Strategy};
use table::Table;
pub use tree::{MAX_PARAMETERS, MAX_STEPS, PipelineOptions, Step};
use tree::{Source, Tree};
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

    /// Copy no frames from the first one on: `host` knows where they are.
    pub fn borrow_frames(&mut self, host: Box<dyn HostFrames>) {
        self.frames.borrow_from(host);
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
                cost_ns: 0,
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

    /// Take the next frame, and compute what is asked for in most frames. Frames of another shape begin anew.
    pub fn begin_frame(&mut self, frame: &View<'_>, hints: &Hints<'_>, executor: &Executor) -> Result<()> {
        self.frames.check(frame, hints)?;
        self.end_frame();
        self.grow_history()?;
        if frame.shape() != self.frames.shape() {
            self.restart(frame.shape(), hints.moves.len())?;
        }
        self.place_all(frame.shape())?;
        let grafts = self.strategy.next();
        let (clock, bytes) = (self.clock(), self.moved_bytes());
        self.frames.begin(frame, grafts, hints, executor)?;
        self.executor = executor.clone();
        let take = self.passed(&clock);
        self.spent.bytes = self.moved_bytes() - bytes;
        self.tree.pipelines.roll(self.frames.number());
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

    /// Bytes that were compared or copied. Tests that count work leave copies out.
    fn moved_bytes(&self) -> u64 {
        let counters = self.frames.counters();
        counters.compared_bytes + if self.counts_as_time { 0 } else { counters.copied_bytes }
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
    #[inline(always)]
    pub fn query(&mut self, id: Id, frames: u32) -> Result<Answer> {
        let demand = self.tree.pipelines.demand(id);
        let found = demand.and_then(|demand| Some((demand, self.table.slots.get_mut(demand.node() as usize)?)));
        let Some((demand, slot)) = found else { return Err(no_pipeline(id)) };
        demand.note(frames);
        let (node, now) = (demand.node(), self.frames.number());
        if slot.span.last != now && slot.graft(&self.frames) {
            self.counters.grafts += 1;
            self.spent.saved_ns += u64::from(slot.chain_ns);
        }
        if slot.is_known(now, frames) {
            return Ok(Answer::Value(slot.span.value, slot.span.first));
        }
        self.query_slowly(node, frames)
    }

    /// [`query`](Self::query) for a value that is known: the value, and the first frame of its run. `None`: not known.
    #[inline]
    pub fn peek(&self, id: Id, frames: u32) -> Option<(Value, u64)> {
        let demand = self.tree.pipelines.demand(id)?;
        let slot = self.table.slots.get(demand.node() as usize)?;
        slot.is_known(self.frames.number(), frames).then(|| {
            demand.note(frames);
            (slot.span.value, slot.span.first)
        })
    }

    #[cold]
    fn query_slowly(&mut self, node: u32, frames: u32) -> Result<Answer> {
        // It may depend on several regions.
        let now = self.frames.number();
        if self.table.slots[node as usize].span.last != now && self.graft(node) {
            let slot = &self.table.slots[node as usize];
            if slot.is_known(now, frames) {
                return Ok(Answer::Value(slot.span.value, slot.span.first));
            }
        }
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

    /// Call back with the image of a pipeline that is up to date. False: it has none.
    pub fn with_image(&self, id: Id, each: &mut dyn FnMut(View<'_>)) -> Result<bool> {
        let node = self.pipeline(id)?.node;
        let work = read(&self.works[node as usize]);
        let image = work.image();
        image.into_iter().for_each(|image| each(image.view()));
        Ok(image.is_some())
    }

    /// A pipeline.
    pub fn pipeline(&self, id: Id) -> Result<&Pipeline> {
        self.tree.pipelines.get(id)
    }

    /// Set whether a pipeline is computed when a frame begins.
    pub fn set_prefetch(&mut self, id: Id, prefetch: Prefetch) -> Result<()> {
        self.tree.pipelines.get_mut(id)?.prefetch = prefetch;
        Ok(())
    }

    fn scene(&self) -> Scene<'_, C> {
        let Self { tree, places, works, table, frames, .. } = self;
        Scene { tree, places, works, table, frames }
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
