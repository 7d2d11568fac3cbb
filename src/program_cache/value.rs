//! A program as the store keeps it: what the driver calls its format, then the keys of its shaders, the reflection and the
//! binary, with their lengths before them. Little-endian; in `docs/formats.md`.

use super::blob::Program;
use super::{Blob, Key};
use crate::base::Result;

/// What sort of value the store has under a name. Numbers are only ever appended.
pub(super) mod kind {
    /// A program.
    pub const PROGRAM: u8 = 1;
    /// The keys of the start-up set, one after the other; its own key is all zeros.
    pub const START_UP: u8 = 2;
    /// What a key was made from.
    pub const MATERIAL: u8 = 3;
}

const HEAD: usize = 16;

/// Write a program behind what is in `out`.
pub(super) fn encode(blob: &Blob, out: &mut Vec<u8>) -> Result<()> {
    let (stages, reflection, data) = (blob.stages(), blob.reflection(), blob.data());
    out.try_reserve(HEAD + size_of_val(stages) + reflection.len() + data.len())?;
    let lengths = [stages.len() as u32, reflection.len() as u32];
    for number in [blob.format(), blob.group(), lengths[0], lengths[1]] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(stages.as_flattened());
    out.extend_from_slice(reflection);
    out.extend_from_slice(data);
    Ok(())
}

/// The program in these bytes; none if they are no program.
pub(super) fn decode(bytes: &[u8], build_us: u32) -> Option<Program<'_>> {
    let (head, rest) = bytes.split_at_checked(HEAD)?;
    let number = |at: usize| head[4 * at..].first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
    let stages_size = (number(2)? as usize).checked_mul(size_of::<Key>())?;
    let (stages, rest) = rest.split_at_checked(stages_size)?;
    let (reflection, data) = rest.split_at_checked(number(3)? as usize)?;
    let stages = stages.as_chunks().0;
    Some(Program { format: number(0)?, data, reflection, stages, cost_us: build_us.into(), group: number(1)? })
}
