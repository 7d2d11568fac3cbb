//! Pipeline state objects (PSOs) that are compiled before the frame that needs them.
//!
//! A driver compiles a pipeline for milliseconds to seconds, and a game that compiles at first use drops frames. So the
//! pipelines of play-throughs are recorded, shipped with the game, and compiled ahead of use. Shaders change between the
//! build that recorded and the build that ships, so recordings are expressed in *stable keys*, which name a shader by
//! its origin (material, vertex factory, shader type), and not by its bytecode.
//!
//! The path: **record** what a run uses; **expand** the recording with the keys of the build that recorded it; **build**
//! the shipped cache with the keys of the new build; **precompile** what it lists; keep the rest in the **user's
//! cache**.
//!
//! A pipeline is a [`Description`]: a state of bytes, and shaders by hash. The library compiles nothing; the host does,
//! in a callback.
//!
//! | file | content |
//! |---|---|
//! | `description` | a pipeline as data, and its key |
//! | `mask` | usage masks: in which situations a pipeline is used |
//! | `seen` | [`Seen`]: the known pipelines, which render threads ask for every draw |
//!
//! Source: "PSO Caching" of the Unreal Engine's documentation, which records, expands and builds in these steps.
#![forbid(unsafe_code)]

mod description;
mod mask;
mod seen;

pub use description::{
    Description, DescriptionRef, MAX_SHADERS, MAX_STATE, PipelineKey, PipelineKind, Schema, ShaderHash, ShaderRef,
};
pub use mask::{Mask, MaskSet};
pub use seen::Seen;
