//! Branch and bound over the options whose reduced cost permits an improvement.
//!
//! A node is a set of changes to the picks of the relaxation; the other classes stay at their picks. So every node is
//! an answer, or overdraws. Its children make one more change at a greater depth.
//!
//! Several price vectors ("views") bound the possible gain of a node at once. For each of them the classes from a depth
//! on decide one by one, so their part is computed beforehand. The best prices bound the value lost. Prices around them
//! give better bounds where a constraint is overdrawn or has room. Prices of 0 bound value alone. A price on one
//! constraint, with values ignored, shows whether that constraint can fit at all.
//!
//! For each vector a node has a score, `value + prices * (room - weight)`, and a change adds to it. Each depth has a
//! least score from which a wanted answer can be reached. So a node costs a few vector operations.

use super::super::input::greater;
use super::case::{Budget, Case, Incumbent, PRECISION};
use super::dual::{Dual, Relaxation};
use super::linear::{Linear, PerConstraint, plus};
use super::repair::sort_by_cost;
use super::{MOST_RESOURCES, bytes, reserve_total};
use crate::base::Result;

/// The number of price vectors, and of the scores of a node.
const VIEWS: usize = 16;

type Scores = [f64; VIEWS];

const NO_SCORES: Scores = [0.0; VIEWS];

/// The fixed views: the relaxation's prices, prices of 0, and from the third on one constraint alone each.
const VALUE: usize = 1;
const FIRST_CONSTRAINT: usize = 2;

/// Factors on the price of one constraint in the other views.
const FACTORS: [f64; 4] = [1.2, 0.8, 1.6, 0.5];

/// Marks an undecided depth.
const NONE: u32 = u32::MAX;

/// The price vectors, by constraint.
#[derive(Debug)]
struct Views {
    count: usize,
    worth_of_values: Scores,
    prices: [Scores; MOST_RESOURCES],
}

impl Views {
    const NONE: Self = Self { count: 0, worth_of_values: NO_SCORES, prices: [NO_SCORES; MOST_RESOURCES] };

    fn add(&mut self, worth_of_values: f64, prices: &PerConstraint) {
        let view = self.count;
        if view < VIEWS {
            self.worth_of_values[view] = worth_of_values;
            for (of_constraint, &price) in self.prices.iter_mut().zip(prices) {
                of_constraint[view] = price;
            }
            self.count += 1;
        }
    }

    /// Per view, the worth of a value and the remaining room together.
    fn score(&self, constraints: usize, value: f64, room: &PerConstraint) -> Scores {
        let mut scores = self.worth_of_values.map(|worth| worth * value);
        for (prices, room) in self.prices[..constraints].iter().zip(room) {
            for (score, price) in scores.iter_mut().zip(prices) {
                *score += price * room;
            }
        }
        scores
    }
}

/// The change to try next at a node, and its depth.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    next: u32,
    depth: u32,
}

#[derive(Debug)]
pub(super) struct Search {
    views: Views,
    /// The possible rounding of a score.
    rounding: Scores,
    /// All changes that can matter, the cheapest first: their costs at the prices, and their positions.
    cheapest: Vec<(f64, u32)>,
    /// Per class the depth at which it is decided.
    depth_of: Vec<u32>,
    /// Per depth, the start of its class's changes, and one more for the end.
    starts: Vec<u32>,
    /// The searched changes: their effect on the scores, and their positions. This and the vectors below are written in
    /// place, over those of an earlier search.
    changes: Vec<Scores>,
    positions: Vec<u32>,
    /// Per depth, the most that changes from there on can add to a score.
    gains: Vec<Scores>,
    /// Per depth, the scores that must be exceeded.
    limits: Vec<Scores>,
    /// The nodes from the root to the present one. `scores` has those of each and of one more.
    path: Vec<Cursor>,
    scores: Vec<Scores>,
    picks: Vec<u32>,
}

impl Default for Search {
    fn default() -> Self {
        Self {
            views: Views::NONE,
            rounding: NO_SCORES,
            cheapest: Vec::new(),
            depth_of: Vec::new(),
            starts: Vec::new(),
            changes: Vec::new(),
            positions: Vec::new(),
            gains: Vec::new(),
            limits: Vec::new(),
            path: Vec::new(),
            scores: Vec::new(),
            picks: Vec::new(),
        }
    }
}

/// The start of the search.
pub(super) struct Root<'a> {
    pub case: &'a Case<'a>,
    pub linear: &'a Linear,
    pub dual: &'a Dual,
    pub relaxation: &'a Relaxation,
}

