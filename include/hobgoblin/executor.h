// hobgoblin/executor.h: Loops over blocks on several threads, and a background queue for longer work.
//
//     // void cull(void *scene, uint32_t block, uint32_t worker) culls up to 256 objects, from index 256 * block.
//     // void save(void *game) writes a file; void free_game(void *game) frees the memory of it.
//     hob_executor *executor = NULL;
//     if (hob_executor_create_pool(3, &executor) != HOB_RESULT_OK) fail(hob_last_error());
//     const uint32_t blocks = (object_count + 255) / 256;
//     hob_executor_parallel_for(executor, blocks, cull, scene, HOB_PRIORITY_NORMAL, HOB_STR("cull"));
//     if (hob_executor_post(executor, save, game, free_game, HOB_PRIORITY_LOW, HOB_STR("save")) != HOB_RESULT_OK)
//         free_game(game); /* after a failure it is still the caller's */
//     hob_executor_wait_idle(executor, UINT64_MAX);
//     hob_executor_destroy(executor);
//
// Terms:
// - Block: one call of a loop's body, numbered from 0. A block should take some microseconds at least.
// - Worker: a thread that takes part in a loop. The caller is worker 0 and always takes part.
// - Task: work in the background. The tasks of one executor run one at a time.
// - Job system: the threads of an engine. hob_executor_desc connects them by callbacks.
//
// docs/threads.md has the details.
//
// Generated from src/ffi/executor; do not edit. MIT OR Apache-2.0.

#ifndef HOBGOBLIN_EXECUTOR_H
#define HOBGOBLIN_EXECUTOR_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Runs loops and background tasks.
/// A handle: see "Handles" in base.h. Other handles that use it keep it alive.
typedef struct hob_executor hob_executor;

// ---- Parameters -----------------------------------------------------------------------------------------------------

/// The priority of a loop or a task.
typedef enum hob_priority {
    /// The default.
    HOB_PRIORITY_NORMAL = 0,
    /// Another thread waits for the result.
    HOB_PRIORITY_HIGH = 1,
    /// Runs when nothing else waits.
    HOB_PRIORITY_LOW = 2,
} hob_priority;

/// The thread that runs background tasks.
typedef enum hob_background {
    /// The host calls hob_executor_pump.
    HOB_BACKGROUND_PUMP = 0,
    /// A thread of the library. hob_executor_destroy joins it.
    HOB_BACKGROUND_THREAD = 1,
    /// A thread of the host: hob_executor_desc.post.
    HOB_BACKGROUND_HOST = 2,
} hob_background;

/// hob_executor_desc.flags: host callbacks run only on the thread that calls the library.
/// For hosts whose runtime cannot run on other threads. hob_executor_parallel_for becomes a plain loop, and tasks of
/// hob_executor_post wait for hob_executor_pump. Loops and tasks of the library itself still use all threads.
#define HOB_EXECUTOR_CALLING_THREAD_ONLY 1

/// The bits of the priority in the `flags` of `enqueue` and `post`.
/// `flags & HOB_TASK_PRIORITY_MASK` is a hob_priority. Other bits are 0 in this version: ignore them.
#define HOB_TASK_PRIORITY_MASK 3

/// Parameters of an executor.
/// By default, loops run on the calling thread, and background tasks wait for a pump.
typedef struct hob_executor_desc {
    /// sizeof(hob_executor_desc).
    uint32_t struct_size;
    /// Limit of the threads that work on one loop, the caller included; at most 64. Default 0: the caller with all
    /// threads of the pool, or with `enqueue` as many as the machine runs at once.
    /// hob_executor_statistics.max_concurrency is the limit in force.
    uint32_t max_concurrency;
    /// Passed to the callbacks.
    void *user_data;
    /// Schedules one call of `run(task)` on a thread of the host. Returns a ticket for `finish`. Return NULL if `run`
    /// was called inside this call or never will be: no `finish` follows.
    ///
    /// `name` ends in NUL and is valid during the call. `flags & HOB_TASK_PRIORITY_MASK` is the hob_priority. Runs on
    /// the thread that called the library. Set both `enqueue` and `finish`, or neither.
    void *(*enqueue)(void *user_data, void (*run)(void *task), void *task, uint32_t flags, const char *name);
    /// Cancels the ticket's task if it has not started, and otherwise waits for its end. All blocks have started by
    /// then, so a late start would find no work. After `finish` has returned, `run` must not be called. Called exactly
    /// once per ticket, on the thread that called `enqueue`.
    void (*finish)(void *user_data, void *ticket);
    /// Schedules exactly one call of `run(task)` on a thread that may block. `run` must not be called inside this call.
    /// A call after the executor was destroyed does nothing; a call after the library was unloaded crashes. `name` and
    /// `flags` are as in `enqueue`. Runs on the thread that posts. Only with HOB_BACKGROUND_HOST.
    void (*post)(void *user_data, void (*run)(void *task), void *task, uint32_t flags, const char *name);
    /// Called exactly once, after the last call of the other callbacks. May be NULL.
    void (*release)(void *user_data);
    /// Threads of the built-in pool, without those that call the library; at most 63. Default 0: no pool. Must be 0 if
    /// `enqueue` is set.
    uint32_t pool_threads;
    /// The thread that runs background tasks. Default 0: HOB_BACKGROUND_PUMP.
    hob_background background;
    /// HOB_EXECUTOR_ bits. Default 0: none.
    uint32_t flags;
    /// Limit of the tasks that wait in the background. 0: the default, 65536.
    uint32_t task_limit;
} hob_executor_desc;

