//! Depth-first search of the core.
//!
//! A node is a set of changes; the other classes stay at their picks. So every node is an answer, or overdraws. Its
//! children make one more change, of a class at a greater depth. The possible gain of a node shrinks from change to
//! change. So a node ends at the first change whose bound doesn't exceed the cut. Needs memory for one path only.

use super::budget::Budget;
use super::core::Core;
use super::incumbent::{Case, Incumbent};
use super::input::Totals;
use super::{bytes, reserve_total};
use crate::base::Result;

#[derive(Clone, Copy, Debug)]
struct Node {
    totals: Totals,
    /// The next change to try.
    next: u32,
}

#[derive(Debug, Default)]
pub(super) struct Search {
    path: Vec<Node>,
}

impl Search {
    pub fn reserve(&mut self, settings: usize) -> Result<()> {
        reserve_total(&mut self.path, settings + 1)
    }

    pub fn memory_used(&self) -> usize {
        bytes(&self.path)
    }

    /// Explore the core. Returns whether all of it was explored within `most_nodes` and the budget.
    #[allow(clippy::too_many_arguments)]
    pub fn search(
        &mut self,
        case: &Case,
        core: &Core,
        picks: &[u32],
        start: Totals,
        stake: f64,
        most_nodes: u64,
        scratch: &mut Vec<u32>,
        incumbent: &mut Incumbent,
        budget: &mut Budget,
    ) -> bool {
        let mut cut = incumbent.cut(case, stake);
        let mut nodes = 0;
        self.path.clear();
        self.path.push(Node { totals: start, next: 0 });
        while let Some(node) = self.path.last_mut() {
            let next = node.next;
            if !core.exceeds(node.totals, next, cut) {
                self.path.pop();
                continue;
            }
            let (change, end) = (core.changes[next as usize], core.ends[next as usize]);
            let totals = node.totals.plus(change.by);
            node.next += 1;
            nodes += 1;
            // Either condition often holds, both rarely do.
            if (totals.value > cut) & case.may_fit(totals) && case.fits(totals) {
                self.offer(case, core, picks, totals, scratch, incumbent);
                cut = incumbent.cut(case, stake);
            }
            if core.exceeds(totals, end, cut) {
                self.path.push(Node { totals, next: end });
            }
            if nodes >= most_nodes {
                budget.charge(nodes);
                return false;
            }
        }
        budget.charge(nodes)
    }

    /// The last change tried at each node of the path is part of the answer.
    fn offer(
        &self,
        case: &Case,
        core: &Core,
        picks: &[u32],
        totals: Totals,
        scratch: &mut Vec<u32>,
        incumbent: &mut Incumbent,
    ) {
        scratch.clear();
        scratch.extend_from_slice(picks);
        for node in &self.path {
            let change = core.changes[node.next as usize - 1];
            scratch[change.class as usize] = change.position;
        }
        incumbent.offer(case, totals, scratch);
    }
}
