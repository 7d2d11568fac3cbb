// hobgoblin/program_cache.h: Program binaries in memory and on the disk, so that nothing is compiled twice.
// Generated from src/ffi/program_cache*.rs; do not edit. MIT OR Apache-2.0.

#ifndef HOBGOBLIN_PROGRAM_CACHE_H
#define HOBGOBLIN_PROGRAM_CACHE_H

#include "base.h"
#include "executor.h"
#include "fingerprint.h"
#include "store.h"

/// hob_program_cache_desc.flags: write nothing to the directory. What is banned stays so; uses are not noted. What is
/// removed, rejected or cleared is not found any more by this cache, and by the next one it is.
#define HOB_PROGRAM_CACHE_READ_ONLY 1

/// hob_program_cache_desc.flags: compress what is written (LZ4).
#define HOB_PROGRAM_CACHE_COMPRESS 2

/// hob_program_cache_desc.flags: load only what was missed, nothing ahead of need.
#define HOB_PROGRAM_CACHE_LOAD_LAZILY 4

/// hob_program_cache_desc.flags: programs of the start-up set leave memory after all others.
#define HOB_PROGRAM_CACHE_KEEP_STARTUP_SET 8

/// hob_program_cache_desc.flags: of what memory_limit allows, count the data of programs alone, as Chromium's cache does,
/// and neither keys nor shaders nor reflection.
#define HOB_PROGRAM_CACHE_COUNT_DATA_ALONE 16

/// hob_program_cache_desc.flags: a second put of a key changes nothing, and saves the writing. For hosts of which several
/// threads may build the same program at a time. A program that the driver rejected is there until its use has ended: end
/// it before the new one is put, which would be lost otherwise.
#define HOB_PROGRAM_CACHE_FIRST_PUT_WINS 32

/// Which programs leave memory first when room is needed.
typedef enum {
    /// The ones whose loss costs the least compile time for the room it gives back, by measured build cost.
    HOB_EVICTION_COST_AWARE = 0,
    /// The least recently used one, to the byte.
    HOB_EVICTION_LRU = 1,
    /// The most recently used one of the least recently used group (hob_program.group).
    HOB_EVICTION_GROUPS = 2,
} hob_eviction;

/// How much memory the machine is short of.
typedef enum {
    /// None: nothing is done.
    HOB_MEMORY_PRESSURE_NONE = 0,
    /// Some: memory is trimmed to a quarter of its limit.
    HOB_MEMORY_PRESSURE_MODERATE = 1,
    /// Much: memory is emptied, but for what still waits to be written: hob_program_cache_flush is the way to be rid of it.
    /// What the disk has stays there.
    HOB_MEMORY_PRESSURE_CRITICAL = 2,
} hob_memory_pressure;

/// How a use of a program ended.
typedef enum {
    /// The first frame with it was drawn. A strike is taken back.
    HOB_USE_OUTCOME_OK = 0,
    /// The driver would not have it. It is removed, from the disk too; what was put since stays.
    HOB_USE_OUTCOME_REJECTED = 1,
    /// Nothing was drawn with it. Neither the program nor its strikes change.
    HOB_USE_OUTCOME_UNUSED = 2,
} hob_use_outcome;

/// What a program cache measures.
typedef enum {
    /// Bytes of data of each program that was put, kept or not.
    HOB_PROGRAM_CACHE_MEASURE_BINARY_BYTES = 0,
    /// Bytes counted in memory before each put.
    HOB_PROGRAM_CACHE_MEASURE_BYTES_BEFORE = 1,
    /// Bytes counted in memory after each put.
    HOB_PROGRAM_CACHE_MEASURE_BYTES_AFTER = 2,
    /// Microseconds of each link that the cache answered, the driver's loading included.
    HOB_PROGRAM_CACHE_MEASURE_HIT_US = 3,
    /// Microseconds of each link that had to be built and succeeded, the compiling of what was put off included.
    HOB_PROGRAM_CACHE_MEASURE_MISS_US = 4,
    /// Microseconds of each compile that was put off, since the shader is known to compile.
    HOB_PROGRAM_CACHE_MEASURE_STATUS_HIT_US = 5,
    /// Microseconds of each compile that was not put off and succeeded: what failed, no cache could have saved.
    HOB_PROGRAM_CACHE_MEASURE_STATUS_MISS_US = 6,
} hob_program_cache_measure;

/// Where the program is that is most like one that was missed.
typedef enum {
    /// Nobody has put or asked for it since the cache was created: it may be on the disk.
    HOB_PROGRAM_WHEREABOUTS_NOT_LOADED = 0,
    /// In memory.
    HOB_PROGRAM_WHEREABOUTS_IN_MEMORY = 1,
    /// It has left memory.
    HOB_PROGRAM_WHEREABOUTS_LEFT_MEMORY = 2,
    /// On the disk, for another driver, device or build, and so never loaded.
    HOB_PROGRAM_WHEREABOUTS_OTHER_ENVIRONMENT = 3,
    /// Banned, and so never loaded: see hob_program_cache_use_begin.
    HOB_PROGRAM_WHEREABOUTS_BANNED = 4,
} hob_program_whereabouts;

