//! Drives a host's compile, link and load so that as little as possible of it happens.
//!
//! The seed's manager, for any number of stages. A shader that is known to compile is not compiled when the host asks
//! for it but put off; when its program is linked and cached, it never is. A program that is missed, or that the driver
//! will not load, is linked after compiling just the shaders that were put off, and saved once.

use super::{Blob, Key, Material, Measure, Program, ProgramCache, Put, Status, UseToken, Verdict};
use crate::base::host::{Level, log};
use crate::base::{self, Result};

/// How keys are made of what they stand for.
pub trait Keys {
    /// All that a program depends on beside its shaders (attribute locations, feedback).
    type Extra: ?Sized;
    /// The key of a shader, of its source as the host wrote it.
    fn shader(&self, stage: u32, source: &[u8]) -> Key;
    /// The key of a program.
    fn program(&self, shaders: &[&mut Shader], extra: &Self::Extra) -> Result<Key>;
    /// What that key is made from, for who wants to know why a program was missed.
    fn material(&self, _shaders: &[&mut Shader], _extra: &Self::Extra) -> Result<Option<Material>> {
        Ok(None)
    }
}

/// A program as the driver gives it back after linking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Binary<'a> {
    /// The driver's name for the format.
    pub format: u32,
    /// The binary.
    pub data: &'a [u8],
    /// What the host wants back with it.
    pub reflection: &'a [u8],
}

/// The host's graphics interface, for one program object.
pub trait Driver {
    /// What a compile or a link that failed says.
    type Error;
    /// Compile the source that a shader had when the host asked for it.
    fn compile(&mut self, shader: &Shader) -> std::result::Result<(), Self::Error>;
    /// Link what was compiled.
    fn link(&mut self) -> std::result::Result<(), Self::Error>;
    /// Take a program from the cache instead; whether the driver would.
    fn load(&mut self, cached: &Blob) -> bool;
    /// Get the linked program back; nothing if this driver cannot give it.
    fn binary(&mut self) -> Option<Binary<'_>>;
    /// Microseconds of a clock that never goes back; with none, builds count as costing nothing.
    fn now_us(&mut self) -> Option<u64> {
        base::host::now_ns().map(|ns| ns / 1000)
    }
}

/// How far a shader has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShaderState {
    /// It was not asked for since it was made.
    NotCompiled,
    /// The driver did not compile it.
    Failed,
    /// It is known to compile, and was put off.
    Deferred,
    /// The driver has compiled it.
    Compiled,
}

/// A shader of the host.
#[derive(Debug)]
pub struct Shader {
    stage: u32,
    object: usize,
    /// As the host set it last.
    source: Vec<u8>,
    /// As it was when the host last asked for a compile: what counts until it asks again.
    compiled_source: Vec<u8>,
    key: Key,
    state: ShaderState,
    compile_us: u64,
}

impl Shader {
    /// A shader without source. `object` is the driver's name for it, or whatever the host likes.
    pub fn new(stage: u32, object: usize) -> Self {
        let (source, compiled_source, key) = (Vec::new(), Vec::new(), Key::default());
        Self { stage, object, source, compiled_source, key, state: ShaderState::NotCompiled, compile_us: 0 }
    }

    /// Give it a source, to be copied. What was compiled before stays compiled until the next compile.
    pub fn set_source(&mut self, source: &[u8]) -> Result<()> {
        copy_into(&mut self.source, source)
    }

    /// Which stage it is for.
    pub fn stage(&self) -> u32 {
        self.stage
    }

    /// What it was made with.
    pub fn object(&self) -> usize {
        self.object
    }

    /// The source as it was when the host last asked for a compile.
    pub fn compiled_source(&self) -> &[u8] {
        &self.compiled_source
    }

    /// Key of the source that was compiled.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// How far it has come.
    pub fn state(&self) -> ShaderState {
        self.state
    }
}

/// What went wrong.
#[derive(Debug)]
pub enum Failure<E> {
    /// The shader of this place among those given does not compile; what the driver says.
    Compile(usize, E),
    /// The program does not link; what the driver says.
    Link(E),
    /// A shader was never compiled: its place among those given.
    NotCompiled(usize),
    /// A shader did not compile when it was asked for last: its place among those given.
    Failed(usize),
    /// The cache could not do its part, and nothing was given to the driver.
    Cache(base::Error),
}

impl<E> From<base::Error> for Failure<E> {
    fn from(error: base::Error) -> Self {
        Self::Cache(error)
    }
}

/// How a program came to be.
#[derive(Debug)]
pub enum Linked {
    /// From the cache. The use is to be ended after the first frame drawn with it.
    Loaded(Key, UseToken),
    /// Built. What became of saving it: nothing if the driver gave no binary, an error if there was no memory; neither
    /// harms the program.
    Built(Key, Option<Result<Put>>),
}

/// Puts a cache between a host and its driver.
#[derive(Clone, Copy)]
pub struct Manager<'a, K> {
    cache: &'a ProgramCache,
    keys: &'a K,
}

impl<'a, K: Keys> Manager<'a, K> {
    /// A manager of that cache.
    pub fn new(cache: &'a ProgramCache, keys: &'a K) -> Self {
        Self { cache, keys }
    }

