//! Marks of stale nodes, between and during evaluations.
//!
//! A node that must run is dirty. Its dependants are at least "maybe" stale, through all links that are read. Those are the
//! links of inputs that are not lazy, and of lazy inputs in the last run's requests. So a node that is not stale is up to
//! date, its sources are, too, and no evaluator visits it.
//!
//! While a plan evaluates, this holds for the nodes outside its strict part only. Those inside have their bit in
//! [`Pending`] instead, or in frames of most nodes read an output that has changed.

use super::plan::{BY_INPUT, Plan};
use super::state::{DIRTY, LISTED, MAYBE, STALE, State};
use super::structure::{FEEDBACK, LAZY, Node, Structure, try_reserve_to};
use super::{Function, structure::NONE};
use crate::base::{Result, sort_numbers, try_box_with, try_push};

/// To sort a sink into a list takes longer than to look at so many.
const SINKS_PER_REACHED: usize = if cfg!(test) { 1 } else { 8 };

/// The lazy inputs of one node.
pub struct Uses {
    /// Those that the last run has asked for.
    pub in_use: u64,
    /// In the order in which it asked.
    batches: Vec<u64>,
    /// Those that it has asked for, and that are not up to date yet.
    wanted: u64,
    /// The evaluation that runs it, or 0.
    running: u32,
    /// Batches that are up to date, in the evaluation that verifies it.
    verified: usize,
    verifying: u32,
}

/// See above.
#[derive(Default)]
pub struct Marks {
    /// By node, up to the last one with lazy inputs.
    uses: Vec<Option<Box<Uses>>>,
    /// Nodes whose dependants are to be marked.
    spread: Vec<u32>,
    /// Nodes that were made dirty since the last evaluation.
    listed: Vec<u32>,
    /// Sinks that have become stale since the last complete evaluation. They may be there twice, or be no sinks any more.
    reached: Vec<u32>,
    /// Other sinks may be stale, too.
    is_reach_unknown: bool,
}

/// The next step of a lazy node.
pub enum Next {
    /// It is up to date.
    Nothing,
    /// It runs, with these lazy inputs.
    Run(u64),
    /// These lazy inputs must be up to date first.
    Wait(u64),
}

/// The nodes of a plan that wait for their turn.
pub struct Pending<'a> {
    pub plan: &'a Plan,
    pub bits: &'a mut Bits,
}

/// A set of positions, whose lowest is found in constant time for any usual size. A set of a single word has no summary.
#[derive(Default)]
pub struct Bits {
    pub(super) words: Vec<u64>,
    pub(super) summary: Vec<u64>,
}

impl Bits {
    /// An empty set for positions below `count`.
    pub fn new(count: usize) -> Result<Self> {
        let words = count.div_ceil(64);
        let groups = if words > 1 { words.div_ceil(64) } else { 0 };
        Ok(Self { words: crate::base::try_filled(0, words)?, summary: crate::base::try_filled(0, groups)? })
    }

    #[inline]
    pub fn set(&mut self, position: u32) {
        let word = (position / 64) as usize;
        let (old, bit) = (self.words[word], 1 << (position % 64));
        // Several writers of one reader follow each other: all but the first write nothing.
        if old & bit == 0 {
            self.words[word] = old | bit;
            if old == 0 {
                self.note_word(word);
            }
        }
    }

    /// Notes that a word is not 0 any more.
    #[inline]
    pub fn note_word(&mut self, word: usize) {
        if !self.summary.is_empty() {
            self.summarize(word);
        }
    }

    #[inline(never)]
    fn summarize(&mut self, word: usize) {
        self.summary[word / 64] |= 1 << (word % 64);
    }

    /// Notes that a word is 0.
    #[inline(never)]
    pub fn forget_word(&mut self, word: usize) {
        if let Some(group) = self.summary.get_mut(word / 64) {
            *group &= !(1 << (word % 64));
        }
    }

    #[inline]
    pub fn clear(&mut self, position: u32) {
        let word = (position / 64) as usize;
        self.words[word] &= !(1 << (position % 64));
        if self.words[word] == 0 {
            self.forget_word(word);
        }
    }

