//! Key maps from and to CSV.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Subcommand;
use hobgoblin::pipeline::keys::{KeyMap, KeyMapBuilder, LoadedKeys};
use serde::Serialize;

use super::inputs::{files, key_map};
use super::patterns::expanded;
use crate::failure::{Failure, Result, cannot_read, shown};
use crate::interrupt;
use crate::numbers::count;
use crate::outputs::{cannot_write, check_is_no_input, replace};
use crate::progress::Progress;
use crate::report::{self, Output, Report};

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
        /// Key maps (*.hobkeys, *.csv), or patterns of them.
        #[arg(required = true)]
        keys: Vec<PathBuf>,
        /// The CSV file. An existing file is replaced when the new one is complete. Default: standard output.
        #[arg(long, short)]
        out: Option<PathBuf>,
    },
}

#[derive(Serialize)]
struct Imported {
    #[serde(serialize_with = "report::path")]
    out: PathBuf,
    lines: u64,
    unique: usize,
    bytes: u64,
}

impl Report for Imported {
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let (unique, lines) = (count(self.unique as u64), count(self.lines));
        writeln!(to, "wrote {unique} unique keys of {lines} lines to '{}'", shown(&self.out))
    }
}

/// A key map that was written as CSV.
#[derive(Serialize)]
struct Exported {
    #[serde(serialize_with = "report::path")]
    out: PathBuf,
    lines: usize,
}

impl Report for Exported {
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        writeln!(to, "wrote {} lines to '{}'", count(self.lines as u64), shown(&self.out))
    }
}

pub fn run(command: Command, output: &Output) -> Result<ExitCode> {
    match command {
        Command::Import { csv, out, build, format } => {
            check_is_no_input(&out, [&csv])?;
            let mut builder = KeyMapBuilder::default();
            let lines = read_csv(&mut builder, &csv, output.quiet)?.lines;
            let map = builder.finish()?;
            let bytes = map.write(&files()?, &out, &build, &format)?;
            output.print(&Imported { out, lines, unique: map.len(), bytes })
        }
        Command::Export { keys, out } => {
            let keys = expanded(&keys)?;
            if let Some(out) = &out {
                check_is_no_input(out, &keys)?;
            }
            let map = key_map(&files()?, &keys, output.quiet)?;
            let Some(out) = out else { return print_csv(&map) };
            replace(&out, |to| write_csv(&map, to).map_err(|why| why.at(&out)))?;
            output.print(&Exported { out, lines: map.len() })
        }
    }
}

/// Read a CSV file, with progress in kilobytes.
fn read_csv(builder: &mut KeyMapBuilder, csv: &Path, is_quiet: bool) -> Result<LoadedKeys> {
    const KILOBYTE: u64 = 1000;
    let mut file = File::open(csv).map_err(|why| cannot_read(csv, &why))?;
    let length = file.metadata().map_or(0, |found| found.len());
    let progress = Progress::new("reading kB", length / KILOBYTE, is_quiet);
    let (mut failed, mut read) = (None, 0);
    let loaded = builder.add_csv(|piece| {
        let next =
            progress.reach(read / KILOBYTE).and_then(|()| file.read(piece).map_err(|why| cannot_read(csv, &why)));
        let count = next.unwrap_or_else(|why| {
            failed = Some(why);
            0
        });
        read += count as u64;
        Ok(count)
    });
    match failed {
        Some(why) => Err(why),
        None => loaded.map_err(|why| Failure::File(format!("'{}', {}", shown(csv), why.sentence()))),
    }
}

/// Why CSV was not written.
enum Unwritten {
    Io(io::Error),
    Other(Failure),
}

impl Unwritten {
    fn at(self, path: &Path) -> Failure {
        match self {
            Self::Io(why) => cannot_write(path, &why),
            Self::Other(why) => why,
        }
    }
}

fn write_csv(map: &KeyMap, to: &mut dyn Write) -> std::result::Result<(), Unwritten> {
    let mut written = Ok(());
    let passed = map.write_csv(|piece| {
        if written.is_ok() {
            let piece = to.write_all(piece.as_bytes()).map_err(Unwritten::Io);
            written = piece.and_then(|()| interrupt::check().map_err(Unwritten::Other));
        }
        Ok(())
    });
    written?;
    passed.map_err(|why| Unwritten::Other(why.into()))?;
    to.flush().map_err(Unwritten::Io)
}

fn print_csv(map: &KeyMap) -> Result<ExitCode> {
    match write_csv(map, &mut BufWriter::new(io::stdout().lock())) {
        // The reader, such as `head`, has seen enough.
        Err(Unwritten::Io(why)) if why.kind() == ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        written => written.map(|()| ExitCode::SUCCESS).map_err(|why| why.at(Path::new("standard output"))),
    }
}
