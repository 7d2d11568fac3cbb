//! Every peer stores the same blobs and reads them back. Each time is relative to the best that the machine can do,
//! which is measured next to it.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Instant;

use hobgoblin_bench::random::Random;
use hobgoblin_bench::timing::{median, quantile};
use serde_json::{Value, json};

use crate::blobs::Blobs;
use crate::floor::{self, Floor};
use crate::peers::{BATCH, Filled, Peer};
use crate::report::number;

/// Number of openings in a round.
const OPENINGS: usize = 5;
/// Number of passes in a round that alternate between getting and copying all values. The fastest of each counts.
const PASSES: usize = 5;
/// Number of cold loads in a round. The median counts.
const LOADS: usize = 3;

/// Where to measure, and how often.
pub struct Plan<'a> {
    pub directory: &'a Path,
    pub rounds: usize,
    pub drop_all: bool,
}

/// Names of the figures, in the output and in JSON.
pub const FIGURES: [&str; 10] = [
    "insert",
    "insert_batched",
    "finish_ms",
    "open_warm_ms",
    "open_cold_ms",
    "load",
    "get",
    "get_floor",
    "get_ns",
    "space",
];

/// The figures of one peer in one round, in the order above.
type Round = [f64; FIGURES.len()];

/// A row for each peer: the median of the rounds, and the lowest and the highest value of each figure.
pub fn run(peers: &[Box<dyn Peer>], blobs: &Blobs, plan: &Plan<'_>) -> Result<Vec<Value>, String> {
    let mut rounds: Vec<Vec<Round>> = peers.iter().map(|_| Vec::new()).collect();
    for round in 0..plan.rounds {
        for (peer, done) in peers.iter().zip(&mut rounds) {
            eprint!("\rround {} of {}: {:8}", round + 1, plan.rounds, peer.name());
            done.push(measure(&**peer, blobs, plan).map_err(|why| format!("{}: {why}", peer.name()))?);
        }
    }
    eprint!("\r{:40}\r", "");
    let rows = peers.iter().zip(rounds).map(|(peer, rounds)| {
        let mut row = json!({ "name": peer.name(), "about": peer.about() });
        for (place, figure) in FIGURES.iter().enumerate() {
            let samples: Vec<f64> = rounds.iter().map(|round| round[place]).collect();
            row[figure] = json!(median(&samples));
            row[format!("{figure}_range")] = json!([quantile(&samples, 0.0), quantile(&samples, 1.0)]);
        }
        row
    });
    Ok(rows.collect())
}

fn sentence(why: io::Error) -> String {
    why.to_string()
}

fn seconds<T>(work: impl FnOnce() -> Result<T, String>) -> Result<(f64, T), String> {
    let start = Instant::now();
    let done = work()?;
    Ok((start.elapsed().as_secs_f64(), done))
}

fn measure(peer: &dyn Peer, blobs: &Blobs, plan: &Plan<'_>) -> Result<Round, String> {
    let directory = plan.directory.join("peer");
    let floor = Floor::new(plan.directory.join("floor"));
    let batched = match peer.has_batches() {
        true => insert(peer, blobs, BATCH, &directory, &floor)?.0,
        false => f64::NAN,
    };
    let (inserted, finish) = insert(peer, blobs, 1, &directory, &floor)?;
    let space = floor::size(&directory).map_err(sentence)? as f64 / blobs.total() as f64;
    let (warm, cold) = open(peer, blobs, &directory, plan.drop_all)?;
    let load = load(peer, blobs, &directory, &floor, plan.drop_all)?;
    let [get, get_floor, get_ns] = get(peer, blobs, &directory, &floor)?;
    fs::remove_dir_all(&directory).map_err(sentence)?;
    Ok([inserted, batched, finish * 1e3, warm * 1e3, cold * 1e3, load, get, get_floor, get_ns, space])
}

/// Speed relative to writing the same bytes to one file, and seconds from there until all data is safe.
fn insert(peer: &dyn Peer, blobs: &Blobs, batch: usize, directory: &Path, floor: &Floor) -> Result<(f64, f64), String> {
    let _ = fs::remove_dir_all(directory);
    fs::create_dir_all(directory).map_err(sentence)?;
    let before = floor.write(blobs).map_err(sentence)?;
    let mut filling = peer.create(directory)?;
    let (put, ()) = seconds(|| filling.put_all(blobs, batch))?;
    let (finish, ()) = seconds(|| filling.finish())?;
    let after = floor.write(blobs).map_err(sentence)?;
    Ok(((before + after) / 2.0 / put, finish))
}

