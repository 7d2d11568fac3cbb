//! Recordings of runs: the [commands](command) that a [goblin](mod@goblin) takes, their [recorder], their bytes ([wire])
//! and their [replay](mod@replay).

pub mod command;
pub mod goblin;
pub mod recorder;
pub mod replay;
pub mod wire;
