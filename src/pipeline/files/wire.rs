//! Parts of records: little-endian numbers, texts, masks and descriptions.

use crate::base::{Result, error};
use crate::pipeline::files::UseData;
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
    shaders.iter().for_each(|shader| out.extend_from_slice(&shader.to_bytes()));
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

/// Append use data: first frames, runs, times, build times, a reserved number, masks.
pub fn put_uses(out: &mut Vec<u8>, uses: &UseData) -> Result<()> {
    let masks = uses.masks.as_slice();
    out.try_reserve(48 + 32 * masks.len())?;
    out.extend_from_slice(&uses.first_frame.to_le_bytes());
    out.extend_from_slice(&uses.first_frames.to_le_bytes());
    out.extend_from_slice(&uses.times.to_le_bytes());
    out.extend_from_slice(&uses.build_us.to_le_bytes());
    out.extend_from_slice(&uses.runs.to_le_bytes());
    out.extend_from_slice(&uses.builds.to_le_bytes());
    out.extend_from_slice(&0_u32.to_le_bytes());
    out.extend_from_slice(&(masks.len() as u32).to_le_bytes());
    masks.iter().flat_map(|mask| mask.0).for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    Ok(())
}

/// Skip use data. `None`: the bytes are too few.
pub fn skip_uses(cursor: &mut Cursor<'_>) -> Option<()> {
    cursor.take(44)?;
    let masks = cursor.u32()? as usize;
    cursor.take(masks.checked_mul(32)?).map(|_| ())
}

/// Use data. `None`: invalid bytes.
pub fn get_uses(cursor: &mut Cursor<'_>) -> Result<Option<UseData>> {
    let mut numbers = || {
        let [first_frame, first_frames, times, build_us] = [cursor.u64()?, cursor.u64()?, cursor.u64()?, cursor.u64()?];
        let [runs, builds, _reserved] = [cursor.u32()?, cursor.u32()?, cursor.u32()?];
        let data = UseData { first_frame, first_frames, times, build_us, runs, builds, ..UseData::default() };
        Some((data, cursor.u32()?))
    };
    let Some((mut data, count)) = numbers() else { return Ok(None) };
    for _ in 0..count {
        let Some(mask) = cursor.mask() else { return Ok(None) };
        // Sorted masks, each once: otherwise adding them could take quadratic time.
        if data.masks.as_slice().last().is_some_and(|last| *last >= mask) {
            return Ok(None);
        }
        data.masks.insert(mask)?;
    }
    Ok(Some(data))
}
