//! The disk tier: what the memory tier is told to keep goes to a [`Store`], and what was there comes back, all of it in
//! the background.
//!
//! Whoever calls the cache only ever puts *work* into a queue, under a lock that nobody holds while waiting for a file.
//! The work is done in *turns*, a piece each, on the executor's background lane, or by whoever waits for it
//! ([`DiskTier::work_until`]). What was put is written first, what was missed is looked for next, and when there is nothing
//! else, what somebody may ask for is loaded ahead: the start-up set, then what was used last, as much as memory has
//! room for, in the order in which it lies on the disk.

use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError, Weak};
use std::time::Duration;

use super::table::FoldKeys;
use super::value::{decode, encode, kind};
use super::{Blob, Disk, Key, ProgramCache, Put, Refusal, Wanted};
use crate::base::sort::sort;
use crate::base::{Result, Text, error, try_push};
use crate::executor::{Context, Deadline, Executor, Priority, try_task};
use crate::store::io::Io;
use crate::store::{self, Name, Store};

/// Pieces of work that one task does before it lets others have the lane.
const TURNS: usize = 32;
/// Bytes that one call of the store's maintenance may copy.
const MAINTAINED: u64 = 8 << 20;
/// Saves after which there is maintenance again, at the latest.
const SAVES: u32 = 1024;
/// Missed keys that wait at a time; more are not looked for.
const ASKED: usize = 256;
/// So many programs that found no room end the loading ahead: one or two may only have been large.
const NO_ROOM: u32 = 16;
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
    /// Segments that were shipped: read, never written.
    pub bundles: Vec<Store>,
    /// Bytes of programs that may wait to be written; what is put beyond that is not written.
    pub waiting_limit: u64,
    /// Whether to load what may be asked for; otherwise only what was missed.
    pub load_ahead: bool,
    /// The file system.
    pub io: Arc<dyn Io>,
    /// Whose background lane does the work.
    pub executor: Executor,
}

/// How far loading has come, and what waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Programs that were to be loaded ahead.
    pub to_load: u64,
    /// Those of them that were looked at.
    pub loaded: u64,
    /// Pieces of work that wait.
    pub waiting: u64,
    /// Programs that were put and could not be written.
    pub unwritten: u64,
}

/// What is to be done.
enum Work {
    Save(Blob),
    Load(Key),
    Remove(Key),
    Clear,
    Flush,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Work>,
    asked: HashSet<Key, FoldKeys>,
    /// Bytes of the blobs that wait.
    pinned: u64,
    /// Whether a task is in the lane.
    is_posted: bool,
    /// Whether there is nothing left to do.
    is_idle: bool,
    /// Whether somebody does a turn.
    is_busy: bool,
    is_closing: bool,
    /// The key that is being read, and whether it was removed meanwhile.
    reading: Option<Key>,
    is_cancelled: bool,
    progress: Progress,
    trouble: Text<232>,
    counts: store::Statistics,
}

/// What only whoever does a turn touches.
#[derive(Default)]
struct Bench {
    is_open: bool,
    /// The directory's, if it could be opened.
    own: Option<Store>,
    bundles: Vec<Store>,
    /// What is to be loaded ahead, the last one first.
    ahead: Vec<(usize, Name)>,
    start_up: Vec<Key>,
    /// Whether that set was read, so that memory's may take its place.
    knows_start_up: bool,
    bytes: Vec<u8>,
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
}

/// The disk of one cache. Dropping it writes what still waits, on the dropping thread.
pub struct DiskTier {
    shared: Arc<Shared>,
}

