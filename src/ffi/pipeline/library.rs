//! The library: its parameters and callbacks, create and destroy.

use std::ffi::c_void;

use hobgoblin_macros::{entry, opaque, open_enum, versioned};

use super::describe::{hob_pipeline_kind, hob_pipeline_mask, hob_pipeline_shader};
use super::dimension::{self, hob_pipeline_dimension};
use crate::base::{Result, Shared, error, try_collect};
use crate::ffi::base::argument::{Argument, check_flags};
use crate::ffi::base::array::Array;
use crate::ffi::base::guard::{call_host, call_host_barred};
use crate::ffi::base::handle;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::Versioned;
use crate::ffi::base::text::hob_str;
use crate::ffi::base::user_data::UserData;
use crate::ffi::executor::desc::hob_executor;
use crate::ffi::fingerprint::bytes::{hob_fingerprint, known};
use crate::ffi::fingerprint::environment::{hob_environment, hob_graphics_api, with_environment};
use crate::ffi::store::hob_file_io;
use crate::ffi::store::host_io::{HostFiles, HostIo};
use crate::ffi::store::limits::{disk_limit, seconds, secret};
use crate::ffi::store::path::path;
use crate::pipeline::library::{Built, Compiler, Library, Options};
use crate::pipeline::precompile::{self, Compare, Comparison, CurrentMasks, Job, Mode, Order};
use crate::pipeline::{Description, Dimension, Identity, Mask, PipelineKey, compare_dimensions};
use crate::store::io::{OsIo, share};
use crate::store::{self};

// == Experimental: Create and destroy ==

/// The pipelines of a running game.
/// A handle: see "Handles" in base.h.
#[opaque(PipelineCell, tag = b"hobpipel")]
pub struct hob_pipeline_library {
    _private: [u8; 0],
}

/// A library. `None`: it is switched off.
pub struct PipelineCell(pub Option<Library>);

/// How fast pipelines are compiled.
#[open_enum]
#[repr(C)]
pub enum hob_pipeline_mode {
    /// Only pipelines that are needed now.
    Paused = 0,
    /// For loading screens: up to 50 pipelines or 16 ms a frame.
    Fast = 1,
    /// While the game runs: 1 pipeline a frame.
    Background = 2,
    /// Up to 50 pipelines or 10 ms a frame, until none of the precompile mask remains; then as in the background.
    Precompile = 3,
}

/// The order of compiles.
#[open_enum]
#[repr(C)]
pub enum hob_pipeline_order {
    /// By predicted first use: the frames of first uses in recordings, and the pipelines in use now.
    Predicted = 0,
    /// As the caches list them.
    File = 1,
    /// By the frame of their first use.
    FirstToLatestUsed = 2,
    /// By their number of uses, the largest first.
    MostToLeastUsed = 3,
    /// Grouped by usage mask.
    UsageMask = 4,
}

/// The result of hob_pipeline_library_desc.compile.
#[open_enum]
#[repr(C)]
pub enum hob_pipeline_built {
    /// The pipeline is ready.
    Ready = 0,
    /// The driver refused it. It is not compiled again.
    Failed = 1,
    /// It was not compiled now. It is queued again, and the call or task that compiles ends. In the background the next
    /// frame goes on.
    Cancelled = 2,
}

/// A pipeline to compile: the argument of hob_pipeline_library_desc.compile.
/// All pointers are valid during the call.
#[versioned(size = 88, last = expected_us)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_pipeline_job {
    /// sizeof(hob_pipeline_job) of the library.
    pub struct_size: u32,
    /// Graphics, compute or ray tracing.
    pub kind: hob_pipeline_kind,
    /// hob_pipeline_desc.schema.
    pub schema: u32,
    /// 1: a frame may wait for it. 0: it is compiled ahead.
    pub is_urgent: u32,
    /// Its key.
    pub key: hob_fingerprint,
    /// hob_pipeline_desc.state.
    pub state: *const c_void,
    /// Bytes of `state`.
    pub state_size: usize,
    /// Its shaders.
    pub shaders: *const hob_pipeline_shader,
    /// Number of shaders.
    pub shader_count: usize,
    /// Expected build time in microseconds. 0: unknown.
    pub expected_us: u64,
}

