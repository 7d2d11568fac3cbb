// Shared parts of the rooms: copies of arguments in native memory, views of bytes, lists, and exclusive calls.
// MIT OR Apache-2.0.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;
using Hobgoblin.Interop;

namespace Hobgoblin
{
    /// <summary>Bytes of the library, valid only during the callback that receives them.
    /// A ref struct, so that the compiler refuses to keep it. Copy what is needed later.</summary>
    public readonly unsafe ref struct ByteView
    {
        readonly byte* data;

        internal ByteView(void* data, UIntPtr size)
        {
            this.data = (byte*)data;
            Length = data == null ? 0 : (long)(ulong)size;
        }

        /// <summary>The first byte, or zero without bytes.</summary>
        public IntPtr Data => (IntPtr)data;
        /// <summary>Number of bytes.</summary>
        public long Length { get; }

        /// <summary>Reads one byte.</summary>
        public byte this[long index]
        {
            get
            {
                if ((ulong)index >= (ulong)Length) throw new IndexOutOfRangeException();
                return data[index];
            }
        }

        /// <summary>Copies all bytes into a new array.</summary>
        public byte[] ToArray()
        {
            var bytes = new byte[Length];
            if (bytes.Length > 0) Marshal.Copy((IntPtr)data, bytes, 0, bytes.Length);
            return bytes;
        }

        /// <summary>Copies all bytes into an array, from <paramref name="offset"/> on. Allocates nothing.</summary>
        public void CopyTo(byte[] target, int offset = 0)
        {
            if (target == null) throw new ArgumentNullException(nameof(target));
            if (offset < 0 || Length > target.Length - offset) throw new ArgumentException("the target array is too small");
            if (Length > 0) Marshal.Copy((IntPtr)data, target, offset, (int)Length);
        }

        /// <summary>Decodes the bytes as UTF-8.</summary>
        public string ToText() => Length == 0 ? "" : Encoding.UTF8.GetString(data, checked((int)Length));
    }

    /// <summary>Copies managed arguments into native memory until it is disposed.</summary>
    internal sealed unsafe class Arena : IDisposable
    {
        readonly List<IntPtr> blocks = new List<IntPtr>();

        /// <summary>Zeroed memory; never null.</summary>
        internal void* Allocate(long count, int size)
        {
            var bytes = checked(Math.Max(count, 1) * size);
            blocks.Add(IntPtr.Zero);
            var block = Marshal.AllocHGlobal((IntPtr)bytes);
            blocks[blocks.Count - 1] = block;
            for (long at = 0; at < bytes; ++at) ((byte*)block)[at] = 0;
            return (void*)block;
        }

        /// <summary>A copy of an array with its size; null without bytes.</summary>
        internal void* Bytes(byte[] bytes, out UIntPtr size)
        {
            size = (UIntPtr)(bytes == null ? 0 : bytes.Length);
            return Bytes(bytes);
        }

        /// <summary>A copy of an array; null without bytes.</summary>
        internal void* Bytes(byte[] bytes)
        {
            if (bytes == null || bytes.Length == 0) return null;
            var copy = Allocate(bytes.Length, 1);
            Marshal.Copy(bytes, 0, (IntPtr)copy, bytes.Length);
            return copy;
        }

        /// <summary>Text as UTF-8; empty for null.</summary>
        internal hob_str Text(string text)
        {
            if (string.IsNullOrEmpty(text)) return default(hob_str);
            return Blob(Hobgoblin.Text.Bytes(text, "text"));
        }

        /// <summary>Bytes as a hob_str; empty for null.</summary>
        internal hob_str Blob(byte[] bytes)
        {
            if (bytes == null || bytes.Length == 0) return default(hob_str);
            return new hob_str { data = (byte*)Bytes(bytes), len = (UIntPtr)bytes.Length };
        }

        /// <summary>Texts as an array of hob_str.</summary>
        internal hob_str* Texts(IList<string> texts, out UIntPtr count)
        {
            var all = Calls.Snapshot(texts);
            var copies = (hob_str*)Allocate(all.Length, sizeof(hob_str));
            for (var i = 0; i < all.Length; ++i) copies[i] = Text(all[i]);
            count = (UIntPtr)all.Length;
            return copies;
        }

        public void Dispose()
        {
            foreach (var block in blocks) Marshal.FreeHGlobal(block);
            blocks.Clear();
        }
    }

    /// <summary>A call that writes a list: the items may be null.</summary>
    internal unsafe delegate hob_result ListCall(void* items, UIntPtr capacity, UIntPtr* count);

    /// <summary>Arguments and answers of several rooms.</summary>
    internal static unsafe class Calls
    {
        /// <summary>Reads text of a call with the two-call protocol.</summary>
        internal static string ReadText(ReadCall call)
        {
            return Encoding.UTF8.GetString(Buffers.ReadAll(call));
        }

        /// <summary>Reads a list by asking for its length first. Returns memory of the arena.</summary>
        internal static void* List(Arena arena, int size, out int count, ListCall call)
        {
            var length = UIntPtr.Zero;
            Hob.Check(call(null, UIntPtr.Zero, &length));
            while (true)
            {
                var capacity = length;
                var items = arena.Allocate((long)(ulong)capacity, size);
                count = 0;
                if (capacity == UIntPtr.Zero) return items;
                var result = call(items, capacity, &length);
                if (result == hob_result.HOB_RESULT_BUFFER_TOO_SMALL) continue;
                Hob.Check(result);
                count = checked((int)(ulong)length);
                return items;
            }
        }

        /// <summary>Text that ends in NUL, of at most <paramref name="capacity"/> bytes.</summary>
        internal static string TextOf(byte* text, int capacity)
        {
            var length = 0;
            while (length < capacity && text[length] != 0) ++length;
            return length == 0 ? "" : Encoding.UTF8.GetString(text, length);
        }

