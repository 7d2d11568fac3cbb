//! The built-in pool: threads that sleep until a loop wants helpers. Dropping the pool joins them.
//!
//! A list under one lock has an offer for each loop that wants helpers: the number wanted, and the number running. A
//! helper is counted under that lock when it starts and when it ends. Before the caller returns, it sets the number
//! wanted to 0 and waits until no helper runs. So no worker can touch a loop that has ended.

use std::ffi::c_void;

use super::Priority;
use super::fork::Fork;
use super::sync::{Condvar, Mutex, lock, wait};
use super::thread::Thread;
use crate::base::{Result, Shared};

/// Most offers at the same time. The list is made with the pool, so that no loop allocates, not even the first.
const MAX_OFFERS: usize = 64;

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
}

impl PoolState {
    pub fn new() -> Result<Self> {
        let mut offers = Vec::new();
        offers.try_reserve_exact(MAX_OFFERS)?;
        let state = Mutex::new(Offers { offers, sleeping: 0, is_over: false });
        Ok(Self { state, work: Condvar::new(), left: Condvar::new() })
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
        loop {
            let Some(index) = state.offers.iter().position(|offer| offer.fork == fork) else { return };
            state.offers[index].wanted = 0;
            if state.offers[index].here == 0 {
                state.offers.swap_remove(index);
                return;
            }
            state = wait(&self.left, state);
        }
    }

    /// The main loop of a worker.
    pub fn serve(&self) {
        let mut state = lock(&self.state);
        while !state.is_over {
            let Some(offer) = state.best_offer() else {
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
            state.leave(fork, &self.left);
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

    fn leave(&mut self, fork: *mut c_void, left: &Condvar) {
        if let Some(offer) = self.offers.iter_mut().find(|offer| offer.fork == fork) {
            offer.here -= 1;
            if offer.here == 0 && offer.wanted == 0 {
                left.notify_all();
            }
        }
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
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.end();
        self.threads.drain(..).for_each(Thread::join);
    }
}
