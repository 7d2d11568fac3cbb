//! The built-in pool: threads that sleep until a loop wants helpers. Dropping the pool joins them.
//!
//! A list under one lock has an offer for each loop that wants helpers: the number wanted, and the number running. A
//! helper is counted under that lock when it starts and when it ends. Before the caller returns, it sets the number
//! wanted to 0 and waits until no helper runs. So no worker can touch a loop that has ended.
//!
//! To wake a thread takes about 30 us. While a caller holds an [`Awake`], because its next loop begins soon, workers and
//! callers look for a change for a while before they sleep.

use std::ffi::c_void;

use super::Priority;
use super::fork::{Fork, pause};
use super::sync::atomic::{AtomicUsize, Ordering};
use super::sync::{Condvar, Mutex, lock, wait};
use super::thread::Thread;
use crate::base::{Result, Shared};

/// Most offers at the same time. The list is made with the pool, so that no loop allocates, not even the first.
const MAX_OFFERS: usize = 64;

/// Looks for a change before a thread sleeps: about 50 to 200 us, by the processor.
const LOOKS: usize = if cfg!(all(loom, test)) { 1 } else { 4096 };

/// A loop that wants helpers.
struct Offer {
    fork: *mut c_void,
    priority: Priority,
    /// Helpers that may still start.
    wanted: usize,
    /// Helpers that are running.
    here: usize,
}

// SAFETY: the address is dereferenced only while `here` counts the worker, as `PoolState::serve` explains.
unsafe impl Send for Offer {}

struct Offers {
    offers: Vec<Offer>,
    sleeping: usize,
    is_over: bool,
}

/// The state that workers and callers share.
pub struct PoolState {
    state: Mutex<Offers>,
    /// Signals a new offer, or the end of the pool.
    work: Condvar,
    /// Signals that the last helper of a loop has ended.
    left: Condvar,
    /// Number of [`Awake`]s.
    awake: AtomicUsize,
    /// Number of offers so far.
    made: AtomicUsize,
    /// Number of times that the last helper of a closed offer has ended.
    ended: AtomicUsize,
}

/// Keeps the workers awake between loops, each for a limited time.
pub struct Awake<'a>(&'a PoolState);

impl Drop for Awake<'_> {
    fn drop(&mut self) {
        self.0.awake.fetch_sub(1, Ordering::Relaxed);
    }
}

impl PoolState {
    pub fn new() -> Result<Self> {
        let mut offers = Vec::new();
        offers.try_reserve_exact(MAX_OFFERS)?;
        let state = Mutex::new(Offers { offers, sleeping: 0, is_over: false });
        let counter = || AtomicUsize::new(0);
        Ok(Self {
            state,
            work: Condvar::new(),
            left: Condvar::new(),
            awake: counter(),
            made: counter(),
            ended: counter(),
        })
    }

