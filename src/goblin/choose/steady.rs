//! Hysteresis: voluntary changes must pay for themselves, forced changes are few.
//!
//! Estimates move a little every frame, and an exact solver follows: with fifty settings some change every frame, for
//! gains that no player sees. So the settled choice is held while it fits. A better one is a *target*, whose signed
//! gain is summed frame by frame. As estimates fluctuate, an apparent gain turns into a loss, and the target is
//! dropped. The target is taken when the sum reaches the [price](super::price) of the change (rent or buy: A. Karlin et
//! al., "Competitive snoopy caching", 1988). So a much better choice is taken at once, a slightly better one after a
//! while, and each lasting gain in the end.
//!
//! Targets are found with the prices as penalties, spread over the time since the last change. So a target has few
//! changes, and each pays for itself.
//!
//! A choice that no longer fits is changed at once (a *forced* change), with as few changes as possible. The new choice
//! leaves a band below the limit free, so that the next small fluctuation still fits. The band grows when it was too
//! narrow.

use super::Choose;
use super::trim::trim;
use super::watch::Best;
use crate::base::Result;
use crate::goblin::config::{Burdens, LANES};
use crate::goblin::frame::Frame;
use crate::goblin::question::Question;
use crate::goblin::question::formulation::{Entry, Formulation, Sum, Weighed, weigh};
use crate::goblin::tuning::{self, TUNING};
use crate::knapsack::{Economy, Effort, NO_CHOICE};

const HYSTERESIS: &tuning::Hysteresis = &TUNING.hysteresis;
const PRICE: &tuning::Price = &TUNING.price;

/// The settled choices of a frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settled {
    pub weighed: Weighed,
    /// Upper bound of the relative distance from the optimum.
    pub gap: f64,
    /// Gain of the best choice.
    pub gain: f64,
    /// Free capacity of every governed lane before the choice was made; negative: the excess.
    pub before: [f64; LANES],
    /// Value gained by the change.
    pub gained: f64,
    /// Whether the previous choice was held.
    pub held: bool,
    /// Whether the previous choice could not be held.
    pub is_forced: bool,
    /// Whether there is a target.
    pub waits: bool,
    /// Whether the pace, dwell or the search delays a much better choice.
    pub is_delayed: bool,
}

impl Choose {
    /// Solve, and accept the solution or hold the settled choices. The result is the formulation's choices.
    pub fn settle(&mut self, question: &mut Question, frame: &Frame<'_>) -> Result<Settled> {
        if frame.config.patience == 0.0 {
            return self.settle_anew(question, frame);
        }
        self.load_settled(&mut question.formulation);
        trim(question, frame.economies);
        let can = question.formulation.can(&question.formulation.choices);
        // A lane that was late seldom enough keeps only a share of its margin.
        let held = question.formulation.weigh_choices(frame.held);
        if !held.feasible || !can {
            return self.force_change(question, frame, &held);
        }
        let best = self.find_best(question, frame, &held)?;
        self.price_changes(question, frame, self.watch.prices(), false);
        self.follow_target(question, frame, &held, best.gain)?;
        let span = question.formulation.at_stake(question.formulation.highest.value);
        let is_better = best.gain > HYSTERESIS.large_gain * span;
        let takes = self.take_target(question, frame, &held);
        let weighed = if takes { question.formulation.weigh_choices(frame.economies) } else { held };
        Ok(Settled {
            weighed,
            gap: gap(&question.formulation, best.upper_bound, weighed.sum.value),
            gain: best.gain,
            before: held.headroom(frame.economies),
            gained: if takes { weighed.sum.value - held.sum.value } else { 0.0 },
            held: !takes,
            is_forced: false,
            waits: self.target.exists,
            is_delayed: !takes && !self.target.exists && is_better,
        })
    }

    /// Choose the optimum, regardless of the settled choices.
    pub fn settle_anew(&mut self, question: &mut Question, frame: &Frame<'_>) -> Result<Settled> {
        self.target.exists = false;
        self.target.changed = frame.now - 1;
        let formulation = &mut question.formulation;
        self.load_settled(formulation);
        let held = formulation.weigh_choices(frame.economies);
        let best = formulation.solve(frame.economies, frame.effort(), 0.0)?;
        formulation.accept();
        let weighed = formulation.weigh_choices(frame.economies);
        self.watch.observe(formulation, best, &weighed, frame);
        let gap = gap(formulation, best.upper_bound, weighed.sum.value);
        let gained = weighed.sum.value - held.sum.value;
        let before = held.headroom(frame.economies);
        Ok(Settled { weighed, gap, before, gained, is_forced: true, ..Settled::default() })
    }

