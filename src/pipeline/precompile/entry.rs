//! Plain data that goes in and out: entries, states, jobs.

use crate::pipeline::{Mask, PipelineKey, PipelineKind, ShaderHash};

/// Most sightings of an entry. Further ones are ignored.
pub const MAX_SIGHTINGS: usize = 16;

/// The first use of a pipeline in one recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sighting {
    /// The number of the recording. Any number; equal for all entries of a recording.
    pub recording: u32,
    /// The frame of the first use.
    pub frame: u32,
}

/// A pipeline to compile.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Entry<'a> {
    /// The name of the pipeline.
    pub key: PipelineKey,
    /// Graphics, compute or ray tracing. Build times are estimated by kind.
    pub kind: PipelineKind,
    /// Its shaders; only the shaders-first order needs them.
    pub shaders: &'a [ShaderHash],
    /// The masks it was used with. Without any it counts as used with the mask of no bits.
    pub masks: &'a [Mask],
    /// Expected frame of the first use. `None`: unknown, which sorts last.
    pub first_frame: Option<u64>,
    /// How often recordings used it.
    pub times_used: u64,
    /// Recorded build time in microseconds. 0: unknown.
    pub build_us: u64,
    /// Its first use in each recording, at most [`MAX_SIGHTINGS`]. The predicted order learns from them which pipelines
    /// follow each other.
    pub sightings: &'a [Sighting],
}

/// The state of a pipeline. Existing numbers never change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum State {
    /// No entry has this key.
    #[default]
    Unknown = 0,
    /// No current mask selects it, and it was not requested.
    Unselected = 1,
    /// It waits for a worker.
    Queued = 2,
    /// A worker compiles it.
    Running = 3,
    /// It was compiled, and can be drawn with.
    Ready = 4,
    /// It failed to compile. It is not tried again.
    Failed = 5,
    /// It is banned, or has crashed the driver. It is not compiled.
    Banned = 6,
}

impl State {
    /// Number of states.
    pub const COUNT: usize = 7;

    /// The state with this number. Larger numbers count as the last state.
    pub const fn of_number(number: u8) -> Self {
        match number {
            0 => Self::Unknown,
            1 => Self::Unselected,
            2 => Self::Queued,
            3 => Self::Running,
            4 => Self::Ready,
            5 => Self::Failed,
            _ => Self::Banned,
        }
    }

    /// Whether it failed or is banned, so that it never gets ready.
    pub fn is_refused(self) -> bool {
        matches!(self, Self::Failed | Self::Banned)
    }

    /// Whether it is being compiled, or has a final state.
    pub fn is_started(self) -> bool {
        self == Self::Running || self.is_final()
    }

    /// Whether it is ready, failed or banned.
    pub fn is_final(self) -> bool {
        self == Self::Ready || self.is_refused()
    }
}

/// The end of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The pipeline is ready.
    Ok,
    /// The driver refused it. It is not tried again.
    Failed,
    /// The driver crashed or hung, as a child process or a quarantine reports. It is banned.
    Crashed,
    /// The job was not done. The pipeline is queued again.
    Cancelled,
}

/// A pipeline that a worker must compile, and report with [`finish`](super::Precompiler::finish).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// The name of the pipeline.
    pub key: PipelineKey,
    /// Its number: the count of keys before it.
    pub index: u32,
    /// The number of this job. No other job has it.
    pub ticket: u64,
    /// Whether it was requested, so that a frame may wait for it.
    pub is_urgent: bool,
    /// Expected build time in microseconds. 0: unknown.
    pub expected_us: u64,
}

/// The effect of a finished job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Finished {
    /// The state of the pipeline now.
    pub state: State,
    /// Whether this job was the last one. True once per completion: see
    /// [`take_completion`](super::Precompiler::take_completion).
    pub is_complete: bool,
}

/// Pipelines by state. All counts are exact, and add up to all known keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Keys of groups without an entry.
    pub unknown: usize,
    /// Selected by no mask.
    pub unselected: usize,
    /// Queued because the precompile mask selects them. Only in [`Mode::Precompile`](super::Mode::Precompile).
    pub queued_precompile: usize,
    /// Queued because the regular mask selects them.
    pub queued_regular: usize,
    /// Requested.
    pub queued_requested: usize,
    /// Being compiled.
    pub running: usize,
    /// Compiled.
    pub ready: usize,
    /// Failed to compile.
    pub failed: usize,
    /// Banned.
    pub banned: usize,
}

impl Counts {
    /// Pipelines that are not compiled yet, but will be: for a progress bar.
    pub fn remaining(&self) -> usize {
        self.queued_precompile + self.queued_regular + self.queued_requested + self.running
    }
}
