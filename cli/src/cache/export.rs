//! Writing the programs of a cache to a bundle.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use hobgoblin::program_cache::kind;
use hobgoblin::store::io::{OsIo, share};
use hobgoblin::store::{Buffer, BundleWriter, Compression, Name, Store};
use serde::Serialize;

use super::source::{self, Place, SecretFile};
use crate::failure::{Failure, Result, shown};
use crate::numbers::{count, parse_environment, size};
use crate::outputs::check_is_no_input;
use crate::progress::Progress;
use crate::report::{self, Report};

#[derive(Args)]
pub struct Arguments {
    /// A directory or a bundle.
    path: PathBuf,
    /// The bundle to write. An existing file is replaced when the new one is complete.
    #[arg(long, short)]
    out: PathBuf,
    /// Only this environment; may be repeated. Default: all.
    #[arg(long, value_parser = parse_environment, value_name = "ID")]
    environment: Vec<u64>,
    /// Compress programs (LZ4).
    #[arg(long)]
    compress: bool,
    #[command(flatten)]
    secret: SecretFile,
}

#[derive(Serialize)]
pub struct Exported {
    #[serde(serialize_with = "report::path")]
    out: PathBuf,
    programs: u64,
    bytes: u64,
    /// Programs left out because they are banned.
    banned: u64,
    /// Programs left out because they are damaged.
    damaged: u64,
}

pub fn run(arguments: &Arguments, is_quiet: bool) -> Result<Exported> {
    let Arguments { path, out, .. } = arguments;
    check_is_no_input(out, [path].into_iter().chain(arguments.secret.path()))?;
    let secret = arguments.secret.read()?;
    let (place, mut store) = source::open(path, secret)?;
    let strikes = match place {
        Place::Directory => {
            must_be_outside(path, out)?;
            Some(source::strikes(path, secret)?)
        }
        Place::Bundle => None,
    };
    let names = names(&store, &chosen(&store, &arguments.environment)?)?;
    let compression = if arguments.compress { Compression::Lz4 } else { Compression::None };
    let mut writer = BundleWriter::create(share(OsIo)?, out, compression)?;
    let mut exported = Exported { out: out.clone(), programs: 0, bytes: 0, banned: 0, damaged: 0 };
    let (mut buffer, progress) = (Buffer::default(), Progress::new("writing", names.len() as u64, is_quiet));
    for name in &names {
        progress.step()?;
        if strikes.as_ref().is_some_and(|strikes| strikes.is_banned(name.environment, &name.key)) {
            exported.banned += 1;
            continue;
        }
        let Some((build_us, value)) = store.view(name, &mut buffer)? else {
            exported.damaged += 1;
            continue;
        };
        writer.put(name, build_us, value)?;
        if name.kind == kind::PROGRAM {
            exported.programs += 1;
            exported.bytes += value.len() as u64;
        }
    }
    if exported.programs == 0 {
        return Err(Failure::Nothing(format!("'{}' has no programs to export", path.display())));
    }
    writer.finish()?;
    Ok(exported)
}

/// The environments to export.
fn chosen(store: &Store, wanted: &[u64]) -> Result<Vec<u64>> {
    let there = store.environments()?;
    match wanted.iter().find(|id| there.binary_search(id).is_err()) {
        Some(missing) => Err(Failure::Nothing(format!("there is no environment {missing:016x}: see `hob cache info`"))),
        None if wanted.is_empty() => Ok(there),
        None => Ok(wanted.to_vec()),
    }
}

/// Names of programs and start-up sets, sorted: the same programs make the same file.
fn names(store: &Store, environments: &[u64]) -> Result<Vec<Name>> {
    let mut names = Vec::new();
    for &environment in environments {
        let is_exported = |name: &Name| matches!(name.kind, kind::PROGRAM | kind::START_UP);
        names.extend(store.entries(environment).map(|meta| meta.name).filter(is_exported));
    }
    names.sort_unstable_by_key(|name| (name.environment, name.kind, name.key));
    names.dedup();
    Ok(names)
}

/// A bundle in the directory could replace one of its own files.
fn must_be_outside(directory: &Path, out: &Path) -> Result<()> {
    let parent = out.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_inside = fs::canonicalize(directory).ok().is_some_and(|own| Some(own) == fs::canonicalize(parent).ok());
    if is_inside {
        return Err(Failure::Usage(format!(
            "'{}' is in the cache's directory: choose a path outside it",
            out.display()
        )));
    }
    Ok(())
}

impl Report for Exported {
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        writeln!(to, "wrote {} programs, {}, to '{}'", count(self.programs), size(self.bytes), shown(&self.out))?;
        if self.banned > 0 {
            writeln!(to, "left out {} banned programs", count(self.banned))?;
        }
        if self.damaged > 0 {
            writeln!(to, "left out {} damaged programs", count(self.damaged))?;
        }
        Ok(())
    }
}
