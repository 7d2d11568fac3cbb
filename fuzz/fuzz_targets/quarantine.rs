//! Whatever the bytes of a notes or strikes file, reading them ends, in memory bounded by their length; and what is sealed
//! anew, so that the checks do not keep nonsense away from what is behind them, does too.
#![no_main]

use hobgoblin::fingerprint::Fingerprint;
use hobgoblin::quarantine::read_for_test;
use libfuzzer_sys::fuzz_target;

const RECORD: usize = 64;

fuzz_target!(|bytes: &[u8]| {
    for (is_notes, magic) in [(true, b"HOBQNOTE"), (false, b"HOBQSTRK")] {
        check(bytes, is_notes);
        let sealed = sealed(bytes, magic);
        let (_, damaged) = check(&sealed, is_notes).unwrap_or_default();
        // Only the header may be none, and only the end cut off.
        assert!(damaged <= 2);
    }
});

fn check(bytes: &[u8], is_notes: bool) -> Option<(usize, u32)> {
    let (records, damaged) = read_for_test(bytes, is_notes)?;
    assert!(records * RECORD <= bytes.len() && damaged as usize <= bytes.len() / RECORD + 1);
    Some((records, damaged))
}

/// The same with every record's check right.
fn sealed(bytes: &[u8], magic: &[u8; 8]) -> Vec<u8> {
    let mut sealed = bytes.to_vec();
    let (records, _) = sealed.as_chunks_mut::<RECORD>();
    for (at, record) in records.iter_mut().enumerate() {
        if at == 0 {
            record[..8].copy_from_slice(magic);
        }
        let check = Fingerprint::of(&[magic, &record[..RECORD - 8]].concat()).short();
        record[RECORD - 8..].copy_from_slice(&check);
    }
    sealed
}
