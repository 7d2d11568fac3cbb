//! A segment in memory, with its snapshot or without: a directory that nobody can change.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use super::format::u64_at;
use super::io::{File, Io, Lock};
use crate::base::{Result, error};

pub(super) struct Bundle {
    name: String,
    segment: Arc<Bytes>,
    snapshot: Option<Arc<Bytes>>,
}

impl Bundle {
    pub fn new(segment: Arc<[u8]>, snapshot: Option<Arc<[u8]>>) -> Result<Self> {
        let Some(head) = segment.first_chunk::<64>() else {
            return Err(error!(Malformed, "a bundle is a whole segment, and these are only {} bytes", segment.len()));
        };
        // Both heads say what the segment is called; the checksums tell whether it is right.
        let id = [12, 44].into_iter().map(|at| u64_at(head, at)).find(|&id| is_head_of(head, id));
        let Some(id) = id else {
            return Err(error!(Malformed, "these bytes are not a segment: a bundle is made by sealing a store"));
        };
        let snapshot = snapshot.map(|bytes| Arc::new(Bytes(bytes)));
        Ok(Self { name: format!("{id:016x}"), segment: Arc::new(Bytes(segment)), snapshot })
    }
}

fn is_head_of(heads: &[u8], id: u64) -> bool {
    super::format::decode_heads(heads, id) != super::format::Head::Damaged
}

fn refused<T>() -> io::Result<T> {
    Err(ErrorKind::ReadOnlyFilesystem.into())
}

impl Io for Bundle {
    fn list(&self, _: &Path) -> io::Result<Vec<OsString>> {
        let mut names = vec![format!("{}.seg", self.name).into()];
        names.extend(self.snapshot.as_ref().map(|_| OsString::from(format!("{}.idx", self.name))));
        Ok(names)
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        let file = match path.extension() {
            Some(extension) if extension == "seg" => Some(&self.segment),
            _ => self.snapshot.as_ref(),
        };
        let file: Arc<dyn File> = file.cloned().ok_or(ErrorKind::NotFound)?;
        Ok(file)
    }

    fn create_directory(&self, _: &Path) -> io::Result<()> {
        refused()
    }

    fn create(&self, _: &Path) -> io::Result<Arc<dyn File>> {
        refused()
    }

    fn rename(&self, _: &Path, _: &Path) -> io::Result<()> {
        refused()
    }

    fn remove(&self, _: &Path) -> io::Result<()> {
        refused()
    }

    fn sync_directory(&self, _: &Path) -> io::Result<()> {
        refused()
    }

    fn try_lock(&self, _: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        refused()
    }

    fn nonce(&self) -> u64 {
        0
    }
}

struct Bytes(Arc<[u8]>);

impl File for Bytes {
    fn length(&self) -> io::Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let there = self.0.get(offset..).unwrap_or(&[]);
        let count = there.len().min(buffer.len());
        buffer[..count].copy_from_slice(&there[..count]);
        Ok(count)
    }

    fn append(&self, _: [&[u8]; 3]) -> io::Result<()> {
        refused()
    }

    fn truncate(&self, _: u64) -> io::Result<()> {
        refused()
    }

    fn sync(&self) -> io::Result<()> {
        refused()
    }
}
