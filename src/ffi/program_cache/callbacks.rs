//! Adapts the host's callbacks to the driver of the safe manager, and makes the program keys of `fingerprint.h`.

use std::ffi::c_void;
use std::marker::PhantomData;

use hobgoblin_macros::versioned;

use super::frame::{hob_blob, hob_program};
use super::material::program_material;
use crate::base::{Result, fault_point, try_collect};
use crate::ffi::base::array::bytes;
use crate::ffi::base::guard::call_host;
use crate::ffi::base::structs::Versioned;
use crate::fingerprint::{self, Mode, Program, Stage, program};
use crate::program_cache::manager::{Binary, Driver, Keys, Shader};
use crate::program_cache::{Blob, Key, Material};

// == Experimental: Program manager ==
//
// A hob_program_manager calls the host's compile, link and load only when necessary. A shader that is known to compile
// is deferred: it is compiled only if one of its programs is missed.
//
//     hob_program_callbacks callbacks = HOB_PROGRAM_CALLBACKS_INIT;
//     callbacks.compile = compile;
//     callbacks.link = link;
//     callbacks.load = load;
//     callbacks.get_binary = get_binary;
//     hob_program_manager *manager = NULL;
//     if (hob_program_manager_create(cache, &callbacks, &manager) != HOB_RESULT_OK) fail(hob_last_error());
//
//     hob_shader_id shaders[2];                    /* for each: add_shader, set_source, compile */
//     hob_program_link_desc desc = HOB_PROGRAM_LINK_DESC_INIT;
//     desc.program = &gl_program;
//     desc.shaders = shaders;
//     desc.shader_count = 2;
//     hob_link_result linked = HOB_LINK_RESULT_INIT;
//     hob_program_manager_link(manager, &desc, &linked);

/// The host's compile, link and load.
/// Each returns 0 for success, and any other number for failure. The host gets that number back. Callbacks run on the
/// thread that calls the manager, inside the call. There the functions of the cache work. Those of the manager return
/// HOB_RESULT_BUSY, except hob_program_manager_destroy, which takes effect when the running call returns.
#[versioned(size = 56, last = release)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_program_callbacks {
    /// sizeof(hob_program_callbacks).
    pub struct_size: u32,
    /// Must be 0.
    pub reserved: u32,
    /// Passed to the callbacks.
    pub user_data: *mut c_void,
    /// Compiles `source` for `shader`, which is the `object` of hob_program_manager_add_shader. `source` is valid
    /// during the call. Must be set.
    pub compile: Option<
        extern "C" fn(
            user_data: *mut c_void,
            shader: *mut c_void,
            stage: u32,
            source: *const c_void,
            size: usize,
        ) -> u32,
    >,
    /// Links the compiled shaders; `program` is hob_program_link_desc.program. Must be set.
    pub link: Option<extern "C" fn(user_data: *mut c_void, program: *mut c_void) -> u32>,
    /// Gives the driver a program from the cache. Failure: the program is removed and built. Must be set.
    pub load: Option<extern "C" fn(user_data: *mut c_void, program: *mut c_void, blob: *const hob_blob) -> u32>,
    /// Sets format, data and reflection of `binary` from the linked program. Other fields are ignored. The data stays
    /// valid until the next call of this, or until hob_program_manager_link returns. If it fails, or if this callback
    /// is NULL, nothing is stored.
    pub get_binary:
        Option<extern "C" fn(user_data: *mut c_void, program: *mut c_void, binary: *mut hob_program) -> u32>,
    /// Called exactly once, after the last of the other callbacks. May be NULL.
    pub release: Option<extern "C" fn(user_data: *mut c_void)>,
}

/// The host's callbacks as a driver of one program object.
pub struct HostDriver {
    calls: hob_program_callbacks,
    program: *mut c_void,
    binary: hob_program,
    load_code: u32,
}

impl HostDriver {
    /// A driver of the host's `program`, which may be NULL for compiles.
    pub fn new(calls: hob_program_callbacks, program: *mut c_void) -> Self {
        Self { calls, program, binary: hob_program::defaults(), load_code: 0 }
    }

    /// The last result of the host's load. 0: it was not called.
    pub fn load_code(&self) -> u32 {
        self.load_code
    }
}

/// 0 is success.
fn answered(code: u32) -> std::result::Result<(), u32> {
    if code == 0 { Ok(()) } else { Err(code) }
}

impl Driver for HostDriver {
    type Error = u32;

    fn compile(&mut self, shader: &Shader) -> std::result::Result<(), u32> {
        let (Some(compile), source) = (self.calls.compile, shader.compiled_source()) else { return Err(u32::MAX) };
        let object = shader.object() as *mut c_void;
        let code =
            call_host(|| compile(self.calls.user_data, object, shader.stage(), source.as_ptr().cast(), source.len()));
        fault_point!("program_manager.compile");
        answered(code)
    }

    fn link(&mut self) -> std::result::Result<(), u32> {
        let Some(link) = self.calls.link else { return Err(u32::MAX) };
        answered(call_host(|| link(self.calls.user_data, self.program)))
    }

    fn load(&mut self, cached: &Blob) -> bool {
        let Some(load) = self.calls.load else { return false };
        // Without the pin, because the host must not release it.
        let view = hob_blob::view(cached);
        self.load_code = call_host(|| load(self.calls.user_data, self.program, &raw const view));
        self.load_code == 0
    }

    fn binary(&mut self) -> Option<Binary<'_>> {
        let get_binary = self.calls.get_binary?;
        self.binary = hob_program::defaults();
        if call_host(|| get_binary(self.calls.user_data, self.program, &raw mut self.binary)) != 0 {
            return None;
        }
        let hob_program { format, data, size, reflection, reflection_size, .. } = self.binary;
        // SAFETY: the header's contract for the fields that the host sets.
        let (data, reflection) =
            unsafe { (bytes(data, size, "data").ok()?, bytes(reflection, reflection_size, "reflection").ok()?) };
        Some(Binary { format, data, reflection })
    }
}

/// The keys of `fingerprint.h`.
#[derive(Default)]
pub struct FingerprintKeys<'a>(PhantomData<&'a ()>);

/// The inputs of a program besides its shaders.
pub struct Extra<'a> {
    pub mode: Mode,
    pub program: Program<'a>,
}

fn with_stages<R>(
    shaders: &[&mut Shader],
    extra: &Extra<'_>,
    with: impl FnOnce(&Program<'_>) -> Result<R>,
) -> Result<R> {
    let stages = shaders.iter().map(|shader| Stage { stage: shader.stage(), source: shader.compiled_source() });
    let stages = try_collect(stages)?;
    let Program { attributes, defines, feedback, extra, .. } = extra.program;
    with(&Program { stages: &stages, attributes, defines, feedback, extra })
}

impl<'a> Keys for FingerprintKeys<'a> {
    type Extra = Extra<'a>;

    fn shader(&self, stage: u32, source: &[u8]) -> Key {
        fingerprint::shader(stage, source).0
    }

    fn program(&self, shaders: &[&mut Shader], extra: &Self::Extra) -> Result<Key> {
        with_stages(shaders, extra, |described| Ok(program(extra.mode, described, &mut |_| ())?.0))
    }

    fn material(&self, shaders: &[&mut Shader], extra: &Self::Extra) -> Result<Option<Material>> {
        with_stages(shaders, extra, program_material).map(Some)
    }
}
