//! `executor.h`: who does the work, and what works in the background.

use std::ffi::{c_char, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::base::{hob_result, hob_str};
use super::guard::{call_host, enclose, guard};
use super::handle::{self, Opaque, shared};
use super::layout::{Out, Versioned, init_struct, read_struct, write_struct};
use crate::base::{Result, Text, error};
use crate::executor::{
    Background, Context, Executor, Helpers, JobSystem, MAX_CONCURRENCY, Options, Priority, Run, Sentence, Task,
    try_task,
};

/// Who does the work: inline, a built-in pool, or the host's job system; and what works in the background. A handle; see
/// docs/ownership.md and docs/threads.md. Other handles that were given it keep it alive.
pub struct hob_executor {
    _private: [u8; 0],
}

impl Opaque for hob_executor {
    type Value = Executor;
    const NAME: &'static str = "hob_executor";
    const TAG: [u8; 8] = *b"hobexecu";
}

/// How urgent work is.
#[repr(C)]
pub enum hob_priority {
    /// As most.
    Normal = 0,
    /// Somebody waits for it.
    High = 1,
    /// Whenever there is nothing better to do.
    Low = 2,
}

/// Who serves the background.
#[repr(C)]
pub enum hob_background {
    /// Whoever calls hob_executor_pump.
    Pump = 0,
    /// A thread of the library's, joined when the executor goes.
    Thread = 1,
    /// A thread of the host's: hob_executor_desc.post.
    Host = 2,
}

/// hob_executor_desc.flags: callbacks of the host's are called on no thread but the one that calls the library, for hosts
/// whose runtime does not know other threads. Loops over callbacks are inline, tasks of hob_executor_post wait for
/// hob_executor_pump; the library's own loops and tasks are spread as ever.
pub const HOB_EXECUTOR_CALLING_THREAD_ONLY: u32 = 1;

/// The bits of enqueue's and post's `flags` that are a hob_priority. The others are 0 for now.
pub const HOB_TASK_PRIORITY: u32 = 3;

/// How an executor works. Defaults: inline, and a background that is pumped.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_executor_desc {
    /// sizeof(hob_executor_desc); set by hob_executor_desc_init.
    pub struct_size: u32,
    /// Most threads that work on one loop, the caller included; at most 64. Default 0: all there are.
    pub max_concurrency: u32,
    pub user_data: *mut c_void,
    /// Have `run(task)` run soon on some thread of the host's. Returns a ticket, or NULL when it ran inside the call or
    /// will not run at all. `name` ends in NUL and is valid during the call; `flags`: HOB_TASK_PRIORITY. Called on the
    /// thread that called the library. May be NULL together with `finish`.
    pub enqueue: Option<
        extern "C" fn(
            user_data: *mut c_void,
            run: Option<unsafe extern "C" fn(task: *mut c_void)>,
            task: *mut c_void,
            flags: u32,
            name: *const c_char,
        ) -> *mut c_void,
    >,
    /// Return when the ticket's task has run, or is sure never to: one that has not begun had better be taken back, since
    /// by now nothing is left for it to do. Called exactly once for each ticket, on the thread on which enqueue was.
    /// After it returned, `run` must not be called.
    pub finish: Option<extern "C" fn(user_data: *mut c_void, ticket: *mut c_void)>,
    /// With HOB_BACKGROUND_HOST: have `run(task)` run, exactly once, on a thread that may take its time, and not inside
    /// this call. It may also come after the executor has gone, and then does nothing; but not after the library has
    /// been unloaded. `name` and `flags` as for enqueue. Called on the thread that posts.
    pub post: Option<
        extern "C" fn(
            user_data: *mut c_void,
            run: Option<unsafe extern "C" fn(task: *mut c_void)>,
            task: *mut c_void,
            flags: u32,
            name: *const c_char,
        ),
    >,
    /// Called exactly once, when none of the above is called any more. May be NULL.
    pub release: Option<extern "C" fn(user_data: *mut c_void)>,
    /// Threads of the built-in pool, beside those that call; at most 63. Default 0: none. Not together with `enqueue`.
    pub pool_threads: u32,
    /// A hob_background. Default HOB_BACKGROUND_PUMP.
    pub background: u32,
    /// HOB_EXECUTOR_ bits.
    pub flags: u32,
    /// Most tasks that wait in the background. Default 65536.
    pub task_limit: u32,
}