    /// The best choice: estimated from the last solution, or solved for.
    fn find_best(&mut self, question: &mut Question, frame: &Frame<'_>, held: &Weighed) -> Result<Best> {
        if let Some(best) = self.watch.estimate(&question.formulation, held, frame) {
            return Ok(best);
        }
        let found = question.formulation.solve(frame.economies, frame.effort(), 0.0)?;
        Ok(self.watch.observe(&question.formulation, found, held, frame))
    }

    /// Whether changes also explore: in the learning phase, and always with totals only.
    pub fn is_exploring(&self, frame: &Frame<'_>) -> bool {
        frame.config.burdens == Burdens::Totals || self.pace.is_learning(frame.now)
    }

    /// Forced change: the settled choices do not fit. Change as little as possible and leave a band free; if that is
    /// not possible, choose the optimum.
    fn force_change(&mut self, question: &mut Question, frame: &Frame<'_>, held: &Weighed) -> Result<Settled> {
        self.note_forced_change(held, frame.now);
        let before = held.headroom(frame.economies);
        if !weigh(&question.formulation.lightest, frame.economies).feasible {
            return Ok(Settled { before, ..self.settle_anew(question, frame)? });
        }
        if !self.watch.knows(frame.economies.len()) {
            let found = question.formulation.solve(frame.economies, frame.effort(), 0.0)?;
            self.watch.observe(&question.formulation, found, held, frame);
        }
        self.price_changes(question, frame, self.watch.prices(), true);
        let formulation = &mut question.formulation;
        let horizon = if self.is_exploring(frame) { PRICE.free_forced_horizon } else { PRICE.forced_horizon };
        let banded = self.banded(formulation, frame);
        formulation.solve(&banded[..frame.economies.len()], rough(frame.effort()), 1.0 / horizon)?;
        let weighed = weigh(&formulation.sum(&formulation.found), frame.economies);
        if !weighed.feasible {
            return Ok(Settled { before, ..self.settle_anew(question, frame)? });
        }
        formulation.accept();
        let best = self.watch.moved(formulation, &weighed, frame.economies);
        let gap = gap(formulation, best.upper_bound, weighed.sum.value);
        let gained = weighed.sum.value - held.sum.value;
        Ok(Settled { weighed, gap, before, gained, is_forced: true, ..Settled::default() })
    }

    /// A large excess is a change point. A small one, long after the last change point, means that the band was too
    /// narrow.
    fn note_forced_change(&mut self, held: &Weighed, now: u64) {
        self.target.exists = false;
        self.target.forced = now;
        let deviation = held.sum.weights[0].variance.max(0.0).sqrt();
        if held.excess[0] >= HYSTERESIS.change_point_excess * deviation {
            self.target.change_point = now;
        } else if !held.feasible && now > self.target.change_point + HYSTERESIS.transient {
            self.target.widen(now);
        }
    }

    /// Sum the gain of the target, drop it when its summed gain turns negative, and search for one when there is no
    /// target. `gain` is the gain of the best choice.
    fn follow_target(&mut self, question: &mut Question, frame: &Frame<'_>, held: &Weighed, gain: f64) -> Result<()> {
        if self.target.exists {
            self.sum_gain(&mut question.formulation, frame, held, gain);
        }
        let stake = question.formulation.at_stake(held.sum.value);
        if self.target.exists || !self.is_search_due(&question.formulation, frame, gain, stake) {
            return Ok(());
        }
        self.target.searched = frame.now;
        let (found, gained) = self.search(question, frame, held, gain)?;
        self.target.exists = found.feasible && gained > HYSTERESIS.least_gain * stake;
        self.target.sum = gained;
        let formulation = &question.formulation;
        for (entry, &choice) in formulation.entries.iter().zip(&formulation.found) {
            self.kept[entry.position].target = choice;
        }
        Ok(())
    }

