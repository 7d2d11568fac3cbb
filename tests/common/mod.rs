//! Code that several tests of the C side share.
#![allow(missing_docs, reason = "a library of tests")]

pub mod api;
pub mod api_json;
pub mod api_table;
pub mod cpp;
pub mod csharp;
pub mod csharp_native;
pub mod layouts;
pub mod packaged;
