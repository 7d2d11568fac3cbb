//! What a hob_program_manager gives to the safe manager: the host's callbacks, and the room `fingerprint`'s keys.

use std::ffi::c_void;
use std::marker::PhantomData;

use super::guard::call_host;
use super::layout::{Versioned, bytes};
use super::program_cache::{hob_blob, hob_program};
use super::program_cache_manager::hob_program_driver;
use super::program_cache_why::program_material;
use crate::base::{Result, fault_point};
use crate::fingerprint::{Builder, Mode, Program, Stage, program};
use crate::program_cache::manager::{Binary, Driver, Keys, Shader};
use crate::program_cache::{Blob, Key, Material};

/// The host's callbacks as a driver of one program object.
pub struct HostDriver {
    calls: hob_program_driver,
    program: *mut c_void,
    binary: hob_program,
    load_code: u32,
}

impl HostDriver {
    pub fn new(calls: hob_program_driver, program: *mut c_void) -> Self {
        Self { calls, program, binary: hob_program::defaults(), load_code: 0 }
    }

    /// What the host said to the program that it was to load; 0 also if there was none.
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
        // The host sees it without the pin: it is not the host's to release.
        let view = hob_blob::view(cached);
        self.load_code = call_host(|| load(self.calls.user_data, self.program, &raw const view));
        self.load_code == 0
    }

    fn binary(&mut self) -> Option<Binary<'_>> {
        let binary = self.calls.binary?;
        self.binary = hob_program::defaults();
        if call_host(|| binary(self.calls.user_data, self.program, &raw mut self.binary)) != 0 {
            return None;
        }
        let hob_program { format, data, size, reflection, reflection_size, .. } = self.binary;
        // SAFETY: the header asks the host for as much.
        let (data, reflection) =
            unsafe { (bytes(data, size, "data").ok()?, bytes(reflection, reflection_size, "reflection").ok()?) };
        Some(Binary { format, data, reflection })
    }
}

/// Keys of the room `fingerprint`.
#[derive(Default)]
pub struct FingerprintKeys<'a>(PhantomData<&'a ()>);

/// What a program is made from beside its shaders.
pub struct Extra<'a> {
    pub mode: Mode,
    pub program: Program<'a>,
}

fn with_stages<R>(
    shaders: &[&mut Shader],
    extra: &Extra<'_>,
    with: impl FnOnce(&Program<'_>) -> Result<R>,
) -> Result<R> {
    let mut stages = Vec::new();
    stages.try_reserve_exact(shaders.len())?;
    stages.extend(shaders.iter().map(|shader| Stage { stage: shader.stage(), source: shader.compiled_source() }));
    let Program { attributes, defines, feedback, extra, .. } = extra.program;
    with(&Program { stages: &stages, attributes, defines, feedback, extra })
}

impl<'a> Keys for FingerprintKeys<'a> {
    type Extra = Extra<'a>;

    fn shader(&self, stage: u32, source: &[u8]) -> Key {
        let mut name = Builder::new("hobgoblin shader 1");
        name.part(1, stage, source);
        name.finish().0
    }

    fn program(&self, shaders: &[&mut Shader], extra: &Self::Extra) -> Result<Key> {
        with_stages(shaders, extra, |described| Ok(program(extra.mode, described, &mut |_| ())?.0))
    }

    fn material(&self, shaders: &[&mut Shader], extra: &Self::Extra) -> Result<Option<Material>> {
        with_stages(shaders, extra, program_material).map(Some)
    }
}
