// hobgoblin/executor.h: Who does the work: the calling thread, a pool, the host's job system; and what works in the background.
// Generated from src/ffi/executor.rs; do not edit. MIT OR Apache-2.0.

#ifndef HOBGOBLIN_EXECUTOR_H
#define HOBGOBLIN_EXECUTOR_H

#include "base.h"

/// hob_executor_desc.flags: callbacks of the host's are called on no thread but the one that calls the library, for hosts
/// whose runtime does not know other threads. Loops over callbacks are inline, tasks of hob_executor_post wait for
/// hob_executor_pump; the library's own loops and tasks are spread as ever.
#define HOB_EXECUTOR_CALLING_THREAD_ONLY 1

/// The bits of enqueue's and post's `flags` that are a hob_priority. The others are 0 for now.
#define HOB_TASK_PRIORITY 3

/// How urgent work is.
typedef enum {
    /// As most.
    HOB_PRIORITY_NORMAL = 0,
    /// Somebody waits for it.
    HOB_PRIORITY_HIGH = 1,
    /// Whenever there is nothing better to do.
    HOB_PRIORITY_LOW = 2,
} hob_priority;

/// Who serves the background.
typedef enum {
    /// Whoever calls hob_executor_pump.
    HOB_BACKGROUND_PUMP = 0,
    /// A thread of the library's, joined when the executor goes.
    HOB_BACKGROUND_THREAD = 1,
    /// A thread of the host's: hob_executor_desc.post.
    HOB_BACKGROUND_HOST = 2,
} hob_background;

/// Who does the work: inline, a built-in pool, or the host's job system; and what works in the background. A handle; see
/// docs/ownership.md and docs/threads.md. Other handles that were given it keep it alive.
typedef struct hob_executor hob_executor;

/// How an executor works. Defaults: inline, and a background that is pumped.
typedef struct {
    /// sizeof(hob_executor_desc); set by hob_executor_desc_init.
    uint32_t struct_size;
    /// Most threads that work on one loop, the caller included; at most 64. Default 0: all there are.
    uint32_t max_concurrency;
    void *user_data;
    /// Have `run(task)` run soon on some thread of the host's. Returns a ticket, or NULL when it ran inside the call or
    /// will not run at all. `name` ends in NUL and is valid during the call; `flags`: HOB_TASK_PRIORITY. Called on the
    /// thread that called the library. May be NULL together with `finish`.
    void *(*enqueue)(void *user_data, void (*run)(void *task), void *task, uint32_t flags, const char *name);
    /// Return when the ticket's task has run, or is sure never to: one that has not begun had better be taken back, since
    /// by now nothing is left for it to do. Called exactly once for each ticket, on the thread on which enqueue was.
    /// After it returned, `run` must not be called.
    void (*finish)(void *user_data, void *ticket);
    /// With HOB_BACKGROUND_HOST: have `run(task)` run, exactly once, on a thread that may take its time, and not inside
    /// this call. It may also come after the executor has gone, and then does nothing; but not after the library has
    /// been unloaded. `name` and `flags` as for enqueue. Called on the thread that posts.
    void (*post)(void *user_data, void (*run)(void *task), void *task, uint32_t flags, const char *name);
    /// Called exactly once, when none of the above is called any more. May be NULL.
    void (*release)(void *user_data);
    /// Threads of the built-in pool, beside those that call; at most 63. Default 0: none. Not together with `enqueue`.
    uint32_t pool_threads;
    /// A hob_background. Default HOB_BACKGROUND_PUMP.
    uint32_t background;
    /// HOB_EXECUTOR_ bits.
    uint32_t flags;
    /// Most tasks that wait in the background. Default 65536.
    uint32_t task_limit;
} hob_executor_desc;

/// What the background has done and has to do. Filled in by the library; initialise with HOB_EXECUTOR_STATISTICS_INIT.
typedef struct {
    /// sizeof(hob_executor_statistics); set by hob_executor_statistics_init.
    uint32_t struct_size;
    /// Most threads that work on one loop, the caller included.
    uint32_t max_concurrency;
    /// Tasks that wait.
    uint64_t waiting;
    /// Tasks that run.
    uint64_t running;
    /// Tasks that have run.
    uint64_t ran;
    /// Tasks among those that ended in an internal error.
    uint64_t failed;
} hob_executor_statistics;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/// Fill in defaults; `size` is sizeof(hob_executor_desc). Usually by HOB_EXECUTOR_DESC_INIT.
HOB_API hob_result hob_executor_desc_init(hob_executor_desc *desc, uint32_t size);

/// Fill in defaults; `size` is sizeof(hob_executor_statistics). Usually by HOB_EXECUTOR_STATISTICS_INIT.
HOB_API hob_result hob_executor_statistics_init(hob_executor_statistics *statistics, uint32_t size);

