//! The host's graphics interface and its keys, as the manager calls them.

use super::shader::Shader;
use crate::base::{self, Result};
use crate::program_cache::key::Key;
use crate::program_cache::memory::Blob;
use crate::program_cache::memory::material::Material;

/// Makes keys of shaders and programs.
pub trait Keys {
    /// The inputs of a program beside its shaders, such as attribute locations and feedback.
    type Extra: ?Sized;
    /// The key of a shader's source, as the host wrote it.
    fn shader(&self, stage: u32, source: &[u8]) -> Key;
    /// The key of a program.
    fn program(&self, shaders: &[&mut Shader], extra: &Self::Extra) -> Result<Key>;
    /// The inputs of that key, to explain misses.
    fn material(&self, _shaders: &[&mut Shader], _extra: &Self::Extra) -> Result<Option<Material>> {
        Ok(None)
    }
}

/// A linked program from the driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Binary<'a> {
    /// The driver's name for the format.
    pub format: u32,
    /// The binary.
    pub data: &'a [u8],
    /// Bytes that the host wants back with it.
    pub reflection: &'a [u8],
}

/// The host's graphics interface, for one program object.
pub trait Driver {
    /// The error of a compile or a link.
    type Error;
    /// Compile the source that a shader had at the host's last request.
    fn compile(&mut self, shader: &Shader) -> std::result::Result<(), Self::Error>;
    /// Link the compiled shaders.
    fn link(&mut self) -> std::result::Result<(), Self::Error>;
    /// Load a program from the cache instead. Returns whether the driver accepts it.
    fn load(&mut self, cached: &Blob) -> bool;
    /// The linked program; `None` if the driver cannot return it.
    fn binary(&mut self) -> Option<Binary<'_>>;
    /// Microseconds of a monotonic clock. `None`: builds have no cost.
    fn now_us(&mut self) -> Option<u64> {
        base::host::now_ns().map(|ns| ns / 1000)
    }
}
