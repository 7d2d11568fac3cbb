//! Random damage to a directory after several launches. Undamaged values are served unchanged, and damage never makes a
//! wrong value.

use std::collections::BTreeMap;

use super::super::fault_io::FaultDisk;
use super::super::format::{Form, HEADER, HEADS, Head, Header, decode_heads};
use super::super::snapshot::{IndexSnapshot, Parts};
use super::super::{Compression, Name, Options, Store};
use super::packs::pack;
use super::*;

/// Number of damaged directories; `HOB_STORE_DAMAGES` sets it.
fn damages() -> u64 {
    std::env::var("HOB_STORE_DAMAGES").ok().and_then(|word| word.parse().ok()).unwrap_or(3_000)
}

/// Compressible and incompressible values, some of them replaced, removed or cleared. Most processes sealed their
/// segments, and two were killed. The snapshots are in a pack, or files of their own.
fn lived_in(is_packed: bool) -> FaultDisk {
    let disk = FaultDisk::default();
    for launch in 0..5_u64 {
        let compression = if launch.is_multiple_of(2) { Compression::Lz4 } else { Compression::None };
        let mut store = open(&disk.process(), Options { compression, segment_limit: 900, ..options() });
        let mut put = |environment, number: u64, length| {
            let text = [number as u8 + launch as u8 * 16; 200];
            let value =
                if number.is_multiple_of(3) { text[..length].to_vec() } else { value(number * 10 + launch, length) };
            store.put(&named(environment, number), 5, &value).unwrap();
        };
        (0..4).for_each(|number| put(7, launch * 3 + number, 20 + 13 * number as usize));
        (0..2).for_each(|number| put(8, launch + number, 60));
        store.touch(&[named(7, launch), named(8, launch)]).unwrap();
        store.remove(&named(7, launch * 2)).unwrap();
        if launch == 2 {
            store.clear(Some(8)).unwrap();
        }
        if launch < 3 {
            store.seal().unwrap();
        }
    }
    if is_packed {
        pack(&disk);
    }
    disk.duplicate()
}

/// A record and its place.
struct Record {
    path: PathBuf,
    begin: usize,
    header: Header,
    value: Option<Vec<u8>>,
    is_sealed: bool,
}

impl Record {
    /// Whether the record is unchanged and can still be found.
    fn is_whole_in(&self, before: &[u8], after: &[u8]) -> bool {
        let needed = self.begin..self.begin + HEADER + self.header.stored as usize;
        // If a record's padding is cut off, only a snapshot can still find the record.
        let end = if self.is_sealed { needed.end } else { self.begin + self.header.size() as usize };
        let has_seed = self.is_sealed || decode_heads(after, id_of(&self.path), FORMAT) != Head::Damaged;
        after.len() >= end && before[needed.clone()] == after[needed] && has_seed
    }
}

fn id_of(path: &Path) -> u64 {
    u64::from_str_radix(path.file_stem().unwrap().to_str().unwrap(), 16).unwrap()
}

/// All records of all segments, newest first.
fn records(disk: &FaultDisk) -> Vec<Record> {
    let mut records = Vec::new();
    for path in with_extension(disk, "seg") {
        let bytes = disk.read(&path).unwrap();
        let Head::Ours { seed } = decode_heads(&bytes, id_of(&path), FORMAT) else { panic!("{path:?}") };
        let is_sealed = disk.read(&path.with_extension("idx")).is_some() || packs(disk).any(|pack| has(&pack, &path));
        let mut begin = HEADS;
        while begin < bytes.len() {
            let header = Header::decode(&bytes[begin..], &plain_checks(), seed, begin as u64).unwrap();
            let payload = &bytes[begin + HEADER..][..header.stored as usize];
            let mut made = vec![0; header.raw as usize];
            let value = match header.form {
                Form::Plain => Some(payload.to_vec()),
                Form::Lz4 => lz4_flex::block::decompress_into(payload, &mut made).ok().map(|_| made),
                _ => None,
            };
            records.push(Record { path: path.clone(), begin, header, value, is_sealed });
            begin += header.size() as usize;
        }
    }
    records.sort_by_key(|record| std::cmp::Reverse(record.header.stamp));
    records
}

fn packs(disk: &FaultDisk) -> impl Iterator<Item = Vec<u8>> {
    with_extension(disk, "pack").into_iter().map(|path| disk.read(&path).unwrap())
}

/// Whether a pack has a valid snapshot of that segment.
fn has(pack: &[u8], segment: &Path) -> bool {
    let id = id_of(segment);
    let is_valid = |part| IndexSnapshot::decode(part, id, u64::MAX, &plain_checks()).is_some();
    Parts(pack).any(|(of, part)| of == id && is_valid(part))
}

/// The records that concern a name, newest first. Each is a possible value.
fn history<'a>(records: &'a [Record], name: &Name) -> Vec<&'a Record> {
    let concerns = |record: &&Record| match record.header.form {
        Form::Uses => false,
        Form::Cleared => record.header.environment == name.environment,
        _ => {
            (record.header.kind, record.header.environment, record.header.key)
                == (name.kind, name.environment, name.key)
        }
    };
    records.iter().filter(concerns).collect()
}

