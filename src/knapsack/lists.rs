//! Dynamic programming over lists of undominated states: the engine for data that defeats branch and bound.
//!
//! A state is a choice for the core classes down to some depth, with the rest at its picks. So every state is an
//! answer, or overdraws. At each depth every state is kept, and also changed in every way its class allows. Lists stay
//! sorted by weight, so changing is a shift and joining is a merge. A state that weighs no less and is worth no more
//! than one already in the list is detected at once and dropped. States whose bound doesn't exceed the cut are dropped
//! too (the scheme of Pisinger's minimal algorithms). The number of different weights bounds the work, instead of the
//! number of combinations.
//!
//! With normal burdens one weight does not order states: the lighter of two depends on the variance still to come.
//! Consider an answer whose final deviation `t` lies in the interval, and replace the changes of its state `b` by those
//! of a state `a`. The burden changes by at most `(mean_a - mean_b) + sigmas / (2 t) * (variance_a - variance_b)`,
//! because a square root lies below its tangents. That is linear in `1 / t`. So `a` is no heavier than `b` if it isn't
//! at the two ends of the interval. Two weights decide, and the narrower the interval the more they agree.

use super::budget::Budget;
use super::core::{Change, Core};
use super::incumbent::{Case, Incumbent};
use super::input::Totals;
use super::relax::Relaxation;
use super::secant::Linear;
use super::tail::{NO_TRAIL, Tail, Trail, changes};
use super::{bytes, reserve_total};
use crate::base::{Result, try_push};

/// Number of states whose memory is reserved beforehand, so that usual proofs allocate nothing.
pub const STATES_KEPT: usize = 4096;

/// A state is compared with this number of neighbours in the list, unless a single weight orders them.
const NEIGHBOURS: usize = 12;

#[derive(Clone, Copy, Debug)]
struct State {
    totals: Totals,
    /// The last change, which links to all earlier ones.
    trail: u32,
}

#[derive(Debug, Default)]
pub(super) struct Lists {
    states: Vec<State>,
    joined: Vec<State>,
    merged: Vec<State>,
    trails: Vec<Trail>,
    tail: Tail,
}

/// The constants of one search.
struct Scene<'a> {
    case: &'a Case<'a>,
    linear: &'a Linear,
    core: &'a Core,
    picks: &'a [u32],
    stake: f64,
    /// Answers worth no more than this aren't searched for, but accepted when met.
    floor: f64,
    scalar: bool,
}

impl Scene<'_> {
    fn cut(&self, incumbent: &Incumbent) -> f64 {
        incumbent.cut(self.case, self.stake).max(self.floor)
    }
}

impl Lists {
    pub fn reserve(&mut self, states: usize) -> Result<()> {
        reserve_total(&mut self.states, states)?;
        reserve_total(&mut self.joined, states)?;
        reserve_total(&mut self.merged, states)?;
        reserve_total(&mut self.trails, states)?;
        self.tail.reserve(states)
    }

    pub fn memory_used(&self) -> usize {
        bytes(&self.states) + bytes(&self.joined) + bytes(&self.merged) + bytes(&self.trails) + self.tail.memory_used()
    }

    /// Explore the core. Returns whether all of it was explored within the budget.
    #[allow(clippy::too_many_arguments)]
    pub fn search(
        &mut self,
        case: &Case,
        linear: &Linear,
        core: &Core,
        picks: &[u32],
        start: &Relaxation,
        floor: f64,
        scratch: &mut Vec<u32>,
        incumbent: &mut Incumbent,
        budget: &mut Budget,
    ) -> Result<bool> {
        let stake = linear.stake(start.lambda);
        let scene = Scene { case, linear, core, picks, stake, floor, scalar: case.limit.sigmas == 0.0 };
        let most_cost = start.bound - scene.cut(incumbent);
        let most = usize::try_from(budget.left()).unwrap_or(usize::MAX);
        budget.charge(self.tail.build(core, linear, start.lambda, most_cost, most)?);
        self.trails.clear();
        self.states.clear();
        try_push(&mut self.states, State { totals: start.totals, trail: NO_TRAIL })?;
        self.complete(&scene, start.totals, NO_TRAIL, None, scratch, incumbent);
        let depth_needed = if scene.scalar { self.tail.depth } else { core.depth() };
        for depth in 0..depth_needed {
            let cut = scene.cut(incumbent);
            self.states.retain(|state| core.exceeds_nearby(case, state.totals, core.starts[depth], cut));
            if self.states.is_empty() {
                return Ok(true);
            }
            self.joined.clear();
            self.joined.try_reserve(self.states.len())?;
            self.joined.extend_from_slice(&self.states);
            for index in core.starts[depth]..core.starts[depth + 1] {
                if budget.left() <= self.states.len() as u64 {
                    return Ok(false);
                }
                budget.charge(self.states.len() as u64);
                self.merge(&scene, depth, index, scratch, incumbent)?;
                std::mem::swap(&mut self.joined, &mut self.merged);
            }
            std::mem::swap(&mut self.states, &mut self.joined);
        }
        Ok(true)
    }

