//! The perception tree: cognitions, and steps of pipelines. Equal beginnings of pipelines are shared.

use std::cmp::Ordering;

use super::cognition::{Action, Cognition, MAX_INPUTS, Traits};
use super::image::Rect;
use super::pipelines::{Pipeline, Pipelines, Prefetch};
use crate::base::{Id, Result, Value, error, try_push, try_string, try_to_vec};

/// Most steps of a pipeline.
pub const MAX_STEPS: usize = 64;
/// Most bytes of parameters of a step.
pub const MAX_PARAMETERS: usize = 1 << 20;
/// Most nodes one after the other, nested pipelines included.
const MAX_DEPTH: u32 = 256;

/// The source of an input of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The frame.
    Frame,
    /// The result of another node.
    Node(u32),
}

/// An input of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Input {
    /// Where it comes from.
    pub source: Source,
    /// The part of its image. Empty: all of it.
    pub part: Rect,
}

/// A cognition and its name.
pub struct Entry<C> {
    /// For messages.
    pub name: String,
    /// Its action.
    pub action: Action<C>,
    /// Its declarations.
    pub traits: Traits,
    /// The audit found that it depends on more than it declares.
    pub is_accused: bool,
}

impl<C: Cognition> Entry<C> {
    /// Whether its results depend on its inputs and parameters only.
    pub fn is_pure(&self) -> bool {
        self.traits.is_pure && !self.is_accused
    }

    /// Whether it is a function of the host.
    pub fn is_host(&self) -> bool {
        matches!(self.action, Action::Host(_))
    }

    /// Release a value that a node no longer holds.
    pub fn release(&self, value: Value) {
        if self.traits.is_owned {
            self.action.release(value);
        }
    }
}

/// A step that one or more pipelines share.
#[derive(Debug)]
pub struct Node {
    /// The index of its cognition.
    pub cognition: u32,
    /// The largest difference of a channel that is no change. 0: exact.
    pub tolerance: u8,
    /// Its inputs.
    pub inputs: Vec<Input>,
    /// The host's parameters.
    pub parameters: Vec<u8>,
    /// Nodes before it on the longest way from the frame.
    pub depth: u32,
    /// Pipelines and nodes that use it.
    pub users: u32,
}

impl Node {
    fn order(&self, other: &Self) -> Ordering {
        let key = |node: &Self| (node.cognition, node.tolerance);
        key(self)
            .cmp(&key(other))
            .then_with(|| self.inputs.cmp(&other.inputs))
            .then_with(|| self.parameters.cmp(&other.parameters))
    }
}

/// A step of a new pipeline.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The cognition.
    pub cognition: Id,
    /// The part of its input that it reads. Empty: all of it.
    pub part: Rect,
    /// For a step that reads the frame: the largest difference of a channel that is no change.
    pub tolerance: u8,
    /// The host's parameters.
    pub parameters: &'a [u8],
}

/// Parameters of a new pipeline.
#[derive(Clone, Copy, Debug, Default)]
pub struct PipelineOptions<'a> {
    /// Its name. May be empty.
    pub name: &'a str,
    /// The name of the state that it is part of. May be empty.
    pub state: &'a str,
    /// Pipelines whose results are the inputs of the first step. None: the frame.
    pub inputs: &'a [Id],
    /// Its steps.
    pub steps: &'a [Step<'a>],
    /// Whether it is computed when a frame begins.
    pub prefetch: Prefetch,
}

/// Cognitions, nodes and pipelines.
pub struct Tree<C> {
    cognitions: Vec<Entry<C>>,
    nodes: Vec<Option<Node>>,
    /// Places of `nodes` that are free.
    free: Vec<u32>,
    /// Nodes by their key.
    by_key: Vec<u32>,
    /// All pipelines.
    pub pipelines: Pipelines,
}

impl<C> Default for Tree<C> {
    fn default() -> Self {
        Self {
            cognitions: Vec::new(),
            nodes: Vec::new(),
            free: Vec::new(),
            by_key: Vec::new(),
            pipelines: Pipelines::default(),
        }
    }
}

impl<C: Cognition> Tree<C> {
    /// Add a cognition.
    pub fn add_cognition(&mut self, name: &str, action: Action<C>, traits: Traits) -> Result<Id> {
        let name = try_string(name)?;
        try_push(&mut self.cognitions, Entry { name, action, traits, is_accused: false })?;
        Ok(Id { index1: self.cognitions.len() as u32, generation: 0 })
    }

