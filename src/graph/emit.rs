//! A graph as C source, which calls the functions of the host.
//!
//! The source has the graph as tables, and one loop that evaluates them: `emit/evaluator.c`. Its rules are those of the
//! list evaluator, so both give the same values and run the same nodes. A node has no marks there: an output has the frame
//! of its last change, and a node that of its last run. The nodes are in the order of the list, each after its sources; lazy
//! inputs are followed by a path in memory, not by recursion.
//!
//! It begins as a baked graph does: with the values of this graph, without failures, and with all nodes to run.

mod names;

use std::fmt::{self, Display, Write};

use super::Graph;
use super::node::{Class, Function};
use super::rebuild::Made;
use super::state::HAS_VALUE;
use super::structure::{FEEDBACK, HOLD, NONE, Node, OWN};
use super::value::{Cutoff, Value};
use crate::base::{Error, Id, Result, error, sort_numbers, try_append, try_collect, try_filled, try_push};

/// The fixed parts of the source. `@` stands for the prefix.
const DECLARATIONS: &str = include_str!("emit/declarations.h");
const EVALUATOR: &str = include_str!("emit/evaluator.c");
/// The place of the tables in `EVALUATOR`.
const TABLES: &str = "@tables@\n";

/// Bits of a row's and of a pin's flags, as in `EVALUATOR`.
const WANTED: u32 = 1;
const VOLATILE: u32 = 2;
const STARTS_WITH_VALUE: u32 = 4;
const PIN_HOLD: u32 = 1;
const PIN_FEEDBACK: u32 = 2;
/// Messages that are kept at a time.
const MESSAGES: usize = 63;

/// A text that grows fallibly.
struct Source(String);

impl Write for Source {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        try_append(&mut self.0, text).map_err(|_| fmt::Error)
    }
}

/// A node of the source.
struct Row {
    node: u32,
    /// Whether it is demanded whenever a sink is.
    is_strict: bool,
}

impl<F: Function> Graph<F> {
    /// Write the graph as C99 source. The type of each node, other than user inputs, is the name of its function; `prefix`
    /// is the start of all other names.
    pub fn emit(&self, prefix: &str) -> Result<String> {
        if let Some(why) = names::fault(prefix) {
            return Err(error!(InvalidArgument, "the prefix is {prefix:?}: {why}"));
        }
        let emitter = Emitter::new(self, prefix)?;
        let mut source = Source(String::new());
        emitter.write(&mut source).map_err(|_| Error::OUT_OF_MEMORY)?;
        Ok(source.0)
    }

    /// The nodes of that source, in the order of their numbers.
    pub fn emitted_nodes(&self) -> Result<Vec<Id>> {
        let mut nodes = Vec::new();
        for row in self.rows()? {
            try_push(&mut nodes, self.nodes.id_at(row.node as usize))?;
        }
        Ok(nodes)
    }

    fn rows(&self) -> Result<Vec<Row>> {
        if self.is_within_frame {
            return Err(error!(InvalidArgument, "the last evaluation was not complete: evaluate again before"));
        }
        let made = Made::new(&self.structure, &|| false)?;
        let mut rows = Vec::new();
        for position in made.plan.list() {
            let step = made.plan.step(position);
            self.check_emit(step.node)?;
            try_push(&mut rows, Row { node: step.node, is_strict: step.is_strict })?;
        }
        Ok(rows)
    }

    fn check_emit(&self, node: u32) -> Result<()> {
        let record = self.state.record_of(node);
        if self.state.class(node) != Class::Input
            && let Some(why) = names::fault(&record.kind)
        {
            let (name, kind) = (self.name(node), &record.kind);
            return Err(error!(
                InvalidArgument,
                "the type of {name} is {kind:?}, and must be the name of a C function: {why}"
            ));
        }
        for output in 0..self.structure.node(node).output_count() {
            let name = self.name(node);
            if record.owns(output) {
                return Err(error!(Unsupported, "output {output} of {name} is owned: C source cannot release it"));
            }
            if record.output(output).cutoff == Cutoff::Callback {
                return Err(error!(
                    Unsupported,
                    "output {output} of {name} has HOB_CUTOFF_CALLBACK: C source cannot call is_equal"
                ));
            }
        }
        Ok(())
    }
}

