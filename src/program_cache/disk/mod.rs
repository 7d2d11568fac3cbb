//! The disk tier: writes programs to a [`Store`](crate::store::Store), and loads them into memory, in the background.
//!
//! Callers add *requests* to a queue, under a lock that nobody holds while waiting for a file. A *worker* carries them out
//! in small steps: it owns the stores, and gives loaded programs to the memory tier. It works in the executor's background
//! lane, or on the thread of a caller that waits ([`Disk::work_until`]). Saves and loads of missed programs come first.
//! Without requests the worker loads programs [ahead](sources) of need, and then maintains the store.
//!
//! States. There is one lock; the state says who has the worker.
//!
//! | stage | who has the worker | next |
//! |---|---|---|
//! | `Resting` | the queue | `Working`, when a thread takes it; `Closing` |
//! | `Working` | a thread, for one step | `Resting`, also after a panic |
//! | `Closing` | the thread in [`Disk::close`] | `Closed`, when all requests are done |
//! | `Closed` | nobody: the stores are closed | – |
//!
//! A list, a look-up on disk and a bundle *look* at the stores. A look has a place among the requests. When its turn has
//! come, nobody takes the worker for a step until its thread has looked or given up.
//!
//! | lane | meaning | next |
//! |---|---|---|
//! | `Free` | the executor has no task of this cache | `Posted`, when there is work |
//! | `Posted` | one task waits or runs | `Free`, when it ends |
//!
//! | file | content |
//! |---|---|
//! | `queue` | requests and states |
//! | `worker` | the steps |
//! | `sources` | the stores, and the plan of loading ahead |
//! | `value` | programs as bytes |
//!
//! Lock order: the lock of the memory tier, then the queue's. No lock is held while a task is posted, because that may
//! call the host. A task keeps the queue alive, but not the worker or the executor: closing drops both.

mod queue;
mod sources;
pub mod value;
mod worker;

use std::path::Path;
use std::sync::MutexGuard;
use std::time::Duration;

use super::key::Key;
use super::memory::material::Material;
use super::memory::{Blob, Memory};
use super::problems::{Problems, Source};
use super::strikes::Strikes;
use crate::base::{Code, Result, Shared, Text, error, try_path};
use crate::executor::{Context, Deadline, Executor, Priority, Task, try_task};
use crate::store::io::SharedIo;
use crate::store::{self, Bundle};

use queue::{Desk, Lane, Queue, Request, Save, Stage};
pub use queue::{DiskOptions, Progress, Scope};
pub use sources::Sources;
pub use value::kind;
use worker::{MATERIAL_BYTES, Worker};

/// The name of tasks in the host's job system.
const TASK: &str = "program cache";
/// Steps of one task, before other tasks get the lane.
const STEPS: usize = 32;

type Guard<'a> = MutexGuard<'a, Queue<Worker>>;

/// The disk of a cache. Clones share it.
#[derive(Clone)]
pub struct Disk {
    desk: Shared<Desk<Worker>>,
    problems: Shared<Problems>,
    /// The file system is the host's, so tasks call the host.
    calls_host: bool,
}

impl Disk {
    /// A disk tier that loads programs into `memory`. Without an executor, only callers that wait do its work.
    pub fn new(
        options: DiskOptions,
        executor: Option<Executor>,
        io: SharedIo,
        memory: Shared<Memory>,
        strikes: Shared<Strikes>,
        problems: Shared<Problems>,
    ) -> Result<Self> {
        let calls_host = io.is_hosts();
        let worker = Worker::new(options.directory.as_deref().map(try_path).transpose()?, io, memory, strikes);
        let desk = Shared::try_new(Desk::new(options, executor, worker)?)?;
        let disk = Self { desk, problems, calls_host };
        disk.post(disk.desk.queue());
        Ok(disk)
    }

    /// Add a bundle, which is searched after the directory and after earlier bundles.
    pub fn add_bundle(&self, bundle: Bundle) -> Result<()> {
        self.change(|queue| {
            queue.push(Request::Bundle(bundle))?;
            queue.bundles += 1;
            Ok(())
        })
    }

    /// Change the limit of the disk.
    pub fn set_limit(&self, limit_bytes: u64) -> Result<()> {
        if !self.desk.writes() {
            return Ok(());
        }
        self.change(|queue| queue.push(Request::Limit(limit_bytes)))
    }

    /// The progress of loading.
    pub fn progress(&self) -> Progress {
        let queue = self.desk.queue();
        Progress { waiting: queue.waiting.len() as u64, ..queue.progress }
    }

