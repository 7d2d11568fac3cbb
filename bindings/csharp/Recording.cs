// The receiver of a recording, of a goblin or a balance. MIT OR Apache-2.0.
using System;
using System.Runtime.InteropServices;
using Hobgoblin.Interop;

namespace Hobgoblin
{
    /// <summary>User data and callback of a recording.</summary>
    internal static unsafe class Recording
    {
        static readonly hob_goblin_start_recording_write_fn WriteCallback = Write;
        internal static readonly IntPtr WritePointer = Callbacks.Pointer(WriteCallback);

        internal static void* Keep(Action<byte[]> write)
        {
            if (write == null) throw new ArgumentNullException(nameof(write));
            return Callbacks.Keep(write);
        }

        [MonoPInvokeCallback(typeof(hob_goblin_start_recording_write_fn))]
        static void Write(void* userData, void* data, UIntPtr size)
        {
            var call = Callbacks.Begin();
            try
            {
                var piece = new byte[checked((int)size)];
                Marshal.Copy((IntPtr)data, piece, 0, piece.Length);
                Callbacks.Get<Action<byte[]>>(userData)(piece);
            }
            catch (Exception exception)
            {
                call.Fail(exception);
            }
            finally
            {
                call.End();
            }
        }
    }
}
