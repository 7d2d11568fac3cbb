//! What a goblin learns: one entry a task id, shared by the settings that name it.

use std::fmt::Write;

use crate::base::{Id, Level, Result, Slots, error, host_log, try_collect_all, try_filled, try_string};
use crate::profile::{Estimate, Learned, Profile};

use super::config::LANE_NAMES;
use super::lanes::Lanes;

/// A task: its samples of this run and what a past run knew, an entry a cell, lane after lane.
#[derive(Debug)]
pub struct Task {
    pub id: String,
    /// Settings that name it.
    pub users: u32,
    /// Cells of a lane.
    pub cells: usize,
    learned: Vec<Learned>,
    /// As many, or none.
    past: Vec<Estimate>,
}

impl Task {
    /// What was learned on a lane.
    pub fn learned(&self, lane: usize) -> &[Learned] {
        &self.learned[lane * self.cells..][..self.cells]
    }

    /// What was learned of a cell on a lane.
    pub fn learned_mut(&mut self, lane: usize, cell: usize) -> &mut Learned {
        debug_assert!(cell < self.cells);
        &mut self.learned[lane * self.cells + cell]
    }

    /// Past knowledge of a lane, if there is any.
    pub fn past(&self, lane: usize) -> Option<&[Estimate]> {
        let known = self.past.get(lane * self.cells..(lane + 1) * self.cells)?;
        known.iter().any(|estimate| estimate.count > 0).then_some(known)
    }

    /// What was learned of a cell on the lane that knows it best: a setting need not burden every lane.
    pub fn best_known(&self, cell: usize) -> &Learned {
        if self.learned.len() == self.cells {
            return &self.learned[cell];
        }
        let lanes = self.learned[cell..].iter().step_by(self.cells);
        lanes.max_by_key(|learned| learned.run.count()).expect("a task has a lane at least")
    }

    /// Whether the past knows enough of a cell, on any lane.
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

/// All tasks, found by id.
#[derive(Debug, Default)]
pub struct Tasks {
    tasks: Slots<Task>,
    /// Positions ordered by id.
    by_id: Vec<u32>,
}

impl Tasks {
    /// The task at a position that a setting holds.
    pub fn at(&self, position: usize) -> &Task {
        self.tasks.at(position).expect("a setting's task lives as long as the setting")
    }

    /// The task at a position that a setting holds.
    pub fn at_mut(&mut self, position: usize) -> &mut Task {
        self.tasks.at_mut(position).expect("a setting's task lives as long as the setting")
    }

    /// All tasks, ordered by id.
    pub fn iter(&self) -> impl Iterator<Item = &Task> {
        self.by_id.iter().map(|&position| self.at(position as usize))
    }

    /// Another setting names task `id` with that many cells; where it stands, and whether its estimates were dropped
    /// because its options are not as many as before. On an error nothing changed.
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

    /// Where the task with this id stands, if settings name it.
    pub fn used(&self, id: &str) -> Option<usize> {
        let position = self.by_id[self.search(id).ok()?] as usize;
        (self.at(position).users > 0).then_some(position)
    }

    /// A setting no longer names the task. What was measured is kept for a setting that may come back.
    pub fn leave(&mut self, position: usize) {
        self.at_mut(position).users -= 1;
        if !self.at(position).is_worth_keeping() {
            self.by_id.retain(|&p| p as usize != position);
            let id: Id = self.tasks.id_at(position);
            self.tasks.remove(id);
        }
    }

    /// The task's options are not what they were: drop its estimates. On an error nothing changed.
    pub fn relearn(&mut self, position: usize, cells: usize, lanes: &Lanes, past: &Profile) -> Result<()> {
        let task = self.at(position);
        let fresh = try_filled(Learned::NOTHING, cells * lanes.count())?;
        let known = matching(past, &task.id, cells, lanes)?;
        if task.cells > 0 {
            host_log(
                Level::Info,
                format_args!(
                    "task '{}' has {cells} options instead of {}: its estimates are dropped and learned anew",
                    task.id, task.cells
                ),
            );
        }
        let task = self.at_mut(position);
        (task.cells, task.learned, task.past) = (cells, fresh, known);
        Ok(())
    }

    /// Past knowledge for all tasks. On an error nothing changed.
    pub fn set_past(&mut self, lanes: &Lanes, past: &Profile) -> Result<()> {
        let fresh = try_collect_all(self.iter().map(|task| matching(past, &task.id, task.cells, lanes)))?;
        for (order, known) in fresh.into_iter().enumerate() {
            let position = self.by_id[order] as usize;
            self.at_mut(position).past = known;
        }
        Ok(())
    }

    /// Other lanes are governed: keep what was learned on those that stay. On an error nothing changed.
    pub fn set_lanes(&mut self, from: &Lanes, to: &Lanes, past: &Profile) -> Result<()> {
        let fresh = try_collect_all(self.iter().map(|task| {
            let mut learned = try_filled(Learned::NOTHING, task.cells * to.count())?;
            for (index, lane) in to.iter().enumerate() {
                if let Some(before) = from.index(lane) {
                    learned[index * task.cells..][..task.cells].copy_from_slice(task.learned(before));
                }
            }
            Ok((learned, matching(past, &task.id, task.cells, to)?))
        }))?;
        for (order, (learned, past)) in fresh.into_iter().enumerate() {
            let position = self.by_id[order] as usize;
            let task = self.at_mut(position);
            (task.learned, task.past) = (learned, past);
        }
        Ok(())
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

/// Where a profile keeps a task's burdens on a governed lane: on the first under the task's id, as the seed does; on
/// the others under the id with the lane's name.
pub fn key_in_profile(id: &str, lanes: &Lanes, lane: usize) -> Result<String> {
    let name = LANE_NAMES[lanes.lane(lane)];
    let mut key = String::new();
    key.try_reserve_exact(id.len() + name.len() + 1)?;
    key.push_str(id);
    if lane > 0 {
        // Writing to reserved text cannot fail.
        _ = write!(key, "@{name}");
    }
    Ok(key)
}

/// What `past` knows of the task, lane after lane, if it knew it with as many options: others are not the same options.
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
                .map_err(|_| error!(OutOfMemory, "out of memory for the past of task '{id}'"))?;
        }
        all[lane * cells..][..cells].copy_from_slice(known);
    }
    Ok(all)
}
