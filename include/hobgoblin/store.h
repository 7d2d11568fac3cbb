// hobgoblin/store.h: Callbacks for a file system of the host: save data of a console, an archive, memory.
//
//     hob_file_io io = HOB_FILE_IO_INIT;
//     io.user_data = disk;
//     io.list = list; io.create_directory = create_directory; io.open = open_file; io.create = create_file;
//     io.close = close_file; io.size = size_of; io.read = read_at; io.write = write_at; io.truncate = truncate_at;
//     io.sync = sync_file; io.rename = rename_file; io.remove = remove_file;
//     desc.directory = HOB_STR("shaders");
//     desc.file_io = &io; /* a hob_program_cache_desc; the struct is copied */
//
// The callbacks may be called on several threads at once. examples/host_files.c is an example.
//
// Generated from src/ffi/store; do not edit. MIT OR Apache-2.0.

#ifndef HOBGOBLIN_STORE_H
#define HOBGOBLIN_STORE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- File system ----------------------------------------------------------------------------------------------------

/// The callbacks of a file system.
/// Optional, and NULL if absent: `sync_directory`, `release`, and the pair `try_lock` and `unlock`. All others must be
/// set.
///
/// `close`, `unlock` and `release` return nothing. The others return a hob_result, as a uint32_t so that any number is
/// allowed:
/// - HOB_RESULT_OK: success.
/// - HOB_RESULT_NOT_FOUND: the file or its directory does not exist.
/// - HOB_RESULT_BUSY: of `create`, the name is in use; of `try_lock`, another holder has the lock.
/// - HOB_RESULT_LIMIT_EXCEEDED: the file system is full.
/// - HOB_RESULT_UNSUPPORTED: no permission to write.
/// - HOB_RESULT_OUT_OF_MEMORY: out of memory. The function of the library may then return it, too.
/// - HOB_RESULT_IO, or any other number: another failure.
///
/// Paths begin with the directory that the cache was created with. Then follow '/' and a name of ASCII letters, digits,
/// '.' and '-'. The subdirectory `quarantine` holds open uses and strikes. Paths of bundles are passed on as given. On
/// Windows, each backslash of any path becomes a '/'. Paths end in NUL and are valid during the call.
///
/// Threads: callbacks run on the threads that work for the cache; docs/threads.md lists them. Several may run at once,
/// but only one at a time for one file. They may block. They must not call the library, except `add`: other calls
/// return HOB_RESULT_BUSY. While they wait, they may run jobs of your job system, but no tasks of
/// hob_executor_desc.post.
///
/// The library checks all contents that it reads. Damaged or missing data is a cache miss. Caches that share a
/// directory cannot reserve space here: each one that writes while others do may exceed `disk_limit` by a 32nd. A flush
/// notices files that were deleted, but not a directory that was replaced by a copy.
typedef struct hob_file_io {
    /// sizeof(hob_file_io).
    uint32_t struct_size;
    /// Must be 0.
    uint32_t reserved;
    /// Passed to all callbacks.
    void *user_data;
    /// Calls `add(names, name)` for each file of a directory, on this thread. `name` is without the directory. If `add`
    /// fails, `list` must stop and fail. Files of other programs are ignored. HOB_RESULT_NOT_FOUND if the directory
    /// does not exist: the library takes it as empty, and creates nothing to read.
    uint32_t (*list)(void *user_data, hob_str directory, hob_result (*add)(void *names, hob_str name), void *names);
    /// Creates a directory and all missing directories above it. Succeeds if the directory exists. The library calls it
    /// before its first write there, or when `create` or `try_lock` returns HOB_RESULT_NOT_FOUND; then it tries again.
    uint32_t (*create_directory)(void *user_data, hob_str directory);
    /// Opens an existing file for reading. HOB_RESULT_NOT_FOUND if the file or its directory does not exist. A cache
    /// keeps about 80 files open, and one more for each bundle.
    uint32_t (*open)(void *user_data, hob_str path, void **out_file);
    /// Creates a new file for reading and writing. HOB_RESULT_BUSY if the file exists. HOB_RESULT_NOT_FOUND if its
    /// directory does not exist: create no directory here.
    uint32_t (*create)(void *user_data, hob_str path, void **out_file);
    /// Closes a file of `open` or `create`. Called exactly once for each.
    void (*close)(void *user_data, void *file);
    /// Gets the size of a file in bytes.
    uint32_t (*size)(void *user_data, void *file, uint64_t *out_size);
    /// Reads up to `size` bytes at `offset`. `*out_read` is at least 1, or 0 at the end of the file.
    uint32_t (*read)(void *user_data, void *file, uint64_t offset, void *data, size_t size, size_t *out_read);
    /// Writes `size` bytes at `offset`, which is at most the size of the file. After success, the bytes must survive a
    /// crash of the process. After a failure, any part of them may be in the file.
    uint32_t (*write)(void *user_data, void *file, uint64_t offset, const void *data, size_t size);
    /// Cuts a file to `size` bytes.
    uint32_t (*truncate)(void *user_data, void *file, uint64_t size);
    /// Waits until the written bytes survive a loss of power.
    uint32_t (*sync)(void *user_data, void *file);
    /// Renames a file and replaces `to` if it exists. Atomic: a crash leaves the old `to` or the new one. `from` may be
    /// open.
    uint32_t (*rename)(void *user_data, hob_str from, hob_str to);
    /// Deletes a file. An open file may disappear now or at `close`. Reads of it may fail from now on.
    uint32_t (*remove)(void *user_data, hob_str path);
    /// Like `sync`, for the names of a directory: created, renamed and removed ones. NULL: `sync` of a file covers its
    /// name.
    uint32_t (*sync_directory)(void *user_data, hob_str directory);
    /// Takes the lock of a name without waiting. `unlock` or the end of the process releases it. The lock may be a file
    /// of that name: `list` may list it, and `remove` is called for it while the lock is held.
    ///
    /// NULL, together with `unlock`: no other process may use the directory. A second one would take this process for a
    /// crashed one: it would delete files in use, and add strikes for open uses. Caches of this process share locks if
    /// `user_data` and `open` are equal.
    uint32_t (*try_lock)(void *user_data, hob_str path, void **out_lock);
    /// Releases a lock of `try_lock`. Called exactly once for each.
    void (*unlock)(void *user_data, void *lock);
    /// Called exactly once per cache, after the last call of the other callbacks. That is before
    /// hob_program_cache_destroy returns, or before the destroy function of the last hob_program_manager of the cache
    /// returns. May be NULL.
    void (*release)(void *user_data);
} hob_file_io;

// ---- Initialisers ---------------------------------------------------------------------------------------------------
//
// HOB_X_INIT is a hob_x with the library's defaults and this header's size: `hob_x value = HOB_X_INIT;`
// hob_x_init does the same for other languages: `size` is sizeof(hob_x).

HOB_API hob_result hob_file_io_init(hob_file_io *value, uint32_t size);
static inline hob_file_io hob_file_io_default(void) {
    hob_file_io value;
    (void)hob_file_io_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_FILE_IO_INIT (hob_file_io_default())

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HOBGOBLIN_STORE_H
