//! `program_cache.h`: what was counted and measured, as structs and as JSON.

use std::ffi::c_char;

use super::base::hob_result;
use super::guard::guard;
use super::handle::inspect;
use super::layout::{Out, Versioned, init_struct, write_struct};
use super::program_cache::hob_program_cache;
use super::program_cache_state::give_text;
use crate::base::{Result, error};
use crate::program_cache::{CacheStatistics, Measure, Reason, Refusal};
use crate::stats::Histogram;

/// What a program cache has done since it was made, and what it holds now.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_program_cache_statistics {
    /// sizeof(hob_program_cache_statistics); set by hob_program_cache_statistics_init.
    pub struct_size: u32,
    /// Uses that have begun and not ended.
    pub uses_open: u32,
    /// Gets that found something, and that did not; hob_program_cache_get_wait counts once.
    pub hits: u64,
    pub misses: u64,
    /// Puts, whether the program was kept or not.
    pub puts: u64,
    /// Programs that came from the disk.
    pub loads: u64,
    /// Programs that left memory: to make room, by hob_program_cache_trim, by hob_program_cache_memory_pressure, by
    /// hob_program_cache_set_limits, for another one of their key, by hob_program_cache_clear, by hob_program_cache_remove,
    /// because the driver would not have them.
    pub left_for_room: u64,
    pub left_by_trim: u64,
    pub left_by_pressure: u64,
    pub left_by_limit: u64,
    pub left_replaced: u64,
    pub left_cleared: u64,
    pub left_removed: u64,
    pub left_rejected: u64,
    /// Puts and loads that were not kept: larger than the limit, of a key that has one already, loaded ahead without room
    /// for it, banned, removed while the disk was bringing it.
    pub refused_too_large: u64,
    pub refused_exists: u64,
    pub refused_no_room: u64,
    pub refused_banned: u64,
    pub refused_removed: u64,
    /// Uses that were not begun because the key is banned.
    pub uses_banned: u64,
    /// Programs in memory, bytes that they count, and the limit of these.
    pub programs: u64,
    pub bytes: u64,
    pub memory_limit: u64,
    /// Bytes held in all, tables, bookkeeping and what has left memory and waits to be written included; views of what is
    /// no longer cached are not among them.
    pub memory_used: u64,
    /// Shaders that are known to compile.
    pub shaders: u64,
    /// Programs that are to be loaded ahead, and those of them that were looked at.
    pub to_load: u64,
    pub loaded: u64,
    /// Pieces of work that wait for the background.
    pub waiting: u64,
    /// What could not be written.
    pub unwritten: u64,
    /// The disk, as of its last piece of work: values that can be got, bytes of their records, bytes and number of the
    /// files that have them, files of other versions, which are left alone.
    pub disk_values: u64,
    pub disk_live_bytes: u64,
    pub disk_file_bytes: u64,
    pub disk_files: u64,
    pub disk_foreign_files: u64,
    /// Memory that its index takes.
    pub disk_memory_used: u64,
    /// Damage found, operations that failed, values that were too long, evicted, and not used for too long.
    pub disk_damaged: u64,
    pub disk_io_errors: u64,
    pub disk_refused: u64,
    pub disk_evicted: u64,
    pub disk_aged: u64,
    /// Keys that are banned, and that have strikes, in all environments of the directory.
    pub keys_banned: u64,
    pub keys_struck: u64,
    /// Uses that were noted where they outlive the process, and that could not be.
    pub uses_noted: u64,
    pub uses_unnoted: u64,
    /// Strikes that creating this cache gave to keys of processes that had died.
    pub strikes_given: u64,
}

// SAFETY: repr(C), begins with struct_size, integers.
unsafe impl Versioned for hob_program_cache_statistics {
    const NAME: &'static str = "hob_program_cache_statistics";
    const FIRST_SIZE: usize = size_of::<Self>();
    fn defaults() -> Self {
        Self::from(&CacheStatistics::default())
    }
}

