//! A shader of the host.

use crate::base::Result;
use crate::program_cache::key::Key;

/// The state of a shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShaderState {
    /// Its compile was never requested.
    NotCompiled,
    /// The last compile failed.
    Failed,
    /// It is known to compile, and its compile is deferred.
    Deferred,
    /// The driver has compiled it.
    Compiled,
}

/// A shader of the host.
#[derive(Debug)]
pub struct Shader {
    stage: u32,
    object: usize,
    /// The present source.
    source: Vec<u8>,
    /// The source at the last request for a compile. Links use it until the next one.
    compiled_source: Vec<u8>,
    pub(super) key: Key,
    pub(super) state: ShaderState,
    pub(super) compile_us: u64,
}

impl Shader {
    /// A shader without source. `object` is the driver's name for it, or any number of the host.
    pub fn new(stage: u32, object: usize) -> Self {
        let (source, compiled_source, key) = (Vec::new(), Vec::new(), Key::default());
        Self { stage, object, source, compiled_source, key, state: ShaderState::NotCompiled, compile_us: 0 }
    }

    /// Copy a source. The compiled source stays until the next compile.
    pub fn set_source(&mut self, source: &[u8]) -> Result<()> {
        copy_into(&mut self.source, source)
    }

    /// Make the present source the one to compile. On an error nothing changes.
    pub(super) fn take_source(&mut self) -> Result<()> {
        copy_into(&mut self.compiled_source, &self.source)
    }

    /// The stage.
    pub fn stage(&self) -> u32 {
        self.stage
    }

    /// The host's number.
    pub fn object(&self) -> usize {
        self.object
    }

    /// The source at the last request for a compile.
    pub fn compiled_source(&self) -> &[u8] {
        &self.compiled_source
    }

    /// The key of the compiled source.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// The state.
    pub fn state(&self) -> ShaderState {
        self.state
    }
}

fn copy_into(to: &mut Vec<u8>, from: &[u8]) -> Result<()> {
    to.try_reserve(from.len().saturating_sub(to.len()))?;
    to.clear();
    to.extend_from_slice(from);
    Ok(())
}
