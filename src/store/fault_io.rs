//! A disk in memory with fault injection.
//!
//! Several processes can use one disk. A process can be killed: its writes stay, its locks are released, and its later
//! calls fail. The disk can lose power: unsynced data survives in part, in any order, torn or as zeros. The disk can
//! also be full after some number of bytes, fail at a certain call, and return short reads. With a quota it counts
//! blocks of 4 KiB, and a deleted file frees its blocks when the last process closes it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use super::io::{File, Io, Lock, Names, SharedFile, Size, box_lock, on_disk, share_file};

#[derive(Default)]
struct Inode {
    bytes: Vec<u8>,
    /// Bytes that survive a power loss.
    synced: Vec<u8>,
    /// Begin and end of each part that was appended since the last sync.
    unsynced: Vec<(usize, usize)>,
    /// Names and open handles.
    references: u64,
}

#[derive(Clone)]
enum Renaming {
    Link(PathBuf, usize),
    Unlink(PathBuf),
    Rename(PathBuf, PathBuf),
}

#[derive(Default)]
struct DiskState {
    inodes: Vec<Inode>,
    names: BTreeMap<PathBuf, usize>,
    synced_names: BTreeMap<PathBuf, usize>,
    unsynced_names: Vec<Renaming>,
    directories: BTreeSet<PathBuf>,
    /// Process that holds the lock of each inode.
    locks: BTreeMap<usize, u64>,
    processes: u64,
    nonce: u64,
    space: Option<u64>,
    /// A directory, or a file, that has no space.
    full: Option<PathBuf>,
    /// Greatest length of a file, if there is one.
    longest: Option<u64>,
    /// Most bytes of all files, in whole blocks.
    quota: Option<u64>,
    /// Bytes of all files that have a name or are open, in whole blocks.
    used: u64,
    most_used: u64,
    /// Open handles of each process and inode.
    handles: BTreeMap<(u64, usize), u64>,
    counts: CallCounts,
}

impl DiskState {
    /// Count the references and bytes anew.
    fn count(&mut self) {
        self.inodes.iter_mut().for_each(|inode| inode.references = 0);
        self.names.values().for_each(|&inode| self.inodes[inode].references += 1);
        self.handles.iter().for_each(|(&(_, inode), handles)| self.inodes[inode].references += handles);
        let in_use = self.inodes.iter().filter(|inode| inode.references > 0);
        self.used = in_use.map(|inode| on_disk(inode.bytes.len() as u64)).sum();
        self.most_used = self.most_used.max(self.used);
    }

    fn refer(&mut self, inode: usize) {
        self.inodes[inode].references += 1;
    }

    /// End a reference. The last one frees the bytes.
    fn release(&mut self, inode: usize) {
        self.inodes[inode].references -= 1;
        if self.inodes[inode].references == 0 {
            let length = self.inodes[inode].bytes.len() as u64;
            self.used -= on_disk(length);
            self.space = self.space.map(|space| space + length);
        }
    }

    /// Whether the quota allows an inode to get that length; counts it if so.
    fn may_resize(&mut self, inode: usize, length: u64) -> bool {
        // The process is being killed, and the file has no name.
        if self.inodes[inode].references == 0 {
            return true;
        }
        let used = self.used - on_disk(self.inodes[inode].bytes.len() as u64) + on_disk(length);
        if used > self.used && self.quota.is_some_and(|quota| used > quota) {
            return false;
        }
        self.used = used;
        self.most_used = self.most_used.max(used);
        true
    }
}

/// Counts of calls to the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallCounts {
    /// Files opened.
    pub opened: u64,
    /// Calls that read.
    pub reads: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Calls that append.
    pub appends: u64,
    /// Calls that wait for the disk.
    pub syncs: u64,
    /// Calls that ask for a file's identity by its path.
    pub looks: u64,
    /// Files removed.
    pub removed: u64,
    /// Names listed.
    pub listed: u64,
}

/// The disk.
#[derive(Clone, Default)]
pub struct FaultDisk(Arc<Mutex<DiskState>>);

/// A process that uses the disk.
#[derive(Clone)]
pub struct FaultIo {
    disk: FaultDisk,
    process: u64,
    plan: Arc<Mutex<FaultPlan>>,
}

