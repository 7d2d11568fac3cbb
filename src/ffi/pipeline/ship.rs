//! Recordings become the cache that ships with the game.

use std::path::PathBuf;

use hobgoblin_macros::{entry, versioned};

use super::library::api;
use crate::base::{Error, Level, Result, error, host_log, try_collect_all};
use crate::ffi::base::argument::check_flags;
use crate::ffi::base::array::Array;
use crate::ffi::base::out::write_if;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::Versioned;
use crate::ffi::base::text::hob_str;
use crate::ffi::store::path::path;
use crate::pipeline::Identity;
use crate::pipeline::build::{BuildOptions, BuildReport};
use crate::pipeline::ship::{Recordings, Shipment};
use crate::pipeline::stable::Expanded;
use crate::store::io::{OsIo, SharedIo, share};

// == Experimental: Shipped caches ==

/// Most files of a list.
const MOST_FILES: usize = 1 << 20;

/// Parameters of hob_pipeline_expand.
/// Paths: on Unix any bytes without NUL, elsewhere UTF-8.
#[versioned(size = 72, last = out)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_pipeline_expand_desc {
    /// sizeof(hob_pipeline_expand_desc).
    pub struct_size: u32,
    /// Must be 0.
    pub reserved: u32,
    /// Paths of recordings, which one build of the game made: at least one.
    pub recordings: *const hob_str,
    /// Bytes from one path to the next: sizeof(hob_str). Default 0: its first released size.
    pub recording_stride: usize,
    /// Number of recordings.
    pub recording_count: usize,
    /// Paths of the key maps of that build: `*.hobkeys`, or CSV if the name ends in `.csv`.
    /// A CSV file is UTF-8. Each line is `hash,stage,"key"`: 40 hexadecimal digits, the number of a hob_shader_stage or
    /// of the host or nothing, and at most 4096 bytes. A quote in the key is doubled. The line `hash,stage,key` may be
    /// the first one: it is skipped.
    pub keys: *const hob_str,
    /// Bytes from one path to the next: sizeof(hob_str). Default 0: its first released size.
    pub key_stride: usize,
    /// Number of key maps.
    pub key_count: usize,
    /// Path of the stable file, which must not be an input. An existing file is replaced when the new one is complete.
    pub out: hob_str,
}

/// Counts of hob_pipeline_expand.
/// An answer: set struct_size, or begin with HOB_PIPELINE_EXPAND_REPORT_INIT.
#[versioned(size = 72, last = bytes)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_pipeline_expand_report {
    /// sizeof(hob_pipeline_expand_report).
    pub struct_size: u32,
    /// Must be 0.
    pub reserved: u32,
    /// Recordings merged.
    pub recordings: u64,
    /// Recordings of a run that was merged already.
    pub repeated: u64,
    /// Pipelines in the recordings.
    pub pipelines: u64,
    /// Pipelines in the stable file.
    pub stable: u64,
    /// Pipelines with a shader that has no key. They are not in the stable file.
    pub unresolved: u64,
    /// Damaged records. They are skipped.
    pub damaged: u64,
    /// Recordings that end within a record, as a copy that was cut does. A killed run usually ends with a whole record:
    /// it does not count, although its last uses were not written.
    pub truncated: u64,
    /// Bytes of the stable file.
    pub bytes: u64,
}

/// Expresses the pipelines of recordings in the stable keys of their shaders, as a file.
/// For build tools. Waits for files. Takes 64 MiB of memory besides the key map, or a quarter of its temporary file.
/// The file stands beside `out`, is deleted at any end, and has a few times its bytes. Key maps are held in part, CSV
/// files as a whole. A log line names each of the first unresolved pipelines. `out_report` may be NULL.
///
/// HOB_RESULT_INVALID_ARGUMENT: `out` is an input, also under another name. HOB_RESULT_UNSUPPORTED: a recording is of
/// another game, format, API, version, or set of mask dimensions (hob_pipeline_library_desc.dimensions) than the first
/// one.
///
/// HOB_RESULT_LIMIT_EXCEEDED: a line of a CSV file has more than 64 KiB, or a list more than 1048576 paths.
/// HOB_RESULT_NOT_FOUND: no pipeline has keys for all its shaders. HOB_RESULT_MALFORMED: a file is damaged as a whole.
/// HOB_RESULT_IO: a file cannot be read or written. After an error the file at `out` is as before. Threads: any.
#[entry(any, nullable(out_report), experimental)]
pub extern "C" fn hob_pipeline_expand(
    desc: *const hob_pipeline_expand_desc,
    out_report: *mut hob_pipeline_expand_report,
) -> hob_result {
    // SAFETY: the fields are what the header says.
    let inputs = unsafe {
        Inputs::of(
            (desc.recordings, desc.recording_stride, desc.recording_count, "recordings"),
            (desc.keys, desc.key_stride, desc.key_count),
            desc.out,
        )
    }?;
    let expanded = expand(inputs)?;
    write_if(
        out_report,
        hob_pipeline_expand_report {
            recordings: expanded.recordings,
            repeated: expanded.repeated,
            pipelines: expanded.pipelines,
            stable: expanded.stable,
            unresolved: expanded.unresolved.count(),
            damaged: expanded.damaged,
            truncated: expanded.truncated,
            bytes: expanded.bytes,
            ..hob_pipeline_expand_report::defaults()
        },
    );
    Ok(())
}

