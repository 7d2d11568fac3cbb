// hobgoblin/base.h: Results, strings, versions and hooks: what every other header stands on.
// Generated from src/ffi/base.rs; do not edit. MIT OR Apache-2.0.

#ifndef HOBGOBLIN_BASE_H
#define HOBGOBLIN_BASE_H

#include <stddef.h>
#include <stdint.h>

/* Define HOB_STATIC when linking the static library on Windows. */
#if defined(_WIN32) && !defined(HOB_STATIC)
#define HOB_IMPORT __declspec(dllimport)
#else
#define HOB_IMPORT
#endif

/* Stable functions. Until 1.0 every function may still change. */
#define HOB_API HOB_IMPORT
/* Functions that may change at any release. */
#define HOB_EXPERIMENTAL_API HOB_IMPORT

#if defined(__cplusplus) && __cplusplus >= 201703L
#define HOB_NODISCARD [[nodiscard]]
#elif defined(__GNUC__)
#define HOB_NODISCARD __attribute__((warn_unused_result))
#else
#define HOB_NODISCARD
#endif

/* The header's version; hob_version() is the library's. */
#define HOB_VERSION_MAJOR 0
#define HOB_VERSION_MINOR 1
#define HOB_VERSION_PATCH 0
#define HOB_MAKE_VERSION(major, minor, patch) \
    (((uint32_t)(major) << 22) | ((uint32_t)(minor) << 12) | (uint32_t)(patch))
#define HOB_VERSION HOB_MAKE_VERSION(HOB_VERSION_MAJOR, HOB_VERSION_MINOR, HOB_VERSION_PATCH)

/// Raised whenever a program compiled against an older header would no longer work with this library.
#define HOB_ABI_VERSION 1

/// hob_file_hook.open: an existing file, to read.
#define HOB_FILE_READ 1

/// hob_file_hook.open: a new or emptied file, to write.
#define HOB_FILE_WRITE 2

/// What a function that can fail returns. 0 is success; codes are only ever appended.
/// The sentence that belongs to a failure is in hob_last_error().
typedef enum {
    /// It worked.
    HOB_RESULT_OK = 0,
    /// An argument, or what a callback gave, is outside what the function accepts. Nothing was changed by arguments.
    HOB_RESULT_INVALID_ARGUMENT = 1,
    /// The thing named does not exist, or no longer does. Nothing was changed.
    HOB_RESULT_NOT_FOUND = 2,
    /// A limit of the handle would be exceeded. Nothing was changed.
    HOB_RESULT_LIMIT_EXCEEDED = 3,
    /// Memory could not be had. Nothing was changed.
    HOB_RESULT_OUT_OF_MEMORY = 4,
    /// Bytes read do not have the format they should have. Nothing was changed.
    HOB_RESULT_MALFORMED = 5,
    /// This version, build or machine cannot do that.
    HOB_RESULT_UNSUPPORTED = 6,
    /// The handle is inside a call that has not returned: on another thread, or on this one, below a callback.
    HOB_RESULT_BUSY = 7,
    /// The buffer is too small; the size needed was written. Nothing else was.
    HOB_RESULT_BUFFER_TOO_SMALL = 8,
    /// A file operation failed.
    HOB_RESULT_IO = 9,
    /// An internal error was caught. The sentence has file and line. A handle that was being changed is poisoned.
    /// Please report it.
    HOB_RESULT_PANIC = 10,
    /// An earlier call on this handle ended in HOB_RESULT_PANIC. Const functions go on answering from the last good
    /// state; all others do nothing. Destroy the handle and create a new one when convenient.
    HOB_RESULT_POISONED = 11,
} hob_result;

/// How much a log line matters.
typedef enum {
    /// For those who look for a fault.
    HOB_LOG_LEVEL_DEBUG = 0,
    /// Worth knowing.
    HOB_LOG_LEVEL_INFO = 1,
    /// Something is not as it should be; the library goes on.
    HOB_LOG_LEVEL_WARNING = 2,
    /// Something failed.
    HOB_LOG_LEVEL_ERROR = 3,
} hob_log_level;

/// Text that is passed in: UTF-8, `len` bytes, no NUL needed. `len` SIZE_MAX: `data` ends in NUL.
/// `data` may be NULL when `len` is 0. The library copies what it keeps. See HOB_STR and hob_str_of.
typedef struct {
    const char *data;
    size_t len;
} hob_str;