impl Search {
    pub fn reserve(&mut self, settings: usize, options: usize) -> Result<()> {
        let most_depth = settings + 1;
        reserve_total(&mut self.cheapest, options)?;
        reserve_total(&mut self.depth_of, settings)?;
        reserve_total(&mut self.starts, most_depth)?;
        reserve_total(&mut self.changes, options)?;
        reserve_total(&mut self.positions, options)?;
        reserve_total(&mut self.gains, most_depth)?;
        reserve_total(&mut self.limits, most_depth)?;
        reserve_total(&mut self.path, most_depth)?;
        reserve_total(&mut self.scores, most_depth)?;
        reserve_total(&mut self.picks, settings)
    }

    pub fn memory_used(&self) -> usize {
        bytes(&self.cheapest)
            + bytes(&self.depth_of)
            + bytes(&self.starts)
            + bytes(&self.changes)
            + bytes(&self.positions)
            + bytes(&self.gains)
            + bytes(&self.limits)
            + bytes(&self.path)
            + bytes(&self.scores)
            + bytes(&self.picks)
    }

    /// Prepare a search for answers whose changes cost less than `most` each.
    pub fn begin(&mut self, root: &Root, most: f64) {
        self.choose_views(root);
        self.cheapest.clear();
        let scores = &root.dual.scores;
        for (class, &pick) in root.case.problem.classes().zip(&root.dual.picks) {
            let pick = pick as usize;
            let best = scores[pick];
            for (position, score) in class.clone().zip(&scores[class]) {
                let cost = best - score;
                if cost < most && position != pick {
                    self.cheapest.push((cost, position as u32));
                }
            }
        }
        sort_by_cost(&mut self.cheapest);
    }

    /// The cost of the next change after the `size` cheapest ones. `None` if no more are below `most`.
    pub fn cost_beyond(&self, size: usize, most: f64) -> Option<f64> {
        let &(cost, _) = self.cheapest.get(size)?;
        (cost < most).then_some(cost)
    }

    /// Search for answers worth more than `cut` and more than the incumbent. Their changes cost less than `most_cost`
    /// each. Returns whether all were searched.
    pub fn run(
        &mut self,
        root: &Root,
        cut: f64,
        most_cost: f64,
        incumbent: &mut Incumbent,
        budget: &mut Budget,
        most_nodes: u64,
    ) -> bool {
        let depths = self.build(root, most_cost);
        self.set_limits(cut);
        let constraints = root.linear.constraints;
        let sums = &root.relaxation.sums;
        let mut cut = cut;
        let mut nodes = 1;
        let mut top = 0;
        self.path[0] = Cursor::default();
        self.scores[0] = self.views.score(constraints, sums.value, &plus(&root.linear.room, -1.0, &sums.weight));
        let is_complete = loop {
            let Cursor { next, depth } = &mut self.path[top];
            let level = *depth as usize;
            if level >= depths {
                if top == 0 {
                    break true;
                }
                top -= 1;
                continue;
            }
            let (before, after) = self.scores.split_at_mut(top + 1);
            let (change, limits) = (&self.changes[*next as usize], &self.limits[level + 1]);
            let (is_left, is_promising) = add(&before[top], change, limits, &mut after[0]);
            *next += 1;
            let end = self.starts[level + 1];
            if *next == end {
                *depth = if is_left { level as u32 + 1 } else { NONE };
            }
            nodes += 1;
            if !is_promising {
                continue;
            }
            let scores = &after[0];
            let value = scores[VALUE];
            if value > cut
                && (FIRST_CONSTRAINT..FIRST_CONSTRAINT + constraints).all(|view| scores[view] >= 0.0)
                && self.offer(root, top, value, incumbent)
            {
                cut = cut.max(incumbent.cut(root.case, root.linear.stake(&root.relaxation.prices)));
                self.set_limits(cut);
            }
            top += 1;
            self.path[top] = Cursor { next: end, depth: level as u32 + 1 };
            if nodes >= most_nodes {
                break false;
            }
        };
        budget.charge(nodes);
        is_complete
    }

    /// The change last tried at each node of the path is part of the answer.
    fn offer(&mut self, root: &Root, top: usize, value: f64, incumbent: &mut Incumbent) -> bool {
        self.picks.clear();
        self.picks.extend_from_slice(&root.dual.picks);
        for node in &self.path[..=top] {
            let position = self.positions[node.next as usize - 1];
            self.picks[root.case.problem.class_of(position as usize)] = position;
        }
        incumbent.offer(root.case, value, &self.picks)
    }

