//! Sorting what consists of few sorted stretches, such as the lines of several sorted files.

use crate::base::{Result, try_push};

/// More stretches than this are sorted as if they had no order.
const MOST: usize = 64;

/// The items in order. The order of equal ones is unspecified.
pub fn sorted<T: Copy>(mut items: Vec<T>, is_less: impl Fn(&T, &T) -> bool) -> Result<Vec<T>> {
    let mut ends = Vec::new();
    for run in items.chunk_by(|one, other| !is_less(other, one)) {
        if ends.len() == MOST {
            items.sort_unstable_by(|one, other| is_less(other, one).cmp(&is_less(one, other)));
            return Ok(items);
        }
        let end = ends.last().map_or(0, |end| *end) + run.len();
        try_push(&mut ends, end)?;
    }
    if ends.len() < 2 {
        return Ok(items);
    }
    let mut merged = Vec::new();
    merged.try_reserve_exact(items.len())?;
    while ends.len() > 1 {
        merged.clear();
        let mut begin = 0;
        for pair in ends.chunks(2) {
            let (middle, end) = (pair[0], pair[pair.len() - 1]);
            merge(&items[begin..middle], &items[middle..end], &mut merged, &is_less);
            begin = end;
        }
        std::mem::swap(&mut items, &mut merged);
        // The stretches are pairs now.
        let pairs = ends.len().div_ceil(2);
        (0..pairs).for_each(|pair| ends[pair] = ends[(2 * pair + 1).min(ends.len() - 1)]);
        ends.truncate(pairs);
    }
    Ok(items)
}

/// Append two sorted stretches as one. There is room for them.
fn merge<T: Copy>(mut one: &[T], mut other: &[T], merged: &mut Vec<T>, is_less: impl Fn(&T, &T) -> bool) {
    while let ([first, rest @ ..], [second, others @ ..]) = (one, other) {
        if is_less(second, first) {
            merged.push(*second);
            other = others;
        } else {
            merged.push(*first);
            one = rest;
        }
    }
    merged.extend_from_slice(one);
    merged.extend_from_slice(other);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many_stretches_are_sorted() {
        for length in [0, 1, 2, 7, 100, 1000] {
            for stretch in [1, 3, 10, 40, 500, 1000] {
                let items: Vec<u32> = (0..length).map(|at| (at % stretch) * 7 + at / stretch % 5).collect();
                let mut wanted = items.clone();
                wanted.sort_unstable();
                assert_eq!(sorted(items, |one, other| one < other).expect("there is memory"), wanted);
            }
        }
    }
}
