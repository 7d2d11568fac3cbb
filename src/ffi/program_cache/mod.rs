//! Compiled shader programs, kept in memory and on disk, so that no program is compiled twice.
//!
//! ```c
//! hob_program_cache_desc desc = HOB_PROGRAM_CACHE_DESC_INIT;
//! desc.directory = HOB_STR("cache/programs");         /* empty: memory only */
//! hob_program_cache *cache = NULL;
//! if (hob_program_cache_create(&desc, &cache) != HOB_RESULT_OK) fail(hob_last_error());
//!
//! hob_blob blob = HOB_BLOB_INIT;                      /* key: hob_fingerprint_hash_program, see fingerprint.h */
//! hob_use_id use;
//! int loaded = 0;
//! if (hob_program_cache_get(cache, &key, &blob) == HOB_RESULT_OK &&
//!     hob_program_cache_begin_use(cache, &key, &use) == HOB_RESULT_OK) {
//!     loaded = load_and_draw(&blob);                  /* glProgramBinary or the like, and the first frame */
//!     hob_program_cache_end_use(cache, use, loaded ? HOB_USE_OUTCOME_OK : HOB_USE_OUTCOME_REJECTED);
//! }
//! hob_blob_release(&blob);
//! hob_program program = HOB_PROGRAM_INIT;
//! if (!loaded && compile_from_source(&program)) hob_program_cache_put(cache, &key, &program);
//!
//! hob_program_cache_destroy(cache);                   /* when the game ends */
//! ```
//!
//! Terms:
//! - Program: a linked shader program. The cache keeps the driver's binary, and reflection data for the host.
//! - Key: the fingerprint of everything that a program is made from.
//! - Environment: driver, device and build. A binary of another environment is never loaded.
//! - Blob: a read-only view of a cached program.
//! - Pin: keeps a blob valid until hob_blob_release, even if the program is evicted.
//! - Use: the time from giving a binary to the driver until the first frame drawn with it is complete.
//! - Strike: a mark against a key, added when the process ends during a use of its program.
//! - Ban: a key with enough strikes is banned: the cache neither stores nor returns its binary.
//! - Start-up set: the programs that are loaded first when the cache is created.
//! - Bundle: a read-only file of programs, made on a build machine and shipped with a game.
//!
//! All functions with a const cache may be called from several threads at once, also from callbacks other than those of
//! a hob_file_io. docs/threads.md says which of them wait for files.

mod material;
mod path;
mod bound;

mod cache;
mod frame;
mod control;
mod disk;
mod statistics;
mod bundle;
mod why;
mod callbacks;
mod manager;
mod blob;
