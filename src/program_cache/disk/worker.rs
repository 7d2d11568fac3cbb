//! The worker: opens the stores, and carries out requests in small steps. One thread has it at a time.

use std::collections::HashSet;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use super::queue::{Desk, DiskOptions, Request, Save, Scope, Trouble};
use super::sources::{Place, Sources};
use super::value::{decode, encode, kind};
use crate::base::{Code, Result, Shared, Text, error, try_collect, try_push};
use crate::executor::Deadline;
use crate::program_cache::key::{FoldKeys, Key};
use crate::program_cache::memory::material::Material;
use crate::program_cache::memory::{Memory, START_UP_KEYS};
use crate::program_cache::program::{Put, Refusal, Wanted};
use crate::program_cache::strikes::Strikes;
use crate::store::io::SharedIo;
use crate::store::{self, Bundle, Name, Store, Value};

/// Bytes that one call of the store's maintenance may copy.
const MAINTAINED: u64 = 8 << 20;
/// Bytes of a directory or a bundle that one step reads while it is opened.
const OPENED: u64 = 1 << 20;
/// Saves between two maintenances, at most.
const SAVES: u32 = 1024;
/// Values that are written at once, and the bytes after which no value is added.
const SAVED: usize = 64;
const SAVED_BYTES: usize = 1 << 20;
/// Programs for which memory had no room until loading ahead ends. One or two may only have been large.
const NO_ROOM: u32 = 16;
/// Bytes of the longest start-up set that is read: the keys that memory marks at most.
const START_UP_BYTES: usize = START_UP_KEYS * size_of::<Key>();
/// Bytes of the longest material that is read or written. Most have some hundred bytes.
pub const MATERIAL_BYTES: usize = 64 << 10;
/// Time between two looks for values that other processes have written, which a miss causes. A look takes 4 us with one
/// segment and 0.5 ms with 500 (warm), so it takes at most 0.5 % of the worker's time.
const REFRESHED: Duration = Duration::from_millis(100);

/// A value whose bytes are about to be written.
struct Draft {
    name: Name,
    build_us: u32,
    bytes: Range<usize>,
}

/// A store that is being opened, in steps.
enum Opening {
    Directory(Store, Directory),
    Bundle(Store),
}

/// A directory and its file system.
type Directory = (SharedIo, PathBuf);

/// The stores, the plan of loading ahead, and the memory tier, which receives the loaded programs.
pub struct Worker {
    memory: Shared<Memory>,
    strikes: Shared<Strikes>,
    /// The directory, until it is opened.
    unopened: Option<Directory>,
    /// The directory, if memory ran out while it was opened. Each request tries once more.
    failed: Option<Directory>,
    /// Whether it was tried again for the next request.
    is_tried_again: bool,
    opening: Option<Opening>,
    pub sources: Sources,
    /// The end of the time without looks for values of other processes.
    refreshed: Deadline,
    /// Programs that could not be removed from disk. They are hidden.
    unremoved: Vec<Key>,
    /// Environments that could not be cleared. All programs are hidden then.
    uncleared: Option<Scope>,
    /// Environments that are being cleared, in pieces, before the next request.
    clearing: Option<Scope>,
    /// Whether the next request has tried again to clear `uncleared`.
    is_cleared_again: bool,
    /// A request whose next piece comes before all others.
    unfinished: Option<Request>,
    /// The number of the flush that this step has done.
    flushed: Option<u64>,
    /// Programs to load ahead, the last one first.
    ahead: Vec<Place>,
    /// Materials to read when there is no other work, the last one first.
    materials: Vec<Place>,
    /// The start-up set on disk. `None`: it was not read, so it is not replaced.
    start_up: Option<Vec<Key>>,
    /// Programs whose use was written: once for each process.
    touched: HashSet<Key, FoldKeys>,
    bytes: Vec<u8>,
    buffer: store::Buffer,
    saves: u32,
    is_maintenance_due: bool,
    /// Programs that were loaded ahead and found no room.
    no_room: u32,
}

