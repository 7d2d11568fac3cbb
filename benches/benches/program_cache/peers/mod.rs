//! The stores that keep blobs on a disk, each configured as a good user of it would.
//!
//! The requirement is that of a cache: a completed put survives if the process is killed. A power failure may lose it,
//! because a put does not wait for the disk.

mod files;
mod lmdb;
mod ours;
mod redb;
mod sqlite;

use std::fmt::Display;
use std::path::Path;

use crate::blobs::Blobs;

/// Number of puts in one transaction, for a user who loads many values at once.
pub const BATCH: usize = 256;

/// A store that keeps blobs in a directory.
pub trait Peer {
    fn name(&self) -> &'static str;
    /// Its configuration in one line.
    fn about(&self) -> &'static str;
    /// Whether it has transactions of several puts.
    fn has_batches(&self) -> bool;
    /// Creates a store in an empty directory.
    fn create(&self, directory: &Path) -> Result<Box<dyn Filling>, String>;
    /// Opens a store and learns every key in it.
    fn open(&self, directory: &Path) -> Result<Box<dyn Filled>, String>;
}

/// A store that is open for writing. Dropping it closes it.
pub trait Filling {
    /// Puts all blobs, `batch` per transaction. Afterwards, killing the process loses none.
    fn put_all(&mut self, blobs: &Blobs, batch: usize) -> Result<(), String>;
    /// Waits until all data is on the disk, and closes the store like a user who quits.
    fn finish(&mut self) -> Result<(), String>;
}

/// A store that is open for reading. It checks values before it returns them.
pub trait Filled {
    /// Number of known keys.
    fn count(&self) -> usize;
    fn get(&mut self, key: &[u8; 32], visit: &mut dyn FnMut(&[u8])) -> Result<(), String>;
    /// Visits every value, in the fastest order for the store.
    fn each(&mut self, visit: &mut dyn FnMut(&[u8])) -> Result<(), String>;
}

/// All stores, ours first.
pub fn all() -> Vec<Box<dyn Peer>> {
    vec![
        Box::new(ours::Ours),
        Box::new(lmdb::Lmdb),
        Box::new(sqlite::Sqlite),
        Box::new(redb::Redb),
        Box::new(files::Files),
    ]
}

pub use ours::seconds;

fn sentence(why: impl Display) -> String {
    why.to_string()
}

/// Bytes of the checksum before each value, in stores that check nothing themselves.
const SEAL: usize = 8;

fn seal(value: &[u8]) -> [u8; SEAL] {
    twox_hash::XxHash3_64::oneshot(value).to_le_bytes()
}

/// The value, if its checksum is correct.
fn unseal(sealed: &[u8]) -> Result<&[u8], String> {
    let (theirs, value) = sealed.split_first_chunk().ok_or("too short to be sealed")?;
    if *theirs == seal(value) { Ok(value) } else { Err("a value is damaged".into()) }
}
