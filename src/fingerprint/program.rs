//! The name of a shader program: all that a driver's compiler is given.

use super::{Builder, Fingerprint, Part};
use crate::base::{Result, error};

const CONTEXT: &str = "hobgoblin program 1";

/// Stages, attributes and varyings that a program may have of each.
pub const MAX_ENTRIES: usize = 1024;

/// Kinds of a program's parts; numbers are only ever appended.
pub mod program_kind {
    /// The source of a stage; the index is the stage.
    pub const STAGE: u32 = 1;
    /// Attribute bindings, in order of name.
    pub const ATTRIBUTES: u32 = 2;
    /// The defines.
    pub const DEFINES: u32 = 3;
    /// Transform feedback: mode and varyings.
    pub const FEEDBACK: u32 = 4;
    /// Whatever else the host adds.
    pub const EXTRA: u32 = 5;
}

/// How a program's name is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// BLAKE3 over framed parts.
    #[default]
    Blake3,
    /// SHA-1 as in Chromium's note, for those who share its keys: `SHA1(SHA1(vertex) ‖ SHA1(fragment) ‖ attributes)`.
    /// Nothing in it is framed, and it knows one vertex stage, one fragment stage and attributes alone.
    Sha1,
}

/// The source of one stage.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stage<'a> {
    /// Which one: the number of `hob_shader_stage`, or the host's own.
    pub stage: u32,
    /// As the host has it: GLSL, SPIR-V, ... May be empty.
    pub source: &'a [u8],
}

impl Stage<'_> {
    /// `HOB_SHADER_STAGE_VERTEX`.
    pub const VERTEX: u32 = 0;
    /// `HOB_SHADER_STAGE_FRAGMENT`.
    pub const FRAGMENT: u32 = 4;
}

/// Where an attribute is bound.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attribute<'a> {
    /// Its name in the source.
    pub name: &'a str,
    /// Where it is bound.
    pub location: u32,
}

/// What transform feedback captures.
#[derive(Clone, Copy, Debug, Default)]
pub struct Feedback<'a> {
    /// The API's number; 0 for none.
    pub mode: u32,
    /// What is captured, in this order.
    pub varyings: &'a [&'a str],
}

/// All that makes a program what it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Program<'a> {
    /// At least one. Their order counts.
    pub stages: &'a [Stage<'a>],
    /// In any order; of those with the same name the last counts, as it does for `glBindAttribLocation`.
    pub attributes: &'a [Attribute<'a>],
    /// Any bytes; none is the same as empty.
    pub defines: &'a [u8],
    /// What transform feedback captures.
    pub feedback: Feedback<'a>,
    /// Any bytes: whatever else changes what the driver makes of it.
    pub extra: &'a [u8],
}

/// The name of a program; `parts` is told of every part.
pub fn program(mode: Mode, program: &Program<'_>, parts: &mut dyn FnMut(Part)) -> Result<Fingerprint> {
    check(program)?;
    let mut attributes = Vec::new();
    attributes.try_reserve_exact(program.attributes.len())?;
    attributes.extend(program.attributes.iter().copied().enumerate());
    let attributes = last_of_each_name(&mut attributes);
    match mode {
        Mode::Blake3 => Ok(blake3_name(program, attributes, parts)),
        Mode::Sha1 => sha1_name(program, attributes, parts),
    }
}

fn check(program: &Program<'_>) -> Result<()> {
    let counts = [
        ("stages", program.stages.len()),
        ("attributes", program.attributes.len()),
        ("feedback varyings", program.feedback.varyings.len()),
    ];
    for (what, count) in counts {
        if count > MAX_ENTRIES {
            return Err(error!(LimitExceeded, "the program has {count} {what}; at most {MAX_ENTRIES} are possible"));
        }
    }
    if program.stages.is_empty() {
        return Err(error!(InvalidArgument, "the program has no stage: give the source of at least one"));
    }
    Ok(())
}

