//! Vision over a stream of frames of which most did not change.
//!
//! Source: the problem, the perception tree, prefetch and graft are from "High Framerate Perception" (N. Cano).
//!
//! | file | content |
//! |---|---|
//! | `image` | formats, rectangles, views, images |
//! | `pixels` | compares and copies pixels: the hot kernels |
//! | `frames` | the last frames' pixels, and which regions changed between them |
//! | `operators` | the built-in cognitions |
#![deny(unsafe_code)]

pub mod frames;
pub mod image;
pub mod operators;
pub mod pixels;
