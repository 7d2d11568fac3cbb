//! Tests of every kind of executor, and of each kind alone.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::thread::ThreadId;

use super::*;
use crate::base::Code;
use crate::testing::allocator::allocations;

fn pool(threads: usize) -> Executor {
    Executor::new(Options { helpers: Helpers::Pool(threads), ..Options::default() }).expect("threads can be had")
}

fn background(background: Background) -> Executor {
    Executor::new(Options { background, ..Options::default() }).expect("a thread can be had")
}

/// How a job system runs its jobs.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    /// On a new thread for each job.
    Threads,
    /// At once, inside `enqueue`.
    Inline,
    /// Never: `finish` cancels the job.
    Never,
    /// Only inside `finish`, after the last block was taken.
    Late,
}

struct Jobs {
    manner: Manner,
    open: Mutex<HashMap<usize, Option<std::thread::JoinHandle<()>>>>,
    counts: Arc<Counts>,
    turns: Mutex<Sender<(Run, Address)>>,
}

#[derive(Default)]
struct Counts {
    enqueued: AtomicUsize,
    finished: AtomicUsize,
    names: Mutex<Vec<(String, Priority)>>,
}

#[derive(Clone, Copy)]
struct Address(*mut c_void);
// SAFETY: the address is only passed back to the library, as the trait requires.
unsafe impl Send for Address {}

impl Address {
    fn run(self, run: Run) {
        // SAFETY: called once for each address, and before `finish` returns for its ticket.
        unsafe { run(self.0) };
    }
}

// SAFETY: `finish` joins a started job. A job that did not start is dropped with its ticket.
unsafe impl JobSystem for Jobs {
    fn enqueue(&self, run: Run, task: *mut c_void, priority: Priority, name: &str) -> *mut c_void {
        let ticket = 1 + self.counts.enqueued.fetch_add(1, Ordering::SeqCst);
        self.counts.names.lock().unwrap().push((name.to_owned(), priority));
        let address = Address(task);
        let thread = match self.manner {
            Manner::Threads => Some(std::thread::spawn(move || address.run(run))),
            Manner::Inline => {
                address.run(run);
                return std::ptr::null_mut();
            }
            Manner::Never => None,
            Manner::Late => Some(std::thread::spawn(move || {
                std::thread::park();
                address.run(run);
            })),
        };
        self.open.lock().unwrap().insert(ticket, thread);
        ticket as *mut c_void
    }

    fn finish(&self, ticket: *mut c_void) {
        self.counts.finished.fetch_add(1, Ordering::SeqCst);
        let thread = self.open.lock().unwrap().remove(&(ticket as usize)).expect("a ticket is finished once");
        if let Some(thread) = thread {
            thread.thread().unpark();
            thread.join().expect("helpers do not unwind");
        }
    }

    fn post(&self, run: Run, task: *mut c_void, priority: Priority, name: &str) {
        self.counts.names.lock().unwrap().push((name.to_owned(), priority));
        self.turns.lock().unwrap().send((run, Address(task))).expect("the test still listens");
    }
}

fn host(manner: Manner, background: Background) -> (Executor, Arc<Counts>, Receiver<(Run, Address)>) {
    let (sender, turns) = channel();
    let counts = Arc::new(Counts::default());
    let jobs = Jobs { manner, open: Mutex::default(), counts: Arc::clone(&counts), turns: Mutex::new(sender) };
    let jobs = Shared::try_new(jobs).expect("there is memory");
    let executor = Executor::new(Options {
        helpers: Helpers::Host,
        background,
        host: Some(Shared::into_dyn::<dyn JobSystem>(jobs, |jobs| jobs)),
        max_concurrency: 4,
        ..Options::default()
    });
    (executor.expect("nothing can fail"), counts, turns)
}

