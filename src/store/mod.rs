//! Values that outlive the process: a crash-safe, append-only log of records in a directory, shared by several
//! processes.
//!
//! A process appends to a segment of its own and reads the segments of all processes. A value is stored when the call
//! that put it returns. Killing the process afterwards loses nothing. A power loss loses at most the records that were
//! written after the last [`sync`](Store::sync). Every record has checksums, and begins at an aligned offset where a
//! reader that lost its position tries again: a flipped bit costs one value. A sealed segment has a snapshot of its
//! index beside it, so that opening reads little. [`maintain`](Store::maintain) evicts and merges: it copies live
//! records and deletes whole segments. Every write keeps the [limits](Options::limit_bytes) of the disk by itself.
//!
//! A value that is served was put under that name, bit for bit. It may be an older value: a power loss or damage may
//! destroy a record before its segment is sealed. The store then behaves as if that record had never been written.
//! Removal marks are written twice, so a flipped bit does not bring a removed value back. Truncating or deleting a file
//! may, and so may putting a segment in the place of an entry that is no file.
//!
//! Values that other processes write become visible after a [`refresh`](Store::refresh), and after a read finds that
//! its value was moved. `clear` and `maintain` begin with a refresh. If two processes write one name, or clear each
//! other's values, the second of the call decides which is newer. Within one second, either call may win.
//!
//! Invariants:
//! 1. One process writes a segment. It holds the lock of the `.live` file beside it, from before the segment is created
//!    until it is sealed.
//! 2. A sealed segment never changes. It is only deleted: emptied, so that open files do not keep its blocks, then
//!    unlinked. Its snapshot is deleted before, also from a pack. A file that has other names, such as hard links in a
//!    backup, is not emptied.
//! 3. The larger stamp of two records of a name is the newer one. A copy keeps its stamp, so segments can be read in
//!    any order.
//! 4. A reader checks the header, the payload and the name of a record before it returns the value. The checksum of the
//!    header is seeded with the segment and the offset, so a record from elsewhere is not accepted.
//! 5. Maintenance syncs the copies of live records before it deletes the segment that they come from.
//! 6. The newest record of a name is kept, as a removal mark if the value is evicted, while another segment holds an
//!    older value of any name. On a full disk everything may go at once: the name of an empty file then says that all
//!    records before a stamp are removed.
//! 7. Segments of another format or secret are not read. They are deleted only when the directory or the disk is full,
//!    and never while their writer lives. Segments that this user may not read are never deleted. All of them may be
//!    readable later, so marks of removed values are kept for them; evicted values leave none. An entry with the name of
//!    a segment that is no file holds nothing, and stays. A segment of this user whose head is lost holds nothing
//!    either: maintenance deletes it when no process holds its `.live` lock.
//! 8. One process at a time runs maintenance, under `maintain.lock`. A lock is tried and never waited for, so locks
//!    need no order.
//!
//! | file | content |
//! |---|---|
//! | `format` | the layout of a segment: heads, record headers, checksums |
//! | `io` | the file system operations, as a trait; the operating system's files |
//! | `index` | all names: entries, and a hash table with the location of each value |
//! | `segment` | known segments, and the scan of their records |
//! | `snapshot` | the index of a sealed segment as a file |
//! | `packs` | files with the snapshots of many small segments |
//! | `load` | reading the directory, at first and on `refresh` |
//! | `read` | reading a value: one read, three checks |
//! | `write` | put, remove and touch: appending records |
//! | `writer` | the segment that this process writes |
//! | `maintain` | expiry, merging, sealing for dead writers |
//! | `limits` | bytes on the disk, shared by all processes |
//! | `evict` | eviction by worth, and of whole environments |
//! | `full_disk` | freeing space without writing |
//! | `budgets` | the file with the limit of each environment |
//! | `presence` | whether the directory was deleted or replaced meanwhile |
//! | `clear` | deleting everything in a directory |
//! | `log` | a single file of records without a directory: recordings and caches of pipelines |
//! | `bundle` | a single shipped segment as a read-only directory |
//! | `path`, `posix` | paths, and the system's calls on them, without allocations |
//! | `process_locks` | locks between the threads of one process, for file systems without locks |
//! | `fault_io` | a disk in memory with fault injection, for tests |
//!
//! Sources: Bitcask (Sheehy and Smith, 2010) and the log-structured file system (Rosenblum and Ousterhout, 1992). The
//! format is in `docs/formats.md`. Every function here may wait for a file, so call them in the background queue of an
//! executor.
#![deny(unsafe_code)]