    pub fn stay_awake(&self) -> Awake<'_> {
        self.awake.fetch_add(1, Ordering::Relaxed);
        Awake(self)
    }

    /// Looks for a change, if loops follow each other. Whether there was one.
    fn look(&self, mut has_changed: impl FnMut() -> bool) -> bool {
        (0..LOOKS).take_while(|_| self.awake.load(Ordering::Relaxed) > 0).any(|_| {
            pause();
            has_changed()
        })
    }

    /// Run a loop with up to `helpers` of the workers.
    pub fn run(&self, fork: &Fork<'_>, helpers: usize, priority: Priority) {
        fork.run(
            |fork| self.offer(fork.address(), helpers, priority),
            |offered| self.withdraw(fork.address(), offered),
        );
    }

    /// Offer the loop to the workers; whether it was offered. If the list is full, the loop runs without helpers.
    fn offer(&self, fork: *mut c_void, helpers: usize, priority: Priority) -> bool {
        let mut state = lock(&self.state);
        if state.offers.len() == MAX_OFFERS {
            return false;
        }
        state.offers.push(Offer { fork, priority, wanted: helpers, here: 0 });
        self.made.fetch_add(1, Ordering::Relaxed);
        let wake = helpers.min(state.sleeping);
        drop(state);
        (0..wake).for_each(|_| self.work.notify_one());
        true
    }

    fn withdraw(&self, fork: *mut c_void, offered: bool) {
        if !offered {
            return;
        }
        let mut state = lock(&self.state);
        while !state.remove(fork) {
            // Read here and written under the lock, so that no end is missed. The look without it decides only when to take
            // the lock, and the lock orders all else: so relaxed is enough.
            let ended = self.ended.load(Ordering::Relaxed);
            drop(state);
            let has_ended = self.look(|| self.ended.load(Ordering::Relaxed) != ended);
            state = lock(&self.state);
            if !has_ended {
                break;
            }
        }
        while !state.remove(fork) {
            state = wait(&self.left, state);
        }
    }

    /// The main loop of a worker.
    pub fn serve(&self) {
        let mut state = lock(&self.state);
        let mut may_look = false;
        while !state.is_over {
            let Some(offer) = state.best_offer() else {
                if std::mem::take(&mut may_look) {
                    let made = self.made.load(Ordering::Relaxed);
                    drop(state);
                    self.look(|| self.made.load(Ordering::Relaxed) != made);
                    state = lock(&self.state);
                    continue;
                }
                state.sleeping += 1;
                state = wait(&self.work, state);
                state.sleeping -= 1;
                continue;
            };
            offer.wanted -= 1;
            offer.here += 1;
            let fork = offer.fork;
            drop(state);
            // SAFETY: `here` was incremented under the lock while the offer was on the list. The loop does not end
            // before `withdraw` has seen `here` at 0.
            unsafe { Fork::help_at(fork) };
            state = lock(&self.state);
            if state.leave(fork) {
                self.ended.fetch_add(1, Ordering::Relaxed);
                self.left.notify_all();
            }
            may_look = true;
        }
    }

    pub fn end(&self) {
        lock(&self.state).is_over = true;
        self.work.notify_all();
    }
}

impl Offers {
    /// The first of the most urgent offers that are still open.
    fn best_offer(&mut self) -> Option<&mut Offer> {
        self.offers.iter_mut().filter(|offer| offer.wanted > 0).min_by_key(|offer| offer.priority)
    }

    /// Closes the offer of a loop, and removes it if no helper runs. Whether it is removed.
    fn remove(&mut self, fork: *mut c_void) -> bool {
        let Some(index) = self.offers.iter().position(|offer| offer.fork == fork) else { return true };
        self.offers[index].wanted = 0;
        let is_idle = self.offers[index].here == 0;
        if is_idle {
            self.offers.swap_remove(index);
        }
        is_idle
    }

    /// Whether the last helper of a closed offer has ended.
    fn leave(&mut self, fork: *mut c_void) -> bool {
        let Some(offer) = self.offers.iter_mut().find(|offer| offer.fork == fork) else { return false };
        offer.here -= 1;
        offer.here == 0 && offer.wanted == 0
    }
}

/// The worker threads.
pub struct Pool {
    shared: Shared<PoolState>,
    threads: Vec<Thread>,
}

impl Pool {
    pub fn new(count: usize) -> Result<Self> {
        let mut pool = Self { shared: Shared::try_new(PoolState::new()?)?, threads: Vec::new() };
        pool.threads.try_reserve_exact(count)?;
        for _ in 0..count {
            let shared = pool.shared.clone();
            pool.threads.push(Thread::spawn(c"hob worker", move || shared.serve())?);
        }
        Ok(pool)
    }

    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    pub fn run(&self, fork: &Fork<'_>, helpers: usize, priority: Priority) {
        self.shared.run(fork, helpers, priority);
    }

    pub fn stay_awake(&self) -> Awake<'_> {
        self.shared.stay_awake()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.end();
        self.threads.drain(..).for_each(Thread::join);
    }
}
