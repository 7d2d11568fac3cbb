//! The choice: when a better one replaces the present one.
//!
//! The solver's answer moves a little every frame, so the room holds a choice while it fits ([`steady`]). It counts the
//! visible changes ([`pace`]), watches the best choice between two solves ([`watch`]), finds settings that save nothing
//! ([`lever`]), and explains every choice ([`reason`]).

pub mod lever;
pub mod pace;
pub mod reason;
pub mod steady;
pub mod watch;
