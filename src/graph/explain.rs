//! Why a node has run or not, and what failed.

use std::fmt;

use super::Graph;
use super::node::{Class, Failure, Function};
use super::state::{BROKEN, FAILED, POISONED, RESTORED, STALE};
use super::structure::{LAZY, NONE};
use crate::base::{Id, Result, Text, try_push};

/// Why a node did not run in the last evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyNot {
    /// No input has changed.
    NoChange,
    /// No sink depends on it.
    NoSink,
    /// A sink depends on it through this lazy input alone, which was not asked for.
    NotAsked {
        /// Whose input it is.
        node: Id,
        /// The input.
        input: u32,
    },
    /// This node has failed, on which it depends.
    Broken(Id),
    /// The evaluation ended before.
    Waits,
}

/// Why a node ran in the last evaluation, or did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It is volatile.
    Volatile,
    /// This input has changed.
    Changed {
        /// The input.
        input: u32,
    },
    /// It has not run before, was edited or set, or was invalidated. Or a change of an earlier frame has reached it: by a
    /// feedback link, or because no sink had asked for it.
    Edited,
    /// This node read its value, which had been released.
    Restored(Id),
    /// It did not run.
    Not(WhyNot),
}

/// A sentence for [`Graph::why_text`].
pub type Sentence = Text<400>;

impl<F: Function> Graph<F> {
    /// Why a node ran in the last evaluation, or did not.
    pub fn why(&self, node: Id) -> Result<Why> {
        let position = self.position(node)?;
        let state = &self.state;
        let cells = self.structure.node(position);
        if self.evaluation != 0 && state.ran_at(position) == self.evaluation {
            if state.flags(position) & RESTORED != 0 {
                return Ok(Why::Restored(self.nodes.id_at(self.reader_of(position) as usize)));
            }
            if state.class(position) == Class::Volatile {
                return Ok(Why::Volatile);
            }
            let has_changed = |&input: &u32| {
                let source = self.structure.source(input);
                source != NONE
                    && self.structure.source_node(input) != NONE
                    && state.changed_at(source) == self.evaluation
                    && self.marks.is_read(&self.structure, input)
                    && !state.holds(&self.structure, input)
            };
            let changed = cells.inputs().find(has_changed);
            return Ok(changed.map_or(Why::Edited, |input| Why::Changed { input: input - cells.first_input }));
        }
        let flags = state.flags(position);
        if let Some(reason) = self.not_demanded(position) {
            return Ok(Why::Not(reason));
        }
        if flags & POISONED != 0 && flags & STALE == 0 {
            return Ok(Why::Not(WhyNot::Broken(self.nodes.id_at(self.root_of_failure(position) as usize))));
        }
        Ok(Why::Not(if flags & STALE == 0 { WhyNot::NoChange } else { WhyNot::Waits }))
    }

    /// A node that ran in the last evaluation, and reads this one. This node itself if that was removed.
    fn reader_of(&self, position: u32) -> u32 {
        let inputs = self.structure.node(position).outputs().flat_map(|output| self.structure.dependants(output));
        let mut readers = inputs.map(|input| self.structure.reader(input));
        readers.find(|&reader| self.state.ran_at(reader) == self.evaluation).unwrap_or(position)
    }

    /// The failure of a node: the node that failed, which may be another one that it depends on, and its message.
    pub fn failure(&self, node: Id) -> Result<Option<(Id, Failure)>> {
        let position = self.position(node)?;
        if !self.is_broken(position) {
            return Ok(None);
        }
        let root = self.root_of_failure(position);
        Ok(Some((self.nodes.id_at(root as usize), self.state.failure(root).unwrap_or_default())))
    }

