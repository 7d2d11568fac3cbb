//! Fallible allocation of text, lists and paths: out of memory is an error result.

use std::cmp::Ordering;
use std::fmt;
use std::path::{MAIN_SEPARATOR_STR, Path, PathBuf, is_separator};

use super::{Error, Result};

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

/// The text that `arguments` format to.
pub fn try_format(arguments: fmt::Arguments<'_>) -> Result<String> {
    struct Growing(String);
    impl fmt::Write for Growing {
        fn write_str(&mut self, piece: &str) -> fmt::Result {
            try_append(&mut self.0, piece).map_err(|_| fmt::Error)
        }
    }
    let mut text = Growing(String::new());
    fmt::Write::write_fmt(&mut text, arguments).map_err(|_| Error::OUT_OF_MEMORY)?;
    Ok(text.0)
}

/// A copy of `path` on the heap.
pub fn try_path(path: &Path) -> Result<PathBuf> {
    with_room(path, 0)
}

/// The path of an entry of a directory. An empty directory is the current one.
pub fn try_path_join(directory: &Path, name: &str) -> Result<PathBuf> {
    let is_end = |end: u8| is_separator(end.into()) || (cfg!(windows) && end == b':');
    let is_complete = directory.as_os_str().as_encoded_bytes().last().is_none_or(|&end| is_end(end));
    let separator = if is_complete { "" } else { MAIN_SEPARATOR_STR };
    let mut joined = with_room(directory, separator.len() + name.len())?.into_os_string();
    joined.push(separator);
    joined.push(name);
    Ok(joined.into())
}

/// The path with another extension, without its dot.
pub fn try_path_with_extension(path: &Path, extension: &str) -> Result<PathBuf> {
    let mut changed = with_room(path, 1 + extension.len())?;
    changed.set_extension(extension);
    Ok(changed)
}

/// A copy of `path` that can grow by `more` bytes.
fn with_room(path: &Path, more: usize) -> Result<PathBuf> {
    let mut copy = PathBuf::new();
    copy.try_reserve_exact(path.as_os_str().len() + more)?;
    copy.as_mut_os_string().push(path);
    Ok(copy)
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

/// Append `value`, growing as `Vec::push` does.
pub fn try_push<T>(list: &mut Vec<T>, value: T) -> Result<()> {
    list.try_reserve(1)?;
    list.push(value);
    Ok(())
}

/// Sort numbers by an order of the caller. Each other call of a sort in the library costs 7 KB of code, so orders that are
/// not needed in each frame share this one.
#[inline(never)]
pub fn sort_numbers(list: &mut [u32], compare: &mut dyn FnMut(u32, u32) -> Ordering) {
    list.sort_unstable_by(|&one, &other| compare(one, other));
}

/// Sort positions, each behind two numbers that decide almost always. The caller's order of positions decides the rest.
#[inline(never)]
pub fn sort_ranked(list: &mut [(u64, u32, u32)], compare: &mut dyn FnMut(u32, u32) -> Ordering) {
    list.sort_unstable_by(|one, other| (one.0, one.1).cmp(&(other.0, other.1)).then_with(|| compare(one.2, other.2)));
}

/// Sort a list for which nobody waits. It takes about three times as long as the standard sort, and 300 bytes of code for
/// each type instead of 7 KB.
pub fn sort_slowly<T>(list: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    // Heapsort.
    let mut sift = |list: &mut [T], mut root: usize| loop {
        let mut child = 2 * root + 1;
        if child + 1 < list.len() && compare(&list[child], &list[child + 1]).is_lt() {
            child += 1;
        }
        if child >= list.len() || compare(&list[root], &list[child]).is_ge() {
            break;
        }
        list.swap(root, child);
        root = child;
    };
    (0..list.len() / 2).rev().for_each(|root| sift(list, root));
    for end in (1..list.len()).rev() {
        list.swap(0, end);
        sift(&mut list[..end], 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Code;
    use crate::testing::allocator::{allocations, with_allowance};

    /// The value of `call`, which must allocate once, and be out of memory without it.
    fn in_one_allocation<T>(call: impl Fn() -> Result<T>) -> T {
        assert_eq!(allocations(|| drop(call())), 1);
        assert_eq!(with_allowance(0, &call).map(|_| ()).map_err(|why| why.code()), Err(Code::OutOfMemory));
        call().expect("there is memory")
    }

    #[test]
    fn slow_sort_sorts() {
        let mut number = 7u64;
        for length in 0..300 {
            let mut list: Vec<u64> = (0..length)
                .map(|_| {
                    number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (number >> 33) % (length / 2 + 1)
                })
                .collect();
            let mut sorted = list.clone();
            sorted.sort_unstable();
            sort_slowly(&mut list, Ord::cmp);
            assert_eq!(list, sorted);
        }
    }

    #[test]
    fn paths_join_in_one_fallible_allocation() {
        let join = |directory: &str| in_one_allocation(|| try_path_join(Path::new(directory), "name.seg"));
        assert_eq!(join("some/place"), Path::new("some/place").join("name.seg"));
        assert_eq!(join("some/place/").to_str(), Some("some/place/name.seg"));
        assert_eq!(join("").to_str(), Some("name.seg"));
        let life = in_one_allocation(|| try_path_with_extension(Path::new("some.place/notes"), "live"));
        assert_eq!(life.to_str(), Some("some.place/notes.live"));
        let other = in_one_allocation(|| try_path_with_extension(Path::new("a/notes.x"), "longer"));
        assert_eq!(other.to_str(), Some("a/notes.longer"));
        assert_eq!(in_one_allocation(|| try_path(&other)), other);
    }

    #[test]
    fn text_is_formatted_fallibly() {
        assert_eq!(in_one_allocation(|| try_format(format_args!("{}.{}", "seg", 0x17))), "seg.23");
    }
}
