//! Sorts records that memory may not hold: an external merge sort.
//!
//! Records gather in memory. When a limit is reached, they are sorted and written to a temporary file, as a *part*. At the
//! end, the parts are merged as they are read. Records that fit in memory need no file. Records with equal keys keep the
//! order in which they were added.
//!
//! The temporary file stands beside the output. It is deleted right after it was opened, so the system frees its bytes at
//! any end of the process. A kill between the two leaves an empty file, until the next sort for the same output.
//!
//! A record in memory and in the file: length of the payload (4 bytes), key, payload.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::ErrorKind::{AlreadyExists, PermissionDenied};
use std::io::IoSlice;
use std::path::{Path, PathBuf};

use super::Cursor;
use crate::base::{Error, Result, Text, error, try_path, try_path_join, try_push};
use crate::pipeline::PipelineKey;
use crate::store::hash;
use crate::store::io::{SharedFile, SharedIo, read_exact_at};
use crate::store::io_error;

/// Bytes of a key.
const KEY: usize = 40;
/// A key. Records are sorted by its bytes.
pub type SortKey = [u8; KEY];
/// Bytes before a payload.
const HEAD: usize = 4 + KEY;
/// Bytes that are written together.
const WRITTEN: usize = 256 << 10;
/// Bytes that all parts together are read with, and the least and the most of a part.
const READ: usize = 8 << 20;
const LEAST_READ: usize = 4 << 10;
const MOST_READ: usize = 256 << 10;
/// Names of temporary files beside an output.
const NAMES: u32 = 8;
/// Records between two calls of [`Watch::note`]'s function.
const WATCHED: u32 = if cfg!(test) { 16 } else { 1 << 16 };

/// Bytes of a record that counts for two.
const LONG: usize = 1 << 10;

/// The key of a record with a name.
pub fn by_name(name: &PipelineKey) -> SortKey {
    let mut key = [0; KEY];
    key[..32].copy_from_slice(&name.0);
    key
}

/// The key of a record with a number and a name: the number decides first.
pub fn by_number(number: u64, name: &PipelineKey) -> SortKey {
    let mut key = [0; KEY];
    key[..8].copy_from_slice(&number.to_be_bytes());
    key[8..].copy_from_slice(&name.0);
    key
}

/// The key of a record with two numbers.
pub fn by_numbers(first: u64, second: u64) -> SortKey {
    let mut key = [0; KEY];
    key[..8].copy_from_slice(&first.to_be_bytes());
    key[8..16].copy_from_slice(&second.to_be_bytes());
    key
}

/// The numbers in a key that [`by_numbers`] made.
pub fn numbers_of(key: &SortKey) -> (u64, u64) {
    let number = |at: usize| key[at..].first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
    (number(0), number(8))
}

/// The name in a key that [`by_name`] made.
pub fn name_of(key: &SortKey) -> PipelineKey {
    let mut name = PipelineKey::default();
    name.0.copy_from_slice(&key[..32]);
    name
}

/// The name in a key that [`by_number`] made.
pub fn numbered_name(key: &SortKey) -> PipelineKey {
    let mut name = PipelineKey::default();
    name.0.copy_from_slice(&key[8..]);
    name
}

/// Calls a function now and then during long work.
pub struct Watch<'a> {
    call: &'a mut dyn FnMut(u64) -> Result<()>,
    noted: u32,
    bytes: u64,
}

impl<'a> Watch<'a> {
    /// Calls `call` once for many records, with the bytes of all records so far.
    pub fn new(call: &'a mut dyn FnMut(u64) -> Result<()>) -> Self {
        Self { call, noted: 0, bytes: 0 }
    }

    /// Calls for so many records.
    pub fn calls(records: u64) -> u64 {
        records / u64::from(WATCHED)
    }

    /// A record of so many bytes is done. A long one counts for several. The error of the function ends the work.
    #[inline]
    pub fn note(&mut self, bytes: usize) -> Result<()> {
        self.bytes += bytes as u64;
        self.noted += 1 + (bytes / LONG) as u32;
        if self.noted < WATCHED {
            return Ok(());
        }
        self.noted = 0;
        (self.call)(self.bytes)
    }
}

/// Where a sort may write, and the memory that it may use.
#[derive(Clone)]
pub struct Scratch {
    io: SharedIo,
    /// The output.
    path: PathBuf,
    memory: usize,
}

impl Scratch {
    /// Temporary files beside `output`. `memory`: bytes of records in memory.
    pub fn beside(io: &SharedIo, output: &Path, memory: usize) -> Result<Self> {
        Ok(Self { io: io.clone(), path: try_path(output)?, memory })
    }

    /// Another one for the same output.
    pub fn try_clone(&self) -> Result<Self> {
        Self::beside(&self.io, &self.path, self.memory)
    }

