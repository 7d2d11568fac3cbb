//! Several processes share a directory: counting, waiting, notes file names and read-only processes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::directory::notes_name;
use super::format::{FileKind, header};
use super::notes::NotesFile;
use super::tests::{A, B, DAY, DRIVER, NOW, Scratch};
use super::*;
use crate::store::io::{is_dead, share};

#[test]
fn use_by_a_living_process_is_no_strike() {
    let scratch = Scratch::new();
    let living = scratch.open();
    let token = living.begin(DRIVER, &A).unwrap();
    assert_eq!(scratch.open().statistics(), Statistics::default());
    living.end(token, Outcome::Ok).unwrap();
    drop(living);
    assert_eq!(scratch.open().strikes(DRIVER, &A), 0);
}

#[test]
fn concurrent_opens_count_a_crash_once() {
    let scratch = Scratch::new();
    for round in 0..20 {
        scratch.death(&[[round; 32]]);
        let counted: u32 = std::thread::scope(|scope| {
            let hands: Vec<_> = (0..4).map(|_| scope.spawn(|| scratch.open().statistics().counted)).collect();
            hands.into_iter().map(|hand| hand.join().unwrap()).sum()
        });
        assert_eq!(counted, 1);
        assert_eq!(scratch.open().strikes(DRIVER, &[round; 32]), 1);
    }
}

#[test]
fn crash_is_counted_once_if_its_notes_cannot_be_removed() {
    let scratch = Scratch::new();
    scratch.death(&[A]);
    let (path, bytes) = (scratch.notes(), fs::read(scratch.notes()).unwrap());
    assert_eq!(scratch.open().statistics().counted, 1);
    fs::write(&path, &bytes).unwrap();
    let quarantine = scratch.open();
    assert_eq!((quarantine.strikes(DRIVER, &A), quarantine.statistics().counted), (1, 0));
    // Nor is a strike counted again if it was taken back meanwhile.
    let token = quarantine.begin(DRIVER, &A).unwrap();
    quarantine.end(token, Outcome::Ok).unwrap();
    drop(quarantine);
    for _ in 0..2 {
        fs::write(&path, &bytes).unwrap();
        assert_eq!(scratch.open().strikes(DRIVER, &A), 0);
    }
}

/// Begins a use that is noted. Another test may start a process, which holds each lock of this one until it runs its
/// own program. So this tries a few times.
fn begin_noted(quarantine: &Quarantine, key: [u8; 32]) -> Token {
    for _ in 0..1000 {
        let token = quarantine.begin(DRIVER, &key).unwrap();
        if quarantine.statistics().noted == 1 {
            return token;
        }
        quarantine.end(token, Outcome::Ok).unwrap();
    }
    panic!("no use is noted: {:?}", quarantine.problem());
}

#[test]
fn lock_wait_respects_its_deadline() {
    let scratch = Scratch::new();
    scratch.death(&[A]);
    let held = Directory::new(share(OsIo).unwrap(), &scratch.0, None).unwrap().lock(0).unwrap();
    let quarantine = Quarantine::open(&scratch.0, Options { most_wait_ms: 2, ..Options::at(NOW) }).unwrap();
    assert_eq!(quarantine.statistics().counted, 0);
    assert!(quarantine.problem().unwrap().as_str().contains("another process holds"));
    let token = quarantine.begin(DRIVER, &B).unwrap();
    assert_eq!(quarantine.statistics().unnoted, 1);
    assert!(!quarantine.problem().unwrap().as_str().contains(" ms"), "the problem has no wait time");
    quarantine.end(token, Outcome::Ok).unwrap();
    drop(held);
    begin_noted(&quarantine, B);
    drop(quarantine);
    assert_eq!(scratch.open().statistics().counted, 1);
}

#[test]
fn note_failure_is_reported_until_a_note_succeeds() {
    let scratch = Scratch::new();
    let quarantine = Quarantine::open(&scratch.0, Options { most_wait_ms: 1, ..Options::at(NOW) }).unwrap();
    let directory = Directory::new(share(OsIo).unwrap(), &scratch.0, None).unwrap();
    directory.create().unwrap();
    let held = directory.lock(0).unwrap();
    let unnoted = quarantine.begin(DRIVER, &A).unwrap();
    assert!(quarantine.problem().unwrap().as_str().contains("another process holds"));
    drop(held);
    let noted = begin_noted(&quarantine, B);
    assert!(quarantine.problem().is_none());
    for token in [unnoted, noted] {
        quarantine.end(token, Outcome::Ok).unwrap();
    }
}