impl From<&CacheStatistics> for hob_program_cache_statistics {
    fn from(found: &CacheStatistics) -> Self {
        let CacheStatistics { memory, progress, disk, quarantine, .. } = found;
        let (left, refused) = (|reason: Reason| memory.left(reason), |why: Refusal| memory.refused(why));
        Self {
            struct_size: size_of::<Self>() as u32,
            uses_open: found.uses_open,
            hits: memory.hits,
            misses: memory.misses,
            puts: memory.puts,
            loads: memory.loads,
            left_for_room: left(Reason::Capacity),
            left_by_trim: left(Reason::Trim),
            left_by_pressure: left(Reason::Pressure),
            left_by_limit: left(Reason::LimitLowered),
            left_replaced: left(Reason::Replaced),
            left_cleared: left(Reason::Cleared),
            left_removed: left(Reason::Removed),
            left_rejected: left(Reason::Rejected),
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
            to_load: progress.to_load,
            loaded: progress.loaded,
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
            disk_aged: disk.aged,
            keys_banned: quarantine.bans.into(),
            keys_struck: quarantine.struck.into(),
            uses_noted: quarantine.noted,
            uses_unnoted: quarantine.unnoted,
            strikes_given: quarantine.counted.into(),
        }
    }
}

/// What a program cache measures.
#[repr(C)]
pub enum hob_program_cache_measure {
    /// Bytes of data of each program that was put, kept or not.
    BinaryBytes = 0,
    /// Bytes counted in memory before each put.
    BytesBefore = 1,
    /// Bytes counted in memory after each put.
    BytesAfter = 2,
    /// Microseconds of each link that the cache answered, the driver's loading included.
    HitUs = 3,
    /// Microseconds of each link that had to be built and succeeded, the compiling of what was put off included.
    MissUs = 4,
    /// Microseconds of each compile that was put off, since the shader is known to compile.
    StatusHitUs = 5,
    /// Microseconds of each compile that was not put off and succeeded: what failed, no cache could have saved.
    StatusMissUs = 6,
}

/// How often each size of value has come. Count, sum, least and greatest are exact; quantiles are at most a 32nd of
/// themselves away from a value of that rank.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_histogram {
    /// sizeof(hob_histogram); set by hob_histogram_init.
    pub struct_size: u32,
    /// Buckets that hold something.
    pub bucket_count: u32,
    pub count: u64,
    /// UINT64_MAX if it is more than that.
    pub sum: u64,
    /// 0 if there is no value, as is all below.
    pub least: u64,
    pub greatest: u64,
    pub mean: u64,
    pub p50: u64,
    pub p90: u64,
    pub p99: u64,
}

// SAFETY: repr(C), begins with struct_size, integers.
unsafe impl Versioned for hob_histogram {
    const NAME: &'static str = "hob_histogram";
    const FIRST_SIZE: usize = size_of::<Self>();
    fn defaults() -> Self {
        Self::from(&Histogram::EMPTY)
    }
}

impl From<&Histogram> for hob_histogram {
    fn from(found: &Histogram) -> Self {
        Self {
            struct_size: size_of::<Self>() as u32,
            bucket_count: found.filled().count() as u32,
            count: found.count(),
            sum: u64::try_from(found.sum()).unwrap_or(u64::MAX),
            least: found.least(),
            greatest: found.greatest(),
            mean: found.mean(),
            p50: found.quantile(500),
            p90: found.quantile(900),
            p99: found.quantile(990),
        }
    }
}

/// A part of a histogram: below 32 one for each value, above 16 for every doubling.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_histogram_bucket {
    /// The least value that counts here.
    pub least: u64,
    /// The greatest.
    pub greatest: u64,
    pub count: u64,
}

/// Fill in defaults; `size` is sizeof(hob_program_cache_statistics). Usually by HOB_PROGRAM_CACHE_STATISTICS_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_statistics_init(
    statistics: *mut hob_program_cache_statistics,
    size: u32,
) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(statistics, size) })
}

/// Fill in defaults; `size` is sizeof(hob_histogram). Usually by HOB_HISTOGRAM_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_histogram_init(histogram: *mut hob_histogram, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(histogram, size) })
}

