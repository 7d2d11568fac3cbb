// hobgoblin/program_cache.h: Compiled shader programs, kept in memory and on disk: no program is compiled twice.
//
//     hob_environment environment = HOB_ENVIRONMENT_INIT; /* without it, a new driver gets old binaries */
//     environment.api = HOB_GRAPHICS_API_OPENGL;
//     environment.vendor = hob_str_from((const char *)glGetString(GL_VENDOR));
//     environment.device = hob_str_from((const char *)glGetString(GL_RENDERER));
//     environment.driver = hob_str_from((const char *)glGetString(GL_VERSION));
//     environment.build = HOB_STR("game 1.2");
//
//     hob_program_cache_desc desc = HOB_PROGRAM_CACHE_DESC_INIT;
//     desc.directory = HOB_STR("cache/programs");         /* empty: memory only */
//     desc.environment = &environment;                    /* desc.executor: reads and writes in the background */
//     hob_program_cache *cache = NULL;
//     if (hob_program_cache_create(&desc, &cache) != HOB_RESULT_OK) fail(hob_last_error());
//     hob_program_cache_wait_idle(cache, UINT64_MAX);     /* loads programs: get reads no files without an executor */
//
//     hob_blob blob = HOB_BLOB_INIT;                      /* key: hob_fingerprint_hash_program, see fingerprint.h */
//     hob_use_id use = {0, 0};
//     GLint loaded = GL_FALSE;
//     if (hob_program_cache_get(cache, &key, &blob) == HOB_RESULT_OK &&
//         hob_program_cache_begin_use(cache, &key, &use) == HOB_RESULT_OK) {
//         glProgramBinary(program, blob.format, blob.data, (GLsizei)blob.size);
//         glGetProgramiv(program, GL_LINK_STATUS, &loaded);
//         if (!loaded) hob_program_cache_end_use(cache, use, HOB_USE_OUTCOME_REJECTED);    /* before the put */
//     }
//     hob_blob_release(&blob);
//     hob_program built = HOB_PROGRAM_INIT;
//     if (!loaded && compile_from_source(program, &built)) hob_program_cache_put(cache, &key, &built);
//
//     /* when the GPU has finished the first frame: */
//     if (loaded) hob_program_cache_end_use(cache, use, is_drawn ? HOB_USE_OUTCOME_OK : HOB_USE_OUTCOME_UNUSED);
//
//     hob_program_cache_destroy(cache);                   /* when the game ends: writes the programs that wait */
//
// Terms:
// - Program: a compiled program in the driver's form: a GL program, a shader object, a pipeline, or a whole
//   VkPipelineCache under one key. The host's reflection data may be stored with it.
// - Key: the fingerprint of everything that a program is made from.
// - Environment: driver, device and build. A binary of another environment is never loaded.
// - Blob: a read-only view of a cached program.
// - Pin: keeps a blob valid until hob_blob_release, even if the program is evicted.
// - Use: the time from giving a binary to the driver until the GPU has finished the first frame drawn with it. Drivers
//   compile late and lose the device late: a load or a submit alone proves nothing. Wait for that frame's fence, or
//   for a few frames more. Many uses may be open at once; 4096 are recorded. A use may last several frames, and end on
//   another thread.
// - Strike: a mark against a key. Each key with an open use gets one when the process crashes, is killed, or calls
//   abort() or _exit(). A clean exit and hob_program_cache_destroy end open uses without a strike: docs/threads.md.
//   Strikes are forgotten after 30 days. A forked child that outlives a crash of its parent delays the strike until
//   the child ends.
// - Ban: a key with enough strikes is banned: the cache neither stores nor returns its binary. A ban ends when a
//   strike is forgotten, or by hob_program_cache_clear_strikes. Strikes and bans belong to an environment: in a new
//   one, as after a driver update, the key has none.
// - Start-up set: the programs that are loaded first when the cache is created.
// - Bundle: a read-only file of programs, made on a build machine and shipped with a game.
//
// Functions with a const cache may run on several threads at once, also inside callbacks, but not inside those of
// hob_file_io or the hooks of base.h. docs/threads.md lists the functions that wait for files.
//
// Generated from src/ffi/program_cache; do not edit. MIT OR Apache-2.0.

#ifndef HOBGOBLIN_PROGRAM_CACHE_H
#define HOBGOBLIN_PROGRAM_CACHE_H

#include "base.h"
#include "executor.h"
#include "fingerprint.h"
#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Ids ------------------------------------------------------------------------------------------------------------

/// A use of a program by the driver, from hob_program_cache_begin_use.
/// All zero is no use.
typedef struct hob_use_id {
    /// Its place, from 1 on; 0 is no use.
    uint32_t index1;
    /// Distinguishes it from earlier uses at that place.
    uint32_t generation;
} hob_use_id;

// ---- Create and destroy ---------------------------------------------------------------------------------------------

/// A cache of programs, in memory and, with a directory, on disk.
/// A handle: see "Handles" in base.h.
typedef struct hob_program_cache hob_program_cache;

/// Which programs are evicted first when memory is full.
typedef enum hob_eviction {
    /// First the programs with the least build time per byte, weighted by how often they are used.
    HOB_EVICTION_COST_AWARE = 0,
    /// The least recently used program.
    HOB_EVICTION_LRU = 1,
    /// The most recently used program of the least recently used group: see hob_program.group.
    HOB_EVICTION_GROUPS = 2,
} hob_eviction;

/// hob_program_cache_desc.flags: write nothing to the directory.
/// Bans stay in force. Uses begin and end as usual, but are not recorded, so a crash adds no strike. A program that is
/// put stays in memory only. A program that is removed, rejected or cleared is hidden from this cache only: the next
/// cache finds it again.
#define HOB_PROGRAM_CACHE_READ_ONLY 1

/// hob_program_cache_desc.flags: compress programs on disk (LZ4).
#define HOB_PROGRAM_CACHE_COMPRESS 2

/// hob_program_cache_desc.flags: load only programs that were missed, nothing ahead of need.
#define HOB_PROGRAM_CACHE_LOAD_LAZILY 4

/// hob_program_cache_desc.flags: evict programs of the start-up set after all others.
#define HOB_PROGRAM_CACHE_KEEP_STARTUP_SET 8

/// hob_program_cache_desc.flags: count only the data of programs against memory_limit, as Chromium's cache does.
/// Keys, fingerprints of shaders and reflection are not counted. A program without data counts as one byte.
#define HOB_PROGRAM_CACHE_COUNT_DATA_ONLY 16

/// hob_program_cache_desc.flags: a second put of a key changes nothing, and writes nothing.
/// It holds while memory has the first one. For hosts whose threads may build one program at the same time. After a
/// rejection, end the use and then put the new program. In the other order both programs are lost.
#define HOB_PROGRAM_CACHE_FIRST_PUT_WINS 32

