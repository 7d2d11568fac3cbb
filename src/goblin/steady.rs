//! Not changing without need.
//!
//! Estimates move a little every frame, and an exact solver follows: with fifty settings some change every frame, for
//! gains nobody sees. So the settled choice is held while it fits, and a better one is a *target* whose gain is added
//! up, frame by frame, with its sign: as estimates wander, what looked better turns worse again, and the target is
//! dropped. When the sum has reached what the change costs (rent or buy: A. Karlin et al., "Competitive snoopy
//! caching", 1988) the target is taken: at once if it is much better, after a while if it is a little better, and in
//! the end always.
//!
//! What a change costs: `patience` times the value by which the setting moves, up or down, and the burden that is lost
//! on the frame in which it changes, at the present price of burden. So what only raises settings is done after
//! `patience` frames, and what exchanges one for another, for little more value, after many. Targets are found with
//! those costs as penalties, spread over the time since the last change, so that a target holds few changes, each of
//! which pays for itself. Value that is given up counts many times what is won, so that exchanges for little are rare.
//!
//! What does not fit any more is left at once, with as few changes as may be, for something that leaves a band below
//! the limit free, so that the next small move still fits. The band grows when that was not enough.

use crate::base::Result;
use crate::knapsack::{Economy, Effort, NO_CHOICE};

use super::Goblin;
use super::config::{Burdens, LANES};
use super::formulate::{Bar, Entry, Weighed, weigh};
use super::reason::Why;
use super::setting::Setting;
use super::tuning::TUNING;

/// What the band grows by each time that a choice had to be left all the same, and how long it remembers that.
const WIDENS: f64 = 1.2;
const WIDEST_FACTOR: f64 = 8.0;
const WIDE_FOR: f64 = 2000.0;
/// Decisions after an upheaval in which small moves are to be expected.
const UNSETTLED: u64 = 120;
/// What lost value counts for right after an upheaval, and the decisions until it counts for [`TUNING`]`.loss`.
const LOST_AT_FIRST: f64 = 1.5;
const LOST_LATER: f64 = 3000.0;
/// A choice that is over by more deviations than this was not left because of small moves.
const SMALL_MOVE: f64 = 3.0;
/// The most that they leave free, as a share of the limit.
const WIDEST: f64 = 0.04;
/// Decisions between two searches for a target, and for one that gains much, once things have settled.
const TARGET_EVERY: u64 = 32;
const TARGET_SOON: u64 = 8;
/// A target is given up for another when the best choice gains so many times more.
const OVERTAKEN: f64 = 4.0;
/// Decisions after a choice had to be left in which little is not won back: what was too much just now may be so again.
const QUIET: u64 = 120;
/// Where only totals are known, settings are few and deviations rough: a band that leaves less than this share of a
/// large gain is done without, but not while it is wider than so many times its least because choices had to be left
/// lately.
const BARRED: f64 = 0.5;
const NARROW: f64 = 2.5;
/// A gain above this share of the value is an upheaval.
const UPHEAVAL: f64 = 0.05;
/// A gain above this share of the value is looked for at once.
const LARGE_GAIN: f64 = 0.01;
/// Searches for a target with ever fewer changes, at most.
const MOST_SEARCHES: usize = 4;
/// A gain below this share of the value is none.
const NO_GAIN: f64 = 1e-6;

/// The better choice that is waited with; which one it is, the settings know.
#[derive(Debug)]
pub struct Target {
    /// Whether there is one.
    exists: bool,
    /// What it would have gained so far, in value times decisions.
    sum: f64,
    /// When the last change was made that was not needed, and when a target was last looked for.
    changed: u64,
    searched: u64,
    /// The decision of the last change that was not small, or the first.
    upheaval: u64,
    /// The decision in which a choice was last left because it did not fit.
    left: u64,
    /// What the band is multiplied by, as of the decision after it.
    widened: f64,
    widened_at: u64,
}

impl Default for Target {
    fn default() -> Self {
        Self { exists: false, sum: 0.0, changed: 0, searched: 0, upheaval: 0, left: 0, widened: 1.0, widened_at: 0 }
    }
}

