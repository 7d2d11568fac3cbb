//! Executors run loops on the calling thread, a built-in pool or the host's job system, and tasks in the background.
//!
//! An [`Executor`] runs two kinds of work, independently of each other:
//!
//! * [`Executor::parallel_for`] forks and joins inside a frame. The work is cut into blocks. The caller and its helpers
//!   take blocks from a shared counter. The caller always takes part, so progress never depends on helpers. A helper
//!   that starts late finds no block. A helper that has not started is retracted, and the caller does not wait for it.
//!   Inside a block or a task, `parallel_for` is a plain loop, so that any code may call it.
//! * [`Executor::post`] puts a task into the background queue: file access, builds, all work longer than a frame. A
//!   thread of its own, a host thread or [`Executor::pump`] serves the queue. It runs one task at a time, by priority,
//!   in FIFO order within a priority. No call inside a frame waits for it.
//!
//! Invariants:
//! 1. Threads start only on request.
//! 2. `parallel_for` returns after all helpers that started have ended, and no other helper can start.
//! 3. Each block is taken by one thread. A panic in a block propagates from its `parallel_for`, on the calling thread.
//! 4. At most one task of the background queue runs at a time. Callbacks of a host that wants them on the calling
//!    thread have a queue of their own, which only a pump or a wait serves.
//! 5. A panic in a task ends that task only, and is kept for [`Executor::take_failure`].
//! 6. No lock is held while host code runs.
//! 7. Per-thread state has no destructor and no heap memory, so that the library can be unloaded.
//!
//! | file | content |
//! |---|---|
//! | `fork` | one loop: the block counter and its participants |
//! | `pool` | worker threads, and the list of loops that want helpers |
//! | `task_queue` | the background queue: tasks by priority, one at a time |
//! | `thread` | threads that leave no destructor on host threads |
//! | `task` | a task on the heap, fallibly allocated |
//! | `inside` | per-thread state: inside a block, a task or a post |
//! | `sync` | the primitives: the standard library's, or loom's in model checks |
//! | `deadline` | timeouts by the host's clock |
//!
//! The hand-offs are model-checked:
//! `RUSTFLAGS="--cfg loom" cargo test --lib --no-default-features --features executor --target-dir target/loom loom_`.
//!
//! Sources of ideas, not of code:
//!
//! * Intel's TBB and enkiTS: blocks, and a caller that takes part.
//! * Box2D v3: task hooks that a host fills in (`enqueue`, `finish`).
//! * Jolt Physics' barriers: helpers that may be retracted.

mod deadline;
mod fork;
mod inside;
mod pool;
mod sync;
mod task;
mod task_queue;
mod thread;

#[cfg(all(loom, test))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;

use std::cell::Cell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::time::Duration;

use crate::base::{Level, Result, Shared, SharedDyn, Text, error, host_log};

pub use deadline::{Deadline, Stopwatch};
use fork::Fork;
use inside::{Posting, is_inside};
pub use pool::Awake;
use pool::Pool;
pub use task::{Task, try_task};
use task_queue::TaskQueue;
use thread::Thread;

/// Maximum number of threads that work on one loop, the caller included.
pub const MAX_CONCURRENCY: usize = 64;

/// How urgent work is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// A caller waits for the result.
    High,
    /// The default.
    #[default]
    Normal,
    /// Runs when no other work waits.
    Low,
}

impl Priority {
    const COUNT: usize = 3;
}

/// The message of a panic.
pub type Sentence = Text<400>;

/// Runs a closure that may panic: a helper or a background task. Returns the panic's message as an error.
pub type Enclosure = fn(&mut dyn FnMut()) -> std::result::Result<(), Sentence>;

/// An [`Enclosure`] for programs without one of their own.
#[allow(clippy::result_large_err, reason = "rare, and needs no memory")]
pub fn catch_panic(work: &mut dyn FnMut()) -> std::result::Result<(), Sentence> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let literal = payload.downcast_ref::<&str>().copied();
        let message = literal.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
        Text::format(format_args!("{message}"))
    })
}

