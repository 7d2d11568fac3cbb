//! The form of recordings: a header, and blocks with their length and check sum. `docs/formats.md` describes it byte by
//! byte.
//!
//! A room encodes its calls into one stream of bytes. A [`BlockWriter`] cuts the stream into blocks for the host, and a
//! [`BlockReader`] joins them again. A recording that was cut off or damaged is readable up to that place.

use std::fmt;

use super::{Result, error, try_filled};

/// The version of the library: major, minor, patch and 0.
pub const LIBRARY: [u8; 4] = [
    number(env!("CARGO_PKG_VERSION_MAJOR")),
    number(env!("CARGO_PKG_VERSION_MINOR")),
    number(env!("CARGO_PKG_VERSION_PATCH")),
    0,
];
/// Bytes of magic, format and library.
pub const HEADER: usize = 16;
/// Bytes of a block before its payload: check sum and length.
pub const BLOCK_HEAD: usize = 8;
/// Most bytes of a payload.
pub const MOST_PAYLOAD: usize = 1 << 16;

/// The kind and the format of a recording.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The first bytes of a recording: a name of six letters and a line end. A transfer as text changes the line end, so
    /// it is detected.
    pub magic: [u8; 8],
    /// The version of the format.
    pub format: u32,
}

/// The header of a recording by this library.
pub fn header(kind: Kind) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(&kind.magic);
    header[8..12].copy_from_slice(&kind.format.to_le_bytes());
    header[12..].copy_from_slice(&LIBRARY);
    header
}

/// Receives a recording in pieces. Dropped when the recording is stopped, or with the recorded object.
pub trait Sink: Send + Sync {
    /// Receive the next bytes. All pieces concatenated are the recording.
    fn write(&mut self, bytes: &[u8]);
}

impl<F: FnMut(&[u8]) + Send + Sync> Sink for F {
    fn write(&mut self, bytes: &[u8]) {
        self(bytes);
    }
}

/// Passes blocks to the sink. It allocates when it is created, and never later.
pub struct BlockWriter {
    sink: Box<dyn Sink>,
    /// A block: its head, then the payload so far.
    buffer: Vec<u8>,
    filled: usize,
}

impl fmt::Debug for BlockWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockWriter").field("filled", &self.filled).finish_non_exhaustive()
    }
}

impl BlockWriter {
    /// Write the header. Blocks have at most `block` bytes.
    pub fn new(mut sink: Box<dyn Sink>, kind: Kind, block: usize) -> Result<Self> {
        let buffer = try_filled(0, block)?;
        sink.write(&header(kind));
        Ok(Self { sink, buffer, filled: BLOCK_HEAD })
    }

    /// Add bytes to the stream.
    pub fn bytes(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.filled == self.buffer.len() {
                self.flush();
            }
            let (now, later) = bytes.split_at(bytes.len().min(self.buffer.len() - self.filled));
            self.buffer[self.filled..][..now.len()].copy_from_slice(now);
            self.filled += now.len();
            bytes = later;
        }
    }

    /// Pass the block to the sink, if it has a payload.
    pub fn flush(&mut self) {
        let block = &mut self.buffer[..self.filled];
        if block.len() == BLOCK_HEAD {
            return;
        }
        let length = (block.len() - BLOCK_HEAD) as u32;
        block[4..BLOCK_HEAD].copy_from_slice(&length.to_le_bytes());
        let sum = check_sum(0, &block[4..]);
        block[..4].copy_from_slice(&sum.to_le_bytes());
        self.sink.write(block);
        self.filled = BLOCK_HEAD;
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        self.buffer.capacity()
    }
}

/// Where and why the stream ends too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The block at this byte is incomplete or missing.
    Truncated(usize),
    /// The block at this byte is damaged.
    Damaged(usize),
}

/// Reads the stream from blocks.
#[derive(Debug)]
pub struct BlockReader<'a> {
    data: &'a [u8],
    /// Offset of the next block.
    next: usize,
    /// The unread payload of the present block.
    unread: &'a [u8],
}

