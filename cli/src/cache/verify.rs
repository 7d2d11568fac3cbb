//! Reading and checking every value of a cache.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use hobgoblin::store::Buffer;
use serde::Serialize;

use super::source::{self, SecretFile};
use crate::failure::Result;
use crate::numbers::{count, hex, size};
use crate::progress::Progress;
use crate::report::{self, Report};

/// Damaged values that the text lists. JSON lists all.
const LISTED: usize = 20;

#[derive(Args)]
pub struct Arguments {
    /// A directory or a bundle.
    path: PathBuf,
    #[command(flatten)]
    secret: SecretFile,
}

#[derive(Serialize)]
struct Damaged {
    environment: String,
    key: String,
}

#[derive(Serialize)]
pub struct Verified {
    #[serde(serialize_with = "report::path")]
    path: PathBuf,
    /// Values that are whole.
    values: u64,
    bytes: u64,
    damaged: Vec<Damaged>,
    /// Damaged stretches and files that belong to no known value.
    damaged_places: u64,
}

pub fn run(arguments: &Arguments, is_quiet: bool) -> Result<Verified> {
    let path = &arguments.path;
    let (_, mut store) = source::open(path, arguments.secret.read()?)?;
    let damaged_places = store.statistics().damaged;
    let mut verified = Verified { path: path.clone(), values: 0, bytes: 0, damaged: Vec::new(), damaged_places };
    let mut buffer = Buffer::default();
    let progress = Progress::new("checking", store.statistics().values, is_quiet);
    for environment in store.environments()? {
        for name in store.names_in_place(environment)? {
            match store.view(&name, &mut buffer)? {
                Some((_, value)) => {
                    verified.values += 1;
                    verified.bytes += value.len() as u64;
                }
                None => {
                    verified.damaged.push(Damaged { environment: format!("{environment:016x}"), key: hex(&name.key) })
                }
            }
            progress.step()?;
        }
    }
    Ok(verified)
}

impl Report for Verified {
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        writeln!(to, "{} values are whole, {}", count(self.values), size(self.bytes))?;
        if self.damaged_places > 0 {
            writeln!(to, "{} damaged places in files", count(self.damaged_places))?;
        }
        if !self.damaged.is_empty() {
            writeln!(to, "{} values are damaged, and count as missing:", count(self.damaged.len() as u64))?;
        }
        for Damaged { environment, key } in self.damaged.iter().take(LISTED) {
            writeln!(to, "  environment {environment}, key {key}")?;
        }
        if self.damaged.len() > LISTED {
            writeln!(to, "  ... and {} more: --json lists all", count((self.damaged.len() - LISTED) as u64))?;
        }
        Ok(())
    }

    fn has_findings(&self) -> bool {
        self.damaged_places > 0 || !self.damaged.is_empty()
    }
}
