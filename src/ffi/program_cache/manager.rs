//! `program_cache.h`: the host's compile, link and load as callbacks, so that as little as possible of it happens.
//!
//! While the host runs nothing of the manager is borrowed: the shaders that a call works on are taken out of it, and put
//! back when the call ends.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use super::base::hob_result;
use super::fingerprint::{hob_fingerprint, hob_program_key_desc, known_stage, with_program};
use super::guard::{call_host, guard};
use super::handle::{self, Held, Opaque, exclusive, shared};
use super::layout::{Array, Element, Out, Versioned, bytes, checked_size, init_struct, read_struct, write_struct};
use super::program_cache::{hob_blob, hob_program, hob_program_cache};
use super::program_cache_driver::{Extra, FingerprintKeys, HostDriver};
use super::program_cache_state::hob_use;
use crate::base::{Error, Id, Result, Slots, error, try_push};
use crate::fingerprint::{Mode, Program};
use crate::program_cache::manager::{Failure, Linked, Manager, Shader, ShaderState};
use crate::program_cache::{ProgramCache, Put, Tag};

/// Drives the host's compile, link and load so that as little as possible of it happens: a shader that is known to compile
/// is put off, and compiled only if a program of it is missed. What building has cost is measured with the host's clock:
/// without a hob_clock_hook programs are saved with a build_us of 0, and HOB_EVICTION_COST_AWARE takes them all for equally
/// cheap. Any number of managers may work with a cache, on as many
/// threads. Inside a callback functions of the cache work; those of the manager answer HOB_RESULT_BUSY, but
/// hob_program_manager_destroy, which is put off until the running call returns. A handle; see docs/ownership.md.
pub struct hob_program_manager {
    _private: [u8; 0],
}

impl Opaque for hob_program_manager {
    type Value = ManagerCell;
    const NAME: &'static str = "hob_program_manager";
    const TAG: [u8; 8] = *b"hobprman";
}

/// A shader of a manager. All zero is none.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct hob_shader {
    pub index1: u32,
    pub generation: u32,
}

// SAFETY: repr(C), integers.
unsafe impl Element for hob_shader {
    const NAME: &'static str = "hob_shader";
    const FIRST_SIZE: usize = 8;
}

/// How far a shader has come.
#[repr(C)]
pub enum hob_shader_state {
    /// The driver did not compile it.
    NotCompiled = 0,
    /// It is known to compile, and was put off.
    Deferred = 1,
    /// The driver has compiled it.
    Compiled = 2,
}

/// How a link ended.
#[repr(C)]
pub enum hob_link_outcome {
    /// It was never begun.
    None = 0,
    /// The driver took the program from the cache.
    Loaded = 1,
    /// It was built, and saved.
    Built = 2,
    /// It was built; the driver gave no binary, or it could not be kept.
    BuiltUnsaved = 3,
    /// A shader did not compile, of which the cache had thought that it would.
    CompileFailed = 4,
    /// The driver did not link it.
    LinkFailed = 5,
}

/// What the host does for a manager. Each answers 0 for success and any other number, which the host gets back, for
/// failure. Called on the thread that calls the manager, and not beyond that call. An exception must not leave them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_program_driver {
    /// sizeof(hob_program_driver); set by hob_program_driver_init.
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    pub user_data: *mut c_void,
    /// Compile a source for `shader`, which is what hob_program_manager_add_shader was given. `source` is a copy of what
    /// hob_program_manager_set_source was given, and valid during the call.
    pub compile: Option<
        extern "C" fn(
            user_data: *mut c_void,
            shader: *mut c_void,
            stage: u32,
            source: *const c_void,
            size: usize,
        ) -> u32,
    >,
    /// Link what was compiled; `program` is hob_program_link_desc.program.
    pub link: Option<extern "C" fn(user_data: *mut c_void, program: *mut c_void) -> u32>,
    /// Give the driver a program from the cache. Not 0: the driver would not have it; it is removed, and built.
    pub load: Option<extern "C" fn(user_data: *mut c_void, program: *mut c_void, blob: *const hob_blob) -> u32>,
    /// Fill in format, data and reflection of `binary` from the linked program; they must stay until this is called again
    /// or hob_program_manager_link has returned. Other fields are not looked at. Not 0: there is none to be saved. NULL:
    /// never.
    pub binary: Option<extern "C" fn(user_data: *mut c_void, program: *mut c_void, binary: *mut hob_program) -> u32>,
    /// Called exactly once, when none of the above is called any more. May be NULL.
    pub release: Option<extern "C" fn(user_data: *mut c_void)>,
}

