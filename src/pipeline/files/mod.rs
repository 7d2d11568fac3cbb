//! Parts that all files of pipelines share: their kinds, the encoding of records, and use data.
//!
//! | file | content |
//! |---|---|
//! | `wire` | little-endian parts of records |
//! | `slots` | [`Slots`]: a hash table of numbers |
//! | `sort` | [`sort::Sorter`]: sorts more records than memory holds |
//! | `table` | [`Table`]: pipelines by key while files are merged |
//! | `timeline` | [`Timelines`]: in which order runs used pipelines first |

#[cfg(test)]
pub mod fault_tests;
mod slots;
pub mod sort;
mod table;
mod timeline;
mod wire;

use crate::base::{Code, Result, try_push};
pub use crate::pipeline::dimension::{Dimension, check_dimensions};
use crate::pipeline::{Identity, Mask, MaskSet};
use crate::store::LogKind;

pub use slots::Slots;
pub use table::{Row, Table};
pub use timeline::{Timelines, short_key};
pub use wire::{Cursor, get_description, get_uses, put_description, put_text, put_uses, skip_uses};

/// A file of one run.
pub const RECORDING: LogKind = LogKind { number: 1, version: 1, name: "a recording" };
/// The stable keys of a build's shaders.
pub const KEY_MAP: LogKind = LogKind { number: 2, version: 1, name: "a key map" };
/// Recorded pipelines by stable keys.
pub const STABLE: LogKind = LogKind { number: 3, version: 1, name: "a stable file" };
/// The shipped cache of a game.
pub const BUILT: LogKind = LogKind { number: 4, version: 1, name: "a built cache" };
/// All kinds, to refuse a wrong one by name.
pub const KINDS: [LogKind; 4] = [RECORDING, KEY_MAP, STABLE, BUILT];

/// Kind of the record that describes the file, in files of every kind.
pub const HEAD: u8 = 1;

/// How recordings used a pipeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UseData {
    /// The masks of its uses.
    pub masks: MaskSet,
    /// Earliest frame of the first use in a run.
    pub first_frame: u64,
    /// Sum of the frames of the first use in each run.
    pub first_frames: u64,
    /// Runs that used it.
    pub runs: u32,
    /// Uses in all runs.
    pub times: u64,
    /// Sum of the build times, in microseconds.
    pub build_us: u64,
    /// Build times in the sum.
    pub builds: u32,
}

impl UseData {
    /// The first use in a run.
    pub fn first(mask: Mask, first_frame: u64, build_us: u32) -> Result<Self> {
        let mut uses = Self { masks: MaskSet::of(mask)?, ..Self::default() };
        uses.count_first(first_frame, build_us);
        Ok(uses)
    }

    /// Count the first use in another run. Its mask is added to `masks`.
    pub fn count_first(&mut self, first_frame: u64, build_us: u32) {
        self.first_frame = if self.runs == 0 { first_frame } else { self.first_frame.min(first_frame) };
        self.first_frames = self.first_frames.saturating_add(first_frame);
        self.runs = self.runs.saturating_add(1);
        self.times = self.times.saturating_add(1);
        self.build_us = self.build_us.saturating_add(build_us.into());
        self.builds = self.builds.saturating_add((build_us > 0).into());
    }

    /// Add the data of other runs. The result is the same in any order. On an error, only masks may have been added.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.masks.merge(&other.masks)?;
        let is_first = self.runs == 0;
        self.first_frame = if is_first { other.first_frame } else { self.first_frame.min(other.first_frame) };
        self.first_frames = self.first_frames.saturating_add(other.first_frames);
        self.runs = self.runs.saturating_add(other.runs);
        self.times = self.times.saturating_add(other.times);
        self.build_us = self.build_us.saturating_add(other.build_us);
        self.builds = self.builds.saturating_add(other.builds);
        Ok(())
    }

    /// Become the data of another pipeline, with no mask yet.
    pub fn copy_without_masks(&mut self, other: &Self) {
        let Self { first_frame, first_frames, runs, times, build_us, builds, .. } = *other;
        let mut masks = std::mem::take(&mut self.masks);
        masks.clear();
        *self = Self { masks, first_frame, first_frames, runs, times, build_us, builds };
    }

    /// Mean frame of the first use.
    pub fn mean_first_frame(&self) -> u64 {
        self.first_frames / u64::from(self.runs.max(1))
    }

    /// Mean build time in microseconds. 0: unknown.
    pub fn mean_build_us(&self) -> u64 {
        self.build_us / u64::from(self.builds.max(1))
    }
}

/// Append the dimensions of masks.
pub fn put_dimensions(out: &mut Vec<u8>, dimensions: &[Dimension]) -> Result<()> {
    out.try_reserve(1)?;
    out.push(dimensions.len() as u8);
    for Dimension { name, width } in dimensions {
        put_text(out, name)?;
        out.try_reserve(4)?;
        out.extend_from_slice(&width.to_le_bytes());
    }
    Ok(())
}

/// The dimensions of masks. `None`: invalid bytes.
pub fn get_dimensions(cursor: &mut Cursor<'_>) -> Result<Option<Vec<Dimension>>> {
    let Some(count) = cursor.u8() else { return Ok(None) };
    let mut dimensions = Vec::new();
    for _ in 0..count {
        let Some(name) = cursor.text() else { return Ok(None) };
        let name = crate::base::try_string(name)?;
        let Some(width) = cursor.u32() else { return Ok(None) };
        try_push(&mut dimensions, Dimension { name, width })?;
    }
    Ok(check_dimensions(&dimensions).is_ok().then_some(dimensions))
}

/// The identity in a file. `None`: invalid names.
pub fn get_identity(project: &str, format: &str, api: u32) -> Result<Option<Identity>> {
    match Identity::new(project, format, api) {
        Err(why) if why.code() == Code::OutOfMemory => Err(why),
        made => Ok(made.ok()),
    }
}