    /// Add the target's gain over the held choice. Drop the target if the sum is negative, if it does not fit, or if the
    /// best choice gains much more.
    fn sum_gain(&mut self, formulation: &mut Formulation, frame: &Frame<'_>, held: &Weighed, gain: f64) {
        let found = self.load_target(formulation).then(|| weigh(&formulation.sum(&formulation.found), frame.economies));
        let gained = found.filter(|found| found.feasible).map_or(f64::NEG_INFINITY, |f| f.sum.value - held.sum.value);
        self.target.sum += gained;
        self.target.exists = self.target.sum > 0.0 && gain < HYSTERESIS.replaced_at * gained.max(self.target.sought);
    }

    /// Whether to search for a target now.
    fn is_search_due(&self, formulation: &Formulation, frame: &Frame<'_>, gain: f64, stake: f64) -> bool {
        let wait = if !self.pace.is_free() {
            HYSTERESIS.search_interval
        } else if gain > HYSTERESIS.large_gain * stake {
            // In the transient after a change point, every decision brings new estimates.
            let transients = (frame.now - self.target.change_point) / HYSTERESIS.transient;
            transients.min(HYSTERESIS.large_gain_interval)
        } else {
            HYSTERESIS.free_search_interval
        };
        // One solve per decision is enough, except for a change point.
        let is_late = formulation.solved > 0 && gain < HYSTERESIS.change_point_gain * stake;
        // While costs drift, one change follows the drift of the next seconds. While they fall, a large gain does not wait.
        let is_small = gain <= HYSTERESIS.large_gain * stake;
        let drifts = frame.growth.iter().any(|&growth| growth > 0.0 || (growth < 0.0 && is_small));
        let settles = drifts && frame.now < self.target.last_change() + frame.config.decisions_of(TUNING.drift.ahead);
        gain > HYSTERESIS.least_gain * stake
            && !settles
            && frame.now >= self.target.searched + wait
            && !is_late
            && (self.pace.allowance() > 0 || self.pace.may_end_trial())
    }

    /// Search for a better choice whose changes pay for themselves: first inside the band, and with totals only also
    /// outside. Returns its totals and its gain; minus infinity without one.
    fn search(
        &mut self,
        question: &mut Question,
        frame: &Frame<'_>,
        held: &Weighed,
        gain: f64,
    ) -> Result<(Weighed, f64)> {
        let stake = question.formulation.at_stake(held.sum.value);
        let horizon = if self.is_exploring(frame) { PRICE.free_horizon } else { PRICE.horizon };
        let mut penalty = 1.0 / horizon.max((frame.now - self.target.changed) as f64);
        let banded = self.banded(&question.formulation, frame);
        let may_ignore_band = gain > HYSTERESIS.large_gain * stake
            && frame.config.burdens == Burdens::Totals
            && self.target.widening(frame.now) < HYSTERESIS.narrow_band;
        let (mut found, mut gained) = (Weighed::default(), f64::NEG_INFINITY);
        for limits in [&banded[..frame.economies.len()], frame.economies] {
            let is_part;
            (found, gained, is_part) = self.search_within(question, frame, held, limits, &mut penalty)?;
            self.target.sought = if is_part { gain } else { 0.0 };
            if !may_ignore_band || gained > HYSTERESIS.least_banded_gain * gain {
                break;
            }
        }
        Ok((found, gained))
    }

    /// Search for a better choice with as many changes as the pace allows: the price rises until the changes are few
    /// enough. Where all changes gain about the same, a price allows either all of them or none, and the best part of them
    /// gains more; then the last result is true.
    fn search_within(
        &mut self,
        question: &mut Question,
        frame: &Frame<'_>,
        held: &Weighed,
        limits: &[Economy],
        penalty: &mut f64,
    ) -> Result<(Weighed, f64, bool)> {
        let (mut priced, mut part) = ((Weighed::default(), f64::NEG_INFINITY), None);
        for _ in 0..HYSTERESIS.most_searches {
            question.formulation.solve(limits, rough(frame.effort()), *penalty)?;
            let changed = self.visible_changes(question);
            let formulation = &mut question.formulation;
            let found = weigh(&formulation.sum(&formulation.found), frame.economies);
            let gained = found.sum.value - held.sum.value;
            if changed <= self.pace.allowance() as f64 {
                priced = (found, gained);
                break;
            }
            if part.is_none() && found.feasible {
                part = Some(self.choose_part(question, limits, held));
            }
            let formulation = &mut question.formulation;
            // For fewer changes, each must gain more.
            let each = (gained / changed).max(0.0);
            *penalty = penalty.max(1e-12);
            for entry in &mut formulation.entries {
                entry.price += if entry.price_per_gain > 0.0 { each / *penalty } else { 0.0 };
            }
        }
        if part.is_none_or(|part| part <= priced.1) {
            return Ok((priced.0, priced.1, false));
        }
        let formulation = &mut question.formulation;
        let may = self.load_target(formulation);
        let found = weigh(&formulation.sum(&formulation.found), frame.economies);
        let gained = found.sum.value - held.sum.value;
        Ok((Weighed { feasible: may && found.feasible, ..found }, gained, true))
    }

