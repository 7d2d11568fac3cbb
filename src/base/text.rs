//! Text without heap memory: a fixed-capacity string, and the shortest exact form of a number.

use std::fmt;

/// Up to `N` bytes of UTF-8. Writing past the end cuts at a character boundary and never fails.
#[derive(Clone, Copy)]
pub struct Text<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Text<N> {
    /// The empty text.
    pub const EMPTY: Self = Self { bytes: [0; N], len: 0 };

    /// The text that `arguments` format to, cut to `N` bytes.
    pub fn format(arguments: fmt::Arguments<'_>) -> Self {
        let mut text = Self::EMPTY;
        let _ = fmt::Write::write_fmt(&mut text, arguments);
        text
    }

    /// Memory of an empty text for a writer of C, who ends it with NUL: call [`end_at_nul`](Self::end_at_nul) then.
    pub fn spare(&mut self) -> &mut [u8; N] {
        debug_assert!(self.len == 0, "a node's call takes one instruction less than with a text of any length");
        self.bytes[0] = 0;
        &mut self.bytes
    }

    /// Takes over what was written to [`spare`](Self::spare): up to the first NUL, or to the first byte that is not UTF-8.
    pub fn end_at_nul(&mut self) {
        let len = self.bytes.iter().position(|&byte| byte == 0).unwrap_or(N);
        self.len = std::str::from_utf8(&self.bytes[..len]).map_or_else(|why| why.valid_up_to(), str::len);
    }

    /// The text as a string slice.
    pub fn as_str(&self) -> &str {
        // Only whole characters are ever appended, so the bytes are UTF-8; the fallback keeps this free of panics.
        std::str::from_utf8(&self.bytes[..self.len]).unwrap_or("")
    }
}

impl<const N: usize> Default for Text<N> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<const N: usize> fmt::Write for Text<N> {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        append(&mut self.bytes, &mut self.len, piece)
    }
}

/// Appends to the text of `len` bytes. One function for all capacities.
#[inline(never)]
fn append(bytes: &mut [u8], len: &mut usize, piece: &str) -> fmt::Result {
    let spare = &mut bytes[*len..];
    let mut take = piece.len().min(spare.len());
    while !piece.is_char_boundary(take) {
        take -= 1;
    }
    spare[..take].copy_from_slice(&piece.as_bytes()[..take]);
    *len += take;
    // A cut ends the text: the error stops the formatter, so that no later piece follows the cut one.
    if take < piece.len() { Err(fmt::Error) } else { Ok(()) }
}

impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl<const N: usize> fmt::Display for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A double, shown with the fewest digits that parse back to the same number. `{}` of a plain `f64` does the same, but
/// shows 1e300 as 301 digits.
#[derive(Clone, Copy)]
pub struct Number(pub f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.abs();
        let is_short = magnitude == 0.0 || (1e-4..1e16).contains(&magnitude) || !magnitude.is_finite();
        if is_short { fmt::Display::fmt(&self.0, f) } else { fmt::LowerExp::fmt(&self.0, f) }
    }
}

impl fmt::LowerExp for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerExp::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_at_a_character_boundary() {
        assert_eq!(Text::<5>::format(format_args!("abcdé")).as_str(), "abcd");
        assert_eq!(Text::<6>::format(format_args!("abcdé")).as_str(), "abcdé");
        assert_eq!(Text::<3>::format(format_args!("{}{}", "ééé", "x")).as_str(), "é");
    }

    #[test]
    fn text_of_c_ends_at_its_nul_or_at_its_first_invalid_byte() {
        for (written, expected) in [(*b"ab\0d", "ab"), (*b"abcd", "abcd"), (*b"\0bcd", ""), ([b'a', 0xc3, 0, 0], "a")] {
            let mut text = Text::<4>::EMPTY;
            text.spare().copy_from_slice(&written);
            text.end_at_nul();
            assert_eq!(text.as_str(), expected);
        }
    }

    #[test]
    fn numbers_are_short_and_exact() {
        for (number, shown) in
            [(0.0, "0"), (-0.5, "-0.5"), (1e15, "1000000000000000"), (1e16, "1e16"), (1e-4, "0.0001")]
        {
            assert_eq!(Number(number).to_string(), shown);
        }
        for number in [f64::MAX, f64::MIN_POSITIVE, 5e-324, 1.0 / 3.0, 9.999_999e-5] {
            let shown = Number(number).to_string();
            assert!(shown.len() <= 24, "{shown}");
            assert_eq!(shown.parse(), Ok(number));
        }
        assert_eq!(Number(f64::NAN).to_string(), "NaN");
        assert_eq!(Number(f64::NEG_INFINITY).to_string(), "-inf");
        assert_eq!(format!("{:.2} {:e}", Number(12.999), Number(1e12)), "13.00 1e12");
    }
}