    fn choose_views(&mut self, root: &Root) {
        let linear = root.linear;
        let best = &root.relaxation.prices;
        self.views = Views::NONE;
        self.views.add(1.0, best);
        self.views.add(1.0, &PerConstraint::default());
        for constraint in 0..linear.constraints {
            let mut prices = PerConstraint::default();
            prices[constraint] = 1.0;
            self.views.add(0.0, &prices);
        }
        for factor in FACTORS {
            for constraint in 0..linear.constraints {
                let mut prices = *best;
                prices[constraint] *= factor;
                self.views.add(1.0, &prices);
            }
        }
        self.rounding = self.views.score(linear.constraints, 0.0, &linear.magnitude());
        // Never 0, so that a score of 0 exceeds a limit of 0 less the rounding.
        let rounding = self.rounding.iter_mut();
        rounding.for_each(|rounding| *rounding = (*rounding * PRECISION).max(f64::MIN_POSITIVE));
    }

    /// Arrange the changes that cost less than `most_cost` by class, the cheapest classes first. Returns the number of
    /// classes.
    fn build(&mut self, root: &Root, most_cost: f64) -> usize {
        let problem = root.case.problem;
        let size = self.cheapest.partition_point(|&(cost, _)| cost < most_cost);
        self.depth_of.clear();
        self.depth_of.resize(problem.class_count(), NONE);
        // Holds first the number of changes at each depth, then their ends, then their starts.
        self.starts.clear();
        for &(_, position) in &self.cheapest[..size] {
            let depth = &mut self.depth_of[problem.class_of(position as usize)];
            if *depth == NONE {
                *depth = self.starts.len() as u32;
                self.starts.push(0);
            }
            self.starts[*depth as usize] += 1;
        }
        let depths = self.starts.len();
        self.starts.push(0);
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        lengthen(&mut self.changes, size, NO_SCORES);
        lengthen(&mut self.positions, size, 0);
        for &(_, position) in self.cheapest[..size].iter().rev() {
            let (class, to) = (problem.class_of(position as usize), position as usize);
            let from = root.dual.picks[class] as usize;
            let start = &mut self.starts[self.depth_of[class] as usize];
            *start -= 1;
            let value = problem.value[to] - problem.value[from];
            let room = plus(&root.linear.weight[from], -1.0, &root.linear.weight[to]);
            self.changes[*start as usize] = self.views.score(root.linear.constraints, value, &room);
            self.positions[*start as usize] = position;
        }
        self.measure_gains(depths);
        lengthen(&mut self.path, depths + 1, Cursor::default());
        lengthen(&mut self.scores, depths + 1, NO_SCORES);
        depths
    }

    fn measure_gains(&mut self, depths: usize) {
        self.gains.clear();
        self.gains.resize(depths + 1, NO_SCORES);
        for at in (0..depths).rev() {
            let changes = &self.changes[self.starts[at] as usize..self.starts[at + 1] as usize];
            let mut most = NO_SCORES;
            for change in changes {
                most = std::array::from_fn(|view| greater(change[view], most[view]));
            }
            let later = self.gains[at + 1];
            self.gains[at] = std::array::from_fn(|view| later[view] + most[view]);
        }
    }

    fn set_limits(&mut self, cut: f64) {
        let mut least = [f64::NEG_INFINITY; VIEWS];
        let views = self.views.worth_of_values.iter().zip(&self.rounding);
        for (least, (&worth, rounding)) in least.iter_mut().zip(views).take(self.views.count) {
            *least = if worth > 0.0 { cut } else { 0.0 } - rounding;
        }
        self.limits.clear();
        self.limits.extend(self.gains.iter().map(|gains| std::array::from_fn(|view| least[view] - gains[view])));
    }
}

/// Never shortens the vector: elements beyond the end of earlier uses are kept.
fn lengthen<T: Clone>(vector: &mut Vec<T>, length: usize, filler: T) {
    if vector.len() < length {
        vector.resize(length, filler);
    }
}

/// Write the sum to `sums`. Returns whether the scores exceed the limits, and whether the sum does.
fn add(scores: &Scores, by: &Scores, limits: &Scores, sums: &mut Scores) -> (bool, bool) {
    *sums = std::array::from_fn(|view| scores[view] + by[view]);
    (exceed(scores, limits), exceed(sums, limits))
}

/// Whether all scores exceed their limits, without a branch on the way.
fn exceed(scores: &Scores, limits: &Scores) -> bool {
    scores.iter().zip(limits).fold(true, |exceed, (score, limit)| exceed & (score > limit))
}
