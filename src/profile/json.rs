//! A profile as JSON, in the seed's format: `{"id":[[count,mean,deviation],...],...}`.
//!
//! No JSON crate is used, because those crates do not allocate fallibly, and memory whose size depends on data must be
//! allocated fallibly. The nesting is fixed, so a reader of only this format is a page long. It needs no recursion and
//! no tree, and its errors say what was expected and where.
//!
//! *Reading* is strict RFC 8259 in UTF-8; a leading byte order mark is skipped. Every number is the double nearest to
//! its text. The count must be a whole number up to 2^53. Mean and deviation must be finite and not negative; -0 is
//! read as 0. Further errors:
//!
//! * an id that occurs twice,
//! * an option that is not exactly three numbers,
//! * a task with more than [`MAX_OPTIONS`] options.
//!
//! Time is `n log n` in the length of the text, and memory is proportional to it.
//!
//! *Writing* puts each task on its own line, and writes each number with the fewest digits that parse back to the same
//! double. The output can always be read back: a count above 2^53 is written as 2^53. An option with an invalid mean or
//! deviation (such as an overflowed sum) is written as unknown, `[0,0,0]`.

use std::fmt::{self, Write};

use super::{Estimate, MAX_OPTIONS, Profile, Task};
use crate::base::{Error, Number, Result, Text, error, try_append, try_collect, try_push, try_to_vec};

/// Every whole number up to this one is a double.
const MAX_COUNT: u64 = 1 << 53;

impl Profile {
    /// Parse a profile. An error names the line and the column (both from 1, columns in characters), what was expected
    /// and what was found.
    pub fn from_json(json: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(json)?;
        let mut placed = reader.tasks()?;
        // Sort once, in place: single insertions are quadratic, and a stable sort allocates infallibly.
        placed.sort_unstable_by(|(a, a_at), (b, b_at)| a.id.cmp(&b.id).then(a_at.cmp(b_at)));
        let repeats = placed.windows(2).filter(|pair| pair[0].0.id == pair[1].0.id);
        if let Some([(_, first), (_, again)]) = repeats.min_by_key(|pair| pair[1].1) {
            let (line, _) = place(&reader.text[..*first]);
            return Err(reader.refuse(*again, "an id not given before", format_args!("that of line {line} again")));
        }
        Ok(Self { tasks: try_collect(placed.into_iter().map(|(task, _)| task))? })
    }

    /// Bytes that [`to_json`](Self::to_json) writes. Allocates nothing.
    pub fn json_size(&self) -> usize {
        json_size(self.ids_and_estimates())
    }

    /// Write the profile into `buffer`, and return the number of bytes written. A buffer that is too small remains
    /// unchanged, and the error names the required size. Allocates nothing on success.
    pub fn to_json(&self, buffer: &mut [u8]) -> Result<usize> {
        to_json(self.ids_and_estimates(), buffer)
    }

    fn ids_and_estimates(&self) -> impl Iterator<Item = (&str, impl Iterator<Item = Estimate>)> + Clone {
        self.tasks.iter().map(|task| (task.id(), task.options.iter().copied()))
    }
}

/// Bytes that [`to_json`] writes for these tasks.
pub(crate) fn json_size<'a, Options>(tasks: impl Iterator<Item = (&'a str, Options)>) -> usize
where
    Options: IntoIterator<Item = Estimate>,
{
    let mut size = Size(0);
    let _ = write_tasks(tasks, &mut size);
    size.0
}

/// Write tasks into `buffer`, and return the number of bytes written. The tasks must be ordered by id, without
/// duplicates. For callers that have the content of a profile but no [`Profile`].
pub(crate) fn to_json<'a, Options>(
    tasks: impl Iterator<Item = (&'a str, Options)> + Clone,
    buffer: &mut [u8],
) -> Result<usize>
where
    Options: IntoIterator<Item = Estimate>,
{
    let (needed, have) = (json_size(tasks.clone()), buffer.len());
    let too_small = || error!(BufferTooSmall, "the profile as JSON takes {needed} bytes, the buffer has {have}");
    let mut room = Room { left: buffer.get_mut(..needed).ok_or_else(too_small)? };
    write_tasks(tasks, &mut room).map_err(|_| too_small())?;
    Ok(needed - room.left.len())
}

// Writing.