/// hob_pipeline_library_desc.flags: keep no pipelines for the next start.
pub const HOB_PIPELINE_NO_USER_CACHE: u32 = 1;
/// hob_pipeline_library_desc.flags: compile pipelines with new shaders first, so that each shader is built early.
/// For drivers that link pipelines quickly from compiled shaders.
pub const HOB_PIPELINE_SHADERS_FIRST: u32 = 2;
/// hob_pipeline_library_desc.flags: write nothing to the directory.
pub const HOB_PIPELINE_READ_ONLY: u32 = 4;
/// hob_pipeline_library_desc.flags: switch the library off.
/// All calls succeed and do nothing, and hob_pipeline_library_use returns HOB_PIPELINE_STATE_UNKNOWN.
pub const HOB_PIPELINE_DISABLED: u32 = 8;
const FLAGS: u32 = 15;

/// Parameters of a library.
#[versioned(size = 216, last = disk_limit)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_pipeline_library_desc {
    /// sizeof(hob_pipeline_library_desc).
    pub struct_size: u32,
    /// A hob_graphics_api, or a number of the host from HOB_GRAPHICS_API_USER on.
    pub api: u32,
    /// The game: 1 to 128 ASCII letters, digits and - _ . + without a dot first.
    pub project: hob_str,
    /// The format of its shaders, such as "spirv", in the same letters.
    pub format: hob_str,
    /// The version of the game, at most 1024 bytes. The user's cache of another version is not used.
    pub version: hob_str,
    /// Directory of the user's cache and of bans. Default empty: nothing outlives the process. It must not be that of a
    /// program cache. A path: on Unix any bytes without NUL, elsewhere UTF-8.
    pub directory: hob_str,
    /// A new file that records this run for the next build of the game. Default empty: no recording.
    /// It gets the pipelines at their first use, and how often they are used with the first 256 masks of the run; uses
    /// with further masks are not counted. The executor's background writes first uses. Without an executor, and for
    /// counts of uses, hob_pipeline_library_flush and hob_pipeline_library_destroy write. An existing file is an error,
    /// so give each run its own name: "runs/20261125-1.rec.hobpipe".
    pub recording: hob_str,
    /// The driver and device, which bans belong to. NULL: unknown.
    pub environment: *const hob_environment,
    /// Compiles in its background, one pipeline at a time, and is kept alive by the library. NULL: only
    /// hob_pipeline_library_compile and hob_pipeline_library_wait compile, and only hob_pipeline_library_flush and
    /// hob_pipeline_library_destroy write files.
    pub executor: *const hob_executor,
    /// The file system of the directory; copied. NULL: the operating system's.
    pub file_io: *const hob_file_io,
    /// A secret of the host, at least 16 bytes; copied. Files that were written without it are ignored. Default empty.
    pub secret: hob_str,
    /// Passed to the callbacks.
    pub user_data: *mut c_void,
    /// Compiles a pipeline, and returns a hob_pipeline_built; another number counts as failed. Must be set. It may
    /// block. Several may run at once, on the threads that work for the library. It may call the library, but not
    /// destroy it.
    pub compile: Option<extern "C" fn(user_data: *mut c_void, job: *const hob_pipeline_job) -> u32>,
    /// All selected pipelines were compiled, or have failed. Called by the thread that compiled the last one. A
    /// library without anything to compile never calls it: see hob_pipeline_library_get_remaining. May be NULL.
    pub completed: Option<extern "C" fn(user_data: *mut c_void)>,
    /// Compares a mask of a pipeline with the current one: not 0 selects the pipeline. It must always give the same
    /// answer. Inside it, all functions of this library return HOB_RESULT_BUSY, also those without a handle. NULL:
    /// without `dimensions` a pipeline is selected if `(mask & current) == current`. With them it is selected if each
    /// field has the value of the current mask, or that is 0.
    pub compare: Option<
        extern "C" fn(user_data: *mut c_void, mask: *const hob_pipeline_mask, current: *const hob_pipeline_mask) -> u32,
    >,
    /// Called exactly once, after the last of the other callbacks and before hob_pipeline_library_destroy returns. May
    /// be NULL.
    pub release: Option<extern "C" fn(user_data: *mut c_void)>,
    /// The first current mask. NULL: no bits, which select all pipelines.
    pub mask: *const hob_pipeline_mask,
    /// The first precompile mask, for HOB_PIPELINE_MODE_PRECOMPILE. NULL: no bits, which select all pipelines, so that
    /// mode compiles all of them fast.
    pub precompile_mask: *const hob_pipeline_mask,
    /// The first mode. Default HOB_PIPELINE_MODE_FAST; 0 is HOB_PIPELINE_MODE_PAUSED.
    #[initial(hob_pipeline_mode::Fast)]
    pub mode: hob_pipeline_mode,
    /// The order of compiles. Default HOB_PIPELINE_ORDER_PREDICTED.
    pub order: hob_pipeline_order,
    /// HOB_PIPELINE_NO_USER_CACHE and the like. Default 0.
    pub flags: u32,
    /// Strikes that ban a pipeline. Default 2. UINT32_MAX: no bans. A compile gives a strike if the process crashes
    /// during it, calls abort() or _exit(), or is ended by a signal, such as SIGKILL or SIGTERM. A call of exit() gives
    /// none. A successful compile takes one strike back.
    #[default(2)]
    pub ban_at: u32,
    /// Pipelines of the user's cache that were not used for this many seconds are removed at create. The time ends at
    /// the newest use before this start, so a wrong clock removes nothing, and an old pipeline is removed one start
    /// later. Default 30 days. UINT32_MAX: no limit.
    #[default(30 * 24 * 60 * 60)]
    pub max_age_seconds: u32,
    /// Number of threads that compile at the same time.
    /// Those are the host's in hob_pipeline_library_compile, and one of the executor, whose background runs one task at
    /// a time. No thread is created. Each gets the time of the mode. The budget of hob_pipeline_library_begin_frame is
    /// for all of them together. 1 to 256, default 1.
    #[default(1)]
    pub workers: u32,
    /// Limit of the user's cache on the disk, in bytes, at least 256 KiB. Default 64 MiB.
    #[default(64 << 20)]
    pub disk_limit: u64,
    /// The named fields of masks; copied. Recordings and the user's cache keep them, and the current masks may have no
    /// other bits. Default NULL: masks have no fields.
    pub dimensions: *const hob_pipeline_dimension,
    /// Bytes from one field to the next: sizeof(hob_pipeline_dimension). Default 0: its first released size.
    pub dimension_stride: usize,
    /// Number of fields, at most 64. All together have at most 256 bits.
    pub dimension_count: usize,
}

