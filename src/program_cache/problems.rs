//! Reports the present problem of a cache: in the log, and to the host's observer.

use std::cell::Cell;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::base::{Level, SharedDyn, Text, host_log};

/// A sentence about a problem. Empty: no problem.
pub type Problem = Text<232>;

/// Receives each new problem as a sentence, and an empty one when the problem is over.
pub type Observer = SharedDyn<dyn Fn(&str) + Send + Sync>;

/// The source of a problem.
#[derive(Clone, Copy)]
pub enum Source {
    Disk,
    Strikes,
}

#[derive(Default)]
struct State {
    /// For each source the present problem.
    present: [Option<Problem>; 2],
    reported: Option<Problem>,
    observer: Option<Observer>,
    /// Calls of observers that run now.
    calls: usize,
}

/// Whether both are the same problem, perhaps of different files: those are named in quotes.
fn is_same(one: Option<Problem>, other: Option<Problem>) -> bool {
    let (one, other) = (one.unwrap_or(Text::EMPTY), other.unwrap_or(Text::EMPTY));
    one.as_str().split('\'').step_by(2).eq(other.as_str().split('\'').step_by(2))
}

/// The present problems, and the observer.
#[derive(Default)]
pub struct Problems {
    state: Mutex<State>,
    /// A call of an observer has ended.
    ended: Condvar,
}

thread_local! {
    /// How many calls of observers this thread is in. It has no destructor, which would keep an unloaded library mapped.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// A call of an observer. It ends in any way.
struct Call<'a>(&'a Problems);

impl<'a> Call<'a> {
    fn begin(problems: &'a Problems, state: &mut State) -> Self {
        state.calls += 1;
        DEPTH.set(DEPTH.get() + 1);
        Self(problems)
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
        self.0.state().calls -= 1;
        self.0.ended.notify_all();
    }
}

impl Problems {
    /// Report the problem of a source if it has changed. Calls the host: hold no lock.
    pub fn report(&self, source: Source, problem: Problem) {
        let mut state = self.state();
        state.present[source as usize] = Some(problem).filter(|problem| !problem.as_str().is_empty());
        let now = state.present.iter().flatten().next().copied();
        let before = std::mem::replace(&mut state.reported, now);
        if is_same(now, before) {
            return;
        }
        let observer = state.observer.clone();
        let call = Call::begin(self, &mut state);
        drop(state);
        match now {
            Some(problem) => host_log(Level::Warning, format_args!("program cache: {problem}")),
            None => host_log(Level::Info, format_args!("program cache: the problem is over")),
        }
        if let Some(observer) = observer {
            observer(now.unwrap_or(Text::EMPTY).as_str());
        }
        // The observer is dropped before.
        drop(call);
    }

    /// Set or remove the observer. The old one may still run on other threads, and is dropped after its last call.
    pub fn set_observer(&self, observer: Option<Observer>) {
        let old = std::mem::replace(&mut self.state().observer, observer);
        drop(old);
    }

    /// Remove the observer, and wait until it runs on no other thread: it is dropped when this returns.
    pub fn close(&self) {
        self.set_observer(None);
        let mut state = self.state();
        while state.calls > DEPTH.get() {
            state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether reports call the host's observer.
    pub fn has_observer(&self) -> bool {
        self.state().observer.is_some()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
