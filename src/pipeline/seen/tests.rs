//! The table against a map, on one thread and on several, and without memory.

use std::collections::HashMap;
use std::thread::scope;

use super::*;
use crate::base::Code;
use crate::testing::allocator::{allocations, with_failure};

fn key(number: u64) -> PipelineKey {
    PipelineKey::of(&number.to_le_bytes())
}

#[test]
fn keys_are_found_at_the_index_of_their_insertion() {
    let seen = Seen::default();
    assert_eq!((seen.find(&key(0)), seen.is_empty()), (None, true));
    let mut model = HashMap::new();
    for number in [0_u64, 1, 0, 2].into_iter().chain(3..3000) {
        let next = model.len() as u32;
        let is_new = !model.contains_key(&number);
        let index = *model.entry(number).or_insert(next);
        assert_eq!(seen.insert(&key(number)).expect("memory"), (index, is_new));
    }
    for number in 0..6000 {
        assert_eq!(seen.find(&key(number)), model.get(&number).copied(), "key {number}");
    }
    for (number, &index) in &model {
        assert_eq!(seen.key(index), Some(key(*number)));
    }
    assert_eq!((seen.len(), seen.key(3000)), (3000, None));
}

#[test]
fn keys_that_share_their_first_word_have_different_indices() {
    let seen = Seen::default();
    let alike = |last: u8| {
        let mut key = PipelineKey::default();
        key.0[31] = last;
        key
    };
    for last in 0..100 {
        assert_eq!(seen.insert(&alike(last)).expect("memory"), (u32::from(last), true));
    }
    assert!((0..100).all(|last| seen.find(&alike(last)) == Some(u32::from(last))));
    assert_eq!(seen.find(&alike(100)), None);
}

#[test]
fn keys_of_the_last_slot_are_found_in_the_first_slots() {
    let seen = Seen::default();
    let key = |tag: u8, last: u8| {
        let mut key = PipelineKey::default();
        // All begin at the last slot of a table of 64.
        (key.0[0], key.0[7], key.0[31]) = (63, tag, last);
        key
    };
    let keys = [key(1, 0), key(2, 0), key(3, 0), key(2, 1)];
    for (index, key) in (0..).zip(&keys) {
        assert_eq!(seen.insert(key).expect("memory"), (index, true));
    }
    assert!((0..).zip(&keys).all(|(index, key)| seen.find(key) == Some(index)));
    assert_eq!([seen.find(&key(4, 0)), seen.find(&key(1, 1)), seen.find(&key(3, 1))], [None; 3]);
}

#[test]
fn uses_of_all_threads_add_up() {
    let seen = Seen::default();
    let indices: Vec<u32> = (0..100).map(|number| seen.insert(&key(number)).expect("memory").0).collect();
    let firsts: usize = scope(|scope| {
        let use_all = |thread| {
            let (seen, indices) = (&seen, &indices);
            scope.spawn(move || {
                let uses = indices.iter().flat_map(|&index| (0..=index).map(move |_| index));
                uses.filter(|&index| seen.note_use(index, thread)).count()
            })
        };
        (0..20).map(use_all).collect::<Vec<_>>().into_iter().map(|thread| thread.join().expect("no panic")).sum()
    });
    assert!(indices.iter().all(|&index| seen.uses(index) == 20 * u64::from(index + 1)));
    assert!((100..=100 * ROWS).contains(&firsts), "{firsts} first uses");
    assert!(!seen.note_use(u32::MAX, 0));
}

#[test]
fn readers_find_each_key_from_its_insertion_on() {
    let seen = Seen::default();
    let keys: Vec<PipelineKey> = (0..4000).map(key).collect();
    scope(|scope| {
        for writer in 0..2 {
            let (seen, keys) = (&seen, &keys);
            scope.spawn(move || {
                for (number, key) in keys.iter().enumerate() {
                    if number % 3 != writer {
                        let (index, _) = seen.insert(key).expect("memory");
                        assert_eq!(seen.find(key), Some(index));
                        assert_eq!(seen.key(index), Some(*key));
                    }
                }
            });
        }
        for _ in 0..2 {
            let (seen, keys) = (&seen, &keys);
            scope.spawn(move || {
                let mut found = vec![None; keys.len()];
                while found.iter().any(Option::is_none) {
                    for (key, before) in keys.iter().zip(&mut found) {
                        let now = seen.find(key);
                        assert!(before.is_none() || *before == now, "an index changed");
                        *before = now;
                    }
                }
            });
        }
    });
    assert_eq!(seen.len(), keys.len());
}

#[test]
fn finds_and_uses_allocate_nothing_and_reserved_inserts_neither() {
    let seen = Seen::default();
    seen.reserve(5000).expect("memory");
    let count = allocations(|| {
        for number in 0..5000 {
            let (index, is_new) = seen.insert(&key(number)).expect("reserved");
            assert!(is_new && seen.note_use(index, 3) && seen.find(&key(number)) == Some(index));
        }
    });
    assert_eq!(count, 0);
    assert!(seen.memory_used() > 5000 * 32);
}

#[test]
fn failed_insert_changes_nothing() {
    for failing in 0.. {
        let seen = Seen::default();
        (0..32).for_each(|number| _ = seen.insert(&key(number)).expect("memory"));
        let mut was_refused = false;
        with_failure(failing, || {
            for number in 32..1100 {
                let is_refused = seen.insert(&key(number)).is_err_and(|why| why.code() == Code::OutOfMemory);
                assert_eq!(seen.find(&key(number)).is_none(), is_refused);
                was_refused |= is_refused;
                assert_eq!(seen.insert(&key(number)).expect("memory").1, is_refused);
            }
        });
        assert!((0..1100).all(|number| seen.find(&key(number)) == Some(number as u32)));
        if !was_refused {
            assert!(failing > 3, "the table grew without memory");
            break;
        }
    }
}
