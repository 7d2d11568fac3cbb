//! Hysteresis: voluntary changes must pay for themselves, forced changes are few.
//!
//! Estimates move a little every frame, and an exact solver follows: with fifty settings some change every frame, for
//! gains that no player sees. So the settled choice is held while it fits. A better one is a *target*, whose signed
//! gain is summed frame by frame. As estimates fluctuate, an apparent gain turns into a loss, and the target is
//! dropped. The target is taken when the sum reaches the price of the change (rent or buy: A. Karlin et al.,
//! "Competitive snoopy caching", 1988). So a much better choice is taken at once, a slightly better one after a while,
//! and each lasting gain in the end.
//!
//! The price of a change has two parts. One is `patience` times the value by which the setting moves, up or down. The
//! other is the burden that is lost in the frame of the change, at the present shadow price of burden. So a change that
//! only raises settings is made after `patience` frames, and an exchange for little more value after many. Targets are
//! found with these prices as penalties, spread over the time since the last change. So a target has few changes, and
//! each pays for itself. Lost value weighs several times as much as gained value, so exchanges for little gain are
//! rare.
//!
//! A choice that no longer fits is changed at once (a *forced* change), with as few changes as possible. The new choice
//! leaves a band below the limit free, so that the next small fluctuation still fits. The band grows when it was too
//! narrow.

use crate::base::Result;
use crate::knapsack::{Economy, Effort, NO_CHOICE};

use super::reason::headroom;
use crate::goblin::config::{Burdens, LANES};
use crate::goblin::core::Core;
use crate::goblin::question::formulate::{Bar, Entry, Weighed, weigh};
use crate::goblin::tuning::{self, TUNING};

const HYSTERESIS: &tuning::Hysteresis = &TUNING.hysteresis;
const PRICE: &tuning::Price = &TUNING.price;

/// The target, a better choice whose gain is being summed. Its options are stored in the settings.
#[derive(Debug)]
pub struct Target {
    /// Whether there is a target.
    exists: bool,
    /// Its summed gain, in value times decisions.
    sum: f64,
    /// The decision of the last voluntary change, and that of the last search for a target.
    changed: u64,
    searched: u64,
    /// The decision of the last change point; at first 0.
    change_point: u64,
    /// The decision of the last forced change.
    forced: u64,
    /// Factor on the band at its last growth, and the decision of that.
    widened: f64,
    widened_at: u64,
}

impl Default for Target {
    fn default() -> Self {
        Self {
            exists: false,
            sum: 0.0,
            changed: 0,
            searched: 0,
            change_point: 0,
            forced: 0,
            widened: 1.0,
            widened_at: 0,
        }
    }
}

impl Target {
    /// The present factor on the band.
    fn widening(&self, now: u64) -> f64 {
        1.0 + (self.widened - 1.0) * (-((now - self.widened_at) as f64) / HYSTERESIS.band_decay).exp()
    }

    /// Mark a change point because the host changed the limits, so that targets are taken with the short patience of a
    /// transient.
    pub fn unsettle(&mut self, now: u64) {
        (self.change_point, self.searched) = (now, 0);
    }

    /// The decision of the last change that was not a trial.
    pub fn last_change(&self) -> u64 {
        self.changed.max(self.forced)
    }

    /// Whether the last change point is long ago.
    pub fn is_settled(&self, now: u64) -> bool {
        now > self.change_point + PRICE.loss_ramp as u64
    }

    /// The factor on the patience. It is 1 at a change point, so that true shifts are followed at once.
    fn ramp(&self, now: u64) -> f64 {
        1.0 + (PRICE.patience_most - 1.0) * ((now - self.change_point) as f64 / PRICE.patience_ramp).min(1.0)
    }

    /// Weight of value that a setting loses in a change, relative to gained value. Players see both, but only the
    /// difference is gained. The weight is lower soon after a change point.
    fn loss(&self, now: u64, most: f64) -> f64 {
        PRICE.first_loss + (most - PRICE.first_loss) * ((now - self.change_point) as f64 / PRICE.loss_ramp).min(1.0)
    }

