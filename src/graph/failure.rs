//! Nodes that failed, and nodes that cannot run because of one.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

use super::node::{Failure, Function};
use super::state::{BROKEN, FAILED, HAS_VALUE, POISONED, RELEASED, RESTORED, SHIFTED, STALE, State};
use super::structure::{HOLD, NONE, Node, Structure};
use crate::base::{Result, try_push};

/// The messages of nodes that failed.
#[derive(Default)]
pub struct Reports {
    /// By node: its message in `list`, or [`NONE`]. Up to the last node that has failed.
    at: Vec<u32>,
    list: Vec<Failure>,
    free: Vec<u32>,
}

impl Reports {
    fn of(&self, node: u32) -> u32 {
        self.at.get(node as usize).copied().unwrap_or(NONE)
    }

    fn set(&mut self, node: u32, failure: &Failure) -> Result<()> {
        let wanted = (node as usize + 1).saturating_sub(self.at.len());
        self.at.try_reserve(wanted)?;
        let at = match self.of(node) {
            NONE => match self.free.pop() {
                Some(free) => free,
                None => {
                    // So that no later release of a message needs memory.
                    self.free.try_reserve(self.list.len() + 1)?;
                    try_push(&mut self.list, Failure::EMPTY)?;
                    self.list.len() as u32 - 1
                }
            },
            at => at,
        };
        self.list[at as usize] = *failure;
        while self.at.len() <= node as usize {
            self.at.push(NONE);
        }
        self.at[node as usize] = at;
        Ok(())
    }

    fn drop_of(&mut self, node: u32) {
        if let Some(at) = self.at.get_mut(node as usize).filter(|at| **at != NONE) {
            self.free.push(std::mem::replace(at, NONE));
        }
    }
}

impl<F: Function> State<F> {
    /// The message of a node that failed.
    pub fn failure(&self, node: u32) -> Option<Failure> {
        let reports = self.reports.lock().unwrap_or_else(|poison| poison.into_inner());
        reports.list.get(reports.of(node) as usize).copied()
    }

    /// The first node with an error that a node reads, or [`NONE`].
    #[cold]
    pub fn broken_input(&self, structure: &Structure, node: &Node, available: u64) -> u32 {
        let unread = node.lazy & !available;
        for (at, input) in node.inputs().enumerate() {
            let source = structure.source_node(input);
            if source == NONE || (at < 64 && unread & (1 << at) != 0) {
                continue;
            }
            let flags = self.flags(source);
            if flags & BROKEN == 0 {
                continue;
            }
            let has_good = flags & HAS_VALUE != 0 && !self.is_gone(structure, input);
            if structure.kind(input) & HOLD == 0 || !has_good {
                return source;
            }
        }
        NONE
    }

    #[cold]
    pub fn fail(
        &self,
        position: u32,
        outputs: Range<u32>,
        failure: &Failure,
        evaluation: u32,
        on_change: &mut dyn FnMut(u32),
    ) {
        self.hot().0[position as usize].count(evaluation);
        self.set_broken(position, FAILED, outputs, evaluation, on_change);
        let mut reports = self.reports.lock().unwrap_or_else(|poison| poison.into_inner());
        // Without memory the node has failed without a message.
        let _ = reports.set(position, failure);
    }

    #[cold]
    pub fn set_broken(
        &self,
        position: u32,
        how: u32,
        outputs: Range<u32>,
        evaluation: u32,
        on_change: &mut dyn FnMut(u32),
    ) {
        let flags = self.flags(position);
        if flags & BROKEN == 0 {
            self.broken.fetch_add(1, Relaxed);
        }
        if how == POISONED {
            self.drop_report(position);
        }
        // A run that fails leaves no last good value after a release. Without a run, the value may come back.
        let lost = if how == FAILED && flags & RELEASED != 0 { RELEASED | HAS_VALUE } else { 0 };
        if lost != 0 {
            self.clear_owned(position, outputs.clone(), |_| 0);
        }
        self.change_flags(position, how | SHIFTED, STALE | RESTORED | (BROKEN & !how) | lost);
        if flags & BROKEN == 0 || lost != 0 {
            for output in outputs {
                self.changes()[output as usize].store(evaluation, Relaxed);
                on_change(output);
            }
        }
    }

    /// After a run with success of a broken node: passes on that unchanged outputs are sound, too. Whether all are unchanged.
    #[cold]
    pub fn pass_on_recovery(
        &self,
        position: u32,
        outputs: Range<u32>,
        evaluation: u32,
        on_change: &mut dyn FnMut(u32),
    ) -> bool {
        let is_shifted = outputs.clone().all(|output| self.changed_at(output) != evaluation);
        // While it is set, inputs that hold do not count the change. The run clears it if another output has changed.
        self.change_flags(position, SHIFTED, 0);
        for output in outputs.filter(|&output| self.changed_at(output) != evaluation) {
            self.changes()[output as usize].store(evaluation, Relaxed);
            on_change(output);
        }
        is_shifted
    }

    /// Whether an input goes on reading the last good value of a source that has just failed or recovered.
    #[inline]
    pub fn holds(&self, structure: &Structure, input: u32) -> bool {
        structure.kind(input) & HOLD != 0
            && self.has_shifted(structure.source_node(input))
            && !self.is_gone(structure, input)
    }

    /// Whether the value that an input reads was released.
    fn is_gone(&self, structure: &Structure, input: u32) -> bool {
        self.flags(structure.source_node(input)) & RELEASED != 0 && self.owns(structure, structure.source(input))
    }

    fn has_shifted(&self, source: u32) -> bool {
        source != NONE && self.flags(source) & (SHIFTED | HAS_VALUE) == SHIFTED | HAS_VALUE
    }

    pub fn set_sound(&self, position: u32) {
        if self.flags(position) & BROKEN != 0 {
            self.broken.fetch_sub(1, Relaxed);
            self.change_flags(position, 0, BROKEN);
            self.drop_report(position);
        }
    }

    fn drop_report(&self, position: u32) {
        self.reports.lock().unwrap_or_else(|poison| poison.into_inner()).drop_of(position);
    }
}
