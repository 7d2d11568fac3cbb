//! Counters and measurements, as structs and as JSON.

use std::ffi::c_char;

use hobgoblin_macros::{element, entry, open_enum, versioned};

use super::cache::hob_program_cache;
use crate::base::{Error, Result, error, try_append, try_collect};
use crate::ffi::base::result::hob_result;
use crate::ffi::base::structs::Versioned;
use crate::program_cache::{CacheStatistics, Measure, Reason, Refusal};
use crate::stats::Histogram;

// == Statistics ==

/// Counters of a program cache since it was created, and its present size.
/// An answer: set struct_size, or begin with HOB_PROGRAM_CACHE_STATISTICS_INIT.
#[versioned(size = 352, last = strikes_added)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_program_cache_statistics {
    /// sizeof(hob_program_cache_statistics).
    pub struct_size: u32,
    /// Uses that have begun and not ended.
    pub uses_open: u32,
    /// Gets that found a program. hob_program_cache_get_wait counts once.
    pub hits: u64,
    /// Gets that found none.
    pub misses: u64,
    /// Puts, whether the program was stored or not.
    pub puts: u64,
    /// Programs that were loaded from the directory or a bundle, after a miss or ahead of need.
    pub loads: u64,
    /// Programs evicted to make room.
    pub evicted_for_room: u64,
    /// Programs evicted by hob_program_cache_trim.
    pub evicted_by_trim: u64,
    /// Programs evicted by hob_program_cache_report_memory_pressure.
    pub evicted_by_pressure: u64,
    /// Programs evicted by hob_program_cache_set_memory_limit.
    pub evicted_by_limit: u64,
    /// Programs replaced by another put of their key.
    pub replaced: u64,
    /// Programs removed by hob_program_cache_clear.
    pub cleared: u64,
    /// Programs removed by hob_program_cache_remove.
    pub removed: u64,
    /// Programs removed because the driver rejected them.
    pub rejected: u64,
    /// Puts and loads refused: larger than the limit.
    pub refused_too_large: u64,
    /// Puts and loads refused: the key has a program.
    pub refused_exists: u64,
    /// Loads ahead of need refused: no room.
    pub refused_no_room: u64,
    /// Puts and loads refused: the key is banned.
    pub refused_banned: u64,
    /// Loads refused: the program was removed meanwhile.
    pub refused_removed: u64,
    /// Uses that did not begin because the key is banned.
    pub uses_banned: u64,
    /// Programs in memory.
    pub programs: u64,
    /// Bytes in memory that count against `memory_limit`.
    pub bytes: u64,
    /// The limit of `bytes`.
    pub memory_limit: u64,
    /// Bytes held in all, with tables, bookkeeping and programs that wait to be written. Evicted programs that a blob
    /// still pins are not included.
    pub memory_used: u64,
    /// Shaders that are known to compile.
    pub shaders: u64,
    /// Programs that were chosen to be loaded ahead of need, since the cache was created.
    pub preload_total: u64,
    /// Programs of `preload_total` that are done: loaded, refused, or skipped because memory is full.
    pub preload_done: u64,
    /// Requests that wait for the background: programs to write, missed programs to read, removals and the like.
    /// Loading ahead of need is not included.
    pub waiting: u64,
    /// Programs that were put and could not be written.
    pub unwritten: u64,
    /// Programs and other values in the directory, of all environments. All `disk_` fields are as of the last time that
    /// no request waited.
    pub disk_values: u64,
    /// Bytes that `disk_values` take in the files.
    pub disk_live_bytes: u64,
    /// Bytes of the files, with values that were replaced or removed.
    pub disk_file_bytes: u64,
    /// Number of files that hold values.
    pub disk_files: u64,
    /// Files of other formats, secrets and users, which are not read.
    pub disk_foreign_files: u64,
    /// Bytes of memory for the directory: a list of its values, and buffers. Not included in `memory_used`.
    pub disk_memory_used: u64,
    /// Damaged values and files that were found, in the directory and in bundles.
    pub disk_damaged: u64,
    /// File operations that failed.
    pub disk_io_errors: u64,
    /// Values that were too large to be written.
    pub disk_refused: u64,
    /// Values evicted from disk.
    pub disk_evicted: u64,
    /// Values removed from disk because of their age.
    pub disk_expired: u64,
    /// Banned keys, in all environments of the directory.
    pub keys_banned: u64,
    /// Keys with strikes, in all environments of the directory.
    pub keys_with_strikes: u64,
    /// Uses that were recorded in a file.
    pub uses_recorded: u64,
    /// Uses that could not be recorded.
    pub uses_unrecorded: u64,
    /// Strikes that creating this cache added, for processes that ended during a use.
    pub strikes_added: u64,
}

