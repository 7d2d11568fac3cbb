//! Builds against maps in memory: content changes, combinations, damage, order, and failures.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::base::Code;
use crate::pipeline::graphics::{ComputeState, GraphicsState, VertexAttribute, VertexBuffer};
use crate::pipeline::keys::{KeyLine, KeyMapBuilder};
use crate::pipeline::recording::{FirstUse, Readiness, Recorder, Recording, RunInfo};
use crate::pipeline::stable::Expansion;
use crate::pipeline::{Description, Mask, PipelineKey, ShaderRef, Shipped, ShippedScan, UseData};
use crate::store::fault_io::FaultDisk;
use crate::store::io::share;
use crate::testing::allocator::{with_allowance, with_failure};

pub fn identity() -> Identity {
    Identity::new("game", "spirv", 3).expect("valid")
}

pub fn hash(number: u32) -> ShaderHash {
    let mut hash = ShaderHash::default();
    hash.0[..4].copy_from_slice(&number.to_le_bytes());
    hash
}

/// A pipeline of two shaders.
pub fn description(vertex: u32, fragment: u32) -> Description {
    let shaders = vec![ShaderRef { stage: 0, hash: hash(vertex) }, ShaderRef { stage: 4, hash: hash(fragment) }];
    Description { schema: Schema(7), state: vec![9; 3], shaders, ..Description::default() }
}

/// A map of shaders, stages and keys.
pub fn keys(lines: impl IntoIterator<Item = (u32, u32, String)>) -> KeyMap {
    let mut keys = KeyMapBuilder::default();
    for (number, stage, key) in lines {
        keys.add(&KeyLine { hash: hash(number), stage, key: &key }).expect("memory");
    }
    keys.finish().expect("memory")
}

/// The stable file of a run that used these pipelines.
pub fn stable(run: u8, pipelines: &[Description], keys: &KeyMap, api: u32) -> Vec<u8> {
    let disk = FaultDisk::default();
    disk.write(Path::new("/s/other"), b"");
    let io = share(disk.process()).expect("memory");
    let identity = Identity::new("game", "spirv", api).expect("valid");
    let info = RunInfo { identity, run: [run; 16], started: run.into(), ..RunInfo::default() };
    let mut recorder = Recorder::create(&io, Path::new("/s/r"), &info).expect("a new file");
    for (frame, pipeline) in pipelines.iter().enumerate() {
        let (key, mask) = (pipeline.borrow().key(), Mask::of_bits(run.into()));
        let first = FirstUse {
            key,
            description: pipeline.borrow(),
            mask,
            frame: frame as u64,
            build_us: 5,
            readiness: Readiness::Unknown,
        };
        recorder.record(&first).expect("space");
    }
    drop(recorder);
    let recording = Recording::open(&io, Path::new("/s/r")).expect("valid");
    let mut expansion = Expansion::like(&recording).expect("memory");
    expansion.add(&recording).expect("memory");
    expansion.finish(keys, &io, Path::new("/s/s")).expect("space");
    disk.read(Path::new("/s/s")).expect("written")
}

fn built(files: &[Vec<u8>], keys: &KeyMap, options: BuildOptions) -> Result<(Vec<u8>, BuildReport)> {
    let disk = FaultDisk::default();
    disk.write(Path::new("/b/other"), b"");
    let io = share(disk.process()).expect("memory");
    let mut build = Build::new(&identity(), "2.0", keys, options)?;
    for file in files {
        build.add(&StableFile::of_bytes(file.clone(), Path::new("x.hobstable")).expect("valid"))?;
    }
    let report = build.finish(&io, Path::new("/b/b"))?;
    Ok((disk.read(Path::new("/b/b")).expect("written"), report))
}

/// Masks, runs and times of a pipeline.
pub type Uses = (BTreeSet<u64>, u32, u64);

/// All pipelines of a cache.
pub fn listed(bytes: &[u8]) -> (BTreeMap<PipelineKey, Uses>, ShippedScan) {
    let file = Shipped::of_bytes(bytes.to_vec(), Path::new("x.hobpipe"), &identity()).expect("valid");
    let mut list = BTreeMap::new();
    let scan = file.for_each(|pipeline| {
        let UseData { masks, runs, times, .. } = pipeline.uses;
        let masks = masks.as_slice().iter().map(Mask::bits).collect();
        assert!(list.insert(pipeline.key, (masks, *runs, *times)).is_none());
        Ok(())
    });
    (list, scan.expect("memory"))
}

