//! Removing programs from a directory.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{ArgGroup, Args};
use hobgoblin::store::{Options, Store};
use serde::Serialize;

use super::source::{self, SecretFile};
use crate::failure::{Failure, Result, cannot_read};
use crate::numbers::{count, now, parse_environment, parse_size, size};
use crate::progress::Progress;
use crate::report::{self, Report};

/// Bytes that a piece of maintenance copies, so that Ctrl-C is noticed soon.
const PIECE: u64 = 8 << 20;
const DAY: u64 = 24 * 60 * 60;

#[derive(Args)]
#[command(group = ArgGroup::new("removal").required(true).multiple(true))]
pub struct Arguments {
    /// A directory.
    path: PathBuf,
    /// Remove programs that were not used for this many days before the newest use in the directory. The clock alone removes
    /// nothing: it may be wrong.
    #[arg(long, value_name = "DAYS", group = "removal")]
    max_age: Option<u64>,
    /// Remove whole environments, those used longest ago first, until the directory has this size. At least 256KiB.
    #[arg(long, value_parser = parse_size, value_name = "SIZE", group = "removal")]
    limit: Option<u64>,
    /// Remove this environment; may be repeated.
    #[arg(long, value_parser = parse_environment, value_name = "ID", group = "removal")]
    environment: Vec<u64>,
    /// Remove all programs, also those that other versions of the library wrote.
    #[arg(long, group = "removal", conflicts_with_all = ["max_age", "limit", "environment"])]
    all: bool,
    #[command(flatten)]
    secret: SecretFile,
}

#[derive(Serialize)]
pub struct Pruned {
    #[serde(serialize_with = "report::path")]
    path: PathBuf,
    values_before: u64,
    values: u64,
    file_bytes_before: u64,
    file_bytes: u64,
    /// Another process is maintaining the directory, and goes on with it.
    is_busy: bool,
}

pub fn run(arguments: &Arguments, is_quiet: bool) -> Result<Pruned> {
    if arguments.limit.is_some_and(|limit| limit < Options::LEAST_LIMIT) {
        return Err(Failure::Usage("the limit must be at least 256KiB".into()));
    }
    let path = &arguments.path;
    // Only the named limits apply; those of the environments stay in the directory.
    let options = Options {
        limit_bytes: u64::MAX,
        directory_limit: arguments.limit.unwrap_or(u64::MAX),
        max_age_seconds: arguments.max_age.map_or(u32::MAX, |days| u32::try_from(days * DAY).unwrap_or(u32::MAX)),
        secret: arguments.secret.read()?,
        ..Options::new(now)
    };
    std::fs::metadata(path).map_err(|why| cannot_read(path, &why))?;
    let mut store = source::open_for_changes(path, options)?;
    let before = store.statistics();
    let progress = Progress::unknown("removing", is_quiet);
    let is_busy = remove(&mut store, arguments, &progress)?;
    let after = store.statistics();
    Ok(Pruned {
        path: path.clone(),
        values_before: before.values,
        values: after.values,
        file_bytes_before: before.file_bytes,
        file_bytes: after.file_bytes,
        is_busy,
    })
}

/// Whether another process is maintaining.
fn remove(store: &mut Store, arguments: &Arguments, progress: &Progress) -> Result<bool> {
    if arguments.all {
        while store.clear_all()?.more {
            progress.step()?;
        }
        return Ok(false);
    }
    for &environment in &arguments.environment {
        while !store.clear_some(Some(environment))? {
            progress.step()?;
        }
    }
    loop {
        progress.step()?;
        let done = store.maintain(PIECE)?;
        if done.busy || !done.more {
            return Ok(done.busy);
        }
    }
}

impl Report for Pruned {
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let [removed, kept] = [self.values_before.saturating_sub(self.values), self.values].map(count);
        let [before, after] = [self.file_bytes_before, self.file_bytes].map(size);
        writeln!(to, "removed {removed} values, {kept} remain; {before} before, {after} now")?;
        if self.is_busy {
            writeln!(to, "another process is maintaining the directory: call again")?;
        }
        Ok(())
    }
}
