//! The requests to the disk, in order, and the states that the module page names. Callers and the worker share it.

use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::value::HEAD;
use crate::base::{Code, Error, Result, Text, error, try_push};
use crate::executor::Executor;
use crate::program_cache::key::{FoldKeys, Key};
use crate::program_cache::memory::Blob;
use crate::program_cache::memory::material::Material;
use crate::store::{self, Bundle};

/// Missed keys that wait at a time. More are not looked for.
const ASKED: usize = 256;
/// Requests that wait at a time. More are refused, except flushes and looks, whose callers wait.
pub const REQUESTS: usize = 1 << 16;

/// The options of a disk tier.
pub struct DiskOptions {
    /// The directory of the segments; `None`: only bundles are read. The first program that is written creates it.
    pub directory: Option<PathBuf>,
    /// The driver, device and build that the programs are for.
    pub environment: u64,
    /// Limits and options of the store.
    pub store: store::Options,
    /// Limit of the programs that wait to be written, in bytes. A program beyond it is not written.
    pub waiting_limit: u64,
    /// Load programs ahead of need, not only those that were missed.
    pub load_ahead: bool,
}

/// The progress of loading, and the number of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Programs that were chosen to be loaded ahead.
    pub preload_total: u64,
    /// Programs of `preload_total` that are done.
    pub preload_done: u64,
    /// Requests that wait.
    pub waiting: u64,
    /// Programs that were put and could not be written.
    pub unwritten: u64,
}

/// A value to write.
pub enum Save {
    Program(Blob),
    Material(Key, Material),
}

impl Save {
    /// Bytes of the value on disk, with some for its head.
    pub fn longest(&self) -> usize {
        match self {
            Self::Program(blob) => usize::try_from(blob.size()).unwrap_or(usize::MAX).saturating_add(HEAD),
            Self::Material(_, material) => material.bytes().len(),
        }
    }
}

/// The environments whose programs are cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// That of the cache.
    Environment,
    /// All environments of the directory.
    Directory,
}

/// A request to the worker.
pub enum Request {
    Save(Save),
    Load(Key),
    Remove(Key),
    Clear(Scope),
    /// A flush, with its number.
    Flush(u64),
    /// The place of a look at the stores, with its number.
    Look(u64),
    Bundle(Bundle),
    Limit(u64),
}

impl Request {
    /// Whether clearing the disk makes it unnecessary.
    fn ends_with_clearing(&self) -> bool {
        !matches!(self, Self::Flush(_) | Self::Look(_) | Self::Bundle(_) | Self::Limit(_))
    }
}

/// The holder of the worker.
pub enum Stage<W> {
    /// The queue has it.
    Resting(W),
    /// A thread has it.
    Working,
    /// The thread that closes the cache has it. Requests are ignored.
    Closing,
    /// It was dropped. Requests are ignored.
    Closed,
}

/// The background task.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// There is no task.
    Free,
    /// One task waits or runs.
    Posted,
}

/// A problem of reading or writing.
#[derive(Clone, Copy)]
pub struct Trouble {
    code: Code,
    pub text: Text<232>,
}

impl From<&Error> for Trouble {
    fn from(why: &Error) -> Self {
        Self { code: why.code(), text: Text::format(format_args!("{why}")) }
    }
}

impl Trouble {
    /// The problem of a failed removal. It is a failure of the disk also when memory ran out: the request was accepted.
    pub fn unremoved(why: &Error) -> Self {
        let text = format_args!("programs could not be removed from disk and are hidden from this process only: {why}");
        Self { code: Code::Io, text: Text::format(text) }
    }

    /// An error for the caller of a flush: out of memory, or a failed write.
    fn error(&self) -> Error {
        if self.code == Code::OutOfMemory { Error::OUT_OF_MEMORY } else { error!(Io, "{}", self.text) }
    }
}

/// Values of the stores that are hidden from this process, because they are not removed there.
#[derive(Default)]
pub struct Hidden {
    /// Keys whose values are hidden in all stores.
    keys: HashSet<Key, FoldKeys>,
    /// Everything in the directory is hidden.
    own: bool,
}

