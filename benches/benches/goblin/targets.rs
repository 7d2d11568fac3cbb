//! The targets, and whether they are met.

use crate::figures::{Figures, quantile_us};
use crate::run::Event;

/// A target held against what was found.
#[derive(Clone, Debug)]
pub struct Verdict {
    pub number: u32,
    pub row: &'static str,
    pub what: &'static str,
    pub found: f64,
    pub wanted: f64,
    pub met: bool,
}

/// All targets that the rows allow to judge.
pub fn judge(rows: &[Figures]) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    let find = |name: &str| rows.iter().find(|figures| figures.row.name == name);
    let mut at_most = |number, figures: &Figures, what, found: f64, wanted: f64| {
        verdicts.push(Verdict { number, row: figures.row.name, what, found, wanted, met: found <= wanted });
    };
    if let Some(iid) = find("iid-4s") {
        at_most(1, iid, "over budget in the first 256 frames, %", iid.first.over_percent(), 5.0);
    }
    for name in ["iid-1%", "ar1-1%", "spikes-1%", "student-1%", "common-1%", "common-ar1-1%"] {
        if let Some(row) = find(name) {
            at_most(3, row, "over budget after 1024 frames, %", row.promised.over_percent(), 1.5);
        }
    }
    for name in ["iid-4s", "iid-1%"] {
        if let Some(row) = find(name) {
            at_most(4, row, "changes per second, all", row.steady.per_second(row.steady.changes), 0.1);
            let settled = row.steady.per_second(row.steady.settled_changes);
            at_most(4, row, "changes per second, without trials", settled, 0.1);
        }
    }
    for name in ["step-4s", "step-1%"] {
        if let Some(row) = find(name) {
            at_most(5, row, "frames until 99 %, worst seed", row.after_each.iter().copied().fold(0.0, f64::max), 600.0);
        }
    }
    if let Some(iid) = find("iid-4s") {
        at_most(8, iid, "update, median us", quantile_us(&iid.update_ns, 0.5), 15.0);
        at_most(8, iid, "update, p99.9 us", quantile_us(&iid.update_ns, 0.999), 50.0);
    }
    let mut at_least = |number, figures: &Figures, what, found: f64, wanted: f64| {
        verdicts.push(Verdict { number, row: figures.row.name, what, found, wanted, met: found >= wanted });
    };
    if let Some(iid) = find("iid-4s") {
        at_least(1, iid, "value in frames 256 to 512, %", iid.at_256.value_percent(), 90.0);
        at_least(2, iid, "value in the steady state, %", iid.steady.value_percent(), 99.2);
    }
    if let Some(row) = find("iid-4s-patience0") {
        at_least(2, row, "value in the steady state, %", row.steady.value_percent(), 99.7);
    }
    for name in ["iid-1%", "ar1-1%", "spikes-1%", "student-1%", "common-1%", "common-ar1-1%"] {
        if let Some(row) = find(name) {
            at_least(3, row, "value in the steady state, %", row.steady.value_percent(), 98.0);
        }
    }
    for row in rows.iter().filter(|figures| !figures.row.name.contains(' ')) {
        match row.row.event {
            Event::Step { .. } => at_least(5, row, "value 600 to 1200 after, %", row.after.value_percent(), 99.0),
            Event::Past { .. } => {
                at_least(6, row, "value in frames 5 to 125, %", row.after.value_percent(), 95.0);
                let mean = row.after_each.iter().sum::<f64>() / row.after_each.len() as f64;
                at_least(6, row, "worst 10 frames of them, mean of seeds, %", mean, 95.0);
            }
            Event::TotalsOnly => at_least(7, row, "value in the steady state, %", row.steady.value_percent(), 97.0),
            Event::Nothing => {}
        }
    }
    verdicts.sort_by_key(|verdict| verdict.number);
    verdicts
}