impl Target {
    /// What the band is multiplied by now.
    fn widening(&self, now: u64) -> f64 {
        1.0 + (self.widened - 1.0) * (-((now - self.widened_at) as f64) / WIDE_FOR).exp()
    }

    /// The host changed the limits: follow that without the patience of settled times.
    pub fn unsettle(&mut self, now: u64) {
        (self.upheaval, self.searched) = (now, 0);
    }

    /// The decision of the last change, trials apart.
    pub fn last_change(&self) -> u64 {
        self.changed.max(self.left)
    }

    /// Whether there has been no upheaval for long.
    pub fn is_settled(&self, now: u64) -> bool {
        now > self.upheaval + LOST_LATER as u64
    }

    /// The factor on the patience. Right after an upheaval true shifts are followed at once.
    fn ramp(&self, now: u64) -> f64 {
        1.0 + (TUNING.patience_most - 1.0) * ((now - self.upheaval) as f64 / TUNING.patience_ramp).min(1.0)
    }

    /// Value that a setting loses in a change counts for so many times what one gains: both are seen, and in the end
    /// only their difference is won. Soon after an upheaval it matters less.
    fn loss(&self, now: u64, most: f64) -> f64 {
        LOST_AT_FIRST + (most - LOST_AT_FIRST) * ((now - self.upheaval) as f64 / LOST_LATER).min(1.0)
    }

    /// A choice had to be left that was hardly over.
    fn widen(&mut self, now: u64) {
        self.widened = (WIDENS * self.widening(now)).min(WIDEST_FACTOR);
        self.widened_at = now;
    }
}

/// How the frame was settled.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settled {
    pub weighed: Weighed,
    /// Distance from the optimum at most, relatively.
    pub gap: f64,
    /// What a better choice would gain.
    pub gain: f64,
    /// Left free on the first governed lane before the choice was made; below 0: what it was over by.
    pub headroom: f64,
    /// Whether the old choice was held.
    pub held: bool,
    /// Whether there is a target that it was held against.
    pub waits: bool,
}

impl Goblin {
    /// Solve, and take the answer or hold what is settled; the choices are the formulation's.
    pub(super) fn settle(&mut self, economies: &[Economy], effort: Effort) -> Result<Settled> {
        if self.config.patience == 0.0 || self.config.burdens == Burdens::Relative {
            return self.settle_anew(economies, effort);
        }
        self.load_settled();
        self.trim(economies);
        let can = self.formulation.can(&self.formulation.choices);
        let held = self.weigh_held(economies);
        if !held.feasible || !can {
            return self.leave(&held, economies, effort);
        }
        let best = match self.watched(&held, economies) {
            Some(best) => best,
            None => {
                let found = self.formulation.solve(economies, effort, 0.0)?;
                self.watch(found, &held, economies)
            }
        };
        self.price_changes(self.watch.found.prices, false);
        let mut settled = Settled {
            weighed: held,
            gap: self.gap(best.upper_bound, held.sum.value),
            gain: best.gain,
            headroom: economies[0].capacity - held.burden[0],
            held: true,
            waits: false,
        };
        self.follow_target(&held, best.gain, economies, effort)?;
        if self.take_target(&held, economies) {
            settled.weighed = weigh(&self.formulation.sum(&self.formulation.choices), economies);
            settled.gap = self.gap(best.upper_bound, settled.weighed.sum.value);
            settled.held = false;
        }
        settled.waits = self.target.exists;
        Ok(settled)
    }

    /// Take the best there is, whatever was settled before.
    pub(super) fn settle_anew(&mut self, economies: &[Economy], effort: Effort) -> Result<Settled> {
        self.target.exists = false;
        self.target.changed = self.history.latest();
        let best = self.formulation.solve(economies, effort, 0.0)?;
        self.formulation.accept();
        let weighed = weigh(&self.formulation.sum(&self.formulation.choices), economies);
        self.watch(best, &weighed, economies);
        let headroom = economies[0].capacity - weighed.burden[0];
        let gap = self.gap(best.upper_bound, weighed.sum.value);
        Ok(Settled { weighed, gap, headroom, ..Settled::default() })
    }

