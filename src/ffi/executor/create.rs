//! Creating and destroying executors.

use hobgoblin_macros::entry;

use super::desc::{HOB_EXECUTOR_CALLING_THREAD_ONLY, hob_background, hob_executor, hob_executor_desc};
use super::host_jobs::HostJobs;
use crate::base::{Result, Shared, error};
use crate::executor::{Background, Executor, Helpers, JobSystem, MAX_CONCURRENCY, Options};
use crate::ffi::base::argument::check_flags;
use crate::ffi::base::guard::enclose;
use crate::ffi::base::handle;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::Versioned;
use crate::ffi::base::user_data::UserData;

// == Create and destroy ==

/// Creates an executor.
/// `desc` may be NULL: defaults. On success `*out_executor` is the caller's to destroy, and `user_data` belongs to the
/// executor.
///
///     hob_executor_desc desc = HOB_EXECUTOR_DESC_INIT;
///     desc.user_data = engine;
///     desc.enqueue = enqueue_job; /* on the engine's threads */
///     desc.finish = finish_job;
///     if (hob_executor_create(&desc, &executor) != HOB_RESULT_OK) fail(hob_last_error());
///
/// Threads: any.
#[entry(any, nullable(desc))]
pub extern "C" fn hob_executor_create(
    desc: *const hob_executor_desc,
    out_executor: *mut *mut hob_executor,
) -> hob_result {
    out_executor.write(create(desc.unwrap_or_else(hob_executor_desc::defaults))?);
    Ok(())
}

/// Creates an executor with a pool of `threads` threads (0 to 63) and a background thread.
/// The calling thread takes part in its loops, so `threads` is the number of further threads. On success
/// `*out_executor` is the caller's to destroy. Threads: any.
#[entry(any)]
pub extern "C" fn hob_executor_create_pool(threads: u32, out_executor: *mut *mut hob_executor) -> hob_result {
    if threads as usize >= MAX_CONCURRENCY {
        return Err(error!(InvalidArgument, "threads is {threads}: it must be at most 63"));
    }
    let background = hob_background::Thread;
    let desc = hob_executor_desc { pool_threads: threads, background, ..hob_executor_desc::defaults() };
    out_executor.write(create(desc)?);
    Ok(())
}

/// Destroys an executor; NULL is allowed.
/// Waiting tasks are dropped: their `release` is called, their `run` is not. A running task is awaited, and all threads
/// are joined. If other handles use the executor, all of that happens when the last of them is destroyed. Destroy those
/// handles before the library is unloaded.
///
/// Threads: no call on it may run on another thread. Callbacks: `release` of the tasks, then of the desc, on this
/// thread.
#[entry(destroy)]
pub extern "C" fn hob_executor_destroy(executor: *mut hob_executor) {}

fn create(desc: hob_executor_desc) -> Result<*mut hob_executor> {
    let user_data = Shared::try_new(UserData::new(desc.user_data, desc.release))?;
    let executor = handle::create::<hob_executor>(Executor::new(options(desc, &user_data)?)?)?;
    user_data.own();
    Ok(executor)
}

fn options(desc: hob_executor_desc, user_data: &Shared<UserData>) -> Result<Options> {
    let refused = |why: &str| Err(error!(InvalidArgument, "hob_executor_desc: {why}"));
    let background = match desc.background.check("hob_executor_desc.background")? {
        hob_background::Thread => Background::Thread,
        hob_background::Host => Background::Host,
        _ => Background::Pump,
    };
    if desc.enqueue.is_some() != desc.finish.is_some() {
        return refused("enqueue and finish belong together: set both or neither");
    }
    if desc.enqueue.is_some() && desc.pool_threads > 0 {
        return refused("with enqueue the threads are the host's: leave pool_threads 0");
    }
    if desc.post.is_some() != (background == Background::Host) {
        return refused("post and HOB_BACKGROUND_HOST belong together: set both or neither");
    }
    if desc.pool_threads as usize >= MAX_CONCURRENCY || desc.max_concurrency as usize > MAX_CONCURRENCY {
        return refused("at most 64 threads work on a loop: max_concurrency is at most 64, pool_threads at most 63");
    }
    check_flags("hob_executor_desc", desc.flags, HOB_EXECUTOR_CALLING_THREAD_ONLY)?;
    let helpers = match (desc.enqueue, desc.pool_threads) {
        (Some(_), _) => Helpers::Host,
        (None, 0) => Helpers::None,
        (None, threads) => Helpers::Pool(threads as usize),
    };
    let jobs = Shared::try_new(HostJobs::new(desc, user_data.clone()))?;
    Ok(Options {
        helpers,
        background,
        host: Some(Shared::into_dyn::<dyn JobSystem>(jobs, |jobs| jobs)),
        max_concurrency: desc.max_concurrency as usize,
        task_limit: desc.task_limit as usize,
        calling_thread_only: desc.flags & HOB_EXECUTOR_CALLING_THREAD_ONLY != 0,
        enclosure: enclose,
    })
}
