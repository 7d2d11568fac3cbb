//! The run of simple nodes: one output that is compared by its bytes, and few inputs. Most nodes are simple, and are called
//! millions of times a second.
//!
//! The loop indexes arrays without checks, because checks were a third of its instructions. It may: [`Loop::new`] compares
//! the sizes of all arrays with the largest numbers in the plan, once per walk. None of these arrays shrinks while the loop
//! has them.
#![allow(unsafe_code)]

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use super::Function;
use super::marks::{Bits, Marks, Pending};
use super::node::{Call, Failure, Held, Verdict};
use super::plan::{BY_INPUT, Plan, Reads, Step};
use super::pull::Work;
use super::scratch::Scratch;
use super::state::{DIRTY, HAS_VALUE, Hot, INPUT, PLAIN, Run, SIMPLE, STALE, State};
use super::structure::{OWN, Structure};
use super::value::{Slot, Value, Values};
use crate::base::fetch_ahead;
use crate::executor::Stopwatch;

/// Why the loop has ended.
pub enum Rest {
    /// Nothing waits any more.
    Done,
    /// The node at this position waits, and does not run this way.
    General(u32),
    /// The node at this position has ended with this verdict, and its message is in the scratch. Those behind it wait.
    Unsuccessful(u32, Verdict),
    /// No node may start. Those from this position on wait.
    Stopped(u32),
}

/// The flags of a simple node that has run, and has no turn by itself.
const READY: u32 = SIMPLE | PLAIN | HAS_VALUE;

/// Whether a node with these flags is simple, and not broken.
pub fn is_simple(flags: u32) -> bool {
    flags & !(STALE | HAS_VALUE) == SIMPLE | PLAIN
}

/// A walk over most nodes asks for the memory of so many nodes at once, and so many nodes ahead. Levels of 316 x 316 nodes
/// need 10 MB: a node takes 6.7 ns there, and took 12.4 without. See docs/decisions.md.
const FETCHED_NODES: usize = 32;
const FETCH_DISTANCE: usize = 64;
/// Bytes of a cache line.
const LINE: usize = 64;

/// A node with more readers than this gives its successor a clock of its own.
const MOST_READERS_IN_TIME: usize = 16;

/// The arrays of a plan and of a state, at hand.
///
/// Invariants, for `steps` that are not changed after [`Plan::new`]:
/// 1. Entries of `readers` without [`BY_INPUT`] are positions, below the length of `steps`.
/// 2. The range of a step with one output is within `readers`.
/// 3. Nodes of steps are below the lengths of `hot` and `functions`, outputs of steps and reads without [`OWN`] below those of `outputs` and
///    `changed_at`.
/// 4. A node with the flag [`SIMPLE`] has a function and one output, and one with the flag [`INPUT`] has one output.
/// 5. Reads of [`Reads::Adjacent`] and [`Reads::Two`] are without [`OWN`].
/// 6. No other thread writes the `outputs` that this one reads or writes, or reads those that it writes. Either one
///    thread runs nodes, or several run those of one level.
struct Loop<'a, F> {
    steps: &'a [Step],
    readers: &'a [u32],
    hot: &'a [Hot],
    functions: &'a [Option<F>],
    outputs: &'a [Slot],
    changed_at: &'a [AtomicU32],
}

// A derived copy would need a function that can be copied.
impl<F> Clone for Loop<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for Loop<'_, F> {}

impl<'a, F> Loop<'a, F> {
    fn new(plan: &'a Plan, state: &'a State<F>) -> Self {
        let ((steps, readers), outputs) = (plan.arrays(), state.values.slots());
        let ((hot, functions), changed_at, bounds) = (state.hot(), state.changes(), plan.bounds());
        let has_nodes = bounds.nodes <= hot.len() && bounds.nodes <= functions.len();
        let has_outputs = bounds.outputs <= outputs.len() && bounds.outputs <= changed_at.len();
        assert!(has_nodes && has_outputs, "the plan is of another graph");
        Self { steps, readers, hot, functions, outputs, changed_at }
    }

