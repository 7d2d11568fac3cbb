//! Reading values: one read, three checks.

use std::io::{self, ErrorKind};

use super::format::{Form, HEADER, HEADS, Head, Header, UNIT, decode_heads};
use super::index::{IndexEntry, Location};
use super::io::{File, SharedFile, read_exact_at};
use super::load::{is_emptied, is_refused};
use super::segment::{Segment, SegmentState, resize};
use super::{Name, Store};
use crate::base::{Result, error};

/// Retries of a read whose value another process moved meanwhile.
const ATTEMPTS: usize = 8;
/// LZ4 expands a byte to at most this many.
const MOST_OF_A_BYTE: u64 = 255;
/// Bytes of a cache line.
const CACHE_LINE: usize = 64;
/// Files kept open for reading.
const OPEN_FILES: usize = 64;

/// Result of reading the record at the location that the index gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadResult {
    /// The record is in the buffer, and its checksums match.
    Whole,
    /// Other bytes are there.
    Damaged,
    /// The value is longer than the caller accepts.
    TooLong,
    /// The segment is missing.
    Missing,
}

/// Origin of the bytes in a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Source {
    /// The number of a [`Store`]: all bundles have the same id and seed.
    store: u64,
    segment: u64,
    seed: u64,
}

/// Reusable memory for reading values. For reads in disk order it reads ahead, in growing strides.
#[derive(Debug, Default)]
pub struct Buffer {
    /// Bytes of a segment. Longer than the filled part, so that memory is zeroed only once.
    bytes: Vec<u8>,
    /// Start of the filled part in `bytes`. It has the same offset within a cache line as in the file: the fastest
    /// copy.
    start: usize,
    filled: usize,
    source: Source,
    /// Offset of the filled part in the segment.
    begin: u64,
    /// Bytes to read at a time.
    stride: usize,
    /// Start of the last requested record in `bytes`.
    from: usize,
    /// Header of that record, if the record is whole.
    header: Option<Header>,
    /// Decompressed value of that record, if it was compressed.
    value: Vec<u8>,
}

impl Buffer {
    const LEAST_STRIDE: usize = 64 << 10;
    const GREATEST_STRIDE: usize = 256 << 10;

    /// Bytes of memory held.
    pub fn memory_used(&self) -> usize {
        self.bytes.capacity() + self.value.capacity()
    }

    /// Header and payload of the last record, if it was whole.
    pub(super) fn record(&self) -> Option<(&Header, &[u8])> {
        self.header.as_ref().map(|header| (header, &self.bytes[self.from + HEADER..][..header.stored as usize]))
    }

    /// Whether the last record was whole and is a value of that name.
    fn has_value_of(&self, name: &Name) -> bool {
        self.header.as_ref().is_some_and(|header| header.form.is_value() && header.name() == *name)
    }

    /// Build time in microseconds of the last value, and the value.
    fn value(&self) -> Option<(u32, &[u8])> {
        let (header, payload) = self.record()?;
        Some((header.build_us, if header.form == Form::Lz4 { &self.value } else { payload }))
    }

    /// Load bytes of a file that is known up to `end`. False if the file is shorter.
    fn fetch(
        &mut self,
        file: &dyn File,
        source: Source,
        end: u64,
        offset: u64,
        length: usize,
    ) -> Result<io::Result<bool>> {
        let is_near = self.source == source && offset >= self.begin;
        let from = offset.saturating_sub(self.begin);
        if is_near && from + length as u64 <= self.filled as u64 {
            self.from = self.start + from as usize;
            return Ok(Ok(true));
        }
        let follows = is_near && from <= (self.filled + self.stride.max(Self::LEAST_STRIDE)) as u64;
        self.stride = if follows { (2 * self.stride).clamp(Self::LEAST_STRIDE, Self::GREATEST_STRIDE) } else { 0 };
        let mut wanted = end.saturating_sub(offset).min(self.stride.max(length) as u64) as usize;
        let room = wanted + CACHE_LINE;
        self.filled = 0;
        if self.bytes.len() < room {
            resize(&mut self.bytes, room)?;
        }
        self.start = (offset as usize).wrapping_sub(self.bytes.as_ptr().addr()) % CACHE_LINE;
        self.from = self.start;
        let mut read = read_exact_at(file, &mut self.bytes[self.start..][..wanted], offset);
        if !matches!(read, Ok(true)) && wanted > length {
            // The failure may lie in the part that was read ahead: retry without reading ahead.
            (self.stride, wanted) = (0, length);
            read = read_exact_at(file, &mut self.bytes[self.start..][..wanted], offset);
        }
        if matches!(read, Ok(true)) {
            (self.filled, self.source, self.begin) = (wanted, source, offset);
        }
        Ok(read)
    }
}

