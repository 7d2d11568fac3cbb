//! The targets, and whether they are met.

use crate::figures::{Figures, quantile_us};
use crate::governor::Player;
use crate::oracle::Asked;
use crate::run::Event;

/// A target and the measured figure.
#[derive(Clone, Debug)]
pub struct Verdict {
    pub number: u32,
    pub row: String,
    pub what: &'static str,
    pub found: f64,
    pub wanted: f64,
    pub met: bool,
}

/// The verdicts on one row.
struct Judge<'a> {
    row: &'a str,
    verdicts: &'a mut Vec<Verdict>,
}

impl Judge<'_> {
    fn at_most(&mut self, number: u32, what: &'static str, found: f64, wanted: f64) {
        let met = found <= wanted;
        self.verdicts.push(Verdict { number, row: self.row.to_string(), what, found, wanted, met });
    }

    fn at_least(&mut self, number: u32, what: &'static str, found: f64, wanted: f64) {
        let met = found >= wanted;
        self.verdicts.push(Verdict { number, row: self.row.to_string(), what, found, wanted, met });
    }
}

/// All targets that the rows cover. The peers of the goblin are only shown.
pub fn judge(rows: &[Figures]) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for figures in rows {
        let mut judge = Judge { row: &figures.row.name, verdicts: &mut verdicts };
        calm(&mut judge, figures);
        match (figures.row.player, figures.row.event) {
            (Player::Goblin, Event::Nothing) => plain(&mut judge, figures),
            (Player::Goblin, Event::Step { .. }) => step(&mut judge, figures),
            (Player::Goblin, Event::Past { .. }) => past(&mut judge, figures),
            (Player::Goblin, Event::TotalsOnly) => {
                judge.at_least(7, "value from frame 4096 on, %", figures.late.value_percent(), 97.0);
                if let Asked::Probability(probability) = figures.row.asked {
                    judge.at_most(7, "over from frame 4096 on, %", figures.late.over_percent(), 150.0 * probability);
                }
            }
            (Player::Impatient, _) => judge.at_least(2, "value, steady, %", figures.steady.value_percent(), 99.7),
            _ => {}
        }
    }
    verdicts.sort_by_key(|verdict| verdict.number);
    verdicts
}

fn plain(judge: &mut Judge<'_>, figures: &Figures) {
    judge.at_most(1, "over in frames 0 to 256, %", figures.first.over_percent(), 5.0);
    judge.at_least(1, "value in frames 256 to 512, %", figures.at_256.value_percent(), 90.0);
    let steady = &figures.steady;
    match figures.row.asked {
        Asked::Sigmas(_) => judge.at_least(2, "value, steady, %", steady.value_percent(), 99.2),
        Asked::Probability(probability) => {
            judge.at_most(3, "over after 1024 frames, %", figures.promised.over_percent(), 150.0 * probability);
            judge.at_least(3, "value, steady, %", steady.value_percent(), 98.0);
        }
    }
    if figures.row.is_independent() {
        judge.at_most(4, "changes per second, steady, all", steady.per_second(steady.changes), 0.1);
        judge.at_most(4, "the same without trials", steady.per_second(steady.settled_changes), 0.1);
        judge.at_most(8, "update, median us", quantile_us(&figures.replayed_ns, 0.5), 15.0);
        judge.at_most(8, "update, p99.9 us", quantile_us(&figures.replayed_ns, 0.999), 50.0);
    }
}

/// Past profiles are played only in the learning phase. With totals only, changes are not limited.
fn calm(judge: &mut Judge<'_>, figures: &Figures) {
    if figures.row.player != Player::Goblin || !matches!(figures.row.event, Event::Nothing | Event::Step { .. }) {
        return;
    }
    let calm = &figures.calm;
    let most = if figures.row.is_independent() { 0.05 } else { 1.0 };
    judge.at_most(9, "changes per second after 1024 frames", calm.per_second(calm.changes), most);
    judge.at_most(9, "reversals per minute after 1024 frames", 60.0 * calm.per_second(calm.reversals), 2.0);
}

fn step(judge: &mut Judge<'_>, figures: &Figures) {
    judge.at_least(5, "value 600 to 1200 frames after, %", figures.after.value_percent(), 99.0);
    judge.at_most(5, "frames until a second is at 99 %, pooled", figures.recovered(), 600.0);
}

fn past(judge: &mut Judge<'_>, figures: &Figures) {
    judge.at_least(6, "value in frames 5 to 125, %", figures.after.value_percent(), 95.0);
    let mean = figures.after_each.iter().sum::<f64>() / figures.after_each.len() as f64;
    judge.at_least(6, "worst ten frames of a seed, mean, %", mean, 95.0);
}
