//! Golden names from `tools/check_fingerprints.py`, which does not use this library, and inputs whose names must
//! differ.

use proptest::prelude::*;

use super::*;
use crate::base::{Code, Result};

const VERTEX: &[u8] = b"attribute vec4 a;void main(){gl_Position=a;}";
const FRAGMENT: &[u8] = b"void main(){gl_FragColor=vec4(1.0);}";
const STAGES: [Stage<'_>; 2] =
    [Stage { stage: Stage::VERTEX, source: VERTEX }, Stage { stage: Stage::FRAGMENT, source: FRAGMENT }];
const BINDINGS: [Attribute<'_>; 2] =
    [Attribute { name: "uv", location: 1 }, Attribute { name: "position", location: 0 }];
const PLAIN: Program<'_> = Program {
    stages: &STAGES,
    attributes: &[],
    defines: &[],
    feedback: Feedback { mode: 0, varyings: &[] },
    extra: &[],
};
const FULL: Program<'_> = Program {
    stages: &STAGES,
    attributes: &BINDINGS,
    defines: b"FOG 1\n",
    feedback: Feedback { mode: 0x8C8C, varyings: &["out_position", "out_normal"] },
    extra: &[1],
};

fn name(mode: Mode, of: &Program<'_>) -> Result<String> {
    Ok(program(mode, of, &mut |_| ())?.to_string())
}

fn blake3_of(of: &Program<'_>) -> String {
    name(Mode::Blake3, of).unwrap()
}

fn parts(mode: Mode, of: &Program<'_>) -> Vec<Part> {
    let mut parts = Vec::new();
    program(mode, of, &mut |part| parts.push(part)).unwrap();
    parts
}

fn long() -> Vec<u8> {
    (0..5000).map(|n| (n % 251) as u8).collect()
}

#[test]
fn program_names_match_the_document() {
    let hex = |bytes| Fingerprint::of(bytes).to_string();
    assert_eq!(hex(b""), "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
    assert_eq!(hex(&long()), "ee78d92070de3df1c57c37002abf0a6b1a6589acdeef4d8ffac7cf3d9e8f2836");
    assert_eq!(blake3_of(&PLAIN), "21683c421ac2cc55b1dacb9eb47ac8dd03ec68f48f03340e91f0320451ec8676");
    assert_eq!(blake3_of(&FULL), "8f5e2887e5098565cdebff1b7c271f4ff3e1a56e48878c3d5e274f78eb90d61c");
    let long = long();
    let of_long = Program { stages: &[Stage { stage: 0, source: &long }], ..PLAIN };
    assert_eq!(blake3_of(&of_long), "47d69866a924818b608b96ef0ea89d371df5f0f786326df496463309cdf8de7f");
}

#[test]
fn shader_names_match_the_document() {
    let digest = "ea8647c61bf8f15bf548f5d1400339b645366a3d78655799eda4d5b712ce99e0";
    assert_eq!(shader(Stage::FRAGMENT, FRAGMENT).to_string(), digest);
    assert_ne!(shader(Stage::VERTEX, FRAGMENT).to_string(), digest);
}

#[test]
fn sha_1_names_match_the_document() {
    let plain = name(Mode::Sha1, &PLAIN).unwrap();
    assert_eq!(plain, "73637e051365faa8d18861b01b6fd2dbcb915265000000000000000000000000");
    let bound = Program { attributes: &BINDINGS, ..PLAIN };
    let bound = name(Mode::Sha1, &bound).unwrap();
    assert_eq!(bound, "c30522a7687297c02b6d8f448607393ecd42804f000000000000000000000000");
}

#[test]
fn sha_1_accepts_either_stage_order_and_rejects_unsupported_inputs() {
    let turned = Program { stages: &[STAGES[1], STAGES[0]], ..PLAIN };
    assert_eq!(name(Mode::Sha1, &turned).unwrap(), name(Mode::Sha1, &PLAIN).unwrap());
    let refused = [
        Program { stages: &STAGES[..1], ..PLAIN },
        Program { stages: &[STAGES[0], STAGES[0]], ..PLAIN },
        Program { stages: &[STAGES[0], STAGES[1], STAGES[1]], ..PLAIN },
        Program { stages: &[STAGES[0], Stage { stage: 5, source: b"" }], ..PLAIN },
        Program { defines: b"x", ..PLAIN },
        Program { extra: b"x", ..PLAIN },
        Program { feedback: Feedback { mode: 1, varyings: &[] }, ..PLAIN },
        Program { feedback: Feedback { mode: 0, varyings: &["v"] }, ..PLAIN },
    ];
    for program in refused {
        assert_eq!(name(Mode::Sha1, &program).unwrap_err().code(), Code::Unsupported, "{program:?}");
        assert!(name(Mode::Blake3, &program).is_ok());
    }
}

#[test]
fn environment_ids_match_the_document() {
    let number = |environment: &Environment<'_>| {
        let mut kinds = Vec::new();
        let id = environment.id(&mut |part| kinds.push(part.kind));
        // As in `docs/formats.md`: the most significant byte first.
        (format!("{id:016x}"), kinds)
    };
    assert_eq!(number(&Environment::default()), ("7c2c23b0d77849a2".to_owned(), vec![]));
    let pointers = Environment { pointer_size: 8, ..Environment::default() };
    assert_eq!(number(&pointers), ("829f84942c9f9f00".to_owned(), vec![4]));
    let full = Environment {
        api: 3,
        vendor_id: 0x10005,
        device_id: 1,
        pointer_size: 8,
        driver_version: 0x500_0001,
        device_uuid: std::array::from_fn(|n| n as u8),
        driver_uuid: std::array::from_fn(|n| 16 + n as u8),
        vendor: "Mesa",
        device: "llvmpipe",
        driver: "25.0.7",
        build: "build 7",
    };
    assert_eq!(number(&full), ("8d4b17e26a2620a5".to_owned(), (1..=11).collect()));
    let changed = [
        Environment { api: 2, ..full },
        Environment { vendor_id: 1, ..full },
        Environment { device_id: 2, ..full },
        Environment { pointer_size: 4, ..full },
        Environment { driver_version: 1, ..full },
        Environment { device_uuid: [1; 16], ..full },
        Environment { driver_uuid: [1; 16], ..full },
        Environment { vendor: "mesa", ..full },
        Environment { device: "", ..full },
        Environment { driver: "llvmpipe", device: "25.0.7", ..full },
        Environment { build: "build 8", ..full },
    ];
    let numbers: std::collections::BTreeSet<String> = changed.iter().map(|each| number(each).0).collect();
    assert_eq!(numbers.len(), changed.len());
    assert!(!numbers.contains(&number(&full).0));
}

