//! The zoo: rules of others, written anew from their public documentation, with the documented constants.
//!
//! Each rule sees the frame's total time and picks a level. A level is a step of a ladder of whole configurations, or an
//! option of the resolution for rules of dynamic resolution.

use std::collections::VecDeque;

use super::arena::{Governor, RATE};

/// Picks a level.
pub trait Rule {
    /// The level of the next frame, of `levels`.
    fn level(&mut self, levels: usize) -> usize;
    /// Takes the time of a frame as a share of the budget, and the level that it was drawn with.
    fn learn(&mut self, load: f64, level: usize);
}

/// A rule of the zoo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A level down when late, a level up after a quiet second.
    Threshold,
    /// The same, with the lock-out of dash.js.
    LockOut,
    /// Unity Adaptive Performance.
    AdaptivePerformance,
    /// Unreal Engine's dynamic resolution.
    Unreal,
    /// Valve's rule for VR.
    Valve,
    /// Unity HDRP's dynamic resolution.
    Hdrp,
}

impl Kind {
    /// Whether it moves the resolution only.
    pub fn is_resolution_only(self) -> bool {
        matches!(self, Self::Unreal | Self::Valve | Self::Hdrp)
    }

    /// The rule, at `level` of `levels`.
    pub fn seat(self, level: usize, levels: usize) -> Box<dyn Rule> {
        match self {
            Self::Threshold => Box::new(Threshold::new(level)),
            Self::LockOut => Box::new(LockOut::new(level, levels)),
            Self::AdaptivePerformance => Box::new(AdaptivePerformance::new(level)),
            Self::Unreal => Box::new(Unreal::new(levels)),
            Self::Valve => Box::new(Valve { level, since: 0, loads: VecDeque::new() }),
            Self::Hdrp => Box::new(Hdrp { fraction: 1.0, loads: Vec::new(), above: 0, below: 0 }),
        }
    }
}

/// A rule at work on a ladder.
pub struct OnLadder {
    rule: Box<dyn Rule>,
    ladder: Vec<Vec<u16>>,
    budget: f64,
    /// Level of each frame.
    levels: Vec<usize>,
}

impl OnLadder {
    /// The rule on this ladder.
    pub fn new(rule: Box<dyn Rule>, ladder: Vec<Vec<u16>>, budget: f64) -> Self {
        Self { rule, ladder, budget, levels: Vec::new() }
    }
}

impl Governor for OnLadder {
    fn decide(&mut self, _works: &[f64], choices: &mut [u16]) {
        let level = self.rule.level(self.ladder.len()).min(self.ladder.len() - 1);
        self.levels.push(level);
        choices.copy_from_slice(&self.ladder[level]);
    }

    fn learn(&mut self, frame: usize, _costs: &[f64], total: f64) {
        self.rule.learn(total / self.budget, self.levels[frame]);
    }
}

/// A level down when a frame is late, a level up after a second without a frame above 90 %.
///
/// The plain rule of many games, as `trials/frame_budget` has it. Frames drawn before the latest step do not count.
struct Threshold {
    level: usize,
    quiet: usize,
}

impl Threshold {
    fn new(level: usize) -> Self {
        Self { level, quiet: 0 }
    }
}

impl Rule for Threshold {
    fn level(&mut self, levels: usize) -> usize {
        self.level = self.level.min(levels - 1);
        self.level
    }

    fn learn(&mut self, load: f64, level: usize) {
        if level != self.level {
            return;
        }
        self.quiet = if load > 0.9 { 0 } else { self.quiet + 1 };
        if load > 1.0 && level > 0 {
            *self = Self::new(level - 1);
        } else if self.quiet >= RATE {
            *self = Self::new(level + 1);
        }
    }
}

/// The threshold rule with the lock-out of dash.js.
///
/// Source: issue 1530 of dash.js, "Prevent Throughput Rule oscillation". From level x to x + 1 and back within 10 s counts
/// against x + 1. At the third time, x + 1 is locked for "a few minutes", here three.
struct LockOut {
    inner: Threshold,
    now: usize,
    /// By level: the frame in which it was reached from below, bounces, and the frame until which it is locked.
    levels: Vec<(usize, u32, usize)>,
}

impl LockOut {
    fn new(level: usize, levels: usize) -> Self {
        Self { inner: Threshold::new(level), now: 0, levels: vec![(0, 0, 0); levels + 1] }
    }
}

impl Rule for LockOut {
    fn level(&mut self, levels: usize) -> usize {
        self.now += 1;
        self.inner.level(levels)
    }

    fn learn(&mut self, load: f64, level: usize) {
        let before = self.inner.level;
        self.inner.learn(load, level);
        let after = self.inner.level;
        if after > before {
            let entry = &mut self.levels[after];
            if entry.2 > self.now {
                self.inner = Threshold::new(before);
            } else {
                entry.0 = self.now;
            }
        } else if after < before {
            let entry = &mut self.levels[before];
            if entry.0 > 0 && self.now - entry.0 <= 10 * RATE {
                entry.1 += 1;
                if entry.1 == 3 {
                    *entry = (0, 0, self.now + 180 * RATE);
                }
            }
        }
    }
}

