//! The built-in cognitions.