/// What goes into a bundle.
typedef enum {
    /// Every program that memory and disk have for the cache's environment.
    HOB_BUNDLE_CONTENTS_ALL = 0,
    /// Those of the start-up set.
    HOB_BUNDLE_CONTENTS_STARTUP_SET = 1,
} hob_bundle_contents;

/// How far a shader has come.
typedef enum {
    /// The driver did not compile it.
    HOB_SHADER_STATE_NOT_COMPILED = 0,
    /// It is known to compile, and was put off.
    HOB_SHADER_STATE_DEFERRED = 1,
    /// The driver has compiled it.
    HOB_SHADER_STATE_COMPILED = 2,
} hob_shader_state;

/// How a link ended.
typedef enum {
    /// It was never begun.
    HOB_LINK_OUTCOME_NONE = 0,
    /// The driver took the program from the cache.
    HOB_LINK_OUTCOME_LOADED = 1,
    /// It was built, and saved.
    HOB_LINK_OUTCOME_BUILT = 2,
    /// It was built; the driver gave no binary, or it could not be kept.
    HOB_LINK_OUTCOME_BUILT_UNSAVED = 3,
    /// A shader did not compile, of which the cache had thought that it would.
    HOB_LINK_OUTCOME_COMPILE_FAILED = 4,
    /// The driver did not link it.
    HOB_LINK_OUTCOME_LINK_FAILED = 5,
} hob_link_outcome;

/// Programs in memory and, if it has a directory, on the disk. All functions but create and destroy may be called from
/// several threads at once. A handle; see docs/ownership.md.
typedef struct hob_program_cache hob_program_cache;

/// Drives the host's compile, link and load so that as little as possible of it happens: a shader that is known to compile
/// is put off, and compiled only if a program of it is missed. What building has cost is measured with the host's clock:
/// without a hob_clock_hook programs are saved with a build_us of 0, and HOB_EVICTION_COST_AWARE takes them all for equally
/// cheap. Any number of managers may work with a cache, on as many
/// threads. Inside a callback functions of the cache work; those of the manager answer HOB_RESULT_BUSY, but
/// hob_program_manager_destroy, which is put off until the running call returns. A handle; see docs/ownership.md.
typedef struct hob_program_manager hob_program_manager;

/// Parameters of a program cache.
typedef struct {
    /// sizeof(hob_program_cache_desc); set by hob_program_cache_desc_init.
    uint32_t struct_size;
    /// A hob_eviction. Default HOB_EVICTION_COST_AWARE.
    uint32_t eviction;
    /// Where programs outlive the process: a directory that processes may share, made when the first program is written.
    /// What others write is found at the start, and from then on when the directory is tidied up: each time that this
    /// process has written 1024 programs, or a sixteenth of `disk_limit`. On Unix any bytes, elsewhere UTF-8. Empty: memory
    /// alone.
    hob_str directory;
    /// The driver, device and build that programs are for: others' are never loaded. NULL: one that HOB_ENVIRONMENT_INIT
    /// gives, of which nothing but the size of a pointer is known.
    const hob_environment *environment;
    /// Whose background lane reads and writes; kept until the cache is destroyed. NULL: there is no background, and
    /// programs are read and written only in hob_program_cache_wait_idle, hob_program_cache_get_wait,
    /// hob_program_cache_flush, hob_program_cache_write_bundle and destroy.
    const hob_executor *executor;
    /// Bytes in memory: of keys, data, reflection and names of shaders. A program of exactly that size is kept; one without
    /// data counts as one byte at least. Default 64 MiB. 0 keeps nothing.
    uint64_t memory_limit;
    /// Bytes on the disk for each environment; a program that is larger is not written. Default 512 MiB. Chromium has the
    /// same limit for both. 0: nothing is written, and what is there goes.
    uint64_t disk_limit;
    /// Bytes of data, reflection and names of shaders that may wait to be written; what is put beyond is not written.
    /// Default 256 MiB. 0: nothing is written.
    uint64_t waiting_limit;
    /// Programs that were not used for more than so many seconds leave the disk when it is tidied up. Default 30 days. 0:
    /// all leave it then that were not used within that second.
    uint32_t max_age_seconds;
    /// Strikes that ban a program: it takes one when the process dies while it is in use. 0: none is banned. Default 2, so
    /// that a program may take the process down twice.
    uint32_t ban_at;
    /// HOB_PROGRAM_CACHE_READ_ONLY and the like.
    uint32_t flags;
    /// Of how many programs it is remembered what they were made from, for hob_program_cache_why_missed: some hundred bytes
    /// each, in memory and on the disk. Default 0.
    uint32_t described_keys;
    /// The file system of the directory and of bundles; copied. NULL: the operating system's.
    const hob_file_io *file_io;
} hob_program_cache_desc;

/// A program to be kept.
typedef struct {
    /// sizeof(hob_program); set by hob_program_init.
    uint32_t struct_size;
    /// The driver's name for the format of `data`, such as the GLenum of glGetProgramBinary; only kept.
    uint32_t format;
    const void *data;
    size_t size;
    /// Whatever the host wants back with the binary.
    const void *reflection;
    size_t reflection_size;
    /// Names of the shaders it was linked from, whose compile status it vouches for.
    const hob_fingerprint *shaders;
    size_t shader_count;
    /// Microseconds that compiling and linking it took: what eviction weighs. 0 counts as 1.
    uint64_t build_us;
    /// The page, level or material it belongs to, for HOB_EVICTION_GROUPS.
    uint32_t group;
    /// Zero.
    uint32_t reserved;
} hob_program;

