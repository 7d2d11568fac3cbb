//! Bundles: programs that ship with a game.

use std::ffi::c_void;
use std::path::PathBuf;

use hobgoblin_macros::{entry, open_enum};

use super::cache::hob_program_cache;
use crate::base::{Result, error};
use crate::ffi::base::out::write_if;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::text::{Str, hob_str};
use crate::ffi::store::path::path;
use crate::program_cache::Contents;

// == Experimental: Bundles ==
//
// A bundle serves machines whose environment is identical to the build machine's. That fits consoles, fixed hardware,
// and your own build and test machines. PCs have different drivers: their programs are not found in a bundle.

/// Adds a bundle, which is searched after the directory and after earlier bundles.
///
///     hob_program_cache_add_bundle(cache, HOB_STR("data/programs.bundle"));
///
/// Its start-up set is added to the cache's. Only the head of the file is read here; the file stays open until the
/// cache is destroyed. HOB_RESULT_IO: the file cannot be read, or is neither a regular file nor a link to one.
/// HOB_RESULT_MALFORMED: it is not a bundle. Damage that is found later, or a bundle for other environments only, is
/// reported by hob_program_cache_get_problem.
///
/// A program of the bundle that is removed is hidden from this cache only. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_program_cache_add_bundle(cache: *const hob_program_cache, path: hob_str) -> hob_result {
    cache.add_bundle(&bundle_path(path)?)
}

/// Adds a bundle from memory, such as a file of an archive.
/// A copy is kept until the cache is destroyed. As hob_program_cache_add_bundle. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_program_cache_add_bundle_bytes(
    cache: *const hob_program_cache,
    data: *const c_void,
    size: usize,
) -> hob_result {
    cache.add_bundle_bytes(data)
}

/// The programs of a bundle.
#[open_enum]
#[repr(C)]
pub enum hob_bundle_contents {
    /// All programs in memory, on disk and in bundles for the cache's environment.
    All = 0,
    /// The programs of the start-up set.
    StartupSet = 1,
}

/// Writes programs to a bundle.
/// For build machines: waits for files, and for all programs to be written. `*out_programs`, which may be NULL,
/// receives the number of programs. It has no banned programs. The same programs make the same file. An existing file
/// is replaced once the new one is complete. HOB_RESULT_NOT_FOUND: there is no program. HOB_RESULT_INVALID_ARGUMENT:
/// the file would be in the cache's directory. Threads: shared.
#[entry(shared, nullable(out_programs), experimental)]
pub extern "C" fn hob_program_cache_write_bundle(
    cache: *const hob_program_cache,
    path: hob_str,
    contents: hob_bundle_contents,
    out_programs: *mut u64,
) -> hob_result {
    let contents = match contents.check("contents")? {
        hob_bundle_contents::StartupSet => Contents::StartUpSet,
        _ => Contents::All,
    };
    write_if(out_programs, cache.write_bundle(&bundle_path(path)?, contents)?);
    Ok(())
}

fn bundle_path(text: Str<'_>) -> Result<PathBuf> {
    path(text, "path")?.ok_or_else(|| error!(InvalidArgument, "path is empty: name the bundle's file"))
}
