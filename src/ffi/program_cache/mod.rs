//! Compiled shader programs, kept in memory and on disk: no program is compiled twice.
//!
//! ```c
//! hob_environment environment = HOB_ENVIRONMENT_INIT; /* without it, a new driver gets old binaries */
//! environment.api = HOB_GRAPHICS_API_OPENGL;
//! environment.vendor = hob_str_from((const char *)glGetString(GL_VENDOR));
//! environment.device = hob_str_from((const char *)glGetString(GL_RENDERER));
//! environment.driver = hob_str_from((const char *)glGetString(GL_VERSION));
//! environment.build = HOB_STR("game 1.2");
//!
//! hob_program_cache_desc desc = HOB_PROGRAM_CACHE_DESC_INIT;
//! desc.directory = HOB_STR("cache/programs");         /* empty: memory only */
//! desc.environment = &environment;                    /* desc.executor: reads and writes in the background */
//! hob_program_cache *cache = NULL;
//! if (hob_program_cache_create(&desc, &cache) != HOB_RESULT_OK) fail(hob_last_error());
//! hob_program_cache_wait_idle(cache, UINT64_MAX);     /* loads programs: get reads no files without an executor */
//!
//! hob_blob blob = HOB_BLOB_INIT;                      /* key: hob_fingerprint_hash_program, see fingerprint.h */
//! hob_use_id use = {0, 0};
//! GLint loaded = GL_FALSE;
//! if (hob_program_cache_get(cache, &key, &blob) == HOB_RESULT_OK &&
//!     hob_program_cache_begin_use(cache, &key, &use) == HOB_RESULT_OK) {
//!     glProgramBinary(program, blob.format, blob.data, (GLsizei)blob.size);
//!     glGetProgramiv(program, GL_LINK_STATUS, &loaded);
//!     if (!loaded) hob_program_cache_end_use(cache, use, HOB_USE_OUTCOME_REJECTED);    /* before the put */
//! }
//! hob_blob_release(&blob);
//! hob_program built = HOB_PROGRAM_INIT;
//! if (!loaded && compile_from_source(program, &built)) hob_program_cache_put(cache, &key, &built);
//!
//! /* when the GPU has finished the first frame: */
//! if (loaded) hob_program_cache_end_use(cache, use, is_drawn ? HOB_USE_OUTCOME_OK : HOB_USE_OUTCOME_UNUSED);
//!
//! hob_program_cache_destroy(cache);                   /* when the game ends: writes the programs that wait */
//! ```
//!
//! Terms:
//! - Program: a compiled program in the driver's form: a GL program, a shader object, a pipeline, or a whole
//!   VkPipelineCache under one key. The host's reflection data may be stored with it.
//! - Key: the fingerprint of everything that a program is made from.
//! - Environment: driver, device and build. A binary of another environment is never loaded.
//! - Blob: a read-only view of a cached program.
//! - Pin: keeps a blob valid until hob_blob_release, even if the program is evicted.
//! - Use: the time from giving a binary to the driver until the GPU has finished the first frame drawn with it. Drivers
//!   compile late and lose the device late: a load or a submit alone proves nothing. Wait for that frame's fence, or
//!   for a few frames more. Many uses may be open at once; 4096 are recorded. A use may last several frames, and end on
//!   another thread.
//! - Strike: a mark against a key. Each key with an open use gets one when the process crashes, is killed, or calls
//!   abort() or _exit(). A clean exit and hob_program_cache_destroy end open uses without a strike: docs/threads.md.
//!   Strikes are forgotten after 30 days. A forked child that outlives a crash of its parent delays the strike until
//!   the child ends.
//! - Ban: a key with enough strikes is banned: the cache neither stores nor returns its binary. A ban ends when a
//!   strike is forgotten, or by hob_program_cache_clear_strikes. Strikes and bans belong to an environment: in a new
//!   one, as after a driver update, the key has none.
//! - Start-up set: the programs that are loaded first when the cache is created.
//! - Bundle: a read-only file of programs, made on a build machine and shipped with a game.
//!
//! Functions with a const cache may run on several threads at once, also inside callbacks, but not inside those of
//! hob_file_io or the hooks of base.h. docs/threads.md lists the functions that wait for files.

mod material;
mod bound;

mod cache;
mod frame;
mod control;
mod disk;
mod list;
mod statistics;
mod bundle;
mod why;
mod callbacks;
mod manager;
mod blob;
