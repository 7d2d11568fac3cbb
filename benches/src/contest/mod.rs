//! A contest of governors over recorded costs and recorded noise.
//!
//! Every contestant plays the same runs, whole and without pauses, so that differences can be paired. The recordings come
//! from `frame_budget --record-costs`; the rules of others from their public documentation.

pub mod arena;
pub mod goblin;
pub mod recording;
pub mod replay;
pub mod rules;
pub mod score;
pub mod table;