// SAFETY: repr(C), begins with struct_size, and integers, pointers and optional functions take any bytes.
unsafe impl Versioned for hob_executor_desc {
    const NAME: &'static str = "hob_executor_desc";
    const FIRST_SIZE: usize = size_of::<Self>();
    fn defaults() -> Self {
        Self {
            struct_size: size_of::<Self>() as u32,
            max_concurrency: 0,
            user_data: std::ptr::null_mut(),
            enqueue: None,
            finish: None,
            post: None,
            release: None,
            pool_threads: 0,
            background: hob_background::Pump as u32,
            flags: 0,
            task_limit: 1 << 16,
        }
    }
}

/// What the background has done and has to do. Filled in by the library; initialise with HOB_EXECUTOR_STATISTICS_INIT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_executor_statistics {
    /// sizeof(hob_executor_statistics); set by hob_executor_statistics_init.
    pub struct_size: u32,
    /// Most threads that work on one loop, the caller included.
    pub max_concurrency: u32,
    /// Tasks that wait.
    pub waiting: u64,
    /// Tasks that run.
    pub running: u64,
    /// Tasks that have run.
    pub ran: u64,
    /// Tasks among those that ended in an internal error.
    pub failed: u64,
}

// SAFETY: repr(C), begins with struct_size, integers.
unsafe impl Versioned for hob_executor_statistics {
    const NAME: &'static str = "hob_executor_statistics";
    const FIRST_SIZE: usize = size_of::<Self>();
    fn defaults() -> Self {
        Self { struct_size: size_of::<Self>() as u32, max_concurrency: 0, waiting: 0, running: 0, ran: 0, failed: 0 }
    }
}

/// The host's functions. Released when dropped, once they are owned.
struct HostJobs {
    desc: hob_executor_desc,
    is_owned: Arc<AtomicBool>,
}

// SAFETY: the header says on which threads the functions are called; `user_data` is the host's to make fit for them.
unsafe impl Send for HostJobs {}
// SAFETY: as above.
unsafe impl Sync for HostJobs {}

// SAFETY: what the trait asks for, the header asks of the host.
unsafe impl JobSystem for HostJobs {
    fn enqueue(&self, run: Run, task: *mut c_void, priority: Priority, name: &str) -> *mut c_void {
        let Some(enqueue) = self.desc.enqueue else { return std::ptr::null_mut() };
        let name = CName::of(name);
        call_host(|| enqueue(self.desc.user_data, Some(run), task, flags_of(priority), name.as_ptr()))
    }

    fn finish(&self, ticket: *mut c_void) {
        if let Some(finish) = self.desc.finish {
            call_host(|| finish(self.desc.user_data, ticket));
        }
    }

    fn post(&self, run: Run, task: *mut c_void, priority: Priority, name: &str) {
        if let Some(post) = self.desc.post {
            let name = CName::of(name);
            call_host(|| post(self.desc.user_data, Some(run), task, flags_of(priority), name.as_ptr()));
        }
    }
}

impl Drop for HostJobs {
    fn drop(&mut self) {
        if let Some(release) = self.desc.release
            && self.is_owned.load(Ordering::Relaxed)
        {
            call_host(|| release(self.desc.user_data));
        }
    }
}

/// A name that ends in NUL.
struct CName([u8; 64]);

impl CName {
    fn of(name: &str) -> Self {
        let cut = Text::<63>::format(format_args!("{name}"));
        let mut bytes = [0; 64];
        bytes[..cut.as_str().len()].copy_from_slice(cut.as_str().as_bytes());
        Self(bytes)
    }

    fn as_ptr(&self) -> *const c_char {
        self.0.as_ptr().cast()
    }
}

fn flags_of(priority: Priority) -> u32 {
    match priority {
        Priority::Normal => hob_priority::Normal as u32,
        Priority::High => hob_priority::High as u32,
        Priority::Low => hob_priority::Low as u32,
    }
}

