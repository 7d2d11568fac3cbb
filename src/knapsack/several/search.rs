//! Branch and bound over the options whose reduced cost leaves them a chance.
//!
//! A node is a set of changes to the picks of the relaxation; classes without one stay at their picks, so every node is
//! an answer, or overdraws. Its children make one more change at a greater depth.
//!
//! What can still be had from a node is bounded by several price vectors at once, for each of which the classes from a
//! depth on decide one by one, so that their part is known beforehand. The best prices bound value lost; others around
//! them bound better where a lane is overdrawn or left empty; no prices at all bound value alone; and a price on one
//! lane only, with values counted as nothing, says whether that lane can be brought to fit at all. For each vector a
//! node has a score, `value + prices * (room - weight)`, a change adds to it, and each depth has a least score from
//! which anything of interest can be reached. So a node costs a few vector operations.

use super::super::MAX_OPTIONS_PER_SETTING;
use super::dual::{Dual, PRECISION, Relaxation};
use super::linear::{Lanes, Linear, dot, plus};
use super::repair::sort_by_cost;
use super::solve::{Budget, Case, Incumbent};
use super::{MOST_RESOURCES, bytes, reserve_total};
use crate::base::Result;

/// Price vectors, and the scores of a node by them.
const VIEWS: usize = 16;

type Scores = [f64; VIEWS];

/// The views that are always there: the relaxation's prices, no prices, and from the third on one lane alone each.
const VALUE: usize = 1;
const FIRST_LANE: usize = 2;

/// By how much other views' prices differ in one lane.
const FACTORS: [f64; 4] = [1.2, 0.8, 1.6, 0.5];

#[derive(Clone, Copy, Debug)]
struct View {
    worth_of_values: f64,
    prices: Lanes,
}

impl View {
    /// By each view, what a value and the room left over are worth together.
    #[inline(never)]
    fn score_all(views: &[Self; VIEWS], value: f64, room: &Lanes) -> Scores {
        let mut scores = [0.0; VIEWS];
        for (view, score) in views.iter().zip(&mut scores) {
            *score = view.worth_of_values * value + dot(&view.prices, room);
        }
        scores
    }
}

const NO_VIEW: View = View { worth_of_values: 0.0, prices: [0.0; MOST_RESOURCES] };

#[derive(Clone, Copy, Debug)]
struct Change {
    by: Scores,
    position: u32,
    class: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    scores: Scores,
    /// The next change to try, and its depth.
    next: u32,
    depth: u32,
}

#[derive(Debug)]
pub(super) struct Search {
    views: [View; VIEWS],
    view_count: usize,
    /// What rounding may do to a score.
    rounding: Scores,
    changes: Vec<Change>,
    /// Per depth, where the changes of its class start, and one more for the end.
    starts: Vec<u32>,
    /// Per depth the most that changes from there on can add to a score.
    gains: Vec<Scores>,
    /// Per depth the scores that must be exceeded.
    limits: Vec<Scores>,
    cheapest: Vec<(f64, u32)>,
    order: Vec<(f64, u32)>,
    of_class: Vec<(f64, u32)>,
    path: Vec<Node>,
    picks: Vec<u32>,
}

impl Default for Search {
    fn default() -> Self {
        Self {
            views: [NO_VIEW; VIEWS],
            view_count: 0,
            rounding: [0.0; VIEWS],
            changes: Vec::new(),
            starts: Vec::new(),
            gains: Vec::new(),
            limits: Vec::new(),
            cheapest: Vec::new(),
            order: Vec::new(),
            of_class: Vec::new(),
            path: Vec::new(),
            picks: Vec::new(),
        }
    }
}

/// Where the search begins.
pub(super) struct Root<'a> {
    pub case: &'a Case<'a>,
    pub linear: &'a Linear,
    pub dual: &'a Dual,
    pub relaxation: &'a Relaxation,
}

