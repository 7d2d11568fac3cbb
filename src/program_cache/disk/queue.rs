//! What is to be done, in order, and what is known of it: all that callers and whoever does the work share.

use std::collections::{HashSet, VecDeque};

use super::super::table::FoldKeys;
use super::super::{Blob, Key, Material};
use super::Progress;
use crate::base::{Error, Result, Text, error};
use crate::store::{self, Bundle};

/// What is to be kept.
pub(super) enum Kept {
    Program(Blob),
    Material(Key, Material),
}

/// What is to be done.
pub(super) enum Work {
    Save(Kept),
    Load(Key),
    Remove(Key),
    Clear,
    /// With its number.
    Flush(u64),
    Bundle(Bundle),
    Limit(u64),
}

impl Work {
    /// Whether it is for nothing when the host clears the disk.
    pub fn ends_with_clearing(&self) -> bool {
        !matches!(self, Self::Flush(_) | Self::Bundle(_) | Self::Limit(_))
    }
}

#[derive(Default)]
pub(super) struct Queue {
    pub waiting: VecDeque<Work>,
    pub asked: HashSet<Key, FoldKeys>,
    /// Bundles that are there or on their way.
    pub bundles: usize,
    /// What was removed and may be where nothing is written, which cannot be told: in a bundle, or in a directory that is
    /// only read.
    pub removed: HashSet<Key, FoldKeys>,
    /// Whether all that the directory had is to be as if it were not there, which only a host that may not write needs.
    pub is_own_hidden: bool,
    /// Bytes of the blobs that wait.
    pub pinned: u64,
    /// Numbers of the last flush that was asked for, and of the last one that was done.
    pub flushes: u64,
    pub flushed: u64,
    /// Whether work came for which a task is to be posted.
    pub wants_task: bool,
    /// Whether a task is in the lane, or about to be.
    pub is_posted: bool,
    /// Whether there is nothing left to do.
    pub is_idle: bool,
    pub is_closing: bool,
    /// The key that is being read, and whether it was removed meanwhile.
    pub reading: Option<Key>,
    pub is_cancelled: bool,
    pub progress: Progress,
    /// What `progress.unwritten` was when a flush told of it, and why the last program was not written.
    pub told_unwritten: u64,
    pub why_unwritten: Text<232>,
    pub trouble: Text<232>,
    /// Why a bundle is not read: that does not pass.
    pub bundle_trouble: Text<232>,
    pub counts: store::Statistics,
}

impl Queue {
    /// On an error nothing changed.
    pub fn push(&mut self, work: Work) -> Result<()> {
        self.waiting.try_reserve(1)?;
        self.waiting.push_back(work);
        (self.is_idle, self.wants_task) = (false, true);
        Ok(())
    }

    pub fn pop(&mut self) -> Option<Work> {
        let work = self.waiting.pop_front()?;
        if let Work::Save(Kept::Program(blob)) = &work {
            self.pinned = self.pinned.saturating_sub(blob.size());
        }
        Some(work)
    }

    /// What bundles, and a directory that is not written to, have of a key is not wanted any more.
    pub fn hide(&mut self, key: &Key) -> Result<()> {
        self.removed.try_reserve(1)?;
        self.removed.insert(*key);
        Ok(())
    }

    pub fn lost(&mut self, programs: u64, why: &Error) {
        self.progress.unwritten += programs;
        if programs > 0 {
            self.why_unwritten = Text::format(format_args!("{why}"));
        }
    }

    /// What could not be written since the last time that somebody asked.
    pub fn tell_lost(&mut self) -> Result<()> {
        let lost = self.progress.unwritten - std::mem::replace(&mut self.told_unwritten, self.progress.unwritten);
        match (self.trouble.as_str(), lost) {
            ("", 0) => Ok(()),
            ("", _) => {
                let why = self.why_unwritten.as_str();
                Err(error!(Io, "programs that are not on the disk: {lost}; of the last one: {why}"))
            }
            (trouble, _) => Err(error!(Io, "{trouble}")),
        }
    }

    /// What comes first, if it is to be kept.
    pub fn pop_kept(&mut self) -> Option<Kept> {
        match self.waiting.front()? {
            Work::Save(_) => match self.pop()? {
                Work::Save(kept) => Some(kept),
                _ => None,
            },
            _ => None,
        }
    }

    /// What the disk has of a key up to now is not wanted in memory any more.
    pub fn forget_older(&mut self, key: &Key) {
        self.is_cancelled |= self.reading.as_ref() == Some(key);
        if self.asked.remove(key) {
            self.waiting.retain(|work| !matches!(work, Work::Load(asked) if asked == key));
        }
    }
}
