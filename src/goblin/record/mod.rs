//! Recordings of runs. A [goblin](mod@goblin) takes [commands](command), its [recorder] writes them in the format of
//! [wire], and a [replay](mod@replay) repeats them.

pub mod command;
pub mod goblin;
pub mod recorder;
pub mod replay;
pub mod wire;
