// hobgoblin/store.h: The files that caches are kept in, where they are not the operating system's.
// Generated from src/ffi/store.rs; do not edit. MIT OR Apache-2.0.

#ifndef HOBGOBLIN_STORE_H
#define HOBGOBLIN_STORE_H

#include "base.h"

/// A host's own file system in place of the operating system's: a console's save data, an archive, memory. For
/// hob_program_cache_desc.file_io. What hob_file_hook is for whole small files, this is for those that grow.
///
/// All functions but `close`, `unlock` and `release` return a hob_result: HOB_RESULT_OK, or
/// - HOB_RESULT_NOT_FOUND: there is nothing of that name, or no such directory;
/// - HOB_RESULT_BUSY, by `create`: there is something of that name; by `try_lock`: somebody else has the lock;
/// - HOB_RESULT_LIMIT_EXCEEDED: there is no room left;
/// - HOB_RESULT_UNSUPPORTED: it may not be written;
/// - HOB_RESULT_OUT_OF_MEMORY;
/// - HOB_RESULT_IO, or any other number: it failed.
///
/// Paths are the cache's directory, whatever the host understands by that, then '/' and a name of ASCII letters, digits,
/// '.' and '-', and for strikes the directory `quarantine` in between; paths of bundles are passed on unchanged. On Windows
/// each backslash becomes a '/'. They end in NUL and are valid during the call.
///
/// Threads: functions are called on whatever thread works for the cache (docs/threads.md says when), several at once, but of
/// one file one at a time. They may wait as long as they like: what waits for them is said there, too. They return on the
/// thread on which they were called, and call nothing of this library but `add`: what they call is not done, and answered
/// with HOB_RESULT_BUSY. While they wait they may run what hob_executor_desc.enqueue was given, but not what `post` was.
///
/// What they answer is not believed further than it can be checked: what is damaged, or was never written, costs a miss.
typedef struct {
    /// sizeof(hob_file_io); set by hob_file_io_init.
    uint32_t struct_size;
    /// Zero.
    uint32_t reserved;
    void *user_data;
    /// Call `add(names, name)` for every file in a directory, without the directory's own name; stop and fail when that
    /// fails. Names that are none of the library's do not matter.
    uint32_t (*list)(void *user_data, hob_str directory, hob_result (*add)(void *names, hob_str name), void *names);
    /// Make a directory, and what is missing above it; one that exists is fine.
    uint32_t (*create_directory)(void *user_data, hob_str directory);
    /// Open a file that exists, to be read. Some 80 are open at a time at most, and one for each bundle.
    uint32_t (*open)(void *user_data, hob_str path, void **out_file);
    /// Make a file that does not exist yet, to be written and read.
    uint32_t (*create)(void *user_data, hob_str path, void **out_file);
    /// Close what `open` or `create` gave. Called exactly once for each.
    void (*close)(void *user_data, void *file);
    /// The file's length in bytes.
    uint32_t (*size)(void *user_data, void *file, uint64_t *out_size);
    /// Read up to `size` bytes at `offset`; `*out_read` is at least 1 unless the file ended.
    uint32_t (*read)(void *user_data, void *file, uint64_t offset, void *data, size_t size, size_t *out_read);
    /// Write all of `size` bytes at `offset`, which is at most the file's length. When it returns they must outlive the
    /// process. Of one that fails any part may be there.
    uint32_t (*write)(void *user_data, void *file, uint64_t offset, const void *data, size_t size);
    /// Cut off what is beyond `size`.
    uint32_t (*truncate)(void *user_data, void *file, uint64_t size);
    /// Wait until what was written is safe from a loss of power.
    uint32_t (*sync)(void *user_data, void *file);
    /// Rename a file, replacing `to` if it exists; at once (a crash leaves the one or the other). `from` may be open.
    uint32_t (*rename)(void *user_data, hob_str from, hob_str to);
    /// Delete a file. One that is open goes when it is closed at the latest; until then reading it may work or fail.
    uint32_t (*remove)(void *user_data, hob_str path);
    /// Wait until the names in a directory are safe from a loss of power. NULL: they are when the file is.
    uint32_t (*sync_directory)(void *user_data, hob_str directory);
    /// Take a lock that is called so, without waiting; it ends with `unlock`, or with the process. There may be a file of
    /// that name or not; if `try_lock` makes one it may be listed, and `remove` is called for it while the lock is held.
    /// NULL: this process is the only one that uses the directory, and what it finds there was left by one that died.
    /// Caches of this process find each other if they have the same `user_data` and `open`.
    uint32_t (*try_lock)(void *user_data, hob_str path, void **out_lock);
    /// Let go of what `try_lock` gave. Called exactly once for each.
    void (*unlock)(void *user_data, void *lock);
    /// Called exactly once for each cache that was created with this, when none of the above is called for it any more: before
    /// hob_program_cache_destroy returns or, where a hob_program_manager of it lives, the destroy of the last one. May be NULL.
    void (*release)(void *user_data);
} hob_file_io;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/// Fill in defaults; `size` is sizeof(hob_file_io). Usually by HOB_FILE_IO_INIT.
HOB_API hob_result hob_file_io_init(hob_file_io *io, uint32_t size);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

/// A hob_file_io with defaults, of this header's size.
static inline hob_file_io hob_file_io_default(void) {
    hob_file_io value;
    (void)hob_file_io_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_FILE_IO_INIT (hob_file_io_default())

#endif  // HOBGOBLIN_STORE_H
