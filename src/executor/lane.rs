//! The background lane: tasks that wait for their turn, and run one at a time.
//!
//! Whoever serves it, a thread of ours, the host's thread or a pump, takes the most urgent task that waits longest, and
//! only while no other runs: tasks of a lane need no locks among themselves. A task is never dropped and never run under
//! the lane's lock.
#![forbid(unsafe_code)]

use std::collections::VecDeque;

use super::deadline::Deadline;
use super::inside::{Inside, is_inside_lane};
use super::sync::{Arc, Condvar, Mutex, MutexGuard, lock, wait};
use super::{Context, Enclosure, Priority, Sentence, Statistics, Task};
use crate::base::{Result, Text, error, fault_point};

/// What a task is called: the beginning of the name it was posted with.
pub type Name = Text<40>;

struct Waiting {
    task: Task,
    name: Name,
}

struct State {
    /// By priority.
    waiting: [VecDeque<Waiting>; Priority::COUNT],
    running: Option<Name>,
    /// Turns that came while a task ran, and are taken by whoever runs it.
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
    fn take(&mut self) -> Option<Waiting> {
        if self.running.is_some() {
            return None;
        }
        let next = self.waiting.iter_mut().find_map(VecDeque::pop_front)?;
        self.running = Some(next.name);
        Some(next)
    }
}

/// A queue of tasks and what runs of it.
pub struct Lane {
    state: Mutex<State>,
    /// A task has come or has ended, or it is over.
    changed: Condvar,
    limit: usize,
    enclosure: Enclosure,
}

/// Tells whoever serves the lane, if that is not a thread of ours, that there is a task more.
pub type Notify = Arc<dyn Fn(&Arc<Lane>, Priority, &str) + Send + Sync>;

impl Lane {
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

    /// Put a task at the end of those of its priority. `make` is asked for it when nothing else can fail any more, under
    /// the lane's lock.
    pub fn post(self: &Arc<Self>, priority: Priority, name: &str, make: impl FnOnce() -> Result<Task>) -> Result<()> {
        let mut state = lock(&self.state);
        if state.is_over {
            return Err(error!(NotFound, "the executor is being destroyed: it takes no task any more"));
        }
        if state.waiting() >= self.limit {
            return Err(error!(
                LimitExceeded,
                "{} tasks wait already: let some run first (who serves the lane?) or raise task_limit", self.limit
            ));
        }
        let list = &mut state.waiting[priority as usize];
        list.try_reserve(1)?;
        let task = make()?;
        list.push_back(Waiting { task, name: Name::format(format_args!("{name}")) });
        let notify = state.notify.clone();
        drop(state);
        self.changed.notify_all();
        if let Some(notify) = notify {
            notify(self, priority, name);
        }
        Ok(())
    }

    /// Run the next task, if there is one and no other runs; whether it did.
    pub fn run_next(self: &Arc<Self>) -> bool {
        let Some(next) = lock(&self.state).take() else { return false };
        self.run(next.task);
        true
    }

    /// A turn that the host gives: one task is run for it, by whoever runs the lane's tasks now.
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
            let context = Context { worker: 0, lane: Some(self) };
            (self.enclosure)(&mut || {
                fault_point!("executor.task");
                if let Some(task) = task.take() {
                    task(&context);
                }
            })
        };
        // A task that the enclosure did not reach still owns what it owns.
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

    /// The life of a thread that does nothing else.
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

    /// Run tasks until `budget` is used up, but no more of them than waited at first; how many were run.
    pub fn pump(self: &Arc<Self>, budget: &Deadline) -> usize {
        let most = lock(&self.state).waiting();
        (0..most).take_while(|_| !budget.is_over() && self.run_next()).count()
    }

    /// Run and await tasks until there is none; whether that was before the deadline.
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

    /// Whether something changed before the deadline. The wait is bounded also where the host's clock stands still.
    fn await_change(&self, state: MutexGuard<'_, State>, deadline: &Deadline) -> bool {
        let Some(left) = deadline.left() else {
            drop(wait(&self.changed, state));
            return true;
        };
        let (_state, waited) = self.changed.wait_timeout(state, left).unwrap_or_else(|poisoned| poisoned.into_inner());
        !waited.timed_out()
    }

    /// From here on no task is taken or started. Those that wait are dropped, and the one that runs is awaited, unless
    /// this call comes from inside of it.
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

    /// Whether this thread is inside one of its tasks.
    pub fn is_mine(self: &Arc<Self>) -> bool {
        is_inside_lane(self.address())
    }

    pub fn is_over(&self) -> bool {
        lock(&self.state).is_over
    }

    /// What the first task said that failed since this was last asked.
    pub fn take_failure(&self) -> Option<Sentence> {
        lock(&self.state).failure.take()
    }

    /// The name of the task that runs.
    pub fn running(&self) -> Option<Name> {
        lock(&self.state).running
    }

    pub fn statistics(&self) -> Statistics {
        let state = lock(&self.state);
        let (waiting, running) = (state.waiting() as u64, u64::from(state.running.is_some()));
        Statistics { waiting, running, ..state.counts }
    }

    pub fn memory_used(&self) -> usize {
        lock(&self.state).waiting.iter().map(|list| list.capacity() * size_of::<Waiting>()).sum()
    }
}
