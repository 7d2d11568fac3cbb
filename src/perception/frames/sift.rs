//! The passes of one frame: the hints decide which tiles are compared. Where a hint lies, a second pass compares the others.

use super::options::{Hints, Trust};
use super::pass::{self, Input, Last, Output, Work};
use super::tiles::Tiles;
use crate::executor::Executor;
use crate::perception::image::{Image, View, ViewMut};

/// Under [`Trust::Audit`] each tile is compared once in each period of so many frames, so at least once in any 31. Its turn
/// within the period is as good as random, because pixels may change in a rhythm.
const AUDIT_PERIOD: u64 = 16;

/// The results of the passes of one frame.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) work: Work,
    pub(super) compared_tiles: u64,
    pub(super) lies: u64,
    pub(super) is_parallel: bool,
}

/// The images that a frame is compared with and copied to.
pub(super) enum Images<'a> {
    /// There is nothing to compare with: copy all into the target.
    Fresh(&'a mut Image),
    /// The last frame and the target, into which the new one is written.
    Flip(&'a mut Image, &'a mut Image),
    /// The last frame, over which the new one is written, and the target of the old pixels.
    Replace(&'a mut Image, &'a mut Image),
    /// The host's last frame. Nothing is copied.
    Host(Option<View<'a>>),
}

impl Images<'_> {
    fn for_pass(&mut self) -> (Last<'_>, Option<ViewMut<'_>>) {
        match self {
            Self::Fresh(target) => (Last::None, Some(target.view_mut())),
            Self::Flip(last, target) => (Last::Read(last.view()), Some(target.view_mut())),
            Self::Replace(last, target) => (Last::Replace(last.view_mut()), Some(target.view_mut())),
            Self::Host(last) => (last.map_or(Last::None, Last::Read), None),
        }
    }

    /// The last frame, after the pass. `None`: the frame was not compared.
    pub(super) fn last(&self) -> Option<View<'_>> {
        match self {
            Self::Fresh(_) => None,
            Self::Flip(last, _) => Some(last.view()),
            Self::Replace(_, target) => Some(target.view()),
            Self::Host(last) => *last,
        }
    }
}

/// Decides by the hints which tiles a pass compares.
pub(super) struct Sift<'a> {
    /// Whether tiles without a hint are taken as unchanged.
    pub(super) trusts: bool,
    pub(super) hints: &'a Hints<'a>,
}

impl Sift<'_> {
    pub(super) fn run(
        &self,
        input: &mut Input<'_>,
        tiles: &mut Tiles,
        images: &mut Images<'_>,
        executor: &Executor,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        let is_compared = images.last().is_some();
        let mut pass = |input: &Input<'_>, tiles: &mut Tiles, outcome: &mut Outcome| {
            if is_compared {
                let left = input.plan.watched.iter().zip(&tiles.skip).map(|(watched, skip)| watched & !skip);
                outcome.compared_tiles += left.map(|word| u64::from(word.count_ones())).sum::<u64>();
            }
            let Tiles { dirty, skip, changed_at, line_changed_at, masks, masks_at, .. } = tiles;
            let (last, target) = images.for_pass();
            let output = Output { last, target, dirty, skip, changed_at, line_changed_at, masks, masks_at };
            let (work, is_parallel) = pass::run(input, output, executor);
            outcome.work.add(work);
            outcome.is_parallel |= is_parallel;
        };
        if !is_compared {
            tiles.dirty.copy_from_slice(&input.plan.watched);
            pass(input, tiles, &mut outcome);
            return outcome;
        }
        let is_audited = self.start(input, tiles);
        pass(input, tiles, &mut outcome);
        outcome.lies = if is_audited { tiles.lies() } else { 0 };
        if outcome.lies > 0 {
            tiles.skip.copy_from_slice(&tiles.dirty);
            input.is_second = true;
            pass(input, tiles, &mut outcome);
        }
        outcome
    }

    /// Mark the tiles that need no compare. Returns whether others are taken as unchanged.
    fn start(&self, input: &Input<'_>, tiles: &mut Tiles) -> bool {
        let Hints { dirty, moves, trust } = *self.hints;
        tiles.dirty.copy_from_slice(&tiles.first_seen);
        let is_used = self.trusts || trust == Trust::Compare;
        let rects = dirty.filter(|_| is_used);
        rects.unwrap_or_default().iter().for_each(|&rect| tiles.take_as_dirty(input.plan, rect));
        tiles.skip.copy_from_slice(&tiles.dirty);
        let Some(rects) = rects.filter(|_| self.trusts) else { return false };
        tiles.hinted.fill(0);
        rects.iter().for_each(|&rect| tiles.hint(input.plan, rect));
        moves.iter().for_each(|shift| tiles.hint(input.plan, shift.target()));
        tiles.skip_unhinted(input.number, AUDIT_PERIOD);
        true
    }
}