/// One executor of each kind.
fn all_kinds() -> Vec<Executor> {
    let hosts = [Manner::Threads, Manner::Inline, Manner::Never, Manner::Late].map(|m| host(m, Background::Pump).0);
    [Executor::inline(), Executor::new(Options::default()).unwrap(), pool(0), pool(1), pool(3)]
        .into_iter()
        .chain(hosts)
        .collect()
}

fn sum_of(executor: &Executor, blocks: usize) -> usize {
    let ran: Vec<AtomicUsize> = (0..blocks).map(|_| AtomicUsize::new(0)).collect();
    let busy: Vec<AtomicUsize> = (0..executor.max_concurrency()).map(|_| AtomicUsize::new(0)).collect();
    executor.parallel_for(blocks, Priority::Normal, "sum", &|context, block| {
        assert_eq!(busy[context.worker()].fetch_add(1, Ordering::SeqCst), 0, "two at once under one number");
        ran[block].fetch_add(1, Ordering::Relaxed);
        busy[context.worker()].fetch_sub(1, Ordering::SeqCst);
    });
    assert!(ran.iter().all(|count| count.load(Ordering::Relaxed) == 1), "a block ran never, or twice");
    blocks
}

#[test]
fn every_block_runs_once_with_any_helpers() {
    for executor in all_kinds() {
        for blocks in [0, 1, 2, 3, 4, 5, 64, 1000] {
            sum_of(&executor, blocks);
        }
    }
}

#[test]
fn several_threads_share_one_executor() {
    let executor = pool(2);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..200).for_each(|blocks| _ = sum_of(&executor, blocks % 37)));
        }
    });
}

#[test]
fn every_ticket_is_finished_once_with_its_name_and_priority() {
    for manner in [Manner::Threads, Manner::Never, Manner::Late] {
        let (executor, counts, _) = host(manner, Background::Pump);
        executor.parallel_for(100, Priority::High, "culling", &|_, _| {});
        executor.parallel_for(2, Priority::Low, "two", &|_, _| {});
        executor.parallel_for(1, Priority::High, "alone", &|_, _| {});
        assert_eq!(counts.enqueued.load(Ordering::SeqCst), 3 + 1);
        assert_eq!(counts.finished.load(Ordering::SeqCst), 3 + 1);
        let culling = ("culling".to_owned(), Priority::High);
        let names = [culling.clone(), culling.clone(), culling, ("two".to_owned(), Priority::Low)];
        assert_eq!(*counts.names.lock().unwrap(), names);
    }
}

#[test]
fn loop_uses_at_most_the_allowed_threads() {
    let limited = Options { helpers: Helpers::Pool(7), max_concurrency: 2, ..Options::default() };
    let executor = Executor::new(limited).unwrap();
    assert_eq!(executor.max_concurrency(), 2);
    assert_eq!(pool(3).max_concurrency(), 4);
    assert_eq!(pool(1000).max_concurrency(), MAX_CONCURRENCY);
    sum_of(&executor, 500);
}

#[test]
fn pool_worker_takes_part_in_a_loop() {
    // The caller waits in its block for another block to begin: only a helper can begin it.
    let executor = pool(1);
    let (begun, changed) = (Mutex::new(0), Condvar::new());
    executor.parallel_for(2, Priority::Normal, "meeting", &|_, _| {
        *begun.lock().unwrap() += 1;
        changed.notify_all();
        let both = changed.wait_while(begun.lock().unwrap(), |begun| *begun < 2);
        assert_eq!(*both.unwrap(), 2);
    });
}

#[test]
fn first_loop_of_a_pool_does_not_allocate() {
    let executor = pool(2);
    let ran = AtomicUsize::new(0);
    let loops = || {
        executor.parallel_for(8, Priority::Normal, "first", &|_, _| {
            ran.fetch_add(1, Ordering::Relaxed);
        });
    };
    assert_eq!(allocations(loops), 0);
    assert_eq!(ran.into_inner(), 8);
}

