//! Reading the directory: at first, and again when other processes may have changed it.

use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::Path;

use super::Store;
use super::format::{Form, HEADS, Head, UNIT, Usage, decode_heads};
use super::io::{File, read_exact_at};
use super::segment::{ScanError, Segment, SegmentState, scan};
use super::snapshot::{self, IndexSnapshot, RecordInfo};
use crate::base::{Error, Result, error, try_push};

/// Attempts to read a directory that changes meanwhile, before that is reported.
const ATTEMPTS: usize = 16;

/// Files of the directory by type, each list sorted by id.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub segments: Vec<u64>,
    pub snapshots: Vec<u64>,
    pub claims: Vec<u64>,
    pub unfinished: Vec<u64>,
}

impl Listing {
    fn add(&mut self, name: &OsStr) -> Result<()> {
        let Some((id, extension)) = name.to_str().and_then(|name| name.split_once('.')) else { return Ok(()) };
        let list = match extension {
            "seg" => &mut self.segments,
            "idx" => &mut self.snapshots,
            "live" => &mut self.claims,
            "idx.new" => &mut self.unfinished,
            _ => return Ok(()),
        };
        // Accept only names as this library writes them. The parser alone would also accept a sign and capitals, which
        // other files may have.
        let is_ours = id.len() == 16 && id.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
        match u64::from_str_radix(id, 16) {
            Ok(id) if is_ours => try_push(list, id),
            _ => Ok(()),
        }
    }

    fn sorted(mut self) -> Self {
        let lists = [&mut self.segments, &mut self.snapshots, &mut self.claims, &mut self.unfinished];
        lists.into_iter().for_each(|list| list.sort_unstable());
        self
    }
}

/// Whether a file still exists.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    Here,
    Gone,
}

/// Uses, which are applied to the index at the end, and a buffer for reading snapshots.
#[derive(Default)]
struct LoadBuffers {
    uses: Vec<Usage>,
    bytes: Vec<u8>,
}

impl Store {
    /// Load the changes that other processes have made since the last refresh.
    pub fn refresh(&mut self) -> Result<()> {
        let mut found = LoadBuffers::default();
        for _ in 0..ATTEMPTS {
            let listing = self.list()?;
            self.is_all_read = true;
            if self.load_all(&listing, &mut found)? == Presence::Here {
                self.drop_missing(&listing.segments);
                found.uses.into_iter().for_each(|used| self.index.show_use(used));
                return self.index.tidy();
            }
        }
        Err(error!(Busy, "other processes keep changing '{}': call again later", self.directory.display()))
    }

    /// Forget a segment, and read it again without its snapshot.
    pub(super) fn load_anew(&mut self, id: u64) -> Result<()> {
        let mut found = LoadBuffers::default();
        self.drop_segments(|known| known == id);
        self.load_segment(id, &mut found)?;
        found.uses.into_iter().for_each(|used| self.index.show_use(used));
        Ok(())
    }

    pub(super) fn list(&mut self) -> Result<Listing> {
        let mut listing = Listing::default();
        match self.io.list(&self.directory) {
            Ok(names) => names.iter().try_for_each(|name| listing.add(name))?,
            Err(why) if why.kind() == ErrorKind::NotFound => {}
            Err(why) => return Err(self.failed_here("list", &why)),
        }
        Ok(listing.sorted())
    }

    fn failed_here(&mut self, verb: &str, why: &std::io::Error) -> Error {
        let directory = self.directory.clone();
        self.failed(verb, &directory, why)
    }

    fn load_all(&mut self, listing: &Listing, found: &mut LoadBuffers) -> Result<Presence> {
        let mut presence = Presence::Here;
        for &id in &listing.segments {
            let sealed = listing.snapshots.binary_search(&id).is_ok();
            let there = match self.segments.binary_search_by_key(&id, |segment| segment.id) {
                Ok(position) if self.segments[position].state == SegmentState::Open => {
                    self.extend(id, sealed, found)?
                }
                Ok(_) => Presence::Here,
                Err(_) if sealed && self.load_snapshot(id, found)? => Presence::Here,
                Err(_) => self.load_segment(id, found)?,
            };
            if there == Presence::Gone {
                presence = Presence::Gone;
            }
        }
        Ok(presence)
    }

    /// Load a segment from its snapshot. False if the snapshot is missing or invalid.
    fn load_snapshot(&mut self, id: u64, found: &mut LoadBuffers) -> Result<bool> {
        let path = self.path(id, "idx");
        let Ok(file) = self.io.open(&path) else { return Ok(false) };
        let LoadBuffers { uses, bytes } = found;
        let length = match read_snapshot(&*file, bytes)? {
            Ok(length) => length,
            Err(why) => {
                self.failed("read", &path, &why);
                return Ok(false);
            }
        };
        let Some(snapshot) = IndexSnapshot::decode(&bytes[..length], id) else {
            self.counts.damaged += 1;
            return Ok(false);
        };
        self.index.reserve(snapshot.row_count())?;
        let segment = Segment { length: snapshot.length, ..Segment::new(id, snapshot.seed, SegmentState::Sealed) };
        let position = self.add_segment(segment)?;
        for row in snapshot.rows() {
            self.show_at(row, position)?;
        }
        for used in snapshot.uses() {
            try_push(uses, used)?;
        }
        Ok(true)
    }

