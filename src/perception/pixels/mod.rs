//! Compares and copies pixels.
