//! Edits of a graph. Each takes constant time, apart from the order of nodes, and an edit that fails changes nothing.

use std::fmt::Write as _;

use super::node::{Class, Function, MAX_LAZY_INPUT, MAX_PINS, NodeOptions, Output};
use super::rebuild::Edit;
use super::state::{RELEASED, State};
use super::structure::{FEEDBACK, HOLD, LAZY, NONE};
use super::value::{Cutoff, Value};
use super::{Feedback, Graph, no_pin, nth};
use crate::base::{Error, Id, Result, Text, error};

/// Most nodes of a graph, and most inputs or outputs of all nodes together.
const MAX_PINS_OF_ALL: usize = (1 << 31) - 1;

impl<F: Function> Graph<F> {
    /// Add a node. `function` is `None` for [`Class::Input`] alone.
    pub fn add(&mut self, options: &NodeOptions<'_>, function: Option<F>) -> Result<Id> {
        self.check(options, function.is_some())?;
        // An input's own values are those that the host sets.
        let is_input = options.class == Class::Input;
        let inputs = if is_input { options.outputs.len() } else { options.inputs.len() };
        let pins = (self.pins.0.max(inputs), self.pins.1.max(options.outputs.len()));
        let is_sink = options.is_sink || options.class == Class::Effect;
        self.nodes.reserve_one()?;
        let position = self.nodes.next_position();
        let record = State::<F>::record(options)?;
        self.reserve(position, pins)?;
        let lazy = options.inputs.iter().enumerate().filter(|(_, input)| input.lazy).map(|(at, _)| 1u64 << at).sum();
        self.marks.add(position, lazy)?;
        let (old_outputs, old_inputs) = self.structure.pin_counts();
        self.state.grow(position, old_outputs + options.outputs.len(), old_inputs + inputs)?;
        self.order.add(position)?;
        let kind = |at: usize| {
            let input = options.inputs.get(at).copied().unwrap_or_default();
            (u8::from(input.lazy) * LAZY) | (u8::from(input.hold) * HOLD)
        };
        let node = self.structure.add(position, options.outputs.len(), (0..inputs).map(kind))?;
        // From here on nothing fails.
        self.log(Edit::Add { position: position as u32, outputs: node.output_count, inputs: node.input_count });
        for input in node.inputs().filter(|_| options.inputs.iter().any(|input| input.lazy || input.hold)) {
            self.log(Edit::Kind { input, kind: self.structure.kind(input) });
        }
        self.state.add(position, record, function, &node, options);
        if is_input {
            for (input, output) in node.inputs().zip(options.outputs) {
                self.state.set_input(input, output.initial);
            }
        }
        self.pins = pins;
        if is_sink {
            self.structure.set_sink(position as u32, true);
            self.log(Edit::Sink { node: position as u32, is_sink });
            self.sinks.push(position as u32);
        }
        if options.class == Class::Volatile {
            self.volatile.push(position as u32);
        }
        self.marks.touch(&self.state, position as u32);
        Ok(self.nodes.insert(()))
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

    /// Makes room for one more node, in all lists that no later call may fail to extend.
    fn reserve(&mut self, position: usize, pins: (usize, usize)) -> Result<()> {
        self.sinks.try_reserve(1)?;
        self.volatile.try_reserve(1)?;
        let count = self.structure.positions().max(position + 1);
        self.path.grow(count)?;
        self.scratch.grow(pins.0, pins.1)
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
        let is_volatile = self.state.record_of(position).class == Class::Volatile;
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
        let output = nth(cells.outputs(), output).ok_or_else(|| no_pin("output", output, cells.output_count))?;
        let input = self.input_pin(to, input)?;
        if is_feedback && self.state.owns(&self.structure, output) {
            return Err(error!(Unsupported, "a feedback link cannot carry the handle of an owned output"));
        }
        let is_same =
            self.structure.source(input) == output && (self.structure.kind(input) & FEEDBACK != 0) == is_feedback;
        if is_same {
            return Ok(());
        }
        self.feedback.try_reserve(1)?;
        if !is_feedback {
            // A link that is replaced does not count for the order, and is there again if the new one is refused.
            let old = (self.structure.source(input), self.structure.kind(input));
            self.structure.unlink(input);
            let outcome = self.order.put_before(&self.structure, from, to);
            if old.0 != NONE {
                self.structure.link(old.0, input, old.1 & FEEDBACK != 0);
            }
            outcome.map_err(|()| self.cycle(from))?;
        }
        self.unlink(input);
        self.structure.link(output, input, is_feedback);
        self.log(Edit::Link { output, input, is_feedback });
        if is_feedback {
            self.feedback.push(Feedback { input, default: self.state.values.own(input) });
        }
        if self.state.memo.is_some() {
            self.mark_reader(output, to);
        }
        self.marks.touch(&self.state, to);
        Ok(())
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
        let is_sink = is_sink || self.state.record_of(position).class == Class::Effect;
        if self.structure.node(position).is_sink != is_sink {
            self.sinks.try_reserve(1)?;
            self.structure.set_sink(position, is_sink);
            self.log(Edit::Sink { node: position, is_sink });
            if self.state.flags(position) & RELEASED != 0 {
                self.marks.touch(&self.state, position);
            }
            match is_sink {
                true => self.sinks.push(position),
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
        if self.state.record_of(node).class == Class::Input {
            return Err(error!(InvalidArgument, "a node of class input has no inputs: set it with set_input"));
        }
        self.input_pin_of_any(node, input)
    }

    fn input_pin_of_any(&self, node: u32, input: usize) -> Result<u32> {
        let cells = self.structure.node(node);
        nth(cells.inputs(), input).ok_or_else(|| no_pin("input", input, cells.input_count))
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
