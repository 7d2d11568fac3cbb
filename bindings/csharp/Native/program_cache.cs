// hobgoblin/program_cache.h: Compiled shader programs, kept in memory and on disk: no program is compiled twice.
// Generated from abi/hobgoblin-api.json; do not edit. MIT OR Apache-2.0.

using System;
using System.Runtime.InteropServices;

namespace Hobgoblin.Interop
{
    /// <summary>The numeric macros of the headers.</summary>
    public static partial class Constants
    {
        /// <summary>hob_program_cache_desc.flags: write nothing to the directory.</summary>
        /// <remarks>
        /// Bans stay in force. Uses begin and end as usual, but are not recorded, so a crash adds no strike. A program that is
        /// put stays in memory only. A program that is removed, rejected or cleared is hidden from this cache only: the next
        /// cache finds it again.
        /// </remarks>
        public const uint HOB_PROGRAM_CACHE_READ_ONLY = 1;

        /// <summary>hob_program_cache_desc.flags: compress programs on disk (LZ4).</summary>
        public const uint HOB_PROGRAM_CACHE_COMPRESS = 2;

        /// <summary>hob_program_cache_desc.flags: load only programs that were missed, nothing ahead of need.</summary>
        public const uint HOB_PROGRAM_CACHE_LOAD_LAZILY = 4;

        /// <summary>hob_program_cache_desc.flags: evict programs of the start-up set after all others.</summary>
        public const uint HOB_PROGRAM_CACHE_KEEP_STARTUP_SET = 8;

        /// <summary>hob_program_cache_desc.flags: count only the data of programs against memory_limit, as Chromium's cache does.</summary>
        /// <remarks>
        /// Keys, fingerprints of shaders and reflection are not counted. A program without data counts as one byte.
        /// </remarks>
        public const uint HOB_PROGRAM_CACHE_COUNT_DATA_ONLY = 16;

        /// <summary>hob_program_cache_desc.flags: a second put of a key changes nothing, and writes nothing.</summary>
        /// <remarks>
        /// It holds while memory has the first one. For hosts whose threads may build one program at the same time. After a
        /// rejection, end the use and then put the new program. In the other order both programs are lost.
        /// </remarks>
        public const uint HOB_PROGRAM_CACHE_FIRST_PUT_WINS = 32;

        /// <summary>A place of a program: it is in memory.</summary>
        public const uint HOB_PROGRAM_IN_MEMORY = 1;

        /// <summary>A place of a program: it is in the directory.</summary>
        public const uint HOB_PROGRAM_ON_DISK = 2;

        /// <summary>A place of a program: it is in a bundle.</summary>
        public const uint HOB_PROGRAM_IN_BUNDLE = 4;
    }

    /// <summary>Which programs are evicted first when memory is full.</summary>
    public enum hob_eviction : uint
    {
        /// <summary>First the programs with the least build time per byte, weighted by how often they are used.</summary>
        HOB_EVICTION_COST_AWARE = 0,

        /// <summary>The least recently used program.</summary>
        HOB_EVICTION_LRU = 1,

        /// <summary>The most recently used program of the least recently used group: see hob_program.group.</summary>
        HOB_EVICTION_GROUPS = 2,
    }

    /// <summary>How a use of a program ended.</summary>
    public enum hob_use_outcome : uint
    {
        /// <summary>The GPU has finished the first frame drawn with it. One strike is removed.</summary>
        HOB_USE_OUTCOME_OK = 0,

        /// <summary>The driver refused it. It is removed from memory and disk; a program that was put meanwhile stays.</summary>
        HOB_USE_OUTCOME_REJECTED = 1,

        /// <summary>Nothing was drawn with it. The program and its strikes do not change.</summary>
        HOB_USE_OUTCOME_UNUSED = 2,
    }

    /// <summary>How short of memory the machine is.</summary>
    public enum hob_memory_pressure : uint
    {
        /// <summary>Not short: the limits of memory pressure end.</summary>
        HOB_MEMORY_PRESSURE_NONE = 0,

        /// <summary>The limit of memory is a quarter of memory_limit. A program that is larger, but within memory_limit, is stored
        /// alone: all others are evicted.</summary>
        HOB_MEMORY_PRESSURE_MODERATE = 1,

        /// <summary>All programs are evicted from memory, and then memory holds one program, the last that was stored. Programs that
        /// wait to be written stay: hob_program_cache_flush writes them. The disk keeps its programs.</summary>
        HOB_MEMORY_PRESSURE_CRITICAL = 2,
    }

    /// <summary>The measurements of a program cache.</summary>
    /// <remarks>
    /// Each has a histogram.
    /// </remarks>
    public enum hob_program_cache_measure : uint
    {
        /// <summary>Bytes of data of each program that was put, stored or not.</summary>
        HOB_PROGRAM_CACHE_MEASURE_BINARY_BYTES = 0,

        /// <summary>Bytes in memory before each put.</summary>
        HOB_PROGRAM_CACHE_MEASURE_BYTES_BEFORE = 1,

        /// <summary>Bytes in memory after each put.</summary>
        HOB_PROGRAM_CACHE_MEASURE_BYTES_AFTER = 2,

        /// <summary>Microseconds of each hob_program_manager_link that the cache served: making the key, get, begin_use and <c>load</c>.</summary>
        HOB_PROGRAM_CACHE_MEASURE_HIT_US = 3,

        /// <summary>Microseconds of each hob_program_manager_link that built its program. Includes the missed lookup, deferred
        /// compiles, <c>link</c>, <c>get_binary</c> and the put.</summary>
        HOB_PROGRAM_CACHE_MEASURE_MISS_US = 4,

        /// <summary>Microseconds of each hob_program_manager_compile that deferred: copying and hashing the source, and the lookup.</summary>
        HOB_PROGRAM_CACHE_MEASURE_STATUS_HIT_US = 5,

        /// <summary>Microseconds of each hob_program_manager_compile that called <c>compile</c> and succeeded, callback included.</summary>
        HOB_PROGRAM_CACHE_MEASURE_STATUS_MISS_US = 6,
    }

    /// <summary>Experimental: The programs of a bundle.</summary>
    public enum hob_bundle_contents : uint
    {
        /// <summary>All programs in memory, on disk and in bundles for the cache's environment.</summary>
        HOB_BUNDLE_CONTENTS_ALL = 0,

        /// <summary>The programs of the start-up set.</summary>
        HOB_BUNDLE_CONTENTS_STARTUP_SET = 1,
    }

    /// <summary>Experimental: Where the described program most similar to a missed one is.</summary>
    public enum hob_program_location : uint
    {
        /// <summary>It was neither put nor asked for since the cache was created. It may be on disk.</summary>
        HOB_PROGRAM_LOCATION_NOT_LOADED = 0,

        /// <summary>In memory.</summary>
        HOB_PROGRAM_LOCATION_IN_MEMORY = 1,

        /// <summary>It was evicted from memory, or removed.</summary>
        HOB_PROGRAM_LOCATION_EVICTED = 2,

        /// <summary>On disk, for another driver, device or build. It is never loaded.</summary>
        HOB_PROGRAM_LOCATION_OTHER_ENVIRONMENT = 3,

        /// <summary>Banned: see hob_program_cache_begin_use. It is never loaded.</summary>
        HOB_PROGRAM_LOCATION_BANNED = 4,
    }

    /// <summary>Experimental: The state of a shader.</summary>
    public enum hob_shader_state : uint
    {
        /// <summary>It is not compiled, or its compile failed.</summary>
        HOB_SHADER_STATE_NOT_COMPILED = 0,

        /// <summary>It is known to compile, and deferred.</summary>
        HOB_SHADER_STATE_DEFERRED = 1,

