//! What a goblin learns: one entry a task id, shared by the settings that name it.

use crate::base::{Id, Level, Result, Slots, error, host_log, try_filled, try_string};
use crate::profile::{Estimate, Learned, Profile};

/// A task: its samples of this run and what a past run knew.
#[derive(Debug)]
pub struct Task {
    pub id: String,
    /// Settings that name it.
    pub users: u32,
    /// An entry an option.
    pub learned: Vec<Learned>,
    /// As many, or none.
    pub past: Vec<Estimate>,
}

impl Task {
    /// Past knowledge, if there is any.
    pub fn past(&self) -> Option<&[Estimate]> {
        (!self.past.is_empty()).then_some(&self.past)
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

    /// Another setting names task `id` with that many options; where it stands, and whether its estimates were dropped
    /// because its options are not as many as before. On an error nothing changed.
    pub fn join(&mut self, id: &str, options: usize, past: &Profile) -> Result<(usize, bool)> {
        match self.search(id) {
            Ok(order) => {
                let position = self.by_id[order] as usize;
                let task = self.at(position);
                let others = options > task.learned.len() || (task.users == 0 && options < task.learned.len());
                if others {
                    self.relearn(position, options, past)?;
                }
                self.at_mut(position).users += 1;
                Ok((position, others))
            }
            Err(order) => {
                let task = Task {
                    id: try_string(id)?,
                    users: 1,
                    learned: try_filled(Learned::NOTHING, options)?,
                    past: matching(past, id, options)?,
                };
                self.by_id.try_reserve(1)?;
                self.tasks.reserve_one()?;
                let position = self.tasks.insert(task).index1 - 1;
                self.by_id.insert(order, position);
                Ok((position as usize, false))
            }
        }
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
    pub fn relearn(&mut self, position: usize, options: usize, past: &Profile) -> Result<()> {
        let task = self.at(position);
        let fresh = try_filled(Learned::NOTHING, options)?;
        let known = matching(past, &task.id, options)?;
        if !task.learned.is_empty() {
            host_log(
                Level::Info,
                format_args!(
                    "task '{}' has {options} options instead of {}: its estimates are dropped and learned anew",
                    task.id,
                    task.learned.len()
                ),
            );
        }
        let task = self.at_mut(position);
        task.learned = fresh;
        task.past = known;
        Ok(())
    }

    /// Past knowledge for all tasks. On an error nothing changed.
    pub fn set_past(&mut self, past: &Profile) -> Result<()> {
        let mut fresh = Vec::new();
        fresh.try_reserve_exact(self.by_id.len())?;
        for task in self.iter() {
            fresh.push(matching(past, &task.id, task.learned.len())?);
        }
        for (order, known) in fresh.into_iter().enumerate() {
            let position = self.by_id[order] as usize;
            self.at_mut(position).past = known;
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

/// What `past` knows of the task, if it knew it with as many options: others are not the same options.
fn matching(past: &Profile, id: &str, options: usize) -> Result<Vec<Estimate>> {
    let Some(known) = past.find(id) else { return Ok(Vec::new()) };
    if known.len() != options {
        host_log(
            Level::Info,
            format_args!("the past profile knows task '{id}' with {} options, not {options}: not used", known.len()),
        );
        return Ok(Vec::new());
    }
    let mut copy = Vec::new();
    copy.try_reserve_exact(options).map_err(|_| error!(OutOfMemory, "out of memory for the past of task '{id}'"))?;
    copy.extend_from_slice(known);
    Ok(copy)
}