    /// What the settled choices come to. A lane that would be over the limit with all of its deviations, but was late
    /// seldom enough, keeps only a share of them free.
    fn weigh_held(&self, economies: &[Economy]) -> Weighed {
        let held = self.holding(economies);
        weigh(&self.formulation.sum(&self.formulation.choices), &held[..economies.len()])
    }

    /// The limits with the deviations that a settled choice keeps free.
    pub(super) fn holding(&self, economies: &[Economy]) -> [Economy; LANES] {
        let mut held = [Economy::default(); LANES];
        for (lane, economy) in economies.iter().enumerate() {
            held[lane] = Economy { sigmas: economy.sigmas * self.hold_share(lane), ..*economy };
        }
        held
    }

    /// The share of the deviations that a settled choice keeps free.
    fn hold_share(&self, lane: usize) -> f64 {
        if self.config.overrun_probability > 0.0 && self.config.burdens == Burdens::Learned {
            self.holds[lane].share()
        } else {
            1.0
        }
    }

    /// Whether changes bring knowledge: in the learning phase, and always with totals only.
    fn is_restless(&self) -> bool {
        self.config.burdens == Burdens::Totals || self.pace.is_learning(self.history.latest() + 1)
    }

    /// The price of each entry's change, in value times decisions. `is_forced`: something must change.
    pub(super) fn price_changes(&mut self, prices: [f64; LANES], is_forced: bool) {
        let now = self.history.latest() + 1;
        let (patience, dwell, scale) = (self.config.patience, u64::from(self.config.dwell), self.switch_scale);
        let patience = if self.pace.is_free() { patience } else { patience * self.target.ramp(now) };
        let most_lost = if self.is_restless() { TUNING.free_loss } else { TUNING.loss };
        let lost = self.target.loss(now, most_lost);
        let reversal = self.config.decisions_of(TUNING.reversal_seconds);
        let price_of_return = match (self.pace.has_reversal(), is_forced) {
            _ if self.pace.is_free() => 1.0,
            (true, _) => TUNING.return_factor,
            (false, true) => TUNING.forced_return_factor,
            (false, false) => TUNING.voluntary_return_factor,
        };
        let stake = self.formulation.at_stake(self.formulation.highest.value) / self.formulation.entries.len() as f64;
        let flat =
            if is_forced && !self.is_restless() { TUNING.forced_change * TUNING.forced_horizon * stake } else { 0.0 };
        let Self { settings, formulation, .. } = self;
        for entry in &mut formulation.entries {
            let setting = settings.at(entry.position).expect("entries are made of the settings there are");
            let dwells = !is_forced && setting.changed > 0 && now - setting.changed < dwell;
            let factor = match (setting.is_trim, dwells) {
                (true, _) => 0.0,
                (_, true) => STILL_DWELLING * scale,
                _ => scale,
            };
            entry.price = factor * (prices[0] * setting.switch_burden + flat);
            entry.price_per_gain = factor * patience;
            entry.price_per_loss = factor * patience * lost;
            let left_lately = setting.left_at > 0 && now - setting.left_at <= reversal;
            entry.back = if left_lately { setting.left } else { NO_CHOICE };
            entry.price_of_return = price_of_return;
        }
    }

    /// What is settled does not fit: change as little as may be, with a band to spare; or if that is not possible take
    /// what is best.
    fn leave(&mut self, held: &Weighed, economies: &[Economy], effort: Effort) -> Result<Settled> {
        self.target.exists = false;
        let now = self.history.latest() + 1;
        self.target.left = now;
        let deviation = held.sum.weights[0].variance.max(0.0).sqrt();
        if held.excess[0] >= SMALL_MOVE * deviation {
            self.target.upheaval = now;
        } else if !held.feasible && now > self.target.upheaval + UNSETTLED {
            self.target.widen(now);
        }
        let headroom = economies[0].capacity - held.burden[0];
        if !weigh(&self.formulation.lightest, economies).feasible {
            return Ok(Settled { headroom, ..self.settle_anew(economies, effort)? });
        }
        if !self.watch.knows(economies.len()) {
            let found = self.formulation.solve(economies, effort, 0.0)?;
            self.watch(found, held, economies);
        }
        self.price_changes(self.watch.found.prices, true);
        let horizon = if self.is_restless() { TUNING.free_forced_horizon } else { TUNING.forced_horizon };
        let banded = self.banded(economies);
        self.formulation.solve(&banded[..economies.len()], rough(effort), 1.0 / horizon)?;
        let weighed = weigh(&self.formulation.sum(&self.formulation.found), economies);
        if !weighed.feasible {
            return Ok(Settled { headroom, ..self.settle_anew(economies, effort)? });
        }
        self.formulation.accept();
        let gap = self.gap(self.moved_best(&weighed, economies).upper_bound, weighed.sum.value);
        Ok(Settled { weighed, gap, headroom, ..Settled::default() })
    }

