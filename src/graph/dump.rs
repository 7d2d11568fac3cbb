//! A graph as text: JSON that can be loaded again, and DOT for Graphviz.
//!
//! JSON has the nodes with their pins and the links, not the state. Functions are the host's: a node has the name of its
//! type, and loading asks the host for the function of each node. Ids in the text are those of the graph that was
//! written; values are two words in hexadecimal digits, and 0 is omitted.
//!
//! Loading takes keys in any order, each once. A key that it does not know is an error, and so is a node or a link that the
//! graph refuses: nothing is loaded then. Memory is proportional to the text.

use std::fmt::{self, Write};

use super::Graph;
use super::bake::sorted_by_origin;
use super::node::{Class, Function, Input, MAX_PINS, NodeOptions, Output};
use super::structure::{FEEDBACK, HOLD, LAZY, NONE};
use super::value::{Cutoff, Value};
use crate::base::json::{Reader, Room, Size, write_string};
use crate::base::{Code, Error, Id, Number, Result, Text, error, try_push};

const FORMAT: &str = "graph JSON";
/// The version of the format.
const VERSION: f64 = 1.0;
const CLASSES: [(Class, &str); 5] = [
    (Class::Volatile, "volatile"),
    (Class::Pure, "pure"),
    (Class::Constant, "constant"),
    (Class::Input, "input"),
    (Class::Effect, "effect"),
];

/// A graph from its text.
pub struct Loaded<F: Function> {
    /// The graph.
    pub graph: Graph<F>,
    /// The id in the text and the id in the graph of each node, by the former.
    pub nodes: Vec<(Id, Id)>,
}

/// A node in a text, for the host that has its function.
pub struct NodeText<'a> {
    /// Its id in the text.
    pub id: u32,
    /// Its parameters.
    pub options: &'a NodeOptions<'a>,
}

impl<F: Function> Graph<F> {
    /// Bytes that [`to_json`](Self::to_json) writes. Allocates nothing.
    pub fn json_size(&self) -> usize {
        size_of_text(|out| self.write_json(out))
    }

    /// Write nodes and links as JSON into `buffer`, and return the number of bytes written. A buffer that is too small
    /// remains unchanged, and the error names the required size. Allocates nothing on success.
    pub fn to_json(&self, buffer: &mut [u8]) -> Result<usize> {
        write_text(buffer, |out| self.write_json(out))
    }

    /// Bytes that [`to_dot`](Self::to_dot) writes. Allocates nothing.
    pub fn dot_size(&self) -> usize {
        size_of_text(|out| self.write_dot(out))
    }

    /// Write a picture for Graphviz into `buffer`, as [`to_json`](Self::to_json). Lazy links are dashed, feedback links
    /// are dotted, sinks have a double border, and nodes that failed are red.
    pub fn to_dot(&self, buffer: &mut [u8]) -> Result<usize> {
        write_text(buffer, |out| self.write_dot(out))
    }

    fn write_json(&self, out: &mut dyn Write) -> fmt::Result {
        write!(out, "{{\n\"hobgoblin_graph\": {VERSION},\n\"nodes\": [")?;
        let mut before = "\n";
        for (position, ()) in self.nodes.iter() {
            out.write_str(before)?;
            self.write_node(position as u32, out)?;
            before = ",\n";
        }
        out.write_str("\n],\n\"links\": [")?;
        before = "\n";
        for (position, ()) in self.nodes.iter() {
            let pins = self.structure.node(position as u32);
            for (at, input) in pins.inputs().enumerate() {
                let source = self.structure.source(input);
                if source == NONE {
                    continue;
                }
                let writer = self.structure.writer(source);
                let output = source - self.structure.node(writer).first_output;
                let (from, to) = (writer + 1, position + 1);
                write!(out, "{before}{{\"from\": {from}, \"output\": {output}, \"to\": {to}, \"input\": {at}")?;
                let is_feedback = self.structure.kind(input) & FEEDBACK != 0;
                out.write_str(if is_feedback { ", \"feedback\": true}" } else { "}" })?;
                before = ",\n";
            }
        }
        out.write_str("\n]\n}\n")
    }

