//! The program manager. Shaders are compiled as late as possible, and links are loaded from the cache if possible.
//!
//! The manager is not borrowed while a callback runs. A call takes its shaders out of the manager, and puts them back
//! when it ends.

use std::ffi::{c_char, c_void};

use hobgoblin_macros::{element, entry, opaque, open_enum, versioned};

use super::cache::{hob_program_cache, hob_use_id};
use super::callbacks::{Extra, FingerprintKeys, HostDriver, hob_program_callbacks};
use crate::base::{Error, Id, Result, Shared, Slots, error, try_collect};
use crate::ffi::base::argument::Argument;
use crate::ffi::base::array::Array;
use crate::ffi::base::guard;
use crate::ffi::base::handle::{self, Held};
use crate::ffi::base::out::write_if;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::Versioned;
use crate::ffi::base::user_data::UserData;
use crate::ffi::fingerprint::bytes::hob_fingerprint;
use crate::ffi::fingerprint::key::{hob_program_key_desc, known_stage, with_program};
use crate::fingerprint::{Mode, Program};
use crate::program_cache::manager::{Failure, Linked, Manager, Shader, ShaderState};
use crate::program_cache::{Cache, IdSalt, Put};

/// Links programs from a cache, and compiles only the shaders that it must.
/// A handle: see "Handles" in base.h. Build times are measured with the host's clock: without a hob_clock_hook programs
/// are stored with a build_us of 0. Several managers may share a cache, on different threads.
#[opaque(ManagerCell, tag = b"hobprman")]
pub struct hob_program_manager {
    _private: [u8; 0],
}

/// A manager: its cache, its callbacks, and its shaders except those that a running call has taken.
pub struct ManagerCell {
    cache: Cache,
    callbacks: hob_program_callbacks,
    _user_data: Shared<UserData>,
    salt: IdSalt,
    shaders: Slots<Option<Shader>>,
}

impl ManagerCell {
    fn shader(&mut self, id: Id) -> Result<&mut Option<Shader>> {
        let unknown = || error!(NotFound, "unknown shader: it was removed, or belongs to another manager");
        let position = self.shaders.position(self.salt.apply(id)).ok_or_else(unknown)?;
        self.shaders.at_mut(position).ok_or_else(unknown)
    }

    /// Takes a shader out. [`put_back`](Self::put_back) returns it.
    fn take(&mut self, id: Id) -> Result<Shader> {
        let twice = || error!(InvalidArgument, "a shader is named twice: name each once");
        self.shader(id)?.take().ok_or_else(twice)
    }

    fn put_back(&mut self, id: Id, shader: Shader) {
        if let Ok(place) = self.shader(id) {
            *place = Some(shader);
        }
    }
}

/// Creates a manager of a cache.
/// `compile`, `link` and `load` of `callbacks` must be set. On success `*out_manager` is the caller's to destroy, and
/// `user_data` is the library's. Destroy all managers before their cache. A manager that outlives its cache still
/// works, but writes no programs and records no uses. Threads: any.
#[entry(any, experimental)]
#[must_use]
pub extern "C" fn hob_program_manager_create(
    cache: *const hob_program_cache,
    callbacks: *const hob_program_callbacks,
    out_manager: *mut *mut hob_program_manager,
) -> hob_result {
    if callbacks.compile.is_none() || callbacks.link.is_none() || callbacks.load.is_none() {
        return Err(error!(InvalidArgument, "hob_program_callbacks: compile, link and load must be set"));
    }
    let cache = cache.read(|cache| Ok(Cache::clone(cache)))?;
    let user_data = Shared::try_new(UserData::new(callbacks.user_data, callbacks.release))?;
    let _user_data = user_data.clone();
    let cell = ManagerCell { cache, callbacks, _user_data, salt: IdSalt::default(), shaders: Slots::default() };
    out_manager.write(handle::create::<hob_program_manager>(cell)?);
    user_data.own();
    Ok(())
}

/// Destroys a manager and its shaders; NULL is allowed.
/// Programs stay in the cache. Threads: no call on it may run on another thread.
#[entry(destroy, experimental)]
pub extern "C" fn hob_program_manager_destroy(manager: *mut hob_program_manager) {}

