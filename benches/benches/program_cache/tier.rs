//! The cache in a new process: how long its caller waits for it, and how long its background needs to load all programs
//! into memory.

use std::path::Path;
use std::time::Duration;

use hobgoblin::program_cache::{Cache, Desc, Material, OpenCache, Options, Program};
use hobgoblin::store::{
    self,
    io::{OsIo, share},
};
use hobgoblin_bench::timing::{median, microseconds};
use serde_json::{Value, json};

use crate::blobs::Blobs;
use crate::contest::Plan;
use crate::floor::{Floor, forget};
use crate::peers::seconds;
use crate::report::number;

const LONG: Duration = Duration::from_secs(600);

fn open(directory: &Path) -> OpenCache {
    let desc = Desc {
        memory: Options { limit_bytes: 1 << 30, ..Options::default() },
        directory: Some(directory.into()),
        environment: 7,
        store: store::Options::new(seconds),
        material: Material::default(),
        ban_at: 2,
        waiting_limit: 1 << 30,
        load_ahead: true,
        io: share(OsIo).expect("there is memory"),
        executor: None,
    };
    Cache::open(desc).expect("memory")
}

pub fn row(blobs: &Blobs, plan: &Plan<'_>) -> Result<Value, String> {
    let directory = plan.directory.join("tier");
    let _ = std::fs::remove_dir_all(&directory);
    let floor = Floor::new(plan.directory.join("floor"));
    floor.write(blobs).map_err(|why| why.to_string())?;
    let cache = open(&directory);
    for (key, data) in blobs.iter() {
        cache.put(key, &Program { data, ..Program::default() }).map_err(|why| why.to_string())?;
    }
    cache.disk().flush(LONG).map_err(|why| why.to_string())?;
    drop(cache);
    let (mut opens, mut loads) = (Vec::new(), Vec::new());
    for _ in 0..2 * plan.rounds {
        let read = floor.read(plan.drop_all).map_err(|why| why.to_string())?;
        forget(&directory, plan.drop_all).map_err(|why| why.to_string())?;
        let mut cache = None;
        opens.push(microseconds(|| cache = Some(open(&directory))));
        let cache = cache.expect("it was opened");
        let load = microseconds(|| assert!(cache.disk().wait_idle(LONG)));
        loads.push(load / 1e6 / read);
        assert!(blobs.iter().all(|(key, value)| cache.get(key).is_some_and(|blob| blob.data() == value)));
    }
    let _ = std::fs::remove_dir_all(&directory);
    Ok(json!({ "open_us": median(&opens), "load": median(&loads) }))
}

pub fn print(row: &Value) {
    println!(
        "the cache itself, cold: {:.0} us until it is open; all programs checked and in memory after {:.2} x reading",
        number(&row["open_us"]),
        number(&row["load"])
    );
}
