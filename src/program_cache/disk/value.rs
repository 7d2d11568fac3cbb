//! Programs as bytes for the store: format, group, the keys of the shaders, reflection and data. Little-endian;
//! `docs/formats.md` has the layout.

use crate::base::Result;
use crate::program_cache::key::Key;
use crate::program_cache::program::Program;

/// The kinds of values in the store. Numbers are only appended.
pub mod kind {
    /// A program.
    pub const PROGRAM: u8 = 1;
    /// The keys of the start-up set in order. Its own key is all zeros.
    pub const START_UP: u8 = 2;
    /// The inputs of a key.
    pub const MATERIAL: u8 = 3;
}

/// Bytes before the keys of the shaders.
pub const HEAD: usize = 16;

/// Append a program to `out`.
pub fn encode(program: &Program<'_>, out: &mut Vec<u8>) -> Result<()> {
    let Program { stages, reflection, data, .. } = program;
    out.try_reserve(HEAD + size_of_val(*stages) + reflection.len() + data.len())?;
    let lengths = [stages.len() as u32, reflection.len() as u32];
    for number in [program.format, program.group, lengths[0], lengths[1]] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(stages.as_flattened());
    out.extend_from_slice(reflection);
    out.extend_from_slice(data);
    Ok(())
}

/// The program in these bytes. `None`: the bytes are invalid.
pub fn decode(bytes: &[u8], build_us: u32) -> Option<Program<'_>> {
    let (head, rest) = bytes.split_at_checked(HEAD)?;
    let number = |at: usize| head[4 * at..].first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
    let stages_size = (number(2)? as usize).checked_mul(size_of::<Key>())?;
    let (stages, rest) = rest.split_at_checked(stages_size)?;
    let (reflection, data) = rest.split_at_checked(number(3)? as usize)?;
    let stages = stages.as_chunks().0;
    Some(Program { format: number(0)?, data, reflection, stages, cost_us: build_us.into(), group: number(1)? })
}
