// hobgoblin/store.h: Callbacks for a file system of the host: save data of a console, an archive, memory.
// Generated from abi/hobgoblin-api.json; do not edit. MIT OR Apache-2.0.

using System;
using System.Runtime.InteropServices;

namespace Hobgoblin.Interop
{
    /// <summary>The callbacks of a file system.</summary>
    /// <remarks>
    /// Optional, and NULL if absent: <c>sync_directory</c>, <c>release</c>, and the pair <c>try_lock</c> and <c>unlock</c>. All others must be
    /// set.
    /// <para/>
    /// <c>close</c>, <c>unlock</c> and <c>release</c> return nothing. The others return a hob_result, as a uint32_t so that any number is
    /// allowed:
    /// - HOB_RESULT_OK: success.
    /// - HOB_RESULT_NOT_FOUND: the file or its directory does not exist.
    /// - HOB_RESULT_BUSY: of <c>create</c>, the name is in use; of <c>try_lock</c>, another holder has the lock.
    /// - HOB_RESULT_LIMIT_EXCEEDED: the file system is full.
    /// - HOB_RESULT_UNSUPPORTED: no permission to write.
    /// - HOB_RESULT_OUT_OF_MEMORY: out of memory. The function of the library may then return it, too.
    /// - HOB_RESULT_IO, or any other number: another failure.
    /// <para/>
    /// Paths begin with the directory that the cache was created with. Then follow '/' and a name of ASCII letters, digits,
    /// '.' and '-'. The subdirectory <c>quarantine</c> holds open uses and strikes. Paths of bundles are passed on as given. On
    /// Windows, each backslash of any path becomes a '/'. Paths end in NUL and are valid during the call.
    /// <para/>
    /// Threads: callbacks run on the threads that work for the cache; docs/threads.md lists them. Several may run at once,
    /// but only one at a time for one file. They may block. They must not call the library, except <c>add</c>: other calls
    /// return HOB_RESULT_BUSY. While they wait, they may run jobs of your job system, but no tasks of
    /// hob_executor_desc.post.
    /// <para/>
    /// The library checks all contents that it reads. Damaged or missing data is a cache miss. Caches that share a
    /// directory cannot reserve space here: each one that writes while others do may exceed <c>disk_limit</c> by a 32nd. A flush
    /// notices files that were deleted, but not a directory that was replaced by a copy.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_file_io
    {
        /// <summary>sizeof(hob_file_io).</summary>
        public uint struct_size;

        /// <summary>Must be 0.</summary>
        public uint reserved;

        /// <summary>Passed to all callbacks.</summary>
        public void* user_data;

        /// <summary>Calls <c>add(names, name)</c> for each file of a directory, on this thread. <c>name</c> is without the directory. If <c>add</c>
        /// fails, <c>list</c> must stop and fail. Files of other programs are ignored. HOB_RESULT_NOT_FOUND if the directory
        /// does not exist: the library takes it as empty, and creates nothing to read.</summary>
        public IntPtr list;

        /// <summary>Creates a directory and all missing directories above it. Succeeds if the directory exists. The library calls it
        /// before its first write there, or when <c>create</c> or <c>try_lock</c> returns HOB_RESULT_NOT_FOUND; then it tries again.</summary>
        public IntPtr create_directory;

        /// <summary>Opens an existing file for reading. HOB_RESULT_NOT_FOUND if the file or its directory does not exist. A cache
        /// keeps about 80 files open, and one more for each bundle.</summary>
        public IntPtr open;

        /// <summary>Creates a new file for reading and writing. HOB_RESULT_BUSY if the file exists. HOB_RESULT_NOT_FOUND if its
        /// directory does not exist: create no directory here.</summary>
        public IntPtr create;

        /// <summary>Closes a file of <c>open</c> or <c>create</c>. Called exactly once for each.</summary>
        public IntPtr close;

        /// <summary>Gets the size of a file in bytes.</summary>
        public IntPtr size;

        /// <summary>Reads up to <c>size</c> bytes at <c>offset</c>. <c>*out_read</c> is at least 1, or 0 at the end of the file.</summary>
        public IntPtr read;

        /// <summary>Writes <c>size</c> bytes at <c>offset</c>, which is at most the size of the file. After success, the bytes must survive a
        /// crash of the process. After a failure, any part of them may be in the file.</summary>
        public IntPtr write;

        /// <summary>Cuts a file to <c>size</c> bytes.</summary>
        public IntPtr truncate;

        /// <summary>Waits until the written bytes survive a loss of power.</summary>
        public IntPtr sync;

        /// <summary>Renames a file and replaces <c>to</c> if it exists. Atomic: a crash leaves the old <c>to</c> or the new one. <c>from</c> may be
        /// open.</summary>
        public IntPtr rename;

        /// <summary>Deletes a file. An open file may disappear now or at <c>close</c>. Reads of it may fail from now on.</summary>
        public IntPtr remove;

        /// <summary>Like <c>sync</c>, for the names of a directory: created, renamed and removed ones. NULL: <c>sync</c> of a file covers its
        /// name.</summary>
        public IntPtr sync_directory;

        /// <summary>Takes the lock of a name without waiting. <c>unlock</c> or the end of the process releases it. The lock may be a file
        /// of that name: <c>list</c> may list it, and <c>remove</c> is called for it while the lock is held.</summary>
        /// <remarks>
        /// NULL, together with <c>unlock</c>: no other process may use the directory. A second one would take this process for a
        /// crashed one: it would delete files in use, and add strikes for open uses. Caches of this process share locks if
        /// <c>user_data</c> and <c>open</c> are equal.
        /// </remarks>
        public IntPtr try_lock;

        /// <summary>Releases a lock of <c>try_lock</c>. Called exactly once for each.</summary>
        public IntPtr unlock;

        /// <summary>Called exactly once per cache, after the last call of the other callbacks. That is before
        /// hob_program_cache_destroy returns, or before the destroy function of the last hob_program_manager of the cache
        /// returns. May be NULL.</summary>
        public IntPtr release;
    }

