//! Descriptions of pipelines, and usage masks.

use std::ffi::c_void;

use hobgoblin_macros::{element, entry, open_enum, versioned};

use crate::base::{Result, error, try_collect_all};
use crate::ffi::base::argument::{Argument, null};
use crate::ffi::base::array::{Array, bytes};
use crate::ffi::base::result::hob_result;
use crate::ffi::fingerprint::bytes::hob_fingerprint;
use crate::ffi::fingerprint::key::{hob_shader_stage, known_stage};
use crate::pipeline::{
    DescriptionRef, FIRST_OWN_STAGE, LAST_STAGE, MAX_SHADERS, Mask, PipelineKind, Schema, ShaderHash, ShaderRef,
    graphics,
};

// == Experimental: Descriptions ==

/// Kinds of pipelines.
#[open_enum]
#[repr(C)]
pub enum hob_pipeline_kind {
    /// Vertex or mesh shaders, and fragments.
    Graphics = 0,
    /// A compute shader.
    Compute = 1,
    /// Ray generation, hit, miss and callable shaders.
    RayTracing = 2,
}

// Key maps have the same numbers.
const _: () = assert!(hob_shader_stage::Callable.0 == LAST_STAGE && hob_shader_stage::User.0 == FIRST_OWN_STAGE);

/// A shader of a pipeline.
#[element(size = 24, last = hash)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_pipeline_shader {
    /// A hob_shader_stage, or a number of the host from HOB_SHADER_STAGE_USER on. Builds check the vertex formats only
    /// of HOB_SHADER_STAGE_VERTEX.
    pub stage: u32,
    /// SHA-1 of its bytecode, or the first 20 bytes of another hash.
    pub hash: [u8; 20],
}

/// The description of a pipeline: everything that the driver's compiler gets.
/// The library keeps no pointer of it.
#[versioned(size = 48, last = shader_count)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_pipeline_desc {
    /// sizeof(hob_pipeline_desc).
    pub struct_size: u32,
    /// Graphics, compute or ray tracing. Default 0: HOB_PIPELINE_KIND_GRAPHICS.
    pub kind: hob_pipeline_kind,
    /// The layout of `state`: a number of the host, from 1 on. Change it when the layout changes. Default
    /// HOB_PIPELINE_SCHEMA_OWN.
    pub schema: u32,
    /// Bytes of `state`, at most 1 MiB.
    pub state_size: u32,
    /// Everything but the shaders: vertex layout, raster, blend and depth state, formats. With HOB_PIPELINE_SCHEMA_OWN
    /// the bytes of an encode function. Otherwise any form: write the fields in a fixed order, without padding bytes.
    /// May be NULL if `state_size` is 0.
    pub state: *const c_void,
    /// At least one shader, and at most 1024. Their order matters.
    pub shaders: *const hob_pipeline_shader,
    /// Bytes from one shader to the next: sizeof(hob_pipeline_shader). Default 0: its first released size.
    pub shader_stride: usize,
    /// Number of shaders.
    pub shader_count: usize,
}

/// Computes the key of a pipeline.
/// Equal descriptions have equal keys. Compute it once, when the pipeline's description is made.
///
///     hob_fingerprint key;
///     if (hob_pipeline_get_key(&pipeline, &key) != HOB_RESULT_OK) fail(hob_last_error());
///
/// HOB_RESULT_INVALID_ARGUMENT: there is no shader, the kind or a stage is unknown, or a shader group names a shader
/// that is not listed. HOB_RESULT_MALFORMED: with HOB_PIPELINE_SCHEMA_OWN the state is not encoded for this kind.
/// HOB_RESULT_UNSUPPORTED: it is encoded by a later version. HOB_RESULT_LIMIT_EXCEEDED: too many shaders, or a state of
/// more than 1 MiB. Threads: any.
#[entry(any, experimental)]
pub extern "C" fn hob_pipeline_get_key(
    pipeline: *const hob_pipeline_desc,
    out_key: *mut hob_fingerprint,
) -> hob_result {
    // SAFETY: the header's contract for the pointers of the desc.
    let key = unsafe { with_description(&pipeline, |description| Ok(description.key())) }?;
    out_key.write(key.into());
    Ok(())
}

/// A usage mask: situations of the game, as bits of the host, or as named fields: see hob_pipeline_dimension.
/// A host with 64 bits uses the first word.
#[element(size = 32, last = words)]
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct hob_pipeline_mask {
    /// The bits, the lowest first.
    pub words: [u64; 4],
}

// SAFETY: reads as many bytes as the type has, which are words only.
unsafe impl Argument for hob_pipeline_mask {
    type Taken<'a> = Self;

    unsafe fn take<'a>(pointer: *const Self, what: &'static str) -> Result<Self::Taken<'a>> {
        if pointer.is_null() {
            return Err(null(what, "a hob_pipeline_mask"));
        }
        // SAFETY: by the contract of `take`.
        Ok(unsafe { pointer.read_unaligned() })
    }
}

impl From<&Mask> for hob_pipeline_mask {
    fn from(mask: &Mask) -> Self {
        Self { words: mask.0 }
    }
}

/// Passes the description to `with`. The state is not copied.
///
/// # Safety
/// The pointers of `desc` meet the documentation of its fields.
pub unsafe fn with_description<R>(
    desc: &hob_pipeline_desc,
    with: impl FnOnce(DescriptionRef<'_>) -> Result<R>,
) -> Result<R> {
    let kind = PipelineKind::from_number(desc.kind.check("hob_pipeline_desc.kind")?.0).unwrap_or_default();
    if desc.shader_count > MAX_SHADERS {
        let count = desc.shader_count;
        return Err(error!(LimitExceeded, "the pipeline has {count} shaders: pass at most {MAX_SHADERS}"));
    }
    // SAFETY: by this function's contract, here and below.
    let state = unsafe { bytes(desc.state, desc.state_size as usize, "state") }?;
    let shaders = unsafe { Array::new(desc.shaders, desc.shader_stride, desc.shader_count, "shaders") }?;
    let shaders = try_collect_all(shaders.iter().map(|shader: hob_pipeline_shader| {
        Ok(ShaderRef { stage: known_stage(shader.stage)?, hash: ShaderHash(shader.hash) })
    }))?;
    let description = DescriptionRef { kind, schema: Schema(desc.schema), state, shaders: &shaders };
    description.check()?;
    graphics::check(&description)?;
    with(description)
}