/// Parameters of a program cache.
typedef struct hob_program_cache_desc {
    /// sizeof(hob_program_cache_desc).
    uint32_t struct_size;
    /// Which programs are evicted first. Default HOB_EVICTION_COST_AWARE.
    hob_eviction eviction;
    /// Where programs, strikes and bans outlive the process. Default empty: memory only, and no strikes. Several
    /// processes may share a directory. The first program or use that is written creates it. A path: on Unix any bytes
    /// without NUL, elsewhere UTF-8.
    ///
    /// Programs that other processes have written are found at create, and later when one is missed: the disk looks for
    /// them at most every 100 ms.
    hob_str directory;
    /// The driver, device and build that the programs are for. NULL: driver and device are unknown. A new driver then
    /// gets the old driver's binaries. Set it for every cache with a directory or a bundle.
    const hob_environment *environment;
    /// Reads and writes files as background tasks, and is kept alive by the cache. With HOB_BACKGROUND_PUMP those tasks
    /// run inside hob_executor_pump, which may then wait for files.
    ///
    /// NULL: no background. Programs are then read and written only by hob_program_cache_get_wait,
    /// hob_program_cache_wait_idle, hob_program_cache_flush, hob_program_cache_write_bundle and
    /// hob_program_cache_destroy. Call hob_program_cache_wait_idle after create: hob_program_cache_get never reads the
    /// disk itself.
    const hob_executor *executor;
    /// Limit of memory, in bytes: keys, data, reflection and fingerprints of shaders. 0: the default, 64 MiB.
    /// UINT64_MAX: no limit. A program that is larger is neither kept nor written to disk, so a limit of 1 stores
    /// nothing.
    uint64_t memory_limit;
    /// Limit of the disk for this environment, in bytes, at least 256 KiB. 0: the default, 512 MiB. UINT64_MAX: no
    /// limit. Bytes are those of whole blocks (`st_blocks` * 512) of every file of the library in the directory, also
    /// of files that are deleted but open. Files of another format or secret count only for `directory_limit`, and
    /// those of another user for no limit.
    ///
    /// Every write evicts first what it needs, in all processes and with or without an executor. At every moment the
    /// files take at most 1.25 * limit. After destroy, or a flush, they take at most 1.0 * limit; but an executor's
    /// background may then merge files until hob_program_cache_wait_idle. Several processes that write at once share
    /// the limit, so each needs room for its values besides those of the others.
    ///
    /// Each environment keeps the limit of the process that opened it last, so the files of several environments take
    /// up to the sum of their limits, or `directory_limit`. A program of more than 3/4 of the limit, or of more than
    /// 256 MiB, is not written. To write nothing, set HOB_PROGRAM_CACHE_READ_ONLY.
    ///
    /// A full file system takes the place of the limit: old programs are evicted for new ones. A program of more than
    /// about 5/8 of its space is then not written. One hob_program_cache_flush reports the programs that were not
    /// written, and `disk_refused` counts them.
    uint64_t disk_limit;
    /// Limit of the programs that wait to be written, in bytes of data, reflection and fingerprints of shaders. 0: the
    /// default, 256 MiB. UINT64_MAX: no limit. A program that is put beyond it stays in memory and is not written;
    /// there is no retry. Programs that wait are held even after memory evicts them, in addition to `memory_limit`.
    uint64_t waiting_limit;
    /// Programs without a put or get for this many seconds are removed from disk. 0: the default, 30 days. UINT32_MAX:
    /// no limit.
    uint32_t max_age_seconds;
    /// Strikes that ban a program. 0: the default, 2, so that a program may end the process twice. UINT32_MAX: no bans,
    /// and uses are not recorded.
    uint32_t ban_at;
    /// HOB_PROGRAM_CACHE_READ_ONLY and the like. Default 0.
    uint32_t flags;
    /// Number of programs whose inputs are remembered for hob_program_cache_explain_miss. Default 0: none.
    /// Each takes some hundred bytes, in memory and on disk.
    uint32_t described_keys;
    /// The file system of the directory and of bundles; copied. NULL: the operating system's.
    const hob_file_io *file_io;
    /// A secret of the host, at least 16 bytes; copied. Programs on disk that were written with another one, or without
    /// one, are ignored, and strikes are dropped. So nobody without the secret can make the cache give bytes to the
    /// driver. Bundles have no secret. Default empty: checksums find damage, but no forgery. docs/trust.md has the
    /// details.
    hob_str secret;
    /// Limit of the directory with all its environments, in bytes, at least 256 KiB. Environments that were not used
    /// for the longest time are removed first, as a whole, and this one never. 0: the default, twice the largest
    /// `disk_limit` of an environment in it. UINT64_MAX: no limit.
    ///
    /// The same files count as for `disk_limit`, and those of other formats and secrets. These are deleted before all
    /// others, the oldest first. Files that a living process with another format or secret writes stay, and do not
    /// count.
    uint64_t directory_limit;
} hob_program_cache_desc;

/// Creates a program cache.
/// `desc` may be NULL: defaults, so memory only. On success `*out_cache` is the caller's to destroy, and `user_data` of
/// the file_io is the library's.
///
///     hob_program_cache_desc desc = HOB_PROGRAM_CACHE_DESC_INIT;
///     desc.directory = HOB_STR("cache/programs");
///     desc.environment = &environment;             /* see the example at the top of this file */
///     desc.executor = executor;                    /* reads and writes in the background */
///     hob_program_cache *cache = NULL;
///     if (hob_program_cache_create(&desc, &cache) != HOB_RESULT_OK) fail(hob_last_error());
///
/// Reads only the small files that hold strikes; programs are loaded in the background. Without an executor, or behind
/// a loading screen, call hob_program_cache_wait_idle next. A directory that cannot be read or written is no failure:
/// hob_program_cache_get_problem says why, and the cache works in memory. Threads: any.
HOB_NODISCARD HOB_API hob_result hob_program_cache_create(
    const hob_program_cache_desc *desc, hob_program_cache **out_cache);

/// Destroys a cache, after writing the programs that wait: this may wait for files.
/// NULL is allowed. Open uses end without a strike. Blobs stay valid. Threads: no call on it may run on another thread.
HOB_API void hob_program_cache_destroy(hob_program_cache *cache);

// ---- Get and put ----------------------------------------------------------------------------------------------------

/// A view of a cached program, valid until hob_blob_release.
/// It stays valid after the program is evicted or removed, and after the cache is destroyed. Begin with HOB_BLOB_INIT;
/// the library fills it in. Release it exactly once: do not copy the struct and release both.
typedef struct hob_blob {
    /// sizeof(hob_blob).
    uint32_t struct_size;
    /// hob_program.format of the put.
    uint32_t format;
    /// The binary, at a multiple of 16 bytes, as Vulkan requires of a shader's binary.
    const void *data;
    /// Bytes of `data`.
    size_t size;
    /// hob_program.reflection of the put, at a multiple of 16 bytes.
    const void *reflection;
    /// Bytes of `reflection`.
    size_t reflection_size;
    /// The library's: keeps the view valid. Must be NULL before the first call; do not write it after that.
    void *pin;
} hob_blob;

/// Gets a program from memory, as a view.
/// Never waits for a file; a hit copies nothing and allocates nothing.
///
///     hob_blob blob = HOB_BLOB_INIT;
///     if (hob_program_cache_get(cache, &key, &blob) == HOB_RESULT_OK) {
///         use(&blob);                              /* begin_use and end_use: see the top of this file */
///         hob_blob_release(&blob);
///     }
///
/// HOB_RESULT_NOT_FOUND: it is not in memory; build it. It may still be on disk, which is then read in the background
/// for the next get. Without hob_program_cache_desc.executor only calls that wait read it. During start-up prefer
/// hob_program_cache_get_wait, or call hob_program_cache_wait_idle first. HOB_RESULT_BANNED: it is banned; build
/// it from source.
///
/// A view that `*blob` holds is released first: after a miss the blob is empty. Threads: shared.
HOB_API hob_result hob_program_cache_get(const hob_program_cache *cache, const hob_fingerprint *key, hob_blob *blob);

/// Gets a program from memory for a group, and moves it there.
/// As hob_program_cache_get. With HOB_EVICTION_GROUPS a page, level or material that uses a program of another one
/// makes it its own: pass its number as `group`. The program stays in that group while it is in memory. On disk it
/// keeps the group of its put. Threads: shared.
HOB_API hob_result hob_program_cache_get_for_group(
    const hob_program_cache *cache, const hob_fingerprint *key, uint32_t group, hob_blob *blob);