/// A view of a program in the cache, valid until hob_blob_release, also after the program was evicted or removed and the
/// cache destroyed. Filled in by the library; initialise with HOB_BLOB_INIT.
typedef struct {
    /// sizeof(hob_blob); set by hob_blob_init.
    uint32_t struct_size;
    /// As it was put.
    uint32_t format;
    /// At a multiple of 16 bytes, where Vulkan wants a shader's binary.
    const void *data;
    size_t size;
    /// At a multiple of 16 bytes, too.
    const void *reflection;
    size_t reflection_size;
    /// The library's: what keeps the view valid.
    void *pin;
} hob_blob;

/// A use of a program by the driver. All zero is none.
typedef struct {
    uint32_t index1;
    uint32_t generation;
} hob_use;

/// What a program cache has done since it was made, and what it holds now.
typedef struct {
    /// sizeof(hob_program_cache_statistics); set by hob_program_cache_statistics_init.
    uint32_t struct_size;
    /// Uses that have begun and not ended.
    uint32_t uses_open;
    /// Gets that found something, and that did not; hob_program_cache_get_wait counts once.
    uint64_t hits;
    uint64_t misses;
    /// Puts, whether the program was kept or not.
    uint64_t puts;
    /// Programs that came from the disk.
    uint64_t loads;
    /// Programs that left memory: to make room, by hob_program_cache_trim, by hob_program_cache_memory_pressure, by
    /// hob_program_cache_set_limits, for another one of their key, by hob_program_cache_clear, by hob_program_cache_remove,
    /// because the driver would not have them.
    uint64_t left_for_room;
    uint64_t left_by_trim;
    uint64_t left_by_pressure;
    uint64_t left_by_limit;
    uint64_t left_replaced;
    uint64_t left_cleared;
    uint64_t left_removed;
    uint64_t left_rejected;
    /// Puts and loads that were not kept: larger than the limit, of a key that has one already, loaded ahead without room
    /// for it, banned, removed while the disk was bringing it.
    uint64_t refused_too_large;
    uint64_t refused_exists;
    uint64_t refused_no_room;
    uint64_t refused_banned;
    uint64_t refused_removed;
    /// Uses that were not begun because the key is banned.
    uint64_t uses_banned;
    /// Programs in memory, bytes that they count, and the limit of these.
    uint64_t programs;
    uint64_t bytes;
    uint64_t memory_limit;
    /// Bytes held in all, tables, bookkeeping and what has left memory and waits to be written included; views of what is
    /// no longer cached are not among them.
    uint64_t memory_used;
    /// Shaders that are known to compile.
    uint64_t shaders;
    /// Programs that are to be loaded ahead, and those of them that were looked at.
    uint64_t to_load;
    uint64_t loaded;
    /// Pieces of work that wait for the background.
    uint64_t waiting;
    /// What could not be written.
    uint64_t unwritten;
    /// The disk, as of its last piece of work: values that can be got, bytes of their records, bytes and number of the
    /// files that have them, files of other versions, which are left alone.
    uint64_t disk_values;
    uint64_t disk_live_bytes;
    uint64_t disk_file_bytes;
    uint64_t disk_files;
    uint64_t disk_foreign_files;
    /// Memory that its index takes.
    uint64_t disk_memory_used;
    /// Damage found, operations that failed, values that were too long, evicted, and not used for too long.
    uint64_t disk_damaged;
    uint64_t disk_io_errors;
    uint64_t disk_refused;
    uint64_t disk_evicted;
    uint64_t disk_aged;
    /// Keys that are banned, and that have strikes, in all environments of the directory.
    uint64_t keys_banned;
    uint64_t keys_struck;
    /// Uses that were noted where they outlive the process, and that could not be.
    uint64_t uses_noted;
    uint64_t uses_unnoted;
    /// Strikes that creating this cache gave to keys of processes that had died.
    uint64_t strikes_given;
} hob_program_cache_statistics;

/// How often each size of value has come. Count, sum, least and greatest are exact; quantiles are at most a 32nd of
/// themselves away from a value of that rank.
typedef struct {
    /// sizeof(hob_histogram); set by hob_histogram_init.
    uint32_t struct_size;
    /// Buckets that hold something.
    uint32_t bucket_count;
    uint64_t count;
    /// UINT64_MAX if it is more than that.
    uint64_t sum;
    /// 0 if there is no value, as is all below.
    uint64_t least;
    uint64_t greatest;
    uint64_t mean;
    uint64_t p50;
    uint64_t p90;
    uint64_t p99;
} hob_histogram;

/// A part of a histogram: below 32 one for each value, above 16 for every doubling.
typedef struct {
    /// The least value that counts here.
    uint64_t least;
    /// The greatest.
    uint64_t greatest;
    uint64_t count;
} hob_histogram_bucket;

/// Something that is not the same in two programs. Texts end in NUL; long ones, and what is no text, are told by their
/// size and the beginning of their hash.
typedef struct {
    /// What it is, such as "vertex stage", "attribute position" or "driver".
    char label[48];
    /// In the program that is known; empty: it has none.
    char was[72];
    /// In the one that was missed; empty: it has none.
    char is[72];
} hob_program_difference;

