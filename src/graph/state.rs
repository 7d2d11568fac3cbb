//! The state of nodes between evaluations, under numbers that no edit and no new plan changes. The one place that runs a
//! node.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use super::failure::Reports;
use super::memo::Memo;
use super::node::{Call, Class, Failure, Function, Held, NodeOptions, Output, Verdict};
use super::record::{PLAIN_RECORD, Record};
use super::scratch::Scratch;
use super::structure::{NONE, Node, Structure, put, try_reserve_to};
use super::value::{Cutoff, Value, Values, is_near};
use crate::base::{Result, Text, try_box, try_collect, try_string};
use crate::executor::Stopwatch;

/// It must run when it is demanded.
pub const DIRTY: u32 = 1;
/// Something that it depends on is dirty.
pub const MAYBE: u32 = 2;
pub const STALE: u32 = DIRTY | MAYBE;
/// Its last run failed.
pub const FAILED: u32 = 4;
/// It could not run, because an input failed.
pub const POISONED: u32 = 8;
pub const BROKEN: u32 = FAILED | POISONED;
/// It has run with success.
pub const HAS_VALUE: u32 = 16;
/// All of its outputs are compared by their bytes and owned by the host.
pub const PLAIN: u32 = 64;
/// It has a function, one output, and no lazy inputs; and it is [`PLAIN`].
pub const SIMPLE: u32 = 2048;
/// It is of [`Class::Input`], and has one output.
pub const INPUT: u32 = 4096;
/// It is in the list of changes since the last evaluation.
pub const LISTED: u32 = 32;

/// Its owned values were released to save memory.
pub const RELEASED: u32 = 128;
/// Its last run brought a value back.
pub const RESTORED: u32 = 256;
/// It may read values that can be released. Only with a limit of memory.
pub const READS_OWNED: u32 = 512;
/// Its last run failed or recovered, and changed no value.
pub const SHIFTED: u32 = 1024;

/// One run of a node in this many is timed: at 50 ns for two looks at the clock that is less than a nanosecond a run. The
/// second run is the first one: in the first run caches are cold, and a graph that is built runs all of its nodes.
const TIMED_RUNS: u64 = 64;

/// The data that each run of a node writes beside its outputs. Apart from the functions, so that marks of stale nodes look at few
/// lines of memory, and runs write few.
#[repr(C)]
pub struct Hot {
    pub flags: AtomicU32,
    /// The evaluation in which it ran last.
    ran_at: AtomicU32,
    /// Number of its runs, without those that asked for inputs, plus [`TIMED_RUNS`] - 1.
    runs: AtomicU64,
}

/// A run of a node.
pub struct Run<'a> {
    pub structure: &'a Structure,
    pub position: u32,
    pub outputs: Range<u32>,
    /// Its lazy inputs that are up to date.
    pub available: u64,
    pub evaluation: u32,
    /// Whether it brings back a value that was released.
    pub is_restore: bool,
}

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Its outputs are as up to date as they can be.
    Done,
    /// It did not run, because an input has failed.
    Poisoned,
    /// These lazy inputs are wanted.
    Need(u64),
}

/// See above.
pub struct State<F> {
    hot: Vec<Hot>,
    /// By node: `None` for [`Class::Input`], whose inputs are its outputs, and without a node.
    functions: Vec<Option<F>>,
    classes: Vec<Class>,
    /// By node, up to the last one with a record.
    records: Vec<Option<Box<Record>>>,
    pub values: Values,
    /// By node: mean duration of a run in nanoseconds; 0: unknown.
    durations_ns: Vec<AtomicU32>,
    /// By output: the evaluation in which it changed last.
    pub(super) changed_at: Vec<AtomicU32>,
    pub(super) broken: AtomicUsize,
    pub(super) reports: Mutex<Reports>,
    /// With a limit of memory.
    pub memo: Option<Memo>,
}

