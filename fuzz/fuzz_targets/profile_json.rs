//! Parses any bytes as a profile. The result is a profile or an error. A parsed profile is written and parsed again: it
//! must be equal to the last bit, and its text must be the same.
#![no_main]

use hobgoblin::profile::{Estimate, Profile};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|json: &[u8]| {
    match Profile::from_json(json) {
        Ok(profile) => survives(&profile),
        Err(error) => assert!(error.sentence().starts_with("profile JSON, line ")),
    }
});

fn survives(profile: &Profile) {
    assert!(profile.tasks().is_sorted_by(|a, b| a.id() < b.id()));
    let json = written(profile);
    let again = Profile::from_json(&json).expect("a written profile can be read");
    let same_bits = |a: &Estimate, b: &Estimate| {
        a.count == b.count && a.mean.to_bits() == b.mean.to_bits() && a.deviation.to_bits() == b.deviation.to_bits()
    };
    assert_eq!(profile.tasks().len(), again.tasks().len());
    for (before, after) in profile.tasks().iter().zip(again.tasks()) {
        assert_eq!(before.id(), after.id());
        assert_eq!(before.options().len(), after.options().len());
        assert!(before.options().iter().zip(after.options()).all(|(a, b)| same_bits(a, b)));
    }
    assert_eq!(json, written(&again));
}

fn written(profile: &Profile) -> Vec<u8> {
    let mut json = vec![0; profile.json_size()];
    let size = profile.to_json(&mut json).expect("the size was asked for");
    assert_eq!(size, json.len());
    json
}
