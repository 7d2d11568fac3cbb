//! Reading the directory: at first, and again when other processes may have changed it.

use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use super::format::{FORMAT, Form, HEADS, Head, Header, KEYED, UNIT, Usage, decode_heads, record_size};
use super::index::Index;
use super::io::{File, Names, is_not_ours, read_exact_at};
use super::segment::{ScanError, ScanLimits, ScanPosition, Segment, SegmentState, SnapshotPlace, resize, scan};
use super::snapshot::{self, IndexSnapshot, RecordInfo, SHORT};
use super::writer::LONGEST_SEGMENT;
use super::{Name, Options, Store, lose};
use crate::base::{Error, Result, error, sort_slowly, try_push};

/// Bytes that [`Store::refresh`] reads at most, and one entry more.
const REFRESHED: u64 = 16 << 20;
/// Cost of opening a file, and of reading the name of one, in bytes that could be read meanwhile.
pub(super) const OPENED: u64 = 4 << 10;
const NAMED: u64 = 256;
/// Names that a piece of a reading reads at least.
const LISTED: u32 = 1024;
/// Uses that are kept until their values are known. More are applied at once, and those of unknown values are lost.
const MOST_USES: usize = 1 << 18;
/// Attempts to read a directory that changes meanwhile, before each pause. A file that each of them lists, and that is
/// not there, is not being deleted, so there is no pause.
const ATTEMPTS: usize = 16;
/// Pauses that a store makes until a reading succeeds, and the length of one.
pub(super) const PAUSES: u32 = 250;
const PAUSE: Duration = Duration::from_millis(1);

/// Files of the directory by type, each list sorted by id.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub segments: Vec<u64>,
    pub snapshots: Vec<u64>,
    pub claims: Vec<u64>,
    pub unfinished: Vec<u64>,
    pub packs: Vec<u64>,
    pub unfinished_packs: Vec<u64>,
    /// Stamps before which everything was removed.
    pub clearings: Vec<u64>,
}