/// The function that a host's job system runs. It never unwinds.
pub type Run = unsafe extern "C" fn(task: *mut c_void);

/// The host's threads.
///
/// # Safety
/// The system runs each function from `enqueue` at most once. It never runs one after `finish` has returned for its
/// ticket, or after `enqueue` has returned NULL. The system runs each function from `post` at most once.
pub unsafe trait JobSystem: Send + Sync {
    /// Schedule `run(task)` to run soon on any thread. It may also never run. NULL: it has run already, or never will.
    fn enqueue(&self, run: Run, task: *mut c_void, priority: Priority, name: &str) -> *mut c_void;
    /// Cancel the ticket's call, or wait until it has run. Cancel if possible.
    fn finish(&self, ticket: *mut c_void);
    /// Schedule `run(task)` on a thread for long tasks. Must not run it inside this call.
    fn post(&self, run: Run, task: *mut c_void, priority: Priority, name: &str);
}

/// The threads that help with loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Helpers {
    /// No helper: the caller works alone. The default.
    #[default]
    None,
    /// A built-in pool with this number of threads.
    Pool(usize),
    /// The host's job system.
    Host,
}

/// The server of the background queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Background {
    /// The callers of [`Executor::pump`]. The default.
    #[default]
    Pump,
    /// A built-in thread.
    Thread,
    /// The host's job system, by [`JobSystem::post`].
    Host,
}

/// The settings of an executor.
pub struct Options {
    /// The threads that help with loops. Default: [`Helpers::None`].
    pub helpers: Helpers,
    /// The server of the background queue. Default: [`Background::Pump`].
    pub background: Background,
    /// The host's job system. Required if `helpers` or `background` is `Host`.
    pub host: Option<SharedDyn<dyn JobSystem>>,
    /// Maximum number of threads that work on one loop, the caller included; at most [`MAX_CONCURRENCY`]. Default 0:
    /// the pool's threads plus the caller, or with [`Helpers::Host`] the parallelism of the machine.
    pub max_concurrency: usize,
    /// Maximum number of tasks that wait in the background. Default: 65536.
    pub task_limit: usize,
    /// Run the host's callbacks on the calling thread only: see [`Executor::for_callbacks`]. Default: false.
    pub calling_thread_only: bool,
    /// Catches panics of helpers and of background tasks. Default: [`catch_panic`].
    pub enclosure: Enclosure,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            helpers: Helpers::None,
            background: Background::Pump,
            host: None,
            max_concurrency: 0,
            task_limit: 1 << 16,
            calling_thread_only: false,
            enclosure: catch_panic,
        }
    }
}

/// Task counts of the background queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Tasks that wait.
    pub waiting: u64,
    /// Tasks that run.
    pub running: u64,
    /// Tasks that have run.
    pub ran: u64,
    /// Tasks that panicked. `ran` includes them.
    pub failed: u64,
    /// Tasks that were dropped because the executor was destroyed.
    pub dropped: u64,
}

/// Where a block or a task runs.
pub struct Context<'a> {
    worker: usize,
    queue: Option<&'a TaskQueue>,
    /// Tasks posted by [`post_rest`](Self::post_rest).
    rests: Cell<usize>,
}

impl Context<'_> {
    /// The number of this worker in its loop, below [`Executor::max_concurrency`]. The caller is 0. Two blocks that run
    /// at the same time have different numbers.
    pub fn worker(&self) -> usize {
        self.worker
    }

    /// From inside a task: post another to the same queue. A task that owns a clone of the executor keeps it alive.
    pub fn post(&self, task: Task, priority: Priority, name: &str) -> Result<()> {
        let queue =
            self.queue.ok_or_else(|| error!(Unsupported, "a block cannot post by its context: use the executor"))?;
        queue.post(priority, name, || Ok(task))
    }

    /// [`post`](Self::post) the remaining work of this task. A pump that runs this task may run the rest, too, within
    /// its budget. So work in small pieces is as fast as work in one piece, and tasks of higher priority come between.
    pub fn post_rest(&self, task: Task, priority: Priority, name: &str) -> Result<()> {
        self.post(task, priority, name)?;
        self.rests.set(self.rests.get() + 1);
        Ok(())
    }

    /// Whether the executor is being destroyed. A long task should then end.
    pub fn is_ending(&self) -> bool {
        self.queue.is_some_and(|queue| queue.is_over())
    }
}