    fn load_segment(&mut self, id: u64, found: &mut LoadBuffers) -> Result<Presence> {
        let path = self.path(id, "seg");
        let mut heads = [0; HEADS];
        let file = match self.io.open(&path).and_then(|file| Ok((read_exact_at(&*file, &mut heads, 0)?, file))) {
            Ok((true, file)) => file,
            // Its writer has not written the heads yet.
            Ok((false, _)) => return Ok(Presence::Here),
            Err(why) if why.kind() == ErrorKind::NotFound => return Ok(Presence::Gone),
            Err(why) => {
                self.not_read(&path, &why);
                return Ok(Presence::Here);
            }
        };
        match decode_heads(&heads, id) {
            Head::Ours { seed } => {
                self.add_segment(Segment::new(id, seed, SegmentState::Open))?;
                self.scan(id, &*file, found)?;
            }
            Head::Foreign { format } => {
                self.add_segment(Segment::new(id, 0, SegmentState::Foreign))?;
                let directory = self.directory.display();
                self.foreign = Some(error!(
                    Unsupported,
                    "'{directory}' has segments of format {format}, which this version does not read: they are ignored and kept"
                ));
            }
            Head::Damaged => {
                self.add_segment(Segment::new(id, 0, SegmentState::Damaged))?;
                self.counts.damaged += 1;
            }
        }
        Ok(Presence::Here)
    }

    /// Read records appended to a known segment.
    fn extend(&mut self, id: u64, sealed: bool, found: &mut LoadBuffers) -> Result<Presence> {
        if self.is_own(id) {
            return Ok(Presence::Here);
        }
        let path = self.path(id, "seg");
        let known = self.segment_mut(id).and_then(|segment| segment.file.clone());
        let is_read = match known.map_or_else(|| self.io.open(&path), Ok) {
            Ok(file) => self.scan(id, &*file, found)?,
            Err(why) if why.kind() == ErrorKind::NotFound => return Ok(Presence::Gone),
            Err(why) => self.not_read(&path, &why),
        };
        if let Some(segment) = self.segment_mut(id).filter(|_| sealed && is_read) {
            segment.state = SegmentState::Sealed;
        }
        Ok(Presence::Here)
    }

    /// Report a read failure; a later read may succeed.
    fn not_read(&mut self, path: &Path, why: &std::io::Error) -> bool {
        self.trouble = Some(self.failed("read", path, why));
        self.is_all_read = false;
        false
    }

    /// Read a segment from its known end on; false if reading failed.
    fn scan(&mut self, id: u64, file: &dyn File, found: &mut LoadBuffers) -> Result<bool> {
        let Some(&mut Segment { seed, length, .. }) = self.segment_mut(id) else { return Ok(true) };
        let scanned = scan(file, seed, length, |offset, header, payload| {
            let Ok(unit) = u32::try_from(offset / UNIT) else { return Ok(()) };
            if header.form == Form::Uses {
                return payload
                    .chunks_exact(Usage::SIZE)
                    .try_for_each(|used| try_push(&mut found.uses, Usage::decode(used)));
            }
            self.show(RecordInfo::new(header, unit), id)
        });
        match scanned {
            Ok(scanned) => {
                self.counts.damaged += scanned.damaged;
                if let Some(segment) = self.segment_mut(id) {
                    segment.length = scanned.end;
                }
                Ok(true)
            }
            Err(ScanError::Io(why)) => Ok(self.not_read(&self.path(id, "seg"), &why)),
            Err(ScanError::Other(why)) => Err(why),
        }
    }

    fn drop_missing(&mut self, listed: &[u64]) {
        let is_missing = |id: u64| listed.binary_search(&id).is_err();
        // Somebody emptied the directory, so further appends could never be found.
        if self.writer.as_ref().is_some_and(|writer| is_missing(writer.id)) {
            self.writer = None;
        }
        self.full.retain(|writer| !is_missing(writer.id));
        if self.segments.iter().any(|segment| is_missing(segment.id)) {
            self.drop_segments(is_missing);
        }
    }

    /// Forget segments, and the entries whose records were only there.
    pub(super) fn drop_segments(&mut self, dropped: impl Fn(u64) -> bool) {
        self.close_files();
        self.segments.retain(|segment| !dropped(segment.id));
        for position in 0..self.index.entries.len() {
            let entry = &self.index.entries[position];
            if entry.row.stamp != 0 && dropped(entry.segment) {
                self.forget(position);
            }
        }
    }
}

/// Read a snapshot; returns the number of bytes read. A short snapshot needs no length query. A long one is read past
/// its first 16 KiB only if the file is as long as its head says.
fn read_snapshot(file: &dyn File, bytes: &mut Vec<u8>) -> Result<io::Result<usize>> {
    const SHORT: usize = 16 << 10;
    let (mut filled, mut end) = (0, SHORT);
    loop {
        if filled == SHORT {
            end = match file.length() {
                Ok(length) if snapshot::length(bytes) == Some(length) => usize::try_from(length).unwrap_or(usize::MAX),
                Ok(_) => return Ok(Ok(filled)),
                Err(why) => return Ok(Err(why)),
            };
        }
        if filled >= end {
            return Ok(Ok(filled));
        }
        if bytes.len() < end {
            if bytes.try_reserve_exact(end - bytes.len()).is_err() {
                return Ok(Err(ErrorKind::OutOfMemory.into()));
            }
            bytes.resize(end, 0);
        }
        match file.read_at(&mut bytes[filled..end], filled as u64) {
            Ok(0) => return Ok(Ok(filled)),
            Ok(count) => filled += count,
            Err(why) if why.kind() == ErrorKind::Interrupted => {}
            Err(why) => return Ok(Err(why)),
        }
    }
}
