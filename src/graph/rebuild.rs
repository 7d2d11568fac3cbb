//! Plans that are made in the background, from a copy of the links that follows the edits.
//!
//! The copy is a second [`Structure`]. Edits are logged; the task that makes a plan first applies the log to the copy. So
//! neither an edit nor a frame does work that grows with the graph. At most one task is at work, and edits that come
//! meanwhile end it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use super::marks::Bits;
use super::plan::Plan;
use super::structure::Structure;
use crate::base::{Result, Shared, error};
use crate::executor::{Context, Executor, Priority, try_task};

/// An edit of the links.
#[derive(Clone, Copy)]
pub enum Edit {
    Add { position: u32, outputs: u32, inputs: u32 },
    Kind { input: u32, kind: u8 },
    Remove { node: u32 },
    Link { output: u32, input: u32, is_feedback: bool },
    Unlink { input: u32 },
    Sink { node: u32, is_sink: bool },
}

/// A plan with the memory of its evaluators.
#[derive(Default)]
pub struct Made {
    pub plan: Plan,
    pub bits: Bits,
}

impl Made {
    /// Makes the plan of these links, unless `is_over` says that it has become useless.
    pub fn new(structure: &Structure, is_over: &dyn Fn() -> bool) -> Result<Self> {
        let plan = Plan::new(structure, is_over)?;
        let bits = Bits::new(plan.len())?;
        Ok(Self { plan, bits })
    }
}

/// The data that the task and the graph exchange.
#[derive(Default)]
struct Exchange {
    /// The copy. `None`: a task has it, or memory was short, and it must be made again.
    copy: Option<Structure>,
    log: Vec<Edit>,
    made: Option<Made>,
    /// An old plan, which the task drops.
    garbage: Option<Made>,
}

#[derive(Default)]
struct Inner {
    exchange: Mutex<Exchange>,
    /// Whether the task at work is useless.
    is_over: AtomicBool,
    /// Whether a task is posted or at work.
    is_posted: AtomicBool,
}

/// See above.
pub struct Rebuild {
    inner: Shared<Inner>,
    /// Edits that no task has seen.
    log: Vec<Edit>,
    /// Whether the copy and the log together are the links.
    is_complete: bool,
    /// Whether there was a copy.
    has_followed: bool,
    /// Whether a plan that is ready is the plan of the links.
    is_current: bool,
}

/// A log that is longer than this, and than the copy, is dropped: copying the links costs less than applying it.
const LONGEST_LOG: usize = 1 << 16;
/// A log that is longer than this is applied in the background, also if edits in every frame make all plans useless.
const LONG_LOG: usize = 1 << 12;

impl Rebuild {
    pub fn new() -> Result<Self> {
        Ok(Self {
            inner: Shared::try_new(Inner::default())?,
            log: Vec::new(),
            is_complete: false,
            has_followed: false,
            is_current: false,
        })
    }

    /// Logs an edit, if there is a copy to follow. Without memory for it the copy will be made anew.
    #[inline]
    pub fn log(&mut self, edit: Edit, structure: &Structure) {
        if self.is_current {
            self.is_current = false;
            self.inner.is_over.store(true, Ordering::Relaxed);
        }
        if self.is_complete {
            self.add(edit, structure);
        }
    }

    #[inline(never)]
    fn add(&mut self, edit: Edit, structure: &Structure) {
        let is_long = self.log.len() > LONGEST_LOG.max(4 * (structure.positions() + structure.link_count()));
        if is_long || self.log.try_reserve(1).is_err() {
            (self.is_complete, self.log) = (false, Vec::new());
        } else {
            self.log.push(edit);
        }
    }

    /// Makes the first copy. The first frame looks at the whole graph anyway; later ones do not.
    pub fn follow(&mut self, structure: &Structure) {
        if !std::mem::replace(&mut self.has_followed, true) {
            let mut exchange = self.inner.lock();
            (exchange.log, exchange.copy) = (Vec::new(), structure.try_clone().ok());
            (self.log, self.is_complete) = (Vec::new(), exchange.copy.is_some());
        }
    }

    /// Whether a task is posted or at work.
    pub fn is_posted(&self) -> bool {
        self.inner.is_posted.load(Ordering::Acquire)
    }

