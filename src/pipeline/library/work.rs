//! Compiling on a worker, and in the background.

use std::sync::atomic::{
    AtomicBool,
    Ordering::{AcqRel, Release},
};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{Core, Library};
use crate::base::{Level, Result, Shared, WeakShared, error, host_log, thread_number, try_push};
use crate::executor::{Context, Deadline, Executor, Priority, Stopwatch, try_task};
use crate::pipeline::precompile::{Job, Outcome};
use crate::pipeline::{Description, PipelineKey};
use crate::quarantine;

/// Name of the background tasks.
const TASK: &str = "hobgoblin pipelines";

/// The result of a compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Built {
    /// The pipeline is ready.
    Ready,
    /// The driver refused it.
    Failed,
    /// The host did not compile it now. It is queued again.
    Cancelled,
}

/// The host's compiler.
pub trait Compiler: Send + Sync {
    /// Compile a pipeline. Runs on a worker, several at the same time.
    fn compile(&self, key: &PipelineKey, description: &Description, job: &Job) -> Built;
    /// All selected pipelines have a final state.
    fn complete(&self) {}
}

/// The threads that are inside the host, and the executor of the background.
#[derive(Default)]
pub struct Workers {
    inside: Mutex<Inside>,
    left: Condvar,
    /// Whether a background task is posted or runs.
    is_posted: AtomicBool,
}

#[derive(Default)]
struct Inside {
    /// Their numbers.
    threads: Vec<usize>,
    is_closed: bool,
    /// Closing takes it away, so that no task is posted any more.
    executor: Option<Executor>,
}

impl Workers {
    pub fn new(executor: Option<Executor>) -> Self {
        Self { inside: Mutex::new(Inside { executor, ..Inside::default() }), ..Self::default() }
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enter the host. `None` if the library is closed, or memory runs out.
    fn enter(&self) -> Option<Entered<'_>> {
        let mut inside = self.inside();
        if inside.is_closed || try_push(&mut inside.threads, thread_number()).is_err() {
            return None;
        }
        Some(Entered(self))
    }

    /// Whether this thread is inside the host.
    pub fn is_inside(&self) -> bool {
        self.inside().threads.contains(&thread_number())
    }

    /// Let no thread enter any more, and wait until all have left.
    pub fn close(&self) -> Result<()> {
        let mut inside = self.inside();
        if inside.threads.contains(&thread_number()) {
            return Err(error!(Busy, "this call comes from inside a compile of the library: destroy it after that"));
        }
        inside.is_closed = true;
        let executor = inside.executor.take();
        while !inside.threads.is_empty() {
            inside = self.left.wait(inside).unwrap_or_else(PoisonError::into_inner);
        }
        drop(inside);
        // It may be the last reference, whose drop awaits a running task.
        drop(executor);
        Ok(())
    }
}

/// The way of background tasks to the library. A task that waits does not keep the library alive, since closing would
/// have to await its turn. After the door is closed no task becomes an owner.
pub struct Door(Mutex<Option<WeakShared<Core>>>);

impl Door {
    pub fn to(core: &Shared<Core>) -> Self {
        Self(Mutex::new(Some(Shared::downgrade(core))))
    }

    fn way(&self) -> MutexGuard<'_, Option<WeakShared<Core>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn close(&self) {
        *self.way() = None;
    }

    fn pass(&self) -> Option<Shared<Core>> {
        self.way().as_ref()?.upgrade()
    }
}

struct Entered<'a>(&'a Workers);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        let mut inside = self.0.inside();
        if let Some(at) = inside.threads.iter().position(|&thread| thread == thread_number()) {
            inside.threads.swap_remove(at);
        }
        self.0.left.notify_all();
    }
}

