//! Key maps as CSV (RFC 4180): `hash,stage,key`, with a line of these names first.
//!
//! The hash is 40 hexadecimal digits. The stage is a number, or empty. The key has commas, so it is quoted. A file
//! without quotes is read, too: all fields after the second are one key then.

use super::{KeyLine, KeyMap, KeyMapBuilder, LoadedKeys, NO_STAGE};
use crate::base::{Result, error, try_append, try_push};
use crate::pipeline::{FIRST_OWN_STAGE, LAST_STAGE, ShaderHash};

const TITLE: &str = "hash,stage,key";
/// Longest line, in bytes.
const LONGEST_LINE: usize = 64 << 10;

impl KeyMapBuilder {
    /// Add the lines of a CSV file in pieces of any length. `next` fills a buffer from its begin, and returns the number of
    /// bytes: 0 at the end. An error names the line; the lines before it were added.
    pub fn add_csv(&mut self, mut next: impl FnMut(&mut [u8]) -> Result<usize>) -> Result<LoadedKeys> {
        let mut piece = crate::base::try_filled(0_u8, LONGEST_LINE)?;
        let mut row = Row { number: 1, ..Row::default() };
        let mut loaded = LoadedKeys::default();
        loop {
            let count = next(&mut piece)?.min(piece.len());
            if count == 0 {
                break;
            }
            for &byte in &piece[..count] {
                if row.take(byte)? {
                    loaded.lines += u64::from(self.add_row(&row)?);
                    row.begin_next();
                }
            }
        }
        if row.is_quoted && !row.is_after_quote {
            return Err(error!(Malformed, "line {}: the quote is not closed", row.begun_at()));
        }
        if !row.is_empty() {
            loaded.lines += u64::from(self.add_row(&row)?);
        }
        Ok(loaded)
    }

    /// False for the title and empty lines.
    fn add_row(&mut self, row: &Row) -> Result<bool> {
        let line = row.begun_at();
        let text = std::str::from_utf8(&row.text)
            .map_err(|_| error!(Malformed, "line {line} is not UTF-8: convert the file"))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.is_empty() || (line == 1 && text == TITLE) {
            return Ok(false);
        }
        let Some((hash, stage)) = row.first_two(text) else {
            return Err(error!(Malformed, "line {line} has fewer than three fields: write {TITLE}"));
        };
        let key = &text[hash.len() + stage.len() + 2..];
        let hash = parse_hash(hash.trim())
            .ok_or_else(|| error!(Malformed, "line {line}: '{hash}' is not a hash: write 40 hexadecimal digits"))?;
        let stage = match stage.trim() {
            "" => NO_STAGE,
            stage => parse_stage(stage).ok_or_else(|| {
                let advice = format_args!("write 0 to {LAST_STAGE}, or your own number from {FIRST_OWN_STAGE} on");
                error!(Malformed, "line {line}: '{stage}' is not a stage: {advice}")
            })?,
        };
        let added = self.add(&KeyLine { hash, stage, key });
        added.map(|()| true).map_err(|why| match why.code() {
            crate::base::Code::InvalidArgument => error!(Malformed, "line {line}: {}", why.sentence()),
            _ => why,
        })
    }
}

fn parse_hash(digits: &str) -> Option<ShaderHash> {
    let mut hash = ShaderHash::default();
    if digits.len() != 40 {
        return None;
    }
    for (byte, pair) in hash.0.iter_mut().zip(digits.as_bytes().as_chunks::<2>().0) {
        let digit = |letter: u8| char::from(letter).to_digit(16);
        *byte = (digit(pair[0])? << 4 | digit(pair[1])?) as u8;
    }
    Some(hash)
}

/// The number of a stage, in digits only.
fn parse_stage(digits: &str) -> Option<u32> {
    let number = digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok()).flatten();
    number.filter(|&stage| stage <= LAST_STAGE || stage >= FIRST_OWN_STAGE)
}

/// A row while it is read: its text without quotes.
#[derive(Default)]
struct Row {
    text: Vec<u8>,
    /// Ends of the first fields in the text.
    ends: [usize; 2],
    fields: usize,
    is_quoted: bool,
    /// The last byte was a quote within quotes: its end, or the first half of a quote.
    is_after_quote: bool,
    /// The current field has bytes or quotes.
    is_begun: bool,
    /// Number of the current line, and line breaks of the row that stand within quotes.
    number: u64,
    breaks: u64,
}

