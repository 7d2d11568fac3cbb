//! Lazy evaluation: from a node to its stale sources, left to right. It needs no plan, so it
//! serves at once after an edit.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::marks::{Marks, Next, Pending, lazy_sources};
use super::scratch::Scratch;
use super::state::{DIRTY, Ended, Run, STALE, State};
use super::structure::{LAZY, NONE, Structure};
use super::{Function, Summary};
use crate::base::Result;

/// The data of one evaluation.
pub struct Work<'a, F> {
    pub structure: &'a Structure,
    pub state: &'a State<F>,
    pub marks: &'a mut Marks,
    pub scratch: &'a mut Scratch,
    pub path: &'a mut Path,
    pub evaluation: u32,
    /// Most nodes that run.
    pub node_limit: u64,
    pub cancel: &'a AtomicBool,
    pub summary: Summary,
    /// Whether a node that was up to date has failed.
    pub is_disturbed: bool,
    /// Whether most nodes of the plan probably run, and none is broken. So each node is looked at, and bits are not set.
    pub expects_most: bool,
}

/// The nodes between a demanded node and the running node.
#[derive(Default)]
pub struct Path(pub Vec<Stop>);

#[derive(Clone, Copy)]
pub struct Stop {
    pub node: u32,
    /// The next input to look at.
    pub next: u32,
}

impl Path {
    /// Makes room for a graph with this number of node positions.
    pub fn grow(&mut self, positions: usize) -> Result<()> {
        self.0.clear();
        self.0.try_reserve(positions)?;
        Ok(())
    }

    pub fn memory_used(&self) -> usize {
        self.0.capacity() * size_of::<Stop>()
    }
}

/// The end of a visit of a node whose inputs, apart from lazy ones, are up to date.
pub enum Visit {
    Done,
    /// These lazy inputs must be up to date first.
    Wait(u64),
    /// The evaluation is cancelled, or its allowance is used up.
    Stopped,
}

impl<F: Function> Work<'_, F> {
    /// Whether one more node may start.
    #[inline]
    pub fn may_start(&self) -> bool {
        self.summary.evaluated < self.node_limit && !self.cancel.load(Relaxed)
    }

    /// Brings a node up to date. Whether it is.
    pub fn pull(&mut self, root: u32, pending: &mut Option<Pending<'_>>) -> bool {
        let bottom = self.path.0.len();
        if self.state.is_stale(root) {
            self.path.0.push(Stop { node: root, next: 0 });
        }
        while self.path.0.len() > bottom {
            let stop = self.path.0.last_mut().expect("it is above the bottom");
            let node = self.structure.node(stop.node);
            let mut stale = NONE;
            while stop.next < node.input_count() && stale == NONE {
                let input = node.first_input + stop.next;
                stop.next += 1;
                self.summary.looked_at += 1;
                let source = self.structure.source_node(input);
                if source != NONE && self.structure.kind(input) & LAZY == 0 && self.state.is_stale(source) {
                    stale = source;
                }
            }
            if stale == NONE {
                let at = stop.node;
                match self.visit(at, pending) {
                    Visit::Done => {
                        self.path.0.pop();
                        continue;
                    }
                    Visit::Wait(mask) => {
                        let mut sources = lazy_sources(self.structure, node, mask);
                        match sources.find(|&source| self.state.is_stale(source)) {
                            Some(source) => stale = source,
                            None => continue,
                        }
                    }
                    Visit::Stopped => {
                        self.path.0.truncate(bottom);
                        return false;
                    }
                }
            }
            self.path.0.push(Stop { node: stale, next: 0 });
        }
        true
    }

    /// Visits a node, and pulls the lazy inputs that it asks for. Whether it is up to date.
    pub fn visit_and_pull(&mut self, position: u32, pending: &mut Option<Pending<'_>>) -> bool {
        loop {
            let mask = match self.visit(position, pending) {
                Visit::Done => return true,
                Visit::Stopped => return false,
                Visit::Wait(mask) => mask,
            };
            let structure = self.structure;
            for source in lazy_sources(structure, structure.node(position), mask) {
                if !self.pull(source, pending) {
                    return false;
                }
            }
        }
    }

    /// Runs a node if it must.
    pub fn visit(&mut self, position: u32, pending: &mut Option<Pending<'_>>) -> Visit {
        let (structure, state) = (self.structure, self.state);
        let node = structure.node(position);
        let flags = state.flags(position);
        if node.lazy == 0 && flags & DIRTY == 0 {
            state.change_flags(position, 0, STALE);
            return Visit::Done;
        }
        loop {
            let available = match self.marks.next(structure, state, position, node, self.evaluation) {
                Next::Nothing => return Visit::Done,
                Next::Wait(mask) => return Visit::Wait(mask),
                Next::Run(available) => available,
            };
            if !self.make_ready(position, available, pending) || !self.may_start() {
                return Visit::Stopped;
            }
            let reads = node.inputs().map(|input| structure.read_by(input));
            let marks = &mut *self.marks;
            let on_change = |output: u32| marks.change(structure, state, output, pending);
            let evaluation = self.evaluation;
            let run = Run { structure, position, outputs: node.outputs(), available, evaluation, is_restore: false };
            let ended = state.run_apart(&run, reads, self.scratch, on_change);
            match ended {
                Ended::Done | Ended::Poisoned => {
                    self.marks.finish(position);
                    self.summary.evaluated += u64::from(ended == Ended::Done);
                    return Visit::Done;
                }
                Ended::Need(wanted) => {
                    self.summary.requests += 1;
                    self.marks.want(position, wanted);
                }
            }
        }
    }
}