/// Requests and states.
pub struct Queue<W> {
    pub stage: Stage<W>,
    pub lane: Lane,
    /// The executor of the background task. `None`: only callers that wait work.
    pub executor: Option<Executor>,
    pub waiting: VecDeque<Request>,
    /// The keys of the loads that wait.
    pub asked: HashSet<Key, FoldKeys>,
    /// The key that is being read.
    pub reading: Option<Key>,
    pub hidden: Hidden,
    /// Bundles that are open or wait to be opened.
    pub bundles: usize,
    /// Bytes of the programs that wait to be written.
    pinned: u64,
    /// Numbers of the last flush that was requested, and of the last one that is done.
    pub flushes: u64,
    pub flushed: u64,
    /// Looks whose callers wait or look, and the numbers of the last one that was requested and of the last one whose
    /// turn has come.
    lookers: Vec<u64>,
    looks: u64,
    looked: u64,
    pub progress: Progress,
    /// `progress.unwritten` at the last flush, and why the last program was not written.
    reported_unwritten: u64,
    why_unwritten: Option<Trouble>,
    pub trouble: Option<Trouble>,
    /// Segments that the store ignores, or damaged files: no failure of a flush.
    notice: Option<Text<232>>,
    /// Programs that could not be removed from disk: a problem until a flush removes them.
    pub unremoved: Option<Trouble>,
    /// Why a bundle is not read. It does not pass.
    pub bundle_trouble: Text<232>,
    pub counts: store::Statistics,
    /// Saves, loads, removals and clearings that were requested.
    #[cfg(test)]
    pub requested: [u64; 4],
}

impl<W> Queue<W> {
    fn new(worker: W, executor: Option<Executor>) -> Result<Self> {
        let mut queue = Self {
            stage: Stage::Resting(worker),
            lane: Lane::Free,
            executor,
            waiting: VecDeque::new(),
            asked: HashSet::default(),
            reading: None,
            hidden: Hidden::default(),
            bundles: 0,
            pinned: 0,
            flushes: 0,
            flushed: 0,
            lookers: Vec::new(),
            looks: 0,
            looked: 0,
            progress: Progress::default(),
            reported_unwritten: 0,
            why_unwritten: None,
            trouble: None,
            notice: None,
            unremoved: None,
            bundle_trouble: Text::EMPTY,
            counts: store::Statistics::default(),
            #[cfg(test)]
            requested: [0; 4],
        };
        queue.asked.try_reserve(ASKED)?;
        queue.waiting.try_reserve(ASKED)?;
        Ok(queue)
    }

    /// Whether requests are ignored.
    pub fn is_closed(&self) -> bool {
        matches!(self.stage, Stage::Closing | Stage::Closed)
    }

    /// Add a request. On an error nothing changes.
    pub fn push(&mut self, request: Request) -> Result<()> {
        if self.waiting.len() >= REQUESTS && !matches!(request, Request::Flush(_) | Request::Look(_)) {
            return Err(error!(
                LimitExceeded,
                "{REQUESTS} requests to the disk wait: flush, or give the cache an executor"
            ));
        }
        self.waiting.try_reserve(1)?;
        #[cfg(test)]
        match &request {
            Request::Save(_) => self.requested[0] += 1,
            Request::Load(_) => self.requested[1] += 1,
            Request::Remove(_) => self.requested[2] += 1,
            Request::Clear(_) => self.requested[3] += 1,
            _ => {}
        }
        self.waiting.push_back(request);
        Ok(())
    }

    /// Add a program to write, if less than `limit` bytes wait with it.
    pub fn push_program(&mut self, blob: &Blob, limit: u64) -> Result<()> {
        let size = blob.size();
        if self.pinned.saturating_add(size) > limit {
            return Err(error!(LimitExceeded, "programs are put faster than they are written: some are not kept"));
        }
        self.push(Request::Save(Save::Program(blob.clone())))?;
        self.pinned += size;
        Ok(())
    }

    /// Request a look at the stores after all requests that wait. Returns its number.
    pub fn push_look(&mut self) -> Result<u64> {
        self.lookers.try_reserve(1)?;
        self.push(Request::Look(self.looks + 1))?;
        self.looks += 1;
        self.lookers.push(self.looks);
        Ok(self.looks)
    }

    /// Begin a look at the stores: no request waits. Returns its number.
    pub fn look_now(&mut self) -> Result<u64> {
        try_push(&mut self.lookers, self.looks + 1)?;
        self.looks += 1;
        self.begin_look(self.looks);
        Ok(self.looks)
    }

    /// The requests before a look are done: the worker rests until [`end_look`](Self::end_look).
    pub fn begin_look(&mut self, number: u64) {
        self.looked = number;
    }