/// Releases a view.
/// NULL, or a blob that holds none, is allowed. Threads: any; no other call may use the blob.
HOB_API void hob_blob_release(hob_blob *blob);

/// A program to be stored.
typedef struct hob_program {
    /// sizeof(hob_program).
    uint32_t struct_size;
    /// The driver's format of `data`, such as the GLenum of glGetProgramBinary. The cache only stores it.
    uint32_t format;
    /// The binary. May be NULL if `size` is 0.
    const void *data;
    /// Bytes of `data`. See memory_limit and disk_limit of hob_program_cache_desc.
    size_t size;
    /// Any bytes that the host wants back with the binary. May be NULL if `reflection_size` is 0.
    const void *reflection;
    /// Bytes of `reflection`.
    size_t reflection_size;
    /// Fingerprints of the shaders that it was linked from, such as hob_fingerprint_hash_bytes of each source. While
    /// memory holds the program, hob_program_cache_get_shader_status reports them as known. May be NULL if
    /// `shader_count` is 0.
    const hob_fingerprint *shaders;
    /// Number of `shaders`.
    size_t shader_count;
    /// Microseconds of compiling and linking, for HOB_EVICTION_COST_AWARE. 0 counts as 1.
    uint64_t build_us;
    /// The page, level or material that it belongs to, for HOB_EVICTION_GROUPS. hob_program_cache_get_for_group and
    /// hob_program_manager_link move it to another one.
    uint32_t group;
    /// Must be 0.
    uint32_t reserved;
} hob_program;

/// Stores a copy of a program: in memory now, and on disk in the background.
/// Never waits for a file.
///
///     hob_program program = HOB_PROGRAM_INIT;
///     program.format = format;                     /* of glGetProgramBinary */
///     program.data = binary;
///     program.size = size;
///     program.build_us = build_us;
///     hob_program_cache_put(cache, &key, &program);
///
/// A second put of a key replaces the first. A banned program is not stored, and the result is HOB_RESULT_OK.
/// HOB_RESULT_LIMIT_EXCEEDED: it is larger than the memory limit; the program that was there stays. Threads: shared.
HOB_API hob_result hob_program_cache_put(
    const hob_program_cache *cache, const hob_fingerprint *key, const hob_program *program);

// ---- Uses -----------------------------------------------------------------------------------------------------------

/// How a use of a program ended.
typedef enum hob_use_outcome {
    /// The GPU has finished the first frame drawn with it. One strike is removed.
    HOB_USE_OUTCOME_OK = 0,
    /// The driver refused it. It is removed from memory and disk; a program that was put meanwhile stays.
    HOB_USE_OUTCOME_REJECTED = 1,
    /// Nothing was drawn with it. The program and its strikes do not change.
    HOB_USE_OUTCOME_UNUSED = 2,
} hob_use_outcome;

/// Begins a use: call it just before the driver gets the binary of `key`.
/// "Use" at the top of this file says when to end it, and the example there shows how. If the process crashes or is
/// killed before that, the key gets a strike. exit() and hob_program_cache_destroy end open uses without a strike.
///
/// HOB_RESULT_BANNED: the key is banned; build the program from source.
///
/// With a directory, writes 64 bytes to a file, on this thread. The first use also creates that file: docs/threads.md
/// says how long that may take. If that fails the use begins nevertheless, but cannot become a strike:
/// hob_program_cache_get_problem says why. Without a directory nothing is written, and there are no strikes. Threads:
/// shared.
HOB_API hob_result hob_program_cache_begin_use(
    const hob_program_cache *cache, const hob_fingerprint *key, hob_use_id *out_use);

/// Ends a use.
/// With a directory, writes 64 bytes to a file, and a second small file if a strike is removed. If a key has several
/// open uses, its record is cleared when the last one ends. HOB_RESULT_NOT_FOUND: the use has ended already, or belongs
/// to another cache.
///
/// HOB_USE_OUTCOME_REJECTED removes the program. A program that was put since the use began stays. If memory had no
/// program of the key when the use began, a newer put is removed, too. Threads: shared.
HOB_API hob_result hob_program_cache_end_use(
    const hob_program_cache *cache, hob_use_id use_id, hob_use_outcome outcome);

// ---- Limits ---------------------------------------------------------------------------------------------------------

/// Removes a program from memory and disk.
/// A key without a program is allowed. The disk is changed in the background. If that fails, the program is hidden from
/// this cache, but another cache may find it: hob_program_cache_flush tries again, and returns HOB_RESULT_IO while it
/// fails. HOB_RESULT_IO here: an earlier removal has failed like that. HOB_RESULT_LIMIT_EXCEEDED: 65536 requests wait
/// for the disk; the program is hidden from this cache. Threads: shared.
HOB_API hob_result hob_program_cache_remove(const hob_program_cache *cache, const hob_fingerprint *key);

/// Removes all programs and shader statuses from memory, and with `disk_too` not 0 also from disk.
/// With `disk_too` 0, programs on disk are loaded again when they are missed. It keeps bundles, programs of other
/// environments, the start-up set, strikes and bans, open uses, blobs, limits and statistics. Inputs from
/// hob_program_cache_describe stay in memory.
///
/// If the process is killed meanwhile, all programs are removed from disk or none; on a full disk it may be some of
/// them. If the disk cannot be changed: as for hob_program_cache_remove. Threads: shared.
HOB_API hob_result hob_program_cache_clear(const hob_program_cache *cache, uint32_t disk_too);

/// Removes all programs of all environments from memory and disk, also those that other versions of the library wrote.
/// A user's way to empty the directory, which need not be deleted. Strikes and bans stay: see
/// hob_program_cache_clear_strikes. Programs with another `secret` are removed, too. It keeps bundles, the start-up
/// set, open uses, blobs, limits and statistics. If the disk cannot be changed: as for hob_program_cache_remove.
/// Threads: shared.
HOB_API hob_result hob_program_cache_clear_directory(const hob_program_cache *cache);

/// Evicts programs until memory holds at most `max_bytes`; 0: all of them.
/// The limit stays. Threads: shared.
HOB_API hob_result hob_program_cache_trim(const hob_program_cache *cache, uint64_t max_bytes);

/// Changes the limit of memory, in bytes: see hob_program_cache_desc.memory_limit.
/// 0: the default. UINT64_MAX: no limit. Memory is trimmed at once. Threads: shared.
HOB_API hob_result hob_program_cache_set_memory_limit(const hob_program_cache *cache, uint64_t limit);

/// Changes the limit of the disk, in bytes: see hob_program_cache_desc.disk_limit.
/// 0: the default. UINT64_MAX: no limit. Less than 256 KiB: HOB_RESULT_INVALID_ARGUMENT. The disk is trimmed in the
/// background. Threads: shared.
HOB_API hob_result hob_program_cache_set_disk_limit(const hob_program_cache *cache, uint64_t limit);

/// How short of memory the machine is.
typedef enum hob_memory_pressure {
    /// Not short: the limits of memory pressure end.
    HOB_MEMORY_PRESSURE_NONE = 0,
    /// The limit of memory is a quarter of memory_limit. A program that is larger, but within memory_limit, is stored
    /// alone: all others are evicted.
    HOB_MEMORY_PRESSURE_MODERATE = 1,
    /// All programs are evicted from memory, and then memory holds one program, the last that was stored. Programs that
    /// wait to be written stay: hob_program_cache_flush writes them. The disk keeps its programs.
    HOB_MEMORY_PRESSURE_CRITICAL = 2,
} hob_memory_pressure;

/// Limits memory as the system asks, until the next report.
/// Call it when memory pressure begins, and with HOB_MEMORY_PRESSURE_NONE when it ends. Threads: shared.
HOB_API hob_result hob_program_cache_report_memory_pressure(
    const hob_program_cache *cache, hob_memory_pressure pressure);

