//! Pipelines that two files do not share.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use hobgoblin::pipeline::{Mask, MaskSet, PipelineKey, PipelineKind};
use hobgoblin::store::io::SharedIo;
use serde::Serialize;

use super::contents::Contents;
use super::inputs::files;
use crate::failure::{Failure, Result, shown};
use crate::numbers::count;
use crate::progress::Progress;
use crate::report::{self, Report, table};

#[derive(Args)]
pub struct Arguments {
    /// A shipped cache, a recording or a stable file.
    before: PathBuf,
    /// The file to compare with. A stable file compares with stable files only.
    after: PathBuf,
    /// List the pipelines that differ. JSON always lists them.
    #[arg(long)]
    list: bool,
}

struct Known {
    kind: PipelineKind,
    masks: MaskSet,
}

type Pipelines = BTreeMap<PipelineKey, Known>;

#[derive(Serialize)]
struct One {
    pipeline: String,
    kind: &'static str,
}

/// A pipeline of both files. Masks have 16 hexadecimal digits for each 64 bits, the first 64 bits last.
#[derive(Serialize)]
struct DifferentMasks {
    pipeline: String,
    kind: &'static str,
    before: Vec<String>,
    after: Vec<String>,
}

#[derive(Serialize)]
pub struct Difference {
    #[serde(serialize_with = "report::path")]
    before: PathBuf,
    #[serde(serialize_with = "report::path")]
    after: PathBuf,
    /// The first difference of project, shader format or graphics API, as a sentence.
    identity: Option<String>,
    only_before: Vec<One>,
    only_after: Vec<One>,
    /// Pipelines of both files.
    both: u64,
    /// Those whose masks differ.
    masks: Vec<DifferentMasks>,
    /// Damaged or missing records of both files.
    damaged: u64,
    #[serde(skip)]
    is_listed: bool,
}

pub fn run(arguments: &Arguments, is_quiet: bool) -> Result<Difference> {
    let Arguments { before, after, list } = arguments;
    let io = files()?;
    let [one, two] = [Contents::open(&io, before)?, Contents::open(&io, after)?];
    if one.is_stable() != two.is_stable() {
        let shown = [before, after].map(|path| shown(path));
        let (first, second) = (one.name(), two.name());
        return Err(Failure::Usage(format!(
            "'{}' is a {first}, and '{}' a {second}: a stable file names pipelines by stable keys; compare two of them",
            shown[0], shown[1]
        )));
    }
    let name = format!("'{}'", shown(after));
    let identity = one.identity().check(two.identity(), &name).err().map(|why| why.sentence().to_owned());
    let progress = Progress::new("reading", 2, is_quiet);
    let ((one, damage), (two, more)) = (pipelines(&io, before, &progress)?, pipelines(&io, after, &progress)?);
    let both = || one.iter().filter_map(|(key, known)| two.get(key).map(|other| (key, known, other)));
    let masks = both().filter(|(_, known, other)| known.masks != other.masks);
    Ok(Difference {
        before: before.clone(),
        after: after.clone(),
        identity,
        only_before: missing_in(&one, &two),
        only_after: missing_in(&two, &one),
        both: both().count() as u64,
        masks: masks
            .map(|(key, known, other)| DifferentMasks {
                pipeline: key.to_string(),
                kind: known.kind.name(),
                before: texts(&known.masks),
                after: texts(&other.masks),
            })
            .collect(),
        damaged: damage + more,
        is_listed: *list,
    })
}

/// The pipelines of a file, and the number of its damaged records.
fn pipelines(io: &SharedIo, path: &Path, progress: &Progress) -> Result<(Pipelines, u64)> {
    let mut found = Pipelines::new();
    let damaged = Contents::open(io, path)?.for_each(|pipeline| {
        found.insert(pipeline.key, Known { kind: pipeline.kind, masks: pipeline.uses.masks.clone() });
    })?;
    progress.step()?;
    Ok((found, damaged))
}

fn missing_in(pipelines: &Pipelines, other: &Pipelines) -> Vec<One> {
    let missing = pipelines.iter().filter(|(key, _)| !other.contains_key(*key));
    missing.map(|(key, known)| One { pipeline: key.to_string(), kind: known.kind.name() }).collect()
}

fn texts(masks: &MaskSet) -> Vec<String> {
    masks.as_slice().iter().map(text).collect()
}

/// A mask without the words that are 0 at its begin.
fn text(mask: &Mask) -> String {
    let last = mask.0.iter().rposition(|&word| word != 0).unwrap_or(0);
    mask.0[..=last].iter().rev().map(|word| format!("{word:016x}")).collect()
}

impl Report for Difference {
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        if !self.has_findings() {
            return writeln!(to, "no difference: {} pipelines in both", count(self.both));
        }
        if let Some(identity) = &self.identity {
            writeln!(to, "{identity}")?;
        }
        let (before, after) = (shown(&self.before), shown(&self.after));
        writeln!(to, "{} pipelines only in '{before}'", count(self.only_before.len() as u64))?;
        writeln!(to, "{} pipelines only in '{after}'", count(self.only_after.len() as u64))?;
        let masks = count(self.masks.len() as u64);
        writeln!(to, "{} pipelines in both, {masks} of them with other masks", count(self.both))?;
        if self.damaged > 0 {
            writeln!(to, "{} records are damaged or missing: write the files again", count(self.damaged))?;
        }
        if !self.is_listed {
            return Ok(());
        }
        let mut rows = table(["pipeline", "kind", "masks before", "masks after"]);
        for (list, side) in [(&self.only_before, ["present", "missing"]), (&self.only_after, ["missing", "present"])] {
            for One { pipeline, kind } in list {
                rows.add_row([pipeline, *kind, side[0], side[1]]);
            }
        }
        for DifferentMasks { pipeline, kind, before, after } in &self.masks {
            rows.add_row([pipeline, *kind, &before.join(" "), &after.join(" ")]);
        }
        writeln!(to, "{rows}")
    }

    fn has_findings(&self) -> bool {
        let is_same = self.only_before.is_empty() && self.only_after.is_empty() && self.masks.is_empty();
        !is_same || self.identity.is_some() || self.damaged > 0
    }
}