#[test]
fn more_loops_at_once_than_a_pool_takes_run_all_their_blocks() {
    const LOOPS: usize = 100;
    let executor = pool(2);
    let (ran, all) = (AtomicUsize::new(0), Barrier::new(LOOPS));
    std::thread::scope(|scope| {
        for _ in 0..LOOPS {
            scope.spawn(|| {
                executor.parallel_for(8, Priority::Normal, "crowd", &|_, block| {
                    if block == 0 {
                        all.wait();
                    }
                    ran.fetch_add(1, Ordering::Relaxed);
                });
            });
        }
    });
    assert_eq!(ran.into_inner(), LOOPS * 8);
}

#[test]
fn nested_loop_stays_on_its_thread() {
    let threads = |executor: &Executor| -> Vec<ThreadId> {
        let seen = Mutex::new(Vec::new());
        executor.parallel_for(16, Priority::Normal, "inner", &|context, _| {
            assert_eq!(context.worker(), 0);
            seen.lock().unwrap().push(std::thread::current().id());
        });
        seen.into_inner().unwrap()
    };
    let executor = pool(3);
    executor.parallel_for(8, Priority::Normal, "outer", &|_, _| {
        assert_eq!(threads(&executor), [std::thread::current().id(); 16]);
    });
    let (done, is_done) = channel();
    let inner = executor.clone();
    let task = move |_: &Context<'_>| done.send(threads(&inner) == [std::thread::current().id(); 16]).unwrap();
    executor.post(Box::new(task), Priority::Normal, "task").unwrap();
    assert_eq!(executor.pump(Duration::MAX).unwrap(), 1);
    assert!(is_done.recv().unwrap());
}

fn message_of(work: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(work)).expect_err("it panics");
    let literal = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    literal.or_else(|| payload.downcast_ref::<String>().cloned()).expect("a message")
}

#[test]
fn block_panic_reaches_the_caller_and_the_executor_works_on() {
    for executor in all_kinds() {
        for bad in [0, 7, 99] {
            let ended = AtomicUsize::new(0);
            let message = message_of(|| {
                executor.parallel_for(100, Priority::Normal, "bad", &|_, block| {
                    assert!(block != bad, "block {bad} is bad");
                    ended.fetch_add(1, Ordering::SeqCst);
                });
            });
            assert!(message.contains(&format!("block {bad} is bad")), "{message}");
            assert!(ended.load(Ordering::SeqCst) < 100);
            sum_of(&executor, 100);
        }
    }
}

#[test]
fn caller_gets_one_panic_if_every_block_panics() {
    for executor in all_kinds() {
        let message =
            message_of(|| executor.parallel_for(50, Priority::Normal, "bad", &|_, block| panic!("no {block}")));
        assert!(message.contains("no "), "{message}");
    }
}

/// Post a task that records its number.
fn note(executor: &Executor, notes: &Arc<Mutex<Vec<u32>>>, priority: Priority, number: u32) {
    let notes = Arc::clone(notes);
    let task = try_task(move || move |_: &Context<'_>| notes.lock().unwrap().push(number)).unwrap();
    executor.post(task, priority, "note").unwrap();
}

#[test]
fn tasks_run_by_priority_then_in_posting_order() {
    let executor = background(Background::Pump);
    let notes = Arc::default();
    for number in 0..3 {
        note(&executor, &notes, Priority::Low, 20 + number);
        note(&executor, &notes, Priority::Normal, 10 + number);
        note(&executor, &notes, Priority::High, number);
    }
    assert_eq!(executor.pump(Duration::ZERO).unwrap(), 0);
    assert_eq!(executor.statistics(), Statistics { waiting: 9, ..Statistics::default() });
    assert_eq!(executor.pump(Duration::MAX).unwrap(), 9);
    assert_eq!(*notes.lock().unwrap(), [0, 1, 2, 10, 11, 12, 20, 21, 22]);
    assert_eq!(executor.statistics(), Statistics { ran: 9, ..Statistics::default() });
}

#[test]
fn pump_runs_only_tasks_queued_at_its_start() {
    fn again(context: &Context<'_>) {
        context.post(Box::new(again), Priority::High, "again").unwrap();
    }
    let executor = background(Background::Pump);
    executor.post(Box::new(again), Priority::Normal, "again").unwrap();
    for _ in 0..10 {
        assert_eq!(executor.pump(Duration::MAX).unwrap(), 1);
    }
}

#[test]
fn background_thread_runs_tasks_posted_by_tasks() {
    let executor = background(Background::Thread);
    let (sender, receiver) = channel();
    let task = move |context: &Context<'_>| {
        let inner = move |_: &Context<'_>| sender.send(std::thread::current().id()).unwrap();
        context.post(Box::new(inner), Priority::Normal, "inner").unwrap();
    };
    executor.post(Box::new(task), Priority::Normal, "outer").unwrap();
    assert_ne!(receiver.recv().unwrap(), std::thread::current().id());
    executor.wait_idle(Duration::MAX).unwrap();
    assert_eq!(executor.statistics().ran, 2);
}