/// Adds a key to the start-up set (`marked` not 0), or removes it.
/// Programs of the set are loaded before all others, also at the next start: hob_program_cache_flush and
/// hob_program_cache_destroy write the set. The key needs no program yet. HOB_RESULT_LIMIT_EXCEEDED: the set has 65536
/// keys. Threads: shared.
HOB_API hob_result hob_program_cache_mark_startup(
    const hob_program_cache *cache, const hob_fingerprint *key, uint32_t marked);

// ---- Status of shaders and programs ---------------------------------------------------------------------------------

/// Reports that a shader has compiled, before a program of it is put.
/// `shader` is a fingerprint as in hob_program.shaders. The cache remembers up to 65536 shaders that no program in
/// memory uses. When one more is reported, it forgets the others. Threads: shared.
HOB_API hob_result hob_program_cache_report_shader_compiled(
    const hob_program_cache *cache, const hob_fingerprint *shader);

/// Tells whether a shader is known to compile: `*out_is_known` is 1 or 0.
/// A host may defer the compile of a known shader until a program of it is missed. Threads: shared.
HOB_API hob_result hob_program_cache_get_shader_status(
    const hob_program_cache *cache, const hob_fingerprint *shader, uint32_t *out_is_known);

/// Gets the number of programs in memory that were linked from a shader.
/// A program that lists the shader twice counts twice. Threads: shared.
HOB_API hob_result hob_program_cache_get_shader_program_count(
    const hob_program_cache *cache, const hob_fingerprint *shader, uint32_t *out_count);

/// Tells whether a program is in memory: `*out_is_known` is 1 or 0.
/// 1 also means that it has linked before. 0: unknown; it may be on disk, which is not searched. Eviction does not
/// count this as a get. Threads: shared.
HOB_API hob_result hob_program_cache_get_program_status(
    const hob_program_cache *cache, const hob_fingerprint *key, uint32_t *out_is_known);

/// Gets the number of strikes of a key.
/// While a program with a strike is in use, begin no other use of any program. Threads: shared.
HOB_API hob_result hob_program_cache_get_strikes(
    const hob_program_cache *cache, const hob_fingerprint *key, uint32_t *out_strikes);

/// Clears the strikes of a key, and so lifts its ban.
/// `key` NULL: of all keys, in all environments of the directory. Waits for a small file. With
/// HOB_PROGRAM_CACHE_READ_ONLY they are cleared for this cache only. HOB_RESULT_BUSY or HOB_RESULT_IO: the same,
/// because the file could not be changed; call again. Threads: shared.
HOB_API hob_result hob_program_cache_clear_strikes(const hob_program_cache *cache, const hob_fingerprint *key);

// ---- Disk -----------------------------------------------------------------------------------------------------------
//
// Timeouts are in microseconds. 0: do no work and do not wait. UINT64_MAX: no limit. A timeout is checked between
// pieces of work. A piece is one program or a megabyte of programs, or one megabyte of a directory that is opened, or
// some thousand of its names. A piece of maintenance, or of making room for a program, copies eight megabytes, or one
// segment of at most 1/16 of the limit and 64 MiB. It waits for the disk some dozen times at most. Before a write the
// directory is listed to the end: 0.6 us for each of its files. On a full disk, a put deletes whole segments, and
// waits up to two seconds for another process that does so. The piece that a call has begun is always finished.

/// Gets a program, and waits up to `timeout_us` microseconds for the disk.
/// For loading screens. As hob_program_cache_get, but HOB_RESULT_NOT_FOUND means that the disk was searched, too. A
/// program that another process or cache wrote more than 100 ms ago is found. HOB_RESULT_TIMEOUT: the time was too
/// short. Threads: shared.
HOB_API hob_result hob_program_cache_get_wait(
    const hob_program_cache *cache, const hob_fingerprint *key, uint64_t timeout_us, hob_blob *blob);

/// Reads and writes on this thread until no work waits, or for `timeout_us` microseconds.
/// For loading screens and tests. Waits for work that other threads do. HOB_RESULT_TIMEOUT: some work still waits.
/// Threads: shared.
HOB_API hob_result hob_program_cache_wait_idle(const hob_program_cache *cache, uint64_t timeout_us);

/// Writes all programs that wait, their times of use and the start-up set, so that a loss of power cannot lose them.
/// Waits for `timeout_us` microseconds at most. After it a process without open uses may end by _exit; an open use
/// would add a strike. HOB_RESULT_TIMEOUT: the time was too short.
///
/// HOB_RESULT_IO: programs could not be written or removed. Each flush returns it until the problem is over. If it was
/// over already, but programs that were put since the last flush are lost, one flush returns it.
/// HOB_RESULT_OUT_OF_MEMORY: the same, for lack of memory. Threads: shared.
HOB_API hob_result hob_program_cache_flush(const hob_program_cache *cache, uint64_t timeout_us);

/// Gets the progress of loading: `*out_done` of `*out_total` programs are done.
/// `*out_total` is 0 until the directory is open. Threads: shared.
HOB_API hob_result hob_program_cache_get_loading_progress(
    const hob_program_cache *cache, uint64_t *out_done, uint64_t *out_total);

/// The host's observer of problems.
/// A problem keeps programs from being read, written or removed, such as a full disk or a damaged bundle. It is also
/// written to the log, at HOB_LOG_LEVEL_WARNING.
typedef struct hob_problem_callback {
    /// sizeof(hob_problem_callback).
    uint32_t struct_size;
    /// Must be 0.
    uint32_t reserved;
    /// Passed to the callbacks.
    void *user_data;
    /// Receives each new problem once, as hob_program_cache_get_problem returns it. Empty: the problem is over.
    /// `sentence.data` ends in NUL and is valid during the call. Runs on the thread that noticed the problem: in a
    /// background task, or inside a call of the cache. All functions of the cache may be called, except
    /// hob_program_cache_destroy. Must be set.
    void (*report)(void *user_data, hob_str sentence);
    /// Called exactly once, when `user_data` is no longer needed, at the latest in hob_program_cache_destroy. May be
    /// NULL.
    void (*release)(void *user_data);
} hob_problem_callback;

/// Sets the observer of problems; `callback` NULL removes it.
/// The struct is copied. On success `user_data` is the library's: it is released when the observer is replaced or the
/// cache is destroyed, and `report` does not run. A problem that is present already is not reported: ask
/// hob_program_cache_get_problem. With an executor of HOB_BACKGROUND_PUMP or HOB_EXECUTOR_CALLING_THREAD_ONLY the
/// background reports in hob_executor_pump. Threads: shared.
HOB_API hob_result hob_program_cache_set_problem_callback(
    const hob_program_cache *cache, const hob_problem_callback *callback);

/// Writes the present error of reading or writing as a sentence without a NUL; empty: no error.
/// `*out_size` receives the required size. `buffer` NULL asks only for that. If `capacity` is too small, the result is
/// HOB_RESULT_BUFFER_TOO_SMALL and the buffer stays unchanged. Threads: shared.
HOB_API hob_result hob_program_cache_get_problem(
    const hob_program_cache *cache, char *buffer, size_t capacity, size_t *out_size);

// ---- Places and the list --------------------------------------------------------------------------------------------
//
// These functions do all requests that wait for the disk, and then look at its index: they read no programs.
// `timeout_us` is as in "Disk".

/// A place of a program: it is in memory.
#define HOB_PROGRAM_IN_MEMORY 1

/// A place of a program: it is in the directory.
#define HOB_PROGRAM_ON_DISK 2

/// A place of a program: it is in a bundle.
#define HOB_PROGRAM_IN_BUNDLE 4

