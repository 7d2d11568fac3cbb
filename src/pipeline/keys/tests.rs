//! Key maps against a set in memory, as files and as CSV.

use std::collections::BTreeSet;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::base::Code;
use crate::store::fault_io::FaultDisk;
use crate::store::io::share;
use crate::testing::allocator::{with_allowance, with_failure};

type Lines = BTreeSet<(String, [u8; 20], u32)>;

fn builder(lines: &[([u8; 20], u32, String)]) -> KeyMapBuilder {
    let mut builder = KeyMapBuilder::default();
    for (hash, stage, key) in lines {
        builder.add(&KeyLine { hash: ShaderHash(*hash), stage: *stage, key }).expect("memory");
    }
    builder
}

fn map(lines: &[([u8; 20], u32, String)]) -> KeyMap {
    builder(lines).finish().expect("memory")
}

fn listed(map: &KeyMap) -> Vec<(String, [u8; 20], u32)> {
    map.lines().map(|line| (line.key.into(), line.hash.0, line.stage)).collect()
}

fn written(map: &KeyMap) -> Vec<u8> {
    let disk = FaultDisk::default();
    disk.write(Path::new("/k/a.hobkeys"), b"old");
    let io = share(disk.process()).expect("memory");
    let bytes = map.write(&io, Path::new("/k/a.hobkeys"), "1.0", "spirv").expect("space");
    let file = disk.read(Path::new("/k/a.hobkeys")).expect("there");
    assert_eq!(bytes, file.len() as u64);
    assert_eq!(disk.files().len(), 1);
    file
}

fn read(bytes: Vec<u8>) -> Result<(KeyMap, KeyFileInfo, LoadedKeys)> {
    let mut builder = KeyMapBuilder::default();
    let (info, loaded) = builder.add_bytes(bytes, Path::new("x.hobkeys"))?;
    Ok((builder.finish()?, info, loaded))
}

fn csv(text: &[u8], piece: usize) -> Result<(KeyMap, LoadedKeys)> {
    let mut builder = KeyMapBuilder::default();
    let mut rest = text;
    let loaded = builder.add_csv(|buffer| {
        let (now, later) = rest.split_at(piece.min(rest.len()).min(buffer.len()));
        buffer[..now.len()].copy_from_slice(now);
        rest = later;
        Ok(now.len())
    })?;
    Ok((builder.finish()?, loaded))
}

fn some_lines(count: u32) -> Vec<([u8; 20], u32, String)> {
    let line = |number: u32| {
        let mut hash = [0; 20];
        hash[..4].copy_from_slice(&(number / 2).to_le_bytes());
        let stage = if number.is_multiple_of(5) { NO_STAGE } else { number % 3 };
        (hash, stage, format!("/Game/Material{},Factory{},Shader{}", number % 97, number % 7, number % 3))
    };
    (0..count).map(line).collect()
}

#[test]
fn shader_has_all_its_keys_and_key_all_its_shaders() {
    let lines = [([1; 20], 0, "a,b".into()), ([1; 20], 0, "a,c".into()), ([2; 20], 4, "a,c".into())];
    let map = map(&lines);
    let keys = |hash| map.keys_of(ShaderHash([hash; 20])).map(|line| line.key).collect::<Vec<_>>();
    assert_eq!((keys(1), keys(2), keys(3)), (vec!["a,b", "a,c"], vec!["a,c"], vec![]));
    let shaders = |key| map.shaders_of(key).map(|line| (line.hash.0[0], line.stage)).collect::<Vec<_>>();
    assert_eq!((shaders("a,c"), shaders("a,b")), (vec![(1, 0), (2, 4)], vec![(1, 0)]));
    assert!(["", "a", "a,bb", "zz"].iter().all(|key| shaders(key).is_empty()));
}

#[test]
fn several_files_merge_into_one_map() {
    let lines = some_lines(300);
    let mut both = KeyMapBuilder::default();
    let counts = [&lines[..200], &lines[100..]].map(|part| {
        let (info, loaded) = both.add_bytes(written(&map(part)), Path::new("x")).expect("valid");
        assert_eq!((info.build.as_str(), info.format.as_str(), info.lines), ("1.0", "spirv", loaded.lines));
        loaded.lines
    });
    assert_eq!((counts, both.len()), ([200, 200], 400));
    let both = both.finish().expect("memory");
    assert_eq!(both.len(), 300);
    assert_eq!(written(&both), written(&map(&lines)));
}

#[test]
fn lines_need_little_memory_besides_their_text() {
    let map = map(&some_lines(50_000));
    let needed = 32 * map.len() + map.texts.bytes.len() + 12 * map.texts.ends.len();
    assert!(map.memory_used() <= needed + needed / GROWTH + 4096, "{} bytes", map.memory_used());
}

#[test]
fn csv_follows_rfc_4180() {
    let hash = "00112233445566778899aAbBcCdDeEfF00112233";
    let text = format!(
        "hash,stage,key\r\n{hash},4,\"a,\"\"b\"\",\nc\"\r\n\r\n{hash},,plain\n{hash},1,x,y,z\n\"{hash}\",\"2\",\"q\""
    );
    for piece in [1, 2, 7, 4096] {
        let (map, loaded) = csv(text.as_bytes(), piece).expect("valid");
        let found: Vec<_> = map.lines().map(|line| (line.stage, line.key)).collect();
        assert_eq!(found, [(4, "a,\"b\",\nc"), (NO_STAGE, "plain"), (2, "q"), (1, "x,y,z")]);
        assert_eq!(loaded.lines, 4);
        assert!(map.lines().all(|line| line.hash.0[..4] == [0, 0x11, 0x22, 0x33]));
    }
}

