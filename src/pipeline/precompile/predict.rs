//! Which pipelines are needed soon: those that followed the pipelines of now in recordings.
//!
//! A play-through visits the areas of a game in another order than the recordings did. But within an area pipelines are
//! first used near each other, in every recording. So a use of a pipeline raises its neighbours in all recordings that
//! saw it: the next ones most, the previous ones less, because the game may have skipped them.
//!
//! A score is a sum of such raises, each halved with every [`Tuning::half_life`] that has passed since. As all scores fade
//! alike, new raises are made larger instead, and no score is touched as time passes.
//!
//! Without a raise, [`prior`] orders: early in many recordings comes first.

use std::collections::HashMap;

use super::entry::Sighting;
use crate::base::{Result, try_push};

/// The constants of the prediction.
struct Tuning {
    /// Frames after which a raise counts half.
    half_life: f64,
    /// Frames of distance in a recording that halve a raise.
    reach: f64,
    /// The share of a raise that a neighbour before the used pipeline gets.
    before: f64,
    /// Most neighbours on each side in a recording.
    neighbours: usize,
    /// Scores below this are forgotten.
    least: f64,
    /// Frames in which a second use of a pipeline teaches nothing.
    rest: u64,
}

/// Chosen on the seeds 1 to 8 of the simulated play-throughs; the benchmark reports other seeds. Halving or doubling one
/// constant makes at most 8 % more first uses unready.
const TUNING: Tuning = Tuning { half_life: 300.0, reach: 150.0, before: 0.5, neighbours: 64, least: 1e-3, rest: 600 };

/// The order without a raise, descending: a hazard of use that counts each recording, the earlier the more.
pub fn prior(first_frame: Option<u64>, sightings: &[Sighting]) -> f64 {
    let hazard = |frame: f64| 1.0 / (frame + 60.0);
    if sightings.is_empty() {
        return first_frame.map_or(0.0, |frame| hazard(frame as f64));
    }
    sightings.iter().map(|seen| hazard(seen.frame.into())).sum()
}

/// The first uses of a recording.
#[derive(Default)]
struct Timeline {
    /// Frame and item, sorted once they are needed.
    uses: Vec<(u32, u32)>,
    is_sorted: bool,
}

#[derive(Clone, Copy, Default)]
struct Score {
    /// In units of the epoch: see [`Predictor::unit`].
    value: f64,
    is_candidate: bool,
    /// One more than the frame of the last use that was learned from.
    used1: u64,
}

/// Scores of all items.
#[derive(Default)]
pub struct Predictor {
    timelines: Vec<Timeline>,
    numbers: HashMap<u32, u32>,
    scores: Vec<Score>,
    /// Items with a score, each once. It has room for all items.
    candidates: Vec<u32>,
    /// The frame at which a raise has its plain size.
    epoch: u64,
}

/// How a candidate is treated.
pub enum Verdict {
    /// It may be chosen.
    Choose,
    /// Another time.
    Keep,
    /// It needs no score any more.
    Drop,
}

impl Predictor {
    /// Make room for one more item.
    pub fn reserve_item(&mut self) -> Result<()> {
        let room = self.scores.len() + 1 - self.candidates.len();
        self.candidates.try_reserve(room)?;
        Ok(self.scores.try_reserve(1)?)
    }

    /// Add an item with the next number. Call [`reserve_item`](Self::reserve_item) before.
    pub fn add_item(&mut self) {
        self.scores.push(Score::default());
    }

    /// Make room for the sightings of an item.
    pub fn reserve_sightings(&mut self, sightings: &[Sighting]) -> Result<()> {
        for seen in sightings {
            if !self.numbers.contains_key(&seen.recording) {
                self.numbers.try_reserve(1)?;
                try_push(&mut self.timelines, Timeline::default())?;
                self.numbers.insert(seen.recording, self.timelines.len() as u32 - 1);
            }
            if let Some(timeline) = self.timeline(seen.recording) {
                timeline.uses.try_reserve(sightings.len())?;
            }
        }
        Ok(())
    }

    /// Add the sightings of an item. Call [`reserve_sightings`](Self::reserve_sightings) before.
    pub fn add_sightings(&mut self, item: u32, sightings: &[Sighting]) {
        for seen in sightings {
            if let Some(timeline) = self.timeline(seen.recording) {
                timeline.uses.push((seen.frame, item));
                timeline.is_sorted = false;
            }
        }
    }

    fn timeline(&mut self, recording: u32) -> Option<&mut Timeline> {
        self.timelines.get_mut(*self.numbers.get(&recording)? as usize)
    }

    /// The factor of a raise at this frame. Rescales all scores before it gets too large.
    fn unit(&mut self, frame: u64) -> f64 {
        let halvings = |frame: u64, epoch: u64| (frame.saturating_sub(epoch)) as f64 / TUNING.half_life;
        let passed = halvings(frame, self.epoch);
        if passed < 200.0 {
            return passed.exp2();
        }
        self.scores.iter_mut().for_each(|score| score.value *= (-passed).exp2());
        self.epoch = frame;
        1.0
    }