fn priority(number: u32) -> Result<Priority> {
    [Priority::Normal, Priority::High, Priority::Low]
        .get(number as usize)
        .copied()
        .ok_or_else(|| error!(InvalidArgument, "there is no priority {number}: pass a hob_priority"))
}

impl hob_executor_desc {
    fn options(&self, is_owned: &Arc<AtomicBool>) -> Result<Options> {
        let refused = |why: &str| Err(error!(InvalidArgument, "hob_executor_desc: {why}"));
        let background = match self.background {
            0 => Background::Pump,
            1 => Background::Thread,
            2 => Background::Host,
            _ => return refused("background is no hob_background"),
        };
        if self.enqueue.is_some() != self.finish.is_some() {
            return refused("enqueue and finish belong together: set both or none");
        }
        if self.enqueue.is_some() && self.pool_threads > 0 {
            return refused("with enqueue the threads are the host's: leave pool_threads 0");
        }
        if self.post.is_some() != (background == Background::Host) {
            return refused("post and HOB_BACKGROUND_HOST belong together: set both or none");
        }
        if self.pool_threads as usize >= MAX_CONCURRENCY || self.max_concurrency as usize > MAX_CONCURRENCY {
            return refused("at most 64 threads work on a loop: at most 63 are the pool's");
        }
        if self.flags & !HOB_EXECUTOR_CALLING_THREAD_ONLY != 0 {
            return refused("flags has a bit that is no HOB_EXECUTOR_ one");
        }
        let helpers = match (self.enqueue, self.pool_threads) {
            (Some(_), _) => Helpers::Host,
            (None, 0) => Helpers::None,
            (None, threads) => Helpers::Pool(threads as usize),
        };
        Ok(Options {
            helpers,
            background,
            host: Some(Box::new(HostJobs { desc: *self, is_owned: Arc::clone(is_owned) })),
            max_concurrency: self.max_concurrency as usize,
            task_limit: self.task_limit as usize,
            calling_thread_only: self.flags & HOB_EXECUTOR_CALLING_THREAD_ONLY != 0,
            enclosure: enclose,
        })
    }
}

/// Fill in defaults; `size` is sizeof(hob_executor_desc). Usually by HOB_EXECUTOR_DESC_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_executor_desc_init(desc: *mut hob_executor_desc, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(desc, size) })
}

/// Fill in defaults; `size` is sizeof(hob_executor_statistics). Usually by HOB_EXECUTOR_STATISTICS_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_executor_statistics_init(
    statistics: *mut hob_executor_statistics,
    size: u32,
) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(statistics, size) })
}

/// Create an executor. `desc` NULL: defaults. `*out_executor` is written on success, and is then the caller's to destroy;
/// `user_data` is the executor's from then on. Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn hob_executor_create(
    desc: *const hob_executor_desc,
    out_executor: *mut *mut hob_executor,
) -> hob_result {
    guard(|| {
        // SAFETY: the header's contract.
        let out = unsafe { Out::new(out_executor, "out_executor") }?;
        // SAFETY: as above.
        let desc = if desc.is_null() { hob_executor_desc::defaults() } else { unsafe { read_struct(desc) }? };
        create(&desc, out)
    })
}

/// Create an executor with a built-in pool of `threads` threads (0 to 63) beside those that call, and a built-in thread
/// for the background. `*out_executor` is written on success, and is then the caller's to destroy. Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn hob_executor_create_pool(threads: u32, out_executor: *mut *mut hob_executor) -> hob_result {
    guard(|| {
        // SAFETY: the header's contract.
        let out = unsafe { Out::new(out_executor, "out_executor") }?;
        let background = hob_background::Thread as u32;
        create(&hob_executor_desc { pool_threads: threads, background, ..hob_executor_desc::defaults() }, out)
    })
}

fn create(desc: &hob_executor_desc, out: Out<*mut hob_executor>) -> Result<()> {
    let is_owned = Arc::new(AtomicBool::new(false));
    let executor = handle::create::<hob_executor>(Executor::new(desc.options(&is_owned)?)?)?;
    is_owned.store(true, Ordering::Relaxed);
    out.write(executor);
    Ok(())
}