fn key_of(vertex: u32, fragment: u32) -> PipelineKey {
    description(vertex, fragment).borrow().key()
}

#[test]
fn pipelines_survive_edited_shaders_and_losses_are_listed() {
    const COUNT: u32 = 150;
    let pipelines: Vec<_> = (0..COUNT).map(|number| description(number, 1000 + number / 3)).collect();
    let line = |number, stage| (number, stage, format!("Material{number},Stage{stage}"));
    let vertices = |each: &dyn Fn(u32) -> Option<(u32, u32, String)>| (0..COUNT).filter_map(each).collect::<Vec<_>>();
    let fragments = || (1000..1000 + COUNT / 3).map(|number| line(number, 4));
    let old = keys(vertices(&|number| Some(line(number, 0))).into_iter().chain(fragments()));
    let file = stable(1, &pipelines, &old, 3);
    // Of every ten vertex shaders one is edited, one is renamed, and one is removed.
    let new = keys(
        vertices(&|number| match number % 10 {
            1 => Some((5000 + number, 0, format!("Material{number},Stage0"))),
            2 => Some((number, 0, format!("Renamed{number},Stage0"))),
            3 => None,
            _ => Some(line(number, 0)),
        })
        .into_iter()
        .chain(fragments()),
    );
    let (bytes, report) = built(&[file], &new, BuildOptions::default()).expect("pipelines");
    let survivors: BTreeSet<_> = (0..COUNT)
        .filter(|number| ![2, 3].contains(&(number % 10)))
        .map(|number| key_of(if number % 10 == 1 { 5000 + number } else { number }, 1000 + number / 3))
        .collect();
    assert_eq!(listed(&bytes).0.into_keys().collect::<BTreeSet<_>>(), survivors);
    let lost: BTreeSet<_> = report.rejected.first().iter().map(|rejected| rejected.key.clone()).collect();
    let wanted = (0..COUNT).filter(|number| [2, 3].contains(&(number % 10)));
    assert_eq!(lost, wanted.map(|number| format!("Material{number},Stage0")).collect());
    assert_eq!((report.stable, report.rejected.count(), report.total()), (150, 30, 120));
}

/// Six runs of one build see most of 5,200 pipelines: each visits five of six areas. Then every tenth shader changes, and
/// a play-through of the new build visits all areas.
#[test]
fn after_a_tenth_of_the_shaders_changed_first_uses_are_still_in_the_cache() {
    const VERTEX: u32 = 400;
    const FRAGMENT: u32 = 1000;
    let pairs: Vec<_> =
        (0..5_200_u32).map(|number| (number % VERTEX, (7 * number + number / VERTEX) % FRAGMENT)).collect();
    let area = |pair: &(u32, u32)| (pair.0 + pair.1) as u8 % 6;
    let changed = |shader: u32| shader.is_multiple_of(10);
    let vertex = |build: u32, shader| if changed(shader) { shader + 100_000 * build } else { shader };
    let fragment = |build: u32, shader| 50_000 + vertex(build, shader);
    let map = |build| {
        let vertices = (0..VERTEX).map(move |shader| (vertex(build, shader), 0, format!("Material{shader},Vertex")));
        keys(
            vertices.chain((0..FRAGMENT).map(|shader| (fragment(build, shader), 4, format!("Material{shader},Pixel")))),
        )
    };
    let (old, new) = (map(1), map(2));
    let files: Vec<_> = (0..6)
        .map(|run| {
            let seen = pairs.iter().filter(|pair| area(pair) != run);
            stable(
                run + 1,
                &seen.map(|&(one, other)| description(vertex(1, one), fragment(1, other))).collect::<Vec<_>>(),
                &old,
                3,
            )
        })
        .collect();
    let (bytes, report) = built(&files, &new, BuildOptions::default()).expect("pipelines");
    let cache = listed(&bytes).0;
    let mut uses = BTreeMap::new();
    for &(one, other) in &pairs {
        let key = key_of(vertex(2, one), fragment(2, other));
        uses.insert(key, changed(one) || changed(other));
    }
    let missed: Vec<_> = uses.iter().filter(|(key, _)| !cache.contains_key(key)).collect();
    assert!(uses.len() >= 5_000 && uses.values().filter(|&&is_changed| is_changed).count() >= 500);
    assert!(missed.len() <= 10 && missed.iter().all(|&(_, &is_changed)| is_changed), "{} misses", missed.len());
    assert_eq!((cache.len(), report.rejected.count()), (uses.len(), 0));
}

