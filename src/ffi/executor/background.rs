//! The background queue.

use std::ffi::c_void;
use std::time::Duration;

use hobgoblin_macros::entry;

use super::desc::{hob_executor, hob_priority};
use crate::base::{Result, error};
use crate::executor::{Context, Sentence, Task, try_task};
use crate::ffi::base::guard::call_host;
use crate::ffi::base::out::write_if;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::text::hob_str;
use crate::ffi::base::user_data::UserData;

// == Background ==

/// Posts a background task: `run(user_data)` is called later, one task at a time.
/// Tasks run by `priority`; tasks of one priority run in the order of the calls. `release` is called exactly once,
/// after `run` or instead of it. `release` may be NULL. Errors and the job system show the first 40 bytes of `name`.
///
///     /* void save(void *game); void free_game(void *game); */
///     if (hob_executor_post(executor, save, game, free_game, HOB_PRIORITY_LOW, HOB_STR("save")) != HOB_RESULT_OK)
///         free_game(game);
///
/// HOB_RESULT_LIMIT_EXCEEDED if task_limit tasks wait. After a failure `user_data` is still the caller's.
///
/// Threads: shared, also inside tasks and blocks. Callbacks: `post` of the desc, inside this call. Later `run` and
/// `release`, on the thread of the background; no lock is held.
#[entry(handle)]
pub extern "C" fn hob_executor_post(
    executor: *const hob_executor,
    run: Option<extern "C" fn(user_data: *mut c_void)>,
    user_data: *mut c_void,
    release: Option<extern "C" fn(user_data: *mut c_void)>,
    priority: hob_priority,
    name: hob_str,
) -> hob_result {
    let executor = executor.read(|executor| Ok(executor.clone()))?;
    let run = run.ok_or_else(|| error!(InvalidArgument, "run is NULL: pass the function of the task"))?;
    let make = || -> Result<Task> {
        try_task(|| HostTask { run, user_data: UserData::owned(user_data, release) }.into_task())
    };
    executor.post_callback(priority.priority()?, name.text()?, make)
}

/// Runs waiting background tasks on this thread until `budget_us` microseconds are used up.
/// 0 runs no task; UINT64_MAX: no limit. A task starts before the budget is used up, and is never interrupted. No task
/// starts while another thread runs one. The clock is the clock hook's, or the operating system's. `*out_ran` receives
/// the number of tasks that ran; `out_ran` may be NULL.
///
/// Tasks that are posted meanwhile wait for the next pump. Only pipeline libraries go on while their frame allows.
///
///     hob_executor_pump(executor, 500, NULL); /* each frame: half a millisecond */
///
/// HOB_RESULT_BUSY inside a block or a task. HOB_RESULT_PANIC: since the last pump or wait, a task ended in an internal
/// error, on any thread. Other tasks are not affected.
///
/// Threads: shared. Callbacks: `run` and `release` of the tasks, on this thread.
#[entry(handle, nullable(out_ran))]
pub extern "C" fn hob_executor_pump(executor: *const hob_executor, budget_us: u64, out_ran: *mut u32) -> hob_result {
    let executor = executor.read(|executor| Ok(executor.clone()))?;
    let ran = executor.pump(span(budget_us))?;
    write_if(out_ran, u32::try_from(ran).unwrap_or(u32::MAX));
    pass_on(executor.take_failure());
    Ok(())
}

/// Runs background tasks on this thread, and waits for those on other threads, until all have ended.
/// For loading screens and tests. `timeout_us` is in microseconds. 0 runs no task and does not wait; UINT64_MAX: no
/// limit.
///
/// HOB_RESULT_TIMEOUT: the sentence names the task that runs. HOB_RESULT_BUSY inside a block or a task.
/// HOB_RESULT_PANIC as for hob_executor_pump.
///
/// Threads: shared. Callbacks: as for hob_executor_pump.
#[entry(handle)]
pub extern "C" fn hob_executor_wait_idle(executor: *const hob_executor, timeout_us: u64) -> hob_result {
    let executor = executor.read(|executor| Ok(executor.clone()))?;
    let outcome = executor.wait_idle(span(timeout_us));
    pass_on(executor.take_failure());
    outcome
}

/// A task of the host.
struct HostTask {
    run: extern "C" fn(*mut c_void),
    user_data: UserData,
}

impl HostTask {
    fn into_task(self) -> impl FnOnce(&Context<'_>) + Send + 'static {
        move |_: &Context<'_>| {
            let task = self;
            call_host(|| (task.run)(task.user_data.get()));
        }
    }
}

/// Raises a task's panic in the current call.
fn pass_on(failure: Option<Sentence>) {
    if let Some(sentence) = failure {
        panic!("a background task failed: {sentence}");
    }
}

fn span(microseconds: u64) -> Duration {
    if microseconds == u64::MAX { Duration::MAX } else { Duration::from_micros(microseconds) }
}
