//! Counts of work, and of each pipeline.

use std::fmt;
use std::sync::RwLock;

use super::cognition::Cognition;
use super::frames::FrameStore;
use super::pipelines::{Demand, Pipeline, Prefetch};
use super::place::Place;
use super::work::{Work, read};
use super::{Choice, Perception};
use crate::base::{Id, Result};

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
    /// The frames that had to agree in the last query.
    pub agreement: u32,
    /// The first frame of the unbroken run of equal results. 0: there is no result.
    pub first_frame: u64,
    /// Mean duration of a run of its last step in nanoseconds.
    pub mean_ns: f32,
}

impl<C: Cognition> Perception<C> {
    /// The frames, and what is known of them.
    pub fn frames(&self) -> &FrameStore {
        &self.frames
    }

    /// Counts of work.
    pub fn counters(&self) -> Counters {
        Counters { queries: self.tree.pipelines.queries(), ..self.counters }
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
        let pipeline = self.pipeline(id)?;
        Ok(self.counts_of(pipeline, self.tree.pipelines.demand(id).expect("the pipeline is there")))
    }

    /// Call back with each pipeline and what is known of it.
    pub fn each_pipeline(&self, each: &mut dyn FnMut(&Pipeline, PipelineCounts) -> fmt::Result) -> fmt::Result {
        self.tree.pipelines.iter().try_for_each(|(pipeline, demand)| each(pipeline, self.counts_of(pipeline, demand)))
    }

    fn counts_of(&self, pipeline: &Pipeline, demand: &Demand) -> PipelineCounts {
        let slot = self.table.slots[pipeline.node as usize];
        let oldest = self.frames.number().saturating_sub(self.options.frames.history as u64);
        PipelineCounts {
            is_prefetched: match pipeline.prefetch {
                Prefetch::Always => self.options.prefetch != Choice::Never,
                Prefetch::Never => false,
                Prefetch::Profile => match self.options.prefetch {
                    Choice::Measured => demand.is_hot,
                    choice => choice == Choice::Always,
                },
            },
            queries: demand.queries(),
            agreement: demand.agreement(),
            variations: self.table.variations(pipeline.node, oldest),
            first_frame: if slot.span.last == 0 { 0 } else { slot.span.first },
            mean_ns: slot.cost_ns,
        }
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
