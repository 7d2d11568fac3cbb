// hobgoblin/executor.h: Loops over blocks on several threads, and a background queue for longer work.
// Generated from abi/hobgoblin-api.json; do not edit. MIT OR Apache-2.0.

using System;
using System.Runtime.InteropServices;

namespace Hobgoblin.Interop
{
    /// <summary>The numeric macros of the headers.</summary>
    public static partial class Constants
    {
        /// <summary>hob_executor_desc.flags: host callbacks run only on the thread that calls the library.</summary>
        /// <remarks>
        /// For hosts whose runtime cannot run on other threads. hob_executor_parallel_for becomes a plain loop, and tasks of
        /// hob_executor_post wait for hob_executor_pump. Loops and tasks of the library itself still use all threads.
        /// </remarks>
        public const uint HOB_EXECUTOR_CALLING_THREAD_ONLY = 1;

        /// <summary>The bits of the priority in the <c>flags</c> of <c>enqueue</c> and <c>post</c>.</summary>
        /// <remarks>
        /// <c>flags &amp; HOB_TASK_PRIORITY_MASK</c> is a hob_priority. Other bits are 0 in this version: ignore them.
        /// </remarks>
        public const uint HOB_TASK_PRIORITY_MASK = 3;
    }

    /// <summary>The priority of a loop or a task.</summary>
    public enum hob_priority : uint
    {
        /// <summary>The default.</summary>
        HOB_PRIORITY_NORMAL = 0,

        /// <summary>Another thread waits for the result.</summary>
        HOB_PRIORITY_HIGH = 1,

        /// <summary>Runs when nothing else waits.</summary>
        HOB_PRIORITY_LOW = 2,
    }

    /// <summary>The thread that runs background tasks.</summary>
    public enum hob_background : uint
    {
        /// <summary>The host calls hob_executor_pump.</summary>
        HOB_BACKGROUND_PUMP = 0,

        /// <summary>A thread of the library. hob_executor_destroy joins it.</summary>
        HOB_BACKGROUND_THREAD = 1,

        /// <summary>A thread of the host: hob_executor_desc.post.</summary>
        HOB_BACKGROUND_HOST = 2,
    }

    /// <summary>Runs loops and background tasks.</summary>
    /// <remarks>
    /// A handle: see "Handles" in base.h. Other handles that use it keep it alive.
    /// </remarks>
    public struct hob_executor
    {
    }

    /// <summary>Parameters of an executor.</summary>
    /// <remarks>
    /// By default, loops run on the calling thread, and background tasks wait for a pump.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_executor_desc
    {
        /// <summary>sizeof(hob_executor_desc).</summary>
        public uint struct_size;

        /// <summary>Limit of the threads that work on one loop, the caller included; at most 64. Default 0: the caller with all
        /// threads of the pool, or with <c>enqueue</c> as many as the machine runs at once.</summary>
        /// <remarks>
        /// hob_executor_statistics.max_concurrency is the limit in force.
        /// </remarks>
        public uint max_concurrency;

        /// <summary>Passed to the callbacks.</summary>
        public void* user_data;

        /// <summary>Schedules one call of <c>run(task)</c> on a thread of the host. Returns a ticket for <c>finish</c>. Return NULL if <c>run</c>
        /// was called inside this call or never will be: no <c>finish</c> follows.</summary>
        /// <remarks>
        /// <c>name</c> ends in NUL and is valid during the call. <c>flags &amp; HOB_TASK_PRIORITY_MASK</c> is the hob_priority. Runs on
        /// the thread that called the library. Set both <c>enqueue</c> and <c>finish</c>, or neither.
        /// </remarks>
        public IntPtr enqueue;

        /// <summary>Cancels the ticket's task if it has not started, and otherwise waits for its end. All blocks have started by
        /// then, so a late start would find no work. After <c>finish</c> has returned, <c>run</c> must not be called. Called exactly
        /// once per ticket, on the thread that called <c>enqueue</c>.</summary>
        public IntPtr finish;

        /// <summary>Schedules exactly one call of <c>run(task)</c> on a thread that may block. <c>run</c> must not be called inside this call.</summary>
        /// <remarks>
        /// A call after the executor was destroyed does nothing; a call after the library was unloaded crashes. <c>name</c> and
        /// <c>flags</c> are as in <c>enqueue</c>. Runs on the thread that posts. Only with HOB_BACKGROUND_HOST.
        /// </remarks>
        public IntPtr post;

        /// <summary>Called exactly once, after the last call of the other callbacks. May be NULL.</summary>
        public IntPtr release;

        /// <summary>Threads of the built-in pool, without those that call the library; at most 63. Default 0: no pool. Must be 0 if
        /// <c>enqueue</c> is set.</summary>
        public uint pool_threads;

        /// <summary>The thread that runs background tasks. Default 0: HOB_BACKGROUND_PUMP.</summary>
        public hob_background background;

        /// <summary>HOB_EXECUTOR_ bits. Default 0: none.</summary>
        public uint flags;

        /// <summary>Limit of the tasks that wait in the background. 0: the default, 65536.</summary>
        public uint task_limit;
    }

