//! Directories that are not as a store would like them.
use std::path::Path;
pub fn read_without_rights(_directory: &Path) {}
