//! Tables of contestants.

use serde_json::{Value, json};

use super::arena::Tally;
use super::score::{LATE, NEAR, Standing, WARM, Who, difference};

/// The title of the table of rules with equal shares of late frames.
pub const TUNED: &str = "tuned to 1 % of late frames";

/// Prints a table. Both goblins are compared with everyone: the cold one, and the one with a saved profile.
pub fn print(title: &str, standings: &[Standing]) {
    println!(
        "{title:<30}{:>7} |{:>6}{:>7}{:>5} |{:>9}{:>7}{:>7}{:>10} |{:>7} | {:<23}with a saved profile",
        "value", "late", "first", "run", "learning", "after", "resol.", "reversals", "budget", "goblin's lead"
    );
    for standing in standings {
        println!(
            "{:<30}{:>7.2} |{:>6.2}{:>7.1}{:>5.0} |{:>9.2}{:>7.2}{:>7.2}{:>10.1} |{:>6.3}{} | {:<23}{}",
            standing.who.name(),
            100.0 * standing.mean(|tally| tally.value),
            100.0 * standing.mean(|tally| tally.late),
            100.0 * standing.mean(|tally| tally.late_at_first),
            standing.worst(|tally| tally.worst_run),
            standing.mean(|tally| tally.changes_at_first),
            standing.mean(|tally| tally.changes),
            standing.mean(|tally| tally.resolution_changes),
            standing.mean(|tally| tally.reversals),
            standing.scale,
            if title == TUNED && !standing.is_at_target() { '!' } else { ' ' },
            outcome(&standings[0], standing),
            standings.get(1).filter(|warm| warm.who == WARM).map_or_else(String::new, |warm| outcome(warm, standing)),
        );
    }
    if title == TUNED && standings.iter().any(|standing| !standing.is_at_target()) {
        println!("(! not within {:.1} of 1 %: no factor gives it)", 100.0 * NEAR);
    }
}

/// Prints the value of each contestant in each workload.
pub fn print_by_workload(names: &[&str], standings: &[Standing]) {
    let heads: Vec<String> = names.iter().map(|name| format!("{name:>14}")).collect();
    println!("{:<30}{}", "value by workload", heads.concat());
    for standing in standings {
        let values = standing.by_workload();
        let cells: Vec<String> = values.iter().map(|value| format!("{:>14.2}", 100.0 * value)).collect();
        println!("{:<30}{}", standing.who.name(), cells.concat());
    }
}

/// The goblin's lead in text; empty against itself.
fn outcome(goblin: &Standing, other: &Standing) -> String {
    let Some(lead @ (mean, half)) = lead(goblin, other) else { return String::new() };
    format!("{:+.2} ± {:.2} {}", 100.0 * mean, 100.0 * half, verdict(goblin, other, lead))
}

/// The outcome against a rule. Value that a rule has because it is later than asked and than the goblin is no win of it.
fn verdict(goblin: &Standing, other: &Standing, (mean, half): (f64, f64)) -> &'static str {
    let late = |of: &Standing| of.mean(|tally| tally.late);
    match other.who {
        Who::Goblin { .. } => "",
        _ if mean - half > 0.0 => "win",
        _ if late(other) > late(goblin).max(LATE) + NEAR => "later",
        _ if mean + half < 0.0 => "loss",
        _ => "even",
    }
}

/// The goblin's lead in value; `None` for itself.
fn lead(goblin: &Standing, other: &Standing) -> Option<(f64, f64)> {
    (goblin.who != other.who).then(|| difference(goblin, other, |tally: &Tally| tally.value))
}

/// The same as JSON.
pub fn rows(standings: &[Standing]) -> Value {
    let row = |standing: &Standing| {
        let lead = lead(&standings[0], standing);
        let warm = standings.get(1).filter(|warm| warm.who == WARM).and_then(|warm| self::lead(warm, standing));
        json!({
            "contestant": standing.who.name(),
            "value": standing.mean(|tally| tally.value),
            "late": standing.mean(|tally| tally.late),
            "late_in_first_256": standing.mean(|tally| tally.late_at_first),
            "worst_run": standing.worst(|tally| tally.worst_run),
            "changes_per_second_while_learning": standing.mean(|tally| tally.changes_at_first),
            "changes_per_second": standing.mean(|tally| tally.changes),
            "resolution_changes_per_second": standing.mean(|tally| tally.resolution_changes),
            "reversals_per_minute": standing.mean(|tally| tally.reversals),
            "budget_factor": standing.scale,
            "lead": lead.map(|(mean, _)| mean),
            "lead_half_interval": lead.map(|(_, half)| half),
            "lead_with_saved_profile": warm.map(|(mean, _)| mean),
            "lead_half_interval_with_saved_profile": warm.map(|(_, half)| half),
        })
    };
    standings.iter().map(row).collect()
}
