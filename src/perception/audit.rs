//! Finds cognitions that depend on more than they declare: some results that were taken over are computed again.

use super::cognition::Cognition;
use super::{Perception, tree};
use crate::base::{Result, Text};

/// A result that was taken over although it had changed.
#[derive(Clone, Copy, Debug)]
pub struct Finding {
    /// The node.
    pub node: u32,
    /// The frame in which it was found.
    pub frame: u64,
    /// The name of the cognition.
    pub cognition: Text<64>,
}

/// Which results are checked, and what was found.
#[derive(Debug, Default)]
pub struct Audit {
    /// Runs that may be spent.
    credit: f64,
    /// The node to look at next.
    next: u32,
    findings: u64,
    last: Option<Finding>,
    /// By node: it was found, and is never taken over again.
    found: Vec<bool>,
}

impl Audit {
    pub fn grow(&mut self, nodes: usize) -> Result<()> {
        self.found.try_reserve(nodes.saturating_sub(self.found.len()))?;
        while self.found.len() < nodes {
            self.found.push(false);
        }
        Ok(())
    }

    pub fn forget(&mut self, node: u32) {
        self.found[node as usize] = false;
    }

    /// Cognitions that were found, and the last of them.
    pub fn findings(&self) -> (u64, Option<Finding>) {
        (self.findings, self.last)
    }
}

/// Most runs that are saved up.
const MOST_CREDIT: f64 = 4.0;

impl<C: Cognition> Perception<C> {
    /// Check some of the results that were taken over.
    pub(super) fn audit(&mut self) {
        let share = self.options.audit_share;
        let nodes = self.tree.places() as u32;
        if share == 0.0 || nodes == 0 {
            return;
        }
        let in_use = self.tree.nodes().count() as f64;
        self.audit.credit = (self.audit.credit + share * in_use).min(MOST_CREDIT.max(share * in_use));
        let now = self.frames.number();
        for _ in 0..nodes {
            if self.audit.credit < 1.0 {
                break;
            }
            let at = self.audit.next;
            self.audit.next = (at + 1) % nodes;
            let is_checked =
                self.tree.cognition_of(at).is_some_and(|cognition| self.tree.entry_at(cognition).is_host());
            if !is_checked || !self.table.is_grafted(at, now) {
                continue;
            }
            self.audit.credit -= 1.0;
            if self.check(at) {
                self.accuse(at);
            }
        }
    }

    /// A cognition lied about its regions: its results are not taken over any more.
    fn accuse(&mut self, at: u32) {
        let name = self.tree.entry(self.tree.node(at)).name.as_str();
        let finding =
            Finding { node: at, frame: self.frames.number(), cognition: Text::format(format_args!("{name}")) };
        self.audit.findings += 1;
        self.audit.last = Some(finding);
        // All nodes of that cognition, and all that depend on them.
        let cognition = self.tree.cognition_of(at);
        for node in 0..self.tree.places() as u32 {
            if self.tree.cognition_of(node) == cognition {
                self.distrust(node);
            }
        }
    }

    fn distrust(&mut self, node: u32) {
        self.audit.found[node as usize] = true;
        self.table.distrust(node);
        for at in 0..self.tree.places() as u32 {
            let Some(_) = self.tree.cognition_of(at) else { continue };
            let reads = self.tree.node(at).inputs.iter().any(|input| input.source == tree::Source::Node(node));
            if reads && !self.audit.found[at as usize] {
                self.distrust(at);
            }
        }
    }

    /// Cognitions that the audit found, and the last of them.
    pub fn findings(&self) -> (u64, Option<Finding>) {
        self.audit.findings()
    }
}
