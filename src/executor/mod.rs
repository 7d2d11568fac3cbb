//! Who does the work: the calling thread alone, a built-in pool, or the host's job system; and, apart from that, what
//! works in the background.
//!
//! An [`Executor`] has two lanes that have nothing to do with each other:
//!
//! * [`Executor::parallel_for`] forks and joins inside a frame. The work is cut into blocks, which are taken from a
//!   counter by the caller and by whoever comes to help. The caller always takes part, so that nothing depends on help;
//!   helpers that come late find no block left, and those that never came are retracted, not waited for. Inside a block
//!   or a task `parallel_for` is a plain loop, so that code does not care where it runs.
//! * [`Executor::post`] puts a task into the background lane: files, builds, all that takes longer than a frame. It is
//!   served by a thread of its own, by a thread of the host's, or by [`Executor::pump`]; one task at a time, by priority,
//!   first come first served. Nothing inside a frame waits for it.
//!
//! No thread is started that was not asked for. A panic in a block comes out of the `parallel_for` that it belongs to, on
//! the calling thread; one in a task is kept for [`Executor::take_failure`]. No lock is held while the host runs.
//!
//! | file | what |
//! |---|---|
//! | `fork` | one loop: the block counter, and who takes part |
//! | `pool` | threads of our own, and which loops want help |
//! | `lane` | the background queue |
//! | `thread` | threads of our own, which the host's know nothing of |
//! | `task` | a task on the heap, fallibly |
//! | `inside` | what a thread is doing for an executor |
//! | `deadline` | until when, by the host's clock |
//!
//! The hand-offs are model-checked:
//! `RUSTFLAGS="--cfg loom" cargo test --lib --no-default-features --features executor --target-dir target/loom loom_`.
//!
//! Ideas, and no code, from: the blocks and the caller that takes part, Intel's TBB and enkiTS; task hooks that a host
//! fills in (`enqueue`, `finish`), Box2D v3; that a helper may be retracted, Jolt Physics' barriers.

mod deadline;
mod fork;
mod inside;
mod lane;
mod pool;
mod sync;
mod task;
mod thread;

#[cfg(all(loom, test))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::base::{Level, Result, Text, error, host_log};

pub use deadline::Deadline;
use fork::Fork;
use inside::{Posting, is_inside};
use lane::{Lane, Notify};
use pool::Pool;
use sync::Arc;
pub use task::{Task, try_task};
use thread::Thread;

/// Most threads that work on one loop, the caller included.
pub const MAX_CONCURRENCY: usize = 64;

/// How urgent work is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Somebody waits for it.
    High,
    /// As most.
    #[default]
    Normal,
    /// Whenever there is nothing better to do.
    Low,
}

impl Priority {
    const COUNT: usize = 3;
}

/// What a panic said.
pub type Sentence = Text<400>;

/// Runs what may panic on a thread that is not the caller's, and says what the panic said.
pub type Enclosure = fn(&mut dyn FnMut()) -> std::result::Result<(), Sentence>;

/// An [`Enclosure`] for programs without one of their own.
#[allow(clippy::result_large_err, reason = "rare, and needs no memory")]
pub fn catch_panic(work: &mut dyn FnMut()) -> std::result::Result<(), Sentence> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let literal = payload.downcast_ref::<&str>().copied();
        let said = literal.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
        Text::format(format_args!("{said}"))
    })
}

/// What a host's job system is asked to run; nothing unwinds out of it.
pub type Run = unsafe extern "C" fn(task: *mut c_void);

/// The host's threads.
///
/// # Safety
/// What `enqueue` was given is run at most once and never after `finish` has returned for its ticket (or after `enqueue`
/// has returned NULL); what `post` was given is run at most once.
pub unsafe trait JobSystem: Send + Sync {
    /// Have `run(task)` run soon, perhaps, on some thread. NULL: it has run already, or never will.
    fn enqueue(&self, run: Run, task: *mut c_void, priority: Priority, name: &str) -> *mut c_void;
    /// Return when what the ticket stands for has run, or when it is sure that it never will: better the latter.
    fn finish(&self, ticket: *mut c_void);
    /// Have `run(task)` run on a thread that may take its time, and not inside of this call.
    fn post(&self, run: Run, task: *mut c_void, priority: Priority, name: &str);
}

/// Who helps with loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Helpers {
    /// Nobody: the caller works alone.
    #[default]
    None,
    /// So many threads of our own.
    Pool(usize),
    /// The host's job system.
    Host,
}

/// Who serves the background lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Background {
    /// Whoever calls [`Executor::pump`].
    #[default]
    Pump,
    /// A thread of our own.
    Thread,
    /// The host's job system, by [`JobSystem::post`].
    Host,
}

