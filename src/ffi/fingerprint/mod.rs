//! Names of shader programs and of the machines that they are compiled for.
//!
//! ```c
//! hob_program_stage stages[] = {
//!     {HOB_SHADER_STAGE_VERTEX, 0, vertex_source, SIZE_MAX},      /* SIZE_MAX: the text ends in NUL */
//!     {HOB_SHADER_STAGE_FRAGMENT, 0, fragment_source, SIZE_MAX},
//! };
//! hob_program_key_desc desc = HOB_PROGRAM_KEY_DESC_INIT;
//! hob_fingerprint key;
//! desc.stages = stages;
//! desc.stage_count = 2;
//! if (hob_fingerprint_hash_program(&desc, &key) != HOB_RESULT_OK) fail(hob_last_error());
//! ```
//!
//! Terms:
//! - Fingerprint: a hash of 256 bits. Equal inputs have equal fingerprints.
//! - Program key: the fingerprint of everything that the driver's compiler gets for one program.
//! - Environment: the driver, the device and the build. Program binaries are valid in one environment only.
//! - Part: one input of a program key or an environment, with its own short hash. Parts show which inputs differ.

pub mod bytes;
pub mod key;
pub mod environment;
