//! Key maps from and to CSV.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use hobgoblin::pipeline::keys::KeyMapBuilder;
use serde::Serialize;

use super::inputs::{files, key_map};
use crate::failure::{Failure, Result, cannot_read};
use crate::interrupt;
use crate::report::{Output, Report};

#[derive(Subcommand)]
pub enum Command {
    /// Make a key map from a CSV file with the lines `hash,stage,key`.
    Import {
        /// The CSV file.
        csv: PathBuf,
        /// The key map. An existing file is replaced when the new one is complete.
        #[arg(long, short)]
        out: PathBuf,
        /// The build that the shaders belong to, for people.
        #[arg(long, default_value = "")]
        build: String,
        /// The shader format, for people.
        #[arg(long, default_value = "")]
        format: String,
    },
    /// Write key maps as one CSV file.
    Export {
        /// Key maps, or patterns of them.
        #[arg(required = true)]
        keys: Vec<String>,
        /// The CSV file. Default: standard output.
        #[arg(long, short)]
        out: Option<PathBuf>,
    },
}

#[derive(Serialize)]
struct Imported {
    out: PathBuf,
    lines: u64,
    unique: usize,
    bytes: u64,
}

impl Report for Imported {
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        writeln!(to, "wrote {} unique keys of {} lines to '{}'", self.unique, self.lines, self.out.display())
    }
}

pub fn run(command: Command, output: &Output) -> Result<ExitCode> {
    match command {
        Command::Import { csv, out, build, format } => {
            let mut file = File::open(&csv).map_err(|why| cannot_read(&csv, &why))?;
            let (mut builder, mut failed) = (KeyMapBuilder::default(), None);
            let loaded = builder.add_csv(|piece| {
                Ok(file.read(piece).unwrap_or_else(|why| {
                    failed = Some(why);
                    0
                }))
            });
            if let Some(why) = failed {
                return Err(cannot_read(&csv, &why));
            }
            let lines = loaded.map_err(|why| Failure::File(format!("'{}', {why}", csv.display())))?.lines;
            let map = builder.finish()?;
            let bytes = map.write(&files()?, &out, &build, &format)?;
            output.print(&Imported { out, lines, unique: map.len(), bytes })
        }
        Command::Export { keys, out } => {
            let (map, _) = key_map(&keys, None, output.quiet)?;
            let mut to: Box<dyn Write> = match &out {
                Some(path) => Box::new(BufWriter::new(File::create(path).map_err(|why| cannot_write(path, &why))?)),
                None => Box::new(BufWriter::new(io::stdout().lock())),
            };
            let mut written = Ok(());
            map.write_csv(|piece| {
                if written.is_ok() {
                    written = to.write_all(piece.as_bytes());
                }
                Ok(())
            })?;
            interrupt::check()?;
            match written.and_then(|()| to.flush()) {
                Err(why) if why.kind() != io::ErrorKind::BrokenPipe => {
                    Err(cannot_write(&out.unwrap_or_else(|| "standard output".into()), &why))
                }
                _ => Ok(ExitCode::SUCCESS),
            }
        }
    }
}

fn cannot_write(path: &std::path::Path, why: &io::Error) -> Failure {
    Failure::File(format!("cannot write '{}': {why}", path.display()))
}