#[test]
fn stable_pipeline_becomes_each_combination_of_its_shaders() {
    let old = keys([(1, 0, "v".into()), (2, 4, "f".into())]);
    let file = stable(1, &[description(1, 2)], &old, 3);
    let new = keys([10, 11, 12].map(|number| (number, 0, "v".into())).into_iter().chain([
        (20, 4, "f".into()),
        (21, 4, "f".into()),
        (22, 3, "f".into()),
    ]));
    let (bytes, report) = built(std::slice::from_ref(&file), &new, BuildOptions::default()).expect("pipelines");
    let wanted = [10, 11, 12].into_iter().flat_map(|vertex| [20, 21].map(|fragment| key_of(vertex, fragment)));
    assert_eq!(listed(&bytes).0.into_keys().collect::<BTreeSet<_>>(), wanted.collect());
    assert_eq!((report.merged, report.cut), (6, 0));
    let few = BuildOptions { combinations: 4, ..BuildOptions::default() };
    let (_, report) = built(&[file], &new, few).expect("pipelines");
    assert_eq!((report.total(), report.cut), (4, 1));
    assert!(report.log().expect("memory").contains("1 stable pipelines have more combinations"));
}

#[test]
fn masks_are_kept_apart_and_files_that_repeat_count_once() {
    let map = keys([(1, 0, "v".into()), (2, 4, "f".into())]);
    let files = [1, 2, 4].map(|run| stable(run, &[description(1, 2)], &map, 3));
    let (bytes, report) = built(&files, &map, BuildOptions::default()).expect("a pipeline");
    assert_eq!(listed(&bytes).0[&key_of(1, 2)], (BTreeSet::from([1, 2, 4]), 3, 3));
    assert_eq!((report.mask_union.bits(), report.files, report.repeated), (7, 3, 0));
    let [a, b, c] = files;
    let (again, report) = built(&[c.clone(), a, b, c], &map, BuildOptions::default()).expect("a pipeline");
    assert_eq!((again, report.repeated), (bytes, 1));
}

#[test]
fn compute_shaders_of_the_key_map_are_added_with_all_masks() {
    let lines = [(1, 0, "v"), (2, 4, "f"), (3, COMPUTE, "c"), (4, COMPUTE, "d"), (4, COMPUTE, "e")];
    let map = keys(lines.map(|(number, stage, key)| (number, stage, key.into())));
    let compute = Description {
        kind: PipelineKind::Compute,
        schema: Schema(7),
        state: vec![1],
        shaders: vec![ShaderRef { stage: COMPUTE, hash: hash(3) }],
    };
    let file = stable(1, &[description(1, 2), compute], &map, 3);
    let (bytes, report) = built(&[file], &map, BuildOptions::default()).expect("pipelines");
    assert_eq!((report.written, report.added_compute), ([1, 2, 0], 1));
    let masks: Vec<_> = listed(&bytes).0.into_values().map(|(masks, ..)| masks).collect();
    assert_eq!(masks.iter().filter(|masks| masks.contains(&u64::MAX)).count(), 1);
    let (_, alone) = built(&[], &map, BuildOptions::default()).expect("no recording is no error");
    assert_eq!((alone.written, alone.is_compute_only), ([0, 2, 0], true));
    assert!(alone.log().expect("memory").contains("compute pipelines only"));
    let none = BuildOptions { adds_compute: false, ..BuildOptions::default() };
    assert_eq!(built(&[], &map, none).expect("no recording is no error").1.total(), 0);
}