#[test]
fn background_tasks_never_overlap() {
    let executor = background(Background::Thread);
    let inside = Arc::new(AtomicUsize::new(0));
    for _ in 0..500 {
        let inside = Arc::clone(&inside);
        let task = move |_: &Context<'_>| {
            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
            std::thread::yield_now();
            inside.fetch_sub(1, Ordering::SeqCst);
        };
        executor.post(Box::new(task), Priority::Normal, "alone").unwrap();
    }
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| while executor.pump(Duration::MAX).unwrap() > 0 {});
        }
    });
    executor.wait_idle(Duration::MAX).unwrap();
    assert_eq!(executor.take_failure().map(|sentence| sentence.as_str().to_owned()), None);
    assert_eq!(executor.statistics().ran, 500);
}

#[test]
fn wait_times_out_and_names_the_running_task() {
    let executor = background(Background::Thread);
    let (go_on, may_go_on) = channel::<()>();
    let (begun, has_begun) = channel();
    let task = move |_: &Context<'_>| {
        begun.send(()).unwrap();
        may_go_on.recv().unwrap();
    };
    executor.post(Box::new(task), Priority::Normal, "a long build").unwrap();
    executor.post(Box::new(|_| ()), Priority::Normal, "next").unwrap();
    has_begun.recv().unwrap();
    for timeout in [Duration::ZERO, Duration::from_millis(5)] {
        let error = executor.wait_idle(timeout).unwrap_err();
        assert_eq!(error.code(), Code::Timeout);
        assert!(error.sentence().contains("'a long build' runs and 1 tasks are queued"), "{error}");
    }
    assert_eq!(executor.pump(Duration::MAX).unwrap(), 0);
    go_on.send(()).unwrap();
    executor.wait_idle(Duration::MAX).unwrap();
}

#[test]
fn wait_runs_tasks_if_no_thread_does() {
    let executor = background(Background::Pump);
    let notes = Arc::default();
    (0..10).for_each(|number| note(&executor, &notes, Priority::Normal, number));
    assert_eq!(executor.wait_idle(Duration::ZERO).unwrap_err().code(), Code::Timeout);
    executor.wait_idle(Duration::MAX).unwrap();
    assert_eq!(notes.lock().unwrap().len(), 10);
}

#[test]
fn pump_and_wait_are_rejected_inside_a_task() {
    let executor = background(Background::Pump);
    let (sender, receiver) = channel();
    let inner = executor.clone();
    let task = move |_: &Context<'_>| {
        let codes = [inner.pump(Duration::MAX).unwrap_err(), inner.wait_idle(Duration::MAX).unwrap_err()];
        sender.send(codes.map(|error| error.code())).unwrap();
    };
    executor.post(Box::new(task), Priority::Normal, "greedy").unwrap();
    assert_eq!(executor.pump(Duration::MAX).unwrap(), 1);
    assert_eq!(receiver.recv().unwrap(), [Code::Busy; 2]);
    executor.parallel_for(1, Priority::Normal, "greedy", &|_, _| {
        assert_eq!(executor.pump(Duration::MAX).unwrap_err().code(), Code::Busy);
    });
}