/// Create an executor. `desc` NULL: defaults. `*out_executor` is written on success, and is then the caller's to destroy;
/// `user_data` is the executor's from then on. Threads: any.
HOB_NODISCARD HOB_API
hob_result hob_executor_create(const hob_executor_desc *desc,
                               hob_executor **out_executor);

/// Create an executor with a built-in pool of `threads` threads (0 to 63) beside those that call, and a built-in thread
/// for the background. `*out_executor` is written on success, and is then the caller's to destroy. Threads: any.
HOB_NODISCARD HOB_API hob_result hob_executor_create_pool(uint32_t threads, hob_executor **out_executor);

/// Destroy an executor; NULL is no executor. When no other handle uses it, tasks that have not begun are dropped with
/// their `release` called, the one that runs is awaited, and all threads are joined; otherwise that happens when the last
/// of those handles is destroyed, so destroy them before the library is unloaded.
/// Threads: no other call on it may run. Callbacks: the tasks' `release`, then the desc's, on this thread.
HOB_API
void hob_executor_destroy(hob_executor *executor);

/// Call `body` for every block from 0 to `blocks` - 1, in any order and on several threads at once, and return when all
/// have ended. `executor` may be NULL: inline. `worker` is below max_concurrency, 0 is the calling thread, and no two
/// blocks run at once under one number. `priority`: a hob_priority; `name` is passed on to the job system.
/// Inside a block or a task of any executor it is a plain loop. Takes no memory once as many loops have run at a time.
/// Threads: any, several at once. Callbacks: `body`, on this thread and on the executor's; it may call whatever is for
/// several threads at once, and must return on the thread on which it was called.
HOB_API
hob_result hob_executor_parallel_for(const hob_executor *executor,
                                     uint32_t blocks,
                                     void (*body)(void *user_data, uint32_t block, uint32_t worker),
                                     void *user_data,
                                     uint32_t priority,
                                     hob_str name);

/// Have `run(user_data)` run in the background: one task at a time, by `priority` (a hob_priority), first come first
/// served. `release` (may be NULL) is called exactly once, after `run` or instead of it. `name` is for statistics, errors
/// and the job system; its first 40 bytes are kept.
/// Returns HOB_RESULT_LIMIT_EXCEEDED when task_limit tasks wait, HOB_RESULT_OUT_OF_MEMORY; `user_data` is then still the
/// caller's. Threads: any, several at once, also from inside tasks and blocks. Callbacks: the desc's `post`, before this
/// returns; `run` and `release` later, on the thread that serves the background, with nothing locked.
HOB_API
hob_result hob_executor_post(const hob_executor *executor,
                             void (*run)(void *user_data),
                             void *user_data,
                             void (*release)(void *user_data),
                             uint32_t priority,
                             hob_str name);

/// Run background tasks on this thread: as many as waited when it was called, until `budget_us` microseconds (by the
/// host's clock, if it has lent one) are used up. A task is begun as long as anything is left, and never interrupted; 0
/// begins none, UINT64_MAX is no limit. While another thread runs a task, none is begun. `*out_ran` (may be NULL) gets
/// the number of tasks run.
/// Returns HOB_RESULT_BUSY from inside a block or a task, HOB_RESULT_PANIC when a task has ended in an internal error
/// since the last call (on whatever thread; the others are not affected). Threads: any. Callbacks: the tasks' `run` and
/// `release`, on this thread.
HOB_API hob_result hob_executor_pump(const hob_executor *executor, uint64_t budget_us, uint32_t *out_ran);

/// Run background tasks on this thread, and await those that run elsewhere, until there is none: for loading screens and
/// tests. `timeout_us`: microseconds; UINT64_MAX: as long as it takes.
/// Returns HOB_RESULT_BUSY when it takes longer (the sentence says what is left) and from inside a block or a task;
/// HOB_RESULT_PANIC as hob_executor_pump. Threads: any. Callbacks: as hob_executor_pump.
HOB_API
hob_result hob_executor_wait_idle(const hob_executor *executor,
                                  uint64_t timeout_us);

/// What the background has done and has to do; `statistics` is written on success. Threads: any, several at once.
HOB_API hob_result hob_executor_get_statistics(const hob_executor *executor, hob_executor_statistics *statistics);

/// Bytes that the executor holds, but for its threads' stacks and what tasks own; 0 for no executor. Threads: any.
HOB_NODISCARD HOB_API size_t hob_executor_memory_used(const hob_executor *executor);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

/// A hob_executor_desc with defaults, of this header's size.
static inline hob_executor_desc hob_executor_desc_default(void) {
    hob_executor_desc value;
    (void)hob_executor_desc_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_EXECUTOR_DESC_INIT (hob_executor_desc_default())

/// A hob_executor_statistics with defaults, of this header's size.
static inline hob_executor_statistics hob_executor_statistics_default(void) {
    hob_executor_statistics value;
    (void)hob_executor_statistics_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_EXECUTOR_STATISTICS_INIT (hob_executor_statistics_default())

#endif  // HOBGOBLIN_EXECUTOR_H
