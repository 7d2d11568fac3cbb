// hobgoblin/base.h: Results, strings, versions and hooks: the basis of all other headers.
//
// Every header follows the same rules.
//
// Results. A function that can fail returns a hob_result. hob_last_error() then has a sentence that says what is wrong
// and what to do. After a failure nothing has changed, unless the function says otherwise. Pointers must not be NULL,
// unless it says that they may.
//
//     hob_profile *profile = NULL;
//     if (hob_profile_create(NULL, &profile) != HOB_RESULT_OK) fprintf(stderr, "%s\n", hob_last_error());
//
// Names. Functions of a handle are `hob_<handle>_<verb>`. `get_` and `set_` are for properties; a getter writes its
// answer to `out_` parameters. A noun as a name also means a getter: hob_goblin_choice returns its answer,
// hob_goblin_choices writes it.
//
// Handles. `hob_x_create` makes a handle, `hob_x_destroy` destroys it; destroying NULL is allowed. A destroyed handle,
// or a handle of another type, usually gives HOB_RESULT_INVALID_ARGUMENT; do not rely on that. Ids such as
// hob_setting_id name parts of a handle: all zero is no id, and the id of a removed part gives HOB_RESULT_NOT_FOUND.
//
// A function that returns a value directly returns 0 or an empty text on failure; hob_last_error has the reason.
//
// Threads. Each function says which calls on one handle may run at the same time:
// - Shared: the function takes the handle as const. Shared calls may run on several threads at once.
// - Exclusive: the handle is not const. No other call on it may run, except those marked "any".
// - Any: on any thread at any time, also during an exclusive call.
//
// A shared or exclusive call during another thread's exclusive call returns HOB_RESULT_BUSY and does nothing. An
// exclusive call that starts while a shared call runs is not detected: its behaviour is undefined. Different handles
// are independent. The library starts no thread unless an executor (executor.h) is told to.
//
// Ownership:
//
// | what | rule |
// |---|---|
// | text, arrays and structs passed in | read during the call; what is kept is copied |
// | `out_` parameters | written only on success; the required size also if the buffer is too small |
// | buffers | the caller's. Pass NULL for the required size, then a buffer; with one, `out_size` may be NULL |
// | views that are given out | the function says how long they are valid |
// | `user_data` with a `release` | the library's after success: it calls `release(user_data)` once; else the caller's |
// | `user_data` without one | the caller's |
//
// Structs. The first field, `struct_size`, is sizeof the struct; it tells the library which header the caller was
// compiled with. It is the only field that must always be set: the others may be zero, unless a field or a function
// says otherwise. Array elements have a stride instead. Structs with neither, such as hob_str, hob_fingerprint and
// ids, never change. In a struct of parameters 0 means the default, unless the field says that 0 is a value.
// HOB_X_INIT sets all defaults. It is a call, so in C it cannot initialise a static variable. To set no limit, use
// HUGE_VAL (double) or the largest value of the field's integer type.
//
// A struct of an older header is accepted; the fields that it lacks have their defaults. A struct_size below the
// struct's first released size gives HOB_RESULT_INVALID_ARGUMENT. A struct of a newer header is accepted if the fields
// that this library does not know are 0; otherwise the result is HOB_RESULT_UNSUPPORTED. A `reserved` field that is
// not 0 gives the same. In answers the library sets those fields to 0. Pass sizeof the element as a stride; a stride
// of 0 means the element's size in its first release.
//
// Callbacks. They use the C calling convention (cdecl). They run on the thread that made the call, unless their
// documentation says otherwise, and in its floating-point environment. They must return on that thread. No exception,
// of C++ or of a managed language, may leave them, and no longjmp: the handle would stay busy for ever.
//
// Inside a callback, const functions on the same handle work, and destroy takes effect when the running call returns.
// All others return HOB_RESULT_BUSY, unless the callback's documentation says otherwise. In this header's hooks, call
// no function on the running call's handle: if that call is exclusive, they return HOB_RESULT_BUSY.
//
// Processes and signals. Threads and locks of the library do not survive a fork. A child of fork() may use only
// handles that it creates itself, and must not destroy those of the parent. No function may be called from a signal
// handler.
//
// Panics. An internal error never leaves the library: the call returns HOB_RESULT_PANIC. If it was an exclusive call,
// its handle is poisoned: it still answers const calls from its last good state.
//
// Generated from src/ffi/base; do not edit. MIT OR Apache-2.0.

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

