//! Baking: a graph in which everything that cannot change is stored.

use super::node::{Class, Function, Input, NodeOptions, Output};
use super::rebuild::Made;
use super::state::{BROKEN, HAS_VALUE, STALE};
use super::structure::{FEEDBACK, HOLD, LAZY, NONE};
use super::{Graph, Value, plan::Plan};
use crate::base::{Id, Result, error, sort_numbers, try_collect, try_filled, try_push};

/// Pairs of an id elsewhere and an id here, in order of the first one.
pub fn sorted_by_origin(nodes: &[(Id, Id)]) -> Result<Vec<(Id, Id)>> {
    let mut order = try_collect(0..nodes.len() as u32)?;
    let place = |at: u32| (nodes[at as usize].0.index1, at);
    sort_numbers(&mut order, &mut |one, other| place(one).cmp(&place(other)));
    try_collect(order.iter().map(|&at| nodes[at as usize]))
}

/// A baked graph.
pub struct Baked<F: Function> {
    /// The graph.
    pub graph: Graph<F>,
    /// The nodes that it has, by their ids before and in it.
    pub kept: Vec<(Id, Id)>,
    /// The nodes that were removed because their values are stored, or no sink depends on them.
    pub removed: Vec<Id>,
}

impl<F: Function> Graph<F> {
    /// A graph with the same values at its sinks, in which user inputs are constants.
    ///
    /// A node whose inputs cannot change is removed, and its value is stored where it was read. Sinks, volatile nodes,
    /// effects and sources of feedback links are kept. A source becomes a sink if no sink depends on its readers. Kept are
    /// also nodes that failed or have not run yet, nodes with owned outputs, and nodes that pass such a handle on. Nodes for
    /// which `keep` is true are kept with all that they depend on. A pure node that is kept runs once. This graph must be up
    /// to date. `copy` makes the functions of nodes that are kept.
    pub fn bake(&self, keep: impl Fn(Id) -> bool, mut copy: impl FnMut(&F) -> Result<F>) -> Result<Baked<F>> {
        if self.is_within_frame || !self.is_settled || self.marks.has_touched() {
            return Err(error!(InvalidArgument, "the graph is not up to date: evaluate it before it is baked"));
        }
        // Nodes to keep are wanted like sinks.
        let mut wanted = self.structure.try_clone()?;
        for (position, ()) in self.nodes.iter() {
            if keep(self.nodes.id_at(position)) {
                wanted.set_sink(position as u32, true);
            }
        }
        let made = Made::new(&wanted, &|| false)?;
        let plan = &made.plan;
        let (is_fixed, has_handle) = (self.fixed_nodes(plan)?, self.outputs_with_handles(plan)?);
        let is_stored = |node: u32| {
            let mut outputs = self.structure.node(node).outputs();
            let is_kept = outputs.any(|output| has_handle[output as usize]) || keep(self.nodes.id_at(node as usize));
            is_fixed[node as usize] && self.is_storable(node) && !is_kept
        };
        let mut baked = Baked { graph: Self::new()?, kept: Vec::new(), removed: Vec::new() };
        let mut new_ids = try_filled(Id::default(), self.structure.positions())?;
        for position in 0..plan.len() as u32 {
            let node = plan.step(position).node;
            if !is_stored(node) {
                let id = self.copy_node(&mut baked.graph, node, &has_handle, &mut copy)?;
                new_ids[node as usize] = id;
                try_push(&mut baked.kept, (self.nodes.id_at(node as usize), id))?;
            }
        }
        for position in 0..plan.len() as u32 {
            let node = plan.step(position).node;
            if new_ids[node as usize] != Id::default() {
                self.copy_links(&mut baked.graph, node, &new_ids)?;
            }
        }
        for (position, ()) in self.nodes.iter() {
            let copy = new_ids[position];
            if copy == Id::default() {
                try_push(&mut baked.removed, self.nodes.id_at(position))?;
            } else if self.has_lost_feedback(position as u32, &new_ids) {
                baked.graph.set_sink(copy, true)?;
            }
        }
        Ok(baked)
    }

    /// By node: whether it and all that it depends on cannot change, once user inputs are constants.
    fn fixed_nodes(&self, plan: &Plan) -> Result<Vec<bool>> {
        let mut is_fixed = try_filled(false, self.structure.positions())?;
        for position in 0..plan.len() as u32 {
            let node = plan.step(position).node;
            let class = self.state.class(node);
            let is_input_fixed = |input: u32| {
                let source = self.structure.source_node(input);
                self.structure.kind(input) & FEEDBACK == 0 && (source == NONE || is_fixed[source as usize])
            };
            is_fixed[node as usize] = matches!(class, Class::Pure | Class::Constant | Class::Input)
                && self.structure.node(node).inputs().all(is_input_fixed);
        }
        Ok(is_fixed)
    }

