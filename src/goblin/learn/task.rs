//! Tasks: the estimates that a goblin learns, one entry per task id, shared by the settings with that id.

use std::fmt::Write;

use crate::base::{Id, Level, Result, Slots, error, host_log, try_collect_all, try_filled, try_string};
use crate::profile::{Estimate, Learned, Profile};

use crate::goblin::config::LANE_NAMES;
use crate::goblin::lanes::Lanes;

/// A task: its samples of this run and its past estimates, with an entry per cell, lane after lane.
#[derive(Debug)]
pub struct Task {
    pub id: String,
    /// Number of settings with this id.
    pub users: u32,
    /// Number of cells per lane.
    pub cells: usize,
    learned: Vec<Learned>,
    /// As many past estimates, or empty.
    past: Vec<Estimate>,
}

impl Task {
    /// Number of governed lanes.
    pub fn lanes(&self) -> usize {
        self.learned.len() / self.cells.max(1)
    }

    /// The estimates of a lane.
    pub fn learned(&self, lane: usize) -> &[Learned] {
        &self.learned[lane * self.cells..][..self.cells]
    }

    /// The estimate of a cell on a lane.
    pub fn learned_mut(&mut self, lane: usize, cell: usize) -> &mut Learned {
        debug_assert!(cell < self.cells);
        &mut self.learned[lane * self.cells + cell]
    }

    /// The estimates of a lane.
    pub fn lane_mut(&mut self, lane: usize) -> &mut [Learned] {
        &mut self.learned[lane * self.cells..][..self.cells]
    }

    /// Past estimates of a lane, if there are any.
    pub fn past(&self, lane: usize) -> Option<&[Estimate]> {
        let known = self.past.get(lane * self.cells..(lane + 1) * self.cells)?;
        known.iter().any(|estimate| estimate.count > 0).then_some(known)
    }

    /// Whether there are past estimates on any lane.
    pub fn has_past(&self) -> bool {
        !self.past.is_empty()
    }

    /// The estimate of a cell on the lane with most samples, since a setting need not burden every lane.
    pub fn best_known(&self, cell: usize) -> &Learned {
        if self.learned.len() == self.cells {
            return &self.learned[cell];
        }
        let lanes = self.learned[cell..].iter().step_by(self.cells);
        lanes.max_by_key(|learned| learned.run.count()).expect("a task has a lane at least")
    }

    /// Whether the expected cost of a cell on a lane rests on enough samples, of this run or of a past one.
    pub fn is_known(&self, lane: usize, cell: usize) -> bool {
        self.learned(lane)[cell].is_known() || self.past(lane).is_some_and(|past| past[cell].is_solid())
    }

    /// Whether the past estimate of a cell is reliable on any lane.
    pub fn has_solid_past(&self, cell: usize) -> bool {
        !self.past.is_empty() && self.past.iter().skip(cell).step_by(self.cells).any(Estimate::is_solid)
    }

    fn is_worth_keeping(&self) -> bool {
        self.users > 0 || self.learned.iter().any(|option| option.run.count() > 0)
    }

    fn memory_used(&self) -> usize {
        self.id.capacity()
            + self.learned.capacity() * size_of::<Learned>()
            + self.past.capacity() * size_of::<Estimate>()
    }
}

/// A task's estimates of this run and its past ones.
type Estimates = (Vec<Learned>, Vec<Estimate>);

/// All tasks, found by id.
#[derive(Debug, Default)]
pub struct Tasks {
    tasks: Slots<Task>,
    /// Positions ordered by id.
    by_id: Vec<u32>,
}

impl Tasks {
    /// The task at the position that a setting stores.
    pub fn at(&self, position: usize) -> &Task {
        self.tasks.at(position).expect("a setting's task lives as long as the setting")
    }

    /// The task at the position that a setting stores.
    pub fn at_mut(&mut self, position: usize) -> &mut Task {
        self.tasks.at_mut(position).expect("a setting's task lives as long as the setting")
    }

    /// All tasks, ordered by id.
    pub fn iter(&self) -> impl Iterator<Item = &Task> {
        self.by_id.iter().map(|&position| self.at(position as usize))
    }

    /// Register another setting for task `id` with that many cells. Returns the task's position, and whether its
    /// estimates were dropped because its number of options changed. On an error nothing changed.
    pub fn join(&mut self, id: &str, cells: usize, lanes: &Lanes, past: &Profile) -> Result<(usize, bool)> {
        match self.search(id) {
            Ok(order) => {
                let position = self.by_id[order] as usize;
                let task = self.at(position);
                let others = cells > task.cells || (task.users == 0 && cells < task.cells);
                if others {
                    self.relearn(position, cells, lanes, past)?;
                }
                self.at_mut(position).users += 1;
                Ok((position, others))
            }
            Err(order) => {
                let task = Task {
                    id: try_string(id)?,
                    users: 1,
                    cells,
                    learned: try_filled(Learned::NOTHING, cells * lanes.count())?,
                    past: matching(past, id, cells, lanes)?,
                };
                self.by_id.try_reserve(1)?;
                self.tasks.reserve_one()?;
                let position = self.tasks.insert(task).index1 - 1;
                self.by_id.insert(order, position);
                Ok((position as usize, false))
            }
        }
    }