    /// Bytes of programs that wait to be written. `is_held` tells which of them another tier counts.
    pub fn memory_used(&self, is_held: impl Fn(&Blob) -> bool) -> u64 {
        let queue = self.desk.queue();
        let of_request = |request: &Request| match request {
            Request::Save(Save::Program(blob)) if !is_held(blob) => blob.memory_used(),
            _ => 0,
        };
        queue.waiting.iter().map(of_request).sum()
    }

    /// The store's statistics at the last time without requests.
    pub fn statistics(&self) -> store::Statistics {
        self.desk.queue().counts
    }

    /// The present problem of reading or writing as a sentence; empty without a problem.
    pub fn trouble(&self) -> Text<232> {
        self.desk.queue().problem()
    }

    /// The driver, device and build that the programs are for.
    pub fn environment(&self) -> u64 {
        self.desk.options.environment
    }

    /// The directory of the segments.
    pub fn directory(&self) -> Option<&Path> {
        self.desk.options.directory.as_deref()
    }

    /// Whether written programs are compressed.
    pub fn compression(&self) -> store::Compression {
        self.desk.options.store.compression
    }

    /// The number of saves, loads, removals and clearings that were requested.
    #[cfg(test)]
    pub fn requested(&self) -> [u64; 4] {
        self.desk.queue().requested
    }

    /// Do one step, if the worker rests.
    #[cfg(test)]
    pub fn step_once(&self) -> bool {
        self.take_turn(self.desk.queue()).is_some_and(|mut turn| turn.step())
    }

    // Requests that never wait. Failures are reported by `trouble`.

    /// Write a program.
    pub fn save(&self, blob: &Blob) {
        let (desk, writes) = (&*self.desk, self.desk.writes());
        let saved = self.request(|queue| {
            desk.cancel_loads(queue, blob.key());
            if !writes {
                // The programs of that key in the directory and in bundles are older.
                return queue.hide(blob.key());
            }
            queue.push_program(blob, desk.options.waiting_limit)
        });
        if let Err(why) = saved {
            desk.queue().count_unwritten(u64::from(writes), &why);
        }
    }

    /// Report a new problem to the log and the host. Hold no lock.
    fn report(&self) {
        let problem = self.desk.queue().problem();
        self.problems.report(Source::Disk, problem);
    }

    /// Load a missed program, unless another thread has the queue: a later miss asks again.
    pub fn ask(&self, key: &Key) {
        if let Some(mut queue) = self.desk.try_queue() {
            let _ = self.push_load(&mut queue, key);
            self.post(queue);
        }
    }

    fn push_load(&self, queue: &mut Queue<Worker>, key: &Key) -> Result<()> {
        let has_sources = self.desk.options.directory.is_some() || queue.bundles > 0;
        if has_sources && !queue.is_closed() { queue.push_load(key) } else { Ok(()) }
    }

    /// Remove a program. An error: the directory cannot be changed, and the program is hidden from this process only.
    pub fn remove(&self, key: &Key) -> Result<()> {
        let (desk, writes) = (&*self.desk, self.desk.writes());
        self.request(|queue| {
            desk.cancel_loads(queue, key);
            if queue.bundles > 0 || !writes {
                queue.hide(key)?;
            }
            if !writes {
                return Ok(());
            }
            if let Err(why) = queue.push(Request::Remove(*key)) {
                // It is not removed, but at least hidden.
                queue.hide(key)?;
                return Err(why);
            }
            queue.check_unremoved()
        })
    }

    /// Remove all programs of the environment or the directory. An error as for [`remove`](Self::remove).
    pub fn clear(&self, scope: Scope) -> Result<()> {
        let desk = &*self.desk;
        self.request(|queue| {
            desk.cancel_all(queue);
            if !desk.writes() {
                queue.hide_own(true);
                return Ok(());
            }
            queue.push(Request::Clear(scope))?;
            queue.check_unremoved()
        })
    }

    /// Write the inputs of a key. Very long ones are not written.
    pub fn describe(&self, key: &Key, material: Material) {
        if self.desk.writes() && material.bytes().len() <= MATERIAL_BYTES {
            let _ = self.request(|queue| queue.push(Request::Save(Save::Material(*key, material))));
        }
    }

    // Calls that wait.

    /// Look for a program on disk until the timeout. Returns whether the search ended in time.
    pub fn look_for(&self, key: &Key, timeout: Duration) -> Result<bool> {
        let deadline = Deadline::after(timeout);
        while let Err(why) = self.change(|queue| self.push_load(queue, key)) {
            if why.code() != Code::LimitExceeded {
                return Err(why);
            }
            if !self.work_until(&deadline, Queue::has_room) {
                return Ok(false);
            }
        }
        Ok(self.work_until(&deadline, |queue| !queue.asked.contains(key)))
    }

