// A file system of the host for caches: save data of a console, an archive, memory. MIT OR Apache-2.0.
using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime.InteropServices;
using Hobgoblin.Interop;

namespace Hobgoblin
{
    /// <summary>An open file of a <see cref="FileSystem"/>.
    /// The results are those of FileSystem. Only one call at a time runs for one file.</summary>
    public abstract class HostFile
    {
        /// <summary>Closes the file. Called exactly once.</summary>
        public abstract void Close();
        /// <summary>Gets the size of the file in bytes.</summary>
        public abstract Result GetSize(out long size);
        /// <summary>Reads up to <paramref name="count"/> bytes at <paramref name="offset"/> into the begin of the buffer.
        /// <paramref name="read"/> is at least 1, or 0 at the end of the file.</summary>
        public abstract Result Read(long offset, byte[] buffer, int count, out int read);
        /// <summary>Writes the first <paramref name="count"/> bytes of the buffer at <paramref name="offset"/>, which is at
        /// most the size of the file. After success, the bytes must survive a crash of the process.</summary>
        public abstract Result Write(long offset, byte[] buffer, int count);
        /// <summary>Cuts the file to <paramref name="size"/> bytes.</summary>
        public abstract Result Truncate(long size);
        /// <summary>Waits until the written bytes survive a loss of power.</summary>
        public abstract Result Sync();
    }

    /// <summary>A file system of the host.
    /// Methods return <c>Result.Ok</c> for success. They return NotFound if the file or its directory does not exist,
    /// LimitExceeded if the file system is full, and Unsupported without the permission to write. Create returns Busy if the
    /// name is in use, and TryLock if another holder has the lock. Any other result is a failure.
    ///
    /// Exceptions count as results: FileNotFoundException and DirectoryNotFoundException as NotFound,
    /// UnauthorizedAccessException as Unsupported, OutOfMemoryException as OutOfMemory, all others as Io. Those that are no
    /// IOException also go to Hob.UnhandledCallbackException.
    ///
    /// Methods run on the threads that work for the cache, several at once. They must not call the library: such calls
    /// fail with Result.Busy. Paths begin with the directory of the cache; then follow '/' and a name.</summary>
    public abstract unsafe class FileSystem
    {
        /// <summary>Adds the name of each file of a directory, without the directory.</summary>
        public abstract Result List(string directory, ICollection<string> names);
        /// <summary>Creates a directory and all missing directories above it. Succeeds if the directory exists.</summary>
        public abstract Result CreateDirectory(string directory);
        /// <summary>Opens an existing file for reading.</summary>
        public abstract Result Open(string path, out HostFile file);
        /// <summary>Creates a new file for reading and writing. Busy if the file exists.</summary>
        public abstract Result Create(string path, out HostFile file);
        /// <summary>Renames a file and replaces <paramref name="to"/> if it exists. Atomic: a crash leaves the old file or
        /// the new one.</summary>
        public abstract Result Rename(string from, string to);
        /// <summary>Deletes a file. An open file may disappear now or when it is closed.</summary>
        public abstract Result Remove(string path);
        /// <summary>Like <see cref="HostFile.Sync"/>, for the names of a directory: created, renamed and removed ones.</summary>
        public virtual Result SyncDirectory(string directory) => Result.Ok;

        /// <summary>Takes the lock of a name without waiting. Disposing of it, or the end of the process, releases it.
        /// The default assumes that no other process uses the directory.</summary>
        public virtual Result TryLock(string path, out IDisposable held)
        {
            held = null;
            lock (locks)
            {
                if (!locks.Add(path)) return Result.Busy;
            }
            held = new Lock(this, path);
            return Result.Ok;
        }

        sealed class Lock : IDisposable
        {
            readonly FileSystem files;
            readonly string path;

            internal Lock(FileSystem files, string path)
            {
                this.files = files;
                this.path = path;
            }

            public void Dispose()
            {
                lock (files.locks) files.locks.Remove(path);
            }
        }

        const int ChunkBytes = 64 << 10;
        // Before `table`, which reads them.
        static readonly hob_file_io_list_fn onList = OnList;
        static readonly hob_file_io_create_directory_fn onCreateDirectory = OnCreateDirectory;
        static readonly hob_file_io_open_fn onOpen = OnOpen;
        static readonly hob_file_io_create_fn onCreate = OnCreate;
        static readonly hob_file_io_close_fn onClose = OnClose;
        static readonly hob_file_io_size_fn onSize = OnSize;
        static readonly hob_file_io_read_fn onRead = OnRead;
        static readonly hob_file_io_write_fn onWrite = OnWrite;
        static readonly hob_file_io_truncate_fn onTruncate = OnTruncate;
        static readonly hob_file_io_sync_fn onSync = OnSync;
        static readonly hob_file_io_rename_fn onRename = OnRename;
        static readonly hob_file_io_remove_fn onRemove = OnRemove;
        static readonly hob_file_io_sync_directory_fn onSyncDirectory = OnSyncDirectory;
        static readonly hob_file_io_try_lock_fn onTryLock = OnTryLock;
        static readonly hob_file_io_unlock_fn onUnlock = OnUnlock;
        static readonly hob_file_io_release_fn onRelease = OnRelease;
        static readonly hob_file_io table = MakeTable();
        [ThreadStatic] static byte[] chunk;

