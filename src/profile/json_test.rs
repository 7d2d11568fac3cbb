//! The profile's JSON: output, input, and errors for invalid input. `serde_json` is the oracle.

use crate::base::Code;
use crate::profile::{Estimate, MAX_OPTIONS, Profile};
use crate::testing::scaled;
use proptest::prelude::*;
use serde_json::Value;

const HOUSEHOLD: &str = r#"{
"bloom": [[30,0.75,0.125],[28,1.5,0.25]],
"reflections": [],
"shadows": [[0,0,0],[12,2.5,1e-5]]
}
"#;

fn estimate(count: u64, mean: f64, deviation: f64) -> Estimate {
    Estimate { count, mean, deviation }
}

fn household() -> Profile {
    let mut profile = Profile::new();
    profile.set("shadows", &[Estimate::default(), estimate(12, 2.5, 1e-5)]).unwrap();
    profile.set("reflections", &[]).unwrap();
    profile.set("bloom", &[estimate(30, 0.75, 0.125), estimate(28, 1.5, 0.25)]).unwrap();
    profile
}

fn written(profile: &Profile) -> String {
    let mut buffer = vec![0; profile.json_size()];
    assert_eq!(profile.to_json(&mut buffer).unwrap(), buffer.len());
    String::from_utf8(buffer).unwrap()
}

/// Ids and the bits of every number, for an exact comparison.
fn bits(profile: &Profile) -> Vec<(String, Vec<[u64; 3]>)> {
    let of_option = |e: &Estimate| [e.count, e.mean.to_bits(), e.deviation.to_bits()];
    let tasks = profile.tasks().iter();
    tasks.map(|task| (task.id().to_owned(), task.options().iter().map(of_option).collect())).collect()
}

#[test]
fn one_task_is_one_line() {
    assert_eq!(written(&household()), HOUSEHOLD);
    assert_eq!(Profile::from_json(HOUSEHOLD.as_bytes()).unwrap(), household());
}

#[test]
fn an_empty_profile_is_an_empty_object() {
    assert_eq!(written(&Profile::new()), "{\n}\n");
    assert_eq!(Profile::from_json(b"{}").unwrap(), Profile::new());
}

#[test]
fn small_buffer_is_unchanged_and_the_needed_size_is_returned() {
    let profile = household();
    for size in 0..HOUSEHOLD.len() {
        let mut buffer = vec![b'#'; size];
        let error = profile.to_json(&mut buffer).unwrap_err();
        assert_eq!(error.code(), Code::BufferTooSmall);
        assert!(error.sentence().contains(&HOUSEHOLD.len().to_string()), "{error}");
        assert!(buffer.iter().all(|&byte| byte == b'#'));
    }
    let mut larger = vec![b'#'; HOUSEHOLD.len() + 3];
    assert_eq!(profile.to_json(&mut larger).unwrap(), HOUSEHOLD.len());
    assert!(larger.ends_with(b"}\n###"));
}