    /// Learn from a use of an item, which has these sightings. `is_waiting` tells whether an item can be chosen later.
    pub fn observe(&mut self, item: u32, sightings: &[Sighting], frame: u64, is_waiting: impl Fn(u32) -> bool) {
        let score = &mut self.scores[item as usize];
        if score.used1 > 0 && frame < score.used1 - 1 + TUNING.rest {
            return;
        }
        score.used1 = frame + 1;
        let unit = self.unit(frame) / sightings.len().max(1) as f64;
        let Self { timelines, numbers, scores, candidates, .. } = self;
        for seen in sightings {
            let Some(timeline) = numbers.get(&seen.recording).map(|&number| &mut timelines[number as usize]) else {
                continue;
            };
            if !timeline.is_sorted {
                timeline.uses.sort_unstable();
                timeline.is_sorted = true;
            }
            let at = timeline.uses.partition_point(|&(frame, _)| frame < seen.frame);
            let (before, after) = timeline.uses.split_at(at);
            let before = before.iter().rev().take(TUNING.neighbours).map(|used| (used, TUNING.before));
            let after = after.iter().take(TUNING.neighbours).map(|used| (used, 1.0));
            for (&(frame, neighbour), share) in before.chain(after) {
                let raise = share * (-f64::from(frame.abs_diff(seen.frame)) / TUNING.reach).exp2();
                if raise < TUNING.least || !is_waiting(neighbour) {
                    continue;
                }
                let score = &mut scores[neighbour as usize];
                score.value += raise * unit;
                if !score.is_candidate {
                    score.is_candidate = true;
                    candidates.push(neighbour);
                }
            }
        }
    }

    /// The candidate with the highest score; of equal ones the first item.
    pub fn best(&mut self, frame: u64, verdict: impl Fn(u32) -> Verdict) -> Option<u32> {
        if self.candidates.is_empty() {
            return None;
        }
        let least = TUNING.least * self.unit(frame);
        let Self { scores, candidates, .. } = self;
        let mut best: Option<(f64, u32)> = None;
        candidates.retain(|&item| {
            let score = &mut scores[item as usize];
            match verdict(item) {
                Verdict::Drop => {}
                _ if score.value < least => {}
                Verdict::Keep => return true,
                Verdict::Choose => {
                    let is_better = |(value, other)| score.value > value || score.value == value && item < other;
                    if best.is_none_or(is_better) {
                        best = Some((score.value, item));
                    }
                    return true;
                }
            }
            (score.value, score.is_candidate) = (0.0, false);
            false
        });
        best.map(|(_, item)| item)
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        let timelines = self.timelines.iter().map(|timeline| timeline.uses.capacity() * size_of::<(u32, u32)>());
        timelines.sum::<usize>()
            + self.timelines.capacity() * size_of::<Timeline>()
            + self.numbers.capacity() * size_of::<(u32, u32)>()
            + self.scores.capacity() * size_of::<Score>()
            + self.candidates.capacity() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Items 0 to 9 at frames 0, 100, ... of a recording.
    fn predictor() -> (Predictor, impl Fn(u32) -> [Sighting; 1]) {
        let mut predictor = Predictor::default();
        let seen = |item: u32| [Sighting { recording: 1, frame: 100 * item }];
        for item in 0..10 {
            predictor.reserve_item().expect("memory");
            predictor.reserve_sightings(&seen(item)).expect("memory");
            predictor.add_item();
            predictor.add_sightings(item, &seen(item));
        }
        (predictor, seen)
    }

    #[test]
    fn neighbours_of_a_used_pipeline_come_next() {
        let (mut predictor, seen) = predictor();
        assert!(predictor.best(0, |_| Verdict::Choose).is_none());
        predictor.observe(4, &seen(4), 10, |item| item != 4);
        let mut waiting: Vec<u32> = (0..10).filter(|&item| item != 4).collect();
        let mut order = Vec::new();
        while let Some(next) =
            predictor.best(10, |item| if waiting.contains(&item) { Verdict::Choose } else { Verdict::Drop })
        {
            waiting.retain(|&item| item != next);
            order.push(next);
        }
        assert_eq!(order, [5, 6, 3, 7, 2, 8, 1, 9, 0]);
    }

    #[test]
    fn raises_fade_and_large_frame_numbers_keep_the_order() {
        let (mut predictor, seen) = predictor();
        predictor.observe(1, &seen(1), 0, |_| true);
        predictor.observe(8, &seen(8), 1000, |_| true);
        assert_eq!(predictor.best(1000, |_| Verdict::Choose), Some(8));
        assert_eq!(predictor.best(1_000_000_000, |_| Verdict::Choose), None);
        predictor.observe(1, &seen(1), 2_000_000_000, |_| true);
        assert_eq!(predictor.best(2_000_000_000, |_| Verdict::Choose), Some(1));
    }
}