    fn cognition_index(&self, id: Id) -> Result<u32> {
        let index = id.index1.wrapping_sub(1);
        if id.generation == 0 && (index as usize) < self.cognitions.len() {
            return Ok(index);
        }
        Err(error!(NotFound, "there is no cognition {}: add it first", id.index1))
    }

    /// The cognition of a node.
    pub fn entry(&self, node: &Node) -> &Entry<C> {
        &self.cognitions[node.cognition as usize]
    }

    /// The cognition with an index.
    pub fn entry_at(&self, cognition: u32) -> &Entry<C> {
        &self.cognitions[cognition as usize]
    }

    /// Never trust a cognition again.
    pub fn accuse(&mut self, cognition: u32) {
        self.cognitions[cognition as usize].is_accused = true;
    }

    /// The names of the accused cognitions.
    pub fn accused(&self) -> impl Iterator<Item = &str> {
        self.cognitions.iter().filter(|entry| entry.is_accused).map(|entry| entry.name.as_str())
    }

    /// The cognition of the node at a place, if it is in use.
    pub fn cognition_of(&self, at: u32) -> Option<u32> {
        self.nodes[at as usize].as_ref().map(|node| node.cognition)
    }

    /// A node in use.
    pub fn node(&self, at: u32) -> &Node {
        self.nodes[at as usize].as_ref().expect("a node in use")
    }

    /// Places of nodes, those not in use included.
    pub fn places(&self) -> usize {
        self.nodes.len()
    }

    /// All nodes in use.
    pub fn nodes(&self) -> impl Iterator<Item = (u32, &Node)> {
        self.nodes.iter().enumerate().filter_map(|(at, node)| Some((at as u32, node.as_ref()?)))
    }

    /// Add a pipeline. A failure changes nothing.
    pub fn add_pipeline(&mut self, options: &PipelineOptions<'_>) -> Result<Id> {
        let PipelineOptions { name, state, inputs, steps, prefetch } = *options;
        if steps.is_empty() || steps.len() > MAX_STEPS {
            return Err(error!(InvalidArgument, "{} steps: a pipeline has 1 to {MAX_STEPS}", steps.len()));
        }
        if inputs.len() > MAX_INPUTS {
            return Err(error!(InvalidArgument, "{} inputs: a pipeline has at most {MAX_INPUTS}", inputs.len()));
        }
        let (name, state) = (try_string(name)?, try_string(state)?);
        self.pipelines.reserve_one()?;
        self.reserve(steps.len())?;
        let mut first = Vec::new();
        first.try_reserve_exact(inputs.len().max(1))?;
        for &input in inputs {
            first.push(Source::Node(self.pipelines.get(input)?.node));
        }
        if inputs.is_empty() {
            first.push(Source::Frame);
        }
        let mut last = None;
        for step in steps {
            match self.add_step(step, last, &first) {
                // The step before is held by this one now.
                Ok(node) => {
                    if let Some(before) = last {
                        self.release(before, &mut |_, _| ());
                    }
                    last = Some(node);
                }
                Err(why) => {
                    if let Some(before) = last {
                        self.release(before, &mut |_, _| ());
                    }
                    return Err(why);
                }
            }
        }
        let node = last.expect("there is a step");
        for &input in inputs {
            self.pipelines.get_mut(input).expect("it was found above").is_nested = true;
        }
        Ok(self.pipelines.insert(Pipeline { name, state, node, prefetch, is_nested: false }))
    }

    /// Make room for nodes, so that no list of them has to grow.
    fn reserve(&mut self, more: usize) -> Result<()> {
        self.nodes.try_reserve(more)?;
        self.by_key.try_reserve(more)?;
        let all = self.nodes.len() + more;
        self.free.try_reserve(all - self.free.len())?;
        Ok(())
    }