mod budgets;
mod bundle;
mod clear;
mod evict;
#[cfg(any(test, feature = "fault-injection"))]
pub mod fault_io;
mod format;
mod full_disk;
mod index;
pub mod io;
mod limits;
mod load;
mod log;
mod maintain;
mod packs;
mod path;
#[cfg(unix)]
#[allow(unsafe_code, reason = "calls the system")]
mod posix;
mod presence;
pub(crate) mod process_locks;
mod read;
mod same;
mod segment;
mod snapshot;
#[cfg(test)]
mod tests;
mod write;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::{Error, Result, Shared, Text, error, try_collect, try_path};

pub use bundle::{Bundle, BundleWriter};
pub use clear::Cleared;
pub use format::{Secret, hash};
pub use index::Name;
pub use log::{
    FoundRecord, LONGEST_RECORD, LogCursor, LogKind, LogReader, LogRecord, LogScan, LogWriter, record_bytes,
};
pub use maintain::Maintained;
pub use read::Buffer;
pub use same::is_same_file;
pub use write::Value;

use format::Checks;
use index::{Effect, Index, IndexEntry};
use io::SharedIo;
use limits::Space;
use path::FilePath;
use segment::{Segment, SegmentState};
use snapshot::RecordInfo;
use writer::SegmentWriter;

/// 256 bits that name a value.
pub type Key = [u8; 32];

/// Whether values are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Values are stored uncompressed.
    #[default]
    None,
    /// LZ4, if it saves more than a sixteenth; otherwise uncompressed.
    Lz4,
}

/// Limits and modes of a store.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Bytes that the files of an environment may take, at least [`LEAST_LIMIT`](Self::LEAST_LIMIT); `limits` says when.
    /// Default: 512 MiB.
    pub limit_bytes: u64,
    /// Bytes that all files of the directory may take, also those of other formats and secrets. 0, the default: twice
    /// the largest limit of an environment in it.
    pub directory_limit: u64,
    /// The environment that this process uses: it is never removed as a whole. The others that it writes count as used,
    /// too. Default: none.
    pub environment: Option<u64>,
    /// Called with the name of each value that is evicted to make room, before that. The value stays if a file operation
    /// fails after the call. Default: nothing.
    pub evicted: fn(&Name),
    /// Seconds without a use after which maintenance removes a value. Default: 30 days. They end at the newest use in
    /// the directory before this launch, or now, if that is earlier: a wrong clock removes nothing in its launch.
    pub max_age_seconds: u32,
    /// Compression of values that are put from now on. Default: uncompressed.
    pub compression: Compression,
    /// Longest value, in bytes; a value of exactly this length is stored. Default: 256 MiB.
    pub entry_limit: u32,
    /// Longest segment, in bytes. A record that would exceed it begins a new segment. Default: 64 MiB.
    pub segment_limit: u64,
    /// Never change the directory. Default: false.
    pub read_only: bool,
    /// Authenticates everything in the directory: segments without this secret are ignored. Bundles have no
    /// secret. Default: none; then the checksums find accidents only. See `docs/trust.md`.
    pub secret: Option<Secret>,
    /// The clock: seconds since 1970.
    pub now: fn() -> u64,
}

impl Options {
    /// The smallest limit of an environment or directory, in bytes.
    pub const LEAST_LIMIT: u64 = 256 << 10;