    /// <summary>Counts of background tasks.</summary>
    /// <remarks>
    /// An answer: set struct_size, or begin with HOB_EXECUTOR_STATISTICS_INIT.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_executor_statistics
    {
        /// <summary>sizeof(hob_executor_statistics).</summary>
        public uint struct_size;

        /// <summary>Limit of the threads that work on one loop, the caller included.</summary>
        public uint max_concurrency;

        /// <summary>Tasks that wait.</summary>
        public ulong waiting;

        /// <summary>Tasks that run.</summary>
        public ulong running;

        /// <summary>Tasks that have ended.</summary>
        public ulong ran;

        /// <summary>Tasks of <c>ran</c> that ended in an internal error.</summary>
        public ulong failed;
    }

    /// <summary>The type of hob_executor_desc.enqueue, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void* hob_executor_desc_enqueue_fn(void* user_data, IntPtr run, void* task, uint flags, byte* name);

    /// <summary>The type of hob_executor_desc_enqueue_fn.run, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_executor_desc_enqueue_fn_run_fn(void* task);

    /// <summary>The type of hob_executor_desc.finish, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_executor_desc_finish_fn(void* user_data, void* ticket);

    /// <summary>The type of hob_executor_desc.post, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_executor_desc_post_fn(void* user_data, IntPtr run, void* task, uint flags, byte* name);

    /// <summary>The type of hob_executor_desc_post_fn.run, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_executor_desc_post_fn_run_fn(void* task);

    /// <summary>The type of hob_executor_desc.release, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_executor_desc_release_fn(void* user_data);

    /// <summary>The type of hob_executor_parallel_for.body, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_executor_parallel_for_body_fn(void* user_data, uint block, uint worker);

    /// <summary>The type of hob_executor_post.run, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_executor_post_run_fn(void* user_data);

    /// <summary>The type of hob_executor_post.release, whose C type is a pointer to it.</summary>
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void hob_executor_post_release_fn(void* user_data);

    /// <summary>The functions of the library.</summary>
    public static unsafe partial class Native
    {
        /// <summary>Creates an executor.</summary>
        /// <remarks>
        /// <c>desc</c> may be NULL: defaults. On success <c>*out_executor</c> is the caller's to destroy, and <c>user_data</c> belongs to the
        /// executor.
        /// <para/>
        /// <code>
        /// hob_executor_desc desc = HOB_EXECUTOR_DESC_INIT;
        /// desc.user_data = engine;
        /// desc.enqueue = enqueue_job; /* on the engine's threads */
        /// desc.finish = finish_job;
        /// if (hob_executor_create(&amp;desc, &amp;executor) != HOB_RESULT_OK) fail(hob_last_error());
        /// </code>
        /// Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_executor_create(hob_executor_desc* desc, hob_executor** out_executor);

        /// <summary>Creates an executor with a pool of <c>threads</c> threads (0 to 63) and a background thread.</summary>
        /// <remarks>
        /// The calling thread takes part in its loops, so <c>threads</c> is the number of further threads. On success
        /// <c>*out_executor</c> is the caller's to destroy. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_executor_create_pool(uint threads, hob_executor** out_executor);

        /// <summary>Destroys an executor; NULL is allowed.</summary>
        /// <remarks>
        /// Waiting tasks are dropped: their <c>release</c> is called, their <c>run</c> is not. A running task is awaited, and all threads
        /// are joined. If other handles use the executor, all of that happens when the last of them is destroyed. Destroy those
        /// handles before the library is unloaded.
        /// <para/>
        /// Threads: no call on it may run on another thread. Callbacks: <c>release</c> of the tasks, then of the desc, on this
        /// thread.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern void hob_executor_destroy(hob_executor* executor);