    /// Compile a shader's present source, or put it off if it is known to compile. A failed compile is not recorded.
    pub fn compile<D: Driver>(
        &self,
        driver: &mut D,
        shader: &mut Shader,
    ) -> std::result::Result<ShaderState, Failure<D::Error>> {
        let begun = driver.now_us();
        copy_into(&mut shader.compiled_source, &shader.source)?;
        shader.key = self.keys.shader(shader.stage, &shader.compiled_source);
        shader.compile_us = 0;
        let known = self.cache.compile_status(&shader.key) == Status::Succeeded;
        if known {
            shader.state = ShaderState::Deferred;
        } else {
            self.compile_now(driver, shader).map_err(|error| Failure::Compile(0, error))?;
        }
        let measure = if known { Measure::StatusHitMicros } else { Measure::StatusMissMicros };
        self.record(driver, begun, measure);
        Ok(shader.state)
    }

    /// Link a program of shaders that were compiled or put off: from the cache if that is possible, else by compiling
    /// what was put off, linking and saving. `extra` is what else its key depends on, `group` where it belongs.
    pub fn link<D: Driver>(
        &self,
        driver: &mut D,
        shaders: &mut [&mut Shader],
        extra: &K::Extra,
        group: u32,
    ) -> std::result::Result<Linked, Failure<D::Error>> {
        let begun = driver.now_us();
        let stages = stages_of(shaders)?;
        let key = self.keys.program(shaders, extra)?;
        if let Some(token) = self.load(driver, &key)? {
            self.record(driver, begun, Measure::HitMicros);
            return Ok(Linked::Loaded(key, token));
        }
        let cost_us = self.build(driver, shaders)?;
        let saved = driver.binary().map(|Binary { format, data, reflection }| {
            self.cache.put(&key, &Program { format, data, reflection, stages: &stages, cost_us, group })
        });
        self.record(driver, begun, Measure::MissMicros);
        if self.cache.described_keys() > 0 {
            // Nothing that the host needs; without memory for it there is none.
            let _ = self.explain(&key, shaders, extra);
        }
        Ok(Linked::Built(key, saved))
    }

    /// Say why a program was missed, and remember what it was made from.
    fn explain(&self, key: &Key, shaders: &[&mut Shader], extra: &K::Extra) -> Result<()> {
        let Some(material) = self.keys.material(shaders, extra)? else { return Ok(()) };
        if let Some(why) = self.cache.why_missed(&material)? {
            log(Level::Info, format_args!("a program was built: {why}"));
        }
        self.cache.describe(key, &material)
    }

    /// Give the driver what is cached; nothing if there is nothing, if it is banned, or if the driver rejects it.
    fn load<D: Driver>(&self, driver: &mut D, key: &Key) -> Result<Option<UseToken>> {
        let Some(cached) = self.cache.get(key) else { return Ok(None) };
        let Some(token) = self.cache.use_begin(key)? else { return Ok(None) };
        if driver.load(&cached) {
            return Ok(Some(token));
        }
        self.cache.use_end(token, Verdict::Rejected)?;
        Ok(None)
    }

    /// Compile what was put off, and link; what building the program has cost in all, in microseconds.
    fn build<D: Driver>(
        &self,
        driver: &mut D,
        shaders: &mut [&mut Shader],
    ) -> std::result::Result<u64, Failure<D::Error>> {
        for (place, shader) in shaders.iter_mut().enumerate() {
            if shader.state == ShaderState::Deferred {
                self.compile_now(driver, shader).map_err(|error| Failure::Compile(place, error))?;
            }
        }
        let begun = driver.now_us();
        driver.link().map_err(Failure::Link)?;
        let compiles = shaders.iter().fold(0, |sum: u64, shader| sum.saturating_add(shader.compile_us));
        Ok(compiles.saturating_add(since(driver, begun).unwrap_or(0)))
    }

    fn compile_now<D: Driver>(&self, driver: &mut D, shader: &mut Shader) -> std::result::Result<(), D::Error> {
        let begun = driver.now_us();
        shader.state = ShaderState::Failed;
        driver.compile(shader)?;
        shader.state = ShaderState::Compiled;
        shader.compile_us = since(driver, begun).unwrap_or(0);
        // Without memory to remember it the shader is compiled again next time, no more.
        let _ = self.cache.shader_compiled(&shader.key);
        Ok(())
    }

    fn record<D: Driver>(&self, driver: &mut D, begun: Option<u64>, measure: Measure) {
        if let Some(micros) = since(driver, begun) {
            self.cache.record(measure, micros);
        }
    }
}

fn since<D: Driver>(driver: &mut D, begun: Option<u64>) -> Option<u64> {
    Some(driver.now_us()?.saturating_sub(begun?))
}

fn stages_of<E>(shaders: &[&mut Shader]) -> std::result::Result<Vec<Key>, Failure<E>> {
    let mut stages = Vec::new();
    stages.try_reserve_exact(shaders.len()).map_err(base::Error::from)?;
    for (place, shader) in shaders.iter().enumerate() {
        match shader.state {
            ShaderState::NotCompiled => return Err(Failure::NotCompiled(place)),
            ShaderState::Failed => return Err(Failure::Failed(place)),
            ShaderState::Deferred | ShaderState::Compiled => stages.push(shader.key),
        }
    }
    Ok(stages)
}

/// On an error `to` is what it was.
fn copy_into(to: &mut Vec<u8>, from: &[u8]) -> Result<()> {
    to.try_reserve(from.len().saturating_sub(to.len()))?;
    to.clear();
    to.extend_from_slice(from);
    Ok(())
}