#[test]
fn build_without_graphics_pipelines_is_an_error_if_files_were_given() {
    let map = keys([(1, 0, "v".into()), (2, 4, "f".into())]);
    let renamed = keys([(1, 0, "w".into()), (2, 4, "f".into())]);
    let file = stable(1, &[description(1, 2)], &map, 3);
    for (file, keys) in [(file, &renamed), (stable(1, &[description(1, 2)], &map, 5), &map)] {
        let why = built(&[file], keys, BuildOptions::default()).map(|_| ()).expect_err("no pipeline");
        assert_eq!(why.code(), Code::NotFound);
        assert!(why.sentence().contains("no graphics pipeline could be built"), "{why}");
    }
}

#[test]
fn skipped_stable_files_are_listed_with_both_sides() {
    let map = keys([(1, 0, "v".into()), (2, 4, "f".into())]);
    let files = [3, 5].map(|api| stable(1, &[description(1, 2)], &map, api));
    let (_, report) = built(&files, &map, BuildOptions::default()).expect("a pipeline");
    let [Skipped { reason, .. }] = &report.skipped[..] else { panic!("{report:?}") };
    assert!(reason.contains('5') && reason.contains('3') && reason.contains("x.hobstable"), "{reason}");
    assert!(report.log().expect("memory").contains(reason.as_str()));
}

#[test]
fn cache_of_another_game_format_or_api_is_refused_with_both_names() {
    let map = keys([(1, 0, "v".into()), (2, 4, "f".into())]);
    let (bytes, _) = built(&[stable(1, &[description(1, 2)], &map, 3)], &map, BuildOptions::default()).expect("valid");
    for (project, format, api, shown) in
        [("other", "spirv", 3, "'other'"), ("game", "sm6", 3, "'sm6'"), ("game", "spirv", 7, "7")]
    {
        let wanted = Identity::new(project, format, api).expect("valid");
        let why = Shipped::of_bytes(bytes.clone(), Path::new("x"), &wanted).map(|_| ()).expect_err("another");
        assert_eq!(why.code(), Code::Unsupported);
        assert!(why.sentence().contains(shown) && why.sentence().contains("'x'"), "{why}");
    }
}

#[test]
fn guid_changes_with_the_contents_alone() {
    let map = keys([(1, 0, "v".into()), (2, 4, "f".into()), (3, 4, "g".into())]);
    let guid = |pipelines: &[Description], run| {
        let file = stable(run, pipelines, &map, 3);
        built(&[file], &map, BuildOptions::default()).expect("pipelines").1.guid
    };
    let one = guid(&[description(1, 2)], 1);
    assert_eq!(one, guid(&[description(1, 2)], 1));
    assert_ne!(one, guid(&[description(1, 3)], 1));
    assert_ne!(one, guid(&[description(1, 2)], 2));
}

#[test]
fn damage_costs_single_pipelines_and_is_counted() {
    let map = keys([(1, 0, "v".into()), (2, 4, "f".into()), (3, 4, "g".into())]);
    let file = stable(1, &[description(1, 2), description(1, 3)], &map, 3);
    let (bytes, _) = built(&[file], &map, BuildOptions::default()).expect("pipelines");
    let whole = listed(&bytes);
    assert_eq!(whole.1, ShippedScan { entries: 2, ..ShippedScan::default() });
    for bit in 0..8 * bytes.len() {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let (found, scan) = listed(&flipped);
        assert!(found.iter().all(|(key, uses)| whole.0.get(key) == Some(uses)), "bit {bit}");
        assert!(!found.is_empty() && scan.missing == 2 - scan.entries, "bit {bit}");
    }
    for length in 0..bytes.len() {
        if let Ok(file) = Shipped::of_bytes(bytes[..length].to_vec(), Path::new("x"), &identity()) {
            let scan = file.for_each(|_| Ok(())).expect("memory");
            assert_eq!(scan.entries + scan.missing, 2);
        }
    }
}

