//! The disk tier: what the memory tier is told to keep goes to a [`Store`], and what was there comes back, all of it in
//! the background.
//!
//! Whoever calls the cache only ever puts *work* into a queue, under a lock that nobody holds while waiting for a file.
//! The work is done in *turns*, a piece each, on the executor's background lane, or by whoever waits for it
//! ([`DiskTier::work_until`]). What was put and what was missed comes first, and when there is nothing else, what somebody
//! may ask for is loaded [ahead](super::ahead).
//!
//! Where a lock of the memory tier and the queue's are held at once, the queue's was taken last; neither is while a task is
//! posted, which may call the host.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError, Weak};
use std::time::Duration;

use super::ahead::{Place, Sources};
use super::table::FoldKeys;
use super::{Blob, Disk, Key, Material, ProgramCache};
use crate::base::{Code, Error, Result, Text, error};
use crate::executor::{Context, Deadline, Executor, Priority, Task, try_task};
use crate::store::io::Io;
use crate::store::{self, Bundle, Store};

mod queue;
mod work;

use queue::{Kept, Queue, Work};

/// What the host's job system knows tasks by.
const TASK: &str = "program cache";
/// Pieces of work that one task does before it lets others have the lane.
const TURNS: usize = 32;
/// Missed keys that wait at a time; more are not looked for.
const ASKED: usize = 256;
/// How often somebody who waits looks whether he can do a turn himself.
const LOOK: Duration = Duration::from_millis(2);

/// What the tier works with.
pub struct DiskOptions {
    /// Where the segments are; none: only the bundles are read. Made when the first program is written.
    pub directory: Option<PathBuf>,
    /// Which programs are this driver's, device's and build's.
    pub environment: u64,
    /// Limits and habits of the store.
    pub store: store::Options,
    /// Bytes of programs that may wait to be written; what is put beyond that is not written.
    pub waiting_limit: u64,
    /// Whether to load what may be asked for; otherwise only what was missed.
    pub load_ahead: bool,
    /// Whose background lane does the work.
    pub executor: Executor,
}

/// How far loading has come, and what waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Programs that were to be loaded ahead.
    pub preload_total: u64,
    /// Those of them that were looked at.
    pub preload_done: u64,
    /// Pieces of work that wait.
    pub waiting: u64,
    /// Programs that were put and could not be written.
    pub unwritten: u64,
}

/// What only whoever does a turn touches.
#[derive(Default)]
pub(super) struct Bench {
    is_open: bool,
    /// The file system, until the tier is closed.
    io: Option<Arc<dyn Io>>,
    pub(super) sources: Sources,
    /// What is to be loaded ahead, the last one first.
    ahead: Vec<Place>,
    /// Materials that are to be read when there is nothing else to do, the last one first.
    materials: Vec<Place>,
    start_up: Vec<Key>,
    /// Whether that set was read, so that memory's may take its place.
    knows_start_up: bool,
    /// Programs whose use was noted on the disk: once for each process.
    noted: HashSet<Key, FoldKeys>,
    bytes: Vec<u8>,
    read: store::Buffer,
    saves: u32,
    maintains: bool,
    /// Programs for which memory had no room when they were loaded ahead.
    no_room: u32,
}

struct Shared {
    memory: OnceLock<Weak<ProgramCache>>,
    options: DiskOptions,
    queue: Mutex<Queue>,
    /// Work was done.
    changed: Condvar,
    bench: Mutex<Bench>,
    /// Whether work may call the host.
    calls_host: bool,
}

/// The disk of one cache. Dropping it writes what still waits, on the dropping thread.
pub struct DiskTier {
    shared: Arc<Shared>,
}