/// Runs loops and background tasks. A clone is a reference to the same executor. Dropping the last reference destroys
/// it: waiting tasks are dropped, the running task is awaited, and all threads are joined.
#[derive(Clone, Default)]
pub struct Executor(Option<Shared<Inner>>);

struct Inner {
    pool: Option<Pool>,
    host: Option<SharedDyn<dyn JobSystem>>,
    thread: Option<Thread>,
    queue: TaskQueue,
    /// Tasks that only a pump may run; the same as `queue` unless callbacks are for the calling thread only.
    callback_queue: TaskQueue,
    max_concurrency: usize,
    calling_thread_only: bool,
    enclosure: Enclosure,
}

impl Executor {
    /// An executor that uses the calling thread only. It has no background queue: [`Executor::post`] fails.
    pub fn inline() -> Self {
        Self(None)
    }

    /// Create an executor with these options.
    pub fn new(options: Options) -> Result<Self> {
        Ok(Self(Some(Shared::try_new(Inner::new(options)?)?)))
    }

    /// Maximum number of threads that work on one loop, the caller included.
    pub fn max_concurrency(&self) -> usize {
        self.0.as_ref().map_or(1, |inner| inner.max_concurrency)
    }

    /// [`max_concurrency`](Self::max_concurrency) of the executor [for callbacks](Self::for_callbacks).
    pub fn max_concurrency_of_callbacks(&self) -> usize {
        self.0.as_ref().map_or(1, |inner| if inner.calling_thread_only { 1 } else { inner.max_concurrency })
    }

    /// The executor for the host's callbacks: this one, or the inline one with [`Options::calling_thread_only`]. Tasks
    /// that call the host go through [`Executor::post_callback`].
    pub fn for_callbacks(self) -> Self {
        if self.0.as_ref().is_some_and(|inner| inner.calling_thread_only) { Self::inline() } else { self }
    }

