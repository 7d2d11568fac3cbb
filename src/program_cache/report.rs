//! Statistics of a whole cache.

use std::fmt::{self, Write};

use super::disk::Progress;
use super::memory::statistics::{Statistics, write_counts};
use crate::{quarantine, store};

/// Statistics of a cache: of its memory, its disk and its strikes.
#[derive(Clone, Debug, Default)]
pub struct CacheStatistics {
    /// The memory tier.
    pub memory: Statistics,
    /// Bytes of memory held in all.
    pub memory_used: u64,
    /// Open uses.
    pub uses_open: u32,
    /// Progress of the disk tier.
    pub progress: Progress,
    /// Contents of the disk.
    pub disk: store::Statistics,
    /// Strikes and bans.
    pub quarantine: quarantine::Statistics,
}

impl CacheStatistics {
    /// Write a JSON object of whole numbers: the members of [`Statistics::write_json`], and more.
    pub fn write_json(&self, out: &mut dyn Write) -> fmt::Result {
        let Self { progress, disk, quarantine, .. } = self;
        let of_disk = [
            ("preload_total", progress.preload_total),
            ("preload_done", progress.preload_done),
            ("waiting", progress.waiting),
            ("unwritten", progress.unwritten),
            ("values", disk.values),
            ("live_bytes", disk.live_bytes),
            ("file_bytes", disk.file_bytes),
            ("files", disk.segments),
            ("foreign_files", disk.foreign_segments),
            ("memory_used", disk.memory_used),
            ("damaged", disk.damaged),
            ("io_errors", disk.io_errors),
            ("refused", disk.refused),
            ("evicted", disk.evicted),
            ("aged", disk.aged),
        ];
        let of_quarantine = [
            ("keys_banned", quarantine.bans.into()),
            ("keys_struck", quarantine.struck.into()),
            ("uses_noted", quarantine.noted),
            ("uses_unnoted", quarantine.unnoted),
            ("strikes_given", quarantine.counted.into()),
        ];
        self.memory.write_members(out)?;
        write!(out, ",\"memory_used\":{},\"uses_open\":{},\"disk\":{{", self.memory_used, self.uses_open)?;
        write_counts(out, of_disk.into_iter())?;
        out.write_str("},\"quarantine\":{")?;
        write_counts(out, of_quarantine.into_iter())?;
        out.write_str("}}\n")
    }
}
