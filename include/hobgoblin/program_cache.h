// hobgoblin/program_cache.h: Program binaries in memory and on the disk, so that nothing is compiled twice.
// Generated from src/ffi/program_cache*.rs; do not edit. MIT OR Apache-2.0.

#ifndef HOBGOBLIN_PROGRAM_CACHE_H
#define HOBGOBLIN_PROGRAM_CACHE_H

#include "base.h"
#include "executor.h"
#include "fingerprint.h"

/// hob_program_cache_desc.flags: write nothing to the directory.
#define HOB_PROGRAM_CACHE_READ_ONLY 1

/// hob_program_cache_desc.flags: compress what is written (LZ4).
#define HOB_PROGRAM_CACHE_COMPRESS 2

/// hob_program_cache_desc.flags: load only what was missed, nothing ahead of need.
#define HOB_PROGRAM_CACHE_LOAD_LAZILY 4

/// hob_program_cache_desc.flags: programs of the start-up set leave memory after all others.
#define HOB_PROGRAM_CACHE_KEEP_STARTUP_SET 8

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
    /// Much: memory is emptied. What the disk has stays there.
    HOB_MEMORY_PRESSURE_CRITICAL = 2,
} hob_memory_pressure;

/// How a use of a program ended.
typedef enum {
    /// The first frame with it was drawn.
    HOB_USE_OUTCOME_OK = 0,
    /// The driver would not have it. It is removed, from the disk too.
    HOB_USE_OUTCOME_REJECTED = 1,
} hob_use_outcome;

/// Programs in memory and, if it has a directory, on the disk. All functions but create and destroy may be called from
/// several threads at once. A handle; see docs/ownership.md.
typedef struct hob_program_cache hob_program_cache;