impl Listing {
    fn add(&mut self, name: &OsStr) -> Result<()> {
        let Some((id, extension)) = name.to_str().and_then(|name| name.split_once('.')) else { return Ok(()) };
        let list = match extension {
            "seg" => &mut self.segments,
            "idx" => &mut self.snapshots,
            "live" => &mut self.claims,
            "idx.new" => &mut self.unfinished,
            "pack" => &mut self.packs,
            "pack.new" => &mut self.unfinished_packs,
            "clear" => &mut self.clearings,
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

    /// Ids of the segments of all files, some of them several times.
    pub fn ids(&self) -> impl Iterator<Item = u64> {
        let Self { segments, snapshots, claims, unfinished, .. } = self;
        segments.iter().chain(snapshots).chain(claims).chain(unfinished).copied()
    }

    fn sorted(mut self) -> Self {
        let Self { segments, snapshots, claims, unfinished, packs, unfinished_packs, clearings } = &mut self;
        let lists = [segments, snapshots, claims, unfinished, packs, unfinished_packs, clearings];
        lists.into_iter().for_each(|list| {
            sort_slowly(list, Ord::cmp);
            // A segment that this process began meanwhile may be there twice.
            list.dedup();
        });
        self
    }
}

/// Whether a file still exists.
#[derive(PartialEq, Eq)]
enum Presence {
    Here,
    Gone,
}

/// Reading of the directory, which may take several calls.
pub(super) struct Loading {
    /// The directory, until all names are read.
    names: Option<Box<dyn Names>>,
    pub listing: Listing,
    /// Number of packs that have been read.
    packs: usize,
    /// Number of segments that have been read.
    done: usize,
    /// Position in the segment after those, if its scan was interrupted.
    at: Option<ScanPosition>,
    /// The first listed segment that was not there: another process has deleted it.
    gone: Option<u64>,
    /// Applied to the index at the end.
    uses: Vec<Usage>,
    /// Buffer for reading snapshots and packs.
    pub bytes: Vec<u8>,
    /// Bytes that this call may still read.
    budget: u64,
}

impl Loading {
    pub fn spend(&mut self, bytes: u64) {
        self.budget = self.budget.saturating_sub(bytes);
    }

    fn add_use(&mut self, index: &mut Index, used: Usage) -> Result<()> {
        if self.uses.len() >= MOST_USES {
            index.show_uses(&mut self.uses);
        }
        try_push(&mut self.uses, used)
    }
}

impl Store {
    /// Load the changes that other processes have made since the last refresh, as far as 16 MiB and one entry go. The
    /// next refresh continues.
    pub fn refresh(&mut self) -> Result<()> {
        self.load(REFRESHED).map(|_| ())
    }

    /// Continue to read the directory, about `bytes` more, but at least one entry. True when the reading is complete.
    /// The next call then begins another one, for the changes of other processes.
    pub fn load(&mut self, bytes: u64) -> Result<bool> {
        let mut budget = bytes;
        let (mut gone, mut repeated) = (None, 0);
        for attempt in 1_usize.. {
            let mut loading = match self.loading.take() {
                Some(loading) => loading,
                None => self.begin_loading()?,
            };
            loading.budget = budget;
            if !self.load_some(&mut loading)? {
                self.loading = Some(loading);
                return Ok(false);
            }
            if loading.gone.is_none() {
                self.drop_missing(&loading.listing.segments);
            }
            if loading.gone.is_none() && !self.must_reread {
                self.pauses = PAUSES;
                self.emptied = Vec::new();
                self.index.show_uses(&mut loading.uses);
                if self.last_activity.is_none() {
                    self.last_activity = Some(self.live().map(|entry| entry.used).max().unwrap_or(0));
                }
                return self.index.tidy().map(|()| true);
            }
            repeated = if loading.gone == gone { repeated + 1 } else { 0 };
            (gone, budget) = (loading.gone, loading.budget);
            if repeated == ATTEMPTS || attempt.is_multiple_of(ATTEMPTS) && !self.pause() {
                break;
            }
        }
        Err(error!(Busy, "other processes keep changing '{}': call again later", self.directory.display()))
    }

    /// Let other processes finish their changes. False if that was tried long enough.
    fn pause(&mut self) -> bool {
        let Some(less) = self.pauses.checked_sub(1) else { return false };
        self.pauses = less;
        sleep(PAUSE);
        true
    }

    /// Add a segment of this process to the list that is being read, which was made before.
    pub(super) fn list_own(&mut self, id: u64) {
        let Some(loading) = &mut self.loading else { return };
        let segments = &mut loading.listing.segments;
        let place = segments.partition_point(|&known| known < id);
        if segments.try_reserve(1).is_err() {
            // The next reading lists it.
            self.loading = None;
            return;
        }
        segments.insert(place, id);
        loading.done += usize::from(place < loading.done);
    }

    /// Whether no reading is under way.
    pub(super) fn is_loaded(&self) -> bool {
        self.loading.is_none()
    }

    /// Whether all listed segments were read without a failure.
    pub(super) fn knows_all(&self) -> bool {
        self.is_all_read && self.is_loaded() && !self.must_reread
    }

    fn begin_loading(&mut self) -> Result<Loading> {
        let names = match self.io.names(&self.directory) {
            Ok(names) => Some(names),
            Err(why) if why.kind() == ErrorKind::NotFound => None,
            Err(why) => return Err(self.failed_here("list", &why)),
        };
        (self.is_all_read, self.must_reread) = (true, false);
        let (listing, uses, bytes) = (Listing::default(), Vec::new(), Vec::new());
        Ok(Loading { names, listing, packs: 0, done: 0, at: None, gone: None, uses, bytes, budget: 0 })
    }

    /// Read names of files until the budget is used up; true if all were read.
    fn list_some(&mut self, loading: &mut Loading) -> Result<bool> {
        let Some(names) = &mut loading.names else { return Ok(true) };
        for count in 1.. {
            let read = names.next(&mut |name| loading.listing.add(name));
            if !read.map_err(|why| self.failed_here("list", &why))?? {
                break;
            }
            loading.budget = loading.budget.saturating_sub(NAMED);
            if loading.budget == 0 && count >= LISTED {
                // Files that are made or renamed until the next piece may be missing.
                self.is_all_read = false;
                return Ok(false);
            }
        }
        loading.names = None;
        loading.listing = std::mem::take(&mut loading.listing).sorted();
        for &stamp in &loading.listing.clearings {
            if self.is_clearing(stamp) {
                self.show_clearing(stamp, self.options.evicted)?;
            }
        }
        self.drop_missing_packs(&loading.listing.packs);
        Ok(true)
    }

    /// Whether the file of a clearing is an empty file of this user. Anything else with such a name removes nothing.
    fn is_clearing(&mut self, stamp: u64) -> bool {
        let path = self.path(stamp, "clear");
        let why = match self.io.open(&path).and_then(|file| file.length()) {
            Ok(0) => return true,
            Ok(_) => ErrorKind::InvalidInput.into(),
            Err(why) => why,
        };
        // After another failure it may be a clearing, so no removed value comes back.
        let is_refused = is_not_ours(&why);
        if is_refused {
            self.counts.damaged += 1;
            self.trouble = Some(self.failed("read", &path, &why));
        }
        !is_refused
    }

    /// Forget a segment, and read it again without its snapshot.
    pub(super) fn load_anew(&mut self, id: u64, seed: u64) -> Result<()> {
        self.drop_segments(|known| known == id);
        self.add_segment(Segment::new(id, seed, SegmentState::Open))?;
        self.loading = None;
        self.refresh()
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

    /// Add to the index that everything before a stamp was removed.
    pub(super) fn show_clearing(&mut self, stamp: u64, evicted: fn(&Name)) -> Result<()> {
        let all = Name { kind: 1, ..Name::default() };
        let row = RecordInfo::new(&Header::new(&all, Form::Cleared, stamp, &[], &self.checks), 0);
        let segments = &mut self.segments;
        self.index.show_cleared(row, 0, |entry| {
            lose(segments, entry);
            if entry.is_live() {
                evicted(&entry.name());
            }
        })
    }

    fn failed_here(&mut self, verb: &str, why: &std::io::Error) -> Error {
        let directory = self.directory.clone();
        self.failed(verb, &directory, why)
    }

    /// Read the listed segments until the budget is used up; true if all were read.
    fn load_some(&mut self, loading: &mut Loading) -> Result<bool> {
        if !self.list_some(loading)? {
            return Ok(false);
        }
        let begin = (loading.packs, loading.done);
        while let Some(&id) = loading.listing.packs.get(loading.packs) {
            if loading.budget == 0 && loading.packs > begin.0 {
                return Ok(false);
            }
            self.load_pack(id, loading)?;
            loading.packs += 1;
        }
        while let Some(&id) = loading.listing.segments.get(loading.done) {
            if loading.budget == 0 && (loading.packs, loading.done) != begin {
                return Ok(false);
            }
            let sealed = loading.listing.snapshots.binary_search(&id).is_ok();
            let there = match self.segments.binary_search_by_key(&id, |segment| segment.id) {
                Ok(position) if self.segments[position].state == SegmentState::Open => {
                    if sealed {
                        self.segments[position].snapshot = SnapshotPlace::File;
                    }
                    self.extend(id, self.segments[position].snapshot != SnapshotPlace::Missing, loading)?
                }
                Ok(_) => Presence::Here,
                Err(_) if sealed && self.load_snapshot(id, loading)? => Presence::Here,
                Err(_) => self.load_segment(id, loading)?,
            };
            if loading.at.is_some() {
                return Ok(false);
            }
            if there == Presence::Gone {
                loading.gone.get_or_insert(id);
            }
            loading.done += 1;
        }
        Ok(true)
    }

    pub(super) fn scan_limits(&self) -> ScanLimits {
        let Options { segment_limit, entry_limit, .. } = self.options;
        // Other processes may have other limits. A record that is longer than a segment has a segment of its own.
        let segment = segment_limit.max(Options::new(|| 0).segment_limit).saturating_add(record_size(entry_limit));
        ScanLimits { segment: segment.min(LONGEST_SEGMENT), entry: entry_limit }
    }

    /// Load a segment from its snapshot. False if the snapshot is missing or invalid.
    fn load_snapshot(&mut self, id: u64, loading: &mut Loading) -> Result<bool> {
        let path = self.path(id, "idx");
        loading.spend(OPENED);
        let Ok(file) = self.io.open(&path) else { return Ok(false) };
        let limits = self.scan_limits();
        let length = match read_snapshot(&*file, &mut loading.bytes, limits.segment)? {
            Ok(length) => length,
            Err(why) => {
                self.failed("read", &path, &why);
                return Ok(false);
            }
        };
        loading.spend(length as u64);
        let bytes = std::mem::take(&mut loading.bytes);
        let Some(snapshot) = IndexSnapshot::decode(&bytes[..length], id, limits.segment, &self.checks) else {
            self.counts.damaged += u64::from(!snapshot::is_foreign(&bytes[..length], &self.checks));
            loading.bytes = bytes;
            return Ok(false);
        };
        self.show_snapshot(id, &snapshot, SnapshotPlace::File, loading)?;
        loading.bytes = bytes;
        Ok(true)
    }

    /// Add a sealed segment.
    pub(super) fn show_snapshot(
        &mut self,
        id: u64,
        read: &IndexSnapshot<'_>,
        snapshot: SnapshotPlace,
        loading: &mut Loading,
    ) -> Result<()> {
        self.index.reserve(read.row_count())?;
        let segment = Segment::new(id, read.seed, SegmentState::Sealed);
        let position = self.add_segment(Segment { length: read.length, snapshot, ..segment })?;
        let longest = self.options.entry_limit;
        for row in read.rows() {
            self.segments[position].has_long |= row.form.is_value() && row.stored.max(row.raw) > longest;
            self.show_at(row, position)?;
        }
        for used in read.uses() {
            self.segments[position].uses += 1;
            loading.add_use(&mut self.index, used)?;
        }
        Ok(())
    }

    /// A segment has no heads: its writer has not written them yet, or another process has emptied it to delete it. Then its
    /// values are in segments that may be younger than the list of names, and without them older values would be served.
    /// A list that was made after the segment was seen has them.
    fn see_emptied(&mut self, id: u64) -> Result<Presence> {
        let Err(place) = self.emptied.binary_search(&id) else { return Ok(Presence::Here) };
        self.emptied.try_reserve(1)?;
        self.emptied.insert(place, id);
        Ok(Presence::Gone)
    }

    fn load_segment(&mut self, id: u64, loading: &mut Loading) -> Result<Presence> {
        let path = self.path(id, "seg");
        let mut heads = [0; HEADS];
        loading.spend(OPENED);
        let file = match self.io.open(&path).and_then(|file| Ok((read_exact_at(&*file, &mut heads, 0)?, file))) {
            Ok((true, file)) => file,
            Ok((false, _)) => return self.see_emptied(id),
            Err(why) if why.kind() == ErrorKind::NotFound => return Ok(Presence::Gone),
            Err(why) if is_refused(&why) => {
                self.set_aside(id, &path, &why)?;
                return Ok(Presence::Here);
            }
            Err(why) => {
                self.not_read(&path, &why);
                return Ok(Presence::Here);
            }
        };
        match decode_heads(&heads, id, self.checks.format) {
            Head::Ours { seed } => {
                self.add_segment(Segment::new(id, seed, SegmentState::Open))?;
                self.scan(id, &*file, loading)?;
                if self.segment_position(id).is_none() {
                    return Ok(Presence::Gone);
                }
            }
            Head::Foreign { format } => {
                self.add_segment(Segment::new(id, 0, SegmentState::Foreign))?;
                let directory = self.directory.display();
                self.foreign = Some(match format {
                    FORMAT => error!(
                        Unsupported,
                        "'{directory}' has segments that were written without a secret: they are ignored"
                    ),
                    KEYED.. => error!(
                        Unsupported,
                        "'{directory}' has segments that were written with another secret: they are ignored"
                    ),
                    _ => error!(
                        Unsupported,
                        "'{directory}' has segments of format {format}, which this version does not read: they are ignored"
                    ),
                });
            }
            Head::Damaged => {
                self.add_segment(Segment::new(id, 0, SegmentState::Damaged))?;
                self.counts.damaged += 1;
            }
        }
        Ok(Presence::Here)
    }

    /// Read records appended to a known segment.
    fn extend(&mut self, id: u64, sealed: bool, loading: &mut Loading) -> Result<Presence> {
        if self.is_own(id) || self.segment_mut(id).is_some_and(|segment| segment.is_cut) {
            return Ok(Presence::Here);
        }
        let path = self.path(id, "seg");
        let known = self.segment_mut(id).and_then(|segment| segment.file.clone());
        loading.spend(OPENED);
        let is_read = match known.map_or_else(|| self.io.open(&path), Ok) {
            Ok(file) => self.scan(id, &*file, loading)?,
            Err(why) if why.kind() == ErrorKind::NotFound => return Ok(Presence::Gone),
            Err(why) if is_refused(&why) => {
                self.set_aside(id, &path, &why)?;
                return Ok(Presence::Here);
            }
            Err(why) => self.not_read(&path, &why),
        };
        match self.segment_mut(id) {
            Some(segment) if sealed && is_read => segment.state = SegmentState::Sealed,
            Some(_) => {}
            None => return Ok(Presence::Gone),
        }
        Ok(Presence::Here)
    }

    /// Set aside an entry with the name of a segment that this user may not read: report it once. It is neither read nor
    /// changed while this store is open.
    ///
    /// Anything but a file holds no values. A file may be readable for a later process, so removal marks are kept for it
    /// as for a segment of another format.
    pub(super) fn set_aside(&mut self, id: u64, path: &Path, why: &io::Error) -> Result<()> {
        self.trouble = Some(self.failed("read", path, why));
        let is_file = why.kind() != ErrorKind::InvalidInput;
        if is_file {
            let path = path.display();
            self.foreign = Some(error!(Io, "this user may not read '{path}': it is ignored and kept"));
        } else {
            self.counts.damaged += 1;
        }
        if self.segment_position(id).is_some() {
            self.drop_segments(|known| known == id);
        }
        let state = if is_file { SegmentState::Foreign } else { SegmentState::Damaged };
        self.add_segment(Segment { is_held: true, ..Segment::new(id, 0, state) }).map(drop)
    }

    /// Report a read failure; a later read may succeed.
    fn not_read(&mut self, path: &Path, why: &std::io::Error) -> bool {
        self.trouble = Some(self.failed("read", path, why));
        self.is_all_read = false;
        false
    }

    /// Read a segment from its known end on; false if that failed, or was interrupted. A segment that was emptied to be
    /// deleted is forgotten.
    fn scan(&mut self, id: u64, file: &dyn File, loading: &mut Loading) -> Result<bool> {
        let Some(&mut Segment { seed, length, .. }) = self.segment_mut(id) else { return Ok(true) };
        let from = loading.at.take().unwrap_or(ScanPosition::after(length));
        let (limits, mut budget) = (self.scan_limits(), loading.budget);
        let checks = self.checks;
        let scanned = scan(file, &checks, seed, from, limits, &mut budget, |offset, header, payload| {
            let Ok(unit) = u32::try_from(offset / UNIT) else { return Ok(()) };
            if header.form == Form::Uses {
                let uses = payload.chunks_exact(Usage::SIZE);
                self.segment_mut(id).into_iter().for_each(|segment| segment.uses += uses.len() as u64);
                return uses.map(Usage::decode).try_for_each(|used| loading.add_use(&mut self.index, used));
            }
            self.show(RecordInfo::new(header, unit), id)
        });
        loading.budget = budget;
        if file.length().is_ok_and(is_emptied) {
            self.drop_segments(|known| known == id);
            return Ok(false);
        }
        match scanned {
            Ok(scanned) => {
                self.counts.damaged += scanned.damaged;
                loading.at = (!scanned.is_done).then_some(scanned.position);
                if let Some(segment) = self.segment_mut(id) {
                    segment.length = scanned.position.end;
                    segment.has_long |= scanned.has_long;
                }
                if scanned.is_done && scanned.is_cut {
                    self.cut(id, limits.segment);
                }
                Ok(scanned.is_done)
            }
            Err(ScanError::Io(why)) => Ok(self.not_read(&self.path(id, "seg"), &why)),
            Err(ScanError::Other(why)) => Err(why),
        }
    }

    /// Report that a file is longer than a segment can be. It is not read again.
    fn cut(&mut self, id: u64, longest: u64) {
        self.counts.damaged += 1;
        let path = self.path(id, "seg");
        self.trouble = Some(error!(
            Malformed,
            "'{}' is longer than a segment can be: only its first {longest} bytes are read",
            path.display()
        ));
        if let Some(segment) = self.segment_mut(id) {
            segment.is_cut = true;
        }
    }

    fn drop_missing(&mut self, listed: &[u64]) {
        let is_missing = |id: u64| listed.binary_search(&id).is_err();
        // Somebody emptied the directory, so further appends could never be found.
        self.abandon(is_missing);
        if self.segments.iter().any(|segment| is_missing(segment.id)) {
            self.drop_segments(is_missing);
        }
    }

    /// Forget segments, and the entries whose records were only there. If they held copies, the process that merged may
    /// have given up: then the sources are forgotten as well, and read again.
    pub(super) fn drop_segments(&mut self, dropped: impl Fn(u64) -> bool) {
        self.close_files();
        let may_return = self.index.entries.iter().any(|entry| entry.row.stamp != 0 && dropped(entry.segment));
        for position in 0..self.segments.len() {
            let Segment { id, is_copied, .. } = self.segments[position];
            // Two processes may have written a name with one stamp.
            self.segments[position].is_copied = is_copied && !self.is_own(id);
        }
        let is_source = |segment: &Segment| may_return && segment.is_copied && !dropped(segment.id);
        // They are read again from their packs.
        for source in self.segments.iter().filter(|segment| is_source(segment)) {
            self.packs.retain(|pack| source.snapshot != SnapshotPlace::Pack(pack.id));
        }
        self.must_reread |= self.segments.iter().any(is_source);
        self.segments.retain(|segment| !dropped(segment.id) && !is_source(segment));
        for position in 0..self.index.entries.len() {
            let entry = &self.index.entries[position];
            if entry.row.stamp != 0 && self.segment_position(entry.segment).is_none() {
                self.forget(position);
            }
        }
    }
}

/// Whether opening a segment failed because of its type, owner or rights, which do not change by themselves. Windows also
/// denies opening a file for a while when it is being deleted.
pub(super) fn is_refused(why: &io::Error) -> bool {
    is_not_ours(why) || cfg!(not(windows)) && why.kind() == ErrorKind::PermissionDenied
}

/// Whether a segment of that length was emptied to be deleted, or not begun.
pub(super) fn is_emptied(length: u64) -> bool {
    length < HEADS as u64
}

/// Read a snapshot; returns the number of bytes read. A short snapshot needs no length query. A long one is read past
/// its first 16 KiB only if the file is as long as its head says, and has at most `longest` bytes. Reading stops where the
/// head says that the file ends.
fn read_snapshot(file: &dyn File, bytes: &mut Vec<u8>, longest: u64) -> Result<io::Result<usize>> {
    let (mut filled, mut end) = (0, SHORT);
    if bytes.len() < SHORT {
        resize(bytes, SHORT)?;
    }
    loop {
        if filled == SHORT {
            end = match file.length() {
                Ok(length) if length <= longest && snapshot::length(bytes) == Some(length) => length as usize,
                Ok(_) => return Ok(Ok(filled)),
                Err(why) => return Ok(Err(why)),
            };
            if bytes.len() < end {
                if resize(bytes, end).is_err() {
                    return Ok(Err(ErrorKind::OutOfMemory.into()));
                }
                filled = 0;
            }
        }
        if filled >= end || snapshot::length(&bytes[..filled]) == Some(filled as u64) {
            return Ok(Ok(filled));
        }
        match file.read_at(&mut bytes[filled..end], filled as u64) {
            Ok(0) => return Ok(Ok(filled)),
            Ok(count) => filled += count,
            Err(why) if why.kind() == ErrorKind::Interrupted => {}
            Err(why) => return Ok(Err(why)),
        }
    }
}