    /// Begins to load the memory of nodes below `end` that have their turn later. Returns the position of the next call.
    #[inline(never)]
    fn fetch(&self, position: u32, end: u32) -> u32 {
        let (first, end) = (position as usize + FETCH_DISTANCE, end as usize);
        fetch_next(self.steps, first + FETCH_DISTANCE);
        let steps = &self.steps[first.min(end)..end.min(first + FETCHED_NODES)];
        if let [first, .., last] = steps
            && last.node == first.node + FETCHED_NODES as u32 - 1
        {
            fetch_next(self.functions, first.node as usize);
            fetch_next(self.hot, first.node as usize);
            fetch_next(self.outputs, first.output() as usize);
        } else {
            for step in steps {
                fetch_ahead(self.functions.as_ptr().wrapping_add(step.node as usize));
                fetch_ahead(self.hot.as_ptr().wrapping_add(step.node as usize));
                fetch_ahead(self.outputs.as_ptr().wrapping_add(step.output() as usize));
            }
        }
        end.min(position as usize + FETCHED_NODES) as u32
    }

    /// Whether an output that a step reads has changed, and the values of its inputs. Both at once, because both depend on
    /// how it reads. Without `ALL`, only the values count.
    ///
    /// # Safety
    /// `step` is one of `steps`, and `room` has [`Bounds::inputs`](super::plan::Bounds) values.
    #[inline(always)]
    unsafe fn look<const ALL: bool>(
        &self,
        frame: Frame<'_>,
        step: &Step,
        room: &mut [Value],
    ) -> (bool, *const [Value]) {
        let Frame { plan, values, evaluation } = frame;
        let ([first, second], count) = (*step.few_reads(), step.inputs());
        // SAFETY: by invariants 3 and 5.
        let has_changed =
            |read: u32| ALL && unsafe { self.changed_at.get_unchecked(read as usize).load(Relaxed) } == evaluation;
        let has_any_changed = || ALL && plan.has_changed_read(step, self.changed_at, evaluation, &(0..0));
        // SAFETY: by invariants 3 and 5; there is room for the inputs by this function's contract. Adjacent outputs lie next
        // to each other.
        unsafe {
            match step.how {
                Reads::Adjacent => {
                    let inputs = self.outputs.as_ptr().add(first as usize).cast();
                    let has_changed = has_changed(first) || (count > 1 && has_any_changed());
                    (has_changed, std::ptr::slice_from_raw_parts(inputs, count))
                }
                // Values are copied by words: one that was just written as 8 bytes and is read as 16 waits for the
                // processor's store buffer.
                Reads::Two => {
                    *room.get_unchecked_mut(0) = self.outputs.get_unchecked(first as usize).get();
                    *room.get_unchecked_mut(1) = self.outputs.get_unchecked(second as usize).get();
                    (has_changed(first) || has_changed(second), room.get_unchecked(..2))
                }
                _ => {
                    gather(plan, values, step, room);
                    (has_any_changed(), room.get_unchecked(..count))
                }
            }
        }
    }
}

/// The data of [`Loop::look`] beside the arrays.
#[derive(Clone, Copy)]
struct Frame<'a> {
    plan: &'a Plan,
    values: &'a Values,
    evaluation: u32,
}

/// Begins to load [`FETCHED_NODES`] values that lie next to each other.
#[inline(always)]
fn fetch_next<T>(values: &[T], from: usize) {
    let first = values.as_ptr().wrapping_add(from);
    for line in 0..FETCHED_NODES * size_of::<T>() / LINE {
        fetch_ahead(first.wrapping_byte_add(line * LINE));
    }
}

/// Copies the values of any inputs.
#[inline(never)]
fn gather(plan: &Plan, values: &Values, step: &Step, room: &mut [Value]) {
    for (place, &read) in room.iter_mut().zip(plan.reads(step)) {
        *place = values.read(read);
    }
}

/// Passes on the value that the host has set, to the output of a node of class input. Whether it has changed.
#[inline(always)]
fn take_input(values: &Values, step: &Step, hot: &Hot, output: &Slot) -> bool {
    let new = values.own(step.few_reads()[0] & !OWN);
    let is_changed = hot.settle(INPUT | PLAIN) | (new != output.get());
    output.set(new);
    is_changed
}

