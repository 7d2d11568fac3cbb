//! Counts of a build, and the lines that a log shows.

use super::Sanitised;
use crate::base::{Result, Text, try_append, try_format};
use crate::pipeline::{Listable, Listed, Mask, PipelineKey};

/// A stable pipeline that this build has no shaders for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rejected {
    /// The name of the stable description.
    pub pipeline: PipelineKey,
    /// Stage of its first shader that is missing.
    pub stage: u32,
    /// The first key of that shader.
    pub key: String,
}

impl Listable for Rejected {
    fn bytes(&self) -> usize {
        self.key.len()
    }
}

/// A stable file that was not used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// Its path.
    pub path: String,
    /// The reason, as a sentence.
    pub reason: String,
}

/// Report of a build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildReport {
    /// Different lines of the key map.
    pub key_lines: u64,
    /// Stable files merged.
    pub files: u64,
    /// Stable files that were merged already.
    pub repeated: u64,
    /// Stable files that were not used.
    pub skipped: Vec<Skipped>,
    /// Stable pipelines in the files.
    pub stable: u64,
    /// Stable pipelines that have no shader in this build.
    pub rejected: Listed<Rejected>,
    /// Pipelines that stable ones became, before those that are equal were united.
    pub merged: u64,
    /// Stable pipelines whose combinations of shaders were more than the limit.
    pub cut: u64,
    /// The bits of all masks that were recorded, for hosts whose masks are plain bits. Each pipeline keeps its set of masks.
    pub mask_union: Mask,
    /// Different pipelines that stable ones became.
    pub different: u64,
    /// Compute pipelines of the key map that were added.
    pub added_compute: u64,
    /// Counts of sanitising. `None`: it was switched off.
    pub sanitised: Option<Sanitised>,
    /// Pipelines written: graphics, compute, ray tracing.
    pub written: [u64; 3],
    /// Whether no stable file was given, so that the cache has compute pipelines alone.
    pub is_compute_only: bool,
    /// Damaged records of the stable files.
    pub damaged: u64,
    /// Stable files that end within a record.
    pub truncated: u64,
    /// Hash of the contents.
    pub guid: [u8; 16],
    /// Bytes written.
    pub bytes: u64,
}

/// A number with a comma before each group of three digits.
fn grouped(number: u64) -> Text<32> {
    let digits = Text::<20>::format(format_args!("{number}"));
    let mut text = Text::EMPTY;
    for (at, digit) in digits.as_str().char_indices() {
        if at > 0 && (digits.as_str().len() - at).is_multiple_of(3) {
            _ = std::fmt::Write::write_char(&mut text, ',');
        }
        _ = std::fmt::Write::write_char(&mut text, digit);
    }
    text
}

impl BuildReport {
    /// Number of pipelines written.
    pub fn total(&self) -> u64 {
        self.written.iter().sum()
    }

    /// The report as lines of a log.
    pub fn log(&self) -> Result<String> {
        let mut log = String::new();
        let mut line = |text: std::fmt::Arguments<'_>| {
            try_append(&mut log, &try_format(text)?)?;
            try_append(&mut log, "\n")
        };
        line(format_args!("{} unique shader keys", grouped(self.key_lines)))?;
        for Skipped { reason, .. } in &self.skipped {
            line(format_args!("skipped: {reason}"))?;
        }
        if self.is_compute_only {
            line(format_args!("no stable file was given: the cache has compute pipelines only"))?;
        } else {
            line(format_args!(
                "{} stable files, {} repeated, {} truncated; {} damaged records",
                grouped(self.files),
                grouped(self.repeated),
                grouped(self.truncated),
                grouped(self.damaged)
            ))?;
            line(format_args!(
                "{} stable pipelines loaded, {} rejected, {} merged",
                grouped(self.stable),
                grouped(self.rejected.count()),
                grouped(self.merged)
            ))?;
        }
        if self.cut > 0 {
            line(format_args!(
                "{} stable pipelines have more combinations of shaders than the limit",
                grouped(self.cut)
            ))?;
        }
        line(format_args!(
            "re-deduplicated into {} binary pipelines [usage mask merged = {}]",
            grouped(self.different),
            self.mask_union
        ))?;
        line(format_args!("added {} compute pipelines of the key map", grouped(self.added_compute)))?;
        match &self.sanitised {
            Some(counts) => sanitising(counts, &mut line)?,
            None => line(format_args!("sanitising was switched off"))?,
        }
        let [graphics, compute, ray_tracing] = self.written.map(grouped);
        line(format_args!(
            "wrote {} binary pipelines (graphics {graphics}, compute {compute}, ray tracing {ray_tracing}), {} KB",
            grouped(self.total()),
            grouped(self.bytes.div_ceil(1024))
        ))?;
        Ok(log)
    }
}

/// The lines of sanitising: a count for each rule.
fn sanitising(counts: &Sanitised, line: &mut impl FnMut(std::fmt::Arguments<'_>) -> Result<()>) -> Result<()> {
    let Sanitised { inconsistent_shaders, undecided_shaders, before, inconsistent, empty, invalid, unchecked } =
        *counts;
    let shaders = grouped(inconsistent_shaders);
    line(format_args!("{shaders} vertex shaders are used with an inconsistent vertex format"))?;
    if undecided_shaders > 0 {
        let undecided = grouped(undecided_shaders);
        line(format_args!("kept: {undecided} of them have two formats with as many pipelines and uses each"))?;
    }
    line(format_args!("before sanitising {}", grouped(before)))?;
    line(format_args!("filtered out: inconsistent vertex declaration {}", grouped(inconsistent)))?;
    line(format_args!("filtered out: incompatible with an empty declaration {}", grouped(empty)))?;
    line(format_args!("filtered out: invalid state {}", grouped(invalid)))?;
    line(format_args!("not checked: state in a schema of the host {}", grouped(unchecked)))?;
    line(format_args!("after sanitising {}", grouped(counts.after())))
}