    #[inline]
    pub fn has(&self, position: u32) -> bool {
        self.words[(position / 64) as usize] & (1 << (position % 64)) != 0
    }

    /// Removes all positions.
    pub fn clear_all(&mut self) {
        self.words.fill(0);
        self.summary.fill(0);
    }

    /// The lowest position that is at least `from`.
    #[inline]
    pub fn next(&self, from: u32) -> Option<u32> {
        let mut word = (from / 64) as usize;
        let rest = self.words.get(word)? & (u64::MAX << (from % 64));
        if rest != 0 {
            return Some(word as u32 * 64 + rest.trailing_zeros());
        }
        word += 1;
        let mut group = word / 64;
        let mut rest = self.summary.get(group)? & (u64::MAX << (word % 64));
        while rest == 0 {
            group += 1;
            rest = *self.summary.get(group)?;
        }
        let word = group * 64 + rest.trailing_zeros() as usize;
        Some(word as u32 * 64 + self.words[word].trailing_zeros())
    }

    pub fn memory_used(&self) -> usize {
        (self.words.capacity() + self.summary.capacity()) * 8
    }
}

impl Pending<'_> {
    /// Gives a node its turn, if the plan gives it one.
    pub fn add(&mut self, node: u32) -> bool {
        let position = self.plan.strict_position(node);
        if position != NONE {
            self.bits.set(position);
        }
        position != NONE
    }
}

impl Marks {
    /// Makes room for nodes below this number.
    pub fn reserve(&mut self, nodes: usize) -> Result<()> {
        self.spread.clear();
        try_reserve_to(&mut self.spread, nodes)?;
        try_reserve_to(&mut self.reached, nodes)?;
        try_reserve_to(&mut self.listed, nodes)
    }

    /// Prepares for a node at a position, and forgets the node before it.
    pub fn add(&mut self, position: usize, lazy: u64) -> Result<()> {
        if let Some(uses) = self.uses.get_mut(position) {
            *uses = None;
        }
        if lazy != 0 {
            let mut batches = Vec::new();
            batches.try_reserve_exact(lazy.count_ones() as usize)?;
            let uses = || Uses { in_use: 0, batches, wanted: 0, running: 0, verified: 0, verifying: 0 };
            let uses = try_box_with(uses)?;
            while self.uses.len() <= position {
                try_push(&mut self.uses, None)?;
            }
            self.uses[position] = Some(uses);
        }
        Ok(())
    }

    fn uses_of(&self, node: u32) -> Option<&Uses> {
        self.uses.get(node as usize)?.as_deref()
    }

    fn uses_mut(&mut self, node: u32) -> Option<&mut Uses> {
        self.uses.get_mut(node as usize)?.as_deref_mut()
    }

    /// Whether the last run of the owner of an input has read its link.
    pub fn is_read(&self, structure: &Structure, input: u32) -> bool {
        let kind = structure.kind(input);
        if kind & (FEEDBACK | LAZY) == 0 {
            return true;
        }
        if kind & FEEDBACK != 0 {
            return false;
        }
        let reader = structure.reader(input);
        let at = input - structure.node(reader).first_input;
        self.uses_of(reader).is_some_and(|uses| uses.in_use & (1 << at) != 0)
    }

    /// Makes a node dirty, outside an evaluation.
    pub fn touch<F: Function>(&mut self, state: &State<F>, node: u32) {
        let flags = state.flags(node);
        state.set_flags(node, flags | DIRTY | LISTED);
        if flags & LISTED == 0 {
            self.listed.push(node);
        }
    }

    /// A node was added, for which there is room. Its flags say that it is listed.
    pub fn list_new(&mut self, node: u32) {
        self.listed.push(node);
    }

    /// Gives a stale node a turn in the next evaluation.
    pub fn list<F: Function>(&mut self, state: &State<F>, node: u32) {
        if state.flags(node) & LISTED == 0 {
            state.change_flags(node, LISTED, 0);
            self.listed.push(node);
        }
    }