    fn write_node(&self, position: u32, out: &mut dyn Write) -> fmt::Result {
        let (pins, record) = (self.structure.node(position), self.state.record_of(position));
        let class = self.state.class(position);
        let Id { index1, generation } = self.nodes.id_at(position as usize);
        write!(out, "{{\"id\": {index1}")?;
        if generation != 0 {
            write!(out, ", \"generation\": {generation}")?;
        }
        for (key, text) in [("name", &record.name), ("type", &record.kind)] {
            if !text.is_empty() {
                write!(out, ", \"{key}\": ")?;
                write_string(text, out)?;
            }
        }
        write!(out, ", \"class\": \"{}\"", name_of_class(class))?;
        if pins.is_sink {
            out.write_str(", \"sink\": true")?;
        }
        if class != Class::Input && pins.input_count() > 0 {
            out.write_str(", \"inputs\": ")?;
            write_list(pins.inputs(), out, |input, out| {
                let kind = self.structure.kind(input);
                let is_feedback = kind & FEEDBACK != 0;
                let own = if is_feedback { self.feedback_default(input) } else { self.state.values.own(input) };
                let mut pin = Pin::new(out);
                pin.flag("lazy", kind & LAZY != 0)?;
                pin.flag("hold", kind & HOLD != 0)?;
                pin.value(own)?;
                pin.end()
            })?;
        }
        if pins.output_count() > 0 {
            out.write_str(", \"outputs\": ")?;
            write_list(pins.outputs(), out, |output, out| {
                let at = output - pins.first_output;
                let parameters = record.output(at);
                let mut pin = Pin::new(out);
                pin.cutoff(parameters.cutoff)?;
                pin.flag("owned", parameters.is_owned)?;
                if class == Class::Input {
                    pin.value(self.state.values.own(pins.first_input + at))?;
                }
                pin.end()
            })?;
        }
        out.write_char('}')
    }

    fn write_dot(&self, out: &mut dyn Write) -> fmt::Result {
        out.write_str("digraph graph_of_hobgoblin {\nrankdir=LR; node [shape=box, fontname=\"sans-serif\"];\n")?;
        for (position, ()) in self.nodes.iter() {
            let position = position as u32;
            let record = self.state.record_of(position);
            let label = match record.name.as_str() {
                "" => Label(&record.kind),
                name => Label(name),
            };
            write!(out, "n{} [label=\"{label}\\n", position + 1)?;
            write!(out, "{}, {} runs\"", name_of_class(self.state.class(position)), self.state.runs(position))?;
            if self.structure.node(position).is_sink {
                out.write_str(", peripheries=2")?;
            }
            if self.state.flags(position) & super::state::BROKEN != 0 {
                out.write_str(", color=red")?;
            }
            out.write_str("];\n")?;
        }
        for (position, ()) in self.nodes.iter() {
            for input in self.structure.node(position as u32).inputs() {
                let source = self.structure.source(input);
                if source == NONE {
                    continue;
                }
                let kind = self.structure.kind(input);
                let style = match (kind & FEEDBACK != 0, kind & LAZY != 0) {
                    (true, _) => " [style=dotted]",
                    (_, true) => " [style=dashed]",
                    _ => "",
                };
                writeln!(out, "n{} -> n{}{style};", self.structure.writer(source) + 1, position + 1)?;
            }
        }
        out.write_str("}\n")
    }

