//! The parts of encodings: little-endian numbers, after the version and the kind of the state.

use super::Numbered;
use crate::base::{Result, error};
use crate::pipeline::PipelineKind;
use crate::pipeline::files::Cursor;

/// Version of all encodings of this schema.
const VERSION: u8 = 1;

/// Writes an encoding.
pub struct Writer(Vec<u8>);

impl Writer {
    /// Begins the state of a pipeline. `room` is the size of the rest in bytes.
    pub fn new(kind: PipelineKind, room: usize) -> Result<Self> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(2 + room)?;
        bytes.extend_from_slice(&[VERSION, kind as u8]);
        Ok(Self(bytes))
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.try_reserve(bytes.len())?;
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    pub fn u8(&mut self, number: u8) -> Result<()> {
        self.put(&[number])
    }

    pub fn u16(&mut self, number: u16) -> Result<()> {
        self.put(&number.to_le_bytes())
    }

    pub fn u32(&mut self, number: u32) -> Result<()> {
        self.put(&number.to_le_bytes())
    }

    pub fn u64(&mut self, number: u64) -> Result<()> {
        self.put(&number.to_le_bytes())
    }

    /// A number without NaN. Both zeros are equal, so they have one encoding.
    pub fn f64(&mut self, number: f64) -> Result<()> {
        self.u64(if number == 0.0 { 0 } else { number.to_bits() })
    }

    pub fn bool(&mut self, value: bool) -> Result<()> {
        self.u8(value.into())
    }

    pub fn numbered(&mut self, value: impl Numbered) -> Result<()> {
        self.u8(value.number())
    }

    /// The encoding.
    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Reads an encoding. Errors say what is invalid.
pub struct Reader<'a> {
    cursor: Cursor<'a>,
    kind: PipelineKind,
    size: usize,
}

impl<'a> Reader<'a> {
    /// Checks version and kind.
    pub fn new(kind: PipelineKind, bytes: &'a [u8]) -> Result<Self> {
        let mut reader = Self { cursor: Cursor(bytes), kind, size: bytes.len() };
        let version = reader.u8()?;
        if version != VERSION {
            return Err(error!(
                Unsupported,
                "the {} state has the version {version}, and this library reads version {VERSION}: encode it with this library",
                kind.name()
            ));
        }
        let found = reader.u8()?;
        match PipelineKind::from_number(found.into()) {
            Some(found) if found == kind => Ok(reader),
            Some(found) => Err(error!(
                Malformed,
                "the state is of a {} pipeline, and the pipeline is a {} one: encode the state of its kind",
                found.name(),
                kind.name()
            )),
            None => Err(error!(Malformed, "the state has the unknown kind {found}: encode it with this library")),
        }
    }

    fn some<T>(&self, part: Option<T>) -> Result<T> {
        part.ok_or_else(|| {
            let (kind, size) = (self.kind.name(), self.size);
            error!(Malformed, "the {kind} state of {size} bytes ends too early: pass all bytes of the encoding")
        })
    }

    pub fn u8(&mut self) -> Result<u8> {
        let part = self.cursor.u8();
        self.some(part)
    }

    pub fn u16(&mut self) -> Result<u16> {
        let part = self.cursor.u16();
        self.some(part)
    }

    pub fn u32(&mut self) -> Result<u32> {
        let part = self.cursor.u32();
        self.some(part)
    }

    pub fn u64(&mut self) -> Result<u64> {
        let part = self.cursor.u64();
        self.some(part)
    }

    /// A number without NaN. A negative zero is refused, because zero has one encoding.
    pub fn f64(&mut self) -> Result<f64> {
        let number = f64::from_bits(self.u64()?);
        if number.is_nan() || (number == 0.0 && number.is_sign_negative()) {
            let kind = self.kind.name();
            return Err(error!(
                Malformed,
                "the {kind} state has the number {number:?}, which no encoding has: it is damaged"
            ));
        }
        Ok(number)
    }

    pub fn bool(&mut self) -> Result<bool> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            other => {
                let kind = self.kind.name();
                Err(error!(Malformed, "the {kind} state has a switch of {other} instead of 0 or 1: it is damaged"))
            }
        }
    }

    pub fn numbered<T: Numbered>(&mut self) -> Result<T> {
        let number = self.u8()?;
        T::from_number(number.into()).ok_or_else(|| {
            let (kind, what, last) = (self.kind.name(), T::NAME, T::ALL.len() - 1);
            error!(Malformed, "the {kind} state has the {what} {number}: known are 0 to {last}; it is damaged")
        })
    }

    /// A count up to `most`.
    pub fn count(&mut self, number: u32, most: usize, what: &str) -> Result<usize> {
        let count = number as usize;
        if count > most {
            let kind = self.kind.name();
            return Err(error!(
                Malformed,
                "the {kind} state has {count} {what}, and at most {most} are possible: it is damaged"
            ));
        }
        Ok(count)
    }

    /// Checks that all bytes were read.
    pub fn finish(self) -> Result<()> {
        if self.cursor.is_at_end() {
            return Ok(());
        }
        let (kind, rest) = (self.kind.name(), self.cursor.0.len());
        Err(error!(
            Malformed,
            "the {kind} state has {rest} bytes after its end: pass exactly the bytes of the encoding"
        ))
    }
}