    /// The defaults, with the host's clock.
    pub fn new(now: fn() -> u64) -> Self {
        Self {
            limit_bytes: 512 << 20,
            directory_limit: 0,
            environment: None,
            evicted: |_| (),
            max_age_seconds: 30 * 24 * 60 * 60,
            compression: Compression::None,
            entry_limit: 256 << 20,
            segment_limit: 64 << 20,
            read_only: false,
            secret: None,
            now,
        }
    }
}

/// Metadata of a value, known without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta {
    /// The value's name.
    pub name: Name,
    /// Bytes of the value.
    pub length: u32,
    /// Bytes of its record on the disk.
    pub stored_bytes: u64,
    /// Build time in microseconds.
    pub build_us: u32,
    /// Second of its last use, since 1970.
    pub last_used: u32,
    /// Number of uses; the put counts as one.
    pub uses: u32,
}

impl Meta {
    fn of(entry: &IndexEntry) -> Self {
        Self {
            name: entry.name(),
            length: entry.row.raw,
            stored_bytes: entry.live_bytes(),
            build_us: entry.row.build_us,
            last_used: entry.used,
            uses: entry.uses,
        }
    }
}

/// Contents of a store, and its counters since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Values that can be read.
    pub values: u64,
    /// Bytes of their records.
    pub live_bytes: u64,
    /// Bytes of all readable segments.
    pub file_bytes: u64,
    /// Readable segments.
    pub segments: u64,
    /// Segments of other formats, secrets and users; the store does not read them.
    pub foreign_segments: u64,
    /// Bytes of memory held for the index, the list of segments, buffers and writers.
    pub memory_used: u64,
    /// Records, stretches of records, snapshots and segments that were found damaged.
    pub damaged: u64,
    /// File operations that failed.
    pub io_errors: u64,
    /// Values refused because they were too long.
    pub refused: u64,
    /// Values evicted to make room.
    pub evicted: u64,
    /// Values removed because they were unused for too long.
    pub aged: u64,
}

/// An open directory of segments. See the module's page.
pub struct Store {
    /// Unique among the stores of the process: all bundles have the same id and seed.
    number: u64,
    io: SharedIo,
    directory: Shared<PathBuf>,
    options: Options,
    checks: Checks,
    index: Index,
    /// In order of id.
    segments: Vec<Segment>,
    packs: Vec<packs::Pack>,
    writer: Option<SegmentWriter>,
    /// Writers of segments that are full and not sealed yet. Sealing waits for the disk, so a put does not do it.
    full: Vec<SegmentWriter>,
    /// Segments that this process has given up before they were synced. The next sync waits for them.
    unsynced: Vec<u64>,
    /// The lock of a segment whose file could not be created yet.
    claim: Option<writer::Claim>,
    scratch: Vec<u8>,
    buffer: Buffer,
    open_files: usize,
    /// Bytes of records written since maintenance last began.
    appended: u64,
    /// Bytes written since the last look whether the own segments still have their names.
    unchecked: u64,
    /// Values that were lost with the directory, and not reported yet.
    lost: u64,
    /// Second of the newest use in the directory when it was first read.
    last_activity: Option<u32>,
    /// Reading of the directory that is not finished.
    loading: Option<load::Loading>,
    /// Whether the last look at the directory had no read failures.
    is_all_read: bool,
    /// Segments were forgotten that are still there: the directory must be read again.
    must_reread: bool,
    /// Segments without heads that readings have seen since the last complete one, sorted.
    emptied: Vec<u64>,
    /// Pauses that a reading beside others' changes may still make.
    pauses: u32,
    /// Ids whose files [`clear_all`](Self::clear_all) has not deleted yet.
    to_clear: Option<Vec<u64>>,
    space: Space,
    counts: Statistics,
    trouble: Option<Error>,
    /// Bytes of the last record, if writing it failed: part of the reason for `trouble`.
    unwritten: Option<u64>,
    foreign: Option<Error>,
}

impl Store {
    /// Open a directory. A missing directory is created when the first value is put.
    pub fn open(io: SharedIo, directory: &Path, options: Options) -> Result<Self> {
        let mut store = Self::begin(io, directory, options)?;
        store.load(u64::MAX)?;
        Ok(store)
    }