/// Opens until a dead process is counted, for at most ten seconds. A process that another test is just starting has a copy of
/// all locks until it runs its program.
fn open_after_death(scratch: &Scratch) -> Quarantine {
    for _ in 0..1000 {
        let next = scratch.open();
        if next.statistics().counted > 0 {
            return next;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    scratch.open()
}

#[test]
fn uses_are_noted_again_after_the_directory_was_deleted_or_moved() {
    for is_moved in [false, true] {
        let (scratch, elsewhere) = (Scratch::new(), Scratch::new());
        let quarantine = scratch.open();
        let ended = quarantine.begin(DRIVER, &[0xc; 32]).unwrap();
        quarantine.begin(DRIVER, &A).unwrap();
        match is_moved {
            true => fs::rename(&scratch.0, &elsewhere.0).unwrap(),
            false => fs::remove_dir_all(&scratch.0).unwrap(),
        }
        quarantine.end(ended, Outcome::Ok).unwrap();
        quarantine.begin(DRIVER, &B).unwrap();
        assert!(quarantine.problem().is_none(), "{:?}", quarantine.problem());
        assert_eq!(elsewhere.open().statistics().counted, 0, "the process lives");
        quarantine.die();
        let next = open_after_death(&scratch);
        assert_eq!([A, B, [0xc; 32]].map(|key| next.strikes(DRIVER, &key)), [1, 1, 0]);
        assert_eq!(elsewhere.open().statistics().counted, 0);
    }
}

#[cfg(unix)]
#[test]
fn strikes_and_notes_of_another_user_do_not_count() {
    use std::os::unix::fs::{MetadataExt, chown};
    for is_notes in [false, true] {
        let scratch = Scratch::new();
        scratch.death(&[A]);
        scratch.death(&[A]);
        if fs::metadata(&scratch.0).unwrap().uid() != 0 {
            return crate::testing::skip("only root may give files to another user");
        }
        let path = if is_notes { scratch.notes() } else { scratch.0.join("strikes") };
        chown(&path, Some(65534), None).unwrap();
        let quarantine = scratch.open();
        assert_eq!(quarantine.strikes(DRIVER, &A), 1, "that of the other file");
        let problem = quarantine.problem().unwrap_or(crate::base::Text::EMPTY);
        assert!(is_notes || problem.as_str().contains("belongs to another user"), "{problem}");
    }
}

#[test]
fn taken_notes_file_name_is_skipped() {
    let scratch = Scratch::new();
    fs::create_dir(&scratch.0).unwrap();
    for incident in [5, 6] {
        fs::write(scratch.0.join(notes_name(incident).as_str()), b"another's").unwrap();
    }
    let directory = Directory::new(share(OsIo).unwrap(), &scratch.0, None).unwrap();
    let mut offers = [5, 6, 5, 7, 8].into_iter();
    let mut notes = NotesFile::create_as(&directory, 0, || offers.next().unwrap()).unwrap();
    notes.note(0, DRIVER, &A).unwrap();
    drop(notes);
    assert_eq!(offers.next(), Some(8), "no more was asked than was needed");
    let bytes = fs::read(scratch.0.join(notes_name(7).as_str())).unwrap();
    assert!(bytes.starts_with(&header(FileKind::Notes, 7, None)));
    for incident in [5, 6] {
        assert_eq!(fs::read(scratch.0.join(notes_name(incident).as_str())).unwrap(), b"another's");
    }
    assert_eq!(scratch.open().strikes(DRIVER, &A), 1);
}

#[test]
fn search_for_a_free_notes_file_name_ends() {
    let scratch = Scratch::new();
    let directory = Directory::new(share(OsIo).unwrap(), &scratch.0, None).unwrap();
    let living = NotesFile::create_as(&directory, 0, || 5).unwrap();
    let mut offered = 0;
    let why = NotesFile::create_as(&directory, 0, || {
        offered += 1;
        5
    });
    assert_eq!((why.err().map(|why| why.code()), offered), (Some(Code::Io), 16));
    assert_eq!(scratch.names(), ["lock".to_owned(), notes_name(5).as_str().to_owned()]);
    living.close();
}

/// All files below a path, with their contents.
fn contents(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect()
}

fn read_only(scratch: &Scratch, now: u64) -> Quarantine {
    Quarantine::open(&scratch.0, Options { read_only: true, ..Options::at(now) }).unwrap()
}

/// A has one strike in `strikes`, and another as notes of a dead process. B has one strike, and is in use by a living
/// process.
fn struck_and_in_use() -> (Scratch, Quarantine) {
    let scratch = Scratch::new();
    scratch.death(&[A, B]);
    let living = scratch.open();
    living.begin(DRIVER, &B).unwrap();
    scratch.death(&[A]);
    fs::remove_file(scratch.0.join("lock")).unwrap();
    (scratch, living)
}

#[test]
fn read_only_process_sees_bans_without_a_write() {
    let (scratch, living) = struck_and_in_use();
    let before = contents(&scratch.0);
    assert_eq!(before.len(), 3, "strikes and two notes: {:?}", before.keys());
    for _ in 0..2 {
        let quarantine = read_only(&scratch, NOW);
        assert_eq!((quarantine.strikes(DRIVER, &A), quarantine.strikes(DRIVER, &B)), (2, 1));
        assert!(quarantine.is_banned(DRIVER, &A) && !quarantine.is_banned(DRIVER, &B));
        assert_eq!(quarantine.statistics().counted, 1);
        let (one, other) = (quarantine.begin(DRIVER, &B).unwrap(), quarantine.begin(DRIVER, &B).unwrap());
        quarantine.end(one, Outcome::Rejected).unwrap();
        assert_eq!(quarantine.strikes(DRIVER, &B), 1);
        quarantine.end(other, Outcome::Ok).unwrap();
        assert_eq!(quarantine.strikes(DRIVER, &B), 0, "for this process");
        quarantine.begin(DRIVER, &B).unwrap();
        quarantine.forgive(DRIVER, &A).unwrap();
        assert!(!quarantine.is_banned(DRIVER, &A), "for this process");
        quarantine.forgive_all().unwrap();
        let statistics = quarantine.statistics();
        assert_eq!((statistics.noted, statistics.unnoted, statistics.in_flight), (0, 3, 1));
        assert!(quarantine.problem().is_none(), "it is as it was asked for");
    }
    assert_eq!(read_only(&scratch, NOW + 30 * DAY).statistics().struck, 1, "the rest has aged");
    assert!(contents(&scratch.0) == before);
    let quarantine = scratch.open();
    assert_eq!((quarantine.strikes(DRIVER, &A), quarantine.strikes(DRIVER, &B)), (2, 1));
    assert_eq!(quarantine.statistics().counted, 1, "the crash is still counted");
    drop(living);
}

#[test]
fn read_only_process_creates_no_directory() {
    let scratch = Scratch::new();
    let quarantine = read_only(&scratch, NOW);
    let token = quarantine.begin(DRIVER, &A).unwrap();
    quarantine.end(token, Outcome::Ok).unwrap();
    quarantine.forgive_all().unwrap();
    assert!(quarantine.problem().is_none() && !scratch.0.exists());
}

#[test]
fn liveness_probe_takes_no_lock_and_skips_file_being_created() {
    let scratch = Scratch::new();
    fs::create_dir(&scratch.0).unwrap();
    let path = scratch.0.join(notes_name(5).as_str());
    let owner = fs::File::create_new(&path).unwrap();
    let asked = fs::File::open(&path).unwrap();
    assert!(!is_dead(&asked), "its owner is about to lock it");
    owner.try_lock().unwrap();
    owner.set_len(64).unwrap();
    assert!(!is_dead(&asked));
    owner.unlock().unwrap();
    assert!(is_dead(&asked) && is_dead(&fs::File::open(&path).unwrap()));
    owner.try_lock().unwrap();
}