impl<'a> BlockReader<'a> {
    /// Read the header. The second value is the version of the library that recorded: major, minor, patch.
    pub fn new(data: &'a [u8], kind: Kind) -> Result<(Self, [u8; 3])> {
        let name = String::from_utf8_lossy(&kind.magic[..6]);
        let Some((header, _)) = data.split_first_chunk::<HEADER>() else {
            let size = data.len();
            return Err(error!(
                Malformed,
                "{size} bytes are not a recording: a recording begins with a header of {HEADER} bytes"
            ));
        };
        if header[..8] != kind.magic {
            return Err(error!(
                Malformed,
                "this is not a recording, or it was transferred as text: a recording begins with {name}"
            ));
        }
        let format = u32::from_le_bytes([header[8], header[9], header[10], header[11]]);
        if format != kind.format {
            let ([major, minor, patch, _], reads) = (LIBRARY, kind.format);
            return Err(error!(
                Unsupported,
                "a recording of format {format}: {major}.{minor}.{patch} reads format {reads}; replay it with the \
                 version that recorded it"
            ));
        }
        Ok((Self { data, next: HEADER, unread: &[] }, [header[12], header[13], header[14]]))
    }

    /// Bytes of the recording.
    pub fn size(&self) -> usize {
        self.data.len()
    }

    /// Offset of the next byte.
    pub fn position(&self) -> usize {
        self.next - self.unread.len()
    }

    /// Upper bound of the unread bytes of the stream. Larger counts are invalid.
    pub fn remaining(&self) -> usize {
        self.data.len() - self.position()
    }

    /// Up to `most` bytes, at least one.
    pub fn some(&mut self, most: usize) -> std::result::Result<&'a [u8], Cut> {
        if self.unread.is_empty() {
            self.unread = self.block()?;
        }
        let (now, later) = self.unread.split_at(most.min(self.unread.len()));
        self.unread = later;
        Ok(now)
    }

    /// The next `N` bytes.
    pub fn exact<const N: usize>(&mut self) -> std::result::Result<[u8; N], Cut> {
        let mut bytes = [0; N];
        let mut filled = 0;
        while filled < N {
            let some = self.some(N - filled)?;
            bytes[filled..][..some.len()].copy_from_slice(some);
            filled += some.len();
        }
        Ok(bytes)
    }

    /// The payload of the next block.
    fn block(&mut self) -> std::result::Result<&'a [u8], Cut> {
        let cut_off = Cut::Truncated(self.next);
        let rest = &self.data[self.next..];
        let (head, rest) = rest.split_first_chunk::<BLOCK_HEAD>().ok_or(cut_off)?;
        let [a, b, c, d, length @ ..] = *head;
        let (sum, length) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes(length) as usize);
        if length == 0 || length > MOST_PAYLOAD {
            return Err(Cut::Damaged(self.next));
        }
        let payload = rest.get(..length).ok_or(cut_off)?;
        if check_sum(check_sum(0, &head[4..]), payload) != sum {
            return Err(Cut::Damaged(self.next));
        }
        self.next += BLOCK_HEAD + length;
        Ok(payload)
    }
}

/// CRC-32 as in zlib and PNG (reflected 0xEDB88320) of `bytes`, continued from the check sum `before`; 0 to begin. It
/// works on four bits at a time: 64 bytes of table, and one to two nanoseconds a byte.
pub fn check_sum(before: u32, bytes: &[u8]) -> u32 {
    const TABLE: [u32; 16] = {
        let mut table = [0; 16];
        let mut index = 0;
        while index < 16 {
            let mut rest = index as u32;
            let mut bit = 0;
            while bit < 4 {
                rest = rest >> 1 ^ if rest & 1 == 1 { 0xEDB8_8320 } else { 0 };
                bit += 1;
            }
            table[index] = rest;
            index += 1;
        }
        table
    };
    !bytes.iter().fold(!before, |sum, byte| {
        let sum = sum ^ u32::from(*byte);
        let sum = sum >> 4 ^ TABLE[(sum & 15) as usize];
        sum >> 4 ^ TABLE[(sum & 15) as usize]
    })
}

const fn number(digits: &str) -> u8 {
    match u8::from_str_radix(digits, 10) {
        Ok(number) => number,
        Err(_) => panic!("a part of the version is above 255"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_sum_equals_that_of_zlib() {
        assert_eq!(check_sum(0, b"123456789"), 0xCBF4_3926);
        assert_eq!(check_sum(check_sum(0, b"12345"), b"6789"), 0xCBF4_3926);
    }
}
