//! The user's cache: pipelines that the shipped cache did not have, for the next start.
//!
//! Entries live in a [`Store`], in one directory for all versions of all games. Each version of a game has its own
//! environment there, so entries of another version are never loaded. The store keeps the time of last use, and removes
//! entries that were not used for a while. It also keeps the limits of the disk, and survives kills.
//!
//! All methods may wait for files.

use std::path::Path;

use super::files::{Cursor, get_description, get_dimensions, get_identity, put_description, put_dimensions, put_text};
use super::{DescriptionRef, Dimension, DimensionNames, Identity, Mask, PipelineKey, ShaderRef};
use crate::base::{Result, Text, try_push, try_string, try_to_vec};
use crate::store::io::SharedIo;
use crate::store::{Buffer, Name, Options, Store};

/// Kinds of values in the store. The numbers of the program cache are below.
mod kind {
    /// A pipeline.
    pub const PIPELINE: u8 = 16;
    /// The [`Owner`](super::Owner) of an environment, for messages. Its key is all zeros.
    pub const OWNER: u8 = 17;
}

/// The layout of an entry: this number, the frame of the first use, the number of masks, masks, description.
const LAYOUT: u8 = 2;
const HEAD: usize = 1 + 4 + 2;
const MASK: usize = 32;
/// Most masks of an entry.
const MAX_MASKS: usize = u16::MAX as usize;
/// Uses that are recorded with one call.
const TOUCHED: usize = 4096;

/// An entry of the user's cache, borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserEntry<'a> {
    /// The pipeline.
    pub description: DescriptionRef<'a>,
    /// The usage masks of its uses.
    pub masks: &'a [Mask],
    /// Frame of its first use, since the start of the run.
    pub first_frame: u32,
    /// Build time in microseconds. 0: unknown.
    pub build_us: u32,
}

impl UserEntry<'_> {
    fn encode(&self, out: &mut Vec<u8>) -> Result<()> {
        let masks = &self.masks[..self.masks.len().min(MAX_MASKS)];
        out.clear();
        out.try_reserve(HEAD + masks.len() * MASK)?;
        out.push(LAYOUT);
        out.extend_from_slice(&self.first_frame.to_le_bytes());
        out.extend_from_slice(&(masks.len() as u16).to_le_bytes());
        masks.iter().flat_map(|mask| mask.0).for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        put_description(out, &self.description)
    }
}

/// Memory for decoded entries, reused.
#[derive(Default)]
struct Decoded {
    shaders: Vec<ShaderRef>,
    masks: Vec<Mask>,
}

impl Decoded {
    /// The entry in these bytes. `None`: they are no entry of that key.
    fn entry<'a>(&'a mut self, bytes: &'a [u8], build_us: u32, key: &PipelineKey) -> Result<Option<UserEntry<'a>>> {
        let mut cursor = Cursor(bytes);
        let mut head = || Some((cursor.u8().filter(|layout| *layout == LAYOUT)?, cursor.u32()?, cursor.u16()?));
        let Some((_, first_frame, count)) = head() else { return Ok(None) };
        self.masks.clear();
        for _ in 0..count {
            let Some(mask) = cursor.mask() else { return Ok(None) };
            try_push(&mut self.masks, mask)?;
        }
        let Some(description) = get_description(&mut cursor, &mut self.shaders)? else { return Ok(None) };
        let is_valid = cursor.is_at_end() && description.check().is_ok() && description.key() == *key;
        Ok(is_valid.then_some(UserEntry { description, masks: &self.masks, first_frame, build_us }))
    }
}

/// Result of [`UserCache::load`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Entries loaded.
    pub entries: usize,
    /// Entries removed because they were not used for too long.
    pub collected: usize,
    /// Entries that are damaged. They are lost.
    pub damaged: usize,
}

/// Whose pipelines a cache has.
#[derive(Debug, PartialEq, Eq)]
pub struct Owner {
    /// The game, its shader format and the graphics API.
    pub identity: Identity,
    /// The version of the game.
    pub version: String,
    /// The dimensions of its masks.
    pub dimensions: Vec<Dimension>,
}