/// Where log lines go. Without this hook they go nowhere: the library never prints.
typedef struct {
    /// sizeof(hob_log_hook); set by hob_log_hook_init.
    uint32_t struct_size;
    /// Lines below this hob_log_level are not formatted to the hook. Default HOB_LOG_LEVEL_INFO.
    uint32_t minimum_level;
    void *user_data;
    /// Takes one line of at most 512 bytes, without a line end; `line.data` ends in NUL and is valid during the call.
    /// Called on the thread that calls the library, from inside the call: functions on the same handle answer
    /// HOB_RESULT_BUSY.
    void (*write)(void *user_data, uint32_t level, hob_str line);
} hob_log_hook;

/// A clock for the figures that need one: hob_decision.elapsed_ns, and what a hob_program_manager measures. Without this
/// hook they stay 0. Timeouts and budgets of calls that have one go by this clock, too, and without this hook by the
/// operating system's. Beside that only what a program cache does with files reads that one, to name them and know their
/// age, and to wait for another process no longer than it should. hob_goblin_update, hob_program_cache_get and
/// hob_program_cache_put never do.
typedef struct {
    /// sizeof(hob_clock_hook); set by hob_clock_hook_init.
    uint32_t struct_size;
    /// Zero.
    uint32_t reserved;
    void *user_data;
    /// Monotonic nanoseconds. Called on the thread that calls the library.
    uint64_t (*now_ns)(void *user_data);
} hob_clock_hook;

/// Zones for a profiler: the library's larger steps, named.
typedef struct {
    /// sizeof(hob_zone_hook); set by hob_zone_hook_init.
    uint32_t struct_size;
    /// Zero.
    uint32_t reserved;
    void *user_data;
    /// A zone begins on this thread. `name` ends in NUL and lives as long as the library.
    void (*begin)(void *user_data, const char *name);
    /// The innermost zone of this thread ends.
    void (*end)(void *user_data);
} hob_zone_hook;

/// The host's own file layer (a console's, a pak's) in place of the operating system's. Paths are passed on unchanged.
/// Each function returns 0 for success or any other number, which the error sentence repeats. Called on the thread that
/// calls the library, and only by functions whose name ends in _file.
typedef struct {
    /// sizeof(hob_file_hook); set by hob_file_hook_init.
    uint32_t struct_size;
    /// Zero.
    uint32_t reserved;
    void *user_data;
    /// Open `path` with HOB_FILE_READ or HOB_FILE_WRITE.
    uint32_t (*open)(void *user_data, hob_str path, uint32_t mode, void **out_file);
    /// Close what open gave. Called exactly once for each.
    void (*close)(void *user_data, void *file);
    /// The file's length in bytes.
    uint32_t (*size)(void *user_data, void *file, uint64_t *out_size);
    /// Read up to `size` bytes at `offset`; `*out_read` is at least 1 unless the file ended.
    uint32_t (*read)(void *user_data, void *file, uint64_t offset, void *data, size_t size, size_t *out_read);
    /// Write up to `size` bytes at `offset`; `*out_written` is at least 1.
    uint32_t (*write)(void *user_data, void *file, uint64_t offset, const void *data, size_t size, size_t *out_written);
    /// Wait until what was written is safe. May be NULL.
    uint32_t (*sync)(void *user_data, void *file);
    /// Rename, replacing `to` if it exists; at once (a crash leaves the one or the other).
    uint32_t (*rename)(void *user_data, hob_str from, hob_str to);
    /// Delete.
    uint32_t (*remove)(void *user_data, hob_str path);
} hob_file_hook;

/// The host's allocator. Only in builds with the feature `host-allocator`, which packaged builds have.
typedef struct {
    /// sizeof(hob_allocator_hook); set by hob_allocator_hook_init.
    uint32_t struct_size;
    /// Zero.
    uint32_t reserved;
    void *user_data;
    /// `size` bytes (never 0), `alignment` a power of two; NULL when there is no memory: the call that needed it then
    /// returns HOB_RESULT_OUT_OF_MEMORY. Called on whatever thread calls the library; must not call the library.
    void *(*allocate)(void *user_data, size_t size, size_t alignment);
    /// Give back what allocate gave, with the same size and alignment.
    void (*free)(void *user_data, void *memory, size_t size, size_t alignment);
} hob_allocator_hook;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/// The library's version, as HOB_MAKE_VERSION(major, minor, patch). Compare with HOB_VERSION, the header's.
/// Threads: any.
HOB_NODISCARD HOB_API uint32_t hob_version(void);

/// The library's HOB_ABI_VERSION: it must equal the header's. Threads: any.
HOB_NODISCARD HOB_API uint32_t hob_abi_version(void);

/// The name of a result, "HOB_RESULT_OK" and so on; "HOB_RESULT_UNKNOWN" for a number that is none.
/// Returns static text that ends in NUL. Threads: any.
HOB_NODISCARD HOB_API const char *hob_result_name(uint32_t result);

