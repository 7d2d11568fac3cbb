//! Where programs are, and the list of all programs.

use std::time::Duration;

use hobgoblin_macros::{element, entry};

use super::cache::hob_program_cache;
use crate::ffi::base::result::hob_result;
use crate::ffi::fingerprint::bytes::hob_fingerprint;
use crate::program_cache::{Listed, Places};

// == Places and the list ==
//
// These functions do all requests that wait for the disk, and then look at its index: they read no programs.
// `timeout_us` is as in "Disk".

/// A place of a program: it is in memory.
pub const HOB_PROGRAM_IN_MEMORY: u32 = 1;
/// A place of a program: it is in the directory.
pub const HOB_PROGRAM_ON_DISK: u32 = 2;
/// A place of a program: it is in a bundle.
pub const HOB_PROGRAM_IN_BUNDLE: u32 = 4;

fn flags(places: &Places) -> u32 {
    let flag = |is_there: bool, flag: u32| if is_there { flag } else { 0 };
    flag(places.memory, HOB_PROGRAM_IN_MEMORY)
        | flag(places.disk, HOB_PROGRAM_ON_DISK)
        | flag(places.bundle, HOB_PROGRAM_IN_BUNDLE)
}

/// Tells whether the cache contains a program, and where: `*out_places` is HOB_PROGRAM_IN_MEMORY and the like.
/// 0: nowhere. Eviction does not count this as a get. hob_program_cache_get_program_status is faster for memory alone.
/// HOB_RESULT_TIMEOUT: the disk is still busy after `timeout_us` microseconds. Threads: shared.
#[entry(shared, hot)]
pub extern "C" fn hob_program_cache_contains(
    cache: *const hob_program_cache,
    key: *const hob_fingerprint,
    timeout_us: u64,
    out_places: *mut u32,
) -> hob_result {
    out_places.write(flags(&cache.places(&key.bytes, Duration::from_micros(timeout_us))?));
    Ok(())
}

/// A program of hob_program_cache_list.
#[element(size = 72, last = places)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_program_info {
    /// Its key.
    pub key: hob_fingerprint,
    /// Bytes of data, reflection and fingerprints of shaders.
    pub size: u64,
    /// hob_program.build_us of the put.
    pub build_us: u64,
    /// Second of the last use that is recorded on disk, since 1970. 0: it is not on disk.
    pub last_used: u64,
    /// Gets since it is in memory, and the put. 0: it is not in memory, or was loaded and not used.
    pub uses: u32,
    /// Processes that used it, as recorded on disk. 0: it is not on disk.
    pub recorded_uses: u32,
    /// Its group, in memory. 0: it is not in memory.
    pub group: u32,
    /// HOB_PROGRAM_IN_MEMORY and the like.
    pub places: u32,
}

impl From<Listed> for hob_program_info {
    fn from(found: Listed) -> Self {
        Self {
            key: hob_fingerprint { bytes: found.key },
            size: found.size,
            build_us: found.build_us,
            last_used: found.last_used.into(),
            uses: found.uses,
            recorded_uses: found.recorded_uses,
            group: found.group,
            places: flags(&found.places),
        }
    }
}

/// Programs of one hob_program_cache_list at most.
const PAGE: usize = 4096;

/// Lists programs in the order of their keys, a page at a time: those of memory, disk and bundles.
///
///     hob_program_info page[256];
///     size_t count = 0;
///     const hob_fingerprint *after = NULL;
///     while (hob_program_cache_list(cache, after, UINT64_MAX, page, sizeof page[0], 256, &count) == HOB_RESULT_OK &&
///            count > 0) {
///         show(page, count);
///         after = &page[count - 1].key;
///     }
///
/// `after` is the last key of the previous page; NULL begins. `*out_count` receives the number of programs in the page;
/// 0: the end. A page has at most `capacity` programs, and 4096. With `programs` NULL the page is only
/// counted, so a `capacity` of 0 gives 0.
///
/// Programs may be put and removed between the calls: a program that stays is listed exactly once. Each call visits all
/// programs: not for every frame. HOB_RESULT_TIMEOUT: after `timeout_us` microseconds the disk is still busy, or more
/// than 65536 programs on it were not visited. Threads: shared.
#[entry(shared, nullable(after))]
pub extern "C" fn hob_program_cache_list(
    cache: *const hob_program_cache,
    after: *const hob_fingerprint,
    timeout_us: u64,
    programs: *mut hob_program_info,
    program_stride: usize,
    capacity: usize,
    out_count: *mut usize,
) -> hob_result {
    let most = programs.capacity().min(PAGE);
    let found = cache.list(after.map(|after| after.bytes), most, Duration::from_micros(timeout_us))?;
    programs.fill(found.into_iter().map(hob_program_info::from))
}