    /// Whether the requests before a look are done.
    pub fn has_begun(&self, look: u64) -> bool {
        self.looked >= look
    }

    /// Whether the worker waits for a thread that looks at the stores.
    pub fn is_looked_at(&self) -> bool {
        self.lookers.iter().any(|&look| self.has_begun(look))
    }

    /// End a look, or give it up.
    pub fn end_look(&mut self, number: u64) {
        self.lookers.retain(|&look| look != number);
        self.waiting.retain(|request| !matches!(request, Request::Look(look) if *look == number));
    }

    /// Whether a load can be added.
    pub fn has_room(&self) -> bool {
        self.asked.len() < ASKED && self.waiting.len() < REQUESTS
    }

    /// Add a load, unless the key is asked for already.
    pub fn push_load(&mut self, key: &Key) -> Result<()> {
        if self.asked.contains(key) {
            return Ok(());
        }
        if self.asked.len() >= ASKED {
            return Err(error!(LimitExceeded, "{ASKED} programs are being looked for already: ask again later"));
        }
        self.push(Request::Load(*key))?;
        self.asked.insert(*key);
        Ok(())
    }

    /// The next request.
    pub fn pop(&mut self) -> Option<Request> {
        let request = self.waiting.pop_front()?;
        if let Request::Save(Save::Program(blob)) = &request {
            self.pinned = self.pinned.saturating_sub(blob.size());
        }
        Some(request)
    }

    /// The next request, if it is a save of up to `longest` bytes.
    pub fn pop_save(&mut self, longest: u64) -> Option<Save> {
        match self.waiting.front()? {
            Request::Save(save) if save.longest() as u64 <= longest => match self.pop()? {
                Request::Save(save) => Some(save),
                _ => None,
            },
            _ => None,
        }
    }

    /// Drop the requests that clearing the disk makes unnecessary.
    fn drop_cleared(&mut self) {
        self.waiting.retain(|request| !request.ends_with_clearing());
        self.asked.clear();
        self.pinned = 0;
    }

    /// Count programs that could not be written.
    pub fn count_unwritten(&mut self, programs: u64, why: &Error) {
        self.progress.unwritten += programs;
        if programs > 0 {
            self.why_unwritten = Some(why.into());
        }
    }

    /// The present problem of writing, as an error. Without one, the programs that could not be written since the last
    /// report.
    pub fn report_unwritten(&mut self) -> Result<()> {
        let before = std::mem::replace(&mut self.reported_unwritten, self.progress.unwritten);
        let lost = self.progress.unwritten - before;
        if let Some(trouble) = self.unremoved.or(self.trouble) {
            return Err(trouble.error());
        }
        match &self.why_unwritten {
            Some(why) if lost > 0 && why.code == Code::OutOfMemory => Err(Error::OUT_OF_MEMORY),
            Some(why) if lost > 0 => {
                Err(error!(Io, "programs that are not on the disk: {lost}; the last one: {}", why.text))
            }
            _ => Ok(()),
        }
    }

    /// An error if programs could not be removed from disk.
    pub fn check_unremoved(&self) -> Result<()> {
        self.unremoved.map_or(Ok(()), |unremoved| Err(unremoved.error()))
    }

    /// The present problem of reading or writing; empty without one.
    pub fn problem(&self) -> Text<232> {
        let trouble = self.unremoved.or(self.trouble).map(|trouble| trouble.text);
        trouble.or(self.notice).unwrap_or(self.bundle_trouble)
    }

    /// Record the result of a step: the store's counters, its problem, and the flush that is done.
    pub fn report(
        &mut self,
        did: bool,
        done: Result<()>,
        own: Option<&store::Store>,
        damaged_bundles: u64,
        flushed: Option<u64>,
    ) {
        self.flushed = flushed.unwrap_or(self.flushed);
        if self.waiting.is_empty() {
            self.counts = own.map(store::Store::statistics).unwrap_or_default();
            self.counts.damaged += damaged_bundles;
            if damaged_bundles > 0 {
                self.bundle_trouble = Text::format(format_args!(
                    "bundles are damaged, in {damaged_bundles} places at least: their programs are built again; ship the \
                     bundles anew"
                ));
            }
        }
        self.notice = own.and_then(store::Store::notice);
        let lasting = own.and_then(store::Store::trouble).map(|trouble| error!(Io, "{trouble}"));
        self.trouble = match (lasting, done) {
            // The store's sentence stays the same for all its failures.
            (Some(trouble), done) => {
                Some(Trouble { code: done.err().map_or(Code::Io, |why| why.code()), ..(&trouble).into() })
            }
            (None, Err(why)) => Some((&why).into()),
            (None, Ok(())) if did && own.is_some() => None,
            (None, Ok(())) => self.trouble,
        };
    }

