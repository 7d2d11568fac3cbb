//! Stable files: recorded pipelines whose shaders have stable keys in place of hashes.
//!
//! [`Expansion`] takes recordings, and the key map of the build that they were made with. A shader that has several keys
//! keeps all of them, because the next build may compile these keys to different shaders. A pipeline with a shader that
//! has no key is listed and not written.
//!
//! Invariants:
//! 1. The file does not depend on the order of the recordings, and the same run counts once.
//! 2. Recordings stream: memory holds the key map, and the merged pipelines up to a limit. Others are in temporary files.
//!
//! | file | content |
//! |---|---|
//! | `expand` | [`Expansion`]: recordings and keys become a stable file |
//! | `file` | `*.hobstable`, read and written |
//! | `spilled` | the stable forms of more pipelines than memory holds |

mod expand;
mod file;
mod spilled;
#[cfg(test)]
mod spill_tests;
#[cfg(test)]
mod tests;

pub use expand::{Expanded, Expansion, Unresolved};
pub use file::{StableFile, StableInfo, StablePipeline, StableShader, file_name};