impl<F> Default for State<F> {
    fn default() -> Self {
        Self {
            hot: Vec::new(),
            functions: Vec::new(),
            classes: Vec::new(),
            records: Vec::new(),
            values: Values::default(),
            durations_ns: Vec::new(),
            changed_at: Vec::new(),
            broken: AtomicUsize::new(0),
            reports: Mutex::default(),
            memo: None,
        }
    }
}

impl<F> State<F> {
    /// The data that runs write, and the functions that they call, by node.
    pub fn hot(&self) -> (&[Hot], &[Option<F>]) {
        (&self.hot, &self.functions)
    }

    pub fn changes(&self) -> &[AtomicU32] {
        &self.changed_at
    }

    /// Number of nodes that failed, or that an input keeps from running.
    #[inline]
    pub fn broken(&self) -> usize {
        self.broken.load(Relaxed)
    }
}

impl<F: Function> State<F> {
    /// Makes the record of a node at a position, and room for it. `None`: it is plain and has no name.
    pub fn record(&mut self, position: usize, options: &NodeOptions<'_>) -> Result<Option<Box<Record>>> {
        if let Some(memo) = &mut self.memo {
            memo.grow(position)?;
        }
        let is_plain = options.outputs.iter().all(|output| output.cutoff == Cutoff::Bytes && !output.is_owned);
        if is_plain && options.name.is_empty() && options.kind.is_empty() {
            return Ok(None);
        }
        let missing = (position + 1).saturating_sub(self.records.len());
        self.records.try_reserve(missing)?;
        let outputs = if is_plain { Vec::new() } else { try_collect(options.outputs.iter().copied())? };
        let record = Record { outputs, name: try_string(options.name)?, kind: try_string(options.kind)? };
        try_box(record).map(Some)
    }

    /// Makes room for nodes, outputs and inputs below these numbers.
    pub fn reserve(&mut self, nodes: usize, outputs: usize, inputs: usize) -> Result<()> {
        try_reserve_to(&mut self.hot, nodes)?;
        try_reserve_to(&mut self.functions, nodes)?;
        try_reserve_to(&mut self.classes, nodes)?;
        try_reserve_to(&mut self.durations_ns, nodes)?;
        try_reserve_to(&mut self.changed_at, outputs)?;
        self.values.reserve(outputs, inputs)
    }

    /// Adds a node for which there is room. It is dirty, and [`LISTED`].
    pub fn add(
        &mut self,
        position: usize,
        record: Option<Box<Record>>,
        function: Option<F>,
        node: &Node,
        options: &NodeOptions<'_>,
    ) {
        let initial = options.outputs.iter().map(|pin| pin.initial);
        self.values.add_outputs(node.first_output, initial.clone());
        for output in node.outputs() {
            put(&mut self.changed_at, output as usize, AtomicU32::new(0));
        }
        if options.class == Class::Input {
            // An input's own values are those that the host sets.
            self.values.add_own(node.first_input, initial);
        } else {
            self.values.add_own(node.first_input, options.inputs.iter().map(|pin| pin.default));
        }
        let is_plain = record.as_ref().is_none_or(|record| record.outputs.is_empty());
        let how = match function {
            None if node.output_count() == 1 => INPUT,
            Some(_) if is_plain && node.lazy == 0 && node.output_count() == 1 => SIMPLE,
            _ => 0,
        };
        // A user input takes no time.
        put(&mut self.durations_ns, position, AtomicU32::new(u32::from(function.is_none())));
        put(&mut self.classes, position, options.class);
        let flags = AtomicU32::new((u32::from(is_plain) * PLAIN) | how | DIRTY | LISTED);
        put(&mut self.hot, position, Hot { flags, ..Hot::default() });
        put(&mut self.functions, position, function);
        if let Some(memo) = self.memo.as_mut().filter(|_| record.as_ref().is_some_and(|record| record.owns_any())) {
            memo.add(position as u32);
        }
        if record.is_some() {
            while self.records.len() <= position {
                self.records.push(None);
            }
        }
        if let Some(place) = self.records.get_mut(position) {
            *place = record;
        }
    }