/// Destroy an executor; NULL is no executor. When no other handle uses it, tasks that have not begun are dropped with
/// their `release` called, the one that runs is awaited, and all threads are joined; otherwise that happens when the last
/// of those handles is destroyed, so destroy them before the library is unloaded.
/// Threads: no other call on it may run. Callbacks: the tasks' `release`, then the desc's, on this thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_executor_destroy(executor: *mut hob_executor) {
    // SAFETY: the header's contract.
    unsafe { handle::destroy(executor) };
}

/// The executor itself, so that the call outlives a handle that is destroyed inside of it.
///
/// # Safety
/// As [`shared`].
unsafe fn executor_of(executor: *const hob_executor) -> std::result::Result<Executor, hob_result> {
    // SAFETY: by this function's contract.
    unsafe { shared(executor, |executor| Ok(executor.clone())) }
}

/// What a loop calls.
struct CBody {
    user_data: *mut c_void,
    body: extern "C" fn(*mut c_void, u32, u32),
}

// SAFETY: the header says on which threads it is called; `user_data` is the host's to make fit for them.
unsafe impl Sync for CBody {}

impl CBody {
    fn call(&self, context: &Context<'_>, block: usize) {
        call_host(|| (self.body)(self.user_data, block as u32, context.worker() as u32));
    }
}

/// Call `body` for every block from 0 to `blocks` - 1, in any order and on several threads at once, and return when all
/// have ended. `executor` may be NULL: inline. `worker` is below max_concurrency, 0 is the calling thread, and no two
/// blocks run at once under one number. `priority`: a hob_priority; `name` is passed on to the job system.
/// Inside a block or a task of any executor it is a plain loop. Takes no memory once as many loops have run at a time.
/// Threads: any, several at once. Callbacks: `body`, on this thread and on the executor's; it may call whatever is for
/// several threads at once, and must return on the thread on which it was called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_executor_parallel_for(
    executor: *const hob_executor,
    blocks: u32,
    body: Option<extern "C" fn(user_data: *mut c_void, block: u32, worker: u32)>,
    user_data: *mut c_void,
    priority: u32,
    name: hob_str,
) -> hob_result {
    let executor = if executor.is_null() {
        Executor::inline()
    } else {
        // SAFETY: the header's contract.
        match unsafe { executor_of(executor) } {
            Ok(executor) => executor,
            Err(result) => return result,
        }
    };
    guard(|| {
        let body = body.ok_or_else(|| error!(InvalidArgument, "body is NULL: pass what to call for each block"))?;
        // SAFETY: the header's contract.
        let (priority, name) = (self::priority(priority)?, unsafe { name.read("name") }?);
        let body = CBody { user_data, body };
        executor.for_callbacks().parallel_for(blocks as usize, priority, name, &|context, block| {
            body.call(context, block);
        });
        Ok(())
    })
}

/// A task of the host's. Released when dropped.
struct CTask {
    user_data: *mut c_void,
    run: extern "C" fn(*mut c_void),
    release: Option<extern "C" fn(*mut c_void)>,
}

// SAFETY: the header says on which threads it is called; `user_data` is the host's to make fit for them.
unsafe impl Send for CTask {}

impl CTask {
    fn into_task(self) -> impl FnOnce(&Context<'_>) + Send + 'static {
        move |_: &Context<'_>| {
            let task = self;
            call_host(|| (task.run)(task.user_data));
        }
    }
}

impl Drop for CTask {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            call_host(|| release(self.user_data));
        }
    }
}

