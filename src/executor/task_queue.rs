//! The background queue: tasks that run one at a time, by priority.
//!
//! The server of the queue is a built-in thread, a host thread or a pump. It takes the oldest task of the highest
//! priority, and only while no other task runs. So tasks of one queue need no locks among themselves. A task is never
//! run or dropped under the queue's lock.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::collections::VecDeque;
use std::ffi::c_void;

use super::deadline::Deadline;
use super::inside::{Inside, Posting, is_inside_queue};
use super::sync::{Condvar, Mutex, MutexGuard, lock, wait};
use super::{Context, Enclosure, JobSystem, Priority, Run, Sentence, Statistics, Task};
use crate::base::{Result, Shared, SharedDyn, Text, error, fault_point};

/// The name that a task was posted with, cut to 40 bytes.
pub type Name = Text<40>;

struct WaitingTask {
    task: Task,
    name: Name,
}

struct State {
    /// One FIFO list for each priority.
    waiting: [VecDeque<WaitingTask>; Priority::COUNT],
    running: Option<Name>,
    /// Turns that started while a task ran. The thread that runs the task takes them.
    owed: usize,
    is_over: bool,
    failure: Option<Sentence>,
    counts: Statistics,
    /// The host that serves the queue, if it does.
    host: Option<Host>,
}

/// A job system and the function that it runs for each turn, with [`TaskQueue::into_raw`].
pub type Host = (SharedDyn<dyn JobSystem>, Run);

impl State {
    fn waiting(&self) -> usize {
        self.waiting.iter().map(VecDeque::len).sum()
    }

    /// The next task, if it may run now.
    fn take(&mut self) -> Option<WaitingTask> {
        if self.running.is_some() {
            return None;
        }
        let next = self.waiting.iter_mut().find_map(VecDeque::pop_front)?;
        self.running = Some(next.name);
        Some(next)
    }
}

/// The waiting tasks, and the running one. A clone is the same queue.
#[derive(Clone)]
pub struct TaskQueue(pub(super) Shared<Queue>);

pub struct Queue {
    state: Mutex<State>,
    /// Signals that a task was posted or has ended, or that the queue has ended.
    changed: Condvar,
    limit: usize,
    enclosure: Enclosure,
}

impl TaskQueue {
    pub fn new(limit: usize, enclosure: Enclosure, host: Option<Host>) -> Result<Self> {
        let state = State {
            waiting: std::array::from_fn(|_| VecDeque::new()),
            running: None,
            owed: 0,
            is_over: false,
            failure: None,
            counts: Statistics::default(),
            host,
        };
        let queue = Queue { state: Mutex::new(state), changed: Condvar::new(), limit, enclosure };
        Shared::try_new(queue).map(Self)
    }

    fn address(&self) -> usize {
        Shared::address(&self.0)
    }

    pub fn is_same(&self, other: &Self) -> bool {
        Shared::ptr_eq(&self.0, &other.0)
    }

    /// An owner for code in C, until [`Shared::from_raw`] takes it back.
    pub fn into_raw(self) -> *mut c_void {
        Shared::into_raw(self.0).as_ptr()
    }

    /// Append a task to the list of its priority. `make` creates the task, under the queue's lock, after all other
    /// steps that can fail.
    pub fn post(&self, priority: Priority, name: &str, make: impl FnOnce() -> Result<Task>) -> Result<()> {
        let mut state = lock(&self.0.state);
        if state.is_over {
            return Err(error!(NotFound, "the executor is being destroyed: it accepts no more tasks"));
        }
        if state.waiting() >= self.0.limit {
            return Err(error!(
                LimitExceeded,
                "{} tasks are queued, which is task_limit: run some first, or raise task_limit", self.0.limit
            ));
        }
        let list = &mut state.waiting[priority as usize];
        list.try_reserve(1)?;
        let task = make()?;
        list.push_back(WaitingTask { task, name: Name::format(format_args!("{name}")) });
        let host = state.host.clone();
        drop(state);
        self.0.changed.notify_all();
        // One turn for each task. A turn owns a reference, so that one after the executor's end is safe and finds no
        // task.
        if let Some((host, take_turn)) = host {
            let _posting = Posting::begin();
            host.post(take_turn, self.clone().into_raw(), priority, name);
        }
        Ok(())
    }

    /// Run the next task unless the queue is empty or another task runs. Returns how many tasks it left as its
    /// [rest](Context::post_rest), or `None` if no task ran.
    pub fn run_next(&self) -> Option<usize> {
        let next = lock(&self.0.state).take()?;
        Some(self.run(next.task))
    }