        /// <summary>Writes a message that ends in NUL; cuts it at a whole character.</summary>
        internal static void WriteMessage(byte* buffer, uint capacity, string message)
        {
            if (buffer == null || capacity == 0) return;
            var bytes = Encoding.UTF8.GetBytes(message ?? "");
            var length = (int)Math.Min(bytes.Length, (long)capacity - 1);
            while (length < bytes.Length && length > 0 && (bytes[length] & 0xC0) == 0x80) --length;
            Marshal.Copy(bytes, 0, (IntPtr)buffer, length);
            buffer[length] = 0;
        }

        /// <summary>The elements of a list, whose length cannot change any more. Empty for null.
        /// Another thread may add to the list of a desc while the desc is copied into native memory.</summary>
        internal static T[] Snapshot<T>(IList<T> list)
        {
            return list == null ? new T[0] : new List<T>(list).ToArray();
        }

        /// <summary>Copies a pointer's bytes into an array.</summary>
        internal static byte[] Copy(IntPtr data, long size)
        {
            if (size < 0 || size > int.MaxValue) throw new ArgumentOutOfRangeException(nameof(size));
            if (data == IntPtr.Zero && size > 0) throw new ArgumentNullException(nameof(data));
            var bytes = new byte[size];
            if (size > 0) Marshal.Copy(data, bytes, 0, (int)size);
            return bytes;
        }
    }

    /// <summary>Keeps exclusive calls of a handle apart from all others.
    /// The library detects only a call that starts during an exclusive one. Here also an exclusive call that starts during
    /// a shared one fails with Result.Busy. A call inside a callback of an exclusive call, on its thread, passes: the library
    /// knows which of these are allowed.</summary>
    internal struct CallGate
    {
        // Number of shared calls; -1 during an exclusive call.
        int calls;
        // The thread of the exclusive call. 0: none.
        int owner;

        bool IsOwn => Volatile.Read(ref calls) < 0 && Volatile.Read(ref owner) == Thread.CurrentThread.ManagedThreadId;

        /// <summary>Begins an exclusive call. False: it is inside another one of its thread, and must not leave.</summary>
        internal bool EnterExclusive()
        {
            if (TryEnterExclusive()) return true;
            if (IsOwn) return false;
            throw Busy();
        }

        internal bool TryEnterExclusive()
        {
            if (Interlocked.CompareExchange(ref calls, -1, 0) != 0) return false;
            Volatile.Write(ref owner, Thread.CurrentThread.ManagedThreadId);
            return true;
        }

        /// <summary>Begins a shared call. False: it is inside an exclusive one of its thread, and must not leave.</summary>
        internal bool EnterShared()
        {
            for (;;)
            {
                var before = Volatile.Read(ref calls);
                if (before < 0)
                {
                    if (IsOwn) return false;
                    throw Busy();
                }
                if (Interlocked.CompareExchange(ref calls, before + 1, before) == before) return true;
            }
        }

        internal void LeaveExclusive()
        {
            Volatile.Write(ref owner, 0);
            Volatile.Write(ref calls, 0);
        }

        internal void LeaveShared()
        {
            Interlocked.Decrement(ref calls);
        }

        static HobgoblinException Busy()
        {
            return new HobgoblinException(Result.Busy,
                "another call on this object is running: on another thread, or around this callback");
        }
    }

    /// <summary>A handle with exclusive calls.</summary>
    public abstract unsafe class ExclusiveHandle : HobHandle
    {
        internal CallGate Gate;

        private protected ExclusiveHandle()
        {
        }

        /// <summary>Begins a call for which no other call may run: <c>using (Exclusive(out var native)) …</c></summary>
        private protected GatedUse Exclusive(out IntPtr native)
        {
            var use = new GatedUse { Use = Hold(out native) };
            var isEntered = false;
            try
            {
                use.IsExclusive = Gate.EnterExclusive();
                isEntered = true;
            }
            finally
            {
                if (!isEntered) use.Dispose();
            }
            use.Owner = this;
            return use;
        }

        /// <summary>As Exclusive, but returns false if another call is running.</summary>
        private protected bool TryExclusive(out GatedUse use, out IntPtr native)
        {
            use = new GatedUse { Use = Hold(out native) };
            if (Gate.TryEnterExclusive())
            {
                use.Owner = this;
                use.IsExclusive = true;
                return true;
            }
            use.Dispose();
            return false;
        }

        /// <summary>Begins a call beside which other shared ones may run.</summary>
        private protected GatedUse Shared(out IntPtr native)
        {
            return GatedUse.Shared(this, out native);
        }
    }

    /// <summary>The time of a call on an ExclusiveHandle.</summary>
    internal struct GatedUse : IDisposable
    {
        internal Use Use;
        internal ExclusiveHandle Owner;
        internal bool IsExclusive;
        bool isShared;

        /// <summary>Begins a shared call. Null gives the native handle 0, which the library refuses with a sentence.</summary>
        internal static GatedUse Shared(ExclusiveHandle owner, out IntPtr native)
        {
            var use = new GatedUse { Use = Use.Begin(owner, out native) };
            if (owner == null) return use;
            var isEntered = false;
            try
            {
                use.isShared = owner.Gate.EnterShared();
                isEntered = true;
            }
            finally
            {
                if (!isEntered) use.Dispose();
            }
            use.Owner = owner;
            return use;
        }

        public void Dispose()
        {
            if (IsExclusive) Owner.Gate.LeaveExclusive();
            else if (isShared) Owner.Gate.LeaveShared();
            Use.Dispose();
        }
    }
}
