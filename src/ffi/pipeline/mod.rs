//! Experimental: Pipeline state objects (PSOs), compiled before the frame that needs them.
//!
//! ```c
//! hob_pipeline_library_desc desc = HOB_PIPELINE_LIBRARY_DESC_INIT;
//! desc.project = HOB_STR("game");
//! desc.format = HOB_STR("spirv");
//! desc.api = HOB_GRAPHICS_API_VULKAN;
//! desc.version = HOB_STR("1.2");
//! desc.directory = HOB_STR("cache/pipelines");        /* empty: nothing outlives the process */
//! desc.environment = &environment;                    /* as for a program cache; bans belong to a driver */
//! desc.executor = executor;                           /* compiles in the background */
//! desc.user_data = renderer;
//! desc.compile = compile;                             /* makes the API's pipeline object */
//! hob_pipeline_library *library = NULL;
//! if (hob_pipeline_library_create(&desc, &library) != HOB_RESULT_OK) fail(hob_last_error());
//!
//! /* once a frame: */
//! hob_pipeline_library_begin_frame(library, UINT64_MAX);
//!
//! /* for each draw; the key is computed once, with hob_pipeline_get_key: */
//! switch (hob_pipeline_library_use(library, &key)) {
//! case HOB_PIPELINE_STATE_READY: draw(&key); break;
//! case HOB_PIPELINE_STATE_UNKNOWN:                    /* no cache has it: a hitch, and the next start knows it */
//!     hob_pipeline_library_add(library, &pipeline, build(&pipeline), &key);
//!     draw(&key);
//!     break;
//! case HOB_PIPELINE_STATE_FAILED:                     /* it never gets ready: draw a substitute */
//! case HOB_PIPELINE_STATE_BANNED: substitute(&key); break;
//! default: break;                                     /* it comes next: skip the object, or draw a substitute */
//! }
//! ```
//!
//! Terms:
//! - Pipeline: a compiled pipeline of a graphics API. The library knows its description, and never the object.
//! - Key: the fingerprint of a description.
//! - User's cache: pipelines that were built in earlier runs on this machine.
//! - Selected: a usage mask of the pipeline has all bits of the current mask. Only selected pipelines are compiled
//!   ahead.
//! - Ready group: the pipelines of one object, which is drawn with all of them or not at all.
//!
//! Functions with a const library may run on several threads at once, also inside callbacks.

mod describe;
mod dimension;
mod graphics_enums;
mod graphics_parts;
mod graphics;
mod compute;
mod library;
mod frame;
mod control;
mod group;
mod statistics;
mod ship;
