//! Program keys.

use std::ffi::{CStr, c_void};

use hobgoblin_macros::{element, entry, open_enum, versioned};

use super::bytes::{hob_fingerprint, hob_fingerprint_part, known, parts};
use crate::base::{Result, error, try_collect_all};
use crate::ffi::base::array::{Array, Element, bytes};
use crate::ffi::base::result::hob_result;
use crate::ffi::base::text::hob_str;
use crate::fingerprint::{Attribute, Feedback, MAX_ENTRIES, Mode, Program, Stage, program, shader};

// == Program keys ==

/// The hash of a program key.
#[open_enum]
#[repr(C)]
pub enum hob_fingerprint_mode {
    /// BLAKE3 of all inputs.
    Blake3 = 0,
    /// As in Chromium's note "GPU Program Caching": SHA1(SHA1(vertex) + SHA1(fragment) + attributes) and 12 zero bytes.
    /// For one vertex stage, one fragment stage and attributes; everything else is HOB_RESULT_UNSUPPORTED. The
    /// attributes are hashed in order of name: each name, then its location in 4 bytes, big-endian. See
    /// docs/formats.md.
    Sha1 = 1,
}

/// Shader stages.
/// Numbers from HOB_SHADER_STAGE_USER on are free for the host.
#[open_enum]
#[repr(C)]
pub enum hob_shader_stage {
    /// Vertex shader.
    Vertex = 0,
    /// Tessellation control (hull) shader.
    TessellationControl = 1,
    /// Tessellation evaluation (domain) shader.
    TessellationEvaluation = 2,
    /// Geometry shader.
    Geometry = 3,
    /// Fragment (pixel) shader.
    Fragment = 4,
    /// Compute shader.
    Compute = 5,
    /// Task (amplification) shader.
    Task = 6,
    /// Mesh shader.
    Mesh = 7,
    /// Ray generation shader.
    RayGeneration = 8,
    /// Any-hit shader.
    AnyHit = 9,
    /// Closest-hit shader.
    ClosestHit = 10,
    /// Miss shader.
    Miss = 11,
    /// Intersection shader.
    Intersection = 12,
    /// Callable shader.
    Callable = 13,
    /// The first number that is free for the host.
    User = 64,
}

/// The source of one stage.
#[element(size = 24, last = size)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_program_stage {
    /// A hob_shader_stage, or a number of the host from HOB_SHADER_STAGE_USER on.
    pub stage: u32,
    /// Must be 0.
    pub reserved: u32,
    /// Text or bytecode. May be NULL if `size` is 0.
    pub source: *const c_void,
    /// Size in bytes. SIZE_MAX: `source` is text that ends in NUL.
    pub size: usize,
}

/// The location of one vertex attribute.
#[element(size = 24, last = reserved)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_attribute_binding {
    /// Its name in the source.
    pub name: hob_str,
    /// Its location.
    pub location: u32,
    /// Must be 0.
    pub reserved: u32,
}

/// The inputs of a program key: everything that affects the compiled program.
/// At most 1024 stages, 1024 attributes and 1024 varyings. The library keeps no pointer of it.
#[versioned(size = 120, last = reserved)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_program_key_desc {
    /// sizeof(hob_program_key_desc).
    pub struct_size: u32,
    /// The hash. Default 0: HOB_FINGERPRINT_MODE_BLAKE3.
    pub mode: hob_fingerprint_mode,
    /// At least one stage. Their order matters.
    pub stages: *const hob_program_stage,
    /// Bytes from one stage to the next: sizeof of hob_program_stage, or of a struct that begins with one. Default 0:
    /// the first released size.
    pub stage_stride: usize,
    /// Number of stages. 0 is an error.
    pub stage_count: usize,
    /// Vertex attributes, in any order. If two have the same name, the last one counts, as for glBindAttribLocation.
    pub attributes: *const hob_attribute_binding,
    /// Bytes from one attribute to the next, as `stage_stride`.
    pub attribute_stride: usize,
    /// Number of attributes. Default 0: none.
    pub attribute_count: usize,
    /// Preprocessor definitions, in any form.
    pub defines: *const c_void,
    /// Size of `defines` in bytes. Default 0: none.
    pub defines_size: usize,
    /// Names of the varyings that transform feedback captures. Their order matters.
    pub varyings: *const hob_str,
    /// Bytes from one varying to the next, as `stage_stride`.
    pub varying_stride: usize,
    /// Number of varyings. Default 0: none.
    pub varying_count: usize,
    /// Additional bytes that affect compilation, such as compiler flags, entry points and specialisation constants. GL:
    /// also fragment outputs (glBindFragDataLocation) and GL_PROGRAM_SEPARABLE. Vulkan: also the pipeline layout and
    /// all pipeline state that is not dynamic. Write them in a fixed order, without padding bytes.
    pub extra: *const c_void,
    /// Size of `extra` in bytes. Default 0: none.
    pub extra_size: usize,
    /// How varyings are captured, as a number of the graphics API: GL_INTERLEAVED_ATTRIBS, for instance. Default 0: no
    /// transform feedback.
    pub feedback_mode: u32,
    /// Must be 0.
    pub reserved: u32,
}

/// Computes a shader key: that of a stage and its source.
/// hob_program_manager names its shaders so, so hob_program_cache_get_shader_status can tell about them. `stage` is a
/// hob_shader_stage or a number of the host. `source` may be NULL if `size` is 0. HOB_RESULT_INVALID_ARGUMENT: the
/// stage is unknown. Threads: any.
#[entry(any)]
pub extern "C" fn hob_fingerprint_hash_shader(
    stage: u32,
    source: *const c_void,
    size: usize,
    out_fingerprint: *mut hob_fingerprint,
) -> hob_result {
    out_fingerprint.write(shader(known_stage(stage)?, source).into());
    Ok(())
}