    /// Open a directory in steps: it is read by [`load`](Self::load), until that returns true.
    pub fn begin(io: SharedIo, directory: &Path, options: Options) -> Result<Self> {
        static STORES: AtomicU64 = AtomicU64::new(1);
        path::check_directory(directory)?;
        let least = Options::LEAST_LIMIT;
        if options.limit_bytes < least || (1..least).contains(&options.directory_limit) {
            return Err(error!(InvalidArgument, "a limit of the disk is below {least} bytes: raise it"));
        }
        Ok(Self {
            number: STORES.fetch_add(1, Ordering::Relaxed),
            io,
            directory: Shared::try_new(try_path(directory)?)?,
            options,
            checks: Checks::new(options.secret),
            index: Index::default(),
            segments: Vec::new(),
            packs: Vec::new(),
            writer: None,
            full: Vec::new(),
            unsynced: Vec::new(),
            claim: None,
            scratch: Vec::new(),
            buffer: Buffer::default(),
            open_files: 0,
            appended: 0,
            unchecked: 0,
            lost: 0,
            last_activity: None,
            loading: None,
            is_all_read: false,
            must_reread: false,
            emptied: Vec::new(),
            pauses: load::PAUSES,
            to_clear: None,
            space: Space::new(&options)?,
            counts: Statistics::default(),
            trouble: None,
            unwritten: None,
            foreign: None,
        })
    }

    /// Open a bundle: a segment that was shipped. Read-only.
    pub fn open_bundle(bundle: Bundle, options: Options) -> Result<Self> {
        let mut store = Self::begin_bundle(bundle, options)?;
        store.load(u64::MAX)?;
        Ok(store)
    }

    /// [`open_bundle`](Self::open_bundle) in steps, as [`begin`](Self::begin).
    pub fn begin_bundle(bundle: Bundle, options: Options) -> Result<Self> {
        // A bundle is one segment, however long.
        let options = Options { read_only: true, segment_limit: u64::MAX, secret: None, ..options };
        Self::begin(io::share(bundle)?, Path::new(""), options)
    }

    /// [`open_bundle`](Self::open_bundle) of a bundle in memory.
    pub fn from_bytes(segment: Vec<u8>, snapshot: Option<Vec<u8>>, options: Options) -> Result<Self> {
        Self::open_bundle(Bundle::of_bytes(segment, snapshot)?, options)
    }

    /// Set the limit of this process's environments from now on; at least [`Options::LEAST_LIMIT`].
    pub fn set_limit(&mut self, limit_bytes: u64) {
        self.options.limit_bytes = limit_bytes.max(Options::LEAST_LIMIT);
        self.space.change();
    }

    /// Whether the index has a value of that name. The record is not read, so it may still turn out to be damaged.
    pub fn contains(&self, name: &Name) -> bool {
        self.index.live(name).is_some()
    }

    /// Metadata of a value, without reading it.
    pub fn meta(&self, name: &Name) -> Option<Meta> {
        self.index.live(name).map(|position| Meta::of(&self.index.entries[position]))
    }

    /// All values of an environment, in the order in which the store first saw their keys.
    pub fn entries(&self, environment: u64) -> impl Iterator<Item = Meta> {
        self.visible().filter(move |entry| entry.row.environment == environment).map(Meta::of)
    }

    /// Names of all values.
    pub fn names(&self) -> impl Iterator<Item = Name> {
        self.visible().map(IndexEntry::name)
    }

    /// Names of all values of an environment in disk order: the fastest order for reading all of them.
    pub fn names_in_place(&self, environment: u64) -> Result<Vec<Name>> {
        let ours = |entry: &IndexEntry| {
            entry.is_live() && entry.row.environment == environment && !bundle::is_end(&entry.name())
        };
        try_collect(self.index.in_place(ours)?.into_iter().map(|position| self.index.entries[position].name()))
    }