/// Tells whether the cache contains a program, and where: `*out_places` is HOB_PROGRAM_IN_MEMORY and the like.
/// 0: nowhere. Eviction does not count this as a get. hob_program_cache_get_program_status is faster for memory alone.
/// HOB_RESULT_TIMEOUT: the disk is still busy after `timeout_us` microseconds. Threads: shared.
HOB_API hob_result hob_program_cache_contains(
    const hob_program_cache *cache, const hob_fingerprint *key, uint64_t timeout_us, uint32_t *out_places);

/// A program of hob_program_cache_list.
typedef struct hob_program_info {
    /// Its key.
    hob_fingerprint key;
    /// Bytes of data, reflection and fingerprints of shaders.
    uint64_t size;
    /// hob_program.build_us of the put.
    uint64_t build_us;
    /// Second of the last use that is recorded on disk, since 1970. 0: it is not on disk.
    uint64_t last_used;
    /// Gets since it is in memory, and the put. 0: it is not in memory, or was loaded and not used.
    uint32_t uses;
    /// Processes that used it, as recorded on disk. 0: it is not on disk.
    uint32_t recorded_uses;
    /// Its group, in memory. 0: it is not in memory.
    uint32_t group;
    /// HOB_PROGRAM_IN_MEMORY and the like.
    uint32_t places;
} hob_program_info;

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
HOB_API hob_result hob_program_cache_list(
    const hob_program_cache *cache, const hob_fingerprint *after, uint64_t timeout_us, hob_program_info *programs,
    size_t program_stride, size_t capacity, size_t *out_count);

// ---- Statistics -----------------------------------------------------------------------------------------------------

/// Counters of a program cache since it was created, and its present size.
/// An answer: set struct_size, or begin with HOB_PROGRAM_CACHE_STATISTICS_INIT.
typedef struct hob_program_cache_statistics {
    /// sizeof(hob_program_cache_statistics).
    uint32_t struct_size;
    /// Uses that have begun and not ended.
    uint32_t uses_open;
    /// Gets that found a program. hob_program_cache_get_wait counts once.
    uint64_t hits;
    /// Gets that found none.
    uint64_t misses;
    /// Puts, whether the program was stored or not.
    uint64_t puts;
    /// Programs that were loaded from the directory or a bundle, after a miss or ahead of need.
    uint64_t loads;
    /// Programs evicted to make room.
    uint64_t evicted_for_room;
    /// Programs evicted by hob_program_cache_trim.
    uint64_t evicted_by_trim;
    /// Programs evicted by hob_program_cache_report_memory_pressure.
    uint64_t evicted_by_pressure;
    /// Programs evicted by hob_program_cache_set_memory_limit.
    uint64_t evicted_by_limit;
    /// Programs replaced by another put of their key.
    uint64_t replaced;
    /// Programs removed by hob_program_cache_clear.
    uint64_t cleared;
    /// Programs removed by hob_program_cache_remove.
    uint64_t removed;
    /// Programs removed because the driver rejected them.
    uint64_t rejected;
    /// Puts and loads refused: larger than the limit.
    uint64_t refused_too_large;
    /// Puts and loads refused: the key has a program.
    uint64_t refused_exists;
    /// Loads ahead of need refused: no room.
    uint64_t refused_no_room;
    /// Puts and loads refused: the key is banned.
    uint64_t refused_banned;
    /// Loads refused: the program was removed meanwhile.
    uint64_t refused_removed;
    /// Uses that did not begin because the key is banned.
    uint64_t uses_banned;
    /// Programs in memory.
    uint64_t programs;
    /// Bytes in memory that count against `memory_limit`.
    uint64_t bytes;
    /// The limit of `bytes`.
    uint64_t memory_limit;
    /// Bytes held in all, with tables, bookkeeping and programs that wait to be written. Evicted programs that a blob
    /// still pins are not included.
    uint64_t memory_used;
    /// Shaders that are known to compile.
    uint64_t shaders;
    /// Programs that were chosen to be loaded ahead of need, since the cache was created.
    uint64_t preload_total;
    /// Programs of `preload_total` that are done: loaded, refused, or skipped because memory is full.
    uint64_t preload_done;
    /// Requests that wait for the background: programs to write, missed programs to read, removals and the like.
    /// Loading ahead of need is not included.
    uint64_t waiting;
    /// Programs that were put and could not be written.
    uint64_t unwritten;
    /// Programs and other values in the directory, of all environments. All `disk_` fields are as of the last time that
    /// no request waited.
    uint64_t disk_values;
    /// Bytes that `disk_values` take in the files.
    uint64_t disk_live_bytes;
    /// Bytes of the files, with values that were replaced or removed.
    uint64_t disk_file_bytes;
    /// Number of files that hold values.
    uint64_t disk_files;
    /// Files of other formats, secrets and users, which are not read.
    uint64_t disk_foreign_files;
    /// Bytes of memory for the directory: a list of its values, and buffers. Not included in `memory_used`.
    uint64_t disk_memory_used;
    /// Damaged values and files that were found, in the directory and in bundles.
    uint64_t disk_damaged;
    /// File operations that failed.
    uint64_t disk_io_errors;
    /// Values that were too large to be written.
    uint64_t disk_refused;
    /// Values evicted from disk.
    uint64_t disk_evicted;
    /// Values removed from disk because of their age.
    uint64_t disk_expired;
    /// Banned keys, in all environments of the directory.
    uint64_t keys_banned;
    /// Keys with strikes, in all environments of the directory.
    uint64_t keys_with_strikes;
    /// Uses that were recorded in a file.
    uint64_t uses_recorded;
    /// Uses that could not be recorded.
    uint64_t uses_unrecorded;
    /// Strikes that creating this cache added, for processes that ended during a use.
    uint64_t strikes_added;
} hob_program_cache_statistics;

/// Gets all counters.
/// Visits every program in memory, and puts wait meanwhile: do not call it every frame. Threads: shared.
HOB_API hob_result hob_program_cache_get_statistics(
    const hob_program_cache *cache, hob_program_cache_statistics *out_statistics);

/// Writes all counters and histograms as a JSON object, without a NUL.
/// docs/formats.md explains its names.
/// `*out_size` receives the required size. `buffer` NULL asks only for that. If `capacity` is too small, the result is
/// HOB_RESULT_BUFFER_TOO_SMALL and the buffer stays unchanged. As hob_program_cache_get_statistics, not for every
/// frame. Threads: shared.
HOB_API hob_result hob_program_cache_get_report(
    const hob_program_cache *cache, char *buffer, size_t capacity, size_t *out_size);

// ---- Histograms -----------------------------------------------------------------------------------------------------

/// The measurements of a program cache.
/// Each has a histogram.
typedef enum hob_program_cache_measure {
    /// Bytes of data of each program that was put, stored or not.
    HOB_PROGRAM_CACHE_MEASURE_BINARY_BYTES = 0,
    /// Bytes in memory before each put.
    HOB_PROGRAM_CACHE_MEASURE_BYTES_BEFORE = 1,
    /// Bytes in memory after each put.
    HOB_PROGRAM_CACHE_MEASURE_BYTES_AFTER = 2,
    /// Microseconds of each hob_program_manager_link that the cache served: making the key, get, begin_use and `load`.
    HOB_PROGRAM_CACHE_MEASURE_HIT_US = 3,
    /// Microseconds of each hob_program_manager_link that built its program. Includes the missed lookup, deferred
    /// compiles, `link`, `get_binary` and the put.
    HOB_PROGRAM_CACHE_MEASURE_MISS_US = 4,
    /// Microseconds of each hob_program_manager_compile that deferred: copying and hashing the source, and the lookup.
    HOB_PROGRAM_CACHE_MEASURE_STATUS_HIT_US = 5,
    /// Microseconds of each hob_program_manager_compile that called `compile` and succeeded, callback included.
    HOB_PROGRAM_CACHE_MEASURE_STATUS_MISS_US = 6,
} hob_program_cache_measure;