/// A shader of a manager.
/// All zero is no shader.
#[element(size = 8, last = generation)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_shader_id {
    /// Its place, from 1 on; 0 is no shader.
    pub index1: u32,
    /// Distinguishes it from earlier shaders at that place.
    pub generation: u32,
}

/// Adds a shader without a source.
/// `stage` is a hob_shader_stage or a number of the host. `object` is passed to `compile`: the graphics API's name of
/// the shader, for instance. HOB_RESULT_INVALID_ARGUMENT: the stage is unknown. Threads: exclusive.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_program_manager_add_shader(
    manager: *mut hob_program_manager,
    stage: u32,
    object: *mut c_void,
    out_shader: *mut hob_shader_id,
) -> hob_result {
    let stage = known_stage(stage)?;
    let Id { index1, generation } = manager.with(|cell| {
        cell.shaders.reserve_one()?;
        Ok::<Id, Error>(cell.salt.apply(cell.shaders.insert(Some(Shader::new(stage, object as usize)))))
    })?;
    out_shader.write(hob_shader_id { index1, generation });
    Ok(())
}

/// Removes a shader.
/// Programs that were linked from it stay in the cache. HOB_RESULT_NOT_FOUND: the manager has no such shader. Threads:
/// exclusive.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_program_manager_remove_shader(
    manager: *mut hob_program_manager,
    shader: hob_shader_id,
) -> hob_result {
    manager.with(|cell| {
        cell.shader(id_of(shader))?;
        cell.shaders.remove(cell.salt.apply(id_of(shader)));
        Ok(())
    })
}

/// Sets the source of a shader; it is copied.
/// Links use the source of the last hob_program_manager_compile. HOB_RESULT_NOT_FOUND: the manager has no such shader.
/// Threads: exclusive.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_program_manager_set_source(
    manager: *mut hob_program_manager,
    shader: hob_shader_id,
    source: *const c_void,
    size: usize,
) -> hob_result {
    manager.with(|cell| match cell.shader(id_of(shader))? {
        Some(shader) => shader.set_source(source),
        None => Ok(()),
    })
}

/// The state of a shader.
#[open_enum]
#[repr(C)]
pub enum hob_shader_state {
    /// It is not compiled, or its compile failed.
    NotCompiled = 0,
    /// It is known to compile, and deferred.
    Deferred = 1,
    /// The driver has compiled it.
    Compiled = 2,
}

/// Compiles a shader's present source, or defers the compile if it is known to succeed.
/// `*out_state` receives its state, `*out_driver_code` the result of `compile`, 0 if it was not called. Both are
/// written also after a failure, and may be NULL. HOB_RESULT_BUILD_FAILED: the compile failed; the cache does not
/// remember that. HOB_RESULT_NOT_FOUND: the manager has no such shader. Threads: exclusive. Calls `compile`.
#[entry(exclusive, nullable(out_state, out_driver_code), experimental)]
pub extern "C" fn hob_program_manager_compile(
    manager: *mut hob_program_manager,
    shader: hob_shader_id,
    out_state: *mut hob_shader_state,
    out_driver_code: *mut u32,
) -> hob_result {
    let id = id_of(shader);
    let (mut shader, cache, calls) =
        manager.with(|cell| Ok::<_, Error>((cell.take(id)?, cell.cache.clone(), cell.callbacks)))?;
    let (keys, mut driver) = (FingerprintKeys::default(), HostDriver::new(calls, std::ptr::null_mut()));
    let compiled = Manager::new(&cache, &keys).compile(&mut driver, &mut shader);
    let state = shader.state();
    manager.with(|cell| cell.put_back(id, shader));
    write_if(
        out_state,
        match state {
            ShaderState::NotCompiled | ShaderState::Failed => hob_shader_state::NotCompiled,
            ShaderState::Deferred => hob_shader_state::Deferred,
            ShaderState::Compiled => hob_shader_state::Compiled,
        },
    );
    write_if(
        out_driver_code,
        match &compiled {
            Err(Failure::Compile(_, code) | Failure::Link(code)) => *code,
            _ => 0,
        },
    );
    compiled.map(|_| ()).map_err(refused)
}