/// All that was counted. Looks at every program in memory to add up `memory_used`, and puts wait until it has: not for
/// every frame. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_get_statistics(
    cache: *const hob_program_cache,
    statistics: *mut hob_program_cache_statistics,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe { inspect(cache, |cache| write_struct(statistics, &(&cache.statistics()?).into())) }
}

/// How what was measured is spread; `measure` is a hob_program_cache_measure. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_histogram(
    cache: *const hob_program_cache,
    measure: u32,
    histogram: *mut hob_histogram,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(cache, |cache| {
            let measure = known_measure(measure)?;
            write_struct(histogram, &cache.memory().statistics()?.histogram(measure).into())
        })
    }
}

/// The buckets of a histogram that hold something, from low to high. `bucket_stride` is sizeof(hob_histogram_bucket).
/// `*out_count` gets their number. With `buckets` NULL that is all; with `capacity` too small the result is
/// HOB_RESULT_BUFFER_TOO_SMALL and `buckets` is left alone. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_histogram_buckets(
    cache: *const hob_program_cache,
    measure: u32,
    buckets: *mut hob_histogram_bucket,
    bucket_stride: usize,
    capacity: usize,
    out_count: *mut usize,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(cache, |cache| {
            let statistics = cache.memory().statistics()?;
            let histogram = statistics.histogram(known_measure(measure)?);
            let count = histogram.filled().count();
            if !buckets.is_null() && bucket_stride < size_of::<hob_histogram_bucket>() {
                return Err(error!(
                    InvalidArgument,
                    "bucket_stride is {bucket_stride}: set it to sizeof(hob_histogram_bucket)"
                ));
            }
            match Out::optional(out_count) {
                Some(out) => out.write(count),
                None if buckets.is_null() => {
                    return Err(error!(InvalidArgument, "buckets and out_count are both NULL"));
                }
                None => {}
            }
            if buckets.is_null() {
                return Ok(());
            }
            if capacity < count {
                return Err(error!(
                    BufferTooSmall,
                    "there is room for {capacity} buckets, {count} are needed: pass a larger array"
                ));
            }
            for (index, (least, greatest, count)) in histogram.filled().enumerate() {
                let bucket = hob_histogram_bucket { least, greatest, count };
                buckets.byte_add(index * bucket_stride).write_unaligned(bucket);
            }
            Ok(())
        })
    }
}

/// Take a value into a histogram, for hosts that measure links and compiles themselves: the first three measures count by
/// themselves, the others when a hob_program_manager works and there is a clock hook. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_record(
    cache: *const hob_program_cache,
    measure: u32,
    value: u64,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(cache, |cache| {
            cache.memory().record(known_measure(measure)?, value);
            Ok(())
        })
    }
}

/// All that was counted and measured, as a JSON object without a NUL, whose names docs/formats.md explains; the two-call
/// protocol of hob_program_cache_trouble. As hob_program_cache_get_statistics not for every frame. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_program_cache_report(
    cache: *const hob_program_cache,
    buffer: *mut c_char,
    capacity: usize,
    out_size: *mut usize,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(cache, |cache| {
            let mut text = Growing { text: String::new(), failed: false };
            let _ = cache.statistics()?.write_json(&mut text);
            if text.failed {
                return Err(crate::base::Error::OUT_OF_MEMORY);
            }
            give_text(buffer, capacity, out_size, &text.text)
        })
    }
}

fn known_measure(measure: u32) -> Result<Measure> {
    let known = Measure::ALL.get(measure as usize).copied();
    known.ok_or_else(|| error!(InvalidArgument, "measure {measure} is none: pass a hob_program_cache_measure"))
}

/// Text that grows as far as there is memory.
struct Growing {
    text: String,
    failed: bool,
}

impl std::fmt::Write for Growing {
    fn write_str(&mut self, piece: &str) -> std::fmt::Result {
        self.failed |= self.text.try_reserve(piece.len()).is_err();
        if self.failed {
            return Err(std::fmt::Error);
        }
        self.text.push_str(piece);
        Ok(())
    }
}
