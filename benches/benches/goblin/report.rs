//! The report: tables for people, JSON for programs.

use crate::figures::{Figures, quantile_us};
use crate::run::Event;
use crate::targets::Verdict;

/// Tables of all rows, then the targets.
pub fn print(rows: &[Figures], verdicts: &[Verdict]) {
    println!("value as % of the oracle's; over = % of frames over the limit; [least..most of a seed]");
    println!(
        "{:<20} {:>5}x{:<6}|{:>7}{:>7} |{:>7}{:>7} |{:>7}{:>7} |{:>7} {:<16}{:>7} {:<14}|{:>7} {:>5}",
        "row",
        "seeds",
        "frames",
        "0..256",
        "over",
        "..512",
        "over",
        "..4096",
        "over",
        "steady",
        "",
        "over",
        "(after 1024)",
        "oracle",
        "sigma"
    );
    for figures in rows {
        let row = &figures.row;
        let (least, most) = range(figures.each.iter().map(|each| each.0));
        let (seldom, often) = range(figures.each.iter().map(|each| each.1));
        println!(
            "{:<20} {:>5}x{:<6}|{:>7.2}{:>7.2} |{:>7.2}{:>7.2} |{:>7.2}{:>7.2} |{:>7.2} {:<16}{:>7.3} {:<14}|{:>7.3} {:>5.2}",
            row.name,
            figures.seeds,
            row.frames,
            figures.first.value_percent(),
            figures.first.over_percent(),
            figures.at_256.value_percent(),
            figures.at_256.over_percent(),
            figures.learning.value_percent(),
            figures.learning.over_percent(),
            figures.steady.value_percent(),
            format!("[{least:.1}..{most:.1}]"),
            figures.promised.over_percent(),
            format!("[{seldom:.2}..{often:.2}]"),
            100.0 * figures.promised.oracle_over / figures.promised.frames,
            figures.oracle_sigmas / figures.seeds,
        );
    }
    print_rates(rows);
    print_causes(rows);
    print_events(rows);
    println!("\ntargets");
    for Verdict { number, row, what, found, wanted, met } in verdicts {
        let verdict = if *met { "met" } else { "NOT met" };
        println!("{number}. {row:<20} {what:<46} {found:>9.3}  wanted {wanted:>6}  {verdict}");
    }
}

fn print_rates(rows: &[Figures]) {
    println!("\nsteady state: changes and trials per second; update and feeding of all samples in us; memory");
    println!(
        "{:<20} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>8}",
        "row", "changes", "settled", "trials", "median", "p99.9", "feed", "feed99.9", "KiB", "options"
    );
    for figures in rows {
        let steady = &figures.steady;
        println!(
            "{:<20} {:>9.3} {:>9.3} {:>9.3} {:>9.2} {:>9.2} {:>9.2} {:>9.2} {:>8} {:>8.0}",
            figures.row.name,
            steady.per_second(steady.changes),
            steady.per_second(steady.settled_changes),
            steady.per_second(steady.trials),
            quantile_us(&figures.update_ns, 0.5),
            quantile_us(&figures.update_ns, 0.999),
            quantile_us(&figures.feed_ns, 0.5),
            quantile_us(&figures.feed_ns, 0.999),
            figures.memory / 1024,
            figures.options / figures.seeds,
        );
    }
}

fn print_causes(rows: &[Figures]) {
    println!(
        "\nwhy, in the steady state: distance from the best by its own estimates; true over expected mean; true burden at \
         the oracle's sigmas over the limit; share of the overruns that fell on frames with trials (and of frames)\n\
         at the end: settings per seed that differ from the oracle, and their value in % of the oracle's"
    );
    println!(
        "{:<20} {:>7} {:>8} {:>8} {:>9} {:>9} | {:>13} {:>13} {:>13} {:>13}",
        "row", "gap %", "bias %", "fill %", "on trial", "(frames)", "unknown", "thought dear", "thought cheap", "other"
    );
    for figures in rows {
        let (steady, causes, seeds) = (&figures.steady, &figures.causes, figures.seeds);
        let cause = |cause: (f64, f64)| format!("{:.2} {:>6.2}%", cause.0 / seeds, 100.0 * cause.1 / seeds);
        let on_trial = if steady.over > 0.0 { 100.0 * steady.over_on_trial / steady.over } else { 0.0 };
        println!(
            "{:<20} {:>7.2} {:>8.2} {:>8.2} {:>9.1} {:>9.1} | {:>13} {:>13} {:>13} {:>13}",
            figures.row.name,
            100.0 * steady.gap / steady.frames,
            100.0 * (steady.bias / steady.frames - 1.0),
            100.0 * steady.fill / steady.frames,
            on_trial,
            100.0 * steady.trial_frames / steady.frames,
            cause(causes.unknown),
            cause(causes.believed_dear),
            cause(causes.believed_cheap),
            cause(causes.consequence),
        );
    }
}