    /// Store some of the changes of the found choices as the target, as many as the pace allows: one after the other the
    /// one with the largest gain that fits. Returns their gain.
    fn choose_part(&mut self, question: &Question, limits: &[Economy], held: &Weighed) -> f64 {
        let formulation = &question.formulation;
        for (entry, &choice) in formulation.entries.iter().zip(&formulation.choices) {
            self.kept[entry.position].target = choice;
        }
        let (mut sum, mut visible) = (held.sum, 0.0);
        loop {
            let mut best: Option<(f64, usize, Sum)> = None;
            for (at, entry) in changed_entries(formulation) {
                let (from, to) = (formulation.choices[at], formulation.found[at]);
                let after = visible + self.noticeability(question, entry.position, to);
                let is_taken = self.kept[entry.position].target == to;
                if is_taken || from == NO_CHOICE || to == NO_CHOICE || after > self.pace.allowance() as f64 {
                    continue;
                }
                let [from, to] = [from, to].map(|choice| entry.start + usize::from(choice));
                let gain = formulation.values[to] - formulation.values[from];
                if gain <= best.as_ref().map_or(0.0, |(most, ..)| *most) {
                    continue;
                }
                let mut changed = sum;
                changed.add(formulation.values[from], formulation.weights_of(from), -1.0);
                changed.add(formulation.values[to], formulation.weights_of(to), 1.0);
                if weigh(&changed, limits).feasible {
                    best = Some((gain, at, changed));
                }
            }
            let Some((_, at, changed)) = best else { return sum.value - held.sum.value };
            let position = formulation.entries[at].position;
            visible += self.noticeability(question, position, formulation.found[at]);
            self.kept[position].target = formulation.found[at];
            sum = changed;
        }
    }

    /// Take the target once it has paid for its changes, as many of them as the switch limit allows in a decision.
    /// Returns whether anything changed.
    fn take_target(&mut self, question: &mut Question, frame: &Frame<'_>, held: &Weighed) -> bool {
        if !self.target.exists || !self.load_target(&mut question.formulation) {
            return false;
        }
        let formulation = &question.formulation;
        let found = |at: usize| usize::from(formulation.found[at]);
        let price: f64 = changed_entries(formulation).map(|(at, entry)| formulation.price(entry, found(at))).sum();
        let gain = formulation.sum(&formulation.found).value - held.sum.value;
        let stake = formulation.at_stake(held.sum.value);
        let now = frame.now;
        let is_cooling_down = now < self.target.forced + HYSTERESIS.cooldown && gain < HYSTERESIS.large_gain * stake;
        if self.visible_changes(question) > self.pace.allowance() as f64
            || self.target.sum < price * (1.0 - 1e-9)
            || (is_cooling_down && self.target.is_settled(now))
        {
            return false;
        }
        self.target.changed = now;
        if gain > HYSTERESIS.change_point_gain * stake {
            self.target.change_point = now;
        }
        let burdens = changed_entries(formulation).map(|(_, entry)| question.setting(entry.position).switch_burden);
        if burdens.sum::<f64>() > frame.config.switch_limit {
            return take_part(question, frame, held);
        }
        self.target.exists = false;
        question.formulation.accept();
        true
    }

    /// Number of changes of the found choices that a player would see; less than 1 for each that is hard to notice.
    fn visible_changes(&self, question: &Question) -> f64 {
        let formulation = &question.formulation;
        let changes = changed_entries(formulation)
            .map(|(at, entry)| self.noticeability(question, entry.position, formulation.found[at]));
        changes.sum()
    }

    /// Share of a visible change that a change of a setting is. A player sees no change to the option on trial.
    fn noticeability(&self, question: &Question, position: usize, to: u16) -> f64 {
        if self.kept[position].choice == to { 0.0 } else { question.setting(position).noticeability() }
    }