/// Adds a value to a histogram, for hosts that measure links and compiles themselves.
/// The first three measures are added by the cache. The others are added by a hob_program_manager, if there is a
/// hob_clock_hook. Threads: shared.
HOB_API hob_result hob_program_cache_add_measurement(
    const hob_program_cache *cache, hob_program_cache_measure measure, uint64_t value);

/// The distribution of a measure.
/// Count, sum, minimum and maximum are exact; quantiles to 1 part in 32. An answer: set struct_size, or begin with
/// HOB_HISTOGRAM_INIT.
typedef struct hob_histogram {
    /// sizeof(hob_histogram).
    uint32_t struct_size;
    /// Buckets that hold values.
    uint32_t bucket_count;
    /// Number of values.
    uint64_t count;
    /// Sum of the values; UINT64_MAX if it is larger than that.
    uint64_t sum;
    /// The least value. 0 without values, as are all fields below.
    uint64_t minimum;
    /// The greatest value.
    uint64_t maximum;
    /// The mean, rounded down.
    uint64_t mean;
    /// The median.
    uint64_t p50;
    /// The 90th percentile.
    uint64_t p90;
    /// The 99th percentile.
    uint64_t p99;
} hob_histogram;

/// Gets the distribution of a measure.
/// Threads: shared.
HOB_API hob_result hob_program_cache_get_histogram(
    const hob_program_cache *cache, hob_program_cache_measure measure, hob_histogram *out_histogram);

/// One bucket of a histogram.
/// Each value below 32 has one; above, there are 16 per power of two.
typedef struct hob_histogram_bucket {
    /// The least value of the bucket.
    uint64_t minimum;
    /// The greatest value of the bucket.
    uint64_t maximum;
    /// Number of values.
    uint64_t count;
} hob_histogram_bucket;

/// Writes the buckets of a histogram that hold values, in ascending order.
/// `bucket_stride` is sizeof(hob_histogram_bucket), or 0. `*out_count` receives the number of buckets; `buckets` NULL
/// asks only for that. If `capacity` is too small, the result is HOB_RESULT_BUFFER_TOO_SMALL and `buckets` stays
/// unchanged. Threads: shared.
HOB_API hob_result hob_program_cache_get_histogram_buckets(
    const hob_program_cache *cache, hob_program_cache_measure measure, hob_histogram_bucket *buckets,
    size_t bucket_stride, size_t capacity, size_t *out_count);

// ---- Experimental: Bundles ------------------------------------------------------------------------------------------
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
HOB_EXPERIMENTAL_API hob_result hob_program_cache_add_bundle(const hob_program_cache *cache, hob_str path);

/// Adds a bundle from memory, such as a file of an archive.
/// A copy is kept until the cache is destroyed. As hob_program_cache_add_bundle. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_program_cache_add_bundle_bytes(
    const hob_program_cache *cache, const void *data, size_t size);

/// The programs of a bundle.
typedef enum hob_bundle_contents {
    /// All programs in memory, on disk and in bundles for the cache's environment.
    HOB_BUNDLE_CONTENTS_ALL = 0,
    /// The programs of the start-up set.
    HOB_BUNDLE_CONTENTS_STARTUP_SET = 1,
} hob_bundle_contents;

/// Writes programs to a bundle.
/// For build machines: waits for files, and for all programs to be written. `*out_programs`, which may be NULL,
/// receives the number of programs. It has no banned programs. The same programs make the same file. An existing file
/// is replaced once the new one is complete. HOB_RESULT_NOT_FOUND: there is no program. HOB_RESULT_INVALID_ARGUMENT:
/// the file would be in the cache's directory. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_program_cache_write_bundle(
    const hob_program_cache *cache, hob_str path, hob_bundle_contents contents, uint64_t *out_programs);

// ---- Experimental: Explaining misses --------------------------------------------------------------------------------

/// Where the described program most similar to a missed one is.
typedef enum hob_program_location {
    /// It was neither put nor asked for since the cache was created. It may be on disk.
    HOB_PROGRAM_LOCATION_NOT_LOADED = 0,
    /// In memory.
    HOB_PROGRAM_LOCATION_IN_MEMORY = 1,
    /// It was evicted from memory, or removed.
    HOB_PROGRAM_LOCATION_EVICTED = 2,
    /// On disk, for another driver, device or build. It is never loaded.
    HOB_PROGRAM_LOCATION_OTHER_ENVIRONMENT = 3,
    /// Banned: see hob_program_cache_begin_use. It is never loaded.
    HOB_PROGRAM_LOCATION_BANNED = 4,
} hob_program_location;

/// One input that differs between two programs.
/// Texts end in NUL. Long values, and values that are not text, are shown as their size and the beginning of their
/// hash.
typedef struct hob_program_difference {
    /// The input, such as "vertex stage", "attribute position" or "driver".
    char label[48];
    /// Its value in the known program; empty: it has no such input.
    char was[72];
    /// Its value in the missed program; empty: it has no such input.
    char is[72];
} hob_program_difference;

/// Why a program was missed.
/// An answer: set struct_size, or begin with HOB_PROGRAM_MISS_INIT.
typedef struct hob_program_miss {
    /// sizeof(hob_program_miss).
    uint32_t struct_size;
    /// Inputs that differ, also those beyond the room of `differences`. 0: the program is known.
    uint32_t difference_count;
    /// Inputs that are equal.
    uint32_t common_count;
    /// Where the program of `nearest` is.
    hob_program_location location;
    /// The key of the known program with the most inputs in common.
    hob_fingerprint nearest;
    /// The first differences: stages, attributes, defines, feedback, extra, then the fields of the environment.
    hob_program_difference differences[8];
    /// The explanation as a sentence, ending in NUL.
    char sentence[512];
} hob_program_miss;

/// Remembers the inputs of a program for hob_program_cache_explain_miss.
/// Call it once for each program that is built; a hob_program_manager does so itself. `key` NULL: the key that
/// hob_fingerprint_hash_program makes of `desc`. Does nothing unless hob_program_cache_desc.described_keys is set.
/// Never waits for a file. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_program_cache_describe(
    const hob_program_cache *cache, const hob_fingerprint *key, const hob_program_key_desc *desc);

/// Explains a miss: which inputs differ from the most similar program that is described.
///
///     hob_program_miss miss = HOB_PROGRAM_MISS_INIT;
///     if (hob_program_cache_explain_miss(cache, &key_desc, &miss) == HOB_RESULT_OK) puts(miss.sentence);
///
/// Programs of earlier processes and of other environments in the directory are included. Call it before
/// hob_program_cache_describe. HOB_RESULT_NOT_FOUND: no program is described. Compares with every described program: do
/// not call it every frame. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_program_cache_explain_miss(
    const hob_program_cache *cache, const hob_program_key_desc *desc, hob_program_miss *out_miss);

// ---- Experimental: Program manager ----------------------------------------------------------------------------------
//
// A hob_program_manager calls the host's compile, link and load only when necessary. A shader that is known to compile
// is deferred: it is compiled only if one of its programs is missed.
//
//     hob_program_callbacks callbacks = HOB_PROGRAM_CALLBACKS_INIT;
//     callbacks.compile = compile;
//     callbacks.link = link;
//     callbacks.load = load;
//     callbacks.get_binary = get_binary;
//     hob_program_manager *manager = NULL;
//     if (hob_program_manager_create(cache, &callbacks, &manager) != HOB_RESULT_OK) fail(hob_last_error());
//
//     hob_shader_id shaders[2];                    /* for each: add_shader, set_source, compile */
//     hob_program_link_desc desc = HOB_PROGRAM_LINK_DESC_INIT;
//     desc.program = &gl_program;
//     desc.shaders = shaders;
//     desc.shader_count = 2;
//     hob_link_result linked = HOB_LINK_RESULT_INIT;
//     hob_program_manager_link(manager, &desc, &linked);