/// Unity's Adaptive Performance: one level of one scaler at a time.
///
/// Source: the manual of com.unity.adaptiveperformance ("Indexer", "Provider settings") and the defaults of the package.
/// The trend is the mean of the last 120 averages (of 100 frames) over the target. From +15 % on a level goes, and the
/// rule waits 4 s. From +30 % on it waits half of that. Otherwise, at a nominal temperature, a level comes back, and the
/// rule waits 10 s, the delay of thermal actions.
struct AdaptivePerformance {
    level: usize,
    wait: f64,
    frames: VecDeque<f64>,
    averages: VecDeque<f64>,
}

impl AdaptivePerformance {
    fn new(level: usize) -> Self {
        Self { level, wait: 4.0, frames: VecDeque::new(), averages: VecDeque::new() }
    }
}

fn push(window: &mut VecDeque<f64>, length: usize, sample: f64) -> f64 {
    window.push_back(sample);
    if window.len() > length {
        window.pop_front();
    }
    window.iter().sum::<f64>() / window.len() as f64
}

impl Rule for AdaptivePerformance {
    fn level(&mut self, levels: usize) -> usize {
        self.level = self.level.min(levels - 1);
        self.level
    }

    fn learn(&mut self, load: f64, _level: usize) {
        let average = push(&mut self.frames, 100, load);
        let trend = push(&mut self.averages, 120, average - 1.0);
        self.wait -= 1.0 / RATE as f64;
        if self.wait > 0.0 {
            return;
        }
        (self.level, self.wait) = if trend >= 0.3 {
            (self.level.saturating_sub(1), 2.0)
        } else if trend >= 0.15 {
            (self.level.saturating_sub(1), 4.0)
        } else {
            (self.level + 1, 10.0)
        };
    }
}

/// Unreal Engine's dynamic resolution, from 50 to 100 % of each side.
///
/// Source: the manual, "Dynamic Resolution", and the documented defaults of r.DynamicRes.*. The history has 16 frames with
/// weights of .9^age, the headroom is 10 %. Changes are at least 2 % and at least 8 frames apart. After 2 late frames in a
/// row the resolution drops at once, with a new history. Time is proportional to the number of pixels. The rule applies
/// 90 % of an increase.
struct Unreal {
    scale: f64,
    levels: usize,
    /// Newest first: the scale of a frame, and its load.
    history: VecDeque<(f64, f64)>,
    since: usize,
    late_in_a_row: usize,
}

impl Unreal {
    fn new(levels: usize) -> Self {
        Self { scale: 1.0, levels, history: VecDeque::new(), since: 0, late_in_a_row: 0 }
    }

    fn scale_of(&self, level: usize) -> f64 {
        0.5 + 0.5 * level as f64 / (self.levels - 1).max(1) as f64
    }

    fn wanted(&self) -> f64 {
        let (mut sum, mut weights, mut weight) = (0.0, 0.0, 1.0);
        for &(scale, load) in &self.history {
            sum += weight * scale * (0.9 / load).sqrt();
            weights += weight;
            weight *= 0.9;
        }
        (sum / weights).clamp(0.5, 1.0)
    }
}

impl Rule for Unreal {
    fn level(&mut self, levels: usize) -> usize {
        self.since += 1;
        ((self.scale - 0.5) / 0.5 * (levels - 1) as f64 + 1e-9) as usize
    }

    fn learn(&mut self, load: f64, level: usize) {
        self.late_in_a_row = if load > 1.0 { self.late_in_a_row + 1 } else { 0 };
        self.history.push_front((self.scale_of(level), load));
        self.history.truncate(16);
        if self.late_in_a_row >= 2 {
            self.history.truncate(2);
            let wanted = self.wanted();
            self.history.clear();
            self.late_in_a_row = 0;
            (self.scale, self.since) = (wanted.min(self.scale), 0);
        } else if self.since >= 8 {
            let mut wanted = self.wanted();
            if wanted > self.scale {
                wanted = self.scale + 0.9 * (wanted - self.scale);
            }
            if (wanted - self.scale).abs() >= 0.02 * self.scale || (wanted >= 1.0 && self.scale < 1.0) {
                (self.scale, self.since) = (wanted, 0);
            }
        }
    }
}

/// Valve's adaptive quality for VR.
///
/// Source: Vlachos, "Advanced VR Rendering Performance", GDC 2016, and The Lab Renderer. Above 90 % two levels go; also
/// above 85 %, if the last two frames extrapolate to more than 90 %. After three frames below 70 % a level comes back.
/// After a change the rule waits for two frames drawn with it.
struct Valve {
    level: usize,
    /// Frames drawn since the latest change.
    since: usize,
    loads: VecDeque<f64>,
}

