//! One `parallel_for`: its body and its progress. It lives on the caller's stack.
//!
//! The caller and its helpers take blocks from a shared counter. A helper that starts after the last block was taken
//! returns at once. The caller returns when all started helpers have ended and no other can start. The pool or the
//! host's job system ensures the latter.

use std::cell::Cell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::inside::Inside;
use super::sync::Mutex;
use super::sync::atomic::{AtomicUsize, Ordering};
use super::sync::lock;
use super::{Context, Enclosure, Sentence};
use crate::base::fault_point;

/// The body of a loop. Its arguments are the context and the number of the block.
pub type Body<'a> = dyn Fn(&Context<'_>, usize) + Sync + 'a;

/// A running loop.
pub struct Fork<'a> {
    body: &'a Body<'a>,
    blocks: usize,
    helpers: usize,
    enclosure: Enclosure,
    next: AtomicUsize,
    /// Helpers that have started.
    came: AtomicUsize,
    /// Helpers that are running.
    here: AtomicUsize,
    /// The message of the first helper that failed.
    failure: Mutex<Option<Sentence>>,
}

impl<'a> Fork<'a> {
    /// A loop over `blocks` blocks with at most `helpers` helpers.
    pub fn new(blocks: usize, helpers: usize, enclosure: Enclosure, body: &'a Body<'a>) -> Self {
        let counter = || AtomicUsize::new(0);
        let failure = Mutex::new(None);
        Self { body, blocks, helpers, enclosure, next: counter(), came: counter(), here: counter(), failure }
    }

    /// The address for [`Fork::help_at`]. It is valid until the loop's `run` returns.
    pub fn address(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    /// Take part, on a thread of the pool or the host. Never unwinds.
    ///
    /// # Safety
    /// `fork` is the address of a loop whose [`Fork::run`] has not returned.
    pub unsafe extern "C" fn help_at(fork: *mut c_void) {
        // SAFETY: by this function's contract.
        unsafe { &*fork.cast::<Fork<'_>>() }.help();
    }

    fn help(&self) {
        self.here.fetch_add(1, Ordering::Relaxed);
        let worker = 1 + self.came.fetch_add(1, Ordering::Relaxed);
        // A host that runs a helper twice must not make two workers of the same number.
        if worker <= self.helpers {
            let outcome = (self.enclosure)(&mut || self.take_blocks(worker));
            if let Err(sentence) = outcome {
                self.end_early();
                lock(&self.failure).get_or_insert(sentence);
            }
        }
        self.here.fetch_sub(1, Ordering::Release);
    }

    fn take_blocks(&self, worker: usize) {
        let _inside = Inside::block();
        let context = Context { worker, queue: None, rests: Cell::new(0) };
        while let Some(block) = self.take() {
            fault_point!("executor.block");
            (self.body)(&context, block);
        }
    }

    fn take(&self) -> Option<usize> {
        let next = |next: usize| (next < self.blocks).then_some(next + 1);
        self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).ok()
    }

    /// Stop the loop: no further block is taken.
    fn end_early(&self) {
        self.next.store(self.blocks, Ordering::Relaxed);
    }

    /// Run the loop to its end. `call` requests helpers. `dismiss` returns when all started helpers have ended and no
    /// other can start. A panic in a block, on any thread, becomes a panic of this call.
    pub fn run<T>(&self, call: impl FnOnce(&Self) -> T, dismiss: impl FnOnce(T)) {
        let called = call(self);
        let outcome = catch_unwind(AssertUnwindSafe(|| self.take_blocks(0)));
        if outcome.is_err() {
            self.end_early();
        }
        dismiss(called);
        // All helpers have ended already unless the host's `finish` returned too early.
        while self.here.load(Ordering::Acquire) > 0 {
            give_way();
        }
        if let Err(payload) = outcome {
            resume_unwind(payload);
        }
        if let Some(sentence) = lock(&self.failure).take() {
            panic!("a block failed on another thread: {sentence}");
        }
    }
}

fn give_way() {
    #[cfg(all(loom, test))]
    loom::thread::yield_now();
    #[cfg(not(all(loom, test)))]
    std::thread::yield_now();
}

/// A short time in a loop that waits.
pub fn pause() {
    #[cfg(all(loom, test))]
    loom::thread::yield_now();
    #[cfg(not(all(loom, test)))]
    std::hint::spin_loop();
}
