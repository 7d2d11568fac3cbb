//! Evaluation by a plan: in one loop over what has changed, or over the list of all that is demanded.

use std::ops::Range;

use super::Function;
use super::kernel::Rest;
use super::marks::{Bits, Pending};
use super::plan::{BY_INPUT, Plan};
use super::pull::Work;
use super::state::{DIRTY, Ended, INPUT, Run, SIMPLE};

/// Guesses whether most nodes of a plan will run: if they did the last two times that the same nodes were touched. "Most" are
/// at least a third: to look at a node that does not run takes 12 instructions, and to run one takes about 45 fewer.
#[derive(Default)]
pub struct Guess {
    /// The answer of [`Marks::start`](super::marks::Marks::start) for the last evaluation in which most nodes ran, plus 1.
    pub(super) touched: u64,
    /// Whether they ran twice.
    is_confirmed: bool,
    /// Guess it always.
    #[cfg(test)]
    pub is_fixed: bool,
}

impl Guess {
    pub fn expects_most(&self, touched: u64) -> bool {
        #[cfg(test)]
        if self.is_fixed {
            return true;
        }
        self.is_confirmed && self.touched == touched + 1
    }

    /// Learns from an evaluation in which this many nodes ran.
    pub fn learn(&mut self, touched: u64, ran: u64, nodes: usize) {
        let (is_same, nodes) = (self.touched == touched + 1, nodes as u64);
        // A node that was touched itself takes a detour, so there must be few.
        if 3 * ran >= nodes && 8 * (touched >> 32) <= nodes {
            (self.touched, self.is_confirmed) = (touched + 1, is_same);
        } else if is_same {
            self.touched = 0;
        }
    }
}

impl<F: Function> Work<'_, F> {
    /// Runs what waits at these positions, in order. Whether nothing waits there any more.
    pub fn walk(&mut self, plan: &Plan, bits: &mut Bits, positions: Range<u32>) -> bool {
        let (mut next, end) = (positions.start, positions.end);
        // A node gives a turn to nodes behind it only.
        while let Some(mut position) = self.first_from(bits, next).filter(|&position| position < end) {
            let rest = match self.state.flags(plan.step(position).node) {
                _ if self.expects_most => self.run_simple::<true>(plan, bits, position, end),
                flags if flags & (SIMPLE | INPUT) != 0 && self.state.broken() == 0 => {
                    self.run_simple::<false>(plan, bits, position, end)
                }
                _ => Rest::General(position),
            };
            match rest {
                Rest::Done => break,
                Rest::Stopped(at) => {
                    self.expect_few(plan, bits, at, 0..0);
                    return false;
                }
                Rest::Unsuccessful(at, _) => {
                    next = at + 1;
                    self.expect_few(plan, bits, next, plan.step(at).outputs());
                    continue;
                }
                Rest::General(at) => position = at,
            }
            if !self.step(plan, bits, position) {
                self.expect_few(plan, bits, position, 0..0);
                return false;
            }
            bits.clear(position);
            next = position + 1;
            if self.state.broken() != 0 {
                self.expect_few(plan, bits, next, plan.step(position).outputs());
            }
        }
        true
    }

    fn first_from(&self, bits: &Bits, position: u32) -> Option<u32> {
        if self.expects_most { Some(position) } else { bits.next(position) }
    }

    /// If bits were not set, sets those of the positions that wait, which are from this one on. Those that wait because
    /// only the outputs `except` have changed have bits.
    pub fn expect_few(&mut self, plan: &Plan, bits: &mut Bits, from: u32, except: Range<u32>) {
        if !std::mem::take(&mut self.expects_most) {
            return;
        }
        (0..from).for_each(|position| bits.clear(position));
        for position in from..plan.len() as u32 {
            let step = plan.step(position);
            if self.state.ran_at(step.node) == self.evaluation {
                bits.clear(position);
            } else if plan.has_changed_read(step, self.state.changes(), self.evaluation, &except) {
                bits.set(position);
            }
        }
    }

    /// Runs what waits, in the order of the list. Whether nothing waits any more.
    pub fn walk_list(&mut self, plan: &Plan, bits: &mut Bits) -> bool {
        for position in plan.list() {
            if bits.has(position) {
                if !self.step(plan, bits, position) {
                    return false;
                }
                bits.clear(position);
            }
        }
        true
    }

    /// Brings the node at a position up to date. Whether it is.
    #[inline(never)]
    pub fn step(&mut self, plan: &Plan, bits: &mut Bits, position: u32) -> bool {
        let step = plan.step(position);
        if step.is_lazy {
            return self.visit_and_pull(step.node, &mut Some(Pending { plan, bits }));
        }
        if !self.make_ready(step.node, 0, &mut Some(Pending { plan, bits })) || !self.may_start() {
            return false;
        }
        let (structure, state) = (self.structure, self.state);
        let marks = &mut *self.marks;
        let on_change = |output: u32| {
            for &reader in plan.readers(step, output) {
                if reader & BY_INPUT == 0 {
                    bits.set(reader);
                } else {
                    let pending = &mut Some(Pending { plan, bits });
                    marks.change_input(structure, state, reader & !BY_INPUT, pending);
                }
            }
        };
        let (position, evaluation) = (step.node, self.evaluation);
        let run = Run { structure, position, outputs: step.outputs(), available: 0, evaluation, is_restore: false };
        let ended = state.run(&run, plan.reads(step).iter().copied(), self.scratch, on_change);
        self.summary.evaluated += u64::from(ended == Ended::Done);
        true
    }

    /// After an evaluation that stopped: nodes that still wait are dirty.
    pub fn keep(&mut self, plan: &Plan, bits: &mut Bits) {
        while let Some(position) = bits.next(0) {
            bits.clear(position);
            let step = plan.step(position);
            if !step.is_lazy {
                self.state.change_flags(step.node, DIRTY, 0);
            }
            self.marks.list(self.state, step.node);
        }
    }
}