/// A program to be linked.
#[versioned(size = 40, last = key)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_program_link_desc {
    /// sizeof(hob_program_link_desc).
    pub struct_size: u32,
    /// See hob_program.group. A cached program moves to this group.
    pub group: u32,
    /// Passed to the callbacks: the host's program object.
    pub program: *mut c_void,
    /// At least one shader, each compiled or deferred. Their order matters.
    pub shaders: *const hob_shader_id,
    /// Number of `shaders`. 0 is an error.
    pub shader_count: usize,
    /// Other inputs of the program, such as attributes. It must have no stages: those are the shaders. The program's
    /// key is that of hob_fingerprint_hash_program for both together. NULL: no other inputs.
    pub key: *const hob_program_key_desc,
}

/// How a link ended.
#[open_enum]
#[repr(C)]
pub enum hob_link_outcome {
    /// The link did not begin.
    None = 0,
    /// The driver loaded the program from the cache.
    Loaded = 1,
    /// The program was built and stored.
    Built = 2,
    /// The program was built. There was no binary, or it could not be stored.
    BuiltUnsaved = 3,
    /// A deferred shader failed to compile.
    CompileFailed = 4,
    /// The link failed.
    LinkFailed = 5,
}

/// The result of a link.
/// An answer: set struct_size, or begin with HOB_LINK_RESULT_INIT.
#[versioned(size = 56, last = failed_shader)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_link_result {
    /// sizeof(hob_link_result).
    pub struct_size: u32,
    /// How the link ended.
    pub outcome: hob_link_outcome,
    /// HOB_LINK_OUTCOME_LOADED: the use that has begun. End it with hob_program_cache_end_use: see "Use" at the top of
    /// this file.
    pub first_use: hob_use_id,
    /// The program's key; zeros if the link failed.
    pub key: hob_fingerprint,
    /// After a failure the code of the callback that failed. After a build the code of `load`, if the cache had a
    /// program that the driver rejected. Otherwise 0.
    pub driver_code: u32,
    /// HOB_LINK_OUTCOME_COMPILE_FAILED: the index of the shader in hob_program_link_desc.shaders.
    pub failed_shader: u32,
}

/// Links a program: from the cache if possible, else by building it.
/// Building compiles the deferred shaders, links, and stores the binary. `*out_result` is written also after a failed
/// link, which is HOB_RESULT_BUILD_FAILED; nothing is stored then. HOB_RESULT_NOT_FOUND: the manager has no such
/// shader. HOB_RESULT_INVALID_ARGUMENT: no shaders, a shader that was not compiled or is listed twice, or a `key` with
/// stages. Threads: exclusive. Calls the callbacks.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_program_manager_link(
    manager: *mut hob_program_manager,
    desc: *const hob_program_link_desc,
    out_result: *mut hob_link_result,
) -> hob_result {
    let (result, done) = if desc.key.is_null() {
        link(manager, &desc, Extra { mode: Mode::Blake3, program: Program::default() })?
    } else {
        // SAFETY: the header's contract for the field, and for the desc that it points to.
        unsafe {
            let key = hob_program_key_desc::take(desc.key, "key")?;
            with_program(&key, |mode, described| {
                if !described.stages.is_empty() {
                    return Err(error!(
                        InvalidArgument,
                        "hob_program_link_desc.key has stages: leave them empty, the shaders replace them"
                    ));
                }
                link(manager, &desc, Extra { mode, program: *described })
            })
        }?
    };
    out_result.write(result);
    done
}

/// Links a program. Returns the result for the host, and whether the driver failed.
fn link(
    held: &Held<'_, ManagerCell>,
    desc: &hob_program_link_desc,
    extra: Extra<'_>,
) -> Result<(hob_link_result, Result<()>)> {
    // SAFETY: the header's contract for the fields.
    let ids = unsafe { Array::new(desc.shaders, 0, desc.shader_count, "shaders") }?;
    let taken = BorrowedShaders::new(held, ids.iter().map(id_of))?;
    let (cache, calls) = held.with(|cell| (cell.cache.clone(), cell.callbacks));
    let (keys, mut driver) = (FingerprintKeys::default(), HostDriver::new(calls, desc.program));
    let done = taken.lend(|shaders| Manager::new(&cache, &keys).link(&mut driver, shaders, &extra, desc.group))?;
    Ok((result_of(&done, driver.load_code()), done.map(|_| ()).map_err(refused)))
}