    /// Run `body` for every block below `blocks`, in any order, on this thread and its helpers. Returns when all blocks
    /// have ended. After a panic in a block no further block starts, running blocks end, and this call panics.
    /// Allocates only when more loops run at the same time than before.
    pub fn parallel_for(
        &self,
        blocks: usize,
        priority: Priority,
        name: &str,
        body: &(dyn Fn(&Context<'_>, usize) + Sync),
    ) {
        let helpers = self.max_concurrency().min(blocks).saturating_sub(1);
        match &self.0 {
            Some(inner) if helpers > 0 && !is_inside() => inner.parallel_for(blocks, helpers, priority, name, body),
            _ => Fork::new(blocks, 0, catch_panic, body).run(|_| (), |()| ()),
        }
    }

    /// While the answer lives, loops follow each other soon: workers of the built-in pool wait awake for the next one, each
    /// for a limited time. `None`: there is no pool.
    pub fn stay_awake(&self) -> Option<Awake<'_>> {
        self.0.as_ref()?.pool.as_ref().map(Pool::stay_awake)
    }

    /// Whether it has a pool, whose workers can [`stay_awake`](Self::stay_awake).
    pub fn has_pool(&self) -> bool {
        self.0.as_ref().is_some_and(|inner| inner.pool.is_some())
    }

    /// Append a task to the background queue, behind the tasks of its priority. On failure the task is dropped.
    pub fn post(&self, task: Task, priority: Priority, name: &str) -> Result<()> {
        self.queues()?.0.post(priority, name, || Ok(task))
    }

    /// [`Executor::post`] for a task that calls the host. `make` creates the task after all other steps that can fail.
    /// With [`Options::calling_thread_only`] the task waits for a pump.
    pub fn post_callback(&self, priority: Priority, name: &str, make: impl FnOnce() -> Result<Task>) -> Result<()> {
        self.queues()?.1.post(priority, name, make)
    }

    /// Whether it has neither helpers nor a background.
    pub fn is_inline(&self) -> bool {
        self.0.is_none()
    }

    fn queues(&self) -> Result<(&TaskQueue, &TaskQueue)> {
        match &self.0 {
            Some(inner) => Ok((&inner.queue, &inner.callback_queue)),
            None => Err(error!(Unsupported, "the inline executor has no background: create an executor")),
        }
    }

    /// All distinct queues, the callback queue first.
    fn each_queue(&self) -> impl Iterator<Item = &TaskQueue> {
        let both = self.0.iter().map(|inner| (&inner.callback_queue, &inner.queue));
        both.flat_map(|(first, second)| [Some(first), (!first.is_same(second)).then_some(second)]).flatten()
    }

    /// Run background tasks on this thread. Returns the number of tasks that ran. Stops at the end of the budget, or
    /// after as many tasks as waited at the start, and the [rests](Context::post_rest) of those. A task starts while any budget remains, and is never interrupted. No
    /// task starts while another thread runs one of the same queue. From inside a block or a task:
    /// [`Code::Busy`](crate::base::Code::Busy).
    pub fn pump(&self, budget: Duration) -> Result<usize> {
        not_inside("pump")?;
        let budget = Deadline::after(budget);
        Ok(self.each_queue().map(|queue| queue.pump(&budget)).sum())
    }

    /// Run background tasks on this thread, and await tasks on other threads, until the queues are empty. For loading
    /// screens and tests. After the timeout: [`Code::Timeout`](crate::base::Code::Timeout), with a message about the
    /// remaining tasks. From inside a block or a task: [`Code::Busy`](crate::base::Code::Busy).
    pub fn wait_idle(&self, timeout: Duration) -> Result<()> {
        not_inside("wait_idle")?;
        let deadline = Deadline::after(timeout);
        // Tasks of one queue may post to the other.
        loop {
            if !self.each_queue().all(|queue| queue.wait_idle(&deadline)) {
                return Err(self.not_idle());
            }
            let left = self.statistics();
            if left.waiting + left.running == 0 {
                return Ok(());
            }
        }
    }

    fn not_idle(&self) -> crate::base::Error {
        let left = self.statistics();
        match self.each_queue().find_map(|queue| queue.running()) {
            Some(name) => {
                error!(
                    Timeout,
                    "timed out while '{name}' runs and {} tasks are queued: call again, or pass a longer timeout",
                    left.waiting
                )
            }
            None => {
                error!(Timeout, "timed out with {} tasks queued: call again, or pass a longer timeout", left.waiting)
            }
        }
    }

    /// The message of the first task that panicked since the last call. Callers of [`Executor::pump`] should check it.
    pub fn take_failure(&self) -> Option<Sentence> {
        self.each_queue().find_map(|queue| queue.take_failure())
    }

    /// Task counts, summed over the queues.
    pub fn statistics(&self) -> Statistics {
        self.each_queue().map(|queue| queue.statistics()).fold(Statistics::default(), |all, queue| Statistics {
            waiting: all.waiting + queue.waiting,
            running: all.running + queue.running,
            ran: all.ran + queue.ran,
            failed: all.failed + queue.failed,
            dropped: all.dropped + queue.dropped,
        })
    }

    /// Bytes that the executor holds, without memory that its tasks own.
    pub fn memory_used(&self) -> usize {
        let own = if self.0.is_some() { size_of::<Inner>() } else { 0 };
        own + self.each_queue().map(TaskQueue::memory_used).sum::<usize>()
    }
}

fn not_inside(verb: &str) -> Result<()> {
    if is_inside() {
        return Err(error!(Busy, "{verb} was called from inside a block or a task: call it from outside"));
    }
    Ok(())
}

impl Inner {
    fn new(options: Options) -> Result<Self> {
        let Options { helpers, background, host, task_limit, calling_thread_only, enclosure, .. } = options;
        if host.is_none() && (helpers == Helpers::Host || background == Background::Host) {
            return Err(error!(InvalidArgument, "the host's job system is missing: set its functions"));
        }
        let server = host.clone().filter(|_| background == Background::Host).map(|host| (host, take_turn as Run));
        let queue = TaskQueue::new(task_limit, enclosure, server)?;
        let callback_queue =
            if calling_thread_only { TaskQueue::new(task_limit, enclosure, None)? } else { queue.clone() };
        let mut inner = Self {
            pool: None,
            host: host.filter(|_| helpers == Helpers::Host),
            thread: None,
            queue,
            callback_queue,
            max_concurrency: concurrency(&options.helpers, options.max_concurrency),
            calling_thread_only,
            enclosure,
        };
        if let Helpers::Pool(threads) = helpers {
            inner.pool = Some(Pool::new(threads.min(MAX_CONCURRENCY - 1))?);
        }
        if background == Background::Thread {
            let queue = inner.queue.clone();
            inner.thread = Some(Thread::spawn(c"hob background", move || queue.serve())?);
        }
        Ok(inner)
    }

