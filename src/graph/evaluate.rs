//! One evaluation: chooses the evaluator, gets its plan, and runs the nodes that have changed.

use std::sync::atomic::Ordering::Relaxed;

use super::kernel::{Rest, Simple};
use super::marks::{Bits, Pending};
use super::node::Verdict;
use super::plan::Plan;
use super::pull::Work;
use super::rebuild::Made;
use super::state::{self, MAYBE, STALE, State};
use super::{Evaluation, Evaluator, Feedback, Function, Graph, Summary};
use crate::base::{Id, Result, error};
use crate::executor::Executor;

/// Frames without an edit after which a plan is made.
const QUIET_FRAMES: u32 = 2;
/// Frames after which a plan that is awaited from the background is made by the evaluation itself: nobody pumps.
const PATIENT_FRAMES: u32 = 120;

impl<F: Function> Graph<F> {
    /// Bring all sinks up to date.
    ///
    /// It is a new frame, unless the last evaluation was cancelled or reached its limit: then it goes on with that
    /// frame. On an error nothing has run.
    pub fn evaluate(&mut self, executor: &Executor, options: Evaluation) -> Result<Summary> {
        match self.evaluate_here(executor.max_concurrency(), &options) {
            Some(summary) => Ok(summary),
            None => self.evaluate_apart(executor, &options),
        }
    }

    /// [`Self::evaluate`] with an executor of so many threads, for the usual frame: it has a plan, and no other thread is
    /// worth its while. The library computes with integers only. `None`: it is another frame, and nothing was done.
    #[inline]
    pub fn evaluate_here(&mut self, threads: usize, options: &Evaluation) -> Option<Summary> {
        let evaluator = match options.evaluator {
            Evaluator::Auto if threads > 1 => Evaluator::Parallel,
            Evaluator::Auto => Evaluator::Bitset,
            wanted => wanted,
        };
        let is_usual = self.has_plan && !self.has_floats && options.only.is_none() && self.evaluation != u32::MAX;
        let starts_plainly = self.volatile.is_empty() && self.feedback.is_empty();
        let is_idle = starts_plainly && self.is_up_to_date();
        let can_walk = match evaluator {
            Evaluator::Bitset => is_usual,
            Evaluator::Parallel => is_usual && (is_idle || self.threads.count_alone(threads)),
            _ => false,
        };
        if !can_walk {
            return None;
        }
        self.evaluation += 1;
        let mut summary = Summary { is_complete: true, ..Summary::default() };
        if !is_idle {
            if !starts_plainly && !self.is_within_frame {
                self.start_frame();
            }
            match self.run_few(options.node_limit) {
                Ok(runs) => {
                    summary.evaluated = runs;
                    (self.is_within_frame, self.is_settled) = (false, true);
                }
                Err(runs) => {
                    summary = self.run_plan(&Executor::inline(), Evaluator::Bitset, options.node_limit, runs);
                    (self.is_within_frame, self.is_settled) = (!summary.is_complete, summary.is_complete);
                }
            }
        }
        self.cancel.0.store(false, Relaxed);
        Some(Summary { broken: self.state.broken() as u64, evaluator, ..summary })
    }

    /// Number of evaluations.
    pub fn evaluations(&self) -> u64 {
        self.evaluation.into()
    }

    /// Whether evaluations may compute with floating-point numbers.
    pub fn has_floats(&self) -> bool {
        self.has_floats
    }

    /// [`Self::evaluate`] for all frames.
    #[inline(never)]
    pub fn evaluate_apart(&mut self, executor: &Executor, options: &Evaluation) -> Result<Summary> {
        if let Some(node) = options.only {
            return self.evaluate_only(node, options.node_limit);
        }
        let is_auto = options.evaluator == Evaluator::Auto;
        let wanted = self.choose(executor, options.evaluator);
        let evaluator = match self.prepare(executor, wanted, is_auto) {
            // The lazy evaluator needs no memory.
            Err(_) if is_auto => Evaluator::Lazy,
            outcome => outcome?,
        };
        self.count_evaluation()?;
        if !self.is_within_frame {
            self.start_frame();
        }
        let mut summary = Summary { is_complete: true, ..Summary::default() };
        match evaluator {
            _ if self.is_up_to_date() => {}
            Evaluator::Lazy => summary = self.run_lazily(options.node_limit, None),
            _ => {
                self.start_plan();
                summary = self.run_plan(executor, evaluator, options.node_limit, 0);
            }
        }
        self.state.note_restores(summary.restored);
        self.cancel.0.store(false, Relaxed);
        (self.is_within_frame, self.is_settled) = (!summary.is_complete, summary.is_complete);
        self.quiet_frames = self.quiet_frames.saturating_add(u32::from(summary.is_complete));
        if summary.is_complete {
            self.go_on_with_audit(summary.evaluated);
            self.shrink();
        }
        summary.broken = self.state.broken() as u64;
        summary.evaluator = evaluator;
        Ok(summary)
    }