#[test]
fn failed_build_keeps_the_old_file() {
    let map = keys([(1, 0, "v".into()), (2, 4, "f".into())]);
    let file = stable(1, &[description(1, 2)], &map, 3);
    for calls in 0..6 {
        let disk = FaultDisk::default();
        disk.write(Path::new("/b/b"), b"old");
        let process = disk.process();
        process.plan(|plan| plan.calls_to_error = Some(calls));
        let io = share(process).expect("memory");
        let mut build = Build::new(&identity(), "2.0", &map, BuildOptions::default()).expect("memory");
        build.add(&StableFile::of_bytes(file.clone(), Path::new("x")).expect("valid")).expect("memory");
        let done = build.finish(&io, Path::new("/b/b"));
        let found = disk.read(Path::new("/b/b")).expect("there");
        assert!(found == b"old" || listed(&found).1.entries == 1);
        assert!(done.is_err() || found != b"old");
    }
}

#[test]
fn failed_allocation_of_a_build_is_a_result() {
    let path = std::env::temp_dir().join(format!("hobgoblin-build-{}.hobpipe", std::process::id()));
    let io = share(crate::store::io::OsIo).expect("memory");
    let map = keys([(1, 0, "v".into()), (5, 0, "v".into()), (2, 4, "f".into()), (3, COMPUTE, "c".into())]);
    let bytes = stable(1, &[description(1, 2)], &map, 3);
    let (identity, input) = (identity(), path.with_extension("hobstable"));
    std::fs::write(&input, bytes).expect("space");
    let work = || {
        let mut build = Build::new(&identity, "2.0", &map, BuildOptions::default())?;
        build.add(&StableFile::open(&io, &input)?)?;
        let report = build.finish(&io, &path)?;
        report.log()?;
        let mut count = 0;
        Shipped::open(&io, &path, &identity)?.for_each(|_| {
            count += 1;
            Ok(())
        })?;
        Ok::<_, crate::base::Error>(count)
    };
    for allowed in 0.. {
        let failed = with_failure(allowed, work);
        let starved = with_allowance(allowed, work);
        for done in [&failed, &starved] {
            assert!(
                matches!(done, Ok(3)) || done.as_ref().is_err_and(|why| why.code() == Code::OutOfMemory),
                "{done:?}"
            );
        }
        if starved.is_ok() {
            break;
        }
    }
    let _ = (std::fs::remove_file(&path), std::fs::remove_file(&input));
}

/// A pipeline of the library's schema. Each attribute has a location and a format. `layout` tells pipelines apart.
pub fn own(vertex: u32, layout: u64, attributes: &[(u32, u32)]) -> Description {
    let state = GraphicsState {
        layout,
        vertex_buffers: vec![VertexBuffer { slot: 0, stride: 32, step_rate: 0 }],
        attributes: attributes
            .iter()
            .map(|&(location, format)| VertexAttribute { location, format, ..VertexAttribute::default() })
            .collect(),
        ..GraphicsState::default()
    };
    Description { schema: Schema::OWN, state: state.encode().expect("valid"), ..description(vertex, 1000) }
}

/// A map of the vertex shaders 0 to 7, a fragment shader and a compute shader.
fn shared_keys() -> KeyMap {
    let vertices = (0..8).map(|number| (number, 0, format!("Material{number},Vertex")));
    keys(vertices.chain([(1000, 4, "Pixel".into()), (2000, COMPUTE, "Cull".into())]))
}