/// Marks stable functions: from 1.0 on they and their types never change.
/// Until then CHANGELOG.md lists the changes.
#define HOB_API HOB_IMPORT
/// Marks experimental functions: they and their types may change at any release.
#define HOB_EXPERIMENTAL_API HOB_IMPORT

/// Marks functions whose result must be used.
#if defined(__cplusplus) && __cplusplus >= 201703L
#define HOB_NODISCARD [[nodiscard]]
#elif defined(__GNUC__)
#define HOB_NODISCARD __attribute__((warn_unused_result))
#else
#define HOB_NODISCARD
#endif

/// The header's major version.
/// hob_version() returns the library's.
#define HOB_VERSION_MAJOR 0
/// The header's minor version.
#define HOB_VERSION_MINOR 1
/// The header's patch version.
#define HOB_VERSION_PATCH 0
/// Packs a version into a number, in ascending order.
#define HOB_MAKE_VERSION(major, minor, patch) \
    (((uint32_t)(major) << 22) | ((uint32_t)(minor) << 12) | (uint32_t)(patch))
/// The header's version, as HOB_MAKE_VERSION.
#define HOB_VERSION HOB_MAKE_VERSION(HOB_VERSION_MAJOR, HOB_VERSION_MINOR, HOB_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

// ---- Results and strings --------------------------------------------------------------------------------------------

/// The result of a function that can fail.
/// 0 is success; codes are only appended. hob_last_error() has the sentence that belongs to a failure.
typedef enum hob_result {
    /// Success.
    HOB_RESULT_OK = 0,
    /// An argument is invalid, and nothing was changed. Or a callback returned an invalid value.
    HOB_RESULT_INVALID_ARGUMENT = 1,
    /// It does not exist, or was removed. Nothing was changed.
    HOB_RESULT_NOT_FOUND = 2,
    /// A limit of the handle would be exceeded. Nothing was changed.
    HOB_RESULT_LIMIT_EXCEEDED = 3,
    /// Out of memory. Nothing was changed.
    HOB_RESULT_OUT_OF_MEMORY = 4,
    /// The bytes are not in the expected format. Nothing was changed.
    HOB_RESULT_MALFORMED = 5,
    /// Not possible with this version, build or machine, or with this kind of handle.
    HOB_RESULT_UNSUPPORTED = 6,
    /// Another call on the handle is running: on another thread, or on this one, around a callback. Or another process
    /// keeps changing the files.
    HOB_RESULT_BUSY = 7,
    /// The buffer is too small. Only the required size was written.
    HOB_RESULT_BUFFER_TOO_SMALL = 8,
    /// A file operation failed.
    HOB_RESULT_IO = 9,
    /// An internal error was caught; the sentence has file and line. A handle that was being changed is poisoned.
    /// Please report it.
    HOB_RESULT_PANIC = 10,
    /// An earlier call on this handle ended in HOB_RESULT_PANIC. Const functions still answer from the last good
    /// state; all others do nothing. Destroy the handle and create a new one when convenient.
    HOB_RESULT_POISONED = 11,
    /// The time was too short: some work still waits. Call again, or allow more time.
    HOB_RESULT_TIMEOUT = 12,
    /// The program is banned: the process ended too often while it was in use. Build it from source.
    HOB_RESULT_BANNED = 13,
    /// The driver failed to compile a shader or to link a program.
    HOB_RESULT_BUILD_FAILED = 14,
    /// The last frames do not agree, or not enough of them are known yet.
    HOB_RESULT_NO_CONSENSUS = 15,
    /// A cognition failed: hob_perception_get_failure has its message.
    HOB_RESULT_COGNITION_FAILED = 16,
} hob_result;

/// Text that is passed in: UTF-8, `len` bytes, no NUL needed.
/// With `len` SIZE_MAX, `data` ends in NUL. `data` may be NULL when `len` is 0. The library copies what it keeps. See
/// HOB_STR and hob_str_of.
typedef struct hob_str {
    /// The first byte.
    const char *data;
    /// Bytes, without a NUL; SIZE_MAX: `data` ends in NUL.
    size_t len;
} hob_str;

// ---- Experimental: Values -------------------------------------------------------------------------------------------

/// 16 bytes whose meaning is the host's: a value between the nodes of a graph, or the value of a perception.
/// Larger data is a handle of the host in these bytes. All 16 bytes count: set those that are not used to 0, as
/// `hob_value value = {{0}};` and hob_value_of_number do.
typedef union hob_value {
    /// Two numbers.
    double numbers[2];
    /// One number: the first of `numbers`.
    double number;
    /// Four numbers of single precision.
    float vector[4];
    /// An integer.
    int64_t integer;
    /// Two words. HOB_CUTOFF_GENERATION of graph.h compares the second one.
    uint64_t words[2];
    /// A pointer of the host.
    void *pointer;
    /// All bytes.
    uint8_t bytes[16];
} hob_value;

