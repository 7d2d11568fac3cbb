// Results, exceptions, handles, text and versions: the basis of all other files of this folder. MIT OR Apache-2.0.
//
// Every class that owns something of the library is a HobHandle: dispose it, or let the finalizer do so. A failed call
// throws a HobgoblinException with the library's sentence. docs/csharp.md explains threads, callbacks and reloads.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;
using Hobgoblin.Interop;

namespace Hobgoblin
{
    /// <summary>The result of a call that can fail; see hob_result.</summary>
    public enum Result : uint
    {
        /// <summary>Success.</summary>
        Ok = 0,
        /// <summary>An argument is invalid, and nothing was changed. Or a callback returned an invalid value.</summary>
        InvalidArgument = 1,
        /// <summary>It does not exist, or was removed. Nothing was changed.</summary>
        NotFound = 2,
        /// <summary>A limit of the handle would be exceeded. Nothing was changed.</summary>
        LimitExceeded = 3,
        /// <summary>Out of memory. Nothing was changed.</summary>
        OutOfMemory = 4,
        /// <summary>The bytes are not in the expected format. Nothing was changed.</summary>
        Malformed = 5,
        /// <summary>Not possible with this version, build or machine, or with this kind of handle.</summary>
        Unsupported = 6,
        /// <summary>Another call on the handle is running: on another thread, or on this one, around a callback. Or
        /// another process keeps changing the files.</summary>
        Busy = 7,
        /// <summary>The buffer is too small. Only the required size was written.</summary>
        BufferTooSmall = 8,
        /// <summary>A file operation failed.</summary>
        Io = 9,
        /// <summary>An internal error was caught; the sentence has file and line. A handle that was being changed is
        /// poisoned. Please report it.</summary>
        Panic = 10,
        /// <summary>An earlier call on this handle ended in Result.Panic. Getters still answer from the last
        /// good state; all others do nothing. Dispose it and create a new one when convenient.</summary>
        Poisoned = 11,
        /// <summary>The time was too short: some work still waits. Call again, or allow more time.</summary>
        Timeout = 12,
        /// <summary>The program is banned: the process ended too often while it was in use. Build it from
        /// source.</summary>
        Banned = 13,
        /// <summary>The driver failed to compile a shader or to link a program.</summary>
        BuildFailed = 14,
        /// <summary>The last frames do not agree, or not enough of them are known yet.</summary>
        NoConsensus = 15,
        /// <summary>A cognition failed: Perception.GetFailure has its message.</summary>
        CognitionFailed = 16,
    }

    /// <summary>A failed call: its result, and a sentence that says what is wrong and what to do.</summary>
    public class HobgoblinException : Exception
    {
        public HobgoblinException(Result result, string message) : base(message)
        {
            Result = result;
        }

        internal HobgoblinException(Result result, string message, Exception cause) : base(message, cause)
        {
            Result = result;
        }

        public Result Result { get; }
    }

    /// <summary>The native library is missing, or is of another version than these classes.</summary>
    public sealed class HobgoblinVersionException : HobgoblinException
    {
        internal HobgoblinVersionException(string message, Exception cause = null)
            : base(Result.Unsupported, message, cause)
        {
        }
    }

    /// <summary>A part of the native library that a build may leave out.</summary>
    internal enum Room
    {
        Executor,
        Balance,
        Store,
        Goblin,
        ProgramCache,
        Pipeline,
        Graph,
        Perception,
    }

    /// <summary>What belongs to the library as a whole: versions, shutdown, and failures that have no caller.</summary>
    public static unsafe partial class Hob
    {
        const uint BindingVersion =
            (Constants.HOB_VERSION_MAJOR << 22) | (Constants.HOB_VERSION_MINOR << 12) | Constants.HOB_VERSION_PATCH;

        static volatile bool isReady;
        // A bit for each Room that the library has.
        static volatile int readyRooms;

        /// <summary>The version of the native library.</summary>
        public static Version LibraryVersion
        {
            get
            {
                Ready();
                return Unpack(Native.hob_version());
            }
        }

        /// <summary>The version for which these classes were generated.</summary>
        public static Version Version => Unpack(BindingVersion);

        /// <summary>The name of a result in C, such as "HOB_RESULT_OK".</summary>
        public static string NameOf(Result result)
        {
            Ready();
            return Text.From(Native.hob_result_name((hob_result)result));
        }

        /// <summary>
        /// Checks the native library, once, before the first other call. Call it before a native function that needs no
        /// handle: creating a handle or a desc, setting a hook, replaying.
        /// </summary>
        internal static void Ready()
        {
            if (!isReady) CheckLibrary();
        }