/// The host's compile, link and load.
/// Each returns 0 for success, and any other number for failure. The host gets that number back. Callbacks run on the
/// thread that calls the manager, inside the call. There the functions of the cache work. Those of the manager return
/// HOB_RESULT_BUSY, except hob_program_manager_destroy, which takes effect when the running call returns.
typedef struct hob_program_callbacks {
    /// sizeof(hob_program_callbacks).
    uint32_t struct_size;
    /// Must be 0.
    uint32_t reserved;
    /// Passed to the callbacks.
    void *user_data;
    /// Compiles `source` for `shader`, which is the `object` of hob_program_manager_add_shader. `source` is valid
    /// during the call. Must be set.
    uint32_t (*compile)(void *user_data, void *shader, uint32_t stage, const void *source, size_t size);
    /// Links the compiled shaders; `program` is hob_program_link_desc.program. Must be set.
    uint32_t (*link)(void *user_data, void *program);
    /// Gives the driver a program from the cache. Failure: the program is removed and built. Must be set.
    uint32_t (*load)(void *user_data, void *program, const hob_blob *blob);
    /// Sets format, data and reflection of `binary` from the linked program. Other fields are ignored. The data stays
    /// valid until the next call of this, or until hob_program_manager_link returns. If it fails, or if this callback
    /// is NULL, nothing is stored.
    uint32_t (*get_binary)(void *user_data, void *program, hob_program *binary);
    /// Called exactly once, after the last of the other callbacks. May be NULL.
    void (*release)(void *user_data);
} hob_program_callbacks;

/// Links programs from a cache, and compiles only the shaders that it must.
/// A handle: see "Handles" in base.h. Build times are measured with the host's clock: without a hob_clock_hook programs
/// are stored with a build_us of 0. Several managers may share a cache, on different threads.
typedef struct hob_program_manager hob_program_manager;

/// Creates a manager of a cache.
/// `compile`, `link` and `load` of `callbacks` must be set. On success `*out_manager` is the caller's to destroy, and
/// `user_data` is the library's. Destroy all managers before their cache. A manager that outlives its cache still
/// works, but writes no programs and records no uses. Threads: any.
HOB_NODISCARD HOB_EXPERIMENTAL_API hob_result hob_program_manager_create(
    const hob_program_cache *cache, const hob_program_callbacks *callbacks, hob_program_manager **out_manager);

/// Destroys a manager and its shaders; NULL is allowed.
/// Programs stay in the cache. Threads: no call on it may run on another thread.
HOB_EXPERIMENTAL_API void hob_program_manager_destroy(hob_program_manager *manager);

/// A shader of a manager.
/// All zero is no shader.
typedef struct hob_shader_id {
    /// Its place, from 1 on; 0 is no shader.
    uint32_t index1;
    /// Distinguishes it from earlier shaders at that place.
    uint32_t generation;
} hob_shader_id;

/// Adds a shader without a source.
/// `stage` is a hob_shader_stage or a number of the host. `object` is passed to `compile`: the graphics API's name of
/// the shader, for instance. HOB_RESULT_INVALID_ARGUMENT: the stage is unknown. Threads: exclusive.
HOB_EXPERIMENTAL_API hob_result hob_program_manager_add_shader(
    hob_program_manager *manager, uint32_t stage, void *object, hob_shader_id *out_shader);

/// Removes a shader.
/// Programs that were linked from it stay in the cache. HOB_RESULT_NOT_FOUND: the manager has no such shader. Threads:
/// exclusive.
HOB_EXPERIMENTAL_API hob_result hob_program_manager_remove_shader(hob_program_manager *manager, hob_shader_id shader);

/// Sets the source of a shader; it is copied.
/// Links use the source of the last hob_program_manager_compile. HOB_RESULT_NOT_FOUND: the manager has no such shader.
/// Threads: exclusive.
HOB_EXPERIMENTAL_API hob_result hob_program_manager_set_source(
    hob_program_manager *manager, hob_shader_id shader, const void *source, size_t size);

/// The state of a shader.
typedef enum hob_shader_state {
    /// It is not compiled, or its compile failed.
    HOB_SHADER_STATE_NOT_COMPILED = 0,
    /// It is known to compile, and deferred.
    HOB_SHADER_STATE_DEFERRED = 1,
    /// The driver has compiled it.
    HOB_SHADER_STATE_COMPILED = 2,
} hob_shader_state;

/// Compiles a shader's present source, or defers the compile if it is known to succeed.
/// `*out_state` receives its state, `*out_driver_code` the result of `compile`, 0 if it was not called. Both are
/// written also after a failure, and may be NULL. HOB_RESULT_BUILD_FAILED: the compile failed; the cache does not
/// remember that. HOB_RESULT_NOT_FOUND: the manager has no such shader. Threads: exclusive. Calls `compile`.
HOB_EXPERIMENTAL_API hob_result hob_program_manager_compile(
    hob_program_manager *manager, hob_shader_id shader, hob_shader_state *out_state, uint32_t *out_driver_code);

/// A program to be linked.
typedef struct hob_program_link_desc {
    /// sizeof(hob_program_link_desc).
    uint32_t struct_size;
    /// See hob_program.group. A cached program moves to this group.
    uint32_t group;
    /// Passed to the callbacks: the host's program object.
    void *program;
    /// At least one shader, each compiled or deferred. Their order matters.
    const hob_shader_id *shaders;
    /// Number of `shaders`. 0 is an error.
    size_t shader_count;
    /// Other inputs of the program, such as attributes. It must have no stages: those are the shaders. The program's
    /// key is that of hob_fingerprint_hash_program for both together. NULL: no other inputs.
    const hob_program_key_desc *key;
} hob_program_link_desc;

/// How a link ended.
typedef enum hob_link_outcome {
    /// The link did not begin.
    HOB_LINK_OUTCOME_NONE = 0,
    /// The driver loaded the program from the cache.
    HOB_LINK_OUTCOME_LOADED = 1,
    /// The program was built and stored.
    HOB_LINK_OUTCOME_BUILT = 2,
    /// The program was built. There was no binary, or it could not be stored.
    HOB_LINK_OUTCOME_BUILT_UNSAVED = 3,
    /// A deferred shader failed to compile.
    HOB_LINK_OUTCOME_COMPILE_FAILED = 4,
    /// The link failed.
    HOB_LINK_OUTCOME_LINK_FAILED = 5,
} hob_link_outcome;

/// The result of a link.
/// An answer: set struct_size, or begin with HOB_LINK_RESULT_INIT.
typedef struct hob_link_result {
    /// sizeof(hob_link_result).
    uint32_t struct_size;
    /// How the link ended.
    hob_link_outcome outcome;
    /// HOB_LINK_OUTCOME_LOADED: the use that has begun. End it with hob_program_cache_end_use: see "Use" at the top of
    /// this file.
    hob_use_id first_use;
    /// The program's key; zeros if the link failed.
    hob_fingerprint key;
    /// After a failure the code of the callback that failed. After a build the code of `load`, if the cache had a
    /// program that the driver rejected. Otherwise 0.
    uint32_t driver_code;
    /// HOB_LINK_OUTCOME_COMPILE_FAILED: the index of the shader in hob_program_link_desc.shaders.
    uint32_t failed_shader;
} hob_link_result;