    /// Environments that have values, in ascending order.
    pub fn environments(&self) -> Result<Vec<u64>> {
        let mut found: Vec<u64> = Vec::new();
        for entry in self.visible() {
            if let Err(position) = found.binary_search(&entry.row.environment) {
                found.try_reserve(1)?;
                found.insert(position, entry.row.environment);
            }
        }
        Ok(found)
    }

    /// Whether a sixteenth of the limit was written since the last [`maintain`](Self::maintain): it is due again.
    pub fn wants_maintenance(&self) -> bool {
        self.appended > self.options.limit_bytes / 16
    }

    /// Contents of the store, and its counters.
    pub fn statistics(&self) -> Statistics {
        let readable = || self.segments.iter().filter(|segment| segment.is_readable());
        let memory = self.index.memory_used()
            + self.segments.capacity() * size_of::<Segment>()
            + self.packs.capacity() * size_of::<packs::Pack>()
            + self.scratch.capacity()
            + self.buffer.memory_used()
            + self.own_writers().map(SegmentWriter::memory_used).sum::<usize>();
        Statistics {
            values: self.index.live_count() as u64,
            live_bytes: readable().map(|segment| segment.live_bytes).sum(),
            file_bytes: readable().map(|segment| segment.length).sum(),
            segments: readable().count() as u64,
            foreign_segments: self.segments.iter().filter(|segment| segment.state == SegmentState::Foreign).count()
                as u64,
            memory_used: memory as u64,
            ..self.counts
        }
    }

    /// The current problem, if any. Values are still served as far as possible. A write failure is over with the next
    /// successful write, or when [`sync`](Self::sync) finds that a write would succeed.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_ref().map(Error::sentence)
    }

    /// Why segments are ignored, if any are: they have another format, secret or user. Reading and writing others succeeds.
    pub fn foreign(&self) -> Option<&str> {
        self.foreign.as_ref().map(Error::sentence)
    }

    /// A sentence for the host although reading and writing succeeds: segments are ignored, or files are damaged. It stays
    /// the same while the store is open.
    pub fn notice(&self) -> Option<Text<232>> {
        let foreign = self.foreign().map(|foreign| Text::format(format_args!("{foreign}")));
        let is_damaged = self.counts.damaged > 0;
        let damaged = || {
            let directory = self.directory.display();
            Text::format(format_args!(
                "files in '{directory}' are damaged: their values are built again; if this recurs, check the drive"
            ))
        };
        foreign.or_else(|| is_damaged.then(damaged))
    }

    /// Live values without the end of a bundle.
    fn visible(&self) -> impl Iterator<Item = &IndexEntry> {
        self.live().filter(|entry| !bundle::is_end(&entry.name()))
    }

    fn live(&self) -> impl Iterator<Item = &IndexEntry> {
        self.index.entries.iter().filter(|entry| entry.is_live())
    }

    fn seconds(&self) -> u32 {
        u32::try_from((self.options.now)()).unwrap_or(u32::MAX)
    }

    fn path(&self, id: u64, extension: &str) -> FilePath {
        self.path_of(Text::<32>::format(format_args!("{id:016x}.{extension}")).as_str())
    }

    fn path_of(&self, name: &str) -> FilePath {
        FilePath::new(&self.directory, name)
    }

    fn own_writers(&self) -> impl Iterator<Item = &SegmentWriter> {
        self.full.iter().chain(&self.writer)
    }

    /// Whether this store holds the segment's lock.
    fn is_own(&self, id: u64) -> bool {
        self.own_writers().any(|writer| writer.id == id)
    }

    /// Position of a segment in the list.
    fn segment_position(&self, id: u64) -> Option<usize> {
        self.segments.binary_search_by_key(&id, |segment| segment.id).ok()
    }

    fn segment_mut(&mut self, id: u64) -> Option<&mut Segment> {
        self.segment_position(id).map(|position| &mut self.segments[position])
    }

    /// Insert a segment; returns its position in the list.
    fn add_segment(&mut self, segment: Segment) -> Result<usize> {
        self.segments.try_reserve(1)?;
        let position = self.segments.partition_point(|known| known.id < segment.id);
        self.segments.insert(position, segment);
        Ok(position)
    }

    /// Add a record that was read or written to the index.
    fn show(&mut self, row: RecordInfo, id: u64) -> Result<()> {
        self.segment_position(id).map_or(Ok(()), |position| self.show_at(row, position))
    }

    /// [`show`](Self::show) for the segment at that position in the list.
    fn show_at(&mut self, row: RecordInfo, position: usize) -> Result<()> {
        let id = self.segments[position].id;
        if row.form == format::Form::Cleared {
            self.segments[position].rows += 1;
            let segments = &mut self.segments;
            return self.index.show_cleared(row, id, |entry| lose(segments, entry));
        }
        let effect = self.index.show(row, id)?;
        let segment = &mut self.segments[position];
        segment.rows += 1;
        // The index ignores records with stamp 0.
        if row.form.is_value() && row.stamp > 0 {
            segment.oldest = segment.oldest.min(row.stamp);
            segment.values += 1;
        }
        match effect {
            Effect::Stale => {}
            Effect::Copied => segment.is_copied = true,
            Effect::Applied { before } => {
                if row.form.is_value() {
                    segment.live_bytes += format::record_size(row.stored);
                    segment.live_values += 1;
                }
                if let Some(before) = before {
                    lose(&mut self.segments, &before);
                    if before.row.stamp == row.stamp
                        && let Some(source) = self.segment_mut(before.segment)
                    {
                        source.is_copied = true;
                    }
                }
            }
        }
        Ok(())
    }

    fn forget(&mut self, position: usize) {
        lose(&mut self.segments, &self.index.entries[position]);
        self.index.forget(position);
    }

    /// Remove the value because its record is damaged. Older records of the same name are not served either.
    fn drop_entry(&mut self, position: usize) {
        lose(&mut self.segments, &self.index.entries[position]);
        self.index.drop_entry(position);
    }

    /// Count a failed file operation; returns its error.
    fn failed(&mut self, verb: &str, path: &Path, why: &std::io::Error) -> Error {
        self.counts.io_errors += 1;
        self.space.is_full |= full_disk::is_no_space(why);
        io_error(verb, path, why)
    }
}

