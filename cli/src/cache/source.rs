//! Opening a directory or a bundle of programs.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use hobgoblin::quarantine::{self, Quarantine};
use hobgoblin::store::io::{OsIo, share};
use hobgoblin::store::{Bundle, Options, Secret, Store};

use crate::failure::{Failure, Result, cannot_read};
use crate::numbers::now;

/// The secret of a directory.
#[derive(Args)]
pub struct SecretFile {
    /// File with the secret of the directory (hob_program_cache_desc.secret): all its bytes count.
    #[arg(long, value_name = "FILE")]
    secret: Option<PathBuf>,
}

impl SecretFile {
    pub fn path(&self) -> Option<&PathBuf> {
        self.secret.as_ref()
    }

    pub fn read(&self) -> Result<Option<Secret>> {
        let Some(path) = &self.secret else { return Ok(None) };
        let bytes = fs::read(path).map_err(|why| cannot_read(path, &why))?;
        Ok(Some(Secret::derive(&bytes)?))
    }
}

/// Where programs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Directory,
    Bundle,
}

/// Open programs for reading.
pub fn open(path: &Path, secret: Option<Secret>) -> Result<(Place, Store)> {
    let metadata = fs::metadata(path).map_err(|why| cannot_read(path, &why))?;
    let options = Options { read_only: true, secret, ..Options::new(now) };
    if metadata.is_dir() {
        return Ok((Place::Directory, Store::open(share(OsIo)?, path, options)?));
    }
    let bundle = Bundle::of_file(&OsIo, path)?;
    let mut store = Store::open_bundle(bundle, options)?;
    let whole = store.check_bundle();
    whole.map_err(|why| Failure::File(format!("'{}' is damaged: {why}; write it again", path.display())))?;
    Ok((Place::Bundle, store))
}

/// Open a directory for changes. A missing directory is created by the first write.
pub fn open_for_changes(path: &Path, options: Options) -> Result<Store> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_dir() => {
            Err(Failure::Usage(format!("'{}' is a file: name a directory", path.display())))
        }
        _ => Ok(Store::open(share(OsIo)?, path, options)?),
    }
}

/// Strikes and bans of a directory, without changing it.
pub fn strikes(path: &Path, secret: Option<Secret>) -> Result<Quarantine> {
    let options = quarantine::Options { read_only: true, secret, ..quarantine::Options::at(now()) };
    Ok(Quarantine::open(&path.join("quarantine"), options)?)
}