impl Owner {
    fn environment(&self) -> u64 {
        self.identity.environment(&self.version, &self.dimensions)
    }

    fn encode(&self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        for text in [&self.identity.project, &self.identity.format, &self.version] {
            put_text(&mut out, text)?;
        }
        out.try_reserve(4)?;
        out.extend_from_slice(&self.identity.api.to_le_bytes());
        put_dimensions(&mut out, &self.dimensions)?;
        Ok(out)
    }

    /// `None`: the bytes are no owner.
    fn decode(bytes: &[u8]) -> Result<Option<Self>> {
        let mut cursor = Cursor(bytes);
        let mut head = || Some((cursor.text()?, cursor.text()?, cursor.text()?, cursor.u32()?));
        let Some((project, format, version, api)) = head() else { return Ok(None) };
        let Some(identity) = get_identity(project, format, api)? else { return Ok(None) };
        let version = try_string(version)?;
        let Some(dimensions) = get_dimensions(&mut cursor)? else { return Ok(None) };
        Ok(Some(Self { identity, version, dimensions }))
    }

    /// Why this owner does not use the pipelines of another one. `None`: the other one is another game.
    fn refusal(&self, other: &Self) -> Option<Text<232>> {
        let (own, theirs) = (&self.version, &other.version);
        match () {
            () if self.identity != other.identity => None,
            () if own != theirs => Some(Text::format(format_args!(
                "the user's cache is of version '{theirs}', and version '{own}' does not use it: it starts empty"
            ))),
            () => Some(Text::format(format_args!(
                "the user's cache has the mask dimensions {}, and not {}: it starts empty",
                DimensionNames(&other.dimensions),
                DimensionNames(&self.dimensions)
            ))),
        }
    }
}

/// An open user's cache.
pub struct UserCache {
    store: Store,
    environment: u64,
    owner: Owner,
    buffer: Vec<u8>,
    unrecorded: Vec<Name>,
    /// Pipelines that this run has stored. Some may be dropped until the next flush.
    stored: Vec<Name>,
    /// Pipelines that this run could not store.
    refused: u64,
    /// Entries that could not be decoded, such as those of another version of this library. The next put replaces them.
    unreadable: Vec<PipelineKey>,
}

impl UserCache {
    /// Open the cache of an owner in a directory. A missing directory is created by the first [`put`](Self::put).
    pub fn open(io: SharedIo, directory: &Path, owner: Owner, options: Options) -> Result<Self> {
        let environment = owner.environment();
        let options = Options { environment: Some(environment), ..options };
        let store = Store::open(io, directory, options)?;
        let (buffer, unrecorded, stored, unreadable) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Ok(Self { store, environment, owner, buffer, unrecorded, stored, refused: 0, unreadable })
    }

    fn name(&self, key: &PipelineKey) -> Name {
        Name { kind: kind::PIPELINE, environment: self.environment, key: key.0 }
    }

