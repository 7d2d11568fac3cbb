//! Parts of records: little-endian numbers, texts, masks and descriptions.

use crate::base::{Result, error};
use crate::pipeline::{DescriptionRef, MAX_SHADERS, MAX_STATE, Mask, PipelineKind, Schema, ShaderHash, ShaderRef};

/// Reads the parts of a record. Every method returns `None` at the end of the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor<'a>(pub &'a [u8]);

impl<'a> Cursor<'a> {
    /// The next bytes.
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// The next bytes, as an array.
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.first_chunk().copied()
    }

    /// A byte.
    pub fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// A number of 16 bits.
    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    /// A number of 32 bits.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// A number of 64 bits.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A text: its length in 16 bits, and UTF-8.
    pub fn text(&mut self) -> Option<&'a str> {
        let length = self.u16()?;
        std::str::from_utf8(self.take(length.into())?).ok()
    }

    /// A mask.
    pub fn mask(&mut self) -> Option<Mask> {
        Some(Mask([self.u64()?, self.u64()?, self.u64()?, self.u64()?]))
    }

    /// Whether all bytes were read.
    pub fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }
}

/// Append a text of at most 65,535 bytes.
pub fn put_text(out: &mut Vec<u8>, text: &str) -> Result<()> {
    let Ok(length) = u16::try_from(text.len()) else {
        let length = text.len();
        return Err(error!(LimitExceeded, "a text has {length} bytes: pass at most 65535"));
    };
    out.try_reserve(2 + text.len())?;
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

/// Append a description: kind, schema, number of shaders, shaders, length of the state, state.
pub fn put_description(out: &mut Vec<u8>, description: &DescriptionRef<'_>) -> Result<()> {
    let DescriptionRef { kind, schema, state, shaders } = *description;
    out.try_reserve(11 + 24 * shaders.len() + state.len())?;
    out.push(kind as u8);
    out.extend_from_slice(&schema.0.to_le_bytes());
    out.extend_from_slice(&(shaders.len() as u16).to_le_bytes());
    for ShaderRef { stage, hash } in shaders {
        out.extend_from_slice(&stage.to_le_bytes());
        out.extend_from_slice(&hash.0);
    }
    out.extend_from_slice(&(state.len() as u32).to_le_bytes());
    out.extend_from_slice(state);
    Ok(())
}

/// A description. Its shaders are put into `shaders`. `None`: invalid bytes.
pub fn get_description<'a>(
    cursor: &mut Cursor<'a>,
    shaders: &'a mut Vec<ShaderRef>,
) -> Result<Option<DescriptionRef<'a>>> {
    let mut head = || {
        let kind = PipelineKind::from_number(cursor.u8()?.into())?;
        let (schema, count) = (Schema(cursor.u32()?), usize::from(cursor.u16()?));
        let bytes = cursor.take(24 * count).filter(|_| (1..=MAX_SHADERS).contains(&count))?;
        let length = cursor.u32()? as usize;
        let state = cursor.take(length).filter(|_| length <= MAX_STATE)?;
        Some((kind, schema, bytes, state))
    };
    let Some((kind, schema, bytes, state)) = head() else { return Ok(None) };
    shaders.clear();
    shaders.try_reserve(bytes.len() / 24)?;
    for &[a, b, c, d, ref hash @ ..] in bytes.as_chunks::<24>().0 {
        shaders.push(ShaderRef { stage: u32::from_le_bytes([a, b, c, d]), hash: ShaderHash(*hash) });
    }
    Ok(Some(DescriptionRef { kind, schema, state, shaders }))
}