#[test]
fn sanitising_filters_and_counts_pipelines_by_rule() {
    let map = shared_keys();
    let (mesh, other) = ([(0, 106), (1, 103)], [(0, 106)]);
    let kept = [
        // The majority decides, although the other format comes first.
        own(1, 2, &mesh),
        own(1, 3, &mesh),
        // A tie of pipelines is decided by uses: below, these are used twice.
        own(3, 1, &other),
        // Attributes in another order are the same format.
        own(4, 1, &mesh),
        own(4, 2, &[mesh[1], mesh[0]]),
        // A shader that never has attributes.
        own(5, 1, &[]),
        // The library cannot read it.
        description(6, 1000),
    ];
    let invalid = Description { schema: Schema::OWN, ..description(7, 1000) };
    let dropped = [own(1, 1, &other), own(2, 1, &[]), own(2, 3, &[]), own(3, 1, &mesh), invalid];
    let fitting = own(2, 2, &mesh);
    let mut all = dropped.to_vec();
    all.extend(kept.iter().cloned().chain([fitting.clone()]));
    let files = [stable(1, &all, &map, 3), stable(2, &[own(3, 1, &other)], &map, 3)];
    let (bytes, report) = built(&files, &map, BuildOptions::default()).expect("pipelines");
    let mut wanted: BTreeSet<_> = kept.iter().chain([&fitting]).map(|one| one.borrow().key()).collect();
    let listed_keys: BTreeSet<_> = listed(&bytes).0.into_keys().collect();
    let added: Vec<_> = listed_keys.difference(&wanted).copied().collect();
    assert_eq!(added.len(), 1, "the compute pipeline of the key map");
    wanted.extend(added);
    assert_eq!(listed_keys, wanted);
    let counts = Sanitised {
        inconsistent_shaders: 2,
        before: 14,
        inconsistent: 2,
        empty: 2,
        invalid: 1,
        unchecked: 1,
        ..Sanitised::default()
    };
    assert_eq!((report.sanitised, counts.after(), report.total()), (Some(counts), 9, 9));
    let log = report.log().expect("memory");
    let golden = "10 unique shader keys\n\
        2 stable files, 0 repeated, 0 truncated; 0 damaged records\n\
        14 stable pipelines loaded, 0 rejected, 14 merged\n\
        re-deduplicated into 13 binary pipelines [usage mask merged = 3]\n\
        added 1 compute pipelines of the key map\n\
        2 vertex shaders are used with an inconsistent vertex format\n\
        before sanitising 14\n\
        filtered out: inconsistent vertex declaration 2\n\
        filtered out: incompatible with an empty declaration 2\n\
        filtered out: invalid state 1\n\
        not checked: state in a schema of the host 1\n\
        after sanitising 9\n\
        wrote 9 binary pipelines (graphics 8, compute 1, ray tracing 0), ";
    let size = format!("{} KB\n", bytes.len().div_ceil(1024));
    assert_eq!(log, format!("{golden}{size}"));

    let off = BuildOptions { sanitises: false, ..BuildOptions::default() };
    let (_, report) = built(&files, &map, off).expect("pipelines");
    assert_eq!((report.sanitised, report.total()), (None, 14));
    assert!(report.log().expect("memory").contains("sanitising was switched off"));
}

#[test]
fn vertex_formats_that_tie_are_kept_and_counted() {
    let map = shared_keys();
    let (one, other) = ([(0, 106)], [(0, 103)]);
    // Two pipelines of each format, used once each; and one without attributes, which neither format fits.
    let all = [own(1, 1, &one), own(1, 2, &one), own(1, 3, &other), own(1, 4, &other), own(1, 5, &[])];
    let tie = stable(1, &all, &map, 3);
    let (bytes, report) = built(std::slice::from_ref(&tie), &map, BuildOptions::default()).expect("pipelines");
    let counts = report.sanitised.expect("it is on");
    assert_eq!((counts.inconsistent_shaders, counts.undecided_shaders), (1, 1));
    assert_eq!((counts.inconsistent, counts.empty), (0, 1));
    let listed = listed(&bytes).0;
    assert!(all[..4].iter().all(|one| listed.contains_key(&one.borrow().key())));
    let log = report.log().expect("memory");
    assert!(log.contains("kept: 1 of them have two formats with as many pipelines and uses each"), "{log}");
    // One more use decides.
    let more = stable(2, &[own(1, 3, &other)], &map, 3);
    let (_, report) = built(&[tie, more], &map, BuildOptions::default()).expect("pipelines");
    let counts = report.sanitised.expect("it is on");
    assert_eq!((counts.inconsistent_shaders, counts.undecided_shaders, counts.inconsistent), (1, 0, 2));
}

#[test]
fn build_with_all_graphics_pipelines_filtered_out_is_an_error() {
    let invalid = Description { schema: Schema::OWN, ..description(1, 1000) };
    let map = shared_keys();
    let why = built(&[stable(1, &[invalid], &map, 3)], &map, BuildOptions::default()).map(|_| ()).expect_err("invalid");
    assert!(why.code() == Code::NotFound && why.sentence().contains("1 were filtered out"), "{why}");
}

