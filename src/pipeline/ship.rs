//! Files to files, as build tools call them: recordings are expanded, stable files built.
//!
//! The command-line tool and the C API share these loops. `step` is called after each file, for progress bars; its error
//! ends the work, and the file at `out` is as before. `out` is never one of the inputs. Key maps are read last, because only a part of their lines is wanted.
//!
//! Recordings are merged from the largest file to the smallest one. So of two files of one run the longer one counts: the
//! other is a copy that was made while the game ran.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use super::Identity;
use super::build::{Build, BuildOptions, BuildReport};
use super::keys::KeyMap;
use super::recording::Recording;
use super::stable::{Expanded, Expansion, StableFile};
use crate::base::{Error, error, sort_slowly, try_push};
use crate::store::io::SharedIo;
use crate::store::is_same_file;

/// An error if `out` is one of the inputs: the same file, whatever its name is.
pub fn check_is_no_input<'a>(out: &Path, inputs: impl IntoIterator<Item = &'a PathBuf>) -> Result<(), Error> {
    match inputs.into_iter().find(|input| is_same_file(out, input)) {
        None => Ok(()),
        Some(input) => {
            let (out, input) = (out.display(), input.display());
            Err(error!(InvalidArgument, "'{out}' is the input '{input}': name another file to write"))
        }
    }
}

/// The recordings of an expansion, in the order in which they are merged.
pub struct Recordings {
    paths: Vec<(Reverse<u64>, PathBuf)>,
    identity: Identity,
}

impl Recordings {
    /// Order the recordings, and read the identity of the first one.
    pub fn of(io: &SharedIo, paths: Vec<PathBuf>) -> Result<Self, Error> {
        let mut ordered = Vec::new();
        for path in paths {
            let length = Recording::open(io, &path)?.length();
            try_push(&mut ordered, (Reverse(length), path))?;
        }
        sort_slowly(&mut ordered, Ord::cmp);
        let (_, first) = ordered
            .first()
            .ok_or_else(|| error!(InvalidArgument, "recordings is empty: name at least one recording"))?;
        let identity = Recording::open(io, first)?.run().identity.try_clone()?;
        Ok(Self { paths: ordered, identity })
    }

    /// The game, shader format and graphics API.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Merge the recordings, and write them to the stable file `out`, by the key maps `keys`. Returns the key map, too.
    pub fn expand<E: From<Error>>(
        &self,
        io: &SharedIo,
        keys: &[PathBuf],
        out: &Path,
        mut step: impl FnMut() -> Result<(), E>,
    ) -> Result<(Expanded, KeyMap), E> {
        check_is_no_input(out, self.paths.iter().map(|(_, path)| path).chain(keys))?;
        let mut expansion: Option<Expansion> = None;
        for (_, path) in &self.paths {
            let recording = Recording::open(io, path)?;
            let mut begun = match expansion.take() {
                Some(begun) => begun,
                None => Expansion::like(&recording)?,
            };
            begun.add(&recording)?;
            expansion = Some(begun);
            step()?;
        }
        let expansion = expansion.ok_or_else(|| error!(InvalidArgument, "there is no recording"))?;
        let keys = KeyMap::load_wanted(io, keys, expansion.wanted()?)?;
        step()?;
        Ok((expansion.finish(&keys, io, out)?, keys))
    }
}

/// The inputs of a shipped cache.
pub struct Shipment<'a> {
    /// The game, shader format and graphics API.
    pub identity: &'a Identity,
    /// The version of the build that ships.
    pub version: &'a str,
    /// Key maps of that build.
    pub keys: &'a [PathBuf],
    /// Stable files.
    pub stable: &'a [PathBuf],
    /// Options.
    pub options: BuildOptions,
}

impl Shipment<'_> {
    /// Merge the stable files, and write the cache to `out`. Returns the key map, too.
    pub fn build<E: From<Error>>(
        &self,
        io: &SharedIo,
        out: &Path,
        mut step: impl FnMut() -> Result<(), E>,
    ) -> Result<(BuildReport, KeyMap), E> {
        check_is_no_input(out, self.stable.iter().chain(self.keys))?;
        let mut wanted = self.options.wanted();
        for path in self.stable {
            Build::want(&StableFile::open(io, path)?, &mut wanted)?;
            step()?;
        }
        let keys = KeyMap::load_wanted(io, self.keys, wanted)?;
        step()?;
        let mut build = Build::new(self.identity, self.version, &keys, self.options)?;
        for path in self.stable {
            build.add(&StableFile::open(io, path)?)?;
            step()?;
        }
        let report = build.finish(io, out)?;
        Ok((report, keys))
    }
}