/// Returns a job that was not finished, also after a panic of the host's compiler.
struct Running<'a> {
    library: &'a Core,
    job: &'a Job,
    outcome: Outcome,
    watch: Stopwatch,
    /// The note in the quarantine.
    noted: Option<quarantine::Token>,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if let Some((bans, token)) = self.library.quarantine.as_ref().zip(self.noted) {
            let is_ready = self.outcome == Outcome::Ok;
            let ended = if is_ready { quarantine::Outcome::Ok } else { quarantine::Outcome::Rejected };
            if let Err(why) = bans.end(token, ended) {
                host_log(Level::Warning, format_args!("{why}"));
            }
        }
        let took_us = u64::try_from(self.watch.passed().as_micros()).unwrap_or(u64::MAX);
        if self.outcome == Outcome::Ok {
            self.library.known.set_build_us(self.job.index, took_us);
        }
        let finished = self.library.precompiler.finish(self.job, self.outcome, took_us);
        if self.outcome == Outcome::Cancelled {
            self.library.known.forget_request(self.job.index);
        }
        if finished.is_ok_and(|finished| finished.is_complete) {
            // Taken here, so that it is reported once.
            _ = self.library.precompiler.take_completion();
            self.library.compiler.complete();
        }
    }
}

impl Core {
    /// Compile the next pipeline on this thread. `None` if none may be compiled now.
    pub fn compile_one(&self) -> Option<Built> {
        self.precompiler.take().map(|job| self.compile(&job))
    }

    /// Compile pipelines on this thread until none may be compiled now, the host cancels one, or the time is over. Returns
    /// their number.
    pub fn compile_for(&self, timeout: Duration) -> usize {
        let deadline = Deadline::after(timeout);
        let mut count = 0;
        // A cancelled pipeline may come next again, so the caller decides when.
        while !deadline.is_over() && self.compile_one().is_some_and(|built| built != Built::Cancelled) {
            count += 1;
        }
        count
    }

    /// Compile a job.
    pub(super) fn compile(&self, job: &Job) -> Built {
        // Also while the job is finished, which may call the host.
        let entered = self.workers.enter();
        let mut running =
            Running { library: self, job, outcome: Outcome::Cancelled, watch: Stopwatch::begin(), noted: None };
        if entered.is_none() {
            return Built::Cancelled;
        }
        let Some(description) = self.known.description(job.index) else {
            running.outcome = Outcome::Failed;
            return Built::Failed;
        };
        // A pipeline that cannot be noted is compiled without: a crash then leaves no strike.
        let note = |bans: &quarantine::Quarantine| bans.begin(self.environment, &job.key.0).ok();
        running.noted = self.quarantine.as_ref().and_then(note);
        running.watch = Stopwatch::begin();
        let built = self.compiler.compile(&job.key, &description, job);
        running.outcome = match built {
            Built::Ready => Outcome::Ok,
            Built::Failed => Outcome::Failed,
            Built::Cancelled => Outcome::Cancelled,
        };
        built
    }
}

impl Core {
    /// Write what waits to be kept. Waits for files.
    pub(super) fn save(&self) -> Result<()> {
        self.saving.write(&self.known, &self.precompiler)
    }

    fn has_work(&self) -> bool {
        self.precompiler.has_job() || self.saving.has_work()
    }

    /// One piece of background work. Other tasks of the queue come between two pieces.
    fn work_in_background(door: &Shared<Door>, context: &Context<'_>) {
        let Some(core) = door.pass() else { return };
        let built = core.compile_one();
        if built.is_none()
            && let Err(why) = core.save()
        {
            host_log(Level::Warning, format_args!("{why}"));
        }
        core.workers.is_posted.store(false, Release);
        // A cancelled pipeline waits for the next frame.
        let goes_on = built != Some(Built::Cancelled) && !context.is_ending();
        if goes_on && core.has_work() && !core.workers.is_posted.swap(true, AcqRel) {
            let door = door.clone();
            let task = try_task(|| move |context: &Context<'_>| Self::work_in_background(&door, context));
            if task.and_then(|task| context.post_rest(task, Priority::Low, TASK)).is_err() {
                core.workers.is_posted.store(false, Release);
            }
        }
    }
}

impl Library {
    /// Make sure that the background works, if there is work.
    pub(super) fn serve(&self) {
        if !self.has_work() || self.workers.is_posted.swap(true, AcqRel) {
            return;
        }
        let executor = self.workers.inside().executor.clone();
        let door = self.door.clone();
        let make = || try_task(|| move |context: &Context<'_>| Core::work_in_background(&door, context));
        let is_posted = executor.is_some_and(|executor| executor.post_callback(Priority::Low, TASK, make).is_ok());
        // Without the background, calls of `compile_one` do the work.
        if !is_posted {
            self.workers.is_posted.store(false, Release);
        }
    }
}