impl DiskTier {
    /// A tier that begins its work when it is [bound](Self::bind) to a memory tier.
    pub fn new(mut options: DiskOptions) -> Result<Self> {
        let mut queue = Queue::default();
        queue.asked.try_reserve(ASKED)?;
        queue.waiting.try_reserve(ASKED)?;
        let bench = Bench { bundles: std::mem::take(&mut options.bundles), ..Bench::default() };
        let shared = Shared {
            memory: OnceLock::new(),
            options,
            queue: Mutex::new(queue),
            changed: Condvar::new(),
            bench: Mutex::new(bench),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Bring what there is to `memory` from here on.
    pub fn bind(&self, memory: &Arc<ProgramCache>) {
        if self.shared.memory.set(Arc::downgrade(memory)).is_ok() {
            self.shared.post(&mut self.shared.queue());
        }
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        let queue = self.shared.queue();
        Progress { waiting: queue.waiting.len() as u64, ..queue.progress }
    }

    /// What the store says of itself, as of the last turn.
    pub fn statistics(&self) -> store::Statistics {
        self.shared.queue().counts
    }

    /// Why programs are not written or not read, if so: a sentence, else empty.
    pub fn trouble(&self) -> Text<232> {
        self.shared.queue().trouble
    }

    /// Look for a program on the disk, and wait until it was looked for. Whether that was in time.
    pub fn look_for(&self, key: &Key, timeout: Duration) -> Result<bool> {
        self.shared.ask(&mut self.shared.queue(), key)?;
        Ok(self.work_until(timeout, |queue| !queue.asked.contains(key)))
    }

    /// Do what is to be done, or wait while others do, until nothing is left. Whether that was in time.
    pub fn wait_idle(&self, timeout: Duration) -> bool {
        self.work_until(timeout, |queue| queue.is_idle && queue.waiting.is_empty())
    }

    /// Write what still waits, on this thread, and take no more work.
    pub fn close(&self) {
        self.shared.close();
    }

    /// Write all that was put, and wait until it is safe from a loss of power.
    pub fn flush(&self, timeout: Duration) -> Result<()> {
        let mut queue = self.shared.queue();
        queue.waiting.try_reserve(1)?;
        queue.waiting.push_back(Work::Flush);
        drop(queue);
        if !self.work_until(timeout, |queue| queue.waiting.is_empty() && !queue.is_busy) {
            return Err(error!(Busy, "programs are still being written: call again, or allow more time"));
        }
        let trouble = self.trouble();
        if trouble.as_str().is_empty() { Ok(()) } else { Err(error!(Io, "{}", trouble.as_str())) }
    }

    /// Take turns with the background until that is so, or the time is over.
    fn work_until(&self, timeout: Duration, is_done: impl Fn(&Queue) -> bool) -> bool {
        let deadline = Deadline::after(timeout);
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
        let size = blob.data().len() as u64;
        self.shared.add(|queue| {
            if queue.pinned.saturating_add(size) > self.shared.options.waiting_limit {
                return Err(error!(LimitExceeded, "programs are put faster than they are written: some are not kept"));
            }
            queue.waiting.try_reserve(1)?;
            queue.pinned += size;
            queue.waiting.push_back(Work::Save(blob.clone()));
            Ok(())
        });
    }

    fn missed(&self, key: &Key) {
        // Nobody who only asks is made to wait; who asks again is heard then.
        if let Ok(mut queue) = self.shared.queue.try_lock()
            && self.shared.ask(&mut queue, key).is_ok()
        {
            self.shared.post(&mut queue);
        }
    }

    fn removed(&self, key: &Key) {
        self.shared.add(|queue| {
            queue.is_cancelled |= queue.reading.as_ref() == Some(key);
            queue.waiting.try_reserve(1)?;
            queue.waiting.push_back(Work::Remove(*key));
            Ok(())
        });
    }

    fn cleared(&self) {
        self.shared.add(|queue| {
            queue.is_cancelled = true;
            // What was put before is not worth writing any more.
            queue.waiting.clear();
            queue.asked.clear();
            queue.pinned = 0;
            queue.waiting.try_reserve(1)?;
            queue.waiting.push_back(Work::Clear);
            Ok(())
        });
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(self: &Arc<Self>, add: impl FnOnce(&mut Queue) -> Result<()>) {
        let mut queue = self.queue();
        match add(&mut queue) {
            Ok(()) => self.post(&mut queue),
            Err(why) => {
                queue.progress.unwritten += 1;
                queue.trouble = Text::format(format_args!("{why}"));
            }
        }
    }

    fn ask(&self, queue: &mut Queue, key: &Key) -> Result<()> {
        if queue.asked.contains(key) {
            return Ok(());
        }
        if queue.asked.len() >= ASKED {
            return Err(error!(LimitExceeded, "{ASKED} programs are being looked for already: ask again later"));
        }
        queue.waiting.try_reserve(1)?;
        queue.asked.insert(*key);
        queue.waiting.push_back(Work::Load(*key));
        Ok(())
    }

    /// See to it that the background does what waits. Where it cannot be asked, whoever waits or drops will.
    fn post(self: &Arc<Self>, queue: &mut Queue) {
        queue.is_idle = false;
        if queue.is_posted || queue.is_closing || self.memory.get().is_none() {
            return;
        }
        // A task that kept the tier would keep the executor, which keeps the task.
        let shared = Arc::downgrade(self);
        let task = try_task(|| move |context: &Context<'_>| serve(&shared, context));
        queue.is_posted =
            task.and_then(|task| self.options.executor.post(task, Priority::Normal, "program cache")).is_ok();
    }

    /// Do one piece of work; false if there is none.
    fn turn(&self, bench: &mut Bench) -> bool {
        let mut queue = self.queue();
        let work = if bench.is_open { queue.waiting.pop_front() } else { None };
        if let Some(Work::Save(blob)) = &work {
            queue.pinned = queue.pinned.saturating_sub(blob.data().len() as u64);
        }
        queue.is_busy = true;
        let is_closing = queue.is_closing;
        drop(queue);
        let (did, done) = match work {
            _ if !bench.is_open => (true, self.open(bench)),
            Some(work) => (true, self.perform(bench, work)),
            None if is_closing => (false, Ok(())),
            None => match bench.ahead.pop() {
                Some((source, name)) => (true, self.load_ahead(bench, source, &name)),
                None => self.maintain(bench),
            },
        };
        self.report(bench, did, done);
        did
    }

    fn report(&self, bench: &Bench, did: bool, done: Result<()>) {
        let mut queue = self.queue();
        queue.is_busy = false;
        queue.is_idle = !did && queue.waiting.is_empty();
        if let Some(store) = &bench.own {
            if queue.is_idle || queue.waiting.is_empty() {
                queue.counts = store.statistics();
            }
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

    fn open(&self, bench: &mut Bench) -> Result<()> {
        bench.is_open = true;
        let DiskOptions { io, directory, store, .. } = &self.options;
        let opened = directory.as_ref().map(|directory| Store::open(Arc::clone(io), directory, *store)).transpose();
        let opened = opened.map(|store| bench.own = store);
        self.plan(bench)?;
        opened
    }

    fn name(&self, kind: u8, key: &Key) -> Name {
        Name { kind, environment: self.options.environment, key: *key }
    }

    /// What to load ahead, and in which order.
    fn plan(&self, bench: &mut Bench) -> Result<()> {
        bench.maintains = bench.own.is_some() && !self.options.store.read_only;
        self.read_start_up(bench)?;
        let Some(memory) = self.memory() else { return Ok(()) };
        bench.start_up.iter().try_for_each(|key| memory.mark_start_up(key, true))?;
        bench.knows_start_up = true;
        if !self.options.load_ahead {
            return Ok(());
        }
        let first = memory.start_up_keys()?;
        let room = memory.statistics()?.limit_bytes;
        let mut set = HashSet::<Key, FoldKeys>::default();
        set.try_reserve(first.len())?;
        set.extend(first.iter().copied());
        let (mut ahead, mut latest) = (Vec::new(), Vec::new());
        let sources = bench.own.iter().chain(&bench.bundles);
        for (source, store) in sources.enumerate() {
            let source = source + usize::from(bench.own.is_none());
            for meta in store.entries(self.options.environment).filter(|meta| meta.name.kind == kind::PROGRAM) {
                try_push(&mut latest, (meta.last_used, meta.length))?;
            }
            for name in store.names_in_place(self.options.environment)? {
                if name.kind == kind::PROGRAM {
                    try_push(&mut ahead, (source, name))?;
                }
            }
        }
        let oldest = oldest_with_room(&mut latest, room);
        let is_recent = |&(source, name): &(usize, Name)| {
            set.contains(&name.key)
                || bench.source(source).and_then(|store| store.meta(&name)).is_some_and(|meta| meta.last_used >= oldest)
        };
        ahead.retain(is_recent);
        // The last one comes first, and before all the start-up set.
        ahead.reverse();
        let mut ordered = Vec::new();
        ordered.try_reserve_exact(ahead.len())?;
        let is_first = |entry: &&(usize, Name)| set.contains(&entry.1.key);
        ordered.extend(ahead.iter().filter(|entry| !is_first(entry)));
        ordered.extend(ahead.iter().filter(is_first));
        self.queue().progress.to_load = ordered.len() as u64;
        bench.ahead = ordered;
        Ok(())
    }

    fn read_start_up(&self, bench: &mut Bench) -> Result<()> {
        let name = self.name(kind::START_UP, &Key::default());
        let mut bytes = std::mem::take(&mut bench.bytes);
        if let Some(store) = &mut bench.own
            && store.get(&name, &mut bytes)?.is_some()
        {
            for key in bytes.as_chunks().0 {
                try_push(&mut bench.start_up, *key)?;
            }
        }
        bench.bytes = bytes;
        Ok(())
    }

    fn memory(&self) -> Option<Arc<ProgramCache>> {
        self.memory.get().and_then(Weak::upgrade)
    }

    fn perform(&self, bench: &mut Bench, work: Work) -> Result<()> {
        let Bench { own, bytes, saves, maintains, .. } = bench;
        // Where nothing is to be written that is no trouble, but the host's wish.
        let own = own.as_mut().filter(|_| !self.options.store.read_only);
        match work {
            Work::Load(key) => {
                let loaded = self.load(bench, &key);
                self.queue().asked.remove(&key);
                loaded
            }
            Work::Save(blob) => {
                encode(&blob, bytes)?;
                let build_us = u32::try_from(blob.cost_us()).unwrap_or(u32::MAX);
                let name = self.name(kind::PROGRAM, blob.key());
                let written = own.map(|store| {
                    let written = store.put(&name, build_us, bytes);
                    *maintains |= store.wants_maintenance();
                    written
                });
                if !matches!(written, Some(Ok(true))) {
                    self.queue().progress.unwritten += 1;
                }
                *saves += 1;
                *maintains |= saves.is_multiple_of(SAVES);
                written.unwrap_or(Ok(false)).map(|_| ())
            }
            Work::Remove(key) => {
                own.map_or(Ok(false), |store| store.remove(&self.name(kind::PROGRAM, &key))).map(|_| ())
            }
            Work::Clear => {
                bench.ahead.clear();
                bench.start_up.clear();
                own.map_or(Ok(()), |store| store.clear(Some(self.options.environment)))
            }
            Work::Flush => own.map_or(Ok(()), Store::sync),
        }
    }

    /// Bring a program that was missed.
    fn load(&self, bench: &mut Bench, key: &Key) -> Result<()> {
        let name = self.name(kind::PROGRAM, key);
        let sources = bench.own.is_none() as usize..=bench.bundles.len();
        for source in sources {
            if self.bring(bench, source, &name, Wanted::Now)? {
                break;
            }
        }
        Ok(())
    }

    fn load_ahead(&self, bench: &mut Bench, source: usize, name: &Name) -> Result<()> {
        let brought = self.bring(bench, source, name, Wanted::Perhaps);
        let mut progress = 1;
        if bench.no_room >= NO_ROOM {
            progress += bench.ahead.len() as u64;
            bench.ahead.clear();
        }
        self.queue().progress.loaded += progress;
        brought.map(|_| ())
    }

    /// Read a program and give it to memory; false if there is none.
    fn bring(&self, bench: &mut Bench, source: usize, name: &Name, wanted: Wanted) -> Result<bool> {
        let Some(memory) = self.memory() else { return Ok(true) };
        let mut queue = self.queue();
        (queue.reading, queue.is_cancelled) = (Some(name.key), false);
        drop(queue);
        let mut bytes = std::mem::take(&mut bench.bytes);
        let found = bench.source_mut(source).map_or(Ok(None), |store| store.get(name, &mut bytes));
        let mut queue = self.queue();
        queue.reading = None;
        let program = match &found {
            Ok(Some(meta)) if !queue.is_cancelled => decode(&bytes, meta.build_us),
            _ => None,
        };
        // Under the queue's lock, so that nobody removes the key between this look and the loading.
        let loaded = program.map(|program| memory.load(&name.key, &program, wanted));
        drop(queue);
        bench.bytes = bytes;
        match loaded {
            None => found.map(|meta| meta.is_some()),
            Some(put) => {
                bench.no_room += u32::from(matches!(put, Ok(Put::Refused(Refusal::NoRoom))));
                put.map(|_| true)
            }
        }
    }

    fn maintain(&self, bench: &mut Bench) -> (bool, Result<()>) {
        let Some(store) = bench.own.as_mut().filter(|_| bench.maintains) else { return (false, Ok(())) };
        let maintained = store.maintain(MAINTAINED);
        bench.maintains = maintained.as_ref().is_ok_and(|done| done.more && !done.busy);
        (true, maintained.map(|_| ()))
    }

    /// Write what still waits, which keys were used, and the start-up set.
    fn close(&self) {
        if std::mem::replace(&mut self.queue().is_closing, true) {
            return;
        }
        let mut bench = self.bench.lock().unwrap_or_else(PoisonError::into_inner);
        if !bench.is_open && self.queue().waiting.is_empty() {
            return;
        }
        while self.turn(&mut bench) {}
        // What could not be noted is not worth a word: it only makes eviction a little less wise.
        let _ = self.note_uses(&mut bench);
    }

    fn note_uses(&self, bench: &mut Bench) -> Result<()> {
        let Some(memory) = self.memory() else { return Ok(()) };
        let Some(store) = bench.own.as_mut().filter(|_| !self.options.store.read_only) else { return Ok(()) };
        let mut used = Vec::new();
        memory.for_each_used(|blob| try_push(&mut used, self.name(kind::PROGRAM, blob.key())))?;
        store.touch(&used)?;
        let start_up = memory.start_up_keys()?;
        if bench.knows_start_up && start_up != bench.start_up {
            store.put(&self.name(kind::START_UP, &Key::default()), 0, start_up.as_flattened())?;
        }
        Ok(())
    }
}

impl Bench {
    /// The directory's store is source 0, bundles come after it.
    fn source(&self, source: usize) -> Option<&Store> {
        source.checked_sub(1).map_or(self.own.as_ref(), |bundle| self.bundles.get(bundle))
    }

    fn source_mut(&mut self, source: usize) -> Option<&mut Store> {
        source.checked_sub(1).map_or(self.own.as_mut(), |bundle| self.bundles.get_mut(bundle))
    }
}

/// Do some turns, and post what is left.
fn serve(shared: &Weak<Shared>, context: &Context<'_>) {
    let Some(shared) = shared.upgrade() else { return };
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
    let mut queue = shared.queue();
    queue.is_posted = false;
    // Work that came after the last turn found a task posted.
    if is_more || !queue.waiting.is_empty() {
        let weak = Arc::downgrade(&shared);
        let task = try_task(|| move |context: &Context<'_>| serve(&weak, context));
        queue.is_posted = task.and_then(|task| context.post(task, Priority::Normal, "program cache")).is_ok();
    }
}

/// Since when programs must have been used so that those used later have no more than `room` bytes together.
fn oldest_with_room(latest: &mut [(u32, u32)], room: u64) -> u32 {
    sort(latest, |one, other| one.0 > other.0);
    let mut total = 0;
    for &(used, length) in latest.iter() {
        total += u64::from(length);
        if total > room {
            return used;
        }
    }
    0
}

impl Drop for DiskTier {
    fn drop(&mut self) {
        self.shared.close();
    }
}