    /// Add up what the target gains, drop it if that was an illusion, and look for one where there is none. `gain` is
    /// what the best choice gains, which the formulation found last.
    fn follow_target(&mut self, held: &Weighed, gain: f64, economies: &[Economy], effort: Effort) -> Result<()> {
        let now = self.history.latest() + 1;
        if self.target.exists {
            let found = self.load_target().then(|| weigh(&self.formulation.sum(&self.formulation.found), economies));
            let gained =
                found.filter(|found| found.feasible).map_or(f64::NEG_INFINITY, |f| f.sum.value - held.sum.value);
            self.target.sum += gained;
            self.target.exists = self.target.sum > 0.0 && gain < OVERTAKEN * gained;
        }
        let stake = self.formulation.at_stake(held.sum.value);
        let worth_it = gain > NO_GAIN * stake;
        let soon = gain > LARGE_GAIN * stake;
        // Right after an upheaval every decision brings something new.
        let wait = if soon { ((now - self.target.upheaval) / UNSETTLED).min(TARGET_SOON) } else { TARGET_EVERY };
        let wait = if self.pace.is_free() { wait } else { TUNING.search_interval };
        let is_due = worth_it && now >= self.target.searched + wait;
        // One solve a decision is enough, but for a lot.
        let is_late = self.formulation.solved > 0 && gain < UPHEAVAL * stake;
        let allowance = self.pace.allowance();
        if self.target.exists || !is_due || is_late || allowance == 0 {
            return Ok(());
        }
        self.target.searched = now;
        let horizon = if self.is_restless() { TUNING.free_horizon } else { TUNING.horizon };
        let mut penalty = 1.0 / horizon.max((now - self.target.changed) as f64);
        let banded = self.banded(economies);
        let bars = soon && self.config.burdens == Burdens::Totals && self.target.widening(now) < NARROW;
        let (mut found, mut gained) = (Weighed::default(), f64::NEG_INFINITY);
        for limits in [&banded[..economies.len()], economies] {
            for _ in 0..MOST_SEARCHES {
                self.formulation.solve(limits, rough(effort), penalty)?;
                let changed = self.visible_changes();
                found = weigh(&self.formulation.sum(&self.formulation.found), economies);
                gained = found.sum.value - held.sum.value;
                if changed <= allowance {
                    break;
                }
                // Fewer changes: each must gain more.
                let each = (gained / changed as f64).max(0.0);
                penalty = penalty.max(1e-12);
                for entry in &mut self.formulation.entries {
                    entry.price += if entry.price_per_gain > 0.0 { each / penalty } else { 0.0 };
                }
                (found.feasible, gained) = (false, f64::NEG_INFINITY);
            }
            if !bars || gained > BARRED * gain {
                break;
            }
        }
        self.target.exists = found.feasible && gained > NO_GAIN * stake;
        self.target.sum = gained;
        let Self { settings, formulation, .. } = self;
        for (entry, &choice) in formulation.entries.iter().zip(&formulation.found) {
            settings.at_mut(entry.position).expect("entries are made of the settings there are").target = choice;
        }
        Ok(())
    }

    /// Changes that a player would see if what was found were chosen.
    fn visible_changes(&self) -> usize {
        self.changed_entries().filter(|(_, entry)| !self.setting(entry.position).is_trim).count()
    }