impl Worker {
    /// A worker that has opened nothing yet.
    pub fn new(directory: Option<PathBuf>, io: SharedIo, memory: Shared<Memory>, strikes: Shared<Strikes>) -> Self {
        Self {
            memory,
            strikes,
            unopened: directory.map(|directory| (io, directory)),
            failed: None,
            is_tried_again: false,
            opening: None,
            sources: Sources::default(),
            refreshed: Deadline::after(REFRESHED),
            unremoved: Vec::new(),
            uncleared: None,
            clearing: None,
            is_cleared_again: false,
            unfinished: None,
            flushed: None,
            ahead: Vec::new(),
            materials: Vec::new(),
            start_up: None,
            touched: HashSet::default(),
            bytes: Vec::new(),
            buffer: store::Buffer::default(),
            saves: 0,
            is_maintenance_due: false,
            no_room: 0,
        }
    }

    /// Whether there is work without any request.
    pub fn has_work(&self) -> bool {
        self.is_amid() || !self.ahead.is_empty() || !self.materials.is_empty() || self.is_maintenance_due
    }

    /// Whether the directory or a bundle is still to be opened.
    pub fn is_unopened(&self) -> bool {
        self.unopened.is_some() || self.opening.is_some()
    }

    /// Whether closing must work: something may have been written or used.
    pub fn must_finish(&self, desk: &Desk<Self>) -> bool {
        !self.is_unopened() || !desk.queue().waiting.is_empty() || desk.writes() && self.memory.has_start_up_keys()
    }

    /// Whether a piece of work has begun that comes before all requests.
    pub fn is_amid(&self) -> bool {
        self.is_unopened() || self.clearing.is_some() || self.unfinished.is_some()
    }

    /// Do one piece of work. Returns false without work.
    pub fn step(&mut self, desk: &Desk<Self>) -> bool {
        if self.failed.is_some() && !self.is_tried_again && !desk.queue().waiting.is_empty() {
            (self.unopened, self.is_tried_again) = (self.failed.take(), true);
        }
        let (did, done) = match (self.unopened.take(), self.opening.take()) {
            (Some(directory), _) => (true, self.open(desk, directory)),
            (None, Some(opening)) => (true, self.continue_opening(desk, opening)),
            (None, None) => self.work(desk),
        };
        let damaged = self.sources.bundles.iter().map(|bundle| bundle.statistics().damaged).sum();
        let flushed = self.flushed.take();
        desk.queue().report(did, done, self.sources.own.as_ref(), damaged, flushed);
        did
    }

    fn work(&mut self, desk: &Desk<Self>) -> (bool, Result<()>) {
        if let Some(scope) = self.clearing {
            return (true, self.clear(desk, scope));
        }
        let mut queue = desk.queue();
        let (request, is_closing) = (self.unfinished.take().or_else(|| queue.pop()), queue.is_closed());
        drop(queue);
        if let Some(request) = request {
            self.is_tried_again = false;
            let done = self.perform(desk, request);
            self.is_cleared_again &= self.unfinished.is_some();
            return (true, done);
        }
        if is_closing {
            return (false, Ok(()));
        }
        if let Some((source, name)) = self.ahead.pop() {
            return (true, self.load_ahead(desk, source, &name));
        }
        if let Some((source, name)) = self.materials.pop() {
            return (true, self.recall(source, &name));
        }
        self.maintain(desk)
    }

    fn open(&mut self, desk: &Desk<Self>, directory: Directory) -> Result<()> {
        match Store::begin(directory.0.clone(), &directory.1, desk.options.store) {
            Ok(store) => self.continue_opening(desk, Opening::Directory(store, directory)),
            Err(why) => self.finish_directory(desk, Err(why), directory),
        }
    }

    /// Read a part of a store that is being opened.
    fn continue_opening(&mut self, desk: &Desk<Self>, mut opening: Opening) -> Result<()> {
        let (Opening::Directory(store, _) | Opening::Bundle(store)) = &mut opening;
        let loaded = store.load(OPENED);
        match (loaded, opening) {
            (Ok(false), opening) => {
                self.opening = Some(opening);
                Ok(())
            }
            (loaded, Opening::Directory(store, directory)) => {
                self.finish_directory(desk, loaded.map(|_| store), directory)
            }
            (loaded, Opening::Bundle(store)) => self.finish_bundle(desk, loaded.map(|_| store)),
        }
    }