    /// Removes a node, and releases its values.
    pub fn remove(&mut self, position: usize, node: &Node) {
        self.set_sound(position as u32);
        let (hot, function) = (std::mem::take(&mut self.hot[position]), self.functions[position].take());
        let is_released = hot.flags.load(Relaxed) & RELEASED != 0;
        let record = self.records.get_mut(position).and_then(Option::take);
        let owns_any = record.as_ref().is_some_and(|record| record.owns_any());
        if let Some(memo) = self.memo.as_mut().filter(|_| owns_any) {
            memo.remove(position as u32);
        }
        if let (Some(record), Some(function), false) = (record, &function, is_released) {
            record.release_all(function, node, &self.values);
        }
    }

    /// Releases the values of all nodes.
    pub fn release_all(&mut self, structure: &Structure) {
        for (position, (record, function)) in self.records.iter().zip(&self.functions).enumerate() {
            let is_released = self.flags(position as u32) & RELEASED != 0;
            if let (Some(record), Some(function), false) = (record, function, is_released) {
                record.release_all(function, structure.node(position as u32), &self.values);
            }
        }
    }

    pub fn function(&self, node: u32) -> Option<&F> {
        self.functions[node as usize].as_ref()
    }

    pub fn record_of(&self, node: u32) -> &Record {
        self.records.get(node as usize).and_then(Option::as_deref).unwrap_or(&PLAIN_RECORD)
    }

    pub fn class(&self, node: u32) -> Class {
        self.classes[node as usize]
    }

    /// Whether the graph releases the values of an output.
    pub fn owns(&self, structure: &Structure, output: u32) -> bool {
        let writer = structure.writer(output);
        self.record_of(writer).owns(output - structure.node(writer).first_output)
    }

    #[inline]
    pub fn flags(&self, node: u32) -> u32 {
        self.hot[node as usize].flags.load(Relaxed)
    }

    /// Sets and clears flags. Only the thread that runs or edits a node does so.
    #[inline]
    pub fn change_flags(&self, node: u32, set: u32, clear: u32) {
        let flags = &self.hot[node as usize].flags;
        flags.store((flags.load(Relaxed) | set) & !clear, Relaxed);
    }

    /// As [`Self::change_flags`].
    #[inline]
    pub fn set_flags(&self, node: u32, flags: u32) {
        self.hot[node as usize].flags.store(flags, Relaxed);
    }

    pub fn is_stale(&self, node: u32) -> bool {
        self.flags(node) & STALE != 0
    }

    pub fn runs(&self, node: u32) -> u64 {
        self.hot[node as usize].runs.load(Relaxed) - (TIMED_RUNS - 1)
    }

    /// Takes over the duration of a run. Returns it in nanoseconds.
    pub fn learn(&self, node: u32, passed: Duration) -> u32 {
        let new = u32::try_from(passed.as_nanos()).unwrap_or(u32::MAX).max(1);
        let mean = match self.duration_ns(node) {
            0 => new,
            old => old - old / 4 + new / 4,
        };
        self.durations_ns[node as usize].store(mean.max(1), Relaxed);
        new
    }

    /// Takes this for the measured duration of all nodes.
    #[cfg(test)]
    pub fn set_durations(&self, nanoseconds: u32) {
        self.durations_ns.iter().for_each(|duration| duration.store(nanoseconds, Relaxed));
    }

    /// Mean duration of a run in nanoseconds: see [`TIMED_RUNS`]. 0: not known.
    pub fn duration_ns(&self, node: u32) -> u32 {
        self.durations_ns[node as usize].load(Relaxed)
    }

    /// The evaluation in which a node ran last, or 0.
    pub fn ran_at(&self, node: u32) -> u32 {
        self.hot[node as usize].ran_at.load(Relaxed)
    }

