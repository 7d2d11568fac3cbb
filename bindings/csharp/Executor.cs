// Loops on several threads, and background tasks; see executor.h. MIT OR Apache-2.0.
//
//     using (var executor = Executor.CreatePool(3))
//     {
//         executor.ParallelFor((objectCount + 255) / 256, cull);    // an Action<uint> in a field: allocates nothing
//         executor.Post(() => File.WriteAllText("log.txt", text));
//         executor.WaitIdle();                                       // rethrows an exception of a task
//     }
using System;
using System.Runtime.InteropServices;
using System.Threading;
using Hobgoblin.Interop;

namespace Hobgoblin
{
    /// <summary>The priority of a loop or a task; see hob_priority.</summary>
    public enum Priority : uint
    {
        /// <summary>The default.</summary>
        Normal = 0,
        /// <summary>Another thread waits for the result.</summary>
        High = 1,
        /// <summary>Runs when nothing else waits.</summary>
        Low = 2,
    }

    /// <summary>The thread that runs background tasks; see hob_background.</summary>
    public enum Background : uint
    {
        /// <summary>The host calls Executor.Pump.</summary>
        Pump = 0,
        /// <summary>A thread of the library. Executor.Dispose joins it.</summary>
        Thread = 1,
        /// <summary>A thread of the host: ExecutorDesc.Post.</summary>
        Host = 2,
    }

    /// <summary>What all copies of a job share, and the user data of its ticket.</summary>
    internal sealed class JobState
    {
        internal object Ticket;
        readonly bool isTask;
        int isOver;

        internal JobState(bool isTask)
        {
            this.isTask = isTask;
        }

        /// <summary>The library frees a task after its run, and a loop after Finish.</summary>
        internal void Start()
        {
            var was = isTask ? Interlocked.Exchange(ref isOver, 1) : Volatile.Read(ref isOver);
            if (was != 0)
                throw new InvalidOperationException("the job is over: run it once, and before Finish returns");
        }

        internal void End()
        {
            Volatile.Write(ref isOver, 1);
        }
    }

    /// <summary>One call that the library asks the host to make: run it once, on any thread of the host.</summary>
    public unsafe struct Job
    {
        sealed class RunFunction
        {
            internal IntPtr Pointer;
            internal hob_executor_desc_enqueue_fn_run_fn Call;
        }

        // The library has one or two such functions, so the last one is nearly always the right one.
        static RunFunction last;

        readonly IntPtr run;
        readonly IntPtr task;
        readonly IntPtr name;
        readonly uint flags;
        readonly JobState state;

        internal Job(IntPtr run, void* task, uint flags, byte* name, JobState state)
        {
            this.state = state;
            this.run = run;
            this.task = (IntPtr)task;
            this.flags = flags;
            this.name = (IntPtr)name;
        }

        public Priority Priority => (Priority)(flags & Constants.HOB_TASK_PRIORITY_MASK);

        /// <summary>The name of the loop or task. Call it only inside Enqueue or Post.</summary>
        public string GetName()
        {
            return Text.From((byte*)name);
        }

        /// <summary>Does the work. Throws if a task has run already, or if Finish has returned for a loop.</summary>
        public void Run()
        {
            if (state == null) throw new InvalidOperationException("this is no job: take one from Enqueue or Post");
            state.Start();
            var function = Volatile.Read(ref last);
            if (function == null || function.Pointer != run)
            {
                function = new RunFunction
                {
                    Pointer = run,
                    Call = Marshal.GetDelegateForFunctionPointer<hob_executor_desc_enqueue_fn_run_fn>(run),
                };
                Volatile.Write(ref last, function);
            }
            function.Call((void*)task);
        }
    }

    /// <summary>
    /// The job system of an engine, for loops. Both methods run on the thread that calls the library.
    /// </summary>
    public interface IJobSystem
    {
        /// <summary>
        /// Schedules one call of job.Run on a thread of the host and returns a ticket for Finish. Null: it ran inside this
        /// call or never will, and no Finish follows. After an exception the job must never run; the call that runs the
        /// loop throws the exception.
        /// </summary>
        object Enqueue(Job job);

        /// <summary>
        /// Cancels the ticket's job if it has not started, and otherwise waits for its end. It must not run afterwards, and
        /// this method must not throw.
        /// </summary>
        void Finish(object ticket);
    }