impl Root<'_> {
    /// The changes of a class that cost less than `most`: what they cost at the prices, and their positions.
    fn changes(&self, class: usize, most: f64) -> impl Iterator<Item = (f64, u32)> + '_ {
        let (pick, scores) = (self.dual.picks[class] as usize, &self.dual.scores);
        let cost = move |position: usize| (scores[pick] - scores[position], position as u32);
        let others = self.case.problem.class(class).filter(move |&position| position != pick);
        others.map(cost).filter(move |&(cost, _)| cost < most)
    }

    /// What a change adds to the scores.
    fn difference(&self, views: &[View; VIEWS], class: usize, to: usize) -> Scores {
        let from = self.dual.picks[class] as usize;
        let value = self.case.problem.value[to] - self.case.problem.value[from];
        View::score_all(views, value, &plus(&self.linear.weight[from], -1.0, &self.linear.weight[to]))
    }

    /// The scores of the picks.
    fn scores(&self, views: &[View; VIEWS]) -> Scores {
        let sums = &self.relaxation.sums;
        View::score_all(views, sums.value, &plus(&self.linear.room, -1.0, &sums.weight))
    }
}

impl Search {
    pub fn reserve(&mut self, settings: usize, options: usize) -> Result<()> {
        reserve_total(&mut self.changes, options)?;
        reserve_total(&mut self.starts, settings + 1)?;
        reserve_total(&mut self.gains, settings + 1)?;
        reserve_total(&mut self.limits, settings + 1)?;
        reserve_total(&mut self.cheapest, options)?;
        reserve_total(&mut self.order, settings)?;
        reserve_total(&mut self.of_class, options.min(MAX_OPTIONS_PER_SETTING))?;
        reserve_total(&mut self.path, settings + 1)?;
        reserve_total(&mut self.picks, settings)
    }

    pub fn memory_used(&self) -> usize {
        bytes(&self.changes)
            + bytes(&self.starts)
            + bytes(&self.gains)
            + bytes(&self.limits)
            + bytes(&self.cheapest)
            + bytes(&self.order)
            + bytes(&self.of_class)
            + bytes(&self.path)
            + bytes(&self.picks)
    }

    /// Look for answers worth more than `cut` and more than the incumbent, made of changes that cost less than
    /// `most_cost`. Whether all was looked through.
    pub fn run(
        &mut self,
        root: &Root,
        cut: f64,
        most_cost: f64,
        incumbent: &mut Incumbent,
        budget: &mut Budget,
        most_nodes: u64,
    ) -> bool {
        self.choose_views(root);
        self.build(root, most_cost);
        self.set_limits(cut);
        let mut cut = cut;
        let mut nodes = 1;
        let scores = root.scores(&self.views);
        self.path.clear();
        self.path.push(Node { scores, next: 0, depth: 0 });
        while let Some(node) = self.path.last_mut() {
            let depth = node.depth as usize;
            if depth + 1 >= self.starts.len() || !exceeds(&node.scores, &self.limits[depth]) {
                self.path.pop();
                continue;
            }
            let change = &self.changes[node.next as usize];
            let mut scores = node.scores;
            for view in 0..VIEWS {
                scores[view] += change.by[view];
            }
            node.next += 1;
            if node.next == self.starts[depth + 1] {
                node.depth += 1;
            }
            nodes += 1;
            if !exceeds(&scores, &self.limits[depth + 1]) {
                continue;
            }
            if scores[VALUE] > cut && self.fits(root, &scores) {
                let value = scores[VALUE];
                if self.offer(root, value, incumbent) {
                    cut = cut.max(incumbent.cut(root.case, root.linear.stake(&root.relaxation.prices)));
                    self.set_limits(cut);
                }
            }
            self.path.push(Node { scores, next: self.starts[depth + 1], depth: depth as u32 + 1 });
            if nodes >= most_nodes {
                budget.charge(nodes);
                return false;
            }
        }
        budget.charge(nodes);
        true
    }

    /// Put all changes that cost less than `most` in order for [`Self::cost_beyond`].
    pub fn survey(&mut self, root: &Root, most: f64) {
        self.cheapest.clear();
        for class in 0..root.dual.picks.len() {
            self.cheapest.extend(root.changes(class, most));
        }
        sort_by_cost(&mut self.cheapest);
    }

    /// The cost of the first change beyond the cheapest so many; none if there are no more below `most`.
    pub fn cost_beyond(&self, size: usize, most: f64) -> Option<f64> {
        let &(cost, _) = self.cheapest.get(size)?;
        (cost < most).then_some(cost)
    }