impl Rule for Valve {
    fn level(&mut self, levels: usize) -> usize {
        self.level = self.level.min(levels - 1);
        self.level
    }

    fn learn(&mut self, load: f64, level: usize) {
        if level != self.level {
            return;
        }
        self.since += 1;
        push(&mut self.loads, 3, load);
        if self.since < 2 {
            return;
        }
        let before = self.loads[self.loads.len() - 2];
        let next = if load > 0.9 || (load > 0.85 && load + (load - before) > 0.9) {
            self.level.saturating_sub(2)
        } else if self.loads.len() == 3 && self.loads.iter().all(|load| *load < 0.7) {
            self.level + 1
        } else {
            self.level
        };
        if next != self.level {
            *self = Self { level: next, since: 0, loads: VecDeque::new() };
        }
    }
}

/// Unity HDRP's component Dynamic Resolution, from 50 to 100 % of each side.
///
/// Source: the documented defaults of com.unity.render-pipelines.high-definition. The rule takes means of 15 frames. After
/// 8 means in a row below the budget the resolution rises by a fifth of the range; after 4 above it drops by half.
struct Hdrp {
    fraction: f64,
    loads: Vec<f64>,
    above: usize,
    below: usize,
}

impl Rule for Hdrp {
    fn level(&mut self, levels: usize) -> usize {
        (self.fraction * (levels - 1) as f64 + 0.5) as usize
    }

    fn learn(&mut self, load: f64, _level: usize) {
        self.loads.push(load);
        if self.loads.len() < 15 {
            return;
        }
        let mean = self.loads.drain(..).sum::<f64>() / 15.0;
        (self.above, self.below) = if mean > 1.0 { (self.above + 1, 0) } else { (0, self.below + 1) };
        if self.above == 4 {
            self.above = 0;
            self.fraction = (self.fraction - 0.5).max(0.0);
        } else if self.below == 8 {
            self.below = 0;
            self.fraction = (self.fraction + 0.2).min(1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Levels after each of these loads, drawn with the latest level.
    fn levels(mut rule: Box<dyn Rule>, count: usize, loads: &[f64]) -> Vec<usize> {
        let mut level = rule.level(count);
        let next = |load: &f64| {
            rule.learn(*load, level);
            level = rule.level(count);
            level
        };
        loads.iter().map(next).collect()
    }

    #[test]
    fn threshold_steps_down_at_once_and_up_after_a_second() {
        let mut loads = vec![1.1];
        loads.extend([0.5; RATE]);
        let seen = levels(Kind::Threshold.seat(3, 8), 8, &loads);
        assert_eq!((seen[0], seen[RATE - 1], seen[RATE]), (2, 2, 3));
    }

    #[test]
    fn lock_out_closes_a_level_after_three_bounces() {
        let mut loads = Vec::new();
        for _ in 0..3 {
            loads.extend([0.5; RATE]);
            loads.push(1.1);
        }
        loads.extend([0.5; 10 * RATE]);
        let seen = levels(Kind::LockOut.seat(0, 2), 2, &loads);
        assert!(seen[..3 * (RATE + 1)].contains(&1));
        assert!(seen[3 * (RATE + 1)..].iter().all(|&level| level == 0));
        let plain = levels(Kind::Threshold.seat(0, 2), 2, &loads);
        assert!(plain[3 * (RATE + 1)..].contains(&1));
    }

    #[test]
    fn adaptive_performance_waits_ten_seconds_between_raises_and_four_between_drops() {
        let changes = |load: f64, from: usize| {
            let seen = levels(Kind::AdaptivePerformance.seat(from, 8), 8, &vec![load; 30 * RATE]);
            let at = (1..seen.len()).filter(|&at| seen[at] != seen[at - 1]).collect::<Vec<_>>();
            (at[1] - at[0]).div_euclid(RATE)
        };
        assert_eq!((changes(0.5, 0), changes(1.2, 7), changes(1.5, 7)), (10, 4, 2));
    }

    #[test]
    fn unreal_drops_after_two_late_frames_and_otherwise_waits_eight() {
        let seen = levels(Kind::Unreal.seat(10, 11), 11, &[1.0, 1.3, 1.3, 0.9]);
        assert_eq!(seen[0], 10);
        assert_eq!(seen[1], 10);
        assert!(seen[2] < 10);
    }

    #[test]
    fn valve_drops_two_levels_above_90_percent_and_raises_one_below_70() {
        let seen = levels(Kind::Valve.seat(6, 11), 11, &[0.95, 0.95, 0.6, 0.6, 0.6]);
        assert_eq!(seen, [6, 4, 4, 4, 5]);
    }

    #[test]
    fn hdrp_drops_by_half_after_four_means_and_raises_by_a_fifth_after_eight() {
        let mut loads = vec![1.2; 60];
        loads.extend([0.5; 120]);
        let seen = levels(Kind::Hdrp.seat(10, 11), 11, &loads);
        assert_eq!((seen[58], seen[59], seen[178], seen[179]), (10, 5, 5, 7));
    }
}