    /// The limits minus the band.
    fn banded(&self, formulation: &Formulation, frame: &Frame<'_>) -> [Economy; LANES] {
        let held = formulation.sum(&formulation.choices);
        let widening = self.target.widening(frame.now);
        let mut banded = [Economy::default(); LANES];
        for (lane, economy) in frame.economies.iter().enumerate() {
            let free = widening * HYSTERESIS.band * held.weights[lane].variance.max(0.0).sqrt();
            let limit = economy.capacity.abs();
            let band = if limit.is_finite() { free.min(HYSTERESIS.widest_band * limit) } else { 0.0 };
            // A new choice still fits when costs that drift have grown.
            let growth = frame.growth[lane].max(0.0);
            banded[lane] = Economy { capacity: (economy.capacity - band) / (1.0 + growth), ..*economy };
        }
        banded
    }

    /// Copy the settled choices to the formulation's choices.
    fn load_settled(&self, formulation: &mut Formulation) {
        formulation.choices.clear();
        formulation.choices.extend(formulation.entries.iter().map(|entry| self.kept[entry.position].settled));
    }

    /// Copy the target to the formulation's found choices. Returns whether its options are available.
    fn load_target(&self, formulation: &mut Formulation) -> bool {
        formulation.found.clear();
        formulation.found.extend(formulation.entries.iter().map(|entry| self.kept[entry.position].target));
        formulation.can(&formulation.found)
    }

    /// Store the formulation's choices as the settled ones.
    pub fn remember_settled(&mut self, formulation: &Formulation, settled: &Settled, frame: &Frame<'_>) {
        for (entry, &choice) in formulation.entries.iter().zip(&formulation.choices) {
            let kept = &mut self.kept[entry.position];
            if kept.settled != choice {
                kept.settle(choice, frame.now);
            }
        }
        if !settled.held {
            self.target.exists &= frame.config.switch_limit.is_finite();
        }
    }
}

/// Make the changes of the target that fit the switch limit. Lighter options go first, to make room. Returns whether
/// anything changed.
fn take_part(question: &mut Question, frame: &Frame<'_>, held: &Weighed) -> bool {
    let Question { settings, formulation, .. } = question;
    let (mut sum, mut burden, mut any) = (held.sum, 0.0, false);
    for heavier in [false, true] {
        for at in 0..formulation.entries.len() {
            let (from, to) = (formulation.choices[at], formulation.found[at]);
            let entry = formulation.entries[at];
            let setting = settings.at(entry.position).expect("entries are made of the settings there are");
            let lost = setting.switch_burden;
            if from == to || from == NO_CHOICE || (any && burden + lost > frame.config.switch_limit) {
                continue;
            }
            let (from, to_option) = (entry.start + usize::from(from), entry.start + usize::from(to));
            let is_heavier = formulation.weights_of(to_option)[0].mean > formulation.weights_of(from)[0].mean;
            let mut changed = sum;
            changed.add(formulation.values[from], formulation.weights_of(from), -1.0);
            changed.add(formulation.values[to_option], formulation.weights_of(to_option), 1.0);
            if is_heavier != heavier || !weigh(&changed, frame.economies).feasible {
                continue;
            }
            (sum, any) = (changed, true);
            burden += lost;
            formulation.choices[at] = to;
        }
    }
    any
}

/// Entries in which the found choice differs from the present one.
fn changed_entries(formulation: &Formulation) -> impl Iterator<Item = (usize, &Entry)> {
    let pairs = formulation.choices.iter().zip(&formulation.found).enumerate();
    pairs.filter(|(_, (choice, found))| choice != found).map(|(at, _)| (at, &formulation.entries[at]))
}

/// Distance from the upper bound, relative to the bound's value above the lightest choice. A constant added to all
/// options of a setting does not change it.
fn gap(formulation: &Formulation, upper_bound: f64, value: f64) -> f64 {
    let span = formulation.at_stake(upper_bound).max(f64::MIN_POSITIVE);
    ((upper_bound - value).max(0.0) / span).min(1.0)
}

/// Solver effort for targets and trials, which need not be optimal.
pub fn rough(effort: Effort) -> Effort {
    Effort {
        accepted_gap: effort.accepted_gap.min(HYSTERESIS.rough_gap),
        node_limit: effort.node_limit.min(HYSTERESIS.rough_nodes),
    }
}