        /// <summary>The driver has compiled it.</summary>
        HOB_SHADER_STATE_COMPILED = 2,
    }

    /// <summary>Experimental: How a link ended.</summary>
    public enum hob_link_outcome : uint
    {
        /// <summary>The link did not begin.</summary>
        HOB_LINK_OUTCOME_NONE = 0,

        /// <summary>The driver loaded the program from the cache.</summary>
        HOB_LINK_OUTCOME_LOADED = 1,

        /// <summary>The program was built and stored.</summary>
        HOB_LINK_OUTCOME_BUILT = 2,

        /// <summary>The program was built. There was no binary, or it could not be stored.</summary>
        HOB_LINK_OUTCOME_BUILT_UNSAVED = 3,

        /// <summary>A deferred shader failed to compile.</summary>
        HOB_LINK_OUTCOME_COMPILE_FAILED = 4,

        /// <summary>The link failed.</summary>
        HOB_LINK_OUTCOME_LINK_FAILED = 5,
    }

    /// <summary>A cache of programs, in memory and, with a directory, on disk.</summary>
    /// <remarks>
    /// A handle: see "Handles" in base.h.
    /// </remarks>
    public struct hob_program_cache
    {
    }

    /// <summary>Experimental: Links programs from a cache, and compiles only the shaders that it must.</summary>
    /// <remarks>
    /// A handle: see "Handles" in base.h. Build times are measured with the host's clock: without a hob_clock_hook programs
    /// are stored with a build_us of 0. Several managers may share a cache, on different threads.
    /// </remarks>
    public struct hob_program_manager
    {
    }

    /// <summary>A use of a program by the driver, from hob_program_cache_begin_use.</summary>
    /// <remarks>
    /// All zero is no use.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_use_id
    {
        /// <summary>Its place, from 1 on; 0 is no use.</summary>
        public uint index1;

        /// <summary>Distinguishes it from earlier uses at that place.</summary>
        public uint generation;
    }

    /// <summary>Parameters of a program cache.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_program_cache_desc
    {
        /// <summary>sizeof(hob_program_cache_desc).</summary>
        public uint struct_size;

        /// <summary>Which programs are evicted first. Default HOB_EVICTION_COST_AWARE.</summary>
        public hob_eviction eviction;

        /// <summary>Where programs, strikes and bans outlive the process. Default empty: memory only, and no strikes. Several
        /// processes may share a directory. The first program or use that is written creates it. A path: on Unix any bytes
        /// without NUL, elsewhere UTF-8.</summary>
        /// <remarks>
        /// Programs that other processes have written are found at create, and later when one is missed: the disk looks for
        /// them at most every 100 ms.
        /// </remarks>
        public hob_str directory;

        /// <summary>The driver, device and build that the programs are for. NULL: driver and device are unknown. A new driver then
        /// gets the old driver's binaries. Set it for every cache with a directory or a bundle.</summary>
        public hob_environment* environment;

        /// <summary>Reads and writes files as background tasks, and is kept alive by the cache. With HOB_BACKGROUND_PUMP those tasks
        /// run inside hob_executor_pump, which may then wait for files.</summary>
        /// <remarks>
        /// NULL: no background. Programs are then read and written only by hob_program_cache_get_wait,
        /// hob_program_cache_wait_idle, hob_program_cache_flush, hob_program_cache_write_bundle and
        /// hob_program_cache_destroy. Call hob_program_cache_wait_idle after create: hob_program_cache_get never reads the
        /// disk itself.
        /// </remarks>
        public hob_executor* executor;

        /// <summary>Limit of memory, in bytes: keys, data, reflection and fingerprints of shaders. 0: the default, 64 MiB.</summary>
        /// <remarks>
        /// UINT64_MAX: no limit. A program that is larger is neither kept nor written to disk, so a limit of 1 stores
        /// nothing.
        /// </remarks>
        public ulong memory_limit;

        /// <summary>Limit of the disk for this environment, in bytes, at least 256 KiB. 0: the default, 512 MiB. UINT64_MAX: no
        /// limit. Bytes are those of whole blocks (<c>st_blocks</c> * 512) of every file of the library in the directory, also
        /// of files that are deleted but open. Files of another format or secret count only for <c>directory_limit</c>, and
        /// those of another user for no limit.</summary>
        /// <remarks>
        /// Every write evicts first what it needs, in all processes and with or without an executor. At every moment the
        /// files take at most 1.25 * limit. After destroy, or a flush, they take at most 1.0 * limit; but an executor's
        /// background may then merge files until hob_program_cache_wait_idle. Several processes that write at once share
        /// the limit, so each needs room for its values besides those of the others.
        /// <para/>
        /// Each environment keeps the limit of the process that opened it last, so the files of several environments take
        /// up to the sum of their limits, or <c>directory_limit</c>. A program of more than 3/4 of the limit, or of more than
        /// 256 MiB, is not written. To write nothing, set HOB_PROGRAM_CACHE_READ_ONLY.
        /// <para/>
        /// A full file system takes the place of the limit: old programs are evicted for new ones. A program of more than
        /// about 5/8 of its space is then not written. One hob_program_cache_flush reports the programs that were not
        /// written, and <c>disk_refused</c> counts them.
        /// </remarks>
        public ulong disk_limit;

        /// <summary>Limit of the programs that wait to be written, in bytes of data, reflection and fingerprints of shaders. 0: the
        /// default, 256 MiB. UINT64_MAX: no limit. A program that is put beyond it stays in memory and is not written;
        /// there is no retry. Programs that wait are held even after memory evicts them, in addition to <c>memory_limit</c>.</summary>
        public ulong waiting_limit;

        /// <summary>Programs without a put or get for this many seconds are removed from disk. 0: the default, 30 days. UINT32_MAX:</summary>
        /// <remarks>
        /// no limit.
        /// </remarks>
        public uint max_age_seconds;

        /// <summary>Strikes that ban a program. 0: the default, 2, so that a program may end the process twice. UINT32_MAX: no bans,
        /// and uses are not recorded.</summary>
        public uint ban_at;

        /// <summary>HOB_PROGRAM_CACHE_READ_ONLY and the like. Default 0.</summary>
        public uint flags;

        /// <summary>Number of programs whose inputs are remembered for hob_program_cache_explain_miss. Default 0: none.</summary>
        /// <remarks>
        /// Each takes some hundred bytes, in memory and on disk.
        /// </remarks>
        public uint described_keys;

        /// <summary>The file system of the directory and of bundles; copied. NULL: the operating system's.</summary>
        public hob_file_io* file_io;

        /// <summary>A secret of the host, at least 16 bytes; copied. Programs on disk that were written with another one, or without
        /// one, are ignored, and strikes are dropped. So nobody without the secret can make the cache give bytes to the
        /// driver. Bundles have no secret. Default empty: checksums find damage, but no forgery. docs/trust.md has the
        /// details.</summary>
        public hob_str secret;

        /// <summary>Limit of the directory with all its environments, in bytes, at least 256 KiB. Environments that were not used
        /// for the longest time are removed first, as a whole, and this one never. 0: the default, twice the largest
        /// <c>disk_limit</c> of an environment in it. UINT64_MAX: no limit.</summary>
        /// <remarks>
        /// The same files count as for <c>disk_limit</c>, and those of other formats and secrets. These are deleted before all
        /// others, the oldest first. Files that a living process with another format or secret writes stay, and do not
        /// count.
        /// </remarks>
        public ulong directory_limit;
    }

