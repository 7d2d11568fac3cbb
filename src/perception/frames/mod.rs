//! The last frames, and which regions changed between them.
