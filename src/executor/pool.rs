//! The built-in pool: threads that sleep until a loop wants help, and are joined when the pool goes.
//!
//! A loop that wants help stands on a list, under one lock, with how many may still come and how many are here. Who
//! comes is counted under that lock, and the caller, before it leaves, strikes what has not come and waits for what has:
//! so no worker can touch a loop that is over.

use std::ffi::c_void;

use super::Priority;
use super::fork::Fork;
use super::sync::{Arc, Condvar, Mutex, lock, wait};
use super::thread::Thread;
use crate::base::{Result, try_push};

/// A loop that wants help.
struct Offer {
    fork: *mut c_void,
    priority: Priority,
    /// Helpers that may still come.
    wanted: usize,
    /// Helpers that are here.
    here: usize,
}

// SAFETY: the address is used only between the loop's `join` and `leave`, as `Shared::serve` explains.
unsafe impl Send for Offer {}

#[derive(Default)]
struct State {
    offers: Vec<Offer>,
    sleeping: usize,
    is_over: bool,
}

/// What the workers and the callers share.
pub struct Shared {
    state: Mutex<State>,
    /// There is an offer, or it is over.
    work: Condvar,
    /// Some loop's last helper has left.
    left: Condvar,
}

impl Shared {
    pub fn new() -> Self {
        Self { state: Mutex::new(State::default()), work: Condvar::new(), left: Condvar::new() }
    }

    /// Run a loop with up to `helpers` of the workers.
    pub fn run(&self, fork: &Fork<'_>, helpers: usize, priority: Priority) {
        fork.run(
            |fork| self.offer(fork.address(), helpers, priority),
            |offered| self.withdraw(fork.address(), offered),
        );
    }

    /// Without memory for it, nobody helps.
    fn offer(&self, fork: *mut c_void, helpers: usize, priority: Priority) -> bool {
        let mut state = lock(&self.state);
        if try_push(&mut state.offers, Offer { fork, priority, wanted: helpers, here: 0 }).is_err() {
            return false;
        }
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

    /// A worker's life.
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
            // SAFETY: `here` was counted up under the lock while the offer stood on the list, and its loop does not end
            // before `withdraw` has seen it at 0.
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

impl State {
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

/// Threads of our own.
pub struct Pool {
    shared: Arc<Shared>,
    threads: Vec<Thread>,
}

impl Pool {
    pub fn new(count: usize) -> Result<Self> {
        let mut pool = Self { shared: Arc::new(Shared::new()), threads: Vec::new() };
        pool.threads.try_reserve_exact(count)?;
        for _ in 0..count {
            let shared = Arc::clone(&pool.shared);
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