#[test]
fn invalid_csv_line_is_an_error_with_its_number() {
    let hash = "00112233445566778899aabbccddeeff00112233";
    let cases = [
        (format!("hash,stage,key\n{hash},1,\"a\nb\"\n{hash},1,\"c\"d\n"), "line 4"),
        (format!("{hash},1,a\n{hash},1\n"), "line 2"),
        (format!("{hash},1,a\n\nzz,1,b\n"), "line 3"),
        (format!("{hash},x,a\n"), "line 1"),
        (format!("{hash},1,\n"), "line 1"),
        (format!("{hash},1,a\n{hash},1,\"b\n\n\n"), "line 2"),
        (format!("{hash},1,a\"b\n"), "line 1"),
        (format!("{hash},1,{}\n", "a".repeat(100_000)), "line 1"),
        (format!("{hash},1,{}\n", "a".repeat(MAX_KEY + 1)), "line 1"),
    ];
    for (text, line) in cases {
        let why = csv(text.as_bytes(), 4096).map(|_| ()).expect_err("invalid");
        assert!(matches!(why.code(), Code::Malformed | Code::LimitExceeded), "{why}");
        assert!(why.sentence().contains(line), "{why}");
    }
    assert!(csv(b"\xff\xfe,1,a\n", 10).is_err());
}

#[test]
fn flipped_bit_costs_at_most_one_block_and_is_counted() {
    let lines = some_lines(40);
    let bytes = written(&map(&lines));
    let whole = listed(&map(&lines));
    for bit in 0..8 * bytes.len() {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let (map, _, loaded) = read(flipped).unwrap_or_else(|why| panic!("bit {bit}: {why}"));
        let found = listed(&map);
        assert!(found == whole || found.is_empty() && (loaded.damaged > 0 || loaded.is_truncated), "bit {bit}");
    }
}

#[test]
fn cut_file_is_known_as_truncated() {
    let bytes = written(&map(&some_lines(3000)));
    for length in (0..bytes.len()).step_by(37).chain([bytes.len() - 1, bytes.len()]) {
        if let Ok((map, info, loaded)) = read(bytes[..length].to_vec()) {
            assert_eq!(loaded.is_truncated, length < bytes.len(), "{length} bytes");
            assert!(map.len() as u64 <= info.lines);
        }
    }
}

#[test]
fn failed_allocation_is_a_result() {
    let lines = some_lines(200);
    let bytes = written(&map(&lines));
    for allowed in 0.. {
        let [one, other] = [bytes.clone(), bytes.clone()];
        let failed = with_failure(allowed, || read(one).map(|(map, ..)| map.len()));
        let starved = with_allowance(allowed, || read(other).map(|(map, ..)| map.len()));
        for done in [&failed, &starved] {
            assert!(matches!(done, Ok(200)) || done.as_ref().is_err_and(|why| why.code() == Code::OutOfMemory));
        }
        if starved.is_ok() {
            break;
        }
    }
}

#[test]
fn failed_write_keeps_the_old_file() {
    let map = map(&some_lines(3000));
    for calls in 0..8 {
        let disk = FaultDisk::default();
        disk.write(Path::new("/k/a"), b"old");
        let process = disk.process();
        process.plan(|plan| plan.calls_to_error = Some(calls));
        let io = share(process).expect("memory");
        let done = map.write(&io, Path::new("/k/a"), "1.0", "spirv");
        let file = disk.read(Path::new("/k/a")).expect("there");
        assert!(if done.is_ok() { read(file).is_ok() } else { file == b"old" || read(file).is_ok() });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::testing::scaled(32)))]
    #[test]
    fn map_survives_files_and_csv_in_any_order(
        lines in prop::collection::vec((any::<u8>(), 0_u32..4, "[a-c,\"\r\n é]{1,6}"), 0..60),
        piece in 1_usize..50,
    ) {
        let stage = |number| if number == 3 { NO_STAGE } else { number };
        let mut lines: Vec<_> = lines.into_iter().map(|(hash, number, key)| ([hash % 8; 20], stage(number), key)).collect();
        let model: Lines = lines.iter().map(|(hash, stage, key)| (key.clone(), *hash, *stage)).collect();
        let whole = map(&lines);
        prop_assert_eq!(listed(&whole), model.iter().cloned().collect::<Vec<_>>());
        for (key, hash, _) in &model {
            let shaders: Vec<_> = whole.shaders_of(key).map(|line| (line.hash.0, line.stage)).collect();
            let wanted: Vec<_> = model.iter().filter(|line| line.0 == *key).map(|line| (line.1, line.2)).collect();
            prop_assert_eq!(shaders, wanted);
            let keys: BTreeSet<_> = whole.keys_of(ShaderHash(*hash)).map(|line| line.key).collect();
            prop_assert_eq!(keys, model.iter().filter(|line| line.1 == *hash).map(|line| line.0.as_str()).collect());
        }
        lines.reverse();
        let bytes = written(&whole);
        prop_assert_eq!(&written(&map(&lines)), &bytes);
        let (again, _, loaded) = read(bytes).expect("valid");
        prop_assert_eq!(listed(&again), listed(&whole));
        prop_assert_eq!(loaded, LoadedKeys { lines: model.len() as u64, ..LoadedKeys::default() });
        let mut text = String::new();
        whole.write_csv(|piece| { text.push_str(piece); Ok(()) }).expect("memory");
        let (again, _) = csv(text.as_bytes(), piece).expect("valid");
        prop_assert_eq!(listed(&again), listed(&whole));
    }

    #[test]
    fn any_bytes_are_csv_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300), piece in 1_usize..20) {
        _ = csv(&bytes, piece);
    }
}
