//! Files to files, as build tools call them: recordings are expanded, stable files built.
//!
//! The command-line tool and the C API share these loops. `step` is called after each file, and now and then in long work
//! on one. It gets the steps that are done and the number of all, for progress bars. Its error ends the work, and the
//! file at `out` is as before. `out` is never one of the inputs. Key maps are read last, because only a part of their lines is wanted.
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

/// Bytes of pipelines in memory. Others are in temporary files beside the output, which then takes about 64 MiB of memory in
/// all, besides the key map. The table of recordings may take a quarter of the temporary file.
pub const MEMORY: usize = 40 << 20;

/// Bytes of a recording that are a step of its merge.
const PIECE: u64 = if cfg!(test) { 256 } else { 16 << 20 };

/// Counts steps, and calls the caller's function.
struct Steps<S, E> {
    step: S,
    done: u64,
    all: u64,
    failed: Option<E>,
}

impl<S: FnMut(u64, u64) -> Result<(), E>, E: From<Error>> Steps<S, E> {
    fn new(step: S, all: u64) -> Self {
        Self { step, done: 0, all, failed: None }
    }

    /// A step is done.
    fn next(&mut self) -> Result<(), E> {
        self.done += 1;
        (self.step)(self.done.min(self.all), self.all)
    }

    /// [`next`](Self::next) within work of the library. The caller's error waits for [`end`](Self::end).
    fn next_inside(&mut self) -> crate::base::Result<()> {
        self.reach_inside(self.done + 1)
    }

    /// So many steps are done, within work of the library.
    fn reach_inside(&mut self, done: u64) -> crate::base::Result<()> {
        self.done = done;
        self.check_inside()
    }

    /// Calls the function during a step.
    fn check_inside(&mut self) -> crate::base::Result<()> {
        (self.step)(self.done.min(self.all), self.all).map_err(|why| {
            self.failed = Some(why);
            error!(Busy, "the work was ended by its caller")
        })
    }

    /// The end of work that called [`next_inside`](Self::next_inside) or [`check_inside`](Self::check_inside).
    fn end<T>(&mut self, done: crate::base::Result<T>) -> Result<T, E> {
        match (self.failed.take(), done) {
            (Some(why), Err(_)) => Err(why),
            (_, done) => Ok(done?),
        }
    }
}

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
        step: impl FnMut(u64, u64) -> Result<(), E>,
    ) -> Result<(Expanded, KeyMap), E> {
        check_is_no_input(out, self.paths.iter().map(|(_, path)| path).chain(keys))?;
        // A recording may take most of the time, so that its bytes are steps.
        let pieces = |length: u64| length / PIECE + 1;
        let all = self.paths.iter().map(|(Reverse(length), _)| pieces(*length)).sum::<u64>();
        let mut steps = Steps::new(step, all + 1);
        let mut expansion: Option<Expansion> = None;
        for (Reverse(length), path) in &self.paths {
            let recording = Recording::open(io, path)?;
            let mut begun = match expansion.take() {
                Some(begun) => begun,
                None => {
                    let mut begun = Expansion::like(&recording)?;
                    begun.spill_beside(io, out, MEMORY)?;
                    begun
                }
            };
            let before = steps.done;
            let added =
                begun.add_watched(&recording, &mut |read| steps.reach_inside(before + read.min(*length) / PIECE));
            steps.end(added)?;
            expansion = Some(begun);
            steps.done = before + pieces(*length) - 1;
            steps.next()?;
        }
        let mut expansion = expansion.ok_or_else(|| error!(InvalidArgument, "there is no recording"))?;
        let keys = KeyMap::load_wanted(io, keys, expansion.take_wanted()?)?;
        steps.all += expansion.steps_to_finish();
        steps.next()?;
        let expanded = expansion.finish_watched(&keys, io, out, &mut || steps.next_inside());
        Ok((steps.end(expanded)?, keys))
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
        step: impl FnMut(u64, u64) -> Result<(), E>,
    ) -> Result<(BuildReport, KeyMap), E> {
        check_is_no_input(out, self.stable.iter().chain(self.keys))?;
        let mut steps = Steps::new(step, 2 * self.stable.len() as u64 + 1);
        let mut wanted = self.options.wanted();
        for path in self.stable {
            let file = StableFile::open(io, path)?;
            let done = Build::want_watched(&file, &mut wanted, &mut || steps.check_inside());
            steps.end(done)?;
            steps.all = steps.all.saturating_add(Build::steps_to_add(&file));
            steps.next()?;
        }
        let keys = KeyMap::load_wanted(io, self.keys, wanted)?;
        steps.next()?;
        let mut build = Build::new(self.identity, self.version, &keys, self.options)?;
        build.spill_beside(io, out, MEMORY)?;
        for path in self.stable {
            let added = build.add_watched(&StableFile::open(io, path)?, &mut || steps.next_inside());
            steps.end(added)?;
            steps.next()?;
        }
        steps.all += build.steps_to_finish();
        let report = build.finish_watched(io, out, &mut || steps.next_inside());
        let report = steps.end(report)?;
        Ok((report, keys))
    }
}