    /// <summary>Parameters of an executor; see hob_executor_desc.</summary>
    public sealed unsafe class ExecutorDesc
    {
        internal hob_executor_desc Raw;

        public ExecutorDesc()
        {
            Hob.Ready(Room.Executor);
            fixed (hob_executor_desc* raw = &Raw)
                Hob.Check(Native.hob_executor_desc_init(raw, (uint)sizeof(hob_executor_desc)));
        }

        /// <summary>Most threads in one loop, the caller included. 0: no limit.</summary>
        public uint MaxConcurrency { get => Raw.max_concurrency; set => Raw.max_concurrency = value; }
        /// <summary>Threads of the built-in pool, without the callers; at most 63. 0: no pool.</summary>
        public uint PoolThreads { get => Raw.pool_threads; set => Raw.pool_threads = value; }
        /// <summary>The thread that runs background tasks. Default: the thread that calls Pump.</summary>
        public Background Background { get => (Background)Raw.background; set => Raw.background = (hob_background)value; }
        /// <summary>Most tasks that wait. 0: 65536.</summary>
        public uint TaskLimit { get => Raw.task_limit; set => Raw.task_limit = value; }
        /// <summary>Managed code runs only on threads that call the library: loops are plain, tasks wait for Pump.</summary>
        public bool CallingThreadOnly
        {
            get => (Raw.flags & Constants.HOB_EXECUTOR_CALLING_THREAD_ONLY) != 0;
            set => Raw.flags = value
                ? Raw.flags | Constants.HOB_EXECUTOR_CALLING_THREAD_ONLY
                : Raw.flags & ~Constants.HOB_EXECUTOR_CALLING_THREAD_ONLY;
        }
        /// <summary>The host's job system, instead of a pool.</summary>
        public IJobSystem JobSystem { get; set; }
        /// <summary>
        /// With Background.Host: schedules one call of job.Run on a thread that may block. It must not run inside this call,
        /// and no exception may be thrown: a task that is never run is lost.
        /// </summary>
        public Action<Job> Post { get; set; }
    }

    /// <summary>Counts of background tasks; see hob_executor_statistics.</summary>
    public struct ExecutorStatistics
    {
        internal hob_executor_statistics Raw;

        public uint MaxConcurrency => Raw.max_concurrency;
        public ulong Waiting => Raw.waiting;
        public ulong Running => Raw.running;
        public ulong Ran => Raw.ran;
        public ulong Failed => Raw.failed;
    }

    /// <summary>
    /// Runs loops on several threads and tasks in the background; see hob_executor. Handles that use it keep it alive.
    /// Any thread may call it.
    /// </summary>
    public sealed unsafe class Executor : HobHandle
    {
        static readonly hob_executor_parallel_for_body_fn RunBlockCallback = RunBlock;
        static readonly hob_executor_post_run_fn RunTaskCallback = RunTask;
        static readonly hob_executor_desc_enqueue_fn EnqueueCallback = Enqueue;
        static readonly hob_executor_desc_finish_fn FinishCallback = Finish;
        static readonly hob_executor_desc_post_fn PostCallback = PostToHost;
        static readonly IntPtr RunBlockPointer = Callbacks.Pointer(RunBlockCallback);
        static readonly IntPtr RunTaskPointer = Callbacks.Pointer(RunTaskCallback);
        static readonly IntPtr EnqueuePointer = Callbacks.Pointer(EnqueueCallback);
        static readonly IntPtr FinishPointer = Callbacks.Pointer(FinishCallback);
        static readonly IntPtr PostPointer = Callbacks.Pointer(PostCallback);

        const int NameCapacity = 160;

        readonly SharedException taskException = new SharedException();
        Loop spareLoop;

        /// <summary>By default, loops run on the calling thread, and background tasks wait for Pump.</summary>
        public Executor(ExecutorDesc desc = null)
        {
            Hob.Ready(Room.Executor);
            var raw = new hob_executor_desc();
            if (desc != null) raw = desc.Raw;
            void* host = null;
            if (desc != null && (desc.JobSystem != null || desc.Post != null))
            {
                host = Callbacks.Keep(new Host { JobSystem = desc.JobSystem, Post = desc.Post });
                raw.user_data = host;
                raw.release = Callbacks.ReleasePointer;
                if (desc.JobSystem != null)
                {
                    raw.enqueue = EnqueuePointer;
                    raw.finish = FinishPointer;
                }
                if (desc.Post != null) raw.post = PostPointer;
            }
            hob_executor* native = null;
            var isCreated = false;
            try
            {
                Hob.Check(Native.hob_executor_create(desc == null ? null : &raw, &native));
                isCreated = true;
            }
            finally
            {
                if (!isCreated) Callbacks.Drop(host);
            }
            Adopt(native);
        }

