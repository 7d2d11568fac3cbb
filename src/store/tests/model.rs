//! Random calls compared with a model, on a disk that fails.

use crate::testing::scaled;
use std::collections::BTreeMap;

use super::super::fault_io::{FaultDisk, FaultIo};
use super::super::{Compression, Name, Options, Store, Value};
use super::*;

const NAMES: u64 = 14;

/// The possible values of a name.
#[derive(Clone, Debug)]
struct Known {
    now: Option<Vec<u8>>,
    /// All values since the last one that was certainly on the disk.
    since_sync: Vec<Option<Vec<u8>>>,
    /// Whether this process set the current value.
    is_ours: bool,
}

struct Run {
    seed: u64,
    random: Random,
    disk: FaultDisk,
    io: FaultIo,
    store: Store,
    model: BTreeMap<u64, Known>,
}

fn numbered(number: u64) -> Name {
    named(number % 3, number)
}

fn some_options(random: &mut Random) -> Options {
    let compression = if random.below(2) == 0 { Compression::Lz4 } else { Compression::None };
    Options { compression, segment_limit: [300, 1500, 20_000][random.below(3) as usize], ..options() }
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let disk = FaultDisk::default();
        let io = disk.process();
        let store = open(&io, some_options(&mut random));
        let nothing = Known { now: None, since_sync: vec![None], is_ours: false };
        let model = (0..NAMES).map(|number| (number, nothing.clone())).collect();
        Self { seed, random, disk, io, store, model }
    }

    fn now_has(&mut self, number: u64, value: Option<Vec<u8>>) {
        let known = self.model.get_mut(&number).unwrap();
        known.since_sync.push(value.clone());
        (known.now, known.is_ours) = (value, true);
    }

    fn some_value(&mut self) -> Vec<u8> {
        let length = [0, 1, 16, 40, 300, 900][self.random.below(6) as usize];
        match self.random.below(2) {
            0 => self.random.bytes(length),
            _ => vec![self.random.next() as u8; length],
        }
    }

    fn step(&mut self) {
        let number = self.random.below(NAMES);
        let name = numbered(number);
        match self.random.below(40) {
            0..4 => self.put_all(number),
            4..16 => {
                let value = self.some_value();
                let before = self.model[&number].now.clone();
                let done = self.store.put(&name, 3, &value).is_ok();
                self.ended(number, done, Some(value), before);
            }
            16..22 => {
                let before = self.model[&number].now.clone();
                let done = self.store.remove(&name).is_ok_and(|removed| removed == before.is_some());
                self.ended(number, done, None, before);
            }
            22 => self.clear(),
            23..25 => drop(self.store.touch(&[name, numbered(0)])),
            25..28 => self.sync(),
            28 => drop(self.store.seal()),
            29 => drop(self.store.maintain(self.random.next() % 5000)),
            30 => drop(self.store.refresh()),
            31 => wait(self.random.below(3)),
            32 => self.arm(),
            33 => self.restart(),
            34 => self.lose_power(),
            35 => self.misread(),
            _ => self.check(number),
        }
        if self.io.is_dead() {
            self.restart();
        }
    }

    /// Put values of several names in one call.
    fn put_all(&mut self, first: u64) {
        let numbers = (first..=first + self.random.below(NAMES - 1)).map(|number| number % NAMES);
        let wanted: Vec<_> = numbers.map(|number| (number, self.some_value())).collect();
        let values: Vec<_> =
            wanted.iter().map(|(number, data)| Value { name: numbered(*number), build_us: 3, data }).collect();
        let mut kept = vec![false; values.len()];
        let done = self.store.put_all(&values, |place| kept[place] = true).is_ok();
        assert_eq!(
            done,
            kept.iter().all(|&kept| kept),
            "seed {}: put_all reports each value that it does not keep",
            self.seed
        );
        for ((number, value), kept) in wanted.into_iter().zip(kept) {
            let before = self.model[&number].now.clone();
            self.ended(number, kept, Some(value), before);
        }
    }

    /// Update the model after a call. If the process died in the call, either outcome is possible.
    fn ended(&mut self, number: u64, done: bool, after: Option<Vec<u8>>, before: Option<Vec<u8>>) {
        if done && after != before || self.io.is_dead() {
            self.now_has(number, after);
        } else if done {
            self.model.get_mut(&number).unwrap().is_ours |= self.model[&number].now.is_some();
        }
    }

    fn clear(&mut self) {
        let environment = Some(self.random.below(4)).filter(|&environment| environment < 3);
        let done = self.store.clear(environment).is_ok();
        for number in (0..NAMES).filter(|number| environment.is_none_or(|environment| number % 3 == environment)) {
            if self.model[&number].now.is_some() && (done || self.io.is_dead()) {
                self.now_has(number, None);
            }
        }
    }

    fn sync(&mut self) {
        if self.store.sync().is_ok() {
            for known in self.model.values_mut().filter(|known| known.is_ours) {
                known.since_sync = vec![known.now.clone()];
            }
        }
    }

    fn arm(&mut self) {
        let calls = self.random.below(12);
        let what = self.random.below(3);
        self.io.plan(|plan| match what {
            0 => plan.calls_to_live = Some(calls),
            1 => plan.calls_to_error = Some(calls),
            _ => plan.longest_read = Some(1 + calls as usize * 30),
        });
    }

    fn reopen(&mut self) {
        self.io = self.disk.process();
        self.store = open(&self.io, some_options(&mut self.random));
        self.model.values_mut().for_each(|known| known.is_ours = false);
    }

    /// Restart the process. If it died in a call, the model accepts both outcomes of that call.
    fn restart(&mut self) {
        let died_in_a_call = self.io.is_dead();
        self.io.kill();
        self.reopen();
        for number in 0..NAMES {
            let found = get(&mut self.store, &numbered(number));
            let known = self.model.get_mut(&number).unwrap();
            let last = known.since_sync.len().saturating_sub(if died_in_a_call { 2 } else { 1 });
            let allowed = &known.since_sync[last..];
            assert!(allowed.contains(&found), "seed {}: killed, {number} is {found:?}, not of {allowed:?}", self.seed);
            known.since_sync.push(found.clone());
            known.now = found;
        }
    }

    /// Check that a process with read failures neither loses nor removes values.
    fn misread(&mut self) {
        self.restart();
        let calls = self.random.below(20);
        self.io.plan(|plan| plan.calls_to_misread = Some(calls));
        if let Ok(mut store) = Store::open(shared(self.io.clone()), &directory(), some_options(&mut self.random)) {
            let _ = store.maintain(u64::MAX);
            let _ = store.maintain(u64::MAX);
        }
        self.restart();
    }

    fn lose_power(&mut self) {
        self.io.kill();
        let random = &mut self.random;
        self.disk.lose_power(|| random.next());
        self.reopen();
        for number in 0..NAMES {
            let found = get(&mut self.store, &numbered(number));
            let known = self.model.get_mut(&number).unwrap();
            let allowed = &known.since_sync;
            assert!(
                allowed.contains(&found),
                "seed {}: no power, {number} is {found:?}, not of {allowed:?}",
                self.seed
            );
            *known = Known { now: found.clone(), since_sync: vec![found], is_ours: false };
        }
    }

    fn check(&mut self, number: u64) {
        let found = get(&mut self.store, &numbered(number));
        if !self.io.is_dead() {
            assert_eq!(found, self.model[&number].now, "seed {}: {number}", self.seed);
        }
    }
}

/// `HOB_STORE_SEED` sets the first seed.
#[test]
fn store_matches_the_model() {
    let runs = u64::from(scaled(80));
    let first = std::env::var("HOB_STORE_SEED").ok().and_then(|word| word.parse().ok()).unwrap_or(0);
    for seed in first..first + runs {
        let mut run = Run::new(seed);
        for _ in 0..300 {
            run.step();
        }
        run.restart();
    }
}
