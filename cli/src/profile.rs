//! Profiles: measured costs of options.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Subcommand;
use hobgoblin::profile::{Estimate, Profile};
use serde::Serialize;

use crate::failure::{Failure, Result, cannot_read, shown};
use crate::interrupt;
use crate::numbers::count;
use crate::outputs::{cannot_write, replace};
use crate::report::{self, Output, Report, table};

#[derive(Subcommand)]
pub enum Command {
    /// Show the cost of each option.
    Show {
        /// A file of hob_profile_save.
        file: PathBuf,
    },
    /// Merge profiles, weighted by their numbers of samples.
    ///
    /// If a task has another number of options in two files, the file with more samples counts.
    Merge {
        /// The profiles.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// The merged profile. An existing file is replaced when the new one is complete. It may be one of the profiles: it
        /// then holds all of them.
        #[arg(long, short)]
        out: PathBuf,
    },
    /// Compare two profiles. The exit code is 1 if they differ.
    Diff {
        /// The profile to compare with.
        before: PathBuf,
        /// The changed profile.
        after: PathBuf,
        /// Means that differ by less than this many percent count as equal.
        #[arg(long, default_value_t = 0.0)]
        percent: f64,
    },
}

pub fn run(command: Command, output: &Output) -> Result<ExitCode> {
    match command {
        Command::Show { file } => output.print(&Shown { tasks: tasks(&read(&file)?) }),
        Command::Merge { files, out } => {
            let mut merged = Profile::new();
            for file in &files {
                merged.merge(&read(file)?)?;
                interrupt::check()?;
            }
            let mut json = vec![0; merged.json_size()];
            let length = merged.to_json(&mut json)?;
            replace(&out, |to| to.write_all(&json[..length]).map_err(|why| cannot_write(&out, &why)))?;
            output.print(&Merged { out, files: files.len(), tasks: merged.tasks().len() })
        }
        Command::Diff { before, after, percent } => {
            let (before, after) = (read(&before)?, read(&after)?);
            output.print(&Difference { options: differences(&before, &after, percent) })
        }
    }
}

fn read(path: &Path) -> Result<Profile> {
    let json = std::fs::read(path).map_err(|why| cannot_read(path, &why))?;
    Profile::from_json(&json).map_err(|why| Failure::File(format!("'{}', {}", shown(path), why.sentence())))
}

#[derive(Serialize)]
struct Cost {
    samples: u64,
    mean: f64,
    deviation: f64,
}

impl From<&Estimate> for Cost {
    fn from(estimate: &Estimate) -> Self {
        Self { samples: estimate.count, mean: estimate.mean, deviation: estimate.deviation }
    }
}

#[derive(Serialize)]
struct TaskCosts {
    id: String,
    options: Vec<Cost>,
}

#[derive(Serialize)]
struct Shown {
    tasks: Vec<TaskCosts>,
}

fn tasks(profile: &Profile) -> Vec<TaskCosts> {
    let costs = |options: &[Estimate]| options.iter().map(Cost::from).collect();
    profile.tasks().iter().map(|task| TaskCosts { id: task.id().into(), options: costs(task.options()) }).collect()
}

impl Report for Shown {
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut rows = table(["task", "option", "samples", "mean", "deviation"]);
        for task in &self.tasks {
            for (option, cost) in task.options.iter().enumerate() {
                let [mean, deviation] = [cost.mean, cost.deviation].map(|number| format!("{number:.4}"));
                rows.add_row([&task.id, &option.to_string(), &count(cost.samples), &mean, &deviation]);
            }
        }
        writeln!(to, "{rows}")
    }
}

#[derive(Serialize)]
struct Merged {
    #[serde(serialize_with = "report::path")]
    out: PathBuf,
    files: usize,
    tasks: usize,
}

impl Report for Merged {
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let [tasks, files] = [self.tasks, self.files].map(|number| count(number as u64));
        writeln!(to, "wrote {tasks} tasks of {files} profiles to '{}'", shown(&self.out))
    }
}

/// An option that differs. `None`: the option or its task is missing.
#[derive(Serialize)]
struct OptionDifference {
    task: String,
    option: usize,
    before: Option<Cost>,
    after: Option<Cost>,
}

#[derive(Serialize)]
struct Difference {
    options: Vec<OptionDifference>,
}

fn differences(before: &Profile, after: &Profile, percent: f64) -> Vec<OptionDifference> {
    let ids: BTreeSet<&str> = before.tasks().iter().chain(after.tasks()).map(|task| task.id()).collect();
    let mut found = Vec::new();
    for id in ids {
        let [before, after] = [before, after].map(|profile| profile.find(id).unwrap_or_default());
        for option in 0..before.len().max(after.len()) {
            let (before, after) = (before.get(option), after.get(option));
            if before.zip(after).is_none_or(|(before, after)| differ(before, after, percent)) {
                let [before, after] = [before, after].map(|estimate| estimate.map(Cost::from));
                found.push(OptionDifference { task: id.into(), option, before, after });
            }
        }
    }
    found
}

fn differ(before: &Estimate, after: &Estimate, percent: f64) -> bool {
    if percent <= 0.0 {
        return before != after;
    }
    let is_known = |estimate: &Estimate| estimate.count > 0;
    let is_far = (before.mean - after.mean).abs() > percent / 100.0 * before.mean.max(after.mean);
    is_known(before) != is_known(after) || is_far
}

impl Report for Difference {
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        if self.options.is_empty() {
            return writeln!(to, "no difference");
        }
        let mut rows = table(["task", "option", "mean before", "after", "change"]);
        for OptionDifference { task, option, before, after } in &self.options {
            let known = |cost: &Option<Cost>| cost.as_ref().filter(|cost| cost.samples > 0).map(|cost| cost.mean);
            let text = |mean: Option<f64>| mean.map_or("unknown".into(), |mean| format!("{mean:.4}"));
            let change = known(before).zip(known(after)).filter(|(before, _)| *before > 0.0);
            let change =
                change.map_or(String::new(), |(before, after)| format!("{:+.1} %", 100.0 * (after / before - 1.0)));
            rows.add_row([task, &option.to_string(), &text(known(before)), &text(known(after)), &change]);
        }
        writeln!(to, "{rows}")
    }

    fn has_findings(&self) -> bool {
        !self.options.is_empty()
    }
}