#[test]
fn added_compute_pipelines_have_a_state_that_the_library_reads() {
    let map = shared_keys();
    let (bytes, _) = built(&[], &map, BuildOptions::default()).expect("no recording is no error");
    let file = Shipped::of_bytes(bytes, Path::new("x.hobpipe"), &identity()).expect("valid");
    let read = file.for_each(|pipeline| {
        assert_eq!(ComputeState::decode(pipeline.description.state)?, ComputeState::default());
        Ok(())
    });
    assert_eq!(read.expect("valid").entries, 1);
    let hosts = BuildOptions { compute_schema: Schema(9), ..BuildOptions::default() };
    let (bytes, _) = built(&[], &map, hosts).expect("no recording is no error");
    let file = Shipped::of_bytes(bytes, Path::new("x.hobpipe"), &identity()).expect("valid");
    file.for_each(|pipeline| {
        assert!(pipeline.description.state.is_empty() && pipeline.description.schema == Schema(9));
        Ok(())
    })
    .expect("valid");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::testing::scaled(24)))]
    #[test]
    fn build_is_that_of_a_map_in_any_order(
        runs in prop::collection::vec(prop::collection::btree_set((0_u32..8, 0_u32..4), 0..12), 1..5),
        new in prop::collection::btree_set((0_u32..16, 0_u32..8), 1..20),
        turn in 0_usize..5,
    ) {
        let old = keys((0..8).map(|at| (at, 0, format!("v{at}"))).chain((0..4).map(|at| (100 + at, 4, format!("f{at}")))));
        // Vertex shaders have other hashes now, and some keys have several or none.
        let map = keys(new.iter().map(|&(hash, key)| (200 + hash, 0, format!("v{key}")))
            .chain((0..4).map(|at| (100 + at, 4, format!("f{at}")))));
        let mut model: BTreeMap<PipelineKey, Uses> = BTreeMap::new();
        let mut lost = BTreeSet::new();
        for (run, pipelines) in (1..).zip(&runs) {
            for &(vertex, fragment) in pipelines {
                let hashes: Vec<_> = new.iter().filter(|line| line.1 == vertex).map(|line| 200 + line.0).collect();
                if hashes.is_empty() {
                    lost.insert((vertex, fragment));
                }
                for hash in hashes {
                    let entry = model.entry(key_of(hash, 100 + fragment)).or_default();
                    entry.0.insert(run);
                    entry.1 += 1;
                    entry.2 += 1;
                }
            }
        }
        let mut files: Vec<_> = (1..).zip(&runs).map(|(run, pipelines)| {
            let all: Vec<_> = pipelines.iter().map(|&(vertex, fragment)| description(vertex, 100 + fragment)).collect();
            stable(run, &all, &old, 3)
        }).collect();
        let result = built(&files, &map, BuildOptions::default());
        if model.is_empty() {
            prop_assert!(result.is_err());
            return Ok(());
        }
        let (bytes, report) = result.expect("pipelines");
        let scan = ShippedScan { entries: model.len() as u64, ..ShippedScan::default() };
        prop_assert_eq!(listed(&bytes), (model, scan));
        prop_assert_eq!(report.rejected.count(), lost.len() as u64);
        let count = files.len();
        files.rotate_left(turn % count);
        prop_assert_eq!(built(&files, &map, BuildOptions::default()).expect("as before").0, bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::testing::scaled(24)))]
    #[test]
    fn sanitising_does_not_depend_on_the_order_of_files(
        runs in prop::collection::vec(prop::collection::btree_set((0_u32..4, 0_u64..3, 0_usize..4), 0..10), 1..5),
        turn in any::<prop::sample::Index>(),
    ) {
        const FORMATS: [&[(u32, u32)]; 4] = [&[], &[(0, 1)], &[(0, 2)], &[(0, 1), (1, 1)]];
        let map = shared_keys();
        let mut files: Vec<_> = (1..).zip(&runs).map(|(run, pipelines)| {
            let all: Vec<_> = pipelines.iter().map(|&(vertex, layout, format)| own(vertex, layout, FORMATS[format])).collect();
            stable(run, &all, &map, 3)
        }).collect();
        let Ok((bytes, report)) = built(&files, &map, BuildOptions::default()) else {
            prop_assert!(runs.iter().all(BTreeSet::is_empty));
            return Ok(());
        };
        let all: BTreeSet<_> = runs.iter().flatten().collect();
        let counts = report.sanitised.expect("it is on");
        prop_assert_eq!(counts.before - 1, all.len() as u64);
        prop_assert_eq!(counts.after(), report.total());
        // Each vertex shader keeps one format, unless formats tie.
        let file = Shipped::of_bytes(bytes.clone(), Path::new("x"), &identity()).expect("valid");
        let mut formats: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        file.for_each(|pipeline| {
            if pipeline.description.kind == PipelineKind::Graphics {
                let state = GraphicsState::decode(pipeline.description.state)?;
                let format: Vec<_> = state.attributes.iter().map(|one| (one.location, one.format)).collect();
                formats.entry(pipeline.description.shaders[0].hash).or_default().insert(format);
            }
            Ok(())
        }).expect("valid");
        let several = formats.values().filter(|formats| formats.len() > 1).count() as u64;
        prop_assert_eq!(several, counts.undecided_shaders);
        let mixed = formats.values().any(|formats| formats.len() > 1 && formats.contains(&Vec::new()));
        prop_assert!(!mixed, "a shader with a format elsewhere keeps no empty declaration");
        prop_assert_eq!(formats.len(), all.iter().map(|one| one.0).collect::<BTreeSet<_>>().len());
        let count = files.len();
        files.rotate_left(turn.index(count));
        prop_assert_eq!(built(&files, &map, BuildOptions::default()).expect("as before").0, bytes);
    }
}