/// What an executor is made of.
pub struct Options {
    /// Who helps with loops.
    pub helpers: Helpers,
    /// Who serves the background lane.
    pub background: Background,
    /// The host's job system, where one of the two says so.
    pub host: Option<Box<dyn JobSystem>>,
    /// Most threads that work on one loop, the caller included; 0: as many as the machine runs at once.
    pub max_concurrency: usize,
    /// Most tasks that wait in the background.
    pub task_limit: usize,
    /// The host's callbacks are for the thread that calls, and no other: see [`Executor::for_callbacks`].
    pub calling_thread_only: bool,
    /// What panics run into on threads that are not the caller's.
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

/// What the background lane has done and has to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Tasks that wait.
    pub waiting: u64,
    /// Tasks that run.
    pub running: u64,
    /// Tasks that have run.
    pub ran: u64,
    /// Tasks among those that panicked.
    pub failed: u64,
    /// Tasks that were dropped because the executor went.
    pub dropped: u64,
}

/// Where a block or a task runs.
pub struct Context<'a> {
    worker: usize,
    lane: Option<&'a Arc<Lane>>,
}

impl Context<'_> {
    /// Which of the loop's workers this is: 0 is the caller, and no two blocks run at once under one number. Below
    /// [`Executor::max_concurrency`].
    pub fn worker(&self) -> usize {
        self.worker
    }

    /// From inside a task: post another to the same lane. A task that kept the executor itself would keep it alive.
    pub fn post(&self, task: Task, priority: Priority, name: &str) -> Result<()> {
        let lane =
            self.lane.ok_or_else(|| error!(Unsupported, "a block cannot post by its context: use the executor"))?;
        lane.post(priority, name, || Ok(task))
    }

    /// Whether the executor is being destroyed, so that a long task had better end.
    pub fn is_ending(&self) -> bool {
        self.lane.is_some_and(|lane| lane.is_over())
    }
}

/// Who does the work. A clone is the same executor; the last one that goes ends it: tasks that have not begun are
/// dropped, the running one is awaited, and all threads are joined.
#[derive(Clone, Default)]
pub struct Executor(Option<Arc<Inner>>);

struct Inner {
    pool: Option<Pool>,
    host: Option<Arc<dyn JobSystem>>,
    thread: Option<Thread>,
    lane: Arc<Lane>,
    /// Tasks that only a pump may run; the same as `lane` unless callbacks are for the calling thread only.
    callback_lane: Arc<Lane>,
    max_concurrency: usize,
    calling_thread_only: bool,
    enclosure: Enclosure,
}

impl Executor {
    /// The calling thread alone, and nothing in the background: [`Executor::post`] is refused.
    pub fn inline() -> Self {
        Self(None)
    }

    /// An executor as described.
    pub fn new(options: Options) -> Result<Self> {
        Inner::new(options).map(|inner| Self(Some(Arc::new(inner))))
    }

    /// Most threads that work on one loop, the caller included.
    pub fn max_concurrency(&self) -> usize {
        self.0.as_ref().map_or(1, |inner| inner.max_concurrency)
    }

    /// What to run the host's callbacks with: this executor, or, where they are for the calling thread only, the inline
    /// one. Tasks that call the host go through [`Executor::post_callback`].
    pub fn for_callbacks(&self) -> Self {
        if self.0.as_ref().is_some_and(|inner| inner.calling_thread_only) { Self::inline() } else { self.clone() }
    }

    /// Run `body` for every block below `blocks`, in any order, on this thread and on those that help, and return when
    /// all have ended. A panic in one of them is this call's, after no further block has begun and all that had have
    /// ended. Takes no memory once as many loops have run at a time before.
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

    /// Put a task at the end of the background lane, among those of its priority. On failure it is dropped.
    pub fn post(&self, task: Task, priority: Priority, name: &str) -> Result<()> {
        self.lanes()?.0.post(priority, name, || Ok(task))
    }

    /// [`Executor::post`], for a task that calls the host, which `make` makes when nothing else can fail any more. Where
    /// callbacks are for the calling thread only, it waits for a pump.
    pub fn post_callback(&self, priority: Priority, name: &str, make: impl FnOnce() -> Result<Task>) -> Result<()> {
        self.lanes()?.1.post(priority, name, make)
    }

    fn lanes(&self) -> Result<(&Arc<Lane>, &Arc<Lane>)> {
        match &self.0 {
            Some(inner) => Ok((&inner.lane, &inner.callback_lane)),
            None => Err(error!(Unsupported, "the inline executor has no background: create an executor")),
        }
    }

    /// The lanes that there are.
    fn each_lane(&self) -> impl Iterator<Item = &Arc<Lane>> {
        let both = self.0.iter().map(|inner| (&inner.callback_lane, &inner.lane));
        both.flat_map(|(first, second)| [Some(first), (!Arc::ptr_eq(first, second)).then_some(second)]).flatten()
    }

    /// Run background tasks on this thread until the budget is used up or as many have run as waited; how many did. A
    /// task is begun as long as anything is left of the budget, and not interrupted; none while another thread runs one.
    /// From inside a block or a task: [`Code::Busy`](crate::base::Code::Busy).
    pub fn pump(&self, budget: Duration) -> Result<usize> {
        not_inside("pump")?;
        let budget = Deadline::after(budget);
        Ok(self.each_lane().map(|lane| lane.pump(&budget)).sum())
    }