    /// Brings one node up to date, between frames or within one. No frame starts or ends.
    fn evaluate_only(&mut self, node: Id, node_limit: u64) -> Result<Summary> {
        let node = self.position(node)?;
        self.count_evaluation()?;
        // Nodes of the plan that stay stale lose their turns.
        self.must_scan |= self.marks.has_touched();
        let summary = self.run_lazily(node_limit, Some(node));
        self.state.note_restores(summary.restored);
        self.cancel.0.store(false, Relaxed);
        Ok(Summary { broken: self.state.broken() as u64, evaluator: Evaluator::Lazy, ..summary })
    }

    fn count_evaluation(&mut self) -> Result<()> {
        if self.evaluation == u32::MAX {
            return Err(error!(LimitExceeded, "the graph was evaluated 4,294,967,295 times: create it again"));
        }
        self.evaluation += 1;
        Ok(())
    }

    fn choose(&self, executor: &Executor, wanted: Evaluator) -> Evaluator {
        match wanted {
            Evaluator::Auto if !self.has_plan && self.quiet_frames < QUIET_FRAMES => Evaluator::Lazy,
            Evaluator::Auto if !self.has_plan && self.rebuild.is_posted() && self.quiet_frames < PATIENT_FRAMES => {
                Evaluator::Lazy
            }
            Evaluator::Auto if executor.max_concurrency() > 1 => Evaluator::Parallel,
            Evaluator::Auto => Evaluator::Bitset,
            wanted => wanted,
        }
    }

    /// Whether no node that a sink depends on is stale.
    fn is_up_to_date(&self) -> bool {
        self.is_settled && !self.must_scan && !self.marks.has_touched()
    }

    /// Gets the plan and the memory that an evaluator needs. Returns the evaluator that there is now.
    fn prepare(&mut self, executor: &Executor, evaluator: Evaluator, is_auto: bool) -> Result<Evaluator> {
        if !self.has_plan
            && let Some(made) = self.rebuild.take()
        {
            self.swap(made);
        }
        if is_auto && !self.has_plan && !executor.is_inline() {
            self.rebuild.follow(&self.structure);
            if evaluator == Evaluator::Lazy && self.rebuild.is_behind() {
                self.post_rebuild(executor);
            }
        }
        if evaluator != Evaluator::Lazy && !self.has_plan {
            if is_auto && !executor.is_inline() && !self.rebuild.is_posted() && self.post_rebuild(executor) {
                return Ok(Evaluator::Lazy);
            }
            let made = Made::new(&self.structure, &|| false)?;
            self.swap(made);
        }
        if evaluator == Evaluator::Parallel {
            let (positions, levels) = (self.structure.positions(), self.made.plan.levels());
            self.threads.grow(positions, levels, self.pins, executor)?;
        }
        Ok(evaluator)
    }

    /// Whether a plan is being made in the background.
    fn post_rebuild(&mut self, executor: &Executor) -> bool {
        let old = std::mem::take(&mut self.made);
        self.rebuild.post(executor, &self.structure, old).is_ok()
    }

    #[inline(never)]
    fn swap(&mut self, made: Made) {
        self.made = made;
        self.threads.forget_levels();
        // After a complete evaluation only nodes that were set since are stale.
        self.must_scan |= !self.is_settled;
        self.has_plan = true;
    }

    /// Volatile nodes must run, and feedback links pass on changes of the last frame.
    fn start_frame(&mut self) {
        for &node in &self.volatile {
            self.marks.touch(&self.state, node);
        }
        for &Feedback { input, .. } in &self.feedback {
            let value = self.state.values.output(self.structure.source(input));
            if self.state.set_input(input, value) {
                self.marks.touch(&self.state, self.structure.reader(input));
            }
        }
    }

    /// Runs nodes by the lazy evaluator: those that the sinks depend on, or `only` this one and what it depends on.
    fn run_lazily(&mut self, node_limit: u64, only: Option<u32>) -> Summary {
        let structure = &self.structure;
        let mut work = Work {
            structure,
            state: &self.state,
            marks: &mut self.marks,
            scratch: &mut self.scratch,
            path: &mut self.path,
            evaluation: self.evaluation,
            node_limit,
            cancel: &self.cancel.0,
            summary: Summary::default(),
            is_disturbed: false,
            expects_most: false,
        };
        work.marks.start(structure, work.state);
        // The evaluation of a single node leaves the other sinks to the next frame.
        let mut reached = if only.is_none() { work.marks.take_reached(self.sinks.len()) } else { None };
        let is_complete = loop {
            let sources = self.feedback.iter().map(|link| structure.writer(structure.source(link.input)));
            let is_complete = match (only, &reached) {
                (Some(node), _) => work.pull_and_restore(node),
                (None, Some(reached)) => {
                    let sinks = reached.iter().copied().filter(|&node| structure.node(node).is_sink);
                    sinks.chain(sources).all(|root| work.pull(root, &mut None))
                }
                (None, None) => self.sinks.iter().copied().chain(sources).all(|root| work.pull(root, &mut None)),
            };
            if !is_complete || !std::mem::take(&mut work.is_disturbed) {
                break is_complete;
            }
            // A failure may have reached others.
            reached.take().into_iter().for_each(|list| work.marks.keep_reached(list));
        };
        if only.is_none() {
            reached.into_iter().for_each(|list| work.marks.keep_reached(list));
            work.marks.end_reach(is_complete);
        }
        self.must_scan |= !is_complete;
        Summary { is_complete, ..work.summary }
    }

