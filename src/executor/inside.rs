//! Per-thread state: whether the thread is inside a block, a task or a post. It has no destructor and no heap memory.

use std::cell::Cell;

#[cfg(all(loom, test))]
use loom::thread_local;

#[cfg(not(all(loom, test)))]
thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static QUEUE: Cell<usize> = const { Cell::new(0) };
    static POSTING: Cell<u32> = const { Cell::new(0) };
}

#[cfg(all(loom, test))]
thread_local! {
    static DEPTH: Cell<u32> = Cell::new(0);
    static QUEUE: Cell<usize> = Cell::new(0);
    static POSTING: Cell<u32> = Cell::new(0);
}

/// Marks this thread as inside a block or a task until dropped.
pub struct Inside {
    queue_before: usize,
}

impl Inside {
    /// A block of some `parallel_for`.
    pub fn block() -> Self {
        Self::task(QUEUE.with(Cell::get))
    }

    /// A task of the queue at this address.
    pub fn task(queue: usize) -> Self {
        DEPTH.with(|depth| depth.set(depth.get() + 1));
        Self { queue_before: QUEUE.with(|current| current.replace(queue)) }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        DEPTH.with(|depth| depth.set(depth.get() - 1));
        QUEUE.with(|current| current.set(self.queue_before));
    }
}

/// Whether this thread is inside a block or a task of any executor.
pub fn is_inside() -> bool {
    DEPTH.with(Cell::get) > 0
}

/// Whether this thread is inside a task of the queue at this address.
pub fn is_inside_queue(queue: usize) -> bool {
    QUEUE.with(Cell::get) == queue
}

/// Marks this thread as inside [`JobSystem::post`](super::JobSystem::post) until dropped.
pub struct Posting(());

impl Posting {
    pub fn begin() -> Self {
        POSTING.with(|posting| posting.set(posting.get() + 1));
        Self(())
    }

    /// Whether this thread is inside a post.
    pub fn is_now() -> bool {
        POSTING.with(Cell::get) > 0
    }
}

impl Drop for Posting {
    fn drop(&mut self) {
        POSTING.with(|posting| posting.set(posting.get() - 1));
    }
}
