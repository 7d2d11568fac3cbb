//! The pieces of work of the disk tier, as whoever has the bench does them.

use std::ops::Range;
use std::sync::{Arc, Weak};

use super::super::value::{decode, encode, kind};
use super::super::{Key, Material, ProgramCache, Put, Refusal, Wanted};
use super::{Bench, DiskOptions, Kept, Shared, Work};
use crate::base::{Result, Text, error, try_collect, try_push};
use crate::store::{Name, Store, Value};

/// Bytes that one call of the store's maintenance may copy.
const MAINTAINED: u64 = 8 << 20;
/// Saves after which there is maintenance again, at the latest.
const SAVES: u32 = 1024;
/// Values that are written at once, and bytes of values after which no more are.
const SAVED: usize = 64;
const SAVED_BYTES: usize = 1 << 20;
/// So many programs that found no room end the loading ahead: one or two may only have been large.
const NO_ROOM: u32 = 16;

/// A value among the bytes that are about to be written.
struct Draft {
    name: Name,
    build_us: u32,
    bytes: Range<usize>,
}

fn put_all(store: &mut Store, drafts: &[Draft], bytes: &[u8], kept: impl FnMut(usize)) -> Result<()> {
    let value = |draft: &Draft| Value { name: draft.name, build_us: draft.build_us, data: &bytes[draft.bytes.clone()] };
    let values = try_collect(drafts.iter().map(value))?;
    store.put_all(&values, kept)
}

impl Shared {
    pub(super) fn open(&self, bench: &mut Bench) -> Result<()> {
        bench.is_open = true;
        let DiskOptions { directory, store, .. } = &self.options;
        let place = bench.io.clone().zip(directory.as_ref());
        let opened = place.map(|(io, directory)| Store::open(io, directory, *store)).transpose();
        let opened = opened.map(|store| bench.sources.own = store);
        bench.maintains = bench.sources.own.is_some() && self.writes();
        if bench.sources.own.is_some() {
            bench.start_up = self.read_start_up(bench, 0)?;
            bench.knows_start_up = true;
        }
        self.plan(bench, 0)?;
        opened
    }

    /// What to load ahead of a source that is new.
    fn plan(&self, bench: &mut Bench, source: usize) -> Result<()> {
        let Some(memory) = self.memory() else { return Ok(()) };
        if memory.described_keys() > 0 {
            bench.materials = bench.sources.materials(memory.described_keys())?;
        }
        if !self.options.load_ahead {
            return Ok(());
        }
        let (first, room) = (memory.start_up_keys()?, memory.statistics()?.limit_bytes);
        let fresh = bench.sources.programs(std::iter::once(source), self.options.environment, &first, room)?;
        bench.no_room = 0;
        self.queue().progress.preload_total += fresh.len() as u64;
        // The source before it comes first: the last one is the first to be loaded.
        bench.ahead.try_reserve(fresh.len())?;
        bench.ahead.splice(0..0, fresh);
        Ok(())
    }

    /// The start-up set of a source, which becomes part of memory's.
    fn read_start_up(&self, bench: &mut Bench, source: usize) -> Result<Vec<Key>> {
        let (name, mut keys) = (self.name(kind::START_UP, &Key::default()), Vec::new());
        let mut bytes = std::mem::take(&mut bench.bytes);
        let found = bench.sources.get_mut(source).map_or(Ok(None), |store| store.get(&name, &mut bytes));
        let found = found.map(|meta| if meta.is_some() { bytes.as_chunks().0 } else { &[] });
        let taken = found.and_then(|found| found.iter().try_for_each(|key| try_push(&mut keys, *key)));
        bench.bytes = bytes;
        taken?;
        if let Some(memory) = self.memory() {
            keys.iter().try_for_each(|key| memory.mark_start_up(key, true))?;
        }
        Ok(keys)
    }

    fn name(&self, kind: u8, key: &Key) -> Name {
        Name { kind, environment: self.options.environment, key: *key }
    }

    pub(super) fn memory(&self) -> Option<Arc<ProgramCache>> {
        self.memory.get().and_then(Weak::upgrade)
    }