/// Creates a library, and loads the user's cache.
/// This reads files. On success `*out_library` is the caller's to destroy, and `user_data` is the library's.
///
///     hob_pipeline_library *library = NULL;
///     if (hob_pipeline_library_create(&desc, &library) != HOB_RESULT_OK) fail(hob_last_error());
///
/// A directory that cannot be read or written is no failure: hob_pipeline_library_get_problem says why. A recording
/// that cannot be created is HOB_RESULT_IO. HOB_RESULT_INVALID_ARGUMENT: `compile` is NULL, a name or number is
/// invalid, or a mask has bits beyond the dimensions. HOB_RESULT_LIMIT_EXCEEDED: the version is too long, or there are
/// too many dimensions. Threads: any.
#[entry(any, experimental)]
#[must_use]
pub extern "C" fn hob_pipeline_library_create(
    desc: *const hob_pipeline_library_desc,
    out_library: *mut *mut hob_pipeline_library,
) -> hob_result {
    check_flags("hob_pipeline_library_desc", desc.flags, FLAGS)?;
    if desc.compile.is_none() {
        return Err(error!(InvalidArgument, "hob_pipeline_library_desc.compile is NULL: set it"));
    }
    let user_data = Shared::try_new(UserData::new(desc.user_data, desc.release))?;
    // SAFETY: the fields are what the header says, here and below.
    let files = unsafe { HostFiles::of(desc.file_io, "file_io") }?;
    let options = unsafe { options(&desc, &user_data, files.as_ref()) }?;
    let library = match desc.flags & HOB_PIPELINE_DISABLED {
        0 => Some(Library::open(options)?.0),
        _ => None,
    };
    out_library.write(handle::create::<hob_pipeline_library>(PipelineCell(library))?);
    user_data.own();
    files.iter().for_each(|files| files.own());
    Ok(())
}

