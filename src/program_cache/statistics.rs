//! What a cache has done so far.

use std::fmt::{self, Write};

use super::disk::Progress;
use crate::base::{Result, try_filled, try_to_vec};
use crate::stats::Histogram;
use crate::{quarantine, store};

/// Why a program left memory. The disk is told of none of these but a removal and a
/// rejection (and of a clearing, if the host says so).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Another one needed the room.
    Capacity,
    /// The host trimmed.
    Trim,
    /// The machine was short of memory.
    Pressure,
    /// The limit was lowered.
    LimitLowered,
    /// Its key was put again.
    Replaced,
    /// The host cleared memory.
    Cleared,
    /// The host removed it.
    Removed,
    /// The driver rejected it.
    Rejected,
}

impl Reason {
    /// All of them, in order of their numbers.
    pub const ALL: [Self; 8] = [
        Self::Capacity,
        Self::Trim,
        Self::Pressure,
        Self::LimitLowered,
        Self::Replaced,
        Self::Cleared,
        Self::Removed,
        Self::Rejected,
    ];

    /// Its name in JSON and in sentences.
    pub fn name(self) -> &'static str {
        match self {
            Self::Capacity => "capacity",
            Self::Trim => "trim",
            Self::Pressure => "pressure",
            Self::LimitLowered => "limit_lowered",
            Self::Replaced => "replaced",
            Self::Cleared => "cleared",
            Self::Removed => "removed",
            Self::Rejected => "rejected",
        }
    }
}

/// Why a program was not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is larger than the limit allows a single program to be.
    TooLarge,
    /// It has no data, and such are not stored.
    Empty,
    /// Its key has a program already, which stays.
    Exists,
    /// It was loaded ahead of need, and there is no room that is not in use.
    NoRoom,
    /// Its key is banned: nobody could use it.
    Banned,
    /// It was removed while the disk was bringing it.
    Removed,
}

impl Refusal {
    /// All of them, in order of their numbers.
    pub const ALL: [Self; 6] = [Self::TooLarge, Self::Empty, Self::Exists, Self::NoRoom, Self::Banned, Self::Removed];

    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::TooLarge => "too_large",
            Self::Empty => "empty",
            Self::Exists => "exists",
            Self::NoRoom => "no_room",
            Self::Banned => "banned",
            Self::Removed => "removed",
        }
    }
}

/// What is measured: the seed's histograms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Bytes of data of each program linked and put, each put once, stored or not; what is loaded does not count.
    BinaryBytes,
    /// Bytes counted in the cache before each put.
    BytesBefore,
    /// Bytes counted in the cache after each put.
    BytesAfter,
    /// Microseconds of each link that the cache answered, the driver's loading included.
    HitMicros,
    /// Microseconds of each link that had to be built and succeeded, the compiling of deferred shaders included.
    MissMicros,
    /// Microseconds of each compile that a status made unnecessary.
    StatusHitMicros,
    /// Microseconds of each compile whose status was unknown and that succeeded.
    StatusMissMicros,
}

impl Measure {
    /// All of them, in order of their numbers.
    pub const ALL: [Self; 7] = [
        Self::BinaryBytes,
        Self::BytesBefore,
        Self::BytesAfter,
        Self::HitMicros,
        Self::MissMicros,
        Self::StatusHitMicros,
        Self::StatusMissMicros,
    ];

    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::BinaryBytes => "binary_bytes",
            Self::BytesBefore => "bytes_before",
            Self::BytesAfter => "bytes_after",
            Self::HitMicros => "hit_us",
            Self::MissMicros => "miss_us",
            Self::StatusHitMicros => "status_hit_us",
            Self::StatusMissMicros => "status_miss_us",
        }
    }
}