// SAFETY: repr(C), begins with struct_size, integers, pointers and optional functions.
unsafe impl Versioned for hob_program_driver {
    const NAME: &'static str = "hob_program_driver";
    const FIRST_SIZE: usize = size_of::<Self>();
    fn defaults() -> Self {
        Self {
            struct_size: size_of::<Self>() as u32,
            reserved: 0,
            user_data: std::ptr::null_mut(),
            compile: None,
            link: None,
            load: None,
            binary: None,
            release: None,
        }
    }
}

/// A program to be linked.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_program_link_desc {
    /// sizeof(hob_program_link_desc); set by hob_program_link_desc_init.
    pub struct_size: u32,
    /// See hob_program.group.
    pub group: u32,
    /// What callbacks are given: the host's program object.
    pub program: *mut c_void,
    /// At least one, each compiled or put off; their order counts.
    pub shaders: *const hob_shader,
    pub shader_count: usize,
    /// What else the program is made from: attributes, feedback, and so on. Its stages are those of the shaders, so none
    /// are given here. The program's key is that of hob_fingerprint_program for all of it. NULL: nothing else.
    pub key: *const hob_program_key_desc,
}

// SAFETY: repr(C), begins with struct_size, integers and pointers.
unsafe impl Versioned for hob_program_link_desc {
    const NAME: &'static str = "hob_program_link_desc";
    const FIRST_SIZE: usize = size_of::<Self>();
    fn defaults() -> Self {
        Self {
            struct_size: size_of::<Self>() as u32,
            group: 0,
            program: std::ptr::null_mut(),
            shaders: std::ptr::null(),
            shader_count: 0,
            key: std::ptr::null(),
        }
    }
}

/// How a program came to be. Filled in by the library; initialise with HOB_PROGRAM_LINKED_INIT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_program_linked {
    /// sizeof(hob_program_linked); set by hob_program_linked_init.
    pub struct_size: u32,
    /// A hob_link_outcome.
    pub outcome: u32,
    /// HOB_LINK_OUTCOME_LOADED: to be ended by hob_program_cache_use_end after the first frame drawn with it.
    pub first_use: hob_use,
    /// The program's key; zeros when the link failed.
    pub key: hob_fingerprint,
    /// What the callback said that failed; else 0. Of a program that was built, what `load` said of the one in the cache;
    /// 0: there was none, or it is banned. How the link ended `outcome` alone tells.
    pub driver_code: u32,
    /// HOB_LINK_OUTCOME_COMPILE_FAILED: which of the shaders.
    pub failed_shader: u32,
}

// SAFETY: repr(C), begins with struct_size, integers.
unsafe impl Versioned for hob_program_linked {
    const NAME: &'static str = "hob_program_linked";
    const FIRST_SIZE: usize = size_of::<Self>();
    fn defaults() -> Self {
        Self {
            struct_size: size_of::<Self>() as u32,
            outcome: hob_link_outcome::None as u32,
            first_use: hob_use { index1: 0, generation: 0 },
            key: hob_fingerprint { bytes: [0; 32] },
            driver_code: 0,
            failed_shader: 0,
        }
    }
}

/// A manager: what it works with, and its shaders, those that a running call works on being elsewhere.
pub struct ManagerCell {
    cache: Arc<ProgramCache>,
    driver: Owned,
    tag: Tag,
    shaders: Slots<Option<Shader>>,
}

/// The host's driver, which it is told when it is not needed any more.
struct Owned(hob_program_driver);

impl Drop for Owned {
    fn drop(&mut self) {
        if let Some(release) = self.0.release {
            call_host(|| release(self.0.user_data));
        }
    }
}

