// Managed code that the library calls: its data, its exceptions, and the end of an application domain.
// MIT OR Apache-2.0.
//
// A trampoline is a static method with [MonoPInvokeCallback] whose delegate lives in a static readonly field:
//
//     static readonly hob_setting_desc_set_choice_fn SetChoiceCallback = SetChoice;
//     static readonly IntPtr SetChoicePointer = Callbacks.Pointer(SetChoiceCallback);
//
//     [MonoPInvokeCallback(typeof(hob_setting_desc_set_choice_fn))]
//     static void SetChoice(void* userData, uint choice, ulong decisionId)
//     {
//         var call = Callbacks.Begin();
//         try { Callbacks.Get<Box>(userData).SetChoice(choice, decisionId); }
//         catch (Exception exception) { call.Fail(exception); }
//         finally { call.End(); }
//     }
//
// No exception leaves a trampoline. Fail keeps it for the managed call that made the native call on this thread: its
// Hob.Check throws it. A callback that may run on a thread of the library uses Report, or a SharedException that
// another call rethrows. Its thread calls BeginBackground instead of Begin if it runs background tasks.
//
// Threads that are aborted. Mono can abort a thread at the entry of a callback, before its try. That would unwind through
// the library, and the handle would stay busy for ever. Mono defers an abort while any caller is in a finally block. So
// the calls that destroy, or that run callbacks in every frame, are made there: `try { } finally { result = Native.hob_x(...); }`.
using System;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;
using System.Threading;
using Hobgoblin.Interop;

namespace Hobgoblin
{
    /// <summary>Marks a method that native code calls. Compilers ahead of time, such as IL2CPP, find it by its name.</summary>
    [AttributeUsage(AttributeTargets.Method)]
    internal sealed class MonoPInvokeCallbackAttribute : Attribute
    {
        public MonoPInvokeCallbackAttribute(Type type)
        {
            Type = type;
        }

        public Type Type { get; }
    }

    public static unsafe partial class Hob
    {
        /// <summary>
        /// Receives an exception of a callback that no managed call can throw: of a hook, of a callback on a thread of
        /// the library, or during Dispose. Runs on the thread of that callback. Its own exceptions are dropped.
        /// </summary>
        public static event Action<Exception> UnhandledCallbackException;

        /// <summary>
        /// Destroys everything that is alive in this application domain, removes its hooks, and joins the library's
        /// threads. It runs by itself before the domain is unloaded and before the process ends. Waits up to
        /// <paramref name="timeoutMilliseconds"/> for calls on other threads; false: one still runs. Inside a callback it
        /// does not wait, because the call around it cannot return. Afterwards new handles can be created.
        /// </summary>
        public static bool Shutdown(int timeoutMilliseconds = 10000)
        {
            if (!isReady) return true;
            var isInCallback = CallbackThread.Existing != null && CallbackThread.Existing.Depth > 0;
            var isComplete = Owners.DisposeAll(isInCallback ? 0 : timeoutMilliseconds);
            RemoveHooks();
            return isComplete;
        }

        /// <summary>Handles that are alive in this application domain. For tests: 0 if everything was disposed.</summary>
        public static int HandleCount => Owners.Count;

        /// <summary>Objects that the library holds for callbacks. For tests: 0 if everything was released.</summary>
        public static int UserDataCount => Callbacks.UserDataCount;

        internal static void Report(Exception exception)
        {
            try
            {
                var handler = UnhandledCallbackException;
                if (handler != null) handler(exception);
                else LogUnhandled(exception);
            }
            catch (Exception)
            {
                // There is nobody left to tell.
            }
        }
    }

    /// <summary>A callback that is running.</summary>
    internal struct Callback
    {
        internal CallbackThread Thread;
        internal bool IsBackground;

        /// <summary>Keeps the exception for the managed call around this callback.</summary>
        internal void Fail(Exception exception)
        {
            Callbacks.ResetAbort(exception);
            if (Thread == null || !Thread.Hold(exception)) Hob.Report(exception);
        }

        /// <summary>Reports the exception to Hob.UnhandledCallbackException.</summary>
        internal void Report(Exception exception)
        {
            Callbacks.ResetAbort(exception);
            Hob.Report(exception);
        }

        internal void End()
        {
            if (Thread == null) return;
            --Thread.Depth;
            if (IsBackground) --Thread.BackgroundDepth;
        }
    }

    /// <summary>The callbacks and their exceptions on one thread.</summary>
    internal sealed class CallbackThread
    {
        [ThreadStatic] static CallbackThread current;

        /// <summary>Callbacks that run on this thread, each inside a native call of the one before.</summary>
        internal int Depth;
        /// <summary>Background tasks among these callbacks.</summary>
        internal int BackgroundDepth;

        // The exception for the native call that was made at each depth.
        Exception[] held = new Exception[4];

        internal static CallbackThread Current => current ?? (current = new CallbackThread());
        internal static CallbackThread Existing => current;

        /// <summary>Keeps the first exception for the call around the running callback.</summary>
        internal bool Hold(Exception exception)
        {
            var depth = Depth - 1;
            if (depth >= held.Length) Array.Resize(ref held, depth * 2);
            if (held[depth] != null) return false;
            held[depth] = exception;
            Interlocked.Increment(ref Callbacks.HeldCount);
            return true;
        }

        internal bool HasHeld => Depth < held.Length && held[Depth] != null;

        /// <summary>Takes the exception of the call that has just returned on this thread.</summary>
        internal Exception Take()
        {
            if (Depth >= held.Length) return null;
            var exception = held[Depth];
            if (exception == null) return null;
            held[Depth] = null;
            Interlocked.Decrement(ref Callbacks.HeldCount);
            return exception;
        }
    }