    /// `merged` becomes `joined` plus all `states` after one more change, without states that are dominated or can't
    /// beat the cut.
    fn merge(
        &mut self,
        scene: &Scene,
        depth: usize,
        index: u32,
        scratch: &mut Vec<u32>,
        incumbent: &mut Incumbent,
    ) -> Result<()> {
        let (change, after) = (scene.core.changes[index as usize], scene.core.starts[depth + 1]);
        let key = |totals: Totals| totals.mean + scene.linear.theta_of_hi * totals.variance;
        self.merged.clear();
        self.merged.try_reserve(self.joined.len() + self.states.len())?;
        self.trails.try_reserve(self.states.len())?;
        let mut cut = scene.cut(incumbent);
        let mut unchanged = 0;
        for at in 0..self.states.len() {
            let before = self.states[at];
            let totals = before.totals.plus(change.by);
            if totals.value <= cut && !scene.core.exceeds(totals, after, cut) {
                continue;
            }
            self.complete(scene, totals, before.trail, Some((change, depth)), scratch, incumbent);
            cut = scene.cut(incumbent);
            if !scene.core.exceeds_nearby(scene.case, totals, after, cut) {
                continue;
            }
            while unchanged < self.joined.len() && precedes(&key, self.joined[unchanged].totals, totals) {
                let state = self.joined[unchanged];
                push_undominated(scene, &mut self.merged, state);
                unchanged += 1;
            }
            if push_undominated(scene, &mut self.merged, State { totals, trail: self.trails.len() as u32 }) {
                self.trails.push(Trail { before: before.trail, change: index });
            }
        }
        for &state in &self.joined[unchanged..] {
            push_undominated(scene, &mut self.merged, state);
        }
        Ok(())
    }

    /// Offer a state unchanged, and completed by the best combination of the deepest classes.
    fn complete(
        &self,
        scene: &Scene,
        totals: Totals,
        trail: u32,
        last: Option<(Change, usize)>,
        scratch: &mut Vec<u32>,
        incumbent: &mut Incumbent,
    ) {
        let cut = incumbent.cut(scene.case, scene.stake);
        if !scene.scalar && totals.value > cut && scene.case.fits(totals) {
            self.write(scene, trail, last, scratch);
            incumbent.offer(scene.case, totals, scratch);
        }
        // The tail must not change classes that the state has already decided.
        if last.is_some_and(|(_, depth)| depth >= self.tail.depth) {
            return;
        }
        let linear = scene.linear;
        let Some((more, entry)) = self.tail.complete(linear.room + linear.tolerance - linear.weight(totals)) else {
            return;
        };
        let value = totals.value + more;
        if value <= cut || value <= incumbent.value {
            return;
        }
        let totals = Totals { value, ..totals.plus(self.tail.totals(scene.core, entry)) };
        if scene.scalar || scene.case.fits(totals) {
            self.write(scene, trail, last, scratch);
            self.tail.write(scene.core, entry, scratch);
            incumbent.offer(scene.case, totals, scratch);
        }
    }

    /// Write the picks with a state's changes to `scratch`.
    fn write(&self, scene: &Scene, trail: u32, last: Option<(Change, usize)>, scratch: &mut Vec<u32>) {
        scratch.clear();
        scratch.extend_from_slice(scene.picks);
        let last = last.map(|(change, _)| change);
        for change in last.into_iter().chain(changes(&self.trails, scene.core, trail)) {
            scratch[change.class as usize] = change.position;
        }
    }
}

/// List order: lighter first, then more valuable.
fn precedes(key: &impl Fn(Totals) -> f64, one: Totals, other: Totals) -> bool {
    let (a, b) = (key(one), key(other));
    a < b || a == b && one.value >= other.value
}

/// Append unless an earlier neighbour dominates it. All earlier states weigh no more at the upper end of the interval.
fn push_undominated(scene: &Scene, list: &mut Vec<State>, state: State) -> bool {
    let inverse = scene.linear.inverse_theta_of_lo;
    let other_weight = |totals: Totals| inverse * totals.mean + totals.variance;
    let weight = other_weight(state.totals);
    let dominated = |before: &State| before.totals.value >= state.totals.value && other_weight(before.totals) <= weight;
    let looked_at = list.len().saturating_sub(NEIGHBOURS);
    if list[looked_at..].iter().rev().any(dominated) {
        return false;
    }
    list.push(state);
    true
}
