//! Loops over blocks.

use std::ffi::c_void;

use hobgoblin_macros::entry;

use super::desc::{hob_executor, hob_priority};
use crate::base::error;
use crate::executor::{Context, Executor};
use crate::ffi::base::float::Register;
use crate::ffi::base::guard::{call_host_in_loop, host_environment};
use crate::ffi::base::result::hob_result;
use crate::ffi::base::text::hob_str;

// == Loops ==

/// Calls `body` for every block from 0 to `blocks` - 1, on several threads at once, and returns after the last one.
/// `executor` may be NULL: all blocks run on this thread. Blocks run in any order. Inside a block or a task, a loop
/// uses no other thread. The job system gets `priority` and `name`. A loop allocates memory only if more loops run at
/// once than ever before.
///
///     /* void cull(void *scene, uint32_t block, uint32_t worker); blocks = (object_count + 255) / 256 */
///     hob_executor_parallel_for(executor, blocks, cull, scene, HOB_PRIORITY_NORMAL, HOB_STR("cull"));
///
/// HOB_RESULT_PANIC: a block ended in an internal error, and some blocks were not called. Threads: shared.
///
/// Callbacks: `body`, on this thread and those of the executor, always in this thread's floating-point environment
/// (MXCSR on x86-64, FPCR on AArch64).
/// `worker` is 0 on this thread. It is always below hob_executor_statistics.max_concurrency. Two blocks of one loop
/// that run at the same time have different workers. `body` may make shared calls, on this executor too.
#[entry(any, hot, nullable(executor))]
pub extern "C" fn hob_executor_parallel_for(
    executor: *const hob_executor,
    blocks: u32,
    body: Option<extern "C" fn(user_data: *mut c_void, block: u32, worker: u32)>,
    user_data: *mut c_void,
    priority: hob_priority,
    name: hob_str,
) -> hob_result {
    // A clone, so that the loop can continue if its handle is destroyed inside it.
    let executor = executor.map_or_else(|| Ok(Executor::inline()), |executor| executor.read(|all| Ok(all.clone())))?;
    let body = body.ok_or_else(|| error!(InvalidArgument, "body is NULL: pass the function to call for each block"))?;
    let body = Body { user_data, body, environment: host_environment() };
    executor.for_callbacks().parallel_for(blocks as usize, priority.priority()?, name.text()?, &|context, block| {
        body.call(context, block);
    });
    Ok(())
}

/// The host's body of a loop.
struct Body {
    user_data: *mut c_void,
    body: extern "C" fn(*mut c_void, u32, u32),
    environment: Register,
}

// SAFETY: the header names the threads that call it; the host makes `user_data` fit for them.
unsafe impl Sync for Body {}

impl Body {
    fn call(&self, context: &Context<'_>, block: usize) {
        call_host_in_loop(self.environment, || (self.body)(self.user_data, block as u32, context.worker() as u32));
    }
}