    /// The path from a broken node to the failed node.
    pub fn failure_path(&self, node: Id) -> Result<impl Iterator<Item = Id> + '_> {
        let position = self.position(node)?;
        let path = std::iter::successors(self.is_broken(position).then_some(position), |&node| {
            let next = self.next_broken(node);
            (next != NONE).then_some(next)
        });
        Ok(path.map(|position| self.nodes.id_at(position as usize)))
    }

    /// Whether a node failed, or a failed node still keeps it from running.
    fn is_broken(&self, position: u32) -> bool {
        self.state.flags(position) & BROKEN != 0 && self.state.flags(self.root_of_failure(position)) & FAILED != 0
    }

    fn next_broken(&self, position: u32) -> u32 {
        if self.state.flags(position) & FAILED != 0 {
            return NONE;
        }
        self.state.broken_input(&self.structure, self.structure.node(position), self.marks.in_use(position))
    }

    fn root_of_failure(&self, position: u32) -> u32 {
        let next = |&node: &u32| {
            let next = self.next_broken(node);
            (next != NONE).then_some(next)
        };
        std::iter::successors(Some(position), next).last().unwrap_or(position)
    }

    /// Why no sink demands a node, if none does. Looks at all that depends on it: first without lazy inputs that were not
    /// asked for, then through these.
    fn not_demanded(&self, position: u32) -> Option<WhyNot> {
        let mut is_seen = crate::base::try_filled(false, self.structure.positions()).ok()?;
        // Nodes, and the input through which they were found that was not asked for.
        let (mut stack, mut later) = (Vec::new(), Vec::new());
        try_push(&mut later, (position, None)).ok()?;
        while let Some((node, unasked)) = stack.pop().or_else(|| later.pop()) {
            if std::mem::replace(&mut is_seen[node as usize], true) {
                continue;
            }
            let cells = self.structure.node(node);
            let mut is_demanded = cells.is_sink;
            for input in cells.outputs().flat_map(|output| self.structure.dependants(output)) {
                // A source of feedback is demanded always.
                is_demanded |= self.structure.source_node(input) == NONE;
                let reader = self.structure.reader(input);
                let at = input - self.structure.node(reader).first_input;
                let is_asked = self.structure.kind(input) & LAZY == 0 || self.marks.in_use(reader) & (1 << at) != 0;
                match unasked {
                    None if !is_asked => try_push(&mut later, (reader, Some((reader, at)))).ok()?,
                    _ => try_push(&mut stack, (reader, unasked)).ok()?,
                }
            }
            if is_demanded {
                return unasked.map(|(node, input)| WhyNot::NotAsked { node: self.nodes.id_at(node as usize), input });
            }
        }
        Some(WhyNot::NoSink)
    }

    /// [`Graph::why`] as a sentence.
    pub fn why_text(&self, node: Id) -> Result<Sentence> {
        let position = self.position(node)?;
        let name = |id: Id| self.name(id.index1 - 1);
        let me = self.name(position);
        Ok(match self.why(node)? {
            Why::Volatile => Text::format(format_args!("{me} ran: it is volatile")),
            Why::Edited => Text::format(format_args!(
                "{me} ran: it was new, edited, set or invalidated, or a change of an earlier frame has reached it"
            )),
            Why::Changed { input } => {
                let pin = self.structure.node(position).first_input + input;
                let source = self.name(self.structure.source_node(pin));
                Text::format(format_args!("{me} ran: its input {input} changed, from {source}"))
            }
            Why::Restored(reader) => {
                let reader = name(reader);
                Text::format(format_args!("{me} ran: its value had been released to save memory, and {reader} read it"))
            }
            Why::Not(WhyNot::NoChange) => Text::format(format_args!("{me} did not run: no input changed")),
            Why::Not(WhyNot::NoSink) => Text::format(format_args!("{me} did not run: no sink depends on it")),
            Why::Not(WhyNot::NotAsked { node, input }) => Text::format(format_args!(
                "{me} did not run: input {input} of {} is lazy, and was not asked for",
                name(node)
            )),
            Why::Not(WhyNot::Broken(node)) => {
                Text::format(format_args!("{me} did not run: {} failed, on which it depends", name(node)))
            }
            Why::Not(WhyNot::Waits) => Text::format(format_args!("{me} did not run: the evaluation ended before")),
        })
    }

    /// The name of a node for messages.
    pub(super) fn name(&self, position: u32) -> Name<'_> {
        Name { name: &self.state.record_of(position).name, position }
    }
}

/// A node's name in quotes, or its number without one.
pub(super) struct Name<'a> {
    name: &'a str,
    position: u32,
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            "" => write!(f, "node {}", self.position + 1),
            name => write!(f, "\"{name}\""),
        }
    }
}
