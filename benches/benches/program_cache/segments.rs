//! A directory with the small segments of many launches, compared with one segment of the same values.

use std::fs;
use std::hint::black_box;
use std::io::Read;
use std::path::{Path, PathBuf};

use hobgoblin::store::io::{OsIo, share};
use hobgoblin::store::{Name, Options, Store};
use hobgoblin_bench::timing::{least_of, microseconds};
use serde_json::{Value, json};

use crate::blobs::key;
use crate::peers::seconds;
use crate::report::number;

const VALUES: u64 = 20_000;
const SEGMENTS: u64 = 500;

fn open(directory: &Path) -> Store {
    Store::open(share(OsIo).expect("there is memory"), directory, Options::new(seconds)).expect("readable")
}

fn fill(directory: &Path, segments: u64) {
    let _ = fs::remove_dir_all(directory);
    let mut store = open(directory);
    for number in 0..VALUES {
        let name = Name { kind: 1, environment: 7, key: key(number) };
        store.put(&name, 1000, &number.to_le_bytes()).expect("writable");
        if (number + 1).is_multiple_of(VALUES / segments) {
            store.seal().expect("writable");
        }
    }
}

pub fn row(directory: &Path, rounds: usize) -> Value {
    let (one, many) = (directory.join("one"), directory.join("many"));
    fill(&one, 1);
    fill(&many, SEGMENTS);
    let time = |directory: &Path, segments: u64| {
        let mut values = (0, 0);
        let time = microseconds(|| {
            let found = black_box(open(directory)).statistics();
            values = (found.values, found.segments);
        });
        assert_eq!(values, (VALUES, segments));
        time
    };
    let least = [(&one, 1), (&many, SEGMENTS)];
    let mut least = least.map(|(directory, segments)| (directory, segments, f64::INFINITY));
    for _ in 0..20 * rounds {
        for (directory, segments, least) in &mut least {
            *least = least.min(time(directory, *segments));
        }
    }
    let [one_us, many_us] = least.map(|(_, _, least)| least);
    let indexes: Vec<_> = fs::read_dir(&many)
        .expect("readable")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "idx" || extension == "pack"))
        .collect();
    let mut bytes = vec![0; 1 << 20];
    let mut read = |path: &PathBuf| fs::File::open(path).and_then(|mut file| file.read(&mut bytes)).expect("readable");
    let floor_us = least_of(20 * rounds, || assert!(indexes.iter().map(&mut read).all(|count| count > 0)));
    for directory in [one, many] {
        let _ = fs::remove_dir_all(directory);
    }
    let floor = (one_us + floor_us) / one_us;
    json!({ "one_ms": one_us / 1e3, "many_ms": many_us / 1e3, "ratio": many_us / one_us, "floor": floor })
}

pub fn print(row: &Value) {
    println!(
        "open {SEGMENTS} segments of {} values: {:.2} ms; one of {VALUES}: {:.2} ms; ratio {:.2}; one and reading the index files alone {:.2}",
        VALUES / SEGMENTS,
        number(&row["many_ms"]),
        number(&row["one_ms"]),
        number(&row["ratio"]),
        number(&row["floor"])
    );
}