    /// <summary>A view of a cached program, valid until hob_blob_release.</summary>
    /// <remarks>
    /// It stays valid after the program is evicted or removed, and after the cache is destroyed. Begin with HOB_BLOB_INIT;
    /// the library fills it in. Release it exactly once: do not copy the struct and release both.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_blob
    {
        /// <summary>sizeof(hob_blob).</summary>
        public uint struct_size;

        /// <summary>hob_program.format of the put.</summary>
        public uint format;

        /// <summary>The binary, at a multiple of 16 bytes, as Vulkan requires of a shader's binary.</summary>
        public void* data;

        /// <summary>Bytes of <c>data</c>.</summary>
        public UIntPtr size;

        /// <summary>hob_program.reflection of the put, at a multiple of 16 bytes.</summary>
        public void* reflection;

        /// <summary>Bytes of <c>reflection</c>.</summary>
        public UIntPtr reflection_size;

        /// <summary>The library's: keeps the view valid. Must be NULL before the first call; do not write it after that.</summary>
        public void* pin;
    }

    /// <summary>A program to be stored.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_program
    {
        /// <summary>sizeof(hob_program).</summary>
        public uint struct_size;

        /// <summary>The driver's format of <c>data</c>, such as the GLenum of glGetProgramBinary. The cache only stores it.</summary>
        public uint format;

        /// <summary>The binary. May be NULL if <c>size</c> is 0.</summary>
        public void* data;

        /// <summary>Bytes of <c>data</c>. See memory_limit and disk_limit of hob_program_cache_desc.</summary>
        public UIntPtr size;

        /// <summary>Any bytes that the host wants back with the binary. May be NULL if <c>reflection_size</c> is 0.</summary>
        public void* reflection;

        /// <summary>Bytes of <c>reflection</c>.</summary>
        public UIntPtr reflection_size;

        /// <summary>Fingerprints of the shaders that it was linked from, such as hob_fingerprint_hash_bytes of each source. While
        /// memory holds the program, hob_program_cache_get_shader_status reports them as known. May be NULL if
        /// <c>shader_count</c> is 0.</summary>
        public hob_fingerprint* shaders;

        /// <summary>Number of <c>shaders</c>.</summary>
        public UIntPtr shader_count;

        /// <summary>Microseconds of compiling and linking, for HOB_EVICTION_COST_AWARE. 0 counts as 1.</summary>
        public ulong build_us;

        /// <summary>The page, level or material that it belongs to, for HOB_EVICTION_GROUPS. hob_program_cache_get_for_group and
        /// hob_program_manager_link move it to another one.</summary>
        public uint group;

        /// <summary>Must be 0.</summary>
        public uint reserved;
    }

    /// <summary>The host's observer of problems.</summary>
    /// <remarks>
    /// A problem keeps programs from being read, written or removed, such as a full disk or a damaged bundle. It is also
    /// written to the log, at HOB_LOG_LEVEL_WARNING.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_problem_callback
    {
        /// <summary>sizeof(hob_problem_callback).</summary>
        public uint struct_size;

        /// <summary>Must be 0.</summary>
        public uint reserved;

        /// <summary>Passed to the callbacks.</summary>
        public void* user_data;

        /// <summary>Receives each new problem once, as hob_program_cache_get_problem returns it. Empty: the problem is over.</summary>
        /// <remarks>
        /// <c>sentence.data</c> ends in NUL and is valid during the call. Runs on the thread that noticed the problem: in a
        /// background task, or inside a call of the cache. All functions of the cache may be called, except
        /// hob_program_cache_destroy. Must be set.
        /// </remarks>
        public IntPtr report;

        /// <summary>Called exactly once, when <c>user_data</c> is no longer needed, at the latest in hob_program_cache_destroy. May be
        /// NULL.</summary>
        public IntPtr release;
    }

    /// <summary>A program of hob_program_cache_list.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_program_info
    {
        /// <summary>Its key.</summary>
        public hob_fingerprint key;

        /// <summary>Bytes of data, reflection and fingerprints of shaders.</summary>
        public ulong size;

        /// <summary>hob_program.build_us of the put.</summary>
        public ulong build_us;

        /// <summary>Second of the last use that is recorded on disk, since 1970. 0: it is not on disk.</summary>
        public ulong last_used;

        /// <summary>Gets since it is in memory, and the put. 0: it is not in memory, or was loaded and not used.</summary>
        public uint uses;

        /// <summary>Processes that used it, as recorded on disk. 0: it is not on disk.</summary>
        public uint recorded_uses;

        /// <summary>Its group, in memory. 0: it is not in memory.</summary>
        public uint group;

        /// <summary>HOB_PROGRAM_IN_MEMORY and the like.</summary>
        public uint places;
    }

    /// <summary>Counters of a program cache since it was created, and its present size.</summary>
    /// <remarks>
    /// An answer: set struct_size, or begin with HOB_PROGRAM_CACHE_STATISTICS_INIT.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_program_cache_statistics
    {
        /// <summary>sizeof(hob_program_cache_statistics).</summary>
        public uint struct_size;

        /// <summary>Uses that have begun and not ended.</summary>
        public uint uses_open;

        /// <summary>Gets that found a program. hob_program_cache_get_wait counts once.</summary>
        public ulong hits;

        /// <summary>Gets that found none.</summary>
        public ulong misses;

        /// <summary>Puts, whether the program was stored or not.</summary>
        public ulong puts;

        /// <summary>Programs that were loaded from the directory or a bundle, after a miss or ahead of need.</summary>
        public ulong loads;

        /// <summary>Programs evicted to make room.</summary>
        public ulong evicted_for_room;

        /// <summary>Programs evicted by hob_program_cache_trim.</summary>
        public ulong evicted_by_trim;

        /// <summary>Programs evicted by hob_program_cache_report_memory_pressure.</summary>
        public ulong evicted_by_pressure;

        /// <summary>Programs evicted by hob_program_cache_set_memory_limit.</summary>
        public ulong evicted_by_limit;

        /// <summary>Programs replaced by another put of their key.</summary>
        public ulong replaced;

        /// <summary>Programs removed by hob_program_cache_clear.</summary>
        public ulong cleared;

        /// <summary>Programs removed by hob_program_cache_remove.</summary>
        public ulong removed;

        /// <summary>Programs removed because the driver rejected them.</summary>
        public ulong rejected;

        /// <summary>Puts and loads refused: larger than the limit.</summary>
        public ulong refused_too_large;

        /// <summary>Puts and loads refused: the key has a program.</summary>
        public ulong refused_exists;

        /// <summary>Loads ahead of need refused: no room.</summary>
        public ulong refused_no_room;

        /// <summary>Puts and loads refused: the key is banned.</summary>
        public ulong refused_banned;

        /// <summary>Loads refused: the program was removed meanwhile.</summary>
        public ulong refused_removed;

        /// <summary>Uses that did not begin because the key is banned.</summary>
        public ulong uses_banned;

        /// <summary>Programs in memory.</summary>
        public ulong programs;

        /// <summary>Bytes in memory that count against <c>memory_limit</c>.</summary>
        public ulong bytes;

        /// <summary>The limit of <c>bytes</c>.</summary>
        public ulong memory_limit;

        /// <summary>Bytes held in all, with tables, bookkeeping and programs that wait to be written. Evicted programs that a blob
        /// still pins are not included.</summary>
        public ulong memory_used;

        /// <summary>Shaders that are known to compile.</summary>
        public ulong shaders;

        /// <summary>Programs that were chosen to be loaded ahead of need, since the cache was created.</summary>
        public ulong preload_total;

        /// <summary>Programs of <c>preload_total</c> that are done: loaded, refused, or skipped because memory is full.</summary>
        public ulong preload_done;

        /// <summary>Requests that wait for the background: programs to write, missed programs to read, removals and the like.</summary>
        /// <remarks>
        /// Loading ahead of need is not included.
        /// </remarks>
        public ulong waiting;

        /// <summary>Programs that were put and could not be written.</summary>
        public ulong unwritten;

        /// <summary>Programs and other values in the directory, of all environments. All <c>disk_</c> fields are as of the last time that
        /// no request waited.</summary>
        public ulong disk_values;

        /// <summary>Bytes that <c>disk_values</c> take in the files.</summary>
        public ulong disk_live_bytes;

        /// <summary>Bytes of the files, with values that were replaced or removed.</summary>
        public ulong disk_file_bytes;

        /// <summary>Number of files that hold values.</summary>
        public ulong disk_files;

        /// <summary>Files of other formats, secrets and users, which are not read.</summary>
        public ulong disk_foreign_files;

        /// <summary>Bytes of memory for the directory: a list of its values, and buffers. Not included in <c>memory_used</c>.</summary>
        public ulong disk_memory_used;

        /// <summary>Damaged values and files that were found, in the directory and in bundles.</summary>
        public ulong disk_damaged;

        /// <summary>File operations that failed.</summary>
        public ulong disk_io_errors;

        /// <summary>Values that were too large to be written.</summary>
        public ulong disk_refused;

        /// <summary>Values evicted from disk.</summary>
        public ulong disk_evicted;

        /// <summary>Values removed from disk because of their age.</summary>
        public ulong disk_expired;

        /// <summary>Banned keys, in all environments of the directory.</summary>
        public ulong keys_banned;

        /// <summary>Keys with strikes, in all environments of the directory.</summary>
        public ulong keys_with_strikes;

        /// <summary>Uses that were recorded in a file.</summary>
        public ulong uses_recorded;

        /// <summary>Uses that could not be recorded.</summary>
        public ulong uses_unrecorded;

        /// <summary>Strikes that creating this cache added, for processes that ended during a use.</summary>
        public ulong strikes_added;
    }

