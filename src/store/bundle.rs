//! Bundles: a single segment in a file or in memory, with or without its snapshot, as a read-only directory. A bundle
//! file is written by a store whose directory is that one file.

use std::ffi::OsString;
use std::io::{self, ErrorKind, IoSlice};
use std::path::{Path, PathBuf};

use super::format::{HEADS, u64_at};
use super::io::{File, Io, Lock, SharedFile, SharedIo, box_lock, read_exact_at, share, share_file};
use super::log::unfinished_path;
use super::{Compression, Name, Options, Store, io_error};
use crate::base::{Code, Error, Result, Text, error, try_path};

/// The digits of a segment's name.
type SegmentName = Text<16>;

/// The last value of a bundle: the number of values before it.
const END: Name = Name { kind: u8::MAX, environment: 0, key: [0; 32] };

/// Whether that is the last value of a bundle, which no caller put.
pub(super) fn is_end(name: &Name) -> bool {
    *name == END
}

/// A segment that was shipped. Only its head has been checked.
pub struct Bundle {
    name: SegmentName,
    segment: SharedFile,
    snapshot: Option<SharedFile>,
}

impl Bundle {
    /// A bundle in memory, such as one from an archive.
    pub fn of_bytes(segment: Vec<u8>, snapshot: Option<Vec<u8>>) -> Result<Self> {
        let name = name_of(segment.get(..HEADS).unwrap_or(&segment))?;
        Ok(Self { name, segment: memory_file(segment)?, snapshot: snapshot.map(memory_file).transpose()? })
    }

    /// A bundle in a file. Values are read from the file when they are needed.
    pub fn of_file(io: &dyn Io, path: &Path) -> Result<Self> {
        let mut head = [0; HEADS];
        let opened = io.open_named(path).and_then(|file| Ok((read_exact_at(&*file, &mut head, 0)?, file)));
        let (is_whole, segment) = opened.map_err(|why| io_error("read", path, &why))?;
        Ok(Self { name: name_of(if is_whole { &head } else { &[] })?, segment, snapshot: None })
    }
}

/// Writes a bundle. The same values in the same order give the same bytes.
pub struct BundleWriter {
    io: SharedIo,
    path: PathBuf,
    fresh: PathBuf,
    store: Store,
}

impl BundleWriter {
    /// Begin a bundle. [`finish`](Self::finish) puts it at `path` and replaces a file there.
    pub fn create(io: SharedIo, path: &Path, compression: Compression) -> Result<Self> {
        let fresh = unfinished_path(&io, path)?;
        let (limit_bytes, segment_limit) = (u64::MAX, u64::MAX);
        let options = Options { limit_bytes, segment_limit, compression, ..Options::new(|| 0) };
        let directory = OneFile { io: io.clone(), path: try_path(&fresh)?, replaced: try_path(path)? };
        let store = Store::open(share(directory)?, Path::new(""), options)?;
        Ok(Self { io, path: try_path(path)?, fresh, store })
    }

    /// Put a value. False if it is too long.
    pub fn put(&mut self, name: &Name, build_us: u32, data: &[u8]) -> Result<bool> {
        let put = self.store.put(name, build_us, data);
        // The store knows the file by another name, so report the error with the bundle's path.
        put.map_err(|why| match why.code() {
            Code::Io => error!(Io, "cannot write '{}': {}", self.path.display(), why.sentence()),
            _ => why,
        })
    }

    /// Wait until the bundle is on the disk, and rename it to its path. Fails if nothing was put, since that is no
    /// segment.
    pub fn finish(mut self) -> Result<()> {
        if self.store.statistics().values == 0 {
            return Err(error!(NotFound, "the bundle has no values: put at least one"));
        }
        if self.store.statistics().segments != 1 {
            return Err(error!(
                Io,
                "a bundle must be one segment, and '{}' was not written in one: write it again",
                self.path.display()
            ));
        }
        let values = self.store.statistics().values.to_le_bytes();
        self.put(&END, 0, &values)?;
        self.store.sync()?;
        self.io.replace_named(&self.fresh, &self.path).map_err(|why| io_error("write", &self.path, &why))?;
        let parent = self.path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        self.io.sync_directory(parent).map_err(|why| io_error("sync", parent, &why))
    }
}

