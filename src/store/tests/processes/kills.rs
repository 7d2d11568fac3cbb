//! Writers that are killed at random moments of all their operations.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::ChildStdout;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::store::snapshot::Parts;
use crate::store::{Compression, Name, Options, Store, Value};

use super::*;

/// Number of names that each writer puts. Each writer has its own environment.
const NAMES: u32 = 30;
/// Environment of values that nobody checks. They fill the store and force evictions.
const CHURN: u64 = 99;
const CHURNED: u32 = 300;
/// Number of values in one `put_all`.
const TOGETHER: u32 = 20;
/// Number of kills per directory.
const KILLS: u64 = 40;
/// A writer is killed within this time, in milliseconds.
const LIFETIME: u64 = 25;

fn options(random: &mut Random) -> Options {
    let compression = if random.below(2) == 0 { Compression::Lz4 } else { Compression::None };
    let segment_limit = if random.below(2) == 0 { 20 << 10 } else { 400 << 10 };
    // The values of one writer fit into the limit, those of the churn do not.
    Options { compression, limit_bytes: 1 << 20, segment_limit, ..Options::new(now) }
}

/// A time at which an unused claim of a segment id may be removed.
fn two_days_later() -> u64 {
    now() + 2 * 24 * 60 * 60
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Doing {
    Open,
    Put,
    PutAll,
    Remove,
    Clear,
    Churn,
    Touch,
    Sync,
    Seal,
    Maintain,
}

const ALL: [Doing; 10] = [
    Doing::Open,
    Doing::Put,
    Doing::PutAll,
    Doing::Remove,
    Doing::Clear,
    Doing::Churn,
    Doing::Touch,
    Doing::Sync,
    Doing::Seal,
    Doing::Maintain,
];

/// An operation of a writer on one of its names.
#[derive(Clone, Copy, Debug)]
struct Step {
    doing: Doing,
    number: u32,
    version: u32,
}

impl Step {
    /// A hasty writer skips operations that wait for the disk, so that kills also hit the other operations.
    fn random(random: &mut Random, is_hasty: bool, version: u32) -> Self {
        let doing = match random.below(if is_hasty { 380 } else { 400 }) {
            0..140 => Doing::Put,
            140..180 => Doing::PutAll,
            180..260 => Doing::Remove,
            260..265 => Doing::Clear,
            265..340 => Doing::Churn,
            340..375 => Doing::Touch,
            375..380 => Doing::Open,
            380..385 => Doing::Sync,
            385..392 => Doing::Seal,
            _ => Doing::Maintain,
        };
        let numbers = if doing == Doing::Churn { CHURNED } else { NAMES };
        Self { doing, number: random.below(numbers.into()) as u32, version }
    }

    /// The version of a name after the step, or `None` if the step does not change it. The inner `None` is a removed
    /// value.
    fn outcome(&self, number: u32) -> Option<Option<u32>> {
        match self.doing {
            Doing::Put if self.number == number => Some(Some(self.version)),
            Doing::PutAll if (number + NAMES - self.number) % NAMES < TOGETHER => Some(Some(self.version)),
            Doing::Remove if self.number == number => Some(None),
            Doing::Clear => Some(None),
            _ => None,
        }
    }

    fn perform(&self, store: &mut Store, environment: u64) -> crate::base::Result<()> {
        let name = name(environment, self.number);
        match self.doing {
            Doing::Open => store.refresh(),
            Doing::Put => store.put(&name, 10, &value(&name, self.version)).map(|stored| assert!(stored)),
            Doing::PutAll => {
                let names =
                    (self.number..).take(TOGETHER as usize).map(|number| super::name(environment, number % NAMES));
                let data: Vec<_> = names.map(|name| (name, value(&name, self.version))).collect();
                let values: Vec<_> =
                    data.iter().map(|(name, data)| Value { name: *name, build_us: 10, data }).collect();
                store.put_all(&values, |_| ())
            }
            Doing::Remove => store.remove(&name).map(drop),
            Doing::Clear => store.clear(Some(environment)),
            Doing::Churn => {
                let name = Name { environment: CHURN, ..name };
                store.put(&name, 10, &value(&name, self.version)).map(drop)
            }
            Doing::Touch => store.touch(&[name, super::name(CHURN, self.number)]),
            Doing::Sync => store.sync(),
            Doing::Seal => store.seal(),
            Doing::Maintain => store.maintain(1 << 20).map(drop),
        }
    }
}

/// Runs a writer. It prints the begin and the end of each step.
pub fn write_for_ever(directory: &Path) {
    let environment = number_in("HOB_ENVIRONMENT").expect("it was given");
    let first = number_in("HOB_VERSION").expect("it was given") as u32;
    let mut random = Random(u64::from(first) << 8 | environment);
    println!("@begin Open 0 0");
    let mut store = super::open(directory, options(&mut random));
    println!("@done");
    let is_hasty = random.below(3) > 0;
    for version in first.. {
        let step = Step::random(&mut random, is_hasty, version);
        println!("@begin {:?} {} {version}", step.doing, step.number);
        if step.doing == Doing::Open {
            store = super::open(directory, options(&mut random));
        }
        if let Err(why) = step.perform(&mut store, environment) {
            println!("@failed {step:?}: {why}");
            panic!("{step:?}: {why}");
        }
        println!("@done");
    }
}

/// A writer, and a thread that reads its output.
struct SegmentWriter {
    running: Running,
    environment: u64,
    began: Receiver<()>,
    heard: JoinHandle<Heard>,
}

/// All completed steps of a writer, and the step that was running when it was killed.
#[derive(Default)]
struct Heard {
    done: Vec<Step>,
    begun: Option<Step>,
}

impl SegmentWriter {
    fn start(directory: &Path, environment: u64, round: u64) -> Self {
        let mut command = child("writer", directory);
        command.env("HOB_ENVIRONMENT", environment.to_string()).env("HOB_VERSION", (round << 20).to_string());
        let mut running = Running(command.spawn().expect("a child can be started"));
        let printed = running.0.stdout.take().expect("it was piped");
        let (begins, began) = channel();
        let heard = std::thread::spawn(move || Heard::of(printed, || _ = begins.send(())));
        Self { running, environment, began, heard }
    }
}

impl Heard {
    fn of(printed: ChildStdout, begins: impl Fn()) -> Self {
        let mut heard = Self::default();
        for line in BufReader::new(printed).lines().map_while(Result::ok) {
            let mut words = line.split(' ');
            match words.next() {
                Some("@begin") => {
                    let doing =
                        words.next().and_then(|word| ALL.into_iter().find(|doing| format!("{doing:?}") == word));
                    let mut number = || words.next().and_then(|word| word.parse().ok());
                    // The last line may be truncated. Its step had not begun then.
                    let (Some(doing), Some(number), Some(version)) = (doing, number(), number()) else { continue };
                    heard.begun = Some(Step { doing, number, version });
                    begins();
                }
                Some("@done") => heard.done.extend(heard.begun.take()),
                Some("@failed") => panic!("a writer says: {line}"),
                _ => {}
            }
        }
        heard
    }
}

/// The version of each name, according to the writers' output.
#[derive(Default)]
struct Model(BTreeMap<(u64, u32), u32>);

impl Model {
    fn hear(&mut self, environment: u64, steps: &[Step]) {
        for step in steps {
            for number in 0..NAMES {
                match step.outcome(number) {
                    Some(Some(version)) => drop(self.0.insert((environment, number), version)),
                    Some(None) => drop(self.0.remove(&(environment, number))),
                    None => {}
                }
            }
        }
    }

    /// Checks that every name has its expected version, or the one of the step that was running at the kill.
    fn check(&mut self, store: &mut Store, environment: u64, begun: Option<Step>) {
        let mut bytes = Vec::new();
        let (mut cleared, mut kept) = (0, 0);
        for number in 0..NAMES {
            let found = version(store, &name(environment, number), &mut bytes);
            let done = self.0.get(&(environment, number)).copied();
            let at = begun.and_then(|step| step.outcome(number));
            let is_right = found == done || at == Some(found);
            assert!(
                is_right,
                "{environment}/{number} has {found:?}, not {done:?}; killed at {begun:?}; {:?}, {:?}",
                store.statistics(),
                store.trouble()
            );
            cleared += u32::from(done.is_some() && found.is_none());
            kept += u32::from(found.is_some());
            match found {
                Some(version) => drop(self.0.insert((environment, number), version)),
                None => drop(self.0.remove(&(environment, number))),
            }
        }
        let clears = begun.is_some_and(|step| step.doing == Doing::Clear);
        assert!(!clears || cleared == 0 || kept == 0, "half of {environment} was cleared");
        for number in 0..CHURNED {
            version(store, &name(CHURN, number), &mut bytes);
        }
    }
}

/// Checks that the store reports no trouble and no damage.
fn is_in_order(store: &Store) {
    assert_eq!(store.trouble(), None);
    let statistics = store.statistics();
    assert_eq!((statistics.damaged, statistics.io_errors, statistics.foreign_segments), (0, 0, 0));
}

/// One directory and its writers.
struct Place {
    directory: PathBuf,
    model: Model,
    random: Random,
    /// Openings with packs.
    packed: u64,
}

impl Place {
    /// Runs some writers at the same time and kills them. Returns their number, and counts the kills by running
    /// operation in `deaths`.
    fn round(&mut self, round: u64, deaths: &mut BTreeMap<Doing, u64>) -> u64 {
        let writers = [1, 1, 2, 3][self.random.below(4) as usize];
        let mut writers: Vec<_> =
            (1..=writers).map(|environment| SegmentWriter::start(&self.directory, environment, round)).collect();
        let mut killed = Vec::new();
        while !writers.is_empty() {
            let writer = writers.swap_remove(self.random.below(writers.len() as u64) as usize);
            writer.began.recv().expect("a writer begins");
            std::thread::sleep(Duration::from_micros(self.random.below(LIFETIME * 1000)));
            let SegmentWriter { running, environment, heard, .. } = writer;
            drop(running);
            let heard = heard.join().unwrap_or_else(|_| panic!("a writer of round {round} failed"));
            self.model.hear(environment, &heard.done);
            *deaths.entry(heard.begun.map_or(Doing::Open, |step| step.doing)).or_default() += 1;
            // Other writers are still running.
            let mut store = super::open(&self.directory, options(&mut self.random));
            self.model.check(&mut store, environment, heard.begun);
            is_in_order(&store);
            killed.push(environment);
        }
        self.look_after(&killed);
        killed.len() as u64
    }

    /// Checks that values persist through maintenance and reopening.
    fn look_after(&mut self, environments: &[u64]) {
        self.packed += u64::from(!files(&self.directory, "pack").is_empty());
        let mut store = super::open(&self.directory, options(&mut self.random));
        let mut done = None;
        if self.random.below(2) == 0 {
            let budget = [0, 10_000, u64::MAX][self.random.below(3) as usize];
            done = Some(store.maintain(budget).expect("no other writer is active"));
        }
        if self.random.below(2) == 0 {
            store.seal().expect("nothing is in the way");
        }
        println!("looked after: {done:?}");
        for mut store in [store, super::open(&self.directory, options(&mut self.random))] {
            environments.iter().for_each(|&environment| self.model.check(&mut store, environment, None));
            is_in_order(&store);
        }
    }

    /// Checks that the directory has no orphaned files.
    fn is_clean(&mut self) {
        let mut store = super::open(&self.directory, Options { now: two_days_later, ..options(&mut self.random) });
        while store.maintain(u64::MAX).expect("no other writer is active").more {}
        store.seal().expect("nothing is in the way");
        let count = |extension| files(&self.directory, extension).len() as u64;
        let segments = store.statistics().segments;
        let found = [count("seg"), count("live"), count("idx.new"), count("pack.new")];
        assert_eq!(found, [segments, 0, 0, 0]);
        let packs = files(&self.directory, "pack");
        let packed = |path: &PathBuf| Parts(&std::fs::read(path).expect("it can be read")).count() as u64;
        assert_eq!(packs.iter().map(packed).sum::<u64>() + count("idx"), segments);
        let statistics = store.statistics();
        assert!(statistics.file_bytes < 2 * statistics.live_bytes + (100 << 10), "{statistics:?}");
    }
}

/// `HOB_STORE_KILLS` sets the number of kills.
#[test]
fn no_kill_loses_a_stored_value() {
    let kills = number_in("HOB_STORE_KILLS").unwrap_or(240);
    let scratch = Scratch::new("kills");
    let mut packed = 0;
    let (mut killed, mut round) = (0, number_in("HOB_STORE_SEED").unwrap_or(0));
    let mut deaths = BTreeMap::new();
    while killed < kills {
        let directory = scratch.0.join(round.to_string());
        let mut place = Place { directory, model: Model::default(), random: Random(round), packed: 0 };
        let until = kills.min(killed + KILLS);
        while killed < until {
            round += 1;
            killed += place.round(round, &mut deaths);
        }
        place.is_clean();
        packed += place.packed;
        let _ = std::fs::remove_dir_all(&place.directory);
    }
    println!("{killed} writers were killed while they were at: {deaths:?}; {packed} openings with packs");
    // With many kills, every operation was hit.
    assert!(killed < 1000 || deaths.len() == ALL.len(), "{deaths:?}");
}
