//! Pipeline state objects (PSOs) that are compiled before the frame that needs them.
//!
//! A driver compiles a pipeline for milliseconds to seconds. A game that compiles at first use drops frames. So the
//! pipelines of play-throughs are recorded, shipped with the game, and compiled ahead of use. Shaders change between the
//! build that recorded and the build that ships. So recordings are expressed in *stable keys*: a stable key names a
//! shader by its origin (material, vertex factory, shader type), not by its bytecode.
//!
//! 1. **Record** the pipelines of a run.
//! 2. **Expand** the recording with the keys of the build that recorded it.
//! 3. **Build** the shipped cache with the keys of the new build.
//! 4. **Precompile** its pipelines at start-up and in the background.
//! 5. Keep all others in the **user's cache**.
//!
//! A pipeline is a [`Description`]: a state of bytes, and shaders by hash. The library compiles nothing; the host does,
//! in a callback.
//!
//! | file | content |
//! |---|---|
//! | `description` | a pipeline as data, and its key |
//! | `graphics` | the library's own schema: [`graphics::GraphicsState`] and its encoding |
//! | `dimension` | [`Dimension`]: named fields of usage masks |
//! | `mask` | usage masks, and the set of a pipeline's masks |
//! | `files` | the files' kinds, the encoding of their parts, and use data |
//! | `recording` | [`recording::Recorder`], and recordings that are read and merged |
//! | `keys` | [`keys::KeyMap`]: the stable keys of a build's shaders |
//! | `build` | [`build::Build`]: stable files become the shipped cache |
//! | `ship` | files to files: the loops of build tools |
//! | `shipped` | [`Shipped`]: the shipped cache, as the game reads it |
//! | `stable` | [`stable::Expansion`]: recordings become stable files |
//! | `listed` | [`Listed`]: long lists in reports |
//! | `identity` | the game, shader format and graphics API of a file |
//! | `user_cache` | [`UserCache`]: pipelines that the shipped cache lacked |
//! | `precompile` | [`precompile::Precompiler`]: which pipeline is compiled next, and when |
//! | `library` | [`library::Library`]: the pipelines of a running game |
//! | `seen` | [`Seen`]: the known pipelines, which render threads ask for every draw |
//!
//! Source: "PSO Caching" of the Unreal Engine's documentation, which records, expands and builds in these steps.
#![forbid(unsafe_code)]

pub mod build;
mod description;
mod dimension;
mod files;
pub mod graphics;
mod identity;
pub mod keys;
pub mod library;
mod listed;
mod mask;
pub mod precompile;
pub mod recording;
mod seen;
pub mod ship;
mod shipped;
pub mod stable;
mod user_cache;

pub use description::{
    Description, DescriptionRef, FIRST_OWN_STAGE, LAST_STAGE, MAX_SHADERS, MAX_STATE, PipelineKey, PipelineKind,
    Schema, ShaderHash, ShaderRef,
};
pub use dimension::{
    Dimension, DimensionNames, MAX_DIMENSIONS, check_dimensions, check_mask, compare_dimensions, copy_dimensions,
    with_dimension,
};
pub use files::{Cursor, UseData, put_description, put_text};
pub use identity::{Identity, MAX_NAME};
pub use listed::{Listable, Listed};
pub use mask::{Mask, MaskSet};
pub use seen::Seen;
pub use shipped::{Shipped, ShippedInfo, ShippedPipeline, ShippedScan, Sightings};
pub use user_cache::{Loaded, Owner, UserCache, UserEntry};