impl Store {
    /// Read a value into `out`, replacing its contents. Returns the build time in microseconds, or `None` if the value
    /// is missing. A damaged value is removed from the index.
    pub fn get(&mut self, name: &Name, out: &mut Vec<u8>) -> Result<Option<u32>> {
        self.get_within(name, self.options.entry_limit, out)
    }

    /// [`get`](Self::get) of a value of at most `longest` bytes. A longer one counts as missing, and takes no memory.
    pub fn get_within(&mut self, name: &Name, longest: u32, out: &mut Vec<u8>) -> Result<Option<u32>> {
        let mut buffer = std::mem::take(&mut self.buffer);
        // A compressed value is decompressed straight into `out`.
        std::mem::swap(&mut buffer.value, out);
        let found = self.view_within(name, longest, &mut buffer).map(|found| found.map(|(build_us, _)| build_us));
        std::mem::swap(&mut buffer.value, out);
        let copied = match buffer.record().filter(|_| matches!(found, Ok(Some(_)))) {
            Some((header, _)) if header.form == Form::Lz4 => Ok(()),
            Some((_, payload)) => resize(out, payload.len()).map(|()| out.copy_from_slice(payload)),
            None => {
                out.clear();
                Ok(())
            }
        };
        // The memory of a long value is not kept.
        if buffer.memory_used() <= 2 * Buffer::GREATEST_STRIDE {
            self.buffer = buffer;
        }
        copied.and(found)
    }