#[test]
fn every_input_changes_the_name_and_its_own_part() {
    let changed: [(u32, Program<'_>); 9] = [
        (program_kind::STAGE, Program { stages: &[Stage { stage: 0, source: b"other" }, STAGES[1]], ..FULL }),
        (program_kind::STAGE, Program { stages: &[STAGES[0], Stage { stage: 4, source: b"" }], ..FULL }),
        (program_kind::STAGE, Program { stages: &[STAGES[0], Stage { stage: 5, source: FRAGMENT }], ..FULL }),
        (program_kind::ATTRIBUTES, Program { attributes: &BINDINGS[..1], ..FULL }),
        (program_kind::DEFINES, Program { defines: b"FOG 2\n", ..FULL }),
        (program_kind::FEEDBACK, Program { feedback: Feedback { mode: 0x8C8D, ..FULL.feedback }, ..FULL }),
        (
            program_kind::FEEDBACK,
            Program { feedback: Feedback { varyings: &["out_normal", "out_position"], ..FULL.feedback }, ..FULL },
        ),
        (program_kind::EXTRA, Program { extra: &[1, 0], ..FULL }),
        (program_kind::EXTRA, Program { extra: &[], ..FULL }),
    ];
    let before = parts(Mode::Blake3, &FULL);
    for (kind, program) in &changed {
        assert_ne!(blake3_of(program), blake3_of(&FULL), "{program:?}");
        let after = parts(Mode::Blake3, program);
        let gone = before.iter().filter(|part| !after.contains(part)).count();
        assert_eq!(gone, 1, "{program:?}");
        assert!(before.iter().any(|part| part.kind == *kind && !after.contains(part)), "{program:?}");
    }
}

#[test]
fn part_has_a_length_and_a_hash_prefix() {
    let found = parts(Mode::Blake3, &FULL);
    let kinds: Vec<u32> = found.iter().map(|part| part.kind).collect();
    assert_eq!(kinds, [1, 1, 2, 3, 4, 5]);
    let vertex = Part { kind: 1, index: 0, length: VERTEX.len() as u64, digest: Fingerprint::of(VERTEX).short() };
    assert_eq!(found[0], vertex);
    let bound = parts(Mode::Sha1, &Program { attributes: &BINDINGS, ..PLAIN });
    assert_eq!(bound.len(), 3);
    assert_eq!(bound[2].length, "position".len() as u64 + 4 + "uv".len() as u64 + 4);
}

#[test]
fn attribute_order_is_ignored_and_the_last_duplicate_wins() {
    for mode in [Mode::Blake3, Mode::Sha1] {
        let of = |attributes: &[Attribute<'_>]| name(mode, &Program { attributes, ..PLAIN }).unwrap();
        let [uv, position] = BINDINGS;
        assert_eq!(of(&[uv, position]), of(&[position, uv]));
        let other = Attribute { location: 7, ..uv };
        assert_eq!(of(&[other, position, uv]), of(&[uv, position]));
        assert_eq!(of(&[uv, position, other]), of(&[position, other]));
        assert_ne!(of(&[uv, position, other]), of(&[uv, position]));
    }
}

#[test]
fn program_without_stages_or_with_too_many_inputs_is_rejected() {
    let none = name(Mode::Blake3, &Program { stages: &[], ..FULL }).unwrap_err();
    assert_eq!(none.code(), Code::InvalidArgument);
    let (stages, attributes, varyings) =
        (vec![STAGES[0]; MAX_ENTRIES + 1], vec![BINDINGS[0]; MAX_ENTRIES + 1], vec!["v"; MAX_ENTRIES + 1]);
    let over = [
        Program { stages: &stages, ..FULL },
        Program { attributes: &attributes, ..FULL },
        Program { feedback: Feedback { mode: 1, varyings: &varyings }, ..FULL },
    ];
    for program in over {
        assert_eq!(name(Mode::Blake3, &program).unwrap_err().code(), Code::LimitExceeded);
    }
    assert!(name(Mode::Blake3, &Program { stages: &stages[1..], attributes: &attributes[1..], ..FULL }).is_ok());
}

#[test]
fn each_purpose_has_its_own_names() {
    let mut program = Builder::new("a program of the test 1");
    let mut pipeline = Builder::new("a pipeline of the test 1");
    assert_eq!(program.part(1, 0, b"x"), pipeline.part(1, 0, b"x"));
    assert_ne!(program.finish(), pipeline.finish());
}

/// The name of a list of parts.
fn of_parts(parts: &[(u32, Vec<u8>)]) -> Fingerprint {
    let mut name = Builder::new("names of the test 1");
    parts.iter().for_each(|(kind, bytes)| {
        name.part(*kind, 0, bytes);
    });
    name.finish()
}

proptest! {
    #[test]
    fn part_lists_share_a_name_only_if_equal(
        a in prop::collection::vec((0..3_u32, prop::collection::vec(0..2_u8, 0..4)), 0..4),
        b in prop::collection::vec((0..3_u32, prop::collection::vec(0..2_u8, 0..4)), 0..4),
        cut in 0..5_usize,
    ) {
        prop_assert_eq!(of_parts(&a) == of_parts(&b), a == b);
        // The same bytes, divided at another place.
        let all: Vec<u8> = a.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
        let (left, right) = all.split_at(cut.min(all.len()));
        let divided = vec![(0, left.to_vec()), (0, right.to_vec())];
        prop_assert_eq!(of_parts(&a) == of_parts(&divided), a == divided);
    }

    #[test]
    fn hash_does_not_depend_on_chunk_boundaries(
        bytes in prop::collection::vec(any::<u8>(), 0..3000), cut in 0..3000_usize,
    ) {
        let (left, right) = bytes.split_at(cut.min(bytes.len()));
        let mut whole = Builder::new("names of the test 1");
        let mut pieces = Builder::new("names of the test 1");
        let one = whole.part(1, 2, &bytes);
        let two = pieces.written(1, 2, |part| {
            part.put(left);
            part.put(right);
        });
        prop_assert_eq!(one, two);
        prop_assert_eq!(whole.finish(), pieces.finish());
    }
}
