//! Getting values: one read, three checks.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use super::format::{Form, HEADER, HEADS, Head, Header, UNIT, decode_heads, hash};
use super::index::{Entry, Place};
use super::io::{File, read_exact_at};
use super::{Name, Store};
use crate::base::{Result, error};

/// A value may be moved by another process while it is looked for, but not for ever.
const ATTEMPTS: usize = 8;
/// LZ4 cannot make more of a byte than this.
const MOST_OF_A_BYTE: u64 = 255;
/// Bytes.
const CACHE_LINE: usize = 64;
/// Files kept open for reading.
const OPEN_FILES: usize = 64;

/// What became of a record where the index says that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// It is in the buffer, and right.
    Whole,
    /// Something else is there.
    Damaged,
    /// The segment is not there any more.
    Gone,
}

/// Where a stretch was read from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Source {
    /// The number of a [`Store`]: segments that were shipped all have one id and one seed.
    store: u64,
    segment: u64,
    seed: u64,
}

/// Memory to read values into, again and again. Who reads one value after the other as they lie on the disk is read to
/// ahead, in ever greater strides.
#[derive(Debug, Default)]
pub struct Buffer {
    /// A stretch of a segment. Longer than what is filled, so that nothing is zeroed twice.
    bytes: Vec<u8>,
    /// Where in `bytes` it begins: as far into a cache line as in the file, which is copied fastest.
    start: usize,
    filled: usize,
    source: Source,
    /// Offset of the stretch.
    begin: u64,
    /// How much to read at a time.
    stride: usize,
    /// Where in `bytes` the record begins that was asked for last.
    from: usize,
    /// Its header, if it is whole.
    header: Option<Header>,
    /// Its value, if that had to be decompressed.
    value: Vec<u8>,
}

impl Buffer {
    const LEAST_STRIDE: usize = 64 << 10;
    const GREATEST_STRIDE: usize = 256 << 10;

    /// Bytes of memory held.
    pub fn memory_used(&self) -> usize {
        self.bytes.capacity() + self.value.capacity()
    }

    /// The last record, if it was found whole, and its payload.
    pub(super) fn record(&self) -> Option<(&Header, &[u8])> {
        self.header.as_ref().map(|header| (header, &self.bytes[self.from + HEADER..][..header.stored as usize]))
    }

    /// Whether the last record was found whole, and is a value of that name.
    fn has_value_of(&self, name: &Name) -> bool {
        self.header.as_ref().is_some_and(|header| header.form.is_value() && header.name() == *name)
    }

    /// What the last value cost to make, and the value.
    fn value(&self) -> Option<(u32, &[u8])> {
        let (header, payload) = self.record()?;
        Some((header.build_us, if header.form == Form::Lz4 { &self.value } else { payload }))
    }