/// Faults that a process meets.
#[derive(Clone, Copy, Debug, Default)]
pub struct FaultPlan {
    /// Changing calls that succeed before the process is killed. The call after them dies: an append halfway, others
    /// before they take effect.
    pub calls_to_live: Option<u64>,
    /// Changing calls before one fails with `EIO`, once.
    pub calls_to_error: Option<u64>,
    /// Reads before one fails with `EIO`, once.
    pub calls_to_misread: Option<u64>,
    /// Most bytes that a read returns.
    pub longest_read: Option<usize>,
    /// Every read fails.
    pub reads_fail: bool,
    /// Listings after which another process deletes the first segment, before this one reads it.
    pub listings_to_delete: u64,
    /// Every change is denied, as in another user's directory.
    pub is_denied: bool,
    dead: bool,
}

enum Fate {
    Goes,
    Dies,
}

impl FaultDisk {
    fn state(&self) -> MutexGuard<'_, DiskState> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Another process.
    pub fn process(&self) -> FaultIo {
        let mut state = self.state();
        state.processes += 1;
        FaultIo { disk: self.clone(), process: state.processes, plan: Arc::default() }
    }

    /// Set the greatest length of a file; `None` is unlimited.
    pub fn set_longest(&self, longest: Option<u64>) {
        self.state().longest = longest;
    }

    /// Set the bytes that still fit on the disk; `None` is unlimited.
    pub fn set_space(&self, space: Option<u64>) {
        self.state().space = space;
    }

    /// Set a directory, or a file, that has no space; `None`: there is space everywhere.
    pub fn set_full(&self, path: Option<&str>) {
        self.state().full = path.map(PathBuf::from);
    }

    /// Set the most bytes that all files may take, in whole blocks; `None` is unlimited.
    pub fn set_quota(&self, quota: Option<u64>) {
        self.state().quota = quota;
    }

    /// Bytes of all files, in whole blocks, including deleted ones that are open.
    pub fn used(&self) -> u64 {
        self.state().used
    }

    /// The most that [`used`](Self::used) ever was.
    pub fn most_used(&self) -> u64 {
        self.state().most_used
    }

    /// Counts of calls so far.
    pub fn counts(&self) -> CallCounts {
        self.state().counts
    }

    /// Names of all files.
    pub fn files(&self) -> Vec<PathBuf> {
        self.state().names.keys().cloned().collect()
    }

    /// The bytes of a file.
    pub fn read(&self, path: &Path) -> Option<Vec<u8>> {
        let state = self.state();
        state.names.get(path).map(|&inode| state.inodes[inode].bytes.clone())
    }

    /// Add a file, already synced.
    pub fn write(&self, path: &Path, bytes: &[u8]) {
        let mut state = self.state();
        state.inodes.push(Inode { bytes: bytes.to_vec(), synced: bytes.to_vec(), unsynced: Vec::new(), references: 0 });
        let inode = state.inodes.len() - 1;
        state.names.insert(path.to_path_buf(), inode);
        state.synced_names.insert(path.to_path_buf(), inode);
        state.directories.extend(path.parent().map(Path::to_path_buf));
        state.count();
    }

    /// An independent copy, without open files or locks.
    pub fn duplicate(&self) -> Self {
        let copy = Self::default();
        for path in self.files() {
            copy.write(&path, &self.read(&path).unwrap_or_default());
        }
        copy
    }

    /// Lose power: releases all locks. Each number from `random` decides how much of one unsynced write survives, or
    /// whether one unsynced name does. Processes are not marked as dead: do not use them afterwards.
    pub fn lose_power(&self, mut random: impl FnMut() -> u64) {
        let mut state = self.state();
        let state = &mut *state;
        state.locks.clear();
        for inode in &mut state.inodes {
            let mut left = inode.synced.clone();
            for &(from, to) in &inode.unsynced {
                let choice = random();
                let written = (choice >> 8) as usize % (to - from + 1);
                let (kept_from, kept_to, length) = match choice % 4 {
                    0 => continue,
                    1 => (from, to, to),
                    // The size was written, but only some of the bytes.
                    2 => (from, from + written, to),
                    _ => (to - written, to, to),
                };
                left.resize(left.len().max(length), 0);
                left[kept_from..kept_to].copy_from_slice(&inode.bytes[kept_from..kept_to]);
            }
            *inode = Inode { bytes: left.clone(), synced: left, unsynced: Vec::new(), references: 0 };
        }
        let mut names = state.synced_names.clone();
        for renaming in state.unsynced_names.drain(..) {
            if !random().is_multiple_of(3) {
                apply(&mut names, &renaming);
            }
        }
        state.synced_names.clone_from(&names);
        state.names = names;
        state.handles.clear();
        state.count();
    }
}

