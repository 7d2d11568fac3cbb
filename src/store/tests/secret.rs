//! Directories whose checksums are keyed with a secret of the host.

use super::super::budgets::{self, Budget};
use super::super::fault_io::FaultDisk;
use super::super::format::Checks;
use super::super::format::{HEADER, HEADS, hash_with_seed, u64_at};
use super::super::{BundleWriter, Compression, Options, Secret, Store};
use super::*;

fn keyed(secret: u8) -> Options {
    Options { secret: Some(Secret([secret; 32])), ..options() }
}

fn filled(options: Options) -> FaultDisk {
    let disk = FaultDisk::default();
    let mut store = open(&disk.process(), options);
    (0..10).for_each(|number| assert!(store.put(&name(number), 5, &value(number, 90)).unwrap()));
    store.seal().unwrap();
    (10..20).for_each(|number| assert!(store.put(&name(number), 5, &value(number, 90)).unwrap()));
    disk
}

fn served(store: &mut Store) -> usize {
    (0..20).filter(|&number| get(store, &name(number)) == Some(value(number, 90))).count()
}

#[test]
fn values_are_served_with_their_secret_alone() {
    let secrets = [None, Some(Secret([1; 32])), Some(Secret([2; 32]))];
    for written in secrets {
        let disk = filled(Options { secret: written, ..options() });
        for read in secrets {
            let disk = disk.duplicate();
            let mut store = open(&disk.process(), Options { secret: read, ..options() });
            if read == written {
                assert_eq!((served(&mut store), store.foreign()), (20, None));
                continue;
            }
            let statistics = store.statistics();
            assert_eq!((served(&mut store), statistics.foreign_segments, statistics.damaged), (0, 2, 0));
            let why = if written.is_none() { "without a secret" } else { "with another secret" };
            assert!(store.foreign().is_some_and(|foreign| foreign.contains(why)), "{:?}", store.foreign());
            // Each keeps to its own.
            store.put(&name(1), 0, b"another").unwrap();
            store.clear(None).unwrap();
            store.maintain(u64::MAX).unwrap();
            assert_eq!(served(&mut open(&disk.process(), Options { secret: written, ..options() })), 20);
        }
    }
}

#[test]
fn maintenance_keeps_values_under_their_secret() {
    let disk = FaultDisk::default();
    for launch in 0..6 {
        let mut store = open(&disk.process(), keyed(1));
        store.put(&name(launch), 5, &value(launch, 90)).unwrap();
        store.remove(&name(launch / 2 * 2 + 100)).unwrap();
        store.touch(&[name(launch)]).unwrap();
        if launch % 2 == 0 {
            store.seal().unwrap();
        }
    }
    let mut store = open(&disk.process(), keyed(1));
    assert!(store.maintain(u64::MAX).unwrap().unlinked > 0);
    for store in [&mut store, &mut open(&disk.process(), keyed(1))] {
        assert!((0..6).all(|number| get(store, &name(number)) == Some(value(number, 90))));
        assert_eq!(store.statistics().damaged, 0);
    }
}

/// Writes a record as somebody would who knows everything but the secret: the bytes of a value are replaced, and all
/// checksums of the format without a secret are right.
fn forge(bytes: &mut [u8], seed: u64) {
    let at = HEADS;
    bytes[at + HEADER] ^= 1;
    let stored = super::super::format::u32_at(bytes, at + 4) as usize;
    let payload = super::super::format::hash(&bytes[at + HEADER..at + HEADER + stored]);
    bytes[at + 64..at + 72].copy_from_slice(&payload.to_le_bytes());
    let header = hash_with_seed(seed.wrapping_add(at as u64), &bytes[at..at + 72]);
    bytes[at + 72..at + 80].copy_from_slice(&header.to_le_bytes());
}

#[test]
fn forged_record_is_served_without_a_secret_and_refused_with_one() {
    for (options, is_served) in [(options(), true), (keyed(1), false)] {
        let disk = filled(options);
        let path = with_extension(&disk, "seg").remove(0);
        let mut bytes = disk.read(&path).unwrap();
        let seed = u64_at(&bytes, 20);
        forge(&mut bytes, seed);
        disk.write(&path, &bytes);
        disk.write(&path.with_extension("idx"), b"");
        let mut store = open(&disk.process(), options);
        let mut out = Vec::new();
        let found = store.get(&name(0), &mut out).unwrap().is_some();
        assert_eq!(found && out != value(0, 90), is_served);
        assert_eq!(served(&mut store), 19, "the others are served");
    }
}

