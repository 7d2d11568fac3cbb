//! The name of a shader program. It covers all inputs of a driver's compiler.

use super::{Builder, Fingerprint, Part};
use crate::base::{Result, error, sort_slowly, try_collect};

const CONTEXT: &str = "hobgoblin program 1";

/// Maximum number of stages, of attributes and of varyings of a program.
pub const MAX_ENTRIES: usize = 1024;

/// Kinds of a program's parts. Existing numbers never change; new ones are appended.
pub mod program_kind {
    /// The source of a stage; the index is the stage.
    pub const STAGE: u32 = 1;
    /// Attribute bindings, in order of name.
    pub const ATTRIBUTES: u32 = 2;
    /// The defines.
    pub const DEFINES: u32 = 3;
    /// Transform feedback: mode and varyings.
    pub const FEEDBACK: u32 = 4;
    /// Additional bytes from the host.
    pub const EXTRA: u32 = 5;
}

/// How a program's name is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// BLAKE3 over framed parts.
    #[default]
    Blake3,
    /// SHA-1 as in Chromium's note, for hosts that share its keys: `SHA1(SHA1(vertex) ‖ SHA1(fragment) ‖ attributes)`.
    /// It has no framing, and supports only one vertex stage, one fragment stage and attributes.
    Sha1,
}

/// The source of one stage.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stage<'a> {
    /// The stage: a number of `hob_shader_stage`, or the host's own.
    pub stage: u32,
    /// The source in any language: GLSL, SPIR-V, ... May be empty.
    pub source: &'a [u8],
}

impl Stage<'_> {
    /// `HOB_SHADER_STAGE_VERTEX`.
    pub const VERTEX: u32 = 0;
    /// `HOB_SHADER_STAGE_FRAGMENT`.
    pub const FRAGMENT: u32 = 4;
}

/// An attribute binding.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attribute<'a> {
    /// The attribute's name in the source.
    pub name: &'a str,
    /// The location it is bound to.
    pub location: u32,
}

/// The captures of transform feedback.
#[derive(Clone, Copy, Debug, Default)]
pub struct Feedback<'a> {
    /// The API's number of the mode. 0: no mode.
    pub mode: u32,
    /// Names of the captured varyings, in capture order.
    pub varyings: &'a [&'a str],
}

/// The inputs of a program's name.
#[derive(Clone, Copy, Debug, Default)]
pub struct Program<'a> {
    /// At least one. The order affects the name.
    pub stages: &'a [Stage<'a>],
    /// In any order. The last of several bindings of one name counts, as with `glBindAttribLocation`.
    pub attributes: &'a [Attribute<'a>],
    /// Any bytes. Empty: the name has no such part.
    pub defines: &'a [u8],
    /// The captures of transform feedback.
    pub feedback: Feedback<'a>,
    /// Additional bytes that affect compilation.
    pub extra: &'a [u8],
}

/// The name of a shader: of a stage and its source.
pub fn shader(stage: u32, source: &[u8]) -> Fingerprint {
    let mut name = Builder::new("hobgoblin shader 1");
    name.part(program_kind::STAGE, stage, source);
    name.finish()
}

/// The name of a program. Calls `parts` with every part.
pub fn program(mode: Mode, program: &Program<'_>, parts: &mut dyn FnMut(Part)) -> Result<Fingerprint> {
    check(program)?;
    let mut attributes = try_collect(program.attributes.iter().copied().enumerate())?;
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
            return Err(error!(LimitExceeded, "the program has {count} {what}: pass at most {MAX_ENTRIES}"));
        }
    }
    if program.stages.is_empty() {
        return Err(error!(InvalidArgument, "the program has no stage: give the source of at least one"));
    }
    Ok(())
}

/// Sort by name, and keep the last binding of each name.
fn last_of_each_name<'a, 'b>(attributes: &'b mut Vec<(usize, Attribute<'a>)>) -> &'b [(usize, Attribute<'a>)] {
    sort_slowly(attributes, |a, b| a.1.name.cmp(b.1.name).then(b.0.cmp(&a.0)));
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
    // Empty parts are omitted, so that a part kind of a later version changes no existing name.
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
            "a SHA-1 name cannot include defines, feedback or extra bytes: leave them empty or use BLAKE3"
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