impl ManagerCell {
    fn shader(&mut self, id: Id) -> Result<&mut Option<Shader>> {
        let unknown = || error!(NotFound, "no such shader: it was removed, or is another manager's");
        let position = self.shaders.position(self.tag.of(id)).ok_or_else(unknown)?;
        self.shaders.at_mut(position).ok_or_else(unknown)
    }

    /// Take a shader out, to be put back by [`put_back`](Self::put_back).
    fn take(&mut self, id: Id) -> Result<Shader> {
        let twice = || error!(InvalidArgument, "a shader is there twice: name each once");
        self.shader(id)?.take().ok_or_else(twice)
    }

    fn put_back(&mut self, id: Id, shader: Shader) {
        if let Ok(place) = self.shader(id) {
            *place = Some(shader);
        }
    }
}

/// Fill in defaults; `size` is sizeof(hob_program_driver). Usually by HOB_PROGRAM_DRIVER_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_driver_init(driver: *mut hob_program_driver, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(driver, size) })
}

/// Fill in defaults; `size` is sizeof(hob_program_link_desc). Usually by HOB_PROGRAM_LINK_DESC_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_link_desc_init(desc: *mut hob_program_link_desc, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(desc, size) })
}

/// Fill in defaults; `size` is sizeof(hob_program_linked). Usually by HOB_PROGRAM_LINKED_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_linked_init(linked: *mut hob_program_linked, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(linked, size) })
}

/// Create a manager of a cache; `driver` needs compile, link and load (HOB_RESULT_INVALID_ARGUMENT). Destroy it before the
/// cache: what it saves after that stays in memory, which it keeps. `*out_manager` is written on success, and is then the
/// caller's to destroy; on failure nothing is released. Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn hob_program_manager_create(
    cache: *const hob_program_cache,
    driver: *const hob_program_driver,
    out_manager: *mut *mut hob_program_manager,
) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let out = Out::new(out_manager, "out_manager")?;
        let driver = read_struct(driver)?;
        if driver.compile.is_none() || driver.link.is_none() || driver.load.is_none() {
            return Err(error!(InvalidArgument, "hob_program_driver needs compile, link and load: none may be NULL"));
        }
        if driver.reserved != 0 {
            return Err(error!(Unsupported, "hob_program_driver.reserved is {}: set it to 0", driver.reserved));
        }
        let cache = shared(cache, |cache| Ok(cache.shared_memory()))
            .map_err(|_| error!(InvalidArgument, "cache is no live hob_program_cache: create one first"))?;
        // Ours only when nothing can fail any more.
        let owned = Owned(hob_program_driver { release: None, ..driver });
        let cell = ManagerCell { cache, driver: owned, tag: Tag::default(), shaders: Slots::default() };
        let manager = handle::create::<hob_program_manager>(cell)?;
        exclusive(manager, |held| {
            held.with(|cell| cell.driver.0.release = driver.release);
            Ok(())
        });
        out.write(manager);
        Ok(())
    })
}

/// Destroy a manager with its shaders. Programs stay in the cache. NULL is fine. Threads: no other call on it may run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_manager_destroy(manager: *mut hob_program_manager) {
    // SAFETY: the header's contract.
    unsafe { handle::destroy(manager) }
}

/// The sentence of the last call on this manager that failed, on whatever thread. Valid until the next one fails.
/// Threads: not beside another call on it.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn hob_program_manager_last_error(manager: *const hob_program_manager) -> *const c_char {
    // SAFETY: the header's contract.
    unsafe { handle::last_error(manager) }
}

/// Add a shader without source. `stage` is a hob_shader_stage or a number of the host's own; `object` is what
/// hob_program_driver.compile is given, such as the API's name for it. HOB_RESULT_INVALID_ARGUMENT: the stage is neither.
/// Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_manager_add_shader(
    manager: *mut hob_program_manager,
    stage: u32,
    object: *mut c_void,
    out_shader: *mut hob_shader,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(manager, |held| {
            let out = Out::new(out_shader, "out_shader")?;
            let stage = known_stage(stage)?;
            let Id { index1, generation } = held.with(|cell| {
                cell.shaders.reserve_one()?;
                Ok::<Id, Error>(cell.tag.of(cell.shaders.insert(Some(Shader::new(stage, object as usize)))))
            })?;
            out.write(hob_shader { index1, generation });
            Ok(())
        })
    }
}