/// Counts since the cache was made, and what it holds now.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Gets that found something.
    pub hits: u64,
    /// Gets that found nothing.
    pub misses: u64,
    /// Puts by the host, stored or not.
    pub puts: u64,
    /// Programs taken over from the disk.
    pub loads: u64,
    /// Programs that left memory, by [`Reason`].
    pub left: [u64; Reason::ALL.len()],
    /// Puts and loads that were not stored, by [`Refusal`].
    pub refused: [u64; Refusal::ALL.len()],
    /// Uses that were not begun because the key is banned.
    pub banned: u64,
    /// Programs held.
    pub entries: u64,
    /// Bytes they count.
    pub bytes: u64,
    /// Bytes they may count.
    pub limit_bytes: u64,
    /// Shaders of which the status is known.
    pub shaders: u64,
    histograms: Vec<Histogram>,
}

impl Statistics {
    pub(super) fn new() -> Result<Self> {
        Ok(Self { histograms: try_filled(Histogram::EMPTY, Measure::ALL.len())?, ..Self::default() })
    }

    pub(super) fn try_clone(&self) -> Result<Self> {
        Ok(Self { histograms: try_to_vec(&self.histograms)?, ..*self })
    }

    pub(super) fn record(&mut self, measure: Measure, value: u64) {
        self.histograms[measure as usize].add(value);
    }

    /// How what was measured is spread.
    pub fn histogram(&self, measure: Measure) -> &Histogram {
        self.histograms.get(measure as usize).unwrap_or(&Histogram::EMPTY)
    }

    /// Programs that left memory for that reason.
    pub fn left(&self, reason: Reason) -> u64 {
        self.left[reason as usize]
    }

    /// Puts and loads that were refused for that reason.
    pub fn refused(&self, refusal: Refusal) -> u64 {
        self.refused[refusal as usize]
    }

    /// Write all of it as a JSON object of whole numbers.
    pub fn write_json(&self, out: &mut dyn Write) -> fmt::Result {
        self.write_members(out)?;
        out.write_str("}\n")
    }

    /// The same without its end, so that more can follow.
    fn write_members(&self, out: &mut dyn Write) -> fmt::Result {
        let counts = [
            ("hits", self.hits),
            ("misses", self.misses),
            ("puts", self.puts),
            ("loads", self.loads),
            ("banned", self.banned),
            ("entries", self.entries),
            ("bytes", self.bytes),
            ("limit_bytes", self.limit_bytes),
            ("shaders", self.shaders),
        ];
        out.write_char('{')?;
        write_counts(out, counts.into_iter())?;
        out.write_str(",\"left\":{")?;
        write_counts(out, Reason::ALL.iter().map(|&reason| (reason.name(), self.left(reason))))?;
        out.write_str("},\"refused\":{")?;
        write_counts(out, Refusal::ALL.iter().map(|&refusal| (refusal.name(), self.refused(refusal))))?;
        out.write_str("},\"histograms\":{")?;
        for (measure, histogram) in Measure::ALL.iter().zip(&self.histograms) {
            let comma = if *measure as usize == 0 { "" } else { "," };
            write!(out, "{comma}\"{}\":", measure.name())?;
            histogram.write_json(out)?;
        }
        out.write_char('}')
    }
}

/// What a cache knows of itself with all that it keeps its programs in.
#[derive(Clone, Debug, Default)]
pub struct CacheStatistics {
    /// The memory tier.
    pub memory: Statistics,
    /// Bytes held in all by the memory tier.
    pub memory_used: u64,
    /// Uses that have begun and not ended.
    pub uses_open: u32,
    /// How far the disk tier is.
    pub progress: Progress,
    /// What is on the disk.
    pub disk: store::Statistics,
    /// Strikes and bans.
    pub quarantine: quarantine::Statistics,
}

impl CacheStatistics {
    /// Write all of it as a JSON object of whole numbers: what [`Statistics::write_json`] writes, and more.
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

fn write_counts(out: &mut dyn Write, counts: impl Iterator<Item = (&'static str, u64)>) -> fmt::Result {
    let mut comma = "";
    for (name, count) in counts {
        write!(out, "{comma}\"{name}\":{count}")?;
        comma = ",";
    }
    Ok(())
}
