//! The run of simple nodes: one output that is compared by its bytes, and few inputs. Most nodes are simple, and are called
//! millions of times a second.
//!
//! The loop indexes arrays without checks, because checks were a third of its instructions. It may: [`Loop::new`] compares
//! the sizes of all arrays with the largest numbers in the plan, once per walk. None of these arrays shrinks while the loop
//! has them.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::Function;
use super::marks::Bits;
use super::node::{Call, Held, Verdict};
use super::plan::{BY_INPUT, Plan, Step};
use super::pull::Work;
use super::state::{HAS_VALUE, Hot, PLAIN, STALE, State};
use super::structure::OWN;
use super::value::{Slot, Value};

/// Most inputs of a simple node.
pub const SIMPLE_INPUTS: usize = 4;

/// Why the loop has ended.
pub enum Rest {
    /// Nothing waits any more.
    Done,
    /// The node at this position does not run this way: it is not simple, this run is its first or timed, or a node is
    /// broken.
    General(u32),
    /// No node may start.
    Stopped,
}

/// The arrays of a plan and of a state, at hand.
///
/// Invariants, for `steps` that are not changed after [`Plan::new`]:
/// 1. Entries of `readers` without [`BY_INPUT`] are positions, below the length of `steps`.
/// 2. The ranges of a step are within `reads` and `readers`.
/// 3. Nodes of steps are below the length of `hot`, outputs of steps and entries of `reads` without [`OWN`] below those of
///    `outputs` and `changed_at`.
struct Loop<'a, F> {
    steps: &'a [Step],
    reads: &'a [u32],
    readers: &'a [u32],
    hot: &'a [Hot<F>],
    outputs: &'a [Slot],
    own: &'a [Slot],
    changed_at: &'a [AtomicU32],
}

impl<'a, F> Loop<'a, F> {
    fn new(plan: &'a Plan, state: &'a State<F>) -> Self {
        let ((steps, reads, readers), (outputs, own)) = (plan.arrays(), state.values.slots());
        let (hot, changed_at, bounds) = (state.hot(), state.changes(), plan.bounds());
        assert!(bounds.nodes <= hot.len(), "the plan is of another graph");
        assert!(bounds.outputs <= outputs.len().min(changed_at.len()), "the plan is of another graph");
        Self { steps, reads, readers, hot, outputs, own, changed_at }
    }

    /// The place of the value that an input reads.
    ///
    /// # Safety
    /// `read` is an entry of `reads`.
    #[inline(always)]
    unsafe fn slot(&self, read: u32) -> &'a Slot {
        if read & OWN != 0 {
            return self.own_slot(read & !OWN);
        }
        // SAFETY: by invariant 3.
        unsafe { self.outputs.get_unchecked(read as usize) }
    }

    #[cold]
    #[inline(never)]
    fn own_slot(&self, input: u32) -> &'a Slot {
        &self.own[input as usize]
    }
}