/// Why a program was missed. Filled in by the library; initialise with HOB_PROGRAM_MISS_INIT.
typedef struct {
    /// sizeof(hob_program_miss); set by hob_program_miss_init.
    uint32_t struct_size;
    /// Things that differ, also those of which `differences` has no room. 0: it is a known program.
    uint32_t difference_count;
    /// Things that are the same.
    uint32_t common_count;
    /// The hob_program_whereabouts of `nearest`.
    uint32_t whereabouts;
    /// The known program with most things in common.
    hob_fingerprint nearest;
    /// The first of what differs: stages, attributes, defines, feedback, extra, then what the environment is made of.
    hob_program_difference differences[8];
    /// All of it in words, ending in NUL.
    char sentence[512];
} hob_program_miss;

/// What the host does for a manager. Each answers 0 for success and any other number, which the host gets back, for
/// failure. Called on the thread that calls the manager, and not beyond that call. An exception must not leave them.
typedef struct {
    /// sizeof(hob_program_driver); set by hob_program_driver_init.
    uint32_t struct_size;
    /// Zero.
    uint32_t reserved;
    void *user_data;
    /// Compile a source for `shader`, which is what hob_program_manager_add_shader was given. `source` is a copy of what
    /// hob_program_manager_set_source was given, and valid during the call.
    uint32_t (*compile)(void *user_data, void *shader, uint32_t stage, const void *source, size_t size);
    /// Link what was compiled; `program` is hob_program_link_desc.program.
    uint32_t (*link)(void *user_data, void *program);
    /// Give the driver a program from the cache. Not 0: the driver would not have it; it is removed, and built.
    uint32_t (*load)(void *user_data, void *program, const hob_blob *blob);
    /// Fill in format, data and reflection of `binary` from the linked program; they must stay until this is called again
    /// or hob_program_manager_link has returned. Other fields are not looked at. Not 0: there is none to be saved. NULL:
    /// never.
    uint32_t (*binary)(void *user_data, void *program, hob_program *binary);
    /// Called exactly once, when none of the above is called any more. May be NULL.
    void (*release)(void *user_data);
} hob_program_driver;

/// A shader of a manager. All zero is none.
typedef struct {
    uint32_t index1;
    uint32_t generation;
} hob_shader;

/// A program to be linked.
typedef struct {
    /// sizeof(hob_program_link_desc); set by hob_program_link_desc_init.
    uint32_t struct_size;
    /// See hob_program.group.
    uint32_t group;
    /// What callbacks are given: the host's program object.
    void *program;
    /// At least one, each compiled or put off; their order counts.
    const hob_shader *shaders;
    size_t shader_count;
    /// What else the program is made from: attributes, feedback, and so on. Its stages are those of the shaders, so none
    /// are given here. The program's key is that of hob_fingerprint_program for all of it. NULL: nothing else.
    const hob_program_key_desc *key;
} hob_program_link_desc;

/// How a program came to be. Filled in by the library; initialise with HOB_PROGRAM_LINKED_INIT.
typedef struct {
    /// sizeof(hob_program_linked); set by hob_program_linked_init.
    uint32_t struct_size;
    /// A hob_link_outcome.
    uint32_t outcome;
    /// HOB_LINK_OUTCOME_LOADED: to be ended by hob_program_cache_use_end after the first frame drawn with it.
    hob_use first_use;
    /// The program's key; zeros when the link failed.
    hob_fingerprint key;
    /// What the callback said that failed; else 0. Of a program that was built, what `load` said of the one in the cache;
    /// 0: there was none, or it is banned. How the link ended `outcome` alone tells.
    uint32_t driver_code;
    /// HOB_LINK_OUTCOME_COMPILE_FAILED: which of the shaders.
    uint32_t failed_shader;
} hob_program_linked;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/// Fill in defaults; `size` is sizeof(hob_program_cache_desc). Usually by HOB_PROGRAM_CACHE_DESC_INIT.
HOB_API hob_result hob_program_cache_desc_init(hob_program_cache_desc *desc, uint32_t size);

/// Fill in defaults; `size` is sizeof(hob_program). Usually by HOB_PROGRAM_INIT.
HOB_API hob_result hob_program_init(hob_program *program, uint32_t size);

/// Fill in defaults; `size` is sizeof(hob_blob). Usually by HOB_BLOB_INIT.
HOB_API hob_result hob_blob_init(hob_blob *blob, uint32_t size);

/// Create a program cache. `desc` NULL: defaults, so memory alone. Of the directory only the small files of the quarantine
/// are read here; programs come in the background. A directory that cannot be read or written is no error: the cache then
/// works without, and hob_program_cache_trouble says why. `*out_cache` is written on success, and is then the caller's to
/// destroy; `user_data` of the file_io is the cache's from then on. Threads: any.
HOB_NODISCARD HOB_API
hob_result hob_program_cache_create(const hob_program_cache_desc *desc,
                                    hob_program_cache **out_cache);

/// Destroy a cache, after writing what still waits: this may wait for files. Views stay valid. NULL is fine.
/// Threads: no other call on it may run.
HOB_API void hob_program_cache_destroy(hob_program_cache *cache);