#[test]
fn failed_task_is_reported_once_and_later_tasks_run() {
    for kind in [Background::Pump, Background::Thread] {
        let executor = background(kind);
        let notes = Arc::default();
        executor.post(Box::new(|_| panic!("no such file")), Priority::Normal, "bad").unwrap();
        executor.post(Box::new(|_| panic!("nor this")), Priority::Normal, "bad").unwrap();
        note(&executor, &notes, Priority::Normal, 1);
        executor.wait_idle(Duration::MAX).unwrap();
        assert_eq!(executor.take_failure().expect("it failed").as_str(), "no such file");
        assert!(executor.take_failure().is_none());
        assert_eq!(executor.statistics(), Statistics { ran: 3, failed: 2, ..Statistics::default() });
        assert_eq!(*notes.lock().unwrap(), [1]);
    }
}

/// Counts its drops.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn full_queue_rejects_and_drops_the_task() {
    let executor = Executor::new(Options { task_limit: 2, ..Options::default() }).unwrap();
    let dropped = Arc::new(AtomicUsize::new(0));
    let task = || -> Task {
        let counted = Counted(Arc::clone(&dropped));
        Box::new(move |_| drop(counted))
    };
    executor.post(task(), Priority::Normal, "1").unwrap();
    executor.post(task(), Priority::High, "2").unwrap();
    let error = executor.post(task(), Priority::Low, "3").unwrap_err();
    assert_eq!((error.code(), dropped.load(Ordering::SeqCst)), (Code::LimitExceeded, 1));
    let made = executor.post_callback(Priority::Low, "3", || panic!("it is not made when there is no room"));
    assert_eq!(made.unwrap_err().code(), Code::LimitExceeded);
    executor.pump(Duration::MAX).unwrap();
    executor.post(task(), Priority::Low, "3").unwrap();
    assert_eq!(Executor::inline().post(task(), Priority::Low, "4").unwrap_err().code(), Code::Unsupported);
    assert_eq!(dropped.load(Ordering::SeqCst), 4);
}

#[test]
fn shutdown_drops_queued_tasks_and_waits_for_the_running_one() {
    for kind in [Background::Pump, Background::Thread] {
        let executor = background(kind);
        let (dropped, ran) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (begun, has_begun) = channel();
        let count = Arc::clone(&ran);
        let long = move |context: &Context<'_>| {
            begun.send(()).unwrap();
            while !context.is_ending() {
                std::thread::yield_now();
            }
            assert_eq!(context.post(Box::new(|_| ()), Priority::High, "more").unwrap_err().code(), Code::NotFound);
            count.fetch_add(1, Ordering::SeqCst);
        };
        if kind == Background::Thread {
            executor.post(Box::new(long), Priority::High, "long").unwrap();
            has_begun.recv().unwrap();
        }
        for _ in 0..50 {
            let counted = Counted(Arc::clone(&dropped));
            executor
                .post(Box::new(move |_| panic!("{}", Arc::strong_count(&counted.0))), Priority::Low, "never")
                .unwrap();
        }
        drop(executor.clone());
        assert_eq!(dropped.load(Ordering::SeqCst), 0);
        drop(executor);
        assert_eq!(dropped.load(Ordering::SeqCst), 50);
        assert_eq!(ran.load(Ordering::SeqCst), usize::from(kind == Background::Thread));
    }
}