// ---- Versions and errors --------------------------------------------------------------------------------------------

/// The version of the ABI.
/// It rises when programs compiled against an older header no longer work with the library.
#define HOB_ABI_VERSION 1

/// Returns the library's version, as HOB_MAKE_VERSION(major, minor, patch).
/// HOB_VERSION is the header's. Threads: any.
HOB_NODISCARD HOB_API uint32_t hob_version(void);

/// Returns the library's HOB_ABI_VERSION, which must equal the header's.
/// Threads: any.
HOB_NODISCARD HOB_API uint32_t hob_abi_version(void);

/// Returns the name of a result: "HOB_RESULT_OK" and so on, "HOB_RESULT_UNKNOWN" for an unknown number.
/// The text is static and ends in NUL. Threads: any.
HOB_NODISCARD HOB_API const char *hob_result_name(hob_result result);

/// Returns the sentence of the last call that failed on this thread: the mistake, and how to correct it.
/// It is empty if no call has failed; a call that succeeds leaves it unchanged. Handles keep their own sentence as well
/// (hob_goblin_last_error and so on), for hosts whose fibers change threads. The text ends in NUL and is valid until
/// the next failure on this thread. Threads: any.
HOB_NODISCARD HOB_API const char *hob_last_error(void);

// ---- Log ------------------------------------------------------------------------------------------------------------

/// How important a log line is.
typedef enum hob_log_level {
    /// Details, for finding a fault.
    HOB_LOG_LEVEL_DEBUG = 0,
    /// Worth knowing.
    HOB_LOG_LEVEL_INFO = 1,
    /// Something is wrong; the library goes on.
    HOB_LOG_LEVEL_WARNING = 2,
    /// Something failed.
    HOB_LOG_LEVEL_ERROR = 3,
} hob_log_level;

/// Receives log lines.
/// Without this hook they are dropped: the library never prints.
typedef struct hob_log_hook {
    /// sizeof(hob_log_hook).
    uint32_t struct_size;
    /// Lines below this level are dropped. HOB_LOG_HOOK_INIT sets HOB_LOG_LEVEL_INFO. 0 is a value,
    /// HOB_LOG_LEVEL_DEBUG: a zeroed struct receives everything.
    hob_log_level minimum_level;
    /// Passed to `write`.
    void *user_data;
    /// Receives one line of at most 512 bytes, without a line end. `line.data` ends in NUL and is valid during the
    /// call. Runs on any thread that runs library code, perhaps on several at once, inside a call: call no function on
    /// that call's handle.
    void (*write)(void *user_data, hob_log_level level, hob_str line);
} hob_log_hook;

/// Sets the log hook; NULL: none.
/// The struct is copied; a NULL `write` means none. Keep the previous `user_data` until all calls that began before
/// have returned. Threads: any.
HOB_API hob_result hob_set_log_hook(const hob_log_hook *hook);

// ---- Clock and profiler ---------------------------------------------------------------------------------------------

/// A clock for measured times: hob_decision_details.elapsed_ns, and build times of a hob_program_manager.
/// Without this hook they stay 0. Timeouts and time budgets use it too, or the operating system's clock without it.
/// hob_goblin_update never reads the operating system's.
typedef struct hob_clock_hook {
    /// sizeof(hob_clock_hook).
    uint32_t struct_size;
    /// Must be 0.
    uint32_t reserved;
    /// Passed to `now_ns`.
    void *user_data;
    /// Returns monotonic nanoseconds. Runs on any thread that runs library code, perhaps on several at once.
    uint64_t (*now_ns)(void *user_data);
} hob_clock_hook;

/// Sets the clock hook; NULL: none.
/// The struct is copied. Threads: while no other call runs, otherwise one duration may be measured with two clocks.
HOB_API hob_result hob_set_clock_hook(const hob_clock_hook *hook);

/// Receives profiler zones: the library's larger steps, by name.
typedef struct hob_zone_hook {
    /// sizeof(hob_zone_hook).
    uint32_t struct_size;
    /// Must be 0.
    uint32_t reserved;
    /// Passed to `begin` and `end`.
    void *user_data;
    /// A zone begins on this thread. `name` ends in NUL and lives as long as the library.
    void (*begin)(void *user_data, const char *name);
    /// The innermost zone of this thread ends.
    void (*end)(void *user_data);
} hob_zone_hook;

