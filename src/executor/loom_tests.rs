//! Model checks of the hand-offs in every possible thread order: between a loop's helpers and its caller, between the
//! owners of the background queue, and at the end of both.

use std::sync::Arc;

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::pool::PoolState;
use super::*;

/// A cell that exactly one block writes. Loom fails if two accesses can overlap.
struct Cell(UnsafeCell<u32>);

// SAFETY: loom checks here that no two threads access it at the same time.
unsafe impl Sync for Cell {}

impl Cell {
    fn new() -> Self {
        Self(UnsafeCell::new(0))
    }
    fn write(&self) {
        // SAFETY: as above.
        self.0.with_mut(|value| unsafe { *value += 1 });
    }
    fn read(&self) -> u32 {
        // SAFETY: as above.
        self.0.with(|value| unsafe { *value })
    }
}

fn check(preemptions: Option<usize>, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.check(model);
}

/// Run a loop with `run`. Asserts that every block has run exactly once when it returns.
fn every_block_ends(blocks: usize, helpers: usize, run: impl FnOnce(&Fork<'_>)) {
    let done: Vec<Cell> = (0..blocks).map(|_| Cell::new()).collect();
    run(&Fork::new(blocks, helpers, catch_panic, &|_, block| done[block].write()));
    assert!(done.iter().all(|cell| cell.read() == 1));
}

#[test]
fn loom_pool_of_one_worker_helps_and_stops() {
    check(None, || {
        let shared = Arc::new(PoolState::new().unwrap());
        let worker = thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.serve()
        });
        every_block_ends(2, 1, |fork| shared.run(fork, 1, Priority::Normal));
        shared.end();
        worker.join().unwrap();
    });
}

#[test]
fn loom_awake_worker_helps_the_next_loop_and_stops() {
    check(Some(3), || {
        let shared = Arc::new(PoolState::new().unwrap());
        let worker = thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.serve()
        });
        let awake = shared.stay_awake();
        every_block_ends(2, 1, |fork| shared.run(fork, 1, Priority::Normal));
        every_block_ends(2, 1, |fork| shared.run(fork, 1, Priority::Normal));
        drop(awake);
        shared.end();
        worker.join().unwrap();
    });
}

#[test]
fn loom_two_callers_share_a_worker() {
    check(Some(2), || {
        let shared = Arc::new(PoolState::new().unwrap());
        let spawn = |work: fn(&PoolState)| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || work(&shared))
        };
        let worker = spawn(PoolState::serve);
        let caller = spawn(|shared| every_block_ends(2, 1, |fork| shared.run(fork, 1, Priority::High)));
        every_block_ends(2, 1, |fork| shared.run(fork, 1, Priority::Normal));
        caller.join().unwrap();
        shared.end();
        worker.join().unwrap();
    });
}

#[test]
fn loom_two_workers_share_a_loop_and_then_the_next() {
    check(Some(2), || {
        let shared = Arc::new(PoolState::new().unwrap());
        let workers = [(); 2].map(|()| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.serve())
        });
        every_block_ends(3, 2, |fork| shared.run(fork, 2, Priority::Normal));
        every_block_ends(2, 1, |fork| shared.run(fork, 1, Priority::Normal));
        shared.end();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}

/// A host's helper that `finish` may cancel: the first of the two to claim it decides.
struct Ticket {
    state: AtomicUsize,
    run: Run,
    task: usize,
}

const OPEN: usize = 0;
const BEGUN: usize = 1;
const TAKEN_BACK: usize = 2;

impl Ticket {
    fn begin(&self) {
        if self.state.compare_exchange(OPEN, BEGUN, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            // SAFETY: `finish` does not return before this call has.
            unsafe { (self.run)(self.task as *mut c_void) };
        }
    }
}

#[test]
fn loom_host_helper_runs_in_time_or_late_or_is_cancelled() {
    check(None, || {
        every_block_ends(2, 1, |fork| {
            fork.run(
                |fork| {
                    let task = fork.address() as usize;
                    let ticket = Arc::new(Ticket { state: AtomicUsize::new(OPEN), run: Fork::help_at, task });
                    let helper = Arc::clone(&ticket);
                    (ticket, thread::spawn(move || helper.begin()))
                },
                |(ticket, thread)| {
                    let back =
                        ticket.state.compare_exchange(OPEN, TAKEN_BACK, Ordering::AcqRel, Ordering::Acquire).is_ok();
                    if !back {
                        thread.join().unwrap();
                    }
                },
            );
        });
    });
}