    /// Make the target the formulation's choices once it has paid for its changes, as many of them as the switch limit
    /// allows in a decision; whether anything changed.
    fn take_target(&mut self, held: &Weighed, economies: &[Economy]) -> bool {
        if !self.target.exists || !self.load_target() {
            return false;
        }
        let found = |at: usize| usize::from(self.formulation.found[at]);
        let price: f64 = self.changed_entries().map(|(at, entry)| self.formulation.price(entry, found(at))).sum();
        let now = self.history.latest() + 1;
        let gain = self.formulation.sum(&self.formulation.found).value - held.sum.value;
        let stake = self.formulation.at_stake(held.sum.value);
        let is_quiet = now < self.target.left + QUIET && gain < LARGE_GAIN * stake;
        if self.visible_changes() > self.pace.allowance()
            || self.target.sum < price * (1.0 - 1e-9)
            || (is_quiet && self.target.is_settled(now))
        {
            return false;
        }
        self.target.changed = now;
        if gain > UPHEAVAL * stake {
            self.target.upheaval = self.target.changed;
        }
        let burden: f64 = self.changed_entries().map(|(_, entry)| self.setting(entry.position).switch_burden).sum();
        if burden <= self.config.switch_limit {
            self.target.exists = false;
            self.formulation.accept();
            return true;
        }
        self.take_part(held, economies)
    }

    /// Make those changes of the target that fit the switch limit, the lighter options first so that there is room.
    fn take_part(&mut self, held: &Weighed, economies: &[Economy]) -> bool {
        let (mut sum, mut burden, mut any) = (held.sum, 0.0, false);
        for heavier in [false, true] {
            for at in 0..self.formulation.entries.len() {
                let (from, to) = (self.formulation.choices[at], self.formulation.found[at]);
                let entry = self.formulation.entries[at];
                let lost = self.setting(entry.position).switch_burden;
                if from == to || from == NO_CHOICE || (any && burden + lost > self.config.switch_limit) {
                    continue;
                }
                let (from, to_option) = (entry.start + usize::from(from), entry.start + usize::from(to));
                let formulation = &self.formulation;
                let is_heavier = formulation.weights_of(to_option)[0].mean > formulation.weights_of(from)[0].mean;
                let mut changed = sum;
                changed.add(formulation.values[from], formulation.weights_of(from), -1.0);
                changed.add(formulation.values[to_option], formulation.weights_of(to_option), 1.0);
                if is_heavier != heavier || !weigh(&changed, economies).feasible {
                    continue;
                }
                (sum, any) = (changed, true);
                burden += lost;
                self.formulation.choices[at] = to;
            }
        }
        any
    }

    /// Distance from the upper bound, as a share of what the bound is worth more than the lightest choice. A constant
    /// added to all options of a setting does not change it.
    fn gap(&self, upper_bound: f64, value: f64) -> f64 {
        let span = self.formulation.at_stake(upper_bound).max(f64::MIN_POSITIVE);
        ((upper_bound - value).max(0.0) / span).min(1.0)
    }

    /// Entries in which what was found differs from the choices.
    fn changed_entries(&self) -> impl Iterator<Item = (usize, &Entry)> {
        let Self { formulation, .. } = self;
        let pairs = formulation.choices.iter().zip(&formulation.found).enumerate();
        pairs.filter(|(_, (choice, found))| choice != found).map(|(at, _)| (at, &formulation.entries[at]))
    }

    /// Let trim settings take up the slack that the other choices leave.
    fn trim(&mut self, economies: &[Economy]) {
        for at in 0..self.formulation.entries.len() {
            let entry = self.formulation.entries[at];
            if !self.setting(entry.position).is_trim || self.formulation.choices[at] == NO_CHOICE {
                continue;
            }
            let formulation = &mut self.formulation;
            let present = entry.start + usize::from(formulation.choices[at]);
            let mut without = formulation.sum(&formulation.choices);
            without.add(formulation.values[present], formulation.weights_of(present), -1.0);
            let with = |option: usize| {
                let mut sum = without;
                sum.add(formulation.values[option], formulation.weights_of(option), 1.0);
                weigh(&sum, economies)
            };
            let free = || (entry.start..entry.end).filter(|&option| formulation.bars[option] == Bar::Free);
            let fits = free().filter(|&option| with(option).feasible);
            let best = fits.max_by(|&a, &b| formulation.values[a].total_cmp(&formulation.values[b]));
            let over = |option: usize| with(option).worst_excess(economies);
            let lightest = || free().min_by(|&a, &b| over(a).total_cmp(&over(b)));
            if let Some(option) = best.or_else(lightest) {
                formulation.choices[at] = (option - entry.start) as u16;
            }
        }
    }