    /// Starts an evaluation by the plan: all that waits in it has its turn.
    #[inline(always)]
    fn start_plan(&mut self) {
        let Self { structure, state, marks, made: Made { plan, bits }, must_scan, touched, .. } = self;
        if std::mem::take(must_scan) {
            scan(state, plan, bits);
        }
        *touched = marks.start_by_plan(structure, state, Pending { plan, bits });
    }

    /// Whether most nodes of the plan probably run, and none is broken.
    fn expects_most(&self, node_limit: u64) -> bool {
        self.guess.expects_most(self.touched)
            && self.state.broken() == 0
            && self.state.memo.is_none()
            && node_limit >= self.made.plan.len() as u64
    }

    /// Starts an evaluation by the plan on this thread. In the usual frame few nodes run, and all are simple: then it is
    /// complete. `Err`: [`Self::run_plan`] goes on. Returns the number of nodes that ran.
    #[inline(never)]
    fn run_few(&mut self, node_limit: u64) -> std::result::Result<u64, u64> {
        self.start_plan();
        if self.expects_most(node_limit) || self.state.broken() != 0 {
            return Err(0);
        }
        let Self { structure, state, marks, scratch, made: Made { plan, bits }, evaluation, .. } = self;
        let mut runs = 0;
        if let Some(first) = bits.next(0) {
            let simple = Simple { structure, state, marks, scratch, cancel: &self.cancel.0, evaluation: *evaluation };
            let (rest, count) = simple.run::<false>(plan, bits, first..plan.len() as u32, node_limit);
            runs = count;
            match rest {
                Rest::Done => {}
                Rest::Unsuccessful(position, verdict) => {
                    self.end_unsuccessful(position, verdict);
                    return Err(runs);
                }
                _ => return Err(runs),
            }
        }
        self.guess.learn(self.touched, runs, self.made.plan.len());
        Ok(runs)
    }

    /// [`Simple::fail`] for the first failure of an evaluation.
    #[cold]
    #[inline(never)]
    fn end_unsuccessful(&mut self, position: u32, verdict: Verdict) {
        let Self { structure, state, marks, scratch, made: Made { plan, bits }, evaluation, .. } = self;
        let simple = Simple { structure, state, marks, scratch, cancel: &self.cancel.0, evaluation: *evaluation };
        simple.fail(plan, bits, position, verdict);
    }

    /// Runs all that waits in the plan, after so many `runs` of the same evaluation.
    #[inline(never)]
    fn run_plan(&mut self, executor: &Executor, evaluator: Evaluator, node_limit: u64, runs: u64) -> Summary {
        let expects_most = evaluator != Evaluator::List && self.expects_most(node_limit);
        let Self { structure, state, marks, scratch, path, made: Made { plan, bits }, threads, .. } = self;
        let mut work = Work {
            structure,
            state,
            marks,
            scratch,
            path,
            evaluation: self.evaluation,
            node_limit,
            cancel: &self.cancel.0,
            summary: Summary { evaluated: runs, ..Summary::default() },
            is_disturbed: false,
            expects_most,
        };
        let is_complete = loop {
            let is_complete = match evaluator {
                Evaluator::List => work.walk_list(plan, bits),
                Evaluator::Parallel => work.walk_levels(plan, bits, threads, executor),
                _ => work.walk(plan, bits, 0..plan.len() as u32),
            };
            if !is_complete || !std::mem::take(&mut work.is_disturbed) {
                break is_complete;
            }
        };
        if work.expects_most {
            bits.clear_all();
        }
        self.guess.learn(self.touched, work.summary.evaluated, plan.len());
        if !is_complete {
            work.keep(plan, bits);
            work.marks.end_reach(false);
        }
        Summary { is_complete, ..work.summary }
    }
}

/// Gives the stale nodes of a plan their turns.
#[cold]
#[inline(never)]
fn scan<F: Function>(state: &State<F>, plan: &Plan, bits: &mut Bits) {
    for position in 0..plan.len() as u32 {
        let step = plan.step(position);
        if !step.is_strict {
            continue;
        }
        let flags = state.flags(step.node);
        if flags & state::DIRTY != 0 || (step.is_lazy && flags & STALE != 0) {
            bits.set(position);
        } else {
            // Its sources have their turn before.
            state.change_flags(step.node, 0, MAYBE);
        }
    }
}