/// Computes a program key.
///
///     hob_fingerprint key;
///     if (hob_fingerprint_hash_program(&desc, &key) != HOB_RESULT_OK) fail(hob_last_error());
///
/// HOB_RESULT_INVALID_ARGUMENT without a stage. HOB_RESULT_LIMIT_EXCEEDED with more than 1024 stages, attributes or
/// varyings. HOB_RESULT_UNSUPPORTED if the mode cannot express an input. Threads: any.
#[entry(any)]
pub extern "C" fn hob_fingerprint_hash_program(
    desc: *const hob_program_key_desc,
    out_fingerprint: *mut hob_fingerprint,
) -> hob_result {
    // SAFETY: the header's contract for the pointers of the desc.
    let key = unsafe { with_program(&desc, |mode, described| program(mode, described, &mut |_| ())) }?;
    out_fingerprint.write(key.into());
    Ok(())
}

// == Parts ==

/// Kinds of the parts of a program key.
#[open_enum]
#[repr(C)]
pub enum hob_program_part {
    /// The source of a stage; the index is the hob_shader_stage.
    Stage = 1,
    /// The attributes.
    Attributes = 2,
    /// `defines`.
    Defines = 3,
    /// `feedback_mode` and the varyings.
    Feedback = 4,
    /// `extra`.
    Extra = 5,
}

/// Gets the parts of a program key: the stages in their order, then attributes, defines, feedback and extra.
/// Empty inputs have no part, except stages. `*out_count` receives the number of parts. `parts` NULL asks only for
/// that. If `capacity` is too small, the result is HOB_RESULT_BUFFER_TOO_SMALL and `parts` stays unchanged.
/// `part_stride` 0 is the first released size of hob_fingerprint_part. Threads: any.
#[entry(any)]
pub extern "C" fn hob_fingerprint_get_program_parts(
    desc: *const hob_program_key_desc,
    parts: *mut hob_fingerprint_part,
    part_stride: usize,
    capacity: usize,
    out_count: *mut usize,
) -> hob_result {
    // SAFETY: as in hob_fingerprint_hash_program.
    let found = self::parts(|each| unsafe {
        with_program(&desc, |mode, described| program(mode, described, each).map(|_| ()))
    })?;
    parts.fill(found.into_iter())
}

/// The number of a stage that the library knows, or one in the host's own range.
pub fn known_stage(stage: u32) -> Result<u32> {
    known(stage, hob_shader_stage::Callable.0, hob_shader_stage::User.0, "the shader stage")
}

/// Passes the described program to `with`. Sources are not copied.
///
/// # Safety
/// The pointers of `desc` meet the documentation of its fields.
pub unsafe fn with_program<R>(
    desc: &hob_program_key_desc,
    with: impl FnOnce(Mode, &Program<'_>) -> Result<R>,
) -> Result<R> {
    let mode = match desc.mode.check("hob_program_key_desc.mode")? {
        hob_fingerprint_mode::Sha1 => Mode::Sha1,
        _ => Mode::Blake3,
    };
    // SAFETY: by this function's contract, here and below.
    let stages = unsafe {
        list(desc.stages, desc.stage_stride, desc.stage_count, "stages", |stage: hob_program_stage| {
            Ok(Stage { stage: known_stage(stage.stage)?, source: source(stage.source, stage.size)? })
        })
    }?;
    let attributes = unsafe {
        list(desc.attributes, desc.attribute_stride, desc.attribute_count, "attributes", |a: hob_attribute_binding| {
            Ok(Attribute { name: a.name.argument("an attribute's name").text()?, location: a.location })
        })
    }?;
    let varyings = unsafe {
        list(desc.varyings, desc.varying_stride, desc.varying_count, "varyings", |varying: hob_str| {
            varying.argument("a varying's name").text()
        })
    }?;
    let described = Program {
        stages: &stages,
        attributes: &attributes,
        defines: unsafe { bytes(desc.defines, desc.defines_size, "defines") }?,
        feedback: Feedback { mode: desc.feedback_mode, varyings: &varyings },
        extra: unsafe { bytes(desc.extra, desc.extra_size, "extra") }?,
    };
    with(mode, &described)
}

/// The elements of a caller's array, each converted by `take`.
///
/// # Safety
/// As [`Array::new`].
unsafe fn list<T: Element, R>(
    start: *const T,
    stride: usize,
    count: usize,
    what: &str,
    take: impl FnMut(T) -> Result<R>,
) -> Result<Vec<R>> {
    if count > MAX_ENTRIES {
        return Err(error!(LimitExceeded, "the program has {count} {what}: pass at most {MAX_ENTRIES}"));
    }
    // SAFETY: by this function's contract.
    let array = unsafe { Array::new(start, stride, count, what) }?;
    try_collect_all(array.iter().map(take))
}

/// # Safety
/// The fields meet the documentation of `hob_program_stage`.
unsafe fn source<'a>(source: *const c_void, size: usize) -> Result<&'a [u8]> {
    if size == usize::MAX && !source.is_null() {
        // SAFETY: by this function's contract the text ends in NUL.
        return Ok(unsafe { CStr::from_ptr(source.cast()) }.to_bytes());
    }
    // SAFETY: by this function's contract.
    unsafe { bytes(source, size, "the source of a stage") }
}