    /// <summary>The type of hob_file_io.list, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate uint hob_file_io_list_fn(void* user_data, hob_str directory, IntPtr add, void* names);

    /// <summary>The type of hob_file_io_list_fn.add, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate hob_result hob_file_io_list_fn_add_fn(void* names, hob_str name);

    /// <summary>The type of hob_file_io.create_directory, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate uint hob_file_io_create_directory_fn(void* user_data, hob_str directory);

    /// <summary>The type of hob_file_io.open, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate uint hob_file_io_open_fn(void* user_data, hob_str path, void** out_file);

    /// <summary>The type of hob_file_io.create, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate uint hob_file_io_create_fn(void* user_data, hob_str path, void** out_file);

    /// <summary>The type of hob_file_io.close, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_file_io_close_fn(void* user_data, void* file);

    /// <summary>The type of hob_file_io.size, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate uint hob_file_io_size_fn(void* user_data, void* file, ulong* out_size);

    /// <summary>The type of hob_file_io.read, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate uint hob_file_io_read_fn(void* user_data, void* file, ulong offset, void* data, UIntPtr size, UIntPtr* out_read);

    /// <summary>The type of hob_file_io.write, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate uint hob_file_io_write_fn(void* user_data, void* file, ulong offset, void* data, UIntPtr size);

    /// <summary>The type of hob_file_io.truncate, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate uint hob_file_io_truncate_fn(void* user_data, void* file, ulong size);

    /// <summary>The type of hob_file_io.sync, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate uint hob_file_io_sync_fn(void* user_data, void* file);

    /// <summary>The type of hob_file_io.rename, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate uint hob_file_io_rename_fn(void* user_data, hob_str from, hob_str to);

    /// <summary>The type of hob_file_io.remove, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate uint hob_file_io_remove_fn(void* user_data, hob_str path);

    /// <summary>The type of hob_file_io.sync_directory, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate uint hob_file_io_sync_directory_fn(void* user_data, hob_str directory);

    /// <summary>The type of hob_file_io.try_lock, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate uint hob_file_io_try_lock_fn(void* user_data, hob_str path, void** out_lock);

    /// <summary>The type of hob_file_io.unlock, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_file_io_unlock_fn(void* user_data, void* @lock);

    /// <summary>The type of hob_file_io.release, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_file_io_release_fn(void* user_data);

    /// <summary>The functions of the library.</summary>
    public static unsafe partial class Native
    {
        /// <summary>Sets the defaults of a hob_file_io.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_file_io). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_file_io_init(hob_file_io* value, uint size);
    }
}