/// [`take_input`], in the loop that seldom meets an input.
#[inline(never)]
fn take_input_apart(values: &Values, step: &Step, hot: &Hot, output: &Slot) -> bool {
    take_input(values, step, hot, output)
}

impl<F: Function> Work<'_, F> {
    /// [`Simple::run`], and [`Simple::fail`] after a failure.
    #[inline(never)]
    pub fn run_simple<const ALL: bool>(&mut self, plan: &Plan, bits: &mut Bits, position: u32, end: u32) -> Rest {
        let allowed = self.node_limit.saturating_sub(self.summary.evaluated);
        let (rest, runs) = self.simple().run::<ALL>(plan, bits, position..end, allowed);
        self.summary.evaluated += runs;
        if let Rest::Unsuccessful(at, verdict) = rest {
            self.simple().fail(plan, bits, at, verdict);
        }
        rest
    }

    fn simple(&mut self) -> Simple<'_, F> {
        Simple {
            structure: self.structure,
            state: self.state,
            marks: self.marks,
            scratch: self.scratch,
            cancel: self.cancel,
            evaluation: self.evaluation,
        }
    }
}

/// The parts of an evaluation that the run of simple nodes needs.
pub struct Simple<'a, F> {
    pub structure: &'a Structure,
    pub state: &'a State<F>,
    pub marks: &'a mut Marks,
    pub scratch: &'a mut Scratch,
    pub cancel: &'a AtomicBool,
    pub evaluation: u32,
}