struct Emitter<'a, F: Function> {
    graph: &'a Graph<F>,
    prefix: &'a str,
    rows: Vec<Row>,
    /// By node: its number in the source.
    numbers: Vec<u32>,
    /// By output: its number in the source.
    outputs: Vec<u32>,
    /// By input: the number of its own value, for those that have one.
    own: Vec<u32>,
    output_count: u32,
    value_count: u32,
    /// The functions of the host.
    kinds: Vec<&'a str>,
    /// By number: whether the node has a constant.
    is_named: Vec<bool>,
}

impl<'a, F: Function> Emitter<'a, F> {
    fn new(graph: &'a Graph<F>, prefix: &'a str) -> Result<Self> {
        let rows = graph.rows()?;
        let structure = &graph.structure;
        let (outputs, inputs) = structure.pin_counts();
        let mut emitter = Self {
            graph,
            prefix,
            numbers: try_filled(NONE, structure.positions())?,
            outputs: try_filled(NONE, outputs)?,
            own: try_filled(NONE, inputs)?,
            output_count: 0,
            value_count: 0,
            kinds: Vec::new(),
            is_named: try_filled(false, rows.len())?,
            rows,
        };
        let mut next = 0..;
        for (row, number) in emitter.rows.iter().zip(0..) {
            emitter.numbers[row.node as usize] = number;
            for (output, at) in structure.node(row.node).outputs().zip(&mut next) {
                emitter.outputs[output as usize] = at;
                emitter.output_count = at + 1;
            }
        }
        let pins = emitter.rows.iter().flat_map(|row| structure.node(row.node).inputs());
        let mut next = emitter.output_count..;
        for (input, at) in pins.filter(|&input| structure.read_by(input) & OWN != 0).zip(&mut next) {
            emitter.own[input as usize] = at;
        }
        emitter.value_count = next.start;
        emitter.collect_kinds()?;
        emitter.find_names()?;
        Ok(emitter)
    }
}