    fn finish_directory(&mut self, desk: &Desk<Self>, opened: Result<Store>, directory: Directory) -> Result<()> {
        self.failed = opened.as_ref().is_err_and(|why| why.code() == Code::OutOfMemory).then_some(directory);
        self.sources.own = Some(opened?);
        self.is_maintenance_due = desk.writes();
        self.refreshed = Deadline::after(REFRESHED);
        let start_up = self.read_start_up(desk, 0);
        let planned = self.plan(desk, 0);
        self.start_up = Some(start_up?);
        planned
    }

    fn begin_bundle(&mut self, desk: &Desk<Self>, bundle: Bundle) -> Result<()> {
        match Store::begin_bundle(bundle, desk.options.store) {
            Ok(store) => self.continue_opening(desk, Opening::Bundle(store)),
            Err(why) => self.finish_bundle(desk, Err(why)),
        }
    }

    fn finish_bundle(&mut self, desk: &Desk<Self>, opened: Result<Store>) -> Result<()> {
        if let Err(why) = opened.and_then(|store| try_push(&mut self.sources.bundles, store)) {
            desk.queue().bundle_trouble = Text::format(format_args!("a bundle is not read: {why}"));
            return Ok(());
        }
        let source = self.sources.bundles.len();
        let bundle = &mut self.sources.bundles[source - 1];
        let trouble = match bundle.check_bundle() {
            Err(why) => Text::format(format_args!(
                "a bundle is damaged: {}; its programs are built again: ship it anew",
                why.sentence()
            )),
            Ok(()) if bundle.entries(desk.options.environment).next().is_none() => Text::format(format_args!(
                "a bundle has no program for this driver, device and build, of {} programs: was it made for another \
                 environment?",
                bundle.names().filter(|name| name.kind == kind::PROGRAM).count()
            )),
            Ok(()) => Text::EMPTY,
        };
        if !trouble.as_str().is_empty() {
            desk.queue().bundle_trouble = trouble;
        }
        let start_up = self.read_start_up(desk, source);
        self.plan(desk, source)?;
        start_up.map(|_| ())
    }

    /// Plan what to load from a new source.
    fn plan(&mut self, desk: &Desk<Self>, source: usize) -> Result<()> {
        let described = self.memory.described_keys();
        if described > 0 {
            self.materials = self.sources.materials(described)?;
        }
        if !desk.options.load_ahead {
            return Ok(());
        }
        let (start_up, room) = (self.memory.start_up_keys()?, self.memory.limit());
        let places = self.sources.programs(source, desk.options.environment, &start_up, room)?;
        self.no_room = 0;
        desk.queue().progress.preload_total += places.len() as u64;
        // Earlier sources come first, and the last place is loaded first.
        self.ahead.try_reserve(places.len())?;
        self.ahead.splice(0..0, places);
        Ok(())
    }

    /// Read the start-up set of a source, and add it to that of memory.
    fn read_start_up(&mut self, desk: &Desk<Self>, source: usize) -> Result<Vec<Key>> {
        let Self { sources, bytes, memory, .. } = self;
        let name = name(desk, kind::START_UP, &Key::default());
        let Some(store) = sources.get_mut(source) else { return Ok(Vec::new()) };
        let most = START_UP_BYTES.min(usize::try_from(memory.limit()).unwrap_or(usize::MAX));
        if store.meta(&name).is_some_and(|meta| meta.length as usize > most) {
            return Err(error!(LimitExceeded, "a start-up set has more than {} keys: it is ignored", most / 32));
        }
        let found = store.get_within(&name, most as u32, bytes)?;
        let keys = if found.is_some() { bytes.as_chunks().0 } else { &[] };
        keys.iter().try_for_each(|key| memory.mark_start_up(key, true))?;
        try_collect(keys.iter().copied())
    }