    /// <summary>The distribution of a measure.</summary>
    /// <remarks>
    /// Count, sum, minimum and maximum are exact; quantiles to 1 part in 32. An answer: set struct_size, or begin with
    /// HOB_HISTOGRAM_INIT.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_histogram
    {
        /// <summary>sizeof(hob_histogram).</summary>
        public uint struct_size;

        /// <summary>Buckets that hold values.</summary>
        public uint bucket_count;

        /// <summary>Number of values.</summary>
        public ulong count;

        /// <summary>Sum of the values; UINT64_MAX if it is larger than that.</summary>
        public ulong sum;

        /// <summary>The least value. 0 without values, as are all fields below.</summary>
        public ulong minimum;

        /// <summary>The greatest value.</summary>
        public ulong maximum;

        /// <summary>The mean, rounded down.</summary>
        public ulong mean;

        /// <summary>The median.</summary>
        public ulong p50;

        /// <summary>The 90th percentile.</summary>
        public ulong p90;

        /// <summary>The 99th percentile.</summary>
        public ulong p99;
    }

    /// <summary>One bucket of a histogram.</summary>
    /// <remarks>
    /// Each value below 32 has one; above, there are 16 per power of two.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_histogram_bucket
    {
        /// <summary>The least value of the bucket.</summary>
        public ulong minimum;

        /// <summary>The greatest value of the bucket.</summary>
        public ulong maximum;

        /// <summary>Number of values.</summary>
        public ulong count;
    }

    /// <summary>Experimental: One input that differs between two programs.</summary>
    /// <remarks>
    /// Texts end in NUL. Long values, and values that are not text, are shown as their size and the beginning of their
    /// hash.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_program_difference
    {
        /// <summary>The input, such as "vertex stage", "attribute position" or "driver".</summary>
        public fixed byte label[48];

        /// <summary>Its value in the known program; empty: it has no such input.</summary>
        public fixed byte was[72];

        /// <summary>Its value in the missed program; empty: it has no such input.</summary>
        public fixed byte @is[72];
    }

    /// <summary>Experimental: Why a program was missed.</summary>
    /// <remarks>
    /// An answer: set struct_size, or begin with HOB_PROGRAM_MISS_INIT.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_program_miss
    {
        /// <summary>sizeof(hob_program_miss).</summary>
        public uint struct_size;

        /// <summary>Inputs that differ, also those beyond the room of <c>differences</c>. 0: the program is known.</summary>
        public uint difference_count;

        /// <summary>Inputs that are equal.</summary>
        public uint common_count;

        /// <summary>Where the program of <c>nearest</c> is.</summary>
        public hob_program_location location;

        /// <summary>The key of the known program with the most inputs in common.</summary>
        public hob_fingerprint nearest;

        /// <summary>The first differences: stages, attributes, defines, feedback, extra, then the fields of the environment.</summary>
        public hob_program_difference differences_0;

        /// <summary>Element 1 of differences.</summary>
        public hob_program_difference differences_1;

        /// <summary>Element 2 of differences.</summary>
        public hob_program_difference differences_2;

        /// <summary>Element 3 of differences.</summary>
        public hob_program_difference differences_3;

        /// <summary>Element 4 of differences.</summary>
        public hob_program_difference differences_4;

        /// <summary>Element 5 of differences.</summary>
        public hob_program_difference differences_5;

        /// <summary>Element 6 of differences.</summary>
        public hob_program_difference differences_6;

        /// <summary>Element 7 of differences.</summary>
        public hob_program_difference differences_7;

        /// <summary>The explanation as a sentence, ending in NUL.</summary>
        public fixed byte sentence[512];
    }

    /// <summary>Experimental: The host's compile, link and load.</summary>
    /// <remarks>
    /// Each returns 0 for success, and any other number for failure. The host gets that number back. Callbacks run on the
    /// thread that calls the manager, inside the call. There the functions of the cache work. Those of the manager return
    /// HOB_RESULT_BUSY, except hob_program_manager_destroy, which takes effect when the running call returns.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_program_callbacks
    {
        /// <summary>sizeof(hob_program_callbacks).</summary>
        public uint struct_size;

        /// <summary>Must be 0.</summary>
        public uint reserved;

        /// <summary>Passed to the callbacks.</summary>
        public void* user_data;

        /// <summary>Compiles <c>source</c> for <c>shader</c>, which is the <c>object</c> of hob_program_manager_add_shader. <c>source</c> is valid
        /// during the call. Must be set.</summary>
        public IntPtr compile;

        /// <summary>Links the compiled shaders; <c>program</c> is hob_program_link_desc.program. Must be set.</summary>
        public IntPtr link;

        /// <summary>Gives the driver a program from the cache. Failure: the program is removed and built. Must be set.</summary>
        public IntPtr load;

        /// <summary>Sets format, data and reflection of <c>binary</c> from the linked program. Other fields are ignored. The data stays
        /// valid until the next call of this, or until hob_program_manager_link returns. If it fails, or if this callback
        /// is NULL, nothing is stored.</summary>
        public IntPtr get_binary;

        /// <summary>Called exactly once, after the last of the other callbacks. May be NULL.</summary>
        public IntPtr release;
    }

    /// <summary>Experimental: A shader of a manager.</summary>
    /// <remarks>
    /// All zero is no shader.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_shader_id
    {
        /// <summary>Its place, from 1 on; 0 is no shader.</summary>
        public uint index1;

        /// <summary>Distinguishes it from earlier shaders at that place.</summary>
        public uint generation;
    }

    /// <summary>Experimental: A program to be linked.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_program_link_desc
    {
        /// <summary>sizeof(hob_program_link_desc).</summary>
        public uint struct_size;

        /// <summary>See hob_program.group. A cached program moves to this group.</summary>
        public uint group;

        /// <summary>Passed to the callbacks: the host's program object.</summary>
        public void* program;

        /// <summary>At least one shader, each compiled or deferred. Their order matters.</summary>
        public hob_shader_id* shaders;

        /// <summary>Number of <c>shaders</c>. 0 is an error.</summary>
        public UIntPtr shader_count;

        /// <summary>Other inputs of the program, such as attributes. It must have no stages: those are the shaders. The program's
        /// key is that of hob_fingerprint_hash_program for both together. NULL: no other inputs.</summary>
        public hob_program_key_desc* key;
    }

