//! Fallible allocation: out of memory is an error result.

use super::Result;

/// A copy of `text` on the heap.
pub fn try_string(text: &str) -> Result<String> {
    let mut copy = String::new();
    copy.try_reserve_exact(text.len())?;
    copy.push_str(text);
    Ok(copy)
}

/// Append `piece`, growing as `String::push_str` does.
pub fn try_append(text: &mut String, piece: &str) -> Result<()> {
    text.try_reserve(piece.len())?;
    text.push_str(piece);
    Ok(())
}

/// `count` copies of `value`.
pub fn try_filled<T: Clone>(value: T, count: usize) -> Result<Vec<T>> {
    let mut filled = Vec::new();
    filled.try_reserve_exact(count)?;
    filled.resize(count, value);
    Ok(filled)
}

/// All items, in a list that is as large as they say, if they do.
pub fn try_collect<T>(items: impl IntoIterator<Item = T>) -> Result<Vec<T>> {
    try_collect_all(items.into_iter().map(Ok))
}

/// All items, or the first error.
pub fn try_collect_all<T>(items: impl IntoIterator<Item = Result<T>>) -> Result<Vec<T>> {
    let items = items.into_iter();
    let mut list = Vec::new();
    list.try_reserve_exact(items.size_hint().0)?;
    for item in items {
        try_push(&mut list, item?)?;
    }
    Ok(list)
}

/// A copy of `items` on the heap.
pub fn try_to_vec<T: Clone>(items: &[T]) -> Result<Vec<T>> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(items.len())?;
    copy.extend_from_slice(items);
    Ok(copy)
}

/// `value` alone on the heap. Stable Rust has no fallible `Box::new`, but lists can be allocated fallibly.
pub fn try_boxed<T>(value: T) -> Result<Box<[T; 1]>> {
    let one = try_collect([value])?.into_boxed_slice();
    Ok(one.try_into().unwrap_or_else(|_| unreachable!("there is one")))
}

/// Append `value`, growing as `Vec::push` does.
pub fn try_push<T>(list: &mut Vec<T>, value: T) -> Result<()> {
    list.try_reserve(1)?;
    list.push(value);
    Ok(())
}