impl From<&CacheStatistics> for hob_program_cache_statistics {
    fn from(found: &CacheStatistics) -> Self {
        let CacheStatistics { memory, progress, disk, quarantine, .. } = found;
        let (left, refused) = (|reason: Reason| memory.left(reason), |why: Refusal| memory.refused(why));
        Self {
            uses_open: found.uses_open,
            hits: memory.hits,
            misses: memory.misses,
            puts: memory.puts,
            loads: memory.loads,
            evicted_for_room: left(Reason::Capacity),
            evicted_by_trim: left(Reason::Trim),
            evicted_by_pressure: left(Reason::Pressure),
            evicted_by_limit: left(Reason::LimitLowered),
            replaced: left(Reason::Replaced),
            cleared: left(Reason::Cleared),
            removed: left(Reason::Removed),
            rejected: left(Reason::Rejected),
            refused_too_large: refused(Refusal::TooLarge),
            refused_exists: refused(Refusal::Exists),
            refused_no_room: refused(Refusal::NoRoom),
            refused_banned: refused(Refusal::Banned),
            refused_removed: refused(Refusal::Removed),
            uses_banned: memory.banned,
            programs: memory.entries,
            bytes: memory.bytes,
            memory_limit: memory.limit_bytes,
            memory_used: found.memory_used,
            shaders: memory.shaders,
            preload_total: progress.preload_total,
            preload_done: progress.preload_done,
            waiting: progress.waiting,
            unwritten: progress.unwritten,
            disk_values: disk.values,
            disk_live_bytes: disk.live_bytes,
            disk_file_bytes: disk.file_bytes,
            disk_files: disk.segments,
            disk_foreign_files: disk.foreign_segments,
            disk_memory_used: disk.memory_used,
            disk_damaged: disk.damaged,
            disk_io_errors: disk.io_errors,
            disk_refused: disk.refused,
            disk_evicted: disk.evicted,
            disk_expired: disk.aged,
            keys_banned: quarantine.bans.into(),
            keys_with_strikes: quarantine.struck.into(),
            uses_recorded: quarantine.noted,
            uses_unrecorded: quarantine.unnoted,
            strikes_added: quarantine.counted.into(),
            ..Self::defaults()
        }
    }
}

/// Gets all counters.
/// Visits every program in memory, and puts wait meanwhile: do not call it every frame. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_program_cache_get_statistics(
    cache: *const hob_program_cache,
    out_statistics: *mut hob_program_cache_statistics,
) -> hob_result {
    out_statistics.write((&cache.statistics()?).into());
    Ok(())
}

/// Writes all counters and histograms as a JSON object, without a NUL.
/// docs/formats.md explains its names.
/// `*out_size` receives the required size. `buffer` NULL asks only for that. If `capacity` is too small, the result is
/// HOB_RESULT_BUFFER_TOO_SMALL and the buffer stays unchanged. As hob_program_cache_get_statistics, not for every
/// frame. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_program_cache_get_report(
    cache: *const hob_program_cache,
    buffer: *mut c_char,
    capacity: usize,
    out_size: *mut usize,
) -> hob_result {
    let mut text = Growing { text: String::new(), failed: false };
    let _ = cache.statistics()?.write_json(&mut text);
    if text.failed {
        return Err(Error::OUT_OF_MEMORY);
    }
    buffer.text(&text.text)
}

// == Histograms ==

/// The measurements of a program cache.
/// Each has a histogram.
#[open_enum]
#[repr(C)]
pub enum hob_program_cache_measure {
    /// Bytes of data of each program that was put, stored or not.
    BinaryBytes = 0,
    /// Bytes in memory before each put.
    BytesBefore = 1,
    /// Bytes in memory after each put.
    BytesAfter = 2,
    /// Microseconds of each hob_program_manager_link that the cache served: making the key, get, begin_use and `load`.
    HitUs = 3,
    /// Microseconds of each hob_program_manager_link that built its program. Includes the missed lookup, deferred
    /// compiles, `link`, `get_binary` and the put.
    MissUs = 4,
    /// Microseconds of each hob_program_manager_compile that deferred: copying and hashing the source, and the lookup.
    StatusHitUs = 5,
    /// Microseconds of each hob_program_manager_compile that called `compile` and succeeded, callback included.
    StatusMissUs = 6,
}

