// Views of cached programs. MIT OR Apache-2.0.
using System;
using System.Runtime.InteropServices;
using Hobgoblin.Interop;

namespace Hobgoblin
{
    /// <summary>A view of a cached program.
    /// It stays valid after the program is evicted or removed, and after the cache is disposed. Use one Blob for many
    /// gets: then a hit allocates nothing. The next get into it, Clear, or Dispose ends the view.</summary>
    public sealed unsafe class Blob : HobHandle
    {
        // Of the struct and IsBanned. Reads through Data are the caller's to keep apart from Dispose and the next get.
        internal readonly object Gate = new object();
        bool isBanned;

        /// <summary>Makes a blob without a program.</summary>
        public Blob()
        {
            Hob.Ready(Room.ProgramCache);
            var raw = (hob_blob*)Marshal.AllocHGlobal(sizeof(hob_blob));
            var result = Native.hob_blob_init(raw, (uint)sizeof(hob_blob));
            if (result != hob_result.HOB_RESULT_OK) Marshal.FreeHGlobal((IntPtr)raw);
            Hob.Check(result);
            Adopt(raw);
        }

        /// <summary>Whether it has a program.</summary>
        public bool HasProgram
        {
            get
            {
                using (Hold(out var raw)) lock (Gate) return ((hob_blob*)raw)->pin != null;
            }
        }

        /// <summary>Whether the last get found that the program is banned: build it from source, and do not put it.</summary>
        public bool IsBanned
        {
            get
            {
                using (Hold(out var raw)) return isBanned;
            }
            internal set => isBanned = value;
        }

        /// <summary>The format of the put.</summary>
        public uint Format
        {
            get
            {
                using (Hold(out var raw)) lock (Gate) return ((hob_blob*)raw)->format;
            }
        }

        /// <summary>Bytes of the binary.</summary>
        public long Size
        {
            get
            {
                using (Hold(out var raw)) lock (Gate) return (long)(ulong)((hob_blob*)raw)->size;
            }
        }

        /// <summary>Bytes of the reflection.</summary>
        public long ReflectionSize
        {
            get
            {
                using (Hold(out var raw)) lock (Gate) return (long)(ulong)((hob_blob*)raw)->reflection_size;
            }
        }

        /// <summary>The binary in native memory, at a multiple of 16 bytes, for glProgramBinary and the like.
        /// Valid until the view ends.</summary>
        public IntPtr Data
        {
            get
            {
                using (Hold(out var raw)) lock (Gate) return (IntPtr)((hob_blob*)raw)->data;
            }
        }

        /// <summary>The reflection in native memory. Valid until the view ends.</summary>
        public IntPtr Reflection
        {
            get
            {
                using (Hold(out var raw)) lock (Gate) return (IntPtr)((hob_blob*)raw)->reflection;
            }
        }

        /// <summary>Copies the binary into a new array.</summary>
        public byte[] ToArray()
        {
            using (Hold(out var raw))
            {
                lock (Gate) return new ByteView(((hob_blob*)raw)->data, ((hob_blob*)raw)->size).ToArray();
            }
        }

        /// <summary>Copies the binary into an array and returns its size. Allocates nothing.</summary>
        public int CopyTo(byte[] target, int offset = 0)
        {
            using (Hold(out var raw))
            {
                lock (Gate)
                {
                    var view = new ByteView(((hob_blob*)raw)->data, ((hob_blob*)raw)->size);
                    view.CopyTo(target, offset);
                    return (int)view.Length;
                }
            }
        }

        /// <summary>Copies the reflection into a new array.</summary>
        public byte[] ReflectionToArray()
        {
            using (Hold(out var raw))
            {
                lock (Gate) return new ByteView(((hob_blob*)raw)->reflection, ((hob_blob*)raw)->reflection_size).ToArray();
            }
        }

        /// <summary>Ends the view, so that memory of an evicted program is freed. The blob can be used again.</summary>
        public void Clear()
        {
            using (Hold(out var raw))
            {
                lock (Gate)
                {
                    Native.hob_blob_release((hob_blob*)raw);
                    Hob.Check(Native.hob_blob_init((hob_blob*)raw, (uint)sizeof(hob_blob)));
                    IsBanned = false;
                }
            }
        }

        /// <summary>Keeps the blob alive during a get into it.</summary>
        internal Use HoldForGet(out IntPtr native) => Hold(out native);

        internal override void Destroy(IntPtr native)
        {
            Native.hob_blob_release((hob_blob*)native);
            Marshal.FreeHGlobal(native);
        }
    }
}