/// hob_pipeline_build_desc.flags: do not add the compute shaders that no recording used.
pub const HOB_PIPELINE_BUILD_NO_COMPUTE: u32 = 1;
/// hob_pipeline_build_desc.flags: keep pipelines whose state does not fit.
/// For vertex shaders that are used with several vertex formats on purpose.
pub const HOB_PIPELINE_BUILD_NO_SANITISING: u32 = 2;
const BUILD_FLAGS: u32 = 3;

/// Parameters of hob_pipeline_build.
/// Paths: on Unix any bytes without NUL, elsewhere UTF-8.
#[versioned(size = 128, last = flags)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_pipeline_build_desc {
    /// sizeof(hob_pipeline_build_desc).
    pub struct_size: u32,
    /// A hob_graphics_api, or a number of the host from HOB_GRAPHICS_API_USER on.
    pub api: u32,
    /// The game, as in hob_pipeline_library_desc.
    pub project: hob_str,
    /// The format of its shaders, as in hob_pipeline_library_desc.
    pub format: hob_str,
    /// The version of this build, for people.
    pub version: hob_str,
    /// Paths of stable files. May be NULL if the count is 0: then the cache has compute pipelines only.
    pub stable: *const hob_str,
    /// Bytes from one path to the next: sizeof(hob_str). Default 0: its first released size.
    pub stable_stride: usize,
    /// Number of stable files.
    pub stable_count: usize,
    /// Paths of the key maps of this build, as in hob_pipeline_expand_desc.
    pub keys: *const hob_str,
    /// Bytes from one path to the next: sizeof(hob_str). Default 0: its first released size.
    pub key_stride: usize,
    /// Number of key maps.
    pub key_count: usize,
    /// Path of the cache, which must not be an input. An existing file is replaced when the new one is complete.
    pub out: hob_str,
    /// Most pipelines that one stable pipeline becomes, if several shaders share a key. Default 64.
    #[default(64)]
    pub combinations: u32,
    /// HOB_PIPELINE_BUILD_NO_COMPUTE and the like. Default 0.
    pub flags: u32,
}

/// Counts of hob_pipeline_build.
/// An answer: set struct_size, or begin with HOB_PIPELINE_BUILD_REPORT_INIT.
#[versioned(size = 160, last = bytes)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_pipeline_build_report {
    /// sizeof(hob_pipeline_build_report).
    pub struct_size: u32,
    /// Must be 0.
    pub reserved: u32,
    /// Different lines of the key maps.
    pub key_lines: u64,
    /// Stable files merged.
    pub files: u64,
    /// Stable files that were merged already.
    pub repeated: u64,
    /// Stable files of another game, format, API, or set of hob_pipeline_library_desc.dimensions. They are not used.
    pub skipped: u64,
    /// Stable pipelines in the files.
    pub stable: u64,
    /// Stable pipelines with a shader that this build does not have.
    pub rejected: u64,
    /// Pipelines that stable ones became, before equal ones were united.
    pub merged: u64,
    /// Stable pipelines with more combinations of shaders than the limit.
    pub cut: u64,
    /// Different pipelines.
    pub different: u64,
    /// Compute pipelines that were added.
    pub added_compute: u64,
    /// Filtered out: most pipelines of the vertex shader have another vertex format. After a tie all are kept.
    pub inconsistent: u64,
    /// Filtered out: no vertex attributes, and the vertex shader has some elsewhere.
    pub empty: u64,
    /// Filtered out: the state is invalid.
    pub invalid: u64,
    /// Graphics pipelines written.
    pub graphics: u64,
    /// Compute pipelines written.
    pub compute: u64,
    /// Ray-tracing pipelines written.
    pub ray_tracing: u64,
    /// Damaged records. They are skipped.
    pub damaged: u64,
    /// Stable files that end within a record, as a copy that was cut does.
    pub truncated: u64,
    /// Bytes of the cache.
    pub bytes: u64,
}