impl<F: Function> Emitter<'_, F> {
    /// Lists the functions. None may have a name that the source uses itself.
    fn collect_kinds(&mut self) -> Result<()> {
        let graph = self.graph;
        let kind = |node: u32| graph.state.record_of(node).kind.as_str();
        let nodes = self.rows.iter().map(|row| row.node);
        let mut by_kind = try_collect(nodes.filter(|&node| graph.state.class(node) != Class::Input))?;
        sort_numbers(&mut by_kind, &mut |one, other| kind(one).cmp(kind(other)));
        let prefix = self.prefix;
        for &node in &by_kind {
            let rest = kind(node).strip_prefix(prefix);
            if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_')) {
                let (name, kind) = (graph.name(node), kind(node));
                return Err(error!(
                    InvalidArgument,
                    "the type of {name} is {kind:?}: names that start with the prefix {prefix:?} are those of the source"
                ));
            }
        }
        self.kinds = try_collect(by_kind.iter().map(|&node| kind(node)))?;
        self.kinds.dedup();
        Ok(())
    }

    /// Finds the nodes whose names no other node has.
    fn find_names(&mut self) -> Result<()> {
        let name = |number: u32| names::tail(&self.graph.state.record_of(self.rows[number as usize].node).name);
        let mut order = try_collect(0..self.rows.len() as u32)?;
        sort_numbers(&mut order, &mut |one, other| name(one).cmp(name(other)));
        for (at, &number) in order.iter().enumerate() {
            let is_same = |other: Option<&u32>| other.is_some_and(|&other| name(other).eq(name(number)));
            let has_twin =
                is_same(order.get(at + 1)) || at.checked_sub(1).is_some_and(|before| is_same(order.get(before)));
            self.is_named[number as usize] = !has_twin && name(number).next().is_some();
        }
        Ok(())
    }

    fn pins(&self, row: &Row) -> &Node {
        self.graph.structure.node(row.node)
    }

    fn write(&self, out: &mut Source) -> fmt::Result {
        let prefix = self.prefix;
        writeln!(out, "/* Generated by hobgoblin from a graph of {} nodes. C99.", self.rows.len())?;
        writeln!(out, " * Define {prefix}_header before an inclusion that needs the declarations only. */")?;
        writeln!(out, "#ifndef {prefix}_declared\n#define {prefix}_declared")?;
        writeln!(out, "#include <string.h>\n#include <hobgoblin/graph.h>\n")?;
        self.write_counts(out)?;
        self.write_template(DECLARATIONS, out)?;
        writeln!(out, "#endif\n\n#ifndef {prefix}_header")?;
        self.write_functions(out)?;
        let (before, after) = EVALUATOR.split_once(TABLES).unwrap_or((EVALUATOR, ""));
        self.write_template(before, out)?;
        self.write_rows(out)?;
        self.write_pins(out)?;
        self.write_cutoffs(out)?;
        self.write_feedback(out)?;
        self.write_starts(out)?;
        self.write_template(after, out)?;
        writeln!(out, "#endif")
    }

    fn write_template(&self, template: &str, out: &mut Source) -> fmt::Result {
        let mut parts = template.split('@');
        out.write_str(parts.next().unwrap_or_default())?;
        parts.try_for_each(|part| {
            out.write_str(self.prefix)?;
            out.write_str(part)
        })
    }

    /// The number of each node with a name of its own, and the sizes of the arrays: at least 1.
    fn write_counts(&self, out: &mut Source) -> fmt::Result {
        let prefix = self.prefix;
        writeln!(out, "/* The numbers of the nodes whose names no other node has. */")?;
        writeln!(out, "enum {{\n    {prefix}_node_count = {},", self.rows.len())?;
        for (number, row) in self.rows.iter().enumerate().filter(|(number, _)| self.is_named[*number]) {
            write!(out, "    {prefix}_at_")?;
            names::tail(&self.graph.state.record_of(row.node).name).try_for_each(|part| out.write_char(part))?;
            writeln!(out, " = {number},")?;
        }
        let pins = || self.rows.iter().map(|row| self.pins(row));
        let most = |count: fn(&Node) -> u32| pins().map(count).max().unwrap_or(0).max(1);
        let batches: u32 = pins().map(|pins| pins.lazy.count_ones()).sum();
        writeln!(out, "    {prefix}_node_room = {},", self.rows.len().max(1))?;
        writeln!(out, "    {prefix}_output_room = {},", self.output_count.max(1))?;
        writeln!(out, "    {prefix}_value_room = {},", self.value_count.max(1))?;
        writeln!(out, "    {prefix}_batch_room = {},", batches.max(1))?;
        writeln!(out, "    {prefix}_message_room = {},", self.rows.len().min(MESSAGES) + 1)?;
        writeln!(out, "    {prefix}_most_inputs = {},", most(|pins| pins.input_count()))?;
        writeln!(out, "    {prefix}_most_outputs = {}\n}};\n", most(|pins| pins.output_count()))
    }

    fn write_functions(&self, out: &mut Source) -> fmt::Result {
        writeln!(out, "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n/* The functions of the host. */")?;
        for kind in &self.kinds {
            writeln!(out, "hob_verdict {kind}(void *user_data, hob_node_call *call);")?;
        }
        writeln!(out, "#ifdef __cplusplus\n}}\n#endif\n")
    }

    fn write_rows(&self, out: &mut Source) -> fmt::Result {
        let prefix = self.prefix;
        writeln!(out, "static const {prefix}_row {prefix}_rows[] = {{")?;
        let (mut pin, mut output, mut batch) = (0, 0, 0);
        for row in &self.rows {
            let (pins, record) = (self.pins(row), self.graph.state.record_of(row.node));
            let class = self.graph.state.class(row.node);
            let kind: &dyn Display = if class == Class::Input { &0 } else { &record.kind };
            let has_value = self.graph.state.flags(row.node) & HAS_VALUE != 0;
            let flags = flag(row.is_strict, WANTED)
                | flag(class == Class::Volatile, VOLATILE)
                | flag(has_value, STARTS_WITH_VALUE);
            writeln!(out, "    {{{kind}, {pin}, {output}, {batch}, {flags}, {}}},", Bits(pins.lazy))?;
            (pin, output) = (pin + pins.input_count(), output + pins.output_count());
            batch += pins.lazy.count_ones();
        }
        writeln!(out, "    {{0, {pin}, {output}, {batch}, 0, 0}},\n}};\n")
    }

    fn write_pins(&self, out: &mut Source) -> fmt::Result {
        let (prefix, structure) = (self.prefix, &self.graph.structure);
        writeln!(out, "static const {prefix}_pin {prefix}_pins[] = {{")?;
        for row in &self.rows {
            for input in self.pins(row).inputs() {
                let (read, kind) = (structure.read_by(input), structure.kind(input));
                let source1 = match structure.source_node(input) {
                    NONE => 0,
                    source => self.numbers[source as usize] + 1,
                };
                let value = if read & OWN == 0 { self.outputs[read as usize] } else { self.own[input as usize] };
                let flags = flag(kind & HOLD != 0, PIN_HOLD) | flag(kind & FEEDBACK != 0, PIN_FEEDBACK);
                writeln!(out, "    {{{source1}, {value}, {flags}}},")?;
            }
        }
        writeln!(out, "    {{0, 0, 0}},\n}};\n")
    }

    fn write_cutoffs(&self, out: &mut Source) -> fmt::Result {
        let prefix = self.prefix;
        writeln!(out, "static const {prefix}_cutoff {prefix}_cutoffs[] = {{")?;
        for row in &self.rows {
            let record = self.graph.state.record_of(row.node);
            for output in 0..self.pins(row).output_count() {
                let cutoff = match self.graph.state.class(row.node) {
                    // Values that the host sets are compared by their bytes.
                    Class::Input => Cutoff::Bytes,
                    _ => record.output(output).cutoff,
                };
                let (rule, epsilon) = match cutoff {
                    Cutoff::Bytes | Cutoff::Callback => ("BYTES", 0),
                    Cutoff::Generation => ("GENERATION", 0),
                    Cutoff::Epsilon(epsilon) => ("EPSILON", epsilon.to_bits()),
                    Cutoff::Never => ("NEVER", 0),
                };
                writeln!(out, "    {{HOB_CUTOFF_{rule}, {}}},", Bits(epsilon))?;
            }
        }
        writeln!(out, "    {{0, 0}},\n}};\n")
    }

    fn write_feedback(&self, out: &mut Source) -> fmt::Result {
        let (prefix, structure) = (self.prefix, &self.graph.structure);
        writeln!(out, "static const {prefix}_link {prefix}_feedback[] = {{")?;
        for (row, number1) in self.rows.iter().zip(1..) {
            for input in self.pins(row).inputs().filter(|&input| structure.kind(input) & FEEDBACK != 0) {
                let source = self.outputs[structure.source(input) as usize];
                writeln!(out, "    {{{number1}, {}, {source}}},", self.own[input as usize])?;
            }
        }
        writeln!(out, "    {{0, 0, 0}},\n}};\n")
    }

    fn write_starts(&self, out: &mut Source) -> fmt::Result {
        let (prefix, values) = (self.prefix, &self.graph.state.values);
        writeln!(out, "static const {prefix}_start {prefix}_starts[] = {{")?;
        for row in &self.rows {
            let pins = self.pins(row);
            let of_outputs = pins.outputs().map(|output| (self.outputs[output as usize], values.output(output)));
            let of_pins = pins.inputs().map(|input| (self.own[input as usize], values.own(input)));
            for (at, Value([first, second])) in of_outputs.chain(of_pins.filter(|(at, _)| *at != NONE)) {
                if (first, second) != (0, 0) {
                    writeln!(out, "    {{{}, {{{}, {}}}}},", at + 1, Bits(first), Bits(second))?;
                }
            }
        }
        writeln!(out, "    {{0, {{0, 0}}}},\n}};\n")
    }
}

fn flag(is_set: bool, bit: u32) -> u32 {
    if is_set { bit } else { 0 }
}

/// 64 bits, as C.
struct Bits(u64);

impl Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bits @ 0..=9 => write!(f, "{bits}"),
            bits => write!(f, "0x{bits:x}u"),
        }
    }
}