    /// Take a turn from the host: one task runs for it. If a task runs already, the thread that runs it takes this turn
    /// later.
    pub fn take_turn(&self) {
        let mut state = lock(&self.0.state);
        if state.running.is_some() {
            state.owed += 1;
            return;
        }
        while let Some(next) = state.take() {
            drop(state);
            self.run(next.task);
            state = lock(&self.0.state);
            if state.owed == 0 {
                return;
            }
            state.owed -= 1;
        }
        state.owed = 0;
    }

    /// Returns the number of tasks that this one left as its [rest](Context::post_rest).
    fn run(&self, task: Task) -> usize {
        let mut task = Some(task);
        let context = Context { worker: 0, queue: Some(self), rests: Cell::new(0) };
        let outcome = {
            let _inside = Inside::task(self.address());
            (self.0.enclosure)(&mut || {
                fault_point!("executor.task");
                if let Some(task) = task.take() {
                    task(&context);
                }
            })
        };
        // If the enclosure never reached the task, it is dropped here, outside the lock.
        drop(task);
        let mut state = lock(&self.0.state);
        state.running = None;
        state.counts.ran += 1;
        if let Err(sentence) = outcome {
            state.counts.failed += 1;
            state.failure.get_or_insert(sentence);
        }
        drop(state);
        self.0.changed.notify_all();
        context.rests.get()
    }

    /// The main loop of the queue's built-in thread.
    pub fn serve(&self) {
        let mut state = lock(&self.0.state);
        while !state.is_over {
            let Some(next) = state.take() else {
                state = wait(&self.0.changed, state);
                continue;
            };
            drop(state);
            self.run(next.task);
            state = lock(&self.0.state);
        }
    }

    /// Run tasks until `budget` is used up, at most as many as waited at the start and their rests. Returns the number
    /// that ran.
    pub fn pump(&self, budget: &Deadline) -> usize {
        let mut most = lock(&self.0.state).waiting();
        let mut count = 0;
        while count < most && !budget.is_over() {
            let Some(rests) = self.run_next() else { break };
            count += 1;
            most += rests;
        }
        count
    }

    /// Run and await tasks until the queue is empty and idle. Returns false if the deadline passes first.
    pub fn wait_idle(&self, deadline: &Deadline) -> bool {
        loop {
            while !deadline.is_over() && self.run_next().is_some() {}
            let state = lock(&self.0.state);
            if state.running.is_none() && state.waiting() == 0 {
                return true;
            }
            if deadline.is_over() || (state.running.is_some() && !self.await_change(state, deadline)) {
                return false;
            }
        }
    }

    /// Wait for a change; false after the deadline. The wait is bounded even if the host's clock stands still.
    fn await_change(&self, state: MutexGuard<'_, State>, deadline: &Deadline) -> bool {
        let Some(left) = deadline.left() else {
            drop(wait(&self.0.changed, state));
            return true;
        };
        let (_state, waited) =
            self.0.changed.wait_timeout(state, left).unwrap_or_else(|poisoned| poisoned.into_inner());
        !waited.timed_out()
    }

    /// End the queue: it accepts and starts no more tasks. Waiting tasks are dropped. The running task is awaited unless
    /// this call is made from inside it.
    pub fn end(&self) {
        let mut state = lock(&self.0.state);
        state.is_over = true;
        let (waiting, host) = (std::mem::take(&mut state.waiting), state.host.take());
        state.counts.dropped += waiting.iter().map(VecDeque::len).sum::<usize>() as u64;
        drop(state);
        self.0.changed.notify_all();
        drop((waiting, host));
        if self.is_mine() {
            return;
        }
        let mut state = lock(&self.0.state);
        while state.running.is_some() {
            state = wait(&self.0.changed, state);
        }
    }

    /// Whether this thread is inside a task of this queue.
    pub fn is_mine(&self) -> bool {
        is_inside_queue(self.address())
    }

    pub fn is_over(&self) -> bool {
        lock(&self.0.state).is_over
    }

    /// The message of the first task that failed since the last call.
    pub fn take_failure(&self) -> Option<Sentence> {
        lock(&self.0.state).failure.take()
    }

    /// The name of the running task.
    pub fn running(&self) -> Option<Name> {
        lock(&self.0.state).running
    }

    pub fn statistics(&self) -> Statistics {
        let state = lock(&self.0.state);
        let (waiting, running) = (state.waiting() as u64, u64::from(state.running.is_some()));
        Statistics { waiting, running, ..state.counts }
    }

    pub fn memory_used(&self) -> usize {
        let lists = lock(&self.0.state).waiting.iter().map(VecDeque::capacity).sum::<usize>();
        size_of::<Queue>() + lists * size_of::<WaitingTask>()
    }
}