    pub(super) fn perform(&self, bench: &mut Bench, work: Work) -> Result<()> {
        let Bench { sources, maintains, .. } = bench;
        // Where nothing is to be written that is no trouble, but the host's wish.
        let own = sources.own.as_mut().filter(|_| self.writes());
        match work {
            Work::Load(key) => {
                let loaded = self.load(bench, &key);
                self.queue().asked.remove(&key);
                loaded
            }
            Work::Save(kept) => self.save(bench, kept),
            Work::Remove(key) => {
                own.map_or(Ok(false), |store| store.remove(&self.name(kind::PROGRAM, &key))).map(|_| ())
            }
            Work::Clear => {
                bench.ahead.clear();
                bench.start_up.clear();
                own.map_or(Ok(()), |store| store.clear(Some(self.options.environment)))
            }
            Work::Flush(number) => {
                let noted = self.note_uses(bench);
                let own = bench.sources.own.as_mut().filter(|_| self.writes());
                let synced = own.map_or(Ok(()), Store::sync);
                self.queue().flushed = number;
                noted.and(synced)
            }
            Work::Bundle(bundle) => {
                let opened = Store::open_bundle(bundle, self.options.store);
                match opened.and_then(|store| try_push(&mut sources.bundles, store)) {
                    Ok(()) => {
                        let source = bench.sources.bundles.len();
                        self.look_at_bundle(&bench.sources.bundles[source - 1]);
                        self.read_start_up(bench, source)?;
                        self.plan(bench, source)
                    }
                    Err(why) => {
                        self.queue().bundle_trouble = Text::format(format_args!("a bundle is not read: {why}"));
                        Ok(())
                    }
                }
            }
            Work::Limit(limit_bytes) => {
                *maintains |= own.map(|store| store.set_limit(limit_bytes)).is_some();
                Ok(())
            }
        }
    }

    /// A bundle that nothing will ever be found in was made for another machine, or lost.
    fn look_at_bundle(&self, bundle: &Store) {
        if bundle.entries(self.options.environment).next().is_none() {
            self.queue().bundle_trouble = Text::format(format_args!(
                "a bundle has nothing for this driver, device and build, of {} programs: was it made for another environment?",
                bundle.statistics().values
            ));
        }
    }

    /// Write what was put, and with it what was put next.
    fn save(&self, bench: &mut Bench, first: Kept) -> Result<()> {
        let Bench { sources, bytes, saves, maintains, .. } = bench;
        bytes.clear();
        let (mut drafts, mut drafted, mut unwritten) = (Vec::new(), Ok(()), 0);
        let mut next = Some(first);
        while let Some(kept) = next {
            unwritten += u64::from(matches!(kept, Kept::Program(_)));
            let draft = self.draft(&kept, bytes).and_then(|draft| try_push(&mut drafts, draft));
            drafted = drafted.and(draft);
            let is_enough = drafts.len() >= SAVED || bytes.len() >= SAVED_BYTES;
            next = if is_enough { None } else { self.queue().pop_kept() };
        }
        let mut written = Ok(());
        // Where nothing is to be written that is no trouble, but the host's wish.
        if let Some(store) = sources.own.as_mut().filter(|_| self.writes()) {
            let kept = |place: usize| unwritten -= u64::from(drafts[place].name.kind == kind::PROGRAM);
            written = put_all(store, &drafts, bytes, kept);
            *maintains |= store.wants_maintenance();
        }
        let written = drafted.and(written);
        if unwritten > 0 {
            let why = match (&written, &sources.own) {
                (Err(why), _) => why,
                (_, None) => &error!(Io, "the directory could not be opened"),
                (_, Some(_)) => &error!(LimitExceeded, "it is larger than the disk's limit"),
            };
            self.queue().lost(unwritten, why);
        }
        *saves += drafts.len() as u32;
        if *saves >= SAVES {
            (*saves, *maintains) = (0, true);
        }
        written
    }

    /// Lay the bytes of a value behind those that are there.
    fn draft(&self, kept: &Kept, bytes: &mut Vec<u8>) -> Result<Draft> {
        let begin = bytes.len();
        let (kind, key, build_us) = match kept {
            Kept::Program(blob) => {
                encode(blob, bytes)?;
                (kind::PROGRAM, blob.key(), u32::try_from(blob.cost_us()).unwrap_or(u32::MAX))
            }
            Kept::Material(key, material) => {
                bytes.try_reserve(material.bytes().len())?;
                bytes.extend_from_slice(material.bytes());
                (kind::MATERIAL, key, 0)
            }
        };
        Ok(Draft { name: self.name(kind, key), build_us, bytes: begin..bytes.len() })
    }