    /// <summary>Experimental: The result of a link.</summary>
    /// <remarks>
    /// An answer: set struct_size, or begin with HOB_LINK_RESULT_INIT.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_link_result
    {
        /// <summary>sizeof(hob_link_result).</summary>
        public uint struct_size;

        /// <summary>How the link ended.</summary>
        public hob_link_outcome outcome;

        /// <summary>HOB_LINK_OUTCOME_LOADED: the use that has begun. End it with hob_program_cache_end_use: see "Use" at the top of
        /// this file.</summary>
        public hob_use_id first_use;

        /// <summary>The program's key; zeros if the link failed.</summary>
        public hob_fingerprint key;

        /// <summary>After a failure the code of the callback that failed. After a build the code of <c>load</c>, if the cache had a
        /// program that the driver rejected. Otherwise 0.</summary>
        public uint driver_code;

        /// <summary>HOB_LINK_OUTCOME_COMPILE_FAILED: the index of the shader in hob_program_link_desc.shaders.</summary>
        public uint failed_shader;
    }

    /// <summary>The type of hob_problem_callback.report, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_problem_callback_report_fn(void* user_data, hob_str sentence);

    /// <summary>The type of hob_problem_callback.release, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_problem_callback_release_fn(void* user_data);

    /// <summary>The type of hob_program_callbacks.compile, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate uint hob_program_callbacks_compile_fn(void* user_data, void* shader, uint stage, void* source, UIntPtr size);

    /// <summary>The type of hob_program_callbacks.link, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate uint hob_program_callbacks_link_fn(void* user_data, void* program);

    /// <summary>The type of hob_program_callbacks.load, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate uint hob_program_callbacks_load_fn(void* user_data, void* program, hob_blob* blob);

    /// <summary>The type of hob_program_callbacks.get_binary, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate uint hob_program_callbacks_get_binary_fn(void* user_data, void* program, hob_program* binary);

    /// <summary>The type of hob_program_callbacks.release, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_program_callbacks_release_fn(void* user_data);

    /// <summary>The functions of the library.</summary>
    public static unsafe partial class Native
    {
        /// <summary>Creates a program cache.</summary>
        /// <remarks>
        /// <c>desc</c> may be NULL: defaults, so memory only. On success <c>*out_cache</c> is the caller's to destroy, and <c>user_data</c> of
        /// the file_io is the library's.
        /// <para/>
        /// <code>
        /// hob_program_cache_desc desc = HOB_PROGRAM_CACHE_DESC_INIT;
        /// desc.directory = HOB_STR("cache/programs");
        /// desc.environment = &amp;environment;             /* see the example at the top of this file */
        /// desc.executor = executor;                    /* reads and writes in the background */
        /// hob_program_cache *cache = NULL;
        /// if (hob_program_cache_create(&amp;desc, &amp;cache) != HOB_RESULT_OK) fail(hob_last_error());
        /// </code>
        /// Reads only the small files that hold strikes; programs are loaded in the background. Without an executor, or behind
        /// a loading screen, call hob_program_cache_wait_idle next. A directory that cannot be read or written is no failure:
        /// hob_program_cache_get_problem says why, and the cache works in memory. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_create(hob_program_cache_desc* desc, hob_program_cache** out_cache);

        /// <summary>Destroys a cache, after writing the programs that wait: this may wait for files.</summary>
        /// <remarks>
        /// NULL is allowed. Open uses end without a strike. Blobs stay valid. Threads: no call on it may run on another thread.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern void hob_program_cache_destroy(hob_program_cache* cache);

        /// <summary>Gets a program from memory, as a view.</summary>
        /// <remarks>
        /// Never waits for a file; a hit copies nothing and allocates nothing.
        /// <para/>
        /// <code>
        /// hob_blob blob = HOB_BLOB_INIT;
        /// if (hob_program_cache_get(cache, &amp;key, &amp;blob) == HOB_RESULT_OK) {
        ///     use(&amp;blob);                              /* begin_use and end_use: see the top of this file */
        ///     hob_blob_release(&amp;blob);
        /// }
        /// </code>
        /// HOB_RESULT_NOT_FOUND: it is not in memory; build it. It may still be on disk, which is then read in the background
        /// for the next get. Without hob_program_cache_desc.executor only calls that wait read it. During start-up prefer
        /// hob_program_cache_get_wait, or call hob_program_cache_wait_idle first. HOB_RESULT_BANNED: it is banned; build
        /// it from source.
        /// <para/>
        /// A view that <c>*blob</c> holds is released first: after a miss the blob is empty. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_get(hob_program_cache* cache, hob_fingerprint* key, hob_blob* blob);

        /// <summary>Gets a program from memory for a group, and moves it there.</summary>
        /// <remarks>
        /// As hob_program_cache_get. With HOB_EVICTION_GROUPS a page, level or material that uses a program of another one
        /// makes it its own: pass its number as <c>group</c>. The program stays in that group while it is in memory. On disk it
        /// keeps the group of its put. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_get_for_group(hob_program_cache* cache, hob_fingerprint* key, uint group, hob_blob* blob);

        /// <summary>Releases a view.</summary>
        /// <remarks>
        /// NULL, or a blob that holds none, is allowed. Threads: any; no other call may use the blob.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern void hob_blob_release(hob_blob* blob);

        /// <summary>Stores a copy of a program: in memory now, and on disk in the background.</summary>
        /// <remarks>
        /// Never waits for a file.
        /// <para/>
        /// <code>
        /// hob_program program = HOB_PROGRAM_INIT;
        /// program.format = format;                     /* of glGetProgramBinary */
        /// program.data = binary;
        /// program.size = size;
        /// program.build_us = build_us;
        /// hob_program_cache_put(cache, &amp;key, &amp;program);
        /// </code>
        /// A second put of a key replaces the first. A banned program is not stored, and the result is HOB_RESULT_OK.
        /// HOB_RESULT_LIMIT_EXCEEDED: it is larger than the memory limit; the program that was there stays. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_put(hob_program_cache* cache, hob_fingerprint* key, hob_program* program);

        /// <summary>Begins a use: call it just before the driver gets the binary of <c>key</c>.</summary>
        /// <remarks>
        /// "Use" at the top of this file says when to end it, and the example there shows how. If the process crashes or is
        /// killed before that, the key gets a strike. exit() and hob_program_cache_destroy end open uses without a strike.
        /// <para/>
        /// HOB_RESULT_BANNED: the key is banned; build the program from source.
        /// <para/>
        /// With a directory, writes 64 bytes to a file, on this thread. The first use also creates that file: docs/threads.md
        /// says how long that may take. If that fails the use begins nevertheless, but cannot become a strike:
        /// hob_program_cache_get_problem says why. Without a directory nothing is written, and there are no strikes. Threads:
        /// shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_begin_use(hob_program_cache* cache, hob_fingerprint* key, hob_use_id* out_use);

        /// <summary>Ends a use.</summary>
        /// <remarks>
        /// With a directory, writes 64 bytes to a file, and a second small file if a strike is removed. If a key has several
        /// open uses, its record is cleared when the last one ends. HOB_RESULT_NOT_FOUND: the use has ended already, or belongs
        /// to another cache.
        /// <para/>
        /// HOB_USE_OUTCOME_REJECTED removes the program. A program that was put since the use began stays. If memory had no
        /// program of the key when the use began, a newer put is removed, too. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_end_use(hob_program_cache* cache, hob_use_id use_id, hob_use_outcome outcome);

