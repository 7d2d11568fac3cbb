//! The goblin against the rules of others, over recorded costs and noise.
//!
//! `cargo bench -p hobgoblin-bench --bench contest -- --help`

use std::path::{Path, PathBuf};

use hobgoblin_bench::contest::arena::{LEARNING, Run, Tally, play};
use hobgoblin_bench::contest::goblin::Player;
use hobgoblin_bench::contest::recording::Recording;
use hobgoblin_bench::contest::replay::{Replay, Stage};
use hobgoblin_bench::contest::score::{ALL, Arena, Standing, Who, difference};
use hobgoblin_bench::options::Operand;
use serde_json::{Value, json};

const HELP: &str = "\
The goblin against the rules of others, over recorded costs and noise.

  cargo bench -p hobgoblin-bench --bench contest -- [options]

  --recording FILE   play this recording of frame_budget --record-costs; again for another one (default: all in
                     trials/frame_budget/recordings)
  --seeds N          runs of each contestant, each with other noise (default 20)
  --frames N         frames of a run (default 3600: a minute)
  --only TEXT        contestants whose name contains the text; the goblin always plays
  --threads N        default: all
  --quick            6 runs of 1800 frames
  --json             JSON on stdout
  --help             this page

Every contestant plays the same runs: first with its documented constants, then with its budget scaled such that 1 % of
all frames are late. Columns: value in % of the oracle's; late frames in %, in the first 256 frames in %, most in a row;
changes a second in the first 1024 frames, after them, and of the resolution after them; reversals a minute after them (a
change taken back within 10 s); the factor on the budget; the goblin's lead in value, with the 95 % interval of the paired differences. 'win' and 'loss': the interval
excludes 0. The oracle knows every cost and the noise until the frame before; it changes as often as it likes, for
nothing.
";

struct Options {
    recordings: Vec<PathBuf>,
    seeds: usize,
    frames: usize,
    only: Option<String>,
    threads: usize,
    json: bool,
}

fn take(options: &mut Options, option: &str, operand: &mut Operand<'_>) -> Result<bool, String> {
    match option {
        "--recording" => options.recordings.push(operand.text()?.into()),
        "--seeds" => options.seeds = operand.parsed()?,
        "--frames" => options.frames = operand.parsed()?,
        "--only" => options.only = Some(operand.text()?),
        "--threads" => options.threads = operand.parsed::<usize>()?.max(1),
        "--quick" => (options.seeds, options.frames) = (6, 1800),
        "--json" => options.json = true,
        _ => return Ok(false),
    }
    Ok(true)
}

fn main() -> std::process::ExitCode {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let options = Options { recordings: Vec::new(), seeds: 20, frames: 3600, only: None, threads, json: false };
    hobgoblin_bench::options::run(HELP, options, take, run)
}

fn run(options: &Options) -> Result<(), String> {
    if options.seeds < 2 || options.frames < 2 * LEARNING - 256 {
        return Err("--seeds must be at least 2, --frames at least 1792".into());
    }
    let mut all = Vec::new();
    for file in files(options)? {
        let text = std::fs::read_to_string(&file).map_err(|why| format!("{}: {why}", file.display()))?;
        let recording = Recording::parse(&text).map_err(|why| format!("{}: {why}", file.display()))?;
        let name = file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        all.push(contest(options, &name, &recording).map_err(|why| format!("{}: {why}", file.display()))?);
    }
    if options.json {
        println!("{:#}", Value::Array(all));
    }
    Ok(())
}

fn files(options: &Options) -> Result<Vec<PathBuf>, String> {
    if !options.recordings.is_empty() {
        return Ok(options.recordings.clone());
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trials/frame_budget/recordings");
    let entries = folder.read_dir().map_err(|why| format!("{}: {why}", folder.display()))?;
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "costs"));
    files.sort();
    Ok(files)
}

