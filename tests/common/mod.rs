//! Code that several integration tests share.
#![allow(dead_code, reason = "each test uses a part of it")]

pub mod api;
pub mod api_table;
pub mod cpp;