    /// Widen the band after a forced change with a small excess.
    fn widen(&mut self, now: u64) {
        self.widened = (HYSTERESIS.band_growth * self.widening(now)).min(HYSTERESIS.most_band_growth);
        self.widened_at = now;
    }
}

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
    /// Whether there is a target.
    pub waits: bool,
}

impl Core {
    /// Solve, and accept the solution or hold the settled choices. The result is the formulation's choices.
    pub(in crate::goblin) fn settle(&mut self, economies: &[Economy], effort: Effort) -> Result<Settled> {
        if self.config.patience == 0.0 || self.config.burdens == Burdens::Relative {
            return self.settle_anew(economies, effort);
        }
        self.load_settled();
        self.trim(economies);
        let can = self.formulation.can(&self.formulation.choices);
        let held = self.weigh_held(economies);
        if !held.feasible || !can {
            return self.force_change(&held, economies, effort);
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
            before: headroom(&held, economies),
            gained: 0.0,
            held: true,
            waits: false,
        };
        self.follow_target(&held, best.gain, economies, effort)?;
        if self.take_target(&held, economies) {
            settled.weighed = weigh(&self.formulation.sum(&self.formulation.choices), economies);
            settled.gained = settled.weighed.sum.value - held.sum.value;
            settled.gap = self.gap(best.upper_bound, settled.weighed.sum.value);
            settled.held = false;
        }
        settled.waits = self.target.exists;
        Ok(settled)
    }

    /// Choose the optimum, regardless of the settled choices.
    pub(in crate::goblin) fn settle_anew(&mut self, economies: &[Economy], effort: Effort) -> Result<Settled> {
        self.target.exists = false;
        self.target.changed = self.history.latest();
        self.load_settled();
        let held = weigh(&self.formulation.sum(&self.formulation.choices), economies);
        let best = self.formulation.solve(economies, effort, 0.0)?;
        self.formulation.accept();
        let weighed = weigh(&self.formulation.sum(&self.formulation.choices), economies);
        self.watch(best, &weighed, economies);
        let gap = self.gap(best.upper_bound, weighed.sum.value);
        let gained = weighed.sum.value - held.sum.value;
        Ok(Settled { weighed, gap, before: headroom(&held, economies), gained, ..Settled::default() })
    }

    /// Totals of the settled choices. A lane that was late seldom enough keeps only a share of its margin, see
    /// [`Hold`](crate::goblin::learn::hold::Hold).
    fn weigh_held(&self, economies: &[Economy]) -> Weighed {
        let held = self.holding(economies);
        weigh(&self.formulation.sum(&self.formulation.choices), &held[..economies.len()])
    }

    /// The limits with the margin of a settled choice.
    pub(in crate::goblin) fn holding(&self, economies: &[Economy]) -> [Economy; LANES] {
        let mut held = [Economy::default(); LANES];
        for (lane, economy) in economies.iter().enumerate() {
            held[lane] = Economy { sigmas: economy.sigmas * self.hold_share(lane), ..*economy };
        }
        held
    }

    /// The share of the margin that a settled choice keeps.
    fn hold_share(&self, lane: usize) -> f64 {
        if self.config.overrun_probability > 0.0 && self.config.burdens == Burdens::Learned {
            self.holds[lane].share()
        } else {
            1.0
        }
    }

    /// Whether changes also explore: in the learning phase, and always with totals only.
    fn is_exploring(&self) -> bool {
        self.config.burdens == Burdens::Totals || self.pace.is_learning(self.history.latest() + 1)
    }