        /// <summary>As Ready, and checks that the library has this part.</summary>
        internal static void Ready(Room room)
        {
            if ((readyRooms & 1 << (int)room) == 0) CheckRoom(room);
        }

        static void CheckRoom(Room room)
        {
            Ready();
            try
            {
                CallOneOf(room);
            }
            catch (EntryPointNotFoundException cause)
            {
                throw Missing(cause);
            }
            // Another thread may lose a bit here: then the part is checked again.
            readyRooms |= 1 << (int)room;
        }

        /// <summary>Calls a function of a part with arguments that it refuses.</summary>
        static void CallOneOf(Room room)
        {
            switch (room)
            {
                case Room.Executor: Native.hob_executor_desc_init(null, 0); break;
                case Room.Balance: Native.hob_balance_desc_init(null, 0); break;
                case Room.Store: Native.hob_program_key_desc_init(null, 0); break;
                case Room.Goblin: Native.hob_goblin_desc_init(null, 0); break;
                case Room.ProgramCache: Native.hob_program_cache_desc_init(null, 0); break;
                case Room.Pipeline: Native.hob_pipeline_library_desc_init(null, 0); break;
                case Room.Graph: Native.hob_graph_desc_init(null, 0); break;
                case Room.Perception: Native.hob_perception_desc_init(null, 0); break;
            }
        }

        static void CheckLibrary()
        {
            uint version, abi;
            try
            {
                version = Native.hob_version();
                abi = Native.hob_abi_version();
            }
            catch (DllNotFoundException cause)
            {
                throw new HobgoblinVersionException(
                    $"the native library '{Native.Library}' was not found: put libhobgoblin {Version} where the runtime " +
                    "searches, such as beside the program, in LD_LIBRARY_PATH or in a Unity Plugins folder", cause);
            }
            catch (EntryPointNotFoundException cause)
            {
                throw Missing(cause);
            }
            catch (BadImageFormatException cause)
            {
                throw new HobgoblinVersionException(
                    $"the native library '{Native.Library}' is for another processor or damaged: " +
                    $"install libhobgoblin {Version} for this one", cause);
            }
            if (abi != Constants.HOB_ABI_VERSION || version < BindingVersion)
            {
                throw new HobgoblinVersionException(
                    $"the native library is version {Unpack(version)} with ABI {abi}, but the C# classes are version " +
                    $"{Version} with ABI {Constants.HOB_ABI_VERSION}: install libhobgoblin {Version} or later with the " +
                    "same ABI, or the C# classes of the library's version");
            }
            Owners.WatchDomain();
            isReady = true;
        }

        /// <summary>The exception for a function that the native library does not have.</summary>
        static HobgoblinVersionException Missing(EntryPointNotFoundException cause)
        {
            var found = isReady ? "version " + Unpack(Native.hob_version()) : "of an unknown version";
            return new HobgoblinVersionException(
                $"the native library is {found} and lacks a function of the C# classes, version {Version} " +
                $"({cause.Message}): it is older, or was built without a feature; install the whole libhobgoblin {Version}",
                cause);
        }

        internal static Version Unpack(uint version)
        {
            return new Version((int)(version >> 22), (int)(version >> 12 & 0x3ff), (int)(version & 0xfff));
        }

        /// <summary>
        /// Throws unless a native call succeeded: the exception of a callback that ran inside the call, or else a
        /// HobgoblinException. Call it at once after the native call, on the same thread.
        /// </summary>
        internal static void Check(hob_result result)
        {
            Callbacks.Rethrow();
            if (result != hob_result.HOB_RESULT_OK) throw Failure(result);
        }

        /// <summary>As Check, but returns false for a result that is normal in a frame.</summary>
        internal static bool CheckUnless(hob_result result, hob_result normal)
        {
            Callbacks.Rethrow();
            if (result == hob_result.HOB_RESULT_OK) return true;
            if (result == normal) return false;
            throw Failure(result);
        }

        /// <summary>The exception for a native call that failed on this thread.</summary>
        internal static HobgoblinException Failure(hob_result result)
        {
            return new HobgoblinException((Result)result, Text.From(Native.hob_last_error()));
        }
    }

    /// <summary>
    /// Owns a handle of the library. Dispose destroys it; inside one of its callbacks, or while another thread uses it,
    /// as soon as the running call returns. A call after Dispose throws ObjectDisposedException.
    /// DangerousGetHandle returns the C handle.
    /// </summary>
    public abstract unsafe class HobHandle : SafeHandle
    {
        private protected HobHandle() : base(IntPtr.Zero, true)
        {
        }

        public override bool IsInvalid => handle == IntPtr.Zero;

