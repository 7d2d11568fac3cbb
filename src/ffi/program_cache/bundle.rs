//! `program_cache.h`: programs that are shipped.

use std::ffi::c_void;

use super::base::{hob_result, hob_str};
use super::handle::inspect;
use super::layout::{Out, bytes};
use super::program_cache::{hob_program_cache, path};
use crate::base::{Result, error};
use crate::program_cache::Contents;

/// What goes into a bundle.
#[repr(C)]
pub enum hob_bundle_contents {
    /// Every program that memory and disk have for the cache's environment.
    All = 0,
    /// Those of the start-up set.
    StartupSet = 1,
}

/// Look for programs in a bundle, too, after the directory and the bundles that came before: a file that
/// hob_program_cache_write_bundle has made, for the same environment. It is only ever read, and its start-up set becomes part
/// of the cache's. The head of the file is read here (HOB_RESULT_IO, HOB_RESULT_MALFORMED), all else in the background;
/// it is left open until the cache is destroyed. If it turns out to be damaged, or to have nothing for this environment,
/// hob_program_cache_trouble says so. What is removed is not found in it any more by this cache, and by the next one it is.
/// Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_add_bundle(cache: *const hob_program_cache, path: hob_str) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { inspect(cache, |cache| cache.add_bundle(&bundle_path(&path)?)) }
}

/// hob_program_cache_add_bundle for one that is in memory, out of an archive for instance; a copy is kept until the cache
/// is destroyed. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_add_bundle_bytes(
    cache: *const hob_program_cache,
    data: *const c_void,
    size: usize,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { inspect(cache, |cache| cache.add_bundle_bytes(bytes(data, size, "data")?)) }
}

/// Write programs into a bundle; `contents` is a hob_bundle_contents. `*out_programs` gets their number; NULL is fine. The
/// same programs make the same file. One that is there already is replaced when the new one is whole; on failure nothing
/// is (HOB_RESULT_NOT_FOUND: there is no program). Waits for files, and for what was put to be written: for build machines.
/// Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_write_bundle(
    cache: *const hob_program_cache,
    path: hob_str,
    contents: u32,
    out_programs: *mut u64,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(cache, |cache| {
            let contents = match contents {
                0 => Contents::All,
                1 => Contents::StartUpSet,
                other => return Err(error!(InvalidArgument, "contents {other} is none: pass a hob_bundle_contents")),
            };
            let programs = cache.write_bundle(&bundle_path(&path)?, contents)?;
            if let Some(out) = Out::optional(out_programs) {
                out.write(programs);
            }
            Ok(())
        })
    }
}

/// # Safety
/// As [`hob_str::read`].
unsafe fn bundle_path(text: &hob_str) -> Result<std::path::PathBuf> {
    // SAFETY: by this function's contract.
    unsafe { path(text, "path") }?.ok_or_else(|| error!(InvalidArgument, "path is empty: name the bundle's file"))
}