/// The files that a build machine made must stay readable. `UPDATE=1` rewrites them after an intended change of the
/// format; `cpp_tests/api` opens the built one, too.
#[test]
fn stable_and_built_files_match_the_golden_ones() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pipeline");
    let map =
        keys([(1, 0, "Rock,Static,Vertex".into()), (2, 4, "Rock,Static,Pixel".into()), (3, 4, "Sky,Pixel".into())]);
    let stable = stable(1, &[description(1, 2), description(1, 3)], &map, 3);
    let (built, report) = built(std::slice::from_ref(&stable), &map, BuildOptions::default()).expect("two pipelines");
    assert_eq!(report.total(), 2);
    for (name, bytes) in [("run.hobstable", stable), ("game.stable.hobpipe", built)] {
        let path = folder.join(name);
        if std::env::var_os("UPDATE").is_some() {
            std::fs::create_dir_all(&folder).expect("the folder can be made");
            std::fs::write(&path, &bytes).expect("the file can be written");
        }
        assert_eq!(std::fs::read(&path).expect("the file is checked in"), bytes, "{name}");
    }
}

#[test]
fn recordings_of_compute_alone_become_a_cache() {
    let compute = Description {
        kind: PipelineKind::Compute,
        schema: Schema(7),
        state: vec![1],
        shaders: vec![ShaderRef { stage: COMPUTE, hash: hash(3) }],
    };
    let map = keys([(3, COMPUTE, "c".into())]);
    let file = stable(1, std::slice::from_ref(&compute), &map, 3);
    let (bytes, report) = built(std::slice::from_ref(&file), &map, BuildOptions::default()).expect("a pipeline");
    assert_eq!((report.written, report.added_compute), ([0, 1, 0], 0));
    assert_eq!(listed(&bytes).0.into_keys().collect::<Vec<_>>(), [compute.borrow().key()]);
    // Nothing of the recording is in this build: an added pipeline does not hide that.
    let other = keys([(4, COMPUTE, "d".into())]);
    let why = built(&[file], &other, BuildOptions::default()).expect_err("no shader of the recording");
    assert_eq!(why.code(), Code::NotFound);
    let why = built(&[stable(1, &[], &map, 3)], &map, BuildOptions::default()).expect_err("an empty recording");
    assert!(why.sentence().contains("record again"), "{why}");
    let why = built(&[stable(1, &[compute], &map, 5)], &map, BuildOptions::default()).expect_err("another API");
    assert!(why.sentence().contains("skipped") && why.sentence().contains("graphics API 5"), "{why}");
}
