//! Measured costs of options, and estimates from them.
//!
//! A [`Profile`] is the stored result of past runs: for every *task*, an [`Estimate`] of the burden of each option. It
//! can be saved, loaded, merged, and moved to another machine. [`Learned`] holds one option's samples of this run.
//! [`estimate`](estimate()) combines the two by the rules of Performance Goblin (Evan Balster). The profile keeps its
//! JSON format: `{"id":[[count,mean,deviation],...],...}`.
//!
//! Invariants:
//! 1. Tasks are sorted by id, and ids are unique. Equal profiles are therefore written as equal bytes.
//! 2. `set`, `scale` and the reader accept only means and deviations that are finite and not negative. A count of 0
//!    means that the cost is unknown.
//! 3. A written profile reads back to the last bit, except counts above 2^53.
//! 4. After an error the profile is unchanged.
//!
//! | file | content |
//! |---|---|
//! | `estimate` | the burden of each option of a setting: recent samples, past profile, or a guess |
//! | `hitches` | how often samples are hitches, and how long these take |
//! | `json` | strict reading, with line and column of an error; writing without memory |
#![forbid(unsafe_code)]

mod estimate;
mod hitches;
mod json;
#[cfg(test)]
mod json_memory_test;
#[cfg(test)]
mod json_test;

pub use estimate::{Blind, Burden, Learned, Rules, Source, add_to_task, estimate, past_to_present_ratio};
pub use hitches::Hitches;

use crate::base::{Number, Result, error, fault_point, try_collect_all, try_string, try_to_vec};
use crate::stats::{Normal, Running};

/// The measured cost of one option: sample count, mean and (population) deviation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Number of samples. 0: the cost is unknown.
    pub count: u64,
    /// Mean burden, in the lane's unit (milliseconds for time lanes).
    pub mean: f64,
    /// Standard deviation, in the same unit.
    pub deviation: f64,
}

impl Estimate {
    /// The distribution, without the count.
    pub fn normal(&self) -> Normal {
        Normal { mean: self.mean, variance: self.deviation * self.deviation }
    }

    /// Whether the estimate has enough samples (3 or more) to tolerate a few hitches.
    pub fn is_solid(&self) -> bool {
        self.count >= SOLID
    }

    fn running(&self) -> Running {
        Running::from_moments(self.count, self.mean, self.deviation)
    }
}

/// Minimum number of samples of a solid estimate.
const SOLID: u64 = 3;

impl From<&Running> for Estimate {
    fn from(run: &Running) -> Self {
        Self { count: run.count(), mean: run.mean(), deviation: run.normal().deviation() }
    }
}

/// One task: its id, and the cost of each option.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    id: String,
    options: Vec<Estimate>,
}

impl Task {
    /// The id by which settings find the task.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The cost of each option.
    pub fn options(&self) -> &[Estimate] {
        &self.options
    }
}

/// Maximum number of options of a task. Choices are 16-bit, and the highest value is reserved for "none".
pub const MAX_OPTIONS: usize = u16::MAX as usize;

/// Tasks and the costs of their options, ordered by id, so that equal profiles are always written the same way.
#[derive(Debug, Default, PartialEq)]
pub struct Profile {
    tasks: Vec<Task>,
}

impl Profile {
    /// An empty profile. Allocates nothing.
    pub const fn new() -> Self {
        Self { tasks: Vec::new() }
    }

    /// All tasks, ordered by id.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// The costs of the options of task `id`.
    pub fn find(&self, id: &str) -> Option<&[Estimate]> {
        self.position(id).ok().map(|at| self.tasks[at].options.as_slice())
    }

    /// Set the costs of task `id`. Mean and deviation must be finite and not negative.
    pub fn set(&mut self, id: &str, options: &[Estimate]) -> Result<()> {
        if options.len() > MAX_OPTIONS {
            return Err(error!(
                LimitExceeded,
                "task has {} options; at most {MAX_OPTIONS} are possible",
                options.len()
            ));
        }
        for (option, e) in options.iter().enumerate() {
            let fits = |x: f64| x.is_finite() && x >= 0.0;
            if !(fits(e.mean) && fits(e.deviation)) {
                return Err(error!(
                    InvalidArgument,
                    "option {option}: mean {} and deviation {} must both be finite and not negative",
                    Number(e.mean),
                    Number(e.deviation)
                ));
            }
        }
        self.put(id, try_to_vec(options)?)
    }