fn apply(names: &mut BTreeMap<PathBuf, usize>, renaming: &Renaming) {
    match renaming {
        Renaming::Link(path, inode) => drop(names.insert(path.clone(), *inode)),
        Renaming::Unlink(path) => drop(names.remove(path)),
        Renaming::Rename(from, to) => {
            if let Some(inode) = names.remove(from) {
                names.insert(to.clone(), inode);
            }
        }
    }
}

const BLOCK: usize = super::io::BLOCK as usize;

fn eio() -> io::Error {
    io::Error::from_raw_os_error(5)
}

impl FaultIo {
    /// Change the faults of this process.
    pub fn plan(&self, change: impl FnOnce(&mut FaultPlan)) {
        change(&mut self.plan.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    }

    /// Kill the process.
    pub fn kill(&self) {
        self.plan(|plan| plan.dead = true);
        let mut state = self.disk.state();
        state.locks.retain(|_, holder| *holder != self.process);
        state.handles.retain(|(process, _), _| *process != self.process);
        state.count();
    }

    /// Whether the process was killed.
    pub fn is_dead(&self) -> bool {
        self.plan.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).dead
    }

    /// Apply the faults of a call that changes something.
    fn change(&self) -> io::Result<Fate> {
        let mut plan = self.plan.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if plan.dead {
            return Err(eio());
        }
        if plan.is_denied {
            return Err(ErrorKind::PermissionDenied.into());
        }
        if let Some(left) = &mut plan.calls_to_error {
            if *left == 0 {
                plan.calls_to_error = None;
                return Err(eio());
            }
            *left -= 1;
        }
        match &mut plan.calls_to_live {
            Some(0) => {
                drop(plan);
                self.kill();
                Ok(Fate::Dies)
            }
            Some(left) => {
                *left -= 1;
                Ok(Fate::Goes)
            }
            None => Ok(Fate::Goes),
        }
    }

    /// [`change`](Self::change) for an atomic call: a process that dies in it dies before it takes effect.
    fn change_whole(&self) -> io::Result<()> {
        match self.change()? {
            Fate::Goes => Ok(()),
            Fate::Dies => Err(eio()),
        }
    }

    /// Whether another process deletes the first segment of this listing.
    fn deletes_listed(&self) -> bool {
        let mut plan = self.plan.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let less = plan.listings_to_delete.checked_sub(1);
        plan.listings_to_delete = less.unwrap_or(0);
        less.is_some()
    }

    fn look(&self) -> io::Result<()> {
        if self.is_dead() { Err(eio()) } else { Ok(()) }
    }

    fn rename_names(&self, renaming: Renaming) {
        let mut state = self.disk.state();
        let state = &mut *state;
        let lost = match &renaming {
            Renaming::Link(_, inode) => {
                state.refer(*inode);
                None
            }
            Renaming::Unlink(path) | Renaming::Rename(_, path) => state.names.get(path).copied(),
        };
        apply(&mut state.names, &renaming);
        state.unsynced_names.push(renaming);
        lost.iter().for_each(|&inode| state.release(inode));
    }

    fn file(&self, inode: usize) -> io::Result<SharedFile> {
        let mut state = self.disk.state();
        *state.handles.entry((self.process, inode)).or_default() += 1;
        state.refer(inode);
        drop(state);
        share_file(FaultFile { io: self.clone(), inode })
    }

    fn parent_exists(&self, path: &Path) -> bool {
        path.parent().is_some_and(|parent| self.disk.state().directories.contains(parent))
    }
}