        /// <summary>Removes a program from memory and disk.</summary>
        /// <remarks>
        /// A key without a program is allowed. The disk is changed in the background. If that fails, the program is hidden from
        /// this cache, but another cache may find it: hob_program_cache_flush tries again, and returns HOB_RESULT_IO while it
        /// fails. HOB_RESULT_IO here: an earlier removal has failed like that. HOB_RESULT_LIMIT_EXCEEDED: 65536 requests wait
        /// for the disk; the program is hidden from this cache. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_remove(hob_program_cache* cache, hob_fingerprint* key);

        /// <summary>Removes all programs and shader statuses from memory, and with <c>disk_too</c> not 0 also from disk.</summary>
        /// <remarks>
        /// With <c>disk_too</c> 0, programs on disk are loaded again when they are missed. It keeps bundles, programs of other
        /// environments, the start-up set, strikes and bans, open uses, blobs, limits and statistics. Inputs from
        /// hob_program_cache_describe stay in memory.
        /// <para/>
        /// If the process is killed meanwhile, all programs are removed from disk or none; on a full disk it may be some of
        /// them. If the disk cannot be changed: as for hob_program_cache_remove. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_clear(hob_program_cache* cache, uint disk_too);

        /// <summary>Removes all programs of all environments from memory and disk, also those that other versions of the library wrote.</summary>
        /// <remarks>
        /// A user's way to empty the directory, which need not be deleted. Strikes and bans stay: see
        /// hob_program_cache_clear_strikes. Programs with another <c>secret</c> are removed, too. It keeps bundles, the start-up
        /// set, open uses, blobs, limits and statistics. If the disk cannot be changed: as for hob_program_cache_remove.
        /// Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_clear_directory(hob_program_cache* cache);

        /// <summary>Evicts programs until memory holds at most <c>max_bytes</c>; 0: all of them.</summary>
        /// <remarks>
        /// The limit stays. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_trim(hob_program_cache* cache, ulong max_bytes);

        /// <summary>Changes the limit of memory, in bytes: see hob_program_cache_desc.memory_limit.</summary>
        /// <remarks>
        /// 0: the default. UINT64_MAX: no limit. Memory is trimmed at once. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_set_memory_limit(hob_program_cache* cache, ulong limit);

        /// <summary>Changes the limit of the disk, in bytes: see hob_program_cache_desc.disk_limit.</summary>
        /// <remarks>
        /// 0: the default. UINT64_MAX: no limit. Less than 256 KiB: HOB_RESULT_INVALID_ARGUMENT. The disk is trimmed in the
        /// background. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_set_disk_limit(hob_program_cache* cache, ulong limit);

        /// <summary>Limits memory as the system asks, until the next report.</summary>
        /// <remarks>
        /// Call it when memory pressure begins, and with HOB_MEMORY_PRESSURE_NONE when it ends. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_report_memory_pressure(hob_program_cache* cache, hob_memory_pressure pressure);

        /// <summary>Adds a key to the start-up set (<c>marked</c> not 0), or removes it.</summary>
        /// <remarks>
        /// Programs of the set are loaded before all others, also at the next start: hob_program_cache_flush and
        /// hob_program_cache_destroy write the set. The key needs no program yet. HOB_RESULT_LIMIT_EXCEEDED: the set has 65536
        /// keys. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_mark_startup(hob_program_cache* cache, hob_fingerprint* key, uint marked);

        /// <summary>Reports that a shader has compiled, before a program of it is put.</summary>
        /// <remarks>
        /// <c>shader</c> is a fingerprint as in hob_program.shaders. The cache remembers up to 65536 shaders that no program in
        /// memory uses. When one more is reported, it forgets the others. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_report_shader_compiled(hob_program_cache* cache, hob_fingerprint* shader);

        /// <summary>Tells whether a shader is known to compile: <c>*out_is_known</c> is 1 or 0.</summary>
        /// <remarks>
        /// A host may defer the compile of a known shader until a program of it is missed. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_get_shader_status(hob_program_cache* cache, hob_fingerprint* shader, uint* out_is_known);

        /// <summary>Gets the number of programs in memory that were linked from a shader.</summary>
        /// <remarks>
        /// A program that lists the shader twice counts twice. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_get_shader_program_count(hob_program_cache* cache, hob_fingerprint* shader, uint* out_count);

        /// <summary>Tells whether a program is in memory: <c>*out_is_known</c> is 1 or 0.</summary>
        /// <remarks>
        /// 1 also means that it has linked before. 0: unknown; it may be on disk, which is not searched. Eviction does not
        /// count this as a get. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_get_program_status(hob_program_cache* cache, hob_fingerprint* key, uint* out_is_known);

        /// <summary>Gets the number of strikes of a key.</summary>
        /// <remarks>
        /// While a program with a strike is in use, begin no other use of any program. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_get_strikes(hob_program_cache* cache, hob_fingerprint* key, uint* out_strikes);

        /// <summary>Clears the strikes of a key, and so lifts its ban.</summary>
        /// <remarks>
        /// <c>key</c> NULL: of all keys, in all environments of the directory. Waits for a small file. With
        /// HOB_PROGRAM_CACHE_READ_ONLY they are cleared for this cache only. HOB_RESULT_BUSY or HOB_RESULT_IO: the same,
        /// because the file could not be changed; call again. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_clear_strikes(hob_program_cache* cache, hob_fingerprint* key);

        /// <summary>Gets a program, and waits up to <c>timeout_us</c> microseconds for the disk.</summary>
        /// <remarks>
        /// For loading screens. As hob_program_cache_get, but HOB_RESULT_NOT_FOUND means that the disk was searched, too. A
        /// program that another process or cache wrote more than 100 ms ago is found. HOB_RESULT_TIMEOUT: the time was too
        /// short. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_get_wait(hob_program_cache* cache, hob_fingerprint* key, ulong timeout_us, hob_blob* blob);

        /// <summary>Reads and writes on this thread until no work waits, or for <c>timeout_us</c> microseconds.</summary>
        /// <remarks>
        /// For loading screens and tests. Waits for work that other threads do. HOB_RESULT_TIMEOUT: some work still waits.
        /// Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_wait_idle(hob_program_cache* cache, ulong timeout_us);

        /// <summary>Writes all programs that wait, their times of use and the start-up set, so that a loss of power cannot lose them.</summary>
        /// <remarks>
        /// Waits for <c>timeout_us</c> microseconds at most. After it a process without open uses may end by _exit; an open use
        /// would add a strike. HOB_RESULT_TIMEOUT: the time was too short.
        /// <para/>
        /// HOB_RESULT_IO: programs could not be written or removed. Each flush returns it until the problem is over. If it was
        /// over already, but programs that were put since the last flush are lost, one flush returns it.
        /// HOB_RESULT_OUT_OF_MEMORY: the same, for lack of memory. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_flush(hob_program_cache* cache, ulong timeout_us);

        /// <summary>Gets the progress of loading: <c>*out_done</c> of <c>*out_total</c> programs are done.</summary>
        /// <remarks>
        /// <c>*out_total</c> is 0 until the directory is open. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_get_loading_progress(hob_program_cache* cache, ulong* out_done, ulong* out_total);

        /// <summary>Sets the observer of problems; <c>callback</c> NULL removes it.</summary>
        /// <remarks>
        /// The struct is copied. On success <c>user_data</c> is the library's: it is released when the observer is replaced or the
        /// cache is destroyed, and <c>report</c> does not run. A problem that is present already is not reported: ask
        /// hob_program_cache_get_problem. With an executor of HOB_BACKGROUND_PUMP or HOB_EXECUTOR_CALLING_THREAD_ONLY the
        /// background reports in hob_executor_pump. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_set_problem_callback(hob_program_cache* cache, hob_problem_callback* callback);