impl DiskTier {
    /// A tier that begins its work when it is [bound](Self::bind) to a memory tier.
    pub fn new(options: DiskOptions, io: Arc<dyn Io>) -> Result<Self> {
        let mut queue = Queue::default();
        queue.asked.try_reserve(ASKED)?;
        queue.waiting.try_reserve(ASKED)?;
        let shared = Shared {
            memory: OnceLock::new(),
            options,
            queue: Mutex::new(queue),
            changed: Condvar::new(),
            calls_host: io.is_hosts(),
            bench: Mutex::new(Bench { io: Some(io), ..Bench::default() }),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Bring what there is to `memory` from here on.
    pub fn bind(&self, memory: &Arc<ProgramCache>) {
        if self.shared.memory.set(Arc::downgrade(memory)).is_ok() {
            self.shared.change(|queue| queue.wants_task |= self.shared.options.directory.is_some());
        }
    }

    /// Read a bundle, too, from now on: after the directory, and after the bundles that came before it.
    pub fn add_bundle(&self, bundle: Bundle) -> Result<()> {
        self.shared.change(|queue| {
            queue.push(Work::Bundle(bundle))?;
            queue.bundles += 1;
            Ok(())
        })
    }

    /// Another limit for the disk, from the next piece of work on.
    pub fn set_limit(&self, limit_bytes: u64) -> Result<()> {
        if !self.shared.writes() {
            return Ok(());
        }
        self.shared.change(|queue| queue.push(Work::Limit(limit_bytes)))
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        let queue = self.shared.queue();
        Progress { waiting: queue.waiting.len() as u64, ..queue.progress }
    }

    /// Bytes of programs that memory gave up, and that still wait to be written.
    pub fn memory_used(&self) -> u64 {
        let queue = self.shared.queue();
        let waits = |work: &Work| match work {
            Work::Save(Kept::Program(blob)) if blob.is_evicted() => blob.memory_used(),
            _ => 0,
        };
        queue.waiting.iter().map(waits).sum()
    }

    /// What the store says of itself, as of the last turn.
    pub fn statistics(&self) -> store::Statistics {
        self.shared.queue().counts
    }

    /// Why programs are not written or not read, if so: a sentence, else empty.
    pub fn trouble(&self) -> Text<232> {
        let queue = self.shared.queue();
        if queue.trouble.as_str().is_empty() { queue.bundle_trouble } else { queue.trouble }
    }

    /// Look for a program on the disk, and wait until it was looked for. Whether that was in time.
    pub fn look_for(&self, key: &Key, timeout: Duration) -> Result<bool> {
        let deadline = Deadline::after(timeout);
        // Whoever waits also waits to be heard.
        while let Err(why) = self.shared.change(|queue| self.shared.ask(queue, key)) {
            if why.code() != Code::LimitExceeded {
                return Err(why);
            }
            if !self.work_until(&deadline, |queue| queue.asked.len() < ASKED) {
                return Ok(false);
            }
        }
        Ok(self.work_until(&deadline, |queue| !queue.asked.contains(key)))
    }

    /// Do what is to be done, or wait while others do, until nothing is left. Whether that was in time.
    pub fn wait_idle(&self, timeout: Duration) -> bool {
        self.work_until(&Deadline::after(timeout), |queue| queue.is_idle && queue.waiting.is_empty())
    }

    /// Write what still waits, on this thread, and take no more work.
    pub fn close(&self) {
        self.shared.close();
    }

    /// Write all that was put, which programs were used and the start-up set, and wait until it is safe from a loss of power.
    /// What was put since the last flush and could not be written is an error.
    pub fn flush(&self, timeout: Duration) -> Result<()> {
        if !self.shared.writes() {
            return Ok(());
        }
        let number = self.shared.change(|queue| {
            let number = queue.flushes + 1;
            queue.push(Work::Flush(number)).map(|()| queue.flushes = number)?;
            Ok::<_, Error>(number)
        })?;
        if !self.work_until(&Deadline::after(timeout), |queue| queue.flushed >= number) {
            return Err(error!(Timeout, "programs are still being written: call again, or allow more time"));
        }
        self.shared.queue().tell_lost()
    }

    /// Stop the background for a moment, when all that was put is written or could not be, and look at what it reads from.
    pub(super) fn with_bench<R>(&self, look: impl FnOnce(&mut Bench) -> R) -> R {
        let mut bench = self.shared.bench.lock().unwrap_or_else(PoisonError::into_inner);
        while !bench.is_open || !self.shared.queue().waiting.is_empty() {
            self.shared.turn(&mut bench);
        }
        look(&mut bench)
    }

    /// Which programs are this driver's, device's and build's.
    pub fn environment(&self) -> u64 {
        self.shared.options.environment
    }

    /// Whether what is written is compressed.
    pub fn compression(&self) -> store::Compression {
        self.shared.options.store.compression
    }

    /// Take turns with the background until that is so, or the time is over.
    fn work_until(&self, deadline: &Deadline, is_done: impl Fn(&Queue) -> bool) -> bool {
        loop {
            if is_done(&self.shared.queue()) {
                return true;
            }
            if deadline.is_over() {
                return false;
            }
            let mut bench = match self.shared.bench.try_lock() {
                Ok(bench) => bench,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    let queue = self.shared.queue();
                    let span = deadline.left().map_or(LOOK, |left| left.min(LOOK));
                    drop(self.shared.changed.wait_timeout(queue, span));
                    continue;
                }
            };
            self.shared.turn(&mut bench);
        }
    }
}

impl Disk for DiskTier {
    fn saved(&self, blob: &Blob) {
        let shared = &self.shared;
        let size = blob.size();
        let is_kept = shared.tell(|queue| {
            queue.forget_older(blob.key());
            if !shared.writes() {
                // What is there is older.
                return queue.hide(blob.key());
            }
            queue.removed.remove(blob.key());
            if queue.pinned.saturating_add(size) > shared.options.waiting_limit {
                return Err(error!(LimitExceeded, "programs are put faster than they are written: some are not kept"));
            }
            queue.push(Work::Save(Kept::Program(blob.clone())))?;
            queue.pinned += size;
            Ok(())
        });
        if let Err(why) = is_kept {
            shared.queue().lost(u64::from(shared.writes()), &why);
        }
    }