/// Get a program from memory: never waits for a file; a hit copies nothing and takes no memory. HOB_RESULT_NOT_FOUND: build
/// it. HOB_RESULT_UNSUPPORTED: build it, now and at every start; its binary is banned, see hob_program_cache_use_begin.
/// What is banned never gets into memory until hob_program_cache_forgive, so that it is enough to ask here. What is missed
/// and on the disk is brought in the background, for the next time; without a hob_program_cache_desc.executor by the calls
/// that wait. A view that `*blob` still held is released first. Threads: shared.
HOB_API
hob_result hob_program_cache_get(const hob_program_cache *cache,
                                 const hob_fingerprint *key,
                                 hob_blob *blob);

/// hob_program_cache_get that waits up to `timeout_us` microseconds for the disk: for loading screens. A piece of work that
/// this thread has begun by then is ended first; opening a large directory is one. HOB_RESULT_BUSY: the time did not
/// suffice. Threads: shared.
HOB_API
hob_result hob_program_cache_get_wait(const hob_program_cache *cache,
                                      const hob_fingerprint *key,
                                      uint64_t timeout_us,
                                      hob_blob *blob);

/// Let go of a view; NULL, or a blob without one, is fine. Threads: any; the blob is exclusive.
HOB_API void hob_blob_release(hob_blob *blob);

/// Keep a copy of a program, in memory now and on the disk soon; waits for no file. A second put of a key replaces the
/// first. HOB_RESULT_LIMIT_EXCEEDED: it is larger than the memory limit; what the key had stays. What is banned is not
/// kept, and that is no error. Threads: shared.
HOB_API
hob_result hob_program_cache_put(const hob_program_cache *cache,
                                 const hob_fingerprint *key,
                                 const hob_program *program);

/// Remove a program from memory and disk; none is fine. Threads: shared.
HOB_API hob_result hob_program_cache_remove(const hob_program_cache *cache, const hob_fingerprint *key);

/// Forget all programs and statuses in memory; with `disk_too` not 0 also what the disk has for this environment.
/// Threads: shared.
HOB_API hob_result hob_program_cache_clear(const hob_program_cache *cache, uint32_t disk_too);

/// Evict until memory holds at most `most_bytes`. The limit stays. Threads: shared.
HOB_API hob_result hob_program_cache_trim(const hob_program_cache *cache, uint64_t most_bytes);

/// Change what memory and disk may take, see hob_program_cache_desc. Memory gives up at once what it may not have any more;
/// the disk in the background. Threads: shared.
HOB_API
hob_result hob_program_cache_set_limits(const hob_program_cache *cache,
                                        uint64_t memory_limit,
                                        uint64_t disk_limit);

/// Do what a hob_memory_pressure asks for, each time the system says so. Threads: shared.
HOB_API hob_result hob_program_cache_memory_pressure(const hob_program_cache *cache, uint32_t pressure);

/// Put a key into the start-up set (`marked` not 0) or take it out: what is in there is loaded before all else, at the
/// next start too: hob_program_cache_flush writes the set, and destroy does. The key need not have been put. Threads:
/// shared.
HOB_API
hob_result hob_program_cache_mark_startup(const hob_program_cache *cache,
                                          const hob_fingerprint *key,
                                          uint32_t marked);

/// Note that a shader has compiled, before any program of it is put. 65 536 shaders of which memory has no program are
/// remembered; with more, all of those are forgotten. Threads: shared.
HOB_API hob_result hob_program_cache_shader_compiled(const hob_program_cache *cache, const hob_fingerprint *shader);

/// `*out_is_known` gets 1 if the shader is known to compile, so that compiling it may be put off until a program of it is
/// missed; else 0. Threads: shared.
HOB_API
hob_result hob_program_cache_shader_status(const hob_program_cache *cache,
                                           const hob_fingerprint *shader,
                                           uint32_t *out_is_known);

/// `*out_programs` gets the number of programs in memory that vouch for the shader. Threads: shared.
HOB_API
hob_result hob_program_cache_shader_programs(const hob_program_cache *cache,
                                             const hob_fingerprint *shader,
                                             uint32_t *out_programs);

/// `*out_is_known` gets 1 if the program is in memory, so that it is known to link; else 0. It is not used by that, nor
/// looked for on the disk. Threads: shared.
HOB_API
hob_result hob_program_cache_program_status(const hob_program_cache *cache,
                                            const hob_fingerprint *key,
                                            uint32_t *out_is_known);

/// Note that the driver is about to see the program of `key`, which need not have been put: to be ended by
/// hob_program_cache_use_end after the first frame drawn with it, since drivers compile late. A process that is gone before
/// that has died of it, and leaves a strike, even if it went by exit; hob_program_cache_destroy ends all uses, and nothing
/// is to blame. HOB_RESULT_UNSUPPORTED: the key is banned; build it from source, and neither use nor put its binary. One
/// small write to a file. The first use makes the file, and waits for other processes that are about to make or to count
/// theirs, a quarter of a second at most: one that is ended with HOB_USE_OUTCOME_UNUSED while a game loads spares a frame
/// that. Threads: shared.
HOB_API
hob_result hob_program_cache_use_begin(const hob_program_cache *cache,
                                       const hob_fingerprint *key,
                                       hob_use *out_use);