    /// Remove entries that were not used for too long, and pass all others to `each`, in disk order.
    pub fn load(&mut self, mut each: impl FnMut(&PipelineKey, &UserEntry<'_>) -> Result<()>) -> Result<Loaded> {
        let mut loaded = Loaded::default();
        let before = self.count();
        // A read-only directory is loaded without maintenance.
        while self.store.maintain(8 << 20).is_ok_and(|done| done.more) {}
        loaded.collected = before.saturating_sub(self.count());
        let (mut buffer, mut decoded) = (Buffer::default(), Decoded::default());
        for name in self.store.names_in_place(self.environment)? {
            if name.kind != kind::PIPELINE {
                continue;
            }
            let key = crate::fingerprint::Fingerprint(name.key);
            let value = self.store.view(&name, &mut buffer)?;
            match value.map_or(Ok(None), |(build_us, bytes)| decoded.entry(bytes, build_us, &key))? {
                Some(entry) => {
                    each(&key, &entry)?;
                    loaded.entries += 1;
                }
                None => {
                    try_push(&mut self.unreadable, key)?;
                    loaded.damaged += 1;
                }
            }
        }
        Ok(loaded)
    }

    fn count(&self) -> usize {
        self.store.entries(self.environment).filter(|meta| meta.name.kind == kind::PIPELINE).count()
    }

    /// Why entries of the directory are not used, if this version has none and another version has some, or the same
    /// version with other dimensions.
    pub fn refusal(&mut self) -> Result<Option<Text<232>>> {
        if self.count() > 0 {
            return Ok(None);
        }
        let mut found = None;
        for environment in self.store.environments()? {
            let name = Name { kind: kind::OWNER, environment, key: [0; 32] };
            if self.store.get(&name, &mut self.buffer)?.is_some()
                && let Some(other) = Owner::decode(&self.buffer)?
                && let Some(refusal) = self.owner.refusal(&other)
            {
                let is_closest = other.version == self.owner.version;
                if found.is_none() || is_closest {
                    found = Some(refusal);
                }
            }
        }
        Ok(found)
    }

    /// Store a pipeline. Returns false if it is there already, or too large for the limit of the disk.
    pub fn put(&mut self, key: &PipelineKey, entry: &UserEntry<'_>) -> Result<bool> {
        let name = self.name(key);
        if self.store.contains(&name) && !self.unreadable.contains(key) {
            return Ok(false);
        }
        self.record_uses()?;
        let owner = Name { kind: kind::OWNER, key: [0; 32], ..name };
        if !self.store.contains(&owner) {
            self.store.put(&owner, 0, &self.owner.encode()?)?;
        }
        self.stored.try_reserve(1)?;
        let mut buffer = std::mem::take(&mut self.buffer);
        let put = entry.encode(&mut buffer).and_then(|()| self.store.put(&name, entry.build_us, &buffer));
        self.buffer = buffer;
        if put? {
            self.unreadable.retain(|unreadable| unreadable != key);
            self.stored.push(name);
            return Ok(true);
        }
        self.refused += 1;
        Ok(false)
    }

    /// Pipelines of this run that are not kept, because the limit of the disk, or the disk, is too small. Each counts in one
    /// answer.
    pub fn take_dropped(&mut self) -> u64 {
        let before = self.stored.len();
        self.stored.retain(|name| self.store.contains(name));
        std::mem::take(&mut self.refused) + (before - self.stored.len()) as u64
    }

    /// Note a use of a stored pipeline, so that it is kept, and add the mask of the use. The time of the use is written by
    /// the next [`put`](Self::put) or [`flush`](Self::flush).
    pub fn note_use(&mut self, key: &PipelineKey, mask: Mask) -> Result<()> {
        let name = self.name(key);
        let mut buffer = std::mem::take(&mut self.buffer);
        let noted = self.note_use_with(&name, key, mask, &mut buffer);
        self.buffer = buffer;
        noted
    }

    fn note_use_with(&mut self, name: &Name, key: &PipelineKey, mask: Mask, buffer: &mut Vec<u8>) -> Result<()> {
        let Some(build_us) = self.store.get(name, buffer)? else { return Ok(()) };
        if self.unrecorded.len() < TOUCHED {
            try_push(&mut self.unrecorded, *name)?;
        }
        let mut decoded = Decoded::default();
        let Some(entry) = decoded.entry(buffer, build_us, key)? else { return Ok(()) };
        let is_known = entry.masks.contains(&mask);
        if is_known || entry.masks.len() >= MAX_MASKS {
            return Ok(());
        }
        let mut masks = try_to_vec(entry.masks)?;
        try_push(&mut masks, mask)?;
        let mut bytes = Vec::new();
        UserEntry { masks: &masks, ..entry }.encode(&mut bytes)?;
        self.record_uses()?;
        self.store.put(name, build_us, &bytes).map(drop)
    }

    /// Write the uses, so that eviction sees them.
    fn record_uses(&mut self) -> Result<()> {
        if self.unrecorded.is_empty() {
            return Ok(());
        }
        let owner = Name { kind: kind::OWNER, environment: self.environment, key: [0; 32] };
        self.store.touch(&self.unrecorded)?;
        self.store.touch(&[owner])?;
        self.unrecorded.clear();
        Ok(())
    }

    /// Write the uses, and wait until everything is on the disk.
    pub fn flush(&mut self) -> Result<()> {
        self.record_uses()?;
        self.store.sync()
    }

    /// The current problem of the directory, if any.
    pub fn problem(&self) -> Option<Text<232>> {
        let counts = self.store.statistics();
        let dropped = counts.evicted + counts.refused;
        let full = || {
            Text::format(format_args!(
                "{dropped} pipelines of the user's cache were dropped: the limit of the disk, or the disk, is too small"
            ))
        };
        let trouble = self.store.trouble().map(|trouble| Text::format(format_args!("{trouble}")));
        trouble.or_else(|| (dropped > 0).then(full)).or_else(|| self.store.notice())
    }

    /// Bytes held.
    pub fn memory_used(&self) -> u64 {
        let names = self.unrecorded.capacity() + self.stored.capacity();
        let own = self.buffer.capacity() + names * size_of::<Name>();
        self.store.statistics().memory_used + own as u64
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::pipeline::{Description, Identity, PipelineKind, Schema, ShaderHash};
    use crate::store::fault_io::FaultDisk;
    use crate::store::io::share;

    const DAY: u64 = 24 * 60 * 60;

    thread_local! {
        static SECOND: Cell<u64> = const { Cell::new(1_800_000_000) };
    }

    fn owner(version: &str, dimensions: &[(&str, u32)]) -> Owner {
        let dimensions = dimensions.iter().map(|&(name, width)| Dimension { name: name.into(), width }).collect();
        Owner { identity: Identity::new("game", "spirv", 3).expect("valid"), version: version.into(), dimensions }
    }

    fn open(disk: &FaultDisk, version: &str) -> UserCache {
        open_as(disk, owner(version, &[]), Options::new(|| SECOND.get()))
    }

    fn open_as(disk: &FaultDisk, owner: Owner, options: Options) -> UserCache {
        let io = share(disk.process()).expect("memory");
        UserCache::open(io, Path::new("cache"), owner, options).expect("it opens")
    }

    fn description(number: u32) -> Description {
        let mut hash = ShaderHash::default();
        hash.0[..4].copy_from_slice(&number.to_le_bytes());
        let shaders = (0..1 + number % 3).map(|stage| ShaderRef { stage, hash }).collect();
        Description {
            schema: Schema(7),
            state: vec![number as u8; number as usize % 90],
            shaders,
            ..Default::default()
        }
    }

    fn put(cache: &mut UserCache, number: u32) {
        let description = description(number);
        let masks = [Mask::of_bits(number.into()), Mask([1, 2, 3, 4])];
        let entry = UserEntry { description: description.borrow(), masks: &masks, first_frame: number, build_us: 5 };
        assert!(cache.put(&description.borrow().key(), &entry).expect("there is space"));
    }

    /// All entries by key, as text.
    fn contents(cache: &mut UserCache) -> (BTreeMap<PipelineKey, String>, Loaded) {
        let mut found = BTreeMap::new();
        let keep = |key: &PipelineKey, entry: &UserEntry<'_>| {
            found.insert(*key, format!("{entry:?}"));
            Ok(())
        };
        let loaded = cache.load(keep).expect("it can be read");
        (found, loaded)
    }

    #[test]
    fn entries_are_loaded_at_the_next_start() {
        let disk = FaultDisk::default();
        let mut first = open(&disk, "1.0");
        (0..300).for_each(|number| put(&mut first, number));
        first.flush().expect("there is space");
        drop(first);
        let (found, loaded) = contents(&mut open(&disk, "1.0"));
        assert_eq!(loaded, Loaded { entries: 300, ..Loaded::default() });
        for number in 0..300 {
            let description = description(number);
            let masks = [Mask::of_bits(number.into()), Mask([1, 2, 3, 4])];
            let entry =
                UserEntry { description: description.borrow(), masks: &masks, first_frame: number, build_us: 5 };
            assert_eq!(found.get(&description.borrow().key()), Some(&format!("{entry:?}")));
        }
    }

    #[test]
    fn entry_that_was_not_used_for_30_days_is_collected_at_load() {
        let disk = FaultDisk::default();
        let mut cache = open(&disk, "1.0");
        (0..20).for_each(|number| put(&mut cache, number));
        cache.flush().expect("there is space");
        drop(cache);
        // Two launches later, half of them were used.
        for days in [20, 20, 1] {
            SECOND.set(SECOND.get() + days * DAY);
            let mut cache = open(&disk, "1.0");
            let _ = contents(&mut cache);
            (0..10).for_each(|number| {
                let key = description(number).borrow().key();
                cache.note_use(&key, Mask::of_bits(number.into())).expect("memory");
            });
            cache.flush().expect("there is space");
        }
        let (found, _) = contents(&mut open(&disk, "1.0"));
        assert_eq!(found.len(), 10);
        assert!((0..10).all(|number| found.contains_key(&description(number).borrow().key())));
    }

    #[test]
    fn mask_of_a_later_use_is_added() {
        let disk = FaultDisk::default();
        let mut cache = open(&disk, "1.0");
        put(&mut cache, 1);
        let key = description(1).borrow().key();
        for mask in [1, 9, 9, 7] {
            cache.note_use(&key, Mask::of_bits(mask)).expect("there is space");
        }
        cache.flush().expect("there is space");
        drop(cache);
        let (found, _) = contents(&mut open(&disk, "1.0"));
        let masks = [Mask::of_bits(1), Mask([1, 2, 3, 4]), Mask::of_bits(9), Mask::of_bits(7)];
        let description = description(1);
        let entry = UserEntry { description: description.borrow(), masks: &masks, first_frame: 1, build_us: 5 };
        assert_eq!(found.get(&key), Some(&format!("{entry:?}")));
    }

    #[test]
    fn pipelines_in_use_outlive_one_offs_on_a_small_disk() {
        let disk = FaultDisk::default();
        let small = || Options { limit_bytes: Options::LEAST_LIMIT, ..Options::new(|| SECOND.get()) };
        for session in 0..8 {
            SECOND.set(SECOND.get() + DAY);
            let mut cache = open_as(&disk, owner("1.0", &[]), small());
            let (found, _) = contents(&mut cache);
            for number in 0..200 {
                let key = description(number).borrow().key();
                if session > 0 {
                    assert!(found.contains_key(&key), "{number} in session {session}");
                }
                if found.contains_key(&key) {
                    cache.note_use(&key, Mask::of_bits(number.into())).expect("there is space");
                } else {
                    put(&mut cache, number);
                }
            }
            (0..400).for_each(|number| put(&mut cache, 1000 * (session + 1) + number));
            cache.flush().expect("there is space");
            assert!(session == 0 || cache.problem().is_some());
        }
    }

    #[test]
    fn entries_of_another_version_are_refused_with_both_names() {
        let disk = FaultDisk::default();
        let mut old = open(&disk, "1.0");
        put(&mut old, 1);
        old.flush().expect("there is space");
        assert!(old.refusal().expect("it can be read").is_none());
        drop(old);
        let mut new = open(&disk, "2.0");
        assert_eq!(contents(&mut new).1, Loaded::default());
        let refusal = new.refusal().expect("it can be read").expect("there is another version");
        assert!(refusal.as_str().contains("'1.0'") && refusal.as_str().contains("'2.0'"), "{refusal}");
        put(&mut new, 1);
        assert!(new.refusal().expect("it can be read").is_none());
        assert_eq!(contents(&mut open(&disk, "1.0")).0.len(), 1);
    }

    #[test]
    fn entries_of_other_dimensions_are_refused_with_both_lists_and_those_of_other_games_silently() {
        let disk = FaultDisk::default();
        let now = || Options::new(|| SECOND.get());
        for owner in [owner("1.0", &[("quality", 3)]), owner("0.9", &[("level", 5)])] {
            let mut cache = open_as(&disk, owner, now());
            put(&mut cache, 1);
            cache.flush().expect("there is space");
        }
        let refusal = |owner| open_as(&disk, owner, now()).refusal().expect("it can be read");
        let why = refusal(owner("1.0", &[("level", 5)])).expect("the version has other dimensions");
        assert!(why.as_str().contains("quality:3") && why.as_str().contains("level:5"), "{why}");
        assert!(!why.as_str().contains("1.0"), "{why}");
        let other = Identity::new("other", "spirv", 3).expect("valid");
        assert!(refusal(Owner { identity: other, ..owner("1.0", &[]) }).is_none());
    }

    #[test]
    fn pipelines_of_this_run_that_are_dropped_are_counted_once() {
        let disk = FaultDisk::default();
        let options = Options { limit_bytes: Options::LEAST_LIMIT, ..Options::new(|| SECOND.get()) };
        let mut cache = open_as(&disk, owner("1.0", &[]), options);
        (0..100).for_each(|number| put(&mut cache, number));
        assert_eq!(cache.take_dropped(), 0);
        (100..5000).for_each(|number| put(&mut cache, number));
        let dropped = cache.take_dropped();
        assert_eq!((5000 - dropped, cache.take_dropped()), (contents(&mut cache).1.entries as u64, 0));
        assert!(dropped > 1000, "{dropped}");
        let state = vec![7; 250 << 10];
        let large = Description { state, ..description(1) };
        let entry = UserEntry { description: large.borrow(), masks: &[], first_frame: 0, build_us: 0 };
        assert!(!cache.put(&large.borrow().key(), &entry).expect("it is too large"));
        assert_eq!((cache.take_dropped(), cache.take_dropped()), (1, 0));
    }

    #[test]
    fn value_that_is_no_entry_of_its_key_is_lost_alone() {
        let disk = FaultDisk::default();
        let mut cache = open(&disk, "1.0");
        put(&mut cache, 1);
        let environment = cache.environment;
        for (number, bytes) in [&[][..], &[0; 40], &[LAYOUT; 31]].into_iter().enumerate() {
            let name = Name { kind: kind::PIPELINE, environment, key: [number as u8; 32] };
            cache.store.put(&name, 0, bytes).expect("there is space");
        }
        assert_eq!(contents(&mut cache).1, Loaded { entries: 1, damaged: 3, ..Loaded::default() });
    }

    #[test]
    fn entry_that_cannot_be_decoded_is_replaced() {
        let disk = FaultDisk::default();
        let mut cache = open(&disk, "1.0");
        let name = cache.name(&description(2).borrow().key());
        // Of a version of this library with another layout.
        cache.store.put(&name, 0, &[LAYOUT + 1; 60]).expect("there is space");
        drop(cache);
        let mut cache = open(&disk, "1.0");
        assert_eq!(contents(&mut cache).1, Loaded { damaged: 1, ..Loaded::default() });
        put(&mut cache, 2);
        drop(cache);
        assert_eq!(contents(&mut open(&disk, "1.0")).1, Loaded { entries: 1, ..Loaded::default() });
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_entry_of_their_key_or_none(bytes in prop::collection::vec(any::<u8>(), 0..200), key in any::<[u8; 32]>()) {
            let decoded = &mut Decoded::default();
            let entry = decoded.entry(&bytes, 0, &crate::fingerprint::Fingerprint(key)).expect("memory");
            prop_assert!(entry.is_none());
        }

        #[test]
        fn entries_survive_a_round_trip(
            state in prop::collection::vec(any::<u8>(), 0..100),
            shaders in prop::collection::vec((any::<u32>(), any::<[u8; 20]>()), 1..6),
            masks in prop::collection::vec(any::<[u64; 4]>(), 0..5),
            numbers in any::<(u32, u32, u32)>(),
        ) {
            let shaders: Vec<_> = shaders.iter().map(|&(stage, hash)| ShaderRef { stage, hash: ShaderHash(hash) }).collect();
            let masks: Vec<_> = masks.into_iter().map(Mask).collect();
            let kind = PipelineKind::Compute;
            let description = DescriptionRef { kind, schema: Schema(numbers.0), state: &state, shaders: &shaders };
            let entry = UserEntry { description, masks: &masks, first_frame: numbers.1, build_us: numbers.2 };
            let mut bytes = Vec::new();
            entry.encode(&mut bytes).expect("memory");
            let mut decoded = Decoded::default();
            prop_assert_eq!(decoded.entry(&bytes, numbers.2, &description.key()).expect("memory"), Some(entry));
            for length in 0..bytes.len() {
                prop_assert!(decoded.entry(&bytes[..length], 0, &description.key()).expect("memory").is_none());
            }
        }
    }
}