fn write_tasks<'a, Options>(tasks: impl Iterator<Item = (&'a str, Options)>, out: &mut impl Write) -> fmt::Result
where
    Options: IntoIterator<Item = Estimate>,
{
    out.write_char('{')?;
    let mut before = "\n";
    for (id, options) in tasks {
        out.write_str(before)?;
        write_string(id, out)?;
        out.write_str(": [")?;
        write_options(options, out)?;
        out.write_char(']')?;
        before = ",\n";
    }
    out.write_str("\n}\n")
}

fn write_options(options: impl IntoIterator<Item = Estimate>, out: &mut impl Write) -> fmt::Result {
    let mut before = "";
    for option in options {
        let known = is_burden(option.mean) && is_burden(option.deviation);
        let Estimate { count, mean, deviation } = if known { option } else { Estimate::default() };
        write!(out, "{before}[{},{},{}]", count.min(MAX_COUNT), shown(mean), shown(deviation))?;
        before = ",";
    }
    Ok(())
}

fn write_string(text: &str, out: &mut impl Write) -> fmt::Result {
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

fn shown(x: f64) -> Number {
    Number(without_sign_of_zero(x))
}

/// Counts the bytes written.
struct Size(usize);

impl Write for Size {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}

/// Writes into a buffer. Fails when it is full.
struct Room<'a> {
    left: &'a mut [u8],
}

impl Write for Room<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let (here, left) = std::mem::take(&mut self.left).split_at_mut_checked(text.len()).ok_or(fmt::Error)?;
        here.copy_from_slice(text.as_bytes());
        self.left = left;
        Ok(())
    }
}

// Rules shared by reading and writing.

fn is_burden(x: f64) -> bool {
    x.is_finite() && x >= 0.0
}

fn is_count(x: f64) -> bool {
    (0.0..=MAX_COUNT as f64).contains(&x) && x.fract() == 0.0
}

/// Whether a string must escape this byte with a backslash.
fn needs_escape(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | 0..0x20)
}

fn without_sign_of_zero(x: f64) -> f64 {
    x + 0.0
}

// Reading.