/// Returns the sentence of this handle's last failed exclusive call.
/// It is empty if none has failed, and valid until the next failure. Threads: shared.
#[entry(handle, or = guard::last_error(), experimental)]
#[must_use]
pub extern "C" fn hob_program_manager_last_error(manager: *const hob_program_manager) -> *const c_char {
    Ok(manager.last_error())
}

/// Shaders that a call works on. They return to the manager when the call ends, also by a panic.
struct BorrowedShaders<'a, 'h> {
    held: &'a Held<'h, ManagerCell>,
    shaders: Vec<(Id, Shader)>,
}

impl<'a, 'h> BorrowedShaders<'a, 'h> {
    fn new(held: &'a Held<'h, ManagerCell>, ids: impl ExactSizeIterator<Item = Id>) -> Result<Self> {
        if ids.len() == 0 {
            return Err(error!(InvalidArgument, "the program has no shader: name at least one"));
        }
        let mut taken = Self { held, shaders: Vec::new() };
        taken.shaders.try_reserve_exact(ids.len())?;
        for id in ids {
            let shader = held.with(|cell| cell.take(id))?;
            taken.shaders.push((id, shader));
        }
        Ok(taken)
    }

    fn lend<R>(mut self, work: impl FnOnce(&mut [&mut Shader]) -> R) -> Result<R> {
        let mut lent = try_collect(self.shaders.iter_mut().map(|(_, shader)| shader))?;
        Ok(work(&mut lent))
    }
}

impl Drop for BorrowedShaders<'_, '_> {
    fn drop(&mut self) {
        let shaders = std::mem::take(&mut self.shaders);
        self.held.with(|cell| shaders.into_iter().for_each(|(id, shader)| cell.put_back(id, shader)));
    }
}

fn result_of(done: &std::result::Result<Linked, Failure<u32>>, load_code: u32) -> hob_link_result {
    let none = hob_link_result::defaults();
    match done {
        Ok(Linked::Loaded(key, token)) => {
            let Id { index1, generation } = token.0;
            let first_use = hob_use_id { index1, generation };
            let key = hob_fingerprint { bytes: *key };
            hob_link_result { outcome: hob_link_outcome::Loaded, first_use, key, ..none }
        }
        Ok(Linked::Built(key, saved)) => {
            let is_saved = matches!(saved, Some(Ok(Put::Stored | Put::Replaced)));
            let outcome = if is_saved { hob_link_outcome::Built } else { hob_link_outcome::BuiltUnsaved };
            hob_link_result { outcome, key: hob_fingerprint { bytes: *key }, driver_code: load_code, ..none }
        }
        Err(Failure::Compile(place, code)) => hob_link_result {
            outcome: hob_link_outcome::CompileFailed,
            driver_code: *code,
            failed_shader: *place as u32,
            ..none
        },
        Err(Failure::Link(code)) => {
            hob_link_result { outcome: hob_link_outcome::LinkFailed, driver_code: *code, ..none }
        }
        Err(Failure::NotCompiled(_) | Failure::Failed(_) | Failure::Cache(_)) => none,
    }
}

fn refused(failure: Failure<u32>) -> Error {
    match failure {
        Failure::Compile(place, code) => error!(BuildFailed, "shader {place} failed to compile: driver code {code}"),
        Failure::Link(code) => error!(BuildFailed, "the program failed to link: driver code {code}"),
        Failure::NotCompiled(place) => {
            error!(InvalidArgument, "shader {place} is not compiled: call hob_program_manager_compile first")
        }
        Failure::Failed(place) => {
            error!(InvalidArgument, "shader {place} failed to compile: set another source and compile it")
        }
        Failure::Cache(why) => why,
    }
}

fn id_of(shader: hob_shader_id) -> Id {
    Id { index1: shader.index1, generation: shader.generation }
}