    /// <summary>The first exception of callbacks on several threads, for the call that waits for them.</summary>
    internal sealed class SharedException
    {
        Exception first;
        Thread thread;

        internal bool IsSet => Volatile.Read(ref first) != null;

        internal void Keep(Exception exception)
        {
            Callbacks.ResetAbort(exception);
            if (Interlocked.CompareExchange(ref first, exception, null) == null) thread = Thread.CurrentThread;
            else Hob.Report(exception);
        }

        /// <summary>
        /// Throws it. Call it after the native call, on its thread: an exception that this thread holds for that call is
        /// reported, since two cannot be thrown.
        /// </summary>
        internal void Rethrow()
        {
            var exception = Take();
            if (exception == null) return;
            Callbacks.ReportHeld();
            if (exception is ThreadAbortException && thread != Thread.CurrentThread)
                throw new InvalidOperationException("a thread was aborted inside a callback", exception);
            Callbacks.Throw(exception);
        }

        /// <summary>Reports it, where nothing can be thrown.</summary>
        internal void Report()
        {
            var exception = Take();
            if (exception != null) Hob.Report(exception);
        }

        internal Exception Take()
        {
            return IsSet ? Interlocked.Exchange(ref first, null) : null;
        }
    }

    /// <summary>Data of a callback that must know when the library has released it.</summary>
    internal interface IReleased
    {
        void Released();
    }

    internal static unsafe class Callbacks
    {
        /// <summary>Exceptions that are held on all threads: nearly always 0, so that a check costs one read.</summary>
        internal static int HeldCount;

        static int userDataCount;

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        delegate void ReleaseFunction(void* userData);

        static readonly ReleaseFunction ReleaseCallback = Release;

        /// <summary>A `release` for the data of Keep.</summary>
        internal static readonly IntPtr ReleasePointer = Pointer(ReleaseCallback);

        internal static int UserDataCount => Volatile.Read(ref userDataCount);

        /// <summary>Whether this thread runs a background task.</summary>
        internal static bool IsInBackground
        {
            get
            {
                var thread = CallbackThread.Existing;
                return thread != null && thread.BackgroundDepth > 0;
            }
        }

        /// <summary>The native function of a delegate, which must be in a static readonly field.</summary>
        internal static IntPtr Pointer(Delegate callback)
        {
            return Marshal.GetFunctionPointerForDelegate(callback);
        }

        /// <summary>Makes user data of an object. It lives until Drop, or until the library calls ReleasePointer.</summary>
        internal static void* Keep(object data)
        {
            var handle = GCHandle.Alloc(data);
            Interlocked.Increment(ref userDataCount);
            return (void*)GCHandle.ToIntPtr(handle);
        }

        /// <summary>Frees user data of Keep that the library did not take.</summary>
        internal static void Drop(void* userData)
        {
            if (userData == null) return;
            GCHandle.FromIntPtr((IntPtr)userData).Free();
            Interlocked.Decrement(ref userDataCount);
        }

        /// <summary>The object of Keep.</summary>
        internal static T Get<T>(void* userData) where T : class
        {
            return (T)GCHandle.FromIntPtr((IntPtr)userData).Target;
        }

        [MonoPInvokeCallback(typeof(ReleaseFunction))]
        static void Release(void* userData)
        {
            var call = Begin();
            try
            {
                var released = GCHandle.FromIntPtr((IntPtr)userData).Target as IReleased;
                Drop(userData);
                released?.Released();
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

        /// <summary>Begins a callback.</summary>
        internal static Callback Begin()
        {
            var call = new Callback { Thread = Current() };
            if (call.Thread != null) ++call.Thread.Depth;
            return call;
        }

        /// <summary>Begins a background task. Handles that it disposes are destroyed on another thread.</summary>
        internal static Callback BeginBackground()
        {
            var call = Begin();
            if (call.Thread == null) return call;
            call.IsBackground = true;
            ++call.Thread.BackgroundDepth;
            return call;
        }

        static CallbackThread Current()
        {
            try
            {
                return CallbackThread.Current;
            }
            catch (OutOfMemoryException)
            {
                return null;
            }
        }

        /// <summary>Whether a callback threw inside the native call that has just returned.</summary>
        internal static bool HasHeld => HeldCount != 0 && CallbackThread.Existing != null && CallbackThread.Existing.HasHeld;

        /// <summary>Throws the exception of a callback that ran inside the native call that has just returned.</summary>
        internal static void Rethrow()
        {
            if (HeldCount == 0) return;
            var exception = CallbackThread.Existing?.Take();
            if (exception != null) Throw(exception);
        }

        /// <summary>Reports that exception instead, where nothing can be thrown.</summary>
        internal static void ReportHeld()
        {
            if (HeldCount == 0) return;
            var exception = CallbackThread.Existing?.Take();
            if (exception != null) Hob.Report(exception);
        }

        internal static void Throw(Exception exception)
        {
            if (exception is ThreadAbortException) Thread.CurrentThread.Abort();
            ExceptionDispatchInfo.Capture(exception).Throw();
        }

        /// <summary>The message of an exception, whose getter may be the host's and throw, too.</summary>
        internal static string MessageOf(Exception exception)
        {
            try
            {
                return exception.Message;
            }
            catch (Exception inner)
            {
                ResetAbort(inner);
                return exception.GetType().FullName;
            }
        }

        /// <summary>Lets an aborted thread return through native code. Throw aborts it again.</summary>
        internal static void ResetAbort(Exception exception)
        {
            if (exception is ThreadAbortException) Thread.ResetAbort();
        }
    }
}