/// Reads the text once, from start to end. `at` is always a character boundary.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn new(json: &'a [u8]) -> Result<Self> {
        let json = json.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(json);
        match std::str::from_utf8(json) {
            Ok(text) => Ok(Self { text, at: 0 }),
            Err(e) => {
                let (text, rest) = json.split_at(e.valid_up_to());
                let reader = Self { text: std::str::from_utf8(text).unwrap_or_default(), at: 0 };
                let byte = rest.first().copied().unwrap_or_default();
                Err(reader.refuse(text.len(), "UTF-8", format_args!("the byte 0x{byte:02X}")))
            }
        }
    }

    /// Parse the whole text into tasks, each with its start position.
    fn tasks(&mut self) -> Result<Vec<(Task, usize)>> {
        let (mut tasks, mut scratch) = (Vec::new(), Vec::new());
        self.take(b'{', "'{' before the tasks")?;
        while self.another(b'}', tasks.is_empty(), "',' or '}' after the task")? {
            self.skip_space();
            let start = self.at;
            let id = self.id()?;
            self.take(b':', "':' after the task id")?;
            self.options(&mut scratch)?;
            // Copied from the scratch list, so that the task has no unused capacity.
            try_push(&mut tasks, (Task { id, options: try_to_vec(&scratch)? }, start))?;
        }
        self.skip_space();
        if self.at < self.text.len() { Err(self.unexpected("the end of the text")) } else { Ok(tasks) }
    }

    fn options(&mut self, options: &mut Vec<Estimate>) -> Result<()> {
        options.clear();
        self.take(b'[', "'[' before the options")?;
        while self.another(b']', options.is_empty(), "',' or ']' after the option")? {
            if options.len() == MAX_OPTIONS {
                let (line, column) = place(&self.text[..self.at]);
                return Err(error!(
                    LimitExceeded,
                    "profile JSON, line {line} column {column}: a task can have at most {MAX_OPTIONS} options; \
                     nothing was loaded"
                ));
            }
            try_push(options, self.option()?)?;
        }
        Ok(())
    }

    fn option(&mut self) -> Result<Estimate> {
        self.take(b'[', "'[' before the count")?;
        let count = self.number("the count", is_count, "a whole number from 0 to 2^53")? as u64;
        self.take(b',', "',' after the count")?;
        let mean = self.number("the mean", is_burden, "a finite number not below 0")?;
        self.take(b',', "',' after the mean")?;
        let deviation = self.number("the deviation", is_burden, "a finite number not below 0")?;
        self.take(b']', "']' after the deviation")?;
        Ok(Estimate { count, mean, deviation })
    }

    /// Parse a number that satisfies `fits`, or fail with the description `wanted`.
    fn number(&mut self, name: &str, fits: fn(f64) -> bool, wanted: &str) -> Result<f64> {
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

    fn id(&mut self) -> Result<String> {
        self.take(b'"', "a task id in quotes")?;
        let mut id = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.bytes().position(needs_escape).unwrap_or(rest.len());
            try_append(&mut id, &rest[..plain])?;
            self.at += plain;
            if self.pass(b'"') {
                return Ok(id);
            }
            if !self.pass(b'\\') {
                return Err(self.unexpected("the task id to go on, control characters escaped, and end with '\"'"));
            }
            let escaped = self.escaped()?;
            try_append(&mut id, escaped.encode_utf8(&mut [0; 4]))?;
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
    fn another(&mut self, close: u8, is_first: bool, wanted: &str) -> Result<bool> {
        self.skip_space();
        if self.pass(close) {
            return Ok(false);
        }
        if is_first || self.pass(b',') { Ok(true) } else { Err(self.unexpected(wanted)) }
    }

    fn take(&mut self, byte: u8, wanted: &str) -> Result<()> {
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

    fn refuse(&self, at: usize, expected: impl fmt::Display, found: impl fmt::Display) -> Error {
        let (line, column) = place(&self.text[..at]);
        error!(
            Malformed,
            "profile JSON, line {line} column {column}: expected {expected}, found {found}; nothing was loaded"
        )
    }
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
    fn numbers_are_short_and_exact() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (12.5, "12.5"),
            (0.1, "0.1"),
            (1.0 / 3.0, "0.3333333333333333"),
            (0.0001, "0.0001"),
            (0.00001, "1e-5"),
            (9_007_199_254_740_992.0, "9007199254740992"),
            (1e16, "1e16"),
            (1e300, "1e300"),
            (f64::MAX, "1.7976931348623157e308"),
            (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
            (5e-324, "5e-324"),
        ] {
            assert_eq!(shown(number).to_string(), text);
        }
    }

    #[test]
    fn strings_are_escaped_only_where_json_requires_it() {
        let mut out = String::new();
        write_string("a\"\\/\n\r\t\u{8}\u{C}\0\u{1f}\u{7f}é🧌", &mut out).unwrap();
        assert_eq!(out, "\"a\\\"\\\\/\\n\\r\\t\\b\\f\\u0000\\u001f\u{7f}é🧌\"");
    }

    #[test]
    fn tasks_without_a_profile_have_the_same_json() {
        let known = Estimate { count: 3, mean: 1.5, deviation: 0.25 };
        let mut profile = Profile::new();
        profile.set("a", &[known, Estimate::default()]).unwrap();
        profile.set("b", &[known]).unwrap();
        let live = [("a", vec![known, Estimate::default()]), ("b", vec![known])];
        let tasks = || live.iter().map(|(id, options)| (*id, options.iter().copied()));
        let (mut one, mut other) = ([0; 64], [0; 64]);
        assert_eq!(json_size(tasks()), profile.json_size());
        assert_eq!(to_json(tasks(), &mut one).unwrap(), profile.to_json(&mut other).unwrap());
        assert_eq!(one, other);
    }

    #[test]
    fn invalid_burden_is_written_as_unknown() {
        for (mean, deviation) in [(f64::NAN, 0.0), (f64::INFINITY, 0.0), (1.0, f64::INFINITY), (-1.0, 0.0)] {
            let mut out = String::new();
            write_options([Estimate { count: 9, mean, deviation }], &mut out).unwrap();
            assert_eq!(out, "[0,0,0]");
        }
    }

    #[test]
    fn error_positions_count_characters_from_one() {
        assert_eq!(place(""), (1, 1));
        assert_eq!(place("{é🧌"), (1, 4));
        assert_eq!(place("{\r\n"), (2, 1));
        assert_eq!(place("\n\n x"), (3, 3));
    }
}
