//! Whether the files that this process writes still have their names and lengths: somebody may delete or replace the
//! directory, or cut a file.
//!
//! An open file stays usable without its name, so writes to it would succeed and be lost. The identity of the own
//! segment is compared with that of the file at its path, before every sync and after every 256 KiB. When they differ,
//! the loss is counted, and the next put makes the directory anew. The same happens if the file is not as long as this
//! process has written: records lie at other offsets then, so no reader accepts them.

use std::io::ErrorKind;

use super::Store;
use super::writer::SegmentWriter;
use crate::base::{Result, error, try_collect};

/// Bytes that may be written between two checks.
const UNCHECKED: u64 = 256 << 10;

impl Store {
    /// [Check](Self::check_own) if enough was written since the last time.
    pub(super) fn check_own_if_due(&mut self) -> Result<()> {
        if self.unchecked < UNCHECKED { Ok(()) } else { self.check_own() }
    }

    /// Find out whether segments of this process have lost their names, or were cut or extended. If so, read the directory
    /// again.
    pub(super) fn check_own(&mut self) -> Result<()> {
        self.unchecked = 0;
        let is_resized = |own: &&SegmentWriter| own.file.length().is_ok_and(|length| length != own.length);
        let resized = try_collect(self.own_writers().filter(is_resized).map(|own| own.id))?;
        let is_gone = |own: &&SegmentWriter| resized.contains(&own.id) || self.has_lost_its_name(own);
        let gone = try_collect(self.own_writers().filter(is_gone).map(|own| own.id))?;
        if gone.is_empty() {
            return Ok(());
        }
        let damaged = self.counts.damaged + resized.len() as u64;
        self.abandon(|id| gone.contains(&id));
        self.drop_segments(|id| gone.contains(&id));
        self.loading = None;
        self.refresh()?;
        // Reading a file again may count it, too.
        self.counts.damaged = self.counts.damaged.max(damaged);
        // The values before the place where the file was changed.
        let left = self.live().filter(|entry| gone.contains(&entry.segment)).count() as u64;
        self.lost = self.lost.saturating_sub(left);
        Ok(())
    }

    fn has_lost_its_name(&self, writer: &SegmentWriter) -> bool {
        let path = self.path(writer.id, "seg");
        let is_another = match writer.identity {
            Some(identity) => self.io.identity(&path).map(|found| found.is_some_and(|found| found != identity)),
            // A bundle has its name at the end.
            None if self.is_bundle() => Ok(false),
            // It is only known whether there is a file.
            None => self.io.size(&path).map(|_| false),
        };
        match is_another {
            Ok(is_another) => is_another,
            Err(why) => matches!(why.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
        }
    }

    /// Stop writing to segments of this process that are missing or changed, and count the values that are lost. Their entries are
    /// dropped with their segments.
    pub(super) fn abandon(&mut self, is_gone: impl Fn(u64) -> bool) {
        if !self.own_writers().any(|writer| is_gone(writer.id)) {
            return;
        }
        let is_lost = |segment: u64| is_gone(segment) && self.is_own(segment);
        self.lost += self.live().filter(|entry| is_lost(entry.segment)).count() as u64;
        self.writer.take_if(|writer| is_gone(writer.id));
        self.full.retain(|writer| !is_gone(writer.id));
        // Its lock file is missing, too.
        self.claim = None;
    }

    /// The loss since the last time, as an error.
    pub(super) fn report_lost(&mut self) -> Result<()> {
        match std::mem::take(&mut self.lost) {
            0 => Ok(()),
            lost => Err(error!(
                Io,
                "files in '{}' were cut, deleted or replaced while in use, and {lost} values with them: later ones are kept",
                self.directory.display()
            )),
        }
    }
}
