//! Reads and writes a profile's JSON while allocations fail. A failure at any allocation gives an error, never an
//! abort.

use super::{Estimate, Profile};
use crate::base::Code;
use crate::testing::allocator::{peak_bytes, with_allowance};

/// Unordered tasks, ids with and without escapes, lists long enough to grow several times.
fn busy_json() -> String {
    let options = vec!["[30,1.5,0.25]"; 40].join(",");
    let tasks: Vec<String> = (0..20).map(|i| format!("\"t\\u0061sk\\n{}\":[{options}]", i * 7 % 20)).collect();
    format!("{{{},\"idle\":[]}}", tasks.join(","))
}

#[test]
fn reading_survives_each_failed_allocation() {
    let json = busy_json();
    let mut allowed = 0;
    let profile = loop {
        match with_allowance(allowed, || Profile::from_json(json.as_bytes())) {
            Ok(profile) => break profile,
            Err(error) => assert_eq!(error.code(), Code::OutOfMemory, "allocation {allowed}: {error}"),
        }
        allowed += 1;
    };
    assert!(allowed > 40, "each task takes two at least, but {allowed} were enough");
    assert_eq!(profile.tasks().len(), 21);
}

#[test]
fn rejection_allocates_only_its_message() {
    for json in ["", "{\"", "nonsense", "{\"\\ud83e\":[]}"] {
        let error = with_allowance(1, || Profile::from_json(json.as_bytes())).unwrap_err();
        assert_eq!(error.code(), Code::Malformed, "{json}");
        let error = with_allowance(0, || Profile::from_json(json.as_bytes())).unwrap_err();
        assert_eq!(error.code(), Code::OutOfMemory, "{json}");
    }
}

#[test]
fn writing_allocates_nothing() {
    let profile = Profile::from_json(busy_json().as_bytes()).unwrap();
    let mut buffer = vec![0; 1 << 16];
    let written = with_allowance(0, || {
        let size = profile.json_size();
        assert_eq!(profile.to_json(&mut buffer).unwrap(), size);
        size
    });
    assert_eq!(profile.to_json(&mut buffer[..written - 1]).unwrap_err().code(), Code::BufferTooSmall);
    assert_eq!(Profile::from_json(&buffer[..written]).unwrap(), profile);
}

#[test]
fn memory_is_proportional_to_the_text() {
    let many_options = format!("{{\"a\":[{}]}}", vec!["[0,0,0]"; 60_000].join(","));
    let many_tasks: Vec<String> = (0..60_000).map(|task| format!("\"{task:x}\":[]")).collect();
    let many_tasks = format!("{{{}}}", many_tasks.join(","));
    let long_id = format!("{{\"{}\":[]}}", "\\u0061".repeat(100_000));
    for json in [many_options, many_tasks, long_id] {
        let (profile, bytes) = peak_bytes(|| Profile::from_json(json.as_bytes()).unwrap());
        assert!(bytes < 32 * json.len(), "{bytes} bytes for {} of text", json.len());
        // The profile holds no more than its content needs. Temporary memory was freed.
        let known = profile.tasks().iter().map(|task| size_of_val(task.options()) + task.id().len().max(8) * 2);
        let exact = size_of_val(profile.tasks()) + known.sum::<usize>();
        assert!(profile.memory_used() <= exact, "{} bytes held for {exact}", profile.memory_used());
    }
    assert_eq!(size_of::<Estimate>(), 24, "the factor above stands on this");
}