        /// <summary>Writes the present error of reading or writing as a sentence without a NUL; empty: no error.</summary>
        /// <remarks>
        /// <c>*out_size</c> receives the required size. <c>buffer</c> NULL asks only for that. If <c>capacity</c> is too small, the result is
        /// HOB_RESULT_BUFFER_TOO_SMALL and the buffer stays unchanged. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_get_problem(hob_program_cache* cache, byte* buffer, UIntPtr capacity, UIntPtr* out_size);

        /// <summary>Tells whether the cache contains a program, and where: <c>*out_places</c> is HOB_PROGRAM_IN_MEMORY and the like.</summary>
        /// <remarks>
        /// 0: nowhere. Eviction does not count this as a get. hob_program_cache_get_program_status is faster for memory alone.
        /// HOB_RESULT_TIMEOUT: the disk is still busy after <c>timeout_us</c> microseconds. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_contains(hob_program_cache* cache, hob_fingerprint* key, ulong timeout_us, uint* out_places);

        /// <summary>Lists programs in the order of their keys, a page at a time: those of memory, disk and bundles.</summary>
        /// <remarks>
        /// <code>
        /// hob_program_info page[256];
        /// size_t count = 0;
        /// const hob_fingerprint *after = NULL;
        /// while (hob_program_cache_list(cache, after, UINT64_MAX, page, sizeof page[0], 256, &amp;count) == HOB_RESULT_OK &amp;&amp;
        ///        count &gt; 0) {
        ///     show(page, count);
        ///     after = &amp;page[count - 1].key;
        /// }
        /// </code>
        /// <c>after</c> is the last key of the previous page; NULL begins. <c>*out_count</c> receives the number of programs in the page;
        /// 0: the end. A page has at most <c>capacity</c> programs, and 4096. With <c>programs</c> NULL the page is only
        /// counted, so a <c>capacity</c> of 0 gives 0.
        /// <para/>
        /// Programs may be put and removed between the calls: a program that stays is listed exactly once. Each call visits all
        /// programs: not for every frame. HOB_RESULT_TIMEOUT: after <c>timeout_us</c> microseconds the disk is still busy, or more
        /// than 65536 programs on it were not visited. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_list(hob_program_cache* cache, hob_fingerprint* after, ulong timeout_us, hob_program_info* programs, UIntPtr program_stride, UIntPtr capacity, UIntPtr* out_count);

        /// <summary>Gets all counters.</summary>
        /// <remarks>
        /// Visits every program in memory, and puts wait meanwhile: do not call it every frame. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_get_statistics(hob_program_cache* cache, hob_program_cache_statistics* out_statistics);

        /// <summary>Writes all counters and histograms as a JSON object, without a NUL.</summary>
        /// <remarks>
        /// docs/formats.md explains its names.
        /// <c>*out_size</c> receives the required size. <c>buffer</c> NULL asks only for that. If <c>capacity</c> is too small, the result is
        /// HOB_RESULT_BUFFER_TOO_SMALL and the buffer stays unchanged. As hob_program_cache_get_statistics, not for every
        /// frame. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_get_report(hob_program_cache* cache, byte* buffer, UIntPtr capacity, UIntPtr* out_size);

        /// <summary>Adds a value to a histogram, for hosts that measure links and compiles themselves.</summary>
        /// <remarks>
        /// The first three measures are added by the cache. The others are added by a hob_program_manager, if there is a
        /// hob_clock_hook. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_add_measurement(hob_program_cache* cache, hob_program_cache_measure measure, ulong value);

        /// <summary>Gets the distribution of a measure.</summary>
        /// <remarks>
        /// Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_get_histogram(hob_program_cache* cache, hob_program_cache_measure measure, hob_histogram* out_histogram);

        /// <summary>Writes the buckets of a histogram that hold values, in ascending order.</summary>
        /// <remarks>
        /// <c>bucket_stride</c> is sizeof(hob_histogram_bucket), or 0. <c>*out_count</c> receives the number of buckets; <c>buckets</c> NULL
        /// asks only for that. If <c>capacity</c> is too small, the result is HOB_RESULT_BUFFER_TOO_SMALL and <c>buckets</c> stays
        /// unchanged. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_get_histogram_buckets(hob_program_cache* cache, hob_program_cache_measure measure, hob_histogram_bucket* buckets, UIntPtr bucket_stride, UIntPtr capacity, UIntPtr* out_count);

        /// <summary>Experimental: Adds a bundle, which is searched after the directory and after earlier bundles.</summary>
        /// <remarks>
        /// <code>
        /// hob_program_cache_add_bundle(cache, HOB_STR("data/programs.bundle"));
        /// </code>
        /// Its start-up set is added to the cache's. Only the head of the file is read here; the file stays open until the
        /// cache is destroyed. HOB_RESULT_IO: the file cannot be read, or is neither a regular file nor a link to one.
        /// HOB_RESULT_MALFORMED: it is not a bundle. Damage that is found later, or a bundle for other environments only, is
        /// reported by hob_program_cache_get_problem.
        /// <para/>
        /// A program of the bundle that is removed is hidden from this cache only. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_add_bundle(hob_program_cache* cache, hob_str path);

        /// <summary>Experimental: Adds a bundle from memory, such as a file of an archive.</summary>
        /// <remarks>
        /// A copy is kept until the cache is destroyed. As hob_program_cache_add_bundle. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_add_bundle_bytes(hob_program_cache* cache, void* data, UIntPtr size);

        /// <summary>Experimental: Writes programs to a bundle.</summary>
        /// <remarks>
        /// For build machines: waits for files, and for all programs to be written. <c>*out_programs</c>, which may be NULL,
        /// receives the number of programs. It has no banned programs. The same programs make the same file. An existing file
        /// is replaced once the new one is complete. HOB_RESULT_NOT_FOUND: there is no program. HOB_RESULT_INVALID_ARGUMENT:
        /// the file would be in the cache's directory. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_write_bundle(hob_program_cache* cache, hob_str path, hob_bundle_contents contents, ulong* out_programs);

        /// <summary>Experimental: Remembers the inputs of a program for hob_program_cache_explain_miss.</summary>
        /// <remarks>
        /// Call it once for each program that is built; a hob_program_manager does so itself. <c>key</c> NULL: the key that
        /// hob_fingerprint_hash_program makes of <c>desc</c>. Does nothing unless hob_program_cache_desc.described_keys is set.
        /// Never waits for a file. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_describe(hob_program_cache* cache, hob_fingerprint* key, hob_program_key_desc* desc);

        /// <summary>Experimental: Explains a miss: which inputs differ from the most similar program that is described.</summary>
        /// <remarks>
        /// <code>
        /// hob_program_miss miss = HOB_PROGRAM_MISS_INIT;
        /// if (hob_program_cache_explain_miss(cache, &amp;key_desc, &amp;miss) == HOB_RESULT_OK) puts(miss.sentence);
        /// </code>
        /// Programs of earlier processes and of other environments in the directory are included. Call it before
        /// hob_program_cache_describe. HOB_RESULT_NOT_FOUND: no program is described. Compares with every described program: do
        /// not call it every frame. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_explain_miss(hob_program_cache* cache, hob_program_key_desc* desc, hob_program_miss* out_miss);

        /// <summary>Experimental: Creates a manager of a cache.</summary>
        /// <remarks>
        /// <c>compile</c>, <c>link</c> and <c>load</c> of <c>callbacks</c> must be set. On success <c>*out_manager</c> is the caller's to destroy, and
        /// <c>user_data</c> is the library's. Destroy all managers before their cache. A manager that outlives its cache still
        /// works, but writes no programs and records no uses. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_manager_create(hob_program_cache* cache, hob_program_callbacks* callbacks, hob_program_manager** out_manager);

