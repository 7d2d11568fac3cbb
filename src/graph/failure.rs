//! Nodes that failed, and nodes that cannot run because of one.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

use super::node::{Failure, Function};
use super::state::{BROKEN, FAILED, HAS_VALUE, POISONED, RELEASED, RESTORED, SHIFTED, STALE, State};
use super::structure::{HOLD, NONE, Node, Structure};
use crate::base::try_push;

/// The messages of nodes that failed.
#[derive(Default)]
pub struct Reports {
    list: Vec<Failure>,
    free: Vec<u32>,
}

impl<F: Function> State<F> {
    /// The message of a node that failed.
    pub fn failure(&self, node: u32) -> Option<Failure> {
        let at = self.report[node as usize].load(Relaxed);
        let reports = self.reports.lock().unwrap_or_else(|poison| poison.into_inner());
        reports.list.get(at as usize).copied()
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
            if flags & BROKEN != 0 && (structure.kind(input) & HOLD == 0 || flags & HAS_VALUE == 0) {
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
        on_change: &mut impl FnMut(u32),
    ) {
        self.hot()[position as usize].count(evaluation);
        self.set_broken(position, FAILED, outputs, evaluation, on_change);
        let mut reports = self.reports.lock().unwrap_or_else(|poison| poison.into_inner());
        let at = self.report[position as usize].load(Relaxed);
        if at != NONE {
            reports.list[at as usize] = *failure;
        } else if let Some(free) = reports.free.pop() {
            reports.list[free as usize] = *failure;
            self.report[position as usize].store(free, Relaxed);
        } else {
            // Without memory the node has failed without a message.
            let wanted = reports.list.len() + 1;
            if reports.free.try_reserve(wanted).is_ok() && try_push(&mut reports.list, *failure).is_ok() {
                self.report[position as usize].store(reports.list.len() as u32 - 1, Relaxed);
            }
        }
    }

    #[cold]
    pub fn set_broken(
        &self,
        position: u32,
        how: u32,
        outputs: Range<u32>,
        evaluation: u32,
        on_change: &mut impl FnMut(u32),
    ) {
        let flags = self.flags(position);
        if flags & BROKEN == 0 {
            self.broken.fetch_add(1, Relaxed);
        }
        if how == POISONED {
            self.drop_report(position);
        }
        // After a release there is no last good value.
        let lost = if flags & RELEASED != 0 { RELEASED | HAS_VALUE } else { 0 };
        if lost != 0 {
            self.clear_owned(position, outputs.clone(), |_| 0);
        }
        self.change_flags(position, how | SHIFTED, STALE | RESTORED | (BROKEN & !how) | lost);
        if flags & BROKEN == 0 {
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
        on_change: &mut impl FnMut(u32),
    ) -> bool {
        let is_shifted = outputs.clone().all(|output| self.changed_at(output) != evaluation);
        if is_shifted {
            self.change_flags(position, SHIFTED, 0);
        }
        for output in outputs.filter(|&output| self.changed_at(output) != evaluation) {
            self.changes()[output as usize].store(evaluation, Relaxed);
            on_change(output);
        }
        is_shifted
    }

    /// Whether an input goes on reading the last good value of a source that has just failed or recovered.
    pub fn holds(&self, structure: &Structure, input: u32) -> bool {
        let source = structure.source_node(input);
        structure.kind(input) & HOLD != 0
            && source != NONE
            && self.flags(source) & (SHIFTED | HAS_VALUE) == SHIFTED | HAS_VALUE
    }

    pub fn set_sound(&self, position: u32) {
        if self.flags(position) & BROKEN != 0 {
            self.broken.fetch_sub(1, Relaxed);
            self.change_flags(position, 0, BROKEN);
            self.drop_report(position);
        }
    }

    fn drop_report(&self, position: u32) {
        let at = self.report[position as usize].swap(NONE, Relaxed);
        if at != NONE {
            // `fail` has reserved it.
            self.reports.lock().unwrap_or_else(|poison| poison.into_inner()).free.push(at);
        }
    }
}