/// Remove a shader. Programs that were linked from it stay. HOB_RESULT_NOT_FOUND: the manager has no such shader.
/// Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_manager_remove_shader(
    manager: *mut hob_program_manager,
    shader: hob_shader,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(manager, |held| {
            held.with(|cell| {
                cell.shader(id_of(shader))?;
                cell.shaders.remove(cell.tag.of(id_of(shader)));
                Ok(())
            })
        })
    }
}

/// Give a shader a source, to be copied. What was compiled before stays compiled until hob_program_manager_compile.
/// HOB_RESULT_NOT_FOUND: the manager has no such shader. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_manager_set_source(
    manager: *mut hob_program_manager,
    shader: hob_shader,
    source: *const c_void,
    size: usize,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(manager, |held| {
            let source = bytes(source, size, "source")?;
            held.with(|cell| match cell.shader(id_of(shader))? {
                Some(shader) => shader.set_source(source),
                None => Ok(()),
            })
        })
    }
}

/// Compile a shader's present source, or put it off if it is known to compile. The source of this moment is what counts in
/// links from here on. `*out_state` gets a hob_shader_state, `*out_driver_code` what a compile that failed said, else 0;
/// either may be NULL. HOB_RESULT_UNSUPPORTED: the driver did not compile it, which is not noted. HOB_RESULT_NOT_FOUND: the
/// manager has no such shader. Calls the driver back. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_manager_compile(
    manager: *mut hob_program_manager,
    shader: hob_shader,
    out_state: *mut u32,
    out_driver_code: *mut u32,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(manager, |held| {
            let id = id_of(shader);
            let (mut shader, cache, calls) =
                held.with(|cell| Ok::<_, Error>((cell.take(id)?, Arc::clone(&cell.cache), cell.driver.0)))?;
            let keys = FingerprintKeys::default();
            let compiled =
                Manager::new(&cache, &keys).compile(&mut HostDriver::new(calls, std::ptr::null_mut()), &mut shader);
            let state = shader.state();
            held.with(|cell| cell.put_back(id, shader));
            let code = match &compiled {
                Err(Failure::Compile(_, code) | Failure::Link(code)) => *code,
                _ => 0,
            };
            for (place, number) in [(out_state, state_number(state)), (out_driver_code, code)] {
                if let Some(out) = Out::optional(place) {
                    out.write(number);
                }
            }
            compiled.map(|_| ()).map_err(refused)
        })
    }
}

/// Link a program: from the cache if that is possible, else by compiling what was put off, linking, and saving it once.
/// `*linked` is written also when the driver failed (HOB_RESULT_UNSUPPORTED), and says what it said; nothing is saved then.
/// Calls the driver back. HOB_RESULT_NOT_FOUND: the manager has no such shader. HOB_RESULT_INVALID_ARGUMENT: a shader was
/// never compiled, did not compile or is there twice, there is none, or `desc->key` has stages. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_manager_link(
    manager: *mut hob_program_manager,
    desc: *const hob_program_link_desc,
    linked: *mut hob_program_linked,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(manager, |held| {
            checked_size(linked)?;
            let desc = read_struct(desc)?;
            if desc.key.is_null() {
                return link(held, &desc, Extra { mode: Mode::Blake3, program: Program::default() }, linked);
            }
            with_program(desc.key, |mode, described| {
                if !described.stages.is_empty() {
                    return Err(error!(
                        InvalidArgument,
                        "hob_program_link_desc.key has stages: leave them to the shaders"
                    ));
                }
                link(held, &desc, Extra { mode, program: *described }, linked)
            })
        })
    }
}