        /// <summary>Experimental: Destroys a manager and its shaders; NULL is allowed.</summary>
        /// <remarks>
        /// Programs stay in the cache. Threads: no call on it may run on another thread.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern void hob_program_manager_destroy(hob_program_manager* manager);

        /// <summary>Experimental: Adds a shader without a source.</summary>
        /// <remarks>
        /// <c>stage</c> is a hob_shader_stage or a number of the host. <c>object</c> is passed to <c>compile</c>: the graphics API's name of
        /// the shader, for instance. HOB_RESULT_INVALID_ARGUMENT: the stage is unknown. Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_manager_add_shader(hob_program_manager* manager, uint stage, void* @object, hob_shader_id* out_shader);

        /// <summary>Experimental: Removes a shader.</summary>
        /// <remarks>
        /// Programs that were linked from it stay in the cache. HOB_RESULT_NOT_FOUND: the manager has no such shader. Threads:
        /// exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_manager_remove_shader(hob_program_manager* manager, hob_shader_id shader);

        /// <summary>Experimental: Sets the source of a shader; it is copied.</summary>
        /// <remarks>
        /// Links use the source of the last hob_program_manager_compile. HOB_RESULT_NOT_FOUND: the manager has no such shader.
        /// Threads: exclusive.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_manager_set_source(hob_program_manager* manager, hob_shader_id shader, void* source, UIntPtr size);

        /// <summary>Experimental: Compiles a shader's present source, or defers the compile if it is known to succeed.</summary>
        /// <remarks>
        /// <c>*out_state</c> receives its state, <c>*out_driver_code</c> the result of <c>compile</c>, 0 if it was not called. Both are
        /// written also after a failure, and may be NULL. HOB_RESULT_BUILD_FAILED: the compile failed; the cache does not
        /// remember that. HOB_RESULT_NOT_FOUND: the manager has no such shader. Threads: exclusive. Calls <c>compile</c>.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_manager_compile(hob_program_manager* manager, hob_shader_id shader, hob_shader_state* out_state, uint* out_driver_code);

        /// <summary>Experimental: Links a program: from the cache if possible, else by building it.</summary>
        /// <remarks>
        /// Building compiles the deferred shaders, links, and stores the binary. <c>*out_result</c> is written also after a failed
        /// link, which is HOB_RESULT_BUILD_FAILED; nothing is stored then. HOB_RESULT_NOT_FOUND: the manager has no such
        /// shader. HOB_RESULT_INVALID_ARGUMENT: no shaders, a shader that was not compiled or is listed twice, or a <c>key</c> with
        /// stages. Threads: exclusive. Calls the callbacks.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_manager_link(hob_program_manager* manager, hob_program_link_desc* desc, hob_link_result* out_result);

        /// <summary>Experimental: Returns the sentence of this handle's last failed exclusive call.</summary>
        /// <remarks>
        /// It is empty if none has failed, and valid until the next failure. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern byte* hob_program_manager_last_error(hob_program_manager* manager);

        /// <summary>Experimental: Stores a blob: a DawnStoreCacheDataFunction.</summary>
        /// <remarks>
        /// <c>cache</c> is a hob_program_cache, given as functionUserdata. A blob that cannot be stored is dropped. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern void hob_dawn_blob_store(void* key, UIntPtr key_size, void* value, UIntPtr value_size, void* cache);

        /// <summary>Experimental: Loads a blob from memory: a DawnLoadCacheDataFunction.</summary>
        /// <remarks>
        /// Never waits for a file. Returns its size, or 0 if it is missing. With <c>value</c> NULL that is all, and the blob is kept
        /// for this thread's next call. Otherwise the blob is copied; 0 means that it does not fit.
        /// <para/>
        /// The blob that was kept is dropped if its key is stored or removed, by hob_program_cache_clear, and when memory is
        /// trimmed. The next call then copies the new blob of that key if its size is <c>value_size</c>. Otherwise it fills <c>value</c>
        /// with zeros and returns 0. <c>cache</c> is a hob_program_cache, given as functionUserdata. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern UIntPtr hob_dawn_blob_load(void* key, UIntPtr key_size, void* value, UIntPtr value_size, void* cache);

        /// <summary>Experimental: Binds a cache to hob_egl_blob_set and hob_egl_blob_get, for the whole process; NULL unbinds.</summary>
        /// <remarks>
        /// <code>
        /// hob_program_cache_bind_egl(cache);
        /// eglSetBlobCacheFuncsANDROID(display, hob_egl_blob_set, hob_egl_blob_get);
        /// </code>
        /// Some drivers use the functions only once a context is current. Destroying the cache unbinds it. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_bind_egl(hob_program_cache* cache);

        /// <summary>Experimental: Stores a blob in the bound cache: an EGLSetBlobFuncANDROID.</summary>
        /// <remarks>
        /// As hob_dawn_blob_store. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern void hob_egl_blob_set(void* key, IntPtr key_size, void* value, IntPtr value_size);

        /// <summary>Experimental: Loads a blob from the bound cache: an EGLGetBlobFuncANDROID.</summary>
        /// <remarks>
        /// As hob_dawn_blob_load. For a blob that does not fit the extension returns its size, but this function returns 0.
        /// Mesa passes a buffer of 64 KiB and takes any result but 0 for the number of bytes copied. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern IntPtr hob_egl_blob_get(void* key, IntPtr key_size, void* value, IntPtr value_size);

        /// <summary>Experimental: Turns uses of blobs on (<c>is_on</c> not 0) or off (the default).</summary>
        /// <remarks>
        /// On, each blob that hob_dawn_blob_load or hob_egl_blob_get copies begins a use: see "Use" at the top of this file. A
        /// banned blob is a miss, so that its renderer builds it. Call hob_program_cache_end_blob_uses after each frame;
        /// without it, a process that is killed gives all blobs that it has loaded a strike. At most 65536 uses are open; later
        /// blobs begin none. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_track_blob_uses(hob_program_cache* cache, uint is_on);

        /// <summary>Experimental: Ends all uses that blobs have begun, on any thread.</summary>
        /// <remarks>
        /// Call it when a frame drawn with these blobs is finished, such as after eglSwapBuffers of the frame after.
        /// HOB_USE_OUTCOME_REJECTED removes all of these blobs. Without an open use it does nothing. Returns the first failure.
        /// Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_end_blob_uses(hob_program_cache* cache, hob_use_outcome outcome);

        /// <summary>Sets the defaults of a hob_program_cache_desc.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_program_cache_desc). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_desc_init(hob_program_cache_desc* value, uint size);

        /// <summary>Sets the defaults of a hob_blob.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_blob). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_blob_init(hob_blob* value, uint size);

        /// <summary>Sets the defaults of a hob_program.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_program). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_init(hob_program* value, uint size);

        /// <summary>Sets the defaults of a hob_problem_callback.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_problem_callback). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_problem_callback_init(hob_problem_callback* value, uint size);

        /// <summary>Sets the defaults of a hob_program_cache_statistics.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_program_cache_statistics). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_cache_statistics_init(hob_program_cache_statistics* value, uint size);

        /// <summary>Sets the defaults of a hob_histogram.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_histogram). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_histogram_init(hob_histogram* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_program_miss.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_program_miss). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_miss_init(hob_program_miss* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_program_callbacks.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_program_callbacks). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_callbacks_init(hob_program_callbacks* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_program_link_desc.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_program_link_desc). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_link_desc_init(hob_program_link_desc* value, uint size);

        /// <summary>Experimental: Sets the defaults of a hob_link_result.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_link_result). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_link_result_init(hob_link_result* value, uint size);
    }
}
