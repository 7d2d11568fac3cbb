//! The blocks of a key map, at the end of the file: blocks that nobody wants need not be read.
//!
//! The index is a record of its own. A last record of a fixed length has its offset. Readers that do not know them, and
//! readers of files without them, read all blocks.

use crate::base::{Result, try_push};
use crate::pipeline::files::Cursor;
use crate::store::{LONGEST_RECORD, LogReader, LogRecord, LogWriter, record_bytes};

/// Kind of the record with the blocks.
pub const INDEX: u8 = 3;
/// Kind of the last record, with the offset of the index.
const END: u8 = 4;
/// Bytes of the payload of the last record.
const END_BYTES: usize = 8;

/// The set of a stage. Stages from 63 on share a bit.
pub fn stage_bit(stage: u32) -> u64 {
    1 << stage.min(63)
}

/// Gathers the blocks of a file that is written.
#[derive(Default)]
pub struct IndexWriter {
    bytes: Vec<u8>,
    lines: u32,
    stages: u64,
}

impl IndexWriter {
    /// Count a line of the block.
    pub fn line(&mut self, stage: u32) {
        self.lines += 1;
        self.stages |= stage_bit(stage);
    }

    /// The block is complete, and will stand at an offset. `key`: its first one.
    pub fn block(&mut self, offset: u64, key: &str) -> Result<()> {
        self.bytes.try_reserve(22 + key.len())?;
        self.bytes.extend_from_slice(&offset.to_le_bytes());
        self.bytes.extend_from_slice(&self.stages.to_le_bytes());
        self.bytes.extend_from_slice(&self.lines.to_le_bytes());
        self.bytes.extend_from_slice(&(key.len() as u16).to_le_bytes());
        self.bytes.extend_from_slice(key.as_bytes());
        (self.lines, self.stages) = (0, 0);
        Ok(())
    }

    /// Whether this is the index of the blocks.
    pub fn is(&self, index: &[u8]) -> bool {
        self.bytes == index
    }

    /// Write the index. Very large files have none.
    pub fn write(self, log: &mut LogWriter) -> Result<()> {
        if self.bytes.len() > LONGEST_RECORD {
            return Ok(());
        }
        let offset = log.length();
        log.push(&LogRecord { kind: INDEX, ..LogRecord::default() }, &self.bytes)?;
        log.push(&LogRecord { kind: END, ..LogRecord::default() }, &offset.to_le_bytes())
    }
}

/// A block of a file.
#[derive(Clone, Copy)]
pub struct Block {
    pub offset: u64,
    /// The stages of its lines: see [`stage_bit`].
    pub stages: u64,
    pub lines: u32,
    /// Its first key: a part of [`Index::bytes`].
    begin: u32,
    length: u16,
}

/// The blocks of a file, in order.
#[derive(Default)]
pub struct Index {
    bytes: Vec<u8>,
    blocks: Vec<Block>,
}

impl Index {
    /// The index of a file. `None`: it has none, or an invalid one.
    pub fn read(log: &LogReader) -> Result<Option<Self>> {
        let end = record_bytes(END_BYTES);
        let Some(offset) = log.length().checked_sub(end).filter(|offset| offset % 16 == 0) else { return Ok(None) };
        let Some(offset) = Self::record(log, offset, END)? else { return Ok(None) };
        let Some(offset) = offset.first_chunk().map(|bytes| u64::from_le_bytes(*bytes)) else { return Ok(None) };
        if offset % 16 != 0 || offset >= log.length() {
            return Ok(None);
        }
        match Self::record(log, offset, INDEX)? {
            Some(bytes) => Self::decode(bytes),
            None => Ok(None),
        }
    }

    /// The payload of the record at an offset.
    fn record(log: &LogReader, offset: u64, kind: u8) -> Result<Option<Vec<u8>>> {
        let mut cursor = log.cursor_at(offset)?;
        let Some((record, payload)) = cursor.next(log)? else { return Ok(None) };
        if record.kind != kind || cursor.lost().damaged > 0 {
            return Ok(None);
        }
        crate::base::try_to_vec(&cursor.bytes()[payload]).map(Some)
    }

    fn decode(bytes: Vec<u8>) -> Result<Option<Self>> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut cursor = Cursor(&bytes);
        while !cursor.is_at_end() {
            let mut block = || {
                let (offset, stages, lines, length) = (cursor.u64()?, cursor.u64()?, cursor.u32()?, cursor.u16()?);
                let begin = (bytes.len() - cursor.0.len()) as u32;
                cursor.take(length.into())?;
                Some(Block { offset, stages, lines, begin, length })
            };
            let is_after = |block: &Block| blocks.last().is_none_or(|last| last.offset < block.offset);
            let Some(block) = block().filter(|block| block.offset % 16 == 0 && is_after(block)) else {
                return Ok(None);
            };
            try_push(&mut blocks, block)?;
        }
        Ok(Some(Self { bytes, blocks }))
    }

    /// A block by its number.
    pub fn block(&self, number: usize) -> Option<&Block> {
        self.blocks.get(number)
    }

    /// The first key of a block. No key of the block before is greater.
    pub fn first_key(&self, number: usize) -> Option<&[u8]> {
        let Block { begin, length, .. } = self.block(number)?;
        Some(&self.bytes[*begin as usize..][..usize::from(*length)])
    }

    /// Lines of all blocks.
    pub fn lines(&self) -> u64 {
        self.blocks.iter().map(|block| u64::from(block.lines)).sum()
    }
}