    /// The evaluation in which an output changed last, or 0.
    #[inline]
    pub fn changed_at(&self, output: u32) -> u32 {
        self.changed_at[output as usize].load(Relaxed)
    }

    /// Sets an input without a link. Whether that is a change.
    pub fn set_input(&self, input: u32, value: Value) -> bool {
        let is_change = self.values.own(input) != value;
        self.values.set_own(input, value);
        is_change
    }

    /// Runs a node. `reads` is what its inputs read. Calls `on_change` for each output that changed.
    #[inline]
    pub fn run(
        &self,
        run: &Run<'_>,
        reads: impl Iterator<Item = u32>,
        scratch: &mut Scratch,
        mut on_change: impl FnMut(u32),
    ) -> Ended {
        let count = scratch.read(&self.values, reads);
        self.run_with(run, count, scratch, &mut on_change)
    }

    /// [`Self::run`], whose calls take 5 % more instructions, and 3 KB less.
    #[inline]
    pub fn run_apart(
        &self,
        run: &Run<'_>,
        reads: impl Iterator<Item = u32>,
        scratch: &mut Scratch,
        mut on_change: impl FnMut(u32),
    ) -> Ended {
        let count = scratch.read(&self.values, reads);
        self.run_with_apart(run, count, scratch, &mut on_change)
    }

    #[inline(never)]
    fn run_with_apart(
        &self,
        run: &Run<'_>,
        count: usize,
        scratch: &mut Scratch,
        on_change: &mut dyn FnMut(u32),
    ) -> Ended {
        self.run_with(run, count, scratch, on_change)
    }

    /// Runs a node whose inputs are in the scratch.
    #[inline(always)]
    fn run_with(&self, run: &Run<'_>, count: usize, scratch: &mut Scratch, on_change: &mut dyn FnMut(u32)) -> Ended {
        let Run { structure, position, ref outputs, available, evaluation, is_restore } = *run;
        let outputs = outputs.clone();
        if self.broken() > 0 && self.broken_input(structure, structure.node(position), available) != NONE {
            self.set_broken(position, POISONED, outputs, evaluation, on_change);
            return Ended::Poisoned;
        }
        let inputs = &scratch.inputs[..count];
        let hot = &self.hot[position as usize];
        let flags = hot.flags.load(Relaxed);
        if flags & SHIFTED != 0 {
            self.change_flags(position, 0, SHIFTED);
        }
        let Some(function) = self.function(position) else {
            hot.count(evaluation);
            for (output, &value) in outputs.zip(inputs) {
                if self.values.output(output) != value || flags & HAS_VALUE == 0 {
                    self.store(output, value, evaluation, on_change);
                }
            }
            hot.flags.store((flags | HAS_VALUE) & !STALE, Relaxed);
            return Ended::Done;
        };
        scratch.outputs.clear();
        scratch.outputs.extend(outputs.clone().map(|output| self.values.output(output)));
        if flags & RELEASED != 0 {
            // Generations are kept for the comparison alone.
            let owned =
                scratch.outputs.iter_mut().zip(&self.record_of(position).outputs).filter(|(_, pin)| pin.is_owned);
            owned.for_each(|(value, _)| *value = Value::default());
        }
        let mut call = Call {
            inputs,
            available,
            outputs: &mut scratch.outputs,
            failure: &mut scratch.failure,
            held: Held::default(),
        };
        let is_timed = hot.is_timed() || (flags & PLAIN == 0 && self.memo.is_some());
        let watch = is_timed.then(Stopwatch::begin);
        let verdict = function.evaluate(&mut call);
        let held = call.held;
        let is_run = !matches!(verdict, Verdict::Need(_));
        let nanoseconds = watch.filter(|_| is_run).map(|watch| self.learn(position, watch.passed()));
        match verdict {
            Verdict::Done => {}
            verdict => return self.end_without_values(run, verdict, &mut scratch.failure, on_change),
        }
        hot.count(evaluation);
        let is_first = flags & HAS_VALUE == 0;
        let mut is_shifted = false;
        if flags & PLAIN != 0 {
            for (output, &new) in outputs.zip(&scratch.outputs) {
                if self.values.output(output) != new || is_first {
                    self.store(output, new, evaluation, on_change);
                }
            }
        } else {
            self.replace(run, function, &scratch.outputs, is_first, on_change);
            if let (Some(memo), Some(nanoseconds)) = (&self.memo, nanoseconds) {
                memo.note_run(position, held, nanoseconds as f32, evaluation, is_restore);
            }
        }
        if flags & BROKEN != 0 {
            is_shifted = self.pass_on_recovery(position, run.outputs.clone(), evaluation, on_change);
            self.set_sound(position);
        }
        let is_restored = if is_restore { RESTORED } else { 0 };
        let shifted = if is_shifted { SHIFTED } else { 0 };
        let ended = STALE | BROKEN | RELEASED | RESTORED | SHIFTED;
        let flags = (flags | HAS_VALUE) & !ended | is_restored | shifted;
        hot.flags.store(flags, Relaxed);
        Ended::Done
    }

