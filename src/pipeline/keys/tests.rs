//! Key maps against a set in memory, as files and as CSV.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;
use crate::base::Code;
use crate::store::fault_io::FaultDisk;
use crate::store::io::{SharedIo, share};
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
    let needed = 32 * map.len() + map.texts.texts.bytes.len() + 12 * map.texts.texts.len();
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
        (format!("{hash},13,a\n{hash},14,a\n"), "line 2"),
        (format!("{hash},64,a\n{hash},63,a\n"), "line 2"),
        (format!("{hash},+5,a\n"), "line 1"),
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
            // All lines are there if only the index is cut.
            assert!(loaded.is_truncated || loaded.lines == info.lines, "{length} bytes");
            assert!(!loaded.is_truncated || length < bytes.len(), "{length} bytes");
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

/// Files of a disk, and their paths.
fn files(maps: &[Vec<u8>]) -> (SharedIo, Vec<PathBuf>) {
    let disk = FaultDisk::default();
    let paths: Vec<PathBuf> = (0..maps.len()).map(|number| format!("/k/{number}.hobkeys").into()).collect();
    paths.iter().zip(maps).for_each(|(path, bytes)| disk.write(path, bytes));
    (share(disk.process()).expect("memory"), paths)
}

#[test]
fn wanted_lines_of_a_damaged_file_are_refused() {
    let lines = some_lines(3000);
    let good = written(&map(&lines));
    let load = |bytes: &[u8]| {
        let (io, paths) = files(&[written(&map(&some_lines(50))), bytes.to_vec()]);
        let mut wanted = Wanted::default();
        wanted.add_stage(1);
        KeyMap::load_wanted(&io, &paths, wanted).map(|map| map.total())
    };
    assert_eq!(load(&good).expect("it is whole"), map(&lines).len() as u64);
    for damage in 0..40 {
        let mut bytes = good.clone();
        match damage {
            // The heads are twice in the file.
            0..20 => bytes[HEAD_END + damage * (good.len() - HEAD_END) / 20 + 90] ^= 1,
            _ => bytes.truncate(good.len() * (damage - 19) / 21),
        }
        let why = load(&bytes).expect_err("it is damaged");
        assert_eq!(why.code(), Code::Malformed, "{damage}: {why}");
        assert!(why.sentence().contains("1.hobkeys"), "{damage}: {why}");
    }
}

#[test]
fn blocks_without_a_wanted_line_are_skipped() {
    // Stage 2 has the last keys, and several blocks come before.
    let lines: Vec<_> = (0..20_000_u32)
        .map(|number| {
            let hash = std::array::from_fn(|byte| (number >> (8 * (byte % 4))) as u8);
            (hash, number / 19_000 * 2, format!("Material{:05}", number / 3))
        })
        .collect();
    let good = written(&map(&lines));
    let mut damaged = good.clone();
    damaged[good.len() / 3] ^= 1;
    let load = |maps: &[Vec<u8>], key: Option<&str>, stage| {
        let (io, paths) = files(maps);
        let mut wanted = Wanted::default();
        key.into_iter().for_each(|key| wanted.add_key(key).expect("memory"));
        wanted.add_stage(stage);
        KeyMap::load_wanted(&io, &paths, wanted).map(|map| (map.total(), map.len(), map.file_lines().to_vec()))
    };
    let other = written(&map(&some_lines(300)));
    let both = map(&[lines.clone(), some_lines(300)].concat()).len() as u64;
    for bytes in [&good, &damaged] {
        let found = load(&[bytes.clone(), other.clone()], Some("Material06600"), 7).expect("its block is whole");
        assert_eq!(found, (both, 3, vec![20_000, 300]));
        assert_eq!(load(std::slice::from_ref(bytes), None, 2).expect("their blocks are whole").1, 1000);
        let of_all = load(std::slice::from_ref(bytes), None, 0).map_err(|why| why.code());
        assert_eq!(of_all.is_ok(), bytes == &good, "{of_all:?}");
    }
    // Without the index, all blocks are read.
    let end = good.len() as u64 - crate::store::record_bytes(8);
    let mut cut = good.clone();
    cut[end as usize + 82] ^= 1;
    assert!(load(&[cut], Some("Material06600"), 7).is_err(), "a damaged record is noticed");
}