    /// The node of a step, with one user more.
    fn add_step(&mut self, step: &Step<'_>, before: Option<u32>, first: &[Source]) -> Result<u32> {
        let cognition = self.cognition_index(step.cognition)?;
        if step.parameters.len() > MAX_PARAMETERS {
            let size = step.parameters.len();
            return Err(error!(LimitExceeded, "{size} bytes of parameters: a step has at most {MAX_PARAMETERS}"));
        }
        let one = before.map(|node| [Source::Node(node)]);
        let sources = one.as_ref().map_or(first, |one| one);
        if step.tolerance != 0 && !sources.contains(&Source::Frame) {
            return Err(error!(InvalidArgument, "only a step that reads the frame can have a tolerance"));
        }
        let entry = &self.cognitions[cognition as usize];
        if let Action::Operator(operator) = &entry.action
            && operator.input_count() != sources.len()
        {
            let (name, wants, has) = (entry.name.as_str(), operator.input_count(), sources.len());
            return Err(error!(InvalidArgument, "{name} takes {wants} inputs, and this step has {has}"));
        }
        let part = step.part;
        let mut inputs = Vec::new();
        inputs.try_reserve_exact(sources.len())?;
        inputs.extend(sources.iter().map(|&source| Input { source, part }));
        let depth_of = |source: &Source| if let Source::Node(node) = *source { self.node(node).depth + 1 } else { 0 };
        let depth = sources.iter().map(depth_of).max().unwrap_or(0);
        if depth > MAX_DEPTH {
            return Err(error!(LimitExceeded, "more than {MAX_DEPTH} steps one after the other"));
        }
        let parameters = try_to_vec(step.parameters)?;
        let node = Node { cognition, tolerance: step.tolerance, inputs, parameters, depth, users: 1 };
        match self.by_key.binary_search_by(|&other| self.node(other).order(&node)) {
            Ok(found) => {
                let at = self.by_key[found];
                self.nodes[at as usize].as_mut().expect("a node in use").users += 1;
                Ok(at)
            }
            Err(place) => {
                for source in sources {
                    if let Source::Node(input) = *source {
                        self.nodes[input as usize].as_mut().expect("a node in use").users += 1;
                    }
                }
                let at = self.free.pop().unwrap_or_else(|| {
                    self.nodes.push(None);
                    self.nodes.len() as u32 - 1
                });
                self.nodes[at as usize] = Some(node);
                self.by_key.insert(place, at);
                Ok(at)
            }
        }
    }

    /// Remove a pipeline. `removed` is called for each node that nothing uses any more, and its cognition.
    pub fn remove_pipeline(&mut self, id: Id, removed: &mut dyn FnMut(u32, u32)) -> Result<()> {
        let pipeline = self.pipelines.remove(id)?;
        self.release(pipeline.node, removed);
        Ok(())
    }

    fn release(&mut self, at: u32, removed: &mut dyn FnMut(u32, u32)) {
        let node = self.nodes[at as usize].as_mut().expect("a node in use");
        node.users -= 1;
        if node.users > 0 {
            return;
        }
        removed(at, node.cognition);
        let place = self.by_key.binary_search_by(|&other| self.node(other).order(self.node(at)));
        self.by_key.remove(place.expect("it is in the list"));
        let node = self.nodes[at as usize].take().expect("a node in use");
        self.free.push(at);
        for input in &node.inputs {
            if let Source::Node(input) = input.source {
                self.release(input, removed);
            }
        }
    }

    /// The node that differs from this one only in its single input.
    pub fn find_like(&self, node: &Node, wanted: Input) -> Option<u32> {
        let key = |other: &Node| {
            let before = (other.cognition, other.tolerance).cmp(&(node.cognition, node.tolerance));
            before
                .then_with(|| other.inputs.as_slice().cmp(&[wanted]))
                .then_with(|| other.parameters.cmp(&node.parameters))
        };
        let found = self.by_key.binary_search_by(|&other| key(self.node(other))).ok()?;
        Some(self.by_key[found])
    }

    /// Bytes that the tree holds.
    pub fn memory_used(&self) -> usize {
        let of_node = |node: &Node| node.parameters.capacity() + node.inputs.capacity() * size_of::<Input>();
        self.cognitions.capacity() * size_of::<Entry<C>>()
            + self.cognitions.iter().map(|entry| entry.name.capacity()).sum::<usize>()
            + self.nodes.capacity() * size_of::<Option<Node>>()
            + self.nodes().map(|(_, node)| of_node(node)).sum::<usize>()
            + (self.by_key.capacity() + self.free.capacity()) * size_of::<u32>()
            + self.pipelines.memory_used()
    }
}
