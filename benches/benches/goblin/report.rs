//! The human-readable report.

use crate::figures::{CURVE, Figures, Phase, quantile_us};
use crate::run::Event;
use crate::targets::Verdict;

/// Tables of all rows, then the targets.
pub fn print(rows: &[Figures], verdicts: &[Verdict], with_curve: bool) {
    print_values(rows);
    if with_curve {
        print_curve(rows);
    }
    print_rates(rows);
    print_losses(rows);
    print_knowledge(rows);
    print_events(rows);
    println!("\ntargets");
    for Verdict { number, row, what, found, wanted, met } in verdicts {
        let verdict = if *met { "met" } else { "NOT met" };
        println!("{number}. {row:<18} {what:<42} {found:>9.3}  wanted {wanted:>6.2}  {verdict}");
    }
    let met = verdicts.iter().filter(|verdict| verdict.met).count();
    println!("{met} of {} met", verdicts.len());
}

/// Formats a number for a column; `-` if it is not finite.
fn cell(number: f64, decimals: usize) -> String {
    if number.is_finite() { format!("{number:.decimals$}") } else { "-".to_string() }
}

fn print_values(rows: &[Figures]) {
    println!(
        "value in % of the oracle's; over = % of frames over the limit, [least, most] of a seed; oracle = its own share \
         over the limit in the same frames, and the sigmas it keeps free"
    );
    println!(
        "{:<20}{:>5} {:<6}|{:^14}|{:^14}|{:^14}|{:^22}|{:^23}|{:^13}",
        "", "", "", "0..256", "256..512", "512..4096", "last three quarters", "over after 1024", "oracle"
    );
    println!(
        "{:<20}{:>5}x{:<6}|{:>7}{:>7}|{:>7}{:>7}|{:>7}{:>7}|{:>7} {:<14}|{:>7} {:<15}|{:>7} {:>5}",
        "row",
        "seeds",
        "frames",
        "value",
        "over",
        "value",
        "over",
        "value",
        "over",
        "value",
        "",
        "over",
        "",
        "over",
        "sigma"
    );
    let pair = |phase: &Phase| (cell(phase.value_percent(), 2), cell(phase.over_percent(), 2));
    for figures in rows {
        let row = &figures.row;
        let (first, second, third) = (pair(&figures.first), pair(&figures.at_256), pair(&figures.learning));
        println!(
            "{:<20}{:>5}x{:<6}|{:>7}{:>7}|{:>7}{:>7}|{:>7}{:>7}|{:>7} {:<14}|{:>7} {:<15}|{:>7} {:>5.2}",
            row.name,
            figures.seeds,
            row.frames,
            first.0,
            first.1,
            second.0,
            second.1,
            third.0,
            third.1,
            cell(figures.steady.value_percent(), 2),
            range(figures.each.iter().map(|each| each.0), 1),
            cell(figures.promised.over_percent(), 3),
            range(figures.each.iter().map(|each| each.1), 2),
            cell(figures.promised.percent(figures.promised.oracle_over), 3),
            figures.oracle_sigmas / figures.seeds,
        );
    }
}

/// Lowest and highest of the numbers.
fn range(numbers: impl Iterator<Item = f64>, decimals: usize) -> String {
    let bounds = (f64::INFINITY, f64::NEG_INFINITY);
    let (least, most) = numbers.fold(bounds, |(least, most), number| (number.min(least), number.max(most)));
    format!("[{}, {}]", cell(least, decimals), cell(most, decimals))
}

fn print_curve(rows: &[Figures]) {
    println!(
        "\nlearning: value in % of the oracle's / % of frames over the limit, up to this frame from the one before"
    );
    let heads: Vec<String> = CURVE.iter().map(|end| format!("{end:>13}")).collect();
    println!("{:<20}{}", "row", heads.concat());
    for figures in rows {
        let part = |phase: &Phase| format!("{}/{}", cell(phase.value_percent(), 1), cell(phase.over_percent(), 1));
        let parts: Vec<String> = figures.curve.iter().map(|phase| format!("{:>13}", part(phase))).collect();
        println!("{:<20}{}", figures.row.name, parts.concat());
    }
}

