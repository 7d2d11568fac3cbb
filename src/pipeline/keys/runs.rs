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
    let mut buffer = Vec::new();
    while ends.len() > 1 {
        let mut begin = 0;
        for pair in ends.chunks(2) {
            let (middle, end) = (pair[0], pair[pair.len() - 1]);
            merge(&mut items[begin..end], middle - begin, &mut buffer, &is_less)?;
            begin = end;
        }
        // The stretches are pairs now.
        let pairs = ends.len().div_ceil(2);
        (0..pairs).for_each(|pair| ends[pair] = ends[(2 * pair + 1).min(ends.len() - 1)]);
        ends.truncate(pairs);
    }
    Ok(items)
}

/// Merge two sorted stretches. Only the shorter one is copied to the buffer.
fn merge<T: Copy>(items: &mut [T], middle: usize, buffer: &mut Vec<T>, is_less: impl Fn(&T, &T) -> bool) -> Result<()> {
    let is_first_shorter = middle <= items.len() - middle;
    let shorter = if is_first_shorter { &items[..middle] } else { &items[middle..] };
    buffer.clear();
    buffer.try_reserve_exact(shorter.len())?;
    buffer.extend_from_slice(shorter);
    if is_first_shorter {
        // From the begin: the place to write is never after the next item of the longer stretch.
        let (mut other, mut to) = (middle, 0);
        for &item in buffer.iter() {
            while other < items.len() && is_less(&items[other], &item) {
                items[to] = items[other];
                (other, to) = (other + 1, to + 1);
            }
            items[to] = item;
            to += 1;
        }
    } else {
        // From the end.
        let (mut other, mut to) = (middle, items.len());
        for &item in buffer.iter().rev() {
            while other > 0 && is_less(&item, &items[other - 1]) {
                (other, to) = (other - 1, to - 1);
                items[to] = items[other];
            }
            to -= 1;
            items[to] = item;
        }
    }
    Ok(())
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
