//! JSON of a known form: a reader without recursion and tree, and a writer.
//!
//! No JSON crate is used, because those crates do not allocate fallibly, and memory whose size depends on data must be
//! allocated fallibly. Reading is strict RFC 8259 in UTF-8; a leading byte order mark is skipped. Every number is the
//! double nearest to its text. Errors name the line and the column (both from 1, columns in characters), what was
//! expected and what was found.

use std::fmt::{self, Write};

use super::{Error, Result, Text, error, try_append};

/// Write a string in quotes, with the escapes that JSON requires.
pub fn write_string(text: &str, out: &mut (impl Write + ?Sized)) -> fmt::Result {
    out.write_char('"')?;
    let mut rest = text;
    while let Some(plain) = rest.bytes().position(needs_escape) {
        out.write_str(&rest[..plain])?;
        match rest.as_bytes()[plain] {
            b'"' => out.write_str("\\\"")?,
            b'\\' => out.write_str("\\\\")?,
            b'\n' => out.write_str("\\n")?,
            b'\r' => out.write_str("\\r")?,
            b'\t' => out.write_str("\\t")?,
            0x08 => out.write_str("\\b")?,
            0x0C => out.write_str("\\f")?,
            control => write!(out, "\\u{control:04x}")?,
        }
        rest = &rest[plain + 1..];
    }
    out.write_str(rest)?;
    out.write_char('"')
}

/// Counts the bytes written.
pub struct Size(pub usize);

impl Write for Size {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}

/// Writes into a buffer. Fails when it is full.
pub struct Room<'a> {
    /// The rest of the buffer.
    pub left: &'a mut [u8],
}

impl Write for Room<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let (here, left) = std::mem::take(&mut self.left).split_at_mut_checked(text.len()).ok_or(fmt::Error)?;
        here.copy_from_slice(text.as_bytes());
        self.left = left;
        Ok(())
    }
}

/// Whether a string must escape this byte with a backslash.
fn needs_escape(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | 0..0x20)
}

/// The number, and 0 for -0.
pub fn without_sign_of_zero(x: f64) -> f64 {
    x + 0.0
}

