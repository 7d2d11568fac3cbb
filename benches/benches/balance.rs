//! The balance on simulated work, and the cost of its calls.
//!
//! It prints the time lost against the best strategy, and how soon a newly better one is in use. Beside it are the table
//! of the seed, and a host that keeps the strategy that was faster at first.
//!
//! `cargo bench -p hobgoblin-bench --bench balance -- --help`

use std::collections::VecDeque;
use std::ffi::c_void;
use std::hint::black_box;
use std::process::ExitCode;

use hobgoblin::balance::{Balance, Options, Policy};
use hobgoblin_bench::c_calls::{Row, library, time};
use hobgoblin_bench::options;
use hobgoblin_bench::random::Random;
use hobgoblin_bench::timing::quantile;
use libloading::{Library, Symbol};

const HELP: &str = "\
Benchmark of the balance.

  cargo bench -p hobgoblin-bench --bench balance -- [options]

  --seeds N    runs of each row. Default: 200
  --no-calls   only the simulated work; builds no shared library
  --help       this page

Work: how many times as long the strategies take, and the noise. 5 %, 10 %, 30 %: log-normal, with this deviation. Spikes: one
duration in a hundred is ten times as long. Cold: the first duration of each strategy is ten times as long. Hitches: one
piece in 500 begins three to eight pieces of ten times the duration. A duration is known one piece later.

Lost: time lost against always-best in 10,000 pieces of work, mean over the runs and worst run. First: a host that measures
each strategy once and keeps the faster one.

Found: pieces of work from a change until 15 of 20 use the strategy that is now the best; median, and 95 % of the runs.
";

#[derive(Clone, Copy, PartialEq)]
enum Noise {
    Normal(f64),
    Spikes,
    Cold,
    Hitches,
}

/// Durations of strategies in units of the best one.
struct Source {
    noise: Noise,
    random: Random,
    is_warm: [bool; 8],
    hitch: u32,
}

impl Source {
    fn new(noise: Noise, seed: u64) -> Self {
        Self { noise, random: Random(!seed), is_warm: [false; 8], hitch: 0 }
    }

    fn log_normal(&mut self, deviation: f64) -> f64 {
        (deviation * self.random.normal() - deviation * deviation / 2.0).exp()
    }

    fn factor(&mut self, strategy: usize) -> f64 {
        let is_slow = match self.noise {
            Noise::Normal(deviation) => return self.log_normal(deviation),
            Noise::Spikes => self.random.share() < 0.01,
            Noise::Cold => !std::mem::replace(&mut self.is_warm[strategy], true),
            Noise::Hitches => {
                if self.hitch == 0 && self.random.share() < 0.002 {
                    self.hitch = 3 + self.random.below(6) as u32;
                }
                let is_slow = self.hitch > 0;
                self.hitch = self.hitch.saturating_sub(1);
                is_slow
            }
        };
        self.log_normal(0.1) * if is_slow { 10.0 } else { 1.0 }
    }
}

/// Chooses strategies.
enum Chooser {
    Balance(Balance),
    /// Each once, and then the faster one.
    First(Vec<f64>),
}

impl Chooser {
    fn new(policy: Option<Policy>, strategies: usize, seed: u64) -> Self {
        policy.map_or(Self::First(vec![f64::NAN; strategies]), |policy| {
            let options = Options { strategies, policy, seed, ..Options::default() };
            Self::Balance(Balance::new(options).expect("valid options"))
        })
    }

    fn choose(&mut self, piece: usize) -> usize {
        match self {
            Self::Balance(balance) => balance.choose(),
            Self::First(durations) if piece < durations.len() => piece,
            Self::First(durations) => {
                let least = (0..durations.len()).min_by(|&one, &other| durations[one].total_cmp(&durations[other]));
                least.expect("there are strategies")
            }
        }
    }

    fn measure(&mut self, strategy: usize, duration: f64) {
        match self {
            Self::Balance(balance) => {
                balance.measure(strategy, 0.004 * duration).expect("it exists");
            }
            Self::First(durations) if durations[strategy].is_nan() => durations[strategy] = duration,
            Self::First(_) => {}
        }
    }
}