    /// Work, or wait for other threads, until there is no work. Returns whether that was in time.
    pub fn wait_idle(&self, timeout: Duration) -> bool {
        let is_idle = |queue: &Queue<Worker>| match &queue.stage {
            Stage::Resting(worker) => queue.waiting.is_empty() && !worker.has_work(),
            Stage::Working => false,
            Stage::Closing | Stage::Closed => true,
        };
        self.work_until(&Deadline::after(timeout), is_idle)
    }

    /// Write all programs that wait, the uses and the start-up set, so that a loss of power cannot lose them. A program
    /// that was put since the last flush and could not be written is an error.
    pub fn flush(&self, timeout: Duration) -> Result<()> {
        if !self.desk.writes() {
            return Ok(());
        }
        let number = self.change(|queue| {
            let number = queue.flushes + 1;
            queue.push(Request::Flush(number)).map(|()| queue.flushes = number)?;
            Ok::<_, crate::base::Error>(number)
        })?;
        if !self.work_until(&Deadline::after(timeout), |queue| queue.flushed >= number) {
            return Err(error!(Timeout, "the flush did not end in time: call again, or allow more time"));
        }
        self.desk.queue().report_unwritten()
    }

    /// Do all requests that wait, then look at the stores. Later requests wait until then, so steady puts cannot delay a
    /// look for ever. `look` also gets a function that tells whether a key is hidden in a source, and the deadline.
    pub fn with_sources<R>(
        &self,
        timeout: Duration,
        look: impl FnOnce(&mut Sources, &dyn Fn(usize, &Key) -> bool, &Deadline) -> Result<R>,
    ) -> Result<R> {
        let deadline = Deadline::after(timeout);
        let number = self.change(|queue| match &queue.stage {
            Stage::Resting(worker) if queue.waiting.is_empty() && !worker.is_amid() => queue.look_now(),
            _ => queue.push_look(),
        })?;
        let looker = Looker { disk: self, number };
        let may_look =
            |queue: &Queue<Worker>| queue.has_begun(looker.number) && matches!(queue.stage, Stage::Resting(_));
        loop {
            if !self.work_until(&deadline, may_look) {
                return Err(error!(Timeout, "the disk still reads or writes: call again, or allow more time"));
            }
            let queue = self.desk.queue();
            if queue.is_closed() {
                return Err(error!(InvalidArgument, "the cache was destroyed: its disk is closed"));
            }
            // Another thread that looks may have taken the worker.
            if let Some(mut turn) = self.take_worker(queue)
                && let Some(worker) = &mut turn.worker
            {
                return look(&mut worker.sources, &|source, key| self.desk.queue().is_hidden(source, key), &deadline);
            }
        }
    }

    /// Write what waits on this thread, and close the stores. Later requests are ignored.
    pub fn close(&self) {
        let desk = &*self.desk;
        let mut queue = desk.queue();
        if queue.is_closed() {
            return;
        }
        // A running task stops after its step, and no other one is posted.
        let executor = queue.executor.take();
        let mut worker = loop {
            match std::mem::replace(&mut queue.stage, Stage::Closing) {
                Stage::Resting(worker) => break worker,
                stage => queue.stage = stage,
            }
            queue = desk.changed.wait(queue).unwrap_or_else(std::sync::PoisonError::into_inner);
        };
        drop(queue);
        if worker.must_finish(desk) {
            worker.finish(desk);
        }
        // Now, not when the last task is dropped: after this call the host may close its file system.
        drop(worker);
        desk.queue().stage = Stage::Closed;
        desk.changed.notify_all();
        self.report();
        drop(executor);
    }

    // Turns.

    /// Change the queue, and post a task for new work.
    fn change<R>(&self, change: impl FnOnce(&mut Queue<Worker>) -> R) -> R {
        let mut queue = self.desk.queue();
        let changed = change(&mut queue);
        self.post(queue);
        changed
    }

    /// Add requests, unless the disk is closed. A failure is also reported by [`trouble`](Self::trouble).
    fn request(&self, change: impl FnOnce(&mut Queue<Worker>) -> Result<()>) -> Result<()> {
        let changed = self.change(|queue| {
            if queue.is_closed() {
                return Ok(());
            }
            let changed = change(queue);
            if let Err(why) = &changed {
                queue.trouble = Some(why.into());
            }
            changed
        });
        if changed.is_err() {
            self.report();
        }
        changed
    }