impl Store {
    /// Check that a bundle is whole: its end is there, and as many values as that says.
    pub fn check_bundle(&mut self) -> Result<()> {
        let mut bytes = Vec::new();
        let found = self.get_within(&END, size_of::<u64>() as u32, &mut bytes)?;
        let Some(&wanted) = bytes.first_chunk().filter(|_| found.is_some()) else {
            return Err(error!(Malformed, "the end of the file is missing"));
        };
        let (wanted, values) = (u64::from_le_bytes(wanted), self.statistics().values.saturating_sub(1));
        if values < wanted {
            return Err(error!(Malformed, "{} of {wanted} values are missing", wanted - values));
        }
        Ok(())
    }
}

impl Drop for BundleWriter {
    fn drop(&mut self) {
        // Missing if the bundle was finished.
        let _ = self.io.remove(&self.fresh);
    }
}

/// A directory that holds one segment, which is being written.
struct OneFile {
    io: SharedIo,
    path: PathBuf,
    /// The path of the finished bundle.
    replaced: PathBuf,
}

/// A lock that always succeeds: no other process knows the file.
struct Unlocked;

impl Lock for Unlocked {}

impl Io for OneFile {
    fn list(&self, _: &Path) -> io::Result<Vec<OsString>> {
        Ok(Vec::new())
    }

    fn open(&self, _: &Path) -> io::Result<SharedFile> {
        Err(ErrorKind::NotFound.into())
    }

    fn create_directory(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn create(&self, _: &Path) -> io::Result<SharedFile> {
        // A segment that a failed put ended. Its name is of this bundle alone.
        let _ = self.io.remove(&self.path);
        self.io.create_named(&self.path, &self.replaced)
    }

    fn rename(&self, _: &Path, _: &Path) -> io::Result<()> {
        refused()
    }

    fn remove(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn sync_directory(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn try_lock(&self, _: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        box_lock(Unlocked).map(Some)
    }

    fn nonce(&self) -> u64 {
        0
    }
}

/// The name of the segment with these heads. Both heads hold the id; the checksums show whether it is valid.
fn name_of(heads: &[u8]) -> Result<SegmentName> {
    let id = match heads.len() {
        HEADS => [12, 44].into_iter().map(|at| u64_at(heads, at)).find(|&id| is_head_of(heads, id)),
        _ => None,
    };
    let id = id.ok_or_else(|| error!(Malformed, "invalid bundle: pass a file that was written as a bundle"))?;
    Ok(Text::format(format_args!("{id:016x}")))
}

fn is_head_of(heads: &[u8], id: u64) -> bool {
    super::format::decode_heads(heads, id, super::format::FORMAT) != super::format::Head::Damaged
}

fn refused<T>() -> io::Result<T> {
    Err(ErrorKind::ReadOnlyFilesystem.into())
}

impl Io for Bundle {
    fn list(&self, _: &Path) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        names.try_reserve_exact(2)?;
        for extension in ["seg", "idx"].into_iter().take(1 + usize::from(self.snapshot.is_some())) {
            let mut name = OsString::new();
            name.try_reserve_exact(20)?;
            name.push(self.name.as_str());
            name.push(".");
            name.push(extension);
            names.push(name);
        }
        Ok(names)
    }

    fn open(&self, path: &Path) -> io::Result<SharedFile> {
        let file = match path.extension() {
            Some(extension) if extension == "seg" => Some(&self.segment),
            _ => self.snapshot.as_ref(),
        };
        Ok(file.ok_or(ErrorKind::NotFound)?.clone())
    }

    fn create_directory(&self, _: &Path) -> io::Result<()> {
        refused()
    }

    fn create(&self, _: &Path) -> io::Result<SharedFile> {
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

/// A file in memory that is only read.
pub(super) fn memory_file(bytes: Vec<u8>) -> Result<SharedFile> {
    share_file(MemoryFile(bytes)).map_err(|_| Error::OUT_OF_MEMORY)
}

struct MemoryFile(Vec<u8>);

impl File for MemoryFile {
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

    fn append(&self, _: &mut [IoSlice<'_>]) -> io::Result<()> {
        refused()
    }

    fn truncate(&self, _: u64) -> io::Result<()> {
        refused()
    }

    fn sync(&self) -> io::Result<()> {
        refused()
    }
}