        readonly HashSet<string> locks = new HashSet<string>();
        readonly object uses = new object();
        void* self;
        int useCount;

        /// <summary>Begins a use by a cache, whose release ends it. Caches of one file system share locks, so their
        /// user_data must be equal.</summary>
        internal hob_file_io* BeginUse(Arena arena)
        {
            var io = (hob_file_io*)arena.Allocate(1, sizeof(hob_file_io));
            *io = table;
            lock (uses)
            {
                if (useCount == 0) self = Callbacks.Keep(this);
                ++useCount;
                io->user_data = self;
            }
            return io;
        }

        /// <summary>Ends a use. Also after a create that failed, which does not call release.</summary>
        internal void EndUse()
        {
            lock (uses)
            {
                if (--useCount == 0) Callbacks.Drop(self);
            }
        }

        static hob_file_io MakeTable()
        {
            Hob.Ready(Room.Store);
            hob_file_io io;
            Hob.Check(Native.hob_file_io_init(&io, (uint)sizeof(hob_file_io)));
            io.list = Callbacks.Pointer(onList);
            io.create_directory = Callbacks.Pointer(onCreateDirectory);
            io.open = Callbacks.Pointer(onOpen);
            io.create = Callbacks.Pointer(onCreate);
            io.close = Callbacks.Pointer(onClose);
            io.size = Callbacks.Pointer(onSize);
            io.read = Callbacks.Pointer(onRead);
            io.write = Callbacks.Pointer(onWrite);
            io.truncate = Callbacks.Pointer(onTruncate);
            io.sync = Callbacks.Pointer(onSync);
            io.rename = Callbacks.Pointer(onRename);
            io.remove = Callbacks.Pointer(onRemove);
            io.sync_directory = Callbacks.Pointer(onSyncDirectory);
            io.try_lock = Callbacks.Pointer(onTryLock);
            io.unlock = Callbacks.Pointer(onUnlock);
            io.release = Callbacks.Pointer(onRelease);
            return io;
        }

        static FileSystem Of(void* self) => Callbacks.Get<FileSystem>(self);
        static HostFile FileOf(void* file) => Callbacks.Get<HostFile>(file);

        static uint Failure(Exception exception)
        {
            Callbacks.ResetAbort(exception);
            if (exception is FileNotFoundException || exception is DirectoryNotFoundException) return (uint)Result.NotFound;
            if (exception is UnauthorizedAccessException) return (uint)Result.Unsupported;
            if (exception is OutOfMemoryException) return (uint)Result.OutOfMemory;
            if (!(exception is IOException)) Hob.Report(exception);
            return (uint)Result.Io;
        }