impl Io for FaultIo {
    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        self.look()?;
        let mut state = self.disk.state();
        if state.names.contains_key(directory) {
            return Err(ErrorKind::NotADirectory.into());
        }
        if !state.directories.contains(directory) {
            return Err(ErrorKind::NotFound.into());
        }
        let inside = state.names.keys().filter(|path| path.parent() == Some(directory));
        let names: Vec<_> = inside.filter_map(|path| path.file_name()).map(OsString::from).collect();
        state.counts.listed += names.len() as u64;
        let is_segment = |name: &&OsString| Path::new(name).extension() == Some(OsStr::new("seg"));
        let first = names.iter().find(is_segment).filter(|_| self.deletes_listed());
        drop(state);
        if let Some(name) = first {
            self.rename_names(Renaming::Unlink(directory.join(name)));
        }
        Ok(names)
    }

    fn names(&self, directory: &Path) -> io::Result<Box<dyn Names>> {
        let names = self.list(directory)?;
        let mut state = self.disk.state();
        // Each is counted when it is read.
        state.counts.listed -= names.len() as u64;
        Ok(Box::new(FaultNames(self.disk.clone(), names.into_iter())))
    }

    fn create_directory(&self, directory: &Path) -> io::Result<()> {
        self.change_whole()?;
        self.disk.state().directories.insert(directory.to_path_buf());
        Ok(())
    }

    fn open(&self, path: &Path) -> io::Result<SharedFile> {
        self.look()?;
        let mut state = self.disk.state();
        let inode = *state.names.get(path).ok_or(ErrorKind::NotFound)?;
        state.counts.opened += 1;
        drop(state);
        self.file(inode)
    }

    fn create(&self, path: &Path) -> io::Result<SharedFile> {
        self.change_whole()?;
        if !self.parent_exists(path) {
            return Err(ErrorKind::NotFound.into());
        }
        let mut state = self.disk.state();
        if state.names.contains_key(path) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        state.inodes.push(Inode::default());
        let inode = state.inodes.len() - 1;
        drop(state);
        self.rename_names(Renaming::Link(path.to_path_buf(), inode));
        self.file(inode)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change_whole()?;
        if !self.disk.state().names.contains_key(from) {
            return Err(ErrorKind::NotFound.into());
        }
        self.rename_names(Renaming::Rename(from.to_path_buf(), to.to_path_buf()));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.change_whole()?;
        if !self.disk.state().names.contains_key(path) {
            return Err(ErrorKind::NotFound.into());
        }
        self.rename_names(Renaming::Unlink(path.to_path_buf()));
        self.disk.state().counts.removed += 1;
        Ok(())
    }

    fn discard(&self, path: &Path) -> io::Result<()> {
        let inode = self.disk.state().names.get(path).copied().ok_or(ErrorKind::NotFound)?;
        self.file(inode)?.truncate(0)?;
        self.remove(path)
    }

    fn size(&self, path: &Path) -> io::Result<Size> {
        self.look()?;
        let state = self.disk.state();
        let inode = *state.names.get(path).ok_or(ErrorKind::NotFound)?;
        Ok(Size::of(state.inodes[inode].bytes.len() as u64))
    }

    fn sync_directory(&self, _: &Path) -> io::Result<()> {
        self.change_whole()?;
        let mut state = self.disk.state();
        let state = &mut *state;
        state.unsynced_names.clear();
        state.synced_names.clone_from(&state.names);
        Ok(())
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        let known = self.disk.state().names.get(path).copied();
        let inode = match known {
            Some(inode) => inode,
            None => match self.create(path) {
                // Another process may create it meanwhile.
                Err(why) if why.kind() != ErrorKind::AlreadyExists => return Err(why),
                _ => self.disk.state().names.get(path).copied().ok_or(ErrorKind::NotFound)?,
            },
        };
        self.look()?;
        let mut state = self.disk.state();
        if state.locks.contains_key(&inode) {
            return Ok(None);
        }
        state.locks.insert(inode, self.process);
        drop(state);
        box_lock(FaultLock { disk: self.disk.clone(), inode, process: self.process }).map(Some)
    }

    fn identity(&self, path: &Path) -> io::Result<Option<(u64, u64)>> {
        let mut state = self.disk.state();
        state.counts.looks += 1;
        let inode = *state.names.get(path).ok_or(ErrorKind::NotFound)?;
        Ok(Some((0, inode as u64)))
    }

    fn nonce(&self) -> u64 {
        let mut state = self.disk.state();
        state.nonce += 1;
        state.nonce
    }
}

struct FaultNames(FaultDisk, std::vec::IntoIter<OsString>);

impl Names for FaultNames {
    fn next(
        &mut self,
        each: &mut dyn FnMut(&OsStr) -> crate::base::Result<()>,
    ) -> io::Result<crate::base::Result<bool>> {
        self.0.state().counts.listed += 1;
        Names::next(&mut self.1, each)
    }
}

struct FaultLock {
    disk: FaultDisk,
    inode: usize,
    process: u64,
}

impl Lock for FaultLock {}

impl Drop for FaultLock {
    fn drop(&mut self) {
        let mut state = self.disk.state();
        if state.locks.get(&self.inode) == Some(&self.process) {
            state.locks.remove(&self.inode);
        }
    }
}

struct FaultFile {
    io: FaultIo,
    inode: usize,
}

impl Drop for FaultFile {
    fn drop(&mut self) {
        let mut state = self.io.disk.state();
        let place = (self.io.process, self.inode);
        // A process that was killed has none.
        let Some(handles) = state.handles.get_mut(&place) else { return };
        *handles -= 1;
        if *handles == 0 {
            state.handles.remove(&place);
        }
        state.release(self.inode);
    }
}

impl File for FaultFile {
    fn identity(&self) -> io::Result<Option<(u64, u64)>> {
        Ok(Some((0, self.inode as u64)))
    }