    /// Bring a program that was missed.
    fn load(&self, bench: &mut Bench, key: &Key) -> Result<()> {
        let name = self.name(kind::PROGRAM, key);
        for source in bench.sources.numbers() {
            if self.bring(bench, source, &name, Wanted::Now)? {
                break;
            }
        }
        Ok(())
    }

    pub(super) fn load_ahead(&self, bench: &mut Bench, source: usize, name: &Name) -> Result<()> {
        let brought = self.bring(bench, source, name, Wanted::Perhaps);
        let mut progress = 1;
        if bench.no_room >= NO_ROOM {
            progress += bench.ahead.len() as u64;
            bench.ahead.clear();
        }
        self.queue().progress.preload_done += progress;
        brought.map(|_| ())
    }

    /// Read a program and give it to memory; false if there is none.
    fn bring(&self, bench: &mut Bench, source: usize, name: &Name, wanted: Wanted) -> Result<bool> {
        let Some(memory) = self.memory() else { return Ok(true) };
        let mut queue = self.queue();
        let is_fixed = source > 0 || !self.writes();
        if is_fixed && queue.removed.contains(&name.key) || source == 0 && queue.is_own_hidden {
            return Ok(false);
        }
        (queue.reading, queue.is_cancelled) = (Some(name.key), false);
        drop(queue);
        let Bench { sources, read, .. } = bench;
        let found = sources.get_mut(source).map_or(Ok(None), |store| store.view(name, read));
        let program = match &found {
            Ok(Some((build_us, bytes))) => decode(bytes, *build_us),
            _ => None,
        };
        let wanted_still = || !self.queue().is_cancelled;
        let loaded = program.map(|program| memory.load_if(&name.key, &program, wanted, wanted_still));
        self.queue().reading = None;
        match loaded {
            None => found.map(|value| value.is_some()),
            Some(put) => {
                bench.no_room += u32::from(matches!(put, Ok(Put::Refused(Refusal::NoRoom))));
                put.map(|_| true)
            }
        }
    }

    /// Read what a key was made from, and give it to memory.
    pub(super) fn recall(&self, bench: &mut Bench, source: usize, name: &Name) -> Result<()> {
        let Some(memory) = self.memory() else { return Ok(()) };
        let Bench { sources, bytes, .. } = bench;
        let found = sources.get_mut(source).map_or(Ok(None), |store| store.get(name, bytes))?;
        match found.and(Material::decode(bytes).transpose()).transpose()? {
            Some(material) => memory.recall(name.environment, &name.key, material),
            None => Ok(()),
        }
    }

    pub(super) fn maintain(&self, bench: &mut Bench) -> (bool, Result<()>) {
        if !bench.maintains {
            return (false, Ok(()));
        }
        // So that eviction knows of them.
        let noted = self.note_uses(bench);
        let Some(store) = bench.sources.own.as_mut() else { return (false, noted) };
        let maintained = noted.and_then(|()| store.maintain(MAINTAINED));
        bench.maintains = maintained.as_ref().is_ok_and(|done| done.more && !done.busy);
        (true, maintained.map(|_| ()))
    }

    /// Write which programs were used, each once in a process, and the start-up set if it is another one.
    pub(super) fn note_uses(&self, bench: &mut Bench) -> Result<()> {
        let Some(memory) = self.memory() else { return Ok(()) };
        let Bench { sources, noted, start_up, knows_start_up, .. } = bench;
        let Some(store) = sources.own.as_mut().filter(|_| self.writes()) else { return Ok(()) };
        let mut used = Vec::new();
        memory
            .for_each_used(|blob| if noted.contains(blob.key()) { Ok(()) } else { try_push(&mut used, *blob.key()) })?;
        // What a program was made from ages as the program does.
        let kinds = if memory.described_keys() > 0 { &[kind::PROGRAM, kind::MATERIAL][..] } else { &[kind::PROGRAM] };
        let names = try_collect(used.iter().flat_map(|key| kinds.iter().map(|&kind| self.name(kind, key))))?;
        noted.try_reserve(used.len())?;
        store.touch(&names)?;
        noted.extend(used);
        let marked = memory.start_up_keys()?;
        if *knows_start_up && marked != *start_up {
            store.put(&self.name(kind::START_UP, &Key::default()), 0, marked.as_flattened())?;
            *start_up = marked;
        }
        Ok(())
    }
}