/// Plays a recording, prints its tables, and returns them as JSON.
fn contest(options: &Options, name: &str, recording: &Recording) -> Result<Value, String> {
    let stage = Stage::new(recording, options.frames)?;
    let first_seed = 1;
    let draw = |seed| Box::new(Replay::new(&stage, seed)) as Box<dyn Run>;
    let runs: Vec<_> = (0..options.seeds as u64).map(|seed| draw(first_seed + seed)).collect();
    // The saved profile is of a run with other noise.
    let training = draw(first_seed + 1_000_000);
    let mut learner = Player::new(training.as_ref(), training.budget(), None, false);
    play(training.as_ref(), &mut learner, first_seed);
    let profiles = vec![hobgoblin_bench::contest::arena::Governor::save(&learner).expect("the goblin has a profile")];
    let arena = Arena { runs, profiles, first_seed, threads: options.threads };
    let oracle_changes = arena.runs.iter().map(|run| run.oracle().1).sum::<f64>() / arena.runs.len() as f64;
    if !options.json {
        println!("\n{name}: {}", recording.renderer);
        println!("load of the machine when it was recorded: {}", recording.load);
        println!(
            "{} runs of {} frames; budget {:.2} ms; the oracle changes {oracle_changes:.1} settings a second",
            options.seeds,
            options.frames,
            arena.runs[0].budget()
        );
    }
    let who = ALL.iter().copied().filter(|who| {
        matches!(who, Who::Goblin { is_warm: false, trims: false })
            || options.only.as_ref().is_none_or(|only| who.name().contains(only.as_str()))
    });
    let who: Vec<_> = who.collect();
    let documented: Vec<_> = who.iter().map(|&who| arena.documented(who)).collect();
    print(options, "documented constants", &documented);
    let tuned: Vec<_> = who.iter().map(|&who| arena.tuned(who)).collect();
    print(options, "tuned to 1 % of late frames", &tuned);
    Ok(json!({
        "recording": name, "renderer": recording.renderer, "load": recording.load, "seeds": options.seeds,
        "frames": options.frames, "oracle_changes_per_second": oracle_changes,
        "documented": rows(&documented), "tuned": rows(&tuned),
    }))
}

fn print(options: &Options, title: &str, standings: &[Standing]) {
    if options.json {
        return;
    }
    println!(
        "{title:<30}{:>7} |{:>6}{:>7}{:>5} |{:>9}{:>7}{:>7}{:>10} |{:>7} | goblin's lead",
        "value", "late", "first", "run", "learning", "after", "resol.", "reversals", "budget"
    );
    for standing in standings {
        let lead = lead(&standings[0], standing).map_or_else(String::new, |(mean, half)| {
            let word = if matches!(standing.who, Who::Goblin { .. }) {
                ""
            } else if mean - half > 0.0 {
                "win"
            } else if mean + half < 0.0 {
                "loss"
            } else {
                "even"
            };
            format!("{:+.2} ± {:.2} {word}", 100.0 * mean, 100.0 * half)
        });
        println!(
            "{:<30}{:>7.2} |{:>6.2}{:>7.1}{:>5.0} |{:>9.2}{:>7.2}{:>7.2}{:>10.1} |{:>6.3}{} | {lead}",
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
            if title.starts_with("tuned") && !standing.is_at_target() { '!' } else { ' ' },
        );
    }
    if title.starts_with("tuned") && standings.iter().any(|standing| !standing.is_at_target()) {
        println!("(! not within 0.1 of 1 %: no factor gives it)");
    }
}

/// The goblin's lead in value; `None` for itself.
fn lead(goblin: &Standing, other: &Standing) -> Option<(f64, f64)> {
    (goblin.who != other.who).then(|| difference(goblin, other, |tally: &Tally| tally.value))
}

fn rows(standings: &[Standing]) -> Value {
    let row = |standing: &Standing| {
        let lead = lead(&standings[0], standing);
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
        })
    };
    standings.iter().map(row).collect()
}
