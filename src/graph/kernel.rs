//! The run of a simple node: one output that is compared by its bytes, and few inputs. Most nodes are simple, and are called
//! millions of times a second. Through the C API a run takes 209 instructions this way, and 374 by [`State::run`]
//! (callgrind, a chain of 16,384 nodes).

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::Function;
use super::node::{Call, Failure, Held, Verdict};
use super::state::{HAS_VALUE, Hot, PLAIN, READS_OWNED, SHIFTED, STALE, State};
use super::structure::OWN;
use super::value::{Slot, Value};

/// Most inputs of a simple node.
pub const SIMPLE_INPUTS: usize = 4;

/// The end of a run.
pub enum Simple {
    /// Its output is as before.
    Same,
    /// Its output has changed.
    Changed,
    /// It has run, with this verdict.
    Not(Verdict),
    /// It was not run: it is not simple, or this run is timed.
    Unknown,
}

/// The arrays of a state, at hand.
pub struct Lanes<'a, F> {
    pub hot: &'a [Hot<F>],
    pub outputs: &'a [Slot],
    pub own: &'a [Slot],
    pub changed_at: &'a [AtomicU32],
}

impl<F: Function> Lanes<'_, F> {
    /// Runs a node while no node is broken. `reads` is what its inputs read.
    #[inline(always)]
    pub fn run(&self, node: u32, reads: &[u32], output: u32, evaluation: u32, failure: &mut Failure) -> Simple {
        let hot = &self.hot[node as usize];
        let flags = hot.flags.load(Relaxed);
        let is_simple = flags & (PLAIN | READS_OWNED | SHIFTED) == PLAIN && !hot.is_timed();
        let Some(function) = hot.function.as_ref().filter(|_| is_simple) else { return Simple::Unknown };
        let mut inputs = [Value::default(); SIMPLE_INPUTS];
        for (input, &read) in inputs.iter_mut().zip(reads) {
            let slots = if read & OWN == 0 { self.outputs } else { self.own };
            *input = slots[(read & !OWN) as usize].get();
        }
        let slot = &self.outputs[output as usize];
        let mut new = [slot.get()];
        let inputs = &inputs[..reads.len().min(SIMPLE_INPUTS)];
        match function.evaluate(&mut Call { inputs, available: 0, outputs: &mut new, failure, held: Held::default() }) {
            Verdict::Done => {}
            verdict => return Simple::Not(verdict),
        }
        hot.count(evaluation);
        hot.flags.store((flags | HAS_VALUE) & !STALE, Relaxed);
        if new[0] == slot.get() && flags & HAS_VALUE != 0 {
            return Simple::Same;
        }
        slot.set(new[0]);
        self.changed_at[output as usize].store(evaluation, Relaxed);
        Simple::Changed
    }
}

impl<F> State<F> {
    /// The arrays of the state, for [`Lanes::run`].
    pub fn lanes(&self) -> Lanes<'_, F> {
        let (outputs, own) = self.values.slots();
        Lanes { hot: self.hot(), outputs, own, changed_at: self.changes() }
    }
}
