//! Results of past frames, and consensus: whether the last frames agree.

use super::cognition::Cognition;
use super::table::Span;
use super::tree::Source;
use super::work::{Run, read};
use super::{Answer, Perception};
use crate::base::{Id, Result, error};

impl<C: Cognition> Perception<C> {
    /// The result of a node that is up to date, if the last `frames` frames agree.
    pub(super) fn agreed(&mut self, node: u32, frames: u32) -> Result<Answer> {
        let now = self.frames.number();
        loop {
            let slot = self.table.slots[node as usize];
            if slot.span.is_failed {
                return Ok(Answer::Failed);
            }
            if now - slot.span.first + 1 >= u64::from(frames) {
                return Ok(Answer::Value(slot.span.value, slot.span.first));
            }
            if slot.is_run_known {
                // The frame before has another result, unless it is known to be equal.
                let before = self.table.at(node, slot.span.first - 1);
                if !before.is_some_and(|before| self.means_same(node, before, slot.span)) {
                    return Ok(Answer::Differs);
                }
            }
            if slot.span.first <= 1 {
                return Ok(Answer::Unknown);
            }
            match self.known(node, slot.span.first - 1)? {
                None => return Ok(Answer::Unknown),
                Some(before) if self.means_same(node, before, slot.span) => {
                    let Self { table, tree, .. } = self;
                    let entry = tree.entry(tree.node(node));
                    table.join(node, &mut |value| entry.release(value));
                }
                Some(_) => self.table.end_run(node),
            }
        }
    }

    fn means_same(&self, node: u32, one: Span, other: Span) -> bool {
        let entry = self.tree.entry(self.tree.node(node));
        !one.is_failed && !other.is_failed && entry.action.is_equal(one.value, other.value)
    }

    /// The result of a pipeline `age` frames ago. It is computed if it was not then, and the pixels are kept.
    pub fn query_past(&mut self, id: Id, age: u32) -> Result<Answer> {
        let node = self.pipeline(id)?.node;
        let now = self.frames.number();
        let history = self.options.frames.history;
        if age as usize > history {
            return Err(error!(LimitExceeded, "{history} past frames are kept: raise the history of the perception"));
        }
        let Some(frame) = now.checked_sub(age.into()).filter(|&frame| frame > 0) else { return Ok(Answer::Unknown) };
        if !self.places[node as usize].is_placed {
            return Ok(Answer::Unknown);
        }
        if age == 0 {
            self.update(node);
        }
        Ok(match self.known(node, frame)? {
            Some(span) if span.is_failed => Answer::Failed,
            Some(span) => Answer::Value(span.value, span.first),
            None => Answer::Unknown,
        })
    }

    /// The result of a node in a frame that is kept: stored, or computed now. `None`: it cannot be known.
    fn known(&mut self, node: u32, frame: u64) -> Result<Option<Span>> {
        if let Some(span) = self.table.at(node, frame) {
            return Ok(Some(span));
        }
        let now = self.frames.number();
        let age = now - frame;
        let can = self.table.slots[node as usize].is_graftable
            && self.places[node as usize].is_exact()
            && age <= self.options.frames.history as u64
            && self.table.known_since(node, &self.frames) <= frame;
        if !can {
            return Ok(None);
        }
        let is_failed = !self.run_past(node, age as usize)?;
        let value = read(&self.works[node as usize]).outcome.value;
        // It holds from the last change up to the next one.
        let changes = self.table.changes(node, &self.frames);
        let first = (age..64).find(|&k| changes >> k & 1 == 1).map_or(frame, |k| now.saturating_sub(k).max(1));
        let last = (0..age).rev().find(|&k| changes >> k & 1 == 1).map_or(frame, |k| now - k - 1);
        // Between the results that are known already.
        let newest = self.table.slots[node as usize].span.first;
        let span = Span { value, first: first.min(frame), last: last.min(newest - 1).max(frame), is_failed };
        if !self.table.put_past(node, span) && !is_failed {
            let entry = self.tree.entry(self.tree.node(node));
            entry.release(value);
            return Ok(None);
        }
        Ok(Some(span))
    }

    /// Compute a node, and first all that it needs, on the pixels of a past frame. False: it failed.
    fn run_past(&mut self, node: u32, age: usize) -> Result<bool> {
        let inputs = self.tree.node(node).inputs.len();
        for index in 0..inputs {
            let Source::Node(source) = self.tree.node(node).inputs[index].source else { continue };
            if !self.run_past(source, age)? {
                return Ok(false);
            }
        }
        self.scene().prepare_past(node)?;
        let executor = self.executor.clone();
        self.scene().run(node, &Run { age, executor: &executor, is_alone: true });
        self.counters.runs += 1;
        self.counters.past_runs += 1;
        let outcome = read(&self.works[node as usize]).outcome;
        self.counters.operations += outcome.operations;
        Ok(!outcome.is_failed)
    }
}
