//! Environments of a cache, their programs and bytes.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use hobgoblin::program_cache::kind;
use hobgoblin::store::Store;
use serde::Serialize;

use super::source::{self, Place, SecretFile};
use crate::failure::{Result, shown};
use crate::interrupt;
use crate::numbers::{age, count, decimal, now, size};
use crate::report::{self, Report, table};

#[derive(Args)]
pub struct Arguments {
    /// A directory or a bundle.
    path: PathBuf,
    #[command(flatten)]
    secret: SecretFile,
}

#[derive(Default, Serialize)]
struct Environment {
    id: String,
    programs: u64,
    /// Of the values, uncompressed.
    bytes: u64,
    /// Of their records on the disk.
    stored_bytes: u64,
    build_ms: u64,
    in_start_up_set: u64,
    /// Seconds since 1970; `null` in a bundle.
    oldest_use: Option<u64>,
    newest_use: Option<u64>,
}

#[derive(Serialize)]
pub struct Info {
    #[serde(serialize_with = "report::path")]
    path: PathBuf,
    is_bundle: bool,
    environments: Vec<Environment>,
    segments: u64,
    file_bytes: u64,
    /// Segments of other formats, secrets and users.
    foreign_segments: u64,
    /// Stretches and files that were found damaged when the index was read. `hob cache verify` reads everything.
    damaged: u64,
    keys_with_strikes: u32,
    banned_keys: u32,
    /// Why part of it cannot be read.
    problem: Option<String>,
}

pub fn run(arguments: &Arguments) -> Result<Info> {
    let (secret, path) = (arguments.secret.read()?, &arguments.path);
    let (place, mut store) = source::open(path, secret)?;
    let environments = store.environments()?;
    let environments = environments.into_iter().map(|id| environment(&mut store, id, place)).collect::<Result<_>>()?;
    let counts = store.statistics();
    let strikes = match place {
        Place::Directory => source::strikes(path, secret)?.statistics(),
        Place::Bundle => Default::default(),
    };
    Ok(Info {
        path: path.clone(),
        is_bundle: place == Place::Bundle,
        environments,
        segments: counts.segments,
        file_bytes: counts.file_bytes,
        foreign_segments: counts.foreign_segments,
        damaged: counts.damaged,
        keys_with_strikes: strikes.struck,
        banned_keys: strikes.bans,
        problem: store.trouble().map(String::from).or_else(|| store.notice().map(|notice| notice.as_str().into())),
    })
}

fn environment(store: &mut Store, id: u64, place: Place) -> Result<Environment> {
    let mut found = Environment { id: format!("{id:016x}"), ..Environment::default() };
    let mut start_up = None;
    interrupt::check()?;
    for meta in store.entries(id) {
        if meta.name.kind == kind::START_UP {
            start_up = Some(meta.name);
        }
        if meta.name.kind != kind::PROGRAM {
            continue;
        }
        found.programs += 1;
        found.bytes += u64::from(meta.length);
        found.stored_bytes += meta.stored_bytes;
        found.build_ms += u64::from(meta.build_us);
        if place == Place::Directory {
            let used = u64::from(meta.last_used);
            found.oldest_use = Some(found.oldest_use.map_or(used, |oldest| oldest.min(used)));
            found.newest_use = Some(found.newest_use.map_or(used, |newest| newest.max(used)));
        }
    }
    found.build_ms /= 1000;
    if let Some(name) = start_up {
        let mut keys = Vec::new();
        store.get(&name, &mut keys)?;
        found.in_start_up_set = keys.len() as u64 / 32;
    }
    Ok(found)
}

impl Report for Info {
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let place = if self.is_bundle { "bundle" } else { "directory" };
        let programs: u64 = self.environments.iter().map(|environment| environment.programs).sum();
        let (programs, path) = (count(programs), shown(&self.path));
        writeln!(to, "{place} '{path}': {programs} programs, {}", size(self.file_bytes))?;
        let head = ["environment", "programs", "size", "build time", "start-up set", "oldest use", "newest use"];
        let mut rows = table(head);
        for environment in &self.environments {
            let used = |second: Option<u64>| second.map_or("-".into(), |second| age(second, now()));
            rows.add_row([
                environment.id.clone(),
                count(environment.programs),
                size(environment.bytes),
                format!("{} s", decimal(environment.build_ms as f64 / 1000.0)),
                count(environment.in_start_up_set),
                used(environment.oldest_use),
                used(environment.newest_use),
            ]);
        }
        if !self.environments.is_empty() {
            writeln!(to, "{rows}")?;
        }
        write!(to, "{} segments", count(self.segments))?;
        if self.foreign_segments > 0 {
            write!(to, ", {} of other formats, secrets or users", count(self.foreign_segments))?;
        }
        if self.damaged > 0 {
            write!(to, ", {} damaged places", count(self.damaged))?;
        }
        writeln!(to)?;
        if self.keys_with_strikes > 0 {
            let [struck, banned] = [self.keys_with_strikes, self.banned_keys].map(|number| count(number.into()));
            writeln!(to, "{struck} programs with strikes, {banned} of them banned")?;
        }
        self.problem.iter().try_for_each(|problem| writeln!(to, "{problem}"))
    }
}
