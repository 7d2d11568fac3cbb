//! Drives the host's compile, link and load, and calls them as rarely as possible.
//!
//! After Chromium's manager, for any number of stages. The compile of a shader that is known to compile is deferred. If
//! its program is cached, it is never compiled. A program that is missed, or that the driver rejects, is built: the
//! deferred shaders are compiled, and the program is linked and stored once.

mod driver;
mod shader;

use super::cache::Cache;
use super::key::Key;
use super::memory::statistics::Measure;
use super::memory::status::Status;
use super::program::{Program, Put};
use super::strikes::{UseToken, Verdict};
use crate::base::host::{Level, log};
use crate::base::{self, Result};
pub use driver::{Binary, Driver, Keys};
pub use shader::{Shader, ShaderState};

/// Why a compile or a link failed. Shaders are named by their index in the list.
#[derive(Debug)]
pub enum Failure<E> {
    /// A shader failed to compile, with the driver's error.
    Compile(usize, E),
    /// The program failed to link, with the driver's error.
    Link(E),
    /// The compile of a shader was never requested.
    NotCompiled(usize),
    /// The last compile of a shader failed.
    Failed(usize),
    /// The cache failed before the driver was called.
    Cache(base::Error),
}

impl<E> From<base::Error> for Failure<E> {
    fn from(error: base::Error) -> Self {
        Self::Cache(error)
    }
}

/// A linked program.
#[derive(Debug)]
pub enum Linked {
    /// Loaded from the cache. End the use after the first frame drawn with it.
    Loaded(Key, UseToken),
    /// Built, with the result of the put. `None`: the driver returned no binary. An error: there was no memory. The program
    /// works in both cases.
    Built(Key, Option<Result<Put>>),
}

/// Links programs of a host's driver from a cache.
#[derive(Clone, Copy)]
pub struct Manager<'a, K> {
    cache: &'a Cache,
    keys: &'a K,
}

impl<'a, K: Keys> Manager<'a, K> {
    /// A manager of a cache.
    pub fn new(cache: &'a Cache, keys: &'a K) -> Self {
        Self { cache, keys }
    }

    /// Compile a shader's present source, or defer that if it is known to compile. A failed compile is not recorded.
    pub fn compile<D: Driver>(
        &self,
        driver: &mut D,
        shader: &mut Shader,
    ) -> std::result::Result<ShaderState, Failure<D::Error>> {
        let begun = driver.now_us();
        shader.take_source()?;
        shader.key = self.keys.shader(shader.stage(), shader.compiled_source());
        shader.compile_us = 0;
        let known = self.cache.memory().compile_status(&shader.key) == Status::Succeeded;
        if known {
            shader.state = ShaderState::Deferred;
        } else {
            self.compile_now(driver, shader).map_err(|error| Failure::Compile(0, error))?;
        }
        let measure = if known { Measure::StatusHitMicros } else { Measure::StatusMissMicros };
        self.record(driver, begun, measure);
        Ok(shader.state)
    }

    /// Link a program of compiled or deferred shaders: from the cache if possible, else by building and storing it.
    /// `extra` has the other inputs of its key. The program moves to `group`: see [`Program::group`].
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
        if let Some(token) = self.load(driver, &key, group)? {
            self.record(driver, begun, Measure::HitMicros);
            return Ok(Linked::Loaded(key, token));
        }
        let cost_us = self.build(driver, shaders)?;
        let saved = driver.binary().map(|Binary { format, data, reflection }| {
            self.cache.put(&key, &Program { format, data, reflection, stages: &stages, cost_us, group })
        });
        self.record(driver, begun, Measure::MissMicros);
        if self.cache.memory().described_keys() > 0 {
            // The host does not depend on it; without memory it is omitted.
            let _ = self.explain(&key, shaders, extra);
        }
        Ok(Linked::Built(key, saved))
    }

    /// Log why a program was missed, and remember its inputs.
    fn explain(&self, key: &Key, shaders: &[&mut Shader], extra: &K::Extra) -> Result<()> {
        let Some(material) = self.keys.material(shaders, extra)? else { return Ok(()) };
        if let Some(why) = self.cache.why_missed(&material)? {
            log(Level::Info, format_args!("a program was built: {why}"));
        }
        self.cache.describe(key, &material)
    }

    /// Give the driver the cached program. `None`: it is missing or banned, or the driver rejects it.
    fn load<D: Driver>(&self, driver: &mut D, key: &Key, group: u32) -> Result<Option<UseToken>> {
        let Some(cached) = self.cache.get_for(key, Some(group)) else { return Ok(None) };
        let Some(token) = self.cache.begin_use(key)? else { return Ok(None) };
        if driver.load(&cached) {
            return Ok(Some(token));
        }
        self.cache.end_use(token, Verdict::Rejected)?;
        Ok(None)
    }

    /// Compile the deferred shaders, and link. Returns the build time in microseconds.
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
        // Without memory for the status, the shader is compiled again next time.
        let _ = self.cache.memory().shader_compiled(&shader.key);
        Ok(())
    }

    fn record<D: Driver>(&self, driver: &mut D, begun: Option<u64>, measure: Measure) {
        if let Some(micros) = since(driver, begun) {
            self.cache.memory().record(measure, micros);
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