        /// <summary>Calls <c>body</c> for every block from 0 to <c>blocks</c> - 1, on several threads at once, and returns after the last one.</summary>
        /// <remarks>
        /// <c>executor</c> may be NULL: all blocks run on this thread. Blocks run in any order. Inside a block or a task, a loop
        /// uses no other thread. The job system gets <c>priority</c> and <c>name</c>. A loop allocates memory only if more loops run at
        /// once than ever before.
        /// <para/>
        /// <code>
        /// /* void cull(void *scene, uint32_t block, uint32_t worker); blocks = (object_count + 255) / 256 */
        /// hob_executor_parallel_for(executor, blocks, cull, scene, HOB_PRIORITY_NORMAL, HOB_STR("cull"));
        /// </code>
        /// HOB_RESULT_PANIC: a block ended in an internal error, and some blocks were not called. Threads: shared.
        /// <para/>
        /// Callbacks: <c>body</c>, on this thread and those of the executor, always in this thread's floating-point environment
        /// (MXCSR on x86-64, FPCR on AArch64).
        /// <c>worker</c> is 0 on this thread. It is always below hob_executor_statistics.max_concurrency. Two blocks of one loop
        /// that run at the same time have different workers. <c>body</c> may make shared calls, on this executor too.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_executor_parallel_for(hob_executor* executor, uint blocks, IntPtr body, void* user_data, hob_priority priority, hob_str name);

        /// <summary>Posts a background task: <c>run(user_data)</c> is called later, one task at a time.</summary>
        /// <remarks>
        /// Tasks run by <c>priority</c>; tasks of one priority run in the order of the calls. <c>release</c> is called exactly once,
        /// after <c>run</c> or instead of it. <c>release</c> may be NULL. Errors and the job system show the first 40 bytes of <c>name</c>.
        /// <para/>
        /// <code>
        /// /* void save(void *game); void free_game(void *game); */
        /// if (hob_executor_post(executor, save, game, free_game, HOB_PRIORITY_LOW, HOB_STR("save")) != HOB_RESULT_OK)
        ///     free_game(game);
        /// </code>
        /// HOB_RESULT_LIMIT_EXCEEDED if task_limit tasks wait. After a failure <c>user_data</c> is still the caller's.
        /// <para/>
        /// Threads: shared, also inside tasks and blocks. Callbacks: <c>post</c> of the desc, inside this call. Later <c>run</c> and
        /// <c>release</c>, on the thread of the background; no lock is held.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_executor_post(hob_executor* executor, IntPtr run, void* user_data, IntPtr release, hob_priority priority, hob_str name);

        /// <summary>Runs waiting background tasks on this thread until <c>budget_us</c> microseconds are used up.</summary>
        /// <remarks>
        /// 0 runs no task; UINT64_MAX: no limit. A task starts before the budget is used up, and is never interrupted. No task
        /// starts while another thread runs one. The clock is the clock hook's, or the operating system's. <c>*out_ran</c> receives
        /// the number of tasks that ran; <c>out_ran</c> may be NULL.
        /// <para/>
        /// Tasks that are posted meanwhile wait for the next pump. Only pipeline libraries go on while their frame allows.
        /// <para/>
        /// <code>
        /// hob_executor_pump(executor, 500, NULL); /* each frame: half a millisecond */
        /// </code>
        /// HOB_RESULT_BUSY inside a block or a task. HOB_RESULT_PANIC: since the last pump or wait, a task ended in an internal
        /// error, on any thread. Other tasks are not affected.
        /// <para/>
        /// Threads: shared. Callbacks: <c>run</c> and <c>release</c> of the tasks, on this thread.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_executor_pump(hob_executor* executor, ulong budget_us, uint* out_ran);

        /// <summary>Runs background tasks on this thread, and waits for those on other threads, until all have ended.</summary>
        /// <remarks>
        /// For loading screens and tests. <c>timeout_us</c> is in microseconds. 0 runs no task and does not wait; UINT64_MAX: no
        /// limit.
        /// <para/>
        /// HOB_RESULT_TIMEOUT: the sentence names the task that runs. HOB_RESULT_BUSY inside a block or a task.
        /// HOB_RESULT_PANIC as for hob_executor_pump.
        /// <para/>
        /// Threads: shared. Callbacks: as for hob_executor_pump.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_executor_wait_idle(hob_executor* executor, ulong timeout_us);

        /// <summary>Gets the counts of background tasks.</summary>
        /// <remarks>
        /// Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_executor_get_statistics(hob_executor* executor, hob_executor_statistics* out_statistics);

        /// <summary>Returns the bytes that the executor holds, without its threads' stacks and its tasks' own memory.</summary>
        /// <remarks>
        /// 0 for an invalid handle. Threads: shared.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern UIntPtr hob_executor_memory_used(hob_executor* executor);

        /// <summary>Sets the defaults of a hob_executor_desc.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_executor_desc). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_executor_desc_init(hob_executor_desc* value, uint size);

        /// <summary>Sets the defaults of a hob_executor_statistics.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_executor_statistics). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_executor_statistics_init(hob_executor_statistics* value, uint size);
    }
}