/// Makes the cache that ships with a build of the game: hob_pipeline_library_open_cache opens it.
/// For build tools. Waits for files. Equal inputs give equal bytes, in any order. Log lines give all counts, and name
/// the first rejected pipelines. Memory and temporary files are as for hob_pipeline_expand. `out_report` may be NULL.
///
/// HOB_RESULT_INVALID_ARGUMENT: `out` is an input, also under another name, or a name is invalid.
/// HOB_RESULT_LIMIT_EXCEEDED: as for hob_pipeline_expand. HOB_RESULT_NOT_FOUND: stable files were given, and none of
/// their graphics pipelines could be built, or nothing at all. HOB_RESULT_MALFORMED: a file is damaged as a whole.
/// HOB_RESULT_IO: a file cannot be read or written. After an error the file at `out` is as before. Threads: any.
#[entry(any, nullable(out_report), experimental)]
pub extern "C" fn hob_pipeline_build(
    desc: *const hob_pipeline_build_desc,
    out_report: *mut hob_pipeline_build_report,
) -> hob_result {
    check_flags("hob_pipeline_build_desc", desc.flags, BUILD_FLAGS)?;
    // SAFETY: the fields are what the header says, here and below.
    let inputs = unsafe {
        Inputs::of(
            (desc.stable, desc.stable_stride, desc.stable_count, "stable"),
            (desc.keys, desc.key_stride, desc.key_count),
            desc.out,
        )
    }?;
    let text = |text: hob_str, what| unsafe { text.argument(what) }.text();
    let identity = Identity::new(text(desc.project, "project")?, text(desc.format, "format")?, api(desc.api)?)?;
    let options = BuildOptions {
        combinations: desc.combinations,
        adds_compute: desc.flags & HOB_PIPELINE_BUILD_NO_COMPUTE == 0,
        sanitises: desc.flags & HOB_PIPELINE_BUILD_NO_SANITISING == 0,
        ..BuildOptions::default()
    };
    let report = build(&inputs, &identity, text(desc.version, "version")?, options)?;
    let sanitised = report.sanitised.unwrap_or_default();
    let [graphics, compute, ray_tracing] = report.written;
    write_if(
        out_report,
        hob_pipeline_build_report {
            key_lines: report.key_lines,
            files: report.files,
            repeated: report.repeated,
            skipped: report.skipped.len() as u64,
            stable: report.stable,
            rejected: report.rejected.count(),
            merged: report.merged,
            cut: report.cut,
            different: report.different,
            added_compute: report.added_compute,
            inconsistent: sanitised.inconsistent,
            empty: sanitised.empty,
            invalid: sanitised.invalid,
            graphics,
            compute,
            ray_tracing,
            damaged: report.damaged,
            truncated: report.truncated,
            bytes: report.bytes,
            ..hob_pipeline_build_report::defaults()
        },
    );
    Ok(())
}

/// The files of a call.
struct Inputs {
    files: Vec<PathBuf>,
    keys: Vec<PathBuf>,
    out: PathBuf,
}

/// A caller's list of paths: start, stride, count, and the field's name.
type Paths<'a> = (*const hob_str, usize, usize, &'a str);

impl Inputs {
    /// # Safety
    /// The lists are NULL or have that many texts, and all texts are readable.
    unsafe fn of(files: Paths<'_>, keys: (*const hob_str, usize, usize), out: hob_str) -> Result<Self> {
        // SAFETY: by this function's contract, here and below.
        let out = path(unsafe { out.argument("out") }, "out")?;
        Ok(Self {
            files: unsafe { paths(files) }?,
            keys: unsafe { paths((keys.0, keys.1, keys.2, "keys")) }?,
            out: out.ok_or_else(|| error!(InvalidArgument, "out is empty: name the file to write"))?,
        })
    }
}

/// # Safety
/// As [`Inputs::of`].
unsafe fn paths((start, stride, count, what): Paths<'_>) -> Result<Vec<PathBuf>> {
    if count > MOST_FILES {
        return Err(error!(LimitExceeded, "{what} has {count} paths: pass at most {MOST_FILES}"));
    }
    // SAFETY: by this function's contract, here and below.
    let texts = unsafe { Array::new(start, stride, count, what) }?;
    try_collect_all(texts.iter().map(|text: hob_str| {
        path(unsafe { text.argument("a path") }, "a path")?
            .ok_or_else(|| error!(InvalidArgument, "a path of {what} is empty: name a file"))
    }))
}

/// Pipelines that the log lists.
const LISTED: usize = 20;

fn files() -> Result<SharedIo> {
    share(OsIo)
}

fn expand(inputs: Inputs) -> Result<Expanded> {
    let io = files()?;
    let recordings = Recordings::of(&io, inputs.files)?;
    let (expanded, _) = recordings.expand(&io, &inputs.keys, &inputs.out, |_, _| Ok::<_, Error>(()))?;
    for unresolved in expanded.unresolved.first().iter().take(LISTED) {
        let (pipeline, stage) = (unresolved.pipeline, unresolved.shader.stage);
        host_log(
            Level::Warning,
            format_args!("pipeline {pipeline} has no stable form: its shader of stage {stage} has no key"),
        );
    }
    Ok(expanded)
}

fn build(inputs: &Inputs, identity: &Identity, version: &str, options: BuildOptions) -> Result<BuildReport> {
    let shipment = Shipment { identity, version, keys: &inputs.keys, stable: &inputs.files, options };
    let (report, _) = shipment.build(&files()?, &inputs.out, |_, _| Ok::<_, Error>(()))?;
    for line in report.log()?.lines() {
        host_log(Level::Info, format_args!("{line}"));
    }
    for rejected in report.rejected.first().iter().take(LISTED) {
        let (pipeline, key) = (rejected.pipeline, &rejected.key);
        host_log(
            Level::Warning,
            format_args!("stable pipeline {pipeline} is rejected: this build has no shader '{key}'"),
        );
    }
    Ok(report)
}