    /// Whether a node was touched since the last evaluation.
    pub fn has_touched(&self) -> bool {
        !self.listed.is_empty()
    }

    /// Forgets that a node was touched.
    pub fn remove<F: Function>(&mut self, state: &State<F>, node: u32) {
        if state.flags(node) & LISTED != 0 {
            self.listed.retain(|&other| other != node);
        }
    }

    /// Starts an evaluation by a plan: touched nodes get their turn, or make their dependants stale. Returns their number and
    /// the sum of their positions: another evaluation with the same ones probably starts with the same nodes.
    #[inline(always)]
    pub fn start_by_plan<F: Function>(&mut self, structure: &Structure, state: &State<F>, pending: Pending<'_>) -> u64 {
        let Pending { plan, bits } = pending;
        let mut touched = 0u64;
        while let Some(node) = self.listed.pop() {
            touched = touched.wrapping_add(1 << 32 | u64::from(node));
            state.change_flags(node, 0, LISTED);
            let position = plan.strict_position(node);
            if position != NONE {
                bits.set(position);
            } else {
                self.spread_from(structure, state, &mut Some(Pending { plan, bits }), node);
            }
        }
        touched
    }

    /// Sinks that may be stale, in the order of their positions. `None`: all may be, or so many of
    /// `count` sinks that it is faster to look at all. The evaluation gives the list back by [`Self::keep_reached`].
    pub fn take_reached(&mut self, count: usize) -> Option<Vec<u32>> {
        if self.is_reach_unknown || self.reached.len() > count / SINKS_PER_REACHED {
            return None;
        }
        let mut reached = std::mem::take(&mut self.reached);
        sort_numbers(&mut reached, &mut |one, other| one.cmp(&other));
        Some(reached)
    }

    /// See [`Self::take_reached`].
    pub fn keep_reached(&mut self, reached: Vec<u32>) {
        self.reached = reached;
    }

    /// All sinks are up to date, or else any of them may be stale.
    pub fn end_reach(&mut self, is_complete: bool) {
        self.is_reach_unknown = !is_complete;
        self.reached.clear();
    }

    /// Starts a lazy evaluation: touched nodes make their dependants stale.
    pub fn start<F: Function>(&mut self, structure: &Structure, state: &State<F>) {
        while let Some(node) = self.listed.pop() {
            state.change_flags(node, 0, LISTED);
            self.spread_from(structure, state, &mut None, node);
        }
    }

    #[inline(never)]
    fn spread_from<F: Function>(
        &mut self,
        structure: &Structure,
        state: &State<F>,
        pending: &mut Option<Pending<'_>>,
        node: u32,
    ) {
        self.spread.push(node);
        self.spread_on(structure, state, pending);
    }

    /// Makes dirty what reads an output that has changed.
    pub fn change<F: Function>(
        &mut self,
        structure: &Structure,
        state: &State<F>,
        output: u32,
        pending: &mut Option<Pending<'_>>,
    ) {
        for input in structure.dependants(output) {
            self.change_input(structure, state, input, pending);
        }
    }

    /// Gives what reads an output that has changed its turn. `readers` are those of [`Plan::readers`].
    #[inline(never)]
    pub fn change_readers<F: Function>(
        &mut self,
        structure: &Structure,
        state: &State<F>,
        readers: &[u32],
        pending: Pending<'_>,
    ) {
        let Pending { plan, bits } = pending;
        for &reader in readers {
            match reader & BY_INPUT {
                0 => bits.set(reader),
                _ => self.change_input(structure, state, reader & !BY_INPUT, &mut Some(Pending { plan, bits })),
            }
        }
    }

    /// Makes the owner of an input dirty, if it reads the input.
    pub fn change_input<F: Function>(
        &mut self,
        structure: &Structure,
        state: &State<F>,
        input: u32,
        pending: &mut Option<Pending<'_>>,
    ) {
        if self.is_read(structure, input) && !state.holds(structure, input) {
            self.reach(state, structure.reader(input), DIRTY, pending);
            self.spread_on(structure, state, pending);
        }
    }

