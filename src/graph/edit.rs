//! Edits of a graph. Each takes constant time, apart from the order of nodes, and an edit that fails changes nothing.

use std::fmt::Write as _;

use super::node::{Class, Function, Input, MAX_LAZY_INPUT, MAX_PINS, NodeOptions, Output};
use super::rebuild::Edit;
use super::state::RELEASED;
use super::structure::{FEEDBACK, HOLD, LAZY, NONE, Node};
use super::value::{Cutoff, Value};
use super::{Feedback, Graph, Room, no_pin, nth};
use crate::base::{Error, Id, Result, Text, error};

/// The lazy inputs among these (bit i: input i).
fn lazy_mask(inputs: &[Input]) -> u64 {
    inputs.iter().take(MAX_LAZY_INPUT).enumerate().map(|(at, input)| u64::from(input.lazy) << at).sum()
}

/// The first room for nodes, and for their pins. Room is doubled, and a graph often has a power of two of nodes and a few
/// inputs: so it is no power of two.
const LEAST_ROOM: usize = 24;
/// Most nodes of a graph, and most inputs or outputs of all nodes together.
const MAX_PINS_OF_ALL: usize = (1 << 31) - 1;

impl<F: Function> Graph<F> {
    /// Add a node. `function` is `None` for [`Class::Input`] alone.
    pub fn add(&mut self, options: &NodeOptions<'_>, function: Option<F>) -> Result<Id> {
        self.check(options, function.is_some())?;
        // Input i of a node of class input is its output i.
        let outputs = options.outputs.len();
        let inputs = if options.class == Class::Input { outputs } else { options.inputs.len() };
        let is_sink = options.is_sink || options.class == Class::Effect;
        self.nodes.reserve_one()?;
        self.order.reserve_label()?;
        let position = self.nodes.next_position();
        self.reserve(position, outputs, inputs)?;
        let record = self.state.record(position, options)?;
        let has_kinds = options.inputs.iter().any(|pin| pin.lazy || pin.hold);
        let lazy = if has_kinds { lazy_mask(options.inputs) } else { 0 };
        self.marks.add(position, lazy)?;
        if is_sink {
            self.sinks.try_reserve(1)?;
        }
        if options.class == Class::Volatile {
            self.volatile.try_reserve(1)?;
        }
        // From here on nothing fails.
        self.order.add(position);
        let mut node = self.structure.add(position, outputs, inputs);
        self.log(Edit::Add { position: position as u32, outputs: node.output_count(), inputs: node.input_count() });
        if has_kinds {
            self.set_kinds(&node, options.inputs);
            node.lazy = lazy;
        }
        let has_epsilon = |output: &Output| matches!(output.cutoff, Cutoff::Epsilon(_));
        self.has_floats |= record.as_ref().is_some_and(|record| record.outputs.iter().any(has_epsilon));
        self.state.add(position, record, function, &node, options);
        if is_sink {
            self.structure.set_sink(position as u32, true);
            self.log(Edit::Sink { node: position as u32, is_sink });
            self.sinks.push(position as u32);
        }
        if options.class == Class::Volatile {
            self.volatile.push(position as u32);
        }
        self.marks.list_new(position as u32);
        Ok(self.nodes.insert(()))
    }

    #[inline(never)]
    fn set_kinds(&mut self, node: &Node, inputs: &[Input]) {
        for (input, pin) in node.inputs().zip(inputs).filter(|(_, pin)| pin.lazy || pin.hold) {
            let kind = (u8::from(pin.lazy) * LAZY) | (u8::from(pin.hold) * HOLD);
            self.structure.set_kind(input, kind);
            self.log(Edit::Kind { input, kind });
        }
    }

    fn check(&self, options: &NodeOptions<'_>, has_function: bool) -> Result<()> {
        let (inputs, outputs) = (options.inputs.len(), options.outputs.len());
        if (options.class == Class::Input) == has_function {
            return Err(error!(InvalidArgument, "a node has a function, unless its class is input"));
        }
        let is_owned_or_compared = |output: &Output| output.is_owned || output.cutoff == Cutoff::Callback;
        if options.class == Class::Input && options.outputs.iter().any(is_owned_or_compared) {
            return Err(error!(
                InvalidArgument,
                "outputs of a node of class input are neither owned nor compared by a callback"
            ));
        }
        if options.class == Class::Input && inputs > 0 {
            return Err(error!(InvalidArgument, "a node of class input has outputs only: set them with set_input"));
        }
        if inputs + outputs > MAX_PINS {
            return Err(error!(LimitExceeded, "{inputs} inputs and {outputs} outputs: at most {MAX_PINS} pins"));
        }
        if let Some(at) = options.inputs.iter().skip(MAX_LAZY_INPUT).position(|input| input.lazy) {
            let at = at + MAX_LAZY_INPUT;
            return Err(error!(InvalidArgument, "input {at} is lazy: lazy inputs must be among the first 64"));
        }
        let (old_outputs, old_inputs) = self.structure.pin_counts();
        let most = (old_outputs + outputs).max(old_inputs + inputs.max(outputs));
        if most > MAX_PINS_OF_ALL || self.structure.positions() >= MAX_PINS_OF_ALL {
            return Err(error!(LimitExceeded, "the graph has 2,147,483,647 nodes or pins"));
        }
        Ok(())
    }