/// End a use with a hob_use_outcome: one small write to a file, and another where a strike is taken back. A rejected
/// program is removed; one that was put since the use began stays, unless memory had none then: that it is another cannot
/// be told in that case. HOB_RESULT_NOT_FOUND: the use has ended already, or is another cache's. Threads: shared.
HOB_API
hob_result hob_program_cache_use_end(const hob_program_cache *cache,
                                     hob_use use_,
                                     uint32_t outcome);

/// `*out_strikes` gets the strikes of a key: use one that has any by itself. Threads: shared.
HOB_API
hob_result hob_program_cache_strikes(const hob_program_cache *cache,
                                     const hob_fingerprint *key,
                                     uint32_t *out_strikes);

/// Lift the strikes of a key; NULL: of all keys, of all environments of the directory. Waits for a small file; with
/// HOB_PROGRAM_CACHE_READ_ONLY they are lifted for this cache alone. Threads: shared.
HOB_API hob_result hob_program_cache_forgive(const hob_program_cache *cache, const hob_fingerprint *key);

/// Do on this thread, and await where others do it, what is to be read and written: for loading screens and tests.
/// HOB_RESULT_BUSY when that was not done within `timeout_us` microseconds; a piece of work that this thread has begun by
/// then is ended first. Threads: shared.
HOB_API
hob_result hob_program_cache_wait_idle(const hob_program_cache *cache,
                                       uint64_t timeout_us);

/// Write all that was put, which programs were used, and the start-up set, and wait until a loss of power cannot lose it,
/// for `timeout_us` microseconds at most but for a piece of work that this thread has begun by then. After it a process may
/// end by _exit if no use is open: one that is would count as a death. HOB_RESULT_BUSY when the time did not suffice,
/// HOB_RESULT_IO when something that was put since the last flush could not be written, told once. Threads: shared.
HOB_API
hob_result hob_program_cache_flush(const hob_program_cache *cache,
                                   uint64_t timeout_us);

/// How far loading has come: of `*out_total` programs, 0 until the directory was opened, `*out_loaded` were looked at.
/// Threads: shared.
HOB_API hob_result hob_program_cache_loading(const hob_program_cache *cache, uint64_t *out_loaded, uint64_t *out_total);

/// Why programs are not read, not written or not noted, as a sentence without a NUL; empty if nothing is wrong.
/// `*out_size` gets the bytes needed. With `buffer` NULL that is all; with `capacity` too small the result is
/// HOB_RESULT_BUFFER_TOO_SMALL and the buffer is left alone. Threads: shared.
HOB_API
hob_result hob_program_cache_trouble(const hob_program_cache *cache,
                                     char *buffer,
                                     size_t capacity,
                                     size_t *out_size);

/// Fill in defaults; `size` is sizeof(hob_program_cache_statistics). Usually by HOB_PROGRAM_CACHE_STATISTICS_INIT.
HOB_API hob_result hob_program_cache_statistics_init(hob_program_cache_statistics *statistics, uint32_t size);

/// Fill in defaults; `size` is sizeof(hob_histogram). Usually by HOB_HISTOGRAM_INIT.
HOB_API hob_result hob_histogram_init(hob_histogram *histogram, uint32_t size);

/// All that was counted. Looks at every program in memory to add up `memory_used`, and puts wait until it has: not for
/// every frame. Threads: shared.
HOB_API
hob_result hob_program_cache_get_statistics(const hob_program_cache *cache,
                                            hob_program_cache_statistics *statistics);

/// How what was measured is spread; `measure` is a hob_program_cache_measure. Threads: shared.
HOB_API
hob_result hob_program_cache_histogram(const hob_program_cache *cache,
                                       uint32_t measure,
                                       hob_histogram *histogram);

/// The buckets of a histogram that hold something, from low to high. `bucket_stride` is sizeof(hob_histogram_bucket).
/// `*out_count` gets their number. With `buckets` NULL that is all; with `capacity` too small the result is
/// HOB_RESULT_BUFFER_TOO_SMALL and `buckets` is left alone. Threads: shared.
HOB_API
hob_result hob_program_cache_histogram_buckets(const hob_program_cache *cache,
                                               uint32_t measure,
                                               hob_histogram_bucket *buckets,
                                               size_t bucket_stride,
                                               size_t capacity,
                                               size_t *out_count);

/// Take a value into a histogram, for hosts that measure links and compiles themselves: the first three measures count by
/// themselves, the others when a hob_program_manager works and there is a clock hook. Threads: shared.
HOB_API
hob_result hob_program_cache_record(const hob_program_cache *cache,
                                    uint32_t measure,
                                    uint64_t value);

/// All that was counted and measured, as a JSON object without a NUL, whose names docs/formats.md explains; the two-call
/// protocol of hob_program_cache_trouble. As hob_program_cache_get_statistics not for every frame. Threads: shared.
HOB_API
hob_result hob_program_cache_report(const hob_program_cache *cache,
                                    char *buffer,
                                    size_t capacity,
                                    size_t *out_size);

/// Fill in defaults; `size` is sizeof(hob_program_miss). Usually by HOB_PROGRAM_MISS_INIT.
HOB_API hob_result hob_program_miss_init(hob_program_miss *miss, uint32_t size);