    /// Remove task `id`. Returns whether it existed.
    pub fn remove(&mut self, id: &str) -> bool {
        self.position(id).map(|at| self.tasks.remove(at)).is_ok()
    }

    /// Remove all tasks, but keep the memory of the list.
    pub fn clear(&mut self) {
        fault_point!("profile.clear");
        self.tasks.clear();
    }

    /// A copy, or the error that memory ran out.
    pub fn try_clone(&self) -> Result<Self> {
        let copy = |task: &Task| Ok(Task { id: try_string(&task.id)?, options: try_to_vec(&task.options)? });
        Ok(Self { tasks: try_collect_all(self.tasks.iter().map(copy))? })
    }

    /// Merge the estimates of `other`, weighted by sample count. Tasks with different option counts have different
    /// options: the side with more samples in total is kept. Fails if a mean or a deviation overflows. On an error nothing
    /// changes.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        let mut merged = self.try_clone()?;
        for theirs in &other.tasks {
            match merged.position(&theirs.id) {
                Ok(at) => merged.tasks[at].merge(theirs)?,
                Err(_) => merged.set(&theirs.id, &theirs.options)?,
            }
        }
        *self = merged;
        Ok(())
    }

    /// Multiply every burden by `factor` (finite, above 0), for use on a slower or faster machine.
    pub fn scale(&mut self, factor: f64) -> Result<()> {
        let estimates = || self.tasks.iter().flat_map(|task| &task.options);
        let overflows = |e: &Estimate| !(e.mean * factor).is_finite() || !(e.deviation * factor).is_finite();
        if !(factor.is_finite() && factor > 0.0) || estimates().any(overflows) {
            return Err(error!(
                InvalidArgument,
                "scale factor {} must be above 0, finite, and keep every burden finite",
                Number(factor)
            ));
        }
        for e in self.tasks.iter_mut().flat_map(|task| &mut task.options) {
            e.mean *= factor;
            e.deviation *= factor;
        }
        Ok(())
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        let of_task = |task: &Task| task.id.capacity() + task.options.capacity() * size_of::<Estimate>();
        self.tasks.capacity() * size_of::<Task>() + self.tasks.iter().map(of_task).sum::<usize>()
    }

    fn position(&self, id: &str) -> std::result::Result<usize, usize> {
        self.tasks.binary_search_by(|task| task.id.as_str().cmp(id))
    }

    fn put(&mut self, id: &str, options: Vec<Estimate>) -> Result<()> {
        match self.position(id) {
            Ok(at) => self.tasks[at].options = options,
            Err(at) => {
                let task = Task { id: try_string(id)?, options };
                self.tasks.try_reserve(1)?;
                self.tasks.insert(at, task);
            }
        }
        Ok(())
    }
}

impl Task {
    fn merge(&mut self, theirs: &Self) -> Result<()> {
        let samples = |options: &[Estimate]| options.iter().map(|e| e.count).fold(0u64, u64::saturating_add);
        if self.options.len() != theirs.options.len() {
            if samples(&theirs.options) > samples(&self.options) {
                self.options = try_to_vec(&theirs.options)?;
            }
            return Ok(());
        }
        let id = &self.id;
        for (option, (mine, theirs)) in self.options.iter_mut().zip(&theirs.options).enumerate() {
            // An estimate without samples changes nothing, not even the last bit.
            if theirs.count == 0 {
                continue;
            }
            if mine.count == 0 {
                *mine = *theirs;
                continue;
            }
            let mut pooled = mine.running();
            pooled.merge(&theirs.running());
            *mine = Estimate::from(&pooled);
            if !(mine.mean.is_finite() && mine.deviation.is_finite()) {
                return Err(error!(
                    InvalidArgument,
                    "task '{id}', option {option}: the burdens are too large to pool; remove the task"
                ));
            }
        }
        Ok(())
    }
}