    /// Bytes of records in memory.
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// A file for reading and appending, without a name.
    fn create(&self) -> Result<SharedFile> {
        let hash = hash(self.path.as_os_str().as_encoded_bytes());
        let path = |number: u32| {
            let name = Text::<48>::format(format_args!(".hobgoblin-{hash:016x}-{number}.sort"));
            try_path_join(self.path.parent().unwrap_or(Path::new("")), name.as_str())
        };
        // Those of a process that was killed.
        for number in 0..NAMES {
            let _ = self.io.remove(&path(number)?);
        }
        let mut number = 0;
        loop {
            let path = path(number)?;
            number += 1;
            match self.io.create(&path) {
                Ok(file) => {
                    let _ = self.io.remove(&path);
                    return Ok(file);
                }
                // Another process is about to remove it, or the system keeps the name until the file is closed.
                Err(why) if matches!(why.kind(), AlreadyExists | PermissionDenied) && number < NAMES => {}
                Err(why) => return Err(io_error("create", &path, &why)),
            }
        }
    }
}

/// Takes records in any order.
pub struct Sorter {
    scratch: Scratch,
    /// Most bytes in memory.
    limit: usize,
    records: Vec<u8>,
    /// The first 8 bytes of each key as a number, and where its record begins.
    index: Vec<(u64, u64)>,
    file: Option<SharedFile>,
    parts: Vec<(u64, u64)>,
    /// Bytes of the file, and those that are not written yet.
    length: u64,
    unwritten: Vec<u8>,
}

impl Sorter {
    /// `limit`: bytes of records in memory.
    pub fn new(scratch: &Scratch, limit: usize) -> Result<Self> {
        Ok(Self {
            scratch: scratch.try_clone()?,
            limit,
            records: Vec::new(),
            index: Vec::new(),
            file: None,
            parts: Vec::new(),
            length: 0,
            unwritten: Vec::new(),
        })
    }

    /// Bytes in the temporary file.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Add a record, whose payload is given in two pieces. After an error, begin again.
    pub fn push(&mut self, key: &SortKey, payload: [&[u8]; 2]) -> Result<()> {
        let size = HEAD + payload[0].len() + payload[1].len();
        if self.records.len() + 16 * self.index.len() + size > self.limit && !self.index.is_empty() {
            self.write_part()?;
        }
        if self.records.capacity() - self.records.len() < size {
            // The double size at most, and no more than the limit.
            let more = self.records.len().min(self.limit.saturating_sub(self.records.len()));
            self.records.try_reserve_exact(more.max(size))?;
        }
        try_push(&mut self.index, (begin_of(key), self.records.len() as u64))?;
        put(&mut self.records, key, payload);
        Ok(())
    }

    fn write_part(&mut self) -> Result<()> {
        sort_index(&mut self.index, &self.records);
        let (records, index) = (std::mem::take(&mut self.records), std::mem::take(&mut self.index));
        self.write_sorted(|part| {
            let mut held = index.iter().filter_map(|&(_, at)| record_at(&records[at as usize..]));
            held.try_for_each(|(key, payload, _)| part.put(key, [payload, &[]]))
        })?;
        (self.records, self.index) = (records, index);
        self.records.clear();
        self.index.clear();
        Ok(())
    }

    /// Write a part whose records `write` puts in their order.
    pub fn write_sorted(&mut self, write: impl FnOnce(&mut PartWriter<'_>) -> Result<()>) -> Result<()> {
        if self.file.is_none() {
            self.file = Some(self.scratch.create()?);
        }
        let begin = self.length;
        write(&mut PartWriter(self))?;
        self.flush()?;
        self.unwritten = Vec::new();
        try_push(&mut self.parts, (begin, self.length))
    }

    fn flush(&mut self) -> Result<()> {
        let Some(file) = self.file.as_ref().filter(|_| !self.unwritten.is_empty()) else { return Ok(()) };
        let failed = |why| io_error("write a temporary file beside", &self.scratch.path, &why);
        file.append(&mut [IoSlice::new(&self.unwritten)]).map_err(failed)?;
        self.length += self.unwritten.len() as u64;
        self.unwritten.clear();
        Ok(())
    }

    /// All records, in order.
    pub fn finish(mut self) -> Result<Sorted> {
        if self.file.is_some() && !self.index.is_empty() {
            self.write_part()?;
        }
        sort_index(&mut self.index, &self.records);
        let Self { scratch, mut records, mut index, file, parts, .. } = self;
        if file.is_some() {
            (records, index) = (Vec::new(), Vec::new());
        }
        Ok(Sorted { path: scratch.path, records, index, file, parts })
    }
}

/// Writes the records of a part.
pub struct PartWriter<'a>(&'a mut Sorter);

impl PartWriter<'_> {
    /// Add the next record, whose payload is given in two pieces.
    pub fn put(&mut self, key: &SortKey, payload: [&[u8]; 2]) -> Result<()> {
        let (sorter, size) = (&mut *self.0, HEAD + payload[0].len() + payload[1].len());
        if sorter.unwritten.len() + size > WRITTEN {
            sorter.flush()?;
        }
        sorter.unwritten.try_reserve(size.max(WRITTEN - sorter.unwritten.len().min(WRITTEN)))?;
        put(&mut sorter.unwritten, key, payload);
        Ok(())
    }
}