impl Row {
    fn begun_at(&self) -> u64 {
        self.number - self.breaks
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    fn begin_next(&mut self) {
        self.text.clear();
        let number = self.number + 1;
        *self = Self { text: std::mem::take(&mut self.text), number, ..Self::default() };
    }

    /// The first two fields of the text, if a third one follows.
    fn first_two<'a>(&self, text: &'a str) -> Option<(&'a str, &'a str)> {
        let cut = self.text.len() - text.len();
        let (one, two) = (self.ends[0].checked_sub(cut)?, self.ends[1].checked_sub(cut)?);
        (self.fields >= 2).then(|| Some((text.get(..one)?, text.get(one + 1..two)?))).flatten()
    }

    /// Take a byte. True if the row is complete.
    fn take(&mut self, byte: u8) -> Result<bool> {
        if self.is_quoted && !self.is_after_quote {
            if byte == b'"' {
                self.is_after_quote = true;
                return Ok(false);
            }
            if byte == b'\n' {
                self.number += 1;
                self.breaks += 1;
            }
            return self.push(byte);
        }
        if self.is_after_quote {
            self.is_after_quote = false;
            if byte == b'"' {
                return self.push(byte);
            }
            self.is_quoted = false;
            if !matches!(byte, b',' | b'\r' | b'\n') {
                let line = self.number;
                return Err(error!(
                    Malformed,
                    "line {line}: text follows a closing quote: double quotes within quotes"
                ));
            }
        }
        match byte {
            b'"' if !self.is_begun => {
                self.is_quoted = true;
                self.is_begun = true;
                Ok(false)
            }
            b'"' => {
                let line = self.number;
                Err(error!(Malformed, "line {line}: a quote stands within a field: quote the whole field"))
            }
            b',' => {
                if let Some(end) = self.ends.get_mut(self.fields) {
                    *end = self.text.len();
                }
                self.fields += 1;
                self.is_begun = false;
                try_push(&mut self.text, byte)?;
                Ok(false)
            }
            b'\n' => Ok(true),
            b'\r' => Ok(false),
            _ => self.push(byte),
        }
    }

    fn push(&mut self, byte: u8) -> Result<bool> {
        self.is_begun = true;
        if self.text.len() >= LONGEST_LINE {
            let line = self.begun_at();
            return Err(error!(LimitExceeded, "line {line} has more than {LONGEST_LINE} bytes"));
        }
        try_push(&mut self.text, byte)?;
        Ok(false)
    }
}

/// Lines as CSV.
#[derive(Default)]
struct CsvWriter {
    text: String,
}

impl KeyMap {
    /// Pass the map as CSV to `each`, in pieces, in order of key, hash and stage.
    pub fn write_csv(&self, mut each: impl FnMut(&str) -> Result<()>) -> Result<()> {
        let mut writer = CsvWriter::default();
        try_append(&mut writer.text, TITLE)?;
        try_append(&mut writer.text, "\r\n")?;
        for line in self.lines() {
            writer.put(&line)?;
            if writer.text.len() >= LONGEST_LINE {
                each(&writer.text)?;
                writer.text.clear();
            }
        }
        if writer.text.is_empty() { Ok(()) } else { each(&writer.text) }
    }
}

impl CsvWriter {
    fn put(&mut self, line: &KeyLine<'_>) -> Result<()> {
        let mut number = crate::base::Text::<64>::EMPTY;
        for byte in line.hash.0 {
            _ = std::fmt::Write::write_fmt(&mut number, format_args!("{byte:02x}"));
        }
        try_append(&mut self.text, number.as_str())?;
        try_append(&mut self.text, ",")?;
        if line.stage != NO_STAGE {
            try_append(&mut self.text, crate::base::Text::<16>::format(format_args!("{}", line.stage)).as_str())?;
        }
        try_append(&mut self.text, ",\"")?;
        for (at, piece) in line.key.split('"').enumerate() {
            if at > 0 {
                try_append(&mut self.text, "\"\"")?;
            }
            try_append(&mut self.text, piece)?;
        }
        try_append(&mut self.text, "\"\r\n")
    }
}