    /// Have these bytes of a file that goes to `end`, as far as is known. False if it is shorter.
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
            self.bytes.try_reserve(room - self.bytes.len())?;
            self.bytes.resize(room, 0);
        }
        self.start = (offset as usize).wrapping_sub(self.bytes.as_ptr().addr()) % CACHE_LINE;
        self.from = self.start;
        let mut read = read_exact_at(file, &mut self.bytes[self.start..][..wanted], offset);
        if !matches!(read, Ok(true)) && wanted > length {
            // What lies behind it is none of its business.
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
    /// Read a value into `out`, replacing what is there; `None` if there is none, else what it cost to make, in
    /// microseconds. A value that was damaged is forgotten.
    pub fn get(&mut self, name: &Name, out: &mut Vec<u8>) -> Result<Option<u32>> {
        out.clear();
        let mut buffer = std::mem::take(&mut self.buffer);
        let found = self.view(name, &mut buffer).and_then(|found| {
            let Some((build_us, value)) = found else { return Ok(None) };
            out.try_reserve(value.len())?;
            out.extend_from_slice(value);
            Ok(Some(build_us))
        });
        self.buffer = buffer;
        found
    }

    /// Read a value and look at it where it was read to; else as [`get`](Self::get).
    pub fn view<'a>(&mut self, name: &Name, buffer: &'a mut Buffer) -> Result<Option<(u32, &'a [u8])>> {
        // Mostly it lies there: a record says itself whose it is.
        if let Some(place) = self.index.likely_place(name.hash())
            && self.read_value(place, buffer)? == Found::Whole
            && buffer.has_value_of(name)
        {
            return Ok(buffer.value());
        }
        for _ in 0..ATTEMPTS {
            let Some(position) = self.index.live(name) else { return Ok(None) };
            match self.read_value(self.index.entries[position].place(), buffer)? {
                Found::Whole if buffer.has_value_of(name) => return Ok(buffer.value()),
                Found::Gone => self.refresh()?,
                Found::Whole | Found::Damaged => {
                    self.counts.damaged += 1;
                    self.bury(position);
                    return Ok(None);
                }
            }
        }
        Err(error!(Busy, "other processes keep moving a value of '{}': call again", self.directory.display()))
    }

    /// Read a value, and check all of it but whose it is.
    fn read_value(&mut self, place: Place, buffer: &mut Buffer) -> Result<Found> {
        let found = self.read_place(place, buffer)?;
        if buffer.header.as_ref().is_some_and(|header| header.form == Form::Lz4) {
            let mut value = std::mem::take(&mut buffer.value);
            let done = buffer.record().map_or(Ok(false), |(header, payload)| decompress(header, payload, &mut value));
            buffer.value = value;
            return Ok(if done? { found } else { Found::Damaged });
        }
        Ok(found)
    }

    /// Read a value's record, header and all, and check all of it.
    pub(super) fn read_record(&mut self, entry: &Entry, buffer: &mut Buffer) -> Result<Found> {
        let found = self.read_place(entry.place(), buffer)?;
        let is_another = found == Found::Whole && !buffer.has_value_of(&entry.name());
        Ok(if is_another { Found::Damaged } else { found })
    }

    /// Read a record, and check all of it but whether it is the right one.
    fn read_place(&mut self, place: Place, buffer: &mut Buffer) -> Result<Found> {
        buffer.header = None;
        let Some(listed) = self.open_segment(place.segment)? else { return Ok(Found::Gone) };
        let segment = &self.segments[listed];
        let Some(file) = segment.file.as_deref() else { return Ok(Found::Gone) };
        let offset = u64::from(place.unit) * UNIT;
        // Nothing is taken for a length that the file does not have.
        if offset + HEADER as u64 + u64::from(place.stored) > segment.length {
            return Ok(Found::Damaged);
        }
        let Some(length) = HEADER.checked_add(place.stored as usize) else { return Ok(Found::Damaged) };
        let source = Source { store: self.number, segment: segment.id, seed: segment.seed };
        match buffer.fetch(file, source, segment.length, offset, length)? {
            Ok(true) => {}
            Ok(false) => return Ok(Found::Damaged),
            Err(why) => {
                let path = self.path(place.segment, "seg");
                return Err(self.failed("read", &path, &why));
            }
        }
        buffer.header = Header::decode(&buffer.bytes[buffer.from..], segment.seed, offset);
        buffer.header.take_if(|header| header.stored != place.stored);
        let is_whole = buffer.record().is_some_and(|(header, payload)| hash(payload) == header.payload_hash);
        if !is_whole {
            buffer.header = None;
        }
        Ok(if is_whole { Found::Whole } else { Found::Damaged })
    }

    /// The open file of a segment; `None` if it is not there any more.
    pub(super) fn file(&mut self, id: u64) -> Result<Option<Arc<dyn File>>> {
        let place = self.open_segment(id)?;
        Ok(place.and_then(|place| self.segments[place].file.clone()))
    }

    /// Have a segment's file open. Its place in the list; `None` if it is not there any more.
    fn open_segment(&mut self, id: u64) -> Result<Option<usize>> {
        match self.place(id) {
            Some(place) if self.segments[place].file.is_some() => Ok(Some(place)),
            Some(place) => self.open_file(id, place),
            None => Ok(None),
        }
    }

    #[cold]
    fn open_file(&mut self, id: u64, place: usize) -> Result<Option<usize>> {
        let path = self.path(id, "seg");
        let opened = self.io.open(&path).and_then(|file| {
            let mut heads = [0; HEADS];
            let read = read_exact_at(&*file, &mut heads, 0)?;
            Ok((if read { decode_heads(&heads, id) } else { Head::Damaged }, file.length()?, file))
        });
        let (head, length, file) = match opened {
            Ok(opened) => opened,
            Err(why) if why.kind() == ErrorKind::NotFound => return Ok(None),
            Err(why) => return Err(self.failed("open", &path, &why)),
        };
        if self.open_files >= OPEN_FILES {
            self.close_files();
        }
        self.open_files += 1;
        let segment = &mut self.segments[place];
        // Another file took the name, or the snapshot is another file's. With damaged heads, the checksums of its records
        // will tell.
        if matches!(head, Head::Ours { seed } if seed != segment.seed) {
            self.load_anew(id)?;
            return Ok(None);
        }
        segment.length = segment.length.min(length);
        segment.file = Some(file);
        Ok(Some(place))
    }

    /// Close all that can be opened again.
    pub(super) fn close_files(&mut self) {
        let writing = self.writer.as_ref().map(|writer| writer.id);
        self.open_files = 0;
        for segment in self.segments.iter_mut().filter(|segment| Some(segment.id) != writing) {
            segment.file = None;
        }
    }
}

/// False if that is not what was compressed.
fn decompress(header: &Header, payload: &[u8], out: &mut Vec<u8>) -> Result<bool> {
    if u64::from(header.raw) > u64::from(header.stored) * MOST_OF_A_BYTE {
        return Ok(false);
    }
    let length = header.raw as usize;
    out.try_reserve(length.saturating_sub(out.len()))?;
    out.resize(length, 0);
    Ok(lz4_flex::block::decompress_into(payload, out).is_ok_and(|made| made == length))
}