/// Have `run(user_data)` run in the background: one task at a time, by `priority` (a hob_priority), first come first
/// served. `release` (may be NULL) is called exactly once, after `run` or instead of it. `name` is for statistics, errors
/// and the job system; its first 40 bytes are kept.
/// Returns HOB_RESULT_LIMIT_EXCEEDED when task_limit tasks wait, HOB_RESULT_OUT_OF_MEMORY; `user_data` is then still the
/// caller's. Threads: any, several at once, also from inside tasks and blocks. Callbacks: the desc's `post`, before this
/// returns; `run` and `release` later, on the thread that serves the background, with nothing locked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_executor_post(
    executor: *const hob_executor,
    run: Option<extern "C" fn(user_data: *mut c_void)>,
    user_data: *mut c_void,
    release: Option<extern "C" fn(user_data: *mut c_void)>,
    priority: u32,
    name: hob_str,
) -> hob_result {
    // SAFETY: the header's contract.
    let executor = match unsafe { executor_of(executor) } {
        Ok(executor) => executor,
        Err(result) => return result,
    };
    guard(|| {
        let run = run.ok_or_else(|| error!(InvalidArgument, "run is NULL: pass what to call"))?;
        // SAFETY: the header's contract.
        let (priority, name) = (self::priority(priority)?, unsafe { name.read("name") }?);
        let make = || -> Result<Task> { try_task(|| CTask { user_data, run, release }.into_task()) };
        executor.post_callback(priority, name, make)
    })
}

/// What a task's panic is for the call that hears of it.
fn pass_on(failure: Option<Sentence>) {
    if let Some(sentence) = failure {
        panic!("a background task failed: {sentence}");
    }
}

/// Run background tasks on this thread: as many as waited when it was called, until `budget_us` microseconds (by the
/// host's clock, if it has lent one) are used up. A task is begun as long as anything is left, and never interrupted; 0
/// begins none, UINT64_MAX is no limit. While another thread runs a task, none is begun. `*out_ran` (may be NULL) gets
/// the number of tasks run.
/// Returns HOB_RESULT_BUSY from inside a block or a task, HOB_RESULT_PANIC when a task has ended in an internal error
/// since the last call (on whatever thread; the others are not affected). Threads: any. Callbacks: the tasks' `run` and
/// `release`, on this thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_executor_pump(
    executor: *const hob_executor,
    budget_us: u64,
    out_ran: *mut u32,
) -> hob_result {
    // SAFETY: the header's contract.
    let executor = match unsafe { executor_of(executor) } {
        Ok(executor) => executor,
        Err(result) => return result,
    };
    guard(|| {
        // SAFETY: the header's contract.
        let out = unsafe { Out::optional(out_ran) };
        let ran = executor.pump(span(budget_us))?;
        if let Some(out) = out {
            out.write(u32::try_from(ran).unwrap_or(u32::MAX));
        }
        pass_on(executor.take_failure());
        Ok(())
    })
}

/// Run background tasks on this thread, and await those that run elsewhere, until there is none: for loading screens and
/// tests. `timeout_us`: microseconds; UINT64_MAX: as long as it takes.
/// Returns HOB_RESULT_BUSY when it takes longer (the sentence says what is left) and from inside a block or a task;
/// HOB_RESULT_PANIC as hob_executor_pump. Threads: any. Callbacks: as hob_executor_pump.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_executor_wait_idle(executor: *const hob_executor, timeout_us: u64) -> hob_result {
    // SAFETY: the header's contract.
    let executor = match unsafe { executor_of(executor) } {
        Ok(executor) => executor,
        Err(result) => return result,
    };
    guard(|| {
        let outcome = executor.wait_idle(span(timeout_us));
        pass_on(executor.take_failure());
        outcome
    })
}

fn span(microseconds: u64) -> Duration {
    if microseconds == u64::MAX { Duration::MAX } else { Duration::from_micros(microseconds) }
}

/// What the background has done and has to do; `statistics` is written on success. Threads: any, several at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_executor_get_statistics(
    executor: *const hob_executor,
    statistics: *mut hob_executor_statistics,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        handle::inspect(executor, |executor| {
            let found = executor.statistics();
            let answer = hob_executor_statistics {
                max_concurrency: executor.max_concurrency() as u32,
                waiting: found.waiting,
                running: found.running,
                ran: found.ran,
                failed: found.failed,
                ..hob_executor_statistics::defaults()
            };
            write_struct(statistics, &answer)
        })
    }
}

/// Bytes that the executor holds, but for its threads' stacks and what tasks own; 0 for no executor. Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn hob_executor_memory_used(executor: *const hob_executor) -> usize {
    // SAFETY: the header's contract.
    unsafe { shared(executor, |executor| Ok(executor.memory_used())) }.unwrap_or(0)
}