    /// By output: whether it has a handle, which it owns or which a source owns. Handles belong to this graph.
    fn outputs_with_handles(&self, plan: &Plan) -> Result<Vec<bool>> {
        let mut has_handle = try_filled(false, self.structure.pin_counts().0)?;
        for position in 0..plan.len() as u32 {
            let cells = self.structure.node(plan.step(position).node);
            for output in cells.outputs() {
                let value = self.state.values.output(output);
                let is_read = |input: u32| {
                    let source = self.structure.source(input);
                    source != NONE && has_handle[source as usize] && self.state.values.output(source) == value
                };
                let is_passed_on = value != Value::default() && cells.inputs().any(is_read);
                has_handle[output as usize] = is_passed_on || self.state.owns(&self.structure, output);
            }
        }
        Ok(has_handle)
    }

    /// Whether the value of a node is known and can be stored.
    fn is_storable(&self, node: u32) -> bool {
        let flags = self.state.flags(node);
        let cells = self.structure.node(node);
        let mut readers = cells.outputs().flat_map(|output| self.structure.dependants(output));
        let feeds_back = readers.any(|input| self.structure.kind(input) & FEEDBACK != 0);
        flags & (STALE | BROKEN | HAS_VALUE) == HAS_VALUE && !cells.is_sink && !feeds_back
    }

    /// Whether a node is demanded because of feedback links alone that the baked graph does not have: no sink depends on
    /// their readers.
    fn has_lost_feedback(&self, node: u32, new_ids: &[Id]) -> bool {
        let links = self.structure.node(node).outputs().flat_map(|output| self.structure.dependants(output));
        let mut feedback = links.filter(|&input| self.structure.kind(input) & FEEDBACK != 0).peekable();
        let is_lost = |input| new_ids[self.structure.reader(input) as usize] == Id::default();
        feedback.peek().is_some() && feedback.all(is_lost)
    }

    fn copy_node(
        &self,
        graph: &mut Self,
        node: u32,
        has_handle: &[bool],
        copy: &mut impl FnMut(&F) -> Result<F>,
    ) -> Result<Id> {
        let cells = self.structure.node(node);
        let (record, class) = (self.state.record_of(node), self.state.class(node));
        // The inputs of a user input are its outputs.
        let own_inputs = if class == Class::Input { 0 } else { cells.input_count() };
        let inputs = try_collect(cells.inputs().take(own_inputs as usize).map(|input| {
            let kind = self.structure.kind(input);
            Input { lazy: kind & LAZY != 0, hold: kind & HOLD != 0, default: self.default_of(input) }
        }))?;
        let outputs = try_collect((0..cells.output_count()).map(|output| {
            let of_record = record.output(output);
            let value = match class {
                // It may have been set since it was demanded last.
                Class::Input => self.state.values.own(cells.first_input + output),
                // The first one included.
                _ if of_record.is_owned => Value::default(),
                _ if has_handle[(cells.first_output + output) as usize] => of_record.initial,
                _ => self.state.values.output(cells.first_output + output),
            };
            Output { initial: value, ..of_record }
        }))?;
        let options = NodeOptions {
            name: &record.name,
            kind: &record.kind,
            class,
            is_sink: cells.is_sink,
            inputs: &inputs,
            outputs: &outputs,
        };
        let id = graph.add(&options, self.state.function(node).map(copy).transpose()?)?;
        if !cells.outputs().any(|output| has_handle[output as usize]) {
            // Inputs that hold go on reading the last good value.
            graph.state.change_flags(id.index1 - 1, self.state.flags(node) & HAS_VALUE, 0);
        }
        Ok(id)
    }

    /// The value of an input without a link, also if a stored value takes the place of one.
    fn default_of(&self, input: u32) -> Value {
        let source = self.structure.source(input);
        if source == NONE {
            self.state.values.own(input)
        } else if self.structure.kind(input) & FEEDBACK != 0 {
            self.feedback_default(input)
        } else {
            self.state.values.output(source)
        }
    }

    fn copy_links(&self, graph: &mut Self, node: u32, new_ids: &[Id]) -> Result<()> {
        let cells = *self.structure.node(node);
        for (at, input) in cells.inputs().enumerate() {
            let source = self.structure.source(input);
            if source == NONE {
                continue;
            }
            let writer = self.structure.writer(source);
            let output = (source - self.structure.node(writer).first_output) as usize;
            let (from, to) = (new_ids[writer as usize], new_ids[node as usize]);
            if from == Id::default() {
                continue;
            }
            if self.structure.kind(input) & FEEDBACK != 0 {
                graph.connect_feedback(from, output, to, at)?;
                // The value of the frame before goes on.
                graph.set_feedback(to, at, self.state.values.own(input));
            } else {
                graph.connect(from, output, to, at)?;
            }
        }
        Ok(())
    }
}
