//! Sizes, times and ids as text.

use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970, by the system's clock.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// A count with a comma before each group of three digits, such as `13,238`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A time with one decimal, such as `1,234.5`.
pub fn decimal(number: f64) -> String {
    let tenths = (number * 10.0).round() as u64;
    format!("{}.{}", count(tenths / 10), tenths % 10)
}

/// A size such as `1.5 MB`, in units of 1000.
pub fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["bytes", "kB", "MB", "GB"] {
        if value < 1000.0 {
            return if unit == "bytes" { format!("{bytes} bytes") } else { format!("{value:.1} {unit}") };
        }
        value /= 1000.0;
    }
    format!("{value:.1} TB")
}

/// A size as an argument: a number and perhaps `kB`, `MB`, `GB`, `TB`, `KiB`, `MiB`, `GiB` or `TiB`.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let invalid = || format!("invalid size '{text}': write a number of bytes, or one with a unit, such as 64MiB");
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = number.parse().map_err(|_| invalid())?;
    let unit = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1_048_576.0,
        "gib" => 1_073_741_824.0,
        "tib" => 1_099_511_627_776.0,
        _ => return Err(invalid()),
    };
    let bytes = number * unit;
    if bytes <= 1e18 { Ok(bytes as u64) } else { Err(invalid()) }
}

/// Time since a second of the clock, such as `3 days`.
pub fn age(second: u64, now: u64) -> String {
    let seconds = now.saturating_sub(second);
    let (count, unit) = match seconds {
        0..120 => (seconds, "s"),
        120..7200 => (seconds / 60, "min"),
        7200..172_800 => (seconds / 3600, "h"),
        _ => (seconds / 86_400, "days"),
    };
    format!("{count} {unit} ago")
}

/// An environment as 16 hexadecimal digits.
pub fn parse_environment(text: &str) -> Result<u64, String> {
    let is_hex = text.len() == 16 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    let id = is_hex.then(|| u64::from_str_radix(text, 16).ok()).flatten();
    id.ok_or_else(|| format!("invalid environment '{text}': write the 16 digits that `hob cache info` prints"))
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_and_without_a_unit() {
        assert_eq!(parse_size("1500"), Ok(1500));
        assert_eq!(parse_size("1.5MB"), Ok(1_500_000));
        assert_eq!(parse_size("64 MiB"), Ok(64 << 20));
        for invalid in ["", "x", "-1", "1 parsec", "1e9", "9999999TB"] {
            assert!(parse_size(invalid).is_err(), "{invalid}");
        }
        assert_eq!([size(999), size(1500), size(2_000_000)], ["999 bytes", "1.5 kB", "2.0 MB"]);
    }

    #[test]
    fn counts_and_times_have_groups_of_three_digits() {
        assert_eq!([0, 999, 1000, 3_837_248].map(count), ["0", "999", "1,000", "3,837,248"]);
        assert_eq!([0.0, 0.06, 1234.56].map(decimal), ["0.0", "0.1", "1,234.6"]);
    }

    #[test]
    fn environments_are_16_digits() {
        assert_eq!(parse_environment("00000000000000ff"), Ok(255));
        for invalid in ["ff", "00000000000000fg", "+0000000000000ff"] {
            assert!(parse_environment(invalid).is_err(), "{invalid}");
        }
    }
}
