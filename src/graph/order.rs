//! The order of nodes while links are edited: an answer to "would this link close a cycle?" that looks at few nodes.
//!
//! Every node has a label, and each link leads from a smaller to a greater label. A link that agrees costs nothing. For
//! another link, two searches take turns: the backward search from its source, and the forward search from its target,
//! both among the labels between these two nodes. If they meet, the link would close a cycle. Otherwise the nodes of
//! the search that ends first move: before the target, or behind the source, where labels are free. So an edit looks at
//! few nodes if its source has few ancestors or its target has few descendants. A node without inputs may move to the
//! very front, and a node without dependants to the very end. So graphs that are built from either end cost nothing as
//! well.
//!
//! Sources: D. J. Pearce and P. H. J. Kelly, "A Dynamic Topological Sort Algorithm for Directed Acyclic Graphs" (2006), for
//! the bounds; M. A. Bender, J. T. Fineman, S. Gilbert and R. E. Tarjan, "A New Approach to Incremental Cycle Detection and
//! Related Problems" (2015), for the searches from both ends.

use super::structure::{FEEDBACK, NONE, Structure, put, try_reserve_to};
use crate::base::{Result, sort_numbers};

/// The distance of labels of nodes that are added one after the other. At least 32 nodes find room at the same place then
/// before others must move. Tests use all labels up often.
const SPACING: i64 = if cfg!(test) { 4 } else { 1 << 32 };
/// Labels beyond it, or below its negative, are given anew before any more are.
const FARTHEST: i64 = 1 << 61;

/// The labels, and memory for a search.
#[derive(Default)]
pub struct Order {
    label: Vec<i64>,
    lowest: i64,
    highest: i64,
    /// The number of the search that visited a node last.
    visited: Vec<u32>,
    /// The node from which a node was reached.
    parent: Vec<u32>,
    /// The last number of a search.
    last_search: u32,
    forward: Search,
    backward: Search,
    /// Nodes looked at by all searches.
    pub work: u64,
}

/// A search from one end of a link.
#[derive(Default)]
struct Search {
    number: u32,
    /// The nodes that it has found.
    nodes: Vec<u32>,
    /// The first of these whose links were not looked at.
    next: usize,
    /// Links that were looked at.
    links: usize,
}

/// The end of a link that a search starts from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// It finds the ancestors of the source.
    Source,
    /// It finds the descendants of the target.
    Target,
}

impl End {
    fn other(self) -> Self {
        if self == Self::Source { Self::Target } else { Self::Source }
    }
}

impl Search {
    fn start(&mut self, number: u32) {
        self.nodes.clear();
        (self.number, self.next, self.links) = (number, 0, 0);
    }

    fn is_over(&self) -> bool {
        self.next == self.nodes.len()
    }
}

impl Order {
    /// Makes room for nodes below this number.
    pub fn reserve(&mut self, nodes: usize) -> Result<()> {
        try_reserve_to(&mut self.label, nodes)
    }

    /// Makes sure that there is a label for another node.
    #[inline]
    pub fn reserve_label(&mut self) -> Result<()> {
        if self.highest < FARTHEST && self.lowest > -FARTHEST { Ok(()) } else { self.reserve_labels() }
    }

    #[cold]
    #[inline(never)]
    fn reserve_labels(&mut self) -> Result<()> {
        self.reserve_search()?;
        self.renumber(NONE);
        Ok(())
    }

    /// Adds the node at a position for which there is room, behind all others.
    pub fn add(&mut self, position: usize) {
        self.highest += SPACING;
        put(&mut self.label, position, self.highest);
    }

