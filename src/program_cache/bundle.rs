//! Bundles: programs in one file that is read and never written, such as a build machine makes for a game to ship.

use std::path::Path;
use std::sync::Arc;

use super::ahead::Sources;
use super::value::{encode, kind};
use super::{Cache, Key, ProgramCache};
use crate::base::{Result, error, try_push};
use crate::store::{Bundle, BundleWriter, Name};

/// What goes into a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Every program.
    All,
    /// Those of the start-up set.
    StartUpSet,
}

impl Cache {
    /// Look for programs in a bundle, too: after the directory, and after bundles that came before. Of the file only the
    /// head is read here.
    pub fn add_bundle(&self, path: &Path) -> Result<()> {
        self.disk().add_bundle(Bundle::of_file(&*self.io, path)?)
    }

    /// The same for one that is in memory, of which a copy is kept.
    pub fn add_bundle_bytes(&self, bytes: &[u8]) -> Result<()> {
        // The standard library's `Arc` ends the process when there is no memory; that so much could just be had is as near
        // to a result as one gets.
        Vec::<u8>::new().try_reserve_exact(bytes.len().saturating_add(64))?;
        self.disk().add_bundle(Bundle::of_bytes(Arc::from(bytes), None)?)
    }

    /// Write what memory and disk have for this environment into a bundle, with the start-up set; how many programs that
    /// were. The same programs make the same file. Waits for files. On an error there is no new file.
    pub fn write_bundle(&self, path: &Path, contents: Contents) -> Result<u64> {
        let compression = self.disk().compression();
        let environment = self.disk().environment();
        let name = |kind: u8, key: Key| Name { kind, environment, key };
        self.disk().with_bench(|bench| {
            let start_up = self.memory().start_up_keys()?;
            let keys = match contents {
                Contents::All => all_keys(self.memory(), &bench.sources, environment)?,
                Contents::StartUpSet => sorted(start_up.clone()),
            };
            let mut writer = BundleWriter::create(Arc::clone(&self.io), path, compression)?;
            let (mut bytes, mut written) = (Vec::new(), 0);
            for key in keys {
                let name = name(kind::PROGRAM, key);
                if let Some(build_us) = find(self.memory(), &mut bench.sources, &name, &mut bytes)? {
                    written += u64::from(writer.put(&name, build_us, &bytes)?);
                }
            }
            if written == 0 {
                return Err(error!(NotFound, "there is no program to put into a bundle"));
            }
            if !start_up.is_empty() {
                writer.put(&name(kind::START_UP, [0; 32]), 0, start_up.as_flattened())?;
            }
            writer.finish().map(|()| written)
        })
    }
}

/// Read a program as the store keeps it; what it cost to build, nothing if nobody has it.
fn find(memory: &ProgramCache, sources: &mut Sources, name: &Name, bytes: &mut Vec<u8>) -> Result<Option<u32>> {
    if let Some(blob) = memory.table.peek(&name.key, |entry| entry.blob().clone()) {
        bytes.clear();
        encode(&blob, bytes)?;
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

fn all_keys(memory: &ProgramCache, sources: &Sources, environment: u64) -> Result<Vec<Key>> {
    let (mut keys, mut done) = (Vec::new(), Ok(()));
    memory.table.for_each(|entry| {
        if done.is_ok() {
            done = try_push(&mut keys, *entry.blob().key());
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

/// In order, each once.
fn sorted(mut keys: Vec<Key>) -> Vec<Key> {
    keys.sort_unstable();
    keys.dedup();
    keys
}
