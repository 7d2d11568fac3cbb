// The hooks of base.h: log, clock, profiler zones and memory. MIT OR Apache-2.0.
//
// Hooks belong to the process, not to an application domain: the last one that is set counts. Unloading the domain
// removes those that it set.
using System;
using System.Collections.Concurrent;
using System.Threading;
using Hobgoblin.Interop;

namespace Hobgoblin
{
    /// <summary>How important a log line is; see hob_log_level.</summary>
    public enum LogLevel : uint
    {
        /// <summary>Details, for finding a fault.</summary>
        Debug = 0,
        /// <summary>Worth knowing.</summary>
        Info = 1,
        /// <summary>Something is wrong; the library goes on.</summary>
        Warning = 2,
        /// <summary>Something failed.</summary>
        Error = 3,
    }

    public static unsafe partial class Hob
    {
        static readonly hob_log_hook_write_fn WriteLogCallback = WriteLog;
        static readonly hob_clock_hook_now_ns_fn NowCallback = Now;
        static readonly hob_zone_hook_begin_fn BeginZoneCallback = BeginZone;
        static readonly hob_zone_hook_end_fn EndZoneCallback = EndZone;

        static readonly object HookGate = new object();
        // Names by address, which the library never changes.
        static readonly ConcurrentDictionary<long, string> ZoneNames = new ConcurrentDictionary<long, string>();
        static volatile Action<LogLevel, string> writeLog;
        static volatile Func<ulong> now;
        static volatile Action<string> beginZone;
        static volatile Action endZone;
        static int runningLogs;
        static bool hasLogHook, hasClockHook, hasZoneHook, hasAllocatorHook;

        /// <summary>
        /// Sets the receiver of log lines; null: none. Lines below <paramref name="minimumLevel"/> are dropped. It runs
        /// on any thread, perhaps on several at once, inside a call: it must not use that call's handle. Set it at any
        /// time. Its exceptions go to UnhandledCallbackException.
        /// </summary>
        public static void SetLogHook(Action<LogLevel, string> write, LogLevel minimumLevel = LogLevel.Info)
        {
            Ready();
            lock (HookGate)
            {
                var hook = new hob_log_hook();
                Check(Native.hob_log_hook_init(&hook, (uint)sizeof(hob_log_hook)));
                hook.minimum_level = (hob_log_level)minimumLevel;
                hook.write = Callbacks.Pointer(WriteLogCallback);
                if (write != null) writeLog = write;
                Check(Native.hob_set_log_hook(write == null ? null : &hook));
                writeLog = write;
                hasLogHook = write != null;
            }
        }

        /// <summary>
        /// Sets the clock, which returns monotonic nanoseconds; null: none. It runs on any thread, perhaps on several at
        /// once. Set it while no other call of the library runs.
        /// </summary>
        public static void SetClockHook(Func<ulong> nowNanoseconds)
        {
            Ready();
            lock (HookGate)
            {
                var hook = new hob_clock_hook();
                Check(Native.hob_clock_hook_init(&hook, (uint)sizeof(hob_clock_hook)));
                hook.now_ns = Callbacks.Pointer(NowCallback);
                if (nowNanoseconds != null) now = nowNanoseconds;
                Check(Native.hob_set_clock_hook(nowNanoseconds == null ? null : &hook));
                now = nowNanoseconds;
                hasClockHook = nowNanoseconds != null;
            }
        }

        /// <summary>
        /// Sets the receiver of profiler zones, the library's larger steps by name; null: none. Both run on any thread,
        /// perhaps on several at once. Set it while no other call of the library runs.
        /// </summary>
        public static void SetZoneHook(Action<string> begin, Action end)
        {
            Ready();
            lock (HookGate)
            {
                var isSet = begin != null && end != null;
                var hook = new hob_zone_hook();
                Check(Native.hob_zone_hook_init(&hook, (uint)sizeof(hob_zone_hook)));
                hook.begin = Callbacks.Pointer(BeginZoneCallback);
                hook.end = Callbacks.Pointer(EndZoneCallback);
                if (isSet)
                {
                    beginZone = begin;
                    endZone = end;
                }
                Check(Native.hob_set_zone_hook(isSet ? &hook : null));
                beginZone = begin;
                endZone = end;
                hasZoneHook = isSet;
            }
        }

        /// <summary>
        /// Sets the allocator, as two native functions of hob_allocator_hook; both zero: the system's. Managed code
        /// cannot be an allocator, because the library also allocates on threads and at times at which it must not run.
        /// Throws with Result.Busy while anything of the library is alive.
        /// </summary>
        public static void SetAllocatorHook(IntPtr allocate, IntPtr free, IntPtr userData)
        {
            Ready();
            lock (HookGate)
            {
                var isSet = allocate != IntPtr.Zero || free != IntPtr.Zero;
                var hook = new hob_allocator_hook();
                Check(Native.hob_allocator_hook_init(&hook, (uint)sizeof(hob_allocator_hook)));
                hook.user_data = (void*)userData;
                hook.allocate = allocate;
                hook.free = free;
                Check(Native.hob_set_allocator_hook(isSet ? &hook : null));
                hasAllocatorHook = isSet;
            }
        }

        /// <summary>Removes the hooks that this domain has set, and waits until none of them runs.</summary>
        static void RemoveHooks()
        {
            lock (HookGate)
            {
                if (hasLogHook) Native.hob_set_log_hook(null);
                if (hasClockHook) Native.hob_set_clock_hook(null);
                if (hasZoneHook) Native.hob_set_zone_hook(null);
                // Native functions outlive the domain. If memory is still in use, they stay.
                if (hasAllocatorHook) Native.hob_set_allocator_hook(null);
                hasLogHook = hasClockHook = hasZoneHook = hasAllocatorHook = false;
                writeLog = null;
                now = null;
                beginZone = null;
                endZone = null;
            }
            // Another domain's thread may be inside the log hook.
            for (var wait = 0; Volatile.Read(ref runningLogs) > 0 && wait < 1000; ++wait) Thread.Sleep(1);
        }

        static void LogUnhandled(Exception exception)
        {
            writeLog?.Invoke(LogLevel.Error, "unhandled exception of a callback: " + exception);
        }

        [MonoPInvokeCallback(typeof(hob_log_hook_write_fn))]
        static void WriteLog(void* userData, hob_log_level level, hob_str line)
        {
            var call = Callbacks.Begin();
            Interlocked.Increment(ref runningLogs);
            try
            {
                writeLog?.Invoke((LogLevel)level, Text.From(line));
            }
            catch (Exception exception)
            {
                call.Report(exception);
            }
            finally
            {
                Interlocked.Decrement(ref runningLogs);
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_clock_hook_now_ns_fn))]
        static ulong Now(void* userData)
        {
            var call = Callbacks.Begin();
            try
            {
                return now?.Invoke() ?? 0;
            }
            catch (Exception exception)
            {
                call.Report(exception);
                return 0;
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_zone_hook_begin_fn))]
        static void BeginZone(void* userData, byte* name)
        {
            var call = Callbacks.Begin();
            try
            {
                string text;
                if (!ZoneNames.TryGetValue((long)name, out text))
                {
                    text = Text.From(name);
                    ZoneNames[(long)name] = text;
                }
                beginZone?.Invoke(text);
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

        [MonoPInvokeCallback(typeof(hob_zone_hook_end_fn))]
        static void EndZone(void* userData)
        {
            var call = Callbacks.Begin();
            try
            {
                endZone?.Invoke();
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