        Executor(uint threads)
        {
            Hob.Ready(Room.Executor);
            hob_executor* native = null;
            Hob.Check(Native.hob_executor_create_pool(threads, &native));
            Adopt(native);
        }

        /// <summary>An executor with <paramref name="threads"/> threads beside the callers, and a background thread.</summary>
        public static Executor CreatePool(uint threads)
        {
            return new Executor(threads);
        }

        internal override void Destroy(IntPtr native)
        {
            Native.hob_executor_destroy((hob_executor*)native);
            taskException.Report();
        }

        /// <summary>
        /// Calls <paramref name="body"/> with each block from 0 on, on several threads at once, and returns after the last.
        /// After an exception no further block starts; the first one is rethrown when the running blocks have ended.
        /// Allocates nothing.
        /// </summary>
        public void ParallelFor(uint blocks, Action<uint> body, Priority priority = Priority.Normal, string name = null)
        {
            if (body == null) throw new ArgumentNullException(nameof(body));
            RunLoop(blocks, body, null, priority, name);
        }

        /// <summary>As the other one, with a body that also gets the number of its worker.</summary>
        public void ParallelFor(
            uint blocks, Action<uint, uint> body, Priority priority = Priority.Normal, string name = null)
        {
            if (body == null) throw new ArgumentNullException(nameof(body));
            RunLoop(blocks, null, body, priority, name);
        }

        void RunLoop(uint blocks, Action<uint> body, Action<uint, uint> bodyOfWorker, Priority priority, string name)
        {
            var buffer = stackalloc byte[NameCapacity];
            var loop = Interlocked.Exchange(ref spareLoop, null) ?? new Loop();
            loop.Body = body;
            loop.BodyOfWorker = bodyOfWorker;
            void* userData = null;
            hob_result result;
            try
            {
                userData = Callbacks.Keep(loop);
                using (Hold(out var native))
                {
                    var text = Text.Encode(name, buffer, NameCapacity);
                    try { } // see "Threads that are aborted" in Callbacks.cs
                    finally
                    {
                        result = Native.hob_executor_parallel_for(
                            (hob_executor*)native, blocks, RunBlockPointer, userData, (hob_priority)priority, text);
                    }
                    if (!loop.Exception.IsSet) Hob.Check(result);
                }
                loop.Exception.Rethrow();
            }
            finally
            {
                Callbacks.Drop(userData);
                loop.Body = null;
                loop.BodyOfWorker = null;
                Volatile.Write(ref spareLoop, loop);
            }
        }

        /// <summary>
        /// Calls <paramref name="work"/> once in the background, one task at a time. The next Pump or WaitIdle rethrows its
        /// exception. A task that still waits when the executor is destroyed is dropped.
        /// </summary>
        public void Post(Action work, Priority priority = Priority.Normal, string name = null)
        {
            if (work == null) throw new ArgumentNullException(nameof(work));
            var buffer = stackalloc byte[NameCapacity];
            var userData = Callbacks.Keep(new Task { Work = work, Exception = taskException });
            var isPosted = false;
            try
            {
                using (Hold(out var native))
                {
                    var text = Text.Encode(name, buffer, NameCapacity);
                    hob_result result;
                    try { }
                    finally
                    {
                        result = Native.hob_executor_post(
                            (hob_executor*)native, RunTaskPointer, userData, Callbacks.ReleasePointer,
                            (hob_priority)priority, text);
                        isPosted = result == hob_result.HOB_RESULT_OK;
                    }
                    Hob.Check(result);
                }
            }
            finally
            {
                if (!isPosted) Callbacks.Drop(userData);
            }
        }

