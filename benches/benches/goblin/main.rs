//! The simulator of the goblin: it governs seeded machines, beside an oracle that knows every distribution.
//!
//! `cargo bench -p hobgoblin-bench --bench goblin -- --help` lists the options.

mod check;
mod figures;
mod governor;
mod json;
mod oracle;
mod random;
mod renderer;
mod report;
mod run;
mod scenario;
mod suite;
mod targets;
mod thermal;
mod workload;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use figures::Figures;
use hobgoblin_bench::options::Operand;
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
  --curve        the learning phase by and by; with --renderer the value by asked changes a second
  --list         names of the rows
  --renderer     the renderer-like workloads, nothing else
  --zoo          with --renderer the contest with the documented rules of engines
  --thermal      half an hour on devices that warm up, nothing else
  --foresight    their oracle knows the noise of the frame before, too
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
    renderer: bool,
    zoo: bool,
    thermal: bool,
    foresight: bool,
}

impl Options {
    fn new() -> Self {
        Self {
            seeds: None,
            first_seed: 1,
            frames: None,
            only: Vec::new(),
            length: Length::Usual,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            json: false,
            curve: false,
            list: false,
            check: false,
            renderer: false,
            zoo: false,
            thermal: false,
            foresight: false,
        }
    }

    /// Returns whether the option exists.
    fn take(&mut self, word: &str, operand: &mut Operand<'_>) -> Result<bool, String> {
        match word {
            "--seeds" => self.seeds = Some(operand.parsed::<u64>()?.max(1)),
            "--first-seed" => self.first_seed = operand.parsed()?,
            "--frames" => self.frames = Some(operand.parsed::<usize>()?.max(2048)),
            "--only" => self.only.push(operand.text()?),
            "--quick" => self.length = Length::Quick,
            "--full" => self.length = Length::Full,
            "--threads" => self.threads = operand.parsed::<usize>()?.max(1),
            "--json" => self.json = true,
            "--curve" => self.curve = true,
            "--check" => self.check = true,
            "--renderer" => self.renderer = true,
            "--zoo" => self.zoo = true,
            "--thermal" => self.thermal = true,
            "--foresight" => self.foresight = true,
            "--list" => self.list = true,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Simulates all seeds of a row, several at once. The number of threads does not change the result.
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

/// Update timings of a few seeds, the fastest of several runs.
///
/// This excludes other load of the machine, and shows that a run can be repeated.
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

fn main() -> std::process::ExitCode {
    hobgoblin_bench::options::run(HELP, Options::new(), Options::take, run)
}

fn request(options: &Options) -> renderer::Request<'_> {
    renderer::Request {
        seeds: options.seeds.unwrap_or(if options.length == Length::Quick { 4 } else { 20 }),
        first_seed: options.first_seed,
        threads: options.threads,
        only: &options.only,
        with_curve: options.curve,
        with_zoo: options.zoo,
        foresight: options.foresight,
    }
}

fn run(options: &Options) -> Result<(), String> {
    if options.check {
        let can_be_believed = check::check(options.seeds.unwrap_or(3));
        return if can_be_believed { Ok(()) } else { Err("the generator is not what the oracle takes it for".into()) };
    }
    if options.renderer {
        renderer::print(&request(options));
        return Ok(());
    }
    if options.thermal {
        thermal::print(&request(options));
        return Ok(());
    }
    let mut rows = suite::rows(options.length);
    rows.retain(|row| options.only.is_empty() || options.only.iter().any(|only| row.name.contains(only)));
    if let Some(frames) = options.frames {
        rows.iter_mut().filter(|row| row.event == run::Event::Nothing).for_each(|row| row.frames = frames);
    }
    if options.list {
        rows.iter().for_each(|row| println!("{}", row.name));
        return Ok(());
    }
    let figures: Vec<Figures> = rows.iter().map(|row| simulate(row, options)).collect();
    let verdicts = targets::judge(&figures);
    if options.json {
        json::print(&figures, &verdicts)
    } else {
        report::print(&figures, &verdicts, options.curve)
    }
    Ok(())
}
