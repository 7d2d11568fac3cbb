//! Loops over blocks on several threads, and a background queue for longer work.
//!
//! ```c
//! // void cull(void *scene, uint32_t block, uint32_t worker) culls up to 256 objects, from index 256 * block.
//! // void save(void *game) writes a file; void free_game(void *game) frees the memory of it.
//! hob_executor *executor = NULL;
//! if (hob_executor_create_pool(3, &executor) != HOB_RESULT_OK) fail(hob_last_error());
//! const uint32_t blocks = (object_count + 255) / 256;
//! hob_executor_parallel_for(executor, blocks, cull, scene, HOB_PRIORITY_NORMAL, HOB_STR("cull"));
//! if (hob_executor_post(executor, save, game, free_game, HOB_PRIORITY_LOW, HOB_STR("save")) != HOB_RESULT_OK)
//!     free_game(game); /* after a failure it is still the caller's */
//! hob_executor_wait_idle(executor, UINT64_MAX);
//! hob_executor_destroy(executor);
//! ```
//!
//! Terms:
//! - Block: one call of a loop's body, numbered from 0. A block should take some microseconds at least.
//! - Worker: a thread that takes part in a loop. The caller is worker 0 and always takes part.
//! - Task: work in the background. The tasks of one executor run one at a time.
//! - Job system: the threads of an engine. hob_executor_desc connects them by callbacks.
//!
//! docs/threads.md has the details.

pub mod desc;
mod host_jobs;
mod create;
mod parallel_for;
mod background;
mod statistics;
