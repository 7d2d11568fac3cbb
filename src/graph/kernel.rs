//! The run of simple nodes: one output that is compared by its bytes, and few inputs. Most nodes are simple, and are called
//! millions of times a second.
//!
//! The loop indexes arrays without checks, because checks were a third of its instructions. It may: [`Loop::new`] compares
//! the sizes of all arrays with the largest numbers in the plan, once per walk. None of these arrays shrinks while the loop
//! has them.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::Function;
use super::marks::{Bits, Marks, Pending};
use super::node::{Call, Failure, Held, Verdict};
use super::plan::{BY_INPUT, Plan, Reads, Step};
use super::pull::Work;
use super::state::{DIRTY, HAS_VALUE, Hot, INPUT, PLAIN, SIMPLE, STALE, State};
use super::structure::Structure;
use super::value::{Slot, Value, Values};
use crate::base::fetch_ahead;
use crate::executor::Stopwatch;

/// Why the loop has ended.
pub enum Rest {
    /// Nothing waits any more.
    Done,
    /// The node at this position waits, and does not run this way.
    General(u32),
    /// A node has failed. Those behind this position wait.
    Failed(u32),
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
/// 4. A node with the flag [`SIMPLE`] has a function and one output.
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
        assert!(bounds.nodes <= hot.len().min(functions.len()), "the plan is of another graph");
        assert!(bounds.outputs <= outputs.len().min(changed_at.len()), "the plan is of another graph");
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
            |read: u32| unsafe { self.changed_at.get_unchecked(read as usize).load(Relaxed) } == evaluation;
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
fn take_input(values: &Values, step: &Step, hot: &Hot) -> bool {
    let new = values.read(step.few_reads()[0]);
    let is_changed = hot.settle(INPUT | PLAIN) | (new != values.output(step.output()));
    values.set_output(step.output(), new);
    is_changed
}

/// [`take_input`], in the loop that seldom meets an input.
#[inline(never)]
fn take_input_apart(values: &Values, step: &Step, hot: &Hot) -> bool {
    take_input(values, step, hot)
}

impl<F: Function> Work<'_, F> {
    /// Runs what waits from `position` on, which is before `end`. No node that they read is broken.
    ///
    /// Without `ALL`, the first position waits, and bits say which others do. With `ALL` it looks at each position. A node
    /// has a turn if it has a bit, or if an output that it reads has changed, and changes set no bits for such readers.
    /// This takes half the time if most nodes wait. There is no limit of nodes then.
    #[inline(never)]
    pub fn run_simple<const ALL: bool>(&mut self, plan: &Plan, bits: &mut Bits, position: u32, end: u32) -> Rest {
        self.run_simple_here::<ALL>(plan, bits, position, end)
    }