    fn reach<F: Function>(&mut self, state: &State<F>, node: u32, flag: u32, pending: &mut Option<Pending<'_>>) {
        let was_stale = state.is_stale(node);
        state.change_flags(node, flag, 0);
        let is_strict = pending.as_mut().is_some_and(|pending| pending.add(node));
        if !is_strict && !was_stale {
            self.spread.push(node);
        }
    }

    fn spread_on<F: Function>(&mut self, structure: &Structure, state: &State<F>, pending: &mut Option<Pending<'_>>) {
        while let Some(node) = self.spread.pop() {
            let cells = structure.node(node);
            if cells.is_sink && pending.is_none() {
                self.reach_sink(node);
            }
            for output in cells.outputs() {
                for input in structure.dependants(output) {
                    let reader = structure.reader(input);
                    // A strict node may be stale already, and yet have no turn.
                    let is_new = !state.is_stale(reader) || pending.is_some();
                    if is_new && self.is_read(structure, input) {
                        self.reach(state, reader, MAYBE, pending);
                    }
                }
            }
        }
    }

    /// Notes that a sink may be stale.
    pub fn reach_sink(&mut self, node: u32) {
        if self.reached.len() < self.reached.capacity() {
            self.reached.push(node);
        } else {
            self.is_reach_unknown = true;
        }
    }

    /// The next step of a node with lazy inputs, after its other inputs are up to date.
    pub fn next<F: Function>(
        &mut self,
        structure: &Structure,
        state: &State<F>,
        position: u32,
        node: &Node,
        evaluation: u32,
    ) -> Next {
        let Some(uses) = self.uses_mut(position) else { return Next::Run(0) };
        let is_stale = |mask: u64| lazy_sources(structure, node, mask).any(|source| state.is_stale(source));
        if state.flags(position) & DIRTY == 0 {
            if uses.verifying != evaluation {
                (uses.verifying, uses.verified) = (evaluation, 0);
            }
            while let Some(&batch) = uses.batches.get(uses.verified) {
                if is_stale(batch) {
                    return Next::Wait(batch);
                }
                uses.verified += 1;
            }
            uses.verifying = 0;
            state.change_flags(position, 0, STALE);
            return Next::Nothing;
        }
        if uses.running != evaluation {
            (uses.running, uses.in_use, uses.wanted) = (evaluation, 0, 0);
            uses.batches.clear();
        }
        if uses.wanted != 0 {
            if is_stale(uses.wanted) {
                return Next::Wait(uses.wanted);
            }
            uses.in_use |= uses.wanted;
            uses.batches.push(uses.wanted);
            uses.wanted = 0;
        }
        Next::Run(uses.in_use)
    }

    /// A node has asked for lazy inputs that are not available.
    pub fn want(&mut self, position: u32, wanted: u64) {
        if let Some(uses) = self.uses_mut(position) {
            uses.wanted = wanted;
        }
    }

    /// A node with lazy inputs has run.
    pub fn finish(&mut self, position: u32) {
        if let Some(uses) = self.uses_mut(position) {
            uses.running = 0;
        }
    }

    /// The lazy inputs that the last run of a node has asked for.
    pub fn in_use(&self, position: u32) -> u64 {
        self.uses_of(position).map_or(0, |uses| uses.in_use)
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        self.uses.capacity() * size_of::<Option<Box<Uses>>>()
            + (self.spread.capacity() + self.listed.capacity() + self.reached.capacity()) * 4
            + self.uses.iter().flatten().map(|uses| size_of::<Uses>() + uses.batches.capacity() * 8).sum::<usize>()
    }
}

/// The nodes that lazy inputs read.
pub fn lazy_sources<'a>(structure: &'a Structure, node: &'a Node, mask: u64) -> impl Iterator<Item = u32> + 'a {
    let inputs = (0..64u32).filter(move |&at| mask & (1 << at) != 0);
    inputs.map(|at| structure.source_node(node.first_input + at)).filter(|&source| source != NONE)
}