    /// Ends a run whose verdict is not that the outputs are written.
    #[cold]
    pub fn end_without_values(
        &self,
        run: &Run<'_>,
        verdict: Verdict,
        failure: &mut Failure,
        on_change: &mut dyn FnMut(u32),
    ) -> Ended {
        let mut failure = std::mem::take(failure);
        if let Verdict::Need(wanted) = verdict {
            let wanted = wanted & run.structure.node(run.position).lazy & !run.available;
            if wanted != 0 && !run.is_restore {
                return Ended::Need(wanted);
            }
            failure = Text::format(match wanted {
                0 => format_args!("it asked for inputs that are not lazy, or that it has"),
                _ => format_args!("it asked for other inputs than before, and no input had changed: is it pure?"),
            });
        }
        self.fail(run.position, run.outputs.clone(), &failure, run.evaluation, on_change);
        Ended::Done
    }

    /// Runs a node with these inputs, and stores nothing. The first output that counts as changed, and its value.
    pub fn differs(
        &self,
        position: u32,
        inputs: &[Value],
        available: u64,
        before: &[Value],
        scratch: &mut Scratch,
    ) -> Option<(usize, Value)> {
        let record = self.record_of(position);
        let function = self.function(position)?;
        scratch.outputs.clear();
        scratch.outputs.extend_from_slice(before);
        let (outputs, failure) = (&mut scratch.outputs, &mut scratch.failure);
        let mut call = Call { inputs, available, outputs, failure, held: Held::default() };
        let verdict = function.evaluate(&mut call);
        scratch.failure = Failure::EMPTY;
        if verdict != Verdict::Done {
            // It asks for other inputs, or fails, with the same inputs.
            return before.first().map(|_| (0, Value::default()));
        }
        let changed = (0..before.len()).find(|&at| {
            let cutoff = record.output(at as u32).cutoff;
            !matches!(cutoff, Cutoff::Never) && !is_equal(cutoff, function, at, before[at], scratch.outputs[at])
        });
        changed.map(|at| (at, scratch.outputs[at]))
    }

    #[inline]
    fn store(&self, output: u32, value: Value, evaluation: u32, on_change: &mut dyn FnMut(u32)) {
        self.values.set_output(output, value);
        self.changed_at[output as usize].store(evaluation, Relaxed);
        on_change(output);
    }