#[test]
fn last_owner_can_be_dropped_inside_its_own_task() {
    let executor = background(Background::Thread);
    let (sender, receiver) = channel();
    let last = executor.clone();
    let (go_on, may_go_on) = channel::<()>();
    let task = move |_: &Context<'_>| {
        may_go_on.recv().unwrap();
        drop(last);
        sender.send(()).unwrap();
    };
    executor.post(Box::new(task), Priority::Normal, "last").unwrap();
    drop(executor);
    go_on.send(()).unwrap();
    receiver.recv().unwrap();
}

#[test]
fn host_runs_one_job_per_task() {
    let (executor, counts, turns) = host(Manner::Never, Background::Host);
    let notes = Arc::default();
    note(&executor, &notes, Priority::Low, 2);
    note(&executor, &notes, Priority::High, 1);
    assert_eq!(counts.names.lock().unwrap().len(), 2);
    for turn in 1..=2 {
        let (run, task) = turns.recv().unwrap();
        task.run(run);
        assert_eq!(notes.lock().unwrap().len(), turn);
    }
    assert_eq!(*notes.lock().unwrap(), [1, 2]);
    // A turn finds no task after a pump has run it, or after the executor's end.
    note(&executor, &notes, Priority::Low, 3);
    note(&executor, &notes, Priority::Low, 4);
    assert_eq!(executor.pump(Duration::MAX).unwrap(), 2);
    note(&executor, &notes, Priority::Low, 5);
    drop(executor);
    turns.try_iter().for_each(|(run, task)| task.run(run));
    assert_eq!(*notes.lock().unwrap(), [1, 2, 3, 4]);
}

#[test]
fn host_jobs_during_a_task_are_not_lost() {
    let (executor, _, turns) = host(Manner::Never, Background::Host);
    let (go_on, may_go_on) = channel::<()>();
    let (begun, has_begun) = channel();
    let long = move |_: &Context<'_>| {
        begun.send(()).unwrap();
        may_go_on.recv().unwrap();
    };
    executor.post(Box::new(long), Priority::Normal, "long").unwrap();
    let notes = Arc::default();
    (0..3).for_each(|number| note(&executor, &notes, Priority::Normal, number));
    let (run, task) = turns.recv().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || task.run(run));
        has_begun.recv().unwrap();
        turns.try_iter().for_each(|(run, task)| task.run(run));
        assert!(notes.lock().unwrap().is_empty());
        go_on.send(()).unwrap();
    });
    assert_eq!(*notes.lock().unwrap(), [0, 1, 2]);
}

#[test]
fn callbacks_can_be_limited_to_the_calling_thread() {
    let executor = Executor::new(Options {
        helpers: Helpers::Pool(2),
        background: Background::Thread,
        calling_thread_only: true,
        ..Options::default()
    })
    .unwrap();
    assert_eq!(executor.clone().for_callbacks().max_concurrency(), 1);
    assert_eq!(pool(2).for_callbacks().max_concurrency(), 3);
    let (sender, receiver) = channel();
    let own = sender.clone();
    executor.post(Box::new(move |_| own.send(std::thread::current().id()).unwrap()), Priority::Normal, "own").unwrap();
    let here = std::thread::current().id();
    assert_ne!(receiver.recv().unwrap(), here);
    let call = move || -> Result<Task> { Ok(Box::new(move |_| sender.send(std::thread::current().id()).unwrap())) };
    executor.post_callback(Priority::Normal, "host's", call).unwrap();
    assert_eq!(executor.statistics().waiting, 1);
    assert_eq!(executor.pump(Duration::MAX).unwrap(), 1);
    assert_eq!(receiver.recv().unwrap(), here);
}

#[test]
fn missing_host_is_rejected() {
    for options in [
        Options { helpers: Helpers::Host, ..Options::default() },
        Options { background: Background::Host, ..Options::default() },
    ] {
        assert_eq!(Executor::new(options).err().expect("refused").code(), Code::InvalidArgument);
    }
}

#[test]
fn pools_can_be_created_and_destroyed_repeatedly() {
    for n in 0..200 {
        let executor = pool(n % 4);
        sum_of(&executor, n % 5);
    }
}
