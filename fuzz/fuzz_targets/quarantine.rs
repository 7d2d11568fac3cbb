//! Parses any bytes as a notes or strikes file. Parsing ends, with memory bounded by the length of the bytes. Each
//! input is also parsed with corrected checks, so that invalid records reach the code behind the checks.
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
        // At most the header is invalid and the last record truncated.
        assert!(damaged <= 2);
    }
});

fn check(bytes: &[u8], is_notes: bool) -> Option<(usize, u32)> {
    let (records, damaged) = read_for_test(bytes, is_notes)?;
    assert!(records * RECORD <= bytes.len() && damaged as usize <= bytes.len() / RECORD + 1);
    Some((records, damaged))
}

/// The same bytes with the right check in every record.
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
