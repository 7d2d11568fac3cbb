//! Putting, removing and touching values: one system call per record, or per run of records. And waiting for the disk.

use std::io;

use super::format::{Form, HEADS, Header, UNIT, Usage, record_size};
use super::io::{BLOCK, on_disk};
use super::snapshot::RecordInfo;
use super::writer::{AppendError, RUN, Record};
use super::{Compression, Name, Store, full_disk};
use crate::base::{Error, Result, error, try_collect};

/// Most segments that may be full but not sealed; fewer where the limit is small or shared with other writers. A put
/// waits for the disk only if neither [`Store::maintain`] nor [`Store::sync`] was called while that many filled up.
const MOST_FULL: u64 = 8;
/// Sixteenths of the limit that a value may take. Longer ones would be evicted at once: a little more is kept when
/// values must go.
pub(super) const LONGEST_SHARE: u64 = 12;
/// A run ends before its values exceed this many bytes; a longer value is a run by itself.
const RUN_BYTES: usize = 1 << 20;
/// Most names in one record of uses.
pub(super) const USES: usize = 4096;

/// A value to put.
#[derive(Clone, Copy, Debug)]
pub struct Value<'a> {
    /// The value's name.
    pub name: Name,
    /// Build time in microseconds.
    pub build_us: u32,
    /// Bytes of the value.
    pub data: &'a [u8],
}

impl Store {
    /// Put a value; it replaces a value of the same name. False if it is too long: then nothing changes.
    pub fn put(&mut self, name: &Name, build_us: u32, data: &[u8]) -> Result<bool> {
        let mut is_kept = false;
        self.put_all(&[Value { name: *name, build_us, data }], |_| is_kept = true)?;
        Ok(is_kept)
    }

    /// Put values in order: the same result as a `put` for each, in less time. Calls `kept` with the index of each
    /// stored value. After a failure the others are still stored, and the first failure is returned.
    pub fn put_all(&mut self, values: &[Value<'_>], mut kept: impl FnMut(usize)) -> Result<()> {
        self.must_be_writable()?;
        let (mut at, mut done) = (0, Ok(()));
        while let Some(value) = values.get(at) {
            if !self.may_keep(value.data.len()) {
                self.counts.refused += 1;
                at += 1;
                continue;
            }
            let mut bytes = 0;
            let in_run = |value: &&Value<'_>| {
                let is_first = bytes == 0;
                bytes += value.data.len();
                self.may_keep(value.data.len()) && (is_first || bytes <= RUN_BYTES)
            };
            let count = values[at..].iter().take(RUN).take_while(in_run).count();
            done = done.and(self.put_run(&values[at..at + count], &mut |position| kept(at + position)));
            at += count;
        }
        done
    }

    /// A piece of the work before a value of so many bytes is put: one merge that makes room for it. True when the put
    /// has only to write.
    pub fn prepare(&mut self, environment: u64, length: usize) -> Result<bool> {
        if self.options.read_only || !self.may_keep(length) {
            return Ok(true);
        }
        self.uses_environment(environment)?;
        self.make_room_some(self.growth(record_size(length as u32)))
    }

    /// Bytes that can be put without making room.
    pub fn prepared_bytes(&self) -> u64 {
        self.space.room
    }

    /// Whether a value of that many bytes is short enough.
    fn may_keep(&self, length: usize) -> bool {
        let size = record_size(u32::try_from(length).unwrap_or(u32::MAX));
        length <= self.options.entry_limit as usize
            && size <= (self.options.limit_bytes / 16 * LONGEST_SHARE).min(u32::MAX.into())
    }