/// The sentence of the last call that failed on this thread: what happened, and what to do. Empty when none has.
/// A call that works leaves it as it is. Each handle keeps its own besides (hob_goblin_last_error and so on), for hosts
/// whose fibers change threads.
/// Returns text that ends in NUL and is valid until the next failure on this thread. Threads: any.
HOB_NODISCARD HOB_API const char *hob_last_error(void);

/// Fill in defaults; `size` is sizeof(hob_log_hook). Usually by HOB_LOG_HOOK_INIT.
HOB_API hob_result hob_log_hook_init(hob_log_hook *hook, uint32_t size);

/// Fill in defaults; `size` is sizeof(hob_clock_hook). Usually by HOB_CLOCK_HOOK_INIT.
HOB_API hob_result hob_clock_hook_init(hob_clock_hook *hook, uint32_t size);

/// Fill in defaults; `size` is sizeof(hob_zone_hook). Usually by HOB_ZONE_HOOK_INIT.
HOB_API hob_result hob_zone_hook_init(hob_zone_hook *hook, uint32_t size);

/// Fill in defaults; `size` is sizeof(hob_file_hook). Usually by HOB_FILE_HOOK_INIT.
HOB_API hob_result hob_file_hook_init(hob_file_hook *hook, uint32_t size);

/// Fill in defaults; `size` is sizeof(hob_allocator_hook). Usually by HOB_ALLOCATOR_HOOK_INIT.
HOB_API hob_result hob_allocator_hook_init(hob_allocator_hook *hook, uint32_t size);

/// Set where log lines go; NULL: nowhere. Copied.
/// Threads: any, at any time; another thread may be inside the hook that is replaced, so keep what it uses until then.
HOB_API hob_result hob_set_log_hook(const hob_log_hook *hook);

/// Lend a clock; NULL: none. Copied. Threads: no other call may run, or a duration is measured with two clocks.
HOB_API hob_result hob_set_clock_hook(const hob_clock_hook *hook);

/// Set where profiler zones go; NULL: nowhere. Copied. Threads: no other call may run, or a zone begins in one profiler
/// and ends in another.
HOB_API hob_result hob_set_zone_hook(const hob_zone_hook *hook);

/// Lend a file layer; NULL: the operating system's. Copied. With any function, `open` and `close` must be set. Threads:
/// as hob_set_log_hook.
HOB_API hob_result hob_set_file_hook(const hob_file_hook *hook);

/// Set the allocator; NULL: the system's. Copied. Both functions must be set.
/// Returns HOB_RESULT_BUSY while the library holds any memory: destroy all handles, release all blobs and let posted tasks
/// run first. Returns HOB_RESULT_UNSUPPORTED in a build without the feature `host-allocator`.
/// Threads: no other call may run.
HOB_API
hob_result hob_set_allocator_hook(const hob_allocator_hook *hook);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

/// A hob_str of `size` bytes at `data`.
static inline hob_str hob_str_of(const char *data, size_t size) {
    hob_str text;
    text.data = data;
    text.len = size;
    return text;
}

/// A hob_str of text that ends in NUL.
static inline hob_str hob_str_from(const char *text) {
    return hob_str_of(text, text ? SIZE_MAX : 0);
}

/// A hob_str of a string literal.
#define HOB_STR(literal) hob_str_of("" literal, sizeof(literal) - 1)

/// A hob_log_hook with defaults, of this header's size.
static inline hob_log_hook hob_log_hook_default(void) {
    hob_log_hook value;
    (void)hob_log_hook_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_LOG_HOOK_INIT (hob_log_hook_default())

/// A hob_clock_hook with defaults, of this header's size.
static inline hob_clock_hook hob_clock_hook_default(void) {
    hob_clock_hook value;
    (void)hob_clock_hook_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_CLOCK_HOOK_INIT (hob_clock_hook_default())

/// A hob_zone_hook with defaults, of this header's size.
static inline hob_zone_hook hob_zone_hook_default(void) {
    hob_zone_hook value;
    (void)hob_zone_hook_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_ZONE_HOOK_INIT (hob_zone_hook_default())

/// A hob_file_hook with defaults, of this header's size.
static inline hob_file_hook hob_file_hook_default(void) {
    hob_file_hook value;
    (void)hob_file_hook_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_FILE_HOOK_INIT (hob_file_hook_default())

/// A hob_allocator_hook with defaults, of this header's size.
static inline hob_allocator_hook hob_allocator_hook_default(void) {
    hob_allocator_hook value;
    (void)hob_allocator_hook_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_ALLOCATOR_HOOK_INIT (hob_allocator_hook_default())

#endif  // HOBGOBLIN_BASE_H
