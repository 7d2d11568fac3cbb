//! The order of nodes while links are edited: an answer to "would this link close a cycle?" that looks at few nodes.
//!
//! Every node has a label, and each link leads from a smaller to a greater label. A link that agrees costs nothing. One
//! that does not makes the nodes between its two labels change places. A node without inputs may move to the very front,
//! and a node without dependants to the very end. So graphs that are built from either end cost nothing as well.
//!
//! Source: D. J. Pearce and P. H. J. Kelly, "A Dynamic Topological Sort Algorithm for Directed Acyclic Graphs" (2006).

use super::structure::{FEEDBACK, NONE, Structure, put, try_reserve_to};
use crate::base::{Result, sort_numbers};

/// The labels, and memory for a search.
#[derive(Default)]
pub struct Order {
    label: Vec<i64>,
    lowest: i64,
    highest: i64,
    /// The number of the search that visited a node last.
    visited: Vec<u32>,
    search: u32,
    /// The node from which a node was reached.
    parent: Vec<u32>,
    forward: Vec<u32>,
    backward: Vec<u32>,
    labels: Vec<i64>,
    /// Nodes looked at by all searches.
    pub work: u64,
}

impl Order {
    /// Makes room for nodes below this number.
    pub fn reserve(&mut self, nodes: usize) -> Result<()> {
        try_reserve_to(&mut self.label, nodes)
    }

    /// Adds the node at a position for which there is room, behind all others.
    pub fn add(&mut self, position: usize) {
        self.highest += 1;
        put(&mut self.label, position, self.highest);
    }

    /// Makes room for a search. Graphs that are built in order never search.
    fn reserve_search(&mut self) -> Result<()> {
        // As much room as the labels have, so that it seldom grows.
        let count = self.label.capacity();
        try_reserve_to(&mut self.visited, count)?;
        try_reserve_to(&mut self.parent, count)?;
        for list in [&mut self.forward, &mut self.backward] {
            list.clear();
            try_reserve_to(list, count)?;
        }
        self.labels.clear();
        try_reserve_to(&mut self.labels, count)?;
        self.visited.resize(count, 0);
        self.parent.resize(count, NONE);
        Ok(())
    }

    /// The label of a node.
    pub fn label(&self, node: u32) -> i64 {
        self.label[node as usize]
    }

    /// Whether the order has `source` before `target`.
    pub fn is_before(&self, source: u32, target: u32) -> bool {
        self.label(source) < self.label(target)
    }

    /// Puts `source` before `target`. Otherwise nothing has changed, and a link between them would close a cycle:
    /// [`cycle`](Self::cycle) has its nodes.
    pub fn put_before(&mut self, structure: &Structure, source: u32, target: u32) -> Result<bool> {
        let (low, high) = (self.label(target), self.label(source));
        let node = structure.node(source);
        if source != target && node.inputs().all(|input| structure.source_node(input) == NONE) {
            self.lowest -= 1;
            self.label[source as usize] = self.lowest;
            return Ok(true);
        }
        if source != target && next_nodes(structure, target).next().is_none() {
            self.highest += 1;
            self.label[target as usize] = self.highest;
            return Ok(true);
        }
        self.reserve_search()?;
        if source == target {
            self.parent[target as usize] = NONE;
            return Ok(false);
        }
        if !self.search_forward(structure, target, source, high) {
            return Ok(false);
        }
        self.search_backward(structure, source, low);
        self.reorder();
        Ok(true)
    }

    /// The cycle of the last refused link, from its target to its source.
    pub fn cycle(&self, source: u32) -> impl Iterator<Item = u32> + '_ {
        // Parents lead from the source back to the target; the caller wants them in the direction of the links.
        std::iter::successors(Some(source), |&node| {
            let parent = self.parent[node as usize];
            (parent != NONE).then_some(parent)
        })
    }

    fn visit(&mut self, node: u32, parent: u32) -> bool {
        let is_new = self.visited[node as usize] != self.search;
        if is_new {
            self.visited[node as usize] = self.search;
            self.parent[node as usize] = parent;
            self.work += 1;
        }
        is_new
    }

    fn start_search(&mut self) {
        self.search = self.search.wrapping_add(1);
        if self.search == 0 {
            self.visited.fill(0);
            self.search = 1;
        }
    }

    /// Collects what depends on `target`, up to the label `high` of `source`. `false`: `source` does.
    fn search_forward(&mut self, structure: &Structure, target: u32, source: u32, high: i64) -> bool {
        self.start_search();
        self.forward.clear();
        self.visit(target, NONE);
        self.forward.push(target);
        let mut at = 0;
        while let Some(&node) = self.forward.get(at) {
            at += 1;
            for next in next_nodes(structure, node) {
                if next == source {
                    self.parent[source as usize] = node;
                    return false;
                }
                if self.label(next) < high && self.visit(next, node) {
                    self.forward.push(next);
                }
            }
        }
        true
    }

    /// Collects what `source` depends on, down to the label `low` of the target.
    fn search_backward(&mut self, structure: &Structure, source: u32, low: i64) {
        self.start_search();
        self.backward.clear();
        self.visit(source, NONE);
        self.backward.push(source);
        let mut at = 0;
        while let Some(&node) = self.backward.get(at) {
            at += 1;
            for input in structure.node(node).inputs() {
                let previous = structure.source_node(input);
                if previous != NONE && self.label(previous) > low && self.visit(previous, node) {
                    self.backward.push(previous);
                }
            }
        }
    }

    /// Gives the labels of all collected nodes to those before the link first, then to those behind it.
    fn reorder(&mut self) {
        let Self { label, forward, backward, labels, .. } = self;
        for list in [&mut *backward, &mut *forward] {
            sort_numbers(list, &mut |one, other| label[one as usize].cmp(&label[other as usize]));
        }
        // Both lists are in order, so their labels merge.
        labels.clear();
        let (mut before, mut behind) = (backward.iter().peekable(), forward.iter().peekable());
        let of = |node: &u32| label[*node as usize];
        loop {
            let from_before = match (before.peek(), behind.peek()) {
                (Some(a), Some(b)) => of(a) < of(b),
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => break,
            };
            labels.extend(if from_before { before.next() } else { behind.next() }.map(of));
        }
        for (&node, &new) in backward.iter().chain(&*forward).zip(&*labels) {
            label[node as usize] = new;
        }
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        (self.label.capacity() + self.labels.capacity()) * 8
            + (self.visited.capacity() + self.parent.capacity() + self.forward.capacity() + self.backward.capacity())
                * 4
    }
}

/// The nodes that read outputs of a node in the same frame.
fn next_nodes(structure: &Structure, node: u32) -> impl Iterator<Item = u32> + '_ {
    let inputs = structure.node(node).outputs().flat_map(|output| structure.dependants(output));
    inputs.filter(|&input| structure.kind(input) & FEEDBACK == 0).map(|input| structure.reader(input))
}