impl<F: Function> Simple<'_, F> {
    /// Runs what waits at these positions, at most `allowed` nodes. No node that they read is broken. Returns how many ran.
    ///
    /// Without `ALL`, the first position waits, and bits say which others do. With `ALL` it looks at each position. A node
    /// has a turn if it has a bit, or if an output that it reads has changed, and changes set no bits for such readers.
    /// This takes half the time if most nodes wait. There is no limit of nodes then.
    #[inline(always)]
    pub fn run<const ALL: bool>(
        self,
        plan: &Plan,
        bits: &mut Bits,
        positions: Range<u32>,
        allowed: u64,
    ) -> (Rest, u64) {
        let Self { structure, state, marks, scratch, cancel, evaluation } = self;
        let Range { start, end } = positions;
        let lanes = Loop::new(plan, state);
        bits.check_room(lanes.steps.len());
        assert!(start < end && end as usize <= lanes.steps.len(), "these are positions of the plan");
        let (mut position, mut skipped, mut left) = (start, 0, allowed);
        // Without `ALL`: the place of the word with `position`, which is the lowest in it, and the word, which is put back at
        // the end.
        let (mut at, mut word) = (start / 64, 0);
        if !ALL {
            // SAFETY: there is room for all positions.
            word = unsafe { *bits.words.get_unchecked(at as usize) } & (u64::MAX << (start % 64));
        }
        let (room, failure) = scratch.inputs_and_failure();
        assert!(plan.bounds().inputs <= room.len(), "the scratch has room for all inputs");
        let frame = Frame { plan, values: &state.values, evaluation };
        let mut lap = Lap { state, last: None };
        // A call with a reference to `lanes` would keep them in memory, and take 3 instructions of each node.
        let fetched = lanes;
        let mut fetch_at = if ALL { fetched.fetch(position, end) } else { end };
        let rest = loop {
            // SAFETY: `position` is below `end`, and that is at most the number of steps.
            let step = unsafe { lanes.steps.get_unchecked(position as usize) };
            // SAFETY: by invariant 3.
            let hot = unsafe { lanes.hot.get_unchecked(step.node as usize) };
            let flags = hot.flags.load(Relaxed);
            // SAFETY: it is one of the steps, and there is room for all inputs.
            let (has_changed_read, looked) =
                if ALL { unsafe { lanes.look::<ALL>(frame, step, room) } } else { (true, &raw const room[..0]) };
            let waits = !ALL
                || has_changed_read
                || (flags != READY && (flags & DIRTY != 0 && step.how != Reads::Marked || bits.has(position)));
            if waits {
                if cancel.load(Relaxed) || (!ALL && left == 0) {
                    break Rest::Stopped(position);
                }
                let is_changed = if flags == READY || (!ALL && is_simple(flags)) {
                    left -= u64::from(!ALL);
                    // SAFETY: by invariants 3 and 4.
                    let slot = unsafe { lanes.outputs.get_unchecked(step.output() as usize) };
                    let old = slot.get();
                    // SAFETY: by invariants 4 and 6, and as before. No node writes another one's output, and there is no
                    // cycle: the inputs do not include the output.
                    let (inputs, function, output) = unsafe {
                        let inputs = if ALL { looked } else { lanes.look::<ALL>(frame, step, room).1 };
                        let function = lanes.functions.get_unchecked(step.node as usize).as_ref();
                        (&*inputs, function.unwrap_unchecked(), slot.alone())
                    };
                    let not_done = if hot.is_timed() {
                        let number = if ALL { position.into() } else { allowed - left };
                        unless_done(lap.run(step, number, function, inputs, output, failure))
                    } else {
                        unless_done(call(function, inputs, output, failure))
                    };
                    if let Some(verdict) = not_done {
                        slot.set(old);
                        break Rest::Unsuccessful(position, verdict);
                    }
                    // The flags as before: they are read again because no register kept them during the call.
                    let is_changed = slot.get() != old;
                    if ALL || hot.flags.load(Relaxed) == READY { is_changed } else { hot.settle(READY) | is_changed }
                } else if flags & !(STALE | HAS_VALUE) == INPUT | PLAIN {
                    left -= u64::from(!ALL);
                    // SAFETY: by invariants 3 and 4.
                    let slot = unsafe { lanes.outputs.get_unchecked(step.output() as usize) };
                    let take = if ALL { take_input_apart } else { take_input };
                    take(frame.values, step, hot, slot)
                } else {
                    break Rest::General(position);
                };
                hot.count(evaluation);
                if is_changed {
                    // SAFETY: by invariant 3.
                    unsafe { lanes.changed_at.get_unchecked(step.output() as usize) }.store(evaluation, Relaxed);
                }
                if ALL && is_changed && step.has_inputs_to_mark {
                    marks.change_readers(structure, state, plan.readers_of_simple(step), Pending { plan, bits });
                }
                if !ALL && is_changed {
                    let range = step.range_of_readers();
                    for place in range.clone() {
                        // SAFETY: by invariant 2.
                        let reader = unsafe { *lanes.readers.get_unchecked(place) };
                        if reader / 64 == at {
                            word |= 1 << (reader % 64);
                        } else if reader & BY_INPUT == 0 {
                            // SAFETY: by invariant 1, and `check_room`.
                            unsafe { bits.set_unchecked(reader) };
                        } else {
                            let rest = &plan.readers_of_simple(step)[place - range.start..];
                            bits.words[at as usize] = word;
                            marks.change_readers(structure, state, rest, Pending { plan, bits });
                            word = bits.words[at as usize];
                            break;
                        }
                    }
                }
            } else {
                skipped += 1;
            }
            if ALL {
                if position + 1 == fetch_at {
                    if fetch_at == end {
                        break Rest::Done;
                    }
                    fetch_at = fetched.fetch(fetch_at, end);
                }
                position += 1;
                continue;
            }
            // Nothing waits before `position`, because a node gives a turn to nodes behind it only.
            word &= word - 1;
            if word == 0 {
                // SAFETY: as before.
                match unsafe { bits.leave_word(at) } {
                    Some((next, bits)) if next < end => (position, at, word) = (next, next / 64, bits),
                    _ => return (Rest::Done, allowed - left),
                }
                continue;
            }
            position = at * 64 + word.trailing_zeros();
            if position >= end {
                break Rest::Done;
            }
        };
        if ALL {
            let is_over = matches!(rest, Rest::Unsuccessful(..) | Rest::Done);
            return (rest, u64::from(position + u32::from(is_over) - start - skipped));
        }
        if matches!(rest, Rest::Unsuccessful(..)) {
            word &= word - 1;
        }
        bits.put_word(at as usize, word);
        (rest, allowed - left)
    }

    /// Ends a run that was [`Rest::Unsuccessful`].
    #[cold]
    #[inline(never)]
    pub fn fail(self, plan: &Plan, bits: &mut Bits, position: u32, verdict: Verdict) {
        let Self { structure, state, marks, scratch, evaluation, .. } = self;
        let step = plan.step(position);
        let run = Run {
            structure,
            position: step.node,
            outputs: step.outputs(),
            available: 0,
            evaluation,
            is_restore: false,
        };
        let mut on_change =
            |_| marks.change_readers(structure, state, plan.readers_of_simple(step), Pending { plan, bits });
        state.end_without_values(&run, verdict, &mut scratch.failure, &mut on_change);
    }
}

