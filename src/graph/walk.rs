//! Evaluation by a plan: in one loop over what has changed, or over the list of all that is demanded.

use std::ops::Range;

use super::Function;
use super::kernel::Rest;
use super::marks::{Bits, Pending};
use super::node::{Failure, Verdict};
use super::plan::{BY_INPUT, Plan, Step};
use super::pull::Work;
use super::state::{DIRTY, Ended, INPUT, Run, SIMPLE};

impl<F: Function> Work<'_, F> {
    /// Runs what waits at these positions, in order. Whether nothing waits there any more.
    pub fn walk(&mut self, plan: &Plan, bits: &mut Bits, positions: Range<u32>) -> bool {
        // A node gives a turn to nodes behind it only.
        let mut next = positions.start;
        while let Some(mut position) = bits.next(next).filter(|&position| position < positions.end) {
            if self.state.broken() == 0 && self.state.flags(plan.step(position).node) & (SIMPLE | INPUT) != 0 {
                match self.run_simple(plan, bits, position, positions.end) {
                    Rest::Done => return true,
                    Rest::Stopped => return false,
                    Rest::General(at) => position = at,
                    Rest::Failed(at) => {
                        next = at + 1;
                        continue;
                    }
                }
            }
            if !self.step(plan, bits, position) {
                return false;
            }
            bits.clear(position);
            next = position + 1;
        }
        true
    }

    #[cold]
    #[inline(never)]
    pub fn fail(&mut self, plan: &Plan, bits: &mut Bits, step: &Step, verdict: Verdict, mut failure: Failure) {
        let run = Run {
            structure: self.structure,
            position: step.node,
            outputs: step.outputs(),
            available: 0,
            evaluation: self.evaluation,
            is_restore: false,
        };
        let mut is_changed = false;
        self.state.end_without_values(&run, verdict, &mut failure, &mut |_| is_changed = true);
        for &reader in plan.readers_of_simple(step).iter().filter(|_| is_changed) {
            match reader & BY_INPUT {
                0 => bits.set(reader),
                _ => {
                    let pending = &mut Some(Pending { plan, bits });
                    self.marks.change_input(self.structure, self.state, reader & !BY_INPUT, pending);
                }
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
