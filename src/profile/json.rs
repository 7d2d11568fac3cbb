//! A profile as JSON, in the seed's format: `{"id":[[count,mean,deviation],...],...}`.
//!
//! The nesting is fixed, so a reader of only this format is a page long.
//!
//! *Reading* is that of [`base::json`](crate::base::json). The count must be a whole number up to 2^53. Mean and deviation must be finite and not negative; -0 is
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
use crate::base::json::{Reader, Room, Size, without_sign_of_zero, write_string};
use crate::base::{Number, Result, error, sort_slowly, try_collect, try_push, try_to_vec};

/// Every whole number up to this one is a double.
const MAX_COUNT: u64 = 1 << 53;

impl Profile {
    /// Parse a profile. An error names the line and the column (both from 1, columns in characters), what was expected
    /// and what was found.
    pub fn from_json(json: &[u8]) -> Result<Self> {
        let mut reader = Reader::new("profile JSON", json)?;
        let mut placed = read_tasks(&mut reader)?;
        // Sort once, in place: single insertions are quadratic, and a stable sort allocates infallibly.
        sort_slowly(&mut placed, |(a, a_at), (b, b_at)| a.id.cmp(&b.id).then(a_at.cmp(b_at)));
        let repeats = placed.windows(2).filter(|pair| pair[0].0.id == pair[1].0.id);
        if let Some([(_, first), (_, again)]) = repeats.min_by_key(|pair| pair[1].1) {
            let (line, _) = reader.place(*first);
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

fn shown(x: f64) -> Number {
    Number(without_sign_of_zero(x))
}

// Rules shared by reading and writing.

fn is_burden(x: f64) -> bool {
    x.is_finite() && x >= 0.0
}

fn is_count(x: f64) -> bool {
    (0.0..=MAX_COUNT as f64).contains(&x) && x.fract() == 0.0
}

// Reading.

/// Parse the whole text into tasks, each with its start position.
fn read_tasks(reader: &mut Reader<'_>) -> Result<Vec<(Task, usize)>> {
    let (mut tasks, mut scratch) = (Vec::new(), Vec::new());
    reader.take(b'{', "'{' before the tasks")?;
    while reader.another(b'}', tasks.is_empty(), "',' or '}' after the task")? {
        let start = reader.position();
        let id = reader.string("a task id")?;
        reader.take(b':', "':' after the task id")?;
        read_options(reader, &mut scratch)?;
        // Copied from the scratch list, so that the task has no unused capacity.
        try_push(&mut tasks, (Task { id, options: try_to_vec(&scratch)? }, start))?;
    }
    reader.end()?;
    Ok(tasks)
}

fn read_options(reader: &mut Reader<'_>, options: &mut Vec<Estimate>) -> Result<()> {
    options.clear();
    reader.take(b'[', "'[' before the options")?;
    while reader.another(b']', options.is_empty(), "',' or ']' after the option")? {
        if options.len() == MAX_OPTIONS {
            let (line, column) = reader.here();
            return Err(error!(
                LimitExceeded,
                "profile JSON, line {line} column {column}: a task can have at most {MAX_OPTIONS} options; nothing was \
                 loaded"
            ));
        }
        try_push(options, read_option(reader)?)?;
    }
    Ok(())
}

fn read_option(reader: &mut Reader<'_>) -> Result<Estimate> {
    reader.take(b'[', "'[' before the count")?;
    let count = reader.number("the count", is_count, "a whole number from 0 to 2^53")? as u64;
    reader.take(b',', "',' after the count")?;
    let mean = reader.number("the mean", is_burden, "a finite number not below 0")?;
    reader.take(b',', "',' after the mean")?;
    let deviation = reader.number("the deviation", is_burden, "a finite number not below 0")?;
    reader.take(b']', "']' after the deviation")?;
    Ok(Estimate { count, mean, deviation })
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
}
