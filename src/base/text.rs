//! A short piece of text that lives where it stands: no heap, no `Drop`.

use std::fmt;

/// Up to `N` bytes of UTF-8. Writing past the end cuts at a character boundary and never fails.
#[derive(Clone, Copy)]
pub struct Text<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Text<N> {
    /// No text.
    pub const EMPTY: Self = Self { bytes: [0; N], len: 0 };

    /// The text that `arguments` format to, cut to `N` bytes.
    pub fn format(arguments: fmt::Arguments<'_>) -> Self {
        let mut text = Self::EMPTY;
        let _ = fmt::Write::write_fmt(&mut text, arguments);
        text
    }

    /// The text so far.
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
        let room = N - self.len;
        let mut take = piece.len().min(room);
        while !piece.is_char_boundary(take) {
            take -= 1;
        }
        self.bytes[self.len..self.len + take].copy_from_slice(&piece.as_bytes()[..take]);
        self.len += take;
        // A cut piece ends the text: what follows must not be glued to its stump.
        if take < piece.len() { Err(fmt::Error) } else { Ok(()) }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_at_a_character_boundary() {
        assert_eq!(Text::<5>::format(format_args!("abcdé")).as_str(), "abcd");
        assert_eq!(Text::<6>::format(format_args!("abcdé")).as_str(), "abcdé");
        assert_eq!(Text::<3>::format(format_args!("{}{}", "ééé", "x")).as_str(), "é");
    }
}