impl<F: Function> Work<'_, F> {
    /// Runs what waits from `position` on, which waits and is before `end`.
    #[inline(never)]
    pub fn run_simple(&mut self, plan: &Plan, bits: &mut Bits, mut position: u32, end: u32) -> Rest {
        let lanes = Loop::new(plan, self.state);
        bits.check_room(lanes.steps.len());
        assert!(position < end && end as usize <= lanes.steps.len(), "it is a position of the plan");
        let (state, cancel, evaluation, limit) = (self.state, self.cancel, self.evaluation, self.node_limit);
        let mut evaluated = self.summary.evaluated;
        let mut inputs = [Value::default(); SIMPLE_INPUTS];
        let rest = loop {
            // SAFETY: `position` is below `end`, and that is at most the number of steps.
            let step = unsafe { lanes.steps.get_unchecked(position as usize) };
            if !step.is_simple || state.broken() != 0 {
                break Rest::General(position);
            }
            // SAFETY: by invariant 3.
            let hot = unsafe { lanes.hot.get_unchecked(step.node as usize) };
            let flags = hot.flags.load(Relaxed);
            let is_simple = flags & !STALE == PLAIN | HAS_VALUE && !hot.is_timed();
            let Some(function) = hot.function.as_ref().filter(|_| is_simple) else { break Rest::General(position) };
            if evaluated >= limit || cancel.load(Relaxed) {
                break Rest::Stopped;
            }
            // SAFETY: by invariant 2.
            let reads = unsafe { lanes.reads.get_unchecked(step.range_of_reads()) };
            for (at, &read) in reads.iter().enumerate() {
                // SAFETY: a simple step has at most `SIMPLE_INPUTS` reads, and this is an entry of `reads`.
                unsafe { *inputs.get_unchecked_mut(at) = lanes.slot(read).get() };
            }
            // SAFETY: a simple step has at most `SIMPLE_INPUTS` reads; outputs by invariant 3.
            let (inputs, slot) =
                unsafe { (inputs.get_unchecked(..reads.len()), lanes.outputs.get_unchecked(step.output() as usize)) };
            let mut new = [slot.get()];
            let failure = self.scratch.failure();
            let mut call = Call { inputs, available: 0, outputs: &mut new, failure, held: Held::default() };
            let verdict = function.evaluate(&mut call);
            evaluated += 1;
            if verdict == Verdict::Done {
                hot.count(evaluation);
                if flags & STALE != 0 {
                    hot.flags.store(PLAIN | HAS_VALUE, Relaxed);
                }
                if new[0] != slot.get() {
                    slot.set(new[0]);
                    // SAFETY: by invariants 3 and 2.
                    let readers = unsafe {
                        lanes.changed_at.get_unchecked(step.output() as usize).store(evaluation, Relaxed);
                        lanes.readers.get_unchecked(step.range_of_readers())
                    };
                    for &reader in readers {
                        if reader & BY_INPUT == 0 {
                            // SAFETY: by invariant 1, and `check_room`.
                            unsafe { bits.set_unchecked(reader) };
                        } else {
                            self.change_input(plan, bits, reader & !BY_INPUT);
                        }
                    }
                }
            } else {
                self.fail(plan, bits, step, verdict);
            }
            // Nothing waits before `position`, because a node gives a turn to nodes behind it only.
            // SAFETY: as before.
            let next = match unsafe { bits.take_unchecked(position) } {
                Some(next) => Some(next),
                None => bits.next(position + 1),
            };
            match next {
                Some(next) if next < end => position = next,
                _ => break Rest::Done,
            }
        };
        self.summary.evaluated = evaluated;
        rest
    }
}

impl Bits {
    /// Panics unless there is room for positions below `count`.
    fn check_room(&self, count: usize) {
        let has_room = self.words.len() * 64 >= count && self.summary.len() * 64 >= self.words.len();
        assert!(has_room, "the set is of another plan");
    }

    /// [`Bits::set`].
    ///
    /// # Safety
    /// There is room for `position`.
    #[inline(always)]
    unsafe fn set_unchecked(&mut self, position: u32) {
        let word = (position / 64) as usize;
        // SAFETY: by this function's contract.
        let (place, bit) = unsafe { (self.words.get_unchecked_mut(word), 1 << (position % 64)) };
        let old = *place;
        *place = old | bit;
        if old == 0 {
            self.note_word(word);
        }
    }

    /// Removes a position. Returns the lowest one of its word.
    ///
    /// # Safety
    /// There is room for `position`.
    #[inline(always)]
    unsafe fn take_unchecked(&mut self, position: u32) -> Option<u32> {
        let word = (position / 64) as usize;
        // SAFETY: by this function's contract.
        let place = unsafe { self.words.get_unchecked_mut(word) };
        let rest = *place & !(1 << (position % 64));
        *place = rest;
        if rest == 0 {
            self.forget_word(word);
            return None;
        }
        Some(position & !63 | rest.trailing_zeros())
    }
}
