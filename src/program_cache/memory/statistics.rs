//! Counters and histograms of the memory tier.

use std::fmt::{self, Write};

use crate::base::{Result, try_filled, try_to_vec};
use crate::program_cache::named::named;
use crate::program_cache::program::Refusal;
use crate::stats::Histogram;

named! {
    /// Why a program left memory. Removed and rejected programs are removed from disk, too. Cleared ones are if the host asks
    /// for it.
    Reason {
        /// Another program needed the space.
        Capacity = "capacity",
        /// The host trimmed.
        Trim = "trim",
        /// The machine was short of memory.
        Pressure = "pressure",
        /// The limit was lowered.
        LimitLowered = "limit_lowered",
        /// Its key was put again.
        Replaced = "replaced",
        /// The host cleared memory.
        Cleared = "cleared",
        /// The host removed it.
        Removed = "removed",
        /// The driver rejected it.
        Rejected = "rejected",
    }
}

named! {
    /// The measurements. Each has a histogram.
    Measure {
        /// Bytes of data of each program that was put, stored or not.
        BinaryBytes = "binary_bytes",
        /// Bytes counted in the cache before each put.
        BytesBefore = "bytes_before",
        /// Bytes counted in the cache after each put.
        BytesAfter = "bytes_after",
        /// Microseconds of each link that the cache served, with the driver's load.
        HitMicros = "hit_us",
        /// Microseconds of each link that was built, with the compiles of deferred shaders.
        MissMicros = "miss_us",
        /// Microseconds of each compile that was deferred.
        StatusHitMicros = "status_hit_us",
        /// Microseconds of each successful compile of a shader with unknown status.
        StatusMissMicros = "status_miss_us",
    }
}

/// Counters since the cache was created, and its present size.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Gets that found a program.
    pub hits: u64,
    /// Gets that found no program.
    pub misses: u64,
    /// Puts by the host, stored or not.
    pub puts: u64,
    /// Programs loaded from disk.
    pub loads: u64,
    /// Programs that left memory, for each [`Reason`].
    pub left: [u64; Reason::ALL.len()],
    /// Puts and loads that were not stored, for each [`Refusal`].
    pub refused: [u64; Refusal::ALL.len()],
    /// Uses that were refused because the key is banned.
    pub banned: u64,
    /// Programs in memory.
    pub entries: u64,
    /// Bytes that count against the limit.
    pub bytes: u64,
    /// The limit.
    pub limit_bytes: u64,
    /// Shaders that are known to compile.
    pub shaders: u64,
    histograms: Vec<Histogram>,
}

impl Statistics {
    /// Empty statistics.
    pub fn new() -> Result<Self> {
        Ok(Self { histograms: try_filled(Histogram::EMPTY, Measure::ALL.len())?, ..Self::default() })
    }

    /// A copy.
    pub fn try_clone(&self) -> Result<Self> {
        Ok(Self { histograms: try_to_vec(&self.histograms)?, ..*self })
    }

    /// Add a value to a histogram.
    pub fn record(&mut self, measure: Measure, value: u64) {
        self.histograms[measure as usize].add(value);
    }

    /// The distribution of a measure.
    pub fn histogram(&self, measure: Measure) -> &Histogram {
        self.histograms.get(measure as usize).unwrap_or(&Histogram::EMPTY)
    }

    /// Programs that left memory for a reason.
    pub fn left(&self, reason: Reason) -> u64 {
        self.left[reason as usize]
    }

    /// Puts and loads that were refused for a reason.
    pub fn refused(&self, refusal: Refusal) -> u64 {
        self.refused[refusal as usize]
    }

    /// Write a JSON object of whole numbers.
    pub fn write_json(&self, out: &mut dyn Write) -> fmt::Result {
        self.write_members(out)?;
        out.write_str("}\n")
    }

    /// Write the object without its end, so that more members can follow.
    pub fn write_members(&self, out: &mut dyn Write) -> fmt::Result {
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

/// Write members of a JSON object.
pub fn write_counts(out: &mut dyn Write, counts: impl Iterator<Item = (&'static str, u64)>) -> fmt::Result {
    let mut comma = "";
    for (name, count) in counts {
        write!(out, "{comma}\"{name}\":{count}")?;
        comma = ",";
    }
    Ok(())
}