    fn parallel_for(
        &self,
        blocks: usize,
        helpers: usize,
        priority: Priority,
        name: &str,
        body: &(dyn Fn(&Context<'_>, usize) + Sync),
    ) {
        let fork = Fork::new(blocks, helpers, self.enclosure, body);
        match (&self.pool, &self.host) {
            (Some(pool), _) => pool.run(&fork, helpers.min(pool.threads()), priority),
            (None, Some(host)) => run_on_host(&fork, &**host, helpers, priority, name),
            (None, None) => fork.run(|_| (), |()| ()),
        }
    }
}

/// Maximum number of threads that work on one loop.
fn concurrency(helpers: &Helpers, asked: usize) -> usize {
    let there_are = match *helpers {
        Helpers::None => return 1,
        Helpers::Pool(threads) => threads.saturating_add(1),
        Helpers::Host if asked == 0 => thread::parallelism(),
        Helpers::Host => asked,
    };
    there_are.min(if asked == 0 { MAX_CONCURRENCY } else { asked.min(MAX_CONCURRENCY) })
}

fn run_on_host(fork: &Fork<'_>, host: &dyn JobSystem, helpers: usize, priority: Priority, name: &str) {
    fork.run(
        |fork| {
            let mut tickets = [std::ptr::null_mut(); MAX_CONCURRENCY - 1];
            for ticket in &mut tickets[..helpers] {
                *ticket = host.enqueue(Fork::help_at, fork.address(), priority, name);
            }
            tickets
        },
        |tickets| tickets.into_iter().filter(|ticket| !ticket.is_null()).for_each(|ticket| host.finish(ticket)),
    );
}

/// The host's thread takes a turn of the background queue.
///
/// # Safety
/// `queue` is a pointer from [`TaskQueue::into_raw`] that was not passed to this function before.
unsafe extern "C" fn take_turn(queue: *mut c_void) {
    let Some(queue) = NonNull::new(queue) else { return };
    // SAFETY: by this function's contract.
    let queue = TaskQueue(unsafe { Shared::from_raw(queue) });
    // Inside `post` the posting code may hold a lock that the task needs. The task waits for the next turn or a pump.
    if !Posting::is_now() {
        queue.take_turn();
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let is_own_thread = self.queue.is_mine();
        for queue in [&self.callback_queue, &self.queue] {
            queue.end();
            if let Some(sentence) = queue.take_failure() {
                host_log(
                    Level::Error,
                    format_args!("a background task failed, and its error was never read: {sentence}"),
                );
            }
        }
        // A task may drop the last reference to its own executor. Its thread cannot join itself, so it is detached.
        match self.thread.take() {
            Some(thread) if is_own_thread => thread.detach(),
            Some(thread) => thread.join(),
            None => (),
        }
    }
}