/// Reads the text once, from start to end. `at` is always a character boundary.
pub struct Reader<'a> {
    /// The name of the format, for errors.
    format: &'static str,
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// Start to read. `format` names the format in errors.
    pub fn new(format: &'static str, json: &'a [u8]) -> Result<Self> {
        let json = json.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(json);
        match std::str::from_utf8(json) {
            Ok(text) => Ok(Self { format, text, at: 0 }),
            Err(e) => {
                let (text, rest) = json.split_at(e.valid_up_to());
                let reader = Self { format, text: std::str::from_utf8(text).unwrap_or_default(), at: 0 };
                let byte = rest.first().copied().unwrap_or_default();
                Err(reader.refuse(text.len(), "UTF-8", format_args!("the byte 0x{byte:02X}")))
            }
        }
    }

    /// The position of the next character that is not space.
    pub fn position(&mut self) -> usize {
        self.skip_space();
        self.at
    }

    /// Fail unless the whole text was read.
    pub fn end(&mut self) -> Result<()> {
        self.skip_space();
        if self.at < self.text.len() { Err(self.unexpected("the end of the text")) } else { Ok(()) }
    }

    /// Parse a number that satisfies `fits`, or fail with the description `wanted`.
    pub fn number(&mut self, name: &str, fits: fn(f64) -> bool, wanted: &str) -> Result<f64> {
        self.skip_space();
        let start = self.at;
        self.pass_number(name)?;
        let token = &self.text[start..self.at];
        let number: f64 = token.parse().unwrap_or(f64::NAN);
        if fits(number) {
            return Ok(without_sign_of_zero(number));
        }
        let shown = Text::<32>::format(format_args!("{token}"));
        Err(self.refuse(start, format_args!("{wanted} for {name}"), shown))
    }

    /// `-? (0 | [1-9] [0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`
    fn pass_number(&mut self, name: &str) -> Result<()> {
        let negative = self.pass(b'-');
        if !self.pass(b'0') {
            self.pass_digits(if negative { "a digit in" } else { "a number for" }, name)?;
        }
        if self.pass(b'.') {
            self.pass_digits("a digit in", name)?;
        }
        if self.pass(b'e') || self.pass(b'E') {
            let _sign = self.pass(b'+') || self.pass(b'-');
            self.pass_digits("a digit in", name)?;
        }
        Ok(())
    }

    fn pass_digits(&mut self, wanted: &str, name: &str) -> Result<()> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.unexpected(format_args!("{wanted} {name}"))) } else { Ok(()) }
    }

    /// Parse `true` or `false`. `name` describes it in errors.
    pub fn boolean(&mut self, name: &str) -> Result<bool> {
        self.skip_space();
        for (word, is_true) in [("true", true), ("false", false)] {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(is_true);
            }
        }
        Err(self.unexpected(format_args!("true or false for {name}")))
    }

    /// Parse a string. `name` describes it in errors.
    pub fn string(&mut self, name: &str) -> Result<String> {
        self.skip_space();
        if !self.pass(b'"') {
            return Err(self.unexpected(format_args!("{name} in quotes")));
        }
        let mut text = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.bytes().position(needs_escape).unwrap_or(rest.len());
            try_append(&mut text, &rest[..plain])?;
            self.at += plain;
            if self.pass(b'"') {
                return Ok(text);
            }
            if !self.pass(b'\\') {
                let name = the(name);
                let wanted = "to go on, control characters escaped, and end with '\"'";
                return Err(self.unexpected(format_args!("{name} {wanted}")));
            }
            let escaped = self.escaped()?;
            try_append(&mut text, escaped.encode_utf8(&mut [0; 4]))?;
        }
    }

    /// Parse an escape sequence after its backslash.
    fn escaped(&mut self) -> Result<char> {
        let character = match self.peek() {
            Some(b'u') => return self.escaped_by_number(),
            Some(plain @ (b'"' | b'\\' | b'/')) => char::from(plain),
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{C}',
            _ => return Err(self.unexpected("one of \"\\/bfnrtu after the '\\'")),
        };
        self.at += 1;
        Ok(character)
    }

    /// `uXXXX`, or `uXXXX\uXXXX` for a character that needs two UTF-16 units.
    fn escaped_by_number(&mut self) -> Result<char> {
        let backslash = self.at - 1;
        let unit = self.utf16_unit()?;
        let first_of_two = (0xD800..0xDC00).contains(&unit);
        let second = if first_of_two && self.text[self.at..].starts_with("\\u") {
            self.at += 1;
            Some(self.utf16_unit()?)
        } else {
            None
        };
        match char::decode_utf16([unit].into_iter().chain(second)).next() {
            Some(Ok(character)) => Ok(character),
            _ => Err(self.refuse(backslash, "both halves of a surrogate pair", format_args!("only \\u{unit:04x}"))),
        }
    }

    /// `uXXXX`
    fn utf16_unit(&mut self) -> Result<u16> {
        self.at += 1;
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            unit = unit << 4 | digit.ok_or_else(|| self.unexpected("four hexadecimal digits after the '\\u'"))? as u16;
            self.at += 1;
        }
        Ok(unit)
    }

    /// Whether a list that ends with `close` has another member. Skips the separator or the end.
    pub fn another(&mut self, close: u8, is_first: bool, wanted: &str) -> Result<bool> {
        self.skip_space();
        if self.pass(close) {
            return Ok(false);
        }
        if is_first || self.pass(b',') { Ok(true) } else { Err(self.unexpected(wanted)) }
    }

    /// Skip `byte`, or fail with the description `wanted`.
    pub fn take(&mut self, byte: u8, wanted: &str) -> Result<()> {
        self.skip_space();
        if self.pass(byte) { Ok(()) } else { Err(self.unexpected(wanted)) }
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Skip `ascii` if it is next. Returns whether it was.
    fn pass(&mut self, ascii: u8) -> bool {
        let is_next = self.peek() == Some(ascii);
        self.at += usize::from(is_next);
        is_next
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The error that the next character is not the expected one.
    fn unexpected(&self, expected: impl fmt::Display) -> Error {
        match self.text[self.at..].chars().next() {
            Some(found) => self.refuse(self.at, expected, format_args!("{found:?}")),
            None => self.refuse(self.at, expected, "the end of the text"),
        }
    }

    /// The error that something else was expected at a position.
    pub fn refuse(&self, at: usize, expected: impl fmt::Display, found: impl fmt::Display) -> Error {
        let (line, column) = self.place(at);
        error!(
            Malformed,
            "{}, line {line} column {column}: expected {expected}, found {found}; nothing was loaded", self.format
        )
    }

    /// Line and column of the next character.
    pub fn here(&self) -> (usize, usize) {
        self.place(self.at)
    }

    /// Line and column of a position.
    pub fn place(&self, at: usize) -> (usize, usize) {
        place(&self.text[..at])
    }
}

/// "the task id" of "a task id".
fn the(name: &str) -> Text<64> {
    Text::format(format_args!("the {}", name.trim_start_matches("a ")))
}

/// Line and column, both from 1, of the position after `before`. Columns are in characters.
fn place(before: &str) -> (usize, usize) {
    let line = before.rsplit('\n').next().unwrap_or_default();
    (1 + before.matches('\n').count(), 1 + line.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped_only_where_json_requires_it() {
        let mut out = String::new();
        write_string("a\"\\/\n\r\t\u{8}\u{C}\0\u{1f}\u{7f}é🧌", &mut out).unwrap();
        assert_eq!(out, "\"a\\\"\\\\/\\n\\r\\t\\b\\f\\u0000\\u001f\u{7f}é🧌\"");
    }

    #[test]
    fn error_positions_count_characters_from_one() {
        assert_eq!(place(""), (1, 1));
        assert_eq!(place("{é🧌"), (1, 4));
        assert_eq!(place("{\r\n"), (2, 1));
        assert_eq!(place("\n\n x"), (3, 3));
    }
}