/// Parameters of a program cache.
typedef struct {
    /// sizeof(hob_program_cache_desc); set by hob_program_cache_desc_init.
    uint32_t struct_size;
    /// A hob_eviction. Default HOB_EVICTION_COST_AWARE.
    uint32_t eviction;
    /// Where programs outlive the process: a directory that processes may share, made when the first program is written.
    /// On Unix any bytes, elsewhere UTF-8. Empty: memory alone.
    hob_str directory;
    /// The driver, device and build that programs are for: others' are never loaded. NULL: none told apart.
    const hob_environment *environment;
    /// Whose background lane reads and writes; kept until the cache is destroyed. NULL: nothing happens in the background,
    /// but in hob_program_cache_wait_idle, hob_program_cache_get_wait, hob_program_cache_flush and destroy.
    const hob_executor *executor;
    /// Bytes in memory, keys included. Default 64 MiB. 0 keeps nothing.
    uint64_t memory_limit;
    /// Bytes on the disk for each environment. Default 512 MiB.
    uint64_t disk_limit;
    /// Bytes that may wait to be written; what is put beyond is not written. Default 256 MiB.
    uint64_t waiting_limit;
    /// Programs that were not used for so many seconds leave the disk. Default 30 days.
    uint32_t max_age_seconds;
    /// Strikes that ban a program: it takes one when the process dies while it is in use. 0: none is banned. Default 2.
    uint32_t ban_at;
    /// HOB_PROGRAM_CACHE_READ_ONLY and the like.
    uint32_t flags;
    /// Zero.
    uint32_t reserved;
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
    const void *data;
    size_t size;
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
/// destroy. Threads: any.
HOB_NODISCARD HOB_API
hob_result hob_program_cache_create(const hob_program_cache_desc *desc,
                                    hob_program_cache **out_cache);

/// Destroy a cache, after writing what still waits: this may wait for files. Views stay valid. NULL is fine.
/// Threads: no other call on it may run.
HOB_API void hob_program_cache_destroy(hob_program_cache *cache);

/// Get a program from memory: never waits for a file, copies nothing, takes no memory. HOB_RESULT_NOT_FOUND: build it.
/// HOB_RESULT_UNSUPPORTED: build it, and always will; its binary is banned, see hob_program_cache_use_begin.
/// What is missed and on the disk is brought in the background, for the next time. A view that `*blob` still held is
/// released first. Threads: shared.
HOB_API hob_result hob_program_cache_get(const hob_program_cache *cache, const hob_fingerprint *key, hob_blob *blob);

/// hob_program_cache_get that waits up to `timeout_us` microseconds for the disk: for loading screens.
/// HOB_RESULT_BUSY: the time did not suffice. Threads: shared.
HOB_API
hob_result hob_program_cache_get_wait(const hob_program_cache *cache,
                                      const hob_fingerprint *key,
                                      uint64_t timeout_us,
                                      hob_blob *blob);

/// Let go of a view; NULL, or a blob without one, is fine. Threads: any; the blob is exclusive.
HOB_API void hob_blob_release(hob_blob *blob);

/// Keep a copy of a program, in memory now and on the disk soon. A second put of a key replaces the first.
/// HOB_RESULT_LIMIT_EXCEEDED: it is larger than the memory limit; what the key had stays. What is banned is not kept, and
/// that is no error.
/// Threads: shared.
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

/// Do what a hob_memory_pressure asks for, each time the system says so. Threads: shared.
HOB_API hob_result hob_program_cache_memory_pressure(const hob_program_cache *cache, uint32_t pressure);

/// Put a key into the start-up set (`marked` not 0) or take it out: what is in there is loaded before all else, at the
/// next start too. Threads: shared.
HOB_API
hob_result hob_program_cache_mark_startup(const hob_program_cache *cache,
                                          const hob_fingerprint *key,
                                          uint32_t marked);

/// Note that a shader has compiled, before any program of it is put. Threads: shared.
HOB_API hob_result hob_program_cache_shader_compiled(const hob_program_cache *cache, const hob_fingerprint *shader);

/// `*out_is_known` gets 1 if the shader is known to compile, so that compiling it may be put off until a program of it is
/// missed; else 0. Threads: shared.
HOB_API
hob_result hob_program_cache_shader_status(const hob_program_cache *cache,
                                           const hob_fingerprint *shader,
                                           uint32_t *out_is_known);

/// Note that the driver is about to see the program of `key`: to be ended by hob_program_cache_use_end after the first
/// frame drawn with it, since drivers compile late. A process that dies in between leaves a strike. HOB_RESULT_UNSUPPORTED:
/// the key is banned; build it from source, and neither use nor put its binary. One small write to a file. Threads: shared.
HOB_API
hob_result hob_program_cache_use_begin(const hob_program_cache *cache,
                                       const hob_fingerprint *key,
                                       hob_use *out_use);

/// End a use with a hob_use_outcome. A rejected program is removed. HOB_RESULT_NOT_FOUND: it has ended already.
/// Threads: shared.
HOB_API hob_result hob_program_cache_use_end(const hob_program_cache *cache, hob_use use_, uint32_t outcome);

/// `*out_strikes` gets the strikes of a key: use one that has any by itself. Threads: shared.
HOB_API
hob_result hob_program_cache_strikes(const hob_program_cache *cache,
                                     const hob_fingerprint *key,
                                     uint32_t *out_strikes);

/// Lift the strikes of a key; NULL: of all. Waits for a small file. Threads: shared.
HOB_API hob_result hob_program_cache_forgive(const hob_program_cache *cache, const hob_fingerprint *key);

/// Do on this thread, and await where others do it, what is to be read and written: for loading screens and tests.
/// HOB_RESULT_BUSY when that was not done within `timeout_us` microseconds. Threads: shared.
HOB_API hob_result hob_program_cache_wait_idle(const hob_program_cache *cache, uint64_t timeout_us);

/// Write all that was put, and wait until a loss of power cannot lose it, for `timeout_us` microseconds at most.
/// HOB_RESULT_IO when something could not be written. Threads: shared.
HOB_API hob_result hob_program_cache_flush(const hob_program_cache *cache, uint64_t timeout_us);

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

/// All that was counted and measured, as a JSON object without a NUL; the two-call protocol of hob_program_cache_trouble.
/// Threads: shared.
HOB_API
hob_result hob_program_cache_report(const hob_program_cache *cache,
                                    char *buffer,
                                    size_t capacity,
                                    size_t *out_size);

/// A DawnStoreCacheDataFunction: keep `value_size` bytes under a key of `key_size` bytes. `cache` is a hob_program_cache,
/// to be given as functionUserdata. What cannot be kept is dropped. Threads: any.
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

/// An EGLSetBlobFuncANDROID: keep a blob in the bound cache. Threads: any.
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

#endif  // HOBGOBLIN_PROGRAM_CACHE_H