    fn length(&self) -> io::Result<u64> {
        self.io.look()?;
        Ok(self.io.disk.state().inodes[self.inode].bytes.len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.io.look()?;
        let mut plan = self.io.plan.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let fails = plan.reads_fail || plan.calls_to_misread == Some(0);
        plan.calls_to_misread = plan.calls_to_misread.and_then(|left| left.checked_sub(1));
        if fails {
            return Err(eio());
        }
        let longest = plan.longest_read.unwrap_or(usize::MAX);
        drop(plan);
        let mut state = self.io.disk.state();
        let bytes = &state.inodes[self.inode].bytes;
        let there = bytes.get(offset as usize..).unwrap_or(&[]);
        let count = there.len().min(buffer.len()).min(longest);
        buffer[..count].copy_from_slice(&there[..count]);
        state.counts.reads += 1;
        state.counts.bytes_read += count as u64;
        Ok(count)
    }

    fn append(&self, parts: &mut [IoSlice<'_>]) -> io::Result<()> {
        let fate = self.io.change()?;
        let all: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
        let mut state = self.io.disk.state();
        let is_full = state
            .full
            .as_ref()
            .is_some_and(|full| state.names.iter().any(|(path, &inode)| inode == self.inode && path.starts_with(full)));
        let room = if is_full { 0 } else { state.space.unwrap_or(u64::MAX) };
        let dies = matches!(fate, Fate::Dies);
        // A process that dies writes two thirds; the fraction is arbitrary.
        let mut fits =
            if dies { all.len() * 2 / 3 } else { all.len() }.min(usize::try_from(room).unwrap_or(usize::MAX));
        let length = state.inodes[self.inode].bytes.len();
        let is_too_large = state.longest.is_some_and(|longest| (length + all.len()) as u64 > longest);
        if is_too_large {
            fits = fits.min((state.longest.unwrap_or(0) as usize).saturating_sub(length));
        }
        if !state.may_resize(self.inode, (length + fits) as u64) {
            // The quota leaves whole blocks, and the rest of the last one.
            let left = state.quota.map_or(0, |quota| quota.saturating_sub(state.used)) as usize / BLOCK * BLOCK;
            fits = fits.min(length.next_multiple_of(BLOCK) - length + left);
            state.may_resize(self.inode, (length + fits) as u64);
        }
        state.space = state.space.map(|space| space - fits as u64);
        state.counts.appends += 1;
        let inode = &mut state.inodes[self.inode];
        let mut from = inode.bytes.len();
        inode.bytes.extend_from_slice(&all[..fits]);
        let end = inode.bytes.len();
        for part in parts.iter() {
            let to = (from + part.len()).min(end);
            inode.unsynced.push((from, to));
            from = to;
        }
        inode.unsynced.retain(|(from, to)| from < to);
        match fits == all.len() && !dies {
            true => Ok(()),
            false if dies => Err(eio()),
            false if is_too_large => Err(ErrorKind::FileTooLarge.into()),
            false => Err(ErrorKind::StorageFull.into()),
        }
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.io.change_whole()?;
        let mut state = self.io.disk.state();
        state.may_resize(self.inode, length);
        let inode = &mut state.inodes[self.inode];
        let freed = inode.bytes.len() as u64 - length;
        inode.bytes.truncate(length as usize);
        inode.synced.truncate(length as usize);
        inode.unsynced.retain_mut(|(from, to)| {
            *to = (*to).min(length as usize);
            from < to
        });
        state.space = state.space.map(|space| space + freed);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.io.change_whole()?;
        let mut state = self.io.disk.state();
        state.counts.syncs += 1;
        let inode = &mut state.inodes[self.inode];
        inode.synced.clone_from(&inode.bytes);
        inode.unsynced.clear();
        Ok(())
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.io.change_whole()?;
        let mut state = self.io.disk.state();
        let (from, to) = (offset as usize, offset as usize + bytes.len());
        let grown = to.saturating_sub(state.inodes[self.inode].bytes.len()) as u64;
        let length = to.max(state.inodes[self.inode].bytes.len()) as u64;
        if state.space.is_some_and(|space| space < grown) || !state.may_resize(self.inode, length) {
            return Err(ErrorKind::StorageFull.into());
        }
        state.space = state.space.map(|space| space - grown);
        let inode = &mut state.inodes[self.inode];
        inode.bytes.resize(inode.bytes.len().max(to), 0);
        inode.bytes[from..to].copy_from_slice(bytes);
        inode.unsynced.push((from, to));
        Ok(())
    }
}
