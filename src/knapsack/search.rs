//! Depth-first search of the core.
//!
//! A node is a set of changes; the other classes stay at their picks. So every node is an answer, or overdraws. Its
//! children make one more change, of a class at a greater depth. The possible gain of a node shrinks from change to
//! change. So a node ends at the first change whose bound doesn't exceed the cut. Needs memory for one path only.
//!
//! The core's linear constraint serves a whole interval of deviations. From one node only few of them can be reached,
//! so each node has its own secant ([`Core::slack_nearby`]).

use super::budget::Budget;
use super::core::Core;
use super::incumbent::{Case, Incumbent};
use super::input::{Totals, lesser};
use super::{bytes, reserve_total};
use crate::base::Result;

#[derive(Clone, Copy, Debug)]
struct Node {
    totals: Totals,
    /// The room left to changes, at most.
    slack: f64,
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

    /// Explore the core for answers worth more than `floor`. Returns whether all of it was explored within `most_nodes`
    /// and the budget.
    #[allow(clippy::too_many_arguments)]
    pub fn search(
        &mut self,
        case: &Case,
        core: &Core,
        picks: &[u32],
        start: Totals,
        stake: f64,
        floor: f64,
        most_nodes: u64,
        scratch: &mut Vec<u32>,
        incumbent: &mut Incumbent,
        budget: &mut Budget,
    ) -> bool {
        let mut cut = incumbent.cut(case, stake).max(floor);
        let mut nodes = 0;
        let is_scalar = case.is_scalar();
        self.path.clear();
        self.path.push(Node { totals: start, slack: core.slack(start), next: 0 });
        while let Some(node) = self.path.last_mut() {
            let next = node.next;
            if !core.exceeds_in(node.slack, node.totals.value, next, cut) {
                self.path.pop();
                continue;
            }
            let (change, end) = (core.changes[next as usize], core.ends[next as usize]);
            let totals = node.totals.plus(change.by);
            let slack = node.slack - core.weight(change.by);
            node.next += 1;
            nodes += 1;
            // Either condition often holds, both rarely do.
            if (totals.value > incumbent.value) & case.may_fit(totals) && case.fits(totals) {
                self.offer(case, core, picks, totals, scratch, incumbent);
                cut = incumbent.cut(case, stake).max(floor);
            }
            if core.exceeds_in(slack, totals.value, end, cut) {
                let slack = if is_scalar { slack } else { lesser(core.slack_nearby(case, totals, end), slack) };
                if core.exceeds_in(slack, totals.value, end, cut) {
                    self.path.push(Node { totals, slack, next: end });
                }
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