// ---- Create and destroy ---------------------------------------------------------------------------------------------

/// Creates an executor.
/// `desc` may be NULL: defaults. On success `*out_executor` is the caller's to destroy, and `user_data` belongs to the
/// executor.
///
///     hob_executor_desc desc = HOB_EXECUTOR_DESC_INIT;
///     desc.user_data = engine;
///     desc.enqueue = enqueue_job; /* on the engine's threads */
///     desc.finish = finish_job;
///     if (hob_executor_create(&desc, &executor) != HOB_RESULT_OK) fail(hob_last_error());
///
/// Threads: any.
HOB_NODISCARD HOB_API hob_result hob_executor_create(const hob_executor_desc *desc, hob_executor **out_executor);

/// Creates an executor with a pool of `threads` threads (0 to 63) and a background thread.
/// The calling thread takes part in its loops, so `threads` is the number of further threads. On success
/// `*out_executor` is the caller's to destroy. Threads: any.
HOB_NODISCARD HOB_API hob_result hob_executor_create_pool(uint32_t threads, hob_executor **out_executor);

/// Destroys an executor; NULL is allowed.
/// Waiting tasks are dropped: their `release` is called, their `run` is not. A running task is awaited, and all threads
/// are joined. If other handles use the executor, all of that happens when the last of them is destroyed. Destroy those
/// handles before the library is unloaded.
///
/// Threads: no call on it may run on another thread. Callbacks: `release` of the tasks, then of the desc, on this
/// thread.
HOB_API void hob_executor_destroy(hob_executor *executor);

// ---- Loops ----------------------------------------------------------------------------------------------------------

/// Calls `body` for every block from 0 to `blocks` - 1, on several threads at once, and returns after the last one.
/// `executor` may be NULL: all blocks run on this thread. Blocks run in any order. Inside a block or a task, a loop
/// uses no other thread. The job system gets `priority` and `name`. A loop allocates memory only if more loops run at
/// once than ever before.
///
///     /* void cull(void *scene, uint32_t block, uint32_t worker); blocks = (object_count + 255) / 256 */
///     hob_executor_parallel_for(executor, blocks, cull, scene, HOB_PRIORITY_NORMAL, HOB_STR("cull"));
///
/// HOB_RESULT_PANIC: a block ended in an internal error, and some blocks were not called. Threads: shared.
///
/// Callbacks: `body`, on this thread and those of the executor, always in this thread's floating-point environment
/// (MXCSR on x86-64, FPCR on AArch64).
/// `worker` is 0 on this thread. It is always below hob_executor_statistics.max_concurrency. Two blocks of one loop
/// that run at the same time have different workers. `body` may make shared calls, on this executor too.
HOB_API hob_result hob_executor_parallel_for(
    const hob_executor *executor, uint32_t blocks, void (*body)(void *user_data, uint32_t block, uint32_t worker),
    void *user_data, hob_priority priority, hob_str name);

// ---- Background -----------------------------------------------------------------------------------------------------