    fn fits(&self, root: &Root, scores: &Scores) -> bool {
        (FIRST_LANE..FIRST_LANE + root.linear.lanes).all(|view| scores[view] >= 0.0)
    }

    /// The change last tried at each node of the path is part of the answer.
    fn offer(&mut self, root: &Root, value: f64, incumbent: &mut Incumbent) -> bool {
        self.picks.clear();
        self.picks.extend_from_slice(&root.dual.picks);
        for node in &self.path {
            let change = &self.changes[node.next as usize - 1];
            self.picks[change.class as usize] = change.position;
        }
        incumbent.offer(root.case, value, &self.picks)
    }

    fn choose_views(&mut self, root: &Root) {
        let lanes = root.linear.lanes;
        let best = root.relaxation.prices;
        self.view_count = 0;
        self.add_view(1.0, best);
        self.add_view(1.0, Lanes::default());
        for lane in 0..lanes {
            let mut prices = Lanes::default();
            prices[lane] = 1.0;
            self.add_view(0.0, prices);
        }
        for factor in FACTORS {
            for lane in 0..lanes {
                let mut prices = best;
                prices[lane] *= factor;
                self.add_view(1.0, prices);
            }
        }
        self.views[self.view_count..].fill(NO_VIEW);
        for (view, rounding) in self.views.iter().zip(&mut self.rounding) {
            *rounding = PRECISION * root.linear.stake(&view.prices);
        }
    }

    #[inline(never)]
    fn add_view(&mut self, worth_of_values: f64, prices: Lanes) {
        if self.view_count < VIEWS {
            self.views[self.view_count] = View { worth_of_values, prices };
            self.view_count += 1;
        }
    }

    /// Collect the changes that may be part of an answer worth more than `cut`, the cheapest classes first.
    #[inline(never)]
    fn build(&mut self, root: &Root, most_cost: f64) {
        self.order.clear();
        for class in 0..root.dual.picks.len() {
            let least = root.changes(class, most_cost).map(|(cost, _)| cost).reduce(f64::min);
            self.order.extend(least.map(|cost| (cost, class as u32)));
        }
        sort_by_cost(&mut self.order);
        self.changes.clear();
        self.starts.clear();
        for &(_, class) in &self.order {
            self.starts.push(self.changes.len() as u32);
            self.of_class.clear();
            self.of_class.extend(root.changes(class as usize, most_cost));
            sort_by_cost(&mut self.of_class);
            for &(_, position) in &self.of_class {
                let by = root.difference(&self.views, class as usize, position as usize);
                self.changes.push(Change { by, position, class });
            }
        }
        self.starts.push(self.changes.len() as u32);
        self.measure_gains();
    }

    fn measure_gains(&mut self) {
        let depth = self.starts.len() - 1;
        self.gains.clear();
        self.gains.resize(depth + 1, [0.0; VIEWS]);
        for at in (0..depth).rev() {
            let mut most = [0.0; VIEWS];
            for change in &self.changes[self.starts[at] as usize..self.starts[at + 1] as usize] {
                for view in 0..VIEWS {
                    most[view] = f64::max(most[view], change.by[view]);
                }
            }
            for view in 0..VIEWS {
                self.gains[at][view] = self.gains[at + 1][view] + most[view];
            }
        }
    }

    #[inline(never)]
    fn set_limits(&mut self, cut: f64) {
        let mut least = [f64::NEG_INFINITY; VIEWS];
        for view in 0..self.view_count {
            let wanted = if self.views[view].worth_of_values > 0.0 { cut } else { 0.0 };
            least[view] = wanted - self.rounding[view];
        }
        self.limits.clear();
        self.limits.extend(self.gains.iter().map(|gains| {
            let mut limits = least;
            for view in 0..VIEWS {
                limits[view] -= gains[view];
            }
            limits
        }));
    }
}

fn exceeds(scores: &Scores, limits: &Scores) -> bool {
    let mut all = true;
    for view in 0..VIEWS {
        all &= scores[view] > limits[view];
    }
    all
}