    /// Make a graph from JSON. `function` returns the function of each node, and an error if it does not know its type;
    /// it is not called for nodes of class input.
    pub fn load(json: &[u8], mut function: impl FnMut(&NodeText<'_>) -> Result<F>) -> Result<Loaded<F>> {
        let mut reader = Reader::new(FORMAT, json)?;
        let mut loaded = Loaded { graph: Self::new()?, nodes: Vec::new() };
        let mut has_version = false;
        object(&mut reader, &mut |reader, key, at| {
            match key {
                "hobgoblin_graph" => {
                    reader.number("the version", |version| version == VERSION, "1 (a later version cannot be read)")?;
                    has_version = true;
                }
                "nodes" if has_version => list(reader, &mut |reader| loaded.read_node(reader, &mut function))?,
                "links" if has_version => {
                    loaded.sort_nodes(reader, at)?;
                    list(reader, &mut |reader| loaded.read_link(reader))?;
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        reader.end()?;
        let end = reader.position();
        loaded.sort_nodes(&reader, end)?;
        if !has_version {
            return Err(reader.refuse(end, "\"hobgoblin_graph\": 1, which must come first", "none"));
        }
        Ok(loaded)
    }
}

impl<F: Function> Loaded<F> {
    /// Sorts the nodes by their ids in the text, and refuses an id that occurs twice.
    fn sort_nodes(&mut self, reader: &Reader<'_>, at: usize) -> Result<()> {
        self.nodes = sorted_by_origin(&self.nodes)?;
        match self.nodes.windows(2).find(|pair| pair[0].0.index1 == pair[1].0.index1) {
            Some(pair) => {
                let id = pair[0].0.index1;
                Err(reader.refuse(at, "nodes with different ids", format_args!("two nodes with the id {id}")))
            }
            None => Ok(()),
        }
    }

    fn read_node(
        &mut self,
        reader: &mut Reader<'_>,
        function: &mut impl FnMut(&NodeText<'_>) -> Result<F>,
    ) -> Result<()> {
        let start = reader.position();
        let (mut id, mut generation, mut class, mut is_sink) = (None, 0, Class::Volatile, false);
        let (mut name, mut kind) = (String::new(), String::new());
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        object(reader, &mut |reader, key, at| {
            match key {
                "id" => id = Some(whole(reader, "the id")?).filter(|&id| id != 0),
                "generation" => generation = whole(reader, "the generation")?,
                "name" => name = reader.string("a name")?,
                "type" => kind = reader.string("a type")?,
                "class" => {
                    let text = reader.string("a class")?;
                    let known = CLASSES.iter().find(|(_, name)| *name == text);
                    let wanted = "\"volatile\", \"pure\", \"constant\", \"input\" or \"effect\"";
                    class = known.ok_or_else(|| reader.refuse(at, wanted, "another class"))?.0;
                }
                "sink" => is_sink = reader.boolean("whether it is a sink")?,
                "inputs" => list(reader, &mut |reader| push_pin(reader, &mut inputs, read_input))?,
                "outputs" => list(reader, &mut |reader| push_pin(reader, &mut outputs, read_output))?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        let id = id.ok_or_else(|| reader.refuse(start, "a node with an \"id\" from 1 on", "a node without one"))?;
        let options = NodeOptions { name: &name, kind: &kind, class, is_sink, inputs: &inputs, outputs: &outputs };
        let function = match class {
            Class::Input => None,
            _ => Some(function(&NodeText { id, options: &options })?),
        };
        let node = self.graph.add(&options, function).map_err(|why| refused(reader, start, why))?;
        try_push(&mut self.nodes, (Id { index1: id, generation }, node))
    }

    fn read_link(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        let start = reader.position();
        let (mut from, mut output, mut to, mut input, mut is_feedback) = (None, 0, None, 0, false);
        object(reader, &mut |reader, key, _| {
            match key {
                "from" => from = Some(whole(reader, "the id")?),
                "output" => output = whole(reader, "the output")?,
                "to" => to = Some(whole(reader, "the id")?),
                "input" => input = whole(reader, "the input")?,
                "feedback" => is_feedback = reader.boolean("whether it is feedback")?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        let node = |id: Option<u32>| {
            let at = id.and_then(|id| self.nodes.binary_search_by_key(&id, |(id, _)| id.index1).ok());
            let unknown = "no such node: \"nodes\" must come before \"links\"";
            at.map(|at| self.nodes[at].1).ok_or_else(|| reader.refuse(start, "a link between two nodes", unknown))
        };
        let (from, to) = (node(from)?, node(to)?);
        let outcome = if is_feedback {
            self.graph.connect_feedback(from, output as usize, to, input as usize)
        } else {
            self.graph.connect(from, output as usize, to, input as usize)
        };
        outcome.map_err(|why| refused(reader, start, why))
    }
}

/// An error of the graph as one of the text, which begins there. Out of memory says nothing about the text.
fn refused(reader: &Reader<'_>, start: usize, why: Error) -> Error {
    if why.code() == Code::OutOfMemory {
        return why;
    }
    let (line, column) = reader.place(start);
    error!(Malformed, "{FORMAT}, line {line} column {column}: {why}; nothing was loaded")
}

fn push_pin<T>(reader: &mut Reader<'_>, pins: &mut Vec<T>, read: impl Fn(&mut Reader<'_>) -> Result<T>) -> Result<()> {
    if pins.len() == MAX_PINS {
        let at = reader.position();
        return Err(reader.refuse(at, format_args!("at most {MAX_PINS} pins"), "one more"));
    }
    let pin = read(reader)?;
    try_push(pins, pin)
}

fn read_input(reader: &mut Reader<'_>) -> Result<Input> {
    let mut input = Input::default();
    object(reader, &mut |reader, key, _| {
        match key {
            "lazy" => input.lazy = reader.boolean("whether it is lazy")?,
            "hold" => input.hold = reader.boolean("whether it holds")?,
            "value" => input.default = read_value(reader)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(input)
}

fn read_output(reader: &mut Reader<'_>) -> Result<Output> {
    let start = reader.position();
    let mut output = Output::default();
    let mut epsilon = 0.0;
    object(reader, &mut |reader, key, at| {
        match key {
            "cutoff" => {
                let text = reader.string("a cut-off")?;
                output.cutoff = match text.as_str() {
                    "bytes" => Cutoff::Bytes,
                    "generation" => Cutoff::Generation,
                    "epsilon" => Cutoff::Epsilon(0.0),
                    "callback" => Cutoff::Callback,
                    "never" => Cutoff::Never,
                    _ => return Err(reader.refuse(at, "a cut-off", "another word")),
                };
            }
            "epsilon" => {
                epsilon = reader.number("the epsilon", |x| x.is_finite() && x >= 0.0, "a number not below 0")?
            }
            "owned" => output.is_owned = reader.boolean("whether it is owned")?,
            "value" => output.initial = read_value(reader)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    if output.is_owned && output.initial != Value::default() {
        return Err(reader.refuse(
            start,
            "an owned output without a value",
            "one whose value is a handle of another process",
        ));
    }
    if let Cutoff::Epsilon(of_output) = &mut output.cutoff {
        *of_output = if epsilon < f64::MAX { epsilon } else { f64::INFINITY };
    }
    Ok(output)
}

/// Two words of up to 16 hexadecimal digits, with a colon between.
fn read_value(reader: &mut Reader<'_>) -> Result<Value> {
    let start = reader.position();
    let text = reader.string("a value")?;
    let word = |digits: &str| {
        let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_plain.then(|| u64::from_str_radix(digits, 16).ok()).flatten()
    };
    let words = text.split_once(':').and_then(|(first, second)| Some([word(first)?, word(second)?]));
    let wanted = "two words in hexadecimal digits, with a colon between";
    words.map(Value).ok_or_else(|| reader.refuse(start, wanted, "another text"))
}

fn whole(reader: &mut Reader<'_>, name: &str) -> Result<u32> {
    let fits = |x: f64| (0.0..=f64::from(u32::MAX)).contains(&x) && x.fract() == 0.0;
    Ok(reader.number(name, fits, "a whole number from 0 to 4294967295")? as u32)
}

/// Reads an object. `member` reads the value of a key at a position, and returns whether it knows the key.
fn object(reader: &mut Reader<'_>, member: &mut dyn FnMut(&mut Reader<'_>, &str, usize) -> Result<bool>) -> Result<()> {
    reader.take(b'{', "'{'")?;
    let mut is_first = true;
    // Known keys are short and few.
    let mut seen: Text<256> = Text::EMPTY;
    while reader.another(b'}', is_first, "',' or '}'")? {
        let at = reader.position();
        let key = reader.string("a key")?;
        if seen.as_str().split(' ').any(|other| other == key) {
            return Err(reader.refuse(at, "each key once", format_args!("{key:?} again")));
        }
        reader.take(b':', "':' after the key")?;
        if !member(reader, &key, at)? {
            return Err(reader.refuse(at, "a known key", format_args!("{key:?}")));
        }
        let _ = write!(seen, "{key} ");
        is_first = false;
    }
    Ok(())
}

fn list(reader: &mut Reader<'_>, member: &mut dyn FnMut(&mut Reader<'_>) -> Result<()>) -> Result<()> {
    reader.take(b'[', "'['")?;
    let mut is_first = true;
    while reader.another(b']', is_first, "',' or ']'")? {
        member(reader)?;
        is_first = false;
    }
    Ok(())
}

fn write_list(
    pins: std::ops::Range<u32>,
    out: &mut dyn Write,
    mut write_pin: impl FnMut(u32, &mut dyn Write) -> fmt::Result,
) -> fmt::Result {
    let mut before = "[";
    for pin in pins {
        out.write_str(before)?;
        write_pin(pin, out)?;
        before = ", ";
    }
    out.write_char(']')
}

/// Writes the members of a pin that are not as usual.
struct Pin<'a> {
    out: &'a mut dyn Write,
    before: &'static str,
}

impl<'a> Pin<'a> {
    fn new(out: &'a mut dyn Write) -> Self {
        Self { out, before: "{" }
    }

    fn member(&mut self, key: &str, value: fmt::Arguments<'_>) -> fmt::Result {
        write!(self.out, "{}\"{key}\": {value}", self.before)?;
        self.before = ", ";
        Ok(())
    }

    fn flag(&mut self, key: &str, is_set: bool) -> fmt::Result {
        if is_set { self.member(key, format_args!("true")) } else { Ok(()) }
    }

    fn value(&mut self, value: Value) -> fmt::Result {
        let [first, second] = value.0;
        if value == Value::default() { Ok(()) } else { self.member("value", format_args!("\"{first:x}:{second:x}\"")) }
    }

    fn cutoff(&mut self, cutoff: Cutoff) -> fmt::Result {
        let name = match cutoff {
            Cutoff::Bytes => return Ok(()),
            Cutoff::Generation => "generation",
            Cutoff::Epsilon(epsilon) => {
                // JSON has no infinity: the largest number stands for it.
                self.member("epsilon", format_args!("{}", Number(epsilon.min(f64::MAX))))?;
                "epsilon"
            }
            Cutoff::Callback => "callback",
            Cutoff::Never => "never",
        };
        self.member("cutoff", format_args!("\"{name}\""))
    }

    fn end(self) -> fmt::Result {
        self.out.write_str(if self.before == "{" { "{}" } else { "}" })
    }
}

/// A label in quotes of DOT.
struct Label<'a>(&'a str);

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|character| match character {
            '"' | '\\' => write!(f, "\\{character}"),
            '\n' => f.write_str("\\n"),
            control if control.is_control() => f.write_char('?'),
            plain => f.write_char(plain),
        })
    }
}

fn name_of_class(class: Class) -> &'static str {
    CLASSES.iter().find(|(known, _)| *known == class).map_or("volatile", |(_, name)| name)
}

fn size_of_text(write: impl Fn(&mut dyn Write) -> fmt::Result) -> usize {
    let mut size = Size(0);
    let _ = write(&mut size);
    size.0
}

fn write_text(buffer: &mut [u8], write: impl Fn(&mut dyn Write) -> fmt::Result) -> Result<usize> {
    let (needed, have) = (size_of_text(&write), buffer.len());
    let too_small = || error!(BufferTooSmall, "the graph as text takes {needed} bytes, the buffer has {have}");
    let mut room = Room { left: buffer.get_mut(..needed).ok_or_else(too_small)? };
    write(&mut room).map_err(|_| too_small())?;
    Ok(needed - room.left.len())
}