        /// <summary>Runs waiting tasks on this thread for up to that many microseconds. Returns how many ran.</summary>
        public uint Pump(ulong budgetMicroseconds = ulong.MaxValue)
        {
            using (Hold(out var native))
            {
                uint ran;
                hob_result result;
                try { }
                finally { result = Native.hob_executor_pump((hob_executor*)native, budgetMicroseconds, &ran); }
                taskException.Rethrow();
                Hob.Check(result);
                return ran;
            }
        }

        /// <summary>
        /// Runs tasks on this thread, and waits for those of other threads, until all have ended. False: the time was too
        /// short.
        /// </summary>
        public bool WaitIdle(ulong timeoutMicroseconds = ulong.MaxValue)
        {
            using (Hold(out var native))
            {
                hob_result result;
                try { }
                finally { result = Native.hob_executor_wait_idle((hob_executor*)native, timeoutMicroseconds); }
                taskException.Rethrow();
                return Hob.CheckUnless(result, hob_result.HOB_RESULT_TIMEOUT);
            }
        }

        public ExecutorStatistics GetStatistics()
        {
            using (Hold(out var native))
            {
                var statistics = new ExecutorStatistics();
                Hob.Check(Native.hob_executor_statistics_init(&statistics.Raw, (uint)sizeof(hob_executor_statistics)));
                Hob.Check(Native.hob_executor_get_statistics((hob_executor*)native, &statistics.Raw));
                return statistics;
            }
        }

        /// <summary>Bytes that it holds, without the stacks of its threads.</summary>
        public ulong MemoryUsed
        {
            get { using (Hold(out var native)) return (ulong)Native.hob_executor_memory_used((hob_executor*)native); }
        }

        sealed class Loop
        {
            internal readonly SharedException Exception = new SharedException();
            internal Action<uint> Body;
            internal Action<uint, uint> BodyOfWorker;
        }

        sealed class Task
        {
            internal Action Work;
            internal SharedException Exception;
        }

        sealed class Host
        {
            internal IJobSystem JobSystem;
            internal Action<Job> Post;
        }

        [MonoPInvokeCallback(typeof(hob_executor_parallel_for_body_fn))]
        static void RunBlock(void* userData, uint block, uint worker)
        {
            var call = Callbacks.Begin();
            Loop loop = null;
            try
            {
                loop = Callbacks.Get<Loop>(userData);
                if (loop.Exception.IsSet) return;
                if (loop.Body != null) loop.Body(block);
                else loop.BodyOfWorker(block, worker);
            }
            catch (Exception exception)
            {
                if (loop != null) loop.Exception.Keep(exception);
                else call.Report(exception);
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_executor_post_run_fn))]
        static void RunTask(void* userData)
        {
            var call = Callbacks.BeginBackground();
            Task task = null;
            try
            {
                task = Callbacks.Get<Task>(userData);
                task.Work();
            }
            catch (Exception exception)
            {
                if (task != null) task.Exception.Keep(exception);
                else call.Report(exception);
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_executor_desc_enqueue_fn))]
        static void* Enqueue(void* userData, IntPtr run, void* task, uint flags, byte* name)
        {
            var call = Callbacks.Begin();
            try
            {
                var state = new JobState(false);
                state.Ticket = Callbacks.Get<Host>(userData).JobSystem.Enqueue(new Job(run, task, flags, name, state));
                if (state.Ticket != null) return Callbacks.Keep(state);
                state.End();
                return null;
            }
            catch (Exception exception)
            {
                call.Fail(exception);
                return null;
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_executor_desc_finish_fn))]
        static void Finish(void* userData, void* ticket)
        {
            var call = Callbacks.Begin();
            try
            {
                Callbacks.Get<Host>(userData).JobSystem.Finish(Callbacks.Get<JobState>(ticket).Ticket);
            }
            catch (Exception exception)
            {
                call.Fail(exception);
            }
            finally
            {
                Callbacks.Get<JobState>(ticket).End();
                Callbacks.Drop(ticket);
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_executor_desc_post_fn))]
        static void PostToHost(void* userData, IntPtr run, void* task, uint flags, byte* name)
        {
            var call = Callbacks.Begin();
            try
            {
                Callbacks.Get<Host>(userData).Post(new Job(run, task, flags, name, new JobState(true)));
            }
            catch (Exception exception)
            {
                // Tasks of the library are also posted from its own threads, where no managed call could throw.
                call.Report(exception);
            }
            finally
            {
                call.End();
            }
        }
    }
}
