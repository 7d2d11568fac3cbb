//! The simulator of the goblin: seeded machines on which it governs, beside an oracle that knows every distribution.
//!
//! `cargo bench -p hobgoblin-bench --bench goblin -- --help` says what can be asked.

mod check;
mod figures;
mod governor;
mod json;
mod oracle;
mod random;
mod report;
mod run;
mod scenario;
mod suite;
mod targets;
mod workload;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use figures::Figures;
use run::Row;
use suite::Length;

const HELP: &str = "\
Simulates the goblin on seeded machines and holds it against its targets.

  --seeds N      machines to simulate in each row (20)
  --first-seed N the first of them (1)
  --frames N     frames of each row, where no event says otherwise
  --only NAME    rows whose name contains this; again for more
  --quick        few seeds, few frames
  --full         65 536 frames wherever that makes sense
  --threads N    seeds simulated at once (all cores)
  --json         JSON on stdout
  --curve        the learning phase by and by
  --list         names of the rows
  --check        hold the distributions that the oracle knows against the generator, nothing else
";

struct Options {
    seeds: Option<u64>,
    first_seed: u64,
    frames: Option<usize>,
    only: Vec<String>,
    length: Length,
    threads: usize,
    json: bool,
    curve: bool,
    list: bool,
    check: bool,
}

fn parse() -> Result<Option<Options>, String> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut options = Options {
        seeds: None,
        first_seed: 1,
        frames: None,
        only: Vec::new(),
        length: Length::Usual,
        threads,
        json: false,
        curve: false,
        list: false,
        check: false,
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut text = || args.next().ok_or(format!("{arg} needs something after it"));
        let number = |text: String| text.parse::<u64>().map_err(|_| format!("{arg} {text}: not a whole number"));
        match arg.as_str() {
            "--help" | "-h" => return Ok(None),
            "--seeds" => options.seeds = Some(number(text()?)?.max(1)),
            "--first-seed" => options.first_seed = number(text()?)?,
            "--frames" => options.frames = Some(number(text()?)?.max(2048) as usize),
            "--only" => options.only.push(text()?),
            "--quick" => options.length = Length::Quick,
            "--full" => options.length = Length::Full,
            "--threads" => options.threads = number(text()?)?.max(1) as usize,
            "--json" => options.json = true,
            "--curve" => options.curve = true,
            "--check" => options.check = true,
            "--list" => options.list = true,
            // What `cargo bench` adds.
            "--bench" => {}
            _ => return Err(format!("{arg}: not known; see --help")),
        }
    }
    Ok(Some(options))
}

/// Simulate all seeds of a row, several at once; the result does not depend on how many.
fn simulate(row: &Row, options: &Options) -> Figures {
    let seeds = options.seeds.unwrap_or(if options.length == Length::Quick { 4 } else { 20 }) as usize;
    let (next, began) = (AtomicUsize::new(0), Instant::now());
    let (sender, receiver) = mpsc::channel();
    let mut all: Vec<Option<Figures>> = (0..seeds).map(|_| None).collect();
    std::thread::scope(|scope| {
        for _ in 0..options.threads.min(seeds) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= seeds {
                        return;
                    }
                    let figures = run::play(row, options.first_seed + index as u64);
                    if sender.send((index, figures)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (done, (index, figures)) in receiver.iter().enumerate() {
            all[index] = Some(figures);
            eprint!("\r{:<20} {:>3} of {seeds} seeds, {:.1} s ", row.name, done + 1, began.elapsed().as_secs_f64());
        }
    });
    eprintln!();
    let mut figures = all.into_iter().flatten();
    let mut pooled = figures.next().expect("one seed at least");
    figures.for_each(|other| pooled.add(other));
    if row.is_timed() {
        pooled.replayed_ns = timings(row, options);
    }
    pooled.close();
    pooled
}

/// Updates of a few seeds, the fastest of several runs: that leaves out what else the machine did, and shows that a run
/// can be repeated.
fn timings(row: &Row, options: &Options) -> Vec<u32> {
    let (seeds, repeats) = if options.length == Length::Quick { (2, 3) } else { (4, 4) };
    let mut all = Vec::new();
    for seed in options.first_seed..options.first_seed + seeds {
        let mut fastest = run::play(row, seed);
        for _ in 1..repeats {
            let same = fastest.replay(&run::play(row, seed));
            assert!(same, "{}: seed {seed} went another way the second time", row.name);
        }
        all.extend(fastest.update_ns);
    }
    all
}

fn main() {
    let options = match parse() {
        Ok(Some(options)) => options,
        Ok(None) => return print!("{HELP}"),
        Err(complaint) => {
            eprintln!("{complaint}");
            std::process::exit(2);
        }
    };
    if options.check {
        std::process::exit(i32::from(!check::check(options.seeds.unwrap_or(3))));
    }
    let mut rows = suite::rows(options.length);
    rows.retain(|row| options.only.is_empty() || options.only.iter().any(|only| row.name.contains(only)));
    if let Some(frames) = options.frames {
        rows.iter_mut().filter(|row| row.event == run::Event::Nothing).for_each(|row| row.frames = frames);
    }
    if options.list {
        return rows.iter().for_each(|row| println!("{}", row.name));
    }
    let figures: Vec<Figures> = rows.iter().map(|row| simulate(row, &options)).collect();
    let verdicts = targets::judge(&figures);
    if options.json { json::print(&figures, &verdicts) } else { report::print(&figures, &verdicts, options.curve) }
}
