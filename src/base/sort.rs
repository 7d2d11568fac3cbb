//! Sorting in little code: each use of the standard library's `sort_unstable_by` adds 7 to 10 KB, these a tenth of it.

/// Below this a range is sorted by insertion.
const FEW: usize = 16;

/// Sort by `before`, a strict order. Equal elements keep no order. Quicksort, by heap where that goes badly.
pub fn sort<T: Copy>(items: &mut [T], before: impl Fn(&T, &T) -> bool) {
    let rounds = 2 * items.len().checked_ilog2().unwrap_or(0);
    quicksort(items, rounds, &before);
}

fn quicksort<T: Copy>(mut items: &mut [T], mut rounds: u32, before: &impl Fn(&T, &T) -> bool) {
    while items.len() > FEW {
        if rounds == 0 {
            return heapsort(items, before);
        }
        rounds -= 1;
        let (left, right) = partition(items, before);
        let (shorter, longer) = if left.len() < right.len() { (left, right) } else { (right, left) };
        quicksort(shorter, rounds, before);
        items = longer;
    }
    insertion_sort(items, before);
}

/// What is before the median of three, and the rest without that one, which comes to stand between them.
fn partition<'a, T: Copy>(items: &'a mut [T], before: &impl Fn(&T, &T) -> bool) -> (&'a mut [T], &'a mut [T]) {
    let last = items.len() - 1;
    let (mut low, mut middle, high) = (0, items.len() / 2, last);
    if before(&items[middle], &items[low]) {
        std::mem::swap(&mut low, &mut middle);
    }
    if before(&items[high], &items[middle]) {
        middle = if before(&items[high], &items[low]) { low } else { high };
    }
    items.swap(middle, last);
    let pivot = items[last];
    let mut end = 0;
    for at in 0..last {
        // Exchanged either way: there is no branch to guess.
        items.swap(at, end);
        end += usize::from(before(&items[end], &pivot));
    }
    items.swap(end, last);
    let (left, right) = items.split_at_mut(end);
    (left, &mut right[1..])
}

fn insertion_sort<T: Copy>(items: &mut [T], before: &impl Fn(&T, &T) -> bool) {
    for end in 1..items.len() {
        let item = items[end];
        let mut at = end;
        while at > 0 && before(&item, &items[at - 1]) {
            items[at] = items[at - 1];
            at -= 1;
        }
        items[at] = item;
    }
}

/// [`sort`] for what is sorted rarely or cannot be copied.
pub fn heapsort<T>(items: &mut [T], before: impl Fn(&T, &T) -> bool) {
    let count = items.len();
    for step in (0..count + count / 2).rev() {
        // First a heap is made of all, from its lower half up; then its greatest is taken off, time and again.
        let (mut at, end) = if step >= count {
            (step - count, count)
        } else {
            items.swap(0, step);
            (0, step)
        };
        loop {
            let mut child = 2 * at + 1;
            if child >= end {
                break;
            }
            child += usize::from(child + 1 < end && before(&items[child], &items[child + 1]));
            if !before(&items[at], &items[child]) {
                break;
            }
            items.swap(at, child);
            at = child;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(items: &[u32]) {
        let mut expected = items.to_vec();
        expected.sort_unstable();
        let (mut quick, mut by_heap) = (items.to_vec(), items.to_vec());
        sort(&mut quick, |a, b| a < b);
        heapsort(&mut by_heap, |a, b| a < b);
        assert_eq!(quick, expected);
        assert_eq!(by_heap, expected);
    }

    proptest! {
        #[test]
        fn what_is_sorted_is_what_was_given_in_order(items in prop::collection::vec(0..200_u32, 0..300)) {
            check(&items);
        }
    }

    #[test]
    fn what_is_in_order_equal_or_falling_is_sorted_too() {
        for count in [0, 1, 2, 3, 16, 17, 18, 1000, 4096] {
            check(&(0..count).collect::<Vec<_>>());
            check(&(0..count).rev().collect::<Vec<_>>());
            check(&vec![7; count as usize]);
            check(&(0..count).map(|index| index.min(count - index)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn equal_elements_do_not_make_it_slow() {
        let compared = std::cell::Cell::new(0);
        sort(&mut vec![7; 100_000], |a, b| {
            compared.set(compared.get() + 1);
            a < b
        });
        assert!(compared.get() < 100 * 100_000, "{}", compared.get());
    }
}
