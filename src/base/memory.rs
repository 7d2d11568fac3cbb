//! Fallible allocation: out of memory is an error result.

use super::Result;

/// A copy of `text` on the heap.
pub fn try_string(text: &str) -> Result<String> {
    let mut copy = String::new();
    copy.try_reserve_exact(text.len())?;
    copy.push_str(text);
    Ok(copy)
}

/// `count` copies of `value`.
pub fn try_filled<T: Clone>(value: T, count: usize) -> Result<Vec<T>> {
    let mut filled = Vec::new();
    filled.try_reserve_exact(count)?;
    filled.resize(count, value);
    Ok(filled)
}

/// Append `value`, growing as `Vec::push` does.
pub fn try_push<T>(list: &mut Vec<T>, value: T) -> Result<()> {
    list.try_reserve(1)?;
    list.push(value);
    Ok(())
}