fn least(means: &[f64]) -> f64 {
    means.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Time lost in 10,000 pieces, as a share.
fn loss(policy: Option<Policy>, means: &[f64], noise: Noise, seed: u64) -> f64 {
    const PIECES: usize = 10_000;
    let (mut chooser, mut source) = (Chooser::new(policy, means.len(), seed), Source::new(noise, seed));
    let mut late: Option<(usize, f64)> = None;
    let mut lost = 0.0;
    for piece in 0..PIECES {
        let chosen = chooser.choose(piece);
        lost += means[chosen] / least(means) - 1.0;
        let duration = means[chosen] * source.factor(chosen);
        if let Some((strategy, duration)) = late.replace((chosen, duration)) {
            chooser.measure(strategy, duration);
        }
    }
    lost / PIECES as f64
}

/// Pieces from a change until 15 of 20 use the best strategy; at most 20,000.
fn found(policy: Policy, before: &[f64], after: &[f64], noise: Noise, seed: u64) -> f64 {
    const MOST: usize = 20_000;
    let (mut chooser, mut source) = (Chooser::new(Some(policy), before.len(), seed), Source::new(noise, seed));
    let mut late: Option<(usize, f64)> = None;
    let mut window = VecDeque::from([false; 20]);
    for piece in 0..2_000 + MOST {
        let means = if piece < 2_000 { before } else { after };
        let chosen = chooser.choose(piece);
        let duration = means[chosen] * source.factor(chosen);
        if let Some((strategy, duration)) = late.replace((chosen, duration)) {
            chooser.measure(strategy, duration);
        }
        if piece >= 2_000 {
            window.pop_front();
            window.push_back(means[chosen] == least(means));
            if window[0] && window.iter().filter(|&&is_best| is_best).count() >= 15 {
                return (piece - 2_019) as f64;
            }
        }
    }
    MOST as f64
}

const WORKS: [(&str, &[f64], Noise); 12] = [
    ("1 : 1.05, 5 %", &[1.0, 1.05], Noise::Normal(0.05)),
    ("1 : 1.15, 10 %", &[1.0, 1.15], Noise::Normal(0.1)),
    ("1.3 : 1, 10 %", &[1.3, 1.0], Noise::Normal(0.1)),
    ("1.3 : 1, 30 %", &[1.3, 1.0], Noise::Normal(0.3)),
    ("4 : 1, 10 %", &[4.0, 1.0], Noise::Normal(0.1)),
    ("1 : 20, 10 %", &[1.0, 20.0], Noise::Normal(0.1)),
    ("8 strategies, 10 %", EIGHT, Noise::Normal(0.1)),
    ("1.3 : 1, spikes", &[1.3, 1.0], Noise::Spikes),
    ("1.3 : 1, cold", &[1.3, 1.0], Noise::Cold),
    ("8 strategies, cold", EIGHT, Noise::Cold),
    ("1.3 : 1, hitches", &[1.3, 1.0], Noise::Hitches),
    ("4 : 1, hitches", &[4.0, 1.0], Noise::Hitches),
];
const EIGHT: &[f64] = &[3.0, 1.5, 1.2, 1.0, 1.3, 2.0, 8.0, 1.1];

/// The strategy in use becomes slower, or another one becomes faster.
const CHANGES: [(&str, &[f64], &[f64]); 5] = [
    ("1 : 4 to 8 : 4", &[1.0, 4.0], &[8.0, 4.0]),
    ("1 : 4 to 2 : 1", &[1.0, 4.0], &[2.0, 1.0]),
    ("1 : 1.3 to 1.6 : 1.3", &[1.0, 1.3], &[1.6, 1.3]),
    ("1 : 1.3 to 1 : 0.6", &[1.0, 1.3], &[1.0, 0.6]),
    ("1 : 1.15 to 1 : 0.8", &[1.0, 1.15], &[1.0, 0.8]),
];

fn simulate(seeds: u64) {
    println!("| work | lost | worst run | the table | worst run | first | worst run |\n|---|---|---|---|---|---|---|");
    for (name, means, noise) in WORKS {
        let of = |policy: Option<Policy>| {
            if policy == Some(Policy::Table) && means.len() != 2 {
                return "– | –".to_owned();
            }
            let losses: Vec<f64> = (0..seeds).map(|seed| 100.0 * loss(policy, means, noise, seed)).collect();
            format!("{:.2} % | {:.2} %", losses.iter().sum::<f64>() / seeds as f64, quantile(&losses, 1.0))
        };
        println!("| {name} | {} | {} | {} |", of(Some(Policy::Accounts)), of(Some(Policy::Table)), of(None));
    }
    println!("\n| change, noise of 10 % | found | 95 % | the table | 95 % |\n|---|---|---|---|---|");
    for (name, before, after) in CHANGES {
        let of = |policy: Policy| {
            let run = |seed| found(policy, before, after, Noise::Normal(0.1), seed);
            let pieces: Vec<f64> = (0..seeds).map(run).collect();
            format!("{:.0} | {:.0}", quantile(&pieces, 0.5), quantile(&pieces, 0.95))
        };
        println!("| {name} | {} | {} |", of(Policy::Accounts), of(Policy::Table));
    }
}

/// The beginning of `hob_balance_desc`.
#[repr(C)]
struct Desc {
    struct_size: u32,
    strategy_count: u32,
    policy: u32,
    reserved: u32,
    trial_share: f64,
    seed: u64,
}

fn calls() {
    let path = library();
    // SAFETY: this is the library that was just built; its functions are used as the headers declare them.
    unsafe {
        let library = Library::new(&path).expect("the library loads");
        let get = |name: &str| -> *const c_void {
            let symbol: Symbol<'_, *const c_void> = library.get(name.as_bytes()).expect("the headers declare it");
            *symbol
        };
        macro_rules! function {
            ($name:literal, $ty:ty) => {
                std::mem::transmute::<*const c_void, $ty>(get($name))
            };
        }
        let create = function!("hob_balance_create", unsafe extern "C" fn(*const Desc, *mut *mut c_void) -> u32);
        let destroy = function!("hob_balance_destroy", unsafe extern "C" fn(*mut c_void));
        let choose = function!("hob_balance_choose", unsafe extern "C" fn(*mut c_void, *mut u32) -> u32);
        let measure = function!("hob_balance_measure", unsafe extern "C" fn(*mut c_void, u32, f64) -> u32);
        let make = |strategy_count| {
            let desc = Desc {
                struct_size: size_of::<Desc>() as u32,
                strategy_count,
                policy: 0,
                reserved: 0,
                trial_share: 0.015,
                seed: 1,
            };
            let mut balance = std::ptr::null_mut();
            assert_eq!(create(&desc, &raw mut balance), 0);
            balance
        };
        let (empty, two, eight, most) = (make(2), make(2), make(8), make(64));
        // The only guarded call that does nothing: a duration of 0 is ignored.
        let piece = |balance: *mut c_void| {
            let mut random = Random(1);
            move || {
                let mut strategy = 0;
                assert_eq!(choose(balance, &raw mut strategy), 0);
                let duration = 4e6 * f64::from(1 + strategy % 4) * (0.9 + 0.2 * random.share());
                assert_eq!(measure(balance, strategy, duration), 0);
            }
        };
        let mut rows = [
            Row::new("an ignored duration", move || _ = black_box(measure(empty, 0, 0.0))),
            Row::new("choose and measure, 2 strategies", piece(two)),
            Row::new("choose and measure, 8 strategies", piece(eight)),
            Row::new("choose and measure, 64 strategies", piece(most)),
        ];
        time(&mut rows);
        let floor = rows[0].quartile();
        println!("\n| calls through C | time | of an ignored duration |\n|---|---|---|");
        for row in &mut rows {
            let nanoseconds = row.quartile();
            println!("| {} | {nanoseconds:.0} ns | {:.1} x |", row.name, nanoseconds / floor);
        }
        drop(rows);
        [empty, two, eight, most].into_iter().for_each(|balance| destroy(balance));
    }
}

fn main() -> ExitCode {
    options::run(
        HELP,
        (200, true),
        |(seeds, has_calls), word, operand| {
            match word {
                "--seeds" => *seeds = operand.parsed()?,
                "--no-calls" => *has_calls = false,
                _ => return Ok(false),
            }
            Ok(true)
        },
        |&(seeds, has_calls)| {
            if seeds == 0 {
                return Err("--seeds 0: use at least 1".to_owned());
            }
            simulate(seeds);
            if has_calls {
                calls();
            }
            Ok(())
        },
    )
}
