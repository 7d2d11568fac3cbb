//! Evaluation by a plan: in one loop over what has changed, or over the list of all that is demanded.

use super::Function;
use super::marks::{Bits, Pending};
use super::plan::{BY_INPUT, Plan};
use super::pull::Work;
use super::state::{DIRTY, Ended, Run};

impl<F: Function> Work<'_, F> {
    /// Runs what waits, by position. Whether nothing waits any more.
    pub fn walk(&mut self, plan: &Plan, bits: &mut Bits) -> bool {
        // A node gives a turn to nodes behind it only.
        let mut from = 0;
        while let Some(word) = bits.next_word(from) {
            while let Some(position) = bits.lowest_of(word) {
                if !self.step_inline(plan, bits, position) {
                    return false;
                }
                bits.clear(position);
            }
            from = word + 1;
        }
        true
    }

    /// Runs what waits, in the order of the list. Whether nothing waits any more.
    pub fn walk_list(&mut self, plan: &Plan, bits: &mut Bits) -> bool {
        for &position in plan.list() {
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
        self.step_inline(plan, bits, position)
    }

    #[inline(always)]
    fn step_inline(&mut self, plan: &Plan, bits: &mut Bits, position: u32) -> bool {
        let step = plan.step(position);
        if step.is_lazy {
            return self.visit_and_pull(step.node, &mut Some(Pending { plan, bits }));
        }
        if !self.may_start() {
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
        let run =
            Run { structure, position: step.node, outputs: step.outputs(), available: 0, evaluation: self.evaluation };
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