#[test]
fn loom_helper_panic_is_rethrown_after_all_helpers_end() {
    check(Some(3), || {
        let shared = Arc::new(PoolState::new().unwrap());
        let worker = thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.serve()
        });
        let ran = AtomicUsize::new(0);
        let failing = |_: &Context<'_>, _: usize| {
            ran.fetch_add(1, Ordering::Relaxed);
            std::panic::resume_unwind(Box::new("bad"));
        };
        let fork = Fork::new(3, 1, catch_panic, &failing);
        let outcome = catch_unwind(AssertUnwindSafe(|| shared.run(&fork, 1, Priority::Normal)));
        assert!(outcome.is_err());
        assert!((1..=2).contains(&ran.load(Ordering::Relaxed)));
        shared.end();
        worker.join().unwrap();
    });
}

fn new_queue() -> TaskQueue {
    TaskQueue::new(8, catch_panic, None).unwrap()
}

/// A task that records its run and its drop.
struct Traced {
    ran: Arc<AtomicUsize>,
    dropped: Arc<AtomicUsize>,
}

impl Drop for Traced {
    fn drop(&mut self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

fn post(queue: &TaskQueue, ran: &Arc<AtomicUsize>, dropped: &Arc<AtomicUsize>) -> Result<()> {
    let traced = Traced { ran: Arc::clone(ran), dropped: Arc::clone(dropped) };
    queue.post(Priority::Normal, "traced", || Ok(Box::new(move |_| _ = traced.ran.fetch_add(1, Ordering::Relaxed))))
}

fn counters() -> (Arc<AtomicUsize>, Arc<AtomicUsize>) {
    (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)))
}

#[test]
fn loom_task_runs_once_or_is_dropped_at_shutdown() {
    check(Some(3), || {
        let queue = new_queue();
        let server = thread::spawn({
            let queue = queue.clone();
            move || queue.serve()
        });
        let (ran, dropped) = counters();
        post(&queue, &ran, &dropped).unwrap();
        post(&queue, &ran, &dropped).unwrap();
        queue.end();
        // Started tasks have ended by now, even if their thread has not.
        let at_end = ran.load(Ordering::Relaxed);
        assert_eq!(dropped.load(Ordering::Relaxed), 2);
        assert!(post(&queue, &ran, &dropped).is_err());
        server.join().unwrap();
        assert_eq!(ran.load(Ordering::Relaxed), at_end);
        assert_eq!(queue.statistics().ran + queue.statistics().dropped, 2);
    });
}

#[test]
fn loom_wait_idle_returns_after_all_tasks_on_any_thread() {
    check(Some(3), || {
        let queue = new_queue();
        let (ran, dropped) = counters();
        post(&queue, &ran, &dropped).unwrap();
        post(&queue, &ran, &dropped).unwrap();
        let pump = thread::spawn({
            let queue = queue.clone();
            move || queue.run_next().is_some()
        });
        assert!(queue.wait_idle(&Deadline::after(Duration::MAX)));
        assert_eq!((ran.load(Ordering::Relaxed), dropped.load(Ordering::Relaxed)), (2, 2));
        pump.join().unwrap();
    });
}

#[test]
fn loom_host_jobs_run_all_tasks_without_overlap() {
    check(Some(3), || {
        let queue = new_queue();
        let alone = Arc::new(Cell::new());
        for _ in 0..2 {
            let alone = Arc::clone(&alone);
            queue.post(Priority::Normal, "alone", || Ok(Box::new(move |_| alone.write()))).unwrap();
        }
        let turns = [(); 2].map(|()| {
            let queue = queue.clone();
            thread::spawn(move || queue.take_turn())
        });
        turns.into_iter().for_each(|turn| turn.join().unwrap());
        assert_eq!(alone.read(), 2);
        assert_eq!(queue.statistics(), Statistics { ran: 2, ..Statistics::default() });
    });
}