    fn missed(&self, key: &Key) {
        // Nobody who only asks is made to wait; who asks again is heard then.
        if let Ok(mut queue) = self.shared.queue.try_lock() {
            let _ = self.shared.ask(&mut queue, key);
            self.shared.release(queue);
        }
    }

    fn removed(&self, key: &Key) {
        let shared = &self.shared;
        let _ = shared.tell(|queue| {
            queue.forget_older(key);
            if queue.bundles > 0 || !shared.writes() {
                queue.hide(key)?;
            }
            if shared.writes() { queue.push(Work::Remove(*key)) } else { Ok(()) }
        });
    }

    fn cleared(&self) {
        let shared = &self.shared;
        let _ = shared.tell(|queue| {
            queue.is_cancelled = true;
            // What was put before is not worth writing any more.
            queue.waiting.retain(|work| !work.ends_with_clearing());
            queue.asked.clear();
            queue.pinned = 0;
            queue.is_own_hidden = !shared.writes();
            if shared.writes() { queue.push(Work::Clear) } else { Ok(()) }
        });
    }

    fn described(&self, key: &Key, material: Material) {
        if self.shared.writes() {
            let _ = self.shared.tell(|queue| queue.push(Work::Save(Kept::Material(*key, material))));
        }
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether what is put outlives the process.
    fn writes(&self) -> bool {
        self.options.directory.is_some() && !self.options.store.read_only
    }

    /// Change the queue, and see to it that the background does what waits then.
    fn change<R>(self: &Arc<Self>, change: impl FnOnce(&mut Queue) -> R) -> R {
        let mut queue = self.queue();
        let changed = change(&mut queue);
        self.release(queue);
        changed
    }

    /// The same, unless the tier is closing. How it went is also to be told of by [`DiskTier::trouble`].
    fn tell(self: &Arc<Self>, tell: impl FnOnce(&mut Queue) -> Result<()>) -> Result<()> {
        self.change(|queue| {
            if queue.is_closing {
                return Ok(());
            }
            let told = tell(queue);
            if let Err(why) = &told {
                queue.trouble = Text::format(format_args!("{why}"));
            }
            told
        })
    }

    fn ask(&self, queue: &mut Queue, key: &Key) -> Result<()> {
        let has_sources = self.options.directory.is_some() || queue.bundles > 0;
        if !has_sources || queue.asked.contains(key) {
            return Ok(());
        }
        if queue.asked.len() >= ASKED {
            return Err(error!(LimitExceeded, "{ASKED} programs are being looked for already: ask again later"));
        }
        queue.push(Work::Load(*key))?;
        queue.asked.insert(*key);
        Ok(())
    }

    /// Let go of the queue, and see to it that the background does what waits.
    fn release(self: &Arc<Self>, queue: MutexGuard<'_, Queue>) {
        let executor = &self.options.executor;
        self.release_to(queue, |task| match self.calls_host {
            true => executor.post_callback(Priority::Normal, TASK, || Ok(task)),
            false => executor.post(task, Priority::Normal, TASK),
        });
    }

    /// The same with that way to post. Where the background cannot be asked, whoever waits or drops does what waits.
    fn release_to(self: &Arc<Self>, mut queue: MutexGuard<'_, Queue>, post: impl FnOnce(Task) -> Result<()>) {
        if !queue.wants_task || queue.is_posted || queue.is_closing || self.memory.get().is_none() {
            return;
        }
        (queue.wants_task, queue.is_posted) = (false, true);
        drop(queue);
        if task_of(self).and_then(post).is_err() {
            self.queue().is_posted = false;
        }
    }

    /// Do one piece of work; false if there is none.
    fn turn(&self, bench: &mut Bench) -> bool {
        let mut queue = self.queue();
        let work = if bench.is_open { queue.pop() } else { None };
        let is_closing = queue.is_closing;
        drop(queue);
        let _survives = Survives(self);
        let (did, done) = match work {
            _ if !bench.is_open => (true, self.open(bench)),
            Some(work) => (true, self.perform(bench, work)),
            None if is_closing => (false, Ok(())),
            None => match (bench.ahead.pop(), bench.materials.pop()) {
                (Some((source, name)), material) => {
                    bench.materials.extend(material);
                    (true, self.load_ahead(bench, source, &name))
                }
                (None, Some((source, name))) => (true, self.recall(bench, source, &name)),
                (None, None) => self.maintain(bench),
            },
        };
        self.report(bench, did, done);
        did
    }

    fn report(&self, bench: &Bench, did: bool, done: Result<()>) {
        let mut queue = self.queue();
        queue.is_idle = !did && queue.waiting.is_empty();
        if queue.waiting.is_empty() {
            queue.counts = bench.sources.own.as_ref().map(Store::statistics).unwrap_or_default();
            let damaged: u64 = bench.sources.bundles.iter().map(|bundle| bundle.statistics().damaged).sum();
            queue.counts.damaged += damaged;
            if damaged > 0 {
                queue.bundle_trouble = Text::format(format_args!(
                    "bundles are damaged, in {damaged} places at least: what is there is built again; ship them anew"
                ));
            }
        }
        if let Some(store) = &bench.sources.own {
            match store.trouble() {
                Some(trouble) => queue.trouble = Text::format(format_args!("{trouble}")),
                None if done.is_ok() && did => queue.trouble = Text::EMPTY,
                None => {}
            }
        }
        if let Err(why) = done {
            queue.trouble = Text::format(format_args!("{why}"));
        }
        drop(queue);
        self.changed.notify_all();
    }

    /// Write what still waits, which keys were used, and the start-up set.
    fn close(&self) {
        if std::mem::replace(&mut self.queue().is_closing, true) {
            return;
        }
        let mut bench = self.bench.lock().unwrap_or_else(PoisonError::into_inner);
        let has_start_up =
            || self.memory().is_some_and(|memory| memory.start_up_keys().is_ok_and(|keys| !keys.is_empty()));
        if bench.is_open || !self.queue().waiting.is_empty() || self.writes() && has_start_up() {
            while self.turn(&mut bench) {}
            // What could not be noted is not worth a word: it only makes eviction a little less wise.
            let _ = self.note_uses(&mut bench);
        }
        // Here, and not when the last task lets go of the tier: from now on the host may do away with its files.
        (bench.sources, bench.io) = (Sources::default(), None);
    }
}

/// Whatever becomes of a piece of work, those who wait for one do not wait for ever: after a panic nobody will say that
/// it is done.
struct Survives<'a>(&'a Shared);

impl Drop for Survives<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut queue = self.0.queue();
            (queue.reading, queue.flushed) = (None, queue.flushes);
            queue.asked.clear();
            queue.waiting.retain(|work| !matches!(work, Work::Load(_) | Work::Flush(_)));
            queue.trouble = Text::format(format_args!("an internal error ended a piece of work of the disk"));
            drop(queue);
            self.0.changed.notify_all();
        }
    }
}