    /// Whether the value of a key in that source is hidden.
    pub fn is_hidden(&self, source: usize, key: &Key) -> bool {
        source == 0 && self.hidden.own || self.hidden.keys.contains(key)
    }

    /// Hide the values of a key in all stores. Without memory for that, everything in the directory.
    pub fn hide(&mut self, key: &Key) -> Result<()> {
        if let Err(why) = self.hidden.keys.try_reserve(1) {
            self.hidden.own = true;
            return Err(why.into());
        }
        self.hidden.keys.insert(*key);
        Ok(())
    }

    /// Hide everything in the directory, or show what is not hidden by key.
    pub fn hide_own(&mut self, is_hidden: bool) {
        self.hidden.own = is_hidden;
    }

    /// Whether keys are hidden.
    pub fn has_hidden_keys(&self) -> bool {
        !self.hidden.keys.is_empty()
    }

    /// Show the values of a key again.
    pub fn show(&mut self, key: &Key) {
        self.hidden.keys.remove(key);
    }

    /// After a panic in a step: nobody will report the end of requests, so end them all.
    pub fn recover(&mut self) {
        (self.reading, self.flushed) = (None, self.flushes);
        self.asked.clear();
        self.waiting.retain(|request| !matches!(request, Request::Load(_) | Request::Flush(_)));
        self.trouble = Some((&error!(Io, "an internal error ended a piece of work of the disk")).into());
    }
}

/// The queue with its lock, for callers and the worker.
pub struct Desk<W> {
    pub options: DiskOptions,
    queue: Mutex<Queue<W>>,
    /// A step has ended.
    pub changed: Condvar,
    /// The key that is being read was removed or put meanwhile. It is written with the queue's lock held.
    pub is_cancelled: AtomicBool,
}

impl<W> Desk<W> {
    /// An empty queue with a worker.
    pub fn new(options: DiskOptions, executor: Option<Executor>, worker: W) -> Result<Self> {
        let queue = Mutex::new(Queue::new(worker, executor)?);
        Ok(Self { options, queue, changed: Condvar::new(), is_cancelled: AtomicBool::new(false) })
    }

    /// The queue, locked.
    pub fn queue(&self) -> MutexGuard<'_, Queue<W>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The queue, if no other thread has it.
    pub fn try_queue(&self) -> Option<MutexGuard<'_, Queue<W>>> {
        self.queue.try_lock().ok()
    }

    /// Whether programs outlive the process.
    pub fn writes(&self) -> bool {
        self.options.directory.is_some() && !self.options.store.read_only
    }

    /// Begin to read a key, unless it is hidden at that source.
    pub fn start_reading(&self, source: usize, key: &Key) -> bool {
        let mut queue = self.queue();
        if queue.is_hidden(source, key) {
            return false;
        }
        queue.reading = Some(*key);
        self.is_cancelled.store(false, Relaxed);
        true
    }

    /// Keep the present value of a key from being loaded: it was put or removed.
    pub fn cancel_loads(&self, queue: &mut Queue<W>, key: &Key) {
        if queue.reading.as_ref() == Some(key) {
            self.is_cancelled.store(true, Relaxed);
        }
        if queue.asked.remove(key) {
            queue.waiting.retain(|request| !matches!(request, Request::Load(asked) if asked == key));
        }
    }

    /// Keep all present values from being loaded, and drop the requests that are unnecessary then.
    pub fn cancel_all(&self, queue: &mut Queue<W>) {
        self.is_cancelled.store(true, Relaxed);
        queue.drop_cleared();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::allocator::with_allowance;

    #[test]
    fn removal_without_memory_is_reported_as_a_failure_of_the_disk() {
        let mut queue = Queue::new((), None).unwrap();
        queue.unremoved = Some(with_allowance(0, || Trouble::unremoved(&Error::OUT_OF_MEMORY)));
        assert_eq!(queue.check_unremoved().unwrap_err().code(), Code::Io);
    }
}