impl Hot {
    /// After a run of a node with these flags. Whether it was its first.
    #[inline(always)]
    fn settle(&self, flags: u32) -> bool {
        let is_first = self.flags.load(Relaxed) & HAS_VALUE == 0;
        self.flags.store(flags | HAS_VALUE, Relaxed);
        is_first
    }
}

/// Called where a verdict is made: the compiler knows more of it there than after both ways of a call have met.
#[inline(always)]
fn unless_done(verdict: Verdict) -> Option<Verdict> {
    if verdict == Verdict::Done { None } else { Some(verdict) }
}

/// Runs a simple node.
#[inline(always)]
fn call<F: Function>(function: &F, inputs: &[Value], output: &mut Value, failure: &mut Failure) -> Verdict {
    let outputs = std::slice::from_mut(output);
    function.evaluate(&mut Call { inputs, available: 0, outputs, failure, held: Held::default() })
}

/// Times runs that follow each other. The end of one is the beginning of the next, so that each takes one look at the
/// clock.
struct Lap<'a, F> {
    state: &'a State<F>,
    /// The watch of the last run that was timed, and the number of the run that may go on with it.
    last: Option<(Stopwatch, u64)>,
}

impl<F: Function> Lap<'_, F> {
    /// Times a run. `number` is one more in a run that follows.
    #[cold]
    #[inline(never)]
    fn run(
        &mut self,
        step: &Step,
        number: u64,
        function: &F,
        inputs: &[Value],
        output: &mut Value,
        failure: &mut Failure,
    ) -> Verdict {
        let last = self.last.take().filter(|&(_, next)| next == number);
        let mut watch = last.map_or_else(Stopwatch::begin, |(watch, _)| watch);
        let verdict = call(function, inputs, output, failure);
        let passed = watch.lap();
        if !matches!(verdict, Verdict::Need(_)) {
            self.state.learn(step.node, passed);
        }
        if step.range_of_readers().len() <= MOST_READERS_IN_TIME {
            self.last = Some((watch, number + 1));
        }
        verdict
    }
}

impl Slot {
    /// The value, for a thread that is alone with it.
    ///
    /// # Safety
    /// Nothing else reads or writes it while the reference is used.
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "atomics can be written by a shared reference")]
    unsafe fn alone(&self) -> &mut Value {
        // SAFETY: two `AtomicU64` have the layout of two `u64`, and may be written; see this function's contract.
        unsafe { &mut *(&raw const *self).cast_mut().cast::<Value>() }
    }
}

impl Bits {
    /// Panics unless there is room for positions below `count`.
    fn check_room(&self, count: usize) {
        assert!(self.words.len() * 64 >= count, "the set is of another plan");
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

    /// Removes all positions of a word, which are the lowest of all. The lowest position behind it, and the word of that.
    ///
    /// # Safety
    /// There is room for positions of this word.
    #[inline(always)]
    unsafe fn leave_word(&mut self, word: u32) -> Option<(u32, u64)> {
        let word = word as usize;
        // SAFETY: by this function's contract.
        unsafe { *self.words.get_unchecked_mut(word) = 0 };
        let mut group = word / 64;
        let mut rest = self.summary.get(group)? & !(1 << (word % 64));
        self.summary[group] = rest;
        while rest == 0 {
            group += 1;
            rest = *self.summary.get(group)?;
        }
        let word = group * 64 + rest.trailing_zeros() as usize;
        let bits = self.words[word];
        Some((word as u32 * 64 + bits.trailing_zeros(), bits))
    }

    /// Replaces a word that was not 0.
    fn put_word(&mut self, word: usize, bits: u64) {
        self.words[word] = bits;
        if bits == 0 {
            self.forget_word(word);
        }
    }
}
