//! Loops over blocks on several threads, and a background lane for work that takes longer than a frame.
//!
//! ```c
//! static void cull(void *scene, uint32_t block, uint32_t worker) {
//!     cull_objects(scene, block * 256, 256, worker);
//! }
//!
//! hob_executor *executor = NULL;
//! if (hob_executor_create_pool(3, &executor) != HOB_RESULT_OK) fail(hob_last_error());
//! hob_executor_parallel_for(executor, blocks, cull, scene, HOB_PRIORITY_NORMAL, HOB_STR("cull"));
//! hob_executor_post(executor, write_log, log, NULL, HOB_PRIORITY_LOW, HOB_STR("log"));
//! hob_executor_destroy(executor);
//! ```
//!
//! Terms:
//! - block: one call of a loop's body, numbered from 0. A block should take some microseconds at least.
//! - worker: a thread that takes part in a loop. The caller is worker 0 and always takes part.
//! - task: work in the background. Tasks of one executor run one at a time.
//! - job system: the threads of an engine; hob_executor_desc connects them by callbacks.
//!
//! docs/threads.md has the details.

pub mod desc;
mod host_jobs;
mod create;
mod parallel_for;
mod background;
mod statistics;