fn print_events(rows: &[Figures]) {
    for figures in rows {
        let mut each = figures.after_each.clone();
        each.sort_by(f64::total_cmp);
        let Some((&least, &most)) = each.first().zip(each.last()) else { continue };
        let (median, name, after) = (each[each.len() / 2], figures.row.name, &figures.after);
        match figures.row.event {
            Event::Step { .. } => println!(
                "{name:<20} in the step: value {:.2} %, over {:.3} % (its first 60 frames apart); 600 to 1200 after it: \
                 value {:.2} %; 99 % again after {least} / {median} / {most} frames (least, median, most)",
                figures.in_step.value_percent(),
                figures.in_step.over_percent(),
                after.value_percent(),
            ),
            _ => println!(
                "{name:<20} frames 5 to 125: value {:.2} %, over {:.2} %; worst ten frames of a seed \
                 {least:.2} / {median:.2} / {most:.2} % (least, median, most)",
                after.value_percent(),
                after.over_percent(),
            ),
        }
    }
}

fn range(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), number| (least.min(number), most.max(number)))
}

/// The same as JSON.
pub fn print_json(rows: &[Figures], verdicts: &[Verdict]) {
    let number = |number: f64| if number.is_finite() { format!("{number:.6}") } else { "null".to_string() };
    let lines = rows.iter().map(|figures| {
        let phases = [
            ("0..256", &figures.first),
            ("256..512", &figures.at_256),
            ("512..4096", &figures.learning),
            ("steady", &figures.steady),
            ("promised", &figures.promised),
            ("in_step", &figures.in_step),
            ("after", &figures.after),
        ];
        let phases = phases.iter().filter(|(_, phase)| phase.frames > 0.0).map(|(name, phase)| {
            format!(
                "\"{name}\":{{\"value_percent\":{},\"over_percent\":{},\"oracle_over_percent\":{},\
                 \"changes_per_second\":{},\"settled_changes_per_second\":{},\"trials_per_second\":{},\
                 \"gap\":{},\"bias\":{},\"fill\":{}}}",
                number(phase.value_percent()),
                number(phase.over_percent()),
                number(100.0 * phase.oracle_over / phase.frames),
                number(phase.per_second(phase.changes)),
                number(phase.per_second(phase.settled_changes)),
                number(phase.per_second(phase.trials)),
                number(phase.gap / phase.frames),
                number(phase.bias / phase.frames),
                number(phase.fill / phase.frames),
            )
        });
        let each = figures.each.iter().map(|each| format!("[{},{}]", number(each.0), number(each.1)));
        let after = figures.after_each.iter().map(|&after| number(after));
        format!(
            "{{\"row\":\"{}\",\"seeds\":{},\"frames\":{},\"phases\":{{{}}},\"value_and_over_percent_of_seeds\":[{}],\
             \"after_of_seeds\":[{}],\"update_us\":[{},{}],\"feed_us\":[{},{}],\"memory_bytes\":{}}}",
            figures.row.name,
            figures.seeds,
            figures.row.frames,
            phases.collect::<Vec<_>>().join(","),
            each.collect::<Vec<_>>().join(","),
            after.collect::<Vec<_>>().join(","),
            number(quantile_us(&figures.update_ns, 0.5)),
            number(quantile_us(&figures.update_ns, 0.999)),
            number(quantile_us(&figures.feed_ns, 0.5)),
            number(quantile_us(&figures.feed_ns, 0.999)),
            figures.memory,
        )
    });
    let verdicts = verdicts.iter().map(|verdict| {
        format!(
            "{{\"target\":{},\"row\":\"{}\",\"what\":\"{}\",\"found\":{},\"wanted\":{},\"met\":{}}}",
            verdict.number,
            verdict.row,
            verdict.what,
            number(verdict.found),
            number(verdict.wanted),
            verdict.met
        )
    });
    println!("{{\"rows\":[\n{}\n],", lines.collect::<Vec<_>>().join(",\n"));
    println!("\"targets\":[\n{}\n]}}", verdicts.collect::<Vec<_>>().join(",\n"));
}