    fn put_run(&mut self, values: &[Value<'_>], kept: &mut dyn FnMut(usize)) -> Result<()> {
        values.iter().try_for_each(|value| self.uses_environment(value.name.environment))?;
        let mut scratch = std::mem::take(&mut self.scratch);
        let done = self.records(values, &mut scratch).and_then(|records| self.append_all(&records, kept));
        self.scratch = scratch;
        done
    }

    /// The records for these values. Compressed payloads lie in `scratch`.
    fn records<'a>(&self, values: &[Value<'a>], scratch: &'a mut Vec<u8>) -> Result<Vec<Record<'a>>> {
        let mut compressed = [const { 0..0 }; RUN];
        if self.options.compression == Compression::Lz4 {
            let mut end = 0;
            for (value, range) in values.iter().zip(&mut compressed) {
                *range = end..end + compress(value.data, scratch, end)?;
                end = range.end;
            }
        }
        let mut records = Vec::new();
        records.try_reserve_exact(values.len())?;
        let (stamp, scratch) = (self.stamp(), &*scratch);
        records.extend(values.iter().zip(compressed).zip(0..).map(|((value, range), after)| {
            let is_plain = range.is_empty();
            let (form, payload) = if is_plain { (Form::Plain, value.data) } else { (Form::Lz4, &scratch[range]) };
            let record = Record::new(&value.name, form, stamp.saturating_add(after), payload, &self.checks);
            let header = Header { raw: value.data.len() as u32, build_us: value.build_us, ..record.header };
            Record { header, ..record }
        }));
        Ok(records)
    }

    /// Remove the value of that name; false if it was missing.
    pub fn remove(&mut self, name: &Name) -> Result<bool> {
        self.must_be_writable()?;
        let is_known = self.index.live(name).is_some();
        // It may be in a segment that could not be read.
        if is_known || !self.knows_all() {
            self.append_mark(name, Form::Removed)?;
        }
        Ok(is_known)
    }

    /// Append a removal mark twice, so that a flipped bit does not bring a value back.
    pub(super) fn append_mark(&mut self, name: &Name, form: Form) -> Result<()> {
        self.append(name, form, &[])?;
        // The removal is already stored. If the second mark fails, [`Store::trouble`] reports it.
        let _ = self.append(name, form, &[]);
        Ok(())
    }

    /// Record a use of these values, so that eviction spares them. Unknown names are ignored.
    pub fn touch(&mut self, names: &[Name]) -> Result<()> {
        self.must_be_writable()?;
        let second = self.seconds();
        for names in names.chunks(USES) {
            let mut uses = Vec::new();
            uses.try_reserve_exact(names.len())?;
            for name in names {
                let Some(position) = self.index.live(name) else { continue };
                let entry = &mut self.index.entries[position];
                entry.uses = entry.uses.saturating_add(1);
                entry.used = entry.used.max(second);
                uses.push(Usage { name_hash: name.hash(), second: entry.used, count: entry.uses });
            }
            self.append_uses(&uses)?;
        }
        Ok(())
    }

    fn append_uses(&mut self, uses: &[Usage]) -> Result<()> {
        if uses.is_empty() {
            return Ok(());
        }
        let payload = encode_uses(uses)?;
        self.append(&Name::default(), Form::Uses, &payload)?;
        let Some(writer) = &mut self.writer else { return Ok(()) };
        writer.contents.uses.try_reserve(uses.len())?;
        writer.contents.uses.extend_from_slice(uses);
        Ok(())
    }

    /// Wait until everything that was put is on the disk.
    /// Fails once if the directory was deleted or replaced, or if files in it were cut.
    pub fn sync(&mut self) -> Result<()> {
        while !self.sync_some()? {}
        Ok(())
    }

    /// A piece of [`sync`](Self::sync): at most one segment is sealed, or as much is evicted and merged as a merge may
    /// copy. True when all is done.
    pub fn sync_some(&mut self) -> Result<bool> {
        self.check_own()?;
        if !self.full.is_empty() {
            return self.seal_first().map(|()| false);
        }
        if self.sync_given_up()? {
            return Ok(false);
        }
        if self.settle_some()? {
            return Ok(false);
        }
        let Some(mut writer) = self.writer.take() else {
            self.probe();
            return self.report_lost().map(|()| true);
        };
        let done = self.sync_writer(&mut writer);
        self.writer = Some(writer);
        done?;
        self.probe();
        self.report_lost().map(|()| true)
    }

    /// Seal the current segment and write its snapshot, so that the next opening is fast. It waits for the disk, so
    /// call it when there is time. If the store is dropped without it, the next maintenance seals the segment.
    pub fn seal(&mut self) -> Result<()> {
        self.check_own()?;
        self.claim = None;
        self.seal_own()?;
        while self.sync_given_up()? {}
        while self.settle_some()? {}
        self.pack_beside_others();
        Ok(())
    }