/// Destroys a library, after writing the pipelines that wait: this may wait for files.
/// NULL is allowed. Waits for compiles that are running. Unlike other handles, it is not destroyed inside its own
/// callbacks: the call does nothing there, and hob_last_error says so. Threads: no call on it may run on another
/// thread.
#[entry(destroy, experimental)]
pub extern "C" fn hob_pipeline_library_destroy(library: *mut hob_pipeline_library) {
    library.read(|cell| cell.0.as_ref().map_or(Ok(()), |library| library.close()))?;
}

/// # Safety
/// The fields of `desc` meet the header's documentation.
unsafe fn options(
    desc: &hob_pipeline_library_desc,
    user_data: &Shared<UserData>,
    files: Option<&Shared<HostFiles>>,
) -> Result<Options> {
    let environment = match desc.environment.is_null() {
        true => hob_environment::defaults(),
        // SAFETY: by this function's contract, here and below.
        false => unsafe { hob_environment::take(desc.environment, "environment") }?,
    };
    let executor = match desc.executor.is_null() {
        true => None,
        false => {
            let executor = unsafe { hob_executor::take(desc.executor, "executor") }?;
            Some(executor.read(|executor| Ok(executor.clone()))?)
        }
    };
    let text = |text: hob_str, what| unsafe { text.argument(what) }.text();
    let identity = Identity::new(text(desc.project, "project")?, text(desc.format, "format")?, api(desc.api)?)?;
    let io = match files {
        Some(files) => share(HostIo(files.clone()))?,
        None => share(OsIo)?,
    };
    let mask = |mask: *const hob_pipeline_mask| {
        // SAFETY: by this function's contract: NULL, or a mask.
        if mask.is_null() { Mask::NONE } else { Mask(unsafe { mask.read_unaligned() }.words) }
    };
    let dimensions = unsafe { Array::new(desc.dimensions, desc.dimension_stride, desc.dimension_count, "dimensions") }?;
    let dimensions = unsafe { dimension::copied(&dimensions) }?;
    let host = HostCompiler { calls: *desc, user_data: user_data.clone() };
    let host = Shared::into_dyn(Shared::try_new(host)?, |host| -> &dyn Compiler { host });
    let mut options = Options::new(identity, text(desc.version, "version")?, host, io, seconds)?;
    options.environment = unsafe { with_environment(&environment, |found| Ok(found.id(&mut |_| ()))) }?;
    options.directory = path(unsafe { desc.directory.argument("directory") }, "directory")?;
    options.recording = path(unsafe { desc.recording.argument("recording") }, "recording")?;
    options.executor = executor;
    options.keeps_user_cache = desc.flags & HOB_PIPELINE_NO_USER_CACHE == 0;
    options.ban_at = desc.ban_at;
    options.store = store::Options {
        limit_bytes: disk_limit(desc.disk_limit, "disk_limit")?,
        max_age_seconds: desc.max_age_seconds,
        read_only: desc.flags & HOB_PIPELINE_READ_ONLY != 0,
        secret: secret(unsafe { desc.secret.argument("secret") }.bytes()?)?,
        ..options.store
    };
    options.precompile = precompile::Options {
        mode: mode(desc.mode)?,
        workers: workers(desc.workers)?,
        order: Order::from_number(desc.order.check("order")?.0).unwrap_or_default(),
        shaders_first: desc.flags & HOB_PIPELINE_SHADERS_FIRST != 0,
        masks: CurrentMasks { regular: mask(desc.mask), precompile: mask(desc.precompile_mask) },
        comparison: comparison(desc, user_data, &dimensions)?,
        ..precompile::Options::default()
    };
    options.dimensions = dimensions;
    Ok(options)
}