    /// The position of the task with this id, if a setting uses it.
    pub fn used(&self, id: &str) -> Option<usize> {
        let position = self.by_id[self.search(id).ok()?] as usize;
        (self.at(position).users > 0).then_some(position)
    }

    /// Unregister a setting. The task's samples are kept in case the setting returns.
    pub fn leave(&mut self, position: usize) {
        self.at_mut(position).users -= 1;
        if !self.at(position).is_worth_keeping() {
            self.by_id.retain(|&p| p as usize != position);
            let id: Id = self.tasks.id_at(position);
            self.tasks.remove(id);
        }
    }

    /// Drop the task's estimates because its options changed. On an error nothing changed.
    pub fn relearn(&mut self, position: usize, cells: usize, lanes: &Lanes, past: &Profile) -> Result<()> {
        let task = self.at(position);
        let fresh = try_filled(Learned::NOTHING, cells * lanes.count())?;
        let known = matching(past, &task.id, cells, lanes)?;
        if task.cells == cells {
            host_log(
                Level::Info,
                format_args!(
                    "one of the settings of task '{}' has another number of options: the task's estimates are dropped and \
                     learned again",
                    task.id
                ),
            );
        } else if task.cells > 0 {
            host_log(
                Level::Info,
                format_args!(
                    "task '{}' has {cells} options instead of {}: its estimates are dropped and learned again",
                    task.id, task.cells
                ),
            );
        }
        let task = self.at_mut(position);
        (task.cells, task.learned, task.past) = (cells, fresh, known);
        Ok(())
    }

    /// The estimates of all tasks with other governed lanes or another past. Those of this run are kept on lanes that
    /// stay governed.
    pub fn estimates_on(&self, from: &Lanes, to: &Lanes, past: &Profile) -> Result<Vec<Estimates>> {
        try_collect_all(self.iter().map(|task| {
            let mut learned = try_filled(Learned::NOTHING, task.cells * to.count())?;
            for (index, lane) in to.iter().enumerate() {
                if let Some(before) = from.index(lane) {
                    learned[index * task.cells..][..task.cells].copy_from_slice(task.learned(before));
                }
            }
            Ok((learned, matching(past, &task.id, task.cells, to)?))
        }))
    }

    /// Replace the estimates of all tasks.
    pub fn replace(&mut self, estimates: Vec<Estimates>) {
        for (order, estimates) in estimates.into_iter().enumerate() {
            let task = self.at_mut(self.by_id[order] as usize);
            (task.learned, task.past) = estimates;
        }
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        self.tasks.memory_used()
            + self.by_id.capacity() * size_of::<u32>()
            + self.iter().map(Task::memory_used).sum::<usize>()
    }

    fn search(&self, id: &str) -> std::result::Result<usize, usize> {
        self.by_id.binary_search_by(|&position| self.at(position as usize).id.as_str().cmp(id))
    }
}

/// The key of a task's burdens in a profile: for the first governed lane the task's id, as in the seed, for others the
/// id with the lane's name.
pub fn key_in_profile(id: &str, lanes: &Lanes, lane: usize) -> Result<String> {
    let name = LANE_NAMES[lanes.lane(lane)];
    let mut key = String::new();
    key.try_reserve_exact(id.len() + name.len() + 1)?;
    key.push_str(id);
    if lane > 0 {
        // Writing to a string with reserved memory cannot fail.
        _ = write!(key, "@{name}");
    }
    Ok(key)
}

/// The estimates of the task in `past`, lane after lane. A lane with another number of options is not used, because
/// these are other options.
fn matching(past: &Profile, id: &str, cells: usize, lanes: &Lanes) -> Result<Vec<Estimate>> {
    let mut all = Vec::new();
    for lane in 0..lanes.count() {
        let key = key_in_profile(id, lanes, lane)?;
        let Some(known) = past.find(&key) else { continue };
        if known.len() != cells {
            host_log(
                Level::Warning,
                format_args!("the past profile knows task '{key}' with {} options, not {cells}: not used", known.len()),
            );
            continue;
        }
        if all.is_empty() {
            all = try_filled(Estimate::default(), cells * lanes.count())
                .map_err(|_| error!(OutOfMemory, "out of memory for the past estimates of task '{id}'"))?;
        }
        all[lane * cells..][..cells].copy_from_slice(known);
    }
    Ok(all)
}