    /// Stores the outputs of a node that are not plain.
    #[cold]
    fn replace(&self, run: &Run<'_>, function: &F, new: &[Value], is_first: bool, on_change: &mut dyn FnMut(u32)) {
        let outputs = run.outputs.clone();
        let record = self.record_of(run.position);
        let is_released = self.flags(run.position) & RELEASED != 0;
        for (at, (cell, (&new, output))) in outputs.zip(new.iter().zip(&record.outputs)).enumerate() {
            let old = self.values.output(cell);
            if is_released && (output.is_owned || run.is_restore) {
                // There is no old handle any more: only a generation can be compared.
                let is_same = !is_first && output.cutoff == Cutoff::Generation && old.0[1] == new.0[1];
                match (run.is_restore, output.is_owned) {
                    (true, false) => {}
                    (true, true) => self.values.set_output(cell, new),
                    _ if is_same => self.values.set_output(cell, new),
                    _ => self.store(cell, new, run.evaluation, on_change),
                }
                continue;
            }
            let is_equal = !is_first && is_equal(output.cutoff, function, at, old, new);
            let is_new_handle = output.is_owned && old != new;
            if !is_equal {
                self.store(cell, new, run.evaluation, on_change);
                if is_new_handle && old != Value::default() {
                    function.release(at, old);
                }
            } else if is_new_handle && new != Value::default() {
                function.release(at, new);
            }
        }
    }

    /// Releases the owned values of a node. [`RELEASED`] says so.
    pub fn release_values(&self, position: u32, node: &Node) {
        let record = self.record_of(position);
        if let Some(function) = self.function(position) {
            record.release_all(function, node, &self.values);
        }
        // A generation can be compared later.
        let kept = |output: &Output| if output.cutoff == Cutoff::Generation { u64::MAX } else { 0 };
        self.clear_owned(position, node.outputs(), kept);
        self.change_flags(position, RELEASED, 0);
    }

    /// Empties the owned outputs of a node. `kept`: the bits of their second words that stay.
    pub(super) fn clear_owned(&self, position: u32, outputs: Range<u32>, kept: impl Fn(&Output) -> u64) {
        for (cell, output) in outputs.zip(&self.record_of(position).outputs).filter(|(_, output)| output.is_owned) {
            let second = self.values.output(cell).0[1];
            self.values.set_output(cell, Value([0, second & kept(output)]));
        }
    }

    /// Counts runs that brought values back.
    pub fn note_restores(&mut self, count: u64) {
        if let Some(memo) = &mut self.memo {
            memo.restores += count;
        }
    }

    /// Bytes held, without what values refer to.
    pub fn memory_used(&self) -> usize {
        let records: usize = self.records.iter().flatten().map(|record| record.memory_used()).sum();
        self.hot.capacity() * size_of::<Hot>()
            + self.functions.capacity() * size_of::<Option<F>>()
            + self.classes.capacity()
            + self.records.capacity() * size_of::<Option<Box<Record>>>()
            + (self.changed_at.capacity() + self.durations_ns.capacity()) * 4
            + self.values.memory_used()
            + self.memo.as_ref().map_or(0, Memo::memory_used)
            + records
    }
}

impl Default for Hot {
    fn default() -> Self {
        Self { flags: AtomicU32::new(0), ran_at: AtomicU32::new(0), runs: AtomicU64::new(TIMED_RUNS - 1) }
    }
}

impl Hot {
    /// Whether the next run is timed.
    #[inline]
    pub fn is_timed(&self) -> bool {
        self.runs.load(Relaxed).is_multiple_of(TIMED_RUNS)
    }

    /// Counts a run.
    #[inline]
    pub fn count(&self, evaluation: u32) {
        self.ran_at.store(evaluation, Relaxed);
        self.runs.store(self.runs.load(Relaxed) + 1, Relaxed);
    }
}

/// Whether an output counts as unchanged.
fn is_equal<F: Function>(cutoff: Cutoff, function: &F, output: usize, old: Value, new: Value) -> bool {
    match cutoff {
        Cutoff::Bytes => old == new,
        Cutoff::Generation => old.0[1] == new.0[1],
        Cutoff::Epsilon(epsilon) => old.0[1] == new.0[1] && is_near(old.as_number(), new.as_number(), epsilon),
        Cutoff::Callback => old == new || function.is_equal(output, old, new),
        Cutoff::Never => false,
    }
}