    /// Release the queue, and post a task if there is work and no task.
    fn post(&self, queue: Guard<'_>) {
        if queue.lane == Lane::Posted {
            return;
        }
        let Some(executor) = queue.executor.clone() else { return };
        self.post_by(queue, |task| match self.calls_host || self.problems.has_observer() {
            true => executor.post_callback(Priority::Normal, TASK, || Ok(task)),
            false => executor.post(task, Priority::Normal, TASK),
        });
    }

    fn post_by(&self, mut queue: Guard<'_>, post: impl FnOnce(Task) -> Result<()>) {
        let has_work = match &queue.stage {
            // The thread that looks posts a task when it ends.
            Stage::Resting(_) if queue.is_looked_at() => false,
            Stage::Resting(worker) => !queue.waiting.is_empty() || worker.has_work(),
            Stage::Working => !queue.waiting.is_empty(),
            Stage::Closing | Stage::Closed => false,
        };
        if !has_work || queue.lane == Lane::Posted || queue.executor.is_none() {
            return;
        }
        queue.lane = Lane::Posted;
        drop(queue);
        let disk = self.clone();
        // If posting fails, callers that wait do the work, and the next request posts again.
        if try_task(|| move |context: &Context<'_>| disk.serve(context)).and_then(post).is_err() {
            self.desk.queue().lane = Lane::Free;
        }
    }

    /// The background task: some steps, and another task if there is more work.
    fn serve(&self, context: &Context<'_>) {
        let posted = Posted(self);
        for _ in 0..STEPS {
            if context.is_ending() || self.desk.queue().executor.is_none() {
                return;
            }
            // If another thread works or looks, it posts a task when it ends.
            let Some(mut turn) = self.take_turn(self.desk.queue()) else { break };
            if !turn.step() {
                break;
            }
        }
        drop(posted);
        self.post_by(self.desk.queue(), |task| context.post(task, Priority::Normal, TASK));
    }

    /// Work, or wait for other threads, until `is_done`. Returns false after the deadline.
    fn work_until(&self, deadline: &Deadline, is_done: impl Fn(&Queue<Worker>) -> bool) -> bool {
        loop {
            let queue = self.desk.queue();
            if is_done(&queue) || queue.is_closed() {
                self.post(queue);
                return true;
            }
            if deadline.is_over() {
                self.post(queue);
                return false;
            }
            if matches!(queue.stage, Stage::Resting(_)) && !queue.is_looked_at() {
                if let Some(mut turn) = self.take_turn(queue) {
                    turn.step();
                }
                continue;
            }
            match deadline.left() {
                Some(left) => drop(self.desk.changed.wait_timeout(queue, left)),
                None => drop(self.desk.changed.wait(queue)),
            }
        }
    }

    /// Take the worker for a step, if the queue has it and no thread is to look at the stores.
    fn take_turn(&self, queue: Guard<'_>) -> Option<Turn<'_>> {
        if queue.is_looked_at() { None } else { self.take_worker(queue) }
    }

    /// Take the worker, if the queue has it.
    fn take_worker(&self, mut queue: Guard<'_>) -> Option<Turn<'_>> {
        match std::mem::replace(&mut queue.stage, Stage::Working) {
            Stage::Resting(worker) => Some(Turn { disk: self, worker: Some(worker) }),
            stage => {
                queue.stage = stage;
                None
            }
        }
    }
}

/// A thread's hold of the worker. Dropping it returns the worker, also in a panic.
struct Turn<'a> {
    disk: &'a Disk,
    worker: Option<Worker>,
}

impl Turn<'_> {
    fn step(&mut self) -> bool {
        self.worker.as_mut().is_some_and(|worker| worker.step(&self.disk.desk))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let is_panicking = std::thread::panicking();
        let mut queue = self.disk.desk.queue();
        if is_panicking {
            queue.recover();
        }
        if let Some(worker) = self.worker.take() {
            queue.stage = Stage::Resting(worker);
        }
        drop(queue);
        self.disk.desk.changed.notify_all();
        // In a panic the host is not called. The next step reports.
        if !is_panicking {
            self.disk.report();
        }
    }
}

/// A thread that waits to look at the stores, or looks. Dropping it lets the worker go on, also in a panic.
struct Looker<'a> {
    disk: &'a Disk,
    number: u64,
}

impl Drop for Looker<'_> {
    fn drop(&mut self) {
        let mut queue = self.disk.desk.queue();
        queue.end_look(self.number);
        self.disk.desk.changed.notify_all();
        // In a panic the host is not called. The next request posts.
        if !std::thread::panicking() {
            self.disk.post(queue);
        }
    }
}

/// The lane while the task runs. It is free again when the task ends in any way.
struct Posted<'a>(&'a Disk);

impl Drop for Posted<'_> {
    fn drop(&mut self) {
        self.0.desk.queue().lane = Lane::Free;
    }
}
