//! `store.h`: the files that caches are kept in.

use std::ffi::c_void;

use hobgoblin_macros::versioned;

use super::base::result::hob_result;
use super::base::text::hob_str;

pub mod host_io;

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
#[versioned(size = 144, last = release)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_file_io {
    /// sizeof(hob_file_io); set by hob_file_io_init.
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    pub user_data: *mut c_void,
    /// Call `add(names, name)` for every file in a directory, without the directory's own name; stop and fail when that
    /// fails. Names that are none of the library's do not matter.
    pub list: Option<
        extern "C" fn(
            user_data: *mut c_void,
            directory: hob_str,
            add: Option<unsafe extern "C" fn(names: *mut c_void, name: hob_str) -> hob_result>,
            names: *mut c_void,
        ) -> u32,
    >,
    /// Make a directory, and what is missing above it; one that exists is fine.
    pub create_directory: Option<extern "C" fn(user_data: *mut c_void, directory: hob_str) -> u32>,
    /// Open a file that exists, to be read. Some 80 are open at a time at most, and one for each bundle.
    pub open: Option<extern "C" fn(user_data: *mut c_void, path: hob_str, out_file: *mut *mut c_void) -> u32>,
    /// Make a file that does not exist yet, to be written and read.
    pub create: Option<extern "C" fn(user_data: *mut c_void, path: hob_str, out_file: *mut *mut c_void) -> u32>,
    /// Close what `open` or `create` gave. Called exactly once for each.
    pub close: Option<extern "C" fn(user_data: *mut c_void, file: *mut c_void)>,
    /// The file's length in bytes.
    pub size: Option<extern "C" fn(user_data: *mut c_void, file: *mut c_void, out_size: *mut u64) -> u32>,
    /// Read up to `size` bytes at `offset`; `*out_read` is at least 1 unless the file ended.
    pub read: Option<
        extern "C" fn(
            user_data: *mut c_void,
            file: *mut c_void,
            offset: u64,
            data: *mut c_void,
            size: usize,
            out_read: *mut usize,
        ) -> u32,
    >,
    /// Write all of `size` bytes at `offset`, which is at most the file's length. When it returns they must outlive the
    /// process. Of one that fails any part may be there.
    pub write: Option<
        extern "C" fn(user_data: *mut c_void, file: *mut c_void, offset: u64, data: *const c_void, size: usize) -> u32,
    >,
    /// Cut off what is beyond `size`.
    pub truncate: Option<extern "C" fn(user_data: *mut c_void, file: *mut c_void, size: u64) -> u32>,
    /// Wait until what was written is safe from a loss of power.
    pub sync: Option<extern "C" fn(user_data: *mut c_void, file: *mut c_void) -> u32>,
    /// Rename a file, replacing `to` if it exists; at once (a crash leaves the one or the other). `from` may be open.
    pub rename: Option<extern "C" fn(user_data: *mut c_void, from: hob_str, to: hob_str) -> u32>,
    /// Delete a file. One that is open goes when it is closed at the latest; until then reading it may work or fail.
    pub remove: Option<extern "C" fn(user_data: *mut c_void, path: hob_str) -> u32>,
    /// Wait until the names in a directory are safe from a loss of power. NULL: they are when the file is.
    pub sync_directory: Option<extern "C" fn(user_data: *mut c_void, directory: hob_str) -> u32>,
    /// Take a lock that is called so, without waiting; it ends with `unlock`, or with the process. There may be a file of
    /// that name or not; if `try_lock` makes one it may be listed, and `remove` is called for it while the lock is held.
    /// NULL: this process is the only one that uses the directory, and what it finds there was left by one that died.
    /// Caches of this process find each other if they have the same `user_data` and `open`.
    pub try_lock: Option<extern "C" fn(user_data: *mut c_void, path: hob_str, out_lock: *mut *mut c_void) -> u32>,
    /// Let go of what `try_lock` gave. Called exactly once for each.
    pub unlock: Option<extern "C" fn(user_data: *mut c_void, lock: *mut c_void)>,
    /// Called exactly once for each cache that was created with this, when none of the above is called for it any more: before
    /// hob_program_cache_destroy returns or, where a hob_program_manager of it lives, the destroy of the last one. May be NULL.
    pub release: Option<extern "C" fn(user_data: *mut c_void)>,
}
