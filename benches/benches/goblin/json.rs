//! The machine-readable report.

use crate::figures::{Figures, Phase, quantile_us};
use crate::targets::Verdict;

/// All rows and targets as one JSON object.
pub fn print(rows: &[Figures], verdicts: &[Verdict]) {
    let rows: Vec<String> = rows.iter().map(row).collect();
    let verdicts: Vec<String> = verdicts.iter().map(verdict).collect();
    println!("{{\"rows\":[\n{}\n],", rows.join(",\n"));
    println!("\"targets\":[\n{}\n]}}", verdicts.join(",\n"));
}

fn number(number: f64) -> String {
    if number.is_finite() { format!("{number:.6}") } else { "null".to_string() }
}

fn phase((name, phase): &(&str, &Phase)) -> String {
    format!(
        "\"{name}\":{{\"value_percent\":{},\"over_percent\":{},\"oracle_over_percent\":{},\"changes_per_second\":{},\
         \"settled_changes_per_second\":{},\"rises_per_second\":{},\"falls_per_second\":{},\
         \"trials_per_second\":{},\"trial_loss_percent\":{},\"gap_percent\":{},\
         \"bias\":{},\"fill\":{}}}",
        number(phase.value_percent()),
        number(phase.over_percent()),
        number(phase.percent(phase.oracle_over)),
        number(phase.per_second(phase.changes)),
        number(phase.per_second(phase.settled_changes)),
        number(phase.per_second(phase.rises)),
        number(phase.per_second(phase.falls)),
        number(phase.per_second(phase.trials)),
        number(phase.percent(phase.trial_loss)),
        number(phase.percent(phase.gap)),
        number(phase.bias / phase.frames),
        number(phase.fill / phase.frames),
    )
}

fn row(figures: &Figures) -> String {
    let phases = [
        ("0..256", &figures.first),
        ("256..512", &figures.at_256),
        ("512..4096", &figures.learning),
        ("steady", &figures.steady),
        ("promised", &figures.promised),
        ("in_step", &figures.in_step),
        ("after", &figures.after),
    ];
    let phases: Vec<String> = phases.iter().filter(|(_, phase)| phase.frames > 0.0).map(phase).collect();
    let each: Vec<String> =
        figures.each.iter().map(|each| format!("[{},{}]", number(each.0), number(each.1))).collect();
    let after: Vec<String> = figures.after_each.iter().map(|&after| number(after)).collect();
    format!(
        "{{\"row\":\"{}\",\"seeds\":{},\"frames\":{},\"phases\":{{{}}},\"value_and_over_percent_of_seeds\":[{}],\
         \"after_of_seeds\":[{}],\"update_us\":[{},{}],\"replayed_us\":[{},{}],\"feed_us\":[{},{}],\"memory_bytes\":{}}}",
        figures.row.name,
        figures.seeds,
        figures.row.frames,
        phases.join(","),
        each.join(","),
        after.join(","),
        number(quantile_us(&figures.update_ns, 0.5)),
        number(quantile_us(&figures.update_ns, 0.999)),
        number(quantile_us(&figures.replayed_ns, 0.5)),
        number(quantile_us(&figures.replayed_ns, 0.999)),
        number(quantile_us(&figures.feed_ns, 0.5)),
        number(quantile_us(&figures.feed_ns, 0.999)),
        figures.memory,
    )
}

fn verdict(verdict: &Verdict) -> String {
    format!(
        "{{\"target\":{},\"row\":\"{}\",\"what\":\"{}\",\"found\":{},\"wanted\":{},\"met\":{}}}",
        verdict.number,
        verdict.row,
        verdict.what,
        number(verdict.found),
        number(verdict.wanted),
        verdict.met
    )
}