/// A task in the lane. When it ends, in whatever way, another one may be posted.
struct Posted<'a>(&'a Shared);

impl Drop for Posted<'_> {
    fn drop(&mut self) {
        self.0.queue().is_posted = false;
    }
}

/// Some turns. A task that kept the tier would keep the executor, which keeps the task.
fn task_of(shared: &Arc<Shared>) -> Result<Task> {
    let shared = Arc::downgrade(shared);
    try_task(|| move |context: &Context<'_>| serve(&shared, context))
}

/// Do some turns, and post what is left.
fn serve(shared: &Weak<Shared>, context: &Context<'_>) {
    let Some(shared) = shared.upgrade() else { return };
    let posted = Posted(&shared);
    let mut bench = shared.bench.lock().unwrap_or_else(PoisonError::into_inner);
    let mut turns = 0..TURNS;
    let is_more = loop {
        if context.is_ending() || shared.queue().is_closing {
            break false;
        }
        if turns.next().is_none() {
            break true;
        }
        if !shared.turn(&mut bench) {
            break false;
        }
    };
    drop(bench);
    drop(posted);
    let mut queue = shared.queue();
    // Work that came after the last turn found a task posted.
    queue.wants_task = is_more || !queue.waiting.is_empty();
    shared.release_to(queue, |task| context.post(task, Priority::Normal, TASK));
}

impl Drop for DiskTier {
    fn drop(&mut self) {
        self.shared.close();
    }
}