    /// Run background tasks on this thread, and await those that run elsewhere, until there is none left: for loading
    /// screens and tests. When that has not come in time: [`Code::Timeout`](crate::base::Code::Timeout), and the
    /// sentence says what is left. From inside a block or a task: [`Code::Busy`](crate::base::Code::Busy).
    pub fn wait_idle(&self, timeout: Duration) -> Result<()> {
        not_inside("wait_idle")?;
        let deadline = Deadline::after(timeout);
        // Tasks of the one lane may post to the other.
        loop {
            if !self.each_lane().all(|lane| lane.wait_idle(&deadline)) {
                return Err(self.not_idle());
            }
            let left = self.statistics();
            if left.waiting + left.running == 0 {
                return Ok(());
            }
        }
    }

    #[cold]
    fn not_idle(&self) -> crate::base::Error {
        let left = self.statistics();
        match self.each_lane().find_map(|lane| lane.running()) {
            Some(name) => {
                error!(Timeout, "'{name}' still runs and {} tasks wait: call again, or allow more time", left.waiting)
            }
            None => error!(Timeout, "{} tasks still wait: call again, or allow more time", left.waiting),
        }
    }

    /// What the first task said that panicked since this was last asked. Who calls [`Executor::pump`] should ask.
    pub fn take_failure(&self) -> Option<Sentence> {
        self.each_lane().find_map(|lane| lane.take_failure())
    }

    /// What the background has done and has to do.
    pub fn statistics(&self) -> Statistics {
        self.each_lane().map(|lane| lane.statistics()).fold(Statistics::default(), |all, lane| Statistics {
            waiting: all.waiting + lane.waiting,
            running: all.running + lane.running,
            ran: all.ran + lane.ran,
            failed: all.failed + lane.failed,
            dropped: all.dropped + lane.dropped,
        })
    }

    /// Bytes that the executor holds, but for what its tasks own.
    pub fn memory_used(&self) -> usize {
        let own = if self.0.is_some() { size_of::<Inner>() } else { 0 };
        own + self.each_lane().map(|lane| size_of::<Lane>() + lane.memory_used()).sum::<usize>()
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
        let host: Option<Arc<dyn JobSystem>> = host.map(Arc::from);
        if host.is_none() && (helpers == Helpers::Host || background == Background::Host) {
            return Err(error!(InvalidArgument, "there is no job system of the host's to use: set its functions"));
        }
        let notify = host.clone().filter(|_| background == Background::Host).map(notify_by);
        let lane = Arc::new(Lane::new(task_limit, enclosure, notify));
        let callback_lane =
            if calling_thread_only { Arc::new(Lane::new(task_limit, enclosure, None)) } else { Arc::clone(&lane) };
        let mut inner = Self {
            pool: None,
            host: host.filter(|_| helpers == Helpers::Host),
            thread: None,
            lane,
            callback_lane,
            max_concurrency: concurrency(&options.helpers, options.max_concurrency),
            calling_thread_only,
            enclosure,
        };
        if let Helpers::Pool(threads) = helpers {
            inner.pool = Some(Pool::new(threads.min(MAX_CONCURRENCY - 1))?);
        }
        if background == Background::Thread {
            let lane = Arc::clone(&inner.lane);
            inner.thread = Some(Thread::spawn(c"hob background", move || lane.serve())?);
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

/// How many threads may work on a loop.
fn concurrency(helpers: &Helpers, asked: usize) -> usize {
    let there_are = match *helpers {
        Helpers::None => return 1,
        Helpers::Pool(threads) => threads.saturating_add(1),
        Helpers::Host if asked == 0 => std::thread::available_parallelism().map_or(1, usize::from),
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

/// Tells the host of every task. What it is to run keeps the lane alive, so that a turn that comes after the executor has
/// gone finds nothing to do.
fn notify_by(host: Arc<dyn JobSystem>) -> Notify {
    Arc::new(move |lane: &Arc<Lane>, priority: Priority, name: &str| {
        let _posting = Posting::begin();
        host.post(take_turn, Arc::into_raw(Arc::clone(lane)).cast_mut().cast(), priority, name);
    })
}

/// # Safety
/// `lane` comes from [`notify_by`], and not a second time.
unsafe extern "C" fn take_turn(lane: *mut c_void) {
    // SAFETY: by this function's contract.
    let lane = unsafe { Arc::from_raw(lane.cast_const().cast::<Lane>()) };
    // Inside `post` whoever posts may hold what the task needs: it then waits for the next turn, or for a pump.
    if !Posting::is_now() {
        lane.take_turn();
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let is_own_thread = self.lane.is_mine();
        for lane in [&self.callback_lane, &self.lane] {
            lane.end();
            if let Some(sentence) = lane.take_failure() {
                host_log(Level::Error, format_args!("a background task failed, and nobody asked: {sentence}"));
            }
        }
        // The last owner may go inside a task of its own, whose thread then ends by itself.
        match self.thread.take() {
            Some(thread) if is_own_thread => thread.detach(),
            Some(thread) => thread.join(),
            None => (),
        }
    }
}