    /// Seal all segments of this process.
    pub(super) fn seal_own(&mut self) -> Result<()> {
        self.seal_full()?;
        self.retire()?;
        self.seal_full()
    }

    /// Seal the full segments.
    pub(super) fn seal_full(&mut self) -> Result<()> {
        while !self.full.is_empty() {
            self.seal_first()?;
        }
        Ok(())
    }

    /// Seal the first of the full segments.
    fn seal_first(&mut self) -> Result<()> {
        // A snapshot of a segment that was cut would name records that are lost.
        self.check_own()?;
        if self.full.is_empty() {
            return Ok(());
        }
        // A reservation ends with the segment.
        self.space.room = 0;
        let mut writer = self.full.remove(0);
        if let Err(why) = self.sync_writer(&mut writer) {
            self.full.insert(0, writer);
            return Err(why);
        }
        self.seal_writer(writer)
    }

    /// Mark the current segment as full; the next record begins another.
    fn retire(&mut self) -> Result<()> {
        if self.full.len() as u64
            >= self.unsealed_bytes().checked_div(self.segment_limit()).map_or(0, |most| most.min(MOST_FULL))
        {
            self.seal_full()?;
        }
        self.full.try_reserve(1)?;
        self.full.extend(self.writer.take());
        Ok(())
    }

    pub(super) fn must_be_writable(&self) -> Result<()> {
        if self.options.read_only {
            return Err(error!(Unsupported, "'{}' was opened read-only", self.directory.display()));
        }
        Ok(())
    }

    /// The next stamp: not before now, and after all stamps seen so far.
    pub(super) fn stamp(&self) -> u64 {
        (u64::from(self.seconds()) << 32).max(self.index.newest_stamp.saturating_add(1))
    }

    /// Append a record and add it to the index.
    fn append(&mut self, name: &Name, form: Form, payload: &[u8]) -> Result<()> {
        self.append_all(&[Record::new(name, form, self.stamp(), payload, &self.checks)], &mut |_| ())
    }

