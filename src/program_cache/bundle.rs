//! Bundles: read-only files of programs that a build machine makes for a game to ship.

use std::path::Path;
use std::time::Duration;

use super::cache::OpenCache;
use super::disk::Sources;
use super::disk::value::{encode, kind};
use super::key::Key;
use super::memory::Memory;
use crate::base::{Result, error, sort_slowly, try_path_join, try_push, try_to_vec};
use crate::store::{Bundle, BundleWriter, Name};

/// The programs of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// All programs.
    All,
    /// The programs of the start-up set.
    StartUpSet,
}

impl OpenCache {
    /// Add a bundle, which is searched after the directory and after earlier bundles. Reads only the head of the file
    /// here.
    pub fn add_bundle(&self, path: &Path) -> Result<()> {
        self.disk().add_bundle(Bundle::of_file(&**self.io(), path)?)
    }

    /// Add a bundle from memory; a copy is kept.
    pub fn add_bundle_bytes(&self, bytes: &[u8]) -> Result<()> {
        self.disk().add_bundle(Bundle::of_bytes(try_to_vec(bytes)?, None)?)
    }

    /// Write the programs of memory, disk and bundles for this environment to a bundle, with the start-up set, and without
    /// banned ones. Returns their number. The same programs make the same file. Waits for files. On an error there is no new file.
    pub fn write_bundle(&self, path: &Path, contents: Contents) -> Result<u64> {
        self.must_be_outside(path)?;
        let (environment, compression) = (self.disk().environment(), self.disk().compression());
        let name = |kind: u8, key: Key| Name { kind, environment, key };
        self.disk().with_sources(Duration::MAX, |sources, _, _| {
            let start_up = self.memory().start_up_keys()?;
            let keys = match contents {
                Contents::All => all_keys(self.memory(), sources, environment)?,
                Contents::StartUpSet => sorted(try_to_vec(&start_up)?),
            };
            let mut writer = BundleWriter::create(self.io().clone(), path, compression)?;
            let (mut bytes, mut written) = (Vec::new(), 0);
            for key in keys.into_iter().filter(|key| !self.strikes(key).1) {
                let name = name(kind::PROGRAM, key);
                if let Some(build_us) = find(self.memory(), sources, &name, &mut bytes)? {
                    written += u64::from(writer.put(&name, build_us, &bytes)?);
                }
            }
            if written == 0 {
                return Err(error!(NotFound, "the cache has no program for the bundle"));
            }
            if !start_up.is_empty() {
                writer.put(&name(kind::START_UP, [0; 32]), 0, start_up.as_flattened())?;
            }
            writer.finish().map(|()| written)
        })
    }

    /// An error for a file in the cache's directory: it could replace one of the cache's own.
    fn must_be_outside(&self, file: &Path) -> Result<()> {
        let Some(directory) = self.disk().directory() else { return Ok(()) };
        let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // With this end, a link is followed.
        let (own, parent) = (try_path_join(directory, ".")?, try_path_join(parent, ".")?);
        // Where files have no identity, it is the same for all.
        let identity = |path: &Path| self.io().identity(path).ok().flatten().filter(|&identity| identity != (0, 0));
        if own == parent || identity(&own).is_some_and(|own| identity(&parent) == Some(own)) {
            let file = file.display();
            return Err(error!(InvalidArgument, "'{file}' is in the cache's directory: choose a path outside it"));
        }
        Ok(())
    }
}

/// Read a program as bytes for the store. Returns its build time, or `None` if it is missing.
fn find(memory: &Memory, sources: &mut Sources, name: &Name, bytes: &mut Vec<u8>) -> Result<Option<u32>> {
    if let Some(blob) = memory.peek(&name.key) {
        bytes.clear();
        encode(&blob.program(), bytes)?;
        return Ok(Some(u32::try_from(blob.cost_us()).unwrap_or(u32::MAX)));
    }
    for source in sources.numbers() {
        let Some(store) = sources.get_mut(source) else { continue };
        if let Some(build_us) = store.get(name, bytes)? {
            return Ok(Some(build_us));
        }
    }
    Ok(None)
}

fn all_keys(memory: &Memory, sources: &Sources, environment: u64) -> Result<Vec<Key>> {
    let (mut keys, mut done) = (Vec::new(), Ok(()));
    memory.for_each(|blob, _, _| {
        if done.is_ok() {
            done = try_push(&mut keys, *blob.key());
        }
    });
    done?;
    for source in sources.numbers() {
        let Some(store) = sources.get(source) else { continue };
        for meta in store.entries(environment).filter(|meta| meta.name.kind == kind::PROGRAM) {
            try_push(&mut keys, meta.name.key)?;
        }
    }
    Ok(sorted(keys))
}

/// Sorted, without duplicates.
fn sorted(mut keys: Vec<Key>) -> Vec<Key> {
    sort_slowly(&mut keys, Ord::cmp);
    keys.dedup();
    keys
}
