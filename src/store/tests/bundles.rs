//! Bundles: written, read from memory and from a file.

use super::super::fault_io::FaultDisk;
use super::super::io::Io;
use super::super::{Bundle, BundleWriter, Compression, Store};
use super::*;
use crate::base::Code;

#[test]
fn same_values_give_the_same_bundle_bytes() {
    let disk = FaultDisk::default();
    let io: SharedIo = shared(disk.process());
    io.create_directory(&directory()).unwrap();
    let path = |file: &str| directory().join(file);
    let write = |file: &str, values: u64| {
        let mut bundle = BundleWriter::create(io.clone(), &path(file), Compression::Lz4).unwrap();
        (0..values).for_each(|number| assert!(bundle.put(&name(number), 7, &value(number, 300)).unwrap()));
        bundle.finish()
    };
    write("one", 20).unwrap();
    write("other", 20).unwrap();
    assert_eq!(disk.files().len(), 2, "and nothing beside them");
    assert_eq!(disk.read(&path("one")), disk.read(&path("other")));
    assert_eq!(write("empty", 0).unwrap_err().code(), Code::NotFound);
    write("other", 5).unwrap();
    for (file, values) in [("one", 20), ("other", 5)] {
        let bundle = Bundle::of_file(&*io, &path(file)).unwrap();
        let mut store = Store::open_bundle(bundle, options()).unwrap();
        store.check_bundle().unwrap();
        assert_eq!((store.statistics().values, store.meta(&name(0)).unwrap().build_us), (values + 1, 7));
        assert!((0..values).all(|number| get(&mut store, &name(number)) == Some(value(number, 300))));
    }
    disk.write(&path("other"), &disk.read(&path("one")).unwrap()[..63]);
    for (file, code) in [("other", Code::Malformed), ("none", Code::Io)] {
        assert_eq!(Bundle::of_file(&*io, &path(file)).err().unwrap().code(), code);
    }
}

#[test]
fn failed_bundle_write_keeps_the_old_file() {
    let disk = FaultDisk::default();
    let process = disk.process();
    process.create_directory(&directory()).unwrap();
    let path = directory().join("bundle");
    disk.write(&path, b"before");
    let mut failures = 0;
    for calls in 0..10 {
        process.plan(|plan| plan.calls_to_error = Some(calls));
        let mut bundle = BundleWriter::create(shared(process.clone()), &path, Compression::None).unwrap();
        let written = bundle.put(&name(1), 0, b"value").and_then(|_| bundle.finish());
        process.plan(|plan| plan.calls_to_error = None);
        assert_eq!(disk.files().len(), 1, "{calls}: no file remains");
        failures += u32::from(written.is_err());
        if disk.read(&path).unwrap() == b"before" {
            assert!(written.is_err(), "{calls}");
        } else {
            let whole = Bundle::of_file(&process, &path).and_then(|bundle| Store::open_bundle(bundle, options()));
            assert_eq!(get(&mut whole.unwrap(), &name(1)).unwrap(), b"value", "{calls}: {written:?}");
        }
    }
    assert!((3..10).contains(&failures), "{failures}");
}

#[test]
fn bundle_in_memory_reads_like_a_directory() {
    let disk = populated(20, 100);
    let segment = disk.read(&with_extension(&disk, "seg")[0]).unwrap();
    let snapshot = disk.read(&with_extension(&disk, "idx")[0]).unwrap();
    for snapshot in [Some(snapshot), None] {
        let mut bundle = Store::from_bytes(segment.clone(), snapshot, options()).unwrap();
        assert!((0..20).all(|number| get(&mut bundle, &name(number)) == Some(value(number, 100))));
        let refused = bundle.put(&name(1), 0, b"x").unwrap_err();
        assert_eq!(refused.code(), Code::Unsupported);
        assert!(bundle.maintain(1).is_err() && bundle.clear(None).is_err() && bundle.touch(&[name(1)]).is_err());
    }
    for wrong in [&[][..], &[0; 63], &[0; 64], b"HOBSEG\r\n and some sixty bytes more that are not what a segment says"]
    {
        let Err(why) = Store::from_bytes(wrong.into(), None, options()) else { panic!("{wrong:?}") };
        assert_eq!(why.code(), Code::Malformed);
    }
}