/// In order of name, one of each.
fn last_of_each_name<'a, 'b>(attributes: &'b mut Vec<(usize, Attribute<'a>)>) -> &'b [(usize, Attribute<'a>)] {
    attributes.sort_unstable_by(|a, b| a.1.name.cmp(b.1.name).then(b.0.cmp(&a.0)));
    attributes.dedup_by(|later, kept| later.1.name == kept.1.name);
    attributes
}

fn blake3_name(
    program: &Program<'_>,
    attributes: &[(usize, Attribute<'_>)],
    parts: &mut dyn FnMut(Part),
) -> Fingerprint {
    let mut name = Builder::new(CONTEXT);
    for stage in program.stages {
        parts(name.part(program_kind::STAGE, stage.stage, stage.source));
    }
    // What is empty is left out, so that a kind that a later version adds leaves names as they are.
    if !attributes.is_empty() {
        parts(name.written(program_kind::ATTRIBUTES, 0, |part| {
            for (_, attribute) in attributes {
                part.put_framed(attribute.name.as_bytes());
                part.put(&attribute.location.to_le_bytes());
            }
        }));
    }
    if !program.defines.is_empty() {
        parts(name.part(program_kind::DEFINES, 0, program.defines));
    }
    let feedback = &program.feedback;
    if feedback.mode != 0 || !feedback.varyings.is_empty() {
        parts(name.written(program_kind::FEEDBACK, 0, |part| {
            part.put(&feedback.mode.to_le_bytes());
            feedback.varyings.iter().for_each(|varying| part.put_framed(varying.as_bytes()));
        }));
    }
    if !program.extra.is_empty() {
        parts(name.part(program_kind::EXTRA, 0, program.extra));
    }
    name.finish()
}

fn sha1_name(
    program: &Program<'_>,
    attributes: &[(usize, Attribute<'_>)],
    parts: &mut dyn FnMut(Part),
) -> Result<Fingerprint> {
    let of = |wanted: u32| {
        let mut found = program.stages.iter().filter(|stage| stage.stage == wanted);
        found.next().filter(|_| found.next().is_none())
    };
    let (Some(vertex), Some(fragment), 2) = (of(Stage::VERTEX), of(Stage::FRAGMENT), program.stages.len()) else {
        return Err(error!(
            Unsupported,
            "a SHA-1 name is for one vertex and one fragment stage: use BLAKE3 for other programs"
        ));
    };
    let feedback = &program.feedback;
    let more = !program.defines.is_empty() || !program.extra.is_empty() || feedback.mode != 0;
    if more || !feedback.varyings.is_empty() {
        return Err(error!(
            Unsupported,
            "a SHA-1 name has no room for defines, feedback or extra bytes: leave them empty or use BLAKE3"
        ));
    }
    let mut name = sha1_smol::Sha1::new();
    for stage in [vertex, fragment] {
        let digest = sha1_smol::Sha1::from(stage.source).digest().bytes();
        name.update(&digest);
        parts(sha1_part(program_kind::STAGE, stage.stage, stage.source.len(), &digest));
    }
    let (mut map, mut length) = (sha1_smol::Sha1::new(), 0);
    for (_, attribute) in attributes {
        for bytes in [attribute.name.as_bytes(), &attribute.location.to_be_bytes()] {
            name.update(bytes);
            map.update(bytes);
            length += bytes.len();
        }
    }
    if length > 0 {
        parts(sha1_part(program_kind::ATTRIBUTES, 0, length, &map.digest().bytes()));
    }
    Ok(widened(&name.digest().bytes()))
}

/// The 20 bytes, then zeros.
fn widened(digest: &[u8; 20]) -> Fingerprint {
    let mut bytes = [0; 32];
    bytes[..20].copy_from_slice(digest);
    Fingerprint(bytes)
}

fn sha1_part(kind: u32, index: u32, length: usize, digest: &[u8; 20]) -> Part {
    Part { kind, index, length: length as u64, digest: widened(digest).short() }
}
