//! Finds cognitions that depend on more than they declare: some results that were taken over are computed again.

use super::Perception;
use super::cognition::Cognition;
use super::tree::{Input, Source};
use super::work::{Run, read};
use crate::base::{Level, host_log};

/// The state of the checks.
#[derive(Debug, Default)]
pub struct Audit {
    /// Runs that may be spent.
    credit: f64,
    /// The node to look at next.
    next: u32,
}

/// Most runs that are saved up.
const MOST_CREDIT: f64 = 4.0;

impl<C: Cognition> Perception<C> {
    /// Take over some results, and check them.
    pub(super) fn audit(&mut self) {
        let share = self.options.audit_share;
        let nodes = self.tree.places() as u32;
        if share == 0.0 || nodes == 0 {
            return;
        }
        let in_use = self.tree.nodes().count() as f64;
        self.audit.credit = (self.audit.credit + share * in_use).min(MOST_CREDIT.max(share * in_use));
        for _ in 0..nodes {
            if self.audit.credit < 1.0 {
                break;
            }
            let at = self.audit.next % nodes;
            self.audit.next = at + 1;
            if self.tree.cognition_of(at).is_some() && self.entry_of(at).is_host() && self.can_check(at) {
                self.audit.credit -= 1.0;
                self.check(at);
            }
        }
    }

    /// Whether the result of a node can be taken over, and it would see what it saw. Else a difference proves nothing:
    /// an input whose pixels changed elsewhere may be to blame.
    fn can_check(&mut self, at: u32) -> bool {
        if !self.graft(at) {
            return false;
        }
        (0..self.tree.node(at).inputs.len()).all(|index| match self.tree.node(at).inputs[index].source {
            Source::Frame => true,
            Source::Node(source) if self.is_built_in(source) => {
                self.update(source);
                true
            }
            Source::Node(source) => self.graft(source) && self.scene().has_seen(at, index, source),
        })
    }

    /// Whether a node and all that it needs are built-in operators.
    fn is_built_in(&self, at: u32) -> bool {
        let is_built_in = |input: &Input| match input.source {
            Source::Frame => true,
            Source::Node(source) => self.is_built_in(source),
        };
        !self.entry_of(at).is_host() && self.tree.node(at).inputs.iter().all(is_built_in)
    }

    /// Run a node again although its result was taken over. If the result differs, its cognition lied about its regions.
    fn check(&mut self, at: u32) {
        let executor = self.executor.clone();
        self.scene().run(at, &Run { age: 0, executor: &executor, is_alone: true });
        self.counters.audit_runs += 1;
        let outcome = read(&self.works[at as usize]).outcome;
        let old = self.table.slots[at as usize].span;
        let is_same = old.is_failed == outcome.is_failed
            && !outcome.is_image_changed
            && (outcome.is_failed || self.entry_of(at).action.is_equal(old.value, outcome.value));
        if !is_same {
            self.accuse(at);
        }
        // If it is the same, the old one stays.
        self.store(at, &outcome);
    }

    /// All results of a cognition, and all that depend on them, are not taken over any more.
    fn accuse(&mut self, at: u32) {
        let cognition = self.tree.node(at).cognition;
        let name = self.tree.entry_at(cognition).name.as_str();
        host_log(
            Level::Warning,
            format_args!(
                "the cognition \"{name}\" depends on more than it declares: its results are not taken over any more"
            ),
        );
        self.tree.accuse(cognition);
        for node in 0..self.tree.places() as u32 {
            if self.tree.cognition_of(node) == Some(cognition) {
                self.distrust(node);
            }
        }
    }

    fn distrust(&mut self, node: u32) {
        if !std::mem::take(&mut self.places[node as usize].is_pure) {
            return;
        }
        self.table.distrust(node, self.frames.number());
        for at in 0..self.tree.places() as u32 {
            let reads = |input: &Input| input.source == Source::Node(node);
            if self.tree.cognition_of(at).is_some() && self.tree.node(at).inputs.iter().any(reads) {
                self.distrust(at);
            }
        }
    }
}