/// Sets the profiler hook; NULL: none.
/// The struct is copied. Threads: while no other call runs, otherwise a zone may begin in one profiler and end in
/// another.
HOB_API hob_result hob_set_zone_hook(const hob_zone_hook *hook);

// ---- Allocator ------------------------------------------------------------------------------------------------------

/// The host's allocator.
/// Only in builds with the feature `host-allocator`, which packaged builds have.
typedef struct hob_allocator_hook {
    /// sizeof(hob_allocator_hook).
    uint32_t struct_size;
    /// Must be 0.
    uint32_t reserved;
    /// Passed to `allocate` and `free`.
    void *user_data;
    /// Returns `size` bytes (never 0), at a multiple of `alignment`, a power of two. NULL: out of memory; the call that
    /// needed it returns HOB_RESULT_OUT_OF_MEMORY. Runs on any thread that runs library code, perhaps on several at
    /// once; must not call the library.
    void *(*allocate)(void *user_data, size_t size, size_t alignment);
    /// Takes back memory of `allocate`, with the same size and alignment.
    void (*free)(void *user_data, void *memory, size_t size, size_t alignment);
} hob_allocator_hook;

/// Sets the allocator; NULL: the system's.
/// The struct is copied; both functions must be set. HOB_RESULT_BUSY while the library holds any memory: destroy all
/// handles, release all blobs, and let posted tasks run first. HOB_RESULT_UNSUPPORTED in a build without the feature
/// `host-allocator`. Threads: while no other call runs.
HOB_API hob_result hob_set_allocator_hook(const hob_allocator_hook *hook);

// ---- Initialisers ---------------------------------------------------------------------------------------------------
//
// HOB_X_INIT is a hob_x with the library's defaults and this header's size: `hob_x value = HOB_X_INIT;`
// hob_x_init does the same for other languages: `size` is sizeof(hob_x).

HOB_API hob_result hob_log_hook_init(hob_log_hook *value, uint32_t size);
static inline hob_log_hook hob_log_hook_default(void) {
    hob_log_hook value;
    (void)hob_log_hook_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_LOG_HOOK_INIT (hob_log_hook_default())

HOB_API hob_result hob_clock_hook_init(hob_clock_hook *value, uint32_t size);
static inline hob_clock_hook hob_clock_hook_default(void) {
    hob_clock_hook value;
    (void)hob_clock_hook_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_CLOCK_HOOK_INIT (hob_clock_hook_default())

HOB_API hob_result hob_zone_hook_init(hob_zone_hook *value, uint32_t size);
static inline hob_zone_hook hob_zone_hook_default(void) {
    hob_zone_hook value;
    (void)hob_zone_hook_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_ZONE_HOOK_INIT (hob_zone_hook_default())

HOB_API hob_result hob_allocator_hook_init(hob_allocator_hook *value, uint32_t size);
static inline hob_allocator_hook hob_allocator_hook_default(void) {
    hob_allocator_hook value;
    (void)hob_allocator_hook_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_ALLOCATOR_HOOK_INIT (hob_allocator_hook_default())

#ifdef __cplusplus
}  // extern "C"
#endif

/* Enums must have 32 bits: compile without -fshort-enums. */
typedef char hob_enums_have_32_bits[sizeof(hob_result) == 4 ? 1 : -1];

/// Makes a hob_str of `size` bytes at `data`.
static inline hob_str hob_str_of(const char *data, size_t size) {
    hob_str text;
    text.data = data;
    text.len = size;
    return text;
}

/// Makes a hob_str of text that ends in NUL; NULL: an empty one.
static inline hob_str hob_str_from(const char *text) {
    return hob_str_of(text, text ? SIZE_MAX : 0);
}

/// A hob_str of a string literal, as an initialiser: for variables, fields and static tables.
#define HOB_STR_INIT(literal) {"" literal, sizeof(literal) - 1}

/// A hob_str of a string literal, as an expression: for arguments and assignments.
/// In C++ also for static tables.
#if defined(__cplusplus)
#define HOB_STR(literal) hob_str HOB_STR_INIT(literal)
#else
#define HOB_STR(literal) ((hob_str)HOB_STR_INIT(literal))
#endif

/// Makes a hob_value of a number.
static inline hob_value hob_value_of_number(double number) {
    hob_value value = {{0, 0}};
    value.number = number;
    return value;
}

/// Makes a hob_value of a pointer.
static inline hob_value hob_value_of_pointer(void *pointer) {
    hob_value value = {{0, 0}};
    value.pointer = pointer;
    return value;
}

#endif  // HOBGOBLIN_BASE_H