/// Links a program: from the cache if possible, else by building it.
/// Building compiles the deferred shaders, links, and stores the binary. `*out_result` is written also after a failed
/// link, which is HOB_RESULT_BUILD_FAILED; nothing is stored then. HOB_RESULT_NOT_FOUND: the manager has no such
/// shader. HOB_RESULT_INVALID_ARGUMENT: no shaders, a shader that was not compiled or is listed twice, or a `key` with
/// stages. Threads: exclusive. Calls the callbacks.
HOB_EXPERIMENTAL_API hob_result hob_program_manager_link(
    hob_program_manager *manager, const hob_program_link_desc *desc, hob_link_result *out_result);

/// Returns the sentence of this handle's last failed exclusive call.
/// It is empty if none has failed, and valid until the next failure. Threads: shared.
HOB_NODISCARD HOB_EXPERIMENTAL_API const char *hob_program_manager_last_error(const hob_program_manager *manager);

// ---- Experimental: Dawn and EGL -------------------------------------------------------------------------------------
//
// These functions have the signatures of Dawn's and EGL's cache functions, so a renderer can be given a
// hob_program_cache directly. The renderer does not tell when a driver uses a blob, so blobs get no strikes and are
// never banned, unless hob_program_cache_track_blob_uses is on.

/// Stores a blob: a DawnStoreCacheDataFunction.
/// `cache` is a hob_program_cache, given as functionUserdata. A blob that cannot be stored is dropped. Threads: any.
HOB_EXPERIMENTAL_API void hob_dawn_blob_store(
    const void *key, size_t key_size, const void *value, size_t value_size, void *cache);

/// Loads a blob from memory: a DawnLoadCacheDataFunction.
/// Never waits for a file. Returns its size, or 0 if it is missing. With `value` NULL that is all, and the blob is kept
/// for this thread's next call. Otherwise the blob is copied; 0 means that it does not fit.
///
/// The blob that was kept is dropped if its key is stored or removed, by hob_program_cache_clear, and when memory is
/// trimmed. The next call then copies the new blob of that key if its size is `value_size`. Otherwise it fills `value`
/// with zeros and returns 0. `cache` is a hob_program_cache, given as functionUserdata. Threads: any.
HOB_NODISCARD HOB_EXPERIMENTAL_API size_t hob_dawn_blob_load(
    const void *key, size_t key_size, void *value, size_t value_size, void *cache);

/// Binds a cache to hob_egl_blob_set and hob_egl_blob_get, for the whole process; NULL unbinds.
///
///     hob_program_cache_bind_egl(cache);
///     eglSetBlobCacheFuncsANDROID(display, hob_egl_blob_set, hob_egl_blob_get);
///
/// Some drivers use the functions only once a context is current. Destroying the cache unbinds it. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_program_cache_bind_egl(const hob_program_cache *cache);

/// Stores a blob in the bound cache: an EGLSetBlobFuncANDROID.
/// As hob_dawn_blob_store. Threads: any.
HOB_EXPERIMENTAL_API void hob_egl_blob_set(
    const void *key, ptrdiff_t key_size, const void *value, ptrdiff_t value_size);

/// Loads a blob from the bound cache: an EGLGetBlobFuncANDROID.
/// As hob_dawn_blob_load. For a blob that does not fit the extension returns its size, but this function returns 0.
/// Mesa passes a buffer of 64 KiB and takes any result but 0 for the number of bytes copied. Threads: any.
HOB_NODISCARD HOB_EXPERIMENTAL_API ptrdiff_t hob_egl_blob_get(
    const void *key, ptrdiff_t key_size, void *value, ptrdiff_t value_size);

/// Turns uses of blobs on (`is_on` not 0) or off (the default).
/// On, each blob that hob_dawn_blob_load or hob_egl_blob_get copies begins a use: see "Use" at the top of this file. A
/// banned blob is a miss, so that its renderer builds it. Call hob_program_cache_end_blob_uses after each frame;
/// without it, a process that is killed gives all blobs that it has loaded a strike. At most 65536 uses are open; later
/// blobs begin none. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_program_cache_track_blob_uses(const hob_program_cache *cache, uint32_t is_on);

/// Ends all uses that blobs have begun, on any thread.
/// Call it when a frame drawn with these blobs is finished, such as after eglSwapBuffers of the frame after.
/// HOB_USE_OUTCOME_REJECTED removes all of these blobs. Without an open use it does nothing. Returns the first failure.
/// Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_program_cache_end_blob_uses(
    const hob_program_cache *cache, hob_use_outcome outcome);

// ---- Initialisers ---------------------------------------------------------------------------------------------------
//
// HOB_X_INIT is a hob_x with the library's defaults and this header's size: `hob_x value = HOB_X_INIT;`
// hob_x_init does the same for other languages: `size` is sizeof(hob_x).

HOB_API hob_result hob_program_cache_desc_init(hob_program_cache_desc *value, uint32_t size);
static inline hob_program_cache_desc hob_program_cache_desc_default(void) {
    hob_program_cache_desc value;
    (void)hob_program_cache_desc_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_PROGRAM_CACHE_DESC_INIT (hob_program_cache_desc_default())

HOB_API hob_result hob_blob_init(hob_blob *value, uint32_t size);
static inline hob_blob hob_blob_default(void) {
    hob_blob value;
    (void)hob_blob_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_BLOB_INIT (hob_blob_default())

HOB_API hob_result hob_program_init(hob_program *value, uint32_t size);
static inline hob_program hob_program_default(void) {
    hob_program value;
    (void)hob_program_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_PROGRAM_INIT (hob_program_default())

HOB_API hob_result hob_problem_callback_init(hob_problem_callback *value, uint32_t size);
static inline hob_problem_callback hob_problem_callback_default(void) {
    hob_problem_callback value;
    (void)hob_problem_callback_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_PROBLEM_CALLBACK_INIT (hob_problem_callback_default())

HOB_API hob_result hob_program_cache_statistics_init(hob_program_cache_statistics *value, uint32_t size);
static inline hob_program_cache_statistics hob_program_cache_statistics_default(void) {
    hob_program_cache_statistics value;
    (void)hob_program_cache_statistics_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_PROGRAM_CACHE_STATISTICS_INIT (hob_program_cache_statistics_default())

HOB_API hob_result hob_histogram_init(hob_histogram *value, uint32_t size);
static inline hob_histogram hob_histogram_default(void) {
    hob_histogram value;
    (void)hob_histogram_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_HISTOGRAM_INIT (hob_histogram_default())

HOB_EXPERIMENTAL_API hob_result hob_program_miss_init(hob_program_miss *value, uint32_t size);
static inline hob_program_miss hob_program_miss_default(void) {
    hob_program_miss value;
    (void)hob_program_miss_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_PROGRAM_MISS_INIT (hob_program_miss_default())

HOB_EXPERIMENTAL_API hob_result hob_program_callbacks_init(hob_program_callbacks *value, uint32_t size);
static inline hob_program_callbacks hob_program_callbacks_default(void) {
    hob_program_callbacks value;
    (void)hob_program_callbacks_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_PROGRAM_CALLBACKS_INIT (hob_program_callbacks_default())

HOB_EXPERIMENTAL_API hob_result hob_program_link_desc_init(hob_program_link_desc *value, uint32_t size);
static inline hob_program_link_desc hob_program_link_desc_default(void) {
    hob_program_link_desc value;
    (void)hob_program_link_desc_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_PROGRAM_LINK_DESC_INIT (hob_program_link_desc_default())

HOB_EXPERIMENTAL_API hob_result hob_link_result_init(hob_link_result *value, uint32_t size);
static inline hob_link_result hob_link_result_default(void) {
    hob_link_result value;
    (void)hob_link_result_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_LINK_RESULT_INIT (hob_link_result_default())

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HOBGOBLIN_PROGRAM_CACHE_H