    /// Set the price of each entry's change, in value times decisions. `is_forced`: something must change.
    pub(in crate::goblin) fn price_changes(&mut self, prices: [f64; LANES], is_forced: bool) {
        let now = self.history.latest() + 1;
        let (patience, dwell, scale) = (self.config.patience, u64::from(self.config.dwell), self.switch_scale);
        let patience = if self.pace.is_free() { patience } else { patience * self.target.ramp(now) };
        let most_lost = if self.is_exploring() { PRICE.free_loss } else { PRICE.loss };
        let lost = self.target.loss(now, most_lost);
        let reversal = self.config.decisions_of(TUNING.pace.reversal_seconds);
        let price_of_return = match (self.pace.has_reversal(), is_forced) {
            _ if self.pace.is_free() => 1.0,
            (true, _) => PRICE.reversal,
            (false, true) => PRICE.spent_forced_reversal,
            (false, false) => PRICE.spent_reversal,
        };
        let stake = self.formulation.at_stake(self.formulation.highest.value) / self.formulation.entries.len() as f64;
        let flat =
            if is_forced && !self.is_exploring() { PRICE.forced_change * PRICE.forced_horizon * stake } else { 0.0 };
        let Self { settings, formulation, .. } = self;
        for entry in &mut formulation.entries {
            let setting = settings.at(entry.position).expect("entries are made of the settings there are");
            let dwells = !is_forced && setting.changed > 0 && now - setting.changed < dwell;
            let scale = scale * setting.switch_scale;
            let factor = match (setting.is_trim, dwells) {
                (true, _) => 0.0,
                (_, true) => PRICE.dwelling * scale,
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

    /// Forced change: the settled choices do not fit. Change as little as possible and leave a band free; if that is
    /// not possible, choose the optimum.
    fn force_change(&mut self, held: &Weighed, economies: &[Economy], effort: Effort) -> Result<Settled> {
        self.target.exists = false;
        let now = self.history.latest() + 1;
        self.target.forced = now;
        let deviation = held.sum.weights[0].variance.max(0.0).sqrt();
        if held.excess[0] >= HYSTERESIS.change_point_excess * deviation {
            self.target.change_point = now;
        } else if !held.feasible && now > self.target.change_point + HYSTERESIS.transient {
            self.target.widen(now);
        }
        let before = headroom(held, economies);
        if !weigh(&self.formulation.lightest, economies).feasible {
            return Ok(Settled { before, ..self.settle_anew(economies, effort)? });
        }
        if !self.watch.knows(economies.len()) {
            let found = self.formulation.solve(economies, effort, 0.0)?;
            self.watch(found, held, economies);
        }
        self.price_changes(self.watch.found.prices, true);
        let horizon = if self.is_exploring() { PRICE.free_forced_horizon } else { PRICE.forced_horizon };
        let banded = self.banded(economies);
        self.formulation.solve(&banded[..economies.len()], rough(effort), 1.0 / horizon)?;
        let weighed = weigh(&self.formulation.sum(&self.formulation.found), economies);
        if !weighed.feasible {
            return Ok(Settled { before, ..self.settle_anew(economies, effort)? });
        }
        self.formulation.accept();
        let gap = self.gap(self.moved_best(&weighed, economies).upper_bound, weighed.sum.value);
        let gained = weighed.sum.value - held.sum.value;
        Ok(Settled { weighed, gap, before, gained, ..Settled::default() })
    }

    /// Sum the gain of the target, drop it when its summed gain turns negative, and search for one when there is no
    /// target. `gain` is the gain of the best choice.
    fn follow_target(&mut self, held: &Weighed, gain: f64, economies: &[Economy], effort: Effort) -> Result<()> {
        let now = self.history.latest() + 1;
        if self.target.exists {
            let found = self.load_target().then(|| weigh(&self.formulation.sum(&self.formulation.found), economies));
            let gained =
                found.filter(|found| found.feasible).map_or(f64::NEG_INFINITY, |f| f.sum.value - held.sum.value);
            self.target.sum += gained;
            self.target.exists = self.target.sum > 0.0 && gain < HYSTERESIS.replaced_at * gained;
        }
        let stake = self.formulation.at_stake(held.sum.value);
        let worth_it = gain > HYSTERESIS.least_gain * stake;
        let soon = gain > HYSTERESIS.large_gain * stake;
        // In the transient after a change point, every decision brings new estimates.
        let wait = if soon {
            ((now - self.target.change_point) / HYSTERESIS.transient).min(HYSTERESIS.large_gain_interval)
        } else {
            HYSTERESIS.free_search_interval
        };
        let wait = if self.pace.is_free() { wait } else { HYSTERESIS.search_interval };
        let is_due = worth_it && now >= self.target.searched + wait;
        // One solve per decision is enough, except for a change point.
        let is_late = self.formulation.solved > 0 && gain < HYSTERESIS.change_point_gain * stake;
        let allowance = self.pace.allowance();
        if self.target.exists || !is_due || is_late || allowance == 0 {
            return Ok(());
        }
        self.target.searched = now;
        let horizon = if self.is_exploring() { PRICE.free_horizon } else { PRICE.horizon };
        let mut penalty = 1.0 / horizon.max((now - self.target.changed) as f64);
        let banded = self.banded(economies);
        let may_ignore_band =
            soon && self.config.burdens == Burdens::Totals && self.target.widening(now) < HYSTERESIS.narrow_band;
        let (mut found, mut gained) = (Weighed::default(), f64::NEG_INFINITY);
        for limits in [&banded[..economies.len()], economies] {
            for _ in 0..HYSTERESIS.most_searches {
                self.formulation.solve(limits, rough(effort), penalty)?;
                let changed = self.visible_changes();
                found = weigh(&self.formulation.sum(&self.formulation.found), economies);
                gained = found.sum.value - held.sum.value;
                if changed <= allowance as f64 {
                    break;
                }
                // For fewer changes, each must gain more.
                let each = (gained / changed).max(0.0);
                penalty = penalty.max(1e-12);
                for entry in &mut self.formulation.entries {
                    entry.price += if entry.price_per_gain > 0.0 { each / penalty } else { 0.0 };
                }
                (found.feasible, gained) = (false, f64::NEG_INFINITY);
            }
            if !may_ignore_band || gained > HYSTERESIS.least_banded_gain * gain {
                break;
            }
        }
        self.target.exists = found.feasible && gained > HYSTERESIS.least_gain * stake;
        self.target.sum = gained;
        let Self { settings, formulation, .. } = self;
        for (entry, &choice) in formulation.entries.iter().zip(&formulation.found) {
            settings.at_mut(entry.position).expect("entries are made of the settings there are").target = choice;
        }
        Ok(())
    }

    /// Number of changes of the found choices that a player would see; less than 1 for each that is hard to notice.
    fn visible_changes(&self) -> f64 {
        self.changed_entries().map(|(_, entry)| self.setting(entry.position).noticeability()).sum()
    }

    /// Take the target once it has paid for its changes, as many of them as the switch limit allows in a decision.
    /// Returns whether anything changed.
    fn take_target(&mut self, held: &Weighed, economies: &[Economy]) -> bool {
        if !self.target.exists || !self.load_target() {
            return false;
        }
        let found = |at: usize| usize::from(self.formulation.found[at]);
        let price: f64 = self.changed_entries().map(|(at, entry)| self.formulation.price(entry, found(at))).sum();
        let now = self.history.latest() + 1;
        let gain = self.formulation.sum(&self.formulation.found).value - held.sum.value;
        let stake = self.formulation.at_stake(held.sum.value);
        let is_cooling_down = now < self.target.forced + HYSTERESIS.cooldown && gain < HYSTERESIS.large_gain * stake;
        if self.visible_changes() > self.pace.allowance() as f64
            || self.target.sum < price * (1.0 - 1e-9)
            || (is_cooling_down && self.target.is_settled(now))
        {
            return false;
        }
        self.target.changed = now;
        if gain > HYSTERESIS.change_point_gain * stake {
            self.target.change_point = self.target.changed;
        }
        let burden: f64 = self.changed_entries().map(|(_, entry)| self.setting(entry.position).switch_burden).sum();
        if burden <= self.config.switch_limit {
            self.target.exists = false;
            self.formulation.accept();
            return true;
        }
        self.take_part(held, economies)
    }

    /// Make the changes of the target that fit the switch limit. Lighter options go first, to make room.
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

    /// Distance from the upper bound, relative to the bound's value above the lightest choice. A constant added to all
    /// options of a setting does not change it.
    fn gap(&self, upper_bound: f64, value: f64) -> f64 {
        let span = self.formulation.at_stake(upper_bound).max(f64::MIN_POSITIVE);
        ((upper_bound - value).max(0.0) / span).min(1.0)
    }

    /// Entries in which the found choice differs from the present one.
    fn changed_entries(&self) -> impl Iterator<Item = (usize, &Entry)> {
        let Self { formulation, .. } = self;
        let pairs = formulation.choices.iter().zip(&formulation.found).enumerate();
        pairs.filter(|(_, (choice, found))| choice != found).map(|(at, _)| (at, &formulation.entries[at]))
    }

    /// Let TRIM settings follow the fast component of the common factor, which moves no other setting. Their margin is
    /// smaller, because the next frame corrects them. Only with a probability: sigmas are a request of the host.
    pub(in crate::goblin) fn trim_fast(&mut self, weighed: &mut Weighed, economies: &[Economy]) {
        let pairs = self.formulation.entries.iter().zip(&self.formulation.choices);
        let mut trims = pairs.filter(|(entry, _)| self.setting(entry.position).is_trim).peekable();
        let is_asked = self.config.overrun_probability > 0.0 && weighed.feasible && trims.peek().is_some();
        // A trial keeps its option.
        if !is_asked || trims.any(|(entry, &choice)| choice != self.setting(entry.position).settled) {
            return;
        }
        let (slow, fast) = (self.common_factors(), self.fast_factors());
        let mut quick = [Economy::default(); LANES];
        for (lane, economy) in economies.iter().enumerate() {
            let capacity = economy.capacity * slow[lane] / fast[lane];
            quick[lane] = Economy { capacity, sigmas: economy.sigmas * HYSTERESIS.trim_share };
        }
        self.trim(&quick[..economies.len()]);
        let now = self.history.latest() + 1;
        let Self { settings, formulation, .. } = self;
        for (entry, &choice) in formulation.entries.iter().zip(&formulation.choices) {
            let setting = settings.at_mut(entry.position).expect("entries are made of the settings there are");
            if setting.is_trim && setting.settled != choice {
                (setting.settled, setting.changed) = (choice, now);
            }
        }
        let found = weigh(&formulation.sum(&formulation.choices), economies);
        *weighed = Weighed { feasible: true, excess: weighed.excess, ..found };
    }

    /// Let TRIM settings use the capacity that the other choices leave.
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

    /// The limits minus the band.
    fn banded(&self, economies: &[Economy]) -> [Economy; LANES] {
        let held = self.formulation.sum(&self.formulation.choices);
        let widening = self.target.widening(self.history.latest() + 1);
        let mut banded = [Economy::default(); LANES];
        for (lane, economy) in economies.iter().enumerate() {
            let free = widening * HYSTERESIS.band * held.weights[lane].variance.max(0.0).sqrt();
            let limit = economy.capacity.abs();
            let band = if limit.is_finite() { free.min(HYSTERESIS.widest_band * limit) } else { 0.0 };
            banded[lane] = Economy { capacity: economy.capacity - band, ..*economy };
        }
        banded
    }

    /// Copy the settled choices to the formulation's choices.
    fn load_settled(&mut self) {
        let Self { settings, formulation, .. } = self;
        formulation.choices.clear();
        let settled = |position| settings.at(position).expect("entries are made of the settings there are").settled;
        formulation.choices.extend(formulation.entries.iter().map(|entry| settled(entry.position)));
    }

    /// Copy the target to the formulation's found choices. Returns whether its options are available.
    fn load_target(&mut self) -> bool {
        let Self { settings, formulation, .. } = self;
        formulation.found.clear();
        let target = |position| settings.at(position).expect("entries are made of the settings there are").target;
        formulation.found.extend(formulation.entries.iter().map(|entry| target(entry.position)));
        formulation.can(&formulation.found)
    }

    /// Store the formulation's choices as the settled ones.
    pub(in crate::goblin) fn remember_settled(&mut self, settled: &Settled) {
        let now = self.history.latest() + 1;
        let Self { settings, formulation, .. } = self;
        for (entry, &choice) in formulation.entries.iter().zip(&formulation.choices) {
            let setting = settings.at_mut(entry.position).expect("entries are made of the settings there are");
            if setting.settled != choice {
                (setting.settled_before, setting.settled) = (setting.settled, choice);
                setting.changed = now;
            }
        }
        if !settled.held {
            self.target.exists &= self.config.switch_limit.is_finite();
        }
    }
}

/// Solver effort for targets and trials, which need not be optimal.
pub fn rough(effort: Effort) -> Effort {
    Effort {
        accepted_gap: effort.accepted_gap.min(HYSTERESIS.rough_gap),
        node_limit: effort.node_limit.min(HYSTERESIS.rough_nodes),
    }
}