    /// [`get`](Self::get) without a copy: returns the value in the buffer that it was read into.
    pub fn view<'a>(&mut self, name: &Name, buffer: &'a mut Buffer) -> Result<Option<(u32, &'a [u8])>> {
        self.view_within(name, self.options.entry_limit, buffer)
    }

    /// [`view`](Self::view) of a value of at most `longest` bytes. A longer one counts as missing, and takes no memory.
    pub fn view_within<'a>(
        &mut self,
        name: &Name,
        longest: u32,
        buffer: &'a mut Buffer,
    ) -> Result<Option<(u32, &'a [u8])>> {
        let longest = longest.min(self.options.entry_limit);
        // The value usually lies at the likely location. The record holds its name, so the guess can be checked.
        if let Some(location) = self.index.likely_location(name) {
            match self.read_value(location, longest, buffer)? {
                ReadResult::Whole if buffer.has_value_of(name) => return Ok(buffer.value()),
                ReadResult::Missing => self.refresh()?,
                ReadResult::Whole | ReadResult::Damaged | ReadResult::TooLong => {}
            }
        }
        for _ in 0..ATTEMPTS {
            let Some(position) = self.index.live(name) else { return Ok(None) };
            match self.read_value(self.index.entries[position].location(), longest, buffer)? {
                ReadResult::Whole if buffer.has_value_of(name) => return Ok(buffer.value()),
                ReadResult::Missing => self.refresh()?,
                ReadResult::TooLong => {
                    self.counts.refused += 1;
                    return Ok(None);
                }
                ReadResult::Whole | ReadResult::Damaged => {
                    self.counts.damaged += 1;
                    self.drop_entry(position);
                    return Ok(None);
                }
            }
        }
        Err(error!(Busy, "other processes keep moving a value of '{}': call again", self.directory.display()))
    }

    /// Read a value and check everything except its name.
    fn read_value(&mut self, location: Location, longest: u32, buffer: &mut Buffer) -> Result<ReadResult> {
        let found = self.read_location(location, longest, buffer)?;
        if buffer.header.as_ref().is_some_and(|header| header.form == Form::Lz4) {
            let mut value = std::mem::take(&mut buffer.value);
            let done = buffer.record().map_or(Ok(false), |(header, payload)| decompress(header, payload, &mut value));
            buffer.value = value;
            return Ok(if done? { found } else { ReadResult::Damaged });
        }
        Ok(found)
    }

    /// Read a value's whole record, with its header, and check everything.
    pub(super) fn read_record(&mut self, entry: &IndexEntry, buffer: &mut Buffer) -> Result<ReadResult> {
        let found = self.read_location(entry.location(), self.options.entry_limit, buffer)?;
        let is_another = found == ReadResult::Whole && !buffer.has_value_of(&entry.name());
        Ok(if is_another { ReadResult::Damaged } else { found })
    }

    /// Read a record and check everything except its name.
    fn read_location(&mut self, location: Location, longest: u32, buffer: &mut Buffer) -> Result<ReadResult> {
        buffer.header = None;
        if location.stored > longest {
            return Ok(ReadResult::TooLong);
        }
        let Some(listed) = self.open_segment(location.segment)? else { return Ok(ReadResult::Missing) };
        let segment = &self.segments[listed];
        let Some(file) = segment.file.as_deref() else { return Ok(ReadResult::Missing) };
        let offset = u64::from(location.unit) * UNIT;
        // No memory is allocated for a length beyond the end of the file.
        let room = segment.length.saturating_sub(offset);
        if room < HEADER as u64 {
            return Ok(ReadResult::Damaged);
        }
        let mut length = (HEADER as u64 + u64::from(location.stored)).min(room) as usize;
        let source = Source { store: self.number, segment: segment.id, seed: segment.seed };
        loop {
            match buffer.fetch(file, source, segment.length, offset, length)? {
                Ok(true) => {}
                Ok(false) if file.length().is_ok_and(is_emptied) => {
                    let id = segment.id;
                    self.lose_segment(id)?;
                    return Ok(ReadResult::Missing);
                }
                Ok(false) => return Ok(ReadResult::Damaged),
                Err(why) => {
                    let path = self.path(location.segment, "seg");
                    return Err(self.failed("read", &path, &why));
                }
            }
            buffer.header = Header::decode(&buffer.bytes[buffer.from..], &self.checks, segment.seed, offset);
            let whole = buffer.header.as_ref().map_or(0, |header| HEADER + header.stored as usize);
            if whole <= length {
                break;
            }
            // A snapshot may have the wrong length; the record's own header counts.
            if whole as u64 > room || buffer.header.as_ref().is_some_and(|header| header.stored > longest) {
                buffer.header = None;
                return Ok(ReadResult::Damaged);
            }
            length = whole;
        }
        if buffer.header.is_some_and(|header| header.raw > longest) {
            buffer.header = None;
            return Ok(ReadResult::TooLong);
        }
        let is_whole =
            buffer.record().is_some_and(|(header, payload)| self.checks.payload(payload) == header.payload_hash);
        if !is_whole {
            buffer.header = None;
        }
        Ok(if is_whole { ReadResult::Whole } else { ReadResult::Damaged })
    }

    /// The open file of a segment; `None` if the segment is missing.
    pub(super) fn file(&mut self, id: u64) -> Result<Option<SharedFile>> {
        let position = self.open_segment(id)?;
        Ok(position.and_then(|position| self.segments[position].file.clone()))
    }

    /// Open a segment's file if it is closed. Returns its position in the list; `None` if the segment is missing.
    fn open_segment(&mut self, id: u64) -> Result<Option<usize>> {
        match self.segment_position(id) {
            Some(position) if self.segments[position].file.is_some() => Ok(Some(position)),
            Some(position) => self.open_file(id, position),
            None => Ok(None),
        }
    }

    fn open_file(&mut self, id: u64, position: usize) -> Result<Option<usize>> {
        let path = self.path(id, "seg");
        let opened = self.io.open(&path).and_then(|file| {
            let mut heads = [0; HEADS];
            let read = read_exact_at(&*file, &mut heads, 0)?;
            Ok((if read { decode_heads(&heads, id, self.checks.format) } else { Head::Damaged }, file.length()?, file))
        });
        let (head, length, file) = match opened {
            Ok(opened) => opened,
            Err(why) if why.kind() == ErrorKind::NotFound => return Ok(None),
            Err(why) if is_refused(&why) => return self.set_aside(id, &path, &why).map(|()| None),
            Err(why) => return Err(self.failed("open", &path, &why)),
        };
        if self.open_files >= OPEN_FILES {
            self.close_files();
        }
        self.open_files += 1;
        if is_emptied(length) {
            self.lose_segment(id)?;
            return Ok(None);
        }
        let segment = &mut self.segments[position];
        // The file was replaced, or the snapshot belongs to another file. If the heads are damaged, the checksums of
        // the records decide.
        if let Head::Ours { seed } = head
            && seed != segment.seed
        {
            self.load_anew(id, seed)?;
            return Ok(None);
        }
        segment.length = segment.length.min(length);
        segment.file = Some(file);
        Ok(Some(position))
    }

    /// Forget a segment that was emptied to be deleted. A snapshot of it may be left over, so it counts as damaged
    /// until its file is missing.
    fn lose_segment(&mut self, id: u64) -> Result<()> {
        self.abandon(|own| own == id);
        self.drop_segments(|known| known == id);
        self.add_segment(Segment::new(id, 0, SegmentState::Damaged)).map(drop)
    }

    /// Close all files that can be reopened.
    pub(super) fn close_files(&mut self) {
        let writing = self.writer.as_ref().map(|writer| writer.id);
        self.open_files = 0;
        for segment in self.segments.iter_mut().filter(|segment| Some(segment.id) != writing) {
            segment.file = None;
        }
    }
}

/// Decompress a payload. False if it is not valid LZ4 of the expected length.
fn decompress(header: &Header, payload: &[u8], out: &mut Vec<u8>) -> Result<bool> {
    if u64::from(header.raw) > u64::from(header.stored) * MOST_OF_A_BYTE {
        return Ok(false);
    }
    let length = header.raw as usize;
    resize(out, length)?;
    Ok(lz4_flex::block::decompress_into(payload, out).is_ok_and(|made| made == length))
}
