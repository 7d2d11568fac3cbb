//! Recordings of runs: every call that may change a choice ([`recorder`]), their bytes ([`wire`]), and their replay
//! ([`mod@replay`]).

pub mod recorder;
pub mod replay;
pub mod wire;
