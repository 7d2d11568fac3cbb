//! The goblin against the rules of others, over recorded costs and noise.
//!
//! `cargo bench -p hobgoblin-bench --bench contest -- --help`

use std::path::{Path, PathBuf};

use hobgoblin_bench::contest::arena::{LEARNING, Run, play};
use hobgoblin_bench::contest::goblin::Player;
use hobgoblin_bench::contest::recording::Recording;
use hobgoblin_bench::contest::replay::{Replay, Stage};
use hobgoblin_bench::contest::score::{ALL, Arena, Who};
use hobgoblin_bench::contest::table;
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
all frames are late. The resolution is a TRIM setting of the goblin; another row shows it without TRIM. Columns: value in
% of the oracle's; late frames in %, in the first 256 frames in %, most in a row; changes a second in the first 1024
frames, after them, and of the resolution after them, which are counted apart; reversals a minute after them (a change
taken back within 10 s); the factor on the budget; the lead in value of the goblin, and of the goblin with a saved
profile, with the 95 % interval of the paired differences. 'win' and 'loss': the interval excludes 0. 'later': the rule
has not less value, but more late frames than the goblin and than asked. The oracle knows every cost and the noise until
the frame before. It changes as often as it likes, for nothing.
";

/// Runs that choose the preset of a resolution rule.
const PRESET_RUNS: usize = 4;

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
    let mut learner = Player::new(training.as_ref(), training.budget(), None, true);
    play(training.as_ref(), &mut learner, first_seed);
    let profiles = vec![hobgoblin_bench::contest::arena::Governor::save(&learner).expect("the goblin has a profile")];
    let arena = Arena { runs, profiles, first_seed, preset_runs: PRESET_RUNS, workloads: 1, threads: options.threads };
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
        matches!(who, Who::Goblin { trims: true, .. })
            || options.only.as_ref().is_none_or(|only| who.name().contains(only.as_str()))
    });
    let who: Vec<_> = who.collect();
    let documented: Vec<_> = who.iter().map(|&who| arena.documented(who)).collect();
    if !options.json {
        table::print("documented constants", &documented);
    }
    let tuned: Vec<_> = who.iter().map(|&who| arena.tuned(who)).collect();
    if !options.json {
        table::print(table::TUNED, &tuned);
    }
    Ok(json!({
        "recording": name, "renderer": recording.renderer, "load": recording.load, "seeds": options.seeds,
        "frames": options.frames, "oracle_changes_per_second": oracle_changes,
        "documented": table::rows(&documented), "tuned": table::rows(&tuned),
    }))
}