    /// Makes room for a node at a position.
    #[inline]
    fn reserve(&mut self, position: usize, outputs: usize, inputs: usize) -> Result<()> {
        let (old_outputs, old_inputs) = self.structure.pin_counts();
        let (outputs_after, inputs_after) = (old_outputs + outputs, old_inputs + inputs);
        let Room { nodes, outputs: all_outputs, inputs: all_inputs } = self.room;
        let has_room = position < nodes && outputs_after <= all_outputs && inputs_after <= all_inputs;
        if !has_room || outputs > self.pins.1 || inputs > self.pins.0 {
            self.grow(position + 1, outputs_after, inputs_after)?;
            let pins = (self.pins.0.max(inputs), self.pins.1.max(outputs));
            self.scratch.grow(pins.0, pins.1)?;
            self.structure.reserve_free(pins.1, pins.0)?;
            self.pins = pins;
        }
        Ok(())
    }

    /// Makes room for so many nodes and pins in all lists, so that adding a node need not look at each of them.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, nodes: usize, outputs: usize, inputs: usize) -> Result<()> {
        let more = |room: usize, wanted: usize| if wanted > room { wanted.max(2 * room).max(LEAST_ROOM) } else { room };
        let (nodes, outputs, inputs) =
            (more(self.room.nodes, nodes), more(self.room.outputs, outputs), more(self.room.inputs, inputs));
        self.structure.reserve(nodes, outputs, inputs)?;
        self.state.reserve(nodes, outputs, inputs)?;
        self.order.reserve(nodes)?;
        self.marks.reserve(nodes)?;
        self.path.grow(nodes)?;
        self.room = Room { nodes, outputs, inputs };
        Ok(())
    }

    /// Remove a node and its links. Inputs that read it have their default values again.
    pub fn remove(&mut self, node: Id) -> Result<()> {
        let position = self.position(node)?;
        let cells = *self.structure.node(position);
        for input in cells.inputs() {
            self.unlink(input);
        }
        for output in cells.outputs() {
            loop {
                let Some(input) = self.structure.dependants(output).next() else { break };
                self.unlink(input);
            }
        }
        self.marks.remove(&self.state, position);
        let is_volatile = self.state.class(position) == Class::Volatile;
        self.state.remove(position as usize, &cells);
        self.structure.remove(position);
        self.log(Edit::Remove { node: position });
        if let Some(audit) = &mut self.audit {
            audit.forget(node);
        }
        for (list, _) in
            [(&mut self.sinks, cells.is_sink), (&mut self.volatile, is_volatile)].into_iter().filter(|(_, has)| *has)
        {
            list.retain(|&other| other != position);
        }
        self.nodes.remove(node);
        Ok(())
    }

    /// Link an output to an input; a link that the input has is replaced. A link that would close a cycle is refused.
    pub fn connect(&mut self, source: Id, output: usize, target: Id, input: usize) -> Result<()> {
        self.link(source, output, target, input, false)
    }

    /// Link an output to an input that is to have its value of the frame before. The source is demanded always.
    pub fn connect_feedback(&mut self, source: Id, output: usize, target: Id, input: usize) -> Result<()> {
        self.link(source, output, target, input, true)
    }

    fn link(&mut self, source: Id, output: usize, target: Id, input: usize, is_feedback: bool) -> Result<()> {
        let (from, to) = (self.position(source)?, self.position(target)?);
        let cells = self.structure.node(from);
        let output = nth(cells.outputs(), output).ok_or_else(|| no_pin("output", output, cells.output_count()))?;
        let input = self.input_pin(to, input)?;
        if is_feedback && self.state.owns(&self.structure, output) {
            return Err(error!(Unsupported, "a feedback link cannot carry the handle of an owned output"));
        }
        let old = self.structure.source(input);
        if old == output && (self.structure.kind(input) & FEEDBACK != 0) == is_feedback {
            return Ok(());
        }
        if is_feedback {
            self.feedback.try_reserve(1)?;
        } else {
            self.put_before(from, to, input)?;
        }
        if old != NONE {
            self.unlink(input);
        }
        self.structure.link(output, input, is_feedback);
        self.log(Edit::Link { output, input, is_feedback });
        if is_feedback {
            self.feedback.push(Feedback { input, default: self.state.values.own(input) });
            self.state.set_input(input, self.state.values.output(output));
        }
        if self.state.memo.is_some() {
            self.mark_reader(output, to);
        }
        self.marks.touch(&self.state, to);
        Ok(())
    }

    /// Orders the nodes of a link that an input is to have.
    #[inline]
    fn put_before(&mut self, from: u32, to: u32, input: u32) -> Result<()> {
        if self.order.is_before(from, to) {
            return Ok(());
        }
        // A link that is replaced does not count for the order, and is there again if the new one is refused.
        let old = (self.structure.source(input), self.structure.kind(input));
        self.structure.unlink(input);
        let outcome = self.order.put_before(&self.structure, from, to);
        if old.0 != NONE {
            self.structure.link(old.0, input, old.1 & FEEDBACK != 0);
        }
        if outcome? { Ok(()) } else { Err(self.cycle(from)) }
    }

    /// Remove the link of an input. It has its default value again.
    pub fn disconnect(&mut self, target: Id, input: usize) -> Result<()> {
        let position = self.position(target)?;
        let cell = self.input_pin(position, input)?;
        if self.structure.source(cell) == NONE {
            return Err(error!(NotFound, "input {input} of {} has no link", self.name(position)));
        }
        self.unlink(cell);
        Ok(())
    }

    /// Set whether a node is demanded in each frame.
    pub fn set_sink(&mut self, node: Id, is_sink: bool) -> Result<()> {
        let position = self.position(node)?;
        let is_sink = is_sink || self.state.class(position) == Class::Effect;
        if self.structure.node(position).is_sink != is_sink {
            self.sinks.try_reserve(1)?;
            self.structure.set_sink(position, is_sink);
            self.log(Edit::Sink { node: position, is_sink });
            if self.state.flags(position) & RELEASED != 0 {
                self.marks.touch(&self.state, position);
            }
            match is_sink {
                true => {
                    self.sinks.push(position);
                    // It may be stale since long ago.
                    self.marks.reach_sink(position);
                }
                false => self.sinks.retain(|&other| other != position),
            }
        }
        Ok(())
    }

    /// Set the value of an input without a link: its default from now on. For a node of class input: of its output.
    pub fn set_input(&mut self, node: Id, input: usize, value: Value) -> Result<()> {
        let position = self.position(node)?;
        let cell = self.input_pin_of_any(position, input)?;
        if self.structure.source(cell) != NONE {
            let name = self.name(position);
            return Err(error!(
                InvalidArgument,
                "input {input} of {name} has a link: disconnect it, or set its source"
            ));
        }
        if self.state.set_input(cell, value) {
            self.marks.touch(&self.state, position);
        }
        Ok(())
    }

    /// Make a node run again when it is demanded.
    pub fn invalidate(&mut self, node: Id) -> Result<()> {
        let position = self.position(node)?;
        if let Some(audit) = &mut self.audit {
            audit.forget_samples(position);
        }
        self.marks.touch(&self.state, position);
        Ok(())
    }

    /// The value of an input with a feedback link when it will have none.
    pub(super) fn feedback_default(&self, input: u32) -> Value {
        let link = self.feedback.iter().find(|link| link.input == input);
        link.map_or(self.state.values.own(input), |link| link.default)
    }

    /// Sets the value of the frame before, for an input with a feedback link.
    pub(super) fn set_feedback(&mut self, node: Id, input: usize, value: Value) {
        let Ok(cell) = self.position(node).and_then(|position| self.input_pin_of_any(position, input)) else { return };
        self.state.set_input(cell, value);
    }

    fn unlink(&mut self, input: u32) {
        if self.structure.source(input) != NONE {
            if self.structure.kind(input) & FEEDBACK != 0
                && let Some(at) = self.feedback.iter().position(|link| link.input == input)
            {
                self.state.set_input(input, self.feedback.swap_remove(at).default);
            }
            self.structure.unlink(input);
            self.log(Edit::Unlink { input });
            self.marks.touch(&self.state, self.structure.reader(input));
        }
    }

    fn input_pin(&self, node: u32, input: usize) -> Result<u32> {
        if self.state.class(node) == Class::Input {
            return Err(error!(InvalidArgument, "a node of class input has no inputs: set it with set_input"));
        }
        self.input_pin_of_any(node, input)
    }

    fn input_pin_of_any(&self, node: u32, input: usize) -> Result<u32> {
        let cells = self.structure.node(node);
        nth(cells.inputs(), input).ok_or_else(|| no_pin("input", input, cells.input_count()))
    }

    /// The plan is stale after an edit.
    fn log(&mut self, edit: Edit) {
        self.rebuild.log(edit, &self.structure);
        (self.has_plan, self.is_settled, self.quiet_frames) = (false, false, 0);
    }

    fn cycle(&self, source: u32) -> Error {
        let mut path: Text<160> = Text::EMPTY;
        // From the source back to the target: the order of reading is against the links.
        let mut nodes = [NONE; 16];
        let mut count = 0;
        for node in self.order.cycle(source) {
            nodes[count % nodes.len()] = node;
            count += 1;
        }
        let shown = count.min(nodes.len());
        for at in (count - shown..count).rev() {
            let _ = write!(path, "{} -> ", self.name(nodes[at % nodes.len()]));
        }
        let more = if count > shown { "... -> " } else { "" };
        let first = self.name(nodes[(count - 1) % nodes.len()]);
        error!(InvalidArgument, "the link would close a cycle: {}{more}{first}; use a feedback link", path.as_str())
    }
}
