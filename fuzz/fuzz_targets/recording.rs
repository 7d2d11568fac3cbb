//! Replays any bytes. The result is a report or an error, and nothing is read beyond the bytes. Each input is also
//! replayed with right checksums, so that invalid data reaches the calls.
#![no_main]

use hobgoblin::goblin::replay;
use libfuzzer_sys::fuzz_target;

const HEADER: usize = 16;

fuzz_target!(|bytes: &[u8]| {
    check(bytes);
    check(&sealed(bytes));
});

fn check(bytes: &[u8]) {
    if let Ok(report) = replay(bytes) {
        assert!(report.bytes <= bytes.len());
        assert!(report.decisions <= report.calls && report.different <= report.decisions);
        assert_eq!(report.difference.is_some(), report.different > 0);
    }
}

/// A recording with a valid header and the bytes as payload, split into blocks with right checksums.
fn sealed(bytes: &[u8]) -> Vec<u8> {
    let mut recording = b"HOBREC\r\n\x02\0\0\0\0\x01\0\0".to_vec();
    assert_eq!(recording.len(), HEADER);
    let payload = bytes.get(HEADER + 8..).filter(|_| bytes.starts_with(b"HOBREC")).unwrap_or(bytes);
    for block in payload.chunks(1 << 16) {
        let length = (block.len() as u32).to_le_bytes();
        let sum = !length.iter().chain(block).fold(!0u32, |sum, byte| {
            (0..8).fold(sum ^ u32::from(*byte), |sum, _| sum >> 1 ^ if sum & 1 == 1 { 0xEDB8_8320 } else { 0 })
        });
        recording.extend_from_slice(&sum.to_le_bytes());
        recording.extend_from_slice(&length);
        recording.extend_from_slice(block);
    }
    recording
}