/// Remember what the program of `key` was made from, for hob_program_cache_why_missed; NULL: of the key that
/// hob_fingerprint_program gives. Does nothing unless hob_program_cache_desc.described_keys says so. Once for each program
/// that is built; a hob_program_manager does it by itself. Waits for no file. Threads: shared.
HOB_API
hob_result hob_program_cache_describe(const hob_program_cache *cache,
                                      const hob_fingerprint *key,
                                      const hob_program_key_desc *desc);

/// In what a program that was missed differs from the one most like it of those that are described, here or, if there is a
/// directory, by earlier processes, also for other environments. Ask before describing it. HOB_RESULT_NOT_FOUND: none is
/// described. Looks at each that is: not for every frame. Threads: shared.
HOB_API
hob_result hob_program_cache_why_missed(const hob_program_cache *cache,
                                        const hob_program_key_desc *desc,
                                        hob_program_miss *miss);

/// Look for programs in a bundle, too, after the directory and the bundles that came before: a file that
/// hob_program_cache_write_bundle has made, for the same environment. It is only ever read, and its start-up set becomes part
/// of the cache's. The head of the file is read here (HOB_RESULT_IO, HOB_RESULT_MALFORMED), all else in the background;
/// it is left open until the cache is destroyed. If it turns out to be damaged, or to have nothing for this environment,
/// hob_program_cache_trouble says so. What is removed is not found in it any more by this cache, and by the next one it is.
/// Threads: shared.
HOB_API
hob_result hob_program_cache_add_bundle(const hob_program_cache *cache,
                                        hob_str path);

/// hob_program_cache_add_bundle for one that is in memory, out of an archive for instance; a copy is kept until the cache
/// is destroyed. Threads: shared.
HOB_API
hob_result hob_program_cache_add_bundle_bytes(const hob_program_cache *cache,
                                              const void *data,
                                              size_t size);

/// Write programs into a bundle; `contents` is a hob_bundle_contents. `*out_programs` gets their number; NULL is fine. The
/// same programs make the same file. One that is there already is replaced when the new one is whole; on failure nothing
/// is (HOB_RESULT_NOT_FOUND: there is no program). Waits for files, and for what was put to be written: for build machines.
/// Threads: shared.
HOB_API
hob_result hob_program_cache_write_bundle(const hob_program_cache *cache,
                                          hob_str path,
                                          uint32_t contents,
                                          uint64_t *out_programs);

/// Fill in defaults; `size` is sizeof(hob_program_driver). Usually by HOB_PROGRAM_DRIVER_INIT.
HOB_API hob_result hob_program_driver_init(hob_program_driver *driver, uint32_t size);

/// Fill in defaults; `size` is sizeof(hob_program_link_desc). Usually by HOB_PROGRAM_LINK_DESC_INIT.
HOB_API hob_result hob_program_link_desc_init(hob_program_link_desc *desc, uint32_t size);

/// Fill in defaults; `size` is sizeof(hob_program_linked). Usually by HOB_PROGRAM_LINKED_INIT.
HOB_API hob_result hob_program_linked_init(hob_program_linked *linked, uint32_t size);

/// Create a manager of a cache; `driver` needs compile, link and load (HOB_RESULT_INVALID_ARGUMENT). Destroy it before the
/// cache: what it saves after that stays in memory, which it keeps. `*out_manager` is written on success, and is then the
/// caller's to destroy; on failure nothing is released. Threads: any.
HOB_NODISCARD HOB_API
hob_result hob_program_manager_create(const hob_program_cache *cache,
                                      const hob_program_driver *driver,
                                      hob_program_manager **out_manager);

/// Destroy a manager with its shaders. Programs stay in the cache. NULL is fine. Threads: no other call on it may run.
HOB_API void hob_program_manager_destroy(hob_program_manager *manager);

/// The sentence of the last call on this manager that failed, on whatever thread. Valid until the next one fails.
/// Threads: not beside another call on it.
HOB_NODISCARD HOB_API const char *hob_program_manager_last_error(const hob_program_manager *manager);

/// Add a shader without source. `stage` is a hob_shader_stage or a number of the host's own; `object` is what
/// hob_program_driver.compile is given, such as the API's name for it. HOB_RESULT_INVALID_ARGUMENT: the stage is neither.
/// Threads: exclusive.
HOB_API
hob_result hob_program_manager_add_shader(hob_program_manager *manager,
                                          uint32_t stage,
                                          void *object,
                                          hob_shader *out_shader);

/// Remove a shader. Programs that were linked from it stay. HOB_RESULT_NOT_FOUND: the manager has no such shader.
/// Threads: exclusive.
HOB_API hob_result hob_program_manager_remove_shader(hob_program_manager *manager, hob_shader shader);

/// Give a shader a source, to be copied. What was compiled before stays compiled until hob_program_manager_compile.
/// HOB_RESULT_NOT_FOUND: the manager has no such shader. Threads: exclusive.
HOB_API
hob_result hob_program_manager_set_source(hob_program_manager *manager,
                                          hob_shader shader,
                                          const void *source,
                                          size_t size);

/// Compile a shader's present source, or put it off if it is known to compile. The source of this moment is what counts in
/// links from here on. `*out_state` gets a hob_shader_state, `*out_driver_code` what a compile that failed said, else 0;
/// either may be NULL. HOB_RESULT_UNSUPPORTED: the driver did not compile it, which is not noted. HOB_RESULT_NOT_FOUND: the
/// manager has no such shader. Calls the driver back. Threads: exclusive.
HOB_API
hob_result hob_program_manager_compile(hob_program_manager *manager,
                                       hob_shader shader,
                                       uint32_t *out_state,
                                       uint32_t *out_driver_code);