        /// <summary>Whether Dispose was called. IsClosed becomes true only when the last running call has returned.</summary>
        internal bool IsDisposed => isDisposed;

        volatile bool isDisposed;

        protected override void Dispose(bool isDisposing)
        {
            // A SafeHandle accepts new calls as long as one is running, so that threads could use it for ever.
            isDisposed = true;
            base.Dispose(isDisposing);
        }

        /// <summary>Calls the hob_x_destroy of the handle. May run on the finalizer's thread.</summary>
        internal abstract void Destroy(IntPtr native);

        /// <summary>Takes ownership of a handle that was just created.</summary>
        private protected void Adopt(void* native)
        {
            SetHandle((IntPtr)native);
            Owners.Add(this, handle);
        }

        /// <summary>
        /// Keeps the native handle alive until the result is disposed: <c>using (Hold(out var native)) …</c>
        /// Allocates nothing.
        /// </summary>
        private protected Use Hold(out IntPtr native)
        {
            return Use.Begin(this, out native);
        }

        protected sealed override bool ReleaseHandle()
        {
            Owners.Remove(handle);
            // A background task cannot destroy the executor that runs it and leave no thread behind.
            if (Callbacks.IsInBackground) new Thread(DestroyElsewhere) { IsBackground = true }.Start(handle);
            else DestroyNow(handle);
            return true;
        }

        void DestroyElsewhere(object native)
        {
            DestroyNow((IntPtr)native);
        }

        void DestroyNow(IntPtr native)
        {
            try { } // see "Threads that are aborted" in Callbacks.cs
            finally
            {
                try
                {
                    Destroy(native);
                }
                finally
                {
                    Callbacks.ReportHeld();
                    Owners.Destroyed();
                }
            }
        }
    }

    /// <summary>The time in which a call uses a native handle.</summary>
    internal struct Use : IDisposable
    {
        HobHandle owner;

        /// <summary>Begins a use. Null gives the native handle 0, which the library refuses with a sentence.</summary>
        internal static Use Begin(HobHandle owner, out IntPtr native)
        {
            var use = new Use();
            native = IntPtr.Zero;
            if (owner == null) return use;
            var isHeld = false;
            if (owner.IsDisposed) throw new ObjectDisposedException(owner.GetType().Name);
            owner.DangerousAddRef(ref isHeld);
            use.owner = owner;
            native = owner.DangerousGetHandle();
            return use;
        }

        public void Dispose()
        {
            owner?.DangerousRelease();
        }
    }

    /// <summary>All live handles of this application domain.</summary>
    internal static class Owners
    {
        static readonly object Gate = new object();
        // References that also find a handle whose finalizer has yet to run.
        static readonly Dictionary<long, WeakReference> Live = new Dictionary<long, WeakReference>();
        static int alive;
        static bool isEnding;
        static bool isWatched;

        internal static int Count
        {
            get { lock (Gate) return alive; }
        }

        /// <summary>Destroys all handles before the domain or the process ends.</summary>
        internal static void WatchDomain()
        {
            lock (Gate)
            {
                if (isWatched) return;
                isWatched = true;
            }
            AppDomain.CurrentDomain.DomainUnload += End;
            AppDomain.CurrentDomain.ProcessExit += End;
        }

        static void End(object sender, EventArgs arguments)
        {
            lock (Gate) isEnding = true;
            Hob.Shutdown();
        }

        internal static void Add(HobHandle owner, IntPtr native)
        {
            lock (Gate)
            {
                ++alive;
                if (!isEnding)
                {
                    Live.Add((long)native, new WeakReference(owner, true));
                    return;
                }
            }
            owner.Dispose();
            throw new InvalidOperationException("nothing can be created while the application domain ends");
        }

        internal static void Remove(IntPtr native)
        {
            lock (Gate) Live.Remove((long)native);
        }

        internal static void Destroyed()
        {
            lock (Gate)
            {
                --alive;
                Monitor.PulseAll(Gate);
            }
        }

        /// <summary>Disposes all handles, and waits for calls that still use one. False: the time was too short.</summary>
        internal static bool DisposeAll(int timeoutMilliseconds)
        {
            WeakReference[] handles;
            lock (Gate)
            {
                handles = new WeakReference[Live.Count];
                Live.Values.CopyTo(handles, 0);
            }
            foreach (var handle in handles) (handle.Target as HobHandle)?.Dispose();
            var deadline = Environment.TickCount + timeoutMilliseconds;
            lock (Gate)
            {
                while (alive > 0)
                {
                    var remaining = deadline - Environment.TickCount;
                    if (remaining <= 0) return false;
                    Monitor.Wait(Gate, remaining);
                }
            }
            return true;
        }
    }