fn workers(count: u32) -> Result<u32> {
    const MOST: u32 = 256;
    if count > MOST {
        return Err(error!(InvalidArgument, "workers {count} is too large: pass 1 to {MOST}"));
    }
    Ok(count)
}

/// A graphics API that the library knows, or a number of the host.
pub fn api(number: u32) -> Result<u32> {
    known(number, hob_graphics_api::Webgpu.0, hob_graphics_api::User.0, "api")
}

/// The mode of that number.
pub fn mode(number: hob_pipeline_mode) -> Result<Mode> {
    Ok(Mode::from_number(number.check("mode")?.0).unwrap_or_default())
}

fn comparison(
    desc: &hob_pipeline_library_desc,
    user_data: &Shared<UserData>,
    dimensions: &[Dimension],
) -> Result<Comparison> {
    let Some(compare) = desc.compare else {
        return if dimensions.is_empty() { Ok(Comparison::HasAll) } else { compare_dimensions(dimensions) };
    };
    let data = user_data.clone();
    let ask = move |mask: &Mask, current: &Mask| {
        let (mask, current) = (hob_pipeline_mask::from(mask), hob_pipeline_mask::from(current));
        call_host_barred(|| compare(data.get(), &raw const mask, &raw const current)) != 0
    };
    Ok(Comparison::Host(Shared::into_dyn(Shared::try_new(ask)?, |ask| -> &Compare { ask })))
}

/// The host's callbacks.
struct HostCompiler {
    calls: hob_pipeline_library_desc,
    user_data: Shared<UserData>,
}

// SAFETY: only the callbacks are used, which the host makes fit for all threads that work for the library.
unsafe impl Send for HostCompiler {}
// SAFETY: as above.
unsafe impl Sync for HostCompiler {}

impl Compiler for HostCompiler {
    fn compile(&self, key: &PipelineKey, description: &Description, job: &Job) -> Built {
        let Some(compile) = self.calls.compile else { return Built::Failed };
        let shader =
            |shader: &crate::pipeline::ShaderRef| hob_pipeline_shader { stage: shader.stage, hash: shader.hash.0 };
        // Without memory for a moment, it is tried again later.
        let Ok(shaders) = try_collect(description.shaders.iter().map(shader)) else { return Built::Cancelled };
        let job = hob_pipeline_job {
            kind: hob_pipeline_kind(description.kind as u32),
            schema: description.schema.0,
            is_urgent: job.is_urgent.into(),
            key: (*key).into(),
            state: description.state.as_ptr().cast(),
            state_size: description.state.len(),
            shaders: shaders.as_ptr(),
            shader_count: shaders.len(),
            expected_us: job.expected_us,
            ..hob_pipeline_job::defaults()
        };
        match hob_pipeline_built(call_host(|| compile(self.user_data.get(), &raw const job))) {
            hob_pipeline_built::Ready => Built::Ready,
            hob_pipeline_built::Cancelled => Built::Cancelled,
            _ => Built::Failed,
        }
    }

    fn complete(&self) {
        if let Some(completed) = self.calls.completed {
            call_host(|| completed(self.user_data.get()));
        }
    }
}
