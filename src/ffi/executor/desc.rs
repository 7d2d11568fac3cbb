//! The handle and its parameters.

use std::ffi::{c_char, c_void};

use hobgoblin_macros::{opaque, open_enum, versioned};

use crate::base::Result;
use crate::executor::{Executor, Priority};

/// Runs loops and background tasks.
/// A handle: see "Handles" in base.h. Other handles that use it keep it alive.
#[opaque(Executor, tag = b"hobexecu")]
pub struct hob_executor {
    _private: [u8; 0],
}

// == Parameters ==

/// The priority of a loop or a task.
#[open_enum]
#[repr(C)]
pub enum hob_priority {
    /// The default.
    Normal = 0,
    /// Another thread waits for the result.
    High = 1,
    /// Runs when nothing else waits.
    Low = 2,
}

/// The thread that runs background tasks.
#[open_enum]
#[repr(C)]
pub enum hob_background {
    /// The host calls hob_executor_pump.
    Pump = 0,
    /// A thread of the library. hob_executor_destroy joins it.
    Thread = 1,
    /// A thread of the host: hob_executor_desc.post.
    Host = 2,
}

/// hob_executor_desc.flags: host callbacks run only on the thread that calls the library.
/// For hosts whose runtime cannot run on other threads. hob_executor_parallel_for becomes a plain loop, and tasks of
/// hob_executor_post wait for hob_executor_pump. Loops and tasks of the library itself still use all threads.
pub const HOB_EXECUTOR_CALLING_THREAD_ONLY: u32 = 1;

/// The bits of the priority in the `flags` of `enqueue` and `post`.
/// `flags & HOB_TASK_PRIORITY_MASK` is a hob_priority. Other bits are 0 in this version: ignore them.
pub const HOB_TASK_PRIORITY_MASK: u32 = 3;

/// Parameters of an executor.
/// By default, loops run on the calling thread, and background tasks wait for a pump.
#[versioned(size = 64, last = task_limit)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_executor_desc {
    /// sizeof(hob_executor_desc).
    pub struct_size: u32,
    /// Limit of the threads that work on one loop, the caller included; at most 64. Default 0: the caller with all
    /// threads of the pool, or with `enqueue` as many as the machine runs at once.
    /// hob_executor_statistics.max_concurrency is the limit in force.
    pub max_concurrency: u32,
    /// Passed to the callbacks.
    pub user_data: *mut c_void,
    /// Schedules one call of `run(task)` on a thread of the host. Returns a ticket for `finish`. Return NULL if `run`
    /// was called inside this call or never will be: no `finish` follows.
    ///
    /// `name` ends in NUL and is valid during the call. `flags & HOB_TASK_PRIORITY_MASK` is the hob_priority. Runs on
    /// the thread that called the library. Set both `enqueue` and `finish`, or neither.
    pub enqueue: Option<
        extern "C" fn(
            user_data: *mut c_void,
            run: Option<unsafe extern "C" fn(task: *mut c_void)>,
            task: *mut c_void,
            flags: u32,
            name: *const c_char,
        ) -> *mut c_void,
    >,
    /// Cancels the ticket's task if it has not started, and otherwise waits for its end. All blocks have started by
    /// then, so a late start would find no work. After `finish` has returned, `run` must not be called. Called exactly
    /// once per ticket, on the thread that called `enqueue`.
    pub finish: Option<extern "C" fn(user_data: *mut c_void, ticket: *mut c_void)>,
    /// Schedules exactly one call of `run(task)` on a thread that may block. `run` must not be called inside this call.
    /// A call after the executor was destroyed does nothing; a call after the library was unloaded crashes. `name` and
    /// `flags` are as in `enqueue`. Runs on the thread that posts. Only with HOB_BACKGROUND_HOST.
    pub post: Option<
        extern "C" fn(
            user_data: *mut c_void,
            run: Option<unsafe extern "C" fn(task: *mut c_void)>,
            task: *mut c_void,
            flags: u32,
            name: *const c_char,
        ),
    >,
    /// Called exactly once, after the last call of the other callbacks. May be NULL.
    pub release: Option<extern "C" fn(user_data: *mut c_void)>,
    /// Threads of the built-in pool, without those that call the library; at most 63. Default 0: no pool. Must be 0 if
    /// `enqueue` is set.
    pub pool_threads: u32,
    /// The thread that runs background tasks. Default 0: HOB_BACKGROUND_PUMP.
    pub background: hob_background,
    /// HOB_EXECUTOR_ bits. Default 0: none.
    pub flags: u32,
    /// Limit of the tasks that wait in the background. 0: the default, 65536.
    #[default(1 << 16)]
    pub task_limit: u32,
}

impl From<Priority> for hob_priority {
    fn from(priority: Priority) -> Self {
        match priority {
            Priority::Normal => Self::Normal,
            Priority::High => Self::High,
            Priority::Low => Self::Low,
        }
    }
}

impl hob_priority {
    /// Converts a priority to the library's.
    pub fn priority(self) -> Result<Priority> {
        Ok(match self.check("priority")? {
            Self::High => Priority::High,
            Self::Low => Priority::Low,
            _ => Priority::Normal,
        })
    }
}