#[test]
fn deliberate_leniences_are_accepted() {
    for (json, options) in [
        ("\u{feff}{\"a\":[]}", vec![]),
        (" \t\r\n{ \"a\" : [ [ 1 , 2 , 3 ] ] } \n", vec![estimate(1, 2.0, 3.0)]),
        (r#"{"a":[[30,1,1],[30.0,1,1],[3e1,1E0,10e-1]]}"#, vec![estimate(30, 1.0, 1.0); 3]),
        (r#"{"a":[[-0,-0.0,-0e9],[1e-999,-1e-999,0.0]]}"#, vec![Estimate::default(); 2]),
        (r#"{"a":[[9007199254740992,1,1]]}"#, vec![estimate(1 << 53, 1.0, 1.0)]),
        (r#"{"\u0061":[]}"#, vec![]),
    ] {
        let profile = Profile::from_json(json.as_bytes()).unwrap_or_else(|error| panic!("{json}: {error}"));
        let mut expected = Profile::new();
        expected.set("a", &options).unwrap();
        assert_eq!(bits(&profile), bits(&expected), "{json}");
    }
}

#[test]
fn any_string_is_a_valid_id() {
    for (json, id) in [
        (r#""""#, ""),
        (r#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
        (r#""\u0000\u001F\uFFFF""#, "\0\u{1f}\u{ffff}"),
        (r#""\uD83E\uDDCC🧌\ud83e\udDCCé""#, "🧌🧌🧌é"),
        ("\"\u{7f}\u{2028}\"", "\u{7f}\u{2028}"),
    ] {
        let profile = Profile::from_json(format!("{{{json}:[]}}").as_bytes()).unwrap();
        assert_eq!(profile.tasks()[0].id(), id);
        assert_eq!(Profile::from_json(written(&profile).as_bytes()).unwrap(), profile);
    }
}

#[test]
fn count_beyond_doubles_is_written_as_the_greatest_readable_one() {
    let mut profile = Profile::new();
    profile.set("a", &[estimate(u64::MAX, 1.0, 0.5)]).unwrap();
    let read = Profile::from_json(written(&profile).as_bytes()).unwrap();
    assert_eq!(read.find("a").unwrap(), [estimate(1 << 53, 1.0, 0.5)]);
}

#[test]
fn merge_whose_result_is_not_finite_is_refused_and_changes_nothing() {
    let cases = [
        (estimate(3, 0.0, 0.0), estimate(3, 1.5e154, 0.0)),
        (estimate(3, 1e154, 0.0), estimate(5, 9e154, 1.0)),
        (estimate(3, 1.0, 0.0), estimate(3, 1.0, 1e200)),
        (estimate(1 << 40, 0.0, 0.0), estimate(1 << 40, 1e300, 0.0)),
    ];
    for (one, other) in cases {
        let mut mine = household();
        mine.set("zz", &[estimate(1, 1.0, 0.0), one]).unwrap();
        let mut theirs = household();
        theirs.set("zz", &[estimate(1, 1.0, 0.0), other]).unwrap();
        let before = bits(&mine);
        let why = mine.merge(&theirs).unwrap_err();
        assert_eq!(why.code(), Code::InvalidArgument, "{why}");
        assert!(["'zz'", "option 1"].iter().all(|part| why.sentence().contains(part)), "{why}");
        assert_eq!(bits(&mine), before);
    }
}

#[test]
fn merge_with_an_unknown_option_keeps_the_known_one_exactly() {
    for known in [estimate(7, 1e300, 1e200), estimate(3, 0.1, 0.3), estimate(3, 1e-200, 1e-170)] {
        for is_mine in [false, true] {
            let (mut mine, mut theirs) = (Profile::new(), Profile::new());
            let (one, other) = if is_mine { (known, estimate(0, 5.0, 1.0)) } else { (estimate(0, 5.0, 1.0), known) };
            mine.set("a", &[one]).unwrap();
            theirs.set("a", &[other]).unwrap();
            mine.merge(&theirs).unwrap();
            assert_eq!(mine.find("a").unwrap(), [known]);
            mine.scale(1.5).unwrap();
        }
    }
}

#[test]
fn errors_have_a_position_and_a_reason() {
    for (json, line, column, expected, found) in [
        ("", 1, 1, "'{' before the tasks", "the end of the text"),
        (" \n", 2, 1, "'{' before the tasks", "the end of the text"),
        ("[]", 1, 1, "'{' before the tasks", "'['"),
        ("null", 1, 1, "'{' before the tasks", "'n'"),
        ("\u{feff}\u{feff}{}", 1, 1, "'{' before the tasks", "'\\u{feff}'"),
        ("{", 1, 2, "a task id in quotes", "the end of the text"),
        ("{\"a\":[],}", 1, 9, "a task id in quotes", "'}'"),
        ("{a:[]}", 1, 2, "a task id in quotes", "'a'"),
        ("{,}", 1, 2, "a task id in quotes", "','"),
        ("{\"a\"}", 1, 5, "':' after the task id", "'}'"),
        ("{\"a\":null}", 1, 6, "'[' before the options", "'n'"),
        ("{\"a\":{}}", 1, 6, "'[' before the options", "'{'"),
        ("{\"a\":[] \"b\":[]}", 1, 9, "',' or '}' after the task", "'\"'"),
        ("{\"a\":[1,2,3]}", 1, 7, "'[' before the count", "'1'"),
        ("{\"a\":[[]]}", 1, 8, "a number for the count", "']'"),
        ("{\"a\":[[1]]}", 1, 9, "',' after the count", "']'"),
        ("{\"a\":[[1,2]]}", 1, 11, "',' after the mean", "']'"),
        ("{\"a\":[[1,2,3,4]]}", 1, 13, "']' after the deviation", "','"),
        ("{\"a\":[[1,2,3],]}", 1, 15, "'[' before the count", "']'"),
        ("{\"a\":[[1,2,3][4,5,6]]}", 1, 14, "',' or ']' after the option", "'['"),
        ("{\n\"a\":\n  [[1,\"2\",3]]}", 3, 7, "a number for the mean", "'\"'"),
        ("{\"é🧌\":[[1,null,3]]}", 1, 11, "a number for the mean", "'n'"),
        ("\u{feff}{\"a\":[[1,NaN,3]]}", 1, 10, "a number for the mean", "'N'"),
        ("{\"a\":[[1,2,+3]]}", 1, 12, "a number for the deviation", "'+'"),
        ("{\"a\":[[1,.5,3]]}", 1, 10, "a number for the mean", "'.'"),
        ("{\"a\":[[1,-x,3]]}", 1, 11, "a digit in the mean", "'x'"),
        ("{\"a\":[[1,2.,3]]}", 1, 12, "a digit in the mean", "','"),
        ("{\"a\":[[1,2e,3]]}", 1, 12, "a digit in the mean", "','"),
        ("{\"a\":[[1,2e+", 1, 13, "a digit in the mean", "the end of the text"),
        ("{\"a\":[[01,2,3]]}", 1, 9, "',' after the count", "'1'"),
        ("{\"a\":[[1,-00,3]]}", 1, 12, "',' after the mean", "'0'"),
        ("{\"a\":[[1,0x1,3]]}", 1, 11, "',' after the mean", "'x'"),
        ("{\"a\":[[-1,2,3]]}", 1, 8, "a whole number from 0 to 2^53 for the count", "-1"),
        ("{\"a\":[[1.5,2,3]]}", 1, 8, "a whole number from 0 to 2^53 for the count", "1.5"),
        ("{\"a\":[[9007199254740994,2,3]]}", 1, 8, "a whole number from 0 to 2^53 for the count", "9007199254740994"),
        ("{\"a\":[[1,-2,3]]}", 1, 10, "a finite number not below 0 for the mean", "-2"),
        ("{\"a\":[[1,2,1e999]]}", 1, 12, "a finite number not below 0 for the deviation", "1e999"),
        ("{} {}", 1, 4, "the end of the text", "'{'"),
        ("{}\0", 1, 3, "the end of the text", "'\\0'"),
        ("{\"a\n\":[]}", 1, 4, "the task id to go on", "'\\n'"),
        ("{\"a\0\":[]}", 1, 4, "the task id to go on", "'\\0'"),
        ("{\"é", 1, 4, "the task id to go on", "the end of the text"),
        ("{\"\\x\":[]}", 1, 4, "one of \"\\/bfnrtu after the '\\'", "'x'"),
        ("{\"\\é\":[]}", 1, 4, "one of \"\\/bfnrtu after the '\\'", "'é'"),
        ("{\"\\u12g4\":[]}", 1, 7, "four hexadecimal digits after the '\\u'", "'g'"),
        ("{\"\\u12é\":[]}", 1, 7, "four hexadecimal digits after the '\\u'", "'é'"),
        ("{\"\\uD83E\":[]}", 1, 3, "both halves of a surrogate pair", "only \\ud83e"),
        ("{\"\\uD83Ex\":[]}", 1, 3, "both halves of a surrogate pair", "only \\ud83e"),
        ("{\"\\uD83E\\n\":[]}", 1, 3, "both halves of a surrogate pair", "only \\ud83e"),
        ("{\"\\uD83E\\u0041\":[]}", 1, 3, "both halves of a surrogate pair", "only \\ud83e"),
        ("{\"\\uD83E\\uD83E\":[]}", 1, 3, "both halves of a surrogate pair", "only \\ud83e"),
        ("{\"\\uDDCC\\uD83E\":[]}", 1, 3, "both halves of a surrogate pair", "only \\uddcc"),
        ("{\"a\":[],\n\"b\":[],\n \"\\u0061\":[]}", 3, 2, "an id not given before", "that of line 1 again"),
        ("{\"b\":[],\"b\":[],\n\"a\":[],\"a\":[],\"b\":[]}", 1, 9, "an id not given before", "that of line 1 again"),
    ] {
        let error = Profile::from_json(json.as_bytes()).expect_err(json);
        assert_eq!(error.code(), Code::Malformed, "{json}");
        let start = format!("profile JSON, line {line} column {column}: expected {expected}");
        assert!(error.sentence().starts_with(&start), "{json}\n{error}\n{start}");
        assert!(error.sentence().ends_with(&format!(", found {found}; nothing was loaded")), "{json}\n{error}");
    }
}

#[test]
fn invalid_utf_8_is_rejected_with_its_position() {
    for (json, place, byte) in [
        (&b"\xFF"[..], "line 1 column 1:", "0xFF"),
        (b"\xEF\xBB", "line 1 column 1:", "0xEF"),
        (b"\xEF\xBB\xBF{\n\"\xC3\xA9\xC3\":[]}", "line 2 column 3:", "0xC3"),
        (b"{\"\xED\xA0\x80\":[]}", "line 1 column 3:", "0xED"), // A surrogate.
        (b"{\"\xC0\x80\":[]}", "line 1 column 3:", "0xC0"),     // Overlong.
    ] {
        let error = Profile::from_json(json).unwrap_err();
        assert_eq!(error.code(), Code::Malformed);
        assert!(error.sentence().contains(place) && error.sentence().contains(byte), "{error}");
    }
}

#[test]
fn long_number_is_shortened_in_the_message() {
    let json = format!("{{\"a\":[[1,{}e999,0]]}}", "1".repeat(10_000));
    let error = Profile::from_json(json.as_bytes()).unwrap_err();
    assert!(error.sentence().ends_with("; nothing was loaded"), "{error}");
}

#[test]
fn task_with_the_most_options_is_read() {
    let with = |count: usize| format!("{{\"a\":[{}]}}", vec!["[1,2,3]"; count].join(","));
    let profile = Profile::from_json(with(MAX_OPTIONS).as_bytes()).unwrap();
    assert_eq!(profile.find("a").unwrap().len(), MAX_OPTIONS);
    let error = Profile::from_json(with(MAX_OPTIONS + 1).as_bytes()).unwrap_err();
    assert_eq!(error.code(), Code::LimitExceeded);
    assert!(error.sentence().contains(&format!("column {}", 7 + 8 * MAX_OPTIONS)), "{error}");
}

#[test]
fn many_tasks_in_any_order_are_fast() {
    // If tasks were inserted one by one in this order, each would move all earlier ones.
    let tasks: Vec<String> = (0..100_000).rev().map(|task| format!("\"task {task:06}\":[[1,2,3]]")).collect();
    let profile = Profile::from_json(format!("{{{}}}", tasks.join(",")).as_bytes()).unwrap();
    assert_eq!(profile.tasks().len(), tasks.len());
    assert!(profile.tasks().is_sorted_by(|a, b| a.id() < b.id()));
}

#[test]
fn every_prefix_is_rejected() {
    let text = HOUSEHOLD.trim_end().replace("bloom", "bl\\u00f6\\\"öm🧌");
    Profile::from_json(text.as_bytes()).unwrap();
    for length in 0..text.len() {
        let error = Profile::from_json(&text.as_bytes()[..length]).unwrap_err();
        assert_eq!(error.code(), Code::Malformed);
    }
}

#[test]
fn every_single_byte_mutation_agrees_with_serde_json() {
    let text = HOUSEHOLD.replace("bloom", "bl\\ud83e\\uddCC\\\"öm🧌");
    for at in 0..text.len() {
        for byte in 0..=u8::MAX {
            let mut mutant = text.clone().into_bytes();
            mutant[at] = byte;
            agree_with_serde_json(&mutant).unwrap();
        }
    }
}

/// The profile that `serde_json` reads, or `None` if the JSON is not a profile. Equal ids are not valid, but a tree
/// keeps the last of them.
fn oracle(json: &[u8]) -> Option<Profile> {
    let tree: Value = serde_json::from_slice(json).ok()?;
    let tasks = tree.as_object()?;
    let mut profile = Profile::new();
    for (id, options) in tasks {
        let options: Option<Vec<Estimate>> = options.as_array()?.iter().map(estimate_of).collect();
        profile.set(id, &options?).ok()?;
    }
    (tasks.len() == count_members(json)).then_some(profile)
}

/// Number of members of all objects in valid JSON: the colons outside of strings.
fn count_members(json: &[u8]) -> usize {
    let (mut members, mut in_string) = (0, false);
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            b'\\' => drop(bytes.next()),
            b':' if !in_string => members += 1,
            _ => {}
        }
    }
    members
}

fn estimate_of(tree: &Value) -> Option<Estimate> {
    let numbers: Option<Vec<f64>> = tree.as_array()?.iter().map(Value::as_f64).collect();
    let [count, mean, deviation] = numbers?[..] else { return None };
    let is_count = (0.0..=9_007_199_254_740_992.0).contains(&count) && count.fract() == 0.0;
    is_count.then(|| estimate(count as u64, mean + 0.0, deviation + 0.0))
}

/// Checks that the parser accepts exactly the profiles that `serde_json` accepts, with the same values. The exception
/// is a byte order mark, which the parser skips.
fn agree_with_serde_json(json: &[u8]) -> Result<(), TestCaseError> {
    let theirs = oracle(json.strip_prefix("\u{feff}".as_bytes()).unwrap_or(json));
    let shown = String::from_utf8_lossy(json);
    match (Profile::from_json(json), theirs) {
        (Ok(ours), Some(theirs)) => prop_assert_eq!(bits(&ours), bits(&theirs), "{}", shown),
        (Err(error), None) => prop_assert_eq!(error.code(), Code::Malformed, "{}", shown),
        (Ok(_), None) => prop_assert!(false, "only we accept {}", shown),
        (Err(error), Some(_)) => prop_assert!(false, "only we refuse {}\n{}", shown, error),
    }
    Ok(())
}

/// Any finite double that is not negative, with all exponents equally likely; also usual numbers and extremes.
fn burden() -> impl Strategy<Value = f64> {
    let any_bits = (0..=f64::MAX.to_bits()).prop_map(f64::from_bits);
    prop_oneof![4 => any_bits, 1 => 0.0..100.0, 1 => Just(0.0), 1 => Just(f64::MAX), 1 => (1u64..100).prop_map(f64::from_bits)]
}

fn any_profile() -> impl Strategy<Value = Profile> {
    let count = prop_oneof![0u64..100, 0..=1u64 << 53];
    let option = (count, burden(), burden()).prop_map(|(count, mean, deviation)| estimate(count, mean, deviation));
    let character =
        prop_oneof![any::<char>(), (0u8..128).prop_map(char::from), prop::char::range('\u{1F300}', '\u{1FAFF}')];
    let id = prop::collection::vec(character, 0..8).prop_map(String::from_iter);
    let task = (id, prop::collection::vec(option, 0..5));
    prop::collection::vec(task, 0..6).prop_map(|tasks| {
        let mut profile = Profile::new();
        tasks.iter().for_each(|(id, options)| profile.set(id, options).unwrap());
        profile
    })
}

/// Text like JSON, from pieces that mostly fit together.
fn jsonish() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        burden().prop_map(|x| format!("{x:e}")),
        (0u64..1 << 54).prop_map(|x| x.to_string()),
        "-?[0-9]{1,3}(\\.[0-9]{0,3})?([eE][+-]?[0-9]{0,4})?",
        "[-+.0-9eE]{1,6}",
        "[0-9]{1,40}\\.[0-9]{1,40}",
        Just("null".to_owned()),
    ];
    let number = prop_oneof![6 => (0u32..50).prop_map(|x| x.to_string()), 1 => number];
    let option = prop_oneof![
        20 => prop::collection::vec(number.clone(), 3),
        1 => prop::collection::vec(number, 0..5),
    ];
    let option = option.prop_map(|numbers| format!("[{}]", numbers.join(", ")));
    let options = prop::collection::vec(option, 0..4).prop_map(|options| format!("[{}]", options.join(" ,")));
    let id = prop_oneof![
        4 => "[a-z]{0,3}",
        1 => "(\\\\u[0-9a-fA-F]{4}|\\\\uD8[0-9]{2}\\\\uDC[0-9a-f]{2}|\\\\[\"\\\\/bfnrtux]|[é🧌\u{1}\n a]){0,3}",
    ];
    let task = (id, options).prop_map(|(id, options)| format!("\"{id}\"\r\n:\t{options}"));
    prop::collection::vec(task, 0..4).prop_map(|tasks| format!("{{{}}}", tasks.join(",\n")))
}

/// JSON with bytes inserted, removed or replaced.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let fitting = prop::sample::select(b"{}[]\":,.-+eE0123456789 \n\\u\x00\x7f\xC3\xA9\xFF".to_vec());
    let edit = (0u8..3, any::<prop::sample::Index>(), fitting);
    (jsonish(), prop::collection::vec(edit, 1..4)).prop_map(|(text, edits)| {
        let mut bytes = text.into_bytes();
        for (kind, at, byte) in edits {
            let at = at.index(bytes.len().max(1));
            match kind {
                0 => bytes.insert(at, byte),
                1 if !bytes.is_empty() => drop(bytes.remove(at)),
                _ if !bytes.is_empty() => bytes[at] = byte,
                _ => {}
            }
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: scaled(1000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn written_profile_reads_back_to_the_last_bit(profile in any_profile()) {
        let json = written(&profile);
        prop_assert_eq!(bits(&Profile::from_json(json.as_bytes()).unwrap()), bits(&profile));
    }

    #[test]
    fn written_profile_is_valid_json(profile in any_profile()) {
        prop_assert_eq!(bits(&oracle(written(&profile).as_bytes()).unwrap()), bits(&profile));
    }

    #[test]
    fn generated_text_agrees_with_serde_json(json in jsonish()) {
        agree_with_serde_json(json.as_bytes())?;
    }

    #[test]
    fn mutated_text_agrees_with_serde_json(json in mutated()) {
        agree_with_serde_json(&json)?;
    }
}