/// Posts a background task: `run(user_data)` is called later, one task at a time.
/// Tasks run by `priority`; tasks of one priority run in the order of the calls. `release` is called exactly once,
/// after `run` or instead of it. `release` may be NULL. Errors and the job system show the first 40 bytes of `name`.
///
///     /* void save(void *game); void free_game(void *game); */
///     if (hob_executor_post(executor, save, game, free_game, HOB_PRIORITY_LOW, HOB_STR("save")) != HOB_RESULT_OK)
///         free_game(game);
///
/// HOB_RESULT_LIMIT_EXCEEDED if task_limit tasks wait. After a failure `user_data` is still the caller's.
///
/// Threads: shared, also inside tasks and blocks. Callbacks: `post` of the desc, inside this call. Later `run` and
/// `release`, on the thread of the background; no lock is held.
HOB_API hob_result hob_executor_post(
    const hob_executor *executor, void (*run)(void *user_data), void *user_data, void (*release)(void *user_data),
    hob_priority priority, hob_str name);

/// Runs waiting background tasks on this thread until `budget_us` microseconds are used up.
/// 0 runs no task; UINT64_MAX: no limit. A task starts before the budget is used up, and is never interrupted. No task
/// starts while another thread runs one. The clock is the clock hook's, or the operating system's. `*out_ran` receives
/// the number of tasks that ran; `out_ran` may be NULL.
///
/// Tasks that are posted meanwhile wait for the next pump. Only pipeline libraries go on while their frame allows.
///
///     hob_executor_pump(executor, 500, NULL); /* each frame: half a millisecond */
///
/// HOB_RESULT_BUSY inside a block or a task. HOB_RESULT_PANIC: since the last pump or wait, a task ended in an internal
/// error, on any thread. Other tasks are not affected.
///
/// Threads: shared. Callbacks: `run` and `release` of the tasks, on this thread.
HOB_API hob_result hob_executor_pump(const hob_executor *executor, uint64_t budget_us, uint32_t *out_ran);

/// Runs background tasks on this thread, and waits for those on other threads, until all have ended.
/// For loading screens and tests. `timeout_us` is in microseconds. 0 runs no task and does not wait; UINT64_MAX: no
/// limit.
///
/// HOB_RESULT_TIMEOUT: the sentence names the task that runs. HOB_RESULT_BUSY inside a block or a task.
/// HOB_RESULT_PANIC as for hob_executor_pump.
///
/// Threads: shared. Callbacks: as for hob_executor_pump.
HOB_API hob_result hob_executor_wait_idle(const hob_executor *executor, uint64_t timeout_us);

// ---- Statistics -----------------------------------------------------------------------------------------------------

/// Counts of background tasks.
/// An answer: set struct_size, or begin with HOB_EXECUTOR_STATISTICS_INIT.
typedef struct hob_executor_statistics {
    /// sizeof(hob_executor_statistics).
    uint32_t struct_size;
    /// Limit of the threads that work on one loop, the caller included.
    uint32_t max_concurrency;
    /// Tasks that wait.
    uint64_t waiting;
    /// Tasks that run.
    uint64_t running;
    /// Tasks that have ended.
    uint64_t ran;
    /// Tasks of `ran` that ended in an internal error.
    uint64_t failed;
} hob_executor_statistics;

/// Gets the counts of background tasks.
/// Threads: shared.
HOB_API hob_result hob_executor_get_statistics(const hob_executor *executor, hob_executor_statistics *out_statistics);

/// Returns the bytes that the executor holds, without its threads' stacks and its tasks' own memory.
/// 0 for an invalid handle. Threads: shared.
HOB_NODISCARD HOB_API size_t hob_executor_memory_used(const hob_executor *executor);

// ---- Initialisers ---------------------------------------------------------------------------------------------------
//
// HOB_X_INIT is a hob_x with the library's defaults and this header's size: `hob_x value = HOB_X_INIT;`
// hob_x_init does the same for other languages: `size` is sizeof(hob_x).

HOB_API hob_result hob_executor_desc_init(hob_executor_desc *value, uint32_t size);
static inline hob_executor_desc hob_executor_desc_default(void) {
    hob_executor_desc value;
    (void)hob_executor_desc_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_EXECUTOR_DESC_INIT (hob_executor_desc_default())

HOB_API hob_result hob_executor_statistics_init(hob_executor_statistics *value, uint32_t size);
static inline hob_executor_statistics hob_executor_statistics_default(void) {
    hob_executor_statistics value;
    (void)hob_executor_statistics_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_EXECUTOR_STATISTICS_INIT (hob_executor_statistics_default())

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HOBGOBLIN_EXECUTOR_H