/// Seconds until every key is known: with the files in memory (fastest of several runs), and without (median).
fn open(peer: &dyn Peer, blobs: &Blobs, directory: &Path, drop_all: bool) -> Result<(f64, f64), String> {
    let open = |is_cold: bool| {
        let times = (0..OPENINGS).map(|_| {
            if is_cold {
                floor::forget(directory, drop_all).map_err(sentence)?;
            }
            let (time, filled) = seconds(|| peer.open(directory))?;
            expect(filled.count() == blobs.count())?;
            Ok(time)
        });
        times.collect::<Result<Vec<_>, String>>()
    };
    let cold = median(&open(true)?);
    Ok((quantile(&open(false)?, 0.0), cold))
}

/// Time to open and check every value, divided by the time to read as many bytes from one file.
fn load(peer: &dyn Peer, blobs: &Blobs, directory: &Path, floor: &Floor, drop_all: bool) -> Result<f64, String> {
    let ratios = (0..LOADS).map(|_| {
        let read = floor.read(drop_all).map_err(sentence)?;
        floor::forget(directory, drop_all).map_err(sentence)?;
        let mut loaded = 0;
        let (all, ()) = seconds(|| peer.open(directory)?.each(&mut |value| loaded += value.len()))?;
        expect(loaded == blobs.total())?;
        Ok(all / read)
    });
    ratios.collect::<Result<Vec<_>, String>>().map(|ratios| median(&ratios))
}

/// Three figures of a get, each the lowest of `PASSES` passes.
///
/// * The median get over the median copy of the same values in the same order.
/// * The same ratio of a read with a checksum alone.
/// * The get in nanoseconds.
fn get(peer: &dyn Peer, blobs: &Blobs, directory: &Path, floor: &Floor) -> Result<[f64; 3], String> {
    let mut order: Vec<usize> = (0..blobs.count()).collect();
    Random(2).shuffle(&mut order);
    let mut filled = peer.open(directory)?;
    // Load all files into memory.
    filled.each(&mut |_| ())?;
    gets(&mut *filled, blobs, &order)?;
    floor.read(false).map_err(sentence)?;
    let (mut copy, mut least, mut get) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
    for _ in 0..PASSES {
        copy = copy.min(median(&floor::copies(blobs, &order)));
        least = least.min(median(&floor.verified_reads(blobs, &order).map_err(sentence)?));
        get = get.min(median(&gets(&mut *filled, blobs, &order)?));
    }
    let clock = floor::clock();
    Ok([(get - clock) / (copy - clock), (least - clock) / (copy - clock), get - clock])
}

fn gets(filled: &mut dyn Filled, blobs: &Blobs, order: &[usize]) -> Result<Vec<f64>, String> {
    let get = |&index: &usize| {
        // The caller of a get has the key in memory.
        let (key, mut found) = (std::hint::black_box(*blobs.key(index)), 0);
        let (time, ()) = seconds(|| filled.get(&key, &mut |value| found = value.len()))?;
        expect(found == blobs.value(index).len())?;
        Ok(time * 1e9)
    };
    order.iter().map(get).collect()
}

fn expect(right: bool) -> Result<(), String> {
    if right { Ok(()) } else { Err("a value differs from its put".into()) }
}

pub fn print(rows: &[Value]) {
    println!("          insert         finish   open + index, ms    load all    verified get          space");
    println!("          each   batch       ms      warm     cold         x    get  floor      ns         x");
    for row in rows {
        let figure = |name: &str| number(&row[name]);
        let batched = match figure("insert_batched") {
            missing if missing.is_nan() => "   -".to_string(),
            there => format!("{there:4.2}"),
        };
        println!(
            "{:8}  {:4.2}    {batched}   {:6.1}   {:7.2}  {:7.2}     {:5.2}   {:4.2}   {:4.2}  {:6.0}    {:6.3}",
            row["name"].as_str().unwrap_or(""),
            figure("insert"),
            figure("finish_ms"),
            figure("open_warm_ms"),
            figure("open_cold_ms"),
            figure("load"),
            figure("get"),
            figure("get_floor"),
            figure("get_ns"),
            figure("space"),
        );
    }
    rows.iter()
        .for_each(|row| println!("{:8}  {}", row["name"].as_str().unwrap_or(""), row["about"].as_str().unwrap_or("")));
}
