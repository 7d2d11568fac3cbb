//! Copying programs into a directory.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use hobgoblin::store::{Buffer, Compression, Options};
use serde::Serialize;

use super::source::{self, SecretFile};
use crate::failure::{Failure, Result, shown};
use crate::numbers::{count, now, parse_size, size};
use crate::progress::Progress;
use crate::report::{self, Report};

#[derive(Args)]
pub struct Arguments {
    /// Directories and bundles.
    #[arg(required = true)]
    sources: Vec<PathBuf>,
    /// The directory to copy into. A missing one is created.
    #[arg(long, short, value_name = "DIRECTORY")]
    into: PathBuf,
    /// Limit of each environment in the directory, at least 256KiB.
    #[arg(long, value_parser = parse_size, value_name = "SIZE", default_value = "512MiB")]
    limit: u64,
    /// Compress programs (LZ4).
    #[arg(long)]
    compress: bool,
    /// File with the secret of the target and of all source directories.
    #[command(flatten)]
    secret: SecretFile,
}

#[derive(Serialize)]
pub struct Merged {
    #[serde(serialize_with = "report::path")]
    into: PathBuf,
    sources: usize,
    copied: u64,
    copied_bytes: u64,
    /// Values that the directory had already.
    present: u64,
    /// Values left out because they are damaged.
    damaged: u64,
    /// Values left out because the limit is too low for them.
    refused: u64,
    /// Values evicted to make room.
    evicted: u64,
}

pub fn run(arguments: &Arguments, is_quiet: bool) -> Result<Merged> {
    let Arguments { sources, into, .. } = arguments;
    if arguments.limit < Options::LEAST_LIMIT {
        return Err(Failure::Usage("the limit must be at least 256KiB".into()));
    }
    let secret = arguments.secret.read()?;
    let compression = if arguments.compress { Compression::Lz4 } else { Compression::None };
    let options = Options { limit_bytes: arguments.limit, compression, secret, ..Options::new(now) };
    let mut target = source::open_for_changes(into, options)?;
    let mut merged = Merged {
        into: into.clone(),
        sources: sources.len(),
        copied: 0,
        copied_bytes: 0,
        present: 0,
        damaged: 0,
        refused: 0,
        evicted: 0,
    };
    let mut buffer = Buffer::default();
    for path in sources {
        let (_, mut store) = source::open(path, secret)?;
        let progress = Progress::new("copying", store.statistics().values, is_quiet);
        for environment in store.environments()? {
            for name in store.names_in_place(environment)? {
                progress.step()?;
                if target.contains(&name) {
                    merged.present += 1;
                    continue;
                }
                let Some((build_us, value)) = store.view(&name, &mut buffer)? else {
                    merged.damaged += 1;
                    continue;
                };
                if target.put(&name, build_us, value)? {
                    merged.copied += 1;
                    merged.copied_bytes += value.len() as u64;
                } else {
                    merged.refused += 1;
                }
            }
        }
    }
    target.sync()?;
    target.seal()?;
    merged.evicted = target.statistics().evicted;
    Ok(merged)
}

impl Report for Merged {
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let [copied, present] = [self.copied, self.present].map(count);
        let bytes = size(self.copied_bytes);
        writeln!(to, "copied {copied} values, {bytes}, into '{}'; {present} were there", shown(&self.into))?;
        let others = [
            (self.damaged, "left out: damaged"),
            (self.refused, "left out: too large for the limit"),
            (self.evicted, "evicted to make room: raise --limit to keep them"),
        ];
        let mut others = others.iter().filter(|(number, _)| *number > 0);
        others.try_for_each(|(number, reason)| writeln!(to, "{} {reason}", count(*number)))
    }
}