    /// Whether the copy is far behind the links, and no task is at work on it.
    pub fn is_behind(&self) -> bool {
        self.log.len() > LONG_LOG && !self.is_posted()
    }

    /// Posts a task that makes the plan of the links. The task drops `old`.
    pub fn post(&mut self, executor: &Executor, structure: &Structure, old: Made) -> Result<()> {
        let outcome = self.hand_over(structure, old).and_then(|()| self.post_task(executor));
        if outcome.is_err() {
            // Without a task nobody applies the log.
            *self.inner.lock() = Exchange::default();
            (self.is_complete, self.log) = (false, Vec::new());
        }
        outcome
    }

    fn hand_over(&mut self, structure: &Structure, old: Made) -> Result<()> {
        let mut exchange = self.inner.lock();
        exchange.garbage = Some(old);
        if !self.is_complete || exchange.copy.is_none() {
            exchange.log = Vec::new();
            exchange.copy = Some(structure.try_clone()?);
            (self.log, self.is_complete) = (Vec::new(), true);
        }
        if exchange.log.is_empty() {
            exchange.log = std::mem::take(&mut self.log);
        } else {
            exchange.log.try_reserve(self.log.len())?;
            exchange.log.append(&mut self.log);
        }
        Ok(())
    }

    fn post_task(&mut self, executor: &Executor) -> Result<()> {
        let inner = self.inner.clone();
        let task = try_task(|| move |_: &Context<'_>| inner.make())?;
        self.inner.is_over.store(false, Ordering::Relaxed);
        self.inner.is_posted.store(true, Ordering::Release);
        self.is_current = true;
        executor.post(task, Priority::Low, "graph plan").inspect_err(|_| {
            self.inner.is_posted.store(false, Ordering::Release);
            self.is_current = false;
        })
    }

    /// The plan that a task has made, if it is the plan of the links.
    pub fn take(&mut self) -> Option<Made> {
        if !self.is_current || self.is_posted() {
            return None;
        }
        self.is_current = false;
        self.inner.lock().made.take()
    }

    pub fn memory_used(&self) -> usize {
        let exchange = self.inner.lock();
        let of_copy = exchange.copy.as_ref().map_or(0, Structure::memory_used);
        (self.log.capacity() + exchange.log.capacity()) * size_of::<Edit>() + of_copy
    }
}

impl Drop for Rebuild {
    fn drop(&mut self) {
        self.inner.is_over.store(true, Ordering::Relaxed);
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, Exchange> {
        self.exchange.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// The task: applies the log, and makes the plan.
    fn make(&self) {
        let (copy, log, garbage) = {
            let mut exchange = self.lock();
            exchange.made = None;
            (exchange.copy.take(), std::mem::take(&mut exchange.log), exchange.garbage.take())
        };
        drop(garbage);
        // Without memory there is no copy afterwards, and the next task makes one.
        if let Some(mut copy) = copy
            && log.iter().try_for_each(|edit| copy.apply(edit)).is_ok()
        {
            let made = Made::new(&copy, &|| self.is_over.load(Ordering::Relaxed));
            let mut exchange = self.lock();
            exchange.copy = Some(copy);
            exchange.made = made.ok();
        }
        self.is_posted.store(false, Ordering::Release);
    }
}

impl Structure {
    fn apply(&mut self, edit: &Edit) -> Result<()> {
        match *edit {
            Edit::Add { position, outputs, inputs } => {
                let (position, outputs, inputs) = (position as usize, outputs as usize, inputs as usize);
                self.grow(outputs, inputs)?;
                self.add(position, outputs, inputs);
            }
            Edit::Kind { input, kind } => self.set_kind(input, kind),
            Edit::Remove { node } => self.remove(node),
            Edit::Link { output, input, is_feedback } => self.link(output, input, is_feedback),
            Edit::Unlink { input } => self.unlink(input),
            Edit::Sink { node, is_sink } => self.set_sink(node, is_sink),
        }
        Ok(())
    }
}

/// The error of a plan that has become useless.
pub fn outdated() -> crate::base::Error {
    error!(Busy, "the graph was edited meanwhile")
}