/// Link a program: from the cache if that is possible, else by compiling what was put off, linking, and saving it once.
/// `*linked` is written also when the driver failed (HOB_RESULT_UNSUPPORTED), and says what it said; nothing is saved then.
/// Calls the driver back. HOB_RESULT_NOT_FOUND: the manager has no such shader. HOB_RESULT_INVALID_ARGUMENT: a shader was
/// never compiled, did not compile or is there twice, there is none, or `desc->key` has stages. Threads: exclusive.
HOB_API
hob_result hob_program_manager_link(hob_program_manager *manager,
                                    const hob_program_link_desc *desc,
                                    hob_program_linked *linked);

/// A DawnStoreCacheDataFunction: keep `value_size` bytes under a key of `key_size` bytes. `cache` is a hob_program_cache,
/// to be given as functionUserdata. What cannot be kept is dropped. No use begins or ends: of what is kept here and by
/// hob_egl_blob_set nothing is ever banned, and a blob that takes the process down may do so again. Threads: any.
HOB_API
void hob_dawn_blob_store(const void *key,
                         size_t key_size,
                         const void *value,
                         size_t value_size,
                         void *cache);

/// A DawnLoadCacheDataFunction: the size of what is in memory under a key, 0 if nothing is. With a NULL `value` that is
/// all, and this thread may count on it when it comes back with a `value`; then it is copied, and 0 means that it does not
/// fit. `cache` is a hob_program_cache, to be given as functionUserdata. Never waits for a file. Threads: any.
HOB_API
size_t hob_dawn_blob_load(const void *key,
                          size_t key_size,
                          void *value,
                          size_t value_size,
                          void *cache);

/// Make `cache` the one behind hob_egl_blob_set and hob_egl_blob_get, for the whole process; NULL: none is. Destroying it
/// ends that. Give the two functions to eglSetBlobCacheFuncsANDROID; some drivers listen only once a context is current.
/// Threads: shared.
HOB_API
hob_result hob_program_cache_bind_egl(const hob_program_cache *cache);

/// An EGLSetBlobFuncANDROID: keep a blob in the bound cache; as hob_dawn_blob_store, and as little is it ever banned.
/// Threads: any.
HOB_API void hob_egl_blob_set(const void *key, ptrdiff_t key_size, const void *value, ptrdiff_t value_size);

/// An EGLGetBlobFuncANDROID: the size of a blob in the bound cache, 0 if it has none; as hob_dawn_blob_load. (The
/// extension would have the size of a blob that does not fit, too. Mesa makes room for 64 KiB and takes any answer but 0
/// for bytes that it has.) Threads: any.
HOB_API
ptrdiff_t hob_egl_blob_get(const void *key,
                           ptrdiff_t key_size,
                           void *value,
                           ptrdiff_t value_size);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

/// A hob_program_cache_desc with defaults, of this header's size.
static inline hob_program_cache_desc hob_program_cache_desc_default(void) {
    hob_program_cache_desc value;
    (void)hob_program_cache_desc_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_PROGRAM_CACHE_DESC_INIT (hob_program_cache_desc_default())

/// A hob_program with defaults, of this header's size.
static inline hob_program hob_program_default(void) {
    hob_program value;
    (void)hob_program_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_PROGRAM_INIT (hob_program_default())

/// A hob_blob with defaults, of this header's size.
static inline hob_blob hob_blob_default(void) {
    hob_blob value;
    (void)hob_blob_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_BLOB_INIT (hob_blob_default())

/// A hob_program_cache_statistics with defaults, of this header's size.
static inline hob_program_cache_statistics hob_program_cache_statistics_default(void) {
    hob_program_cache_statistics value;
    (void)hob_program_cache_statistics_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_PROGRAM_CACHE_STATISTICS_INIT (hob_program_cache_statistics_default())

/// A hob_histogram with defaults, of this header's size.
static inline hob_histogram hob_histogram_default(void) {
    hob_histogram value;
    (void)hob_histogram_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_HISTOGRAM_INIT (hob_histogram_default())

/// A hob_program_miss with defaults, of this header's size.
static inline hob_program_miss hob_program_miss_default(void) {
    hob_program_miss value;
    (void)hob_program_miss_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_PROGRAM_MISS_INIT (hob_program_miss_default())

/// A hob_program_driver with defaults, of this header's size.
static inline hob_program_driver hob_program_driver_default(void) {
    hob_program_driver value;
    (void)hob_program_driver_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_PROGRAM_DRIVER_INIT (hob_program_driver_default())

/// A hob_program_link_desc with defaults, of this header's size.
static inline hob_program_link_desc hob_program_link_desc_default(void) {
    hob_program_link_desc value;
    (void)hob_program_link_desc_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_PROGRAM_LINK_DESC_INIT (hob_program_link_desc_default())

/// A hob_program_linked with defaults, of this header's size.
static inline hob_program_linked hob_program_linked_default(void) {
    hob_program_linked value;
    (void)hob_program_linked_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_PROGRAM_LINKED_INIT (hob_program_linked_default())

#endif  // HOBGOBLIN_PROGRAM_CACHE_H