/// After the heads of a file and the two records that describe it.
const HEAD_END: usize = 64 + 2 * 96;

#[test]
fn lines_without_order_are_refused() {
    let text = |number: u32| format!("Material{number}");
    let lines: Vec<_> = (0..9).map(|number| ([number as u8; 20], 0, text(number))).collect();
    let good = map(&lines);
    // A file whose writer did not sort it. Its checks are right.
    let order = good.order.iter().rev().copied().collect();
    let bad = KeyMap { order, lines: good.lines.iter().rev().copied().collect(), ..map(&lines) };
    for (map, is_good) in [(&good, true), (&bad, false)] {
        let (io, paths) = files(&[written(map)]);
        let loaded = KeyMap::load_wanted(&io, &paths, Wanted::default());
        assert_eq!(loaded.map(|map| map.total()).ok(), is_good.then_some(9));
    }
}

proptest! {
    /// Several maps with common lines, read as one. The even keys and shaders are wanted.
    #[test]
    fn wanted_lines_are_those_of_the_whole_map(
        maps in prop::collection::vec(prop::collection::vec((0..60_u32, 0..60_u8, 0..4_usize), 0..400), 0..5),
    ) {
        let key = |number: u32| format!("Material{},{}", number / 3, "x".repeat(number as usize));
        let shader = |number: u8| std::array::from_fn(|byte| if byte == 0 { number } else { 7 });
        let line = |&(text, hash, stage): &(u32, u8, usize)| (shader(hash), [0, 4, 5, NO_STAGE][stage], key(text));
        let bytes: Vec<_> = maps.iter().map(|lines| written(&map(&lines.iter().map(line).collect::<Vec<_>>()))).collect();
        let (io, paths) = files(&bytes);
        let all = KeyMap::load(&io, &paths).expect("whole");
        let (mut keys, mut shaders) = (Wanted::default(), Wanted::default());
        keys.add_stage(5);
        for number in (0..60).step_by(2) {
            keys.add_key(&key(number)).expect("memory");
            shaders.add_shader(ShaderHash(shader(number as u8))).expect("memory");
        }
        let by_key = KeyMap::load_wanted(&io, &paths, keys).expect("whole");
        let by_shader = KeyMap::load_wanted(&io, &paths, shaders).expect("whole");
        prop_assert_eq!((by_key.total(), by_shader.total()), (all.len() as u64, all.len() as u64));
        prop_assert_eq!(by_key.file_lines(), all.file_lines());
        let is_wanted_key = |line: &KeyLine<'_>| (0..60).step_by(2).any(|number| key(number) == line.key);
        let wanted: Vec<_> = all.lines().filter(|line| line.stage == 5 || is_wanted_key(line)).collect();
        prop_assert!(by_key.lines().eq(wanted));
        let wanted: Vec<_> = all.lines().filter(|line| line.hash.0[0] % 2 == 0).collect();
        prop_assert!(by_shader.lines().eq(wanted));
        for number in (0..60).step_by(2) {
            let hash = ShaderHash(shader(number as u8));
            prop_assert!(by_key.shaders_of(&key(number)).eq(all.shaders_of(&key(number))));
            prop_assert!(by_shader.keys_of(hash).eq(all.keys_of(hash)));
        }
    }
}

#[test]
fn map_of_wanted_lines_fails_without_memory_and_changes_nothing() {
    let (io, paths) = files(&[written(&map(&some_lines(40))), written(&map(&some_lines(90)))]);
    let key = &some_lines(1)[0].2;
    let load = || {
        let mut wanted = Wanted::default();
        wanted.add_key(key)?;
        wanted.add_stage(1);
        KeyMap::load_wanted(&io, &paths, wanted).map(|map| map.len())
    };
    let count = load().expect("memory");
    for allowed in 0.. {
        let failed = with_failure(allowed, load);
        let starved = with_allowance(allowed, load);
        for done in [&failed, &starved] {
            assert!(done.as_ref().map_or_else(|why| why.code() == Code::OutOfMemory, |found| *found == count));
        }
        if starved.is_ok() {
            assert!(allowed > 10);
            break;
        }
    }
}
