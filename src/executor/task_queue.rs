//! The background queue: tasks that run one at a time, by priority.
//!
//! The server of the queue is a built-in thread, a host thread or a pump. It takes the oldest task of the highest
//! priority, and only while no other task runs. So tasks of one queue need no locks among themselves. A task is never
//! run or dropped under the queue's lock.
#![forbid(unsafe_code)]

use std::collections::VecDeque;

use super::deadline::Deadline;
use super::inside::{Inside, is_inside_queue};
use super::sync::{Arc, Condvar, Mutex, MutexGuard, lock, wait};
use super::{Context, Enclosure, Priority, Sentence, Statistics, Task};
use crate::base::{Result, Text, error, fault_point};

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
    notify: Option<Notify>,
}

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

/// The waiting tasks, and the running one.
pub struct TaskQueue {
    state: Mutex<State>,
    /// Signals that a task was posted or has ended, or that the queue has ended.
    changed: Condvar,
    limit: usize,
    enclosure: Enclosure,
}

/// Notifies a server other than the built-in thread of a new task.
pub type Notify = Arc<dyn Fn(&Arc<TaskQueue>, Priority, &str) + Send + Sync>;

impl TaskQueue {
    pub fn new(limit: usize, enclosure: Enclosure, notify: Option<Notify>) -> Self {
        let state = State {
            waiting: std::array::from_fn(|_| VecDeque::new()),
            running: None,
            owed: 0,
            is_over: false,
            failure: None,
            counts: Statistics::default(),
            notify,
        };
        Self { state: Mutex::new(state), changed: Condvar::new(), limit, enclosure }
    }

    fn address(self: &Arc<Self>) -> usize {
        Arc::as_ptr(self) as usize
    }

    /// Append a task to the list of its priority. `make` creates the task, under the queue's lock, after all other
    /// steps that can fail.
    pub fn post(self: &Arc<Self>, priority: Priority, name: &str, make: impl FnOnce() -> Result<Task>) -> Result<()> {
        let mut state = lock(&self.state);
        if state.is_over {
            return Err(error!(NotFound, "the executor is being destroyed: it accepts no more tasks"));
        }
        if state.waiting() >= self.limit {
            return Err(error!(
                LimitExceeded,
                "{} tasks are queued, which is task_limit: run some first, or raise task_limit", self.limit
            ));
        }
        let list = &mut state.waiting[priority as usize];
        list.try_reserve(1)?;
        let task = make()?;
        list.push_back(WaitingTask { task, name: Name::format(format_args!("{name}")) });
        let notify = state.notify.clone();
        drop(state);
        self.changed.notify_all();
        if let Some(notify) = notify {
            notify(self, priority, name);
        }
        Ok(())
    }

    /// Run the next task unless the queue is empty or another task runs. Returns whether it ran one.
    pub fn run_next(self: &Arc<Self>) -> bool {
        let Some(next) = lock(&self.state).take() else { return false };
        self.run(next.task);
        true
    }

    /// Take a turn from the host: one task runs for it. If a task runs already, the thread that runs it takes this turn
    /// later.
    pub fn take_turn(self: &Arc<Self>) {
        let mut state = lock(&self.state);
        if state.running.is_some() {
            state.owed += 1;
            return;
        }
        while let Some(next) = state.take() {
            drop(state);
            self.run(next.task);
            state = lock(&self.state);
            if state.owed == 0 {
                return;
            }
            state.owed -= 1;
        }
        state.owed = 0;
    }

    fn run(self: &Arc<Self>, task: Task) {
        let mut task = Some(task);
        let outcome = {
            let _inside = Inside::task(self.address());
            let context = Context { worker: 0, queue: Some(self) };
            (self.enclosure)(&mut || {
                fault_point!("executor.task");
                if let Some(task) = task.take() {
                    task(&context);
                }
            })
        };
        // If the enclosure never reached the task, it is dropped here, outside the lock.
        drop(task);
        let mut state = lock(&self.state);
        state.running = None;
        state.counts.ran += 1;
        if let Err(sentence) = outcome {
            state.counts.failed += 1;
            state.failure.get_or_insert(sentence);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// The main loop of the queue's built-in thread.
    pub fn serve(self: &Arc<Self>) {
        let mut state = lock(&self.state);
        while !state.is_over {
            let Some(next) = state.take() else {
                state = wait(&self.changed, state);
                continue;
            };
            drop(state);
            self.run(next.task);
            state = lock(&self.state);
        }
    }

    /// Run tasks until `budget` is used up, at most as many as waited at the start. Returns the number that ran.
    pub fn pump(self: &Arc<Self>, budget: &Deadline) -> usize {
        let most = lock(&self.state).waiting();
        (0..most).take_while(|_| !budget.is_over() && self.run_next()).count()
    }

    /// Run and await tasks until the queue is empty and idle. Returns false if the deadline passes first.
    pub fn wait_idle(self: &Arc<Self>, deadline: &Deadline) -> bool {
        loop {
            while !deadline.is_over() && self.run_next() {}
            let state = lock(&self.state);
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
            drop(wait(&self.changed, state));
            return true;
        };
        let (_state, waited) = self.changed.wait_timeout(state, left).unwrap_or_else(|poisoned| poisoned.into_inner());
        !waited.timed_out()
    }

    /// End the queue: it accepts and starts no more tasks. Waiting tasks are dropped. The running task is awaited unless
    /// this call is made from inside it.
    pub fn end(self: &Arc<Self>) {
        let mut state = lock(&self.state);
        state.is_over = true;
        let (waiting, notify) = (std::mem::take(&mut state.waiting), state.notify.take());
        state.counts.dropped += waiting.iter().map(VecDeque::len).sum::<usize>() as u64;
        drop(state);
        self.changed.notify_all();
        drop((waiting, notify));
        if self.is_mine() {
            return;
        }
        let mut state = lock(&self.state);
        while state.running.is_some() {
            state = wait(&self.changed, state);
        }
    }

    /// Whether this thread is inside a task of this queue.
    pub fn is_mine(self: &Arc<Self>) -> bool {
        is_inside_queue(self.address())
    }

    pub fn is_over(&self) -> bool {
        lock(&self.state).is_over
    }

    /// The message of the first task that failed since the last call.
    pub fn take_failure(&self) -> Option<Sentence> {
        lock(&self.state).failure.take()
    }

    /// The name of the running task.
    pub fn running(&self) -> Option<Name> {
        lock(&self.state).running
    }

    pub fn statistics(&self) -> Statistics {
        let state = lock(&self.state);
        let (waiting, running) = (state.waiting() as u64, u64::from(state.running.is_some()));
        Statistics { waiting, running, ..state.counts }
    }

    pub fn memory_used(&self) -> usize {
        lock(&self.state).waiting.iter().map(|list| list.capacity() * size_of::<WaitingTask>()).sum()
    }
}
