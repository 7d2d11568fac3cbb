//! Counts of tasks and memory.

use hobgoblin_macros::{entry, versioned};

use super::desc::hob_executor;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::Versioned;

// == Statistics ==

/// Counts of background tasks.
/// An answer: set struct_size, or begin with HOB_EXECUTOR_STATISTICS_INIT.
#[versioned(size = 40, last = failed)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_executor_statistics {
    /// sizeof(hob_executor_statistics).
    pub struct_size: u32,
    /// Limit of the threads that work on one loop, the caller included.
    pub max_concurrency: u32,
    /// Tasks that wait.
    pub waiting: u64,
    /// Tasks that run.
    pub running: u64,
    /// Tasks that have ended.
    pub ran: u64,
    /// Tasks of `ran` that ended in an internal error.
    pub failed: u64,
}

/// Gets the counts of background tasks.
/// Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_executor_get_statistics(
    executor: *const hob_executor,
    out_statistics: *mut hob_executor_statistics,
) -> hob_result {
    let found = executor.statistics();
    out_statistics.write(hob_executor_statistics {
        max_concurrency: executor.max_concurrency() as u32,
        waiting: found.waiting,
        running: found.running,
        ran: found.ran,
        failed: found.failed,
        ..hob_executor_statistics::defaults()
    });
    Ok(())
}

/// Returns the bytes that the executor holds, without its threads' stacks and its tasks' own memory.
/// 0 for an invalid handle. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_executor_memory_used(executor: *const hob_executor) -> usize {
    Ok(executor.memory_used())
}