    /// <summary>Text of the library as a string.</summary>
    internal static unsafe class Text
    {
        /// <summary>Text that ends in NUL.</summary>
        internal static string From(byte* text)
        {
            if (text == null) return "";
            var size = 0;
            while (text[size] != 0) ++size;
            return Encoding.UTF8.GetString(text, size);
        }

        internal static string From(hob_str text)
        {
            return text.data == null ? "" : Encoding.UTF8.GetString(text.data, checked((int)text.len));
        }

        static readonly UTF8Encoding Strict = new UTF8Encoding(false, true);

        /// <summary>Number of bytes of a text as UTF-8. Throws if it has none. Allocates nothing.</summary>
        /// <param name="text">The text.</param>
        /// <param name="name">The parameter of the caller.</param>
        internal static int Size(string text, string name)
        {
            if (text == null) throw new ArgumentNullException(name);
            try
            {
                return Strict.GetByteCount(text);
            }
            catch (EncoderFallbackException exception)
            {
                // With a replacement, different texts would become equal.
                throw new ArgumentException(
                    $"the text has a lone surrogate at index {exception.Index}: it must be valid Unicode", name);
            }
        }

        /// <summary>A text as UTF-8. Throws if it has none.</summary>
        internal static byte[] Bytes(string text, string name)
        {
            Size(text, name);
            return Encoding.UTF8.GetBytes(text);
        }

        /// <summary>
        /// Encodes the beginning of a short text into a buffer, such as a name that is only shown. Allocates nothing.
        /// </summary>
        internal static hob_str Encode(string text, byte* buffer, int capacity)
        {
            var made = new hob_str { data = buffer };
            if (string.IsNullOrEmpty(text)) return made;
            fixed (char* from = text)
            {
                var length = Math.Min(text.Length, capacity / 3);
                made.len = (UIntPtr)(uint)Encoding.UTF8.GetBytes(from, length, buffer, capacity);
            }
            return made;
        }
    }

    /// <summary>A string as UTF-8 in native memory, for one call: <c>using (var text = new Utf8(id, nameof(id))) … text.Str</c></summary>
    internal unsafe struct Utf8 : IDisposable
    {
        internal hob_str Str;

        /// <summary>Throws for null and for text that has no UTF-8.</summary>
        /// <param name="text">The text.</param>
        /// <param name="name">The parameter of the caller.</param>
        internal Utf8(string text, string name) : this(text, Text.Size(text, name))
        {
        }

        Utf8(string text, int size)
        {
            Str = new hob_str();
            if (size == 0) return;
            Str.data = (byte*)Marshal.AllocHGlobal(size);
            fixed (char* from = text)
                Str.len = (UIntPtr)(uint)Encoding.UTF8.GetBytes(from, text.Length, Str.data, size);
        }

        /// <summary>Lone surrogates become U+FFFD.</summary>
        internal static Utf8 Lenient(string text)
        {
            return new Utf8(text, Encoding.UTF8.GetByteCount(text));
        }

        public void Dispose()
        {
            if (Str.data != null) Marshal.FreeHGlobal((IntPtr)Str.data);
            Str = new hob_str();
        }
    }

    /// <summary>A native call that fills a buffer: with NULL it asks for the size.</summary>
    internal unsafe delegate hob_result ReadCall(byte* buffer, UIntPtr capacity, UIntPtr* size);

    internal static unsafe class Buffers
    {
        /// <summary>Throws unless the range is inside the array.</summary>
        internal static void CheckRange(Array array, int offset, int count)
        {
            if (array == null) throw new ArgumentNullException(nameof(array));
            if (offset < 0 || count < 0 || count > array.Length - offset)
                throw new ArgumentOutOfRangeException(
                    nameof(count), $"{count} elements from {offset} on are not inside an array of {array.Length}");
        }

        /// <summary>All bytes of a call with the two-call protocol.</summary>
        internal static byte[] ReadAll(ReadCall call)
        {
            for (;;)
            {
                // The content may grow between the two calls.
                UIntPtr size;
                Hob.Check(call(null, UIntPtr.Zero, &size));
                var buffer = new byte[checked((int)size)];
                if (buffer.Length == 0) return buffer;
                hob_result result;
                fixed (byte* data = buffer) result = call(data, size, &size);
                if (result == hob_result.HOB_RESULT_BUFFER_TOO_SMALL) continue;
                Hob.Check(result);
                if ((ulong)size < (ulong)buffer.Length) Array.Resize(ref buffer, (int)size);
                return buffer;
            }
        }
    }
}
