//! Who keeps blobs on a disk, each as a good user of it would, for a cache that loses no completed put when its process
//! is killed, but may when the power fails: nobody waits for the disk after a put.

mod files;
mod lmdb;
mod ours;
mod redb;
mod sqlite;

use std::fmt::Display;
use std::path::Path;

use crate::blobs::Blobs;

/// Puts that a user who loads much at once would do in one transaction.
pub const BATCH: usize = 256;

/// A way to keep blobs in a directory.
pub trait Peer {
    fn name(&self) -> &'static str;
    /// How it is set up, in a line.
    fn about(&self) -> &'static str;
    /// Whether it has transactions of several puts.
    fn has_batches(&self) -> bool;
    /// Make a store in an empty directory.
    fn create(&self, directory: &Path) -> Result<Box<dyn Filling>, String>;
    /// Open one, and know every key in it.
    fn open(&self, directory: &Path) -> Result<Box<dyn Filled>, String>;
}

/// A store that is being filled. Dropping it closes it.
pub trait Filling {
    /// Put all of them, so many in a transaction. When this returns, killing the process loses none.
    fn put_all(&mut self, blobs: &Blobs, batch: usize) -> Result<(), String>;
    /// Wait until all is on the disk, and leave the store as its user would who quits.
    fn finish(&mut self) -> Result<(), String>;
}

/// A store that is read. Values are handed out checked.
pub trait Filled {
    /// Keys that it knows of.
    fn count(&self) -> usize;
    fn get(&mut self, key: &[u8; 32], visit: &mut dyn FnMut(&[u8])) -> Result<(), String>;
    /// Every value, in the order that suits the store best.
    fn each(&mut self, visit: &mut dyn FnMut(&[u8])) -> Result<(), String>;
}

/// Ours first.
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

/// What those put before a value that check nothing themselves.
const SEAL: usize = 8;

fn seal(value: &[u8]) -> [u8; SEAL] {
    twox_hash::XxHash3_64::oneshot(value).to_le_bytes()
}

/// The value, if its seal is right.
fn unseal(sealed: &[u8]) -> Result<&[u8], String> {
    let (theirs, value) = sealed.split_first_chunk().ok_or("too short to be sealed")?;
    if *theirs == seal(value) { Ok(value) } else { Err("a value is damaged".into()) }
}