#[test]
fn payload_cannot_pass_for_a_header() {
    // The check of a payload that holds the hashed bytes of a header is not the header's check.
    use super::super::format::{Checks, Form, Header};
    let checks = Checks::new(Some(Secret([3; 32])));
    let header = Header::new(&name(1), Form::Plain, 5 << 32, b"", &checks);
    let bytes = header.encode(&checks, 7, 64);
    let hashed = [&7_u64.to_le_bytes()[..], &64_u64.to_le_bytes(), &bytes[..72]].concat();
    assert_ne!(checks.payload(&hashed), u64_at(&bytes, 72));
    assert!(Header::decode(&bytes, &checks, 7, 64).is_some() && Header::decode(&bytes, &checks, 7, 80).is_none());
}

#[test]
fn forged_limit_of_an_environment_is_accepted_without_a_secret_alone() {
    for secret in [None, Some(Secret([1; 32]))] {
        let disk = FaultDisk::default();
        let (io, checks) = (disk.process(), Checks::new(secret));
        let of = |environment| Options { secret, environment: Some(environment), ..options() };
        open(&io, of(2)).put(&named(2, 1), 5, b"value").unwrap();
        let forged = Budget { environment: 2, limit: Options::LEAST_LIMIT };
        budgets::write(&io, &directory(), &[forged], &plain_checks()).unwrap();
        open(&io, of(1)).put(&named(1, 1), 5, b"value").unwrap();
        let limits = budgets::read(&io, &directory(), &checks).unwrap();
        assert!(limits.iter().any(|limit| limit.environment == 1), "it was written");
        assert_eq!(limits.contains(&forged), secret.is_none(), "{limits:?}");
    }
}

#[test]
fn bundle_needs_no_secret() {
    let disk = FaultDisk::default();
    let io = shared(disk.process());
    io.create_directory(&directory()).unwrap();
    let path = directory().join("bundle");
    let mut bundle = BundleWriter::create(io.clone(), &path, Compression::None).unwrap();
    bundle.put(&name(1), 1, b"shipped").unwrap();
    bundle.finish().unwrap();
    let bundle = super::super::Bundle::of_file(&*io, &path).unwrap();
    let mut store = Store::open_bundle(bundle, keyed(1)).unwrap();
    assert_eq!(get(&mut store, &name(1)).as_deref(), Some(&b"shipped"[..]));
}

#[test]
fn options_do_not_print_the_secret() {
    assert!(format!("{:?}", keyed(77)).contains("secret: Some(Secret)"));
}

/// A host with a new secret for each build.
#[test]
fn files_of_old_secrets_go_first_when_the_directory_is_full() {
    let disk = FaultDisk::default();
    let limit = 1 << 20;
    let mut live: Option<Store> = None;
    for secret in 1..7 {
        let mut store = open(&disk.process(), Options { limit_bytes: limit, environment: Some(7), ..keyed(secret) });
        (0..300).for_each(|number| assert!(store.put(&name(number), 5, &value(number, 3000)).unwrap()));
        store.seal().unwrap();
        assert!(disk.used() <= 2 * limit, "{} bytes with {secret} secrets", disk.used());
        assert!(disk.most_used() * 4 <= 2 * limit * 5, "{} bytes with {secret} secrets", disk.most_used());
        let count = |secret| open(&disk.process(), keyed(secret)).statistics().values;
        assert!(count(secret) >= 250, "its own values are kept: {}", count(secret));
        assert!(secret < 2 || count(secret - 1) >= 200, "the newest of the others stay: {}", count(secret - 1));
        assert!(secret < 3 || count(secret - 2) < 100, "the oldest ones go: {}", count(secret - 2));
        if secret == 6 {
            assert!(store.put(&name(1000), 5, b"living").unwrap());
            live = Some(store);
        }
        wait(1000);
    }
    // A living process of another secret keeps what it writes.
    let mut store = open(&disk.process(), Options { limit_bytes: limit, environment: Some(7), ..keyed(9) });
    (0..900).for_each(|number| assert!(store.put(&name(number), 5, &value(number, 3000)).unwrap()));
    let mut live = live.unwrap();
    assert_eq!(get(&mut live, &name(1000)), Some(b"living".to_vec()));
}