/// The files of a directory before and after damage.
struct Damaged<'a> {
    before: &'a BTreeMap<PathBuf, Vec<u8>>,
    after: BTreeMap<PathBuf, Vec<u8>>,
}

impl Damaged<'_> {
    fn at_random(&mut self, random: &mut Random) -> String {
        let mut files: Vec<_> = self.after.iter_mut().filter(|(_, bytes)| !bytes.is_empty()).collect();
        let (path, bytes) = files.swap_remove(random.below(files.len() as u64) as usize);
        let path = path.clone();
        let at = random.below(bytes.len() as u64) as usize;
        let what = match random.below(20) {
            0 => {
                self.after.remove(&path);
                "lost"
            }
            1..5 => {
                bytes.truncate(at);
                "cut"
            }
            5..9 => {
                let end = bytes.len().min(at + 1 + random.below(100) as usize);
                bytes[at..end].iter_mut().for_each(|byte| *byte = random.next() as u8);
                "overwritten"
            }
            _ => {
                bytes[at] ^= 1 << random.below(8);
                "flipped"
            }
        };
        format!("{what} at {at} of {path:?}")
    }

    /// Whether a record survived. A damaged snapshot counts as missing: its segment is read without it.
    fn is_whole(&self, record: &Record) -> bool {
        let is_same = |path: &Path| self.before.get(path) == self.after.get(path);
        let mut packs = self.after.iter().filter(|(path, _)| path.extension().is_some_and(|kind| kind == "pack"));
        let has_file = self.before.contains_key(&record.path.with_extension("idx"));
        let is_sealed = match has_file {
            true => record.is_sealed && is_same(&record.path.with_extension("idx")),
            false => packs.any(|(_, pack)| has(pack, &record.path)),
        };
        let Some(after) = self.after.get(&record.path) else { return false };
        let (Record { path, begin, header, .. }, value) = (record, None);
        let record = Record { path: path.clone(), begin: *begin, header: *header, value, is_sealed };
        record.is_whole_in(&self.before[path], after)
    }

    fn check(&self, store: &mut Store, names: &[(Name, Vec<&Record>)], what: &str) {
        for (name, history) in names {
            let found = get(store, name);
            let newest = history.iter().position(|record| self.is_whole(record)).unwrap_or(history.len());
            let is_right = match history.get(newest) {
                Some(record) if newest == 0 => found == record.value,
                // Records older than the newest whole one must not be served.
                _ => found.is_none() || history.iter().take(newest + 1).skip(1).any(|record| found == record.value),
            };
            assert!(is_right, "{what}: {name:?} has {found:?}, {newest} of its records were damaged");
        }
    }
}

#[test]
fn damage_costs_only_damaged_values_and_gives_no_wrong_one() {
    [false, true].into_iter().for_each(damage_at_random);
}

fn damage_at_random(is_packed: bool) {
    let disk = lived_in(is_packed);
    let records = records(&disk);
    let mut names: Vec<_> = (0..20).flat_map(|number| [7, 8].map(|environment| named(environment, number))).collect();
    names.retain(|name| !history(&records, name).is_empty());
    let names: Vec<_> = names.into_iter().map(|name| (name, history(&records, &name))).collect();
    let forms = |form| records.iter().filter(|record| record.header.form == form).count();
    assert!(forms(Form::Plain) > 10 && forms(Form::Lz4) > 2 && forms(Form::Removed) > 5 && forms(Form::Cleared) > 0);
    assert!(names.iter().filter(|(_, history)| history[0].value.is_some()).count() > 10 && names.len() > 15);

    let files = disk.files().into_iter().map(|path| (disk.read(&path).unwrap(), path));
    let before: BTreeMap<_, _> =
        files.filter(|(bytes, _)| !bytes.is_empty()).map(|(bytes, path)| (path, bytes)).collect();
    assert!(
        with_extension(&disk, "seg").len() >= 8 && with_extension(&disk, "idx").len() >= if is_packed { 0 } else { 4 }
    );
    assert_eq!(packs(&disk).count(), usize::from(is_packed));
    let mut random = Random(17 + u64::from(is_packed));
    for trial in 0..damages() {
        let mut damaged = Damaged { before: &before, after: before.clone() };
        let mut what = format!("{trial}: {}", damaged.at_random(&mut random));
        if random.below(8) == 0 {
            what = format!("{what}, {}", damaged.at_random(&mut random));
        }
        let disk = FaultDisk::default();
        damaged.after.iter().for_each(|(path, bytes)| disk.write(path, bytes));
        let mut store = on(&disk);
        damaged.check(&mut store, &names, &what);
        if trial.is_multiple_of(16) {
            store.maintain(random.below(3000)).unwrap();
            damaged.check(&mut store, &names, &what);
            damaged.check(&mut on(&disk), &names, &what);
        }
    }
}