    /// [`Self::run_simple`] without a call, for the start of a frame.
    #[inline(always)]
    pub fn run_simple_here<const ALL: bool>(
        &mut self,
        plan: &Plan,
        bits: &mut Bits,
        mut position: u32,
        end: u32,
    ) -> Rest {
        let lanes = Loop::new(plan, self.state);
        bits.check_room(lanes.steps.len());
        assert!(position < end && end as usize <= lanes.steps.len(), "it is a position of the plan");
        let (cancel, evaluation) = (self.cancel, self.evaluation);
        let allowed = self.node_limit.saturating_sub(self.summary.evaluated);
        let mut left = allowed;
        let (start, mut skipped) = (position, 0);
        let (structure, state, marks) = (self.structure, self.state, &mut *self.marks);
        let (room, failure) = self.scratch.inputs_and_failure();
        assert!(plan.bounds().inputs <= room.len(), "the scratch has room for all inputs");
        let frame = Frame { plan, values: &state.values, evaluation };
        let mut lap = Lap { state: self.state, watch: None, next: 0 };
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
                    // SAFETY: by invariant 3.
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
                        let failure = std::mem::take(failure);
                        self.fail(plan, bits, step, verdict, failure);
                        break Rest::Failed(position);
                    }
                    (slot.get() != old) | (!ALL && flags != READY && hot.settle(READY))
                } else if flags & !(STALE | HAS_VALUE) == INPUT | PLAIN {
                    left -= u64::from(!ALL);
                    if ALL { take_input_apart(&state.values, step, hot) } else { take_input(&state.values, step, hot) }
                } else {
                    break Rest::General(position);
                };
                hot.count(evaluation);
                if is_changed {
                    // SAFETY: by invariant 3.
                    unsafe { lanes.changed_at.get_unchecked(step.output() as usize) }.store(evaluation, Relaxed);
                }
                if is_changed && (!ALL || step.has_inputs_to_mark) {
                    // SAFETY: by invariant 2.
                    for &reader in unsafe { lanes.readers.get_unchecked(step.range_of_readers()) } {
                        if reader & BY_INPUT == 0 {
                            // SAFETY: by invariant 1, and `check_room`.
                            unsafe { bits.set_unchecked(reader) };
                        } else {
                            change_input(structure, state, marks, Pending { plan, bits }, reader & !BY_INPUT);
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
            // Nothing waits before `position`, because a node gives a turn to nodes behind it only. Bits of a word are
            // cleared when nothing more of it waits.
            // SAFETY: as before.
            let next = match unsafe { bits.behind_unchecked(position) } {
                Some(next) => next,
                None => match bits.leave_word(position) {
                    Some(next) if next < end => next,
                    _ => {
                        self.summary.evaluated += allowed - left;
                        return Rest::Done;
                    }
                },
            };
            if next >= end {
                break Rest::Done;
            }
            position = next;
        };
        let is_over = matches!(rest, Rest::Failed(_) | Rest::Done);
        if ALL {
            self.summary.evaluated += u64::from(position + u32::from(is_over) - start - skipped);
            return rest;
        }
        if is_over {
            bits.clear_through(position);
        } else {
            bits.clear_before(position);
        }
        self.summary.evaluated += allowed - left;
        rest
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

/// Makes the node of an input dirty, if it reads the input.
#[cold]
#[inline(never)]
fn change_input<F: Function>(
    structure: &Structure,
    state: &State<F>,
    marks: &mut Marks,
    pending: Pending<'_>,
    input: u32,
) {
    marks.change_input(structure, state, input, &mut Some(pending));
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
    watch: Option<Stopwatch>,
    /// The run that may go on with the watch.
    next: u64,
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
        let watch = self.watch.take().filter(|_| self.next == number);
        let mut watch = watch.unwrap_or_else(Stopwatch::begin);
        let verdict = call(function, inputs, output, failure);
        let passed = watch.lap();
        if !matches!(verdict, Verdict::Need(_)) {
            self.state.learn(step.node, passed);
        }
        if step.range_of_readers().len() <= MOST_READERS_IN_TIME {
            (self.watch, self.next) = (Some(watch), number + 1);
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

    /// The lowest position of the same word behind `position`.
    ///
    /// # Safety
    /// There is room for `position`.
    #[inline(always)]
    unsafe fn behind_unchecked(&self, position: u32) -> Option<u32> {
        // SAFETY: by this function's contract.
        let word = unsafe { *self.words.get_unchecked((position / 64) as usize) };
        let rest = word.wrapping_shr(position) >> 1;
        (rest != 0).then(|| position + 1 + rest.trailing_zeros())
    }

    /// Removes all positions of a word, which are the lowest of all. The lowest position behind it.
    #[inline(always)]
    fn leave_word(&mut self, position: u32) -> Option<u32> {
        let word = (position / 64) as usize;
        self.words[word] = 0;
        let mut group = word / 64;
        let mut rest = self.summary[group] & !(1 << (word % 64));
        self.summary[group] = rest;
        while rest == 0 {
            group += 1;
            rest = *self.summary.get(group)?;
        }
        let word = group * 64 + rest.trailing_zeros() as usize;
        Some(word as u32 * 64 + self.words[word].trailing_zeros())
    }

    /// Removes the positions of a word before one.
    fn clear_before(&mut self, position: u32) {
        self.keep(position, u64::MAX << (position % 64));
    }

    /// Removes the positions of a word up to one.
    fn clear_through(&mut self, position: u32) {
        self.keep(position, (u64::MAX - 1) << (position % 64));
    }

    fn keep(&mut self, position: u32, mask: u64) {
        let word = (position / 64) as usize;
        if self.words[word] & !mask != 0 {
            self.words[word] &= mask;
            if self.words[word] == 0 {
                self.forget_word(word);
            }
        }
    }
}