    /// Append records and add them to the index. Calls `kept` with the index of each. Failed records are skipped;
    /// returns the first failure.
    fn append_all(&mut self, records: &[Record<'_>], kept: &mut dyn FnMut(usize)) -> Result<()> {
        let (mut at, mut failure) = (0, Ok(()));
        while at < records.len() {
            let mut written = 0;
            let done = self.append_some(&records[at..], &mut written);
            (at..at + written).for_each(&mut *kept);
            at += written + usize::from(!matches!(done, Ok(true)));
            let trouble = |why: &Error| error!(Io, "values are not kept on the disk: {}", why.sentence());
            self.trouble = done.as_ref().err().map(trouble);
            self.unwritten = done.is_err().then(|| records.get(at - 1).map_or(0, |record| record.header.size()));
            failure = failure.and(done.map(drop));
        }
        failure
    }

    /// Append the first few records, and count them. On a full disk, other segments are deleted for them. After an
    /// error, the record after the counted ones failed. After false, it was refused: the disk cannot keep it.
    fn append_some(&mut self, records: &[Record<'_>], written: &mut usize) -> Result<bool> {
        let Some(first) = records.first() else { return Ok(true) };
        let (size, is_value) = (first.header.size(), first.header.form.is_value());
        self.forget_full();
        let (mut capacity, mut attempt) = (self.space.full_at, 0);
        loop {
            if is_value && capacity.is_some_and(|capacity| !self.may_stay(size, capacity)) {
                self.counts.refused += 1;
                return Ok(false);
            }
            self.space.is_full = false;
            let done = self.append_run(records, written);
            if done.is_ok() && attempt > 0 {
                self.note_full(capacity);
            }
            if done.is_ok() || !self.space.is_full {
                return done.map(|()| true);
            }
            if *written > 0 {
                // The caller continues with the record that failed.
                return Ok(true);
            }
            if attempt == 0 {
                capacity = Some(self.capacity()?);
                if is_value && capacity.is_some_and(|capacity| !self.may_stay(size, capacity)) {
                    continue;
                }
            }
            attempt += 1;
            // Another program takes the space, or there is nothing to evict.
            if attempt == full_disk::ATTEMPTS || !self.give_way(self.growth(size) + full_disk::FREED)? {
                return done.map(|()| true);
            }
        }
    }

    /// Append the first few records with one system call, and count them.
    pub(super) fn append_run(&mut self, records: &[Record<'_>], written: &mut usize) -> Result<()> {
        let Some(first) = records.first() else { return Ok(()) };
        self.space.partial = 0;
        self.index.reserve(records.len())?;
        self.check_own_if_due()?;
        self.make_room(self.growth(first.header.size()))?;
        // A run may begin a block of the segment and of its snapshot.
        let (limit, room) = (self.segment_limit(), self.space.room.saturating_sub(2 * BLOCK));
        if self.writer.as_ref().is_some_and(|writer| writer.is_full_for(first.header.size(), limit)) {
            self.retire()?;
        }
        self.unsynced.try_reserve(1)?;
        let mut writer = match self.writer.take() {
            Some(writer) => writer,
            None => self.begin_segment()?,
        };
        let (id, mut offset, before) = (writer.id, writer.length, writer.disk_bytes());
        let before = if writer.is_empty() { 0 } else { before };
        let run = &records[..writer.run_of(records, limit, room)];
        let done = match writer.append_run(run, written) {
            // The next record begins another segment.
            Err(AppendError::Failed { why, restored: true, .. }) if is_too_large(&why) && !writer.is_empty() => {
                writer.longest = writer.length;
                Ok(())
            }
            done => done,
        };
        let length = writer.length;
        self.space.take(writer.disk_bytes() - before);
        // If truncating failed, recovery handles the segment, and the next record goes to another segment.
        let is_lost = matches!(done, Err(AppendError::Failed { restored: false, .. }));
        if is_lost {
            self.unsynced.push(id);
        } else {
            self.writer = Some(writer);
        }
        self.appended += length - offset;
        self.unchecked += length - offset;
        if let Some(segment) = self.segment_mut(id) {
            segment.length = length;
        }
        for Record { header, .. } in &run[..*written] {
            self.index.newest_stamp = self.index.newest_stamp.max(header.stamp);
            if header.form != Form::Uses {
                self.show(RecordInfo::new(header, (offset / UNIT) as u32), id)?;
            }
            offset += header.size();
        }
        done.map_err(|why| match why {
            AppendError::Refused(why) => why,
            AppendError::Failed { why, partial, .. } => {
                self.space.partial = partial;
                self.failed("write", &self.path(id, "seg"), &why)
            }
        })
    }

    /// Bytes on the disk that a record of that size adds.
    pub(super) fn growth(&self, size: u64) -> u64 {
        match self.writer.as_ref().filter(|writer| !writer.is_full_for(size, self.segment_limit())) {
            Some(writer) => {
                let snapshot = writer.snapshot_bytes() + RecordInfo::SIZE as u64;
                on_disk(writer.length + size) + on_disk(snapshot) - writer.disk_bytes()
            }
            None => on_disk(HEADS as u64 + size) + BLOCK,
        }
    }
}

/// Whether the system or its administrator limits the length of a file.
fn is_too_large(why: &io::Error) -> bool {
    why.kind() == io::ErrorKind::FileTooLarge
}

pub(super) fn encode_uses(uses: &[Usage]) -> Result<Vec<u8>> {
    try_collect(uses.iter().flat_map(Usage::encode))
}

/// Compress into `out` from that offset on. Returns the number of bytes, or 0 if compression saves too little.
fn compress(data: &[u8], out: &mut Vec<u8>, from: usize) -> Result<usize> {
    let most = from + lz4_flex::block::get_maximum_output_size(data.len());
    if out.len() < most {
        out.try_reserve(most - out.len())?;
        out.resize(most, 0);
    }
    let length = lz4_flex::block::compress_into(data, &mut out[from..most]).unwrap_or(data.len());
    Ok(if length + data.len() / 16 < data.len() { length } else { 0 })
}