        [MonoPInvokeCallback(typeof(hob_file_io_list_fn))]
        static uint OnList(void* self, hob_str directory, IntPtr add, void* names)
        {
            var call = Callbacks.BeginBackground();
            try
            {
                var found = new List<string>();
                var result = Of(self).List(Text.From(directory), found);
                if (result != Result.Ok) return (uint)result;
                var type = typeof(hob_file_io_list_fn_add_fn);
                var addName = (hob_file_io_list_fn_add_fn)Marshal.GetDelegateForFunctionPointer(add, type);
                foreach (var name in found)
                {
                    // A file of another program may have any name. The library ignores it.
                    using (var text = Utf8.Lenient(name))
                    {
                        var added = addName(names, text.Str);
                        if (added != hob_result.HOB_RESULT_OK) return (uint)added;
                    }
                }
                return (uint)Result.Ok;
            }
            catch (Exception exception)
            {
                return Failure(exception);
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_file_io_create_directory_fn))]
        static uint OnCreateDirectory(void* self, hob_str directory)
        {
            var call = Callbacks.BeginBackground();
            try
            {
                return (uint)Of(self).CreateDirectory(Text.From(directory));
            }
            catch (Exception exception)
            {
                return Failure(exception);
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_file_io_open_fn))]
        static uint OnOpen(void* self, hob_str path, void** file)
        {
            var call = Callbacks.BeginBackground();
            try
            {
                var result = Of(self).Open(Text.From(path), out var made);
                return result == Result.Ok ? Give(made, file) : (uint)result;
            }
            catch (Exception exception)
            {
                return Failure(exception);
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_file_io_create_fn))]
        static uint OnCreate(void* self, hob_str path, void** file)
        {
            var call = Callbacks.BeginBackground();
            try
            {
                var result = Of(self).Create(Text.From(path), out var made);
                return result == Result.Ok ? Give(made, file) : (uint)result;
            }
            catch (Exception exception)
            {
                return Failure(exception);
            }
            finally
            {
                call.End();
            }
        }

        /// <summary>Hands an object to the library, which calls close or unlock for it.</summary>
        static uint Give(object made, void** to)
        {
            if (made == null) return (uint)Result.Io;
            *to = Callbacks.Keep(made);
            return (uint)Result.Ok;
        }

        [MonoPInvokeCallback(typeof(hob_file_io_close_fn))]
        static void OnClose(void* self, void* file)
        {
            var call = Callbacks.BeginBackground();
            try
            {
                var closed = FileOf(file);
                Callbacks.Drop(file);
                closed.Close();
            }
            catch (Exception exception)
            {
                call.Report(exception);
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_file_io_size_fn))]
        static uint OnSize(void* self, void* file, ulong* size)
        {
            var call = Callbacks.BeginBackground();
            try
            {
                var result = FileOf(file).GetSize(out var bytes);
                if (result != Result.Ok) return (uint)result;
                if (bytes < 0) return (uint)Result.Io;
                *size = (ulong)bytes;
                return (uint)Result.Ok;
            }
            catch (Exception exception)
            {
                return Failure(exception);
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_file_io_read_fn))]
        static uint OnRead(void* self, void* file, ulong offset, void* data, UIntPtr size, UIntPtr* read)
        {
            var call = Callbacks.BeginBackground();
            try
            {
                // A part is enough: the library asks for the rest.
                var buffer = chunk ?? (chunk = new byte[ChunkBytes]);
                var count = (int)Math.Min((ulong)size, ChunkBytes);
                var result = FileOf(file).Read(checked((long)offset), buffer, count, out var done);
                if (result != Result.Ok) return (uint)result;
                if (done < 0 || done > count) return (uint)Result.Io;
                Marshal.Copy(buffer, 0, (IntPtr)data, done);
                *read = (UIntPtr)(uint)done;
                return (uint)Result.Ok;
            }
            catch (Exception exception)
            {
                return Failure(exception);
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_file_io_write_fn))]
        static uint OnWrite(void* self, void* file, ulong offset, void* data, UIntPtr size)
        {
            var call = Callbacks.BeginBackground();
            try
            {
                var buffer = chunk ?? (chunk = new byte[ChunkBytes]);
                var target = FileOf(file);
                for (ulong at = 0; at < (ulong)size;)
                {
                    var count = (int)Math.Min((ulong)size - at, ChunkBytes);
                    Marshal.Copy((IntPtr)((byte*)data + at), buffer, 0, count);
                    var result = target.Write(checked((long)(offset + at)), buffer, count);
                    if (result != Result.Ok) return (uint)result;
                    at += (ulong)count;
                }
                return (uint)Result.Ok;
            }
            catch (Exception exception)
            {
                return Failure(exception);
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_file_io_truncate_fn))]
        static uint OnTruncate(void* self, void* file, ulong size)
        {
            var call = Callbacks.BeginBackground();
            try
            {
                return (uint)FileOf(file).Truncate(checked((long)size));
            }
            catch (Exception exception)
            {
                return Failure(exception);
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_file_io_sync_fn))]
        static uint OnSync(void* self, void* file)
        {
            var call = Callbacks.BeginBackground();
            try
            {
                return (uint)FileOf(file).Sync();
            }
            catch (Exception exception)
            {
                return Failure(exception);
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_file_io_rename_fn))]
        static uint OnRename(void* self, hob_str from, hob_str to)
        {
            var call = Callbacks.BeginBackground();
            try
            {
                return (uint)Of(self).Rename(Text.From(from), Text.From(to));
            }
            catch (Exception exception)
            {
                return Failure(exception);
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_file_io_remove_fn))]
        static uint OnRemove(void* self, hob_str path)
        {
            var call = Callbacks.BeginBackground();
            try
            {
                return (uint)Of(self).Remove(Text.From(path));
            }
            catch (Exception exception)
            {
                return Failure(exception);
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_file_io_sync_directory_fn))]
        static uint OnSyncDirectory(void* self, hob_str directory)
        {
            var call = Callbacks.BeginBackground();
            try
            {
                return (uint)Of(self).SyncDirectory(Text.From(directory));
            }
            catch (Exception exception)
            {
                return Failure(exception);
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_file_io_try_lock_fn))]
        static uint OnTryLock(void* self, hob_str path, void** held)
        {
            var call = Callbacks.BeginBackground();
            try
            {
                var result = Of(self).TryLock(Text.From(path), out var taken);
                return result == Result.Ok ? Give(taken, held) : (uint)result;
            }
            catch (Exception exception)
            {
                return Failure(exception);
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_file_io_unlock_fn))]
        static void OnUnlock(void* self, void* held)
        {
            var call = Callbacks.BeginBackground();
            try
            {
                var released = Callbacks.Get<IDisposable>(held);
                Callbacks.Drop(held);
                released.Dispose();
            }
            catch (Exception exception)
            {
                call.Report(exception);
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_file_io_release_fn))]
        static void OnRelease(void* self)
        {
            var call = Callbacks.BeginBackground();
            try
            {
                Of(self).EndUse();
            }
            catch (Exception exception)
            {
                call.Report(exception);
            }
            finally
            {
                call.End();
            }
        }
    }
}