fn print_rates(rows: &[Figures]) {
    println!(
        "\nlast three quarters, per second: changed settings, all and without trials; frames whose choice is worth more, \
         and less, than the one before, without trials; trials.\nus per update, in order of time; the same in replays (the \
         fastest of each frame); us for all samples of a frame. memory"
    );
    println!(
        "{:<20} {:>9} {:>9} {:>8} {:>8} {:>8} | {:>8} {:>8} | {:>8} {:>8} | {:>8} {:>8} | {:>6} {:>7}",
        "row",
        "changes",
        "no trials",
        "rises",
        "falls",
        "trials",
        "median",
        "p99.9",
        "median",
        "p99.9",
        "median",
        "p99.9",
        "KiB",
        "options"
    );
    for figures in rows {
        let steady = &figures.steady;
        println!(
            "{:<20} {:>9.3} {:>9.3} {:>8.3} {:>8.3} {:>8.3} | {:>8.2} {:>8.2} | {:>8} {:>8} | {:>8.2} {:>8.2} | {:>6} {:>7.0}",
            figures.row.name,
            steady.per_second(steady.changes),
            steady.per_second(steady.settled_changes),
            steady.per_second(steady.rises),
            steady.per_second(steady.falls),
            steady.per_second(steady.trials),
            quantile_us(&figures.update_ns, 0.5),
            quantile_us(&figures.update_ns, 0.999),
            cell(quantile_us(&figures.replayed_ns, 0.5), 2),
            cell(quantile_us(&figures.replayed_ns, 0.999), 2),
            quantile_us(&figures.feed_ns, 0.5),
            quantile_us(&figures.feed_ns, 0.999),
            figures.memory / 1024,
            figures.options / figures.seeds,
        );
    }
}

fn print_losses(rows: &[Figures]) {
    println!(
        "\nlast three quarters, where value is lost (% of the oracle's): on trials; holding, against the best by its own \
         estimates; the rest is the estimates'.\nWhere frames are over (% of frames): with trials; without, a choice too \
         heavy by the true distributions; without, bad luck; the same in the first 256 frames.\nShares of frames: trials, too heavy. Estimates: true over \
         expected mean - 1; true burden at the oracle's sigmas over the limit"
    );
    println!(
        "{:<20} {:>8} {:>8} {:>9} | {:>8} {:>8} {:>8} | {:>8} {:>8} {:>8} | {:>8} {:>8} | {:>8} {:>8}",
        "row",
        "trials",
        "holding",
        "estimates",
        "trials",
        "heavy",
        "luck",
        "trials",
        "heavy",
        "luck",
        "trials",
        "heavy",
        "bias %",
        "fill %"
    );
    for figures in rows {
        let steady = &figures.steady;
        let (trials, holding) = (steady.percent(steady.trial_loss), steady.percent(steady.gap));
        let luck = |phase: &Phase| phase.percent(phase.over - phase.over_on_trial - phase.over_heavy);
        let first = &figures.first;
        println!(
            "{:<20} {:>8.3} {:>8.3} {:>9.3} | {:>8.3} {:>8.3} {:>8.3} | {:>8.2} {:>8.2} {:>8.2} | {:>8.2} {:>8.2} | {:>8} {:>8.2}",
            figures.row.name,
            trials,
            holding,
            100.0 - steady.value_percent() - trials - holding,
            steady.percent(steady.over_on_trial),
            steady.percent(steady.over_heavy),
            luck(steady),
            first.percent(first.over_on_trial),
            first.percent(first.over_heavy),
            luck(first),
            steady.percent(steady.trial_frames),
            steady.percent(steady.heavy_frames),
            cell(steady.percent(steady.bias) - 100.0, 2),
            steady.percent(steady.fill),
        );
    }
}

fn print_knowledge(rows: &[Figures]) {
    println!(
        "\nat the end: settings per seed that differ from the oracle's choice, and the value at stake (% of the oracle's), \
         by the estimate of the oracle's option:\nnever measured; 10 % too high; or that of the own option \
         is 10 % too low; or both are known, and other settings force the choice"
    );
    println!("{:<20} {:>15} {:>15} {:>15} {:>15}", "row", "unknown", "thought dear", "own, too cheap", "known");
    for figures in rows.iter().filter(|figures| figures.causes.asked) {
        let (causes, seeds) = (&figures.causes, figures.seeds);
        let cause = |cause: (f64, f64)| format!("{:.2} {:>7.2}%", cause.0 / seeds, 100.0 * cause.1 / seeds);
        println!(
            "{:<20} {:>15} {:>15} {:>15} {:>15}",
            figures.row.name,
            cause(causes.unknown),
            cause(causes.believed_dear),
            cause(causes.believed_cheap),
            cause(causes.consequence),
        );
    }
}

fn print_events(rows: &[Figures]) {
    println!("\nafter events");
    for figures in rows {
        let mut each = figures.after_each.clone();
        each.sort_by(f64::total_cmp);
        let Some((&least, &most)) = each.first().zip(each.last()) else { continue };
        let (median, name, after) = (each[each.len() / 2], &figures.row.name, &figures.after);
        match figures.row.event {
            Event::Step { .. } => println!(
                "{name:<20} in the step (without 60 frames): value {:.2} %, over {:.3} %; 600 to 1200 after: value {:.2} %; \
                 first second at 99 % ends at frame {} (all seeds), {} / {} / {} (least, median, most of a seed)",
                figures.in_step.value_percent(),
                figures.in_step.over_percent(),
                after.value_percent(),
                cell(figures.recovered(), 0),
                cell(least, 0),
                cell(median, 0),
                cell(most, 0),
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