    /// The limits less a band.
    fn banded(&self, economies: &[Economy]) -> [Economy; LANES] {
        let held = self.formulation.sum(&self.formulation.choices);
        let widening = self.target.widening(self.history.latest() + 1);
        let mut banded = [Economy::default(); LANES];
        for (lane, economy) in economies.iter().enumerate() {
            let free = widening * TUNING.band * held.weights[lane].variance.max(0.0).sqrt();
            let limit = economy.capacity.abs();
            let band = if limit.is_finite() { free.min(WIDEST * limit) } else { 0.0 };
            banded[lane] = Economy { capacity: economy.capacity - band, ..*economy };
        }
        banded
    }

    /// Make the settled choices the formulation's.
    fn load_settled(&mut self) {
        let Self { settings, formulation, .. } = self;
        formulation.choices.clear();
        let settled = |position| settings.at(position).expect("entries are made of the settings there are").settled;
        formulation.choices.extend(formulation.entries.iter().map(|entry| settled(entry.position)));
    }

    /// Put the target where the formulation keeps what it found; whether it can be chosen at all.
    fn load_target(&mut self) -> bool {
        let Self { settings, formulation, .. } = self;
        formulation.found.clear();
        let target = |position| settings.at(position).expect("entries are made of the settings there are").target;
        formulation.found.extend(formulation.entries.iter().map(|entry| target(entry.position)));
        formulation.can(&formulation.found)
    }

    /// Make the formulation's choices the settled ones.
    pub(super) fn remember_settled(&mut self, settled: &Settled) {
        let now = self.history.latest() + 1;
        let Self { settings, formulation, .. } = self;
        for (entry, &choice) in formulation.entries.iter().zip(&formulation.choices) {
            let setting = settings.at_mut(entry.position).expect("entries are made of the settings there are");
            if setting.settled != choice {
                setting.settled = choice;
                setting.changed = now;
            }
        }
        if !settled.held {
            self.target.exists &= self.config.switch_limit.is_finite();
        }
    }
}

/// How much dearer a change is while the setting dwells.
const STILL_DWELLING: f64 = 1e6;

/// Effort for what need not be the best: targets, and what is tried.
pub fn rough(effort: Effort) -> Effort {
    Effort { accepted_gap: effort.accepted_gap.min(0.0001), node_limit: effort.node_limit.min(128) }
}

impl Settled {
    /// Why a setting has the choice that it has been given in this decision.
    pub fn why(&self, setting: &Setting, entry: &Entry, bars: &[Bar], decision: u64, other_strategy: bool) -> Why {
        let choice = setting.choice;
        let value = |option: usize| setting.options[option].desc.value;
        let better =
            |bar: Bar| (0..bars.len()).any(|option| bars[option] == bar && value(option) > value(usize::from(choice)));
        if setting.range.0 == setting.range.1 {
            Why::Pinned
        } else if !entry.known {
            Why::Unknown
        } else if !self.weighed.feasible {
            Why::NothingFits
        } else if setting.is_trim {
            Why::Trim
        } else if setting.changed == decision && other_strategy {
            Why::Strategy
        } else if setting.changed == decision {
            if value(usize::from(choice)) > value(usize::from(setting.reason.to).min(bars.len() - 1)) {
                Why::Raised
            } else {
                Why::Lowered
            }
        } else if better(Bar::OutOfRange) {
            Why::Limited
        } else if better(Bar::NotReady) {
            Why::NotReady
        } else if self.waits && setting.target != choice {
            Why::Held
        } else if matches!(setting.reason.why, Why::Raised | Why::Lowered | Why::Strategy) {
            setting.reason.why
        } else {
            Why::Best
        }
    }
}
