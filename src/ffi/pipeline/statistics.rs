//! Counts of pipelines.

use hobgoblin_macros::{entry, versioned};

use super::library::hob_pipeline_library;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::Versioned;

// == Experimental: Statistics ==

/// Counts of a library since it was created.
/// An answer: set struct_size, or begin with HOB_PIPELINE_STATISTICS_INIT.
#[versioned(size = 120, last = memory_used)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_pipeline_statistics {
    /// sizeof(hob_pipeline_statistics).
    pub struct_size: u32,
    /// Must be 0.
    pub reserved: u32,
    /// Pipelines of all caches, the user's included.
    pub opened: u64,
    /// Opened pipelines that were used so far.
    pub used: u64,
    /// Used pipelines that were ready at their first use.
    pub ready_at_first_use: u64,
    /// Used pipelines of the caches that were not ready at their first use.
    /// They waited, were being compiled, had failed, or were banned. Recordings say so for each pipeline. `unknown`
    /// counts pipelines that no cache had.
    pub missed: u64,
    /// Pipelines that were used and that no cache had.
    pub unknown: u64,
    /// Milliseconds that the host spent to build missed and unknown pipelines: hob_pipeline_library_add.
    pub hitch_ms: u64,
    /// Selected or requested pipelines that are not compiled yet.
    pub remaining: u64,
    /// Pipelines that are ready.
    pub ready: u64,
    /// Pipelines that the driver refused.
    pub failed: u64,
    /// Pipelines that are banned.
    pub banned: u64,
    /// Decisions on groups: not drawn, because a pipeline was missing.
    pub groups_skipped: u64,
    /// Decisions on groups: drawn with other pipelines.
    pub groups_substituted: u64,
    /// Decisions on groups: not drawn after a wait.
    pub groups_timed_out: u64,
    /// Bytes of memory held.
    pub memory_used: u64,
}

/// Gets the counts of a library.
/// Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_pipeline_library_get_statistics(
    library: *const hob_pipeline_library,
    out_statistics: *mut hob_pipeline_statistics,
) -> hob_result {
    let mut statistics = hob_pipeline_statistics::defaults();
    if let Some(library) = &library.0 {
        let (coverage, decisions) = (library.coverage(), library.precompiler().decisions());
        let states = &coverage.states;
        statistics = hob_pipeline_statistics {
            opened: coverage.opened,
            used: coverage.used,
            ready_at_first_use: coverage.ready,
            missed: coverage.missed,
            unknown: coverage.unknown,
            hitch_ms: coverage.hitch_ms,
            remaining: states.remaining() as u64,
            ready: states.ready as u64,
            failed: states.failed as u64,
            banned: states.banned as u64,
            groups_skipped: decisions.skipped,
            groups_substituted: decisions.substituted,
            groups_timed_out: decisions.timed_out,
            memory_used: library.memory_used(),
            ..statistics
        };
    }
    out_statistics.write(statistics);
    Ok(())
}