    fn perform(&mut self, desk: &Desk<Self>, request: Request) -> Result<()> {
        // Later writes must not be hidden.
        if let (Some(scope), Request::Save(_) | Request::Flush(_), false) =
            (self.uncleared, &request, self.is_cleared_again)
        {
            (self.unfinished, self.is_cleared_again) = (Some(request), true);
            return self.clear(desk, scope);
        }
        match request {
            Request::Load(key) => {
                let loaded = self.load(desk, &key);
                desk.queue().asked.remove(&key);
                loaded
            }
            Request::Save(save) => self.save(desk, save),
            Request::Remove(key) => self.remove(desk, &key),
            Request::Clear(scope) => {
                self.ahead.clear();
                self.start_up = self.start_up.as_ref().map(|_| Vec::new());
                self.clear(desk, self.uncleared.map_or(scope, |before| before.max(scope)))
            }
            Request::Flush(number) => {
                let removed = self.retry_removals(desk);
                let noted = self.note_uses(desk);
                let synced = self.writable(desk).map_or(Ok(true), Store::sync_some);
                match synced {
                    Ok(false) => self.unfinished = Some(Request::Flush(number)),
                    _ => self.flushed = Some(number),
                }
                removed.and(noted).and(synced.map(drop))
            }
            Request::Look(number) => {
                desk.queue().begin_look(number);
                Ok(())
            }
            Request::Bundle(bundle) => self.begin_bundle(desk, bundle),
            Request::Limit(limit_bytes) => {
                let is_set = self.writable(desk).map(|store| store.set_limit(limit_bytes)).is_some();
                self.is_maintenance_due |= is_set;
                Ok(())
            }
        }
    }

    /// The directory's store, to remove from. `None`: the directory is only read.
    fn own(&mut self, desk: &Desk<Self>) -> Result<Option<&mut Store>> {
        match &mut self.sources.own {
            Some(store) if desk.writes() => Ok(Some(store)),
            None if desk.writes() => Err(error!(Io, "the directory could not be opened")),
            _ => Ok(None),
        }
    }

    /// The directory's store, unless it is only read or could not be opened.
    fn writable(&mut self, desk: &Desk<Self>) -> Option<&mut Store> {
        self.sources.own.as_mut().filter(|_| desk.writes())
    }

    /// Remove a program from disk. If that fails, hide it.
    fn remove(&mut self, desk: &Desk<Self>, key: &Key) -> Result<()> {
        let name = name(desk, kind::PROGRAM, key);
        let removed = self.own(desk).and_then(|own| own.map_or(Ok(false), |store| store.remove(&name)));
        let Err(why) = removed else { return Ok(()) };
        let listed = try_push(&mut self.unremoved, *key);
        let mut queue = desk.queue();
        queue.unremoved = Some(Trouble::unremoved(&why));
        if listed.is_ok() {
            let _ = queue.hide(key);
        } else {
            // Without memory for the list, all programs are hidden and removed later.
            queue.hide_own(true);
            self.uncleared = self.uncleared.or(Some(Scope::Environment));
        }
        Err(why)
    }

    /// Remove all programs from disk; each call does a piece of it. If that fails, hide them.
    fn clear(&mut self, desk: &Desk<Self>, scope: Scope) -> Result<()> {
        let environment = desk.options.environment;
        let is_done = self.own(desk).and_then(|own| match (own, scope) {
            (None, _) => Ok(true),
            (Some(store), Scope::Environment) => store.clear_some(Some(environment)),
            (Some(store), Scope::Directory) => store.clear_all().map(|done| !done.more),
        });
        self.clearing = matches!(is_done, Ok(false)).then_some(scope);
        let cleared = is_done.map(|_| ());
        self.uncleared = cleared.is_err().then_some(scope);
        let mut queue = desk.queue();
        match &cleared {
            Ok(()) => {
                self.unremoved.clear();
                queue.unremoved = None;
                // With a directory that is only read, nothing was cleared.
                queue.hide_own(!desk.writes());
            }
            Err(why) => {
                queue.unremoved = Some(Trouble::unremoved(why));
                queue.hide_own(true);
            }
        }
        cleared
    }

    /// Remove the programs that could not be removed before.
    fn retry_removals(&mut self, desk: &Desk<Self>) -> Result<()> {
        if self.uncleared.is_some() {
            return Err(error!(Io, "programs could not be cleared"));
        }
        while let Some(key) = self.unremoved.last().copied() {
            let name = name(desk, kind::PROGRAM, &key);
            self.own(desk)?.map_or(Ok(false), |store| store.remove(&name))?;
            self.unremoved.pop();
            let mut queue = desk.queue();
            if queue.bundles == 0 {
                queue.show(&key);
            }
        }
        desk.queue().unremoved = None;
        Ok(())
    }