impl hob_program_cache_measure {
    fn known(self) -> Result<Measure> {
        let known = Measure::ALL.get(self.check("measure")?.0 as usize).copied();
        known.ok_or_else(|| error!(InvalidArgument, "measure {} is not a hob_program_cache_measure", self.0))
    }
}

/// Adds a value to a histogram, for hosts that measure links and compiles themselves.
/// The first three measures are added by the cache. The others are added by a hob_program_manager, if there is a
/// hob_clock_hook. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_program_cache_add_measurement(
    cache: *const hob_program_cache,
    measure: hob_program_cache_measure,
    value: u64,
) -> hob_result {
    cache.memory().record(measure.known()?, value);
    Ok(())
}

/// The distribution of a measure.
/// Count, sum, minimum and maximum are exact; quantiles to 1 part in 32. An answer: set struct_size, or begin with
/// HOB_HISTOGRAM_INIT.
#[versioned(size = 72, last = p99)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_histogram {
    /// sizeof(hob_histogram).
    pub struct_size: u32,
    /// Buckets that hold values.
    pub bucket_count: u32,
    /// Number of values.
    pub count: u64,
    /// Sum of the values; UINT64_MAX if it is larger than that.
    pub sum: u64,
    /// The least value. 0 without values, as are all fields below.
    pub minimum: u64,
    /// The greatest value.
    pub maximum: u64,
    /// The mean, rounded down.
    pub mean: u64,
    /// The median.
    pub p50: u64,
    /// The 90th percentile.
    pub p90: u64,
    /// The 99th percentile.
    pub p99: u64,
}

impl From<&Histogram> for hob_histogram {
    fn from(found: &Histogram) -> Self {
        Self {
            bucket_count: found.filled().count() as u32,
            count: found.count(),
            sum: u64::try_from(found.sum()).unwrap_or(u64::MAX),
            minimum: found.least(),
            maximum: found.greatest(),
            mean: found.mean(),
            p50: found.quantile(500),
            p90: found.quantile(900),
            p99: found.quantile(990),
            ..Self::defaults()
        }
    }
}

/// Gets the distribution of a measure.
/// Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_program_cache_get_histogram(
    cache: *const hob_program_cache,
    measure: hob_program_cache_measure,
    out_histogram: *mut hob_histogram,
) -> hob_result {
    let measure = measure.known()?;
    out_histogram.write(cache.memory().statistics()?.histogram(measure).into());
    Ok(())
}

/// One bucket of a histogram.
/// Each value below 32 has one; above, there are 16 per power of two.
#[element(size = 24, last = count)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_histogram_bucket {
    /// The least value of the bucket.
    pub minimum: u64,
    /// The greatest value of the bucket.
    pub maximum: u64,
    /// Number of values.
    pub count: u64,
}

/// Writes the buckets of a histogram that hold values, in ascending order.
/// `bucket_stride` is sizeof(hob_histogram_bucket), or 0. `*out_count` receives the number of buckets; `buckets` NULL
/// asks only for that. If `capacity` is too small, the result is HOB_RESULT_BUFFER_TOO_SMALL and `buckets` stays
/// unchanged. Threads: shared.
#[entry(shared)]
pub extern "C" fn hob_program_cache_get_histogram_buckets(
    cache: *const hob_program_cache,
    measure: hob_program_cache_measure,
    buckets: *mut hob_histogram_bucket,
    bucket_stride: usize,
    capacity: usize,
    out_count: *mut usize,
) -> hob_result {
    let measure = measure.known()?;
    let statistics = cache.memory().statistics()?;
    let histogram = statistics.histogram(measure);
    let filled = histogram.filled();
    let found = try_collect(filled.map(|(minimum, maximum, count)| hob_histogram_bucket { minimum, maximum, count }))?;
    buckets.fill(found.into_iter())
}

/// A growable text that reports failed allocations.
struct Growing {
    text: String,
    failed: bool,
}

impl std::fmt::Write for Growing {
    fn write_str(&mut self, piece: &str) -> std::fmt::Result {
        self.failed |= try_append(&mut self.text, piece).is_err();
        if self.failed { Err(std::fmt::Error) } else { Ok(()) }
    }
}