    /// Makes room for a search. Graphs that are built in order never search.
    fn reserve_search(&mut self) -> Result<()> {
        // As much room as the labels have, so that it seldom grows.
        let count = self.label.capacity();
        try_reserve_to(&mut self.visited, count)?;
        try_reserve_to(&mut self.parent, count)?;
        for search in [&mut self.forward, &mut self.backward] {
            search.start(0);
            try_reserve_to(&mut search.nodes, count)?;
        }
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
        self.reserve_label()?;
        if self.is_before(source, target) {
            return Ok(true);
        }
        if source != target && previous_nodes(structure, source).next().is_none() {
            self.lowest -= SPACING;
            self.label[source as usize] = self.lowest;
            return Ok(true);
        }
        if source != target && next_nodes(structure, target).next().is_none() {
            self.highest += SPACING;
            self.label[target as usize] = self.highest;
            return Ok(true);
        }
        self.reserve_search()?;
        if source == target {
            self.parent[target as usize] = NONE;
            return Ok(false);
        }
        let Some(first) = self.search(structure, source, target) else { return Ok(false) };
        let other = first.other();
        if !self.move_found(structure, first, source, target) {
            while !self.search_of(other).is_over() {
                self.look(structure, other, source, target);
            }
            if !self.move_found(structure, other, source, target) {
                self.renumber(target);
            }
        }
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

    fn search_of(&mut self, end: End) -> &mut Search {
        if end == End::Source { &mut self.backward } else { &mut self.forward }
    }

    /// Searches from both ends in turns. Returns the end whose search is over. `None`: they have met.
    fn search(&mut self, structure: &Structure, source: u32, target: u32) -> Option<End> {
        if self.last_search >= u32::MAX - 2 {
            self.visited.fill(0);
            self.last_search = 0;
        }
        for (end, node) in [(End::Source, source), (End::Target, target)] {
            self.last_search += 1;
            let number = self.last_search;
            self.search_of(end).start(number);
            self.visit(end, node, NONE);
        }
        loop {
            // The search that has looked at fewer links goes on.
            let end = if self.backward.links <= self.forward.links { End::Source } else { End::Target };
            if let Some((before, behind)) = self.look(structure, end, source, target) {
                self.join(before, behind, source);
                return None;
            }
            if self.search_of(end).is_over() {
                return Some(end);
            }
        }
    }

    /// Looks at the links of the next node of a search. Returns the link by which the other search is met.
    fn look(&mut self, structure: &Structure, end: End, source: u32, target: u32) -> Option<(u32, u32)> {
        let (low, high) = (self.label(target), self.label(source));
        let search = self.search_of(end);
        let node = search.nodes[search.next];
        search.next += 1;
        let others: &mut dyn Iterator<Item = u32> = match end {
            End::Source => &mut previous_nodes(structure, node),
            End::Target => &mut next_nodes(structure, node),
        };
        for other in others {
            let is_within = if end == End::Source { self.label(other) > low } else { self.label(other) < high };
            self.search_of(end).links += 1;
            let number = self.visited[other as usize];
            if number == self.search_of(end.other()).number {
                return Some(if end == End::Source { (other, node) } else { (node, other) });
            }
            if is_within && number != self.search_of(end).number {
                self.visit(end, other, node);
            }
        }
        None
    }

    fn visit(&mut self, end: End, node: u32, parent: u32) {
        self.visited[node as usize] = self.search_of(end).number;
        self.parent[node as usize] = parent;
        self.search_of(end).nodes.push(node);
        self.work += 1;
    }

    /// Lets parents lead from the source back to the target, over the link by which the searches have met.
    fn join(&mut self, mut before: u32, mut behind: u32, source: u32) {
        while behind != source {
            let next = std::mem::replace(&mut self.parent[behind as usize], before);
            (before, behind) = (behind, next);
        }
        self.parent[source as usize] = before;
    }

    /// Moves what a search has found before the target, or behind the source. `false`: there are too few labels.
    fn move_found(&mut self, structure: &Structure, end: End, source: u32, target: u32) -> bool {
        let search = self.search_of(end);
        let (number, mut nodes) = (search.number, std::mem::take(&mut search.nodes));
        let (count, visited, label) = (nodes.len() as i64 + 1, &self.visited, &mut self.label);
        let room = SPACING.saturating_mul(count).min(FARTHEST);
        let is_outside = |node: &u32| visited[*node as usize] != number;
        // Nodes that stay are before or behind those that move.
        let (from, to) = match end {
            End::Source => {
                let to = label[target as usize];
                let stay = nodes.iter().flat_map(|&node| previous_nodes(structure, node)).filter(is_outside);
                (stay.map(|node| label[node as usize]).max().unwrap_or(to - room), to)
            }
            End::Target => {
                let from = label[source as usize];
                let stay = nodes.iter().flat_map(|&node| next_nodes(structure, node)).filter(is_outside);
                (from, stay.map(|node| label[node as usize]).min().unwrap_or(from + room))
            }
        };
        let step = (to - from) / count;
        if step > 0 {
            sort_numbers(&mut nodes, &mut |one, other| label[one as usize].cmp(&label[other as usize]));
            for (&node, at) in nodes.iter().zip(1..) {
                label[node as usize] = from + at * step;
            }
            self.lowest = self.lowest.min(from + step);
            self.highest = self.highest.max(to - step);
        }
        self.search_of(end).nodes = nodes;
        step > 0
    }

    /// Gives all nodes new labels in their order. If there is a target, what the backward search has found moves before
    /// it.
    fn renumber(&mut self, target: u32) {
        let Self { label, visited, backward, forward, .. } = self;
        let low = label.get(target as usize).copied();
        let key = |node: u32| {
            let own = label[node as usize];
            match low {
                // The nodes that move may depend on another node with the label of the target.
                Some(low) if visited[node as usize] == backward.number => (low, 1, own),
                _ => (own, if node == target { 2 } else { 0 }, 0),
            }
        };
        let nodes = &mut forward.nodes;
        nodes.clear();
        nodes.extend(0..label.len() as u32);
        sort_numbers(nodes, &mut |one, other| key(one).cmp(&key(other)));
        let step = SPACING.min(FARTHEST / (2 * label.len() as i64 + 2)).max(1);
        for (&node, at) in nodes.iter().zip(1..) {
            label[node as usize] = at * step;
        }
        (self.lowest, self.highest) = (0, label.len() as i64 * step);
    }

    /// As after so many edits that labels are used up.
    #[cfg(test)]
    pub fn use_labels_up(&mut self) {
        (self.lowest, self.highest) = (self.lowest.min(1 - FARTHEST), FARTHEST - 1);
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        let lists = [&self.visited, &self.parent, &self.forward.nodes, &self.backward.nodes];
        self.label.capacity() * 8 + lists.map(|list| list.capacity() * 4).iter().sum::<usize>()
    }
}

/// The nodes that read outputs of a node in the same frame.
fn next_nodes(structure: &Structure, node: u32) -> impl Iterator<Item = u32> + '_ {
    let inputs = structure.node(node).outputs().flat_map(|output| structure.dependants(output));
    inputs.filter(|&input| structure.kind(input) & FEEDBACK == 0).map(|input| structure.reader(input))
}

/// The nodes that a node reads in the same frame.
fn previous_nodes(structure: &Structure, node: u32) -> impl Iterator<Item = u32> + '_ {
    let sources = structure.node(node).inputs().map(|input| structure.source_node(input));
    sources.filter(|&source| source != NONE)
}