    /// Write a value, together with the saves that follow it in the queue.
    fn save(&mut self, desk: &Desk<Self>, first: Save) -> Result<()> {
        let environment = desk.options.environment;
        let mut room = u64::MAX;
        if let Some(store) = self.writable(desk) {
            match store.prepare(environment, first.longest()) {
                Ok(false) => {
                    self.unfinished = Some(Request::Save(first));
                    return Ok(());
                }
                Ok(true) => room = store.prepared_bytes(),
                // The put reports it.
                Err(_) => {}
            }
        }
        let Self { sources, bytes, saves, is_maintenance_due, unremoved, .. } = self;
        bytes.clear();
        let (mut drafts, mut drafted, mut unwritten) = (Vec::new(), Ok(()), 0);
        let mut next = Some(first);
        while let Some(save) = next {
            unwritten += u64::from(matches!(save, Save::Program(_)));
            let draft = draft(desk, &save, bytes).and_then(|draft| try_push(&mut drafts, draft));
            drafted = drafted.and(draft);
            let is_enough = drafts.len() >= SAVED || bytes.len() >= SAVED_BYTES;
            let left = room.saturating_sub(bytes.len() as u64);
            next = if is_enough { None } else { desk.queue().pop_save(left) };
        }
        let mut written = Ok(());
        if let Some(store) = sources.own.as_mut().filter(|_| desk.writes()) {
            let is_hiding = desk.queue().has_hidden_keys();
            let kept = |place: usize| {
                let Draft { name, .. } = &drafts[place];
                unwritten -= u64::from(name.kind == kind::PROGRAM);
                if is_hiding && name.kind == kind::PROGRAM {
                    // The new value replaces those that were hidden.
                    desk.queue().show(&name.key);
                    unremoved.retain(|key| *key != name.key);
                }
            };
            written = put_all(store, &drafts, bytes, kept);
            *is_maintenance_due |= store.wants_maintenance();
        }
        let written = drafted.and(written);
        if unwritten > 0 {
            let why = match (&written, &sources.own) {
                (Err(why), _) => why,
                (_, None) => &error!(Io, "the directory could not be opened"),
                (_, Some(_)) => &error!(LimitExceeded, "it is too large for the disk's limit or space"),
            };
            desk.queue().count_unwritten(unwritten, why);
        }
        *saves += drafts.len() as u32;
        if *saves >= SAVES {
            (*saves, *is_maintenance_due) = (0, true);
        }
        written
    }

    /// Load a program that was missed.
    fn load(&mut self, desk: &Desk<Self>, key: &Key) -> Result<()> {
        let name = name(desk, kind::PROGRAM, key);
        for source in self.sources.numbers() {
            if self.load_from(desk, source, &name, Wanted::Now)? {
                return Ok(());
            }
        }
        if self.refreshed.is_over()
            && let Some(store) = &mut self.sources.own
        {
            // Another process, or another cache of this one, may have written it meanwhile.
            store.refresh()?;
            self.refreshed = Deadline::after(REFRESHED);
            self.load_from(desk, 0, &name, Wanted::Now)?;
        }
        Ok(())
    }

    fn load_ahead(&mut self, desk: &Desk<Self>, source: usize, name: &Name) -> Result<()> {
        let loaded = self.load_from(desk, source, name, Wanted::Ahead);
        let mut progress = 1;
        if self.no_room >= NO_ROOM {
            progress += self.ahead.len() as u64;
            self.ahead.clear();
        }
        desk.queue().progress.preload_done += progress;
        loaded.map(|_| ())
    }

    /// Read a program, and store it in memory. Returns false if the source has none.
    fn load_from(&mut self, desk: &Desk<Self>, source: usize, name: &Name, wanted: Wanted) -> Result<bool> {
        if !desk.start_reading(source, &name.key) {
            return Ok(false);
        }
        let Self { sources, buffer, memory, strikes, .. } = self;
        // A longer value is never stored, so it is not read.
        let longest = u32::try_from(memory.longest_value()).unwrap_or(u32::MAX);
        let found = sources.get_mut(source).map_or(Ok(None), |store| store.view_within(name, longest, buffer));
        let program = match &found {
            Ok(Some((build_us, bytes))) => decode(bytes, *build_us),
            _ => None,
        };
        let is_banned = strikes.is_banned(&name.key);
        let loaded = program.map(|program| memory.load(&name.key, &program, wanted, is_banned, &desk.is_cancelled));
        desk.queue().reading = None;
        match loaded {
            None => found.map(|value| value.is_some()),
            Some(put) => {
                self.no_room += u32::from(matches!(put, Ok(Put::Refused(Refusal::NoRoom))));
                put.map(|_| true)
            }
        }
    }