/// Stop counting the entry's record as live.
fn lose(segments: &mut [Segment], entry: &IndexEntry) {
    if let Ok(position) = segments.binary_search_by_key(&entry.segment, |segment| segment.id) {
        let segment = &mut segments[position];
        segment.live_bytes = segment.live_bytes.saturating_sub(entry.live_bytes());
        segment.live_values = segment.live_values.saturating_sub(entry.is_live().into());
    }
}

/// The error of a failed file operation, with advice.
pub(crate) fn io_error(verb: &str, path: &Path, why: &std::io::Error) -> Error {
    use std::io::ErrorKind::{
        FileTooLarge, NotADirectory, OutOfMemory, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull,
    };
    let advice = match why.kind() {
        OutOfMemory => return Error::OUT_OF_MEMORY,
        io::OTHER_OWNER => {
            let path = path.display();
            return error!(Io, "cannot {verb} '{path}': it belongs to another user: use one of this user or of root");
        }
        NotADirectory => ": give a directory, not a file",
        PermissionDenied if verb == "read" => ": allow this user to read it",
        PermissionDenied | ReadOnlyFilesystem => ": allow this user to write there, or open it read-only",
        StorageFull | QuotaExceeded => ": free some space there",
        FileTooLarge => ": raise the limit of file sizes (ulimit -f), or write to a file system with larger files",
        _ => "",
    };
    let (path, kind) = (path.display(), crate::base::files::io_reason(why));
    match why.raw_os_error() {
        Some(code) => error!(Io, "cannot {verb} '{path}': {kind} (system error {code}){advice}"),
        // The host's own files have no numbers.
        None => error!(Io, "cannot {verb} '{path}': {kind}{advice}"),
    }
}