/// # Safety
/// As the header says of `desc` and `linked`.
unsafe fn link(
    held: &Held<'_, ManagerCell>,
    desc: &hob_program_link_desc,
    extra: Extra<'_>,
    linked: *mut hob_program_linked,
) -> Result<()> {
    // SAFETY: by this function's contract.
    let ids = unsafe { Array::new(desc.shaders, size_of::<hob_shader>(), desc.shader_count) }?;
    let taken = Taken::new(held, ids.iter().map(id_of))?;
    let (cache, calls) = held.with(|cell| (Arc::clone(&cell.cache), cell.driver.0));
    let (keys, mut driver) = (FingerprintKeys::default(), HostDriver::new(calls, desc.program));
    let done = taken.lend(|shaders| Manager::new(&cache, &keys).link(&mut driver, shaders, &extra, desc.group))?;
    // SAFETY: by this function's contract.
    unsafe { write_struct(linked, &outcome_of(&done, driver.load_code())) }?;
    done.map(|_| ()).map_err(refused)
}

/// Shaders that a call works on; they go back when it ends, however it does.
struct Taken<'a, 'h> {
    held: &'a Held<'h, ManagerCell>,
    shaders: Vec<(Id, Shader)>,
}

impl<'a, 'h> Taken<'a, 'h> {
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
        let mut lent = Vec::new();
        for (_, shader) in &mut self.shaders {
            try_push(&mut lent, shader)?;
        }
        Ok(work(&mut lent))
    }
}

impl Drop for Taken<'_, '_> {
    fn drop(&mut self) {
        let shaders = std::mem::take(&mut self.shaders);
        self.held.with(|cell| shaders.into_iter().for_each(|(id, shader)| cell.put_back(id, shader)));
    }
}

fn outcome_of(done: &std::result::Result<Linked, Failure<u32>>, load_code: u32) -> hob_program_linked {
    use hob_link_outcome as outcome;
    let none = hob_program_linked::defaults();
    let (outcome, linked) = match done {
        Ok(Linked::Loaded(key, token)) => {
            let Id { index1, generation } = token.0;
            let first_use = hob_use { index1, generation };
            (outcome::Loaded, hob_program_linked { first_use, key: hob_fingerprint { bytes: *key }, ..none })
        }
        Ok(Linked::Built(key, saved)) => {
            let is_saved = matches!(saved, Some(Ok(Put::Stored | Put::Replaced)));
            let linked = hob_program_linked { key: hob_fingerprint { bytes: *key }, driver_code: load_code, ..none };
            (if is_saved { outcome::Built } else { outcome::BuiltUnsaved }, linked)
        }
        Err(Failure::Compile(place, code)) => {
            (outcome::CompileFailed, hob_program_linked { driver_code: *code, failed_shader: *place as u32, ..none })
        }
        Err(Failure::Link(code)) => (outcome::LinkFailed, hob_program_linked { driver_code: *code, ..none }),
        Err(Failure::NotCompiled(_) | Failure::Failed(_) | Failure::Cache(_)) => (outcome::None, none),
    };
    hob_program_linked { outcome: outcome as u32, ..linked }
}

#[cold]
fn refused(failure: Failure<u32>) -> Error {
    match failure {
        Failure::Compile(place, code) => error!(Unsupported, "shader {place} does not compile: the driver said {code}"),
        Failure::Link(code) => error!(Unsupported, "the program does not link: the driver said {code}"),
        Failure::NotCompiled(place) => {
            error!(InvalidArgument, "shader {place} was not compiled: call hob_program_manager_compile first")
        }
        Failure::Failed(place) => {
            error!(InvalidArgument, "shader {place} did not compile: give it another source, and compile that")
        }
        Failure::Cache(why) => why,
    }
}

fn id_of(shader: hob_shader) -> Id {
    Id { index1: shader.index1, generation: shader.generation }
}

fn state_number(state: ShaderState) -> u32 {
    match state {
        ShaderState::NotCompiled | ShaderState::Failed => hob_shader_state::NotCompiled as u32,
        ShaderState::Deferred => hob_shader_state::Deferred as u32,
        ShaderState::Compiled => hob_shader_state::Compiled as u32,
    }
}