    /// Read the inputs of a key, and store them in memory.
    fn recall(&mut self, source: usize, name: &Name) -> Result<()> {
        let Self { sources, bytes, memory, .. } = self;
        let longest = MATERIAL_BYTES as u32;
        let found = sources.get_mut(source).map_or(Ok(None), |store| store.get_within(name, longest, bytes))?;
        match found.and(Material::decode(bytes).transpose()).transpose()? {
            Some(material) => memory.recall(name.environment, &name.key, material),
            None => Ok(()),
        }
    }

    fn maintain(&mut self, desk: &Desk<Self>) -> (bool, Result<()>) {
        if !self.is_maintenance_due {
            return (false, Ok(()));
        }
        // Before the eviction, which goes by uses.
        let noted = self.note_uses(desk);
        let maintained = match &mut self.sources.own {
            Some(store) => noted.and_then(|()| store.maintain(MAINTAINED)),
            None => return (false, noted),
        };
        self.is_maintenance_due = maintained.as_ref().is_ok_and(|done| done.more && !done.busy);
        (true, maintained.map(|_| ()))
    }

    /// Do all work that waits, before the stores are closed.
    pub fn finish(&mut self, desk: &Desk<Self>) {
        while self.step(desk) {}
        // A failure is no problem of this process any more. A use that is not written only makes eviction less exact.
        self.clearing = self.uncleared;
        while let Some(scope) = self.clearing {
            let _ = self.clear(desk, scope);
        }
        let _ = self.retry_removals(desk);
        let _ = self.note_uses(desk);
    }

    /// Write which programs were used, each once for each process, and the start-up set if it has changed.
    fn note_uses(&mut self, desk: &Desk<Self>) -> Result<()> {
        let Self { sources, touched, start_up, memory, .. } = self;
        let Some(store) = sources.own.as_mut().filter(|_| desk.writes()) else { return Ok(()) };
        let mut used = Vec::new();
        memory.for_each_used(
            |blob| {
                if touched.contains(blob.key()) { Ok(()) } else { try_push(&mut used, *blob.key()) }
            },
        )?;
        // A material ages like its program.
        let kinds = if memory.described_keys() > 0 { &[kind::PROGRAM, kind::MATERIAL][..] } else { &[kind::PROGRAM] };
        let names = try_collect(used.iter().flat_map(|key| kinds.iter().map(|&kind| name(desk, kind, key))))?;
        touched.try_reserve(used.len())?;
        store.touch(&names)?;
        touched.extend(used);
        let marked = memory.start_up_keys()?;
        if start_up.as_ref().is_some_and(|written| *written != marked) {
            store.put(&name(desk, kind::START_UP, &Key::default()), 0, marked.as_flattened())?;
            *start_up = Some(marked);
        }
        Ok(())
    }
}

fn name(desk: &Desk<Worker>, kind: u8, key: &Key) -> Name {
    let DiskOptions { environment, .. } = desk.options;
    Name { kind, environment, key: *key }
}

/// Append the bytes of a value.
fn draft(desk: &Desk<Worker>, save: &Save, bytes: &mut Vec<u8>) -> Result<Draft> {
    let begin = bytes.len();
    let (kind, key, build_us) = match save {
        Save::Program(blob) => {
            encode(&blob.program(), bytes)?;
            (kind::PROGRAM, blob.key(), u32::try_from(blob.cost_us()).unwrap_or(u32::MAX))
        }
        Save::Material(key, material) => {
            bytes.try_reserve(material.bytes().len())?;
            bytes.extend_from_slice(material.bytes());
            (kind::MATERIAL, key, 0)
        }
    };
    Ok(Draft { name: name(desk, kind, key), build_us, bytes: begin..bytes.len() })
}

fn put_all(store: &mut Store, drafts: &[Draft], bytes: &[u8], kept: impl FnMut(usize)) -> Result<()> {
    let value = |draft: &Draft| Value { name: draft.name, build_us: draft.build_us, data: &bytes[draft.bytes.clone()] };
    let values = try_collect(drafts.iter().map(value))?;
    store.put_all(&values, kept)
}
