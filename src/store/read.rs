//! Getting values: one read, three checks.

use std::io::ErrorKind;
use std::sync::Arc;

use super::format::{Form, HEADER, HEADS, Head, Header, UNIT, decode_heads, payload_hash};
use super::index::Entry;
use super::io::{File, read_exact_at};
use super::snapshot::Row;
use super::{Meta, Name, Store};
use crate::base::{Result, error};

/// A value may be moved by another process while it is looked for, but not for ever.
const ATTEMPTS: usize = 8;
/// LZ4 cannot make more of a byte than this.
const MOST_OF_A_BYTE: u64 = 255;
/// Files kept open for reading.
const OPEN_FILES: usize = 64;

/// What became of a record where the index says that it is.
pub(super) enum Found {
    /// The header and the payload are in the buffer, and right.
    Whole(Header),
    /// Something else is there.
    Damaged,
    /// The segment is not there any more.
    Gone,
}

impl Store {
    /// Read a value into `out`, replacing what is there; `None` if there is none. A value that was damaged is forgotten.
    pub fn get(&mut self, name: &Name, out: &mut Vec<u8>) -> Result<Option<Meta>> {
        for _ in 0..ATTEMPTS {
            let Some(position) = self.index.live(name) else {
                out.clear();
                return Ok(None);
            };
            let entry = self.index.entries[position];
            match self.read_value(&entry, out)? {
                Found::Whole(_) => return Ok(Some(Meta::of(&entry))),
                Found::Damaged => {
                    out.clear();
                    self.counts.damaged += 1;
                    self.bury(position);
                    return Ok(None);
                }
                Found::Gone => self.refresh()?,
            }
        }
        Err(error!(Busy, "other processes keep moving a value of '{}': call again", self.directory.display()))
    }

    fn read_value(&mut self, entry: &Entry, out: &mut Vec<u8>) -> Result<Found> {
        if entry.row.form == Form::Plain {
            let found = self.read_record(entry, out)?;
            if let Found::Whole(_) = found {
                out.copy_within(HEADER.., 0);
                out.truncate(out.len() - HEADER);
            }
            return Ok(found);
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let found = self.read_record(entry, &mut scratch).and_then(|found| match found {
            Found::Whole(header) => {
                Ok(if decompress(&header, &scratch[HEADER..], out)? { found } else { Found::Damaged })
            }
            _ => Ok(found),
        });
        self.scratch = scratch;
        found
    }

    /// Read a record, header and all, and check all of it.
    pub(super) fn read_record(&mut self, entry: &Entry, buffer: &mut Vec<u8>) -> Result<Found> {
        let Some(file) = self.file(entry.segment)? else { return Ok(Found::Gone) };
        let Some(segment) = self.segment_mut(entry.segment) else { return Ok(Found::Gone) };
        let (seed, offset) = (segment.seed, u64::from(entry.row.unit) * UNIT);
        // Nothing is taken for a length that the file does not have.
        if offset + HEADER as u64 + u64::from(entry.row.stored) > segment.length {
            return Ok(Found::Damaged);
        }
        let length = HEADER + entry.row.stored as usize;
        buffer.try_reserve(length.saturating_sub(buffer.len()))?;
        buffer.resize(length, 0);
        match read_exact_at(&*file, buffer, offset) {
            Ok(true) => {}
            Ok(false) => return Ok(Found::Damaged),
            Err(why) => {
                let path = self.path(entry.segment, "seg");
                return Err(self.failed("read", &path, &why));
            }
        }
        let header = Header::decode(buffer, seed, offset)
            .filter(|header| Row::new(header, entry.row.unit) == entry.row)
            .filter(|header| payload_hash(&buffer[HEADER..]) == header.payload_hash);
        Ok(header.map_or(Found::Damaged, Found::Whole))
    }

    /// The open file of a segment; `None` if it is not there any more.
    pub(super) fn file(&mut self, id: u64) -> Result<Option<Arc<dyn File>>> {
        match self.segment_mut(id) {
            None => return Ok(None),
            Some(segment) if segment.file.is_some() => return Ok(segment.file.clone()),
            Some(_) => {}
        }
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
        let Some(segment) = self.segment_mut(id) else { return Ok(None) };
        // Another file took the name, or the snapshot is another file's. With damaged heads, the checksums of its records
        // will tell.
        if matches!(head, Head::Ours { seed } if seed != segment.seed) {
            self.load_anew(id)?;
            return Ok(None);
        }
        segment.length = segment.length.min(length);
        segment.file = Some(Arc::clone(&file));
        Ok(Some(file))
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
