//! Results of past frames, and consensus: whether the last frames agree.

use super::cognition::Cognition;
use super::frames::MAX_HISTORY;
use super::table::Span;
use super::tree::Source;
use super::work::{Run, read, write};
use super::{Answer, Perception};
use crate::base::{Id, Result, Value, error};

impl<C: Cognition> Perception<C> {
    /// The result of a node that is up to date, if the last `frames` frames agree.
    pub(super) fn agreed(&mut self, node: u32, frames: u32) -> Result<Answer> {
        let now = self.frames.number();
        loop {
            let span = self.table.slots[node as usize].span;
            if span.is_failed {
                return Ok(Answer::Failed);
            }
            let agrees = now - span.first + 1 >= u64::from(frames);
            // All known results belong to the run. Only the frames that are asked for are computed.
            let before = if agrees { self.stored(node, span.first - 1) } else { self.known(node, span.first - 1)? };
            match before {
                None if !agrees => return Ok(Answer::Unknown),
                Some(before) if !before.is_failed && self.entry_of(node).action.is_equal(before.value, span.value) => {
                    self.table.join(node, before.first);
                }
                Some(_) if !agrees => return Ok(Answer::Differs),
                _ => return Ok(Answer::Value(span.value, span.first)),
            }
        }
    }

    /// The result of a pipeline `age` frames ago. It is computed if it was not then, and the pixels are kept.
    pub fn query_past(&mut self, id: Id, age: u32) -> Result<Answer> {
        let node = self.pipeline(id)?.node;
        let history = self.options.frames.history;
        if age as usize > history {
            return Err(error!(LimitExceeded, "{history} past frames are kept: raise the history of the perception"));
        }
        if !self.can_answer(node) {
            return Ok(Answer::Unknown);
        }
        if age == 0 {
            self.update(node);
        }
        let frame = self.frames.number().saturating_sub(age.into());
        Ok(match self.known(node, frame)? {
            Some(span) if span.is_failed => Answer::Failed,
            Some(span) => Answer::Value(span.value, span.first),
            // It fails in each frame of this shape.
            None if frame >= self.frames.first() && self.places[node as usize].problem.is_some() => Answer::Failed,
            None => Answer::Unknown,
        })
    }

    /// The result of a node in a frame that is kept: stored, or computed now. `None`: it cannot be known.
    fn known(&mut self, node: u32, frame: u64) -> Result<Option<Span>> {
        if frame == 0 {
            return Ok(None);
        }
        if let Some(span) = self.stored(node, frame) {
            return Ok(Some(span));
        }
        let age = self.frames.number() - frame;
        let can = self.table.slots[node as usize].is_graftable
            && self.places[node as usize].is_exact
            && age <= self.options.frames.history as u64
            && self.table.known_since(node, &self.frames) <= frame;
        if !can {
            return Ok(None);
        }
        self.run_past(node, age as usize)?;
        Ok(self.stored(node, frame))
    }

    /// The result of a node in a frame, if it is stored for that frame, or for one with the same pixels.
    fn stored(&self, node: u32, frame: u64) -> Option<Span> {
        if let Some(span) = self.table.at(node, frame) {
            return Some(span);
        }
        let is_remembered = self.frames.number() - frame <= MAX_HISTORY as u64;
        if !is_remembered
            || !self.table.slots[node as usize].is_graftable
            || self.table.known_since(node, &self.frames) > frame
        {
            return None;
        }
        let (first, last) = self.unchanged(node, frame);
        let span = self.table.between(node, first, last)?;
        Some(Span { first: first.min(span.first), last: last.max(span.last), ..span })
    }

    /// The frames around a past one in which nothing changed on which a node depends. The present one is not of them. The
    /// past one is at most [`MAX_HISTORY`] frames old.
    fn unchanged(&self, node: u32, frame: u64) -> (u64, u64) {
        let now = self.frames.number();
        let (age, changes) = (now - frame, self.table.changes(node, &self.frames));
        let first = (age..64).find(|&k| changes >> k & 1 == 1).map_or(frame, |k| now - k);
        let last = (0..age).rev().find(|&k| changes >> k & 1 == 1).map_or(now, |k| now - k);
        (first, last - 1)
    }

    /// Compute a node, and first all that it needs, on the pixels of a past frame. False: it failed.
    fn run_past(&mut self, node: u32, age: usize) -> Result<bool> {
        let frame = self.frames.number() - age as u64;
        {
            let work = read(&self.works[node as usize]);
            if work.past_frame == frame {
                return Ok(!work.is_past_failed);
            }
        }
        let known = self.stored(node, frame);
        if let Some(span) = known.filter(|span| span.is_failed || self.places[node as usize].shape.is_none()) {
            self.note_past(node, frame, span.value, span.is_failed);
            return Ok(!span.is_failed);
        }
        let mut is_failed = self.places[node as usize].problem.is_some();
        for index in 0..self.tree.node(node).inputs.len() {
            let Source::Node(source) = self.tree.node(node).inputs[index].source else { continue };
            is_failed |= !self.run_past(source, age)?;
        }
        let mut value = Value::default();
        if !is_failed {
            self.scene().prepare_past(node)?;
            let executor = self.executor.clone();
            self.scene().run(node, &Run { age, executor: &executor, is_alone: true });
            let outcome = read(&self.works[node as usize]).outcome;
            self.counters.runs += 1;
            self.counters.past_runs += 1;
            self.counters.operations += outcome.operations;
            (value, is_failed) = (outcome.value, outcome.is_failed);
        }
        let value = self.store_past(node, frame, known, Span { value, is_failed, first: frame, last: frame });
        self.note_past(node, frame, value, is_failed);
        Ok(!is_failed)
    }

    /// Give the result of a past frame to the table. The value that the table holds for that frame.
    fn store_past(&mut self, node: u32, frame: u64, known: Option<Span>, new: Span) -> Value {
        // Of an image that is made pixel by pixel only the pixels that are needed are known, and its value is nothing.
        let is_kept = known.is_none() && self.table.known_since(node, &self.frames) <= frame;
        let (first, last) = self.unchanged(node, frame);
        let oldest = self.oldest();
        let Self { table, tree, .. } = self;
        let entry = tree.entry(tree.node(node));
        if is_kept {
            table.keep(node, Span { first, last, ..new }, oldest, &mut |value| entry.release(value));
        } else if !new.is_failed {
            entry.release(new.value);
        }
        known.or_else(|| table.at(node, frame)).map_or(Value::default(), |span| span.value)
    }

    fn note_past(&self, node: u32, frame: u64, value: Value, is_failed: bool) {
        let mut work = write(&self.works[node as usize]);
        (work.past_frame, work.past_value, work.is_past_failed) = (frame, value, is_failed);
    }
}