/// Append a record. There is room for it.
fn put(out: &mut Vec<u8>, key: &SortKey, payload: [&[u8]; 2]) {
    let length = (payload[0].len() + payload[1].len()) as u32;
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(key);
    payload.iter().for_each(|piece| out.extend_from_slice(piece));
}

/// The key and the payload of the record at the begin of some bytes, and its size. `None`: its end is missing.
fn record_at(bytes: &[u8]) -> Option<(&SortKey, &[u8], usize)> {
    let size = size_at(bytes)?;
    Some((bytes.get(4..HEAD)?.first_chunk()?, bytes.get(HEAD..size)?, size))
}

/// The size of the record at the begin of some bytes.
fn size_at(bytes: &[u8]) -> Option<usize> {
    Cursor(bytes).u32().map(|length| HEAD + length as usize)
}

fn begin_of(key: &SortKey) -> u64 {
    key.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

fn sort_index(index: &mut [(u64, u64)], records: &[u8]) {
    let key = |at: u64| records.get(at as usize + 4..).and_then(|rest| rest.first_chunk::<KEY>());
    // The begin of a key decides most comparisons. Those of equal keys stand in the order of addition.
    index.sort_unstable_by(|one, other| {
        one.0.cmp(&other.0).then_with(|| key(one.1).cmp(&key(other.1))).then(one.1.cmp(&other.1))
    });
}

/// Sorted records, which can be read several times.
pub struct Sorted {
    path: PathBuf,
    records: Vec<u8>,
    index: Vec<(u64, u64)>,
    file: Option<SharedFile>,
    parts: Vec<(u64, u64)>,
}

impl Sorted {
    /// Pass all records to `each`, in order.
    pub fn for_each(&self, watch: &mut Watch<'_>, mut each: impl FnMut(&SortKey, &[u8]) -> Result<()>) -> Result<()> {
        let Some(file) = &self.file else {
            let mut held = self.index.iter().filter_map(|&(_, at)| record_at(&self.records[at as usize..]));
            return held.try_for_each(|(key, payload, _)| {
                each(key, payload)?;
                watch.note(payload.len())
            });
        };
        let room = (READ / self.parts.len().max(1)).clamp(LEAST_READ, MOST_READ);
        let (mut readers, mut next) = (Vec::new(), BinaryHeap::new());
        next.try_reserve(self.parts.len())?;
        for (number, &(at, end)) in self.parts.iter().enumerate() {
            let mut reader = PartReader { at, end, bytes: Vec::new(), begin: 0, room };
            if let Some(key) = reader.fill(file, &self.path)? {
                next.push(Reverse((key, number)));
            }
            try_push(&mut readers, reader)?;
        }
        // The part of the last record stays at the top, until it is known where its next record belongs.
        while let Some(mut first) = next.peek_mut() {
            let Reverse((key, number)) = *first;
            let reader = &mut readers[number];
            let (_, payload, size) = record_at(&reader.bytes[reader.begin..]).ok_or_else(|| damaged(&self.path))?;
            each(&key, payload)?;
            watch.note(payload.len())?;
            reader.begin += size;
            match reader.fill(file, &self.path)? {
                Some(key) => first.0.0 = key,
                None => drop(std::collections::binary_heap::PeekMut::pop(first)),
            }
        }
        Ok(())
    }
}

fn damaged(path: &Path) -> Error {
    error!(Io, "the temporary file beside '{}' is not as it was written: check the disk", path.display())
}

/// Reads a part from begin to end.
struct PartReader {
    /// The bytes of the file that are not read yet.
    at: u64,
    end: u64,
    bytes: Vec<u8>,
    /// The next record begins there.
    begin: usize,
    /// Bytes that are read together.
    room: usize,
}

impl PartReader {
    /// Have the next record in memory. Returns its key, and `None` at the end.
    fn fill(&mut self, file: &SharedFile, path: &Path) -> Result<Option<SortKey>> {
        loop {
            let rest = &self.bytes[self.begin..];
            if let Some((key, ..)) = record_at(rest) {
                return Ok(Some(*key));
            }
            if self.at == self.end {
                return if rest.is_empty() { Ok(None) } else { Err(damaged(path)) };
            }
            let wanted = size_at(rest).unwrap_or(0).max(self.room);
            self.bytes.drain(..self.begin);
            self.begin = 0;
            let have = self.bytes.len();
            let more = ((wanted - have) as u64).min(self.end - self.at) as usize;
            self.bytes.try_reserve_exact(more)?;
            self.bytes.resize(have + more, 0);
            let read = read_exact_at(&**file, &mut self.bytes[have..], self.at);
            if !read.map_err(|why| io_error("read a temporary file beside", path, &why))? {
                return Err(damaged(path));
            }
            self.at += more as u64;
        }
    }
}
